/* What a newer application can hand this build and what would change a decision, by its number in the Khronos
 * registry, so that old and new headers build the same layer. Names with the prefix compat_ / COMPAT_ are the
 * registry's, spelled so that they never clash with headers that have them. */
#ifndef RC_COMPAT_H
#define RC_COMPAT_H

#include <vulkan/vulkan.h>

/* VK_KHR_maintenance5 (Vulkan 1.4): 64-bit creation flags take the place of the 32-bit ones. */
#define COMPAT_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO ((VkStructureType)1000470005)
struct compat_pipeline_create_flags_2_create_info {
    VkStructureType sType;
    const void *pNext;
    uint64_t flags;
};

/* VK_KHR_pipeline_binary: pipelines made from binaries, or captured to make binaries, take no cache
 * (VUID-VkGraphicsPipelineCreateInfo-pNext-09616 and its siblings). */
#define COMPAT_STRUCTURE_TYPE_PIPELINE_BINARY_INFO ((VkStructureType)1000483002)
#define COMPAT_PIPELINE_CREATE_2_CAPTURE_DATA_BIT ((uint64_t)0x80000000)
struct compat_pipeline_binary_info {
    VkStructureType sType;
    const void *pNext;
    uint32_t binaryCount;
    const void *pPipelineBinaries;
};
#define COMPAT_STRUCTURE_TYPE_DEVICE_PIPELINE_BINARY_INTERNAL_CACHE_CONTROL ((VkStructureType)1000483008)
struct compat_device_pipeline_binary_internal_cache_control {
    VkStructureType sType;
    const void *pNext;
    VkBool32 disableInternalCache;
};

/* VK_NV_partitioned_acceleration_structure. */
#define COMPAT_DESCRIPTOR_TYPE_PARTITIONED_ACCELERATION_STRUCTURE_NV ((VkDescriptorType)1000570000)

/* VK_AMDX_shader_enqueue, which the headers keep behind VK_ENABLE_BETA_EXTENSIONS. */
struct compat_execution_graph_pipeline_create_info {
    VkStructureType sType;
    const void *pNext;
    VkPipelineCreateFlags flags;
    uint32_t stageCount;
    const VkPipelineShaderStageCreateInfo *pStages;
    const VkPipelineLibraryCreateInfoKHR *pLibraryInfo;
    VkPipelineLayout layout;
    VkPipeline basePipelineHandle;
    int32_t basePipelineIndex;
};

/* VK_ARM_data_graph. */
struct compat_data_graph_pipeline_create_info {
    VkStructureType sType;
    const void *pNext;
    uint64_t flags;
    VkPipelineLayout layout;
    uint32_t resourceInfoCount;
    const void *pResourceInfos;
};

/* Structures in a submit's chain that count semaphores or nothing: a command buffer more doesn't concern
 * them. */
#define COMPAT_STRUCTURE_TYPE_WIN32_KEYED_MUTEX_ACQUIRE_RELEASE_INFO_NV ((VkStructureType)1000058000)
#define COMPAT_STRUCTURE_TYPE_WIN32_KEYED_MUTEX_ACQUIRE_RELEASE_INFO_KHR ((VkStructureType)1000075000)
#define COMPAT_STRUCTURE_TYPE_D3D12_FENCE_SUBMIT_INFO ((VkStructureType)1000078002)
#define COMPAT_STRUCTURE_TYPE_FRAME_BOUNDARY ((VkStructureType)1000375001)
#define COMPAT_STRUCTURE_TYPE_LATENCY_SUBMISSION_PRESENT_ID ((VkStructureType)1000505005)

/* VK_EXT_host_image_copy (Vulkan 1.4): the host changes image layouts. */
struct compat_memory_to_image_copy {
    VkStructureType sType;
    const void *pNext;
    const void *pHostPointer;
    uint32_t memoryRowLength, memoryImageHeight;
    VkImageSubresourceLayers imageSubresource;
    VkOffset3D imageOffset;
    VkExtent3D imageExtent;
};
struct compat_copy_memory_to_image_info {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkImage dstImage;
    VkImageLayout dstImageLayout;
    uint32_t regionCount;
    const struct compat_memory_to_image_copy *pRegions;
};
struct compat_copy_image_to_image_info {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkImage srcImage;
    VkImageLayout srcImageLayout;
    VkImage dstImage;
    VkImageLayout dstImageLayout;
    uint32_t regionCount;
    const VkImageCopy2 *pRegions;
};
struct compat_image_to_memory_copy {
    VkStructureType sType;
    const void *pNext;
    void *pHostPointer;
    uint32_t memoryRowLength, memoryImageHeight;
    VkImageSubresourceLayers imageSubresource;
    VkOffset3D imageOffset;
    VkExtent3D imageExtent;
};
struct compat_copy_image_to_memory_info {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    VkImage srcImage;
    VkImageLayout srcImageLayout;
    uint32_t regionCount;
    const struct compat_image_to_memory_copy *pRegions;
};
struct compat_host_image_layout_transition_info {
    VkStructureType sType;
    const void *pNext;
    VkImage image;
    VkImageLayout oldLayout;
    VkImageLayout newLayout;
    VkImageSubresourceRange subresourceRange;
};

/* VK_KHR_maintenance6 (Vulkan 1.4): which binds of a failed vkBindImageMemory2 have succeeded. */
#define COMPAT_STRUCTURE_TYPE_BIND_MEMORY_STATUS ((VkStructureType)1000545002)
struct compat_bind_memory_status {
    VkStructureType sType;
    const void *pNext;
    VkResult *pResult;
};

/* Known to change nothing for image layouts. */
#define COMPAT_STRUCTURE_TYPE_IMAGE_ALIGNMENT_CONTROL_CREATE_INFO ((VkStructureType)1000575002)
#define COMPAT_STRUCTURE_TYPE_SWAPCHAIN_LATENCY_CREATE_INFO ((VkStructureType)1000505007)
#define COMPAT_STRUCTURE_TYPE_IMAGE_VIEW_SLICED_CREATE_INFO ((VkStructureType)1000418001)

/* VkExternalFormatANDROID: its declaration needs Android's headers. */
struct compat_external_format {
    VkStructureType sType;
    void *pNext;
    uint64_t externalFormat;
};

/* VK_EXT_layer_settings, extension 497 */
#ifndef VK_EXT_layer_settings
#define VK_EXT_layer_settings 1
#define VK_EXT_LAYER_SETTINGS_SPEC_VERSION 2
#define VK_EXT_LAYER_SETTINGS_EXTENSION_NAME "VK_EXT_layer_settings"
#define VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT ((VkStructureType)1000496000)

typedef enum VkLayerSettingTypeEXT {
    VK_LAYER_SETTING_TYPE_BOOL32_EXT = 0,
    VK_LAYER_SETTING_TYPE_INT32_EXT = 1,
    VK_LAYER_SETTING_TYPE_INT64_EXT = 2,
    VK_LAYER_SETTING_TYPE_UINT32_EXT = 3,
    VK_LAYER_SETTING_TYPE_UINT64_EXT = 4,
    VK_LAYER_SETTING_TYPE_FLOAT32_EXT = 5,
    VK_LAYER_SETTING_TYPE_FLOAT64_EXT = 6,
    VK_LAYER_SETTING_TYPE_STRING_EXT = 7,
    VK_LAYER_SETTING_TYPE_MAX_ENUM_EXT = 0x7FFFFFFF
} VkLayerSettingTypeEXT;

typedef struct VkLayerSettingEXT {
    const char *pLayerName;
    const char *pSettingName;
    VkLayerSettingTypeEXT type;
    uint32_t valueCount;
    const void *pValues;
} VkLayerSettingEXT;

typedef struct VkLayerSettingsCreateInfoEXT {
    VkStructureType sType;
    const void *pNext;
    uint32_t settingCount;
    const VkLayerSettingEXT *pSettings;
} VkLayerSettingsCreateInfoEXT;
#endif

#endif
