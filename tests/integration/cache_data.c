/* What an application gets from vkGetPipelineCacheData: the two-call contract, whatever the buffer and the
 * driver. */
#include "cache_app.h"

#include "cache/envelope.h"

#define HEADER_SIZE 32
#define PIPELINES 3
#define CANARY 0xa5
#define CANARY_SIZE 64

struct fetched {
    VkResult result;
    struct bytes data;
};

/* Fetches with a buffer of exactly `room` bytes, and checks that what stands behind it is left alone. */
static struct fetched fetch(const struct app *app, VkPipelineCache cache, size_t room)
{
    struct fetched out = {.data = {.data = malloc(room + CANARY_SIZE), .size = room}};
    CHECK(out.data.data != NULL);
    memset(out.data.data, CANARY, room + CANARY_SIZE);
    out.result = vkGetPipelineCacheData(app->device, cache, &out.data.size, out.data.data);
    for (size_t i = 0; i < CANARY_SIZE; i++)
        CHECK_SAY(out.data.data[room + i] == CANARY, "a buffer of %zu bytes was written to at %zu", room,
                  room + i);
    CHECK_SAY(out.data.size <= room, "a buffer of %zu bytes got %zu", room, out.data.size);
    return out;
}

static VkPipelineCache make_cache(const struct app *app)
{
    VkPipelineCache cache = app_cache_empty(app);
    app_compile(app, cache, 0, PIPELINES);
    return cache;
}

/* --- C03: buffers of every size --- */

static void check_fetch(const struct fetched *got, size_t room, const struct bytes *whole)
{
    size_t payload = whole->size - ENVELOPE_SIZE;
    if (room < HEADER_SIZE)
        CHECK_SAY(got->data.size == 0, "a buffer of %zu bytes got %zu", room, got->data.size);
    else if (room >= whole->size)
        CHECK_EQUAL(got->data.size, whole->size);
    else if (room >= payload)
        CHECK_EQUAL(got->data.size, payload);
    else
        CHECK(got->data.size >= HEADER_SIZE);
    CHECK_SAY(got->result == (room < whole->size ? VK_INCOMPLETE : VK_SUCCESS),
              "a buffer of %zu bytes got result %d", room, got->result);
}

static void run_every_size(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = make_cache(&app);
    struct bytes whole = app_cache_data(&app, cache);
    for (size_t room = 0; room <= whole.size + 10; room++) {
        struct fetched got = fetch(&app, cache, room);
        check_fetch(&got, room, &whole);
        CHECK(memcmp(got.data.data, whole.data, got.data.size) == 0);
        bytes_finish(&got.data);
    }
    bytes_finish(&whole);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c03_buffers_of_every_size(void **state)
{
    (void)state;
    run_complete(run_every_size, NULL);
}

static void run_driver_never_asked_for_more(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = make_cache(&app);
    struct bytes whole = app_cache_data(&app, cache);
    struct fetched got = fetch(&app, cache, whole.size + 1000);
    CHECK_EQUAL(driver_last("vkGetPipelineCacheData").size, whole.size - ENVELOPE_SIZE);
    bytes_finish(&got.data);
    bytes_finish(&whole);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c03_driver_never_gets_the_larger_size(void **state)
{
    (void)state;
    run_complete(run_driver_never_asked_for_more, NULL);
}

/* --- C04: the cache grows between the calls --- */

static void run_grown_cache(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = make_cache(&app);
    size_t size = 0;
    CHECK_EQUAL(vkGetPipelineCacheData(app.device, cache, &size, NULL), VK_SUCCESS);
    app_compile(&app, cache, 100, PIPELINES);
    struct fetched got = fetch(&app, cache, size);
    CHECK_EQUAL(got.result, VK_INCOMPLETE);
    app_cache_destroy(&app, cache);

    VkPipelineCache again = app_cache(&app, got.data.data, got.data.size);
    CHECK(driver_saw_data(got.data.data, got.data.size));
    struct fault_record created = driver_last("vkCreatePipelineCache");
    CHECK(fault_cache_entries((VkPipelineCache)(uintptr_t)created.handle) >= PIPELINES);
    app_compile(&app, again, 0, PIPELINES);
    app_compile(&app, again, 100, PIPELINES);
    app_cache_destroy(&app, again);
    bytes_finish(&got.data);
    app_close(&app);
}

static void test_c04_old_size_after_more_pipelines(void **state)
{
    (void)state;
    run_complete(run_grown_cache, NULL);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
}

/* Each of the driver's answers is a surprise: the application still gets a result that it can handle, and
 * never more than its buffer holds. */
static void run_unruly_driver(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = make_cache(&app);
    size_t size = 0;
    CHECK_EQUAL(vkGetPipelineCacheData(app.device, cache, &size, NULL), VK_SUCCESS);
    CHECK(size < 1 << 20);
    for (size_t room = HEADER_SIZE; room <= size + 400; room += 7) {
        struct fetched got = fetch(&app, cache, room);
        CHECK(got.result == VK_SUCCESS || got.result == VK_INCOMPLETE);
        VkPipelineCache again = app_cache(&app, got.data.data, got.data.size);
        app_cache_destroy(&app, again);
        bytes_finish(&got.data);
    }
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c04_driver_that_grows_between_the_calls(void **state)
{
    (void)state;
    driver_set("fault=vkGetPipelineCacheData,when=fetch,grow=64");
    run_complete(run_unruly_driver, NULL);
    CHECK_EQUAL(report_rejected("corrupt"), 0);
}

static void test_c03_driver_that_writes_less_than_it_promised(void **state)
{
    (void)state;
    driver_set("fault=vkGetPipelineCacheData,when=fetch,short=100");
    run_complete(run_unruly_driver, NULL);
    CHECK_EQUAL(report_rejected("corrupt"), 0);
}

static void test_c03_driver_that_leaves_the_size_untouched(void **state)
{
    (void)state;
    driver_set("fault=vkGetPipelineCacheData,when=fetch,untouched");
    run_complete(run_unruly_driver, NULL);
    CHECK_EQUAL(report_rejected("corrupt"), 0);
}

static void test_c03_driver_that_says_it_wrote_more(void **state)
{
    (void)state;
    driver_set("fault=vkGetPipelineCacheData,when=fetch,reported=1000000");
    run_complete(run_unruly_driver, NULL);
    CHECK_EQUAL(report_rejected("corrupt"), 0);
}

static void run_query_fails(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = make_cache(&app);
    size_t size = 77;
    char problem[128];
    CHECK_EQUAL(fault_configure("fault=vkGetPipelineCacheData,result=-1", problem, sizeof(problem)), 0);
    CHECK_EQUAL(vkGetPipelineCacheData(app.device, cache, &size, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    struct fetched got = fetch(&app, cache, 4096);
    CHECK_EQUAL(got.result, VK_ERROR_OUT_OF_HOST_MEMORY);
    bytes_finish(&got.data);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c03_driver_errors_come_back_unchanged(void **state)
{
    (void)state;
    layer_set("PERSIST", "off"); /* or the worker may be inside the driver while it is being configured */
    run_complete(run_query_fails, NULL);
}

/* --- C29: asked twice --- */

static void run_twice(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = make_cache(&app);
    struct bytes first = app_cache_data(&app, cache), second = app_cache_data(&app, cache);
    CHECK(bytes_equal(&first, &second));
    VkPipelineCache copy = app_cache(&app, first.data, first.size);
    struct bytes third = app_cache_data(&app, copy);
    CHECK(bytes_equal(&first, &third));
    app_cache_destroy(&app, copy);
    app_cache_destroy(&app, cache);
    bytes_finish(&first);
    bytes_finish(&second);
    bytes_finish(&third);
    app_close(&app);
}

static void test_c29_asked_twice_gives_equal_bytes(void **state)
{
    (void)state;
    run_complete(run_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c03_buffers_of_every_size),
        HARNESS_TEST(test_c03_driver_never_gets_the_larger_size),
        HARNESS_TEST(test_c04_old_size_after_more_pipelines),
        HARNESS_TEST(test_c04_driver_that_grows_between_the_calls),
        HARNESS_TEST(test_c03_driver_that_writes_less_than_it_promised),
        HARNESS_TEST(test_c03_driver_that_leaves_the_size_untouched),
        HARNESS_TEST(test_c03_driver_that_says_it_wrote_more),
        HARNESS_TEST(test_c03_driver_errors_come_back_unchanged),
        HARNESS_TEST(test_c29_asked_twice_gives_equal_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
