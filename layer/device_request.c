#include "device_request.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "device.h"
#include "known.h"
#include "sync/newer.h"

bool device_request_has_sync2(const VkDeviceCreateInfo *info)
{
    const VkPhysicalDeviceSynchronization2Features *one =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
    const VkPhysicalDeviceVulkan13Features *all =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
    return (one && one->synchronization2) || (all && all->synchronization2);
}

bool device_request_has_separate_layouts(const VkDeviceCreateInfo *info)
{
    const VkPhysicalDeviceSeparateDepthStencilLayoutsFeatures *one =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES);
    const VkPhysicalDeviceVulkan12Features *all =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    return (one && one->separateDepthStencilLayouts) || (all && all->separateDepthStencilLayouts);
}

/* The structure that says whether synchronization2 is enabled, or NULL. */
static const VkBaseInStructure *find_sync2(const VkDeviceCreateInfo *info)
{
    const void *one = chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
    return one ? one : chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
}

static bool device_has_feature(const struct device *device)
{
    const struct instance *instance = device->instance;
    VkPhysicalDeviceSynchronization2Features feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &feature,
    };
    if (device->api_version >= VK_API_VERSION_1_1 && instance->next.GetPhysicalDeviceFeatures2)
        instance->next.GetPhysicalDeviceFeatures2(device->physical, &features);
    else if (instance->properties2 && instance->next.GetPhysicalDeviceFeatures2KHR)
        instance->next.GetPhysicalDeviceFeatures2KHR(device->physical, &features);
    return feature.synchronization2;
}

static bool wants_sync2(struct device_request *request, const struct device *device,
                        const VkDeviceCreateInfo *info)
{
    static const char *const extension = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    char text[128];
    if (device->instance->settings.values.barriers != SETTINGS_BARRIERS_REPAIR ||
        device_request_has_sync2(info))
        return false;
    /* Then there is nothing to repair with it. */
    if (newer_reason(info, device->api_version, text, sizeof(text)))
        return false;
    bool core = device->api_version >= VK_API_VERSION_1_3;
    bool named = device_has_extension(device, extension);
    if (!core && !named && !device_offers_extension(device, extension))
        return false;
    request->sync2_extension = !core && !named;
    return device_has_feature(device);
}

static size_t structure_size(const VkBaseInStructure *structure)
{
    return structure->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO
               ? sizeof(VkLayerDeviceCreateInfo)
               : known_structure_size(structure->sType);
}

static size_t aligned(size_t size)
{
    return (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

/* Copies the chain up to `last`, which points on to the application's rest. False if a structure in it isn't
 * known. */
static bool copy_chain(struct device_request *request, const VkBaseInStructure *last)
{
    size_t size = 0;
    const VkBaseInStructure *from = request->info.pNext;
    for (const VkBaseInStructure *s = from;; s = s->pNext) {
        if (!structure_size(s))
            return false;
        size += aligned(structure_size(s));
        if (s == last)
            break;
    }
    char *to = request->copies = malloc(size);
    if (!to)
        return false;
    const VkBaseInStructure **link = (const VkBaseInStructure **)&request->info.pNext;
    for (const VkBaseInStructure *s = from;; s = s->pNext) {
        VkBaseInStructure *copy = (VkBaseInStructure *)(void *)to;
        memcpy(copy, s, structure_size(s));
        to += aligned(structure_size(s));
        *link = copy;
        link = &copy->pNext;
        if (s == last)
            return true;
    }
}

/* In the application's own structure if there is one (a copy of it), else in one of the layer's. */
static bool enable_sync2(struct device_request *request)
{
    const VkBaseInStructure *said = find_sync2(&request->info);
    if (!said) {
        request->feature = (VkPhysicalDeviceSynchronization2Features){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
            .pNext = (void *)(uintptr_t)request->info.pNext,
            .synchronization2 = VK_TRUE,
        };
        request->info.pNext = &request->feature;
        return true;
    }
    if (!copy_chain(request, said))
        return false;
    void *copy = (void *)(uintptr_t)find_sync2(&request->info);
    if (said->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES)
        ((VkPhysicalDeviceSynchronization2Features *)copy)->synchronization2 = VK_TRUE;
    else
        ((VkPhysicalDeviceVulkan13Features *)copy)->synchronization2 = VK_TRUE;
    return true;
}

static bool wants_feedback(const struct device *device)
{
    static const char *const extension = VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME;
    return device->instance->settings.values.cache && device->api_version < VK_API_VERSION_1_3 &&
           !device_has_extension(device, extension) && device_offers_extension(device, extension);
}

static bool add_names(struct device_request *request)
{
    uint32_t count = request->info.enabledExtensionCount;
    if (!request->creation_feedback && !request->sync2_extension)
        return true;
    request->names = malloc(((size_t)count + 2) * sizeof(*request->names));
    if (!request->names)
        return false;
    if (count)
        memcpy(request->names, request->info.ppEnabledExtensionNames, count * sizeof(*request->names));
    if (request->creation_feedback)
        request->names[count++] = VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME;
    if (request->sync2_extension)
        request->names[count++] = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    request->info.enabledExtensionCount = count;
    request->info.ppEnabledExtensionNames = request->names;
    return true;
}

bool device_request_init(struct device_request *request, struct device *device,
                         const VkDeviceCreateInfo *info)
{
    memset(request, 0, sizeof(*request));
    request->info = *info;
    if (!device->instance->wanted)
        return false;
    request->creation_feedback = wants_feedback(device);
    request->sync2 = wants_sync2(request, device, info) && enable_sync2(request);
    request->sync2_extension = request->sync2_extension && request->sync2;
    if ((request->creation_feedback || request->sync2) && add_names(request))
        return true;
    device_request_finish(request);
    return false;
}

void device_request_finish(struct device_request *request)
{
    free(request->names);
    free(request->copies);
}
