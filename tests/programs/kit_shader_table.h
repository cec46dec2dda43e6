/* The table behind enum kit_shader, for those who make pipelines. */
#ifndef PROGRAMS_KIT_SHADER_TABLE_H
#define PROGRAMS_KIT_SHADER_TABLE_H

#include <stddef.h>

#include "kit_shader.h"

#define KIT_BINDINGS_MAX 2
#define KIT_SETS_MAX 2

struct kit_shader_entry {
    const uint32_t *words;
    size_t size; /* in bytes */
    VkShaderStageFlagBits stage;
    uint32_t sets;     /* all alike */
    uint32_t bindings; /* in each set */
    VkDescriptorType types[KIT_BINDINGS_MAX];
};

const struct kit_shader_entry *kit_shader_entry(enum kit_shader shader);
extern const struct kit_shader_entry kit_fullscreen, kit_capture; /* vertex shaders */

/* All of a pipeline but the pipeline. */
struct kit_pipeline kit_pipeline_layout(struct kit *kit, enum kit_shader shader,
                                        VkDescriptorSetLayoutCreateFlags flags);
VkDescriptorSetLayout kit_set_layout(struct kit *kit, enum kit_shader shader,
                                     VkDescriptorSetLayoutCreateFlags flags);

#endif
