/* The file is replaced by something else between any two system calls of a load: what was looked at first
 * must not count. */
#include "scenario.h"
#include "tracer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct swap {
    struct fixture *fixture;
    int left; /* stops until the file is replaced */
    bool done;
    bool (*put)(const char *path, const struct fixture *fixture);
};

/* A whole store of the same identity, but not ours to follow. */
static bool put_link(const char *path, const struct fixture *fixture)
{
    char target[300];
    snprintf(target, sizeof(target), "%s/other.vkcache", fixture->directory);
    return symlink(target, path) == 0;
}

static bool put_writable(const char *path, const struct fixture *fixture)
{
    char other[300];
    snprintf(other, sizeof(other), "%s/other.vkcache", fixture->directory);
    return chmod(other, 0666) == 0 && rename(other, path) == 0;
}

static bool put_fifo(const char *path, const struct fixture *fixture)
{
    (void)fixture;
    return mkfifo(path, 0600) == 0;
}

static bool put_directory(const char *path, const struct fixture *fixture)
{
    (void)fixture;
    return mkdir(path, 0700) == 0;
}

static void replace_file(struct tracer_stop *stop, void *context)
{
    struct swap *swap = context;
    if (stop->entry || swap->left-- != 0)
        return;
    const char *path = fixture_path(swap->fixture, ".vkcache");
    swap->done = unlink(path) == 0 && swap->put(path, swap->fixture);
    stop->kill = !swap->done;
}

static const struct scenario *find_load(void)
{
    for (int i = 0; i < scenario_count; i++) {
        if (strcmp(scenarios[i].name, "load") == 0)
            return &scenarios[i];
    }
    return NULL;
}

/* Whether the load was still running at system call number `call`; counts the loads that were refused. */
static bool swap_at(struct swap *swap, int call, int *refused)
{
    void *state;
    const struct scenario *load = find_load();
    assert_int_equal(fixture_setup(&state), 0);
    swap->fixture = state;
    swap->left = call;
    swap->done = false;
    load->prepare(state);
    struct fixture other = *swap->fixture;
    other.config.application = "other";
    fixture_save(&other, "another payload", 16);
    int result = tracer_run(load->work, state, replace_file, swap);
    assert_true(result == SCENARIO_DONE || result == SCENARIO_FAILED);
    *refused += result == SCENARIO_FAILED;
    fixture_teardown(&state);
    return swap->done;
}

static void swap_everywhere(bool (*put)(const char *path, const struct fixture *fixture))
{
    struct swap swap = {.put = put};
    int call = 0, refused = 0;
    while (swap_at(&swap, call, &refused))
        call++;
    assert_true(call > 5);
    assert_true(refused > 1 && refused < call);
}

static void by_a_link(void **state)
{
    (void)state;
    swap_everywhere(put_link);
}

static void by_a_file_that_others_may_write(void **state)
{
    (void)state;
    swap_everywhere(put_writable);
}

static void by_a_pipe(void **state)
{
    (void)state;
    swap_everywhere(put_fifo);
}

static void by_a_directory(void **state)
{
    (void)state;
    swap_everywhere(put_directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_a_link),
        cmocka_unit_test(by_a_file_that_others_may_write),
        cmocka_unit_test(by_a_pipe),
        cmocka_unit_test(by_a_directory),
    };
    if (!tracer_available()) {
        print_message("skipped: system calls can't be traced here\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
