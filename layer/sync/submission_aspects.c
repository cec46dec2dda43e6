/* Repairs of depth/stencil images where an image barrier must name both aspects
 * (VUID-VkImageMemoryBarrier-image-03320). */
#include "sync/grow.h"
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

/* What the command buffer does first with the other aspect. */
struct first_uses {
    bool none, discards, needs;
};

static void look_for_need(void *context, const struct subresource_range *range, const void *value)
{
    const struct contract_state *state = value;
    struct first_uses *first = context;
    (void)range;
    if (!(state->need.flags & NEED_SET))
        first->none = true;
    else if (state->need.flags & NEED_DISCARD)
        first->discards = true;
    else
        first->needs = true;
}

static void take_along(void *context, const struct subresource_range *range, void *value)
{
    static const struct scope everything = {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                            VK_ACCESS_2_MEMORY_WRITE_BIT};
    const struct transition *transition = context;
    (void)range;
    access_add_barrier(value, transition->new_layout, &everything, &transition->destination);
}

/* No repair is for the other aspect. Where the command buffer needs it in its layout, it stays there; else it
 * comes along, as it does with an application that names both. If the command buffer discards it first, that
 * changes nothing of how it leaves it. */
static bool unite_with_rest(struct submission *submission, const struct contract_image *contract,
                            struct transition *transition)
{
    struct transition other = *transition;
    struct rest rest = {0};
    struct first_uses first = {0};
    other.range.aspects ^= BOTH_ASPECTS;
    subresource_map_read(&submission->before, &other.range, look_at_rest, &rest);
    subresource_map_read(&contract->map, &other.range, look_for_need, &first);
    if (rest.mixed || first.none + first.discards + first.needs > 1)
        return false;
    other.old_layout = rest.layout;
    other.source = rest.source;
    if (first.needs)
        other.new_layout = rest.layout;
    layout_scope(other.new_layout, &other.destination.stages, &other.destination.access);
    return transition_unite(transition, &other) &&
           (!first.none || subresource_map_update(&contract->image->state, &other.range, take_along, &other));
}

/* The index of the repair that does the other aspect's part; `count` if none does, UINT32_MAX if some does a
 * part of it. */
static uint32_t find_partner(const struct submission *submission, uint32_t index, uint32_t first)
{
    struct subresource_range other = submission->repairs[index].transition.range;
    other.aspects ^= BOTH_ASPECTS;
    for (uint32_t i = first; i < submission->repair_count; i++) {
        const struct subresource_range *range = &submission->repairs[i].transition.range;
        if (transition_is_partner(range, &submission->repairs[index].transition.range))
            return i;
        if (subresource_ranges_overlap(range, &other))
            return UINT32_MAX;
    }
    return submission->repair_count;
}

/* Where the aspects' repairs are of other mips and layers: each becomes one for every single of them. */
static bool take_apart(struct submission *submission, uint32_t first)
{
    uint32_t count = submission->repair_count;
    for (uint32_t i = first; i < count; i++) {
        struct repair repair = submission->repairs[i];
        const struct transition whole = repair.transition;
        uint32_t parts = whole.range.aspects == BOTH_ASPECTS ? 1 : transition_part_count(&whole);
        if (parts == 1)
            continue;
        if (!grow(&submission->repairs, &submission->repair_capacity, submission->repair_count + parts,
                  sizeof(struct repair)))
            return false;
        submission->repairs[i].transition = transition_part(&whole, 0);
        for (uint32_t part = 1; part < parts; part++) {
            repair.transition = transition_part(&whole, part);
            submission->repairs[submission->repair_count++] = repair;
        }
    }
    return true;
}

static bool needs_taking_apart(const struct submission *submission, uint32_t first)
{
    bool needs = false;
    for (uint32_t i = first; i < submission->repair_count; i++)
        needs |= submission->repairs[i].transition.range.aspects != BOTH_ASPECTS &&
                 find_partner(submission, i, first) == UINT32_MAX;
    return needs;
}

bool submission_unite_aspects(struct submission *submission, const struct contract_image *contract,
                              uint32_t first)
{
    if (needs_taking_apart(submission, first) && !take_apart(submission, first))
        return false;
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
