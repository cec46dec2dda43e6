/* Inside a pass: what a draw reads was rendered just before, and what else the pass consists of must come out
 * the same when somebody holds it back until the missing barrier stands. */
#include "barrier_cases.h"
#include "picture.h"

/* A pass under way whose draws sample `source`. */
struct held {
    VkCommandBuffer commands;
    struct picture source, out;
    struct kit_pipeline sample; /* its viewport, scissor, cull mode and blend constants are dynamic */
    struct kit_pipeline fill;   /* so are this one's */
    VkDescriptorSet set;
};

static struct kit_pipeline dynamic_pipeline(struct kit *kit, const struct kit_target *target,
                                            enum kit_shader shader)
{
    return kit_pipeline(kit,
                        &(struct kit_pipeline_info){.shader = shader, .pass = target->pass, .dynamic = true});
}

/* All but the begin: for a target of another kind. */
static struct held held_prepare(struct kit *kit, struct picture out)
{
    struct held held = {
        .commands = kit_begin(kit),
        .source = picture(kit),
        .out = out,
    };
    held.sample = dynamic_pipeline(kit, &out.target, KIT_SAMPLE);
    held.fill = dynamic_pipeline(kit, &out.target, KIT_FILL);
    held.set = kit_image_set(kit, &held.sample, held.source.target.view, READ);
    picture_paint(kit, held.commands, &held.source, 3);
    kit_transition(kit, held.commands, out.image, KIT_ALL, UNDEFINED, COLOR);
    kit_needed(kit, held.commands, held.source.image, KIT_COLOR, COLOR, READ);
    return held;
}

/* Part of the picture, `part` of 4 from the left, and how much of what is drawn is added to it. */
static void set_state(const struct held *held, uint32_t part, float much)
{
    VkViewport viewport = {0, 0, KIT_SIDE, KIT_SIDE, 0, 1};
    VkRect2D scissor = {{(int32_t)(part * KIT_SIDE / 4), 0}, {KIT_SIDE / 4, KIT_SIDE}};
    vkCmdSetViewport(held->commands, 0, 1, &viewport);
    vkCmdSetScissor(held->commands, 0, 1, &scissor);
    vkCmdSetCullMode(held->commands, VK_CULL_MODE_NONE);
    vkCmdSetBlendConstants(held->commands, (const float[]){much, 0.5f * much, much, 1});
}

static struct held held_begin(struct kit *kit)
{
    struct held held = held_prepare(kit, picture(kit));
    kit_begin_target(held.commands, &held.out.target);
    set_state(&held, 0, 1);
    return held;
}

static void held_draw(const struct held *held)
{
    kit_draw(held->commands, &held->sample, held->set);
}

static void held_end(struct kit *kit, const struct held *held)
{
    kit_end_target(held->commands, &held->out.target);
    kit_transition(kit, held->commands, held->out.image, KIT_ALL, COLOR, SRC);
    kit_run(kit, held->commands, held->out.image, 0, 0);
}

/* A hundred draws, each with constants and dynamic state of its own; every fourth one samples. */
static void many_draws(struct kit *kit)
{
    struct held held = held_begin(kit);
    for (uint32_t i = 0; i < 100; i++) {
        set_state(&held, i % 4, (float)(i % 9) / 64);
        kit_constants(held.commands, &held.fill, i);
        if (i % 16 == 15)
            held_draw(&held);
        else
            kit_draw(held.commands, &held.fill, VK_NULL_HANDLE);
    }
    held_end(kit, &held);
}

/* State that was set before the pass and isn't again inside. */
static void state_from_outside(struct kit *kit)
{
    struct held held = held_prepare(kit, picture(kit));
    set_state(&held, 2, 0.75f);
    kit_bind(held.commands, &held.sample, held.set);
    kit_begin_target(held.commands, &held.out.target);
    vkCmdDraw(held.commands, 3, 1, 0, 0);
    kit_end_target(held.commands, &held.out.target);
    kit_transition(kit, held.commands, held.out.image, KIT_ALL, COLOR, SRC);
    kit_run(kit, held.commands, held.out.image, 0, 0);
}

/* State that is set inside and stays for the next pass. */
static void state_to_next_pass(struct kit *kit)
{
    struct held held = held_begin(kit);
    struct picture next = picture(kit);
    held_draw(&held);
    kit_constants(held.commands, &held.fill, 6);
    vkCmdBindPipeline(held.commands, held.fill.point, held.fill.pipeline);
    kit_end_target(held.commands, &held.out.target);
    kit_transition(kit, held.commands, next.image, KIT_ALL, UNDEFINED, COLOR);
    kit_begin_target(held.commands, &next.target);
    vkCmdDraw(held.commands, 3, 1, 0, 0);
    kit_end_target(held.commands, &next.target);
    kit_transition(kit, held.commands, next.image, KIT_ALL, COLOR, SRC);
    kit_transition(kit, held.commands, held.out.image, KIT_ALL, COLOR, SRC);
    VkBuffer second = kit_read(kit, held.commands, next.image, 0, 0);
    kit_run(kit, held.commands, held.out.image, 0, 0);
    kit_hash(kit, second);
}

/* Attachments cleared between draws. */
static void clears(struct kit *kit)
{
    struct held held = held_begin(kit);
    VkClearAttachment clear = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                               .clearValue = {.color = {.float32 = {1, 0, 0.5f, 1}}}};
    VkClearRect rects[2] = {{{{0, 0}, {4, 4}}, 0, 1}, {{{6, 2}, {3, 9}}, 0, 1}};
    held_draw(&held);
    vkCmdClearAttachments(held.commands, 1, &clear, 2, rects);
    set_state(&held, 1, 0.5f);
    held_draw(&held);
    held_end(kit, &held);
}

/* Draws whose counts stand in buffers, direct and indexed. */
static void indirect_draws(struct kit *kit)
{
    struct held held = held_begin(kit);
    const VkDrawIndirectCommand command = {3, 1, 0, 0};
    const VkDrawIndexedIndirectCommand indexed_command = {3, 1, 0, 0, 0};
    VkBuffer draw = kit_buffer_for(kit, sizeof(command), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    VkBuffer indexed_draw = kit_buffer_for(kit, sizeof(indexed_command), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    VkBuffer indices = kit_buffer_for(kit, 3 * sizeof(uint16_t), VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
    *(VkDrawIndirectCommand *)kit_buffer_data(kit, draw) = command;
    *(VkDrawIndexedIndirectCommand *)kit_buffer_data(kit, indexed_draw) = indexed_command;
    for (uint16_t i = 0; i < 3; i++)
        ((uint16_t *)kit_buffer_data(kit, indices))[i] = i;
    kit_bind(held.commands, &held.sample, held.set);
    vkCmdBindIndexBuffer(held.commands, indices, 0, VK_INDEX_TYPE_UINT16);
    vkCmdDrawIndirect(held.commands, draw, 0, 1, sizeof(command));
    set_state(&held, 2, 1);
    vkCmdDrawIndexedIndirect(held.commands, indexed_draw, 0, 1, sizeof(indexed_command));
    set_state(&held, 3, 1);
    vkCmdDrawIndexed(held.commands, 3, 1, 0, 0, 0);
    held_end(kit, &held);
}

static VkQueryPool query_pool(struct kit *kit, VkQueryType type, VkQueryPipelineStatisticFlags statistics)
{
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = type,
        .queryCount = 1,
        .pipelineStatistics = statistics,
    };
    VkQueryPool pool;
    kit_check(vkCreateQueryPool(kit->device, &info, NULL, &pool), "vkCreateQueryPool");
    return pool;
}

/* An occlusion query and one of statistics around the draws; what they counted belongs to the result. */
static void queries(struct kit *kit)
{
    VkQueryPool pools[2] = {
        query_pool(kit, VK_QUERY_TYPE_OCCLUSION, 0),
        query_pool(kit, VK_QUERY_TYPE_PIPELINE_STATISTICS,
                   VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT),
    };
    VkBuffer counts = kit_buffer(kit, 2 * sizeof(uint64_t));
    struct held held = held_prepare(kit, picture(kit));
    for (uint32_t i = 0; i < 2; i++)
        vkCmdResetQueryPool(held.commands, pools[i], 0, 1);
    kit_begin_target(held.commands, &held.out.target);
    set_state(&held, 1, 1);
    vkCmdBeginQuery(held.commands, pools[0], 0, VK_QUERY_CONTROL_PRECISE_BIT);
    held_draw(&held);
    set_state(&held, 3, 1);
    vkCmdBeginQuery(held.commands, pools[1], 0, 0);
    held_draw(&held);
    vkCmdEndQuery(held.commands, pools[1], 0);
    vkCmdEndQuery(held.commands, pools[0], 0);
    held_draw(&held);
    kit_end_target(held.commands, &held.out.target);
    for (uint32_t i = 0; i < 2; i++)
        vkCmdCopyQueryPoolResults(held.commands, pools[i], 0, 1, counts, i * sizeof(uint64_t),
                                  sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    kit_transition(kit, held.commands, held.out.image, KIT_ALL, COLOR, SRC);
    kit_host_barrier(held.commands);
    kit_run(kit, held.commands, held.out.image, 0, 0);
    kit_hash(kit, counts);
    for (uint32_t i = 0; i < 2; i++)
        vkDestroyQueryPool(kit->device, pools[i], NULL);
}

/* Debug labels, opened and closed inside. */
static void labels(struct kit *kit)
{
    PFN_vkCmdBeginDebugUtilsLabelEXT begin =
        (PFN_vkCmdBeginDebugUtilsLabelEXT)kit_function(kit, "vkCmdBeginDebugUtilsLabelEXT");
    PFN_vkCmdEndDebugUtilsLabelEXT end =
        (PFN_vkCmdEndDebugUtilsLabelEXT)kit_function(kit, "vkCmdEndDebugUtilsLabelEXT");
    PFN_vkCmdInsertDebugUtilsLabelEXT insert =
        (PFN_vkCmdInsertDebugUtilsLabelEXT)kit_function(kit, "vkCmdInsertDebugUtilsLabelEXT");
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "shadows"};
    struct held held = held_begin(kit);
    begin(held.commands, &label);
    held_draw(&held);
    label.pLabelName = "a draw";
    insert(held.commands, &label);
    set_state(&held, 1, 1);
    held_draw(&held);
    end(held.commands);
    held_end(kit, &held);
}

/* Of two draws under a condition one is left out. */
static void conditions(struct kit *kit)
{
    PFN_vkCmdBeginConditionalRenderingEXT begin =
        (PFN_vkCmdBeginConditionalRenderingEXT)kit_function(kit, "vkCmdBeginConditionalRenderingEXT");
    PFN_vkCmdEndConditionalRenderingEXT end =
        (PFN_vkCmdEndConditionalRenderingEXT)kit_function(kit, "vkCmdEndConditionalRenderingEXT");
    VkConditionalRenderingBeginInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
        .buffer = kit_buffer_for(kit, 2 * sizeof(uint32_t), VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT),
    };
    struct held held = held_begin(kit);
    for (uint32_t i = 0; i < 2; i++) {
        ((uint32_t *)kit_buffer_data(kit, info.buffer))[i] = i;
        info.offset = i * sizeof(uint32_t);
        set_state(&held, 1 + i, 1);
        begin(held.commands, &info);
        held_draw(&held);
        end(held.commands);
    }
    held_end(kit, &held);
}

/* The vertices of a draw are captured. */
static void transform_feedback(struct kit *kit)
{
    PFN_vkCmdBindTransformFeedbackBuffersEXT bind =
        (PFN_vkCmdBindTransformFeedbackBuffersEXT)kit_function(kit, "vkCmdBindTransformFeedbackBuffersEXT");
    PFN_vkCmdBeginTransformFeedbackEXT begin =
        (PFN_vkCmdBeginTransformFeedbackEXT)kit_function(kit, "vkCmdBeginTransformFeedbackEXT");
    PFN_vkCmdEndTransformFeedbackEXT end =
        (PFN_vkCmdEndTransformFeedbackEXT)kit_function(kit, "vkCmdEndTransformFeedbackEXT");
    const VkDeviceSize size = 3 * 4 * sizeof(float), offset = 0;
    VkBuffer captured = kit_buffer_for(kit, size, VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT);
    struct held held = held_begin(kit);
    struct kit_pipeline capture = kit_pipeline(
        kit,
        &(struct kit_pipeline_info){.shader = KIT_SAMPLE, .pass = held.out.target.pass, .capture = true});
    bind(held.commands, 0, 1, &captured, &offset, &size);
    kit_bind(held.commands, &capture, held.set);
    begin(held.commands, 0, 0, NULL, NULL);
    vkCmdDraw(held.commands, 3, 1, 0, 0);
    end(held.commands, 0, 0, NULL, NULL);
    kit_end_target(held.commands, &held.out.target);
    kit_transition(kit, held.commands, held.out.image, KIT_ALL, COLOR, SRC);
    kit_host_barrier(held.commands);
    kit_run(kit, held.commands, held.out.image, 0, 0);
    kit_hash(kit, captured);
}

/* Two sets, of which one is bound anew between draws. */
static void one_set_changes(struct kit *kit)
{
    struct held held = held_prepare(kit, picture(kit));
    struct kit_pipeline both = dynamic_pipeline(kit, &held.out.target, KIT_SAMPLE_TWO_SETS);
    VkDescriptorSet sets[3];
    for (uint32_t i = 0; i < 3; i++) {
        struct picture source = picture(kit);
        picture_paint(kit, held.commands, &source, i);
        kit_needed(kit, held.commands, source.image, KIT_COLOR, COLOR, READ);
        sets[i] = kit_image_set(kit, &both, source.target.view, READ);
    }
    kit_begin_target(held.commands, &held.out.target);
    vkCmdBindPipeline(held.commands, both.point, both.pipeline);
    vkCmdBindDescriptorSets(held.commands, both.point, both.layout, 0, 2, sets, 0, NULL);
    set_state(&held, 0, 1);
    vkCmdDraw(held.commands, 3, 1, 0, 0);
    vkCmdBindDescriptorSets(held.commands, both.point, both.layout, 1, 1, &sets[2], 0, NULL);
    set_state(&held, 1, 1);
    vkCmdDraw(held.commands, 3, 1, 0, 0);
    held_end(kit, &held);
}

/* The descriptor comes only inside the pass, by a write or by a push: when the pass begins, nothing says that
 * its draws will read the picture. */
static void descriptor_inside(struct kit *kit, bool push)
{
    struct picture source = picture(kit), out = picture(kit);
    struct kit_pipeline pipeline = kit_pipeline(
        kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE, .pass = out.target.pass, .push = push});
    union kit_descriptor descriptor = kit_image_descriptor(kit, source.target.view, READ);
    VkDescriptorSet set = push ? VK_NULL_HANDLE : kit_set(kit, &pipeline, NULL);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_transition(kit, commands, out.image, KIT_COLOR, UNDEFINED, COLOR);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    kit_begin_target(commands, &out.target);
    if (push)
        kit_push(kit, commands, &pipeline, &descriptor);
    else
        kit_write(kit, &pipeline, set, 0, &descriptor);
    kit_draw(commands, &pipeline, set);
    kit_end_target(commands, &out.target);
    kit_transition(kit, commands, out.image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, out.image, 0, 0);
}

static void written_inside(struct kit *kit)
{
    descriptor_inside(kit, false);
}

static void pushed_inside(struct kit *kit)
{
    descriptor_inside(kit, true);
}

/* A draw samples the image, and a later one of the same pass reads it in GENERAL: no barrier helps both. */
static void second_need(struct kit *kit)
{
    struct picture out = picture(kit);
    VkImage image = kit_image(kit, &(struct kit_image_info){.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                                     VK_IMAGE_USAGE_SAMPLED_BIT |
                                                                     VK_IMAGE_USAGE_STORAGE_BIT});
    struct picture source = {image, kit_target(kit, image)};
    VkImageLayout layout = kit->options.correct ? GENERAL : READ;
    struct kit_pipeline sample = kit_target_pipeline(kit, &out.target, KIT_SAMPLE);
    struct kit_pipeline load = kit_target_pipeline(kit, &out.target, KIT_LOAD_STORAGE);
    VkDescriptorSet sampled = kit_image_set(kit, &sample, source.target.view, layout);
    VkDescriptorSet loaded = kit_image_set(kit, &load, source.target.view, GENERAL);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_transition(kit, commands, out.image, KIT_COLOR, UNDEFINED, COLOR);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, GENERAL);
    kit_begin_target(commands, &out.target);
    kit_draw(commands, &sample, sampled);
    kit_draw(commands, &load, loaded);
    kit_end_target(commands, &out.target);
    kit_transition(kit, commands, out.image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, out.image, 0, 0);
}

/* A barrier inside a pass for an image that the pass has nothing to do with (L23). */
static void barrier_in_pass(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    struct picture out = picture(kit), after = picture(kit);
    struct kit_pipeline fill = kit_target_pipeline(kit, &out.target, KIT_FILL);
    struct kit_pipeline sample = kit_target_pipeline(kit, &after.target, KIT_SAMPLE);
    VkDescriptorSet set = kit_image_set(kit, &sample, view, READ);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_upload(kit, commands, kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4), image, 0, 0);
    kit_transition(kit, commands, out.image, KIT_COLOR, UNDEFINED, COLOR);
    kit_needed(kit, commands, image, KIT_COLOR, DST, READ);
    kit_begin_target(commands, &out.target);
    kit_constants(commands, &fill, 3);
    kit_draw(commands, &fill, VK_NULL_HANDLE);
    if (!kit->options.correct)
        kit_transition(kit, commands, image, KIT_COLOR, DST, READ);
    kit_end_target(commands, &out.target);
    picture_show(kit, commands, &after, &sample, set);
}

/* A pass with a draw that reads nothing; in the faulty variant with the barrier inside that belongs before
 * it. */
static void pass_with_barrier(struct kit *kit, VkCommandBuffer commands, const struct picture *out,
                              VkImage image, VkImageLayout from, VkImageLayout to)
{
    struct kit_pipeline fill = kit_target_pipeline(kit, &out->target, KIT_FILL);
    kit_transition(kit, commands, out->image, KIT_COLOR, UNDEFINED, COLOR);
    kit_needed(kit, commands, image, KIT_COLOR, from, to);
    kit_begin_target(commands, &out->target);
    kit_constants(commands, &fill, 3);
    kit_draw(commands, &fill, VK_NULL_HANDLE);
    if (!kit->options.correct)
        kit_transition(kit, commands, image, KIT_COLOR, from, to);
    kit_end_target(commands, &out->target);
}

/* The image is no descriptor's, and copied from after the pass (L23). */
static void barrier_in_pass_for_copy(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    struct picture out = picture(kit);
    VkCommandBuffer commands = kit_begin(kit);
    kit_transition(kit, commands, image, KIT_COLOR, UNDEFINED, DST);
    kit_upload(kit, commands, kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4), image, 0, 0);
    pass_with_barrier(kit, commands, &out, image, DST, SRC);
    kit_run(kit, commands, image, 0, 0);
}

/* The image comes from an earlier submit (L23). */
static void barrier_in_pass_untouched(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    VkImageView view = kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    struct picture out = picture(kit), after = picture(kit);
    struct kit_pipeline sample = kit_target_pipeline(kit, &after.target, KIT_SAMPLE);
    VkDescriptorSet set = kit_image_set(kit, &sample, view, READ);
    VkCommandBuffer upload = kit_begin(kit), commands = kit_begin(kit);
    kit_transition(kit, upload, image, KIT_COLOR, UNDEFINED, DST);
    kit_upload(kit, upload, kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4), image, 0, 0);
    kit_end(upload);
    kit_submit(kit, upload);
    pass_with_barrier(kit, commands, &out, image, DST, READ);
    picture_show(kit, commands, &after, &sample, set);
}

/* Both views of a multiview pass sample. */
static VkRenderPass multiview_pass(struct kit *kit)
{
    const uint32_t mask = 3;
    VkRenderPassMultiviewCreateInfo views = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
        .subpassCount = 1,
        .pViewMasks = &mask,
    };
    VkAttachmentDescription attachment = {
        .format = RGBA,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = COLOR,
        .finalLayout = COLOR,
    };
    VkAttachmentReference reference = {0, COLOR};
    VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &reference};
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .pNext = &views,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    VkRenderPass pass;
    kit_check_room(kit->pass_count);
    kit_check(vkCreateRenderPass(kit->device, &info, NULL, &pass), "vkCreateRenderPass");
    return kit->passes[kit->pass_count++] = pass;
}

static void multiview(struct kit *kit)
{
    VkImage image = kit_image(kit, &(struct kit_image_info){.layers = 2});
    VkImageView view = kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D_ARRAY, RGBA, KIT_ALL);
    VkRenderPass pass = kit->options.rendering ? VK_NULL_HANDLE : multiview_pass(kit);
    struct picture source = picture(kit);
    struct picture out = {image, kit_target_of(kit, view, KIT_SIDE, pass)};
    out.target.view_mask = 3;
    struct kit_pipeline sample = kit_pipeline(
        kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE_VIEWS, .pass = pass, .view_mask = 3});
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_transition(kit, commands, image, KIT_ALL, UNDEFINED, COLOR);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    picture_draw(commands, &out.target, &sample, kit_image_set(kit, &sample, source.target.view, READ));
    kit_transition(kit, commands, image, KIT_ALL, COLOR, SRC);
    VkBuffer second = kit_read(kit, commands, image, 0, 1);
    kit_run(kit, commands, image, 0, 0);
    kit_hash(kit, second);
}

/* Two subpasses: the first samples, the second has what the first wrote as its input attachment. */
static VkRenderPass subpasses_pass(struct kit *kit)
{
    VkAttachmentDescription attachments[2] = {
        {
            .format = RGBA,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
            .initialLayout = UNDEFINED,
            .finalLayout = READ,
        },
    };
    attachments[1] = attachments[0];
    attachments[1].finalLayout = SRC;
    VkAttachmentReference first = {0, COLOR}, second = {1, COLOR}, input = {0, READ};
    VkSubpassDescription subpasses[2] = {
        {.colorAttachmentCount = 1, .pColorAttachments = &first},
        {
            .inputAttachmentCount = 1,
            .pInputAttachments = &input,
            .colorAttachmentCount = 1,
            .pColorAttachments = &second,
        },
    };
    const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkSubpassDependency dependencies[2] = {
        {0, 1, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         VK_ACCESS_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         VK_DEPENDENCY_BY_REGION_BIT},
        {1, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, all,
         all, 0},
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 2,
        .pAttachments = attachments,
        .subpassCount = 2,
        .pSubpasses = subpasses,
        .dependencyCount = 2,
        .pDependencies = dependencies,
    };
    VkRenderPass pass;
    kit_check_room(kit->pass_count);
    kit_check(vkCreateRenderPass(kit->device, &info, NULL, &pass), "vkCreateRenderPass");
    return kit->passes[kit->pass_count++] = pass;
}

static void subpasses(struct kit *kit)
{
    VkRenderPass pass = subpasses_pass(kit);
    VkImage images[2];
    VkImageView views[2];
    for (uint32_t i = 0; i < 2; i++) {
        images[i] = kit_image(kit, &(struct kit_image_info){.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                                     VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT |
                                                                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT});
        views[i] = kit_view(kit, images[i], RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    }
    struct kit_target target = {
        .side = KIT_SIDE, .pass = pass, .framebuffer = kit_framebuffer(kit, pass, views, 2, KIT_SIDE)};
    struct picture source = picture(kit);
    struct kit_pipeline sample = kit_target_pipeline(kit, &target, KIT_SAMPLE);
    struct kit_pipeline load =
        kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_LOAD_INPUT, .pass = pass, .subpass = 1});
    VkDescriptorSet sampled = kit_image_set(kit, &sample, source.target.view, READ);
    VkDescriptorSet loaded = kit_image_set(kit, &load, views[0], READ);
    VkCommandBuffer commands = kit_begin(kit);
    picture_paint(kit, commands, &source, 3);
    kit_needed(kit, commands, source.image, KIT_COLOR, COLOR, READ);
    kit_begin_target(commands, &target);
    kit_draw(commands, &sample, sampled);
    vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
    kit_draw(commands, &load, loaded);
    kit_end_target(commands, &target);
    kit_run(kit, commands, images[1], 0, 0);
}

/* Rendering that is suspended, and resumed in the next command buffer; both parts sample what an earlier
 * submit has rendered. */
static void suspended_samples(struct kit *kit)
{
    static const VkRenderingFlags flags[] = {VK_RENDERING_SUSPENDING_BIT, VK_RENDERING_RESUMING_BIT};
    struct picture source = picture(kit);
    VkImage image = kit_image(kit, NULL);
    struct kit_target target =
        kit_target_of(kit, kit_view(kit, image, RGBA, VK_IMAGE_ASPECT_COLOR_BIT), KIT_SIDE, VK_NULL_HANDLE);
    struct kit_pipeline pipeline = kit_target_pipeline(kit, &target, KIT_SAMPLE);
    VkDescriptorSet set = kit_image_set(kit, &pipeline, source.target.view, READ);
    VkCommandBuffer first = kit_begin(kit), parts[2];
    picture_paint(kit, first, &source, 3);
    kit_end(first);
    kit_submit(kit, first);
    for (uint32_t i = 0; i < 2; i++) {
        parts[i] = kit_begin(kit);
        if (i == 0) {
            kit_transition(kit, parts[i], image, KIT_COLOR, UNDEFINED, COLOR);
            kit_needed(kit, parts[i], source.image, KIT_COLOR, COLOR, READ);
        }
        target.flags = flags[i];
        picture_draw(parts[i], &target, &pipeline, set);
        kit_end(parts[i]);
    }
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 2,
        .pCommandBuffers = parts,
    };
    kit_check(vkQueueSubmit(kit->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    VkCommandBuffer last = kit_begin(kit);
    kit_transition(kit, last, image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, last, image, 0, 0);
}

const struct barrier_case shader_body_cases[] = {
    {.name = "body-many-draws", .run = many_draws, .faults = true, .rendering = true},
    {.name = "body-state-from-outside", .run = state_from_outside, .faults = true, .rendering = true},
    {.name = "body-state-to-next-pass", .run = state_to_next_pass, .faults = true, .rendering = true},
    {.name = "body-clears", .run = clears, .faults = true, .rendering = true},
    {.name = "body-indirect-draws", .run = indirect_draws, .faults = true, .rendering = true},
    {.name = "body-queries",
     .run = queries,
     .faults = true,
     .rendering = true,
     .extras = KIT_PRECISE_QUERIES},
    {.name = "body-labels", .run = labels, .faults = true, .rendering = true, .extras = KIT_DEBUG_LABELS},
    {.name = "body-conditions",
     .run = conditions,
     .faults = true,
     .rendering = true,
     .extras = KIT_CONDITIONAL_RENDERING},
    {.name = "body-transform-feedback",
     .run = transform_feedback,
     .faults = true,
     .rendering = true,
     .extras = KIT_TRANSFORM_FEEDBACK},
    {.name = "body-one-set-changes", .run = one_set_changes, .faults = true, .rendering = true},
    {.name = "body-written-inside", .run = written_inside, .faults = true, .partly = true, .rendering = true},
    {.name = "body-pushed-inside",
     .run = pushed_inside,
     .faults = true,
     .rendering = true,
     .extras = KIT_PUSH_DESCRIPTORS},
    {.name = "body-second-need", .run = second_need, .faults = true, .partly = true, .rendering = true},
    {.name = "L23-barrier-in-pass", .run = barrier_in_pass, .faults = true, .rendering = true},
    {.name = "L23-barrier-in-pass-for-copy",
     .run = barrier_in_pass_for_copy,
     .faults = true,
     .rendering = true},
    {.name = "L23-barrier-in-pass-untouched",
     .run = barrier_in_pass_untouched,
     .faults = true,
     .rendering = true},
    {.name = "body-multiview", .run = multiview, .faults = true, .rendering = true, .extras = KIT_MULTIVIEW},
    {.name = "body-subpasses", .run = subpasses, .faults = true},
    {.name = "L42-suspended-samples", .run = suspended_samples, .faults = true},
};
const size_t shader_body_case_count = sizeof(shader_body_cases) / sizeof(shader_body_cases[0]);
