/* Barriers that are to go down as one vkCmdPipelineBarrier or vkCmdPipelineBarrier2: collecting, folding,
 * joining. Pure. Owned by the thread that records.
 *
 * The rule that everything here obeys: what the sequence of calls orders, and the transitions it makes, the
 * one call orders and makes. Barriers of one call don't chain with each other, barriers of consecutive calls
 * do. */
#ifndef RC_SYNC_BARRIER_BATCH_H
#define RC_SYNC_BARRIER_BATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/scope.h"

enum barrier_origin {
    BARRIER_SYNC1, /* a vkCmdPipelineBarrier of the application */
    BARRIER_SYNC2, /* a vkCmdPipelineBarrier2 of the application */
    BARRIER_LAYER, /* a repair */
};

/* One call, in synchronization2's form whatever its origin; no structure has a pNext chain (others never come
 * here). A BARRIER_SYNC1 call has its stage masks in each of its barriers too. If it names no barrier at all,
 * `memory_count` is 0 and only its stage masks count. Images are compared by handle; the caller gives handles
 * of aliased images never. */
struct barrier_call {
    enum barrier_origin origin;
    VkDependencyFlags flags;
    VkPipelineStageFlags source1, destination1; /* BARRIER_SYNC1 only */
    uint32_t memory_count, buffer_count, image_count;
    const VkMemoryBarrier2 *memory;
    const VkBufferMemoryBarrier2 *buffers;
    const VkImageMemoryBarrier2 *images; /* ranges without VK_REMAINING_..., so that they can be compared */
};

struct barrier_rules {
    bool sync2;         /* vkCmdPipelineBarrier2 may be used below: barriers keep masks of their own */
    bool ignore_equal;  /* old == new without ownership transfer is a memory barrier whatever the layout: not
                           folded */
    VkQueueFlags queue; /* of the command buffer's family, to expand stages */
};

struct barrier_batch_counters {
    uint64_t calls_in, calls_out; /* vkCmdPipelineBarrier(2) of the application and repairs; what went down */
    uint64_t images_in, images_out; /* image barriers in them */
};

/* All zero is a valid empty batch. Its memory is kept from use to use (malloc). */
struct barrier_batch {
    uint32_t calls;             /* that were joined; 0: empty */
    enum barrier_origin origin; /* of the only call; of several: BARRIER_LAYER */
    bool changed;               /* something was folded or dropped: what comes out isn't what came in */
    VkDependencyFlags flags;
    VkPipelineStageFlags source1, destination1;
    uint32_t memory_count, buffer_count, image_count;
    uint32_t memory_capacity, buffer_capacity, image_capacity;
    VkMemoryBarrier2 *memory;
    VkBufferMemoryBarrier2 *buffers;
    VkImageMemoryBarrier2 *images;
    bool uniform;                                /* all have these masks */
    struct scope source, destination;            /* of the first */
    VkPipelineStageFlags2 sources, destinations; /* of all, expanded and closed */
};

void barrier_batch_finish(struct barrier_batch *batch);

enum barrier_joined {
    BARRIER_JOINED,
    BARRIER_APART,     /* must be a call of its own: give the batch down, empty it, and add again */
    BARRIER_NO_MEMORY, /* give the batch down, then this call as it is */
};

/* An empty batch takes any call. Another joins only if, its stages expanded, no destination of the batch
 * meets a source of the call, or its destination scope is a subset of those it would chain with; under sync1
 * only with equal stages; never with other dependencyFlags. Folds A->B, B->C to A->C for the same image and
 * range, equal or ignored families and flags, masks united; A->B->A to a memory barrier; A->B, UNDEFINED->C
 * to UNDEFINED->C; leaves out exact duplicates. Overlapping ranges that don't fold stay apart. With `join`
 * false (merging is off) only an empty batch takes a call. */
enum barrier_joined barrier_batch_add(struct barrier_batch *batch, const struct barrier_call *call,
                                      const struct barrier_rules *rules, bool join);

void barrier_batch_clear(struct barrier_batch *batch);

/* Whether image barriers can be made one: equal but for ranges that join (mips, layers). Used for repairs. */
bool barrier_images_join(VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b);

#endif
