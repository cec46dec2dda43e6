/* What programs forgot, or said wrongly, and what the layer makes of it: the right barrier in the right
 * place. L01 to L18, as far as no shader reads. */
#include "record_app.h"

#define WHOLE ((struct record_range){0})
#define ONE ((struct record_range){COLOR_BIT, 0, 1, 0, 1})
#define ALL ((struct record_range){COLOR_BIT, 0, 4, 0, 6})
#define BOTH ((struct record_range){BOTH_BITS, 0, 1, 0, 1})

#define BARRIERS_MAX 16

/* A barrier that is to be inserted. */
struct expected {
    const char *before;
    enum record_image image;
    VkImageLayout from, to;
    VkImageAspectFlags aspects; /* 0: COLOR, mip 0, layer 0 */
    uint32_t mip, mips, layer, layers;
};

struct missing {
    const char *name;
    record_function record;
    struct expected expected[4];
    uint32_t calls; /* that are inserted */
};

static VkRenderPass pass, views_pass, imageless_pass;
static VkFramebuffer frame, views_frame, imageless_frame;
static VkCommandBuffer secondaries[3];

static VkImage image_of(const struct record_app *app, enum record_image image)
{
    return app->images[image];
}

/* From whatever it was in to where it is, known to the command buffer. */
static void begin_in(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                     enum record_image image, VkImageLayout layout)
{
    struct record_range range = image == IMAGE_DEPTH ? BOTH : image == IMAGE_ARRAY ? ALL : ONE;
    record_move(vk, cb, image_of(app, image), range, UNDEFINED, layout);
    record_act(app, vk, cb);
}

/* --- Transfers --- */

static void copy(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, DST);
    begin_in(app, vk, cb, IMAGE_OTHER, SHADER);
    record_copy(vk, cb, image_of(app, IMAGE_COLOR), SRC, image_of(app, IMAGE_OTHER), DST);
}

static void copy2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageCopy2 region = {.sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2,
                           .srcSubresource = {COLOR_BIT, 0, 0, 1},
                           .dstSubresource = {COLOR_BIT, 0, 0, 1},
                           .extent = {16, 16, 1}};
    VkCopyImageInfo2 info = {.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2,
                             .srcImage = image_of(app, IMAGE_COLOR),
                             .srcImageLayout = SRC,
                             .dstImage = image_of(app, IMAGE_OTHER),
                             .dstImageLayout = GENERAL,
                             .regionCount = 1,
                             .pRegions = &region};
    begin_in(app, vk, cb, IMAGE_COLOR, TARGET);
    begin_in(app, vk, cb, IMAGE_OTHER, GENERAL);
    vk->CmdCopyImage2(cb, &info);
}

/* L09 */
static void mip_chain(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage image = image_of(app, IMAGE_ARRAY);
    begin_in(app, vk, cb, IMAGE_ARRAY, DST);
    for (uint32_t i = 0; i < 3; i++) {
        VkImageBlit region = {
            {COLOR_BIT, i, 0, 6}, {{0, 0, 0}, {1, 1, 1}}, {COLOR_BIT, i + 1, 0, 6}, {{0, 0, 0}, {1, 1, 1}}};
        vk->CmdBlitImage(cb, image, SRC, image, DST, 1, &region, VK_FILTER_NEAREST);
    }
}

static void blit2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageBlit2 region = {.sType = VK_STRUCTURE_TYPE_IMAGE_BLIT_2,
                           .srcSubresource = {COLOR_BIT, 2, 1, 2},
                           .srcOffsets = {{0, 0, 0}, {1, 1, 1}},
                           .dstSubresource = {COLOR_BIT, 3, 3, 2},
                           .dstOffsets = {{0, 0, 0}, {1, 1, 1}}};
    VkBlitImageInfo2 info = {.sType = VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2,
                             .srcImage = image_of(app, IMAGE_ARRAY),
                             .srcImageLayout = SRC,
                             .dstImage = image_of(app, IMAGE_ARRAY),
                             .dstImageLayout = DST,
                             .regionCount = 1,
                             .pRegions = &region,
                             .filter = VK_FILTER_LINEAR};
    begin_in(app, vk, cb, IMAGE_ARRAY, GENERAL);
    vk->CmdBlitImage2(cb, &info);
}

static void resolve(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageResolve region = {.srcSubresource = {COLOR_BIT, 0, 0, 1},
                             .dstSubresource = {COLOR_BIT, 0, 0, 1},
                             .extent = {16, 16, 1}};
    begin_in(app, vk, cb, IMAGE_SAMPLES, TARGET);
    vk->CmdResolveImage(cb, image_of(app, IMAGE_SAMPLES), SRC, image_of(app, IMAGE_OTHER), DST, 1, &region);
    vk->CmdResolveImage(cb, image_of(app, IMAGE_SAMPLES), SRC, image_of(app, IMAGE_OTHER), GENERAL, 1,
                        &region);
}

static void resolve2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageResolve2 region = {.sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2,
                              .srcSubresource = {COLOR_BIT, 0, 0, 1},
                              .dstSubresource = {COLOR_BIT, 0, 0, 1},
                              .extent = {16, 16, 1}};
    VkResolveImageInfo2 info = {.sType = VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2,
                                .srcImage = image_of(app, IMAGE_SAMPLES),
                                .srcImageLayout = GENERAL,
                                .dstImage = image_of(app, IMAGE_OTHER),
                                .dstImageLayout = DST,
                                .regionCount = 1,
                                .pRegions = &region};
    begin_in(app, vk, cb, IMAGE_SAMPLES, SRC);
    vk->CmdResolveImage2(cb, &info);
}

static void buffers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, SHADER);
    record_upload(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, DST);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

static void buffers2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkBufferImageCopy2 region = {.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2,
                                 .imageSubresource = {COLOR_BIT, 1, 2, 3},
                                 .imageExtent = {8, 8, 1}};
    VkCopyBufferToImageInfo2 up = {.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2,
                                   .srcBuffer = app->buffer,
                                   .dstImage = image_of(app, IMAGE_ARRAY),
                                   .dstImageLayout = DST,
                                   .regionCount = 1,
                                   .pRegions = &region};
    VkCopyImageToBufferInfo2 down = {.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2,
                                     .srcImage = image_of(app, IMAGE_ARRAY),
                                     .srcImageLayout = SRC,
                                     .dstBuffer = app->buffer,
                                     .regionCount = 1,
                                     .pRegions = &region};
    begin_in(app, vk, cb, IMAGE_ARRAY, SHADER);
    vk->CmdCopyBufferToImage2(cb, &up);
    vk->CmdCopyImageToBuffer2(cb, &down);
}

static void clears(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_ARRAY, SHADER);
    begin_in(app, vk, cb, IMAGE_DEPTH, DEPTH);
    record_clear(vk, cb, image_of(app, IMAGE_ARRAY), ((struct record_range){COLOR_BIT, 1, 0, 4, 0}), DST);
    record_clear_depth(vk, cb, image_of(app, IMAGE_DEPTH), BOTH_BITS, GENERAL);
}

static void volume(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkBufferImageCopy region = {
        .imageSubresource = {COLOR_BIT, 1, 0, 1}, .imageOffset = {0, 0, 2}, .imageExtent = {8, 8, 1}};
    record_move(vk, cb, image_of(app, IMAGE_VOLUME), ((struct record_range){COLOR_BIT, 0, 2, 0, 1}),
                UNDEFINED, SHADER);
    record_act(app, vk, cb);
    vk->CmdCopyBufferToImage(cb, app->buffer, image_of(app, IMAGE_VOLUME), DST, 1, &region);
}

/* --- Render passes --- */

static void render_pass(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, DST);
    record_begin_pass(vk, cb, pass, frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    vk->CmdEndRenderPass(cb);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

static void begin_pass2(const struct record_vk *vk, VkCommandBuffer cb, VkRenderPass begun,
                        VkFramebuffer framebuffer, const void *chain)
{
    VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .pNext = chain,
                                  .renderPass = begun,
                                  .framebuffer = framebuffer,
                                  .renderArea = {{0, 0}, {16, 16}}};
    VkSubpassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
    VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    vk->CmdBeginRenderPass2(cb, &info, &begin);
    vk->CmdEndRenderPass2(cb, &end);
}

static void render_pass2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderPassAttachmentBeginInfo views = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
                                             .attachmentCount = 1,
                                             .pAttachments = &app->views[VIEW_OTHER]};
    begin_in(app, vk, cb, IMAGE_COLOR, GENERAL);
    begin_in(app, vk, cb, IMAGE_OTHER, SRC);
    begin_pass2(vk, cb, pass, frame, NULL);
    begin_pass2(vk, cb, imageless_pass, imageless_frame, &views);
}

static void multiview(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_ARRAY, DST);
    record_begin_pass(vk, cb, views_pass, views_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    record_clear(vk, cb, image_of(app, IMAGE_ARRAY), ((struct record_range){COLOR_BIT, 0, 1, 0, 6}), DST);
}

/* --- Dynamic rendering --- */

static VkRenderingAttachmentInfo attachment(VkImageView view, VkImageLayout layout)
{
    return (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                       .imageView = view,
                                       .imageLayout = layout,
                                       .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                       .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
}

static void render(const struct record_vk *vk, VkCommandBuffer cb, const VkRenderingAttachmentInfo *color,
                   const VkRenderingAttachmentInfo *depth, const VkRenderingAttachmentInfo *stencil,
                   VkRenderingFlags flags)
{
    VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                            .flags = flags,
                            .renderArea = {{0, 0}, {16, 16}},
                            .layerCount = 1,
                            .colorAttachmentCount = color ? 1 : 0,
                            .pColorAttachments = color,
                            .pDepthAttachment = depth,
                            .pStencilAttachment = stencil};
    vk->CmdBeginRendering(cb, &info);
    vk->CmdEndRendering(cb);
}

/* L18 */
static void rendering(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo color = attachment(app->views[VIEW_SAMPLES], GENERAL);
    VkRenderingAttachmentInfo depth = attachment(app->views[VIEW_DEPTH], DEPTH);
    color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    color.resolveImageView = app->views[VIEW_OTHER];
    color.resolveImageLayout = TARGET;
    begin_in(app, vk, cb, IMAGE_SAMPLES, TARGET);
    begin_in(app, vk, cb, IMAGE_OTHER, GENERAL);
    begin_in(app, vk, cb, IMAGE_DEPTH, DST);
    render(vk, cb, &color, &depth, &depth, 0);
}

static void rendering_depth(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo depth = attachment(app->views[VIEW_DEPTH], DEPTH);
    record_move(vk, cb, image_of(app, IMAGE_DEPTH), BOTH, UNDEFINED, SRC);
    record_act(app, vk, cb);
    render(vk, cb, NULL, &depth, NULL, 0);
}

/* L42 */
static void suspended(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo color = attachment(app->views[VIEW_COLOR], TARGET);
    begin_in(app, vk, cb, IMAGE_COLOR, DST);
    render(vk, cb, &color, NULL, NULL, VK_RENDERING_SUSPENDING_BIT);
    render(vk, cb, &color, NULL, NULL, VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT);
    render(vk, cb, &color, NULL, NULL, VK_RENDERING_RESUMING_BIT);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

/* --- Depth and stencil --- */

/* Only depth has been used so far. */
static void depth_alone(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_upload(app, vk, cb, image_of(app, IMAGE_DEPTH), DEPTH_BIT, DST);
    record_read(app, vk, cb, image_of(app, IMAGE_DEPTH), DEPTH_BIT, SRC);
    record_read(app, vk, cb, image_of(app, IMAGE_DEPTH), STENCIL_BIT, SRC);
}

/* Depth is read only from here on, stencil is written as before. */
static void depth_read(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo depth = attachment(app->views[VIEW_DEPTH], DEPTH_READ);
    VkRenderingAttachmentInfo stencil = attachment(app->views[VIEW_DEPTH], DEPTH);
    depth.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    depth.storeOp = VK_ATTACHMENT_STORE_OP_NONE;
    begin_in(app, vk, cb, IMAGE_DEPTH, DEPTH);
    render(vk, cb, NULL, &depth, &stencil, 0);
}

/* --- Events --- */

static void event(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier barrier = record_barrier_info(image_of(app, IMAGE_COLOR), ONE, DST, SRC);
    begin_in(app, vk, cb, IMAGE_COLOR, SHADER);
    vk->CmdSetEvent(cb, app->event, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vk->CmdWaitEvents(cb, 1, &app->event, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                      NULL, 0, NULL, 1, &barrier);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
    vk->CmdResetEvent(cb, app->event, VK_PIPELINE_STAGE_TRANSFER_BIT);
}

/* Between the set and the wait it may happen at any time. */
static void event2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier2 barrier = record_barrier2_info(image_of(app, IMAGE_COLOR), ONE, DST, SRC);
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier};
    begin_in(app, vk, cb, IMAGE_COLOR, SHADER);
    vk->CmdSetEvent2(cb, app->event, &info);
    record_act(app, vk, cb);
    vk->CmdWaitEvents2(cb, 1, &app->event, &info);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

/* --- Barriers that go down as they are --- */

static void chained(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkSampleLocationsInfoEXT locations = {.sType = VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT,
                                          .sampleLocationsPerPixel = VK_SAMPLE_COUNT_1_BIT};
    VkImageMemoryBarrier barrier = record_barrier_info(image_of(app, IMAGE_DEPTH), BOTH, DEPTH, DST);
    barrier.pNext = &locations;
    begin_in(app, vk, cb, IMAGE_DEPTH, SRC);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                           NULL, 0, NULL, 1, &barrier);
    record_clear_depth(vk, cb, image_of(app, IMAGE_DEPTH), BOTH_BITS, DST);
}

/* --- Secondaries --- */

static void reads(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

static void writes(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_clear(vk, cb, image_of(app, IMAGE_COLOR), WHOLE, DST);
}

/* L27. The call is split where something must stand between its command buffers. */
static void executes(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, SHADER);
    vk->CmdExecuteCommands(cb, 1, &secondaries[0]);
    vk->CmdExecuteCommands(cb, 1, &secondaries[1]);
    vk->CmdExecuteCommands(cb, 1, &secondaries[1]);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

static const struct missing missing[] = {
    {"copy",
     copy,
     {{"vkCmdCopyImage", IMAGE_COLOR, DST, SRC, 0, 0, 0, 0, 0},
      {"vkCmdCopyImage", IMAGE_OTHER, SHADER, DST, 0, 0, 0, 0, 0}},
     1},
    {"copy2", copy2, {{"vkCmdCopyImage2", IMAGE_COLOR, TARGET, SRC, 0, 0, 0, 0, 0}}, 1},
    {"mip_chain",
     mip_chain,
     {{"vkCmdBlitImage", IMAGE_ARRAY, DST, SRC, COLOR_BIT, 0, 1, 0, 6},
      {"vkCmdBlitImage", IMAGE_ARRAY, DST, SRC, COLOR_BIT, 1, 1, 0, 6},
      {"vkCmdBlitImage", IMAGE_ARRAY, DST, SRC, COLOR_BIT, 2, 1, 0, 6}},
     3},
    {"blit2",
     blit2,
     {{"vkCmdBlitImage2", IMAGE_ARRAY, GENERAL, SRC, COLOR_BIT, 2, 1, 1, 2},
      {"vkCmdBlitImage2", IMAGE_ARRAY, GENERAL, DST, COLOR_BIT, 3, 1, 3, 2}},
     1},
    {"resolve",
     resolve,
     {{"vkCmdResolveImage", IMAGE_SAMPLES, TARGET, SRC, 0, 0, 0, 0, 0},
      {"vkCmdResolveImage", IMAGE_OTHER, DST, GENERAL, 0, 0, 0, 0, 0}},
     2},
    {"resolve2", resolve2, {{"vkCmdResolveImage2", IMAGE_SAMPLES, SRC, GENERAL, 0, 0, 0, 0, 0}}, 1},
    {"buffers",
     buffers,
     {{"vkCmdCopyBufferToImage", IMAGE_COLOR, SHADER, DST, 0, 0, 0, 0, 0},
      {"vkCmdCopyImageToBuffer", IMAGE_COLOR, DST, SRC, 0, 0, 0, 0, 0}},
     2},
    {"buffers2",
     buffers2,
     {{"vkCmdCopyBufferToImage2", IMAGE_ARRAY, SHADER, DST, COLOR_BIT, 1, 1, 2, 3},
      {"vkCmdCopyImageToBuffer2", IMAGE_ARRAY, DST, SRC, COLOR_BIT, 1, 1, 2, 3}},
     2},
    {"clears",
     clears,
     {{"vkCmdClearColorImage", IMAGE_ARRAY, SHADER, DST, COLOR_BIT, 1, 3, 4, 2},
      {"vkCmdClearDepthStencilImage", IMAGE_DEPTH, DEPTH, GENERAL, BOTH_BITS, 0, 1, 0, 1}},
     2},
    {"volume", volume, {{"vkCmdCopyBufferToImage", IMAGE_VOLUME, SHADER, DST, COLOR_BIT, 1, 1, 0, 1}}, 1},
    {"render_pass",
     render_pass,
     {{"vkCmdBeginRenderPass", IMAGE_COLOR, DST, TARGET, 0, 0, 0, 0, 0},
      {"vkCmdCopyImageToBuffer", IMAGE_COLOR, SHADER, SRC, 0, 0, 0, 0, 0}},
     2},
    {"render_pass2",
     render_pass2,
     {{"vkCmdBeginRenderPass2", IMAGE_COLOR, GENERAL, TARGET, 0, 0, 0, 0, 0},
      {"vkCmdBeginRenderPass2", IMAGE_OTHER, SRC, TARGET, 0, 0, 0, 0, 0}},
     2},
    {"multiview",
     multiview,
     {{"vkCmdBeginRenderPass", IMAGE_ARRAY, DST, TARGET, COLOR_BIT, 0, 1, 0, 6},
      {"vkCmdClearColorImage", IMAGE_ARRAY, SHADER, DST, COLOR_BIT, 0, 1, 0, 6}},
     2},
    {"rendering",
     rendering,
     {{"vkCmdBeginRendering", IMAGE_SAMPLES, TARGET, GENERAL, 0, 0, 0, 0, 0},
      {"vkCmdBeginRendering", IMAGE_OTHER, GENERAL, TARGET, 0, 0, 0, 0, 0},
      {"vkCmdBeginRendering", IMAGE_DEPTH, DST, DEPTH, BOTH_BITS, 0, 1, 0, 1}},
     0},
    {"suspended",
     suspended,
     {{"vkCmdBeginRendering", IMAGE_COLOR, DST, TARGET, 0, 0, 0, 0, 0},
      {"vkCmdCopyImageToBuffer", IMAGE_COLOR, TARGET, SRC, 0, 0, 0, 0, 0}},
     2},
    {"event", event, {{"vkCmdWaitEvents", IMAGE_COLOR, SHADER, DST, 0, 0, 0, 0, 0}}, 1},
    {"chained", chained, {{"vkCmdPipelineBarrier", IMAGE_DEPTH, SRC, DEPTH, BOTH_BITS, 0, 1, 0, 1}}, 1},
    {"executes",
     executes,
     {{"vkCmdExecuteCommands", IMAGE_COLOR, SHADER, SRC, 0, 0, 0, 0, 0},
      {"vkCmdExecuteCommands", IMAGE_COLOR, SRC, DST, 0, 0, 0, 0, 0},
      {"vkCmdCopyImageToBuffer", IMAGE_COLOR, DST, SRC, 0, 0, 0, 0, 0}},
     3},
};

static const struct missing missing2[] = {
    {"event2", event2, {{"vkCmdSetEvent2", IMAGE_COLOR, SHADER, DST, 0, 0, 0, 0, 0}}, 1},
};

static const struct missing missing_whole[] = {
    {"depth_read",
     depth_read,
     {{"vkCmdBeginRendering", IMAGE_DEPTH, DEPTH, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
       BOTH_BITS, 0, 1, 0, 1}},
     1},
    {"depth_alone",
     depth_alone,
     {{"vkCmdCopyImageToBuffer", IMAGE_DEPTH, DST, SRC, BOTH_BITS, 0, 1, 0, 1}},
     1},
    {"rendering_depth",
     rendering_depth,
     {{"vkCmdBeginRendering", IMAGE_DEPTH, SRC, DEPTH, BOTH_BITS, 0, 1, 0, 1}},
     1},
};

static const struct missing missing_separate[] = {
    {"depth_read",
     depth_read,
     {{"vkCmdBeginRendering", IMAGE_DEPTH, DEPTH, DEPTH_READ, DEPTH_BIT, 0, 1, 0, 1}},
     1},
    {"depth_alone",
     depth_alone,
     {{"vkCmdCopyImageToBuffer", IMAGE_DEPTH, DST, SRC, DEPTH_BIT, 0, 1, 0, 1}},
     1},
    {"rendering_depth",
     rendering_depth,
     {{"vkCmdBeginRendering", IMAGE_DEPTH, SRC, DEPTH, DEPTH_BIT, 0, 1, 0, 1}},
     1},
};

static bool is_expected(const struct record_app *app, const struct recorded *recorded,
                        const struct insertion *got, const struct expected *expected)
{
    VkImageSubresourceRange range = {COLOR_BIT, 0, 1, 0, 1};
    const char *before = fault_command_name(recorded->meant, got->before);
    size_t length = strlen(expected->before);
    if (expected->aspects)
        range = (VkImageSubresourceRange){expected->aspects, expected->mip, expected->mips, expected->layer,
                                          expected->layers};
    return strncmp(before, expected->before, length) == 0 &&
           (!before[length] || strcmp(before + length, "KHR") == 0) &&
           got->image == image_of(app, expected->image) && got->from == expected->from &&
           got->to == expected->to && memcmp(&got->range, &range, sizeof(range)) == 0;
}

static bool has_expected(const struct record_app *app, const struct recorded *recorded,
                         const struct insertion *got, uint32_t count, const struct expected *expected)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_expected(app, recorded, &got[i], expected))
            return true;
    return false;
}

/* A repair waits for what came before, and what comes waits for it. */
static void check_scopes(const struct insertion *got, const char *name)
{
    CHECK_SAY(got->source && got->destination, "%s: a repair waits for nothing", name);
    CHECK_SAY(got->destination_access, "%s: a repair makes nothing visible", name);
}

static void check_missing(const struct record_app *app, const struct missing *test)
{
    struct insertion got[BARRIERS_MAX];
    struct recorded recorded = record_both(app, test->record);
    uint32_t count = record_insertions(&recorded, got, BARRIERS_MAX), wanted = 0;
    while (wanted < 4 && test->expected[wanted].before) {
        CHECK_SAY(has_expected(app, &recorded, got, count, &test->expected[wanted]), "%s: %s is missing",
                  test->name, test->expected[wanted].before);
        wanted++;
    }
    CHECK_SAY(count == wanted, "%s: %u barriers inserted, not %u", test->name, count, wanted);
    uint32_t calls = record_barrier_calls(recorded.got) - record_barrier_calls(recorded.meant);
    CHECK_SAY(!test->calls || app->options.no_sync2 || calls == test->calls, "%s: %u calls inserted, not %u",
              test->name, calls, test->calls);
    for (uint32_t i = 0; i < count; i++)
        check_scopes(&got[i], test->name);
    record_run(app, recorded.got, test->name);
}

static void check_all(const struct record_app *app, const struct missing *tests, size_t size)
{
    for (size_t i = 0; i < size / sizeof(*tests); i++)
        check_missing(app, &tests[i]);
}

static void create_imageless(const struct record_app *app)
{
    VkFormat format = RECORD_FORMAT;
    VkFramebufferAttachmentImageInfo image = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .width = RECORD_SIDE,
        .height = RECORD_SIDE,
        .layerCount = 1,
        .viewFormatCount = 1,
        .pViewFormats = &format};
    VkFramebufferAttachmentsCreateInfo images = {.sType =
                                                     VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO,
                                                 .attachmentImageInfoCount = 1,
                                                 .pAttachmentImageInfos = &image};
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .pNext = &images,
                                    .flags = VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT,
                                    .renderPass = imageless_pass,
                                    .attachmentCount = 1,
                                    .width = RECORD_SIDE,
                                    .height = RECORD_SIDE,
                                    .layers = 1};
    CHECK_EQUAL(vkCreateFramebuffer(app->device, &info, NULL, &imageless_frame), VK_SUCCESS);
}

static void open_objects(const struct record_app *app)
{
    const VkSampleCountFlagBits one = VK_SAMPLE_COUNT_1_BIT;
    const VkCommandBufferInheritanceInfo none = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    pass = record_pass(app, RECORD_FORMAT, one, TARGET, TARGET, SHADER, 0);
    views_pass = record_pass(app, RECORD_FORMAT, one, TARGET, TARGET, SHADER, 0x3f);
    imageless_pass = record_pass(app, RECORD_FORMAT, one, TARGET, TARGET, SHADER, 0);
    frame = record_framebuffer(app, pass, app->views[VIEW_COLOR], 1);
    views_frame = record_framebuffer(app, views_pass, app->views[VIEW_ARRAY], 1);
    create_imageless(app);
    secondaries[0] = record_one(app, reads, &none);
    secondaries[1] = record_one(app, writes, &none);
}

static void close_objects(const struct record_app *app)
{
    const VkRenderPass passes[] = {pass, views_pass, imageless_pass};
    const VkFramebuffer frames[] = {frame, views_frame, imageless_frame};
    for (int i = 0; i < 3; i++) {
        vkDestroyFramebuffer(app->device, frames[i], NULL);
        vkDestroyRenderPass(app->device, passes[i], NULL);
    }
}

static void run_missing(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    check_all(&app, missing, sizeof(missing));
    if (!app.options.no_sync2)
        check_all(&app, missing2, sizeof(missing2));
    if (app.options.separate)
        check_all(&app, missing_separate, sizeof(missing_separate));
    else
        check_all(&app, missing_whole, sizeof(missing_whole));
    close_objects(&app);
    record_app_close(&app);
}

static void test_missing(void **state)
{
    (void)state;
    record_run_on_all(run_missing);
    CHECK(report_count("repair", "missing transition") > 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

static void test_missing_unmerged(void **state)
{
    (void)state;
    layer_set("MERGE", "false");
    record_run_on_all(run_missing);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_missing),
        HARNESS_TEST(test_missing_unmerged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
