#include "sync/barrier_batch.h"

#include <stdlib.h>
#include <string.h>

/* Looking through a batch takes time that grows with it, while what one call more would save doesn't. */
#define JOINED_MAX 64

#define ENDS (VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)
#define PLANES (VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT | VK_IMAGE_ASPECT_PLANE_2_BIT)

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
}

/* One dependency of a batch or call, whatever it is about. */
struct dependency {
    struct scope source, destination;
    bool memory; /* about all memory */
    bool buffer; /* about one buffer; two may share memory */
};

/* A call that names no barrier is one dependency too, of execution. */
static uint32_t call_size(const struct barrier_call *call)
{
    uint32_t count = call->memory_count + call->buffer_count + call->image_count;
    return count ? count : 1;
}

static struct dependency call_dependency(const struct barrier_call *call, uint32_t index)
{
    if (index < call->memory_count) {
        const VkMemoryBarrier2 *m = &call->memory[index];
        return (struct dependency){
            {m->srcStageMask, m->srcAccessMask}, {m->dstStageMask, m->dstAccessMask}, true, false};
    }
    index -= call->memory_count;
    if (index < call->buffer_count) {
        const VkBufferMemoryBarrier2 *b = &call->buffers[index];
        return (struct dependency){
            {b->srcStageMask, b->srcAccessMask}, {b->dstStageMask, b->dstAccessMask}, false, true};
    }
    index -= call->buffer_count;
    if (index < call->image_count) {
        const VkImageMemoryBarrier2 *i = &call->images[index];
        return (struct dependency){
            {i->srcStageMask, i->srcAccessMask}, {i->dstStageMask, i->dstAccessMask}, false, false};
    }
    return (struct dependency){{call->source1, 0}, {call->destination1, 0}, false, false};
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

static enum barrier_likeness likeness(VkPipelineStageFlags2 source, VkAccessFlags2 source_access,
                                      VkPipelineStageFlags2 destination, VkAccessFlags2 destination_access,
                                      const struct barrier_batch *batch)
{
    if (source != batch->source.stages || destination != batch->destination.stages)
        return BARRIERS_UNLIKE;
    if (source_access != batch->source.access || destination_access != batch->destination.access)
        return BARRIERS_OF_EQUAL_STAGES;
    return BARRIERS_ALIKE;
}

static enum barrier_likeness least(enum barrier_likeness a, enum barrier_likeness b)
{
    return a < b ? a : b;
}

#define LIKENESS(barrier, batch)                                                                             \
    likeness((barrier).srcStageMask, (barrier).srcAccessMask, (barrier).dstStageMask,                        \
             (barrier).dstAccessMask, batch)

/* How the masks of all barriers of the call are to those of the batch's first, and those of the batch. Where
 * all are the same, joining needs no other look: each chain between two of them orders what they order
 * anyway. */
static enum barrier_likeness call_likeness(const struct barrier_call *call, const struct barrier_batch *batch)
{
    enum barrier_likeness found = batch->likeness;
    for (uint32_t i = 0; i < call->memory_count; i++)
        found = least(found, LIKENESS(call->memory[i], batch));
    for (uint32_t i = 0; i < call->buffer_count; i++)
        found = least(found, LIKENESS(call->buffers[i], batch));
    for (uint32_t i = 0; i < call->image_count; i++)
        found = least(found, LIKENESS(call->images[i], batch));
    if (!call->memory_count && !call->buffer_count && !call->image_count)
        found = least(found, likeness(call->source1, 0, call->destination1, 0, batch));
    return found;
}

/* ---- Image barriers: which go beside each other ---- */

static bool same_range(const VkImageSubresourceRange *a, const VkImageSubresourceRange *b)
{
    return a->aspectMask == b->aspectMask && a->baseMipLevel == b->baseMipLevel &&
           a->levelCount == b->levelCount && a->baseArrayLayer == b->baseArrayLayer &&
           a->layerCount == b->layerCount;
}

static bool stretches_meet(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
    return (uint64_t)a < (uint64_t)b + b_count && (uint64_t)b < (uint64_t)a + a_count;
}

static bool stretches_join(uint32_t *a, uint32_t *a_count, uint32_t b, uint32_t b_count)
{
    bool before = b + b_count == *a;
    if (!before && *a + *a_count != b)
        return false;
    if (before)
        *a = b;
    *a_count += b_count;
    return true;
}

/* Of an image with several planes COLOR means all of them. */
static VkImageAspectFlags all_aspects(VkImageAspectFlags mask)
{
    return mask & VK_IMAGE_ASPECT_COLOR_BIT ? mask | PLANES : mask;
}

static bool overlap(const VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    const VkImageSubresourceRange *x = &a->subresourceRange, *y = &b->subresourceRange;
    return a->image == b->image && (all_aspects(x->aspectMask) & all_aspects(y->aspectMask)) &&
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

/* Spec, VkImageMemoryBarrier2 and VkBufferMemoryBarrier2: transfers of ownership, and transitions from most
 * layouts, must not name the host. So it comes to no barrier that doesn't name it. */
#define HOST VK_PIPELINE_STAGE_2_HOST_BIT

/* Whether two barriers whose ranges overlap, one after the other, can be one with united masks. */
static bool may_fold(const VkImageMemoryBarrier2 *there, const VkImageMemoryBarrier2 *next,
                     const struct barrier_rules *rules)
{
    if (!same_range(&there->subresourceRange, &next->subresourceRange) || transfers_ownership(there) ||
        transfers_ownership(next) || ((there->srcStageMask ^ next->srcStageMask) & HOST))
        return false;
    bool there_stays = there->oldLayout == there->newLayout, next_stays = next->oldLayout == next->newLayout;
    if (rules->ignore_equal && (there_stays || next_stays))
        return same_barrier(there, next);
    return next->oldLayout == there->newLayout || next->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED;
}

/* Whether the barrier overlaps none of the batch, or one that it folds with: then *folds becomes true. */
static bool image_fits(const struct barrier_batch *batch, const VkImageMemoryBarrier2 *barrier,
                       const struct barrier_rules *rules, bool *folds)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < batch->image_count; i++) {
        const VkImageMemoryBarrier2 *there = &batch->images[i];
        if (there->image == barrier->image && overlap(there, barrier) &&
            (found++ || !may_fold(there, barrier, rules)))
            return false;
    }
    *folds |= found > 0;
    return true;
}

static bool overlaps_itself(const struct barrier_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++)
        for (uint32_t j = i + 1; j < call->image_count; j++)
            if (overlap(&call->images[i], &call->images[j]))
                return true;
    return false;
}

static bool images_fit(const struct barrier_batch *batch, const struct barrier_call *call,
                       const struct barrier_rules *rules, bool *folds)
{
    for (uint32_t i = 0; i < call->image_count; i++)
        if (!image_fits(batch, &call->images[i], rules, folds))
            return false;
    return !overlaps_itself(call);
}

/* Two transfers of one buffer's ownership come one after the other, and so do a transfer and what follows it.
 */
static bool buffers_fit(const struct barrier_batch *batch, const struct barrier_call *call)
{
    for (uint32_t i = 0; i < call->buffer_count; i++)
        for (uint32_t j = 0; j < batch->buffer_count; j++) {
            const VkBufferMemoryBarrier2 *next = &call->buffers[i], *there = &batch->buffers[j];
            if (next->buffer == there->buffer && (next->srcQueueFamilyIndex != next->dstQueueFamilyIndex ||
                                                  there->srcQueueFamilyIndex != there->dstQueueFamilyIndex))
                return false;
        }
    return true;
}

/* ---- Chains ---- */

/* In the first versions of the specification ALL_COMMANDS and ALL_GRAPHICS included the two ends; programs
 * may chain through them. */
static VkPipelineStageFlags2 expand(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    if (stages & (VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT))
        stages |= ENDS;
    return scope_expand_stages(stages, queue);
}

/* A chain is there if this of the first meets the second's source; to close that too would find no more. */
static VkPipelineStageFlags2 close_destination(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    return scope_close_destination(expand(stages, queue));
}

/* The stages that a destination holds back in any reading. What is logically later counts for chains alone:
 * compute shaders come after indirect parameters, so ALL_GRAPHICS would hold them back. */
static VkPipelineStageFlags2 held_back(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    if (stages & VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT)
        return scope_close_destination(stages);
    stages = scope_expand_stages(stages, queue);
    return stages & ~(VkPipelineStageFlags2)HOST ? stages | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT : stages;
}

/* What the batch's barriers have, each closure worked out once for a run of equal masks. */
struct closing {
    VkQueueFlags queue;
    VkPipelineStageFlags2 stages, closed;
};

static VkPipelineStageFlags2 closing_get(struct closing *closing, VkPipelineStageFlags2 stages)
{
    if (closing->stages != stages) {
        closing->stages = stages;
        closing->closed = close_destination(stages, closing->queue);
    }
    return closing->closed;
}

/* Walks over the dependencies of a batch that one of a call, which comes after it, would chain with. */
struct chains {
    struct barrier_call there;                 /* the batch */
    uint32_t size, index;                      /* the next one to look at */
    struct dependency next;                    /* the one that comes after */
    VkPipelineStageFlags2 source, destination; /* its stages, expanded; those held back */
    const VkImageMemoryBarrier2 *image;        /* if it is of one; it folds with what it overlaps */
    struct closing closing;
    struct dependency found;
};

static void chains_init(struct chains *chains, const struct barrier_call *there, VkQueueFlags queue)
{
    *chains = (struct chains){.there = *there, .size = call_size(there), .closing = {.queue = queue}};
}

static void chains_start(struct chains *chains, const struct barrier_call *call, uint32_t index)
{
    uint32_t images = call->memory_count + call->buffer_count;
    chains->index = 0;
    chains->next = call_dependency(call, index);
    chains->source = expand(chains->next.source.stages, chains->closing.queue);
    chains->destination = held_back(chains->next.destination.stages, chains->closing.queue);
    chains->image = call->image_count && index >= images ? &call->images[index - images] : NULL;
}

static bool chains_next(struct chains *chains)
{
    uint32_t images = chains->there.memory_count + chains->there.buffer_count;
    while (chains->index < chains->size) {
        uint32_t index = chains->index++;
        chains->found = call_dependency(&chains->there, index);
        if (!(closing_get(&chains->closing, chains->found.destination.stages) & chains->source))
            continue;
        if (chains->image && chains->there.image_count && index >= images &&
            overlap(&chains->there.images[index - images], chains->image))
            continue;
        return true;
    }
    return false;
}

static bool is_within(const struct scope *inner, const struct scope *outer, VkQueueFlags queue)
{
    return !(scope_expand_stages(inner->stages, queue) & ~scope_expand_stages(outer->stages, queue)) &&
           !(inner->access & ~outer->access);
}

/* Two dependencies, one after the other, also order the first's source before the second's destination, and
 * what the first does (a transition) before the second's destination, and the first's source before what the
 * second does. Beside each other they do so if the first's destination covers the second's, and the second's
 * source takes in the first's (take_in_sources()). Where the second is about all memory, or both are about
 * buffers, it must see what the first's does. */
static bool may_stand_beside(const struct chains *chains)
{
    const struct dependency *first = &chains->found, *next = &chains->next;
    if (chains->destination & ~held_back(first->destination.stages, chains->closing.queue))
        return false;
    if (!next->memory && (first->source.stages & ~next->source.stages & HOST))
        return false;
    bool sees = !first->memory && (next->memory || (next->buffer && first->buffer));
    return !sees || is_within(&next->destination, &first->destination, chains->closing.queue);
}

/* All stages that a call names. */
static void call_stages(const struct barrier_call *call, VkPipelineStageFlags2 *sources,
                        VkPipelineStageFlags2 *destinations)
{
    uint32_t size = call_size(call);
    for (uint32_t i = 0; i < size; i++) {
        struct dependency next = call_dependency(call, i);
        *sources |= next.source.stages;
        *destinations |= next.destination.stages;
    }
}

/* Whether nothing is lost beside each other; *chained: but something is to be taken in. */
static bool may_join(const struct barrier_batch *batch, const struct barrier_call *call, VkQueueFlags queue,
                     bool *chained)
{
    VkPipelineStageFlags2 sources = 0, destinations = 0;
    call_stages(call, &sources, &destinations);
    if (!scope_knows(batch->sources | batch->destinations | sources | destinations))
        return false;
    *chained = close_destination(batch->destinations, queue) & expand(sources, queue);
    if (!*chained)
        return true;
    struct barrier_call there = as_call(batch);
    struct chains chains;
    uint32_t size = call_size(call);
    chains_init(&chains, &there, queue);
    for (uint32_t i = 0; i < size; i++) {
        chains_start(&chains, call, i);
        while (chains_next(&chains))
            if (!may_stand_beside(&chains))
                return false;
    }
    return true;
}

/* ---- Joining ---- */

static bool grow(void **items, uint32_t *capacity, uint32_t wanted, size_t size)
{
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

static bool reserve_cold(struct barrier_batch *batch, uint32_t memory, uint32_t buffers, uint32_t images)
{
    void *items = batch->memory;
    bool done = memory <= batch->memory_capacity ||
                grow(&items, &batch->memory_capacity, memory, sizeof(*batch->memory));
    batch->memory = items;
    items = batch->buffers;
    done = done && (buffers <= batch->buffer_capacity ||
                    grow(&items, &batch->buffer_capacity, buffers, sizeof(*batch->buffers)));
    batch->buffers = items;
    items = batch->images;
    done = done && (images <= batch->image_capacity ||
                    grow(&items, &batch->image_capacity, images, sizeof(*batch->images)));
    batch->images = items;
    return done;
}

static bool reserve(struct barrier_batch *batch, const struct barrier_call *call)
{
    /* One more on each side for calls that name no barrier. */
    uint32_t memory = batch->memory_count + call->memory_count + 2;
    uint32_t buffers = batch->buffer_count + call->buffer_count;
    uint32_t images = batch->image_count + call->image_count;
    if (memory <= batch->memory_capacity && buffers <= batch->buffer_capacity &&
        images <= batch->image_capacity)
        return true;
    return reserve_cold(batch, memory, buffers, images);
}

/* A call that names no barrier still orders execution; where barriers have masks of their own it needs one to
 * say so. */
static bool says_execution_only(const struct barrier_call *call)
{
    return !call->memory_count && !call->buffer_count && !call->image_count &&
           (call->source1 || call->destination1);
}

static void say_execution(struct barrier_batch *batch, VkPipelineStageFlags source,
                          VkPipelineStageFlags destination)
{
    batch->memory[batch->memory_count++] = (VkMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = source,
        .dstStageMask = destination,
    };
    batch->changed = true;
}

/* There is room for it. */
static void append(struct barrier_batch *batch, const struct barrier_call *call)
{
    for (uint32_t i = 0; i < call->memory_count; i++)
        batch->memory[batch->memory_count++] = call->memory[i];
    for (uint32_t i = 0; i < call->buffer_count; i++)
        batch->buffers[batch->buffer_count++] = call->buffers[i];
    for (uint32_t i = 0; i < call->image_count; i++)
        batch->images[batch->image_count++] = call->images[i];
}

static void take_first(struct barrier_batch *batch, const struct barrier_call *call,
                       const struct barrier_rules *rules)
{
    struct dependency first = call_dependency(call, 0);
    barrier_batch_clear(batch);
    batch->origin = call->origin;
    batch->flags = call->flags;
    append(batch, call);
    batch->source = first.source;
    batch->destination = first.destination;
    batch->sources = batch->destinations = 0;
    call_stages(call, &batch->sources, &batch->destinations);
    batch->likeness = BARRIERS_ALIKE;
    batch->likeness = call_likeness(call, batch);
    batch->source1 = call->source1;
    batch->destination1 = call->destination1;
    if (!rules->sync2 && call->origin != BARRIER_SYNC1) {
        batch->source1 = scope_stages1(batch->sources, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
        batch->destination1 = scope_stages1(batch->destinations, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    }
    batch->calls = 1;
}

/* What a dependency of the call takes in from the batch, so that beside it it waits for what it waited for
 * after it. Nothing more than the chain ordered. */
static struct scope gained_source(struct chains *chains, const struct barrier_call *call, uint32_t index)
{
    struct scope gained = {0, 0};
    chains_start(chains, call, index);
    while (chains_next(chains)) {
        gained.stages |= chains->found.source.stages;
        if (chains->found.memory || (chains->found.buffer && chains->next.buffer))
            gained.access |= chains->found.source.access;
    }
    return gained;
}

static bool widen(VkPipelineStageFlags2 *stages, VkAccessFlags2 *access, struct scope gained)
{
    bool changed = (gained.stages & ~*stages) || (gained.access & ~*access);
    *stages |= gained.stages;
    *access |= gained.access;
    return changed;
}

/* The batch holds the barriers of the call behind those that were `there` before. */
static void take_in_sources(struct barrier_batch *batch, const struct barrier_call *call,
                            const struct barrier_call *there, VkQueueFlags queue)
{
    struct chains chains;
    uint32_t next = 0;
    bool changed = false;
    chains_init(&chains, there, queue);
    for (uint32_t i = there->memory_count; i < batch->memory_count; i++)
        changed |= widen(&batch->memory[i].srcStageMask, &batch->memory[i].srcAccessMask,
                         gained_source(&chains, call, next++));
    /* The barrier for a call that names none came before. */
    next = call->memory_count;
    for (uint32_t i = there->buffer_count; i < batch->buffer_count; i++)
        changed |= widen(&batch->buffers[i].srcStageMask, &batch->buffers[i].srcAccessMask,
                         gained_source(&chains, call, next++));
    for (uint32_t i = there->image_count; i < batch->image_count; i++)
        changed |= widen(&batch->images[i].srcStageMask, &batch->images[i].srcAccessMask,
                         gained_source(&chains, call, next++));
    batch->changed |= changed;
}

static bool fold_image(struct barrier_batch *batch, uint32_t count, const VkImageMemoryBarrier2 *barrier)
{
    for (uint32_t i = 0; i < count; i++) {
        VkImageMemoryBarrier2 *there = &batch->images[i];
        if (there->image != barrier->image || !overlap(there, barrier))
            continue;
        there->srcStageMask |= barrier->srcStageMask;
        there->srcAccessMask |= barrier->srcAccessMask;
        there->dstStageMask |= barrier->dstStageMask;
        there->dstAccessMask |= barrier->dstAccessMask;
        there->newLayout = barrier->newLayout;
        if (barrier->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED)
            there->oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
        return true;
    }
    return false;
}

static void fold_images(struct barrier_batch *batch, uint32_t before)
{
    uint32_t kept = before;
    for (uint32_t i = before; i < batch->image_count; i++)
        if (!fold_image(batch, before, &batch->images[i]))
            batch->images[kept++] = batch->images[i];
    batch->changed |= kept != batch->image_count;
    batch->image_count = kept;
}

static bool has_memory(const struct barrier_batch *batch, uint32_t count, const VkMemoryBarrier2 *barrier)
{
    for (uint32_t i = 0; i < count; i++) {
        const VkMemoryBarrier2 *there = &batch->memory[i];
        if (there->srcStageMask == barrier->srcStageMask && there->srcAccessMask == barrier->srcAccessMask &&
            there->dstStageMask == barrier->dstStageMask && there->dstAccessMask == barrier->dstAccessMask)
            return true;
    }
    return false;
}

static void drop_equal_memory(struct barrier_batch *batch, uint32_t before)
{
    uint32_t kept = before;
    for (uint32_t i = before; i < batch->memory_count; i++)
        if (!has_memory(batch, kept, &batch->memory[i]))
            batch->memory[kept++] = batch->memory[i];
    batch->changed |= kept != batch->memory_count;
    batch->memory_count = kept;
}

/* What joining takes besides appending. */
struct joining {
    enum barrier_likeness likeness;
    bool folds, chained;
};

/* Before `call` is appended; how many memory barriers are `there` then. */
static uint32_t say_executions(struct barrier_batch *batch, const struct barrier_call *call)
{
    struct barrier_call there = as_call(batch);
    if (says_execution_only(&there))
        say_execution(batch, batch->source1, batch->destination1);
    uint32_t count = batch->memory_count;
    if (says_execution_only(call))
        say_execution(batch, call->source1, call->destination1);
    return count;
}

static void join_call(struct barrier_batch *batch, const struct barrier_call *call,
                      const struct barrier_rules *rules, const struct joining *joining)
{
    uint32_t memory = rules->sync2 ? say_executions(batch, call) : batch->memory_count;
    uint32_t images = batch->image_count;
    struct barrier_call there;
    if (joining->chained) {
        there = as_call(batch);
        there.memory_count = memory;
    }
    append(batch, call);
    if (joining->chained)
        take_in_sources(batch, call, &there, rules->queue);
    if (joining->folds)
        fold_images(batch, images);
    if (memory < batch->memory_count)
        drop_equal_memory(batch, memory);
    if (joining->likeness != BARRIERS_ALIKE)
        call_stages(call, &batch->sources, &batch->destinations);
    batch->likeness = joining->likeness;
    batch->origin = BARRIER_LAYER;
    batch->calls++;
}

static bool is_full(const struct barrier_batch *batch, const struct barrier_call *call)
{
    return batch->memory_count + batch->buffer_count + batch->image_count + call_size(call) > JOINED_MAX;
}

__attribute__((noinline)) static enum barrier_joined add_any(struct barrier_batch *batch,
                                                             const struct barrier_call *call,
                                                             const struct barrier_rules *rules, bool join)
{
    if (!batch->calls) {
        if (!reserve(batch, call))
            return BARRIER_NO_MEMORY;
        take_first(batch, call, rules);
        return BARRIER_JOINED;
    }
    if (!join || batch->flags != call->flags || is_full(batch, call))
        return BARRIER_APART;
    struct joining joining = {.likeness = call_likeness(call, batch)};
    if ((!rules->sync2 && joining.likeness == BARRIERS_UNLIKE) ||
        !images_fit(batch, call, rules, &joining.folds) || !buffers_fit(batch, call) ||
        (joining.likeness != BARRIERS_ALIKE && !may_join(batch, call, rules->queue, &joining.chained)))
        return BARRIER_APART;
    if (!reserve(batch, call))
        return BARRIER_NO_MEMORY;
    join_call(batch, call, rules, &joining);
    return BARRIER_JOINED;
}

/* One image more, with the masks of all that are there: what long runs of calls are made of. add_any() would
 * do the same, in three times the instructions. */
static bool add_another_image(struct barrier_batch *batch, const struct barrier_call *call)
{
    uint32_t count = batch->image_count;
    const VkImageMemoryBarrier2 *barrier = call->images;
    if (!batch->calls || !count || count >= batch->image_capacity || batch->likeness != BARRIERS_ALIKE ||
        batch->flags != call->flags || call->image_count != 1 || call->memory_count || call->buffer_count ||
        is_full(batch, call) || LIKENESS(*barrier, batch) != BARRIERS_ALIKE)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (batch->images[i].image == barrier->image)
            return false;
    batch->images[count] = *barrier;
    batch->image_count = count + 1;
    batch->origin = BARRIER_LAYER;
    batch->calls++;
    return true;
}

enum barrier_joined barrier_batch_add(struct barrier_batch *batch, const struct barrier_call *call,
                                      const struct barrier_rules *rules, bool join)
{
    return join && add_another_image(batch, call) ? BARRIER_JOINED : add_any(batch, call, rules, join);
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
    if (layers)
        return stretches_join(&x->baseMipLevel, &x->levelCount, y->baseMipLevel, y->levelCount);
    return mips && stretches_join(&x->baseArrayLayer, &x->layerCount, y->baseArrayLayer, y->layerCount);
}
