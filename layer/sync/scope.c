#include "sync/scope.h"

#define S(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define A(name) VK_ACCESS_2_##name##_BIT

/* Stages of rasterization pipelines in their logical order (spec, "Pipeline Stages"). The primitive and the
 * mesh pipeline share all that comes after their shaders. */
#define PRE_RASTERIZATION                                                                                    \
    (S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER) | S(TESSELLATION_EVALUATION_SHADER) |                 \
     S(GEOMETRY_SHADER) | VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT | VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT)
static const VkPipelineStageFlags2 graphics_order[] = {
    S(DRAW_INDIRECT),
    S(INDEX_INPUT),
    S(VERTEX_ATTRIBUTE_INPUT),
    S(VERTEX_SHADER),
    S(TESSELLATION_CONTROL_SHADER),
    S(TESSELLATION_EVALUATION_SHADER),
    S(GEOMETRY_SHADER),
    VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT,
    VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT,
    VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT,
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR,
    S(EARLY_FRAGMENT_TESTS),
    S(FRAGMENT_SHADER),
    S(LATE_FRAGMENT_TESTS),
    S(COLOR_ATTACHMENT_OUTPUT),
};
#define GRAPHICS                                                                                             \
    (S(DRAW_INDIRECT) | S(INDEX_INPUT) | S(VERTEX_ATTRIBUTE_INPUT) | PRE_RASTERIZATION |                     \
     VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT |                                                        \
     VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR | S(EARLY_FRAGMENT_TESTS) |                \
     S(FRAGMENT_SHADER) | S(LATE_FRAGMENT_TESTS) | S(COLOR_ATTACHMENT_OUTPUT) |                              \
     VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT |                                                     \
     VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT)
#define TRANSFER                                                                                             \
    (S(COPY) | S(RESOLVE) | S(BLIT) | S(CLEAR) | VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR)
#define COMPUTE                                                                                              \
    (S(COMPUTE_SHADER) | S(DRAW_INDIRECT) | VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT |              \
     VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR |                                              \
     VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR | VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV)
#define ENDS (S(TOP_OF_PIPE) | S(BOTTOM_OF_PIPE))
#define WHOLES                                                                                               \
    (S(ALL_COMMANDS) | S(ALL_GRAPHICS) | S(ALL_TRANSFER) | S(PRE_RASTERIZATION_SHADERS) | S(VERTEX_INPUT))

VkAccessFlags2 scope_writes(VkAccessFlags2 access)
{
    return access &
           (A(SHADER_WRITE) | A(COLOR_ATTACHMENT_WRITE) | A(DEPTH_STENCIL_ATTACHMENT_WRITE) |
            A(TRANSFER_WRITE) | A(HOST_WRITE) | A(MEMORY_WRITE) | A(SHADER_STORAGE_WRITE) |
            VK_ACCESS_2_TRANSFORM_FEEDBACK_WRITE_BIT_EXT |
            VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_WRITE_BIT_EXT |
            VK_ACCESS_2_COMMAND_PREPROCESS_WRITE_BIT_NV | VK_ACCESS_2_ACCELERATION_STRUCTURE_WRITE_BIT_KHR);
}

static VkPipelineStageFlags2 queue_stages(VkQueueFlags queue)
{
    if (!queue)
        return ~(VkPipelineStageFlags2)WHOLES;
    VkPipelineStageFlags2 stages = ENDS | S(HOST) | TRANSFER;
    if (queue & VK_QUEUE_GRAPHICS_BIT)
        stages |= GRAPHICS;
    if (queue & VK_QUEUE_COMPUTE_BIT)
        stages |= COMPUTE;
    return stages;
}

VkPipelineStageFlags2 scope_expand_stages(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    VkPipelineStageFlags2 expanded = stages & ~(VkPipelineStageFlags2)WHOLES;
    if (stages & S(ALL_COMMANDS))
        expanded |= queue_stages(queue) & ~(VkPipelineStageFlags2)(ENDS | S(HOST));
    if (stages & S(ALL_GRAPHICS))
        expanded |= GRAPHICS;
    if (stages & S(ALL_TRANSFER))
        expanded |= TRANSFER;
    if (stages & S(PRE_RASTERIZATION_SHADERS))
        expanded |= PRE_RASTERIZATION;
    if (stages & S(VERTEX_INPUT))
        expanded |= S(INDEX_INPUT) | S(VERTEX_ATTRIBUTE_INPUT);
    return expanded;
}

#define ORDER_COUNT (sizeof(graphics_order) / sizeof(graphics_order[0]))

VkPipelineStageFlags2 scope_close_source(VkPipelineStageFlags2 stages)
{
    bool later = false;
    VkPipelineStageFlags2 closed = stages;
    if (stages & S(BOTTOM_OF_PIPE))
        return ~(VkPipelineStageFlags2)(WHOLES | S(HOST)) | (stages & S(HOST));
    for (size_t i = ORDER_COUNT; i-- > 0;) {
        later = later || (stages & graphics_order[i]);
        if (later)
            closed |= graphics_order[i];
    }
    /* The only stages before those of compute and ray tracing pipelines. */
    if (stages & (S(COMPUTE_SHADER) | VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR))
        closed |= S(DRAW_INDIRECT);
    return stages & ~(VkPipelineStageFlags2)S(TOP_OF_PIPE) ? closed | S(TOP_OF_PIPE) : closed;
}

VkPipelineStageFlags2 scope_close_destination(VkPipelineStageFlags2 stages)
{
    bool earlier = false;
    VkPipelineStageFlags2 closed = stages;
    if (stages & S(TOP_OF_PIPE))
        return ~(VkPipelineStageFlags2)(WHOLES | S(HOST)) | (stages & S(HOST));
    for (size_t i = 0; i < ORDER_COUNT; i++) {
        earlier = earlier || (stages & graphics_order[i]);
        if (earlier)
            closed |= graphics_order[i];
    }
    if (stages & S(DRAW_INDIRECT))
        closed |= S(COMPUTE_SHADER) | VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR;
    return stages & ~(VkPipelineStageFlags2)S(BOTTOM_OF_PIPE) ? closed | S(BOTTOM_OF_PIPE) : closed;
}

VkPipelineStageFlags2 scope_stages_of_queue(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    VkPipelineStageFlags2 allowed = queue_stages(queue) | S(ALL_COMMANDS) | S(ALL_TRANSFER);
    if (!queue || (queue & VK_QUEUE_GRAPHICS_BIT))
        allowed |= WHOLES;
    if (!stages)
        return stages;
    VkPipelineStageFlags2 kept = stages & allowed;
    return kept ? kept : S(ALL_COMMANDS);
}

static const struct {
    VkAccessFlags2 access;
    VkPipelineStageFlags2 stages; /* that can do it (spec, "Supported access types") */
} supported[] = {
    {A(INDIRECT_COMMAND_READ), S(DRAW_INDIRECT) | VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR},
    {A(INDEX_READ), S(INDEX_INPUT)},
    {A(VERTEX_ATTRIBUTE_READ), S(VERTEX_ATTRIBUTE_INPUT)},
    {A(UNIFORM_READ) | A(SHADER_SAMPLED_READ) | A(SHADER_STORAGE_READ) | A(SHADER_STORAGE_WRITE) |
         A(SHADER_READ) | A(SHADER_WRITE),
     PRE_RASTERIZATION | S(FRAGMENT_SHADER) | S(COMPUTE_SHADER) |
         VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {A(SHADER_READ), VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR},
    {A(INPUT_ATTACHMENT_READ), S(FRAGMENT_SHADER)},
    {A(COLOR_ATTACHMENT_READ) | A(COLOR_ATTACHMENT_WRITE), S(COLOR_ATTACHMENT_OUTPUT)},
    {A(DEPTH_STENCIL_ATTACHMENT_READ) | A(DEPTH_STENCIL_ATTACHMENT_WRITE),
     S(EARLY_FRAGMENT_TESTS) | S(LATE_FRAGMENT_TESTS)},
    {A(TRANSFER_READ) | A(TRANSFER_WRITE),
     TRANSFER | VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR},
    {A(HOST_READ) | A(HOST_WRITE), S(HOST)},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_WRITE_BIT_EXT | VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT |
         VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_WRITE_BIT_EXT,
     VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT, S(DRAW_INDIRECT)},
    {VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT, VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT},
    {VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_NV | VK_ACCESS_2_COMMAND_PREPROCESS_WRITE_BIT_NV,
     VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV},
    {VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR,
     VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR},
    {VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT, VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT},
    {VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT, S(COLOR_ATTACHMENT_OUTPUT)},
    {VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR | VK_ACCESS_2_ACCELERATION_STRUCTURE_WRITE_BIT_KHR,
     VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR |
         VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR},
    {VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR, PRE_RASTERIZATION | S(FRAGMENT_SHADER) |
                                                          S(COMPUTE_SHADER) |
                                                          VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
};

VkAccessFlags2 scope_access_of_stages(VkAccessFlags2 access, VkPipelineStageFlags2 stages)
{
    VkAccessFlags2 can = 0;
    if (stages & S(ALL_COMMANDS))
        return access;
    stages = scope_expand_stages(stages, 0);
    for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++)
        if (supported[i].stages & stages)
            can |= supported[i].access;
    if (stages & ~(VkPipelineStageFlags2)ENDS)
        can |= A(MEMORY_READ) | A(MEMORY_WRITE);
    return access & can;
}

VkPipelineStageFlags scope_stages1(VkPipelineStageFlags2 stages, VkPipelineStageFlagBits none)
{
    VkPipelineStageFlags low = (VkPipelineStageFlags)(stages & UINT32_MAX);
    if (stages & (S(COPY) | S(RESOLVE) | S(BLIT) | S(CLEAR)))
        low |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    if (stages & (S(INDEX_INPUT) | S(VERTEX_ATTRIBUTE_INPUT)))
        low |= VK_PIPELINE_STAGE_VERTEX_INPUT_BIT;
    if (stages & S(PRE_RASTERIZATION_SHADERS))
        low |= VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT;
    if (stages & VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR)
        low |= VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR;
    if (!low && stages)
        low = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    return low ? low : (VkPipelineStageFlags)none;
}

VkAccessFlags scope_access1(VkAccessFlags2 access)
{
    VkAccessFlags low = (VkAccessFlags)(access & UINT32_MAX);
    if (access &
        (A(SHADER_SAMPLED_READ) | A(SHADER_STORAGE_READ) | VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR))
        low |= VK_ACCESS_SHADER_READ_BIT;
    if (access & A(SHADER_STORAGE_WRITE))
        low |= VK_ACCESS_SHADER_WRITE_BIT;
    return low;
}
