/* What an application has that draws and dispatches: shaders, pipelines, descriptor sets, targets. It records
 * by the tables of record_app.h. Everything checks its results; what is made here goes with shaders_close().
 */
#ifndef SHADER_APP_H
#define SHADER_APP_H

#include "record_app.h"

enum shader {
    SHADER_VERTEX,     /* nothing */
    SHADER_SAMPLE,     /* fragment; set 0: sampler2D */
    SHADER_TWO_SETS,   /* fragment; sets 0 and 1: sampler2D */
    SHADER_ELEMENT,    /* fragment; set 0: element 2 of sampler2D[4] */
    SHADER_DYNAMIC,    /* fragment; set 0: any element of sampler2D[4] */
    SHADER_LOAD,       /* fragment; set 0: storage image that is read */
    SHADER_CONVERT,    /* compute; set 0: sampler2D, storage image that is written */
    SHADER_STORE,      /* compute; set 0: storage image that is written */
    SHADER_TWO_IMAGES, /* compute; set 0: sampler2D, storage image that is read, another that is written */
    SHADER_COUNT,
};

#define SHADER_OBJECTS_MAX 512

struct shaders {
    const struct record_app *app;
    VkShaderModule modules[SHADER_COUNT];
    VkSampler sampler;
    VkDescriptorPool pool;
    VkDescriptorSetLayout one;     /* binding 0: sampler2D */
    VkDescriptorSetLayout convert; /* as SHADER_CONVERT has it */
    VkPipelineLayout one_layout, two_layout, convert_layout;
    uint32_t kept_count;
    struct {
        VkObjectType type;
        uint64_t handle;
    } kept[SHADER_OBJECTS_MAX];
};

void shaders_open(struct shaders *shaders, const struct record_app *app);
void shaders_close(struct shaders *shaders);

VkShaderModuleCreateInfo shaders_code(enum shader shader);

/* Destroyed by shaders_close(), in reverse order. */
void shaders_keep(struct shaders *shaders, VkObjectType type, uint64_t handle);
/* Now. */
void shaders_destroy(struct shaders *shaders, VkObjectType type, uint64_t handle);

/* --- Descriptors --- */

VkDescriptorSetLayoutBinding shaders_binding(uint32_t number, VkDescriptorType type, uint32_t count);
/* `flags` of each binding; NULL: none. */
VkDescriptorSetLayout shaders_set_layout(struct shaders *shaders, VkDescriptorSetLayoutCreateFlags flags,
                                         uint32_t count, const VkDescriptorSetLayoutBinding *bindings,
                                         const VkDescriptorBindingFlags *binding_flags);
VkPipelineLayout shaders_layout(struct shaders *shaders, uint32_t count, const VkDescriptorSetLayout *sets);
VkDescriptorPool shaders_pool(struct shaders *shaders);
VkDescriptorSet shaders_set(const struct shaders *shaders, VkDescriptorSetLayout layout);
/* What a write, a push or a template's data has. */
VkDescriptorImageInfo shaders_image(const struct shaders *shaders, VkImageView view, VkImageLayout layout);
void shaders_write(const struct shaders *shaders, VkDescriptorSet set, uint32_t binding, uint32_t element,
                   VkDescriptorType type, VkImageView view, VkImageLayout layout);
/* A set of `one`, written. */
VkDescriptorSet shaders_one(const struct shaders *shaders, VkImageView view, VkImageLayout layout);

/* --- Pipelines --- */

VkPipeline shaders_graphics(struct shaders *shaders, VkPipelineLayout layout, enum shader fragment);
VkPipeline shaders_compute(struct shaders *shaders, VkPipelineLayout layout, enum shader shader);
/* Stages and state of the former, to be changed; valid until the next call. */
VkGraphicsPipelineCreateInfo *shaders_graphics_info(const struct shaders *shaders, VkPipelineLayout layout,
                                                    enum shader fragment);
VkPipeline shaders_create(struct shaders *shaders, const VkGraphicsPipelineCreateInfo *info);

/* --- Targets --- */

enum shader_pass {
    PASS_1,       /* vkCmdBeginRenderPass */
    PASS_2,       /* vkCmdBeginRenderPass2 */
    PASS_DYNAMIC, /* vkCmdBeginRendering */
    SHADER_PASSES,
};

struct shader_target {
    VkImage image;
    VkImageView view;
    VkRenderPass pass; /* from UNDEFINED to TARGET; shader writes may be read, by a barrier inside */
    VkFramebuffer frame;
    VkImageSubresourceRange range;
    const void *chain; /* of what begins it */
};
VkRenderPass shaders_pass(struct shaders *shaders, const void *chain); /* of the create-info */
struct shader_target shaders_target(struct shaders *shaders, VkImage image, VkImageView view,
                                    VkImageSubresourceRange range, uint32_t side);
VkImageView shaders_view(struct shaders *shaders, VkImage image, VkImageSubresourceRange range);

/* To TARGET, whatever it was in. */
void shaders_prepare(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                     const struct shader_target *target);
/* Of one in TARGET, whose contents are cleared. */
void shaders_begin(const struct record_vk *vk, VkCommandBuffer cb, enum shader_pass kind,
                   const struct shader_target *target, bool secondaries);
void shaders_end(const struct record_vk *vk, VkCommandBuffer cb, enum shader_pass kind);
/* The name by which shaders_begin() begins. */
const char *shaders_begin_name(enum shader_pass kind);
/* Of a secondary for it; valid until the next call. */
const VkCommandBufferInheritanceInfo *shaders_inheritance(enum shader_pass kind,
                                                          const struct shader_target *target);

/* A pipeline, its sets from 0 on, three vertices. */
void shaders_draw(const struct record_vk *vk, VkCommandBuffer cb, VkPipeline pipeline,
                  VkPipelineLayout layout, uint32_t count, const VkDescriptorSet *sets);
void shaders_dispatch(const struct record_vk *vk, VkCommandBuffer cb, VkPipeline pipeline,
                      VkPipelineLayout layout, VkDescriptorSet set);

/* --- What came of it --- */

struct shader_insertion {
    const char *before; /* the n-th command of this name, from 0 */
    uint32_t nth;
    VkImage image;
    VkImageLayout from, to;
};
/* The n-th command of a name; there is one. */
uint32_t shaders_index(VkCommandBuffer cb, const char *name, uint32_t nth);
/* Exactly these were inserted, in this order. */
void shaders_check(const struct recorded *recorded, const char *what, uint32_t count,
                   const struct shader_insertion *expected);

#endif
