#include "check.h"
#include "random.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat.h"
#include "settings.h"

/* ---- surroundings: an empty home, an empty working directory, no variables of ours ---- */

static char folder[64];
static char working_directory[PATH_MAX];

static const char *path_of(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void clear_environment(void)
{
    char name[128];

    for (char **variable = environ; *variable;) {
        if (strncmp(*variable, "VK_ROBUST_CACHE_", 16) == 0) {
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="), *variable);
            unsetenv(name);
            variable = environ;
        } else {
            variable++;
        }
    }
    unsetenv("VK_LAYER_SETTINGS_PATH");
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_CONFIG_HOME");
}

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/robust-cache-test-XXXXXX");
    if (!mkdtemp(folder) || !getcwd(working_directory, sizeof(working_directory)))
        return -1;
    clear_environment();
    mkdir(path_of("home"), 0700);
    mkdir(path_of("cwd"), 0700);
    setenv("HOME", path_of("home"), 1);
    return chdir(path_of("cwd"));
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return chdir(working_directory) || system(command) ? -1 : 0;
}

/* Folders on the way are made. */
static void write_bytes(const char *path, const void *data, size_t size)
{
    char parent[PATH_MAX];
    int fd;

    strcpy(parent, path);
    for (char *slash = strchr(parent + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(parent, 0700);
        *slash = '/';
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/* ---- what comes out ---- */

static struct {
    int count;
    char where[PATH_MAX];
    char what[1024];
} complaints;

static void complain(void *context, const char *where, const char *what)
{
    assert_ptr_equal(context, &complaints);
    complaints.count++;
    snprintf(complaints.where, sizeof(complaints.where), "%s", where);
    snprintf(complaints.what, sizeof(complaints.what), "%s", what);
}

static const struct application_facts facts = {.executable = "/opt/game"};

static struct settings read_settings(const void *chain)
{
    struct settings settings;

    memset(&complaints, 0, sizeof(complaints));
    memset(&settings, 0x5a, sizeof(settings));
    assert_true(settings_init(&settings, chain, &facts, complain, &complaints));
    return settings;
}

/* Reads, and gives back the numbers only. */
static struct settings_values read_values(const void *chain)
{
    struct settings settings = read_settings(chain);

    settings_finish(&settings);
    return settings.values;
}

static void assert_no_complaint(void)
{
    check(complaints.count == 0, "%s: %s", complaints.where, complaints.what);
}

static void assert_defaults(const struct settings_values *values)
{
    assert_int_equal(values->preset, SETTINGS_PRESET_REPAIR);
    assert_null(values->only);
    assert_null(values->skip);
    assert_true(values->cache);
    assert_null(values->dir);
    assert_null(values->read_dirs);
    assert_null(values->app_id);
    assert_int_equal(values->scope, SETTINGS_SCOPE_APP);
    assert_int_equal(values->persist, SETTINGS_PERSIST_AUTO);
    assert_int_equal(values->max_size, 256 << 20);
    assert_true(values->total_size == 2ull << 30);
    assert_int_equal(values->substitute, SETTINGS_SUBSTITUTE_AUTO);
    assert_true(values->adopt_empty);
    assert_int_equal(values->envelope, SETTINGS_ENVELOPE_ON);
    assert_int_equal(values->raw_blobs, SETTINGS_RAW_BLOBS_AUTO);
    assert_int_equal(values->load_timeout, 0);
    assert_int_equal(values->save_interval, 60);
    assert_null(values->report_file);
    assert_null(values->log_file);
    assert_int_equal(values->log_level, SETTINGS_LOG_LEVEL_ERROR);
}

static void test_defaults(void **state)
{
    struct settings settings = read_settings(NULL);

    (void)state;
    assert_no_complaint();
    assert_defaults(&settings.values);
    settings_finish(&settings);
    assert_null(settings.strings);
}

/* ---- values ---- */

static void test_good_values(void **state)
{
    static const char *const yes[] = {"true", "on", "1", "yes", "TRUE", "On"};
    static const char *const no[] = {"false", "off", "0", "no", "FALSE", "oFF"};
    static const struct {
        const char *text;
        uint64_t size;
    } sizes[] = {{"4096", 4096},     {"1K", 1024},         {"3M", 3 << 20},
                 {"2G", 2ull << 30}, {"64KiB", 65536},     {"10mib", 10 << 20},
                 {"1GiB", 1 << 30},  {"64G", 64ull << 30}, {"68719476736", 64ull << 30},
                 {"5 MiB", 5 << 20}, {"007K", 7168}};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        setenv("VK_ROBUST_CACHE_CACHE", yes[i], 1);
        setenv("VK_ROBUST_CACHE_ADOPT_EMPTY", no[i], 1);
        struct settings_values values = read_values(NULL);
        assert_no_complaint();
        check(values.cache && !values.adopt_empty, "%s %s", yes[i], no[i]);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        setenv("VK_ROBUST_CACHE_MAX_SIZE", sizes[i].text, 1);
        check(read_values(NULL).max_size == sizes[i].size, "%s", sizes[i].text);
        assert_no_complaint();
    }
    setenv("VK_ROBUST_CACHE_SAVE_INTERVAL", "86400", 1);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "Debug", 1);
    setenv("VK_ROBUST_CACHE_RAW_BLOBS", "reject", 1);
    struct settings_values values = read_values(NULL);
    assert_no_complaint();
    assert_int_equal(values.save_interval, 86400);
    assert_int_equal(values.log_level, SETTINGS_LOG_LEVEL_DEBUG);
    assert_int_equal(values.raw_blobs, SETTINGS_RAW_BLOBS_REJECT);
}

static const struct {
    const char *key;
    const char *value;
    const char *allowed;
} malformed[] = {
    {"preset", "repairs", "repair, caches, report or off"},
    {"preset", "", "repair, caches, report or off"},
    {"cache", "maybe", "true or false"},
    {"cache", "", "true or false"},
    {"cache", "2", "true or false"},
    {"adopt_empty", "tru", "true or false"},
    {"dir", "relative/path", "an absolute path of at most 4095 bytes"},
    {"dir", "~/cache", "an absolute path of at most 4095 bytes"},
    {"scope", "application", "app or shared"},
    {"persist", "1", "auto, on or off"},
    {"substitute", "always", "auto, on or off"},
    {"envelope", "off", "on or strip"},
    {"raw_blobs", "accept,reject", "auto, accept or reject"},
    {"log_level", "verbose", "error, warning, info or debug"},
    {"max_size", "", "a size from 1K"},
    {"max_size", "M", "a size from 1K"},
    {"max_size", "-1", "a size from 1K"},
    {"max_size", "+5M", "a size from 1K"},
    {"max_size", "0", "a size from 1K"},
    {"max_size", "1023", "a size from 1K"},
    {"max_size", "65G", "to 64G"},
    {"max_size", "1.5G", "a size from 1K"},
    {"max_size", "10MB", "a size from 1K"},
    {"max_size", "10MiBs", "a size from 1K"},
    {"max_size", "0x1000", "a size from 1K"},
    {"max_size", "18446744073709551616", "a size from 1K"},
    {"max_size", "18446744073709551615", "a size from 1K"},
    {"max_size", "18014398509481985K", "a size from 1K"},   /* 2^64 + 1024 */
    {"max_size", "55340232221128658944", "a size from 1K"}, /* 3 * 2^64 + 4096 */
    {"max_size", "99999999999999999999999999999999", "a size from 1K"},
    {"total_size", "2000G", "to 1024G"},
    {"load_timeout", "-5", "a number of ms from 0 to 60000"},
    {"load_timeout", "", "a number of ms from 0 to 60000"},
    {"load_timeout", "60001", "a number of ms from 0 to 60000"},
    {"load_timeout", "200ms", "a number of ms from 0 to 60000"},
    {"save_interval", "0", "a number of s from 1 to 86400"},
    {"save_interval", "1000000000", "a number of s from 1 to 86400"},
    {"save_interval", "4294967356", "a number of s from 1 to 86400"}, /* 2^32 + 60 */
    {"save_interval", "1e3", "a number of s from 1 to 86400"},
    {"save_interval", " 60", "a number of s from 1 to 86400"},
};

static void environment_name(const char *key, char *out, size_t size)
{
    int used = snprintf(out, size, "VK_ROBUST_CACHE_");
    for (size_t i = (size_t)used; *key && i + 1 < size; i++, key++) {
        out[i] = (char)(*key >= 'a' && *key <= 'z' ? *key - 32 : *key);
        out[i + 1] = '\0';
    }
}

/* Cut, it would be another folder. */
static void test_dir_too_long(void **state)
{
    char path[PATH_MAX + 1] = "/";

    (void)state;
    memset(path + 1, 'd', PATH_MAX - 1);
    setenv("VK_ROBUST_CACHE_DIR", path, 1);
    struct settings settings = read_settings(NULL);
    assert_null(settings.values.dir);
    assert_int_equal(complaints.count, 1);
    settings_finish(&settings);
    path[PATH_MAX - 1] = '\0';
    setenv("VK_ROBUST_CACHE_DIR", path, 1);
    settings = read_settings(NULL);
    assert_string_equal(settings.values.dir, path);
    assert_int_equal(complaints.count, 0);
    settings_finish(&settings);
    unsetenv("VK_ROBUST_CACHE_DIR");
}

/* Name, value and what is allowed are named, and the default holds. */
static void test_malformed_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        char name[64];
        struct settings settings;

        environment_name(malformed[i].key, name, sizeof(name));
        setenv(name, malformed[i].value, 1);
        settings = read_settings(NULL);
        check(complaints.count == 1, "%s=%s: %d complaints", name, malformed[i].value, complaints.count);
        check(strcmp(complaints.where, "environment") == 0 && strstr(complaints.what, malformed[i].key) &&
                  strstr(complaints.what, malformed[i].value) &&
                  strstr(complaints.what, malformed[i].allowed),
              "%s: %s", complaints.where, complaints.what);
        assert_defaults(&settings.values);
        settings_finish(&settings);
        unsetenv(name);
    }
}

/* What is malformed counts as unset: what the sources below say holds. */
static void test_malformed_falls_to_the_next(void **state)
{
    (void)state;
    write_text("vk_layer_settings.txt", "robust_cache.save_interval = 5\n");
    setenv("VK_ROBUST_CACHE_SAVE_INTERVAL", "x", 1);
    assert_int_equal(read_values(NULL).save_interval, 5);
    assert_int_equal(complaints.count, 1);
}

static void test_strings_are_copied(void **state)
{
    struct settings settings;

    (void)state;
    setenv("VK_ROBUST_CACHE_DIR", "/var/tmp/x", 1);
    setenv("VK_ROBUST_CACHE_SKIP", "a,b", 1);
    write_text("vk_layer_settings.txt", "robust_cache.app_id = my game\nrobust_cache.skip = c\n");
    settings = read_settings(NULL);
    setenv("VK_ROBUST_CACHE_DIR", "/changed", 1);
    assert_no_complaint();
    assert_string_equal(settings.values.dir, "/var/tmp/x");
    assert_string_equal(settings.values.skip, "a,b");
    assert_string_equal(settings.values.app_id, "my game");
    settings_finish(&settings);
}

static void test_empty_text_means_none(void **state)
{
    struct settings settings;

    (void)state;
    write_text("vk_layer_settings.txt",
               "robust_cache.log_file = /tmp/log\nrobust_cache.only =\nrobust_cache.dir=\n");
    setenv("VK_ROBUST_CACHE_LOG_FILE", "", 1);
    settings = read_settings(NULL);
    assert_no_complaint();
    assert_null(settings.values.log_file);
    assert_null(settings.values.only);
    assert_null(settings.values.dir);
    settings_finish(&settings);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    setenv("VK_ROBUST_CACHE_PRESETS", "off", 1);
    assert_int_equal(read_values(NULL).preset, SETTINGS_PRESET_REPAIR);
    assert_int_equal(complaints.count, 1);
    assert_string_equal(complaints.where, "environment");
    assert_non_null(strstr(complaints.what, "VK_ROBUST_CACHE_PRESETS"));
    unsetenv("VK_ROBUST_CACHE_PRESETS");

    write_text("vk_layer_settings.txt", "\n# comment\nrobust_cache.presett = off\n");
    read_values(NULL);
    assert_int_equal(complaints.count, 1);
    assert_string_equal(complaints.where, "vk_layer_settings.txt:3");
    assert_non_null(strstr(complaints.what, "presett"));
}

/* ---- files ---- */

static void test_file_syntax(void **state)
{
    struct settings settings;

    (void)state;
    write_text("vk_layer_settings.txt", "\xef\xbb\xbfrobust_cache.scope=shared\r\n"
                                        "  robust_cache.persist\t =  off  # never\r\n"
                                        "khronos_validation.foo = bar\n"
                                        "no equals sign at all\n"
                                        "robust_cached.scope = app\n"
                                        "#robust_cache.envelope = strip\n"
                                        "robust_cache.load_timeout = 1\n"
                                        "robust_cache.load_timeout = 2\n"
                                        "robust_cache.app_id = a = b\n"
                                        "robust_cache.log_level = info");
    settings = read_settings(NULL);
    assert_no_complaint();
    assert_int_equal(settings.values.scope, SETTINGS_SCOPE_SHARED);
    assert_int_equal(settings.values.persist, SETTINGS_PERSIST_OFF);
    assert_int_equal(settings.values.envelope, SETTINGS_ENVELOPE_ON);
    assert_int_equal(settings.values.load_timeout, 2);
    assert_string_equal(settings.values.app_id, "a = b");
    assert_int_equal(settings.values.log_level, SETTINGS_LOG_LEVEL_INFO);
    settings_finish(&settings);

    write_text("vk_layer_settings.txt", "robust_cache.scope shared\n");
    read_values(NULL);
    assert_int_equal(complaints.count, 1);
    assert_string_equal(complaints.where, "vk_layer_settings.txt:1");
}

/* The places, each before the next: named file, named folder, XDG, home, working directory. */
static void test_file_places(void **state)
{
    (void)state;
    assert_int_equal(read_values(NULL).load_timeout, 0);
    write_text("vk_layer_settings.txt", "robust_cache.load_timeout = 1\n");
    assert_int_equal(read_values(NULL).load_timeout, 1);
    write_text(path_of("home/.local/share/vulkan/settings.d/vk_layer_settings.txt"),
               "robust_cache.load_timeout = 2\n");
    assert_int_equal(read_values(NULL).load_timeout, 2);
    setenv("XDG_DATA_HOME", path_of("xdg"), 1);
    assert_int_equal(read_values(NULL).load_timeout, 1);
    write_text(path_of("xdg/vulkan/settings.d/vk_layer_settings.txt"), "robust_cache.load_timeout = 3\n");
    assert_int_equal(read_values(NULL).load_timeout, 3);
    setenv("XDG_DATA_HOME", "relative", 1);
    assert_int_equal(read_values(NULL).load_timeout, 2);
    write_text(path_of("named/vk_layer_settings.txt"), "robust_cache.load_timeout = 4\n");
    setenv("VK_LAYER_SETTINGS_PATH", path_of("named"), 1);
    assert_int_equal(read_values(NULL).load_timeout, 4);
    write_text(path_of("named/other.txt"), "robust_cache.load_timeout = 5\n");
    setenv("VK_LAYER_SETTINGS_PATH", path_of("named/other.txt"), 1);
    assert_int_equal(read_values(NULL).load_timeout, 5);
    assert_no_complaint();
    setenv("VK_LAYER_SETTINGS_PATH", path_of("missing"), 1);
    assert_int_equal(read_values(NULL).load_timeout, 2);
    assert_int_equal(complaints.count, 1);
    assert_string_equal(complaints.where, path_of("missing"));
}

static void test_own_file(void **state)
{
    (void)state;
    write_text(path_of("home/.config/robust_cache/game.conf"),
               "load_timeout = 1\nrobust_cache.scope = shared\n");
    assert_int_equal(read_values(NULL).load_timeout, 1);
    assert_no_complaint();
    setenv("XDG_CONFIG_HOME", path_of("config"), 1);
    assert_int_equal(read_values(NULL).load_timeout, 0);
    write_text(path_of("config/robust_cache/game.conf"), "load_timeout = 2\n");
    assert_int_equal(read_values(NULL).load_timeout, 2);
    setenv("VK_ROBUST_CACHE_APP_ID", "other", 1);
    assert_int_equal(read_values(NULL).load_timeout, 0);
    write_text(path_of("config/robust_cache/other.conf"), "load_timeout = 3\nkhronos_validation.x = 1\n");
    assert_int_equal(read_values(NULL).load_timeout, 3);
    assert_int_equal(complaints.count, 1); /* in this file nobody else's settings stand */
    setenv("VK_ROBUST_CACHE_APP_ID", "", 1);
    assert_int_equal(read_values(NULL).load_timeout, 2);
}

static void check_file_refused(const char *why)
{
    struct settings settings = read_settings(NULL);

    check(complaints.count == 1 && strstr(complaints.what, why), "%d, %s: %s", complaints.count,
          complaints.where, complaints.what);
    assert_defaults(&settings.values);
    settings_finish(&settings);
}

static void test_hostile_files(void **state)
{
    static char big[(1 << 20) + 1];
    const char *name = "vk_layer_settings.txt";

    (void)state;
    memset(big, '\n', sizeof(big));
    memcpy(big, "robust_cache.cache=off\n", 23);
    write_bytes(name, big, sizeof(big));
    check_file_refused("larger than 1 MiB");
    write_bytes(name, big, sizeof(big) - 1);
    assert_false(read_values(NULL).cache);
    assert_no_complaint();
    memset(big, 'x', sizeof(big)); /* one huge line */
    memcpy(big, "robust_cache.cache=", 19);
    write_bytes(name, big, sizeof(big) - 1);
    check_file_refused("cache is 'xxx");
    write_bytes(name, "robust_cache.cache=off\n\0x", 25);
    check_file_refused("isn't a text file");
    unlink(name);
    assert_int_equal(mkdir(name, 0700), 0);
    check_file_refused("isn't a regular file");
    assert_int_equal(rmdir(name), 0);
    assert_int_equal(mkfifo(name, 0600), 0);
    check_file_refused("isn't a regular file");
    unlink(name);
    assert_int_equal(symlink("/dev/zero", name), 0);
    check_file_refused("isn't a regular file");
    unlink(name);
    assert_int_equal(symlink(name, name), 0);
    check_file_refused("can't be read");
}

static void test_many_unknown_keys_are_few_lines(void **state)
{
    static char text[1 << 19];
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 10000; i++)
        length += (size_t)sprintf(text + length, "robust_cache.unknown%d = 1\n", i);
    write_text("vk_layer_settings.txt", text);
    read_values(NULL);
    assert_int_equal(complaints.count, 9);
}

/* A working directory may be anyone's, /tmp for one: its file could send this user's logs anywhere. */
static void test_foreign_file_in_working_directory(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    write_text("vk_layer_settings.txt", "robust_cache.cache = off\n");
    assert_int_equal(chown("vk_layer_settings.txt", 65534, 65534), 0);
    check_file_refused("belongs to another user");
    setenv("VK_LAYER_SETTINGS_PATH", path_of("cwd"), 1);
    assert_false(read_values(NULL).cache);
    assert_no_complaint();
}

static void test_random_files(void **state)
{
    static const char *const words[] = {
        "robust_cache.",        "cache", "preset", "max_size", "=",  "=", "\n", "\n", "#", " ", "off", "on",
        "99999999999999999999", "1",     "G",      "\r",       "\t", "-", ","};
    struct random random = random_from(random_seed());

    (void)state;
    for (int round = 0; round < 1500; round++) {
        uint8_t text[2000];
        size_t size = 0;

        while (size < sizeof(text) - 32 && random_below(&random, 200) > 0) {
            if (random_below(&random, 8) == 0) {
                random_fill(&random, text + size, 4);
                size += 4;
            } else {
                const char *word = words[random_below(&random, sizeof(words) / sizeof(words[0]))];

                memcpy(text + size, word, strlen(word));
                size += strlen(word);
            }
        }
        write_bytes("vk_layer_settings.txt", text, size);
        struct settings_values values = read_values(NULL);
        check(values.preset <= SETTINGS_PRESET_OFF && values.max_size >= 1024 &&
                  values.max_size <= 64ull << 30,
              "round %d", round);
    }
}

/* ---- VK_EXT_layer_settings ---- */

#define API(name_, type_, count, ...)                                                                        \
    {                                                                                                        \
        .pLayerName = "VK_LAYER_ROBUST_cache", .pSettingName = name_,                                        \
        .type = VK_LAYER_SETTING_TYPE_##type_##_EXT, .valueCount = count, .pValues = __VA_ARGS__             \
    }

static struct settings read_api(const VkLayerSettingEXT *list, uint32_t count)
{
    const VkLayerSettingsCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT, .settingCount = count, .pSettings = list};
    const VkBaseInStructure unknown = {.sType = (VkStructureType)1999999999, .pNext = (const void *)&info};

    return read_settings(&unknown);
}

static void test_api_types(void **state)
{
    const VkLayerSettingEXT list[] = {
        API("cache", BOOL32, 1, &(VkBool32){VK_FALSE}),
        API("adopt_empty", INT32, 1, &(int32_t){0}),
        API("max_size", INT64, 1, &(int64_t){1 << 20}),
        API("total_size", UINT64, 1, &(uint64_t){1ull << 40}),
        API("save_interval", UINT32, 1, &(uint32_t){5}),
        API("load_timeout", FLOAT64, 1, &(double){250.0}),
        API("log_level", STRING, 1, &(const char *){"info"}),
        API("skip", STRING, 2, ((const char *const[]){"a", "b*"})),
        API("read_dirs", STRING, 0, NULL),
        {.pLayerName = "VK_LAYER_KHRONOS_validation", .pSettingName = "foo", .valueCount = 1},
    };
    struct settings settings = read_api(list, sizeof(list) / sizeof(list[0]));

    (void)state;
    assert_no_complaint();
    assert_false(settings.values.cache);
    assert_false(settings.values.adopt_empty);
    assert_int_equal(settings.values.max_size, 1 << 20);
    assert_true(settings.values.total_size == 1ull << 40);
    assert_int_equal(settings.values.save_interval, 5);
    assert_int_equal(settings.values.load_timeout, 250);
    assert_int_equal(settings.values.log_level, SETTINGS_LOG_LEVEL_INFO);
    assert_string_equal(settings.values.skip, "a,b*");
    assert_null(settings.values.read_dirs);
    settings_finish(&settings);
}

static void test_api_size_as_text(void **state)
{
    const VkLayerSettingEXT list[] = {API("max_size", STRING, 1, &(const char *){"16MiB"})};
    struct settings settings = read_api(list, 1);

    (void)state;
    assert_no_complaint();
    assert_int_equal(settings.values.max_size, 16 << 20);
    settings_finish(&settings);
}

static void test_api_malformed(void **state)
{
    const VkLayerSettingEXT list[] = {
        API("max_size", INT32, 1, &(int32_t){-1}),
        API("save_interval", UINT32, 2, ((const uint32_t[]){1, 2})),
        API("load_timeout", FLOAT32, 1, &(float){1.5f}),
        API("cache", INT32, 0, NULL),
        API("substitute", BOOL32, 1, &(VkBool32){VK_TRUE}),
        API("no_such_key", BOOL32, 1, &(VkBool32){VK_TRUE}),
        {.pLayerName = "VK_LAYER_ROBUST_cache",
         .pSettingName = "scope",
         .type = (VkLayerSettingTypeEXT)99,
         .valueCount = 1,
         .pValues = ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct settings settings = read_api(&list[i], 1);

        check(complaints.count == 1, "setting %zu: %d complaints", i, complaints.count);
        check(strcmp(complaints.where, "VK_EXT_layer_settings") == 0 &&
                  strstr(complaints.what, list[i].pSettingName),
              "%s: %s", complaints.where, complaints.what);
        assert_defaults(&settings.values);
        settings_finish(&settings);
    }
}

/* P15: a secure process listens to its own code alone. */
static void test_secure(void **state)
{
    const struct application_facts secure = {.executable = "/opt/game", .secure = true};
    const VkLayerSettingEXT list[] = {API("load_timeout", UINT32, 1, &(uint32_t){7})};
    const VkLayerSettingsCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT, .settingCount = 1, .pSettings = list};
    struct settings settings;

    (void)state;
    setenv("VK_ROBUST_CACHE_CACHE", "off", 1);
    setenv("VK_ROBUST_CACHE_NONSENSE", "off", 1);
    setenv("VK_LAYER_SETTINGS_PATH", path_of("named"), 1);
    write_text(path_of("named/vk_layer_settings.txt"), "robust_cache.scope = shared\n");
    write_text("vk_layer_settings.txt", "robust_cache.scope = shared\n");
    write_text(path_of("home/.config/robust_cache/game.conf"), "scope = shared\n");
    memset(&complaints, 0, sizeof(complaints));
    assert_true(settings_init(&settings, &info, &secure, complain, &complaints));
    assert_no_complaint();
    assert_int_equal(settings.values.load_timeout, 7);
    settings.values.load_timeout = 0;
    assert_defaults(&settings.values);
    settings_finish(&settings);
}

/* ---- out of memory ---- */

/* The linker sends the layer's allocations here (--wrap): the n-th from now fails, -1: none. */
static int allocation_to_fail = -1;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
FILE *__real_open_memstream(char **data, size_t *size);
FILE *__wrap_open_memstream(char **data, size_t *size);

static bool allocation_fails(void)
{
    return allocation_to_fail >= 0 && allocation_to_fail-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

FILE *__wrap_open_memstream(char **data, size_t *size)
{
    return allocation_fails() ? NULL : __real_open_memstream(data, size);
}

/* C31: each allocation in turn fails; the defaults hold and nothing leaks (the sanitizer's build sees that).
 */
static void test_out_of_memory(void **state)
{
    int failed = 0;

    (void)state;
    setenv("VK_ROBUST_CACHE_PRESET", "off", 1);
    setenv("VK_ROBUST_CACHE_APP_ID", "game", 1);
    write_text("vk_layer_settings.txt", "robust_cache.scope = shared\n");
    write_text(path_of("home/.config/robust_cache/game.conf"), "dir = /x\n");
    for (;; failed++) {
        struct settings settings;
        bool done;

        allocation_to_fail = failed;
        done = settings_init(&settings, NULL, &facts, complain, &complaints);
        if (done) {
            assert_int_equal(settings.values.preset, SETTINGS_PRESET_OFF);
            settings_finish(&settings);
            break;
        }
        assert_defaults(&settings.values);
    }
    allocation_to_fail = -1;
    assert_int_equal(failed, 4); /* the API's text, two files, the strings */
}

/* ---- order ---- */

enum { FROM_API, FROM_FILE, FROM_OWN_FILE, FROM_ENVIRONMENT, FROM_COUNT };

/* Sets `key` through the sources in `mask`; each source gives its own of the `texts`. No strings in what
 * comes back. */
static struct settings settings_from(unsigned mask, const char *key, const char *const texts[FROM_COUNT])
{
    char line[128];
    char name[64];
    const VkLayerSettingEXT list[] = {API(key, STRING, 1, &texts[FROM_API])};
    struct settings settings;

    environment_name(key, name, sizeof(name));
    unlink("vk_layer_settings.txt");
    unlink(path_of("home/.config/robust_cache/game.conf"));
    unsetenv(name);
    if (mask & 1 << FROM_FILE) {
        snprintf(line, sizeof(line), "robust_cache.%s = %s\n", key, texts[FROM_FILE]);
        write_text("vk_layer_settings.txt", line);
    }
    if (mask & 1 << FROM_OWN_FILE) {
        snprintf(line, sizeof(line), "%s = %s\n", key, texts[FROM_OWN_FILE]);
        write_text(path_of("home/.config/robust_cache/game.conf"), line);
    }
    if (mask & 1 << FROM_ENVIRONMENT)
        setenv(name, texts[FROM_ENVIRONMENT], 1);
    settings = read_api(list, mask & 1 << FROM_API ? 1 : 0);
    assert_no_complaint();
    settings_finish(&settings);
    unsetenv(name);
    return settings;
}

static struct settings_values read_from(unsigned mask, const char *key, const char *const texts[FROM_COUNT])
{
    return settings_from(mask, key, texts).values;
}

static unsigned highest(unsigned mask)
{
    unsigned source = 0;

    while (mask >> (source + 1))
        source++;
    return source;
}

/* Every set of sources, for a plain key and for one that depends on the preset. */
static void test_order_of_sources(void **state)
{
    static const char *const numbers[FROM_COUNT] = {"1", "2", "3", "4"};
    static const char *const presets[FROM_COUNT] = {"off", "caches", "off", "caches"};

    (void)state;
    for (unsigned mask = 0; mask < 1 << FROM_COUNT; mask++) {
        struct settings_values values = read_from(mask, "load_timeout", numbers);

        check(values.load_timeout == (mask ? highest(mask) + 1 : 0), "sources %x: %u", mask,
              values.load_timeout);
        values = read_from(mask, "preset", presets);
        check(values.cache == (mask == 0 || highest(mask) % 2 == 1), "sources %x: %d", mask, values.cache);
        check((values.preset == SETTINGS_PRESET_CACHES || values.preset == SETTINGS_PRESET_REPAIR) ==
                  values.cache,
              "sources %x", mask);
    }
}

/* The preset is settled first: a key that is set anywhere beats it, even where the preset comes from a
 * stronger source. */
static void test_keys_beat_the_preset(void **state)
{
    static const char *const cache[FROM_COUNT] = {"true", "true", "true", "true"};

    (void)state;
    setenv("VK_ROBUST_CACHE_PRESET", "off", 1);
    for (unsigned mask = 0; mask < 1 << FROM_COUNT; mask++) {
        struct settings_values values = read_from(mask, "cache", cache);

        check(values.cache == (mask != 0), "sources %x", mask);
        check(values.preset == SETTINGS_PRESET_OFF, "sources %x", mask);
    }
}

/* Where barriers are only reported the log shows warnings, unless a source says what it shows. */
static void test_log_level_follows_barriers(void **state)
{
    static const char *const report[FROM_COUNT] = {"report", "report", "report", "report"};
    static const char *const error[FROM_COUNT] = {"error", "error", "error", "error"};

    (void)state;
    setenv("VK_ROBUST_CACHE_PRESET", "report", 1);
    assert_int_equal(read_values(NULL).log_level, SETTINGS_LOG_LEVEL_WARNING);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "nothing", 1); /* as if it weren't there */
    assert_int_equal(read_values(NULL).log_level, SETTINGS_LOG_LEVEL_WARNING);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "debug", 1);
    assert_int_equal(read_values(NULL).log_level, SETTINGS_LOG_LEVEL_DEBUG);
    setenv("VK_ROBUST_CACHE_BARRIERS", "off", 1);
    unsetenv("VK_ROBUST_CACHE_LOG_LEVEL");
    assert_int_equal(read_values(NULL).log_level, SETTINGS_LOG_LEVEL_ERROR);
    clear_environment();
    for (unsigned mask = 0; mask < 1 << FROM_COUNT; mask++) {
        check((read_from(mask, "barriers", report).log_level == SETTINGS_LOG_LEVEL_WARNING) == (mask != 0),
              "sources %x", mask);
        setenv("VK_ROBUST_CACHE_BARRIERS", "report", 1);
        check((read_from(mask, "log_level", error).log_level == SETTINGS_LOG_LEVEL_ERROR) == (mask != 0),
              "sources %x", mask);
        unsetenv("VK_ROBUST_CACHE_BARRIERS");
    }
}

static void test_only_report(void **state)
{
    struct settings settings = read_settings(NULL);

    (void)state;
    settings_only_report(&settings);
    assert_int_equal(settings.values.barriers, SETTINGS_BARRIERS_REPORT);
    assert_int_equal(settings.values.log_level, SETTINGS_LOG_LEVEL_WARNING);
    settings_finish(&settings);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "error", 1);
    settings = read_settings(NULL);
    settings_only_report(&settings);
    assert_int_equal(settings.values.log_level, SETTINGS_LOG_LEVEL_ERROR);
    settings_finish(&settings);
}

/* What the application asks for isn't what its user says, nor is a preset. */
static void test_who_says_barriers(void **state)
{
    static const char *const repair[FROM_COUNT] = {"repair", "repair", "repair", "repair"};

    (void)state;
    setenv("VK_ROBUST_CACHE_PRESET", "repair", 1);
    setenv("VK_ROBUST_CACHE_BARRIERS", "mend", 1);
    struct settings settings = read_settings(NULL);
    assert_int_equal(settings.values.barriers, SETTINGS_BARRIERS_REPAIR);
    assert_false(settings.barriers_said);
    settings_finish(&settings);
    clear_environment();
    for (unsigned mask = 0; mask < 1 << FROM_COUNT; mask++)
        check(settings_from(mask, "barriers", repair).barriers_said == ((mask & ~(1u << FROM_API)) != 0),
              "sources %x", mask);
}

#define SETTINGS_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SETTINGS_TEST(test_defaults),
        SETTINGS_TEST(test_good_values),
        SETTINGS_TEST(test_dir_too_long),
        SETTINGS_TEST(test_malformed_values),
        SETTINGS_TEST(test_malformed_falls_to_the_next),
        SETTINGS_TEST(test_strings_are_copied),
        SETTINGS_TEST(test_empty_text_means_none),
        SETTINGS_TEST(test_unknown_keys),
        SETTINGS_TEST(test_file_syntax),
        SETTINGS_TEST(test_file_places),
        SETTINGS_TEST(test_own_file),
        SETTINGS_TEST(test_hostile_files),
        SETTINGS_TEST(test_many_unknown_keys_are_few_lines),
        SETTINGS_TEST(test_foreign_file_in_working_directory),
        SETTINGS_TEST(test_random_files),
        SETTINGS_TEST(test_api_types),
        SETTINGS_TEST(test_api_size_as_text),
        SETTINGS_TEST(test_api_malformed),
        SETTINGS_TEST(test_secure),
        SETTINGS_TEST(test_out_of_memory),
        SETTINGS_TEST(test_order_of_sources),
        SETTINGS_TEST(test_keys_beat_the_preset),
        SETTINGS_TEST(test_log_level_follows_barriers),
        SETTINGS_TEST(test_only_report),
        SETTINGS_TEST(test_who_says_barriers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
