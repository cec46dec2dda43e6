/* What recording makes of an application's commands: which calls reach the driver, in which order and with
 * what in them. L03, L05..L13, L16..L18, L23, L27, L29..L31, L34, L38, L42, L44. */
#include "calls_app.h"

#define ORACLE "oracle=1"

/* Submits, and the driver's oracle finds nothing wrong. */
static void run_judged(const struct calls_app *app, VkCommandBuffer commands)
{
    struct fault_violation violation = {0};
    calls_app_run(app, commands);
    CHECK_SAY(fault_oracle_violations(FAULT_ORACLE_RULES) == 0, "%s",
              fault_oracle_violation(0, &violation) ? violation.text : "");
}

static void judged(run_function function)
{
    driver_set(ORACLE);
    run_complete(function, NULL);
}

/* --- Calls that are right go down as they came --- */

static void same_image1(const VkImageMemoryBarrier *a, const VkImageMemoryBarrier *b)
{
    CHECK(a->sType == b->sType && a->srcAccessMask == b->srcAccessMask &&
          a->dstAccessMask == b->dstAccessMask && a->oldLayout == b->oldLayout &&
          a->newLayout == b->newLayout && a->srcQueueFamilyIndex == b->srcQueueFamilyIndex &&
          a->dstQueueFamilyIndex == b->dstQueueFamilyIndex && a->image == b->image &&
          memcmp(&a->subresourceRange, &b->subresourceRange, sizeof(a->subresourceRange)) == 0);
}

static void same_image2(const VkImageMemoryBarrier2 *a, const VkImageMemoryBarrier2 *b)
{
    CHECK(a->sType == b->sType && a->srcStageMask == b->srcStageMask &&
          a->srcAccessMask == b->srcAccessMask && a->dstStageMask == b->dstStageMask &&
          a->dstAccessMask == b->dstAccessMask && a->oldLayout == b->oldLayout &&
          a->newLayout == b->newLayout && a->srcQueueFamilyIndex == b->srcQueueFamilyIndex &&
          a->dstQueueFamilyIndex == b->dstQueueFamilyIndex && a->image == b->image &&
          memcmp(&a->subresourceRange, &b->subresourceRange, sizeof(a->subresourceRange)) == 0);
}

static void run_same1(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_mips(&app, 3, 2);
    VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL, VK_ACCESS_TRANSFER_WRITE_BIT,
                              VK_ACCESS_SHADER_READ_BIT};
    VkBufferMemoryBarrier buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .buffer = app.buffer,
                                    .offset = 16,
                                    .size = VK_WHOLE_SIZE};
    VkImageMemoryBarrier images[2] = {calls_app_barrier(image, UNDEFINED, DST),
                                      calls_app_barrier(image, UNDEFINED, SRC)};
    images[0].subresourceRange.levelCount = 1;
    images[1].subresourceRange.baseMipLevel = 1;
    VkCommandBuffer commands = calls_app_begin(&app);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_DEPENDENCY_DEVICE_GROUP_BIT, 1, &memory, 1,
                         &buffer, 2, images);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier");
    const struct arguments_vkCmdPipelineBarrier *found = calls_barrier1(commands, 0);
    CHECK_EQUAL(found->srcStageMask, VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    CHECK_EQUAL(found->dstStageMask, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    CHECK_EQUAL(found->dependencyFlags, VK_DEPENDENCY_DEVICE_GROUP_BIT);
    CHECK_EQUAL(found->memoryBarrierCount, 1);
    CHECK_EQUAL(found->bufferMemoryBarrierCount, 1);
    CHECK_EQUAL(found->imageMemoryBarrierCount, 2);
    CHECK(found->pMemoryBarriers[0].srcAccessMask == memory.srcAccessMask &&
          found->pMemoryBarriers[0].dstAccessMask == memory.dstAccessMask);
    const VkBufferMemoryBarrier *b = found->pBufferMemoryBarriers;
    CHECK(b->srcAccessMask == buffer.srcAccessMask && b->dstAccessMask == buffer.dstAccessMask &&
          b->buffer == buffer.buffer && b->offset == 16 && b->size == VK_WHOLE_SIZE &&
          b->srcQueueFamilyIndex == VK_QUEUE_FAMILY_IGNORED &&
          b->dstQueueFamilyIndex == VK_QUEUE_FAMILY_IGNORED);
    same_image1(&found->pImageMemoryBarriers[0], &images[0]);
    same_image1(&found->pImageMemoryBarriers[1], &images[1]);
    calls_app_close(&app);
}

static void run_same2(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    PFN_vkCmdPipelineBarrier2 by_extension =
        (PFN_vkCmdPipelineBarrier2)vkGetDeviceProcAddr(app.device, "vkCmdPipelineBarrier2KHR");
    VkImage image = calls_app_mips(&app, 3, 2);
    VkMemoryBarrier2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                               .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                               .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                               .dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                               .dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
    VkImageMemoryBarrier2 barrier = calls_app_barrier2(image, UNDEFINED, DST);
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .memoryBarrierCount = 1,
                             .pMemoryBarriers = &memory,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier};
    VkCommandBuffer commands = calls_app_begin(&app);
    vkCmdPipelineBarrier2(commands, &info);
    calls_app_dispatch(commands);
    by_extension(commands, &info);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier2 Dispatch PipelineBarrier2KHR");
    for (uint32_t i = 0; i < 3; i += 2) {
        const VkDependencyInfo *found = calls_barrier2(commands, i);
        CHECK_EQUAL(found->memoryBarrierCount, 1);
        CHECK_EQUAL(found->bufferMemoryBarrierCount, 0);
        CHECK_EQUAL(found->imageMemoryBarrierCount, 1);
        CHECK_EQUAL(found->dependencyFlags, 0);
        const VkMemoryBarrier2 *m = found->pMemoryBarriers;
        CHECK(m->srcStageMask == memory.srcStageMask && m->srcAccessMask == memory.srcAccessMask &&
              m->dstStageMask == memory.dstStageMask && m->dstAccessMask == memory.dstAccessMask);
        same_image2(found->pImageMemoryBarriers, &barrier);
    }
    calls_app_close(&app);
}

/* L38 */
static void test_same(void **state)
{
    (void)state;
    for (int merge = 0; merge < 2; merge++) {
        layer_set("MERGE", merge ? "true" : "false");
        run_complete(run_same1, NULL);
        run_complete(run_same2, NULL);
        CHECK_EQUAL(report_number("barriers", "record_repairs"), 0);
        CHECK_EQUAL(report_number("barriers", "rewritten"), 0);
        CHECK_EQUAL(report_number("barriers", "calls_in"), 2);
        CHECK_EQUAL(report_number("barriers", "calls_out"), 2);
    }
}

/* --- Missing transitions --- */

static void run_missing(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app), other = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_clear(commands, image, DST);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_move(commands, other, UNDEFINED, DST);
    VkImageCopy region = {.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                          .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                          .extent = {16, 16, 1}};
    vkCmdCopyImage(commands, image, GENERAL, other, DST, 1, &region);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier ClearColorImage PipelineBarrier2 CopyImageToBuffer "
                          "PipelineBarrier2 CopyImage");
    CHECK_MOVED(commands, 2, image, DST, SRC);
    VkImageMemoryBarrier2 barrier = calls_only_barrier(commands, 2);
    CHECK_EQUAL(barrier.srcStageMask, VK_PIPELINE_STAGE_2_CLEAR_BIT);
    CHECK_EQUAL(barrier.srcAccessMask, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    CHECK_EQUAL(barrier.dstStageMask, VK_PIPELINE_STAGE_2_COPY_BIT);
    CHECK_EQUAL(barrier.dstAccessMask, VK_ACCESS_2_TRANSFER_READ_BIT);
    /* The repair joins the application's own. */
    const VkDependencyInfo *joined = calls_barrier2(commands, 4);
    CHECK_EQUAL(joined->imageMemoryBarrierCount, 2);
    CHECK(joined->pImageMemoryBarriers[0].image == other && joined->pImageMemoryBarriers[1].image == image);
    run_judged(&app, commands);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_missing(void **state)
{
    (void)state;
    judged(run_missing);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 2);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 0);
    CHECK_EQUAL(report_count("repair", "vkCmdCopyImageToBuffer"), 1);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* Without synchronization2 anywhere. */
static void run_missing1(void *context)
{
    struct calls_app app;
    struct calls_options options = {.plain = true};
    (void)context;
    calls_app_open(&app, &options);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_clear(commands, image, DST);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier ClearColorImage PipelineBarrier CopyImageToBuffer");
    const struct arguments_vkCmdPipelineBarrier *found = calls_barrier1(commands, 2);
    CHECK_EQUAL(found->imageMemoryBarrierCount, 1);
    CHECK_EQUAL(found->srcStageMask, VK_PIPELINE_STAGE_TRANSFER_BIT);
    CHECK_EQUAL(found->dstStageMask, VK_PIPELINE_STAGE_TRANSFER_BIT);
    CHECK(found->pImageMemoryBarriers[0].oldLayout == DST && found->pImageMemoryBarriers[0].newLayout == SRC);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_missing1(void **state)
{
    (void)state;
    driver_set(ORACLE ";api=1.2;hide=VK_KHR_synchronization2;hide=1000314007");
    run_complete(run_missing1, NULL);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 1);
}

static void run_mips(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_mips(&app, 4, 1);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_clear(commands, image, DST);
    for (int32_t i = 1; i < 4; i++) {
        VkImageBlit region = {.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, (uint32_t)i - 1, 0, 1},
                              .srcOffsets = {{0}, {32 >> i, 32 >> i, 1}},
                              .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, (uint32_t)i, 0, 1},
                              .dstOffsets = {{0}, {16 >> i, 16 >> i, 1}}};
        vkCmdBlitImage(commands, image, SRC, image, DST, 1, &region, VK_FILTER_NEAREST);
    }
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier ClearColorImage PipelineBarrier2 BlitImage PipelineBarrier2 "
                          "BlitImage PipelineBarrier2 BlitImage");
    for (uint32_t i = 0; i < 3; i++) {
        VkImageMemoryBarrier2 barrier = calls_only_barrier(commands, 2 + 2 * i);
        CHECK_EQUAL(barrier.subresourceRange.baseMipLevel, i);
        CHECK_EQUAL(barrier.subresourceRange.levelCount, 1);
    }
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L09 */
static void test_mips(void **state)
{
    (void)state;
    judged(run_mips);
}

/* Every command of this kind, in both forms. */
static void run_transfers(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage a = calls_app_image(&app), b = calls_app_image(&app);
    VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    VkImageCopy copy = {.srcSubresource = layers, .dstSubresource = layers, .extent = {16, 16, 1}};
    VkImageCopy2 copy2 = {.sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2,
                          .srcSubresource = layers,
                          .dstSubresource = layers,
                          .extent = {16, 16, 1}};
    VkImageBlit2 blit2 = {.sType = VK_STRUCTURE_TYPE_IMAGE_BLIT_2,
                          .srcSubresource = layers,
                          .srcOffsets = {{0}, {16, 16, 1}},
                          .dstSubresource = layers,
                          .dstOffsets = {{0}, {16, 16, 1}}};
    VkImageResolve resolve = {.srcSubresource = layers, .dstSubresource = layers, .extent = {16, 16, 1}};
    VkImageResolve2 resolve2 = {.sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2,
                                .srcSubresource = layers,
                                .dstSubresource = layers,
                                .extent = {16, 16, 1}};
    VkBufferImageCopy buffer = {.imageSubresource = layers, .imageExtent = {16, 16, 1}};
    VkBufferImageCopy2 buffer2 = {.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2,
                                  .imageSubresource = layers,
                                  .imageExtent = {16, 16, 1}};
    VkCopyImageInfo2 copy_info = {VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2, NULL, b, SRC, a, DST, 1, &copy2};
    VkBlitImageInfo2 blit_info = {
        VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2, NULL, a, SRC, b, DST, 1, &blit2, VK_FILTER_NEAREST};
    VkResolveImageInfo2 resolve_info = {
        VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2, NULL, b, SRC, a, DST, 1, &resolve2};
    VkCopyBufferToImageInfo2 in_info = {
        VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2, NULL, app.buffer, a, DST, 1, &buffer2};
    VkCopyImageToBufferInfo2 out_info = {
        VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2, NULL, a, SRC, app.buffer, 1, &buffer2};
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, a, UNDEFINED, DST);
    calls_app_move(commands, b, UNDEFINED, GENERAL);
    vkCmdCopyBufferToImage(commands, app.buffer, a, DST, 1, &buffer);
    vkCmdCopyImage(commands, a, SRC, b, DST, 1, &copy);       /* a, b */
    vkCmdCopyImage2(commands, &copy_info);                    /* b, a */
    vkCmdBlitImage2(commands, &blit_info);                    /* a, b */
    vkCmdResolveImage2(commands, &resolve_info);              /* b, a */
    vkCmdCopyImageToBuffer2(commands, &out_info);             /* a */
    vkCmdCopyBufferToImage2(commands, &in_info);              /* a */
    vkCmdResolveImage(commands, b, SRC, a, DST, 1, &resolve); /* none */
    calls_app_clear(commands, b, GENERAL);                    /* b */
    calls_app_end(commands);
    CHECK_NAMES(commands,
                "PipelineBarrier2 CopyBufferToImage PipelineBarrier2 CopyImage PipelineBarrier2 CopyImage2 "
                "PipelineBarrier2 BlitImage2 PipelineBarrier2 ResolveImage2 PipelineBarrier2 "
                "CopyImageToBuffer2 PipelineBarrier2 CopyBufferToImage2 ResolveImage PipelineBarrier2 "
                "ClearColorImage");
    static const uint32_t counts[] = {2, 2, 2, 2, 2, 1, 1};
    for (uint32_t i = 0; i < 7; i++)
        CHECK_EQUAL(calls_barrier2(commands, 2 * i)->imageMemoryBarrierCount, counts[i]);
    calls_app_close(&app);
}

static void test_transfers(void **state)
{
    (void)state;
    run_complete(run_transfers, NULL);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 11);
}

/* --- Joining --- */

static void run_joined(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage images[16];
    VkCommandBuffer commands = calls_app_begin(&app);
    for (int i = 0; i < 16; i++)
        images[i] = calls_app_image(&app);
    for (int i = 0; i < 16; i++) {
        calls_app_move(commands, images[i], UNDEFINED, DST);
        calls_app_push(&app, commands);
    }
    calls_app_dispatch(commands);
    calls_app_move(commands, images[0], DST, SRC);
    calls_app_dispatch(commands);
    calls_app_move(commands, images[0], SRC, DST);
    calls_app_end(commands);
    CHECK_EQUAL(fault_command_count(commands), 21);
    for (uint32_t i = 0; i < 16; i++)
        CHECK(strcmp(fault_command_name(commands, i), "vkCmdPushConstants") == 0);
    const VkDependencyInfo *joined = calls_barrier2(commands, 16);
    CHECK_EQUAL(joined->imageMemoryBarrierCount, 16);
    for (uint32_t i = 0; i < 16; i++)
        CHECK(joined->pImageMemoryBarriers[i].image == images[i]);
    calls_barrier1(commands, 18);
    calls_barrier1(commands, 20);
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L29 */
static void test_joined(void **state)
{
    (void)state;
    judged(run_joined);
    CHECK_EQUAL(report_number("barriers", "calls_in"), 18);
    CHECK_EQUAL(report_number("barriers", "calls_out"), 3);
    CHECK_EQUAL(report_number("barriers", "images_in"), 18);
    CHECK_EQUAL(report_number("barriers", "images_out"), 18);
}

static void run_folded(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_move(commands, image, DST, SRC);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier2 CopyImageToBuffer");
    CHECK_MOVED(commands, 0, image, UNDEFINED, SRC);
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L30 */
static void test_folded(void **state)
{
    (void)state;
    judged(run_folded);
}

static void run_chained(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkMemoryBarrier2 memory[2] = {{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                   .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                   .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                   .dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                   .dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT},
                                  {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                   .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                   .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                   .dstStageMask = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                   .dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT}};
    VkCommandBuffer commands = calls_app_begin(&app);
    for (int i = 0; i < 2; i++) {
        VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                 .memoryBarrierCount = 1,
                                 .pMemoryBarriers = &memory[i]};
        vkCmdPipelineBarrier2(commands, &info);
    }
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier2 PipelineBarrier2");
    calls_app_close(&app);
}

/* L44 */
static void test_chained(void **state)
{
    (void)state;
    run_complete(run_chained, NULL);
}

/* With merge off: each call goes down where it is, repairs stand by themselves. */
static void run_unjoined(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage a = calls_app_image(&app), b = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, a, UNDEFINED, DST);
    calls_app_push(&app, commands);
    calls_app_move(commands, b, UNDEFINED, DST);
    calls_app_read(&app, commands, a, SRC, 0);
    calls_app_move(commands, b, GENERAL, SRC);
    calls_app_push(&app, commands);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier PushConstants PipelineBarrier PipelineBarrier2 CopyImageToBuffer "
                          "PipelineBarrier2 PushConstants");
    CHECK_MOVED(commands, 5, b, DST, SRC);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_unjoined(void **state)
{
    (void)state;
    layer_set("MERGE", "false");
    judged(run_unjoined);
}

/* --- A wrong oldLayout --- */

static void run_wrong(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_mips(&app, 4, 1);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_dispatch(commands);
    VkImageMemoryBarrier one = calls_app_barrier(image, DST, SRC);
    one.subresourceRange.baseMipLevel = 2;
    one.subresourceRange.levelCount = 1;
    calls_app_give(commands, &one);
    calls_app_dispatch(commands);
    calls_app_move(commands, image, DST, GENERAL);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier Dispatch PipelineBarrier Dispatch PipelineBarrier2");
    const VkDependencyInfo *found = calls_barrier2(commands, 4);
    CHECK_EQUAL(found->imageMemoryBarrierCount, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const VkImageMemoryBarrier2 *part = &found->pImageMemoryBarriers[i];
        CHECK_EQUAL(part->oldLayout, part->subresourceRange.baseMipLevel == 2 ? SRC : DST);
        CHECK_EQUAL(part->newLayout, GENERAL);
        CHECK_EQUAL(part->srcStageMask & VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    }
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L13, L08 */
static void test_wrong(void **state)
{
    (void)state;
    judged(run_wrong);
    CHECK_EQUAL(report_number("barriers", "rewritten"), 1);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 0);
    CHECK_EQUAL(report_count("repair", "wrong oldLayout"), 1);
}

/* Never from UNDEFINED, and with synchronization2 never where nothing is to change. */
static void run_left_alone(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_dispatch(commands);
    calls_app_move(commands, image, UNDEFINED, SRC);
    calls_app_dispatch(commands);
    calls_app_move(commands, image, GENERAL, GENERAL);
    calls_app_dispatch(commands);
    VkImageMemoryBarrier release = calls_app_barrier(image, GENERAL, READ);
    release.srcQueueFamilyIndex = app.family;
    release.dstQueueFamilyIndex = app.other_family;
    calls_app_give(commands, &release);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier Dispatch PipelineBarrier Dispatch PipelineBarrier Dispatch "
                          "PipelineBarrier");
    static const VkImageLayout old_layouts[] = {UNDEFINED, UNDEFINED, GENERAL, GENERAL};
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQUAL(calls_barrier1(commands, 2 * i)->pImageMemoryBarriers[0].oldLayout, old_layouts[i]);
    calls_app_close(&app);
}

static void test_left_alone(void **state)
{
    (void)state;
    run_complete(run_left_alone, NULL);
    CHECK_EQUAL(report_count("repair", ""), 0);
}

/* Where the application didn't enable synchronization2, equal layouts name one all the same. */
static void run_equal(void *context)
{
    struct calls_app app;
    struct calls_options options = {.plain = true};
    (void)context;
    calls_app_open(&app, &options);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_dispatch(commands);
    calls_app_move(commands, image, GENERAL, GENERAL);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier Dispatch PipelineBarrier2");
    CHECK_MOVED(commands, 2, image, DST, GENERAL);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_equal(void **state)
{
    (void)state;
    judged(run_equal);
}

static void run_structure(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage a = calls_app_image(&app), b = calls_app_image(&app);
    VkSampleLocationsInfoEXT locations = {.sType = VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT,
                                          .sampleLocationsPerPixel = VK_SAMPLE_COUNT_1_BIT,
                                          .sampleLocationGridSize = {1, 1}};
    VkImageMemoryBarrier chained = calls_app_barrier(a, DST, SRC), wrong = calls_app_barrier(a, DST, SRC);
    chained.pNext = wrong.pNext = &locations;
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, a, UNDEFINED, DST);
    calls_app_give(commands, &chained);
    calls_app_move(commands, b, UNDEFINED, DST);
    calls_app_give(commands, &wrong);
    calls_app_end(commands);
    /* What the second lacks is made up for in front of it. */
    CHECK_NAMES(commands, "PipelineBarrier PipelineBarrier PipelineBarrier2 PipelineBarrier");
    CHECK(calls_barrier1(commands, 1)->pImageMemoryBarriers[0].pNext != NULL);
    CHECK_EQUAL(calls_barrier2(commands, 2)->imageMemoryBarrierCount, 2);
    same_image1(calls_barrier1(commands, 3)->pImageMemoryBarriers, &wrong);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_structure(void **state)
{
    (void)state;
    judged(run_structure);
}

static void run_reported(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_move(commands, image, GENERAL, DST);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier PipelineBarrier CopyImageToBuffer CopyImageToBuffer");
    CHECK_EQUAL(calls_barrier1(commands, 1)->pImageMemoryBarriers[0].oldLayout, GENERAL);
    calls_app_close(&app);
}

static void test_reported(void **state)
{
    (void)state;
    layer_set("BARRIERS", "report");
    run_complete(run_reported, NULL);
    CHECK_EQUAL(report_count("fault", ""), 2);
    CHECK_EQUAL(report_number("barriers", "reported"), 2);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 0);
    CHECK_EQUAL(report_number("barriers", "rewritten"), 0);
}

/* --- Depth and stencil --- */

static void copy_depth(const struct calls_app *app, VkCommandBuffer commands, VkImage image,
                       VkImageAspectFlagBits aspect)
{
    VkBufferImageCopy region = {.imageSubresource = {aspect, 0, 0, 1}, .imageExtent = {16, 16, 1}};
    vkCmdCopyImageToBuffer(commands, image, SRC, app->buffer, 1, &region);
}

static void clear_depth(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspects)
{
    VkClearDepthStencilValue value = {1, 0};
    VkImageSubresourceRange range = {aspects, 0, 1, 0, 1};
    vkCmdClearDepthStencilImage(commands, image, DST, &value, 1, &range);
}

#define DEPTH_STENCIL (VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT)

static void run_depth(void *context)
{
    struct calls_app app;
    const struct calls_options *options = context;
    calls_app_open(&app, options);
    VkImage image = calls_app_depth(&app);
    VkImageMemoryBarrier barrier = calls_app_barrier(image, UNDEFINED, DST);
    barrier.subresourceRange.aspectMask = DEPTH_STENCIL;
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_give(commands, &barrier);
    clear_depth(commands, image, VK_IMAGE_ASPECT_DEPTH_BIT);
    copy_depth(&app, commands, image, VK_IMAGE_ASPECT_DEPTH_BIT);
    copy_depth(&app, commands, image, VK_IMAGE_ASPECT_STENCIL_BIT);
    calls_app_end(commands);
    if (options->separate) {
        CHECK_NAMES(commands, "PipelineBarrier ClearDepthStencilImage PipelineBarrier2 CopyImageToBuffer "
                              "PipelineBarrier2 CopyImageToBuffer");
        CHECK_EQUAL(calls_only_barrier(commands, 2).subresourceRange.aspectMask, VK_IMAGE_ASPECT_DEPTH_BIT);
        CHECK_EQUAL(calls_only_barrier(commands, 4).subresourceRange.aspectMask, VK_IMAGE_ASPECT_STENCIL_BIT);
    } else {
        CHECK_NAMES(commands, "PipelineBarrier ClearDepthStencilImage PipelineBarrier2 CopyImageToBuffer "
                              "CopyImageToBuffer");
        CHECK_EQUAL(calls_only_barrier(commands, 2).subresourceRange.aspectMask, DEPTH_STENCIL);
        CHECK_MOVED(commands, 2, image, DST, SRC);
    }
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L34 */
static void test_depth(void **state)
{
    struct calls_options options = {0};
    (void)state;
    driver_set(ORACLE);
    run_complete(run_depth, &options);
    options.separate = true;
    run_complete(run_depth, &options);
}

/* --- Render passes --- */

static void run_pass(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkImageView view = calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR);
    VkRenderPass discards = calls_app_pass(&app, UNDEFINED, COLOR);
    VkRenderPass keeps = calls_app_pass(&app, COLOR, SRC);
    VkFramebuffer framebuffer = calls_app_framebuffer(&app, discards, view, 1);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_render(commands, discards, framebuffer);
    calls_app_render(commands, keeps, framebuffer);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_render(commands, keeps, framebuffer); /* missing: SRC -> COLOR */
    calls_app_clear(commands, image, DST);          /* missing: SRC -> DST */
    calls_app_render(commands, discards, framebuffer);
    calls_app_move(commands, image, SRC, DST); /* wrong: is in COLOR */
    calls_app_end(commands);
    CHECK_NAMES(commands, "BeginRenderPass EndRenderPass BeginRenderPass EndRenderPass CopyImageToBuffer "
                          "PipelineBarrier2 BeginRenderPass EndRenderPass PipelineBarrier2 ClearColorImage "
                          "BeginRenderPass EndRenderPass PipelineBarrier2");
    CHECK_MOVED(commands, 5, image, SRC, COLOR);
    CHECK_MOVED(commands, 8, image, SRC, DST);
    CHECK_MOVED(commands, 12, image, COLOR, DST);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_pass(void **state)
{
    (void)state;
    judged(run_pass);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 2);
    CHECK_EQUAL(report_number("barriers", "rewritten"), 1);
}

/* A framebuffer of one layer over a view of two: the second layer is left alone. */
static void run_layers(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_mips(&app, 1, 2);
    VkImageSubresourceRange both = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 2};
    VkImageView view = calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, both);
    VkRenderPass pass = calls_app_pass(&app, UNDEFINED, COLOR);
    VkFramebuffer framebuffer = calls_app_framebuffer(&app, pass, view, 1);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_render(commands, pass, framebuffer);
    VkImageMemoryBarrier barrier = calls_app_barrier(image, GENERAL, SRC);
    calls_app_give(commands, &barrier);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier BeginRenderPass EndRenderPass PipelineBarrier2");
    const VkDependencyInfo *found = calls_barrier2(commands, 3);
    CHECK_EQUAL(found->imageMemoryBarrierCount, 2);
    CHECK_EQUAL(found->pImageMemoryBarriers[0].oldLayout, COLOR);
    CHECK_EQUAL(found->pImageMemoryBarriers[0].subresourceRange.layerCount, 1);
    CHECK_EQUAL(found->pImageMemoryBarriers[1].oldLayout, GENERAL);
    calls_app_close(&app);
}

static void test_layers(void **state)
{
    (void)state;
    run_complete(run_layers, NULL);
}

static void run_imageless(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkImageView view = calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR);
    VkRenderPass pass = calls_app_pass(&app, COLOR, COLOR);
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkFramebufferAttachmentImageInfo image_info = {.sType =
                                                       VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO,
                                                   .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                                   .width = 16,
                                                   .height = 16,
                                                   .layerCount = 1,
                                                   .viewFormatCount = 1,
                                                   .pViewFormats = &format};
    VkFramebufferAttachmentsCreateInfo attachments = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO,
        .attachmentImageInfoCount = 1,
        .pAttachmentImageInfos = &image_info};
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .pNext = &attachments,
                                    .flags = VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT,
                                    .renderPass = pass,
                                    .attachmentCount = 1,
                                    .width = 16,
                                    .height = 16,
                                    .layers = 1};
    VkFramebuffer *framebuffer = &app.framebuffers[app.framebuffer_count++];
    CHECK_EQUAL(vkCreateFramebuffer(app.device, &info, NULL, framebuffer), VK_SUCCESS);
    VkRenderPassAttachmentBeginInfo named = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
                                             .attachmentCount = 1,
                                             .pAttachments = &view};
    VkClearValue clear = {0};
    VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                   .pNext = &named,
                                   .renderPass = pass,
                                   .framebuffer = *framebuffer,
                                   .renderArea = {.extent = {16, 16}},
                                   .clearValueCount = 1,
                                   .pClearValues = &clear};
    VkSubpassBeginInfo contents = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
    VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, GENERAL);
    vkCmdBeginRenderPass2(commands, &begin, &contents);
    vkCmdEndRenderPass2(commands, &end);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier2 BeginRenderPass2 EndRenderPass2");
    /* The application's own and the repair are one. */
    CHECK_MOVED(commands, 0, image, UNDEFINED, COLOR);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_imageless(void **state)
{
    (void)state;
    judged(run_imageless);
}

/* A barrier within an instance goes down at once and as it is, but for one that may not stand there. */
static void run_inside(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app), other = calls_app_image(&app);
    VkImageView view = calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR);
    VkRenderPass pass = calls_app_pass(&app, UNDEFINED, COLOR);
    VkFramebuffer framebuffer = calls_app_framebuffer(&app, pass, view, 1);
    VkClearValue clear = {0};
    VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                   .renderPass = pass,
                                   .framebuffer = framebuffer,
                                   .renderArea = {.extent = {16, 16}},
                                   .clearValueCount = 1,
                                   .pClearValues = &clear};
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, other, UNDEFINED, DST);
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    calls_app_move(commands, image, GENERAL, GENERAL);
    calls_app_move(commands, other, GENERAL, SRC);
    calls_app_push(&app, commands);
    vkCmdEndRenderPass(commands);
    /* The one for it goes behind. */
    calls_app_read(&app, commands, other, GENERAL, 0);
    calls_app_clear(commands, image, DST);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier BeginRenderPass PipelineBarrier PushConstants EndRenderPass "
                          "PipelineBarrier2 CopyImageToBuffer PipelineBarrier2 ClearColorImage");
    CHECK_MOVED(commands, 5, other, DST, GENERAL);
    CHECK_MOVED(commands, 7, image, COLOR, DST);
    calls_app_close(&app);
}

static void test_inside(void **state)
{
    (void)state;
    run_complete(run_inside, NULL);
}

/* --- Dynamic rendering --- */

static VkRenderingAttachmentInfo attachment_of(VkImageView view, VkImageLayout layout)
{
    return (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                       .imageView = view,
                                       .imageLayout = layout,
                                       .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                       .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
}

static void render(VkCommandBuffer commands, const VkRenderingAttachmentInfo *color,
                   const VkRenderingAttachmentInfo *depth, const VkRenderingAttachmentInfo *stencil,
                   VkRenderingFlags flags)
{
    VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                            .flags = flags,
                            .renderArea = {.extent = {16, 16}},
                            .layerCount = 1,
                            .colorAttachmentCount = color ? 1 : 0,
                            .pColorAttachments = color,
                            .pDepthAttachment = depth,
                            .pStencilAttachment = stencil};
    vkCmdBeginRendering(commands, &info);
    vkCmdEndRendering(commands);
}

static void run_rendering(void *context)
{
    struct calls_app app;
    const struct calls_options *options = context;
    calls_app_open(&app, options);
    VkImage image = calls_app_image(&app), target = calls_app_image(&app), depth = calls_app_depth(&app);
    VkImageSubresourceRange both = {DEPTH_STENCIL, 0, 1, 0, 1};
    VkRenderingAttachmentInfo color =
        attachment_of(calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR), GENERAL);
    VkRenderingAttachmentInfo depths =
        attachment_of(calls_app_view(&app, depth, VK_FORMAT_D32_SFLOAT_S8_UINT, both), DEPTH);
    color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    color.resolveImageView = calls_app_view(&app, target, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR);
    color.resolveImageLayout = COLOR;
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, COLOR);
    calls_app_dispatch(commands);
    calls_app_move(commands, target, UNDEFINED, GENERAL);
    VkImageMemoryBarrier barrier = calls_app_barrier(depth, UNDEFINED, DST);
    barrier.subresourceRange.aspectMask = DEPTH_STENCIL;
    calls_app_give(commands, &barrier);
    clear_depth(commands, depth, DEPTH_STENCIL);
    render(commands, &color, &depths, &depths, 0);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier Dispatch PipelineBarrier2 ClearDepthStencilImage PipelineBarrier2 "
                          "BeginRendering EndRendering PipelineBarrier2 CopyImageToBuffer");
    const VkDependencyInfo *found = calls_barrier2(commands, 4);
    CHECK_EQUAL(found->imageMemoryBarrierCount, 3); /* depth and stencil in one */
    CHECK_MOVED(commands, 7, image, GENERAL, SRC);
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L18 */
static void test_rendering(void **state)
{
    struct calls_options options = {0};
    (void)state;
    driver_set(ORACLE);
    run_complete(run_rendering, &options);
    options.separate = true;
    run_complete(run_rendering, &options);
}

/* Nothing may stand between a suspended instance and the one that resumes it. */
static void run_suspended(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkImageView view = calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR);
    VkRenderingAttachmentInfo first = attachment_of(view, COLOR), second = attachment_of(view, GENERAL);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_clear(commands, image, DST);
    render(commands, &first, NULL, NULL, VK_RENDERING_SUSPENDING_BIT);
    render(commands, &first, NULL, NULL, VK_RENDERING_RESUMING_BIT | VK_RENDERING_SUSPENDING_BIT);
    render(commands, &second, NULL, NULL, VK_RENDERING_RESUMING_BIT);
    calls_app_read(&app, commands, image, COLOR, 0);
    calls_app_end(commands);
    /* The last instance says what isn't so: reported, and nothing is known of the image afterwards. */
    CHECK_NAMES(commands, "PipelineBarrier ClearColorImage PipelineBarrier2 BeginRendering EndRendering "
                          "BeginRendering EndRendering BeginRendering EndRendering CopyImageToBuffer");
    CHECK_MOVED(commands, 2, image, DST, COLOR);
    calls_app_close(&app);
}

/* L42 */
static void test_suspended(void **state)
{
    (void)state;
    run_complete(run_suspended, NULL);
    CHECK_EQUAL(report_count("fault", "inside a render pass"), 1);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 1);
}

/* ... over three command buffers: what they need goes before the first. */
static void run_suspended_apart(void *context)
{
    struct calls_app app;
    VkCommandBuffer commands[3];
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkRenderingAttachmentInfo color =
        attachment_of(calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR), COLOR);
    static const VkRenderingFlags flags[3] = {VK_RENDERING_SUSPENDING_BIT,
                                              VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT,
                                              VK_RENDERING_RESUMING_BIT};
    for (int i = 0; i < 3; i++) {
        commands[i] = calls_app_begin(&app);
        render(commands[i], &color, NULL, NULL, flags[i]);
        calls_app_end(commands[i]);
        CHECK_NAMES(commands[i], "BeginRendering EndRendering");
    }
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 3, .pCommandBuffers = commands};
    CHECK_EQUAL(vkQueueSubmit(app.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    CHECK_EQUAL(vkQueueWaitIdle(app.queue), VK_SUCCESS);
    CHECK_EQUAL(fault_oracle_violations(FAULT_ORACLE_RULES), 0);
    calls_app_close(&app);
}

static void test_suspended_apart(void **state)
{
    (void)state;
    judged(run_suspended_apart);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 1);
}

/* --- Events --- */

static void run_events(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage a = calls_app_image(&app), b = calls_app_image(&app);
    VkImageMemoryBarrier2 barrier2 = calls_app_barrier2(a, GENERAL, SRC);
    VkImageMemoryBarrier barrier = calls_app_barrier(b, GENERAL, SRC);
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier2};
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, a, UNDEFINED, DST);
    calls_app_move(commands, b, UNDEFINED, DST);
    calls_app_clear(commands, a, DST);
    vkCmdSetEvent2(commands, app.event, &info);
    calls_app_dispatch(commands);
    vkCmdWaitEvents2(commands, 1, &app.event, &info);
    calls_app_read(&app, commands, a, SRC, 0);
    vkCmdSetEvent(commands, app.event, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vkCmdWaitEvents(commands, 1, &app.event, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                    0, NULL, 0, NULL, 1, &barrier);
    calls_app_read(&app, commands, b, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier2 ClearColorImage PipelineBarrier2 SetEvent2 Dispatch WaitEvents2 "
                          "CopyImageToBuffer SetEvent PipelineBarrier2 WaitEvents CopyImageToBuffer");
    CHECK_MOVED(commands, 2, a, DST, GENERAL);
    CHECK_MOVED(commands, 8, b, DST, GENERAL);
    const struct arguments_vkCmdWaitEvents2 *waited = fault_command_arguments(commands, 5);
    same_image2(waited->pDependencyInfos[0].pImageMemoryBarriers, &barrier2);
    const struct arguments_vkCmdWaitEvents *waited1 = fault_command_arguments(commands, 9);
    same_image1(waited1->pImageMemoryBarriers, &barrier);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_events(void **state)
{
    (void)state;
    judged(run_events);
}

/* --- Secondary command buffers --- */

static void run_secondaries(void *context)
{
    struct calls_app app;
    VkCommandBuffer readers[2];
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer writer = calls_app_begin_secondary(&app);
    calls_app_clear(writer, image, DST);
    calls_app_end(writer);
    for (int i = 0; i < 2; i++) {
        readers[i] = calls_app_begin_secondary(&app);
        calls_app_read(&app, readers[i], image, SRC, 0);
        calls_app_end(readers[i]);
    }
    VkCommandBuffer all[4] = {readers[0], readers[1], writer, readers[0]};
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_clear(commands, image, DST);
    vkCmdExecuteCommands(commands, 4, all);
    calls_app_clear(commands, image, DST);
    calls_app_end(commands);
    CHECK_NAMES(commands, "PipelineBarrier ClearColorImage PipelineBarrier2 ExecuteCommands PipelineBarrier2 "
                          "ExecuteCommands PipelineBarrier2 ExecuteCommands PipelineBarrier2 "
                          "ClearColorImage");
    static const uint32_t counts[3] = {2, 1, 1};
    for (uint32_t i = 0, first = 0; i < 3; first += counts[i++]) {
        const struct arguments_vkCmdExecuteCommands *found = fault_command_arguments(commands, 3 + 2 * i);
        CHECK_EQUAL(found->commandBufferCount, counts[i]);
        CHECK(memcmp(found->pCommandBuffers, &all[first], counts[i] * sizeof(*all)) == 0);
    }
    run_judged(&app, commands);
    calls_app_close(&app);
}

/* L27 */
static void test_secondaries(void **state)
{
    (void)state;
    judged(run_secondaries);
    CHECK_EQUAL(report_count("repair", "vkCmdCopyImageToBuffer"), 1);
}

/* What only the secondary uses is needed by the primary. */
static void run_secondary_needs(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer secondary = calls_app_begin_secondary(&app);
    calls_app_clear(secondary, image, DST);
    calls_app_move(secondary, image, DST, GENERAL);
    calls_app_end(secondary);
    VkCommandBuffer commands = calls_app_begin(&app);
    vkCmdExecuteCommands(commands, 1, &secondary);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "ExecuteCommands PipelineBarrier2 CopyImageToBuffer");
    CHECK_MOVED(commands, 1, image, GENERAL, SRC);
    run_judged(&app, commands);
    run_judged(&app, commands);
    calls_app_close(&app);
}

static void test_secondary_needs(void **state)
{
    (void)state;
    judged(run_secondary_needs);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 2);
}

static void run_secondary_inside(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkImageView view = calls_app_view(&app, image, VK_FORMAT_R8G8B8A8_UNORM, ALL_COLOR);
    VkRenderPass pass = calls_app_pass(&app, UNDEFINED, COLOR);
    VkFramebuffer framebuffer = calls_app_framebuffer(&app, pass, view, 1);
    VkCommandBuffer secondary = calls_app_begin_inside(&app, pass);
    calls_app_move(secondary, image, COLOR, COLOR);
    calls_app_push(&app, secondary);
    calls_app_end(secondary);
    CHECK_NAMES(secondary, "PipelineBarrier PushConstants");
    VkClearValue clear = {0};
    VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                   .renderPass = pass,
                                   .framebuffer = framebuffer,
                                   .renderArea = {.extent = {16, 16}},
                                   .clearValueCount = 1,
                                   .pClearValues = &clear};
    VkCommandBuffer commands = calls_app_begin(&app);
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
    vkCmdExecuteCommands(commands, 1, &secondary);
    vkCmdEndRenderPass(commands);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "BeginRenderPass ExecuteCommands EndRenderPass PipelineBarrier2 CopyImageToBuffer");
    calls_app_close(&app);
}

static void test_secondary_inside(void **state)
{
    (void)state;
    run_complete(run_secondary_inside, NULL);
}

/* --- Life of command buffers --- */

static void run_again(void *context)
{
    struct calls_app app;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    for (int i = 0; i < 5; i++) {
        /* Nothing of what was recorded before counts, and nothing pending is left over. */
        calls_app_move(commands, image, UNDEFINED, i & 1 ? SRC : DST);
        if (i == 1)
            CHECK_EQUAL(vkResetCommandBuffer(commands, 0), VK_SUCCESS);
        if (i == 2)
            CHECK_EQUAL(vkResetCommandBuffer(commands, VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT),
                        VK_SUCCESS);
        if (i == 3)
            CHECK_EQUAL(vkResetCommandPool(app.device, app.pool, 0), VK_SUCCESS);
        if (i == 4)
            calls_app_end(commands);
        if (i < 4)
            CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
        CHECK_EQUAL(fault_command_count(commands), i == 4 ? 1 : 0);
    }
    CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "CopyImageToBuffer");
    vkFreeCommandBuffers(app.device, app.pool, 1, &commands);
    vkTrimCommandPool(app.device, app.pool, 0);
    commands = calls_app_begin(&app);
    calls_app_read(&app, commands, image, GENERAL, 0);
    calls_app_end(commands);
    CHECK_NAMES(commands, "CopyImageToBuffer");
    calls_app_close(&app);
}

static void test_again(void **state)
{
    (void)state;
    run_complete(run_again, NULL);
    CHECK_EQUAL(report_count("repair", ""), 0);
}

/* An image that goes while a command buffer that used it is still there (L39, L41). */
static void run_gone(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkCommandBuffer commands = calls_app_begin(&app);
    for (int i = 0; i < 100; i++) {
        VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        VkImage image = calls_app_image(&app);
        CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
        calls_app_read(&app, commands, image, i & 1 ? SRC : GENERAL, 0);
        calls_app_end(commands);
        CHECK_NAMES(commands, "CopyImageToBuffer");
        app.image_count--;
        vkDestroyImage(app.device, image, NULL);
        vkFreeMemory(app.device, app.memories[app.image_count], NULL);
    }
    calls_app_close(&app);
}

static void test_gone(void **state)
{
    (void)state;
    run_complete(run_gone, NULL);
}

/* A recording that failed: what it did isn't known, so nothing is, and nothing is repaired on a guess. */
static void run_failed(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer failed = calls_app_begin(&app);
    calls_app_clear(failed, image, DST);
    CHECK_EQUAL(vkEndCommandBuffer(failed), VK_ERROR_OUT_OF_HOST_MEMORY);
    VkCommandBuffer commands = calls_app_begin(&app);
    calls_app_move(commands, image, UNDEFINED, DST);
    calls_app_clear(commands, image, DST);
    calls_app_end(commands);
    calls_app_run(&app, commands);
    CHECK_EQUAL(vkResetCommandBuffer(failed, 0), VK_SUCCESS);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK_EQUAL(vkBeginCommandBuffer(failed, &begin), VK_SUCCESS);
    calls_app_read(&app, failed, image, SRC, 0);
    calls_app_end(failed);
    calls_app_run(&app, failed);
    calls_app_close(&app);
}

static void test_failed(void **state)
{
    (void)state;
    driver_set("fault=vkEndCommandBuffer,call=1,result=-1");
    run_complete(run_failed, NULL);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 1);
}

/* --- Labels --- */

static void begin_label(const struct calls_app *app, VkCommandBuffer commands, const char *name)
{
    PFN_vkCmdBeginDebugUtilsLabelEXT begin =
        (PFN_vkCmdBeginDebugUtilsLabelEXT)vkGetDeviceProcAddr(app->device, "vkCmdBeginDebugUtilsLabelEXT");
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = name};
    begin(commands, &label);
}

static void end_label(const struct calls_app *app, VkCommandBuffer commands)
{
    PFN_vkCmdEndDebugUtilsLabelEXT end =
        (PFN_vkCmdEndDebugUtilsLabelEXT)vkGetDeviceProcAddr(app->device, "vkCmdEndDebugUtilsLabelEXT");
    end(commands);
}

static void run_labels(void *context)
{
    struct calls_app app;
    (void)context;
    calls_app_open(&app, NULL);
    VkImage image = calls_app_image(&app);
    VkCommandBuffer commands = calls_app_begin(&app);
    end_label(&app, commands);
    calls_app_move(commands, image, UNDEFINED, DST);
    for (int i = 0; i < 40; i++) {
        begin_label(&app, commands, "other");
        end_label(&app, commands);
    }
    begin_label(&app, commands, "frame");
    begin_label(&app, commands, "shadow pass");
    calls_app_read(&app, commands, image, SRC, 0);
    end_label(&app, commands);
    calls_app_clear(commands, image, DST);
    end_label(&app, commands);
    calls_app_read(&app, commands, image, SRC, 0);
    calls_app_end(commands);
    calls_app_close(&app);
}

static void test_labels(void **state)
{
    (void)state;
    run_complete(run_labels, NULL);
    CHECK_EQUAL(report_count("repair", "\"labels\":\"frame/shadow pass\""), 1);
    CHECK_EQUAL(report_count("repair", "\"labels\":\"frame\""), 1);
    CHECK_EQUAL(report_count("repair", ""), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_same),
        HARNESS_TEST(test_missing),
        HARNESS_TEST(test_missing1),
        HARNESS_TEST(test_mips),
        HARNESS_TEST(test_transfers),
        HARNESS_TEST(test_joined),
        HARNESS_TEST(test_folded),
        HARNESS_TEST(test_chained),
        HARNESS_TEST(test_unjoined),
        HARNESS_TEST(test_wrong),
        HARNESS_TEST(test_left_alone),
        HARNESS_TEST(test_equal),
        HARNESS_TEST(test_structure),
        HARNESS_TEST(test_reported),
        HARNESS_TEST(test_depth),
        HARNESS_TEST(test_pass),
        HARNESS_TEST(test_layers),
        HARNESS_TEST(test_imageless),
        HARNESS_TEST(test_inside),
        HARNESS_TEST(test_rendering),
        HARNESS_TEST(test_suspended),
        HARNESS_TEST(test_suspended_apart),
        HARNESS_TEST(test_events),
        HARNESS_TEST(test_secondaries),
        HARNESS_TEST(test_secondary_needs),
        HARNESS_TEST(test_secondary_inside),
        HARNESS_TEST(test_again),
        HARNESS_TEST(test_gone),
        HARNESS_TEST(test_failed),
        HARNESS_TEST(test_labels),
    };
    return cmocka_run_group_tests_name("sync_calls", tests, NULL, NULL);
}
