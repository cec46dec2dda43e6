/* What the shaders of a SPIR-V module can touch through descriptors: a scan of the words, once for each
 * module. Pure; any thread. The words come from the application and may be anything: truncated, cyclic, with
 * ids without bounds. */
#ifndef RC_SYNC_SPIRV_H
#define RC_SYNC_SPIRV_H

#include <stddef.h>
#include <stdint.h>

enum spirv_access {
    SPIRV_READS = 1,   /* loads from a buffer, image or texel; atomics too */
    SPIRV_WRITES = 2,  /* stores; atomics too */
    SPIRV_SAMPLES = 4, /* through a sampler, or an image that isn't a storage image (fetch, query of LOD) */
};

#define SPIRV_ANY_ELEMENT UINT32_MAX /* of an array: by an index that isn't constant, or as a whole */

/* One resource variable that an entry point statically uses (spec, "Shader Resource Interface"): it stands in
 * some instruction of a function in the static call tree. */
struct spirv_binding {
    uint32_t set, binding;
    uint32_t element; /* 0 where it is no array; of an array by a constant (not specialized) index */
    uint8_t access; /* enum spirv_access; passed on in a way that isn't followed: READS | WRITES | SAMPLES */
};

struct spirv_entry {
    uint32_t model;   /* SpvExecutionModel */
    const char *name; /* within the module's memory */
    uint32_t binding_count;
    const struct spirv_binding *bindings; /* sorted by set, binding, element, each once */
};

struct spirv_module {
    uint32_t entry_count;
    struct spirv_entry entries[];
};

/* One allocation, for free(). NULL if it isn't understood (what it does is then unknown) or on out of memory.
 * `size` in bytes. Never reads outside, never loops for long: the time is linear in `size`, and so is memory
 * (at most 64 bytes a word). The words are only read, and must be aligned for uint32_t; of either byte
 * order. Without entry points (a library) it is understood and has none. */
struct spirv_module *spirv_scan(const uint32_t *words, size_t size);

/* NULL if there is none of this name and model. */
const struct spirv_entry *spirv_find(const struct spirv_module *module, const char *name, uint32_t model);

#endif
