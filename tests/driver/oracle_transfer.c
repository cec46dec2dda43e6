/* Copies, blits, resolves and clears. */
#include "command_buffer.h"
#include "driver_records.h"
#include "oracle_replay.h"

/* An image as a command names it. */
struct side {
    VkImage image;
    VkImageLayout layout;
};

static VkImageSubresourceRange range_of(const VkImageSubresourceLayers *layers)
{
    return (VkImageSubresourceRange){layers->aspectMask, layers->mipLevel, 1, layers->baseArrayLayer,
                                     layers->layerCount};
}

static uint64_t read_side(const struct replay *replay, struct side side,
                          const VkImageSubresourceLayers *layers)
{
    const VkImageSubresourceRange range = range_of(layers);

    use_check(replay, side.image, &range, side.layout);
    return use_read(replay, side.image, &range);
}

static void write_side(const struct replay *replay, struct side side, const VkImageSubresourceLayers *layers,
                       enum content_event event, uint64_t source)
{
    const VkImageSubresourceRange range = range_of(layers);

    use_check(replay, side.image, &range, side.layout);
    use_write(side.image, &range, event, source);
}

static void image_to_image(const struct replay *replay, struct side source,
                           const VkImageSubresourceLayers *source_layers, struct side destination,
                           const VkImageSubresourceLayers *destination_layers, enum content_event event)
{
    const uint64_t history = read_side(replay, source, source_layers);

    write_side(replay, destination, destination_layers, event, history);
}

/* The regions of both forms of a command have members of the same names. */
#define EACH_REGION(a, event)                                                                                \
    for (uint32_t i = 0; i < (a)->regionCount; i++)                                                          \
    image_to_image(replay, (struct side){(a)->srcImage, (a)->srcImageLayout},                                \
                   &(a)->pRegions[i].srcSubresource, (struct side){(a)->dstImage, (a)->dstImageLayout},      \
                   &(a)->pRegions[i].dstSubresource, event)

static void copy_image(const struct replay *replay, const struct arguments_vkCmdCopyImage *a)
{
    EACH_REGION(a, CONTENT_TRANSFER);
}

static void copy_image2(const struct replay *replay, const VkCopyImageInfo2 *a)
{
    EACH_REGION(a, CONTENT_TRANSFER);
}

static void blit_image(const struct replay *replay, const struct arguments_vkCmdBlitImage *a)
{
    EACH_REGION(a, CONTENT_TRANSFER);
}

static void blit_image2(const struct replay *replay, const VkBlitImageInfo2 *a)
{
    EACH_REGION(a, CONTENT_TRANSFER);
}

static void resolve_image(const struct replay *replay, const struct arguments_vkCmdResolveImage *a)
{
    EACH_REGION(a, CONTENT_RESOLVE);
}

static void resolve_image2(const struct replay *replay, const VkResolveImageInfo2 *a)
{
    EACH_REGION(a, CONTENT_RESOLVE);
}

static void copy_to_image(const struct replay *replay, const struct arguments_vkCmdCopyBufferToImage *a)
{
    for (uint32_t i = 0; i < a->regionCount; i++)
        write_side(replay, (struct side){a->dstImage, a->dstImageLayout}, &a->pRegions[i].imageSubresource,
                   CONTENT_TRANSFER, 0);
}

static void copy_to_image2(const struct replay *replay, const VkCopyBufferToImageInfo2 *a)
{
    for (uint32_t i = 0; i < a->regionCount; i++)
        write_side(replay, (struct side){a->dstImage, a->dstImageLayout}, &a->pRegions[i].imageSubresource,
                   CONTENT_TRANSFER, 0);
}

static void copy_from_image(const struct replay *replay, const struct arguments_vkCmdCopyImageToBuffer *a)
{
    for (uint32_t i = 0; i < a->regionCount; i++)
        read_side(replay, (struct side){a->srcImage, a->srcImageLayout}, &a->pRegions[i].imageSubresource);
}

static void copy_from_image2(const struct replay *replay, const VkCopyImageToBufferInfo2 *a)
{
    for (uint32_t i = 0; i < a->regionCount; i++)
        read_side(replay, (struct side){a->srcImage, a->srcImageLayout}, &a->pRegions[i].imageSubresource);
}

static void clear(const struct replay *replay, struct side side, uint32_t count,
                  const VkImageSubresourceRange *ranges)
{
    for (uint32_t i = 0; i < count; i++) {
        use_check(replay, side.image, &ranges[i], side.layout);
        use_write(side.image, &ranges[i], CONTENT_CLEAR, 0);
    }
}

static void clear_color(const struct replay *replay, const struct arguments_vkCmdClearColorImage *a)
{
    clear(replay, (struct side){a->image, a->imageLayout}, a->rangeCount, a->pRanges);
}

static void clear_depth(const struct replay *replay, const struct arguments_vkCmdClearDepthStencilImage *a)
{
    clear(replay, (struct side){a->image, a->imageLayout}, a->rangeCount, a->pRanges);
}

bool replay_transfer(const struct replay *replay, const struct recorded_command *command)
{
    const void *arguments = command->arguments;

    switch ((int)command->command) {
    case COMMAND_vkCmdCopyImage:
        copy_image(replay, arguments);
        break;
    case COMMAND_vkCmdCopyImage2:
        copy_image2(replay, ((const struct arguments_vkCmdCopyImage2 *)arguments)->pCopyImageInfo);
        break;
    case COMMAND_vkCmdBlitImage:
        blit_image(replay, arguments);
        break;
    case COMMAND_vkCmdBlitImage2:
        blit_image2(replay, ((const struct arguments_vkCmdBlitImage2 *)arguments)->pBlitImageInfo);
        break;
    case COMMAND_vkCmdResolveImage:
        resolve_image(replay, arguments);
        break;
    case COMMAND_vkCmdResolveImage2:
        resolve_image2(replay, ((const struct arguments_vkCmdResolveImage2 *)arguments)->pResolveImageInfo);
        break;
    case COMMAND_vkCmdCopyBufferToImage:
        copy_to_image(replay, arguments);
        break;
    case COMMAND_vkCmdCopyBufferToImage2:
        copy_to_image2(replay,
                       ((const struct arguments_vkCmdCopyBufferToImage2 *)arguments)->pCopyBufferToImageInfo);
        break;
    case COMMAND_vkCmdCopyImageToBuffer:
        copy_from_image(replay, arguments);
        break;
    case COMMAND_vkCmdCopyImageToBuffer2:
        copy_from_image2(
            replay, ((const struct arguments_vkCmdCopyImageToBuffer2 *)arguments)->pCopyImageToBufferInfo);
        break;
    case COMMAND_vkCmdClearColorImage:
        clear_color(replay, arguments);
        break;
    case COMMAND_vkCmdClearDepthStencilImage:
        clear_depth(replay, arguments);
        break;
    default:
        return false;
    }
    replay_outside(replay);
    return true;
}
