#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder of all stores, opened for as much of a store as a file in there needs. */
struct place {
    struct store *store;
    int directory;
    char name[STORE_NAME_SIZE];
};

static void place_finish(struct place *place)
{
    if (place->directory >= 0)
        close(place->directory);
    store_destroy(place->store);
}

static int place_init(struct place *place, const char *root, const char *application, bool create,
                      struct store_problem *problem)
{
    static const struct cache_identity no_identity;
    const struct store_config config = {.root = root, .application = application, .identity = &no_identity};
    problem->text[0] = '\0';
    *place = (struct place){.directory = -1};
    int error = store_create(&place->store, &config);
    if (error) {
        snprintf(problem->text, sizeof(problem->text), "%s: %s", root, strerror(-error));
        return error;
    }
    place->store->directory[0] = '\0';
    store_name(place->store, ".brake", place->name);
    place->directory = store_directory_open_all(place->store, create, problem);
    if (place->directory >= 0)
        return 0;
    error = place->directory;
    place_finish(place);
    return error;
}

/* Empty: that it is there and how old it is says all, and nothing can be half written. Made new and flushed
 * as far as the file system can; a machine whose device was lost is often switched off next. */
int store_brake_set(const char *root, const char *application, struct store_problem *problem)
{
    struct place place;
    struct stat stat;
    int error = place_init(&place, root, application, true, problem);
    if (error)
        return error;
    int fd = store_file_open(place.store, place.directory, place.name, O_RDONLY | O_CREAT, &stat, problem);
    if (fd < 0) {
        error = fd;
        goto finish;
    }
    if (fchmod(fd, 0600) != 0)
        error = store_fail_file(place.store, place.name, -errno, problem, "cannot set the mode: %m");
    futimens(fd, NULL);
    fsync(fd);
    fsync(place.directory);
    close(fd);
finish:
    place_finish(&place);
    return error;
}

int store_brake_find(const char *root, const char *application, int64_t *time, struct store_problem *problem)
{
    struct place place;
    struct stat stat;
    int error = place_init(&place, root, application, false, problem);
    if (error)
        return error;
    int fd = store_file_open(place.store, place.directory, place.name, O_RDONLY, &stat, problem);
    place_finish(&place);
    if (fd < 0)
        return fd;
    close(fd);
    *time = stat.st_mtim.tv_sec;
    return 0;
}

int store_brake_remove(const char *root, const char *application, struct store_problem *problem)
{
    struct place place;
    int error = place_init(&place, root, application, false, problem);
    if (error)
        return error;
    if (unlinkat(place.directory, place.name, 0) != 0 && errno != ENOENT)
        error = store_fail_file(place.store, place.name, -errno, problem, "cannot remove the file: %m");
    place_finish(&place);
    return error;
}
