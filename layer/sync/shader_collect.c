#include "sync/shader_collect.h"

#include <stdlib.h>

#include "sync/grow.h"

/* --- Stages --- */

static const struct {
    VkShaderStageFlagBits stage;
    uint32_t models[2]; /* SpvExecutionModel */
    VkPipelineStageFlags2 pipeline_stage;
} stages[] = {
    {VK_SHADER_STAGE_VERTEX_BIT, {0, 0}, VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT},
    {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, {1, 1}, VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT},
    {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
     {2, 2},
     VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT},
    {VK_SHADER_STAGE_GEOMETRY_BIT, {3, 3}, VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT},
    {VK_SHADER_STAGE_FRAGMENT_BIT, {4, 4}, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT},
    {VK_SHADER_STAGE_COMPUTE_BIT, {5, 5}, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT},
    /* Of NVIDIA's extension and of EXT_mesh_shader. */
    {VK_SHADER_STAGE_TASK_BIT_NV, {5267, 5364}, VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_NV},
    {VK_SHADER_STAGE_MESH_BIT_NV, {5268, 5365}, VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_NV},
    {VK_SHADER_STAGE_RAYGEN_BIT_KHR, {5313, 5313}, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {VK_SHADER_STAGE_INTERSECTION_BIT_KHR, {5314, 5314}, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {VK_SHADER_STAGE_ANY_HIT_BIT_KHR, {5315, 5315}, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, {5316, 5316}, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {VK_SHADER_STAGE_MISS_BIT_KHR, {5317, 5317}, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
    {VK_SHADER_STAGE_CALLABLE_BIT_KHR, {5318, 5318}, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
};

static const struct spirv_entry *find_entry(const struct spirv_module *module, const char *name,
                                            VkShaderStageFlagBits stage, VkPipelineStageFlags2 *out)
{
    for (size_t i = 0; module && i < sizeof(stages) / sizeof(stages[0]); i++) {
        if (stages[i].stage != stage)
            continue;
        *out = stages[i].pipeline_stage;
        const struct spirv_entry *entry = spirv_find(module, name, stages[i].models[0]);
        return entry ? entry : spirv_find(module, name, stages[i].models[1]);
    }
    return NULL;
}

/* --- Bindings --- */

static VkAccessFlags2 access_of(VkDescriptorType type, uint8_t access)
{
    bool mutable = type == VK_DESCRIPTOR_TYPE_MUTABLE_VALVE;
    VkAccessFlags2 flags = 0;
    if (type != VK_DESCRIPTOR_TYPE_STORAGE_IMAGE && (!mutable || (access & SPIRV_SAMPLES)))
        flags |= VK_ACCESS_2_SHADER_SAMPLED_READ_BIT;
    if (type != VK_DESCRIPTOR_TYPE_STORAGE_IMAGE && !mutable)
        return flags;
    if (access & SPIRV_READS)
        flags |= VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    if (access & SPIRV_WRITES)
        flags |= VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    return flags ? flags : VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
}

static void add(struct shader_collection *collection, const struct collected_use *use)
{
    if (grow(&collection->uses, &collection->capacity, collection->count + 1, sizeof(*use)))
        collection->uses[collection->count++] = *use;
    else
        collection->unknown = true;
}

static void add_binding(struct shader_collection *collection, const struct spirv_binding *used,
                        VkPipelineStageFlags2 stage, const struct descriptor_layout *layout)
{
    const struct descriptor_binding *binding = descriptor_layout_binding(layout, used->binding);
    if (!binding || binding->slot == DESCRIPTOR_NO_SLOT)
        return;
    bool any = used->element == SPIRV_ANY_ELEMENT;
    if ((any && binding->count != 1) || binding->partial || layout->descriptor_count > DESCRIPTOR_LARGE_SET) {
        collection->weak = true;
        return;
    }
    uint32_t element = any ? 0 : used->element;
    if (element >= binding->count)
        return;
    struct collected_use use = {
        .set = used->set,
        .slot = binding->slot + element,
        .late = binding->late,
        .scope = {stage, access_of(binding->type, used->access)},
    };
    collection->signatures[used->set] = layout->signature;
    collection->weak |= binding->late;
    add(collection, &use);
}

void shader_collect_entry(struct shader_collection *collection, const struct spirv_module *module,
                          const char *name, VkShaderStageFlagBits stage,
                          struct descriptor_layout *const *sets, uint32_t set_count)
{
    VkPipelineStageFlags2 pipeline_stage;
    const struct spirv_entry *entry = find_entry(module, name, stage, &pipeline_stage);
    if (!entry) {
        collection->unknown = true;
        return;
    }
    for (uint32_t i = 0; i < entry->binding_count; i++) {
        const struct spirv_binding *used = &entry->bindings[i];
        if (used->set < set_count && used->set < DESCRIPTOR_SETS && sets[used->set])
            add_binding(collection, used, pipeline_stage, sets[used->set]);
        else
            collection->unknown = true;
    }
}

void shader_collect_uses(struct shader_collection *collection, const struct shader_uses *uses)
{
    if (!uses) {
        collection->unknown = true;
        return;
    }
    collection->unknown |= uses->unknown;
    collection->weak |= uses->weak;
    for (uint32_t i = 0; i < uses->set_count; i++) {
        const struct shader_set *set = &uses->sets[i];
        collection->signatures[set->number] = set->signature;
        for (uint32_t j = set->first; j < set->first + set->count; j++) {
            struct collected_use use = {set->number, uses->uses[j].slot, uses->uses[j].late,
                                        uses->uses[j].scope};
            add(collection, &use);
        }
    }
}

/* --- The list --- */

static int compare(const void *a, const void *b)
{
    const struct collected_use *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Of several stages one use each; returns how many there are then. */
static uint32_t unite(struct shader_collection *collection)
{
    uint32_t count = 0;
    if (collection->count)
        qsort(collection->uses, collection->count, sizeof(collection->uses[0]), compare);
    for (uint32_t i = 0; i < collection->count; i++) {
        struct collected_use *last = count ? &collection->uses[count - 1] : NULL;
        if (last && compare(last, &collection->uses[i]) == 0) {
            last->scope.stages |= collection->uses[i].scope.stages;
            last->scope.access |= collection->uses[i].scope.access;
        } else {
            collection->uses[count++] = collection->uses[i];
        }
    }
    return count;
}

struct shader_uses *shader_collection_finish(struct shader_collection *collection)
{
    uint32_t count = unite(collection);
    size_t sets_size = DESCRIPTOR_SETS * sizeof(struct shader_set);
    struct shader_uses *uses =
        calloc(1, sizeof(*uses) + (count ? sets_size + count * sizeof(struct shader_use) : 0));
    if (uses) {
        object_init(&uses->object);
        uses->unknown = collection->unknown;
        uses->weak = collection->weak;
        uses->sets = (struct shader_set *)(uses + 1);
        uses->uses = (struct shader_use *)(void *)((char *)uses->sets + sets_size);
    }
    for (uint32_t i = 0; uses && i < count; i++) {
        const struct collected_use *from = &collection->uses[i];
        struct shader_set *set = uses->set_count ? &uses->sets[uses->set_count - 1] : NULL;
        if (!set || set->number != from->set) {
            set = &uses->sets[uses->set_count++];
            *set = (struct shader_set){from->set, collection->signatures[from->set], i, 0};
        }
        uses->writes |= scope_writes(from->scope.access) != 0;
        uses->uses[i] = (struct shader_use){from->slot, from->late, from->scope};
        set->count++;
    }
    free(collection->uses);
    *collection = (struct shader_collection){0};
    return uses;
}
