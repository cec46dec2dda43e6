/* barrier_cases NAME [--faulty] [--sync2] [--separate] [--rendering]
 * barrier_cases --list
 *
 * The cases of layouts and barriers (L02 ...), as an application would have them: by default with every
 * barrier that is needed, with --faulty as in the bug report. Prints a hash of what was computed, which is
 * the same for both wherever a driver doesn't care for layouts, or somebody repairs them. --rendering: with
 * dynamic rendering instead of render passes. Ends with 77 where the device lacks what the case needs. */
#include "barrier_cases.h"

#include <stdio.h>
#include <string.h>

#define SKIPPED 77

/* Rendered in one submit, read in the next. */
static void next_submit(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    VkCommandBuffer first = kit_begin(kit), second = kit_begin(kit);
    kit_transition(kit, first, image, KIT_COLOR, UNDEFINED, COLOR);
    kit_render(kit, first, view, COLOR, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
    kit_end(first);
    kit_submit(kit, first);
    kit_needed(kit, second, image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, second, image, 0, 0);
}

/* The same inside one command buffer, and in one submit of two. */
static void same_buffer(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, COLOR);
    kit_render(kit, commands, view, COLOR, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
    kit_needed(kit, commands, image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, image, 0, 0);
}

static void two_buffers_one_submit(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL), other = kit_image(kit, NULL);
    VkCommandBuffer commands[2] = {kit_begin(kit), kit_begin(kit)};
    kit_needed(kit, commands[0], image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands[0], image, KIT_COLOR, 3);
    kit_end(commands[0]);
    kit_needed(kit, commands[1], image, KIT_COLOR, DST, SRC);
    kit_needed(kit, commands[1], other, KIT_COLOR, UNDEFINED, DST);
    kit_blit(kit, commands[1], image, 0, 0, other, 0, 0);
    kit_needed(kit, commands[1], other, KIT_COLOR, DST, SRC);
    VkBuffer result = kit_read(kit, commands[1], other, 0, 0);
    kit_end(commands[1]);
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 2,
        .pCommandBuffers = commands,
    };
    kit_check(vkQueueSubmit(kit->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    kit_wait(kit);
    kit_hash(kit, result);
}

/* Mips left in [READ, READ, SRC, READ], then all are read by blits in SRC. */
static void mixed_mips(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 4}), out = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_ALL, 4);
    kit_transition(kit, commands, image, mip_range(0, 2), DST, READ);
    kit_transition(kit, commands, image, mip_range(2, 1), DST, SRC);
    kit_transition(kit, commands, image, mip_range(3, 1), DST, READ);
    kit_end(commands);
    kit_submit(kit, commands);
    commands = kit_begin(kit);
    kit_transition(kit, commands, out, KIT_COLOR, UNDEFINED, DST);
    kit_needed(kit, commands, image, mip_range(0, 2), READ, SRC);
    kit_needed(kit, commands, image, mip_range(3, 1), READ, SRC);
    for (uint32_t mip = 0; mip < 4; mip++) {
        kit_blit(kit, commands, image, mip, 0, out, 0, 0);
        kit_memory_barrier(kit, commands);
    }
    kit_transition(kit, commands, out, KIT_COLOR, DST, SRC);
    kit_run(kit, commands, out, 0, 0);
}

/* A mip chain, blitted with the whole image in DST (L09). */
static void mip_chain(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 5});
    VkBuffer pattern = kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, DST);
    kit_upload(kit, commands, pattern, image, 0, 0);
    for (uint32_t mip = 0; mip < 4; mip++) {
        kit_needed(kit, commands, image, mip_range(mip, 1), DST, SRC);
        kit_blit(kit, commands, image, mip, 0, image, mip + 1, 0);
    }
    kit_needed(kit, commands, image, mip_range(4, 1), DST, SRC);
    kit_run(kit, commands, image, 4, 0);
}

/* Levels that were never transitioned (L10), read along with level 0. */
static void untouched_levels(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 5}), out = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, mip_range(0, 1), UNDEFINED, DST);
    kit_clear(kit, commands, image, mip_range(0, 1), 6);
    kit_transition(kit, commands, image, mip_range(0, 1), DST, SRC);
    kit_needed(kit, commands, image, mip_range(1, 4), UNDEFINED, SRC);
    kit_transition(kit, commands, out, KIT_COLOR, UNDEFINED, DST);
    kit_blit(kit, commands, image, 3, 0, out, 0, 0);
    kit_memory_barrier(kit, commands);
    kit_blit(kit, commands, image, 0, 0, out, 0, 0);
    kit_transition(kit, commands, out, KIT_COLOR, DST, SRC);
    kit_run(kit, commands, out, 0, 0);
}

/* Faces 1 to 5 of a cube UNDEFINED (L11). */
static void untouched_faces(struct kit *kit)
{
    VkImage image =
        kit_image(kit, &(struct kit_image_info){.layers = 6, .flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT});
    VkImage out = kit_image(kit, &(struct kit_image_info){.layers = 6});
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, layer_range(0, 1), UNDEFINED, DST);
    kit_clear(kit, commands, image, layer_range(0, 1), 5);
    kit_transition(kit, commands, image, layer_range(0, 1), DST, SRC);
    kit_needed(kit, commands, image, layer_range(1, 5), UNDEFINED, SRC);
    kit_transition(kit, commands, out, KIT_ALL, UNDEFINED, DST);
    VkImageCopy region = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 6},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 6},
        .extent = {KIT_SIDE, KIT_SIDE, 1},
    };
    vkCmdCopyImage(commands, image, SRC, out, DST, 1, &region);
    kit_transition(kit, commands, out, KIT_ALL, DST, SRC);
    kit_run(kit, commands, out, 0, 0);
}

/* The new layout is right, oldLayout isn't (L13): in the same command buffer, and against an earlier submit.
 */
static void wrong_old_layout(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 2);
    kit_transition(kit, commands, image, KIT_COLOR, kit->options.correct ? DST : READ, SRC);
    kit_run(kit, commands, image, 0, 0);
}

static void wrong_old_layout_next(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 2);
    kit_end(commands);
    kit_submit(kit, commands);
    commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, kit->options.correct ? DST : COLOR, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* One barrier over mips of which only some are in the layout that it names. */
static void partly_wrong_old_layout(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 4});
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_ALL, 1);
    kit_transition(kit, commands, image, mip_range(2, 1), DST, READ);
    kit_needed(kit, commands, image, mip_range(2, 1), READ, DST);
    kit_transition(kit, commands, image, KIT_ALL, DST, SRC);
    kit_run(kit, commands, image, 2, 0);
}

/* Where synchronization2 is enabled, old == new is no transition whatever the layout (L13): nothing to
 * repair. */
static void equal_layouts(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 2);
    VkImageLayout named = kit->options.sync2 ? READ : DST;
    kit_transition(kit, commands, image, KIT_COLOR, named, named);
    kit_transition(kit, commands, image, KIT_COLOR, DST, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* Transitioned to COLOR, rendered in GENERAL (L18). */
static void rendered_in_general(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, kit->options.correct ? GENERAL : COLOR);
    kit_render(kit, commands, view, GENERAL, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
    kit_transition(kit, commands, image, KIT_COLOR, GENERAL, SRC);
    kit_run(kit, commands, image, 0, 0);
}

static uint32_t acquire(struct kit *kit, VkSemaphore semaphore)
{
    uint32_t index = 0;
    kit_check(
        vkAcquireNextImageKHR(kit->device, kit->swapchain, UINT64_MAX, semaphore, VK_NULL_HANDLE, &index),
        "vkAcquireNextImageKHR");
    return index;
}

static void present(struct kit *kit, uint32_t index, VkSemaphore semaphore)
{
    VkPresentInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = semaphore ? 1 : 0,
        .pWaitSemaphores = &semaphore,
        .swapchainCount = 1,
        .pSwapchains = &kit->swapchain,
        .pImageIndices = &index,
    };
    kit_check(vkQueuePresentKHR(kit->queue, &info), "vkQueuePresentKHR");
}

/* Frames that end in DST, and a first one that is never drawn to (L19). */
static void present_in_wrong_layout(struct kit *kit)
{
    VkSemaphore acquired = kit_semaphore(kit), drawn = kit_semaphore(kit);
    for (uint32_t frame = 0; frame < 6; frame++) {
        uint32_t index = acquire(kit, acquired);
        VkImage image = kit->swapchain_images[index];
        VkCommandBuffer commands = kit_begin(kit);
        if (frame) {
            kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
            kit_clear(kit, commands, image, KIT_COLOR, frame);
            kit_needed(kit, commands, image, KIT_COLOR, DST, PRESENT);
        } else {
            kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, PRESENT);
        }
        kit_end(commands);
        kit_submit_on(kit->queue, commands, acquired, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, drawn);
        present(kit, index, drawn);
        kit_wait(kit);
    }
}

/* A copy from an image that was presented and acquired again (L20); the wait is at TRANSFER or at
 * COLOR_ATTACHMENT_OUTPUT with rendering (L22). */
static void reacquired(struct kit *kit)
{
    VkSemaphore acquired = kit_semaphore(kit), drawn = kit_semaphore(kit);
    uint32_t seen = 0;
    for (uint32_t frame = 0; frame < 8; frame++) {
        uint32_t index = acquire(kit, acquired);
        VkImage image = kit->swapchain_images[index];
        VkCommandBuffer commands = kit_begin(kit);
        if (!(seen & (1u << index))) {
            kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
            kit_clear(kit, commands, image, KIT_COLOR, frame);
            kit_transition(kit, commands, image, KIT_COLOR, DST, PRESENT);
            kit_end(commands);
        } else {
            kit_needed(kit, commands, image, KIT_COLOR, PRESENT, SRC);
            kit_read(kit, commands, image, 0, 0);
            kit_transition(kit, commands, image, KIT_COLOR, SRC, PRESENT);
            kit_end(commands);
        }
        seen |= 1u << index;
        kit_submit_on(kit->queue, commands, acquired, VK_PIPELINE_STAGE_TRANSFER_BIT, drawn);
        present(kit, index, drawn);
        kit_wait(kit);
    }
}

static void acquire_wait_stage(struct kit *kit)
{
    VkSemaphore acquired = kit_semaphore(kit), drawn = kit_semaphore(kit);
    VkImageView views[KIT_MAX] = {0};
    for (uint32_t frame = 0; frame < 6; frame++) {
        uint32_t index = acquire(kit, acquired);
        VkImage image = kit->swapchain_images[index];
        VkCommandBuffer commands = kit_begin(kit);
        VkSurfaceFormatKHR format;
        uint32_t one = 1;
        vkGetPhysicalDeviceSurfaceFormatsKHR(kit->physical, kit->surface, &one, &format);
        if (!views[index])
            views[index] = kit_view(kit, image, format.format, VK_IMAGE_ASPECT_COLOR_BIT);
        if (kit->options.correct)
            kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, COLOR);
        kit_render(kit, commands, views[index], COLOR, VK_ATTACHMENT_LOAD_OP_CLEAR, 0);
        kit_transition(kit, commands, image, KIT_COLOR, COLOR, PRESENT);
        kit_end(commands);
        kit_submit_on(kit->queue, commands, acquired, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, drawn);
        present(kit, index, drawn);
        kit_wait(kit);
    }
}

/* A render pass whose final layout was meant for something else (L24: PRESENT_SRC; here READ), then copied.
 */
static void wrong_final_layout(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    VkRenderPass pass = kit_pass(kit, RGBA, VK_ATTACHMENT_LOAD_OP_CLEAR, UNDEFINED, COLOR, READ);
    VkCommandBuffer commands = kit_begin(kit);
    kit_run_pass(kit, commands, pass, view);
    kit_needed(kit, commands, image, KIT_COLOR, READ, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* A render pass whose initial layout isn't what the image is in; contents are loaded. */
static void wrong_initial_layout(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    VkRenderPass pass = kit_pass(kit, RGBA, VK_ATTACHMENT_LOAD_OP_LOAD, COLOR, COLOR, SRC);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 3);
    kit_needed(kit, commands, image, KIT_COLOR, DST, COLOR);
    kit_run_pass(kit, commands, pass, view);
    kit_run(kit, commands, image, 0, 0);
}

/* One command buffer submitted three times, the image in another layout before each (L26). */
static void resubmitted(struct kit *kit)
{
    static const VkImageLayout before[] = {READ, GENERAL, SRC};
    VkImage image = kit_image(kit, NULL), out = kit_image(kit, NULL);
    VkCommandBuffer reader = kit_begin_on(kit, kit->pool, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    kit_transition(kit, reader, out, KIT_COLOR, UNDEFINED, DST);
    kit_blit(kit, reader, image, 0, 0, out, 0, 0);
    kit_transition(kit, reader, out, KIT_COLOR, DST, SRC);
    VkBuffer result = kit_read(kit, reader, out, 0, 0);
    kit_end(reader);
    for (uint32_t i = 0; i < 3; i++) {
        VkCommandBuffer writer = kit_begin(kit);
        kit_transition(kit, writer, image, KIT_COLOR, i ? SRC : UNDEFINED, DST);
        kit_clear(kit, writer, image, KIT_COLOR, i);
        kit_transition(kit, writer, image, KIT_COLOR, DST, kit->options.correct ? SRC : before[i]);
        kit_end(writer);
        kit_submit(kit, writer);
        kit_submit(kit, reader);
        kit_wait(kit);
        kit_hash(kit, result);
    }
}

/* A secondary command buffer reads what its primary has written (L27). */
static void secondary_reads(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL), out = kit_image(kit, NULL);
    VkCommandBuffer secondary = kit_begin_secondary(kit), commands = kit_begin(kit);
    kit_blit(kit, secondary, image, 0, 0, out, 0, 0);
    kit_end(secondary);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_transition(kit, commands, out, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 3);
    kit_needed(kit, commands, image, KIT_COLOR, DST, SRC);
    vkCmdExecuteCommands(commands, 1, &secondary);
    kit_transition(kit, commands, out, KIT_COLOR, DST, SRC);
    kit_run(kit, commands, out, 0, 0);
}

/* Two secondaries in one call, the second needs what the first has written. */
static void secondary_after_secondary(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL), out = kit_image(kit, NULL);
    VkCommandBuffer secondaries[2] = {kit_begin_secondary(kit), kit_begin_secondary(kit)};
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, secondaries[0], image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, secondaries[0], image, KIT_COLOR, 3);
    kit_needed(kit, secondaries[0], image, KIT_COLOR, DST, SRC);
    kit_blit(kit, secondaries[1], image, 0, 0, out, 0, 0);
    kit_end(secondaries[0]);
    kit_end(secondaries[1]);
    kit_transition(kit, commands, out, KIT_COLOR, UNDEFINED, DST);
    vkCmdExecuteCommands(commands, 2, secondaries);
    kit_transition(kit, commands, out, KIT_COLOR, DST, SRC);
    kit_run(kit, commands, out, 0, 0);
}

/* An upload on another queue family, with release and acquire (L28). */
static void ownership(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkBuffer pattern = kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4);
    VkSemaphore uploaded = kit_semaphore(kit);
    VkCommandBuffer first = kit_begin_on(kit, kit->second_pool, 0), second = kit_begin(kit);
    kit_transition(kit, first, image, KIT_COLOR, UNDEFINED, DST);
    kit_upload(kit, first, pattern, image, 0, 0);
    if (kit->family != kit->second_family) {
        kit_transition_families(kit, first, image, KIT_COLOR, DST, SRC, kit->second_family, kit->family);
        kit_transition_families(kit, second, image, KIT_COLOR, DST, SRC, kit->second_family, kit->family);
    } else {
        kit_transition(kit, second, image, KIT_COLOR, DST, SRC);
    }
    kit_end(first);
    kit_submit_on(kit->second_queue, first, VK_NULL_HANDLE, 0, uploaded);
    VkBuffer result = kit_read(kit, second, image, 0, 0);
    kit_end(second);
    kit_submit_on(kit->queue, second, uploaded, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_NULL_HANDLE);
    kit_wait(kit);
    kit_hash(kit, result);
}

/* Sixteen barrier calls of one image each (L29). */
static void split_barriers(struct kit *kit)
{
    VkImage images[16];
    VkCommandBuffer commands = kit_begin(kit);
    for (uint32_t i = 0; i < 16; i++)
        images[i] = kit_image(kit, NULL);
    for (uint32_t i = 0; i < 16; i++)
        kit_transition(kit, commands, images[i], KIT_COLOR, UNDEFINED, DST);
    for (uint32_t i = 0; i < 16; i++)
        kit_clear(kit, commands, images[i], KIT_COLOR, i);
    for (uint32_t i = 0; i < 16; i++)
        kit_transition(kit, commands, images[i], KIT_COLOR, DST, SRC);
    kit_run(kit, commands, images[5], 0, 0);
}

/* A->B and B->C with nothing between (L30). */
static void folded(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 2);
    kit_transition(kit, commands, image, KIT_COLOR, DST, READ);
    kit_transition(kit, commands, image, KIT_COLOR, READ, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* Overlapping ranges that can't fold (L31). */
static void overlapping(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.mips = 4});
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_ALL, 2);
    kit_transition(kit, commands, image, KIT_ALL, DST, READ);
    kit_transition(kit, commands, image, mip_range(1, 2), READ, SRC);
    kit_run(kit, commands, image, 1, 0);
}

/* COPY -> COMPUTE, then COMPUTE -> FRAGMENT, nothing between: two calls (L44). */
static void chained(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 2);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0,
                         NULL, 0, NULL, 0, NULL);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0, NULL, 0, NULL, 0, NULL);
    kit_transition(kit, commands, image, KIT_COLOR, DST, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* Depth and stencil: a pass, then a copy of each aspect (L34). */
static void depth_stencil(struct kit *kit)
{
    const VkFormat format = VK_FORMAT_D32_SFLOAT_S8_UINT;
    const VkImageLayout attachment = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    const struct kit_range range = {both, 0, 1, 0, 1};
    VkImage image =
        kit_image(kit, &(struct kit_image_info){.format = format,
                                                .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                                         VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                                         VK_IMAGE_USAGE_TRANSFER_DST_BIT});
    VkImageView view = kit_view(kit, image, format, both);
    VkRenderPass pass = kit_pass(kit, format, VK_ATTACHMENT_LOAD_OP_LOAD, attachment, attachment, attachment);
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, image, range, UNDEFINED, DST);
    kit_clear(kit, commands, image, range, 3);
    if (kit->options.separate) {
        struct kit_range depth = range, stencil = range;
        depth.aspects = VK_IMAGE_ASPECT_DEPTH_BIT;
        stencil.aspects = VK_IMAGE_ASPECT_STENCIL_BIT;
        kit_needed(kit, commands, image, depth, DST, VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL);
        kit_needed(kit, commands, image, stencil, DST, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL);
    } else {
        kit_needed(kit, commands, image, range, DST, attachment);
    }
    kit_run_pass(kit, commands, pass, view);
    kit_needed(kit, commands, image, range, attachment, SRC);
    VkBuffer depth = kit_read_aspect(kit, commands, image, VK_IMAGE_ASPECT_DEPTH_BIT);
    VkBuffer stencil = kit_read_aspect(kit, commands, image, VK_IMAGE_ASPECT_STENCIL_BIT);
    kit_end(commands);
    kit_submit(kit, commands);
    kit_wait(kit);
    kit_hash(kit, depth);
    kit_hash(kit, stencil);
}

/* Slices of a 3D image (L35): one transition covers them all. */
static void slices(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.depth = 4});
    VkBuffer pattern = kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4);
    VkBuffer result = kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4);
    VkCommandBuffer commands = kit_begin(kit);
    VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageOffset = {0, 0, 2},
        .imageExtent = {KIT_SIDE, KIT_SIDE, 1},
    };
    kit_needed(kit, commands, image, KIT_ALL, UNDEFINED, DST);
    vkCmdCopyBufferToImage(commands, pattern, image, DST, 1, &region);
    kit_needed(kit, commands, image, KIT_ALL, DST, SRC);
    vkCmdCopyImageToBuffer(commands, image, SRC, result, 1, &region);
    kit_end(commands);
    kit_submit(kit, commands);
    kit_wait(kit);
    kit_hash(kit, result);
}

/* Two queues, shared images, semaphores between (L36). */
static void two_queues(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL), out = kit_image(kit, NULL);
    VkSemaphore written = kit_semaphore(kit), read = kit_semaphore(kit);
    bool same_family = kit->family == kit->second_family;
    for (uint32_t i = 0; i < 4; i++) {
        VkCommandBuffer writer = kit_begin_on(kit, kit->second_pool, 0), reader = kit_begin(kit);
        kit_transition(kit, writer, image, KIT_COLOR, UNDEFINED, DST);
        kit_upload(kit, writer, kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4), image, 0, 0);
        if (!same_family)
            kit_transition_families(kit, writer, image, KIT_COLOR, DST, SRC, kit->second_family, kit->family);
        kit_end(writer);
        kit_submit_on(kit->second_queue, writer, i ? read : VK_NULL_HANDLE,
                      VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, written);
        if (same_family)
            kit_needed(kit, reader, image, KIT_COLOR, DST, SRC);
        else
            kit_transition_families(kit, reader, image, KIT_COLOR, DST, SRC, kit->second_family, kit->family);
        kit_transition(kit, reader, out, KIT_COLOR, UNDEFINED, DST);
        kit_blit(kit, reader, image, 0, 0, out, 0, 0);
        kit_transition(kit, reader, out, KIT_COLOR, DST, SRC);
        VkBuffer result = kit_read(kit, reader, out, 0, 0);
        kit_end(reader);
        kit_submit_on(kit->queue, reader, written, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, read);
        if (i == 3) {
            kit_wait(kit);
            kit_hash(kit, result);
        }
    }
    kit_submit_on(kit->queue, NULL, read, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_NULL_HANDLE);
}

/* An image is destroyed and another takes its place, perhaps under the same handle (L39). */
static void recreated(struct kit *kit)
{
    for (uint32_t i = 0; i < 3; i++) {
        VkImage image = kit_image(kit, NULL);
        VkCommandBuffer commands = kit_begin(kit);
        kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
        kit_clear(kit, commands, image, KIT_COLOR, i);
        kit_needed(kit, commands, image, KIT_COLOR, DST, SRC);
        kit_run(kit, commands, image, 0, 0);
        vkDestroyImage(kit->device, image, NULL);
        kit->image_count--;
    }
}

/* Dynamic rendering, suspended and resumed over three command buffers (L42). */
static void suspended(struct kit *kit)
{
    static const VkRenderingFlags flags[] = {VK_RENDERING_SUSPENDING_BIT,
                                             VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT,
                                             VK_RENDERING_RESUMING_BIT};
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    VkCommandBuffer parts[3];
    for (uint32_t i = 0; i < 3; i++) {
        parts[i] = kit_begin(kit);
        if (i == 0)
            kit_needed(kit, parts[i], image, KIT_COLOR, UNDEFINED, COLOR);
        kit_render(kit, parts[i], view, COLOR, VK_ATTACHMENT_LOAD_OP_CLEAR, flags[i]);
        kit_end(parts[i]);
    }
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 3,
        .pCommandBuffers = parts,
    };
    kit_check(vkQueueSubmit(kit->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* A transition by event: the wait names the layouts. */
static void event_transition(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkEvent event;
    VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    kit_check(vkCreateEvent(kit->device, &info, NULL, &event), "vkCreateEvent");
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_clear(kit, commands, image, KIT_COLOR, 4);
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
        .oldLayout = DST,
        .newLayout = SRC,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    vkCmdSetEvent(commands, event, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                    NULL, 0, NULL, 1, &barrier);
    kit_run(kit, commands, image, 0, 0);
    vkDestroyEvent(kit->device, event, NULL);
}

static const struct barrier_case cases[] = {
    {.name = "L02-next-submit", .run = next_submit, .faults = true},
    {.name = "L02-same-buffer", .run = same_buffer, .faults = true},
    {.name = "L02-two-buffers-one-submit", .run = two_buffers_one_submit, .faults = true},
    {.name = "L08-mixed-mips", .run = mixed_mips, .faults = true},
    {.name = "L09-mip-chain", .run = mip_chain, .faults = true},
    {.name = "L10-untouched-levels", .run = untouched_levels, .faults = true},
    {.name = "L11-untouched-faces", .run = untouched_faces, .faults = true},
    {.name = "L13-wrong-old-layout", .run = wrong_old_layout, .faults = true},
    {.name = "L13-wrong-old-layout-next-submit", .run = wrong_old_layout_next, .faults = true},
    {.name = "L13-partly-wrong-old-layout", .run = partly_wrong_old_layout, .faults = true},
    {.name = "L13-equal-layouts", .run = equal_layouts},
    {.name = "L18-rendered-in-general", .run = rendered_in_general, .faults = true},
    {.name = "L19-present-in-wrong-layout",
     .run = present_in_wrong_layout,
     .swapchain = true,
     .faults = true},
    {.name = "L20-reacquired", .run = reacquired, .swapchain = true, .faults = true},
    {.name = "L22-acquire-wait-stage", .run = acquire_wait_stage, .swapchain = true, .faults = true},
    {.name = "L24-wrong-final-layout", .run = wrong_final_layout, .faults = true},
    {.name = "L24-wrong-initial-layout", .run = wrong_initial_layout, .faults = true},
    {.name = "L26-resubmitted", .run = resubmitted, .faults = true},
    {.name = "L27-secondary-reads", .run = secondary_reads, .faults = true},
    {.name = "L27-secondary-after-secondary", .run = secondary_after_secondary, .faults = true},
    {.name = "L28-ownership", .run = ownership},
    {.name = "L29-split-barriers", .run = split_barriers},
    {.name = "L30-folded", .run = folded},
    {.name = "L31-overlapping", .run = overlapping},
    {.name = "L34-depth-stencil", .run = depth_stencil, .faults = true},
    {.name = "L35-slices", .run = slices, .faults = true},
    {.name = "L36-two-queues", .run = two_queues, .faults = true},
    {.name = "L39-recreated", .run = recreated, .faults = true},
    {.name = "L42-suspended", .run = suspended, .faults = true},
    {.name = "L44-chained", .run = chained},
    {.name = "event-transition", .run = event_transition, .faults = true},
};
static const size_t case_count = sizeof(cases) / sizeof(cases[0]);

static const struct {
    const struct barrier_case *cases;
    const size_t *count;
} lists[] = {
    {cases, &case_count},
    {shader_cases, &shader_case_count},
    {shader_body_cases, &shader_body_case_count},
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static void print_case(const struct barrier_case *one, const char *more)
{
    printf("%s %s%s%s%s\n", one->name, one->faults ? "faults" : "correct", more,
           one->rendering ? " rendering" : "", one->partly ? " partly" : "");
}

static void list_all(void)
{
    for (size_t l = 0; l < LISTS; l++)
        for (size_t i = 0; i < *lists[l].count; i++)
            print_case(&lists[l].cases[i], lists[l].cases == cases ? "" : " shaders");
}

static const struct barrier_case *find(const char *name)
{
    for (size_t l = 0; l < LISTS; l++)
        for (size_t i = 0; i < *lists[l].count; i++)
            if (strcmp(lists[l].cases[i].name, name) == 0)
                return &lists[l].cases[i];
    return NULL;
}

int main(int count, char **arguments)
{
    static struct kit kit;
    struct kit_options options = {.correct = true};
    const char *name = count > 1 ? arguments[1] : "";
    if (strcmp(name, "--list") == 0) {
        list_all();
        return 0;
    }
    for (int i = 2; i < count; i++) {
        if (strcmp(arguments[i], "--faulty") == 0)
            options.correct = false;
        else if (strcmp(arguments[i], "--sync2") == 0)
            options.sync2 = true;
        else if (strcmp(arguments[i], "--separate") == 0)
            options.separate = true;
        else if (strcmp(arguments[i], "--rendering") == 0)
            options.rendering = true;
        else
            name = "";
    }
    const struct barrier_case *chosen = find(name);
    if (!chosen) {
        fprintf(stderr, "usage: barrier_cases NAME [--faulty] [--sync2] [--separate] [--rendering]\n"
                        "       barrier_cases --list\n");
        return 2;
    }
    options.swapchain = chosen->swapchain;
    options.extras = chosen->extras;
    kit_init(&kit, &options);
    const char *lacking = kit_lacks(&kit);
    if (lacking) {
        printf("skipped: the device has no %s\n", lacking);
    } else {
        chosen->run(&kit);
        printf("hash=%016llx\n", (unsigned long long)kit.hash);
    }
    kit_finish(&kit);
    return lacking ? SKIPPED : 0;
}
