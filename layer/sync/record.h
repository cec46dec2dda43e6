/* Recording: what the hooks of commands share. The order in each hook of a command that acts: say the uses
 * (record_use...), then record_flush(), then the call down. Owned by the recording thread. */
#ifndef RC_SYNC_RECORD_H
#define RC_SYNC_RECORD_H

#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync_commands.h"

/* A command uses a range of an image in `layout`; a transition that is missing becomes pending (repair mode,
 * outside a render pass) and is reported. Inside a render pass it is only reported. Unknown images: nothing.
 */
void record_use(struct command_buffer *buffer, enum sync_command command, struct image *image,
                const struct subresource_range *range, VkImageLayout layout, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access);

/* The same for what a command takes from the application. A range that the image doesn't have makes it
 * unknown. */
void record_use_layers(struct command_buffer *buffer, enum sync_command command, struct image *image,
                       const VkImageSubresourceLayers *layers, VkImageLayout layout,
                       VkPipelineStageFlags2 stages, VkAccessFlags2 access);
void record_use_range(struct command_buffer *buffer, enum sync_command command, struct image *image,
                      const VkImageSubresourceRange *range, VkImageLayout layout,
                      VkPipelineStageFlags2 stages, VkAccessFlags2 access);

/* Nothing is known of the image from here on. */
void record_forget(struct command_buffer *buffer, struct image *image);

/* Whether commands recorded now are inside a render pass instance, or between a suspended one and its
 * resumption, where no barrier may be placed. */
static inline bool record_is_inside(const struct command_buffer *buffer)
{
    return buffer->pass != PASS_NONE || buffer->secondary_in_pass || buffer->suspending;
}

/* A call with barriers becomes pending: joined with what is pending already where that is allowed
 * (barrier_batch.h), after it otherwise. Only outside a render pass, in repair mode. */
void record_add(struct command_buffer *buffer, const struct barrier_call *call);

/* Pending barriers go down. Before every command that isn't on the allow list: generated entry points of
 * commands without a hook of their own call it. */
void record_flush_pending(struct command_buffer *buffer);
static inline void record_flush(struct command_buffer *buffer)
{
    if (buffer->batch.calls)
        record_flush_pending(buffer);
}

#endif
