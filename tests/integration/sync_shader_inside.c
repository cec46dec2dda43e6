/* What stands inside of render pass instances beside draws: barriers that may not stand there, attachments
 * that are read, commands that can't be held back. L01, L23. */
#include "shader_app.h"

#define ONE ((VkImageSubresourceRange){COLOR_BIT, 0, 1, 0, 1})
#define BARRIERS_MAX 8

static struct shaders shaders;
static struct shader_target source, out; /* IMAGE_COLOR, IMAGE_OTHER */
static VkPipeline sample, dynamic;
static VkDescriptorSet set, dynamic_set;
static VkImage third; /* that no descriptor refers to */
static enum shader_pass kind;
static record_function body;
static bool sync2;       /* barriers are vkCmdPipelineBarrier2's */
static uint32_t skipped; /* barriers that the body leaves out */

static void open_objects(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding array =
        shaders_binding(0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 4);
    shaders_open(&shaders, app);
    source = shaders_target(&shaders, app->images[IMAGE_COLOR], app->views[VIEW_COLOR], ONE, RECORD_SIDE);
    out = shaders_target(&shaders, app->images[IMAGE_OTHER], app->views[VIEW_OTHER], ONE, RECORD_SIDE);
    third = app->images[IMAGE_MANY];
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 1, &array, NULL);
    sample = shaders_graphics(&shaders, shaders.one_layout, SHADER_SAMPLE);
    dynamic = shaders_graphics(&shaders, shaders_layout(&shaders, 1, &layout), SHADER_DYNAMIC);
    set = shaders_one(&shaders, source.view, SHADER);
    dynamic_set = shaders_set(&shaders, layout);
    for (uint32_t i = 0; i < 4; i++)
        shaders_write(&shaders, dynamic_set, 0, i, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, source.view,
                      SHADER);
}

static void close_objects(struct record_app *app)
{
    shaders_close(&shaders);
    record_app_close(app);
}

static void draw(const struct record_vk *vk, VkCommandBuffer cb, VkDescriptorSet used)
{
    shaders_draw(vk, cb, sample, shaders.one_layout, 1, &used);
}

/* The source is rendered, then comes an instance with the body. `third` is in DST. */
static void frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_move(vk, cb, third, (struct record_range){0}, UNDEFINED, DST);
    record_act(app, vk, cb);
    shaders_prepare(app, vk, cb, &source);
    shaders_prepare(app, vk, cb, &out);
    shaders_begin(vk, cb, kind, &source, false);
    shaders_end(vk, cb, kind);
    shaders_begin(vk, cb, kind, &out, false);
    body(app, vk, cb);
    shaders_end(vk, cb, kind);
}

/* --- Barriers that may not stand there --- */

#define FRAGMENT VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT

/* Of several images: from the first layout to the second each. */
struct move {
    VkImage image;
    VkImageLayout from, to;
};

static void barrier(const struct record_vk *vk, VkCommandBuffer cb, bool with_memory, uint32_t count,
                    const struct move *moves)
{
    const VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL, VK_ACCESS_SHADER_WRITE_BIT,
                                    VK_ACCESS_SHADER_READ_BIT};
    const VkMemoryBarrier2 memory2 = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,      NULL,
                                      VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT,
                                      VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT};
    VkImageMemoryBarrier images[BARRIERS_MAX];
    VkImageMemoryBarrier2 images2[BARRIERS_MAX];
    struct record_range range = {0};
    for (uint32_t i = 0; i < count; i++) {
        images[i] = record_barrier_info(moves[i].image, range, moves[i].from, moves[i].to);
        images2[i] = record_barrier2_info(moves[i].image, range, moves[i].from, moves[i].to);
    }
    const VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT,
                                   .memoryBarrierCount = with_memory,
                                   .pMemoryBarriers = &memory2,
                                   .imageMemoryBarrierCount = count,
                                   .pImageMemoryBarriers = images2};
    if (sync2)
        vk->CmdPipelineBarrier2(cb, &info);
    else
        vk->CmdPipelineBarrier(cb, FRAGMENT, FRAGMENT, VK_DEPENDENCY_BY_REGION_BIT, with_memory, &memory, 0,
                               NULL, count, images);
}

static void move_source(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, TARGET, SHADER};
    (void)app;
    barrier(vk, cb, false, 1, &move);
    draw(vk, cb, set);
}

/* In a layout that it isn't in. */
static void move_source_wrongly(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, DST, SHADER};
    (void)app;
    barrier(vk, cb, false, 1, &move);
    draw(vk, cb, set);
}

static void move_some(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move moves[] = {
        {source.image, TARGET, SHADER}, {out.image, TARGET, TARGET}, {third, DST, SHADER}};
    (void)app;
    barrier(vk, cb, true, 3, moves);
    draw(vk, cb, set);
}

static void draw_then_move(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, SHADER, GENERAL};
    (void)app;
    draw(vk, cb, set);
    barrier(vk, cb, false, 1, &move);
}

static void dynamic_then_move(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, TARGET, SHADER};
    (void)app;
    shaders_draw(vk, cb, dynamic, shaders.one_layout, 1, &dynamic_set);
    barrier(vk, cb, false, 1, &move);
}

static VkCommandBuffer secondary; /* draws with `dynamic` */

static void draws_dynamic(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    shaders_draw(vk, cb, dynamic, shaders.one_layout, 1, &dynamic_set);
}

static void execute_then_move(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, TARGET, SHADER};
    (void)app;
    vk->CmdExecuteCommands(cb, 1, &secondary);
    barrier(vk, cb, false, 1, &move);
}

static VkDescriptorSet unknown_set;

static void unknown_then_move(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, TARGET, SHADER};
    (void)app;
    draw(vk, cb, unknown_set);
    barrier(vk, cb, false, 1, &move);
}

/* What came down is what was meant, but that the n-th barrier call stands before the second instance, perhaps
 * in the other form. */
static void check_hoisted(const struct recorded *recorded, uint32_t nth, VkImageLayout from, const char *what)
{
    uint32_t begin = shaders_index(recorded->meant, shaders_begin_name(kind), 1);
    uint32_t count = fault_command_count(recorded->meant), moved = begin + 1 + nth;
    CHECK_EQUAL(fault_command_count(recorded->got), count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t meant = i < begin ? i : i == begin ? moved : i <= moved ? i - 1 : i;
        CHECK_SAY(i == begin || fault_command_equal(recorded->got, i, recorded->meant, meant),
                  "%s: command %u: %s", what, i, fault_command_name(recorded->got, i));
    }
    struct insertion barriers[BARRIERS_MAX];
    uint32_t all = record_barriers(recorded->got, barriers, BARRIERS_MAX);
    CHECK(all > 0 && barriers[all - 1].before == begin && barriers[all - 1].image == source.image);
    CHECK_SAY(barriers[all - 1].from == from && barriers[all - 1].to == SHADER, "%s: from %d to %d", what,
              barriers[all - 1].from, barriers[all - 1].to);
}

static void check_split(const struct recorded *recorded)
{
    struct insertion got[BARRIERS_MAX];
    uint32_t count = record_barriers(recorded->got, got, BARRIERS_MAX);
    uint32_t begin = shaders_index(recorded->got, shaders_begin_name(kind), 1);
    CHECK_EQUAL(count, 3 + 3);
    CHECK(got[3].image == source.image && got[3].before < begin && got[3].to == SHADER);
    CHECK(got[4].image == third && got[4].before == got[3].before);
    CHECK(got[5].image == out.image && got[5].before > begin && got[5].to == TARGET);
    CHECK_EQUAL(fault_command_count(recorded->got), fault_command_count(recorded->meant) + 1);
    CHECK_EQUAL(record_barrier_calls(recorded->got), record_barrier_calls(recorded->meant) + 1);
}

static void run_barriers(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    for (int form = 0; form < (app.options.no_sync2 ? 1 : 2); form++)
        for (kind = 0; kind < SHADER_PASSES; kind++) {
            sync2 = form;
            body = move_source;
            struct recorded recorded = record_both(&app, frame);
            check_hoisted(&recorded, 0, TARGET, "alone");
            record_run(&app, recorded.got, "alone");
            body = move_source_wrongly;
            recorded = record_both(&app, frame);
            check_hoisted(&recorded, 0, TARGET, "wrongly");
            record_run(&app, recorded.got, "wrongly");
            body = move_some;
            recorded = record_both(&app, frame);
            check_split(&recorded);
        }
    close_objects(&app);
}

static void test_hoisted(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_barriers);
    CHECK(report_count("repair", "barrier inside") > 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "passes_held_in_vain"), 0);
}

static void test_hoisted_unmerged(void **state)
{
    (void)state;
    layer_set("MERGE", "false");
    record_run_shaders_on_all(run_barriers);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* A structure that nobody knows. */
static const VkBaseInStructure unknown_structure = {.sType = (VkStructureType)1999999000};

/* Its layout is defined like that of the pipelines, as far as anybody knows. */
static void create_unknown_set(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding binding =
        shaders_binding(0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1);
    const VkDescriptorSetLayoutCreateInfo info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .pNext = &unknown_structure,
                                                  .bindingCount = 1,
                                                  .pBindings = &binding};
    VkDescriptorSetLayout layout;
    CHECK_EQUAL(vkCreateDescriptorSetLayout(app->device, &info, NULL, &layout), VK_SUCCESS);
    shaders_keep(&shaders, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout);
    unknown_set = shaders_set(&shaders, layout);
    shaders_write(&shaders, unknown_set, 0, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, source.view,
                  SHADER);
}

/* An earlier command of the instance has used the image, or may have, and a later one may, too. */
static void run_kept_inside(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    create_unknown_set(&app);
    shaders_one(&shaders, source.view, GENERAL);
    const struct shader_insertion wanted = {shaders_begin_name(kind), 1, source.image, TARGET, SHADER};
    body = draw_then_move;
    struct recorded recorded = record_both(&app, frame);
    shaders_check(&recorded, "used before", 1, &wanted);
    body = dynamic_then_move;
    recorded = record_both(&app, frame);
    record_check_same(&recorded, "perhaps used before");
    body = unknown_then_move;
    recorded = record_both(&app, frame);
    record_check_same(&recorded, "a set that isn't known");
    /* It was held in vain twice; after a miss it is held again. */
    body = draw_then_move;
    record_both(&app, frame);
    secondary = record_one(&app, draws_dynamic, shaders_inheritance(kind, &out));
    body = execute_then_move;
    recorded = record_both(&app, frame);
    record_check_same(&recorded, "perhaps used by a secondary");
    close_objects(&app);
}

static void test_kept_inside(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        run_complete(run_kept_inside, &options);
        CHECK_EQUAL(report_number("barriers", "passes_held"), 4);
        CHECK_EQUAL(report_number("barriers", "reported"), 3 + 2 + 1);
    }
    CHECK(report_count("fault", "barrier inside") > 0);
}

static struct shader_target external;

/* Two instances whose attachment isn't tracked, so that the second begins as the first has left everything.
 * The source is in SHADER, `out` is a reason to hold them. */
static void draws_again(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {source.image, SHADER, GENERAL};
    record_move(vk, cb, source.image, (struct record_range){0}, UNDEFINED, SHADER);
    record_act(app, vk, cb);
    shaders_prepare(app, vk, cb, &out);
    shaders_prepare(app, vk, cb, &external);
    shaders_begin(vk, cb, PASS_DYNAMIC, &external, false);
    draw(vk, cb, set);
    shaders_end(vk, cb, PASS_DYNAMIC);
    shaders_begin(vk, cb, PASS_DYNAMIC, &external, false);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    barrier(vk, cb, false, 1, &move);
    shaders_end(vk, cb, PASS_DYNAMIC);
}

static void run_drawn_again(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    VkImage image = app.images[IMAGE_EXTERNAL];
    external = shaders_target(&shaders, image, shaders_view(&shaders, image, ONE), ONE, RECORD_SIDE);
    shaders_one(&shaders, out.view, SHADER);
    shaders_one(&shaders, source.view, GENERAL);
    struct recorded recorded = record_both(&app, draws_again);
    record_check_same(&recorded, "drawn again");
    close_objects(&app);
}

static void test_drawn_again(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    run_complete(run_drawn_again, &options);
    CHECK_EQUAL(report_count("fault", "barrier inside"), 1);
    CHECK_EQUAL(report_number("barriers", "passes_held"), 2);
}

/* What may stand in an instance whose attachments' layouts aren't known, nor whether they have any. */
static void move_out(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {out.image, TARGET, TARGET};
    (void)app;
    barrier(vk, cb, false, 1, &move);
    draw(vk, cb, set);
}

static void run_unknown_pass(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    out.pass = shaders_pass(&shaders, &unknown_structure);
    for (kind = PASS_1; kind <= PASS_2; kind++) {
        const struct shader_insertion wanted = {shaders_begin_name(kind), 1, source.image, TARGET, SHADER};
        body = move_out;
        struct recorded recorded = record_both(&app, frame);
        shaders_check(&recorded, "unknown pass", 1, &wanted);
    }
    close_objects(&app);
}

static void test_unknown_pass(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_unknown_pass);
    CHECK_EQUAL(report_count("repair", "barrier inside"), 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- Instances that are held for such barriers --- */

static void move_third(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const struct move move = {third, DST, SHADER};
    (void)app;
    if (!skipped)
        barrier(vk, cb, false, 1, &move);
    vk->CmdDraw(cb, 3, 1, 0, 0);
}

/* Without the source, so that nothing else is a reason. */
static void plain_frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_move(vk, cb, third, (struct record_range){0}, UNDEFINED, DST);
    record_act(app, vk, cb);
    shaders_prepare(app, vk, cb, &out);
    shaders_begin(vk, cb, kind, &out, false);
    body(app, vk, cb);
    shaders_end(vk, cb, kind);
}

static void check_third(const struct record_app *app, bool hoisted, const char *what)
{
    struct insertion got[BARRIERS_MAX];
    struct recorded recorded = record_both(app, plain_frame);
    uint32_t count = record_barriers(recorded.got, got, BARRIERS_MAX);
    uint32_t begin = shaders_index(recorded.got, shaders_begin_name(kind), 0);
    CHECK_SAY(count == 3 - skipped, "%s: %u barriers", what, count);
    CHECK_SAY(skipped || (got[2].image == third && (got[2].before < begin) == hoisted),
              "%s: barrier %u, begin %u", what, got[2].before, begin);
    CHECK_EQUAL(fault_command_count(recorded.got), fault_command_count(recorded.meant));
}

static void run_remembered(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    shaders_one(&shaders, shaders_view(&shaders, third, ONE), SHADER);
    body = move_third;
    skipped = 1;
    for (int i = 0; i < 4; i++)
        check_third(&app, false, "in vain");
    skipped = 0;
    check_third(&app, false, "not held any more");
    check_third(&app, true, "remembered");
    check_third(&app, true, "the third");
    skipped = 1;
    for (int i = 0; i < 4; i++)
        check_third(&app, false, "without");
    skipped = 0;
    check_third(&app, false, "forgotten");
    close_objects(&app);
}

static void test_remembered(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        run_complete(run_remembered, &options);
        CHECK_EQUAL(report_number("barriers", "passes_held"), 2 + 2 + 2);
        CHECK_EQUAL(report_number("barriers", "passes_held_in_vain"), 2 + 2);
        CHECK_EQUAL(report_number("barriers", "reported"), 2);
    }
}

/* --- Attachments --- */

static VkDescriptorSet out_set;

static void draw_out(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, out_set);
    draw(vk, cb, set);
    draw(vk, cb, out_set);
}

/* What is read while it is an attachment is the application's business. */
static void run_feedback(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    out_set = shaders_one(&shaders, out.view, SHADER);
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        const struct shader_insertion wanted = {shaders_begin_name(kind), 1, source.image, TARGET, SHADER};
        body = draw_out;
        struct recorded recorded = record_both(&app, frame);
        shaders_check(&recorded, "feedback", 1, &wanted);
    }
    close_objects(&app);
}

static void test_feedback(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_feedback);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

#define MIPS 4
static struct shader_target mips[MIPS];
static VkDescriptorSet before_sets[MIPS], whole_set; /* of the mip before; of all */

static void draw_mips(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (uint32_t i = 0; i < MIPS; i++)
        shaders_prepare(app, vk, cb, &mips[i]);
    for (uint32_t i = 0; i < MIPS; i++) {
        shaders_begin(vk, cb, kind, &mips[i], false);
        if (i)
            draw(vk, cb, before_sets[i]);
        shaders_end(vk, cb, kind);
    }
}

/* As before, but that the view names what is attached, too. */
static void draw_whole(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (uint32_t i = 0; i < MIPS; i++)
        shaders_prepare(app, vk, cb, &mips[i]);
    shaders_begin(vk, cb, kind, &mips[1], false);
    draw(vk, cb, whole_set);
    shaders_end(vk, cb, kind);
}

static void check_mips(const struct record_app *app)
{
    struct insertion got[BARRIERS_MAX];
    struct recorded recorded = record_both(app, draw_mips);
    CHECK_EQUAL(record_insertions(&recorded, got, BARRIERS_MAX), MIPS - 1);
    for (uint32_t i = 0; i < MIPS - 1; i++) {
        CHECK_EQUAL(got[i].before, shaders_index(recorded.meant, shaders_begin_name(kind), i + 1));
        CHECK(got[i].from == TARGET && got[i].to == SHADER);
        CHECK(got[i].range.baseMipLevel == i && got[i].range.levelCount == 1 && got[i].range.layerCount == 1);
    }
    record_run(app, recorded.got, "mips");
    recorded = record_both(app, draw_whole);
    uint32_t count = record_insertions(&recorded, got, BARRIERS_MAX), levels = 0;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(got[i].from == TARGET && got[i].to == SHADER);
        CHECK(got[i].range.baseMipLevel != 1);
        levels += got[i].range.levelCount;
    }
    CHECK_EQUAL(levels, MIPS - 1);
}

static void run_mips(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    for (uint32_t i = 0; i < MIPS; i++) {
        const VkImageSubresourceRange range = {COLOR_BIT, i, 1, 0, 1};
        VkImageView view = shaders_view(&shaders, app.images[IMAGE_ARRAY], range);
        mips[i] = shaders_target(&shaders, app.images[IMAGE_ARRAY], view, range, RECORD_SIDE >> i);
        if (i)
            before_sets[i] = shaders_one(&shaders, mips[i - 1].view, SHADER);
    }
    const VkImageSubresourceRange all = {COLOR_BIT, 0, MIPS, 0, 1};
    whole_set = shaders_one(&shaders, shaders_view(&shaders, app.images[IMAGE_ARRAY], all), SHADER);
    for (kind = 0; kind < SHADER_PASSES; kind++)
        check_mips(&app);
    close_objects(&app);
}

static void test_mips(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_mips);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- What can't be held back --- */

static void unknown_label(const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pNext = &unknown_structure,
                                        .pLabelName = "unknown"};
    vk->CmdInsertDebugUtilsLabelEXT(cb, &label);
}

static void unknown_then_draw(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    vk->CmdSetLineWidth(cb, 1);
    unknown_label(vk, cb);
    vk->CmdSetLineWidth(cb, 2);
    draw(vk, cb, set);
}

static void draw_then_unknown(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, set);
    unknown_label(vk, cb);
    draw(vk, cb, set);
    vk->CmdSetLineWidth(cb, 2);
}

/* What was recorded so far goes down, and the rest as it comes. */
static void run_not_encoded(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        const struct shader_insertion wanted = {shaders_begin_name(kind), 1, source.image, TARGET, SHADER};
        body = draw_then_unknown;
        struct recorded recorded = record_both(&app, frame);
        shaders_check(&recorded, "drawn before", 1, &wanted);
        record_run(&app, recorded.got, "drawn before");
        body = unknown_then_draw;
        recorded = record_both(&app, frame);
        record_check_same(&recorded, "drawn after");
    }
    close_objects(&app);
}

static void test_not_encoded(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_not_encoded);
    CHECK(report_count("fault", "inside a render pass") > 0);
    CHECK_EQUAL(report_number("barriers", "not_encoded"), 6);
    CHECK_EQUAL(report_number("barriers", "passes_held"), 6);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 3);
    CHECK_EQUAL(report_number("barriers", "reported"), 3);
}

static void just_draw(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, set);
}

/* The begin itself can't be held, or what it means depends on the device mask. */
static void run_begins(void *context)
{
    static const VkDeviceGroupRenderPassBeginInfo group = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_RENDER_PASS_BEGIN_INFO, .deviceMask = 1};
    const void *const chains[] = {&unknown_structure, &group};
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    body = just_draw;
    for (kind = 0; kind < SHADER_PASSES; kind++)
        for (int i = 0; i < 2; i++) {
            out.chain = chains[i];
            struct recorded recorded = record_both(&app, frame);
            record_check_same(&recorded, i ? "group" : "unknown");
        }
    close_objects(&app);
}

static void test_begins(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_begins);
    CHECK_EQUAL(report_number("barriers", "passes_held"), 0);
    CHECK_EQUAL(report_number("barriers", "passes"), 3 * 2 * 2);
    CHECK_EQUAL(report_number("barriers", "reported"), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_hoisted),     HARNESS_TEST(test_hoisted_unmerged), HARNESS_TEST(test_kept_inside),
        HARNESS_TEST(test_remembered),  HARNESS_TEST(test_feedback),         HARNESS_TEST(test_mips),
        HARNESS_TEST(test_not_encoded), HARNESS_TEST(test_begins),           HARNESS_TEST(test_unknown_pass),
        HARNESS_TEST(test_drawn_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
