/* How the layer presents itself. CMake defines RC_VERSION_*; the texts are the manifest's. */
#ifndef RC_LAYER_NAME_H
#define RC_LAYER_NAME_H

#include <vulkan/vulkan.h>

#define LAYER_NAME "VK_LAYER_ROBUST_cache"
#define LAYER_DESCRIPTION "Pipeline caches that can't hurt and always help"
#define LAYER_IMPLEMENTATION_VERSION 1
/* A loader may refuse a layer older than what the application asks for. */
#define LAYER_SPEC_VERSION VK_MAKE_API_VERSION(0, 1, 4, 303)

#endif
