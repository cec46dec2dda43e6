#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "sync/image_create.h"
#include "sync/pass.h"
#include "sync/queue.h"

struct swapchain *swapchain_find(struct device_sync *sync, VkSwapchainKHR handle)
{
    return handle ? handle_map_find(&sync->swapchains, HANDLE_KEY(handle)) : NULL;
}

void swapchain_acquire(struct swapchain *swapchain)
{
    object_acquire(&swapchain->object);
}

void swapchain_release(struct swapchain *swapchain)
{
    if (!swapchain || !object_release(&swapchain->object))
        return;
    pthread_mutex_destroy(&swapchain->lock);
    free(swapchain->images);
    free(swapchain->repaired);
    free(swapchain);
}

void swapchain_set_untracked(struct swapchain *swapchain, enum image_untracked reason)
{
    pthread_mutex_lock(&swapchain->lock);
    if (!atomic_load(&swapchain->untracked))
        atomic_store(&swapchain->untracked, (unsigned char)reason);
    pthread_mutex_lock(&swapchain->sync->lock);
    for (uint32_t i = 0; i < swapchain->image_count; i++)
        if (swapchain->images[i])
            image_set_untracked(swapchain->images[i], reason);
    pthread_mutex_unlock(&swapchain->sync->lock);
    pthread_mutex_unlock(&swapchain->lock);
}

void swapchain_drop_image(struct swapchain *swapchain, const struct image *image)
{
    pthread_mutex_lock(&swapchain->sync->lock);
    if (image->swapchain_index < swapchain->image_count && swapchain->images[image->swapchain_index] == image)
        swapchain->images[image->swapchain_index] = NULL;
    pthread_mutex_unlock(&swapchain->sync->lock);
}

/* --- Creation and destruction --- */

/* Without memory the handle is unknown, and so are its images. */
static void note_swapchain(struct device_sync *sync, VkSwapchainKHR handle,
                           const VkSwapchainCreateInfoKHR *info)
{
    struct swapchain *swapchain = calloc(1, sizeof(*swapchain));
    if (!swapchain)
        return;
    enum image_untracked reason = image_judge_swapchain(info);
    object_init(&swapchain->object);
    pthread_mutex_init(&swapchain->lock, NULL);
    swapchain->handle = handle;
    swapchain->sync = sync;
    atomic_init(&swapchain->untracked, (unsigned char)reason);
    swapchain->shared = reason == IMAGE_SHARED_PRESENT;
    swapchain->exclusive = info->imageSharingMode == VK_SHARING_MODE_EXCLUSIVE;
    swapchain->info = *info;
    swapchain->info.pNext = NULL;
    swapchain->info.pQueueFamilyIndices = NULL;
    if (object_insert(&sync->swapchains, HANDLE_KEY(handle), &swapchain->object) != OBJECT_INSERTED)
        swapchain_release(swapchain);
}

VkResult hook_CreateSwapchainKHR(struct device *self, PFN_vkCreateSwapchainKHR next, VkDevice device,
                                 const VkSwapchainCreateInfoKHR *pCreateInfo,
                                 const VkAllocationCallbacks *pAllocator, VkSwapchainKHR *pSwapchain)
{
    VkResult result = next(device, pCreateInfo, pAllocator, pSwapchain);
    if (result == VK_SUCCESS)
        note_swapchain(self->sync, *pSwapchain, pCreateInfo);
    return result;
}

VkResult hook_CreateSharedSwapchainsKHR(struct device *self, PFN_vkCreateSharedSwapchainsKHR next,
                                        VkDevice device, uint32_t swapchainCount,
                                        const VkSwapchainCreateInfoKHR *pCreateInfos,
                                        const VkAllocationCallbacks *pAllocator, VkSwapchainKHR *pSwapchains)
{
    VkResult result = next(device, swapchainCount, pCreateInfos, pAllocator, pSwapchains);
    for (uint32_t i = 0; result == VK_SUCCESS && i < swapchainCount; i++)
        note_swapchain(self->sync, pSwapchains[i], &pCreateInfos[i]);
    return result;
}

/* The handles of the images go with the swapchain's. */
static void forget_images(struct swapchain *swapchain)
{
    struct device_sync *sync = swapchain->sync;
    pthread_mutex_lock(&sync->lock);
    struct image **images = swapchain->images;
    uint32_t count = images ? swapchain->image_count : 0;
    swapchain->images = NULL;
    swapchain->image_count = 0;
    pthread_mutex_unlock(&sync->lock);
    for (uint32_t i = 0; i < count; i++)
        if (images[i])
            image_forget(images[i]);
    free(images);
}

struct swapchain *swapchain_forget(struct device_sync *sync, VkSwapchainKHR handle)
{
    struct swapchain *swapchain = (struct swapchain *)object_remove(&sync->swapchains, HANDLE_KEY(handle));
    if (swapchain)
        forget_images(swapchain);
    return swapchain;
}

void swapchain_finish(struct swapchain *swapchain)
{
    if (!swapchain)
        return;
    struct device *device = swapchain->sync->device;
    pthread_mutex_lock(&swapchain->sync->lock);
    VkSemaphore *semaphores = swapchain->repaired;
    uint32_t count = swapchain->repaired_count;
    swapchain->repaired = NULL;
    swapchain->repaired_count = 0;
    pthread_mutex_unlock(&swapchain->sync->lock);
    for (uint32_t i = 0; i < count; i++)
        if (semaphores[i])
            device->next.DestroySemaphore(device->handle, semaphores[i], NULL);
    free(semaphores);
    swapchain_release(swapchain);
}

/* --- Images --- */

/* Room for `count` images; what is known already stays. */
static bool reserve_images(struct swapchain *swapchain, uint32_t count)
{
    uint32_t known = swapchain->image_count;
    if (count <= known)
        return true;
    struct image **images = calloc(count, sizeof(struct image *));
    VkSemaphore *repaired = calloc(count, sizeof(*repaired));
    if (!images || !repaired) {
        free(images);
        free(repaired);
        return false;
    }
    struct image **old_images = swapchain->images;
    VkSemaphore *old_repaired = swapchain->repaired;
    pthread_mutex_lock(&swapchain->sync->lock);
    if (known) {
        memcpy(images, old_images, known * sizeof(struct image *));
        memcpy(repaired, old_repaired, known * sizeof(*repaired));
    }
    swapchain->images = images;
    swapchain->repaired = repaired;
    swapchain->image_count = swapchain->repaired_count = count;
    pthread_mutex_unlock(&swapchain->sync->lock);
    free(old_images);
    free(old_repaired);
    return true;
}

static void note_image(struct swapchain *swapchain, uint32_t index, VkImage handle)
{
    struct device_sync *sync = swapchain->sync;
    pthread_mutex_lock(&sync->lock);
    bool known = swapchain->images[index];
    pthread_mutex_unlock(&sync->lock);
    if (known)
        return;
    struct image *image = image_create_for_swapchain(sync, handle, swapchain, index, &swapchain->info);
    if (!image)
        return;
    pthread_mutex_lock(&sync->lock);
    swapchain->images[index] = image;
    image->acquired = index < 64 && swapchain->early & (uint64_t)1 << index;
    pthread_mutex_unlock(&sync->lock);
}

VkResult hook_GetSwapchainImagesKHR(struct device *self, PFN_vkGetSwapchainImagesKHR next, VkDevice device,
                                    VkSwapchainKHR swapchain, uint32_t *pSwapchainImageCount,
                                    VkImage *pSwapchainImages)
{
    VkResult result = next(device, swapchain, pSwapchainImageCount, pSwapchainImages);
    struct swapchain *known = swapchain_find(self->sync, swapchain);
    if (result < 0 || !pSwapchainImages || !known)
        return result;
    /* Several threads may ask at once. */
    pthread_mutex_lock(&known->lock);
    if (reserve_images(known, *pSwapchainImageCount))
        for (uint32_t i = 0; i < *pSwapchainImageCount; i++)
            note_image(known, i, pSwapchainImages[i]);
    pthread_mutex_unlock(&known->lock);
    return result;
}

/* --- Acquiring --- */

/* Under sync->lock. */
static void set_acquired(struct swapchain *swapchain, uint32_t index, bool acquired)
{
    if (index < swapchain->image_count && swapchain->images[index])
        swapchain->images[index]->acquired = acquired;
    if (index >= 64)
        return;
    uint64_t bit = (uint64_t)1 << index;
    swapchain->early = acquired ? swapchain->early | bit : swapchain->early & ~bit;
}

static void note_acquired(struct device_sync *sync, VkSwapchainKHR handle, VkSemaphore semaphore,
                          VkFence fence, uint32_t index)
{
    struct swapchain *swapchain = swapchain_find(sync, handle);
    pthread_mutex_lock(&sync->lock);
    if (swapchain)
        set_acquired(swapchain, index, true);
    /* What they tell is that the presentation engine is done with the image, not any submission. */
    if (semaphore)
        order_forget_semaphore(sync->queue_set->order, HANDLE_KEY(semaphore));
    if (fence)
        order_forget_fence(sync->queue_set->order, HANDLE_KEY(fence));
    pthread_mutex_unlock(&sync->lock);
}

VkResult hook_AcquireNextImageKHR(struct device *self, PFN_vkAcquireNextImageKHR next, VkDevice device,
                                  VkSwapchainKHR swapchain, uint64_t timeout, VkSemaphore semaphore,
                                  VkFence fence, uint32_t *pImageIndex)
{
    VkResult result = next(device, swapchain, timeout, semaphore, fence, pImageIndex);
    if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR)
        note_acquired(self->sync, swapchain, semaphore, fence, *pImageIndex);
    return result;
}

VkResult hook_AcquireNextImage2KHR(struct device *self, PFN_vkAcquireNextImage2KHR next, VkDevice device,
                                   const VkAcquireNextImageInfoKHR *pAcquireInfo, uint32_t *pImageIndex)
{
    VkResult result = next(device, pAcquireInfo, pImageIndex);
    if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR)
        note_acquired(self->sync, pAcquireInfo->swapchain, pAcquireInfo->semaphore, pAcquireInfo->fence,
                      *pImageIndex);
    return result;
}

VkResult hook_ReleaseSwapchainImagesEXT(struct device *self, PFN_vkReleaseSwapchainImagesEXT next,
                                        VkDevice device, const VkReleaseSwapchainImagesInfoEXT *pReleaseInfo)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pReleaseInfo);
    struct swapchain *swapchain = swapchain_find(sync, pReleaseInfo->swapchain);
    if (result != VK_SUCCESS || !swapchain)
        return result;
    pthread_mutex_lock(&sync->lock);
    for (uint32_t i = 0; i < pReleaseInfo->imageIndexCount; i++)
        set_acquired(swapchain, pReleaseInfo->pImageIndices[i], false);
    pthread_mutex_unlock(&sync->lock);
    return result;
}
