/* Copies, blits, resolves and clears. */
#include "sync/record.h"

#define READ VK_ACCESS_2_TRANSFER_READ_BIT
#define WRITE VK_ACCESS_2_TRANSFER_WRITE_BIT
#define COPY VK_PIPELINE_STAGE_2_COPY_BIT
#define BLIT VK_PIPELINE_STAGE_2_BLIT_BIT
#define RESOLVE VK_PIPELINE_STAGE_2_RESOLVE_BIT
#define CLEAR VK_PIPELINE_STAGE_2_CLEAR_BIT

static bool same_layers(const VkImageSubresourceLayers *a, const VkImageSubresourceLayers *b)
{
    return a->aspectMask == b->aspectMask && a->mipLevel == b->mipLevel &&
           a->baseArrayLayer == b->baseArrayLayer && a->layerCount == b->layerCount;
}

/* `layers` is that of the first of `count` regions, which are `stride` bytes each. */
static void use(struct command_buffer *buffer, enum sync_command command, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access, VkImage image, VkImageLayout layout, uint32_t count,
                const VkImageSubresourceLayers *layers, size_t stride)
{
    const VkImageSubresourceLayers *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const void *next = (const char *)layers + i * stride;
        if (!last || !same_layers(next, last))
            record_use_layers(buffer, command, image, next, layout, stages, access);
        last = next;
    }
}

void hook_CmdCopyImage(struct command_buffer *self, PFN_vkCmdCopyImage next, VkCommandBuffer commandBuffer,
                       VkImage srcImage, VkImageLayout srcImageLayout, VkImage dstImage,
                       VkImageLayout dstImageLayout, uint32_t regionCount, const VkImageCopy *pRegions)
{
    use(self, COMMAND_CmdCopyImage, COPY, READ, srcImage, srcImageLayout, regionCount,
        &pRegions->srcSubresource, sizeof(*pRegions));
    use(self, COMMAND_CmdCopyImage, COPY, WRITE, dstImage, dstImageLayout, regionCount,
        &pRegions->dstSubresource, sizeof(*pRegions));
    record_flush(self);
    next(commandBuffer, srcImage, srcImageLayout, dstImage, dstImageLayout, regionCount, pRegions);
}

void hook_CmdCopyImage2(struct command_buffer *self, PFN_vkCmdCopyImage2 next, VkCommandBuffer commandBuffer,
                        const VkCopyImageInfo2 *info)
{
    use(self, COMMAND_CmdCopyImage2, COPY, READ, info->srcImage, info->srcImageLayout, info->regionCount,
        &info->pRegions->srcSubresource, sizeof(*info->pRegions));
    use(self, COMMAND_CmdCopyImage2, COPY, WRITE, info->dstImage, info->dstImageLayout, info->regionCount,
        &info->pRegions->dstSubresource, sizeof(*info->pRegions));
    record_flush(self);
    next(commandBuffer, info);
}

void hook_CmdBlitImage(struct command_buffer *self, PFN_vkCmdBlitImage next, VkCommandBuffer commandBuffer,
                       VkImage srcImage, VkImageLayout srcImageLayout, VkImage dstImage,
                       VkImageLayout dstImageLayout, uint32_t regionCount, const VkImageBlit *pRegions,
                       VkFilter filter)
{
    use(self, COMMAND_CmdBlitImage, BLIT, READ, srcImage, srcImageLayout, regionCount,
        &pRegions->srcSubresource, sizeof(*pRegions));
    use(self, COMMAND_CmdBlitImage, BLIT, WRITE, dstImage, dstImageLayout, regionCount,
        &pRegions->dstSubresource, sizeof(*pRegions));
    record_flush(self);
    next(commandBuffer, srcImage, srcImageLayout, dstImage, dstImageLayout, regionCount, pRegions, filter);
}

void hook_CmdBlitImage2(struct command_buffer *self, PFN_vkCmdBlitImage2 next, VkCommandBuffer commandBuffer,
                        const VkBlitImageInfo2 *info)
{
    use(self, COMMAND_CmdBlitImage2, BLIT, READ, info->srcImage, info->srcImageLayout, info->regionCount,
        &info->pRegions->srcSubresource, sizeof(*info->pRegions));
    use(self, COMMAND_CmdBlitImage2, BLIT, WRITE, info->dstImage, info->dstImageLayout, info->regionCount,
        &info->pRegions->dstSubresource, sizeof(*info->pRegions));
    record_flush(self);
    next(commandBuffer, info);
}

void hook_CmdCopyBufferToImage(struct command_buffer *self, PFN_vkCmdCopyBufferToImage next,
                               VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkImage dstImage,
                               VkImageLayout dstImageLayout, uint32_t regionCount,
                               const VkBufferImageCopy *pRegions)
{
    use(self, COMMAND_CmdCopyBufferToImage, COPY, WRITE, dstImage, dstImageLayout, regionCount,
        &pRegions->imageSubresource, sizeof(*pRegions));
    record_flush(self);
    next(commandBuffer, srcBuffer, dstImage, dstImageLayout, regionCount, pRegions);
}

void hook_CmdCopyBufferToImage2(struct command_buffer *self, PFN_vkCmdCopyBufferToImage2 next,
                                VkCommandBuffer commandBuffer, const VkCopyBufferToImageInfo2 *info)
{
    use(self, COMMAND_CmdCopyBufferToImage2, COPY, WRITE, info->dstImage, info->dstImageLayout,
        info->regionCount, &info->pRegions->imageSubresource, sizeof(*info->pRegions));
    record_flush(self);
    next(commandBuffer, info);
}

void hook_CmdCopyImageToBuffer(struct command_buffer *self, PFN_vkCmdCopyImageToBuffer next,
                               VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcImageLayout,
                               VkBuffer dstBuffer, uint32_t regionCount, const VkBufferImageCopy *pRegions)
{
    use(self, COMMAND_CmdCopyImageToBuffer, COPY, READ, srcImage, srcImageLayout, regionCount,
        &pRegions->imageSubresource, sizeof(*pRegions));
    record_flush(self);
    next(commandBuffer, srcImage, srcImageLayout, dstBuffer, regionCount, pRegions);
}

void hook_CmdCopyImageToBuffer2(struct command_buffer *self, PFN_vkCmdCopyImageToBuffer2 next,
                                VkCommandBuffer commandBuffer, const VkCopyImageToBufferInfo2 *info)
{
    use(self, COMMAND_CmdCopyImageToBuffer2, COPY, READ, info->srcImage, info->srcImageLayout,
        info->regionCount, &info->pRegions->imageSubresource, sizeof(*info->pRegions));
    record_flush(self);
    next(commandBuffer, info);
}

void hook_CmdResolveImage(struct command_buffer *self, PFN_vkCmdResolveImage next,
                          VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcImageLayout,
                          VkImage dstImage, VkImageLayout dstImageLayout, uint32_t regionCount,
                          const VkImageResolve *pRegions)
{
    use(self, COMMAND_CmdResolveImage, RESOLVE, READ, srcImage, srcImageLayout, regionCount,
        &pRegions->srcSubresource, sizeof(*pRegions));
    use(self, COMMAND_CmdResolveImage, RESOLVE, WRITE, dstImage, dstImageLayout, regionCount,
        &pRegions->dstSubresource, sizeof(*pRegions));
    record_flush(self);
    next(commandBuffer, srcImage, srcImageLayout, dstImage, dstImageLayout, regionCount, pRegions);
}

void hook_CmdResolveImage2(struct command_buffer *self, PFN_vkCmdResolveImage2 next,
                           VkCommandBuffer commandBuffer, const VkResolveImageInfo2 *info)
{
    use(self, COMMAND_CmdResolveImage2, RESOLVE, READ, info->srcImage, info->srcImageLayout,
        info->regionCount, &info->pRegions->srcSubresource, sizeof(*info->pRegions));
    use(self, COMMAND_CmdResolveImage2, RESOLVE, WRITE, info->dstImage, info->dstImageLayout,
        info->regionCount, &info->pRegions->dstSubresource, sizeof(*info->pRegions));
    record_flush(self);
    next(commandBuffer, info);
}

void hook_CmdCopyMemoryToImageIndirectNV(struct command_buffer *self,
                                         PFN_vkCmdCopyMemoryToImageIndirectNV next,
                                         VkCommandBuffer commandBuffer, VkDeviceAddress copyBufferAddress,
                                         uint32_t copyCount, uint32_t stride, VkImage dstImage,
                                         VkImageLayout dstImageLayout,
                                         const VkImageSubresourceLayers *pImageSubresources)
{
    use(self, COMMAND_CmdCopyMemoryToImageIndirectNV, COPY, WRITE, dstImage, dstImageLayout, copyCount,
        pImageSubresources, sizeof(*pImageSubresources));
    record_flush(self);
    next(commandBuffer, copyBufferAddress, copyCount, stride, dstImage, dstImageLayout, pImageSubresources);
}

void hook_CmdClearColorImage(struct command_buffer *self, PFN_vkCmdClearColorImage next,
                             VkCommandBuffer commandBuffer, VkImage image, VkImageLayout imageLayout,
                             const VkClearColorValue *pColor, uint32_t rangeCount,
                             const VkImageSubresourceRange *pRanges)
{
    for (uint32_t i = 0; i < rangeCount; i++)
        record_use_range(self, COMMAND_CmdClearColorImage, image, &pRanges[i], imageLayout, CLEAR, WRITE);
    record_flush(self);
    next(commandBuffer, image, imageLayout, pColor, rangeCount, pRanges);
}

void hook_CmdClearDepthStencilImage(struct command_buffer *self, PFN_vkCmdClearDepthStencilImage next,
                                    VkCommandBuffer commandBuffer, VkImage image, VkImageLayout imageLayout,
                                    const VkClearDepthStencilValue *pDepthStencil, uint32_t rangeCount,
                                    const VkImageSubresourceRange *pRanges)
{
    for (uint32_t i = 0; i < rangeCount; i++)
        record_use_range(self, COMMAND_CmdClearDepthStencilImage, image, &pRanges[i], imageLayout, CLEAR,
                         WRITE);
    record_flush(self);
    next(commandBuffer, image, imageLayout, pDepthStencil, rangeCount, pRanges);
}
