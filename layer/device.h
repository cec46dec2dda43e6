/* State of one VkDevice. */
#ifndef RC_DEVICE_H
#define RC_DEVICE_H

#include <vulkan/vk_layer.h>

#include "dispatch.h"
#include "handles.h"
#include "hook_table.h"
#include "instance.h"

struct device_cache;
struct device_sync;

struct device {
    VkDevice handle;
    VkPhysicalDevice physical;
    struct instance *instance;
    PFN_vkGetDeviceProcAddr next_get; /* the next layer's vkGetDeviceProcAddr */
    struct device_dispatch next;
    PFN_vkSetDeviceLoaderData set_loader_data; /* for command buffers that the layer allocates; NULL: none */
    uint32_t api_version;                      /* the smaller of the application's and the device's */
    char **extensions;                         /* what the application enabled, NULL-terminated; owned */
    bool creation_feedback;                    /* VkPipelineCreationFeedbackCreateInfo may be chained */
    bool sync2;                 /* synchronization2 is enabled, by the application or the layer */
    bool sync2_extension;       /* ... for which the layer named VK_KHR_synchronization2 */
    struct device_cache *cache; /* NULL where the pipeline-cache half is off */
    struct device_sync *sync;   /* NULL where the barrier half is off */
};

/* The state behind a VkDevice, VkQueue or VkCommandBuffer. */
static inline struct device *device_of(const void *handle)
{
    return (struct device *)handles_find(&device_table, dispatch_key(handle));
}

/* vkCreateDevice as the loader calls it. */
VKAPI_ATTR VkResult VKAPI_CALL device_create(VkPhysicalDevice physicalDevice,
                                             const VkDeviceCreateInfo *pCreateInfo,
                                             const VkAllocationCallbacks *pAllocator, VkDevice *pDevice);

/* Whether the application enabled the extension for this device (what the layer enabled for itself doesn't
 * count). */
bool device_has_extension(const struct device *device, const char *name);

/* Whether the device below could be created with the extension. Asks the driver each time; usable as soon as
 * `instance` and `physical` are set. False on out of memory. */
bool device_offers_extension(const struct device *device, const char *name);

/* Whether a hook is to be returned for this device: its group is at work and the application can use the
 * command. */
bool device_wants_hook(const struct device *device, const struct hook *hook);

/* Whether a command is there only because the layer enabled an extension for itself. `hook` may be NULL. */
bool device_hides(const struct device *device, const char *name, const struct hook *hook);

/* An error that a watched command returned. Any thread. */
void device_watch_result(struct device *device, VkResult result);

#endif
