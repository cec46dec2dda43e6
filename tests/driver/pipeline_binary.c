/* VK_KHR_pipeline_binary: one binary per pipeline, the same bytes that a cache would hold. */
#include <string.h>

#include "cache.h"
#include "pipelines.h"

#ifdef VK_KHR_pipeline_binary

/* Begins as a pipeline does, so that both have a key. */
struct binary {
    struct pipeline pipeline;
};

static VkResult binary_create(VkDevice device, uint64_t key, VkPipelineBinaryKHR *out)
{
    struct binary *binary =
        object_create(object_list_of(device), VK_OBJECT_TYPE_PIPELINE_BINARY_KHR, sizeof(*binary));

    if (!binary)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    binary->pipeline.key = key;
    *out = HANDLE(VkPipelineBinaryKHR, binary);
    return VK_SUCCESS;
}

static void key_write(uint64_t key, VkPipelineBinaryKeyKHR *out)
{
    structure_clear(out, sizeof(*out));
    out->keySize = sizeof(key);
    memcpy(out->key, &key, sizeof(key));
}

static uint64_t key_read(const VkPipelineBinaryKeyKHR *key)
{
    uint64_t number;

    memcpy(&number, key->key, sizeof(number));
    return number;
}

static VkResult create_from_data(VkDevice device, const VkPipelineBinaryKeysAndDataKHR *data,
                                 VkPipelineBinaryHandlesInfoKHR *out)
{
    VkResult result = VK_SUCCESS;

    if (!out->pPipelineBinaries) {
        out->pipelineBinaryCount = data->binaryCount;
        return VK_SUCCESS;
    }
    for (uint32_t i = 0; i < data->binaryCount; i++) {
        VkResult one =
            binary_create(device, key_read(&data->pPipelineBinaryKeys[i]), &out->pPipelineBinaries[i]);

        if (one != VK_SUCCESS) {
            out->pPipelineBinaries[i] = VK_NULL_HANDLE;
            result = one;
        }
    }
    return result;
}

VkResult driver_vkCreatePipelineBinariesKHR(VkDevice device, const VkPipelineBinaryCreateInfoKHR *info,
                                            const VkAllocationCallbacks *allocator,
                                            VkPipelineBinaryHandlesInfoKHR *out)
{
    if (info->pKeysAndDataInfo)
        return create_from_data(device, info->pKeysAndDataInfo, out);
    /* There is no cache of the driver's own to take one from. */
    if (!info->pipeline)
        return VK_PIPELINE_BINARY_MISSING_KHR;
    if (!out->pPipelineBinaries) {
        out->pipelineBinaryCount = 1;
        return VK_SUCCESS;
    }
    return binary_create(device, OBJECT(pipeline, info->pipeline)->key, &out->pPipelineBinaries[0]);
}

static uint64_t key_of_create_info(const VkBaseInStructure *info)
{
    switch (info->sType) {
    case VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO:
        return pipeline_key(PIPELINE_GRAPHICS, info);
    case VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO:
        return pipeline_key(PIPELINE_COMPUTE, info);
    default:
        return pipeline_key(PIPELINE_RAY_TRACING_KHR, info);
    }
}

VkResult driver_vkGetPipelineKeyKHR(VkDevice device, const VkPipelineCreateInfoKHR *info,
                                    VkPipelineBinaryKeyKHR *out)
{
    /* Without a pipeline: the global key, which says whether binaries of another run still fit. */
    key_write(info ? key_of_create_info(info->pNext)
                   : fault_hash(OBJECT(device, device)->physical->cache_uuid, VK_UUID_SIZE),
              out);
    return VK_SUCCESS;
}

VkResult driver_vkGetPipelineBinaryDataKHR(VkDevice device, const VkPipelineBinaryDataInfoKHR *info,
                                           VkPipelineBinaryKeyKHR *key, size_t *size, void *out)
{
    const struct binary *binary = OBJECT(binary, info->pipelineBinary);
    uint32_t needed = cache_binary_size(OBJECT(device, device)->physical, binary->pipeline.key);
    VkResult result = VK_SUCCESS;

    key_write(binary->pipeline.key, key);
    if (out && *size < needed)
        result = VK_ERROR_NOT_ENOUGH_SPACE_KHR;
    else if (out)
        cache_binary_fill(binary->pipeline.key, out, needed);
    *size = needed;
    return result;
}

#endif
