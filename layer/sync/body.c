#include "sync/body.h"

#include <string.h>

#include "compat.h"

void *body_add(struct body *body, size_t size,
               void (*replay)(VkCommandBuffer handle, const struct body_command *command))
{
    struct body_command *command = body_alloc(body, size);
    if (command)
        body_link(body, command, replay);
    return command;
}

const void *body_copy(struct body *body, const void *from, size_t size, bool *failed)
{
    if (!from || !size)
        return NULL;
    void *to = body_alloc(body, size);
    if (to)
        memcpy(to, from, size);
    else
        *failed = true;
    return to;
}

bool body_select_array(VkWriteDescriptorSet *write)
{
    const VkDescriptorImageInfo *images = NULL;
    const VkDescriptorBufferInfo *buffers = NULL;
    const VkBufferView *texels = NULL;
    bool known = true;

    switch ((int)write->descriptorType) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
    case VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM:
    case VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM:
        images = write->pImageInfo;
        known = images;
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        buffers = write->pBufferInfo;
        known = buffers;
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        texels = write->pTexelBufferView;
        known = texels;
        break;
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
    case VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR:
    case VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_NV:
    case COMPAT_DESCRIPTOR_TYPE_PARTITIONED_ACCELERATION_STRUCTURE_NV:
        break; /* in the chain */
    default:
        known = false;
    }
    write->pImageInfo = images;
    write->pBufferInfo = buffers;
    write->pTexelBufferView = texels;
    return known;
}

void body_replay(struct body *body, VkCommandBuffer handle)
{
    for (const struct body_command *command = body->first; command; command = command->next)
        command->replay(handle, command);
    body_clear(body);
}

void body_clear(struct body *body)
{
    arena_reset(&body->arena);
    body->first = body->last = NULL;
    body->count = 0;
}

void body_finish(struct body *body)
{
    arena_finish(&body->arena);
    *body = (struct body){0};
}
