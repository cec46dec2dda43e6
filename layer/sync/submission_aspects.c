/* Repairs of depth/stencil images where an image barrier must name both aspects
 * (VUID-VkImageMemoryBarrier-image-03320). */
#include "sync/layout.h"
#include "sync/submission.h"
#include "sync/transition.h"

struct rest {
    bool any, mixed;
    VkImageLayout layout;
    struct scope source;
};

static void look_at_rest(void *context, const struct subresource_range *range, const void *value)
{
    const struct access *access = value;
    struct rest *rest = context;
    struct scope source = access_source(access);
    (void)range;
    rest->mixed |= access->flags != 0 || (rest->any && rest->layout != access->layout);
    rest->any = true;
    rest->layout = access->layout;
    rest->source.stages |= source.stages;
    rest->source.access |= source.access;
}

static void look_for_need(void *context, const struct subresource_range *range, const void *value)
{
    const struct contract_state *state = value;
    (void)range;
    *(bool *)context |= (state->need.flags & NEED_SET) != 0;
}

static void take_along(void *context, const struct subresource_range *range, void *value)
{
    static const struct scope everything = {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                            VK_ACCESS_2_MEMORY_WRITE_BIT};
    const struct transition *transition = context;
    (void)range;
    access_add_barrier(value, transition->new_layout, &everything, &transition->destination);
}

/* No repair is for the other aspect. Where the command buffer uses it, it stays in its layout; else it comes
 * along, as it does with an application that names both. */
static bool unite_with_rest(struct submission *submission, const struct contract_image *contract,
                            struct transition *transition)
{
    struct transition other = *transition;
    struct rest rest = {0};
    bool used = false;
    other.range.aspects ^= BOTH_ASPECTS;
    subresource_map_read(&submission->before, &other.range, look_at_rest, &rest);
    subresource_map_read(&contract->map, &other.range, look_for_need, &used);
    if (rest.mixed)
        return false;
    other.old_layout = rest.layout;
    other.source = rest.source;
    if (used)
        other.new_layout = rest.layout;
    layout_scope(other.new_layout, &other.destination.stages, &other.destination.access);
    return transition_unite(transition, &other) &&
           (used || subresource_map_update(&contract->image->state, &other.range, take_along, &other));
}

/* The index of the repair that does the other aspect's part; `count` if none does, UINT32_MAX if some does a
 * part of it. */
static uint32_t find_partner(const struct submission *submission, uint32_t index, uint32_t first)
{
    struct subresource_range other = submission->repairs[index].transition.range;
    other.aspects ^= BOTH_ASPECTS;
    for (uint32_t i = first; i < submission->repair_count; i++) {
        const struct subresource_range *range = &submission->repairs[i].transition.range;
        if (i > index && transition_is_partner(range, &submission->repairs[index].transition.range))
            return i;
        if (subresource_ranges_overlap(range, &other))
            return UINT32_MAX;
    }
    return submission->repair_count;
}

bool submission_unite_aspects(struct submission *submission, const struct contract_image *contract,
                              uint32_t first)
{
    for (uint32_t i = first; i < submission->repair_count; i++) {
        struct transition *transition = &submission->repairs[i].transition;
        if (transition->range.aspects == BOTH_ASPECTS)
            continue;
        uint32_t partner = find_partner(submission, i, first);
        if (partner == UINT32_MAX)
            return false;
        if (partner == submission->repair_count) {
            if (!unite_with_rest(submission, contract, transition))
                return false;
            continue;
        }
        if (!transition_unite(transition, &submission->repairs[partner].transition))
            return false;
        submission->repairs[partner] = submission->repairs[--submission->repair_count];
    }
    return true;
}
