#include "kit_extras.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    enum kit_extra extra;
    const char *name;
    VkStructureType features; /* 0: the extension has none */
    const char *needs;        /* another extension */
} extensions[] = {
    {KIT_PUSH_DESCRIPTORS, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, 0, NULL},
    {KIT_PRESENT_LAYOUT, VK_KHR_SWAPCHAIN_EXTENSION_NAME, 0, NULL},
    {KIT_PIPELINE_LIBRARIES, VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT,
     VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME},
    {KIT_CONDITIONAL_RENDERING, VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT, NULL},
    {KIT_TRANSFORM_FEEDBACK, VK_EXT_TRANSFORM_FEEDBACK_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT, NULL},
#ifdef VK_EXT_shader_object
    {KIT_SHADER_OBJECTS, VK_EXT_SHADER_OBJECT_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT, NULL},
#endif
    {KIT_SLICE_VIEWS, VK_EXT_IMAGE_2D_VIEW_OF_3D_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_2D_VIEW_OF_3D_FEATURES_EXT, NULL},
};

static bool device_offers(VkPhysicalDevice physical, const char *name)
{
    uint32_t count = 0;
    kit_check(vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL), "the extensions' count");
    VkExtensionProperties *offered = calloc(count + 1, sizeof(*offered));
    kit_check(offered ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "memory for the extensions");
    kit_check(vkEnumerateDeviceExtensionProperties(physical, NULL, &count, offered), "the extensions");
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || strcmp(offered[i].extensionName, name) == 0;
    free(offered);
    return found;
}

static bool add_extension(struct kit_features *features, VkPhysicalDevice physical, size_t which)
{
    struct kit_extension_features own = {.sType = extensions[which].features};
    VkPhysicalDeviceFeatures2 asked = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &own};
    if (!device_offers(physical, extensions[which].name))
        return false;
    if (own.sType) {
        vkGetPhysicalDeviceFeatures2(physical, &asked);
        if (!own.values[0])
            return false;
    }
    if (extensions[which].needs)
        features->extensions[features->extension_count++] = extensions[which].needs;
    if (own.sType) {
        own.pNext = features->core13.pNext;
        features->extension_features[features->extension_count] = own;
        features->core13.pNext = &features->extension_features[features->extension_count];
    }
    features->extensions[features->extension_count++] = extensions[which].name;
    return true;
}

/* Of what is a feature of the core. */
static uint32_t add_core(struct kit_features *features, struct kit *kit)
{
    VkPhysicalDeviceVulkan12Features has12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan11Features has11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                              .pNext = &has12};
    VkPhysicalDeviceFeatures2 has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &has11};
    uint32_t wanted = kit->options.extras, found = wanted & KIT_DEBUG_LABELS;
    vkGetPhysicalDeviceFeatures2(kit->physical, &has);
    if (wanted & KIT_UPDATE_AFTER_BIND && has12.descriptorBindingSampledImageUpdateAfterBind) {
        features->core12.descriptorIndexing = has12.descriptorIndexing;
        features->core12.descriptorBindingSampledImageUpdateAfterBind = VK_TRUE;
        found |= KIT_UPDATE_AFTER_BIND;
    }
    if (wanted & KIT_PARTIALLY_BOUND && has12.descriptorBindingPartiallyBound) {
        features->core12.descriptorIndexing = has12.descriptorIndexing;
        features->core12.descriptorBindingPartiallyBound = VK_TRUE;
        found |= KIT_PARTIALLY_BOUND;
    }
    if (wanted & KIT_DYNAMIC_INDEXING && has.features.shaderSampledImageArrayDynamicIndexing) {
        features->core.features.shaderSampledImageArrayDynamicIndexing = VK_TRUE;
        found |= KIT_DYNAMIC_INDEXING;
    }
    if (wanted & KIT_FRAGMENT_STORES && has.features.fragmentStoresAndAtomics) {
        features->core.features.fragmentStoresAndAtomics = VK_TRUE;
        found |= KIT_FRAGMENT_STORES;
    }
    if (wanted & KIT_MULTIVIEW && has11.multiview) {
        features->core11.multiview = VK_TRUE;
        found |= KIT_MULTIVIEW;
    }
    if (wanted & KIT_PRECISE_QUERIES && has.features.occlusionQueryPrecise &&
        has.features.pipelineStatisticsQuery) {
        features->core.features.occlusionQueryPrecise = VK_TRUE;
        features->core.features.pipelineStatisticsQuery = VK_TRUE;
        found |= KIT_PRECISE_QUERIES;
    }
    return found;
}

void kit_features_init(struct kit_features *features, struct kit *kit)
{
    *features = (struct kit_features){
        .core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features->core11},
        .core11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                   .pNext = &features->core12},
        .core12 =
            {
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                .pNext = &features->core13,
                .timelineSemaphore = VK_TRUE,
                .imagelessFramebuffer = VK_TRUE,
                .separateDepthStencilLayouts = kit->options.separate,
            },
        .core13 =
            {
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                .synchronization2 = kit->options.sync2,
                .dynamicRendering = VK_TRUE,
            },
    };
    if (kit->options.swapchain)
        features->extensions[features->extension_count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    kit->extras = add_core(features, kit);
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
        if (kit->options.extras & extensions[i].extra && add_extension(features, kit->physical, i))
            kit->extras |= extensions[i].extra;
}

bool kit_has(const struct kit *kit, uint32_t extras)
{
    return (kit->extras & extras) == extras;
}

const char *kit_lacks(const struct kit *kit)
{
    static const char *const names[] = {
        "push descriptors",
        "update-after-bind",
        "pipeline libraries",
        "conditional rendering",
        "transform feedback",
        "2D views of 3D images",
        "multiview",
        "precise queries",
        "debug labels",
        "presents",
        "PARTIALLY_BOUND",
        "dynamic indices",
        "stores in fragment shaders",
        "shader objects",
    };
    uint32_t missing = kit->options.extras & ~kit->extras;
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (missing & (1u << i))
            return names[i];
    return NULL;
}

PFN_vkVoidFunction kit_function(struct kit *kit, const char *name)
{
    PFN_vkVoidFunction function = vkGetDeviceProcAddr(kit->device, name);
    kit_check(function ? VK_SUCCESS : VK_ERROR_EXTENSION_NOT_PRESENT, name);
    return function;
}
