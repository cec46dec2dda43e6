#include "shader_fuzz.h"

#define DEPTH VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define DEPTH_STAGES (VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT)
#define ALL_ACCESS (VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT)
#define HELD_TWICE 2

struct attachment {
    struct fuzz_view *view; /* NULL: none */
    VkAttachmentLoadOp load;
    VkImageLayout initial, during, final; /* dynamic rendering: all the same */
};

struct instance {
    struct fuzz_pass_class class;
    struct attachment color, depth, second;
    VkImageLayout input; /* of `color` in the second subpass */
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    struct fuzz_plan plan;
    uint32_t split; /* draws of the first subpass */
    uint32_t side;
    bool query, labels;
};

static const VkClearValue clear_values[] = {
    {.color = {.float32 = {0.5f, 0.25f, 0.75f, 1}}},
    {.depthStencil = {0.75f, 9}},
    {.color = {.float32 = {0.25f, 1, 0.5f, 1}}},
};

/* --- Attachments --- */

static struct fuzz_view *find_attachment(struct fuzz *fuzz, bool color, const struct fuzz_view *like)
{
    uint32_t first = fuzz_pick(fuzz, fuzz->view_count);
    for (uint32_t i = 0; i < fuzz->view_count; i++) {
        struct fuzz_view *view = &fuzz->views[(first + i) % fuzz->view_count];
        if (view->shape != FUZZ_ATTACHMENT || view->image->locked || fuzz_is_color(view->image) != color)
            continue;
        if (!like || (view != like && view->image != like->image && view->range.mip == like->range.mip))
            return view;
    }
    return NULL;
}

static VkImageLayout any_layout(struct fuzz *fuzz, VkImageLayout during)
{
    const VkImageLayout layouts[] = {SRC, DST, READ, GENERAL, during, during};
    return layouts[fuzz_pick(fuzz, 6)];
}

static void choose_layouts(struct fuzz *fuzz, const struct instance *instance, struct attachment *attachment)
{
    const struct fuzz_view *view = attachment->view;
    bool defined = view->image->parts[view->range.mip][view->range.layer].defined;
    attachment->load =
        defined && fuzz_chance(fuzz, 50) ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_CLEAR;
    attachment->during = fuzz_chance(fuzz, 25) ? GENERAL : fuzz_is_color(view->image) ? COLOR : DEPTH;
    attachment->initial = attachment->final = attachment->during;
    if (!instance->class.legacy || !instance->class.dependencies)
        return;
    attachment->initial = any_layout(fuzz, attachment->during);
    attachment->final = any_layout(fuzz, attachment->during);
    if (attachment->load == VK_ATTACHMENT_LOAD_OP_CLEAR && fuzz_chance(fuzz, 40))
        attachment->initial = UNDEFINED;
}

static bool claim_attachment(struct fuzz *fuzz, struct instance *instance, struct attachment *attachment)
{
    const struct fuzz_access color = {attachment->initial, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                      VK_ACCESS_COLOR_ATTACHMENT_READ_BIT |
                                          VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
    const struct fuzz_access depth = {attachment->initial, DEPTH_STAGES,
                                      VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                          VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT};
    uint32_t how = 0;
    if (attachment->initial == UNDEFINED)
        how = FUZZ_READY;
    else if (attachment->load == VK_ATTACHMENT_LOAD_OP_CLEAR && fuzz_chance(fuzz, 30))
        how = FUZZ_DISCARD;
    return fuzz_claim(&instance->plan, attachment->view->image, attachment->view->range,
                      fuzz_is_color(attachment->view->image) ? &color : &depth, how);
}

/* Instances that the layer has held back in vain for an image are not held for it again: from the third one
 * with the same attachments on it may miss what its shaders read. */
static bool comes_again(struct fuzz *fuzz, const struct instance *instance)
{
    uint64_t key = (uint64_t)(instance->color.view - fuzz->views);
    key = key << 20 | (instance->depth.view ? (uint64_t)(instance->depth.view - fuzz->views + 1) : 0);
    key = key << 20 | (instance->second.view ? (uint64_t)(instance->second.view - fuzz->views + 1) : 0);
    for (uint32_t i = 0; i < fuzz->instance_count; i++)
        if (fuzz->instances[i].key == key)
            return ++fuzz->instances[i].count > HELD_TWICE;
    if (fuzz->instance_count == KIT_MAX)
        return true;
    fuzz->instances[fuzz->instance_count].key = key;
    fuzz->instances[fuzz->instance_count++].count = 1;
    return false;
}

static bool choose_attachments(struct fuzz *fuzz, struct instance *instance, bool may_be_legacy)
{
    struct fuzz_pass_class *class = &instance->class;
    class->legacy = may_be_legacy && fuzz_chance(fuzz, 50);
    class->two_subpasses = class->legacy && fuzz_chance(fuzz, 35);
    class->dependencies = class->legacy && (class->two_subpasses || fuzz_chance(fuzz, 60));
    instance->color.view = find_attachment(fuzz, true, NULL);
    if (!instance->color.view)
        return false;
    instance->depth.view = fuzz_chance(fuzz, 35) ? find_attachment(fuzz, false, instance->color.view) : NULL;
    instance->second.view = class->two_subpasses ? find_attachment(fuzz, true, instance->color.view) : NULL;
    class->depth = instance->depth.view != NULL;
    class->two_subpasses = instance->second.view != NULL;
    instance->input = fuzz_chance(fuzz, 50) ? READ : GENERAL;
    instance->side = KIT_SIDE >> instance->color.view->range.mip;
    struct attachment *all[] = {&instance->color, &instance->depth, &instance->second};
    for (uint32_t i = 0; i < 3; i++) {
        if (!all[i]->view)
            continue;
        choose_layouts(fuzz, instance, all[i]);
        if (!claim_attachment(fuzz, instance, all[i]))
            return false;
    }
    return true;
}

/* --- Render passes --- */

static VkAttachmentDescription describe(const struct attachment *attachment)
{
    return (VkAttachmentDescription){
        .format = attachment->view->image->format,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = attachment->load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = attachment->load,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = attachment->initial,
        .finalLayout = attachment->final,
    };
}

static void create_pass(struct fuzz *fuzz, struct instance *instance)
{
    const struct fuzz_pass_class *class = &instance->class;
    VkAttachmentDescription attachments[3];
    VkImageView views[3];
    uint32_t count = 0;
    VkAttachmentReference color = {count, instance->color.during};
    VkAttachmentReference input = {count, instance->input};
    views[count] = instance->color.view->handle;
    attachments[count++] = describe(&instance->color);
    VkAttachmentReference depth = {count, instance->depth.during};
    if (class->depth) {
        views[count] = instance->depth.view->handle;
        attachments[count++] = describe(&instance->depth);
    }
    VkAttachmentReference second = {count, instance->second.during};
    if (class->two_subpasses) {
        views[count] = instance->second.view->handle;
        attachments[count++] = describe(&instance->second);
    }
    const VkSubpassDescription subpasses[2] = {
        {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
         .colorAttachmentCount = 1,
         .pColorAttachments = &color,
         .pDepthStencilAttachment = class->depth ? &depth : NULL},
        {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
         .inputAttachmentCount = 1,
         .pInputAttachments = &input,
         .colorAttachmentCount = 1,
         .pColorAttachments = &second},
    };
    uint32_t last = class->two_subpasses ? 1 : 0;
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                               graphics = VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT;
    const VkSubpassDependency dependencies[] = {
        {VK_SUBPASS_EXTERNAL, 0, all, graphics, ALL_ACCESS, ALL_ACCESS, 0},
        {last, VK_SUBPASS_EXTERNAL, graphics, all, ALL_ACCESS, ALL_ACCESS, 0},
        {0, 1, graphics, graphics, ALL_ACCESS, ALL_ACCESS, VK_DEPENDENCY_BY_REGION_BIT},
        {VK_SUBPASS_EXTERNAL, 1, all, graphics, ALL_ACCESS, ALL_ACCESS, 0},
        {0, VK_SUBPASS_EXTERNAL, graphics, all, ALL_ACCESS, ALL_ACCESS, 0},
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = count,
        .pAttachments = attachments,
        .subpassCount = last + 1,
        .pSubpasses = subpasses,
        .dependencyCount = class->two_subpasses  ? 5
                           : class->dependencies ? 2
                                                 : 0,
        .pDependencies = dependencies,
    };
    struct kit *kit = &fuzz->kit;
    kit_check_room(kit->pass_count);
    kit_check(vkCreateRenderPass(kit->device, &info, NULL, &instance->pass), "vkCreateRenderPass");
    kit->passes[kit->pass_count++] = instance->pass;
    VkFramebufferCreateInfo framebuffer = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = instance->pass,
        .attachmentCount = count,
        .pAttachments = views,
        .width = instance->side,
        .height = instance->side,
        .layers = 1,
    };
    kit_check_room(kit->framebuffer_count);
    kit_check(vkCreateFramebuffer(kit->device, &framebuffer, NULL, &instance->framebuffer),
              "vkCreateFramebuffer");
    kit->framebuffers[kit->framebuffer_count++] = instance->framebuffer;
}

/* --- Recording --- */

static void begin_pass(struct fuzz *fuzz, const struct instance *instance, bool secondary)
{
    VkClearValue clears[3];
    uint32_t count = 0;
    clears[count++] = clear_values[0];
    if (instance->class.depth)
        clears[count++] = clear_values[1];
    if (instance->class.two_subpasses)
        clears[count++] = clear_values[2];
    VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = instance->pass,
        .framebuffer = instance->framebuffer,
        .renderArea = {{0, 0}, {instance->side, instance->side}},
        .clearValueCount = count,
        .pClearValues = clears,
    };
    vkCmdBeginRenderPass(fuzz->commands, &info,
                         secondary ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
                                   : VK_SUBPASS_CONTENTS_INLINE);
}

static void begin_rendering(struct fuzz *fuzz, const struct instance *instance, bool secondary)
{
    VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = instance->color.view->handle,
        .imageLayout = instance->color.during,
        .loadOp = instance->color.load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = clear_values[0],
    };
    VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = instance->class.depth ? instance->depth.view->handle : VK_NULL_HANDLE,
        .imageLayout = instance->depth.during,
        .loadOp = instance->depth.load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = clear_values[1],
    };
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = secondary ? VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT : 0,
        .renderArea = {{0, 0}, {instance->side, instance->side}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = instance->class.depth ? &depth : NULL,
        .pStencilAttachment = instance->class.depth ? &depth : NULL,
    };
    vkCmdBeginRendering(fuzz->commands, &info);
}

static void label(struct fuzz *fuzz, const char *command, const char *name)
{
    PFN_vkCmdBeginDebugUtilsLabelEXT function =
        (PFN_vkCmdBeginDebugUtilsLabelEXT)kit_function(&fuzz->kit, command);
    VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = name};
    function(fuzz->commands, &info);
}

static void end_label(struct fuzz *fuzz)
{
    PFN_vkCmdEndDebugUtilsLabelEXT function =
        (PFN_vkCmdEndDebugUtilsLabelEXT)kit_function(&fuzz->kit, "vkCmdEndDebugUtilsLabelEXT");
    function(fuzz->commands);
}

static void set_area(struct fuzz *fuzz, const struct instance *instance)
{
    uint32_t side = instance->side, left = fuzz_pick(fuzz, side), top = fuzz_pick(fuzz, side);
    bool whole = fuzz_chance(fuzz, 50);
    VkViewport viewport = {0, 0, (float)side, (float)side, 0, 1};
    VkRect2D scissor = {{(int32_t)left, (int32_t)top}, {side - left, side - top}};
    if (whole)
        scissor = (VkRect2D){{0, 0}, {side, side}};
    vkCmdSetViewport(fuzz->commands, 0, 1, &viewport);
    vkCmdSetScissor(fuzz->commands, 0, 1, &scissor);
}

static void draw(struct fuzz *fuzz)
{
    switch (fuzz_pick(fuzz, 3)) {
    case 0:
        vkCmdDraw(fuzz->commands, 3, 1, 0, 0);
        break;
    case 1:
        vkCmdBindIndexBuffer(fuzz->commands, fuzz->arguments, 32, VK_INDEX_TYPE_UINT32);
        vkCmdDrawIndexed(fuzz->commands, 3, 1, 0, 0, 0);
        break;
    default:
        vkCmdDrawIndirect(fuzz->commands, fuzz->arguments, 0, 1, 16);
        break;
    }
}

static void clear_inside(struct fuzz *fuzz, const struct instance *instance)
{
    VkClearAttachment clear = {VK_IMAGE_ASPECT_COLOR_BIT, 0, clear_values[fuzz_pick(fuzz, 2) * 2]};
    VkClearRect area = {{{0, 0}, {instance->side / 2, instance->side}}, 0, 1};
    vkCmdClearAttachments(fuzz->commands, 1, &clear, 1, &area);
}

static void record_draws(struct fuzz *fuzz, const struct instance *instance, uint32_t first, uint32_t end)
{
    if (instance->labels)
        label(fuzz, "vkCmdBeginDebugUtilsLabelEXT", "draws");
    for (uint32_t i = first; i < end; i++) {
        fuzz_bind(fuzz, &instance->plan.draws[i], instance->pass);
        set_area(fuzz, instance);
        draw(fuzz);
        if (fuzz_chance(fuzz, 10) && !fuzz->options.lavapipe)
            clear_inside(fuzz, instance);
        if (instance->labels && fuzz_chance(fuzz, 30))
            label(fuzz, "vkCmdInsertDebugUtilsLabelEXT", "drawn");
    }
    if (instance->labels)
        end_label(fuzz);
}

/* "queries begun in a subpass must end in that subpass": the first has one. */
static void record_inline(struct fuzz *fuzz, const struct instance *instance, uint32_t subpass,
                          uint32_t first, uint32_t end)
{
    bool query = instance->query && subpass == 0;
    if (query)
        vkCmdBeginQuery(fuzz->commands, fuzz->queries, fuzz->query_count, 0);
    record_draws(fuzz, instance, first, end);
    if (query)
        vkCmdEndQuery(fuzz->commands, fuzz->queries, fuzz->query_count);
}

static VkCommandBuffer begin_inside(struct fuzz *fuzz, const struct instance *instance, uint32_t subpass)
{
    const VkFormat format = RGBA, depth_format = VK_FORMAT_D32_SFLOAT_S8_UINT;
    VkCommandBufferInheritanceRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = instance->class.depth ? depth_format : VK_FORMAT_UNDEFINED,
        .stencilAttachmentFormat = instance->class.depth ? depth_format : VK_FORMAT_UNDEFINED,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .pNext = instance->pass ? NULL : &rendering,
        .renderPass = instance->pass,
        .subpass = subpass,
        .framebuffer = fuzz_chance(fuzz, 50) ? instance->framebuffer : VK_NULL_HANDLE,
    };
    return fuzz_begin_secondary(fuzz, &inheritance, VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
}

static void record_secondaries(struct fuzz *fuzz, const struct instance *instance, uint32_t subpass,
                               uint32_t first, uint32_t end)
{
    VkCommandBuffer primary = fuzz->commands, secondaries[2];
    uint32_t count = 1 + fuzz_pick(fuzz, 2), middle = count == 2 ? (first + end) / 2 : end;
    for (uint32_t i = 0; i < count; i++) {
        fuzz->commands = secondaries[i] = begin_inside(fuzz, instance, subpass);
        record_draws(fuzz, instance, i ? middle : first, i ? end : middle);
        kit_end(secondaries[i]);
    }
    fuzz->commands = primary;
    vkCmdExecuteCommands(primary, count, secondaries);
    fuzz->bound[0].set = fuzz->bound[1].set = NULL;
    fuzz->bound[0].layout = fuzz->bound[1].layout = VK_NULL_HANDLE;
}

static void record_subpass(struct fuzz *fuzz, const struct instance *instance, uint32_t subpass,
                           bool secondary)
{
    uint32_t first = subpass ? instance->split : 0;
    uint32_t end = subpass ? instance->plan.draw_count : instance->split;
    if (secondary)
        record_secondaries(fuzz, instance, subpass, first, end);
    else
        record_inline(fuzz, instance, subpass, first, end);
}

static void record(struct fuzz *fuzz, const struct instance *instance, bool primary)
{
    bool secondary = primary && fuzz_chance(fuzz, 25);
    if (instance->class.legacy)
        begin_pass(fuzz, instance, secondary);
    else
        begin_rendering(fuzz, instance, secondary);
    record_subpass(fuzz, instance, 0, secondary);
    if (instance->class.two_subpasses) {
        secondary = primary && fuzz_chance(fuzz, 25);
        vkCmdNextSubpass(fuzz->commands, secondary ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
                                                   : VK_SUBPASS_CONTENTS_INLINE);
        record_subpass(fuzz, instance, 1, secondary);
    }
    if (instance->class.legacy)
        vkCmdEndRenderPass(fuzz->commands);
    else
        vkCmdEndRendering(fuzz->commands);
}

/* --- Planning --- */

static void plan_draws(struct fuzz *fuzz, struct instance *instance)
{
    struct fuzz_pipeline_key key = {.second_kind = FUZZ_OTHER, .pass = instance->class};
    for (uint32_t i = 1 + fuzz_pick(fuzz, 3); i > 0; i--)
        fuzz_plan_draw(fuzz, &instance->plan, key);
    instance->split = instance->plan.draw_count;
    if (!instance->class.two_subpasses)
        return;
    key.subpass = 1;
    if (fuzz_chance(fuzz, 50))
        fuzz_plan_draw(fuzz, &instance->plan, key);
    struct fuzz_set *input = fuzz_set_new(fuzz, FUZZ_INPUT);
    key.second_kind = FUZZ_INPUT;
    if (!input || !fuzz_plan_draw(fuzz, &instance->plan, key))
        return;
    input->refs[0] = (struct fuzz_ref){instance->color.view, instance->input};
    fuzz_set_write(fuzz, input);
    instance->plan.draws[instance->plan.draw_count - 1].second = input;
}

static void leave(const struct instance *instance)
{
    const struct attachment *all[] = {&instance->color, &instance->depth, &instance->second};
    for (uint32_t i = 0; i < 3; i++)
        if (all[i]->view && instance->class.dependencies)
            fuzz_left_by_pass(all[i]->view->image, all[i]->view->range, all[i]->final);
}

void fuzz_instance(struct fuzz *fuzz, bool primary)
{
    struct instance instance = {0};
    struct kit *kit = &fuzz->kit;
    if (kit->pass_count == KIT_MAX || kit->framebuffer_count == KIT_MAX ||
        !choose_attachments(fuzz, &instance, primary))
        return;
    instance.plan.keep = comes_again(fuzz, &instance);
    instance.query = fuzz->query_count < KIT_MAX && fuzz_chance(fuzz, 15);
    instance.labels = kit_has(kit, KIT_DEBUG_LABELS) && fuzz_chance(fuzz, 30);
    if (instance.class.legacy)
        create_pass(fuzz, &instance);
    plan_draws(fuzz, &instance);
    fuzz_plan_settle(fuzz, &instance.plan);
    if (instance.query)
        vkCmdResetQueryPool(fuzz->commands, fuzz->queries, fuzz->query_count, 1);
    record(fuzz, &instance, primary);
    fuzz->query_count += instance.query;
    leave(&instance);
}
