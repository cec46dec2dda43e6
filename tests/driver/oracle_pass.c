/* Instances of render pass objects. */
#include "command_buffer.h"
#include "driver_records.h"
#include "oracle_pass_info.h"
#include "oracle_replay.h"
#include "pipelines.h"

/* One aspect of an attachment of the open instance. */
struct attached {
    VkImage image;
    VkImageAspectFlagBits aspect;
    VkImageSubresourceRange range;    /* of the view, this aspect alone */
    VkImageSubresourceRange contents; /* what is loaded and stored of it */
    bool whole;                       /* the render area covers it */
};

/* The aspect and the operations that go with it; aspects beyond stencil are the main one. */
static bool is_stencil(const struct attached *attached)
{
    return attached->aspect == VK_IMAGE_ASPECT_STENCIL_BIT;
}

static VkImageLayout layout_for(const struct attached *attached, const struct pass_layouts *layouts)
{
    return is_stencil(attached) ? layouts->stencil : layouts->main;
}

/* Says what `aspect` of the index-th attachment is; false if there is no such thing. */
static bool attached_find(const struct pass_instance *instance, uint32_t index, VkImageAspectFlagBits aspect,
                          struct attached *out)
{
    const struct image_view *view;
    const struct image *image;

    if (index >= instance->view_count || !instance->views[index])
        return false;
    view = OBJECT(image_view, instance->views[index]);
    image = OBJECT(image, view->image);
    /* "When an imageView of a depth/stencil image is used as a depth/stencil framebuffer attachment, the
     * aspectMask is ignored and both depth and stencil image subresources are used." */
    if (!(image_aspects(image) & aspect))
        return false;
    *out = (struct attached){.image = view->image, .aspect = aspect, .range = view->range};
    out->range.aspectMask = aspect;
    out->contents = range_resolve(image, &out->range);
    out->whole = area_covers(view->image, view->range.baseMipLevel, &instance->area) &&
                 image->info.imageType != VK_IMAGE_TYPE_3D;
    if (!instance->pass->multiview && instance->layers < out->contents.layerCount)
        out->contents.layerCount = instance->layers;
    return true;
}

static const VkImageAspectFlagBits aspects[] = {
    VK_IMAGE_ASPECT_COLOR_BIT,   VK_IMAGE_ASPECT_DEPTH_BIT,   VK_IMAGE_ASPECT_STENCIL_BIT,
    VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT, VK_IMAGE_ASPECT_PLANE_2_BIT,
};
#define ASPECT_COUNT (sizeof(aspects) / sizeof(aspects[0]))

static void take_and_discard(const struct replay *replay, const struct attached *attached)
{
    struct range_walk walk;

    range_walk_begin(&walk, attached->image, &attached->range);
    while (range_walk_next(&walk)) {
        use_take(replay, &walk);
        subresource_discard(walk.at, replay->device);
    }
}

static void begin_attachment(const struct replay *replay, const struct pass_attachment *attachment,
                             const struct attached *attached)
{
    const VkImageLayout initial = layout_for(attached, &attachment->initial);

    if (initial == VK_IMAGE_LAYOUT_UNDEFINED)
        take_and_discard(replay, attached);
    else
        use_check(replay, attached->image, &attached->range, initial);
    if (attachment->used)
        attachment_load(replay, attached->image, &attached->contents,
                        is_stencil(attached) ? attachment->stencil_load : attachment->load, attached->whole);
}

static void end_attachment(const struct replay *replay, const struct pass_attachment *attachment,
                           const struct attached *attached)
{
    if (attachment->used)
        attachment_store(replay, attached->image, &attached->contents,
                         is_stencil(attached) ? attachment->stencil_store : attachment->store,
                         is_stencil(attached) ? attachment->stencil_written : attachment->written,
                         attached->whole);
    use_set_layout(attached->image, &attached->range, layout_for(attached, &attachment->final));
}

static void each_attachment(const struct replay *replay,
                            void (*act)(const struct replay *replay, const struct pass_attachment *attachment,
                                        const struct attached *attached))
{
    const struct oracle_pass *pass = replay->instance.pass;
    struct attached attached;

    for (uint32_t i = 0; i < pass->attachment_count; i++) {
        for (size_t j = 0; j < ASPECT_COUNT; j++) {
            if (attached_find(&replay->instance, i, aspects[j], &attached))
                act(replay, &pass->attachments[i], &attached);
        }
    }
}

/* The render pass's own transitions into the layouts of the current subpass. */
static void enter_subpass(const struct pass_instance *instance)
{
    struct attached attached;

    for (uint32_t i = 0; i < instance->pass->use_count; i++) {
        const struct pass_use *use = &instance->pass->uses[i];

        for (size_t j = 0; use->subpass == instance->subpass && j < ASPECT_COUNT; j++) {
            if (attached_find(instance, use->attachment, aspects[j], &attached))
                use_set_layout(attached.image, &attached.range, layout_for(&attached, &use->layouts));
        }
    }
}

static void begin(struct replay *replay, const VkRenderPassBeginInfo *info)
{
    const struct framebuffer *framebuffer = OBJECT(framebuffer, info->framebuffer);
    const VkRenderPassAttachmentBeginInfo *given =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
    const struct render_pass *pass = OBJECT(render_pass, info->renderPass);

    replay_outside(replay);
    replay->instance = (struct pass_instance){
        .pass = pass->oracle,
        .views = framebuffer->views,
        .view_count = framebuffer->view_count,
        .layers = framebuffer->layers,
        .area = info->renderArea,
    };
    if (!framebuffer->view_count && given) {
        replay->instance.views = given->pAttachments;
        replay->instance.view_count = given->attachmentCount;
    }
    if (!pass->oracle)
        return;
    each_attachment(replay, begin_attachment);
    enter_subpass(&replay->instance);
}

static void next(struct replay *replay)
{
    if (!replay->instance.pass)
        return;
    replay->instance.subpass++;
    enter_subpass(&replay->instance);
}

static void end(struct replay *replay)
{
    if (replay->instance.pass)
        each_attachment(replay, end_attachment);
    replay->instance = (struct pass_instance){0};
}

bool replay_pass(struct replay *replay, const struct recorded_command *command)
{
    const void *arguments = command->arguments;

    switch ((int)command->command) {
    case COMMAND_vkCmdBeginRenderPass:
        begin(replay, ((const struct arguments_vkCmdBeginRenderPass *)arguments)->pRenderPassBegin);
        return true;
    case COMMAND_vkCmdBeginRenderPass2:
        begin(replay, ((const struct arguments_vkCmdBeginRenderPass2 *)arguments)->pRenderPassBegin);
        return true;
    case COMMAND_vkCmdNextSubpass:
    case COMMAND_vkCmdNextSubpass2:
        next(replay);
        return true;
    case COMMAND_vkCmdEndRenderPass:
    case COMMAND_vkCmdEndRenderPass2:
        end(replay);
        return true;
    default:
        return false;
    }
}

/* "... at least one subpass dependency that expresses a dependency from the current subpass to itself, does
 * not include VK_DEPENDENCY_BY_REGION_BIT if this command does not, does not include
 * VK_DEPENDENCY_VIEW_LOCAL_BIT if this command does not, and has synchronization scopes and access scopes
 * that include all of the [command's]". */
static bool dependency_allows(const struct pass_dependency *dependency, const struct barrier_scopes *scopes)
{
    const VkDependencyFlags local = VK_DEPENDENCY_BY_REGION_BIT | VK_DEPENDENCY_VIEW_LOCAL_BIT;

    return !(dependency->flags & local & ~scopes->flags) &&
           stages_include(dependency->source_stages, scopes->source_stages) &&
           stages_include(dependency->destination_stages, scopes->destination_stages) &&
           accesses_include(dependency->source_accesses, scopes->source_accesses) &&
           accesses_include(dependency->destination_accesses, scopes->destination_accesses);
}

bool pass_allows_barrier(const struct pass_instance *instance, const struct barrier_scopes *scopes)
{
    for (uint32_t i = 0; i < instance->pass->dependency_count; i++) {
        const struct pass_dependency *dependency = &instance->pass->dependencies[i];

        if (dependency->source == instance->subpass && dependency->destination == instance->subpass &&
            dependency_allows(dependency, scopes))
            return true;
    }
    return false;
}

bool pass_uses_image(const struct pass_instance *instance, VkImage image)
{
    for (uint32_t i = 0; i < instance->pass->use_count; i++) {
        const struct pass_use *use = &instance->pass->uses[i];

        if (use->subpass == instance->subpass && use->attachment < instance->view_count &&
            instance->views[use->attachment] &&
            OBJECT(image_view, instance->views[use->attachment])->image == image)
            return true;
    }
    return false;
}
