#include "sync/record_hoist.h"

#include <string.h>

#include "sync/record.h"
#include "sync/record_hold.h"
#include "sync/record_repair.h"

static size_t barrier_size(const struct record_call *call)
{
    return call->origin == BARRIER_SYNC2 ? sizeof(VkImageMemoryBarrier2) : sizeof(VkImageMemoryBarrier);
}

/* NULL where the barrier may stand there, or isn't about an image that is known. */
static struct contract_image *find_illegal(struct command_buffer *buffer, const struct record_call *call,
                                           uint32_t index, struct subresource_range *range)
{
    VkImageMemoryBarrier2 info = record_call_image(call, index);
    struct image *image = image_find(buffer->sync, info.image);
    struct contract_image *part = command_buffer_read_image(buffer, image);
    if (!part || !image_range(image, &info.subresourceRange, record_has_one_layout(buffer, image), range) ||
        command_buffer_is_attachment(buffer, part, range))
        return NULL;
    return part;
}

static void report(struct command_buffer *buffer, const struct record_call *call, uint32_t index,
                   const struct contract_image *part, const struct subresource_range *range,
                   enum finding_place place)
{
    VkImageMemoryBarrier2 info = record_call_image(call, index);
    struct transition transition = {
        .range = *range,
        .old_layout = info.oldLayout,
        .new_layout = info.newLayout,
        .command = (uint16_t)call->command,
        .label = buffer->label,
    };
    record_report(buffer, FINDING_BARRIER_INSIDE, place, part->image, &transition, buffer);
}

/* Whether the barrier at this index goes before the instance. */
static bool goes_before(struct command_buffer *buffer, const struct record_call *call, uint32_t index)
{
    struct subresource_range range;
    struct contract_image *part = find_illegal(buffer, call, index, &range);
    if (!part)
        return false;
    bool can = buffer->hold.holds && !buffer->hold.opaque && !record_hold_has_used(buffer, part, &range);
    bool would = buffer->sync->mode == SYNC_REPORT;
    report(buffer, call, index, part, &range, can || would ? PLACE_BEFORE_RENDER_PASS : PLACE_NOWHERE);
    if (can) {
        record_hold_used(buffer, part);
        record_hold_used(buffer, NULL);
    } else if (!buffer->hold.holds) {
        record_hold_missed_barrier(buffer);
    }
    return can;
}

bool record_hoist(struct command_buffer *buffer, struct record_call *call, struct record_call *before)
{
    size_t size = barrier_size(call);
    uint32_t count = call->image_count, moved = 0;
    /* Of a secondary the attachments aren't known. */
    if (!count || buffer->failed || buffer->pass == PASS_NONE || buffer->secondary_in_pass)
        return false;
    char *arrays = body_alloc(&buffer->hold.body, 2 * count * size);
    if (!arrays)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *from = (const char *)call->images + i * size;
        if (goes_before(buffer, call, i))
            memcpy(arrays + moved++ * size, from, size);
        else
            memcpy(arrays + (count + i - moved) * size, from, size);
    }
    if (!moved)
        return false;
    atomic_fetch_add_explicit(&buffer->sync->counters.hoisted, moved, memory_order_relaxed);
    *before = *call;
    before->images = arrays;
    before->image_count = moved;
    before->memory_count = before->buffer_count = 0;
    call->images = arrays + count * size;
    call->image_count = count - moved;
    return true;
}
