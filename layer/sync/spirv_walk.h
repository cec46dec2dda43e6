/* The one pass over a SPIR-V module: which function names which resource, how, and which it calls. */
#ifndef RC_SYNC_SPIRV_WALK_H
#define RC_SYNC_SPIRV_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spirv_mark {
    SPIRV_HAS_SET = 1,
    SPIRV_HAS_BINDING = 2,
    SPIRV_NON_WRITABLE = 4, /* of a struct: all members */
    SPIRV_NON_READABLE = 8,
};

/* What a variable refers to. */
enum spirv_content {
    SPIRV_CONTENT_UNKNOWN,
    SPIRV_CONTENT_BUFFER,
    SPIRV_CONTENT_HANDLE, /* a load gives the image or sampler itself */
    SPIRV_CONTENT_ACCELERATION,
};

enum spirv_shape {
    SPIRV_SHAPE_UNKNOWN,
    SPIRV_SHAPE_SINGLE,
    SPIRV_SHAPE_ARRAY,
};

/* An id with one of those decorations: a resource if it has set and binding. */
struct spirv_resource {
    uint64_t non_writable, non_readable; /* a struct's first 64 members */
    uint32_t set, binding;
    uint32_t latest; /* of its uses */
    uint8_t marks;
    uint8_t content, shape; /* unknown until the variable's definition */
};

/* A resource in a function. */
struct spirv_use {
    uint32_t resource;
    uint32_t element;
    uint8_t access;
};

/* Its uses and calls are those up to the next function's. */
struct spirv_function {
    uint32_t first_use, first_call;
};

struct spirv_entry_point {
    uint32_t model, function; /* the function's id */
    uint32_t name;            /* the name's first word */
    uint32_t name_length;     /* bytes */
};

struct spirv_walk {
    const uint32_t *words;
    uint32_t word_count, bound;

    uint8_t *kinds;   /* what each id is, see spirv_ids.h */
    uint32_t *values; /* ... and which */

    struct spirv_resource *resources; /* [0] is none */
    struct spirv_use *uses;
    struct spirv_function *functions; /* [0]: outside of functions; behind the last one another as the end */
    uint32_t *calls;                  /* ids of functions */
    struct spirv_entry_point *entries;
    uint32_t resource_count, use_count, function_count, call_count, entry_count;
    uint32_t resource_capacity, use_capacity, function_capacity, call_capacity, entry_capacity;

    bool inside;  /* a function */
    bool refused; /* malformed, or out of memory */
};

/* `words` in this machine's byte order, at least a header. False if they aren't understood or on out of
 * memory. To be finished in any case. */
bool spirv_walk_init(struct spirv_walk *walk, const uint32_t *words, uint32_t word_count);
void spirv_walk_finish(struct spirv_walk *walk);

/* The index of a function with this id; 0 if there is none. */
uint32_t spirv_walk_function(const struct spirv_walk *walk, uint32_t id);

#endif
