#include "device.h"

#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

#include "cache/device_cache.h"
#include "device_request.h"
#include "hooks.h"
#include "sync/brake.h"
#include "sync/device_sync.h"

/* The loader's link for this layer: sType LOADER_DEVICE_CREATE_INFO, function LAYER_LINK_INFO. */
static VkLayerDeviceCreateInfo *find_link(const VkDeviceCreateInfo *info)
{
    for (const VkLayerDeviceCreateInfo *link = info->pNext; link; link = link->pNext)
        if (link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
            link->function == VK_LAYER_LINK_INFO)
            return (VkLayerDeviceCreateInfo *)link;
    return NULL;
}

/* What makes a command buffer that the layer allocates one of the loader's; NULL if the loader has none. */
static PFN_vkSetDeviceLoaderData find_loader_data(const VkDeviceCreateInfo *info)
{
    for (const VkLayerDeviceCreateInfo *link = info->pNext; link; link = link->pNext)
        if (link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
            link->function == VK_LOADER_DATA_CALLBACK)
            return link->u.pfnSetDeviceLoaderData;
    return NULL;
}

static void free_names(char **names)
{
    for (char **name = names; names && *name; name++)
        free(*name);
    free(names);
}

/* NULL on out of memory. */
static char **copy_names(const VkDeviceCreateInfo *info)
{
    char **names = calloc((size_t)info->enabledExtensionCount + 1, sizeof(*names));
    for (uint32_t i = 0; names && i < info->enabledExtensionCount; i++) {
        names[i] = strdup(info->ppEnabledExtensionNames[i]);
        if (!names[i]) {
            free_names(names);
            return NULL;
        }
    }
    return names;
}

bool device_has_extension(const struct device *device, const char *name)
{
    for (char **own = device->extensions; own && *own; own++)
        if (strcmp(*own, name) == 0)
            return true;
    return false;
}

/* VK_EXT_debug_utils is an extension of the instance that brings commands of devices. */
static bool has_commands_of(const struct device *device, const char *extension)
{
    if (strcmp(extension, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0)
        return device->instance->debug_utils;
    return device_has_extension(device, extension);
}

/* Whether the application enabled what brings the command. */
static bool is_enabled(const struct device *device, const struct hook *hook)
{
    if (hook->core_version && hook->core_version <= device->api_version)
        return true;
    for (const char *const *name = hook->extensions; name && *name; name++)
        if (has_commands_of(device, *name))
            return true;
    return false;
}

bool device_wants_hook(const struct device *device, const struct hook *hook)
{
    uint32_t at_work = HOOK_ALWAYS | (device->cache ? HOOK_CACHE : 0u) | (device->sync ? HOOK_SYNC : 0u);
    return (hook->groups & at_work) && is_enabled(device, hook);
}

bool device_hides(const struct device *device, const char *name, const struct hook *hook)
{
    if (!device->sync2_extension)
        return false;
    /* Of other extensions, but only beside synchronization2. */
    if (strcmp(name, "vkGetQueueCheckpointData2NV") == 0 || strcmp(name, "vkCmdWriteBufferMarker2AMD") == 0)
        return true;
    if (!hook || is_enabled(device, hook))
        return false;
    for (const char *const *extension = hook->extensions; extension && *extension; extension++)
        if (strcmp(*extension, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME) == 0)
            return true;
    return false;
}

bool device_offers_extension(const struct device *device, const char *name)
{
    const struct instance *instance = device->instance;
    VkPhysicalDevice physical = device->physical;
    uint32_t count = 0;
    if (instance->next.EnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) != VK_SUCCESS ||
        !count)
        return false;
    VkExtensionProperties *properties = calloc(count, sizeof(*properties));
    if (!properties)
        return false;
    bool found = false;
    if (instance->next.EnumerateDeviceExtensionProperties(physical, NULL, &count, properties) >= 0)
        for (uint32_t i = 0; i < count && !found; i++)
            found = strcmp(properties[i].extensionName, name) == 0;
    free(properties);
    return found;
}

/* Creates the device below, with what the layer adds for itself (device_request.h). If the driver refuses
 * that, it gets the original request. */
static VkResult create_below(struct device *device, PFN_vkCreateDevice next, VkLayerDeviceCreateInfo *link,
                             const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator,
                             VkDevice *out)
{
    VkLayerDeviceLink *below = link->u.pLayerInfo->pNext;
    struct device_request request;
    device->creation_feedback =
        device->api_version >= VK_API_VERSION_1_3 ||
        device_has_extension(device, VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME);
    device->sync2 = device_request_has_sync2(info);
    link->u.pLayerInfo = below;
    if (device_request_init(&request, device, info)) {
        VkResult result = next(device->physical, &request.info, allocator, out);
        device_request_finish(&request);
        if (result == VK_SUCCESS) {
            device->creation_feedback |= request.creation_feedback;
            device->sync2 |= request.sync2;
            device->sync2_extension = request.sync2_extension;
            return result;
        }
    }
    link->u.pLayerInfo = below; /* also after a first try, in which the layers below advanced it */
    return next(device->physical, info, allocator, out);
}

VKAPI_ATTR VkResult VKAPI_CALL device_create(VkPhysicalDevice physicalDevice,
                                             const VkDeviceCreateInfo *pCreateInfo,
                                             const VkAllocationCallbacks *pAllocator, VkDevice *pDevice)
{
    struct instance *instance = instance_of(physicalDevice);
    VkLayerDeviceCreateInfo *link = find_link(pCreateInfo);
    if (!instance || !link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next_get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr next_get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkCreateDevice next_create =
        (PFN_vkCreateDevice)next_get_instance(instance->handle, "vkCreateDevice");
    if (!next_create)
        return VK_ERROR_INITIALIZATION_FAILED;

    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct device *device = calloc(1, sizeof(*device));
    if (!device)
        return result;
    device->instance = instance;
    device->physical = physicalDevice;
    device->next_get = next_get;
    device->set_loader_data = find_loader_data(pCreateInfo);
    device->extensions = copy_names(pCreateInfo);
    if (!device->extensions)
        goto fail_names;
    VkPhysicalDeviceProperties properties;
    instance->next.GetPhysicalDeviceProperties(physicalDevice, &properties);
    device->api_version =
        properties.apiVersion < instance->api_version ? properties.apiVersion : instance->api_version;

    result = create_below(device, next_create, link, pCreateInfo, pAllocator, pDevice);
    if (result != VK_SUCCESS)
        goto fail_create;
    device->handle = *pDevice;
    device_dispatch_load(&device->next, device->handle, next_get);
    if (!handles_insert(&device_table, dispatch_key(device->handle), device)) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto fail_insert;
    }
    if (instance->wanted && instance->settings.values.cache)
        device->cache = device_cache_create(device, pCreateInfo);
    if (instance->wanted && instance->settings.values.barriers != SETTINGS_BARRIERS_OFF)
        device->sync = device_sync_create(device, pCreateInfo);
    return VK_SUCCESS;

fail_insert:
    device->next.DestroyDevice(device->handle, pAllocator);
    *pDevice = VK_NULL_HANDLE;
fail_create:
    free_names(device->extensions);
fail_names:
    free(device);
    return result;
}

void hook_DestroyDevice(struct device *self, PFN_vkDestroyDevice next, VkDevice device,
                        const VkAllocationCallbacks *pAllocator)
{
    /* First of all: the child of a fork() in another thread must not find a device_cache that is half gone.
     */
    handles_remove(&device_table, dispatch_key(device));
    /* While the device still lives: its caches are read for the last save. */
    device_sync_destroy(self->sync);
    device_cache_destroy(self->cache);
    next(device, pAllocator);
    free_names(self->extensions);
    free(self);
}

void device_watch_result(struct device *device, VkResult result)
{
    if (device->cache)
        device_cache_watch_result(device->cache, result);
    if (device->sync && result == VK_ERROR_DEVICE_LOST)
        brake_device_lost(device->sync);
}
