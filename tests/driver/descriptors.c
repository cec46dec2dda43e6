/* Descriptor pools and sets, and the layouts that are part of a pipeline's state. Contents aren't kept. */
#include <stdlib.h>

#include "driver.h"
#include "state_hash.h"

struct descriptor_pool {
    struct object base;
    struct object_list sets;
    uint32_t capacity;
    uint32_t count;
};

VkResult driver_vkCreateDescriptorSetLayout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                            const VkAllocationCallbacks *allocator,
                                            VkDescriptorSetLayout *out)
{
    struct hashed_object *layout =
        object_create(object_list_of(device), VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, sizeof(*layout));

    if (!layout)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    layout->hash = hash_add(HASH_START, &info->flags, sizeof(info->flags));
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];

        layout->hash = hash_number(layout->hash, binding->binding);
        layout->hash = hash_number(layout->hash, binding->descriptorType);
        layout->hash = hash_number(layout->hash, binding->descriptorCount);
        layout->hash = hash_number(layout->hash, binding->stageFlags);
    }
    *out = HANDLE(VkDescriptorSetLayout, layout);
    return VK_SUCCESS;
}

void driver_vkGetDescriptorSetLayoutSupport(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                            VkDescriptorSetLayoutSupport *out)
{
    chain_clear(out->pNext);
    out->supported = VK_TRUE;
}

VkResult driver_vkCreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkPipelineLayout *out)
{
    struct hashed_object *layout =
        object_create(object_list_of(device), VK_OBJECT_TYPE_PIPELINE_LAYOUT, sizeof(*layout));

    if (!layout)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    layout->hash = HASH_START;
    for (uint32_t i = 0; i < info->setLayoutCount; i++)
        layout->hash = hash_number(
            layout->hash, info->pSetLayouts[i] ? OBJECT(hashed_object, info->pSetLayouts[i])->hash : 0);
    layout->hash = hash_add(layout->hash, info->pPushConstantRanges,
                            info->pushConstantRangeCount * sizeof(*info->pPushConstantRanges));
    *out = HANDLE(VkPipelineLayout, layout);
    return VK_SUCCESS;
}

static void sets_free(struct descriptor_pool *pool)
{
    while (pool->sets.first)
        object_destroy(pool->sets.first, VK_OBJECT_TYPE_DESCRIPTOR_SET);
    pool->count = 0;
}

static void descriptor_pool_finish(struct object *object)
{
    struct descriptor_pool *pool = (struct descriptor_pool *)object;

    sets_free(pool);
    object_list_finish(&pool->sets);
}

VkResult driver_vkCreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkDescriptorPool *out)
{
    struct descriptor_pool *pool =
        object_create(object_list_of(device), VK_OBJECT_TYPE_DESCRIPTOR_POOL, sizeof(*pool));

    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    object_list_init(&pool->sets);
    pool->base.finish = descriptor_pool_finish;
    pool->capacity = info->maxSets;
    *out = HANDLE(VkDescriptorPool, pool);
    return VK_SUCCESS;
}

VkResult driver_vkResetDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                      VkDescriptorPoolResetFlags flags)
{
    sets_free(OBJECT(descriptor_pool, pool));
    return VK_SUCCESS;
}

VkResult driver_vkFreeDescriptorSets(VkDevice device, VkDescriptorPool handle, uint32_t count,
                                     const VkDescriptorSet *sets)
{
    struct descriptor_pool *pool = OBJECT(descriptor_pool, handle);

    for (uint32_t i = 0; i < count; i++) {
        if (!sets[i])
            continue;
        object_destroy(OBJECT(object, sets[i]), VK_OBJECT_TYPE_DESCRIPTOR_SET);
        pool->count--;
    }
    return VK_SUCCESS;
}

VkResult driver_vkAllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                         VkDescriptorSet *out)
{
    struct descriptor_pool *pool = OBJECT(descriptor_pool, info->descriptorPool);
    VkResult result = VK_SUCCESS;
    uint32_t done;

    if (pool->capacity - pool->count < info->descriptorSetCount)
        result = VK_ERROR_OUT_OF_POOL_MEMORY;
    for (done = 0; result == VK_SUCCESS && done < info->descriptorSetCount; done++) {
        struct object *set = object_create(&pool->sets, VK_OBJECT_TYPE_DESCRIPTOR_SET, sizeof(*set));

        if (!set) {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
            break;
        }
        out[done] = HANDLE(VkDescriptorSet, set);
        pool->count++;
    }
    if (result == VK_SUCCESS)
        return result;
    driver_vkFreeDescriptorSets(device, info->descriptorPool, done, out);
    for (uint32_t i = 0; i < info->descriptorSetCount; i++)
        out[i] = VK_NULL_HANDLE;
    return result;
}
