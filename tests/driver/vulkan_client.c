#include "vulkan_client.h"

#include <dlfcn.h>
#include <string.h>

VkResult vulkan_client_open(struct vulkan_client *client)
{
    memset(client, 0, sizeof(*client));
    client->loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!client->loader)
        return VK_ERROR_INITIALIZATION_FAILED;
    client->vkGetInstanceProcAddr = (PFN_vkGetInstanceProcAddr)dlsym(client->loader, "vkGetInstanceProcAddr");
    client->vkCreateInstance = (PFN_vkCreateInstance)client->vkGetInstanceProcAddr(NULL, "vkCreateInstance");
    return VK_SUCCESS;
}

static void take_instance_functions(struct vulkan_client *client)
{
#define TAKE(name) client->name = (PFN_##name)client->vkGetInstanceProcAddr(client->instance, #name);
    CLIENT_INSTANCE_FUNCTIONS(TAKE)
#undef TAKE
}

static void take_device_functions(struct vulkan_client *client)
{
#define TAKE(name) client->name = (PFN_##name)client->vkGetDeviceProcAddr(client->device, #name);
    CLIENT_DEVICE_FUNCTIONS(TAKE)
#undef TAKE
}

VkResult vulkan_client_create_instance(struct vulkan_client *client,
                                       const struct vulkan_client_config *config)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "vulkan client",
        .apiVersion = config->api ? config->api : VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = config->instance_next,
        .pApplicationInfo = &application,
        .enabledLayerCount = config->layer_count,
        .ppEnabledLayerNames = config->layers,
        .enabledExtensionCount = config->instance_extension_count,
        .ppEnabledExtensionNames = config->instance_extensions,
    };
    VkResult result = client->vkCreateInstance(&info, NULL, &client->instance);
    uint32_t count = 1;

    if (result != VK_SUCCESS) {
        client->instance = VK_NULL_HANDLE;
        return result;
    }
    take_instance_functions(client);
    result = client->vkEnumeratePhysicalDevices(client->instance, &count, &client->physical);
    if (result < 0 || count == 0) {
        vulkan_client_destroy(client);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    return VK_SUCCESS;
}

VkResult vulkan_client_create_device(struct vulkan_client *client, const struct vulkan_client_config *config)
{
    const float priority = 1;
    VkDeviceQueueCreateInfo queues[CLIENT_MAX_FAMILIES];
    const uint32_t families = config->family_count ? config->family_count : 1;
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = config->device_next,
        .queueCreateInfoCount = families,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = config->device_extension_count,
        .ppEnabledExtensionNames = config->device_extensions,
    };
    VkResult result;

    for (uint32_t i = 0; i < families; i++)
        queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = i,
            .queueCount = 1,
            .pQueuePriorities = &priority,
        };
    result = client->vkCreateDevice(client->physical, &info, NULL, &client->device);
    if (result != VK_SUCCESS) {
        client->device = VK_NULL_HANDLE;
        return result;
    }
    take_device_functions(client);
    client->vkGetDeviceQueue(client->device, 0, 0, &client->queue);
    return VK_SUCCESS;
}

void vulkan_client_destroy(struct vulkan_client *client)
{
    if (client->device)
        client->vkDestroyDevice(client->device, NULL);
    if (client->instance)
        client->vkDestroyInstance(client->instance, NULL);
    client->device = VK_NULL_HANDLE;
    client->instance = VK_NULL_HANDLE;
}

void vulkan_client_close(struct vulkan_client *client)
{
    if (client->loader)
        dlclose(client->loader);
    client->loader = NULL;
}
