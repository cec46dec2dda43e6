/* Render passes, framebuffers and swapchains of the application, as far as layouts go. */
#ifndef RC_SYNC_PASS_H
#define RC_SYNC_PASS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/device_sync.h"
#include "sync/image.h"

/* One attachment of a render pass. Layouts are by aspect index: [0] colour or depth, [1] stencil. */
struct pass_attachment {
    VkFormat format;
    VkImageLayout initial[2], final[2];
    VkAttachmentLoadOp load[2];
    VkAttachmentStoreOp store[2];
    bool used; /* some subpass refers to it, or its transitions happen all the same */
    struct scope
        first; /* stages and accesses of the first subpass that uses it: load operation or first use */
    struct scope last; /* ... of the last use and the store operation */
};

struct render_pass {
    atomic_uint references; /* the handle's, and of command buffers being recorded */
    uint32_t attachment_count;
    struct pass_attachment attachments[];
};

struct framebuffer {
    atomic_uint references;
    bool imageless;
    uint32_t attachment_count;
    struct image_view *views[]; /* NULL where unknown; each holds what it needs alive */
};

struct swapchain {
    VkSwapchainKHR handle;
    atomic_uint references; /* the handle's, its images', and present repairs' */
    bool shared;            /* shared presentable: left alone */
    bool exclusive;
    uint32_t image_count;
    struct image **images; /* under sync->lock; NULL until vkGetSwapchainImagesKHR */
    VkSemaphore *repaired; /* one per image, made when a present of it is repaired first; under sync->lock */
};

struct render_pass *render_pass_find(struct device_sync *sync, VkRenderPass handle); /* NULL: unknown */
void render_pass_acquire(struct render_pass *pass);
void render_pass_release(struct render_pass *pass); /* NULL is safe */
struct framebuffer *framebuffer_find(struct device_sync *sync, VkFramebuffer handle);
struct swapchain *swapchain_find(struct device_sync *sync, VkSwapchainKHR handle);

#endif
