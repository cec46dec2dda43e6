/* Render passes, framebuffers and swapchains of the application, as far as layouts go. */
#ifndef RC_SYNC_PASS_H
#define RC_SYNC_PASS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/device_sync.h"
#include "sync/image.h"
#include "sync/object.h"

/* One attachment of a render pass. Layouts and operations are by the image's aspect index: [0] colour, depth,
 * or stencil where there is no depth; [1] stencil beside depth. Its transitions happen whether or not a
 * subpass refers to it (spec, VkAttachmentDescription); nothing is known then of when, and the scopes are
 * everything. */
struct pass_attachment {
    VkFormat format;
    VkImageLayout initial[2], final[2];
    VkAttachmentLoadOp load[2];
    VkAttachmentStoreOp store[2];
    uint32_t first_subpass, last_subpass; /* that refer to it; VK_SUBPASS_EXTERNAL: none */
    struct scope first; /* stages and accesses of the load operation and of all uses in the first subpass */
    struct scope last;  /* ... of all uses in the last subpass and the store operation */
};

struct render_pass {
    struct object object; /* command buffers being recorded keep it too */
    uint32_t view_mask;   /* multiview: layers of the attachments' views that some subpass uses; 0: off */
    uint32_t attachment_count;
    struct pass_attachment attachments[];
};

struct framebuffer {
    struct object object;
    bool imageless; /* all views are NULL: vkCmdBeginRenderPass names them */
    uint32_t layers;
    uint32_t attachment_count;
    struct image_view *views[]; /* NULL where unknown (then so is the image, or it is untracked); kept alive
                                 */
};

struct swapchain {
    struct object object; /* its images and present repairs keep it too */
    VkSwapchainKHR handle;
    struct device_sync *sync;
    atomic_uchar untracked; /* enum image_untracked, of all its images */
    bool shared;            /* shared presentable: left alone */
    bool exclusive;
    VkSwapchainCreateInfoKHR info; /* without what it points to */

    pthread_mutex_t lock; /* held while images become known; taken before sync->lock */
    /* Under sync->lock. An image is NULL until vkGetSwapchainImagesKHR, or if it is unknown. */
    uint32_t image_count;
    struct image **images;
    VkSemaphore *repaired; /* one per image; VK_NULL_HANDLE until a present of it is repaired first */
    uint32_t repaired_count;
    uint64_t early; /* bits of acquired images, for those that become known later */
};

struct render_pass *render_pass_find(struct device_sync *sync, VkRenderPass handle); /* NULL: unknown */
void render_pass_release(struct render_pass *pass);                                  /* NULL is safe */

/* Where one can't be known (out of memory), the images behind its views become untracked. */
struct framebuffer *framebuffer_find(struct device_sync *sync, VkFramebuffer handle);
void framebuffer_release(struct framebuffer *framebuffer); /* NULL is safe */

struct swapchain *swapchain_find(struct device_sync *sync, VkSwapchainKHR handle);
void swapchain_acquire(struct swapchain *swapchain);
void swapchain_release(struct swapchain *swapchain); /* NULL is safe */
/* The image isn't its any more; the caller gets the handle's reference. Not under sync->lock. */
void swapchain_drop_image(struct swapchain *swapchain, const struct image *image);
/* From now on all its images are left alone. Not under sync->lock. */
void swapchain_set_untracked(struct swapchain *swapchain, enum image_untracked reason);

/* Around vkDestroySwapchainKHR (layer/surface.c). Before it: the handle and its images become unknown; what
 * is returned, NULL where there is nothing, goes to swapchain_finish() afterwards, which destroys the
 * semaphores. */
struct swapchain *swapchain_forget(struct device_sync *sync, VkSwapchainKHR handle);
void swapchain_finish(struct swapchain *swapchain);

#endif
