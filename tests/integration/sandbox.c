#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATHS 8

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(1);
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        die(path);
}

bool sandbox_has(const char *path)
{
    return access(path, R_OK) == 0;
}

void sandbox_create(struct sandbox *sandbox)
{
    static const char *const folders[] = {"home",
                                          "cache",
                                          "config",
                                          "none",
                                          "data",
                                          "data/vulkan",
                                          "data/vulkan/implicit_layer.d",
                                          "data/vulkan/explicit_layer.d"};
    const char *base = getenv("TMPDIR");
    snprintf(sandbox->root, sizeof(sandbox->root), "%s/robust_cache.XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(sandbox->root))
        die(sandbox->root);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        make_folder(sandbox_path(sandbox, folders[i]));
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void sandbox_destroy(struct sandbox *sandbox)
{
    if (nftw(sandbox->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        die(sandbox->root);
}

const char *sandbox_path(const struct sandbox *sandbox, const char *name)
{
    static char paths[PATHS][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % PATHS];
    snprintf(path, PATH_MAX, "%s/%s", sandbox->root, name);
    return path;
}

static void keep_little(void)
{
    static const char *const names[] = {"ASAN_OPTIONS", "LSAN_OPTIONS",   "UBSAN_OPTIONS",
                                        "TSAN_OPTIONS", "RC_TEST_LOADER", "PATH"};
    char *values[sizeof(names) / sizeof(names[0])];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        values[i] = value ? strdup(value) : NULL;
    }
    clearenv();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (values[i])
            setenv(names[i], values[i], 1);
        free(values[i]);
    }
}

void sandbox_enter(const struct sandbox *sandbox, enum layer_way way, const char *drivers)
{
    keep_little();
    setenv("HOME", sandbox_path(sandbox, "home"), 1);
    setenv("XDG_CACHE_HOME", sandbox_path(sandbox, "cache"), 1);
    setenv("XDG_CONFIG_HOME", sandbox_path(sandbox, "config"), 1);
    setenv("XDG_DATA_HOME", sandbox_path(sandbox, "data"), 1);
    setenv("XDG_DATA_DIRS", sandbox_path(sandbox, "none"), 1);
    setenv("XDG_CONFIG_DIRS", sandbox_path(sandbox, "none"), 1);
    setenv("VK_ICD_FILENAMES", drivers, 1);
    setenv("RADV_FORCE_FAMILY", "navi21", 1); /* RADV's null winsys: no GPU is needed */
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    if (way == LAYER_IMPLICIT) {
        sandbox_add_manifest(sandbox, "implicit_layer.d", RC_LAYER_DIR "/implicit/VkLayer_robust_cache.json");
        setenv("ENABLE_ROBUST_CACHE", "1", 1);
    } else if (way == LAYER_EXPLICIT) {
        setenv("VK_LAYER_PATH", RC_LAYER_DIR, 1);
        setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ROBUST_cache", 1);
    }
}

/* The text with the manifest's relative library path made absolute; malloc'd. */
static char *with_absolute_library(const char *text, const char *manifest)
{
    static const char key[] = "\"library_path\": \"";
    const char *value = strstr(text, key);
    value = value ? value + strlen(key) : text;
    bool relative = value != text && value[0] == '.';
    const char *slash = strrchr(manifest, '/');
    char *out = NULL;
    if (asprintf(&out, "%.*s%.*s%s", (int)(value - text), text,
                 relative && slash ? (int)(slash + 1 - manifest) : 0, manifest, value) < 0)
        die(manifest);
    return out;
}

void sandbox_add_manifest(const struct sandbox *sandbox, const char *kind, const char *manifest)
{
    char path[PATH_MAX];
    const char *slash = strrchr(manifest, '/');
    snprintf(path, sizeof(path), "%s/data/vulkan/%s/%s", sandbox->root, kind, slash ? slash + 1 : manifest);
    char *text = sandbox_read(manifest);
    if (!*text)
        die(manifest);
    char *absolute = with_absolute_library(text, manifest);
    sandbox_write(path, absolute);
    free(absolute);
    free(text);
}

char *sandbox_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (file && getdelim(&text, &size, '\0', file) < 0 && text)
        text[0] = '\0';
    if (file)
        fclose(file);
    return text ? text : strdup("");
}

void sandbox_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        die(path);
}

unsigned sandbox_count_lines(const char *path, const char *text)
{
    char *content = sandbox_read(path);
    unsigned count = 0;
    for (char *rest = content, *line; (line = strsep(&rest, "\n"));)
        count += *line && strstr(line, text) != NULL;
    free(content);
    return count;
}

/* nftw() has no argument for its callback. */
static struct {
    const char *ending;
    unsigned count;
    char *first;
} search;

static int count_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)place;
    size_t length = strlen(path), ending = strlen(search.ending);
    if (kind != FTW_F || length < ending || strcmp(path + length - ending, search.ending) != 0)
        return 0;
    if (search.count++ == 0 && search.first)
        snprintf(search.first, PATH_MAX, "%s", path);
    return 0;
}

unsigned sandbox_count_files(const char *folder, const char *ending)
{
    search.ending = ending;
    search.count = 0;
    search.first = NULL;
    nftw(folder, count_entry, 16, FTW_PHYS);
    return search.count;
}

bool sandbox_find_file(const char *folder, const char *ending, char out[PATH_MAX])
{
    search.ending = ending;
    search.count = 0;
    search.first = out;
    nftw(folder, count_entry, 16, FTW_PHYS);
    return search.count > 0;
}
