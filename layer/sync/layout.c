#include "sync/layout.h"

#include <stddef.h>

/* What layouts that say something of several aspects, or of any, come down to for each. */
#define L(name) VK_IMAGE_LAYOUT_##name##_OPTIMAL
static const struct {
    VkImageLayout layout, color, depth, stencil;
} general[] = {
    {L(ATTACHMENT), L(COLOR_ATTACHMENT), L(DEPTH_ATTACHMENT), L(STENCIL_ATTACHMENT)},
    {L(READ_ONLY), L(SHADER_READ_ONLY), L(DEPTH_READ_ONLY), L(STENCIL_READ_ONLY)},
    {L(DEPTH_STENCIL_ATTACHMENT), L(DEPTH_STENCIL_ATTACHMENT), L(DEPTH_ATTACHMENT), L(STENCIL_ATTACHMENT)},
    {L(DEPTH_STENCIL_READ_ONLY), L(DEPTH_STENCIL_READ_ONLY), L(DEPTH_READ_ONLY), L(STENCIL_READ_ONLY)},
    {L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT), L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT), L(DEPTH_READ_ONLY),
     L(STENCIL_ATTACHMENT)},
    {L(DEPTH_ATTACHMENT_STENCIL_READ_ONLY), L(DEPTH_ATTACHMENT_STENCIL_READ_ONLY), L(DEPTH_ATTACHMENT),
     L(STENCIL_READ_ONLY)},
};

static VkImageLayout reduce(VkImageLayout layout, VkImageAspectFlagBits aspect)
{
    for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
        if (general[i].layout == layout)
            return aspect == VK_IMAGE_ASPECT_DEPTH_BIT     ? general[i].depth
                   : aspect == VK_IMAGE_ASPECT_STENCIL_BIT ? general[i].stencil
                                                           : general[i].color;
    return layout;
}

bool layout_matches(VkImageLayout a, VkImageLayout b, VkImageAspectFlagBits aspect)
{
    return a == b || reduce(a, aspect) == reduce(b, aspect);
}

/* Those of Vulkan 1.0 are their own indices. */
static const VkImageLayout later[] = {
    VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
    VK_IMAGE_LAYOUT_FRAGMENT_DENSITY_MAP_OPTIMAL_EXT,
    VK_IMAGE_LAYOUT_FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR,
    VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
};
#define FIRST_COUNT (VK_IMAGE_LAYOUT_PREINITIALIZED + 1)
#define LATER_COUNT (sizeof(later) / sizeof(later[0]))
_Static_assert(FIRST_COUNT + LATER_COUNT < 32, "one bit is left for what isn't known");

static uint32_t later_index(VkImageLayout layout)
{
    uint32_t i = 0;
    while (i < LATER_COUNT && later[i] != layout)
        i++;
    return i;
}

bool layout_is_known_later(VkImageLayout layout)
{
    return later_index(layout) < LATER_COUNT;
}

uint32_t layout_bit(VkImageLayout layout)
{
    uint32_t index = (uint32_t)layout < FIRST_COUNT ? (uint32_t)layout : FIRST_COUNT + later_index(layout);
    return UINT32_C(1) << index;
}

uint32_t layout_bits_matching(VkImageLayout layout, VkImageAspectFlagBits aspect)
{
    uint32_t bits = layout_bit(layout);
    for (uint32_t i = 0; i < FIRST_COUNT + LATER_COUNT; i++)
        if (layout_matches(layout, i < FIRST_COUNT ? (VkImageLayout)i : later[i - FIRST_COUNT], aspect))
            bits |= UINT32_C(1) << i;
    return bits;
}

/* Whether a depth/stencil image as a whole can be in it: those that concern one aspect need
 * separateDepthStencilLayouts. */
static bool is_for_both(VkImageLayout layout)
{
    return layout != L(DEPTH_ATTACHMENT) && layout != L(DEPTH_READ_ONLY) && layout != L(STENCIL_ATTACHMENT) &&
           layout != L(STENCIL_READ_ONLY);
}

VkImageLayout layout_combine(VkImageLayout depth, VkImageLayout stencil)
{
    VkImageLayout depth_reduced = reduce(depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    VkImageLayout stencil_reduced = reduce(stencil, VK_IMAGE_ASPECT_STENCIL_BIT);
    if (depth == stencil && is_for_both(depth))
        return depth;
    /* Not the two general ones, which need synchronization2. */
    for (size_t i = 2; i < sizeof(general) / sizeof(general[0]); i++)
        if (general[i].depth == depth_reduced && general[i].stencil == stencil_reduced)
            return general[i].layout;
    return VK_IMAGE_LAYOUT_MAX_ENUM;
}

#define DEPTH_STAGES                                                                                         \
    (VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT)
#define DEPTH_ACCESS                                                                                         \
    (VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT)
#define COLOR_ACCESS (VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT)
#define SHADER_ACCESS (VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT)

void layout_scope(VkImageLayout layout, VkPipelineStageFlags2 *stages, VkAccessFlags2 *access)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_UNDEFINED:
    case VK_IMAGE_LAYOUT_PRESENT_SRC_KHR:
        /* Presenting is ordered by semaphores, and makes visible by itself (spec, vkQueuePresentKHR). */
        *stages = VK_PIPELINE_STAGE_2_NONE;
        *access = VK_ACCESS_2_NONE;
        break;
    case L(TRANSFER_SRC):
        *stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
        *access = VK_ACCESS_2_TRANSFER_READ_BIT;
        break;
    case L(TRANSFER_DST):
        *stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
        *access = VK_ACCESS_2_TRANSFER_WRITE_BIT;
        break;
    case L(COLOR_ATTACHMENT):
        *stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
        *access = COLOR_ACCESS;
        break;
    case L(DEPTH_STENCIL_ATTACHMENT):
    case L(DEPTH_ATTACHMENT):
    case L(STENCIL_ATTACHMENT):
        /* Spec: resolve operations are in the colour output stage, with colour accesses, whatever the format.
         */
        *stages = DEPTH_STAGES | VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
        *access = DEPTH_ACCESS | COLOR_ACCESS;
        break;
    case L(SHADER_READ_ONLY):
        /* All commands: stages of ray tracing and others may be named only where their extensions are
         * enabled.
         */
        *stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        *access = SHADER_ACCESS;
        break;
    case L(DEPTH_STENCIL_READ_ONLY):
    case L(DEPTH_READ_ONLY):
    case L(STENCIL_READ_ONLY):
        /* A write too: spec, VK_ATTACHMENT_STORE_OP_STORE writes even what wasn't changed. */
        *stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        *access = SHADER_ACCESS | DEPTH_ACCESS | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT;
        break;
    default:
        *stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        *access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
        break;
    }
}

bool layout_is_of_both(VkImageLayout layout)
{
    return is_for_both(layout) && reduce(layout, VK_IMAGE_ASPECT_DEPTH_BIT) == layout;
}
