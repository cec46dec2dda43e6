/* Pipeline stages: which queues have them, and which names stand for several. Numbers are the registry's. */
#include "oracle_replay.h"

#define STAGES_TRANSFER                                                                                      \
    (VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_RESOLVE_BIT | \
     VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT |                                          \
     VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR)
#define STAGES_VERTEX_INPUT                                                                                  \
    (VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT)
#define STAGES_BEFORE_RASTERIZATION                                                                          \
    (VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT |           \
     VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT | VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT |      \
     VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT | VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT)
/* Those that only queues with graphics have, ALL_GRAPHICS itself left out. */
#define STAGES_GRAPHICS                                                                                      \
    (VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | STAGES_VERTEX_INPUT | STAGES_BEFORE_RASTERIZATION |              \
     VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |           \
     VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT |            \
     VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT |      \
     VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR |                                          \
     VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT)
/* On queues with graphics as well as on those with compute alone. */
#define STAGES_GRAPHICS_OR_COMPUTE                                                                           \
    (VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT |             \
     VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV)
#define STAGES_COMPUTE                                                                                       \
    (VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR |     \
     VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR)

VkPipelineStageFlags2 stages_missing(VkPipelineStageFlags2 stages, VkQueueFlags capabilities)
{
    const VkQueueFlags both = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkPipelineStageFlags2 missing = 0;

    if (!(capabilities & VK_QUEUE_GRAPHICS_BIT))
        missing |= STAGES_GRAPHICS | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT;
    if (!(capabilities & VK_QUEUE_COMPUTE_BIT))
        missing |= STAGES_COMPUTE;
    if (!(capabilities & both))
        missing |= STAGES_GRAPHICS_OR_COMPUTE;
    if (!(capabilities & (both | VK_QUEUE_TRANSFER_BIT)))
        missing |= STAGES_TRANSFER;
    return stages & missing;
}

static VkPipelineStageFlags2 expanded(VkPipelineStageFlags2 stages)
{
    if (stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        return UINT64_MAX;
    if (stages & VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT)
        stages |= STAGES_GRAPHICS | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT |
                  VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT;
    if (stages & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT)
        stages |= STAGES_TRANSFER;
    if (stages & VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT)
        stages |= STAGES_VERTEX_INPUT;
    if (stages & VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT)
        stages |= STAGES_BEFORE_RASTERIZATION;
    return stages;
}

bool stages_include(VkPipelineStageFlags2 outer, VkPipelineStageFlags2 inner)
{
    return !(inner & ~expanded(outer));
}

bool accesses_include(VkAccessFlags2 outer, VkAccessFlags2 inner)
{
    if (outer & VK_ACCESS_2_SHADER_READ_BIT)
        outer |= VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    if (outer & VK_ACCESS_2_SHADER_WRITE_BIT)
        outer |= VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    /* MEMORY_READ and MEMORY_WRITE stand for every access; which of the others write isn't told apart. */
    return outer & (VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT) || !(inner & ~outer);
}
