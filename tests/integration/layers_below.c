/* Other layers below this one. Validation finds nothing to say about the calls that the layer makes of its
 * own (P10); and whatever lies below, the store is the same one (C44). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
#include "fault_driver.h"
#include "sandbox.h"

#define VALIDATION "VK_LAYER_KHRONOS_validation"
#define MANGOHUD_MANIFEST "/usr/share/vulkan/implicit_layer.d/MangoHud.json"
#define PIPELINES 8

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

/* --- P10 --- */

static unsigned complaints;

static VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT type,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data, void *context)
{
    (void)severity;
    (void)context;
    if (!(type & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT))
        return VK_FALSE;
    complaints++;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

struct validated {
    const char *drivers;
    uint32_t api_version;
    bool wrong; /* the application makes a mistake: validation must see it through the layer */
};

static void create_instance(struct app *app, const struct validated *test,
                            VkDebugUtilsMessengerEXT *messenger)
{
    static const char *const extension = "VK_EXT_debug_utils";
    static const char *const layer = VALIDATION;
    const VkDebugUtilsMessengerCreateInfoEXT messages = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear,
    };
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "validated",
                                           .apiVersion = test->api_version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &messages,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = 1,
                                       .ppEnabledLayerNames = &layer,
                                       .enabledExtensionCount = 1,
                                       .ppEnabledExtensionNames = &extension};
    app_create_instance(app, &info);
    CHECK(((PFN_vkCreateDebugUtilsMessengerEXT)app_instance_command(app, "vkCreateDebugUtilsMessengerEXT"))(
              app->instance, &messages, NULL, messenger) == VK_SUCCESS);
}

static VkPipelineCache create_cache(struct app *app, size_t size, const void *data)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = size, .pInitialData = data};
    VkPipelineCache cache;
    CHECK(app->CreatePipelineCache(app->device, &info, NULL, &cache) == VK_SUCCESS);
    return cache;
}

/* Everything that makes the layer call down in a way the application didn't. */
static void use_everything(struct app *app)
{
    static unsigned char data[1 << 20];
    size_t size = sizeof(data);
    VkPipelineCache empty = create_cache(app, 0, NULL);
    app_use_pipelines(app, empty, PIPELINES);
    app_use_pipelines(app, VK_NULL_HANDLE, PIPELINES);
    CHECK(app->GetPipelineCacheData(app->device, empty, &size, data) == VK_SUCCESS);
    VkPipelineCache loaded = create_cache(app, size, data);
    data[size / 2] ^= 1;
    VkPipelineCache damaged = create_cache(app, size, data);
    VkPipelineCache cut = create_cache(app, size / 2, data);
    const VkPipelineCache sources[] = {loaded, damaged, cut};
    CHECK(app->MergePipelineCaches(app->device, empty, 3, sources) == VK_SUCCESS);
    app_use_pipelines(app, empty, PIPELINES);
    app->DestroyPipelineCache(app->device, empty, NULL);
    app->DestroyPipelineCache(app->device, loaded, NULL);
    app->DestroyPipelineCache(app->device, damaged, NULL);
    app->DestroyPipelineCache(app->device, cut, NULL);
}

static void run_validated(void *argument)
{
    const struct validated *test = argument;
    struct app app;
    VkDebugUtilsMessengerEXT messenger;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, test->drivers);
    sandbox_add_manifest(&sandbox, "explicit_layer.d", VALIDATION_MANIFEST);
    setenv("VK_LOADER_DEBUG", "layer", 1);
    app_open(&app);
    create_instance(&app, test, &messenger);
    app_create_device(&app, NULL);
    use_everything(&app);
    CHECK(complaints == 0);
    if (test->wrong) {
        const VkPipelineCacheCreateInfo nonsense = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
        VkPipelineCache cache;
        if (app.CreatePipelineCache(app.device, &nonsense, NULL, &cache) == VK_SUCCESS)
            app.DestroyPipelineCache(app.device, cache, NULL);
        CHECK(complaints > 0);
        complaints = 0;
    }
    app_destroy_device(&app);
    ((PFN_vkDestroyDebugUtilsMessengerEXT)app_instance_command(&app, "vkDestroyDebugUtilsMessengerEXT"))(
        app.instance, messenger, NULL);
    app_destroy_instance(&app);
    CHECK(complaints == 0);
}

/* The loader tells of layers from the driver upwards. */
static void check_order(void)
{
    char *log = sandbox_read(sandbox_path(&sandbox, "stderr"));
    const char *own = strstr(log, "Insert instance layer \"VK_LAYER_ROBUST_cache\"");
    const char *validation = strstr(log, "Insert instance layer \"" VALIDATION "\"");
    assert_true(own && validation && validation < own);
    free(log);
}

static void require(const char *path)
{
    if (!sandbox_has(path)) {
        print_message("%s isn't there\n", path);
        skip();
    }
}

static void test_validation_is_silent(void **state)
{
    (void)state;
    static const char *const drivers[] = {FAULT_MANIFEST, LAVAPIPE_MANIFEST};
    static const uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_1, VK_API_VERSION_1_3};
    require(VALIDATION_MANIFEST);
    for (int driver = 0; driver < (sandbox_has(LAVAPIPE_MANIFEST) ? 2 : 1); driver++)
        for (int version = 0; version < 3; version++) {
            struct validated test = {.drivers = drivers[driver], .api_version = versions[version]};
            assert_true(child_run_within(run_validated, &test, sandbox_path(&sandbox, "stderr"), 10));
            check_order();
            test.wrong = true; /* and the store is warm */
            assert_true(child_run_within(run_validated, &test, sandbox_path(&sandbox, "stderr"), 10));
        }
}

/* --- C44 --- */

enum below {
    BELOW_NOTHING,
    BELOW_VALIDATION,
    BELOW_MANGOHUD,
};

struct visit {
    enum below below;
    uint32_t api_version;
    uint32_t hits; /* expected */
};

static void visit_store(void *argument)
{
    const struct visit *visit = argument;
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "warning", 1);
    setenv("VK_LOADER_DEBUG", "layer", 1);
    if (visit->below == BELOW_VALIDATION) {
        sandbox_add_manifest(&sandbox, "explicit_layer.d", VALIDATION_MANIFEST);
        setenv("VK_INSTANCE_LAYERS", VALIDATION, 1);
    } else if (visit->below == BELOW_MANGOHUD) {
        setenv("XDG_DATA_DIRS", sandbox_path(&sandbox, "below"), 1);
        setenv("MANGOHUD", "1", 1);
    }
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "visitor",
                                           .apiVersion = visit->api_version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    app_open(&app);
    app_create_instance(&app, &info);
    app_create_device(&app, NULL);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK_MESSAGE(fault_cache_hits() == visit->hits, "%u hits", (unsigned)fault_cache_hits());
    app_end(&app);
}

static void visit(enum below below, uint32_t api_version, uint32_t hits)
{
    struct visit argument = {.below = below, .api_version = api_version, .hits = hits};
    assert_true(child_run_within(visit_store, &argument, sandbox_path(&sandbox, "stderr"), 10));
    assert_int_equal(sandbox_count_lines(sandbox_path(&sandbox, "stderr"), "robust_cache: warning"), 0);
}

static unsigned stores(void)
{
    return sandbox_count_files(sandbox_path(&sandbox, "cache"), ".vkcache");
}

/* For an application of Vulkan 1.0, too, of whose device less can be known. */
static void test_same_store(void **state)
{
    (void)state;
    static const uint32_t versions[] = {VK_API_VERSION_1_3, VK_API_VERSION_1_0};
    require(VALIDATION_MANIFEST);
    for (unsigned i = 0; i < 2; i++) {
        visit(BELOW_VALIDATION, versions[i], 0);
        visit(BELOW_NOTHING, versions[i], PIPELINES);
        visit(BELOW_VALIDATION, versions[i], PIPELINES);
        check_order();
        assert_int_equal(stores(), i + 1);
    }
}

static void test_same_store_over_mangohud(void **state)
{
    (void)state;
    char text[PATH_MAX];
    require(MANGOHUD_MANIFEST);
    assert_int_equal(mkdir(sandbox_path(&sandbox, "below"), 0700), 0);
    assert_int_equal(mkdir(sandbox_path(&sandbox, "below/vulkan"), 0700), 0);
    assert_int_equal(mkdir(sandbox_path(&sandbox, "below/vulkan/implicit_layer.d"), 0700), 0);
    char *manifest = sandbox_read(MANGOHUD_MANIFEST);
    snprintf(text, sizeof(text), "%s", sandbox_path(&sandbox, "below/vulkan/implicit_layer.d/MangoHud.json"));
    sandbox_write(text, manifest);
    free(manifest);
    visit(BELOW_MANGOHUD, VK_API_VERSION_1_3, 0);
    char *log = sandbox_read(sandbox_path(&sandbox, "stderr"));
    const char *own = strstr(log, "Insert instance layer \"VK_LAYER_ROBUST_cache\"");
    const char *other = strstr(log, "Insert instance layer \"VK_LAYER_MANGOHUD");
    assert_true(own && other && other < own);
    free(log);
    visit(BELOW_NOTHING, VK_API_VERSION_1_3, PIPELINES);
    visit(BELOW_MANGOHUD, VK_API_VERSION_1_3, PIPELINES);
    assert_int_equal(stores(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_validation_is_silent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_store_over_mangohud, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("layers_below", tests, NULL, NULL);
}
