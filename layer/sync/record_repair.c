#include "sync/record_repair.h"

#include "sync/grow.h"
#include "sync/record.h"
#include "sync/record_hold.h"

static void add(void *context, const struct transition *transition)
{
    struct record_scratch *scratch = context;
    if (!grow(&scratch->transitions, &scratch->transition_capacity, scratch->transition_count + 1,
              sizeof(struct transition))) {
        scratch->transitions_lost = true;
        return;
    }
    scratch->transitions[scratch->transition_count++] = *transition;
}

struct transition_sink record_repair_begin(struct command_buffer *buffer)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    scratch->transition_count = 0;
    scratch->transitions_lost = false;
    return (struct transition_sink){add, scratch};
}

struct scope record_scope_of_queue(const struct command_buffer *buffer, const struct scope *scope)
{
    VkPipelineStageFlags2 stages = scope_stages_of_queue(scope->stages, buffer->queue_flags);
    return (struct scope){stages, scope_access_of_stages(scope->access, stages)};
}

static VkImageMemoryBarrier2 barrier_of(const struct command_buffer *buffer, const struct image *image,
                                        const struct transition *transition)
{
    struct scope source = record_scope_of_queue(buffer, &transition->source);
    struct scope destination = record_scope_of_queue(buffer, &transition->destination);
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = source.stages,
        .srcAccessMask = source.access,
        .dstStageMask = destination.stages,
        .dstAccessMask = destination.access,
        .oldLayout = transition->old_layout,
        .newLayout = transition->new_layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->handle,
        .subresourceRange = image_vk_range(image, &transition->range),
    };
}

/* Makes all of them one pending call. False if that can't be done. */
static bool put(struct command_buffer *buffer, struct contract_image *part)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    if (record_has_one_layout(buffer, part->image) && !record_repair_unite_aspects(scratch, part))
        return false;
    if (!grow(&scratch->made.images, &scratch->made.image_capacity, scratch->transition_count,
              sizeof(VkImageMemoryBarrier2)))
        return false;
    uint32_t count = 0;
    VkPipelineStageFlags2 sources = 0, destinations = 0;
    for (uint32_t i = 0; i < scratch->transition_count; i++) {
        VkImageMemoryBarrier2 barrier = barrier_of(buffer, part->image, &scratch->transitions[i]);
        sources |= barrier.srcStageMask;
        destinations |= barrier.dstStageMask;
        if (!count || !barrier_images_join(&scratch->made.images[count - 1], &barrier))
            scratch->made.images[count++] = barrier;
    }
    struct barrier_call call = {
        .origin = BARRIER_LAYER,
        .source1 = scope_stages1(sources, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
        .destination1 = scope_stages1(destinations, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT),
        .image_count = count,
        .images = scratch->made.images,
    };
    if (!record_join(buffer, &call))
        return false;
    buffer->counters.calls_in++;
    buffer->counters.images_in += count;
    atomic_fetch_add_explicit(&buffer->sync->counters.record_repairs, count, memory_order_relaxed);
    return true;
}

void record_report(const struct command_buffer *buffer, enum finding_kind kind, enum finding_place place,
                   struct image *image, const struct transition *transition,
                   const struct command_buffer *labels)
{
    struct finding finding = {
        .kind = kind,
        .place = place,
        .image = image,
        .range = transition->range,
        .command = transition->command,
        .labels = transition->label < labels->label_count ? labels->labels[transition->label] : "",
        .command_buffer = buffer->name,
        .had = transition->old_layout,
        .needed = transition->new_layout,
    };
    finding_report(buffer->sync, &finding);
}

/* Whether the command, or the instance that is held back, has used some of it as it was before. */
static bool contradicts(const struct command_buffer *buffer, const struct contract_image *image)
{
    const struct record_scratch *scratch = &buffer->pool->scratch;
    for (uint32_t i = 0; i < scratch->transition_count; i++)
        if (record_hold_has_used(buffer, image, &scratch->transitions[i].range))
            return true;
    return false;
}

static enum finding_place place_of(const struct command_buffer *buffer, const struct contract_image *image)
{
    bool inside = record_is_inside(buffer);
    /* In report mode nothing is held, and what was used isn't known: it is as if all could be repaired. */
    if (inside && buffer->sync->mode == SYNC_REPORT && buffer->pass != PASS_NONE &&
        !buffer->secondary_in_pass)
        return PLACE_BEFORE_RENDER_PASS;
    if (inside && !buffer->hold.holds)
        return PLACE_NOWHERE;
    if (contradicts(buffer, image))
        return PLACE_NOWHERE;
    return inside ? PLACE_BEFORE_RENDER_PASS : PLACE_BEFORE_COMMAND;
}

void record_repair_place(struct command_buffer *buffer, struct contract_image *image, enum finding_kind kind,
                         const struct command_buffer *labels)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    bool repair = buffer->sync->mode == SYNC_REPAIR;
    if (scratch->transitions_lost) {
        struct subresource_range all = subresource_range_all(&image->map.shape);
        contract_forget(image, &all);
        return;
    }
    if (!scratch->transition_count)
        return;
    enum finding_place place = place_of(buffer, image);
    if (place == PLACE_NOWHERE && record_is_inside(buffer))
        kind = FINDING_INSIDE_RENDER_PASS;
    if (place != PLACE_NOWHERE && repair && !put(buffer, image))
        place = PLACE_NOWHERE;
    if (place == PLACE_BEFORE_RENDER_PASS)
        record_hold_used(buffer, image);
    else if (kind == FINDING_INSIDE_RENDER_PASS)
        record_hold_missed(buffer, image);
    for (uint32_t i = 0; i < scratch->transition_count; i++) {
        record_report(buffer, kind, place, image->image, &scratch->transitions[i], labels);
        if (repair && place == PLACE_NOWHERE)
            contract_forget(image, &scratch->transitions[i].range);
    }
}
