/* A Vulkan application that records, for runs (harness.h), and what the driver got of a command buffer.
 * Everything checks its results. */
#ifndef RECORD_APP_H
#define RECORD_APP_H

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

#define RECORD_OBJECTS 32
#define ALL_COLOR ((VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1})
#define REMAINING_COLOR                                                                                      \
    ((VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,                     \
                               VK_REMAINING_ARRAY_LAYERS})

struct record_options {
    bool plain;    /* without synchronization2 */
    bool separate; /* separateDepthStencilLayouts */
};

struct record_app {
    VkInstance instance;
    VkDevice device;
    VkQueue queue;
    uint32_t family, other_family;
    VkCommandPool pool;
    VkBuffer buffer;
    VkEvent event;
    VkPipelineLayout layout;
    VkImage images[RECORD_OBJECTS];
    VkDeviceMemory memories[RECORD_OBJECTS];
    VkImageView views[RECORD_OBJECTS];
    VkRenderPass passes[RECORD_OBJECTS];
    VkFramebuffer framebuffers[RECORD_OBJECTS];
    uint32_t image_count, view_count, pass_count, framebuffer_count;
};

void record_app_open(struct record_app *app, const struct record_options *options); /* NULL: none */
void record_app_close(struct record_app *app);

/* 16x16, with memory. `info` may change what is usual: RGBA8, one mip and layer, for transfers and as
 * attachment. */
VkImageCreateInfo record_app_image_info(void);
VkImage record_app_image_of(struct record_app *app, const VkImageCreateInfo *info);
VkImage record_app_image(struct record_app *app);
VkImage record_app_mips(struct record_app *app, uint32_t mips, uint32_t layers);
VkImage record_app_depth(struct record_app *app);
VkImageView record_app_view(struct record_app *app, VkImage image, VkFormat format,
                            VkImageSubresourceRange range);
/* One colour attachment between these layouts, used in COLOR_ATTACHMENT_OPTIMAL. */
VkRenderPass record_app_pass(struct record_app *app, VkImageLayout initial, VkImageLayout final);
VkFramebuffer record_app_framebuffer(struct record_app *app, VkRenderPass pass, VkImageView view,
                                     uint32_t layers);

VkCommandBuffer record_app_begin(const struct record_app *app);
VkCommandBuffer record_app_begin_secondary(const struct record_app *app);
/* One that continues this render pass. */
VkCommandBuffer record_app_begin_inside(const struct record_app *app, VkRenderPass pass);
void record_app_end(VkCommandBuffer commands);
/* Submits and waits. */
void record_app_run(const struct record_app *app, VkCommandBuffer commands);

VkImageMemoryBarrier record_app_barrier(VkImage image, VkImageLayout from, VkImageLayout to);
VkImageMemoryBarrier2 record_app_barrier2(VkImage image, VkImageLayout from, VkImageLayout to);
void record_app_give(VkCommandBuffer commands, const VkImageMemoryBarrier *barrier);
void record_app_give2(VkCommandBuffer commands, const VkImageMemoryBarrier2 *barrier);
void record_app_move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to);
void record_app_clear(VkCommandBuffer commands, VkImage image, VkImageLayout layout);
void record_app_read(const struct record_app *app, VkCommandBuffer commands, VkImage image,
                     VkImageLayout layout, uint32_t mip);
void record_app_dispatch(VkCommandBuffer commands);
void record_app_push(const struct record_app *app, VkCommandBuffer commands); /* a state command */
void record_app_render(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer);

/* --- What the driver got --- */

/* The names of its commands, with spaces between and without "vkCmd". */
const char *record_names(VkCommandBuffer commands);
#define CHECK_NAMES(commands, expected) record_check_names(__FILE__, __LINE__, commands, expected)
void record_check_names(const char *file, int line, VkCommandBuffer commands, const char *expected);
/* The arguments of a barrier call; fails if the command is another. */
const struct arguments_vkCmdPipelineBarrier *record_barrier1(VkCommandBuffer commands, uint32_t index);
const VkDependencyInfo *record_barrier2(VkCommandBuffer commands, uint32_t index);
/* The command is a vkCmdPipelineBarrier2 with one image barrier alone: that one. */
VkImageMemoryBarrier2 record_only_barrier(VkCommandBuffer commands, uint32_t index);
/* ... of this image, all of which goes from one layout to the other. */
void record_check_moved(const char *file, int line, VkCommandBuffer commands, uint32_t index, VkImage image,
                        VkImageLayout from, VkImageLayout to);
#define CHECK_MOVED(commands, index, image, from, to)                                                        \
    record_check_moved(__FILE__, __LINE__, commands, index, image, from, to)

#endif
