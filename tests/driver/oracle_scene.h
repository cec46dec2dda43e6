/* A small scene for the oracle's tests: a device with three queue families, command buffers one at a time,
 * and images whose destruction nobody has to think of. Every call is checked. */
#ifndef ORACLE_SCENE_H
#define ORACLE_SCENE_H

#include <stdbool.h>

#include "vulkan_client.h"

#define SCENE_MAX 32
#define SCENE_SIZE 16 /* width and height of images */
#define SCENE_COLOR VK_FORMAT_R8G8B8A8_UNORM
#define SCENE_DEPTH VK_FORMAT_D32_SFLOAT_S8_UINT

struct scene_options {
    bool validated;        /* VK_LAYER_KHRONOS_validation above the driver */
    bool synchronization1; /* the feature synchronization2 isn't enabled */
    bool joint_layouts;    /* neither is separateDepthStencilLayouts */
    bool shaders;          /* what test_oracle_shader.c needs is enabled: features and extensions */
};

struct scene {
    struct vulkan_client client;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t messages; /* errors of validation */
    VkQueue queues[CLIENT_MAX_FAMILIES];
    VkCommandPool pools[CLIENT_MAX_FAMILIES];
    VkBuffer buffer;
    VkDeviceMemory buffer_memory;
    uint32_t family;     /* that `cmd` is for */
    VkCommandBuffer cmd; /* being recorded */
    uint32_t image_count, view_count, pass_count, framebuffer_count;
    VkImage images[SCENE_MAX];
    VkDeviceMemory memories[SCENE_MAX];
    VkImageView views[SCENE_MAX];
    VkRenderPass passes[SCENE_MAX];
    VkFramebuffer framebuffers[SCENE_MAX];
    VkEvent event;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    uint32_t swapchain_image_count;
    VkImage swapchain_images[SCENE_MAX];
};

/* The driver must have been configured before. */
void scene_init(struct scene *scene, const struct scene_options *options);
void scene_finish(struct scene *scene);

/* Zero: a color image of one mip, layer and sample. */
struct scene_image {
    VkFormat format;
    VkImageType type;
    uint32_t mips, layers, depth;
    VkSampleCountFlagBits samples;
    VkImageUsageFlags usage; /* besides transfers and the attachment that fits the format */
    VkImageLayout initial;
    bool linear;
    bool concurrent;
    VkImageCreateFlags flags;
};
VkImage scene_image(struct scene *scene, const struct scene_image *wanted);
VkImage scene_color(struct scene *scene);
VkImage scene_depth(struct scene *scene);
VkImageView scene_view(struct scene *scene, VkImage image, const VkImageSubresourceRange *range);
VkImageView scene_color_view(struct scene *scene, VkImage image);
VkImageView scene_depth_view(struct scene *scene, VkImage image);
VkRenderPass scene_pass(struct scene *scene, const VkRenderPassCreateInfo *info);
VkRenderPass scene_pass2(struct scene *scene, const VkRenderPassCreateInfo2 *info);
VkFramebuffer scene_framebuffer(struct scene *scene, VkRenderPass pass, uint32_t count,
                                const VkImageView *views, const void *chain);

#define SCENE_ALL_COLOR                                                                                      \
    (VkImageSubresourceRange)                                                                                \
    {                                                                                                        \
        VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS                  \
    }
#define SCENE_ALL_DEPTH                                                                                      \
    (VkImageSubresourceRange)                                                                                \
    {                                                                                                        \
        VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,              \
            VK_REMAINING_ARRAY_LAYERS                                                                        \
    }

/* Records into scene->cmd, submits to the family's queue and waits. */
void scene_begin(struct scene *scene, uint32_t family);
void scene_end(struct scene *scene);
/* A command buffer to be submitted or executed later; it is scene->cmd until scene_record_end(). */
VkCommandBuffer scene_record(struct scene *scene, VkCommandBufferLevel level);
void scene_record_end(struct scene *scene);
void scene_submit(struct scene *scene, uint32_t family, uint32_t count, const VkCommandBuffer *buffers);

/* All of a color image, by vkCmdPipelineBarrier, everything before and everything after. */
void scene_barrier(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to);
/* By vkCmdPipelineBarrier2. */
void scene_barrier2(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to);
void scene_barrier_range(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to,
                         VkImageSubresourceRange range);
void scene_barrier_family(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to,
                          uint32_t source, uint32_t destination);
VkImageMemoryBarrier scene_image_barrier(VkImage image, VkImageLayout from, VkImageLayout to,
                                         VkImageSubresourceRange range);
void scene_barriers(struct scene *scene, uint32_t count, const VkImageMemoryBarrier *barriers);

/* Mip 0, layer 0, and the buffer. */
void scene_copy_in(struct scene *scene, VkImage image, VkImageLayout layout);
void scene_copy_out(struct scene *scene, VkImage image, VkImageLayout layout);
void scene_clear(struct scene *scene, VkImage image, VkImageLayout layout);

/* A swapchain of color images; its images, and the next one to draw to. */
void scene_swapchain(struct scene *scene);
VkImage scene_acquire(struct scene *scene, uint32_t *index);
void scene_present(struct scene *scene, uint32_t index);

#endif
