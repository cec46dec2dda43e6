/* Pipelines by number: number N is the same pipeline in every process, and another one than every other
 * number. Compute and graphics pipelines are numbered apart. */
#ifndef PROGRAMS_PIPES_H
#define PROGRAMS_PIPES_H

#include "gpu.h"

#define PIPES_COMPUTE_VARIANTS 4
#define PIPES_GRAPHICS_VARIANTS 2

struct pipes {
    const struct gpu *gpu;
    VkShaderModule compute[PIPES_COMPUTE_VARIANTS];
    VkShaderModule vertex[PIPES_GRAPHICS_VARIANTS];
    VkShaderModule fragment[PIPES_GRAPHICS_VARIANTS];
    VkDescriptorSetLayout set_layout; /* binding 0: a storage buffer for compute */
    VkPipelineLayout layout;
    VkRenderPass render_pass;
};

enum pipes_kind {
    PIPES_COMPUTE,
    PIPES_GRAPHICS,
};

/* What came of a number of pipelines. Zero to begin with; pipes_create() adds. */
struct pipes_outcome {
    uint32_t created;
    uint32_t failed;      /* null handles */
    uint32_t hits;        /* APPLICATION_PIPELINE_CACHE_HIT, by creation feedback */
    uint32_t feedbacks;   /* valid feedbacks */
    VkResult first_error; /* VK_SUCCESS if none */
    double ms;            /* inside the create calls */
    double longest_ms;    /* longest single call */
};

/* On failure nothing is left. */
VkResult pipes_init(struct pipes *pipes, const struct gpu *gpu);
void pipes_finish(struct pipes *pipes);

/* Creates pipelines `first` to `first + count - 1` of a kind with `cache` (or VK_NULL_HANDLE), in one call
 * each or all in one. `out` gets `count` handles, null where creation failed. Any thread. */
void pipes_create(const struct pipes *pipes, enum pipes_kind kind, VkPipelineCache cache, uint32_t first,
                  uint32_t count, bool one_call, VkPipeline *out, char *hits, struct pipes_outcome *outcome);

void pipes_add_outcome(struct pipes_outcome *sum, const struct pipes_outcome *part);

#endif
