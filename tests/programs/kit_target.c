#include "kit_shader.h"

/* As many as a pass may have attachments here. */
static const VkClearValue clear_values[2] = {{.color = {.float32 = {0.5f, 0.25f, 0.75f, 1}}},
                                             {.color = {.float32 = {0.25f, 0.75f, 0.5f, 1}}}};

VkFramebuffer kit_framebuffer(struct kit *kit, VkRenderPass pass, const VkImageView *views, uint32_t count,
                              uint32_t side)
{
    VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = count,
        .pAttachments = views,
        .width = side,
        .height = side,
        .layers = 1,
    };
    VkFramebuffer framebuffer;
    kit_check_room(kit->framebuffer_count);
    kit_check(vkCreateFramebuffer(kit->device, &info, NULL, &framebuffer), "vkCreateFramebuffer");
    return kit->framebuffers[kit->framebuffer_count++] = framebuffer;
}

struct kit_target kit_target_of(struct kit *kit, VkImageView view, uint32_t side, VkRenderPass pass)
{
    return (struct kit_target){
        .view = view,
        .side = side,
        .pass = pass,
        .framebuffer = pass ? kit_framebuffer(kit, pass, &view, 1, side) : VK_NULL_HANDLE,
    };
}

struct kit_target kit_target(struct kit *kit, VkImage image)
{
    const VkImageLayout color = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkRenderPass pass = VK_NULL_HANDLE;
    if (!kit->options.rendering)
        pass = kit_pass(kit, format, VK_ATTACHMENT_LOAD_OP_CLEAR, color, color, color);
    return kit_target_of(kit, kit_view(kit, image, format, VK_IMAGE_ASPECT_COLOR_BIT), KIT_SIDE, pass);
}

struct kit_pipeline kit_target_pipeline(struct kit *kit, const struct kit_target *target,
                                        enum kit_shader shader)
{
    return kit_pipeline(
        kit, &(struct kit_pipeline_info){.shader = shader, .pass = target->pass, .side = target->side});
}

static void begin(VkCommandBuffer commands, const struct kit_target *target, bool secondary)
{
    VkRect2D area = {{0, 0}, {target->side, target->side}};
    if (target->pass) {
        VkRenderPassBeginInfo info = {
            .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
            .renderPass = target->pass,
            .framebuffer = target->framebuffer,
            .renderArea = area,
            .clearValueCount = 2,
            .pClearValues = clear_values,
        };
        vkCmdBeginRenderPass(commands, &info,
                             secondary ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
                                       : VK_SUBPASS_CONTENTS_INLINE);
        return;
    }
    VkRenderingAttachmentInfo attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target->view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = clear_values[0],
    };
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = target->flags |
                 (secondary ? (VkRenderingFlags)VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT : 0),
        .renderArea = area,
        .layerCount = 1,
        .viewMask = target->view_mask,
        .colorAttachmentCount = 1,
        .pColorAttachments = &attachment,
    };
    vkCmdBeginRendering(commands, &info);
}

void kit_begin_target(VkCommandBuffer commands, const struct kit_target *target)
{
    begin(commands, target, false);
}

void kit_begin_target_secondary(VkCommandBuffer commands, const struct kit_target *target)
{
    begin(commands, target, true);
}

void kit_end_target(VkCommandBuffer commands, const struct kit_target *target)
{
    if (target->pass)
        vkCmdEndRenderPass(commands);
    else
        vkCmdEndRendering(commands);
}

VkCommandBuffer kit_begin_inside(struct kit *kit, const struct kit_target *target)
{
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = kit->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
        .commandBufferCount = 1,
    };
    VkCommandBufferInheritanceRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .pNext = target->pass ? NULL : &rendering,
        .renderPass = target->pass,
        .framebuffer = target->framebuffer,
    };
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
        .pInheritanceInfo = &inheritance,
    };
    VkCommandBuffer commands;
    kit_check(vkAllocateCommandBuffers(kit->device, &allocation, &commands), "vkAllocateCommandBuffers");
    kit_check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
    return commands;
}
