#include "sync/record_hoist.h"

#include <string.h>

#include "sync/layout.h"
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

/* Where a barrier goes that may not stand inside. */
enum hoisted {
    STAYS,
    BEFORE, /* the instance is held back */
    ENTRY,  /* the command buffer hasn't touched the image: it becomes what it needs on entry */
    BEHIND, /* no command of the instance can use the image in its new layout */
};
#define HOISTED_COUNT 4

static void look_untouched(void *context, const struct subresource_range *range, const void *value)
{
    (void)range;
    *(bool *)context &= !(((const struct contract_state *)value)->need.flags & NEED_SET);
}

/* The barrier as a use of the layout that it leads to. */
static bool become_need(struct command_buffer *buffer, const struct record_call *call, uint32_t index,
                        struct contract_image *part, const struct subresource_range *range)
{
    static const struct transition_sink none = {NULL, NULL};
    VkImageMemoryBarrier2 info = record_call_image(call, index);
    struct contract_barrier barrier;
    bool untouched = true;
    subresource_map_read(&part->map, range, look_untouched, &untouched);
    if (!untouched || info.pNext || info.srcQueueFamilyIndex != info.dstQueueFamilyIndex ||
        !layout_is_known(info.newLayout) || layout_is_initial(info.newLayout) ||
        record_call_effect(buffer, call, part->image, &info, &barrier) != EFFECT_TRANSITION)
        return false;
    struct use use = {
        .layout = info.newLayout,
        .command = (uint16_t)call->command,
        .label = (uint16_t)buffer->label,
        .scope = {access_chain_stages(info.dstStageMask), info.dstAccessMask},
    };
    /* Untouched: nothing goes to the sink. */
    contract_use(part, range, &use, &none);
    command_buffer_changed(buffer, part);
    return true;
}

static bool can_be_used_in(const struct command_buffer *buffer, const struct contract_image *part,
                           const struct subresource_range *range, VkImageLayout layout)
{
    uint32_t layouts = record_hold_described(buffer, part->image);
    for (uint32_t i = 0; range->aspects >> i; i++)
        if ((range->aspects >> i & 1) && (layouts & layout_bits_matching(layout, part->aspects[i])))
            return true;
    return false;
}

static enum hoisted choose(struct command_buffer *buffer, const struct record_call *call, uint32_t index,
                           struct contract_image *part, const struct subresource_range *range)
{
    const struct hold *hold = &buffer->hold;
    VkImageLayout layout = record_call_image(call, index).newLayout;
    if (buffer->sync->mode == SYNC_REPORT)
        return STAYS;
    if (hold->holds && !hold->opaque && !record_hold_has_used(buffer, part, range))
        return BEFORE;
    if (!hold->opaque && become_need(buffer, call, index, part, range))
        return ENTRY;
    /* Nothing may stand between a suspended instance and its resumption. */
    return buffer->suspending || can_be_used_in(buffer, part, range, layout) ? STAYS : BEHIND;
}

static enum hoisted judge(struct command_buffer *buffer, const struct record_call *call, uint32_t index)
{
    static const enum finding_place places[] = {
        [STAYS] = PLACE_NOWHERE,
        [BEFORE] = PLACE_BEFORE_RENDER_PASS,
        [ENTRY] = PLACE_BEFORE_COMMAND_BUFFER,
        [BEHIND] = PLACE_BEHIND_RENDER_PASS,
    };
    struct subresource_range range;
    struct contract_image *part = find_illegal(buffer, call, index, &range);
    if (!part)
        return STAYS;
    enum hoisted hoisted = choose(buffer, call, index, part, &range);
    bool would = buffer->sync->mode == SYNC_REPORT;
    report(buffer, call, index, part, &range, would ? PLACE_BEFORE_RENDER_PASS : places[hoisted]);
    if (hoisted == BEFORE) {
        record_hold_used(buffer, part);
        record_hold_used(buffer, NULL);
    } else if (hoisted == STAYS && !buffer->hold.holds) {
        record_hold_missed_barrier(buffer);
    }
    return hoisted;
}

/* Those of the call's image barriers that go to one place, as a call of its own. */
static void take(const struct record_call *call, const enum hoisted *places, enum hoisted place, char *arrays,
                 struct record_call *out)
{
    size_t size = barrier_size(call);
    uint32_t count = 0;
    for (uint32_t i = 0; i < call->image_count; i++)
        if (places[i] == place)
            memcpy(arrays + count++ * size, (const char *)call->images + i * size, size);
    *out = *call;
    out->images = arrays;
    out->image_count = count;
    if (place != STAYS)
        out->memory_count = out->buffer_count = 0;
}

static void put_behind(struct command_buffer *buffer, struct behind_call *behind)
{
    if (!buffer->behind)
        buffer->behind_end = &buffer->behind;
    behind->next = NULL;
    *buffer->behind_end = behind;
    buffer->behind_end = &behind->next;
}

bool record_hoist(struct command_buffer *buffer, struct record_call *call, struct record_call *before)
{
    uint32_t count = call->image_count, counts[HOISTED_COUNT] = {0};
    /* Of a secondary the attachments aren't known. */
    if (!count || buffer->failed || buffer->pass == PASS_NONE || buffer->secondary_in_pass)
        return false;
    size_t size = count * barrier_size(call);
    struct behind_call *behind = arena_alloc(&buffer->arena, sizeof(*behind) + HOISTED_COUNT * size);
    enum hoisted *places = arena_alloc(&buffer->arena, count * sizeof(*places));
    if (!behind || !places)
        return false;
    char *arrays = (char *)(behind + 1);
    for (uint32_t i = 0; i < count; i++)
        counts[places[i] = judge(buffer, call, i)]++;
    if (counts[STAYS] == count)
        return false;
    atomic_fetch_add_explicit(&buffer->sync->counters.hoisted, count - counts[STAYS], memory_order_relaxed);
    take(call, places, BEFORE, arrays, before);
    take(call, places, BEHIND, arrays + size, &behind->call);
    take(call, places, STAYS, arrays + 2 * size, call);
    if (counts[BEHIND])
        put_behind(buffer, behind);
    return true;
}
