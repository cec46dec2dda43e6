/* Pipelines and what makes them: shader modules and render passes. */
#ifndef DRIVER_PIPELINES_H
#define DRIVER_PIPELINES_H

#include "shader_uses.h"
#include "state_hash.h"

struct pipeline {
    struct object base;
    uint64_t key;
    struct shader_uses uses; /* of all its stages and libraries; none if the oracle is off */
};

/* VK_EXT_shader_object */
struct shader {
    struct object base;
    VkShaderStageFlagBits stage;
    struct shader_uses uses; /* none if the oracle is off */
};

#define RENDER_PASS_MAX_SUBPASSES 32

struct render_pass {
    struct hashed_object hashed;
    /* Which subpasses have attachments: what else the create-info points to may be wild. Bits by subpass;
     * those behind RENDER_PASS_MAX_SUBPASSES count as having both. */
    uint32_t colors;
    uint32_t depths;
    struct oracle_pass *oracle; /* owned; NULL if the oracle is off */
};

struct framebuffer {
    struct object base;
    uint32_t layers;
    uint32_t view_count; /* 0 if it is imageless */
    VkImageView *views;  /* owned */
};

enum pipeline_kind {
    PIPELINE_GRAPHICS,
    PIPELINE_COMPUTE,
    PIPELINE_RAY_TRACING_KHR,
    PIPELINE_RAY_TRACING_NV,
};

/* One call's worth of pipelines: made at once, or by whoever joins the deferred operation. The arrays are the
 * application's and have to live until then. */
struct pipeline_job {
    enum pipeline_kind kind;
    struct device *device;
    struct cache *cache;
    uint32_t count;
    const void *infos;
    VkPipeline *out;
};

VkResult pipeline_job_run(const struct pipeline_job *job);

/* What fault_cache_hits() and fault_cache_misses() count starts anew. */
void pipeline_counters_reset(void);

/* deferred.c: false if the operation isn't taken up, and the caller has to do it. The job is copied. */
bool deferred_take(VkDeferredOperationKHR operation, const struct pipeline_job *job);

/* The key of a create-info of this kind (pipeline_key.c); equal state gives equal keys in every process. */
uint64_t pipeline_key(enum pipeline_kind kind, const void *info);
uint64_t pipeline_flags(enum pipeline_kind kind, const void *info);

/* The index-th of an array of create-infos. */
const void *pipeline_info_at(enum pipeline_kind kind, const void *infos, uint32_t index);
/* The stages of a create-info; *stages may be wild if *count is 0. */
void pipeline_stages(enum pipeline_kind kind, const void *info, uint32_t *count,
                     const VkPipelineShaderStageCreateInfo **stages);

/* shaders.c: what the stages and libraries of a create-info use. */
void pipeline_uses_scan(struct shader_uses *uses, enum pipeline_kind kind, const void *info);

#endif
