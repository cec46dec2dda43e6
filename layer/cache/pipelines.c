/* Pipeline creation: the store in place of VK_NULL_HANDLE, the guard around uses, one more
 * try without a cache that the driver fails with, and the counting of hits. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../chain.h"
#include "hooks.h"

#include "device_cache.h"
#include "pipelines.h"

#define STACK_BYTES 4096   /* of create-infos copied on the stack */
#define STACK_FEEDBACKS 16 /* pipelines in one call */
#define STACK_STAGES 48    /* shader stages in one call */

enum pipeline_kind {
    KIND_GRAPHICS,
    KIND_COMPUTE,
    KIND_RAY_TRACING_KHR,
    KIND_RAY_TRACING_NV,
    KIND_EXECUTION_GRAPH_AMDX,
    KIND_DATA_GRAPH_ARM,
};

/* What all the create-info structures begin with. The flags of the data graph's are 64 bits wide. */
struct info_head {
    VkStructureType sType;
    const void *pNext;
    VkPipelineCreateFlags flags;
};

/* One application's call, whatever its kind. */
struct call {
    enum pipeline_kind kind;
    PFN_vkVoidFunction next;
    VkDevice device;
    VkDeferredOperationKHR deferred;
    VkPipelineCache cache; /* the application's */
    uint32_t count;
    const void *infos; /* the application's */
    size_t stride;     /* bytes from one create-info to the next */
    const VkAllocationCallbacks *allocator;
    VkPipeline *pipelines;
};

/* What the layer decided for a call. */
struct plan {
    VkPipelineCache cache; /* handed down */
    bool substituted;      /* ... in place of VK_NULL_HANDLE */
    bool seeded;           /* ... an application's cache that the layer filled */
    bool retried;          /* the call was done without that cache in the end */
    struct guarded *guard; /* not NULL: the call runs under the crash guard */
    uint64_t begin_ns;
};

/* Copies of create-infos with a feedback structure in front of each chain. */
struct feedback_copy {
    const void *infos;                   /* to hand down: the copies, or the application's own */
    void *heap;                          /* what is to be freed */
    VkPipelineCreationFeedback *results; /* NULL: nothing was chained */
};

static VkResult call_next(const struct call *call, VkPipelineCache cache, const void *infos)
{
    switch (call->kind) {
    case KIND_GRAPHICS:
        return ((PFN_vkCreateGraphicsPipelines)call->next)(call->device, cache, call->count, infos,
                                                           call->allocator, call->pipelines);
    case KIND_COMPUTE:
        return ((PFN_vkCreateComputePipelines)call->next)(call->device, cache, call->count, infos,
                                                          call->allocator, call->pipelines);
    case KIND_RAY_TRACING_KHR:
        return ((PFN_vkCreateRayTracingPipelinesKHR)call->next)(
            call->device, call->deferred, cache, call->count, infos, call->allocator, call->pipelines);
    case KIND_RAY_TRACING_NV:
        return ((PFN_vkCreateRayTracingPipelinesNV)call->next)(call->device, cache, call->count, infos,
                                                               call->allocator, call->pipelines);
    case KIND_EXECUTION_GRAPH_AMDX:
        return ((PFN_compat_vkCreateExecutionGraphPipelinesAMDX)call->next)(
            call->device, cache, call->count, infos, call->allocator, call->pipelines);
    case KIND_DATA_GRAPH_ARM:
        return ((PFN_compat_vkCreateDataGraphPipelinesARM)call->next)(
            call->device, call->deferred, cache, call->count, infos, call->allocator, call->pipelines);
    }
    return VK_ERROR_UNKNOWN;
}

static struct info_head head_of(const struct call *call, uint32_t index)
{
    struct info_head head;
    memcpy(&head, (const unsigned char *)call->infos + index * call->stride, sizeof(head));
    return head;
}

static uint64_t flags_of(const struct call *call, uint32_t index)
{
    struct info_head head = head_of(call, index);
    if (call->kind == KIND_DATA_GRAPH_ARM)
        return ((const struct compat_data_graph_pipeline_create_info *)call->infos)[index].flags;
    /* Spec, VkPipelineCreateFlags2CreateInfo: where it is chained, its flags are used instead of the
     * create-info's. */
    const struct compat_pipeline_create_flags_2_create_info *wide =
        chain_find(head.pNext, COMPAT_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO);
    return wide ? wide->flags : head.flags;
}

/* Pipelines from binaries, or captured to become binaries, must be created without a cache. */
static bool needs_null_cache(const struct call *call)
{
    for (uint32_t i = 0; i < call->count; i++) {
        const struct compat_pipeline_binary_info *binaries =
            chain_find(head_of(call, i).pNext, COMPAT_STRUCTURE_TYPE_PIPELINE_BINARY_INFO);
        if ((binaries && binaries->binaryCount) ||
            (flags_of(call, i) & COMPAT_PIPELINE_CREATE_2_CAPTURE_DATA_BIT))
            return true;
    }
    return false;
}

static bool fails_on_compile(const struct call *call)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (flags_of(call, i) & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT)
            return true;
    return false;
}

static bool is_deferred(const struct call *call)
{
    return call->deferred != VK_NULL_HANDLE;
}

/* --- Feedback --- */

static const VkPipelineCreationFeedbackCreateInfo *own_feedback(const struct call *call, uint32_t index)
{
    return chain_find(head_of(call, index).pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
}

static bool can_chain_feedback(const struct device *device, const struct call *call)
{
    return device->creation_feedback && !is_deferred(call) && call->kind != KIND_EXECUTION_GRAPH_AMDX &&
           call->kind != KIND_DATA_GRAPH_ARM;
}

/* Until early 2022 the spec wanted feedback for every stage, and drivers of that time write it without a look
 * at pipelineStageCreationFeedbackCount; since then 0 is allowed. Where a pipeline is made of libraries
 * stageCount may be meaningless, and the driver is one that knows the newer rule. */
static uint32_t stages_of(const struct call *call, uint32_t index)
{
    const void *chain = head_of(call, index).pNext;
    if (chain_find(chain, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR) ||
        chain_find(chain, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT))
        return 0;
    switch (call->kind) {
    case KIND_GRAPHICS:
        return ((const VkGraphicsPipelineCreateInfo *)call->infos)[index].stageCount;
    case KIND_COMPUTE:
        return 1;
    case KIND_RAY_TRACING_KHR:
        return ((const VkRayTracingPipelineCreateInfoKHR *)call->infos)[index].stageCount;
    case KIND_RAY_TRACING_NV:
        return ((const VkRayTracingPipelineCreateInfoNV *)call->infos)[index].stageCount;
    default:
        return 0;
    }
}

/* Where the copies lie: on the stack for calls of the usual size, else in one block from malloc. */
struct feedback_room {
    unsigned char infos[STACK_BYTES] __attribute__((aligned(16)));
    VkPipelineCreationFeedbackCreateInfo links[STACK_FEEDBACKS];
    VkPipelineCreationFeedback
        results[STACK_FEEDBACKS + STACK_STAGES]; /* of the pipelines, then of their stages */
};

/* Prepends a feedback structure to each create-info whose chain has none; on copies, so that nothing of the
 * application's is written to. Without memory for them the application's own go down, uncounted. */
static void chain_feedback(const struct call *call, struct feedback_copy *copy, struct feedback_room *room)
{
    size_t bytes = call->count * call->stride, result_count = call->count;
    for (uint32_t i = 0; i < call->count; i++)
        result_count += stages_of(call, i);
    unsigned char *infos = room->infos;
    VkPipelineCreationFeedbackCreateInfo *links = room->links;
    VkPipelineCreationFeedback *results = room->results;
    if (bytes > STACK_BYTES || call->count > STACK_FEEDBACKS ||
        result_count > STACK_FEEDBACKS + STACK_STAGES) {
        size_t links_at = (bytes + 15) & ~(size_t)15;
        size_t results_at = links_at + ((call->count * sizeof(*links) + 15) & ~(size_t)15);
        copy->heap = malloc(results_at + result_count * sizeof(*results));
        if (!copy->heap)
            return;
        infos = copy->heap;
        links = (void *)(infos + links_at);
        results = (void *)(infos + results_at);
    }
    memcpy(infos, call->infos, bytes);
    memset(results, 0, result_count * sizeof(*results));
    VkPipelineCreationFeedback *stages = results + call->count;
    for (uint32_t i = 0; i < call->count; i++) {
        if (own_feedback(call, i))
            continue;
        uint32_t stage_count = stages_of(call, i);
        links[i] = (VkPipelineCreationFeedbackCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
            .pNext = head_of(call, i).pNext,
            .pPipelineCreationFeedback = &results[i],
            .pipelineStageCreationFeedbackCount = stage_count,
            .pPipelineStageCreationFeedbacks = stage_count ? stages : NULL,
        };
        stages += stage_count;
        /* Only the pointer: what is padding in struct info_head is a member in the create-info. */
        const void *link = &links[i];
        memcpy(infos + i * call->stride + offsetof(struct info_head, pNext), &link, sizeof(link));
    }
    copy->infos = infos;
    copy->results = results;
}

static VkPipelineCreationFeedback feedback_of(const struct call *call, const struct feedback_copy *copy,
                                              uint32_t index)
{
    const VkPipelineCreationFeedbackCreateInfo *own = is_deferred(call) ? NULL : own_feedback(call, index);
    if (own && own->pPipelineCreationFeedback)
        return *own->pPipelineCreationFeedback;
    return copy->results ? copy->results[index] : (VkPipelineCreationFeedback){0};
}

/* Called with the lock held. Returns whether anything may have been compiled into the cache. */
static bool count_pipelines(struct device_cache *cache, const struct call *call,
                            const struct feedback_copy *copy)
{
    struct cache_counters *counters = &cache->counters;
    bool compiled = false;
    for (uint32_t i = 0; i < call->count; i++) {
        VkPipelineCreationFeedback feedback = feedback_of(call, copy, i);
        counters->pipelines++;
        if (!(feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT)) {
            /* Not created: VK_PIPELINE_COMPILE_REQUIRED is a miss like any other, but nothing was compiled.
             */
            bool created = is_deferred(call) || call->pipelines[i] != VK_NULL_HANDLE;
            counters->misses += !created;
            counters->unknown += created;
            compiled = compiled || created;
        } else if (feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT) {
            counters->hits++;
            counters->hit_ns += feedback.duration;
        } else {
            counters->misses++;
            cache->unrecorded_misses++;
            cache->unrecorded_miss_ns += feedback.duration;
            compiled = true;
        }
    }
    return compiled;
}

/* --- Which cache --- */

/* In place of VK_NULL_HANDLE. Called with the lock held; may wait for the load. */
static void substitute(struct device_cache *cache, const struct call *call, struct plan *plan)
{
    if (!cache->substitute || needs_null_cache(call))
        return;
    if (!fails_on_compile(call))
        device_cache_wait_loaded(cache, true);
    plan->cache = cache->loaded ? cache->loaded : cache->live;
    plan->substituted = plan->cache != VK_NULL_HANDLE;
    if (cache->loaded && cache->loaded_guard.unproven)
        plan->guard = &cache->loaded_guard;
}

static struct plan make_plan(struct device_cache *cache, const struct call *call)
{
    struct plan plan = {.cache = call->cache};
    pthread_mutex_lock(&cache->lock);
    struct app_cache *entry = call->cache ? app_caches_find(&cache->app_caches, call->cache) : NULL;
    if (entry && entry->poisoned)
        plan.cache = VK_NULL_HANDLE;
    else if (entry && entry->guard.unproven)
        plan.guard = &entry->guard;
    plan.seeded = entry && entry->seeded && !entry->poisoned;
    if (!call->cache)
        substitute(cache, call, &plan);
    /* A deferred operation runs on after the call: no mark can stand around that. */
    if (is_deferred(call))
        plan.guard = NULL;
    if (plan.guard)
        guarded_use_begin(cache, plan.guard);
    pthread_mutex_unlock(&cache->lock);
    return plan;
}

/* Results that may be the cache's fault. */
static bool may_be_poison(VkResult result)
{
    switch (result) {
    case VK_ERROR_UNKNOWN:
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_INVALID_SHADER_NV:
        return true;
    default:
        return false;
    }
}

static bool all_null(const struct call *call)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (call->pipelines[i] != VK_NULL_HANDLE)
            return false;
    return true;
}

/* Takes a cache out of use; other threads' calls may still run with it, so it lives on until the device goes.
 */
static void retire(struct device_cache *cache, VkPipelineCache handle, struct retired_cache *retired,
                   VkPipelineCache replacement)
{
    if (handle == cache->loaded) {
        cache->loaded = VK_NULL_HANDLE;
        guarded_distrust(&cache->loaded_guard);
        ledger_add_rejected(&cache->ledger, &cache->loaded_hash, clock_unix_seconds());
    } else if (handle == cache->live) {
        cache->live = replacement;
    } else {
        return; /* another thread was faster; `retired` and the replacement are put away below */
    }
    retired->handle = handle;
}

/* The driver fails with this cache and not without it. */
static void poison(struct device_cache *cache, VkPipelineCache handle)
{
    const struct device *device = cache->device;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache replacement = VK_NULL_HANDLE;
    struct retired_cache *retired = calloc(1, sizeof(*retired));
    if (!retired)
        return; /* it stays in use, and each create with it costs one more try */
    if (device->next.CreatePipelineCache(device->handle, &info, NULL, &replacement) != VK_SUCCESS)
        replacement = VK_NULL_HANDLE;
    pthread_mutex_lock(&cache->lock);
    retire(cache, handle, retired, replacement);
    bool first = retired->handle, replaced = first && cache->live == replacement;
    if (first) {
        cache->counters.poisoned++;
        cache->poisonings++;
        if (cache->poisonings >= DEVICE_CACHE_POISONINGS)
            cache->substitute = false;
        retired->next = cache->retired;
        cache->retired = retired;
        retired = NULL;
    }
    bool off = !cache->substitute;
    pthread_mutex_unlock(&cache->lock);
    if (!replaced && replacement)
        device->next.DestroyPipelineCache(device->handle, replacement, NULL);
    free(retired);
    if (!first)
        return;
    writer_ledger_changed(cache);
    report_log(cache->report, REPORT_WARNING,
               "the driver fails with the cache that stood in for VK_NULL_HANDLE, and not without it: %s",
               off ? "substitution is off for this device" : "replaced by an empty one");
}

static void poison_seeded(struct device_cache *cache, VkPipelineCache handle)
{
    pthread_mutex_lock(&cache->lock);
    struct app_cache *entry = app_caches_find(&cache->app_caches, handle);
    if (entry) {
        entry->poisoned = true;
        guarded_distrust(&entry->guard);
    }
    ledger_add_rejected(&cache->ledger, &cache->loaded_hash, clock_unix_seconds());
    cache->counters.poisoned++;
    pthread_mutex_unlock(&cache->lock);
    writer_ledger_changed(cache);
    report_log(cache->report, REPORT_WARNING,
               "the driver fails with an application's cache that was filled from the store, and not without "
               "it: it is passed by");
}

/* Once more without the layer's cache. The result is the application's either way. */
static VkResult retry_without(struct device_cache *cache, const struct call *call, struct plan *plan,
                              const void *infos)
{
    pthread_mutex_lock(&cache->lock);
    cache->counters.retries++;
    pthread_mutex_unlock(&cache->lock);
    VkResult result = call_next(call, VK_NULL_HANDLE, infos);
    if (result == VK_SUCCESS && plan->substituted)
        poison(cache, plan->cache);
    else if (result == VK_SUCCESS)
        poison_seeded(cache, call->cache);
    plan->retried = true;
    return result;
}

static void finish(struct device_cache *cache, const struct call *call, const struct plan *plan,
                   const struct feedback_copy *copy, VkResult result)
{
    uint64_t spent = clock_monotonic_ns() - plan->begin_ns;
    bool compiled = false;
    pthread_mutex_lock(&cache->lock);
    if (plan->guard)
        guarded_use_end(cache, plan->guard, result == VK_SUCCESS && !plan->retried);
    cache->counters.spent_ns += spent;
    if (result >= 0) {
        compiled = count_pipelines(cache, call, copy) && !plan->retried;
        cache->counters.substituted += plan->substituted && !plan->retried ? call->count : 0;
    }
    if (is_deferred(call))
        cache->deferred_used = true;
    struct app_cache *entry =
        compiled && call->cache ? app_caches_find(&cache->app_caches, call->cache) : NULL;
    if (entry)
        entry->dirty = true;
    pthread_mutex_unlock(&cache->lock);
    if (compiled && plan->substituted)
        writer_cache_changed(cache);
}

static VkResult create_pipelines(struct device *device, const struct call *call)
{
    struct device_cache *cache = device->cache;
    if (!cache || !call->count)
        return call_next(call, call->cache, call->infos);
    struct feedback_room room;
    struct feedback_copy copy = {.infos = call->infos};
    struct plan plan = make_plan(cache, call);
    if (can_chain_feedback(device, call))
        chain_feedback(call, &copy, &room);
    plan.begin_ns = clock_monotonic_ns();
    VkResult result = call_next(call, plan.cache, copy.infos);
    if (may_be_poison(result) && (plan.substituted || plan.seeded) && !is_deferred(call) && all_null(call))
        result = retry_without(cache, call, &plan, copy.infos);
    finish(cache, call, &plan, &copy, result);
    free(copy.heap);
    instance_deliver_messages(device->instance);
    return result;
}

#define CALL(KIND, DEFERRED)                                                                                 \
    &(struct call)                                                                                           \
    {                                                                                                        \
        .kind = KIND, .next = (PFN_vkVoidFunction)next, .device = device, .deferred = DEFERRED,              \
        .cache = pipelineCache, .count = createInfoCount, .infos = pCreateInfos,                             \
        .stride = sizeof(*pCreateInfos), .allocator = pAllocator, .pipelines = pPipelines                    \
    }

VkResult pipelines_create_graphics(struct device *self, PFN_vkCreateGraphicsPipelines next, VkDevice device,
                                   VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                   const VkGraphicsPipelineCreateInfo *pCreateInfos,
                                   const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    return create_pipelines(self, CALL(KIND_GRAPHICS, VK_NULL_HANDLE));
}

VkResult pipelines_create_compute(struct device *self, PFN_vkCreateComputePipelines next, VkDevice device,
                                  VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                  const VkComputePipelineCreateInfo *pCreateInfos,
                                  const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    return create_pipelines(self, CALL(KIND_COMPUTE, VK_NULL_HANDLE));
}

VkResult pipelines_create_ray_tracing(struct device *self, PFN_vkCreateRayTracingPipelinesKHR next,
                                      VkDevice device, VkDeferredOperationKHR deferredOperation,
                                      VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                      const VkRayTracingPipelineCreateInfoKHR *pCreateInfos,
                                      const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    return create_pipelines(self, CALL(KIND_RAY_TRACING_KHR, deferredOperation));
}

VkResult pipelines_create_ray_tracing_nv(struct device *self, PFN_vkCreateRayTracingPipelinesNV next,
                                         VkDevice device, VkPipelineCache pipelineCache,
                                         uint32_t createInfoCount,
                                         const VkRayTracingPipelineCreateInfoNV *pCreateInfos,
                                         const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    return create_pipelines(self, CALL(KIND_RAY_TRACING_NV, VK_NULL_HANDLE));
}

VkResult
hook_CreateExecutionGraphPipelinesAMDX(struct device *self,
                                       PFN_compat_vkCreateExecutionGraphPipelinesAMDX next, VkDevice device,
                                       VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                       const struct compat_execution_graph_pipeline_create_info *pCreateInfos,
                                       const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    return create_pipelines(self, CALL(KIND_EXECUTION_GRAPH_AMDX, VK_NULL_HANDLE));
}

VkResult hook_CreateDataGraphPipelinesARM(struct device *self, PFN_compat_vkCreateDataGraphPipelinesARM next,
                                          VkDevice device, VkDeferredOperationKHR deferredOperation,
                                          VkPipelineCache pipelineCache, uint32_t createInfoCount,
                                          const struct compat_data_graph_pipeline_create_info *pCreateInfos,
                                          const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
    return create_pipelines(self, CALL(KIND_DATA_GRAPH_ARM, deferredOperation));
}
