/* Whole files in memory, and replaced the way a careful application does it. */
#ifndef PROGRAMS_FILE_H
#define PROGRAMS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a regular file into memory from malloc(). False (and errno) if it can't; then *data is NULL. */
bool file_read(const char *path, void **data, size_t *size);

/* Writes `path` anew. False (and errno) on error. */
bool file_write(const char *path, const void *data, size_t size);

/* Writes a temporary file beside `path`, syncs it and renames it over `path`. */
bool file_replace(const char *path, const void *data, size_t size);

#endif
