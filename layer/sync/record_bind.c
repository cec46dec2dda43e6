/* Binding pipelines, shader objects and descriptor sets; pushing descriptors. */
#include <string.h>

#include "sync/record.h"
#include "sync/record_hold.h"
#include "sync/record_shader.h"

void bindings_reset(struct bindings *bindings)
{
    for (uint32_t i = 0; i < POINT_COUNT; i++) {
        struct bind_point *point = &bindings->points[i];
        memset(point->sets, 0, point->set_count * sizeof(point->sets[0]));
        memset(point->shaders, 0, sizeof(point->shaders));
        point->seen = 0;
        point->pipeline = VK_NULL_HANDLE;
        point->set_count = 0;
    }
    for (const struct pushed_set *pushed = bindings->pushed; pushed; pushed = pushed->next)
        descriptor_layout_release(pushed->layout);
    for (const struct late_use *late = bindings->late; late; late = late->next)
        descriptor_set_release(late->set);
    bindings->pushed = NULL;
    if (bindings->late)
        memset(bindings->recent, 0, sizeof(bindings->recent));
    bindings->late = bindings->late_last = NULL;
    bindings->late_count = 0;
}

/* NULL: what is bound there isn't followed. */
static struct bind_point *point_of(struct command_buffer *buffer, VkPipelineBindPoint point)
{
    switch ((int)point) {
    case VK_PIPELINE_BIND_POINT_GRAPHICS:
        return &buffer->bindings.points[POINT_GRAPHICS];
    case VK_PIPELINE_BIND_POINT_COMPUTE:
        return &buffer->bindings.points[POINT_COMPUTE];
    case VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR:
        return &buffer->bindings.points[POINT_RAY_TRACING];
    default:
        return NULL;
    }
}

void note_CmdBindPipeline(struct command_buffer *self, VkPipelineBindPoint pipelineBindPoint,
                          VkPipeline pipeline)
{
    struct bind_point *point = point_of(self, pipelineBindPoint);
    if (!point || point->pipeline == pipeline)
        return;
    point->pipeline = pipeline;
    point->seen = 0;
}

/* --- Sets --- */

static void bind_sets(struct bind_point *point, uint32_t first, uint32_t count, const VkDescriptorSet *sets)
{
    if (!point || first >= DESCRIPTOR_SETS)
        return;
    if (count > DESCRIPTOR_SETS - first)
        count = DESCRIPTOR_SETS - first;
    if (first + count > point->set_count)
        point->set_count = first + count;
    for (uint32_t i = 0; i < count; i++) {
        struct bound_set *bound = &point->sets[first + i];
        if (bound->set == sets[i] && !bound->pushed)
            continue;
        *bound = (struct bound_set){sets[i], NULL};
        point->seen = 0;
    }
}

void note_CmdBindDescriptorSets(struct command_buffer *self, VkPipelineBindPoint pipelineBindPoint,
                                VkPipelineLayout layout, uint32_t firstSet, uint32_t descriptorSetCount,
                                const VkDescriptorSet *pDescriptorSets, uint32_t dynamicOffsetCount,
                                const uint32_t *pDynamicOffsets)
{
    (void)layout, (void)dynamicOffsetCount, (void)pDynamicOffsets;
    bind_sets(point_of(self, pipelineBindPoint), firstSet, descriptorSetCount, pDescriptorSets);
}

/* --- Pushes --- */

/* The pushed set of a number, made for the layout if there is none. NULL on out of memory, or where the
 * layout isn't known: then nothing of it is seen. */
static struct pushed_set *pushed_set(struct command_buffer *buffer, struct bind_point *point, uint32_t number,
                                     struct descriptor_layout *layout)
{
    if (!point || number >= DESCRIPTOR_SETS)
        return NULL;
    struct bound_set *bound = &point->sets[number];
    point->seen = 0;
    if (number >= point->set_count)
        point->set_count = number + 1;
    bound->set = VK_NULL_HANDLE;
    if (bound->pushed && layout && bound->pushed->layout->signature == layout->signature)
        return bound->pushed;
    bound->pushed = NULL;
    if (!layout)
        return NULL;
    size_t slots = layout->slot_count * sizeof(struct descriptor);
    struct pushed_set *pushed = arena_alloc(&buffer->arena, sizeof(*pushed) + slots);
    if (!pushed)
        return NULL;
    memset(pushed->slots, 0, slots);
    object_acquire(&layout->object);
    pushed->layout = layout;
    pushed->next = buffer->bindings.pushed;
    buffer->bindings.pushed = pushed;
    bound->pushed = pushed;
    return pushed;
}

static struct descriptor_layout *set_layout(struct command_buffer *buffer, VkPipelineLayout handle,
                                            uint32_t number)
{
    const struct pipeline_layout *layout = pipeline_layout_find(buffer->sync, handle);
    return layout && number < layout->set_count ? layout->sets[number] : NULL;
}

void note_CmdPushDescriptorSetKHR(struct command_buffer *self, VkPipelineBindPoint pipelineBindPoint,
                                  VkPipelineLayout layout, uint32_t set, uint32_t descriptorWriteCount,
                                  const VkWriteDescriptorSet *pDescriptorWrites)
{
    struct pushed_set *pushed =
        pushed_set(self, point_of(self, pipelineBindPoint), set, set_layout(self, layout, set));
    for (uint32_t i = 0; pushed && i < descriptorWriteCount; i++) {
        const VkWriteDescriptorSet *write = &pDescriptorWrites[i];
        descriptor_write(self->sync, pushed->layout, pushed->slots, pushed->layout->slot_count,
                         write->dstBinding, write->dstArrayElement, write->descriptorCount,
                         write->descriptorType, write->pImageInfo, sizeof(VkDescriptorImageInfo));
    }
}

/* Of whatever bind point. */
static void forget_set(struct command_buffer *buffer, uint32_t number)
{
    for (uint32_t i = 0; i < POINT_COUNT; i++)
        if (number < buffer->bindings.points[i].set_count) {
            buffer->bindings.points[i].sets[number] = (struct bound_set){0};
            buffer->bindings.points[i].seen = 0;
        }
}

void note_CmdPushDescriptorSetWithTemplateKHR(struct command_buffer *self,
                                              VkDescriptorUpdateTemplate descriptorUpdateTemplate,
                                              VkPipelineLayout layout, uint32_t set, const void *pData)
{
    const struct descriptor_template *update = descriptor_template_find(self->sync, descriptorUpdateTemplate);
    if (!update || !update->push) {
        forget_set(self, set);
        return;
    }
    struct pushed_set *pushed =
        pushed_set(self, point_of(self, update->point), set, set_layout(self, layout, set));
    if (pushed)
        descriptor_template_write(self->sync, update, pushed->layout, pushed->slots,
                                  pushed->layout->slot_count, pData);
}

/* --- Pushes with a template into a body that is held back: expanded, since the template may be gone when the
 * body goes down --- */

/* What one entry writes; false where its data isn't laid out one descriptor behind the other, or isn't of a
 * kind that a write takes from an array. */
static bool expand_entry(struct command_buffer *buffer, const VkDescriptorUpdateTemplateEntry *entry,
                         const void *data, VkWriteDescriptorSet *write)
{
    size_t size = descriptor_type_size(entry->descriptorType);
    if (!size || entry->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK ||
        entry->descriptorType == VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR ||
        entry->descriptorType == VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_NV)
        return false;
    char *array = body_alloc(&buffer->hold.body, entry->descriptorCount * size);
    if (!array)
        return false;
    for (uint32_t i = 0; i < entry->descriptorCount; i++)
        memcpy(array + i * size, (const char *)data + entry->offset + i * entry->stride, size);
    /* The one that the type selects is read. */
    *write = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstBinding = entry->dstBinding,
        .dstArrayElement = entry->dstArrayElement,
        .descriptorCount = entry->descriptorCount,
        .descriptorType = entry->descriptorType,
        .pImageInfo = (const void *)array,
        .pBufferInfo = (const void *)array,
        .pTexelBufferView = (const void *)array,
    };
    return true;
}

bool record_hold_template(struct command_buffer *buffer, VkDescriptorUpdateTemplate handle,
                          VkPipelineLayout layout, uint32_t set, const void *data)
{
    const struct descriptor_template *update = descriptor_template_find(buffer->sync, handle);
    PFN_vkCmdPushDescriptorSetKHR next = buffer->sync->device->next.CmdPushDescriptorSetKHR;
#ifdef VK_VERSION_1_4
    if (!next)
        next = buffer->sync->device->next.CmdPushDescriptorSet;
#endif
    if (!update || !update->push || !update->entry_count || !layout || !next)
        return false;
    struct body *body = &buffer->hold.body;
    VkWriteDescriptorSet *writes = body_alloc(body, update->entry_count * sizeof(*writes));
    for (uint32_t i = 0; writes && i < update->entry_count; i++)
        if (!expand_entry(buffer, &update->entries[i], data, &writes[i]))
            return false;
    return writes && body_put_CmdPushDescriptorSetKHR(body, next, update->point, layout, set,
                                                      update->entry_count, writes);
}

/* --- Vulkan 1.4's forms, which say stages instead of a bind point --- */

#ifdef VK_KHR_maintenance6
#define GRAPHICS_STAGES                                                                                      \
    (VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT)
#define RAY_TRACING_STAGES                                                                                   \
    (VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_ANY_HIT_BIT_KHR |                                      \
     VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR |                                    \
     VK_SHADER_STAGE_INTERSECTION_BIT_KHR | VK_SHADER_STAGE_CALLABLE_BIT_KHR)
static const struct {
    VkShaderStageFlags stages;
    VkPipelineBindPoint point;
} points[] = {
    {GRAPHICS_STAGES, VK_PIPELINE_BIND_POINT_GRAPHICS},
    {VK_SHADER_STAGE_COMPUTE_BIT, VK_PIPELINE_BIND_POINT_COMPUTE},
    {RAY_TRACING_STAGES, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR},
};
#define EACH_POINT(i, flags)                                                                                 \
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)                                          \
        if ((flags)&points[i].stages)

void note_CmdBindDescriptorSets2KHR(struct command_buffer *self,
                                    const VkBindDescriptorSetsInfoKHR *pBindDescriptorSetsInfo)
{
    const VkBindDescriptorSetsInfoKHR *info = pBindDescriptorSetsInfo;
    EACH_POINT(i, info->stageFlags)
    note_CmdBindDescriptorSets(self, points[i].point, info->layout, info->firstSet, info->descriptorSetCount,
                               info->pDescriptorSets, info->dynamicOffsetCount, info->pDynamicOffsets);
}

void note_CmdPushDescriptorSet2KHR(struct command_buffer *self,
                                   const VkPushDescriptorSetInfoKHR *pPushDescriptorSetInfo)
{
    const VkPushDescriptorSetInfoKHR *info = pPushDescriptorSetInfo;
    EACH_POINT(i, info->stageFlags)
    note_CmdPushDescriptorSetKHR(self, points[i].point, info->layout, info->set, info->descriptorWriteCount,
                                 info->pDescriptorWrites);
}

void note_CmdPushDescriptorSetWithTemplate2KHR(
    struct command_buffer *self,
    const VkPushDescriptorSetWithTemplateInfoKHR *pPushDescriptorSetWithTemplateInfo)
{
    const VkPushDescriptorSetWithTemplateInfoKHR *info = pPushDescriptorSetWithTemplateInfo;
    note_CmdPushDescriptorSetWithTemplateKHR(self, info->descriptorUpdateTemplate, info->layout, info->set,
                                             info->pData);
}
#endif

/* --- Shader objects --- */

#ifdef VK_EXT_shader_object
static struct bind_point *shader_slot(struct command_buffer *buffer, VkShaderStageFlagBits stage,
                                      uint32_t *slot)
{
    static const VkShaderStageFlagBits stages[] = {
        VK_SHADER_STAGE_VERTEX_BIT,
        VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
        VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
        VK_SHADER_STAGE_GEOMETRY_BIT,
        VK_SHADER_STAGE_FRAGMENT_BIT,
        VK_SHADER_STAGE_TASK_BIT_EXT,
        VK_SHADER_STAGE_MESH_BIT_EXT,
    };
    *slot = 0;
    if (stage == VK_SHADER_STAGE_COMPUTE_BIT)
        return &buffer->bindings.points[POINT_COMPUTE];
    for (uint32_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        *slot = i;
        if (stages[i] == stage)
            return &buffer->bindings.points[POINT_GRAPHICS];
    }
    return NULL;
}

/* Spec, vkCmdBindShadersEXT: a pipeline that was bound for these stages isn't any more. */
void note_CmdBindShadersEXT(struct command_buffer *self, uint32_t stageCount,
                            const VkShaderStageFlagBits *pStages, const VkShaderEXT *pShaders)
{
    for (uint32_t i = 0; i < stageCount; i++) {
        uint32_t slot;
        struct bind_point *point = shader_slot(self, pStages[i], &slot);
        if (!point)
            continue;
        point->pipeline = VK_NULL_HANDLE;
        point->shaders[slot] = pShaders ? HANDLE_KEY(pShaders[i]) : 0;
        point->seen = 0;
    }
}
#endif
