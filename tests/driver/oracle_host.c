/* Host image copies: what the host does to images at once, without a queue. Their layouts count as those of
 * commands. */
#include "oracle_replay.h"

#if defined(VK_VERSION_1_4)
#define HOST(name) name
#elif defined(VK_EXT_host_image_copy)
#define HOST(name) name##EXT
#endif

#if defined(HOST)

/* A side of a copy: mip level `layers` of an image in a layout. */
static uint64_t host_read(const struct replay *replay, VkImage image, VkImageLayout layout,
                          const VkImageSubresourceLayers *layers)
{
    const VkImageSubresourceRange range = {layers->aspectMask, layers->mipLevel, 1, layers->baseArrayLayer,
                                           layers->layerCount};

    use_check(replay, image, &range, layout);
    return use_read(replay, image, &range);
}

static void host_write(const struct replay *replay, VkImage image, VkImageLayout layout,
                       const VkImageSubresourceLayers *layers, uint64_t source)
{
    const VkImageSubresourceRange range = {layers->aspectMask, layers->mipLevel, 1, layers->baseArrayLayer,
                                           layers->layerCount};

    use_check(replay, image, &range, layout);
    use_write(image, &range, CONTENT_HOST, source);
}

static void host_transition(const struct replay *replay, const HOST(VkHostImageLayoutTransitionInfo) * info)
{
    struct range_walk walk;

    range_walk_begin(&walk, info->image, &info->subresourceRange);
    while (range_walk_next(&walk)) {
        if (info->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED)
            subresource_discard(walk.at, replay->device);
        else if (!layout_matches(walk.aspect, walk.at->layout, info->oldLayout))
            replay_violate_at(replay, FAULT_ORACLE_OLD_LAYOUT, &walk, info->oldLayout,
                              "oldLayout isn't the actual layout");
        walk.at->layout = info->newLayout;
    }
}

/* Begins a judgement, under the device's lock; false if the oracle is off. */
static bool host_begin(struct replay *replay, VkDevice handle, const char *command)
{
    struct device *device = OBJECT(device, handle);

    *replay = (struct replay){
        .device = device,
        .family = VK_QUEUE_FAMILY_IGNORED,
        .command = command,
        .since = oracle_report_position(),
    };
    if (device->oracle.on)
        pthread_mutex_lock(&device->lock);
    return device->oracle.on;
}

static void host_end(const struct replay *replay)
{
    pthread_mutex_unlock(&replay->device->lock);
}

VkResult HOST(driver_vkCopyMemoryToImage)(VkDevice device, const HOST(VkCopyMemoryToImageInfo) * info)
{
    struct replay replay;

    if (!host_begin(&replay, device, "vkCopyMemoryToImage"))
        return VK_SUCCESS;
    for (uint32_t i = 0; i < info->regionCount; i++)
        host_write(&replay, info->dstImage, info->dstImageLayout, &info->pRegions[i].imageSubresource, 0);
    host_end(&replay);
    return VK_SUCCESS;
}

VkResult HOST(driver_vkCopyImageToMemory)(VkDevice device, const HOST(VkCopyImageToMemoryInfo) * info)
{
    struct replay replay;

    if (!host_begin(&replay, device, "vkCopyImageToMemory"))
        return VK_SUCCESS;
    for (uint32_t i = 0; i < info->regionCount; i++)
        host_read(&replay, info->srcImage, info->srcImageLayout, &info->pRegions[i].imageSubresource);
    host_end(&replay);
    return VK_SUCCESS;
}

VkResult HOST(driver_vkCopyImageToImage)(VkDevice device, const HOST(VkCopyImageToImageInfo) * info)
{
    struct replay replay;

    if (!host_begin(&replay, device, "vkCopyImageToImage"))
        return VK_SUCCESS;
    for (uint32_t i = 0; i < info->regionCount; i++) {
        const uint64_t source =
            host_read(&replay, info->srcImage, info->srcImageLayout, &info->pRegions[i].srcSubresource);

        host_write(&replay, info->dstImage, info->dstImageLayout, &info->pRegions[i].dstSubresource, source);
    }
    host_end(&replay);
    return VK_SUCCESS;
}

VkResult HOST(driver_vkTransitionImageLayout)(VkDevice device, uint32_t count,
                                              const HOST(VkHostImageLayoutTransitionInfo) * infos)
{
    struct replay replay;

    if (!host_begin(&replay, device, "vkTransitionImageLayout"))
        return VK_SUCCESS;
    for (uint32_t i = 0; i < count; i++)
        host_transition(&replay, &infos[i]);
    host_end(&replay);
    return VK_SUCCESS;
}

#endif
