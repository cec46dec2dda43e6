#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define TRIM_FILES_MAX 4096
#define ORPHAN_AGE (30 * 24 * 3600) /* seconds without use, for what is left behind without a store */
#define TEMPORARY_AGE (24 * 3600)

/* A file that may be removed to make room. */
struct trim_file {
    char directory[IDENTITY_DIRECTORY_SIZE];
    char name[STORE_NAME_SIZE];
    struct timespec used;
    uint64_t size;
};

struct trim {
    const struct store *store;
    struct trim_file *files;
    size_t count;
    size_t capacity;
    uint64_t total;
    int64_t now;
};

static const char *suffix_of(const char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    if (length <= suffix_length || strcmp(name + length - suffix_length, suffix) != 0)
        return NULL;
    return name + length - suffix_length;
}

static bool is_temporary(const char *name)
{
    const char *mark = strstr(name, ".tmp.");
    return mark && store_temporary_suffix(mark);
}

/* Whether `name` is `<application><suffix>` of this very store. */
static bool is_own(const struct store *store, const char *directory, const char *name, const char *suffix)
{
    size_t length = strlen(store->application);
    return strcmp(directory, store->directory) == 0 && strncmp(name, store->application, length) == 0 &&
           strcmp(name + length, suffix) == 0;
}

static bool has_store(int directory, const char *name, const char *suffix)
{
    char path[STORE_NAME_SIZE + sizeof(".vkcache")];
    struct stat stat;
    snprintf(path, sizeof(path), "%.*s.vkcache", (int)(suffix - name), name);
    return fstatat(directory, path, &stat, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Holding the lock while its file goes keeps out whoever waits for it: they find it gone and make a new one.
 */
static bool remove_lock(const struct store *store, int directory, const char *name)
{
    struct store_problem problem;
    struct stat stat;
    int fd = store_file_open(store, directory, name, O_RDWR, &stat, &problem);
    if (fd < 0)
        return false;
    bool removed = flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(directory, name, 0) == 0;
    flock(fd, LOCK_UN);
    close(fd);
    return removed;
}

/* Removes `name` if nobody has a use for it any more. */
static bool remove_rubbish(const struct trim *trim, int directory, const char *directory_name,
                           const char *name, int64_t age)
{
    const char *ledger = suffix_of(name, ".ledger"), *lock = suffix_of(name, ".lock");
    const char *suffix = ledger ? ledger : lock;
    if (is_temporary(name))
        return age > TEMPORARY_AGE && unlinkat(directory, name, 0) == 0;
    if (!suffix || age <= ORPHAN_AGE || is_own(trim->store, directory_name, name, suffix) ||
        has_store(directory, name, suffix))
        return false;
    return lock ? remove_lock(trim->store, directory, name) : unlinkat(directory, name, 0) == 0;
}

static int add_file(struct trim *trim, const char *directory, const char *name, const struct stat *stat)
{
    if (trim->count == TRIM_FILES_MAX)
        return 0;
    if (trim->count == trim->capacity) {
        size_t capacity = trim->capacity ? 2 * trim->capacity : 64;
        struct trim_file *files = realloc(trim->files, capacity * sizeof(*files));
        if (!files)
            return -ENOMEM;
        trim->files = files;
        trim->capacity = capacity;
    }
    struct trim_file *file = &trim->files[trim->count++];
    snprintf(file->directory, sizeof(file->directory), "%s", directory);
    snprintf(file->name, sizeof(file->name), "%s", name);
    file->used = store_file_last_use(stat);
    file->size = (uint64_t)stat->st_size;
    return 0;
}

/* *remains tells whether the entry is still there afterwards. */
static int visit_file(struct trim *trim, int directory, const char *directory_name, const char *name,
                      bool *remains)
{
    struct stat stat;
    *remains = true;
    if (fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(stat.st_mode))
        return 0;
    if (remove_rubbish(trim, directory, directory_name, name,
                       trim->now - store_file_last_use(&stat).tv_sec)) {
        *remains = false;
        return 0;
    }
    trim->total += (uint64_t)stat.st_size;
    bool store_file = suffix_of(name, ".vkcache") && !is_own(trim->store, directory_name, name, ".vkcache");
    return store_file || suffix_of(name, ".quarantine") ? add_file(trim, directory_name, name, &stat) : 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int visit_directory(struct trim *trim, int version, const char *name)
{
    struct store_problem problem;
    bool empty = true;
    int error = 0;
    int directory = store_directory_open_child(trim->store, version, name, name, false, &problem);
    if (directory < 0)
        return 0;
    DIR *list = store_directory_list(directory);
    const struct dirent *entry;
    for (int i = 0; list && i < STORE_SCAN_MAX && !error && (entry = readdir(list)); i++) {
        bool remains;
        if (is_dots(entry->d_name))
            continue;
        error = visit_file(trim, directory, name, entry->d_name, &remains);
        empty = empty && !remains;
    }
    if (list)
        closedir(list);
    close(directory);
    if (list && empty && strcmp(name, trim->store->directory) != 0)
        unlinkat(version, name, AT_REMOVEDIR);
    return error;
}

static int visit_all(struct trim *trim, int version)
{
    int error = 0;
    DIR *list = store_directory_list(version);
    if (!list)
        return -errno;
    const struct dirent *entry;
    for (int i = 0; i < STORE_SCAN_MAX && !error && (entry = readdir(list)); i++) {
        if (!is_dots(entry->d_name) && strlen(entry->d_name) < IDENTITY_DIRECTORY_SIZE)
            error = visit_directory(trim, version, entry->d_name);
    }
    closedir(list);
    return error;
}

static int compare_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct trim_file *)left)->used;
    const struct timespec *b = &((const struct trim_file *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* A file that was used since it was looked at stays. */
static bool remove_file(const struct trim_file *file, int version)
{
    char path[IDENTITY_DIRECTORY_SIZE + STORE_NAME_SIZE];
    struct stat stat;
    snprintf(path, sizeof(path), "%s/%s", file->directory, file->name);
    if (fstatat(version, path, &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    struct timespec used = store_file_last_use(&stat);
    bool same = used.tv_sec == file->used.tv_sec && used.tv_nsec == file->used.tv_nsec;
    return same && unlinkat(version, path, 0) == 0;
}

int store_trim(struct store *store, struct store_problem *problem)
{
    struct trim trim = {.store = store, .now = time(NULL)};
    problem->text[0] = '\0';
    if (store->read_only)
        return store_fail(store, NULL, -EROFS, problem, "a read-only store");
    int version = store_directory_open_all(store, false, problem);
    if (version < 0)
        return version == -ENOENT ? 0 : version;
    int error = visit_all(&trim, version);
    if (error)
        store_fail(store, NULL, error, problem, "cannot look through the stores: %m");
    if (trim.count > 0)
        qsort(trim.files, trim.count, sizeof(*trim.files), compare_use);
    for (size_t i = 0; i < trim.count && trim.total > store->total_size; i++) {
        if (remove_file(&trim.files[i], version))
            trim.total -= trim.files[i].size;
    }
    free(trim.files);
    close(version);
    return error;
}
