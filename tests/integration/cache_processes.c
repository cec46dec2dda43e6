/* Several processes on one store, and several threads on one device. */
#include "cache_app.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "stepper.h"

#define PIPELINES 10
#define THREADS 16
#define PER_THREAD 25
#define WORKER "robust_cache" /* the name of the layer's thread */

/* --- C11: processes with disjoint pipelines --- */

struct member {
    uint32_t first;
    struct latch ready;
    struct latch go;
};

static void run_member(void *context)
{
    const struct member *member = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, member->first, PIPELINES);
    latch_raise(&member->ready, 1);
    latch_wait(&member->go);
    app_close(&app);
}

static void run_expects_hits(void *context)
{
    const uint32_t *processes = context;
    struct app app;
    app_open(&app);
    for (uint32_t i = 0; i < *processes; i++)
        app_compile(&app, VK_NULL_HANDLE, 1000 * i, PIPELINES);
    CHECK_EQUAL(fault_cache_hits(), *processes * PIPELINES);
    app_close(&app);
}

static void check_union(uint32_t processes)
{
    struct run runs[8];
    struct member member = {.ready = latch_create(), .go = latch_create()};
    for (uint32_t i = 0; i < processes; i++) {
        member.first = 1000 * i;
        runs[i] = run_start(run_member, &member);
    }
    for (uint32_t i = 0; i < processes; i++)
        latch_wait(&member.ready);
    latch_raise(&member.go, processes);
    for (uint32_t i = 0; i < processes; i++) {
        int status = run_wait(&runs[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    run_complete(run_expects_hits, &processes);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
    CHECK_EQUAL(store_count(".tmp.*"), 0);
    CHECK_EQUAL(store_count(".guard"), 0);
    CHECK_EQUAL(store_count(""), 3); /* store, ledger, lock */
    latch_destroy(&member.ready);
    latch_destroy(&member.go);
}

static void test_c11_two_processes_make_the_union(void **state)
{
    (void)state;
    check_union(2);
}

static void test_c11_four_processes_make_the_union(void **state)
{
    (void)state;
    check_union(4);
}

static void run_saves_twice(void *context)
{
    const struct member *member = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES / 2);
    latch_raise(&member->ready, 1);
    latch_wait(&member->go);
    app_compile(&app, VK_NULL_HANDLE, PIPELINES / 2, PIPELINES / 4);
    report_wait("save", "", 2); /* with what the other one saved */
    app_compile(&app, VK_NULL_HANDLE, PIPELINES / 2 + PIPELINES / 4, PIPELINES);
    app_close(&app);
}

static void test_c11_later_saves_keep_what_the_other_saved(void **state)
{
    (void)state;
    struct member member = {.ready = latch_create(), .go = latch_create()};
    struct member other = {.first = 1000, .ready = latch_create(), .go = latch_create()};
    struct run run = run_start(run_saves_twice, &member);
    latch_wait(&member.ready);
    latch_raise(&other.go, 1);
    run_complete(run_member, &other);
    latch_raise(&member.go, 1);
    int status = run_wait(&run);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint32_t processes = 2;
    run_complete(run_expects_hits, &processes);
    latch_destroy(&member.ready);
    latch_destroy(&member.go);
    latch_destroy(&other.ready);
    latch_destroy(&other.go);
}

/* --- C13: threads while the writer saves --- */

struct crowd {
    struct app app;
    PFN_vkDestroySwapchainKHR hurry; /* a swapchain that goes makes the worker save at once */
    atomic_uint next;
    atomic_uint working;
};

static void *create_pipelines(void *context)
{
    struct crowd *crowd = context;
    uint32_t first = PER_THREAD * atomic_fetch_add(&crowd->next, 1);
    app_compile(&crowd->app, VK_NULL_HANDLE, first, PER_THREAD);
    /* What others make just now, too. */
    app_compile(&crowd->app, VK_NULL_HANDLE, (first + PER_THREAD) % (THREADS * PER_THREAD), PER_THREAD);
    atomic_fetch_sub(&crowd->working, 1);
    return NULL;
}

static void start_crowd(struct crowd *crowd, pthread_t threads[THREADS])
{
    atomic_store(&crowd->working, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, create_pipelines, crowd), 0);
}

static void join_crowd(pthread_t threads[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

static void open_crowd(struct crowd *crowd)
{
    static const char *const extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME, NULL};
    struct app_config config = {.extensions = extensions};
    app_open_with(&crowd->app, &config);
    crowd->hurry = (PFN_vkDestroySwapchainKHR)app_command(&crowd->app, "vkDestroySwapchainKHR");
    CHECK(crowd->hurry != NULL);
}

static void run_crowd(void *context)
{
    (void)context;
    struct crowd crowd = {.next = 0};
    pthread_t threads[THREADS];
    open_crowd(&crowd);
    start_crowd(&crowd, threads);
    while (atomic_load(&crowd.working))
        crowd.hurry(crowd.app.device, VK_NULL_HANDLE, NULL);
    join_crowd(threads);
    app_close(&crowd.app);
}

static void run_crowd_again(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, THREADS * PER_THREAD);
    CHECK_EQUAL(fault_cache_hits(), THREADS * PER_THREAD);
    app_close(&app);
}

static void test_c13_sixteen_threads_while_the_writer_saves(void **state)
{
    (void)state;
    run_complete(run_crowd, NULL);
    CHECK(report_number("summary", "saves") >= 1);
    CHECK_EQUAL(report_number("summary", "pipelines"), 2 * THREADS * PER_THREAD);
    run_complete(run_crowd_again, NULL);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
}

struct frozen {
    struct latch ready; /* something to save */
    struct latch go;
    struct latch stopped; /* the worker stands in the middle of the save */
    struct latch done;    /* all threads have made their pipelines */
};

static void run_crowd_beside_a_stopped_writer(void *context)
{
    const struct frozen *frozen = context;
    struct crowd crowd = {.next = 0};
    pthread_t threads[THREADS];
    open_crowd(&crowd);
    app_compile(&crowd.app, VK_NULL_HANDLE, 100000, 1);
    latch_raise(&frozen->ready, 1);
    latch_wait(&frozen->go);
    app_compile(&crowd.app, VK_NULL_HANDLE, 100001, 1);
    crowd.hurry(crowd.app.device, VK_NULL_HANDLE, NULL);
    latch_wait(&frozen->stopped);
    start_crowd(&crowd, threads);
    join_crowd(threads);
    latch_raise(&frozen->done, 1);
    app_close(&crowd.app);
}

/* The disk takes forever: the worker is held in its fdatasync() until everybody else is done. */
static void test_c13_no_creation_waits_for_the_disk(void **state)
{
    (void)state;
    struct frozen frozen = {latch_create(), latch_create(), latch_create(), latch_create()};
    struct stepper stepper;
    long call = 0;
    struct run run = run_start(run_crowd_beside_a_stopped_writer, &frozen);
    latch_wait(&frozen.ready);
    if (!stepper_attach(&stepper, run.pid, WORKER)) {
        run_kill(&run);
        skip();
    }
    latch_raise(&frozen.go, 1);
    while (call >= 0 && call != SYS_fdatasync)
        call = stepper_next(&stepper);
    CHECK_EQUAL(call, SYS_fdatasync);
    latch_raise(&frozen.stopped, 1);
    latch_wait(&frozen.done);
    stepper_detach(&stepper);
    int status = run_wait(&run);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_complete(run_crowd_again, NULL);
    latch_destroy(&frozen.ready);
    latch_destroy(&frozen.go);
    latch_destroy(&frozen.stopped);
    latch_destroy(&frozen.done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c11_two_processes_make_the_union),
        HARNESS_TEST(test_c11_four_processes_make_the_union),
        HARNESS_TEST(test_c11_later_saves_keep_what_the_other_saved),
        HARNESS_TEST(test_c13_sixteen_threads_while_the_writer_saves),
        HARNESS_TEST(test_c13_no_creation_waits_for_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
