/* Recording: what the hooks of commands share. The order in each hook of a command that acts: say the uses
 * (record_use...), then record_flush(), then the call down. Owned by the recording thread. */
#ifndef RC_SYNC_RECORD_H
#define RC_SYNC_RECORD_H

#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync_commands.h"

/* A command uses a range of an image in `layout`; a transition that is missing becomes pending (repair mode,
 * outside a render pass) and is reported. Inside a render pass it is only reported. Images that are unknown
 * (NULL too): nothing. */
void record_use(struct command_buffer *buffer, enum sync_command command, struct image *image,
                const struct subresource_range *range, VkImageLayout layout, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access);

/* The same for what a command buffer takes from the application. Ranges outside of the image: nothing. */
void record_use_layers(struct command_buffer *buffer, enum sync_command command, VkImage image,
                       const VkImageSubresourceLayers *layers, VkImageLayout layout,
                       VkPipelineStageFlags2 stages, VkAccessFlags2 access);
void record_use_range(struct command_buffer *buffer, enum sync_command command, VkImage image,
                      const VkImageSubresourceRange *range, VkImageLayout layout,
                      VkPipelineStageFlags2 stages, VkAccessFlags2 access);

/* Whether nothing may be put before the next command: a render pass instance goes on, or is suspended. */
static inline bool record_is_inside(const struct command_buffer *buffer)
{
    return buffer->pass != PASS_NONE || buffer->suspending;
}

/* Spec, VkImageMemoryBarrier: of an image with depth and stencil an image barrier names both, unless
 * separateDepthStencilLayouts is enabled. So one layout says what both are in; it may be another for each
 * (DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL), and a command may name it by what it is to one of them. */
static inline bool record_has_one_layout(const struct command_buffer *buffer, const struct image *image)
{
    return image->aspect_count == 2 && !buffer->sync->separate_depth_stencil;
}

/* Pending barriers go down, and what is held back of a render pass instance. Before every command that isn't
 * on the allow list: generated entry points of commands without a hook of their own call it. */
void record_flush_pending(struct command_buffer *buffer); /* of barriers there must be some */
void record_hold_release(struct command_buffer *buffer);
static inline void record_flush(struct command_buffer *buffer)
{
    if (buffer->hold.holds)
        record_hold_release(buffer);
    else if (buffer->pending)
        record_flush_pending(buffer);
}

/* The call becomes pending, after what it can't join went down. False on out of memory: everything that was
 * pending is down, and this call isn't. */
bool record_join(struct command_buffer *buffer, const struct barrier_call *call);

#endif
