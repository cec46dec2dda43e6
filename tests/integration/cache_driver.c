/* Drivers that fail, drop what they get, keep nothing, lose the device or report absurd sizes. */
#include "cache_app.h"

#include "cache/envelope.h"

#define PIPELINES 4
#define BLOB "blob"
#define ROUNDS 100

/* NULL callers: the store serves them. `*context` is the first pipeline's number. */
static void run_without_cache(void *context)
{
    const uint32_t *first = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, *first, PIPELINES);
    app_close(&app);
}

static void use_store(uint32_t first)
{
    run_complete(run_without_cache, &first);
}

/* A run that saves the data of its own cache. */
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
}

static VkResult offer_blob(const struct app *app, VkPipelineCache *out)
{
    struct bytes blob = file_read(scratch_path(BLOB));
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = blob.size,
                                      .pInitialData = blob.data};
    *out = VK_NULL_HANDLE;
    VkResult result = vkCreatePipelineCache(app->device, &info, NULL, out);
    bytes_finish(&blob);
    return result;
}

/* --- C07, C08: the driver refuses data --- */

struct refusal {
    VkResult expected;
    uint32_t tries; /* of the driver's */
};

static void run_refused(void *context)
{
    const struct refusal *refusal = context;
    struct app app;
    VkPipelineCache cache;
    app_open(&app);
    uint32_t before = driver_count("vkCreatePipelineCache");
    CHECK_EQUAL(offer_blob(&app, &cache), refusal->expected);
    CHECK((cache != VK_NULL_HANDLE) == (refusal->expected == VK_SUCCESS));
    CHECK_EQUAL(driver_count("vkCreatePipelineCache") - before, refusal->tries);
    CHECK(driver_saw_no_data());
    app_compile(&app, cache, 0, 1);
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c07_error_for_data_is_retried_once_without(void **state)
{
    (void)state;
    struct refusal refusal = {.expected = VK_SUCCESS, .tries = 2};
    run_complete(run_that_saves, NULL);
    driver_set("fault=vkCreatePipelineCache,when=data,result=-13");
    run_complete(run_refused, &refusal);
    CHECK_EQUAL(report_rejected("driver_error"), 1);
    CHECK_EQUAL(report_number("summary", "retries"), 1);
}

static void test_c07_second_error_comes_back_unchanged(void **state)
{
    (void)state;
    struct refusal refusal = {.expected = VK_ERROR_OUT_OF_DEVICE_MEMORY, .tries = 2};
    run_complete(run_that_saves, NULL);
    /* The first call without data is the layer's own, at the device's creation: it is to know its header. */
    driver_set("fault=vkCreatePipelineCache,when=data,result=-13;"
               "fault=vkCreatePipelineCache,when=nodata,call=2+,result=-2");
    run_complete(run_refused, &refusal);
}

static void run_no_cache_at_all(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    CHECK_EQUAL(vkCreatePipelineCache(app.device, &info, NULL, &cache), VK_ERROR_OUT_OF_HOST_MEMORY);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    app_close(&app);
}

static void test_c07_without_any_cache_null_stays_null(void **state)
{
    (void)state;
    driver_set("fault=vkCreatePipelineCache,result=-1");
    run_complete(run_no_cache_at_all, NULL);
    CHECK_EQUAL(report_number("summary", "substituted"), 0);
    CHECK_EQUAL(report_number("summary", "pipelines"), PIPELINES);
}

static void run_offers_quarantined(void *context)
{
    (void)context;
    struct app app;
    VkPipelineCache cache;
    app_open(&app);
    CHECK_EQUAL(offer_blob(&app, &cache), VK_SUCCESS);
    CHECK(driver_saw_no_data());
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c08_refused_blob_is_not_offered_again(void **state)
{
    (void)state;
    struct refusal refusal = {.expected = VK_SUCCESS, .tries = 2};
    run_complete(run_that_saves, NULL);
    driver_set("fault=vkCreatePipelineCache,when=data,result=-13");
    run_complete(run_refused, &refusal);
    driver_set("");
    run_complete(run_offers_quarantined, NULL);
    CHECK_EQUAL(report_rejected("quarantined"), 1);
}

static void test_c08_refused_store_is_not_offered_again(void **state)
{
    (void)state;
    use_store(0);
    driver_set("fault=vkCreatePipelineCache,when=data,result=-13");
    /* This one keeps its own: the file stays what the driver refused. */
    run_complete(run_that_saves, NULL);
    CHECK_EQUAL(report_rejected("driver_error"), 1);
    driver_set("");
    use_store(100);
    CHECK_EQUAL(report_rejected("quarantined"), 1);
    CHECK_EQUAL(store_count(".quarantine"), 1);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
    use_store(100);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
}

/* --- C28: the driver takes data and drops it --- */

static void run_offers_blob(void *context)
{
    (void)context;
    struct app app;
    VkPipelineCache cache;
    app_open(&app);
    CHECK_EQUAL(offer_blob(&app, &cache), VK_SUCCESS);
    CHECK(!driver_saw_no_data());
    app_compile(&app, cache, 0, PIPELINES);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c28_dropped_blob_is_counted_and_reported_once(void **state)
{
    (void)state;
    run_complete(run_that_saves, NULL);
    driver_set("fault=vkCreatePipelineCache,when=data,drop");
    run_complete(run_offers_blob, NULL);
    CHECK_EQUAL(report_rejected("driver_dropped"), 1);
    CHECK_EQUAL(report_count("reject", "driver_dropped"), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, "kept nothing of it", ""), 1);
}

static void test_c28_dropped_store_is_counted_and_built_anew(void **state)
{
    (void)state;
    use_store(0);
    driver_set("fault=vkCreatePipelineCache,when=data,drop");
    use_store(0);
    CHECK_EQUAL(report_rejected("driver_dropped"), 1);
    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

/* --- C36: device lost --- */

static void lose_by_submit(const struct app *app)
{
    CHECK_EQUAL(vkQueueSubmit(app->queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
}

static void lose_by_submit2(const struct app *app)
{
    CHECK_EQUAL(vkQueueSubmit2(app->queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
}

static void lose_by_queue_wait(const struct app *app)
{
    CHECK_EQUAL(vkQueueWaitIdle(app->queue), VK_ERROR_DEVICE_LOST);
}

static void lose_by_device_wait(const struct app *app)
{
    CHECK_EQUAL(vkDeviceWaitIdle(app->device), VK_ERROR_DEVICE_LOST);
}

static void lose_by_fence(const struct app *app)
{
    VkFence fence;
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK_EQUAL(vkCreateFence(app->device, &info, NULL, &fence), VK_SUCCESS);
    CHECK_EQUAL(vkWaitForFences(app->device, 1, &fence, VK_TRUE, 0), VK_ERROR_DEVICE_LOST);
    vkDestroyFence(app->device, fence, NULL);
}

static void lose_by_fence_status(const struct app *app)
{
    VkFence fence;
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK_EQUAL(vkCreateFence(app->device, &info, NULL, &fence), VK_SUCCESS);
    CHECK_EQUAL(vkGetFenceStatus(app->device, fence), VK_ERROR_DEVICE_LOST);
    vkDestroyFence(app->device, fence, NULL);
}

struct loss {
    const char *function;
    void (*lose)(const struct app *app);
};

static void run_loses_device(void *context)
{
    const struct loss *loss = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 100, PIPELINES);
    loss->lose(&app);
    app_close(&app);
}

static void test_c36_nothing_is_stored_after_device_lost(void **state)
{
    (void)state;
    static const struct loss losses[] = {
        {"vkQueueSubmit", lose_by_submit},       {"vkQueueSubmit2", lose_by_submit2},
        {"vkQueueWaitIdle", lose_by_queue_wait}, {"vkDeviceWaitIdle", lose_by_device_wait},
        {"vkWaitForFences", lose_by_fence},      {"vkGetFenceStatus", lose_by_fence_status},
    };
    use_store(0);
    struct bytes before = file_read(store_path(".vkcache"));
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        char items[128];
        struct loss loss = losses[i];
        snprintf(items, sizeof(items), "fault=%s,result=-4", loss.function);
        driver_set(items);
        report_forget();
        run_complete(run_loses_device, &loss);
        struct bytes after = file_read(store_path(".vkcache"));
        CHECK_SAY(bytes_equal(&before, &after), "stored after %s had lost the device", loss.function);
        CHECK_EQUAL(lines_count(LOG_FILE, "the device was lost", ""), 1);
        bytes_finish(&after);
    }
    bytes_finish(&before);
}

/* --- C39: drivers that keep nothing --- */

static void run_many_devices(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct app app;
        app_open(&app);
        app_compile(&app, VK_NULL_HANDLE, i, 1);
        app_close(&app);
        CHECK_EQUAL(store_count(".vkcache"), 0);
    }
}

/* Each round hands in what the one before got out, as an application with a cache file does. */
static void run_round_trips(void *context)
{
    (void)context;
    struct bytes blob = {0};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct app app;
        app_open(&app);
        VkPipelineCache cache = app_cache(&app, blob.data, blob.size);
        bytes_finish(&blob);
        app_compile(&app, cache, i, 1);
        blob = app_cache_data(&app, cache);
        CHECK_SAY(blob.size <= 32 + ENVELOPE_SIZE, "%zu bytes after %u rounds", blob.size, i + 1);
        app_cache_destroy(&app, cache);
        app_close(&app);
    }
    bytes_finish(&blob);
}

static void check_keeps_nothing(const char *items)
{
    driver_set(items);
    use_store(0);
    CHECK_EQUAL(lines_count(LOG_FILE, "keeps nothing", ""), 1);
    CHECK_EQUAL(store_count(".vkcache"), 0);
    run_complete(run_many_devices, NULL);
    run_complete(run_round_trips, NULL);
    CHECK_EQUAL(store_count(".vkcache"), 0);
}

static void test_c39_driver_that_keeps_nothing(void **state)
{
    (void)state;
    check_keeps_nothing("keeps=nothing");
}

static void test_c39_driver_that_echoes_its_data(void **state)
{
    (void)state;
    check_keeps_nothing("keeps=echo");
}

/* --- C41: absurd sizes --- */

static void test_c41_five_gigabytes_at_save(void **state)
{
    (void)state;
    use_store(0);
    struct bytes before = file_read(store_path(".vkcache"));
    /* The first query is the layer's own, of an empty cache. */
    driver_set("fault=vkGetPipelineCacheData,when=query,call=2+,reported=5368709120");
    use_store(100);
    struct bytes after = file_read(store_path(".vkcache"));
    CHECK(bytes_equal(&before, &after));
    CHECK_EQUAL(report_number("summary", "saves"), 0);
    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    bytes_finish(&before);
    bytes_finish(&after);
}

static void test_driver_that_answers_incomplete_is_not_stored(void **state)
{
    (void)state;
    use_store(0);
    struct bytes before = file_read(store_path(".vkcache"));
    driver_set("fault=vkGetPipelineCacheData,when=fetch,call=2+,result=5");
    use_store(100);
    struct bytes after = file_read(store_path(".vkcache"));
    CHECK(bytes_equal(&before, &after));
    bytes_finish(&before);
    bytes_finish(&after);
}

/* --- Header versions other than ONE --- */

static void run_other_header(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 0, PIPELINES);
    struct bytes data = app_cache_data(&app, cache);
    CHECK_EQUAL(driver_last("vkGetPipelineCacheData").size_returned, data.size);
    app_cache_destroy(&app, cache);
    cache = app_cache(&app, data.data, data.size);
    CHECK(driver_saw_data(data.data, data.size));
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    app_cache_destroy(&app, cache);
    bytes_finish(&data);
    app_close(&app);
}

static void test_other_header_versions_are_left_alone(void **state)
{
    (void)state;
    static const char *const headers[] = {"header=2", "header=28"};
    for (size_t i = 0; i < 2; i++) {
        driver_set(headers[i]);
        run_complete(run_other_header, NULL);
        CHECK_EQUAL(store_count(".vkcache"), 0);
    }
}

static void run_refused_untouched(void *context)
{
    (void)context;
    static const uint32_t data[] = {28, 2, 1, 2, 3, 4, 5, 6}; /* a header version that nobody knows */
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache(&app, data, sizeof(data));
    CHECK(driver_saw_no_data());
    CHECK_EQUAL(driver_count("vkCreatePipelineCache"), 3); /* the layer's own, and two tries */
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_an_error_for_data_with_another_header_version_is_retried_without(void **state)
{
    (void)state;
    static const char *const drivers[] = {"header=1", "header=2"};
    for (size_t i = 0; i < 2; i++) {
        char items[128];
        snprintf(items, sizeof(items), "%s;fault=vkCreatePipelineCache,when=data,result=-13", drivers[i]);
        driver_set(items);
        report_forget();
        run_complete(run_refused_untouched, NULL);
        CHECK_EQUAL(report_rejected("driver_error"), 1);
        CHECK_EQUAL(report_number("summary", "retries"), 1);
    }
}

static void run_compiles_after_a_failed_save(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    lines_wait(JOURNAL_FILE, "vkGetPipelineCacheData", "result=-1", 1);
    app_compile(&app, VK_NULL_HANDLE, PIPELINES, 1);
    app_close(&app);
}

/* The first query is the layer's at device creation. */
static void test_a_failed_query_does_not_mean_that_the_driver_keeps_nothing(void **state)
{
    (void)state;
    driver_set("fault=vkGetPipelineCacheData,when=query,call=2,result=-1");
    run_complete(run_compiles_after_a_failed_save, NULL);
    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c07_error_for_data_is_retried_once_without),
        HARNESS_TEST(test_c07_second_error_comes_back_unchanged),
        HARNESS_TEST(test_c07_without_any_cache_null_stays_null),
        HARNESS_TEST(test_c08_refused_blob_is_not_offered_again),
        HARNESS_TEST(test_c08_refused_store_is_not_offered_again),
        HARNESS_TEST(test_c28_dropped_blob_is_counted_and_reported_once),
        HARNESS_TEST(test_c28_dropped_store_is_counted_and_built_anew),
        HARNESS_TEST(test_c36_nothing_is_stored_after_device_lost),
        HARNESS_TEST(test_c39_driver_that_keeps_nothing),
        HARNESS_TEST(test_c39_driver_that_echoes_its_data),
        HARNESS_TEST(test_c41_five_gigabytes_at_save),
        HARNESS_TEST(test_driver_that_answers_incomplete_is_not_stored),
        HARNESS_TEST(test_other_header_versions_are_left_alone),
        HARNESS_TEST(test_an_error_for_data_with_another_header_version_is_retried_without),
        HARNESS_TEST(test_a_failed_query_does_not_mean_that_the_driver_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
