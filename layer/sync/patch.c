#include "sync/patch.h"

#include <stdlib.h>

#include "sync/grow.h"
#include "sync/queue.h"
#include "sync/scope.h"

#define CALLS_PER_FENCE 8

/* Command buffers that one fence proves done. */
struct generation {
    struct generation *next;
    VkFence fence;
    VkCommandBuffer *buffers;
    uint32_t count, capacity;
};

struct patch_pool {
    struct queue *queue;
    struct device *device;
    VkCommandPool handle;
    struct generation *pending; /* submitted, oldest first */
    struct generation *unused;
    struct generation
        *current; /* submitted calls since the last fence; then, from `recorded` on, this call */
    uint32_t recorded;
    uint32_t calls;
    VkCommandBuffer *free_buffers;
    uint32_t free_count, free_capacity;
    VkImageMemoryBarrier *barriers1; /* for vkCmdPipelineBarrier */
    uint32_t barriers1_capacity;
};

static void generations_destroy(const struct patch_pool *pool, struct generation *generation)
{
    while (generation) {
        struct generation *next = generation->next;
        pool->device->next.DestroyFence(pool->device->handle, generation->fence, NULL);
        free(generation->buffers);
        free(generation);
        generation = next;
    }
}

static struct generation *generation_create(struct patch_pool *pool)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct generation *generation = calloc(1, sizeof(*generation));
    if (generation &&
        pool->device->next.CreateFence(pool->device->handle, &info, NULL, &generation->fence) != VK_SUCCESS) {
        free(generation);
        generation = NULL;
    }
    return generation;
}

struct patch_pool *patch_pool_create(struct queue *queue)
{
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = queue->family,
    };
    struct patch_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->queue = queue;
    pool->device = queue->sync->device;
    if (pool->device->next.CreateCommandPool(pool->device->handle, &info, NULL, &pool->handle) !=
        VK_SUCCESS) {
        free(pool);
        return NULL;
    }
    return pool;
}

void patch_pool_destroy(struct patch_pool *pool)
{
    if (!pool)
        return;
    pool->device->next.DestroyCommandPool(pool->device->handle, pool->handle, NULL);
    generations_destroy(pool, pool->pending);
    generations_destroy(pool, pool->unused);
    generations_destroy(pool, pool->current);
    free(pool->free_buffers);
    free(pool->barriers1);
    free(pool);
}

/* The command buffers of the oldest generation are free again, if they are done. */
static void recycle(struct patch_pool *pool)
{
    struct generation *oldest = pool->pending;
    const struct device *device = pool->device;
    if (!oldest || device->next.GetFenceStatus(device->handle, oldest->fence) != VK_SUCCESS ||
        !grow(&pool->free_buffers, &pool->free_capacity, pool->free_count + oldest->count,
              sizeof(VkCommandBuffer)) ||
        device->next.ResetFences(device->handle, 1, &oldest->fence) != VK_SUCCESS)
        return;
    for (uint32_t i = 0; i < oldest->count; i++)
        pool->free_buffers[pool->free_count++] = oldest->buffers[i];
    oldest->count = 0;
    pool->pending = oldest->next;
    oldest->next = pool->unused;
    pool->unused = oldest;
}

static VkCommandBuffer allocate(struct patch_pool *pool)
{
    struct device *device = pool->device;
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool->handle,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    if (!device->set_loader_data)
        return VK_NULL_HANDLE;
    if (device->next.AllocateCommandBuffers(device->handle, &info, &buffer) != VK_SUCCESS)
        return VK_NULL_HANDLE;
    /* The loader gives its dispatch pointer only to what passes through it. One that didn't get it goes with
     * the pool. */
    if (device->set_loader_data(device->handle, buffer) != VK_SUCCESS)
        return VK_NULL_HANDLE;
    return buffer;
}

/* Makes room for one more in the current generation. */
static bool prepare_generation(struct patch_pool *pool)
{
    if (!pool->current) {
        pool->current = pool->unused ? pool->unused : generation_create(pool);
        if (!pool->current)
            return false;
        pool->unused = pool->current == pool->unused ? pool->unused->next : pool->unused;
        pool->current->next = NULL;
    }
    return grow(&pool->current->buffers, &pool->current->capacity, pool->current->count + 1,
                sizeof(VkCommandBuffer));
}

static void record2(const struct patch_pool *pool, VkCommandBuffer buffer, uint32_t count,
                    const VkImageMemoryBarrier2 *barriers)
{
    VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = count,
        .pImageMemoryBarriers = barriers,
    };
    pool->queue->sync->CmdPipelineBarrier2(buffer, &info);
}

static bool record1(struct patch_pool *pool, VkCommandBuffer buffer, uint32_t count,
                    const VkImageMemoryBarrier2 *barriers)
{
    VkPipelineStageFlags2 sources = 0, destinations = 0;
    if (!grow(&pool->barriers1, &pool->barriers1_capacity, count, sizeof(*pool->barriers1)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        sources |= barriers[i].srcStageMask;
        destinations |= barriers[i].dstStageMask;
        pool->barriers1[i] = (VkImageMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
            .srcAccessMask = scope_access1(barriers[i].srcAccessMask),
            .dstAccessMask = scope_access1(barriers[i].dstAccessMask),
            .oldLayout = barriers[i].oldLayout,
            .newLayout = barriers[i].newLayout,
            .srcQueueFamilyIndex = barriers[i].srcQueueFamilyIndex,
            .dstQueueFamilyIndex = barriers[i].dstQueueFamilyIndex,
            .image = barriers[i].image,
            .subresourceRange = barriers[i].subresourceRange,
        };
    }
    pool->device->next.CmdPipelineBarrier(buffer, scope_stages1(sources, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
                                          scope_stages1(destinations, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT),
                                          0, 0, NULL, 0, NULL, count, pool->barriers1);
    return true;
}

static bool record(struct patch_pool *pool, VkCommandBuffer buffer, uint32_t count,
                   const VkImageMemoryBarrier2 *barriers)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (pool->device->next.BeginCommandBuffer(buffer, &info) != VK_SUCCESS)
        return false;
    if (pool->queue->sync->sync2)
        record2(pool, buffer, count, barriers);
    else if (!record1(pool, buffer, count, barriers))
        return false;
    return pool->device->next.EndCommandBuffer(buffer) == VK_SUCCESS;
}

VkCommandBuffer patch_pool_record(struct patch_pool *pool, uint32_t count,
                                  const VkImageMemoryBarrier2 *barriers)
{
    if (!prepare_generation(pool))
        return VK_NULL_HANDLE;
    if (!pool->free_count)
        recycle(pool);
    if (!grow(&pool->free_buffers, &pool->free_capacity, pool->free_count + 1, sizeof(VkCommandBuffer)))
        return VK_NULL_HANDLE;
    VkCommandBuffer buffer = pool->free_count ? pool->free_buffers[--pool->free_count] : allocate(pool);
    if (!buffer)
        return VK_NULL_HANDLE;
    if (!record(pool, buffer, count, barriers)) {
        pool->free_buffers[pool->free_count++] = buffer;
        return VK_NULL_HANDLE;
    }
    pool->current->buffers[pool->current->count++] = buffer;
    pool->recorded++;
    return buffer;
}

/* What was recorded for a call that wasn't made. */
static void take_back(struct patch_pool *pool)
{
    struct generation *current = pool->current;
    for (; pool->recorded; pool->recorded--) {
        if (!grow(&pool->free_buffers, &pool->free_capacity, pool->free_count + 1, sizeof(VkCommandBuffer)))
            break; /* they are free with the others of their generation */
        pool->free_buffers[pool->free_count++] = current->buffers[--current->count];
    }
    pool->recorded = 0;
}

/* The fence stands behind everything that was submitted so far. */
static void close_generation(struct patch_pool *pool)
{
    struct generation *current = pool->current, **last = &pool->pending;
    if (pool->device->next.QueueSubmit(pool->queue->handle, 0, NULL, current->fence) != VK_SUCCESS)
        return;
    while (*last)
        last = &(*last)->next;
    *last = current;
    pool->current = NULL;
    pool->calls = 0;
}

void patch_pool_submitted(struct patch_pool *pool, VkResult result)
{
    if (!pool->recorded)
        return;
    if (result != VK_SUCCESS) {
        take_back(pool);
        return;
    }
    pool->recorded = 0;
    if (++pool->calls >= CALLS_PER_FENCE)
        close_generation(pool);
}
