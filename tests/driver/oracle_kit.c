#include "oracle_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "triangle_mesh.h"
#include "triangle_vert.h"

#define BUFFER_SIZE 4096
#define CHECK(call) assert_int_equal(call, VK_SUCCESS)

static void create_buffer(struct kit *kit)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = BUFFER_SIZE,
        .usage = VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR,
    };
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags};
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    struct vulkan_client *c = &kit->scene.client;
    VkMemoryRequirements requirements;

    CHECK(c->vkCreateBuffer(c->device, &info, NULL, &kit->buffer));
    c->vkGetBufferMemoryRequirements(c->device, kit->buffer, &requirements);
    allocation.allocationSize = requirements.size;
    allocation.memoryTypeIndex = (uint32_t)__builtin_ctz(requirements.memoryTypeBits);
    CHECK(c->vkAllocateMemory(c->device, &allocation, NULL, &kit->memory));
    CHECK(c->vkBindBufferMemory(c->device, kit->buffer, kit->memory, 0));
    address.buffer = kit->buffer;
    kit->address = c->vkGetBufferDeviceAddress(c->device, &address);
}

static void create_pool(struct kit *kit)
{
    const VkDescriptorType mutable_types[] = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                              VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
    const VkMutableDescriptorTypeListEXT lists[] = {{0}, {0}, {0}, {2, mutable_types}};
    const VkMutableDescriptorTypeCreateInfoEXT mutable_info = {
        VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT, NULL, 4, lists};
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 64},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 64},
                                          {VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 64},
                                          {VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 64}};
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .pNext = &mutable_info,
        .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT |
                 VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT,
        .maxSets = 64,
        .poolSizeCount = 4,
        .pPoolSizes = sizes,
    };
    struct vulkan_client *c = &kit->scene.client;

    CHECK(c->vkCreateDescriptorPool(c->device, &info, NULL, &kit->pool));
}

void kit_init(struct kit *kit, bool validated)
{
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .maxLod = 1};
    struct vulkan_client *c = &kit->scene.client;

    memset(kit, 0, sizeof(*kit));
    scene_init(&kit->scene, &(struct scene_options){.validated = validated, .shaders = true});
    CHECK(c->vkCreateSampler(c->device, &sampler, NULL, &kit->sampler));
    create_buffer(kit);
    create_pool(kit);
}

void kit_finish(struct kit *kit)
{
    struct vulkan_client *c = &kit->scene.client;

    CHECK(c->vkDeviceWaitIdle(c->device));
    for (uint32_t i = 0; i < kit->template_count; i++)
        c->vkDestroyDescriptorUpdateTemplate(c->device, kit->templates[i], NULL);
    for (uint32_t i = 0; i < kit->pipeline_count; i++)
        c->vkDestroyPipeline(c->device, kit->pipelines[i], NULL);
    for (uint32_t i = 0; i < kit->module_count; i++)
        c->vkDestroyShaderModule(c->device, kit->modules[i], NULL);
    for (uint32_t i = 0; i < kit->layout_count; i++)
        c->vkDestroyPipelineLayout(c->device, kit->layouts[i], NULL);
    for (uint32_t i = 0; i < kit->set_layout_count; i++)
        c->vkDestroyDescriptorSetLayout(c->device, kit->set_layouts[i], NULL);
    c->vkDestroyDescriptorPool(c->device, kit->pool, NULL);
    c->vkDestroyBuffer(c->device, kit->buffer, NULL);
    c->vkFreeMemory(c->device, kit->memory, NULL);
    c->vkDestroySampler(c->device, kit->sampler, NULL);
    scene_finish(&kit->scene);
}

/* --- Descriptors --- */

VkDescriptorSetLayout kit_set_layout(struct kit *kit, VkDescriptorSetLayoutCreateFlags flags, uint32_t count,
                                     const struct kit_binding *wanted)
{
    const VkDescriptorType mutable_types[] = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                              VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
    VkMutableDescriptorTypeListEXT lists[KIT_MAX] = {0};
    VkDescriptorSetLayoutBinding bindings[KIT_MAX];
    VkDescriptorBindingFlags binding_flags[KIT_MAX];
    const VkMutableDescriptorTypeCreateInfoEXT mutable_info = {
        VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT, NULL, count, lists};
    const VkDescriptorSetLayoutBindingFlagsCreateInfo flags_info = {
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, &mutable_info, count,
        binding_flags};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = &flags_info,
        .flags = flags,
        .bindingCount = count,
        .pBindings = bindings,
    };
    struct vulkan_client *c = &kit->scene.client;
    VkDescriptorSetLayout layout;

    assert_true(kit->set_layout_count < KIT_MAX);
    for (uint32_t i = 0; i < count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = wanted[i].number,
            .descriptorType = wanted[i].type,
            .descriptorCount = wanted[i].count ? wanted[i].count : 1,
            .stageFlags = wanted[i].type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT
                              ? (VkShaderStageFlags)VK_SHADER_STAGE_FRAGMENT_BIT
                              : VK_SHADER_STAGE_ALL,
        };
        binding_flags[i] = wanted[i].flags;
        if (wanted[i].type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT)
            lists[i] = (VkMutableDescriptorTypeListEXT){2, mutable_types};
    }
    CHECK(c->vkCreateDescriptorSetLayout(c->device, &info, NULL, &layout));
    return kit->set_layouts[kit->set_layout_count++] = layout;
}

VkPipelineLayout kit_layout(struct kit *kit, VkDescriptorSetLayout set)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, 4};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    struct vulkan_client *c = &kit->scene.client;
    VkPipelineLayout layout;

    assert_true(kit->layout_count < KIT_MAX);
    CHECK(c->vkCreatePipelineLayout(c->device, &info, NULL, &layout));
    return kit->layouts[kit->layout_count++] = layout;
}

VkDescriptorSet kit_set(struct kit *kit, VkDescriptorSetLayout layout, uint32_t variable)
{
    const VkDescriptorSetVariableDescriptorCountAllocateInfo counts = {
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO, NULL, 1, &variable};
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .pNext = variable ? &counts : NULL,
        .descriptorPool = kit->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    struct vulkan_client *c = &kit->scene.client;
    VkDescriptorSet set;

    CHECK(c->vkAllocateDescriptorSets(c->device, &info, &set));
    return set;
}

VkDescriptorImageInfo kit_image_info(const struct kit *kit, VkImageView view, VkImageLayout layout)
{
    return (VkDescriptorImageInfo){kit->sampler, view, layout};
}

VkWriteDescriptorSet kit_image_write(VkDescriptorSet set, uint32_t binding, uint32_t element,
                                     VkDescriptorType type, const VkDescriptorImageInfo *info)
{
    return (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .dstBinding = binding,
        .dstArrayElement = element,
        .descriptorCount = 1,
        .descriptorType = type,
        .pImageInfo = info,
    };
}

void kit_write(struct kit *kit, VkDescriptorSet set, uint32_t binding, uint32_t element,
               VkDescriptorType type, VkImageView view, VkImageLayout layout)
{
    const VkDescriptorImageInfo info = kit_image_info(kit, view, layout);
    const VkWriteDescriptorSet write = kit_image_write(set, binding, element, type, &info);

    kit->scene.client.vkUpdateDescriptorSets(kit->scene.client.device, 1, &write, 0, NULL);
}

VkDescriptorUpdateTemplate kit_template(struct kit *kit, VkDescriptorSetLayout set, VkPipelineLayout layout)
{
    const VkDescriptorUpdateTemplateEntry entry = {
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .stride = sizeof(VkDescriptorImageInfo),
    };
    const VkDescriptorUpdateTemplateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = 1,
        .pDescriptorUpdateEntries = &entry,
        .templateType = layout ? VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR
                               : VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
        .descriptorSetLayout = set,
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_COMPUTE,
        .pipelineLayout = layout,
    };
    struct vulkan_client *c = &kit->scene.client;
    VkDescriptorUpdateTemplate template;

    assert_true(kit->template_count < KIT_MAX);
    CHECK(c->vkCreateDescriptorUpdateTemplate(c->device, &info, NULL, &template));
    return kit->templates[kit->template_count++] = template;
}

/* --- Pipelines --- */

static VkPipelineShaderStageCreateInfo stage(struct kit *kit, VkShaderStageFlagBits bit, struct kit_code code)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code.size, .pCode = code.words};
    struct vulkan_client *c = &kit->scene.client;
    VkShaderModule module;

    assert_true(kit->module_count < KIT_MAX);
    CHECK(c->vkCreateShaderModule(c->device, &info, NULL, &module));
    kit->modules[kit->module_count++] = module;
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = bit,
        .module = module,
        .pName = "main",
    };
}

static VkPipeline keep(struct kit *kit, VkPipeline pipeline)
{
    assert_true(kit->pipeline_count < KIT_MAX);
    return kit->pipelines[kit->pipeline_count++] = pipeline;
}

VkPipeline kit_compute(struct kit *kit, struct kit_code code, VkPipelineLayout layout)
{
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage(kit, VK_SHADER_STAGE_COMPUTE_BIT, code),
        .layout = layout,
    };
    struct vulkan_client *c = &kit->scene.client;
    VkPipeline pipeline;

    CHECK(c->vkCreateComputePipelines(c->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    return keep(kit, pipeline);
}

static VkPipeline ray_tracing(struct kit *kit, const VkRayTracingPipelineCreateInfoKHR *info)
{
    struct vulkan_client *c = &kit->scene.client;
    VkPipeline pipeline;

    CHECK(c->vkCreateRayTracingPipelinesKHR(c->device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, info, NULL,
                                            &pipeline));
    return keep(kit, pipeline);
}

VkPipeline kit_ray_tracing(struct kit *kit, struct kit_code code, VkPipelineLayout layout, bool by_library)
{
    const VkPipelineShaderStageCreateInfo stages[] = {stage(kit, VK_SHADER_STAGE_RAYGEN_BIT_KHR, code)};
    const VkRayTracingShaderGroupCreateInfoKHR group = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
        .type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR,
        .closestHitShader = VK_SHADER_UNUSED_KHR,
        .anyHitShader = VK_SHADER_UNUSED_KHR,
        .intersectionShader = VK_SHADER_UNUSED_KHR,
    };
    const VkRayTracingPipelineInterfaceCreateInfoKHR interface = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_INTERFACE_CREATE_INFO_KHR,
        .maxPipelineRayPayloadSize = 16,
        .maxPipelineRayHitAttributeSize = 8,
    };
    const VkRayTracingPipelineCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
        .flags = by_library ? VK_PIPELINE_CREATE_LIBRARY_BIT_KHR : 0,
        .stageCount = 1,
        .pStages = stages,
        .groupCount = 1,
        .pGroups = &group,
        .maxPipelineRayRecursionDepth = 1,
        .pLibraryInterface = &interface,
        .layout = layout,
    };
    VkPipelineLibraryCreateInfoKHR libraries = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
                                                .libraryCount = 1};
    VkRayTracingPipelineCreateInfoKHR linked = {
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
        .maxPipelineRayRecursionDepth = 1,
        .pLibraryInfo = &libraries,
        .pLibraryInterface = &interface,
        .layout = layout,
    };
    VkPipeline pipeline = ray_tracing(kit, &info);

    if (!by_library)
        return pipeline;
    libraries.pLibraries = &pipeline;
    return ray_tracing(kit, &linked);
}

static VkPipeline graphics(struct kit *kit, const VkGraphicsPipelineCreateInfo *info)
{
    struct vulkan_client *c = &kit->scene.client;
    VkPipeline pipeline;

    CHECK(c->vkCreateGraphicsPipelines(c->device, VK_NULL_HANDLE, 1, info, NULL, &pipeline));
    return keep(kit, pipeline);
}

/* Everything before fragments in one library, everything else in the other. */
static VkPipeline link_graphics(struct kit *kit, const VkGraphicsPipelineCreateInfo *info)
{
    VkGraphicsPipelineLibraryCreateInfoEXT part = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .flags = VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT |
                 VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
    };
    VkGraphicsPipelineCreateInfo library = *info;
    VkPipeline parts[2];
    const VkPipelineLibraryCreateInfoKHR libraries = {VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
                                                      NULL, 2, parts};
    const VkGraphicsPipelineCreateInfo linked = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                                 .pNext = &libraries,
                                                 .layout = info->layout};

    library.pNext = &part;
    library.flags |= VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    library.stageCount = 1;
    parts[0] = graphics(kit, &library);
    part.pNext = (void *)(uintptr_t)info->pNext;
    part.flags = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT |
                 VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;
    library.pStages++;
    parts[1] = graphics(kit, &library);
    return graphics(kit, &linked);
}

VkPipeline kit_graphics(struct kit *kit, struct kit_code fragment, VkPipelineLayout layout, VkRenderPass pass,
                        uint32_t flags)
{
    const VkFormat format = SCENE_COLOR;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = flags & KIT_DEPTH ? SCENE_DEPTH : VK_FORMAT_UNDEFINED,
    };
    const VkPipelineShaderStageCreateInfo stages[] = {
        flags & KIT_MESH ? stage(kit, VK_SHADER_STAGE_MESH_BIT_EXT, KIT_CODE(triangle_mesh))
                         : stage(kit, VK_SHADER_STAGE_VERTEX_BIT, KIT_CODE(triangle_vert)),
        stage(kit, VK_SHADER_STAGE_FRAGMENT_BIT, fragment),
    };
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkViewport viewport = {0, 0, SCENE_SIZE, SCENE_SIZE, 0, 1};
    const VkRect2D scissor = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}};
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    const VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = pass ? NULL : &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .layout = layout,
        .renderPass = pass,
    };

    return flags & KIT_LIBRARIES ? link_graphics(kit, &info) : graphics(kit, &info);
}

void kit_bind(struct kit *kit, VkPipelineBindPoint point, VkPipeline pipeline, VkPipelineLayout layout,
              VkDescriptorSet set)
{
    struct vulkan_client *c = &kit->scene.client;

    c->vkCmdBindPipeline(kit->scene.cmd, point, pipeline);
    if (set)
        c->vkCmdBindDescriptorSets(kit->scene.cmd, point, layout, 0, 1, &set, 0, NULL);
}
