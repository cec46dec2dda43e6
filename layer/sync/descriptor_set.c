/* Descriptor pools and sets. */
#include <stdlib.h>

#include "chain.h"
#include "hooks.h"
#include "sync/descriptor.h"

struct descriptor_pool {
    struct device_sync *sync;
    struct descriptor_set *first; /* list through pool_next/pool_previous; the pool is externally
                                     synchronized */
};

static struct descriptor_pool *pool_find(struct device_sync *sync, VkDescriptorPool handle)
{
    return handle_map_find(&sync->descriptor_pools, HANDLE_KEY(handle));
}

void descriptor_set_release(struct descriptor_set *set)
{
    if (!set || !object_release(&set->object))
        return;
    descriptor_layout_release(set->layout);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

/* --- Pools --- */

static void drop_sets(struct descriptor_pool *pool)
{
    while (pool->first) {
        struct descriptor_set *set = pool->first;
        pool->first = set->pool_next;
        handle_map_remove(&pool->sync->sets, HANDLE_KEY(set->handle));
        descriptor_set_release(set);
    }
}

VkResult hook_CreateDescriptorPool(struct device *self, PFN_vkCreateDescriptorPool next, VkDevice device,
                                   const VkDescriptorPoolCreateInfo *pCreateInfo,
                                   const VkAllocationCallbacks *pAllocator, VkDescriptorPool *pDescriptorPool)
{
    VkResult result = next(device, pCreateInfo, pAllocator, pDescriptorPool);
    if (result != VK_SUCCESS)
        return result;
    struct descriptor_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return result;
    pool->sync = self->sync;
    if (!handle_map_insert(&self->sync->descriptor_pools, HANDLE_KEY(*pDescriptorPool), pool))
        free(pool);
    return result;
}

void hook_DestroyDescriptorPool(struct device *self, PFN_vkDestroyDescriptorPool next, VkDevice device,
                                VkDescriptorPool descriptorPool, const VkAllocationCallbacks *pAllocator)
{
    struct descriptor_pool *pool =
        descriptorPool ? handle_map_remove(&self->sync->descriptor_pools, HANDLE_KEY(descriptorPool)) : NULL;
    if (pool)
        drop_sets(pool);
    free(pool);
    next(device, descriptorPool, pAllocator);
}

VkResult hook_ResetDescriptorPool(struct device *self, PFN_vkResetDescriptorPool next, VkDevice device,
                                  VkDescriptorPool descriptorPool, VkDescriptorPoolResetFlags flags)
{
    struct descriptor_pool *pool = pool_find(self->sync, descriptorPool);
    if (pool)
        drop_sets(pool);
    return next(device, descriptorPool, flags);
}

/* --- Sets --- */

static uint32_t variable_count(const VkDescriptorSetAllocateInfo *info, uint32_t index)
{
    const VkDescriptorSetVariableDescriptorCountAllocateInfo *counts =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO);
    return counts && index < counts->descriptorSetCount ? counts->pDescriptorCounts[index] : UINT32_MAX;
}

/* The last binding of a set with a variable count may be a small part of what its layout allows. Without such
 * a count in the layout it isn't smaller, so that nothing need be asked of the binding. */
static uint32_t slots_of(const struct descriptor_layout *layout, uint32_t variable)
{
    /* No use refers to them. */
    if (layout->descriptor_count > DESCRIPTOR_LARGE_SET)
        return 0;
    const struct descriptor_binding *last =
        layout->binding_count ? &layout->bindings[layout->binding_count - 1] : NULL;
    return last && last->slot != DESCRIPTOR_NO_SLOT && variable < last->count ? last->slot + variable
                                                                              : layout->slot_count;
}

static void add_set(struct descriptor_pool *pool, struct descriptor_layout *layout, VkDescriptorSet handle,
                    uint32_t slots)
{
    struct descriptor_set *set = calloc(1, sizeof(*set) + slots * sizeof(set->slots[0]));
    if (!set)
        return;
    if (pthread_mutex_init(&set->lock, NULL)) {
        free(set);
        return;
    }
    object_init(&set->object);
    object_acquire(&layout->object);
    set->layout = layout;
    set->pool = pool;
    set->handle = handle;
    set->slot_count = slots;
    if (!handle_map_insert(&pool->sync->sets, HANDLE_KEY(handle), set)) {
        descriptor_set_release(set);
        return;
    }
    set->pool_next = pool->first;
    if (pool->first)
        pool->first->pool_previous = set;
    pool->first = set;
}

VkResult hook_AllocateDescriptorSets(struct device *self, PFN_vkAllocateDescriptorSets next, VkDevice device,
                                     const VkDescriptorSetAllocateInfo *pAllocateInfo,
                                     VkDescriptorSet *pDescriptorSets)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pAllocateInfo, pDescriptorSets);
    struct descriptor_pool *pool = pool_find(sync, pAllocateInfo->descriptorPool);
    if (result != VK_SUCCESS || !pool)
        return result;
    for (uint32_t i = 0; i < pAllocateInfo->descriptorSetCount; i++) {
        struct descriptor_layout *layout = descriptor_layout_find(sync, pAllocateInfo->pSetLayouts[i]);
        if (layout)
            add_set(pool, layout, pDescriptorSets[i], slots_of(layout, variable_count(pAllocateInfo, i)));
    }
    return result;
}

static void unlink_from_pool(struct descriptor_set *set)
{
    if (set->pool_previous)
        set->pool_previous->pool_next = set->pool_next;
    else
        set->pool->first = set->pool_next;
    if (set->pool_next)
        set->pool_next->pool_previous = set->pool_previous;
}

VkResult hook_FreeDescriptorSets(struct device *self, PFN_vkFreeDescriptorSets next, VkDevice device,
                                 VkDescriptorPool descriptorPool, uint32_t descriptorSetCount,
                                 const VkDescriptorSet *pDescriptorSets)
{
    for (uint32_t i = 0; i < descriptorSetCount; i++) {
        struct descriptor_set *set =
            pDescriptorSets[i] ? handle_map_remove(&self->sync->sets, HANDLE_KEY(pDescriptorSets[i])) : NULL;
        if (!set)
            continue;
        unlink_from_pool(set);
        descriptor_set_release(set);
    }
    return next(device, descriptorPool, descriptorSetCount, pDescriptorSets);
}

static void drop_pool(void *context, void *value)
{
    struct descriptor_pool *pool = value;
    (void)context;
    drop_sets(pool);
    free(pool);
}

static void drop_set_layout(void *context, void *value)
{
    (void)context;
    descriptor_layout_release(value);
}

static void drop_pipeline_layout(void *context, void *value)
{
    (void)context;
    pipeline_layout_release(value);
}

static void drop_template(void *context, void *value)
{
    (void)context;
    descriptor_template_release(value);
}

void descriptors_destroy(struct device_sync *sync)
{
    handle_map_visit(&sync->descriptor_pools, drop_pool, NULL);
    handle_map_visit(&sync->templates, drop_template, NULL);
    handle_map_visit(&sync->pipeline_layouts, drop_pipeline_layout, NULL);
    handle_map_visit(&sync->set_layouts, drop_set_layout, NULL);
}
