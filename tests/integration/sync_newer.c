/* Applications newer than this build: what they do wrong stays as it is, nothing is joined, and the driver is
 * asked for no more than without the layer. L43. */
#include "submit_app.h"

#include <sys/mman.h>

#define BARRIERS 16
/* An extension's structure that no header has: extension 900. */
#define UNKNOWN_STRUCTURE ((VkStructureType)1000899001)
/* Later than any header. */
#define UNKNOWN_VERSION VK_MAKE_API_VERSION(0, 1, 99, 0)

static const char *const functions[] = {
    "vkCmdPipelineBarrier",     "vkCmdPipelineBarrier2", "vkBeginCommandBuffer",
    "vkAllocateCommandBuffers", "vkCreateCommandPool",   "vkCreateFence",
    "vkCreateSemaphore",        "vkQueueSubmit",         "vkQueuePresentKHR",
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* What the driver saw of a run, in memory that the test shares with it. */
struct result {
    bool done;
    uint32_t calls[FUNCTIONS];
    uint32_t violations;
};

struct program {
    struct submit_app_config config;
    struct result *result;
};

static void record_many_barriers(struct submit_app *app, VkImage image)
{
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    for (int i = 0; i < BARRIERS; i++)
        submit_app_move(commands, image, i % 2 ? DST : SRC, i % 2 ? SRC : DST);
    submit_app_end(commands);
    submit_app_submit(app->queue, commands, NULL);
}

/* Faults of every kind, and barriers that could be joined. */
static void run_program(void *context)
{
    const struct program *program = context;
    struct submit_app app;
    VkImage images[2];
    submit_app_open_with(&app, &program->config);
    fault_oracle_reset();
    VkImage image = submit_app_image(&app);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST), NULL);
    submit_app_submit(app.queue, submit_app_reader(&app, image), NULL);
    submit_app_submit(app.queue, submit_app_mover(&app, image, GENERAL, SRC), NULL);
    record_many_barriers(&app, image);
    submit_app_swapchain(&app, images);
    VkSemaphore acquired = submit_app_semaphore(&app), rendered = submit_app_semaphore(&app);
    uint32_t index = submit_app_acquire(&app, acquired);
    submit_app_submit(app.queue, submit_app_mover(&app, images[index], UNDEFINED, DST),
                      &(struct submit_sync){.wait = acquired, .signal = rendered});
    CHECK_EQUAL(submit_app_present(&app, app.queue, index, rendered), VK_SUCCESS);
    CHECK_EQUAL(vkDeviceWaitIdle(app.device), VK_SUCCESS);
    program->result->violations = fault_oracle_violations(FAULT_ORACLE_RULES);
    for (size_t i = 0; i < FUNCTIONS; i++)
        program->result->calls[i] = fault_journal_count(functions[i]);
    program->result->done = true;
    submit_app_close(&app);
}

static struct result run(const struct submit_app_config *config)
{
    struct result *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    run_complete(run_program, &(struct program){.config = *config, .result = shared});
    struct result result = *shared;
    munmap(shared, sizeof(*shared));
    CHECK(result.done);
    return result;
}

static bool equal(const struct result *a, const struct result *b)
{
    return memcmp(a->calls, b->calls, sizeof(a->calls)) == 0 && a->violations == b->violations;
}

static void check_left_alone(const struct submit_app_config *config, const char *reason)
{
    layer_set("CACHE", "false");
    layer_remove();
    struct result without = run(config);
    layer_restore();
    struct result with = run(config);
    for (size_t i = 0; i < FUNCTIONS; i++)
        CHECK_SAY(without.calls[i] == with.calls[i], "%s: %u times, %u with the layer", functions[i],
                  without.calls[i], with.calls[i]);
    CHECK(without.violations > 0);
    CHECK_EQUAL(with.violations, without.violations);
    CHECK_EQUAL(report_count("repair", ""), 0);
    CHECK_EQUAL(report_count("barriers", "\"mode\":\"report\""), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, "barriers are left alone", reason), 1);
}

static void test_structure(void **state)
{
    const VkBaseInStructure unknown = {.sType = UNKNOWN_STRUCTURE};
    (void)state;
    driver_set("oracle=1");
    check_left_alone(&(struct submit_app_config){.device_chain = &unknown}, "structure of type 1000899001");
}

static void test_version(void **state)
{
    (void)state;
    driver_set("oracle=1;api=1.99");
    check_left_alone(&(struct submit_app_config){.api_version = UNKNOWN_VERSION}, "Vulkan 1.99");
}

/* It takes both, the application and the device, and more than Vulkan 1.4, whatever the registry of this
 * build: what the comparison above would see otherwise. */
static void test_not_newer(void **state)
{
    static const struct {
        const char *driver;
        uint32_t version;
    } cases[] = {{"oracle=1", 0},
                 {"oracle=1;api=1.99", 0},
                 {"oracle=1", UNKNOWN_VERSION},
                 {"oracle=1;api=1.4", VK_MAKE_API_VERSION(0, 1, 4, 0)}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct submit_app_config config = {.api_version = cases[i].version};
        report_forget();
        driver_set(cases[i].driver);
        layer_remove();
        struct result without = run(&config);
        layer_restore();
        struct result with = run(&config);
        CHECK(!equal(&without, &with));
        CHECK_EQUAL(with.violations, 0);
        CHECK_EQUAL(report_count("barriers", "\"mode\":\"repair\""), 1);
        CHECK(report_count("repair", "") > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_structure),
        HARNESS_TEST(test_version),
        HARNESS_TEST(test_not_newer),
    };
    return cmocka_run_group_tests_name("sync_newer", tests, NULL, NULL);
}
