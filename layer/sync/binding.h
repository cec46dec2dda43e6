/* What is bound in a command buffer that is recorded: pipelines, shader objects, descriptor sets. Handles:
 * what stands behind them is asked when a command uses it. */
#ifndef RC_SYNC_BINDING_H
#define RC_SYNC_BINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/descriptor.h"
#include "sync/scope.h"

enum bind_point_index {
    POINT_GRAPHICS,
    POINT_COMPUTE,
    POINT_RAY_TRACING,
    POINT_COUNT,
};

#define SHADER_OBJECTS 8 /* stages of shader objects: those of the graphics and mesh pipelines, compute */

/* A set whose contents stand in the command buffer. */
struct pushed_set {
    struct descriptor_layout *layout; /* holds a reference */
    struct pushed_set *next;          /* of the command buffer */
    struct descriptor slots[];
};

struct bound_set {
    VkDescriptorSet set;
    struct pushed_set *pushed; /* instead of it */
};

/* All zero: nothing is bound. */
struct bind_point {
    uint64_t seen; /* command_buffer.changes when what is bound was looked at last; 0: has to be */
    VkPipeline pipeline;
    uint64_t shaders[SHADER_OBJECTS]; /* VkShaderEXT by stage, in use while no pipeline is bound */
    uint32_t set_count;               /* behind the last that was ever bound */
    struct bound_set sets[DESCRIPTOR_SETS];
};

/* A descriptor that is read when the command buffer is submitted. */
struct late_use {
    struct late_use *next;
    struct descriptor_set *set; /* holds a reference */
    uint32_t slot;
    uint16_t command;
    uint32_t label;
    struct scope scope;
};
#define LATE_RECENT 64 /* that are not added once more; a power of two */
#define LATE_USES 1024 /* of one command buffer; more are left alone, and counted */

struct bindings {
    struct bind_point points[POINT_COUNT];
    struct pushed_set *pushed; /* all that are in the arena */
    struct late_use *late, *late_last;
    struct late_use *recent[LATE_RECENT];
    uint32_t late_count;
};

/* Nothing is bound any more, and references go. */
void bindings_reset(struct bindings *bindings);

#endif
