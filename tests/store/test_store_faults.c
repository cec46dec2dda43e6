/* The n-th system call of each kind fails, or does less than it was asked for (C19, C46). */
#include "scenario.h"
#include "tracer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#if TRACER_AVAILABLE

#define SHORT 0 /* in place of an error: the call does a part of its work */

struct call {
    const char *name;
    long number;
    int tolerated[8]; /* what the store must get over; ends with -1 */
    int errors[8];    /* what it may report, ends with -1 */
};

#define DISK ENOSPC, EIO, EPERM, ENOSYS
static const struct call calls[] = {
    {"openat", SYS_openat, {EINTR, -1}, {DISK, EROFS, EMFILE, -1}},
    {"mkdirat", SYS_mkdirat, {-1}, {DISK, EROFS, -1}},
    {"newfstatat", SYS_newfstatat, {-1}, {EIO, EPERM, ENOSYS, -1}},
    {"fchmod", SYS_fchmod, {-1}, {EIO, EPERM, ENOSYS, -1}},
    {"flock", SYS_flock, {EINTR, ENOLCK, EOPNOTSUPP, ENOSYS, -1}, {EIO, EPERM, -1}},
    {"fcntl", SYS_fcntl, {-1}, {EINTR, EIO, EPERM, ENOLCK, EINVAL, -1}},
    {"pread64", SYS_pread64, {EINTR, SHORT, -1}, {EIO, EPERM, ENOSYS, -1}},
    {"getdents64", SYS_getdents64, {-1}, {EIO, EPERM, ENOSYS, -1}},
    {"writev", SYS_writev, {EINTR, SHORT, -1}, {DISK, EDQUOT, EFBIG, -1}},
    {"write", SYS_write, {-1}, {DISK, -1}},
    {"fdatasync", SYS_fdatasync, {EINTR, EINVAL, -1}, {DISK, EDQUOT, -1}},
    {"fsync", SYS_fsync, {EINTR, EINVAL, -1}, {DISK, -1}},
    {"close", SYS_close, {EINTR, -1}, {DISK, EDQUOT, -1}},
    {"renameat", SYS_renameat, {-1}, {DISK, EROFS, EACCES, -1}},
    {"unlinkat", SYS_unlinkat, {-1}, {DISK, EROFS, -1}},
    {"utimensat", SYS_utimensat, {EPERM, ENOSYS, EROFS, -1}, {-1}},
    {"prlimit64", SYS_prlimit64, {EPERM, ENOSYS, -1}, {-1}},
};
#define CALL_COUNT (sizeof(calls) / sizeof(calls[0]))

struct fault {
    long number;
    int left; /* calls of this kind until the one that fails */
    int error;
    bool hit;
};

static void strike(struct tracer_stop *stop, void *context)
{
    struct fault *fault = context;
    if (!stop->entry || stop->number != fault->number || fault->left-- != 0)
        return;
    fault->hit = true;
    stop->shorten = fault->error == SHORT;
    stop->skip = fault->error != SHORT;
    stop->result = -fault->error;
}

static bool is_write(long number)
{
    return number == SYS_writev || number == SYS_fdatasync || number == SYS_renameat;
}

/* Whether there was such a call. */
static bool fail_at(const struct scenario *scenario, const struct call *call, int n, int error,
                    bool tolerated)
{
    void *state;
    struct fault fault = {.number = call->number, .left = n, .error = error};
    assert_int_equal(fixture_setup(&state), 0);
    scenario->prepare(state);
    int result = tracer_run(scenario->work, state, strike, &fault);
    bool may_fail = fault.hit && !tolerated;
    bool must_fail = may_fail && scenario->writes && is_write(call->number);
    bool right = (result == SCENARIO_DONE && !must_fail) || (result == SCENARIO_FAILED && may_fail);
    if (!right)
        fail_msg("%s: %s number %d, %s: result %d", scenario->name, call->name, n,
                 error == SHORT ? "short" : strerror(error), result);
    scenario->check(state, (enum scenario_result)result);
    fixture_teardown(&state);
    return fault.hit;
}

static int fail_each(const struct scenario *scenario, const struct call *call, const int errors[8],
                     bool tolerated)
{
    int hits = 0;
    for (int i = 0; errors[i] != -1; i++) {
        for (int n = 0; fail_at(scenario, call, n, errors[i], tolerated); n++)
            hits++;
    }
    return hits;
}

static void fail_every_call(void **state)
{
    const struct scenario *scenario = *state;
    int hits = 0;
    for (size_t i = 0; i < CALL_COUNT; i++) {
        hits += fail_each(scenario, &calls[i], calls[i].tolerated, true);
        hits += fail_each(scenario, &calls[i], calls[i].errors, false);
    }
    print_message("%s: %d faults\n", scenario->name, hits);
    assert_true(hits > 20);
}

int main(void)
{
    struct CMUnitTest tests[16] = {0};
    for (int i = 0; i < scenario_count; i++)
        tests[i] = (struct CMUnitTest){
            .name = scenarios[i].name,
            .test_func = fail_every_call,
            .initial_state = (void *)(uintptr_t)&scenarios[i],
        };
    if (!tracer_available()) {
        print_message("skipped: system calls can't be traced here\n");
        return 77;
    }
    return _cmocka_run_group_tests("faults", tests, (size_t)scenario_count, NULL, NULL);
}

#else

int main(void)
{
    print_message("skipped: system calls can't be traced here\n");
    return 77;
}

#endif
