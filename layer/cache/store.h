/* The store: one file of cache data per application and device identity, its ledger, and the marks of the
 * crash guard, in a directory that several processes share. All file operations of the cache half are here.
 * No Vulkan.
 *
 *   <root>/v1/<vendor>-<device>-<hash>/
 *       <application>.vkcache                payload and envelope
 *       <application>.ledger                 see ledger.h
 *       <application>.lock                   flock; stays, see store_trim()
 *       <application>.<hash>.<inode>.guard   a guarded call is running, or its process died
 *       <application>.<hash>.quarantine      a store file set aside
 *       ... .tmp.<pid>.<counter>             any of these on its way into place
 *   <root>/v1/<application>.brake            repairs of barriers are switched off, see store_brake_set()
 *
 * The mark's name carries its own inode number (16 hexadecimal digits), so that one hash can have several.
 * Links in the way to `root` are the user's own business; root, v1 and the identity's directory are no links,
 * belong to the effective user (read_only: or to root) and may be written by nobody else, or they are
 * refused: -ELOOP, -EPERM, -ENOTDIR. The same holds for the files (-ELOOP, -EPERM; -EINVAL: not a regular
 * file); nothing that stands in their place can block. The directory may vanish between two calls.
 *
 * fork(): locks belong to the process that took them: a child may use or destroy its copy of a store without
 * unlocking the parent's save. But a child that never calls exec shares the open files, so if the parent is
 * killed within a save, or dies in a guarded call, its lock or mark counts as held until that child ends too.
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

/* What was found, in words, naming the file and what was expected; empty if there is nothing to say. A
 * function may succeed and still have something to say (a damaged file that it replaced). */
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

/* Allocates the store; nothing is created on disk. -ENOMEM, -ENAMETOOLONG, or -EINVAL: root isn't absolute,
 * or application is no file name. store_destroy(NULL) is safe. */
int store_create(struct store **out, const struct store_config *config);
void store_destroy(struct store *store);

/* Reads the ledger (a missing one is empty, so is a damaged one, which `problem` then says) and takes in the
 * marks of dead guards: for each mark that nobody holds, a death is added to the ledger at the time that the
 * mark was made or last changed, and its hash is put, once, into `dead` (at most dead_max; *dead_count is how
 * many). The deaths are written to disk under the lock before the marks are removed; where that fails
 * (problem says so, the result is 0 all the same) the marks stay and are told again next time, without
 * counting twice. Marks of more hashes than dead_max wait for the next time. Marks held by living processes
 * are left alone, and so are all of a read-only store. On error `out` is empty. */
int store_open_ledger(struct store *store, struct ledger *out, struct hash128 *dead, uint32_t dead_max,
                      uint32_t *dead_count, struct store_problem *problem);

/* Reads and validates the file; the trailer first, so that a file without a good one costs little. 0: `out`
 * holds the payload. -ENOENT: there is none (problem empty). -EBADMSG: damaged, of another identity, too
 * small, a second envelope inside, or writable by others (problem says which; *verdict too, NONE where it
 * didn't come to that). -EFBIG: over max_size, refused before any allocation. -EIO ...: as read. Marks the
 * file as used now, for store_trim(), in its time of access; its time of change goes on telling when it was
 * written. */
int store_load(struct store *store, struct store_blob *out, enum envelope_verdict *verdict,
               struct store_problem *problem);

/* Bytes of the file as it is now; 0 if there is none. For planning only: it may change at any time. */
uint64_t store_file_size(const struct store *store);

/* A save in three steps, all under the lock that store_save_begin() takes:
 * begin: creates the directory if need be, takes the lock, removes temporary files of killed processes, and
 * says in *changed whether the file is another than the one this store last loaded or saved. A missing file
 * isn't; one that is of no use (damaged, another identity's, over the cap) isn't either: that is reported,
 * and commit replaces it. -ETIMEDOUT: the lock is held too long. -EROFS: read-only store. A file system
 * without locks gets on without one. commit: writes payload and envelope to a temporary file, O_EXCL,
 * fdatasync, rename. On any error the old file stays. Does nothing if the file is still the very one that
 * this store last loaded or saved, and holds exactly this. -EFBIG: over max_size or total_size, said before
 * `payload` is read, or over the process's RLIMIT_FSIZE. end: releases the lock. To be called once for every
 * begin that returned 0. */
int store_save_begin(struct store *store, bool *changed, struct store_problem *problem);
int store_save_commit(struct store *store, const void *payload, size_t size, struct store_problem *problem);
void store_save_end(struct store *store);

/* Unites `ledger` with the file (ledger_merge() with the `base` it was loaded from) and replaces it the same
 * way. Takes the lock itself unless a save has it. On return `ledger` is the union. */
int store_write_ledger(struct store *store, struct ledger *ledger, struct store_problem *problem);

/* Sets the store's file aside under a name of its own (quarantine), if its payload is the one with `hash`:
 * else another process has replaced it meanwhile. Takes the lock itself unless a save has it. -ENOENT if
 * there is no such file. */
int store_quarantine(struct store *store, const struct hash128 *hash, struct store_problem *problem);

/* Puts a file that store_quarantine() set aside back in its place, once its quarantine is over (`ledger`,
 * `now` in seconds since 1970) and if no other store has taken the place: it gets one more try. -ENOENT:
 * there is none; -EEXIST: the place is taken. Takes the lock itself if there is one. */
int store_restore(struct store *store, const struct ledger *ledger, int64_t now,
                  struct store_problem *problem);

/* Removes the least recently used store and quarantine files until everything below root fits total_size;
 * never this store's. Removes too what is left over: ledgers and lock files without a store after 30 days,
 * temporary files after one day, empty directories of other identities. Work is bounded; what is beyond the
 * bound waits for the next call. */
int store_trim(struct store *store, struct store_problem *problem);

/* The crash guard's mark, held by an open-file lock that the kernel drops when the process dies; several may
 * be held on one hash, in one process or many. To die while it says MARK_FIRST (as begin makes it) is a death
 * that store_open_ledger() tells of. MARK_LATER is for further calls on the same data: such a death is told
 * of only if it is the second, since it may have been any other reason's, and the first costs nothing then.
 * MARK_RESTING: no call runs. begin returns a file descriptor to hand to end, or a negative
 * errno (no mark could be written, or none that could be locked). It creates the directory if need be. Any
 * thread; no allocation; change is one small write; end removes the mark and closes. If it can't be removed
 * (a sandbox), it is left resting, so that it is no death. */
enum store_mark {
    MARK_FIRST = 'f',
    MARK_LATER = 'l',
    MARK_RESTING = 'r',
};
int store_guard_begin(const struct store *store, const struct hash128 *hash);
void store_guard_change(int fd, enum store_mark state);
void store_guard_end(const struct store *store, const struct hash128 *hash, int fd);

/* The mark of the emergency brake (sync/brake.h): a file of one application for all its devices. It needs no
 * store; `root` and `application` are as in struct store_config, the rules for folders and files those of
 * stores. set replaces an older one; find gives the time (seconds since 1970) when it was set, -ENOENT if it
 * wasn't. Any thread. */
int store_brake_set(const char *root, const char *application, struct store_problem *problem);
int store_brake_find(const char *root, const char *application, int64_t *time, struct store_problem *problem);
int store_brake_remove(const char *root, const char *application, struct store_problem *problem);

#endif
