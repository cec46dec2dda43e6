/* What is written into descriptor sets. */
#include <stdlib.h>
#include <string.h>

#include "descriptors.h"

/* --- Sources --- */

static bool has_image(VkDescriptorType type)
{
    switch ((int)type) {
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
    case VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM:
    case VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM:
        return true;
    default:
        return false;
    }
}

struct descriptor_source write_source(const VkWriteDescriptorSet *write)
{
    return (struct descriptor_source){write->descriptorType, (const char *)write->pImageInfo,
                                      sizeof(*write->pImageInfo)};
}

struct descriptor_source template_source(const VkDescriptorUpdateTemplateEntry *entry, const void *data)
{
    return (struct descriptor_source){entry->descriptorType, (const char *)data + entry->offset,
                                      entry->stride};
}

struct descriptor source_descriptor(const struct descriptor_source *source, uint32_t index)
{
    VkDescriptorImageInfo info;

    if (!has_image(source->type))
        return (struct descriptor){.type = source->type};
    memcpy(&info, source->images + index * source->stride, sizeof(info));
    return (struct descriptor){source->type, info.imageLayout, info.imageView};
}

/* --- Sets --- */

static void set_write(struct descriptor_set *set, uint32_t binding, uint32_t element, uint32_t count,
                      const struct descriptor_source *source)
{
    struct slot_walk walk;

    slot_walk_begin(&walk, set->shape, binding, element);
    for (uint32_t i = 0; i < count && slot_walk_next(&walk) && walk.slot < set->slots; i++)
        set->descriptors[walk.slot] = source_descriptor(source, i);
}

static void set_copy(const VkCopyDescriptorSet *copy)
{
    const struct descriptor_set *source = OBJECT(descriptor_set, copy->srcSet);
    struct descriptor_set *destination = OBJECT(descriptor_set, copy->dstSet);
    struct slot_walk from, to;

    slot_walk_begin(&from, source->shape, copy->srcBinding, copy->srcArrayElement);
    slot_walk_begin(&to, destination->shape, copy->dstBinding, copy->dstArrayElement);
    for (uint32_t i = 0; i < copy->descriptorCount; i++) {
        if (!slot_walk_next(&from) || !slot_walk_next(&to) || from.slot >= source->slots ||
            to.slot >= destination->slots)
            return;
        destination->descriptors[to.slot] = source->descriptors[from.slot];
    }
}

/* An inline uniform block's count is in bytes, which take no slots. */
static bool takes_slots(VkDescriptorType type)
{
    return type != VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
}

void driver_vkUpdateDescriptorSets(VkDevice handle, uint32_t write_count, const VkWriteDescriptorSet *writes,
                                   uint32_t copy_count, const VkCopyDescriptorSet *copies)
{
    struct device *device = OBJECT(device, handle);

    if (!device->oracle.on)
        return;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < write_count; i++) {
        const struct descriptor_source source = write_source(&writes[i]);

        if (takes_slots(writes[i].descriptorType))
            set_write(OBJECT(descriptor_set, writes[i].dstSet), writes[i].dstBinding,
                      writes[i].dstArrayElement, writes[i].descriptorCount, &source);
    }
    for (uint32_t i = 0; i < copy_count; i++)
        set_copy(&copies[i]);
    pthread_mutex_unlock(&device->lock);
}

/* --- Templates --- */

static void update_template_finish(struct object *object)
{
    free(((struct update_template *)object)->entries);
}

static bool take_entries(struct update_template *template, const VkDescriptorUpdateTemplateCreateInfo *info)
{
    const uint32_t count = info->descriptorUpdateEntryCount;

    template->entries = calloc(count ? count : 1, sizeof(*template->entries));
    if (!template->entries)
        return false;
    template->count = count;
    memcpy(template->entries, info->pDescriptorUpdateEntries, count * sizeof(*template->entries));
    return true;
}

VkResult driver_vkCreateDescriptorUpdateTemplate(VkDevice device,
                                                 const VkDescriptorUpdateTemplateCreateInfo *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkDescriptorUpdateTemplate *out)
{
    struct update_template *template =
        object_create(object_list_of(device), VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE, sizeof(*template));

    if (!template)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    template->base.finish = update_template_finish;
    template->point = info->pipelineBindPoint;
    if (OBJECT(device, device)->oracle.on && !take_entries(template, info)) {
        object_destroy(&template->base, VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = HANDLE(VkDescriptorUpdateTemplate, template);
    return VK_SUCCESS;
}

void driver_vkUpdateDescriptorSetWithTemplate(VkDevice handle, VkDescriptorSet set,
                                              VkDescriptorUpdateTemplate template_handle, const void *data)
{
    const struct update_template *template = OBJECT(update_template, template_handle);
    struct device *device = OBJECT(device, handle);

    if (!device->oracle.on)
        return;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < template->count; i++) {
        const VkDescriptorUpdateTemplateEntry *entry = &template->entries[i];
        const struct descriptor_source source = template_source(entry, data);

        if (takes_slots(entry->descriptorType))
            set_write(OBJECT(descriptor_set, set), entry->dstBinding, entry->dstArrayElement,
                      entry->descriptorCount, &source);
    }
    pthread_mutex_unlock(&device->lock);
}
