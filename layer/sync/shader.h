/* What the shaders of pipelines and shader objects read and write through descriptors. */
#ifndef RC_SYNC_SHADER_H
#define RC_SYNC_SHADER_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/device_sync.h"
#include "sync/object.h"
#include "sync/scope.h"
#include "sync/spirv.h"

struct shader_module {
    struct object object;
    struct spirv_module *spirv; /* never NULL: modules that aren't understood aren't kept */
};

/* One descriptor of an image that is accessed, as far as that can be told from outside: not those of bindings
 * that may be partially bound, of large sets, or chosen while the shader runs. */
struct shader_use {
    uint32_t slot; /* of the set */
    bool late;     /* UPDATE_AFTER_BIND: what counts is what it refers to at submit */
    struct scope scope;
};

struct shader_set {
    uint32_t number;
    uint64_t signature; /* of the set layout that it was made for */
    uint32_t first, count;
};

/* Of one pipeline, or one shader object. One allocation. */
struct shader_uses {
    struct object object;
    bool unknown; /* something of its shaders isn't known: they may use any image */
    bool weak;    /* ... some of what they use isn't told of below */
    bool writes;  /* some use writes */
    uint32_t set_count;
    struct shader_set *sets; /* by number */
    struct shader_use *uses; /* of each set, by slot */
};

static inline struct shader_uses *shader_uses_of_pipeline(const struct device_sync *sync, VkPipeline handle)
{
    return handle_map_find(&sync->pipelines, HANDLE_KEY(handle));
}
void shader_uses_release(struct shader_uses *uses); /* NULL is safe */

/* Pipelines were created (deferred ones aren't there yet, and stay unknown). Handles of VK_NULL_HANDLE:
 * nothing. On out of memory a pipeline is unknown. Any thread. */
void shader_learn_graphics(struct device_sync *sync, uint32_t count,
                           const VkGraphicsPipelineCreateInfo *infos, const VkPipeline *pipelines);
void shader_learn_compute(struct device_sync *sync, uint32_t count, const VkComputePipelineCreateInfo *infos,
                          const VkPipeline *pipelines);
void shader_learn_ray_tracing(struct device_sync *sync, uint32_t count,
                              const VkRayTracingPipelineCreateInfoKHR *infos, const VkPipeline *pipelines);
void shader_learn_ray_tracing_nv(struct device_sync *sync, uint32_t count,
                                 const VkRayTracingPipelineCreateInfoNV *infos, const VkPipeline *pipelines);

/* All that the application has left alive, for objects_destroy(). */
void shaders_destroy(struct device_sync *sync);

#endif
