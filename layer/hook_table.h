/* The table of intercepted commands; its contents are generated (scripts/generate.py). */
#ifndef RC_HOOK_TABLE_H
#define RC_HOOK_TABLE_H

#include <vulkan/vulkan.h>

enum hook_owner {
    HOOK_INSTANCE, /* first parameter is a VkInstance or VkPhysicalDevice */
    HOOK_DEVICE,   /* ... a VkDevice, VkQueue or VkCommandBuffer */
};

/* A command is intercepted only where one of its groups is at work. */
enum hook_group {
    HOOK_ALWAYS = 1,
    HOOK_CACHE = 2, /* the pipeline-cache half */
    HOOK_SYNC = 4,  /* the barrier half */
};

struct hook {
    const char *name;
    PFN_vkVoidFunction function;
    enum hook_owner owner;
    uint32_t groups;               /* enum hook_group */
    uint32_t core_version;         /* Vulkan version that has the command, 0 if none */
    const char *const *extensions; /* extensions that bring it, NULL-terminated; NULL if none */
};

extern const struct hook hook_table[];
extern const uint32_t hook_count;

/* The hook for a command's name, or NULL. Any thread. */
const struct hook *hook_find(const char *name);

#endif
