/* What the loader sees: negotiation on desktops, enumeration on Android, and the look-up of commands by name.
 */
#include <string.h>

#include <vulkan/vk_layer.h>

#include "device.h"
#include "hooks.h"
#include "instance.h"
#include "layer_name.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *pName);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *pName);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceLayerProperties(uint32_t *pPropertyCount,
                                                                         VkLayerProperties *pProperties);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceExtensionProperties(
    const char *pLayerName, uint32_t *pPropertyCount, VkExtensionProperties *pProperties);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateDeviceLayerProperties(VkPhysicalDevice physicalDevice,
                                                                       uint32_t *pPropertyCount,
                                                                       VkLayerProperties *pProperties);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physicalDevice, const char *pLayerName,
                                     uint32_t *pPropertyCount, VkExtensionProperties *pProperties);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *pVersionStruct);

const struct hook *hook_find(const char *name)
{
    uint32_t low = 0, high = hook_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(name, hook_table[middle].name);
        if (order == 0)
            return &hook_table[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Commands of the chain itself: answered for every instance, and most of them without one. MangoHud and
 * vkBasalt ask for vkCreateDevice before they have an instance. */
static PFN_vkVoidFunction find_chain_command(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } commands[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)vkGetInstanceProcAddr},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)vkGetDeviceProcAddr},
        {"vkCreateInstance", (PFN_vkVoidFunction)instance_create},
        {"vkCreateDevice", (PFN_vkVoidFunction)device_create},
        {"vkEnumerateInstanceLayerProperties", (PFN_vkVoidFunction)vkEnumerateInstanceLayerProperties},
        {"vkEnumerateInstanceExtensionProperties",
         (PFN_vkVoidFunction)vkEnumerateInstanceExtensionProperties},
        {"vkEnumerateDeviceLayerProperties", (PFN_vkVoidFunction)vkEnumerateDeviceLayerProperties},
    };
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].function;
    return NULL;
}

static bool instance_wants_hook(const struct instance *instance, const struct hook *hook)
{
    /* vkDestroyInstance frees the state that every instance has, wanted or not; so does vkDestroyDevice. */
    if (strcmp(hook->name, "vkDestroyInstance") == 0 || strcmp(hook->name, "vkDestroyDevice") == 0)
        return true;
    const struct settings_values *values = &instance->settings.values;
    uint32_t at_work = HOOK_ALWAYS | (values->cache ? HOOK_CACHE : 0u) |
                       (values->barriers != SETTINGS_BARRIERS_OFF ? HOOK_SYNC : 0u);
    return instance->wanted && (hook->groups & at_work);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *pName)
{
    PFN_vkVoidFunction own = find_chain_command(pName);
    if (own)
        return own;
    struct instance *state = instance ? instance_of(instance) : NULL;
    if (!state)
        return NULL;
    PFN_vkVoidFunction next = state->next_get(state->handle, pName);
    if (!next)
        return NULL;
    /* A layer above may take device commands from here, and call them for any device of the instance. */
    const struct hook *hook = hook_find(pName);
    return hook && instance_wants_hook(state, hook) ? hook->function : next;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *pName)
{
    struct device *state = device ? device_of(device) : NULL;
    if (!state)
        return NULL;
    if (strcmp(pName, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)vkGetDeviceProcAddr;
    PFN_vkVoidFunction next = state->next_get(state->handle, pName);
    if (!next)
        return NULL;
    const struct hook *hook = hook_find(pName);
    if (device_hides(state, pName, hook))
        return NULL;
    return hook && hook->owner == HOOK_DEVICE && device_wants_hook(state, hook) ? hook->function : next;
}

VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *pVersionStruct)
{
    if (!pVersionStruct || pVersionStruct->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        pVersionStruct->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    pVersionStruct->loaderLayerInterfaceVersion = 2;
    pVersionStruct->pfnGetInstanceProcAddr = vkGetInstanceProcAddr;
    pVersionStruct->pfnGetDeviceProcAddr = vkGetDeviceProcAddr;
    pVersionStruct->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}

/* Android's loader has no manifest: it opens the library and asks these. Its device list must be byte for
 * byte the instance list. */
VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceLayerProperties(uint32_t *pPropertyCount,
                                                                  VkLayerProperties *pProperties)
{
    static const VkLayerProperties self = {
        .layerName = LAYER_NAME,
        .specVersion = LAYER_SPEC_VERSION,
        .implementationVersion = LAYER_IMPLEMENTATION_VERSION,
        .description = LAYER_DESCRIPTION,
    };
    if (!pProperties) {
        *pPropertyCount = 1;
        return VK_SUCCESS;
    }
    if (*pPropertyCount == 0)
        return VK_INCOMPLETE;
    *pPropertyCount = 1;
    pProperties[0] = self;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateDeviceLayerProperties(VkPhysicalDevice physicalDevice,
                                                                uint32_t *pPropertyCount,
                                                                VkLayerProperties *pProperties)
{
    (void)physicalDevice;
    return vkEnumerateInstanceLayerProperties(pPropertyCount, pProperties);
}

/* The one extension that the layer brings: settings through the application's instance chain. */
VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceExtensionProperties(const char *pLayerName,
                                                                      uint32_t *pPropertyCount,
                                                                      VkExtensionProperties *pProperties)
{
    static const VkExtensionProperties layer_settings = {.extensionName = "VK_EXT_layer_settings",
                                                         .specVersion = 2};
    if (!pLayerName || strcmp(pLayerName, LAYER_NAME) != 0)
        return VK_ERROR_LAYER_NOT_PRESENT;
    if (!pProperties) {
        *pPropertyCount = 1;
        return VK_SUCCESS;
    }
    if (*pPropertyCount == 0)
        return VK_INCOMPLETE;
    *pPropertyCount = 1;
    pProperties[0] = layer_settings;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physicalDevice,
                                                                    const char *pLayerName,
                                                                    uint32_t *pPropertyCount,
                                                                    VkExtensionProperties *pProperties)
{
    if (pLayerName && strcmp(pLayerName, LAYER_NAME) == 0) {
        *pPropertyCount = 0;
        return VK_SUCCESS;
    }
    /* Android's loader asks every layer about itself before there is an instance, with no physical device. */
    if (!physicalDevice)
        return VK_ERROR_LAYER_NOT_PRESENT;
    struct instance *instance = instance_of(physicalDevice);
    return instance->next.EnumerateDeviceExtensionProperties(physicalDevice, pLayerName, pPropertyCount,
                                                             pProperties);
}
