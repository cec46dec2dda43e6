/* Who the process is: its name in the store, and whether the layer should enter it at all. */
#ifndef RC_APPLICATION_H
#define RC_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

#define APPLICATION_NAME_SIZE 128 /* a file name: at most 127 bytes of [A-Za-z0-9._+-] */

/* Everything that the decisions depend on, gathered by application_probe() and made up by tests. All strings
 * are owned by the struct's user; NULL where there is none. */
struct application_facts {
    const char *executable;         /* full path of the running program */
    const char *const *arguments;   /* argv, NULL-terminated; NULL where unknown */
    const char *application_name;   /* VkApplicationInfo::pApplicationName */
    const char *engine_name;        /* VkApplicationInfo::pEngineName */
    const char *flatpak_id;         /* FLATPAK_ID */
    const char *snap_instance_name; /* SNAP_INSTANCE_NAME */
    const char *steam_app_id;       /* SteamAppId */
    const char *android_package;    /* with its process suffix, if any */
    bool secure;                    /* AT_SECURE: set-uid or the like; also Android's isolated processes */
    bool chromium_files;            /* Chromium's data files lie beside the executable */
};

/* The name of this application in the store, as a safe file name, the same wherever and in whichever version
 * it is installed (design, section 5). `app_id` is the setting or NULL. Never empty. */
void application_name(const struct application_facts *facts, const char *app_id,
                      char out[APPLICATION_NAME_SIZE]);

/* Whether the layer should do its work here. `only` and `skip` are the settings (comma-separated globs on the
 * executable's or the application's name) or NULL; the built-in list is always skipped unless `only` names
 * it, and `skip` beats `only`. Case doesn't matter. */
bool application_wanted(const struct application_facts *facts, const char *only, const char *skip);

/* Browsers and Electron programs: what a private window compiled must not reach the disk. */
bool application_is_browser(const struct application_facts *facts);

/* The store's root directory by the rules of the design, or false if nothing may be written.
 * `getenv_fn` answers for the environment (secure processes: always NULL); `out` has `size` bytes. */
typedef const char *(*application_getenv)(const char *name);
bool application_store_root(const struct application_facts *facts, application_getenv getenv_fn, char *out,
                            size_t size);

/* Fills `facts` from the running process. The strings live in static storage of the process and stay valid;
 * application and engine name are set by the caller. Called once per vkCreateInstance; reads /proc/self. */
void application_probe(struct application_facts *facts);

/* getenv(), or NULL in a secure process. */
const char *application_environment(const char *name);

#endif
