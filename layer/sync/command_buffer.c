/* Pools, and command buffers from their allocation to the end of recording. */
#include "sync/command_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "hooks.h"
#include "sync/record.h"

static struct command_pool *pool_find(struct device_sync *sync, VkCommandPool handle)
{
    return handle ? handle_map_find(&sync->pools, HANDLE_KEY(handle)) : NULL;
}

struct contract_image *command_buffer_add_image(struct command_buffer *buffer, struct image *image)
{
    struct contract_image *part = contract_add(&buffer->contract, image, &image->state.shape, image->aspects);
    if (part)
        image_acquire(image);
    else
        buffer->failed = true;
    return part;
}

bool command_buffer_reserve_end(struct command_buffer *buffer)
{
    if (buffer->end_count < buffer->end_capacity)
        return true;
    uint32_t capacity = buffer->end_capacity ? 2 * buffer->end_capacity : 8;
    struct pass_end *ends = arena_alloc(&buffer->arena, capacity * sizeof(*ends));
    if (!ends)
        return false;
    for (uint32_t i = 0; i < buffer->end_count; i++)
        ends[i] = buffer->ends[i];
    buffer->ends = ends;
    buffer->end_capacity = capacity;
    return true;
}

/* --- Memory --- */

void command_buffer_reset(struct command_buffer *buffer)
{
    for (struct contract_image *part = buffer->contract.first; part; part = part->next)
        image_release(part->image);
    buffer->contract = (struct contract){.arena = &buffer->arena};
    barrier_batch_clear(&buffer->batch);
    buffer->pending = PENDING_NONE;
    buffer->counters = (struct barrier_batch_counters){0};
    buffer->passes = 0;
    buffer->secondary_in_pass = false;
    buffer->failed = false;
    buffer->pass = PASS_NONE;
    buffer->suspending = false;
    buffer->end_count = buffer->end_capacity = 0;
    buffer->ends = NULL;
    bindings_reset(&buffer->bindings);
    command_buffer_count_change(buffer);
    buffer->changed = NULL;
    buffer->use_count = 0;
    buffer->behind = NULL;
    buffer->hold.holds = buffer->hold.opaque = false;
    buffer->hold.wanted_count = 0;
    buffer->hold.pass = 0;
    body_clear(&buffer->hold.body);
    buffer->labels = NULL;
    buffer->label_parents = NULL;
    buffer->label_count = buffer->label_capacity = buffer->label = buffer->untold_labels = 0;
    arena_reset(&buffer->arena);
}

/* Memory of one that holds nothing. */
static void trim(struct command_buffer *buffer)
{
    arena_finish(&buffer->arena);
    body_finish(&buffer->hold.body);
    barrier_batch_finish(&buffer->batch);
    free(buffer->uses);
    buffer->uses = NULL;
    buffer->use_capacity = 0;
    free(buffer->kept_arrays);
    buffer->kept_arrays = NULL;
    buffer->kept_capacity = 0;
}

static void take_name(struct command_buffer *buffer)
{
    pthread_mutex_lock(&buffer->sync->lock);
    char *name = buffer->name;
    buffer->name = NULL;
    pthread_mutex_unlock(&buffer->sync->lock);
    free(name);
}

static void destroy(struct command_buffer *buffer)
{
    command_buffer_reset(buffer);
    trim(buffer);
    take_name(buffer);
    free(buffer);
}

static void destroy_unused(struct command_pool *pool)
{
    while (pool->unused) {
        struct command_buffer *buffer = pool->unused;
        pool->unused = buffer->pool_next;
        destroy(buffer);
    }
}

static void pool_destroy(struct command_pool *pool)
{
    while (pool->first) {
        struct command_buffer *buffer = pool->first;
        pool->first = buffer->pool_next;
        destroy(buffer);
    }
    destroy_unused(pool);
    record_scratch_finish(&pool->scratch);
    free(pool);
}

static void drop_pool(void *context, void *value)
{
    (void)context;
    pool_destroy(value);
}

void command_buffers_destroy(struct device_sync *sync)
{
    handle_map_visit(&sync->pools, drop_pool, NULL);
}

/* --- Pools --- */

VkResult hook_CreateCommandPool(struct device *self, PFN_vkCreateCommandPool next, VkDevice device,
                                const VkCommandPoolCreateInfo *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkCommandPool *pCommandPool)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pCommandPool);
    if (result != VK_SUCCESS || pCreateInfo->queueFamilyIndex >= sync->family_count)
        return result;
    struct command_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return result;
    pool->handle = *pCommandPool;
    pool->sync = sync;
    pool->family = pCreateInfo->queueFamilyIndex;
    pool->flags = pCreateInfo->flags;
    if (!handle_map_insert(&sync->pools, HANDLE_KEY(*pCommandPool), pool))
        free(pool);
    return result;
}

void hook_DestroyCommandPool(struct device *self, PFN_vkDestroyCommandPool next, VkDevice device,
                             VkCommandPool commandPool, const VkAllocationCallbacks *pAllocator)
{
    struct device_sync *sync = self->sync;
    struct command_pool *pool = commandPool ? handle_map_remove(&sync->pools, HANDLE_KEY(commandPool)) : NULL;
    if (pool) {
        for (struct command_buffer *buffer = pool->first; buffer; buffer = buffer->pool_next)
            handle_map_remove(&sync->command_buffers, DISPATCHABLE_KEY(buffer->handle));
        pool_destroy(pool);
    }
    next(device, commandPool, pAllocator);
}

VkResult hook_ResetCommandPool(struct device *self, PFN_vkResetCommandPool next, VkDevice device,
                               VkCommandPool commandPool, VkCommandPoolResetFlags flags)
{
    struct command_pool *pool = pool_find(self->sync, commandPool);
    VkResult result = next(device, commandPool, flags);
    for (struct command_buffer *buffer = pool ? pool->first : NULL; buffer; buffer = buffer->pool_next) {
        command_buffer_reset(buffer);
        if (flags & VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT)
            trim(buffer);
        /* What it holds then isn't said anywhere. */
        buffer->failed = result != VK_SUCCESS;
    }
    return result;
}

void hook_TrimCommandPool(struct device *self, PFN_vkTrimCommandPool next, VkDevice device,
                          VkCommandPool commandPool, VkCommandPoolTrimFlags flags)
{
    struct command_pool *pool = pool_find(self->sync, commandPool);
    if (pool)
        destroy_unused(pool);
    for (struct command_buffer *buffer = pool ? pool->first : NULL; buffer; buffer = buffer->pool_next)
        if (!buffer->arena.current && !buffer->pending && !buffer->hold.holds)
            trim(buffer);
    next(device, commandPool, flags);
}

/* --- Command buffers --- */

static struct command_buffer *take_unused(struct command_pool *pool)
{
    struct command_buffer *buffer = pool->unused;
    if (!buffer)
        return calloc(1, sizeof(*buffer));
    pool->unused = buffer->pool_next;
    return buffer;
}

static void put_unused(struct command_pool *pool, struct command_buffer *buffer)
{
    buffer->pool_next = pool->unused;
    pool->unused = buffer;
}

/* Without memory the handle stays unknown. */
static void add(struct command_pool *pool, VkCommandBuffer handle, VkCommandBufferLevel level)
{
    struct command_buffer *buffer = take_unused(pool);
    if (!buffer)
        return;
    buffer->handle = handle;
    buffer->sync = pool->sync;
    buffer->next = &pool->sync->device->next;
    buffer->pool = pool;
    buffer->level = level;
    buffer->family = pool->family;
    buffer->queue_flags = pool->sync->families[pool->family];
    command_buffer_reset(buffer);
    if (!handle_map_insert(&pool->sync->command_buffers, DISPATCHABLE_KEY(handle), buffer)) {
        put_unused(pool, buffer);
        return;
    }
    buffer->pool_previous = NULL;
    buffer->pool_next = pool->first;
    if (pool->first)
        pool->first->pool_previous = buffer;
    pool->first = buffer;
}

static void unlink_from_pool(struct command_buffer *buffer)
{
    if (buffer->pool_previous)
        buffer->pool_previous->pool_next = buffer->pool_next;
    else
        buffer->pool->first = buffer->pool_next;
    if (buffer->pool_next)
        buffer->pool_next->pool_previous = buffer->pool_previous;
}

VkResult hook_AllocateCommandBuffers(struct device *self, PFN_vkAllocateCommandBuffers next, VkDevice device,
                                     const VkCommandBufferAllocateInfo *pAllocateInfo,
                                     VkCommandBuffer *pCommandBuffers)
{
    VkResult result = next(device, pAllocateInfo, pCommandBuffers);
    struct command_pool *pool = pool_find(self->sync, pAllocateInfo->commandPool);
    if (result != VK_SUCCESS || !pool)
        return result;
    for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++)
        add(pool, pCommandBuffers[i], pAllocateInfo->level);
    return result;
}

void hook_FreeCommandBuffers(struct device *self, PFN_vkFreeCommandBuffers next, VkDevice device,
                             VkCommandPool commandPool, uint32_t commandBufferCount,
                             const VkCommandBuffer *pCommandBuffers)
{
    struct device_sync *sync = self->sync;
    for (uint32_t i = 0; i < commandBufferCount; i++) {
        if (!pCommandBuffers[i])
            continue;
        struct command_buffer *buffer =
            handle_map_remove(&sync->command_buffers, DISPATCHABLE_KEY(pCommandBuffers[i]));
        if (!buffer)
            continue;
        command_buffer_reset(buffer);
        take_name(buffer);
        unlink_from_pool(buffer);
        put_unused(buffer->pool, buffer);
    }
    next(device, commandPool, commandBufferCount, pCommandBuffers);
}

/* A secondary that is executed within a render pass instance. */
static void inherit(struct command_buffer *buffer, const VkCommandBufferBeginInfo *info)
{
    /* Spec, VkCommandBufferUsageFlagBits: ignored for primary command buffers, as pInheritanceInfo is. */
    if (buffer->level != VK_COMMAND_BUFFER_LEVEL_SECONDARY ||
        !(info->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT))
        return;
    buffer->secondary_in_pass = true;
    buffer->pass =
        chain_find(info->pInheritanceInfo->pNext, VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO)
            ? PASS_RENDERING
            : PASS_LEGACY;
}

VkResult hook_BeginCommandBuffer(struct command_buffer *self, PFN_vkBeginCommandBuffer next,
                                 VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo *pBeginInfo)
{
    VkResult result = next(commandBuffer, pBeginInfo);
    command_buffer_reset(self);
    self->failed = result != VK_SUCCESS;
    if (!self->failed)
        inherit(self, pBeginInfo);
    return result;
}

static void add_counters(struct command_buffer *buffer)
{
    const struct barrier_batch_counters *from = &buffer->counters;
    struct sync_counters *to = &buffer->sync->counters;
    if (from->calls_in | from->calls_out) {
        atomic_fetch_add_explicit(&to->calls_in, from->calls_in, memory_order_relaxed);
        atomic_fetch_add_explicit(&to->calls_out, from->calls_out, memory_order_relaxed);
        atomic_fetch_add_explicit(&to->images_in, from->images_in, memory_order_relaxed);
        atomic_fetch_add_explicit(&to->images_out, from->images_out, memory_order_relaxed);
    }
    buffer->counters = (struct barrier_batch_counters){0};
    if (buffer->passes)
        atomic_fetch_add_explicit(&to->passes, buffer->passes, memory_order_relaxed);
    buffer->passes = 0;
}

VkResult hook_EndCommandBuffer(struct command_buffer *self, PFN_vkEndCommandBuffer next,
                               VkCommandBuffer commandBuffer)
{
    record_flush(self);
    add_counters(self);
    VkResult result = next(commandBuffer);
    if (result != VK_SUCCESS)
        self->failed = true;
    instance_deliver_messages(self->sync->device->instance);
    return result;
}

VkResult hook_ResetCommandBuffer(struct command_buffer *self, PFN_vkResetCommandBuffer next,
                                 VkCommandBuffer commandBuffer, VkCommandBufferResetFlags flags)
{
    VkResult result = next(commandBuffer, flags);
    command_buffer_reset(self);
    if (flags & VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT)
        trim(self);
    self->failed = result != VK_SUCCESS;
    return result;
}
