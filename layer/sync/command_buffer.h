/* Command pools and command buffers: what was recorded, for whom, in what state recording is. */
#ifndef RC_SYNC_COMMAND_BUFFER_H
#define RC_SYNC_COMMAND_BUFFER_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "arena.h"
#include "sync/barrier_batch.h"
#include "sync/contract.h"
#include "sync/image.h"
#include "sync/pass.h"
#include "sync/record_call.h"
#include "sync/record_scratch.h"

struct command_pool {
    VkCommandPool handle;
    struct device_sync *sync;
    uint32_t family;
    VkCommandPoolCreateFlags flags;
    struct command_buffer
        *first; /* list through pool_next/pool_previous; the pool is externally synchronized */
    struct command_buffer *unused; /* freed ones, through pool_next; their memory serves the next */
    struct record_scratch scratch; /* of whichever of its command buffers is recorded just now */
};

enum pending_barriers {
    PENDING_NONE,
    PENDING_CALL,  /* one of the application's, as it came */
    PENDING_BATCH, /* anything else */
};

enum pass_kind {
    PASS_NONE,
    PASS_LEGACY,    /* vkCmdBeginRenderPass(2), or a secondary with RENDER_PASS_CONTINUE */
    PASS_RENDERING, /* vkCmdBeginRendering */
};

/* What happens at the end of the render pass instance: the attachments' final layouts. */
struct pass_end {
    struct contract_image *image;
    struct subresource_range range;
    VkImageLayout layout;
    struct scope last;
};

/* Owned by the thread that records (VkCommandBuffer is externally synchronized); once ended it is only read.
 */
struct command_buffer {
    VkCommandBuffer handle;
    struct device_sync *sync;
    struct command_pool *pool;
    struct command_buffer *pool_next, *pool_previous;
    VkCommandBufferLevel level;
    uint32_t family;
    VkQueueFlags queue_flags;
    bool secondary_in_pass; /* RENDER_PASS_CONTINUE */
    bool failed; /* out of memory or a command that isn't understood: its contract is dropped, everything
                    passes through */

    struct arena arena;
    struct contract contract; /* holds a reference to each image */
    /* Barriers that go down before anything that acts. record_emit.c. */
    enum pending_barriers pending;
    struct record_call kept; /* PENDING_CALL */
    uint32_t kept_capacity;
    char *kept_arrays;          /* its memory, buffer and image barriers, one behind the other; malloc */
    struct barrier_batch batch; /* PENDING_BATCH */
    struct barrier_batch_counters counters;

    enum pass_kind pass;
    bool suspending; /* the current or last rendering instance is to be resumed: nothing may stand before that
                      */
    uint32_t end_count;
    struct pass_end *ends; /* in the arena */

    /* Debug labels, each as the path of those open at it, "frame/shadow pass", in the arena. `label` is the
     * innermost that is open; 0: none, labels[0] is "". */
    const char **labels;
    uint32_t *label_parents; /* the one around each */
    uint32_t label_count, label_capacity, label;
    uint32_t untold_labels; /* open ones inside of it: no room, or too long a path */
    char *name;             /* by debug utils; malloc'd; under sync->lock */
};

/* Taken back to what a command buffer is before anything is recorded: references to images go. */
void command_buffer_reset(struct command_buffer *buffer);

/* NULL if it isn't known: then pass through. Generated entry points call it; hooks get the result. */
static inline struct command_buffer *command_buffer_find(const struct device_sync *sync,
                                                         VkCommandBuffer handle)
{
    return handle_map_find(&sync->command_buffers, DISPATCHABLE_KEY(handle));
}

/* All pools that the application has left alive, for device_sync_destroy(): before objects_destroy(). */
void command_buffers_destroy(struct device_sync *sync);

struct contract_image *command_buffer_add_image(struct command_buffer *buffer, struct image *image);
/* The image's part of the contract, made if it isn't there (that takes a reference); NULL where it must be
 * left alone: the image or the command buffer isn't tracked, or there is no memory. */
static inline struct contract_image *command_buffer_image(struct command_buffer *buffer, struct image *image)
{
    if (buffer->failed || !image || !image_is_tracked(image))
        return NULL;
    struct contract_image *part = contract_find(&buffer->contract, image);
    return part ? part : command_buffer_add_image(buffer, image);
}

#endif
