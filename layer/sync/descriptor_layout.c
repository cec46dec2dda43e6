/* Descriptor set layouts and pipeline layouts. */
#include <stdlib.h>

#include "chain.h"
#include "hooks.h"
#include "sync/descriptor.h"

bool descriptor_type_is_image(VkDescriptorType type)
{
    switch ((int)type) {
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM:
    case VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM:
        return true;
    default:
        return false;
    }
}

struct descriptor_layout *descriptor_layout_find(struct device_sync *sync, VkDescriptorSetLayout handle)
{
    return handle_map_find(&sync->set_layouts, HANDLE_KEY(handle));
}

struct pipeline_layout *pipeline_layout_find(struct device_sync *sync, VkPipelineLayout handle)
{
    return handle_map_find(&sync->pipeline_layouts, HANDLE_KEY(handle));
}

void descriptor_layout_release(struct descriptor_layout *layout)
{
    if (layout && object_release(&layout->object))
        free(layout);
}

void pipeline_layout_release(struct pipeline_layout *layout)
{
    if (!layout || !object_release(&layout->object))
        return;
    for (uint32_t i = 0; i < layout->set_count; i++)
        descriptor_layout_release(layout->sets[i]);
    free(layout);
}

const struct descriptor_binding *descriptor_layout_binding(const struct descriptor_layout *layout,
                                                           uint32_t number)
{
    uint32_t low = 0, high = layout->binding_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (layout->bindings[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < layout->binding_count && layout->bindings[low].number == number ? &layout->bindings[low]
                                                                                 : NULL;
}

/* --- Set layouts --- */

static int compare_bindings(const void *a, const void *b)
{
    const struct descriptor_binding *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static VkDescriptorBindingFlags flags_of(const VkDescriptorSetLayoutCreateInfo *info, uint32_t index)
{
    const VkDescriptorSetLayoutBindingFlagsCreateInfo *flags =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
    return flags && index < flags->bindingCount ? flags->pBindingFlags[index] : 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

/* Slots are handed out, and what is said of the whole is summed up. False where there are too many. */
static bool number_slots(struct descriptor_layout *layout)
{
    uint64_t slots = 0, descriptors = 0, signature = layout->binding_count;
    for (uint32_t i = 0; i < layout->binding_count; i++) {
        struct descriptor_binding *binding = &layout->bindings[i];
        bool mutable = binding->type == VK_DESCRIPTOR_TYPE_MUTABLE_VALVE;
        binding->slot = DESCRIPTOR_NO_SLOT;
        if (descriptor_type_is_image(binding->type) || mutable) {
            binding->slot = (uint32_t)slots;
            slots += binding->count;
        }
        if (binding->type != VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
            descriptors += binding->count;
        layout->late |= binding->late;
        signature = mix(signature, (uint64_t)binding->number << 32 | (uint32_t)binding->type);
        signature = mix(signature, (uint64_t)binding->count << 2 | (uint64_t)binding->partial << 1 |
                                       (uint64_t)binding->late);
        if (slots >= DESCRIPTOR_NO_SLOT / 2 || descriptors >= DESCRIPTOR_NO_SLOT / 2)
            return false;
    }
    layout->slot_count = (uint32_t)slots;
    layout->descriptor_count = (uint32_t)descriptors;
    layout->signature = signature;
    return true;
}

static struct descriptor_layout *create_layout(const VkDescriptorSetLayoutCreateInfo *info)
{
    struct descriptor_layout *layout =
        calloc(1, sizeof(*layout) + info->bindingCount * sizeof(layout->bindings[0]));
    if (!layout)
        return NULL;
    object_init(&layout->object);
    layout->binding_count = info->bindingCount;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        VkDescriptorBindingFlags flags = flags_of(info, i);
        layout->bindings[i] = (struct descriptor_binding){
            .number = info->pBindings[i].binding,
            .type = info->pBindings[i].descriptorType,
            .count = info->pBindings[i].descriptorCount,
            .partial = flags & VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT,
            .late = flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT,
        };
    }
    if (info->bindingCount)
        qsort(layout->bindings, info->bindingCount, sizeof(layout->bindings[0]), compare_bindings);
    if (number_slots(layout))
        return layout;
    free(layout);
    return NULL;
}

/* Structures that are read here, or change nothing of what a set refers to. */
static const VkStructureType known[] = {
    VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
    VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_VALVE,
};

/* Sets of a layout that isn't kept are unknown, and what shaders read through them isn't seen. */
VkResult hook_CreateDescriptorSetLayout(struct device *self, PFN_vkCreateDescriptorSetLayout next,
                                        VkDevice device, const VkDescriptorSetLayoutCreateInfo *pCreateInfo,
                                        const VkAllocationCallbacks *pAllocator,
                                        VkDescriptorSetLayout *pSetLayout)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pSetLayout);
    if (result != VK_SUCCESS || !chain_is_of(pCreateInfo->pNext, known, sizeof(known) / sizeof(known[0])) ||
        (pCreateInfo->flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT))
        return result;
    struct descriptor_layout *layout = create_layout(pCreateInfo);
    if (layout &&
        object_insert(&sync->set_layouts, HANDLE_KEY(*pSetLayout), &layout->object) != OBJECT_INSERTED)
        descriptor_layout_release(layout);
    if (pCreateInfo->flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR)
        atomic_store_explicit(&sync->unforeseen, true, memory_order_relaxed);
    return result;
}

void hook_DestroyDescriptorSetLayout(struct device *self, PFN_vkDestroyDescriptorSetLayout next,
                                     VkDevice device, VkDescriptorSetLayout descriptorSetLayout,
                                     const VkAllocationCallbacks *pAllocator)
{
    descriptor_layout_release(
        (struct descriptor_layout *)object_remove(&self->sync->set_layouts, HANDLE_KEY(descriptorSetLayout)));
    next(device, descriptorSetLayout, pAllocator);
}

/* --- Pipeline layouts --- */

static struct pipeline_layout *create_pipeline_layout(struct device_sync *sync,
                                                      const VkPipelineLayoutCreateInfo *info)
{
    struct pipeline_layout *layout =
        calloc(1, sizeof(*layout) + info->setLayoutCount * sizeof(layout->sets[0]));
    if (!layout)
        return NULL;
    object_init(&layout->object);
    layout->set_count = info->setLayoutCount;
    for (uint32_t i = 0; i < info->setLayoutCount; i++) {
        layout->sets[i] = descriptor_layout_find(sync, info->pSetLayouts[i]);
        if (layout->sets[i])
            object_acquire(&layout->sets[i]->object);
    }
    return layout;
}

VkResult hook_CreatePipelineLayout(struct device *self, PFN_vkCreatePipelineLayout next, VkDevice device,
                                   const VkPipelineLayoutCreateInfo *pCreateInfo,
                                   const VkAllocationCallbacks *pAllocator, VkPipelineLayout *pPipelineLayout)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pPipelineLayout);
    if (result != VK_SUCCESS)
        return result;
    struct pipeline_layout *layout = create_pipeline_layout(sync, pCreateInfo);
    if (layout && object_insert(&sync->pipeline_layouts, HANDLE_KEY(*pPipelineLayout), &layout->object) !=
                      OBJECT_INSERTED)
        pipeline_layout_release(layout);
    return result;
}

void hook_DestroyPipelineLayout(struct device *self, PFN_vkDestroyPipelineLayout next, VkDevice device,
                                VkPipelineLayout pipelineLayout, const VkAllocationCallbacks *pAllocator)
{
    pipeline_layout_release(
        (struct pipeline_layout *)object_remove(&self->sync->pipeline_layouts, HANDLE_KEY(pipelineLayout)));
    next(device, pipelineLayout, pAllocator);
}
