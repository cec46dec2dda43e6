/* Android's loader: no manifest, no negotiation; the library is opened, asked and closed once before it is
 * used, and the instance's link has two members. P23. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "child.h"
#include "fault_driver.h"
#include "mock_loader.h"
#include "sandbox.h"

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

static void *open_library(void)
{
    void *library = dlopen(RC_LAYER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    CHECK_MESSAGE(library, "%s", dlerror());
    return library;
}

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    CHECK_MESSAGE(address, "%s", name);
    return address;
}

/* As in Android's layers_extensions.cpp: the layers, each one's instance extensions, then the same by the
 * device functions without a device; a library whose lists differ is refused. */
static void enumerate(void *library)
{
    PFN_vkEnumerateInstanceLayerProperties instance_layers;
    PFN_vkEnumerateInstanceExtensionProperties instance_extensions;
    PFN_vkEnumerateDeviceLayerProperties device_layers;
    PFN_vkEnumerateDeviceExtensionProperties device_extensions;
    *(void **)&instance_layers = symbol(library, "vkEnumerateInstanceLayerProperties");
    *(void **)&instance_extensions = symbol(library, "vkEnumerateInstanceExtensionProperties");
    *(void **)&device_layers = symbol(library, "vkEnumerateDeviceLayerProperties");
    *(void **)&device_extensions = symbol(library, "vkEnumerateDeviceExtensionProperties");

    VkLayerProperties by_instance[2], by_device[2];
    uint32_t count = 0;
    memset(by_instance, 0x55, sizeof(by_instance));
    memset(by_device, 0x55, sizeof(by_device));
    CHECK(instance_layers(&count, NULL) == VK_SUCCESS && count == 1);
    CHECK(instance_layers(&count, by_instance) == VK_SUCCESS && count == 1);
    count = 0;
    CHECK(device_layers(VK_NULL_HANDLE, &count, NULL) == VK_SUCCESS && count == 1);
    CHECK(device_layers(VK_NULL_HANDLE, &count, by_device) == VK_SUCCESS && count == 1);
    CHECK(memcmp(by_instance, by_device, sizeof(by_instance)) == 0);
    count = 0;
    CHECK(instance_layers(&count, by_instance) == VK_INCOMPLETE && count == 0);
    count = 2;
    CHECK(instance_layers(&count, by_instance) == VK_SUCCESS && count == 1);

    VkExtensionProperties extensions[2];
    count = 0;
    CHECK(instance_extensions(by_instance[0].layerName, &count, NULL) == VK_SUCCESS && count == 1);
    count = 0;
    CHECK(instance_extensions(by_instance[0].layerName, &count, extensions) == VK_INCOMPLETE && count == 0);
    count = 2;
    CHECK(instance_extensions(by_instance[0].layerName, &count, extensions) == VK_SUCCESS && count == 1);
    CHECK(strcmp(extensions[0].extensionName, "VK_EXT_layer_settings") == 0);
    CHECK(device_extensions(VK_NULL_HANDLE, by_instance[0].layerName, &count, NULL) == VK_SUCCESS &&
          count == 0);
}

static void use(void *library)
{
    struct mock_loader mock = {.driver = FAULT_LIBRARY, .android = true};
    struct app app;
    *(void **)&mock.layer_get_instance_proc = symbol(library, "vkGetInstanceProcAddr");
    *(void **)&mock.layer_get_device_proc = symbol(library, "vkGetDeviceProcAddr");
    mock_loader_open(&app, &mock);
    app_create_instance(&app, NULL);
    app_create_device(&app, NULL);
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache;
    CHECK(app.CreatePipelineCache(app.device, &info, NULL, &cache) == VK_SUCCESS);
    app_use_pipelines(&app, cache, 3);
    app_use_pipelines(&app, VK_NULL_HANDLE, 6);
    size_t size = 0;
    CHECK(app.GetPipelineCacheData(app.device, cache, &size, NULL) == VK_SUCCESS && size > 32);
    app.DestroyPipelineCache(app.device, cache, NULL);
    app_destroy_device(&app);
    app_destroy_instance(&app);
    CHECK(fault_live_objects(VK_OBJECT_TYPE_UNKNOWN) == 0);
}

static void open_close_open(void *unused)
{
    (void)unused;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    void *library = open_library();
    enumerate(library);
    CHECK(dlclose(library) == 0);
    library = open_library();
    use(library);
    CHECK(dlclose(library) == 0);
    library = open_library();
    use(library); /* a second instance after all of the first has gone */
}

static void test_protocol(void **state)
{
    (void)state;
    assert_true(child_run(open_close_open, NULL, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ".vkcache"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_protocol, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("android", tests, NULL, NULL);
}
