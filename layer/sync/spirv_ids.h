/* What the scan knows of each id, and the instructions outside of functions, which define most of them. */
#ifndef RC_SYNC_SPIRV_IDS_H
#define RC_SYNC_SPIRV_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sync/grow.h"
#include "sync/spirv_walk.h"

/* What an id is; the value beside it. */
enum spirv_kind {
    SPIRV_KIND_NONE,
    SPIRV_KIND_AWAITED,   /* not defined yet, but named by an OpPhi */
    SPIRV_KIND_DECORATED, /* an entry of `resources` */
    SPIRV_KIND_CONSTANT,  /* its value, if it has 32 bits */
    SPIRV_KIND_NON_SEMANTIC,
    SPIRV_KIND_POINTER, /* the id of what it points to */
    SPIRV_KIND_ARRAY,   /* the id of the elements' type */
    SPIRV_KIND_STRUCT,  /* an entry of `resources` */
    SPIRV_KIND_HANDLE_TYPE,
    SPIRV_KIND_ACCELERATION_TYPE,
    SPIRV_KIND_FUNCTION, /* its index */
    SPIRV_KIND_RESOURCE, /* an entry of `resources` */
    SPIRV_KIND_USE,      /* a pointer into a resource, or its handle: an entry of `uses` */
};

struct spirv_instruction {
    const uint32_t *words;
    uint32_t count;
};

/* 0, which is no id, where it has none. */
static inline uint32_t spirv_word(const struct spirv_instruction *in, uint32_t index)
{
    return index < in->count ? in->words[index] : 0;
}

static inline enum spirv_kind spirv_kind_of(const struct spirv_walk *walk, uint32_t id)
{
    return id < walk->bound ? walk->kinds[id] : SPIRV_KIND_NONE;
}

/* Room for one more behind `count`. False on out of memory: then the module is refused. */
static inline bool spirv_reserve(struct spirv_walk *walk, void *array, uint32_t *capacity, uint32_t count,
                                 size_t size)
{
    if (!grow(array, capacity, count + 1, size))
        walk->refused = true;
    return !walk->refused;
}

/* A second definition, and an id that is none, refuse the module. */
void spirv_define(struct spirv_walk *walk, uint32_t id, enum spirv_kind kind, uint32_t value);

/* Of an OpVariable, what the type says of it. Not a resource: nothing. */
void spirv_learn_type(struct spirv_walk *walk, uint32_t id, uint32_t type);

/* An instruction outside of functions that isn't OpVariable or OpFunction. */
void spirv_declare(struct spirv_walk *walk, uint32_t opcode, const struct spirv_instruction *in);

#endif
