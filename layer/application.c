#include "application.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_SUFFIX_SIZE 9 /* a dash and eight digits */
#define COMMAND_LINE_SIZE 32768
#define ARGUMENTS_MAX 256

/* --- which program this is --- */

/* A piece of a string that isn't copied. */
struct span {
    const char *text;
    size_t length;
};

static struct span span_of(const char *text)
{
    return (struct span){text, text ? strlen(text) : 0};
}

static bool span_ends_with(struct span span, const char *ending)
{
    const size_t length = strlen(ending);

    return span.length >= length && strncasecmp(span.text + span.length - length, ending, length) == 0;
}

/* The last part of a path; for Windows paths both separators count. */
static struct span span_basename(struct span path, const char *separators)
{
    for (size_t i = path.length; i > 0; i--) {
        if (strchr(separators, path.text[i - 1]))
            return (struct span){path.text + i, path.length - i};
    }
    return path;
}

static bool span_matches(struct span span, const char *pattern)
{
    char name[NAME_MAX + 1];

    if (span.length == 0 || span.length >= sizeof(name))
        return false;
    memcpy(name, span.text, span.length);
    name[span.length] = '\0';
    return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
}

static bool span_matches_any(struct span span, const char *const *patterns)
{
    for (; *patterns; patterns++) {
        if (span_matches(span, *patterns))
            return true;
    }
    return false;
}

static struct span executable_basename(const struct application_facts *facts)
{
    struct span path = span_of(facts->executable);

    if (span_ends_with(path, " (deleted)")) /* how /proc shows a program that was updated while it runs */
        path.length -= strlen(" (deleted)");
    return span_basename(path, "/");
}

static bool is_wine(struct span executable)
{
    static const char *const names[] = {
        "wine", "wine64", "wine-preloader", "wine64-preloader", "wineloader", "wineloader64", NULL};

    return span_matches_any(executable, names);
}

static struct span wine_program(const struct application_facts *facts)
{
    for (const char *const *argument = facts->arguments; argument && *argument; argument++) {
        if (span_ends_with(span_of(*argument), ".exe"))
            return span_basename(span_of(*argument), "/\\");
    }
    return (struct span){NULL, 0};
}

/* Programs that run another one, which is what should be named: interpreters, emulators, dynamic linkers. */
static bool is_interpreter(struct span executable)
{
    static const char *const names[] = {"java",          "javaw",      "python",         "python[0-9]*",
                                        "pypy",          "pypy[0-9]*", "node",           "nodejs",
                                        "mono",          "mono-sgen*", "dotnet",         "perl",
                                        "perl[0-9]*",    "ruby",       "ruby[0-9]*",     "box64",
                                        "box86",         "FEXLoader",  "FEXInterpreter", "ld-linux*.so*",
                                        "ld-musl-*.so*", NULL};

    return span_matches_any(executable, names);
}

static bool is_one_of(const char *text, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(text, *names) == 0)
            return true;
    }
    return false;
}

/* The first argument that is no option: the script, jar, module or program. None where the code itself stands
 * in the arguments. */
static struct span interpreted_program(const struct application_facts *facts)
{
    static const char *const with_value[] = {
        "-cp", "-classpath", "--class-path",   "-p",        "--module-path", "-W", "-X",
        "-r",  "--require",  "--library-path", "--preload", "--argv0",       NULL};
    static const char *const with_code[] = {"-c", "-e", "--eval", NULL};
    const char *const *argument = facts->arguments && facts->arguments[0] ? facts->arguments + 1 : NULL;

    for (; argument && *argument && !is_one_of(*argument, with_code); argument++) {
        if (**argument != '-' && **argument != '\0')
            return span_basename(span_of(*argument), "/");
        if (is_one_of(*argument, with_value) && argument[1])
            argument++;
    }
    return (struct span){NULL, 0};
}

/* What the user would call the program: the executable, or what Wine or an interpreter runs. */
static struct span program_name(const struct application_facts *facts)
{
    const struct span executable = executable_basename(facts);
    struct span program = {NULL, 0};

    if (is_wine(executable))
        program = wine_program(facts);
    else if (is_interpreter(executable))
        program = interpreted_program(facts);
    return program.length > 0 ? program : executable;
}

/* --- its name in the store --- */

/* Takes a name piece by piece: keeps what is safe in a file name, and a hash (FNV-1a) of all of it. */
struct name_builder {
    char *out;
    size_t length;
    uint32_t hash;
    bool changed;
};

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '+' || c == '-';
}

static void name_put(struct name_builder *name, struct span piece)
{
    for (size_t i = 0; i < piece.length; i++) {
        const char c = piece.text[i];
        const bool safe = is_safe(c) && (c != '.' || name->length > 0);

        name->hash = (name->hash ^ (unsigned char)c) * 16777619u;
        name->changed |= !safe;
        if (name->length < APPLICATION_NAME_SIZE - 1)
            name->out[name->length++] = safe ? c : '_';
        else
            name->changed = true;
    }
}

static void name_put_part(struct name_builder *name, struct span part)
{
    if (part.length == 0)
        return;
    if (name->length > 0)
        name_put(name, span_of("+"));
    name_put(name, part);
}

static void name_finish(struct name_builder *name)
{
    const size_t room = APPLICATION_NAME_SIZE - 1 - HASH_SUFFIX_SIZE;

    if (name->length == 0)
        name_put(name, span_of("unknown"));
    if (name->changed) {
        name->length = name->length < room ? name->length : room;
        snprintf(name->out + name->length, HASH_SUFFIX_SIZE + 1, "-%08x", name->hash);
    } else {
        name->out[name->length] = '\0';
    }
}

/* What a package system or shop calls the application; it beats everything the program says about itself. */
static void name_put_package(struct name_builder *name, const struct application_facts *facts)
{
    struct span package = span_of(facts->flatpak_id);

    if (package.length == 0)
        package = span_of(facts->snap_instance_name);
    if (package.length == 0 && facts->steam_app_id && *facts->steam_app_id != '\0' &&
        strcmp(facts->steam_app_id, "0") != 0) { /* 0: a program that Steam starts but doesn't sell */
        name_put(name, span_of("steam-"));
        package = span_of(facts->steam_app_id);
    }
    if (package.length == 0 && facts->android_package)
        package = (struct span){facts->android_package, strcspn(facts->android_package, ":")};
    name_put(name, package);
}

static void name_put_program(struct name_builder *name, const struct application_facts *facts)
{
    const struct span application = span_of(facts->application_name);

    /* An interpreter's arguments are only asked where the program doesn't name itself. */
    if (application.length == 0 || !is_interpreter(executable_basename(facts)))
        name_put_part(name, program_name(facts));
    name_put_part(name, application);
    name_put_part(name, span_of(facts->engine_name));
}

void application_name(const struct application_facts *facts, const char *app_id,
                      char out[APPLICATION_NAME_SIZE])
{
    struct name_builder name = {.out = out, .hash = 2166136261u};

    name_put(&name, span_of(app_id));
    if (name.length == 0)
        name_put_package(&name, facts);
    if (name.length == 0)
        name_put_program(&name, facts);
    name_finish(&name);
}

/* --- whether to enter it --- */

static const char *const skipped_programs[] = {
    /* compositors and display servers */
    "kwin_wayland*", "kwin_x11", "gnome-shell", "mutter", "weston", "sway", "Hyprland", "wayfire", "labwc",
    "river", "niri", "cage", "phoc", "gala", "muffin", "cinnamon", "budgie-wm", "cosmic-comp",
    "enlightenment", "compiz", "xfwm4", "picom", "Xwayland", "Xorg", "gamescope*", "surfaceflinger",
    /* Steam's own windows, and its and other replayers of pipelines */
    "steamwebhelper", "fossilize_replay*", "fossilize-replay*", "fossilize-prewarm", "vulkandriverquery*",
    /* capture and replay tools */
    "renderdoccmd", "qrenderdoc", "gfxrecon-*", "gapis", "gapir", "gapit", "vktrace", "vkreplay", "apitrace",
    "eglretrace", "glretrace", "ngfx*", NULL};

/* Calls for every name that a pattern may mean. */
static bool facts_match(const struct application_facts *facts, const char *pattern)
{
    char name[APPLICATION_NAME_SIZE];

    application_name(facts, NULL, name);
    return span_matches(executable_basename(facts), pattern) || span_matches(program_name(facts), pattern) ||
           span_matches(span_of(facts->application_name), pattern) || span_matches(span_of(name), pattern);
}

/* `list`: patterns separated by commas, or NULL. */
static bool facts_match_list(const struct application_facts *facts, const char *list)
{
    while (list && *list != '\0') {
        const size_t length = strcspn(list, ",");
        struct span pattern = {list, length};
        char text[NAME_MAX + 1];

        list += length + (list[length] == ',');
        while (pattern.length > 0 && strchr(" \t", pattern.text[pattern.length - 1]))
            pattern.length--;
        while (pattern.length > 0 && strchr(" \t", *pattern.text))
            pattern = (struct span){pattern.text + 1, pattern.length - 1};
        if (pattern.length == 0 || pattern.length >= sizeof(text))
            continue;
        memcpy(text, pattern.text, pattern.length);
        text[pattern.length] = '\0';
        if (facts_match(facts, text))
            return true;
    }
    return false;
}

bool application_wanted(const struct application_facts *facts, const char *only, const char *skip)
{
    if (facts_match_list(facts, skip))
        return false;
    if (only)
        return facts_match_list(facts, only);
    return !span_matches_any(executable_basename(facts), skipped_programs) &&
           !span_matches_any(program_name(facts), skipped_programs);
}

/* --- browsers --- */

static bool has_chromium_process_type(const struct application_facts *facts)
{
    static const char *const types[] = {"--type=gpu-process", "--type=renderer", "--type=utility",
                                        "--type=zygote", NULL};

    for (const char *const *argument = facts->arguments; argument && *argument; argument++) {
        if (is_one_of(*argument, types))
            return true;
    }
    return false;
}

bool application_is_browser(const struct application_facts *facts)
{
    static const char *const programs[] = {"chrome",
                                           "google-chrome*",
                                           "chromium*",
                                           "cef*",
                                           "firefox*",
                                           "plugin-container",
                                           "librewolf*",
                                           "waterfox*",
                                           "floorp*",
                                           "zen",
                                           "zen-bin",
                                           "tor-browser",
                                           "mullvad-browser*",
                                           "thunderbird*",
                                           "brave",
                                           "brave-browser*",
                                           "msedge*",
                                           "microsoft-edge*",
                                           "opera",
                                           "opera-*",
                                           "vivaldi*",
                                           "epiphany*",
                                           "WebKitWebProcess",
                                           "WebKitGPUProcess",
                                           "MiniBrowser",
                                           "QtWebEngineProcess",
                                           "qutebrowser",
                                           "falkon",
                                           "electron*",
                                           "code",
                                           "code-*",
                                           "codium",
                                           "vscodium",
                                           "slack",
                                           "Discord*",
                                           "signal-desktop*",
                                           "element-desktop*",
                                           "teams*",
                                           "obsidian",
                                           "spotify",
                                           "steamwebhelper",
                                           NULL};
    static const char *const packages[] = {"com.android.chrome*",
                                           "com.chrome.*",
                                           "org.chromium.*",
                                           "org.mozilla.*",
                                           "com.brave.browser*",
                                           "com.microsoft.emmx*",
                                           "com.opera.*",
                                           "com.vivaldi.browser*",
                                           "com.duckduckgo.*",
                                           "com.sec.android.app.sbrowser*",
                                           NULL};
    struct span program = program_name(facts);

    if (span_ends_with(program, ".exe"))
        program.length -= strlen(".exe");
    return facts->chromium_files || has_chromium_process_type(facts) || span_matches_any(program, programs) ||
           span_matches_any(executable_basename(facts), programs) ||
           span_matches_any(span_of(facts->android_package), packages);
}

/* --- where its store lives --- */

/* `folder`/`below`/robust_cache; false if it doesn't fit. */
static bool root_join(struct span folder, const char *below, char *out, size_t size)
{
    int length;

    while (folder.length > 1 && folder.text[folder.length - 1] == '/')
        folder.length--;
    length = snprintf(out, size, "%.*s%s/robust_cache", (int)folder.length, folder.text, below);
    return length >= 0 && (size_t)length < size;
}

static bool is_own_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* Under sudo the home directory is often still the user's, where root must not leave files. */
static bool root_in_home(const char *home, char *out, size_t size)
{
    char cache[PATH_MAX];
    struct stat status;
    const int length = snprintf(cache, sizeof(cache), "%s/.cache", home);

    if (length < 0 || (size_t)length >= sizeof(cache))
        return false;
    if (stat(cache, &status) == 0 ? !is_own_directory(cache) : errno != ENOENT || !is_own_directory(home))
        return false;
    return root_join(span_of(home), "/.cache", out, size);
}

/* Before the first unlock only the device-encrypted folder exists. A package's folder belongs to its user. */
static bool root_on_android(const char *package, const char *data, char *out, size_t size)
{
    static const char *const kinds[] = {"user", "user_de"};

    for (int i = 0; i < 2; i++) {
        char folder[PATH_MAX];
        const int length = snprintf(folder, sizeof(folder), "%s/%s/%lu/%.*s", data, kinds[i],
                                    (unsigned long)getuid() / 100000, (int)strcspn(package, ":"), package);

        if (length >= 0 && (size_t)length < sizeof(folder) && is_own_directory(folder))
            return root_join(span_of(folder), "/cache", out, size);
    }
    return false;
}

bool application_store_root(const struct application_facts *facts, application_getenv getenv_fn, char *out,
                            size_t size)
{
    static const struct {
        const char *variable;
        const char *below;
    } places[] = {{"STEAM_COMPAT_SHADER_PATH", ""},
                  {"XDG_CACHE_HOME", ""},
                  {"SNAP_USER_COMMON", "/.cache"},
                  {"CACHE_DIRECTORY", ""}};
    const char *value;

    if (facts->secure)
        return false;
    if (facts->android_package) {
        value = getenv_fn("ANDROID_DATA");
        return root_on_android(facts->android_package, value && *value == '/' ? value : "/data", out, size);
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        value = getenv_fn(places[i].variable);
        if (value && *value == '/') {
            /* systemd separates several cache directories by colons; in the others a colon is part of the
             * path */
            const bool is_list = strcmp(places[i].variable, "CACHE_DIRECTORY") == 0;
            const struct span folder = {value, is_list ? strcspn(value, ":") : strlen(value)};

            return root_join(folder, places[i].below, out, size);
        }
    }
    value = getenv_fn("HOME");
    return value && *value == '/' && root_in_home(value, out, size);
}

/* --- the running process --- */

static struct {
    char executable[PATH_MAX];
    char command_line[COMMAND_LINE_SIZE];
    const char *arguments[ARGUMENTS_MAX + 1];
    char flatpak_id[256];
    char snap_instance_name[256];
    char steam_app_id[256];
    struct application_facts facts;
} probed;

static pthread_once_t probe_once = PTHREAD_ONCE_INIT;

const char *application_environment(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}

/* Copied, since the application may change its environment. */
static const char *probe_environment(const char *name, char *out, size_t size)
{
    const char *value = application_environment(name);

    if (!value || *value == '\0' || strlen(value) >= size)
        return NULL;
    return strcpy(out, value);
}

static const char *probe_executable(void)
{
    const ssize_t length = readlink("/proc/self/exe", probed.executable, sizeof(probed.executable) - 1);

    return length > 0 ? probed.executable : NULL;
}

/* A command line that is longer than the buffer is known by its beginning. */
static const char *const *probe_arguments(void)
{
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    ssize_t got = 0;
    unsigned count = 0;

    if (fd < 0)
        return NULL;
    do {
        got = read(fd, probed.command_line + size, sizeof(probed.command_line) - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    close(fd);
    for (char *text = probed.command_line; text < probed.command_line + size && count < ARGUMENTS_MAX;
         text += strlen(text) + 1)
        probed.arguments[count++] = text;
    return count > 0 ? probed.arguments : NULL;
}

static bool probe_chromium_files(const char *executable)
{
    static const char *const files[] = {"icudtl.dat", "v8_context_snapshot.bin", "chrome_100_percent.pak"};
    const char *slash = executable ? strrchr(executable, '/') : NULL;
    char path[PATH_MAX + 32];

    for (size_t i = 0; slash && i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - executable), executable, files[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static void probe_android(struct application_facts *facts)
{
#ifdef __ANDROID__
    const unsigned long id = (unsigned long)getuid() % 100000;

    facts->secure |=
        id >= 90000 && id <= 99999; /* isolated processes: AID_ISOLATED_START to AID_ISOLATED_END */
    if (facts->arguments && !strchr(facts->arguments[0], '/')) /* else a native program from the shell */
        facts->android_package = facts->arguments[0];
#else
    (void)facts;
#endif
}

static void probe_process(void)
{
    struct application_facts *facts = &probed.facts;
    const int saved = errno;

    facts->secure = getauxval(AT_SECURE) != 0;
    facts->executable = probe_executable();
    facts->arguments = probe_arguments();
    facts->flatpak_id = probe_environment("FLATPAK_ID", probed.flatpak_id, sizeof(probed.flatpak_id));
    facts->snap_instance_name =
        probe_environment("SNAP_INSTANCE_NAME", probed.snap_instance_name, sizeof(probed.snap_instance_name));
    facts->steam_app_id = probe_environment("SteamAppId", probed.steam_app_id, sizeof(probed.steam_app_id));
    facts->chromium_files = probe_chromium_files(facts->executable);
    probe_android(facts);
    errno = saved;
}

void application_probe(struct application_facts *facts)
{
    pthread_once(&probe_once, probe_process);
    *facts = probed.facts;
}
