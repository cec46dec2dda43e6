/* A call of the application with barriers, whichever form they have. */
#ifndef RC_SYNC_RECORD_CALL_H
#define RC_SYNC_RECORD_CALL_H

#include "sync/command_buffer.h"
#include "sync_commands.h"

struct record_call {
    enum sync_command command;
    enum barrier_origin origin; /* BARRIER_SYNC1 or BARRIER_SYNC2: the form of the arrays below */
    VkDependencyFlags flags;
    VkPipelineStageFlags source1, destination1; /* BARRIER_SYNC1 only */
    uint32_t memory_count, buffer_count, image_count;
    const void *memory, *buffers, *images; /* the application's own */
    const void *chain;                     /* of VkDependencyInfo */
    PFN_vkCmdPipelineBarrier2 next;        /* of vkCmdPipelineBarrier2 */
};

struct record_call record_call_of_info(enum sync_command command, const VkDependencyInfo *info);

/* In synchronization2's form; the chain is the application's. */
VkMemoryBarrier2 record_call_memory(const struct record_call *call, uint32_t index);
VkBufferMemoryBarrier2 record_call_buffer(const struct record_call *call, uint32_t index);
VkImageMemoryBarrier2 record_call_image(const struct record_call *call, uint32_t index);

/* What an image barrier of the application does to what is known of its image. */
enum record_effect {
    EFFECT_NONE,       /* a memory barrier, or of an image that isn't tracked */
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
