#include <stdlib.h>
#include <time.h>

#include "driver.h"
#include "queue.h"

static VkResult enable_extensions(struct device *device, const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        enum extension_id id = extension_find(info->ppEnabledExtensionNames[i]);

        if (id == EXTENSION_COUNT || !device->physical->exposed.has[id])
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        device->enabled.has[id] = true;
    }
    return VK_SUCCESS;
}

static VkResult create_queues(struct device *device, const VkDeviceCreateInfo *info)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++)
        count += info->pQueueCreateInfos[i].queueCount;
    device->queues = calloc(count, sizeof(*device->queues));
    if (!device->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *wanted = &info->pQueueCreateInfos[i];

        for (uint32_t j = 0; j < wanted->queueCount; j++) {
            struct queue *queue = &device->queues[device->queue_count++];

            set_loader_magic_value(queue);
            queue->base.type = VK_OBJECT_TYPE_QUEUE;
            queue->base.children = &device->objects;
            queue->device = device;
            queue->family = wanted->queueFamilyIndex;
            queue->index = j;
            queue->flags = wanted->flags;
        }
    }
    return VK_SUCCESS;
}

static void device_finish(struct object *object)
{
    struct device *device = (struct device *)object;

    for (uint32_t i = 0; i < device->queue_count; i++)
        queue_finish(&device->queues[i]);
    free(device->queues);
    object_list_finish(&device->objects);
    pthread_cond_destroy(&device->progress);
    pthread_mutex_destroy(&device->lock);
}

VkResult driver_vkCreateDevice(VkPhysicalDevice handle, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *out)
{
    struct physical_device *physical = OBJECT(physical_device, handle);
    struct device *device = object_create(physical->base.children, VK_OBJECT_TYPE_DEVICE, sizeof(*device));
    pthread_condattr_t attributes;
    VkResult result;

    if (!device)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&device->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&device->progress, &attributes);
    pthread_condattr_destroy(&attributes);
    object_list_init(&device->objects);
    device->base.children = &device->objects;
    device->base.finish = device_finish;
    device->physical = physical;
    oracle_device_init(device, info);
    result = enable_extensions(device, info);
    if (result == VK_SUCCESS)
        result = create_queues(device, info);
    if (result != VK_SUCCESS) {
        object_destroy(&device->base, VK_OBJECT_TYPE_DEVICE);
        return result;
    }
    *out = HANDLE(VkDevice, device);
    return VK_SUCCESS;
}

void driver_vkDestroyDevice(VkDevice device, const VkAllocationCallbacks *allocator)
{
    object_destroy((struct object *)device, VK_OBJECT_TYPE_DEVICE);
}

static VkQueue find_queue(const struct device *device, uint32_t family, uint32_t index,
                          VkDeviceQueueCreateFlags flags)
{
    for (uint32_t i = 0; i < device->queue_count; i++) {
        struct queue *queue = &device->queues[i];

        if (queue->family == family && queue->index == index && queue->flags == flags)
            return HANDLE(VkQueue, queue);
    }
    return VK_NULL_HANDLE;
}

void driver_vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out)
{
    *out = find_queue(OBJECT(device, device), family, index, 0);
}

void driver_vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *out)
{
    *out = find_queue(OBJECT(device, device), info->queueFamilyIndex, info->queueIndex, info->flags);
}

void device_lose(uint64_t dispatchable)
{
    struct object *object = (struct object *)(uintptr_t)dispatchable;
    struct device *device = NULL;

    if (object && object->type == VK_OBJECT_TYPE_QUEUE)
        device = ((struct queue *)object)->device;
    else if (object && object->type == VK_OBJECT_TYPE_DEVICE)
        device = (struct device *)object;
    if (!device)
        return;
    pthread_mutex_lock(&device->lock);
    device->lost = true;
    pthread_cond_broadcast(&device->progress);
    pthread_mutex_unlock(&device->lock);
}

void driver_vkGetDeviceGroupPeerMemoryFeatures(VkDevice device, uint32_t heap, uint32_t local,
                                               uint32_t remote, VkPeerMemoryFeatureFlags *out)
{
    *out = VK_PEER_MEMORY_FEATURE_COPY_SRC_BIT | VK_PEER_MEMORY_FEATURE_COPY_DST_BIT;
}
