/* Random programs with shaders that are valid, or that lack barriers; each has a device of its own.
 *
 *     shader_fuzz [--seed S] [--programs N] [--strip P] [--spoil P] [--sync2] [--strict] [--lavapipe]
 *
 * Program i is made of seed S + i alone; prints a line for each, with the hash of all pixels in the end. What
 * is known of each image places the barriers that are needed, before the render pass where the need is
 * inside.
 * --strip leaves out P percent of the transitions, half of them with their memory dependency; --spoil makes
 * that many oldLayouts others (never UNDEFINED). Neither touches a barrier whose need the layer can't know:
 * of elements chosen dynamically, PARTIALLY_BOUND bindings, the first descriptors in a layout that are
 * pushed, what the command buffer itself changes that UPDATE_AFTER_BIND descriptors read, and instances that
 * were held back in vain too often before.
 * --strict: array elements that aren't accessed are in their layouts too, as Khronos validation wants.
 * --lavapipe: without what lavapipe 22.3 can't do: descriptors that aren't written, depth that is sampled,
 * vkCmdClearAttachments between draws, most of push descriptors. */
#include "shader_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PENDING 4
#define READ_STAGES                                                                                          \
    (VK_PIPELINE_STAGE_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT |                           \
     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT)

uint32_t fuzz_pick(struct fuzz *fuzz, uint32_t count)
{
    uint64_t value = fuzz->random += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((value ^ (value >> 31)) >> 16) % count;
}

bool fuzz_chance(struct fuzz *fuzz, uint32_t percent)
{
    return fuzz_pick(fuzz, 100) < percent;
}

/* --- Images --- */

static void add_view(struct fuzz *fuzz, struct fuzz_image *image, enum fuzz_shape shape,
                     VkImageAspectFlags aspects, struct kit_range range)
{
    static const VkImageViewType types[] = {
        [FUZZ_FLAT] = VK_IMAGE_VIEW_TYPE_2D,       [FUZZ_LAYERED] = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
        [FUZZ_CUBE] = VK_IMAGE_VIEW_TYPE_CUBE,     [FUZZ_STENCIL] = VK_IMAGE_VIEW_TYPE_2D,
        [FUZZ_ATTACHMENT] = VK_IMAGE_VIEW_TYPE_2D,
    };
    struct kit_range viewed = range;
    viewed.aspects = aspects;
    range.aspects = image->aspects;
    if (fuzz->view_count == FUZZ_VIEWS)
        return;
    fuzz->views[fuzz->view_count++] = (struct fuzz_view){
        kit_view_of(&fuzz->kit, image->handle, types[shape], image->format, viewed), image, shape, range};
}

static void add_views(struct fuzz *fuzz, struct fuzz_image *image)
{
    const struct kit_range mips = {0, 0, image->mips, 0, 1}, all = {0, 0, image->mips, 0, image->layers};
    bool color = fuzz_is_color(image);
    add_view(fuzz, image, FUZZ_FLAT, color ? VK_IMAGE_ASPECT_COLOR_BIT : VK_IMAGE_ASPECT_DEPTH_BIT, mips);
    if (!color)
        add_view(fuzz, image, FUZZ_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, mips);
    if (color && !image->cube)
        add_view(fuzz, image, FUZZ_LAYERED, image->aspects, all);
    if (image->cube)
        add_view(fuzz, image, FUZZ_CUBE, image->aspects, all);
    add_view(fuzz, image, FUZZ_ATTACHMENT, image->aspects, (struct kit_range){0, 0, 1, 0, 1});
    for (uint32_t i = 0; i < 2; i++) {
        struct kit_range one = {0, fuzz_pick(fuzz, image->mips), 1, fuzz_pick(fuzz, image->layers), 1};
        if (one.mip || one.layer)
            add_view(fuzz, image, FUZZ_ATTACHMENT, image->aspects, one);
    }
}

enum image_kind { COLOR_IMAGE, STORAGE_IMAGE, CUBE_IMAGE, DEPTH_IMAGE };

static void add_image(struct fuzz *fuzz, enum image_kind kind)
{
    struct fuzz_image *image = &fuzz->images[fuzz->image_count++];
    bool depth = kind == DEPTH_IMAGE, cube = kind == CUBE_IMAGE;
    *image = (struct fuzz_image){
        .format = depth ? VK_FORMAT_D32_SFLOAT_S8_UINT : RGBA,
        .aspects =
            depth ? VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_COLOR_BIT,
        .mips = 1 + fuzz_pick(fuzz, cube ? 2 : FUZZ_MIPS),
        .layers = cube ? 6 : 1 + fuzz_pick(fuzz, 3),
        .cube = cube,
        .storage = kind == STORAGE_IMAGE || (cube && fuzz_chance(fuzz, 30)),
    };
    struct kit_image_info info = {
        .format = image->format,
        .mips = image->mips,
        .layers = image->layers,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT |
                 (depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT) |
                 (image->storage ? VK_IMAGE_USAGE_STORAGE_BIT : 0u),
        .flags = cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0,
    };
    image->handle = kit_image(&fuzz->kit, &info);
    add_views(fuzz, image);
}

static void add_images(struct fuzz *fuzz)
{
    add_image(fuzz, DEPTH_IMAGE);
    add_image(fuzz, CUBE_IMAGE);
    for (uint32_t i = 1 + fuzz_pick(fuzz, 2); i > 0; i--)
        add_image(fuzz, STORAGE_IMAGE);
    for (uint32_t i = 3 + fuzz_pick(fuzz, 3); i > 0; i--)
        add_image(fuzz, COLOR_IMAGE);
}

static struct kit_range any_range(struct fuzz *fuzz, const struct fuzz_image *image)
{
    struct kit_range range = {.aspects = image->aspects};
    range.mip = fuzz_pick(fuzz, image->mips);
    range.mips = 1 + fuzz_pick(fuzz, image->mips - range.mip);
    range.layer = fuzz_pick(fuzz, image->layers);
    range.layers = 1 + fuzz_pick(fuzz, image->layers - range.layer);
    return range;
}

static struct kit_range any_part(struct fuzz *fuzz, const struct fuzz_image *image)
{
    return (struct kit_range){image->aspects, fuzz_pick(fuzz, image->mips), 1, fuzz_pick(fuzz, image->layers),
                              1};
}

/* --- Transfers --- */

static struct fuzz_access transfer(struct fuzz *fuzz, bool writes)
{
    VkImageLayout layout = writes ? DST : SRC;
    return (struct fuzz_access){fuzz_chance(fuzz, 20) ? GENERAL : layout, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                writes ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_TRANSFER_READ_BIT};
}

static void clear_range(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range)
{
    struct fuzz_access access = transfer(fuzz, true);
    VkImageSubresourceRange where = {range.aspects, range.mip, range.mips, range.layer, range.layers};
    uint32_t value = fuzz_pick(fuzz, 100);
    VkClearColorValue color = {.float32 = {(float)(value % 5) / 4, (float)(value % 3) / 2, 0.5f, 1}};
    VkClearDepthStencilValue depth = {(float)(value % 5) / 4, value};
    fuzz_need(fuzz, image, range, &access, fuzz_chance(fuzz, 20) ? FUZZ_DISCARD : 0);
    fuzz_flush(fuzz);
    if (fuzz_is_color(image))
        vkCmdClearColorImage(fuzz->commands, image->handle, access.layout, &color, 1, &where);
    else
        vkCmdClearDepthStencilImage(fuzz->commands, image->handle, access.layout, &depth, 1, &where);
}

static void do_clear(struct fuzz *fuzz)
{
    struct fuzz_image *image = fuzz_any_image(fuzz);
    clear_range(fuzz, image, any_range(fuzz, image));
}

static void do_upload(struct fuzz *fuzz)
{
    struct fuzz_image *image = fuzz_any_image(fuzz);
    if (!fuzz_is_color(image))
        return;
    struct kit_range range = any_part(fuzz, image);
    struct fuzz_access access = transfer(fuzz, true);
    uint32_t side = KIT_SIDE >> range.mip;
    VkBufferImageCopy region = {
        .bufferOffset = fuzz_pick(fuzz, 16) * 4,
        .imageSubresource = {range.aspects, range.mip, range.layer, 1},
        .imageExtent = {side, side, 1},
    };
    fuzz_need(fuzz, image, range, &access, fuzz_chance(fuzz, 20) ? FUZZ_DISCARD : 0);
    fuzz_flush(fuzz);
    vkCmdCopyBufferToImage(fuzz->commands, fuzz->upload, image->handle, access.layout, 1, &region);
}

static void do_blit(struct fuzz *fuzz)
{
    struct fuzz_image *from = fuzz_any_image(fuzz), *to = fuzz_any_image(fuzz);
    if (!fuzz_is_color(from) || !fuzz_is_color(to))
        return;
    struct kit_range first = any_part(fuzz, from), second = any_part(fuzz, to);
    struct fuzz_access read = transfer(fuzz, false), write = transfer(fuzz, true);
    if (!fuzz_part(from, first.mip, first.layer)->defined ||
        (from == to && first.mip == second.mip && first.layer == second.layer))
        return;
    fuzz_need(fuzz, from, first, &read, 0);
    fuzz_need(fuzz, to, second, &write, 0);
    fuzz_flush(fuzz);
    int32_t side = KIT_SIDE >> first.mip, to_side = KIT_SIDE >> second.mip;
    VkImageSubresourceLayers source = {first.aspects, first.mip, first.layer, 1};
    VkImageSubresourceLayers destination = {second.aspects, second.mip, second.layer, 1};
    if (side == to_side && fuzz_chance(fuzz, 50)) {
        VkImageCopy region = {source, {0, 0, 0}, destination, {0, 0, 0}, {(uint32_t)side, (uint32_t)side, 1}};
        vkCmdCopyImage(fuzz->commands, from->handle, read.layout, to->handle, write.layout, 1, &region);
    } else {
        VkImageBlit region = {
            source, {{0, 0, 0}, {side, side, 1}}, destination, {{0, 0, 0}, {to_side, to_side, 1}}};
        vkCmdBlitImage(fuzz->commands, from->handle, read.layout, to->handle, write.layout, 1, &region,
                       VK_FILTER_NEAREST);
    }
}

/* Transitions that nothing needs. */
static void do_wander(struct fuzz *fuzz)
{
    static const VkImageLayout layouts[] = {SRC, DST, READ, GENERAL};
    struct fuzz_image *image = fuzz_any_image(fuzz);
    const struct fuzz_access access = {layouts[fuzz_pick(fuzz, 4)], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                       VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    fuzz_prepare(fuzz, image, any_range(fuzz, image), &access, 0);
    if (fuzz_chance(fuzz, 70))
        fuzz_flush(fuzz);
}

/* --- Dispatches --- */

static void do_dispatch(struct fuzz *fuzz)
{
    struct fuzz_plan plan = {0};
    const struct fuzz_pipeline_key key = {.compute = true, .second_kind = FUZZ_OTHER};
    if (!fuzz_plan_draw(fuzz, &plan, key))
        return;
    fuzz_plan_settle(fuzz, &plan);
    if (fuzz_shader(&plan.draws[0].key)->stores == 2)
        fuzz_full_barrier(fuzz);
    fuzz_bind(fuzz, &plan.draws[0], VK_NULL_HANDLE);
    if (fuzz_chance(fuzz, 30))
        vkCmdDispatchIndirect(fuzz->commands, fuzz->arguments, 16);
    else
        vkCmdDispatch(fuzz->commands, KIT_SIDE / 8, KIT_SIDE / 8, 1);
}

/* --- Command buffers --- */

static void record_some(struct fuzz *fuzz, uint32_t count, bool primary)
{
    while (count-- > 0) {
        switch (fuzz_pick(fuzz, 12)) {
        case 0:
            do_clear(fuzz);
            break;
        case 1:
            do_upload(fuzz);
            break;
        case 2:
            do_blit(fuzz);
            break;
        case 3:
            do_wander(fuzz);
            break;
        case 4:
        case 5:
        case 6:
            do_dispatch(fuzz);
            break;
        default:
            fuzz_instance(fuzz, primary);
            break;
        }
    }
    fuzz_flush(fuzz);
}

static void forget_bound(struct fuzz *fuzz)
{
    memset(fuzz->bound, 0, sizeof(fuzz->bound));
}

VkCommandBuffer fuzz_begin_secondary(struct fuzz *fuzz, const VkCommandBufferInheritanceInfo *inheritance,
                                     VkCommandBufferUsageFlags flags)
{
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = fuzz->kit.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
        .commandBufferCount = 1,
    };
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = flags | (fuzz->resubmitted ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0u),
        .pInheritanceInfo = inheritance,
    };
    VkCommandBuffer commands;
    kit_check(vkAllocateCommandBuffers(fuzz->kit.device, &allocation, &commands), "vkAllocateCommandBuffers");
    kit_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    forget_bound(fuzz);
    return commands;
}

static void record_secondary(struct fuzz *fuzz)
{
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBuffer primary = fuzz->commands, secondary = fuzz_begin_secondary(fuzz, &inheritance, 0);
    struct fuzz_image before[FUZZ_IMAGES];
    memcpy(before, fuzz->images, sizeof(before));
    fuzz_enter_secondary(fuzz);
    fuzz->commands = secondary;
    record_some(fuzz, 1 + fuzz_pick(fuzz, 3), false);
    kit_end(secondary);
    fuzz->commands = primary;
    vkCmdExecuteCommands(primary, 1, &secondary);
    fuzz_leave_secondary(fuzz, before);
    forget_bound(fuzz);
}

/* Back to the layouts of the entry, so that the command buffer can run once more. */
static void close_circle(struct fuzz *fuzz, const struct fuzz_image *before)
{
    for (uint32_t i = 0; i < fuzz->image_count; i++) {
        struct fuzz_image *image = &fuzz->images[i];
        for (uint32_t mip = 0; mip < image->mips; mip++)
            for (uint32_t layer = 0; layer < image->layers; layer++) {
                const struct fuzz_part *was = &before[i].parts[mip][layer];
                const struct fuzz_access access = {was->layout, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                                   VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
                if (was->layout != UNDEFINED && fuzz_part(image, mip, layer)->layout != was->layout)
                    fuzz_prepare(fuzz, image, (struct kit_range){image->aspects, mip, 1, layer, 1}, &access,
                                 was->sure ? FUZZ_KEEP : 0);
            }
    }
    fuzz_flush(fuzz);
}

/* Makes some views ready that the next command buffer reads through UPDATE_AFTER_BIND descriptors. */
static void lock_some(struct fuzz *fuzz)
{
    for (uint32_t tries = 4; tries > 0 && fuzz->locked_count < 2; tries--) {
        struct fuzz_view *view = &fuzz->views[fuzz_pick(fuzz, fuzz->view_count)];
        VkImageLayout layout = fuzz_chance(fuzz, 70) ? READ : GENERAL;
        const struct fuzz_access access = {layout, READ_STAGES, VK_ACCESS_SHADER_READ_BIT};
        if (view->image->locked || !fuzz_is_color(view->image) ||
            (view->shape != FUZZ_FLAT && view->shape != FUZZ_ATTACHMENT) ||
            !view->image->parts[view->range.mip][view->range.layer].defined)
            continue;
        fuzz_prepare(fuzz, view->image, view->range, &access, 0);
        view->image->locked = true;
        fuzz->locked[fuzz->locked_count] = view;
        fuzz->locked_layouts[fuzz->locked_count++] = layout;
    }
    fuzz_flush(fuzz);
}

static void unlock_all(struct fuzz *fuzz)
{
    for (uint32_t i = 0; i < fuzz->locked_count; i++) {
        const struct fuzz_view *view = fuzz->locked[i];
        view->image->locked = false;
        for (uint32_t mip = 0; mip < view->range.mips; mip++)
            for (uint32_t layer = 0; layer < view->range.layers; layer++) {
                struct fuzz_part *part =
                    fuzz_part(view->image, view->range.mip + mip, view->range.layer + layer);
                part->read = true;
                part->hidden |= !part->known;
            }
    }
    fuzz->locked_count = 0;
}

static void record_command_buffer(struct fuzz *fuzz)
{
    struct fuzz_image before[FUZZ_IMAGES];
    memcpy(before, fuzz->images, sizeof(before));
    fuzz->resubmitted = fuzz_chance(fuzz, 20);
    fuzz->commands = kit_begin_on(&fuzz->kit, fuzz->kit.pool,
                                  fuzz->resubmitted ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0);
    forget_bound(fuzz);
    fuzz_forget_uses(fuzz);
    if (fuzz->resubmitted)
        fuzz_full_barrier(fuzz);
    for (uint32_t parts = 1 + fuzz_pick(fuzz, 3); parts > 0; parts--) {
        if (fuzz_chance(fuzz, 20))
            record_secondary(fuzz);
        else
            record_some(fuzz, 1 + fuzz_pick(fuzz, 5), true);
    }
    unlock_all(fuzz);
    if (fuzz->resubmitted)
        close_circle(fuzz, before);
    else if (fuzz_chance(fuzz, 40))
        lock_some(fuzz);
    kit_end(fuzz->commands);
}

/* --- Submits --- */

struct pending {
    VkCommandBuffer commands[2 * MAX_PENDING];
    uint32_t count;
};

static void submit(struct fuzz *fuzz, struct pending *pending)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = pending->count,
        .pCommandBuffers = pending->commands,
    };
    fuzz_sets_finish(fuzz);
    if (pending->count)
        kit_check(vkQueueSubmit(fuzz->kit.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    pending->count = 0;
}

static void add_pending(struct fuzz *fuzz, struct pending *pending)
{
    pending->commands[pending->count++] = fuzz->commands;
    if (fuzz->resubmitted && fuzz_chance(fuzz, 50)) {
        pending->commands[pending->count++] = fuzz->commands;
    } else if (fuzz->resubmitted) {
        submit(fuzz, pending);
        pending->commands[pending->count++] = fuzz->commands;
    }
    if (pending->count >= MAX_PENDING || fuzz_chance(fuzz, 50))
        submit(fuzz, pending);
}

/* --- All of it --- */

/* Most of each image; what views cover and nobody reads may stay as it is. */
static void write_images(struct fuzz *fuzz)
{
    for (uint32_t i = 0; i < fuzz->image_count; i++) {
        struct fuzz_image *image = &fuzz->images[i];
        for (uint32_t mip = 0; mip < image->mips; mip++)
            for (uint32_t layer = 0; layer < image->layers; layer++)
                if (fuzz_chance(fuzz, mip || layer ? 60 : 100))
                    clear_range(fuzz, image, (struct kit_range){image->aspects, mip, 1, layer, 1});
    }
}

static void read_image(struct fuzz *fuzz, struct fuzz_image *image, VkBuffer buffer, VkDeviceSize *offset)
{
    const struct fuzz_access access = {SRC, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};
    VkBufferImageCopy regions[FUZZ_MIPS * FUZZ_LAYERS];
    uint32_t count = 0;
    for (uint32_t mip = 0; mip < image->mips; mip++)
        for (uint32_t layer = 0; layer < image->layers; layer++) {
            uint32_t side = KIT_SIDE >> mip;
            if (!fuzz_part(image, mip, layer)->defined)
                continue;
            fuzz_need(fuzz, image, (struct kit_range){image->aspects, mip, 1, layer, 1}, &access, 0);
            regions[count++] = (VkBufferImageCopy){
                .bufferOffset = *offset,
                .imageSubresource = {fuzz_is_color(image) ? VK_IMAGE_ASPECT_COLOR_BIT
                                                          : VK_IMAGE_ASPECT_DEPTH_BIT,
                                     mip, layer, 1},
                .imageExtent = {side, side, 1},
            };
            *offset += (VkDeviceSize)side * side * 4;
        }
    fuzz_flush(fuzz);
    if (count)
        vkCmdCopyImageToBuffer(fuzz->commands, image->handle, SRC, buffer, count, regions);
}

static void read_all(struct fuzz *fuzz)
{
    const VkDeviceSize size = (VkDeviceSize)FUZZ_IMAGES * FUZZ_MIPS * FUZZ_LAYERS * KIT_SIDE * KIT_SIDE * 4;
    VkBuffer pixels = kit_buffer(&fuzz->kit, size);
    VkDeviceSize offset = 0;
    VkMemoryBarrier host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    fuzz->commands = kit_begin(&fuzz->kit);
    fuzz_forget_uses(fuzz);
    for (uint32_t i = 0; i < fuzz->image_count; i++)
        read_image(fuzz, &fuzz->images[i], pixels, &offset);
    vkCmdPipelineBarrier(fuzz->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &host, 0, NULL, 0, NULL);
    kit_run_for(&fuzz->kit, fuzz->commands, pixels);
    kit_hash(&fuzz->kit, fuzz->texels);
}

/* Draws' and dispatches' counts, and three indices. */
static void fill_arguments(struct fuzz *fuzz)
{
    static const uint32_t words[] = {3, 1, 0, 0, KIT_SIDE / 8, KIT_SIDE / 8, 1, 0, 0, 1, 2, 0};
    fuzz->arguments = kit_buffer_for(&fuzz->kit, sizeof(words),
                                     VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
    memcpy(kit_buffer_data(&fuzz->kit, fuzz->arguments), words, sizeof(words));
}

static void create_queries(struct fuzz *fuzz)
{
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_OCCLUSION,
        .queryCount = KIT_MAX,
    };
    kit_check(vkCreateQueryPool(fuzz->kit.device, &info, NULL, &fuzz->queries), "vkCreateQueryPool");
}

static void record_program(struct fuzz *fuzz)
{
    struct pending pending = {.count = 0};
    fuzz->commands = kit_begin(&fuzz->kit);
    write_images(fuzz);
    kit_end(fuzz->commands);
    add_pending(fuzz, &pending);
    for (uint32_t i = 2 + fuzz_pick(fuzz, 4); i > 0; i--) {
        record_command_buffer(fuzz);
        add_pending(fuzz, &pending);
        if (!pending.count && fuzz_chance(fuzz, 30)) {
            kit_wait(&fuzz->kit);
            fuzz_sets_change(fuzz);
        }
    }
    submit(fuzz, &pending);
    fuzz->resubmitted = false;
    unlock_all(fuzz);
}

static void run(const struct fuzz_options *options, uint64_t seed)
{
    static struct fuzz fuzz;
    struct kit_options kit_options = {
        .correct = true,
        .sync2 = options->sync2,
        .extras = KIT_PUSH_DESCRIPTORS | KIT_UPDATE_AFTER_BIND | KIT_DEBUG_LABELS | KIT_PARTIALLY_BOUND |
                  KIT_DYNAMIC_INDEXING | KIT_FRAGMENT_STORES,
    };
    memset(&fuzz, 0, sizeof(fuzz));
    fuzz.options = *options;
    fuzz.random = seed * 0xd1342543de82ef95u;
    fuzz.damage = seed;
    kit_init(&fuzz.kit, &kit_options);
    fuzz.texels = kit_buffer_for(&fuzz.kit, KIT_SIDE * KIT_SIDE * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    fuzz.upload = kit_buffer(&fuzz.kit, KIT_SIDE * KIT_SIDE * 4 + 64);
    fill_arguments(&fuzz);
    create_queries(&fuzz);
    add_images(&fuzz);
    fuzz_shaders_create(&fuzz);
    record_program(&fuzz);
    read_all(&fuzz);
    printf("seed=%llu hash=%016llx\n", (unsigned long long)seed, (unsigned long long)fuzz.kit.hash);
    fflush(stdout);
    fuzz_shaders_destroy(&fuzz);
    vkDestroyQueryPool(fuzz.kit.device, fuzz.queries, NULL);
    kit_finish(&fuzz.kit);
}

int main(int count, char **arguments)
{
    struct fuzz_options options = {0};
    unsigned long long seed = 1, programs = 100;
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--sync2") == 0) {
            options.sync2 = true;
        } else if (strcmp(arguments[i], "--strict") == 0) {
            options.strict = true;
        } else if (strcmp(arguments[i], "--lavapipe") == 0) {
            options.lavapipe = true;
        } else if (strcmp(arguments[i], "--seed") == 0) {
            seed = strtoull(value, NULL, 10);
            i++;
        } else if (strcmp(arguments[i], "--programs") == 0) {
            programs = strtoull(value, NULL, 10);
            i++;
        } else if (strcmp(arguments[i], "--strip") == 0) {
            options.strip = (uint32_t)strtoul(value, NULL, 10);
            i++;
        } else if (strcmp(arguments[i], "--spoil") == 0) {
            options.spoil = (uint32_t)strtoul(value, NULL, 10);
            i++;
        } else {
            fprintf(stderr,
                    "usage: shader_fuzz [--seed S] [--programs N] [--strip PERCENT] [--spoil PERCENT] "
                    "[--sync2] [--strict] [--lavapipe]\n");
            return 2;
        }
    }
    for (unsigned long long i = 0; i < programs; i++)
        run(&options, seed + i);
    return 0;
}
