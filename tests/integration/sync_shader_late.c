/* Bindings that may be written until the submit (UPDATE_AFTER_BIND): what they hold then is what is read, and
 * it can be repaired before the command buffer alone. L32. */
#include "shader_app.h"

#include <pthread.h>
#include <stdatomic.h>

#define ONE ((VkImageSubresourceRange){COLOR_BIT, 0, 1, 0, 1})
#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static struct shaders shaders;
static VkImage source, other, result;
static VkImageView source_view, other_view;
static VkPipelineLayout layout;
static VkPipeline pipeline;
static VkDescriptorSet set;   /* binding 0: after bind; binding 1: `result` in GENERAL */
static VkCommandBuffer inner; /* a secondary */

static void open_objects(struct record_app *app, void *options)
{
    const VkDescriptorSetLayoutBinding bindings[] = {shaders_binding(0, SAMPLED, 1),
                                                     shaders_binding(1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1)};
    const VkDescriptorBindingFlags flags[] = {VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT, 0};
    record_app_open(app, options);
    shaders_open(&shaders, app);
    VkDescriptorSetLayout sets = shaders_set_layout(
        &shaders, VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT, 2, bindings, flags);
    source = app->images[IMAGE_COLOR];
    other = app->images[IMAGE_OTHER];
    result = app->images[IMAGE_MANY];
    source_view = app->views[VIEW_COLOR];
    other_view = app->views[VIEW_OTHER];
    layout = shaders_layout(&shaders, 1, &sets);
    pipeline = shaders_compute(&shaders, layout, SHADER_CONVERT);
    set = shaders_set(&shaders, sets);
    shaders_write(&shaders, set, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, shaders_view(&shaders, result, ONE),
                  GENERAL);
}

static void close_objects(struct record_app *app)
{
    shaders_close(&shaders);
    record_app_close(app);
}

static void write_late(VkImageView view, VkImageLayout in)
{
    shaders_write(&shaders, set, 0, 0, SAMPLED, view, in);
}

/* --- Recorded --- */

static void set_up(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkImage images[] = {source, other};
    (void)app;
    for (int i = 0; i < 2; i++) {
        record_move(vk, cb, images[i], (struct record_range){0}, UNDEFINED, DST);
        record_clear(vk, cb, images[i], (struct record_range){0}, DST);
    }
    record_move(vk, cb, result, (struct record_range){0}, UNDEFINED, GENERAL);
}

static void dispatches(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    shaders_dispatch(vk, cb, pipeline, layout, set);
    vk->CmdDispatch(cb, 1, 1, 1);
}

static void executes(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    vk->CmdExecuteCommands(cb, 1, &inner);
}

/* The command buffer itself uses the image, too. */
static void clears_and_dispatches(const struct record_app *app, const struct record_vk *vk,
                                  VkCommandBuffer cb)
{
    record_clear(vk, cb, source, (struct record_range){0}, DST);
    dispatches(app, vk, cb);
}

static void transfers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    record_clear(vk, cb, source, (struct record_range){0}, DST);
    record_read(app, vk, cb, other, COLOR_BIT, SRC);
}

/* --- Submitted --- */

static VkImageLayout layout_of(VkImage image)
{
    return fault_oracle_layout(image, COLOR_BIT, 0, 0);
}

/* Whatever the oracle says. */
static void submit(const struct record_app *app, VkCommandBuffer cb)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cb};
    CHECK_EQUAL(vkQueueSubmit(app->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* The number of barriers in patches, of the last run. */
static uint64_t patched(void)
{
    return report_number("barriers", "submit_repairs");
}

static void run_contents(void *context)
{
    const VkCommandBufferInheritanceInfo none = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    struct record_app app;
    open_objects(&app, context);
    record_run(&app, record_one(&app, set_up, NULL), "set up");
    write_late(other_view, GENERAL);
    VkCommandBuffer cb = record_one(&app, dispatches, NULL);
    /* It is the contents at the submit that count, ... */
    write_late(source_view, SHADER);
    record_run(&app, cb, "first");
    CHECK_EQUAL(layout_of(source), SHADER);
    CHECK_EQUAL(layout_of(other), DST);
    /* ... at each. */
    write_late(other_view, GENERAL);
    record_run(&app, cb, "second");
    CHECK_EQUAL(layout_of(source), SHADER);
    CHECK_EQUAL(layout_of(other), GENERAL);
    record_run(&app, cb, "nothing to repair");
    /* In a secondary, too, which was recorded before. */
    inner = record_one(&app, dispatches, &none);
    VkCommandBuffer outer = record_one(&app, executes, NULL);
    write_late(source_view, GENERAL);
    record_run(&app, outer, "secondary");
    CHECK_EQUAL(layout_of(source), GENERAL);
    /* And after other submits. */
    record_run(&app, record_one(&app, set_up, NULL), "set up again");
    record_run(&app, outer, "secondary again");
    CHECK_EQUAL(layout_of(source), GENERAL);
    close_objects(&app);
}

static void test_contents(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_contents);
    CHECK_EQUAL(patched(), 4);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* What can't be repaired at the entry is left alone. */
static void run_used_inside(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    record_run(&app, record_one(&app, set_up, NULL), "set up");
    write_late(source_view, SHADER);
    struct recorded recorded = record_both(&app, clears_and_dispatches);
    record_check_same(&recorded, "used inside");
    submit(&app, recorded.got);
    CHECK_EQUAL(layout_of(source), DST);
    close_objects(&app);
}

static void test_used_inside(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_used_inside);
    CHECK_EQUAL(patched(), 0);
}

/* --- Two that contradict each other --- */

static VkDescriptorSet contradicting;

static void dispatches_both(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    shaders_dispatch(vk, cb, pipeline, layout, set);
    shaders_dispatch(vk, cb, pipeline, layout, contradicting);
}

static void moves_to_shader(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    record_move(vk, cb, source, (struct record_range){0}, UNDEFINED, SHADER);
}

static void run_contradicting(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    record_run(&app, record_one(&app, set_up, NULL), "set up");
    VkDescriptorSet first = set;
    const VkDescriptorSetLayoutBinding bindings[] = {shaders_binding(0, SAMPLED, 1),
                                                     shaders_binding(1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1)};
    const VkDescriptorBindingFlags flags[] = {VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT, 0};
    VkDescriptorSetLayout sets = shaders_set_layout(
        &shaders, VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT, 2, bindings, flags);
    contradicting = set = shaders_set(&shaders, sets);
    shaders_write(&shaders, set, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, shaders_view(&shaders, result, ONE),
                  GENERAL);
    write_late(source_view, GENERAL);
    set = first;
    write_late(source_view, SHADER);
    VkCommandBuffer cb = record_one(&app, dispatches_both, NULL);
    for (int right = 0; right < 2; right++) {
        /* In one layout for the first, or already in it. */
        if (right)
            record_run(&app, record_one(&app, moves_to_shader, NULL), "moves");
        submit(&app, cb);
        CHECK_EQUAL(layout_of(source), SHADER);
        /* One barrier call never moves an image twice. */
        CHECK_EQUAL(fault_oracle_violations(FAULT_ORACLE_OVERLAP | FAULT_ORACLE_OLD_LAYOUT), 0);
        fault_oracle_reset();
    }
    close_objects(&app);
}

static void test_contradicting(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_contradicting);
    CHECK_EQUAL(patched(), 1);
    CHECK_EQUAL(report_number("barriers", "reported"), 2);
}

/* --- Written while it is submitted --- */

#define WRITES 2000
#define SUBMITS 300

static atomic_bool done;
static VkDescriptorSet busy; /* two late bindings: one for each thread */

static void *write_other_binding(void *context)
{
    (void)context;
    for (uint32_t i = 0; !atomic_load(&done) || i < WRITES; i++)
        shaders_write(&shaders, busy, 2, 0, SAMPLED, i % 2 ? source_view : other_view,
                      i % 3 ? SHADER : GENERAL);
    return NULL;
}

static void dispatches_busy(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    shaders_dispatch(vk, cb, pipeline, layout, busy);
}

/* Spec, VkDescriptorBindingFlagBits: other descriptors of the set may be written by another thread, while it
 * is in use, where they aren't used (UPDATE_UNUSED_WHILE_PENDING). */
static void run_written_meanwhile(void *context)
{
    const VkDescriptorSetLayoutBinding bindings[] = {shaders_binding(0, SAMPLED, 1),
                                                     shaders_binding(1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1),
                                                     shaders_binding(2, SAMPLED, 1)};
    const VkDescriptorBindingFlags late =
        VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_UPDATE_UNUSED_WHILE_PENDING_BIT;
    const VkDescriptorBindingFlags flags[] = {late, 0, late};
    struct record_app app;
    pthread_t thread;
    open_objects(&app, context);
    VkDescriptorSetLayout sets = shaders_set_layout(
        &shaders, VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT, 3, bindings, flags);
    layout = shaders_layout(&shaders, 1, &sets);
    pipeline = shaders_compute(&shaders, layout, SHADER_CONVERT);
    busy = shaders_set(&shaders, sets);
    shaders_write(&shaders, busy, 0, 0, SAMPLED, source_view, SHADER);
    shaders_write(&shaders, busy, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, shaders_view(&shaders, result, ONE),
                  GENERAL);
    VkCommandBuffer moves = record_one(&app, set_up, NULL), cb = record_one(&app, dispatches_busy, NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, write_other_binding, NULL), 0);
    for (int i = 0; i < SUBMITS; i++) {
        record_run(&app, moves, "moves");
        record_run(&app, cb, "written meanwhile");
        CHECK_EQUAL(layout_of(source), SHADER);
        CHECK_EQUAL(layout_of(other), DST);
    }
    atomic_store(&done, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    close_objects(&app);
}

static void test_written_meanwhile(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    driver_set("oracle=1");
    run_complete(run_written_meanwhile, &options);
    CHECK_EQUAL(patched(), SUBMITS);
}

/* --- Sets that go --- */

/* A command buffer that is recorded may outlive the set; it can't be submitted any more. */
static void run_set_goes(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    record_run(&app, record_one(&app, set_up, NULL), "set up");
    write_late(source_view, SHADER);
    record_one(&app, dispatches, NULL);
    CHECK_EQUAL(vkResetDescriptorPool(app.device, shaders.pool, 0), VK_SUCCESS);
    struct recorded recorded = record_both(&app, transfers);
    const struct shader_insertion none = {0};
    shaders_check(&recorded, "transfers", 0, &none);
    record_run(&app, recorded.got, "transfers");
    close_objects(&app);
}

static void test_set_goes(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_set_goes);
    CHECK_EQUAL(patched(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_contents),      HARNESS_TEST(test_used_inside),
        HARNESS_TEST(test_contradicting), HARNESS_TEST(test_written_meanwhile),
        HARNESS_TEST(test_set_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
