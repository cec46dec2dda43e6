/* What of a create-info is a pipeline's state. The spec lets pointers be wild where they aren't used, so each
 * is looked at only where it must be valid. */
#include <stddef.h>
#include <string.h>

#include "pipelines.h"

/* The graphics create-info's state, by the subsets of VK_EXT_graphics_pipeline_library. */
#define ALL_SUBSETS                                                                                          \
    (VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT |                                           \
     VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT |                                        \
     VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT |                                                  \
     VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT)

const void *pipeline_info_at(enum pipeline_kind kind, const void *infos, uint32_t index)
{
    switch (kind) {
    case PIPELINE_GRAPHICS:
        return (const VkGraphicsPipelineCreateInfo *)infos + index;
    case PIPELINE_COMPUTE:
        return (const VkComputePipelineCreateInfo *)infos + index;
    case PIPELINE_RAY_TRACING_KHR:
        return (const VkRayTracingPipelineCreateInfoKHR *)infos + index;
    case PIPELINE_RAY_TRACING_NV:
        return (const VkRayTracingPipelineCreateInfoNV *)infos + index;
    }
    return NULL;
}

uint64_t pipeline_flags(enum pipeline_kind kind, const void *info)
{
#ifdef VK_KHR_maintenance5
    const VkPipelineCreateFlags2CreateInfoKHR *wide =
        chain_find(info, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR);

    if (wide)
        return wide->flags;
#endif
    switch (kind) {
    case PIPELINE_GRAPHICS:
        return ((const VkGraphicsPipelineCreateInfo *)info)->flags;
    case PIPELINE_COMPUTE:
        return ((const VkComputePipelineCreateInfo *)info)->flags;
    case PIPELINE_RAY_TRACING_KHR:
        return ((const VkRayTracingPipelineCreateInfoKHR *)info)->flags;
    case PIPELINE_RAY_TRACING_NV:
        return ((const VkRayTracingPipelineCreateInfoNV *)info)->flags;
    }
    return 0;
}

void pipeline_stages(enum pipeline_kind kind, const void *info, uint32_t *count,
                     const VkPipelineShaderStageCreateInfo **stages)
{
    *count = 0;
    *stages = NULL;
    switch (kind) {
    case PIPELINE_GRAPHICS:
        *count = ((const VkGraphicsPipelineCreateInfo *)info)->stageCount;
        *stages = ((const VkGraphicsPipelineCreateInfo *)info)->pStages;
        break;
    case PIPELINE_COMPUTE:
        *count = 1;
        *stages = &((const VkComputePipelineCreateInfo *)info)->stage;
        break;
    case PIPELINE_RAY_TRACING_KHR:
        *count = ((const VkRayTracingPipelineCreateInfoKHR *)info)->stageCount;
        *stages = ((const VkRayTracingPipelineCreateInfoKHR *)info)->pStages;
        break;
    case PIPELINE_RAY_TRACING_NV:
        *count = ((const VkRayTracingPipelineCreateInfoNV *)info)->stageCount;
        *stages = ((const VkRayTracingPipelineCreateInfoNV *)info)->pStages;
        break;
    }
}

static uint64_t hash_stage(uint64_t hash, const VkPipelineShaderStageCreateInfo *stage)
{
    const VkShaderModuleCreateInfo *code =
        chain_find(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    const VkSpecializationInfo *constants = stage->pSpecializationInfo;

    hash = hash_number(hash, stage->stage);
    hash = hash_number(hash, stage->flags);
    if (stage->module)
        hash = hash_number(hash, OBJECT(hashed_object, stage->module)->hash);
    else if (code)
        hash = hash_number(hash, hash_add(HASH_START, code->pCode, code->codeSize));
    hash = hash_add(hash, stage->pName, strlen(stage->pName));
    for (uint32_t i = 0; constants && i < constants->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &constants->pMapEntries[i];

        hash = hash_number(hash, entry->constantID);
        hash = hash_add(hash, (const char *)constants->pData + entry->offset, entry->size);
    }
    return hash;
}

/* A structure's members from behind its pNext up to `last`: they hold no pointers, and padding may follow. */
#define HASH_THROUGH(hash, structure, last)                                                                  \
    hash_between(hash, structure, offsetof(__typeof__(*(structure)), last) + sizeof((structure)->last))

static uint64_t hash_between(uint64_t hash, const void *structure, size_t end)
{
    const size_t begin = sizeof(VkBaseInStructure);

    return structure ? hash_add(hash, (const char *)structure + begin, end - begin) : hash_number(hash, 0);
}

static uint64_t hash_vertex_input(uint64_t hash, const VkPipelineVertexInputStateCreateInfo *state)
{
    if (!state)
        return hash_number(hash, 0);
    hash = hash_add(hash, state->pVertexBindingDescriptions,
                    state->vertexBindingDescriptionCount * sizeof(*state->pVertexBindingDescriptions));
    return hash_add(hash, state->pVertexAttributeDescriptions,
                    state->vertexAttributeDescriptionCount * sizeof(*state->pVertexAttributeDescriptions));
}

static uint64_t hash_blend(uint64_t hash, const VkPipelineColorBlendStateCreateInfo *state)
{
    if (!state)
        return hash_number(hash, 0);
    hash = hash_number(hash, state->flags);
    hash = hash_number(hash, state->logicOpEnable);
    hash = hash_number(hash, state->logicOp);
    hash = hash_add(hash, state->blendConstants, sizeof(state->blendConstants));
    if (state->pAttachments)
        hash = hash_add(hash, state->pAttachments, state->attachmentCount * sizeof(*state->pAttachments));
    return hash;
}

static uint64_t hash_multisample(uint64_t hash, const VkPipelineMultisampleStateCreateInfo *state)
{
    if (!state)
        return hash_number(hash, 0);
    hash = hash_number(hash, state->rasterizationSamples);
    hash = hash_number(hash, state->sampleShadingEnable);
    hash = hash_number(hash, state->alphaToCoverageEnable);
    return hash_number(hash, state->alphaToOneEnable);
}

static uint64_t hash_dynamic(uint64_t hash, const VkPipelineDynamicStateCreateInfo *state)
{
    return state ? hash_add(hash, state->pDynamicStates,
                            state->dynamicStateCount * sizeof(*state->pDynamicStates))
                 : hash_number(hash, 0);
}

static bool is_dynamic(const VkGraphicsPipelineCreateInfo *info, VkDynamicState wanted)
{
    for (uint32_t i = 0; info->pDynamicState && i < info->pDynamicState->dynamicStateCount; i++) {
        if (info->pDynamicState->pDynamicStates[i] == wanted)
            return true;
    }
    return false;
}

static VkShaderStageFlags stages_of(const VkGraphicsPipelineCreateInfo *info)
{
    VkShaderStageFlags stages = 0;

    for (uint32_t i = 0; i < info->stageCount; i++)
        stages |= info->pStages[i].stage;
    return stages;
}

static VkGraphicsPipelineLibraryFlagsEXT subsets_of(const VkGraphicsPipelineCreateInfo *info)
{
    const VkGraphicsPipelineLibraryCreateInfoEXT *part =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
    const VkPipelineLibraryCreateInfoKHR *libraries =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);

    if (part)
        return part->flags;
    return libraries && libraries->libraryCount ? 0 : ALL_SUBSETS;
}

static uint64_t hash_libraries(uint64_t hash, const void *chain,
                               const VkPipelineLibraryCreateInfoKHR *libraries)
{
    if (!libraries)
        libraries = chain_find(chain, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    for (uint32_t i = 0; libraries && i < libraries->libraryCount; i++)
        hash = hash_number(hash, OBJECT(pipeline, libraries->pLibraries[i])->key);
    return hash;
}

static uint64_t hash_pre_rasterization(uint64_t hash, const VkGraphicsPipelineCreateInfo *info)
{
    const VkShaderStageFlags tessellation =
        VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT | VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT;

    hash = HASH_THROUGH(hash, info->pRasterizationState, lineWidth);
    if ((stages_of(info) & tessellation) && info->pTessellationState)
        hash = hash_number(hash, info->pTessellationState->patchControlPoints);
    return hash;
}

/* Whether fragments may be made: what belongs to them must then be valid. */
static bool rasterizes(const VkGraphicsPipelineCreateInfo *info, VkGraphicsPipelineLibraryFlagsEXT subsets)
{
    if (!(subsets & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT))
        return true;
    return !info->pRasterizationState || !info->pRasterizationState->rasterizerDiscardEnable ||
           is_dynamic(info, VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE);
}

static uint64_t hash_attachments(uint64_t hash, const VkGraphicsPipelineCreateInfo *info, bool *colors,
                                 bool *depth)
{
    const struct render_pass *pass = OBJECT(render_pass, info->renderPass);
    const VkPipelineRenderingCreateInfo *rendering =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);

    *colors = *depth = false;
    if (pass) {
        bool far = info->subpass >= RENDER_PASS_MAX_SUBPASSES;

        *colors = far || pass->colors >> info->subpass & 1;
        *depth = far || pass->depths >> info->subpass & 1;
        return hash_number(hash_number(hash, pass->hashed.hash), info->subpass);
    }
    if (!rendering)
        return hash;
    *colors = rendering->colorAttachmentCount != 0;
    *depth = rendering->depthAttachmentFormat || rendering->stencilAttachmentFormat;
    hash = hash_number(hash, rendering->viewMask);
    hash = hash_add(hash, rendering->pColorAttachmentFormats,
                    rendering->colorAttachmentCount * sizeof(*rendering->pColorAttachmentFormats));
    hash = hash_number(hash, rendering->depthAttachmentFormat);
    return hash_number(hash, rendering->stencilAttachmentFormat);
}

static uint64_t hash_graphics(uint64_t hash, const VkGraphicsPipelineCreateInfo *info)
{
    VkGraphicsPipelineLibraryFlagsEXT subsets = subsets_of(info);
    bool mesh = stages_of(info) & VK_SHADER_STAGE_MESH_BIT_NV;
    bool colors, depth;

    hash = hash_number(hash, subsets);
    hash = hash_dynamic(hash, info->pDynamicState);
    hash = hash_libraries(hash, info->pNext, NULL);
    if ((subsets & VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT) && !mesh) {
        if (!is_dynamic(info, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT))
            hash = hash_vertex_input(hash, info->pVertexInputState);
        hash = HASH_THROUGH(hash, info->pInputAssemblyState, primitiveRestartEnable);
    }
    if (subsets & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT)
        hash = hash_pre_rasterization(hash, info);
    if (!rasterizes(info, subsets))
        return hash;
    if (subsets &
        (ALL_SUBSETS &
         ~(VkGraphicsPipelineLibraryFlagsEXT)VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT)) {
        hash = hash_attachments(hash, info, &colors, &depth);
        if ((subsets & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT) && depth)
            hash = HASH_THROUGH(hash, info->pDepthStencilState, maxDepthBounds);
        if ((subsets & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT) && colors)
            hash = hash_blend(hash, info->pColorBlendState);
    }
    if (subsets & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT)
        hash = hash_multisample(hash, info->pMultisampleState);
    return hash;
}

static uint64_t hash_layout(uint64_t hash, VkPipelineLayout layout)
{
    return hash_number(hash, layout ? OBJECT(hashed_object, layout)->hash : 0);
}

static uint64_t hash_ray_tracing(uint64_t hash, const VkRayTracingPipelineCreateInfoKHR *info)
{
    for (uint32_t i = 0; i < info->groupCount; i++) {
        const VkRayTracingShaderGroupCreateInfoKHR *group = &info->pGroups[i];

        hash = hash_number(hash, group->type);
        hash = hash_number(hash, group->generalShader);
        hash = hash_number(hash, group->closestHitShader);
        hash = hash_number(hash, group->anyHitShader);
        hash = hash_number(hash, group->intersectionShader);
    }
    hash = hash_number(hash, info->maxPipelineRayRecursionDepth);
    hash = hash_libraries(hash, NULL, info->pLibraryInfo);
    return hash_layout(hash, info->layout);
}

static uint64_t hash_ray_tracing_nv(uint64_t hash, const VkRayTracingPipelineCreateInfoNV *info)
{
    for (uint32_t i = 0; i < info->groupCount; i++)
        hash = HASH_THROUGH(hash, &info->pGroups[i], intersectionShader);
    hash = hash_number(hash, info->maxRecursionDepth);
    return hash_layout(hash, info->layout);
}

uint64_t pipeline_key(enum pipeline_kind kind, const void *info)
{
    const VkPipelineShaderStageCreateInfo *stages;
    uint32_t count;
    uint64_t hash = hash_number(HASH_START, kind);

    pipeline_stages(kind, info, &count, &stages);
    for (uint32_t i = 0; i < count; i++)
        hash = hash_stage(hash, &stages[i]);
    switch (kind) {
    case PIPELINE_GRAPHICS:
        hash = hash_graphics(hash, info);
        return hash_layout(hash, ((const VkGraphicsPipelineCreateInfo *)info)->layout);
    case PIPELINE_COMPUTE:
        return hash_layout(hash, ((const VkComputePipelineCreateInfo *)info)->layout);
    case PIPELINE_RAY_TRACING_KHR:
        return hash_ray_tracing(hash, info);
    case PIPELINE_RAY_TRACING_NV:
        return hash_ray_tracing_nv(hash, info);
    }
    return hash;
}
