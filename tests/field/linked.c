/* A program that is linked against the loader, as most are: makes an instance and a device and prints how
 * often the layer is in the chain. linked [LAYER]      (LAYER is named in vkCreateInstance) */
#include <stdio.h>
#include <string.h>

#define TOOLS_MAX 16

/* The build hides the prototypes from the layer; this program lives by them. */
#undef VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

static int count_layer(VkPhysicalDevice physical)
{
    VkPhysicalDeviceToolProperties tools[TOOLS_MAX] = {0};
    uint32_t count = TOOLS_MAX;
    int found = 0;
    if (vkGetPhysicalDeviceToolProperties(physical, &count, tools) < 0)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        found += strcmp(tools[i].layer, "VK_LAYER_ROBUST_cache") == 0;
    return found;
}

static VkResult make_device(VkPhysicalDevice physical)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkDevice device;
    VkResult result = vkCreateDevice(physical, &info, NULL, &device);
    if (result == VK_SUCCESS)
        vkDestroyDevice(device, NULL);
    return result;
}

int main(int argc, char **argv)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = argc > 1,
                                       .ppEnabledLayerNames = (const char *const *)argv + 1};
    VkInstance instance;
    VkPhysicalDevice physical;
    uint32_t count = 1;
    VkResult result = vkCreateInstance(&info, NULL, &instance);
    if (result != VK_SUCCESS)
        return 1;
    result = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (result >= 0 && count > 0)
        result = make_device(physical);
    if (result == VK_SUCCESS)
        printf("%d\n", count_layer(physical));
    vkDestroyInstance(instance, NULL);
    return result == VK_SUCCESS ? 0 : 1;
}
