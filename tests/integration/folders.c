/* Where the layer may write and where it must not. C16, C17, C18, C47, P15. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "other_user.h"
#include "fault_driver.h"
#include "mock_loader.h"
#include "sandbox.h"

#define PIPELINES 8
#define NOBODY 65534
#define SOMEBODY 1
#define NOT_SECURE 77 /* exit code of a set-uid program that the system didn't take for one */

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

/* One run of an application and what it may expect. */
struct run {
    const char *variable; /* one more of the environment; NULL: none */
    const char *value;    /* NULL: the variable is removed */
    uid_t user;           /* 0: as it is */
    uint32_t hits;
};

static void become(uid_t user)
{
    if (user)
        CHECK(setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
}

/* Every pipeline twice: the second time it is found, with a folder or without. */
static void run_application(void *argument)
{
    const struct run *run = argument;
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "warning", 1);
    if (run->value)
        setenv(run->variable, run->value, 1);
    else if (run->variable)
        unsetenv(run->variable);
    become(run->user);
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK_MESSAGE(fault_cache_hits() == run->hits, "%u hits", (unsigned)fault_cache_hits());
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK(fault_cache_hits() == run->hits + PIPELINES);
    app_end(&app);
}

static void run(const struct run *run)
{
    assert_true(child_run(run_application, (void *)run, sandbox_path(&sandbox, "stderr")));
}

/* How often what the layer wrote to standard error has such a line. */
static void expect_lines(const char *text, unsigned count)
{
    const char *path = sandbox_path(&sandbox, "stderr");
    unsigned found = sandbox_count_lines(path, text);
    if (found == count)
        return;
    char *all = sandbox_read(path);
    print_error("%u lines with \"%s\" in\n%s", found, text, all);
    free(all);
    fail();
}

static unsigned stores_below(const char *folder)
{
    return sandbox_count_files(sandbox_path(&sandbox, folder), ".vkcache");
}

static void make_folder(const char *name, mode_t mode)
{
    assert_int_equal(mkdir(sandbox_path(&sandbox, name), mode), 0);
    assert_int_equal(chmod(sandbox_path(&sandbox, name), mode), 0);
}

static void require_root(void)
{
    if (geteuid() != 0) {
        print_message("only root can play several users\n");
        skip();
    }
}

static void require_another_user(void)
{
    require_root();
    if (!other_user_reaches(RC_LAYER_DIR))
        skip();
}

/* Another user must get through to the sandbox, and to what was built. */
static void open_to_others(void)
{
    static const char *const folders[] = {"", "config", "data", "data/vulkan",
                                          "data/vulkan/implicit_layer.d"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        assert_int_equal(chmod(sandbox_path(&sandbox, folders[i]), 0755), 0);
}

/* --- C16 --- */

static void check_private(const char *name)
{
    struct stat status;
    assert_int_equal(stat(sandbox_path(&sandbox, name), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void test_first_run(void **state)
{
    (void)state;
    const struct run empty = {0}, missing = {.variable = "XDG_CACHE_HOME"};
    char value[PATH_MAX];
    run(&empty);
    assert_int_equal(stores_below("cache"), 1);
    check_private("cache/robust_cache");
    check_private("cache/robust_cache/v1");
    run(&missing); /* the home folder's .cache isn't there */
    assert_int_equal(stores_below("home/.cache"), 1);
    check_private("home/.cache/robust_cache");

    snprintf(value, sizeof(value), "%s", sandbox_path(&sandbox, "some/where/else"));
    const struct run deep = {.variable = "VK_ROBUST_CACHE_DIR", .value = value};
    run(&deep);
    assert_int_equal(stores_below("some/where/else"), 1);
    expect_lines("robust_cache: ", 0);
}

/* --- C17 --- */

static void unset_home(void *unused)
{
    (void)unused;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "info", 1);
    struct app app;
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK(fault_cache_hits() == PIPELINES);
    app_end(&app);
}

static void test_no_home(void **state)
{
    (void)state;
    assert_true(child_run(unset_home, NULL, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(sandbox_count_files(sandbox.root, ".vkcache"), 0);
    expect_lines("no folder for the store", 1);
}

static void test_no_folder_possible(void **state)
{
    (void)state;
    const struct run run_there = {.variable = "VK_ROBUST_CACHE_DIR", .value = "/sys/robust_cache"};
    run(&run_there);
    expect_lines("robust_cache: ", 1);
    expect_lines("/sys/robust_cache", 1);
}

static void test_folder_of_others(void **state)
{
    (void)state;
    char value[PATH_MAX];
    require_another_user();
    open_to_others();
    make_folder("theirs", 0755);
    make_folder("unreadable", 0700);
    snprintf(value, sizeof(value), "%s", sandbox_path(&sandbox, "theirs/below"));
    struct run run_there = {.variable = "VK_ROBUST_CACHE_DIR", .value = value, .user = NOBODY};
    run(&run_there); /* can't be created */
    expect_lines("robust_cache: ", 1);
    snprintf(value, sizeof(value), "%s", sandbox_path(&sandbox, "unreadable/below"));
    run(&run_there); /* can't even be looked at */
    expect_lines("robust_cache: ", 2);
    assert_int_equal(sandbox_count_files(sandbox.root, ".vkcache"), 0);
}

/* --- C18 --- */

static void test_symbolic_link(void **state)
{
    (void)state;
    make_folder("real", 0700);
    assert_int_equal(symlink(sandbox_path(&sandbox, "real"), sandbox_path(&sandbox, "cache/robust_cache")),
                     0);
    const struct run as_it_is = {0};
    run(&as_it_is);
    expect_lines("robust_cache: ", 1);
    expect_lines("symbolic link", 1);
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "real"), ""), 0);
}

static void test_other_owner(void **state)
{
    (void)state;
    require_root();
    make_folder("cache/robust_cache", 0700);
    assert_int_equal(chown(sandbox_path(&sandbox, "cache/robust_cache"), SOMEBODY, SOMEBODY), 0);
    const struct run as_it_is = {0};
    run(&as_it_is);
    expect_lines("robust_cache: ", 1);
    expect_lines("belongs to user 1", 1);
    assert_int_equal(stores_below("cache"), 0);
}

static void test_writable_by_others(void **state)
{
    (void)state;
    make_folder("cache/robust_cache", 0777);
    const struct run as_it_is = {0};
    run(&as_it_is);
    expect_lines("robust_cache: ", 1);
    assert_int_equal(stores_below("cache"), 0);
}

/* Makes what root installed readable for all, as a package would. */
static void publish(const char *folder)
{
    char path[PATH_MAX], file[PATH_MAX];
    snprintf(path, sizeof(path), "%s", folder);
    assert_true(sandbox_find_file(path, ".vkcache", file));
    assert_int_equal(chmod(file, 0644), 0);
    for (char *slash; strlen(file) > strlen(path) && (slash = strrchr(file, '/'));) {
        *slash = '\0';
        assert_int_equal(chmod(file, 0755), 0);
    }
}

static void test_read_dirs_of_root(void **state)
{
    (void)state;
    char value[PATH_MAX], before[PATH_MAX];
    require_another_user();
    const struct run as_root = {0};
    run(&as_root);
    assert_int_equal(rename(sandbox_path(&sandbox, "cache/robust_cache"), sandbox_path(&sandbox, "shipped")),
                     0);
    assert_int_equal(chown(sandbox_path(&sandbox, "cache"), NOBODY, NOBODY), 0);
    open_to_others();
    publish(sandbox_path(&sandbox, "shipped"));
    snprintf(value, sizeof(value), "%s", sandbox_path(&sandbox, "shipped"));
    unsigned files = sandbox_count_files(value, "");
    assert_true(sandbox_find_file(value, ".vkcache", before));
    struct stat old, new;
    assert_int_equal(stat(before, &old), 0);

    const struct run with_shipped = {
        .variable = "VK_ROBUST_CACHE_READ_DIRS", .value = value, .user = NOBODY, .hits = PIPELINES};
    run(&with_shipped);
    assert_int_equal(stat(before, &new), 0);
    assert_int_equal(sandbox_count_files(value, ""), files);
    assert_true(old.st_ino == new.st_ino &&old.st_mtim.tv_sec == new.st_mtim.tv_sec &&old.st_mtim.tv_nsec ==
                new.st_mtim.tv_nsec);
}

/* --- Copies of this program --- */

static void copy_program(const char *to, mode_t mode)
{
    struct stat status;
    int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    assert_true(in >= 0 && out >= 0 && fstat(in, &status) == 0);
    for (off_t left = status.st_size; left > 0;) {
        ssize_t got = sendfile(out, in, NULL, (size_t)left);
        assert_true(got > 0);
        left -= got;
    }
    assert_int_equal(fchmod(out, mode), 0);
    close(in);
    close(out);
}

struct copy {
    const char *path;
    const char *mode;
    const char *variable;
    const char *value;
    uid_t user;
};

static void exec_copy(void *argument)
{
    const struct copy *copy = argument;
    const char *path = strdup(copy->path);
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    if (copy->variable)
        setenv(copy->variable, copy->value, 1);
    become(copy->user);
    execl(path, path, copy->mode, (char *)NULL);
    CHECK_MESSAGE(false, "%s: %m", path);
}

/* --- C47 --- */

/* What the copies do: as any application does, in the environment they were given. */
static int be_application(void)
{
    struct app app;
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    bool shared = fault_cache_hits() == PIPELINES;
    app_end(&app);
    return shared ? 0 : 1;
}

static void test_browser(void **state)
{
    (void)state;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", sandbox_path(&sandbox, "chromium"));
    copy_program(path, 0755);
    struct copy copy = {.path = path, .mode = "--application"};
    assert_true(child_run(exec_copy, &copy, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ""), 0);
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "home"), ""), 0);
    copy.variable = "VK_ROBUST_CACHE_PERSIST";
    copy.value = "on";
    assert_true(child_run(exec_copy, &copy, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(stores_below("cache"), 1);
    expect_lines("robust_cache: ", 0);
}

static void test_electron(void **state)
{
    (void)state;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", sandbox_path(&sandbox, "some-editor"));
    copy_program(path, 0755);
    sandbox_write(sandbox_path(&sandbox, "v8_context_snapshot.bin"), "");
    struct copy copy = {.path = path, .mode = "--application"};
    assert_true(child_run(exec_copy, &copy, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ""), 0);
}

/* --- P15 --- */

/* In a set-uid program the loader ignores its environment, so that only an application that names the layer
 * gets it from the system's folders. The library's own conduct shows without the loader. */
static int be_secure(void)
{
    struct mock_loader mock = {.driver = FAULT_LIBRARY};
    struct app app;
    if (!getauxval(AT_SECURE))
        _exit(NOT_SECURE);
    mock_loader_load_layer(&mock);
    mock_loader_open(&app, &mock);
    app_create_instance(&app, NULL);
    app_create_device(&app, NULL);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK(fault_cache_hits() == PIPELINES); /* preset=off wasn't listened to */
    app_destroy_device(&app);
    app_destroy_instance(&app);
    child_ignore_leaks(); /* no tracer may look into a set-uid program */
    return 0;
}

static void exec_secure(void *argument)
{
    const struct copy *copy = argument;
    const char *path = strdup(copy->path);
    sandbox_enter(&sandbox, LAYER_NONE, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_DIR", sandbox_path(&sandbox, "bait/dir"), 1);
    setenv("VK_ROBUST_CACHE_LOG_FILE", sandbox_path(&sandbox, "bait/log"), 1);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "debug", 1);
    setenv("VK_ROBUST_CACHE_REPORT_FILE", sandbox_path(&sandbox, "bait/report"), 1);
    setenv("VK_ROBUST_CACHE_PRESET", "off", 1);
    setenv("VK_ROBUST_CACHE_PERSIST", "on", 1);
    setenv("VK_LAYER_SETTINGS_PATH", sandbox_path(&sandbox, "bait/vk_layer_settings.txt"), 1);
    become(copy->user);
    execl(path, path, copy->mode, (char *)NULL);
    CHECK_MESSAGE(false, "%s: %m", path);
}

static void test_set_uid(void **state)
{
    (void)state;
    char path[PATH_MAX];
    require_another_user();
    open_to_others();
    assert_int_equal(chmod(sandbox_path(&sandbox, "cache"), 0777), 0);
    assert_int_equal(chmod(sandbox_path(&sandbox, "home"), 0777), 0);
    make_folder("bait", 0777);
    sandbox_write(sandbox_path(&sandbox, "bait/vk_layer_settings.txt"), "robust_cache.cache = false\n");
    assert_int_equal(chmod(sandbox_path(&sandbox, "bait/vk_layer_settings.txt"), 0644), 0);
    snprintf(path, sizeof(path), "%s", sandbox_path(&sandbox, "set-uid"));
    copy_program(path, 0755);
    assert_int_equal(chown(path, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(chmod(path, 04755), 0);
    struct copy copy = {.path = path, .mode = "--secure", .user = NOBODY};
    int status =
        child_wait(child_start(exec_secure, &copy, sandbox_path(&sandbox, "stderr")), CHILD_WATCHDOG);
    if (status == NOT_SECURE << 8) {
        print_message("the temporary folder's file system doesn't do set-uid\n");
        skip();
    }
    if (status != 0)
        print_error("%s: %s\n", child_status_text(status), sandbox_read(sandbox_path(&sandbox, "stderr")));
    assert_int_equal(status, 0);
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "bait"), ""), 1);
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ""), 0);
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "home"), ""), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--application") == 0)
        return be_application();
    if (argc > 1 && strcmp(argv[1], "--secure") == 0)
        return be_secure();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_first_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_folder_possible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folder_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_symbolic_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writable_by_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_dirs_of_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_browser, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_electron, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set_uid, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("folders", tests, NULL, NULL);
}
