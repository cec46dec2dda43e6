/* Patch command buffers: one vkCmdPipelineBarrier(2) each, placed before the command buffer that needs it. */
#ifndef RC_SYNC_PATCH_H
#define RC_SYNC_PATCH_H

#include <stdint.h>
#include <vulkan/vulkan.h>

struct queue;

/* Of one queue; used under the application's own synchronization of that queue. Recycled without waiting: an
 * own fence, submitted empty after every 8th patched call at most, tells when its command buffers are done.
 * Warm, nothing is allocated. */
struct patch_pool *patch_pool_create(struct queue *queue); /* NULL on out of memory */
/* NULL is safe. The queue is idle, since its device is being destroyed. */
void patch_pool_destroy(struct patch_pool *pool);

/* A command buffer with these barriers, ended and usable once, until the call that it is submitted with has
 * been followed by patch_pool_submitted(). VK_NULL_HANDLE if it can't be made. */
VkCommandBuffer patch_pool_record(struct patch_pool *pool, uint32_t count,
                                  const VkImageMemoryBarrier2 *barriers);

/* After the call down, or in its place if it isn't made: `result` of it. Where it failed, what was recorded
 * since the last call is free again. */
void patch_pool_submitted(struct patch_pool *pool, VkResult result);

#endif
