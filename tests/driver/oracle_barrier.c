/* Pipeline barriers and waits for events. */
#include "command_buffer.h"
#include "driver_records.h"
#include "oracle_replay.h"

/* One call's dependencies, of either form. */
struct barriers {
    const VkDependencyInfo *info; /* NULL: the first form */
    VkPipelineStageFlags source_stages;
    VkPipelineStageFlags destination_stages;
    VkDependencyFlags flags;
    uint32_t memory_count;
    const VkMemoryBarrier *memory;
    uint32_t buffer_count;
    const VkBufferMemoryBarrier *buffers;
    uint32_t image_count;
    const VkImageMemoryBarrier *images;
};

static uint32_t image_count(const struct barriers *barriers)
{
    return barriers->info ? barriers->info->imageMemoryBarrierCount : barriers->image_count;
}

static uint32_t buffer_count(const struct barriers *barriers)
{
    return barriers->info ? barriers->info->bufferMemoryBarrierCount : barriers->buffer_count;
}

static VkImageMemoryBarrier2 image_barrier(const struct barriers *barriers, uint32_t index)
{
    const VkImageMemoryBarrier *old;

    if (barriers->info)
        return barriers->info->pImageMemoryBarriers[index];
    old = &barriers->images[index];
    return (VkImageMemoryBarrier2){
        .srcStageMask = barriers->source_stages,
        .srcAccessMask = old->srcAccessMask,
        .dstStageMask = barriers->destination_stages,
        .dstAccessMask = old->dstAccessMask,
        .oldLayout = old->oldLayout,
        .newLayout = old->newLayout,
        .srcQueueFamilyIndex = old->srcQueueFamilyIndex,
        .dstQueueFamilyIndex = old->dstQueueFamilyIndex,
        .image = old->image,
        .subresourceRange = old->subresourceRange,
    };
}

static bool transfers_ownership(const VkImageMemoryBarrier2 *barrier)
{
    return barrier->srcQueueFamilyIndex != barrier->dstQueueFamilyIndex;
}

/* "When the old and new layout are equal, the layout values are ignored - data is preserved no matter what
 * values are specified, or what layout the image is currently in", where synchronization2 is enabled. */
static bool is_transition(const struct replay *replay, const VkImageMemoryBarrier2 *barrier)
{
    return barrier->oldLayout != barrier->newLayout || transfers_ownership(barrier) ||
           !replay->device->oracle.synchronization2;
}

static bool is_outside_vulkan(uint32_t family)
{
    return family == VK_QUEUE_FAMILY_EXTERNAL || family == VK_QUEUE_FAMILY_FOREIGN_EXT;
}

/* --- One subresource's transition --- */

static void check_old_layout(const struct replay *replay, const struct range_walk *walk,
                             const VkImageMemoryBarrier2 *barrier)
{
    if (barrier->oldLayout != VK_IMAGE_LAYOUT_UNDEFINED &&
        !layout_matches(walk->aspect, walk->at->layout, barrier->oldLayout))
        replay_violate_at(replay, FAULT_ORACLE_OLD_LAYOUT, walk, barrier->oldLayout,
                          "oldLayout isn't the actual layout");
}

/* "UNDEFINED specifies that the layout is unknown ... the contents of the memory are not guaranteed to be
 * preserved". */
static void discard_if_undefined(const struct replay *replay, const struct range_walk *walk,
                                 const VkImageMemoryBarrier2 *barrier)
{
    if (barrier->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED)
        subresource_discard(walk->at, replay->device);
}

static void transition(const struct replay *replay, const struct range_walk *walk,
                       const VkImageMemoryBarrier2 *barrier)
{
    if (barrier->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED)
        use_take(replay, walk);
    else
        use_owner(replay, walk);
    check_old_layout(replay, walk, barrier);
    discard_if_undefined(replay, walk, barrier);
    walk->at->layout = barrier->newLayout;
}

static void release(const struct replay *replay, const struct range_walk *walk,
                    const VkImageMemoryBarrier2 *barrier)
{
    struct subresource *at = walk->at;

    use_owner(replay, walk);
    check_old_layout(replay, walk, barrier);
    discard_if_undefined(replay, walk, barrier);
    if (is_outside_vulkan(barrier->dstQueueFamilyIndex)) {
        at->layout = LAYOUT_UNKNOWN;
        at->owner = VK_QUEUE_FAMILY_IGNORED;
        return;
    }
    at->owner = barrier->srcQueueFamilyIndex;
    at->released = true;
    at->released_to = barrier->dstQueueFamilyIndex;
    at->released_old = barrier->oldLayout;
    at->released_new = barrier->newLayout;
}

/* "The values of oldLayout and newLayout ... must match those of the release". */
static bool was_released_so(const struct subresource *at, const VkImageMemoryBarrier2 *barrier)
{
    return at->released && at->owner == barrier->srcQueueFamilyIndex &&
           at->released_to == barrier->dstQueueFamilyIndex && at->released_old == barrier->oldLayout &&
           at->released_new == barrier->newLayout;
}

static void acquire(const struct replay *replay, const struct range_walk *walk,
                    const VkImageMemoryBarrier2 *barrier)
{
    const bool from_outside = is_outside_vulkan(barrier->srcQueueFamilyIndex);

    if (from_outside && barrier->oldLayout != VK_IMAGE_LAYOUT_UNDEFINED)
        walk->at->defined = true;
    else if (!from_outside && barrier->oldLayout != VK_IMAGE_LAYOUT_UNDEFINED &&
             !was_released_so(walk->at, barrier))
        replay_violate_at(replay, FAULT_ORACLE_OWNERSHIP, walk, barrier->oldLayout,
                          "acquired without a release that fits");
    discard_if_undefined(replay, walk, barrier);
    use_take(replay, walk);
    walk->at->layout = barrier->newLayout;
}

static void apply_at(const struct replay *replay, const struct range_walk *walk,
                     const VkImageMemoryBarrier2 *barrier)
{
    if (!transfers_ownership(barrier)) {
        transition(replay, walk, barrier);
    } else if (barrier->srcQueueFamilyIndex == replay->family) {
        release(replay, walk, barrier);
    } else if (barrier->dstQueueFamilyIndex == replay->family) {
        acquire(replay, walk, barrier);
    } else {
        replay_violate_at(replay, FAULT_ORACLE_OWNERSHIP, walk, barrier->oldLayout,
                          "an ownership transfer on a queue of neither family");
        walk->at->layout = barrier->newLayout;
    }
}

/* --- One image barrier --- */

static void check_new_layout(const struct replay *replay, const VkImageMemoryBarrier2 *barrier)
{
    struct range_walk walk;

    if (barrier->newLayout != VK_IMAGE_LAYOUT_UNDEFINED &&
        barrier->newLayout != VK_IMAGE_LAYOUT_PREINITIALIZED)
        return;
    range_walk_begin(&walk, barrier->image, &barrier->subresourceRange);
    while (range_walk_next(&walk))
        replay_violate_at(replay, FAULT_ORACLE_NEW_LAYOUT, &walk, barrier->newLayout,
                          "a transition to UNDEFINED or PREINITIALIZED");
}

/* "If image has a depth/stencil format with both depth and stencil and the separateDepthStencilLayouts
 * feature is not enabled, then the aspectMask member of subresourceRange must include both". */
static void check_aspects(const struct replay *replay, const VkImageMemoryBarrier2 *barrier)
{
    const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    const VkImageAspectFlags named = barrier->subresourceRange.aspectMask;
    struct range_walk walk;

    if (replay->device->oracle.separate_layouts || image_aspects(OBJECT(image, barrier->image)) != both ||
        (named & both) == both)
        return;
    range_walk_begin(&walk, barrier->image, &barrier->subresourceRange);
    while (range_walk_next(&walk))
        replay_violate_at(replay, FAULT_ORACLE_ASPECT, &walk, barrier->oldLayout,
                          "depth or stencil alone, without separateDepthStencilLayouts");
}

static void apply(const struct replay *replay, const VkImageMemoryBarrier2 *barrier)
{
    struct range_walk walk;

    if (is_transition(replay, barrier))
        check_new_layout(replay, barrier);
    range_walk_begin(&walk, barrier->image, &barrier->subresourceRange);
    while (is_transition(replay, barrier) && range_walk_next(&walk))
        apply_at(replay, &walk, barrier);
}

/* --- A call --- */

static bool same_transition(const VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    return a->oldLayout == b->oldLayout && a->newLayout == b->newLayout &&
           a->srcQueueFamilyIndex == b->srcQueueFamilyIndex &&
           a->dstQueueFamilyIndex == b->dstQueueFamilyIndex;
}

static bool barriers_overlap(const VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    VkImageSubresourceRange a_range, b_range;

    if (a->image != b->image)
        return false;
    a_range = range_resolve(OBJECT(image, a->image), &a->subresourceRange);
    b_range = range_resolve(OBJECT(image, b->image), &b->subresourceRange);
    return ranges_overlap(&a_range, &b_range);
}

static void report_overlap(const struct replay *replay, const VkImageMemoryBarrier2 *barrier)
{
    struct range_walk walk;

    range_walk_begin(&walk, barrier->image, &barrier->subresourceRange);
    if (range_walk_next(&walk))
        replay_violate_at(replay, FAULT_ORACLE_OVERLAP, &walk, barrier->oldLayout,
                          "different transitions of a subresource in one call");
}

/* Barriers of one call aren't ordered. Says whether an earlier one of the call has made this one's transition
 * already. */
static bool check_overlaps(const struct replay *replay, const struct barriers *barriers, uint32_t index)
{
    const VkImageMemoryBarrier2 barrier = image_barrier(barriers, index);
    bool made = false;

    for (uint32_t i = 0; i < index; i++) {
        const VkImageMemoryBarrier2 other = image_barrier(barriers, i);

        if (!is_transition(replay, &other) || !is_transition(replay, &barrier) ||
            !barriers_overlap(&other, &barrier))
            continue;
        if (same_transition(&other, &barrier))
            made = true;
        else
            report_overlap(replay, &barrier);
    }
    return made;
}

static void add_scope(struct barrier_scopes *scopes, VkPipelineStageFlags2 source_stages,
                      VkAccessFlags2 source_accesses, VkPipelineStageFlags2 destination_stages,
                      VkAccessFlags2 destination_accesses)
{
    scopes->source_stages |= source_stages;
    scopes->source_accesses |= source_accesses;
    scopes->destination_stages |= destination_stages;
    scopes->destination_accesses |= destination_accesses;
}

/* All of the call's together. */
static struct barrier_scopes scopes_of(const struct barriers *barriers)
{
    const VkDependencyInfo *info = barriers->info;
    struct barrier_scopes scopes = {
        .source_stages = barriers->source_stages,
        .destination_stages = barriers->destination_stages,
        .flags = info ? info->dependencyFlags : barriers->flags,
    };

    for (uint32_t i = 0; i < barriers->memory_count; i++)
        add_scope(&scopes, 0, barriers->memory[i].srcAccessMask, 0, barriers->memory[i].dstAccessMask);
    for (uint32_t i = 0; i < barriers->buffer_count; i++)
        add_scope(&scopes, 0, barriers->buffers[i].srcAccessMask, 0, barriers->buffers[i].dstAccessMask);
    for (uint32_t i = 0; info && i < info->memoryBarrierCount; i++) {
        const VkMemoryBarrier2 *memory = &info->pMemoryBarriers[i];

        add_scope(&scopes, memory->srcStageMask, memory->srcAccessMask, memory->dstStageMask,
                  memory->dstAccessMask);
    }
    for (uint32_t i = 0; info && i < info->bufferMemoryBarrierCount; i++) {
        const VkBufferMemoryBarrier2 *buffer = &info->pBufferMemoryBarriers[i];

        add_scope(&scopes, buffer->srcStageMask, buffer->srcAccessMask, buffer->dstStageMask,
                  buffer->dstAccessMask);
    }
    for (uint32_t i = 0; i < image_count(barriers); i++) {
        const VkImageMemoryBarrier2 image = image_barrier(barriers, i);

        add_scope(&scopes, image.srcStageMask, image.srcAccessMask, image.dstStageMask, image.dstAccessMask);
    }
    return scopes;
}

static void check_stages(const struct replay *replay, const struct barriers *barriers,
                         const struct barrier_scopes *scopes)
{
    /* VK_DEPENDENCY_QUEUE_FAMILY_OWNERSHIP_TRANSFER_USE_ALL_STAGES_BIT_KHR, newer than some headers */
    const VkDependencyFlags use_all_stages = 0x20;

    if (!(scopes->flags & use_all_stages) &&
        stages_missing(scopes->source_stages | scopes->destination_stages,
                       queue_families[replay->family].queueFlags))
        replay_violate(replay, FAULT_ORACLE_STAGE, "a stage that the queue family doesn't have");
    /* "If the synchronization2 feature is not enabled, srcStageMask must not be 0". */
    if (!barriers->info && !replay->device->oracle.synchronization2 &&
        (!barriers->source_stages || !barriers->destination_stages))
        replay_violate(replay, FAULT_ORACLE_STAGE, "an empty stage mask without synchronization2");
}

/* --- Where it stands --- */

static void check_layouts_stay(const struct replay *replay, const struct barriers *barriers)
{
    for (uint32_t i = 0; i < image_count(barriers); i++) {
        const VkImageMemoryBarrier2 barrier = image_barrier(barriers, i);

        if (barrier.oldLayout != barrier.newLayout)
            replay_violate(replay, FAULT_ORACLE_PLACE, "a transition inside a render pass instance");
        if (transfers_ownership(&barrier))
            replay_violate(replay, FAULT_ORACLE_PLACE, "an ownership transfer inside a render pass instance");
    }
}

static void check_inside_pass(const struct replay *replay, const struct barriers *barriers,
                              const struct barrier_scopes *scopes)
{
    if (!pass_allows_barrier(&replay->instance, scopes))
        replay_violate(replay, FAULT_ORACLE_PLACE, "a barrier in a subpass without a self-dependency for it");
    if (buffer_count(barriers))
        replay_violate(replay, FAULT_ORACLE_PLACE, "a buffer barrier inside a render pass");
    for (uint32_t i = 0; i < image_count(barriers); i++) {
        if (!pass_uses_image(&replay->instance, image_barrier(barriers, i).image))
            replay_violate(replay, FAULT_ORACLE_PLACE,
                           "a barrier inside a render pass for an image that the subpass doesn't use");
    }
    check_layouts_stay(replay, barriers);
}

/* VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ, newer than some headers */
#define LOCAL_READ ((VkImageLayout)1000232000)

/* "... and the image member of any image memory barrier is used as an attachment in the current render pass
 * instance, it must be in the VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ or VK_IMAGE_LAYOUT_GENERAL layout". */
static void check_attachment(const struct replay *replay, const VkImageMemoryBarrier2 *barrier)
{
    struct range_walk walk;

    if (!rendering_uses_image(replay->rendering, barrier->image))
        return;
    range_walk_begin(&walk, barrier->image, &barrier->subresourceRange);
    while (range_walk_next(&walk)) {
        if (walk.at->layout != LOCAL_READ && walk.at->layout != VK_IMAGE_LAYOUT_GENERAL)
            replay_violate_at(
                replay, FAULT_ORACLE_PLACE, &walk, LOCAL_READ,
                "a barrier inside dynamic rendering for an attachment that isn't for local reads");
    }
}

/* "If neither the shaderTileImage... nor the dynamicRenderingLocalRead features are enabled, [it] must not be
 * called within a render pass instance started with vkCmdBeginRendering". */
static void check_inside_rendering(const struct replay *replay, const struct barriers *barriers)
{
    const struct oracle_device *device = &replay->device->oracle;

    if (!device->local_read && !device->tile_image)
        replay_violate(replay, FAULT_ORACLE_PLACE, "a barrier inside dynamic rendering");
    else if (!device->local_read && (image_count(barriers) || buffer_count(barriers)))
        replay_violate(replay, FAULT_ORACLE_PLACE, "an image or buffer barrier inside dynamic rendering");
    else
        check_layouts_stay(replay, barriers);
    for (uint32_t i = 0; device->local_read && i < image_count(barriers); i++) {
        const VkImageMemoryBarrier2 barrier = image_barrier(barriers, i);

        check_attachment(replay, &barrier);
    }
}

static void check_place(const struct replay *replay, const struct barriers *barriers,
                        const struct barrier_scopes *scopes)
{
    if (replay->suspended)
        replay_violate(replay, FAULT_ORACLE_PLACE, "a barrier between suspended and resumed rendering");
    else if (replay->instance.pass)
        check_inside_pass(replay, barriers, scopes);
    else if (replay->rendering)
        check_inside_rendering(replay, barriers);
}

static void judge(const struct replay *replay, const struct barriers *barriers, bool is_wait)
{
    const struct barrier_scopes scopes = scopes_of(barriers);

    check_stages(replay, barriers, &scopes);
    if (!is_wait || replay->suspended)
        check_place(replay, barriers, &scopes);
    for (uint32_t i = 0; i < image_count(barriers); i++) {
        const VkImageMemoryBarrier2 barrier = image_barrier(barriers, i);

        check_aspects(replay, &barrier);
        if (!check_overlaps(replay, barriers, i))
            apply(replay, &barrier);
    }
}

static void judge_events(const struct replay *replay, const struct arguments_vkCmdWaitEvents2 *wait)
{
    for (uint32_t i = 0; i < wait->eventCount; i++) {
        const struct barriers barriers = {.info = &wait->pDependencyInfos[i]};

        judge(replay, &barriers, true);
    }
}

bool replay_barrier(const struct replay *replay, const struct recorded_command *command)
{
    switch ((int)command->command) {
    case COMMAND_vkCmdPipelineBarrier: {
        const struct arguments_vkCmdPipelineBarrier *a = command->arguments;
        const struct barriers barriers = {
            NULL,
            a->srcStageMask,
            a->dstStageMask,
            a->dependencyFlags,
            a->memoryBarrierCount,
            a->pMemoryBarriers,
            a->bufferMemoryBarrierCount,
            a->pBufferMemoryBarriers,
            a->imageMemoryBarrierCount,
            a->pImageMemoryBarriers,
        };

        judge(replay, &barriers, false);
        return true;
    }
    case COMMAND_vkCmdPipelineBarrier2: {
        const struct arguments_vkCmdPipelineBarrier2 *a = command->arguments;
        const struct barriers barriers = {.info = a->pDependencyInfo};

        judge(replay, &barriers, false);
        return true;
    }
    case COMMAND_vkCmdWaitEvents: {
        const struct arguments_vkCmdWaitEvents *a = command->arguments;
        const struct barriers barriers = {
            NULL,
            a->srcStageMask,
            a->dstStageMask,
            0,
            a->memoryBarrierCount,
            a->pMemoryBarriers,
            a->bufferMemoryBarrierCount,
            a->pBufferMemoryBarriers,
            a->imageMemoryBarrierCount,
            a->pImageMemoryBarriers,
        };

        judge(replay, &barriers, true);
        return true;
    }
    case COMMAND_vkCmdWaitEvents2:
        judge_events(replay, command->arguments);
        return true;
    default:
        return false;
    }
}
