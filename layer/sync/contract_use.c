/* Uses by commands and by attachments. */
#include "sync/contract.h"
#include "sync/contract_parts.h"

struct using
{
    const struct contract_image *image;
    const struct use *use;
    const struct transition_sink *sink;
};

/* A use in the layout that it is in. */
static void add_use(struct contract_state *state, const struct use *use)
{
    if (scope_writes(use->scope.access))
        state->need.flags &= (uint8_t)~NEED_OPEN;
    if (state->need.flags & NEED_OPEN) {
        state->need.scope.stages |= use->scope.stages;
        state->need.scope.access |= use->scope.access;
    }
    access_add_use(&state->access, use);
}

static struct need need_of(const struct use *use)
{
    return (struct need){
        .layout = use->layout,
        .command = use->command,
        .flags = NEED_SET,
        .family = ACCESS_NO_FAMILY,
        .label = use->label,
        .scope = use->scope,
    };
}

static void use_first(struct contract_state *state, const struct use *use)
{
    state->need = need_of(use);
    if (!scope_writes(use->scope.access))
        state->need.flags |= NEED_OPEN;
    state->access = access_initial(use->layout);
    access_add_use(&state->access, use);
}

static void use_one(void *context, const struct subresource_range *range, void *value)
{
    const struct using *using = context;
    const struct use *use = using->use;
    struct contract_state *state = value;
    if (!(state->need.flags & NEED_SET)) {
        use_first(state, use);
        return;
    }
    if (state->access.flags)
        return;
    if (!contract_layouts_match(using->image, range, state->access.layout, use->layout)) {
        struct need need = need_of(use);
        struct transition transition = contract_transition_for(range, &state->access, &need);
        using->sink->add(using->sink->context, &transition);
        contract_repair(state, &transition);
    }
    add_use(state, use);
}

/* Visits, or makes the whole image unknown. */
static bool visit(struct contract_image *image, const struct subresource_range *range, subresource_visit one,
                  struct using *using)
{
    if (!contract_layout_is_usable(using->use->layout)) {
        contract_forget(image, range);
        return true;
    }
    void *single = subresource_map_single(&image->map, range);
    if (single)
        one(using, range, single);
    if (single || subresource_map_update(&image->map, range, one, using))
        return true;
    contract_forget_all(image);
    return false;
}

/* Whether it is in this very layout by what the command buffer did: then the layout can be used. */
static bool is_in_layout(const struct contract_state *state, VkImageLayout layout)
{
    return (state->need.flags & NEED_SET) && !state->access.flags && state->access.layout == layout;
}

bool contract_use(struct contract_image *image, const struct subresource_range *range, const struct use *use,
                  const struct transition_sink *sink)
{
    struct using using = {image, use, sink};
    struct contract_state *single = subresource_map_single(&image->map, range);
    if (single && is_in_layout(single, use->layout)) {
        add_use(single, use);
        return true;
    }
    return visit(image, range, use_one, &using);
}

static void discard_one(void *context, const struct subresource_range *range, void *value)
{
    const struct using *using = context;
    const struct use *use = using->use;
    struct contract_state *state = value;
    (void)range;
    if (!(state->need.flags & NEED_SET)) {
        use_first(state, use);
        state->need.layout = VK_IMAGE_LAYOUT_UNDEFINED;
        state->need.flags = NEED_SET | NEED_DISCARD;
        return;
    }
    contract_discard(state, use->layout);
    add_use(state, use);
}

bool contract_use_discard(struct contract_image *image, const struct subresource_range *range,
                          const struct use *use)
{
    struct using using = {image, use, NULL};
    return visit(image, range, discard_one, &using);
}

static void leave_one(void *context, const struct subresource_range *range, void *value)
{
    static const struct scope nothing;
    const struct using *using = context;
    const struct use *use = using->use;
    struct contract_state *state = value;
    (void)range;
    if (!(state->need.flags & NEED_SET)) {
        state->need.flags = NEED_SET | NEED_NOTHING;
        state->access = access_initial(use->layout);
    }
    if (state->access.flags)
        return;
    if (state->access.layout != use->layout) {
        state->need.flags &= (uint8_t)~NEED_OPEN;
        access_add_barrier(&state->access, use->layout, &nothing, &use->scope);
    }
    add_use(state, use);
}

bool contract_leave(struct contract_image *image, const struct subresource_range *range, VkImageLayout layout,
                    const struct scope *last)
{
    struct use use = {.layout = layout, .scope = *last};
    struct using using = {image, &use, NULL};
    return visit(image, range, leave_one, &using);
}
