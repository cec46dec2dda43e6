/* Descriptors that are read when a command buffer is submitted. */
#include "sync/command_buffer.h"
#include "sync/layout.h"
#include "sync/queue.h"
#include "sync/submission_parts.h"

static struct descriptor read_descriptor(const struct late_use *late)
{
    struct descriptor descriptor = {0};
    pthread_mutex_lock(&late->set->lock);
    if (late->slot < late->set->slot_count)
        descriptor = late->set->slots[late->slot];
    pthread_mutex_unlock(&late->set->lock);
    return descriptor;
}

bool submission_reads_late(const struct command_buffer *buffer, const struct late_use *end,
                           const struct image *image, const struct subresource_range *range)
{
    for (const struct late_use *late = buffer->bindings.late; late != end; late = late->next) {
        const struct image_view *view = image_view_find(buffer->sync, read_descriptor(late).view);
        if (view && view->image == image && subresource_ranges_overlap(&view->range, range))
            return true;
    }
    return false;
}

/* A contract that is made up of one use, of what the command buffer itself leaves alone. */
struct late_contract {
    struct contract_image *part;
    const struct use *use;
    bool failed;
};

static void ignore_transition(void *context, const struct transition *transition)
{
    (void)context, (void)transition;
}

/* `own`: struct contract_state of the command buffer, or NULL. */
static void use_untouched(void *context, const struct subresource_range *range, const void *own)
{
    static const struct transition_sink no_transitions = {ignore_transition, NULL};
    struct late_contract *late = context;
    if (!own || !(((const struct contract_state *)own)->need.flags & NEED_SET))
        late->failed |= !contract_use(late->part, range, late->use, &no_transitions);
}

/* Only at the entry can it be repaired. So subresources that the command buffer itself uses are left alone:
 * what they are in when the shader reads them isn't known. */
void submission_use_late(struct submission *submission, const struct command_buffer *buffer,
                         const struct late_use *late)
{
    struct descriptor descriptor = read_descriptor(late);
    const struct image_view *view = image_view_find(buffer->sync, descriptor.view);
    if (!view || layout_is_initial(descriptor.layout))
        return;
    struct image *image = view->image;
    struct contract contract = {.arena = &submission->arena};
    struct use use = {descriptor.layout, late->command, (uint16_t)late->label, late->scope};
    struct late_contract made = {contract_add(&contract, image, &image->state.shape, image->aspects), &use,
                                 false};
    const struct contract_image *own = contract_find(&buffer->contract, image);
    struct subresource_range range = view->range;
    if (submission_names_both_aspects(submission, image) && layout_is_of_both(descriptor.layout))
        range.aspects = subresource_range_all(&image->state.shape).aspects;
    if (made.part && own)
        subresource_map_read(&own->map, &range, use_untouched, &made);
    else if (made.part)
        use_untouched(&made, &range, NULL);
    if (made.part && !made.failed)
        submission_use_image(submission, made.part);
    else
        submission_set_unknown(submission, image);
    arena_reset(&submission->arena);
}
