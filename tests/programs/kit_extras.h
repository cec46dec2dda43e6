/* Which features and extensions the device of a kit gets. */
#ifndef PROGRAMS_KIT_EXTRAS_H
#define PROGRAMS_KIT_EXTRAS_H

#include "kit.h"

/* Head of the structure of an extension's features; the first says that the extension's purpose is there. */
struct kit_extension_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 values[2];
};

#define KIT_EXTENSIONS_MAX 8

/* What vkCreateDevice gets: `core` begins the chain. It points into itself. */
struct kit_features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features core11;
    VkPhysicalDeviceVulkan12Features core12;
    VkPhysicalDeviceVulkan13Features core13;
    struct kit_extension_features extension_features[KIT_EXTENSIONS_MAX];
    const char *extensions[KIT_EXTENSIONS_MAX];
    uint32_t extension_count;
};

/* By the kit's options; kit->extras is what the device has of the extras. */
void kit_features_init(struct kit_features *features, struct kit *kit);

#endif
