/* Pipelines are created: the cache half gives them a cache, the barrier half learns what their shaders use.
 */
#include "cache/pipelines.h"
#include "hooks.h"
#include "sync/shader.h"

/* Of a deferred creation the handles aren't there yet; of a failed one they mean nothing. */
static bool has_pipelines(const struct device *device, VkResult result)
{
    return device->sync && result >= 0 && result != VK_OPERATION_DEFERRED_KHR;
}

VkResult hook_CreateGraphicsPipelines(struct device *self, PFN_vkCreateGraphicsPipelines next,
                                      VkDevice device, VkPipelineCache pipelineCache,
                                      uint32_t createInfoCount,
                                      const VkGraphicsPipelineCreateInfo *pCreateInfos,
                                      const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    VkResult result = pipelines_create_graphics(self, next, device, pipelineCache, createInfoCount,
                                                pCreateInfos, pAllocator, pPipelines);
    if (has_pipelines(self, result))
        shader_learn_graphics(self->sync, createInfoCount, pCreateInfos, pPipelines);
    return result;
}

VkResult hook_CreateComputePipelines(struct device *self, PFN_vkCreateComputePipelines next, VkDevice device,
                                     VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                     const VkComputePipelineCreateInfo *pCreateInfos,
                                     const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    VkResult result = pipelines_create_compute(self, next, device, pipelineCache, createInfoCount,
                                               pCreateInfos, pAllocator, pPipelines);
    if (has_pipelines(self, result))
        shader_learn_compute(self->sync, createInfoCount, pCreateInfos, pPipelines);
    return result;
}

VkResult hook_CreateRayTracingPipelinesKHR(struct device *self, PFN_vkCreateRayTracingPipelinesKHR next,
                                           VkDevice device, VkDeferredOperationKHR deferredOperation,
                                           VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                           const VkRayTracingPipelineCreateInfoKHR *pCreateInfos,
                                           const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    VkResult result = pipelines_create_ray_tracing(self, next, device, deferredOperation, pipelineCache,
                                                   createInfoCount, pCreateInfos, pAllocator, pPipelines);
    if (has_pipelines(self, result))
        shader_learn_ray_tracing(self->sync, createInfoCount, pCreateInfos, pPipelines);
    return result;
}

VkResult hook_CreateRayTracingPipelinesNV(struct device *self, PFN_vkCreateRayTracingPipelinesNV next,
                                          VkDevice device, VkPipelineCache pipelineCache,
                                          uint32_t createInfoCount,
                                          const VkRayTracingPipelineCreateInfoNV *pCreateInfos,
                                          const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    VkResult result = pipelines_create_ray_tracing_nv(self, next, device, pipelineCache, createInfoCount,
                                                      pCreateInfos, pAllocator, pPipelines);
    if (has_pipelines(self, result))
        shader_learn_ray_tracing_nv(self->sync, createInfoCount, pCreateInfos, pPipelines);
    return result;
}
