/* Copies, blits, resolves and clears. */
#include "sync/record.h"

#define COPY VK_PIPELINE_STAGE_2_COPY_BIT
#define BLIT VK_PIPELINE_STAGE_2_BLIT_BIT
#define RESOLVE VK_PIPELINE_STAGE_2_RESOLVE_BIT
#define CLEAR VK_PIPELINE_STAGE_2_CLEAR_BIT
#define READ VK_ACCESS_2_TRANSFER_READ_BIT
#define WRITE VK_ACCESS_2_TRANSFER_WRITE_BIT

/* One image of a command and how all its regions use it. */
struct side {
    struct command_buffer *buffer;
    enum sync_command command;
    struct image *image;
    VkImageLayout layout;
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
};

static struct side side_of(struct command_buffer *buffer, enum sync_command command, VkImage image,
                           VkImageLayout layout, VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    return (struct side){buffer, command, image_find(buffer->sync, image), layout, stages, access};
}

static void use(const struct side *side, const VkImageSubresourceLayers *layers)
{
    record_use_layers(side->buffer, side->command, side->image, layers, side->layout, side->stages,
                      side->access);
}

/* The regions of every command that has two images begin with the source's layers, and name the destination's
 * later: this is written for each kind, since their structures share nothing else. */
#define USE_BOTH(regions, count, source, destination)                                                        \
    for (uint32_t i = 0; i < (count); i++) {                                                                 \
        use(&(source), &(regions)[i].srcSubresource);                                                        \
        use(&(destination), &(regions)[i].dstSubresource);                                                   \
    }

void hook_CmdCopyImage(struct command_buffer *buffer, PFN_vkCmdCopyImage next, VkCommandBuffer commandBuffer,
                       VkImage srcImage, VkImageLayout srcImageLayout, VkImage dstImage,
                       VkImageLayout dstImageLayout, uint32_t regionCount, const VkImageCopy *pRegions)
{
    struct side source = side_of(buffer, COMMAND_CmdCopyImage, srcImage, srcImageLayout, COPY, READ);
    struct side destination = side_of(buffer, COMMAND_CmdCopyImage, dstImage, dstImageLayout, COPY, WRITE);
    USE_BOTH(pRegions, regionCount, source, destination)
    record_flush(buffer);
    next(commandBuffer, srcImage, srcImageLayout, dstImage, dstImageLayout, regionCount, pRegions);
}

void hook_CmdCopyImage2(struct command_buffer *buffer, PFN_vkCmdCopyImage2 next,
                        VkCommandBuffer commandBuffer, const VkCopyImageInfo2 *info)
{
    struct side source =
        side_of(buffer, COMMAND_CmdCopyImage2, info->srcImage, info->srcImageLayout, COPY, READ);
    struct side destination =
        side_of(buffer, COMMAND_CmdCopyImage2, info->dstImage, info->dstImageLayout, COPY, WRITE);
    USE_BOTH(info->pRegions, info->regionCount, source, destination)
    record_flush(buffer);
    next(commandBuffer, info);
}

void hook_CmdBlitImage(struct command_buffer *buffer, PFN_vkCmdBlitImage next, VkCommandBuffer commandBuffer,
                       VkImage srcImage, VkImageLayout srcImageLayout, VkImage dstImage,
                       VkImageLayout dstImageLayout, uint32_t regionCount, const VkImageBlit *pRegions,
                       VkFilter filter)
{
    struct side source = side_of(buffer, COMMAND_CmdBlitImage, srcImage, srcImageLayout, BLIT, READ);
    struct side destination = side_of(buffer, COMMAND_CmdBlitImage, dstImage, dstImageLayout, BLIT, WRITE);
    USE_BOTH(pRegions, regionCount, source, destination)
    record_flush(buffer);
    next(commandBuffer, srcImage, srcImageLayout, dstImage, dstImageLayout, regionCount, pRegions, filter);
}

void hook_CmdBlitImage2(struct command_buffer *buffer, PFN_vkCmdBlitImage2 next,
                        VkCommandBuffer commandBuffer, const VkBlitImageInfo2 *info)
{
    struct side source =
        side_of(buffer, COMMAND_CmdBlitImage2, info->srcImage, info->srcImageLayout, BLIT, READ);
    struct side destination =
        side_of(buffer, COMMAND_CmdBlitImage2, info->dstImage, info->dstImageLayout, BLIT, WRITE);
    USE_BOTH(info->pRegions, info->regionCount, source, destination)
    record_flush(buffer);
    next(commandBuffer, info);
}

void hook_CmdResolveImage(struct command_buffer *buffer, PFN_vkCmdResolveImage next,
                          VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcImageLayout,
                          VkImage dstImage, VkImageLayout dstImageLayout, uint32_t regionCount,
                          const VkImageResolve *pRegions)
{
    struct side source = side_of(buffer, COMMAND_CmdResolveImage, srcImage, srcImageLayout, RESOLVE, READ);
    struct side destination =
        side_of(buffer, COMMAND_CmdResolveImage, dstImage, dstImageLayout, RESOLVE, WRITE);
    USE_BOTH(pRegions, regionCount, source, destination)
    record_flush(buffer);
    next(commandBuffer, srcImage, srcImageLayout, dstImage, dstImageLayout, regionCount, pRegions);
}

void hook_CmdResolveImage2(struct command_buffer *buffer, PFN_vkCmdResolveImage2 next,
                           VkCommandBuffer commandBuffer, const VkResolveImageInfo2 *info)
{
    struct side source =
        side_of(buffer, COMMAND_CmdResolveImage2, info->srcImage, info->srcImageLayout, RESOLVE, READ);
    struct side destination =
        side_of(buffer, COMMAND_CmdResolveImage2, info->dstImage, info->dstImageLayout, RESOLVE, WRITE);
    USE_BOTH(info->pRegions, info->regionCount, source, destination)
    record_flush(buffer);
    next(commandBuffer, info);
}

void hook_CmdCopyBufferToImage(struct command_buffer *buffer, PFN_vkCmdCopyBufferToImage next,
                               VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkImage dstImage,
                               VkImageLayout dstImageLayout, uint32_t regionCount,
                               const VkBufferImageCopy *pRegions)
{
    struct side side = side_of(buffer, COMMAND_CmdCopyBufferToImage, dstImage, dstImageLayout, COPY, WRITE);
    for (uint32_t i = 0; i < regionCount; i++)
        use(&side, &pRegions[i].imageSubresource);
    record_flush(buffer);
    next(commandBuffer, srcBuffer, dstImage, dstImageLayout, regionCount, pRegions);
}

void hook_CmdCopyBufferToImage2(struct command_buffer *buffer, PFN_vkCmdCopyBufferToImage2 next,
                                VkCommandBuffer commandBuffer, const VkCopyBufferToImageInfo2 *info)
{
    struct side side =
        side_of(buffer, COMMAND_CmdCopyBufferToImage2, info->dstImage, info->dstImageLayout, COPY, WRITE);
    for (uint32_t i = 0; i < info->regionCount; i++)
        use(&side, &info->pRegions[i].imageSubresource);
    record_flush(buffer);
    next(commandBuffer, info);
}

void hook_CmdCopyImageToBuffer(struct command_buffer *buffer, PFN_vkCmdCopyImageToBuffer next,
                               VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcImageLayout,
                               VkBuffer dstBuffer, uint32_t regionCount, const VkBufferImageCopy *pRegions)
{
    struct side side = side_of(buffer, COMMAND_CmdCopyImageToBuffer, srcImage, srcImageLayout, COPY, READ);
    for (uint32_t i = 0; i < regionCount; i++)
        use(&side, &pRegions[i].imageSubresource);
    record_flush(buffer);
    next(commandBuffer, srcImage, srcImageLayout, dstBuffer, regionCount, pRegions);
}

void hook_CmdCopyImageToBuffer2(struct command_buffer *buffer, PFN_vkCmdCopyImageToBuffer2 next,
                                VkCommandBuffer commandBuffer, const VkCopyImageToBufferInfo2 *info)
{
    struct side side =
        side_of(buffer, COMMAND_CmdCopyImageToBuffer2, info->srcImage, info->srcImageLayout, COPY, READ);
    for (uint32_t i = 0; i < info->regionCount; i++)
        use(&side, &info->pRegions[i].imageSubresource);
    record_flush(buffer);
    next(commandBuffer, info);
}

void hook_CmdCopyMemoryToImageIndirectNV(struct command_buffer *buffer,
                                         PFN_vkCmdCopyMemoryToImageIndirectNV next,
                                         VkCommandBuffer commandBuffer, VkDeviceAddress copyBufferAddress,
                                         uint32_t copyCount, uint32_t stride, VkImage dstImage,
                                         VkImageLayout dstImageLayout,
                                         const VkImageSubresourceLayers *pImageSubresources)
{
    struct side side =
        side_of(buffer, COMMAND_CmdCopyMemoryToImageIndirectNV, dstImage, dstImageLayout, COPY, WRITE);
    for (uint32_t i = 0; i < copyCount; i++)
        use(&side, &pImageSubresources[i]);
    record_flush(buffer);
    next(commandBuffer, copyBufferAddress, copyCount, stride, dstImage, dstImageLayout, pImageSubresources);
}

void hook_CmdClearColorImage(struct command_buffer *buffer, PFN_vkCmdClearColorImage next,
                             VkCommandBuffer commandBuffer, VkImage image, VkImageLayout imageLayout,
                             const VkClearColorValue *pColor, uint32_t rangeCount,
                             const VkImageSubresourceRange *pRanges)
{
    struct image *known = image_find(buffer->sync, image);
    for (uint32_t i = 0; i < rangeCount; i++)
        record_use_range(buffer, COMMAND_CmdClearColorImage, known, &pRanges[i], imageLayout, CLEAR, WRITE);
    record_flush(buffer);
    next(commandBuffer, image, imageLayout, pColor, rangeCount, pRanges);
}

void hook_CmdClearDepthStencilImage(struct command_buffer *buffer, PFN_vkCmdClearDepthStencilImage next,
                                    VkCommandBuffer commandBuffer, VkImage image, VkImageLayout imageLayout,
                                    const VkClearDepthStencilValue *pDepthStencil, uint32_t rangeCount,
                                    const VkImageSubresourceRange *pRanges)
{
    struct image *known = image_find(buffer->sync, image);
    for (uint32_t i = 0; i < rangeCount; i++)
        record_use_range(buffer, COMMAND_CmdClearDepthStencilImage, known, &pRanges[i], imageLayout, CLEAR,
                         WRITE);
    record_flush(buffer);
    next(commandBuffer, image, imageLayout, pDepthStencil, rangeCount, pRanges);
}
