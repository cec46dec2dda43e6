/* Tests that go on as another user need the build folder to be open to that user. */
#ifndef OTHER_USER_H
#define OTHER_USER_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Whether every folder on the way to `path` (absolute), itself included, lets other users through; says which
 * one doesn't. */
static inline bool other_user_reaches(const char *path)
{
    char part[PATH_MAX];
    struct stat found;
    for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        const char *end = strchr(slash + 1, '/');
        snprintf(part, sizeof(part), "%.*s", end ? (int)(end - path) : (int)strlen(path), path);
        if (stat(part, &found) == 0 && !(found.st_mode & S_IXOTH)) {
            fprintf(stderr, "%s is closed to other users: skipped\n", part);
            return false;
        }
    }
    return true;
}

#endif
