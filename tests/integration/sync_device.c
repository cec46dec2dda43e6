/* What the barrier half asks of a device, and which commands it takes: nothing that the application could
 * see, nothing where it is off. P06, P07, P08. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "child.h"
#include "command_names.h"
#include "fault_driver.h"
#include "mock_loader.h"
#include "sandbox.h"

#define EXTENSIONS_MAX 512
/* An extension's structure that no header has: extension 900. */
#define UNKNOWN_STRUCTURE ((VkStructureType)1000899001)
#define SYNC2_STRUCTURE "1000314007"
#define SYNC2_EXTENSION VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME

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

static void run(child_body body)
{
    assert_true(child_run(body, NULL, sandbox_path(&sandbox, "stderr")));
}

static void configure(const char *text)
{
    char problem[256] = "";
    CHECK_MESSAGE(fault_configure(text, problem, sizeof(problem)) == 0, "%s", problem);
}

/* A loader of our own, in a child. */
static void enter(struct mock_loader *mock, struct app *app)
{
    static const struct mock_loader over_driver = {.driver = FAULT_LIBRARY};
    *mock = over_driver;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    mock_loader_load_layer(mock);
    mock_loader_open(app, mock);
}

static void create_instance(struct app *app, uint32_t version)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    app_create_instance(app, &info);
}

static const VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                   .queueCount = 1,
                                                   .pQueuePriorities = &(const float){1.0f}};

static VkDeviceCreateInfo device_info(const void *chain)
{
    return (VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = chain,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue_info};
}

/* --- Which commands are taken --- */

struct taken {
    bool by_device[COMMAND_NAMES]; /* vkGetDeviceProcAddr gives something of the layer's own */
    bool by_instance[COMMAND_NAMES];
};

static void create_with_all_extensions(struct app *app)
{
    static VkExtensionProperties properties[EXTENSIONS_MAX];
    static const char *names[EXTENSIONS_MAX];
    uint32_t count = EXTENSIONS_MAX;
    VkDeviceCreateInfo info = device_info(NULL);
    CHECK(app->EnumerateDeviceExtensionProperties(app->physical, NULL, &count, properties) == VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++)
        names[i] = properties[i].extensionName;
    info.enabledExtensionCount = count;
    info.ppEnabledExtensionNames = names;
    app_create_device(app, &info);
}

static void look(const struct mock_loader *mock, struct app *app, const char *cache, const char *barriers,
                 struct taken *out)
{
    setenv("VK_ROBUST_CACHE_CACHE", cache, 1);
    setenv("VK_ROBUST_CACHE_BARRIERS", barriers, 1);
    create_instance(app, VK_API_VERSION_1_3);
    create_with_all_extensions(app);
    PFN_vkGetDeviceProcAddr next =
        (PFN_vkGetDeviceProcAddr)mock_loader_next_instance_proc(app->instance, "vkGetDeviceProcAddr");
    for (int i = 0; i < COMMAND_NAMES; i++) {
        const char *name = command_names[i];
        out->by_device[i] = mock->layer_get_device_proc(app->device, name) != next(app->device, name);
        out->by_instance[i] = mock->layer_get_instance_proc(app->instance, name) !=
                              mock_loader_next_instance_proc(app->instance, name);
    }
    app_destroy_device(app);
    app_destroy_instance(app);
}

static int number_of(const char *name)
{
    for (int i = 0; i < COMMAND_NAMES; i++)
        if (strcmp(command_names[i], name) == 0)
            return i;
    CHECK_MESSAGE(false, "%s", name);
    return 0;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static bool is_of_caches(const char *name)
{
    return strstr(name, "PipelineCache");
}

/* What a device has and only this half looks at. */
static bool is_of_barriers(const char *name)
{
    static const char *const names[] = {"vkCreateImage",        "vkDestroyImage",
                                        "vkCreateImageView",    "vkDestroyImageView",
                                        "vkAllocateMemory",     "vkFreeMemory",
                                        "vkCreateRenderPass",   "vkDestroyRenderPass",
                                        "vkCreateFramebuffer",  "vkDestroyFramebuffer",
                                        "vkCreateSwapchainKHR", "vkGetSwapchainImagesKHR",
                                        "vkCreateCommandPool",  "vkDestroyCommandPool",
                                        "vkResetCommandPool",   "vkAllocateCommandBuffers",
                                        "vkFreeCommandBuffers", "vkBeginCommandBuffer",
                                        "vkEndCommandBuffer",   "vkResetCommandBuffer",
                                        "vkGetDeviceQueue",     "vkCreateSemaphore",
                                        "vkDestroySemaphore",   "vkDestroyFence",
                                        "vkResetFences",        NULL};
    return strncmp(name, "vkCmd", 5) == 0 || is_one_of(name, names);
}

static void compare_halves(void *unused)
{
    static const char *const always[] = {"vkDestroyDevice", "vkGetDeviceProcAddr", NULL};
    static struct taken off, caches, barriers, both, reports;
    struct mock_loader mock;
    struct app app;
    unsigned of_caches = 0, of_barriers = 0;
    (void)unused;
    enter(&mock, &app);
    look(&mock, &app, "false", "off", &off);
    look(&mock, &app, "true", "off", &caches);
    look(&mock, &app, "false", "repair", &barriers);
    look(&mock, &app, "true", "repair", &both);
    look(&mock, &app, "false", "report", &reports);
    for (int i = 0; i < COMMAND_NAMES; i++) {
        const char *name = command_names[i];
        CHECK_MESSAGE(off.by_device[i] == is_one_of(name, always), "%s", name);
        CHECK_MESSAGE(!(caches.by_device[i] || caches.by_instance[i]) || !is_of_barriers(name), "%s", name);
        CHECK_MESSAGE(!(off.by_instance[i]) || !(is_of_barriers(name) || is_of_caches(name)), "%s", name);
        CHECK_MESSAGE(!(barriers.by_device[i] || barriers.by_instance[i]) || !is_of_caches(name), "%s", name);
        CHECK_MESSAGE(both.by_device[i] == (caches.by_device[i] || barriers.by_device[i]), "%s", name);
        CHECK_MESSAGE(reports.by_device[i] == barriers.by_device[i], "%s", name);
        of_caches += caches.by_device[i];
        of_barriers += barriers.by_device[i];
    }
    CHECK(caches.by_device[number_of("vkCreatePipelineCache")]);
    CHECK(barriers.by_device[number_of("vkCreateImage")]);
    CHECK(barriers.by_device[number_of("vkCmdPipelineBarrier")]);
    CHECK(barriers.by_device[number_of("vkCmdDispatch")]);     /* before which pending barriers go down */
    CHECK(barriers.by_device[number_of("vkCmdBindPipeline")]); /* what shaders use */
    CHECK(barriers.by_device[number_of("vkCreateComputePipelines")]);
    CHECK_MESSAGE(of_caches > 10 && of_barriers > 100, "%u and %u", of_caches, of_barriers);
}

static void test_halves(void **state)
{
    (void)state;
    run(compare_halves);
}

/* --- What is asked of the driver --- */

/* Of the requests that came out of the layer: the last, and how many. */
static struct {
    unsigned requests;
    const void *chain; /* behind the loader's link */
    uint32_t extensions;
    unsigned named;      /* how often VK_KHR_synchronization2 is */
    unsigned structures; /* that can say something of the feature */
    bool enabled;
    VkPhysicalDeviceVulkan13Features features13;
} seen;

static void watch(const VkDeviceCreateInfo *info)
{
    unsigned requests = seen.requests + 1;
    memset(&seen, 0, sizeof(seen));
    seen.requests = requests;
    seen.extensions = info->enabledExtensionCount;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        seen.named += strcmp(info->ppEnabledExtensionNames[i], SYNC2_EXTENSION) == 0;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO) {
            seen.chain = s->pNext;
        } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES) {
            seen.structures++;
            seen.enabled |= ((const VkPhysicalDeviceSynchronization2Features *)s)->synchronization2 != 0;
        } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
            memcpy(&seen.features13, s, sizeof(seen.features13));
            seen.structures++;
            seen.enabled |= seen.features13.synchronization2 != 0;
        }
    }
}

/* Creates a device, looks at what came down and at what may be seen of it, and destroys it. `visible`: the
 * application may use vkCmdPipelineBarrier2 in this spelling. */
static void ask(const struct mock_loader *mock, struct app *app, const VkDeviceCreateInfo *info,
                const char *name, bool visible)
{
    seen.requests = 0;
    app_create_device(app, info);
    bool is_visible = mock->layer_get_device_proc(app->device, name) != NULL;
    CHECK_MESSAGE(is_visible == visible, "%s", name);
    app_use_pipelines(app, VK_NULL_HANDLE, 1);
    app_destroy_device(app);
}

static void begin(struct mock_loader *mock, struct app *app, const char *driver, uint32_t version)
{
    enter(mock, app);
    configure(driver);
    mock_loader_watch.create_device = watch;
    setenv("VK_ROBUST_CACHE_CACHE", "false", 1); /* which has wishes of its own */
    create_instance(app, version);
}

#define BARRIER "vkCmdPipelineBarrier2"
#define BARRIER_KHR "vkCmdPipelineBarrier2KHR"

static void ask_core(void *unused)
{
    struct mock_loader mock;
    struct app app;
    (void)unused;
    begin(&mock, &app, "", VK_API_VERSION_1_3);

    VkDeviceCreateInfo info = device_info(NULL);
    ask(&mock, &app, &info, BARRIER, true);
    CHECK(seen.requests == 1 && seen.structures == 1 && seen.enabled && seen.extensions == 0);
    ask(&mock, &app, &info, BARRIER_KHR, false);

    /* In the application's own structure, which stays as it is, and so does all else in it. */
    VkPhysicalDeviceVulkan12Features behind = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                               .timelineSemaphore = VK_TRUE};
    VkPhysicalDeviceVulkan13Features own = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                            .pNext = &behind,
                                            .dynamicRendering = VK_TRUE,
                                            .maintenance4 = VK_TRUE};
    VkPhysicalDeviceVulkan11Features front = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                              .pNext = &own};
    const VkPhysicalDeviceVulkan13Features before = own;
    info = device_info(&front);
    ask(&mock, &app, &info, BARRIER, true);
    CHECK(seen.requests == 1 && seen.structures == 1 && seen.enabled);
    CHECK(memcmp(&own, &before, sizeof(own)) == 0 && front.pNext == &own);
    seen.features13.synchronization2 = VK_FALSE;
    CHECK(memcmp(&seen.features13, &before, sizeof(before)) == 0); /* its pNext too */

    VkPhysicalDeviceSynchronization2Features one = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, .pNext = &behind};
    info = device_info(&one);
    ask(&mock, &app, &info, BARRIER, true);
    CHECK(seen.requests == 1 && seen.structures == 1 && seen.enabled && !one.synchronization2);

    /* Where the application says it itself there is nothing to add. */
    own.synchronization2 = VK_TRUE;
    info = device_info(&front);
    ask(&mock, &app, &info, BARRIER, true);
    CHECK(seen.chain == &front && seen.requests == 1);
    app_destroy_instance(&app);
}

static void ask_extension(void *unused)
{
    static const char *const names[] = {"VK_KHR_maintenance1", SYNC2_EXTENSION};
    struct mock_loader mock;
    struct app app;
    (void)unused;
    begin(&mock, &app, "api=1.2", VK_API_VERSION_1_3);

    VkDeviceCreateInfo info = device_info(NULL);
    ask(&mock, &app, &info, BARRIER_KHR, false);
    CHECK(seen.requests == 1 && seen.structures == 1 && seen.enabled && seen.named == 1);
    ask(&mock, &app, &info, "vkQueueSubmit2KHR", false);
    ask(&mock, &app, &info, "vkCmdSetEvent2KHR", false);

    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = names;
    ask(&mock, &app, &info, BARRIER_KHR, false);
    CHECK(seen.enabled && seen.named == 1 && seen.extensions == 2);

    info.enabledExtensionCount = 2;
    ask(&mock, &app, &info, BARRIER_KHR, true);
    CHECK(seen.enabled && seen.named == 1 && seen.extensions == 2);

    VkPhysicalDeviceSynchronization2Features own = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, .synchronization2 = VK_TRUE};
    info.pNext = &own;
    ask(&mock, &app, &info, BARRIER_KHR, true);
    CHECK(seen.chain == &own && seen.extensions == 2);
    app_destroy_instance(&app);

    /* The application's version counts where it is smaller than the device's. */
    configure("");
    create_instance(&app, VK_API_VERSION_1_1);
    info = device_info(NULL);
    ask(&mock, &app, &info, BARRIER_KHR, false);
    CHECK(seen.enabled && seen.named == 1);
    app_destroy_instance(&app);
}

/* Of another extension, but there only beside synchronization2. */
static void ask_for_marker(void *unused)
{
    static const char *const names[] = {"VK_AMD_buffer_marker"};
    struct mock_loader mock;
    struct app app;
    (void)unused;
    begin(&mock, &app, "api=1.2;show=VK_AMD_buffer_marker", VK_API_VERSION_1_3);
    VkDeviceCreateInfo info = device_info(NULL);
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = names;
    ask(&mock, &app, &info, "vkCmdWriteBufferMarker2AMD", false);
    CHECK(seen.enabled && seen.named == 1);
    app_destroy_instance(&app);
}

/* It may not be added, or isn't wanted. */
static void expect_nothing(const struct mock_loader *mock, struct app *app, const VkDeviceCreateInfo *info)
{
    ask(mock, app, info, BARRIER_KHR, false);
    CHECK(seen.requests == 1 && !seen.enabled && seen.named == 0 && seen.chain == info->pNext);
    app_destroy_instance(app);
}

static void ask_for_nothing(void *unused)
{
    struct mock_loader mock;
    struct app app;
    VkDeviceCreateInfo info = device_info(NULL);
    (void)unused;
    begin(&mock, &app, "hide=" SYNC2_STRUCTURE, VK_API_VERSION_1_3);
    expect_nothing(&mock, &app, &info);
    configure("api=1.2;hide=" SYNC2_EXTENSION);
    create_instance(&app, VK_API_VERSION_1_3);
    expect_nothing(&mock, &app, &info);
    configure("");
    /* Without VK_KHR_get_physical_device_properties2 nobody can ask for the feature. */
    create_instance(&app, VK_API_VERSION_1_0);
    expect_nothing(&mock, &app, &info);
    setenv("VK_ROBUST_CACHE_BARRIERS", "report", 1);
    create_instance(&app, VK_API_VERSION_1_3);
    expect_nothing(&mock, &app, &info);
    setenv("VK_ROBUST_CACHE_BARRIERS", "off", 1);
    create_instance(&app, VK_API_VERSION_1_3);
    expect_nothing(&mock, &app, &info);
    unsetenv("VK_ROBUST_CACHE_BARRIERS");

    /* A structure that can't be copied stands in front; one behind does no harm by itself, but where there is
     * one the half only reports. */
    VkPhysicalDeviceVulkan13Features own = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkBaseInStructure unknown = {.sType = UNKNOWN_STRUCTURE, .pNext = (const void *)&own};
    info = device_info(&unknown);
    create_instance(&app, VK_API_VERSION_1_3);
    expect_nothing(&mock, &app, &info);
    unknown.pNext = NULL;
    own.pNext = &unknown;
    info = device_info(&own);
    create_instance(&app, VK_API_VERSION_1_3);
    expect_nothing(&mock, &app, &info);
}

/* A driver that refuses gets the application's own request, and its answer to that counts. */
static void refuse(void *unused)
{
    struct mock_loader mock;
    struct app app;
    VkPhysicalDeviceVulkan13Features own = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkDeviceCreateInfo info = device_info(&own);
    (void)unused;
    begin(&mock, &app, "fault=vkCreateDevice,call=1,result=-8", VK_API_VERSION_1_3);
    ask(&mock, &app, &info, BARRIER, true);
    CHECK(seen.requests == 2 && !seen.enabled && seen.chain == &own);
    app_destroy_instance(&app);

    configure("api=1.2;fault=vkCreateDevice,when=extension:" SYNC2_EXTENSION ",result=-7");
    create_instance(&app, VK_API_VERSION_1_3);
    info = device_info(NULL);
    ask(&mock, &app, &info, BARRIER_KHR, false);
    CHECK(seen.requests == 2 && !seen.enabled && seen.extensions == 0 && !seen.chain);

    configure("api=1.2;fault=vkCreateDevice,call=1,result=-8;fault=vkCreateDevice,call=2,result=-9");
    seen.requests = 0;
    CHECK(app.CreateDevice(app.physical, &info, NULL, &app.device) == VK_ERROR_INCOMPATIBLE_DRIVER);
    CHECK(seen.requests == 2);
    app_destroy_instance(&app);
}

static void test_core(void **state)
{
    (void)state;
    run(ask_core);
}

static void test_extension(void **state)
{
    (void)state;
    run(ask_extension);
}

static void test_marker(void **state)
{
    (void)state;
    run(ask_for_marker);
}

static void test_nothing(void **state)
{
    (void)state;
    run(ask_for_nothing);
}

static void test_refusal(void **state)
{
    (void)state;
    run(refuse);
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_halves), DEVICE_TEST(test_core),    DEVICE_TEST(test_extension),
        DEVICE_TEST(test_marker), DEVICE_TEST(test_nothing), DEVICE_TEST(test_refusal),
    };
    return cmocka_run_group_tests_name("sync_device", tests, NULL, NULL);
}
