/* Secondary command buffers. */
#include "sync/contract.h"
#include "sync/contract_parts.h"

struct executing {
    struct contract_image *primary;
    const struct transition_sink *sink;
    const struct contract_state *state; /* the secondary's, of the range being looked at */
    bool failed;
};

/* The first uses of the secondary follow reads of the primary: they are first uses too while they read. */
static void unite_needs(struct need *need, const struct need *secondary)
{
    if (!(need->flags & NEED_OPEN))
        return;
    if ((secondary->flags & ~NEED_OPEN) == NEED_SET && !scope_writes(secondary->scope.access)) {
        need->scope.stages |= secondary->scope.stages;
        need->scope.access |= secondary->scope.access;
    }
    if (!(secondary->flags & NEED_OPEN))
        need->flags &= (uint8_t)~NEED_OPEN;
}

/* Makes the state what the secondary needs; false if that isn't known. */
static bool satisfy(const struct executing *executing, const struct subresource_range *range,
                    struct contract_state *state)
{
    const struct need *need = &executing->state->need;
    if (need->flags & NEED_NOTHING)
        return true;
    if (need->flags & NEED_DISCARD) {
        contract_discard(state, need->layout);
        return true;
    }
    if (state->access.flags)
        return false;
    if (contract_layouts_match(executing->primary, range, state->access.layout, need->layout))
        return true;
    if (!contract_is_repairable(need))
        return false;
    struct transition transition = contract_transition_for(range, &state->access, need);
    executing->sink->add(executing->sink->context, &transition);
    contract_repair(state, &transition);
    return true;
}

static void execute_one(void *context, const struct subresource_range *range, void *value)
{
    const struct executing *executing = context;
    const struct contract_state *secondary = executing->state;
    struct contract_state *state = value;
    if (!(state->need.flags & NEED_SET)) {
        *state = *secondary;
        state->need.label = 0;
        return;
    }
    if (!satisfy(executing, range, state) || (secondary->access.flags & ACCESS_UNKNOWN)) {
        contract_forget_state(state);
        return;
    }
    unite_needs(&state->need, &secondary->need);
    if (state->access.flags & ACCESS_UNKNOWN)
        state->access = secondary->access;
    else
        access_follow(&state->access, &secondary->access, &secondary->ordered);
    state->ordered.stages |= secondary->ordered.stages;
    state->ordered.access |= secondary->ordered.access;
}

static void look(void *context, const struct subresource_range *range, const void *value)
{
    struct executing *executing = context;
    executing->state = value;
    if (executing->failed || !(executing->state->need.flags & NEED_SET))
        return;
    executing->failed = !subresource_map_update(&executing->primary->map, range, execute_one, executing);
}

bool contract_execute(struct contract_image *primary, const struct contract_image *secondary,
                      const struct transition_sink *sink)
{
    struct executing executing = {primary, sink, NULL, false};
    struct subresource_range all = subresource_range_all(&secondary->map.shape);
    subresource_map_read(&secondary->map, &all, look, &executing);
    if (executing.failed)
        contract_forget_all(primary);
    return !executing.failed;
}
