/* Objects come and go in any order, on any thread, or not at all. P01, P02, P03, C34.
 *
 * P11 (submit chains) is in sync_submit.c and test_submit.c, P12 (command pools) in sync_life.c; P21
 * (recording threads) is measured by bench_barriers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
#include "fault_driver.h"
#include "sandbox.h"

#define TWO_DRIVERS FAULT_MANIFEST ":" RADEON_MANIFEST

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

static void run(child_body body, const char *drivers)
{
    assert_true(child_run(body, (void *)drivers, sandbox_path(&sandbox, "stderr")));
}

static unsigned stores(void)
{
    return sandbox_count_files(sandbox_path(&sandbox, "cache/robust_cache"), ".vkcache");
}

static void check_nothing_left(void)
{
    CHECK_MESSAGE(fault_live_objects(VK_OBJECT_TYPE_UNKNOWN) == 0, "%u live",
                  fault_live_objects(VK_OBJECT_TYPE_UNKNOWN));
    CHECK(fault_journal_events(FAULT_EVENT_LEAK) == 0);
    CHECK(fault_journal_events(FAULT_EVENT_MISUSE) == 0);
}

/* --- P01 --- */

static void check_destroyed_once(const char *name, uint64_t handle)
{
    unsigned count = 0;
    struct fault_record record;
    for (uint32_t i = 0; i < fault_journal_size(); i++)
        count += fault_journal_get(i, &record) && strcmp(record.name, name) == 0 && record.handle == handle;
    CHECK_MESSAGE(count == 1, "%s: %u times", name, count);
}

/* One object behind every vkDestroy... that the layer hooks, and some that it doesn't. */
static void destroy_everything(void *drivers)
{
    static const char *const names[] = {"VK_KHR_surface", "VK_EXT_headless_surface"};
    static const char *const swapchain_name = "VK_KHR_swapchain";
    static const float priority = 1.0f;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &application,
                                                .enabledExtensionCount = 2,
                                                .ppEnabledExtensionNames = names};
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue,
                                            .enabledExtensionCount = 1,
                                            .ppEnabledExtensionNames = &swapchain_name};
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    app_open(&app);
    app_create_instance(&app, &instance_info);
    app_create_device(&app, &device_info);

    const VkHeadlessSurfaceCreateInfoEXT surface_info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface;
    CHECK(((PFN_vkCreateHeadlessSurfaceEXT)app_instance_command(&app, "vkCreateHeadlessSurfaceEXT"))(
              app.instance, &surface_info, NULL, &surface) == VK_SUCCESS);
    const VkSwapchainCreateInfoKHR swapchain_info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                                     .surface = surface,
                                                     .minImageCount = 2,
                                                     .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                                     .imageExtent = {64, 64},
                                                     .imageArrayLayers = 1,
                                                     .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                                     .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                                     .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                                     .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    VkSwapchainKHR swapchain;
    CHECK(((PFN_vkCreateSwapchainKHR)app.GetDeviceProcAddr(app.device, "vkCreateSwapchainKHR"))(
              app.device, &swapchain_info, NULL, &swapchain) == VK_SUCCESS);
    const VkPipelineCacheCreateInfo cache_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache caches[5];
    for (int i = 0; i < 5; i++)
        CHECK(app.CreatePipelineCache(app.device, &cache_info, NULL, &caches[i]) == VK_SUCCESS);
    VkPipeline with_cache = app_create_pipeline(&app, caches[0], 1);
    VkPipeline without_cache = app_create_pipeline(&app, VK_NULL_HANDLE, 2);

    app.DestroyPipeline(app.device, with_cache, NULL);
    app.DestroyPipeline(app.device, without_cache, NULL);
    for (int i = 0; i < 5; i++) {
        app.DestroyPipelineCache(app.device, caches[i], NULL);
        check_destroyed_once("vkDestroyPipelineCache", (uint64_t)(uintptr_t)caches[i]);
    }
    app.DestroyPipelineCache(app.device, VK_NULL_HANDLE, NULL);
    ((PFN_vkDestroySwapchainKHR)app.GetDeviceProcAddr(app.device, "vkDestroySwapchainKHR"))(app.device,
                                                                                            swapchain, NULL);
    app_destroy_device(&app);
    ((PFN_vkDestroySurfaceKHR)app_instance_command(&app, "vkDestroySurfaceKHR"))(app.instance, surface, NULL);
    app_destroy_instance(&app);

    check_destroyed_once("vkDestroySwapchainKHR", (uint64_t)(uintptr_t)swapchain);
    check_destroyed_once("vkDestroyPipeline", (uint64_t)(uintptr_t)with_cache);
    check_destroyed_once("vkDestroyPipeline", (uint64_t)(uintptr_t)without_cache);
    CHECK(fault_journal_count("vkDestroyDevice") == 1);
    CHECK(fault_journal_count("vkDestroyInstance") == 1);
    /* The layer's own, too, end where they began. */
    CHECK(fault_journal_count("vkCreatePipelineCache") > 5);
    check_nothing_left();
}

static void test_destroy_chains_once(void **state)
{
    (void)state;
    run(destroy_everything, FAULT_MANIFEST);
}

/* --- P02 --- */

static void leave_everything(void *drivers)
{
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    app_begin(&app);
    for (uint32_t n = 0; n < 8; n++)
        app_create_pipeline(&app, VK_NULL_HANDLE, n);
}

static void test_exit_without_destroying(void **state)
{
    (void)state;
    run(leave_everything, FAULT_MANIFEST);
    assert_int_equal(stores(), 1);
}

static void test_exit_without_destroying_lavapipe(void **state)
{
    (void)state;
    if (!sandbox_has(LAVAPIPE_MANIFEST))
        skip();
    run(leave_everything, LAVAPIPE_MANIFEST);
    assert_int_equal(stores(), 0); /* it keeps nothing in its caches */
}

static void test_exit_without_destroying_radv(void **state)
{
    (void)state;
    if (!sandbox_has(RADEON_MANIFEST))
        skip();
    run(leave_everything, RADEON_MANIFEST);
    assert_int_equal(stores(), 1);
}

/* The worker is inside the driver when exit() begins, and comes out only afterwards: exit handlers run in
 * reverse order, so that this one is before the layer's. */
static void exit_while_saving(void *drivers)
{
    struct app app;
    char problem[256];
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    CHECK(fault_configure("fault=vkGetPipelineCacheData,when=fetch,call=2+,block", problem,
                          sizeof(problem)) == 0);
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, 8);
    CHECK(fault_wait_blocked(1, 4000));
    atexit(fault_release);
}

static void test_exit_while_saving(void **state)
{
    (void)state;
    assert_true(child_run_within(exit_while_saving, FAULT_MANIFEST, sandbox_path(&sandbox, "stderr"),
                                 2 * CHILD_WATCHDOG));
    assert_int_equal(stores(), 1);
}

/* --- P03 --- */

struct two_instances {
    bool first_goes_first;
};

static void live_in_two_instances(void *argument)
{
    const struct two_instances *order = argument;
    struct app apps[2];
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    for (int i = 0; i < 2; i++) {
        app_begin(&apps[i]);
        app_use_pipelines(&apps[i], VK_NULL_HANDLE, 4);
    }
    app_end(&apps[order->first_goes_first ? 0 : 1]);
    app_use_pipelines(&apps[order->first_goes_first ? 1 : 0], VK_NULL_HANDLE, 8);
    app_end(&apps[order->first_goes_first ? 1 : 0]);
    check_nothing_left();
}

static void test_two_instances(void **state)
{
    (void)state;
    struct two_instances order = {.first_goes_first = true};
    assert_true(child_run(live_in_two_instances, &order, sandbox_path(&sandbox, "stderr")));
    order.first_goes_first = false;
    assert_true(child_run(live_in_two_instances, &order, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(stores(), 1);
}

#define THREADS 8
#define ROUNDS 5

static void *come_and_go(void *argument)
{
    struct app app = *(const struct app *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        app_create_instance(&app, NULL);
        app_create_device(&app, NULL);
        app_use_pipelines(&app, VK_NULL_HANDLE, 3);
        app_destroy_device(&app);
        app_destroy_instance(&app);
    }
    return NULL;
}

static void live_in_threads(void *drivers)
{
    struct app app;
    pthread_t threads[THREADS];
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    app_open(&app);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, come_and_go, &app) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    app_close(&app);
    check_nothing_left();
}

static void test_threads(void **state)
{
    (void)state;
    assert_true(child_run_within(live_in_threads, FAULT_MANIFEST, sandbox_path(&sandbox, "stderr"), 20));
    assert_int_equal(stores(), 1);
}

/* --- C34 --- */

/* A device of each driver, pipelines in both, destroyed in this order. */
static void use_two_drivers(bool first_goes_first)
{
    struct app app, other;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, TWO_DRIVERS);
    app_open(&app);
    app_create_instance(&app, NULL);
    VkPhysicalDevice devices[4];
    uint32_t count = 4;
    CHECK(app.EnumeratePhysicalDevices(app.instance, &count, devices) == VK_SUCCESS && count == 2);
    other = app;
    app.physical = devices[0];
    other.physical = devices[1];
    app_create_device(&app, NULL);
    app_create_device(&other, NULL);
    app_use_pipelines(&app, VK_NULL_HANDLE, 4);
    app_use_pipelines(&other, VK_NULL_HANDLE, 4);
    app_destroy_device(first_goes_first ? &app : &other);
    app_destroy_device(first_goes_first ? &other : &app);
    app_destroy_instance(&app);
    app_close(&app);
}

static void use_two_drivers_either_way(void *unused)
{
    (void)unused;
    use_two_drivers(true);
    use_two_drivers(false);
}

static void test_two_drivers(void **state)
{
    (void)state;
    if (!sandbox_has(RADEON_MANIFEST))
        skip();
    run(use_two_drivers_either_way, NULL);
    assert_int_equal(stores(), 2);
    run(use_two_drivers_either_way, NULL);
    assert_int_equal(stores(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_destroy_chains_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exit_without_destroying, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exit_without_destroying_lavapipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exit_without_destroying_radv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exit_while_saving, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_instances, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_drivers, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
