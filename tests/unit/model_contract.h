/* The model that contracts are tested against: a plain array of subresources for each command buffer, for the
 * device, and for what a driver would really have. Written from the headers and the spec, apart from the
 * code. */
#ifndef RC_TESTS_MODEL_CONTRACT_H
#define RC_TESTS_MODEL_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/scope.h"
#include "sync/subresource.h"

#define MODEL_CELLS 24
#define MODEL_QUEUES 3
#define MODEL_PENDING 192

static inline uint32_t model_cell_count(const struct subresource_shape *shape)
{
    return shape->aspects * shape->mips * shape->layers;
}

/* The cells of a range, as bits. */
static inline uint32_t model_mask(const struct subresource_shape *shape,
                                  const struct subresource_range *range)
{
    uint32_t mask = 0, cell = 0;
    for (uint32_t aspect = 0; aspect < shape->aspects; aspect++)
        for (uint32_t mip = 0; mip < shape->mips; mip++)
            for (uint32_t layer = 0; layer < shape->layers; layer++, cell++)
                if ((range->aspects >> aspect & 1) && mip - range->base_mip < range->mip_count &&
                    layer - range->base_layer < range->layer_count)
                    mask |= 1u << cell;
    return mask;
}

/* --- Layouts --- */

/* What a layout lets one do with one aspect; layouts with equal answers match. */
static inline int model_meaning(VkImageLayout layout, VkImageAspectFlagBits aspect)
{
    enum { ATTACHMENT = -1, READ_ONLY = -2 };
    bool stencil = aspect == VK_IMAGE_ASPECT_STENCIL_BIT, color = aspect == VK_IMAGE_ASPECT_COLOR_BIT;
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL:
        return ATTACHMENT;
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
        return READ_ONLY;
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
        return stencil ? ATTACHMENT : READ_ONLY;
    case VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL:
        return color ? ATTACHMENT : (int)layout;
    case VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL:
        return color ? READ_ONLY : (int)layout;
    default:
        return (int)layout;
    }
}

static inline bool model_match(VkImageLayout a, VkImageLayout b, VkImageAspectFlagBits aspect)
{
    return model_meaning(a, aspect) == model_meaning(b, aspect);
}

static inline bool model_is_initial(VkImageLayout layout)
{
    return layout == VK_IMAGE_LAYOUT_UNDEFINED || layout == VK_IMAGE_LAYOUT_PREINITIALIZED;
}

/* --- Dependencies, over the stages that the test uses --- */

#define MODEL_STAGE(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define MODEL_TRANSFER (MODEL_STAGE(COPY) | MODEL_STAGE(CLEAR))
#define MODEL_SINGLE                                                                                         \
    (MODEL_TRANSFER | MODEL_STAGE(COMPUTE_SHADER) | MODEL_STAGE(FRAGMENT_SHADER) |                           \
     MODEL_STAGE(COLOR_ATTACHMENT_OUTPUT))
#define MODEL_WRITES                                                                                         \
    (VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT)

static inline VkPipelineStageFlags2 model_stages(VkPipelineStageFlags2 stages)
{
    VkPipelineStageFlags2 all = stages & MODEL_STAGE(ALL_COMMANDS) ? MODEL_SINGLE : 0;
    VkPipelineStageFlags2 transfer = stages & MODEL_STAGE(ALL_TRANSFER) ? MODEL_TRANSFER : 0;
    return (stages & MODEL_SINGLE) | all | transfer;
}

static inline VkPipelineStageFlags2 model_before(VkPipelineStageFlags2 stages)
{
    bool output = model_stages(stages) & MODEL_STAGE(COLOR_ATTACHMENT_OUTPUT);
    if (stages & MODEL_STAGE(BOTTOM_OF_PIPE))
        return MODEL_SINGLE;
    return model_stages(stages) | (output ? MODEL_STAGE(FRAGMENT_SHADER) : 0);
}

static inline VkPipelineStageFlags2 model_after(VkPipelineStageFlags2 stages)
{
    bool fragment = model_stages(stages) & MODEL_STAGE(FRAGMENT_SHADER);
    if (stages & MODEL_STAGE(TOP_OF_PIPE))
        return MODEL_SINGLE;
    return model_stages(stages) | (fragment ? MODEL_STAGE(COLOR_ATTACHMENT_OUTPUT) : 0);
}

static inline VkAccessFlags2 model_writes(VkAccessFlags2 access)
{
    return access & VK_ACCESS_2_MEMORY_WRITE_BIT ? MODEL_WRITES : access & MODEL_WRITES;
}

/* What a barrier with such a source comes after; what comes after one with such a destination. */
static inline struct scope model_chain_scope(const struct scope *source)
{
    static const VkPipelineStageFlags2 none = MODEL_STAGE(TOP_OF_PIPE) | MODEL_STAGE(BOTTOM_OF_PIPE);
    VkPipelineStageFlags2 named = source->stages & ~none;
    return (struct scope){named ? named : MODEL_STAGE(ALL_COMMANDS), source->access};
}

/* --- A subresource in a command buffer --- */

enum model_need {
    MODEL_UNTOUCHED,
    MODEL_PLAIN,
    MODEL_DISCARD,
    MODEL_ACQUIRE,
    MODEL_NOTHING,
};

struct model_cell {
    enum model_need kind;
    VkImageLayout need;
    struct scope scope; /* of the first uses */
    bool open;          /* reads alone so far */
    bool unknown, released, has_barrier;
    VkImageLayout layout;
    uint8_t family; /* released to */
};

static inline void model_make_unknown(struct model_cell *cell)
{
    if (cell->kind == MODEL_UNTOUCHED)
        cell->kind = MODEL_NOTHING;
    cell->unknown = true;
    cell->released = false;
    cell->open = false;
}

/* --- A subresource on the device --- */

struct model_device {
    bool unknown, released;
    VkImageLayout layout;
    uint8_t family, queue;
    uint64_t last[MODEL_QUEUES]; /* submission that used it last; 0: none */
};

/* --- A subresource in the driver's eyes --- */

struct model_pending {
    bool transition;
    uint64_t time;
    struct scope scope; /* of the use; of a transition its destination */
};

struct model_real {
    VkImageLayout layout;
    bool excused; /* the layer can't know it, so nothing is demanded */
    uint32_t count;
    struct model_pending pending[MODEL_PENDING]; /* what no barrier has ordered yet */
};

static inline bool model_orders(const struct scope *source, const struct model_pending *pending)
{
    VkPipelineStageFlags2 reached = model_before(source->stages);
    if (pending->transition)
        return (reached & model_after(pending->scope.stages)) != 0;
    return !(model_stages(pending->scope.stages) & ~reached) &&
           !(model_writes(pending->scope.access) & ~model_writes(source->access));
}

#endif
