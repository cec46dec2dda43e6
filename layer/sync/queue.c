#include "sync/queue.h"

#include <stdlib.h>

#include "hooks.h"
#include "sync/patch.h"
#include "sync/submission.h"

bool queues_create(struct device_sync *sync, uint32_t count)
{
    struct queue_set *set = calloc(1, sizeof(*set) + count * sizeof(struct queue *));
    if (!set)
        return false;
    set->capacity = count;
    set->order = order_create(count);
    if (!set->order) {
        free(set);
        return false;
    }
    sync->queue_set = set;
    return true;
}

void queues_destroy(struct device_sync *sync)
{
    struct queue_set *set = sync->queue_set;
    if (!set)
        return;
    blocked_finish(&set->blocked);
    for (uint32_t i = 0; i < set->queue_count; i++) {
        patch_pool_destroy(set->queues[i]->patches);
        submission_destroy(set->queues[i]->submission);
        free(set->queues[i]);
    }
    order_destroy(set->order);
    free(set);
    sync->queue_set = NULL;
}

struct queue *queue_find(struct device_sync *sync, VkQueue handle)
{
    return handle_map_find(&sync->queues, DISPATCHABLE_KEY(handle));
}

/* Under sync->lock. */
static struct queue *add_queue(struct device_sync *sync, VkQueue handle, uint32_t family, bool is_protected)
{
    struct queue_set *set = sync->queue_set;
    if (set->queue_count == set->capacity || family >= sync->family_count)
        return NULL;
    struct queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    *queue = (struct queue){
        .handle = handle,
        .sync = sync,
        .family = family,
        .index = (uint8_t)set->queue_count,
        .flags = sync->families[family],
        .protected = is_protected,
    };
    queue->submission = submission_create(queue);
    if (!queue->submission)
        goto fail_submission;
    if (!handle_map_insert(&sync->queues, DISPATCHABLE_KEY(handle), queue))
        goto fail_insert;
    set->queues[set->queue_count++] = queue;
    return queue;

fail_insert:
    submission_destroy(queue->submission);
fail_submission:
    free(queue);
    return NULL;
}

struct queue *queue_register(struct device_sync *sync, VkQueue handle, uint32_t family, bool is_protected)
{
    pthread_mutex_lock(&sync->lock);
    struct queue *queue = queue_find(sync, handle);
    if (!queue)
        queue = add_queue(sync, handle, family, is_protected);
    pthread_mutex_unlock(&sync->lock);
    return queue;
}

void queues_lock(struct device_sync *sync)
{
    pthread_mutex_lock(&sync->lock);
}

void queues_unlock(struct device_sync *sync)
{
    struct queue_set *set = sync->queue_set;
    struct blocked_batch *resolved = blocked_resolve(&set->blocked, set->order);
    pthread_mutex_unlock(&sync->lock);
    if (!resolved)
        return;
    blocked_release_images(resolved);
    pthread_mutex_lock(&sync->lock);
    blocked_reuse(&set->blocked, resolved);
    pthread_mutex_unlock(&sync->lock);
}

void hook_GetDeviceQueue(struct device *self, PFN_vkGetDeviceQueue next, VkDevice device,
                         uint32_t queueFamilyIndex, uint32_t queueIndex, VkQueue *pQueue)
{
    next(device, queueFamilyIndex, queueIndex, pQueue);
    if (*pQueue)
        queue_register(self->sync, *pQueue, queueFamilyIndex, false);
}

void hook_GetDeviceQueue2(struct device *self, PFN_vkGetDeviceQueue2 next, VkDevice device,
                          const VkDeviceQueueInfo2 *pQueueInfo, VkQueue *pQueue)
{
    next(device, pQueueInfo, pQueue);
    if (*pQueue)
        queue_register(self->sync, *pQueue, pQueueInfo->queueFamilyIndex,
                       pQueueInfo->flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
}
