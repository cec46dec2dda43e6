/* Pending barriers, from where they are joined to where they go down. */
#include "sync/grow.h"
#include "sync/record.h"
#include "sync/record_call.h"

/* Room for what would be given down as vkCmdPipelineBarrier: then there may be no memory left. */
static bool reserve(struct command_buffer *buffer, const struct barrier_call *call)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    const struct barrier_batch *batch = &buffer->batch;
    if (buffer->sync->sync2)
        return true;
    /* A fold that ends where it began makes a memory barrier of an image barrier. */
    return grow(&scratch->memory1, &scratch->memory1_capacity,
                batch->memory_count + call->memory_count + call->image_count + 2, sizeof(VkMemoryBarrier)) &&
           grow(&scratch->buffers1, &scratch->buffer1_capacity, batch->buffer_count + call->buffer_count,
                sizeof(VkBufferMemoryBarrier)) &&
           grow(&scratch->images1, &scratch->image1_capacity, batch->image_count + call->image_count,
                sizeof(VkImageMemoryBarrier));
}

static void give_down1(struct command_buffer *buffer)
{
    const struct barrier_batch *batch = &buffer->batch;
    struct record_scratch *scratch = &buffer->pool->scratch;
    for (uint32_t i = 0; i < batch->memory_count; i++)
        scratch->memory1[i] = (VkMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
            .srcAccessMask = scope_access1(batch->memory[i].srcAccessMask),
            .dstAccessMask = scope_access1(batch->memory[i].dstAccessMask),
        };
    for (uint32_t i = 0; i < batch->buffer_count; i++) {
        const VkBufferMemoryBarrier2 *from = &batch->buffers[i];
        scratch->buffers1[i] = (VkBufferMemoryBarrier){
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
    for (uint32_t i = 0; i < batch->image_count; i++) {
        const VkImageMemoryBarrier2 *from = &batch->images[i];
        scratch->images1[i] = (VkImageMemoryBarrier){
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
    buffer->sync->device->next.CmdPipelineBarrier(
        buffer->handle, batch->source1, batch->destination1, batch->flags, batch->memory_count,
        scratch->memory1, batch->buffer_count, scratch->buffers1, batch->image_count, scratch->images1);
}

static void give_down2(struct command_buffer *buffer)
{
    const struct barrier_batch *batch = &buffer->batch;
    VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .dependencyFlags = batch->flags,
        .memoryBarrierCount = batch->memory_count,
        .pMemoryBarriers = batch->memory,
        .bufferMemoryBarrierCount = batch->buffer_count,
        .pBufferMemoryBarriers = batch->buffers,
        .imageMemoryBarrierCount = batch->image_count,
        .pImageMemoryBarriers = batch->images,
    };
    buffer->sync->CmdPipelineBarrier2(buffer->handle, &info);
}

/* --- One call of the application, as it came --- */

static const struct {
    size_t memory, buffer, image;
} sizes[] = {
    [BARRIER_SYNC1] = {sizeof(VkMemoryBarrier), sizeof(VkBufferMemoryBarrier), sizeof(VkImageMemoryBarrier)},
    [BARRIER_SYNC2] = {sizeof(VkMemoryBarrier2), sizeof(VkBufferMemoryBarrier2),
                       sizeof(VkImageMemoryBarrier2)},
};

static const void *put(char *to, const void *from, size_t size)
{
    return size ? memcpy(to, from, size) : NULL;
}

/* Nothing is pending. */
static bool keep(struct command_buffer *buffer, const struct record_call *call)
{
    size_t memory = call->memory_count * sizes[call->origin].memory;
    size_t buffers = call->buffer_count * sizes[call->origin].buffer;
    size_t images = call->image_count * sizes[call->origin].image;
    if (memory + buffers + images > UINT32_MAX ||
        !grow(&buffer->kept_arrays, &buffer->kept_capacity, (uint32_t)(memory + buffers + images), 1))
        return false;
    buffer->kept = *call;
    buffer->kept.memory = put(buffer->kept_arrays, call->memory, memory);
    buffer->kept.buffers = put(buffer->kept_arrays + memory, call->buffers, buffers);
    buffer->kept.images = put(buffer->kept_arrays + memory + buffers, call->images, images);
    buffer->pending = PENDING_CALL;
    return true;
}

void record_call_give_down(struct command_buffer *buffer, const struct record_call *call)
{
    if (call->origin == BARRIER_SYNC1) {
        buffer->sync->device->next.CmdPipelineBarrier(
            buffer->handle, call->source1, call->destination1, call->flags, call->memory_count, call->memory,
            call->buffer_count, call->buffers, call->image_count, call->images);
        return;
    }
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
    call->next(buffer->handle, &info);
}

void record_flush_pending(struct command_buffer *buffer)
{
    uint32_t images;
    if (buffer->pending == PENDING_CALL) {
        images = buffer->kept.image_count;
        record_call_give_down(buffer, &buffer->kept);
    } else {
        images = buffer->batch.image_count;
        if (buffer->sync->sync2)
            give_down2(buffer);
        else
            give_down1(buffer);
    }
    buffer->counters.calls_out++;
    buffer->counters.images_out += images;
    barrier_batch_clear(&buffer->batch);
    buffer->pending = PENDING_NONE;
}

/* --- Joining --- */

static enum barrier_joined add(struct command_buffer *buffer, const struct barrier_call *call)
{
    const struct device_sync *sync = buffer->sync;
    struct barrier_rules rules = {sync->sync2, sync->app_sync2, buffer->queue_flags};
    /* Repairs are joined even where the application's calls are not to be. */
    bool may_join = sync->merge || (call->origin == BARRIER_LAYER && buffer->batch.origin == BARRIER_LAYER);
    return reserve(buffer, call) ? barrier_batch_add(&buffer->batch, call, &rules, may_join)
                                 : BARRIER_NO_MEMORY;
}

/* False on out of memory. Should nothing join it, it goes down as it came all the same. */
static bool put_kept_into_batch(struct command_buffer *buffer)
{
    struct barrier_call call;
    barrier_batch_clear(&buffer->batch);
    return record_call_convert(buffer, &buffer->kept, &buffer->pool->scratch.kept, &call) &&
           add(buffer, &call) == BARRIER_JOINED;
}

static enum barrier_joined join(struct command_buffer *buffer, const struct barrier_call *call)
{
    if (buffer->pending == PENDING_CALL && !put_kept_into_batch(buffer))
        return BARRIER_NO_MEMORY;
    enum barrier_joined joined = add(buffer, call);
    if (joined == BARRIER_JOINED)
        buffer->pending = PENDING_BATCH;
    return joined;
}

bool record_join(struct command_buffer *buffer, const struct barrier_call *call)
{
    enum barrier_joined joined = join(buffer, call);
    if (joined == BARRIER_APART) {
        record_flush_pending(buffer);
        joined = join(buffer, call);
    }
    if (joined == BARRIER_JOINED)
        return true;
    if (buffer->pending)
        record_flush_pending(buffer);
    return false;
}

bool record_call_pend(struct command_buffer *buffer, const struct record_call *call)
{
    struct barrier_call converted;
    if (buffer->pending) {
        if (record_call_convert(buffer, call, &buffer->pool->scratch.made, &converted) &&
            join(buffer, &converted) == BARRIER_JOINED)
            return true;
        record_flush_pending(buffer);
    }
    return keep(buffer, call);
}
