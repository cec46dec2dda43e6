/* Layouts of descriptor sets and pipelines, which are part of a pipeline's state; pools and their sets. */
#include "descriptors.h"

#include <stdlib.h>

struct descriptor_pool {
    struct object base;
    struct object_list sets;
    bool keeps_contents;
    uint32_t capacity;
    uint32_t count;
};

/* --- Shapes --- */

static void shape_release(struct set_shape *shape)
{
    if (shape && atomic_fetch_sub(&shape->references, 1) == 1)
        free(shape);
}

static struct set_shape *shape_retain(struct set_shape *shape)
{
    if (shape)
        atomic_fetch_add(&shape->references, 1);
    return shape;
}

static int compare_bindings(const void *a, const void *b)
{
    const struct set_binding *first = a, *second = b;

    return (first->number > second->number) - (first->number < second->number);
}

static struct set_shape *shape_create(const VkDescriptorSetLayoutCreateInfo *info)
{
    const VkDescriptorSetLayoutBindingFlagsCreateInfo *flags =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
    struct set_shape *shape = calloc(1, sizeof(*shape) + info->bindingCount * sizeof(shape->bindings[0]));

    if (!shape)
        return NULL;
    atomic_init(&shape->references, 1);
    shape->count = info->bindingCount;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];

        shape->bindings[i] = (struct set_binding){
            .number = binding->binding,
            .count = binding->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK
                         ? 0
                         : binding->descriptorCount,
            .flags = flags && flags->bindingCount ? flags->pBindingFlags[i] : 0,
        };
    }
    qsort(shape->bindings, shape->count, sizeof(shape->bindings[0]), compare_bindings);
    for (uint32_t i = 0; i < shape->count; i++) {
        shape->bindings[i].first = shape->slots;
        shape->slots += shape->bindings[i].count;
    }
    return shape;
}

const struct set_binding *shape_binding(const struct set_shape *shape, uint32_t number)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        if (shape->bindings[i].number == number)
            return &shape->bindings[i];
    }
    return NULL;
}

void slot_walk_begin(struct slot_walk *walk, const struct set_shape *shape, uint32_t number, uint32_t element)
{
    *walk = (struct slot_walk){shape, shape_binding(shape, number), element, 0};
}

bool slot_walk_next(struct slot_walk *walk)
{
    const struct set_binding *end = walk->shape->bindings + walk->shape->count;

    if (!walk->binding)
        return false;
    while (walk->binding < end && walk->element >= walk->binding->count) {
        walk->binding++;
        walk->element = 0;
    }
    if (walk->binding == end)
        return false;
    walk->slot = walk->binding->first + walk->element++;
    return true;
}

/* --- Layouts --- */

static void set_layout_finish(struct object *object)
{
    shape_release(((struct set_layout *)object)->shape);
}

static uint64_t hash_set_layout(const VkDescriptorSetLayoutCreateInfo *info)
{
    uint64_t hash = hash_add(HASH_START, &info->flags, sizeof(info->flags));

    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];

        hash = hash_number(hash, binding->binding);
        hash = hash_number(hash, binding->descriptorType);
        hash = hash_number(hash, binding->descriptorCount);
        hash = hash_number(hash, binding->stageFlags);
    }
    return hash;
}

VkResult driver_vkCreateDescriptorSetLayout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                            const VkAllocationCallbacks *allocator,
                                            VkDescriptorSetLayout *out)
{
    struct set_layout *layout =
        object_create(object_list_of(device), VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, sizeof(*layout));

    if (!layout)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    layout->hashed.base.finish = set_layout_finish;
    layout->hashed.hash = hash_set_layout(info);
    if (OBJECT(device, device)->oracle.on) {
        layout->shape = shape_create(info);
        if (!layout->shape) {
            object_destroy(&layout->hashed.base, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
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

static void pipeline_layout_finish(struct object *object)
{
    struct pipeline_layout *layout = (struct pipeline_layout *)object;

    for (uint32_t i = 0; i < layout->count; i++)
        shape_release(layout->shapes[i]);
    free(layout->shapes);
}

static bool take_shapes(struct pipeline_layout *layout, const VkPipelineLayoutCreateInfo *info)
{
    layout->shapes = calloc(info->setLayoutCount ? info->setLayoutCount : 1, sizeof(*layout->shapes));
    if (!layout->shapes)
        return false;
    layout->count = info->setLayoutCount;
    for (uint32_t i = 0; i < layout->count; i++) {
        if (info->pSetLayouts[i])
            layout->shapes[i] = shape_retain(OBJECT(set_layout, info->pSetLayouts[i])->shape);
    }
    return true;
}

VkResult driver_vkCreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkPipelineLayout *out)
{
    struct pipeline_layout *layout =
        object_create(object_list_of(device), VK_OBJECT_TYPE_PIPELINE_LAYOUT, sizeof(*layout));
    uint64_t hash = HASH_START;

    if (!layout)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    layout->hashed.base.finish = pipeline_layout_finish;
    for (uint32_t i = 0; i < info->setLayoutCount; i++)
        hash =
            hash_number(hash, info->pSetLayouts[i] ? OBJECT(hashed_object, info->pSetLayouts[i])->hash : 0);
    layout->hashed.hash = hash_add(hash, info->pPushConstantRanges,
                                   info->pushConstantRangeCount * sizeof(*info->pPushConstantRanges));
    if (OBJECT(device, device)->oracle.on && !take_shapes(layout, info)) {
        object_destroy(&layout->hashed.base, VK_OBJECT_TYPE_PIPELINE_LAYOUT);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = HANDLE(VkPipelineLayout, layout);
    return VK_SUCCESS;
}

/* --- Pools and sets --- */

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
    pool->keeps_contents = OBJECT(device, device)->oracle.on;
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

static void descriptor_set_finish(struct object *object)
{
    struct descriptor_set *set = (struct descriptor_set *)object;

    shape_release(set->shape);
    free(set->descriptors);
}

/* "If [variable counts are not given], the variable descriptor count is zero". */
static uint32_t variable_count(const VkDescriptorSetAllocateInfo *info, uint32_t index)
{
    const VkDescriptorSetVariableDescriptorCountAllocateInfo *counts =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO);

    return counts && counts->descriptorSetCount ? counts->pDescriptorCounts[index] : 0;
}

static bool set_init(struct descriptor_set *set, const VkDescriptorSetAllocateInfo *info, uint32_t index)
{
    struct set_shape *shape = OBJECT(set_layout, info->pSetLayouts[index])->shape;
    const struct set_binding *last = shape->count ? &shape->bindings[shape->count - 1] : NULL;

    set->shape = shape_retain(shape);
    set->slots = shape->slots;
    if (last && last->count && last->flags & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT)
        set->slots = last->first + variable_count(info, index);
    set->descriptors = calloc(set->slots ? set->slots : 1, sizeof(*set->descriptors));
    return set->descriptors != NULL;
}

/* The index-th set of the call; NULL on out of memory. */
static struct descriptor_set *set_create(struct descriptor_pool *pool,
                                         const VkDescriptorSetAllocateInfo *info, uint32_t index)
{
    struct descriptor_set *set = object_create(&pool->sets, VK_OBJECT_TYPE_DESCRIPTOR_SET, sizeof(*set));

    if (!set || !pool->keeps_contents)
        return set;
    set->base.finish = descriptor_set_finish;
    if (set_init(set, info, index))
        return set;
    object_destroy(&set->base, VK_OBJECT_TYPE_DESCRIPTOR_SET);
    return NULL;
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
        struct descriptor_set *set = set_create(pool, info, done);

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
