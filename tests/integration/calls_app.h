/* A Vulkan application that records, for runs (harness.h), and what the driver got of a command buffer.
 * Everything checks its results. */
#ifndef CALLS_APP_H
#define CALLS_APP_H

#include <vulkan/vulkan.h>

#include "driver_records.h"
#include "fault_driver.h"
#include "harness.h"

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define SRC VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DST VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define COLOR VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define READ VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define DEPTH VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL

#define CALLS_OBJECTS 32
#define ALL_COLOR ((VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1})
#define REMAINING_COLOR                                                                                      \
    ((VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,                     \
                               VK_REMAINING_ARRAY_LAYERS})

struct calls_options {
    bool plain;    /* without synchronization2 */
    bool separate; /* separateDepthStencilLayouts */
};

struct calls_app {
    VkInstance instance;
    VkDevice device;
    VkQueue queue;
    uint32_t family, other_family;
    VkCommandPool pool;
    VkBuffer buffer;
    VkEvent event;
    VkPipelineLayout layout;
    VkImage images[CALLS_OBJECTS];
    VkDeviceMemory memories[CALLS_OBJECTS];
    VkImageView views[CALLS_OBJECTS];
    VkRenderPass passes[CALLS_OBJECTS];
    VkFramebuffer framebuffers[CALLS_OBJECTS];
    uint32_t image_count, view_count, pass_count, framebuffer_count;
};

void calls_app_open(struct calls_app *app, const struct calls_options *options); /* NULL: none */
void calls_app_close(struct calls_app *app);

/* 16x16, with memory. `info` may change what is usual: RGBA8, one mip and layer, for transfers and as
 * attachment. */
VkImageCreateInfo calls_app_image_info(void);
VkImage calls_app_image_of(struct calls_app *app, const VkImageCreateInfo *info);
VkImage calls_app_image(struct calls_app *app);
VkImage calls_app_mips(struct calls_app *app, uint32_t mips, uint32_t layers);
VkImage calls_app_depth(struct calls_app *app);
VkImageView calls_app_view(struct calls_app *app, VkImage image, VkFormat format,
                           VkImageSubresourceRange range);
/* One colour attachment between these layouts, used in COLOR_ATTACHMENT_OPTIMAL. */
VkRenderPass calls_app_pass(struct calls_app *app, VkImageLayout initial, VkImageLayout final);
VkFramebuffer calls_app_framebuffer(struct calls_app *app, VkRenderPass pass, VkImageView view,
                                    uint32_t layers);

VkCommandBuffer calls_app_begin(const struct calls_app *app);
VkCommandBuffer calls_app_begin_secondary(const struct calls_app *app);
/* One that continues this render pass. */
VkCommandBuffer calls_app_begin_inside(const struct calls_app *app, VkRenderPass pass);
void calls_app_end(VkCommandBuffer commands);
/* Submits and waits. */
void calls_app_run(const struct calls_app *app, VkCommandBuffer commands);

VkImageMemoryBarrier calls_app_barrier(VkImage image, VkImageLayout from, VkImageLayout to);
VkImageMemoryBarrier2 calls_app_barrier2(VkImage image, VkImageLayout from, VkImageLayout to);
void calls_app_give(VkCommandBuffer commands, const VkImageMemoryBarrier *barrier);
void calls_app_give2(VkCommandBuffer commands, const VkImageMemoryBarrier2 *barrier);
void calls_app_move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to);
void calls_app_clear(VkCommandBuffer commands, VkImage image, VkImageLayout layout);
void calls_app_read(const struct calls_app *app, VkCommandBuffer commands, VkImage image,
                    VkImageLayout layout, uint32_t mip);
void calls_app_dispatch(VkCommandBuffer commands);
void calls_app_push(const struct calls_app *app, VkCommandBuffer commands); /* a state command */
void calls_app_render(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer);

/* --- What the driver got --- */

/* The names of its commands, with spaces between and without "vkCmd". */
const char *calls_names(VkCommandBuffer commands);
#define CHECK_NAMES(commands, expected) calls_check_names(__FILE__, __LINE__, commands, expected)
void calls_check_names(const char *file, int line, VkCommandBuffer commands, const char *expected);
/* The arguments of a barrier call; fails if the command is another. */
const struct arguments_vkCmdPipelineBarrier *calls_barrier1(VkCommandBuffer commands, uint32_t index);
const VkDependencyInfo *calls_barrier2(VkCommandBuffer commands, uint32_t index);
/* The command is a vkCmdPipelineBarrier2 with one image barrier alone: that one. */
VkImageMemoryBarrier2 calls_only_barrier(VkCommandBuffer commands, uint32_t index);
/* ... of this image, all of which goes from one layout to the other. */
void calls_check_moved(const char *file, int line, VkCommandBuffer commands, uint32_t index, VkImage image,
                       VkImageLayout from, VkImageLayout to);
#define CHECK_MOVED(commands, index, image, from, to)                                                        \
    calls_check_moved(__FILE__, __LINE__, commands, index, image, from, to)

#endif
