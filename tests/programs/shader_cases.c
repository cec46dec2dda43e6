/* What shaders read and write through descriptors: between passes, dispatches and submits. */
#include "barrier_cases.h"
#include "kit_shader_object.h"
#include "picture.h"

#define FORMAT VK_FORMAT_D32_SFLOAT_S8_UINT
#define BUFFER_SIZE (KIT_SIDE * KIT_SIDE * 4)

static const VkImageUsageFlags storage_usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                                               VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                               VK_IMAGE_USAGE_TRANSFER_DST_BIT;

/* picture_show() of one image. */
static void show_view(struct kit *kit, VkCommandBuffer commands, enum kit_shader shader, VkImageView view,
                      VkImageLayout layout)
{
    struct picture out = picture(kit);
    struct kit_pipeline pipeline = kit_target_pipeline(kit, &out.target, shader);
    picture_show(kit, commands, &out, &pipeline, kit_image_set(kit, &pipeline, view, layout));
}

/* Rendered, then sampled by the next pass (L01). */
static void sampled(struct kit *kit)
{
    struct picture source = picture(kit);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    show_view(kit, commands, KIT_SAMPLE, source.target.view, READ);
}

/* The image and its sampler in two bindings. */
static void sampled_separately(struct kit *kit)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_target_pipeline(kit, &out.target, KIT_SAMPLE_SEPARATE);
    union kit_descriptor image = kit_image_descriptor(kit, source.target.view, READ);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 4);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    picture_show(kit, commands, &out, &pipeline,
                 kit_set(kit, &pipeline, (const union kit_descriptor[]){image, image}));
}

/* Each pass samples what the one before has rendered. */
static void pass_chain(struct kit *kit)
{
    struct picture pictures[5];
    VkCommandBuffer commands = kit_begin(kit);
    pictures[0] = picture(kit);
    picture_paint(kit, commands, &pictures[0], 5);
    for (uint32_t i = 1; i < 5; i++) {
        pictures[i] = picture(kit);
        struct kit_pipeline pipeline = kit_target_pipeline(kit, &pictures[i].target, KIT_SAMPLE);
        kit_transition(kit, commands, pictures[i].image, KIT_COLOR, UNDEFINED, COLOR);
        kit_needed(kit, commands, pictures[i - 1].image, KIT_COLOR, COLOR, READ);
        picture_draw(commands, &pictures[i].target, &pipeline,
                     kit_image_set(kit, &pipeline, pictures[i - 1].target.view, READ));
    }
    kit_transition(kit, commands, pictures[4].image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, pictures[4].image, 0, 0);
}

/* Pass n renders mip n and samples mip n - 1 of the same image. */
static void drawn_mips(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 4});
    VkCommandBuffer commands = kit_begin(kit);
    VkImageView before = VK_NULL_HANDLE;
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, COLOR);
    for (uint32_t mip = 0; mip < 4; mip++) {
        VkImageView view = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D, RGBA,
                                       (struct kit_range){VK_IMAGE_ASPECT_COLOR_BIT, mip, 1, 0, 1});
        VkRenderPass pass = kit->options.rendering
                                ? VK_NULL_HANDLE
                                : kit_pass(kit, RGBA, VK_ATTACHMENT_LOAD_OP_CLEAR, COLOR, COLOR, COLOR);
        struct kit_target target = kit_target_of(kit, view, KIT_SIDE >> mip, pass);
        struct kit_pipeline pipeline = kit_target_pipeline(kit, &target, mip ? KIT_SAMPLE : KIT_FILL);
        if (mip)
            kit_needed(kit, commands, image, mip_range(mip - 1, 1), COLOR, READ);
        else
            kit_constants(commands, &pipeline, 6);
        picture_draw(commands, &target, &pipeline,
                     mip ? kit_image_set(kit, &pipeline, before, READ) : VK_NULL_HANDLE);
        before = view;
    }
    kit_transition(kit, commands, image, mip_range(3, 1), COLOR, SRC);
    kit_run(kit, commands, image, 3, 0);
}

/* Rendered in one submit, sampled in the next (L02). */
static void sampled_next_submit(struct kit *kit)
{
    struct picture source = picture(kit);
    VkCommandBuffer first = kit_begin(kit), second = kit_begin(kit);
    picture_paint(kit, first, &source, 3);
    kit_end(first);
    kit_submit(kit, first);
    kit_needed(kit, second, source.image, KIT_COLOR, COLOR, READ);
    show_view(kit, second, KIT_SAMPLE, source.target.view, READ);
}

/* Rendered by a pass, read by a dispatch (L03) in `layout`. */
static void dispatched(struct kit *kit, enum kit_shader shader, VkImageLayout layout)
{
    VkImage image = kit_image(
        kit, &(struct kit_image_info){.usage = storage_usage | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT});
    struct picture source = {image, kit_target(kit, image)};
    struct kit_pipeline pipeline = kit_pipeline(kit, &(struct kit_pipeline_info){.shader = shader});
    VkBuffer result = kit_buffer_for(kit, BUFFER_SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VkDescriptorSet set =
        kit_set(kit, &pipeline,
                (const union kit_descriptor[]){kit_image_descriptor(kit, source.target.view, layout),
                                               kit_buffer_descriptor(result)});
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, image, KIT_COLOR, COLOR, layout);
    kit_dispatch(commands, &pipeline, set);
    kit_host_barrier(commands);
    kit_run_for(kit, commands, result);
}

static void dispatch_samples(struct kit *kit)
{
    dispatched(kit, KIT_SAMPLE_TO_BUFFER, READ);
}

static void dispatch_loads(struct kit *kit)
{
    dispatched(kit, KIT_IMAGE_TO_BUFFER, GENERAL);
}

/* A view of all mips is sampled while mip 2 is in SRC (L08). */
static void sampled_whole(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 4});
    VkImageView view = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D, RGBA, KIT_ALL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_ALL, 4);
    kit_transition(kit, commands, image, mip_range(0, 2), DST, READ);
    kit_transition(kit, commands, image, mip_range(2, 1), DST, SRC);
    kit_transition(kit, commands, image, mip_range(3, 1), DST, READ);
    kit_needed(kit, commands, image, mip_range(2, 1), SRC, READ);
    show_view(kit, commands, KIT_SAMPLE, view, READ);
}

/* Levels, and faces of a cube, that were never transitioned but belong to the view (L10, L11). */
static void sampled_untouched_levels(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 5});
    VkImageView view = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D, RGBA, KIT_ALL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, mip_range(0, 1), UNDEFINED, DST);
    kit_upload(kit, commands, kit_buffer(kit, BUFFER_SIZE), image, 0, 0);
    kit_transition(kit, commands, image, mip_range(0, 1), DST, READ);
    kit_needed(kit, commands, image, mip_range(1, 4), UNDEFINED, READ);
    show_view(kit, commands, KIT_SAMPLE, view, READ);
}

static void sampled_untouched_faces(struct kit *kit)
{
    VkImage image =
        kit_image(kit, &(struct kit_image_info){.layers = 6, .flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT});
    VkImageView view = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_CUBE, RGBA, KIT_ALL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, layer_range(0, 1), UNDEFINED, DST);
    kit_upload(kit, commands, kit_buffer(kit, BUFFER_SIZE), image, 0, 0);
    kit_transition(kit, commands, image, layer_range(0, 1), DST, READ);
    kit_needed(kit, commands, image, layer_range(1, 5), UNDEFINED, READ);
    show_view(kit, commands, KIT_SAMPLE_CUBE, view, READ);
}

/* Left in GENERAL by an earlier submit (L16). */
static void general_then_read(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.usage = storage_usage});
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    struct kit_pipeline store = kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_STORE_IMAGE});
    VkCommandBuffer first = kit_begin(kit), second = kit_begin(kit);
    kit_transition(kit, first, image, KIT_COLOR, UNDEFINED, GENERAL);
    kit_constants(first, &store, 5);
    kit_dispatch(first, &store, kit_image_set(kit, &store, view, GENERAL));
    kit_end(first);
    kit_submit(kit, first);
    kit_needed(kit, second, image, KIT_COLOR, GENERAL, READ);
    show_view(kit, second, KIT_SAMPLE, view, READ);
}

/* A storage image that was never transitioned (L17): written by itself, and from another that is sampled. */
static void storage_first_use(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.usage = storage_usage});
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    struct kit_pipeline store = kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_STORE_IMAGE});
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, GENERAL);
    kit_constants(commands, &store, 5);
    kit_dispatch(commands, &store, kit_image_set(kit, &store, view, GENERAL));
    kit_transition(kit, commands, image, KIT_COLOR, GENERAL, SRC);
    kit_run(kit, commands, image, 0, 0);
}

static void sampled_to_storage(struct kit *kit)
{
    struct picture source = picture(kit);
    VkImage image = kit_image(kit, &(struct kit_image_info){.usage = storage_usage});
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    struct kit_pipeline copy = kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE_TO_IMAGE});
    VkDescriptorSet set =
        kit_set(kit, &copy,
                (const union kit_descriptor[]){kit_image_descriptor(kit, source.target.view, READ),
                                               kit_image_descriptor(kit, view, GENERAL)});
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 2);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, GENERAL);
    kit_dispatch(commands, &copy, set);
    kit_transition(kit, commands, image, KIT_COLOR, GENERAL, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* Drawn, then read as a storage image by a fragment shader. */
static void storage_in_fragment_shader(struct kit *kit)
{
    VkImage image = kit_image(
        kit, &(struct kit_image_info){.usage = storage_usage | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT});
    struct picture source = {image, kit_target(kit, image)};
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 6);
    kit_needed(kit, commands, image, KIT_COLOR, COLOR, GENERAL);
    show_view(kit, commands, KIT_LOAD_STORAGE, source.target.view, GENERAL);
}

/* A pass that leaves an offscreen image as if to be presented (L24). */
static void present_then_sampled(struct kit *kit)
{
    struct picture source = {.image = kit_image(kit, NULL)};
    VkRenderPass pass = kit_pass(kit, RGBA, VK_ATTACHMENT_LOAD_OP_CLEAR, COLOR, COLOR, PRESENT);
    source.target =
        kit_target_of(kit, kit_view(kit, source.image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT), KIT_SIDE, pass);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 6);
    kit_needed(kit, commands, source.image, KIT_COLOR, PRESENT, READ);
    show_view(kit, commands, KIT_SAMPLE, source.target.view, READ);
}

/* A secondary command buffer reads what its primary has rendered (L27): by a dispatch, or inside a pass. */
static void secondary_dispatch(struct kit *kit)
{
    struct picture source = picture(kit);
    struct kit_pipeline pipeline =
        kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE_TO_BUFFER});
    VkBuffer result = kit_buffer_for(kit, BUFFER_SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VkDescriptorSet set =
        kit_set(kit, &pipeline,
                (const union kit_descriptor[]){kit_image_descriptor(kit, source.target.view, READ),
                                               kit_buffer_descriptor(result)});
    VkCommandBuffer secondary = kit_begin_secondary(kit), commands = kit_begin(kit);
    kit_dispatch(secondary, &pipeline, set);
    kit_end(secondary);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    vkCmdExecuteCommands(commands, 1, &secondary);
    kit_host_barrier(commands);
    kit_run_for(kit, commands, result);
}

static void secondary_in_pass(struct kit *kit)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_target_pipeline(kit, &out.target, KIT_SAMPLE);
    VkCommandBuffer secondary = kit_begin_inside(kit, &out.target), commands = kit_begin(kit);
    kit_draw(secondary, &pipeline, kit_image_set(kit, &pipeline, source.target.view, READ));
    kit_end(secondary);
    picture_paint(kit, commands, &source, 3);
    kit_transition(kit, commands, out.image, KIT_COLOR, UNDEFINED, COLOR);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    kit_begin_target_secondary(commands, &out.target);
    vkCmdExecuteCommands(commands, 1, &secondary);
    kit_end_target(commands, &out.target);
    kit_transition(kit, commands, out.image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, out.image, 0, 0);
}

/* A binding written anew between its bind and the submit (L32): what it holds then is what counts. */
static void updated_after_bind(struct kit *kit)
{
    struct picture early = picture(kit), late = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_pipeline(
        kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE, .pass = out.target.pass, .after_bind = true});
    VkDescriptorSet set = kit_image_set(kit, &pipeline, early.target.view, READ);
    union kit_descriptor descriptor = kit_image_descriptor(kit, late.target.view, READ);
    VkCommandBuffer first = kit_begin(kit), second = kit_begin(kit);
    picture_paint(kit, first, &early, 1);
    picture_paint(kit, first, &late, 2);
    kit_needed(kit, first, late.image, KIT_COLOR, COLOR, READ);
    kit_end(first);
    kit_transition(kit, second, out.image, KIT_COLOR, UNDEFINED, COLOR);
    picture_draw(second, &out.target, &pipeline, set);
    kit_transition(kit, second, out.image, KIT_COLOR, COLOR, SRC);
    kit_submit(kit, first);
    kit_write(kit, &pipeline, set, 0, &descriptor);
    kit_run(kit, second, out.image, 0, 0);
}

/* Descriptors that come by an update template, by a push, by both (L33). */
static void descriptors_by(struct kit *kit, bool template, bool push)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_pipeline(
        kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE_SCALED, .pass = out.target.pass, .push = push});
    const union kit_descriptor descriptors[] = {
        kit_image_descriptor(kit, source.target.view, READ),
        kit_buffer_descriptor(kit_buffer_for(kit, 16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT)),
    };
    VkDescriptorUpdateTemplate by = template ? kit_template(kit, &pipeline, push) : VK_NULL_HANDLE;
    VkDescriptorSet set = push ? VK_NULL_HANDLE : kit_set(kit, &pipeline, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    if (set)
        vkUpdateDescriptorSetWithTemplate(kit->device, set, by, descriptors);
    else if (by)
        ((PFN_vkCmdPushDescriptorSetWithTemplateKHR)kit_function(
            kit, "vkCmdPushDescriptorSetWithTemplateKHR"))(commands, by, pipeline.layout, 0, descriptors);
    else
        kit_push(kit, commands, &pipeline, descriptors);
    picture_show(kit, commands, &out, &pipeline, set);
}

static void update_template(struct kit *kit)
{
    descriptors_by(kit, true, false);
}

static void pushed(struct kit *kit)
{
    descriptors_by(kit, false, true);
}

static void pushed_by_template(struct kit *kit)
{
    descriptors_by(kit, true, true);
}

/* A descriptor that came by a copy from another set, which is then written anew. */
static void copied_descriptor(struct kit *kit)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_target_pipeline(kit, &out.target, KIT_SAMPLE);
    VkDescriptorSet from = kit_image_set(kit, &pipeline, source.target.view, READ);
    VkDescriptorSet to = kit_set(kit, &pipeline, NULL);
    union kit_descriptor other = kit_image_descriptor(kit, out.target.view, READ);
    VkCopyDescriptorSet copy = {
        .sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
        .srcSet = from,
        .dstSet = to,
        .descriptorCount = 1,
    };
    vkUpdateDescriptorSets(kit->device, 0, NULL, 1, &copy);
    kit_write(kit, &pipeline, from, 0, &other);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 4);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    picture_show(kit, commands, &out, &pipeline, to);
}

/* Depth and stencil in one image, left by a pass (L34). */
struct depth_image {
    VkImage image;
    VkImageLayout depth, stencil; /* to be read in */
};

static const VkImageLayout depth_attachment = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
static const struct kit_range depth_and_stencil = {VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0,
                                                   1, 0, 1};
static const struct kit_range depth_range = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
static const struct kit_range stencil_range = {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1};

static struct depth_image depth_image(struct kit *kit, VkCommandBuffer commands)
{
    struct depth_image made = {
        .image =
            kit_image(kit, &(struct kit_image_info){.format = FORMAT,
                                                    .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                                             VK_IMAGE_USAGE_SAMPLED_BIT}),
        .depth = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        .stencil = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    };
    if (kit->options.separate) {
        made.depth = VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL;
        made.stencil = VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL;
    }
    VkRenderPass pass = kit_pass(kit, FORMAT, VK_ATTACHMENT_LOAD_OP_LOAD, depth_attachment, depth_attachment,
                                 depth_attachment);
    kit_transition(kit, commands, made.image, depth_and_stencil, UNDEFINED, DST);
    kit_clear(kit, commands, made.image, depth_and_stencil, 3);
    kit_transition(kit, commands, made.image, depth_and_stencil, DST, depth_attachment);
    kit_run_pass(kit, commands, pass, kit_view(kit, made.image, FORMAT, depth_and_stencil.aspects));
    return made;
}

/* With separate layouts only the aspect that is read is transitioned. */
static void depth_needed(struct kit *kit, VkCommandBuffer commands, const struct depth_image *image,
                         struct kit_range aspect, VkImageLayout layout)
{
    kit_needed(kit, commands, image->image, kit->options.separate ? aspect : depth_and_stencil,
               depth_attachment, layout);
}

static void sampled_depth(struct kit *kit)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_target_pipeline(kit, &out.target, KIT_SAMPLE_DEPTH);
    VkCommandBuffer commands = kit_begin(kit);
    struct depth_image depth = depth_image(kit, commands);
    VkImageView view = kit_view(kit, depth.image, FORMAT, VK_IMAGE_ASPECT_DEPTH_BIT);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    depth_needed(kit, commands, &depth, depth_range, depth.depth);
    picture_show(kit, commands, &out, &pipeline,
                 kit_set(kit, &pipeline,
                         (const union kit_descriptor[]){kit_image_descriptor(kit, source.target.view, READ),
                                                        kit_image_descriptor(kit, view, depth.depth)}));
}

static void sampled_stencil(struct kit *kit)
{
    VkCommandBuffer commands = kit_begin(kit);
    struct depth_image depth = depth_image(kit, commands);
    VkImageView view = kit_view(kit, depth.image, FORMAT, VK_IMAGE_ASPECT_STENCIL_BIT);
    depth_needed(kit, commands, &depth, stencil_range, depth.stencil);
    show_view(kit, commands, KIT_SAMPLE_STENCIL, view, depth.stencil);
}

static const struct kit_range slice_range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 2, 1};

/* A slice of a 3D image is drawn to, then the whole is sampled (L35). */
static void drawn_slice(struct kit *kit)
{
    VkImage image = kit_image(
        kit, &(struct kit_image_info){.depth = 4, .flags = VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT});
    VkImageView slice = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D_ARRAY, RGBA, slice_range);
    VkImageView whole = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_3D, RGBA, KIT_COLOR);
    VkRenderPass pass = kit->options.rendering
                            ? VK_NULL_HANDLE
                            : kit_pass(kit, RGBA, VK_ATTACHMENT_LOAD_OP_CLEAR, COLOR, COLOR, COLOR);
    struct picture source = {image, kit_target_of(kit, slice, KIT_SIDE, pass)};
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, image, KIT_COLOR, COLOR, READ);
    show_view(kit, commands, KIT_SAMPLE_3D, whole, READ);
}

/* A slice as a 2D storage image, used first while UNDEFINED; then the whole is sampled. */
static void stored_slice(struct kit *kit)
{
    VkImage image =
        kit_image(kit, &(struct kit_image_info){.depth = 4,
                                                .usage = storage_usage,
                                                .flags = VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT |
                                                         VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT});
    VkImageView slice = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D, RGBA, slice_range);
    VkImageView whole = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_3D, RGBA, KIT_COLOR);
    struct kit_pipeline store = kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_STORE_IMAGE});
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, GENERAL);
    kit_constants(commands, &store, 5);
    kit_dispatch(commands, &store, kit_image_set(kit, &store, slice, GENERAL));
    kit_needed(kit, commands, image, KIT_COLOR, GENERAL, READ);
    show_view(kit, commands, KIT_SAMPLE_3D, whole, READ);
}

/* A pipeline that is linked from libraries. */
static void linked_pipeline(struct kit *kit)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_pipeline(
        kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE, .pass = out.target.pass, .libraries = true});
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    picture_show(kit, commands, &out, &pipeline, kit_image_set(kit, &pipeline, source.target.view, READ));
}

#ifdef VK_EXT_shader_object
/* No pipeline, but shader objects. */
static void shader_objects(struct kit *kit)
{
    struct picture source = picture(kit);
    VkImage image = kit_image(kit, NULL);
    struct kit_target target =
        kit_target_of(kit, kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT), KIT_SIDE, VK_NULL_HANDLE);
    struct kit_shader_objects objects = kit_shader_objects(kit, KIT_SAMPLE);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, COLOR);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    VkDescriptorSet set = kit_image_set(kit, &objects.layout, source.target.view, READ);
    kit_begin_target(commands, &target);
    kit_shader_objects_draw(kit, commands, &objects, set);
    kit_end_target(commands, &target);
    kit_transition(kit, commands, image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, image, 0, 0);
    kit_shader_objects_destroy(kit, &objects);
}
#endif

const struct barrier_case shader_cases[] = {
    {.name = "L01-sampled", .run = sampled, .faults = true, .rendering = true},
    {.name = "L01-sampled-separately", .run = sampled_separately, .faults = true, .rendering = true},
    {.name = "L01-pass-chain", .run = pass_chain, .faults = true, .rendering = true},
    {.name = "L01-drawn-mips", .run = drawn_mips, .faults = true, .rendering = true},
    {.name = "L02-sampled-next-submit", .run = sampled_next_submit, .faults = true, .rendering = true},
    {.name = "L03-dispatch-samples", .run = dispatch_samples, .faults = true, .rendering = true},
    {.name = "L03-dispatch-loads", .run = dispatch_loads, .faults = true, .rendering = true},
    {.name = "L08-sampled-whole", .run = sampled_whole, .faults = true, .rendering = true},
    {.name = "L10-sampled-levels", .run = sampled_untouched_levels, .faults = true, .rendering = true},
    {.name = "L11-sampled-faces", .run = sampled_untouched_faces, .faults = true, .rendering = true},
    {.name = "L16-general-then-read", .run = general_then_read, .faults = true, .rendering = true},
    {.name = "L17-storage-first-use", .run = storage_first_use, .faults = true},
    {.name = "L17-sampled-to-storage", .run = sampled_to_storage, .faults = true, .rendering = true},
    {.name = "L17-storage-in-fragment-shader",
     .run = storage_in_fragment_shader,
     .faults = true,
     .rendering = true},
    {.name = "L24-present-then-sampled",
     .run = present_then_sampled,
     .faults = true,
     .extras = KIT_PRESENT_LAYOUT},
    {.name = "L27-secondary-dispatch", .run = secondary_dispatch, .faults = true, .rendering = true},
    {.name = "L27-secondary-in-pass", .run = secondary_in_pass, .faults = true, .rendering = true},
    {.name = "L32-updated-after-bind",
     .run = updated_after_bind,
     .faults = true,
     .rendering = true,
     .extras = KIT_UPDATE_AFTER_BIND},
    {.name = "L33-update-template", .run = update_template, .faults = true, .rendering = true},
    {.name = "L33-pushed", .run = pushed, .faults = true, .rendering = true, .extras = KIT_PUSH_DESCRIPTORS},
    {.name = "L33-pushed-by-template",
     .run = pushed_by_template,
     .faults = true,
     .rendering = true,
     .extras = KIT_PUSH_DESCRIPTORS},
    {.name = "L33-copied-descriptor", .run = copied_descriptor, .faults = true, .rendering = true},
    {.name = "L34-sampled-depth", .run = sampled_depth, .faults = true, .rendering = true},
    {.name = "L34-sampled-stencil", .run = sampled_stencil, .faults = true, .rendering = true},
    {.name = "L35-drawn-slice", .run = drawn_slice, .faults = true, .rendering = true},
    {.name = "L35-stored-slice",
     .run = stored_slice,
     .faults = true,
     .rendering = true,
     .extras = KIT_SLICE_VIEWS},
    {.name = "linked-pipeline",
     .run = linked_pipeline,
     .faults = true,
     .rendering = true,
     .extras = KIT_PIPELINE_LIBRARIES},
#ifdef VK_EXT_shader_object
    {.name = "shader-objects", .run = shader_objects, .faults = true, .extras = KIT_SHADER_OBJECTS},
#endif
};
const size_t shader_case_count = sizeof(shader_cases) / sizeof(shader_cases[0]);
