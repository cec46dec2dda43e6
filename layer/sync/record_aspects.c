/* Repairs of depth/stencil images where an image barrier must name both aspects
 * (VUID-VkImageMemoryBarrier-image-03320). */
#include "sync/grow.h"
#include "sync/layout.h"
#include "sync/record_repair.h"
#include "sync/transition.h"

struct rest {
    bool touched, untouched; /* by this command buffer */
    bool mixed;              /* unknown, or not in one layout */
    VkImageLayout layout;
    struct scope source;
};

static void look_at_rest(void *context, const struct subresource_range *range, const void *value)
{
    const struct contract_state *state = value;
    struct rest *rest = context;
    (void)range;
    if (!(state->need.flags & NEED_SET)) {
        rest->untouched = true;
        return;
    }
    struct scope source = access_source(&state->access);
    rest->mixed |= state->access.flags || (rest->touched && rest->layout != state->access.layout);
    rest->touched = true;
    rest->layout = state->access.layout;
    rest->source.stages |= source.stages;
    rest->source.access |= source.access;
}

static void ignore(void *context, const struct transition *transition)
{
    (void)context, (void)transition;
}

/* The other aspect is in this layout from here on. */
static void use_rest(struct contract_image *image, const struct transition *other, VkImageLayout layout,
                     VkPipelineStageFlags2 stages)
{
    static const struct transition_sink sink = {ignore, NULL};
    struct use use = {layout, other->command, (uint16_t)other->label, {stages, VK_ACCESS_2_NONE}};
    contract_use(image, &other->range, &use, &sink);
}

static bool comes_along(struct contract_image *image, struct transition *transition, struct transition *other)
{
    other->new_layout = transition->new_layout;
    other->destination = transition->destination;
    if (!transition_unite(transition, other))
        return false;
    use_rest(image, other, other->new_layout, VK_PIPELINE_STAGE_2_NONE);
    return true;
}

static bool stays(struct transition *transition, struct transition *other)
{
    other->new_layout = other->old_layout;
    layout_scope(other->new_layout, &other->destination.stages, &other->destination.access);
    return transition_unite(transition, other);
}

/* No transition is for the other aspect. What this command buffer has done to it stays, if there is a layout
 * that says both. If it has done nothing, no barrier of its has moved this aspect either, so that both are in
 * what this one was used in; then, or if there is no such layout, both go, as with an application that names
 * both. */
static bool unite_with_rest(struct contract_image *image, struct transition *transition)
{
    struct transition other = *transition;
    struct rest rest = {0};
    other.range.aspects ^= BOTH_ASPECTS;
    subresource_map_read(&image->map, &other.range, look_at_rest, &rest);
    if (rest.mixed || (rest.touched && rest.untouched))
        return false;
    other.source = rest.source;
    if (rest.touched) {
        other.old_layout = rest.layout;
        return stays(transition, &other) || comes_along(image, transition, &other);
    }
    use_rest(image, &other, other.old_layout, transition->source.stages);
    return comes_along(image, transition, &other);
}

/* --- What is in the layout of the other aspect --- */

/* Of one aspect of one mip of one layer. */
struct aspect_state {
    bool used, known;
    VkImageLayout layout;
    uint16_t command, label;
};

static void read_aspect(void *context, const struct subresource_range *range, const void *value)
{
    const struct contract_state *state = value;
    struct aspect_state *read = context;
    (void)range;
    read->used = state->need.flags & NEED_SET;
    read->known = !state->access.flags;
    read->layout = state->access.layout;
    read->command = state->need.command;
    read->label = (uint16_t)state->need.label;
}

static struct aspect_state aspect_of(const struct contract_image *image, const struct subresource_range *one,
                                     uint32_t aspect)
{
    struct aspect_state state = {0};
    struct subresource_range range = *one;
    range.aspects = 1u << aspect;
    subresource_map_read(&image->map, &range, read_aspect, &state);
    return state;
}

static void settle_one(struct contract_image *image, const struct subresource_range *one,
                       VkImageLayout layout)
{
    static const struct transition_sink sink = {ignore, NULL};
    for (uint32_t aspect = 0; aspect < 2; aspect++) {
        struct aspect_state used = aspect_of(image, one, aspect);
        if (!used.used || !used.known || aspect_of(image, one, 1 - aspect).used ||
            layout_matches(used.layout, layout, image->aspects[aspect]))
            continue;
        struct use use = {
            used.layout, used.command, used.label, {VK_PIPELINE_STAGE_2_NONE, VK_ACCESS_2_NONE}};
        struct subresource_range other = *one;
        other.aspects = BOTH_ASPECTS ^ 1u << aspect;
        contract_use(image, &other, &use, &sink);
    }
}

void record_settle_aspects(struct contract_image *image, const struct subresource_range *range,
                           VkImageLayout layout)
{
    struct subresource_range one = *range;
    one.mip_count = one.layer_count = 1;
    for (uint32_t mip = 0; mip < range->mip_count; mip++)
        for (uint32_t layer = 0; layer < range->layer_count; layer++) {
            one.base_mip = range->base_mip + mip;
            one.base_layer = range->base_layer + layer;
            settle_one(image, &one, layout);
        }
}

static void use_one_again(struct contract_image *image, const struct subresource_range *one,
                          const struct use *use, const struct transition_sink *sink)
{
    for (uint32_t aspect = 0; one->aspects >> aspect; aspect++) {
        struct subresource_range range = *one;
        range.aspects &= 1u << aspect;
        if (range.aspects && aspect_of(image, one, aspect).used)
            contract_use(image, &range, use, sink);
    }
}

void record_use_again(struct contract_image *image, const struct subresource_range *range,
                      const struct use *use, const struct transition_sink *sink)
{
    struct subresource_range one = *range;
    one.mip_count = one.layer_count = 1;
    for (uint32_t mip = 0; mip < range->mip_count; mip++)
        for (uint32_t layer = 0; layer < range->layer_count; layer++) {
            one.base_mip = range->base_mip + mip;
            one.base_layer = range->base_layer + layer;
            use_one_again(image, &one, use, sink);
        }
}

/* --- Both in one barrier --- */

/* The index of the transition of the other aspect; `count` if there is none, UINT32_MAX if
 * some are of a part of it. */
static uint32_t find_partner(const struct record_scratch *scratch, uint32_t index)
{
    struct subresource_range other = scratch->transitions[index].range;
    other.aspects ^= BOTH_ASPECTS;
    for (uint32_t i = 0; i < scratch->transition_count; i++) {
        const struct subresource_range *range = &scratch->transitions[i].range;
        if (transition_is_partner(range, &scratch->transitions[index].range))
            return i;
        if (subresource_ranges_overlap(range, &other))
            return UINT32_MAX;
    }
    return scratch->transition_count;
}

/* Where the aspects' transitions are of other mips and layers: each becomes one for every single of them. */
static bool take_apart(struct record_scratch *scratch)
{
    uint32_t count = scratch->transition_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct transition whole = scratch->transitions[i];
        uint32_t parts = whole.range.aspects == BOTH_ASPECTS ? 1 : transition_part_count(&whole);
        if (parts == 1)
            continue;
        if (!grow(&scratch->transitions, &scratch->transition_capacity, scratch->transition_count + parts,
                  sizeof(struct transition)))
            return false;
        scratch->transitions[i] = transition_part(&whole, 0);
        for (uint32_t part = 1; part < parts; part++)
            scratch->transitions[scratch->transition_count++] = transition_part(&whole, part);
    }
    return true;
}

static bool needs_taking_apart(const struct record_scratch *scratch)
{
    bool needs = false;
    for (uint32_t i = 0; i < scratch->transition_count; i++)
        needs |=
            scratch->transitions[i].range.aspects != BOTH_ASPECTS && find_partner(scratch, i) == UINT32_MAX;
    return needs;
}

bool record_repair_unite_aspects(struct record_scratch *scratch, struct contract_image *image)
{
    if (needs_taking_apart(scratch) && !take_apart(scratch))
        return false;
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
