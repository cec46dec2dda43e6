/* The layer's settings. The manifest (VkLayer_robust_cache.json.in) is their single source: scripts/generate.py makes
 * from it "settings_table.h" (struct settings_values with one typed member per key, the enums, and the table that
 * settings.c reads).
 *
 * Order, the later wins: default, preset, VK_EXT_layer_settings, vk_layer_settings.txt, the application's own file
 * ($XDG_CONFIG_HOME/robust_cache/<application>.conf), environment (VK_ROBUST_CACHE_<KEY>). A secure process takes nothing from the
 * environment or from files. An unknown key or malformed value gives one line through `complain` and the default. */
#ifndef RC_SETTINGS_H
#define RC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "application.h"
#include "settings_table.h"

struct settings {
    struct settings_values values; /* strings point into `strings` */
    char *strings;                 /* owned; freed by settings_finish() */
};

/* Called for each thing wrong: where it was ("environment", a file's path and line, "VK_EXT_layer_settings"), and a sentence with
 * name, value and what is allowed. */
typedef void (*settings_complain)(void *context, const char *where, const char *what);

/* `instance_chain` is VkInstanceCreateInfo::pNext (looked through for VkLayerSettingsCreateInfoEXT) or NULL.
 * `facts` names the application for its own file and says whether the process is secure.
 * Returns false on out of memory: then `out` holds the defaults and needs no finish. Called once per vkCreateInstance. */
bool settings_init(struct settings *out, const void *instance_chain, const struct application_facts *facts,
                   settings_complain complain, void *context);
void settings_finish(struct settings *settings);

#endif
