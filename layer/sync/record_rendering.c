/* Dynamic rendering: its attachments stay in the layouts that they are begun with. */
#include "chain.h"
#include "sync/layout.h"
#include "sync/record.h"
#include "sync/record_attachment.h"
#include "sync/record_hold.h"
#include "sync/record_hoist.h"

#define COLOR_STAGES VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT
#define COLOR_ACCESS (VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT)
#define DEPTH_STAGES                                                                                         \
    (VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT)

static void keep_attachment(struct command_buffer *buffer, struct image *image,
                            const struct subresource_range *range, VkImageLayout layout)
{
    struct contract_image *part = command_buffer_image(buffer, image);
    if (!part)
        return;
    if (command_buffer_reserve_end(buffer))
        buffer->ends[buffer->end_count++] =
            (struct pass_end){.image = part, .range = *range, .layout = layout};
    else
        buffer->failed = true;
}

/* `aspects`: those that are used; 0: all of the view. */
static void use_view(struct command_buffer *buffer, VkImageView handle, VkImageAspectFlags aspects,
                     VkImageLayout layout, const struct layer_use *layers, struct scope scope)
{
    const struct image_view *view = image_view_find(buffer->sync, handle);
    struct layer_use all = {0, UINT32_MAX};
    struct layer_stretch stretch = {0};
    if (!view)
        return;
    struct subresource_range range = view->range;
    uint32_t used = 0;
    for (uint32_t i = 0; i < view->image->aspect_count; i++)
        if (view->image->aspects[i] & aspects)
            used |= 1u << i;
    if (used)
        range.aspects = used;
    if (!layers || view->image->three_d)
        layers = &all;
    while (layer_stretch_next(&stretch, layers, view->range.layer_count)) {
        range.base_layer = view->range.base_layer + stretch.first;
        range.layer_count = stretch.count;
        if (!stretch.used)
            continue;
        record_use(buffer, COMMAND_CmdBeginRendering, view->image, &range, layout, scope.stages,
                   scope.access);
        keep_attachment(buffer, view->image, &range, layout);
    }
}

static void use_color(struct command_buffer *buffer, const VkRenderingAttachmentInfo *attachment,
                      const struct layer_use *layers)
{
    static const struct scope color = {COLOR_STAGES, COLOR_ACCESS};
    static const struct scope resolve = {COLOR_STAGES, VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
    if (!attachment->imageView)
        return;
    use_view(buffer, attachment->imageView, 0, attachment->imageLayout, layers, color);
    if (attachment->resolveMode != VK_RESOLVE_MODE_NONE)
        use_view(buffer, attachment->resolveImageView, 0, attachment->resolveImageLayout, layers, resolve);
}

/* Layouts in which the aspect can't be written. */
static bool is_read_only(VkImageLayout layout, VkImageAspectFlagBits aspect)
{
    return layout_matches(layout, VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL, aspect) ||
           layout == VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}

/* Spec, VkAttachmentLoadOp and VkAttachmentStoreOp: all but LOAD and NONE write. */
static struct scope depth_scope(const VkRenderingAttachmentInfo *attachment, VkImageAspectFlagBits aspect)
{
    struct scope scope = {DEPTH_STAGES, VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT};
    if (!is_read_only(attachment->imageLayout, aspect) || attachment->loadOp != VK_ATTACHMENT_LOAD_OP_LOAD ||
        attachment->storeOp != VK_ATTACHMENT_STORE_OP_NONE)
        scope.access |= VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    if (attachment->resolveMode != VK_RESOLVE_MODE_NONE) {
        /* Spec, "Render Pass Multisample Resolve Operations": of depth and stencil too. */
        scope.stages |= COLOR_STAGES;
        scope.access |= VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT;
    }
    return scope;
}

static void use_depth(struct command_buffer *buffer, const VkRenderingAttachmentInfo *attachment,
                      VkImageAspectFlagBits aspect, const struct layer_use *layers)
{
    static const struct scope resolve = {COLOR_STAGES, VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
    if (!attachment || !attachment->imageView)
        return;
    use_view(buffer, attachment->imageView, aspect, attachment->imageLayout, layers,
             depth_scope(attachment, aspect));
    if (attachment->resolveMode != VK_RESOLVE_MODE_NONE)
        use_view(buffer, attachment->resolveImageView, aspect, attachment->resolveImageLayout, layers,
                 resolve);
}

static bool are_alike(const VkRenderingAttachmentInfo *depth, const VkRenderingAttachmentInfo *stencil)
{
    return depth && stencil && depth->imageView && depth->imageView == stencil->imageView &&
           depth->imageLayout == stencil->imageLayout && depth->resolveMode == VK_RESOLVE_MODE_NONE &&
           stencil->resolveMode == VK_RESOLVE_MODE_NONE;
}

/* Both aspects in one layout: one use, so that what they lack is one barrier. */
static void use_depth_and_stencil(struct command_buffer *buffer, const VkRenderingInfo *info,
                                  const struct layer_use *layers)
{
    const VkRenderingAttachmentInfo *depth = info->pDepthAttachment, *stencil = info->pStencilAttachment;
    if (!are_alike(depth, stencil)) {
        use_depth(buffer, depth, VK_IMAGE_ASPECT_DEPTH_BIT, layers);
        use_depth(buffer, stencil, VK_IMAGE_ASPECT_STENCIL_BIT, layers);
        return;
    }
    struct scope scope = depth_scope(depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    scope.access |= depth_scope(stencil, VK_IMAGE_ASPECT_STENCIL_BIT).access;
    use_view(buffer, depth->imageView, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT,
             depth->imageLayout, layers, scope);
}

static void use_attachments(struct command_buffer *buffer, const VkRenderingInfo *info)
{
    static const struct scope rate_scope = {VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR,
                                            VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR};
    static const struct scope density_scope = {VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT,
                                               VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT};
    struct layer_use layers = {info->viewMask, info->layerCount};
    for (uint32_t i = 0; i < info->colorAttachmentCount; i++)
        use_color(buffer, &info->pColorAttachments[i], &layers);
    use_depth_and_stencil(buffer, info, &layers);
    const VkRenderingFragmentShadingRateAttachmentInfoKHR *rate =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);
    if (rate)
        use_view(buffer, rate->imageView, 0, rate->imageLayout, NULL, rate_scope);
    const VkRenderingFragmentDensityMapAttachmentInfoEXT *density =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_INFO_EXT);
    if (density)
        use_view(buffer, density->imageView, 0, density->imageLayout, NULL, density_scope);
}

static bool wants_hold(struct command_buffer *buffer, const VkRenderingInfo *info)
{
    return record_hold_is_wanted(buffer) && !buffer->suspending &&
           !chain_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_RENDER_PASS_BEGIN_INFO);
}

/* Spec, VkRenderingInfo: no action or synchronization command may stand between a suspended instance and the
 * one that resumes it. So what a resuming one lacks is only reported. */
void hook_CmdBeginRendering(struct command_buffer *self, PFN_vkCmdBeginRendering next,
                            VkCommandBuffer commandBuffer, const VkRenderingInfo *pRenderingInfo)
{
    self->suspending = pRenderingInfo->flags & VK_RENDERING_RESUMING_BIT;
    self->end_count = 0;
    use_attachments(self, pRenderingInfo);
    if (wants_hold(self, pRenderingInfo) &&
        body_put_CmdBeginRendering(&self->hold.body, next, pRenderingInfo)) {
        record_hold_begin(self);
    } else {
        record_flush(self);
        next(commandBuffer, pRenderingInfo);
    }
    self->pass = PASS_RENDERING;
    self->suspending = pRenderingInfo->flags & VK_RENDERING_SUSPENDING_BIT;
}

static void ended(struct command_buffer *buffer)
{
    buffer->end_count = 0;
    buffer->pass = PASS_NONE;
    record_barriers_behind(buffer);
}

void hook_CmdEndRendering(struct command_buffer *self, PFN_vkCmdEndRendering next,
                          VkCommandBuffer commandBuffer)
{
    record_flush(self);
    next(commandBuffer);
    ended(self);
}

#ifdef VK_EXT_fragment_density_map_offset
void hook_CmdEndRendering2EXT(struct command_buffer *self, PFN_vkCmdEndRendering2EXT next,
                              VkCommandBuffer commandBuffer, const VkRenderingEndInfoEXT *pRenderingEndInfo)
{
    record_flush(self);
    next(commandBuffer, pRenderingEndInfo);
    ended(self);
}
#endif
