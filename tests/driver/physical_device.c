/* What the devices say about themselves. Features and limits come from the registry's knowledge of their kind
 * (driver_structures.c); here is what must be known better. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

const VkQueueFamilyProperties queue_families[QUEUE_FAMILY_COUNT] = {
    {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT,
     16,
     64,
     {1, 1, 1}},
    {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 4, 64, {1, 1, 1}},
    {VK_QUEUE_TRANSFER_BIT, 2, 64, {1, 1, 1}},
};

static void cache_uuid(const struct physical_device *device, uint8_t out[VK_UUID_SIZE])
{
    const struct driver_config *config = device->config;
    uint64_t words[2];
    char text[512];

    switch (config->uuid) {
    case CONFIG_UUID_ZERO:
        memset(out, 0, VK_UUID_SIZE);
        break;
    case CONFIG_UUID_CONSTANT:
        memcpy(out, "fault-constant", 15);
        out[15] = 0;
        break;
    case CONFIG_UUID_GIVEN:
        memcpy(out, config->given_uuid, VK_UUID_SIZE);
        break;
    case CONFIG_UUID_AUTO:
        snprintf(text, sizeof(text), "%u %u %u %s", config->vendor, config->device + device->index,
                 config->driver_version, config->driver_name);
        words[0] = fault_hash(text, strlen(text));
        words[1] = fault_hash(words, sizeof(words[0]));
        memcpy(out, words, VK_UUID_SIZE);
        break;
    }
}

void physical_device_init(struct physical_device *device, struct instance *instance, uint32_t index)
{
    set_loader_magic_value(device);
    device->base.type = VK_OBJECT_TYPE_PHYSICAL_DEVICE;
    device->base.children = &instance->objects;
    device->instance = instance;
    device->config = &instance->config;
    device->index = index;
    cache_uuid(device, device->cache_uuid);
}

VkBool32 physical_device_provides(const struct physical_device *device, uint32_t core,
                                  const uint16_t *providers)
{
    return (core && core <= device->config->api) || extension_set_has_any(&device->exposed, providers);
}

static bool structure_hidden(const struct driver_config *config, VkStructureType type)
{
    for (uint32_t i = 0; i < config->hidden_count; i++) {
        if (strtoul(config->hidden[i], NULL, 0) == (unsigned long)type)
            return true;
    }
    return false;
}

void driver_vkGetPhysicalDeviceFeatures(VkPhysicalDevice device, VkPhysicalDeviceFeatures *features)
{
    structure_fill_features(features);
}

static void features_adjust(const struct driver_config *config, VkBaseOutStructure *link)
{
    switch ((int)link->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES:
        ((VkPhysicalDeviceProtectedMemoryFeatures *)link)->protectedMemory = config->protected_memory;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
        ((VkPhysicalDeviceVulkan11Features *)link)->protectedMemory = config->protected_memory;
        break;
    default:
        break;
    }
}

void driver_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice handle, VkPhysicalDeviceFeatures2 *features)
{
    const struct physical_device *device = OBJECT(physical_device, handle);

    for (VkBaseOutStructure *link = (VkBaseOutStructure *)features; link; link = link->pNext) {
        structure_fill(device, link);
        features_adjust(device->config, link);
        if (structure_hidden(device->config, link->sType))
            structure_clear(link, structure_size(link->sType));
    }
}

void driver_vkGetPhysicalDeviceProperties(VkPhysicalDevice handle, VkPhysicalDeviceProperties *properties)
{
    const struct physical_device *device = OBJECT(physical_device, handle);
    const struct driver_config *config = device->config;
    VkPhysicalDeviceLimits *limits = &properties->limits;

    memset(properties, 0, sizeof(*properties));
    properties->apiVersion = config->api;
    properties->driverVersion = config->driver_version;
    properties->vendorID = config->vendor;
    properties->deviceID = config->device + device->index;
    properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
    memcpy(properties->deviceName, config->device_name, sizeof(properties->deviceName));
    memcpy(properties->pipelineCacheUUID, device->cache_uuid, VK_UUID_SIZE);
    structure_fill_limits(limits);
    limits->viewportBoundsRange[0] = -32768;
    limits->viewportBoundsRange[1] = 32767;
    limits->pointSizeRange[0] = 1;
    limits->pointSizeRange[1] = 64;
    limits->lineWidthRange[0] = 1;
    limits->lineWidthRange[1] = 8;
}

static void fill_ids(const struct physical_device *device, uint8_t *device_uuid, uint8_t *driver_uuid,
                     VkBool32 *luid_valid)
{
    const struct driver_config *config = device->config;
    uint32_t device_words[4] = {config->vendor, config->device + device->index, 0, 1};
    uint32_t driver_words[4] = {config->driver_version, config->driver_id, 0, 2};

    memcpy(device_uuid, device_words, VK_UUID_SIZE);
    memcpy(driver_uuid, driver_words, VK_UUID_SIZE);
    *luid_valid = VK_FALSE;
}

static void properties_adjust(const struct physical_device *device, VkBaseOutStructure *link)
{
    const struct driver_config *config = device->config;

    switch ((int)link->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2: {
        VkPhysicalDeviceProperties2 *p = (void *)link;

        driver_vkGetPhysicalDeviceProperties(HANDLE(VkPhysicalDevice, device), &p->properties);
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES: {
        VkPhysicalDeviceIDProperties *p = (void *)link;

        fill_ids(device, p->deviceUUID, p->driverUUID, &p->deviceLUIDValid);
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES: {
        VkPhysicalDeviceVulkan11Properties *p = (void *)link;

        fill_ids(device, p->deviceUUID, p->driverUUID, &p->deviceLUIDValid);
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES: {
        VkPhysicalDeviceDriverProperties *p = (void *)link;

        p->driverID = (VkDriverId)config->driver_id;
        memcpy(p->driverName, config->driver_name, sizeof(p->driverName));
        memcpy(p->driverInfo, config->driver_info, sizeof(p->driverInfo));
        p->conformanceVersion = (VkConformanceVersion){1, 3, 0, 0};
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES: {
        VkPhysicalDeviceVulkan12Properties *p = (void *)link;

        p->driverID = (VkDriverId)config->driver_id;
        memcpy(p->driverName, config->driver_name, sizeof(p->driverName));
        memcpy(p->driverInfo, config->driver_info, sizeof(p->driverInfo));
        p->conformanceVersion = (VkConformanceVersion){1, 3, 0, 0};
        break;
    }
    default:
        break;
    }
}

void driver_vkGetPhysicalDeviceProperties2(VkPhysicalDevice handle, VkPhysicalDeviceProperties2 *properties)
{
    const struct physical_device *device = OBJECT(physical_device, handle);

    for (VkBaseOutStructure *link = (VkBaseOutStructure *)properties; link; link = link->pNext) {
        structure_fill(device, link);
        properties_adjust(device, link);
    }
}

static void fill_family(const struct physical_device *device, uint32_t index, VkQueueFamilyProperties *out)
{
    *out = queue_families[index];
    if (index == 0 && device->config->protected_memory)
        out->queueFlags |= VK_QUEUE_PROTECTED_BIT;
}

void driver_vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice handle, uint32_t *count,
                                                     VkQueueFamilyProperties *out)
{
    const struct physical_device *device = OBJECT(physical_device, handle);

    for (uint32_t i = 0; out && i < QUEUE_FAMILY_COUNT && i < *count; i++)
        fill_family(device, i, &out[i]);
    enumerate_count(count, out != NULL, QUEUE_FAMILY_COUNT);
}

void driver_vkGetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice handle, uint32_t *count,
                                                      VkQueueFamilyProperties2 *out)
{
    const struct physical_device *device = OBJECT(physical_device, handle);

    for (uint32_t i = 0; out && i < QUEUE_FAMILY_COUNT && i < *count; i++) {
        chain_clear(out[i].pNext);
        fill_family(device, i, &out[i].queueFamilyProperties);
    }
    enumerate_count(count, out != NULL, QUEUE_FAMILY_COUNT);
}

void driver_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice handle,
                                                VkPhysicalDeviceMemoryProperties *out)
{
    const VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

    memset(out, 0, sizeof(*out));
    out->memoryHeapCount = 2;
    out->memoryHeaps[0] = (VkMemoryHeap){8ull << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    out->memoryHeaps[1] = (VkMemoryHeap){8ull << 30, 0};
    out->memoryTypeCount = 5;
    out->memoryTypes[0] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    out->memoryTypes[1] =
        (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 0};
    out->memoryTypes[2] = (VkMemoryType){visible, 1};
    out->memoryTypes[3] = (VkMemoryType){visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
    out->memoryTypes[4] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | visible, 0};
    if (OBJECT(physical_device, handle)->config->protected_memory)
        out->memoryTypes[out->memoryTypeCount++] =
            (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0};
}

void driver_vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice handle,
                                                 VkPhysicalDeviceMemoryProperties2 *out)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)(uintptr_t)chain_find(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);

    driver_vkGetPhysicalDeviceMemoryProperties(handle, &out->memoryProperties);
    chain_clear(out->pNext);
    for (uint32_t i = 0; budget && i < out->memoryProperties.memoryHeapCount; i++)
        budget->heapBudget[i] = out->memoryProperties.memoryHeaps[i].size;
}

static VkFormatFeatureFlags image_features(VkFormat format)
{
    const struct format_description f = format_describe(format);
    const VkFormatFeatureFlags sampled = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
                                         VK_FORMAT_FEATURE_TRANSFER_SRC_BIT |
                                         VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    const VkFormatFeatureFlags linear = f.integer ? 0 : VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;

    if (!f.block_size)
        return 0;
    if (f.planes > 1 || f.block_width == 2)
        return sampled | linear | VK_FORMAT_FEATURE_MIDPOINT_CHROMA_SAMPLES_BIT |
               (f.planes > 1 ? VK_FORMAT_FEATURE_DISJOINT_BIT : 0);
    if (f.depth || f.stencil)
        return sampled | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_FORMAT_FEATURE_BLIT_SRC_BIT |
               VK_FORMAT_FEATURE_BLIT_DST_BIT;
    if (f.compressed)
        return sampled | linear | VK_FORMAT_FEATURE_BLIT_SRC_BIT;
    return sampled | linear | VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
           VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT |
           VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT;
}

static VkFormatFeatureFlags buffer_features(VkFormat format)
{
    const struct format_description f = format_describe(format);

    if (!f.block_size || f.compressed || f.depth || f.stencil || f.planes > 1 || f.block_width > 1)
        return 0;
    return VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT | VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT |
           VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_ATOMIC_BIT | VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT;
}

void driver_vkGetPhysicalDeviceFormatProperties(VkPhysicalDevice device, VkFormat format,
                                                VkFormatProperties *out)
{
    *out = (VkFormatProperties){
        .linearTilingFeatures = format_describe(format).compressed ? 0 : image_features(format),
        .optimalTilingFeatures = image_features(format),
        .bufferFeatures = buffer_features(format),
    };
}

void driver_vkGetPhysicalDeviceFormatProperties2(VkPhysicalDevice device, VkFormat format,
                                                 VkFormatProperties2 *out)
{
    VkFormatProperties3 *three =
        (void *)(uintptr_t)chain_find(out->pNext, VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3);
    const VkFormatProperties *plain = &out->formatProperties;
    const VkFormatFeatureFlags2 anyhow = VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT |
                                         VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;

    chain_clear(out->pNext);
    driver_vkGetPhysicalDeviceFormatProperties(device, format, &out->formatProperties);
    if (!three)
        return;
    three->linearTilingFeatures = plain->linearTilingFeatures;
    three->optimalTilingFeatures = plain->optimalTilingFeatures;
    three->bufferFeatures = plain->bufferFeatures;
    if (plain->optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT) {
        three->linearTilingFeatures |= anyhow;
        three->optimalTilingFeatures |= anyhow;
        three->bufferFeatures |= anyhow;
    }
}

static bool usage_supported(VkImageUsageFlags usage, VkFormatFeatureFlags features)
{
    static const struct {
        VkImageUsageFlags usage;
        VkFormatFeatureFlags feature;
    } needs[] = {
        {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT},
        {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT},
        {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT},
        {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT},
        {VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT,
         VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT},
    };

    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        if ((usage & needs[i].usage) && !(features & needs[i].feature))
            return false;
    }
    return features != 0;
}

VkResult driver_vkGetPhysicalDeviceImageFormatProperties(VkPhysicalDevice device, VkFormat format,
                                                         VkImageType type, VkImageTiling tiling,
                                                         VkImageUsageFlags usage, VkImageCreateFlags flags,
                                                         VkImageFormatProperties *out)
{
    const VkImageCreateFlags resident =
        VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT | VK_IMAGE_CREATE_SPARSE_ALIASED_BIT;
    VkFormatProperties properties;
    bool optimal = tiling == VK_IMAGE_TILING_OPTIMAL;
    VkFormatFeatureFlags features;

    memset(out, 0, sizeof(*out));
    driver_vkGetPhysicalDeviceFormatProperties(device, format, &properties);
    features = optimal ? properties.optimalTilingFeatures : properties.linearTilingFeatures;
    if ((tiling != VK_IMAGE_TILING_LINEAR && !optimal) || (flags & resident) ||
        !usage_supported(usage, features))
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    if (!optimal && type != VK_IMAGE_TYPE_2D)
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    out->maxExtent.width = 16384;
    out->maxExtent.height = type == VK_IMAGE_TYPE_1D ? 1 : 16384;
    out->maxExtent.depth = 1;
    out->maxMipLevels = optimal ? 15 : 1;
    out->maxArrayLayers = optimal ? 2048 : 1;
    if (type == VK_IMAGE_TYPE_3D) {
        out->maxExtent = (VkExtent3D){2048, 2048, 2048};
        out->maxMipLevels = 12;
        out->maxArrayLayers = 1;
    }
    if (format_describe(format).planes > 1)
        out->maxMipLevels = 1;
    out->sampleCounts = VK_SAMPLE_COUNT_1_BIT;
    if (optimal && type == VK_IMAGE_TYPE_2D && !(flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) &&
        (features &
         (VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT)))
        out->sampleCounts |= VK_SAMPLE_COUNT_4_BIT;
    out->maxResourceSize = 1ull << 40;
    return VK_SUCCESS;
}

VkResult driver_vkGetPhysicalDeviceImageFormatProperties2(VkPhysicalDevice device,
                                                          const VkPhysicalDeviceImageFormatInfo2 *info,
                                                          VkImageFormatProperties2 *out)
{
    const VkPhysicalDeviceExternalImageFormatInfo *external =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
    VkSamplerYcbcrConversionImageFormatProperties *conversion = (void *)(uintptr_t)chain_find(
        out->pNext, VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_IMAGE_FORMAT_PROPERTIES);

    chain_clear(out->pNext);
    if (conversion)
        conversion->combinedImageSamplerDescriptorCount = 1;
    if (external && external->handleType)
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    return driver_vkGetPhysicalDeviceImageFormatProperties(device, info->format, info->type, info->tiling,
                                                           info->usage, info->flags,
                                                           &out->imageFormatProperties);
}

void driver_vkGetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice device,
                                                        const VkPhysicalDeviceExternalBufferInfo *info,
                                                        VkExternalBufferProperties *out)
{
    structure_clear(out, sizeof(*out));
    out->externalMemoryProperties.compatibleHandleTypes = info->handleType;
}
