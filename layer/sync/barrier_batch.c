#include "sync/barrier_batch.h"

#include <stdlib.h>
#include <string.h>

#include "sync/scope.h"

void barrier_batch_finish(struct barrier_batch *batch)
{
    free(batch->memory);
    free(batch->buffers);
    free(batch->images);
    memset(batch, 0, sizeof(*batch));
}

void barrier_batch_clear(struct barrier_batch *batch)
{
    batch->calls = 0;
    batch->changed = false;
    batch->memory_count = batch->buffer_count = batch->image_count = 0;
    batch->sources = batch->destinations = 0;
}

/* What a call orders, all its barriers taken together, expanded. */
struct extent {
    VkPipelineStageFlags2 sources, destinations;
};

static void extent_add(struct extent *extent, VkPipelineStageFlags2 source, VkPipelineStageFlags2 destination)
{
    extent->sources |= source;
    extent->destinations |= destination;
}

static struct extent extent_of(const struct barrier_call *call, VkQueueFlags queue)
{
    struct extent extent = {0, 0};
    if (call->origin == BARRIER_SYNC1)
        extent_add(&extent, call->source1, call->destination1);
    for (uint32_t i = 0; i < call->memory_count; i++)
        extent_add(&extent, call->memory[i].srcStageMask, call->memory[i].dstStageMask);
    for (uint32_t i = 0; i < call->buffer_count; i++)
        extent_add(&extent, call->buffers[i].srcStageMask, call->buffers[i].dstStageMask);
    for (uint32_t i = 0; i < call->image_count; i++)
        extent_add(&extent, call->images[i].srcStageMask, call->images[i].dstStageMask);
    extent.sources = scope_expand_stages(extent.sources, queue);
    extent.destinations = scope_expand_stages(extent.destinations, queue);
    return extent;
}

static bool grow(void **items, uint32_t *capacity, uint32_t wanted, size_t size)
{
    if (wanted <= *capacity)
        return true;
    uint32_t next = *capacity ? *capacity : 16;
    while (next < wanted)
        next *= 2;
    void *grown = realloc(*items, next * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = next;
    return true;
}

static bool reserve(struct barrier_batch *batch, const struct barrier_call *call)
{
    void *memory = batch->memory, *buffers = batch->buffers, *images = batch->images;
    /* One more memory barrier for each fold that ends where it began, and for a call without any barrier. */
    bool done =
        grow(&memory, &batch->memory_capacity,
             batch->memory_count + call->memory_count + call->image_count + 2, sizeof(*batch->memory));
    batch->memory = memory;
    done = done && grow(&buffers, &batch->buffer_capacity, batch->buffer_count + call->buffer_count,
                        sizeof(*batch->buffers));
    batch->buffers = buffers;
    done = done && grow(&images, &batch->image_capacity, batch->image_count + call->image_count,
                        sizeof(*batch->images));
    batch->images = images;
    return done;
}

static bool same_range(const VkImageSubresourceRange *a, const VkImageSubresourceRange *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static bool stretches_meet(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
    return (uint64_t)a < (uint64_t)b + b_count && (uint64_t)b < (uint64_t)a + a_count;
}

static bool overlap(const VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    const VkImageSubresourceRange *x = &a->subresourceRange, *y = &b->subresourceRange;
    return a->image == b->image && (x->aspectMask & y->aspectMask) &&
           stretches_meet(x->baseMipLevel, x->levelCount, y->baseMipLevel, y->levelCount) &&
           stretches_meet(x->baseArrayLayer, x->layerCount, y->baseArrayLayer, y->layerCount);
}

static bool transfers_ownership(const VkImageMemoryBarrier2 *barrier)
{
    return barrier->srcQueueFamilyIndex != barrier->dstQueueFamilyIndex;
}

static bool same_barrier(const VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    return a->srcStageMask == b->srcStageMask && a->srcAccessMask == b->srcAccessMask &&
           a->dstStageMask == b->dstStageMask && a->dstAccessMask == b->dstAccessMask &&
           a->oldLayout == b->oldLayout && a->newLayout == b->newLayout &&
           a->srcQueueFamilyIndex == b->srcQueueFamilyIndex &&
           a->dstQueueFamilyIndex == b->dstQueueFamilyIndex && a->image == b->image &&
           same_range(&a->subresourceRange, &b->subresourceRange);
}

/* How an image barrier goes with those that are there. */
enum fit {
    FIT_NEW,
    FIT_DUPLICATE, /* of one that changes no layout: leaves nothing more to do */
    FIT_FOLD,      /* with `*index` */
    FIT_NOT,
};

static enum fit fit(const struct barrier_batch *batch, const VkImageMemoryBarrier2 *barrier,
                    const struct barrier_rules *rules, uint32_t *index)
{
    enum fit found = FIT_NEW;
    for (uint32_t i = 0; i < batch->image_count; i++) {
        const VkImageMemoryBarrier2 *there = &batch->images[i];
        if (!overlap(there, barrier))
            continue;
        if (found != FIT_NEW || !same_range(&there->subresourceRange, &barrier->subresourceRange) ||
            transfers_ownership(there) || transfers_ownership(barrier))
            return FIT_NOT;
        bool there_stays = there->oldLayout == there->newLayout;
        bool stays = barrier->oldLayout == barrier->newLayout;
        if (rules->ignore_equal && (there_stays || stays)) {
            if (!same_barrier(there, barrier))
                return FIT_NOT;
            found = FIT_DUPLICATE;
            continue;
        }
        if (there_stays && same_barrier(there, barrier)) {
            found = FIT_DUPLICATE;
            continue;
        }
        if (barrier->oldLayout != there->newLayout && barrier->oldLayout != VK_IMAGE_LAYOUT_UNDEFINED)
            return FIT_NOT;
        *index = i;
        found = FIT_FOLD;
    }
    return found;
}

/* One dependency of a batch or call, whatever it is about. */
struct dependency {
    struct scope source, destination;
    VkBuffer buffer; /* of a buffer barrier */
    bool memory;     /* about all memory */
};

static uint32_t call_size(const struct barrier_call *call)
{
    uint32_t count = call->memory_count + call->buffer_count + call->image_count;
    return count ? count : 1;
}

static struct dependency call_dependency(const struct barrier_call *call, uint32_t index)
{
    struct dependency found = {{call->source1, 0}, {call->destination1, 0}, VK_NULL_HANDLE, false};
    if (index < call->memory_count) {
        const VkMemoryBarrier2 *m = &call->memory[index];
        return (struct dependency){
            {m->srcStageMask, m->srcAccessMask}, {m->dstStageMask, m->dstAccessMask}, VK_NULL_HANDLE, true};
    }
    index -= call->memory_count;
    if (index < call->buffer_count) {
        const VkBufferMemoryBarrier2 *b = &call->buffers[index];
        return (struct dependency){
            {b->srcStageMask, b->srcAccessMask}, {b->dstStageMask, b->dstAccessMask}, b->buffer, false};
    }
    index -= call->buffer_count;
    if (index < call->image_count) {
        const VkImageMemoryBarrier2 *i = &call->images[index];
        found.source = (struct scope){i->srcStageMask, i->srcAccessMask};
        found.destination = (struct scope){i->dstStageMask, i->dstAccessMask};
    }
    return found;
}

/* The batch, looked at as one call. */
static struct barrier_call as_call(const struct barrier_batch *batch)
{
    return (struct barrier_call){
        .source1 = batch->source1,
        .destination1 = batch->destination1,
        .memory_count = batch->memory_count,
        .buffer_count = batch->buffer_count,
        .image_count = batch->image_count,
        .memory = batch->memory,
        .buffers = batch->buffers,
        .images = batch->images,
    };
}

#define ENDS (VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)

static bool is_within(const struct scope *inner, const struct scope *outer, bool access)
{
    return !(inner->stages & ~outer->stages) && (!access || !(inner->access & ~outer->access));
}

/* Two dependencies, one after the other, also order the first's source before the second's destination where
 * they chain. Beside each other they do so only if one of them alone does. What counts for memory as well as
 * for execution is where both can be about the same memory (the same images fold or are duplicates). */
static bool may_stand_beside(const struct dependency *first, const struct dependency *second,
                             VkQueueFlags queue)
{
    struct scope sources[2] = {first->source, second->source};
    struct scope destinations[2] = {first->destination, second->destination};
    for (int i = 0; i < 2; i++) {
        sources[i].stages = scope_close_source(scope_expand_stages(sources[i].stages, queue));
        destinations[i].stages = scope_close_destination(scope_expand_stages(destinations[i].stages, queue));
    }
    if (!(destinations[0].stages & sources[1].stages & ~(VkPipelineStageFlags2)ENDS))
        return true;
    bool memory = first->memory || second->memory || (first->buffer && first->buffer == second->buffer);
    return is_within(&destinations[1], &destinations[0], memory) ||
           is_within(&sources[0], &sources[1], memory);
}

static bool same_scope(const struct scope *a, const struct scope *b)
{
    return a->stages == b->stages && a->access == b->access;
}

/* Whether every barrier of the call has the same masks as every barrier of the batch: then each chain between
 * two of them orders what they order anyway. The common case, and the one of long runs of barriers. */
static bool is_more_of_the_same(const struct barrier_batch *batch, const struct barrier_call *call)
{
    for (uint32_t i = 0; batch->uniform && i < call_size(call); i++) {
        struct dependency next = call_dependency(call, i);
        if (!same_scope(&next.source, &batch->source) || !same_scope(&next.destination, &batch->destination))
            return false;
    }
    return batch->uniform;
}

static bool may_join(const struct barrier_batch *batch, const struct barrier_call *call,
                     VkPipelineStageFlags2 sources, VkQueueFlags queue)
{
    if (!(scope_close_destination(batch->destinations) & scope_close_source(sources) &
          ~(VkPipelineStageFlags2)ENDS))
        return true;
    struct barrier_call there = as_call(batch);
    uint32_t there_images = there.memory_count + there.buffer_count;
    uint32_t call_images = call->memory_count + call->buffer_count;
    for (uint32_t i = 0; i < call_size(&there); i++) {
        struct dependency first = call_dependency(&there, i);
        for (uint32_t j = 0; j < call_size(call); j++) {
            struct dependency second = call_dependency(call, j);
            bool same_image = i >= there_images && j >= call_images && there.image_count &&
                              call->image_count &&
                              overlap(&there.images[i - there_images], &call->images[j - call_images]);
            /* Their masks are united, or they are equal. */
            if (!same_image && !may_stand_beside(&first, &second, queue))
                return false;
        }
    }
    return true;
}

static bool sync1_alike(const struct barrier_batch *batch, const struct barrier_call *call)
{
    return batch->source1 == call->source1 && batch->destination1 == call->destination1;
}

/* A barrier that was a transition and back is one of memory alone. */
static void fold(struct barrier_batch *batch, uint32_t index, const VkImageMemoryBarrier2 *barrier)
{
    VkImageMemoryBarrier2 *there = &batch->images[index];
    there->srcStageMask |= barrier->srcStageMask;
    there->srcAccessMask |= barrier->srcAccessMask;
    there->dstStageMask |= barrier->dstStageMask;
    there->dstAccessMask |= barrier->dstAccessMask;
    there->newLayout = barrier->newLayout;
    if (barrier->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED)
        there->oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    batch->changed = true;
    if (there->oldLayout != there->newLayout)
        return;
    batch->memory[batch->memory_count++] = (VkMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = there->srcStageMask,
        .srcAccessMask = there->srcAccessMask,
        .dstStageMask = there->dstStageMask,
        .dstAccessMask = there->dstAccessMask,
    };
    *there = batch->images[--batch->image_count];
}

static bool same_memory(const VkMemoryBarrier2 *a, const VkMemoryBarrier2 *b)
{
    return a->srcStageMask == b->srcStageMask && a->srcAccessMask == b->srcAccessMask &&
           a->dstStageMask == b->dstStageMask && a->dstAccessMask == b->dstAccessMask;
}

static void add_memory(struct barrier_batch *batch, const VkMemoryBarrier2 *barrier)
{
    for (uint32_t i = 0; batch->calls && i < batch->memory_count; i++)
        if (same_memory(&batch->memory[i], barrier)) {
            batch->changed = true;
            return;
        }
    batch->memory[batch->memory_count++] = *barrier;
}

/* A call that names no barrier still orders execution; beside others it needs one to say so. */
static void say_execution(struct barrier_batch *batch, VkPipelineStageFlags source,
                          VkPipelineStageFlags destination)
{
    VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = source,
        .dstStageMask = destination,
    };
    add_memory(batch, &barrier);
}

static void take_first(struct barrier_batch *batch, const struct barrier_call *call,
                       const struct extent *extent)
{
    batch->origin = call->origin;
    batch->changed = false;
    batch->flags = call->flags;
    batch->source1 = call->source1;
    batch->destination1 = call->destination1;
    batch->memory_count = call->memory_count;
    batch->buffer_count = call->buffer_count;
    batch->image_count = call->image_count;
    if (call->memory_count)
        memcpy(batch->memory, call->memory, call->memory_count * sizeof(*call->memory));
    if (call->buffer_count)
        memcpy(batch->buffers, call->buffers, call->buffer_count * sizeof(*call->buffers));
    if (call->image_count)
        memcpy(batch->images, call->images, call->image_count * sizeof(*call->images));
    batch->sources = extent->sources;
    batch->destinations = extent->destinations;
    struct dependency first = call_dependency(call, 0);
    batch->source = first.source;
    batch->destination = first.destination;
    batch->uniform = true;
    batch->uniform = is_more_of_the_same(batch, call);
    batch->calls = 1;
}

static void join_call(struct barrier_batch *batch, const struct barrier_call *call,
                      const struct barrier_rules *rules, const struct extent *extent)
{
    if (rules->sync2 && batch->calls == 1 && batch->origin == BARRIER_SYNC1 && !batch->memory_count &&
        !batch->buffer_count && !batch->image_count)
        say_execution(batch, batch->source1, batch->destination1);
    if (rules->sync2 && call->origin == BARRIER_SYNC1 && !call->memory_count && !call->buffer_count &&
        !call->image_count)
        say_execution(batch, call->source1, call->destination1);
    for (uint32_t i = 0; i < call->memory_count; i++)
        add_memory(batch, &call->memory[i]);
    for (uint32_t i = 0; i < call->buffer_count; i++)
        batch->buffers[batch->buffer_count++] = call->buffers[i];
    for (uint32_t i = 0; i < call->image_count; i++) {
        uint32_t index = 0;
        enum fit how = fit(batch, &call->images[i], rules, &index);
        if (how == FIT_FOLD)
            fold(batch, index, &call->images[i]);
        else if (how == FIT_DUPLICATE)
            batch->changed = true;
        else
            batch->images[batch->image_count++] = call->images[i];
    }
    batch->sources |= extent->sources;
    batch->destinations |= extent->destinations;
    batch->origin = BARRIER_LAYER;
    batch->calls++;
}

/* Whether ranges overlap inside the call itself in a way that joining could not tell from folding. */
static bool overlaps_itself(const struct barrier_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++)
        for (uint32_t j = i + 1; j < call->image_count; j++)
            if (overlap(&call->images[i], &call->images[j]))
                return true;
    return false;
}

enum barrier_joined barrier_batch_add(struct barrier_batch *batch, const struct barrier_call *call,
                                      const struct barrier_rules *rules, bool join)
{
    struct extent extent = extent_of(call, rules->queue);
    if (!batch->calls) {
        if (!reserve(batch, call))
            return BARRIER_NO_MEMORY;
        take_first(batch, call, &extent);
        return BARRIER_JOINED;
    }
    if (!join || batch->flags != call->flags || (!rules->sync2 && !sync1_alike(batch, call)))
        return BARRIER_APART;
    for (uint32_t i = 0; i < call->image_count; i++) {
        uint32_t index = 0;
        if (fit(batch, &call->images[i], rules, &index) == FIT_NOT)
            return BARRIER_APART;
    }
    bool same = is_more_of_the_same(batch, call);
    if ((call->image_count > 1 && overlaps_itself(call)) ||
        (!same && !may_join(batch, call, extent.sources, rules->queue)))
        return BARRIER_APART;
    if (!reserve(batch, call))
        return BARRIER_NO_MEMORY;
    batch->uniform = same;
    join_call(batch, call, rules, &extent);
    return BARRIER_JOINED;
}

bool barrier_images_join(VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    VkImageMemoryBarrier2 moved = *b;
    moved.subresourceRange = a->subresourceRange;
    if (!same_barrier(a, &moved))
        return false;
    VkImageSubresourceRange *x = &a->subresourceRange;
    const VkImageSubresourceRange *y = &b->subresourceRange;
    bool mips = x->baseMipLevel == y->baseMipLevel && x->levelCount == y->levelCount;
    bool layers = x->baseArrayLayer == y->baseArrayLayer && x->layerCount == y->layerCount;
    if (mips && layers) {
        x->aspectMask |= y->aspectMask;
        return true;
    }
    if (x->aspectMask != y->aspectMask)
        return false;
    if (layers && x->baseMipLevel + x->levelCount == y->baseMipLevel) {
        x->levelCount += y->levelCount;
        return true;
    }
    if (layers && y->baseMipLevel + y->levelCount == x->baseMipLevel) {
        x->baseMipLevel = y->baseMipLevel;
        x->levelCount += y->levelCount;
        return true;
    }
    if (mips && x->baseArrayLayer + x->layerCount == y->baseArrayLayer) {
        x->layerCount += y->layerCount;
        return true;
    }
    if (mips && y->baseArrayLayer + y->layerCount == x->baseArrayLayer) {
        x->baseArrayLayer = y->baseArrayLayer;
        x->layerCount += y->layerCount;
        return true;
    }
    return false;
}
