/* A small Vulkan application for the barrier cases (with shaders: kit_shader.h): images, buffers, command
 * buffers, submits, a headless swapchain. Every failure ends the program. What it computed comes out as a
 * hash of what it read back. */
#ifndef PROGRAMS_KIT_H
#define PROGRAMS_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* What a device may lack. */
enum kit_extra {
    KIT_PUSH_DESCRIPTORS = 1 << 0,
    KIT_UPDATE_AFTER_BIND = 1 << 1, /* of sampled images */
    KIT_PIPELINE_LIBRARIES = 1 << 2,
    KIT_CONDITIONAL_RENDERING = 1 << 3,
    KIT_TRANSFORM_FEEDBACK = 1 << 4,
    KIT_SLICE_VIEWS = 1 << 5, /* 2D views of 3D images in descriptors */
    KIT_MULTIVIEW = 1 << 6,
    KIT_PRECISE_QUERIES = 1 << 7, /* occlusionQueryPrecise, pipelineStatisticsQuery */
    KIT_DEBUG_LABELS = 1 << 8,
    KIT_PRESENT_LAYOUT = 1 << 9, /* without a surface */
    KIT_PARTIALLY_BOUND = 1 << 10,
    KIT_DYNAMIC_INDEXING = 1 << 11, /* of sampled images */
    KIT_FRAGMENT_STORES = 1 << 12,
#ifdef VK_EXT_shader_object
    KIT_SHADER_OBJECTS = 1 << 13,
#endif
};

struct kit_options {
    bool correct;   /* all barriers that are needed; else the case's faults */
    bool sync2;     /* synchronization2 is enabled and used */
    bool separate;  /* separateDepthStencilLayouts is enabled */
    bool rendering; /* kit_target(): dynamic rendering instead of render passes */
    bool swapchain;
    uint32_t extras; /* enum kit_extra: enabled where the device has them */
};

#define KIT_MAX 64

struct kit {
    struct kit_options options;
    uint32_t extras; /* of those asked for, what the device has */
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    uint32_t family, second_family; /* the second: without graphics where there is one, else the same */
    VkQueue queue, second_queue; /* the second: of second_family, or the family's second queue, or the same */
    VkCommandPool pool, second_pool;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkImage swapchain_images[KIT_MAX];
    uint64_t hash;
    /* To be destroyed. */
    VkImage images[KIT_MAX];
    VkImageView views[KIT_MAX];
    struct {
        VkBuffer buffer;
        void *data;
        VkDeviceSize size;
    } buffers[KIT_MAX];
    VkDeviceMemory memories[2 * KIT_MAX];
    VkRenderPass passes[KIT_MAX];
    VkFramebuffer framebuffers[KIT_MAX];
    VkSemaphore semaphores[KIT_MAX];
    VkSampler sampler;
    VkDescriptorSetLayout set_layouts[KIT_MAX];
    VkDescriptorPool descriptor_pools[KIT_MAX];
    VkDescriptorUpdateTemplate templates[KIT_MAX];
    VkPipelineLayout pipeline_layouts[KIT_MAX];
    VkPipeline pipelines[KIT_MAX];
    uint32_t image_count, view_count, buffer_count, memory_count, pass_count, framebuffer_count,
        semaphore_count, set_layout_count, descriptor_pool_count, template_count, pipeline_layout_count,
        pipeline_count;
};

void kit_check(VkResult result, const char *what);
void kit_check_room(uint32_t count); /* for one more object behind so many */
void kit_init(struct kit *kit, const struct kit_options *options);
void kit_finish(struct kit *kit); /* waits for the device */
bool kit_has(const struct kit *kit, uint32_t extras);
/* Of options.extras the first that the device lacks, in words; NULL if it has all. */
const char *kit_lacks(const struct kit *kit);
/* An extension's command. */
PFN_vkVoidFunction kit_function(struct kit *kit, const char *name);

#define KIT_SIDE 16 /* texels */

struct kit_range {
    VkImageAspectFlags aspects;
    uint32_t mip, mips, layer, layers;
};
#define KIT_COLOR ((struct kit_range){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1})
#define KIT_ALL                                                                                              \
    ((struct kit_range){VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS})

struct kit_image_info {
    VkFormat format;              /* R8G8B8A8_UNORM */
    uint32_t side;                /* KIT_SIDE */
    uint32_t mips, layers, depth; /* 1; depth over 1: a 3D image */
    VkImageUsageFlags usage;      /* transfers and colour attachment */
    VkImageCreateFlags flags;
};
VkImage kit_image(struct kit *kit, const struct kit_image_info *info); /* NULL: all defaults */
VkImageView kit_view(struct kit *kit, VkImage image, VkFormat format, VkImageAspectFlags aspects);
VkImageView kit_view_of(struct kit *kit, VkImage image, VkImageViewType type, VkFormat format,
                        struct kit_range range);
VkBuffer kit_buffer(struct kit *kit, VkDeviceSize size); /* host-visible, filled with a pattern */
VkBuffer kit_buffer_for(struct kit *kit, VkDeviceSize size, VkBufferUsageFlags usage);
void *kit_buffer_data(struct kit *kit, VkBuffer buffer);
VkSemaphore kit_semaphore(struct kit *kit);

VkCommandBuffer kit_begin(struct kit *kit);
VkCommandBuffer kit_begin_on(struct kit *kit, VkCommandPool pool, VkCommandBufferUsageFlags flags);
VkCommandBuffer kit_begin_secondary(struct kit *kit);
void kit_end(VkCommandBuffer commands);
void kit_submit(struct kit *kit, VkCommandBuffer commands); /* to the first queue, no semaphore, no wait */
void kit_submit_on(VkQueue queue, VkCommandBuffer commands, VkSemaphore wait, VkPipelineStageFlags wait_stage,
                   VkSemaphore signal);

/* A transition with the stages and accesses that its layouts stand for (kit_transition_families: between
 * queue families). */
void kit_transition(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
                    VkImageLayout from, VkImageLayout to);
/* The same in the correct variant alone: what a faulty program forgot. */
void kit_needed(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
                VkImageLayout from, VkImageLayout to);
void kit_transition_families(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
                             VkImageLayout from, VkImageLayout to, uint32_t from_family, uint32_t to_family);
/* Everything before is done and visible to everything after; no image. */
void kit_memory_barrier(struct kit *kit, VkCommandBuffer commands);

/* The same for what the host reads. */
void kit_host_barrier(VkCommandBuffer commands);

/* Clears with a colour that depends on `value`; the range is in TRANSFER_DST_OPTIMAL. */
void kit_clear(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
               uint32_t value);
void kit_upload(struct kit *kit, VkCommandBuffer commands, VkBuffer from, VkImage image, uint32_t mip,
                uint32_t layer);
/* Mip or layer to mip or layer, TRANSFER_SRC_OPTIMAL to TRANSFER_DST_OPTIMAL. */
void kit_blit(struct kit *kit, VkCommandBuffer commands, VkImage from, uint32_t from_mip, uint32_t from_layer,
              VkImage to, uint32_t to_mip, uint32_t to_layer);
/* Into a buffer of its own, in TRANSFER_SRC_OPTIMAL, with a host barrier; kit_hash() reads it after a wait.
 */
VkBuffer kit_read(struct kit *kit, VkCommandBuffer commands, VkImage image, uint32_t mip, uint32_t layer);
VkBuffer kit_read_aspect(struct kit *kit, VkCommandBuffer commands, VkImage image,
                         VkImageAspectFlagBits aspect);
void kit_wait(struct kit *kit);
void kit_hash(struct kit *kit, VkBuffer buffer);
/* Ends, submits and waits, and takes the image or the buffer into the hash. */
void kit_run(struct kit *kit, VkCommandBuffer commands, VkImage image, uint32_t mip, uint32_t layer);
void kit_run_for(struct kit *kit, VkCommandBuffer commands, VkBuffer result);

/* A render pass with one attachment, cleared (or loaded) with a colour, without draws. */
VkRenderPass kit_pass(struct kit *kit, VkFormat format, VkAttachmentLoadOp load, VkImageLayout initial,
                      VkImageLayout during, VkImageLayout final);
void kit_run_pass(struct kit *kit, VkCommandBuffer commands, VkRenderPass pass, VkImageView view);
/* Dynamic rendering of one colour attachment. */
void kit_render(struct kit *kit, VkCommandBuffer commands, VkImageView view, VkImageLayout layout,
                VkAttachmentLoadOp load, VkRenderingFlags flags);

#endif
