#include "sync/scope.h"

#define S(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define A(name) VK_ACCESS_2_##name##_BIT

#define ACCELERATION_STRUCTURE_BUILD VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR
#define ACCELERATION_STRUCTURE_COPY VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR
#define CLUSTER_CULLING VK_PIPELINE_STAGE_2_CLUSTER_CULLING_SHADER_BIT_HUAWEI
#define COMMAND_PREPROCESS VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV
#define CONDITIONAL_RENDERING VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT
#define DENSITY VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT
#define INVOCATION_MASK VK_PIPELINE_STAGE_2_INVOCATION_MASK_BIT_HUAWEI
#define MESH VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT
#define MICROMAP_BUILD VK_PIPELINE_STAGE_2_MICROMAP_BUILD_BIT_EXT
#define OPTICAL_FLOW VK_PIPELINE_STAGE_2_OPTICAL_FLOW_BIT_NV
#define RAY_TRACING VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR
#define SHADING_RATE VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR
#define SUBPASS_SHADING VK_PIPELINE_STAGE_2_SUBPASS_SHADING_BIT_HUAWEI
#define TASK VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT
#define TRANSFORM_FEEDBACK VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT
#define VIDEO_DECODE VK_PIPELINE_STAGE_2_VIDEO_DECODE_BIT_KHR
/* VK_KHR_video_encode_queue, which old headers keep behind VK_ENABLE_BETA_EXTENSIONS. */
#define VIDEO_ENCODE ((VkPipelineStageFlags2)1 << 27)
#define VIDEO_ENCODE_READ ((VkAccessFlags2)1 << 37)
#define VIDEO_ENCODE_WRITE ((VkAccessFlags2)1 << 38)
#define QUEUE_VIDEO_ENCODE ((VkQueueFlags)0x40)

#define VERTEX_INPUTS (S(INDEX_INPUT) | S(VERTEX_ATTRIBUTE_INPUT))
#define PRE_RASTERIZATION                                                                                    \
    (S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER) | S(TESSELLATION_EVALUATION_SHADER) |                 \
     S(GEOMETRY_SHADER) | TASK | MESH | CLUSTER_CULLING)
#define FRONT (S(DRAW_INDIRECT) | VERTEX_INPUTS | PRE_RASTERIZATION | TRANSFORM_FEEDBACK)
#define GRAPHICS                                                                                             \
    (FRONT | SHADING_RATE | DENSITY | S(EARLY_FRAGMENT_TESTS) | S(FRAGMENT_SHADER) |                         \
     S(LATE_FRAGMENT_TESTS) | S(COLOR_ATTACHMENT_OUTPUT) | CONDITIONAL_RENDERING | SUBPASS_SHADING |         \
     INVOCATION_MASK | COMMAND_PREPROCESS)
#define TRANSFER (S(COPY) | S(RESOLVE) | S(BLIT) | S(CLEAR))
#define COMPUTE                                                                                              \
    (S(COMPUTE_SHADER) | S(DRAW_INDIRECT) | CONDITIONAL_RENDERING | ACCELERATION_STRUCTURE_BUILD |           \
     ACCELERATION_STRUCTURE_COPY | MICROMAP_BUILD | RAY_TRACING | INVOCATION_MASK | COMMAND_PREPROCESS)
#define ENDS (S(TOP_OF_PIPE) | S(BOTTOM_OF_PIPE))
#define WHOLES                                                                                               \
    (S(ALL_COMMANDS) | S(ALL_GRAPHICS) | S(ALL_TRANSFER) | S(PRE_RASTERIZATION_SHADERS) | S(VERTEX_INPUT))
#define SINGLES (GRAPHICS | TRANSFER | COMPUTE | VIDEO_DECODE | VIDEO_ENCODE | OPTICAL_FLOW)
#define SHADERS (PRE_RASTERIZATION | S(FRAGMENT_SHADER) | S(COMPUTE_SHADER) | RAY_TRACING | SUBPASS_SHADING)

/* What isn't named here is taken for a write: the safe side. */
#define READS                                                                                                \
    (A(INDIRECT_COMMAND_READ) | A(INDEX_READ) | A(VERTEX_ATTRIBUTE_READ) | A(UNIFORM_READ) |                 \
     A(INPUT_ATTACHMENT_READ) | A(SHADER_READ) | A(COLOR_ATTACHMENT_READ) |                                  \
     A(DEPTH_STENCIL_ATTACHMENT_READ) | A(TRANSFER_READ) | A(HOST_READ) | A(MEMORY_READ) |                   \
     A(SHADER_SAMPLED_READ) | A(SHADER_STORAGE_READ) | VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT | \
     VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT | VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_NV |           \
     VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR |                                             \
     VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR | VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT |       \
     VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT | VK_ACCESS_2_VIDEO_DECODE_READ_BIT_KHR |         \
     VIDEO_ENCODE_READ | VK_ACCESS_2_INVOCATION_MASK_READ_BIT_HUAWEI |                                       \
     VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR | VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT |            \
     VK_ACCESS_2_MICROMAP_READ_BIT_EXT | VK_ACCESS_2_OPTICAL_FLOW_READ_BIT_NV)

VkAccessFlags2 scope_writes(VkAccessFlags2 access)
{
    return access & ~(VkAccessFlags2)READS;
}

bool scope_knows(VkPipelineStageFlags2 stages)
{
    return !(stages & ~(VkPipelineStageFlags2)(SINGLES | WHOLES | ENDS | S(HOST)));
}

/* Spec, table "Supported Pipeline Stage Flags". */
static VkPipelineStageFlags2 queue_stages(VkQueueFlags queue)
{
    static const struct {
        VkQueueFlags queue;
        VkPipelineStageFlags2 stages;
    } kinds[] = {
        {VK_QUEUE_GRAPHICS_BIT, GRAPHICS | TRANSFER},
        {VK_QUEUE_COMPUTE_BIT, COMPUTE | TRANSFER},
        {VK_QUEUE_TRANSFER_BIT, TRANSFER},
        {VK_QUEUE_VIDEO_DECODE_BIT_KHR, VIDEO_DECODE},
        {QUEUE_VIDEO_ENCODE, VIDEO_ENCODE},
        {VK_QUEUE_OPTICAL_FLOW_BIT_NV, OPTICAL_FLOW},
    };
    VkPipelineStageFlags2 stages = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (queue & kinds[i].queue)
            stages |= kinds[i].stages;
    return queue ? stages : SINGLES;
}

VkPipelineStageFlags2 scope_expand_stages(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    if (!(stages & WHOLES))
        return stages;
    VkPipelineStageFlags2 expanded = stages & ~(VkPipelineStageFlags2)WHOLES;
    if (stages & S(ALL_COMMANDS))
        expanded |= queue_stages(queue);
    if (stages & S(ALL_GRAPHICS))
        expanded |= GRAPHICS & ~(VkPipelineStageFlags2)COMMAND_PREPROCESS;
    if (stages & S(ALL_TRANSFER))
        expanded |= TRANSFER | ACCELERATION_STRUCTURE_COPY;
    if (stages & S(PRE_RASTERIZATION_SHADERS))
        expanded |= PRE_RASTERIZATION;
    if (stages & S(VERTEX_INPUT))
        expanded |= VERTEX_INPUTS;
    return expanded;
}

/* Spec, "Pipeline Stages": what is logically earlier than a stage in some pipeline that has it. */
#define BEFORE_VERTEX (S(DRAW_INDIRECT) | VERTEX_INPUTS)
#define BEFORE_TESTS (FRONT | SHADING_RATE | DENSITY)
static const struct {
    VkPipelineStageFlags2 stage, earlier;
} order[] = {
    {S(INDEX_INPUT), S(DRAW_INDIRECT)},
    {S(VERTEX_ATTRIBUTE_INPUT), S(DRAW_INDIRECT) | S(INDEX_INPUT)},
    {S(VERTEX_SHADER), BEFORE_VERTEX},
    {S(TESSELLATION_CONTROL_SHADER), BEFORE_VERTEX | S(VERTEX_SHADER)},
    {S(TESSELLATION_EVALUATION_SHADER), BEFORE_VERTEX | S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER)},
    {S(GEOMETRY_SHADER),
     BEFORE_VERTEX | S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER) | S(TESSELLATION_EVALUATION_SHADER)},
    {TRANSFORM_FEEDBACK, BEFORE_VERTEX | S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER) |
                             S(TESSELLATION_EVALUATION_SHADER) | S(GEOMETRY_SHADER)},
    {TASK, S(DRAW_INDIRECT)},
    {MESH, S(DRAW_INDIRECT) | TASK},
    {CLUSTER_CULLING, S(DRAW_INDIRECT)},
    {SHADING_RATE, FRONT},
    {S(EARLY_FRAGMENT_TESTS), BEFORE_TESTS},
    {S(FRAGMENT_SHADER), BEFORE_TESTS | S(EARLY_FRAGMENT_TESTS)},
    {S(LATE_FRAGMENT_TESTS), BEFORE_TESTS | S(EARLY_FRAGMENT_TESTS) | S(FRAGMENT_SHADER)},
    {S(COLOR_ATTACHMENT_OUTPUT),
     BEFORE_TESTS | S(EARLY_FRAGMENT_TESTS) | S(FRAGMENT_SHADER) | S(LATE_FRAGMENT_TESTS)},
    {S(COMPUTE_SHADER), S(DRAW_INDIRECT)},
    {RAY_TRACING, S(DRAW_INDIRECT)},
};
#define ORDER_COUNT (sizeof(order) / sizeof(order[0]))

/* As a source BOTTOM_OF_PIPE is all stages, as a destination TOP_OF_PIPE is, but never the host's. */
#define EVERYTHING (~(VkPipelineStageFlags2)(WHOLES | S(HOST)))

VkPipelineStageFlags2 scope_close_source(VkPipelineStageFlags2 stages)
{
    VkPipelineStageFlags2 closed = stages;
    if (stages & S(BOTTOM_OF_PIPE))
        return EVERYTHING | stages;
    for (size_t i = 0; i < ORDER_COUNT; i++)
        closed |= stages & order[i].stage ? order[i].earlier : 0;
    return closed ? closed | S(TOP_OF_PIPE) : 0;
}

VkPipelineStageFlags2 scope_close_destination(VkPipelineStageFlags2 stages)
{
    VkPipelineStageFlags2 closed = stages;
    if (stages & S(TOP_OF_PIPE))
        return EVERYTHING | stages;
    for (size_t i = 0; i < ORDER_COUNT; i++)
        closed |= stages & order[i].earlier ? order[i].stage : 0;
    return closed ? closed | S(BOTTOM_OF_PIPE) : 0;
}

VkPipelineStageFlags2 scope_stages_of_queue(VkPipelineStageFlags2 stages, VkQueueFlags queue)
{
    VkPipelineStageFlags2 allowed = queue_stages(queue) | ENDS | S(HOST) | S(ALL_COMMANDS);
    if (!queue || (queue & VK_QUEUE_GRAPHICS_BIT))
        allowed |= WHOLES;
    if (allowed & S(COPY))
        allowed |= S(ALL_TRANSFER);
    if (!stages)
        return stages;
    VkPipelineStageFlags2 kept = stages & allowed;
    return kept && scope_knows(stages) ? kept : kept | S(ALL_COMMANDS);
}

/* Spec, "Supported access types". */
static const struct {
    VkAccessFlags2 access;
    VkPipelineStageFlags2 stages;
} supported[] = {
    {A(INDIRECT_COMMAND_READ), S(DRAW_INDIRECT) | ACCELERATION_STRUCTURE_BUILD},
    {A(INDEX_READ), S(INDEX_INPUT)},
    {A(VERTEX_ATTRIBUTE_READ), S(VERTEX_ATTRIBUTE_INPUT)},
    {A(INPUT_ATTACHMENT_READ), S(FRAGMENT_SHADER) | SUBPASS_SHADING},
    {A(UNIFORM_READ) | A(SHADER_READ) | A(SHADER_WRITE) | A(SHADER_SAMPLED_READ) | A(SHADER_STORAGE_READ) |
         A(SHADER_STORAGE_WRITE) | VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR |
         VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT,
     SHADERS},
    {A(SHADER_READ), ACCELERATION_STRUCTURE_BUILD | MICROMAP_BUILD},
    {A(COLOR_ATTACHMENT_READ) | A(COLOR_ATTACHMENT_WRITE) |
         VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT,
     S(COLOR_ATTACHMENT_OUTPUT)},
    {A(DEPTH_STENCIL_ATTACHMENT_READ) | A(DEPTH_STENCIL_ATTACHMENT_WRITE),
     S(EARLY_FRAGMENT_TESTS) | S(LATE_FRAGMENT_TESTS)},
    {A(TRANSFER_READ),
     S(COPY) | S(BLIT) | S(RESOLVE) | ACCELERATION_STRUCTURE_BUILD | ACCELERATION_STRUCTURE_COPY},
    {A(TRANSFER_WRITE), TRANSFER | ACCELERATION_STRUCTURE_BUILD | ACCELERATION_STRUCTURE_COPY},
    {A(HOST_READ) | A(HOST_WRITE), S(HOST)},
    {VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT, CONDITIONAL_RENDERING},
    {VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT, DENSITY},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_WRITE_BIT_EXT | VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_WRITE_BIT_EXT,
     TRANSFORM_FEEDBACK},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT, TRANSFORM_FEEDBACK | S(DRAW_INDIRECT)},
    {VK_ACCESS_2_INVOCATION_MASK_READ_BIT_HUAWEI, INVOCATION_MASK},
    {VK_ACCESS_2_MICROMAP_WRITE_BIT_EXT, MICROMAP_BUILD},
    {VK_ACCESS_2_MICROMAP_READ_BIT_EXT, MICROMAP_BUILD | ACCELERATION_STRUCTURE_BUILD},
    {VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR, SHADING_RATE},
    {VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_NV | VK_ACCESS_2_COMMAND_PREPROCESS_WRITE_BIT_NV,
     COMMAND_PREPROCESS},
    {VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR | VK_ACCESS_2_ACCELERATION_STRUCTURE_WRITE_BIT_KHR,
     ACCELERATION_STRUCTURE_BUILD | ACCELERATION_STRUCTURE_COPY},
    {VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR, RAY_TRACING},
    {VK_ACCESS_2_VIDEO_DECODE_READ_BIT_KHR | VK_ACCESS_2_VIDEO_DECODE_WRITE_BIT_KHR, VIDEO_DECODE},
    {VIDEO_ENCODE_READ | VIDEO_ENCODE_WRITE, VIDEO_ENCODE},
    {VK_ACCESS_2_OPTICAL_FLOW_READ_BIT_NV | VK_ACCESS_2_OPTICAL_FLOW_WRITE_BIT_NV, OPTICAL_FLOW},
    {A(MEMORY_READ) | A(MEMORY_WRITE), SINGLES | S(HOST)},
};

VkAccessFlags2 scope_access_of_stages(VkAccessFlags2 access, VkPipelineStageFlags2 stages)
{
    VkAccessFlags2 can = 0;
    if ((stages & S(ALL_COMMANDS)) || !scope_knows(stages))
        return access;
    stages = scope_expand_stages(stages, 0);
    for (size_t i = 0; (access & ~can) && i < sizeof(supported) / sizeof(supported[0]); i++)
        if (supported[i].stages & stages)
            can |= supported[i].access;
    return access & can;
}

/* Bits that both masks of synchronization2 share with those of sync1. */
#define STAGES1 (ACCELERATION_STRUCTURE_BUILD * 2 - 1)
#define ACCESS1 (VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_WRITE_BIT_EXT * 2 - 1)

VkPipelineStageFlags scope_stages1(VkPipelineStageFlags2 stages, VkPipelineStageFlagBits none)
{
    VkPipelineStageFlags2 low = stages & STAGES1, high = stages & ~(VkPipelineStageFlags2)STAGES1;
    if (high & TRANSFER)
        low |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    if (high & VERTEX_INPUTS)
        low |= VK_PIPELINE_STAGE_VERTEX_INPUT_BIT;
    /* Shader by shader they would need features. */
    if (high & (S(PRE_RASTERIZATION_SHADERS) | CLUSTER_CULLING | SUBPASS_SHADING))
        low |= VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT;
    if (high & ACCELERATION_STRUCTURE_COPY)
        low |= VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR;
    if (high & ~(VkPipelineStageFlags2)(TRANSFER | VERTEX_INPUTS | S(PRE_RASTERIZATION_SHADERS) |
                                        CLUSTER_CULLING | SUBPASS_SHADING | ACCELERATION_STRUCTURE_COPY))
        low |= VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    return low ? (VkPipelineStageFlags)low : (VkPipelineStageFlags)none;
}

VkAccessFlags scope_access1(VkAccessFlags2 access)
{
    VkAccessFlags2 low = access & ACCESS1, high = access & ~(VkAccessFlags2)ACCESS1;
    VkAccessFlags2 shader_reads =
        A(SHADER_SAMPLED_READ) | A(SHADER_STORAGE_READ) | VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR;
    if (high & shader_reads)
        low |= VK_ACCESS_SHADER_READ_BIT;
    if (high & A(SHADER_STORAGE_WRITE))
        low |= VK_ACCESS_SHADER_WRITE_BIT;
    if (high & READS & ~shader_reads)
        low |= VK_ACCESS_MEMORY_READ_BIT;
    if (high & ~(VkAccessFlags2)(READS | A(SHADER_STORAGE_WRITE)))
        low |= VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    return (VkAccessFlags)low;
}
