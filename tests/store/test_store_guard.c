/* The crash guard's marks: the living are left alone, each death is told once (C09, C45). */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct hash128 hash_a = {{0xaa, 1}}, hash_b = {{0xbb, 2}};

/* Number of deaths that the next start finds; *ledger is what it knows then. */
static uint32_t find_dead(const struct fixture *fixture, struct ledger *ledger, struct hash128 dead[8])
{
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    uint32_t dead_count;
    assert_int_equal(store_open_ledger(store, ledger, dead, 8, &dead_count, &problem), 0);
    assert_string_equal(problem.text, "");
    store_destroy(store);
    return dead_count;
}

/* A process that enters a guarded call, tells so through `ready`, and stays in it until killed or until
 * `leave` closes. */
struct guarded {
    pid_t pid;
    int leave;
};

static struct guarded start_guarded(const struct fixture *fixture, const struct hash128 *hash)
{
    int ready[2], leave[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(leave, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct store *store = fixture_store(fixture);
        close(leave[1]);
        int fd = store_guard_begin(store, hash);
        if (fd < 0 || write(ready[1], "x", 1) != 1 || read(leave[0], &byte, 1) < 0)
            _exit(1);
        store_guard_end(store, hash, fd);
        store_destroy(store);
        _exit(0);
    }
    close(ready[1]);
    close(leave[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return (struct guarded){.pid = pid, .leave = leave[1]};
}

static void kill_guarded(struct guarded *guarded)
{
    kill(guarded->pid, SIGKILL);
    assert_int_equal(waitpid(guarded->pid, NULL, 0), guarded->pid);
    close(guarded->leave);
}

static void leave_guarded(struct guarded *guarded)
{
    assert_int_equal(write(guarded->leave, "x", 1), 1);
    close(guarded->leave);
    fixture_join(guarded->pid);
}

static void lived(void **state)
{
    struct fixture *fixture = *state;
    struct ledger ledger;
    struct hash128 dead[8];
    struct guarded guarded = start_guarded(fixture, &hash_a);
    assert_int_equal(fixture_count(fixture, ".guard"), 1);
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    leave_guarded(&guarded);
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
}

static void died(void **state)
{
    struct fixture *fixture = *state;
    static struct ledger ledger;
    struct hash128 dead[8];
    int64_t before = time(NULL);
    struct guarded guarded = start_guarded(fixture, &hash_a);
    kill_guarded(&guarded);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
    assert_true(hash128_equal(&dead[0], &hash_a));
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
    assert_int_equal(ledger.data_count, 1);
    assert_int_equal(ledger.data[0].deaths, 1);
    assert_in_range(ledger.data[0].last_death, before - 1, time(NULL));
    /* Told once, but known from then on, although nobody wrote the ledger afterwards. */
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    assert_int_equal(ledger.data[0].deaths, 1);
}

/* Marks in the hands of a process that dies: none of these tells of a death, but for the second in later
 * calls. */
static void died_after_the_first_call(void **state)
{
    struct fixture *fixture = *state;
    static struct ledger ledger;
    struct hash128 dead[8];
    const struct {
        enum store_mark last;
        uint32_t deaths;
    } steps[] = {{MARK_RESTING, 0}, {MARK_LATER, 1}, {MARK_RESTING, 1}, {MARK_LATER, 2}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        pid_t child = fork();
        if (child == 0) {
            struct store *store = fixture_store(fixture);
            int mark = store_guard_begin(store, &hash_a);
            store_guard_change(mark, MARK_LATER);
            store_guard_change(mark, steps[i].last);
            /* The deaths lie far apart. */
            const struct timespec times[2] = {{.tv_sec = 1000 * (time_t)i}, {.tv_sec = 1000 * (time_t)i}};
            _exit(mark < 0 || futimens(mark, times) != 0);
        }
        fixture_join(child);
        bool told = steps[i].deaths == 2;
        assert_int_equal(find_dead(fixture, &ledger, dead), told);
        assert_int_equal(ledger.data_count > 0 ? ledger.data[0].deaths : 0, steps[i].deaths);
        assert_int_equal(fixture_count(fixture, ".guard"), 0);
    }
    assert_int_equal(ledger_quarantine_of(&ledger, &hash_a, 4000), LEDGER_DIED);
}

static void died_twice(void **state)
{
    struct fixture *fixture = *state;
    static struct ledger ledger;
    struct hash128 dead[8];
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct guarded guarded = start_guarded(fixture, &hash_a);
    kill_guarded(&guarded);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash_a, time(NULL)), LEDGER_NOT_QUARANTINED);
    /* The same crash seen by two processes is one death. */
    guarded = start_guarded(fixture, &hash_a);
    kill_guarded(&guarded);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
    assert_int_equal(ledger.data[0].deaths, 1);
    /* The first one, long ago. */
    ledger.data[0].last_death = old[0].tv_sec;
    char *text = malloc(LEDGER_TEXT_MAX);
    fixture_write(fixture_path(fixture, ".ledger"), text, ledger_format(&ledger, text));
    free(text);
    guarded = start_guarded(fixture, &hash_a);
    kill_guarded(&guarded);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash_a, time(NULL)), LEDGER_DIED);
}

static void several_at_once(void **state)
{
    struct fixture *fixture = *state;
    static struct ledger ledger;
    struct hash128 dead[8];
    struct guarded one = start_guarded(fixture, &hash_a), two = start_guarded(fixture, &hash_a);
    struct guarded other = start_guarded(fixture, &hash_b);
    assert_int_equal(fixture_count(fixture, ".guard"), 3);
    struct guarded third = start_guarded(fixture, &hash_a);
    kill_guarded(&one);
    kill_guarded(&third);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
    assert_true(hash128_equal(&dead[0], &hash_a));
    assert_int_equal(fixture_count(fixture, ".guard"), 2);
    leave_guarded(&two);
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    kill_guarded(&other);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
    assert_true(hash128_equal(&dead[0], &hash_b));
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
}

static void more_dead_than_asked_for(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    static struct ledger ledger;
    struct store_problem problem;
    struct hash128 dead[2];
    uint32_t dead_count;
    for (uint8_t i = 0; i < 40; i++) {
        struct hash128 hash = {{1, i}};
        struct guarded guarded = start_guarded(fixture, &hash);
        kill_guarded(&guarded);
    }
    /* What the caller didn't hear of is told the next time. */
    for (int left = 40; left > 0; left -= 2) {
        assert_int_equal(fixture_count(fixture, ".guard"), left);
        assert_int_equal(store_open_ledger(store, &ledger, dead, 2, &dead_count, &problem), 0);
        assert_int_equal(dead_count, 2);
    }
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
    assert_int_equal(ledger.data_count, 40);
    store_destroy(store);
}

static void two_guards_in_one_process(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    static struct ledger ledger;
    struct hash128 dead[8];
    int first = store_guard_begin(store, &hash_a), second = store_guard_begin(store, &hash_a);
    assert_true(first >= 0 && second >= 0);
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    store_guard_end(store, &hash_a, first);
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    assert_int_equal(fixture_count(fixture, ".guard"), 1);
    store_guard_end(store, &hash_a, second);
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
    store_destroy(store);
}

/* A process killed between making the mark and putting it in place leaves a temporary file, which is no
 * death. */
static void unfinished_marks(void **state)
{
    struct fixture *fixture = *state;
    static struct ledger ledger;
    struct hash128 dead[8];
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    fixture_save(fixture, "x", 1);
    const char *path = fixture_path(fixture, ".0123456789abcdef0123456789abcdef.guard.tmp.1.1");
    fixture_write(path, "", 0);
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    fixture_save(fixture, "y", 1);
    assert_int_equal(fixture_count(fixture, ".tmp."), 1); /* may still be on its way */
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    fixture_save(fixture, "z", 1);
    assert_int_equal(fixture_count(fixture, ".tmp."), 0);
}

static void other_pid_namespace(void **state)
{
    struct fixture *fixture = *state;
    static struct ledger ledger;
    struct hash128 dead[8];
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID) != 0)
            _exit(write(ready[1], "-", 1) != 1);
        struct guarded guarded = start_guarded(fixture, &hash_a);
        if (write(ready[1], "+", 1) != 1)
            _exit(1);
        _exit(waitpid(guarded.pid, NULL, 0) != guarded.pid);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    if (byte == '-') {
        fixture_join(child);
        print_message("skipped: no pid namespaces here\n");
        skip();
    }
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);
    /* Its end closes the pipe, and the guarded process lives. */
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (fixture_count(fixture, ".guard") > 0)
        sched_yield();
    assert_int_equal(find_dead(fixture, &ledger, dead), 0);

    child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID) != 0)
            _exit(1);
        struct guarded guarded = start_guarded(fixture, &hash_a);
        kill_guarded(&guarded);
        _exit(0);
    }
    fixture_join(child);
    assert_int_equal(find_dead(fixture, &ledger, dead), 1);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(lived),
        STORE_TEST(died),
        STORE_TEST(died_after_the_first_call),
        STORE_TEST(died_twice),
        STORE_TEST(several_at_once),
        STORE_TEST(more_dead_than_asked_for),
        STORE_TEST(two_guards_in_one_process),
        STORE_TEST(unfinished_marks),
        STORE_TEST(other_pid_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
