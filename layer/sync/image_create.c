#include "sync/image_create.h"

#include "chain.h"
#include "compat.h"
#include "formats.h"

/* Bits up to CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED (18), and VIDEO_PROFILE_INDEPENDENT (20). */
#define KNOWN_FLAGS 0x17ffffu
#define SPARSE_FLAGS                                                                                         \
    (VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT |                             \
     VK_IMAGE_CREATE_SPARSE_ALIASED_BIT)

/* Bits up to FRAGMENT_DENSITY_MAP (9), and INVOCATION_MASK (18) to HOST_TRANSFER (22); a newer one may bring
 * commands that the layer doesn't see, or memory shared with other objects. */
#define KNOWN_USAGE 0x7c03ffu
#define VIDEO_USAGE (0x3fu << 10 | 3u << 25) /* decode, encode, encode's quantization and emphasis maps */

static enum image_untracked judge_structure(const VkBaseInStructure *structure)
{
    switch ((int)structure->sType) {
    case VK_STRUCTURE_TYPE_DEDICATED_ALLOCATION_IMAGE_CREATE_INFO_NV:
    case VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO:
    case VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO:
    case VK_STRUCTURE_TYPE_OPAQUE_CAPTURE_DESCRIPTOR_DATA_CREATE_INFO_EXT:
    case VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT:
    case COMPAT_STRUCTURE_TYPE_IMAGE_ALIGNMENT_CONTROL_CREATE_INFO:
        return IMAGE_TRACKED;
    case VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO:
        return ((const VkExternalMemoryImageCreateInfo *)(const void *)structure)->handleTypes
                   ? IMAGE_EXTERNAL
                   : IMAGE_TRACKED;
    case VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO_NV:
        return ((const VkExternalMemoryImageCreateInfoNV *)(const void *)structure)->handleTypes
                   ? IMAGE_EXTERNAL
                   : IMAGE_TRACKED;
    case VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT:
    case VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT:
        return IMAGE_EXTERNAL;
    case VK_STRUCTURE_TYPE_EXTERNAL_FORMAT_ANDROID:
        return ((const struct compat_external_format *)(const void *)structure)->externalFormat
                   ? IMAGE_EXTERNAL
                   : IMAGE_TRACKED;
    case VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR:
        return ((const VkImageSwapchainCreateInfoKHR *)(const void *)structure)->swapchain ? IMAGE_ALIASED
                                                                                           : IMAGE_TRACKED;
    case VK_STRUCTURE_TYPE_VIDEO_PROFILE_LIST_INFO_KHR:
    case VK_STRUCTURE_TYPE_OPTICAL_FLOW_IMAGE_FORMAT_INFO_NV:
        return IMAGE_VIDEO;
    default:
        return IMAGE_NEWER;
    }
}

VkImageUsageFlags image_all_usage(const VkImageCreateInfo *info)
{
    const VkImageStencilUsageCreateInfo *stencil =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
    return info->usage | (stencil ? stencil->stencilUsage : 0);
}

static enum image_untracked judge_usage(VkImageUsageFlags usage)
{
    if (usage & VIDEO_USAGE)
        return IMAGE_VIDEO;
    return usage & ~KNOWN_USAGE ? IMAGE_NEWER : IMAGE_TRACKED;
}

static enum image_untracked judge_flags(VkImageCreateFlags flags)
{
    if (flags & SPARSE_FLAGS)
        return IMAGE_SPARSE;
    if (flags & VK_IMAGE_CREATE_PROTECTED_BIT)
        return IMAGE_PROTECTED;
    if (flags & VK_IMAGE_CREATE_DISJOINT_BIT)
        return IMAGE_DISJOINT;
    if (flags & VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT)
        return IMAGE_SAMPLE_LOCATIONS;
    return flags & ~KNOWN_FLAGS ? IMAGE_NEWER : IMAGE_TRACKED;
}

enum image_untracked image_judge(const VkImageCreateInfo *info, bool slices)
{
    enum image_untracked reason = IMAGE_TRACKED;
    for (const VkBaseInStructure *structure = info->pNext; structure && !reason; structure = structure->pNext)
        reason = judge_structure(structure);
    if (!reason)
        reason = judge_flags(info->flags);
    if (!reason)
        reason = judge_usage(image_all_usage(info));
    if (!reason && !format_aspects(info->format))
        reason = IMAGE_NEWER;
    if (!reason && slices && info->imageType == VK_IMAGE_TYPE_3D)
        reason = IMAGE_NEWER;
    return reason;
}

static const VkStructureType known_of_swapchain[] = {
    VK_STRUCTURE_TYPE_SWAPCHAIN_COUNTER_CREATE_INFO_EXT,
    VK_STRUCTURE_TYPE_DEVICE_GROUP_SWAPCHAIN_CREATE_INFO_KHR,
    VK_STRUCTURE_TYPE_SWAPCHAIN_DISPLAY_NATIVE_HDR_CREATE_INFO_AMD,
    VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
    VK_STRUCTURE_TYPE_SURFACE_FULL_SCREEN_EXCLUSIVE_INFO_EXT,
    VK_STRUCTURE_TYPE_SURFACE_FULL_SCREEN_EXCLUSIVE_WIN32_INFO_EXT,
    VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_BARRIER_CREATE_INFO_NV,
    VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT,
    VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODES_CREATE_INFO_EXT,
    VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_SCALING_CREATE_INFO_EXT,
    COMPAT_STRUCTURE_TYPE_SWAPCHAIN_LATENCY_CREATE_INFO,
};

enum image_untracked image_judge_swapchain(const VkSwapchainCreateInfoKHR *info)
{
    if (!chain_is_of(info->pNext, known_of_swapchain,
                     sizeof(known_of_swapchain) / sizeof(known_of_swapchain[0])))
        return IMAGE_NEWER;
    if (info->presentMode == VK_PRESENT_MODE_SHARED_DEMAND_REFRESH_KHR ||
        info->presentMode == VK_PRESENT_MODE_SHARED_CONTINUOUS_REFRESH_KHR)
        return IMAGE_SHARED_PRESENT;
    if (info->flags & VK_SWAPCHAIN_CREATE_PROTECTED_BIT_KHR)
        return IMAGE_PROTECTED;
    return format_aspects(info->imageFormat) ? judge_usage(info->imageUsage) : IMAGE_NEWER;
}
