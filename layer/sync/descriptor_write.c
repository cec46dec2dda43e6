/* What is written into descriptor sets: writes, copies, templates. */
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "sync/descriptor.h"
#include "sync/image.h"
#include "sync/layout.h"

/* --- One write --- */

/* From here on a render pass may have to be held back for the image. */
static void describe(struct device_sync *sync, const struct descriptor *descriptor)
{
    const struct image_view *view = image_view_find(sync, descriptor->view);
    if (!view)
        return;
    uint32_t bit = layout_bit(descriptor->layout);
    atomic_uint *layouts = &view->image->described;
    if (atomic_load_explicit(layouts, memory_order_relaxed) & bit)
        return;
    if (atomic_fetch_or_explicit(layouts, bit, memory_order_relaxed))
        atomic_fetch_add_explicit(&sync->described_anew, 1, memory_order_relaxed);
}

static const struct descriptor_binding *binding_at(const struct descriptor_layout *layout, uint32_t number)
{
    const struct descriptor_binding *binding = descriptor_layout_binding(layout, number);
    return binding ? binding : &layout->bindings[layout->binding_count];
}

/* Steps to where the element lies that many descriptors behind the binding's first. NULL behind the last. */
static const struct descriptor_binding *find_element(const struct descriptor_layout *layout,
                                                     const struct descriptor_binding *binding,
                                                     uint32_t *element)
{
    const struct descriptor_binding *end = &layout->bindings[layout->binding_count];
    while (binding < end && *element >= binding->count) {
        *element -= binding->count;
        binding++;
    }
    return binding < end ? binding : NULL;
}

void descriptor_write(struct device_sync *sync, const struct descriptor_layout *layout,
                      struct descriptor *slots, uint32_t slot_count, uint32_t number, uint32_t element,
                      uint32_t count, VkDescriptorType type, const void *infos, size_t stride)
{
    const struct descriptor_binding *binding = binding_at(layout, number);
    bool is_image = descriptor_type_is_image(type);
    if (type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
        return;
    for (uint32_t i = 0; i < count; i++, element++) {
        binding = find_element(layout, binding, &element);
        if (!binding)
            return;
        if (binding->slot == DESCRIPTOR_NO_SLOT)
            continue;
        struct descriptor value = {0};
        if (is_image) {
            VkDescriptorImageInfo info;
            memcpy(&info, (const char *)infos + i * stride, sizeof(info));
            value = (struct descriptor){info.imageView, info.imageLayout};
            describe(sync, &value);
        }
        if (binding->slot + element < slot_count)
            slots[binding->slot + element] = value;
    }
}

/* --- vkUpdateDescriptorSets --- */

static void lock(struct descriptor_set *set)
{
    if (set->layout->late)
        pthread_mutex_lock(&set->lock);
}

static void unlock(struct descriptor_set *set)
{
    if (set->layout->late)
        pthread_mutex_unlock(&set->lock);
}

static void write_set(struct device_sync *sync, const VkWriteDescriptorSet *write)
{
    struct descriptor_set *set = descriptor_set_find(sync, write->dstSet);
    /* Of a mutable binding a write changes the type, whatever is written. */
    if (!set || !set->layout->slot_count)
        return;
    lock(set);
    descriptor_write(sync, set->layout, set->slots, set->slot_count, write->dstBinding,
                     write->dstArrayElement, write->descriptorCount, write->descriptorType, write->pImageInfo,
                     sizeof(VkDescriptorImageInfo));
    unlock(set);
}

/* {0} where it has none. */
static struct descriptor read_slot(struct descriptor_set *set, const struct descriptor_binding *binding,
                                   uint32_t element)
{
    struct descriptor value = {0};
    if (binding->slot == DESCRIPTOR_NO_SLOT || binding->slot + element >= set->slot_count)
        return value;
    lock(set);
    value = set->slots[binding->slot + element];
    unlock(set);
    return value;
}

static void write_slot(struct device_sync *sync, struct descriptor_set *set,
                       const struct descriptor_binding *binding, uint32_t element,
                       const struct descriptor *value)
{
    if (binding->slot == DESCRIPTOR_NO_SLOT || binding->slot + element >= set->slot_count)
        return;
    lock(set);
    set->slots[binding->slot + element] = *value;
    unlock(set);
    describe(sync, value);
}

/* What comes from a set that isn't known isn't known either. */
static void copy_set(struct device_sync *sync, const VkCopyDescriptorSet *copy)
{
    struct descriptor_set *from = descriptor_set_find(sync, copy->srcSet);
    struct descriptor_set *to = descriptor_set_find(sync, copy->dstSet);
    if (!to)
        return;
    const struct descriptor_binding *source = from ? binding_at(from->layout, copy->srcBinding) : NULL;
    const struct descriptor_binding *destination = binding_at(to->layout, copy->dstBinding);
    uint32_t at = copy->srcArrayElement, element = copy->dstArrayElement;
    for (uint32_t i = 0; i < copy->descriptorCount; i++, at++, element++) {
        source = source ? find_element(from->layout, source, &at) : NULL;
        destination = find_element(to->layout, destination, &element);
        /* Of inline uniform blocks what is counted are bytes. */
        if (!destination || destination->type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
            return;
        struct descriptor value = source ? read_slot(from, source, at) : (struct descriptor){0};
        write_slot(sync, to, destination, element, &value);
    }
}

void hook_UpdateDescriptorSets(struct device *self, PFN_vkUpdateDescriptorSets next, VkDevice device,
                               uint32_t descriptorWriteCount, const VkWriteDescriptorSet *pDescriptorWrites,
                               uint32_t descriptorCopyCount, const VkCopyDescriptorSet *pDescriptorCopies)
{
    for (uint32_t i = 0; i < descriptorWriteCount; i++)
        write_set(self->sync, &pDescriptorWrites[i]);
    for (uint32_t i = 0; i < descriptorCopyCount; i++)
        copy_set(self->sync, &pDescriptorCopies[i]);
    next(device, descriptorWriteCount, pDescriptorWrites, descriptorCopyCount, pDescriptorCopies);
}

/* --- Templates --- */

size_t descriptor_type_size(VkDescriptorType type)
{
    if (descriptor_type_is_image(type))
        return sizeof(VkDescriptorImageInfo);
    switch ((int)type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        return sizeof(VkDescriptorImageInfo);
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        return sizeof(VkDescriptorBufferInfo);
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        return sizeof(VkBufferView);
    case VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR:
    case VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_NV:
        return sizeof(VkAccelerationStructureKHR);
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
        return 1;
    default:
        return 0;
    }
}

struct descriptor_template *descriptor_template_find(struct device_sync *sync,
                                                     VkDescriptorUpdateTemplate handle)
{
    return handle_map_find(&sync->templates, HANDLE_KEY(handle));
}

void descriptor_template_release(struct descriptor_template *update)
{
    if (!update || !object_release(&update->object))
        return;
    descriptor_layout_release(update->layout);
    free(update);
}

void descriptor_template_write(struct device_sync *sync, const struct descriptor_template *update,
                               const struct descriptor_layout *layout, struct descriptor *slots,
                               uint32_t slot_count, const void *data)
{
    for (uint32_t i = 0; i < update->entry_count; i++) {
        const VkDescriptorUpdateTemplateEntry *entry = &update->entries[i];
        descriptor_write(sync, layout, slots, slot_count, entry->dstBinding, entry->dstArrayElement,
                         entry->descriptorCount, entry->descriptorType, (const char *)data + entry->offset,
                         entry->stride);
    }
}

static void keep_push(struct device_sync *sync, struct descriptor_template *update,
                      const VkDescriptorUpdateTemplateCreateInfo *info)
{
    const struct pipeline_layout *layout = pipeline_layout_find(sync, info->pipelineLayout);
    update->push = true;
    update->point = info->pipelineBindPoint;
    update->set = info->set;
    if (layout && info->set < layout->set_count && layout->sets[info->set]) {
        update->layout = layout->sets[info->set];
        object_acquire(&update->layout->object);
    }
}

static struct descriptor_template *create(struct device_sync *sync,
                                          const VkDescriptorUpdateTemplateCreateInfo *info)
{
    size_t entries = info->descriptorUpdateEntryCount * sizeof(VkDescriptorUpdateTemplateEntry);
    struct descriptor_template *update = calloc(1, sizeof(*update) + entries);
    if (!update)
        return NULL;
    object_init(&update->object);
    update->entry_count = info->descriptorUpdateEntryCount;
    if (entries)
        memcpy(update->entries, info->pDescriptorUpdateEntries, entries);
    if (info->templateType == VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR)
        keep_push(sync, update, info);
    return update;
}

VkResult hook_CreateDescriptorUpdateTemplate(struct device *self, PFN_vkCreateDescriptorUpdateTemplate next,
                                             VkDevice device,
                                             const VkDescriptorUpdateTemplateCreateInfo *pCreateInfo,
                                             const VkAllocationCallbacks *pAllocator,
                                             VkDescriptorUpdateTemplate *pDescriptorUpdateTemplate)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pDescriptorUpdateTemplate);
    if (result != VK_SUCCESS)
        return result;
    struct descriptor_template *update = create(sync, pCreateInfo);
    if (update && object_insert(&sync->templates, HANDLE_KEY(*pDescriptorUpdateTemplate), &update->object) !=
                      OBJECT_INSERTED)
        descriptor_template_release(update);
    return result;
}

void hook_DestroyDescriptorUpdateTemplate(struct device *self, PFN_vkDestroyDescriptorUpdateTemplate next,
                                          VkDevice device,
                                          VkDescriptorUpdateTemplate descriptorUpdateTemplate,
                                          const VkAllocationCallbacks *pAllocator)
{
    descriptor_template_release((struct descriptor_template *)object_remove(
        &self->sync->templates, HANDLE_KEY(descriptorUpdateTemplate)));
    next(device, descriptorUpdateTemplate, pAllocator);
}

void hook_UpdateDescriptorSetWithTemplate(struct device *self, PFN_vkUpdateDescriptorSetWithTemplate next,
                                          VkDevice device, VkDescriptorSet descriptorSet,
                                          VkDescriptorUpdateTemplate descriptorUpdateTemplate,
                                          const void *pData)
{
    struct device_sync *sync = self->sync;
    struct descriptor_set *set = descriptor_set_find(sync, descriptorSet);
    const struct descriptor_template *update = descriptor_template_find(sync, descriptorUpdateTemplate);
    if (set && set->layout->slot_count) {
        lock(set);
        if (update)
            descriptor_template_write(sync, update, set->layout, set->slots, set->slot_count, pData);
        else /* it may have written any of them */
            memset(set->slots, 0, set->slot_count * sizeof(set->slots[0]));
        unlock(set);
    }
    next(device, descriptorSet, descriptorUpdateTemplate, pData);
}
