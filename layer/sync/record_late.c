#include "sync/record_late.h"

static void add(struct command_buffer *buffer, const struct late_use *use)
{
    struct bindings *bindings = &buffer->bindings;
    struct late_use *late =
        bindings->late_count < LATE_USES ? arena_alloc(&buffer->arena, sizeof(*late)) : NULL;
    if (!late) {
        atomic_fetch_add_explicit(&buffer->sync->counters.unseen, 1, memory_order_relaxed);
        return;
    }
    *late = *use;
    late->next = NULL;
    object_acquire(&late->set->object);
    if (bindings->late_last)
        bindings->late_last->next = late;
    else
        bindings->late = late;
    bindings->late_last = late;
    bindings->late_count++;
}

static bool contains(const struct scope *scope, const struct scope *part)
{
    return (scope->stages & part->stages) == part->stages && (scope->access & part->access) == part->access;
}

void record_late_use(struct command_buffer *buffer, enum sync_command command, struct descriptor_set *set,
                     const struct shader_use *use)
{
    struct bindings *bindings = &buffer->bindings;
    uint64_t hash = ((uint64_t)(uintptr_t)set + use->slot) * UINT64_C(0x9e3779b97f4a7c15);
    struct late_use **recent = &bindings->recent[hash >> 32 & (LATE_RECENT - 1)];
    if (*recent && (*recent)->set == set && (*recent)->slot == use->slot &&
        contains(&(*recent)->scope, &use->scope))
        return;
    struct late_use late = {NULL, set, use->slot, (uint16_t)command, buffer->label, use->scope};
    add(buffer, &late);
    *recent = bindings->late_last;
}

void record_late_execute(struct command_buffer *primary, const struct command_buffer *secondary)
{
    for (const struct late_use *late = secondary->bindings.late; late; late = late->next) {
        struct late_use use = *late;
        /* Labels are the secondary's own. */
        use.label = 0;
        add(primary, &use);
    }
}
