#include "shader_fuzz.h"

#include <string.h>

#include "shader_fuzz_table.h"

#define TEXTURE VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define STORAGE VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
#define CONSTANTS 20 /* bytes */

/* --- Layouts --- */

static const struct {
    VkDescriptorType type;
    uint32_t count;
} bindings[] = {
    {TEXTURE, 1},
    {TEXTURE, 1},
    {TEXTURE, 4},
    {STORAGE, 1},
    {STORAGE, 1},
    {TEXTURE, 1},
    {TEXTURE, 1},
    {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1},
    {VK_DESCRIPTOR_TYPE_SAMPLER, 1},
    {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1},
    {TEXTURE, 1},
};
#define BINDINGS (sizeof(bindings) / sizeof(bindings[0]))

static VkDescriptorSetLayout set_layout_create(struct fuzz *fuzz, const VkDescriptorSetLayoutBinding *given,
                                               uint32_t count, enum fuzz_kind kind)
{
    VkDescriptorBindingFlags flags[BINDINGS] = {0};
    if (kind == FUZZ_PARTIAL)
        flags[2] = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
    if (kind == FUZZ_LATE)
        flags[0] = flags[1] = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
    VkDescriptorSetLayoutBindingFlagsCreateInfo more = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = count,
        .pBindingFlags = flags,
    };
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = kind == FUZZ_PARTIAL || kind == FUZZ_LATE ? &more : NULL,
        .flags = kind == FUZZ_PUSH   ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
                 : kind == FUZZ_LATE ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT
                                     : 0,
        .bindingCount = count,
        .pBindings = given,
    };
    VkDescriptorSetLayout layout;
    kit_check(vkCreateDescriptorSetLayout(fuzz->kit.device, &info, NULL, &layout),
              "vkCreateDescriptorSetLayout");
    return layout;
}

static bool has_kind(const struct fuzz *fuzz, enum fuzz_kind kind)
{
    static const uint32_t extras[FUZZ_KINDS] = {
        [FUZZ_PARTIAL] = KIT_PARTIALLY_BOUND,
        [FUZZ_LATE] = KIT_UPDATE_AFTER_BIND,
        [FUZZ_PUSH] = KIT_PUSH_DESCRIPTORS,
    };
    return kit_has(&fuzz->kit, extras[kind]);
}

/* The sampler of sets that are pushed is pushed too: lavapipe 22.3 forgets immutable ones there. */
static VkDescriptorSetLayout main_layout_create(struct fuzz *fuzz, enum fuzz_kind kind)
{
    VkDescriptorSetLayoutBinding made[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++) {
        bool immutable = bindings[i].type == VK_DESCRIPTOR_TYPE_SAMPLER && kind != FUZZ_PUSH;
        made[i] = (VkDescriptorSetLayoutBinding){i, bindings[i].type, bindings[i].count,
                                                 FUZZ_GRAPHICS_STAGES | VK_SHADER_STAGE_COMPUTE_BIT,
                                                 immutable ? &fuzz->sampler : NULL};
    }
    return set_layout_create(fuzz, made, BINDINGS, kind);
}

static void set_layouts_create(struct fuzz *fuzz)
{
    const VkDescriptorSetLayoutBinding other = {0, TEXTURE, 2,
                                                FUZZ_GRAPHICS_STAGES | VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutBinding input = {0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1,
                                                VK_SHADER_STAGE_FRAGMENT_BIT, NULL};
    for (enum fuzz_kind kind = FUZZ_PLAIN; kind <= FUZZ_PUSH; kind++)
        if (has_kind(fuzz, kind))
            fuzz->set_layouts[kind] = main_layout_create(fuzz, kind);
    fuzz->set_layouts[FUZZ_OTHER] = set_layout_create(fuzz, &other, 1, FUZZ_OTHER);
    fuzz->set_layouts[FUZZ_INPUT] = set_layout_create(fuzz, &input, 1, FUZZ_INPUT);
}

static VkPipelineLayout pipeline_layout_create(struct fuzz *fuzz, enum fuzz_kind kind, enum fuzz_kind second,
                                               VkShaderStageFlags stages)
{
    const VkDescriptorSetLayout sets[] = {fuzz->set_layouts[kind], fuzz->set_layouts[second]};
    VkPushConstantRange constants = {stages, 0, CONSTANTS};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 2,
        .pSetLayouts = sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };
    VkPipelineLayout layout;
    kit_check(vkCreatePipelineLayout(fuzz->kit.device, &info, NULL, &layout), "vkCreatePipelineLayout");
    return layout;
}

/* The data of a template: the infos of all slots, as enum fuzz_slot counts them, then the buffer's. */
static VkDescriptorUpdateTemplate template_create(struct fuzz *fuzz, enum fuzz_kind kind)
{
    VkDescriptorUpdateTemplateEntry entries[BINDINGS];
    uint32_t count = 0;
    size_t offset = 0;
    for (uint32_t i = 0; i < BINDINGS; i++) {
        bool sampler = bindings[i].type == VK_DESCRIPTOR_TYPE_SAMPLER;
        bool buffer = bindings[i].type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        if (sampler && kind != FUZZ_PUSH)
            continue;
        entries[count++] = (VkDescriptorUpdateTemplateEntry){
            .dstBinding = i,
            .descriptorCount = bindings[i].count,
            .descriptorType = bindings[i].type,
            .offset = buffer    ? FUZZ_SLOTS * sizeof(VkDescriptorImageInfo)
                      : sampler ? 0 /* any image's */
                                : offset,
            .stride = sizeof(VkDescriptorImageInfo),
        };
        if (!buffer && !sampler)
            offset += bindings[i].count * sizeof(VkDescriptorImageInfo);
    }
    VkDescriptorUpdateTemplateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = count,
        .pDescriptorUpdateEntries = entries,
        .templateType = kind == FUZZ_PUSH ? VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR
                                          : VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
        .descriptorSetLayout = fuzz->set_layouts[kind],
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .pipelineLayout = fuzz->layouts[kind][0],
    };
    VkDescriptorUpdateTemplate made;
    kit_check(vkCreateDescriptorUpdateTemplate(fuzz->kit.device, &info, NULL, &made),
              "vkCreateDescriptorUpdateTemplate");
    return made;
}

static VkDescriptorPool pool_create(struct fuzz *fuzz, VkDescriptorPoolCreateFlags flags)
{
    const VkDescriptorPoolSize sizes[] = {
        {TEXTURE, FUZZ_SETS * 9},
        {STORAGE, FUZZ_SETS * 2},
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, FUZZ_SETS},
        {VK_DESCRIPTOR_TYPE_SAMPLER, FUZZ_SETS},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, FUZZ_SETS},
        {VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, FUZZ_SETS},
    };
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .flags = flags,
        .maxSets = FUZZ_SETS,
        .poolSizeCount = sizeof(sizes) / sizeof(sizes[0]),
        .pPoolSizes = sizes,
    };
    VkDescriptorPool pool;
    kit_check(vkCreateDescriptorPool(fuzz->kit.device, &info, NULL, &pool), "vkCreateDescriptorPool");
    return pool;
}

static void sampler_create(struct fuzz *fuzz)
{
    VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .maxLod = VK_LOD_CLAMP_NONE,
    };
    kit_check(vkCreateSampler(fuzz->kit.device, &info, NULL, &fuzz->sampler), "vkCreateSampler");
}

void fuzz_shaders_create(struct fuzz *fuzz)
{
    sampler_create(fuzz);
    set_layouts_create(fuzz);
    for (enum fuzz_kind kind = FUZZ_PLAIN; kind <= FUZZ_PUSH; kind++) {
        if (!fuzz->set_layouts[kind])
            continue;
        fuzz->layouts[kind][0] = pipeline_layout_create(fuzz, kind, FUZZ_OTHER, FUZZ_GRAPHICS_STAGES);
        fuzz->layouts[kind][1] = pipeline_layout_create(fuzz, kind, FUZZ_INPUT, FUZZ_GRAPHICS_STAGES);
        fuzz->compute_layouts[kind] =
            pipeline_layout_create(fuzz, kind, FUZZ_OTHER, VK_SHADER_STAGE_COMPUTE_BIT);
        fuzz->templates[kind] = template_create(fuzz, kind);
    }
    fuzz->pool = pool_create(fuzz, 0);
    if (fuzz->set_layouts[FUZZ_LATE])
        fuzz->late_pool = pool_create(fuzz, VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT);
}

void fuzz_shaders_destroy(struct fuzz *fuzz)
{
    VkDevice device = fuzz->kit.device;
    for (uint32_t i = 0; i < fuzz->pipeline_count; i++)
        vkDestroyPipeline(device, fuzz->pipelines[i].handle, NULL);
    vkDestroyDescriptorPool(device, fuzz->pool, NULL);
    vkDestroyDescriptorPool(device, fuzz->late_pool, NULL);
    for (uint32_t i = 0; i <= FUZZ_PUSH; i++) {
        vkDestroyDescriptorUpdateTemplate(device, fuzz->templates[i], NULL);
        vkDestroyPipelineLayout(device, fuzz->layouts[i][0], NULL);
        vkDestroyPipelineLayout(device, fuzz->layouts[i][1], NULL);
        vkDestroyPipelineLayout(device, fuzz->compute_layouts[i], NULL);
    }
    for (uint32_t i = 0; i < FUZZ_KINDS; i++)
        vkDestroyDescriptorSetLayout(device, fuzz->set_layouts[i], NULL);
    vkDestroySampler(device, fuzz->sampler, NULL);
}

/* --- Pipelines --- */

const struct fuzz_shader *fuzz_shader(const struct fuzz_pipeline_key *key)
{
    return key->compute ? &compute_shaders[key->shader] : &fragment_shaders[key->shader];
}

uint32_t fuzz_shader_count(bool compute)
{
    return (uint32_t)(compute ? sizeof(compute_shaders) / sizeof(compute_shaders[0])
                              : sizeof(fragment_shaders) / sizeof(fragment_shaders[0]));
}

static VkPipelineShaderStageCreateInfo stage_create(struct fuzz *fuzz, const struct fuzz_shader *shader,
                                                    VkShaderStageFlagBits stage)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = shader->size,
        .pCode = shader->words,
    };
    VkShaderModule module;
    kit_check(vkCreateShaderModule(fuzz->kit.device, &info, NULL, &module), "vkCreateShaderModule");
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main",
    };
}

static VkPipeline compute_create(struct fuzz *fuzz, const struct fuzz_pipeline *made)
{
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage_create(fuzz, fuzz_shader(&made->key), VK_SHADER_STAGE_COMPUTE_BIT),
        .layout = made->layout,
    };
    VkPipeline pipeline;
    kit_check(vkCreateComputePipelines(fuzz->kit.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
              "vkCreateComputePipelines");
    vkDestroyShaderModule(fuzz->kit.device, info.stage.module, NULL);
    return pipeline;
}

static VkPipeline graphics_create(struct fuzz *fuzz, const struct fuzz_pipeline *made, VkRenderPass pass)
{
    static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkFormat format = RGBA, depth_format = VK_FORMAT_D32_SFLOAT_S8_UINT;
    bool depth = made->key.pass.depth && made->key.subpass == 0;
    VkPipelineShaderStageCreateInfo stages[2] = {
        stage_create(fuzz, &vertex_shaders[made->key.vertex_reads], VK_SHADER_STAGE_VERTEX_BIT),
        stage_create(fuzz, fuzz_shader(&made->key), VK_SHADER_STAGE_FRAGMENT_BIT),
    };
    VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = depth ? depth_format : VK_FORMAT_UNDEFINED,
        .stencilAttachmentFormat = depth ? depth_format : VK_FORMAT_UNDEFINED,
    };
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkPipelineDepthStencilStateCreateInfo depth_state = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = depth,
        .depthWriteEnable = depth,
        .depthCompareOp = VK_COMPARE_OP_ALWAYS,
    };
    VkPipelineColorBlendAttachmentState blend = {.colorWriteMask = 0xf};
    VkPipelineColorBlendStateCreateInfo blends = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &blend,
    };
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = pass ? NULL : &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth_state,
        .pColorBlendState = &blends,
        .pDynamicState = &dynamic,
        .layout = made->layout,
        .renderPass = pass,
        .subpass = made->key.subpass,
    };
    VkPipeline pipeline;
    kit_check(vkCreateGraphicsPipelines(fuzz->kit.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
              "vkCreateGraphicsPipelines");
    vkDestroyShaderModule(fuzz->kit.device, stages[0].module, NULL);
    vkDestroyShaderModule(fuzz->kit.device, stages[1].module, NULL);
    return pipeline;
}

static bool keys_equal(const struct fuzz_pipeline_key *a, const struct fuzz_pipeline_key *b)
{
    return a->compute == b->compute && a->shader == b->shader && a->vertex_reads == b->vertex_reads &&
           a->kind == b->kind && a->second_kind == b->second_kind && a->subpass == b->subpass &&
           a->pass.legacy == b->pass.legacy && a->pass.depth == b->pass.depth &&
           a->pass.dependencies == b->pass.dependencies && a->pass.two_subpasses == b->pass.two_subpasses;
}

const struct fuzz_pipeline *fuzz_pipeline(struct fuzz *fuzz, const struct fuzz_pipeline_key *key,
                                          VkRenderPass pass)
{
    for (uint32_t i = 0; i < fuzz->pipeline_count; i++)
        if (keys_equal(&fuzz->pipelines[i].key, key))
            return &fuzz->pipelines[i];
    kit_check(fuzz->pipeline_count < FUZZ_PIPELINES ? VK_SUCCESS : VK_ERROR_OUT_OF_POOL_MEMORY,
              "room for one more pipeline");
    struct fuzz_pipeline *made = &fuzz->pipelines[fuzz->pipeline_count++];
    made->key = *key;
    made->layout = key->compute ? fuzz->compute_layouts[key->kind]
                                : fuzz->layouts[key->kind][key->second_kind == FUZZ_INPUT];
    made->handle = key->compute ? compute_create(fuzz, made) : graphics_create(fuzz, made, pass);
    return made;
}
