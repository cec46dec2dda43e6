/* A Vulkan application that records commands, for runs (harness.h): one image of each kind that matters, and
 * what the driver got of what was recorded. Everything checks its results.
 *
 * Whatever is recorded is written once, as a function of a table of commands: called through the layer it
 * says what the layer makes of it, called right into the driver it says what the application meant. */
#ifndef RECORD_APP_H
#define RECORD_APP_H

#include <vulkan/vulkan.h>

#include "fault_driver.h"
#include "harness.h"

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define SRC VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DST VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define SHADER VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define TARGET VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define DEPTH VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define DEPTH_READ VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL

#define COLOR_BIT VK_IMAGE_ASPECT_COLOR_BIT
#define DEPTH_BIT VK_IMAGE_ASPECT_DEPTH_BIT
#define STENCIL_BIT VK_IMAGE_ASPECT_STENCIL_BIT
#define BOTH_BITS (VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT)

#define RECORD_COMMANDS(X)                                                                                   \
    X(CreateCommandPool)                                                                                     \
    X(DestroyCommandPool)                                                                                    \
    X(AllocateCommandBuffers)                                                                                \
    X(BeginCommandBuffer)                                                                                    \
    X(EndCommandBuffer)                                                                                      \
    X(CmdPipelineBarrier)                                                                                    \
    X(CmdPipelineBarrier2)                                                                                   \
    X(CmdSetEvent)                                                                                           \
    X(CmdResetEvent)                                                                                         \
    X(CmdWaitEvents)                                                                                         \
    X(CmdSetEvent2)                                                                                          \
    X(CmdWaitEvents2)                                                                                        \
    X(CmdCopyImage)                                                                                          \
    X(CmdCopyImage2)                                                                                         \
    X(CmdBlitImage)                                                                                          \
    X(CmdBlitImage2)                                                                                         \
    X(CmdResolveImage)                                                                                       \
    X(CmdResolveImage2)                                                                                      \
    X(CmdCopyBufferToImage)                                                                                  \
    X(CmdCopyBufferToImage2)                                                                                 \
    X(CmdCopyImageToBuffer)                                                                                  \
    X(CmdCopyImageToBuffer2)                                                                                 \
    X(CmdClearColorImage)                                                                                    \
    X(CmdClearDepthStencilImage)                                                                             \
    X(CmdClearAttachments)                                                                                   \
    X(CmdBeginRenderPass)                                                                                    \
    X(CmdNextSubpass)                                                                                        \
    X(CmdEndRenderPass)                                                                                      \
    X(CmdBeginRenderPass2)                                                                                   \
    X(CmdEndRenderPass2)                                                                                     \
    X(CmdBeginRendering)                                                                                     \
    X(CmdEndRendering)                                                                                       \
    X(CmdExecuteCommands)                                                                                    \
    X(CmdFillBuffer)                                                                                         \
    X(CmdCopyBuffer)                                                                                         \
    X(CmdUpdateBuffer)                                                                                       \
    X(CmdDispatch)                                                                                           \
    X(CmdDraw)                                                                                               \
    X(CmdDrawIndexed)                                                                                        \
    X(CmdBindPipeline)                                                                                       \
    X(CmdBindDescriptorSets)                                                                                 \
    X(CmdPushDescriptorSetKHR)                                                                               \
    X(CmdPushDescriptorSetWithTemplateKHR)                                                                   \
    X(CmdSetBlendConstants)                                                                                  \
    X(CmdSetStencilReference)                                                                                \
    X(CmdSetViewport)                                                                                        \
    X(CmdSetScissor)                                                                                         \
    X(CmdSetLineWidth)                                                                                       \
    X(CmdSetCullMode)                                                                                        \
    X(CmdSetDeviceMask)                                                                                      \
    X(CmdBindVertexBuffers)                                                                                  \
    X(CmdBindIndexBuffer)                                                                                    \
    X(CmdPushConstants)                                                                                      \
    X(CmdBeginQuery)                                                                                         \
    X(CmdEndQuery)                                                                                           \
    X(CmdResetQueryPool)                                                                                     \
    X(CmdWriteTimestamp)                                                                                     \
    X(CmdBeginDebugUtilsLabelEXT)                                                                            \
    X(CmdEndDebugUtilsLabelEXT)                                                                              \
    X(CmdInsertDebugUtilsLabelEXT)

struct record_vk {
#define RECORD_DECLARE(name) PFN_vk##name name;
    RECORD_COMMANDS(RECORD_DECLARE)
#undef RECORD_DECLARE
};

enum record_image {
    IMAGE_COLOR,
    IMAGE_OTHER,
    IMAGE_ARRAY,     /* 4 mips, 6 layers */
    IMAGE_VOLUME,    /* 3D, 2 mips, 8 slices */
    IMAGE_DEPTH,     /* and stencil */
    IMAGE_SAMPLES,   /* 4 samples */
    IMAGE_EXTERNAL,  /* external memory */
    IMAGE_LOCATIONS, /* depth and stencil, compatible with sample locations */
    IMAGE_KINDS,
    IMAGE_MANY = IMAGE_KINDS, /* 40 more like IMAGE_COLOR */
    IMAGE_COUNT = IMAGE_MANY + 40,
};

enum record_view {
    VIEW_COLOR,
    VIEW_OTHER,
    VIEW_ARRAY, /* mip 0, all layers */
    VIEW_SLICE, /* 3D: slices 2 and 3 of mip 0 as layers */
    VIEW_DEPTH,
    VIEW_SAMPLES,
    VIEW_COUNT,
};

struct record_options {
    bool no_sync2; /* synchronization2 isn't enabled; the layer may do so */
    bool separate; /* separateDepthStencilLayouts */
    bool old;      /* Vulkan 1.2, and what came later by extensions, whose names the commands then have */
    bool shaders;  /* descriptors in all their kinds; images for storage */
};

struct record_app {
    struct record_options options;
    VkInstance instance;
    VkDevice device;
    VkQueue queue, second; /* of one family */
    uint32_t family, other_family;
    struct record_vk layer, driver;
    VkCommandPool pool, driver_pool;
    VkImage images[IMAGE_COUNT];
    VkDeviceMemory memories[IMAGE_COUNT];
    VkImageView views[VIEW_COUNT];
    VkBuffer buffer;
    VkEvent event;
    VkQueryPool queries;
    VkPipelineLayout layout;
};

void record_app_open(struct record_app *app, const struct record_options *options); /* NULL: none */
void record_app_close(struct record_app *app);

/* Runs it for each kind of device; its context is the options. */
void record_run_on_all(run_function function);
void record_run_shaders_on_all(run_function function);

/* Like an image of the application's, with memory that is destroyed by the second. */
VkImage record_app_image(const struct record_app *app, VkDeviceMemory *memory);
void record_app_image_destroy(const struct record_app *app, VkImage image, VkDeviceMemory memory);

/* --- Recording --- */

typedef void (*record_function)(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb);

struct recorded {
    VkCommandBuffer got;   /* what came through the layer */
    VkCommandBuffer meant; /* the same right into the driver */
};

struct recorded record_both(const struct record_app *app, record_function function);
/* The first alone. A secondary takes the inheritance from `inherited` (NULL: a primary). */
VkCommandBuffer record_one(const struct record_app *app, record_function function,
                           const VkCommandBufferInheritanceInfo *inherited);
/* It runs, and the oracle finds nothing against the rules. `what` is said otherwise. */
void record_run(const struct record_app *app, VkCommandBuffer cb, const char *what);

/* --- What came of it --- */

/* Command for command. */
void record_check_same(const struct recorded *recorded, const char *what);

/* A barrier that the layer put before the command with this number, of those meant. */
struct insertion {
    uint32_t before;
    VkImage image;
    VkImageLayout from, to;
    VkImageSubresourceRange range;
    VkPipelineStageFlags2 source, destination;
    VkAccessFlags2 source_access, destination_access;
};
/* What was meant came down with nothing between but barriers of images; returns them. */
uint32_t record_insertions(const struct recorded *recorded, struct insertion *out, uint32_t size);

/* How many commands have this name, or one of KHR's; and the n-th of them. */
uint32_t record_count(VkCommandBuffer cb, const char *name);
const void *record_find(VkCommandBuffer cb, const char *name, uint32_t n);
/* All barrier calls, of both kinds. */
uint32_t record_barrier_calls(VkCommandBuffer cb);
/* The image barriers of all of them. */
uint32_t record_barriers(VkCommandBuffer cb, struct insertion *out, uint32_t size);

/* --- Pieces --- */

struct record_range {
    VkImageAspectFlags aspects; /* 0: COLOR */
    uint32_t mip, mips;         /* 0: all */
    uint32_t layer, layers;     /* 0: all */
};
VkImageMemoryBarrier record_barrier_info(VkImage image, struct record_range range, VkImageLayout from,
                                         VkImageLayout to);
VkImageMemoryBarrier2 record_barrier2_info(VkImage image, struct record_range range, VkImageLayout from,
                                           VkImageLayout to);
/* One call with one barrier; ALL_COMMANDS on both sides, so that neighbours would chain. */
void record_move(const struct record_vk *vk, VkCommandBuffer cb, VkImage image, struct record_range range,
                 VkImageLayout from, VkImageLayout to);
void record_move2(const struct record_vk *vk, VkCommandBuffer cb, VkImage image, struct record_range range,
                  VkImageLayout from, VkImageLayout to);
/* Something that acts and touches no image: what is pending goes down before it. */
void record_act(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb);
void record_clear(const struct record_vk *vk, VkCommandBuffer cb, VkImage image, struct record_range range,
                  VkImageLayout layout);
void record_clear_depth(const struct record_vk *vk, VkCommandBuffer cb, VkImage image,
                        VkImageAspectFlags aspects, VkImageLayout layout);
/* One region of one mip and layer. */
void record_upload(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                   VkImage image, VkImageAspectFlags aspect, VkImageLayout layout);
void record_read(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb, VkImage image,
                 VkImageAspectFlags aspect, VkImageLayout layout);
void record_copy(const struct record_vk *vk, VkCommandBuffer cb, VkImage from, VkImageLayout from_layout,
                 VkImage to, VkImageLayout to_layout);

/* Render passes of one subpass and one attachment, colour or depth and stencil by format. */
VkRenderPass record_pass(const struct record_app *app, VkFormat format, VkSampleCountFlagBits samples,
                         VkImageLayout initial, VkImageLayout during, VkImageLayout final,
                         uint32_t view_mask);
VkFramebuffer record_framebuffer(const struct record_app *app, VkRenderPass pass, VkImageView view,
                                 uint32_t layers);
void record_begin_pass(const struct record_vk *vk, VkCommandBuffer cb, VkRenderPass pass,
                       VkFramebuffer framebuffer, VkSubpassContents contents);

#define RECORD_FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define RECORD_DEPTH_FORMAT VK_FORMAT_D24_UNORM_S8_UINT
#define RECORD_SIDE 16u

#endif
