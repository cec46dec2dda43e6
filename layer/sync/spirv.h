/* What the shaders of a SPIR-V module can touch through descriptors: a scan of the words, once for each
 * module. Pure; any thread. The words come from the application and may be anything: truncated, cyclic, with
 * ids without bounds. */
#ifndef RC_SYNC_SPIRV_H
#define RC_SYNC_SPIRV_H

#include <stddef.h>
#include <stdint.h>

enum spirv_access {
    SPIRV_READS = 1,   /* loads from a buffer, storage image or input attachment; atomics but stores; rays */
    SPIRV_WRITES = 2,  /* stores; atomics but loads */
    SPIRV_SAMPLES = 4, /* with a sampler, or a fetch; also queries of any image or buffer, which only read the
                        * descriptor */
};

#define SPIRV_ANY_ELEMENT UINT32_MAX /* of an array: by an index that isn't constant, or as a whole */

/* One resource variable that an entry point statically uses (spec, "Shader Resource Interface"): it stands in
 * some instruction of a function in the static call tree. */
struct spirv_binding {
    uint32_t set, binding;
    uint32_t element; /* 0 where it is no array; of an array by a constant (not specialized) index */
    uint8_t access; /* enum spirv_access, 0 if it is only named. Passed on in a way that isn't followed (to a
                     * function, through OpSelect or OpPhi, ...): all but what NonWritable or NonReadable
                     * exclude */
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

/* One allocation, for free(). NULL if it isn't understood (what it does is then unknown) or on out of memory:
 * malformed as far as that shows, more ids than the spec's limit of 4194304, a call of a function that isn't
 * there, or so many entry points with so much in common that the answer would be longer than the module.
 * `size` in bytes. Never reads outside, never loops for long: the time is linear in `size`, and so is memory
 * (at most 128 bytes a word, beside 5 for each id that the header announces). The words are only read, and
 * must be aligned for uint32_t; of either byte order. Without entry points (a library) it is understood and
 * has none.
 *
 * What isn't known is taken for more than it may be: an unknown instruction is a use of whatever its words
 * could name as ids, even if they are literals. Reads nothing into names, types of images or storage
 * classes; debug information (NonSemantic) is no use. */
struct spirv_module *spirv_scan(const uint32_t *words, size_t size);

/* NULL if there is none of this name and model. */
const struct spirv_entry *spirv_find(const struct spirv_module *module, const char *name, uint32_t model);

#endif
