/* The layer as it is installed: both manifests under one name, and the ways of switching it on. P14, P22. */
#include <elf.h>
#include <fcntl.h>
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
#include "sandbox.h"

#define LAYER "VK_LAYER_ROBUST_cache"

static struct sandbox sandbox;

struct installation {
    const char *prefix;
    const char *destination; /* DESTDIR */
};

static void install(void *argument)
{
    const struct installation *where = argument;
    setenv("DESTDIR", where->destination, 1);
    execl(CMAKE_COMMAND, CMAKE_COMMAND, "--install", BUILD_DIR, "--prefix", where->prefix, (char *)NULL);
    CHECK_MESSAGE(false, "%s: %m", CMAKE_COMMAND);
}

static void run_install(const char *prefix, const char *destination)
{
    struct installation where = {.prefix = prefix, .destination = destination};
    int status = child_wait(child_start(install, &where, sandbox_path(&sandbox, "stderr")), 60);
    if (status != 0)
        fail_msg("cmake --install %s", child_status_text(status));
}

static int set_up(void **state)
{
    (void)state;
    sandbox_create(&sandbox);
    run_install(sandbox_path(&sandbox, "prefix"), "");
    run_install("/usr", sandbox_path(&sandbox, "system"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

/* How an application may be started, and whether the layer is in then. */
struct way {
    const char *variables[3][2];
    bool by_name; /* the application enables the layer itself */
    unsigned times;
};

static unsigned count_own_tools(const struct app *app)
{
    VkPhysicalDeviceToolProperties tools[8];
    uint32_t count = 8;
    unsigned own = 0;
    memset(tools, 0, sizeof(tools));
    for (int i = 0; i < 8; i++)
        tools[i].sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES;
    PFN_vkGetPhysicalDeviceToolProperties get =
        (PFN_vkGetPhysicalDeviceToolProperties)app_instance_command(app, "vkGetPhysicalDeviceToolProperties");
    CHECK(get(app->physical, &count, tools) == VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++)
        own += strcmp(tools[i].layer, LAYER) == 0;
    return own;
}

static void start(void *argument)
{
    const struct way *way = argument;
    static const char *const name = LAYER;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = way->by_name ? 1 : 0,
                                       .ppEnabledLayerNames = &name};
    struct app app;
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    setenv("XDG_DATA_DIRS", sandbox_path(&sandbox, "prefix/share"), 1);
    for (int i = 0; i < 3; i++)
        if (way->variables[i][0])
            setenv(way->variables[i][0], way->variables[i][1], 1);
    app_open(&app);
    app_create_instance(&app, &info);
    unsigned times = count_own_tools(&app);
    CHECK_MESSAGE(times == way->times, "%u times", times);
    app_create_device(&app, NULL);
    app_use_pipelines(&app, VK_NULL_HANDLE, 2);
    app_end(&app);
}

static void expect(const struct way *way)
{
    assert_true(child_run(start, (void *)way, sandbox_path(&sandbox, "stderr")));
}

static void test_switches(void **state)
{
    (void)state;
    const struct way nothing = {.times = 0},
                     named_by_user = {.variables = {{"VK_INSTANCE_LAYERS", LAYER}}, .times = 1},
                     implicit = {.variables = {{"ENABLE_ROBUST_CACHE", "1"}}, .times = 1},
                     enabled_wrongly = {.variables = {{"ENABLE_ROBUST_CACHE", "0"}}, .times = 0},
                     disabled = {.variables = {{"ENABLE_ROBUST_CACHE", "1"}, {"DISABLE_ROBUST_CACHE", "1"}},
                                 .times = 0},
                     named_in_code = {.by_name = true, .times = 1},
                     all_of_them = {
                         .variables = {{"ENABLE_ROBUST_CACHE", "1"}, {"VK_INSTANCE_LAYERS", LAYER}},
                         .by_name = true,
                         .times = 1};
    expect(&nothing);
    expect(&named_by_user);
    expect(&implicit);
    expect(&enabled_wrongly);
    expect(&disabled);
    expect(&named_in_code);
    expect(&all_of_them);
}

/* --- P14 --- */

/* The library of another word size, as far as the dynamic linker looks at it. */
static void write_other_architecture(const char *from, const char *to)
{
    unsigned char header[sizeof(Elf64_Ehdr)];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    assert_true(in >= 0 && out >= 0 && read(in, header, sizeof(header)) == (ssize_t)sizeof(header));
    header[EI_CLASS] = header[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    assert_int_equal(write(out, header, sizeof(header)), sizeof(header));
    close(in);
    close(out);
}

/* Installed below /usr: one manifest names the library without a path, so that the dynamic linker picks the
 * one that fits the process. */
static void start_by_search_path(void *unused)
{
    (void)unused;
    char search[2 * PATH_MAX];
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    setenv("XDG_DATA_DIRS", sandbox_path(&sandbox, "system/usr/share"), 1);
    setenv("ENABLE_ROBUST_CACHE", "1", 1);
    snprintf(search, sizeof(search), "%s:%s", sandbox_path(&sandbox, "other"),
             sandbox_path(&sandbox, "fitting"));
    setenv("LD_LIBRARY_PATH", search, 1);
    execl("/proc/self/exe", "it_install", "--count", (char *)NULL);
    CHECK_MESSAGE(false, "%m");
}

static int count_in_new_program(void)
{
    struct app app;
    app_begin(&app);
    unsigned times = count_own_tools(&app);
    app_end(&app);
    return times == 1 ? 0 : 1;
}

static void test_two_architectures(void **state)
{
    (void)state;
    char library[PATH_MAX];
    assert_true(sandbox_find_file(sandbox_path(&sandbox, "system"), "libVkLayer_robust_cache.so", library));
    assert_int_equal(mkdir(sandbox_path(&sandbox, "other"), 0755), 0);
    assert_int_equal(mkdir(sandbox_path(&sandbox, "fitting"), 0755), 0);
    write_other_architecture(library, sandbox_path(&sandbox, "other/libVkLayer_robust_cache.so"));
    assert_int_equal(symlink(library, sandbox_path(&sandbox, "fitting/libVkLayer_robust_cache.so")), 0);
    assert_true(child_run(start_by_search_path, NULL, sandbox_path(&sandbox, "stderr")));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--count") == 0)
        return count_in_new_program();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_two_architectures),
    };
    return cmocka_run_group_tests_name("install", tests, set_up, tear_down);
}
