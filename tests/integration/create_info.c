/* What applications hand to create calls: in memory that can't be written, with structures nobody knows, with
 * little or nothing in it. P07, P08, P09, P13, P17. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "child.h"
#include "fault_driver.h"
#include "mock_loader.h"
#include "sandbox.h"

/* An extension's structure that no header has: extension 900, so 1000899000 and up. */
#define UNKNOWN_STRUCTURE ((VkStructureType)1000899001)
#define UNKNOWN_TEXT "1000899001"

static struct sandbox sandbox;

static int set_up(void **state)
{
    (void)state;
    sandbox_create(&sandbox);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

static void configure(const char *text)
{
    char problem[256] = "";
    CHECK_MESSAGE(fault_configure(text, problem, sizeof(problem)) == 0, "%s", problem);
}

/* --- Memory that can be filled once, and is read-only from then on --- */

struct arena {
    unsigned char *memory;
    size_t size;
    size_t used;
};

static void arena_create(struct arena *arena)
{
    arena->size = 65536;
    arena->used = 0;
    arena->memory = mmap(NULL, arena->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(arena->memory != MAP_FAILED);
}

static void *arena_put(struct arena *arena, const void *data, size_t size)
{
    void *place = arena->memory + arena->used;
    arena->used = (arena->used + size + 15) & ~(size_t)15;
    CHECK(arena->used <= arena->size);
    return memcpy(place, data, size);
}

#define PUT(arena, ...) arena_put(arena, &(__VA_ARGS__), sizeof(__VA_ARGS__))

static void arena_seal(struct arena *arena)
{
    CHECK(mprotect(arena->memory, arena->size, PROT_READ) == 0);
}

/* --- P07 --- */

/* A driver that answers a rare error when it sees the unknown structure proves that it was passed on. */
static void create_instance_read_only(void *unused)
{
    (void)unused;
    struct app app;
    struct arena arena;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    configure("fault=vkCreateInstance,when=chain:" UNKNOWN_TEXT ",result=-11");
    app_open(&app);
    arena_create(&arena);
    const VkValidationFeaturesEXT *last =
        PUT(&arena, (const VkValidationFeaturesEXT){.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT});
    const VkBaseInStructure *unknown =
        PUT(&arena, (const VkBaseInStructure){.sType = UNKNOWN_STRUCTURE, .pNext = (const void *)last});
    const VkValidationFlagsEXT *first =
        PUT(&arena,
            (const VkValidationFlagsEXT){.sType = VK_STRUCTURE_TYPE_VALIDATION_FLAGS_EXT, .pNext = unknown});
    const VkApplicationInfo *application =
        PUT(&arena, (const VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                              .pApplicationName = "read-only",
                                              .apiVersion = VK_API_VERSION_1_3});
    const VkInstanceCreateInfo *info =
        PUT(&arena, (const VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                 .pNext = first,
                                                 .pApplicationInfo = application});
    arena_seal(&arena);
    VkResult result = app.CreateInstance(info, NULL, &app.instance);
    CHECK_MESSAGE(result != VK_SUCCESS, "%d", result); /* the loader gives an error of its own */
    CHECK(fault_journal_count("vkCreateInstance") == 1);
    configure("");
    app_create_instance(&app, info);
    app_destroy_instance(&app);
    app_close(&app);
}

static void create_device_read_only(void *unused)
{
    (void)unused;
    struct app app;
    struct arena arena;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    configure("fault=vkCreateDevice,when=chain:" UNKNOWN_TEXT ",result=-10");
    app_open(&app);
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application};
    app_create_instance(&app, &instance);
    arena_create(&arena);
    const float *priority = PUT(&arena, (const float){1.0f});
    const VkDeviceQueueCreateInfo *queue =
        PUT(&arena, (const VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                    .queueCount = 1,
                                                    .pQueuePriorities = priority});
    const char *name = arena_put(&arena, "VK_KHR_maintenance1", sizeof("VK_KHR_maintenance1"));
    const char *const *names = PUT(&arena, (const char *const){name});
    const VkPhysicalDeviceFeatures2 *features =
        PUT(&arena, (const VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2});
    const VkBaseInStructure *unknown =
        PUT(&arena, (const VkBaseInStructure){.sType = UNKNOWN_STRUCTURE, .pNext = (const void *)features});
    const VkPhysicalDevice16BitStorageFeatures *first =
        PUT(&arena,
            (const VkPhysicalDevice16BitStorageFeatures){
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, .pNext = (void *)unknown});
    const VkDeviceCreateInfo *info =
        PUT(&arena, (const VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                               .pNext = first,
                                               .queueCreateInfoCount = 1,
                                               .pQueueCreateInfos = queue,
                                               .enabledExtensionCount = 1,
                                               .ppEnabledExtensionNames = names});
    arena_seal(&arena);
    VkResult result = app.CreateDevice(app.physical, info, NULL, &app.device);
    CHECK_MESSAGE(result == VK_ERROR_TOO_MANY_OBJECTS, "%d", result);
    configure("");
    app_create_device(&app, info);
    app_use_pipelines(&app, VK_NULL_HANDLE, 1);
    app_end(&app);
}

static void create_cache_read_only(void *unused)
{
    (void)unused;
    struct app app;
    struct arena arena;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    configure("fault=vkCreatePipelineCache,when=chain:" UNKNOWN_TEXT ",result=-10");
    app_begin(&app);
    arena_create(&arena);
    const VkBaseInStructure *unknown = PUT(&arena, (const VkBaseInStructure){.sType = UNKNOWN_STRUCTURE});
    const VkPipelineCacheCreateInfo *info =
        PUT(&arena, (const VkPipelineCacheCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                                      .pNext = unknown});
    const VkPipelineCacheCreateInfo *with_data =
        PUT(&arena, (const VkPipelineCacheCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                                      .pNext = unknown,
                                                      .initialDataSize = 64,
                                                      .pInitialData = info});
    arena_seal(&arena);
    VkPipelineCache cache;
    CHECK(app.CreatePipelineCache(app.device, info, NULL, &cache) == VK_ERROR_TOO_MANY_OBJECTS);
    CHECK(app.CreatePipelineCache(app.device, with_data, NULL, &cache) == VK_ERROR_TOO_MANY_OBJECTS);
    configure("");
    CHECK(app.CreatePipelineCache(app.device, with_data, NULL, &cache) == VK_SUCCESS);
    app.DestroyPipelineCache(app.device, cache, NULL);
    app_end(&app);
}

/* The feedback structure that the layer puts in front of the chain mustn't hide what is behind it. */
static void create_pipelines_read_only(void *unused)
{
    (void)unused;
    struct app app;
    struct arena arena;
    VkPipelineCreationFeedback feedback = {0}, stage_feedback = {0};
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    configure("fault=vkCreateComputePipelines,when=chain:" UNKNOWN_TEXT ",result=-10");
    app_begin(&app);
    app_create_shader(&app);
    arena_create(&arena);
    const VkBaseInStructure *unknown = PUT(&arena, (const VkBaseInStructure){.sType = UNKNOWN_STRUCTURE});
    const VkPipelineCreationFeedbackCreateInfo *own =
        PUT(&arena, (const VkPipelineCreationFeedbackCreateInfo){
                        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
                        .pNext = unknown,
                        .pPipelineCreationFeedback = &feedback,
                        .pipelineStageCreationFeedbackCount = 1,
                        .pPipelineStageCreationFeedbacks = &stage_feedback});
    const char *entry = arena_put(&arena, "main", sizeof("main"));
    VkComputePipelineCreateInfo pipelines[40] = {0};
    for (int i = 0; i < 40; i++)
        pipelines[i] = (VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .pNext = i % 2 ? (const void *)own : (const void *)unknown,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = app.shader,
                      .pName = entry},
            .layout = app.layout};
    const VkComputePipelineCreateInfo *infos = arena_put(&arena, pipelines, sizeof(pipelines));
    arena_seal(&arena);
    static const uint32_t counts[] = {1, 2, 40}; /* on the layer's stack, and beyond it */
    VkPipeline out[40];
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        CHECK(app.CreateComputePipelines(app.device, VK_NULL_HANDLE, counts[i], infos, NULL, out) ==
              VK_ERROR_TOO_MANY_OBJECTS);
    configure("");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        CHECK(app.CreateComputePipelines(app.device, VK_NULL_HANDLE, counts[i], infos, NULL, out) ==
              VK_SUCCESS);
        for (uint32_t k = 0; k < counts[i]; k++)
            app.DestroyPipeline(app.device, out[k], NULL);
    }
    CHECK(feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT);
    app_end(&app);
}

static void test_read_only_chains(void **state)
{
    (void)state;
    assert_true(child_run(create_instance_read_only, NULL, sandbox_path(&sandbox, "stderr")));
    assert_true(child_run(create_device_read_only, NULL, sandbox_path(&sandbox, "stderr")));
    assert_true(child_run(create_cache_read_only, NULL, sandbox_path(&sandbox, "stderr")));
    assert_true(child_run(create_pipelines_read_only, NULL, sandbox_path(&sandbox, "stderr")));
}

/* --- P08 --- */

static struct {
    bool seen;
    bool enabled_features;
    unsigned features2;
    unsigned feedback_names;
    uint32_t extensions;
} watched;

static void watch_device(const VkDeviceCreateInfo *info)
{
    memset(&watched, 0, sizeof(watched));
    watched.seen = true;
    watched.enabled_features = info->pEnabledFeatures != NULL;
    watched.extensions = info->enabledExtensionCount;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        watched.features2 += s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        watched.feedback_names +=
            strcmp(info->ppEnabledExtensionNames[i], "VK_EXT_pipeline_creation_feedback") == 0;
}

static void create_with_version(struct app *app, uint32_t version)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    app_create_instance(app, &info);
}

static void enable_features2(void *unused)
{
    (void)unused;
    static const char *const names[] = {"VK_EXT_pipeline_creation_feedback"};
    static const float priority = 1.0f;
    struct mock_loader mock = {.driver = FAULT_LIBRARY};
    struct app app;
    const VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    mock_loader_load_layer(&mock);
    mock_loader_open(&app, &mock);
    mock_loader_watch.create_device = watch_device;
    create_with_version(&app, VK_API_VERSION_1_1);

    app_create_device(&app, &info);
    CHECK(watched.seen && !watched.enabled_features && watched.features2 == 1);
    /* The layer's own wishes: that and synchronization2. */
    CHECK(watched.extensions == 2 && watched.feedback_names == 1);
    CHECK(!app.GetDeviceProcAddr(app.device, "vkCmdPipelineBarrier2KHR"));
    app_destroy_device(&app);

    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = names;
    app_create_device(&app, &info);
    CHECK(!watched.enabled_features && watched.features2 == 1);
    CHECK(watched.extensions == 2 && watched.feedback_names == 1); /* not once more */
    app_destroy_device(&app);
    app_destroy_instance(&app);

    /* From 1.3 on the command's structure needs no extension. */
    create_with_version(&app, VK_API_VERSION_1_3);
    info.enabledExtensionCount = 0;
    app_create_device(&app, &info);
    CHECK(watched.extensions == 0 && watched.features2 == 1);
    app_destroy_device(&app);
    app_destroy_instance(&app);
}

/* A driver that refuses what the layer added gets the application's own request; its answer to that is the
 * application's. */
static void refuse_own_wish(void *unused)
{
    (void)unused;
    struct mock_loader mock = {.driver = FAULT_LIBRARY};
    struct app app;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    configure("fault=vkCreateDevice,when=extension:VK_EXT_pipeline_creation_feedback,result=-7");
    mock_loader_load_layer(&mock);
    mock_loader_open(&app, &mock);
    mock_loader_watch.create_device = watch_device;
    create_with_version(&app, VK_API_VERSION_1_1);
    app_create_device(&app, NULL);
    CHECK(watched.extensions == 0);
    app_use_pipelines(&app, VK_NULL_HANDLE, 3);
    app_destroy_device(&app);
    configure("fault=vkCreateDevice,result=-3");
    const VkDeviceCreateInfo nothing = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    CHECK(app.CreateDevice(app.physical, &nothing, NULL, &app.device) == VK_ERROR_INITIALIZATION_FAILED);
    app_destroy_instance(&app);
}

static void test_features2(void **state)
{
    (void)state;
    assert_true(child_run(enable_features2, NULL, sandbox_path(&sandbox, "stderr")));
    assert_true(child_run(refuse_own_wish, NULL, sandbox_path(&sandbox, "stderr")));
}

/* --- P09 --- */

static void use_protected_queue(void *unused)
{
    (void)unused;
    static const float priority = 1.0f;
    struct app app;
    const VkPhysicalDeviceProtectedMemoryFeatures features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES, .protectedMemory = VK_TRUE};
    const VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT,
                                                .queueCount = 1,
                                                .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue_info};
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    configure("protected=1");
    app_open(&app);
    app_create_instance(&app, NULL);
    app_create_device(&app, &info);
    PFN_vkGetDeviceQueue2 get_queue =
        (PFN_vkGetDeviceQueue2)app.GetDeviceProcAddr(app.device, "vkGetDeviceQueue2");
    PFN_vkQueueSubmit submit = (PFN_vkQueueSubmit)app.GetDeviceProcAddr(app.device, "vkQueueSubmit");
    PFN_vkQueueWaitIdle wait = (PFN_vkQueueWaitIdle)app.GetDeviceProcAddr(app.device, "vkQueueWaitIdle");
    CHECK(get_queue && submit && wait);
    const VkDeviceQueueInfo2 wanted = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
                                       .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT};
    VkQueue queue = VK_NULL_HANDLE;
    get_queue(app.device, &wanted, &queue);
    CHECK(queue);
    const VkProtectedSubmitInfo protected_submit = {.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO,
                                                    .protectedSubmit = VK_TRUE};
    const VkSubmitInfo batch = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .pNext = &protected_submit};
    CHECK(submit(queue, 1, &batch, VK_NULL_HANDLE) == VK_SUCCESS);
    CHECK(wait(queue) == VK_SUCCESS);
    CHECK(fault_journal_count("vkQueueSubmit") == 1);
    app_end(&app);
}

static void test_protected_queue(void **state)
{
    (void)state;
    assert_true(child_run(use_protected_queue, NULL, sandbox_path(&sandbox, "stderr")));
}

/* --- P13 --- */

static void use_device_groups(void *drivers)
{
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    app_open(&app);
    CHECK(app.CreateInstance);
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceGroupProperties group = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES};
    VkDeviceGroupDeviceCreateInfo in_group = {.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO,
                                              .physicalDeviceCount = 1};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &in_group,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    CHECK(app.CreateInstance(&info, NULL, &app.instance) == VK_SUCCESS);
    app.DestroyInstance = (PFN_vkDestroyInstance)app_instance_command(&app, "vkDestroyInstance");
    app.CreateDevice = (PFN_vkCreateDevice)app_instance_command(&app, "vkCreateDevice");
    app.GetDeviceProcAddr = (PFN_vkGetDeviceProcAddr)app_instance_command(&app, "vkGetDeviceProcAddr");
    PFN_vkEnumeratePhysicalDeviceGroups groups =
        (PFN_vkEnumeratePhysicalDeviceGroups)app_instance_command(&app, "vkEnumeratePhysicalDeviceGroups");
    uint32_t count = 1;
    CHECK(groups(app.instance, &count, &group) >= 0 && count == 1);
    app.physical = group.physicalDevices[0];
    in_group.pPhysicalDevices = group.physicalDevices;
    app_create_device(&app, &device);
    app_use_pipelines(&app, VK_NULL_HANDLE, 3);
    app_end(&app);
}

static void test_device_groups_only(void **state)
{
    (void)state;
    assert_true(child_run(use_device_groups, FAULT_MANIFEST, sandbox_path(&sandbox, "stderr")));
    if (sandbox_has(LAVAPIPE_MANIFEST))
        assert_true(child_run(use_device_groups, LAVAPIPE_MANIFEST, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ".vkcache"), 1);
}

/* --- P17 --- */

enum old_application { NO_APPLICATION_INFO, VERSION_ZERO, VERSION_1_0, OLD_APPLICATIONS };

static void be_old(void *argument)
{
    const enum old_application kind = *(const enum old_application *)argument;
    struct app app;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = kind == VERSION_1_0 ? VK_API_VERSION_1_0 : 0};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = kind == NO_APPLICATION_INFO ? NULL : &application};
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_APP_ID", "old", 1);
    app_open(&app);
    app_create_instance(&app, &info);
    app_create_device(&app, NULL);
    app_use_pipelines(&app, VK_NULL_HANDLE, 5);
    app_end(&app);
}

static void test_old_applications(void **state)
{
    (void)state;
    for (enum old_application kind = 0; kind < OLD_APPLICATIONS; kind++) {
        assert_true(child_run(be_old, &kind, sandbox_path(&sandbox, "stderr")));
        assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), "old.vkcache"), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_only_chains, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_features2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_protected_queue, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_device_groups_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_applications, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("create_info", tests, NULL, NULL);
}
