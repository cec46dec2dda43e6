#include "queue.h"

#include <stdlib.h>

#include "command_buffer.h"

struct batch *batch_create(uint32_t waits, uint32_t signals, uint32_t commands, uint32_t presents)
{
    size_t points = (size_t)waits + signals;
    struct batch *batch = calloc(1, sizeof(*batch) + points * sizeof(struct semaphore_point) +
                                        ((size_t)commands + presents) * sizeof(void *));

    if (!batch)
        return NULL;
    batch->wait_count = waits;
    batch->signal_count = signals;
    batch->command_count = commands;
    batch->present_count = presents;
    batch->waits = (struct semaphore_point *)(batch + 1);
    batch->signals = batch->waits + waits;
    batch->commands = (struct command_buffer **)(batch->signals + signals);
    batch->presents = (struct swapchain_image **)(batch->commands + commands);
    return batch;
}

static void batches_free(struct batch *batch)
{
    while (batch) {
        struct batch *next = batch->next;

        free(batch);
        batch = next;
    }
}

static bool batch_ready(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->wait_count; i++) {
        const struct semaphore_point *wait = &batch->waits[i];

        if (wait->semaphore->value < (wait->semaphore->timeline ? wait->value : 1))
            return false;
    }
    return true;
}

static void signal_point(const struct semaphore_point *point)
{
    point->semaphore->value = point->semaphore->timeline ? point->value : 1;
}

static void batch_run(const struct queue *queue, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->wait_count; i++) {
        if (!batch->waits[i].semaphore->timeline)
            batch->waits[i].semaphore->value = 0;
    }
    if (queue->device->oracle.on)
        oracle_run(queue, batch->commands, batch->command_count);
    for (uint32_t i = 0; i < batch->command_count; i++)
        command_buffer_execute(batch->commands[i]);
    for (uint32_t i = 0; i < batch->present_count; i++)
        swapchain_image_presented(queue, batch->presents[i]);
    for (uint32_t i = 0; i < batch->signal_count; i++)
        signal_point(&batch->signals[i]);
    if (batch->fence)
        batch->fence->signaled = true;
}

static bool queue_advance(struct queue *queue)
{
    bool advanced = false;

    while (queue->first && batch_ready(queue->first)) {
        struct batch *batch = queue->first;

        queue->first = batch->next;
        if (!queue->first)
            queue->last = NULL;
        batch_run(queue, batch);
        free(batch);
        advanced = true;
    }
    return advanced;
}

/* Until no queue of the device can go on. Under the device's lock. */
static void device_advance(struct device *device)
{
    bool advanced;

    do {
        advanced = false;
        for (uint32_t i = 0; i < device->queue_count; i++)
            advanced |= queue_advance(&device->queues[i]);
    } while (advanced);
    pthread_cond_broadcast(&device->progress);
}

VkResult queue_append(struct queue *queue, struct batch *batches)
{
    struct device *device = queue->device;
    VkResult result = VK_SUCCESS;
    struct batch *last = batches;

    while (last && last->next)
        last = last->next;
    pthread_mutex_lock(&device->lock);
    if (device->lost) {
        batches_free(batches);
        result = VK_ERROR_DEVICE_LOST;
    } else if (batches) {
        if (queue->last)
            queue->last->next = batches;
        else
            queue->first = batches;
        queue->last = last;
        device_advance(device);
    }
    pthread_mutex_unlock(&device->lock);
    return result;
}

void queue_finish(struct queue *queue)
{
    batches_free(queue->first);
}

void device_signal(struct device *device, struct semaphore *semaphore, struct fence *fence)
{
    pthread_mutex_lock(&device->lock);
    if (semaphore)
        semaphore->value = 1;
    if (fence)
        fence->signaled = true;
    device_advance(device);
    pthread_mutex_unlock(&device->lock);
}

static struct batch *batch_from_submit(const VkSubmitInfo *info)
{
    const VkTimelineSemaphoreSubmitInfo *values =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    struct batch *batch =
        batch_create(info->waitSemaphoreCount, info->signalSemaphoreCount, info->commandBufferCount, 0);

    if (!batch)
        return NULL;
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++) {
        batch->waits[i].semaphore = OBJECT(semaphore, info->pWaitSemaphores[i]);
        if (values && i < values->waitSemaphoreValueCount)
            batch->waits[i].value = values->pWaitSemaphoreValues[i];
    }
    for (uint32_t i = 0; i < info->signalSemaphoreCount; i++) {
        batch->signals[i].semaphore = OBJECT(semaphore, info->pSignalSemaphores[i]);
        if (values && i < values->signalSemaphoreValueCount)
            batch->signals[i].value = values->pSignalSemaphoreValues[i];
    }
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        batch->commands[i] = command_buffer_from_handle(info->pCommandBuffers[i]);
    return batch;
}

static struct batch *batch_from_submit2(const VkSubmitInfo2 *info)
{
    struct batch *batch = batch_create(info->waitSemaphoreInfoCount, info->signalSemaphoreInfoCount,
                                       info->commandBufferInfoCount, 0);

    if (!batch)
        return NULL;
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++)
        batch->waits[i] = (struct semaphore_point){OBJECT(semaphore, info->pWaitSemaphoreInfos[i].semaphore),
                                                   info->pWaitSemaphoreInfos[i].value};
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        batch->signals[i] =
            (struct semaphore_point){OBJECT(semaphore, info->pSignalSemaphoreInfos[i].semaphore),
                                     info->pSignalSemaphoreInfos[i].value};
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        batch->commands[i] = command_buffer_from_handle(info->pCommandBufferInfos[i].commandBuffer);
    return batch;
}

static struct batch *batch_from_sparse(const VkBindSparseInfo *info)
{
    struct batch *batch = batch_create(info->waitSemaphoreCount, info->signalSemaphoreCount, 0, 0);

    for (uint32_t i = 0; batch && i < info->waitSemaphoreCount; i++)
        batch->waits[i].semaphore = OBJECT(semaphore, info->pWaitSemaphores[i]);
    for (uint32_t i = 0; batch && i < info->signalSemaphoreCount; i++)
        batch->signals[i].semaphore = OBJECT(semaphore, info->pSignalSemaphores[i]);
    return batch;
}

/* What the three kinds of submit share: `make` makes a batch of the index-th element. */
static VkResult submit(VkQueue queue, uint32_t count, const void *infos,
                       struct batch *(*make)(const void *infos, uint32_t index), VkFence fence)
{
    struct batch *first = NULL;
    struct batch **end = &first;
    struct batch *last = NULL;

    for (uint32_t i = 0; i < count || (i == count && fence); i++) {
        struct batch *batch = i < count ? make(infos, i) : batch_create(0, 0, 0, 0);

        if (!batch) {
            batches_free(first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        *end = last = batch;
        end = &batch->next;
    }
    if (fence)
        last->fence = OBJECT(fence, fence);
    return queue_append(OBJECT(queue, queue), first);
}

static struct batch *make_submit(const void *infos, uint32_t index)
{
    return batch_from_submit((const VkSubmitInfo *)infos + index);
}

static struct batch *make_submit2(const void *infos, uint32_t index)
{
    return batch_from_submit2((const VkSubmitInfo2 *)infos + index);
}

static struct batch *make_sparse(const void *infos, uint32_t index)
{
    return batch_from_sparse((const VkBindSparseInfo *)infos + index);
}

VkResult driver_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    call_current()->record.count = count;
    call_current()->record.infos = infos;
    return submit(queue, count, infos, make_submit, fence);
}

VkResult driver_vkQueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    call_current()->record.count = count;
    call_current()->record.infos = infos;
    return submit(queue, count, infos, make_submit2, fence);
}

VkResult driver_vkQueueBindSparse(VkQueue queue, uint32_t count, const VkBindSparseInfo *infos, VkFence fence)
{
    return submit(queue, count, infos, make_sparse, fence);
}

static VkResult wait_idle(struct device *device, const struct queue *queues, uint32_t count)
{
    VkResult result = VK_SUCCESS;

    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < count; i++) {
        while (queues[i].first && !device->lost)
            pthread_cond_wait(&device->progress, &device->lock);
    }
    if (device->lost)
        result = VK_ERROR_DEVICE_LOST;
    pthread_mutex_unlock(&device->lock);
    return result;
}

VkResult driver_vkQueueWaitIdle(VkQueue queue)
{
    return wait_idle(OBJECT(queue, queue)->device, OBJECT(queue, queue), 1);
}

VkResult driver_vkDeviceWaitIdle(VkDevice device)
{
    return wait_idle(OBJECT(device, device), OBJECT(device, device)->queues,
                     OBJECT(device, device)->queue_count);
}
