/* Which submissions are ordered before which, through semaphores, fences and host waits. Pure; under
 * sync->lock.
 *
 * A clock says for each queue up to which submission everything is known to have been executed. Every queue
 * has one (what its next batch is ordered after), the host has one, and each signal that is still to be
 * waited for carries the one of the queue that makes it. */
#ifndef RC_SYNC_ORDER_H
#define RC_SYNC_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct order; /* all of one device: queues' clocks, the host's, semaphores' and fences' */

struct order *order_create(uint32_t queue_count); /* NULL on out of memory */
void order_destroy(struct order *order);          /* NULL is safe */

/* --- Objects: semaphores and fences are found by handle. Binary semaphores and fences are made on first use,
 * and one that isn't known says nothing. Functions that could need memory return false on out of memory; less
 * is then known to be ordered, never more. --- */

bool order_create_timeline(struct order *order, uint64_t semaphore, uint64_t value);
/* Imported: nothing is known of it any more, not even what it has reached. */
void order_restart_timeline(struct order *order, uint64_t semaphore);
bool order_is_timeline(const struct order *order, uint64_t semaphore);
/* Destroyed, or its payload replaced from outside (import). */
void order_forget_semaphore(struct order *order, uint64_t semaphore);
/* Destroyed, reset, or imported. */
void order_forget_fence(struct order *order, uint64_t fence);

/* --- Queues --- */

/* A batch begins on a queue: returns its serial, from 1. The host's clock is joined: what the host has waited
 * for is over. */
uint64_t order_begin(struct order *order, uint32_t queue);
/* The queue's clock is kept, one per queue; and is again what was kept: the waits since then didn't happen.
 * Serials are not given out twice. */
void order_save(struct order *order, uint32_t queue);
void order_restore(struct order *order, uint32_t queue);

/* The queue waits. `orders`: the wait's stage mask isn't NONE (a wait at NONE takes the signal and orders
 * nothing). Binary: whether there was a known signal to take. Timeline: false if nobody has signalled, or
 * submitted a signal of, `value` or more yet. */
bool order_wait_binary(struct order *order, uint32_t queue, uint64_t semaphore, bool orders);
bool order_wait_timeline(struct order *order, uint32_t queue, uint64_t semaphore, uint64_t value,
                         bool orders);
/* It signals, after its work. */
bool order_signal_binary(struct order *order, uint32_t queue, uint64_t semaphore);
void order_signal_timeline(struct order *order, uint32_t queue, uint64_t semaphore, uint64_t value);
bool order_signal_fence(struct order *order, uint32_t queue, uint64_t fence);
/* A signal of this value was submitted; what it carries isn't known. */
void order_skip_timeline(struct order *order, uint64_t semaphore, uint64_t value);
/* A wait that took a signal was not submitted after all. */
void order_untake_binary(struct order *order, uint64_t semaphore);
/* The signal of this value, the last one of that semaphore, was not submitted after all. */
void order_withdraw_timeline(struct order *order, uint64_t semaphore, uint64_t value);

/* Whether `serial` of `other` is ordered before what `queue` submits now. */
bool order_is_before(const struct order *order, uint32_t queue, uint32_t other, uint64_t serial);

/* --- The host: a fence was seen signalled, a timeline value reached, a queue or the device idle,
 * vkSignalSemaphore called; or it is known otherwise that a submission is over. --- */

void order_host_fence(struct order *order, uint64_t fence);
void order_host_timeline(struct order *order, uint64_t semaphore, uint64_t value);
void order_host_signal(struct order *order, uint64_t semaphore, uint64_t value);
void order_host_queue(struct order *order, uint32_t queue);
void order_host_device(struct order *order);
void order_host_serial(struct order *order, uint32_t queue, uint64_t serial);
/* Whether the host knows that this submission is over. */
bool order_host_knows(const struct order *order, uint32_t queue, uint64_t serial);

#endif
