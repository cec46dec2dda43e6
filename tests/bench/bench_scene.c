#include "bench_scene.h"

#include <stdlib.h>

#include "large_comp.h"
#include "late_comp.h"
#include "quad_vert.h"
#include "sample_comp.h"
#include "sample_frag.h"
#include "store_comp.h"

#define CODE(name)                                                                                           \
    {                                                                                                        \
        name, sizeof(name)                                                                                   \
    }

const struct scene_code scene_sample_comp = CODE(sample_comp);
const struct scene_code scene_late_comp = CODE(late_comp);
const struct scene_code scene_large_comp = CODE(large_comp);
static const struct scene_code code_quad_vert = CODE(quad_vert);
static const struct scene_code code_sample_frag = CODE(sample_frag);
static const struct scene_code code_store_comp = CODE(store_comp);

#define FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define EXTENT 16
#define CONSTANT_STAGES (VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)
static const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

/* --- Images --- */

static struct scene_image create_image(const struct scene *scene, VkImageUsageFlags usage)
{
    struct scene_image image;
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = FORMAT,
        .extent = {EXTENT, EXTENT, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = usage,
    };
    bench_check(vkCreateImage(scene->gpu.device, &info, NULL, &image.image), "vkCreateImage");
    image.memory = bench_gpu_bind(&scene->gpu, image.image, VK_NULL_HANDLE);
    VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image.image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = FORMAT,
        .subresourceRange = whole,
    };
    bench_check(vkCreateImageView(scene->gpu.device, &view, NULL, &image.view), "vkCreateImageView");
    return image;
}

static void destroy_image(const struct scene *scene, const struct scene_image *image)
{
    vkDestroyImageView(scene->gpu.device, image->view, NULL);
    vkDestroyImage(scene->gpu.device, image->image, NULL);
    vkFreeMemory(scene->gpu.device, image->memory, NULL);
}

static void create_target(const struct scene *scene, struct scene_target *target, VkImageUsageFlags usage)
{
    target->image = create_image(scene, usage | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = scene->pass,
        .attachmentCount = 1,
        .pAttachments = &target->image.view,
        .width = EXTENT,
        .height = EXTENT,
        .layers = 1,
    };
    bench_check(vkCreateFramebuffer(scene->gpu.device, &info, NULL, &target->framebuffer),
                "vkCreateFramebuffer");
}

static void destroy_target(const struct scene *scene, const struct scene_target *target)
{
    vkDestroyFramebuffer(scene->gpu.device, target->framebuffer, NULL);
    destroy_image(scene, &target->image);
}

static void initialize(VkCommandBuffer commands, const struct scene_image *image, VkImageLayout layout)
{
    VkImageMemoryBarrier barrier = bench_gpu_barrier(image->image, VK_IMAGE_LAYOUT_UNDEFINED, layout);
    barrier.srcAccessMask = 0;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0,
                         0, NULL, 0, NULL, 1, &barrier);
}

static void create_images(struct scene *scene)
{
    VkCommandBuffer commands = bench_gpu_create_commands(&scene->gpu, scene->gpu.pool);
    bench_gpu_begin(commands);
    scene->images = bench_allocate(scene->image_count, sizeof(*scene->images));
    for (uint32_t i = 0; i < scene->image_count; i++) {
        scene->images[i] = create_image(scene, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
        initialize(commands, &scene->images[i], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
    scene->stored = create_image(scene, VK_IMAGE_USAGE_STORAGE_BIT);
    initialize(commands, &scene->stored, VK_IMAGE_LAYOUT_GENERAL);
    create_target(scene, &scene->target, 0);
    initialize(commands, &scene->target.image, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    create_target(scene, &scene->source, VK_IMAGE_USAGE_SAMPLED_BIT);
    initialize(commands, &scene->source.image, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    bench_gpu_end(commands);
    bench_gpu_submit(&scene->gpu, commands);
    bench_gpu_wait(&scene->gpu);
}

/* --- The render pass --- */

static void create_pass(struct scene *scene)
{
    VkAttachmentDescription attachment = {
        .format = FORMAT,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
    };
    VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    VkSubpassDependency before = {
        .srcSubpass = VK_SUBPASS_EXTERNAL,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 1,
        .pDependencies = &before,
    };
    bench_check(vkCreateRenderPass(scene->gpu.device, &info, NULL, &scene->pass), "vkCreateRenderPass");
}

/* --- Descriptors --- */

struct scene_layout scene_create_layout(const struct scene *scene,
                                        const VkDescriptorSetLayoutCreateInfo *info)
{
    struct scene_layout layout;
    bench_check(vkCreateDescriptorSetLayout(scene->gpu.device, info, NULL, &layout.set),
                "vkCreateDescriptorSetLayout");
    VkPushConstantRange constants = {CONSTANT_STAGES, 0, 16};
    VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &layout.set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };
    bench_check(vkCreatePipelineLayout(scene->gpu.device, &pipeline, NULL, &layout.pipeline),
                "vkCreatePipelineLayout");
    return layout;
}

void scene_destroy_layout(const struct scene *scene, struct scene_layout layout)
{
    vkDestroyPipelineLayout(scene->gpu.device, layout.pipeline, NULL);
    vkDestroyDescriptorSetLayout(scene->gpu.device, layout.set, NULL);
}

static struct scene_layout create_simple_layout(const struct scene *scene, VkDescriptorType type,
                                                uint32_t count, VkDescriptorSetLayoutCreateFlags flags)
{
    VkDescriptorSetLayoutBinding binding = {0, type, count, CONSTANT_STAGES, NULL};
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = flags,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    return scene_create_layout(scene, &info);
}

VkDescriptorSet scene_create_set(const struct scene *scene, VkDescriptorPool pool,
                                 VkDescriptorSetLayout layout)
{
    VkDescriptorSet set;
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    bench_check(vkAllocateDescriptorSets(scene->gpu.device, &info, &set), "vkAllocateDescriptorSets");
    return set;
}

VkDescriptorImageInfo scene_sampled(const struct scene *scene, const struct scene_image *image)
{
    return (VkDescriptorImageInfo){scene->sampler, image->view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
}

VkWriteDescriptorSet scene_write(VkDescriptorSet set, const VkDescriptorImageInfo *info)
{
    return (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .pImageInfo = info,
    };
}

static VkDescriptorSet create_sampled_set(const struct scene *scene, const struct scene_image *image)
{
    VkDescriptorSet set = scene_create_set(scene, scene->pool, scene->sampled.set);
    VkDescriptorImageInfo info = scene_sampled(scene, image);
    VkWriteDescriptorSet write = scene_write(set, &info);
    vkUpdateDescriptorSets(scene->gpu.device, 1, &write, 0, NULL);
    return set;
}

static void create_pool(struct scene *scene)
{
    VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, scene->image_count + 1 + SCENE_ARRAY},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1},
    };
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = scene->image_count + 3,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    bench_check(vkCreateDescriptorPool(scene->gpu.device, &info, NULL, &scene->pool),
                "vkCreateDescriptorPool");
}

static void create_sets(struct scene *scene)
{
    scene->sets = bench_allocate(scene->image_count, sizeof(*scene->sets));
    for (uint32_t i = 0; i < scene->image_count; i++)
        scene->sets[i] = create_sampled_set(scene, &scene->images[i]);
    scene->source_set = create_sampled_set(scene, &scene->source.image);
    scene->array_set = scene_create_set(scene, scene->pool, scene->array.set);
    scene->stored_set = scene_create_set(scene, scene->pool, scene->storage.set);
    VkDescriptorImageInfo stored = {VK_NULL_HANDLE, scene->stored.view, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write = scene_write(scene->stored_set, &stored);
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    vkUpdateDescriptorSets(scene->gpu.device, 1, &write, 0, NULL);
}

/* --- Pipelines --- */

VkShaderModule scene_create_module(const struct scene *scene, struct scene_code code)
{
    VkShaderModule module;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = code.size,
        .pCode = code.words,
    };
    bench_check(vkCreateShaderModule(scene->gpu.device, &info, NULL, &module), "vkCreateShaderModule");
    return module;
}

VkPipeline scene_create_compute(const struct scene *scene, VkPipelineLayout layout, VkShaderModule module)
{
    VkPipeline pipeline;
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = layout,
    };
    bench_check(vkCreateComputePipelines(scene->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
                "vkCreateComputePipelines");
    return pipeline;
}

VkPipeline scene_create_draw(const struct scene *scene, VkPipelineLayout layout,
                             const VkShaderModule modules[2])
{
    VkPipeline pipeline;
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = modules[0],
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = modules[1],
         .pName = "main"},
    };
    VkPipelineVertexInputStateCreateInfo vertex = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
    };
    VkRect2D scissor = {{0, 0}, {EXTENT, EXTENT}};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = VK_COLOR_COMPONENT_R_BIT};
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    VkDynamicState state = VK_DYNAMIC_STATE_VIEWPORT;
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 1,
        .pDynamicStates = &state,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertex,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = layout,
        .renderPass = scene->pass,
    };
    bench_check(vkCreateGraphicsPipelines(scene->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
                "vkCreateGraphicsPipelines");
    return pipeline;
}

static void create_pipelines(struct scene *scene)
{
    scene->draw_modules[0] = scene_create_module(scene, code_quad_vert);
    scene->draw_modules[1] = scene_create_module(scene, code_sample_frag);
    for (uint32_t i = 0; i < 2; i++)
        scene->draw[i] = scene_create_draw(scene, scene->sampled.pipeline, scene->draw_modules);
    scene->draw_pushed = scene_create_draw(scene, scene->pushed.pipeline, scene->draw_modules);
    scene->dispatch_module = scene_create_module(scene, scene_sample_comp);
    scene->dispatch = scene_create_compute(scene, scene->sampled.pipeline, scene->dispatch_module);
    VkShaderModule store = scene_create_module(scene, code_store_comp);
    scene->dispatch_store = scene_create_compute(scene, scene->storage.pipeline, store);
    vkDestroyShaderModule(scene->gpu.device, store, NULL);
}

static void destroy_pipelines(const struct scene *scene)
{
    const VkPipeline all[] = {scene->draw[0], scene->draw[1], scene->draw_pushed, scene->dispatch,
                              scene->dispatch_store};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        vkDestroyPipeline(scene->gpu.device, all[i], NULL);
    for (uint32_t i = 0; i < 2; i++)
        vkDestroyShaderModule(scene->gpu.device, scene->draw_modules[i], NULL);
    vkDestroyShaderModule(scene->gpu.device, scene->dispatch_module, NULL);
}

/* --- All of it --- */

static void create_device(struct scene *scene)
{
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .descriptorIndexing = VK_TRUE,
        .descriptorBindingSampledImageUpdateAfterBind = VK_TRUE,
    };
    const char *extension = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    bench_gpu_init(&scene->gpu, "bench_shaders", &features, 1, &extension);
    scene->push =
        (PFN_vkCmdPushDescriptorSetKHR)vkGetDeviceProcAddr(scene->gpu.device, "vkCmdPushDescriptorSetKHR");
}

void scene_init(struct scene *scene, uint32_t image_count)
{
    VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    create_device(scene);
    scene->image_count = image_count;
    create_pass(scene);
    create_images(scene);
    bench_check(vkCreateSampler(scene->gpu.device, &sampler, NULL, &scene->sampler), "vkCreateSampler");
    VkDescriptorType type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    scene->sampled = create_simple_layout(scene, type, 1, 0);
    scene->array = create_simple_layout(scene, type, SCENE_ARRAY, 0);
    scene->pushed =
        create_simple_layout(scene, type, 1, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
    scene->storage = create_simple_layout(scene, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, 0);
    create_pool(scene);
    create_sets(scene);
    create_pipelines(scene);
}

void scene_finish(struct scene *scene)
{
    VkDevice device = scene->gpu.device;
    bench_gpu_wait(&scene->gpu);
    destroy_pipelines(scene);
    vkDestroyDescriptorPool(device, scene->pool, NULL);
    scene_destroy_layout(scene, scene->storage);
    scene_destroy_layout(scene, scene->pushed);
    scene_destroy_layout(scene, scene->array);
    scene_destroy_layout(scene, scene->sampled);
    vkDestroySampler(device, scene->sampler, NULL);
    destroy_target(scene, &scene->source);
    destroy_target(scene, &scene->target);
    destroy_image(scene, &scene->stored);
    for (uint32_t i = 0; i < scene->image_count; i++)
        destroy_image(scene, &scene->images[i]);
    vkDestroyRenderPass(device, scene->pass, NULL);
    bench_gpu_finish(&scene->gpu);
    free(scene->images);
    free(scene->sets);
}

/* --- Recording --- */

void scene_begin_pass(const struct scene *scene, VkCommandBuffer commands, const struct scene_target *target)
{
    VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = scene->pass,
        .framebuffer = target->framebuffer,
        .renderArea = {{0, 0}, {EXTENT, EXTENT}},
    };
    vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
}

void scene_set_viewport(VkCommandBuffer commands)
{
    VkViewport viewport = {0, 0, EXTENT, EXTENT, 0, 1};
    vkCmdSetViewport(commands, 0, 1, &viewport);
}

void scene_push_constants(const struct scene *scene, VkCommandBuffer commands)
{
    static const float tint[4] = {1, 1, 1, 1};
    vkCmdPushConstants(commands, scene->sampled.pipeline, CONSTANT_STAGES, 0, sizeof(tint), tint);
}

void scene_bind(VkCommandBuffer commands, VkPipelineBindPoint point, struct scene_layout layout,
                VkDescriptorSet set)
{
    vkCmdBindDescriptorSets(commands, point, layout.pipeline, 0, 1, &set, 0, NULL);
}
