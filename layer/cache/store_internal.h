/* What the parts of the store share; nobody else includes this. Functions return 0 (or a descriptor, where
 * they say so) or a negative errno, with `problem` filled unless the result is -ENOENT. */
#ifndef RC_CACHE_STORE_INTERNAL_H
#define RC_CACHE_STORE_INTERNAL_H

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "application.h"
#include "cache/store.h"

#define STORE_NAME_SIZE (NAME_MAX + 1)
#define STORE_SCAN_MAX 16384 /* directory entries looked at in one go, so that no scan is endless */

/* The file as this store last loaded, refused or saved it. */
struct store_known {
    bool valid;
    bool damaged; /* its trailer is good, its payload is not: not worth a second look */
    uint8_t trailer[ENVELOPE_SIZE];
    struct stat stat;
};

struct store_lock {
    int fd;      /* -1: not held, or the file system has no locks */
    pid_t owner; /* who took it: a forked child has the descriptor too, but not the right to unlock */
};

/* The store's directory, opened and locked. */
struct store_session {
    int directory; /* -1: none */
    struct store_lock lock;
};

struct store {
    char *root;
    char directory[IDENTITY_DIRECTORY_SIZE];
    char application[APPLICATION_NAME_SIZE];
    struct cache_identity identity;
    uint64_t max_size;
    uint64_t total_size;
    bool read_only;
    struct store_known known;
    struct ledger base;          /* what the ledger in memory was loaded from */
    struct store_session saving; /* open between store_save_begin() and store_save_end() */
};

/* --- store_problem.c: messages --- */

/* Both write "<path>: <message>" and return `error`; "%m" in the format is its text. `relative` is below the
 * root, NULL the root itself; `name` is a file in the store's directory. */
int store_fail(const struct store *store, const char *relative, int error, struct store_problem *problem,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
int store_fail_file(const struct store *store, const char *name, int error, struct store_problem *problem,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* --- store_directory.c: directories that are ours alone --- */

/* openat(), again as long as a signal interrupts it; never standard input, output or error. */
int store_openat(int directory, const char *name, int flags, mode_t mode);

/* A descriptor of the store's directory, or of <root>/v1. `create` makes what is missing, parents too, 0700.
 * A link, a foreign owner or one that others may write to is refused. */
int store_directory_open(const struct store *store, bool create, struct store_problem *problem);
int store_directory_open_all(const struct store *store, bool create, struct store_problem *problem);

/* A descriptor of directory `name` in `parent`, which is `relative` below the root. */
int store_directory_open_child(const struct store *store, int parent, const char *name, const char *relative,
                               bool create, struct store_problem *problem);

/* A stream over `directory`, which stays the caller's; NULL with errno. */
DIR *store_directory_list(int directory);

/* --- store_file.c: files in the store's directory --- */

/* "<application><suffix>" */
void store_name(const struct store *store, const char *suffix, char out[STORE_NAME_SIZE]);

/* Whether two stats are of the same file with the same content (time of last use aside). */
bool store_same_file(const struct stat *a, const struct stat *b);

/* A descriptor of a regular file of ours; never blocks on what stands there instead. `flags` are O_RDONLY or
 * O_RDWR, and O_CREAT (0600). -ELOOP, -EINVAL, -EPERM: a link, no regular file, another owner; -EBADMSG:
 * others may write to it. */
int store_file_open(const struct store *store, int directory, const char *name, int flags, struct stat *out,
                    struct store_problem *problem);

/* Reads `size` bytes at `offset`; fewer only at the file's end. Returns their number or a negative errno. */
ssize_t store_file_read(int fd, void *out, size_t size, off_t offset);

/* Says in the file's times that it was used now. Best effort. */
void store_file_touch(int fd);

/* The later of the times that load and save set. */
struct timespec store_file_last_use(const struct stat *stat);

/* --- store_replace.c: atomic replacement --- */

/* A descriptor of a new file "<stem>.tmp.<pid>.<counter>", 0600, whose name goes to `out`. No problem text.
 */
int store_temporary_create(int directory, const char *stem, char out[STORE_NAME_SIZE]);

/* Whether `text` is what store_temporary_create() puts behind the stem. */
bool store_temporary_suffix(const char *text);

/* Removes this application's temporary files whose writers are dead. */
void store_temporary_clean(const struct store *store, const struct store_session *session);

/* Replaces file `name` by the bytes of `parts` (whose members are changed). `out` is the new file's stat. */
int store_replace(const struct store *store, int directory, const char *name, struct iovec *parts, int count,
                  struct stat *out, struct store_problem *problem);

/* --- store_lock.c: one writer at a time --- */

/* Opens (creating) and locks the store's directory, waiting at most STORE_LOCK_WAIT_MS: -ETIMEDOUT. -EROFS
 * for a read-only store. */
int store_session_begin(const struct store *store, struct store_session *out, struct store_problem *problem);
void store_session_end(struct store_session *session);

/* --- store.c --- */

/* Reads the trailer of the open file and judges it; -EBADMSG: not a whole file of this identity, -EFBIG: over
 * the cap. */
int store_read_trailer(const struct store *store, int fd, const struct stat *stat,
                       uint8_t trailer[ENVELOPE_SIZE], struct envelope *out, enum envelope_verdict *verdict,
                       struct store_problem *problem);

/* --- guard.c --- */

/* The marks of dead guards, open so that their names can't be used again while they are handled. */
#define GUARD_DEAD_MAX 32
struct guard_dead {
    uint32_t count;
    struct {
        int fd;
        struct hash128 hash;
        int64_t time; /* when the mark was made or last changed, seconds since 1970 */
        bool later;   /* it said MARK_LATER */
        bool told;    /* the caller's: false at first */
        char name[STORE_NAME_SIZE];
    } marks[GUARD_DEAD_MAX];
};

/* Finds this application's marks that nobody holds. Marks beyond GUARD_DEAD_MAX wait for the next call. */
void guard_find_dead(const struct store *store, int directory, struct guard_dead *out);

/* Closes the descriptors, and removes the marks that were told from the directory first if `remove`. */
void guard_dead_finish(struct guard_dead *dead, int directory, bool remove);

#endif
