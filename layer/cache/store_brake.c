#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".brake"

/* As much of a store as a file beside all of them needs. `root` stays the caller's. */
static struct store as_store(const char *root, const char *application)
{
    struct store store = {.root = (char *)(uintptr_t)root};
    snprintf(store.application, sizeof(store.application), "%s", application);
    return store;
}

/* Empty: that it is there and how old it is says all, and nothing can be half written. Made new and flushed
 * as far as the file system can; a machine whose device was lost is often switched off next. */
static int make_mark(const struct store *store, int directory, const char *name,
                     struct store_problem *problem)
{
    struct stat stat;
    int fd = store_file_open(store, directory, name, O_RDONLY | O_CREAT, &stat, problem);
    if (fd < 0)
        return fd;
    int error = 0;
    if (fchmod(fd, 0600) != 0)
        error = store_fail_file(store, name, -errno, problem, "cannot set the mode: %m");
    futimens(fd, NULL);
    fsync(fd);
    fsync(directory);
    close(fd);
    return error;
}

int store_brake_set(const char *root, const char *application, struct store_problem *problem)
{
    struct store store = as_store(root, application);
    char name[STORE_NAME_SIZE];
    problem->text[0] = '\0';
    int directory = store_directory_open_all(&store, true, problem);
    if (directory < 0)
        return directory;
    store_name(&store, SUFFIX, name);
    int error = make_mark(&store, directory, name, problem);
    close(directory);
    return error;
}

int store_brake_find(const char *root, const char *application, int64_t *time, struct store_problem *problem)
{
    struct store store = as_store(root, application);
    char name[STORE_NAME_SIZE];
    struct stat stat;
    problem->text[0] = '\0';
    int directory = store_directory_open_all(&store, false, problem);
    if (directory < 0)
        return directory;
    store_name(&store, SUFFIX, name);
    int fd = store_file_open(&store, directory, name, O_RDONLY, &stat, problem);
    close(directory);
    if (fd < 0)
        return fd;
    close(fd);
    *time = stat.st_mtim.tv_sec;
    return 0;
}

int store_brake_remove(const char *root, const char *application, struct store_problem *problem)
{
    struct store store = as_store(root, application);
    char name[STORE_NAME_SIZE];
    problem->text[0] = '\0';
    int directory = store_directory_open_all(&store, false, problem);
    if (directory < 0)
        return directory;
    store_name(&store, SUFFIX, name);
    int error = 0;
    if (unlinkat(directory, name, 0) != 0 && errno != ENOENT)
        error = store_fail_file(&store, name, -errno, problem, "cannot remove the file: %m");
    close(directory);
    return error;
}
