/* Random programs that are valid, or that lack barriers; each has images and a device of its own.
 *
 *     barrier_fuzz [--seed S] [--count N] [--strip P] [--spoil P]
 *
 * Program i is made of seed S + i alone. A tracker of layouts adds the barriers that make it valid; --strip
 * leaves out each of them with P percent probability, --spoil makes oldLayout another layout (never
 * UNDEFINED). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

#define MAX_IMAGES 4
#define MAX_MIPS 3
#define MAX_LAYERS 3

struct image {
    VkImage image;
    uint32_t mips, layers, depth;
    VkFormat format;
    VkImageAspectFlags aspects;
    bool swapchain;
    VkImageLayout layout[MAX_MIPS][MAX_LAYERS];
};

struct program {
    struct kit kit;
    uint64_t random;
    uint32_t strip, spoil;
    struct image images[MAX_IMAGES];
    uint32_t image_count;
    VkBuffer buffer;
    VkCommandBuffer commands;
    bool resubmitted, secondary; /* what is being recorded */
    VkEvent events[KIT_MAX];
    uint32_t event_count;
};

static struct program program;

static uint32_t pick(uint32_t count)
{
    uint64_t value = program.random += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((value ^ (value >> 31)) >> 16) % count;
}

static bool chance(uint32_t percent)
{
    return pick(100) < percent;
}

static bool is_color(const struct image *image)
{
    return image->aspects == VK_IMAGE_ASPECT_COLOR_BIT;
}

static VkImageLayout attachment_layout(const struct image *image)
{
    return is_color(image) ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
                           : VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
}

static VkImageLayout any_layout(const struct image *image)
{
    const VkImageLayout layouts[] = {
        VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        VK_IMAGE_LAYOUT_GENERAL,
        attachment_layout(image),
        image->swapchain ? VK_IMAGE_LAYOUT_PRESENT_SRC_KHR : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    };
    return layouts[pick(5)];
}

static VkImageLayout transfer_layout(VkImageLayout optimal)
{
    return chance(30) ? VK_IMAGE_LAYOUT_GENERAL : optimal;
}

static struct kit_range any_range(const struct image *image)
{
    struct kit_range range = {.aspects = image->aspects};
    range.mip = pick(image->mips);
    range.mips = 1 + pick(image->mips - range.mip);
    range.layer = pick(image->layers);
    range.layers = 1 + pick(image->layers - range.layer);
    return range;
}

static struct kit_range one_of(const struct image *image, uint32_t mip, uint32_t layer)
{
    return (struct kit_range){image->aspects, mip, 1, layer, 1};
}

static bool is_uniform(const struct image *image, struct kit_range range)
{
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            if (image->layout[mip][layer] != image->layout[range.mip][range.layer])
                return false;
    return true;
}

static void set_layout(struct image *image, struct kit_range range, VkImageLayout layout)
{
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            image->layout[mip][layer] = layout;
}

/* The same transition, with all stages, in a wait for an event that was just set. */
static void event_transition(struct image *image, struct kit_range range, VkImageLayout from,
                             VkImageLayout to)
{
    const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event;
    kit_check(vkCreateEvent(program.kit.device, &info, NULL, &event), "vkCreateEvent");
    program.events[program.event_count++] = event;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = all,
        .dstAccessMask = all,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->image,
        .subresourceRange = {range.aspects, range.mip, range.mips, range.layer, range.layers},
    };
    vkCmdSetEvent(program.commands, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    vkCmdWaitEvents(program.commands, 1, &event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 1, &barrier);
}

static void transition(struct image *image, struct kit_range range, VkImageLayout from, VkImageLayout to)
{
    if (chance(program.strip))
        return;
    if (chance(program.spoil))
        from = any_layout(image);
    if (!program.resubmitted && program.event_count < KIT_MAX && chance(10))
        event_transition(image, range, from, to);
    else
        kit_transition(&program.kit, program.commands, image->image, range, from, to);
}

/* Brings a range into a layout: in one barrier where it can be, or in one for each subresource. */
static void bring(struct image *image, struct kit_range range, VkImageLayout to)
{
    bool discard = chance(10);
    if (is_uniform(image, range) || discard) {
        transition(image, range, discard ? VK_IMAGE_LAYOUT_UNDEFINED : image->layout[range.mip][range.layer],
                   to);
    } else {
        for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
            for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
                if (image->layout[mip][layer] != to || chance(50))
                    transition(image, one_of(image, mip, layer), image->layout[mip][layer], to);
    }
    set_layout(image, range, to);
}

static struct image *any_image(void)
{
    return &program.images[pick(program.image_count)];
}

static void do_clear(struct image *image)
{
    struct kit_range range = any_range(image);
    VkImageLayout layout = transfer_layout(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    bring(image, range, layout);
    VkImageSubresourceRange where = {range.aspects, range.mip, range.mips, range.layer, range.layers};
    VkClearColorValue color = {.float32 = {0.5f, 0.25f, 1, 1}};
    VkClearDepthStencilValue depth = {0.5f, 7};
    if (is_color(image))
        vkCmdClearColorImage(program.commands, image->image, layout, &color, 1, &where);
    else
        vkCmdClearDepthStencilImage(program.commands, image->image, layout, &depth, 1, &where);
}

static void do_buffer_copy(struct image *image)
{
    uint32_t mip = pick(image->mips), layer = pick(image->layers), side = KIT_SIDE >> mip;
    uint32_t depth = image->depth >> mip;
    VkBufferImageCopy region = {
        .imageSubresource = {is_color(image) ? VK_IMAGE_ASPECT_COLOR_BIT : VK_IMAGE_ASPECT_DEPTH_BIT, mip,
                             layer, 1},
        .imageExtent = {side, side, depth ? depth : 1},
    };
    bool in = chance(50);
    VkImageLayout layout =
        transfer_layout(in ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    bring(image, one_of(image, mip, layer), layout);
    kit_memory_barrier(&program.kit, program.commands);
    if (in)
        vkCmdCopyBufferToImage(program.commands, program.buffer, image->image, layout, 1, &region);
    else
        vkCmdCopyImageToBuffer(program.commands, image->image, layout, program.buffer, 1, &region);
}

/* Between two images, or between two subresources of one; copies where the sizes are the same. */
static void do_image_copy(struct image *from)
{
    struct image *to = any_image();
    if (!is_color(from) || !is_color(to) || from->depth > 1 || to->depth > 1 || from->format != to->format)
        return;
    uint32_t from_mip = pick(from->mips), from_layer = pick(from->layers);
    uint32_t to_mip = pick(to->mips), to_layer = pick(to->layers);
    if (from == to && from_mip == to_mip && from_layer == to_layer)
        return;
    VkImageLayout source = transfer_layout(VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkImageLayout destination = transfer_layout(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    bring(from, one_of(from, from_mip, from_layer), source);
    bring(to, one_of(to, to_mip, to_layer), destination);
    int32_t side = KIT_SIDE >> from_mip, to_side = KIT_SIDE >> to_mip;
    VkImageSubresourceLayers first = {VK_IMAGE_ASPECT_COLOR_BIT, from_mip, from_layer, 1};
    VkImageSubresourceLayers second = {VK_IMAGE_ASPECT_COLOR_BIT, to_mip, to_layer, 1};
    if (from_mip == to_mip && chance(50)) {
        VkImageCopy region = {first, {0, 0, 0}, second, {0, 0, 0}, {(uint32_t)side, (uint32_t)side, 1}};
        vkCmdCopyImage(program.commands, from->image, source, to->image, destination, 1, &region);
    } else {
        VkImageBlit region = {
            first, {{0, 0, 0}, {side, side, 1}}, second, {{0, 0, 0}, {to_side, to_side, 1}}};
        vkCmdBlitImage(program.commands, from->image, source, to->image, destination, 1, &region,
                       VK_FILTER_NEAREST);
    }
}

static bool has_room(void)
{
    const struct kit *kit = &program.kit;
    return kit->view_count < KIT_MAX && kit->pass_count < KIT_MAX && kit->framebuffer_count < KIT_MAX;
}

static void do_pass(struct image *image)
{
    if (image->depth > 1 || !has_room())
        return;
    struct kit_range range = one_of(image, 0, 0);
    VkImageView view = kit_view(&program.kit, image->image, image->format, image->aspects);
    VkImageLayout during = chance(25) ? VK_IMAGE_LAYOUT_GENERAL : attachment_layout(image);
    VkAttachmentLoadOp load = chance(50) ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_CLEAR;
    if (is_color(image) && chance(40)) {
        bring(image, range, during);
        kit_render(&program.kit, program.commands, view, during, load, 0);
        return;
    }
    if (program.secondary)
        return; /* render passes begin in primary command buffers */
    VkImageLayout initial = any_layout(image), final = any_layout(image);
    if (load == VK_ATTACHMENT_LOAD_OP_CLEAR && chance(30))
        initial = VK_IMAGE_LAYOUT_UNDEFINED;
    else
        bring(image, range, initial);
    kit_run_pass(&program.kit, program.commands,
                 kit_pass(&program.kit, image->format, load, initial, during, final), view);
    set_layout(image, range, final);
}

static void do_barriers(struct image *image)
{
    for (uint32_t i = 1 + pick(3); i > 0; i--)
        bring(image, any_range(image), any_layout(image));
}

static void record_some(uint32_t count)
{
    static void (*const kinds[])(struct image *) = {do_clear, do_buffer_copy, do_image_copy, do_pass,
                                                    do_barriers};
    while (count-- > 0)
        kinds[pick(5)](any_image());
}

static VkCommandBuffer begin_secondary(VkCommandBufferUsageFlags flags)
{
    VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = program.kit.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
        .commandBufferCount = 1,
    };
    VkCommandBufferInheritanceInfo inheritance = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = flags,
        .pInheritanceInfo = &inheritance,
    };
    VkCommandBuffer commands;
    kit_check(vkAllocateCommandBuffers(program.kit.device, &allocation, &commands),
              "vkAllocateCommandBuffers");
    kit_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

static void record_secondary(VkCommandBufferUsageFlags flags)
{
    VkCommandBuffer primary = program.commands, secondary = begin_secondary(flags);
    program.commands = secondary;
    program.secondary = true;
    record_some(1 + pick(4));
    program.secondary = false;
    kit_end(secondary);
    program.commands = primary;
    vkCmdExecuteCommands(primary, 1, &secondary);
}

/* Back to the layouts of the entry, so that the command buffer can run once more. What was UNDEFINED then was
 * discarded, and may be anything. */
static void close_circle(const struct image *before)
{
    for (uint32_t i = 0; i < program.image_count; i++) {
        struct image *image = &program.images[i];
        for (uint32_t mip = 0; mip < image->mips; mip++)
            for (uint32_t layer = 0; layer < image->layers; layer++) {
                VkImageLayout was = before[i].layout[mip][layer], is = image->layout[mip][layer];
                if (was != is && was != VK_IMAGE_LAYOUT_UNDEFINED)
                    transition(image, one_of(image, mip, layer), is, was);
                if (was != VK_IMAGE_LAYOUT_UNDEFINED)
                    image->layout[mip][layer] = was;
            }
    }
}

static void submit(VkCommandBuffer commands, uint32_t times, VkSemaphore wait)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkCommandBuffer both[2] = {commands, commands};
    bool together = times == 2 && chance(50);
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = wait ? 1 : 0,
        .pWaitSemaphores = &wait,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = together ? 2 : 1,
        .pCommandBuffers = both,
    };
    kit_check(vkQueueSubmit(program.kit.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    if (times == 2 && !together)
        kit_submit(&program.kit, commands);
}

static void run_command_buffer(VkSemaphore wait)
{
    struct image before[MAX_IMAGES];
    memcpy(before, program.images, sizeof(before));
    program.resubmitted = chance(25);
    VkCommandBufferUsageFlags flags = program.resubmitted ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0;
    program.commands = kit_begin_on(&program.kit, program.kit.pool, flags);
    for (uint32_t parts = 1 + pick(3); parts > 0; parts--) {
        if (chance(25))
            record_secondary(flags);
        else
            record_some(1 + pick(5));
    }
    if (program.resubmitted)
        close_circle(before);
    kit_end(program.commands);
    submit(program.commands, program.resubmitted ? 2 : 1, wait);
}

static void make_image(void)
{
    struct image *image = &program.images[program.image_count++];
    bool depth_stencil = chance(25), volume = !depth_stencil && chance(15);
    *image = (struct image){
        .mips = 1 + pick(MAX_MIPS),
        .layers = volume ? 1 : 1 + pick(MAX_LAYERS),
        .depth = volume ? 4 : 1,
        .format = depth_stencil ? VK_FORMAT_D32_SFLOAT_S8_UINT : VK_FORMAT_R8G8B8A8_UNORM,
        .aspects = depth_stencil ? VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT
                                 : VK_IMAGE_ASPECT_COLOR_BIT,
    };
    struct kit_image_info info = {
        .format = image->format,
        .mips = image->mips,
        .layers = image->layers,
        .depth = image->depth,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT |
                 (depth_stencil ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT),
    };
    image->image = kit_image(&program.kit, &info);
}

static VkFormat swapchain_format(void)
{
    VkSurfaceFormatKHR format;
    uint32_t one = 1;
    VkResult result =
        vkGetPhysicalDeviceSurfaceFormatsKHR(program.kit.physical, program.kit.surface, &one, &format);
    kit_check(result >= 0 ? VK_SUCCESS : result, "vkGetPhysicalDeviceSurfaceFormatsKHR");
    return format.format;
}

static uint32_t acquire(VkSemaphore ready)
{
    uint32_t index;
    kit_check(vkAcquireNextImageKHR(program.kit.device, program.kit.swapchain, UINT64_MAX, ready,
                                    VK_NULL_HANDLE, &index),
              "vkAcquireNextImageKHR");
    program.images[program.image_count++] = (struct image){
        .image = program.kit.swapchain_images[index],
        .mips = 1,
        .layers = 1,
        .depth = 1,
        .format = swapchain_format(),
        .aspects = VK_IMAGE_ASPECT_COLOR_BIT,
        .swapchain = true,
    };
    return index;
}

static void present(uint32_t index)
{
    struct image *image = &program.images[program.image_count - 1];
    VkSemaphore done = kit_semaphore(&program.kit);
    program.commands = kit_begin(&program.kit);
    bring(image, one_of(image, 0, 0), VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    kit_end(program.commands);
    kit_submit_on(program.kit.queue, program.commands, VK_NULL_HANDLE, 0, done);
    VkPresentInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &done,
        .swapchainCount = 1,
        .pSwapchains = &program.kit.swapchain,
        .pImageIndices = &index,
    };
    kit_check(vkQueuePresentKHR(program.kit.queue, &info), "vkQueuePresentKHR");
}

static void run(uint64_t seed, uint32_t strip, uint32_t spoil)
{
    memset(&program, 0, sizeof(program));
    program.random = seed * 0xd1342543de82ef95u;
    program.strip = strip;
    program.spoil = spoil;
    struct kit_options options = {.correct = true, .sync2 = chance(50), .swapchain = chance(30)};
    kit_init(&program.kit, &options);
    program.buffer = kit_buffer(&program.kit, (VkDeviceSize)KIT_SIDE * KIT_SIDE * 4 * 4);
    for (uint32_t i = 1 + pick(MAX_IMAGES - 1); i > 0; i--)
        make_image();
    VkSemaphore ready = options.swapchain ? kit_semaphore(&program.kit) : VK_NULL_HANDLE;
    uint32_t index = options.swapchain ? acquire(ready) : 0;
    for (uint32_t i = 1 + pick(4); i > 0; i--) {
        run_command_buffer(ready);
        ready = VK_NULL_HANDLE;
    }
    if (options.swapchain)
        present(index);
    kit_wait(&program.kit);
    for (uint32_t i = 0; i < program.event_count; i++)
        vkDestroyEvent(program.kit.device, program.events[i], NULL);
    kit_finish(&program.kit);
}

int main(int count, char **arguments)
{
    unsigned long long seed = 1, programs = 100, strip = 0, spoil = 0;
    for (int i = 1; i < count; i += 2) {
        unsigned long long value = i + 1 < count ? strtoull(arguments[i + 1], NULL, 10) : 0;
        if (strcmp(arguments[i], "--seed") == 0)
            seed = value;
        else if (strcmp(arguments[i], "--count") == 0)
            programs = value;
        else if (strcmp(arguments[i], "--strip") == 0)
            strip = value;
        else if (strcmp(arguments[i], "--spoil") == 0)
            spoil = value;
        else
            return fprintf(stderr, "usage: barrier_fuzz [--seed S] [--count N] [--strip P] [--spoil P]\n"), 2;
    }
    for (unsigned long long i = 0; i < programs; i++)
        run(seed + i, (uint32_t)strip, (uint32_t)spoil);
    return 0;
}
