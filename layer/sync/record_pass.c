/* Render passes. */
#include "chain.h"
#include "sync/record.h"
#include "sync/record_attachment.h"
#include "sync/record_hold.h"
#include "sync/record_hoist.h"

/* vkCmdBeginRenderPass or vkCmdBeginRenderPass2. */
struct beginning {
    struct command_buffer *buffer;
    enum sync_command command;
    const struct render_pass *pass;
    struct layer_use layers;
};

/* An attachment of which nothing is known but that it is one: what is unknown stays so at the end. */
static void forget(struct command_buffer *buffer, const struct image_view *view)
{
    struct contract_image *part = view ? command_buffer_image(buffer, view->image) : NULL;
    if (!part)
        return;
    struct subresource_range all = subresource_range_all(&part->map.shape);
    contract_forget(part, &all);
    if (command_buffer_reserve_end(buffer))
        buffer->ends[buffer->end_count++] = (struct pass_end){.image = part, .range = all};
    else
        buffer->failed = true;
}

/* Aspects that begin and end alike. */
static void use_aspects(struct beginning *beginning, const struct pass_attachment *attachment,
                        struct contract_image *part, const struct subresource_range *range, uint32_t aspect)
{
    struct command_buffer *buffer = beginning->buffer;
    VkImageLayout initial = attachment->initial[aspect], final = attachment->final[aspect];
    const struct scope *first = &attachment->first;
    if (!command_buffer_reserve_end(buffer)) {
        buffer->failed = true;
        return;
    }
    if (initial == VK_IMAGE_LAYOUT_UNDEFINED) {
        struct use use = {final, (uint16_t)beginning->command, (uint16_t)buffer->label, *first};
        contract_use_discard(part, range, &use);
    } else {
        record_use(buffer, beginning->command, part->image, range, initial, first->stages, first->access);
    }
    buffer->ends[buffer->end_count++] = (struct pass_end){part, *range, final, attachment->last};
}

static void use_stretch(struct beginning *beginning, const struct pass_attachment *attachment,
                        struct contract_image *part, struct subresource_range range)
{
    bool alike =
        attachment->initial[0] == attachment->initial[1] && attachment->final[0] == attachment->final[1];
    /* Spec, VkFramebufferCreateInfo: of a depth/stencil attachment both aspects are used, whatever the view
     * names. */
    uint32_t aspects = subresource_range_all(&part->map.shape).aspects;
    for (uint32_t i = 0; aspects >> i; i++) {
        range.aspects = alike ? aspects : 1u << i;
        use_aspects(beginning, attachment, part, &range, i);
        if (alike)
            break;
    }
}

/* Spec, "Render Pass Layout Transitions": they apply to as many layers as the framebuffer has, or to those of
 * the views that some subpass uses. Of others in the attachment's view nothing is sure: drivers differ. */
static void use_attachment(struct beginning *beginning, const struct pass_attachment *attachment,
                           const struct image_view *view)
{
    struct contract_image *part = command_buffer_image(beginning->buffer, view->image);
    struct layer_stretch stretch = {0};
    if (!part)
        return;
    /* Of a 3D image the whole mip has one layout. */
    struct layer_use all = {0, 1};
    const struct layer_use *layers = view->image->three_d ? &all : &beginning->layers;
    while (layer_stretch_next(&stretch, layers, view->range.layer_count)) {
        struct subresource_range range = view->range;
        range.base_layer += stretch.first;
        range.layer_count = stretch.count;
        if (stretch.used)
            use_stretch(beginning, attachment, part, range);
        else
            contract_forget(part, &range);
    }
}

/* The views that the instance is begun with: those of the framebuffer, or of one without images, those named
 * here. */
struct views {
    uint32_t count;
    struct image_view *const *known;
    const VkImageView *handles;
};

static struct image_view *view_at(const struct command_buffer *buffer, const struct views *views, uint32_t i)
{
    return views->known ? views->known[i] : image_view_find(buffer->sync, views->handles[i]);
}

/* False if they can't be named. */
static bool find_views(const struct framebuffer *framebuffer, const VkRenderPassBeginInfo *info,
                       struct views *views)
{
    const VkRenderPassAttachmentBeginInfo *named =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
    *views = (struct views){0};
    if (framebuffer && !framebuffer->imageless) {
        views->count = framebuffer->attachment_count;
        views->known = framebuffer->views;
        return true;
    }
    if (named) {
        views->count = named->attachmentCount;
        views->handles = named->pAttachments;
    }
    return named || (framebuffer && !framebuffer->attachment_count);
}

static void begin(struct command_buffer *buffer, enum sync_command command, const VkRenderPassBeginInfo *info)
{
    struct device_sync *sync = buffer->sync;
    const struct framebuffer *framebuffer = framebuffer_find(sync, info->framebuffer);
    struct beginning beginning = {
        .buffer = buffer,
        .command = command,
        .pass = render_pass_find(sync, info->renderPass),
    };
    struct views views;
    buffer->end_count = 0;
    if (!find_views(framebuffer, info, &views)) {
        buffer->failed = true;
        return;
    }
    bool known = beginning.pass && framebuffer && views.count <= beginning.pass->attachment_count;
    if (known)
        beginning.layers = (struct layer_use){beginning.pass->view_mask, framebuffer->layers};
    for (uint32_t i = 0; i < views.count; i++) {
        const struct image_view *view = view_at(buffer, &views, i);
        if (!known)
            forget(buffer, view);
        else if (view)
            use_attachment(&beginning, &beginning.pass->attachments[i], view);
    }
}

static void begun(struct command_buffer *buffer)
{
    buffer->pass = PASS_LEGACY;
    buffer->suspending = false;
}

/* Where several devices take part, an instance isn't held: what is recorded depends on the device mask. */
static bool wants_hold(struct command_buffer *buffer, const VkRenderPassBeginInfo *info)
{
    return record_hold_is_wanted(buffer) &&
           !chain_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_RENDER_PASS_BEGIN_INFO);
}

static void end(struct command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->end_count; i++) {
        const struct pass_end *end = &buffer->ends[i];
        contract_leave(end->image, &end->range, end->layout, &end->last);
        command_buffer_changed(buffer, end->image);
    }
    buffer->end_count = 0;
    buffer->pass = PASS_NONE;
    record_barriers_behind(buffer);
}

void hook_CmdBeginRenderPass(struct command_buffer *self, PFN_vkCmdBeginRenderPass next,
                             VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo *pRenderPassBegin,
                             VkSubpassContents contents)
{
    begin(self, COMMAND_CmdBeginRenderPass, pRenderPassBegin);
    if (wants_hold(self, pRenderPassBegin) &&
        body_put_CmdBeginRenderPass(&self->hold.body, next, pRenderPassBegin, contents)) {
        record_hold_begin(self);
    } else {
        record_flush(self);
        next(commandBuffer, pRenderPassBegin, contents);
    }
    begun(self);
}

void hook_CmdBeginRenderPass2(struct command_buffer *self, PFN_vkCmdBeginRenderPass2 next,
                              VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo *pRenderPassBegin,
                              const VkSubpassBeginInfo *pSubpassBeginInfo)
{
    begin(self, COMMAND_CmdBeginRenderPass2, pRenderPassBegin);
    if (wants_hold(self, pRenderPassBegin) &&
        body_put_CmdBeginRenderPass2(&self->hold.body, next, pRenderPassBegin, pSubpassBeginInfo)) {
        record_hold_begin(self);
    } else {
        record_flush(self);
        next(commandBuffer, pRenderPassBegin, pSubpassBeginInfo);
    }
    begun(self);
}

void hook_CmdEndRenderPass(struct command_buffer *self, PFN_vkCmdEndRenderPass next,
                           VkCommandBuffer commandBuffer)
{
    record_flush(self);
    next(commandBuffer);
    end(self);
}

void hook_CmdEndRenderPass2(struct command_buffer *self, PFN_vkCmdEndRenderPass2 next,
                            VkCommandBuffer commandBuffer, const VkSubpassEndInfo *pSubpassEndInfo)
{
    record_flush(self);
    next(commandBuffer, pSubpassEndInfo);
    end(self);
}
