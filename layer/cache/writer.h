/* The worker: one thread per process that loads and saves stores, so that no thread of the application does.
 */
#ifndef RC_CACHE_WRITER_H
#define RC_CACHE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

struct device_cache;

/* Part of struct device_cache; all of it under the worker's lock, except `dirty`. */
struct writer_job {
    struct device_cache *next;
    bool listed;
    bool load_due;
    bool finishing; /* the device goes: one last save, then `finished` */
    bool finished;
    bool summary_due; /* nobody will destroy the device: the worker reports its summary after the last save */
    bool busy;        /* the worker is at it */
    bool in_files;    /* ... inside a file operation, which may hang */
    bool abandoned;   /* ... and the device went meanwhile */
    bool released;    /* nobody else knows of the device_cache any more: the worker frees it */
    bool hurry;       /* save at once: the application may be about to end */
    _Atomic bool dirty; /* something was compiled since the last save */
    _Atomic bool ledger_dirty;
    _Atomic uint64_t active_ns; /* when something was last compiled */
    uint64_t dirty_since_ns;
    uint64_t last_save_ns;
    uint64_t interval_ns;
};

/* Begins to work for a device: load first. Starts the thread if there is none; false if that can't be done
 * (then nothing is persistent for this device). Takes a lock. */
bool writer_add(struct device_cache *cache);

/* Last save and farewell. Waits until the worker is done with the device; for files and locks at most a few
 * seconds, for a driver call in progress until it returns. True: the caller owns `cache` again. False: a file
 * operation hangs; the caller does what needs the device, then calls writer_release(), and the worker calls
 * device_cache_free() when the operation returns. */
bool writer_remove(struct device_cache *cache);
void writer_release(struct device_cache *cache);

/* Something was compiled into a cache that is to be saved. Cheap: an atomic exchange once dirty. Any thread.
 */
void writer_cache_changed(struct device_cache *cache);
/* The ledger in memory has news. May be called with the device_cache's lock held. */
void writer_ledger_changed(struct device_cache *cache);
/* A swapchain or surface went away: save what there is, now. Any thread. */
void writer_hurry(struct device_cache *cache);
/* The same for every device of the process. */
void writer_hurry_all(void);

/* Brackets a file operation on the worker's thread. end returns false if the device went meanwhile: then the
 * caller must touch neither driver nor report, only unwind. */
void writer_files_begin(struct device_cache *cache);
bool writer_files_end(struct device_cache *cache);

#endif
