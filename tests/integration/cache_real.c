/* Real drivers: lavapipe executes and keeps nothing; RADV without a GPU compiles and keeps, and executes
 * nothing. Where a driver isn't installed its tests are skipped. */
#include "cache_app.h"

#include <unistd.h>

#include "cache/envelope.h"

#define LAVAPIPE "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
#define RADEON "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"
#define PIPELINES 4
#define COUNT 64
#define BLOB "blob"

static void use_driver(const char *manifest)
{
    if (access(manifest, R_OK) != 0)
        skip();
    driver_use(manifest);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    setenv("RADV_FORCE_FAMILY", "navi21", 1);
}

/* --- C50, C39: lavapipe --- */

static void check_numbers(const struct app *app, VkPipelineCache cache, uint32_t number)
{
    VkPipeline pipeline;
    uint32_t found[COUNT];
    CHECK_EQUAL(app_compute(app, cache, number, 1, 0, NULL, &pipeline), VK_SUCCESS);
    app_dispatch(app, pipeline, found, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_EQUAL(found[i], 7 * i + number);
    app_pipeline_destroy(app, pipeline);
}

static void run_dispatches(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        check_numbers(&app, VK_NULL_HANDLE, i);
        check_numbers(&app, cache, 1000 + i);
    }
    app_cache_destroy(&app, cache);
    app_close(&app);
    _exit(EXIT_SUCCESS); /* what the driver leaks is not looked for */
}

static void test_c50_lavapipe_computes_the_same_cold_and_warm(void **state)
{
    (void)state;
    use_driver(LAVAPIPE);
    run_complete(run_dispatches, NULL);
    run_complete(run_dispatches, NULL);
    layer_remove();
    run_complete(run_dispatches, NULL);
}

static void test_c39_lavapipe_keeps_nothing(void **state)
{
    (void)state;
    use_driver(LAVAPIPE);
    for (int i = 0; i < 3; i++)
        run_complete(run_dispatches, NULL);
    CHECK_EQUAL(store_count(".vkcache"), 0);
    CHECK_EQUAL(lines_count(LOG_FILE, "keeps nothing", ""), 3);
}

/* --- RADV: real contents --- */

static void run_without_cache(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    app_close(&app);
    _exit(EXIT_SUCCESS);
}

static void test_radv_is_warm_from_the_second_run_on(void **state)
{
    (void)state;
    use_driver(RADEON);
    run_complete(run_without_cache, NULL);
    CHECK_EQUAL(report_number("summary", "misses"), PIPELINES);
    for (int i = 0; i < 2; i++) {
        run_complete(run_without_cache, NULL);
        CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
        CHECK_EQUAL(report_number("summary", "rejected"), 0);
    }
}

static bool is_hit(const struct app *app, VkPipelineCache cache, uint32_t number)
{
    VkPipelineCreationFeedback feedback = {0};
    VkPipelineCreationFeedbackCreateInfo info = {.sType =
                                                     VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
                                                 .pPipelineCreationFeedback = &feedback};
    VkPipeline pipeline;
    CHECK_EQUAL(app_compute(app, cache, number, 1, 0, &info, &pipeline), VK_SUCCESS);
    app_pipeline_destroy(app, pipeline);
    return feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
}

/* This driver's merges move the entries: what was a source is empty afterwards. */
static void run_adopts_twice(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache first = app_cache_empty(&app), second = app_cache_empty(&app);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        CHECK(is_hit(&app, first, i));
        CHECK(is_hit(&app, second, i));
        CHECK(is_hit(&app, VK_NULL_HANDLE, i));
    }
    app_cache_destroy(&app, first);
    app_cache_destroy(&app, second);
    app_close(&app);
    _exit(EXIT_SUCCESS);
}

static void test_radv_seeds_without_emptying_the_store(void **state)
{
    (void)state;
    use_driver(RADEON);
    run_complete(run_without_cache, NULL);
    run_complete(run_adopts_twice, NULL);
}

/* --- C30: an enveloped blob once the layer is gone --- */

static void run_that_saves(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 0, PIPELINES);
    struct bytes blob = app_cache_data(&app, cache);
    file_write(scratch_path(BLOB), blob.data, blob.size);
    bytes_finish(&blob);
    app_cache_destroy(&app, cache);
    app_close(&app);
    _exit(EXIT_SUCCESS);
}

static void run_that_loads(void *context)
{
    const bool *expect_hits = context;
    struct app app;
    app_open(&app);
    struct bytes blob = file_read(scratch_path(BLOB));
    VkPipelineCache cache = app_cache(&app, blob.data, blob.size);
    VkPipelineCreationFeedback feedback = {0};
    VkPipelineCreationFeedbackCreateInfo info = {.sType =
                                                     VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
                                                 .pPipelineCreationFeedback = &feedback};
    for (uint32_t i = 0; i < PIPELINES; i++) {
        VkPipeline pipeline;
        CHECK_EQUAL(app_compute(&app, cache, i, 1, 0, &info, &pipeline), VK_SUCCESS);
        if (*expect_hits)
            CHECK(feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT);
        app_pipeline_destroy(&app, pipeline);
    }
    app_cache_destroy(&app, cache);
    bytes_finish(&blob);
    app_close(&app);
    _exit(EXIT_SUCCESS);
}

static void check_after_the_layer(const char *manifest, bool expect_hits)
{
    use_driver(manifest);
    run_complete(run_that_saves, NULL);
    run_complete(run_that_loads, &expect_hits);
    layer_remove();
    run_complete(run_that_loads, &expect_hits);
}

static void test_c30_lavapipe_takes_an_enveloped_blob(void **state)
{
    (void)state;
    check_after_the_layer(LAVAPIPE, false);
}

static void test_c30_radv_takes_an_enveloped_blob(void **state)
{
    (void)state;
    check_after_the_layer(RADEON, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c50_lavapipe_computes_the_same_cold_and_warm),
        HARNESS_TEST(test_c39_lavapipe_keeps_nothing),
        HARNESS_TEST(test_radv_is_warm_from_the_second_run_on),
        HARNESS_TEST(test_radv_seeds_without_emptying_the_store),
        HARNESS_TEST(test_c30_lavapipe_takes_an_enveloped_blob),
        HARNESS_TEST(test_c30_radv_takes_an_enveloped_blob),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
