/* Repairs of depth/stencil images where an image barrier must name both aspects
 * (VUID-VkImageMemoryBarrier-image-03320). */
#include "sync/record_repair.h"
#include "sync/transition.h"

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
    other.range.aspects ^= BOTH_ASPECTS;
    subresource_map_read(&image->map, &other.range, look_at_rest, &rest);
    if (rest.mixed)
        return false;
    other.old_layout = other.new_layout = rest.layout;
    other.source = rest.source;
    return transition_unite(transition, &other);
}

/* The index of the transition of the other aspect; `count` if there is none, UINT32_MAX if some are of a part
 * of it. */
static uint32_t find_partner(const struct record_scratch *scratch, uint32_t index)
{
    struct subresource_range other = scratch->transitions[index].range;
    other.aspects ^= BOTH_ASPECTS;
    for (uint32_t i = 0; i < scratch->transition_count; i++) {
        const struct subresource_range *range = &scratch->transitions[i].range;
        if (i > index && transition_is_partner(range, &scratch->transitions[index].range))
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
        if (transition->range.aspects == BOTH_ASPECTS)
            continue;
        uint32_t partner = find_partner(scratch, i);
        if (partner == UINT32_MAX)
            return false;
        if (partner == scratch->transition_count) {
            if (!unite_with_rest(image, transition))
                return false;
            continue;
        }
        if (!transition_unite(transition, &scratch->transitions[partner]))
            return false;
        scratch->transitions[partner] = scratch->transitions[--scratch->transition_count];
    }
    return true;
}
