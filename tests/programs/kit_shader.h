/* Shaders, descriptors and pipelines for a kit's programs. All objects are the kit's and go with it. */
#ifndef PROGRAMS_KIT_SHADER_H
#define PROGRAMS_KIT_SHADER_H

#include "kit.h"

/* The shaders (shaders/), with what stands in bindings 0 and 1 of each of their sets; what is read is texel
 * by texel the same for any sampler. Fragment shaders go with shaders/fullscreen.vert. */
enum kit_shader {
    KIT_FILL,             /* nothing: a gradient of the colour in the push constants */
    KIT_SAMPLE,           /* combined image sampler */
    KIT_SAMPLE_SCALED,    /* combined image sampler; uniform buffer */
    KIT_SAMPLE_SEPARATE,  /* sampled image; sampler */
    KIT_SAMPLE_TWO_SETS,  /* in both of its two sets: combined image sampler */
    KIT_SAMPLE_DEPTH,     /* combined image sampler; the same of depth */
    KIT_SAMPLE_STENCIL,   /* combined image sampler of stencil */
    KIT_SAMPLE_CUBE,      /* combined image sampler of a cube, of which the first face is read */
    KIT_SAMPLE_3D,        /* combined image sampler of a 3D image, whose slice 2 of 4 is read */
    KIT_SAMPLE_VIEWS,     /* combined image sampler; for multiview */
    KIT_LOAD_STORAGE,     /* storage image */
    KIT_LOAD_INPUT,       /* input attachment */
    KIT_IMAGE_TO_BUFFER,  /* compute: storage image; storage buffer */
    KIT_SAMPLE_TO_BUFFER, /* compute: combined image sampler; storage buffer */
    KIT_SAMPLE_TO_IMAGE,  /* compute: combined image sampler; storage image */
    KIT_STORE_IMAGE,      /* compute: storage image, gets a gradient of the push constants' colour */
    KIT_SHADER_COUNT
};

/* Push constants that every pipeline layout has: bytes, and their stages. */
#define KIT_CONSTANTS 16
#define KIT_STAGES (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)

struct kit_pipeline_info {
    enum kit_shader shader;
    VkRenderPass pass; /* graphics: with its `subpass`; NULL: dynamic rendering to `format` */
    uint32_t subpass;
    VkFormat format;    /* R8G8B8A8_UNORM */
    uint32_t side;      /* KIT_SIDE: of the viewport */
    bool push;          /* descriptors are pushed */
    bool after_bind;    /* bindings are UPDATE_AFTER_BIND */
    bool libraries;     /* linked from four libraries */
    bool dynamic;       /* viewport, scissor, cull mode, colour's blend constants are set by commands */
    bool capture;       /* shaders/capture.vert */
    uint32_t view_mask; /* 0; the view mask in dynamic rendering */
};

struct kit_pipeline {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout; /* of each set; NULL if the shader has none */
    VkPipelineBindPoint point;
    enum kit_shader shader;
};

struct kit_pipeline kit_pipeline(struct kit *kit, const struct kit_pipeline_info *info);

/* What a binding holds, in the form that descriptor writes and update templates read. */
union kit_descriptor {
    VkDescriptorImageInfo image;
    VkDescriptorBufferInfo buffer;
};
union kit_descriptor kit_image_descriptor(struct kit *kit, VkImageView view, VkImageLayout layout);
union kit_descriptor kit_buffer_descriptor(VkBuffer buffer);

/* A set for the pipeline from a pool of its own; `descriptors`: one for each binding, or NULL: not written.
 */
VkDescriptorSet kit_set(struct kit *kit, const struct kit_pipeline *pipeline,
                        const union kit_descriptor *descriptors);
/* The same for a shader that has one binding, an image in `layout`. */
VkDescriptorSet kit_image_set(struct kit *kit, const struct kit_pipeline *pipeline, VkImageView view,
                              VkImageLayout layout);
void kit_write(struct kit *kit, const struct kit_pipeline *pipeline, VkDescriptorSet set, uint32_t binding,
               const union kit_descriptor *descriptor);
/* Pushes all bindings as set 0. */
void kit_push(struct kit *kit, VkCommandBuffer commands, const struct kit_pipeline *pipeline,
              const union kit_descriptor *descriptors);
/* From an array of union kit_descriptor to the bindings of a set, or (the pipeline's `push`) pushed. */
VkDescriptorUpdateTemplate kit_template(struct kit *kit, const struct kit_pipeline *pipeline, bool push);

/* Binds the pipeline and `set` (NULL: what is bound stays). */
void kit_bind(VkCommandBuffer commands, const struct kit_pipeline *pipeline, VkDescriptorSet set);
/* The colour of a gradient. */
void kit_constants(VkCommandBuffer commands, const struct kit_pipeline *pipeline, uint32_t value);
/* kit_bind(), and the three vertices, or the groups for KIT_SIDE x KIT_SIDE. */
void kit_draw(VkCommandBuffer commands, const struct kit_pipeline *pipeline, VkDescriptorSet set);
void kit_dispatch(VkCommandBuffer commands, const struct kit_pipeline *pipeline, VkDescriptorSet set);

/* An image that is drawn to while in COLOR_ATTACHMENT_OPTIMAL: by a render pass, which leaves it so, or
 * (options.rendering) dynamically. */
struct kit_target {
    VkImageView view;
    uint32_t side;
    VkRenderPass pass; /* NULL: dynamic rendering, with these: */
    VkRenderingFlags flags;
    uint32_t view_mask;
    VkFramebuffer framebuffer;
};

/* Whole mip 0 of layer 0, cleared at the begin. */
struct kit_target kit_target(struct kit *kit, VkImage image);
/* `pass` was made by kit_pass(), or NULL. */
struct kit_target kit_target_of(struct kit *kit, VkImageView view, uint32_t side, VkRenderPass pass);
/* A pipeline for it. */
struct kit_pipeline kit_target_pipeline(struct kit *kit, const struct kit_target *target,
                                        enum kit_shader shader);
void kit_begin_target(VkCommandBuffer commands, const struct kit_target *target);
/* The same with contents from secondary command buffers that kit_begin_inside() began. */
void kit_begin_target_secondary(VkCommandBuffer commands, const struct kit_target *target);
void kit_end_target(VkCommandBuffer commands, const struct kit_target *target);
VkCommandBuffer kit_begin_inside(struct kit *kit, const struct kit_target *target);
VkFramebuffer kit_framebuffer(struct kit *kit, VkRenderPass pass, const VkImageView *views, uint32_t count,
                              uint32_t side);

#endif
