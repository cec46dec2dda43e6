/* The cap over all stores: the least recently used go first, never the own one. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (10000 + ENVELOPE_SIZE)

static uint8_t payload[10000];

static time_t days_ago(int days)
{
    return time(NULL) - days * 24 * 3600;
}

static void set_use(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A store of another application, on this device or (`device` not 0) on another one. */
static void other_store(const struct fixture *fixture, const char *application, uint32_t device, time_t used)
{
    struct fixture other = *fixture;
    char path[512], directory[IDENTITY_DIRECTORY_SIZE];
    other.identity.device_id += device;
    other.config.identity = &other.identity;
    other.config.application = application;
    fixture_save(&other, payload, sizeof(payload));
    identity_directory(&other.identity, directory);
    snprintf(path, sizeof(path), "%s/v1/%s/%s.vkcache", fixture->root, directory, application);
    set_use(path, used);
}

static void trim_to(struct fixture *fixture, uint64_t size)
{
    struct store_problem problem;
    fixture->config.total_size = size;
    struct store *store = fixture_store(fixture);
    assert_int_equal(store_trim(store, &problem), 0);
    assert_string_equal(problem.text, "");
    store_destroy(store);
}

static int load_other(const struct fixture *fixture, const char *application, uint32_t device)
{
    struct fixture other = *fixture;
    other.identity.device_id += device;
    other.config.identity = &other.identity;
    other.config.application = application;
    return fixture_load(&other, payload, sizeof(payload));
}

static void oldest_go_first(void **state)
{
    struct fixture *fixture = *state;
    other_store(fixture, "b", 0, 3000);
    other_store(fixture, "c", 1, 1000);
    other_store(fixture, "d", 2, 2000);
    fixture_save(fixture, payload, sizeof(payload));
    set_use(fixture_path(fixture, ".vkcache"), 500);
    trim_to(fixture, 4 * FILE_BYTES);
    assert_int_equal(load_other(fixture, "c", 1), 0);
    other_store(fixture, "c", 1, 1000);
    trim_to(fixture, 4 * FILE_BYTES - 1);
    assert_int_equal(load_other(fixture, "c", 1), -ENOENT);
    assert_int_equal(load_other(fixture, "d", 2), 0); /* which makes it the last used */
    trim_to(fixture, 2 * FILE_BYTES);
    assert_int_equal(load_other(fixture, "b", 0), -ENOENT);
    assert_int_equal(load_other(fixture, "d", 2), 0);
    trim_to(fixture, 1);
    assert_int_equal(load_other(fixture, "d", 2), -ENOENT);
    assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
}

/* This application's store for another driver is another store. */
static void own_name_elsewhere(void **state)
{
    struct fixture *fixture = *state;
    other_store(fixture, FIXTURE_APPLICATION, 1, 1000);
    fixture_save(fixture, payload, sizeof(payload));
    trim_to(fixture, FILE_BYTES);
    assert_int_equal(load_other(fixture, FIXTURE_APPLICATION, 1), -ENOENT);
    assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
}

static void quarantined_files_count(void **state)
{
    struct fixture *fixture = *state;
    struct hash128 hash = hash128_of(payload, sizeof(payload));
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    fixture_save(fixture, payload, sizeof(payload));
    assert_int_equal(store_quarantine(store, &hash, &problem), 0);
    fixture_save(fixture, payload, sizeof(payload));
    trim_to(fixture, 2 * FILE_BYTES);
    assert_int_equal(fixture_count(fixture, ".quarantine"), 1);
    trim_to(fixture, 2 * FILE_BYTES - 1);
    assert_int_equal(fixture_count(fixture, ".quarantine"), 0);
    store_destroy(store);
}

static void rubbish_goes_when_old(void **state)
{
    struct fixture *fixture = *state;
    fixture_save(fixture, payload, sizeof(payload));
    const char *const names[] = {"2.ledger", "2.lock", "2.vkcache.tmp.1.1", ".ledger"};
    for (size_t i = 0; i < 4; i++) {
        fixture_write(fixture_path(fixture, names[i]), "", 0);
        set_use(fixture_path(fixture, names[i]), days_ago(0));
    }
    trim_to(fixture, 1 << 20);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(access(fixture_path(fixture, names[i]), F_OK), 0);
        set_use(fixture_path(fixture, names[i]), days_ago(31));
    }
    int lock = open(fixture_path(fixture, "2.lock"), O_RDWR);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    trim_to(fixture, 1 << 20);
    assert_int_equal(access(fixture_path(fixture, "2.lock"), F_OK), 0); /* somebody is at work there */
    close(lock);
    trim_to(fixture, 1 << 20);
    assert_int_equal(access(fixture_path(fixture, "2.lock"), F_OK), -1);
    assert_int_equal(access(fixture_path(fixture, "2.ledger"), F_OK), -1);
    assert_int_equal(access(fixture_path(fixture, "2.vkcache.tmp.1.1"), F_OK), -1);
    assert_int_equal(access(fixture_path(fixture, ".ledger"), F_OK), 0); /* its store exists */
}

static void emptied_directories_go(void **state)
{
    struct fixture *fixture = *state;
    char path[512];
    fixture_save(fixture, payload, sizeof(payload));
    snprintf(path, sizeof(path), "%s/v1/1002-73bf-0123456789abcdef", fixture->root);
    assert_int_equal(mkdir(path, 0700), 0);
    trim_to(fixture, 1 << 20);
    assert_int_equal(access(path, F_OK), -1);
    fixture_remove(fixture->directory);
    assert_int_equal(mkdir(fixture->directory, 0700), 0);
    trim_to(fixture, 1 << 20);
    assert_int_equal(access(fixture->directory, F_OK), 0);
}

static void leaves_alone_what_is_not_ours(void **state)
{
    struct fixture *fixture = *state;
    char path[512], target[256];
    fixture_save(fixture, payload, sizeof(payload));
    snprintf(target, sizeof(target), "%s/elsewhere", fixture->base);
    assert_int_equal(mkdir(target, 0700), 0);
    snprintf(path, sizeof(path), "%s/x.vkcache", target);
    fixture_write(path, payload, sizeof(payload));
    set_use(path, 1000);
    snprintf(path, sizeof(path), "%s/v1/link", fixture->root);
    assert_int_equal(symlink(target, path), 0);
    snprintf(path, sizeof(path), "%s/notes.txt", fixture->directory);
    fixture_write(path, payload, sizeof(payload));
    set_use(path, 1000);
    trim_to(fixture, 1);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/x.vkcache", target);
    assert_int_equal(access(path, F_OK), 0);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(oldest_go_first),         STORE_TEST(own_name_elsewhere),
        STORE_TEST(quarantined_files_count), STORE_TEST(rubbish_goes_when_old),
        STORE_TEST(emptied_directories_go),  STORE_TEST(leaves_alone_what_is_not_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
