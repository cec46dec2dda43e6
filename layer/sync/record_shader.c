#include "sync/record_shader.h"

#include "sync/grow.h"
#include "sync/layout.h"
#include "sync/record.h"
#include "sync/record_hold.h"
#include "sync/record_late.h"
#include "sync/record_repair.h"
#include "sync/shader.h"

/* One command. */
struct looking {
    struct command_buffer *buffer;
    enum sync_command command;
    const struct bind_point *point;
    uint64_t changes; /* the command buffer's, when it began */
    bool skipped;     /* some set was looked at before, and its uses aren't noted */
    /* What writes comes first: an image's view that is read often covers more than is read of it, and of that
     * the part that is written mustn't be moved away. */
    bool writes;
};

static void note_skipped(struct looking *looking);

static void count(atomic_uint_fast64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* --- One image --- */

/* Some other descriptor would find the image in another layout than this one does. */
static bool is_described_otherwise(const struct image *image, VkImageLayout layout)
{
    return atomic_load_explicit(&image->described, memory_order_relaxed) & ~layout_bit(layout);
}

static void use_part(struct looking *looking, struct contract_image *part,
                     const struct subresource_range *range, const struct use *use)
{
    struct command_buffer *buffer = looking->buffer;
    struct transition_sink sink = record_repair_begin(buffer);
    contract_use(part, range, use, &sink);
    if (record_repair_is_needed(buffer)) {
        note_skipped(looking);
        record_repair_place(buffer, part, FINDING_MISSING_TRANSITION, buffer);
        command_buffer_changed(buffer, part);
    } else if (scope_writes(use->scope.access)) {
        command_buffer_changed(buffer, part);
    } else if (is_described_otherwise(part->image, use->layout)) {
        part->judged = false;
        command_buffer_ask_about(buffer, part);
    }
    record_hold_add_use(buffer, part, range);
}

/* What is an attachment of the instance has that one's layout: whether it may be read here is the
 * application's business. */
static void use_around_attachments(struct looking *looking, struct contract_image *part,
                                   const struct subresource_range *range, const struct use *use)
{
    const struct command_buffer *buffer = looking->buffer;
    struct subresource_range one = *range;
    if (!command_buffer_is_attachment(buffer, part, range)) {
        use_part(looking, part, range, use);
        return;
    }
    one.mip_count = one.layer_count = 1;
    for (uint32_t mip = 0; mip < range->mip_count; mip++)
        for (uint32_t layer = 0; layer < range->layer_count; layer++) {
            one.base_mip = range->base_mip + mip;
            one.base_layer = range->base_layer + layer;
            if (!command_buffer_is_attachment(buffer, part, &one))
                use_part(looking, part, &one, use);
        }
}

static void use_descriptor(struct looking *looking, const struct descriptor *descriptor,
                           const struct scope *scope)
{
    struct command_buffer *buffer = looking->buffer;
    if (looking->writes != (scope_writes(scope->access) != 0))
        return;
    const struct image_view *view = image_view_find(buffer->sync, descriptor->view);
    struct contract_image *part = view ? command_buffer_read_image(buffer, view->image) : NULL;
    if (!part || layout_is_initial(descriptor->layout))
        return;
    struct use use = {descriptor->layout, (uint16_t)looking->command, (uint16_t)buffer->label, *scope};
    struct subresource_range range = view->range;
    if (record_has_one_layout(buffer, view->image) && layout_is_of_both(descriptor->layout)) {
        range.aspects = subresource_range_all(&part->map.shape).aspects;
        record_settle_aspects(part, &range, descriptor->layout);
    }
    use_around_attachments(looking, part, &range, &use);
}

/* --- One set --- */

static struct seen_set *seen_slot(struct command_buffer *buffer, VkDescriptorSet set, const void *uses)
{
    uint64_t key = (HANDLE_KEY(set) ^ (uint64_t)(uintptr_t)uses) * UINT64_C(0x9e3779b97f4a7c15);
    return &buffer->pool->scratch.seen[key >> 32 & (SEEN_SETS - 1)];
}

static bool was_seen(const struct seen_set *seen, VkDescriptorSet set, const void *uses, uint64_t changes)
{
    return seen->set == set && seen->uses == uses && seen->changes == changes;
}

static void use_set(struct looking *looking, VkDescriptorSet handle, const struct shader_uses *uses,
                    const struct shader_set *used)
{
    struct command_buffer *buffer = looking->buffer;
    struct seen_set *seen = seen_slot(buffer, handle, used);
    if (was_seen(seen, handle, used, buffer->changes)) {
        looking->skipped |= buffer->changes == looking->changes;
        return;
    }
    struct descriptor_set *set = descriptor_set_find(buffer->sync, handle);
    if (!set || set->layout->signature != used->signature) {
        record_shaders_unseen(buffer);
        return;
    }
    for (uint32_t i = used->first; i < used->first + used->count; i++) {
        const struct shader_use *use = &uses->uses[i];
        if (use->slot >= set->slot_count)
            continue;
        if (use->late && !looking->writes)
            record_late_use(buffer, looking->command, set, use);
        else if (!use->late)
            use_descriptor(looking, &set->slots[use->slot], &use->scope);
    }
    if (!looking->writes)
        *seen = (struct seen_set){handle, used, buffer->changes};
}

static void use_pushed(struct looking *looking, const struct pushed_set *pushed,
                       const struct shader_uses *uses, const struct shader_set *used)
{
    if (pushed->layout->signature != used->signature) {
        record_shaders_unseen(looking->buffer);
        return;
    }
    for (uint32_t i = used->first; i < used->first + used->count; i++)
        use_descriptor(looking, &pushed->slots[uses->uses[i].slot], &uses->uses[i].scope);
}

/* --- The command --- */

static void use_sets(struct looking *looking, const struct shader_uses *uses)
{
    for (uint32_t i = 0; i < uses->set_count; i++) {
        const struct bound_set *bound = &looking->point->sets[uses->sets[i].number];
        if (bound->pushed)
            use_pushed(looking, bound->pushed, uses, &uses->sets[i]);
        else if (bound->set)
            use_set(looking, bound->set, uses, &uses->sets[i]);
        else if (!looking->writes) /* descriptor buffers */
            record_shaders_unseen(looking->buffer);
    }
}

static void use_shaders(struct looking *looking, const struct shader_uses *uses)
{
    struct command_buffer *buffer = looking->buffer;
    if (!uses || uses->unknown)
        count(&buffer->sync->counters.unseen);
    if (!uses || uses->unknown || uses->weak)
        buffer->hold.opaque = true;
    if (!uses)
        return;
    looking->writes = true;
    if (uses->writes)
        use_sets(looking, uses);
    looking->writes = false;
    use_sets(looking, uses);
}

static bool has_shader_objects(const struct bind_point *point)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < SHADER_OBJECTS; i++)
        any |= point->shaders[i];
    return any != 0;
}

/* What runs at the bind point: a pipeline, or shader objects. */
static uint32_t find_uses(const struct device_sync *sync, const struct bind_point *point,
                          const struct shader_uses *out[SHADER_OBJECTS])
{
    uint32_t count = 0;
    if (point->pipeline || !has_shader_objects(point)) {
        out[count++] = shader_uses_of_pipeline(sync, point->pipeline);
        return count;
    }
    for (uint32_t i = 0; i < SHADER_OBJECTS; i++)
        if (point->shaders[i])
            out[count++] = handle_map_find(&sync->shaders, point->shaders[i]);
    return count;
}

static void note_set(struct looking *looking, VkDescriptorSet handle, const struct shader_uses *uses,
                     const struct shader_set *used)
{
    struct command_buffer *buffer = looking->buffer;
    const struct descriptor_set *set = descriptor_set_find(buffer->sync, handle);
    for (uint32_t i = used->first; set && i < used->first + used->count; i++) {
        const struct shader_use *use = &uses->uses[i];
        if (use->late || use->slot >= set->slot_count)
            continue;
        const struct image_view *view = image_view_find(buffer->sync, set->slots[use->slot].view);
        struct contract_image *part = view ? contract_find(&buffer->contract, view->image) : NULL;
        if (part)
            record_hold_add_use(buffer, part, &view->range);
    }
}

/* Before something is moved for the command: what its other sets use, which were right when they were looked
 * at, mustn't be moved away. */
static void note_skipped(struct looking *looking)
{
    struct command_buffer *buffer = looking->buffer;
    const struct shader_uses *uses[SHADER_OBJECTS];
    if (!looking->skipped)
        return;
    looking->skipped = false;
    uint32_t count = find_uses(buffer->sync, looking->point, uses);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; uses[i] && j < uses[i]->set_count; j++) {
            const struct shader_set *used = &uses[i]->sets[j];
            VkDescriptorSet set = looking->point->sets[used->number].set;
            if (set && was_seen(seen_slot(buffer, set, used), set, used, looking->changes))
                note_set(looking, set, uses[i], used);
        }
}

void record_shaders_changed(struct command_buffer *buffer, enum sync_command command,
                            struct bind_point *point)
{
    struct looking looking = {
        .buffer = buffer, .command = command, .point = point, .changes = buffer->changes};
    const struct shader_uses *uses[SHADER_OBJECTS];
    if (buffer->failed || !buffer->sync->follows_shaders)
        return;
    uint32_t count = find_uses(buffer->sync, point, uses);
    for (uint32_t i = 0; i < count; i++)
        use_shaders(&looking, uses[i]);
    record_hold_end_command(buffer);
    point->seen = buffer->changes;
}

void record_shaders_unseen(struct command_buffer *buffer)
{
    count(&buffer->sync->counters.unseen);
    buffer->hold.opaque = true;
}
