/* vkCmdPipelineBarrier and vkCmdPipelineBarrier2: what becomes pending, and with which layouts. */
#include <string.h>

#include "sync/grow.h"
#include "sync/layout.h"
#include "sync/record.h"
#include "sync/record_call.h"
#include "sync/record_repair.h"

/* The call as it is being made up, in the pool's scratch. */
struct making {
    struct command_buffer *buffer;
    struct record_call *call;
    struct record_scratch *scratch;
    bool rewritten; /* some image barrier isn't as the application wrote it: all are in scratch->images */
    bool lost;      /* ... but there was no memory for one */
};

/* --- Whether a call can be joined with others --- */

static bool has_chain(const struct record_call *call)
{
    const VkMemoryBarrier2 *memory2 = call->memory;
    const VkMemoryBarrier *memory1 = call->memory;
    const VkBufferMemoryBarrier2 *buffers2 = call->buffers;
    const VkBufferMemoryBarrier *buffers1 = call->buffers;
    bool sync2 = call->origin == BARRIER_SYNC2, found = call->chain != NULL;
    for (uint32_t i = 0; !found && i < call->memory_count; i++)
        found = (sync2 ? memory2[i].pNext : memory1[i].pNext) != NULL;
    for (uint32_t i = 0; !found && i < call->buffer_count; i++)
        found = (sync2 ? buffers2[i].pNext : buffers1[i].pNext) != NULL;
    for (uint32_t i = 0; !found && i < call->image_count; i++)
        found = call->images[i].pNext != NULL;
    return found;
}

static bool has_remaining(const VkImageSubresourceRange *range)
{
    return range->levelCount == VK_REMAINING_MIP_LEVELS || range->layerCount == VK_REMAINING_ARRAY_LAYERS;
}

/* Finds all images; false if one isn't tracked (it may be another's alias), or a range not within it. */
static bool find_targets(struct command_buffer *buffer, const struct record_call *call)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    if (!grow(&scratch->targets, &scratch->target_capacity, call->image_count, sizeof(struct record_target)))
        return false;
    for (uint32_t i = 0; i < call->image_count; i++) {
        const VkImageMemoryBarrier2 *info = &call->images[i];
        struct record_target *target = &scratch->targets[i];
        target->image = image_find(buffer->sync, info->image);
        if (!target->image || !image_is_tracked(target->image) ||
            !image_range(target->image, &info->subresourceRange, record_has_one_layout(buffer, target->image),
                         &target->range))
            return false;
    }
    return true;
}

/* Ranges become comparable: VK_REMAINING_... become numbers, in a copy. False on out of memory. */
static bool resolve_ranges(struct command_buffer *buffer, struct record_call *call)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    uint32_t first = 0;
    while (first < call->image_count && !has_remaining(&call->images[first].subresourceRange))
        first++;
    if (first == call->image_count)
        return true;
    if (call->images != scratch->given) {
        if (!grow(&scratch->given, &scratch->given_capacity, call->image_count,
                  sizeof(VkImageMemoryBarrier2)))
            return false;
        memcpy(scratch->given, call->images, call->image_count * sizeof(*call->images));
        call->images = scratch->given;
    }
    for (uint32_t i = first; i < call->image_count; i++) {
        VkImageSubresourceRange *range = &scratch->given[i].subresourceRange;
        if (range->levelCount == VK_REMAINING_MIP_LEVELS)
            range->levelCount = scratch->targets[i].range.mip_count;
        if (range->layerCount == VK_REMAINING_ARRAY_LAYERS)
            range->layerCount = scratch->targets[i].range.layer_count;
    }
    return true;
}

/* --- Image barriers --- */

static void add_part(void *context, const struct barrier_part *part)
{
    struct record_scratch *scratch = context;
    if (!grow(&scratch->parts, &scratch->part_capacity, scratch->part_count + 1,
              sizeof(struct barrier_part))) {
        scratch->parts_lost = true;
        return;
    }
    scratch->parts[scratch->part_count++] = *part;
}

static void ignore_transition(void *context, const struct transition *transition)
{
    (void)context, (void)transition;
}

static void add_barrier(struct making *making, const VkImageMemoryBarrier2 *barrier)
{
    struct record_scratch *scratch = making->scratch;
    if (scratch->image_count && barrier_images_join(&scratch->images[scratch->image_count - 1], barrier))
        return;
    if (grow(&scratch->images, &scratch->image_capacity, scratch->image_count + 1,
             sizeof(VkImageMemoryBarrier2)))
        scratch->images[scratch->image_count++] = *barrier;
    else
        making->lost = true;
}

/* From this image barrier on the call is another than the application's. */
static void begin_rewriting(struct making *making, uint32_t index)
{
    if (making->rewritten)
        return;
    making->rewritten = true;
    making->scratch->image_count = 0;
    for (uint32_t i = 0; i < index; i++)
        add_barrier(making, &making->call->images[i]);
}

static void add_unchanged(struct making *making, uint32_t index)
{
    if (making->rewritten)
        add_barrier(making, &making->call->images[index]);
}

static bool is_other_aspect(const struct barrier_part *a, const struct barrier_part *b)
{
    return !(a->range.aspects & b->range.aspects) && a->range.base_mip == b->range.base_mip &&
           a->range.mip_count == b->range.mip_count && a->range.base_layer == b->range.base_layer &&
           a->range.layer_count == b->range.layer_count;
}

/* Of an image whose barriers name both aspects: makes the parts do so. False where no layout says it. */
static bool unite_parts(struct record_scratch *scratch, uint32_t both)
{
    for (uint32_t i = 0; i < scratch->part_count; i++) {
        struct barrier_part *part = &scratch->parts[i];
        if (part->range.aspects == both)
            continue;
        uint32_t other = i + 1;
        while (other < scratch->part_count && !is_other_aspect(part, &scratch->parts[other]))
            other++;
        if (other == scratch->part_count)
            return false;
        struct barrier_part *partner = &scratch->parts[other];
        bool is_depth = part->range.aspects == 1;
        VkImageLayout layout = layout_combine(is_depth ? part->old_layout : partner->old_layout,
                                              is_depth ? partner->old_layout : part->old_layout);
        if (layout == VK_IMAGE_LAYOUT_MAX_ENUM)
            return false;
        part->range.aspects = both;
        part->old_layout = layout;
        part->source.stages |= partner->source.stages;
        part->source.access |= partner->source.access;
        part->rewritten |= partner->rewritten;
        *partner = scratch->parts[--scratch->part_count];
    }
    return true;
}

static void report_parts(const struct making *making, const struct record_target *target,
                         const VkImageMemoryBarrier2 *info, enum finding_place place)
{
    for (uint32_t i = 0; i < making->scratch->part_count; i++) {
        const struct barrier_part *part = &making->scratch->parts[i];
        struct transition transition = {
            .range = part->range,
            .old_layout = part->old_layout,
            .new_layout = info->oldLayout,
            .command = (uint16_t)making->call->command,
            .label = making->buffer->label,
        };
        if (part->rewritten)
            record_report(making->buffer, FINDING_WRONG_OLD_LAYOUT, place, target->image, &transition,
                          making->buffer);
    }
}

static void add_parts(struct making *making, const struct record_target *target,
                      const VkImageMemoryBarrier2 *info)
{
    for (uint32_t i = 0; i < making->scratch->part_count; i++) {
        const struct barrier_part *part = &making->scratch->parts[i];
        VkImageMemoryBarrier2 barrier = *info;
        if (part->rewritten) {
            struct scope source = record_scope_of_queue(making->buffer, &part->source);
            barrier.srcStageMask = source.stages;
            barrier.srcAccessMask = source.access;
        }
        barrier.oldLayout = part->old_layout;
        barrier.subresourceRange = image_vk_range(target->image, &part->range);
        add_barrier(making, &barrier);
    }
}

/* Some part is in another layout than the application believes. */
static void add_rewritten(struct making *making, uint32_t index, struct contract_image *part)
{
    struct device_sync *sync = making->buffer->sync;
    const struct record_target *target = &making->scratch->targets[index];
    const VkImageMemoryBarrier2 *info = &making->call->images[index];
    uint32_t both = subresource_range_all(&part->map.shape).aspects;
    if (record_has_one_layout(making->buffer, target->image) && !unite_parts(making->scratch, both)) {
        report_parts(making, target, info, PLACE_NOWHERE);
        contract_forget(part, &target->range);
        add_unchanged(making, index);
        return;
    }
    report_parts(making, target, info, PLACE_REWRITTEN);
    if (sync->mode == SYNC_REPORT)
        return;
    atomic_fetch_add_explicit(&sync->counters.rewritten, 1, memory_order_relaxed);
    begin_rewriting(making, index);
    add_parts(making, target, info);
}

static bool is_rewritten(const struct record_scratch *scratch)
{
    for (uint32_t i = 0; i < scratch->part_count; i++)
        if (scratch->parts[i].rewritten)
            return true;
    return false;
}

static void add_image(struct making *making, uint32_t index)
{
    static const struct transition_sink no_transitions = {ignore_transition, NULL};
    struct record_scratch *scratch = making->scratch;
    const struct record_target *target = &scratch->targets[index];
    struct contract_barrier barrier;
    enum record_effect effect = record_call_effect(making->buffer, making->call, target->image,
                                                   &making->call->images[index], &barrier);
    struct contract_image *part =
        effect == EFFECT_NONE ? NULL : command_buffer_image(making->buffer, target->image);
    scratch->part_count = 0;
    scratch->parts_lost = false;
    if (part && effect == EFFECT_TRANSITION) {
        struct part_sink parts = {add_part, scratch};
        contract_transition(part, &target->range, &barrier, &parts, &no_transitions);
    }
    if (part && (effect == EFFECT_FORGET || scratch->parts_lost)) {
        contract_forget(part, &target->range);
        scratch->part_count = 0;
    }
    if (is_rewritten(scratch))
        add_rewritten(making, index, part);
    else
        add_unchanged(making, index);
}

/* --- The call --- */

static const VkMemoryBarrier2 *make_memory(struct record_scratch *scratch, const struct record_call *call)
{
    const VkMemoryBarrier *from = call->memory;
    if (call->origin == BARRIER_SYNC2)
        return call->memory;
    if (!grow(&scratch->memory, &scratch->memory_capacity, call->memory_count, sizeof(VkMemoryBarrier2)))
        return NULL;
    for (uint32_t i = 0; i < call->memory_count; i++)
        scratch->memory[i] = (VkMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
            .srcStageMask = call->source1,
            .srcAccessMask = from[i].srcAccessMask,
            .dstStageMask = call->destination1,
            .dstAccessMask = from[i].dstAccessMask,
        };
    return scratch->memory;
}

static const VkBufferMemoryBarrier2 *make_buffers(struct record_scratch *scratch,
                                                  const struct record_call *call)
{
    const VkBufferMemoryBarrier *from = call->buffers;
    if (call->origin == BARRIER_SYNC2)
        return call->buffers;
    if (!grow(&scratch->buffers, &scratch->buffer_capacity, call->buffer_count,
              sizeof(VkBufferMemoryBarrier2)))
        return NULL;
    for (uint32_t i = 0; i < call->buffer_count; i++)
        scratch->buffers[i] = (VkBufferMemoryBarrier2){
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
    return scratch->buffers;
}

/* What the application wrote, for the case that nothing joins. */
static bool keep_original(struct command_buffer *buffer, const struct record_call *call)
{
    if (!grow(&buffer->ranges, &buffer->range_capacity, call->image_count, sizeof(VkImageSubresourceRange)))
        return false;
    for (uint32_t i = 0; i < call->image_count; i++)
        buffer->ranges[i] =
            call->images1 ? call->images1[i].subresourceRange : call->images2[i].subresourceRange;
    buffer->batch_next = call->next;
    return true;
}

/* False on out of memory: the application's own call must go down. */
static bool join(struct making *making)
{
    struct command_buffer *buffer = making->buffer;
    struct record_scratch *scratch = making->scratch;
    const struct record_call *from = making->call;
    struct barrier_call call = {
        .origin = making->rewritten ? BARRIER_LAYER : from->origin,
        .flags = from->flags,
        .source1 = from->source1,
        .destination1 = from->destination1,
        .memory_count = from->memory_count,
        .buffer_count = from->buffer_count,
        .image_count = making->rewritten ? scratch->image_count : from->image_count,
        .memory = from->memory_count ? make_memory(scratch, from) : NULL,
        .buffers = from->buffer_count ? make_buffers(scratch, from) : NULL,
        .images = making->rewritten ? scratch->images : from->images,
    };
    if (making->lost || (call.memory_count && !call.memory) || (call.buffer_count && !call.buffers))
        return false;
    if (making->rewritten && from->origin == BARRIER_SYNC1)
        for (uint32_t i = 0; i < call.image_count; i++)
            call.source1 |= scope_stages1(call.images[i].srcStageMask, 0);
    if (!record_join(buffer, &call))
        return false;
    if (buffer->batch.calls > 1 || making->rewritten || keep_original(buffer, from))
        return true;
    barrier_batch_clear(&buffer->batch);
    return false;
}

/* The application's own call goes down although it was to be another. */
static void give_up(struct making *making)
{
    record_flush(making->buffer);
    if (!making->rewritten)
        return;
    for (uint32_t i = 0; i < making->call->image_count; i++) {
        const struct record_target *target = &making->scratch->targets[i];
        struct contract_image *part = command_buffer_image(making->buffer, target->image);
        if (part)
            contract_forget(part, &target->range);
    }
}

/* True if the application's call is to go down, now, and as it is. */
static bool pass(struct command_buffer *buffer, struct record_call *call)
{
    const struct device_sync *sync = buffer->sync;
    struct making making = {buffer, call, &buffer->pool->scratch, false, false};
    for (uint32_t i = 0; i < call->image_count; i++)
        add_image(&making, i);
    if (sync->mode == SYNC_REPORT)
        return true;
    if (!sync->merge && !making.rewritten) {
        record_flush(buffer);
        return true;
    }
    if (!join(&making)) {
        give_up(&making);
        return true;
    }
    if (!sync->merge)
        record_flush(buffer);
    return false;
}

static bool record_barriers(struct command_buffer *buffer, struct record_call *call)
{
    bool goes_down = true;
    if (record_is_inside(buffer)) {
        record_call_follow_inside(buffer, call);
    } else if (buffer->failed) {
        record_flush(buffer);
    } else if (has_chain(call) || !find_targets(buffer, call) || !resolve_ranges(buffer, call)) {
        record_call_follow(buffer, call);
        record_flush(buffer);
    } else {
        goes_down = pass(buffer, call);
    }
    buffer->counters.calls_in++;
    buffer->counters.images_in += call->image_count;
    if (goes_down) {
        buffer->counters.calls_out++;
        buffer->counters.images_out += call->image_count;
    }
    return goes_down;
}

void hook_CmdPipelineBarrier(struct command_buffer *self, PFN_vkCmdPipelineBarrier next,
                             VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
                             VkPipelineStageFlags dstStageMask, VkDependencyFlags dependencyFlags,
                             uint32_t memoryBarrierCount, const VkMemoryBarrier *pMemoryBarriers,
                             uint32_t bufferMemoryBarrierCount,
                             const VkBufferMemoryBarrier *pBufferMemoryBarriers,
                             uint32_t imageMemoryBarrierCount,
                             const VkImageMemoryBarrier *pImageMemoryBarriers)
{
    struct record_call call = {
        .command = COMMAND_CmdPipelineBarrier,
        .origin = BARRIER_SYNC1,
        .flags = dependencyFlags,
        .source1 = srcStageMask,
        .destination1 = dstStageMask,
        .memory_count = memoryBarrierCount,
        .buffer_count = bufferMemoryBarrierCount,
        .memory = pMemoryBarriers,
        .buffers = pBufferMemoryBarriers,
    };
    record_call_set_images(&call, self, imageMemoryBarrierCount, pImageMemoryBarriers);
    if (record_barriers(self, &call))
        next(commandBuffer, srcStageMask, dstStageMask, dependencyFlags, memoryBarrierCount, pMemoryBarriers,
             bufferMemoryBarrierCount, pBufferMemoryBarriers, imageMemoryBarrierCount, pImageMemoryBarriers);
}

void hook_CmdPipelineBarrier2(struct command_buffer *self, PFN_vkCmdPipelineBarrier2 next,
                              VkCommandBuffer commandBuffer, const VkDependencyInfo *pDependencyInfo)
{
    struct record_call call = record_call_of_info(COMMAND_CmdPipelineBarrier2, pDependencyInfo);
    call.next = next;
    if (record_barriers(self, &call))
        next(commandBuffer, pDependencyInfo);
}
