#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int store_openat(int directory, const char *name, int flags, mode_t mode)
{
    int fd;
    do
        fd = openat(directory, name, flags, mode);
    while (fd < 0 && errno == EINTR);
    return descriptor_above_standard(fd);
}

/* The umask may have taken rights from the owner, so that the directory can't even be opened. */
static void undo_umask(int parent, const char *name)
{
    int fd = store_openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    struct stat stat;
    if (fd < 0)
        return;
    if (fstat(fd, &stat) == 0 && (stat.st_mode & 0777) != 0700) {
        char path[32];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        chmod(path, 0700);
    }
    close(fd);
}

static int make_directory(int parent, const char *name)
{
    if (mkdirat(parent, name, 0700) != 0)
        return errno == EEXIST ? 0 : -errno;
    undo_umask(parent, name);
    return 0;
}

/* `path` is cut and mended again on the way. */
static int make_path(char *path)
{
    int error = make_directory(AT_FDCWD, path);
    char *slash = strrchr(path, '/');
    if (error != -ENOENT || slash == path)
        return error;
    *slash = '\0';
    error = make_path(path);
    *slash = '/';
    return error ? error : make_directory(AT_FDCWD, path);
}

static int refuse_unopened(const struct store *store, int parent, const char *name, const char *relative,
                           int error, struct store_problem *problem)
{
    struct stat stat;
    bool known =
        (error == -ENOTDIR || error == -ELOOP) && fstatat(parent, name, &stat, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && S_ISLNK(stat.st_mode))
        return store_fail(store, relative, -ELOOP, problem, "a symbolic link, a directory expected");
    return store_fail(store, relative, error, problem, "cannot open the directory: %m");
}

static int check_directory(const struct store *store, int fd, const char *relative,
                           struct store_problem *problem)
{
    struct stat stat;
    if (fstat(fd, &stat) != 0)
        return store_fail(store, relative, -errno, problem, "cannot examine the directory: %m");
    if (stat.st_uid != geteuid() && !(store->read_only && stat.st_uid == 0))
        return store_fail(store, relative, -EPERM, problem, "belongs to user %u, user %u expected",
                          (unsigned)stat.st_uid, (unsigned)geteuid());
    if (stat.st_mode & (S_IWGRP | S_IWOTH))
        return store_fail(store, relative, -EPERM, problem,
                          "others may write to it (mode %04o, 0700 expected)",
                          (unsigned)stat.st_mode & 07777);
    return 0;
}

static int check_opened(const struct store *store, int fd, const char *relative,
                        struct store_problem *problem)
{
    int error = check_directory(store, fd, relative, problem);
    if (error) {
        close(fd);
        return error;
    }
    return fd;
}

int store_directory_open_child(const struct store *store, int parent, const char *name, const char *relative,
                               bool create, struct store_problem *problem)
{
    int fd = store_openat(parent, name, OPEN_DIRECTORY, 0);
    if (fd < 0 && errno == ENOENT && create) {
        int error = make_directory(parent, name);
        if (error)
            return store_fail(store, relative, error, problem, "cannot create the directory: %m");
        fd = store_openat(parent, name, OPEN_DIRECTORY, 0);
    }
    if (fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (fd < 0)
        return refuse_unopened(store, parent, name, relative, -errno, problem);
    return check_opened(store, fd, relative, problem);
}

/* Above the root the user's own links are followed; the root itself is no link. */
static int open_root(const struct store *store, bool create, struct store_problem *problem)
{
    int fd = store_openat(AT_FDCWD, store->root, OPEN_DIRECTORY, 0);
    if (fd < 0 && errno == ENOENT && create) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s", store->root);
        int error = make_path(path);
        if (error)
            return store_fail(store, NULL, error, problem, "cannot create the directory: %m");
        fd = store_openat(AT_FDCWD, store->root, OPEN_DIRECTORY, 0);
    }
    if (fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (fd < 0)
        return refuse_unopened(store, AT_FDCWD, store->root, NULL, -errno, problem);
    return check_opened(store, fd, NULL, problem);
}

static int open_version(const struct store *store, bool create, struct store_problem *problem)
{
    int root = open_root(store, create, problem);
    if (root < 0)
        return root;
    int version = store_directory_open_child(store, root, "v1", "v1", create, problem);
    close(root);
    return version;
}

int store_directory_open(const struct store *store, bool create, struct store_problem *problem)
{
    int version = open_version(store, create, problem);
    if (version < 0)
        return version;
    char relative[sizeof("v1/") + IDENTITY_DIRECTORY_SIZE];
    snprintf(relative, sizeof(relative), "v1/%s", store->directory);
    int fd = store_directory_open_child(store, version, store->directory, relative, create, problem);
    close(version);
    return fd;
}

int store_directory_open_all(const struct store *store, bool create, struct store_problem *problem)
{
    return open_version(store, create, problem);
}

DIR *store_directory_list(int directory)
{
    int fd = store_openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    DIR *list = fdopendir(fd);
    if (!list)
        close(fd);
    return list;
}
