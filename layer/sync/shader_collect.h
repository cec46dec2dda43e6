/* A list of uses as it is being made up from shader stages, or from parts that are there already. */
#ifndef RC_SYNC_SHADER_COLLECT_H
#define RC_SYNC_SHADER_COLLECT_H

#include "sync/descriptor.h"
#include "sync/shader.h"

struct collected_use {
    uint32_t set, slot;
    bool late;
    struct scope scope;
};

/* All zero is an empty list. */
struct shader_collection {
    bool unknown, weak;
    uint64_t signatures[DESCRIPTOR_SETS];
    uint32_t count, capacity;
    struct collected_use *uses;
};

/* A stage's entry point of a module, with the sets of the layout that it is made for (NULL entries: unknown).
 * `module` NULL: unknown. */
void shader_collect_entry(struct shader_collection *collection, const struct spirv_module *module,
                          const char *name, VkShaderStageFlagBits stage,
                          struct descriptor_layout *const *sets, uint32_t set_count);
/* All that another has. NULL: unknown. */
void shader_collect_uses(struct shader_collection *collection, const struct shader_uses *uses);

/* NULL on out of memory. The collection is empty afterwards. */
struct shader_uses *shader_collection_finish(struct shader_collection *collection);

#endif
