/* The store: one file of cache data per application and device identity, its ledger, and the marks of the
 * crash guard, in a directory that several processes share. All file operations of the cache half are here.
 * No Vulkan.
 *
 *   <root>/v1/<vendor>-<device>-<hash>/<application>.vkcache          payload and envelope
 *                                      <application>.ledger           see ledger.h
 *                                      <application>.lock             never removed; flock
 *                                      <application>.<hash>.guard     a guarded call is running, or its
 * process died <application>.<hash>.quarantine  a store file set aside
 *
 * A store belongs to one thread at a time (the worker's), except store_guard_*, which any thread may call.
 * Every function returns 0 or a negative errno and never blocks longer than STORE_LOCK_WAIT_MS on a lock. */
#ifndef RC_CACHE_STORE_H
#define RC_CACHE_STORE_H

#include "envelope.h"
#include "ledger.h"

#define STORE_LOCK_WAIT_MS 2000
#define STORE_PROBLEM_SIZE 256

struct store;

struct store_config {
    const char *root;                      /* absolute path; created (0700) when first written to */
    const char *application;               /* file name without suffix, see application.h */
    const struct cache_identity *identity; /* copied */
    uint64_t max_size;                     /* bytes, of the file */
    uint64_t total_size;                   /* bytes, of everything below root */
    bool read_only; /* a `read_dirs` entry: owner root or self, never locked or written */
};

/* What was found, in words, naming the file and what was expected; empty if there is nothing to say. */
struct store_problem {
    char text[STORE_PROBLEM_SIZE];
};

/* Payload read from a file. `data` comes from malloc; store_blob_finish() frees it. */
struct store_blob {
    void *data;
    size_t size; /* bytes of payload, no envelope */
    struct hash128 hash;
};
void store_blob_finish(struct store_blob *blob);

/* Allocates the store; nothing is created on disk. -ENOMEM or -ENAMETOOLONG. store_destroy(NULL) is safe. */
int store_create(struct store **out, const struct store_config *config);
void store_destroy(struct store *store);

/* Reads the ledger (a missing one is empty) and clears the marks of dead guards: for each mark that nobody
 * holds, a death is added to the ledger at the time that the mark was made, and its hash is put into
 * `dead` (at most dead_max; *dead_count is how many). Marks held by living processes are left alone. */
int store_open_ledger(struct store *store, struct ledger *out, struct hash128 *dead, uint32_t dead_max,
                      uint32_t *dead_count, struct store_problem *problem);

/* Reads and validates the file. 0: `out` holds the payload. -ENOENT: there is none (problem empty).
 * -EBADMSG: damaged, of another identity, too small (problem says which; *verdict too). -EFBIG: over
 * max_size, refused before any allocation. -ELOOP, -EPERM, -EINVAL: a link, another owner, not a regular
 * file. -EIO ...: as read. Marks the file as used now, for store_trim(). */
int store_load(struct store *store, struct store_blob *out, enum envelope_verdict *verdict,
               struct store_problem *problem);

/* A save in three steps, all under the lock that store_save_begin() takes:
 * begin: creates the directory if need be, takes the lock, removes temporary files of killed processes, and
 * says in *changed whether the file is another than the one this store last loaded or saved. -ETIMEDOUT: the
 * lock is held too long. A file system without locks gets on without one. commit: writes payload and envelope
 * to a temporary file, O_EXCL, fdatasync, rename. On any error the old file stays. Does nothing if the file
 * already holds exactly this. -EFBIG: over max_size. end: releases the lock. To be called once for every
 * begin that returned 0. */
int store_save_begin(struct store *store, bool *changed, struct store_problem *problem);
int store_save_commit(struct store *store, const void *payload, size_t size, struct store_problem *problem);
void store_save_end(struct store *store);

/* Unites `ledger` with the file (ledger_merge() with the `base` it was loaded from) and replaces it the same
 * way. Takes the lock itself unless a save has it. On return `ledger` is the union. */
int store_write_ledger(struct store *store, struct ledger *ledger, struct store_problem *problem);

/* Sets the store's file aside under a name of its own (quarantine). Takes the lock itself. -ENOENT if there
 * is none. */
int store_quarantine(struct store *store, const struct hash128 *hash, struct store_problem *problem);

/* Removes the least recently used store files until everything below root fits total_size; never this
 * store's. */
int store_trim(struct store *store, struct store_problem *problem);

/* The crash guard's mark, held by an open-file lock that the kernel drops when the process dies.
 * begin returns a file descriptor to hand to end, or a negative errno (no mark could be written).
 * Any thread; no allocation; end removes the mark and closes. */
int store_guard_begin(const struct store *store, const struct hash128 *hash);
void store_guard_end(const struct store *store, const struct hash128 *hash, int fd);

#endif
