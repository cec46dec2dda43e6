#include <stdlib.h>
#include <string.h>

#include "map_loader.h"

#define BUFFERS_PER_UPLOAD 8

void image_barrier(const struct map *map, VkCommandBuffer commands, VkImage image, VkImageLayout from,
                   VkImageLayout to, VkPipelineStageFlags source_stages, VkAccessFlags source,
                   VkPipelineStageFlags destination_stages, VkAccessFlags destination, uint32_t source_family,
                   uint32_t destination_family)
{
    if (!map->options.barriers)
        return;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = source,
        .dstAccessMask = destination,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = source_family,
        .dstQueueFamilyIndex = destination_family,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1},
    };
    vkCmdPipelineBarrier(commands, source_stages, destination_stages, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* The loaders' sizes differ, by number, around the mean that the options ask for. */
static uint32_t texture_side(const struct options *options, uint32_t index)
{
    uint64_t mean = options->texture_bytes / options->textures;
    uint32_t side = 16;
    while ((uint64_t)side * side * 4 * 4 / 3 < mean)
        side *= 2;
    static const uint8_t shift[5] = {0, 2, 2, 2, 3}; /* on average 0.24 of the largest */
    side >>= shift[index % 5];
    return side < CELL ? CELL : side;
}

static uint32_t mip_count(uint32_t side)
{
    uint32_t mips = 1;
    while (side >>= 1)
        mips++;
    return mips;
}

static uint32_t mesh_size(const struct options *options, uint32_t index)
{
    uint64_t mean = options->buffer_bytes / options->buffers;
    uint64_t size = mean / 2 + mean * (index % 16) / 15;
    return (uint32_t)(size < SAMPLE ? SAMPLE : size & ~(uint64_t)15);
}

/* Bytes of the staging buffer; filled with a pattern of its own for each resource. */
static uint64_t stage(struct loader *loader, uint64_t size, uint32_t seed)
{
    uint64_t offset = loader->staging_used;
    uint32_t *words = (uint32_t *)(void *)(loader->staging_data + offset);
    uint32_t value = seed * 2654435761u + 1;
    check(offset + size <= loader->staging_size ? VK_SUCCESS : VK_ERROR_OUT_OF_POOL_MEMORY, "staging memory");
    for (uint64_t i = 0; i < size / 4; i++) {
        value = value * 1664525u + 1013904223u;
        words[i] = value | 0xff000000u;
    }
    loader->staging_used = (offset + size + 255) & ~(uint64_t)255;
    return offset;
}

static void texture_create(struct map *map, struct texture *texture)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {texture->side, texture->side, 1},
        .mipLevels = texture->mips,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage =
            VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    check(vkCreateImage(map->gpu.device, &info, NULL, &texture->image), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(map->gpu.device, texture->image, &needs);
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex =
            map_memory_type(&map->gpu, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
    };
    check(vkAllocateMemory(map->gpu.device, &allocation, NULL, &texture->memory), "vkAllocateMemory");
    check(vkBindImageMemory(map->gpu.device, texture->image, texture->memory, 0), "vkBindImageMemory");
}

static void record_texture(struct loader *loader, VkCommandBuffer commands, uint32_t index)
{
    struct map *map = loader->map;
    struct texture *texture = &map->textures[index];
    VkBufferImageCopy regions[16];
    for (uint32_t mip = 0; mip < texture->mips; mip++) {
        uint32_t side = texture->side >> mip;
        regions[mip] = (VkBufferImageCopy){
            .bufferOffset = stage(loader, (uint64_t)side * side * 4, index * 16 + mip),
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, mip, 0, 1},
            .imageExtent = {side, side, 1},
        };
    }
    double begin = thread_cpu_ms();
    image_barrier(map, commands, texture->image, VK_IMAGE_LAYOUT_UNDEFINED,
                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_QUEUE_FAMILY_IGNORED,
                  VK_QUEUE_FAMILY_IGNORED);
    vkCmdCopyBufferToImage(commands, loader->staging, texture->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           texture->mips, regions);
    bool release = map->options.mode == MODE_TRANSFER && map->gpu.transfer.family != map->gpu.graphics.family;
    image_barrier(map, commands, texture->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT,
                  release ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT,
                  release ? 0 : VK_ACCESS_TRANSFER_READ_BIT,
                  release ? map->gpu.transfer.family : VK_QUEUE_FAMILY_IGNORED,
                  release ? map->gpu.graphics.family : VK_QUEUE_FAMILY_IGNORED);
    loader->map->record_ms[loader->index] += thread_cpu_ms() - begin;
}

static void record_mesh(struct loader *loader, VkCommandBuffer commands, uint32_t index)
{
    struct map *map = loader->map;
    struct mesh *mesh = &map->meshes[index];
    bool other = map->options.mode == MODE_TRANSFER && map->gpu.transfer.family != map->gpu.graphics.family;
    VkBufferCopy region = {.srcOffset = stage(loader, mesh->size, index), .size = mesh->size};
    VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = other ? 0 : VK_ACCESS_TRANSFER_READ_BIT,
        .srcQueueFamilyIndex = other ? map->gpu.transfer.family : VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = other ? map->gpu.graphics.family : VK_QUEUE_FAMILY_IGNORED,
        .buffer = mesh->buffer,
        .size = VK_WHOLE_SIZE,
    };
    double begin = thread_cpu_ms();
    vkCmdCopyBuffer(commands, loader->staging, mesh->buffer, 1, &region);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         other ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                         NULL, 1, &barrier, 0, NULL);
    map->record_ms[loader->index] += thread_cpu_ms() - begin;
}

static VkCommandBuffer commands_begin(struct loader *loader)
{
    struct map *map = loader->map;
    bool secondary = map->options.mode == MODE_SECONDARY;
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = loader->pool,
        .level = secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    check(vkAllocateCommandBuffers(map->gpu.device, &allocation, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferInheritanceInfo inheritance = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
        .pInheritanceInfo = secondary ? &inheritance : NULL,
    };
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

/* For itself (MODE_SUBMITTERS), or to the other queue (MODE_TRANSFER). */
static void submit_own(struct loader *loader, struct upload *upload)
{
    struct map *map = loader->map;
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &upload->commands,
    };
    if (map->options.mode == MODE_TRANSFER) {
        VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        check(vkCreateSemaphore(map->gpu.device, &semaphore, NULL, &upload->done), "vkCreateSemaphore");
        info.signalSemaphoreCount = 1;
        info.pSignalSemaphores = &upload->done;
    }
    pthread_mutex_lock(&map->gpu.submit);
    check(
        vkQueueSubmit(map->options.mode == MODE_TRANSFER ? map->gpu.transfer.queue : map->gpu.graphics.queue,
                      1, &info, VK_NULL_HANDLE),
        "vkQueueSubmit");
    pthread_mutex_unlock(&map->gpu.submit);
}

/* What to load next: a texture and a few buffers in turn; false when all is taken. */
static bool take(struct map *map, struct upload *upload)
{
    const struct options *options = &map->options;
    pthread_mutex_lock(&map->lock);
    bool textures_left = map->next_texture < options->textures;
    bool meshes_left = map->next_mesh < options->buffers;
    bool texture = textures_left && (!meshes_left || (uint64_t)map->next_texture * options->buffers <=
                                                         (uint64_t)map->next_mesh * options->textures);
    upload->is_texture = texture;
    upload->first = texture ? map->next_texture : map->next_mesh;
    upload->count = 1;
    if (texture) {
        map->next_texture++;
    } else if (meshes_left) {
        uint32_t left = options->buffers - map->next_mesh;
        upload->count = left < BUFFERS_PER_UPLOAD ? left : BUFFERS_PER_UPLOAD;
        map->next_mesh += upload->count;
    }
    pthread_mutex_unlock(&map->lock);
    return textures_left || meshes_left;
}

static void load(struct loader *loader, struct upload *upload)
{
    struct map *map = loader->map;
    for (uint32_t i = upload->first; i < upload->first + upload->count; i++) {
        if (upload->is_texture) {
            struct texture *texture = &map->textures[i];
            texture->side = texture_side(&map->options, i);
            texture->mips = mip_count(texture->side);
            texture_create(map, texture);
        } else {
            struct mesh *mesh = &map->meshes[i];
            mesh->size = mesh_size(&map->options, i);
            mesh->buffer = map_buffer(&map->gpu, mesh->size,
                                      VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &mesh->memory);
        }
    }
    double begin = thread_cpu_ms();
    upload->commands = commands_begin(loader);
    map->record_ms[loader->index] += thread_cpu_ms() - begin;
    for (uint32_t i = upload->first; i < upload->first + upload->count; i++) {
        if (upload->is_texture)
            record_texture(loader, upload->commands, i);
        else
            record_mesh(loader, upload->commands, i);
    }
    begin = thread_cpu_ms();
    check(vkEndCommandBuffer(upload->commands), "vkEndCommandBuffer");
    map->record_ms[loader->index] += thread_cpu_ms() - begin;
    map->recorded[loader->index] += upload->count;
}

static void prepare(struct loader *loader)
{
    struct map *map = loader->map;
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex =
            map->options.mode == MODE_TRANSFER ? map->gpu.transfer.family : map->gpu.graphics.family,
    };
    check(vkCreateCommandPool(map->gpu.device, &pool, NULL, &loader->pool), "vkCreateCommandPool");
    /* Any loader may happen to take everything. */
    loader->staging_size = 2 * (map->options.texture_bytes + map->options.buffer_bytes) + (1u << 20);
    loader->staging = map_buffer(&map->gpu, loader->staging_size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                 &loader->staging_memory);
    void *data;
    check(vkMapMemory(map->gpu.device, loader->staging_memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    loader->staging_data = data;
}

void *loader_run(void *argument)
{
    struct loader *loader = argument;
    struct map *map = loader->map;
    struct upload next;
    prepare(loader);
    while (take(map, &next)) {
        struct upload *upload = malloc(sizeof(*upload));
        check(upload ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "malloc");
        *upload = next;
        upload->done = VK_NULL_HANDLE;
        load(loader, upload);
        if (map->options.mode == MODE_TRANSFER || map->options.mode == MODE_SUBMITTERS)
            submit_own(loader, upload);
        pthread_mutex_lock(&map->lock);
        upload->next = NULL;
        *map->ready_end = upload;
        map->ready_end = &upload->next;
        pthread_cond_signal(&map->filled);
        pthread_mutex_unlock(&map->lock);
    }
    pthread_mutex_lock(&map->lock);
    map->running--;
    pthread_cond_signal(&map->filled);
    pthread_mutex_unlock(&map->lock);
    return NULL;
}

void loader_finish(struct loader *loader)
{
    VkDevice device = loader->map->gpu.device;
    vkDestroyCommandPool(device, loader->pool, NULL);
    vkDestroyBuffer(device, loader->staging, NULL);
    vkFreeMemory(device, loader->staging_memory, NULL);
}
