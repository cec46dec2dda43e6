/* vkGetPhysicalDeviceToolProperties: the layer lists itself once, before what is below. P20. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "child.h"
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

static VkPhysicalDeviceToolProperties empty_tool(void)
{
    return (VkPhysicalDeviceToolProperties){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES};
}

/* Whether `below` tools come behind the layer's own entry, in every way of asking. */
static void check_tools(const struct app *app, PFN_vkGetPhysicalDeviceToolProperties get, uint32_t below)
{
    VkPhysicalDeviceToolProperties tools[4] = {empty_tool(), empty_tool(), empty_tool(), empty_tool()};
    uint32_t count = 77, own = 0;
    CHECK_MESSAGE(get(app->physical, &count, NULL) == VK_SUCCESS && count == 1 + below, "%u tools", count);
    CHECK(count < 4);

    count = 0;
    CHECK(get(app->physical, &count, tools) == VK_INCOMPLETE && count == 0);
    CHECK(tools[0].name[0] == '\0');

    count = 1;
    CHECK(get(app->physical, &count, tools) == (below ? VK_INCOMPLETE : VK_SUCCESS) && count == 1);
    CHECK(strcmp(tools[0].layer, "VK_LAYER_ROBUST_cache") == 0);
    CHECK(tools[0].name[0] && tools[0].version[0] && tools[0].description[0] && tools[0].purposes);
    CHECK(tools[0].sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES && !tools[0].pNext);
    CHECK(tools[1].name[0] == '\0');

    count = 4;
    CHECK(get(app->physical, &count, tools) == VK_SUCCESS && count == 1 + below);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(tools[i].name[0]);
        own += strcmp(tools[i].layer, "VK_LAYER_ROBUST_cache") == 0;
    }
    CHECK(own == 1);
    CHECK(tools[count].name[0] == '\0');
}

static void list_tools(void *drivers)
{
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    app_open(&app);
    app_create_instance(&app, NULL);
    check_tools(&app,
                (PFN_vkGetPhysicalDeviceToolProperties)app_instance_command(
                    &app, "vkGetPhysicalDeviceToolProperties"),
                0);
    PFN_vkGetPhysicalDeviceToolPropertiesEXT alias =
        (PFN_vkGetPhysicalDeviceToolPropertiesEXT)app.GetInstanceProcAddr(
            app.instance, "vkGetPhysicalDeviceToolPropertiesEXT");
    if (alias)
        check_tools(&app, alias, 0);
    app_destroy_instance(&app);
    app_close(&app);
}

static void test_alone(void **state)
{
    (void)state;
    assert_true(child_run(list_tools, FAULT_MANIFEST, sandbox_path(&sandbox, "stderr")));
    if (sandbox_has(LAVAPIPE_MANIFEST))
        assert_true(child_run(list_tools, LAVAPIPE_MANIFEST, sandbox_path(&sandbox, "stderr")));
}

static void list_tools_over_others(void *count)
{
    struct mock_loader mock = {.driver = FAULT_LIBRARY, .tools = *(const uint32_t *)count};
    struct app app;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    mock_loader_load_layer(&mock);
    mock_loader_open(&app, &mock);
    app_create_instance(&app, NULL);
    check_tools(&app,
                (PFN_vkGetPhysicalDeviceToolProperties)app_instance_command(
                    &app, "vkGetPhysicalDeviceToolProperties"),
                mock.tools);
    app_destroy_instance(&app);
}

static void test_over_other_tools(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 3; count++)
        assert_true(child_run(list_tools_over_others, &count, sandbox_path(&sandbox, "stderr")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_over_other_tools, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("tools", tests, NULL, NULL);
}
