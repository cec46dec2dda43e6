/* A store in a temporary folder of its own, and what tests do to it behind its back. */
#ifndef RC_TESTS_STORE_FIXTURE_H
#define RC_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/stat.h>

#include "cache/store.h"

#define FIXTURE_APPLICATION "game"

struct fixture {
    char base[128];      /* the temporary folder */
    char root[160];      /* <base>/cache/robust_cache; not there at first */
    char directory[256]; /* <root>/v1/<identity> */
    struct cache_identity identity;
    struct store_config config; /* 1 MiB a store, 4 MiB in all */
};

/* cmocka's setup and teardown: *state is a struct fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* "<directory>/<application><suffix>"; static, overwritten by the call after next. */
const char *fixture_path(const struct fixture *fixture, const char *suffix);

struct store *fixture_store(const struct fixture *fixture);

/* A whole save that must succeed, by a store of its own. */
void fixture_save(const struct fixture *fixture, const void *payload, size_t size);

/* Result of a load by a store of its own; the payload must be `payload` where it succeeds. */
int fixture_load(const struct fixture *fixture, const void *payload, size_t size);

/* How many entries the store's directory has whose name contains `part`. */
int fixture_count(const struct fixture *fixture, const char *part);

/* Removes a folder and all in it. */
void fixture_remove(const char *path);

void fixture_write(const char *path, const void *data, size_t size);
void *fixture_read(const char *path, size_t *size); /* free() it */

/* Repeatable pseudo-random numbers. */
uint32_t fixture_random(uint64_t *seed);
void fixture_fill(void *out, size_t size, uint64_t seed);

/* Asserts that `child` (a pid) exits with 0. */
void fixture_join(int child);

#define assert_problem(problem, part) assert_non_null(strstr((problem).text, part))

#endif
