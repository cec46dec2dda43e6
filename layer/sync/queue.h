/* Queues: submits, the patches in them, and presents. */
#ifndef RC_SYNC_QUEUE_H
#define RC_SYNC_QUEUE_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/device_sync.h"
#include "sync/order.h"

struct patch_pool;

/* Externally synchronized by the application, as VkQueue is, but for what is said to be under sync->lock. */
struct queue {
    VkQueue handle;
    struct device_sync *sync;
    uint32_t family;
    uint8_t index; /* among all of the device: clocks and struct access use it */
    VkQueueFlags flags;
    bool protected;
    struct patch_pool *patches;     /* patch.h */
    struct submit_scratch *scratch; /* arrays that are kept from submit to submit; see submit.c */
    uint32_t blocked; /* batches that wait for a timeline value nobody has signalled yet; under sync->lock */
};

struct queue *queue_find(struct device_sync *sync, VkQueue handle); /* NULL: unknown, pass through */
/* Makes the queue known (vkGetDeviceQueue, vkGetDeviceQueue2); NULL on out of memory. */
struct queue *queue_register(struct device_sync *sync, VkQueue handle, uint32_t family, bool is_protected);
void queues_destroy(struct device_sync *sync);

#endif
