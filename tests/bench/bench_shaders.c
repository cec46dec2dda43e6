/* What it costs that shaders' descriptors are followed: drawing, binding, updating, submitting. As
 * bench_barriers; bench_shaders.py runs it with and without a layer. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_scene.h"

static const char usage[] =
    "usage: bench_shaders KIND [--rounds N] [--images N] [--size N]\n"
    "Recorded, per step:\n"
    "  draw              a draw with nothing changed since the last\n"
    "  bind_same         the same set bound, draw\n"
    "  bind_two          two sets in turn, draw\n"
    "  bind_many         64 sets in turn, draw\n"
    "  pipelines         two pipelines in turn, draw\n"
    "  constants         push constants, draw\n"
    "  viewport          set the viewport, draw\n"
    "  push              push a descriptor, draw\n"
    "  dispatch          nothing changed since the last\n"
    "  dispatch_two      two sets in turn, dispatch\n"
    "  dispatch_store    each writes the same image, behind a barrier\n"
    "  pass              an empty render pass instance\n"
    "  pass_changed      the same after --images images were cleared, which stay so\n"
    "  plain_COMMAND     one command in an instance that samples what the instance before has drawn; COMMAND "
    "is\n"
    "                    draw, bind, constants, viewport, push (with a draw)\n"
    "  held_COMMAND      the same without the barrier between: held back by the layer\n"
    "  held_many         --images images left as transfers need them, all sampled in one instance; bind and "
    "draw\n"
    "Else:\n"
    "  update            vkUpdateDescriptorSets of one image\n"
    "  update_array      ... of 16 at once\n"
    "  sets              a set allocated and freed\n"
    "  sets_reset        a set allocated, its share of a pool's reset\n"
    "  late_update       an image written into an UPDATE_AFTER_BIND set of --size descriptors\n"
    "  late_sets         such a set allocated, and its pool reset\n"
    "  submit            a command buffer that samples --images images; per submit\n"
    "  late_submit       ... that reads 16 descriptors of such a set of --size; per submit\n"
    "  module            a small shader module created and destroyed\n"
    "  module_large      a large one; per KB\n"
    "  pipeline          a graphics pipeline created and destroyed\n"
    "  pipeline_compute  a compute pipeline\n";

#define STEPS 1000
#define MANY 64 /* a power of two */
#define MAX_ROUNDS 1000

struct bench {
    uint32_t rounds, images, size;
    struct scene scene;
};

static const VkPipelineBindPoint graphics = VK_PIPELINE_BIND_POINT_GRAPHICS;
static const VkPipelineBindPoint compute = VK_PIPELINE_BIND_POINT_COMPUTE;

/* --- Draws with something before each --- */

static void begin_drawing(const struct scene *scene, VkCommandBuffer commands, VkDescriptorSet set)
{
    scene_begin_pass(scene, commands, &scene->target);
    vkCmdBindPipeline(commands, graphics, scene->draw[0]);
    scene_set_viewport(commands);
    scene_push_constants(scene, commands);
    scene_bind(commands, graphics, scene->sampled, set);
}

static void draw(VkCommandBuffer commands)
{
    vkCmdDraw(commands, 4, 1, 0, 0);
}

static uint32_t record_draw(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    begin_drawing(scene, commands, scene->sets[0]);
    for (uint32_t i = 0; i < STEPS; i++)
        draw(commands);
    vkCmdEndRenderPass(commands);
    return STEPS;
}

static uint32_t record_binds(const struct scene *scene, VkCommandBuffer commands, uint32_t sets)
{
    begin_drawing(scene, commands, scene->sets[0]);
    for (uint32_t i = 0; i < STEPS; i++) {
        scene_bind(commands, graphics, scene->sampled, scene->sets[i & (sets - 1)]);
        draw(commands);
    }
    vkCmdEndRenderPass(commands);
    return STEPS;
}

static uint32_t record_bind_same(void *context, VkCommandBuffer commands)
{
    return record_binds(&((struct bench *)context)->scene, commands, 1);
}

static uint32_t record_bind_two(void *context, VkCommandBuffer commands)
{
    return record_binds(&((struct bench *)context)->scene, commands, 2);
}

static uint32_t record_bind_many(void *context, VkCommandBuffer commands)
{
    return record_binds(&((struct bench *)context)->scene, commands, MANY);
}

static uint32_t record_pipelines(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    begin_drawing(scene, commands, scene->sets[0]);
    for (uint32_t i = 0; i < STEPS; i++) {
        vkCmdBindPipeline(commands, graphics, scene->draw[i & 1]);
        draw(commands);
    }
    vkCmdEndRenderPass(commands);
    return STEPS;
}

static uint32_t record_constants(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    begin_drawing(scene, commands, scene->sets[0]);
    for (uint32_t i = 0; i < STEPS; i++) {
        scene_push_constants(scene, commands);
        draw(commands);
    }
    vkCmdEndRenderPass(commands);
    return STEPS;
}

static uint32_t record_viewport(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    begin_drawing(scene, commands, scene->sets[0]);
    for (uint32_t i = 0; i < STEPS; i++) {
        scene_set_viewport(commands);
        draw(commands);
    }
    vkCmdEndRenderPass(commands);
    return STEPS;
}

static void push(const struct scene *scene, VkCommandBuffer commands, const struct scene_image *image)
{
    VkDescriptorImageInfo info = scene_sampled(scene, image);
    VkWriteDescriptorSet write = scene_write(VK_NULL_HANDLE, &info);
    scene->push(commands, graphics, scene->pushed.pipeline, 0, 1, &write);
}

static uint32_t record_push(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    begin_drawing(scene, commands, scene->sets[0]);
    vkCmdBindPipeline(commands, graphics, scene->draw_pushed);
    for (uint32_t i = 0; i < STEPS; i++) {
        push(scene, commands, &scene->images[i & 1]);
        draw(commands);
    }
    vkCmdEndRenderPass(commands);
    return STEPS;
}

/* --- Dispatches --- */

static uint32_t record_dispatches(const struct scene *scene, VkCommandBuffer commands, uint32_t sets)
{
    vkCmdBindPipeline(commands, compute, scene->dispatch);
    scene_bind(commands, compute, scene->sampled, scene->sets[0]);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (sets > 1)
            scene_bind(commands, compute, scene->sampled, scene->sets[i % sets]);
        vkCmdDispatch(commands, 1, 1, 1);
    }
    return STEPS;
}

static uint32_t record_dispatch(void *context, VkCommandBuffer commands)
{
    return record_dispatches(&((struct bench *)context)->scene, commands, 1);
}

static uint32_t record_dispatch_two(void *context, VkCommandBuffer commands)
{
    return record_dispatches(&((struct bench *)context)->scene, commands, 2);
}

static uint32_t record_dispatch_store(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
    };
    vkCmdBindPipeline(commands, compute, scene->dispatch_store);
    scene_bind(commands, compute, scene->storage, scene->stored_set);
    for (uint32_t i = 0; i < STEPS; i++) {
        vkCmdDispatch(commands, 1, 1, 1);
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    }
    return STEPS;
}

/* --- Empty instances --- */

static uint32_t record_pass(void *context, VkCommandBuffer commands)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    for (uint32_t i = 0; i < STEPS; i++) {
        scene_begin_pass(scene, commands, &scene->target);
        vkCmdEndRenderPass(commands);
    }
    return STEPS;
}

/* Between the sampling of images and transfers to them, by all commands. */
static void transition_images(const struct bench *bench, VkCommandBuffer commands, VkImageLayout from,
                              VkImageLayout to)
{
    for (uint32_t i = 0; i < bench->images; i++) {
        VkImageMemoryBarrier barrier = bench_gpu_barrier(bench->scene.images[i].image, from, to);
        barrier.srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.dstAccessMask = barrier.srcAccessMask;
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             0, 0, NULL, 0, NULL, 1, &barrier);
    }
}

static void clear_images(const struct bench *bench, VkCommandBuffer commands)
{
    static const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    static const VkClearColorValue color = {.float32 = {0, 0, 0, 0}};
    transition_images(bench, commands, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    for (uint32_t i = 0; i < bench->images; i++)
        vkCmdClearColorImage(commands, bench->scene.images[i].image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                             &color, 1, &range);
}

static uint32_t record_pass_changed(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    clear_images(bench, commands);
    record_pass(context, commands);
    transition_images(bench, commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                      VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    return STEPS;
}

/* --- Instances that are held back --- */

static void source_transition(const struct scene *scene, VkCommandBuffer commands, bool back)
{
    VkImageMemoryBarrier barrier = bench_gpu_barrier(
        scene->source.image.image,
        back ? VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL : VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        back ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    VkPipelineStageFlags output = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    VkPipelineStageFlags shader = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT;
    VkAccessFlags write = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.srcAccessMask = back ? 0 : write;
    barrier.dstAccessMask = back ? write : VK_ACCESS_SHADER_READ_BIT;
    vkCmdPipelineBarrier(commands, back ? shader : output, back ? output : shader, 0, 0, NULL, 0, NULL, 1,
                         &barrier);
}

enum command { COMMAND_DRAW, COMMAND_BIND, COMMAND_CONSTANTS, COMMAND_VIEWPORT, COMMAND_PUSH };

static void record_command(const struct scene *scene, VkCommandBuffer commands, enum command command)
{
    switch (command) {
    case COMMAND_DRAW:
        draw(commands);
        break;
    case COMMAND_BIND:
        scene_bind(commands, graphics, scene->sampled, scene->source_set);
        break;
    case COMMAND_CONSTANTS:
        scene_push_constants(scene, commands);
        break;
    case COMMAND_VIEWPORT:
        scene_set_viewport(commands);
        break;
    case COMMAND_PUSH:
        push(scene, commands, &scene->source.image);
        draw(commands);
        break;
    }
}

static uint32_t record_after_drawing(const struct scene *scene, VkCommandBuffer commands,
                                     enum command command, bool barrier)
{
    scene_begin_pass(scene, commands, &scene->source);
    vkCmdEndRenderPass(commands);
    if (barrier)
        source_transition(scene, commands, false);
    begin_drawing(scene, commands, scene->source_set);
    draw(commands);
    if (command == COMMAND_PUSH)
        vkCmdBindPipeline(commands, graphics, scene->draw_pushed);
    for (uint32_t i = 0; i < STEPS; i++)
        record_command(scene, commands, command);
    vkCmdEndRenderPass(commands);
    source_transition(scene, commands, true);
    return STEPS;
}

#define AFTER_DRAWING(name, command)                                                                         \
    static uint32_t record_plain_##name(void *context, VkCommandBuffer commands)                             \
    {                                                                                                        \
        return record_after_drawing(&((struct bench *)context)->scene, commands, command, true);             \
    }                                                                                                        \
    static uint32_t record_held_##name(void *context, VkCommandBuffer commands)                              \
    {                                                                                                        \
        return record_after_drawing(&((struct bench *)context)->scene, commands, command, false);            \
    }
AFTER_DRAWING(draw, COMMAND_DRAW)
AFTER_DRAWING(bind, COMMAND_BIND)
AFTER_DRAWING(constants, COMMAND_CONSTANTS)
AFTER_DRAWING(viewport, COMMAND_VIEWPORT)
AFTER_DRAWING(push, COMMAND_PUSH)

static uint32_t record_held_many(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    const struct scene *scene = &bench->scene;
    clear_images(bench, commands);
    begin_drawing(scene, commands, scene->sets[0]);
    for (uint32_t i = 0; i < bench->images; i++) {
        scene_bind(commands, graphics, scene->sampled, scene->sets[i]);
        draw(commands);
    }
    vkCmdEndRenderPass(commands);
    return bench->images;
}

/* --- Updates --- */

static uint32_t work_update(void *context)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    VkDescriptorImageInfo info[2] = {scene_sampled(scene, &scene->images[0]),
                                     scene_sampled(scene, &scene->images[1])};
    for (uint32_t i = 0; i < STEPS; i++) {
        VkWriteDescriptorSet write = scene_write(scene->sets[i & (MANY - 1)], &info[i & 1]);
        vkUpdateDescriptorSets(scene->gpu.device, 1, &write, 0, NULL);
    }
    return STEPS;
}

static uint32_t work_update_array(void *context)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    VkDescriptorImageInfo infos[SCENE_ARRAY + 1];
    for (uint32_t i = 0; i <= SCENE_ARRAY; i++)
        infos[i] = scene_sampled(scene, &scene->images[i]);
    for (uint32_t i = 0; i < STEPS; i++) {
        VkWriteDescriptorSet write = scene_write(scene->array_set, &infos[i & 1]);
        write.descriptorCount = SCENE_ARRAY;
        vkUpdateDescriptorSets(scene->gpu.device, 1, &write, 0, NULL);
    }
    return STEPS;
}

/* --- Allocations --- */

struct allocating {
    const struct scene *scene;
    VkDescriptorPool pool;
    VkDescriptorSetLayout layout;
    uint32_t count;
};

static VkDescriptorPool create_pool(const struct scene *scene, VkDescriptorPoolCreateFlags flags,
                                    uint32_t sets, uint32_t descriptors)
{
    VkDescriptorPool pool;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, descriptors};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .flags = flags,
        .maxSets = sets,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    bench_check(vkCreateDescriptorPool(scene->gpu.device, &info, NULL, &pool), "vkCreateDescriptorPool");
    return pool;
}

static uint32_t work_sets(void *context)
{
    const struct allocating *allocating = context;
    VkDevice device = allocating->scene->gpu.device;
    for (uint32_t i = 0; i < allocating->count; i++) {
        VkDescriptorSet set = scene_create_set(allocating->scene, allocating->pool, allocating->layout);
        bench_check(vkFreeDescriptorSets(device, allocating->pool, 1, &set), "vkFreeDescriptorSets");
    }
    return allocating->count;
}

static uint32_t work_sets_reset(void *context)
{
    const struct allocating *allocating = context;
    for (uint32_t i = 0; i < allocating->count; i++)
        scene_create_set(allocating->scene, allocating->pool, allocating->layout);
    bench_check(vkResetDescriptorPool(allocating->scene->gpu.device, allocating->pool, 0),
                "vkResetDescriptorPool");
    return allocating->count;
}

static struct bench_sample measure_sets(struct bench *bench, bool reset)
{
    const struct bench_work work = {NULL, reset ? work_sets_reset : work_sets, NULL};
    struct allocating allocating = {
        .scene = &bench->scene,
        .pool = create_pool(&bench->scene, reset ? 0 : VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                            STEPS, STEPS),
        .layout = bench->scene.sampled.set,
        .count = STEPS,
    };
    struct bench_sample sample = bench_measure(bench->rounds, &work, &allocating);
    vkDestroyDescriptorPool(bench->scene.gpu.device, allocating.pool, NULL);
    return sample;
}

/* --- UPDATE_AFTER_BIND: one set, whose first descriptors are used, and the rest a binding of their own ---
 */

struct late {
    const struct scene *scene;
    struct scene_layout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

static void late_init(struct late *late, const struct bench *bench)
{
    VkDescriptorSetLayoutBinding bindings[SCENE_ARRAY + 1];
    VkDescriptorBindingFlags flags[SCENE_ARRAY + 1];
    for (uint32_t i = 0; i <= SCENE_ARRAY; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                                     VK_SHADER_STAGE_COMPUTE_BIT, NULL};
        flags[i] = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
    }
    bindings[SCENE_ARRAY].descriptorCount = bench->size - SCENE_ARRAY;
    VkDescriptorSetLayoutBindingFlagsCreateInfo flags_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = SCENE_ARRAY + 1,
        .pBindingFlags = flags,
    };
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = &flags_info,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT,
        .bindingCount = SCENE_ARRAY + 1,
        .pBindings = bindings,
    };
    late->scene = &bench->scene;
    late->layout = scene_create_layout(late->scene, &info);
    late->pool = create_pool(late->scene, VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT, 1, bench->size);
    late->set = scene_create_set(late->scene, late->pool, late->layout.set);
}

static void late_finish(struct late *late)
{
    bench_gpu_wait(&late->scene->gpu);
    vkDestroyDescriptorPool(late->scene->gpu.device, late->pool, NULL);
    scene_destroy_layout(late->scene, late->layout);
}

static void late_write(const struct late *late, uint32_t binding, uint32_t image)
{
    VkDescriptorImageInfo info = scene_sampled(late->scene, &late->scene->images[image]);
    VkWriteDescriptorSet write = scene_write(late->set, &info);
    write.dstBinding = binding;
    vkUpdateDescriptorSets(late->scene->gpu.device, 1, &write, 0, NULL);
}

static uint32_t work_late_update(void *context)
{
    for (uint32_t i = 0; i < STEPS; i++)
        late_write(context, i % SCENE_ARRAY, i & 1);
    return STEPS;
}

static struct bench_sample measure_late_update(struct bench *bench)
{
    static const struct bench_work work = {NULL, work_late_update, NULL};
    struct late late;
    late_init(&late, bench);
    struct bench_sample sample = bench_measure(bench->rounds, &work, &late);
    late_finish(&late);
    return sample;
}

static struct bench_sample measure_late_sets(struct bench *bench)
{
    static const struct bench_work work = {NULL, work_sets_reset, NULL};
    struct late late;
    late_init(&late, bench);
    struct allocating allocating = {&bench->scene, late.pool, late.layout.set, 1};
    bench_check(vkResetDescriptorPool(bench->scene.gpu.device, late.pool, 0), "vkResetDescriptorPool");
    struct bench_sample sample = bench_measure(bench->rounds, &work, &allocating);
    late_finish(&late);
    return sample;
}

/* --- Submits --- */

static struct bench_sample measure_submit(struct bench *bench)
{
    const struct scene *scene = &bench->scene;
    VkCommandBuffer commands[2];
    for (uint32_t c = 0; c < 2; c++) {
        commands[c] = bench_gpu_create_commands(&scene->gpu, scene->gpu.pool);
        bench_gpu_begin(commands[c]);
        vkCmdBindPipeline(commands[c], compute, scene->dispatch);
        for (uint32_t i = 0; i < bench->images; i++) {
            scene_bind(commands[c], compute, scene->sampled, scene->sets[i]);
            vkCmdDispatch(commands[c], 1, 1, 1);
        }
        bench_gpu_end(commands[c]);
    }
    return bench_measure_submit(&scene->gpu, bench->rounds, commands);
}

static struct bench_sample measure_late_submit(struct bench *bench)
{
    const struct scene *scene = &bench->scene;
    VkCommandBuffer commands[2];
    struct late late;
    late_init(&late, bench);
    VkShaderModule module = scene_create_module(scene, scene_late_comp);
    VkPipeline pipeline = scene_create_compute(scene, late.layout.pipeline, module);
    for (uint32_t i = 0; i < SCENE_ARRAY; i++)
        late_write(&late, i, i);
    for (uint32_t c = 0; c < 2; c++) {
        commands[c] = bench_gpu_create_commands(&scene->gpu, scene->gpu.pool);
        bench_gpu_begin(commands[c]);
        vkCmdBindPipeline(commands[c], compute, pipeline);
        scene_bind(commands[c], compute, late.layout, late.set);
        vkCmdDispatch(commands[c], 1, 1, 1);
        bench_gpu_end(commands[c]);
    }
    struct bench_sample sample = bench_measure_submit(&scene->gpu, bench->rounds, commands);
    late_finish(&late);
    vkDestroyPipeline(scene->gpu.device, pipeline, NULL);
    vkDestroyShaderModule(scene->gpu.device, module, NULL);
    return sample;
}

/* --- Creations --- */

#define CREATIONS 32

static uint32_t create_modules(const struct scene *scene, struct scene_code code)
{
    for (uint32_t i = 0; i < CREATIONS; i++)
        vkDestroyShaderModule(scene->gpu.device, scene_create_module(scene, code), NULL);
    return CREATIONS;
}

static uint32_t work_module(void *context)
{
    return create_modules(&((struct bench *)context)->scene, scene_sample_comp);
}

static uint32_t work_module_large(void *context)
{
    return create_modules(&((struct bench *)context)->scene, scene_large_comp) *
           (uint32_t)(scene_large_comp.size / 1024);
}

static uint32_t work_pipeline(void *context)
{
    const struct scene *scene = &((struct bench *)context)->scene;
    for (uint32_t i = 0; i < CREATIONS; i++)
        vkDestroyPipeline(scene->gpu.device,
                          scene_create_draw(scene, scene->sampled.pipeline, scene->draw_modules), NULL);
    return CREATIONS;
}

static uint32_t work_pipeline_compute(void *context)
{
    const struct bench *bench = context;
    const struct scene *scene = &bench->scene;
    for (uint32_t i = 0; i < CREATIONS; i++)
        vkDestroyPipeline(scene->gpu.device,
                          scene_create_compute(scene, scene->sampled.pipeline, scene->dispatch_module), NULL);
    return CREATIONS;
}

/* --- The kinds --- */

static const struct {
    const char *name;
    uint32_t (*record)(void *context, VkCommandBuffer commands);
} recorded[] = {
    {"draw", record_draw},
    {"bind_same", record_bind_same},
    {"bind_two", record_bind_two},
    {"bind_many", record_bind_many},
    {"pipelines", record_pipelines},
    {"constants", record_constants},
    {"viewport", record_viewport},
    {"push", record_push},
    {"dispatch", record_dispatch},
    {"dispatch_two", record_dispatch_two},
    {"dispatch_store", record_dispatch_store},
    {"pass", record_pass},
    {"pass_changed", record_pass_changed},
    {"plain_draw", record_plain_draw},
    {"held_draw", record_held_draw},
    {"plain_bind", record_plain_bind},
    {"held_bind", record_held_bind},
    {"plain_constants", record_plain_constants},
    {"held_constants", record_held_constants},
    {"plain_viewport", record_plain_viewport},
    {"held_viewport", record_held_viewport},
    {"plain_push", record_plain_push},
    {"held_push", record_held_push},
    {"held_many", record_held_many},
};

static const struct {
    const char *name;
    struct bench_work work;
} worked[] = {
    {"update", {NULL, work_update, NULL}},     {"update_array", {NULL, work_update_array, NULL}},
    {"module", {NULL, work_module, NULL}},     {"module_large", {NULL, work_module_large, NULL}},
    {"pipeline", {NULL, work_pipeline, NULL}}, {"pipeline_compute", {NULL, work_pipeline_compute, NULL}},
};

static struct bench_sample measure_sets_freed(struct bench *bench)
{
    return measure_sets(bench, false);
}

static struct bench_sample measure_sets_reset(struct bench *bench)
{
    return measure_sets(bench, true);
}

static const struct {
    const char *name;
    struct bench_sample (*measure)(struct bench *bench);
} others[] = {
    {"sets", measure_sets_freed},         {"sets_reset", measure_sets_reset},
    {"late_update", measure_late_update}, {"late_sets", measure_late_sets},
    {"submit", measure_submit},           {"late_submit", measure_late_submit},
};

#define FIND(table, kind)                                                                                    \
    for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)                                          \
        if (strcmp((table)[i].name, kind) == 0)

static struct bench_sample measure(struct bench *bench, const char *kind)
{
    FIND(recorded, kind)
    return bench_measure_recording(&bench->scene.gpu, bench->rounds, recorded[i].record, bench);
    FIND(worked, kind)
    return bench_measure(bench->rounds, &worked[i].work, bench);
    FIND(others, kind)
    return others[i].measure(bench);
    fputs(usage, stderr);
    exit(2);
}

int main(int count, char **arguments)
{
    struct bench bench = {.rounds = 101, .images = 16, .size = 1000};
    for (int i = 2; i + 1 < count; i += 2) {
        uint32_t value = (uint32_t)strtoul(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--rounds") == 0 && value && value <= MAX_ROUNDS)
            bench.rounds = value;
        else if (strcmp(arguments[i], "--images") == 0 && value)
            bench.images = value;
        else if (strcmp(arguments[i], "--size") == 0 && value > SCENE_ARRAY)
            bench.size = value;
        else {
            fputs(usage, stderr);
            return 2;
        }
    }
    scene_init(&bench.scene, bench.images > MANY ? bench.images : MANY);
    struct bench_sample sample = measure(&bench, count > 1 ? arguments[1] : "");
    bench_print(arguments[1], &sample);
    scene_finish(&bench.scene);
    return 0;
}
