/* File descriptors in a process that isn't ours. */
#ifndef RC_DESCRIPTOR_H
#define RC_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Daemons close 0, 1 and 2, and the next file opened gets such a number: what the program prints would go
 * into the layer's file. Takes `fd` (negative: as it is, errno kept) and returns one above those, with
 * FD_CLOEXEC, or -1 and errno. */
static inline int descriptor_above_standard(int fd)
{
    int moved, problem;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    problem = errno;
    close(fd);
    errno = problem;
    return moved;
}

#endif
