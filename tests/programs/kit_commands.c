#include "kit.h"

VkCommandBuffer kit_begin_on(struct kit *kit, VkCommandPool pool, VkCommandBufferUsageFlags flags)
{
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = flags,
    };
    VkCommandBuffer commands;
    kit_check(vkAllocateCommandBuffers(kit->device, &allocation, &commands), "vkAllocateCommandBuffers");
    kit_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

VkCommandBuffer kit_begin(struct kit *kit)
{
    return kit_begin_on(kit, kit->pool, 0);
}

VkCommandBuffer kit_begin_secondary(struct kit *kit)
{
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = kit->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
        .commandBufferCount = 1,
    };
    VkCommandBufferInheritanceInfo inheritance = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .pInheritanceInfo = &inheritance,
    };
    VkCommandBuffer commands;
    kit_check(vkAllocateCommandBuffers(kit->device, &allocation, &commands), "vkAllocateCommandBuffers");
    kit_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

void kit_end(VkCommandBuffer commands)
{
    kit_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

void kit_submit_on(VkQueue queue, VkCommandBuffer commands, VkSemaphore wait, VkPipelineStageFlags wait_stage,
                   VkSemaphore signal)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = wait ? 1 : 0,
        .pWaitSemaphores = &wait,
        .pWaitDstStageMask = &wait_stage,
        .commandBufferCount = commands ? 1 : 0,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = signal ? 1 : 0,
        .pSignalSemaphores = &signal,
    };
    kit_check(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void kit_submit(struct kit *kit, VkCommandBuffer commands)
{
    kit_submit_on(kit->queue, commands, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
}

/* What a use in a layout means for stages and accesses. */
static void layout_scope(VkImageLayout layout, VkPipelineStageFlags *stages, VkAccessFlags *access)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL:
        *stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
        *access = VK_ACCESS_TRANSFER_READ_BIT;
        break;
    case VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL:
        *stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
        *access = VK_ACCESS_TRANSFER_WRITE_BIT;
        break;
    case VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL:
        *stages = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
        *access = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
        break;
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL:
        *stages = VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
        *access = VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
        break;
    case VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL:
        *stages = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        *access = VK_ACCESS_SHADER_READ_BIT;
        break;
    default: /* UNDEFINED, PRESENT_SRC, GENERAL, depth that is read: whatever there is */
        *stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        *access = layout == VK_IMAGE_LAYOUT_UNDEFINED || layout == VK_IMAGE_LAYOUT_PRESENT_SRC_KHR
                      ? 0
                      : VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        break;
    }
}

static void barrier1(VkCommandBuffer commands, const VkImageMemoryBarrier *barrier,
                     VkPipelineStageFlags source, VkPipelineStageFlags destination)
{
    vkCmdPipelineBarrier(commands, source, destination, 0, 0, NULL, 0, NULL, 1, barrier);
}

static void barrier2(VkCommandBuffer commands, const VkImageMemoryBarrier *barrier,
                     VkPipelineStageFlags source, VkPipelineStageFlags destination)
{
    VkImageMemoryBarrier2 both = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = source,
        .srcAccessMask = barrier->srcAccessMask,
        .dstStageMask = destination,
        .dstAccessMask = barrier->dstAccessMask,
        .oldLayout = barrier->oldLayout,
        .newLayout = barrier->newLayout,
        .srcQueueFamilyIndex = barrier->srcQueueFamilyIndex,
        .dstQueueFamilyIndex = barrier->dstQueueFamilyIndex,
        .image = barrier->image,
        .subresourceRange = barrier->subresourceRange,
    };
    VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = &both,
    };
    vkCmdPipelineBarrier2(commands, &info);
}

void kit_transition_families(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
                             VkImageLayout from, VkImageLayout to, uint32_t from_family, uint32_t to_family)
{
    VkPipelineStageFlags source, destination;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = from_family,
        .dstQueueFamilyIndex = to_family,
        .image = image,
        .subresourceRange = {range.aspects, range.mip, range.mips, range.layer, range.layers},
    };
    layout_scope(from, &source, &barrier.srcAccessMask);
    layout_scope(to, &destination, &barrier.dstAccessMask);
    barrier.srcAccessMask &= ~(VkAccessFlags)(VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_SHADER_READ_BIT);
    (kit->options.sync2 ? barrier2 : barrier1)(commands, &barrier, source, destination);
}

void kit_transition(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
                    VkImageLayout from, VkImageLayout to)
{
    kit_transition_families(kit, commands, image, range, from, to, VK_QUEUE_FAMILY_IGNORED,
                            VK_QUEUE_FAMILY_IGNORED);
}

void kit_needed(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
                VkImageLayout from, VkImageLayout to)
{
    if (kit->options.correct)
        kit_transition(kit, commands, image, range, from, to);
}

void kit_memory_barrier(struct kit *kit, VkCommandBuffer commands)
{
    const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = all,
        .dstAccessMask = all,
    };
    (void)kit;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0,
                         1, &barrier, 0, NULL, 0, NULL);
}

void kit_host_barrier(VkCommandBuffer commands)
{
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

void kit_clear(struct kit *kit, VkCommandBuffer commands, VkImage image, struct kit_range range,
               uint32_t value)
{
    VkImageSubresourceRange where = {range.aspects, range.mip, range.mips, range.layer, range.layers};
    (void)kit;
    if (range.aspects & VK_IMAGE_ASPECT_COLOR_BIT) {
        VkClearColorValue color = {
            .float32 = {(float)(value % 5) / 4, (float)(value % 3) / 2, (float)(value % 7) / 6, 1}};
        vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &color, 1, &where);
    } else {
        VkClearDepthStencilValue depth = {(float)(value % 5) / 4, value & 0xff};
        vkCmdClearDepthStencilImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &depth, 1, &where);
    }
}

void kit_upload(struct kit *kit, VkCommandBuffer commands, VkBuffer from, VkImage image, uint32_t mip,
                uint32_t layer)
{
    uint32_t side = KIT_SIDE >> mip;
    VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, mip, layer, 1},
        .imageExtent = {side, side, 1},
    };
    (void)kit;
    vkCmdCopyBufferToImage(commands, from, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
}

void kit_blit(struct kit *kit, VkCommandBuffer commands, VkImage from, uint32_t from_mip, uint32_t from_layer,
              VkImage to, uint32_t to_mip, uint32_t to_layer)
{
    int32_t from_side = KIT_SIDE >> from_mip, to_side = KIT_SIDE >> to_mip;
    VkImageBlit region = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, from_mip, from_layer, 1},
        .srcOffsets = {{0, 0, 0}, {from_side, from_side, 1}},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, to_mip, to_layer, 1},
        .dstOffsets = {{0, 0, 0}, {to_side, to_side, 1}},
    };
    (void)kit;
    vkCmdBlitImage(commands, from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to,
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region, VK_FILTER_NEAREST);
}

static VkBuffer read(struct kit *kit, VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect,
                     uint32_t mip, uint32_t layer)
{
    uint32_t side = KIT_SIDE >> mip;
    VkBuffer buffer = kit_buffer(kit, (VkDeviceSize)side * side * 4);
    VkBufferImageCopy region = {
        .imageSubresource = {aspect, mip, layer, 1},
        .imageExtent = {side, side, 1},
    };
    VkMemoryBarrier host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &region);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &host, 0,
                         NULL, 0, NULL);
    return buffer;
}

VkBuffer kit_read(struct kit *kit, VkCommandBuffer commands, VkImage image, uint32_t mip, uint32_t layer)
{
    return read(kit, commands, image, VK_IMAGE_ASPECT_COLOR_BIT, mip, layer);
}

VkBuffer kit_read_aspect(struct kit *kit, VkCommandBuffer commands, VkImage image,
                         VkImageAspectFlagBits aspect)
{
    return read(kit, commands, image, aspect, 0, 0);
}

void kit_run_for(struct kit *kit, VkCommandBuffer commands, VkBuffer result)
{
    kit_end(commands);
    kit_submit(kit, commands);
    kit_wait(kit);
    kit_hash(kit, result);
}

void kit_run(struct kit *kit, VkCommandBuffer commands, VkImage image, uint32_t mip, uint32_t layer)
{
    kit_run_for(kit, commands, kit_read(kit, commands, image, mip, layer));
}

static const VkClearValue clear_value = {.color = {.float32 = {0.25f, 0.5f, 0.75f, 1}}};

VkRenderPass kit_pass(struct kit *kit, VkFormat format, VkAttachmentLoadOp load, VkImageLayout initial,
                      VkImageLayout during, VkImageLayout final)
{
    VkAttachmentDescription attachment = {
        .format = format,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = load,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = initial,
        .finalLayout = final,
    };
    VkAttachmentReference reference = {0, during};
    bool color = format != VK_FORMAT_D32_SFLOAT_S8_UINT && format != VK_FORMAT_D32_SFLOAT;
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = color ? 1 : 0,
        .pColorAttachments = &reference,
        .pDepthStencilAttachment = color ? NULL : &reference,
    };
    const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkSubpassDependency dependencies[2] = {
        {VK_SUBPASS_EXTERNAL, 0, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, all,
         all, 0},
        {0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, all,
         all, 0},
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 2,
        .pDependencies = dependencies,
    };
    VkRenderPass pass;
    kit_check_room(kit->pass_count);
    kit_check(vkCreateRenderPass(kit->device, &info, NULL, &pass), "vkCreateRenderPass");
    return kit->passes[kit->pass_count++] = pass;
}

void kit_run_pass(struct kit *kit, VkCommandBuffer commands, VkRenderPass pass, VkImageView view)
{
    VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = 1,
        .pAttachments = &view,
        .width = KIT_SIDE,
        .height = KIT_SIDE,
        .layers = 1,
    };
    VkFramebuffer framebuffer;
    kit_check_room(kit->framebuffer_count);
    kit_check(vkCreateFramebuffer(kit->device, &info, NULL, &framebuffer), "vkCreateFramebuffer");
    kit->framebuffers[kit->framebuffer_count++] = framebuffer;
    VkRenderPassBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = framebuffer,
        .renderArea = {{0, 0}, {KIT_SIDE, KIT_SIDE}},
        .clearValueCount = 1,
        .pClearValues = &clear_value,
    };
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdEndRenderPass(commands);
}

void kit_render(struct kit *kit, VkCommandBuffer commands, VkImageView view, VkImageLayout layout,
                VkAttachmentLoadOp load, VkRenderingFlags flags)
{
    VkRenderingAttachmentInfo attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view,
        .imageLayout = layout,
        .loadOp = load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = clear_value,
    };
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = flags,
        .renderArea = {{0, 0}, {KIT_SIDE, KIT_SIDE}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &attachment,
    };
    (void)kit;
    vkCmdBeginRendering(commands, &info);
    vkCmdEndRendering(commands);
}
