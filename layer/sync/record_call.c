#include "sync/record_call.h"

#include "sync/grow.h"
#include "sync/record.h"
#include "sync/record_repair.h"

struct record_call record_call_of_info(enum sync_command command, const VkDependencyInfo *info)
{
    return (struct record_call){
        .command = command,
        .origin = BARRIER_SYNC2,
        .flags = info->dependencyFlags,
        .memory_count = info->memoryBarrierCount,
        .buffer_count = info->bufferMemoryBarrierCount,
        .image_count = info->imageMemoryBarrierCount,
        .memory = info->pMemoryBarriers,
        .buffers = info->pBufferMemoryBarriers,
        .images = info->pImageMemoryBarriers,
        .images2 = info->pImageMemoryBarriers,
        .chain = info->pNext,
    };
}

void record_call_set_images(struct record_call *call, struct command_buffer *buffer, uint32_t count,
                            const VkImageMemoryBarrier *images)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    if (!grow(&scratch->given, &scratch->given_capacity, count, sizeof(VkImageMemoryBarrier2))) {
        buffer->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const VkImageMemoryBarrier *from = &images[i];
        scratch->given[i] = (VkImageMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
            .pNext = from->pNext,
            .srcStageMask = call->source1,
            .srcAccessMask = from->srcAccessMask,
            .dstStageMask = call->destination1,
            .dstAccessMask = from->dstAccessMask,
            .oldLayout = from->oldLayout,
            .newLayout = from->newLayout,
            .srcQueueFamilyIndex = from->srcQueueFamilyIndex,
            .dstQueueFamilyIndex = from->dstQueueFamilyIndex,
            .image = from->image,
            .subresourceRange = from->subresourceRange,
        };
    }
    call->image_count = count;
    call->images = scratch->given;
    call->images1 = images;
}

enum record_effect record_call_effect(const struct command_buffer *buffer, const struct record_call *call,
                                      const struct image *image, const VkImageMemoryBarrier2 *info,
                                      struct contract_barrier *barrier)
{
    const struct device_sync *sync = buffer->sync;
    bool transfer = info->srcQueueFamilyIndex != info->dstQueueFamilyIndex;
    /* Spec, VkImageMemoryBarrier: with synchronization2, where the layouts are equal and no ownership is
     * transferred, no layout transition happens. */
    if (info->oldLayout == info->newLayout && !transfer && sync->app_sync2)
        return EFFECT_NONE;
    /* VK_QUEUE_FAMILY_EXTERNAL, FOREIGN and IGNORED are no families of the device. */
    if (transfer && (!image->exclusive || info->srcQueueFamilyIndex >= sync->family_count ||
                     info->dstQueueFamilyIndex >= sync->family_count))
        return EFFECT_FORGET;
    *barrier = (struct contract_barrier){
        .old_layout = info->oldLayout,
        .new_layout = info->newLayout,
        .source = {info->srcStageMask, info->srcAccessMask},
        .destination = {info->dstStageMask, info->dstAccessMask},
        .source_family = transfer ? (uint8_t)info->srcQueueFamilyIndex : ACCESS_NO_FAMILY,
        .destination_family = transfer ? (uint8_t)info->dstQueueFamilyIndex : ACCESS_NO_FAMILY,
        .family = (uint8_t)buffer->family,
        .command = (uint16_t)call->command,
        .label = buffer->label,
    };
    return EFFECT_TRANSITION;
}

static void ignore_part(void *context, const struct barrier_part *part)
{
    (void)context, (void)part;
}

static void follow_image(struct command_buffer *buffer, const struct record_call *call,
                         const VkImageMemoryBarrier2 *info)
{
    static const struct part_sink no_parts = {ignore_part, NULL};
    struct image *image = image_find(buffer->sync, info->image);
    struct contract_image *part = command_buffer_image(buffer, image);
    struct subresource_range range;
    struct contract_barrier barrier;
    if (!part)
        return;
    enum record_effect effect = record_call_effect(buffer, call, image, info, &barrier);
    if (!image_range(image, &info->subresourceRange, record_has_one_layout(buffer, image), &range)) {
        range = subresource_range_all(&part->map.shape);
        effect = EFFECT_FORGET;
    }
    if (effect == EFFECT_FORGET)
        contract_forget(part, &range);
    if (effect != EFFECT_TRANSITION)
        return;
    barrier.fixed = true;
    struct transition_sink sink = record_repair_begin(buffer);
    contract_transition(part, &range, &barrier, &no_parts, &sink);
    record_repair_place(buffer, part, FINDING_WRONG_OLD_LAYOUT, buffer);
}

void record_call_follow(struct command_buffer *buffer, const struct record_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++)
        follow_image(buffer, call, &call->images[i]);
}

void record_call_follow_inside(struct command_buffer *buffer, const struct record_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++) {
        const VkImageMemoryBarrier2 *info = &call->images[i];
        if (info->oldLayout == info->newLayout)
            continue;
        struct contract_image *part = command_buffer_image(buffer, image_find(buffer->sync, info->image));
        if (!part)
            continue;
        struct subresource_range all = subresource_range_all(&part->map.shape);
        contract_forget(part, &all);
    }
}
