#include "store_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A path that doesn't fit loses its beginning: the file's name tells more than the home directory. */
static void compose(struct store_problem *problem, const char *path, const char *message)
{
    size_t length = strlen(path), taken = strlen(message) + sizeof(": ");
    size_t room = sizeof(problem->text) - taken;
    const char *cut = "";
    if (length > room) {
        cut = "...";
        path += length - room + strlen(cut);
    }
    char *end = stpcpy(problem->text, cut);
    end = stpcpy(end, path);
    end = stpcpy(end, ": ");
    stpcpy(end, message);
}

static int fail(const char *path, int error, struct store_problem *problem, const char *format,
                va_list arguments)
{
    char message[STORE_PROBLEM_SIZE * 3 / 4];
    errno = -error;
    vsnprintf(message, sizeof(message), format, arguments);
    compose(problem, path, message);
    return error;
}

int store_fail(const struct store *store, const char *relative, int error, struct store_problem *problem,
               const char *format, ...)
{
    char path[PATH_MAX + NAME_MAX];
    snprintf(path, sizeof(path), "%s%s%s", store->root, relative ? "/" : "", relative ? relative : "");
    va_list arguments;
    va_start(arguments, format);
    fail(path, error, problem, format, arguments);
    va_end(arguments);
    return error;
}

int store_fail_file(const struct store *store, const char *name, int error, struct store_problem *problem,
                    const char *format, ...)
{
    char path[PATH_MAX + IDENTITY_DIRECTORY_SIZE + NAME_MAX];
    snprintf(path, sizeof(path), "%s/v1/%s%s%s", store->root, store->directory,
             store->directory[0] ? "/" : "", name);
    va_list arguments;
    va_start(arguments, format);
    fail(path, error, problem, format, arguments);
    va_end(arguments);
    return error;
}
