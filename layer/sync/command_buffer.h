/* Command pools and command buffers: what was recorded, for whom, in what state recording is. */
#ifndef RC_SYNC_COMMAND_BUFFER_H
#define RC_SYNC_COMMAND_BUFFER_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "arena.h"
#include "sync/barrier_batch.h"
#include "sync/binding.h"
#include "sync/body.h"
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

/* An attachment of the render pass instance, and what happens at its end: the final layout. Of dynamic
 * rendering `layout` is the one that it stays in. */
struct pass_end {
    struct contract_image *image;
    struct subresource_range range;
    VkImageLayout layout;
    struct scope last;
};

/* An image that the instance which is held back, or the dispatch that is recorded just now, has used already.
 */
struct instance_use {
    const struct contract_image *image;
    struct subresource_range range;
};

/* A barrier call that the application recorded inside of an instance, and that goes behind it; in the arena.
 */
struct behind_call {
    struct behind_call *next;
    struct record_call call;
};

#define HOLD_WANTED 32 /* images for which an instance is held back that are told apart */

/* A render pass instance that is held back; record_hold.h. */
struct hold {
    uint64_t instance; /* counts instances, and dispatches outside of them */
    bool holds;
    bool used;        /* a barrier went before it */
    bool opaque;      /* some command of it, or of a secondary, may have used any image */
    uint64_t pass;    /* what the instance is known by from frame to frame */
    struct body body; /* its begin, and all commands so far */
    uint32_t wanted_count;
    struct {
        const struct contract_image *image;
        bool used; /* a barrier went before the instance */
    } wanted[HOLD_WANTED];
};

/* Owned by the thread that records (VkCommandBuffer is externally synchronized); once ended it is only read.
 */
struct command_buffer {
    VkCommandBuffer handle;
    struct device_sync *sync;
    const struct device_dispatch *next; /* the device's */
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
    uint32_t passes; /* instances since the counters were added up */

    enum pass_kind pass;
    bool suspending; /* the current or last rendering instance is to be resumed: nothing may stand before that
                      */
    uint32_t end_count, end_capacity;
    struct pass_end *ends; /* in the arena */

    /* What is bound, and when shaders' uses have to be looked at again: `changes` counts whatever may have
     * changed the state of an image, and instances that are held back. */
    struct bindings bindings;
    uint64_t changes;
    struct contract_image *changed; /* list through changed_next */
    uint32_t described_anew;        /* the device's, when the list was last complete */
    uint32_t use_count, use_capacity;
    struct instance_use *uses; /* malloc */
    struct hold hold;
    struct behind_call *behind, **behind_end; /* NULL: none */

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

/* The same without a call, for the fast path of entry points: NULL too where it takes longer to tell. */
__attribute__((always_inline)) static inline struct command_buffer *
command_buffer_find_fast(VkCommandBuffer handle)
{
    const struct device *device = handles_find_first(&device_table, dispatch_key(handle));
    return device && device->sync ? handle_map_find(&device->sync->command_buffers, DISPATCHABLE_KEY(handle))
                                  : NULL;
}

/* All pools that the application has left alive, for device_sync_destroy(): before objects_destroy(). */
void command_buffers_destroy(struct device_sync *sync);

struct contract_image *command_buffer_add_image(struct command_buffer *buffer, struct image *image);
/* The image's part of the contract, made if it isn't there (that takes a reference); NULL where it must be
 * left alone: the image or the command buffer isn't tracked, or there is no memory. For uses that leave its
 * state as it is. */
static inline struct contract_image *command_buffer_read_image(struct command_buffer *buffer,
                                                               struct image *image)
{
    if (buffer->failed || !image || !image_is_tracked(image))
        return NULL;
    struct contract_image *part = contract_find(&buffer->contract, image);
    return part ? part : command_buffer_add_image(buffer, image);
}

/* The next render pass instance asks about the image. */
static inline void command_buffer_ask_about(struct command_buffer *buffer, struct contract_image *part)
{
    if (part->changed)
        return;
    part->changed = true;
    part->changed_next = buffer->changed;
    buffer->changed = part;
}

/* What was seen so far has to be looked at again. */
static inline void command_buffer_count_change(struct command_buffer *buffer)
{
    buffer->changes = ++buffer->pool->scratch.changes;
}

/* The state of the image may have become another. */
static inline void command_buffer_changed(struct command_buffer *buffer, struct contract_image *part)
{
    command_buffer_count_change(buffer);
    part->judged = false;
    command_buffer_ask_about(buffer, part);
}

/* As command_buffer_read_image(), for all other uses. */
static inline struct contract_image *command_buffer_image(struct command_buffer *buffer, struct image *image)
{
    struct contract_image *part = command_buffer_read_image(buffer, image);
    if (part)
        command_buffer_changed(buffer, part);
    return part;
}

/* Room for one more element of `ends`; false on out of memory. */
bool command_buffer_reserve_end(struct command_buffer *buffer);

/* Whether some of the range is an attachment of the instance. */
static inline bool command_buffer_is_attachment(const struct command_buffer *buffer,
                                                const struct contract_image *image,
                                                const struct subresource_range *range)
{
    for (uint32_t i = 0; i < buffer->end_count; i++)
        if (buffer->ends[i].image == image && subresource_ranges_overlap(&buffer->ends[i].range, range))
            return true;
    return false;
}

/* Whether all of it is. */
static inline bool command_buffer_is_all_attachment(const struct command_buffer *buffer,
                                                    const struct contract_image *image,
                                                    const struct subresource_range *range)
{
    struct subresource_range one = *range;
    one.mip_count = one.layer_count = 1;
    if (!command_buffer_is_attachment(buffer, image, range))
        return false;
    for (uint32_t mip = 0; mip < range->mip_count; mip++)
        for (uint32_t layer = 0; layer < range->layer_count; layer++) {
            one.base_mip = range->base_mip + mip;
            one.base_layer = range->base_layer + layer;
            if (!command_buffer_is_attachment(buffer, image, &one))
                return false;
        }
    return true;
}

#endif
