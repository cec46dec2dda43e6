/* Images and image views of the application: what they are, and the device-wide state of their subresources.
 */
#ifndef RC_SYNC_IMAGE_H
#define RC_SYNC_IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/access.h"
#include "sync/device_sync.h"
#include "sync/object.h"
#include "sync/subresource.h"

/* Why an image is left alone. The reasons are those of the design; 0: it is tracked. */
enum image_untracked {
    IMAGE_TRACKED,
    IMAGE_EXTERNAL, /* external or foreign memory */
    IMAGE_SPARSE,
    IMAGE_PROTECTED,
    IMAGE_ALIASED,        /* shares memory with another image */
    IMAGE_SHARED_PRESENT, /* shared presentable */
    IMAGE_VIDEO,          /* video DPB, or encode/decode usage */
    IMAGE_DISJOINT,       /* disjoint multi-planar */
    IMAGE_SAMPLE_LOCATIONS,
    IMAGE_NEWER, /* the application is newer than the build, or a structure isn't known */
};

/* Shared by the application's handle and by every command buffer whose contract names it; freed with the
 * last. What is not said to be guarded is constant after creation. Recording reads what stands first, on many
 * threads; what they and submits write stands last, on other cache lines. */
struct image {
    VkImage handle;
    struct device_sync *sync;
    atomic_uchar untracked; /* enum image_untracked; once set it stays */
    bool exclusive;         /* VK_SHARING_MODE_EXCLUSIVE */
    bool three_d;
    bool disjoint; /* each plane is bound to memory of its own */
    uint8_t aspect_count;
    VkImageAspectFlagBits
        aspects[2]; /* by aspect index; planes of a non-disjoint multi-planar image count as COLOR */
    struct subresource_map state; /* of struct access; under sync->lock, but for its shape. 3D images: one
                                     layer, since a transition covers all slices (spec,
                                     VkImageSubresourceRange) */
    VkFormat format;
    VkImageUsageFlags usage;     /* stencil usage included */
    uint32_t ordinal;            /* the n-th image of the device */
    struct swapchain *swapchain; /* NULL: none */
    uint32_t swapchain_index;
    struct memory_binding *bindings; /* see image_memory.c; under sync->memory_lock */
    char *name;                      /* by debug utils; under sync->lock; NULL: none */
    atomic_bool destroyed;           /* the application's handle is gone: nothing is repaired any more */
    atomic_uint described;           /* layout_bit() of every descriptor that ever referred to it */
    struct access first;             /* of `state` while it is uniform */
    uint64_t
        touched;   /* number of the last submit call that changed `state`; under sync->lock; see submit.c */
    bool acquired; /* of a swapchain image; under sync->lock. Others: true */
    uint32_t unresolved; /* batches that wait for a timeline value nobody has signalled yet and use it; under
                            sync->lock */
    atomic_uint references;
};

struct image_view {
    struct object object;
    struct image *image; /* holds a reference; never NULL */
    struct subresource_range
        range;                  /* in the image's terms: aspects by index, slices of 3D images as layer 0 */
    VkImageAspectFlags aspects; /* as the application named them */
};

/* The image behind a handle; NULL if it isn't known (then leave it alone). It lives as long as the handle:
 * take a reference to keep it. */
static inline struct image *image_find(const struct device_sync *sync, VkImage handle)
{
    return handle_map_find(&sync->images, HANDLE_KEY(handle));
}
static inline struct image_view *image_view_find(const struct device_sync *sync, VkImageView handle)
{
    return handle_map_find(&sync->views, HANDLE_KEY(handle));
}
void image_view_release(struct image_view *view); /* NULL is safe */

void image_acquire(struct image *image);
void image_release(struct image *image); /* frees with the last reference. NULL is safe. */

static inline bool image_is_tracked(const struct image *image)
{
    return atomic_load_explicit(&image->untracked, memory_order_relaxed) == IMAGE_TRACKED;
}

/* The aspects of a format by index; returns how many. Planes of multi-planar formats count as COLOR,
 * and so do unknown formats, whose images are untracked. */
uint8_t image_format_aspects(VkFormat format, VkImageAspectFlagBits aspects[2]);

/* The application's range in the image's terms. VK_REMAINING_... are resolved; DEPTH|STENCIL, COLOR and
 * PLANE_n become indices (aspects that the image doesn't have are left out, as drivers do); a depth/stencil
 * image's range that names one aspect covers both where `whole_depth_stencil` (barriers without
 * separateDepthStencilLayouts). False if it isn't within the image: what a command does to the image is then
 * unknown. */
bool image_range(const struct image *image, const VkImageSubresourceRange *range, bool whole_depth_stencil,
                 struct subresource_range *out);
bool image_layers_range(const struct image *image, const VkImageSubresourceLayers *layers,
                        struct subresource_range *out);

/* The reverse, for barriers. */
VkImageSubresourceRange image_vk_range(const struct image *image, const struct subresource_range *range);

/* Swapchain images, made known by vkGetSwapchainImagesKHR. Takes a reference to the swapchain; not acquired.
 * NULL on out of memory: the handle is unknown. */
struct image *image_create_for_swapchain(struct device_sync *sync, VkImage handle,
                                         struct swapchain *swapchain, uint32_t index,
                                         const VkSwapchainCreateInfoKHR *info);
/* The application's handle is gone, and with it its place in the maps and its reference. To be called before
 * the image is destroyed; not under sync->lock. */
void image_forget(struct image *image);
void image_abandon(struct image *image); /* the same, but for the maps: while all of them are torn down */
/* From now on left alone for good; the first reason stays. Any thread. */
void image_set_untracked(struct image *image, enum image_untracked reason);

/* Of vkSetDebugUtilsObjectNameEXT; hook_SetDebugUtilsObjectNameEXT lives in image.c, and asks
 * command_buffer.h too. */

#endif
