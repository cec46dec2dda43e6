/* Barriers of the application: vkCmdPipelineBarrier, vkCmdPipelineBarrier2 and events. */
#include <string.h>

#include "sync/finding.h"
#include "sync/layout.h"
#include "sync/record.h"
#include "sync/repair.h"
#include "sync/transition.h"

#define FEW 16      /* barriers of a call that are converted on the stack */
#define FEW_PARTS 4 /* of a barrier that are reported */

/* One call of the application in synchronization2's form. */
struct converted {
    struct barrier_call call;
    VkMemoryBarrier2 few_memory[FEW];
    VkBufferMemoryBarrier2 few_buffers[FEW];
    VkImageMemoryBarrier2 few_images[FEW];
    /* The image barriers as they must go down: the application's, and parts of those that are rewritten. */
    VkImageMemoryBarrier2 *images;
    uint32_t count, capacity;
    bool plain; /* no structure has a chain, every image may stand beside others */
    bool rewritten;
    bool lost; /* there was no memory for a part */
};

/* Room for `count` items: the stack's few, else the arena's. */
static void *room(struct command_buffer *buffer, void *few, uint32_t count, size_t size)
{
    return count <= FEW ? few : arena_alloc(&buffer->arena, count * size);
}

/* --- What a barrier means for the contract --- */

static bool is_external(uint32_t family)
{
    return family == VK_QUEUE_FAMILY_EXTERNAL || family == VK_QUEUE_FAMILY_FOREIGN_EXT;
}

static bool transfers_ownership(const VkImageMemoryBarrier2 *barrier)
{
    return barrier->srcQueueFamilyIndex != barrier->dstQueueFamilyIndex &&
           barrier->srcQueueFamilyIndex != VK_QUEUE_FAMILY_IGNORED &&
           barrier->dstQueueFamilyIndex != VK_QUEUE_FAMILY_IGNORED;
}

static struct contract_barrier meaning_of(const struct command_buffer *buffer, const struct image *image,
                                          enum sync_command command, const VkImageMemoryBarrier2 *barrier,
                                          bool fixed)
{
    struct contract_barrier meaning = {
        .old_layout = barrier->oldLayout,
        .new_layout = barrier->newLayout,
        .source = {barrier->srcStageMask, barrier->srcAccessMask},
        .destination = {barrier->dstStageMask, barrier->dstAccessMask},
        .source_family = ACCESS_NO_FAMILY,
        .destination_family = ACCESS_NO_FAMILY,
        .family = (uint8_t)buffer->family,
        .command = (uint16_t)command,
        .label = buffer->label,
        .fixed = fixed,
    };
    if (image->exclusive && transfers_ownership(barrier)) {
        meaning.source_family = (uint8_t)barrier->srcQueueFamilyIndex;
        meaning.destination_family = (uint8_t)barrier->dstQueueFamilyIndex;
    }
    return meaning;
}

/* Spec, VkImageMemoryBarrier2: where synchronization2 is enabled and both layouts are equal, no layout
 * transition is performed, whatever the layout. */
static bool is_only_memory(const struct command_buffer *buffer, const VkImageMemoryBarrier2 *barrier)
{
    return buffer->sync->app_sync2 && barrier->oldLayout == barrier->newLayout &&
           !transfers_ownership(barrier);
}

static void report_part(const struct command_buffer *buffer, const struct contract_image *part,
                        const struct barrier_part *wrong, const struct contract_barrier *barrier,
                        enum finding_place place)
{
    struct finding finding = {
        .kind = FINDING_WRONG_OLD_LAYOUT,
        .place = place,
        .image = part->image,
        .range = wrong->range,
        .command = barrier->command,
        .labels = buffer->label_count ? buffer->labels[buffer->label] : "",
        .command_buffer = buffer->name,
        .had = wrong->old_layout,
        .needed = barrier->old_layout,
    };
    finding_report(buffer->sync, &finding);
}

/* --- Rewriting --- */

struct parts {
    struct command_buffer *buffer;
    struct converted *out; /* NULL: the barrier goes down as it is */
    const struct contract_image *part;
    const struct subresource_range *range;
    const struct contract_barrier *meaning;
    const VkImageMemoryBarrier2 *original;
    uint32_t first;             /* of this barrier's, in out->images */
    struct barrier_part *wrong; /* FEW_PARTS of them, to be reported */
    uint32_t wrong_count;
    bool cannot; /* an aspect would have to be named alone */
};

static bool must_name_both(const struct parts *parts)
{
    return parts->part->image->aspect_count == 2 && !parts->buffer->sync->separate_depth_stencil;
}

static void append(struct command_buffer *buffer, struct converted *out, const VkImageMemoryBarrier2 *barrier)
{
    if (out->count == out->capacity) {
        VkImageMemoryBarrier2 *more = arena_alloc(&buffer->arena, 2 * (size_t)out->capacity * sizeof(*more));
        if (!more) {
            out->lost = true;
            return;
        }
        memcpy(more, out->images, out->count * sizeof(*more));
        out->images = more;
        out->capacity *= 2;
    }
    out->images[out->count++] = *barrier;
}

/* VK_REMAINING_... made numbers, for comparing and folding ranges in the batch. False where that can't be
 * told: of an image that isn't tracked nothing is known, not even that slices of 3D images have one layout.
 */
static bool resolve_range(struct command_buffer *buffer, VkImageMemoryBarrier2 *barrier)
{
    VkImageSubresourceRange *range = &barrier->subresourceRange;
    if (range->levelCount != VK_REMAINING_MIP_LEVELS && range->layerCount != VK_REMAINING_ARRAY_LAYERS)
        return true;
    const struct image *image = image_find(buffer->sync, barrier->image);
    struct subresource_range found;
    if (!image || !image_is_tracked(image) || !image_range(image, range, false, &found))
        return false;
    VkImageSubresourceRange numbers = image_vk_range(image, &found);
    range->levelCount = numbers.levelCount;
    range->layerCount = numbers.layerCount;
    return true;
}

/* As the application has written it. */
static void keep(struct command_buffer *buffer, struct converted *out, const VkImageMemoryBarrier2 *barrier)
{
    VkImageMemoryBarrier2 same = *barrier;
    out->plain &= resolve_range(buffer, &same);
    append(buffer, out, &same);
}

static bool ranges_equal(const struct subresource_range *a, const struct subresource_range *b)
{
    return a->aspects == b->aspects && a->base_mip == b->base_mip && a->mip_count == b->mip_count &&
           a->base_layer == b->base_layer && a->layer_count == b->layer_count;
}

static void note_wrong(struct parts *parts, const struct barrier_part *part)
{
    if (!part->rewritten)
        return;
    if (parts->wrong_count < FEW_PARTS)
        parts->wrong[parts->wrong_count] = *part;
    parts->wrong_count++;
}

static void add_part(void *context, const struct barrier_part *part)
{
    struct parts *parts = context;
    struct converted *out = parts->out;
    VkImageMemoryBarrier2 barrier = *parts->original;
    if (!part->rewritten && ranges_equal(&part->range, parts->range)) {
        keep(parts->buffer, out, parts->original);
        return;
    }
    note_wrong(parts, part);
    if (part->rewritten) {
        barrier.oldLayout = part->old_layout;
        barrier.srcStageMask = scope_stages_of_queue(part->source.stages, parts->buffer->queue_flags);
        barrier.srcAccessMask = part->source.access;
    }
    parts->cannot |= must_name_both(parts) && part->range.aspects != BOTH_ASPECTS;
    barrier.subresourceRange = image_vk_range(parts->part->image, &part->range);
    if (out->count == parts->first || !barrier_images_join(&out->images[out->count - 1], &barrier))
        append(parts->buffer, out, &barrier);
}

/* Depth and stencil are in layouts that differ: one barrier that names both must say what both are in. */
static bool unite_aspects(struct converted *out, uint32_t first)
{
    VkImageMemoryBarrier2 *barriers = &out->images[first];
    if (out->count - first != 2 ||
        (barriers[0].subresourceRange.aspectMask & barriers[1].subresourceRange.aspectMask))
        return false;
    bool depth_first = barriers[0].subresourceRange.aspectMask == VK_IMAGE_ASPECT_DEPTH_BIT;
    VkImageLayout layout = layout_combine(barriers[!depth_first].oldLayout, barriers[depth_first].oldLayout);
    VkImageMemoryBarrier2 second = barriers[1];
    if (layout == VK_IMAGE_LAYOUT_MAX_ENUM)
        return false;
    barriers[0].oldLayout = second.oldLayout = layout;
    barriers[0].srcStageMask = second.srcStageMask |= barriers[0].srcStageMask;
    barriers[0].srcAccessMask = second.srcAccessMask |= barriers[0].srcAccessMask;
    if (!barrier_images_join(&barriers[0], &second))
        return false;
    out->count--;
    return true;
}

static void only_note(void *context, const struct barrier_part *part)
{
    note_wrong(context, part);
}

static void report_parts(const struct parts *parts, enum finding_place place)
{
    for (uint32_t i = 0; i < parts->wrong_count && i < FEW_PARTS; i++)
        report_part(parts->buffer, parts->part, &parts->wrong[i], parts->meaning, place);
}

/* --- One image barrier --- */

static bool may_stand_beside_others(const struct image *image)
{
    return image && atomic_load_explicit(&image->untracked, memory_order_relaxed) != IMAGE_ALIASED;
}

/* The range and contract of a barrier's image, if the barrier is to be followed; false otherwise. */
static bool find_part(struct command_buffer *buffer, struct image *image,
                      const VkImageMemoryBarrier2 *barrier, struct contract_image **part,
                      struct subresource_range *range)
{
    *part = command_buffer_image(buffer, image);
    if (!*part || is_only_memory(buffer, barrier))
        return false;
    bool known = image_range(image, &barrier->subresourceRange, !buffer->sync->separate_depth_stencil, range);
    if (known && !is_external(barrier->srcQueueFamilyIndex) && !is_external(barrier->dstQueueFamilyIndex))
        return true;
    if (!known)
        *range = subresource_range_all(&(*part)->map.shape);
    contract_forget(*part, range);
    return false;
}

/* Follows a barrier that may be rewritten, and adds what must go down for it. */
static void follow(struct command_buffer *buffer, struct converted *out, enum sync_command command,
                   const VkImageMemoryBarrier2 *barrier)
{
    struct image *image = image_find(buffer->sync, barrier->image);
    struct contract_image *part;
    struct subresource_range range;
    out->plain &= may_stand_beside_others(image);
    if (!image || !find_part(buffer, image, barrier, &part, &range)) {
        keep(buffer, out, barrier);
        return;
    }
    struct contract_barrier meaning = meaning_of(buffer, image, command, barrier, false);
    struct barrier_part wrong[FEW_PARTS];
    struct parts parts = {buffer, out, part, &range, &meaning, barrier, out->count, wrong, 0, false};
    struct part_sink sink = {add_part, &parts};
    contract_transition(part, &range, &meaning, &sink, NULL);
    if (!parts.wrong_count)
        return;
    if ((parts.cannot && !unite_aspects(out, parts.first)) || out->lost) {
        report_parts(&parts, PLACE_NOWHERE);
        out->count = parts.first;
        keep(buffer, out, barrier);
        contract_forget(part, &range);
        return;
    }
    report_parts(&parts, PLACE_REWRITTEN);
    out->rewritten = true;
    atomic_fetch_add_explicit(&buffer->sync->counters.rewritten, 1, memory_order_relaxed);
}

/* Follows one that goes down as it is; `place`: what is missing goes before it, else (report mode) it is
 * said. */
static void follow_fixed(struct command_buffer *buffer, enum sync_command command,
                         const VkImageMemoryBarrier2 *barrier, bool place)
{
    struct image *image = image_find(buffer->sync, barrier->image);
    struct contract_image *part;
    struct subresource_range range;
    struct repairs repairs;
    if (!image || !find_part(buffer, image, barrier, &part, &range))
        return;
    struct contract_barrier meaning = meaning_of(buffer, image, command, barrier, place);
    struct barrier_part wrong[FEW_PARTS];
    struct parts parts = {buffer, NULL, part, &range, &meaning, barrier, 0, wrong, 0, false};
    struct part_sink sink = {only_note, &parts};
    repairs_init(&repairs, buffer, part, command);
    struct transition_sink transitions = repairs_sink(&repairs);
    contract_transition(part, &range, &meaning, &sink, &transitions);
    repairs_place(&repairs);
    report_parts(&parts, PLACE_REWRITTEN);
}

/* A transition inside a render pass instance, of whatever image, isn't valid; what it does isn't known. */
static void follow_inside(struct command_buffer *buffer, const VkImageMemoryBarrier2 *barrier)
{
    struct image *image = image_find(buffer->sync, barrier->image);
    struct contract_image *part;
    struct subresource_range range;
    if (image && (barrier->oldLayout != barrier->newLayout || transfers_ownership(barrier)) &&
        find_part(buffer, image, barrier, &part, &range))
        contract_forget(part, &range);
}

/* Of a call that goes down as it is. */
static void follow_own(struct command_buffer *buffer, enum sync_command command,
                       const VkImageMemoryBarrier2 *barrier, bool place)
{
    if (record_is_inside(buffer))
        follow_inside(buffer, barrier);
    else
        follow_fixed(buffer, command, barrier, place);
}

/* --- Calls --- */

static VkImageMemoryBarrier2 image_barrier2(const VkImageMemoryBarrier *from, VkPipelineStageFlags source,
                                            VkPipelineStageFlags destination)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .pNext = from->pNext,
        .srcStageMask = source,
        .srcAccessMask = from->srcAccessMask,
        .dstStageMask = destination,
        .dstAccessMask = from->dstAccessMask,
        .oldLayout = from->oldLayout,
        .newLayout = from->newLayout,
        .srcQueueFamilyIndex = from->srcQueueFamilyIndex,
        .dstQueueFamilyIndex = from->dstQueueFamilyIndex,
        .image = from->image,
        .subresourceRange = from->subresourceRange,
    };
}

/* Room for the images of a call. */
static bool begin(struct command_buffer *buffer, struct converted *out, uint32_t images)
{
    out->capacity = images > FEW ? images : FEW;
    out->images = room(buffer, out->few_images, out->capacity, sizeof(*out->images));
    out->count = 0;
    out->plain = true;
    out->rewritten = out->lost = false;
    return out->images != NULL;
}

/* True if the call is in the batch, or has gone down from there; false if the application's own must go down.
 */
static bool finish(struct command_buffer *buffer, struct converted *out)
{
    struct barrier_call *call = &out->call;
    if (out->lost || (!out->rewritten && (!out->plain || !buffer->sync->merge)))
        return false;
    call->image_count = out->count;
    call->images = out->images;
    if (out->rewritten) {
        VkPipelineStageFlags2 sources = call->source1;
        for (uint32_t i = 0; i < out->count; i++)
            sources |= out->images[i].srcStageMask;
        call->source1 = scope_stages1(sources, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
    }
    if (!out->plain)
        record_flush(buffer);
    record_add(buffer, call);
    if (!out->plain)
        record_flush(buffer);
    return true;
}

/* The application's own call goes down: after what is pending. */
static void give_down(struct command_buffer *buffer, uint32_t images)
{
    record_flush(buffer);
    buffer->counters.calls_in++;
    buffer->counters.calls_out++;
    buffer->counters.images_in += images;
    buffer->counters.images_out += images;
}

static bool has_chain1(uint32_t memory_count, const VkMemoryBarrier *memory, uint32_t buffer_count,
                       const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                       const VkImageMemoryBarrier *images)
{
    const void *any = NULL;
    for (uint32_t i = 0; i < memory_count && !any; i++)
        any = memory[i].pNext;
    for (uint32_t i = 0; i < buffer_count && !any; i++)
        any = buffers[i].pNext;
    for (uint32_t i = 0; i < image_count && !any; i++)
        any = images[i].pNext;
    return any != NULL;
}

static bool has_chain2(const VkDependencyInfo *info)
{
    const void *any = info->pNext;
    for (uint32_t i = 0; i < info->memoryBarrierCount && !any; i++)
        any = info->pMemoryBarriers[i].pNext;
    for (uint32_t i = 0; i < info->bufferMemoryBarrierCount && !any; i++)
        any = info->pBufferMemoryBarriers[i].pNext;
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount && !any; i++)
        any = info->pImageMemoryBarriers[i].pNext;
    return any != NULL;
}

static bool convert1(struct command_buffer *buffer, struct converted *out, VkPipelineStageFlags source,
                     VkPipelineStageFlags destination, VkDependencyFlags flags, uint32_t memory_count,
                     const VkMemoryBarrier *memory, uint32_t buffer_count,
                     const VkBufferMemoryBarrier *buffers)
{
    VkMemoryBarrier2 *memory2 = room(buffer, out->few_memory, memory_count, sizeof(*memory2));
    VkBufferMemoryBarrier2 *buffers2 = room(buffer, out->few_buffers, buffer_count, sizeof(*buffers2));
    if (!memory2 || !buffers2)
        return false;
    for (uint32_t i = 0; i < memory_count; i++)
        memory2[i] = (VkMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
            .srcStageMask = source,
            .srcAccessMask = memory[i].srcAccessMask,
            .dstStageMask = destination,
            .dstAccessMask = memory[i].dstAccessMask,
        };
    for (uint32_t i = 0; i < buffer_count; i++)
        buffers2[i] = (VkBufferMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
            .srcStageMask = source,
            .srcAccessMask = buffers[i].srcAccessMask,
            .dstStageMask = destination,
            .dstAccessMask = buffers[i].dstAccessMask,
            .srcQueueFamilyIndex = buffers[i].srcQueueFamilyIndex,
            .dstQueueFamilyIndex = buffers[i].dstQueueFamilyIndex,
            .buffer = buffers[i].buffer,
            .offset = buffers[i].offset,
            .size = buffers[i].size,
        };
    out->call = (struct barrier_call){
        .origin = BARRIER_SYNC1,
        .flags = flags,
        .source1 = source,
        .destination1 = destination,
        .memory_count = memory_count,
        .buffer_count = buffer_count,
        .memory = memory2,
        .buffers = buffers2,
    };
    return true;
}

void hook_CmdPipelineBarrier(struct command_buffer *buffer, PFN_vkCmdPipelineBarrier next,
                             VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
                             VkPipelineStageFlags dstStageMask, VkDependencyFlags dependencyFlags,
                             uint32_t memoryBarrierCount, const VkMemoryBarrier *pMemoryBarriers,
                             uint32_t bufferMemoryBarrierCount,
                             const VkBufferMemoryBarrier *pBufferMemoryBarriers,
                             uint32_t imageMemoryBarrierCount,
                             const VkImageMemoryBarrier *pImageMemoryBarriers)
{
    struct converted out;
    bool own = record_is_inside(buffer) || buffer->sync->mode == SYNC_REPORT ||
               has_chain1(memoryBarrierCount, pMemoryBarriers, bufferMemoryBarrierCount,
                          pBufferMemoryBarriers, imageMemoryBarrierCount, pImageMemoryBarriers) ||
               !begin(buffer, &out, imageMemoryBarrierCount) ||
               !convert1(buffer, &out, srcStageMask, dstStageMask, dependencyFlags, memoryBarrierCount,
                         pMemoryBarriers, bufferMemoryBarrierCount, pBufferMemoryBarriers);
    for (uint32_t i = 0; i < imageMemoryBarrierCount; i++) {
        VkImageMemoryBarrier2 barrier = image_barrier2(&pImageMemoryBarriers[i], srcStageMask, dstStageMask);
        if (own)
            follow_own(buffer, COMMAND_CmdPipelineBarrier, &barrier, buffer->sync->mode == SYNC_REPAIR);
        else
            follow(buffer, &out, COMMAND_CmdPipelineBarrier, &barrier);
    }
    if (!own && finish(buffer, &out))
        return;
    give_down(buffer, imageMemoryBarrierCount);
    next(commandBuffer, srcStageMask, dstStageMask, dependencyFlags, memoryBarrierCount, pMemoryBarriers,
         bufferMemoryBarrierCount, pBufferMemoryBarriers, imageMemoryBarrierCount, pImageMemoryBarriers);
}

void hook_CmdPipelineBarrier2(struct command_buffer *buffer, PFN_vkCmdPipelineBarrier2 next,
                              VkCommandBuffer commandBuffer, const VkDependencyInfo *pDependencyInfo)
{
    const VkDependencyInfo *info = pDependencyInfo;
    struct converted out;
    bool own = record_is_inside(buffer) || buffer->sync->mode == SYNC_REPORT || has_chain2(info) ||
               !begin(buffer, &out, info->imageMemoryBarrierCount);
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; i++) {
        if (own)
            follow_own(buffer, COMMAND_CmdPipelineBarrier2, &info->pImageMemoryBarriers[i],
                       buffer->sync->mode == SYNC_REPAIR);
        else
            follow(buffer, &out, COMMAND_CmdPipelineBarrier2, &info->pImageMemoryBarriers[i]);
    }
    if (!own) {
        out.call = (struct barrier_call){
            .origin = BARRIER_SYNC2,
            .flags = info->dependencyFlags,
            .memory_count = info->memoryBarrierCount,
            .buffer_count = info->bufferMemoryBarrierCount,
            .memory = info->pMemoryBarriers,
            .buffers = info->pBufferMemoryBarriers,
        };
        if (finish(buffer, &out))
            return;
    }
    give_down(buffer, info->imageMemoryBarrierCount);
    next(commandBuffer, pDependencyInfo);
}

/* --- Events: never rewritten --- */

void hook_CmdWaitEvents(struct command_buffer *buffer, PFN_vkCmdWaitEvents next,
                        VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent *pEvents,
                        VkPipelineStageFlags srcStageMask, VkPipelineStageFlags dstStageMask,
                        uint32_t memoryBarrierCount, const VkMemoryBarrier *pMemoryBarriers,
                        uint32_t bufferMemoryBarrierCount, const VkBufferMemoryBarrier *pBufferMemoryBarriers,
                        uint32_t imageMemoryBarrierCount, const VkImageMemoryBarrier *pImageMemoryBarriers)
{
    for (uint32_t i = 0; i < imageMemoryBarrierCount; i++) {
        VkImageMemoryBarrier2 barrier = image_barrier2(&pImageMemoryBarriers[i], srcStageMask, dstStageMask);
        follow_own(buffer, COMMAND_CmdWaitEvents, &barrier, true);
    }
    record_flush(buffer);
    next(commandBuffer, eventCount, pEvents, srcStageMask, dstStageMask, memoryBarrierCount, pMemoryBarriers,
         bufferMemoryBarrierCount, pBufferMemoryBarriers, imageMemoryBarrierCount, pImageMemoryBarriers);
}

/* The transition of the pair of a set and a wait happens between them: what it needs must be there at the
 * set. */
void hook_CmdSetEvent2(struct command_buffer *buffer, PFN_vkCmdSetEvent2 next, VkCommandBuffer commandBuffer,
                       VkEvent event, const VkDependencyInfo *pDependencyInfo)
{
    for (uint32_t i = 0; i < pDependencyInfo->imageMemoryBarrierCount; i++) {
        const VkImageMemoryBarrier2 *barrier = &pDependencyInfo->pImageMemoryBarriers[i];
        struct image *image = image_find(buffer->sync, barrier->image);
        struct contract_image *part;
        struct subresource_range range;
        if (!image || layout_is_initial(barrier->oldLayout) || transfers_ownership(barrier) ||
            !find_part(buffer, image, barrier, &part, &range))
            continue;
        record_use(buffer, COMMAND_CmdSetEvent2, image, &range, barrier->oldLayout, barrier->srcStageMask,
                   barrier->srcAccessMask);
    }
    record_flush(buffer);
    next(commandBuffer, event, pDependencyInfo);
}

void hook_CmdWaitEvents2(struct command_buffer *buffer, PFN_vkCmdWaitEvents2 next,
                         VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent *pEvents,
                         const VkDependencyInfo *pDependencyInfos)
{
    for (uint32_t i = 0; i < eventCount; i++)
        for (uint32_t j = 0; j < pDependencyInfos[i].imageMemoryBarrierCount; j++)
            follow_own(buffer, COMMAND_CmdWaitEvents2, &pDependencyInfos[i].pImageMemoryBarriers[j], true);
    record_flush(buffer);
    next(commandBuffer, eventCount, pEvents, pDependencyInfos);
}
