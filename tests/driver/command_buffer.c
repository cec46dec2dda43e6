#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"
#include "driver_records.h"

#define ARENA_BLOCK_SIZE 4096

void *arena_allocate(struct arena *arena, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    struct arena_block *block = arena->blocks;
    size_t units = (size + unit - 1) / unit;

    if (!block || block->size - block->used < units) {
        size_t capacity = units > ARENA_BLOCK_SIZE / unit ? units : ARENA_BLOCK_SIZE / unit;

        block = calloc(1, sizeof(*block) + capacity * unit);
        if (!block)
            return NULL;
        block->size = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    block->used += units;
    return &block->data[block->used - units];
}

static void arena_empty(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;

        arena->blocks = block->next;
        free(block);
    }
}

struct command_pool {
    struct object base;
    struct object_list buffers;
};

struct command_buffer *command_buffer_from_handle(VkCommandBuffer handle)
{
    return OBJECT(command_buffer, handle);
}

static void command_buffer_reset(struct command_buffer *buffer)
{
    arena_empty(&buffer->arena);
    buffer->count = 0;
    buffer->failed = false;
}

static void command_buffer_finish(struct object *object)
{
    struct command_buffer *buffer = (struct command_buffer *)object;

    arena_empty(&buffer->arena);
    free(buffer->commands);
}

void *command_append(struct command_buffer *buffer, enum command_id command, enum command_id called,
                     size_t arguments_size)
{
    void *arguments = arena_allocate(&buffer->arena, arguments_size);

    if (buffer->count == buffer->capacity) {
        uint32_t capacity = buffer->capacity ? 2 * buffer->capacity : 32;
        struct recorded_command *commands = realloc(buffer->commands, capacity * sizeof(*commands));

        if (!commands) {
            buffer->failed = true;
            return NULL;
        }
        buffer->commands = commands;
        buffer->capacity = capacity;
    }
    if (!arguments) {
        buffer->failed = true;
        return NULL;
    }
    buffer->commands[buffer->count++] = (struct recorded_command){command, called, arguments, NULL};
    return arguments;
}

static void command_pool_free_buffers(struct command_pool *pool)
{
    while (pool->buffers.first)
        object_destroy(pool->buffers.first, VK_OBJECT_TYPE_COMMAND_BUFFER);
}

static void command_pool_finish(struct object *object)
{
    struct command_pool *pool = (struct command_pool *)object;

    command_pool_free_buffers(pool);
    object_list_finish(&pool->buffers);
}

VkResult driver_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                    const VkAllocationCallbacks *allocator, VkCommandPool *out)
{
    struct command_pool *pool =
        object_create(object_list_of(device), VK_OBJECT_TYPE_COMMAND_POOL, sizeof(*pool));

    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    object_list_init(&pool->buffers);
    pool->base.finish = command_pool_finish;
    *out = HANDLE(VkCommandPool, pool);
    return VK_SUCCESS;
}

VkResult driver_vkResetCommandPool(VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags)
{
    for (struct object *object = OBJECT(command_pool, pool)->buffers.first; object; object = object->next)
        command_buffer_reset((struct command_buffer *)object);
    return VK_SUCCESS;
}

void driver_vkFreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                 const VkCommandBuffer *buffers)
{
    for (uint32_t i = 0; i < count; i++)
        object_destroy((struct object *)buffers[i], VK_OBJECT_TYPE_COMMAND_BUFFER);
}

VkResult driver_vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                         VkCommandBuffer *out)
{
    struct command_pool *pool = OBJECT(command_pool, info->commandPool);

    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        struct command_buffer *buffer =
            object_create(&pool->buffers, VK_OBJECT_TYPE_COMMAND_BUFFER, sizeof(*buffer));

        if (!buffer) {
            driver_vkFreeCommandBuffers(device, info->commandPool, i, out);
            memset(out, 0, info->commandBufferCount * sizeof(*out));
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        buffer->base.finish = command_buffer_finish;
        buffer->base.children = object_list_of(device);
        buffer->device = OBJECT(device, device);
        buffer->level = info->level;
        out[i] = HANDLE(VkCommandBuffer, buffer);
    }
    return VK_SUCCESS;
}

VkResult driver_vkBeginCommandBuffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info)
{
    command_buffer_reset(command_buffer_from_handle(buffer));
    return VK_SUCCESS;
}

VkResult driver_vkResetCommandBuffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags)
{
    command_buffer_reset(command_buffer_from_handle(buffer));
    return VK_SUCCESS;
}

VkResult driver_vkEndCommandBuffer(VkCommandBuffer buffer)
{
    return command_buffer_from_handle(buffer)->failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

uint32_t fault_command_count(VkCommandBuffer buffer)
{
    return command_buffer_from_handle(buffer)->count;
}

const char *fault_command_name(VkCommandBuffer handle, uint32_t index)
{
    const struct command_buffer *buffer = command_buffer_from_handle(handle);

    return index < buffer->count ? command_descriptions[buffer->commands[index].called].name : NULL;
}

const void *fault_command_arguments(VkCommandBuffer handle, uint32_t index)
{
    const struct command_buffer *buffer = command_buffer_from_handle(handle);

    return index < buffer->count ? buffer->commands[index].arguments : NULL;
}

bool fault_command_equal(VkCommandBuffer first, uint32_t index, VkCommandBuffer second, uint32_t other)
{
    const struct command_buffer *a = command_buffer_from_handle(first),
                                *b = command_buffer_from_handle(second);

    if (index >= a->count || other >= b->count || a->commands[index].called != b->commands[other].called)
        return false;
    return same_arguments(a->commands[index].command, a->commands[index].arguments,
                          b->commands[other].arguments);
}
