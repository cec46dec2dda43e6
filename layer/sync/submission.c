#include "sync/submission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync/command_buffer.h"
#include "sync/grow.h"
#include "sync/queue.h"
#include "sync/submission_parts.h"
#include "sync/submit_arrays.h"

static const struct access unknown = {.flags = ACCESS_UNKNOWN};

struct submission *submission_create(struct queue *queue)
{
    struct submission *submission = calloc(1, sizeof(*submission));
    if (!submission)
        return NULL;
    submission->queue = queue;
    submission->arrays = submit_arrays_create();
    if (!submission->arrays) {
        free(submission);
        return NULL;
    }
    static const struct subresource_shape smallest = {1, 1, 1};
    subresource_map_init(&submission->before, &smallest, sizeof(struct access), &submission->before_first,
                         NULL);
    return submission;
}

void submission_destroy(struct submission *submission)
{
    if (!submission)
        return;
    for (uint32_t i = 0; i < submission->undo_capacity; i++)
        subresource_map_finish(&submission->undos[i].map);
    subresource_map_finish(&submission->before);
    free(submission->undos);
    free(submission->signals);
    free(submission->taken);
    free(submission->repairs);
    free(submission->findings);
    free(submission->names);
    free(submission->chain);
    free(submission->semaphores);
    free(submission->stages);
    submit_arrays_destroy(submission->arrays);
    arena_finish(&submission->arena);
    free(submission);
}

void submission_begin(struct submission *submission)
{
    struct queue_set *set = submission->queue->sync->queue_set;
    submission->call = ++set->calls;
    submission->undo_count = 0;
    submission->signal_count = submission->taken_count = 0;
    submission->saved_waits = submission->queue->waits;
    submission->fence = 0;
    submission->repair_count = 0;
    submission->finding_count = 0;
    submission->unpatchable = 0;
    order_save(set->order, submission->queue->index);
}

void submission_begin_batch(struct submission *submission, uint32_t batch, bool patchable)
{
    struct queue *queue = submission->queue;
    struct queue_set *set = queue->sync->queue_set;
    submission->batch = batch;
    submission->serial = order_begin(set->order, queue->index);
    submission->patchable = patchable;
    submission->chain_count = 0;
    submission->waits = 0;
    submission->is_blocked = queue->blocked != 0;
    submission->blocked = submission->is_blocked
                              ? blocked_add(&set->blocked, queue, submission->serial, submission->call)
                              : NULL;
}

void submission_wait(struct submission *submission, VkSemaphore semaphore, uint64_t value,
                     VkPipelineStageFlags2 stages)
{
    struct queue *queue = submission->queue;
    struct queue_set *set = queue->sync->queue_set;
    uint64_t key = HANDLE_KEY(semaphore);
    bool orders = stages != VK_PIPELINE_STAGE_2_NONE;
    submission->waits |= stages;
    queue->waits |= stages;
    if (!order_is_timeline(set->order, key)) {
        if (order_wait_binary(set->order, queue->index, key, orders) &&
            grow(&submission->taken, &submission->taken_capacity, submission->taken_count + 1,
                 sizeof(uint64_t)))
            submission->taken[submission->taken_count++] = key;
        return;
    }
    if (order_wait_timeline(set->order, queue->index, key, value, orders))
        return;
    if (!submission->is_blocked)
        submission->blocked = blocked_add(&set->blocked, queue, submission->serial, submission->call);
    submission->is_blocked = true;
    blocked_add_wait(submission->blocked, key, value, orders);
}

void submission_signal(struct submission *submission, VkSemaphore semaphore, uint64_t value)
{
    struct queue *queue = submission->queue;
    struct order *order = queue->sync->queue_set->order;
    uint64_t key = HANDLE_KEY(semaphore);
    bool timeline = order_is_timeline(order, key);
    /* Without memory to take it back it is as if nobody signalled. */
    bool known = grow(&submission->signals, &submission->signal_capacity, submission->signal_count + 1,
                      sizeof(struct submission_signal));
    if (known)
        submission->signals[submission->signal_count++] = (struct submission_signal){key, value};
    if (timeline && submission->is_blocked)
        blocked_add_signal(submission->blocked, key, value);
    else if (timeline && known)
        order_signal_timeline(order, queue->index, key, value);
    /* What comes before a blocked batch isn't all known. */
    if (!timeline && (submission->is_blocked || !known || !order_signal_binary(order, queue->index, key)))
        order_forget_semaphore(order, key);
}

void submission_signal_fence(struct submission *submission, VkFence fence)
{
    struct queue *queue = submission->queue;
    struct order *order = queue->sync->queue_set->order;
    submission->fence = HANDLE_KEY(fence);
    if (!order_signal_fence(order, queue->index, submission->fence))
        order_forget_fence(order, submission->fence);
}

/* --- Images --- */

void submission_set_unknown(struct submission *submission, struct image *image)
{
    image->touched = submission->call;
    subresource_map_set_all(&image->state, &unknown);
}

/* `to` gets the contents of `from`, whatever its shape was. */
static bool copy_map(struct subresource_map *to, const struct subresource_map *from)
{
    /* Uniform, in any shape. */
    to->count = 1;
    to->shape = from->shape;
    return subresource_map_copy(to, from);
}

static bool undos_grow(struct submission *submission)
{
    static const struct subresource_shape smallest = {1, 1, 1};
    uint32_t capacity = submission->undo_capacity;
    if (!grow(&submission->undos, &submission->undo_capacity, submission->undo_count + 1,
              sizeof(struct undo)))
        return false;
    if (submission->undo_capacity == capacity)
        return true;
    for (uint32_t i = capacity; i < submission->undo_capacity; i++)
        subresource_map_init(&submission->undos[i].map, &smallest, sizeof(struct access),
                             &submission->undos[i].first, NULL);
    /* They have moved. */
    for (uint32_t i = 0; i < submission->undo_capacity; i++)
        submission->undos[i].map.first = &submission->undos[i].first;
    return true;
}

/* Keeps the image's state as it was before this call. Without memory it becomes unknown if the call fails. */
static void save(struct submission *submission, struct image *image)
{
    if (image->touched == submission->call)
        return;
    image->touched = submission->call;
    if (!undos_grow(submission))
        return;
    struct undo *undo = &submission->undos[submission->undo_count++];
    undo->image = image;
    undo->acquired = image->acquired;
    if (!copy_map(&undo->map, &image->state))
        subresource_map_set_all(&undo->map, &unknown);
}

static bool findings_grow(struct submission *submission)
{
    uint32_t capacity = submission->finding_capacity;
    if (!grow(&submission->findings, &submission->finding_capacity, submission->finding_count + 1,
              sizeof(struct finding)))
        return false;
    if (submission->finding_capacity == capacity)
        return true;
    void *names = realloc(submission->names, submission->finding_capacity * sizeof(*submission->names));
    if (!names) {
        submission->finding_capacity = capacity;
        return false;
    }
    submission->names = names;
    return true;
}

/* Without memory it isn't said. */
static void add_finding(struct submission *submission, enum finding_kind kind, enum finding_place place,
                        struct image *image, const struct transition *transition)
{
    const struct command_buffer *buffer = submission->buffer;
    if (!findings_grow(submission))
        return;
    uint32_t index = submission->finding_count++;
    submission->findings[index] = (struct finding){
        .kind = kind,
        .place = place,
        .image = image,
        .range = transition->range,
        .command = transition->command,
        .labels = buffer && transition->label < buffer->label_count ? buffer->labels[transition->label] : "",
        .had = transition->old_layout,
        .needed = transition->new_layout,
    };
    submission->names[index][0] = 0;
    if (buffer && buffer->name)
        snprintf(submission->names[index], FINDING_NAME_SIZE, "%s", buffer->name);
}

/* Context of a contract_resolve(). */
struct resolving {
    struct submission *submission;
    struct image *image;
    bool failed;  /* out of memory */
    bool problem; /* something can't be repaired */
};

static bool is_ordered(void *context, uint8_t other, uint64_t serial)
{
    const struct resolving *resolving = context;
    struct submission *submission = resolving->submission;
    const struct queue *queue = submission->queue;
    submission->other_queue |= other != queue->index;
    return order_is_before(queue->sync->queue_set->order, queue->index, other, serial);
}

static void add_repair(void *context, const struct transition *transition)
{
    struct resolving *resolving = context;
    struct submission *submission = resolving->submission;
    if (!grow(&submission->repairs, &submission->repair_capacity, submission->repair_count + 1,
              sizeof(struct repair))) {
        resolving->failed = true;
        return;
    }
    submission->repairs[submission->repair_count++] = (struct repair){
        .image = resolving->image,
        .batch = submission->batch,
        .position = submission->position,
        .transition = *transition,
    };
}

static void add_problem(void *context, enum resolve_problem problem, const struct transition *transition)
{
    static const enum finding_kind kinds[] = {
        [RESOLVE_OTHER_FAMILY] = FINDING_OTHER_FAMILY,
        [RESOLVE_UNORDERED] = FINDING_UNORDERED,
        [RESOLVE_RELEASED] = FINDING_RELEASED,
        [RESOLVE_NEVER_RELEASED] = FINDING_NEVER_RELEASED,
    };
    struct resolving *resolving = context;
    resolving->problem = true;
    add_finding(resolving->submission, kinds[problem], PLACE_NOWHERE, resolving->image, transition);
}

/* What a repair must wait for: the known last uses, and the stages at which semaphores let this queue go on,
 * since a dependency on those is a dependency on what was before them. */
static void widen(const struct submission *submission, const struct image *image, struct scope *source)
{
    VkPipelineStageFlags2 waits = submission->queue->waits;
    if (source->stages) {
        source->stages |= submission->waits | (submission->other_queue ? waits : 0);
    } else if (image->swapchain && waits) {
        /* Its acquire is what it has been waited for with. */
        source->stages = waits;
    } else {
        source->stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        source->access = VK_ACCESS_2_MEMORY_WRITE_BIT;
    }
}

/* Between a suspended rendering and its resumption there is no place for a repair. The one before all of it
 * will do only if nothing in between touches the image. Nor is there one where the same command buffer reads
 * it otherwise. */
static bool has_place(const struct submission *submission, const struct image *image,
                      const struct subresource_range *range)
{
    for (uint32_t i = 0; i < submission->chain_count; i++)
        if (contract_find(&submission->chain[i]->contract, image) ||
            submission_reads_late(submission->chain[i], NULL, image, range))
            return false;
    return submission->patchable &&
           !(submission->late && submission_reads_late(submission->buffer, submission->late, image, range));
}

static bool have_place(const struct submission *submission, const struct image *image, uint32_t first)
{
    for (uint32_t i = first; i < submission->repair_count; i++)
        if (!has_place(submission, image, &submission->repairs[i].transition.range))
            return false;
    return true;
}

bool submission_names_both_aspects(const struct submission *submission, const struct image *image)
{
    return image->aspect_count == 2 && !submission->queue->sync->separate_depth_stencil;
}

/* The repairs from `first` on, all of this image, were just added. */
static void place(struct submission *submission, const struct contract_image *contract, uint32_t first)
{
    struct image *image = contract->image;
    bool present = !submission->buffer;
    uint32_t first_finding = submission->finding_count;
    for (uint32_t i = first; i < submission->repair_count; i++) {
        widen(submission, image, &submission->repairs[i].transition.source);
        add_finding(submission, present ? FINDING_PRESENT_LAYOUT : FINDING_MISSING_TRANSITION,
                    present ? PLACE_BEFORE_PRESENT : PLACE_BEFORE_COMMAND_BUFFER, image,
                    &submission->repairs[i].transition);
    }
    if (submission->queue->sync->mode == SYNC_REPORT) {
        submission->repair_count = first;
        return;
    }
    if (have_place(submission, image, first) && (!submission_names_both_aspects(submission, image) ||
                                                 submission_unite_aspects(submission, contract, first)))
        return;
    for (uint32_t i = first_finding; i < submission->finding_count; i++)
        submission->findings[i].place = PLACE_NOWHERE;
    submission->unpatchable++;
    submission->repair_count = first;
    submission_set_unknown(submission, image);
}

static void resolve_image(struct submission *submission, const struct contract_image *contract)
{
    struct image *image = contract->image;
    struct resolving resolving = {submission, image, false, false};
    struct resolve resolve = {
        .family = (uint8_t)submission->queue->family,
        .queue = submission->queue->index,
        .exclusive = image->exclusive,
        .serial = submission->serial,
        .is_ordered = is_ordered,
        .add = add_repair,
        .problem = add_problem,
        .context = &resolving,
    };
    uint32_t first = submission->repair_count;
    submission->other_queue = false;
    if (submission_names_both_aspects(submission, image) && !copy_map(&submission->before, &image->state)) {
        submission_set_unknown(submission, image);
        return;
    }
    if (!contract_resolve(contract, &image->state, &resolve) || resolving.failed) {
        submission->repair_count = first;
        submission_set_unknown(submission, image);
        return;
    }
    if (submission->repair_count > first)
        place(submission, contract, first);
    /* A program whose fault stays may well go on as the image really is. */
    if (resolving.problem && submission->queue->sync->mode == SYNC_REPAIR)
        submission_set_unknown(submission, image);
}

void submission_use_image(struct submission *submission, const struct contract_image *contract)
{
    struct image *image = contract->image;
    if (!image_is_tracked(image))
        return;
    save(submission, image);
    if (submission->is_blocked)
        blocked_add_image(submission->blocked, image);
    if (image->unresolved || !image->acquired || atomic_load(&image->destroyed))
        submission_set_unknown(submission, image);
    else
        resolve_image(submission, contract);
}

/* A rendering that is suspended at the end of one command buffer is resumed in the next. */
static void follow_chain(struct submission *submission, const struct command_buffer *buffer)
{
    if (!buffer->suspending)
        submission->chain_count = 0;
    else if (grow(&submission->chain, &submission->chain_capacity, submission->chain_count + 1,
                  sizeof(struct command_buffer *)))
        submission->chain[submission->chain_count++] = buffer;
    else
        submission->patchable = false;
}

void submission_use_buffer(struct submission *submission, const struct command_buffer *buffer, uint32_t index)
{
    submission->buffer = buffer;
    if (!submission->chain_count)
        submission->position = index;
    for (submission->late = buffer->bindings.late; submission->late;
         submission->late = submission->late->next)
        submission_use_late(submission, buffer, submission->late);
    for (const struct contract_image *image = buffer->contract.first; image; image = image->next)
        submission_use_image(submission, image);
    follow_chain(submission, buffer);
}

void submission_use_present(struct submission *submission, const struct contract_image *image)
{
    submission->buffer = NULL;
    submission->late = NULL;
    submission->position = 0;
    submission_use_image(submission, image);
}

/* --- Everything --- */

struct forgetting {
    uint64_t call;
};

static void forget_image(void *context, void *value)
{
    const struct forgetting *forgetting = context;
    struct image *image = value;
    image->touched = forgetting->call;
    subresource_map_set_all(&image->state, &unknown);
}

void submission_forget_all(struct device_sync *sync)
{
    struct forgetting forgetting = {++sync->queue_set->calls};
    handle_map_visit(&sync->images, forget_image, &forgetting);
}

/* --- After the lock --- */

void submission_barrier(const struct submission *submission, const struct repair *repair,
                        VkImageMemoryBarrier2 *out)
{
    const struct transition *transition = &repair->transition;
    VkQueueFlags flags = submission->queue->flags;
    VkPipelineStageFlags2 source = scope_stages_of_queue(transition->source.stages, flags);
    VkPipelineStageFlags2 destination = scope_stages_of_queue(transition->destination.stages, flags);
    *out = (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = source,
        .srcAccessMask = scope_access_of_stages(transition->source.access, source),
        .dstStageMask = destination,
        .dstAccessMask = scope_access_of_stages(transition->destination.access, destination),
        .oldLayout = transition->old_layout,
        .newLayout = transition->new_layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = repair->image->handle,
        .subresourceRange = image_vk_range(repair->image, &transition->range),
    };
}

void submission_abandon(struct submission *submission)
{
    struct device_sync *sync = submission->queue->sync;
    pthread_mutex_lock(&sync->lock);
    for (uint32_t i = 0; i < submission->repair_count; i++)
        submission_set_unknown(submission, submission->repairs[i].image);
    pthread_mutex_unlock(&sync->lock);
    for (uint32_t i = 0; i < submission->finding_count; i++)
        submission->findings[i].place = PLACE_NOWHERE;
    submission->repair_count = 0;
    submission->unpatchable++;
}

void submission_report(const struct submission *submission)
{
    struct device_sync *sync = submission->queue->sync;
    if (submission->unpatchable)
        atomic_fetch_add_explicit(&sync->counters.unpatchable, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < submission->finding_count; i++) {
        struct finding *finding = &submission->findings[i];
        finding->command_buffer = submission->names[i][0] ? submission->names[i] : NULL;
        finding_report(sync, finding);
    }
}

/* Under sync->lock. */
static void restore_images(const struct submission *submission)
{
    for (uint32_t i = 0; i < submission->undo_count; i++) {
        const struct undo *undo = &submission->undos[i];
        struct image *image = undo->image;
        if (image->touched == submission->call)
            image->acquired = undo->acquired;
        if (image->touched != submission->call || !subresource_map_copy(&image->state, &undo->map))
            subresource_map_set_all(&image->state, &unknown);
    }
}

void submission_undo_presented(const struct submission *submission)
{
    for (uint32_t i = 0; i < submission->undo_count; i++)
        if (submission->undos[i].image->touched == submission->call)
            submission->undos[i].image->acquired = submission->undos[i].acquired;
}

void submission_forget_waits(struct submission *submission)
{
    struct queue *queue = submission->queue;
    order_restore(queue->sync->queue_set->order, queue->index);
    queue->waits = submission->saved_waits;
}

static void withdraw_signals(const struct submission *submission, struct order *order)
{
    for (uint32_t i = submission->signal_count; i-- > 0;) {
        const struct submission_signal *signal = &submission->signals[i];
        if (order_is_timeline(order, signal->semaphore))
            order_withdraw_timeline(order, signal->semaphore, signal->value);
        else
            order_forget_semaphore(order, signal->semaphore);
    }
    for (uint32_t i = 0; i < submission->taken_count; i++)
        order_untake_binary(order, submission->taken[i]);
    if (submission->fence)
        order_forget_fence(order, submission->fence);
}

void submission_undo(struct submission *submission)
{
    struct device_sync *sync = submission->queue->sync;
    struct queue_set *set = sync->queue_set;
    queues_lock(sync);
    submission_forget_waits(submission);
    withdraw_signals(submission, set->order);
    restore_images(submission);
    struct blocked_batch *cancelled = blocked_cancel(&set->blocked, submission->call);
    queues_unlock(sync);
    if (!cancelled)
        return;
    blocked_release_images(cancelled);
    pthread_mutex_lock(&sync->lock);
    blocked_reuse(&set->blocked, cancelled);
    pthread_mutex_unlock(&sync->lock);
}
