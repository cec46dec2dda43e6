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
    const VkImageMemoryBarrier2
        *images; /* VK_REMAINING_... may stay: such a range folds with its equal alone */
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

/* How the barriers of a batch are to its first. */
enum barrier_likeness {
    BARRIERS_UNLIKE,
    BARRIERS_OF_EQUAL_STAGES,
    BARRIERS_ALIKE, /* all masks are equal */
};

/* All zero is a valid empty batch. Its memory is kept from use to use (malloc). */
struct barrier_batch {
    uint32_t calls;             /* that were joined; 0: empty */
    enum barrier_origin origin; /* of the only call; of several: BARRIER_LAYER */
    bool changed;               /* the barriers aren't those of the calls, one behind the other */
    VkDependencyFlags flags;
    /* What goes down as sync1 has these masks: the one call of the application if it was, and everything
     * where rules->sync2 is false, repairs too (accesses: scope_access1()). */
    VkPipelineStageFlags source1, destination1;
    uint32_t memory_count, buffer_count, image_count;
    uint32_t memory_capacity, buffer_capacity, image_capacity;
    VkMemoryBarrier2 *memory;
    VkBufferMemoryBarrier2 *buffers;
    VkImageMemoryBarrier2 *images;
    enum barrier_likeness likeness;
    struct scope source, destination;            /* of the first */
    VkPipelineStageFlags2 sources, destinations; /* of all */
};

void barrier_batch_finish(struct barrier_batch *batch);

enum barrier_joined {
    BARRIER_JOINED,
    BARRIER_APART,     /* must be a call of its own: give the batch down, empty it, and add again */
    BARRIER_NO_MEMORY, /* give the batch down, then this call as it is */
};

/* An empty batch takes any call. Another joins
 *   - if all masks are equal; under sync1 only with equal stages; never with other dependencyFlags;
 *   - if no destination of the batch meets a source of the call (expanded, with logically earlier and later
 * stages);
 *   - if the destination of what it chains with names all of its own. Beside each other they no longer chain,
 * so the later one's source takes in the earlier one's: a transition still waits for all that it waited for.
 * Folds A->B, B->C to A->C for the same image and range, equal or ignored families and flags, masks united;
 * A->B->A to a barrier that changes no layout; A->B, UNDEFINED->C to UNDEFINED->C; leaves out exact
 * duplicates that change no layout. Overlapping ranges that don't fold stay apart, transfers of one buffer's
 * ownership too, and so does what would make a batch of more than 64 barriers. With `join` false (merging is
 * off) only an empty batch takes a call.
 */
enum barrier_joined barrier_batch_add(struct barrier_batch *batch, const struct barrier_call *call,
                                      const struct barrier_rules *rules, bool join);

void barrier_batch_clear(struct barrier_batch *batch);

/* Whether image barriers can be made one: equal but for ranges that join (mips, layers, aspects). For
 * repairs: ranges without VK_REMAINING_.... */
bool barrier_images_join(VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b);

#endif
