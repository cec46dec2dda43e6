/* Fences and semaphores as the host sees them. */
#include <errno.h>
#include <time.h>

#include "queue.h"

VkResult driver_vkCreateFence(VkDevice device, const VkFenceCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkFence *out)
{
    struct fence *fence = object_create(object_list_of(device), VK_OBJECT_TYPE_FENCE, sizeof(*fence));

    if (!fence)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    fence->signaled = info->flags & VK_FENCE_CREATE_SIGNALED_BIT;
    *out = HANDLE(VkFence, fence);
    return VK_SUCCESS;
}

VkResult driver_vkResetFences(VkDevice handle, uint32_t count, const VkFence *fences)
{
    struct device *device = OBJECT(device, handle);

    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < count; i++)
        OBJECT(fence, fences[i])->signaled = false;
    pthread_mutex_unlock(&device->lock);
    return VK_SUCCESS;
}

VkResult driver_vkGetFenceStatus(VkDevice handle, VkFence fence)
{
    struct device *device = OBJECT(device, handle);
    VkResult result;

    pthread_mutex_lock(&device->lock);
    result = OBJECT(fence, fence)->signaled ? VK_SUCCESS : VK_NOT_READY;
    if (device->lost)
        result = VK_ERROR_DEVICE_LOST;
    pthread_mutex_unlock(&device->lock);
    return result;
}

VkResult driver_vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                                  const VkAllocationCallbacks *allocator, VkSemaphore *out)
{
    const VkSemaphoreTypeCreateInfo *type =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    struct semaphore *semaphore =
        object_create(object_list_of(device), VK_OBJECT_TYPE_SEMAPHORE, sizeof(*semaphore));

    if (!semaphore)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE) {
        semaphore->timeline = true;
        semaphore->value = type->initialValue;
    }
    *out = HANDLE(VkSemaphore, semaphore);
    return VK_SUCCESS;
}

VkResult driver_vkGetSemaphoreCounterValue(VkDevice handle, VkSemaphore semaphore, uint64_t *out)
{
    struct device *device = OBJECT(device, handle);
    VkResult result = VK_SUCCESS;

    pthread_mutex_lock(&device->lock);
    *out = OBJECT(semaphore, semaphore)->value;
    if (device->lost)
        result = VK_ERROR_DEVICE_LOST;
    pthread_mutex_unlock(&device->lock);
    return result;
}

VkResult driver_vkSignalSemaphore(VkDevice handle, const VkSemaphoreSignalInfo *info)
{
    struct device *device = OBJECT(device, handle);

    pthread_mutex_lock(&device->lock);
    OBJECT(semaphore, info->semaphore)->value = info->value;
    pthread_mutex_unlock(&device->lock);
    device_signal(device, NULL, NULL);
    return VK_SUCCESS;
}

/* CLOCK_MONOTONIC plus the timeout; false if that is beyond any clock: no limit. */
static bool deadline_of(uint64_t timeout, struct timespec *out)
{
    const uint64_t billion = 1000000000;

    if (timeout > INT64_MAX / 2)
        return false;
    clock_gettime(CLOCK_MONOTONIC, out);
    timeout += (uint64_t)out->tv_nsec;
    out->tv_sec += (time_t)(timeout / billion);
    out->tv_nsec = (long)(timeout % billion);
    return true;
}

/* Waits until `done` says so, under the device's lock. */
static VkResult wait_for(struct device *device, uint64_t timeout, bool (*done)(const void *context),
                         const void *context)
{
    struct timespec deadline;
    bool limited = deadline_of(timeout, &deadline);
    VkResult result = VK_SUCCESS;

    pthread_mutex_lock(&device->lock);
    while (!device->lost && !done(context) && result == VK_SUCCESS) {
        if (!limited)
            pthread_cond_wait(&device->progress, &device->lock);
        else if (pthread_cond_timedwait(&device->progress, &device->lock, &deadline) == ETIMEDOUT)
            result = VK_TIMEOUT;
    }
    if (device->lost)
        result = VK_ERROR_DEVICE_LOST;
    else if (done(context))
        result = VK_SUCCESS;
    pthread_mutex_unlock(&device->lock);
    return result;
}

struct fence_wait {
    uint32_t count;
    const VkFence *fences;
    VkBool32 all;
};

static bool fences_done(const void *context)
{
    const struct fence_wait *wait = context;
    uint32_t signaled = 0;

    for (uint32_t i = 0; i < wait->count; i++)
        signaled += OBJECT(fence, wait->fences[i])->signaled;
    return wait->all ? signaled == wait->count : signaled > 0;
}

VkResult driver_vkWaitForFences(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all,
                                uint64_t timeout)
{
    struct fence_wait wait = {count, fences, all};

    return wait_for(OBJECT(device, device), timeout, fences_done, &wait);
}

static bool semaphores_done(const void *context)
{
    const VkSemaphoreWaitInfo *info = context;
    uint32_t reached = 0;

    for (uint32_t i = 0; i < info->semaphoreCount; i++)
        reached += OBJECT(semaphore, info->pSemaphores[i])->value >= info->pValues[i];
    return info->flags & VK_SEMAPHORE_WAIT_ANY_BIT ? reached > 0 : reached == info->semaphoreCount;
}

VkResult driver_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    return wait_for(OBJECT(device, device), timeout, semaphores_done, info);
}
