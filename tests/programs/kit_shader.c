#include "kit_shader.h"
#include "kit_shader_table.h"

#define TEXTURE VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define STORAGE VK_DESCRIPTOR_TYPE_STORAGE_IMAGE

#include "capture_vert.h"
#include "fill_frag.h"
#include "fullscreen_vert.h"
#include "image_to_buffer_comp.h"
#include "load_input_frag.h"
#include "load_storage_frag.h"
#include "sample_3d_frag.h"
#include "sample_cube_frag.h"
#include "sample_depth_frag.h"
#include "sample_frag.h"
#include "sample_scaled_frag.h"
#include "sample_separate_frag.h"
#include "sample_stencil_frag.h"
#include "sample_to_buffer_comp.h"
#include "sample_to_image_comp.h"
#include "sample_two_sets_frag.h"
#include "sample_views_frag.h"
#include "store_image_comp.h"

#define WORDS(name) name, sizeof(name)
#define FRAGMENT VK_SHADER_STAGE_FRAGMENT_BIT
#define COMPUTE VK_SHADER_STAGE_COMPUTE_BIT

static const struct kit_shader_entry table[KIT_SHADER_COUNT] = {
    [KIT_FILL] = {WORDS(fill_frag), FRAGMENT, 0, 0, {0}},
    [KIT_SAMPLE] = {WORDS(sample_frag), FRAGMENT, 1, 1, {TEXTURE}},
    [KIT_SAMPLE_SCALED] =
        {WORDS(sample_scaled_frag), FRAGMENT, 1, 2, {TEXTURE, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER}},
    [KIT_SAMPLE_SEPARATE] = {WORDS(sample_separate_frag),
                             FRAGMENT,
                             1,
                             2,
                             {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_SAMPLER}},
    [KIT_SAMPLE_TWO_SETS] = {WORDS(sample_two_sets_frag), FRAGMENT, 2, 1, {TEXTURE}},
    [KIT_SAMPLE_DEPTH] = {WORDS(sample_depth_frag), FRAGMENT, 1, 2, {TEXTURE, TEXTURE}},
    [KIT_SAMPLE_STENCIL] = {WORDS(sample_stencil_frag), FRAGMENT, 1, 1, {TEXTURE}},
    [KIT_SAMPLE_CUBE] = {WORDS(sample_cube_frag), FRAGMENT, 1, 1, {TEXTURE}},
    [KIT_SAMPLE_3D] = {WORDS(sample_3d_frag), FRAGMENT, 1, 1, {TEXTURE}},
    [KIT_SAMPLE_VIEWS] = {WORDS(sample_views_frag), FRAGMENT, 1, 1, {TEXTURE}},
    [KIT_LOAD_STORAGE] = {WORDS(load_storage_frag), FRAGMENT, 1, 1, {STORAGE}},
    [KIT_LOAD_INPUT] = {WORDS(load_input_frag), FRAGMENT, 1, 1, {VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT}},
    [KIT_IMAGE_TO_BUFFER] =
        {WORDS(image_to_buffer_comp), COMPUTE, 1, 2, {STORAGE, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}},
    [KIT_SAMPLE_TO_BUFFER] =
        {WORDS(sample_to_buffer_comp), COMPUTE, 1, 2, {TEXTURE, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}},
    [KIT_SAMPLE_TO_IMAGE] = {WORDS(sample_to_image_comp), COMPUTE, 1, 2, {TEXTURE, STORAGE}},
    [KIT_STORE_IMAGE] = {WORDS(store_image_comp), COMPUTE, 1, 1, {STORAGE}},
};

const struct kit_shader_entry kit_fullscreen = {
    WORDS(fullscreen_vert), VK_SHADER_STAGE_VERTEX_BIT, 0, 0, {0}};
const struct kit_shader_entry kit_capture = {WORDS(capture_vert), VK_SHADER_STAGE_VERTEX_BIT, 0, 0, {0}};

const struct kit_shader_entry *kit_shader_entry(enum kit_shader shader)
{
    return &table[shader];
}

union kit_descriptor kit_image_descriptor(struct kit *kit, VkImageView view, VkImageLayout layout)
{
    if (!kit->sampler) {
        VkSamplerCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
            .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
            .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
            .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
            .maxLod = VK_LOD_CLAMP_NONE,
        };
        kit_check(vkCreateSampler(kit->device, &info, NULL, &kit->sampler), "vkCreateSampler");
    }
    return (union kit_descriptor){.image = {kit->sampler, view, layout}};
}

union kit_descriptor kit_buffer_descriptor(VkBuffer buffer)
{
    return (union kit_descriptor){.buffer = {buffer, 0, VK_WHOLE_SIZE}};
}

VkDescriptorSetLayout kit_set_layout(struct kit *kit, enum kit_shader shader,
                                     VkDescriptorSetLayoutCreateFlags flags)
{
    const VkDescriptorBindingFlags after = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
    const VkDescriptorBindingFlags binding_flags[KIT_BINDINGS_MAX] = {after, after};
    const struct kit_shader_entry *entry = &table[shader];
    VkDescriptorSetLayoutBinding bindings[KIT_BINDINGS_MAX];
    for (uint32_t i = 0; i < entry->bindings; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, entry->types[i], 1, entry->stage, NULL};
    VkDescriptorSetLayoutBindingFlagsCreateInfo more = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = entry->bindings,
        .pBindingFlags = binding_flags,
    };
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT ? &more : NULL,
        .flags = flags,
        .bindingCount = entry->bindings,
        .pBindings = bindings,
    };
    VkDescriptorSetLayout layout;
    kit_check_room(kit->set_layout_count);
    kit_check(vkCreateDescriptorSetLayout(kit->device, &info, NULL, &layout), "vkCreateDescriptorSetLayout");
    return kit->set_layouts[kit->set_layout_count++] = layout;
}

static VkDescriptorPool pool_create(struct kit *kit, const struct kit_shader_entry *entry)
{
    VkDescriptorPoolSize sizes[KIT_BINDINGS_MAX];
    for (uint32_t i = 0; i < entry->bindings; i++)
        sizes[i] = (VkDescriptorPoolSize){entry->types[i], 1};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .flags = kit_has(kit, KIT_UPDATE_AFTER_BIND) ? VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT : 0,
        .maxSets = 1,
        .poolSizeCount = entry->bindings,
        .pPoolSizes = sizes,
    };
    VkDescriptorPool pool;
    kit_check_room(kit->descriptor_pool_count);
    kit_check(vkCreateDescriptorPool(kit->device, &info, NULL, &pool), "vkCreateDescriptorPool");
    return kit->descriptor_pools[kit->descriptor_pool_count++] = pool;
}

static VkWriteDescriptorSet write_of(const struct kit_shader_entry *entry, VkDescriptorSet set,
                                     uint32_t binding, const union kit_descriptor *descriptor)
{
    return (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .dstBinding = binding,
        .descriptorCount = 1,
        .descriptorType = entry->types[binding],
        .pImageInfo = &descriptor->image,
        .pBufferInfo = &descriptor->buffer,
    };
}

VkDescriptorSet kit_set(struct kit *kit, const struct kit_pipeline *pipeline,
                        const union kit_descriptor *descriptors)
{
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool_create(kit, &table[pipeline->shader]),
        .descriptorSetCount = 1,
        .pSetLayouts = &pipeline->set_layout,
    };
    VkDescriptorSet set;
    kit_check(vkAllocateDescriptorSets(kit->device, &info, &set), "vkAllocateDescriptorSets");
    for (uint32_t i = 0; descriptors && i < table[pipeline->shader].bindings; i++)
        kit_write(kit, pipeline, set, i, &descriptors[i]);
    return set;
}

VkDescriptorSet kit_image_set(struct kit *kit, const struct kit_pipeline *pipeline, VkImageView view,
                              VkImageLayout layout)
{
    union kit_descriptor descriptor = kit_image_descriptor(kit, view, layout);
    return kit_set(kit, pipeline, &descriptor);
}

void kit_write(struct kit *kit, const struct kit_pipeline *pipeline, VkDescriptorSet set, uint32_t binding,
               const union kit_descriptor *descriptor)
{
    VkWriteDescriptorSet write = write_of(&table[pipeline->shader], set, binding, descriptor);
    vkUpdateDescriptorSets(kit->device, 1, &write, 0, NULL);
}

void kit_push(struct kit *kit, VkCommandBuffer commands, const struct kit_pipeline *pipeline,
              const union kit_descriptor *descriptors)
{
    PFN_vkCmdPushDescriptorSetKHR push =
        (PFN_vkCmdPushDescriptorSetKHR)kit_function(kit, "vkCmdPushDescriptorSetKHR");
    const struct kit_shader_entry *entry = &table[pipeline->shader];
    VkWriteDescriptorSet writes[KIT_BINDINGS_MAX];
    for (uint32_t i = 0; i < entry->bindings; i++)
        writes[i] = write_of(entry, VK_NULL_HANDLE, i, &descriptors[i]);
    push(commands, pipeline->point, pipeline->layout, 0, entry->bindings, writes);
}

VkDescriptorUpdateTemplate kit_template(struct kit *kit, const struct kit_pipeline *pipeline, bool push)
{
    const struct kit_shader_entry *entry = &table[pipeline->shader];
    VkDescriptorUpdateTemplateEntry entries[KIT_BINDINGS_MAX];
    for (uint32_t i = 0; i < entry->bindings; i++)
        entries[i] = (VkDescriptorUpdateTemplateEntry){
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = entry->types[i],
            .offset = i * sizeof(union kit_descriptor),
        };
    VkDescriptorUpdateTemplateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = entry->bindings,
        .pDescriptorUpdateEntries = entries,
        .templateType = push ? VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR
                             : VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
        .descriptorSetLayout = pipeline->set_layout,
        .pipelineBindPoint = pipeline->point,
        .pipelineLayout = pipeline->layout,
    };
    VkDescriptorUpdateTemplate made;
    kit_check_room(kit->template_count);
    kit_check(vkCreateDescriptorUpdateTemplate(kit->device, &info, NULL, &made),
              "vkCreateDescriptorUpdateTemplate");
    return kit->templates[kit->template_count++] = made;
}
