/* Recording: what the hooks of commands share. The order in each hook of a command that acts: say the uses
 * (record_use...), then record_flush(), then the call down. Owned by the recording thread. */
#ifndef RC_SYNC_RECORD_H
#define RC_SYNC_RECORD_H

#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync_commands.h"

/* A command uses a range of an image in `layout`; a transition that is missing becomes pending (repair mode,
 * outside a render pass) and is reported. Inside a render pass it is only reported. Unknown images and
 * ranges: nothing. */
void record_use(struct command_buffer *buffer, enum sync_command command, struct image *image,
                const struct subresource_range *range, VkImageLayout layout, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access);

/* The same for what a command buffer takes from the application. */
void record_use_layers(struct command_buffer *buffer, enum sync_command command, VkImage image,
                       const VkImageSubresourceLayers *layers, VkImageLayout layout,
                       VkPipelineStageFlags2 stages, VkAccessFlags2 access);

/* Pending barriers go down. Before every command that isn't on the allow list: generated entry points of
 * commands without a hook of their own call it. */
void record_flush_pending(struct command_buffer *buffer);
static inline void record_flush(struct command_buffer *buffer)
{
    if (buffer->batch.calls)
        record_flush_pending(buffer);
}

#endif
