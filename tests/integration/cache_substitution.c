/* The store in place of VK_NULL_HANDLE: when it is used, when it must not be, and what the application gets
 * back. */
#include "cache_app.h"

#include <time.h>

#include "compat.h"

#define PIPELINES 5
#define FAIL_ON_COMPILE VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT
#define EARLY_RETURN VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT

static const char *const ray_tracing_extensions[] = {
    VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME,
    VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME,
    VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME,
    NULL,
};

static void run_without_cache(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    app_close(&app);
}

static void make_store(void)
{
    run_complete(run_without_cache, NULL);
}

/* --- What is counted --- */

static void test_summary_counts_pipelines_hits_and_misses(void **state)
{
    (void)state;
    driver_set("miss=1000");
    make_store();
    CHECK_EQUAL(report_number("summary", "pipelines"), PIPELINES);
    CHECK_EQUAL(report_number("summary", "substituted"), PIPELINES);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
    CHECK_EQUAL(report_number("summary", "misses"), PIPELINES);
    CHECK_EQUAL(report_number("summary", "unknown"), 0);
    CHECK_EQUAL(report_number("summary", "loaded_bytes"), 0);
    CHECK_EQUAL(report_number("summary", "saves"), 1);
    CHECK(report_number("summary", "spent_ns") >= PIPELINES * 1000000ull);
    uint64_t saved = report_number("summary", "saved_bytes");
    struct bytes file = file_read(store_path(".vkcache"));
    CHECK_EQUAL(file.size, saved + 640);
    bytes_finish(&file);

    make_store();
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    CHECK_EQUAL(report_number("summary", "misses"), 0);
    CHECK_EQUAL(report_number("summary", "loaded_bytes"), saved);
    CHECK_EQUAL(report_number("summary", "saves"), 0);
    CHECK(report_number("summary", "saved_ns") > 0);
}

static void run_own_feedback(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCreationFeedback feedback = {0};
    VkPipelineCreationFeedbackCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &feedback,
    };
    VkPipeline pipeline;
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, 1, 0, &info, &pipeline), VK_SUCCESS);
    CHECK(feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT);
    app_pipeline_destroy(&app, pipeline);
    app_close(&app);
}

static void test_the_applications_own_feedback_is_counted_too(void **state)
{
    (void)state;
    make_store();
    run_complete(run_own_feedback, NULL);
    CHECK_EQUAL(report_number("summary", "hits"), 1);
    CHECK_EQUAL(report_number("summary", "unknown"), 0);
}

static void run_old_api(void *context)
{
    (void)context;
    struct app app;
    struct app_config config = {.api_version = VK_API_VERSION_1_1};
    app_open_with(&app, &config);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    app_close(&app);
}

static void test_old_applications_are_counted_through_the_extension(void **state)
{
    (void)state;
    run_complete(run_old_api, NULL);
    CHECK_EQUAL(report_number("summary", "misses"), PIPELINES);
    run_complete(run_old_api, NULL);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

static void test_drivers_without_feedback_are_counted_as_unknown(void **state)
{
    (void)state;
    driver_set("api=1.1;hide=VK_EXT_pipeline_creation_feedback");
    run_complete(run_old_api, NULL);
    CHECK_EQUAL(report_number("summary", "unknown"), PIPELINES);
    run_complete(run_old_api, NULL);
    CHECK_EQUAL(report_number("summary", "unknown"), PIPELINES);
    CHECK(report_number("summary", "loaded_bytes") > 0);
}

/* --- Kinds of pipelines --- */

static void run_every_kind(void *context)
{
    (void)context;
    struct app app;
    struct app_config config = {.extensions = ray_tracing_extensions};
    struct app_ray_tracing rays;
    VkPipeline pipeline;
    app_open_with(&app, &config);
    app_pipeline_destroy(&app, app_graphics(&app, VK_NULL_HANDLE, 1));
    CHECK(driver_last("vkCreateGraphicsPipelines").cache != 0);
    app_compile(&app, VK_NULL_HANDLE, 2, 1);
    CHECK(driver_last("vkCreateComputePipelines").cache != 0);
    app_ray_tracing_init(&rays, &app, 3);
    CHECK_EQUAL(app_ray_tracing_create(&app, VK_NULL_HANDLE, VK_NULL_HANDLE, &rays, &pipeline), VK_SUCCESS);
    CHECK(driver_last("vkCreateRayTracingPipelinesKHR").cache != 0);
    app_pipeline_destroy(&app, pipeline);
    vkDestroyShaderModule(app.device, rays.shader, NULL);
    app_close(&app);
}

static void test_graphics_compute_and_ray_tracing_are_served(void **state)
{
    (void)state;
    run_complete(run_every_kind, NULL);
    CHECK_EQUAL(report_number("summary", "misses"), 3);
    run_complete(run_every_kind, NULL);
    CHECK_EQUAL(report_number("summary", "hits"), 3);
    CHECK_EQUAL(report_number("summary", "substituted"), 3);
}

static void run_substitute_off(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    app_close(&app);
}

static void test_substitute_off(void **state)
{
    (void)state;
    make_store();
    layer_set("SUBSTITUTE", "off");
    run_complete(run_substitute_off, NULL);
    CHECK_EQUAL(report_number("summary", "substituted"), 0);
}

/* --- C24: pipelines that must not be compiled --- */

static void run_compile_required(void *context)
{
    (void)context;
    struct app app;
    VkPipeline pipelines[3];
    app_open(&app);
    memset(pipelines, 0xff, sizeof(pipelines));
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, 1, FAIL_ON_COMPILE, NULL, pipelines),
                VK_PIPELINE_COMPILE_REQUIRED);
    CHECK(pipelines[0] == VK_NULL_HANDLE);
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 1);
    memset(pipelines, 0xff, sizeof(pipelines));
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, 3, FAIL_ON_COMPILE | EARLY_RETURN, NULL, pipelines),
                VK_PIPELINE_COMPILE_REQUIRED);
    for (int i = 0; i < 3; i++)
        CHECK(pipelines[i] == VK_NULL_HANDLE);
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 2);
    app_close(&app);
}

static void test_c24_compile_required_is_unchanged_and_a_miss(void **state)
{
    (void)state;
    run_complete(run_compile_required, NULL);
    CHECK_EQUAL(report_number("summary", "misses"), 4);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
    CHECK_EQUAL(report_number("summary", "retries"), 0);
    CHECK_EQUAL(store_count(".vkcache"), 0);
}

static void run_compile_required_warm(void *context)
{
    (void)context;
    struct app app;
    VkPipeline pipelines[PIPELINES + 1];
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, 1); /* waits for the load, as the others never do */
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, PIPELINES, FAIL_ON_COMPILE, NULL, pipelines),
                VK_SUCCESS);
    for (uint32_t i = 0; i < PIPELINES; i++)
        app_pipeline_destroy(&app, pipelines[i]);
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, PIPELINES + 1, FAIL_ON_COMPILE, NULL, pipelines),
                VK_PIPELINE_COMPILE_REQUIRED);
    CHECK(pipelines[0] != VK_NULL_HANDLE && pipelines[PIPELINES] == VK_NULL_HANDLE);
    for (uint32_t i = 0; i <= PIPELINES; i++)
        app_pipeline_destroy(&app, pipelines[i]);
    app_close(&app);
}

static void test_c24_a_warm_store_makes_compiling_unnecessary(void **state)
{
    (void)state;
    make_store();
    run_complete(run_compile_required_warm, NULL);
    CHECK_EQUAL(report_number("summary", "hits"), 1 + 2 * PIPELINES);
    CHECK_EQUAL(report_number("summary", "misses"), 1);
}

/* --- C43, load_timeout: a store that doesn't get loaded --- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The fault driver knows flags2 only if it was built with headers that have them. */
#ifdef VK_KHR_maintenance5
#define FLAGS2_RESULT VK_PIPELINE_COMPILE_REQUIRED
#else
#define FLAGS2_RESULT VK_SUCCESS
#endif

static void run_never_waits(void *context)
{
    const void *chain = context;
    struct app app;
    VkPipeline pipeline;
    app_open(&app);
    CHECK(fault_wait_blocked(1, HARNESS_TIMEOUT_MS));
    /* Would it wait, it would do so until this run's own watchdog. */
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, 1, chain ? 0 : FAIL_ON_COMPILE, chain, &pipeline),
                chain ? FLAGS2_RESULT : VK_PIPELINE_COMPILE_REQUIRED);
    app_pipeline_destroy(&app, pipeline);
    fault_release();
    app_close(&app);
}

static void test_c43_compile_required_never_waits_for_the_load(void **state)
{
    (void)state;
    make_store();
    layer_set("LOAD_TIMEOUT", "60000");
    driver_set("fault=vkCreatePipelineCache,when=data,block");
    run_complete(run_never_waits, NULL);
}

static void test_c43_nor_where_the_flag_is_in_flags2(void **state)
{
    (void)state;
    struct compat_pipeline_create_flags_2_create_info flags = {
        .sType = COMPAT_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO, .flags = FAIL_ON_COMPILE};
    make_store();
    layer_set("LOAD_TIMEOUT", "60000");
    driver_set("fault=vkCreatePipelineCache,when=data,block");
    run_complete(run_never_waits, &flags);
}

static void run_waits_so_long(void *context)
{
    (void)context;
    struct app app;
    uint64_t begin = now_ms();
    app_open(&app);
    CHECK(fault_wait_blocked(1, HARNESS_TIMEOUT_MS));
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    CHECK(now_ms() - begin >= 300);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").misses, 1);
    fault_release();
    app_close(&app);
}

static void test_load_timeout_bounds_the_first_creation(void **state)
{
    (void)state;
    make_store();
    layer_set("LOAD_TIMEOUT", "300");
    driver_set("fault=vkCreatePipelineCache,when=data,block");
    run_complete(run_waits_so_long, NULL);
}

/* --- C25: calls that must have no cache --- */

/* Three elements, of which only the second has this chain. */
static void create_three(const struct app *app, const void *chain, VkPipelineCreateFlags flags)
{
    VkShaderModule shader = app_shader(app, 1);
    VkComputePipelineCreateInfo infos[3];
    VkPipeline pipelines[3];
    for (int i = 0; i < 3; i++)
        infos[i] = (VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .pNext = i == 1 ? chain : NULL,
            .flags = i == 1 ? flags : 0,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = shader,
                      .pName = "main"},
            .layout = app->layout,
            .basePipelineIndex = -1,
        };
    CHECK_EQUAL(vkCreateComputePipelines(app->device, VK_NULL_HANDLE, 3, infos, NULL, pipelines), VK_SUCCESS);
    for (int i = 0; i < 3; i++)
        app_pipeline_destroy(app, pipelines[i]);
    vkDestroyShaderModule(app->device, shader, NULL);
}

static void run_capture_data(void *context)
{
    (void)context;
    struct app app;
    struct compat_pipeline_create_flags_2_create_info flags = {
        .sType = COMPAT_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO,
        .flags = COMPAT_PIPELINE_CREATE_2_CAPTURE_DATA_BIT};
    struct compat_pipeline_binary_info none = {.sType = COMPAT_STRUCTURE_TYPE_PIPELINE_BINARY_INFO};
    app_open(&app);
    create_three(&app, &flags, 0);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    flags.flags = 0;
    create_three(&app, &flags, 0);
    CHECK(driver_last("vkCreateComputePipelines").cache != 0);
    create_three(&app, &none, 0);
    CHECK(driver_last("vkCreateComputePipelines").cache != 0);
    app_close(&app);
}

static void test_c25_capture_data_keeps_null(void **state)
{
    (void)state;
    run_complete(run_capture_data, NULL);
    CHECK_EQUAL(report_number("summary", "substituted"), 6);
}

/* Where the headers don't know pipeline binaries the driver doesn't either, and never looks at this one. */
#ifdef VK_KHR_pipeline_binary
static const char *const binary_extensions[] = {VK_KHR_MAINTENANCE_5_EXTENSION_NAME,
                                                VK_KHR_PIPELINE_BINARY_EXTENSION_NAME, NULL};

static uint64_t create_binary(const struct app *app)
{
    VkPipelineCreateFlags2CreateInfoKHR flags = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR,
        .flags = VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR};
    VkPipeline pipeline;
    CHECK_EQUAL(app_compute(app, VK_NULL_HANDLE, 1, 1, 0, &flags, &pipeline), VK_SUCCESS);
    VkPipelineBinaryKHR binary;
    VkPipelineBinaryCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_CREATE_INFO_KHR,
                                          .pipeline = pipeline};
    VkPipelineBinaryHandlesInfoKHR out = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_HANDLES_INFO_KHR,
                                          .pipelineBinaryCount = 1,
                                          .pPipelineBinaries = &binary};
    CHECK_EQUAL(((PFN_vkCreatePipelineBinariesKHR)app_command(app, "vkCreatePipelineBinariesKHR"))(
                    app->device, &info, NULL, &out),
                VK_SUCCESS);
    app_pipeline_destroy(app, pipeline);
    return (uint64_t)binary;
}

static void destroy_binary(const struct app *app, uint64_t binary)
{
    ((PFN_vkDestroyPipelineBinaryKHR)app_command(app, "vkDestroyPipelineBinaryKHR"))(
        app->device, (VkPipelineBinaryKHR)binary, NULL);
}
#else
static const char *const binary_extensions[] = {NULL};

static uint64_t create_binary(const struct app *app)
{
    (void)app;
    return 1;
}

static void destroy_binary(const struct app *app, uint64_t binary)
{
    (void)app;
    (void)binary;
}
#endif

static void run_binaries(void *context)
{
    (void)context;
    struct app app;
    struct app_config config = {.extensions = binary_extensions};
    app_open_with(&app, &config);
    uint64_t binary = create_binary(&app);
    struct compat_pipeline_binary_info binaries = {
        .sType = COMPAT_STRUCTURE_TYPE_PIPELINE_BINARY_INFO, .binaryCount = 1, .pPipelineBinaries = &binary};
    create_three(&app, &binaries, 0);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    destroy_binary(&app, binary);
    app_close(&app);
}

static void test_c25_pipeline_binaries_keep_null(void **state)
{
    (void)state;
    run_complete(run_binaries, NULL);
    CHECK_EQUAL(report_number("summary", "substituted"), 0);
}

static void run_internal_cache_disabled(void *context)
{
    (void)context;
    struct app app;
    struct compat_device_pipeline_binary_internal_cache_control control = {
        .sType = COMPAT_STRUCTURE_TYPE_DEVICE_PIPELINE_BINARY_INTERNAL_CACHE_CONTROL,
        .disableInternalCache = VK_TRUE};
    struct app_config config = {.device_chain = &control};
    app_open_with(&app, &config);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    app_close(&app);
}

static void test_c25_a_device_without_internal_cache_keeps_null(void **state)
{
    (void)state;
    run_complete(run_internal_cache_disabled, NULL);
    CHECK_EQUAL(report_number("summary", "substituted"), 0);
}

/* --- C27: many caches --- */

static void run_thousand_caches(void *context)
{
    (void)context;
    struct app app;
    VkPipelineCache caches[1000];
    app_open(&app);
    for (uint32_t i = 0; i < 1000; i++) {
        caches[i] = app_cache_empty(&app);
        app_compile(&app, caches[i], i, 1);
    }
    uint32_t alive = fault_live_objects(VK_OBJECT_TYPE_PIPELINE_CACHE);
    CHECK_SAY(alive >= 1000 && alive <= 1040, "%u caches alive", alive);
    for (uint32_t i = 0; i < 1000; i++)
        app_cache_destroy(&app, caches[i]);
    app_close(&app);
}

static void test_c27_a_thousand_caches_cost_a_few_more(void **state)
{
    (void)state;
    run_complete(run_thousand_caches, NULL);
}

/* --- C35, C42: deferred operations --- */

static void run_deferred(void *context)
{
    (void)context;
    struct app app;
    struct app_config config = {.extensions = ray_tracing_extensions};
    struct app_ray_tracing rays;
    VkPipeline pipeline;
    VkDeferredOperationKHR operation;
    app_open_with(&app, &config);
    PFN_vkCreateDeferredOperationKHR create =
        (PFN_vkCreateDeferredOperationKHR)app_command(&app, "vkCreateDeferredOperationKHR");
    PFN_vkDeferredOperationJoinKHR join =
        (PFN_vkDeferredOperationJoinKHR)app_command(&app, "vkDeferredOperationJoinKHR");
    PFN_vkDestroyDeferredOperationKHR destroy =
        (PFN_vkDestroyDeferredOperationKHR)app_command(&app, "vkDestroyDeferredOperationKHR");
    CHECK(create && join && destroy);
    app_ray_tracing_init(&rays, &app, 3);
    CHECK_EQUAL(create(app.device, NULL, &operation), VK_SUCCESS);
    CHECK_EQUAL(app_ray_tracing_create(&app, operation, VK_NULL_HANDLE, &rays, &pipeline),
                VK_OPERATION_DEFERRED_KHR);
    struct fault_record record = driver_last("vkCreateRayTracingPipelinesKHR");
    CHECK(record.infos == &rays.info);
    CHECK_EQUAL(record.chained, FAULT_CHAINED_FEEDBACK);
    CHECK(record.cache != 0);

    /* The rule makes this one fail with the cache that stands in: it is replaced while the operation still
     * has it. */
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    CHECK_EQUAL(driver_count("vkDestroyPipelineCache"), 0);
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    CHECK(driver_last("vkCreateComputePipelines").cache != record.cache);

    CHECK_EQUAL(join(app.device, operation), VK_SUCCESS);
    CHECK(rays.feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT);
    destroy(app.device, operation, NULL);
    app_pipeline_destroy(&app, pipeline);
    vkDestroyShaderModule(app.device, rays.shader, NULL);
    app_close(&app);
}

static void test_c35_c42_deferred_operation_keeps_what_it_was_given(void **state)
{
    (void)state;
    driver_set("fault=vkCreateComputePipelines,call=1,result=-13");
    run_complete(run_deferred, NULL);
    CHECK_EQUAL(report_number("summary", "poisoned"), 1);
}

static void run_deferred_only(void *context)
{
    bool *warm = context;
    struct app app;
    struct app_config config = {.extensions = ray_tracing_extensions};
    struct app_ray_tracing rays;
    VkPipeline pipeline;
    VkDeferredOperationKHR operation;
    app_open_with(&app, &config);
    app_ray_tracing_init(&rays, &app, 3);
    CHECK_EQUAL(((PFN_vkCreateDeferredOperationKHR)app_command(&app, "vkCreateDeferredOperationKHR"))(
                    app.device, NULL, &operation),
                VK_SUCCESS);
    CHECK_EQUAL(app_ray_tracing_create(&app, operation, VK_NULL_HANDLE, &rays, &pipeline),
                VK_OPERATION_DEFERRED_KHR);
    CHECK_EQUAL(((PFN_vkDeferredOperationJoinKHR)app_command(&app, "vkDeferredOperationJoinKHR"))(app.device,
                                                                                                  operation),
                VK_SUCCESS);
    CHECK_EQUAL(fault_cache_hits(), *warm ? 1 : 0);
    ((PFN_vkDestroyDeferredOperationKHR)app_command(&app, "vkDestroyDeferredOperationKHR"))(app.device,
                                                                                            operation, NULL);
    app_pipeline_destroy(&app, pipeline);
    vkDestroyShaderModule(app.device, rays.shader, NULL);
    app_close(&app);
}

static void test_c35_what_a_deferred_operation_compiled_is_stored(void **state)
{
    (void)state;
    bool warm = false;
    run_complete(run_deferred_only, &warm);
    warm = true;
    run_complete(run_deferred_only, &warm);
}

/* --- C48 and poisonings: creations that fail --- */

static void run_one_fails(void *context)
{
    (void)context;
    struct app app;
    VkPipeline pipeline;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    uint64_t cache = driver_last("vkCreateComputePipelines").cache;
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 1, 1, 0, NULL, &pipeline), VK_ERROR_UNKNOWN);
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 3);
    app_compile(&app, VK_NULL_HANDLE, 2, 1);
    CHECK(driver_last("vkCreateComputePipelines").cache == cache);
    app_close(&app);
}

static void test_c48_failing_with_and_without_is_the_applications_error(void **state)
{
    (void)state;
    driver_set("fault=vkCreateComputePipelines,call=2-3,result=-13");
    run_complete(run_one_fails, NULL);
    CHECK_EQUAL(report_number("summary", "poisoned"), 0);
    CHECK_EQUAL(report_number("summary", "retries"), 1);
    CHECK_EQUAL(store_count(".vkcache"), 1);
}

static void run_two_poisonings(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, 1); /* fails with the loaded cache, not without */
    app_compile(&app, VK_NULL_HANDLE, 1, 1); /* fails with the live one, not without */
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 4);
    app_compile(&app, VK_NULL_HANDLE, 2, 1);
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 5);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").cache, 0);
    app_close(&app);
}

static void test_two_poisonings_end_substitution(void **state)
{
    (void)state;
    make_store();
    driver_set("fault=vkCreateComputePipelines,when=data,result=-13;"
               "fault=vkCreateComputePipelines,when=nodata,call=2,result=-1");
    run_complete(run_two_poisonings, NULL);
    CHECK_EQUAL(report_number("summary", "poisoned"), 2);
    CHECK_EQUAL(report_number("summary", "retries"), 2);
    CHECK_EQUAL(lines_count(LOG_FILE, "substitution is off for this device", ""), 1);
}

static void run_one_poisoning(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    uint64_t first = driver_last("vkCreateComputePipelines").cache;
    CHECK_EQUAL(first, 0); /* the try without */
    app_compile(&app, VK_NULL_HANDLE, 1, 1);
    uint64_t second = driver_last("vkCreateComputePipelines").cache;
    CHECK(second != 0);
    app_compile(&app, VK_NULL_HANDLE, 1, 1);
    CHECK_EQUAL(driver_last("vkCreateComputePipelines").hits, 1);
    app_close(&app);
}

static void test_one_poisoning_replaces_the_cache(void **state)
{
    (void)state;
    driver_set("fault=vkCreateComputePipelines,call=1,result=-3");
    run_complete(run_one_poisoning, NULL);
    CHECK_EQUAL(report_number("summary", "poisoned"), 1);
}

static void test_a_poisoned_store_is_not_offered_again(void **state)
{
    (void)state;
    make_store();
    driver_set("fault=vkCreateComputePipelines,when=data,result=-13");
    run_complete(run_own_feedback, NULL);
    CHECK_EQUAL(report_number("summary", "poisoned"), 1);
    CHECK_EQUAL(report_number("summary", "substituted"), 0);
    CHECK_EQUAL(lines_count(LOG_FILE, "keeps nothing", ""), 0);
    driver_set("");
    run_complete(run_own_feedback, NULL);
    CHECK_EQUAL(report_rejected("quarantined"), 1);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
    run_complete(run_own_feedback, NULL);
    CHECK_EQUAL(report_number("summary", "hits"), 1);
}

/* Results that say nothing about the cache are not tried again. */
static void run_other_error(void *context)
{
    (void)context;
    struct app app;
    VkPipeline pipeline;
    app_open(&app);
    CHECK_EQUAL(app_compute(&app, VK_NULL_HANDLE, 0, 1, 0, NULL, &pipeline), VK_ERROR_FEATURE_NOT_PRESENT);
    CHECK_EQUAL(driver_count("vkCreateComputePipelines"), 1);
    app_close(&app);
}

static void test_other_errors_pass_at_once(void **state)
{
    (void)state;
    driver_set("fault=vkCreateComputePipelines,result=-8");
    run_complete(run_other_error, NULL);
    CHECK_EQUAL(report_number("summary", "retries"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_summary_counts_pipelines_hits_and_misses),
        HARNESS_TEST(test_the_applications_own_feedback_is_counted_too),
        HARNESS_TEST(test_old_applications_are_counted_through_the_extension),
        HARNESS_TEST(test_drivers_without_feedback_are_counted_as_unknown),
        HARNESS_TEST(test_graphics_compute_and_ray_tracing_are_served),
        HARNESS_TEST(test_substitute_off),
        HARNESS_TEST(test_c24_compile_required_is_unchanged_and_a_miss),
        HARNESS_TEST(test_c24_a_warm_store_makes_compiling_unnecessary),
        HARNESS_TEST(test_c43_compile_required_never_waits_for_the_load),
        HARNESS_TEST(test_c43_nor_where_the_flag_is_in_flags2),
        HARNESS_TEST(test_load_timeout_bounds_the_first_creation),
        HARNESS_TEST(test_c25_capture_data_keeps_null),
        HARNESS_TEST(test_c25_pipeline_binaries_keep_null),
        HARNESS_TEST(test_c25_a_device_without_internal_cache_keeps_null),
        HARNESS_TEST(test_c27_a_thousand_caches_cost_a_few_more),
        HARNESS_TEST(test_c35_c42_deferred_operation_keeps_what_it_was_given),
        HARNESS_TEST(test_c35_what_a_deferred_operation_compiled_is_stored),
        HARNESS_TEST(test_c48_failing_with_and_without_is_the_applications_error),
        HARNESS_TEST(test_two_poisonings_end_substitution),
        HARNESS_TEST(test_one_poisoning_replaces_the_cache),
        HARNESS_TEST(test_a_poisoned_store_is_not_offered_again),
        HARNESS_TEST(test_other_errors_pass_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
