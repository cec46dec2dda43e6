/* What the layer says reaches the application's debug-utils messengers, but never from inside the calls in
 * which old loaders hold their lock: a callback that calls Vulkan would hang there. P04, P19. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
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

/* What the callback sees and does. */
struct listener {
    struct app *app;
    VkDebugUtilsMessengerEXT handle;
    bool in_lifecycle_call; /* create or destroy of instance or device */
    unsigned heard;         /* the layer's messages */
    unsigned heard_too_early;
    char last[1024];
};

static VKAPI_ATTR VkBool32 VKAPI_CALL listen(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                             VkDebugUtilsMessageTypeFlagsEXT type,
                                             const VkDebugUtilsMessengerCallbackDataEXT *data, void *context)
{
    struct listener *listener = context;
    if (!data->pMessageIdName || strcmp(data->pMessageIdName, "robust_cache") != 0)
        return VK_FALSE;
    CHECK(type == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT);
    CHECK(severity <= VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT);
    listener->heard++;
    listener->heard_too_early += listener->in_lifecycle_call;
    snprintf(listener->last, sizeof(listener->last), "%s", data->pMessage);
    if (listener->in_lifecycle_call)
        return VK_TRUE;
    /* A messenger that calls Vulkan: the instance's half, the device's, and what the layer hooks. */
    VkPhysicalDeviceProperties properties;
    listener->app->GetPhysicalDeviceProperties(listener->app->physical, &properties);
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache;
    CHECK(listener->app->CreatePipelineCache(listener->app->device, &info, NULL, &cache) == VK_SUCCESS);
    listener->app->DestroyPipelineCache(listener->app->device, cache, NULL);
    return VK_TRUE; /* to be ignored: no call of the application is aborted for this */
}

static void begin(struct app *app, struct listener *listener)
{
    static const char *const extension = "VK_EXT_debug_utils";
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT |
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = listen,
        .pUserData = listener,
    };
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &messenger,
                                       .pApplicationInfo = &application,
                                       .enabledExtensionCount = 1,
                                       .ppEnabledExtensionNames = &extension};
    memset(listener, 0, sizeof(*listener));
    listener->app = app;
    app_open(app);
    listener->in_lifecycle_call = true;
    app_create_instance(app, &info);
    CHECK(((PFN_vkCreateDebugUtilsMessengerEXT)app_instance_command(app, "vkCreateDebugUtilsMessengerEXT"))(
              app->instance, &messenger, NULL, &listener->handle) == VK_SUCCESS);
    app_create_device(app, NULL);
    listener->in_lifecycle_call = false;
}

static void end(struct app *app, struct listener *listener)
{
    listener->in_lifecycle_call = true;
    app_destroy_device(app);
    ((PFN_vkDestroyDebugUtilsMessengerEXT)app_instance_command(app, "vkDestroyDebugUtilsMessengerEXT"))(
        app->instance, listener->handle, NULL);
    app_destroy_instance(app);
    CHECK(listener->heard_too_early == 0);
}

static VkPipelineCache create_from_garbage(struct app *app)
{
    unsigned char garbage[64] = {32, 0, 0, 0, 1, 0, 0, 0};
    memset(garbage + 8, 0xab, sizeof(garbage) - 8);
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = sizeof(garbage),
                                            .pInitialData = garbage};
    VkPipelineCache cache;
    CHECK(app->CreatePipelineCache(app->device, &info, NULL, &cache) == VK_SUCCESS);
    return cache;
}

static void hear_of_rejection(void *drivers)
{
    struct app app;
    struct listener listener;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    begin(&app, &listener);
    VkPipelineCache cache = create_from_garbage(&app);
    CHECK_MESSAGE(listener.heard >= 1 && strstr(listener.last, "is not used"), "heard %u, last: %s",
                  listener.heard, listener.last);
    app.DestroyPipelineCache(app.device, cache, NULL);
    end(&app, &listener);
}

static void test_rejection_is_heard(void **state)
{
    (void)state;
    assert_true(child_run(hear_of_rejection, FAULT_MANIFEST, sandbox_path(&sandbox, "stderr")));
    if (sandbox_has(LAVAPIPE_MANIFEST))
        assert_true(child_run(hear_of_rejection, LAVAPIPE_MANIFEST, sandbox_path(&sandbox, "stderr")));
}

/* What is raised while a device comes or goes (here that no folder can be found, and the device's summary)
 * waits for the next call that may be interrupted. */
static void hear_later(void *drivers)
{
    struct app app;
    struct listener listener;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    begin(&app, &listener);
    CHECK(listener.heard == 0);
    app_use_pipelines(&app, VK_NULL_HANDLE, 1);
    CHECK_MESSAGE(listener.heard == 1 && strstr(listener.last, "no folder for the store"), "heard %u: %s",
                  listener.heard, listener.last);
    listener.in_lifecycle_call = true;
    app_destroy_device(&app);
    app_create_device(&app, NULL);
    listener.in_lifecycle_call = false;
    CHECK(listener.heard == 1);
    app_use_pipelines(&app, VK_NULL_HANDLE, 1);
    /* The summary and the folder: what waits while a callback's own calls run comes after it. */
    CHECK_MESSAGE(listener.heard == 3, "heard %u: %s", listener.heard, listener.last);
    end(&app, &listener);
}

static void test_messages_wait(void **state)
{
    (void)state;
    assert_true(child_run(hear_later, FAULT_MANIFEST, sandbox_path(&sandbox, "stderr")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rejection_is_heard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_messages_wait, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
