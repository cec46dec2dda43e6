#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define SESSION_ATTEMPTS 8

/* flock() knows no timeout, and an alarm belongs to the application, so waiting is asking again. */
static int wait_for_lock(int fd, uint64_t deadline)
{
    struct timespec pause = {.tv_nsec = 1000000};
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return -errno;
        if (clock_monotonic_ns() >= deadline)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 16000000)
            pause.tv_nsec *= 2;
    }
    return 0;
}

static bool without_locks(int error)
{
    return error == -ENOLCK || error == -EOPNOTSUPP || error == -ENOSYS;
}

/* A lock on a file that was removed meanwhile excludes nobody. */
static bool still_there(int directory, const char *name, const struct stat *locked)
{
    struct stat stat;
    return fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && stat.st_dev == locked->st_dev &&
           stat.st_ino == locked->st_ino;
}

/* -ESTALE: the file was removed meanwhile, try again. */
static int take_lock(const struct store *store, int directory, uint64_t deadline, struct store_lock *out,
                     struct store_problem *problem)
{
    char name[STORE_NAME_SIZE];
    struct stat stat;
    store_name(store, ".lock", name);
    int fd = store_file_open(store, directory, name, O_RDWR | O_CREAT, &stat, problem);
    if (fd < 0)
        return fd;
    if ((stat.st_mode & 0777) != 0600)
        fchmod(fd, 0600);

    int error = wait_for_lock(fd, deadline);
    if (without_locks(error)) {
        close(fd);
        *out = (struct store_lock){.fd = -1};
        return 0;
    }
    if (!error && !still_there(directory, name, &stat))
        error = -ESTALE;
    else if (error)
        store_fail_file(store, name, error, problem, "cannot lock: %m");
    if (error) {
        close(fd);
        return error;
    }
    *out = (struct store_lock){.fd = fd, .owner = getpid()};
    return 0;
}

/* close() alone wouldn't do: a child forked meanwhile may have a copy of the descriptor, and with it the
 * lock. */
static void release_lock(struct store_lock *lock)
{
    if (lock->fd < 0)
        return;
    if (lock->owner == getpid())
        flock(lock->fd, LOCK_UN);
    close(lock->fd);
    lock->fd = -1;
}

static int try_session(const struct store *store, uint64_t deadline, struct store_session *out,
                       struct store_problem *problem)
{
    int directory = store_directory_open(store, true, problem);
    if (directory < 0)
        return directory;
    int error = take_lock(store, directory, deadline, &out->lock, problem);
    if (error) {
        close(directory);
        return error;
    }
    out->directory = directory;
    return 0;
}

int store_session_begin(const struct store *store, struct store_session *out, struct store_problem *problem)
{
    uint64_t deadline = clock_monotonic_ns() + STORE_LOCK_WAIT_MS * 1000000ull;
    int error = -ENOENT;
    *out = (struct store_session){.directory = -1, .lock = {.fd = -1}};
    if (store->read_only)
        return store_fail(store, NULL, -EROFS, problem, "a read-only store");
    /* Somebody may be clearing the cache folder right now. */
    for (int i = 0; i < SESSION_ATTEMPTS && (error == -ENOENT || error == -ESTALE); i++)
        error = try_session(store, deadline, out, problem);
    if (error == -ENOENT || error == -ESTALE)
        return store_fail(store, NULL, error, problem, "removed while it was being opened");
    return error;
}

void store_session_end(struct store_session *session)
{
    release_lock(&session->lock);
    if (session->directory >= 0)
        close(session->directory);
    session->directory = -1;
}
