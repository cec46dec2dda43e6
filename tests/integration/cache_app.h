/* A small Vulkan application, for runs (harness.h): what it calls goes through the real loader. Everything
 * checks its results unless a function returns them. */
#ifndef CACHE_APP_H
#define CACHE_APP_H

#include <vulkan/vulkan.h>

#include "fault_driver.h"
#include "harness.h"

struct app_config {
    const char *name;              /* pApplicationName; "tests" */
    uint32_t api_version;          /* 1.3 */
    const char *const *extensions; /* of the device; NULL-terminated; NULL: those of ray tracing if there */
    const void *device_chain;      /* VkDeviceCreateInfo::pNext */
};

struct app {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkDevice device;
    VkQueue queue;
    VkDescriptorSetLayout set_layout; /* one storage buffer */
    VkPipelineLayout layout;
};

/* NULL: all defaults. */
void app_open_with(struct app *app, const struct app_config *config);
void app_open(struct app *app);
void app_close(struct app *app);
/* The device alone, for those who leave the instance, or take another device first. */
void app_open_device(struct app *app, const struct app_config *config);
void app_close_device(struct app *app);

/* --- Pipeline caches --- */

VkPipelineCache app_cache(const struct app *app, const void *data, size_t size);
VkPipelineCache app_cache_empty(const struct app *app);
void app_cache_destroy(const struct app *app, VkPipelineCache cache);
/* By the two calls that the spec wants; VK_SUCCESS is expected from both. */
struct bytes app_cache_data(const struct app *app, VkPipelineCache cache);

/* --- Pipelines: numbered; equal numbers make equal pipelines --- */

VkShaderModule app_shader(const struct app *app, uint32_t number);
/* One call for `count` compute pipelines; *out has room for them. `flags` and `chain` go to each. */
VkResult app_compute(const struct app *app, VkPipelineCache cache, uint32_t first, uint32_t count,
                     VkPipelineCreateFlags flags, const void *chain, VkPipeline *out);
/* Makes them one call at a time, expects success, and destroys them. */
void app_compile(const struct app *app, VkPipelineCache cache, uint32_t first, uint32_t count);
VkPipeline app_graphics(const struct app *app, VkPipelineCache cache, uint32_t number);
/* `operation` may be VK_NULL_HANDLE; the create-info and what it points to are the caller's, since a deferred
 * operation reads them later. */
struct app_ray_tracing {
    VkShaderModule shader;
    VkPipelineShaderStageCreateInfo stage;
    VkRayTracingShaderGroupCreateInfoKHR group;
    VkPipelineCreationFeedback feedback;
    VkPipelineCreationFeedbackCreateInfo feedback_info;
    VkRayTracingPipelineCreateInfoKHR info;
};
void app_ray_tracing_init(struct app_ray_tracing *out, const struct app *app, uint32_t number);
VkResult app_ray_tracing_create(const struct app *app, VkDeferredOperationKHR operation,
                                VkPipelineCache cache, const struct app_ray_tracing *infos, VkPipeline *out);
void app_pipeline_destroy(const struct app *app, VkPipeline pipeline);

/* A command of the device's by its name; NULL if there is none. */
PFN_vkVoidFunction app_command(const struct app *app, const char *name);

/* The numbers that a dispatch of `count` workgroups with this pipeline writes. */
void app_dispatch(const struct app *app, VkPipeline pipeline, uint32_t *out, uint32_t count);

/* --- What the driver saw --- */

/* The last call of this function that came from this thread: the layer's worker calls the driver too. */
struct fault_record driver_last(const char *function);
/* How many such calls this thread has made down to the driver. */
uint32_t driver_count(const char *function);
/* This thread's last vkCreatePipelineCache reached the driver without data, or with exactly these bytes. */
bool driver_saw_no_data(void);
bool driver_saw_data(const void *data, size_t size);

#endif
