#include "pipelines.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "cache.h"

static atomic_uint_fast64_t hits;
static atomic_uint_fast64_t misses;

uint64_t fault_cache_hits(void)
{
    return atomic_load(&hits);
}

uint64_t fault_cache_misses(void)
{
    return atomic_load(&misses);
}

void pipeline_counters_reset(void)
{
    atomic_store(&hits, 0);
    atomic_store(&misses, 0);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void busy(uint32_t microseconds)
{
    uint64_t end = now_ns() + (uint64_t)microseconds * 1000;

    while (microseconds && now_ns() < end)
        ;
}

static void write_feedback(const void *chain, bool hit, uint64_t duration)
{
    const VkPipelineCreationFeedbackCreateInfo *wanted =
        chain_find(chain, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
    VkPipelineCreationFeedback feedback = {VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, duration};

    if (!wanted)
        return;
    if (hit)
        feedback.flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    *wanted->pPipelineCreationFeedback = feedback;
    for (uint32_t i = 0; i < wanted->pipelineStageCreationFeedbackCount; i++)
        wanted->pPipelineStageCreationFeedbacks[i] = feedback;
}

#ifdef VK_KHR_pipeline_binary
static const VkPipelineBinaryInfoKHR *binaries_of(const void *info)
{
    const VkPipelineBinaryInfoKHR *binaries = chain_find(info, VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR);

    return binaries && binaries->binaryCount ? binaries : NULL;
}
#endif

/* The key of the state, and whether the pipeline comes from binaries, so that there is nothing to compile. */
static uint64_t key_of(enum pipeline_kind kind, const void *info, bool *from_binaries)
{
    *from_binaries = false;
#ifdef VK_KHR_pipeline_binary
    if (binaries_of(info)) {
        *from_binaries = true;
        return OBJECT(pipeline, binaries_of(info)->pPipelineBinaries[0])->key;
    }
#endif
    return pipeline_key(kind, info);
}

static void pipeline_finish(struct object *object)
{
    shader_uses_finish(&((struct pipeline *)object)->uses);
}

static VkResult create_one(const struct pipeline_job *job, const void *info, VkPipeline *out)
{
    struct fault_record *record = &call_current()->record;
    uint64_t start = now_ns();
    bool from_binaries;
    uint64_t key = key_of(job->kind, info, &from_binaries);
    bool hit = !from_binaries && cache_has(job->cache, key);
    struct pipeline *pipeline;

    if (!hit && !from_binaries) {
        if (pipeline_flags(job->kind, info) & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT)
            return VK_PIPELINE_COMPILE_REQUIRED;
        busy(job->device->physical->config->miss_us);
        if (!cache_add(job->cache, key))
            return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    pipeline = object_create(&job->device->objects, VK_OBJECT_TYPE_PIPELINE, sizeof(*pipeline));
    if (!pipeline)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pipeline->base.finish = pipeline_finish;
    pipeline->key = key;
    if (job->device->oracle.on)
        pipeline_uses_scan(&pipeline->uses, job->kind, info);
    if (!from_binaries) {
        record->hits += hit;
        record->misses += !hit;
        atomic_fetch_add(hit ? &hits : &misses, 1);
    }
    write_feedback(((const VkBaseInStructure *)info)->pNext, hit, now_ns() - start);
    *out = HANDLE(VkPipeline, pipeline);
    return VK_SUCCESS;
}

/* "If a pipeline creation fails ... the corresponding element is VK_NULL_HANDLE"; the others are tried all
 * the same unless EARLY_RETURN is set. An error weighs more than VK_PIPELINE_COMPILE_REQUIRED. */
VkResult pipeline_job_run(const struct pipeline_job *job)
{
    VkResult result = VK_SUCCESS;
    bool stopped = false;

    for (uint32_t i = 0; i < job->count; i++) {
        const void *info = pipeline_info_at(job->kind, job->infos, i);
        VkResult one;

        job->out[i] = VK_NULL_HANDLE;
        if (stopped)
            continue;
        one = create_one(job, info, &job->out[i]);
        if (one == VK_SUCCESS)
            continue;
        if (result >= 0)
            result = one;
        stopped = pipeline_flags(job->kind, info) & VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT;
    }
    return result;
}

static uint32_t chained_of(enum pipeline_kind kind, const void *info)
{
    const VkPipelineShaderStageCreateInfo *stages;
    const VkPipelineLibraryCreateInfoKHR *libraries =
        chain_find(info, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    uint32_t count;
    uint32_t chained = 0;

    if (chain_find(info, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO))
        chained |= FAULT_CHAINED_FEEDBACK;
    if (libraries && libraries->libraryCount)
        chained |= FAULT_CHAINED_LIBRARY;
#ifdef VK_KHR_maintenance5
    if (chain_find(info, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR))
        chained |= FAULT_CHAINED_FLAGS2;
#endif
#ifdef VK_KHR_pipeline_binary
    if (binaries_of(info))
        chained |= FAULT_CHAINED_BINARY;
#endif
    pipeline_stages(kind, info, &count, &stages);
    for (uint32_t i = 0; i < count; i++) {
        if (chain_find(stages[i].pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO))
            chained |= FAULT_CHAINED_INLINE;
    }
    return chained;
}

static void record_job(const struct pipeline_job *job)
{
    struct fault_record *record = &call_current()->record;

    record->cache = (uintptr_t)job->cache;
    record->count = job->count;
    record->infos = job->infos;
    if (job->count)
        record->flags = (uint32_t)pipeline_flags(job->kind, pipeline_info_at(job->kind, job->infos, 0));
    for (uint32_t i = 0; i < job->count; i++)
        record->chained |= chained_of(job->kind, pipeline_info_at(job->kind, job->infos, i));
}

static struct pipeline_job job_of(enum pipeline_kind kind, VkDevice device, VkPipelineCache cache,
                                  uint32_t count, const void *infos, VkPipeline *out)
{
    struct pipeline_job job = {kind, OBJECT(device, device), OBJECT(cache, cache), count, infos, out};

    record_job(&job);
    return job;
}

VkResult driver_vkCreateGraphicsPipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                          const VkGraphicsPipelineCreateInfo *infos,
                                          const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    struct pipeline_job job = job_of(PIPELINE_GRAPHICS, device, cache, count, infos, out);

    return pipeline_job_run(&job);
}

VkResult driver_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                         const VkComputePipelineCreateInfo *infos,
                                         const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    struct pipeline_job job = job_of(PIPELINE_COMPUTE, device, cache, count, infos, out);

    return pipeline_job_run(&job);
}

VkResult driver_vkCreateRayTracingPipelinesNV(VkDevice device, VkPipelineCache cache, uint32_t count,
                                              const VkRayTracingPipelineCreateInfoNV *infos,
                                              const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    struct pipeline_job job = job_of(PIPELINE_RAY_TRACING_NV, device, cache, count, infos, out);

    return pipeline_job_run(&job);
}

VkResult driver_vkCreateRayTracingPipelinesKHR(VkDevice device, VkDeferredOperationKHR operation,
                                               VkPipelineCache cache, uint32_t count,
                                               const VkRayTracingPipelineCreateInfoKHR *infos,
                                               const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    struct pipeline_job job = job_of(PIPELINE_RAY_TRACING_KHR, device, cache, count, infos, out);
    VkResult result;

    if (!operation)
        return pipeline_job_run(&job);
    if (job.device->physical->config->defer && deferred_take(operation, &job))
        return VK_OPERATION_DEFERRED_KHR;
    result = pipeline_job_run(&job);
    return result == VK_SUCCESS ? VK_OPERATION_NOT_DEFERRED_KHR : result;
}
