/* What ray tracing needs beside its pipelines: acceleration structures live in their buffers, group handles
 * are numbers. */
#include <string.h>

#include "driver.h"
#include "memory.h"

VkResult driver_vkGetRayTracingShaderGroupHandlesKHR(VkDevice device, VkPipeline pipeline, uint32_t first,
                                                     uint32_t count, size_t size, void *out)
{
    memset(out, 0, size);
    for (uint32_t i = 0; i < count && (i + 1) * 32 <= size; i++)
        memcpy((char *)out + i * 32, &(uint32_t){first + i}, sizeof(uint32_t));
    return VK_SUCCESS;
}

VkResult driver_vkGetRayTracingCaptureReplayShaderGroupHandlesKHR(VkDevice device, VkPipeline pipeline,
                                                                  uint32_t first, uint32_t count, size_t size,
                                                                  void *out)
{
    return driver_vkGetRayTracingShaderGroupHandlesKHR(device, pipeline, first, count, size, out);
}

VkDeviceSize driver_vkGetRayTracingShaderGroupStackSizeKHR(VkDevice device, VkPipeline pipeline,
                                                           uint32_t group, VkShaderGroupShaderKHR shader)
{
    return 64;
}

void driver_vkGetAccelerationStructureBuildSizesKHR(VkDevice device, VkAccelerationStructureBuildTypeKHR type,
                                                    const VkAccelerationStructureBuildGeometryInfoKHR *info,
                                                    const uint32_t *counts,
                                                    VkAccelerationStructureBuildSizesInfoKHR *out)
{
    out->accelerationStructureSize = 4096;
    out->updateScratchSize = 4096;
    out->buildScratchSize = 4096;
}

struct acceleration_structure {
    struct object base;
    VkDeviceAddress address;
};

VkResult driver_vkCreateAccelerationStructureKHR(VkDevice device,
                                                 const VkAccelerationStructureCreateInfoKHR *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkAccelerationStructureKHR *out)
{
    VkBufferDeviceAddressInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                        .buffer = info->buffer};
    struct acceleration_structure *structure =
        object_create(object_list_of(device), VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR, sizeof(*structure));

    if (!structure)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    structure->address = driver_vkGetBufferDeviceAddress(device, &buffer) + info->offset;
    *out = HANDLE(VkAccelerationStructureKHR, structure);
    return VK_SUCCESS;
}

VkDeviceAddress
driver_vkGetAccelerationStructureDeviceAddressKHR(VkDevice device,
                                                  const VkAccelerationStructureDeviceAddressInfoKHR *info)
{
    return OBJECT(acceleration_structure, info->accelerationStructure)->address;
}

void driver_vkGetAccelerationStructureMemoryRequirementsNV(
    VkDevice device, const VkAccelerationStructureMemoryRequirementsInfoNV *info,
    VkMemoryRequirements2KHR *out)
{
    chain_clear(out->pNext);
    out->memoryRequirements = (VkMemoryRequirements){4096, 4096, 0x1f};
}
