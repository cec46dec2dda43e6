/* The emergency brake: after a lost device in a run with repairs the next ones only report. L50. */
#include "submit_app.h"

#include "compat.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_PER_DAY (24 * 3600)

static const char *mark_path(void)
{
    return scratch_path(STORE_ROOT "/v1/game.brake");
}

static bool is_marked(void)
{
    return access(mark_path(), F_OK) == 0;
}

/* --- Faults of the application's, one of each place where they are repaired --- */

static void fault_before_command(struct submit_app *app)
{
    VkImage image = submit_app_image(app);
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    submit_app_move(commands, image, UNDEFINED, DST);
    submit_app_clear(commands, image, DST);
    submit_app_read(app, commands, image, SRC);
    submit_app_end(commands);
    submit_app_submit(app->queue, commands, NULL);
}

static void fault_in_barrier(struct submit_app *app)
{
    VkImage image = submit_app_image(app);
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    submit_app_move(commands, image, UNDEFINED, DST);
    submit_app_clear(commands, image, DST);
    submit_app_move(commands, image, GENERAL, SRC);
    submit_app_end(commands);
    submit_app_submit(app->queue, commands, NULL);
}

static void fault_at_submit(struct submit_app *app)
{
    VkImage image = submit_app_image(app);
    submit_app_submit(app->queue, submit_app_mover(app, image, UNDEFINED, DST), NULL);
    submit_app_submit(app->queue, submit_app_reader(app, image), NULL);
}

static void fault_at_present(struct submit_app *app)
{
    VkImage images[2];
    submit_app_swapchain(app, images);
    VkSemaphore acquired = submit_app_semaphore(app), rendered = submit_app_semaphore(app);
    uint32_t index = submit_app_acquire(app, acquired);
    submit_app_submit(app->queue, submit_app_mover(app, images[index], UNDEFINED, DST),
                      &(struct submit_sync){.wait = acquired, .signal = rendered});
    CHECK_EQUAL(submit_app_present(app, app->queue, index, rendered), VK_SUCCESS);
}

/* Two calls that become one: nothing that was wrong. */
static void no_fault(struct submit_app *app)
{
    VkImage images[2] = {submit_app_image(app), submit_app_image(app)};
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    submit_app_move(commands, images[0], UNDEFINED, DST);
    submit_app_move(commands, images[1], UNDEFINED, DST);
    submit_app_end(commands);
    submit_app_submit(app->queue, commands, NULL);
}

typedef void (*fault_function)(struct submit_app *app);
struct program {
    fault_function fault;
};

/* Dies at once when its device is lost. */
static void run_losing(void *context)
{
    const struct program *program = context;
    struct submit_app app;
    submit_app_open(&app);
    program->fault(&app);
    CHECK_EQUAL(vkQueueWaitIdle(app.queue), VK_ERROR_DEVICE_LOST);
    CHECK_EQUAL(vkDeviceWaitIdle(app.device), VK_ERROR_DEVICE_LOST);
    raise(SIGKILL);
}

static void lose(fault_function fault)
{
    struct program program = {fault};
    driver_set("fault=vkQueueWaitIdle,result=-4");
    run_until_death(run_losing, &program, SIGKILL);
    driver_set("");
}

static void run_living(void *context)
{
    const struct program *program = context;
    struct submit_app app;
    submit_app_open(&app);
    program->fault(&app);
    submit_app_close(&app);
}

/* A run that ends well: whether its barriers were repaired. */
static bool is_repaired(void)
{
    struct program program = {fault_at_submit};
    report_forget();
    run_complete(run_living, &program);
    uint64_t repairs = report_number("barriers", "submit_repairs");
    CHECK_EQUAL(repairs + report_number("barriers", "reported"), 1);
    CHECK_EQUAL(report_count(repairs ? "repair" : "fault", ""), 1);
    CHECK_EQUAL(report_count("barriers", repairs ? "\"mode\":\"repair\"" : "\"mode\":\"report\""), 1);
    CHECK_EQUAL(report_count("brake", ""), !repairs);
    CHECK_EQUAL(lines_count(LOG_FILE, "warning: ", "lost in an earlier run"), !repairs);
    return repairs;
}

/* --- Tests --- */

static int set_up(void **state)
{
    int result = harness_setup(state);
    layer_set("APP_ID", "game");
    return result;
}

/* Whatever was repaired; it stays braked however the runs end, until the mark is deleted. */
static void test_next_runs_report(void **state)
{
    static const fault_function faults[] = {fault_before_command, fault_in_barrier, fault_at_submit,
                                            fault_at_present};
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        report_forget();
        lose(faults[i]);
        CHECK_SAY(is_marked(), "fault %zu left no mark", i);
        CHECK_EQUAL(report_count("brake", "\"state\":\"set\""), 1);
        CHECK_EQUAL(lines_count(LOG_FILE, "warning: ", "lost after barriers had been repaired"), 1);
        CHECK(!is_repaired());
        CHECK_EQUAL(lines_count(LOG_FILE, mark_path(), "VK_ROBUST_CACHE_BARRIERS=repair"), 1);
        CHECK(!is_repaired());
        lose(faults[i]);
        CHECK(!is_repaired());
        CHECK_EQUAL(unlink(mark_path()), 0);
        CHECK(is_repaired());
    }
}

static void test_no_repair_no_mark(void **state)
{
    (void)state;
    lose(no_fault);
    CHECK(!is_marked());
    layer_set("BARRIERS", "report");
    lose(fault_at_submit);
    CHECK(!is_marked());
    layer_set("BARRIERS", "off");
    lose(fault_at_submit);
    CHECK(!is_marked());
}

/* Without the other half, too. */
static void test_without_caches(void **state)
{
    (void)state;
    layer_set("CACHE", "false");
    lose(fault_at_submit);
    CHECK(is_marked());
    CHECK(!is_repaired());
}

static void test_lifted_by_environment(void **state)
{
    (void)state;
    lose(fault_at_submit);
    layer_set("PRESET", "repair"); /* isn't meant */
    CHECK(!is_repaired());
    layer_set("BARRIERS", "repair");
    CHECK(is_repaired());
    CHECK(!is_marked());
    CHECK_EQUAL(lines_count(LOG_FILE, "info: ", "repaired again"), 1);
    layer_set("BARRIERS", NULL);
    CHECK(is_repaired());
    CHECK_EQUAL(lines_count(LOG_FILE, "info: ", "repaired again"), 0);
}

static void test_lifted_by_file(void **state)
{
    static const char text[] = "barriers = repair\n";
    (void)state;
    lose(fault_at_submit);
    CHECK_EQUAL(mkdir(scratch_path("robust_cache"), 0700), 0);
    file_write(scratch_path("robust_cache/game.conf"), text, sizeof(text) - 1);
    CHECK(is_repaired());
    CHECK(!is_marked());
}

static void run_api_repair(void *context)
{
    const char *value = "repair";
    VkLayerSettingEXT setting = {.pLayerName = "VK_LAYER_ROBUST_cache",
                                 .pSettingName = "barriers",
                                 .type = VK_LAYER_SETTING_TYPE_STRING_EXT,
                                 .valueCount = 1,
                                 .pValues = &value};
    VkLayerSettingsCreateInfoEXT settings = {
        .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT, .settingCount = 1, .pSettings = &setting};
    struct submit_app app;
    (void)context;
    submit_app_open_with(&app, &(struct submit_app_config){.instance_chain = &settings});
    fault_at_submit(&app);
    submit_app_close(&app);
}

/* What the application asks for isn't its user's word. */
static void test_not_lifted_by_application(void **state)
{
    (void)state;
    lose(fault_at_submit);
    report_forget();
    run_complete(run_api_repair, NULL);
    CHECK_EQUAL(report_number("barriers", "reported"), 1);
    CHECK(is_marked());
}

static void make_old(int64_t days)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - days * SECONDS_PER_DAY}};
    times[1] = times[0];
    CHECK_EQUAL(utimensat(AT_FDCWD, mark_path(), times, 0), 0);
}

static void test_lasts_a_week(void **state)
{
    (void)state;
    lose(fault_at_submit);
    make_old(6);
    CHECK(!is_repaired());
    make_old(8);
    CHECK(is_repaired());
    CHECK(!is_marked());
    lose(fault_at_submit);
    make_old(-2); /* the clock was set back */
    CHECK(is_repaired());
    CHECK(!is_marked());
}

/* A run without persistence obeys, and writes nothing. */
static void test_persist_off(void **state)
{
    (void)state;
    layer_set("PERSIST", "off");
    lose(fault_at_submit);
    CHECK(!is_marked());
    layer_set("PERSIST", NULL);
    lose(fault_at_submit);
    layer_set("PERSIST", "off");
    CHECK(!is_repaired());
    make_old(8);
    CHECK(is_repaired());
    CHECK(is_marked());
}

static void run_copy(void *path)
{
    execl(path, path, "--lose", (char *)NULL);
    CHECK_SAY(false, "%s: not started", (const char *)path);
}

/* What a browser does leaves nothing on disk. */
static void test_browser(void **state)
{
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof(path), "%s", scratch_path("chromium"));
    struct bytes program = file_read("/proc/self/exe");
    file_write(path, program.data, program.size);
    bytes_finish(&program);
    CHECK_EQUAL(chmod(path, 0700), 0);
    driver_set("fault=vkQueueWaitIdle,result=-4");
    run_until_death(run_copy, path, SIGKILL);
    CHECK(!is_marked());
    layer_set("PERSIST", "on");
    run_until_death(run_copy, path, SIGKILL);
    CHECK(is_marked());
}

/* Other applications aren't concerned, nor are those who don't have anything repaired. */
static void test_others(void **state)
{
    struct program program = {fault_at_submit};
    (void)state;
    lose(fault_at_submit);
    layer_set("APP_ID", "tool");
    CHECK(is_repaired());
    layer_set("APP_ID", "game");
    layer_set("BARRIERS", "off");
    report_forget();
    run_complete(run_living, &program);
    CHECK_EQUAL(report_count("brake", ""), 0);
    layer_set("BARRIERS", "report");
    run_complete(run_living, &program);
    CHECK_EQUAL(report_count("brake", ""), 0);
    CHECK(is_marked());
}

/* The warning is seen by default, and isn't by those who want errors alone. */
static void test_warning_is_seen(void **state)
{
    struct program program = {fault_at_submit};
    (void)state;
    lose(fault_at_submit);
    layer_set("LOG_LEVEL", NULL);
    report_forget();
    run_complete(run_living, &program);
    CHECK_EQUAL(lines_count(LOG_FILE, "warning: ", "lost in an earlier run"), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, "warning: ", ""), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, "error: ", "missing transition"), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, "", ""), 2);
    layer_set("LOG_LEVEL", "error");
    report_forget();
    run_complete(run_living, &program);
    CHECK_EQUAL(lines_count(LOG_FILE, "", ""), 1);
}

/* What stands there but isn't the layer's doesn't brake, and is said. */
static void test_foreign_mark(void **state)
{
    (void)state;
    lose(fault_at_submit);
    CHECK_EQUAL(chmod(mark_path(), 0666), 0);
    CHECK(is_repaired());
    CHECK_EQUAL(lines_count(LOG_FILE, "warning: ", "game.brake: others may write to it"), 1);
    CHECK(is_marked());
}

#define BRAKE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, harness_teardown)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--lose") == 0)
        run_losing(&(struct program){fault_at_submit});
    const struct CMUnitTest tests[] = {
        BRAKE_TEST(test_next_runs_report), BRAKE_TEST(test_no_repair_no_mark),
        BRAKE_TEST(test_without_caches),   BRAKE_TEST(test_lifted_by_environment),
        BRAKE_TEST(test_lifted_by_file),   BRAKE_TEST(test_not_lifted_by_application),
        BRAKE_TEST(test_lasts_a_week),     BRAKE_TEST(test_persist_off),
        BRAKE_TEST(test_browser),          BRAKE_TEST(test_others),
        BRAKE_TEST(test_warning_is_seen),  BRAKE_TEST(test_foreign_mark),
    };
    return cmocka_run_group_tests_name("sync_brake", tests, NULL, NULL);
}
