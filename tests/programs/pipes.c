#include "pipes.h"

#include <string.h>

#include "comp_0.h"
#include "comp_1.h"
#include "comp_2.h"
#include "comp_3.h"
#include "frag_0.h"
#include "frag_1.h"
#include "vert_0.h"
#include "vert_1.h"

/* Create-infos of one call live on the stack: larger one-call creations go in parts of this size. */
#define CALL_MAX 256

struct constants {
    uint32_t id;
    uint32_t rounds;
    float scale;
};

static const VkSpecializationMapEntry constant_entries[] = {
    {0, offsetof(struct constants, id), sizeof(uint32_t)},
    {1, offsetof(struct constants, rounds), sizeof(uint32_t)},
    {2, offsetof(struct constants, scale), sizeof(float)},
};

static const struct shader {
    const uint32_t *words;
    size_t size;
} compute_shaders[PIPES_COMPUTE_VARIANTS] = {{comp_0, sizeof(comp_0)},
                                             {comp_1, sizeof(comp_1)},
                                             {comp_2, sizeof(comp_2)},
                                             {comp_3, sizeof(comp_3)}},
  vertex_shaders[PIPES_GRAPHICS_VARIANTS] = {{vert_0, sizeof(vert_0)}, {vert_1, sizeof(vert_1)}},
  fragment_shaders[PIPES_GRAPHICS_VARIANTS] = {{frag_0, sizeof(frag_0)}, {frag_1, sizeof(frag_1)}};

static VkResult create_modules(const struct gpu *gpu, const struct shader *shaders, uint32_t count,
                               VkShaderModule *out)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) {
        VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = shaders[i].size,
            .pCode = shaders[i].words,
        };
        result = gpu->CreateShaderModule(gpu->device, &info, NULL, &out[i]);
    }
    return result;
}

static VkResult create_layout(struct pipes *pipes)
{
    const struct gpu *gpu = pipes->gpu;
    VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
    };
    VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    VkResult result = gpu->CreateDescriptorSetLayout(gpu->device, &set_info, NULL, &pipes->set_layout);
    if (result != VK_SUCCESS)
        return result;
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &pipes->set_layout,
    };
    return gpu->CreatePipelineLayout(gpu->device, &info, NULL, &pipes->layout);
}

static VkResult create_render_pass(struct pipes *pipes)
{
    VkAttachmentDescription attachment = {
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
    };
    VkAttachmentReference reference = {.layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    return pipes->gpu->CreateRenderPass(pipes->gpu->device, &info, NULL, &pipes->render_pass);
}

VkResult pipes_init(struct pipes *pipes, const struct gpu *gpu)
{
    memset(pipes, 0, sizeof(*pipes));
    pipes->gpu = gpu;
    VkResult result = create_modules(gpu, compute_shaders, PIPES_COMPUTE_VARIANTS, pipes->compute);
    if (result == VK_SUCCESS)
        result = create_modules(gpu, vertex_shaders, PIPES_GRAPHICS_VARIANTS, pipes->vertex);
    if (result == VK_SUCCESS)
        result = create_modules(gpu, fragment_shaders, PIPES_GRAPHICS_VARIANTS, pipes->fragment);
    if (result == VK_SUCCESS)
        result = create_layout(pipes);
    if (result == VK_SUCCESS)
        result = create_render_pass(pipes);
    if (result != VK_SUCCESS)
        pipes_finish(pipes);
    return result;
}

void pipes_finish(struct pipes *pipes)
{
    const struct gpu *gpu = pipes->gpu;
    gpu->DestroyRenderPass(gpu->device, pipes->render_pass, NULL);
    gpu->DestroyPipelineLayout(gpu->device, pipes->layout, NULL);
    gpu->DestroyDescriptorSetLayout(gpu->device, pipes->set_layout, NULL);
    for (uint32_t i = 0; i < PIPES_COMPUTE_VARIANTS; i++)
        gpu->DestroyShaderModule(gpu->device, pipes->compute[i], NULL);
    for (uint32_t i = 0; i < PIPES_GRAPHICS_VARIANTS; i++) {
        gpu->DestroyShaderModule(gpu->device, pipes->vertex[i], NULL);
        gpu->DestroyShaderModule(gpu->device, pipes->fragment[i], NULL);
    }
}

/* Everything that one pipeline's create-info points to. */
struct description {
    struct constants constants;
    VkSpecializationInfo specialization;
    VkPipelineShaderStageCreateInfo stages[2];
    VkPipelineCreationFeedback whole;
    VkPipelineCreationFeedbackCreateInfo feedback;
};

static VkPipelineShaderStageCreateInfo describe_stage(const struct description *description,
                                                      VkShaderStageFlagBits stage, VkShaderModule module)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main",
        .pSpecializationInfo = &description->specialization,
    };
}

static void describe(struct description *description, uint32_t number)
{
    *description = (struct description){
        .constants = {.id = number, .rounds = 4 + number % 5, .scale = 1.0f + (float)number / 64.0f},
        .specialization = {.mapEntryCount = 3,
                           .pMapEntries = constant_entries,
                           .dataSize = sizeof(struct constants)},
        .feedback = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO},
    };
    description->specialization.pData = &description->constants;
    description->feedback.pPipelineCreationFeedback = &description->whole;
}

static VkResult create_compute(const struct pipes *pipes, VkPipelineCache cache, uint32_t count,
                               struct description *descriptions, VkPipeline *out)
{
    VkComputePipelineCreateInfo infos[CALL_MAX];
    for (uint32_t i = 0; i < count; i++) {
        struct description *d = &descriptions[i];
        VkShaderModule module = pipes->compute[d->constants.id % PIPES_COMPUTE_VARIANTS];
        infos[i] = (VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .pNext = pipes->gpu->feedback ? &d->feedback : NULL,
            .stage = describe_stage(d, VK_SHADER_STAGE_COMPUTE_BIT, module),
            .layout = pipes->layout,
        };
    }
    return pipes->gpu->CreateComputePipelines(pipes->gpu->device, cache, count, infos, NULL, out);
}

static VkResult create_graphics(const struct pipes *pipes, VkPipelineCache cache, uint32_t count,
                                struct description *descriptions, VkPipeline *out)
{
    VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
    };
    VkViewport viewport = {.width = 64, .height = 64, .maxDepth = 1};
    VkRect2D scissor = {.extent = {64, 64}};
    VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
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
    VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 0xf};
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    VkGraphicsPipelineCreateInfo infos[CALL_MAX];
    for (uint32_t i = 0; i < count; i++) {
        struct description *d = &descriptions[i];
        uint32_t variant = d->constants.id % PIPES_GRAPHICS_VARIANTS;
        d->stages[0] = describe_stage(d, VK_SHADER_STAGE_VERTEX_BIT, pipes->vertex[variant]);
        d->stages[1] = describe_stage(d, VK_SHADER_STAGE_FRAGMENT_BIT, pipes->fragment[variant]);
        infos[i] = (VkGraphicsPipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
            .pNext = pipes->gpu->feedback ? &d->feedback : NULL,
            .stageCount = 2,
            .pStages = d->stages,
            .pVertexInputState = &vertices,
            .pInputAssemblyState = &assembly,
            .pViewportState = &view,
            .pRasterizationState = &raster,
            .pMultisampleState = &samples,
            .pColorBlendState = &blend,
            .layout = pipes->layout,
            .renderPass = pipes->render_pass,
        };
    }
    return pipes->gpu->CreateGraphicsPipelines(pipes->gpu->device, cache, count, infos, NULL, out);
}

/* One create call, at most CALL_MAX pipelines. */
static void create_call(const struct pipes *pipes, enum pipes_kind kind, VkPipelineCache cache,
                        uint32_t first, uint32_t count, VkPipeline *out, char *hits,
                        struct pipes_outcome *outcome)
{
    struct description descriptions[CALL_MAX];
    for (uint32_t i = 0; i < count; i++) {
        describe(&descriptions[i], first + i);
        out[i] = VK_NULL_HANDLE;
    }
    double start = gpu_wall_ms();
    VkResult result = kind == PIPES_COMPUTE ? create_compute(pipes, cache, count, descriptions, out)
                                            : create_graphics(pipes, cache, count, descriptions, out);
    double ms = gpu_wall_ms() - start;
    struct pipes_outcome part = {.first_error = result, .ms = ms, .longest_ms = ms};
    for (uint32_t i = 0; i < count; i++) {
        VkPipelineCreationFeedbackFlags flags = descriptions[i].whole.flags;
        if (out[i])
            part.created++;
        else
            part.failed++;
        bool valid = flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
        bool hit = valid && (flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT);
        part.feedbacks += valid;
        part.hits += hit;
        if (hits)
            hits[i] = hit ? '1' : '0';
    }
    pipes_add_outcome(outcome, &part);
}

void pipes_create(const struct pipes *pipes, enum pipes_kind kind, VkPipelineCache cache, uint32_t first,
                  uint32_t count, bool one_call, VkPipeline *out, char *hits, struct pipes_outcome *outcome)
{
    uint32_t step = one_call ? CALL_MAX : 1;
    for (uint32_t i = 0; i < count; i += step) {
        uint32_t n = count - i < step ? count - i : step;
        create_call(pipes, kind, cache, first + i, n, out + i, hits ? hits + i : NULL, outcome);
    }
}

void pipes_add_outcome(struct pipes_outcome *sum, const struct pipes_outcome *part)
{
    sum->created += part->created;
    sum->failed += part->failed;
    sum->hits += part->hits;
    sum->feedbacks += part->feedbacks;
    if (sum->first_error == VK_SUCCESS)
        sum->first_error = part->first_error;
    sum->ms += part->ms;
    if (part->longest_ms > sum->longest_ms)
        sum->longest_ms = part->longest_ms;
}
