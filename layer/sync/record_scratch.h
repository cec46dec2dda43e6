/* Arrays that are filled and emptied again within one recorded command; their memory is kept from command to
 * command. Owned by the thread that records. */
#ifndef RC_SYNC_RECORD_SCRATCH_H
#define RC_SYNC_RECORD_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/contract.h"

/* What an image barrier of the application is about. */
struct record_target {
    struct image *image;
    struct subresource_range range;
};

/* A set that was looked at, together with what a pipeline uses of it. */
struct seen_set {
    VkDescriptorSet set;
    const void *uses; /* struct shader_set; only compared */
    uint64_t changes; /* command_buffer.changes then */
};
#define SEEN_SETS 256 /* a power of two */

struct barrier_arrays {
    uint32_t memory_capacity, buffer_capacity, image_capacity;
    VkMemoryBarrier2 *memory;
    VkBufferMemoryBarrier2 *buffers;
    VkImageMemoryBarrier2 *images;
};

/* All zero is valid. */
struct record_scratch {
    /* What the image barriers of the application's call are about. */
    uint32_t target_capacity;
    struct record_target *targets;

    /* What the contract asked for; see record_repair.h and record_barrier.c. */
    uint32_t transition_count, transition_capacity;
    struct transition *transitions;
    bool transitions_lost; /* no memory for one of them */
    uint32_t part_count, part_capacity;
    struct barrier_part *parts;
    bool parts_lost;

    /* What is being made up for the batch: the call, and the one that waits in front of it. */
    struct barrier_arrays made, kept;
    uint32_t image_count;

    /* Counts for all command buffers of the pool: none of them ever has a number again that another had. */
    uint64_t changes;
    struct seen_set seen[SEEN_SETS];

    /* A call that is being given down as vkCmdPipelineBarrier. */
    uint32_t memory1_capacity, buffer1_capacity, image1_capacity;
    VkMemoryBarrier *memory1;
    VkBufferMemoryBarrier *buffers1;
    VkImageMemoryBarrier *images1;
};

void record_scratch_finish(struct record_scratch *scratch);

#endif
