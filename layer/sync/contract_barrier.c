/* Image barriers of the application. */
#include "sync/contract.h"
#include "sync/contract_parts.h"
#include "sync/layout.h"

struct passing {
    const struct contract_image *image;
    const struct contract_barrier *barrier;
    const struct part_sink *parts;
    const struct transition_sink *transitions;
    bool contradicts; /* some subresource is in another layout than oldLayout */
};

static bool is_transfer(const struct contract_barrier *barrier)
{
    return barrier->source_family != barrier->destination_family;
}

static bool is_release(const struct contract_barrier *barrier)
{
    return is_transfer(barrier) && barrier->family == barrier->source_family;
}

static bool is_acquire(const struct contract_barrier *barrier)
{
    return is_transfer(barrier) && barrier->family == barrier->destination_family;
}

static bool is_discard(const struct contract_barrier *barrier)
{
    return barrier->old_layout == VK_IMAGE_LAYOUT_UNDEFINED;
}

static bool contradicts(const struct passing *passing, const struct subresource_range *range,
                        const struct contract_state *state)
{
    return (state->need.flags & NEED_SET) && !state->access.flags && !is_discard(passing->barrier) &&
           !contract_layouts_match(passing->image, range, state->access.layout, passing->barrier->old_layout);
}

/* The layout changes. Spec, "Queue Family Ownership Transfer": the second scope of a release and the first
 * of an acquire have no effect; what is between is ordered by a semaphore. */
static void change(struct contract_state *state, const struct contract_barrier *barrier)
{
    static const struct scope nothing;
    const struct scope *source = is_acquire(barrier) ? &nothing : &barrier->source;
    state->need.flags &= (uint8_t)~NEED_OPEN;
    state->ordered.stages |= source->stages;
    state->ordered.access |= source->access;
    if (is_release(barrier)) {
        access_add_barrier(&state->access, barrier->old_layout, source, &nothing);
        state->access.flags = ACCESS_RELEASED;
        state->access.family = barrier->destination_family;
    } else {
        access_add_barrier(&state->access, barrier->new_layout, source, &barrier->destination);
    }
}

/* Whatever is before it must end where the barrier's source begins. */
static struct need need_of(const struct contract_barrier *barrier)
{
    struct need need = {
        .layout = barrier->old_layout,
        .command = barrier->command,
        .flags = NEED_SET,
        .family = ACCESS_NO_FAMILY,
        .label = barrier->label,
        .scope = {access_chain_stages(barrier->source.stages), barrier->source.access},
    };
    if (is_discard(barrier)) {
        need.flags |= NEED_DISCARD;
    } else if (is_acquire(barrier)) {
        need.flags |= NEED_ACQUIRE;
        need.family = barrier->source_family;
    }
    return need;
}

static void pass_first(struct contract_state *state, const struct contract_barrier *barrier)
{
    state->need = need_of(barrier);
    state->access = access_initial(barrier->old_layout);
    change(state, barrier);
}

static void pass_flagged(struct contract_state *state, const struct contract_barrier *barrier)
{
    if (!is_discard(barrier)) {
        contract_forget_state(state);
        return;
    }
    contract_discard(state, VK_IMAGE_LAYOUT_UNDEFINED);
    change(state, barrier);
}

static void give(const struct passing *passing, const struct subresource_range *range,
                 const struct scope *widened, VkImageLayout old_layout, bool rewritten)
{
    struct barrier_part part = {*range, old_layout, *widened, rewritten};
    passing->parts->add(passing->parts->context, &part);
}

/* The barrier as it would have to be. Its source is widened, since from what it is in another layout was what
 * the application didn't know. */
static void rewrite(const struct passing *passing, const struct subresource_range *range,
                    struct contract_state *state)
{
    struct contract_barrier barrier = *passing->barrier;
    struct scope known = access_source(&state->access);
    barrier.old_layout = state->access.layout;
    barrier.source.stages |= known.stages;
    barrier.source.access |= known.access;
    give(passing, range, &barrier.source, barrier.old_layout, true);
    change(state, &barrier);
}

static void put_before(const struct passing *passing, const struct subresource_range *range,
                       struct contract_state *state)
{
    struct need need = need_of(passing->barrier);
    struct transition transition = contract_transition_for(range, &state->access, &need);
    passing->transitions->add(passing->transitions->context, &transition);
    contract_repair(state, &transition);
    change(state, passing->barrier);
}

static bool is_rewritable(const struct contract_barrier *barrier)
{
    return !barrier->fixed && !is_transfer(barrier);
}

static void pass_one(void *context, const struct subresource_range *range, void *value)
{
    const struct passing *passing = context;
    const struct contract_barrier *barrier = passing->barrier;
    struct contract_state *state = value;
    bool wrong = passing->contradicts && contradicts(passing, range, state);
    if (wrong && is_rewritable(barrier)) {
        rewrite(passing, range, state);
        return;
    }
    if (passing->contradicts && is_rewritable(barrier))
        give(passing, range, &barrier->source, barrier->old_layout, false);
    if (!(state->need.flags & NEED_SET))
        pass_first(state, barrier);
    else if (state->access.flags)
        pass_flagged(state, barrier);
    else if (!wrong)
        change(state, barrier);
    else if (is_transfer(barrier) || layout_is_initial(barrier->old_layout))
        contract_forget_state(state);
    else
        put_before(passing, range, state);
}

static void look(void *context, const struct subresource_range *range, const void *value)
{
    struct passing *passing = context;
    passing->contradicts |= contradicts(passing, range, value);
}

/* A transfer between two other families says nothing of this one. */
static bool is_understood(const struct contract_barrier *barrier)
{
    return layout_is_known(barrier->old_layout) && contract_layout_is_usable(barrier->new_layout) &&
           is_transfer(barrier) == (is_release(barrier) || is_acquire(barrier));
}

/* Both steps for a range; false on out of memory. */
static bool pass_range(struct passing *passing, struct contract_image *image,
                       const struct subresource_range *range)
{
    void *single = subresource_map_single(&image->map, range);
    if (single) {
        look(passing, range, single);
        pass_one(passing, range, single);
        return true;
    }
    subresource_map_read(&image->map, range, look, passing);
    return subresource_map_update(&image->map, range, pass_one, passing);
}

bool contract_transition(struct contract_image *image, const struct subresource_range *range,
                         const struct contract_barrier *barrier, const struct part_sink *parts,
                         const struct transition_sink *transitions)
{
    struct passing passing = {image, barrier, parts, transitions, false};
    bool done = true;
    if (is_understood(barrier))
        done = pass_range(&passing, image, range);
    else
        contract_forget(image, range);
    if (!done)
        contract_forget_all(image);
    return done;
}
