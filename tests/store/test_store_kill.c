/* SIGKILL at the entry and at the exit of every system call of a save and the like (C21). */
#include "scenario.h"
#include "tracer.h"

#include <stdlib.h>

struct countdown {
    int left; /* stops until the child is killed */
};

static void count_down(struct tracer_stop *stop, void *context)
{
    struct countdown *countdown = context;
    stop->kill = countdown->left-- == 0;
}

/* Whether the child was still alive at stop number `stop`. */
static bool kill_at(const struct scenario *scenario, int stop)
{
    void *state;
    struct countdown countdown = {.left = stop};
    assert_int_equal(fixture_setup(&state), 0);
    scenario->prepare(state);
    int result = tracer_run(scenario->work, state, count_down, &countdown);
    bool killed = result == -1;
    assert_true(killed || result == SCENARIO_DONE);
    scenario->check(state, killed ? SCENARIO_KILLED : SCENARIO_DONE);
    fixture_teardown(&state);
    return killed;
}

static void kill_at_every_stop(void **state)
{
    const struct scenario *scenario = *state;
    int stop = 0;
    while (kill_at(scenario, stop))
        stop++;
    print_message("%s: killed at %d places\n", scenario->name, stop);
    assert_true(stop > 10);
}

int main(void)
{
    struct CMUnitTest tests[16] = {0};
    for (int i = 0; i < scenario_count; i++)
        tests[i] = (struct CMUnitTest){
            .name = scenarios[i].name,
            .test_func = kill_at_every_stop,
            .initial_state = (void *)(uintptr_t)&scenarios[i],
        };
    if (!tracer_available()) {
        print_message("skipped: system calls can't be traced here\n");
        return 77;
    }
    return _cmocka_run_group_tests("kill", tests, (size_t)scenario_count, NULL, NULL);
}
