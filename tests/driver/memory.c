/* Device memory, lying in the process's own, and the buffers and images bound to it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"
#include "memory.h"

#define ALIGNMENT 4096

static void memory_finish(struct object *object)
{
    struct memory *memory = (struct memory *)object;

    if (memory->data)
        munmap(memory->data, memory->size);
}

VkResult driver_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkDeviceMemory *out)
{
    struct memory *memory;
    void *data;

    if (info->allocationSize > (SIZE_MAX >> 2))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    data = mmap(NULL, (size_t)info->allocationSize, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    memory = object_create(object_list_of(device), VK_OBJECT_TYPE_DEVICE_MEMORY, sizeof(*memory));
    if (!memory) {
        munmap(data, (size_t)info->allocationSize);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memory->base.finish = memory_finish;
    memory->data = data;
    memory->size = (size_t)info->allocationSize;
    *out = HANDLE(VkDeviceMemory, memory);
    return VK_SUCCESS;
}

void driver_vkFreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *allocator)
{
    object_destroy(OBJECT(object, memory), VK_OBJECT_TYPE_DEVICE_MEMORY);
}

VkResult driver_vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                            VkMemoryMapFlags flags, void **data)
{
    *data = (char *)OBJECT(memory, memory)->data + offset;
    return VK_SUCCESS;
}

#if defined(VK_VERSION_1_4)
VkResult driver_vkMapMemory2(VkDevice device, const VkMemoryMapInfo *info, void **data)
#elif defined(VK_KHR_map_memory2)
VkResult driver_vkMapMemory2KHR(VkDevice device, const VkMemoryMapInfoKHR *info, void **data)
#endif
#if defined(VK_KHR_map_memory2)
{
    return driver_vkMapMemory(device, info->memory, info->offset, info->size, info->flags, data);
}
#endif

uint64_t driver_vkGetDeviceMemoryOpaqueCaptureAddress(VkDevice device,
                                                      const VkDeviceMemoryOpaqueCaptureAddressInfo *info)
{
    return (uintptr_t)OBJECT(memory, info->memory)->data;
}

static VkDeviceSize round_up(VkDeviceSize size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint32_t memory_type_bits(VkDevice device, bool is_protected)
{
    const uint32_t plain = 0x1f;

    return is_protected && OBJECT(device, device)->physical->config->protected_memory ? 0x20 : plain;
}

VkResult driver_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkBuffer *out)
{
    struct buffer *buffer = object_create(object_list_of(device), VK_OBJECT_TYPE_BUFFER, sizeof(*buffer));

    if (!buffer)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    buffer->size = info->size;
    buffer->is_protected = info->flags & VK_BUFFER_CREATE_PROTECTED_BIT;
    *out = HANDLE(VkBuffer, buffer);
    return VK_SUCCESS;
}

static VkMemoryRequirements buffer_requirements(VkDevice device, VkDeviceSize size, bool is_protected)
{
    return (VkMemoryRequirements){round_up(size), ALIGNMENT, memory_type_bits(device, is_protected)};
}

void driver_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer handle, VkMemoryRequirements *out)
{
    const struct buffer *buffer = OBJECT(buffer, handle);

    *out = buffer_requirements(device, buffer->size, buffer->is_protected);
}

void driver_vkGetBufferMemoryRequirements2(VkDevice device, const VkBufferMemoryRequirementsInfo2 *info,
                                           VkMemoryRequirements2 *out)
{
    chain_clear(out->pNext);
    driver_vkGetBufferMemoryRequirements(device, info->buffer, &out->memoryRequirements);
}

void driver_vkGetDeviceBufferMemoryRequirements(VkDevice device, const VkDeviceBufferMemoryRequirements *info,
                                                VkMemoryRequirements2 *out)
{
    chain_clear(out->pNext);
    out->memoryRequirements = buffer_requirements(device, info->pCreateInfo->size,
                                                  info->pCreateInfo->flags & VK_BUFFER_CREATE_PROTECTED_BIT);
}

VkResult driver_vkBindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                   VkDeviceSize offset)
{
    OBJECT(buffer, buffer)->memory = OBJECT(memory, memory);
    OBJECT(buffer, buffer)->offset = offset;
    return VK_SUCCESS;
}

VkResult driver_vkBindBufferMemory2(VkDevice device, uint32_t count, const VkBindBufferMemoryInfo *infos)
{
    for (uint32_t i = 0; i < count; i++)
        driver_vkBindBufferMemory(device, infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
    return VK_SUCCESS;
}

VkDeviceAddress driver_vkGetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    const struct buffer *buffer = OBJECT(buffer, info->buffer);

    return buffer->memory ? (uintptr_t)buffer->memory->data + buffer->offset : 0;
}

uint64_t driver_vkGetBufferOpaqueCaptureAddress(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    return driver_vkGetBufferDeviceAddress(device, info);
}

/* As if linear; no one sees how texels of an optimal image lie. */
static VkDeviceSize image_size(const VkImageCreateInfo *info)
{
    const struct format_description format = format_describe(info->format);
    VkDeviceSize size = 0;

    for (uint32_t mip = 0; mip < info->mipLevels; mip++) {
        VkDeviceSize width = info->extent.width >> mip ? info->extent.width >> mip : 1;
        VkDeviceSize height = info->extent.height >> mip ? info->extent.height >> mip : 1;
        VkDeviceSize depth = info->extent.depth >> mip ? info->extent.depth >> mip : 1;

        width = (width + format.block_width - 1) / format.block_width;
        height = (height + format.block_height - 1) / format.block_height;
        size += width * height * depth * format.block_size;
    }
    return size * info->arrayLayers * info->samples;
}

void image_finish(struct object *object)
{
    oracle_image_finish((struct image *)object);
}

static bool is_external(const VkImageCreateInfo *info)
{
    const VkExternalMemoryImageCreateInfo *external =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);

    return external && external->handleTypes;
}

static bool is_swapchain_alias(const VkImageCreateInfo *info)
{
    const VkImageSwapchainCreateInfoKHR *swapchain =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR);

    return swapchain && swapchain->swapchain;
}

VkResult driver_vkCreateImage(VkDevice device, const VkImageCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkImage *out)
{
    struct image *image;

    if (!format_describe(info->format).block_size)
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    image = object_create(object_list_of(device), VK_OBJECT_TYPE_IMAGE, sizeof(*image));
    if (!image)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    image->base.finish = image_finish;
    image->device = OBJECT(device, device);
    image->is_alias = is_swapchain_alias(info);
    image->is_external = is_external(info);
    image->info = *info;
    image->info.pNext = NULL;
    image->info.pQueueFamilyIndices = NULL;
    image->size = image_size(info);
    *out = HANDLE(VkImage, image);
    return VK_SUCCESS;
}

VkResult driver_vkCreateImageView(VkDevice device, const VkImageViewCreateInfo *info,
                                  const VkAllocationCallbacks *allocator, VkImageView *out)
{
    struct image_view *view = object_create(object_list_of(device), VK_OBJECT_TYPE_IMAGE_VIEW, sizeof(*view));

    if (!view)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    view->image = info->image;
    view->range = info->subresourceRange;
    *out = HANDLE(VkImageView, view);
    return VK_SUCCESS;
}

static VkMemoryRequirements image_requirements(VkDevice device, const VkImageCreateInfo *info)
{
    return (VkMemoryRequirements){round_up(image_size(info)), ALIGNMENT,
                                  memory_type_bits(device, info->flags & VK_IMAGE_CREATE_PROTECTED_BIT)};
}

void driver_vkGetImageMemoryRequirements(VkDevice device, VkImage image, VkMemoryRequirements *out)
{
    *out = image_requirements(device, &OBJECT(image, image)->info);
}

void driver_vkGetImageMemoryRequirements2(VkDevice device, const VkImageMemoryRequirementsInfo2 *info,
                                          VkMemoryRequirements2 *out)
{
    chain_clear(out->pNext);
    driver_vkGetImageMemoryRequirements(device, info->image, &out->memoryRequirements);
}

void driver_vkGetDeviceImageMemoryRequirements(VkDevice device, const VkDeviceImageMemoryRequirements *info,
                                               VkMemoryRequirements2 *out)
{
    chain_clear(out->pNext);
    out->memoryRequirements = image_requirements(device, info->pCreateInfo);
}

VkResult driver_vkBindImageMemory(VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset)
{
    OBJECT(image, image)->memory = OBJECT(memory, memory);
    OBJECT(image, image)->offset = offset;
    return VK_SUCCESS;
}

VkResult driver_vkBindImageMemory2(VkDevice device, uint32_t count, const VkBindImageMemoryInfo *infos)
{
    for (uint32_t i = 0; i < count; i++)
        driver_vkBindImageMemory(device, infos[i].image, infos[i].memory, infos[i].memoryOffset);
    return VK_SUCCESS;
}

void driver_vkGetImageSubresourceLayout(VkDevice device, VkImage handle,
                                        const VkImageSubresource *subresource, VkSubresourceLayout *out)
{
    const struct image *image = OBJECT(image, handle);
    const struct format_description format = format_describe(image->info.format);

    *out = (VkSubresourceLayout){
        .size = image->size,
        .rowPitch = (VkDeviceSize)image->info.extent.width / format.block_width * format.block_size,
        .arrayPitch = image->size / image->info.arrayLayers,
        .depthPitch = image->size / image->info.extent.depth,
    };
}
