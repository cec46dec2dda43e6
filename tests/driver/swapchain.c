/* Headless surfaces and swapchains whose images are shown nowhere. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "queue.h"

#define MIN_IMAGES 2
#define MAX_IMAGES 8

struct swapchain_image {
    VkImage image; /* of the swapchain's; not to be destroyed by the application */
    bool acquired;
};

struct swapchain {
    struct object base;
    VkDevice device;
    struct object_list images_list; /* apart from the device's: images go with the swapchain */
    uint32_t count;
    uint32_t next; /* to be acquired */
    bool retired;
    struct swapchain_image images[MAX_IMAGES];
};

static const VkSurfaceFormatKHR surface_formats[] = {
    {VK_FORMAT_B8G8R8A8_SRGB, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
    {VK_FORMAT_B8G8R8A8_UNORM, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
    {VK_FORMAT_R8G8B8A8_UNORM, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
};
#define SURFACE_FORMAT_COUNT (sizeof(surface_formats) / sizeof(surface_formats[0]))

static const VkPresentModeKHR present_modes[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
                                                 VK_PRESENT_MODE_IMMEDIATE_KHR};
#define PRESENT_MODE_COUNT (sizeof(present_modes) / sizeof(present_modes[0]))

VkResult driver_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice device, VkSurfaceKHR surface,
                                                          VkSurfaceCapabilitiesKHR *out)
{
    *out = (VkSurfaceCapabilitiesKHR){
        .minImageCount = MIN_IMAGES,
        .maxImageCount = MAX_IMAGES,
        .currentExtent = {UINT32_MAX, UINT32_MAX},
        .minImageExtent = {1, 1},
        .maxImageExtent = {16384, 16384},
        .maxImageArrayLayers = 1,
        .supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .supportedCompositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR,
        .supportedUsageFlags = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                               VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                               VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    return VK_SUCCESS;
}

VkResult driver_vkGetPhysicalDeviceSurfaceCapabilities2KHR(VkPhysicalDevice device,
                                                           const VkPhysicalDeviceSurfaceInfo2KHR *info,
                                                           VkSurfaceCapabilities2KHR *out)
{
    chain_clear(out->pNext);
    return driver_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, info->surface, &out->surfaceCapabilities);
}

VkResult driver_vkGetPhysicalDeviceSurfaceFormatsKHR(VkPhysicalDevice device, VkSurfaceKHR surface,
                                                     uint32_t *count, VkSurfaceFormatKHR *out)
{
    for (uint32_t i = 0; out && i < *count && i < SURFACE_FORMAT_COUNT; i++)
        out[i] = surface_formats[i];
    return enumerate_count(count, out != NULL, SURFACE_FORMAT_COUNT);
}

VkResult driver_vkGetPhysicalDeviceSurfaceFormats2KHR(VkPhysicalDevice device,
                                                      const VkPhysicalDeviceSurfaceInfo2KHR *info,
                                                      uint32_t *count, VkSurfaceFormat2KHR *out)
{
    for (uint32_t i = 0; out && i < *count && i < SURFACE_FORMAT_COUNT; i++)
        out[i].surfaceFormat = surface_formats[i];
    return enumerate_count(count, out != NULL, SURFACE_FORMAT_COUNT);
}

VkResult driver_vkGetPhysicalDeviceSurfacePresentModesKHR(VkPhysicalDevice device, VkSurfaceKHR surface,
                                                          uint32_t *count, VkPresentModeKHR *out)
{
    for (uint32_t i = 0; out && i < *count && i < PRESENT_MODE_COUNT; i++)
        out[i] = present_modes[i];
    return enumerate_count(count, out != NULL, PRESENT_MODE_COUNT);
}

VkResult driver_vkGetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice device, uint32_t family,
                                                     VkSurfaceKHR surface, VkBool32 *supported)
{
    *supported = VK_TRUE;
    return VK_SUCCESS;
}

VkResult driver_vkGetDeviceGroupPresentCapabilitiesKHR(VkDevice device,
                                                       VkDeviceGroupPresentCapabilitiesKHR *out)
{
    structure_clear(out, sizeof(*out));
    out->presentMask[0] = 1;
    out->modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

VkResult driver_vkGetDeviceGroupSurfacePresentModesKHR(VkDevice device, VkSurfaceKHR surface,
                                                       VkDeviceGroupPresentModeFlagsKHR *modes)
{
    *modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

static void swapchain_finish(struct object *object)
{
    struct swapchain *swapchain = (struct swapchain *)object;

    for (uint32_t i = 0; i < swapchain->count; i++)
        object_destroy(OBJECT(object, swapchain->images[i].image), VK_OBJECT_TYPE_IMAGE);
    object_list_finish(&swapchain->images_list);
}

static VkResult create_image(struct swapchain *swapchain, const VkSwapchainCreateInfoKHR *info)
{
    struct image *image = object_create(&swapchain->images_list, VK_OBJECT_TYPE_IMAGE, sizeof(*image));

    if (!image)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    image->base.finish = image_finish;
    image->device = OBJECT(device, swapchain->device);
    image->info = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = info->imageFormat,
        .extent = {info->imageExtent.width, info->imageExtent.height, 1},
        .mipLevels = 1,
        .arrayLayers = info->imageArrayLayers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = info->imageUsage,
        .sharingMode = info->imageSharingMode,
    };
    swapchain->images[swapchain->count++].image = HANDLE(VkImage, image);
    return VK_SUCCESS;
}

VkResult driver_vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR *info,
                                     const VkAllocationCallbacks *allocator, VkSwapchainKHR *out)
{
    struct swapchain *swapchain =
        object_create(object_list_of(device), VK_OBJECT_TYPE_SWAPCHAIN_KHR, sizeof(*swapchain));
    uint32_t count = info->minImageCount < MIN_IMAGES ? MIN_IMAGES : info->minImageCount;
    VkResult result = VK_SUCCESS;

    if (!swapchain)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    swapchain->base.finish = swapchain_finish;
    swapchain->device = device;
    object_list_init(&swapchain->images_list);
    if (info->oldSwapchain)
        OBJECT(swapchain, info->oldSwapchain)->retired = true;
    for (uint32_t i = 0; result == VK_SUCCESS && i < count && i < MAX_IMAGES; i++)
        result = create_image(swapchain, info);
    if (result != VK_SUCCESS) {
        object_destroy(&swapchain->base, VK_OBJECT_TYPE_SWAPCHAIN_KHR);
        return result;
    }
    *out = HANDLE(VkSwapchainKHR, swapchain);
    return VK_SUCCESS;
}

VkResult driver_vkGetSwapchainImagesKHR(VkDevice device, VkSwapchainKHR handle, uint32_t *count, VkImage *out)
{
    const struct swapchain *swapchain = OBJECT(swapchain, handle);

    for (uint32_t i = 0; out && i < *count && i < swapchain->count; i++)
        out[i] = swapchain->images[i].image;
    return enumerate_count(count, out != NULL, swapchain->count);
}

/* Takes the next image that isn't acquired; false if all are. Under the device's lock. */
static bool acquire(struct swapchain *swapchain, uint32_t *index)
{
    for (uint32_t i = 0; i < swapchain->count; i++) {
        uint32_t candidate = (swapchain->next + i) % swapchain->count;

        if (swapchain->images[candidate].acquired)
            continue;
        swapchain->images[candidate].acquired = true;
        swapchain->next = candidate + 1;
        *index = candidate;
        return true;
    }
    return false;
}

/* Images only come back through presents, which the caller's thread would have to make: waiting is in vain.
 */
VkResult driver_vkAcquireNextImageKHR(VkDevice handle, VkSwapchainKHR swapchain, uint64_t timeout,
                                      VkSemaphore semaphore, VkFence fence, uint32_t *index)
{
    struct device *device = OBJECT(device, handle);
    VkResult result = VK_SUCCESS;

    pthread_mutex_lock(&device->lock);
    if (device->lost)
        result = VK_ERROR_DEVICE_LOST;
    else if (OBJECT(swapchain, swapchain)->retired)
        result = VK_ERROR_OUT_OF_DATE_KHR;
    else if (!acquire(OBJECT(swapchain, swapchain), index))
        result = timeout ? VK_TIMEOUT : VK_NOT_READY;
    pthread_mutex_unlock(&device->lock);
    if (result == VK_SUCCESS)
        device_signal(device, OBJECT(semaphore, semaphore), OBJECT(fence, fence));
    return result;
}

VkResult driver_vkAcquireNextImage2KHR(VkDevice device, const VkAcquireNextImageInfoKHR *info,
                                       uint32_t *index)
{
    return driver_vkAcquireNextImageKHR(device, info->swapchain, info->timeout, info->semaphore, info->fence,
                                        index);
}

void swapchain_image_presented(const struct queue *queue, struct swapchain_image *image)
{
    if (queue->device->oracle.on)
        oracle_present(queue, image->image);
    image->acquired = false;
}

VkResult driver_vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct batch *batch = batch_create(info->waitSemaphoreCount, 0, 0, info->swapchainCount);
    VkResult result;

    call_current()->record.count = info->swapchainCount;
    if (!batch)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++)
        batch->waits[i].semaphore = OBJECT(semaphore, info->pWaitSemaphores[i]);
    for (uint32_t i = 0; i < info->swapchainCount; i++)
        batch->presents[i] = &OBJECT(swapchain, info->pSwapchains[i])->images[info->pImageIndices[i]];
    result = queue_append(OBJECT(queue, queue), batch);
    for (uint32_t i = 0; info->pResults && i < info->swapchainCount; i++)
        info->pResults[i] = result;
    return result;
}
