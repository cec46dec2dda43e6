#include "dispatch.h"

#include <string.h>

#define WORDS 1024u
#define BYTES (WORDS * sizeof(uint32_t))

struct dispatch {
    const struct gpu *gpu;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet set;
    VkCommandPool command_pool;
};

static uint32_t find_memory_type(const struct gpu *gpu, uint32_t allowed)
{
    VkPhysicalDeviceMemoryProperties properties;
    gpu->GetPhysicalDeviceMemoryProperties(gpu->physical, &properties);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < properties.memoryTypeCount; i++) {
        if ((allowed & (1u << i)) && (properties.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    return 0; /* the spec promises one for buffers */
}

static VkResult create_buffer(struct dispatch *dispatch)
{
    const struct gpu *gpu = dispatch->gpu;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = BYTES,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    VkResult result = gpu->CreateBuffer(gpu->device, &info, NULL, &dispatch->buffer);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    gpu->GetBufferMemoryRequirements(gpu->device, dispatch->buffer, &needs);
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = find_memory_type(gpu, needs.memoryTypeBits),
    };
    result = gpu->AllocateMemory(gpu->device, &allocation, NULL, &dispatch->memory);
    if (result == VK_SUCCESS)
        result = gpu->BindBufferMemory(gpu->device, dispatch->buffer, dispatch->memory, 0);
    void *mapped = NULL;
    if (result == VK_SUCCESS)
        result = gpu->MapMemory(gpu->device, dispatch->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    dispatch->words = mapped;
    return result;
}

static VkResult create_set(struct dispatch *dispatch, const struct pipes *pipes)
{
    const struct gpu *gpu = dispatch->gpu;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result = gpu->CreateDescriptorPool(gpu->device, &info, NULL, &dispatch->descriptor_pool);
    if (result != VK_SUCCESS)
        return result;
    VkDescriptorSetAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = dispatch->descriptor_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &pipes->set_layout,
    };
    result = gpu->AllocateDescriptorSets(gpu->device, &allocation, &dispatch->set);
    if (result != VK_SUCCESS)
        return result;
    VkDescriptorBufferInfo buffer = {dispatch->buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = dispatch->set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &buffer,
    };
    gpu->UpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
    return VK_SUCCESS;
}

static void record(const struct dispatch *dispatch, const struct pipes *pipes, VkCommandBuffer commands,
                   VkPipeline pipeline)
{
    const struct gpu *gpu = dispatch->gpu;
    gpu->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    gpu->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipes->layout, 0, 1, &dispatch->set,
                               0, NULL);
    gpu->CmdDispatch(commands, WORDS / 64, 1, 1);
    VkMemoryBarrier to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    gpu->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                            &to_host, 0, NULL, 0, NULL);
}

static VkResult run(const struct dispatch *dispatch, const struct pipes *pipes, VkPipeline pipeline)
{
    const struct gpu *gpu = dispatch->gpu;
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = dispatch->command_pool,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands;
    VkResult result = gpu->AllocateCommandBuffers(gpu->device, &allocation, &commands);
    if (result != VK_SUCCESS)
        return result;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    result = gpu->BeginCommandBuffer(commands, &begin);
    if (result != VK_SUCCESS)
        return result;
    record(dispatch, pipes, commands, pipeline);
    result = gpu->EndCommandBuffer(commands);
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    if (result == VK_SUCCESS)
        result = gpu->QueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE);
    if (result == VK_SUCCESS)
        result = gpu->QueueWaitIdle(gpu->queue);
    return result;
}

/* FNV-1a */
static uint64_t add_to_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

VkResult dispatch_hash(const struct pipes *pipes, const VkPipeline *pipelines, uint32_t count, uint64_t *hash)
{
    const struct gpu *gpu = pipes->gpu;
    struct dispatch dispatch = {.gpu = gpu};
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = gpu->queue_family,
    };
    VkResult result = create_buffer(&dispatch);
    if (result == VK_SUCCESS)
        result = create_set(&dispatch, pipes);
    if (result == VK_SUCCESS)
        result = gpu->CreateCommandPool(gpu->device, &pool, NULL, &dispatch.command_pool);
    *hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) {
        memset(dispatch.words, 0, BYTES);
        result = run(&dispatch, pipes, pipelines[i]);
        *hash = add_to_hash(*hash, dispatch.words, BYTES);
    }
    gpu->DestroyCommandPool(gpu->device, dispatch.command_pool, NULL);
    gpu->DestroyDescriptorPool(gpu->device, dispatch.descriptor_pool, NULL);
    gpu->DestroyBuffer(gpu->device, dispatch.buffer, NULL);
    gpu->FreeMemory(gpu->device, dispatch.memory, NULL);
    return result;
}
