/* Draws, dispatches and traces: what their shaders use through descriptors. */
#include <string.h>

#include "oracle_bound.h"
#include "oracle_replay.h"

/* One command's shaders while they are judged. */
struct work {
    struct replay *replay;
    const struct bound_point *point;
    uint64_t source; /* histories of what is read, mixed */
    bool hidden;     /* images may be written that can't be told */
};

/* --- One descriptor --- */

static bool is_judged(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER || type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ||
           type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

/* Its view and layout; false if there is nothing to judge. */
static bool find_image(const struct work *work, const struct shader_use *use, struct descriptor *out)
{
    return bound_find(work->point, use, out) && out->view && is_judged(out->type);
}

static bool is_attachment(const struct replay *replay, VkImage image)
{
    return (replay->instance.pass && pass_uses_image(&replay->instance, image)) ||
           (replay->rendering && rendering_uses_image(replay->rendering, image));
}

/* "imageLayout must match the actual VkImageLayout of each subresource accessible from imageView at the time
 * this descriptor is accessed". An attachment is in the layout that it has as one. */
static void read_descriptor(struct work *work, const struct shader_use *use)
{
    struct replay *replay = work->replay;
    const struct image_view *view;
    struct descriptor descriptor;

    if (!find_image(work, use, &descriptor)) {
        work->hidden |= use->writes;
        return;
    }
    view = OBJECT(image_view, descriptor.view);
    replay->use = use;
    use_check(replay, view->image, &view->range, descriptor.layout);
    /* What is also written need not have been defined; nor are an attachment's contents known until the end.
     */
    if (use->reads && !use->writes && !is_attachment(replay, view->image))
        work->source = history_mix(work->source, use_read(replay, view->image, &view->range));
    replay->use = NULL;
}

static void write_descriptor(struct work *work, const struct shader_use *use)
{
    const struct image_view *view;
    struct descriptor descriptor;

    if (!use->writes || !find_image(work, use, &descriptor))
        return;
    view = OBJECT(image_view, descriptor.view);
    use_write(view->image, &view->range, CONTENT_SHADER, work->source);
}

/* --- All of a command's --- */

static void each_use(struct work *work, void (*act)(struct work *work, const struct shader_use *use))
{
    const struct bound_point *point = work->point;

    for (uint32_t i = 0; point->pipeline && i < point->pipeline->count; i++)
        act(work, &point->pipeline->items[i]);
    for (uint32_t i = 0; i < BOUND_MAX_SHADERS; i++) {
        for (uint32_t j = 0; point->shaders[i] && j < point->shaders[i]->count; j++)
            act(work, &point->shaders[i]->items[j]);
    }
}

/* Whether all that the shaders use is known. */
static bool is_complete(const struct bound_point *point)
{
    bool complete = point->pipeline && !point->pipeline->incomplete;

    for (uint32_t i = 0; i < BOUND_MAX_SHADERS; i++) {
        if (point->shaders[i] && point->shaders[i]->incomplete)
            return false;
        complete |= point->shaders[i] != NULL;
    }
    return complete;
}

static void judge(struct replay *replay, enum bound_point_id id)
{
    const struct bound_point *point = &replay->bound->points[id];
    struct work work = {.replay = replay, .point = point, .hidden = !is_complete(point)};

    each_use(&work, read_descriptor);
    each_use(&work, write_descriptor);
    replay->device->oracle.hidden_work += work.hidden;
}

/* --- Commands --- */

static bool begins_with(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

bool replay_shader(struct replay *replay, const struct recorded_command *command)
{
    const char *name = command_descriptions[command->command].name;

    if (begins_with(name, "vkCmdDraw")) {
        if (!replay->instance.pass && !replay->rendering)
            replay_violate(replay, FAULT_ORACLE_PLACE, "a draw outside of a render pass instance");
        judge(replay, BOUND_GRAPHICS);
    } else if (begins_with(name, "vkCmdDispatch")) {
        replay_outside(replay);
        judge(replay, BOUND_COMPUTE);
    } else if (begins_with(name, "vkCmdTraceRays")) {
        replay_outside(replay);
        judge(replay, BOUND_RAY_TRACING);
    } else if (begins_with(name, "vkCmdExecuteGenerated")) {
        /* Pipelines and descriptors may come from the device's memory; afterwards none is known to be bound.
         */
        replay->device->oracle.hidden_work++;
        *replay->bound = (struct bound){0};
    } else {
        return false;
    }
    return true;
}
