/* vkCmdPipelineBarrier and vkCmdPipelineBarrier2: what becomes pending, and with which layouts. */
#include "sync/grow.h"
#include "sync/layout.h"
#include "sync/record.h"
#include "sync/record_call.h"
#include "sync/record_hold.h"
#include "sync/record_hoist.h"
#include "sync/record_repair.h"

/* The call as it is being made up, in the pool's scratch. */
struct making {
    struct command_buffer *buffer;
    const struct record_call *call;
    struct record_scratch *scratch;
    bool
        rewritten; /* some image barrier isn't as the application wrote it: all are in scratch->made.images */
    bool lost;     /* ... but there was no memory for one */
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
        found = record_call_image(call, i).pNext != NULL;
    return found;
}

/* Finds all images; false if one isn't tracked (it may be another's alias), or a range not within it. */
static bool find_targets(struct command_buffer *buffer, const struct record_call *call)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    if (!grow(&scratch->targets, &scratch->target_capacity, call->image_count, sizeof(struct record_target)))
        return false;
    for (uint32_t i = 0; i < call->image_count; i++) {
        VkImageMemoryBarrier2 info = record_call_image(call, i);
        VkImageSubresourceRange range = info.subresourceRange;
        struct record_target *target = &scratch->targets[i];
        target->image = image_find(buffer->sync, info.image);
        if (!target->image || !image_is_tracked(target->image) ||
            !image_range(target->image, &range, record_has_one_layout(buffer, target->image), &target->range))
            return false;
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

/* The application's, but that VK_REMAINING_... become numbers. */
static VkImageMemoryBarrier2 own_barrier(const struct making *making, uint32_t index)
{
    VkImageMemoryBarrier2 barrier = record_call_image(making->call, index);
    const struct subresource_range *range = &making->scratch->targets[index].range;
    if (barrier.subresourceRange.levelCount == VK_REMAINING_MIP_LEVELS)
        barrier.subresourceRange.levelCount = range->mip_count;
    if (barrier.subresourceRange.layerCount == VK_REMAINING_ARRAY_LAYERS)
        barrier.subresourceRange.layerCount = range->layer_count;
    return barrier;
}

static void add_barrier(struct making *making, const VkImageMemoryBarrier2 *barrier)
{
    struct record_scratch *scratch = making->scratch;
    if (scratch->image_count && barrier_images_join(&scratch->made.images[scratch->image_count - 1], barrier))
        return;
    if (grow(&scratch->made.images, &scratch->made.image_capacity, scratch->image_count + 1,
             sizeof(VkImageMemoryBarrier2)))
        scratch->made.images[scratch->image_count++] = *barrier;
    else
        making->lost = true;
}

static void add_unchanged(struct making *making, uint32_t index)
{
    if (!making->rewritten)
        return;
    VkImageMemoryBarrier2 barrier = own_barrier(making, index);
    add_barrier(making, &barrier);
}

/* From this image barrier on the call is another than the application's. */
static void begin_rewriting(struct making *making, uint32_t index)
{
    if (making->rewritten)
        return;
    making->rewritten = true;
    making->scratch->image_count = 0;
    for (uint32_t i = 0; i < index; i++)
        add_unchanged(making, i);
}

static bool is_other_aspect(const struct barrier_part *a, const struct barrier_part *b)
{
    return !(a->range.aspects & b->range.aspects) && a->range.base_mip == b->range.base_mip &&
           a->range.mip_count == b->range.mip_count && a->range.base_layer == b->range.base_layer &&
           a->range.layer_count == b->range.layer_count;
}

static uint32_t find_other(const struct record_scratch *scratch, uint32_t index)
{
    uint32_t other = 0;
    while (other < scratch->part_count && !is_other_aspect(&scratch->parts[index], &scratch->parts[other]))
        other++;
    return other;
}

static bool have_others(const struct record_scratch *scratch, uint32_t both)
{
    for (uint32_t i = 0; i < scratch->part_count; i++)
        if (scratch->parts[i].range.aspects != both && find_other(scratch, i) == scratch->part_count)
            return false;
    return true;
}

/* Of one aspect the parts are other mips and layers than of the other: each becomes one for every single of
 * them. */
static void take_apart(struct record_scratch *scratch)
{
    uint32_t count = scratch->part_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct barrier_part whole = scratch->parts[i];
        struct barrier_part one = whole;
        one.range.mip_count = one.range.layer_count = 1;
        scratch->parts[i] = one;
        for (uint32_t at = 1; at < whole.range.mip_count * whole.range.layer_count; at++) {
            one.range.base_mip = whole.range.base_mip + at / whole.range.layer_count;
            one.range.base_layer = whole.range.base_layer + at % whole.range.layer_count;
            add_part(scratch, &one);
        }
    }
}

/* Of an image whose barriers name both aspects: makes the parts do so. False where no layout says it. */
static bool unite_parts(struct record_scratch *scratch, uint32_t both)
{
    if (!have_others(scratch, both))
        take_apart(scratch);
    if (scratch->parts_lost)
        return false;
    for (uint32_t i = 0; i < scratch->part_count; i++) {
        struct barrier_part *part = &scratch->parts[i];
        if (part->range.aspects == both)
            continue;
        uint32_t other = find_other(scratch, i);
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
static void add_rewritten(struct making *making, uint32_t index, struct contract_image *part,
                          const VkImageMemoryBarrier2 *info)
{
    struct device_sync *sync = making->buffer->sync;
    const struct record_target *target = &making->scratch->targets[index];
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

static void add_image(struct making *making, uint32_t index)
{
    static const struct transition_sink no_transitions = {ignore_transition, NULL};
    struct record_scratch *scratch = making->scratch;
    const struct record_target *target = &scratch->targets[index];
    struct contract_barrier barrier;
    VkImageMemoryBarrier2 info = record_call_image(making->call, index);
    enum record_effect effect =
        record_call_effect(making->buffer, making->call, target->image, &info, &barrier);
    struct contract_image *part =
        effect == EFFECT_NONE ? NULL : command_buffer_image(making->buffer, target->image);
    scratch->part_count = 0;
    scratch->parts_lost = false;
    if (part && effect == EFFECT_TRANSITION) {
        struct part_sink parts = {add_part, scratch};
        if (record_has_one_layout(making->buffer, target->image) && !layout_is_initial(info.oldLayout))
            record_settle_aspects(part, &target->range, info.oldLayout);
        contract_transition(part, &target->range, &barrier, &parts, &no_transitions);
    }
    if (part && (effect == EFFECT_FORGET || scratch->parts_lost)) {
        contract_forget(part, &target->range);
        scratch->part_count = 0;
    }
    if (scratch->part_count)
        add_rewritten(making, index, part, &info);
    else
        add_unchanged(making, index);
}

/* --- The call --- */

/* False on out of memory: the application's own call must go down. */
static bool join_rewritten(struct making *making)
{
    struct record_scratch *scratch = making->scratch;
    struct barrier_call call;
    if (making->lost || !record_call_convert_rest(making->call, &scratch->made, &call))
        return false;
    call.origin = BARRIER_LAYER;
    call.image_count = scratch->image_count;
    call.images = scratch->made.images;
    for (uint32_t i = 0; making->call->origin == BARRIER_SYNC1 && i < call.image_count; i++)
        call.source1 |= scope_stages1(call.images[i].srcStageMask, 0);
    return record_join(making->buffer, &call);
}

/* What is held back of an instance stays so: the call goes before that. */
static void flush_barriers(struct command_buffer *buffer)
{
    if (buffer->pending)
        record_flush_pending(buffer);
}

/* The application's own call goes down although it was to be another. */
static void give_up(struct making *making)
{
    flush_barriers(making->buffer);
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
static bool pass(struct command_buffer *buffer, const struct record_call *call)
{
    const struct device_sync *sync = buffer->sync;
    struct making making = {buffer, call, &buffer->pool->scratch, false, false};
    for (uint32_t i = 0; i < call->image_count; i++)
        add_image(&making, i);
    if (sync->mode == SYNC_REPORT)
        return true;
    if (!sync->merge && !making.rewritten) {
        flush_barriers(buffer);
        return true;
    }
    if (making.rewritten ? !join_rewritten(&making) : !record_call_pend(buffer, call)) {
        give_up(&making);
        return true;
    }
    if (!sync->merge)
        flush_barriers(buffer);
    return false;
}

/* Outside of a render pass instance, or before one that is held back. */
static bool record_outside(struct command_buffer *buffer, const struct record_call *call)
{
    if (!has_chain(call) && find_targets(buffer, call))
        return pass(buffer, call);
    record_call_follow(buffer, call);
    flush_barriers(buffer);
    return true;
}

static void record_moved(struct command_buffer *buffer, const struct record_call *call)
{
    buffer->counters.calls_in++;
    buffer->counters.images_in += call->image_count;
    if (!buffer->failed && !record_outside(buffer, call))
        return;
    record_call_give_down(buffer, call);
    buffer->counters.calls_out++;
    buffer->counters.images_out += call->image_count;
}

void record_barriers_behind(struct command_buffer *buffer)
{
    for (const struct behind_call *behind = buffer->behind; behind; behind = behind->next)
        record_moved(buffer, &behind->call);
    buffer->behind = NULL;
}

/* Image barriers that may not stand inside go before the instance; the call is then the rest. False where
 * they were all of it. */
static bool record_inside(struct command_buffer *buffer, struct record_call *call)
{
    struct record_call before;
    bool hoisted = record_hoist(buffer, call, &before);
    if (hoisted && before.image_count)
        record_moved(buffer, &before);
    record_call_follow_inside(buffer, call);
    return !hoisted || call->memory_count || call->buffer_count || call->image_count;
}

static bool record_barriers(struct command_buffer *buffer, struct record_call *call)
{
    bool goes_down = true;
    if (record_is_inside(buffer))
        goes_down = record_inside(buffer, call);
    else if (buffer->failed)
        record_flush(buffer);
    else
        goes_down = record_outside(buffer, call);
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
        .image_count = imageMemoryBarrierCount,
        .memory = pMemoryBarriers,
        .buffers = pBufferMemoryBarriers,
        .images = pImageMemoryBarriers,
    };
    if (!record_barriers(self, &call) ||
        RECORD_HOLDS(self, body_put_CmdPipelineBarrier(&self->hold.body, next, srcStageMask, dstStageMask,
                                                       dependencyFlags, memoryBarrierCount, pMemoryBarriers,
                                                       bufferMemoryBarrierCount, pBufferMemoryBarriers,
                                                       call.image_count, call.images)))
        return;
    next(commandBuffer, srcStageMask, dstStageMask, dependencyFlags, memoryBarrierCount, pMemoryBarriers,
         bufferMemoryBarrierCount, pBufferMemoryBarriers, call.image_count, call.images);
}

void hook_CmdPipelineBarrier2(struct command_buffer *self, PFN_vkCmdPipelineBarrier2 next,
                              VkCommandBuffer commandBuffer, const VkDependencyInfo *pDependencyInfo)
{
    struct record_call call = record_call_of_info(COMMAND_CmdPipelineBarrier2, pDependencyInfo);
    call.next = next;
    if (!record_barriers(self, &call))
        return;
    VkDependencyInfo rest = *pDependencyInfo;
    rest.imageMemoryBarrierCount = call.image_count;
    rest.pImageMemoryBarriers = call.images;
    const VkDependencyInfo *info =
        call.images == pDependencyInfo->pImageMemoryBarriers ? pDependencyInfo : &rest;
    if (RECORD_HOLDS(self, body_put_CmdPipelineBarrier2(&self->hold.body, next, info)))
        return;
    next(commandBuffer, info);
}
