#include "oracle_state.h"

#include <stdlib.h>

#define MAX_ASPECTS 3

/* The index-th aspect that has a layout of its own; 0 behind the last. */
static VkImageAspectFlagBits aspect_at(const struct image *image, uint32_t index)
{
    const struct format_description format = format_describe(image->info.format);
    VkImageAspectFlagBits aspects[MAX_ASPECTS + 1] = {0};
    uint32_t count = 0;

    if (format.depth)
        aspects[count++] = VK_IMAGE_ASPECT_DEPTH_BIT;
    if (format.stencil)
        aspects[count++] = VK_IMAGE_ASPECT_STENCIL_BIT;
    if (!count && format.planes <= 1)
        aspects[count++] = VK_IMAGE_ASPECT_COLOR_BIT;
    for (uint32_t plane = 0; format.planes > 1 && plane < format.planes && plane < MAX_ASPECTS; plane++)
        aspects[count++] = (VkImageAspectFlagBits)((uint32_t)VK_IMAGE_ASPECT_PLANE_0_BIT << plane);
    return index < MAX_ASPECTS ? aspects[index] : 0;
}

VkImageAspectFlags image_aspects(const struct image *image)
{
    VkImageAspectFlags aspects = 0;

    for (uint32_t i = 0; aspect_at(image, i); i++)
        aspects |= aspect_at(image, i);
    return aspects;
}

static struct oracle_image *image_state(struct image *image)
{
    uint32_t aspects = 0;
    uint32_t count;

    if (image->oracle)
        return image->oracle;
    while (aspect_at(image, aspects))
        aspects++;
    count = aspects * image->info.mipLevels * image->info.arrayLayers;
    image->oracle = calloc(1, sizeof(*image->oracle) + count * sizeof(struct subresource));
    if (!image->oracle)
        return NULL;
    image->oracle->aspects = aspects;
    image->oracle->mips = image->info.mipLevels;
    image->oracle->layers = image->info.arrayLayers;
    for (uint32_t i = 0; i < count; i++)
        image->oracle->subresources[i] = (struct subresource){
            .layout = image->info.initialLayout,
            .owner = VK_QUEUE_FAMILY_IGNORED,
            .defined = image->info.initialLayout != VK_IMAGE_LAYOUT_UNDEFINED,
        };
    return image->oracle;
}

void oracle_image_finish(struct image *image)
{
    free(image->oracle);
    image->oracle = NULL;
}

static uint32_t clipped(uint32_t first, uint32_t count, uint32_t available)
{
    if (first >= available)
        return 0;
    /* VK_REMAINING_... is the largest number. */
    return count < available - first ? count : available - first;
}

VkImageSubresourceRange range_resolve(const struct image *image, const VkImageSubresourceRange *range)
{
    VkImageSubresourceRange resolved = *range;

    /* "If the image has a multi-planar color format and the aspect is COLOR, it addresses all planes." */
    if (range->aspectMask & VK_IMAGE_ASPECT_COLOR_BIT)
        resolved.aspectMask = image_aspects(image);
    resolved.levelCount = clipped(range->baseMipLevel, range->levelCount, image->info.mipLevels);
    if (image->info.imageType == VK_IMAGE_TYPE_3D)
        resolved.baseArrayLayer = 0;
    resolved.layerCount = clipped(resolved.baseArrayLayer, range->layerCount, image->info.arrayLayers);
    return resolved;
}

static bool spans_overlap(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
    return a < b + b_count && b < a + a_count;
}

bool ranges_overlap(const VkImageSubresourceRange *a, const VkImageSubresourceRange *b)
{
    return a->aspectMask & b->aspectMask &&
           spans_overlap(a->baseMipLevel, a->levelCount, b->baseMipLevel, b->levelCount) &&
           spans_overlap(a->baseArrayLayer, a->layerCount, b->baseArrayLayer, b->layerCount);
}

void range_walk_begin(struct range_walk *walk, VkImage image, const VkImageSubresourceRange *range)
{
    *walk = (struct range_walk){.image = OBJECT(image, image)};
    if (walk->image->is_alias || !image_state(walk->image))
        return;
    walk->range = range_resolve(walk->image, range);
}

bool range_walk_next(struct range_walk *walk)
{
    const struct oracle_image *state = walk->image->oracle;
    const uint32_t per_aspect = walk->range.levelCount * walk->range.layerCount;
    uint32_t aspect;

    /* Aspects that aren't in the range are walked past. */
    while (per_aspect && walk->index < state->aspects * per_aspect &&
           !(walk->range.aspectMask & aspect_at(walk->image, walk->index / per_aspect)))
        walk->index += per_aspect;
    if (!per_aspect || walk->index >= state->aspects * per_aspect)
        return false;
    aspect = walk->index / per_aspect;
    walk->aspect = aspect_at(walk->image, aspect);
    walk->mip = walk->range.baseMipLevel + walk->index % per_aspect / walk->range.layerCount;
    walk->layer = walk->range.baseArrayLayer + walk->index % walk->range.layerCount;
    walk->at =
        &walk->image->oracle->subresources[(aspect * state->mips + walk->mip) * state->layers + walk->layer];
    walk->index++;
    return true;
}

static VkImageLayout depth_layout(VkImageLayout layout)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL:
        return VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL;
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
        return VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL;
    default:
        return layout;
    }
}

static VkImageLayout stencil_layout(VkImageLayout layout)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL:
        return VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL;
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
        return VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL;
    default:
        return layout;
    }
}

static VkImageLayout color_layout(VkImageLayout layout)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL:
        return VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
        return VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    default:
        return layout;
    }
}

static VkImageLayout aspect_layout(VkImageAspectFlagBits aspect, VkImageLayout layout)
{
    switch ((int)aspect) {
    case VK_IMAGE_ASPECT_DEPTH_BIT:
        return depth_layout(layout);
    case VK_IMAGE_ASPECT_STENCIL_BIT:
        return stencil_layout(layout);
    default:
        return color_layout(layout);
    }
}

bool layout_matches(VkImageAspectFlagBits aspect, VkImageLayout a, VkImageLayout b)
{
    return a == LAYOUT_UNKNOWN || b == LAYOUT_UNKNOWN || aspect_layout(aspect, a) == aspect_layout(aspect, b);
}

uint64_t history_mix(uint64_t history, uint64_t value)
{
    const uint64_t pair[] = {history, value};

    return fault_hash(pair, sizeof(pair));
}

void subresource_write(struct subresource *at, enum content_event event, uint64_t source)
{
    at->defined = true;
    at->history = history_mix(history_mix(at->history, event), source);
}

void subresource_discard(struct subresource *at, const struct device *device)
{
    if (at->defined)
        at->history = history_mix(at->history, CONTENT_DISCARD);
    at->defined = false;
    at->discarded_at = device->oracle.hidden_work;
}
