/* Transitions that a command buffer lacks: from what its contract asks for to barriers that are pending. */
#ifndef RC_SYNC_RECORD_REPAIR_H
#define RC_SYNC_RECORD_REPAIR_H

#include "sync/command_buffer.h"
#include "sync/finding.h"

/* To be handed to the contract of one image. What it adds is kept until the next record_repair_begin(). */
struct transition_sink record_repair_begin(struct command_buffer *buffer);
static inline bool record_repair_is_needed(const struct command_buffer *buffer)
{
    const struct record_scratch *scratch = &buffer->pool->scratch;
    return scratch->transition_count || scratch->transitions_lost;
}

/* Then: makes them pending, and reports them as of this kind; or only reports them, where no barrier may
 * stand or the mode says so. What can't be repaired makes the ranges unknown, since a program whose fault
 * stays may well go on as the image really is. `labels`: whose labels the transitions name. */
void record_repair_place(struct command_buffer *buffer, struct contract_image *image, enum finding_kind kind,
                         const struct command_buffer *labels);

/* One finding of this command buffer. */
void record_report(const struct command_buffer *buffer, enum finding_kind kind, enum finding_place place,
                   struct image *image, const struct transition *transition,
                   const struct command_buffer *labels);

/* Where an image's barriers must name both aspects: makes the transitions that were added do so, and says to
 * the contract what that does to the other aspect. False if there is no layout that says it.
 * record_aspects.c. */
bool record_repair_unite_aspects(struct record_scratch *scratch, struct contract_image *image);

/* Of an image with both aspects whose barriers must name both, what comes finds both in `layout`. Where this
 * command buffer has used one of them alone, in a layout that contradicts that, it has moved neither: so the
 * other is in that one's too. record_aspects.c. */
void record_settle_aspects(struct contract_image *image, const struct subresource_range *range,
                           VkImageLayout layout);
/* A use of what of the range this command buffer has used before. */
void record_use_again(struct contract_image *image, const struct subresource_range *range,
                      const struct use *use, const struct transition_sink *sink);

/* The masks of a barrier of the layer's: what the queue has, and what its stages can do. */
struct scope record_scope_of_queue(const struct command_buffer *buffer, const struct scope *scope);

#endif
