/* A Vulkan application that submits and presents, for runs (harness.h): images of one mip and layer, command
 * buffers that move them and read them, and what the driver got of it. Everything checks its results unless a
 * function returns them. */
#ifndef SUBMIT_APP_H
#define SUBMIT_APP_H

#include <vulkan/vulkan.h>

#include "fault_driver.h"
#include "harness.h"

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define SRC VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DST VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define PRESENT VK_IMAGE_LAYOUT_PRESENT_SRC_KHR

#define OBJECTS_MAX 16

enum submit_family {
    FAMILY_ALL,      /* graphics, compute, transfer: two queues */
    FAMILY_TRANSFER, /* one queue */
    FAMILY_COUNT,
};

struct submit_app {
    VkInstance instance;
    VkDevice device;
    uint32_t families[FAMILY_COUNT];
    VkQueue queue, second, transfer; /* of FAMILY_ALL, FAMILY_ALL, FAMILY_TRANSFER */
    VkCommandPool pools[FAMILY_COUNT];
    VkSurfaceKHR surface;
    VkBuffer buffer; /* to copy into */
    /* Destroyed with the rest. */
    VkImage images[OBJECTS_MAX];
    VkDeviceMemory memories[OBJECTS_MAX];
    VkSemaphore semaphores[OBJECTS_MAX];
    uint32_t image_count, semaphore_count;
    VkFence fence;
    VkSwapchainKHR swapchain;
};

/* What isn't as usual. */
struct submit_app_config {
    const void *instance_chain; /* VkInstanceCreateInfo::pNext */
    bool debug_utils;           /* VK_EXT_debug_utils is enabled */
    const void *device_chain;   /* behind the device's features */
    uint32_t api_version;       /* 1.3 */
};
void submit_app_open_with(struct submit_app *app, const struct submit_app_config *config);
void submit_app_open(struct submit_app *app);
void submit_app_close(struct submit_app *app);

/* 2D, RGBA8, for transfers, with memory. */
VkImage submit_app_image(struct submit_app *app);
VkSemaphore submit_app_semaphore(struct submit_app *app);
VkSemaphore submit_app_timeline(struct submit_app *app, uint64_t value);

/* --- Command buffers --- */

VkCommandBuffer submit_app_begin(const struct submit_app *app, enum submit_family family);
void submit_app_end(VkCommandBuffer commands);
void submit_app_move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to);
void submit_app_transfer_ownership(const struct submit_app *app, VkCommandBuffer commands, VkImage image,
                                   VkImageLayout layout, enum submit_family from, enum submit_family to);
void submit_app_clear(VkCommandBuffer commands, VkImage image, VkImageLayout layout);
void submit_app_read(const struct submit_app *app, VkCommandBuffer commands, VkImage image,
                     VkImageLayout layout);
/* Complete ones. They may be submitted again while they are in use. */
VkCommandBuffer submit_app_mover(const struct submit_app *app, VkImage image, VkImageLayout from,
                                 VkImageLayout to);
VkCommandBuffer submit_app_reader(const struct submit_app *app, VkImage image);

/* --- Submits --- */

struct submit_sync {
    VkSemaphore wait, signal;          /* VK_NULL_HANDLE: none */
    VkPipelineStageFlags stage;        /* of the wait; 0: ALL_COMMANDS */
    uint64_t wait_value, signal_value; /* of timelines */
    VkFence fence;
    const void *chain; /* of a batch without timeline values */
};
/* `sync` may be NULL. */
VkResult submit_app_try(VkQueue queue, VkCommandBuffer commands, const struct submit_sync *sync);
void submit_app_submit(VkQueue queue, VkCommandBuffer commands, const struct submit_sync *sync);

/* --- What the driver got in the last submit that had a batch --- */

/* The application's own array went down. */
bool submit_app_was_unchanged(void);
/* Before the command buffer stands a patch with one barrier, of this image and between these layouts;
 * `barrier` (or NULL) gets it. */
bool submit_app_was_patched(VkImage image, VkImageLayout from, VkImageLayout to,
                            VkImageMemoryBarrier2 *barrier);

/* --- A swapchain --- */

/* One per application, of two images. */
void submit_app_swapchain(struct submit_app *app, VkImage images[2]);
uint32_t submit_app_acquire(const struct submit_app *app, VkSemaphore semaphore);
VkResult submit_app_present(const struct submit_app *app, VkQueue queue, uint32_t index, VkSemaphore wait);
/* The last command buffer that was recorded is one barrier, of this image from this layout to PRESENT. */
bool submit_app_was_repaired(VkImage image, VkImageLayout from);

#endif
