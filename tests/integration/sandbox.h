/* Where a test's applications live: a temporary folder with home, data, config and cache folders, and an
 * environment in which the loader sees one driver and those layers that the test names, nothing of the
 * machine's. */
#ifndef IT_SANDBOX_H
#define IT_SANDBOX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define VALIDATION_MANIFEST "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"

/* Whether the machine has this file: what isn't installed can't be tested against. */
bool sandbox_has(const char *path);

enum layer_way {
    LAYER_NONE,
    LAYER_IMPLICIT, /* the implicit manifest with its enable variable: above every explicit layer */
    LAYER_EXPLICIT, /* VK_LAYER_PATH and VK_INSTANCE_LAYERS */
};

struct sandbox {
    char root[PATH_MAX - 256];
};

/* A new folder; ends the program where that can't be done. */
void sandbox_create(struct sandbox *sandbox);
/* Removes it with all that is in it. */
void sandbox_destroy(struct sandbox *sandbox);

/* `root`/`name` in static storage, which lasts for eight calls. */
const char *sandbox_path(const struct sandbox *sandbox, const char *name);

/* Sets this process's environment (of the former one only PATH, RC_TEST_LOADER (see app.h) and the
 * sanitizers' options stay). `drivers`: manifests separated by colons. The layer logs to standard error and
 * keeps its stores in `cache/robust_cache`. */
void sandbox_enter(const struct sandbox *sandbox, enum layer_way way, const char *drivers);

/* Puts a copy of a manifest where the loader finds it: `kind` is "implicit_layer.d" or "explicit_layer.d". A
 * relative library path is made absolute. */
void sandbox_add_manifest(const struct sandbox *sandbox, const char *kind, const char *manifest);

/* The whole file as a string (malloc'd), empty if there is none. */
char *sandbox_read(const char *path);
/* Replaces the file. */
void sandbox_write(const char *path, const char *text);

/* How many lines of the file contain `text`. */
unsigned sandbox_count_lines(const char *path, const char *text);

/* How many regular files lie in this folder and below whose names end so ("" for all). */
unsigned sandbox_count_files(const char *folder, const char *ending);
/* The first such file's path in `out`; false if there is none. */
bool sandbox_find_file(const char *folder, const char *ending, char out[PATH_MAX]);

#endif
