/* Repairs of depth/stencil images where an image barrier must name both aspects
 * (VUID-VkImageMemoryBarrier-image-03320). */
#include "sync/layout.h"
#include "sync/record_repair.h"

#define DEPTH 1u
#define BOTH 3u

static bool is_partner(const struct subresource_range *a, const struct subresource_range *b)
{
    return (a->aspects | b->aspects) == BOTH && a->base_mip == b->base_mip && a->mip_count == b->mip_count &&
           a->base_layer == b->base_layer && a->layer_count == b->layer_count;
}

/* `a` becomes a transition of both aspects that does what `a` and `b` do for one each. */
static bool unite(struct transition *a, const struct transition *b)
{
    const struct transition *depth = a->range.aspects == DEPTH ? a : b, *stencil = depth == a ? b : a;
    VkImageLayout old_layout = layout_combine(depth->old_layout, stencil->old_layout);
    VkImageLayout new_layout = layout_combine(depth->new_layout, stencil->new_layout);
    if (old_layout == VK_IMAGE_LAYOUT_MAX_ENUM || new_layout == VK_IMAGE_LAYOUT_MAX_ENUM)
        return false;
    a->range.aspects = BOTH;
    a->old_layout = old_layout;
    a->new_layout = new_layout;
    a->source.stages |= b->source.stages;
    a->source.access |= b->source.access;
    a->destination.stages |= b->destination.stages;
    a->destination.access |= b->destination.access;
    return true;
}

struct rest {
    bool any, mixed;
    VkImageLayout layout;
    struct scope source;
};

static void look_at_rest(void *context, const struct subresource_range *range, const void *value)
{
    const struct contract_state *state = value;
    struct rest *rest = context;
    struct scope source = access_source(&state->access);
    (void)range;
    rest->mixed |= !(state->need.flags & NEED_SET) || state->access.flags ||
                   (rest->any && rest->layout != state->access.layout);
    rest->any = true;
    rest->layout = state->access.layout;
    rest->source.stages |= source.stages;
    rest->source.access |= source.access;
}

/* The other aspect is in a layout that will do, and stays in it. */
static bool unite_with_rest(const struct contract_image *image, struct transition *transition)
{
    struct transition other = *transition;
    struct rest rest = {0};
    other.range.aspects ^= BOTH;
    subresource_map_read(&image->map, &other.range, look_at_rest, &rest);
    if (rest.mixed)
        return false;
    other.old_layout = other.new_layout = rest.layout;
    other.source = rest.source;
    return unite(transition, &other);
}

/* The index of the transition of the other aspect; `count` if there is none, UINT32_MAX if some are of a part
 * of it. */
static uint32_t find_partner(const struct record_scratch *scratch, uint32_t index)
{
    struct subresource_range other = scratch->transitions[index].range;
    other.aspects ^= BOTH;
    for (uint32_t i = 0; i < scratch->transition_count; i++) {
        const struct subresource_range *range = &scratch->transitions[i].range;
        if (i > index && is_partner(range, &scratch->transitions[index].range))
            return i;
        if (subresource_ranges_overlap(range, &other))
            return UINT32_MAX;
    }
    return scratch->transition_count;
}

bool record_repair_unite_aspects(struct record_scratch *scratch, const struct contract_image *image)
{
    for (uint32_t i = 0; i < scratch->transition_count; i++) {
        struct transition *transition = &scratch->transitions[i];
        if (transition->range.aspects == BOTH)
            continue;
        uint32_t partner = find_partner(scratch, i);
        if (partner == UINT32_MAX)
            return false;
        if (partner == scratch->transition_count) {
            if (!unite_with_rest(image, transition))
                return false;
            continue;
        }
        if (!unite(transition, &scratch->transitions[partner]))
            return false;
        scratch->transitions[partner] = scratch->transitions[--scratch->transition_count];
    }
    return true;
}
