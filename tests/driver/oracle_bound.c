#include "oracle_bound.h"

#include "driver_records.h"
#include "oracle_replay.h"
#include "pipelines.h"

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

/* --- Bind points --- */

/* As bits, since the second forms name several. */
static uint32_t points_of(VkPipelineBindPoint point)
{
    switch (point) {
    case VK_PIPELINE_BIND_POINT_GRAPHICS:
        return 1u << BOUND_GRAPHICS;
    case VK_PIPELINE_BIND_POINT_COMPUTE:
        return 1u << BOUND_COMPUTE;
    case VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR:
        return 1u << BOUND_RAY_TRACING;
    default:
        return 0;
    }
}

#if defined(BIND2) || defined(VK_EXT_shader_object)
static uint32_t points_of_stages(VkShaderStageFlags stages)
{
    const VkShaderStageFlags graphics =
        VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT;
    const VkShaderStageFlags ray_tracing =
        VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_ANY_HIT_BIT_KHR |
        VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR |
        VK_SHADER_STAGE_INTERSECTION_BIT_KHR | VK_SHADER_STAGE_CALLABLE_BIT_KHR;

    return (stages & graphics ? 1u << BOUND_GRAPHICS : 0) |
           (stages & VK_SHADER_STAGE_COMPUTE_BIT ? 1u << BOUND_COMPUTE : 0) |
           (stages & ray_tracing ? 1u << BOUND_RAY_TRACING : 0);
}
#endif

/* --- Shaders --- */

static void bind_pipeline(struct bound *bound, uint32_t points, const struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < BOUND_POINT_COUNT; i++) {
        struct bound_point *point = &bound->points[i];

        if (!(points >> i & 1))
            continue;
        point->pipeline = pipeline ? &pipeline->uses : NULL;
        for (uint32_t j = 0; j < BOUND_MAX_SHADERS; j++)
            point->shaders[j] = NULL;
    }
}

#if defined(VK_EXT_shader_object)
static void bind_shader(struct bound *bound, VkShaderStageFlagBits stage, const struct shader *shader)
{
    const uint32_t points = points_of_stages(stage);

    for (uint32_t i = 0; i < BOUND_POINT_COUNT; i++) {
        if (!(points >> i & 1))
            continue;
        bound->points[i].pipeline = NULL;
        bound->points[i].shaders[__builtin_ctz(stage)] = shader ? &shader->uses : NULL;
    }
}

static void bind_shaders(struct bound *bound, const struct arguments_vkCmdBindShadersEXT *a)
{
    for (uint32_t i = 0; i < a->stageCount; i++)
        bind_shader(bound, a->pStages[i], a->pShaders ? OBJECT(shader, a->pShaders[i]) : NULL);
}
#endif

/* --- Sets --- */

static void put_set(struct bound_point *point, uint32_t number, struct bound_set set)
{
    if (number >= BOUND_MAX_SETS)
        return;
    point->sets[number] = set;
    if (point->pushes.set == number)
        point->pushes.count = 0;
}

static void bind_sets(struct bound *bound, uint32_t points, uint32_t first, uint32_t count,
                      const VkDescriptorSet *sets, const bound_contents *contents)
{
    for (uint32_t i = 0; i < BOUND_POINT_COUNT; i++) {
        for (uint32_t j = 0; points >> i & 1 && j < count; j++)
            put_set(&bound->points[i], first + j,
                    (struct bound_set){OBJECT(descriptor_set, sets[j]), contents ? contents[j] : NULL});
    }
}

/* By descriptor buffers. */
static void forget_sets(struct bound *bound, uint32_t points, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < BOUND_POINT_COUNT; i++) {
        for (uint32_t j = 0; points >> i & 1 && j < count; j++)
            put_set(&bound->points[i], first + j, (struct bound_set){0});
    }
}

/* --- Pushes --- */

/* Where it is, or would be: behind the last. */
static uint32_t find_pushed(const struct bound_pushes *pushes, uint32_t binding, uint32_t element)
{
    uint32_t i = 0;

    while (i < pushes->count && (pushes->items[i].binding != binding || pushes->items[i].element != element))
        i++;
    return i;
}

static void push_one(struct bound_pushes *pushes, const struct pushed_descriptor *pushed)
{
    const uint32_t at = find_pushed(pushes, pushed->binding, pushed->element);

    if (at >= BOUND_MAX_PUSHED)
        return;
    pushes->items[at] = *pushed;
    if (at == pushes->count)
        pushes->count++;
}

/* Without details nothing is known of what was pushed. */
static void push(struct bound *bound, uint32_t points, uint32_t number, const struct push_details *details)
{
    for (uint32_t i = 0; i < BOUND_POINT_COUNT; i++) {
        struct bound_point *point = &bound->points[i];

        if (!(points >> i & 1))
            continue;
        if (!details || point->pushes.set != number || number >= BOUND_MAX_SETS || point->sets[number].set)
            point->pushes.count = 0;
        point->pushes.set = number;
        if (number < BOUND_MAX_SETS)
            point->sets[number] = (struct bound_set){0};
        for (uint32_t j = 0; details && j < details->count; j++)
            push_one(&point->pushes, &details->items[j]);
    }
}

/* --- Commands --- */

static bool replay_push(struct bound *bound, const struct recorded_command *command)
{
    switch ((int)command->command) {
    case PUSH(COMMAND_vkCmdPushDescriptorSet): {
        const struct PUSH(arguments_vkCmdPushDescriptorSet) *a = command->arguments;

        push(bound, points_of(a->pipelineBindPoint), a->set, command->details);
        return true;
    }
    case PUSH(COMMAND_vkCmdPushDescriptorSetWithTemplate): {
        const struct PUSH(arguments_vkCmdPushDescriptorSetWithTemplate) *a = command->arguments;
        const struct push_details *details = command->details;

        push(bound, details ? points_of(details->point) : UINT32_MAX, a->set, details);
        return true;
    }
#if defined(BIND2)
    case BIND2(COMMAND_vkCmdPushDescriptorSet2): {
        const struct BIND2(arguments_vkCmdPushDescriptorSet2) *a = command->arguments;

        push(bound, points_of_stages(a->pPushDescriptorSetInfo->stageFlags), a->pPushDescriptorSetInfo->set,
             command->details);
        return true;
    }
    case BIND2(COMMAND_vkCmdPushDescriptorSetWithTemplate2): {
        const struct BIND2(arguments_vkCmdPushDescriptorSetWithTemplate2) *a = command->arguments;
        const struct push_details *details = command->details;

        push(bound, details ? points_of(details->point) : UINT32_MAX,
             a->pPushDescriptorSetWithTemplateInfo->set, details);
        return true;
    }
#endif
    default:
        return false;
    }
}

static bool replay_sets(struct bound *bound, const struct recorded_command *command)
{
    switch ((int)command->command) {
    case COMMAND_vkCmdBindDescriptorSets: {
        const struct arguments_vkCmdBindDescriptorSets *a = command->arguments;

        bind_sets(bound, points_of(a->pipelineBindPoint), a->firstSet, a->descriptorSetCount,
                  a->pDescriptorSets, command->details);
        return true;
    }
#if defined(BIND2)
    case BIND2(COMMAND_vkCmdBindDescriptorSets2): {
        const struct BIND2(arguments_vkCmdBindDescriptorSets2) *a = command->arguments;

        bind_sets(bound, points_of_stages(a->pBindDescriptorSetsInfo->stageFlags),
                  a->pBindDescriptorSetsInfo->firstSet, a->pBindDescriptorSetsInfo->descriptorSetCount,
                  a->pBindDescriptorSetsInfo->pDescriptorSets, command->details);
        return true;
    }
#endif
    case COMMAND_vkCmdSetDescriptorBufferOffsetsEXT: {
        const struct arguments_vkCmdSetDescriptorBufferOffsetsEXT *a = command->arguments;

        forget_sets(bound, points_of(a->pipelineBindPoint), a->firstSet, a->setCount);
        return true;
    }
#if defined(VK_KHR_maintenance6)
    case COMMAND_vkCmdSetDescriptorBufferOffsets2EXT: {
        const struct arguments_vkCmdSetDescriptorBufferOffsets2EXT *a = command->arguments;

        forget_sets(bound, points_of_stages(a->pSetDescriptorBufferOffsetsInfo->stageFlags),
                    a->pSetDescriptorBufferOffsetsInfo->firstSet,
                    a->pSetDescriptorBufferOffsetsInfo->setCount);
        return true;
    }
#endif
    default:
        return false;
    }
}

static bool replay_shaders(struct bound *bound, const struct recorded_command *command)
{
    switch ((int)command->command) {
    case COMMAND_vkCmdBindPipeline: {
        const struct arguments_vkCmdBindPipeline *a = command->arguments;

        bind_pipeline(bound, points_of(a->pipelineBindPoint), OBJECT(pipeline, a->pipeline));
        return true;
    }
    case COMMAND_vkCmdBindPipelineShaderGroupNV: {
        const struct arguments_vkCmdBindPipelineShaderGroupNV *a = command->arguments;

        bind_pipeline(bound, points_of(a->pipelineBindPoint), NULL);
        return true;
    }
#if defined(VK_EXT_shader_object)
    case COMMAND_vkCmdBindShadersEXT:
        bind_shaders(bound, command->arguments);
        return true;
#endif
    default:
        return false;
    }
}

bool replay_bind(struct replay *replay, const struct recorded_command *command)
{
    return replay_shaders(replay->bound, command) || replay_sets(replay->bound, command) ||
           replay_push(replay->bound, command);
}

/* --- What a use means --- */

static bool find_in_pushes(const struct bound_pushes *pushes, const struct shader_use *use,
                           struct descriptor *out)
{
    const uint32_t at = find_pushed(pushes, use->binding, use->element);

    if (at == pushes->count)
        return false;
    *out = pushes->items[at].descriptor;
    return !pushes->items[at].partially_bound;
}

static bool find_in_set(const struct bound_set *bound, const struct shader_use *use, struct descriptor *out)
{
    const struct set_binding *binding = shape_binding(bound->set->shape, use->binding);
    uint32_t slot;

    if (!binding || use->element >= binding->count ||
        binding->flags & VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT)
        return false;
    slot = binding->first + use->element;
    if (slot >= bound->set->slots)
        return false;
    if (bound->contents && !(binding->flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT))
        *out = bound->contents[slot];
    else
        *out = bound->set->descriptors[slot];
    return true;
}

bool bound_find(const struct bound_point *point, const struct shader_use *use, struct descriptor *out)
{
    if (use->element == SHADER_USE_ANY || use->set >= BOUND_MAX_SETS)
        return false;
    if (point->sets[use->set].set)
        return find_in_set(&point->sets[use->set], use, out);
    return point->pushes.set == use->set && find_in_pushes(&point->pushes, use, out);
}
