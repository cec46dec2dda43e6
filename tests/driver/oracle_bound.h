/* What is bound while a command buffer is replayed: pipelines or shader objects, and descriptor sets. A
 * command buffer begins with nothing, and inherits nothing. Under the device's lock. */
#ifndef DRIVER_ORACLE_BOUND_H
#define DRIVER_ORACLE_BOUND_H

#include "descriptor_binds.h"
#include "shader_uses.h"

#define BOUND_MAX_SETS 32    /* maxBoundDescriptorSets */
#define BOUND_MAX_PUSHED 32  /* maxPushDescriptors */
#define BOUND_MAX_SHADERS 32 /* one per bit of VkShaderStageFlags */

enum bound_point_id {
    BOUND_GRAPHICS,
    BOUND_COMPUTE,
    BOUND_RAY_TRACING,
    BOUND_POINT_COUNT,
};

/* No set: none is known, as after descriptor buffers. */
struct bound_set {
    const struct descriptor_set *set;
    const struct descriptor *contents; /* as they were when it was bound; NULL: what it has now counts */
};

/* "There must not be more than one push descriptor set" in a pipeline layout. */
struct bound_pushes {
    uint32_t set;
    uint32_t count;
    struct pushed_descriptor items[BOUND_MAX_PUSHED];
};

struct bound_point {
    const struct shader_uses *pipeline;                   /* NULL: shader objects, or none is known */
    const struct shader_uses *shaders[BOUND_MAX_SHADERS]; /* by the stage's bit */
    struct bound_set sets[BOUND_MAX_SETS];
    struct bound_pushes pushes;
};

struct bound {
    struct bound_point points[BOUND_POINT_COUNT];
};

/* The descriptor that a shader's use means at this point. False if that can't be said: it may be any of an
 * array, it need not be valid unless it is used indeed (PARTIALLY_BOUND), or nothing is known of the set. */
bool bound_find(const struct bound_point *point, const struct shader_use *use, struct descriptor *out);

#endif
