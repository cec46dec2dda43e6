/* The crash guard: a mark on disk while a call runs that may die on data which this driver hasn't proven yet.
 * A mark that nobody holds means, to the next run, that its process died in there. */
#ifndef RC_CACHE_GUARDED_H
#define RC_CACHE_GUARDED_H

#include "hash.h"

struct device_cache;

/* A piece of cache data that lives in some VkPipelineCache. Zero means: nothing to guard. Under the
 * device_cache's lock. */
struct guarded {
    struct hash128 hash;
    bool unproven;
    uint32_t users; /* calls that run with it now */
    int fd;         /* the mark, while there are users; negative if it couldn't be made */
};

/* Begins a call that hands the data of this hash to the driver (vkCreatePipelineCache itself). Returns what
 * guarded_call_end() wants. One file operation; neither takes the lock. */
int guarded_call_begin(struct device_cache *cache, const struct hash128 *hash);
void guarded_call_end(struct device_cache *cache, const struct hash128 *hash, int mark);

/* Begins and ends a pipeline creation with a cache that holds the data. `success` at the end makes it proven:
 * then the ledger knows and no mark is made any more. Called with the lock held. */
void guarded_use_begin(struct device_cache *cache, struct guarded *guarded);
void guarded_use_end(struct device_cache *cache, struct guarded *guarded, bool success);

#endif
