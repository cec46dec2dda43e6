/* How the layer presents itself. Name, description and versions are the manifest's too; CMake defines
 * RC_VERSION, the version that vkGetPhysicalDeviceToolProperties tells. */
#ifndef RC_LAYER_NAME_H
#define RC_LAYER_NAME_H

#include <vulkan/vulkan.h>

#define LAYER_NAME "VK_LAYER_ROBUST_cache"
#define LAYER_DESCRIPTION "Robust pipeline caches and barriers for unmodified applications"
#define LAYER_IMPLEMENTATION_VERSION 1
/* The newest version, since a loader may refuse a layer older than what the application asks for. */
#define LAYER_SPEC_VERSION VK_MAKE_API_VERSION(0, 1, 4, 364)

#endif
