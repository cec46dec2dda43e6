/* Queues: what is known of each, and of all that they have done together. */
#ifndef RC_SYNC_QUEUE_H
#define RC_SYNC_QUEUE_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/blocked.h"
#include "sync/device_sync.h"
#include "sync/order.h"

struct patch_pool;
struct submission;

/* Externally synchronized by the application, as VkQueue is, but for what is said to be under sync->lock. */
struct queue {
    VkQueue handle;
    struct device_sync *sync;
    uint32_t family;
    uint8_t index; /* among all of the device: clocks and struct access use it */
    VkQueueFlags flags;
    bool protected;
    struct patch_pool *patches;    /* patch.h; NULL until the first patch */
    struct submission *submission; /* submission.h */
    VkPipelineStageFlags2 waits;   /* stages at which its batches have waited so far; under sync->lock */
    uint32_t blocked; /* batches that wait for a timeline value nobody has signalled yet; under sync->lock */
};

/* All queues of a device together; everything under sync->lock. */
struct queue_set {
    struct order *order;
    struct blocked_list blocked;
    uint64_t calls;                 /* number of the last call that submitted: struct image.touched */
    uint32_t queue_count, capacity; /* known so far; created with the device */
    struct queue *queues[];
};

/* For a device with `count` queues, at its creation. False on out of memory. */
bool queues_create(struct device_sync *sync, uint32_t count);
/* Every queue is idle, since the device is being destroyed. Safe where queues_create() failed. */
void queues_destroy(struct device_sync *sync);

struct queue *queue_find(struct device_sync *sync, VkQueue handle); /* NULL: unknown, pass through */
/* Makes the queue known (vkGetDeviceQueue, vkGetDeviceQueue2), or finds it; NULL on out of memory. */
struct queue *queue_register(struct device_sync *sync, VkQueue handle, uint32_t family, bool is_protected);

/* sync->lock, for what may have signalled something: unlocking first looks for blocked batches that no longer
 * are. */
void queues_lock(struct device_sync *sync);
void queues_unlock(struct device_sync *sync);

#endif
