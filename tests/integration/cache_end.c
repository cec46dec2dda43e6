/* How processes end, and what they leave: killed after an interval, at each step of a save, gone by _exit().
 */
#include "cache_app.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stepper.h"

#define PIPELINES 50
#define WORKER "robust_cache" /* the name of the layer's thread */

static void run_expects_hits(void *context)
{
    const uint32_t *count = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, *count);
    CHECK_EQUAL(fault_cache_hits(), *count);
    app_close(&app);
}

static void check_stored(uint32_t count)
{
    run_complete(run_expects_hits, &count);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
    CHECK_EQUAL(report_number("summary", "deaths"), 0);
}

/* --- C14, C15: after one interval --- */

static void run_until_killed(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    for (;;)
        pause();
}

static void test_c14_killed_after_one_interval(void **state)
{
    (void)state;
    struct run run = run_start(run_until_killed, NULL);
    report_wait("save", "", 1);
    run_kill(&run);
    check_stored(PIPELINES);
}

static void run_exits_at_once(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    report_wait("save", "", 1);
    _exit(EXIT_SUCCESS);
}

static void test_c15_exit_without_destroying_after_one_interval(void **state)
{
    (void)state;
    run_complete(run_exits_at_once, NULL);
    check_stored(PIPELINES);
}

static void run_exits_before_any_interval(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    exit(EXIT_SUCCESS);
}

static void test_c15_exit_handlers_save_without_waiting(void **state)
{
    (void)state;
    /* The device is still there at the end, which is the driver's business and no leak. */
    run_complete(run_exits_before_any_interval, NULL);
    check_stored(PIPELINES);
}

static struct app left_open;

static void close_left_open(void)
{
    app_close(&left_open);
}

static void run_closes_in_an_exit_handler(void *context)
{
    (void)context;
    CHECK(atexit(close_left_open) == 0); /* before the layer's, so it runs after that */
    app_open(&left_open);
    app_compile(&left_open, VK_NULL_HANDLE, 0, PIPELINES);
}

static void test_a_device_that_goes_after_the_exit_handler_has_one_summary(void **state)
{
    (void)state;
    run_complete(run_closes_in_an_exit_handler, NULL);
    CHECK_EQUAL(report_count("summary", ""), 1);
    check_stored(PIPELINES);
}

static void run_meets_trouble_for_a_while(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_cache_destroy(&app, app_cache_empty(&app)); /* waits until the ledger is read */
    CHECK(mkdir(scratch_path(STORE_ROOT), 0700) == 0 && chmod(scratch_path(STORE_ROOT), 0777) == 0);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    lines_wait(LOG_FILE, "others may write to it", "", 1);
    CHECK(chmod(scratch_path(STORE_ROOT), 0700) == 0);
    app_close(&app);
}

/* What a save couldn't write, for a full disk or the like, is still there for the last one. */
static void test_failed_save_is_made_up_for(void **state)
{
    (void)state;
    layer_set("LOAD_TIMEOUT", "60000");
    layer_set("LOG_LEVEL", "warning");
    run_complete(run_meets_trouble_for_a_while, NULL);
    check_stored(PIPELINES);
}

/* --- save_interval, and signs that the end may be near --- */

static void run_saves_twice(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    report_wait("save", "", 1);
    app_compile(&app, VK_NULL_HANDLE, PIPELINES, PIPELINES);
    report_wait("save", "", 2);
    for (;;)
        pause();
}

/* Milliseconds since 1970 at which the n-th save was reported. */
static int64_t time_of_save(int n)
{
    FILE *file = fopen(scratch_path(REPORT_FILE), "re");
    char line[4096];
    double seconds = 0;
    CHECK(file != NULL);
    while (n > 0 && fgets(line, sizeof(line), file))
        if (strstr(line, "\"event\":\"save\"") && --n == 0)
            seconds = atof(strstr(line, "\"time\":") + strlen("\"time\":"));
    fclose(file);
    CHECK_EQUAL(n, 0);
    return (int64_t)(seconds * 1000);
}

static void test_save_interval_lies_between_two_saves(void **state)
{
    (void)state;
    layer_set("SAVE_INTERVAL", "1");
    struct run run = run_start(run_saves_twice, NULL);
    report_wait("save", "", 2);
    run_kill(&run);
    CHECK(time_of_save(2) - time_of_save(1) >= 950);
    check_stored(2 * PIPELINES);
}

static const char *const swapchain_extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME, NULL};

/* Each interval is twice as long as the one before, so without the hurry the last would outlast the watchdog.
 */
static void run_loses_swapchains(void *context)
{
    (void)context;
    struct app app;
    struct app_config config = {.extensions = swapchain_extensions};
    app_open_with(&app, &config);
    PFN_vkDestroySwapchainKHR destroy = (PFN_vkDestroySwapchainKHR)app_command(&app, "vkDestroySwapchainKHR");
    CHECK(destroy != NULL);
    for (uint32_t i = 0; i < 9; i++) {
        app_compile(&app, VK_NULL_HANDLE, i, 1);
        destroy(app.device, VK_NULL_HANDLE, NULL);
        report_wait("save", "", i + 1);
    }
    app_close(&app);
}

static void test_saves_at_once_when_a_swapchain_goes(void **state)
{
    (void)state;
    layer_set("SAVE_INTERVAL", "86400");
    run_complete(run_loses_swapchains, NULL);
}

/* --- C21: killed at each step of a save --- */

#define OLD_PIPELINES 3
#define NEW_PIPELINES 6

struct closing {
    struct latch ready;
    struct latch go;
};

static void run_closes_when_told(void *context)
{
    const struct closing *closing = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, NEW_PIPELINES);
    latch_raise(&closing->ready, 1);
    latch_wait(&closing->go);
    app_close(&app);
    _exit(EXIT_SUCCESS); /* no sanitizer's check for leaks at the end: it can't be done while a tracer holds a
                            thread */
}

enum outcome {
    OUTCOME_KILLED,
    OUTCOME_COMPLETE, /* there was no such step */
    OUTCOME_NOT_ALLOWED,
};

/* A run that is killed before the worker's system call of this number, counted from when the device is
 * destroyed. */
static enum outcome kill_at_step(int step)
{
    struct closing closing = {.ready = latch_create(), .go = latch_create()};
    struct stepper stepper;
    enum outcome outcome = OUTCOME_NOT_ALLOWED;
    struct run run = run_start(run_closes_when_told, &closing);
    latch_wait(&closing.ready);
    if (stepper_attach(&stepper, run.pid, WORKER)) {
        latch_raise(&closing.go, 1);
        outcome = OUTCOME_KILLED;
        for (int i = 0; i <= step && outcome == OUTCOME_KILLED; i++)
            if (stepper_next(&stepper) < 0)
                outcome = OUTCOME_COMPLETE;
    }
    if (outcome == OUTCOME_KILLED)
        stepper_kill(&stepper);
    run_kill(&run);
    latch_destroy(&closing.ready);
    latch_destroy(&closing.go);
    return outcome;
}

static void run_compiles(void *context)
{
    const uint32_t *count = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, *count);
    app_close(&app);
}

static struct bytes store_of(uint32_t count)
{
    run_complete(run_compiles, &count);
    return file_read(store_path(".vkcache"));
}

static void test_c21_killed_at_each_step_of_a_save(void **state)
{
    (void)state;
    struct bytes old = store_of(OLD_PIPELINES), new = store_of(NEW_PIPELINES);
    CHECK(!bytes_equal(&old, &new));
    enum outcome outcome = OUTCOME_KILLED;
    bool replaced = false;
    int step;
    for (step = 0; outcome == OUTCOME_KILLED; step++) {
        file_write(store_path(".vkcache"), old.data, old.size);
        outcome = kill_at_step(step);
        if (outcome == OUTCOME_NOT_ALLOWED)
            skip();
        struct bytes left = file_read(store_path(".vkcache"));
        bool is_old = bytes_equal(&left, &old), is_new = bytes_equal(&left, &new);
        CHECK_SAY(is_old || is_new, "killed at step %d: neither the old store nor the new one", step);
        CHECK_SAY(is_new || !replaced, "killed at step %d: the old store is back", step);
        replaced = is_new;
        bytes_finish(&left);
    }
    CHECK(replaced && step > 10);
    check_stored(NEW_PIPELINES);
    CHECK_EQUAL(store_count(".tmp.*"), 0);
    bytes_finish(&old);
    bytes_finish(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c14_killed_after_one_interval),
        HARNESS_TEST(test_c15_exit_without_destroying_after_one_interval),
        HARNESS_TEST(test_c15_exit_handlers_save_without_waiting),
        HARNESS_TEST(test_a_device_that_goes_after_the_exit_handler_has_one_summary),
        HARNESS_TEST(test_failed_save_is_made_up_for),
        HARNESS_TEST(test_save_interval_lies_between_two_saves),
        HARNESS_TEST(test_saves_at_once_when_a_swapchain_goes),
        HARNESS_TEST(test_c21_killed_at_each_step_of_a_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
