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

struct command_pool {
    VkCommandPool handle;
    struct device_sync *sync;
    uint32_t family;
    VkCommandPoolCreateFlags flags;
    struct command_buffer
        *first; /* list through pool_next/pool_previous; the pool is externally synchronized */
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
    bool failed; /* there was no memory to follow what it does: submitted, it makes every image unknown */

    struct arena arena;
    struct contract contract;   /* holds a reference to each image */
    struct barrier_batch batch; /* pending barriers; flushed before anything that acts */
    struct barrier_batch_counters counters;

    enum pass_kind pass;
    bool suspending; /* the current or last rendering instance is to be resumed: nothing may stand before that
                      */
    uint32_t end_count, end_capacity;
    struct pass_end *ends; /* in the arena */

    /* Debug labels: all paths that were open somewhere, as "frame/shadow pass"; labels[0] is "". In the
     * arena. `label` is the one open now. Uses keep such an index. */
    const char **labels;
    uint32_t *label_parents; /* what is open again when a label ends */
    uint32_t label_count, label_capacity, label;
    uint32_t labels_lost; /* open ones that there was no room for: their ends end nothing */
    char *name;           /* by debug utils; malloc'd; under sync->lock */
};

/* NULL if it isn't known: then pass through. Generated entry points call it; hooks get the result. */
struct command_buffer *command_buffer_find(struct device_sync *sync, VkCommandBuffer handle);

/* All pools that the application has left alive, for device_sync_destroy(): before objects_destroy(). */
void command_buffers_destroy(struct device_sync *sync);

/* The image's part of the contract, made if it isn't there (that takes a reference); NULL where it must be
 * left alone: the image or the command buffer isn't tracked, or there is no memory. */
struct contract_image *command_buffer_image(struct command_buffer *buffer, struct image *image);

#endif
