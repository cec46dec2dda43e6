/* What loading and saving share: the steps on caches that no pipeline uses. All on the worker's thread, no
 * lock held. */
#ifndef RC_CACHE_PERSIST_INTERNAL_H
#define RC_CACHE_PERSIST_INTERNAL_H

#include "device_cache.h"
#include "persist.h"

enum step {
    STEP_DONE,
    STEP_NOTHING, /* there is no usable data; that has been said */
    STEP_FAILED,  /* it couldn't be done now: memory, files, the driver */
    STEP_GONE,    /* the device went while a file operation hung: only memory may be touched from now on */
};
enum verdict_of_hash {
    HASH_GOOD,
    HASH_SET_ASIDE, /* died once: not in this run */
    HASH_QUARANTINED,
};

/* What was made of one store. */
struct part {
    VkPipelineCache handle;
    struct hash128 hash;
    enum verdict_of_hash verdict; /* there is a handle only if it is HASH_GOOD */
    bool proven;
};

/* --- persist.c --- */

/* One line is enough for a folder that can't be read, a disk that stays full. Empty problems say nothing. */
void persist_say_trouble(struct device_cache *cache, const struct store_problem *problem);

/* A private cache's end. */
void persist_destroy_cache(struct device_cache *cache, VkPipelineCache handle);

/* The cache becomes one that pipelines use: it isn't the worker's any more. */
void persist_forget_private(struct device_cache *cache, VkPipelineCache handle);

/* Bytes that the cache would give out; 0 if the driver doesn't say. */
size_t persist_data_size(struct device_cache *cache, VkPipelineCache handle);

/* Merges one private cache into another and destroys it. False, and one line, if the driver wouldn't. */
bool persist_merge_private(struct device_cache *cache, VkPipelineCache into, VkPipelineCache from);

/* Whether a payload may go down; *proven: the driver is known to survive it. Takes the lock. */
enum verdict_of_hash persist_judge_hash(struct device_cache *cache, const struct hash128 *hash, bool *proven);

/* Hands a validated payload to the driver, guarded unless proven. `what` names it in messages. On STEP_DONE
 * *out is a private cache. */
enum step persist_create_cache(struct device_cache *cache, const struct store_blob *blob, bool proven,
                               const char *what, VkPipelineCache *out);

/* --- persist_load.c --- */

/* Reads one store and hands it to the driver. On STEP_DONE `out` has a private cache. */
enum step persist_load_store(struct device_cache *cache, struct store *store, struct part *out);

#endif
