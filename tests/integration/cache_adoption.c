/* Caches that the application creates empty and never saves: filled from the store, kept for it. And merges.
 */
#include "cache_app.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define PIPELINES 4

/* Creates with VK_NULL_HANDLE: expects so many hits. */
struct null_user {
    uint32_t first;
    uint32_t hits;
};

static void run_null_user(void *context)
{
    const struct null_user *user = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, user->first, PIPELINES);
    CHECK_EQUAL(fault_cache_hits(), user->hits);
    app_close(&app);
}

static void use_null(uint32_t first, uint32_t hits)
{
    struct null_user user = {.first = first, .hits = hits};
    run_complete(run_null_user, &user);
}

/* Creates with an empty cache of its own, which it destroys. */
static void run_empty_user(void *context)
{
    const struct null_user *user = context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, user->first, PIPELINES);
    CHECK_EQUAL(fault_cache_hits(), user->hits);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void use_empty(uint32_t first, uint32_t hits)
{
    struct null_user user = {.first = first, .hits = hits};
    run_complete(run_empty_user, &user);
}

static void test_adopted_cache_is_seeded_and_harvested(void **state)
{
    (void)state;
    use_empty(0, 0);
    CHECK_EQUAL(store_count(".vkcache"), 1);
    use_empty(0, PIPELINES);
    CHECK_EQUAL(report_number("summary", "adopted"), 1);
    use_empty(100, 0);
    use_null(0, PIPELINES);
    use_null(100, PIPELINES);
}

static void run_saves_after_the_harvest(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 100, PIPELINES);
    app_cache_destroy(&app, cache);
    report_wait("save", "", 1);
    app_compile(&app, VK_NULL_HANDLE, 200, PIPELINES);
    app_close(&app);
}

static void test_later_saves_keep_what_was_harvested(void **state)
{
    (void)state;
    run_complete(run_saves_after_the_harvest, NULL);
    CHECK_EQUAL(report_count("save", ""), 2);
    use_null(100, PIPELINES);
    use_null(200, PIPELINES);
}

static int lock_store(void)
{
    int fd = open(store_path(".lock"), O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    return fd;
}

static void run_harvests_while_the_store_is_locked(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    report_wait("save", "", 1);
    int lock = lock_store();
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 100, PIPELINES);
    app_cache_destroy(&app, cache);
    lines_wait(LOG_FILE, "cannot lock", "", 1);
    close(lock);
    app_close(&app);
}

static void test_what_was_harvested_outlives_a_save_that_fails(void **state)
{
    (void)state;
    run_complete(run_harvests_while_the_store_is_locked, NULL);
    use_null(100, PIPELINES);
}

static void test_a_merge_that_fails_is_said(void **state)
{
    (void)state;
    use_null(0, 0);
    driver_set("fault=vkMergePipelineCaches,result=-13");
    use_empty(100, 0);
    CHECK_EQUAL(lines_count(LOG_FILE, "fails to merge caches: VK_ERROR_UNKNOWN", ""), 1);
    driver_set("");
    use_null(0, PIPELINES); /* the store is as it was */
}

static void test_adopt_empty_off(void **state)
{
    (void)state;
    layer_set("ADOPT_EMPTY", "false");
    use_null(0, 0);
    use_empty(0, 0);
    CHECK_EQUAL(report_number("summary", "adopted"), 0);
    use_empty(100, 0);
    use_null(100, 0);
}

static void run_many_empty(void *context)
{
    (void)context;
    struct app app;
    VkPipelineCache caches[8];
    app_open(&app);
    for (uint32_t i = 0; i < 8; i++)
        caches[i] = app_cache_empty(&app);
    app_compile(&app, caches[3], 0, 1);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").hits, 1);
    app_compile(&app, caches[4], 0, 1);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").hits, 0);
    app_cache_destroy(&app, caches[0]);
    caches[0] = app_cache_empty(&app);
    app_compile(&app, caches[0], 0, 1);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").hits, 1);
    for (uint32_t i = 0; i < 8; i++)
        app_cache_destroy(&app, caches[i]);
    app_close(&app);
}

static void test_at_most_four_are_seeded_at_a_time(void **state)
{
    (void)state;
    use_null(0, 0);
    run_complete(run_many_empty, NULL);
    CHECK_EQUAL(report_number("summary", "adopted"), 5);
}

static void run_asks_for_data(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache first = app_cache_empty(&app);
    app_compile(&app, first, 200, PIPELINES);
    struct bytes data = app_cache_data(&app, first);
    bytes_finish(&data);
    VkPipelineCache second = app_cache_empty(&app);
    app_compile(&app, second, 0, 1);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").hits, 0);
    app_cache_destroy(&app, first);
    app_cache_destroy(&app, second);
    app_close(&app);
}

static void test_adoption_ends_once_the_application_asks_for_data(void **state)
{
    (void)state;
    use_null(0, 0);
    run_complete(run_asks_for_data, NULL);
    CHECK_EQUAL(report_number("summary", "adopted"), 1);
    use_empty(0, 0); /* it is remembered */
    CHECK_EQUAL(report_number("summary", "adopted"), 0);
    use_null(200, 0); /* nor was anything harvested */
}

static void run_seeded_fails(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 0, 1); /* fails with the seeded cache, not without */
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 2);
    app_compile(&app, cache, 1, 1);
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 3);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_a_seeded_cache_that_fails_is_passed_by(void **state)
{
    (void)state;
    use_null(0, 0);
    driver_set("fault=vkCreateComputePipelines,call=1,result=-13");
    run_complete(run_seeded_fails, NULL);
    CHECK_EQUAL(report_number("summary", "poisoned"), 1);
    driver_set("");
    use_null(0, 0);
    CHECK_EQUAL(report_rejected("quarantined"), 1);
}

static void run_seeding_fails(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 0, 1);
    CHECK(driver_last("vkCreateComputePipelines").cache != 0);
    CHECK_EQUAL(fault_cache_hits(), 0);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_data_that_the_driver_refuses_leaves_an_empty_cache(void **state)
{
    (void)state;
    use_null(0, 0);
    driver_set("fault=vkCreatePipelineCache,call=3,result=-1"); /* after the live and the loaded one */
    run_complete(run_seeding_fails, NULL);
    CHECK_EQUAL(report_number("summary", "adopted"), 0);
}

/* --- C26: the application's own merges --- */

static void check_merge(const struct app *app, VkPipelineCache into, const VkPipelineCache *from,
                        uint32_t count)
{
    uint32_t before = driver_count("vkMergePipelineCaches");
    CHECK_EQUAL(vkMergePipelineCaches(app->device, into, count, from), VK_SUCCESS);
    CHECK_EQUAL(driver_count("vkMergePipelineCaches"), before + 1);
    CHECK_EQUAL(driver_last("vkMergePipelineCaches").size, count);
}

static void run_merges(void *context)
{
    (void)context;
    struct app app;
    VkPipelineCache caches[4];
    app_open(&app);
    for (uint32_t i = 0; i < 3; i++) {
        caches[i] = app_cache_empty(&app);
        app_compile(&app, caches[i], 100 * i, PIPELINES);
    }
    struct bytes blob = app_cache_data(&app, caches[2]);
    caches[3] = app_cache(&app, blob.data, blob.size);
    bytes_finish(&blob);
    check_merge(&app, caches[0], &caches[1], 1);
    check_merge(&app, caches[3], &caches[0], 2);
    check_merge(&app, caches[0], &caches[3], 1);
    check_merge(&app, caches[0], caches, 4); /* itself among the sources: invalid */
    check_merge(&app, caches[0], &caches[0], 1);
    uint64_t hits = fault_cache_hits();
    for (uint32_t i = 0; i < 3; i++) {
        app_compile(&app, caches[0], 100 * i, PIPELINES);
        app_compile(&app, caches[3], 100 * i, PIPELINES);
    }
    CHECK_EQUAL(fault_cache_hits() - hits, 6 * PIPELINES);
    for (uint32_t i = 0; i < 4; i++)
        app_cache_destroy(&app, caches[i]);
    app_close(&app);
}

static void test_c26_merges_are_forwarded(void **state)
{
    (void)state;
    run_complete(run_merges, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_adopted_cache_is_seeded_and_harvested),
        HARNESS_TEST(test_later_saves_keep_what_was_harvested),
        HARNESS_TEST(test_what_was_harvested_outlives_a_save_that_fails),
        HARNESS_TEST(test_a_merge_that_fails_is_said),
        HARNESS_TEST(test_adopt_empty_off),
        HARNESS_TEST(test_at_most_four_are_seeded_at_a_time),
        HARNESS_TEST(test_adoption_ends_once_the_application_asks_for_data),
        HARNESS_TEST(test_a_seeded_cache_that_fails_is_passed_by),
        HARNESS_TEST(test_data_that_the_driver_refuses_leaves_an_empty_cache),
        HARNESS_TEST(test_c26_merges_are_forwarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
