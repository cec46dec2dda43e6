#include "kit_shader.h"
#include "kit_shader_table.h"

static VkShaderModule module_create(struct kit *kit, const struct kit_shader_entry *shader)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = shader->size,
        .pCode = shader->words,
    };
    VkShaderModule module;
    kit_check(vkCreateShaderModule(kit->device, &info, NULL, &module), "vkCreateShaderModule");
    return module;
}

static VkPipelineShaderStageCreateInfo stage_of(VkShaderModule module, VkShaderStageFlagBits stage)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main",
    };
}

static VkPipelineLayout layout_create(struct kit *kit, VkDescriptorSetLayout set, uint32_t sets)
{
    const VkDescriptorSetLayout layouts[KIT_SETS_MAX] = {set, set};
    VkPushConstantRange constants = {KIT_STAGES, 0, KIT_CONSTANTS};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = sets,
        .pSetLayouts = layouts,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };
    VkPipelineLayout layout;
    kit_check_room(kit->pipeline_layout_count);
    kit_check(vkCreatePipelineLayout(kit->device, &info, NULL, &layout), "vkCreatePipelineLayout");
    return kit->pipeline_layouts[kit->pipeline_layout_count++] = layout;
}

static VkPipeline keep(struct kit *kit, VkPipeline pipeline)
{
    kit_check_room(kit->pipeline_count);
    return kit->pipelines[kit->pipeline_count++] = pipeline;
}

static VkPipeline compute_create(struct kit *kit, VkPipelineLayout layout, VkShaderModule module)
{
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage_of(module, VK_SHADER_STAGE_COMPUTE_BIT),
        .layout = layout,
    };
    VkPipeline pipeline;
    kit_check(vkCreateComputePipelines(kit->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
              "vkCreateComputePipelines");
    return keep(kit, pipeline);
}

static VkPipeline graphics_create(struct kit *kit, const VkGraphicsPipelineCreateInfo *info)
{
    VkPipeline pipeline;
    kit_check(vkCreateGraphicsPipelines(kit->device, VK_NULL_HANDLE, 1, info, NULL, &pipeline),
              "vkCreateGraphicsPipelines");
    return keep(kit, pipeline);
}

/* Four libraries, each from its part of `whole`, and then the pipeline. */
static VkPipeline link_libraries(struct kit *kit, const VkGraphicsPipelineCreateInfo *whole)
{
    static const VkGraphicsPipelineLibraryFlagBitsEXT parts[] = {
        VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT,
        VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
        VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
        VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT,
    };
    VkPipeline libraries[4];
    for (uint32_t i = 0; i < 4; i++) {
        VkGraphicsPipelineLibraryCreateInfoEXT part = {
            .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
            .pNext = (void *)(uintptr_t)whole->pNext,
            .flags = (VkGraphicsPipelineLibraryFlagsEXT)parts[i],
        };
        VkGraphicsPipelineCreateInfo info = *whole;
        info.pNext = &part;
        info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
        /* stages[0] is the vertex shader, stages[1] the fragment shader */
        info.stageCount = i == 1 || i == 2;
        info.pStages = whole->pStages + (i == 2);
        libraries[i] = graphics_create(kit, &info);
    }
    VkPipelineLibraryCreateInfoKHR linked = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .libraryCount = 4,
        .pLibraries = libraries,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &linked,
        .layout = whole->layout,
    };
    return graphics_create(kit, &info);
}

static VkPipeline graphics(struct kit *kit, const struct kit_pipeline_info *wanted, VkPipelineLayout layout,
                           VkShaderModule vertex, VkShaderModule fragment)
{
    static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR,
                                            VK_DYNAMIC_STATE_BLEND_CONSTANTS, VK_DYNAMIC_STATE_CULL_MODE};
    uint32_t side = wanted->side ? wanted->side : KIT_SIDE;
    VkFormat format = wanted->format ? wanted->format : VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .viewMask = wanted->view_mask,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
    };
    VkPipelineShaderStageCreateInfo stages[2] = {stage_of(vertex, VK_SHADER_STAGE_VERTEX_BIT),
                                                 stage_of(fragment, VK_SHADER_STAGE_FRAGMENT_BIT)};
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    VkViewport area = {0, 0, (float)side, (float)side, 0, 1};
    VkRect2D scissor = {{0, 0}, {side, side}};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &area,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    VkPipelineColorBlendAttachmentState blend = {
        .blendEnable = wanted->dynamic,
        .srcColorBlendFactor = VK_BLEND_FACTOR_CONSTANT_COLOR,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = 0xf,
    };
    VkPipelineColorBlendStateCreateInfo blends = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &blend,
    };
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = sizeof(states) / sizeof(states[0]),
        .pDynamicStates = states,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = wanted->pass ? NULL : &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blends,
        .pDynamicState = wanted->dynamic ? &dynamic : NULL,
        .layout = layout,
        .renderPass = wanted->pass,
        .subpass = wanted->subpass,
    };
    return wanted->libraries ? link_libraries(kit, &info) : graphics_create(kit, &info);
}

struct kit_pipeline kit_pipeline_layout(struct kit *kit, enum kit_shader shader,
                                        VkDescriptorSetLayoutCreateFlags flags)
{
    const struct kit_shader_entry *entry = kit_shader_entry(shader);
    struct kit_pipeline made = {
        .set_layout = entry->sets ? kit_set_layout(kit, shader, flags) : VK_NULL_HANDLE,
        .point = entry->stage == VK_SHADER_STAGE_COMPUTE_BIT ? VK_PIPELINE_BIND_POINT_COMPUTE
                                                             : VK_PIPELINE_BIND_POINT_GRAPHICS,
        .shader = shader,
    };
    made.layout = layout_create(kit, made.set_layout, entry->sets);
    return made;
}

struct kit_pipeline kit_pipeline(struct kit *kit, const struct kit_pipeline_info *info)
{
    VkDescriptorSetLayoutCreateFlags flags =
        (info->push ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0u) |
        (info->after_bind ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT : 0u);
    struct kit_pipeline made = kit_pipeline_layout(kit, info->shader, flags);
    VkShaderModule module = module_create(kit, kit_shader_entry(info->shader));
    if (made.point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        made.pipeline = compute_create(kit, made.layout, module);
    } else {
        VkShaderModule vertex = module_create(kit, info->capture ? &kit_capture : &kit_fullscreen);
        made.pipeline = graphics(kit, info, made.layout, vertex, module);
        vkDestroyShaderModule(kit->device, vertex, NULL);
    }
    vkDestroyShaderModule(kit->device, module, NULL);
    return made;
}

void kit_bind(VkCommandBuffer commands, const struct kit_pipeline *pipeline, VkDescriptorSet set)
{
    vkCmdBindPipeline(commands, pipeline->point, pipeline->pipeline);
    if (set)
        vkCmdBindDescriptorSets(commands, pipeline->point, pipeline->layout, 0, 1, &set, 0, NULL);
}

void kit_constants(VkCommandBuffer commands, const struct kit_pipeline *pipeline, uint32_t value)
{
    const float color[KIT_CONSTANTS / sizeof(float)] = {
        (float)(value % 5 + 1) / 5, (float)(value % 3 + 1) / 3, (float)(value % 7) / 6, 1};
    vkCmdPushConstants(commands, pipeline->layout, KIT_STAGES, 0, KIT_CONSTANTS, color);
}

void kit_draw(VkCommandBuffer commands, const struct kit_pipeline *pipeline, VkDescriptorSet set)
{
    kit_bind(commands, pipeline, set);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

void kit_dispatch(VkCommandBuffer commands, const struct kit_pipeline *pipeline, VkDescriptorSet set)
{
    kit_bind(commands, pipeline, set);
    vkCmdDispatch(commands, KIT_SIDE / 8, KIT_SIDE / 8, 1);
}
