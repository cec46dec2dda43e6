/* Which submissions are ordered before which, through semaphores, fences and host waits. Pure; under
 * sync->lock.
 *
 * A clock says for each queue up to which submission everything is known to have been executed. */
#ifndef RC_SYNC_ORDER_H
#define RC_SYNC_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct order_clock {
    uint32_t queue_count; /* of `serials`; the same for all clocks of a device */
    uint64_t *serials;
};

struct order; /* all of one device: queues' clocks, the host's, semaphores' and fences' */

struct order *order_create(uint32_t queue_count); /* NULL on out of memory */
void order_destroy(struct order *order);

/* Semaphores and fences are found by handle; made on first use. Functions that could need memory return false
 * on out of memory, after which the object is taken to say nothing (less is known to be ordered, never more).
 */

/* A batch begins on a queue: returns its serial, from 1. The host's clock is joined: what the host has waited
 * for is over. */
uint64_t order_begin(struct order *order, uint32_t queue);
/* It waits. `covers_all`: the wait's stage mask isn't NONE. Timeline: false in *resolved if nobody has
 * signalled or submitted a signal of `value` yet. */
void order_wait_binary(struct order *order, uint32_t queue, uint64_t semaphore);
void order_wait_timeline(struct order *order, uint32_t queue, uint64_t semaphore, uint64_t value,
                         bool *resolved);
/* It signals, after its work. */
bool order_signal_binary(struct order *order, uint32_t queue, uint64_t semaphore);
bool order_signal_timeline(struct order *order, uint32_t queue, uint64_t semaphore, uint64_t value);
bool order_signal_fence(struct order *order, uint32_t queue, uint64_t fence);
/* Whether `serial` of `other` is ordered before what `queue` submits now. */
bool order_is_before(const struct order *order, uint32_t queue, uint32_t other, uint64_t serial);

/* The host: a fence was seen signalled, a timeline value reached, a queue or the device idle,
 * vkSignalSemaphore called. */
void order_host_fence(struct order *order, uint64_t fence);
void order_host_timeline(struct order *order, uint64_t semaphore, uint64_t value);
void order_host_signal(struct order *order, uint64_t semaphore, uint64_t value);
void order_host_queue(struct order *order, uint32_t queue);
void order_host_device(struct order *order);
/* Objects go, fences are reset; binary semaphores signalled by acquire or import carry no submission. */
void order_forget(struct order *order, uint64_t handle);

#endif
