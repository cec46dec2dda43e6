/* Several processes on one store (C11), threads with guards, and a storm of signals (C32). */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 4
#define SAVES 50

/* A cache whose entries are numbers: what a process saves is what it found united with one of its own. */
struct entries {
    uint32_t count;
    uint32_t numbers[PROCESSES * SAVES];
};

static void add_entry(struct entries *entries, uint32_t number)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        if (entries->numbers[i] == number)
            return;
    }
    entries->numbers[entries->count++] = number;
}

static bool load_entries(struct store *store, struct entries *entries)
{
    struct store_blob blob;
    struct store_problem problem;
    enum envelope_verdict verdict;
    int error = store_load(store, &blob, &verdict, &problem);
    if (error)
        return error == -ENOENT;
    for (size_t i = 0; i < blob.size / sizeof(uint32_t); i++) {
        uint32_t number;
        memcpy(&number, (char *)blob.data + i * sizeof(number), sizeof(number));
        add_entry(entries, number);
    }
    store_blob_finish(&blob);
    return true;
}

static bool save_entry(struct store *store, struct entries *entries, uint32_t number)
{
    struct store_problem problem;
    bool changed;
    int error;
    do
        error = store_save_begin(store, &changed, &problem);
    while (error == -ETIMEDOUT);
    if (error)
        return false;
    bool right = !changed || load_entries(store, entries);
    add_entry(entries, number);
    right =
        right && store_save_commit(store, entries->numbers, entries->count * sizeof(uint32_t), &problem) == 0;
    store_save_end(store);
    return right;
}

static int save_and_load(const struct fixture *fixture, uint32_t process)
{
    struct store *store;
    struct entries entries = {0};
    bool right = store_create(&store, &fixture->config) == 0;
    for (uint32_t i = 0; right && i < SAVES; i++)
        right = save_entry(store, &entries, process * SAVES + i) && load_entries(store, &entries);
    store_destroy(store);
    return right ? 0 : 1;
}

static void processes_save_the_union(void **state)
{
    struct fixture *fixture = *state;
    pid_t children[PROCESSES];
    struct entries entries = {0};
    for (uint32_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(save_and_load(fixture, i));
    }
    for (int i = 0; i < PROCESSES; i++)
        fixture_join(children[i]);
    struct store *store = fixture_store(fixture);
    assert_true(load_entries(store, &entries));
    assert_int_equal(entries.count, PROCESSES * SAVES);
    assert_int_equal(fixture_count(fixture, ".tmp."), 0);
    store_destroy(store);
}

/* A scanner in another process looks for deaths as fast as it can, while threads go in and out of guarded
 * calls. */
#define THREADS 8
#define GUARDS 50

static void *guard_thread(void *context)
{
    const struct store *store = context;
    for (uint8_t i = 0; i < GUARDS; i++) {
        struct hash128 hash = {{i}};
        int fd = store_guard_begin(store, &hash);
        if (fd < 0)
            return context;
        store_guard_end(store, &hash, fd);
    }
    return NULL;
}

static int count_deaths_until(const struct fixture *fixture, const char *stop)
{
    struct store *store = fixture_store(fixture);
    static struct ledger ledger;
    struct store_problem problem;
    struct hash128 dead[4];
    uint32_t dead_count = 0;
    while (dead_count == 0 && access(stop, F_OK) != 0) {
        if (store_open_ledger(store, &ledger, dead, 4, &dead_count, &problem) != 0)
            return 2;
    }
    store_destroy(store);
    return dead_count > 0;
}

static void living_guards_are_no_deaths(void **state)
{
    struct fixture *fixture = *state;
    pthread_t threads[THREADS];
    fixture_save(fixture, "x", 1);
    pid_t child = fork();
    if (child == 0)
        _exit(count_deaths_until(fixture, fixture_path(fixture, ".stop")));
    struct store *store = fixture_store(fixture);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, guard_thread, store), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    fixture_write(fixture_path(fixture, ".stop"), "", 0);
    fixture_join(child);
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
    store_destroy(store);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void set_alarms(suseconds_t interval)
{
    const struct sigaction action = {.sa_handler = count_alarm};
    const struct itimerval timer = {{0, interval}, {0, interval}};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* Holds the lock for a moment again and again. */
static int hold_lock_until(const char *lock, const char *stop)
{
    int fd = open(lock, O_RDWR);
    while (access(stop, F_OK) != 0) {
        const struct timespec hold = {.tv_nsec = 5000000};
        if (flock(fd, LOCK_EX) != 0)
            return 1;
        nanosleep(&hold, NULL);
        flock(fd, LOCK_UN);
        nanosleep(&hold, NULL);
    }
    return 0;
}

static void signal_storm(void **state)
{
    struct fixture *fixture = *state;
    size_t size = 900 * 1024;
    uint8_t *payload = malloc(size);
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct store_blob blob;
    enum envelope_verdict verdict;
    bool changed;
    fixture_fill(payload, size, 1);
    fixture_save(fixture, payload, size);
    pid_t child = fork();
    if (child == 0)
        _exit(hold_lock_until(fixture_path(fixture, ".lock"), fixture_path(fixture, ".stop")));
    set_alarms(1000);
    for (int i = 0; i < 20 || alarms < 100; i++) {
        payload[0]++;
        int error;
        do
            error = store_save_begin(store, &changed, &problem);
        while (error == -ETIMEDOUT);
        assert_int_equal(error, 0);
        assert_int_equal(store_save_commit(store, payload, size, &problem), 0);
        store_save_end(store);
        assert_int_equal(store_load(store, &blob, &verdict, &problem), 0);
        assert_memory_equal(blob.data, payload, size);
        store_blob_finish(&blob);
        struct ledger ledger = {.compiled_pipelines = (uint64_t)i};
        assert_int_equal(store_write_ledger(store, &ledger, &problem), 0);
    }
    set_alarms(0);
    fixture_write(fixture_path(fixture, ".stop"), "", 0);
    fixture_join(child);
    store_destroy(store);
    free(payload);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(processes_save_the_union),
        STORE_TEST(living_guards_are_no_deaths),
        STORE_TEST(signal_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
