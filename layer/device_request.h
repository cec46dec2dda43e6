/* What the layer adds to the application's request for a device. Nothing the application owns is written to.
 */
#ifndef RC_DEVICE_REQUEST_H
#define RC_DEVICE_REQUEST_H

#include <stdbool.h>
#include <vulkan/vk_layer.h>

struct device;

struct device_request {
    VkDeviceCreateInfo info; /* what goes down: the application's, with the layer's own arrays and chain */
    bool creation_feedback;  /* VK_EXT_pipeline_creation_feedback is named in addition */
    bool sync2;              /* synchronization2 is enabled in addition */
    bool sync2_extension;    /* ... and for that VK_KHR_synchronization2 is named */
    const char **names;      /* owned */
    void *copies;            /* owned: copied structures of the chain */
    VkPhysicalDeviceSynchronization2Features feature;
};

/* Decides what to add for the halves that are at work; `device` has its instance, physical device, extensions
 * and version. The loader's link in the chain must be advanced already. False if there is nothing to add, or
 * no memory. */
bool device_request_init(struct device_request *request, struct device *device,
                         const VkDeviceCreateInfo *info);
void device_request_finish(struct device_request *request);

/* Whether the application itself enables synchronization2, or separateDepthStencilLayouts, for the device. */
bool device_request_has_sync2(const VkDeviceCreateInfo *info);
bool device_request_has_separate_layouts(const VkDeviceCreateInfo *info);

#endif
