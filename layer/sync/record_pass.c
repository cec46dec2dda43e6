/* Render pass instances: attachments, as render passes with framebuffers and as dynamic rendering have them.
 * Nothing is placed between their begin and their end. */
#include "chain.h"
#include "sync/record.h"

/* --- Layers --- */

/* The next neighbouring layers of a view that take part in an instance; `run` is what came before, or has no
 * layers. Spec, "Render Pass Objects" and VkRenderingInfo: as many as the framebuffer or the instance says,
 * from the view's first on; with multiview those whose views some subpass uses. What has one layer has it for
 * all views. */
static bool next_layers(const struct subresource_range *view, uint32_t view_mask, uint32_t count,
                        struct subresource_range *run)
{
    uint32_t first = run->layer_count ? run->base_layer + run->layer_count - view->base_layer : 0;
    uint32_t end = view->layer_count < 32 ? view->layer_count : 32;
    *run = *view;
    if (!view_mask || view->layer_count == 1) {
        run->layer_count = count && count < view->layer_count ? count : view->layer_count;
        return first == 0;
    }
    while (first < end && !(view_mask & 1u << first))
        first++;
    run->base_layer += first;
    run->layer_count = 0;
    while (first + run->layer_count < end && (view_mask & 1u << (first + run->layer_count)))
        run->layer_count++;
    return run->layer_count != 0;
}

/* Drivers move the layers that take part, Khronos validation takes it that all of the view are moved: those
 * that don't take part are left alone from here on. */
static void forget_others(struct command_buffer *buffer, const struct image_view *view, uint32_t view_mask,
                          uint32_t count)
{
    struct contract_image *part = command_buffer_image(buffer, view->image);
    struct subresource_range run = {.layer_count = 0}, rest = view->range;
    uint32_t known = view_mask ? 32 : count;
    if (!part || view->range.layer_count == 1)
        return;
    while (view_mask && ~view_mask && next_layers(&view->range, ~view_mask, 0, &run)) {
        run.aspects = (1u << view->image->aspect_count) - 1;
        contract_forget(part, &run);
    }
    if (known >= rest.layer_count)
        return;
    rest.aspects = (1u << view->image->aspect_count) - 1;
    rest.base_layer += known;
    rest.layer_count -= known;
    contract_forget(part, &rest);
}

static uint32_t count_runs(uint32_t view_mask)
{
    uint32_t starts = view_mask & ~(view_mask << 1), count = 1;
    while (starts &= starts - 1)
        count++;
    return count;
}

/* --- Render passes --- */

static bool add_end(struct command_buffer *buffer, const struct pass_end *end)
{
    if (!buffer->ends || buffer->end_count == buffer->end_capacity)
        return false;
    buffer->ends[buffer->end_count++] = *end;
    return true;
}

/* One aspect, or both alike: the initial layout now, the final one at the end. */
static void attach_range(struct command_buffer *buffer, enum sync_command command, struct image *image,
                         const struct subresource_range *range, const struct pass_attachment *attachment,
                         uint32_t aspect)
{
    struct contract_image *part = command_buffer_image(buffer, image);
    if (!part)
        return;
    if (attachment->initial[aspect] == VK_IMAGE_LAYOUT_UNDEFINED) {
        struct use use = {
            .layout = attachment->final[aspect],
            .command = (uint16_t)command,
            .label = (uint16_t)buffer->label,
            .scope = attachment->first,
        };
        contract_use_discard(part, range, &use);
    } else {
        record_use(buffer, command, image, range, attachment->initial[aspect], attachment->first.stages,
                   attachment->first.access);
    }
    struct pass_end end = {part, *range, attachment->final[aspect], attachment->last};
    if (!add_end(buffer, &end))
        contract_forget(part, range);
}

static void attach(struct command_buffer *buffer, enum sync_command command,
                   const struct pass_attachment *attachment, struct image *image,
                   const struct subresource_range *layers)
{
    struct subresource_range range = *layers;
    /* Spec, "Render Pass Objects": attachments of depth/stencil formats take part with both aspects. */
    range.aspects = (1u << image->aspect_count) - 1;
    if (image->aspect_count == 1 ||
        (attachment->initial[0] == attachment->initial[1] && attachment->final[0] == attachment->final[1])) {
        attach_range(buffer, command, image, &range, attachment, 0);
        return;
    }
    for (uint32_t aspect = 0; aspect < 2; aspect++) {
        range.aspects = 1u << aspect;
        attach_range(buffer, command, image, &range, attachment, aspect);
    }
}

static const VkRenderPassAttachmentBeginInfo *find_views(const VkRenderPassBeginInfo *begin)
{
    return chain_find(begin->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
}

static struct image_view *view_of(struct command_buffer *buffer, const struct framebuffer *framebuffer,
                                  const VkRenderPassAttachmentBeginInfo *views, uint32_t index)
{
    if (framebuffer && !framebuffer->imageless)
        return index < framebuffer->attachment_count ? framebuffer->views[index] : NULL;
    return views && index < views->attachmentCount ? image_view_find(buffer->sync, views->pAttachments[index])
                                                   : NULL;
}

/* What a render pass that isn't known does to its attachments can't be told: they are left alone for good. */
static void lose_attachments(struct command_buffer *buffer, const struct framebuffer *framebuffer,
                             const VkRenderPassAttachmentBeginInfo *views)
{
    uint32_t count = framebuffer && !framebuffer->imageless ? framebuffer->attachment_count
                     : views                                ? views->attachmentCount
                                                            : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct image_view *view = view_of(buffer, framebuffer, views, i);
        if (view)
            image_set_untracked(view->image, IMAGE_NEWER);
    }
}

static void attach_all(struct command_buffer *buffer, enum sync_command command,
                       const struct render_pass *pass, const struct framebuffer *framebuffer,
                       const VkRenderPassAttachmentBeginInfo *views)
{
    buffer->end_count = 0;
    buffer->end_capacity = 2 * pass->attachment_count * count_runs(pass->view_mask);
    buffer->ends = arena_alloc(&buffer->arena, buffer->end_capacity * sizeof(*buffer->ends));
    uint32_t count = framebuffer ? framebuffer->layers : 0;
    for (uint32_t i = 0; i < pass->attachment_count; i++) {
        const struct image_view *view = view_of(buffer, framebuffer, views, i);
        struct subresource_range layers = {.layer_count = 0};
        if (!view)
            continue;
        while (next_layers(&view->range, pass->view_mask, count, &layers))
            attach(buffer, command, &pass->attachments[i], view->image, &layers);
        forget_others(buffer, view, pass->view_mask, count);
    }
}

static void begin_pass(struct command_buffer *buffer, enum sync_command command,
                       const VkRenderPassBeginInfo *begin)
{
    const struct render_pass *pass = render_pass_find(buffer->sync, begin->renderPass);
    const struct framebuffer *framebuffer = framebuffer_find(buffer->sync, begin->framebuffer);
    const VkRenderPassAttachmentBeginInfo *views = find_views(begin);
    if (pass)
        attach_all(buffer, command, pass, framebuffer, views);
    else
        lose_attachments(buffer, framebuffer, views);
    record_flush(buffer);
    buffer->pass = PASS_LEGACY;
}

static void end_pass(struct command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->end_count; i++) {
        const struct pass_end *end = &buffer->ends[i];
        contract_leave(end->image, &end->range, end->layout, &end->last);
    }
    buffer->end_count = 0;
    buffer->ends = NULL;
    buffer->pass = PASS_NONE;
}

void hook_CmdBeginRenderPass(struct command_buffer *buffer, PFN_vkCmdBeginRenderPass next,
                             VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo *pRenderPassBegin,
                             VkSubpassContents contents)
{
    begin_pass(buffer, COMMAND_CmdBeginRenderPass, pRenderPassBegin);
    next(commandBuffer, pRenderPassBegin, contents);
}

void hook_CmdBeginRenderPass2(struct command_buffer *buffer, PFN_vkCmdBeginRenderPass2 next,
                              VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo *pRenderPassBegin,
                              const VkSubpassBeginInfo *pSubpassBeginInfo)
{
    begin_pass(buffer, COMMAND_CmdBeginRenderPass2, pRenderPassBegin);
    next(commandBuffer, pRenderPassBegin, pSubpassBeginInfo);
}

void hook_CmdEndRenderPass(struct command_buffer *buffer, PFN_vkCmdEndRenderPass next,
                           VkCommandBuffer commandBuffer)
{
    next(commandBuffer);
    end_pass(buffer);
}

void hook_CmdEndRenderPass2(struct command_buffer *buffer, PFN_vkCmdEndRenderPass2 next,
                            VkCommandBuffer commandBuffer, const VkSubpassEndInfo *pSubpassEndInfo)
{
    next(commandBuffer, pSubpassEndInfo);
    end_pass(buffer);
}

/* --- Dynamic rendering --- */

#define COLOR_STAGES VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT
#define COLOR_ACCESS (VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT)
#define DEPTH_STAGES                                                                                         \
    (VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT)
#define DEPTH_ACCESS                                                                                         \
    (VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT)

struct rendering {
    struct command_buffer *buffer;
    const VkRenderingInfo *info;
};

/* An attachment stays in one layout. A resumed instance goes on where the suspended one was: the images are
 * in these layouts, and nothing may stand between. */
static void render_to(const struct rendering *rendering, VkImageView handle, VkImageLayout layout,
                      uint32_t aspects, VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct command_buffer *buffer = rendering->buffer;
    const VkRenderingInfo *info = rendering->info;
    struct image_view *view = handle ? image_view_find(buffer->sync, handle) : NULL;
    struct contract_image *part = view ? command_buffer_image(buffer, view->image) : NULL;
    struct subresource_range range = {.layer_count = 0};
    struct scope scope = {stages, access};
    while (part && next_layers(&view->range, info->viewMask, info->layerCount, &range)) {
        if (aspects)
            range.aspects = aspects;
        if (info->flags & VK_RENDERING_RESUMING_BIT)
            contract_leave(part, &range, layout, &scope);
        else
            record_use(buffer, COMMAND_CmdBeginRendering, view->image, &range, layout, stages, access);
    }
}

static void render_color(const struct rendering *rendering)
{
    for (uint32_t i = 0; i < rendering->info->colorAttachmentCount; i++) {
        const VkRenderingAttachmentInfo *color = &rendering->info->pColorAttachments[i];
        if (!color->imageView)
            continue;
        render_to(rendering, color->imageView, color->imageLayout, 0, COLOR_STAGES, COLOR_ACCESS);
        if (color->resolveMode != VK_RESOLVE_MODE_NONE)
            render_to(rendering, color->resolveImageView, color->resolveImageLayout, 0, COLOR_STAGES,
                      COLOR_ACCESS);
    }
}

static bool is_present(const VkRenderingAttachmentInfo *attachment)
{
    return attachment && attachment->imageView;
}

/* Which aspect an attachment stands for in its image. */
static uint32_t aspect_bit(struct command_buffer *buffer, VkImageView handle, VkImageAspectFlagBits aspect)
{
    const struct image_view *view = image_view_find(buffer->sync, handle);
    for (uint32_t i = 0; view && i < view->image->aspect_count; i++)
        if (view->image->aspects[i] == aspect)
            return 1u << i;
    return 1;
}

static void render_aspect(const struct rendering *rendering, const VkRenderingAttachmentInfo *attachment,
                          VkImageAspectFlagBits aspect)
{
    struct command_buffer *buffer = rendering->buffer;
    bool resolves = attachment->resolveMode != VK_RESOLVE_MODE_NONE && attachment->resolveImageView;
    /* Spec, "Render Pass Multisample Resolve Operations": those of depth and stencil are performed in the
     * colour attachment output stage, too. */
    render_to(rendering, attachment->imageView, attachment->imageLayout,
              aspect_bit(buffer, attachment->imageView, aspect), DEPTH_STAGES | (resolves ? COLOR_STAGES : 0),
              DEPTH_ACCESS | (resolves ? VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT : 0));
    if (resolves)
        render_to(rendering, attachment->resolveImageView, attachment->resolveImageLayout,
                  aspect_bit(buffer, attachment->resolveImageView, aspect), COLOR_STAGES, COLOR_ACCESS);
}

static bool are_one(const VkRenderingAttachmentInfo *depth, const VkRenderingAttachmentInfo *stencil)
{
    return is_present(depth) && is_present(stencil) && depth->imageView == stencil->imageView &&
           depth->imageLayout == stencil->imageLayout && depth->resolveMode == VK_RESOLVE_MODE_NONE &&
           stencil->resolveMode == VK_RESOLVE_MODE_NONE;
}

static void render_depth_stencil(const struct rendering *rendering)
{
    const VkRenderingAttachmentInfo *depth = rendering->info->pDepthAttachment;
    const VkRenderingAttachmentInfo *stencil = rendering->info->pStencilAttachment;
    if (are_one(depth, stencil)) {
        const struct image_view *view = image_view_find(rendering->buffer->sync, depth->imageView);
        render_to(rendering, depth->imageView, depth->imageLayout,
                  view ? (1u << view->image->aspect_count) - 1 : 0, DEPTH_STAGES, DEPTH_ACCESS);
        return;
    }
    if (is_present(depth))
        render_aspect(rendering, depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    if (is_present(stencil))
        render_aspect(rendering, stencil, VK_IMAGE_ASPECT_STENCIL_BIT);
}

static void render_chained(const struct rendering *rendering)
{
    const VkRenderingFragmentShadingRateAttachmentInfoKHR *rate = chain_find(
        rendering->info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);
    const VkRenderingFragmentDensityMapAttachmentInfoEXT *density = chain_find(
        rendering->info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_INFO_EXT);
    if (rate)
        render_to(rendering, rate->imageView, rate->imageLayout, 0,
                  VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR,
                  VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR);
    if (density)
        render_to(rendering, density->imageView, density->imageLayout, 0,
                  VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT,
                  VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT);
}

void hook_CmdBeginRendering(struct command_buffer *buffer, PFN_vkCmdBeginRendering next,
                            VkCommandBuffer commandBuffer, const VkRenderingInfo *pRenderingInfo)
{
    struct rendering rendering = {buffer, pRenderingInfo};
    render_color(&rendering);
    render_depth_stencil(&rendering);
    render_chained(&rendering);
    record_flush(buffer);
    buffer->pass = PASS_RENDERING;
    buffer->suspending = pRenderingInfo->flags & VK_RENDERING_SUSPENDING_BIT;
    next(commandBuffer, pRenderingInfo);
}

void hook_CmdEndRendering(struct command_buffer *buffer, PFN_vkCmdEndRendering next,
                          VkCommandBuffer commandBuffer)
{
    next(commandBuffer);
    buffer->pass = PASS_NONE;
}
