/* Which image descriptors shaders use: a small reader of SPIR-V, for the oracle. A use is static: "an
 * instruction in the static call tree of the entry point has the variable as an operand". Texel buffers,
 * samplers and input attachments are left out. Pure but for memory; any thread. */
#ifndef DRIVER_SHADER_USES_H
#define DRIVER_SHADER_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* The index into the array isn't a constant: any of its elements may be used. */
#define SHADER_USE_ANY UINT32_MAX

struct shader_use {
    uint32_t set;
    uint32_t binding;
    uint32_t element;
    bool reads;
    bool writes; /* a storage image not declared read-only */
};

/* All zero: no uses. */
struct shader_uses {
    bool incomplete; /* there may be others: code couldn't be read, or memory was short */
    uint32_t count;
    uint32_t capacity;
    struct shader_use *items; /* each descriptor once; owned */
};

/* Adds what the entry point of this name and stage uses. */
void shader_uses_scan(struct shader_uses *uses, const uint32_t *code, size_t size, const char *entry,
                      VkShaderStageFlagBits stage);
/* Adds all of another's. */
void shader_uses_join(struct shader_uses *uses, const struct shader_uses *other);
void shader_uses_finish(struct shader_uses *uses);

#endif
