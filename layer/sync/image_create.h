/* Which images can be tracked. Pure. */
#ifndef RC_SYNC_IMAGE_CREATE_H
#define RC_SYNC_IMAGE_CREATE_H

#include "sync/image.h"

/* IMAGE_TRACKED, or why an image made from this must be left alone. `slices`: the device may transition
 * single slices of 3D images (VK_KHR_maintenance9). */
enum image_untracked image_judge(const VkImageCreateInfo *info, bool slices);
enum image_untracked image_judge_swapchain(const VkSwapchainCreateInfoKHR *info);

/* All usages, those of the stencil aspect included. */
VkImageUsageFlags image_all_usage(const VkImageCreateInfo *info);

#endif
