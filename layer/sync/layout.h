/* What image layouts mean. Pure. */
#ifndef RC_SYNC_LAYOUT_H
#define RC_SYNC_LAYOUT_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

/* Whether an image subresource in layout `a` may be used as if in `b`, for one aspect (COLOR, DEPTH or
 * STENCIL): they are equal, or differ only in what concerns the other aspect, or one is the general form of
 * the other (ATTACHMENT_OPTIMAL, READ_ONLY_OPTIMAL). Spec: "Image Layout Matching Rules". */
bool layout_matches(VkImageLayout a, VkImageLayout b, VkImageAspectFlagBits aspect);

/* UNDEFINED and PREINITIALIZED: images start in them, nothing can be transitioned to them. */
static inline bool layout_is_initial(VkImageLayout layout)
{
    return layout == VK_IMAGE_LAYOUT_UNDEFINED || layout == VK_IMAGE_LAYOUT_PREINITIALIZED;
}

/* One bit for each layout that this build knows, one more for all others; and those of all layouts that match
 * this one, itself included. */
uint32_t layout_bit(VkImageLayout layout);
uint32_t layout_bits_matching(VkImageLayout layout, VkImageAspectFlagBits aspect);

/* Whether a depth/stencil image of which one aspect is in this layout has the other in it as well, where
 * barriers name both: all layouts but those that say something of each. */
bool layout_is_of_both(VkImageLayout layout);

/* Whether this build knows the layout; others make an image unknown. Those of Vulkan 1.0, which most are, are
 * consecutive numbers. */
bool layout_is_known_later(VkImageLayout layout);
static inline bool layout_is_known(VkImageLayout layout)
{
    return (uint32_t)layout <= VK_IMAGE_LAYOUT_PREINITIALIZED || layout_is_known_later(layout);
}

/* The layout to name in a barrier for both aspects of a depth/stencil image whose aspects are in these
 * layouts, where separateDepthStencilLayouts is off: DEPTH_STENCIL_ATTACHMENT_OPTIMAL for DEPTH_ATTACHMENT +
 * STENCIL_ATTACHMENT, and so on. VK_IMAGE_LAYOUT_MAX_ENUM if there is none. */
VkImageLayout layout_combine(VkImageLayout depth, VkImageLayout stencil);

/* Every stage and access that a use in this layout may mean, where nothing else is known of it. */
void layout_scope(VkImageLayout layout, VkPipelineStageFlags2 *stages, VkAccessFlags2 *access);

#endif
