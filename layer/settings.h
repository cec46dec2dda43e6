/* The layer's settings. The manifest (VkLayer_robust_cache.json.in) is their single source:
 * scripts/generate_settings.py makes from it "settings_table.h" (struct settings_values with one typed member
 * per key, and the enums) and the table that settings.c reads.
 *
 * Order, the later wins: default, preset, VK_EXT_layer_settings, vk_layer_settings.txt, the application's own
 * file
 * ($XDG_CONFIG_HOME/robust_cache/<application>.conf, the same keys with or without "robust_cache."),
 * environment (VK_ROBUST_CACHE_<KEY>; on Android the system property debug.vulkan.robust_cache.<key> too,
 * below the environment). A secure process takes nothing from the environment or from files. An unknown key
 * or a malformed value gives one line through `complain` and is ignored: what stands below it holds, in the
 * end the default. An empty text means none, also where a lower source names one.
 *
 * Where vk_layer_settings.txt lies is as the Khronos layers have it: VK_LAYER_SETTINGS_PATH (a file or a
 * folder), else $XDG_DATA_HOME or ~/.local/share, each with /vulkan/settings.d, else the working directory
 * (there only a file of this user's or root's). Its lines are "robust_cache.<key> = <value>"; # begins a
 * comment. */
#ifndef RC_SETTINGS_H
#define RC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "application.h"
#include "settings_table.h"

struct settings {
    struct settings_values values; /* strings point into `strings` */
    char *strings;                 /* owned; freed by settings_finish() */
    bool log_level_said; /* a source says what log_level is; else it follows from what barriers is */
    bool barriers_said;  /* the user says what barriers is: the environment or a file, no preset, no API */
};

/* Called for each thing wrong (of the lines of one source that set nothing, for the first few): where it was
 * ("environment", a file's path and line, "VK_EXT_layer_settings"), and a sentence with name, value and what
 * is allowed. */
typedef void (*settings_complain)(void *context, const char *where, const char *what);

/* `instance_chain` is VkInstanceCreateInfo::pNext (looked through for VkLayerSettingsCreateInfoEXT) or NULL.
 * `facts` names the application for its own file and says whether the process is secure.
 * Returns false on out of memory: then `out` holds the defaults and needs no finish. Called once per
 * vkCreateInstance. */
bool settings_init(struct settings *out, const void *instance_chain, const struct application_facts *facts,
                   settings_complain complain, void *context);
void settings_finish(struct settings *settings);

/* Makes `barriers` report, whoever said otherwise, and log_level what that entails. */
void settings_only_report(struct settings *settings);

#endif
