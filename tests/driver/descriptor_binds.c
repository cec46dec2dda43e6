#include "descriptor_binds.h"

#include <string.h>

/* The names that are core since 1.4. */
#if defined(VK_VERSION_1_4)
#define PUSH(name) name
#define BIND2(name) name
#else
#define PUSH(name) name##KHR
#if defined(VK_KHR_maintenance6)
#define BIND2(name) name##KHR
#endif
#endif

/* The command that was just recorded; NULL if nothing is to be kept. */
static struct recorded_command *last_command(VkCommandBuffer handle)
{
    struct command_buffer *buffer = command_buffer_from_handle(handle);

    return buffer->device->oracle.on && !buffer->failed ? &buffer->commands[buffer->count - 1] : NULL;
}

static void *allocate(VkCommandBuffer handle, size_t size)
{
    struct command_buffer *buffer = command_buffer_from_handle(handle);
    void *memory = arena_allocate(&buffer->arena, size);

    if (!memory)
        buffer->failed = true;
    return memory;
}

/* --- Sets --- */

static bool is_live(const struct set_shape *shape)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        if (shape->bindings[i].count &&
            !(shape->bindings[i].flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT))
            return false;
    }
    return true;
}

static const struct descriptor *contents_now(VkCommandBuffer buffer, const struct descriptor_set *set)
{
    const size_t size = set->slots * sizeof(*set->descriptors);
    struct descriptor *contents = size ? allocate(buffer, size) : NULL;

    if (contents)
        memcpy(contents, set->descriptors, size);
    return contents;
}

static void keep_contents(VkCommandBuffer buffer, uint32_t count, const VkDescriptorSet *sets)
{
    struct recorded_command *command = last_command(buffer);
    bound_contents *contents = command && count ? allocate(buffer, count * sizeof(*contents)) : NULL;
    pthread_mutex_t *lock;

    if (!contents)
        return;
    lock = &command_buffer_from_handle(buffer)->device->lock;
    pthread_mutex_lock(lock);
    for (uint32_t i = 0; i < count; i++) {
        const struct descriptor_set *set = OBJECT(descriptor_set, sets[i]);

        if (set && !is_live(set->shape))
            contents[i] = contents_now(buffer, set);
    }
    pthread_mutex_unlock(lock);
    command->details = contents;
}

void driver_vkCmdBindDescriptorSets(VkCommandBuffer buffer, VkPipelineBindPoint point,
                                    VkPipelineLayout layout, uint32_t first, uint32_t count,
                                    const VkDescriptorSet *sets, uint32_t offset_count,
                                    const uint32_t *offsets)
{
    keep_contents(buffer, count, sets);
}

#if defined(BIND2)
void BIND2(driver_vkCmdBindDescriptorSets2)(VkCommandBuffer buffer,
                                            const BIND2(VkBindDescriptorSetsInfo) * info)
{
    keep_contents(buffer, info->descriptorSetCount, info->pDescriptorSets);
}
#endif

/* --- Pushes --- */

/* Room for so many; NULL if nothing is to be kept. */
static struct push_details *push_begin(VkCommandBuffer buffer, uint32_t count)
{
    struct recorded_command *command = last_command(buffer);
    struct push_details *details =
        command ? allocate(buffer, sizeof(*details) + count * sizeof(details->items[0])) : NULL;

    if (details)
        command->details = details;
    return details;
}

static void push_add(struct push_details *details, const struct set_shape *shape, uint32_t binding,
                     uint32_t element, uint32_t count, const struct descriptor_source *source)
{
    struct slot_walk walk;

    slot_walk_begin(&walk, shape, binding, element);
    for (uint32_t i = 0; i < count && slot_walk_next(&walk); i++)
        details->items[details->count++] = (struct pushed_descriptor){
            .binding = walk.binding->number,
            .element = walk.slot - walk.binding->first,
            .partially_bound = walk.binding->flags & VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT,
            .descriptor = source_descriptor(source, i),
        };
}

static const struct set_shape *shape_of(VkPipelineLayout handle, uint32_t set)
{
    const struct pipeline_layout *layout = OBJECT(pipeline_layout, handle);

    return layout && set < layout->count ? layout->shapes[set] : NULL;
}

static void keep_writes(VkCommandBuffer buffer, VkPipelineLayout layout, uint32_t set, uint32_t count,
                        const VkWriteDescriptorSet *writes)
{
    const struct set_shape *shape = shape_of(layout, set);
    struct push_details *details;
    uint32_t descriptors = 0;

    for (uint32_t i = 0; shape && i < count; i++)
        descriptors += writes[i].descriptorCount;
    details = shape ? push_begin(buffer, descriptors) : NULL;
    for (uint32_t i = 0; details && i < count; i++) {
        const struct descriptor_source source = write_source(&writes[i]);

        push_add(details, shape, writes[i].dstBinding, writes[i].dstArrayElement, writes[i].descriptorCount,
                 &source);
    }
}

static void keep_template(VkCommandBuffer buffer, VkDescriptorUpdateTemplate handle, VkPipelineLayout layout,
                          uint32_t set, const void *data)
{
    const struct update_template *template = OBJECT(update_template, handle);
    const struct set_shape *shape = shape_of(layout, set);
    struct push_details *details;
    uint32_t descriptors = 0;

    for (uint32_t i = 0; i < template->count; i++)
        descriptors += template->entries[i].descriptorCount;
    details = shape ? push_begin(buffer, descriptors) : NULL;
    if (details)
        details->point = template->point;
    for (uint32_t i = 0; details && i < template->count; i++) {
        const VkDescriptorUpdateTemplateEntry *entry = &template->entries[i];
        const struct descriptor_source source = template_source(entry, data);

        push_add(details, shape, entry->dstBinding, entry->dstArrayElement, entry->descriptorCount, &source);
    }
}

void PUSH(driver_vkCmdPushDescriptorSet)(VkCommandBuffer buffer, VkPipelineBindPoint point,
                                         VkPipelineLayout layout, uint32_t set, uint32_t count,
                                         const VkWriteDescriptorSet *writes)
{
    keep_writes(buffer, layout, set, count, writes);
}

void PUSH(driver_vkCmdPushDescriptorSetWithTemplate)(VkCommandBuffer buffer,
                                                     VkDescriptorUpdateTemplate template,
                                                     VkPipelineLayout layout, uint32_t set, const void *data)
{
    keep_template(buffer, template, layout, set, data);
}

#if defined(BIND2)
void BIND2(driver_vkCmdPushDescriptorSet2)(VkCommandBuffer buffer,
                                           const BIND2(VkPushDescriptorSetInfo) * info)
{
    keep_writes(buffer, info->layout, info->set, info->descriptorWriteCount, info->pDescriptorWrites);
}

void BIND2(driver_vkCmdPushDescriptorSetWithTemplate2)(VkCommandBuffer buffer,
                                                       const BIND2(VkPushDescriptorSetWithTemplateInfo) *
                                                           info)
{
    keep_template(buffer, info->descriptorUpdateTemplate, info->layout, info->set, info->pData);
}
#endif
