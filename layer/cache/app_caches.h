/* What is known of each VkPipelineCache that the application owns. The caller provides the locking. */
#ifndef RC_CACHE_APP_CACHES_H
#define RC_CACHE_APP_CACHES_H

#include <vulkan/vulkan.h>

#include "guarded.h"

#define APP_CACHES_BUCKETS 64

struct app_cache {
    struct app_cache *next;
    VkPipelineCache handle;
    struct guarded guard; /* data it was created with and that the driver hasn't proven yet */
    bool adopted;         /* created empty; harvested at its end */
    bool seeded;          /* ... and filled from the store */
    uint64_t seeded_bytes;
    bool dirty;    /* something was compiled into it */
    bool poisoned; /* the driver fails with what it was seeded with: not used any more */
};

/* Zero is a valid empty table. */
struct app_caches {
    struct app_cache *buckets[APP_CACHES_BUCKETS];
};

/* Takes over `entry` (from calloc), whose handle is set. */
void app_caches_add(struct app_caches *table, struct app_cache *entry);
/* The entry, or NULL for a cache that nothing is known of. Stays valid until it is removed. */
struct app_cache *app_caches_find(const struct app_caches *table, VkPipelineCache handle);
/* Takes the entry out for the caller to free; NULL if there is none. */
struct app_cache *app_caches_remove(struct app_caches *table, VkPipelineCache handle);
/* Calls `visit` for each entry until it returns true. Returns whether it did. */
bool app_caches_visit(struct app_caches *table, bool (*visit)(struct app_cache *entry, void *context),
                      void *context);
void app_caches_finish(struct app_caches *table);

#endif
