/* What the store does when nobody disturbs it: loading, saving, the ledger, the lock, quarantine. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint8_t payload_a[5000], payload_b[7000];

static int fill_payloads(void **state)
{
    fixture_fill(payload_a, sizeof(payload_a), 1);
    fixture_fill(payload_b, sizeof(payload_b), 2);
    (void)state;
    return 0;
}

static void nothing_on_disk_until_written(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct ledger ledger;
    struct hash128 dead[4];
    uint32_t dead_count = 9;
    assert_int_equal(fixture_load(fixture, NULL, 0), -ENOENT);
    assert_int_equal(store_open_ledger(store, &ledger, dead, 4, &dead_count, &problem), 0);
    assert_int_equal(dead_count, 0);
    assert_string_equal(problem.text, "");
    assert_int_equal(store_trim(store, &problem), 0);
    assert_int_equal(access(fixture->root, F_OK), -1);
    store_destroy(store);
    store_destroy(NULL);
}

static void assert_mode(const char *path, mode_t mode)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 07777, mode);
}

static void save_with_umask(struct fixture *fixture, mode_t mask)
{
    char path[512];
    mode_t before = umask(mask);
    fixture_save(fixture, payload_a, sizeof(payload_a));
    umask(before);
    snprintf(path, sizeof(path), "%s/cache", fixture->base);
    assert_mode(path, 0700);
    assert_mode(fixture->root, 0700);
    snprintf(path, sizeof(path), "%s/v1", fixture->root);
    assert_mode(path, 0700);
    assert_mode(fixture->directory, 0700);
    assert_mode(fixture_path(fixture, ".vkcache"), 0600);
    assert_mode(fixture_path(fixture, ".lock"), 0600);
    fixture_remove(path);
    fixture_remove(fixture->root);
    snprintf(path, sizeof(path), "%s/cache", fixture->base);
    fixture_remove(path);
}

static void modes_whatever_the_umask(void **state)
{
    save_with_umask(*state, 0);
    save_with_umask(*state, 0022);
    save_with_umask(*state, 0777);
}

static void saved_data_comes_back(void **state)
{
    struct fixture *fixture = *state;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    fixture_save(fixture, payload_b, sizeof(payload_b));
    assert_int_equal(fixture_load(fixture, payload_b, sizeof(payload_b)), 0);
    fixture_save(fixture, NULL, 0);
    assert_int_equal(fixture_load(fixture, payload_b, 0), 0);
    assert_int_equal(fixture_count(fixture, ".tmp."), 0);
}

static void file_has_the_form_of_an_envelope(void **state)
{
    struct fixture *fixture = *state;
    struct envelope envelope;
    size_t size;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    void *data = fixture_read(fixture_path(fixture, ".vkcache"), &size);
    assert_int_equal(size, sizeof(payload_a) + ENVELOPE_SIZE);
    assert_int_equal(envelope_open(data, size, &fixture->identity, &envelope), ENVELOPE_VALID);
    free(data);
}

/* C12 */
static void second_save_writes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct stat first, second;
    bool changed;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_save_begin(store, &changed, &problem), 0);
        assert_false(changed);
        assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
        store_save_end(store);
        assert_int_equal(stat(fixture_path(fixture, ".vkcache"), i ? &second : &first), 0);
    }
    assert_int_equal(first.st_ino, second.st_ino);
    assert_int_equal(first.st_ctim.tv_nsec, second.st_ctim.tv_nsec);
    store_destroy(store);
}

/* The trailer is right and known, the payload was damaged by somebody: the save must not believe that all is
 * well. */
static void second_save_repairs_the_payload(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
    store_save_end(store);
    int fd = open(fixture_path(fixture, ".vkcache"), O_WRONLY);
    assert_int_equal(pwrite(fd, "damage", 6, 100), 6);
    close(fd);
    assert_int_equal(fixture_load(fixture, NULL, 0), -EBADMSG);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
    store_save_end(store);
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    store_destroy(store);
}

static void changes_by_others_are_seen(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct store_blob blob;
    enum envelope_verdict verdict;
    bool changed;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_true(changed);
    assert_int_equal(store_load(store, &blob, &verdict, &problem), 0);
    store_blob_finish(&blob);
    store_save_end(store);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_false(changed);
    store_save_end(store);
    fixture_save(fixture, payload_b, sizeof(payload_b));
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_true(changed);
    store_save_end(store);
    assert_int_equal(truncate(fixture_path(fixture, ".vkcache"), 2000), 0);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_false(changed);
    assert_problem(problem, ".vkcache");
    store_save_end(store);
    unlink(fixture_path(fixture, ".vkcache"));
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_false(changed);
    store_save_end(store);
    store_destroy(store);
}

/* C06, C22, and a driver rebuilt under the same version: the build ID isn't part of the path. */
static void other_identities_stay_apart(void **state)
{
    struct fixture *fixture = *state;
    struct fixture other = *fixture;
    other.config.identity = &other.identity;
    other.identity.driver_version++;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(fixture_load(&other, NULL, 0), -ENOENT);
    fixture_save(&other, payload_b, sizeof(payload_b));
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);

    other.identity = fixture->identity;
    other.identity.build_id_size = 4;
    fixture_save(&other, payload_b, sizeof(payload_b));
    assert_int_equal(fixture_load(fixture, payload_b, sizeof(payload_b)), 0);
    other.identity.build_id[0]++;
    assert_int_equal(fixture_load(&other, NULL, 0), -EBADMSG);
}

/* Used an hour ago and written long before: so recent that the kernel itself (relatime) notes no further
 * reading. */
static void load_marks_the_file_as_used(void **state)
{
    struct fixture *fixture = *state;
    time_t now = time(NULL);
    const struct timespec times[2] = {{.tv_sec = now + 3600}, {.tv_sec = 1000}};
    struct stat found;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(utimensat(AT_FDCWD, fixture_path(fixture, ".vkcache"), times, 0), 0);
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    assert_int_equal(stat(fixture_path(fixture, ".vkcache"), &found), 0);
    assert_in_range(found.st_atim.tv_sec, now - 60, now + 60);
    assert_int_equal(found.st_mtim.tv_sec, 1000);
}

/* C20, C41, C49 */
static void caps_hold(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct store_blob blob;
    enum envelope_verdict verdict;
    bool changed;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    /* The payload isn't there: touching it would crash. */
    assert_int_equal(store_save_commit(store, (void *)16, SIZE_MAX / 2, &problem), -EFBIG);
    assert_problem(problem, "at most 1048576 allowed");
    assert_int_equal(store_save_commit(store, (void *)16, (1 << 20) - ENVELOPE_SIZE + 1, &problem), -EFBIG);
    store_save_end(store);
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    assert_int_equal(truncate(fixture_path(fixture, ".vkcache"), 2048ll << 20), 0);
    assert_int_equal(store_load(store, &blob, &verdict, &problem), -EFBIG);
    assert_problem(problem, "2147483648 bytes");
    fixture_save(fixture, payload_b, sizeof(payload_b));
    assert_int_equal(fixture_load(fixture, payload_b, sizeof(payload_b)), 0);
    store_destroy(store);

    void *largest = calloc(1, 1 << 20);
    fixture_save(fixture, largest, (1 << 20) - ENVELOPE_SIZE);
    assert_int_equal(fixture_load(fixture, largest, (1 << 20) - ENVELOPE_SIZE), 0);
    free(largest);
}

static void names_are_checked(void **state)
{
    struct fixture *fixture = *state;
    struct store_config config = fixture->config;
    struct store *store;
    char name[200];
    memset(name, 'a', sizeof(name));
    name[128] = '\0';
    config.application = name;
    assert_int_equal(store_create(&store, &config), -ENAMETOOLONG);
    config.application = "../x";
    assert_int_equal(store_create(&store, &config), -EINVAL);
    config.application = "";
    assert_int_equal(store_create(&store, &config), -EINVAL);
    config.application = "x";
    config.root = "relative";
    assert_int_equal(store_create(&store, &config), -EINVAL);
}

static void longest_name_works(void **state)
{
    struct fixture *fixture = *state;
    struct store_problem problem;
    struct store_blob blob;
    struct hash128 hash = {{7}};
    enum envelope_verdict verdict;
    bool changed;
    char name[128];
    memset(name, 'a', sizeof(name));
    name[127] = '\0';
    fixture->config.application = name;
    struct store *store = fixture_store(fixture);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
    store_save_end(store);
    int fd = store_guard_begin(store, &hash);
    assert_true(fd >= 0);
    store_guard_end(store, &hash, fd);
    assert_int_equal(store_load(store, &blob, &verdict, &problem), 0);
    store_blob_finish(&blob);
    store_destroy(store);
}

static void temporary_files_of_the_dead_go(void **state)
{
    struct fixture *fixture = *state;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    fixture_write(fixture_path(fixture, ".vkcache.tmp.1.1"), "x", 1);
    fixture_write(fixture_path(fixture, ".ledger.tmp.77.0"), "x", 1);
    fixture_write(fixture_path(fixture, ".vkcache.tmp.1.1.vkcache"), "x", 1); /* another application's */
    fixture_write(fixture_path(fixture, "2.vkcache.tmp.1.1"), "x", 1);        /* another application's */
    fixture_save(fixture, payload_b, sizeof(payload_b));
    assert_int_equal(fixture_count(fixture, ".tmp."), 2);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void waiting_for_the_lock_ends(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct timespec start;
    bool changed;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    int fd = open(fixture_path(fixture, ".lock"), O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(store_save_begin(store, &changed, &problem), -ETIMEDOUT);
    assert_problem(problem, ".lock");
    assert_true(seconds_since(&start) >= STORE_LOCK_WAIT_MS / 1000.0 - 0.01);
    assert_true(seconds_since(&start) < STORE_LOCK_WAIT_MS / 1000.0 + 3);
    close(fd);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    store_save_end(store);
    store_destroy(store);
}

static bool has_lock_file_open(pid_t process)
{
    char path[64], target[PATH_MAX];
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)process, fd);
        ssize_t length = readlink(path, target, sizeof(target));
        if (length > 5 && memcmp(target + length - 5, ".lock", 5) == 0)
            return true;
    }
    return false;
}

/* A lock on a file that was removed while its taker waited holds nobody off. */
static void removed_lock_file_is_made_again(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(fixture_path(fixture, ".lock"), O_RDWR);
        if (flock(fd, LOCK_EX) != 0 || write(pipes[1], "x", 1) != 1)
            _exit(1);
        while (!has_lock_file_open(getppid()))
            sched_yield();
        _exit(unlink(fixture_path(fixture, ".lock")) != 0);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    fixture_join(child);
    int fresh = open(fixture_path(fixture, ".lock"), O_RDWR);
    assert_true(fresh >= 0);
    assert_int_equal(flock(fresh, LOCK_EX | LOCK_NB), -1);
    store_save_end(store);
    close(fresh);
    close(pipes[0]);
    close(pipes[1]);
    store_destroy(store);
}

static bool lock_is_free(const struct fixture *fixture)
{
    int fd = open(fixture_path(fixture, ".lock"), O_RDWR);
    bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return is_free;
}

/* C33: a child destroys its copy of a store in the middle of a save; another lives on with it. */
static void fork_in_a_save(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    int pipes[2];
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    pid_t child = fork();
    if (child == 0) {
        store_save_end(store);
        store_destroy(store);
        _exit(0);
    }
    fixture_join(child);
    assert_false(lock_is_free(fixture));

    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        char byte;
        close(pipes[1]);
        _exit(read(pipes[0], &byte, 1) != 0);
    }
    close(pipes[0]);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
    store_save_end(store);
    assert_true(lock_is_free(fixture));
    close(pipes[1]);
    fixture_join(child);
    store_destroy(store);
}

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* The child of a fork() in the middle of a save makes its own saves with the store it inherited. What the
 * parent had open for its save, directory and lock, the child closes. */
static void fork_then_save_in_the_child(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(pipes[1]);
        int before = count_descriptors();
        if (read(pipes[0], &byte, 1) != 0 || store_save_begin(store, &changed, &problem) != 0)
            _exit(1);
        int error = store_save_commit(store, payload_b, sizeof(payload_b), &problem);
        store_save_end(store);
        _exit(error != 0 || !changed || count_descriptors() != before - 2);
    }
    close(pipes[0]);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
    store_save_end(store);
    close(pipes[1]);
    fixture_join(child);
    assert_int_equal(fixture_load(fixture, payload_b, sizeof(payload_b)), 0);
    store_destroy(store);
}

static void vanishing_directory(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct ledger ledger = {.asked = true};
    struct hash128 hash = {{7}};
    bool changed;
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    fixture_remove(fixture->root);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), -ENOENT);
    assert_problem(problem, "game.vkcache");
    store_save_end(store);
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_int_equal(store_save_commit(store, payload_a, sizeof(payload_a), &problem), 0);
    store_save_end(store);
    int fd = store_guard_begin(store, &hash);
    assert_true(fd >= 0);
    fixture_remove(fixture->root);
    store_guard_end(store, &hash, fd);
    assert_int_equal(fixture_load(fixture, NULL, 0), -ENOENT);
    assert_int_equal(store_trim(store, &problem), 0);
    assert_int_equal(store_quarantine(store, &hash, &problem), -ENOENT);
    fixture_remove(fixture->root);
    assert_int_equal(store_write_ledger(store, &ledger, &problem), 0);
    store_destroy(store);
}

static void ledgers_unite(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = fixture_store(fixture), *two = fixture_store(fixture);
    struct store_problem problem;
    static struct ledger first, second;
    struct hash128 a = {{1}}, b = {{2}};
    uint32_t dead_count;
    struct stat before, after;
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    assert_int_equal(store_open_ledger(one, &first, NULL, 0, &dead_count, &problem), 0);
    assert_int_equal(store_open_ledger(two, &second, NULL, 0, &dead_count, &problem), 0);
    ledger_add_left(&first, 100, &a);
    first.compiled_pipelines = 3;
    ledger_add_proven(&second, &b);
    second.compiled_pipelines = 4;
    assert_int_equal(store_write_ledger(one, &first, &problem), 0);
    assert_int_equal(store_write_ledger(two, &second, &problem), 0);
    assert_true(ledger_has_left(&second, 100, &a));
    assert_int_equal(second.compiled_pipelines, 7);
    assert_int_equal(store_write_ledger(one, &first, &problem), 0);
    assert_true(ledger_is_proven(&first, &b));
    assert_int_equal(first.compiled_pipelines, 7);
    assert_int_equal(stat(fixture_path(fixture, ".ledger"), &before), 0);
    assert_int_equal(store_write_ledger(one, &first, &problem), 0);
    assert_int_equal(stat(fixture_path(fixture, ".ledger"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    store_destroy(one);
    store_destroy(two);
}

static void ledger_inside_a_save(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct ledger ledger = {.asked = true}, again;
    uint32_t dead_count;
    bool changed;
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_int_equal(store_write_ledger(store, &ledger, &problem), 0);
    assert_false(lock_is_free(fixture));
    store_save_end(store);
    assert_int_equal(store_open_ledger(store, &again, NULL, 0, &dead_count, &problem), 0);
    assert_true(again.asked);
    store_destroy(store);
}

static void damaged_ledgers_are_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct ledger ledger;
    uint32_t dead_count;
    char *large = calloc(1, LEDGER_TEXT_MAX + 1);
    fixture_save(fixture, payload_a, sizeof(payload_a));
    fixture_write(fixture_path(fixture, ".ledger"), "nonsense\n", 9);
    assert_int_equal(store_open_ledger(store, &ledger, NULL, 0, &dead_count, &problem), 0);
    assert_problem(problem, "game.ledger: not a ledger");
    fixture_write(fixture_path(fixture, ".ledger"), large, LEDGER_TEXT_MAX + 1);
    assert_int_equal(store_open_ledger(store, &ledger, NULL, 0, &dead_count, &problem), 0);
    assert_problem(problem, "over 65536 bytes");
    ledger.asked = true;
    assert_int_equal(store_write_ledger(store, &ledger, &problem), 0);
    assert_int_equal(store_open_ledger(store, &ledger, NULL, 0, &dead_count, &problem), 0);
    assert_string_equal(problem.text, "");
    assert_true(ledger.asked);
    free(large);
    store_destroy(store);
}

static void quarantine_sets_aside(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct hash128 a = hash128_of(payload_a, sizeof(payload_a)), b = hash128_of(payload_b, sizeof(payload_b));
    assert_int_equal(store_quarantine(store, &a, &problem), -ENOENT);
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(store_quarantine(store, &b, &problem), -ENOENT);
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    assert_int_equal(store_quarantine(store, &a, &problem), 0);
    assert_int_equal(fixture_load(fixture, NULL, 0), -ENOENT);
    assert_int_equal(fixture_count(fixture, ".quarantine"), 1);
    assert_true(lock_is_free(fixture));
    store_destroy(store);
}

/* Within a save the lock is there already. */
static void quarantine_within_a_save(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct hash128 a = hash128_of(payload_a, sizeof(payload_a));
    bool changed;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    assert_int_equal(store_quarantine(store, &a, &problem), 0);
    assert_int_equal(fixture_count(fixture, ".quarantine"), 1);
    assert_int_equal(store_save_commit(store, payload_b, sizeof(payload_b), &problem), 0);
    store_save_end(store);
    assert_int_equal(fixture_load(fixture, payload_b, sizeof(payload_b)), 0);
    assert_true(lock_is_free(fixture));
    store_destroy(store);
}

static void quarantine_ends_after_its_time(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct ledger ledger;
    struct hash128 a = hash128_of(payload_a, sizeof(payload_a));
    memset(&ledger, 0, sizeof(ledger));
    ledger_add_rejected(&ledger, &a, 1000);
    assert_int_equal(store_restore(store, &ledger, 1000, &problem), -ENOENT);
    fixture_save(fixture, payload_a, sizeof(payload_a));
    assert_int_equal(store_file_size(store), sizeof(payload_a) + ENVELOPE_SIZE);
    assert_int_equal(store_quarantine(store, &a, &problem), 0);
    assert_int_equal(store_file_size(store), 0);
    assert_int_equal(store_restore(store, &ledger, 1000 + LEDGER_QUARANTINE_SECONDS - 1, &problem), -ENOENT);
    assert_int_equal(store_restore(store, &ledger, 1000 + LEDGER_QUARANTINE_SECONDS + 1, &problem), 0);
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    assert_int_equal(fixture_count(fixture, ".quarantine"), 0);

    assert_int_equal(store_quarantine(store, &a, &problem), 0);
    fixture_save(fixture, payload_b, sizeof(payload_b));
    assert_int_equal(store_restore(store, &ledger, 1000 + LEDGER_QUARANTINE_SECONDS + 1, &problem), -EEXIST);
    assert_int_equal(fixture_load(fixture, payload_b, sizeof(payload_b)), 0);
    assert_true(lock_is_free(fixture));
    store_destroy(store);
}

static void read_only_stores_are_not_written(void **state)
{
    struct fixture *fixture = *state;
    struct store_problem problem;
    struct ledger ledger;
    struct hash128 hash = {{7}};
    struct stat before, after;
    uint32_t dead_count;
    bool changed;
    fixture_save(fixture, payload_a, sizeof(payload_a));
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, fixture_path(fixture, ".vkcache"), old, 0), 0);
    assert_int_equal(stat(fixture_path(fixture, ".vkcache"), &before), 0);
    fixture->config.read_only = true;
    struct store *store = fixture_store(fixture);
    assert_int_equal(fixture_load(fixture, payload_a, sizeof(payload_a)), 0);
    assert_int_equal(store_open_ledger(store, &ledger, NULL, 0, &dead_count, &problem), 0);
    assert_int_equal(store_save_begin(store, &changed, &problem), -EROFS);
    assert_int_equal(store_write_ledger(store, &ledger, &problem), -EROFS);
    assert_int_equal(store_quarantine(store, &hash, &problem), -EROFS);
    assert_int_equal(store_trim(store, &problem), -EROFS);
    assert_int_equal(store_guard_begin(store, &hash), -EROFS);
    assert_int_equal(stat(fixture_path(fixture, ".vkcache"), &after), 0);
    assert_int_equal(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
    store_destroy(store);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(nothing_on_disk_until_written),
        STORE_TEST(modes_whatever_the_umask),
        STORE_TEST(saved_data_comes_back),
        STORE_TEST(file_has_the_form_of_an_envelope),
        STORE_TEST(second_save_writes_nothing),
        STORE_TEST(second_save_repairs_the_payload),
        STORE_TEST(changes_by_others_are_seen),
        STORE_TEST(other_identities_stay_apart),
        STORE_TEST(load_marks_the_file_as_used),
        STORE_TEST(caps_hold),
        STORE_TEST(names_are_checked),
        STORE_TEST(longest_name_works),
        STORE_TEST(temporary_files_of_the_dead_go),
        STORE_TEST(waiting_for_the_lock_ends),
        STORE_TEST(removed_lock_file_is_made_again),
        STORE_TEST(fork_in_a_save),
        STORE_TEST(fork_then_save_in_the_child),
        STORE_TEST(vanishing_directory),
        STORE_TEST(ledgers_unite),
        STORE_TEST(ledger_inside_a_save),
        STORE_TEST(damaged_ledgers_are_replaced),
        STORE_TEST(quarantine_sets_aside),
        STORE_TEST(quarantine_within_a_save),
        STORE_TEST(quarantine_ends_after_its_time),
        STORE_TEST(read_only_stores_are_not_written),
    };
    return cmocka_run_group_tests(tests, fill_payloads, NULL);
}
