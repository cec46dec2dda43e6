/* A loader of our own: one layer over one driver, as strict as the specification allows. What lies below the
 * layer returns NULL wherever the specification says so, accepts no handle that isn't alive, and demands that
 * the chain's link was advanced. Without the desktop loader's habits (it answers more than it must, and
 * brings its own structures), and in Android's manner where that is asked for. One per process. */
#ifndef IT_MOCK_LOADER_H
#define IT_MOCK_LOADER_H

#include <vulkan/vk_layer.h>

#include "app.h"

struct mock_loader {
    PFN_vkGetInstanceProcAddr layer_get_instance_proc;
    PFN_vkGetDeviceProcAddr layer_get_device_proc;
    const char *driver; /* the driver's library */
    /* VkLayerInstanceLink has two members there, and lies at the end of a page. */
    bool android;
    uint32_t tools; /* how many the next layer lists in vkGetPhysicalDeviceToolProperties */
};

/* Opens the layer's library and negotiates with it, as desktop loaders do. */
void mock_loader_load_layer(struct mock_loader *mock);

/* Fills `app` so that app_create_instance() and all that follows goes through this loader. `mock` lives on.
 */
void mock_loader_open(struct app *app, const struct mock_loader *mock);

/* What a layer above would call. */
PFN_vkVoidFunction mock_loader_next_instance_proc(VkInstance instance, const char *name);

/* The last vkCreateDevice and vkCreateInstance as they came out of the layer; valid inside the callback only.
 */
struct mock_loader_watch {
    void (*create_instance)(const VkInstanceCreateInfo *info);
    void (*create_device)(const VkDeviceCreateInfo *info);
};
extern struct mock_loader_watch mock_loader_watch;

/* Bytes that end where a page ends behind which nothing may be read. */
void *mock_loader_page_end(size_t size);

#endif
