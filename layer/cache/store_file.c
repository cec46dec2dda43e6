#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void store_name(const struct store *store, const char *suffix, char out[STORE_NAME_SIZE])
{
    snprintf(out, STORE_NAME_SIZE, "%s%s", store->application, suffix);
}

bool store_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static const char *type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "directory";
    case S_IFIFO:
        return "pipe";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

static int check_file(const struct store *store, const char *name, const struct stat *stat,
                      struct store_problem *problem)
{
    if (S_ISLNK(stat->st_mode))
        return store_fail_file(store, name, -ELOOP, problem, "a symbolic link, a regular file expected");
    if (!S_ISREG(stat->st_mode))
        return store_fail_file(store, name, -EINVAL, problem, "a %s, a regular file expected",
                               type_name(stat->st_mode));
    if (stat->st_uid != geteuid() && !(store->read_only && stat->st_uid == 0))
        return store_fail_file(store, name, -EPERM, problem, "belongs to user %u, user %u expected",
                               (unsigned)stat->st_uid, (unsigned)geteuid());
    if (stat->st_mode & (S_IWGRP | S_IWOTH))
        return store_fail_file(store, name, -EBADMSG, problem,
                               "others may write to it (mode %04o, 0600 expected)",
                               (unsigned)stat->st_mode & 07777);
    return 0;
}

/* Looking before opening keeps the hands off devices, whose drivers act on open(); only the look at the open
 * file counts. */
int store_file_open(const struct store *store, int directory, const char *name, int flags, struct stat *out,
                    struct store_problem *problem)
{
    bool create = flags & O_CREAT;
    int error;
    if (fstatat(directory, name, out, AT_SYMLINK_NOFOLLOW) == 0)
        error = check_file(store, name, out, problem);
    else if (errno != ENOENT)
        error = store_fail_file(store, name, -errno, problem, "cannot examine the file: %m");
    else
        error = create ? 0 : -ENOENT;
    if (error)
        return error;

    int fd = store_openat(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOENT ? -ENOENT
                               : store_fail_file(store, name, -errno, problem, "cannot open the file: %m");
    if (fstat(fd, out) != 0)
        error = store_fail_file(store, name, -errno, problem, "cannot examine the file: %m");
    else
        error = check_file(store, name, out, problem);
    if (error) {
        close(fd);
        return error;
    }
    return fd;
}

ssize_t store_file_read(int fd, void *out, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)out + done, size - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Only the time of access: the time of change goes on telling whether the content is the one that was judged.
 */
void store_file_touch(int fd)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    futimens(fd, times);
}

struct timespec store_file_last_use(const struct stat *stat)
{
    const struct timespec *read = &stat->st_atim, *written = &stat->st_mtim;
    bool later = read->tv_sec > written->tv_sec ||
                 (read->tv_sec == written->tv_sec && read->tv_nsec > written->tv_nsec);
    return later ? *read : *written;
}
