#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define INODE_DIGITS 16

/* The inode's number makes the name unique among the marks that exist, so that processes may guard the same
 * data at once, and the open file alone tells its name. */
static void mark_name(const struct store *store, const struct hash128 *hash, ino_t inode,
                      char out[STORE_NAME_SIZE])
{
    char hex[HASH128_HEX_SIZE];
    hash128_to_hex(hash, hex);
    snprintf(out, STORE_NAME_SIZE, "%s.%s.%016" PRIx64 ".guard", store->application, hex, (uint64_t)inode);
}

static int lock_mark(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result;
    do
        result = fcntl(fd, F_OFD_SETLK, &lock);
    while (result != 0 && errno == EINTR);
    return result != 0 ? -errno : 0;
}

/* Asking doesn't take the lock, so no scan can get into the way of a process that is making its mark. */
static bool is_held(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* Locks the new file and gives it its name. A mark appears under its name only once it is locked: unlocked it
 * would tell of a death. `from` is the file's path so far, relative to `parent`. */
static int put_in_place(const struct store *store, int directory, const struct hash128 *hash, int fd,
                        int parent, const char *from, bool unnamed)
{
    char name[STORE_NAME_SIZE];
    struct stat stat;
    int error = lock_mark(fd);
    if (error)
        return error;
    if (fstat(fd, &stat) != 0)
        return -errno;
    mark_name(store, hash, stat.st_ino, name);
    int result = unnamed ? linkat(parent, from, directory, name, AT_SYMLINK_FOLLOW)
                         : renameat(parent, from, directory, name);
    return result != 0 ? -errno : 0;
}

/* A file without a name until it is locked, so that a process killed meanwhile leaves nothing. Not every file
 * system can do that, and it takes /proc. */
static int make_mark_unnamed(const struct store *store, int directory, const struct hash128 *hash)
{
    char path[32];
    int fd = store_openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int error =
        fchmod(fd, 0600) != 0 ? -errno : put_in_place(store, directory, hash, fd, AT_FDCWD, path, true);
    if (!error)
        return fd;
    close(fd);
    return error;
}

static int make_mark_named(const struct store *store, int directory, const struct hash128 *hash)
{
    char stem[STORE_NAME_SIZE], temporary[STORE_NAME_SIZE], hex[HASH128_HEX_SIZE];
    hash128_to_hex(hash, hex);
    snprintf(stem, sizeof(stem), "%s.%s.guard", store->application, hex);
    int fd = store_temporary_create(directory, stem, temporary);
    if (fd < 0)
        return fd;
    int error = put_in_place(store, directory, hash, fd, directory, temporary, false);
    if (!error)
        return fd;
    unlinkat(directory, temporary, 0);
    close(fd);
    return error;
}

int store_guard_begin(const struct store *store, const struct hash128 *hash)
{
    struct store_problem problem;
    if (store->read_only)
        return -EROFS;
    int directory = store_directory_open(store, true, &problem);
    if (directory < 0)
        return directory;
    int fd = make_mark_unnamed(store, directory, hash);
    if (fd < 0)
        fd = make_mark_named(store, directory, hash);
    close(directory);
    return fd;
}

static int remove_mark(const struct store *store, const struct hash128 *hash, int fd)
{
    char name[STORE_NAME_SIZE];
    struct store_problem problem;
    struct stat stat;
    if (fstat(fd, &stat) != 0)
        return -errno;
    mark_name(store, hash, stat.st_ino, name);
    int directory = store_directory_open(store, false, &problem);
    if (directory < 0)
        return directory;
    int error = unlinkat(directory, name, 0) != 0 ? -errno : 0;
    close(directory);
    return error;
}

/* With a file size limit of 0, as sandboxes have it, the write would raise SIGXFSZ. */
void store_guard_change(int fd, enum store_mark state)
{
    const char byte = (char)state;
    struct rlimit limit;
    ssize_t written;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == 0)
        return;
    do
        written = pwrite(fd, &byte, 1, 0);
    while (written < 0 && errno == EINTR);
}

void store_guard_end(const struct store *store, const struct hash128 *hash, int fd)
{
    /* A sandbox set up meanwhile may forbid removing files, but hardly ever writing to an open one. */
    if (remove_mark(store, hash, fd) != 0)
        store_guard_change(fd, MARK_RESTING);
    close(fd);
}

static bool parse_mark(const struct store *store, const char *name, struct hash128 *hash)
{
    size_t length = strlen(store->application);
    if (strncmp(name, store->application, length) != 0 || name[length] != '.' ||
        !hash128_from_hex(name + length + 1, hash))
        return false;
    const char *inode = name + length + HASH128_HEX_SIZE;
    return inode[0] == '.' && strspn(inode + 1, "0123456789abcdef") == INODE_DIGITS &&
           strcmp(inode + 1 + INODE_DIGITS, ".guard") == 0;
}

/* An empty one was never changed. */
static enum store_mark read_state(int fd)
{
    char byte;
    return store_file_read(fd, &byte, 1, 0) == 1 ? (enum store_mark)byte : MARK_FIRST;
}

static void examine_mark(const struct store *store, int directory, const char *name,
                         const struct hash128 *hash, struct guard_dead *out)
{
    struct store_problem problem;
    struct stat stat;
    int fd = store_file_open(store, directory, name, O_RDONLY, &stat, &problem);
    if (fd < 0)
        return;
    if (is_held(fd) || fstat(fd, &stat) != 0 || stat.st_nlink == 0) {
        close(fd);
        return;
    }
    enum store_mark state = read_state(fd);
    if (state != MARK_FIRST && state != MARK_LATER) {
        unlinkat(directory, name, 0);
        close(fd);
    } else {
        uint32_t i = out->count++;
        out->marks[i].fd = fd;
        out->marks[i].told = false;
        out->marks[i].later = state == MARK_LATER;
        out->marks[i].hash = *hash;
        out->marks[i].time = stat.st_mtim.tv_sec;
        snprintf(out->marks[i].name, STORE_NAME_SIZE, "%s", name);
    }
}

void guard_find_dead(const struct store *store, int directory, struct guard_dead *out)
{
    out->count = 0;
    DIR *list = store_directory_list(directory);
    if (!list)
        return;
    const struct dirent *entry;
    for (int i = 0; i < STORE_SCAN_MAX && out->count < GUARD_DEAD_MAX && (entry = readdir(list)); i++) {
        struct hash128 hash;
        if (parse_mark(store, entry->d_name, &hash))
            examine_mark(store, directory, entry->d_name, &hash, out);
    }
    closedir(list);
}

void guard_dead_finish(struct guard_dead *dead, int directory, bool remove)
{
    for (uint32_t i = 0; i < dead->count; i++) {
        if (remove && dead->marks[i].told)
            unlinkat(directory, dead->marks[i].name, 0);
        close(dead->marks[i].fd);
    }
    dead->count = 0;
}
