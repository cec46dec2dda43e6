#include "sync/transition.h"

#include "sync/layout.h"

#define DEPTH 1u

bool transition_is_partner(const struct subresource_range *a, const struct subresource_range *b)
{
    return (a->aspects | b->aspects) == BOTH_ASPECTS && !(a->aspects & b->aspects) &&
           a->base_mip == b->base_mip && a->mip_count == b->mip_count && a->base_layer == b->base_layer &&
           a->layer_count == b->layer_count;
}

uint32_t transition_part_count(const struct transition *whole)
{
    return whole->range.mip_count * whole->range.layer_count;
}

struct transition transition_part(const struct transition *whole, uint32_t index)
{
    struct transition part = *whole;
    part.range.base_mip += index / whole->range.layer_count;
    part.range.base_layer += index % whole->range.layer_count;
    part.range.mip_count = part.range.layer_count = 1;
    return part;
}

bool transition_unite(struct transition *a, const struct transition *b)
{
    const struct transition *depth = a->range.aspects == DEPTH ? a : b, *stencil = depth == a ? b : a;
    VkImageLayout old_layout = layout_combine(depth->old_layout, stencil->old_layout);
    VkImageLayout new_layout = layout_combine(depth->new_layout, stencil->new_layout);
    if (old_layout == VK_IMAGE_LAYOUT_MAX_ENUM || new_layout == VK_IMAGE_LAYOUT_MAX_ENUM)
        return false;
    a->range.aspects = BOTH_ASPECTS;
    a->old_layout = old_layout;
    a->new_layout = new_layout;
    a->source.stages |= b->source.stages;
    a->source.access |= b->source.access;
    a->destination.stages |= b->destination.stages;
    a->destination.access |= b->destination.access;
    return true;
}
