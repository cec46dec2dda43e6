#include "sync/record.h"

#include <string.h>

#include "device.h"
#include "sync/repair.h"

#define AT_ONCE                                                                                              \
    32 /* barriers of each kind that are given down in sync1's form without memory of the arena              \
        */

void record_use(struct command_buffer *buffer, enum sync_command command, struct image *image,
                const struct subresource_range *range, VkImageLayout layout, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access)
{
    struct contract_image *part = command_buffer_image(buffer, image);
    struct repairs repairs;
    if (!part)
        return;
    struct use use = {
        .layout = layout,
        .command = (uint16_t)command,
        .label = (uint16_t)buffer->label,
        .scope = {stages, access},
    };
    repairs_init(&repairs, buffer, part, command);
    struct transition_sink sink = repairs_sink(&repairs);
    contract_use(part, range, &use, &sink);
    repairs_place(&repairs);
}

void record_forget(struct command_buffer *buffer, struct image *image)
{
    struct contract_image *part = command_buffer_image(buffer, image);
    if (!part)
        return;
    struct subresource_range all = subresource_range_all(&part->map.shape);
    contract_forget(part, &all);
}

void record_use_layers(struct command_buffer *buffer, enum sync_command command, struct image *image,
                       const VkImageSubresourceLayers *layers, VkImageLayout layout,
                       VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct subresource_range range;
    if (!image)
        return;
    if (image_layers_range(image, layers, &range))
        record_use(buffer, command, image, &range, layout, stages, access);
    else
        record_forget(buffer, image);
}

void record_use_range(struct command_buffer *buffer, enum sync_command command, struct image *image,
                      const VkImageSubresourceRange *where, VkImageLayout layout,
                      VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct subresource_range range;
    if (!image)
        return;
    if (image_range(image, where, false, &range))
        record_use(buffer, command, image, &range, layout, stages, access);
    else
        record_forget(buffer, image);
}

/* --- Giving down --- */

static void emit2(struct command_buffer *buffer, const struct barrier_call *call)
{
    VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .dependencyFlags = call->flags,
        .memoryBarrierCount = call->memory_count,
        .pMemoryBarriers = call->memory,
        .bufferMemoryBarrierCount = call->buffer_count,
        .pBufferMemoryBarriers = call->buffers,
        .imageMemoryBarrierCount = call->image_count,
        .pImageMemoryBarriers = call->images,
    };
    buffer->sync->CmdPipelineBarrier2(buffer->handle, &info);
}

/* The same in sync1's form. */
struct barriers1 {
    VkMemoryBarrier *memory;
    VkBufferMemoryBarrier *buffers;
    VkImageMemoryBarrier *images;
};

static void convert(const struct barrier_call *call, struct barriers1 *out)
{
    for (uint32_t i = 0; i < call->memory_count; i++)
        out->memory[i] = (VkMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
            .srcAccessMask = scope_access1(call->memory[i].srcAccessMask),
            .dstAccessMask = scope_access1(call->memory[i].dstAccessMask),
        };
    for (uint32_t i = 0; i < call->buffer_count; i++) {
        const VkBufferMemoryBarrier2 *from = &call->buffers[i];
        out->buffers[i] = (VkBufferMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
            .srcAccessMask = scope_access1(from->srcAccessMask),
            .dstAccessMask = scope_access1(from->dstAccessMask),
            .srcQueueFamilyIndex = from->srcQueueFamilyIndex,
            .dstQueueFamilyIndex = from->dstQueueFamilyIndex,
            .buffer = from->buffer,
            .offset = from->offset,
            .size = from->size,
        };
    }
    for (uint32_t i = 0; i < call->image_count; i++) {
        const VkImageMemoryBarrier2 *from = &call->images[i];
        out->images[i] = (VkImageMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
            .srcAccessMask = scope_access1(from->srcAccessMask),
            .dstAccessMask = scope_access1(from->dstAccessMask),
            .oldLayout = from->oldLayout,
            .newLayout = from->newLayout,
            .srcQueueFamilyIndex = from->srcQueueFamilyIndex,
            .dstQueueFamilyIndex = from->dstQueueFamilyIndex,
            .image = from->image,
            .subresourceRange = from->subresourceRange,
        };
    }
}

static void call1(struct command_buffer *buffer, const struct barrier_call *call, struct barriers1 *out)
{
    convert(call, out);
    buffer->sync->device->next.CmdPipelineBarrier(
        buffer->handle, call->source1, call->destination1, call->flags, call->memory_count, out->memory,
        call->buffer_count, out->buffers, call->image_count, out->images);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Without memory for all at once: consecutive calls order more than one does. */
static void emit1_in_pieces(struct command_buffer *buffer, struct barrier_call call, struct barriers1 *few)
{
    while (call.memory_count || call.buffer_count || call.image_count) {
        struct barrier_call piece = call;
        piece.memory_count = smaller(call.memory_count, AT_ONCE);
        piece.buffer_count = smaller(call.buffer_count, AT_ONCE);
        piece.image_count = smaller(call.image_count, AT_ONCE);
        call1(buffer, &piece, few);
        call.memory += piece.memory_count;
        call.buffers += piece.buffer_count;
        call.images += piece.image_count;
        call.memory_count -= piece.memory_count;
        call.buffer_count -= piece.buffer_count;
        call.image_count -= piece.image_count;
    }
}

static void emit1(struct command_buffer *buffer, const struct barrier_call *call)
{
    VkMemoryBarrier memory[AT_ONCE];
    VkBufferMemoryBarrier buffers[AT_ONCE];
    VkImageMemoryBarrier images[AT_ONCE];
    struct barriers1 few = {memory, buffers, images}, out = few;
    if (call->memory_count > AT_ONCE)
        out.memory = arena_alloc(&buffer->arena, call->memory_count * sizeof(*memory));
    if (call->buffer_count > AT_ONCE)
        out.buffers = arena_alloc(&buffer->arena, call->buffer_count * sizeof(*buffers));
    if (call->image_count > AT_ONCE)
        out.images = arena_alloc(&buffer->arena, call->image_count * sizeof(*images));
    if (out.memory && out.buffers && out.images)
        call1(buffer, call, &out);
    else
        emit1_in_pieces(buffer, *call, &few);
}

static void emit(struct command_buffer *buffer, const struct barrier_call *call)
{
    buffer->counters.calls_out++;
    buffer->counters.images_out += call->image_count;
    if (call->origin == BARRIER_SYNC1 || !buffer->sync->sync2)
        emit1(buffer, call);
    else
        emit2(buffer, call);
}

void record_flush_pending(struct command_buffer *buffer)
{
    struct barrier_batch *batch = &buffer->batch;
    struct barrier_call call = {
        .origin = batch->changed ? BARRIER_LAYER : batch->origin,
        .flags = batch->flags,
        .source1 = batch->source1,
        .destination1 = batch->destination1,
        .memory_count = batch->memory_count,
        .buffer_count = batch->buffer_count,
        .image_count = batch->image_count,
        .memory = batch->memory,
        .buffers = batch->buffers,
        .images = batch->images,
    };
    emit(buffer, &call);
    barrier_batch_clear(batch);
}

/* Repairs join even where the application's calls are not to be. */
static bool may_join(const struct command_buffer *buffer, const struct barrier_call *call)
{
    return buffer->sync->merge || (call->origin == BARRIER_LAYER && buffer->batch.origin == BARRIER_LAYER);
}

void record_add(struct command_buffer *buffer, const struct barrier_call *call)
{
    struct device_sync *sync = buffer->sync;
    struct barrier_rules rules = {sync->sync2, sync->app_sync2, buffer->queue_flags};
    enum barrier_joined joined = barrier_batch_add(&buffer->batch, call, &rules, may_join(buffer, call));
    buffer->counters.calls_in++;
    buffer->counters.images_in += call->image_count;
    if (joined == BARRIER_APART) {
        record_flush_pending(buffer);
        joined = barrier_batch_add(&buffer->batch, call, &rules, false);
    }
    if (joined == BARRIER_NO_MEMORY) {
        record_flush(buffer);
        emit(buffer, call);
    }
}
