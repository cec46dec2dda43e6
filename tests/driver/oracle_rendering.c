/* Dynamic rendering. */
#include "command_buffer.h"
#include "driver_records.h"
#include "oracle_replay.h"

/* Part of a view: one aspect of a depth/stencil image, all of another. */
static VkImageSubresourceRange range_of(const struct image_view *view, VkImageAspectFlags aspect)
{
    VkImageSubresourceRange range = view->range;

    if (aspect)
        range.aspectMask = aspect;
    return range;
}

/* What of it is loaded and stored. */
static VkImageSubresourceRange contents_of(const VkRenderingInfo *info, const struct image_view *view,
                                           VkImageAspectFlags aspect)
{
    const VkImageSubresourceRange range = range_of(view, aspect);
    VkImageSubresourceRange contents = range_resolve(OBJECT(image, view->image), &range);

    if (!info->viewMask && info->layerCount < contents.layerCount)
        contents.layerCount = info->layerCount;
    return contents;
}

static bool is_whole(const VkRenderingInfo *info, const struct image_view *view)
{
    return area_covers(view->image, view->range.baseMipLevel, &info->renderArea) &&
           OBJECT(image, view->image)->info.imageType != VK_IMAGE_TYPE_3D;
}

static void begin_attachment(const struct replay *replay, const VkRenderingInfo *info,
                             const VkRenderingAttachmentInfo *attachment, VkImageAspectFlags aspect)
{
    const struct image_view *view = OBJECT(image_view, attachment->imageView);
    VkImageSubresourceRange range = range_of(view, aspect);

    use_check(replay, view->image, &range, attachment->imageLayout);
    range = contents_of(info, view, aspect);
    /* "load operations are not performed if VK_RENDERING_RESUMING_BIT is included" */
    if (!(info->flags & VK_RENDERING_RESUMING_BIT))
        attachment_load(replay, view->image, &range, attachment->loadOp, is_whole(info, view));
    if (attachment->resolveMode == VK_RESOLVE_MODE_NONE || !attachment->resolveImageView)
        return;
    view = OBJECT(image_view, attachment->resolveImageView);
    range = range_of(view, aspect);
    use_check(replay, view->image, &range, attachment->resolveImageLayout);
}

static void end_attachment(const struct replay *replay, const VkRenderingInfo *info,
                           const VkRenderingAttachmentInfo *attachment, VkImageAspectFlags aspect)
{
    const struct image_view *view = OBJECT(image_view, attachment->imageView);
    VkImageSubresourceRange range = contents_of(info, view, aspect);
    const VkImageAspectFlagBits judged =
        aspect == VK_IMAGE_ASPECT_STENCIL_BIT ? VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_DEPTH_BIT;

    attachment_store(replay, view->image, &range, attachment->storeOp,
                     layout_is_writable(judged, attachment->imageLayout), is_whole(info, view));
    if (attachment->resolveMode == VK_RESOLVE_MODE_NONE || !attachment->resolveImageView)
        return;
    view = OBJECT(image_view, attachment->resolveImageView);
    range = contents_of(info, view, aspect);
    use_write(view->image, &range, CONTENT_RESOLVE, 0);
}

static void each_attachment(const struct replay *replay, const VkRenderingInfo *info,
                            void (*act)(const struct replay *replay, const VkRenderingInfo *info,
                                        const VkRenderingAttachmentInfo *attachment,
                                        VkImageAspectFlags aspect))
{
    const VkRenderingAttachmentInfo *depth = info->pDepthAttachment;
    const VkRenderingAttachmentInfo *stencil = info->pStencilAttachment;

    for (uint32_t i = 0; i < info->colorAttachmentCount; i++) {
        if (info->pColorAttachments[i].imageView)
            act(replay, info, &info->pColorAttachments[i], 0);
    }
    if (depth && depth->imageView)
        act(replay, info, depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    if (stencil && stencil->imageView)
        act(replay, info, stencil, VK_IMAGE_ASPECT_STENCIL_BIT);
}

static bool attachment_uses_image(const VkRenderingAttachmentInfo *attachment, VkImage image)
{
    const struct image_view *view = attachment ? OBJECT(image_view, attachment->imageView) : NULL;

    return view && view->image == image;
}

bool rendering_uses_image(const VkRenderingInfo *info, VkImage image)
{
    for (uint32_t i = 0; i < info->colorAttachmentCount; i++) {
        if (attachment_uses_image(&info->pColorAttachments[i], image))
            return true;
    }
    return attachment_uses_image(info->pDepthAttachment, image) ||
           attachment_uses_image(info->pStencilAttachment, image);
}

static void check_view(const struct replay *replay, VkImageView handle, VkImageLayout layout)
{
    const struct image_view *view = OBJECT(image_view, handle);

    if (!view)
        return;
    use_check(replay, view->image, &view->range, layout);
    use_read(replay, view->image, &view->range);
}

static void check_maps(const struct replay *replay, const VkRenderingInfo *info)
{
    const VkRenderingFragmentShadingRateAttachmentInfoKHR *rate =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);
    const VkRenderingFragmentDensityMapAttachmentInfoEXT *density =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_INFO_EXT);

    if (rate)
        check_view(replay, rate->imageView, rate->imageLayout);
    if (density)
        check_view(replay, density->imageView, density->imageLayout);
}

static void begin(struct replay *replay, const VkRenderingInfo *info)
{
    const bool resumes = info->flags & VK_RENDERING_RESUMING_BIT;

    if (resumes && replay->suspended)
        replay->suspended = false;
    else if (resumes)
        replay_violate(replay, FAULT_ORACLE_PLACE, "rendering is resumed that wasn't suspended");
    else
        replay_outside(replay);
    replay->rendering = info;
    each_attachment(replay, info, begin_attachment);
    check_maps(replay, info);
}

static void end(struct replay *replay)
{
    const VkRenderingInfo *info = replay->rendering;

    replay->rendering = NULL;
    if (!info)
        return;
    replay->suspended = info->flags & VK_RENDERING_SUSPENDING_BIT;
    if (!replay->suspended)
        each_attachment(replay, info, end_attachment);
}

bool replay_rendering(struct replay *replay, const struct recorded_command *command)
{
    switch ((int)command->command) {
    case COMMAND_vkCmdBeginRendering:
        begin(replay, ((const struct arguments_vkCmdBeginRendering *)command->arguments)->pRenderingInfo);
        return true;
    case COMMAND_vkCmdEndRendering:
#if defined(VK_KHR_maintenance10)
    case COMMAND_vkCmdEndRendering2KHR:
#elif defined(VK_EXT_fragment_density_map_offset)
    case COMMAND_vkCmdEndRendering2EXT:
#endif
        end(replay);
        return true;
    default:
        return false;
    }
}
