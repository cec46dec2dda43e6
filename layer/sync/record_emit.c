/* Pending barriers, from where they are joined to where they go down. */
#include "sync/grow.h"
#include "sync/record.h"

/* Room for what would be given down as vkCmdPipelineBarrier: then there may be no memory left. */
static bool reserve(struct command_buffer *buffer, const struct barrier_call *call)
{
    struct record_scratch *scratch = &buffer->pool->scratch;
    const struct barrier_batch *batch = &buffer->batch;
    if (buffer->sync->sync2 && call->origin != BARRIER_SYNC1)
        return true;
    /* A fold that ends where it began makes a memory barrier of an image barrier. */
    return grow(&scratch->memory1, &scratch->memory1_capacity,
                batch->memory_count + call->memory_count + call->image_count + 2, sizeof(VkMemoryBarrier)) &&
           grow(&scratch->buffers1, &scratch->buffer1_capacity, batch->buffer_count + call->buffer_count,
                sizeof(VkBufferMemoryBarrier)) &&
           grow(&scratch->images1, &scratch->image1_capacity, batch->image_count + call->image_count,
                sizeof(VkImageMemoryBarrier));
}

bool record_join(struct command_buffer *buffer, const struct barrier_call *call)
{
    const struct device_sync *sync = buffer->sync;
    struct barrier_rules rules = {sync->sync2, sync->app_sync2, buffer->queue_flags};
    enum barrier_joined joined = BARRIER_NO_MEMORY;
    if (reserve(buffer, call))
        joined = barrier_batch_add(&buffer->batch, call, &rules, sync->merge);
    if (joined == BARRIER_APART) {
        record_flush_pending(buffer);
        joined = barrier_batch_add(&buffer->batch, call, &rules, sync->merge);
    }
    if (joined == BARRIER_JOINED)
        return true;
    record_flush(buffer);
    return false;
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

static void give_down2(struct command_buffer *buffer, PFN_vkCmdPipelineBarrier2 next)
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
    next(buffer->handle, &info);
}

/* The only call in the batch, where it is the application's: it goes down as it came. */
static void restore_ranges(struct command_buffer *buffer)
{
    struct barrier_batch *batch = &buffer->batch;
    for (uint32_t i = 0; i < batch->image_count; i++)
        batch->images[i].subresourceRange = buffer->ranges[i];
}

void record_flush_pending(struct command_buffer *buffer)
{
    const struct device_sync *sync = buffer->sync;
    struct barrier_batch *batch = &buffer->batch;
    bool own = batch->origin != BARRIER_LAYER;
    if (own)
        restore_ranges(buffer);
    if (!sync->sync2 || batch->origin == BARRIER_SYNC1)
        give_down1(buffer);
    else
        give_down2(buffer, own ? buffer->batch_next : sync->CmdPipelineBarrier2);
    buffer->counters.calls_out++;
    buffer->counters.images_out += batch->image_count;
    barrier_batch_clear(batch);
}
