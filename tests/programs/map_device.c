#include "map_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "map_loader: %s: error %d\n", what, result);
    exit(1);
}

static double clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

double now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

double thread_cpu_ms(void)
{
    return clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

static void choose_families(struct map_device *map, bool transfer)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    bool found = false;
    vkGetPhysicalDeviceQueueFamilyProperties(map->physical, &count, families);
    for (uint32_t i = count; i-- > 0;)
        if (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) {
            map->graphics.family = i;
            found = true;
        }
    check(found ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT, "a graphics queue");
    map->timestamp_bits = families[map->graphics.family].timestampValidBits;
    map->transfer.family = map->graphics.family;
    for (uint32_t i = 0; transfer && i < count; i++)
        if (i != map->graphics.family &&
            (families[i].queueFlags & (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT)))
            map->transfer.family = i;
}

void map_device_init(struct map_device *map, bool transfer)
{
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "map_loader",
        .apiVersion = VK_API_VERSION_1_1,
    };
    VkInstanceCreateInfo instance = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    check(vkCreateInstance(&instance, NULL, &map->instance), "vkCreateInstance");
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(map->instance, &count, &map->physical);
    check(count == 1 && result >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "a physical device");
    vkGetPhysicalDeviceProperties(map->physical, &map->properties);
    vkGetPhysicalDeviceMemoryProperties(map->physical, &map->memory);
    choose_families(map, transfer);
    float priority = 1;
    VkDeviceQueueCreateInfo queues[2];
    for (int i = 0; i < 2; i++)
        queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = i ? map->transfer.family : map->graphics.family,
            .queueCount = 1,
            .pQueuePriorities = &priority,
        };
    VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = map->transfer.family == map->graphics.family ? 1 : 2,
        .pQueueCreateInfos = queues,
    };
    check(vkCreateDevice(map->physical, &device, NULL, &map->device), "vkCreateDevice");
    vkGetDeviceQueue(map->device, map->graphics.family, 0, &map->graphics.queue);
    vkGetDeviceQueue(map->device, map->transfer.family, 0, &map->transfer.queue);
    pthread_mutex_init(&map->submit, NULL);
}

void map_device_finish(struct map_device *map)
{
    vkDestroyDevice(map->device, NULL);
    vkDestroyInstance(map->instance, NULL);
    pthread_mutex_destroy(&map->submit);
}

uint32_t map_memory_type(const struct map_device *map, uint32_t bits, VkMemoryPropertyFlags wanted)
{
    for (uint32_t i = 0; i < map->memory.memoryTypeCount; i++)
        if ((bits & (1u << i)) && (map->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    check(VK_ERROR_FEATURE_NOT_PRESENT, "a memory type");
    return 0;
}

VkBuffer map_buffer(const struct map_device *map, VkDeviceSize size, VkBufferUsageFlags usage,
                    VkMemoryPropertyFlags properties, VkDeviceMemory *memory)
{
    VkBuffer buffer;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
    };
    check(vkCreateBuffer(map->device, &info, NULL, &buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(map->device, buffer, &needs);
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = map_memory_type(map, needs.memoryTypeBits, properties),
    };
    check(vkAllocateMemory(map->device, &allocation, NULL, memory), "vkAllocateMemory");
    check(vkBindBufferMemory(map->device, buffer, *memory, 0), "vkBindBufferMemory");
    return buffer;
}
