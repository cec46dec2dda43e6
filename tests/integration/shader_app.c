#include "shader_app.h"

#include "dynamic_frag.h"
#include "element_frag.h"
#include "fullscreen_vert.h"
#include "load_storage_frag.h"
#include "sample_frag.h"
#include "sample_to_image_comp.h"
#include "sample_two_sets_frag.h"
#include "store_image_comp.h"
#include "two_images_comp.h"

#define INSERTIONS_MAX 16

static const struct {
    const uint32_t *words;
    size_t size;
    VkShaderStageFlagBits stage;
} sources[SHADER_COUNT] = {
    [SHADER_VERTEX] = {fullscreen_vert, sizeof(fullscreen_vert), VK_SHADER_STAGE_VERTEX_BIT},
    [SHADER_SAMPLE] = {sample_frag, sizeof(sample_frag), VK_SHADER_STAGE_FRAGMENT_BIT},
    [SHADER_TWO_SETS] = {sample_two_sets_frag, sizeof(sample_two_sets_frag), VK_SHADER_STAGE_FRAGMENT_BIT},
    [SHADER_ELEMENT] = {element_frag, sizeof(element_frag), VK_SHADER_STAGE_FRAGMENT_BIT},
    [SHADER_DYNAMIC] = {dynamic_frag, sizeof(dynamic_frag), VK_SHADER_STAGE_FRAGMENT_BIT},
    [SHADER_LOAD] = {load_storage_frag, sizeof(load_storage_frag), VK_SHADER_STAGE_FRAGMENT_BIT},
    [SHADER_CONVERT] = {sample_to_image_comp, sizeof(sample_to_image_comp), VK_SHADER_STAGE_COMPUTE_BIT},
    [SHADER_STORE] = {store_image_comp, sizeof(store_image_comp), VK_SHADER_STAGE_COMPUTE_BIT},
    [SHADER_TWO_IMAGES] = {two_images_comp, sizeof(two_images_comp), VK_SHADER_STAGE_COMPUTE_BIT},
};

/* --- Life --- */

void shaders_keep(struct shaders *shaders, VkObjectType type, uint64_t handle)
{
    CHECK(shaders->kept_count < SHADER_OBJECTS_MAX);
    shaders->kept[shaders->kept_count].type = type;
    shaders->kept[shaders->kept_count++].handle = handle;
}

static void destroy(VkDevice device, VkObjectType type, uint64_t handle)
{
#define DESTROY(constant, name)                                                                              \
    case VK_OBJECT_TYPE_##constant:                                                                          \
        vkDestroy##name(device, (Vk##name)handle, NULL);                                                     \
        break;
    switch ((int)type) {
        DESTROY(SHADER_MODULE, ShaderModule)
        DESTROY(SAMPLER, Sampler)
        DESTROY(DESCRIPTOR_POOL, DescriptorPool)
        DESTROY(DESCRIPTOR_SET_LAYOUT, DescriptorSetLayout)
        DESTROY(DESCRIPTOR_UPDATE_TEMPLATE, DescriptorUpdateTemplate)
        DESTROY(PIPELINE_LAYOUT, PipelineLayout)
        DESTROY(PIPELINE, Pipeline)
        DESTROY(RENDER_PASS, RenderPass)
        DESTROY(FRAMEBUFFER, Framebuffer)
        DESTROY(IMAGE_VIEW, ImageView)
        DESTROY(COMMAND_POOL, CommandPool)
    default:
        harness_fail(__FILE__, __LINE__, "objects of type %d aren't known", (int)type);
    }
#undef DESTROY
}

void shaders_destroy(struct shaders *shaders, VkObjectType type, uint64_t handle)
{
    uint32_t i = 0;
    while (shaders->kept[i].type != type || shaders->kept[i].handle != handle)
        CHECK(++i < shaders->kept_count);
    destroy(shaders->app->device, type, handle);
    shaders->kept_count--;
    for (; i < shaders->kept_count; i++)
        shaders->kept[i] = shaders->kept[i + 1];
}

VkShaderModuleCreateInfo shaders_code(enum shader shader)
{
    return (VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = sources[shader].size,
                                      .pCode = sources[shader].words};
}

static VkShaderModule create_module(struct shaders *shaders, enum shader shader)
{
    VkShaderModuleCreateInfo info = shaders_code(shader);
    VkShaderModule module;
    CHECK_EQUAL(vkCreateShaderModule(shaders->app->device, &info, NULL, &module), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)module);
    return module;
}

void shaders_open(struct shaders *shaders, const struct record_app *app)
{
    *shaders = (struct shaders){.app = app};
    VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    const VkDescriptorSetLayoutBinding bindings[] = {
        shaders_binding(0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1),
        shaders_binding(1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1),
    };
    for (enum shader i = 0; i < SHADER_COUNT; i++)
        shaders->modules[i] = create_module(shaders, i);
    CHECK_EQUAL(vkCreateSampler(app->device, &sampler, NULL, &shaders->sampler), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_SAMPLER, (uint64_t)shaders->sampler);
    shaders->pool = shaders_pool(shaders);
    shaders->one = shaders_set_layout(shaders, 0, 1, bindings, NULL);
    shaders->convert = shaders_set_layout(shaders, 0, 2, bindings, NULL);
    const VkDescriptorSetLayout two[] = {shaders->one, shaders->one};
    shaders->one_layout = shaders_layout(shaders, 1, two);
    shaders->two_layout = shaders_layout(shaders, 2, two);
    shaders->convert_layout = shaders_layout(shaders, 1, &shaders->convert);
}

void shaders_close(struct shaders *shaders)
{
    CHECK_EQUAL(vkDeviceWaitIdle(shaders->app->device), VK_SUCCESS);
    while (shaders->kept_count-- > 0)
        destroy(shaders->app->device, shaders->kept[shaders->kept_count].type,
                shaders->kept[shaders->kept_count].handle);
}

/* --- Descriptors --- */

VkDescriptorSetLayoutBinding shaders_binding(uint32_t number, VkDescriptorType type, uint32_t count)
{
    return (VkDescriptorSetLayoutBinding){.binding = number,
                                          .descriptorType = type,
                                          .descriptorCount = count,
                                          .stageFlags =
                                              VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT};
}

VkDescriptorSetLayout shaders_set_layout(struct shaders *shaders, VkDescriptorSetLayoutCreateFlags flags,
                                         uint32_t count, const VkDescriptorSetLayoutBinding *bindings,
                                         const VkDescriptorBindingFlags *binding_flags)
{
    VkDescriptorSetLayoutBindingFlagsCreateInfo chained = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = count,
        .pBindingFlags = binding_flags};
    VkDescriptorSetLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            .pNext = binding_flags ? &chained : NULL,
                                            .flags = flags,
                                            .bindingCount = count,
                                            .pBindings = bindings};
    VkDescriptorSetLayout layout;
    CHECK_EQUAL(vkCreateDescriptorSetLayout(shaders->app->device, &info, NULL, &layout), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout);
    return layout;
}

VkPipelineLayout shaders_layout(struct shaders *shaders, uint32_t count, const VkDescriptorSetLayout *sets)
{
    VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 16};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = count,
                                       .pSetLayouts = sets,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &constants};
    VkPipelineLayout layout;
    CHECK_EQUAL(vkCreatePipelineLayout(shaders->app->device, &info, NULL, &layout), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout);
    return layout;
}

VkDescriptorPool shaders_pool(struct shaders *shaders)
{
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 4096},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 256},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4096},
                                          {VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 64},
                                          {VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 4096}};
    VkDescriptorPoolInlineUniformBlockCreateInfo blocks = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_INLINE_UNIFORM_BLOCK_CREATE_INFO,
        .maxInlineUniformBlockBindings = 16};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .pNext = &blocks,
                                       .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT |
                                                VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT,
                                       .maxSets = 1024,
                                       .poolSizeCount = sizeof(sizes) / sizeof(sizes[0]),
                                       .pPoolSizes = sizes};
    VkDescriptorPool pool;
    CHECK_EQUAL(vkCreateDescriptorPool(shaders->app->device, &info, NULL, &pool), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)pool);
    return pool;
}

VkDescriptorSet shaders_set(const struct shaders *shaders, VkDescriptorSetLayout layout)
{
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = shaders->pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &layout};
    VkDescriptorSet set;
    CHECK_EQUAL(vkAllocateDescriptorSets(shaders->app->device, &info, &set), VK_SUCCESS);
    return set;
}

VkDescriptorImageInfo shaders_image(const struct shaders *shaders, VkImageView view, VkImageLayout layout)
{
    return (VkDescriptorImageInfo){shaders->sampler, view, layout};
}

void shaders_write(const struct shaders *shaders, VkDescriptorSet set, uint32_t binding, uint32_t element,
                   VkDescriptorType type, VkImageView view, VkImageLayout layout)
{
    VkDescriptorImageInfo image = shaders_image(shaders, view, layout);
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .dstBinding = binding,
                                  .dstArrayElement = element,
                                  .descriptorCount = 1,
                                  .descriptorType = type,
                                  .pImageInfo = &image};
    vkUpdateDescriptorSets(shaders->app->device, 1, &write, 0, NULL);
}

VkDescriptorSet shaders_one(const struct shaders *shaders, VkImageView view, VkImageLayout layout)
{
    VkDescriptorSet set = shaders_set(shaders, shaders->one);
    shaders_write(shaders, set, 0, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, view, layout);
    return set;
}

/* --- Pipelines --- */

static VkPipelineShaderStageCreateInfo stage_of(const struct shaders *shaders, enum shader shader)
{
    return (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                             .stage = sources[shader].stage,
                                             .module = shaders->modules[shader],
                                             .pName = "main"};
}

VkGraphicsPipelineCreateInfo *shaders_graphics_info(const struct shaders *shaders, VkPipelineLayout layout,
                                                    enum shader fragment)
{
    static VkPipelineShaderStageCreateInfo stages[2];
    static VkPipelineVertexInputStateCreateInfo input;
    static VkPipelineInputAssemblyStateCreateInfo assembly;
    static VkPipelineRasterizationStateCreateInfo raster;
    static VkPipelineRenderingCreateInfo rendering;
    static VkGraphicsPipelineCreateInfo info;
    static const VkFormat format = RECORD_FORMAT;
    stages[0] = stage_of(shaders, SHADER_VERTEX);
    stages[1] = stage_of(shaders, fragment);
    input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
    rendering = (VkPipelineRenderingCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                                .colorAttachmentCount = 1,
                                                .pColorAttachmentFormats = &format};
    info = (VkGraphicsPipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                          .pNext = &rendering,
                                          .stageCount = 2,
                                          .pStages = stages,
                                          .pVertexInputState = &input,
                                          .pInputAssemblyState = &assembly,
                                          .pRasterizationState = &raster,
                                          .layout = layout};
    return &info;
}

VkPipeline shaders_create(struct shaders *shaders, const VkGraphicsPipelineCreateInfo *info)
{
    VkPipeline pipeline;
    CHECK_EQUAL(vkCreateGraphicsPipelines(shaders->app->device, VK_NULL_HANDLE, 1, info, NULL, &pipeline),
                VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    return pipeline;
}

VkPipeline shaders_graphics(struct shaders *shaders, VkPipelineLayout layout, enum shader fragment)
{
    return shaders_create(shaders, shaders_graphics_info(shaders, layout, fragment));
}

VkPipeline shaders_compute(struct shaders *shaders, VkPipelineLayout layout, enum shader shader)
{
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = stage_of(shaders, shader),
                                        .layout = layout};
    VkPipeline pipeline;
    CHECK_EQUAL(vkCreateComputePipelines(shaders->app->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
                VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    return pipeline;
}

/* --- Targets --- */

VkImageView shaders_view(struct shaders *shaders, VkImage image, VkImageSubresourceRange range)
{
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = RECORD_FORMAT,
                                  .subresourceRange = range};
    VkImageView view;
    CHECK_EQUAL(vkCreateImageView(shaders->app->device, &info, NULL, &view), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_IMAGE_VIEW, (uint64_t)view);
    return view;
}

VkRenderPass shaders_pass(struct shaders *shaders, const void *chain)
{
    const VkAttachmentDescription attachment = {.format = RECORD_FORMAT,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .initialLayout = UNDEFINED,
                                                .finalLayout = TARGET};
    const VkAttachmentReference reference = {0, TARGET};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &reference};
    const VkSubpassDependency itself = {0,
                                        0,
                                        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                        VK_ACCESS_SHADER_WRITE_BIT,
                                        VK_ACCESS_SHADER_READ_BIT,
                                        VK_DEPENDENCY_BY_REGION_BIT};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .pNext = chain,
                                         .attachmentCount = 1,
                                         .pAttachments = &attachment,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 1,
                                         .pDependencies = &itself};
    VkRenderPass pass;
    CHECK_EQUAL(vkCreateRenderPass(shaders->app->device, &info, NULL, &pass), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    return pass;
}

struct shader_target shaders_target(struct shaders *shaders, VkImage image, VkImageView view,
                                    VkImageSubresourceRange range, uint32_t side)
{
    struct shader_target target = {.image = image, .view = view, .range = range};
    target.pass = shaders_pass(shaders, NULL);
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .renderPass = target.pass,
                                    .attachmentCount = 1,
                                    .pAttachments = &target.view,
                                    .width = side,
                                    .height = side,
                                    .layers = 1};
    CHECK_EQUAL(vkCreateFramebuffer(shaders->app->device, &info, NULL, &target.frame), VK_SUCCESS);
    shaders_keep(shaders, VK_OBJECT_TYPE_FRAMEBUFFER, (uint64_t)target.frame);
    return target;
}

void shaders_prepare(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                     const struct shader_target *target)
{
    struct record_range range = {COLOR_BIT, target->range.baseMipLevel, 1, target->range.baseArrayLayer, 1};
    record_move(vk, cb, target->image, range, UNDEFINED, TARGET);
    record_act(app, vk, cb);
}

static void begin_dynamic(const struct record_vk *vk, VkCommandBuffer cb, const struct shader_target *target,
                          bool secondaries)
{
    VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                       .imageView = target->view,
                                       .imageLayout = TARGET,
                                       .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                       .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                            .pNext = target->chain,
                            .flags = secondaries ? VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT : 0u,
                            .renderArea = {{0, 0}, {1, 1}},
                            .layerCount = 1,
                            .colorAttachmentCount = 1,
                            .pColorAttachments = &color};
    vk->CmdBeginRendering(cb, &info);
}

void shaders_begin(const struct record_vk *vk, VkCommandBuffer cb, enum shader_pass kind,
                   const struct shader_target *target, bool secondaries)
{
    const VkClearValue clear = {.color = {.float32 = {0, 0, 1, 1}}};
    VkSubpassContents contents =
        secondaries ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE;
    VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .pNext = target->chain,
                                  .renderPass = target->pass,
                                  .framebuffer = target->frame,
                                  .renderArea = {{0, 0}, {1, 1}},
                                  .clearValueCount = 1,
                                  .pClearValues = &clear};
    VkSubpassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO, .contents = contents};
    if (kind == PASS_1)
        vk->CmdBeginRenderPass(cb, &info, contents);
    else if (kind == PASS_2)
        vk->CmdBeginRenderPass2(cb, &info, &begin);
    else
        begin_dynamic(vk, cb, target, secondaries);
}

void shaders_end(const struct record_vk *vk, VkCommandBuffer cb, enum shader_pass kind)
{
    VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    if (kind == PASS_1)
        vk->CmdEndRenderPass(cb);
    else if (kind == PASS_2)
        vk->CmdEndRenderPass2(cb, &end);
    else
        vk->CmdEndRendering(cb);
}

const char *shaders_begin_name(enum shader_pass kind)
{
    static const char *const names[] = {"vkCmdBeginRenderPass", "vkCmdBeginRenderPass2",
                                        "vkCmdBeginRendering"};
    return names[kind];
}

const VkCommandBufferInheritanceInfo *shaders_inheritance(enum shader_pass kind,
                                                          const struct shader_target *target)
{
    static const VkFormat format = RECORD_FORMAT;
    static VkCommandBufferInheritanceRenderingInfo rendering;
    static VkCommandBufferInheritanceInfo info;
    rendering = (VkCommandBufferInheritanceRenderingInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    info = (VkCommandBufferInheritanceInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    if (kind == PASS_DYNAMIC)
        info.pNext = &rendering;
    else
        info.renderPass = target->pass;
    return &info;
}

void shaders_draw(const struct record_vk *vk, VkCommandBuffer cb, VkPipeline pipeline,
                  VkPipelineLayout layout, uint32_t count, const VkDescriptorSet *sets)
{
    vk->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    if (count)
        vk->CmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, count, sets, 0, NULL);
    vk->CmdDraw(cb, 3, 1, 0, 0);
}

void shaders_dispatch(const struct record_vk *vk, VkCommandBuffer cb, VkPipeline pipeline,
                      VkPipelineLayout layout, VkDescriptorSet set)
{
    vk->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk->CmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vk->CmdDispatch(cb, 1, 1, 1);
}

/* --- What came of it --- */

uint32_t shaders_index(VkCommandBuffer cb, const char *name, uint32_t nth)
{
    const void *found = record_find(cb, name, nth);
    uint32_t index = 0;
    while (fault_command_arguments(cb, index) != found)
        index++;
    return index;
}

void shaders_check(const struct recorded *recorded, const char *what, uint32_t count,
                   const struct shader_insertion *expected)
{
    struct insertion got[INSERTIONS_MAX];
    uint32_t found = record_insertions(recorded, got, INSERTIONS_MAX);
    for (uint32_t i = 0; i < count && i < found; i++) {
        const struct shader_insertion *wanted = &expected[i];
        CHECK_SAY(got[i].before == shaders_index(recorded->meant, wanted->before, wanted->nth),
                  "%s: barrier %u stands before command %u, %s", what, i, got[i].before,
                  fault_command_name(recorded->meant, got[i].before));
        CHECK_SAY(got[i].image == wanted->image && got[i].from == wanted->from && got[i].to == wanted->to,
                  "%s: barrier %u goes from %d to %d", what, i, got[i].from, got[i].to);
        CHECK_SAY(got[i].source && got[i].destination && got[i].destination_access,
                  "%s: barrier %u has no scope", what, i);
    }
    CHECK_SAY(found == count, "%s: %u barriers were inserted, not %u", what, found, count);
}
