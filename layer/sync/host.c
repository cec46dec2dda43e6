/* What the host learns of semaphores, fences and queues. */
#include "chain.h"
#include "hooks.h"
#include "sync/queue.h"

/* Knows that the semaphore has reached this value. */
static void reach(struct device_sync *sync, VkSemaphore semaphore, uint64_t value)
{
    struct queue_set *set = sync->queue_set;
    order_host_timeline(set->order, HANDLE_KEY(semaphore), value);
    blocked_host_timeline(&set->blocked, set->order, HANDLE_KEY(semaphore), value);
}

/* --- Semaphores --- */

VkResult hook_CreateSemaphore(struct device *self, PFN_vkCreateSemaphore next, VkDevice device,
                              const VkSemaphoreCreateInfo *pCreateInfo,
                              const VkAllocationCallbacks *pAllocator, VkSemaphore *pSemaphore)
{
    const VkSemaphoreTypeCreateInfo *type =
        chain_find(pCreateInfo->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    VkResult result = next(device, pCreateInfo, pAllocator, pSemaphore);
    if (result != VK_SUCCESS || !type || type->semaphoreType != VK_SEMAPHORE_TYPE_TIMELINE)
        return result;
    queues_lock(self->sync);
    bool known =
        order_create_timeline(self->sync->queue_set->order, HANDLE_KEY(*pSemaphore), type->initialValue);
    queues_unlock(self->sync);
    if (known)
        return result;
    /* Taken for a binary one, a batch that waits for it would seem ready to run. */
    self->next.DestroySemaphore(device, *pSemaphore, pAllocator);
    *pSemaphore = VK_NULL_HANDLE;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

void hook_DestroySemaphore(struct device *self, PFN_vkDestroySemaphore next, VkDevice device,
                           VkSemaphore semaphore, const VkAllocationCallbacks *pAllocator)
{
    struct queue_set *set = self->sync->queue_set;
    if (semaphore) {
        queues_lock(self->sync);
        blocked_host_destroyed(&set->blocked, set->order, HANDLE_KEY(semaphore));
        order_forget_semaphore(set->order, HANDLE_KEY(semaphore));
        queues_unlock(self->sync);
    }
    next(device, semaphore, pAllocator);
}

VkResult hook_ImportSemaphoreFdKHR(struct device *self, PFN_vkImportSemaphoreFdKHR next, VkDevice device,
                                   const VkImportSemaphoreFdInfoKHR *pImportSemaphoreFdInfo)
{
    uint64_t key = HANDLE_KEY(pImportSemaphoreFdInfo->semaphore);
    VkResult result = next(device, pImportSemaphoreFdInfo);
    if (result != VK_SUCCESS)
        return result;
    struct order *order = self->sync->queue_set->order;
    queues_lock(self->sync);
    /* Of an imported timeline nothing is known to have been reached. */
    if (!order_is_timeline(order, key))
        order_forget_semaphore(order, key);
    else
        order_restart_timeline(order, key);
    queues_unlock(self->sync);
    return result;
}

VkResult hook_WaitSemaphores(struct device *self, PFN_vkWaitSemaphores next, VkDevice device,
                             const VkSemaphoreWaitInfo *pWaitInfo, uint64_t timeout)
{
    VkResult result = next(device, pWaitInfo, timeout);
    bool all = !(pWaitInfo->flags & VK_SEMAPHORE_WAIT_ANY_BIT) || pWaitInfo->semaphoreCount == 1;
    if (result != VK_SUCCESS || !all)
        return result;
    queues_lock(self->sync);
    for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; i++)
        reach(self->sync, pWaitInfo->pSemaphores[i], pWaitInfo->pValues[i]);
    queues_unlock(self->sync);
    return result;
}

VkResult hook_GetSemaphoreCounterValue(struct device *self, PFN_vkGetSemaphoreCounterValue next,
                                       VkDevice device, VkSemaphore semaphore, uint64_t *pValue)
{
    VkResult result = next(device, semaphore, pValue);
    if (result != VK_SUCCESS)
        return result;
    queues_lock(self->sync);
    reach(self->sync, semaphore, *pValue);
    queues_unlock(self->sync);
    return result;
}

VkResult hook_SignalSemaphore(struct device *self, PFN_vkSignalSemaphore next, VkDevice device,
                              const VkSemaphoreSignalInfo *pSignalInfo)
{
    VkResult result = next(device, pSignalInfo);
    if (result != VK_SUCCESS)
        return result;
    queues_lock(self->sync);
    order_host_signal(self->sync->queue_set->order, HANDLE_KEY(pSignalInfo->semaphore), pSignalInfo->value);
    queues_unlock(self->sync);
    return result;
}

/* --- Fences --- */

static void forget_fences(struct device_sync *sync, uint32_t count, const VkFence *fences)
{
    queues_lock(sync);
    for (uint32_t i = 0; i < count; i++)
        order_forget_fence(sync->queue_set->order, HANDLE_KEY(fences[i]));
    queues_unlock(sync);
}

static void signalled(struct device_sync *sync, uint32_t count, const VkFence *fences)
{
    queues_lock(sync);
    for (uint32_t i = 0; i < count; i++)
        order_host_fence(sync->queue_set->order, HANDLE_KEY(fences[i]));
    queues_unlock(sync);
}

void hook_DestroyFence(struct device *self, PFN_vkDestroyFence next, VkDevice device, VkFence fence,
                       const VkAllocationCallbacks *pAllocator)
{
    if (fence)
        forget_fences(self->sync, 1, &fence);
    next(device, fence, pAllocator);
}

VkResult hook_ResetFences(struct device *self, PFN_vkResetFences next, VkDevice device, uint32_t fenceCount,
                          const VkFence *pFences)
{
    VkResult result = next(device, fenceCount, pFences);
    if (result == VK_SUCCESS)
        forget_fences(self->sync, fenceCount, pFences);
    return result;
}

VkResult hook_ImportFenceFdKHR(struct device *self, PFN_vkImportFenceFdKHR next, VkDevice device,
                               const VkImportFenceFdInfoKHR *pImportFenceFdInfo)
{
    VkResult result = next(device, pImportFenceFdInfo);
    if (result == VK_SUCCESS)
        forget_fences(self->sync, 1, &pImportFenceFdInfo->fence);
    return result;
}

VkResult hook_WaitForFences(struct device *self, PFN_vkWaitForFences next, VkDevice device,
                            uint32_t fenceCount, const VkFence *pFences, VkBool32 waitAll, uint64_t timeout)
{
    VkResult result = next(device, fenceCount, pFences, waitAll, timeout);
    if (result == VK_SUCCESS && (waitAll || fenceCount == 1))
        signalled(self->sync, fenceCount, pFences);
    return result;
}

VkResult hook_GetFenceStatus(struct device *self, PFN_vkGetFenceStatus next, VkDevice device, VkFence fence)
{
    VkResult result = next(device, fence);
    if (result == VK_SUCCESS)
        signalled(self->sync, 1, &fence);
    return result;
}

/* --- Queues --- */

VkResult hook_QueueWaitIdle(struct device *self, PFN_vkQueueWaitIdle next, VkQueue queue)
{
    struct queue *known = queue_find(self->sync, queue);
    VkResult result = next(queue);
    if (result != VK_SUCCESS || !known)
        return result;
    queues_lock(self->sync);
    order_host_queue(self->sync->queue_set->order, known->index);
    queues_unlock(self->sync);
    return result;
}

VkResult hook_DeviceWaitIdle(struct device *self, PFN_vkDeviceWaitIdle next, VkDevice device)
{
    VkResult result = next(device);
    if (result != VK_SUCCESS)
        return result;
    queues_lock(self->sync);
    order_host_device(self->sync->queue_set->order);
    queues_unlock(self->sync);
    return result;
}
