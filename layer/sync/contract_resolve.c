/* A contract against the device's state. */
#include "sync/contract.h"
#include "sync/contract_parts.h"

struct resolving {
    const struct contract_image *image;
    const struct resolve *resolve;
    const struct contract_state *part; /* of the range being looked at */
    struct subresource_map *state;
    bool failed;
};

static bool is_over(const struct resolve *resolve, uint8_t queue, uint64_t serial)
{
    if (serial == ACCESS_SEVERAL)
        return false;
    return queue == ACCESS_NO_QUEUE || queue == resolve->queue ||
           resolve->is_ordered(resolve->context, queue, serial);
}

static bool all_is_over(const struct resolve *resolve, const struct access *access)
{
    bool last = is_over(resolve, access->queue, access->serial);
    return is_over(resolve, access->other_queue, access->other_serial) && last;
}

/* --- What stands against a repair --- */

static bool is_released(const struct resolving *resolving, const struct access *access)
{
    return resolving->resolve->exclusive && (access->flags & ACCESS_RELEASED);
}

static bool is_of_other_family(const struct resolving *resolving, const struct access *access)
{
    const struct resolve *resolve = resolving->resolve;
    return resolve->exclusive && access->family != ACCESS_NO_FAMILY && access->family != resolve->family;
}

/* Spec, "Resource Sharing Mode": without a transfer of ownership "the contents of that resource are undefined
 * for any read accesses performed by the second queue family". */
static bool reads(const struct need *need)
{
    return (need->scope.access & ~scope_writes(need->scope.access)) != 0;
}

/* A first use that contents matter to. True if something must be said, then *problem is it. */
static bool find_owner_problem(const struct resolving *resolving, const struct access *access, bool matches,
                               enum resolve_problem *problem)
{
    const struct need *need = &resolving->part->need;
    bool released = is_released(resolving, access), other = is_of_other_family(resolving, access);
    if (need->flags & NEED_ACQUIRE) {
        *problem = RESOLVE_NEVER_RELEASED;
        return resolving->resolve->exclusive && (!released || other);
    }
    *problem = released ? RESOLVE_RELEASED : RESOLVE_OTHER_FAMILY;
    return released || (other && (!matches || reads(need)));
}

/* --- One rectangle --- */

static void say(const struct resolving *resolving, enum resolve_problem problem,
                const struct subresource_range *range, const struct access *access)
{
    const struct resolve *resolve = resolving->resolve;
    struct transition transition = contract_transition_for(range, access, &resolving->part->need);
    resolve->problem(resolve->context, problem, &transition);
}

static void repair(const struct resolving *resolving, const struct subresource_range *range,
                   struct access *access)
{
    static const struct scope everything = {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                            VK_ACCESS_2_MEMORY_WRITE_BIT};
    const struct resolve *resolve = resolving->resolve;
    const struct need *need = &resolving->part->need;
    if (all_is_over(resolve, access)) {
        struct transition transition = contract_transition_for(range, access, need);
        resolve->add(resolve->context, &transition);
    } else {
        say(resolving, RESOLVE_UNORDERED, range, access);
    }
    access_add_barrier(access, need->layout, &everything, &need->scope);
}

static void satisfy(const struct resolving *resolving, const struct subresource_range *range,
                    struct access *access)
{
    const struct need *need = &resolving->part->need;
    enum resolve_problem problem;
    if (need->flags & (NEED_NOTHING | NEED_DISCARD))
        return;
    bool matches = contract_layouts_match(resolving->image, range, access->layout, need->layout);
    if (find_owner_problem(resolving, access, matches, &problem))
        say(resolving, problem, range, access);
    else if (!matches && contract_is_repairable(need))
        repair(resolving, range, access);
}

/* This queue becomes the last; others stay remembered until they are known to be over. A barrier of the
 * command buffer's own means that the application knows that they are, which is asked only where there are
 * too many to be remembered. */
static void take_queue(const struct resolve *resolve, struct access *access, bool has_barrier)
{
    bool last = is_over(resolve, access->queue, access->serial);
    bool other = is_over(resolve, access->other_queue, access->other_serial) ||
                 (access->other_serial == ACCESS_SEVERAL && has_barrier);
    if (!last && !other) {
        access->other_serial = ACCESS_SEVERAL;
    } else if (!last) {
        access->other_queue = access->queue;
        access->other_serial = access->serial;
    } else if (other) {
        access->other_queue = ACCESS_NO_QUEUE;
        access->other_serial = 0;
    }
    /* What other queues did is waited for with a semaphore, not with their stages. */
    if (access->queue != resolve->queue && last && other) {
        access->write = access->visible = (struct scope){0, 0};
        access->reads = 0;
    }
    access->queue = resolve->queue;
    access->serial = resolve->serial;
}

static void set_family(const struct resolve *resolve, struct access *access)
{
    if (!resolve->exclusive) {
        /* Such a barrier isn't valid; what a driver makes of it isn't known. */
        if (access->flags & ACCESS_RELEASED)
            *access = (struct access){.flags = ACCESS_UNKNOWN};
        access->family = ACCESS_NO_FAMILY;
    } else if (!(access->flags & ACCESS_RELEASED)) {
        access->family = resolve->family;
    }
}

static void leave(const struct resolving *resolving, struct access *access)
{
    const struct contract_state *part = resolving->part;
    if (part->access.flags & ACCESS_UNKNOWN) {
        *access = (struct access){.flags = ACCESS_UNKNOWN};
        return;
    }
    take_queue(resolving->resolve, access, part->ordered.stages != 0);
    access_follow(access, &part->access, &part->ordered);
    set_family(resolving->resolve, access);
}

static void resolve_one(void *context, const struct subresource_range *range, void *value)
{
    const struct resolving *resolving = context;
    struct access *access = value;
    if (access->flags & ACCESS_UNKNOWN)
        *access = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    else
        satisfy(resolving, range, access);
    leave(resolving, access);
}

static void look(void *context, const struct subresource_range *range, const void *value)
{
    struct resolving *resolving = context;
    resolving->part = value;
    if (resolving->failed || !(resolving->part->need.flags & NEED_SET))
        return;
    resolving->failed = !subresource_map_update(resolving->state, range, resolve_one, resolving);
}

bool contract_resolve(const struct contract_image *image, struct subresource_map *state,
                      const struct resolve *resolve)
{
    static const struct access unknown = {.flags = ACCESS_UNKNOWN};
    struct resolving resolving = {image, resolve, NULL, state, false};
    struct subresource_range all = subresource_range_all(&image->map.shape);
    subresource_map_read(&image->map, &all, look, &resolving);
    if (resolving.failed)
        subresource_map_set_all(state, &unknown);
    return !resolving.failed;
}
