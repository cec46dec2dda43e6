/* A small Vulkan application, as the loader sees one: instance, device, compute pipelines and their caches.
 * All of it for child processes: what should not fail is CHECKed. */
#ifndef IT_APP_H
#define IT_APP_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* Commands the tests use; a member of struct app each. */
#define APP_INSTANCE_COMMANDS(COMMAND)                                                                       \
    COMMAND(DestroyInstance)                                                                                 \
    COMMAND(EnumeratePhysicalDevices)                                                                        \
    COMMAND(GetPhysicalDeviceProperties)                                                                     \
    COMMAND(GetPhysicalDeviceQueueFamilyProperties)                                                          \
    COMMAND(EnumerateDeviceExtensionProperties)                                                              \
    COMMAND(CreateDevice)                                                                                    \
    COMMAND(GetDeviceProcAddr)
#define APP_DEVICE_COMMANDS(COMMAND)                                                                         \
    COMMAND(DestroyDevice)                                                                                   \
    COMMAND(GetDeviceQueue)                                                                                  \
    COMMAND(CreateShaderModule)                                                                              \
    COMMAND(DestroyShaderModule)                                                                             \
    COMMAND(CreatePipelineLayout)                                                                            \
    COMMAND(DestroyPipelineLayout)                                                                           \
    COMMAND(CreatePipelineCache)                                                                             \
    COMMAND(DestroyPipelineCache)                                                                            \
    COMMAND(GetPipelineCacheData)                                                                            \
    COMMAND(MergePipelineCaches)                                                                             \
    COMMAND(CreateComputePipelines)                                                                          \
    COMMAND(DestroyPipeline)

struct app {
    void *loader;
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    PFN_vkCreateInstance CreateInstance;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family; /* of the device's one queue */
    VkShaderModule shader;
    VkPipelineLayout layout;
#define APP_MEMBER(name) PFN_vk##name name;
    APP_INSTANCE_COMMANDS(APP_MEMBER)
    APP_DEVICE_COMMANDS(APP_MEMBER)
#undef APP_MEMBER
};

/* Opens the loader (RC_TEST_LOADER in the environment names another than libvulkan.so.1). */
void app_open(struct app *app);
void app_close(struct app *app);

/* `info` NULL: Vulkan 1.3, no extension. Takes the first physical device. */
void app_create_instance(struct app *app, const VkInstanceCreateInfo *info);
void app_destroy_instance(struct app *app);

/* `info` NULL: one queue, no extension. */
void app_create_device(struct app *app, const VkDeviceCreateInfo *info);
void app_destroy_device(struct app *app);

/* All of the above. */
void app_begin(struct app *app);
void app_end(struct app *app);

/* What a compute pipeline needs: a module and a layout; destroyed with the device. */
void app_create_shader(struct app *app);
/* The n-th different pipeline, made with `cache`. Calls app_create_shader() where that hasn't been done. */
VkPipeline app_create_pipeline(struct app *app, VkPipelineCache cache, uint32_t n);
/* The first `count` of them, created and destroyed. */
void app_use_pipelines(struct app *app, VkPipelineCache cache, uint32_t count);

/* vkGetInstanceProcAddr(app->instance, name); CHECKed. */
PFN_vkVoidFunction app_instance_command(const struct app *app, const char *name);

#endif
