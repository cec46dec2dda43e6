/* Render pass instances that are held back: what a shader in them needs goes before the instance, and all
 * that was recorded comes down as it was. L01, L27, L33. */
#include "shader_app.h"

#define ONE ((VkImageSubresourceRange){COLOR_BIT, 0, 1, 0, 1})

static struct shaders shaders;
static struct shader_target source, out; /* IMAGE_COLOR, IMAGE_OTHER */
static VkImage third;                    /* that is in SHADER at every time */
static VkPipeline sample, two_sets;
static VkDescriptorSet set, third_set,
    general_set; /* of `source` in SHADER, of `third`, of `source` in GENERAL */
static enum shader_pass kind;
static record_function body;
static VkCommandBuffer secondaries[2]; /* NULL: the body is inline */

static void clear_third(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    record_move(vk, cb, third, (struct record_range){0}, UNDEFINED, DST);
    record_clear(vk, cb, third, (struct record_range){0}, DST);
    record_move(vk, cb, third, (struct record_range){0}, DST, SHADER);
}

static void open_objects(const struct record_app *app)
{
    shaders_open(&shaders, app);
    source = shaders_target(&shaders, app->images[IMAGE_COLOR], app->views[VIEW_COLOR], ONE, RECORD_SIDE);
    out = shaders_target(&shaders, app->images[IMAGE_OTHER], app->views[VIEW_OTHER], ONE, RECORD_SIDE);
    third = app->images[IMAGE_MANY];
    sample = shaders_graphics(&shaders, shaders.one_layout, SHADER_SAMPLE);
    two_sets = shaders_graphics(&shaders, shaders.two_layout, SHADER_TWO_SETS);
    set = shaders_one(&shaders, source.view, SHADER);
    third_set = shaders_one(&shaders, shaders_view(&shaders, third, ONE), SHADER);
    secondaries[0] = VK_NULL_HANDLE;
    record_run(app, record_one(app, clear_third, NULL), "clear");
}

static void draw(const struct record_vk *vk, VkCommandBuffer cb, VkDescriptorSet used)
{
    shaders_draw(vk, cb, sample, shaders.one_layout, 1, &used);
}

/* The source is rendered. */
static void begin_frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    shaders_prepare(app, vk, cb, &source);
    shaders_prepare(app, vk, cb, &out);
    shaders_begin(vk, cb, kind, &source, false);
    draw(vk, cb, third_set);
    shaders_end(vk, cb, kind);
}

/* Then another instance, with the body. */
static void frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_frame(app, vk, cb);
    shaders_begin(vk, cb, kind, &out, secondaries[0] != VK_NULL_HANDLE);
    body(app, vk, cb);
    shaders_end(vk, cb, kind);
}

/* --- Bodies that need the source in SHADER --- */

static void one_draw(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, set);
}

static void begin_label(const struct record_vk *vk, VkCommandBuffer cb, const char *name)
{
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = name};
    vk->CmdBeginDebugUtilsLabelEXT(cb, &label);
    vk->CmdInsertDebugUtilsLabelEXT(cb, &label);
}

static void set_state(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkViewport viewport = {0, 0, 16, 16, 0, 1};
    const VkRect2D scissor = {{1, 2}, {3, 4}};
    const VkDeviceSize offset = 256;
    vk->CmdSetViewport(cb, 0, 1, &viewport);
    vk->CmdSetScissor(cb, 0, 1, &scissor);
    vk->CmdSetLineWidth(cb, 2);
    vk->CmdSetCullMode(cb, VK_CULL_MODE_BACK_BIT);
    vk->CmdSetBlendConstants(cb, (const float[4]){1, 2, 3, 4});
    vk->CmdSetStencilReference(cb, VK_STENCIL_FACE_FRONT_BIT, 7);
    vk->CmdBindVertexBuffers(cb, 0, 1, &app->buffer, &offset);
    vk->CmdBindIndexBuffer(cb, app->buffer, 512, VK_INDEX_TYPE_UINT16);
    vk->CmdPushConstants(cb, app->layout, VK_SHADER_STAGE_COMPUTE_BIT, 4, 8, "12345678");
}

/* Spec, vkCmdPipelineBarrier: not inside of dynamic rendering. */
static void barrier_inside(const struct record_vk *vk, VkCommandBuffer cb, uint32_t count,
                           const VkMemoryBarrier *memory)
{
    if (kind != PASS_DYNAMIC)
        vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                               VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_DEPENDENCY_BY_REGION_BIT, count,
                               memory, 0, NULL, 0, NULL);
}

/* Everything that is of a frame of a real program. */
static void many_commands(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkClearAttachment clear = {.aspectMask = COLOR_BIT};
    const VkClearRect where = {.rect = {{0, 0}, {1, 1}}, .layerCount = 1};
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};
    begin_label(vk, cb, "outer");
    set_state(app, vk, cb);
    vk->CmdBeginQuery(cb, app->queries, 1, 0);
    vk->CmdClearAttachments(cb, 1, &clear, 1, &where);
    draw(vk, cb, third_set);
    barrier_inside(vk, cb, 1, &memory);
    begin_label(vk, cb, "inner");
    draw(vk, cb, set);
    vk->CmdEndDebugUtilsLabelEXT(cb);
    vk->CmdEndQuery(cb, app->queries, 1);
    vk->CmdWriteTimestamp(cb, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, app->queries, 2);
    vk->CmdDrawIndexed(cb, 3, 1, 0, 0, 0);
    vk->CmdEndDebugUtilsLabelEXT(cb);
}

/* A barrier of stages alone is a self-dependency, too. */
static void stages_alone(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, set);
    barrier_inside(vk, cb, 0, NULL);
    draw(vk, cb, set);
}

/* The image is bound long before it is read, and read twice. */
static void bound_early(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkDescriptorSet sets[] = {third_set, set};
    vk->CmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, shaders.two_layout, 0, 2, sets, 0, NULL);
    vk->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, sample);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    set_state(app, vk, cb);
    vk->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_GRAPHICS, two_sets);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    vk->CmdDraw(cb, 3, 1, 0, 0);
}

static void executes(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    vk->CmdExecuteCommands(cb, 2, secondaries);
    vk->CmdExecuteCommands(cb, 1, secondaries);
}

static void draws_third(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, third_set);
}

static const struct {
    const char *name;
    record_function body;
} needing[] = {
    {"one draw", one_draw},
    {"many commands", many_commands},
    {"stages alone", stages_alone},
    {"bound early", bound_early},
};

static void check_one(const struct record_app *app, const char *name)
{
    struct recorded recorded = record_both(app, frame);
    const struct shader_insertion wanted = {shaders_begin_name(kind), 1, source.image, TARGET, SHADER};
    shaders_check(&recorded, name, 1, &wanted);
    record_run(app, recorded.got, name);
}

static void run_needing(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    for (kind = 0; kind < SHADER_PASSES; kind++)
        for (size_t i = 0; i < sizeof(needing) / sizeof(needing[0]); i++) {
            body = needing[i].body;
            check_one(&app, needing[i].name);
        }
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        secondaries[0] = record_one(&app, draws_third, shaders_inheritance(kind, &out));
        secondaries[1] = record_one(&app, one_draw, shaders_inheritance(kind, &out));
        body = executes;
        check_one(&app, "executes");
    }
    shaders_close(&shaders);
    record_app_close(&app);
}

static void test_needing(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_needing);
    CHECK(report_count("repair", "missing transition") > 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "passes_held"), 15);
    CHECK_EQUAL(report_number("barriers", "passes_held_in_vain"), 0);
    CHECK_EQUAL(report_number("barriers", "not_encoded"), 0);
}

static void test_needing_unmerged(void **state)
{
    (void)state;
    layer_set("MERGE", "false");
    record_run_shaders_on_all(run_needing);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- Programs that are right --- */

/* What the program itself says between. */
static void right_frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_frame(app, vk, cb);
    record_move(vk, cb, source.image, (struct record_range){0}, TARGET, SHADER);
    shaders_begin(vk, cb, kind, &out, false);
    body(app, vk, cb);
    shaders_end(vk, cb, kind);
}

static void run_right(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    for (kind = 0; kind < SHADER_PASSES; kind++)
        for (size_t i = 0; i < sizeof(needing) / sizeof(needing[0]); i++) {
            body = needing[i].body;
            struct recorded recorded = record_both(&app, right_frame);
            record_check_same(&recorded, needing[i].name);
            record_run(&app, recorded.got, needing[i].name);
        }
    shaders_close(&shaders);
    record_app_close(&app);
}

static void test_right(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_right);
    CHECK_EQUAL(report_count("repair", ""), 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "passes_held"), 0);
    CHECK_EQUAL(report_number("barriers", "passes"), 24);
}

/* --- Held in vain --- */

static void check_same_frames(const struct record_app *app, uint32_t count, const char *what)
{
    for (uint32_t i = 0; i < count; i++) {
        struct recorded recorded = record_both(app, frame);
        record_check_same(&recorded, what);
        record_run(app, recorded.got, what);
    }
}

/* The image is rendered, and not read in the next instance: that is held for it twice, and then not any more,
 * until it would have had to be; from then on twice as often. */
static void run_vain(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    body = draws_third;
    check_same_frames(&app, 5, "in vain");
    body = one_draw;
    struct recorded missed = record_both(&app, frame);
    record_check_same(&missed, "missed");
    check_one(&app, "after a miss");
    check_one(&app, "held again");
    body = draws_third;
    check_same_frames(&app, 6, "in vain again");
    shaders_close(&shaders);
    record_app_close(&app);
}

static void test_vain(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    driver_set("oracle=1");
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        run_complete(run_vain, &options);
        CHECK_EQUAL(report_number("barriers", "passes_held"), 2 + 2 + 4);
        CHECK_EQUAL(report_number("barriers", "passes_held_in_vain"), 2 + 4);
        CHECK_EQUAL(report_number("barriers", "reported"), 1);
    }
    CHECK_EQUAL(report_count("fault", "inside a render pass"), 3);
}

/* Several passes into one target, each of which reads another image: the third is held in vain for it twice,
 * in each frame. It is missed once. */
static struct shader_target layers[3];
static VkDescriptorSet layer_sets[3];

static void composed_frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (int i = 0; i < 3; i++)
        shaders_prepare(app, vk, cb, &layers[i]);
    for (int i = 0; i < 3; i++) {
        shaders_begin(vk, cb, kind, &layers[i], false);
        shaders_end(vk, cb, kind);
    }
    shaders_prepare(app, vk, cb, &out);
    for (int i = 0; i < 3; i++) {
        shaders_begin(vk, cb, kind, &out, false);
        draw(vk, cb, layer_sets[i]);
        shaders_end(vk, cb, kind);
    }
}

static void create_three(const struct record_app *app, struct shader_target targets[3],
                         VkDescriptorSet sets[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        VkImage image = app->images[IMAGE_MANY + 1 + i];
        targets[i] = shaders_target(&shaders, image, shaders_view(&shaders, image, ONE), ONE, RECORD_SIDE);
        sets[i] = shaders_one(&shaders, targets[i].view, SHADER);
    }
}

static void run_composed(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    create_three(&app, layers, layer_sets);
    for (int i = 0; i < 10; i++)
        record_run(&app, record_both(&app, composed_frame).got, "composed");
    shaders_close(&shaders);
    record_app_close(&app);
}

static void test_composed(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        run_complete(run_composed, &options);
        CHECK_EQUAL(report_number("barriers", "reported"), 1);
        CHECK_EQUAL(report_number("barriers", "record_repairs"), 29);
    }
}

/* --- More than one need --- */

static void shader_then_general(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, set);
    draw(vk, cb, general_set);
    draw(vk, cb, set);
}

static void general_then_shader(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    draw(vk, cb, general_set);
    draw(vk, cb, set);
}

/* An image can't be had in two layouts in one instance: the first is what it gets. */
static void run_two_layouts(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    general_set = shaders_one(&shaders, source.view, GENERAL);
    for (int i = 0; i < 2; i++) {
        body = i ? general_then_shader : shader_then_general;
        struct recorded recorded = record_both(&app, frame);
        const struct shader_insertion wanted = {shaders_begin_name(kind), 1, source.image, TARGET,
                                                i ? GENERAL : SHADER};
        shaders_check(&recorded, "two layouts", 1, &wanted);
    }
    shaders_close(&shaders);
    record_app_close(&app);
}

static void test_two_layouts(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        run_complete(run_two_layouts, &options);
        CHECK_EQUAL(report_number("barriers", "record_repairs"), 2);
        CHECK_EQUAL(report_number("barriers", "reported"), 2);
    }
}

static VkDescriptorSet more_sets[3];
static struct shader_target more[3];

static void three_draws(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    for (int i = 0; i < 3; i++)
        draw(vk, cb, more_sets[i]);
}

/* Each of three images has been rendered. */
static void many_sources(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (int i = 0; i < 3; i++)
        shaders_prepare(app, vk, cb, &more[i]);
    for (int i = 0; i < 3; i++) {
        shaders_begin(vk, cb, kind, &more[i], false);
        shaders_end(vk, cb, kind);
    }
    begin_frame(app, vk, cb);
    shaders_begin(vk, cb, kind, &out, false);
    three_draws(app, vk, cb);
    shaders_end(vk, cb, kind);
}

/* What several draws need goes down as one call. */
static void run_many_sources(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    create_three(&app, more, more_sets);
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        struct recorded recorded = record_both(&app, many_sources);
        struct shader_insertion wanted[3];
        for (int i = 0; i < 3; i++)
            wanted[i] = (struct shader_insertion){shaders_begin_name(kind), 4, more[i].image, TARGET, SHADER};
        shaders_check(&recorded, "many sources", 3, wanted);
        CHECK(app.options.no_sync2 ||
              record_barrier_calls(recorded.got) == record_barrier_calls(recorded.meant) + 1);
        record_run(&app, recorded.got, "many sources");
    }
    shaders_close(&shaders);
    record_app_close(&app);
}

static void test_many_sources(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_many_sources);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- Report mode --- */

static void run_reported(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    open_objects(&app);
    for (kind = 0; kind < SHADER_PASSES; kind++)
        for (size_t i = 0; i < sizeof(needing) / sizeof(needing[0]); i++) {
            body = needing[i].body;
            struct recorded recorded = record_both(&app, frame);
            record_check_same(&recorded, needing[i].name);
        }
    shaders_close(&shaders);
    record_app_close(&app);
}

/* Nothing is held, and it is said where the barrier would go. */
static void test_reported(void **state)
{
    (void)state;
    layer_set("BARRIERS", "report");
    record_run_shaders_on_all(run_reported);
    CHECK_EQUAL(report_count("repair", ""), 0);
    CHECK(report_count("fault", "missing transition") > 0);
    CHECK_EQUAL(report_number("barriers", "passes_held"), 0);
    CHECK_EQUAL(report_number("barriers", "reported"), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_needing),      HARNESS_TEST(test_needing_unmerged), HARNESS_TEST(test_right),
        HARNESS_TEST(test_vain),         HARNESS_TEST(test_composed),         HARNESS_TEST(test_two_layouts),
        HARNESS_TEST(test_many_sources), HARNESS_TEST(test_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
