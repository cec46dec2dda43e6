/* A scene with shaders: pipelines, descriptor sets and what they are made of, whose destruction nobody has to
 * think of. Every call is checked. */
#ifndef ORACLE_KIT_H
#define ORACLE_KIT_H

#include "oracle_scene.h"

#define KIT_MAX 16 /* of each kind of object */

struct kit {
    struct scene scene;
    VkSampler sampler;
    VkBuffer buffer; /* for indices, indirect commands and shader records: all zero */
    VkDeviceMemory memory;
    VkDeviceAddress address;
    VkDescriptorPool pool; /* its sets can be freed and updated after they are bound */
    uint32_t set_layout_count, layout_count, module_count, pipeline_count, template_count;
    VkDescriptorSetLayout set_layouts[KIT_MAX];
    VkPipelineLayout layouts[KIT_MAX];
    VkShaderModule modules[KIT_MAX];
    VkPipeline pipelines[KIT_MAX];
    VkDescriptorUpdateTemplate templates[KIT_MAX];
};

void kit_init(struct kit *kit, bool validated);
void kit_finish(struct kit *kit);

/* A binding of images; 0 descriptors mean 1. */
struct kit_binding {
    uint32_t number;
    VkDescriptorType type;
    uint32_t count;
    VkDescriptorBindingFlags flags;
};
VkDescriptorSetLayout kit_set_layout(struct kit *kit, VkDescriptorSetLayoutCreateFlags flags, uint32_t count,
                                     const struct kit_binding *bindings);
/* With one set, and a push constant of 4 bytes for all stages. */
VkPipelineLayout kit_layout(struct kit *kit, VkDescriptorSetLayout set);

/* `variable`: the count of the last binding. */
VkDescriptorSet kit_set(struct kit *kit, VkDescriptorSetLayout layout, uint32_t variable);
/* One image descriptor; kit->sampler goes with it. */
VkWriteDescriptorSet kit_image_write(VkDescriptorSet set, uint32_t binding, uint32_t element,
                                     VkDescriptorType type, const VkDescriptorImageInfo *info);
VkDescriptorImageInfo kit_image_info(const struct kit *kit, VkImageView view, VkImageLayout layout);
void kit_write(struct kit *kit, VkDescriptorSet set, uint32_t binding, uint32_t element,
               VkDescriptorType type, VkImageView view, VkImageLayout layout);
/* Of one entry: binding 0, one combined image sampler from a VkDescriptorImageInfo. For a set, or for pushes
 * if `layout` isn't null. */
VkDescriptorUpdateTemplate kit_template(struct kit *kit, VkDescriptorSetLayout set, VkPipelineLayout layout);

struct kit_code {
    const uint32_t *words;
    size_t size;
};
#define KIT_CODE(array)                                                                                      \
    (struct kit_code)                                                                                        \
    {                                                                                                        \
        array, sizeof(array)                                                                                 \
    }
VkPipeline kit_compute(struct kit *kit, struct kit_code code, VkPipelineLayout layout);
VkPipeline kit_ray_tracing(struct kit *kit, struct kit_code code, VkPipelineLayout layout, bool by_library);

enum kit_graphics_flags {
    KIT_MESH = 1,      /* a mesh shader in place of the vertex shader */
    KIT_LIBRARIES = 2, /* linked from two libraries */
    KIT_DEPTH = 4,     /* with a depth attachment, read only */
};
/* For subpass 0 of a render pass, or without one for dynamic rendering to one color attachment. */
VkPipeline kit_graphics(struct kit *kit, struct kit_code fragment, VkPipelineLayout layout, VkRenderPass pass,
                        uint32_t flags);

void kit_bind(struct kit *kit, VkPipelineBindPoint point, VkPipeline pipeline, VkPipelineLayout layout,
              VkDescriptorSet set);

#endif
