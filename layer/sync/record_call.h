/* A call of the application with barriers, whichever form they have. */
#ifndef RC_SYNC_RECORD_CALL_H
#define RC_SYNC_RECORD_CALL_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/barrier_batch.h"
#include "sync/contract.h"
#include "sync/record_scratch.h"
#include "sync_commands.h"

struct command_buffer;

/* Arrays and chain are the application's own. */
struct record_call {
    enum sync_command command;
    enum barrier_origin origin; /* BARRIER_SYNC1 or BARRIER_SYNC2: the form of the arrays */
    VkDependencyFlags flags;
    VkPipelineStageFlags source1, destination1; /* BARRIER_SYNC1 only */
    uint32_t memory_count, buffer_count, image_count;
    const void *memory, *buffers, *images;
    const void *chain;              /* of VkDependencyInfo */
    PFN_vkCmdPipelineBarrier2 next; /* of vkCmdPipelineBarrier2 */
};

struct record_call record_call_of_info(enum sync_command command, const VkDependencyInfo *info);

/* In synchronization2's form. Inline, since most callers look at a part of it only. */
static inline VkImageMemoryBarrier2 record_call_image(const struct record_call *call, uint32_t index)
{
    if (call->origin == BARRIER_SYNC2)
        return ((const VkImageMemoryBarrier2 *)call->images)[index];
    const VkImageMemoryBarrier *from = &((const VkImageMemoryBarrier *)call->images)[index];
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .pNext = from->pNext,
        .srcStageMask = call->source1,
        .srcAccessMask = from->srcAccessMask,
        .dstStageMask = call->destination1,
        .dstAccessMask = from->dstAccessMask,
        .oldLayout = from->oldLayout,
        .newLayout = from->newLayout,
        .srcQueueFamilyIndex = from->srcQueueFamilyIndex,
        .dstQueueFamilyIndex = from->dstQueueFamilyIndex,
        .image = from->image,
        .subresourceRange = from->subresourceRange,
    };
}

/* The call in the form that the batch takes, until `arrays` are used again. Ranges of images that are known
 * have no VK_REMAINING_.... False on out of memory. */
bool record_call_convert(const struct command_buffer *buffer, const struct record_call *call,
                         struct barrier_arrays *arrays, struct barrier_call *out);
/* All but its image barriers. */
bool record_call_convert_rest(const struct record_call *call, struct barrier_arrays *arrays,
                              struct barrier_call *out);

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

/* The call becomes pending as it came, after what it can't join went down. False on out of memory: everything
 * that was pending is down, and this call isn't. record_emit.c. */
bool record_call_pend(struct command_buffer *buffer, const struct record_call *call);

/* The call goes down, now and as it is. record_emit.c. */
void record_call_give_down(struct command_buffer *buffer, const struct record_call *call);

/* For a call outside of a render pass that goes down exactly as it is, and must not be joined: its barriers
 * are tracked, and what their oldLayout lacks becomes pending in front of it. */
void record_call_follow(struct command_buffer *buffer, const struct record_call *call);

/* For a call inside of one, where no layout may change
 * (VUID-vkCmdPipelineBarrier-oldLayout-01181): where one does, the image becomes unknown. */
void record_call_follow_inside(struct command_buffer *buffer, const struct record_call *call);

#endif
