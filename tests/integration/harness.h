/* The frame of the integration tests: a scratch folder per test, the settings and the driver's behaviour for
 * its runs, and the runs themselves. A run is one process of an application: it is forked from a test that
 * never touches Vulkan itself, so that each begins as a fresh process does, sanitizers included. Nothing here
 * sleeps: whoever waits, waits for a line, a process or a latch, and fails the test after HARNESS_TIMEOUT_MS.
 *
 * A failed check ends the run with RUN_FAILED, or the test, whichever it is in. */
#ifndef HARNESS_H
#define HARNESS_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

/* Less than the longest load_timeout, so that a run that waits for that one is seen to hang. */
#define HARNESS_TIMEOUT_MS 40000
#define RUN_FAILED 99

#define CHECK(condition) ((condition) ? (void)0 : harness_fail(__FILE__, __LINE__, "%s", #condition))
/* The same with what to say about it. */
#define CHECK_SAY(condition, ...) ((condition) ? (void)0 : harness_fail(__FILE__, __LINE__, __VA_ARGS__))
/* Whole numbers of any type. */
#define CHECK_EQUAL(found, expected)                                                                         \
    harness_compare(__FILE__, __LINE__, #found, (long long)(found), (long long)(expected))

void harness_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void harness_compare(const char *file, int line, const char *text, long long found, long long expected);

/* --- A test's surroundings --- */

/* cmocka's setup and teardown: a new scratch folder, the layer switched on for every run, its store, report
 * and log in that folder, and the driver as it is by default, with its journal there too. Teardown checks
 * that the driver saw no misuse and that nothing of the layer's leaked. */
int harness_setup(void **state);
int harness_teardown(void **state);
#define HARNESS_TEST(test) cmocka_unit_test_setup_teardown(test, harness_setup, harness_teardown)

/* For the runs from now on. */
void layer_set(const char *setting, const char *value); /* "SAVE_INTERVAL", "1"; NULL: not set */
void layer_remove(void);                                /* applications without the layer */
void layer_restore(void);
void driver_set(const char *items);    /* as FAULT_DRIVER has them, see fault_driver.h */
void driver_use(const char *manifest); /* another driver than the fault-injecting one */

/* "<scratch>/<name>", in storage that the next call but seven takes. */
const char *scratch_path(const char *name);
#define STORE_ROOT "store"
#define REPORT_FILE "report"
#define LOG_FILE "log"
#define JOURNAL_FILE "journal"

/* --- Runs --- */

typedef void (*run_function)(void *context);

struct run {
    pid_t pid;
};

/* The run ends with exit(0) after `function`, so that exit handlers run. What it writes to `context` stays
 * its own. */
struct run run_start(run_function function, void *context);
/* Waits for its end; its status as of waitpid(). */
int run_wait(struct run *run);
/* From start to exit(0). */
void run_complete(run_function function, void *context);
/* From start to its death by this signal. */
void run_until_death(run_function function, void *context, int signal);
/* Kills it where it stands. */
void run_kill(struct run *run);

/* A count that one process raises and others wait for. */
struct latch {
    int fd;
};
struct latch latch_create(void);
void latch_destroy(struct latch *latch);
void latch_raise(const struct latch *latch, uint32_t count);
/* Takes one of what was raised. */
void latch_wait(const struct latch *latch);

/* --- What was written --- */

/* Lines of a file in the scratch folder that contain both texts ("" for any line). A missing file has none.
 */
uint32_t lines_count(const char *file, const char *text, const char *also);
void lines_wait(const char *file, const char *text, const char *also, uint32_t count);
/* Events of this name in the layer's report whose line also contains `text`. */
uint32_t report_count(const char *event, const char *text);
void report_wait(const char *event, const char *text, uint32_t count);
/* A number in the last event of this name. */
uint64_t report_number(const char *event, const char *key);
/* The number of the last run's rejections for this reason. */
uint64_t report_rejected(const char *reason);
void report_forget(void);

struct bytes {
    unsigned char *data; /* malloc'd */
    size_t size;
};
void bytes_finish(struct bytes *bytes);
struct bytes bytes_copy(const void *data, size_t size);
bool bytes_equal(const struct bytes *a, const struct bytes *b);

struct bytes file_read(const char *path);
void file_write(const char *path, const void *data, size_t size);

/* Files below the store's root whose name ends so (".vkcache", ".guard", ...): how many, and the path of the
 * only one. */
uint32_t store_count(const char *suffix);
const char *store_path(const char *suffix);

#endif
