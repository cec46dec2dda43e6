/* The loader's interface to the driver, and which names have an address when. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define ICD_INTERFACE_VERSION 5

FAULT_API VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
FAULT_API VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                             const char *name);
FAULT_API VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                                   const char *name);

VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    if (*version < ICD_INTERFACE_VERSION)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    *version = ICD_INTERFACE_VERSION;
    return VK_SUCCESS;
}

static int compare_name(const void *name, const void *description)
{
    return strcmp(name, ((const struct command_description *)description)->name);
}

enum command_id command_find(const char *name)
{
    const struct command_description *found =
        bsearch(name, command_descriptions, COMMAND_COUNT, sizeof(command_descriptions[0]), compare_name);

    return found ? (enum command_id)(found - command_descriptions) : COMMAND_COUNT;
}

enum extension_id extension_find(const char *name)
{
    enum extension_id id = 0;

    while (id < EXTENSION_COUNT && strcmp(extension_descriptions[id].name, name) != 0)
        id++;
    return id;
}

bool extension_set_has_any(const struct extension_set *set, const uint16_t *providers)
{
    for (; *providers != EXTENSION_COUNT; providers++) {
        if (set->has[*providers])
            return true;
    }
    return false;
}

static bool provided(const struct command_description *command, uint32_t api,
                     const struct extension_set *extensions)
{
    return (command->core && command->core <= api) || extension_set_has_any(extensions, command->providers);
}

/* What an instance's query answers for device commands: everything that one of its devices could have. */
static bool device_command_possible(const struct command_description *command,
                                    const struct instance *instance)
{
    for (uint32_t i = 0; i < instance->device_count; i++) {
        if (provided(command, instance->config.api, &instance->devices[i].exposed))
            return true;
    }
    return false;
}

PFN_vkVoidFunction driver_vkGetInstanceProcAddr(VkInstance handle, const char *name)
{
    const struct instance *instance = OBJECT(instance, handle);
    enum command_id id = command_find(name);
    const struct command_description *command = &command_descriptions[id];

    if (id == COMMAND_COUNT)
        return NULL;
    if (command->level == COMMAND_LEVEL_GLOBAL || id == COMMAND_vkGetInstanceProcAddr)
        return command->function;
    if (!instance)
        return NULL;
    if (provided(command, instance->config.api, &instance->enabled))
        return command->function;
    if (command->level != COMMAND_LEVEL_INSTANCE && device_command_possible(command, instance))
        return command->function;
    return NULL;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return driver_vkGetInstanceProcAddr(instance, name);
}

PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
    enum command_id id = command_find(name);

    if (id == COMMAND_COUNT || command_descriptions[id].level != COMMAND_LEVEL_PHYSICAL_DEVICE)
        return NULL;
    return driver_vkGetInstanceProcAddr(instance, name);
}

PFN_vkVoidFunction driver_vkGetDeviceProcAddr(VkDevice handle, const char *name)
{
    const struct device *device = OBJECT(device, handle);
    enum command_id id = command_find(name);
    const struct command_description *command = &command_descriptions[id];

    if (id == COMMAND_COUNT || command->level != COMMAND_LEVEL_DEVICE)
        return NULL;
    if (!provided(command, device->physical->config->api, &device->enabled) &&
        !extension_set_has_any(&device->physical->instance->enabled, command->providers))
        return NULL;
    return command->function;
}
