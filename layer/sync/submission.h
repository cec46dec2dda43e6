/* What one call to a queue (submit or present) changes, needs and finds: collected under sync->lock while its
 * command buffers' contracts are resolved, used without it afterwards. One per queue; its memory is kept from
 * call to call. Used under the application's own synchronization of the queue. */
#ifndef RC_SYNC_SUBMISSION_H
#define RC_SYNC_SUBMISSION_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/contract.h"
#include "sync/finding.h"

struct queue;
struct blocked_batch;
struct command_buffer;
struct late_use;

/* An image as it was before the call. */
struct undo {
    struct image *image;
    struct subresource_map map;
    struct access first;
    bool acquired;
};

/* A barrier that is to go before a command buffer. */
struct repair {
    struct image *image;
    uint32_t batch, position; /* before this command buffer */
    struct transition transition;
};

/* A semaphore that the call signals. */
struct submission_signal {
    uint64_t semaphore, value;
};

#define FINDING_NAME_SIZE 64

struct submission {
    struct queue *queue;

    /* The call. */
    uint64_t call; /* its number: image->touched of what it changed */
    uint32_t undo_count, undo_capacity;
    struct undo *undos;
    uint32_t signal_count, signal_capacity;
    struct submission_signal *signals;
    uint32_t taken_count, taken_capacity;
    uint64_t *taken;                   /* binary semaphores whose signals it takes */
    uint64_t fence;                    /* 0: none */
    VkPipelineStageFlags2 saved_waits; /* queue->waits before it */
    uint32_t repair_count, repair_capacity;
    struct repair *repairs;
    uint32_t finding_count, finding_capacity;
    struct finding *findings;
    uint32_t unpatchable;             /* batches where a repair is needed and can't be */
    char (*names)[FINDING_NAME_SIZE]; /* debug names of findings' command buffers; same capacity */

    /* The batch that is being resolved. */
    uint32_t batch;
    uint64_t serial;
    bool patchable;                /* a command buffer may be put into it */
    VkPipelineStageFlags2 waits;   /* stages at which it waits */
    struct blocked_batch *blocked; /* it waits for a timeline value that nobody has submitted yet */
    bool is_blocked;

    /* The command buffer. */
    const struct command_buffer *buffer; /* NULL: a present */
    const struct late_use *late;         /* the use by it that is being resolved; NULL: another kind */
    uint32_t position;                   /* what it needs goes before this one of the batch */
    uint32_t chain_count, chain_capacity;
    const struct command_buffer **chain; /* that it follows in a suspended rendering, from `position` on */
    bool other_queue;                    /* something of the image was last used on another queue */
    struct subresource_map before; /* the image's state before it; kept where both aspects must be named */
    struct access before_first;

    /* Of a repaired present: what the present waits for, and stage masks. */
    uint32_t semaphore_count, semaphore_capacity, stage_capacity;
    VkSemaphore *semaphores;
    VkPipelineStageFlags *stages;

    struct submit_arrays *arrays; /* see submit_arrays.h */
    struct arena arena;           /* of contracts that are made up here, one at a time */
};

struct submission *submission_create(struct queue *queue); /* NULL on out of memory */
void submission_destroy(struct submission *submission);    /* NULL is safe */

/* --- Under sync->lock --- */

void submission_begin(struct submission *submission);
void submission_begin_batch(struct submission *submission, uint32_t batch, bool patchable);
/* The batch waits or signals; a binary semaphore ignores `value`. */
void submission_wait(struct submission *submission, VkSemaphore semaphore, uint64_t value,
                     VkPipelineStageFlags2 stages);
void submission_signal(struct submission *submission, VkSemaphore semaphore, uint64_t value);
void submission_signal_fence(struct submission *submission, VkFence fence);
/* What the queue has waited for in this call doesn't count for later ones: only a present waits. */
void submission_forget_waits(struct submission *submission);
/* After all waits; `index` within the batch. */
void submission_use_buffer(struct submission *submission, const struct command_buffer *buffer,
                           uint32_t index);
/* In a batch that is a present. */
void submission_use_present(struct submission *submission, const struct contract_image *image);
/* Something was submitted that isn't known: nor is any image's state from now on. */
void submission_forget_all(struct device_sync *sync);

/* submission_aspects.c. Image barriers of a depth/stencil image name both aspects where
 * separateDepthStencilLayouts is off: makes the repairs from `first` on, all of this image, do so. False if
 * there is no layout that says it. */
bool submission_unite_aspects(struct submission *submission, const struct contract_image *contract,
                              uint32_t first);

/* --- Without it --- */

/* Repairs as barriers of this queue. */
void submission_barrier(const struct submission *submission, const struct repair *repair,
                        VkImageMemoryBarrier2 *out);
/* The repairs can't be made: their images become unknown, and the findings say so. */
void submission_abandon(struct submission *submission);
/* Says what was found. Before the call down, since command buffers and images may go as soon as it was made.
 */
void submission_report(const struct submission *submission);
/* The call failed, and nothing of it was submitted. */
void submission_undo(struct submission *submission);
/* Under sync->lock: a present failed whose repairs were submitted. Its images are as they are, but not
 * presented. */
void submission_undo_presented(const struct submission *submission);

#endif
