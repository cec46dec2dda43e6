/* Batches that wait for a timeline value of which nobody has signalled or submitted a signal yet, and those
 * behind them on the same queue. What will have been done to their images when they run isn't known, so these
 * are left alone until it is. Under sync->lock, but for blocked_release_images().
 *
 * Nothing here waits, and nothing is held back: the batches themselves have gone down. */
#ifndef RC_SYNC_BLOCKED_H
#define RC_SYNC_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

#include "sync/order.h"

struct queue;
struct image;
struct blocked_batch;

/* All zero is a valid empty list. */
struct blocked_list {
    struct blocked_batch *first; /* in the order of submission */
    struct blocked_batch **end;  /* NULL: the list is empty */
    struct blocked_batch *unused;
};

/* NULL is safe. The images' references are given back. */
void blocked_finish(struct blocked_list *list);

/* A batch of the submit call with this number. NULL on out of memory; then what is added to it stays blocked
 * for good. */
struct blocked_batch *blocked_add(struct blocked_list *list, struct queue *queue, uint64_t serial,
                                  uint64_t call);
/* `batch` may be NULL. */
void blocked_add_wait(struct blocked_batch *batch, uint64_t semaphore, uint64_t value, bool orders);
/* A timeline signal counts as submitted only when the batch is resolved. */
void blocked_add_signal(struct blocked_batch *batch, uint64_t semaphore, uint64_t value);
/* Raises image->unresolved, and keeps a reference. */
void blocked_add_image(struct blocked_batch *batch, struct image *image);

/* The host has seen this value: batches that signal it are over. */
void blocked_host_timeline(const struct blocked_list *list, struct order *order, uint64_t semaphore,
                           uint64_t value);
/* It is being destroyed: batches that wait for it or signal it are over
 * (VUID-vkDestroySemaphore-semaphore-05149).
 */
void blocked_host_destroyed(const struct blocked_list *list, struct order *order, uint64_t semaphore);
/* Takes out those that are no longer blocked: their waits are resolved, or the host knows that they are over.
 * NULL if there are none, which is known at once. */
struct blocked_batch *blocked_resolve(struct blocked_list *list, struct order *order);
/* Takes out those of a call that failed. */
struct blocked_batch *blocked_cancel(struct blocked_list *list, uint64_t call);

/* For what the two above returned (NULL is safe): the first without sync->lock, then the second with it. */
void blocked_release_images(struct blocked_batch *batches);
void blocked_reuse(struct blocked_list *list, struct blocked_batch *batches);

#endif
