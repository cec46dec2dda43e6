#include <stdlib.h>
#include <string.h>

#include "map_loader.h"

#define MAX_SUBMITS 65536
#define UPLOADS_PER_FRAME 8 /* as engines limit them, so that frames stay short */

struct frame {
    VkCommandPool pool;
    VkCommandBuffer head, tail; /* head only begins the timing */
    VkFence fence;
    bool timed;
};

struct renderer {
    struct map *map;
    struct frame frames[FRAMES];
    VkQueryPool queries;
    VkImage target;
    VkDeviceMemory target_memory;
    VkBuffer result; /* the target's texels, then the meshes' samples */
    VkDeviceMemory result_memory;
    uint32_t *textures; /* indices of the loaded ones */
    uint32_t texture_count;
    bool target_ready;
    double *submit_us;
    uint32_t submits;
    double gpu_ms;
};

static void target_create(struct renderer *renderer)
{
    const struct map_device *gpu = &renderer->map->gpu;
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {TARGET, TARGET, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
    };
    check(vkCreateImage(gpu->device, &info, NULL, &renderer->target), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu->device, renderer->target, &needs);
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = map_memory_type(gpu, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
    };
    check(vkAllocateMemory(gpu->device, &allocation, NULL, &renderer->target_memory), "vkAllocateMemory");
    check(vkBindImageMemory(gpu->device, renderer->target, renderer->target_memory, 0), "vkBindImageMemory");
}

static void frame_create(struct renderer *renderer, struct frame *frame)
{
    VkDevice device = renderer->map->gpu.device;
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = renderer->map->gpu.graphics.family,
    };
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
        .flags = VK_FENCE_CREATE_SIGNALED_BIT,
    };
    check(vkCreateCommandPool(device, &pool, NULL, &frame->pool), "vkCreateCommandPool");
    check(vkCreateFence(device, &fence, NULL, &frame->fence), "vkCreateFence");
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = frame->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 2,
    };
    VkCommandBuffer both[2];
    check(vkAllocateCommandBuffers(device, &allocation, both), "vkAllocateCommandBuffers");
    frame->head = both[0];
    frame->tail = both[1];
}

static void renderer_init(struct renderer *renderer, struct map *map)
{
    memset(renderer, 0, sizeof(*renderer));
    renderer->map = map;
    target_create(renderer);
    renderer->result = map_buffer(
        &map->gpu, TARGET * TARGET * 4 + (VkDeviceSize)map->options.buffers * SAMPLE,
        VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, &renderer->result_memory);
    for (uint32_t i = 0; i < FRAMES; i++)
        frame_create(renderer, &renderer->frames[i]);
    if (map->gpu.timestamp_bits) {
        VkQueryPoolCreateInfo queries = {
            .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
            .queryType = VK_QUERY_TYPE_TIMESTAMP,
            .queryCount = 2 * FRAMES,
        };
        check(vkCreateQueryPool(map->gpu.device, &queries, NULL, &renderer->queries), "vkCreateQueryPool");
    }
    renderer->textures = calloc(map->options.textures, sizeof(uint32_t));
    renderer->submit_us = calloc(MAX_SUBMITS, sizeof(double));
    check(renderer->textures && renderer->submit_us ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "calloc");
}

static void renderer_finish(struct renderer *renderer)
{
    VkDevice device = renderer->map->gpu.device;
    for (uint32_t i = 0; i < FRAMES; i++) {
        vkDestroyCommandPool(device, renderer->frames[i].pool, NULL);
        vkDestroyFence(device, renderer->frames[i].fence, NULL);
    }
    vkDestroyQueryPool(device, renderer->queries, NULL);
    vkDestroyImage(device, renderer->target, NULL);
    vkFreeMemory(device, renderer->target_memory, NULL);
    vkDestroyBuffer(device, renderer->result, NULL);
    vkFreeMemory(device, renderer->result_memory, NULL);
    free(renderer->textures);
    free(renderer->submit_us);
}

/* Square `index` of the target, by blits: the texture's base level, shrunk. */
static void draw_texture(struct renderer *renderer, VkCommandBuffer commands, uint32_t index)
{
    const struct texture *texture = &renderer->map->textures[index];
    int32_t x = (int32_t)(index % GRID * CELL), y = (int32_t)(index / GRID % GRID * CELL);
    VkImageBlit region = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .srcOffsets = {{0, 0, 0}, {(int32_t)texture->side, (int32_t)texture->side, 1}},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .dstOffsets = {{x, y, 0}, {x + CELL, y + CELL, 1}},
    };
    vkCmdBlitImage(commands, texture->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, renderer->target,
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region, VK_FILTER_NEAREST);
}

static void read_meshes(struct renderer *renderer, VkCommandBuffer commands, const struct upload *upload)
{
    for (uint32_t i = upload->first; i < upload->first + upload->count; i++) {
        VkBufferCopy region = {.dstOffset = TARGET * TARGET * 4 + (VkDeviceSize)i * SAMPLE, .size = SAMPLE};
        vkCmdCopyBuffer(commands, renderer->map->meshes[i].buffer, renderer->result, 1, &region);
    }
}

/* The other half of the ownership transfers that the loaders have begun. */
static void acquire(struct renderer *renderer, VkCommandBuffer commands, const struct upload *upload)
{
    struct map *map = renderer->map;
    uint32_t from = map->gpu.transfer.family, to = map->gpu.graphics.family;
    if (map->options.mode != MODE_TRANSFER || from == to)
        return;
    for (uint32_t i = upload->first; i < upload->first + upload->count; i++) {
        if (upload->is_texture) {
            image_barrier(map, commands, map->textures[i].image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                          VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                          VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT, from, to);
            continue;
        }
        VkBufferMemoryBarrier barrier = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
            .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
            .srcQueueFamilyIndex = from,
            .dstQueueFamilyIndex = to,
            .buffer = map->meshes[i].buffer,
            .size = VK_WHOLE_SIZE,
        };
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                             NULL, 1, &barrier, 0, NULL);
    }
}

static void prepare_target(struct renderer *renderer, VkCommandBuffer commands)
{
    VkImageLayout from =
        renderer->target_ready ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_UNDEFINED;
    image_barrier(renderer->map, commands, renderer->target, from, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_QUEUE_FAMILY_IGNORED,
                  VK_QUEUE_FAMILY_IGNORED);
    if (renderer->target_ready)
        return;
    VkClearColorValue black = {.float32 = {0, 0, 0, 1}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, renderer->target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &black, 1, &range);
    image_barrier(renderer->map, commands, renderer->target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED);
    renderer->target_ready = true;
}

static void begin(VkCommandBuffer commands)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

/* The new ones, and some of those that are there already, again. */
static void draw(struct renderer *renderer, VkCommandBuffer commands, const struct upload *uploads)
{
    uint32_t old = renderer->texture_count;
    for (const struct upload *upload = uploads; upload; upload = upload->next)
        acquire(renderer, commands, upload);
    prepare_target(renderer, commands);
    for (const struct upload *upload = uploads; upload; upload = upload->next) {
        if (!upload->is_texture) {
            read_meshes(renderer, commands, upload);
            continue;
        }
        draw_texture(renderer, commands, upload->first);
        renderer->textures[renderer->texture_count++] = upload->first;
    }
    if (!old)
        return;
    image_barrier(renderer->map, commands, renderer->target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED);
    for (uint32_t i = 0; i < RECENT && i < old; i++)
        draw_texture(renderer, commands, renderer->textures[old - 1 - i]);
}

static void record(struct renderer *renderer, struct frame *frame, uint32_t query,
                   const struct upload *uploads)
{
    struct map *map = renderer->map;
    begin(frame->head);
    if (renderer->queries) {
        vkCmdResetQueryPool(frame->head, renderer->queries, query, 2);
        vkCmdWriteTimestamp(frame->head, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, renderer->queries, query);
    }
    check(vkEndCommandBuffer(frame->head), "vkEndCommandBuffer");
    begin(frame->tail);
    if (map->options.mode == MODE_SECONDARY)
        for (const struct upload *upload = uploads; upload; upload = upload->next)
            vkCmdExecuteCommands(frame->tail, 1, &upload->commands);
    draw(renderer, frame->tail, uploads);
    if (renderer->queries)
        vkCmdWriteTimestamp(frame->tail, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, renderer->queries, query + 1);
    check(vkEndCommandBuffer(frame->tail), "vkEndCommandBuffer");
}

static void submit(struct renderer *renderer, struct frame *frame, const struct upload *uploads)
{
    struct map *map = renderer->map;
    uint32_t count = 0;
    for (const struct upload *upload = uploads; upload; upload = upload->next)
        count++;
    VkCommandBuffer *commands = calloc(count + 2, sizeof(*commands));
    VkSemaphore *waits = calloc(count + 1, sizeof(*waits));
    VkPipelineStageFlags *stages = calloc(count + 1, sizeof(*stages));
    check(commands && waits && stages ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "calloc");
    uint32_t wait_count = 0, command_count = 0;
    commands[command_count++] = frame->head;
    for (const struct upload *upload = uploads; upload; upload = upload->next) {
        if (map->options.mode == MODE_DIRECT)
            commands[command_count++] = upload->commands;
        if (map->options.mode == MODE_TRANSFER) {
            stages[wait_count] = VK_PIPELINE_STAGE_TRANSFER_BIT;
            waits[wait_count++] = upload->done;
        }
    }
    commands[command_count++] = frame->tail;
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = command_count,
        .pCommandBuffers = commands,
    };
    pthread_mutex_lock(&map->gpu.submit);
    double start = now_ms();
    check(vkQueueSubmit(map->gpu.graphics.queue, 1, &info, frame->fence), "vkQueueSubmit");
    double end = now_ms();
    pthread_mutex_unlock(&map->gpu.submit);
    if (renderer->submits < MAX_SUBMITS)
        renderer->submit_us[renderer->submits++] = (end - start) * 1e3;
    frame->timed = true;
    free(commands);
    free(waits);
    free(stages);
}

/* Waits until the frame's last work is over, and takes its time. */
static void frame_wait(struct renderer *renderer, struct frame *frame, uint32_t query)
{
    const struct map_device *gpu = &renderer->map->gpu;
    check(vkWaitForFences(gpu->device, 1, &frame->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    if (!frame->timed || !renderer->queries)
        return;
    uint64_t times[2];
    check(vkGetQueryPoolResults(gpu->device, renderer->queries, query, 2, sizeof(times), times,
                                sizeof(times[0]), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    renderer->gpu_ms += (double)(times[1] - times[0]) * (double)gpu->properties.limits.timestampPeriod / 1e6;
    frame->timed = false;
}

static void frame_run(struct renderer *renderer, uint32_t slot, struct upload *uploads)
{
    struct frame *frame = &renderer->frames[slot];
    VkDevice device = renderer->map->gpu.device;
    frame_wait(renderer, frame, 2 * slot);
    check(vkResetFences(device, 1, &frame->fence), "vkResetFences");
    check(vkResetCommandPool(device, frame->pool, 0), "vkResetCommandPool");
    record(renderer, frame, 2 * slot, uploads);
    submit(renderer, frame, uploads);
}

/* The next few of what is ready, waiting for something; NULL when all loaders are done and nothing is left.
 */
static struct upload *take_ready(struct map *map)
{
    pthread_mutex_lock(&map->lock);
    while (!map->ready && map->running)
        pthread_cond_wait(&map->filled, &map->lock);
    struct upload *first = map->ready;
    struct upload **end = &map->ready;
    for (uint32_t i = 0; i < UPLOADS_PER_FRAME && *end; i++)
        end = &(*end)->next;
    map->ready = *end;
    *end = NULL;
    if (!map->ready)
        map->ready_end = &map->ready;
    pthread_mutex_unlock(&map->lock);
    return first;
}

static uint64_t hash_bytes(const uint8_t *data, uint64_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash;
}

static uint64_t read_back(struct renderer *renderer)
{
    struct map *map = renderer->map;
    VkDevice device = map->gpu.device;
    VkCommandBuffer commands = renderer->frames[0].tail;
    check(vkDeviceWaitIdle(device), "vkDeviceWaitIdle");
    check(vkResetCommandPool(device, renderer->frames[0].pool, 0), "vkResetCommandPool");
    begin(commands);
    image_barrier(map, commands, renderer->target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT,
                  VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED);
    VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {TARGET, TARGET, 1},
    };
    vkCmdCopyImageToBuffer(commands, renderer->target, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, renderer->result,
                           1, &region);
    VkMemoryBarrier host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &host, 0,
                         NULL, 0, NULL);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    check(vkQueueSubmit(map->gpu.graphics.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(map->gpu.graphics.queue), "vkQueueWaitIdle");
    void *data;
    check(vkMapMemory(device, renderer->result_memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    return hash_bytes(data, TARGET * TARGET * 4 + (uint64_t)map->options.buffers * SAMPLE);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void frames_run(struct map *map, double start_ms, struct frame_figures *out)
{
    struct renderer renderer;
    struct upload *all = NULL, *ready;
    memset(out, 0, sizeof(*out));
    renderer_init(&renderer, map);
    while ((ready = take_ready(map))) {
        frame_run(&renderer, out->frames % FRAMES, ready);
        if (!out->frames++)
            out->first_frame_ms = now_ms() - start_ms;
        struct upload *last = ready;
        while (last->next)
            last = last->next;
        last->next = all;
        all = ready;
    }
    for (uint32_t i = 0; i < FRAMES; i++)
        frame_wait(&renderer, &renderer.frames[i], 2 * i);
    out->hash = read_back(&renderer);
    out->gpu_ms = renderer.gpu_ms;
    if (renderer.submits) {
        qsort(renderer.submit_us, renderer.submits, sizeof(double), compare);
        out->submit_p50_us = renderer.submit_us[renderer.submits / 2];
        out->submit_p99_us = renderer.submit_us[renderer.submits * 99 / 100];
    }
    while (all) {
        struct upload *next = all->next;
        vkDestroySemaphore(map->gpu.device, all->done, NULL);
        free(all);
        all = next;
    }
    renderer_finish(&renderer);
}
