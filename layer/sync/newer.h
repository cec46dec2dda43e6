/* Whether an application is newer than this build: then nothing that it does to images can be known for sure,
 * and all that the barrier half does is report. */
#ifndef RC_SYNC_NEWER_H
#define RC_SYNC_NEWER_H

#include <stddef.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

/* What in the application's request the registry of this build doesn't know, as a phrase, or NULL: an
 * extension, a structure in the chain, or the version (the smaller of the application's and the device's).
 * Those that compat.h names as harmless don't count. Written to `text`. */
const char *newer_reason(const VkDeviceCreateInfo *info, uint32_t api_version, char *text, size_t size);

/* Whether it can record commands that the registry of this build doesn't know, harmless ones too: what is
 * bound is then not known for sure, and no command may be held back, since those would go down before it. */
bool newer_has_commands(const VkDeviceCreateInfo *info, uint32_t api_version);

#endif
