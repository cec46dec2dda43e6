#include "kit_shader_object.h"

#ifdef VK_EXT_shader_object

#include "kit_shader_table.h"

#define COMMAND(name) ((PFN_##name)kit_function(kit, #name))

static const VkShaderStageFlagBits stages[2] = {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_FRAGMENT_BIT};

struct kit_shader_objects kit_shader_objects(struct kit *kit, enum kit_shader fragment)
{
    const struct kit_shader_entry *entries[2] = {&kit_fullscreen, kit_shader_entry(fragment)};
    struct kit_shader_objects made = {.layout = kit_pipeline_layout(kit, fragment, 0)};
    const VkDescriptorSetLayout layouts[KIT_SETS_MAX] = {made.layout.set_layout, made.layout.set_layout};
    const VkPushConstantRange constants = {KIT_STAGES, 0, KIT_CONSTANTS};
    VkShaderCreateInfoEXT infos[2];
    for (uint32_t i = 0; i < 2; i++)
        infos[i] = (VkShaderCreateInfoEXT){
            .sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
            .flags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT,
            .stage = stages[i],
            .nextStage = i == 0 ? VK_SHADER_STAGE_FRAGMENT_BIT : 0,
            .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
            .codeSize = entries[i]->size,
            .pCode = entries[i]->words,
            .pName = "main",
            .setLayoutCount = entries[1]->sets,
            .pSetLayouts = layouts,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges = &constants,
        };
    kit_check(COMMAND(vkCreateShadersEXT)(kit->device, 2, infos, NULL, made.shaders), "vkCreateShadersEXT");
    return made;
}

void kit_shader_objects_destroy(struct kit *kit, const struct kit_shader_objects *objects)
{
    for (uint32_t i = 0; i < 2; i++)
        COMMAND(vkDestroyShaderEXT)(kit->device, objects->shaders[i], NULL);
}

static void set_core_state(VkCommandBuffer commands)
{
    const VkViewport viewport = {0, 0, KIT_SIDE, KIT_SIDE, 0, 1};
    const VkRect2D scissor = {{0, 0}, {KIT_SIDE, KIT_SIDE}};
    vkCmdSetViewportWithCount(commands, 1, &viewport);
    vkCmdSetScissorWithCount(commands, 1, &scissor);
    vkCmdSetPrimitiveTopology(commands, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
    vkCmdSetPrimitiveRestartEnable(commands, VK_FALSE);
    vkCmdSetRasterizerDiscardEnable(commands, VK_FALSE);
    vkCmdSetCullMode(commands, VK_CULL_MODE_NONE);
    vkCmdSetFrontFace(commands, VK_FRONT_FACE_CLOCKWISE);
    vkCmdSetDepthTestEnable(commands, VK_FALSE);
    vkCmdSetDepthWriteEnable(commands, VK_FALSE);
    vkCmdSetDepthBoundsTestEnable(commands, VK_FALSE);
    vkCmdSetDepthBiasEnable(commands, VK_FALSE);
    vkCmdSetStencilTestEnable(commands, VK_FALSE);
}

static void set_extensions_state(struct kit *kit, VkCommandBuffer commands)
{
    const VkSampleMask samples = 1;
    const VkBool32 blend = VK_FALSE;
    const VkColorComponentFlags mask = 0xf;
    COMMAND(vkCmdSetVertexInputEXT)(commands, 0, NULL, 0, NULL);
    COMMAND(vkCmdSetPolygonModeEXT)(commands, VK_POLYGON_MODE_FILL);
    COMMAND(vkCmdSetRasterizationSamplesEXT)(commands, VK_SAMPLE_COUNT_1_BIT);
    COMMAND(vkCmdSetSampleMaskEXT)(commands, VK_SAMPLE_COUNT_1_BIT, &samples);
    COMMAND(vkCmdSetAlphaToCoverageEnableEXT)(commands, VK_FALSE);
    COMMAND(vkCmdSetColorBlendEnableEXT)(commands, 0, 1, &blend);
    COMMAND(vkCmdSetColorWriteMaskEXT)(commands, 0, 1, &mask);
}

void kit_shader_objects_draw(struct kit *kit, VkCommandBuffer commands,
                             const struct kit_shader_objects *objects, VkDescriptorSet set)
{
    COMMAND(vkCmdBindShadersEXT)(commands, 2, stages, objects->shaders);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, objects->layout.layout, 0, 1, &set, 0,
                            NULL);
    set_core_state(commands);
    set_extensions_state(kit, commands);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

#endif
