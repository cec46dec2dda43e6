#include <stdlib.h>

#include "chain.h"
#include "compat.h"
#include "hooks.h"
#include "sync/image.h"

void image_view_release(struct image_view *view)
{
    if (!view || !object_release(&view->object))
        return;
    image_release(view->image);
    free(view);
}

/* Structures that don't change which subresources a view has; VK_EXT_image_sliced_view_of_3d chooses slices,
 * and those have one layout. */
static const VkStructureType known[] = {
    VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO,
    VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO,
    VK_STRUCTURE_TYPE_IMAGE_VIEW_ASTC_DECODE_MODE_EXT,
    VK_STRUCTURE_TYPE_OPAQUE_CAPTURE_DESCRIPTOR_DATA_CREATE_INFO_EXT,
    VK_STRUCTURE_TYPE_IMAGE_VIEW_MIN_LOD_CREATE_INFO_EXT,
    VK_STRUCTURE_TYPE_IMAGE_VIEW_SAMPLE_WEIGHT_CREATE_INFO_QCOM,
    COMPAT_STRUCTURE_TYPE_IMAGE_VIEW_SLICED_CREATE_INFO,
};

/* NULL where the view isn't understood or there is no memory. */
static struct image_view *create(struct image *image, const VkImageViewCreateInfo *info)
{
    struct subresource_range range;
    if (!chain_is_of(info->pNext, known, sizeof(known) / sizeof(known[0])) ||
        !image_range(image, &info->subresourceRange, false, &range))
        return NULL;
    struct image_view *view = malloc(sizeof(*view));
    if (!view)
        return NULL;
    object_init(&view->object);
    view->image = image;
    view->range = range;
    view->aspects = info->subresourceRange.aspectMask;
    image_acquire(image);
    return view;
}

VkResult hook_CreateImageView(struct device *self, PFN_vkCreateImageView next, VkDevice device,
                              const VkImageViewCreateInfo *pCreateInfo,
                              const VkAllocationCallbacks *pAllocator, VkImageView *pView)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pView);
    struct image *image = image_find(sync, pCreateInfo->image);
    if (result != VK_SUCCESS || !image)
        return result;
    struct image_view *view = create(image, pCreateInfo);
    enum object_inserted inserted =
        view ? object_insert(&sync->views, HANDLE_KEY(*pView), &view->object) : OBJECT_NO_MEMORY;
    if (inserted != OBJECT_INSERTED)
        image_view_release(view);
    /* What is done to the image through this view won't be seen. */
    if (inserted == OBJECT_NO_MEMORY)
        image_set_untracked(image, IMAGE_NEWER);
    return result;
}

void hook_DestroyImageView(struct device *self, PFN_vkDestroyImageView next, VkDevice device,
                           VkImageView imageView, const VkAllocationCallbacks *pAllocator)
{
    struct object *object = object_remove(&self->sync->views, HANDLE_KEY(imageView));
    image_view_release((struct image_view *)object);
    next(device, imageView, pAllocator);
}
