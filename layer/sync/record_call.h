/* A call of the application with barriers, whichever form they have. */
#ifndef RC_SYNC_RECORD_CALL_H
#define RC_SYNC_RECORD_CALL_H

#include "sync/command_buffer.h"
#include "sync_commands.h"

struct record_call {
    enum sync_command command;
    enum barrier_origin origin; /* BARRIER_SYNC1 or BARRIER_SYNC2: the form of `memory` and `buffers` */
    VkDependencyFlags flags;
    VkPipelineStageFlags source1, destination1; /* BARRIER_SYNC1 only */
    uint32_t memory_count, buffer_count, image_count;
    const void *memory, *buffers;         /* the application's own */
    const VkImageMemoryBarrier2 *images;  /* the application's own, or in the pool's scratch */
    const VkImageMemoryBarrier *images1;  /* the application's own; BARRIER_SYNC1 only */
    const VkImageMemoryBarrier2 *images2; /* ... BARRIER_SYNC2 only */
    const void *chain;                    /* of VkDependencyInfo */
    PFN_vkCmdPipelineBarrier2 next;       /* of vkCmdPipelineBarrier2 */
};

/* One of either form. `images` of the first are in the scratch: until the next call of these two. Without
 * memory for them the command buffer has failed, and there are none. */
struct record_call record_call_of_info(enum sync_command command, const VkDependencyInfo *info);
void record_call_set_images(struct record_call *call, struct command_buffer *buffer, uint32_t count,
                            const VkImageMemoryBarrier *images);

/* What an image barrier of the application does to what is known of its image. */
enum record_effect {
    EFFECT_NONE,       /* it is a memory barrier */
    EFFECT_FORGET,     /* nothing is known afterwards */
    EFFECT_TRANSITION, /* as the contract says */
};
/* `*barrier` is filled in for EFFECT_TRANSITION. */
enum record_effect record_call_effect(const struct command_buffer *buffer, const struct record_call *call,
                                      const struct image *image, const VkImageMemoryBarrier2 *info,
                                      struct contract_barrier *barrier);

/* For a call outside of a render pass that goes down exactly as it is, and must not be joined: its barriers
 * are tracked, and what their oldLayout lacks becomes pending in front of it. */
void record_call_follow(struct command_buffer *buffer, const struct record_call *call);

/* For a call inside of one, where no layout may change
 * (VUID-vkCmdPipelineBarrier-oldLayout-01181): where one does, the image becomes unknown. */
void record_call_follow_inside(struct command_buffer *buffer, const struct record_call *call);

#endif
