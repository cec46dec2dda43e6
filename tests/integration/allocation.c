/* Memory that can't be had: every allocation of the layer fails once, alone and with all that follow.
 * Creating an instance or a device may then fail cleanly; everything else works as it does without the layer.
 * Nothing leaks (a leak checker looks in the sanitized builds). P18, C31.
 *
 * The layer's objects are linked into this program, with the allocating functions wrapped (see
 * CMakeLists.txt). */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "fault_driver.h"
#include "mock_loader.h"
#include "sandbox.h"

#define PIPELINES 40 /* in one call: more than the layer keeps on its stack */
#define ALLOCATIONS_MAX 2000

/* --- The wrapped functions --- */

static atomic_bool armed;
static atomic_uint allocations; /* since armed */
static unsigned failing;        /* the how manieth fails */
static bool failing_on;         /* ... and all that follow */

static bool fails(void)
{
    if (!atomic_load(&armed))
        return false;
    unsigned number = atomic_fetch_add(&allocations, 1) + 1;
    bool now = failing_on ? number >= failing : number == failing;
    if (now)
        errno = ENOMEM;
    return now;
}

#define WRAP(type, name, declared, passed, failed)                                                           \
    type __real_##name declared;                                                                             \
    __attribute__((visibility("default"))) type __wrap_##name declared;                                      \
    type __wrap_##name declared                                                                              \
    {                                                                                                        \
        return fails() ? (failed) : __real_##name passed;                                                    \
    }
WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *memory, size_t size), (memory, size), NULL)
WRAP(char *, strdup, (const char *text), (text), NULL)
WRAP(char *, strndup, (const char *text, size_t size), (text, size), NULL)
WRAP(FILE *, open_memstream, (char **memory, size_t *size), (memory, size), NULL)
WRAP(DIR *, fdopendir, (int fd), (fd), NULL)
WRAP(int, atexit, (void (*handler)(void)), (handler), -1)
WRAP(int, pthread_atfork, (void (*before)(void), void (*parent)(void), void (*child)(void)),
     (before, parent, child), ENOMEM)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument),
     (thread, attributes, body, argument), EAGAIN)

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *name);

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

/* --- An application's life under shortage --- */

static VkPipelineCache create_cache(struct app *app, size_t size, const void *data)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = size, .pInitialData = data};
    VkPipelineCache cache = VK_NULL_HANDLE;
    CHECK(app->CreatePipelineCache(app->device, &info, NULL, &cache) == VK_SUCCESS && cache);
    return cache;
}

static void create_many(struct app *app, VkPipelineCache cache)
{
    VkComputePipelineCreateInfo infos[PIPELINES];
    VkPipeline pipelines[PIPELINES];
    for (int i = 0; i < PIPELINES; i++)
        infos[i] = (VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = app->shader,
                      .pName = "main"},
            .layout = app->layout};
    CHECK(app->CreateComputePipelines(app->device, cache, PIPELINES, infos, NULL, pipelines) == VK_SUCCESS);
    for (int i = 0; i < PIPELINES; i++)
        app->DestroyPipeline(app->device, pipelines[i], NULL);
}

static void use_device(struct app *app)
{
    static unsigned char data[1 << 16];
    size_t size = sizeof(data);
    VkPipelineCache empty = create_cache(app, 0, NULL);
    app_use_pipelines(app, empty, 3);
    app_use_pipelines(app, VK_NULL_HANDLE, 3);
    /* One that no run before had, so that there is something to save. */
    app->DestroyPipeline(app->device, app_create_pipeline(app, VK_NULL_HANDLE, (uint32_t)getpid()), NULL);
    create_many(app, VK_NULL_HANDLE);
    CHECK(app->GetPipelineCacheData(app->device, empty, &size, data) == VK_SUCCESS && size > 32);
    VkPipelineCache loaded = create_cache(app, size, data);
    create_many(app, loaded);
    CHECK(app->MergePipelineCaches(app->device, empty, 1, &loaded) == VK_SUCCESS);
    app->DestroyPipelineCache(app->device, empty, NULL);
    app->DestroyPipelineCache(app->device, loaded, NULL);
}

static void try_device(struct app *app)
{
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    static const char *const name = "VK_KHR_maintenance1";
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = &name};
    VkResult result = app->CreateDevice(app->physical, &info, NULL, &app->device);
    if (result == VK_SUCCESS) {
        app->DestroyDevice = (PFN_vkDestroyDevice)app->GetDeviceProcAddr(app->device, "vkDestroyDevice");
        app->DestroyDevice(app->device, NULL);
    } else {
        CHECK_MESSAGE(result == VK_ERROR_OUT_OF_HOST_MEMORY, "vkCreateDevice: %d", result);
    }
}

static void try_instance(struct app *app, const VkInstanceCreateInfo *info)
{
    VkResult result = app->CreateInstance(info, NULL, &app->instance);
    if (result == VK_SUCCESS) {
        ((PFN_vkDestroyInstance)app->GetInstanceProcAddr(app->instance, "vkDestroyInstance"))(app->instance,
                                                                                              NULL);
    } else {
        CHECK_MESSAGE(result == VK_ERROR_OUT_OF_HOST_MEMORY, "vkCreateInstance: %d", result);
    }
}

enum part { PART_INSTANCE, PART_DEVICE, PART_USE };

struct shortage {
    enum part part;
    unsigned failing; /* 0: none fails */
    bool failing_on;
    atomic_uint *allocations; /* how many there were; shared with the parent */
};

static void arm(const struct shortage *shortage)
{
    failing = shortage->failing ? shortage->failing : UINT32_MAX;
    failing_on = shortage->failing_on;
    atomic_store(&allocations, 0);
    atomic_store(&armed, true);
}

static void live(void *argument)
{
    const struct shortage *shortage = argument;
    const struct mock_loader mock = {.layer_get_instance_proc = vkGetInstanceProcAddr,
                                     .layer_get_device_proc = vkGetDeviceProcAddr,
                                     .driver = FAULT_LIBRARY};
    /* Vulkan 1.1: the layer adds an extension of its own to vkCreateDevice. */
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "short of memory",
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    struct app app;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "debug", 1);
    setenv("VK_ROBUST_CACHE_READ_DIRS", sandbox_path(&sandbox, "shipped"), 1);
    setenv("VK_LAYER_SETTINGS_PATH", sandbox_path(&sandbox, "vk_layer_settings.txt"), 1);
    mock_loader_open(&app, &mock);
    if (shortage->part == PART_INSTANCE) {
        arm(shortage);
        try_instance(&app, &info);
    }
    if (shortage->part != PART_INSTANCE)
        app_create_instance(&app, &info);
    if (shortage->part == PART_DEVICE) {
        arm(shortage);
        try_device(&app);
    }
    if (shortage->part == PART_USE) {
        app_create_device(&app, NULL);
        app_create_shader(&app);
        arm(shortage);
        use_device(&app);
        app_destroy_device(&app);
    }
    atomic_store(&armed, false);
    if (shortage->part != PART_INSTANCE)
        app_destroy_instance(&app);
    *shortage->allocations = atomic_load(&allocations);
    CHECK(fault_live_objects(VK_OBJECT_TYPE_UNKNOWN) == 0);
    CHECK(fault_journal_events(FAULT_EVENT_LEAK) == 0 && fault_journal_events(FAULT_EVENT_MISUSE) == 0);
}

static void run(struct shortage *shortage)
{
    if (!child_run(live, shortage, sandbox_path(&sandbox, "stderr")))
        fail_msg("allocation %u%s", shortage->failing, shortage->failing_on ? " and all that follow" : "");
}

/* Every allocation of this part fails in turn. */
static void run_out_of_memory(enum part part)
{
    atomic_uint *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    struct shortage shortage = {.part = PART_USE, .allocations = shared};
    sandbox_write(sandbox_path(&sandbox, "vk_layer_settings.txt"), "robust_cache.log_level = debug\n");
    run(&shortage); /* so that there is a store */
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ".vkcache"), 1);
    shortage.part = part;
    for (int on = 0; on < 2; on++) {
        shortage.failing_on = on;
        shortage.failing = 0;
        run(&shortage);
        unsigned count = *shared;
        print_message("%u allocations\n", count);
        assert_in_range(count, 2, ALLOCATIONS_MAX);
        for (shortage.failing = 1; shortage.failing <= count; shortage.failing++)
            run(&shortage);
    }
    munmap(shared, sizeof(*shared));
}

static void test_instance(void **state)
{
    (void)state;
    run_out_of_memory(PART_INSTANCE);
}

static void test_device(void **state)
{
    (void)state;
    run_out_of_memory(PART_DEVICE);
}

static void test_use(void **state)
{
    (void)state;
    run_out_of_memory(PART_USE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_instance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_use, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
