#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define UNLOCKED_AGE 3600 /* seconds after which a temporary file is stale where no lock proves it */
#define GUARD_AGE 60      /* the same for a mark on its way into place, which no lock covers */

int store_temporary_create(int directory, const char *stem, char out[STORE_NAME_SIZE])
{
    static atomic_uint counter;
    int fd;
    /* Containers share stores, so another process may have this pid; O_EXCL settles it. */
    for (int attempt = 0; attempt < 64; attempt++) {
        unsigned number = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        snprintf(out, STORE_NAME_SIZE, "%s.tmp.%d.%u", stem, (int)getpid(), number);
        fd = store_openat(directory, out, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0)
        return -errno;
    if (fchmod(fd, 0600) != 0) {
        int error = -errno;
        unlinkat(directory, out, 0);
        close(fd);
        return error;
    }
    return fd;
}

bool store_temporary_suffix(const char *text)
{
    size_t begin = strlen(".tmp.");
    if (strncmp(text, ".tmp.", begin) != 0)
        return false;
    const char *pid = text + begin;
    size_t digits = strspn(pid, "0123456789");
    if (digits == 0 || pid[digits] != '.')
        return false;
    const char *number = pid + digits + 1;
    digits = strspn(number, "0123456789");
    return digits > 0 && number[digits] == '\0';
}

static bool is_guard_stem(const char *text)
{
    struct hash128 hash;
    return text[0] == '.' && hash128_from_hex(text + 1, &hash) &&
           strncmp(text + HASH128_HEX_SIZE, ".guard", strlen(".guard")) == 0;
}

/* Seconds after which temporary file `name` of this application is stale, or -1 if it isn't one. */
static int64_t stale_age(const struct store *store, bool locked, const char *name)
{
    size_t length = strlen(store->application);
    if (strncmp(name, store->application, length) != 0)
        return -1;
    const char *rest = name + length;
    if (strncmp(rest, ".vkcache", 8) == 0 && store_temporary_suffix(rest + 8))
        return locked ? 0 : UNLOCKED_AGE;
    if (strncmp(rest, ".ledger", 7) == 0 && store_temporary_suffix(rest + 7))
        return locked ? 0 : UNLOCKED_AGE;
    if (is_guard_stem(rest) && store_temporary_suffix(rest + HASH128_HEX_SIZE + strlen(".guard")))
        return GUARD_AGE;
    return -1;
}

static bool older_than(int directory, const char *name, int64_t age)
{
    struct stat stat;
    return age == 0 || (fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
                        time(NULL) - stat.st_mtim.tv_sec > age);
}

void store_temporary_clean(const struct store *store, const struct store_session *session)
{
    bool locked = session->lock.fd >= 0;
    DIR *list = store_directory_list(session->directory);
    if (!list)
        return;
    const struct dirent *entry;
    for (int i = 0; i < STORE_SCAN_MAX && (entry = readdir(list)); i++) {
        int64_t age = stale_age(store, locked, entry->d_name);
        if (age >= 0 && older_than(session->directory, entry->d_name, age))
            unlinkat(session->directory, entry->d_name, 0);
    }
    closedir(list);
}

/* Beyond the limit a write would raise SIGXFSZ, which kills by default. */
static int check_limit(const struct iovec *parts, int count)
{
    struct rlimit limit;
    uint64_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    bool over =
        getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur;
    return over ? -EFBIG : 0;
}

static int write_all(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        if (parts->iov_len == 0) {
            parts++;
            count--;
            continue;
        }
        ssize_t written = writev(fd, parts, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        for (size_t rest = (size_t)written; rest > 0;) {
            size_t step = rest < parts->iov_len ? rest : parts->iov_len;
            parts->iov_base = (char *)parts->iov_base + step;
            parts->iov_len -= step;
            rest -= step;
            if (parts->iov_len == 0 && rest > 0) {
                parts++;
                count--;
            }
        }
    }
    return 0;
}

/* Some file systems have nothing to flush and say EINVAL. */
static int flush(int fd, int (*sync_fn)(int))
{
    int result;
    do
        result = sync_fn(fd);
    while (result != 0 && errno == EINTR);
    return result != 0 && errno != EINVAL ? -errno : 0;
}

/* Network file systems may tell of a full disk only here. After EINTR the descriptor is gone all the same. */
static int close_written(int fd)
{
    return close(fd) != 0 && errno != EINTR ? -errno : 0;
}

int store_replace(const struct store *store, int directory, const char *name, struct iovec *parts, int count,
                  struct stat *out, struct store_problem *problem)
{
    char temporary[STORE_NAME_SIZE];
    int error = check_limit(parts, count);
    if (error)
        return store_fail_file(store, name, error, problem, "over the process's file size limit");
    int fd = store_temporary_create(directory, name, temporary);
    if (fd < 0)
        return store_fail_file(store, name, fd, problem, "cannot create a temporary file: %m");

    error = write_all(fd, parts, count);
    if (!error)
        error = flush(fd, fdatasync);
    if (!error && fstat(fd, out) != 0)
        error = -errno;
    int close_error = close_written(fd);
    if (!error)
        error = close_error;
    if (error) {
        store_fail_file(store, name, error, problem, "cannot write the temporary file: %m");
        goto remove;
    }
    if (renameat(directory, temporary, directory, name) != 0) {
        error = store_fail_file(store, name, -errno, problem, "cannot replace the file: %m");
        goto remove;
    }
    /* The new file is in place and whole whatever happens now; only a power cut could bring the old one back.
     */
    error = flush(directory, fsync);
    if (error)
        store_fail_file(store, name, error, problem, "saved, but the directory could not be flushed: %m");
    return 0;

remove:
    unlinkat(directory, temporary, 0);
    return error;
}
