/* The layout oracle on what shaders use: programs that are right or break one rule. With the argument
 * `validated` each runs under Khronos validation, which has to come to the same verdict. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "element_comp.h"
#include "fault_driver.h"
#include "filter_comp.h"
#include "indexed_comp.h"
#include "input_frag.h"
#include "load_comp.h"
#include "oracle_kit.h"
#include "oracle_verdict.h"
#include "sample_comp.h"
#include "sample_frag.h"
#include "sample_rgen.h"
#include "store_comp.h"
#include "store_indexed_comp.h"

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define SOURCE VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DESTINATION VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define SAMPLED VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define COLOR VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define DEPTH_READ VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL

#define COMBINED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define STORAGE VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define RAYS VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR
#define LIVE VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT
#define PARTIAL VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT

static bool validated; /* the argument */

static const struct kit_binding one_image[] = {{0, COMBINED, 1, 0}};
static const struct kit_binding one_storage[] = {{0, STORAGE, 1, 0}};

/* --- What the programs have in common --- */

/* Its contents defined, in this layout; or as it was created. */
static VkImage image_in(struct kit *k, VkImageLayout layout)
{
    VkImage image =
        scene_image(&k->scene, &(struct scene_image){.mips = 2, .usage = VK_IMAGE_USAGE_STORAGE_BIT});

    if (layout == UNDEFINED)
        return image;
    scene_begin(&k->scene, 0);
    scene_barrier(&k->scene, image, UNDEFINED, DESTINATION);
    scene_clear(&k->scene, image, DESTINATION);
    if (layout != DESTINATION)
        scene_barrier(&k->scene, image, DESTINATION, layout);
    scene_end(&k->scene);
    return image;
}

static VkImageView view_in(struct kit *k, VkImageLayout layout)
{
    return scene_color_view(&k->scene, image_in(k, layout));
}

/* A shader with what it needs: a layout of these bindings, a set, a pipeline. */
struct shader {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorSet set;
    VkPipeline pipeline;
};

static struct shader compute(struct kit *k, struct kit_code code, uint32_t count,
                             const struct kit_binding *bindings, uint32_t variable)
{
    const bool live = bindings[0].flags & LIVE;
    const VkDescriptorSetLayoutCreateFlags flags =
        live ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT : 0;
    struct shader shader = {.set_layout = kit_set_layout(k, flags, count, bindings)};

    shader.layout = kit_layout(k, shader.set_layout);
    shader.set = kit_set(k, shader.set_layout, variable);
    shader.pipeline = kit_compute(k, code, shader.layout);
    return shader;
}

static struct shader sampling(struct kit *k)
{
    return compute(k, KIT_CODE(sample_comp), 1, one_image, 0);
}

static void dispatch(struct kit *k, const struct shader *shader)
{
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, shader->pipeline, shader->layout, shader->set);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

/* --- Ways in which a descriptor gets its contents: an image in `actual`, said to be in SAMPLED --- */

static void by_write(struct kit *k, VkImageLayout actual)
{
    const struct shader shader = sampling(k);

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    dispatch(k, &shader);
}

static void by_copy(struct kit *k, VkImageLayout actual)
{
    const struct shader shader = sampling(k);
    const VkCopyDescriptorSet copy = {
        .sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
        .srcSet = kit_set(k, shader.set_layout, 0),
        .dstSet = shader.set,
        .descriptorCount = 1,
    };

    kit_write(k, copy.srcSet, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    k->scene.client.vkUpdateDescriptorSets(k->scene.client.device, 0, NULL, 1, &copy);
    dispatch(k, &shader);
}

static void by_template(struct kit *k, VkImageLayout actual)
{
    const struct shader shader = sampling(k);
    const VkDescriptorImageInfo info = kit_image_info(k, view_in(k, actual), SAMPLED);
    VkDescriptorUpdateTemplate template = kit_template(k, shader.set_layout, VK_NULL_HANDLE);

    k->scene.client.vkUpdateDescriptorSetWithTemplate(k->scene.client.device, shader.set, template, &info);
    dispatch(k, &shader);
}

static void pushed(struct kit *k, VkImageLayout actual, bool with_template)
{
    VkDescriptorSetLayout set_layout =
        kit_set_layout(k, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkPipeline pipeline = kit_compute(k, KIT_CODE(sample_comp), layout);
    VkDescriptorUpdateTemplate template = kit_template(k, set_layout, layout);
    VkDescriptorImageInfo info = kit_image_info(k, view_in(k, actual), SAMPLED);
    VkWriteDescriptorSet write = kit_image_write(VK_NULL_HANDLE, 0, 0, COMBINED, &info);
    struct vulkan_client *c = &k->scene.client;

    /* What this type of descriptor doesn't use may be wild. */
    write.pBufferInfo = (const VkDescriptorBufferInfo *)(uintptr_t)sizeof(void *);
    write.pTexelBufferView = (const VkBufferView *)(uintptr_t)sizeof(void *);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, pipeline, layout, VK_NULL_HANDLE);
    if (with_template)
        c->vkCmdPushDescriptorSetWithTemplateKHR(k->scene.cmd, template, layout, 0, &info);
    else
        c->vkCmdPushDescriptorSetKHR(k->scene.cmd, COMPUTE, layout, 0, 1, &write);
    /* The application's memory is free again. */
    memset(&info, 0, sizeof(info));
    c->vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

static void by_push(struct kit *k, VkImageLayout actual)
{
    pushed(k, actual, false);
}

static void by_push_with_template(struct kit *k, VkImageLayout actual)
{
    pushed(k, actual, true);
}

/* The second push to the descriptor is the one that counts. */
static void by_second_push(struct kit *k, VkImageLayout actual)
{
    VkDescriptorSetLayout set_layout =
        kit_set_layout(k, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkPipeline pipeline = kit_compute(k, KIT_CODE(sample_comp), layout);
    const VkDescriptorImageInfo infos[] = {kit_image_info(k, view_in(k, GENERAL), SAMPLED),
                                           kit_image_info(k, view_in(k, actual), SAMPLED)};

    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, pipeline, layout, VK_NULL_HANDLE);
    for (uint32_t i = 0; i < 2; i++) {
        const VkWriteDescriptorSet write = kit_image_write(VK_NULL_HANDLE, 0, 0, COMBINED, &infos[i]);

        k->scene.client.vkCmdPushDescriptorSetKHR(k->scene.cmd, COMPUTE, layout, 0, 1, &write);
    }
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

static void of_mutable_type(struct kit *k, VkImageLayout actual)
{
    static const struct kit_binding bindings[] = {{0, VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 1, 0}};
    const struct shader shader = compute(k, KIT_CODE(load_comp), 1, bindings, 0);

    kit_write(k, shader.set, 0, 0, STORAGE, view_in(k, actual == SAMPLED ? GENERAL : actual), GENERAL);
    dispatch(k, &shader);
}

static void of_variable_count(struct kit *k, VkImageLayout actual)
{
    static const struct kit_binding bindings[] = {
        {0, COMBINED, 8, VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT}};
    const struct shader shader = compute(k, KIT_CODE(element_comp), 1, bindings, 3);

    for (uint32_t i = 0; i < 3; i++)
        kit_write(k, shader.set, 0, i, COMBINED, view_in(k, i == 2 ? actual : SAMPLED), SAMPLED);
    dispatch(k, &shader);
}

/* A write that goes beyond its binding's end, into the next one. */
static void by_overflowing_write(struct kit *k, VkImageLayout actual)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 1, 0}, {3, COMBINED, 1, 0}};
    const struct shader shader = compute(k, KIT_CODE(sample_comp), 2, bindings, 0);
    VkDescriptorSetLayout other_layout = kit_set_layout(k, 0, 2, bindings);
    const VkDescriptorImageInfo infos[] = {kit_image_info(k, view_in(k, SAMPLED), SAMPLED),
                                           kit_image_info(k, view_in(k, actual), SAMPLED)};
    VkDescriptorSet other = kit_set(k, other_layout, 0);
    VkWriteDescriptorSet write = kit_image_write(other, 0, 0, COMBINED, infos);
    const VkCopyDescriptorSet copy = {.sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
                                      .srcSet = other,
                                      .srcBinding = 3,
                                      .dstSet = shader.set,
                                      .descriptorCount = 1};

    write.descriptorCount = 2;
    k->scene.client.vkUpdateDescriptorSets(k->scene.client.device, 1, &write, 1, &copy);
    dispatch(k, &shader);
}

/* Written only when it is bound already, in a command buffer that waits to be submitted. */
static void after_bind(struct kit *k, VkImageLayout actual)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 1, LIVE}};
    const struct shader shader = compute(k, KIT_CODE(sample_comp), 1, bindings, 0);
    VkImageView first = view_in(k, GENERAL), second = view_in(k, actual);
    VkCommandBuffer buffer;

    kit_write(k, shader.set, 0, 0, COMBINED, first, SAMPLED);
    buffer = scene_record(&k->scene, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdDispatch(buffer, 1, 1, 1);
    scene_record_end(&k->scene);
    kit_write(k, shader.set, 0, 0, COMBINED, second, SAMPLED);
    scene_submit(&k->scene, 0, 1, &buffer);
}

/* A set in the place of others, which are gone. */
static void in_reset_pool(struct kit *k, VkImageLayout actual)
{
    struct shader shader = sampling(k);
    VkDescriptorSet freed = kit_set(k, shader.set_layout, 0);
    struct vulkan_client *c = &k->scene.client;

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, GENERAL), SAMPLED);
    c->vkFreeDescriptorSets(c->device, k->pool, 1, &freed);
    c->vkResetDescriptorPool(c->device, k->pool, 0);
    shader.set = kit_set(k, shader.set_layout, 0);
    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    dispatch(k, &shader);
}

/* Neither set layout nor pipeline layout nor module live on. */
static void of_destroyed_layouts(struct kit *k, VkImageLayout actual)
{
    const struct shader shader = sampling(k);
    struct vulkan_client *c = &k->scene.client;
    VkCommandBuffer buffer;

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    buffer = scene_record(&k->scene, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    c->vkCmdDispatch(buffer, 1, 1, 1);
    scene_record_end(&k->scene);
    c->vkDestroyDescriptorSetLayout(c->device, k->set_layouts[--k->set_layout_count], NULL);
    c->vkDestroyPipelineLayout(c->device, k->layouts[--k->layout_count], NULL);
    c->vkDestroyShaderModule(c->device, k->modules[--k->module_count], NULL);
    scene_submit(&k->scene, 0, 1, &buffer);
}

/* --- Commands --- */

static void in_secondary(struct kit *k, VkImageLayout actual)
{
    const struct shader shader = sampling(k);
    VkCommandBuffer inner;

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    inner = scene_record(&k->scene, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdDispatch(inner, 1, 1, 1);
    scene_record_end(&k->scene);
    scene_begin(&k->scene, 0);
    k->scene.client.vkCmdExecuteCommands(k->scene.cmd, 1, &inner);
    scene_end(&k->scene);
}

static void dispatch_otherwise(struct kit *k, VkImageLayout actual, bool indirect)
{
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkPipeline pipeline = kit_compute(k, KIT_CODE(sample_comp), layout);

    kit_write(k, set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, pipeline, layout, set);
    if (indirect)
        k->scene.client.vkCmdDispatchIndirect(k->scene.cmd, k->buffer, 0);
    else
        k->scene.client.vkCmdDispatchBase(k->scene.cmd, 0, 0, 0, 1, 1, 1);
    scene_end(&k->scene);
}

static void by_dispatch_indirect(struct kit *k, VkImageLayout actual)
{
    dispatch_otherwise(k, actual, true);
}

static void by_dispatch_base(struct kit *k, VkImageLayout actual)
{
    dispatch_otherwise(k, actual, false);
}

static void trace(struct kit *k, VkImageLayout actual, bool indirect, bool by_library)
{
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkPipeline pipeline = kit_ray_tracing(k, KIT_CODE(sample_rgen), layout, by_library);
    const VkStridedDeviceAddressRegionKHR raygen = {k->address, 64, 64}, none = {0};

    kit_write(k, set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, RAYS, pipeline, layout, set);
    if (indirect)
        k->scene.client.vkCmdTraceRaysIndirectKHR(k->scene.cmd, &raygen, &none, &none, &none, k->address);
    else
        k->scene.client.vkCmdTraceRaysKHR(k->scene.cmd, &raygen, &none, &none, &none, 1, 1, 1);
    scene_end(&k->scene);
}

static void by_trace(struct kit *k, VkImageLayout actual)
{
    trace(k, actual, false, false);
}

static void by_trace_indirect(struct kit *k, VkImageLayout actual)
{
    trace(k, actual, true, false);
}

static void by_trace_of_library(struct kit *k, VkImageLayout actual)
{
    trace(k, actual, false, true);
}

static void begin_rendering(struct kit *k, VkImageView view, VkImageLayout layout)
{
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view,
        .imageLayout = layout,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
    };

    k->scene.client.vkCmdBeginRendering(k->scene.cmd, &info);
}

typedef void (*draw_function)(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k);

/* Draws with a pipeline of these flags, into an image of its own. */
static void draw(struct kit *k, VkImageLayout actual, uint32_t flags, draw_function function)
{
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkPipeline pipeline = kit_graphics(k, KIT_CODE(sample_frag), layout, VK_NULL_HANDLE, flags);
    VkImageView target = view_in(k, COLOR);

    kit_write(k, set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    scene_begin(&k->scene, 0);
    begin_rendering(k, target, COLOR);
    kit_bind(k, GRAPHICS, pipeline, layout, set);
    k->scene.client.vkCmdBindIndexBuffer(k->scene.cmd, k->buffer, 0, VK_INDEX_TYPE_UINT16);
    function(&k->scene.client, k->scene.cmd, k);
    k->scene.client.vkCmdEndRendering(k->scene.cmd);
    scene_end(&k->scene);
}

static void draw_direct(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDraw(buffer, 3, 1, 0, 0);
}

static void draw_indexed(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawIndexed(buffer, 3, 1, 0, 0, 0);
}

static void draw_indirect(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawIndirect(buffer, k->buffer, 0, 2, sizeof(VkDrawIndirectCommand));
}

static void draw_indexed_indirect(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawIndexedIndirect(buffer, k->buffer, 0, 2, sizeof(VkDrawIndexedIndirectCommand));
}

static void draw_count(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawIndirectCount(buffer, k->buffer, 0, k->buffer, 1024, 2, sizeof(VkDrawIndirectCommand));
}

static void draw_indexed_count(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawIndexedIndirectCount(buffer, k->buffer, 0, k->buffer, 1024, 2,
                                     sizeof(VkDrawIndexedIndirectCommand));
}

static void draw_multi(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    const VkMultiDrawInfoEXT info = {0, 3};

    c->vkCmdDrawMultiEXT(buffer, 1, &info, 1, 0, sizeof(info));
}

static void draw_mesh(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawMeshTasksEXT(buffer, 1, 1, 1);
}

static void draw_mesh_indirect(const struct vulkan_client *c, VkCommandBuffer buffer, const struct kit *k)
{
    c->vkCmdDrawMeshTasksIndirectEXT(buffer, k->buffer, 0, 2, sizeof(VkDrawMeshTasksIndirectCommandEXT));
}

#define DRAW(name, flags)                                                                                    \
    static void by_##name(struct kit *k, VkImageLayout actual)                                               \
    {                                                                                                        \
        draw(k, actual, flags, name);                                                                        \
    }
DRAW(draw_direct, 0)
DRAW(draw_indexed, 0)
DRAW(draw_indirect, 0)
DRAW(draw_indexed_indirect, 0)
DRAW(draw_count, 0)
DRAW(draw_indexed_count, 0)
DRAW(draw_multi, 0)
DRAW(draw_mesh, KIT_MESH)
DRAW(draw_mesh_indirect, KIT_MESH)

static void by_linked_libraries(struct kit *k, VkImageLayout actual)
{
    draw(k, actual, KIT_LIBRARIES, draw_direct);
}

/* --- In render passes --- */

/* A color attachment that is in one layout throughout, and an input attachment too if `input`. */
static VkRenderPass color_pass(struct kit *k, VkImageLayout layout, bool input)
{
    const VkAttachmentDescription attachment = {
        .format = SCENE_COLOR,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout = layout,
        .finalLayout = layout,
    };
    const VkAttachmentReference reference = {0, layout};
    const VkSubpassDescription subpass = {
        .inputAttachmentCount = input,
        .pInputAttachments = &reference,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };

    return scene_pass(&k->scene, &info);
}

static void begin_pass(struct kit *k, VkRenderPass pass, VkImageView view)
{
    const VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = scene_framebuffer(&k->scene, pass, 1, &view, NULL),
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
    };

    k->scene.client.vkCmdBeginRenderPass(k->scene.cmd, &info, VK_SUBPASS_CONTENTS_INLINE);
}

/* Draws into a view in a layout, with one descriptor. */
static void draw_in_pass(struct kit *k, VkImageView target, VkImageLayout layout, VkImageView sampled,
                         VkImageLayout sampled_layout)
{
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, one_image);
    VkPipelineLayout pipeline_layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkRenderPass pass = color_pass(k, layout, false);
    VkPipeline pipeline = kit_graphics(k, KIT_CODE(sample_frag), pipeline_layout, pass, 0);

    kit_write(k, set, 0, 0, COMBINED, sampled, sampled_layout);
    scene_begin(&k->scene, 0);
    begin_pass(k, pass, target);
    kit_bind(k, GRAPHICS, pipeline, pipeline_layout, set);
    k->scene.client.vkCmdDraw(k->scene.cmd, 3, 1, 0, 0);
    k->scene.client.vkCmdEndRenderPass(k->scene.cmd);
    scene_end(&k->scene);
}

static void in_pass(struct kit *k, VkImageLayout actual)
{
    VkImageView target = view_in(k, COLOR);

    draw_in_pass(k, target, COLOR, view_in(k, actual), SAMPLED);
}

/* The image that is drawn to is sampled as well. */
static void feedback_general(struct kit *k)
{
    VkImageView view = view_in(k, GENERAL);

    draw_in_pass(k, view, GENERAL, view, GENERAL);
}

static void feedback_wrong(struct kit *k)
{
    VkImageView view = view_in(k, COLOR);

    draw_in_pass(k, view, COLOR, view, SAMPLED);
}

static void input_attachment(struct kit *k)
{
    static const struct kit_binding bindings[] = {{0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, 0}};
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, bindings);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkRenderPass pass = color_pass(k, GENERAL, true);
    VkPipeline pipeline = kit_graphics(k, KIT_CODE(input_frag), layout, pass, 0);
    VkImage image =
        scene_image(&k->scene, &(struct scene_image){.usage = VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT});
    VkImageView view = scene_color_view(&k->scene, image);

    kit_write(k, set, 0, 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, view, GENERAL);
    scene_begin(&k->scene, 0);
    scene_barrier(&k->scene, image, UNDEFINED, GENERAL);
    scene_clear(&k->scene, image, GENERAL);
    begin_pass(k, pass, view);
    kit_bind(k, GRAPHICS, pipeline, layout, set);
    k->scene.client.vkCmdDraw(k->scene.cmd, 3, 1, 0, 0);
    k->scene.client.vkCmdEndRenderPass(k->scene.cmd);
    scene_end(&k->scene);
}

/* Depth that is tested against and sampled, in the layout for both. */
static void sampled_depth(struct kit *k, VkImageLayout descriptor)
{
    const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    const VkClearDepthStencilValue value = {1, 0};
    const VkImageSubresourceRange all = SCENE_ALL_DEPTH;
    const VkImageSubresourceRange depth_range = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkPipeline pipeline = kit_graphics(k, KIT_CODE(sample_frag), layout, VK_NULL_HANDLE, KIT_DEPTH);
    VkImage image = scene_depth(&k->scene);
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = scene_view(&k->scene, image, &(VkImageSubresourceRange){both, 0, 1, 0, 1}),
        .imageLayout = DEPTH_READ,
        .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view_in(k, COLOR),
        .imageLayout = COLOR,
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, {SCENE_SIZE, SCENE_SIZE}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = &depth,
    };

    kit_write(k, set, 0, 0, COMBINED, scene_view(&k->scene, image, &depth_range), descriptor);
    scene_begin(&k->scene, 0);
    scene_barrier_range(&k->scene, image, UNDEFINED, DESTINATION, all);
    k->scene.client.vkCmdClearDepthStencilImage(k->scene.cmd, image, DESTINATION, &value, 1, &all);
    scene_barrier_range(&k->scene, image, DESTINATION, DEPTH_READ, all);
    k->scene.client.vkCmdBeginRendering(k->scene.cmd, &info);
    kit_bind(k, GRAPHICS, pipeline, layout, set);
    k->scene.client.vkCmdDraw(k->scene.cmd, 3, 1, 0, 0);
    k->scene.client.vkCmdEndRendering(k->scene.cmd);
    scene_end(&k->scene);
}

static void depth_right(struct kit *k)
{
    sampled_depth(k, DEPTH_READ);
}

static void depth_joint_name(struct kit *k)
{
    sampled_depth(k, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL);
}

static void depth_wrong(struct kit *k)
{
    sampled_depth(k, GENERAL);
}

static void dispatch_in_pass(struct kit *k)
{
    const struct shader shader = sampling(k);
    VkImageView target = view_in(k, COLOR);

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, SAMPLED), SAMPLED);
    scene_begin(&k->scene, 0);
    begin_rendering(k, target, COLOR);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    k->scene.client.vkCmdEndRendering(k->scene.cmd);
    scene_end(&k->scene);
}

static void draw_outside(struct kit *k)
{
    VkDescriptorSetLayout set_layout = kit_set_layout(k, 0, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkDescriptorSet set = kit_set(k, set_layout, 0);
    VkPipeline pipeline = kit_graphics(k, KIT_CODE(sample_frag), layout, VK_NULL_HANDLE, 0);

    kit_write(k, set, 0, 0, COMBINED, view_in(k, SAMPLED), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, GRAPHICS, pipeline, layout, set);
    k->scene.client.vkCmdDraw(k->scene.cmd, 3, 1, 0, 0);
    scene_end(&k->scene);
}

/* --- What counts as a use --- */

static void never_transitioned(struct kit *k)
{
    const struct shader shader = compute(k, KIT_CODE(store_comp), 1, one_storage, 0);

    kit_write(k, shader.set, 0, 0, STORAGE, view_in(k, UNDEFINED), GENERAL);
    dispatch(k, &shader);
}

/* The view is of mip 0; mip 1 is in another layout. */
static void other_mip(struct kit *k)
{
    const VkImageSubresourceRange second = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1};
    const struct shader shader = sampling(k);
    VkImage image = image_in(k, SAMPLED);

    kit_write(k, shader.set, 0, 0, COMBINED, scene_color_view(&k->scene, image), SAMPLED);
    scene_begin(&k->scene, 0);
    scene_barrier_range(&k->scene, image, SAMPLED, GENERAL, second);
    scene_end(&k->scene);
    dispatch(k, &shader);
}

static void second_mip_wrong(struct kit *k)
{
    const VkImageSubresourceRange second = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1};
    const struct shader shader = sampling(k);
    VkImage image = image_in(k, SAMPLED);
    VkImageView both =
        scene_view(&k->scene, image, &(VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 0, 1});

    kit_write(k, shader.set, 0, 0, COMBINED, both, SAMPLED);
    scene_begin(&k->scene, 0);
    scene_barrier_range(&k->scene, image, SAMPLED, GENERAL, second);
    scene_end(&k->scene);
    dispatch(k, &shader);
}

/* The shader declares binding 7 and doesn't use it. */
static void not_used(struct kit *k)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 1, 0}, {7, COMBINED, 1, 0}};
    const struct shader shader = compute(k, KIT_CODE(sample_comp), 2, bindings, 0);

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, SAMPLED), SAMPLED);
    kit_write(k, shader.set, 7, 0, COMBINED, view_in(k, GENERAL), SAMPLED);
    dispatch(k, &shader);
}

/* The shader names element 2 alone. */
static void elements(struct kit *k, uint32_t wrong)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 3, 0}};
    const struct shader shader = compute(k, KIT_CODE(element_comp), 1, bindings, 0);

    for (uint32_t i = 0; i < 3; i++)
        kit_write(k, shader.set, 0, i, COMBINED, view_in(k, i == wrong ? GENERAL : SAMPLED), SAMPLED);
    dispatch(k, &shader);
}

static void other_element(struct kit *k)
{
    elements(k, 1);
}

static void element_wrong(struct kit *k)
{
    elements(k, 2);
}

/* Element 1 of three by an index that only the device knows. */
static void dynamic_index(struct kit *k)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 3, 0}};
    const struct shader shader = compute(k, KIT_CODE(indexed_comp), 1, bindings, 0);
    const uint32_t index = 1;

    for (uint32_t i = 0; i < 3; i++)
        kit_write(k, shader.set, 0, i, COMBINED, view_in(k, i == 2 ? GENERAL : SAMPLED), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdPushConstants(k->scene.cmd, shader.layout, VK_SHADER_STAGE_ALL, 0, 4, &index);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

static void partially_bound(struct kit *k)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 1, PARTIAL}};
    const struct shader shader = compute(k, KIT_CODE(sample_comp), 1, bindings, 0);

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, GENERAL), SAMPLED);
    dispatch(k, &shader);
}

/* Bound to graphics, used by nobody. */
static void other_bind_point(struct kit *k)
{
    const struct shader shader = sampling(k);
    VkDescriptorSet other = kit_set(k, shader.set_layout, 0);

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, SAMPLED), SAMPLED);
    kit_write(k, other, 0, 0, COMBINED, view_in(k, GENERAL), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdBindDescriptorSets(k->scene.cmd, GRAPHICS, shader.layout, 0, 1, &other, 0, NULL);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

/* The barrier stands between the bind and the dispatch. */
static void repaired_in_time(struct kit *k)
{
    const struct shader shader = sampling(k);
    VkImage image = image_in(k, GENERAL);

    kit_write(k, shader.set, 0, 0, COMBINED, scene_color_view(&k->scene, image), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    scene_barrier(&k->scene, image, GENERAL, SAMPLED);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

/* Bound and written anew before the submit, which makes the command buffer invalid: what was bound counts. */
static void rewritten_after_bind(struct kit *k)
{
    const struct shader shader = sampling(k);
    VkImageView wrong = view_in(k, GENERAL), right = view_in(k, SAMPLED);
    VkCommandBuffer buffer;

    kit_write(k, shader.set, 0, 0, COMBINED, wrong, SAMPLED);
    buffer = scene_record(&k->scene, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdDispatch(buffer, 1, 1, 1);
    scene_record_end(&k->scene);
    kit_write(k, shader.set, 0, 0, COMBINED, right, SAMPLED);
    scene_submit(&k->scene, 0, 1, &buffer);
}

static void of_another_family(struct kit *k)
{
    const struct shader shader = sampling(k);

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, SAMPLED), SAMPLED);
    scene_begin(&k->scene, 1);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

/* --- Contents --- */

/* In GENERAL, without contents. */
static VkImage empty_image(struct kit *k)
{
    VkImage image = image_in(k, UNDEFINED);

    scene_begin(&k->scene, 0);
    scene_barrier(&k->scene, image, UNDEFINED, GENERAL);
    scene_end(&k->scene);
    return image;
}

static void copy_out(struct kit *k, VkImage image)
{
    scene_begin(&k->scene, 0);
    scene_copy_out(&k->scene, image, GENERAL);
    scene_end(&k->scene);
}

static void stored(struct kit *k)
{
    const struct shader shader = compute(k, KIT_CODE(store_comp), 1, one_storage, 0);
    VkImage image = empty_image(k);

    kit_write(k, shader.set, 0, 0, STORAGE, scene_color_view(&k->scene, image), GENERAL);
    dispatch(k, &shader);
    copy_out(k, image);
}

static void another_stored(struct kit *k)
{
    const struct shader shader = compute(k, KIT_CODE(store_comp), 1, one_storage, 0);
    VkImage image = empty_image(k), other = empty_image(k);

    kit_write(k, shader.set, 0, 0, STORAGE, scene_color_view(&k->scene, image), GENERAL);
    dispatch(k, &shader);
    copy_out(k, other);
}

static void only_loaded(struct kit *k)
{
    const struct shader shader = compute(k, KIT_CODE(load_comp), 1, one_storage, 0);

    kit_write(k, shader.set, 0, 0, STORAGE, scene_color_view(&k->scene, empty_image(k)), GENERAL);
    dispatch(k, &shader);
}

static void sampled_empty(struct kit *k)
{
    const struct shader shader = sampling(k);

    kit_write(k, shader.set, 0, 0, COMBINED, scene_color_view(&k->scene, empty_image(k)), GENERAL);
    dispatch(k, &shader);
}

/* Which of the two isn't known: either may have been written. */
static void stored_by_index(struct kit *k)
{
    static const struct kit_binding bindings[] = {{0, STORAGE, 2, 0}};
    const struct shader shader = compute(k, KIT_CODE(store_indexed_comp), 1, bindings, 0);
    const uint32_t index = 1;
    VkImage image = empty_image(k);

    kit_write(k, shader.set, 0, 0, STORAGE, scene_color_view(&k->scene, empty_image(k)), GENERAL);
    kit_write(k, shader.set, 0, 1, STORAGE, scene_color_view(&k->scene, image), GENERAL);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, shader.set);
    k->scene.client.vkCmdPushConstants(k->scene.cmd, shader.layout, VK_SHADER_STAGE_ALL, 0, 4, &index);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
    copy_out(k, image);
}

/* --- All of them --- */

#define UNVALIDATED 1 /* validation of 1.3.239 judges otherwise */
#define UNNOTICED 2   /* ... and doesn't see what is wrong */

/* Programs that are right with an image in SAMPLED, and wrong with one in DESTINATION. */
struct pair {
    const char *name;
    void (*run)(struct kit *k, VkImageLayout actual);
    uint32_t options;
};

#define PAIR(run, options)                                                                                   \
    {                                                                                                        \
#run, run, options                                                                                   \
    }

static const struct pair pairs[] = {
    PAIR(by_write, 0),
    PAIR(by_copy, 0),
    PAIR(by_template, 0),
    PAIR(by_push, 0),
    PAIR(by_push_with_template, 0),
    PAIR(by_second_push, 0),
    PAIR(of_mutable_type, 0),
    PAIR(of_variable_count, 0),
    PAIR(by_overflowing_write, 0),
    PAIR(after_bind, UNNOTICED),
    PAIR(in_reset_pool, 0),
    PAIR(of_destroyed_layouts, 0),
    PAIR(in_secondary, 0),
    PAIR(by_dispatch_indirect, 0),
    PAIR(by_dispatch_base, 0),
    PAIR(by_trace, 0),
    PAIR(by_trace_indirect, 0),
    PAIR(by_trace_of_library, UNNOTICED),
    PAIR(by_draw_direct, 0),
    PAIR(by_draw_indexed, 0),
    PAIR(by_draw_indirect, 0),
    PAIR(by_draw_indexed_indirect, 0),
    PAIR(by_draw_count, 0),
    PAIR(by_draw_indexed_count, 0),
    PAIR(by_draw_multi, 0),
    PAIR(by_draw_mesh, UNNOTICED),
    PAIR(by_draw_mesh_indirect, UNNOTICED),
    PAIR(by_linked_libraries, 0),
    PAIR(in_pass, 0),
};

struct program {
    const char *name;
    void (*run)(struct kit *k);
    uint32_t expected; /* the violations' kinds */
    uint32_t options;
};

#define PROGRAM(run, expected, options)                                                                      \
    {                                                                                                        \
#run, run, expected, options                                                                         \
    }

static const struct program programs[] = {
    PROGRAM(feedback_general, 0, 0),
    PROGRAM(feedback_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    PROGRAM(input_attachment, 0, 0),
    PROGRAM(depth_right, 0, 0),
    PROGRAM(depth_joint_name, 0, 0),
    PROGRAM(depth_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    PROGRAM(dispatch_in_pass, FAULT_ORACLE_PLACE, 0),
    PROGRAM(draw_outside, FAULT_ORACLE_PLACE, 0),
    PROGRAM(never_transitioned, FAULT_ORACLE_USE_LAYOUT, 0),
    PROGRAM(other_mip, 0, 0),
    PROGRAM(second_mip_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    PROGRAM(not_used, 0, 0),
    PROGRAM(other_element, 0, UNVALIDATED),
    PROGRAM(element_wrong, FAULT_ORACLE_USE_LAYOUT, 0),
    PROGRAM(dynamic_index, 0, UNVALIDATED),
    PROGRAM(partially_bound, 0, 0),
    PROGRAM(other_bind_point, 0, 0),
    PROGRAM(repaired_in_time, 0, 0),
    PROGRAM(rewritten_after_bind, FAULT_ORACLE_USE_LAYOUT, 0),
    PROGRAM(of_another_family, FAULT_ORACLE_OWNERSHIP, UNVALIDATED),
    PROGRAM(stored, 0, 0),
    PROGRAM(another_stored, FAULT_ORACLE_DISCARDED_READ, 0),
    PROGRAM(only_loaded, FAULT_ORACLE_DISCARDED_READ, 0),
    PROGRAM(sampled_empty, FAULT_ORACLE_DISCARDED_READ, 0),
    PROGRAM(stored_by_index, 0, 0),
};

static bool run_pair(const struct pair *pair, bool right)
{
    char name[128];
    struct kit kit;

    snprintf(name, sizeof(name), "%s, %s", pair->name, right ? "right" : "wrong");
    verdict_configure("oracle=1");
    kit_init(&kit, validated);
    pair->run(&kit, right ? SAMPLED : DESTINATION);
    kit_finish(&kit);
    return verdict_is_wrong(name, right ? 0 : FAULT_ORACLE_USE_LAYOUT, validated ? &kit.scene : NULL);
}

static void images_in_a_wrong_layout_are_found(void **state)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        wrong += run_pair(&pairs[i], true);
        if (!validated || !(pairs[i].options & UNNOTICED))
            wrong += run_pair(&pairs[i], false);
    }
    assert_int_equal(wrong, 0);
}

static bool run_program(const struct program *program)
{
    struct kit kit;

    verdict_configure("oracle=1");
    kit_init(&kit, validated);
    program->run(&kit);
    kit_finish(&kit);
    return verdict_is_wrong(program->name, program->expected, validated ? &kit.scene : NULL);
}

static void programs_are_judged_right(void **state)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (!validated || !(programs[i].options & UNVALIDATED))
            wrong += run_program(&programs[i]);
    }
    assert_int_equal(wrong, 0);
}

/* --- What is said of a finding --- */

static void a_violation_names_the_descriptor(void **state)
{
    struct fault_violation violation;
    struct kit kit;

    verdict_configure("oracle=1");
    kit_init(&kit, false);
    second_mip_wrong(&kit);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 1);
    assert_true(fault_oracle_violation(0, &violation));
    assert_int_equal(violation.kind, FAULT_ORACLE_USE_LAYOUT);
    assert_string_equal(violation.command, "vkCmdDispatch");
    assert_int_equal(violation.image, (uintptr_t)kit.scene.images[0]);
    assert_int_equal(violation.mip, 1);
    assert_int_equal(violation.subresources, 1);
    assert_int_equal(violation.expected, SAMPLED);
    assert_int_equal(violation.actual, GENERAL);
    assert_int_equal(violation.set, 0);
    assert_int_equal(violation.binding, 0);
    fault_oracle_reset();
    /* A transfer's is about no descriptor. */
    scene_begin(&kit.scene, 0);
    scene_copy_out(&kit.scene, kit.scene.images[0], SOURCE);
    scene_end(&kit.scene);
    assert_true(fault_oracle_violation(0, &violation));
    assert_int_equal(violation.set, -1);
    assert_int_equal(violation.binding, -1);
    kit_finish(&kit);
}

static void the_file_names_the_descriptor(void **state)
{
    char path[] = "/tmp/oracle-XXXXXX";
    char configuration[64], line[1024] = "";
    int descriptor = mkstemp(path);
    struct kit kit;
    FILE *file;

    assert_true(descriptor >= 0);
    snprintf(configuration, sizeof(configuration), "oracle_file=%s", path);
    verdict_configure(configuration);
    kit_init(&kit, false);
    by_draw_direct(&kit, GENERAL);
    kit_finish(&kit);
    verdict_configure("");
    file = fdopen(descriptor, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_non_null(strstr(line, " use-layout vkCmdDraw image=0x"));
    assert_non_null(strstr(line, " expected=SHADER_READ_ONLY_OPTIMAL actual=GENERAL set=0 binding=0: "));
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    unlink(path);
}

/* The history of an image that a shader made of one that was cleared so many times. */
static uint64_t history_of_filtered(struct kit *k, uint32_t clears)
{
    static const struct kit_binding bindings[] = {{0, COMBINED, 1, 0}, {1, STORAGE, 1, 0}};
    const struct shader shader = compute(k, KIT_CODE(filter_comp), 2, bindings, 0);
    VkImage from = empty_image(k), to = empty_image(k);

    kit_write(k, shader.set, 0, 0, COMBINED, scene_color_view(&k->scene, from), GENERAL);
    kit_write(k, shader.set, 1, 0, STORAGE, scene_color_view(&k->scene, to), GENERAL);
    scene_begin(&k->scene, 0);
    for (uint32_t i = 0; i < clears; i++)
        scene_clear(&k->scene, from, GENERAL);
    scene_end(&k->scene);
    dispatch(k, &shader);
    assert_true(fault_oracle_defined(to, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0));
    assert_false(fault_oracle_defined(to, VK_IMAGE_ASPECT_COLOR_BIT, 1, 0));
    return fault_oracle_history(to);
}

static void histories_follow_what_shaders_read(void **state)
{
    struct kit kit;
    uint64_t once;

    verdict_configure("oracle=1");
    kit_init(&kit, false);
    once = history_of_filtered(&kit, 1);
    assert_true(once == history_of_filtered(&kit, 1));
    assert_true(once != history_of_filtered(&kit, 2));
    assert_true(once != fault_oracle_history(empty_image(&kit)));
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
    kit_finish(&kit);
}

/* An element that no shader uses may be written while the others are in use. */
struct updater {
    struct kit *kit;
    VkDescriptorSet set;
    VkImageView view;
};

static void *update_often(void *context)
{
    const struct updater *updater = context;

    for (uint32_t i = 0; i < 200; i++)
        kit_write(updater->kit, updater->set, 0, 1, COMBINED, updater->view, SAMPLED);
    return NULL;
}

static void sets_are_updated_while_they_are_used(void **state)
{
    static const struct kit_binding bindings[] = {
        {0, COMBINED, 3, LIVE | VK_DESCRIPTOR_BINDING_UPDATE_UNUSED_WHILE_PENDING_BIT}};
    struct updater updater;
    struct shader shader;
    pthread_t thread;
    struct kit kit;

    verdict_configure("oracle=1");
    kit_init(&kit, false);
    shader = compute(&kit, KIT_CODE(element_comp), 1, bindings, 0);
    updater = (struct updater){&kit, shader.set, view_in(&kit, GENERAL)};
    kit_write(&kit, shader.set, 0, 2, COMBINED, view_in(&kit, SAMPLED), SAMPLED);
    assert_int_equal(pthread_create(&thread, NULL, update_often, &updater), 0);
    for (uint32_t i = 0; i < 50; i++)
        dispatch(&kit, &shader);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
    kit_finish(&kit);
}

#if defined(VK_VERSION_1_4)
/* --- Commands that scene.client doesn't have, since it knows what all headers know --- */

#define COMMAND(k, name) ((PFN_##name)(k)->scene.client.vkGetDeviceProcAddr((k)->scene.client.device, #name))

static void by_bind2(struct kit *k, VkImageLayout actual)
{
    const struct shader shader = sampling(k);
    const VkBindDescriptorSetsInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_DESCRIPTOR_SETS_INFO,
        .stageFlags = VK_SHADER_STAGE_ALL,
        .layout = shader.layout,
        .descriptorSetCount = 1,
        .pDescriptorSets = &shader.set,
    };

    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, shader.pipeline, shader.layout, VK_NULL_HANDLE);
    COMMAND(k, vkCmdBindDescriptorSets2KHR)(k->scene.cmd, &info);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

static void pushed2(struct kit *k, VkImageLayout actual, bool with_template)
{
    VkDescriptorSetLayout set_layout =
        kit_set_layout(k, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT, 1, one_image);
    VkPipelineLayout layout = kit_layout(k, set_layout);
    VkPipeline pipeline = kit_compute(k, KIT_CODE(sample_comp), layout);
    const VkDescriptorImageInfo image = kit_image_info(k, view_in(k, actual), SAMPLED);
    const VkWriteDescriptorSet write = kit_image_write(VK_NULL_HANDLE, 0, 0, COMBINED, &image);
    const VkPushDescriptorSetInfo info = {
        .sType = VK_STRUCTURE_TYPE_PUSH_DESCRIPTOR_SET_INFO,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .layout = layout,
        .descriptorWriteCount = 1,
        .pDescriptorWrites = &write,
    };
    const VkPushDescriptorSetWithTemplateInfo template = {
        .sType = VK_STRUCTURE_TYPE_PUSH_DESCRIPTOR_SET_WITH_TEMPLATE_INFO,
        .descriptorUpdateTemplate = kit_template(k, set_layout, layout),
        .layout = layout,
        .pData = &image,
    };

    scene_begin(&k->scene, 0);
    kit_bind(k, COMPUTE, pipeline, layout, VK_NULL_HANDLE);
    if (with_template)
        COMMAND(k, vkCmdPushDescriptorSetWithTemplate2KHR)(k->scene.cmd, &template);
    else
        COMMAND(k, vkCmdPushDescriptorSet2KHR)(k->scene.cmd, &info);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
}

static void by_push2(struct kit *k, VkImageLayout actual)
{
    pushed2(k, actual, false);
}

static void by_push2_with_template(struct kit *k, VkImageLayout actual)
{
    pushed2(k, actual, true);
}

static void by_shader_object(struct kit *k, VkImageLayout actual)
{
    const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
    const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, 4};
    const struct shader shader = sampling(k);
    const VkShaderCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
        .stage = stage,
        .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
        .codeSize = sizeof(sample_comp),
        .pCode = sample_comp,
        .pName = "main",
        .setLayoutCount = 1,
        .pSetLayouts = &shader.set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkShaderEXT object;

    assert_int_equal(COMMAND(k, vkCreateShadersEXT)(k->scene.client.device, 1, &info, NULL, &object),
                     VK_SUCCESS);
    kit_write(k, shader.set, 0, 0, COMBINED, view_in(k, actual), SAMPLED);
    scene_begin(&k->scene, 0);
    k->scene.client.vkCmdBindDescriptorSets(k->scene.cmd, COMPUTE, shader.layout, 0, 1, &shader.set, 0, NULL);
    COMMAND(k, vkCmdBindShadersEXT)(k->scene.cmd, 1, &stage, &object);
    k->scene.client.vkCmdDispatch(k->scene.cmd, 1, 1, 1);
    scene_end(&k->scene);
    COMMAND(k, vkDestroyShaderEXT)(k->scene.client.device, object, NULL);
}

/* Allowed where attachments can be read locally, if it is in a layout for that. */
static void barrier_for_attachment(struct kit *k, VkImageLayout layout)
{
    VkImage image = image_in(k, layout);
    VkImageView view = scene_color_view(&k->scene, image);
    VkImageMemoryBarrier barrier = scene_image_barrier(image, layout, layout, SCENE_ALL_COLOR);

    barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT;
    scene_begin(&k->scene, 0);
    begin_rendering(k, view, layout);
    k->scene.client.vkCmdPipelineBarrier(k->scene.cmd, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                         VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                         VK_DEPENDENCY_BY_REGION_BIT, 0, NULL, 0, NULL, 1, &barrier);
    k->scene.client.vkCmdEndRendering(k->scene.cmd);
    scene_end(&k->scene);
}

static void local_read_right(struct kit *k)
{
    barrier_for_attachment(k, GENERAL);
}

static void local_read_wrong(struct kit *k)
{
    barrier_for_attachment(k, COLOR);
}

static void newer_commands_are_judged(void **state)
{
    static const struct pair newer_pairs[] = {
        PAIR(by_bind2, 0),
        PAIR(by_push2, 0),
        PAIR(by_push2_with_template, 0),
        PAIR(by_shader_object, 0),
    };
    static const struct program newer_programs[] = {
        PROGRAM(local_read_right, 0, 0),
        PROGRAM(local_read_wrong, FAULT_ORACLE_PLACE, 0),
    };
    uint32_t wrong = 0;

    for (size_t i = 0; i < sizeof(newer_pairs) / sizeof(newer_pairs[0]); i++)
        wrong += run_pair(&newer_pairs[i], true) + run_pair(&newer_pairs[i], false);
    for (size_t i = 0; i < sizeof(newer_programs) / sizeof(newer_programs[0]); i++)
        wrong += run_program(&newer_programs[i]);
    assert_int_equal(wrong, 0);
}
#endif

static void nothing_is_judged_unless_asked_for(void **state)
{
    struct kit kit;

    verdict_configure("");
    kit_init(&kit, false);
    by_write(&kit, DESTINATION);
    by_push_with_template(&kit, DESTINATION);
    by_template(&kit, DESTINATION);
    kit_finish(&kit);
    assert_int_equal(fault_oracle_violations(FAULT_ORACLE_ALL), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_in_a_wrong_layout_are_found),
        cmocka_unit_test(programs_are_judged_right),
        cmocka_unit_test(a_violation_names_the_descriptor),
        cmocka_unit_test(the_file_names_the_descriptor),
        cmocka_unit_test(histories_follow_what_shaders_read),
        cmocka_unit_test(sets_are_updated_while_they_are_used),
#if defined(VK_VERSION_1_4)
        cmocka_unit_test(newer_commands_are_judged),
#endif
        cmocka_unit_test(nothing_is_judged_unless_asked_for),
    };
    const struct CMUnitTest judged[] = {cmocka_unit_test(images_in_a_wrong_layout_are_found),
                                        cmocka_unit_test(programs_are_judged_right)};

    validated = argc > 1 && !strcmp(argv[1], "validated");
    return validated ? cmocka_run_group_tests(judged, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
