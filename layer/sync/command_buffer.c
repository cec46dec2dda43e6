#include "sync/command_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "sync/record.h"

struct command_buffer *command_buffer_find(struct device_sync *sync, VkCommandBuffer handle)
{
    return handle_map_find(&sync->command_buffers, DISPATCHABLE_KEY(handle));
}

/* Nothing recorded. What was allocated for recording stays. */
static void empty(struct command_buffer *buffer)
{
    for (struct contract_image *image = buffer->contract.first; image; image = image->next)
        image_release(image->image);
    arena_reset(&buffer->arena);
    buffer->contract = (struct contract){.arena = &buffer->arena};
    barrier_batch_clear(&buffer->batch);
    memset(&buffer->counters, 0, sizeof(buffer->counters));
    buffer->pass = PASS_NONE;
    buffer->suspending = false;
    buffer->failed = false;
    buffer->end_count = 0;
    buffer->ends = NULL;
    buffer->labels = NULL;
    buffer->label_parents = NULL;
    buffer->label_count = buffer->label_capacity = buffer->label = buffer->labels_lost = 0;
}

static void create(struct command_pool *pool, VkCommandBuffer handle, VkCommandBufferLevel level)
{
    struct command_buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return;
    buffer->handle = handle;
    buffer->sync = pool->sync;
    buffer->pool = pool;
    buffer->level = level;
    buffer->family = pool->family;
    buffer->queue_flags = pool->family < pool->sync->family_count ? pool->sync->families[pool->family] : 0;
    buffer->contract.arena = &buffer->arena;
    if (!handle_map_insert(&pool->sync->command_buffers, DISPATCHABLE_KEY(handle), buffer)) {
        free(buffer);
        return;
    }
    buffer->pool_next = pool->first;
    if (pool->first)
        pool->first->pool_previous = buffer;
    pool->first = buffer;
}

/* Its handle isn't in the map any more. */
static void destroy(struct command_buffer *buffer)
{
    if (buffer->pool_previous)
        buffer->pool_previous->pool_next = buffer->pool_next;
    else
        buffer->pool->first = buffer->pool_next;
    if (buffer->pool_next)
        buffer->pool_next->pool_previous = buffer->pool_previous;
    empty(buffer);
    arena_finish(&buffer->arena);
    barrier_batch_finish(&buffer->batch);
    free(buffer->name);
    free(buffer);
}

static void forget(struct command_buffer *buffer)
{
    handle_map_remove(&buffer->sync->command_buffers, DISPATCHABLE_KEY(buffer->handle));
    destroy(buffer);
}

struct contract_image *command_buffer_image(struct command_buffer *buffer, struct image *image)
{
    if (!image || !image_is_tracked(image) || buffer->failed)
        return NULL;
    struct contract_image *part = contract_find(&buffer->contract, image);
    if (part)
        return part;
    part = contract_add(&buffer->contract, image, &image->state.shape, image->aspects);
    if (part)
        image_acquire(image);
    else
        buffer->failed = true;
    return part;
}

static struct command_pool *find_pool(struct device_sync *sync, VkCommandPool handle)
{
    return handle_map_find(&sync->pools, HANDLE_KEY(handle));
}

VkResult hook_CreateCommandPool(struct device *device, PFN_vkCreateCommandPool next, VkDevice handle,
                                const VkCommandPoolCreateInfo *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkCommandPool *pCommandPool)
{
    VkResult result = next(handle, pCreateInfo, pAllocator, pCommandPool);
    if (result != VK_SUCCESS)
        return result;
    struct command_pool *pool = calloc(1, sizeof(*pool));
    if (pool) {
        pool->handle = *pCommandPool;
        pool->sync = device->sync;
        pool->family = pCreateInfo->queueFamilyIndex;
        pool->flags = pCreateInfo->flags;
    }
    /* Command buffers of a pool that isn't known are not known either; submitted, they make every image
     * unknown. */
    if (pool && !handle_map_insert(&device->sync->pools, HANDLE_KEY(*pCommandPool), pool))
        free(pool);
    return result;
}

/* With all that was allocated from it. */
static void pool_destroy(struct command_pool *pool)
{
    while (pool->first)
        forget(pool->first);
    free(pool);
}

void hook_DestroyCommandPool(struct device *device, PFN_vkDestroyCommandPool next, VkDevice handle,
                             VkCommandPool commandPool, const VkAllocationCallbacks *pAllocator)
{
    struct command_pool *pool =
        commandPool ? handle_map_remove(&device->sync->pools, HANDLE_KEY(commandPool)) : NULL;
    if (pool)
        pool_destroy(pool);
    next(handle, commandPool, pAllocator);
}

static void destroy_left(void *context, void *value)
{
    struct command_pool *pool = value;
    (void)context;
    /* The map of command buffers goes as a whole. */
    while (pool->first)
        destroy(pool->first);
    free(pool);
}

void command_buffers_destroy(struct device_sync *sync)
{
    handle_map_visit(&sync->pools, destroy_left, NULL);
}

VkResult hook_ResetCommandPool(struct device *device, PFN_vkResetCommandPool next, VkDevice handle,
                               VkCommandPool commandPool, VkCommandPoolResetFlags flags)
{
    struct command_pool *pool = find_pool(device->sync, commandPool);
    for (struct command_buffer *buffer = pool ? pool->first : NULL; buffer; buffer = buffer->pool_next)
        empty(buffer);
    return next(handle, commandPool, flags);
}

VkResult hook_AllocateCommandBuffers(struct device *device, PFN_vkAllocateCommandBuffers next,
                                     VkDevice handle, const VkCommandBufferAllocateInfo *pAllocateInfo,
                                     VkCommandBuffer *pCommandBuffers)
{
    VkResult result = next(handle, pAllocateInfo, pCommandBuffers);
    struct command_pool *pool = find_pool(device->sync, pAllocateInfo->commandPool);
    for (uint32_t i = 0; result == VK_SUCCESS && pool && i < pAllocateInfo->commandBufferCount; i++)
        create(pool, pCommandBuffers[i], pAllocateInfo->level);
    return result;
}

void hook_FreeCommandBuffers(struct device *device, PFN_vkFreeCommandBuffers next, VkDevice handle,
                             VkCommandPool commandPool, uint32_t commandBufferCount,
                             const VkCommandBuffer *pCommandBuffers)
{
    for (uint32_t i = 0; i < commandBufferCount; i++) {
        struct command_buffer *buffer =
            pCommandBuffers[i] ? command_buffer_find(device->sync, pCommandBuffers[i]) : NULL;
        if (buffer)
            forget(buffer);
    }
    next(handle, commandPool, commandBufferCount, pCommandBuffers);
}

VkResult hook_BeginCommandBuffer(struct command_buffer *buffer, PFN_vkBeginCommandBuffer next,
                                 VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo *pBeginInfo)
{
    empty(buffer);
    buffer->secondary_in_pass = buffer->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY &&
                                (pBeginInfo->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
    return next(commandBuffer, pBeginInfo);
}

static void add_counters(struct command_buffer *buffer)
{
    struct sync_counters *sum = &buffer->sync->counters;
    const struct barrier_batch_counters *own = &buffer->counters;
    if (!own->calls_in)
        return;
    atomic_fetch_add_explicit(&sum->calls_in, own->calls_in, memory_order_relaxed);
    atomic_fetch_add_explicit(&sum->calls_out, own->calls_out, memory_order_relaxed);
    atomic_fetch_add_explicit(&sum->images_in, own->images_in, memory_order_relaxed);
    atomic_fetch_add_explicit(&sum->images_out, own->images_out, memory_order_relaxed);
}

VkResult hook_EndCommandBuffer(struct command_buffer *buffer, PFN_vkEndCommandBuffer next,
                               VkCommandBuffer commandBuffer)
{
    record_flush(buffer);
    add_counters(buffer);
    VkResult result = next(commandBuffer);
    instance_deliver_messages(buffer->sync->device->instance);
    return result;
}

VkResult hook_ResetCommandBuffer(struct command_buffer *buffer, PFN_vkResetCommandBuffer next,
                                 VkCommandBuffer commandBuffer, VkCommandBufferResetFlags flags)
{
    empty(buffer);
    return next(commandBuffer, flags);
}
