/* Settings through the real loader, from every place they may stand in, and which processes get hooks at all.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
#include "compat.h"
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

struct setting {
    const char *name;
    const char *value;
};

/* What one run of an application finds. */
struct run {
    enum layer_way way;
    struct setting environment[3];
    struct setting api; /* handed over in VkLayerSettingsCreateInfoEXT */
    const char *working_directory;
    bool hooked; /* expected */
};

static bool lies_in_layer(PFN_vkVoidFunction function)
{
    Dl_info found;
    CHECK(dladdr((const void *)(uintptr_t)function, &found));
    return strstr(found.dli_fname, "libVkLayer_robust_cache") != NULL;
}

static void create_instance(struct app *app, const struct setting *api)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "Some Game",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkLayerSettingEXT setting = {.pLayerName = "VK_LAYER_ROBUST_cache",
                                       .pSettingName = api->name,
                                       .type = VK_LAYER_SETTING_TYPE_STRING_EXT,
                                       .valueCount = 1,
                                       .pValues = &api->value};
    const VkLayerSettingsCreateInfoEXT settings = {
        .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT, .settingCount = 1, .pSettings = &setting};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    /* Not enabled: loaders before 1.3.272 don't know the extension and refuse it, whatever layers offer. */
    if (api->name)
        info.pNext = &settings;
    app_create_instance(app, &info);
}

static void run_application(void *argument)
{
    const struct run *run = argument;
    struct app app;
    sandbox_enter(&sandbox, run->way, FAULT_MANIFEST);
    for (int i = 0; i < 3; i++)
        if (run->environment[i].name)
            setenv(run->environment[i].name, run->environment[i].value, 1);
    if (run->working_directory)
        CHECK(chdir(run->working_directory) == 0);
    app_open(&app);
    create_instance(&app, &run->api);
    app_create_device(&app, NULL);
    CHECK(lies_in_layer((PFN_vkVoidFunction)app.CreatePipelineCache) == run->hooked);
    app_use_pipelines(&app, VK_NULL_HANDLE, 3);
    app_end(&app);
}

static void run(const struct run *run)
{
    assert_true(child_run(run_application, (void *)run, sandbox_path(&sandbox, "stderr")));
}

static unsigned stores_below(const char *folder)
{
    return sandbox_count_files(sandbox_path(&sandbox, folder), ".vkcache");
}

static unsigned all_lines(void)
{
    return sandbox_count_lines(sandbox_path(&sandbox, "stderr"), "robust_cache: ");
}

/* A path in storage that lasts for the test. */
static const char *path(const char *name)
{
    static char paths[16][PATH_MAX];
    static unsigned turn;
    char *out = paths[turn++ % 16];
    snprintf(out, PATH_MAX, "%s", sandbox_path(&sandbox, name));
    return out;
}

/* The common file belongs to all layers. */
static void write_setting(const char *file, const char *key, const char *value)
{
    char text[PATH_MAX + 128];
    snprintf(text, sizeof(text), "# a comment\nkhronos_validation.fine_grained_locking = true\n%s = %s\n",
             key, value);
    sandbox_write(file, text);
}

/* Each place beats the one before: the store lies where the strongest says. */
static void test_precedence(void **state)
{
    (void)state;
    struct run test = {.way = LAYER_IMPLICIT, .hooked = true, .api = {"dir", path("by-api")}};
    run(&test);
    assert_int_equal(stores_below("by-api"), 1);

    write_setting(path("vk_layer_settings.txt"), "robust_cache.dir", path("by-file"));
    test.environment[0] = (struct setting){"VK_LAYER_SETTINGS_PATH", path("vk_layer_settings.txt")};
    run(&test);
    assert_int_equal(stores_below("by-file"), 1);
    test.environment[0].value = sandbox.root; /* a folder does, too */
    assert_int_equal(rename(path("by-file"), path("by-file-before")), 0);
    run(&test);
    assert_int_equal(stores_below("by-file"), 1);

    assert_int_equal(mkdir(path("config/robust_cache"), 0700), 0);
    char store[PATH_MAX], conf[PATH_MAX + 64], text[PATH_MAX + 64];
    assert_true(sandbox_find_file(path("by-api"), ".vkcache", store));
    *strrchr(store, '.') = '\0';
    snprintf(conf, sizeof(conf), "config/robust_cache/%s.conf", strrchr(store, '/') + 1);
    snprintf(text, sizeof(text), "dir = %s\n", path("by-conf"));
    sandbox_write(path(conf), text);
    run(&test);
    assert_int_equal(stores_below("by-conf"), 1);

    test.environment[1] = (struct setting){"VK_ROBUST_CACHE_DIR", path("by-environment")};
    run(&test);
    assert_int_equal(stores_below("by-environment"), 1);
    assert_int_equal(stores_below("by-api") + stores_below("by-file") + stores_below("by-conf"), 3);
    assert_int_equal(all_lines(), 0);
}

static void test_places_of_the_file(void **state)
{
    (void)state;
    struct run test = {.way = LAYER_EXPLICIT, .hooked = true};
    assert_int_equal(mkdir(path("data/vulkan/settings.d"), 0700), 0);
    write_setting(path("data/vulkan/settings.d/vk_layer_settings.txt"), "robust_cache.dir", path("by-data"));
    run(&test);
    assert_int_equal(stores_below("by-data"), 1);
    assert_int_equal(unlink(path("data/vulkan/settings.d/vk_layer_settings.txt")), 0);

    assert_int_equal(mkdir(path("work"), 0700), 0);
    write_setting(path("work/vk_layer_settings.txt"), "robust_cache.dir", path("by-work"));
    test.working_directory = path("work");
    run(&test);
    assert_int_equal(stores_below("by-work"), 1);
    assert_int_equal(all_lines(), 0);
}

/* An unknown setting gives exactly one line, wherever it stands, and nothing else changes. */
static void test_unknown_settings(void **state)
{
    (void)state;
    const struct run by_environment = {
        .way = LAYER_IMPLICIT, .hooked = true, .environment = {{"VK_ROBUST_CACHE_NONSENSE", "1"}}};
    run(&by_environment);
    assert_int_equal(all_lines(), 1);
    assert_int_equal(sandbox_count_lines(path("stderr"), "VK_ROBUST_CACHE_NONSENSE"), 1);

    const struct run by_api = {.way = LAYER_IMPLICIT, .hooked = true, .api = {"nonsense", "1"}};
    run(&by_api);
    assert_int_equal(all_lines(), 2);

    write_setting(path("vk_layer_settings.txt"), "robust_cache.nonsense", "1");
    const struct run by_file = {.way = LAYER_IMPLICIT,
                                .hooked = true,
                                .environment = {{"VK_LAYER_SETTINGS_PATH", path("vk_layer_settings.txt")}}};
    run(&by_file);
    assert_int_equal(all_lines(), 3);
    assert_int_equal(sandbox_count_lines(path("stderr"), "vk_layer_settings.txt"), 1);

    const struct run bad_value = {
        .way = LAYER_IMPLICIT, .hooked = true, .environment = {{"VK_ROBUST_CACHE_PRESET", "everything"}}};
    run(&bad_value);
    assert_int_equal(all_lines(), 4);
    assert_int_equal(sandbox_count_lines(path("stderr"), "everything"), 1);
}

/* --- only, skip, preset: no hook where the layer isn't wanted --- */

static void expect_hooks(struct setting first, struct setting second, bool hooked)
{
    const struct run test = {.way = LAYER_IMPLICIT, .environment = {first, second}, .hooked = hooked};
    unsigned before = stores_below("cache");
    run(&test);
    if (!hooked)
        assert_int_equal(stores_below("cache"), before);
}

static void test_only_and_skip(void **state)
{
    (void)state;
    const struct setting none = {NULL, NULL};
    expect_hooks((struct setting){"VK_ROBUST_CACHE_SKIP", "it_settings"}, none, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_SKIP", "some game"}, none, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_SKIP", "other*, *_sett*"}, none, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_SKIP", "other*"}, none, true);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_ONLY", "other*"}, none, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_ONLY", "Some*"}, none, true);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_ONLY", "Some*"},
                 (struct setting){"VK_ROBUST_CACHE_SKIP", "it_*"}, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_PRESET", "off"}, none, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_CACHE", "false"}, none, false);
    expect_hooks((struct setting){"VK_ROBUST_CACHE_PRESET", "off"},
                 (struct setting){"VK_ROBUST_CACHE_CACHE", "true"}, true);
    assert_int_equal(all_lines(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_precedence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places_of_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_settings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_and_skip, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
