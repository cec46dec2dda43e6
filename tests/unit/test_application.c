#include "check.h"
#include "random.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "application.h"

#define ARGUMENTS(...)                                                                                       \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

static const char *name_of(const struct application_facts *facts, const char *app_id)
{
    static char name[APPLICATION_NAME_SIZE];

    memset(name, 'x', sizeof(name));
    application_name(facts, app_id, name);
    return name;
}

static const char *name_of_program(const char *executable, const char *const *arguments)
{
    return name_of(&(struct application_facts){.executable = executable, .arguments = arguments}, NULL);
}

/* ---- the name ---- */

static void test_name_precedence(void **state)
{
    struct application_facts facts = {
        .executable = "/usr/bin/game",
        .application_name = "Game",
        .engine_name = "Engine",
        .flatpak_id = "org.example.Game",
        .snap_instance_name = "game_1",
        .steam_app_id = "440",
        .android_package = "com.example.game:render",
    };

    (void)state;
    assert_string_equal(name_of(&facts, "mine"), "mine");
    assert_string_equal(name_of(&facts, NULL), "org.example.Game");
    assert_string_equal(name_of(&facts, ""), "org.example.Game");
    facts.flatpak_id = NULL;
    assert_string_equal(name_of(&facts, NULL), "game_1");
    facts.snap_instance_name = "";
    assert_string_equal(name_of(&facts, NULL), "steam-440");
    facts.steam_app_id = "0";
    assert_string_equal(name_of(&facts, NULL), "com.example.game");
    facts.android_package = NULL;
    assert_string_equal(name_of(&facts, NULL), "game+Game+Engine");
    facts.application_name = NULL;
    assert_string_equal(name_of(&facts, NULL), "game+Engine");
    facts.engine_name = NULL;
    assert_string_equal(name_of(&facts, NULL), "game");
    facts.executable = NULL;
    assert_string_equal(name_of(&facts, NULL), "unknown");
}

/* C38: one store whatever the path, the mount, the checkout, or an update while the program runs. */
static void test_name_ignores_path(void **state)
{
    (void)state;
    assert_string_equal(name_of_program("/tmp/.mount_GameAb12Cd/usr/bin/game", NULL), "game");
    assert_string_equal(name_of_program("/tmp/.mount_GameXy98Zw/usr/bin/game", NULL), "game");
    assert_string_equal(name_of_program("/opt/game-1.2/game", NULL), "game");
    assert_string_equal(name_of_program("/opt/game-1.3/game (deleted)", NULL), "game");
    assert_string_equal(name_of_program("/ci/1/python3.11", ARGUMENTS("python3.11", "/ci/1/run.py")),
                        "run.py");
    assert_string_equal(name_of_program("/ci/2/python3.12", ARGUMENTS("python3.12", "../2/run.py")),
                        "run.py");
}

static void test_name_wine(void **state)
{
    static const char *const loaders[] = {"wine", "wine64", "wine-preloader", "wine64-preloader"};
    char path[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
        snprintf(path, sizeof(path), "/opt/proton/bin/%s", loaders[i]);
        assert_string_equal(
            name_of_program(path, ARGUMENTS(path, "C:\\Games\\Portal\\Game.exe", "-w", "x.exe")), "Game.exe");
    }
    assert_string_equal(name_of_program("/usr/bin/wine64", ARGUMENTS("Z:\\home\\me\\A.EXE", "-fullscreen")),
                        "A.EXE");
    assert_string_equal(name_of_program("/usr/bin/wine", ARGUMENTS("wine", "/home/me/b.exe")), "b.exe");
    assert_string_equal(name_of_program("/usr/bin/wine", ARGUMENTS("wine", "notepad")), "wine");
    assert_string_equal(name_of_program("/usr/bin/wine", NULL), "wine");
    assert_string_equal(name_of_program("/usr/bin/game", ARGUMENTS("game", "x.exe")), "game");
}

static void test_name_interpreters(void **state)
{
    struct application_facts facts = {.executable = "/usr/lib/jvm/21/bin/java",
                                      .arguments =
                                          ARGUMENTS("java", "-Xmx2g", "-cp", "/a/b.jar:/a/c.jar", "net.Main"),
                                      .application_name = "Minecraft",
                                      .engine_name = "LWJGL"};

    (void)state;
    assert_string_equal(name_of(&facts, NULL), "Minecraft+LWJGL");
    facts.application_name = "";
    assert_string_equal(name_of(&facts, NULL), "net.Main+LWJGL");
    facts.arguments = ARGUMENTS("java", "-jar", "/opt/a/tool.jar", "in.txt");
    assert_string_equal(name_of(&facts, NULL), "tool.jar+LWJGL");
    assert_string_equal(name_of_program("/usr/bin/python3", ARGUMENTS("python3", "-E", "-I", "a.py", "b.py")),
                        "a.py");
    assert_string_equal(name_of_program("/usr/bin/python3.11", ARGUMENTS("python", "-W", "ignore", "a.py")),
                        "a.py");
    assert_string_equal(name_of_program("/usr/bin/python3", ARGUMENTS("python3", "-m", "pkg.tool")),
                        "pkg.tool");
    assert_string_equal(name_of_program("/usr/bin/python3", ARGUMENTS("python3", "-c", "secret", "x")),
                        "python3");
    assert_string_equal(name_of_program("/usr/bin/python3", ARGUMENTS("python3")), "python3");
    assert_string_equal(name_of_program("/usr/bin/python3", (const char *const[]){NULL}), "python3");
    assert_string_equal(name_of_program("/usr/bin/python3", NULL), "python3");
    assert_string_equal(name_of_program("/usr/bin/python-editor", ARGUMENTS("python-editor", "x")),
                        "python-editor");
    assert_string_equal(name_of_program("/usr/bin/node", ARGUMENTS("node", "-r", "ts", "/srv/app.js")),
                        "app.js");
    assert_string_equal(name_of_program("/usr/bin/mono", ARGUMENTS("mono", "--debug", "/g/Game.exe")),
                        "Game.exe");
    assert_string_equal(name_of_program("/usr/bin/dotnet", ARGUMENTS("dotnet", "/g/Game.dll")), "Game.dll");
    assert_string_equal(name_of_program("/usr/bin/ruby3.1", ARGUMENTS("ruby", "g.rb")), "g.rb");
    assert_string_equal(name_of_program("/usr/bin/perl", ARGUMENTS("perl", "-w", "g.pl")), "g.pl");
    assert_string_equal(name_of_program("/lib/ld-linux-x86-64.so.2",
                                        ARGUMENTS("ld.so", "--library-path", "/a/lib", "/a/bin/game")),
                        "game");
}

static void test_name_is_a_safe_file_name(void **state)
{
    (void)state;
    assert_string_equal(name_of_program("/bin/A-z_0.9+", NULL), "A-z_0.9+");
    assert_memory_equal(name_of_program("/bin/a game", NULL), "a_game-", 7);
    assert_memory_equal(name_of(&(struct application_facts){0}, ".."), "_.-", 3);
    assert_memory_equal(name_of(&(struct application_facts){0}, ".hidden"), "_hidden-", 8);
    assert_memory_equal(name_of(&(struct application_facts){0}, "../../etc"), "_._.._etc-", 10);
    assert_memory_equal(name_of(&(struct application_facts){0}, "Zürich"), "Z__rich-", 8);
    assert_int_equal(strlen(name_of(&(struct application_facts){0}, "Zürich")), 16);
}

/* Names that differ only in what is replaced or cut stay different, and the same name always gives the same
 * file. */
static void test_name_stays_distinct(void **state)
{
    char first[APPLICATION_NAME_SIZE];
    char text[400];

    (void)state;
    strcpy(first, name_of(&(struct application_facts){0}, "a/b"));
    assert_string_not_equal(first, name_of(&(struct application_facts){0}, "a\\b"));
    assert_string_not_equal(first, name_of(&(struct application_facts){0}, "a_b"));
    assert_string_equal(first, name_of(&(struct application_facts){0}, "a/b"));

    memset(text, 'n', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    strcpy(first, name_of(&(struct application_facts){0}, text));
    assert_int_equal(strlen(first), APPLICATION_NAME_SIZE - 1);
    text[sizeof(text) - 2] = 'm';
    assert_string_not_equal(first, name_of(&(struct application_facts){0}, text));
    text[APPLICATION_NAME_SIZE - 1] = '\0';
    assert_string_equal(text, name_of(&(struct application_facts){0}, text));
    text[APPLICATION_NAME_SIZE - 1] = 'n';
    text[APPLICATION_NAME_SIZE] = '\0';
    assert_string_not_equal(text, name_of(&(struct application_facts){0}, text));
}

static void check_safe(const char *name, const char *from)
{
    const size_t length = strlen(name);

    check(length > 0 && length < APPLICATION_NAME_SIZE && name[0] != '.', "name '%s' from '%s'", name, from);
    check(strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-") == length,
          "name '%s' from '%s'", name, from);
}

static void test_name_of_random_bytes(void **state)
{
    struct random random = random_from(random_seed());

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char texts[4][300];

        for (int i = 0; i < 4; i++) {
            const size_t size = random_below(&random, sizeof(texts[i]));

            random_fill(&random, texts[i], sizeof(texts[i]));
            texts[i][size] = '\0';
        }
        check_safe(name_of(&(struct application_facts){.executable = texts[0],
                                                       .arguments = ARGUMENTS(texts[3]),
                                                       .application_name = texts[1],
                                                       .engine_name = texts[2]},
                           round % 2 ? texts[3] : NULL),
                   texts[0]);
    }
}

/* ---- whether to enter ---- */

static bool wanted(const char *executable, const char *only, const char *skip)
{
    return application_wanted(&(struct application_facts){.executable = executable}, only, skip);
}

static void test_wanted_builtin(void **state)
{
    static const char *const skipped[] = {"kwin_wayland",   "kwin_x11",         "gnome-shell",
                                          "mutter",         "weston",           "sway",
                                          "Hyprland",       "wayfire",          "labwc",
                                          "river",          "cosmic-comp",      "Xwayland",
                                          "Xorg",           "gamescope",        "gamescope-wl",
                                          "steamwebhelper", "fossilize_replay", "fossilize-replay",
                                          "renderdoccmd",   "qrenderdoc",       "gfxrecon-replay"};
    char path[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++) {
        snprintf(path, sizeof(path), "/usr/bin/%s", skipped[i]);
        check(!wanted(path, NULL, NULL), "%s", path);
        check(!wanted(path, NULL, "game"), "%s with a list of the user's", path);
        check(wanted(path, skipped[i], NULL), "%s named by only", path);
    }
    assert_true(wanted("/usr/bin/weston-simple-egl", NULL, NULL));
    assert_true(wanted("/usr/bin/game", NULL, NULL));
    assert_true(wanted(NULL, NULL, NULL));
}

static void test_wanted_lists(void **state)
{
    const struct application_facts wine = {.executable = "/usr/bin/wine64-preloader",
                                           .arguments = ARGUMENTS("wine", "C:\\x\\Portal.exe"),
                                           .application_name = "portal-title",
                                           .steam_app_id = "400"};

    (void)state;
    assert_true(wanted("/opt/game", "game", NULL));
    assert_true(wanted("/opt/game", "other , ga*", NULL));
    assert_false(wanted("/opt/game", "other,gam", NULL));
    assert_false(wanted("/opt/game", ",", NULL));
    assert_false(wanted("/opt/game", NULL, "x,game"));
    assert_false(wanted("/opt/game", NULL, " game\t,"));
    assert_true(wanted("/opt/game", NULL, "x,,games"));
    assert_false(wanted("/opt/game", "game", "ga?e"));
    assert_false(wanted("/opt/game", NULL, "GAME"));

    assert_false(application_wanted(&wine, NULL, "portal.exe"));
    assert_false(application_wanted(&wine, NULL, "wine64-preloader"));
    assert_false(application_wanted(&wine, NULL, "portal-title"));
    assert_false(application_wanted(&wine, NULL, "steam-400"));
    assert_true(application_wanted(&wine, NULL, "steam-40"));
}

static void test_browser(void **state)
{
    static const char *const browsers[] = {"chrome", "chromium", "firefox",     "firefox-bin",   "brave",
                                           "msedge", "opera",    "vivaldi-bin", "electron",      "electron27",
                                           "code",   "slack",    "Discord",     "signal-desktop"};
    char path[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(browsers) / sizeof(browsers[0]); i++) {
        snprintf(path, sizeof(path), "/opt/x/%s", browsers[i]);
        check(application_is_browser(&(struct application_facts){.executable = path}), "%s", path);
    }
    assert_false(application_is_browser(&(struct application_facts){.executable = "/usr/bin/game"}));
    assert_false(application_is_browser(&(struct application_facts){.executable = "/opt/chrome/operator"}));
    assert_false(application_is_browser(&(struct application_facts){0}));
    assert_true(
        application_is_browser(&(struct application_facts){.executable = "/x/game", .chromium_files = true}));
    assert_true(application_is_browser(&(struct application_facts){
        .executable = "/x/helper", .arguments = ARGUMENTS("helper", "--type=gpu-process")}));
    assert_false(application_is_browser(&(struct application_facts){
        .executable = "/x/editor", .arguments = ARGUMENTS("editor", "--type=text")}));
    assert_true(application_is_browser(&(struct application_facts){
        .executable = "/usr/bin/wine", .arguments = ARGUMENTS("C:\\a\\Firefox.exe")}));
    assert_true(application_is_browser(
        &(struct application_facts){.executable = "/system/bin/app_process64",
                                    .android_package = "com.android.chrome:privileged_process0"}));
}

/* ---- where the store lives ---- */

static struct {
    const char *name;
    const char *value;
} variables[8];

static const char *fake_getenv(const char *name)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (variables[i].name && strcmp(variables[i].name, name) == 0)
            return variables[i].value;
    }
    return NULL;
}

static void set_variable(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (!variables[i].name || strcmp(variables[i].name, name) == 0) {
            variables[i].name = name;
            variables[i].value = value;
            return;
        }
    }
    abort();
}

static char folder[] = "/tmp/robust-cache-test-XXXXXX";

static int setup_folder(void **state)
{
    (void)state;
    memset(variables, 0, sizeof(variables));
    strcpy(folder, "/tmp/robust-cache-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown_folder(void **state)
{
    static const char *const below[] = {"/.cache",
                                        "/user/%lu/com.example.app",
                                        "/user_de/%lu/com.example.app",
                                        "/user/%lu",
                                        "/user_de/%lu",
                                        "/user",
                                        "/user_de",
                                        ""};
    char path[PATH_MAX];
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        snprintf(name, sizeof(name), below[i], (unsigned long)getuid() / 100000);
        snprintf(path, sizeof(path), "%s%s", folder, name);
        rmdir(path);
    }
    return access(folder, F_OK) == 0 ? -1 : 0;
}

static const char *root_of(const struct application_facts *facts)
{
    static char root[PATH_MAX];

    return application_store_root(facts, fake_getenv, root, sizeof(root)) ? root : NULL;
}

static const char *below_folder(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s%s", folder, name);
    return path;
}

static void test_root_precedence(void **state)
{
    const struct application_facts facts = {0};

    (void)state;
    assert_null(root_of(&facts));
    set_variable("HOME", folder);
    assert_string_equal(root_of(&facts), below_folder("/.cache/robust_cache"));
    set_variable("CACHE_DIRECTORY", "/var/cache/svc:/var/cache/other");
    assert_string_equal(root_of(&facts), "/var/cache/svc/robust_cache");
    set_variable("SNAP_USER_COMMON", "/home/me/snap/game/common");
    assert_string_equal(root_of(&facts), "/home/me/snap/game/common/.cache/robust_cache");
    set_variable("XDG_CACHE_HOME", "/home/me/a:b//");
    assert_string_equal(root_of(&facts), "/home/me/a:b/robust_cache");
    set_variable("STEAM_COMPAT_SHADER_PATH", "/steam/shadercache/440");
    assert_string_equal(root_of(&facts), "/steam/shadercache/440/robust_cache");
}

static void test_root_ignores_relative(void **state)
{
    const struct application_facts facts = {0};

    (void)state;
    set_variable("STEAM_COMPAT_SHADER_PATH", "steam");
    set_variable("XDG_CACHE_HOME", "");
    set_variable("SNAP_USER_COMMON", "snap");
    set_variable("CACHE_DIRECTORY", ":/var/cache/x");
    set_variable("HOME", ".");
    assert_null(root_of(&facts));
    set_variable("HOME", folder);
    assert_string_equal(root_of(&facts), below_folder("/.cache/robust_cache"));
}

/* C17, C18 and sudo: a home that is missing or another user's gives no store. */
static void test_root_home_must_be_own(void **state)
{
    const struct application_facts facts = {0};
    char cache[PATH_MAX];

    (void)state;
    set_variable("HOME", "/nonexistent");
    assert_null(root_of(&facts));
    set_variable("HOME", folder);
    strcpy(cache, below_folder("/.cache"));
    assert_int_equal(mkdir(cache, 0700), 0);
    assert_string_equal(root_of(&facts), below_folder("/.cache/robust_cache"));
    assert_int_equal(rmdir(cache), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 65534, 65534), 0);
        assert_null(root_of(&facts));
        assert_int_equal(mkdir(cache, 0700), 0);
        assert_string_equal(root_of(&facts), below_folder("/.cache/robust_cache"));
        assert_int_equal(chown(cache, 65534, 65534), 0);
        assert_null(root_of(&facts));
    } else {
        set_variable("HOME", "/");
        assert_null(root_of(&facts));
    }
}

static void test_root_secure(void **state)
{
    (void)state;
    set_variable("HOME", folder);
    set_variable("XDG_CACHE_HOME", folder);
    set_variable("STEAM_COMPAT_SHADER_PATH", folder);
    assert_null(root_of(&(struct application_facts){.secure = true}));
    assert_null(root_of(&(struct application_facts){.secure = true, .android_package = "com.example.app"}));
}

static void make_android(const char *kind)
{
    char name[128];

    snprintf(name, sizeof(name), "/%s", kind);
    assert_int_equal(mkdir(below_folder(name), 0700), 0);
    snprintf(name, sizeof(name), "/%s/%lu", kind, (unsigned long)getuid() / 100000);
    assert_int_equal(mkdir(below_folder(name), 0700), 0);
    snprintf(name, sizeof(name), "/%s/%lu/com.example.app", kind, (unsigned long)getuid() / 100000);
    assert_int_equal(mkdir(below_folder(name), 0700), 0);
}

static void test_root_android(void **state)
{
    const struct application_facts facts = {.android_package = "com.example.app:remote"};
    char expected[PATH_MAX];

    (void)state;
    set_variable("HOME", folder);
    set_variable("ANDROID_DATA", folder);
    assert_null(root_of(&facts));
    make_android("user_de");
    snprintf(expected, sizeof(expected), "%s/user_de/%lu/com.example.app/cache/robust_cache", folder,
             (unsigned long)getuid() / 100000);
    assert_string_equal(root_of(&facts), expected);
    make_android("user");
    snprintf(expected, sizeof(expected), "%s/user/%lu/com.example.app/cache/robust_cache", folder,
             (unsigned long)getuid() / 100000);
    assert_string_equal(root_of(&facts), expected);
}

static void test_root_that_does_not_fit(void **state)
{
    char exact[sizeof("/a/robust_cache")];

    (void)state;
    set_variable("XDG_CACHE_HOME", "/a");
    assert_true(application_store_root(&(struct application_facts){0}, fake_getenv, exact, sizeof(exact)));
    assert_string_equal(exact, "/a/robust_cache");
    assert_false(
        application_store_root(&(struct application_facts){0}, fake_getenv, exact, sizeof(exact) - 1));
}

/* ---- the running process ---- */

static void test_probe(void **state)
{
    struct application_facts facts;

    (void)state;
    application_probe(&facts);
    assert_false(facts.secure);
    assert_string_equal(strrchr(facts.executable, '/'), "/test_application");
    assert_non_null(strstr(facts.arguments[0], "test_application"));
    assert_null(facts.application_name);
    assert_null(facts.android_package);
    assert_memory_equal(name_of(&facts, NULL), "test_application", 16);
    assert_non_null(application_environment("PATH"));
}

/* P15. Run from a copy of this program that belongs to another user and is set-uid. */
static int secure_child(void)
{
    struct application_facts facts;

    application_probe(&facts);
    return facts.secure && !facts.flatpak_id && !application_environment("PATH") ? 0 : 1;
}

static void copy_self(const char *path)
{
    char buffer[65536];
    const int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    ssize_t got;

    assert_true(in >= 0 && out >= 0);
    while ((got = read(in, buffer, sizeof(buffer))) > 0)
        assert_int_equal(write(out, buffer, (size_t)got), got);
    assert_int_equal(got, 0);
    assert_int_equal(fchown(out, 65534, 65534), 0);
    assert_int_equal(fchmod(out, 04755), 0);
    close(in);
    close(out);
}

static void test_probe_secure(void **state)
{
    char path[PATH_MAX];
    int status;
    pid_t child;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(path, sizeof(path), "%s/set-uid", folder);
    copy_self(path);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("FLATPAK_ID", "org.example.Game", 1);
        execl(path, path, "--secure-child", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    unlink(path);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_precedence),
        cmocka_unit_test(test_name_ignores_path),
        cmocka_unit_test(test_name_wine),
        cmocka_unit_test(test_name_interpreters),
        cmocka_unit_test(test_name_is_a_safe_file_name),
        cmocka_unit_test(test_name_stays_distinct),
        cmocka_unit_test(test_name_of_random_bytes),
        cmocka_unit_test(test_wanted_builtin),
        cmocka_unit_test(test_wanted_lists),
        cmocka_unit_test(test_browser),
        cmocka_unit_test_setup_teardown(test_root_precedence, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_root_ignores_relative, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_root_home_must_be_own, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_root_secure, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_root_android, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_root_that_does_not_fit, setup_folder, teardown_folder),
        cmocka_unit_test(test_probe),
        cmocka_unit_test_setup_teardown(test_probe_secure, setup_folder, teardown_folder),
    };

    if (argc == 2 && strcmp(argv[1], "--secure-child") == 0)
        _exit(secure_child()); /* past the leak checker, which can't look into a set-uid process */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
