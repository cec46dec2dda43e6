#include "sync/newer.h"

#include <stdio.h>
#include <string.h>

#include "compat.h"
#include "known.h"

/* Proven harmless where the registry is older than they are (tests/unit/test_newer_list.py looks them up in
 * one that isn't): what they do to images is hooked, or they have no command that acts, and bring no stage or
 * access. A layout that isn't known makes the image unknown, and so does a structure that isn't known where
 * an image is created; barriers and submits with one stay as they are. With what may stand in the device's
 * chain, by number. */
static const struct {
    const char *extension;
    int structures[2];
} harmless[] = {
    {"VK_AMD_anti_lag", {1000476000}},
    {"VK_EXT_attachment_feedback_loop_dynamic_state", {1000524000}},
    {"VK_EXT_depth_bias_control", {1000283000}},
    {"VK_EXT_depth_clamp_control", {1000582000}},
    {"VK_EXT_dynamic_rendering_unused_attachments", {1000499000}},
    {"VK_EXT_external_memory_acquire_unmodified", {0}},
    {"VK_EXT_frame_boundary", {1000375000}},
    {"VK_EXT_host_image_copy", {1000270000}}, /* by hand: host_image.c */
    {"VK_EXT_image_sliced_view_of_3d", {1000418000}},
    {"VK_EXT_legacy_vertex_attributes", {1000495000}},
    {"VK_EXT_map_memory_placed", {1000272000}},
    {"VK_EXT_nested_command_buffer", {1000451000}},
    {"VK_EXT_pipeline_library_group_handles", {1000498000}},
    {"VK_EXT_present_mode_fifo_latest_ready", {1000361000}},
    {"VK_EXT_shader_object", {1000482000}},
    {"VK_EXT_shader_replicated_composites", {1000564000}},
    {"VK_EXT_vertex_attribute_robustness", {1000608000}},
    {"VK_KHR_calibrated_timestamps", {0}},
    {"VK_KHR_compute_shader_derivatives", {1000201000}},
    {"VK_KHR_cooperative_matrix", {1000506000}},
    {"VK_KHR_depth_clamp_zero_one", {1000421000}},
    {"VK_KHR_dynamic_rendering_local_read", {1000232000}},
    {"VK_KHR_index_type_uint8", {1000265000}},
    {"VK_KHR_line_rasterization", {1000259000}},
    {"VK_KHR_load_store_op_none", {0}},
    {"VK_KHR_maintenance5", {1000470000}},
    {"VK_KHR_maintenance6", {1000545000}},
    {"VK_KHR_maintenance7", {1000562000}},
    {"VK_KHR_map_memory2", {0}},
    {"VK_KHR_pipeline_binary", {1000483000, 1000483008}},
    {"VK_KHR_ray_tracing_position_fetch", {1000481000}},
    {"VK_KHR_shader_expect_assume", {1000544000}},
    {"VK_KHR_shader_float_controls2", {1000528000}},
    {"VK_KHR_shader_maximal_reconvergence", {1000434000}},
    {"VK_KHR_shader_quad_control", {1000235000}},
    {"VK_KHR_shader_relaxed_extended_instruction", {1000558000}},
    {"VK_KHR_shader_subgroup_rotate", {1000416000}},
    {"VK_KHR_vertex_attribute_divisor", {1000190002}},
    {"VK_KHR_video_decode_av1", {0}}, /* images for video are unknown */
    {"VK_KHR_video_maintenance1", {1000515000}},
    {"VK_KHR_video_maintenance2", {1000586000}},
    {"VK_MESA_image_alignment_control", {1000575000}},
    {"VK_NV_cooperative_matrix2", {1000593000}},
    {"VK_NV_descriptor_pool_overallocation", {1000546000}},
    {"VK_NV_low_latency2", {0}},
    {"VK_NV_raw_access_chains", {1000555000}},
    {"VK_NV_ray_tracing_validation", {1000568000}},
    {"VK_NV_shader_atomic_float16_vector", {1000563000}},
};
#define HARMLESS (sizeof(harmless) / sizeof(harmless[0]))

/* The same of a whole version. */
#define HARMLESS_VERSION VK_MAKE_API_VERSION(0, 1, 4, 0)
#define HARMLESS_VERSION_STRUCTURE 55

static bool is_harmless_extension(const char *name)
{
    for (size_t i = 0; i < HARMLESS; i++)
        if (strcmp(name, harmless[i].extension) == 0)
            return true;
    return false;
}

static bool is_harmless_structure(VkStructureType type)
{
    if (type == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || (int)type == HARMLESS_VERSION_STRUCTURE)
        return true;
    for (size_t i = 0; i < HARMLESS; i++)
        if ((int)type && ((int)type == harmless[i].structures[0] || (int)type == harmless[i].structures[1]))
            return true;
    return false;
}

/* Patch versions bring nothing of their own. */
static bool is_newer_version(uint32_t version)
{
    const uint32_t newest = KNOWN_API_VERSION > HARMLESS_VERSION ? KNOWN_API_VERSION : HARMLESS_VERSION;
    return version - VK_API_VERSION_PATCH(version) > newest;
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
    if (is_newer_version(api_version)) {
        snprintf(text, size, "Vulkan %u.%u", VK_API_VERSION_MAJOR(api_version),
                 VK_API_VERSION_MINOR(api_version));
        return text;
    }
    return NULL;
}

bool newer_has_commands(const VkDeviceCreateInfo *info, uint32_t api_version)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (!known_extension(info->ppEnabledExtensionNames[i]))
            return true;
    return api_version - VK_API_VERSION_PATCH(api_version) > KNOWN_API_VERSION;
}
