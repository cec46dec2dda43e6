/* The crash guard: a mark on disk while a call runs that may die on data which this driver hasn't proven yet.
 * A mark that nobody holds means, to the next run, that its process died in there. */
#ifndef RC_CACHE_GUARDED_H
#define RC_CACHE_GUARDED_H

#include "hash.h"

struct device_cache;

/* So many pipelines made with the data prove it, also if the run never comes to a good end. Each entry of it
 * may be the one that kills (RADV looks at it when it is found), so the first doesn't say much. */
#define GUARDED_USES 1000

/* A piece of cache data that lives in some VkPipelineCache. Zero means: nothing to guard. Under the
 * device_cache's lock. */
struct guarded {
    struct hash128 hash;
    bool unproven;
    bool begun;         /* the mark was made, or tried to */
    int fd;             /* ... negative if that failed, or the mark is gone again */
    uint32_t users;     /* calls that run with it now */
    uint32_t successes; /* pipelines created with it */
};

/* Begins a call that hands the data of this hash to the driver (vkCreatePipelineCache itself). Returns what
 * guarded_call_end() wants. One file operation; neither takes the lock. */
int guarded_call_begin(struct device_cache *cache, const struct hash128 *hash);
void guarded_call_end(struct device_cache *cache, const struct hash128 *hash, int mark);

/* Begins and ends a pipeline creation with a cache that holds the data. The mark is made for the first, and
 * stays: later ones change it. Called with the lock held. */
void guarded_use_begin(struct device_cache *cache, struct guarded *guarded);
void guarded_use_end(struct device_cache *cache, struct guarded *guarded, bool success);

/* The end of the cache that holds the data. If pipelines were created with it that proves the data: the
 * ledger knows then, and no mark is made any more. Takes the lock. */
void guarded_finish(struct device_cache *cache, struct guarded *guarded);
/* The same for all data of the device. What a call runs with that still hasn't returned (at exit()) isn't
 * proven by that, but its mark goes too. */
void guarded_finish_all(struct device_cache *cache);

/* The driver fails with the data: whatever else is done with it proves nothing. Called with the lock held. */
void guarded_distrust(struct guarded *guarded);

/* In the child of a fork(): the mark is the parent's. */
void guarded_forget(struct guarded *guarded);

#endif
