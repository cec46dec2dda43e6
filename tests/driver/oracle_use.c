/* Uses of images: by whom, in which layout, and what becomes of the contents. */
#include "oracle_replay.h"

static bool is_concurrent(const struct image *image)
{
    return image->info.sharingMode == VK_SHARING_MODE_CONCURRENT;
}

void use_take(const struct replay *replay, const struct range_walk *at)
{
    if (replay->family == VK_QUEUE_FAMILY_IGNORED || is_concurrent(at->image))
        return;
    at->at->owner = replay->family;
    at->at->released = false;
}

void use_owner(const struct replay *replay, const struct range_walk *at)
{
    const struct subresource *subresource = at->at;

    if (replay->family == VK_QUEUE_FAMILY_IGNORED || is_concurrent(at->image))
        return;
    if (subresource->released)
        replay_violate_at(replay, FAULT_ORACLE_OWNERSHIP, at, subresource->layout,
                          "used between its release and its acquisition");
    else if (subresource->owner != VK_QUEUE_FAMILY_IGNORED && subresource->owner != replay->family)
        replay_violate_at(replay, FAULT_ORACLE_OWNERSHIP, at, subresource->layout,
                          "used by a queue family that doesn't own it");
    use_take(replay, at);
}

void use_check(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range,
               VkImageLayout layout)
{
    struct range_walk walk;

    range_walk_begin(&walk, image, range);
    while (range_walk_next(&walk)) {
        use_owner(replay, &walk);
        if (!layout_matches(walk.aspect, walk.at->layout, layout))
            replay_violate_at(replay, FAULT_ORACLE_USE_LAYOUT, &walk, layout, "used in a wrong layout");
    }
}

/* Whether all writes to the contents are seen here. */
static bool contents_are_known(const struct image *image)
{
    const VkImageCreateFlags shared = VK_IMAGE_CREATE_ALIAS_BIT | VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    const VkImageUsageFlags video =
        VK_IMAGE_USAGE_VIDEO_DECODE_DST_BIT_KHR | VK_IMAGE_USAGE_VIDEO_DECODE_DPB_BIT_KHR;

    return !image->is_external && image->info.tiling == VK_IMAGE_TILING_OPTIMAL &&
           !(image->info.flags & shared) && !(image->info.usage & video);
}

/* A shader whose writes can't be told may have written them since they were lost. */
static bool shader_may_have_written(const struct replay *replay, const struct range_walk *at)
{
    return at->image->info.usage & VK_IMAGE_USAGE_STORAGE_BIT &&
           replay->device->oracle.hidden_work > at->at->discarded_at;
}

uint64_t use_read(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range)
{
    struct range_walk walk;
    uint64_t history = 0;

    range_walk_begin(&walk, image, range);
    while (range_walk_next(&walk)) {
        history = history_mix(history, walk.at->history);
        if (!walk.at->defined && contents_are_known(walk.image) && !shader_may_have_written(replay, &walk))
            replay_violate_at(replay, FAULT_ORACLE_DISCARDED_READ, &walk, walk.at->layout,
                              "read of discarded contents");
    }
    return history;
}

void use_write(VkImage image, const VkImageSubresourceRange *range, enum content_event event, uint64_t source)
{
    struct range_walk walk;

    range_walk_begin(&walk, image, range);
    while (range_walk_next(&walk))
        subresource_write(walk.at, event, source);
}

void use_discard(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range)
{
    struct range_walk walk;

    range_walk_begin(&walk, image, range);
    while (range_walk_next(&walk))
        subresource_discard(walk.at, replay->device);
}

void use_set_layout(VkImage image, const VkImageSubresourceRange *range, VkImageLayout layout)
{
    struct range_walk walk;

    range_walk_begin(&walk, image, range);
    while (range_walk_next(&walk))
        walk.at->layout = layout;
}

void attachment_load(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range,
                     VkAttachmentLoadOp op, bool whole)
{
    switch ((int)op) {
    case VK_ATTACHMENT_LOAD_OP_LOAD:
        use_read(replay, image, range);
        break;
    case VK_ATTACHMENT_LOAD_OP_CLEAR:
        use_write(image, range, CONTENT_CLEAR, 0);
        break;
    case VK_ATTACHMENT_LOAD_OP_DONT_CARE:
        if (whole)
            use_discard(replay, image, range);
        break;
    default:
        break;
    }
}

void attachment_store(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range,
                      VkAttachmentStoreOp op, bool written, bool whole)
{
    switch ((int)op) {
    case VK_ATTACHMENT_STORE_OP_STORE:
        if (written)
            use_write(image, range, CONTENT_RENDER, 0);
        break;
    case VK_ATTACHMENT_STORE_OP_DONT_CARE:
        if (whole)
            use_discard(replay, image, range);
        break;
    default:
        /* NONE: "if the attachment was written to during the render pass, the contents become undefined". */
        if (written && whole)
            use_discard(replay, image, range);
        break;
    }
}

bool area_covers(VkImage image, uint32_t mip, const VkRect2D *area)
{
    const VkExtent3D extent = OBJECT(image, image)->info.extent;
    const uint32_t width = extent.width >> mip ? extent.width >> mip : 1;
    const uint32_t height = extent.height >> mip ? extent.height >> mip : 1;

    return area->offset.x <= 0 && area->offset.y <= 0 &&
           (int64_t)area->offset.x + area->extent.width >= width &&
           (int64_t)area->offset.y + area->extent.height >= height;
}

bool layout_is_writable(VkImageAspectFlagBits aspect, VkImageLayout layout)
{
    const VkImageLayout read_only = aspect == VK_IMAGE_ASPECT_STENCIL_BIT
                                        ? VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL
                                        : VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL;

    return !layout_matches(aspect, layout, read_only) && layout != VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}
