#include "sync/repair.h"

#include <string.h>

#include "sync/finding.h"
#include "sync/transition.h"

void repairs_init(struct repairs *repairs, struct command_buffer *buffer, struct contract_image *part,
                  enum sync_command command)
{
    repairs->buffer = buffer;
    repairs->part = part;
    repairs->command = command;
    repairs->count = 0;
    repairs->capacity = sizeof(repairs->few) / sizeof(repairs->few[0]);
    repairs->items = repairs->few;
    repairs->lost = false;
}

static void add(void *context, const struct transition *transition)
{
    struct repairs *repairs = context;
    if (repairs->count && transition->old_layout == repairs->items[repairs->count - 1].old_layout) {
        struct transition *last = &repairs->items[repairs->count - 1];
        if (transition->new_layout == last->new_layout &&
            memcmp(&transition->source, &last->source, sizeof(last->source)) == 0 &&
            memcmp(&transition->destination, &last->destination, sizeof(last->destination)) == 0 &&
            subresource_range_join(&last->range, &transition->range))
            return;
    }
    if (repairs->count == repairs->capacity) {
        struct transition *more =
            arena_alloc(&repairs->buffer->arena, 4 * (size_t)repairs->capacity * sizeof(*more));
        if (!more) {
            repairs->lost = true;
            return;
        }
        memcpy(more, repairs->items, repairs->count * sizeof(*more));
        repairs->items = more;
        repairs->capacity *= 4;
    }
    repairs->items[repairs->count++] = *transition;
}

struct transition_sink repairs_sink(struct repairs *repairs)
{
    return (struct transition_sink){add, repairs};
}

static void report(const struct repairs *repairs, const struct transition *transition, enum finding_kind kind,
                   enum finding_place place)
{
    const struct command_buffer *buffer = repairs->buffer;
    struct finding finding = {
        .kind = kind,
        .place = place,
        .image = repairs->part->image,
        .range = transition->range,
        .command = transition->command,
        .labels = buffer->label_count ? buffer->labels[buffer->label] : "",
        .command_buffer = buffer->name,
        .had = transition->old_layout,
        .needed = transition->new_layout,
    };
    finding_report(buffer->sync, &finding);
}

static void give_up(struct repairs *repairs, const struct transition *transition, enum finding_kind kind)
{
    report(repairs, transition, kind, PLACE_NOWHERE);
    contract_forget(repairs->part, &transition->range);
}

struct rest {
    bool unknown, touched, untouched;
};

static void look_at_rest(void *context, const struct subresource_range *range, const void *value)
{
    const struct contract_state *state = value;
    struct rest *rest = context;
    bool touched = state->need.flags & NEED_SET;
    (void)range;
    rest->touched |= touched;
    rest->untouched |= !touched;
    rest->unknown |= touched && state->access.flags != 0;
}

static bool has_partner(const struct repairs *repairs, uint32_t index)
{
    for (uint32_t i = 0; i < repairs->count; i++)
        if (transition_is_partner(&repairs->items[index].range, &repairs->items[i].range))
            return true;
    return false;
}

static void use_rest(struct repairs *repairs, const struct transition *transition, VkImageLayout layout,
                     VkPipelineStageFlags2 stages)
{
    struct transition_sink sink = repairs_sink(repairs);
    struct use use = {
        .layout = layout,
        .command = transition->command,
        .label = (uint16_t)transition->label,
        .scope = {stages, VK_ACCESS_2_NONE},
    };
    contract_use(repairs->part, &transition->range, &use, &sink);
}

/* A barrier must name both aspects: the other one comes along. Where the command buffer hasn't touched it, it
 * is as it was on entry, and that is what this one was too: since only one aspect of it was used, no barrier
 * has moved it. */
static void bring_other_aspects(struct repairs *repairs)
{
    uint32_t count = repairs->count;
    for (uint32_t i = 0; i < count; i++) {
        struct transition transition = repairs->items[i];
        struct rest rest = {false, false, false};
        if (transition.range.aspects == BOTH_ASPECTS || has_partner(repairs, i))
            continue;
        transition.range.aspects ^= BOTH_ASPECTS;
        subresource_map_read(&repairs->part->map, &transition.range, look_at_rest, &rest);
        if (rest.unknown || (rest.touched && rest.untouched))
            continue;
        if (rest.untouched)
            use_rest(repairs, &transition, transition.old_layout, transition.source.stages);
        use_rest(repairs, &transition, transition.new_layout, VK_PIPELINE_STAGE_2_NONE);
    }
}

static void unite_aspects(struct repairs *repairs)
{
    for (uint32_t i = 0; i < repairs->count; i++)
        for (uint32_t j = i + 1; j < repairs->count; j++)
            if (transition_is_partner(&repairs->items[i].range, &repairs->items[j].range) &&
                transition_unite(&repairs->items[i], &repairs->items[j])) {
                repairs->items[j] = repairs->items[--repairs->count];
                break;
            }
}

static bool must_name_both(const struct repairs *repairs)
{
    return repairs->part->image->aspect_count == 2 && !repairs->buffer->sync->separate_depth_stencil;
}

static void place(struct repairs *repairs, const struct transition *transition)
{
    struct command_buffer *buffer = repairs->buffer;
    struct image *image = repairs->part->image;
    VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = scope_stages_of_queue(transition->source.stages, buffer->queue_flags),
        .dstStageMask = scope_stages_of_queue(transition->destination.stages, buffer->queue_flags),
        .oldLayout = transition->old_layout,
        .newLayout = transition->new_layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->handle,
        .subresourceRange = image_vk_range(image, &transition->range),
    };
    barrier.srcAccessMask =
        scope_access_of_stages(scope_writes(transition->source.access), barrier.srcStageMask);
    barrier.dstAccessMask = scope_access_of_stages(transition->destination.access, barrier.dstStageMask);
    report(repairs, transition, FINDING_MISSING_TRANSITION, PLACE_BEFORE_COMMAND);
    if (buffer->sync->mode == SYNC_REPORT)
        return;
    struct barrier_call call = {
        .origin = BARRIER_LAYER,
        .source1 = scope_stages1(barrier.srcStageMask, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
        .destination1 = scope_stages1(barrier.dstStageMask, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT),
        .image_count = 1,
        .images = &barrier,
    };
    atomic_fetch_add_explicit(&buffer->sync->counters.record_repairs, 1, memory_order_relaxed);
    record_add(buffer, &call);
}

void repairs_place(struct repairs *repairs)
{
    bool inside = record_is_inside(repairs->buffer);
    if (!repairs->count && !repairs->lost)
        return;
    if (!inside && must_name_both(repairs)) {
        bring_other_aspects(repairs);
        unite_aspects(repairs);
    }
    for (uint32_t i = 0; i < repairs->count; i++) {
        const struct transition *transition = &repairs->items[i];
        if (inside)
            give_up(repairs, transition, FINDING_INSIDE_RENDER_PASS);
        else if (must_name_both(repairs) && transition->range.aspects != BOTH_ASPECTS)
            give_up(repairs, transition, FINDING_MISSING_TRANSITION);
        else
            place(repairs, transition);
    }
    if (repairs->lost) {
        struct subresource_range all = subresource_range_all(&repairs->part->map.shape);
        contract_forget(repairs->part, &all);
    }
}
