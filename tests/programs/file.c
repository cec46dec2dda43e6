#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int fd, char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = read(fd, data, size);
        if (n == 0)
            errno = EIO; /* shorter than it was a moment ago */
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return true;
}

bool file_read(const char *path, void **data, size_t *size)
{
    *data = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat info;
    bool done = fstat(fd, &info) == 0;
    if (done) {
        size_t length = (size_t)info.st_size;
        *data = malloc(length ? length : 1);
        done = *data && read_all(fd, *data, length);
        *size = length;
    }
    if (!done) {
        free(*data);
        *data = NULL;
        *size = 0;
    }
    close(fd);
    return done;
}

static bool write_file(const char *path, const void *data, size_t size, bool sync)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool done = write_all(fd, data, size) && (!sync || fdatasync(fd) == 0);
    return close(fd) == 0 && done;
}

bool file_write(const char *path, const void *data, size_t size)
{
    return write_file(path, data, size, false);
}

bool file_replace(const char *path, const void *data, size_t size)
{
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof(temporary), "%s.%d.tmp", path, (int)getpid());
    if (length < 0 || (size_t)length >= sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (write_file(temporary, data, size, true) && rename(temporary, path) == 0)
        return true;
    int error = errno;
    unlink(temporary);
    errno = error;
    return false;
}
