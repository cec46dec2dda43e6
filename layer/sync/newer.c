#include "sync/newer.h"

#include <stdio.h>
#include <string.h>

#include "compat.h"
#include "known.h"

/* Extensions beyond registry 1.3.239 none of whose commands, structures or layouts changes what this half
 * does: they act on no image outside commands that are known, and bring no layout. */
static const char *const harmless_extensions[] = {
    /* Layouts changed by the host: hooked by hand (compat.h). */
    "VK_EXT_host_image_copy",
    "VK_EXT_depth_bias_control",
    "VK_EXT_legacy_vertex_attributes",
    "VK_EXT_nested_command_buffer",
    "VK_EXT_shader_replicated_composites",
    "VK_KHR_calibrated_timestamps",
    "VK_KHR_global_priority",
    "VK_KHR_index_type_uint8",
    "VK_KHR_line_rasterization",
    "VK_KHR_load_store_op_none",
    "VK_KHR_maintenance5",
    "VK_KHR_maintenance7",
    "VK_KHR_map_memory2",
    "VK_KHR_pipeline_binary",
    "VK_KHR_shader_expect_assume",
    "VK_KHR_shader_float_controls2",
    "VK_KHR_shader_maximal_reconvergence",
    "VK_KHR_shader_quad_control",
    "VK_KHR_shader_relaxed_extended_instruction",
    "VK_KHR_shader_subgroup_rotate",
    "VK_KHR_vertex_attribute_divisor",
};

/* Feature structures of those, and of Vulkan 1.4, by number. */
static const int harmless_structures[] = {
    1000270000, /* host image copy */
    1000283000, /* depth bias control */
    1000495000, /* legacy vertex attributes */
    1000451000, /* nested command buffers */
    1000564000, /* replicated composites */
    1000188000, /* global priority */
    1000265000, /* index type uint8 */
    1000259000, /* line rasterization */
    1000470000, /* maintenance5 */
    1000562000, /* maintenance7 */
    1000272000, /* map memory 2 */
    1000483000, /* pipeline binary */
    1000483008, /* ... its internal cache control */
    1000544000, /* expect assume */
    1000528000, /* float controls 2 */
    1000434000, /* maximal reconvergence */
    1000235000, /* quad control */
    1000558000, /* relaxed extended instructions */
    1000416000, /* subgroup rotate */
    1000525000, /* vertex attribute divisor */
};

static bool is_harmless_extension(const char *name)
{
    for (size_t i = 0; i < sizeof(harmless_extensions) / sizeof(harmless_extensions[0]); i++)
        if (strcmp(name, harmless_extensions[i]) == 0)
            return true;
    return false;
}

static bool is_harmless_structure(VkStructureType type)
{
    if (type == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO)
        return true;
    for (size_t i = 0; i < sizeof(harmless_structures) / sizeof(harmless_structures[0]); i++)
        if ((int)type == harmless_structures[i])
            return true;
    return false;
}

const char *newer_reason(const VkDeviceCreateInfo *info, uint32_t api_version, char *text, size_t size)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        const char *name = info->ppEnabledExtensionNames[i];
        if (known_extension(name) || is_harmless_extension(name))
            continue;
        snprintf(text, size, "the extension %s", name);
        return text;
    }
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (known_structure_size(s->sType) || is_harmless_structure(s->sType))
            continue;
        snprintf(text, size, "a structure of type %d", (int)s->sType);
        return text;
    }
    if (VK_API_VERSION_MINOR(api_version) > VK_API_VERSION_MINOR(KNOWN_API_VERSION)) {
        snprintf(text, size, "Vulkan 1.%u", VK_API_VERSION_MINOR(api_version));
        return text;
    }
    return NULL;
}
