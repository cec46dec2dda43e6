/* Pipeline creation as the cache half does it; where it is off for a device, the call goes down as it is. */
#ifndef RC_CACHE_PIPELINES_H
#define RC_CACHE_PIPELINES_H

#include "device.h"

/* The commands' own parameters and results; `next` is the next layer's function. Any thread. */
VkResult pipelines_create_graphics(struct device *self, PFN_vkCreateGraphicsPipelines next, VkDevice device,
                                   VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                   const VkGraphicsPipelineCreateInfo *pCreateInfos,
                                   const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines);
VkResult pipelines_create_compute(struct device *self, PFN_vkCreateComputePipelines next, VkDevice device,
                                  VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                  const VkComputePipelineCreateInfo *pCreateInfos,
                                  const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines);
VkResult pipelines_create_ray_tracing(struct device *self, PFN_vkCreateRayTracingPipelinesKHR next,
                                      VkDevice device, VkDeferredOperationKHR deferredOperation,
                                      VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                      const VkRayTracingPipelineCreateInfoKHR *pCreateInfos,
                                      const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines);
VkResult pipelines_create_ray_tracing_nv(struct device *self, PFN_vkCreateRayTracingPipelinesNV next,
                                         VkDevice device, VkPipelineCache pipelineCache,
                                         uint32_t createInfoCount,
                                         const VkRayTracingPipelineCreateInfoNV *pCreateInfos,
                                         const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines);

#endif
