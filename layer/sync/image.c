#include "sync/image.h"

#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync/image_create.h"
#include "sync/image_memory.h"
#include "sync/pass.h"

/* Spec, VkImageAspectFlagBits: one layout for all planes, unless the image is disjoint; those are untracked.
 */
#define PLANES (VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT | VK_IMAGE_ASPECT_PLANE_2_BIT)
#define DEPTH_STENCIL (VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT)

uint8_t image_format_aspects(VkFormat format, VkImageAspectFlagBits aspects[2])
{
    VkImageAspectFlags all = format_aspects(format);
    uint8_t count = 0;
    aspects[1] = 0;
    if (all & VK_IMAGE_ASPECT_DEPTH_BIT)
        aspects[count++] = VK_IMAGE_ASPECT_DEPTH_BIT;
    if (all & VK_IMAGE_ASPECT_STENCIL_BIT)
        aspects[count++] = VK_IMAGE_ASPECT_STENCIL_BIT;
    if (count == 0)
        aspects[count++] = VK_IMAGE_ASPECT_COLOR_BIT;
    return count;
}

void image_acquire(struct image *image)
{
    atomic_fetch_add_explicit(&image->references, 1, memory_order_relaxed);
}

void image_release(struct image *image)
{
    if (!image || atomic_fetch_sub_explicit(&image->references, 1, memory_order_acq_rel) != 1)
        return;
    subresource_map_finish(&image->state);
    swapchain_release(image->swapchain);
    free(image->name);
    free(image);
}

void image_set_untracked(struct image *image, enum image_untracked reason)
{
    unsigned char tracked = IMAGE_TRACKED;
    atomic_compare_exchange_strong(&image->untracked, &tracked, (unsigned char)reason);
}

void image_abandon(struct image *image)
{
    image_memory_unbind(image);
    atomic_store(&image->destroyed, true);
    image_release(image);
}

void image_forget(struct image *image)
{
    uint64_t key = HANDLE_KEY(image->handle);
    if (handle_map_find(&image->sync->images, key) == image)
        handle_map_remove(&image->sync->images, key);
    image_abandon(image);
}

/* One reference, the handle's. */
static struct image *create(struct device_sync *sync, VkImage handle, const VkImageCreateInfo *info,
                            enum image_untracked reason)
{
    struct image *image = calloc(1, sizeof(*image));
    if (!image)
        return NULL;
    image->handle = handle;
    image->sync = sync;
    atomic_init(&image->references, 1);
    atomic_init(&image->untracked, (unsigned char)(sync->newer ? IMAGE_NEWER : reason));
    atomic_init(&image->destroyed, false);
    image->exclusive = info->sharingMode == VK_SHARING_MODE_EXCLUSIVE;
    image->three_d = info->imageType == VK_IMAGE_TYPE_3D;
    image->disjoint = info->flags & VK_IMAGE_CREATE_DISJOINT_BIT;
    image->aspect_count = image_format_aspects(info->format, image->aspects);
    image->format = info->format;
    image->usage = image_all_usage(info);
    image->ordinal = (uint32_t)(atomic_fetch_add(&sync->image_ordinal, 1) + 1);
    image->acquired = true;
    image->first = access_initial(info->initialLayout);
    struct subresource_shape shape = {
        .aspects = image->aspect_count,
        .mips = info->mipLevels,
        .layers = image->three_d ? 1 : info->arrayLayers,
    };
    subresource_map_init(&image->state, &shape, sizeof(image->first), &image->first, NULL);
    if (!image_is_tracked(image))
        atomic_fetch_add_explicit(&sync->counters.images_unknown, 1, memory_order_relaxed);
    return image;
}

/* The application can use the handle from here on. */
static bool publish(struct image *image)
{
    /* Its destruction was missed, since two images can't have one handle. */
    struct image *stale = image_find(image->sync, image->handle);
    if (stale && stale->swapchain)
        swapchain_drop_image(stale->swapchain, stale);
    if (stale)
        image_forget(stale);
    return handle_map_insert(&image->sync->images, HANDLE_KEY(image->handle), image);
}

struct image *image_create_for_swapchain(struct device_sync *sync, VkImage handle,
                                         struct swapchain *swapchain, uint32_t index,
                                         const VkSwapchainCreateInfoKHR *info)
{
    VkImageCreateInfo like = {
        .imageType = VK_IMAGE_TYPE_2D,
        .format = info->imageFormat,
        .mipLevels = 1,
        .arrayLayers = info->imageArrayLayers,
        .usage = info->imageUsage,
        .sharingMode = info->imageSharingMode,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    struct image *image =
        create(sync, handle, &like, (enum image_untracked)atomic_load(&swapchain->untracked));
    if (!image)
        return NULL;
    image->acquired = false;
    image->swapchain = swapchain;
    image->swapchain_index = index;
    swapchain_acquire(swapchain);
    if (!publish(image)) {
        image_release(image);
        return NULL;
    }
    return image;
}

VkResult hook_CreateImage(struct device *self, PFN_vkCreateImage next, VkDevice device,
                          const VkImageCreateInfo *pCreateInfo, const VkAllocationCallbacks *pAllocator,
                          VkImage *pImage)
{
    VkResult result = next(device, pCreateInfo, pAllocator, pImage);
    if (result != VK_SUCCESS)
        return result;
    bool slices = device_has_extension(self, "VK_KHR_maintenance9");
    struct image *image = create(self->sync, *pImage, pCreateInfo, image_judge(pCreateInfo, slices));
    if (image && !publish(image))
        image_release(image);
    return result;
}

void hook_DestroyImage(struct device *self, PFN_vkDestroyImage next, VkDevice device, VkImage image,
                       const VkAllocationCallbacks *pAllocator)
{
    struct image *known = image_find(self->sync, image);
    if (known)
        image_forget(known);
    next(device, image, pAllocator);
}

/* Indices of the aspects in the mask; 0: none of the image's. */
static uint32_t aspect_indices(const struct image *image, VkImageAspectFlags mask)
{
    if (mask & PLANES)
        mask |= VK_IMAGE_ASPECT_COLOR_BIT;
    uint32_t indices = 0;
    for (uint32_t i = 0; i < image->aspect_count; i++)
        if (mask & image->aspects[i])
            indices |= 1u << i;
    return indices;
}

/* How many elements `count` from `base` on are: UINT32_MAX is VK_REMAINING_MIP_LEVELS and
 * VK_REMAINING_ARRAY_LAYERS. 0 if they aren't within `all`. */
static uint32_t resolve_count(uint32_t all, uint32_t base, uint32_t count)
{
    uint32_t left = base < all ? all - base : 0;
    if (count == UINT32_MAX)
        return left;
    return count <= left ? count : 0;
}

bool image_range(const struct image *image, const VkImageSubresourceRange *range, bool whole_depth_stencil,
                 struct subresource_range *out)
{
    const struct subresource_shape *shape = &image->state.shape;
    VkImageAspectFlags mask = range->aspectMask;
    if (whole_depth_stencil && (mask & DEPTH_STENCIL))
        mask |= DEPTH_STENCIL;
    out->aspects = aspect_indices(image, mask);
    out->base_mip = range->baseMipLevel;
    out->mip_count = resolve_count(shape->mips, range->baseMipLevel, range->levelCount);
    out->base_layer = image->three_d ? 0 : range->baseArrayLayer;
    out->layer_count =
        image->three_d ? 1 : resolve_count(shape->layers, range->baseArrayLayer, range->layerCount);
    return out->aspects && out->mip_count && out->layer_count;
}

bool image_layers_range(const struct image *image, const VkImageSubresourceLayers *layers,
                        struct subresource_range *out)
{
    VkImageSubresourceRange range = {layers->aspectMask, layers->mipLevel, 1, layers->baseArrayLayer,
                                     layers->layerCount};
    return image_range(image, &range, false, out);
}

VkImageSubresourceRange image_vk_range(const struct image *image, const struct subresource_range *range)
{
    VkImageAspectFlags mask = 0;
    for (uint32_t i = 0; i < image->aspect_count; i++)
        if (range->aspects & (1u << i))
            mask |= image->aspects[i];
    return (VkImageSubresourceRange){mask, range->base_mip, range->mip_count, range->base_layer,
                                     range->layer_count};
}

/* Where the name of an object is kept, or NULL. Under sync->lock. */
static char **name_of(struct device_sync *sync, VkObjectType type, uint64_t handle)
{
    if (type == VK_OBJECT_TYPE_IMAGE && handle) {
        struct image *image = handle_map_find(&sync->images, handle);
        return image ? &image->name : NULL;
    }
    if (type == VK_OBJECT_TYPE_COMMAND_BUFFER && handle) {
        struct command_buffer *buffer = command_buffer_find(sync, (VkCommandBuffer)(uintptr_t)handle);
        return buffer ? &buffer->name : NULL;
    }
    return NULL;
}

VkResult hook_SetDebugUtilsObjectNameEXT(struct device *self, PFN_vkSetDebugUtilsObjectNameEXT next,
                                         VkDevice device, const VkDebugUtilsObjectNameInfoEXT *pNameInfo)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pNameInfo);
    /* Spec: an empty or absent name takes the old one away. */
    char *name = pNameInfo->pObjectName && *pNameInfo->pObjectName ? strdup(pNameInfo->pObjectName) : NULL;
    pthread_mutex_lock(&sync->lock);
    char **place = name_of(sync, pNameInfo->objectType, pNameInfo->objectHandle);
    if (place) {
        char *old = *place;
        *place = name;
        name = old;
    }
    pthread_mutex_unlock(&sync->lock);
    free(name);
    return result;
}
