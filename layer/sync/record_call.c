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
        .chain = info->pNext,
    };
}

/* --- In synchronization2's form --- */

static bool convert_memory(struct barrier_arrays *arrays, const struct record_call *call)
{
    const VkMemoryBarrier *from = call->memory;
    if (!grow(&arrays->memory, &arrays->memory_capacity, call->memory_count, sizeof(VkMemoryBarrier2)))
        return false;
    for (uint32_t i = 0; i < call->memory_count; i++)
        arrays->memory[i] = (VkMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
            .srcStageMask = call->source1,
            .srcAccessMask = from[i].srcAccessMask,
            .dstStageMask = call->destination1,
            .dstAccessMask = from[i].dstAccessMask,
        };
    return true;
}

static bool convert_buffers(struct barrier_arrays *arrays, const struct record_call *call)
{
    const VkBufferMemoryBarrier *from = call->buffers;
    if (!grow(&arrays->buffers, &arrays->buffer_capacity, call->buffer_count, sizeof(VkBufferMemoryBarrier2)))
        return false;
    for (uint32_t i = 0; i < call->buffer_count; i++)
        arrays->buffers[i] = (VkBufferMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
            .srcStageMask = call->source1,
            .srcAccessMask = from[i].srcAccessMask,
            .dstStageMask = call->destination1,
            .dstAccessMask = from[i].dstAccessMask,
            .srcQueueFamilyIndex = from[i].srcQueueFamilyIndex,
            .dstQueueFamilyIndex = from[i].dstQueueFamilyIndex,
            .buffer = from[i].buffer,
            .offset = from[i].offset,
            .size = from[i].size,
        };
    return true;
}

bool record_call_convert_rest(const struct record_call *call, struct barrier_arrays *arrays,
                              struct barrier_call *out)
{
    *out = (struct barrier_call){
        .origin = call->origin,
        .flags = call->flags,
        .source1 = call->source1,
        .destination1 = call->destination1,
        .memory_count = call->memory_count,
        .buffer_count = call->buffer_count,
        .memory = call->memory,
        .buffers = call->buffers,
    };
    if (call->origin == BARRIER_SYNC2)
        return true;
    if (!convert_memory(arrays, call) || !convert_buffers(arrays, call))
        return false;
    out->memory = arrays->memory;
    out->buffers = arrays->buffers;
    return true;
}

/* Ranges become comparable. */
static void resolve_remaining(const struct command_buffer *buffer, VkImageMemoryBarrier2 *barrier)
{
    VkImageSubresourceRange *range = &barrier->subresourceRange;
    struct subresource_range known;
    if (range->levelCount != VK_REMAINING_MIP_LEVELS && range->layerCount != VK_REMAINING_ARRAY_LAYERS)
        return;
    const struct image *image = image_find(buffer->sync, barrier->image);
    if (!image || !image_range(image, range, false, &known))
        return;
    range->levelCount = known.mip_count;
    if (range->layerCount == VK_REMAINING_ARRAY_LAYERS)
        range->layerCount = known.layer_count;
}

bool record_call_convert(const struct command_buffer *buffer, const struct record_call *call,
                         struct barrier_arrays *arrays, struct barrier_call *out)
{
    if (!record_call_convert_rest(call, arrays, out) ||
        !grow(&arrays->images, &arrays->image_capacity, call->image_count, sizeof(VkImageMemoryBarrier2)))
        return false;
    for (uint32_t i = 0; i < call->image_count; i++) {
        arrays->images[i] = record_call_image(call, i);
        resolve_remaining(buffer, &arrays->images[i]);
    }
    out->image_count = call->image_count;
    out->images = arrays->images;
    return true;
}

/* --- What is known of images --- */

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
    for (uint32_t i = 0; i < call->image_count; i++) {
        VkImageMemoryBarrier2 info = record_call_image(call, i);
        follow_image(buffer, call, &info);
    }
}

void record_call_follow_inside(struct command_buffer *buffer, const struct record_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++) {
        VkImageMemoryBarrier2 info = record_call_image(call, i);
        if (info.oldLayout == info.newLayout)
            continue;
        struct contract_image *part = command_buffer_image(buffer, image_find(buffer->sync, info.image));
        if (!part)
            continue;
        struct subresource_range all = subresource_range_all(&part->map.shape);
        contract_forget(part, &all);
    }
}
