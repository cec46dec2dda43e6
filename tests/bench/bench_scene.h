/* What bench_shaders draws with: sampled images, a set for each, pipelines, render passes. */
#ifndef BENCH_SCENE_H
#define BENCH_SCENE_H

#include "bench_gpu.h"

#define SCENE_ARRAY 16 /* descriptors of the array, and UPDATE_AFTER_BIND ones that one shader uses */

struct scene_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
};

/* A render target that stays in COLOR_ATTACHMENT_OPTIMAL. */
struct scene_target {
    struct scene_image image;
    VkFramebuffer framebuffer;
};

/* Everything is made for push constants of 16 bytes. */
struct scene_layout {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
};

struct scene {
    struct bench_gpu gpu;
    uint32_t image_count;
    struct scene_image *images;         /* in SHADER_READ_ONLY_OPTIMAL */
    struct scene_image stored;          /* in GENERAL */
    struct scene_target target, source; /* the source can be sampled */
    VkRenderPass pass;
    VkSampler sampler;

    struct scene_layout sampled, storage, array, pushed; /* binding 0 */
    VkDescriptorPool pool;                               /* of the following */
    VkDescriptorSet *sets;                               /* `sampled`, one for each image */
    VkDescriptorSet source_set, stored_set;
    VkDescriptorSet array_set; /* nothing is written */

    VkShaderModule draw_modules[2];  /* vertices, fragments */
    VkPipeline draw[2], draw_pushed; /* the viewport is dynamic */
    VkShaderModule dispatch_module;
    VkPipeline dispatch, dispatch_store;
    PFN_vkCmdPushDescriptorSetKHR push;
};

/* SPIR-V of shaders/, with its size in bytes. */
struct scene_code {
    const uint32_t *words;
    size_t size;
};
extern const struct scene_code scene_sample_comp, scene_late_comp, scene_large_comp;

/* All of it, for the device too. */
void scene_init(struct scene *scene, uint32_t image_count);
void scene_finish(struct scene *scene);

/* A set layout, and a pipeline layout of it alone. */
struct scene_layout scene_create_layout(const struct scene *scene,
                                        const VkDescriptorSetLayoutCreateInfo *info);
void scene_destroy_layout(const struct scene *scene, struct scene_layout layout);
VkDescriptorSet scene_create_set(const struct scene *scene, VkDescriptorPool pool,
                                 VkDescriptorSetLayout layout);
VkShaderModule scene_create_module(const struct scene *scene, struct scene_code code);
VkPipeline scene_create_compute(const struct scene *scene, VkPipelineLayout layout, VkShaderModule module);
VkPipeline scene_create_draw(const struct scene *scene, VkPipelineLayout layout,
                             const VkShaderModule modules[2]);

/* What binding 0 of a set gets, and the write of it, for as long as `info` lives. */
VkDescriptorImageInfo scene_sampled(const struct scene *scene, const struct scene_image *image);
VkWriteDescriptorSet scene_write(VkDescriptorSet set, const VkDescriptorImageInfo *info);

/* Commands of the same names, shorter. */
void scene_begin_pass(const struct scene *scene, VkCommandBuffer commands, const struct scene_target *target);
void scene_bind(VkCommandBuffer commands, VkPipelineBindPoint point, struct scene_layout layout,
                VkDescriptorSet set);
void scene_set_viewport(VkCommandBuffer commands);
void scene_push_constants(const struct scene *scene, VkCommandBuffer commands);

#endif
