/* The base as an Android build has it: system properties, the system's log, packages and isolated processes.
 */
#include "check.h"

#include <android/log.h>
#include <sys/system_properties.h>
#include <sys/wait.h>
#include <unistd.h>

#include "application.h"
#include "report.h"
#include "settings.h"

static const char *property_name;
static const char *property_value;

int __system_property_get(const char *name, char *value)
{
    value[0] = '\0';
    if (property_name && strcmp(name, property_name) == 0)
        snprintf(value, PROP_VALUE_MAX, "%s", property_value);
    return (int)strlen(value);
}

static int logged_priority;
static char logged_text[1024];

int __android_log_write(int priority, const char *tag, const char *text)
{
    assert_string_equal(tag, "robust_cache");
    logged_priority = priority;
    snprintf(logged_text, sizeof(logged_text), "%s", text);
    return 1;
}

static char complaint[512];

static void complain(void *context, const char *where, const char *what)
{
    (void)context;
    snprintf(complaint, sizeof(complaint), "%s: %s", where, what);
}

static struct settings_values read_values(bool secure)
{
    const struct application_facts facts = {.android_package = "com.example.app", .secure = secure};
    struct settings settings;

    complaint[0] = '\0';
    assert_true(settings_init(&settings, NULL, &facts, complain, NULL));
    settings_finish(&settings);
    return settings.values;
}

static void test_defaults(void **state)
{
    struct settings_values values = read_values(false);

    (void)state;
    assert_int_equal(values.max_size, 32 << 20);
    assert_int_equal(values.total_size, 64 << 20);
    assert_int_equal(values.save_interval, 10);
    assert_string_equal(complaint, "");
}

static void test_properties(void **state)
{
    (void)state;
    property_name = "debug.vulkan.robust_cache.save_interval";
    property_value = "7";
    assert_int_equal(read_values(false).save_interval, 7);
    assert_int_equal(read_values(true).save_interval, 10);
    setenv("VK_ROBUST_CACHE_SAVE_INTERVAL", "8", 1);
    assert_int_equal(read_values(false).save_interval, 8);
    unsetenv("VK_ROBUST_CACHE_SAVE_INTERVAL");
    property_value = "soon";
    assert_int_equal(read_values(false).save_interval, 10);
    assert_memory_equal(complaint, "system property: save_interval is 'soon'", 40);
    property_name = NULL;
}

static void test_log(void **state)
{
    static const int priorities[] = {ANDROID_LOG_ERROR, ANDROID_LOG_WARN, ANDROID_LOG_INFO,
                                     ANDROID_LOG_DEBUG};
    struct report *report =
        report_create(&(struct report_config){.level = REPORT_DEBUG, .application = "app"});

    (void)state;
    for (int level = REPORT_ERROR; level <= REPORT_DEBUG; level++) {
        report_log(report, (enum report_level)level, "level %d\n", level);
        assert_int_equal(logged_priority, priorities[level]);
        assert_memory_equal(logged_text, "level ", 6);
        assert_null(strchr(logged_text, '\n'));
    }
    report_destroy(report);
}

/* The process is its own package: what the command line begins with, or nothing for a program of the shell's.
 */
static int package_child(const char *expected)
{
    struct application_facts facts;
    char name[APPLICATION_NAME_SIZE];

    application_probe(&facts);
    if (facts.secure)
        return strcmp(expected, "isolated") == 0 ? 0 : 1;
    if (!facts.android_package)
        return strcmp(expected, "native") == 0 ? 0 : 1;
    application_name(&facts, NULL, name);
    return strcmp(name, expected) == 0 ? 0 : 1;
}

static int run_named(const char *argument_zero, const char *expected)
{
    int status;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", argument_zero, "--package", expected, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_package(void **state)
{
    (void)state;
    assert_int_equal(run_named("com.example.app", "com.example.app"), 0);
    assert_int_equal(run_named("com.example.app:remote", "com.example.app"), 0);
    assert_int_equal(run_named("/data/local/tmp/tool", "native"), 0);
}

/* In a process of its own, as who it is asked for once only. */
static void test_isolated(void **state)
{
    static const struct {
        uid_t user;
        int expected;
    } users[] = {{89999, 1}, {90000, 0}, {1099999, 0}, {1010000, 1}};

    (void)state;
    if (getuid() != 0)
        skip(); /* only root can become another user */
    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
        int status;
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0)
            _exit(setuid(users[i].user) != 0 ? 126 : package_child("isolated"));
        assert_int_equal(waitpid(child, &status, 0), child);
        check(WIFEXITED(status) && WEXITSTATUS(status) == users[i].expected, "user %u: %x", users[i].user,
              status);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isolated), /* first: later tests ask who the process is */
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_properties),
        cmocka_unit_test(test_log),      cmocka_unit_test(test_package),
    };

    if (argc == 3 && strcmp(argv[1], "--package") == 0)
        _exit(package_child(argv[2]));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
