/* Which commands there are: with the layer exactly those that there are without it. P05, P06. */
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
#include "mock_loader.h"
#include "sandbox.h"

#define EXTENSIONS_MAX 512

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

/* --- P06 --- */

/* What a child found, in memory shared with its parent. */
struct answers {
    bool done;
    bool without_instance[COMMAND_NAMES];
    bool instance[COMMAND_NAMES];
    bool device[COMMAND_NAMES];
};

struct question {
    enum layer_way way;
    const char *drivers;
    uint32_t api_version;
    bool all_extensions;
    struct answers *answers;
};

/* Extensions that are there with and without the layer. */
static uint32_t list_extensions(const VkExtensionProperties *properties, uint32_t count, const char **names)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(properties[i].extensionName, "VK_EXT_layer_settings") != 0)
            names[kept++] = properties[i].extensionName;
    return kept;
}

static void create_with_extensions(struct app *app, const struct question *question)
{
    static VkExtensionProperties of_instance[EXTENSIONS_MAX], of_device[EXTENSIONS_MAX];
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = question->api_version};
    VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &application};
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue};
    static const char *names[EXTENSIONS_MAX];
    uint32_t count = EXTENSIONS_MAX;
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)app->GetInstanceProcAddr(
            NULL, "vkEnumerateInstanceExtensionProperties");
    CHECK(enumerate(NULL, &count, of_instance) == VK_SUCCESS);
    if (question->all_extensions) {
        instance.enabledExtensionCount = list_extensions(of_instance, count, names);
        instance.ppEnabledExtensionNames = names;
    }
    app_create_instance(app, &instance);
    count = EXTENSIONS_MAX;
    CHECK(app->EnumerateDeviceExtensionProperties(app->physical, NULL, &count, of_device) == VK_SUCCESS);
    if (question->all_extensions) {
        device.enabledExtensionCount = list_extensions(of_device, count, names);
        device.ppEnabledExtensionNames = names;
    }
    app_create_device(app, &device);
}

static void ask(void *argument)
{
    const struct question *question = argument;
    struct answers *answers = question->answers;
    struct app app;
    sandbox_enter(&sandbox, question->way, question->drivers);
    app_open(&app);
    create_with_extensions(&app, question);
    for (int i = 0; i < COMMAND_NAMES; i++) {
        answers->without_instance[i] = app.GetInstanceProcAddr(NULL, command_names[i]) != NULL;
        answers->instance[i] = app.GetInstanceProcAddr(app.instance, command_names[i]) != NULL;
        answers->device[i] = app.GetDeviceProcAddr(app.device, command_names[i]) != NULL;
    }
    app_end(&app);
    answers->done = true;
}

static struct answers *answers_create(void)
{
    struct answers *answers =
        mmap(NULL, sizeof(*answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(answers != MAP_FAILED);
    return answers;
}

static unsigned differences(const char *what, const bool *without, const bool *with)
{
    unsigned count = 0;
    for (int i = 0; i < COMMAND_NAMES; i++)
        if (without[i] != with[i]) {
            print_error("%s: %s is %s with the layer\n", what, command_names[i], with[i] ? "there" : "NULL");
            count++;
        }
    return count;
}

static void compare(const char *drivers, uint32_t api_version, bool all_extensions)
{
    struct answers *answers[2] = {answers_create(), answers_create()};
    struct question question = {
        .drivers = drivers, .api_version = api_version, .all_extensions = all_extensions};
    for (int with = 0; with < 2; with++) {
        question.way = with ? LAYER_IMPLICIT : LAYER_NONE;
        question.answers = answers[with];
        assert_true(child_run(ask, &question, sandbox_path(&sandbox, "stderr")));
        assert_true(answers[with]->done);
    }
    assert_int_equal(differences("no instance", answers[0]->without_instance, answers[1]->without_instance),
                     0);
    assert_int_equal(differences("instance", answers[0]->instance, answers[1]->instance), 0);
    assert_int_equal(differences("device", answers[0]->device, answers[1]->device), 0);
    munmap(answers[0], sizeof(*answers[0]));
    munmap(answers[1], sizeof(*answers[1]));
}

static void compare_versions(const char *drivers)
{
    static const uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_1, VK_API_VERSION_1_2,
                                        VK_API_VERSION_1_3};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        compare(drivers, versions[i], false);
        compare(drivers, versions[i], true);
    }
}

static void test_parity_fault_driver(void **state)
{
    (void)state;
    compare_versions(FAULT_MANIFEST);
}

static void test_parity_lavapipe(void **state)
{
    (void)state;
    if (!sandbox_has(LAVAPIPE_MANIFEST))
        skip();
    compare_versions(LAVAPIPE_MANIFEST);
}

/* --- P05 --- */

/* Commands of the chain itself, which layers above ask for before there is an instance. */
static bool is_chain_command(const char *name)
{
    static const char *const names[] = {
        "vkGetInstanceProcAddr",
        "vkGetDeviceProcAddr",
        "vkCreateInstance",
        "vkCreateDevice",
        "vkEnumerateInstanceLayerProperties",
        "vkEnumerateInstanceExtensionProperties",
        "vkEnumerateDeviceLayerProperties",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void ask_without_instance(void *unused)
{
    (void)unused;
    struct mock_loader mock;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    mock_loader_load_layer(&mock);
    for (int i = 0; i < COMMAND_NAMES; i++) {
        PFN_vkVoidFunction answer = mock.layer_get_instance_proc(NULL, command_names[i]);
        CHECK_MESSAGE(!answer == !is_chain_command(command_names[i]), "%s", command_names[i]);
    }
    CHECK(!mock.layer_get_instance_proc(NULL, "vkNoSuchCommand"));
    CHECK(!mock.layer_get_instance_proc(NULL, ""));
}

/* Over a strict next layer, which accepts no handle that isn't alive and has nothing that wasn't enabled. */
static void ask_over_strict_layer(void *version)
{
    struct mock_loader mock = {.driver = FAULT_LIBRARY};
    struct app app;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = *(const uint32_t *)version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    unsigned own = 0;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    mock_loader_load_layer(&mock);
    mock_loader_open(&app, &mock);
    app_create_instance(&app, &info);
    for (int i = 0; i < COMMAND_NAMES; i++) {
        const char *name = command_names[i];
        PFN_vkVoidFunction answer = mock.layer_get_instance_proc(app.instance, name);
        PFN_vkVoidFunction next = mock_loader_next_instance_proc(app.instance, name);
        CHECK_MESSAGE(is_chain_command(name) || !answer == !next, "%s", name);
        own += answer != next;
    }
    CHECK(own > 100 && own < 400); /* the rest are the next layer's own pointers */
    app_create_device(&app, NULL);
    for (int i = 0; i < COMMAND_NAMES; i++)
        app.GetDeviceProcAddr(app.device, command_names[i]);
    app_use_pipelines(&app, VK_NULL_HANDLE, 3);
    app_destroy_device(&app);
    app_destroy_instance(&app);
}

static void test_no_instance(void **state)
{
    (void)state;
    assert_true(child_run(ask_without_instance, NULL, sandbox_path(&sandbox, "stderr")));
}

static void test_strict_next_layer(void **state)
{
    (void)state;
    uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_3};
    assert_true(child_run(ask_over_strict_layer, &versions[0], sandbox_path(&sandbox, "stderr")));
    assert_true(child_run(ask_over_strict_layer, &versions[1], sandbox_path(&sandbox, "stderr")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parity_fault_driver, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parity_lavapipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_instance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strict_next_layer, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("proc_addr", tests, NULL, NULL);
}
