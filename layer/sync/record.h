/* Recording: what the hooks of commands share. The order in each hook of a command that acts: say the uses
 * (record_use...), then record_flush(), then the call down. Owned by the recording thread. */
#ifndef RC_SYNC_RECORD_H
#define RC_SYNC_RECORD_H

#include "hooks.h"
#include "sync/command_buffer.h"

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
 * commands without a hook of their own call it. Cheap when there are none. */
void record_flush(struct command_buffer *buffer);

/* A call of the application with barriers goes into the batch, in parts where an oldLayout is rewritten, or
 * down at once (record_barrier.c). */

/* The use's or repair's place in reports: enum sync_command names are in hooks.h (sync_command_name()). */

#endif
