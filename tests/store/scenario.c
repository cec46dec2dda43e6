#include "scenario.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OLD "the old payload, long enough to tell from the new one"
#define NEW "the new payload, and this one is of another size altogether"
#define NEXT "what the next process saves"

static const struct hash128 guarded_hash = {{0xaa, 1}};

static void prepare_nothing(struct fixture *fixture)
{
    (void)fixture;
}

static void prepare_old(struct fixture *fixture)
{
    fixture_save(fixture, OLD, sizeof(OLD));
}

static int result_of(int error, const struct store_problem *problem)
{
    if (!error)
        return SCENARIO_DONE;
    return problem->text[0] ? SCENARIO_FAILED : SCENARIO_MUTE;
}

static struct store *open_store(const struct fixture *fixture)
{
    struct store *store = NULL;
    return store_create(&store, &fixture->config) == 0 ? store : NULL;
}

static void write_ledger(struct fixture *fixture, struct ledger *ledger)
{
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    assert_int_equal(store_write_ledger(store, ledger, &problem), 0);
    store_destroy(store);
}

static uint32_t read_ledger(struct fixture *fixture, struct ledger *ledger)
{
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct hash128 dead[4];
    uint32_t dead_count;
    assert_int_equal(store_open_ledger(store, ledger, dead, 4, &dead_count, &problem), 0);
    assert_string_equal(problem.text, "");
    store_destroy(store);
    return dead_count;
}

/* Whatever happened, the next process saves as ever and leaves nothing behind; a mark on its way keeps its
 * name for a minute. */
static void check_next_save(struct fixture *fixture)
{
    fixture_save(fixture, NEXT, sizeof(NEXT));
    assert_int_equal(fixture_load(fixture, NEXT, sizeof(NEXT)), 0);
    assert_int_equal(fixture_count(fixture, ".tmp."), fixture_count(fixture, ".guard.tmp."));
}

/* --- a save --- */

static int work_save(void *context)
{
    struct store *store = open_store(context);
    struct store_problem problem;
    bool changed;
    int error = store_save_begin(store, &changed, &problem);
    if (!error) {
        error = store_save_commit(store, NEW, sizeof(NEW), &problem);
        store_save_end(store);
    }
    store_destroy(store);
    return result_of(error, &problem);
}

/* Whether the file is whole, and `before` or NEW as the result demands. */
static void check_file(struct fixture *fixture, enum scenario_result result, const char *before,
                       size_t before_size)
{
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct store_blob blob;
    enum envelope_verdict verdict;
    int error = store_load(store, &blob, &verdict, &problem);
    bool is_new = !error && blob.size == sizeof(NEW) && memcmp(blob.data, NEW, sizeof(NEW)) == 0;
    bool is_old = before ? !error && blob.size == before_size && memcmp(blob.data, before, before_size) == 0
                         : error == -ENOENT;
    assert_true(is_new || is_old);
    if (result == SCENARIO_DONE)
        assert_true(is_new);
    if (result == SCENARIO_FAILED)
        assert_true(is_old);
    store_blob_finish(&blob);
    store_destroy(store);
}

static void check_first_save(struct fixture *fixture, enum scenario_result result)
{
    check_file(fixture, result, NULL, 0);
    check_next_save(fixture);
}

static void check_save(struct fixture *fixture, enum scenario_result result)
{
    check_file(fixture, result, OLD, sizeof(OLD));
    check_next_save(fixture);
}

/* --- a load --- */

static int work_load(void *context)
{
    struct store *store = open_store(context);
    struct store_problem problem;
    struct store_blob blob;
    enum envelope_verdict verdict;
    int error = store_load(store, &blob, &verdict, &problem);
    bool wrong = !error && (blob.size != sizeof(OLD) || memcmp(blob.data, OLD, sizeof(OLD)) != 0);
    store_blob_finish(&blob);
    store_destroy(store);
    return wrong ? SCENARIO_MUTE : result_of(error, &problem);
}

static void check_load(struct fixture *fixture, enum scenario_result result)
{
    (void)result;
    assert_int_equal(fixture_load(fixture, OLD, sizeof(OLD)), 0);
    check_next_save(fixture);
}

/* --- writing the ledger --- */

static void prepare_ledger(struct fixture *fixture)
{
    struct ledger ledger = {.asked = true};
    write_ledger(fixture, &ledger);
}

static int work_ledger(void *context)
{
    struct store *store = open_store(context);
    struct store_problem problem;
    struct ledger ledger = {0};
    ledger_add_proven(&ledger, &guarded_hash);
    int error = store_write_ledger(store, &ledger, &problem);
    store_destroy(store);
    return result_of(error, &problem);
}

static void check_ledger(struct fixture *fixture, enum scenario_result result)
{
    struct ledger ledger;
    read_ledger(fixture, &ledger);
    assert_true(ledger.asked);
    if (result == SCENARIO_DONE)
        assert_true(ledger_is_proven(&ledger, &guarded_hash));
    if (result == SCENARIO_FAILED)
        assert_false(ledger_is_proven(&ledger, &guarded_hash));
    check_next_save(fixture);
}

/* --- quarantine --- */

static int work_quarantine(void *context)
{
    struct store *store = open_store(context);
    struct store_problem problem;
    struct hash128 hash = hash128_of(OLD, sizeof(OLD));
    int error = store_quarantine(store, &hash, &problem);
    store_destroy(store);
    return result_of(error, &problem);
}

static void check_quarantine(struct fixture *fixture, enum scenario_result result)
{
    int aside = fixture_count(fixture, ".quarantine");
    int error = fixture_load(fixture, OLD, sizeof(OLD));
    assert_int_equal(error, aside ? -ENOENT : 0);
    if (result != SCENARIO_KILLED)
        assert_int_equal(aside, result == SCENARIO_DONE);
    check_next_save(fixture);
}

/* --- a guarded call that the process survives --- */

static int work_guard(void *context)
{
    struct store *store = open_store(context);
    int fd = store_guard_begin(store, &guarded_hash);
    if (fd >= 0)
        store_guard_end(store, &guarded_hash, fd);
    store_destroy(store);
    return fd >= 0 ? SCENARIO_DONE : SCENARIO_FAILED;
}

static void check_guard(struct fixture *fixture, enum scenario_result result)
{
    struct ledger ledger;
    uint32_t dead_count = read_ledger(fixture, &ledger);
    assert_true(dead_count <= (result == SCENARIO_KILLED));
    assert_int_equal(fixture_count(fixture, ".guard"), fixture_count(fixture, ".guard.tmp."));
    check_next_save(fixture);
}

/* --- finding the mark of a process that died --- */

static void prepare_death(struct fixture *fixture)
{
    prepare_ledger(fixture);
    pid_t child = fork();
    if (child == 0)
        _exit(store_guard_begin(open_store(fixture), &guarded_hash) < 0);
    fixture_join(child);
    assert_int_equal(fixture_count(fixture, ".guard"), 1);
}

static int work_open_ledger(void *context)
{
    struct store *store = open_store(context);
    struct store_problem problem;
    struct ledger ledger;
    struct hash128 dead[4];
    uint32_t dead_count;
    int error = store_open_ledger(store, &ledger, dead, 4, &dead_count, &problem);
    store_destroy(store);
    return result_of(error, &problem);
}

static void check_open_ledger(struct fixture *fixture, enum scenario_result result)
{
    struct ledger ledger;
    (void)result;
    read_ledger(fixture, &ledger);
    assert_true(ledger.asked);
    assert_int_equal(ledger.data_count, 1);
    assert_int_equal(ledger.data[0].deaths, 1);
    assert_int_equal(fixture_count(fixture, ".guard"), 0);
    check_next_save(fixture);
}

/* --- trimming --- */

static void prepare_trim(struct fixture *fixture)
{
    struct fixture other = *fixture;
    other.identity.device_id++;
    other.config.identity = &other.identity;
    fixture_save(&other, OLD, sizeof(OLD));
    fixture_save(fixture, OLD, sizeof(OLD));
    fixture->config.total_size = ENVELOPE_SIZE + sizeof(NEXT) + sizeof(OLD);
}

static int work_trim(void *context)
{
    struct store *store = open_store(context);
    struct store_problem problem;
    int error = store_trim(store, &problem);
    store_destroy(store);
    return result_of(error, &problem);
}

/* --- the emergency brake --- */

static int work_brake(void *context)
{
    const struct fixture *fixture = context;
    struct store_problem problem;
    int error = store_brake_set(fixture->root, FIXTURE_APPLICATION, &problem);
    return result_of(error, &problem);
}

static void check_brake(struct fixture *fixture, enum scenario_result result)
{
    struct store_problem problem;
    int64_t time;
    int found = store_brake_find(fixture->root, FIXTURE_APPLICATION, &time, &problem);
    assert_true(found == 0 || (found == -ENOENT && result != SCENARIO_DONE));
    assert_int_equal(store_brake_set(fixture->root, FIXTURE_APPLICATION, &problem), 0);
    assert_int_equal(store_brake_remove(fixture->root, FIXTURE_APPLICATION, &problem), 0);
    check_next_save(fixture);
}

const struct scenario scenarios[] = {
    {"first save", true, prepare_nothing, work_save, check_first_save},
    {"save", true, prepare_old, work_save, check_save},
    {"load", false, prepare_old, work_load, check_load},
    {"ledger", true, prepare_ledger, work_ledger, check_ledger},
    {"quarantine", true, prepare_old, work_quarantine, check_quarantine},
    {"guard", false, prepare_old, work_guard, check_guard},
    {"death", false, prepare_death, work_open_ledger, check_open_ledger},
    {"trim", false, prepare_trim, work_trim, check_load},
    {"brake", false, prepare_nothing, work_brake, check_brake},
};
const int scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
