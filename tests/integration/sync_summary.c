/* What is said of a device when it is destroyed: how many barriers came and went, and what was repaired. */
#include "submit_app.h"

static const char *const counters[] = {
    "calls_in", "calls_out",       "record_repairs", "rewritten",   "submit_repairs",
    "patches",  "present_repairs", "reported",       "unpatchable", "images_unknown",
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static void check_summary(const char *mode, const uint64_t expected[COUNTERS])
{
    CHECK_EQUAL(report_count("barriers", mode), 1);
    for (size_t i = 0; i < COUNTERS; i++) {
        uint64_t number = report_number("barriers", counters[i]);
        CHECK_SAY(number == expected[i], "%s: %llu instead of %llu", counters[i], (unsigned long long)number,
                  (unsigned long long)expected[i]);
    }
}

static void present(struct submit_app *app)
{
    VkImage images[2];
    submit_app_swapchain(app, images);
    VkSemaphore acquired = submit_app_semaphore(app), rendered = submit_app_semaphore(app);
    uint32_t index = submit_app_acquire(app, acquired);
    submit_app_submit(app->queue, submit_app_mover(app, images[index], UNDEFINED, DST),
                      &(struct submit_sync){.wait = acquired, .signal = rendered});
    CHECK_EQUAL(submit_app_present(app, app->queue, index, rendered), VK_SUCCESS);
}

/* One fault of each kind that is repaired somewhere else. */
static void run_faulty(void *unused)
{
    struct submit_app app;
    (void)unused;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkCommandBuffer commands = submit_app_begin(&app, FAMILY_ALL);
    submit_app_move(commands, image, UNDEFINED, DST);
    submit_app_clear(commands, image, DST);
    submit_app_read(&app, commands, image, SRC);    /* no barrier: before the command */
    submit_app_move(commands, image, DST, GENERAL); /* wrong oldLayout: rewritten */
    submit_app_end(commands);
    submit_app_submit(app.queue, commands, NULL);
    submit_app_submit(app.queue, submit_app_reader(&app, image), NULL); /* before the command buffer */
    present(&app);                                                      /* before the present */
    submit_app_close(&app);
}

static void test_repaired(void **state)
{
    (void)state;
    driver_set("oracle=1");
    layer_set("MERGE", "false");
    run_complete(run_faulty, NULL);
    check_summary("\"mode\":\"repair\"", (const uint64_t[COUNTERS]){4, 4, 1, 1, 1, 1, 1, 0, 0, 0});
    CHECK_EQUAL(lines_count(LOG_FILE,
                            "4 barrier calls with repairs, 4 given down; repairs: 1 before commands, 1 "
                            "barriers rewritten or moved, "
                            "1 before command buffers, 1 before presents; 0 only reported",
                            "info: "),
                1);
}

static void test_reported(void **state)
{
    (void)state;
    driver_set("oracle=1");
    layer_set("BARRIERS", "report");
    run_complete(run_faulty, NULL);
    check_summary("\"mode\":\"report\"", (const uint64_t[COUNTERS]){3, 3, 0, 0, 0, 0, 0, 4, 0, 0});
    CHECK_EQUAL(lines_count(LOG_FILE, "3 barrier calls with repairs, 3 given down;", "; 4 only reported"), 1);
}

/* A program that does nothing with images: there is nothing to say in the log. */
static void run_nothing(void *unused)
{
    struct submit_app app;
    (void)unused;
    submit_app_open(&app);
    submit_app_close(&app);
}

static void test_nothing(void **state)
{
    (void)state;
    run_complete(run_nothing, NULL);
    check_summary("\"mode\":\"repair\"", (const uint64_t[COUNTERS]){0});
    CHECK_EQUAL(lines_count(LOG_FILE, "barrier calls", ""), 0);
}

/* No barrier in the whole program: that's what is to be heard of. */
static void run_without_barriers(void *unused)
{
    struct submit_app app;
    (void)unused;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkCommandBuffer commands = submit_app_begin(&app, FAMILY_ALL);
    submit_app_clear(commands, image, DST);
    submit_app_read(&app, commands, image, SRC);
    submit_app_end(commands);
    /* Never submitted: what was recorded counts. */
    submit_app_close(&app);
}

static void test_without_barriers(void **state)
{
    (void)state;
    run_complete(run_without_barriers, NULL);
    check_summary("\"mode\":\"repair\"", (const uint64_t[COUNTERS]){1, 1, 1});
    CHECK_EQUAL(lines_count(LOG_FILE,
                            "1 barrier calls with repairs, 1 given down; repairs: 1 before commands",
                            "info: "),
                1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_repaired),
        HARNESS_TEST(test_reported),
        HARNESS_TEST(test_nothing),
        HARNESS_TEST(test_without_barriers),
    };
    return cmocka_run_group_tests_name("sync_summary", tests, NULL, NULL);
}
