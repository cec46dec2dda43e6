#include "record_correct.h"

#define WHOLE ((struct record_range){0})
#define ONE_LEVEL(m, l) ((struct record_range){COLOR_BIT, (m), 1, (l), 1})
#define BOTH ((struct record_range){BOTH_BITS, 0, 1, 0, 1})

static VkRenderPass color_pass, depth_pass, array_pass, views_pass, slice_pass, imageless_pass, resolve_pass,
    two_pass;
static VkFramebuffer color_frame, depth_frame, array_frame, views_frame, slice_frame, imageless_frame,
    resolve_frame, two_frame;
static VkCommandBuffer secondary, secondary_inside, secondary_rendering;

/* --- Barriers --- */

static void barriers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                              .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
    VkBufferMemoryBarrier buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .buffer = app->buffer,
                                    .size = VK_WHOLE_SIZE};
    VkImageMemoryBarrier images[20];
    for (uint32_t i = 0; i < 20; i++)
        images[i] = record_barrier_info(app->images[IMAGE_MANY + i], ONE_LEVEL(0, 0), UNDEFINED, GENERAL);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &memory,
                           0, NULL, 0, NULL);
    record_act(app, vk, cb);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_DEPENDENCY_BY_REGION_BIT, 1, &memory, 1, &buffer, 1, images);
    record_act(app, vk, cb);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 0, NULL, 0,
                           NULL, 0, NULL);
    record_act(app, vk, cb);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0,
                           NULL, 0, NULL, 19, &images[1]);
}

static void barriers2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkMemoryBarrier2 memory[2] = {{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                   .srcStageMask = VK_PIPELINE_STAGE_2_CLEAR_BIT,
                                   .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                   .dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                   .dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT},
                                  {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                   .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                   .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                   .dstStageMask = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                   .dstAccessMask = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT}};
    VkBufferMemoryBarrier2 buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
                                     .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                     .dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                                     .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                     .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                     .buffer = app->buffer,
                                     .offset = 16,
                                     .size = 32};
    VkImageMemoryBarrier2 images[2] = {
        record_barrier2_info(app->images[IMAGE_ARRAY], ((struct record_range){COLOR_BIT, 0, 4, 0, 6}),
                             UNDEFINED, DST),
        record_barrier2_info(app->images[IMAGE_DEPTH], BOTH, UNDEFINED, DEPTH)};
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .memoryBarrierCount = 2,
                             .pMemoryBarriers = memory,
                             .bufferMemoryBarrierCount = 1,
                             .pBufferMemoryBarriers = &buffer,
                             .imageMemoryBarrierCount = 2,
                             .pImageMemoryBarriers = images};
    if (app->options.no_sync2)
        return;
    vk->CmdPipelineBarrier2(cb, &info);
    record_act(app, vk, cb);
    /* Where synchronization2 is enabled this is one of memory, whatever the layout. */
    record_move2(vk, cb, app->images[IMAGE_ARRAY], ONE_LEVEL(1, 1), GENERAL, GENERAL);
    record_act(app, vk, cb);
    record_move2(vk, cb, app->images[IMAGE_ARRAY], ONE_LEVEL(1, 1), DST, SHADER);
    record_act(app, vk, cb);
    record_move2(vk, cb, app->images[IMAGE_ARRAY], ONE_LEVEL(1, 1), UNDEFINED, DST);
}

/* --- Transfers --- */

static void prepare(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier images[6] = {
        record_barrier_info(app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), UNDEFINED, DST),
        record_barrier_info(app->images[IMAGE_OTHER], ONE_LEVEL(0, 0), UNDEFINED, DST),
        record_barrier_info(app->images[IMAGE_ARRAY], ((struct record_range){COLOR_BIT, 0, 4, 0, 6}),
                            UNDEFINED, DST),
        record_barrier_info(app->images[IMAGE_VOLUME], ((struct record_range){COLOR_BIT, 0, 2, 0, 1}),
                            UNDEFINED, GENERAL),
        record_barrier_info(app->images[IMAGE_DEPTH], BOTH, UNDEFINED, DST),
        record_barrier_info(app->images[IMAGE_SAMPLES], ONE_LEVEL(0, 0), UNDEFINED, DST)};
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                           0, NULL, 6, images);
    record_clear(vk, cb, app->images[IMAGE_COLOR], WHOLE, DST);
    record_clear(vk, cb, app->images[IMAGE_ARRAY], WHOLE, DST);
    record_clear(vk, cb, app->images[IMAGE_VOLUME], WHOLE, GENERAL);
    record_clear(vk, cb, app->images[IMAGE_SAMPLES], WHOLE, DST);
    record_clear_depth(vk, cb, app->images[IMAGE_DEPTH], BOTH_BITS, DST);
    record_clear_depth(vk, cb, app->images[IMAGE_DEPTH], DEPTH_BIT, DST);
    record_upload(app, vk, cb, app->images[IMAGE_DEPTH], STENCIL_BIT, DST);
    record_upload(app, vk, cb, app->images[IMAGE_OTHER], COLOR_BIT, DST);
    VkImageMemoryBarrier sources[4] = {
        record_barrier_info(app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), DST, SRC),
        record_barrier_info(app->images[IMAGE_SAMPLES], ONE_LEVEL(0, 0), DST, SRC),
        record_barrier_info(app->images[IMAGE_ARRAY], ((struct record_range){COLOR_BIT, 0, 1, 0, 6}), DST,
                            SRC),
        record_barrier_info(app->images[IMAGE_DEPTH], BOTH, DST, SRC)};
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0,
                           NULL, 4, sources);
}

static void copies(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkImage *images = app->images;
    VkImageBlit blits[2] = {
        {{COLOR_BIT, 0, 2, 4}, {{0, 0, 0}, {16, 16, 1}}, {COLOR_BIT, 1, 2, 4}, {{0, 0, 0}, {8, 8, 1}}},
        {{COLOR_BIT, 0, 0, 2}, {{0, 0, 0}, {16, 16, 1}}, {COLOR_BIT, 1, 0, 2}, {{0, 0, 0}, {8, 8, 1}}}};
    VkImageResolve resolve = {.srcSubresource = {COLOR_BIT, 0, 0, 1},
                              .dstSubresource = {COLOR_BIT, 0, 0, 1},
                              .extent = {16, 16, 1}};
    VkImageCopy slice = {.srcSubresource = {COLOR_BIT, 0, 0, 2},
                         .dstSubresource = {COLOR_BIT, 0, 0, 1},
                         .dstOffset = {0, 0, 3},
                         .extent = {16, 16, 2}};
    prepare(app, vk, cb);
    record_copy(vk, cb, images[IMAGE_COLOR], SRC, images[IMAGE_OTHER], DST);
    vk->CmdCopyImage(cb, images[IMAGE_ARRAY], SRC, images[IMAGE_VOLUME], GENERAL, 1, &slice);
    vk->CmdBlitImage(cb, images[IMAGE_ARRAY], SRC, images[IMAGE_ARRAY], DST, 2, blits, VK_FILTER_LINEAR);
    vk->CmdResolveImage(cb, images[IMAGE_SAMPLES], SRC, images[IMAGE_OTHER], DST, 1, &resolve);
    record_read(app, vk, cb, images[IMAGE_DEPTH], DEPTH_BIT, SRC);
    record_read(app, vk, cb, images[IMAGE_DEPTH], STENCIL_BIT, SRC);
    record_read(app, vk, cb, images[IMAGE_VOLUME], COLOR_BIT, GENERAL);
}

static void copies2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkImage *images = app->images;
    const VkImageSubresourceLayers one = {COLOR_BIT, 0, 0, 1};
    VkImageCopy2 copy = {.sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2,
                         .srcSubresource = one,
                         .dstSubresource = one,
                         .extent = {16, 16, 1}};
    VkImageBlit2 blit = {.sType = VK_STRUCTURE_TYPE_IMAGE_BLIT_2,
                         .srcSubresource = {COLOR_BIT, 0, 5, 1},
                         .srcOffsets = {{0, 0, 0}, {16, 16, 1}},
                         .dstSubresource = {COLOR_BIT, 3, 5, 1},
                         .dstOffsets = {{0, 0, 0}, {2, 2, 1}}};
    VkImageResolve2 resolve = {.sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2,
                               .srcSubresource = one,
                               .dstSubresource = one,
                               .extent = {16, 16, 1}};
    VkBufferImageCopy2 region = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2, .imageSubresource = one, .imageExtent = {16, 16, 1}};
    VkCopyImageInfo2 copy_info = {.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2,
                                  .srcImage = images[IMAGE_COLOR],
                                  .srcImageLayout = SRC,
                                  .dstImage = images[IMAGE_OTHER],
                                  .dstImageLayout = DST,
                                  .regionCount = 1,
                                  .pRegions = &copy};
    VkBlitImageInfo2 blit_info = {.sType = VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2,
                                  .srcImage = images[IMAGE_ARRAY],
                                  .srcImageLayout = SRC,
                                  .dstImage = images[IMAGE_ARRAY],
                                  .dstImageLayout = DST,
                                  .regionCount = 1,
                                  .pRegions = &blit};
    VkResolveImageInfo2 resolve_info = {.sType = VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2,
                                        .srcImage = images[IMAGE_SAMPLES],
                                        .srcImageLayout = SRC,
                                        .dstImage = images[IMAGE_OTHER],
                                        .dstImageLayout = DST,
                                        .regionCount = 1,
                                        .pRegions = &resolve};
    VkCopyBufferToImageInfo2 up = {.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2,
                                   .srcBuffer = app->buffer,
                                   .dstImage = images[IMAGE_OTHER],
                                   .dstImageLayout = DST,
                                   .regionCount = 1,
                                   .pRegions = &region};
    VkCopyImageToBufferInfo2 down = {.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2,
                                     .srcImage = images[IMAGE_COLOR],
                                     .srcImageLayout = SRC,
                                     .dstBuffer = app->buffer,
                                     .regionCount = 1,
                                     .pRegions = &region};
    prepare(app, vk, cb);
    vk->CmdCopyImage2(cb, &copy_info);
    vk->CmdBlitImage2(cb, &blit_info);
    vk->CmdResolveImage2(cb, &resolve_info);
    vk->CmdCopyBufferToImage2(cb, &up);
    vk->CmdCopyImageToBuffer2(cb, &down);
}

/* --- Render passes --- */

static void render_passes(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkClearAttachment clear = {.aspectMask = COLOR_BIT};
    VkClearRect rect = {{{0, 0}, {4, 4}}, 0, 1};
    record_begin_pass(vk, cb, color_pass, color_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdClearAttachments(cb, 1, &clear, 1, &rect);
    vk->CmdEndRenderPass(cb);
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), SHADER, SRC);
    record_read(app, vk, cb, app->images[IMAGE_COLOR], COLOR_BIT, SRC);
    record_begin_pass(vk, cb, depth_pass, depth_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    vk->CmdEndRenderPass(cb);
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH, DEPTH_READ, SRC);
    record_read(app, vk, cb, app->images[IMAGE_DEPTH], DEPTH_BIT, SRC);
    record_begin_pass(vk, cb, two_pass, two_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdNextSubpass(cb, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), SHADER, DST);
    record_clear(vk, cb, app->images[IMAGE_COLOR], WHOLE, DST);
}

static void render_passes2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkClearValue clear = {.color = {.float32 = {0, 0, 1, 1}}};
    VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .renderPass = color_pass,
                                  .framebuffer = color_frame,
                                  .renderArea = {{0, 0}, {16, 16}},
                                  .clearValueCount = 1,
                                  .pClearValues = &clear};
    VkRenderPassAttachmentBeginInfo views = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
                                             .attachmentCount = 1,
                                             .pAttachments = &app->views[VIEW_OTHER]};
    VkSubpassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO,
                                .contents = VK_SUBPASS_CONTENTS_INLINE};
    VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    vk->CmdBeginRenderPass2(cb, &info, &begin);
    vk->CmdEndRenderPass2(cb, &end);
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), SHADER, GENERAL);
    info.pNext = &views;
    info.renderPass = imageless_pass;
    info.framebuffer = imageless_frame;
    vk->CmdBeginRenderPass2(cb, &info, &begin);
    vk->CmdEndRenderPass2(cb, &end);
    record_move(vk, cb, app->images[IMAGE_OTHER], ONE_LEVEL(0, 0), SHADER, GENERAL);
    record_clear(vk, cb, app->images[IMAGE_OTHER], WHOLE, GENERAL);
}

static void begin_layers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage image = app->images[IMAGE_ARRAY];
    record_move(vk, cb, image, ((struct record_range){COLOR_BIT, 0, 4, 0, 6}), UNDEFINED, DST);
    record_clear(vk, cb, image, WHOLE, DST);
}

static void move_layers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                        const VkImageLayout from[6], VkImageLayout to)
{
    VkImageMemoryBarrier barriers[6];
    for (uint32_t i = 0; i < 6; i++)
        barriers[i] = record_barrier_info(app->images[IMAGE_ARRAY], ONE_LEVEL(0, i), from[i], to);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                           NULL, 0, NULL, 6, barriers);
}

/* A view of 6 layers of which a framebuffer takes 2, or a view mask 3 that aren't next to each other.
 * "Automatic layout transitions apply to the number of layers specified by VkFramebufferCreateInfo::layers
 * [or] to the layers corresponding to views which are used by some subpass". */
static void render_layers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_layers(app, vk, cb);
    record_begin_pass(vk, cb, array_pass, array_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    move_layers(app, vk, cb, (VkImageLayout[]){SHADER, SHADER, DST, DST, DST, DST}, SRC);
    record_begin_pass(vk, cb, views_pass, views_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    move_layers(app, vk, cb, (VkImageLayout[]){SRC, SHADER, SHADER, SRC, SHADER, SRC}, GENERAL);
}

/* The same for who takes it that all of the view changes its layout, as Khronos validation does. */
static void render_whole_views(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkImageLayout all[6] = {SHADER, SHADER, SHADER, SHADER, SHADER, SHADER};
    begin_layers(app, vk, cb);
    record_begin_pass(vk, cb, array_pass, array_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    move_layers(app, vk, cb, all, SRC);
    record_begin_pass(vk, cb, views_pass, views_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    move_layers(app, vk, cb, all, GENERAL);
}

/* Slices of a 3D image are attached, all of it changes its layout. */
static void render_slices(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage image = app->images[IMAGE_VOLUME];
    record_begin_pass(vk, cb, slice_pass, slice_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    record_move(vk, cb, image, ONE_LEVEL(0, 0), SHADER, SRC);
    record_read(app, vk, cb, image, COLOR_BIT, SRC);
}

static void render_resolved(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_begin_pass(vk, cb, resolve_pass, resolve_frame, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    record_read(app, vk, cb, app->images[IMAGE_OTHER], COLOR_BIT, SRC);
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
    vk->CmdDraw(cb, 3, 1, 0, 0);
    vk->CmdEndRendering(cb);
}

static void rendering(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier images[4] = {
        record_barrier_info(app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), UNDEFINED, TARGET),
        record_barrier_info(app->images[IMAGE_OTHER], ONE_LEVEL(0, 0), UNDEFINED, GENERAL),
        record_barrier_info(app->images[IMAGE_SAMPLES], ONE_LEVEL(0, 0), UNDEFINED, TARGET),
        record_barrier_info(app->images[IMAGE_DEPTH], BOTH, UNDEFINED, DEPTH)};
    VkRenderingAttachmentInfo color = attachment(app->views[VIEW_COLOR], TARGET);
    VkRenderingAttachmentInfo depth = attachment(app->views[VIEW_DEPTH], DEPTH);
    VkRenderingAttachmentInfo samples = attachment(app->views[VIEW_SAMPLES], TARGET);
    VkRenderingAttachmentInfo nothing = attachment(VK_NULL_HANDLE, TARGET);
    samples.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    samples.resolveImageView = app->views[VIEW_OTHER];
    samples.resolveImageLayout = GENERAL;
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, 0, 0,
                           NULL, 0, NULL, 4, images);
    render(vk, cb, &color, &depth, &depth, 0);
    render(vk, cb, NULL, &depth, NULL, 0);
    render(vk, cb, NULL, NULL, &depth, 0);
    render(vk, cb, &samples, NULL, NULL, 0);
    render(vk, cb, &nothing, NULL, NULL, 0);
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), TARGET, SRC);
    record_read(app, vk, cb, app->images[IMAGE_COLOR], COLOR_BIT, SRC);
    record_read(app, vk, cb, app->images[IMAGE_OTHER], COLOR_BIT, GENERAL);
}

static void suspended(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo color = attachment(app->views[VIEW_COLOR], TARGET);
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), UNDEFINED, TARGET);
    render(vk, cb, &color, NULL, NULL, VK_RENDERING_SUSPENDING_BIT);
    render(vk, cb, &color, NULL, NULL, VK_RENDERING_RESUMING_BIT | VK_RENDERING_SUSPENDING_BIT);
    render(vk, cb, &color, NULL, NULL, VK_RENDERING_RESUMING_BIT);
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), TARGET, SRC);
    record_read(app, vk, cb, app->images[IMAGE_COLOR], COLOR_BIT, SRC);
}

/* --- Depth and stencil --- */

static void aspects(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct record_range depth = {DEPTH_BIT, 0, 1, 0, 1}, stencil = {STENCIL_BIT, 0, 1, 0, 1};
    VkImage image = app->images[IMAGE_DEPTH];
    record_move(vk, cb, image, BOTH, UNDEFINED, DST);
    record_clear_depth(vk, cb, image, BOTH_BITS, DST);
    if (!app->options.separate) {
        record_move(vk, cb, image, BOTH, DST, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL);
        record_act(app, vk, cb);
        record_move(vk, cb, image, BOTH, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL, DEPTH);
        return;
    }
    record_move(vk, cb, image, depth, DST, SRC);
    record_read(app, vk, cb, image, DEPTH_BIT, SRC);
    record_upload(app, vk, cb, image, STENCIL_BIT, DST);
    record_move(vk, cb, image, stencil, DST, VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL);
    record_act(app, vk, cb);
    record_move(vk, cb, image, depth, SRC, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL);
    record_act(app, vk, cb);
    /* The same by another name. */
    record_move(vk, cb, image, BOTH, DEPTH_READ, SRC);
    record_read(app, vk, cb, image, STENCIL_BIT, SRC);
}

/* Each aspect in a layout that says the same of it as the one that the image is in. */
static void aspects_rendered(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkImageLayout layout = VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL;
    VkRenderingAttachmentInfo depth = attachment(app->views[VIEW_DEPTH], DEPTH_READ);
    VkRenderingAttachmentInfo stencil = attachment(app->views[VIEW_DEPTH], DEPTH);
    depth.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    depth.storeOp = VK_ATTACHMENT_STORE_OP_NONE;
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH, UNDEFINED, DST);
    record_clear_depth(vk, cb, app->images[IMAGE_DEPTH], BOTH_BITS, DST);
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH, DST, layout);
    render(vk, cb, NULL, &depth, &stencil, 0);
    render(vk, cb, NULL, NULL, &stencil, 0);
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH, layout, SRC);
}

/* The same where that layout is the work of another command buffer. */
static void aspects_before(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH, UNDEFINED,
                VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL);
}

static void aspects_after(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo stencil = attachment(app->views[VIEW_DEPTH], DEPTH);
    render(vk, cb, NULL, NULL, &stencil, 0);
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH,
                VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL, SRC);
}

/* --- Events --- */

static void events(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage image = app->images[IMAGE_COLOR];
    VkImageMemoryBarrier barrier = record_barrier_info(image, ONE_LEVEL(0, 0), DST, SRC);
    record_move(vk, cb, image, ONE_LEVEL(0, 0), UNDEFINED, DST);
    record_clear(vk, cb, image, WHOLE, DST);
    vk->CmdSetEvent(cb, app->event, VK_PIPELINE_STAGE_TRANSFER_BIT);
    record_act(app, vk, cb);
    vk->CmdWaitEvents(cb, 1, &app->event, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                      NULL, 0, NULL, 1, &barrier);
    record_read(app, vk, cb, image, COLOR_BIT, SRC);
    vk->CmdResetEvent(cb, app->event, VK_PIPELINE_STAGE_TRANSFER_BIT);
}

static void events2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage image = app->images[IMAGE_COLOR];
    VkImageMemoryBarrier2 barrier = record_barrier2_info(image, ONE_LEVEL(0, 0), DST, SRC);
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier};
    if (app->options.no_sync2)
        return;
    record_move2(vk, cb, image, ONE_LEVEL(0, 0), UNDEFINED, DST);
    record_clear(vk, cb, image, WHOLE, DST);
    vk->CmdSetEvent2(cb, app->event, &info);
    record_act(app, vk, cb);
    vk->CmdWaitEvents2(cb, 1, &app->event, &info);
    record_read(app, vk, cb, image, COLOR_BIT, SRC);
}

/* --- Secondaries --- */

static void in_secondary(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_clear(vk, cb, app->images[IMAGE_OTHER], WHOLE, DST);
    record_move(vk, cb, app->images[IMAGE_OTHER], ONE_LEVEL(0, 0), DST, SRC);
    record_copy(vk, cb, app->images[IMAGE_OTHER], SRC, app->images[IMAGE_MANY], DST);
}

static void in_pass(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    vk->CmdDraw(cb, 3, 1, 0, 0);
}

static void secondaries(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier images[2] = {
        record_barrier_info(app->images[IMAGE_OTHER], ONE_LEVEL(0, 0), UNDEFINED, DST),
        record_barrier_info(app->images[IMAGE_MANY], ONE_LEVEL(0, 0), UNDEFINED, DST)};
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                           0, NULL, 2, images);
    vk->CmdExecuteCommands(cb, 1, &secondary);
    record_move(vk, cb, app->images[IMAGE_OTHER], ONE_LEVEL(0, 0), SRC, DST);
    record_act(app, vk, cb);
    record_begin_pass(vk, cb, color_pass, color_frame, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
    vk->CmdExecuteCommands(cb, 1, &secondary_inside);
    vk->CmdEndRenderPass(cb);
    vk->CmdExecuteCommands(cb, 1, &secondary);
    record_read(app, vk, cb, app->images[IMAGE_OTHER], COLOR_BIT, SRC);
}

static void secondaries_rendering(const struct record_app *app, const struct record_vk *vk,
                                  VkCommandBuffer cb)
{
    VkRenderingAttachmentInfo color = attachment(app->views[VIEW_COLOR], TARGET);
    VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                            .flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT,
                            .renderArea = {{0, 0}, {16, 16}},
                            .layerCount = 1,
                            .colorAttachmentCount = 1,
                            .pColorAttachments = &color};
    record_move(vk, cb, app->images[IMAGE_COLOR], ONE_LEVEL(0, 0), UNDEFINED, TARGET);
    vk->CmdBeginRendering(cb, &info);
    vk->CmdExecuteCommands(cb, 1, &secondary_rendering);
    vk->CmdEndRendering(cb);
}

/* --- What stands between --- */

static void between(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "frame"};
    VkViewport viewport = {0, 0, 16, 16, 0, 1};
    VkRect2D scissor = {{0, 0}, {16, 16}};
    VkDeviceSize offset = 0;
    uint32_t constants[4] = {1, 2, 3, 4};
    VkImage image = app->images[IMAGE_COLOR];
    vk->CmdResetQueryPool(cb, app->queries, 0, 4);
    vk->CmdBeginDebugUtilsLabelEXT(cb, &label);
    record_move(vk, cb, image, ONE_LEVEL(0, 0), UNDEFINED, DST);
    vk->CmdBeginQuery(cb, app->queries, 0, 0);
    record_clear(vk, cb, image, WHOLE, DST);
    vk->CmdEndQuery(cb, app->queries, 0);
    vk->CmdInsertDebugUtilsLabelEXT(cb, &label);
    vk->CmdPushConstants(cb, app->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 16, constants);
    vk->CmdDispatch(cb, 1, 2, 3);
    vk->CmdSetViewport(cb, 0, 1, &viewport);
    vk->CmdSetScissor(cb, 0, 1, &scissor);
    record_move(vk, cb, image, ONE_LEVEL(0, 0), DST, GENERAL);
    vk->CmdDispatch(cb, 1, 1, 1);
    vk->CmdBindVertexBuffers(cb, 0, 1, &app->buffer, &offset);
    vk->CmdBindIndexBuffer(cb, app->buffer, 0, VK_INDEX_TYPE_UINT16);
    vk->CmdUpdateBuffer(cb, app->buffer, 0, 16, constants);
    vk->CmdWriteTimestamp(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, app->queries, 1);
    vk->CmdEndDebugUtilsLabelEXT(cb);
    record_read(app, vk, cb, image, COLOR_BIT, GENERAL);
}

/* --- What nothing is known of --- */

static void unknown(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage external = app->images[IMAGE_EXTERNAL], locations = app->images[IMAGE_LOCATIONS];
    VkSampleLocationsInfoEXT sample = {.sType = VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT,
                                       .sampleLocationsPerPixel = VK_SAMPLE_COUNT_1_BIT,
                                       .sampleLocationGridSize = {1, 1},
                                       .sampleLocationsCount = 1,
                                       .pSampleLocations = &(VkSampleLocationEXT){0.5f, 0.25f}};
    VkImageMemoryBarrier chained = record_barrier_info(locations, BOTH, UNDEFINED, DEPTH);
    record_move(vk, cb, external, WHOLE, UNDEFINED, DST);
    record_clear(vk, cb, external, WHOLE, DST);
    chained.pNext = &sample;
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                           NULL, 0, NULL, 1, &chained);
    record_act(app, vk, cb);
    /* Of an image that is known. */
    chained.image = app->images[IMAGE_DEPTH];
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                           NULL, 0, NULL, 1, &chained);
    record_act(app, vk, cb);
    record_move(vk, cb, app->images[IMAGE_DEPTH], BOTH, DEPTH, SRC);
    record_read(app, vk, cb, app->images[IMAGE_DEPTH], DEPTH_BIT, SRC);
}

const struct correct correct_programs[] = {
    {"barriers", barriers, true},
    {"barriers2", barriers2, true},
    {"copies", copies, true},
    {"copies2", copies2, true},
    {"render_passes", render_passes, true},
    {"render_passes2", render_passes2, true},
    {"render_layers", render_layers, false},
    {"render_whole_views", render_whole_views, true},
    {"render_slices", render_slices, true},
    {"render_resolved", render_resolved, true},
    {"rendering", rendering, true},
    {"suspended", suspended, true},
    {"aspects", aspects, true},
    {"aspects_rendered", aspects_rendered, true},
    {"aspects_before", aspects_before, true},
    {"aspects_after", aspects_after, true},
    {"events", events, true},
    {"events2", events2, true},
    {"secondaries", secondaries, true},
    {"secondaries_rendering", secondaries_rendering, true},
    {"between", between, true},
    {"unknown", unknown, true},
};
const uint32_t correct_program_count = sizeof(correct_programs) / sizeof(correct_programs[0]);

/* --- Their objects --- */

static VkRenderPass create_resolve_pass(const struct record_app *app)
{
    VkAttachmentDescription attachments[2] = {{.format = RECORD_FORMAT,
                                               .samples = VK_SAMPLE_COUNT_4_BIT,
                                               .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                               .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                               .initialLayout = UNDEFINED,
                                               .finalLayout = TARGET},
                                              {.format = RECORD_FORMAT,
                                               .samples = VK_SAMPLE_COUNT_1_BIT,
                                               .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                               .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                               .initialLayout = UNDEFINED,
                                               .finalLayout = SRC}};
    VkAttachmentReference color = {0, TARGET}, resolve = {1, TARGET};
    VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .colorAttachmentCount = 1,
                                    .pColorAttachments = &color,
                                    .pResolveAttachments = &resolve};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = 2,
                                   .pAttachments = attachments,
                                   .subpassCount = 1,
                                   .pSubpasses = &subpass};
    VkRenderPass pass;
    CHECK_EQUAL(vkCreateRenderPass(app->device, &info, NULL, &pass), VK_SUCCESS);
    return pass;
}

/* Written in the first subpass, read as an input attachment in the second. */
static VkRenderPass create_two_pass(const struct record_app *app)
{
    VkAttachmentDescription attachment_info = {.format = RECORD_FORMAT,
                                               .samples = VK_SAMPLE_COUNT_1_BIT,
                                               .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
                                               .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                               .initialLayout = SRC,
                                               .finalLayout = SHADER};
    VkAttachmentReference target = {0, TARGET}, input = {0, SHADER};
    VkSubpassDescription subpasses[2] = {{.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &target},
                                         {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .inputAttachmentCount = 1,
                                          .pInputAttachments = &input}};
    VkSubpassDependency dependency = {.srcSubpass = 0,
                                      .dstSubpass = 1,
                                      .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                      .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                      .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = 1,
                                   .pAttachments = &attachment_info,
                                   .subpassCount = 2,
                                   .pSubpasses = subpasses,
                                   .dependencyCount = 1,
                                   .pDependencies = &dependency};
    VkRenderPass pass;
    CHECK_EQUAL(vkCreateRenderPass(app->device, &info, NULL, &pass), VK_SUCCESS);
    return pass;
}

static VkFramebuffer create_imageless(const struct record_app *app, VkRenderPass pass)
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
                                    .renderPass = pass,
                                    .attachmentCount = 1,
                                    .width = RECORD_SIDE,
                                    .height = RECORD_SIDE,
                                    .layers = 1};
    VkFramebuffer framebuffer;
    CHECK_EQUAL(vkCreateFramebuffer(app->device, &info, NULL, &framebuffer), VK_SUCCESS);
    return framebuffer;
}

static void create_secondaries(const struct record_app *app)
{
    VkFormat format = RECORD_FORMAT;
    VkCommandBufferInheritanceRenderingInfo rendering_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkCommandBufferInheritanceInfo none = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferInheritanceInfo inside = none, dynamic = none;
    inside.renderPass = color_pass;
    dynamic.pNext = &rendering_info;
    secondary = record_one(app, in_secondary, &none);
    secondary_inside = record_one(app, in_pass, &inside);
    secondary_rendering = record_one(app, in_pass, &dynamic);
}

void correct_open(const struct record_app *app)
{
    const VkSampleCountFlagBits one = VK_SAMPLE_COUNT_1_BIT;
    const VkImageView resolve_views[2] = {app->views[VIEW_SAMPLES], app->views[VIEW_OTHER]};
    color_pass = record_pass(app, RECORD_FORMAT, one, UNDEFINED, TARGET, SHADER, 0);
    depth_pass = record_pass(app, RECORD_DEPTH_FORMAT, one, UNDEFINED, DEPTH, DEPTH_READ, 0);
    array_pass = record_pass(app, RECORD_FORMAT, one, DST, TARGET, SHADER, 0);
    views_pass = record_pass(app, RECORD_FORMAT, one, SRC, TARGET, SHADER, 1u << 1 | 1u << 2 | 1u << 4);
    slice_pass = record_pass(app, RECORD_FORMAT, one, UNDEFINED, TARGET, SHADER, 0);
    imageless_pass = record_pass(app, RECORD_FORMAT, one, UNDEFINED, TARGET, SHADER, 0);
    resolve_pass = create_resolve_pass(app);
    two_pass = create_two_pass(app);
    color_frame = record_framebuffer(app, color_pass, app->views[VIEW_COLOR], 1);
    depth_frame = record_framebuffer(app, depth_pass, app->views[VIEW_DEPTH], 1);
    array_frame = record_framebuffer(app, array_pass, app->views[VIEW_ARRAY], 2);
    views_frame = record_framebuffer(app, views_pass, app->views[VIEW_ARRAY], 1);
    slice_frame = record_framebuffer(app, slice_pass, app->views[VIEW_SLICE], 2);
    imageless_frame = create_imageless(app, imageless_pass);
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .renderPass = resolve_pass,
                                    .attachmentCount = 2,
                                    .pAttachments = resolve_views,
                                    .width = RECORD_SIDE,
                                    .height = RECORD_SIDE,
                                    .layers = 1};
    CHECK_EQUAL(vkCreateFramebuffer(app->device, &info, NULL, &resolve_frame), VK_SUCCESS);
    two_frame = record_framebuffer(app, two_pass, app->views[VIEW_COLOR], 1);
    create_secondaries(app);
}

void correct_close(const struct record_app *app)
{
    const VkRenderPass passes[] = {color_pass, depth_pass,     array_pass,   views_pass,
                                   slice_pass, imageless_pass, resolve_pass, two_pass};
    const VkFramebuffer frames[] = {color_frame, depth_frame,     array_frame,   views_frame,
                                    slice_frame, imageless_frame, resolve_frame, two_frame};
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        vkDestroyFramebuffer(app->device, frames[i], NULL);
        vkDestroyRenderPass(app->device, passes[i], NULL);
    }
}
