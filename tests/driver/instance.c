#include <stdlib.h>
#include <string.h>

#include "driver.h"

static bool name_in(const char *name, uint32_t count, const char names[CONFIG_MAX_NAMES][FAULT_TEXT_SIZE])
{
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(name, names[i]))
            return true;
    }
    return false;
}

static bool extension_exposed(const struct driver_config *config, enum extension_id id)
{
    const struct extension_description *extension = &extension_descriptions[id];

    if (name_in(extension->name, config->shown_count, config->shown))
        return true;
    return extension->exposed && !name_in(extension->name, config->hidden_count, config->hidden);
}

static void set_exposed(struct extension_set *set, const struct driver_config *config, bool device)
{
    for (enum extension_id id = 0; id < EXTENSION_COUNT; id++)
        set->has[id] = extension_descriptions[id].device == device && extension_exposed(config, id);
}

static VkResult enumerate_extensions(const struct extension_set *set, uint32_t *count,
                                     VkExtensionProperties *out)
{
    uint32_t capacity = *count;
    uint32_t total = 0;

    for (enum extension_id id = 0; id < EXTENSION_COUNT; id++) {
        if (!set->has[id])
            continue;
        if (out && total < capacity) {
            memset(&out[total], 0, sizeof(out[total]));
            strncpy(out[total].extensionName, extension_descriptions[id].name,
                    VK_MAX_EXTENSION_NAME_SIZE - 1);
            out[total].specVersion = extension_descriptions[id].version;
        }
        total++;
    }
    return enumerate_count(count, out != NULL, total);
}

VkResult driver_vkEnumerateInstanceVersion(uint32_t *version)
{
    *version = config_current(NULL)->api;
    return VK_SUCCESS;
}

VkResult driver_vkEnumerateInstanceExtensionProperties(const char *layer, uint32_t *count,
                                                       VkExtensionProperties *out)
{
    struct extension_set exposed;

    if (layer)
        return VK_ERROR_LAYER_NOT_PRESENT;
    set_exposed(&exposed, config_current(NULL), false);
    return enumerate_extensions(&exposed, count, out);
}

VkResult driver_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice device, const char *layer,
                                                     uint32_t *count, VkExtensionProperties *out)
{
    if (layer)
        return VK_ERROR_LAYER_NOT_PRESENT;
    return enumerate_extensions(&OBJECT(physical_device, device)->exposed, count, out);
}

VkResult driver_vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                                 VkInstance *out)
{
    bool valid;
    const struct driver_config *config = config_current(&valid);
    const VkApplicationInfo *application = info->pApplicationInfo;
    struct extension_set exposed;
    struct instance *instance;
    VkResult result = VK_SUCCESS;

    if (!valid)
        return VK_ERROR_INITIALIZATION_FAILED;
    /* "if the implementation only supports Vulkan 1.0, ... VK_ERROR_INCOMPATIBLE_DRIVER" (VkApplicationInfo)
     */
    if (application && config->api < VK_API_VERSION_1_1 && application->apiVersion >= VK_API_VERSION_1_1)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    instance = object_create(NULL, VK_OBJECT_TYPE_INSTANCE, sizeof(*instance));
    if (!instance)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    instance->config = *config;
    set_exposed(&exposed, config, false);
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        enum extension_id id = extension_find(info->ppEnabledExtensionNames[i]);

        if (id == EXTENSION_COUNT || !exposed.has[id]) {
            result = VK_ERROR_EXTENSION_NOT_PRESENT;
            goto fail;
        }
        instance->enabled.has[id] = true;
    }
    object_list_init(&instance->objects);
    instance->base.children = &instance->objects;
    instance->device_count = config->devices;
    for (uint32_t i = 0; i < instance->device_count; i++) {
        physical_device_init(&instance->devices[i], instance, i);
        set_exposed(&instance->devices[i].exposed, config, true);
    }
    *out = HANDLE(VkInstance, instance);
    return VK_SUCCESS;
fail:
    object_destroy(&instance->base, VK_OBJECT_TYPE_INSTANCE);
    return result;
}

void driver_vkDestroyInstance(VkInstance handle, const VkAllocationCallbacks *allocator)
{
    struct instance *instance = OBJECT(instance, handle);

    if (!instance)
        return;
    object_list_finish(&instance->objects);
    object_destroy(&instance->base, VK_OBJECT_TYPE_INSTANCE);
}

VkResult driver_vkEnumeratePhysicalDevices(VkInstance handle, uint32_t *count, VkPhysicalDevice *out)
{
    struct instance *instance = OBJECT(instance, handle);
    uint32_t capacity = *count;

    for (uint32_t i = 0; out && i < instance->device_count && i < capacity; i++)
        out[i] = HANDLE(VkPhysicalDevice, &instance->devices[i]);
    return enumerate_count(count, out != NULL, instance->device_count);
}

VkResult driver_vkEnumeratePhysicalDeviceGroups(VkInstance handle, uint32_t *count,
                                                VkPhysicalDeviceGroupProperties *out)
{
    struct instance *instance = OBJECT(instance, handle);
    uint32_t capacity = *count;

    for (uint32_t i = 0; out && i < instance->device_count && i < capacity; i++) {
        structure_clear(&out[i], sizeof(out[i]));
        out[i].physicalDeviceCount = 1;
        out[i].physicalDevices[0] = HANDLE(VkPhysicalDevice, &instance->devices[i]);
    }
    return enumerate_count(count, out != NULL, instance->device_count);
}
