/* The layout oracle: sequences that break one rule each, and their correct counterparts. With the argument
 * `validated` each runs under Khronos validation, which has to come to the same verdict. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault_driver.h"
#include "oracle_scene.h"
#include "oracle_verdict.h"

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define SOURCE VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DESTINATION VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define SAMPLED VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define COLOR VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define DEPTH VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define DEPTH_READ VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL
#define PRESENTED VK_IMAGE_LAYOUT_PRESENT_SRC_KHR
#define NOBODY VK_QUEUE_FAMILY_IGNORED

static bool validated; /* the argument */

/* An image whose contents and layout are right from the start. */
static VkImage filled(struct scene *s, VkImageLayout layout)
{
    VkImage image = scene_color(s);

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_clear(s, image, DESTINATION);
    if (layout != DESTINATION)
        scene_barrier(s, image, DESTINATION, layout);
    scene_end(s);
    return image;
}

/* --- A barrier's oldLayout --- */

static void barrier_right(struct scene *s)
{
    VkImage image = scene_color(s);

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_barrier(s, image, DESTINATION, SAMPLED);
    scene_barrier2(s, image, SAMPLED, SOURCE);
    scene_end(s);
}

static void barrier_wrong(struct scene *s)
{
    VkImage image = scene_color(s);

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_barrier(s, image, SAMPLED, SOURCE);
    scene_end(s);
}

static void barrier2_wrong(struct scene *s)
{
    VkImage image = scene_color(s);

    scene_begin(s, 0);
    scene_barrier2(s, image, UNDEFINED, DESTINATION);
    scene_end(s);
    scene_begin(s, 0);
    scene_barrier2(s, image, SAMPLED, SOURCE);
    scene_end(s);
}

static const VkImageSubresourceRange middle = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 2, 1};

static void mips_right(struct scene *s)
{
    VkImage image = scene_image(s, &(struct scene_image){.mips = 3, .layers = 4});

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_barrier_range(s, image, DESTINATION, SOURCE, middle);
    scene_barrier_range(s, image, SOURCE, DESTINATION, middle);
    scene_barrier(s, image, DESTINATION, SAMPLED);
    scene_end(s);
}

static void mips_wrong(struct scene *s)
{
    VkImage image = scene_image(s, &(struct scene_image){.mips = 3, .layers = 4});

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_barrier_range(s, image, DESTINATION, SOURCE, middle);
    scene_barrier(s, image, DESTINATION, SAMPLED);
    scene_end(s);
}

static void equal_layouts(struct scene *s)
{
    VkImage image = filled(s, DESTINATION);

    scene_begin(s, 0);
    scene_barrier(s, image, SAMPLED, SAMPLED);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
}

static void wait_event(struct scene *s, VkImageLayout old)
{
    VkImage image = filled(s, DESTINATION);
    const VkImageMemoryBarrier barrier = scene_image_barrier(image, old, SOURCE, SCENE_ALL_COLOR);

    scene_begin(s, 0);
    s->client.vkCmdSetEvent(s->cmd, s->event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    s->client.vkCmdWaitEvents(s->cmd, 1, &s->event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                              VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 1, &barrier);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void event_right(struct scene *s)
{
    wait_event(s, DESTINATION);
}

static void event_wrong(struct scene *s)
{
    wait_event(s, SAMPLED);
}

static void wait_event2(struct scene *s, VkImageLayout old)
{
    VkImage image = filled(s, DESTINATION);
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .oldLayout = old,
        .newLayout = SOURCE,
        .srcQueueFamilyIndex = NOBODY,
        .dstQueueFamilyIndex = NOBODY,
        .image = image,
        .subresourceRange = SCENE_ALL_COLOR,
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = &barrier,
    };

    scene_begin(s, 0);
    s->client.vkCmdSetEvent2(s->cmd, s->event, &info);
    s->client.vkCmdWaitEvents2(s->cmd, 1, &s->event, &info);
    scene_end(s);
}

static void event2_right(struct scene *s)
{
    wait_event2(s, DESTINATION);
}

static void event2_wrong(struct scene *s)
{
    wait_event2(s, SAMPLED);
}

static void secondary(struct scene *s, VkImageLayout old)
{
    VkImage image = filled(s, DESTINATION);
    VkCommandBuffer inner = scene_record(s, VK_COMMAND_BUFFER_LEVEL_SECONDARY);

    scene_barrier(s, image, old, SOURCE);
    scene_record_end(s);
    scene_begin(s, 0);
    s->client.vkCmdExecuteCommands(s->cmd, 1, &inner);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void secondary_right(struct scene *s)
{
    secondary(s, DESTINATION);
}

static void secondary_wrong(struct scene *s)
{
    secondary(s, SAMPLED);
}

static void depth_joint_names(struct scene *s)
{
    const VkImageSubresourceRange depth = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
    const VkImageSubresourceRange stencil = {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1};
    VkImage image = scene_depth(s);

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, DEPTH, SCENE_ALL_DEPTH);
    scene_barrier_range(s, image, VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
                        VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL, depth);
    scene_barrier_range(s, image, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL,
                        VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL, stencil);
    scene_barrier_range(s, image, DEPTH_READ, SOURCE, SCENE_ALL_DEPTH);
    scene_end(s);
}

static void depth_other_aspect_wrong(struct scene *s)
{
    const VkImageSubresourceRange depth = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
    VkImage image = scene_depth(s);

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, DEPTH, SCENE_ALL_DEPTH);
    scene_barrier_range(s, image, VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
                        VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL, depth);
    scene_barrier_range(s, image, DEPTH_READ, SOURCE, SCENE_ALL_DEPTH);
    scene_end(s);
}

static void volume(struct scene *s, VkImageLayout layout)
{
    VkImage image = scene_image(s, &(struct scene_image){.type = VK_IMAGE_TYPE_3D, .depth = 4});
    const VkBufferImageCopy slice = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageOffset = {0, 0, 2},
        .imageExtent = {SCENE_SIZE, SCENE_SIZE, 1},
    };

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    s->client.vkCmdCopyBufferToImage(s->cmd, s->buffer, image, layout, 1, &slice);
    scene_end(s);
}

static void volume_right(struct scene *s)
{
    volume(s, DESTINATION);
}

static void volume_wrong(struct scene *s)
{
    volume(s, GENERAL);
}

/* --- Transfers --- */

static const VkImageSubresourceLayers first_layer = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
static const VkExtent3D extent = {SCENE_SIZE, SCENE_SIZE, 1};
static const VkOffset3D far_corner = {SCENE_SIZE, SCENE_SIZE, 1};

static void copy_in_right(struct scene *s)
{
    VkImage image = filled(s, DESTINATION);

    scene_begin(s, 0);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
}

static void copy_in_wrong(struct scene *s)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 0);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
}

static void copy_in_undefined(struct scene *s)
{
    VkImage image = scene_color(s);

    scene_begin(s, 0);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
}

static void copy_out_wrong(struct scene *s)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 0);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void copy_both(struct scene *s, VkImageLayout from, VkImageLayout to)
{
    VkImage a = filled(s, from), b = filled(s, to);
    const VkImageCopy region = {
        .srcSubresource = first_layer, .dstSubresource = first_layer, .extent = extent};

    scene_begin(s, 0);
    s->client.vkCmdCopyImage(s->cmd, a, SOURCE, b, DESTINATION, 1, &region);
    scene_end(s);
}

static void copy_right(struct scene *s)
{
    copy_both(s, SOURCE, DESTINATION);
}

static void copy_source_wrong(struct scene *s)
{
    copy_both(s, SAMPLED, DESTINATION);
}

static void copy_destination_wrong(struct scene *s)
{
    copy_both(s, SOURCE, SAMPLED);
}

static void copy2_both(struct scene *s, VkImageLayout from)
{
    VkImage a = filled(s, from), b = filled(s, DESTINATION);
    const VkImageCopy2 region = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2,
        .srcSubresource = first_layer,
        .dstSubresource = first_layer,
        .extent = extent,
    };
    const VkCopyImageInfo2 info = {
        VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2, NULL, a, SOURCE, b, DESTINATION, 1, &region};

    scene_begin(s, 0);
    s->client.vkCmdCopyImage2(s->cmd, &info);
    scene_end(s);
}

static void copy2_right(struct scene *s)
{
    copy2_both(s, SOURCE);
}

static void copy2_wrong(struct scene *s)
{
    copy2_both(s, SAMPLED);
}

static void buffer_copies2(struct scene *s, VkImageLayout layout)
{
    VkImage image = filled(s, layout);
    const VkBufferImageCopy2 region = {.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2,
                                       .imageSubresource = first_layer,
                                       .imageExtent = extent};
    const VkCopyBufferToImageInfo2 in = {
        VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2, NULL, s->buffer, image, GENERAL, 1, &region};
    const VkCopyImageToBufferInfo2 out = {
        VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2, NULL, image, GENERAL, s->buffer, 1, &region};

    scene_begin(s, 0);
    s->client.vkCmdCopyBufferToImage2(s->cmd, &in);
    s->client.vkCmdCopyImageToBuffer2(s->cmd, &out);
    scene_end(s);
}

static void buffer_copies2_right(struct scene *s)
{
    buffer_copies2(s, GENERAL);
}

static void buffer_copies2_wrong(struct scene *s)
{
    buffer_copies2(s, SAMPLED);
}

/* Level 0 to level 1. */
static void blit_levels(struct scene *s, bool second_form, VkImageLayout first_level)
{
    VkImage image = scene_image(s, &(struct scene_image){.mips = 2});
    const VkImageSubresourceRange level = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const VkImageSubresourceLayers second_layer = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 1};
    const VkOffset3D half = {SCENE_SIZE / 2, SCENE_SIZE / 2, 1};
    const VkImageBlit region = {first_layer, {{0}, far_corner}, second_layer, {{0}, half}};
    const VkImageBlit2 region2 = {
        VK_STRUCTURE_TYPE_IMAGE_BLIT_2, NULL, first_layer, {{0}, far_corner}, second_layer, {{0}, half}};
    const VkBlitImageInfo2 info = {VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2,
                                   NULL,
                                   image,
                                   SOURCE,
                                   image,
                                   DESTINATION,
                                   1,
                                   &region2,
                                   VK_FILTER_NEAREST};

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_copy_in(s, image, DESTINATION);
    if (first_level != DESTINATION)
        scene_barrier_range(s, image, DESTINATION, first_level, level);
    if (second_form)
        s->client.vkCmdBlitImage2(s->cmd, &info);
    else
        s->client.vkCmdBlitImage(s->cmd, image, SOURCE, image, DESTINATION, 1, &region, VK_FILTER_NEAREST);
    scene_end(s);
}

static void blit_right(struct scene *s)
{
    blit_levels(s, false, SOURCE);
    blit_levels(s, true, SOURCE);
}

static void blit_wrong(struct scene *s)
{
    blit_levels(s, false, DESTINATION);
}

static void blit2_wrong(struct scene *s)
{
    blit_levels(s, true, DESTINATION);
}

static void resolve(struct scene *s, bool second_form, VkImageLayout to)
{
    VkImage a = scene_image(s, &(struct scene_image){.samples = VK_SAMPLE_COUNT_4_BIT});
    VkImage b = filled(s, to);
    const VkImageResolve region = {
        .srcSubresource = first_layer, .dstSubresource = first_layer, .extent = extent};
    const VkImageResolve2 region2 = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2,
        .srcSubresource = first_layer,
        .dstSubresource = first_layer,
        .extent = extent,
    };
    const VkResolveImageInfo2 info = {
        VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2, NULL, a, SOURCE, b, DESTINATION, 1, &region2};

    scene_begin(s, 0);
    scene_barrier(s, a, UNDEFINED, DESTINATION);
    scene_clear(s, a, DESTINATION);
    scene_barrier(s, a, DESTINATION, SOURCE);
    if (second_form)
        s->client.vkCmdResolveImage2(s->cmd, &info);
    else
        s->client.vkCmdResolveImage(s->cmd, a, SOURCE, b, DESTINATION, 1, &region);
    scene_end(s);
}

static void resolve_right(struct scene *s)
{
    resolve(s, false, DESTINATION);
    resolve(s, true, DESTINATION);
}

static void resolve_wrong(struct scene *s)
{
    resolve(s, false, SAMPLED);
}

static void resolve2_wrong(struct scene *s)
{
    resolve(s, true, SAMPLED);
}

static void clear_wrong(struct scene *s)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 0);
    scene_clear(s, image, DESTINATION);
    scene_end(s);
}

static void clear_depth(struct scene *s, VkImageLayout layout)
{
    const VkClearDepthStencilValue value = {1, 0};
    const VkImageSubresourceRange all = SCENE_ALL_DEPTH;
    VkImage image = scene_depth(s);

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, layout, all);
    s->client.vkCmdClearDepthStencilImage(s->cmd, image, DESTINATION, &value, 1, &all);
    scene_end(s);
}

static void clear_depth_right(struct scene *s)
{
    clear_depth(s, DESTINATION);
}

static void clear_depth_wrong(struct scene *s)
{
    clear_depth(s, DEPTH);
}

/* --- Render passes: one color attachment --- */

struct pass_options {
    VkImageLayout initial;
    VkImageLayout final;
    VkAttachmentLoadOp load;
    VkAttachmentStoreOp store;
    bool self_dependency;
};

static VkRenderPass color_pass(struct scene *s, const struct pass_options *options)
{
    const VkAttachmentDescription attachment = {
        .format = SCENE_COLOR,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = options->load,
        .storeOp = options->store,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout = options->initial,
        .finalLayout = options->final,
    };
    const VkAttachmentReference reference = {0, options->self_dependency ? GENERAL : COLOR};
    const VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    const VkSubpassDependency dependency = {
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT,
        .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT,
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = options->self_dependency,
        .pDependencies = &dependency,
    };

    return scene_pass(s, &info);
}

static void begin_pass(struct scene *s, VkRenderPass pass, VkFramebuffer framebuffer, const void *chain)
{
    static const VkClearValue values[2];
    const VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .pNext = chain,
        .renderPass = pass,
        .framebuffer = framebuffer,
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
        .clearValueCount = 2,
        .pClearValues = values,
    };

    s->client.vkCmdBeginRenderPass(s->cmd, &info, VK_SUBPASS_CONTENTS_INLINE);
}

/* Begins a pass with this image as its attachment. */
static void begin_color(struct scene *s, VkImage image, const struct pass_options *options)
{
    VkRenderPass pass = color_pass(s, options);
    VkImageView view = scene_color_view(s, image);

    begin_pass(s, pass, scene_framebuffer(s, pass, 1, &view, NULL), NULL);
}

static void pass_over(struct scene *s, VkImage image, const struct pass_options *options)
{
    scene_begin(s, 0);
    begin_color(s, image, options);
    s->client.vkCmdEndRenderPass(s->cmd);
    scene_end(s);
}

static const struct pass_options loading = {COLOR, COLOR, VK_ATTACHMENT_LOAD_OP_LOAD,
                                            VK_ATTACHMENT_STORE_OP_STORE, false};
static const struct pass_options clearing = {UNDEFINED, SOURCE, VK_ATTACHMENT_LOAD_OP_CLEAR,
                                             VK_ATTACHMENT_STORE_OP_STORE, false};

static void pass_right(struct scene *s)
{
    VkImage image = filled(s, COLOR);

    pass_over(s, image, &loading);
    pass_over(s, image, &clearing);
    scene_begin(s, 0);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void pass_initial_wrong(struct scene *s)
{
    pass_over(s, filled(s, SAMPLED), &loading);
}

static void pass_final_forgotten(struct scene *s)
{
    VkImage image = filled(s, COLOR);

    pass_over(s, image, &clearing);
    scene_begin(s, 0);
    scene_barrier(s, image, COLOR, SAMPLED);
    scene_end(s);
}

/* Depth as attachment, stencil read only, by the structures for separate layouts. */
static void separate_pass(struct scene *s, VkImageLayout stencil_layout)
{
    const VkImageSubresourceRange stencil = {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1};
    VkAttachmentDescriptionStencilLayout description = {
        VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT, NULL,
        VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL, VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL};
    VkAttachmentReferenceStencilLayout layout = {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT, NULL,
                                                 VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL};
    const VkAttachmentDescription2 attachment = {
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
        .pNext = &description,
        .format = SCENE_DEPTH,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
        .finalLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
    };
    const VkAttachmentReference2 reference = {
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
        .pNext = &layout,
        .layout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
        .aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT,
    };
    const VkSubpassDescription2 subpass = {
        .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
        .pDepthStencilAttachment = &reference,
    };
    const VkRenderPassCreateInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    const VkSubpassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
    const VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    const VkClearValue value = {0};
    VkImage image = scene_depth(s);
    VkImageView view = scene_depth_view(s, image);
    VkRenderPass pass = scene_pass2(s, &info);
    const VkRenderPassBeginInfo pass_begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = scene_framebuffer(s, pass, 1, &view, NULL),
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
        .clearValueCount = 1,
        .pClearValues = &value,
    };

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, DEPTH, SCENE_ALL_DEPTH);
    scene_barrier_range(s, image, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL, stencil_layout, stencil);
    s->client.vkCmdBeginRenderPass2(s->cmd, &pass_begin, &begin);
    s->client.vkCmdEndRenderPass2(s->cmd, &end);
    scene_end(s);
}

static void separate_right(struct scene *s)
{
    separate_pass(s, VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL);
}

static void separate_wrong(struct scene *s)
{
    separate_pass(s, GENERAL);
}

static void imageless(struct scene *s, VkImageLayout layout)
{
    const VkFormat format = SCENE_COLOR;
    const VkFramebufferAttachmentImageInfo image_info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .width = SCENE_SIZE,
        .height = SCENE_SIZE,
        .layerCount = 1,
        .viewFormatCount = 1,
        .pViewFormats = &format,
    };
    const VkFramebufferAttachmentsCreateInfo infos = {VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO,
                                                      NULL, 1, &image_info};
    VkRenderPass pass = color_pass(s, &loading);
    VkImageView view = scene_color_view(s, filled(s, layout));
    const VkRenderPassAttachmentBeginInfo begin = {VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO, NULL,
                                                   1, &view};

    scene_begin(s, 0);
    begin_pass(s, pass, scene_framebuffer(s, pass, 1, NULL, &infos), &begin);
    s->client.vkCmdEndRenderPass(s->cmd);
    scene_end(s);
}

static void imageless_right(struct scene *s)
{
    imageless(s, COLOR);
}

static void imageless_wrong(struct scene *s)
{
    imageless(s, SAMPLED);
}

/* Rendered in the first subpass, in GENERAL and with a dependency on itself in the second. */
static VkRenderPass two_subpasses(struct scene *s)
{
    const VkAttachmentDescription attachment = {
        .format = SCENE_COLOR,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = SOURCE,
    };
    const VkAttachmentReference references[] = {{0, COLOR}, {0, GENERAL}};
    VkSubpassDescription subpasses[] = {{.colorAttachmentCount = 1, .pColorAttachments = &references[0]},
                                        {.colorAttachmentCount = 1, .pColorAttachments = &references[1]}};
    VkSubpassDependency dependencies[] = {
        {.srcSubpass = 0, .dstSubpass = 1, .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT},
        {.srcSubpass = 1, .dstSubpass = 1, .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT},
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 2,
        .pSubpasses = subpasses,
        .dependencyCount = 2,
        .pDependencies = dependencies,
    };

    for (uint32_t i = 0; i < 2; i++) {
        dependencies[i].srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
        dependencies[i].dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
        dependencies[i].srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
        dependencies[i].dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT;
    }
    return scene_pass(s, &info);
}

static void barrier_in_second_subpass(struct scene *s, VkImageLayout layout)
{
    VkImage image = scene_color(s);
    VkImageView view = scene_color_view(s, image);
    VkRenderPass pass = two_subpasses(s);
    VkImageMemoryBarrier barrier = scene_image_barrier(image, layout, layout, SCENE_ALL_COLOR);

    barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT;
    scene_begin(s, 0);
    begin_pass(s, pass, scene_framebuffer(s, pass, 1, &view, NULL), NULL);
    s->client.vkCmdNextSubpass(s->cmd, VK_SUBPASS_CONTENTS_INLINE);
    s->client.vkCmdPipelineBarrier(s->cmd, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                   VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_DEPENDENCY_BY_REGION_BIT,
                                   0, NULL, 0, NULL, 1, &barrier);
    s->client.vkCmdEndRenderPass(s->cmd);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void subpass_right(struct scene *s)
{
    barrier_in_second_subpass(s, GENERAL);
}

static void subpass_wrong(struct scene *s)
{
    barrier_in_second_subpass(s, COLOR);
}

/* --- Dynamic rendering --- */

static VkRenderingAttachmentInfo attachment_info(VkImageView view, VkImageLayout layout)
{
    return (VkRenderingAttachmentInfo){
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view,
        .imageLayout = layout,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
}

static void begin_rendering(struct scene *s, const VkRenderingAttachmentInfo *color,
                            const VkRenderingAttachmentInfo *depth, const VkRenderingAttachmentInfo *stencil,
                            VkRenderingFlags flags)
{
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = flags,
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
        .layerCount = 1,
        .colorAttachmentCount = color ? 1 : 0,
        .pColorAttachments = color,
        .pDepthAttachment = depth,
        .pStencilAttachment = stencil,
    };

    s->client.vkCmdBeginRendering(s->cmd, &info);
}

static void dynamic_color(struct scene *s, VkImageLayout actual)
{
    const VkRenderingAttachmentInfo color = attachment_info(scene_color_view(s, filled(s, actual)), COLOR);

    scene_begin(s, 0);
    begin_rendering(s, &color, NULL, NULL, 0);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

static void dynamic_right(struct scene *s)
{
    dynamic_color(s, COLOR);
}

static void dynamic_wrong(struct scene *s)
{
    dynamic_color(s, SAMPLED);
}

static void dynamic_depth(struct scene *s, VkImageLayout depth_layout, VkImageLayout stencil_layout)
{
    VkImage image = scene_depth(s);
    VkImageView view = scene_depth_view(s, image);
    const VkRenderingAttachmentInfo depth = attachment_info(view, depth_layout);
    const VkRenderingAttachmentInfo stencil = attachment_info(view, stencil_layout);

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, DEPTH, SCENE_ALL_DEPTH);
    begin_rendering(s, NULL, &depth, &stencil, 0);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

static void dynamic_depth_right(struct scene *s)
{
    dynamic_depth(s, VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL);
}

static void dynamic_depth_wrong(struct scene *s)
{
    dynamic_depth(s, VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL, GENERAL);
}

static void dynamic_resolve(struct scene *s, VkImageLayout actual)
{
    VkImage image = scene_image(s, &(struct scene_image){.samples = VK_SAMPLE_COUNT_4_BIT});
    VkRenderingAttachmentInfo color = attachment_info(scene_color_view(s, image), COLOR);

    color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    color.resolveImageView = scene_color_view(s, filled(s, actual));
    color.resolveImageLayout = COLOR;
    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, COLOR);
    begin_rendering(s, &color, NULL, NULL, 0);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

static void dynamic_resolve_right(struct scene *s)
{
    dynamic_resolve(s, COLOR);
}

static void dynamic_resolve_wrong(struct scene *s)
{
    dynamic_resolve(s, SAMPLED);
}

static void shading_rate(struct scene *s, VkImageLayout actual)
{
    VkImageView color_view = scene_color_view(s, filled(s, COLOR));
    const VkRenderingAttachmentInfo color = attachment_info(color_view, COLOR);
    const VkRenderingFragmentShadingRateAttachmentInfoKHR rate = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR,
        .imageView = scene_color_view(s, filled(s, actual)),
        .imageLayout = GENERAL,
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .pNext = &rate,
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
    };

    scene_begin(s, 0);
    s->client.vkCmdBeginRendering(s->cmd, &info);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

static void shading_rate_right(struct scene *s)
{
    shading_rate(s, GENERAL);
}

static void shading_rate_wrong(struct scene *s)
{
    shading_rate(s, SAMPLED);
}

static void planes(struct scene *s, VkImageAspectFlagBits read)
{
    const VkImageSubresourceRange second = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 1, 0, 1};
    const VkBufferImageCopy region = {.imageSubresource = {read, 0, 0, 1},
                                      .imageExtent = {SCENE_SIZE / 2, SCENE_SIZE / 2, 1}};
    VkImage image = scene_image(s, &(struct scene_image){.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
                                                         .flags = VK_IMAGE_CREATE_DISJOINT_BIT});

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_clear(s, image, DESTINATION);
    scene_barrier_range(s, image, DESTINATION, SOURCE, second);
    s->client.vkCmdCopyImageToBuffer(s->cmd, image, SOURCE, s->buffer, 1, &region);
    scene_end(s);
}

static void planes_right(struct scene *s)
{
    planes(s, VK_IMAGE_ASPECT_PLANE_1_BIT);
}

static void planes_wrong(struct scene *s)
{
    planes(s, VK_IMAGE_ASPECT_PLANE_0_BIT);
}

/* --- Present --- */

static void present_in(struct scene *s, VkImageLayout layout, bool written)
{
    uint32_t index;
    VkImage image;

    scene_swapchain(s);
    image = scene_acquire(s, &index);
    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    if (written)
        scene_clear(s, image, DESTINATION);
    if (layout != DESTINATION)
        scene_barrier(s, image, DESTINATION, layout);
    scene_end(s);
    scene_present(s, index);
}

static void present_right(struct scene *s)
{
    present_in(s, PRESENTED, true);
}

static void present_wrong(struct scene *s)
{
    present_in(s, DESTINATION, true);
}

static void present_unwritten(struct scene *s)
{
    present_in(s, PRESENTED, false);
}

/* --- New layouts --- */

static void new_layout_wrong(struct scene *s)
{
    VkImage image = filled(s, DESTINATION);

    scene_begin(s, 0);
    scene_barrier(s, image, DESTINATION, UNDEFINED);
    scene_end(s);
}

/* --- Places --- */

static void inside_dynamic(struct scene *s)
{
    VkImage other = filled(s, DESTINATION);
    const VkRenderingAttachmentInfo color = attachment_info(scene_color_view(s, filled(s, COLOR)), COLOR);

    scene_begin(s, 0);
    begin_rendering(s, &color, NULL, NULL, 0);
    scene_barrier(s, other, DESTINATION, SOURCE);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

static const struct pass_options looping = {GENERAL, GENERAL, VK_ATTACHMENT_LOAD_OP_LOAD,
                                            VK_ATTACHMENT_STORE_OP_STORE, true};

/* Within a subpass's own dependency. */
static void inside_pass(struct scene *s, const struct pass_options *options, VkImageLayout to,
                        VkPipelineStageFlags destination)
{
    VkImage image = filled(s, options->initial);
    VkImageMemoryBarrier barrier = scene_image_barrier(image, options->initial, to, SCENE_ALL_COLOR);

    barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT;
    scene_begin(s, 0);
    begin_color(s, image, options);
    s->client.vkCmdPipelineBarrier(s->cmd, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, destination,
                                   VK_DEPENDENCY_BY_REGION_BIT, 0, NULL, 0, NULL, 1, &barrier);
    s->client.vkCmdEndRenderPass(s->cmd);
    scene_end(s);
}

static void self_dependency_right(struct scene *s)
{
    inside_pass(s, &looping, GENERAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT);
}

static void self_dependency_missing(struct scene *s)
{
    inside_pass(s, &loading, COLOR, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT);
}

static void self_dependency_too_narrow(struct scene *s)
{
    inside_pass(s, &looping, GENERAL,
                VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT);
}

static void self_dependency_transition(struct scene *s)
{
    inside_pass(s, &looping, COLOR, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT);
}

static void inside_pass_other_image(struct scene *s)
{
    VkImage image = filled(s, GENERAL), other = filled(s, GENERAL);
    VkImageMemoryBarrier barrier = scene_image_barrier(other, GENERAL, GENERAL, SCENE_ALL_COLOR);

    barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT;
    scene_begin(s, 0);
    begin_color(s, image, &looping);
    s->client.vkCmdPipelineBarrier(s->cmd, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                   VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_DEPENDENCY_BY_REGION_BIT,
                                   0, NULL, 0, NULL, 1, &barrier);
    s->client.vkCmdEndRenderPass(s->cmd);
    scene_end(s);
}

static void copy_inside_pass(struct scene *s)
{
    VkImage image = filled(s, COLOR), other = filled(s, DESTINATION);

    scene_begin(s, 0);
    begin_color(s, image, &loading);
    scene_copy_in(s, other, DESTINATION);
    s->client.vkCmdEndRenderPass(s->cmd);
    scene_end(s);
}

/* Suspended in one command buffer, resumed in the next but one. */
static void suspended(struct scene *s, bool barrier_between)
{
    VkImage image = filled(s, COLOR), other = filled(s, DESTINATION);
    const VkRenderingAttachmentInfo color = attachment_info(scene_color_view(s, image), COLOR);
    VkCommandBuffer buffers[3];
    uint32_t count = 0;

    buffers[count++] = scene_record(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    begin_rendering(s, &color, NULL, NULL, VK_RENDERING_SUSPENDING_BIT);
    s->client.vkCmdEndRendering(s->cmd);
    scene_record_end(s);
    if (barrier_between) {
        buffers[count++] = scene_record(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        scene_barrier(s, other, DESTINATION, SOURCE);
        scene_record_end(s);
    }
    buffers[count++] = scene_record(s, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    begin_rendering(s, &color, NULL, NULL, VK_RENDERING_RESUMING_BIT);
    s->client.vkCmdEndRendering(s->cmd);
    scene_barrier(s, other, barrier_between ? SOURCE : DESTINATION, SAMPLED);
    scene_record_end(s);
    scene_submit(s, 0, count, buffers);
}

static void suspended_right(struct scene *s)
{
    suspended(s, false);
}

static void suspended_buffer_between(struct scene *s)
{
    suspended(s, true);
}

static void never_resumed(struct scene *s)
{
    const VkRenderingAttachmentInfo color = attachment_info(scene_color_view(s, filled(s, COLOR)), COLOR);

    scene_begin(s, 0);
    begin_rendering(s, &color, NULL, NULL, VK_RENDERING_SUSPENDING_BIT);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

static void suspended_barrier(struct scene *s)
{
    VkImage image = filled(s, COLOR), other = filled(s, DESTINATION);
    const VkRenderingAttachmentInfo color = attachment_info(scene_color_view(s, image), COLOR);

    scene_begin(s, 0);
    begin_rendering(s, &color, NULL, NULL, VK_RENDERING_SUSPENDING_BIT);
    s->client.vkCmdEndRendering(s->cmd);
    scene_barrier(s, other, DESTINATION, SOURCE);
    begin_rendering(s, &color, NULL, NULL, VK_RENDERING_RESUMING_BIT);
    s->client.vkCmdEndRendering(s->cmd);
    scene_end(s);
}

/* --- Queue families --- */

static void transferred(struct scene *s, bool release, bool acquire, bool concurrent)
{
    VkImage image = scene_image(s, &(struct scene_image){.concurrent = concurrent});

    scene_begin(s, 1);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_copy_in(s, image, DESTINATION);
    if (release)
        scene_barrier_family(s, image, DESTINATION, SOURCE, 1, 0);
    else
        scene_barrier(s, image, DESTINATION, SOURCE);
    scene_end(s);
    scene_begin(s, 0);
    if (acquire)
        scene_barrier_family(s, image, DESTINATION, SOURCE, 1, 0);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void ownership_right(struct scene *s)
{
    transferred(s, true, true, false);
}

static void concurrent_right(struct scene *s)
{
    transferred(s, false, false, true);
}

static void acquire_without_release(struct scene *s)
{
    transferred(s, false, true, false);
}

static void used_by_another_family(struct scene *s)
{
    transferred(s, false, false, false);
}

static void taken_without_contents(struct scene *s)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 1);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
}

static void used_after_release(struct scene *s)
{
    VkImage image = filled(s, DESTINATION);

    scene_begin(s, 0);
    scene_barrier_family(s, image, DESTINATION, SOURCE, 0, 1);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
}

static void acquired_otherwise(struct scene *s)
{
    VkImage image = filled(s, DESTINATION);

    scene_begin(s, 0);
    scene_barrier_family(s, image, DESTINATION, SOURCE, 0, 1);
    scene_end(s);
    scene_begin(s, 1);
    scene_barrier_family(s, image, DESTINATION, GENERAL, 0, 1);
    scene_end(s);
}

/* --- Stages --- */

static void transfer_queue_barrier(struct scene *s, VkPipelineStageFlags source)
{
    scene_begin(s, 2);
    s->client.vkCmdPipelineBarrier(s->cmd, source, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 0,
                                   NULL);
    scene_end(s);
}

static void stages_right(struct scene *s)
{
    transfer_queue_barrier(s, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT);
}

static void stages_wrong(struct scene *s)
{
    transfer_queue_barrier(s, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT);
}

static void stages_none(struct scene *s)
{
    transfer_queue_barrier(s, 0);
}

/* --- Aspects --- */

static void one_aspect(struct scene *s)
{
    const VkImageSubresourceRange depth = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
    VkImage image = scene_depth(s);

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, DESTINATION, depth);
    scene_end(s);
}

static void both_aspects(struct scene *s)
{
    VkImage image = scene_depth(s);

    scene_begin(s, 0);
    scene_barrier_range(s, image, UNDEFINED, DEPTH, SCENE_ALL_DEPTH);
    scene_end(s);
}

/* --- Overlaps --- */

static void two_in_one_call(struct scene *s, VkImageLayout second, VkImageSubresourceRange range)
{
    VkImage image = scene_image(s, &(struct scene_image){.mips = 2});
    const VkImageSubresourceRange first_mip = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkImageMemoryBarrier barriers[2];

    barriers[0] = scene_image_barrier(image, DESTINATION, SOURCE, first_mip);
    barriers[1] = scene_image_barrier(image, DESTINATION, second, range);
    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, DESTINATION);
    scene_barriers(s, 2, barriers);
    scene_end(s);
}

static void overlapping(struct scene *s)
{
    two_in_one_call(s, SAMPLED, SCENE_ALL_COLOR);
}

static void overlapping_equal(struct scene *s)
{
    two_in_one_call(s, SOURCE, (VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1});
}

static void beside_each_other(struct scene *s)
{
    two_in_one_call(s, SAMPLED, (VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1});
}

/* --- Contents --- */

static void read_discarded(struct scene *s)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, SOURCE);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

static void load_discarded(struct scene *s)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, COLOR);
    scene_end(s);
    pass_over(s, image, &loading);
}

static void load_of_not_stored(struct scene *s)
{
    const struct pass_options dropping = {UNDEFINED, COLOR, VK_ATTACHMENT_LOAD_OP_CLEAR,
                                          VK_ATTACHMENT_STORE_OP_DONT_CARE, false};
    VkImage image = scene_color(s);

    pass_over(s, image, &dropping);
    pass_over(s, image, &loading);
}

static void linear_may_be_written_by_the_host(struct scene *s)
{
    VkImage image = scene_image(s, &(struct scene_image){.linear = true});

    scene_begin(s, 0);
    scene_barrier(s, image, UNDEFINED, GENERAL);
    scene_copy_out(s, image, GENERAL);
    scene_end(s);
}

static void preinitialized(struct scene *s)
{
    VkImage image =
        scene_image(s, &(struct scene_image){.linear = true, .initial = VK_IMAGE_LAYOUT_PREINITIALIZED});

    scene_begin(s, 0);
    scene_barrier(s, image, VK_IMAGE_LAYOUT_PREINITIALIZED, SOURCE);
    scene_copy_out(s, image, SOURCE);
    scene_end(s);
}

/* --- All of them --- */

enum options {
    SYNC1 = 1,      /* without synchronization2 */
    JOINT = 2,      /* without separateDepthStencilLayouts */
    UNVALIDATED = 4 /* validation of 1.3.239 judges otherwise: it doesn't know most of these faults */
};

struct sequence {
    const char *name;
    void (*run)(struct scene *s);
    uint32_t expected; /* the one violation's kind; 0: there is none */
    uint32_t options;
};

#define SEQUENCE(run, expected, options)                                                                     \
    {                                                                                                        \
#run, run, expected, options                                                                         \
    }

static const struct sequence sequences[] = {
    SEQUENCE(barrier_right, 0, 0),
    SEQUENCE(barrier_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(barrier2_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(mips_right, 0, 0),
    SEQUENCE(mips_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(equal_layouts, 0, 0),
    {"equal_layouts without synchronization2", equal_layouts,
     FAULT_ORACLE_OLD_LAYOUT | FAULT_ORACLE_USE_LAYOUT, SYNC1},
    SEQUENCE(event_right, 0, 0),
    SEQUENCE(event_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(event2_right, 0, 0),
    SEQUENCE(event2_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(secondary_right, 0, 0),
    SEQUENCE(secondary_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(depth_joint_names, 0, 0),
    SEQUENCE(depth_other_aspect_wrong, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(volume_right, 0, 0),
    SEQUENCE(volume_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(copy_in_right, 0, 0),
    SEQUENCE(copy_in_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(copy_in_undefined, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(copy_out_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(copy_right, 0, 0),
    SEQUENCE(copy_source_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(copy_destination_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(copy2_right, 0, 0),
    SEQUENCE(copy2_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(buffer_copies2_right, 0, 0),
    SEQUENCE(buffer_copies2_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(blit_right, 0, 0),
    SEQUENCE(blit_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(blit2_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(resolve_right, 0, 0),
    SEQUENCE(resolve_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(resolve2_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(clear_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(clear_depth_right, 0, 0),
    SEQUENCE(clear_depth_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(pass_right, 0, 0),
    SEQUENCE(pass_initial_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(pass_final_forgotten, FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(separate_right, 0, 0),
    SEQUENCE(separate_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(imageless_right, 0, 0),
    SEQUENCE(imageless_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    SEQUENCE(subpass_right, 0, SYNC1),
    SEQUENCE(subpass_wrong, FAULT_ORACLE_OLD_LAYOUT, SYNC1 | UNVALIDATED),
    SEQUENCE(dynamic_right, 0, 0),
    SEQUENCE(dynamic_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(dynamic_depth_right, 0, 0),
    SEQUENCE(dynamic_depth_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(dynamic_resolve_right, 0, 0),
    SEQUENCE(dynamic_resolve_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(shading_rate_right, 0, UNVALIDATED),
    SEQUENCE(shading_rate_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(planes_right, 0, UNVALIDATED),
    SEQUENCE(planes_wrong, FAULT_ORACLE_USE_LAYOUT, UNVALIDATED),
    SEQUENCE(present_right, 0, 0),
    SEQUENCE(present_wrong, FAULT_ORACLE_PRESENT_LAYOUT, 0),
    SEQUENCE(present_unwritten, FAULT_ORACLE_DISCARDED_READ, 0),
    SEQUENCE(new_layout_wrong, FAULT_ORACLE_NEW_LAYOUT, 0),
    SEQUENCE(inside_dynamic, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(self_dependency_right, 0, 0),
    SEQUENCE(self_dependency_missing, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(self_dependency_too_narrow, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(self_dependency_transition, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(inside_pass_other_image, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(copy_inside_pass, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(suspended_right, 0, 0),
    SEQUENCE(suspended_barrier, FAULT_ORACLE_PLACE, UNVALIDATED),
    SEQUENCE(suspended_buffer_between, FAULT_ORACLE_PLACE, UNVALIDATED),
    SEQUENCE(never_resumed, FAULT_ORACLE_PLACE, 0),
    SEQUENCE(ownership_right, 0, 0),
    SEQUENCE(concurrent_right, 0, 0),
    SEQUENCE(acquire_without_release, FAULT_ORACLE_OWNERSHIP, 0),
    SEQUENCE(used_by_another_family, FAULT_ORACLE_OWNERSHIP, UNVALIDATED),
    SEQUENCE(taken_without_contents, 0, 0),
    SEQUENCE(used_after_release, FAULT_ORACLE_OWNERSHIP, UNVALIDATED),
    SEQUENCE(acquired_otherwise, FAULT_ORACLE_OWNERSHIP, UNVALIDATED),
    SEQUENCE(stages_right, 0, 0),
    SEQUENCE(stages_wrong, FAULT_ORACLE_STAGE, 0),
    SEQUENCE(stages_none, 0, 0),
    {"stages_none without synchronization2", stages_none, FAULT_ORACLE_STAGE, SYNC1},
    SEQUENCE(one_aspect, 0, 0),
    {"one_aspect without separateDepthStencilLayouts", one_aspect, FAULT_ORACLE_ASPECT, JOINT},
    {"both_aspects without separateDepthStencilLayouts", both_aspects, 0, JOINT},
    SEQUENCE(overlapping, FAULT_ORACLE_OVERLAP | FAULT_ORACLE_OLD_LAYOUT, 0),
    SEQUENCE(overlapping_equal, 0, UNVALIDATED),
    SEQUENCE(beside_each_other, 0, 0),
    SEQUENCE(read_discarded, FAULT_ORACLE_DISCARDED_READ, 0),
    SEQUENCE(load_discarded, FAULT_ORACLE_DISCARDED_READ, 0),
    SEQUENCE(load_of_not_stored, FAULT_ORACLE_DISCARDED_READ, 0),
    SEQUENCE(linear_may_be_written_by_the_host, 0, 0),
    SEQUENCE(preinitialized, 0, 0),
};
#define SEQUENCE_COUNT (sizeof(sequences) / sizeof(sequences[0]))

/* Whether a verdict is another than expected. */
static bool run_sequence(const struct sequence *sequence)
{
    const struct scene_options options = {
        .validated = validated,
        .synchronization1 = sequence->options & SYNC1,
        .joint_layouts = sequence->options & JOINT,
    };
    struct scene scene;

    verdict_configure("oracle=1");
    scene_init(&scene, &options);
    sequence->run(&scene);
    scene_finish(&scene);
    return verdict_is_wrong(sequence->name, sequence->expected, validated ? &scene : NULL);
}

static void sequences_are_judged_right(void **state)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < SEQUENCE_COUNT; i++) {
        if (!validated || !(sequences[i].options & UNVALIDATED))
            wrong += run_sequence(&sequences[i]);
    }
    assert_int_equal(wrong, 0);
}

/* --- What can be asked --- */

static void scene_start(struct scene *scene, const char *configuration)
{
    const struct scene_options options = {0};

    verdict_configure(configuration);
    scene_init(scene, &options);
}

static void a_violation_says_where_it_is(void **state)
{
    struct fault_violation violation;
    struct scene s;

    scene_start(&s, "oracle=1");
    mips_wrong(&s);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 1);
    assert_true(fault_oracle_violation(0, &violation));
    assert_false(fault_oracle_violation(1, &violation));
    assert_int_equal(violation.kind, FAULT_ORACLE_OLD_LAYOUT);
    assert_int_equal(violation.image, (uintptr_t)s.images[0]);
    assert_int_equal(violation.aspect, VK_IMAGE_ASPECT_COLOR_BIT);
    assert_int_equal(violation.mip, 1);
    assert_int_equal(violation.layer, 2);
    assert_int_equal(violation.subresources, 1);
    assert_int_equal(violation.expected, DESTINATION);
    assert_int_equal(violation.actual, SOURCE);
    assert_string_equal(violation.command, "vkCmdPipelineBarrier");
    fault_oracle_reset();
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
    assert_false(fault_oracle_violation(0, &violation));
    scene_finish(&s);
}

static void subresources_of_one_fault_are_counted_together(void **state)
{
    struct fault_violation violation;
    struct scene s;
    VkImage image;

    scene_start(&s, "oracle=1");
    image = scene_image(&s, &(struct scene_image){.mips = 3, .layers = 4});
    scene_begin(&s, 0);
    scene_barrier(&s, image, SAMPLED, SOURCE);
    scene_barrier(&s, image, SAMPLED, DESTINATION);
    scene_end(&s);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 2);
    assert_true(fault_oracle_violation(0, &violation));
    assert_int_equal(violation.subresources, 12);
    assert_int_equal(violation.actual, UNDEFINED);
    assert_true(fault_oracle_violation(1, &violation));
    assert_int_equal(violation.actual, SOURCE);
    scene_finish(&s);
}

static void layouts_can_be_asked(void **state)
{
    const VkImageAspectFlagBits color = VK_IMAGE_ASPECT_COLOR_BIT;
    struct scene s;
    VkImage image;

    scene_start(&s, "oracle=1");
    image = scene_image(&s, &(struct scene_image){.mips = 3, .layers = 4});
    assert_int_equal(fault_oracle_layout(image, color, 2, 3), UNDEFINED);
    assert_int_equal(fault_oracle_layout(image, color, 3, 0), VK_IMAGE_LAYOUT_MAX_ENUM);
    assert_int_equal(fault_oracle_layout(image, VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0), VK_IMAGE_LAYOUT_MAX_ENUM);
    scene_begin(&s, 0);
    scene_barrier_range(&s, image, UNDEFINED, SAMPLED, middle);
    scene_end(&s);
    assert_int_equal(fault_oracle_layout(image, color, 1, 2), SAMPLED);
    assert_int_equal(fault_oracle_layout(image, color, 1, 1), UNDEFINED);
    assert_int_equal(fault_oracle_layout(image, color, 0, 2), UNDEFINED);
    scene_finish(&s);
}

/* Clears, copies and keeps or loses the contents between. */
static uint64_t history_after(struct scene *s, VkImageLayout old, uint32_t detours)
{
    VkImage image = filled(s, SAMPLED);

    scene_begin(s, 0);
    for (uint32_t i = 0; i < detours; i++) {
        scene_barrier(s, image, SAMPLED, GENERAL);
        scene_barrier(s, image, GENERAL, SAMPLED);
    }
    scene_barrier(s, image, old, DESTINATION);
    scene_copy_in(s, image, DESTINATION);
    scene_end(s);
    return fault_oracle_history(image);
}

static void histories_tell_contents_from_barriers(void **state)
{
    struct scene s;
    uint64_t kept;

    scene_start(&s, "oracle=1");
    kept = history_after(&s, SAMPLED, 0);
    assert_true(kept == history_after(&s, SAMPLED, 0));
    assert_true(kept == history_after(&s, SAMPLED, 2));
    assert_true(kept != history_after(&s, UNDEFINED, 0));
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
    scene_finish(&s);
}

static void histories_follow_copies(void **state)
{
    const VkImageCopy region = {
        .srcSubresource = first_layer, .dstSubresource = first_layer, .extent = extent};
    struct scene s;
    VkImage plain, twice, copies[2];

    scene_start(&s, "oracle=1");
    plain = filled(&s, SOURCE);
    twice = filled(&s, DESTINATION);
    copies[0] = filled(&s, DESTINATION);
    copies[1] = filled(&s, DESTINATION);
    assert_true(fault_oracle_history(copies[0]) == fault_oracle_history(copies[1]));
    scene_begin(&s, 0);
    scene_clear(&s, twice, DESTINATION);
    scene_barrier(&s, twice, DESTINATION, SOURCE);
    s.client.vkCmdCopyImage(s.cmd, plain, SOURCE, copies[0], DESTINATION, 1, &region);
    s.client.vkCmdCopyImage(s.cmd, twice, SOURCE, copies[1], DESTINATION, 1, &region);
    scene_end(&s);
    assert_true(fault_oracle_history(copies[0]) != fault_oracle_history(copies[1]));
    scene_finish(&s);
}

static void contents_are_defined_by_writes(void **state)
{
    struct scene s;
    VkImage image;

    scene_start(&s, "oracle=1");
    image = filled(&s, SAMPLED);
    assert_true(fault_oracle_defined(image, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0));
    scene_begin(&s, 0);
    scene_barrier(&s, image, UNDEFINED, SAMPLED);
    scene_end(&s);
    assert_false(fault_oracle_defined(image, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0));
    scene_finish(&s);
}

/* No pipeline is bound that would tell: whatever a dispatch may write is taken for defined. */
static void a_dispatch_may_have_written_storage_images(void **state)
{
    struct scene s;
    VkImage image;

    scene_start(&s, "oracle=1");
    image = scene_image(&s, &(struct scene_image){.usage = VK_IMAGE_USAGE_STORAGE_BIT});
    scene_begin(&s, 0);
    scene_barrier(&s, image, UNDEFINED, GENERAL);
    scene_copy_out(&s, image, GENERAL);
    scene_end(&s);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_DISCARDED_READ), 1);
    scene_begin(&s, 0);
    s.client.vkCmdDispatch(s.cmd, 1, 1, 1);
    scene_copy_out(&s, image, GENERAL);
    scene_end(&s);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 1);
    scene_finish(&s);
}

#if defined(VK_VERSION_1_4)
/* Not in scene.client, which knows what all headers know. */
static void host_copies_count(void **state)
{
    const VkMemoryToImageCopy region = {.sType = VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY,
                                        .pHostPointer = &region,
                                        .imageSubresource = first_layer,
                                        .imageExtent = extent};
    VkHostImageLayoutTransitionInfo transition = {.sType =
                                                      VK_STRUCTURE_TYPE_HOST_IMAGE_LAYOUT_TRANSITION_INFO,
                                                  .oldLayout = UNDEFINED,
                                                  .newLayout = GENERAL,
                                                  .subresourceRange = SCENE_ALL_COLOR};
    VkCopyMemoryToImageInfo copy = {.sType = VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO,
                                    .dstImageLayout = GENERAL,
                                    .regionCount = 1,
                                    .pRegions = &region};
    PFN_vkTransitionImageLayoutEXT move;
    PFN_vkCopyMemoryToImageEXT write;
    struct scene s;

    scene_start(&s, "oracle=1");
    move = (PFN_vkTransitionImageLayoutEXT)s.client.vkGetDeviceProcAddr(s.client.device,
                                                                        "vkTransitionImageLayoutEXT");
    write =
        (PFN_vkCopyMemoryToImageEXT)s.client.vkGetDeviceProcAddr(s.client.device, "vkCopyMemoryToImageEXT");
    transition.image = copy.dstImage = scene_color(&s);
    assert_int_equal(move(s.client.device, 1, &transition), VK_SUCCESS);
    assert_int_equal(write(s.client.device, &copy), VK_SUCCESS);
    scene_begin(&s, 0);
    scene_copy_out(&s, copy.dstImage, GENERAL);
    scene_end(&s);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
    transition.oldLayout = SAMPLED;
    transition.newLayout = SOURCE;
    assert_int_equal(move(s.client.device, 1, &transition), VK_SUCCESS);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_OLD_LAYOUT), 1);
    assert_int_equal(write(s.client.device, &copy), VK_SUCCESS);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_USE_LAYOUT), 1);
    scene_finish(&s);
}
#endif

static void it_is_off_unless_asked_for(void **state)
{
    struct scene s;
    VkImage image;

    scene_start(&s, "");
    barrier_wrong(&s);
    image = filled(&s, SAMPLED);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
    assert_int_equal(fault_oracle_layout(image, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0), UNDEFINED);
    scene_finish(&s);
}

static void violations_are_written_to_the_file(void **state)
{
    char path[] = "/tmp/oracle-XXXXXX";
    char configuration[64], line[1024] = "";
    int descriptor = mkstemp(path);
    struct scene s;
    FILE *file;

    assert_true(descriptor >= 0);
    snprintf(configuration, sizeof(configuration), "oracle_file=%s", path);
    scene_start(&s, configuration);
    mips_wrong(&s);
    scene_finish(&s);
    verdict_configure("");
    file = fdopen(descriptor, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_non_null(strstr(line, " old-layout vkCmdPipelineBarrier image=0x"));
    assert_non_null(
        strstr(line, " mip=1 layer=2 expected=TRANSFER_DST_OPTIMAL actual=TRANSFER_SRC_OPTIMAL: "));
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    unlink(path);
}

/* One thread per queue, each with images of its own. */
struct submitter {
    struct scene *scene;
    uint32_t family;
    VkImage image;
};

static void *submit_often(void *context)
{
    const struct submitter *submitter = context;
    struct scene *s = submitter->scene;
    const VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->pools[submitter->family],
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkImageMemoryBarrier barrier =
        scene_image_barrier(submitter->image, UNDEFINED, DESTINATION, SCENE_ALL_COLOR);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1};
    VkCommandBuffer commands;

    s->client.vkAllocateCommandBuffers(s->client.device, &allocation, &commands);
    submit.pCommandBuffers = &commands;
    for (uint32_t i = 0; i < 100; i++) {
        s->client.vkBeginCommandBuffer(commands, &begin);
        s->client.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
        s->client.vkEndCommandBuffer(commands);
        s->client.vkQueueSubmit(s->queues[submitter->family], 1, &submit, VK_NULL_HANDLE);
        s->client.vkQueueWaitIdle(s->queues[submitter->family]);
        /* Every second one is wrong: SAMPLED is never the layout. */
        barrier.oldLayout = i % 2 ? DESTINATION : SAMPLED;
    }
    return NULL;
}

static void threads_are_judged_each_by_itself(void **state)
{
    struct submitter submitters[CLIENT_MAX_FAMILIES];
    pthread_t threads[CLIENT_MAX_FAMILIES];
    struct scene s;

    scene_start(&s, "oracle=1");
    for (uint32_t i = 0; i < CLIENT_MAX_FAMILIES; i++) {
        submitters[i] = (struct submitter){&s, i, scene_color(&s)};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &submitters[i]), 0);
    }
    for (uint32_t i = 0; i < CLIENT_MAX_FAMILIES; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), CLIENT_MAX_FAMILIES * 50);
    scene_finish(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_judged_right),
        cmocka_unit_test(a_violation_says_where_it_is),
        cmocka_unit_test(subresources_of_one_fault_are_counted_together),
        cmocka_unit_test(layouts_can_be_asked),
        cmocka_unit_test(histories_tell_contents_from_barriers),
        cmocka_unit_test(histories_follow_copies),
        cmocka_unit_test(contents_are_defined_by_writes),
        cmocka_unit_test(a_dispatch_may_have_written_storage_images),
#if defined(VK_VERSION_1_4)
        cmocka_unit_test(host_copies_count),
#endif
        cmocka_unit_test(it_is_off_unless_asked_for),
        cmocka_unit_test(violations_are_written_to_the_file),
        cmocka_unit_test(threads_are_judged_each_by_itself),
    };
    const struct CMUnitTest judged[] = {cmocka_unit_test(sequences_are_judged_right)};

    validated = argc > 1 && !strcmp(argv[1], "validated");
    return validated ? cmocka_run_group_tests(judged, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
