/* The pipeline-cache half of one VkDevice: its store, the caches that stand in for VK_NULL_HANDLE, what is
 * known of the application's own caches, and the counters. The hooks (pipeline_cache.c, pipelines.c) and the
 * worker (writer.c, persist.c) share it. */
#ifndef RC_CACHE_DEVICE_CACHE_H
#define RC_CACHE_DEVICE_CACHE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../clock.h"
#include "../device.h"
#include "app_caches.h"
#include "guarded.h"
#include "ledger.h"
#include "policy.h"
#include "store.h"
#include "writer.h"

#define DEVICE_CACHE_READ_DIRS 8  /* so many of the setting are used */
#define DEVICE_CACHE_POISONINGS 2 /* so many, and substitution is switched off for the device */
#define DEVICE_CACHE_ADOPTED 4    /* so many empty caches of the application are seeded at a time */
#define DEVICE_CACHE_ADOPTED_BYTES (64ull << 20)
#define DEVICE_CACHE_HARVEST_BYTES (16u << 20)
#define DEVICE_CACHE_DEAD 8
#define DEVICE_CACHE_HARVESTS 16 /* so many may wait for the worker */
#define DEVICE_CACHE_PRIVATE 4   /* the worker never holds more caches at a time: two to unite */

/* For the summary. Under the lock. */
struct cache_counters {
    uint64_t pipelines;   /* created, or answered with COMPILE_REQUIRED */
    uint64_t hits;        /* the driver found them in the cache it was given */
    uint64_t misses;      /* it didn't */
    uint64_t unknown;     /* it didn't say */
    uint64_t substituted; /* pipelines that were created with the store in place of VK_NULL_HANDLE */
    uint64_t spent_ns;    /* wall time inside the driver's creation calls */
    uint64_t hit_ns;      /* the part of it that hits took, by the driver's feedback */
    uint64_t loaded_bytes;
    uint64_t saved_bytes;
    uint64_t saves;
    uint64_t adopted; /* empty caches of the application that were seeded */
    uint64_t retries; /* driver calls repeated without data or without the cache */
    uint64_t poisoned;
    uint64_t deaths;
    uint64_t quarantined;
    uint64_t rejected[POLICY_REASON_COUNT];
};

/* Cache data that the application's cache held when it was destroyed, for the worker to take in. */
struct harvest {
    struct harvest *next;
    size_t size;
    unsigned char data[];
};

/* A cache that stood in until it was found poisoned; it is destroyed with the device, since calls may still
 * use it. */
struct retired_cache {
    struct retired_cache *next;
    VkPipelineCache handle;
};

struct device_cache {
    struct device *device;
    struct report *report;
    struct cache_identity identity;
    enum raw_blobs raw_blobs;
    bool strip; /* setting envelope=strip */
    bool adopt_empty;
    bool no_envelope;         /* the driver's header isn't version one: its blobs are left alone */
    size_t empty_size;        /* bytes of an empty cache's data on this driver */
    uint64_t load_timeout_ns; /* 0: by the store's size */
    uint64_t max_size;
    uint64_t save_interval_ns;
    bool read_only; /* persist=off: the store is read, and never written */

    /* The worker's. NULL where nothing is persistent. store_guard_*() may be called by any thread. */
    struct store *store;
    struct store *read_stores[DEVICE_CACHE_READ_DIRS];
    uint32_t read_store_count;
    bool rebuild;       /* the store had outgrown max_size: this run's entries take its place */
    bool disk_has_more; /* the file holds entries of other processes, or of caches that have gone, which
                           this one's caches don't */
    bool unsaved;       /* a save failed: what it was to write is still to be saved */
    bool set_aside;     /* the store's data is not for this run, but for the next: nothing replaces it */
    bool keeps_nothing; /* the driver puts nothing into its data */
    struct hash128 saved_hash; /* payload of the last load or save */
    uint64_t last_save_size;
    /* Caches that no pipeline uses, made by the worker for its own ends. If the worker is abandoned inside a
     * file operation, the device's end destroys what is left here. */
    VkPipelineCache private_caches[DEVICE_CACHE_PRIVATE];

    pthread_mutex_t lock; /* guards all below; never held across a call down or a file operation, but for
                             guarded.c's marks around uses of unproven data */
    pthread_cond_t loaded_changed;

    bool substitute;
    VkPipelineCache live;   /* empty at first; VK_NULL_HANDLE if the driver wouldn't make one */
    VkPipelineCache loaded; /* published by the worker; VK_NULL_HANDLE until then, or without a store */
    struct guarded loaded_guard;
    struct hash128 loaded_hash;
    struct retired_cache *retired;
    uint32_t poisonings;

    bool ledger_ready; /* the worker has read it */
    bool load_done;    /* whatever came of it */
    uint64_t load_begin_ns;
    uint64_t load_size; /* bytes of the store's file, once known */
    struct ledger ledger;
    struct hash128 dead[DEVICE_CACHE_DEAD]; /* set aside for this run */
    uint32_t dead_count;
    bool summary_said; /* at exit(), before the application destroyed the device */
    bool trouble_said; /* one line about a store that can't be read or written is enough */

    struct app_caches app_caches;
    uint32_t adopted_now;
    uint64_t adopted_bytes;
    struct harvest *harvests;
    uint32_t harvest_count;
    uint64_t unrecorded_misses; /* not yet in the ledger's sums */
    uint64_t unrecorded_miss_ns;

    bool lost;          /* VK_ERROR_DEVICE_LOST was seen: nothing is stored from now on */
    bool deferred_used; /* pipelines were created in deferred operations: when they compile isn't known */
    struct cache_counters counters;

    struct writer_job job; /* writer.c's */
};

/* Sets the half up for a device that was just created, and lets the worker begin to load. NULL on out of
 * memory, or where the driver lacks the commands: then the device goes without. Called inside vkCreateDevice.
 */
struct device_cache *device_cache_create(struct device *device, const VkDeviceCreateInfo *info);

/* Last save (bounded in time), summary, and the end of every cache that the layer made. NULL is safe.
 * Called inside vkDestroyDevice, before the call goes down. */
void device_cache_destroy(struct device_cache *cache);

/* The one line, and the report's record, that say what came of it all: at the device's end, or at the
 * process's, whichever comes first. Takes the lock. */
void device_cache_report_summary(struct device_cache *cache);

/* An error of a watched command (device.h). Any thread. */
void device_cache_watch_result(struct device_cache *cache, VkResult result);

/* The second half of device_cache_destroy(), for a worker that outlived the device: frees memory and store,
 * calls nothing of the driver's and reports nothing. */
void device_cache_free(struct device_cache *cache);

/* In the child of a fork(): locks are made new, nothing is persistent any more. */
void device_cache_after_fork(struct device_cache *cache);

/* Counts a rejection and says it. `what` names the data ("the application's blob"), `problem` the field.
 * Takes the lock. */
void device_cache_reject(struct device_cache *cache, enum policy_reason reason, const char *what,
                         const char *problem);

/* The driver returned an error for data of this hash. True: the data is to blame, so it is quarantined;
 * false: the driver was short of memory. Counts and says the rejection either way. Takes the lock. */
bool device_cache_blame(struct device_cache *cache, const struct hash128 *hash, const char *what,
                        VkResult result);

/* Whether an earlier run died on data of this hash, which stays out of this run for that. Called with the
 * lock held. */
bool device_cache_is_set_aside(const struct device_cache *cache, const struct hash128 *hash);

/* Waits until the ledger is read (`for_cache` false) or the load is done (true), or until load_timeout after
 * the load began. Called with the lock held; returns with it held. */
void device_cache_wait_loaded(struct device_cache *cache, bool for_cache);

#endif
