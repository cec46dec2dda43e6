/* What processes do to themselves: signals, fork, exec, sandboxes set up late. C32, C33, C46. */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
#include "fault_driver.h"
#include "sandbox.h"

#define PIPELINES 16

static struct sandbox sandbox;

static int set_up(void **state)
{
    (void)state;
    sandbox_create(&sandbox);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

static void configure(const char *text)
{
    char problem[256] = "";
    CHECK_MESSAGE(fault_configure(text, problem, sizeof(problem)) == 0, "%s", problem);
}

static unsigned stores(void)
{
    return sandbox_count_files(sandbox_path(&sandbox, "cache"), ".vkcache");
}

static unsigned layer_lines(void)
{
    return sandbox_count_lines(sandbox_path(&sandbox, "stderr"), "robust_cache: ");
}

static void run_once(const uint32_t *expected_hits)
{
    struct app app;
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    app_end(&app);
    CHECK_MESSAGE(fault_cache_hits() == *expected_hits, "%u hits", (unsigned)fault_cache_hits());
}

/* --- C32 --- */

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
    (void)signal;
    alarms++;
}

/* Without SA_RESTART every system call of the application's threads may end with EINTR; the worker blocks
 * signals, so that the handler never runs on a thread that the application doesn't know. */
static void run_in_storm(void *expected_hits)
{
    const struct sigaction action = {.sa_handler = count_alarm};
    const struct itimerval each_millisecond = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "warning", 1);
    configure("miss=2000");
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &each_millisecond, NULL) == 0);
    run_once(expected_hits);
    while (alarms < 20)
        pause();
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void test_signal_storm(void **state)
{
    (void)state;
    uint32_t hits = 0;
    assert_true(child_run(run_in_storm, &hits, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(stores(), 1);
    hits = PIPELINES;
    assert_true(child_run(run_in_storm, &hits, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(layer_lines(), 0);
}

/* --- C33 --- */

static void no_body(void *unused)
{
    (void)unused;
    child_ignore_leaks();
}

static void exec_self(void *unused)
{
    (void)unused;
    execl("/proc/self/exe", "it_process", "--descriptors", (char *)NULL);
    _exit(2);
}

/* In a program that was just executed: whether a file of the layer's is still open here. */
static int check_descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;
    int open = 0;
    while (list && (entry = readdir(list))) {
        char target[PATH_MAX];
        ssize_t length = readlinkat(dirfd(list), entry->d_name, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        open += strstr(target, "/robust_cache/") != NULL;
    }
    if (!list)
        return 1;
    closedir(list);
    return open ? 1 : 0;
}

static void live_own_life(void *unused)
{
    (void)unused;
    struct app app;
    child_ignore_leaks();
    app_open(&app);
    app_create_instance(&app, NULL);
    app_create_device(&app, NULL);
    for (uint32_t n = 100; n < 100 + PIPELINES; n++)
        app_create_pipeline(&app, VK_NULL_HANDLE, n);
    /* not destroyed: this child's own exit() has to save */
}

/* The child of a fork while the worker is inside the driver, in the midst of a save. */
static void fork_while_saving(void *body)
{
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    configure("fault=vkGetPipelineCacheData,when=fetch,call=2+,block");
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK(fault_wait_blocked(1, 30000));
    int status = child_wait(child_start(*(child_body *)body, NULL, NULL), CHILD_WATCHDOG);
    CHECK_MESSAGE(status == 0, "the forked child %s", child_status_text(status));
    CHECK(stores() == 0); /* whatever it did, the child didn't save what is its parent's */
    fault_release();
    app_end(&app);
    CHECK(stores() == 1);
}

static void test_fork_and_exit(void **state)
{
    (void)state;
    child_body body = no_body;
    assert_true(child_run_within(fork_while_saving, &body, sandbox_path(&sandbox, "stderr"), 20));
}

static void test_fork_and_exec(void **state)
{
    (void)state;
    child_body body = exec_self;
    assert_true(child_run_within(fork_while_saving, &body, sandbox_path(&sandbox, "stderr"), 20));
}

static void fork_second_life(void *unused)
{
    (void)unused;
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    int status = child_wait(child_start(live_own_life, NULL, NULL), CHILD_WATCHDOG);
    CHECK_MESSAGE(status == 0, "the forked child %s", child_status_text(status));
    app_end(&app);
}

/* Both lives' pipelines are in the store. */
static void find_both_lives(void *unused)
{
    (void)unused;
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    app_begin(&app);
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    for (uint32_t n = 100; n < 100 + PIPELINES; n++)
        app_create_pipeline(&app, VK_NULL_HANDLE, n);
    CHECK_MESSAGE(fault_cache_hits() == 2 * PIPELINES, "%u hits", (unsigned)fault_cache_hits());
}

static void test_fork_and_live(void **state)
{
    (void)state;
    assert_true(child_run_within(fork_second_life, NULL, sandbox_path(&sandbox, "stderr"), 20));
    assert_int_equal(stores(), 1);
    assert_true(child_run(find_both_lives, NULL, sandbox_path(&sandbox, "stderr")));
}

/* --- C46 --- */

#define REFUSE(number)                                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* As sandboxes are: nothing can be opened, made, renamed, removed or locked by path any more. For all
 * threads. */
static void close_sandbox(void)
{
    static const struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_openat),
        REFUSE(SYS_openat2),
        REFUSE(SYS_mkdirat),
        REFUSE(SYS_renameat),
        REFUSE(SYS_renameat2),
        REFUSE(SYS_unlinkat),
        REFUSE(SYS_flock),
        REFUSE(SYS_newfstatat),
        REFUSE(SYS_fchmod),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(instructions) / sizeof(instructions[0]),
                                       .filter = (struct sock_filter *)instructions};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK_MESSAGE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
                  "%s", strerror(errno));
}

static void run_sandboxed(void *expected_hits)
{
    struct app app;
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "warning", 1);
    app_begin(&app);
    CHECK(app.CreatePipelineCache(app.device, &info, NULL, &cache) == VK_SUCCESS); /* waits for the load */
    close_sandbox();
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    app_use_pipelines(&app, VK_NULL_HANDLE, 2 * PIPELINES);
    app_use_pipelines(&app, cache, PIPELINES);
    size_t size = 0;
    CHECK(app.GetPipelineCacheData(app.device, cache, &size, NULL) == VK_SUCCESS && size > 32);
    app.DestroyPipelineCache(app.device, cache, NULL);
    app_destroy_device(&app);
    app_destroy_instance(&app);
    CHECK(fault_cache_hits() >= *(const uint32_t *)expected_hits);
    child_ignore_leaks(); /* nothing could be opened for looking at them */
}

static void run_freely(void *expected_hits)
{
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    run_once(expected_hits);
}

static void test_sandboxed_later(void **state)
{
    (void)state;
    uint32_t hits = PIPELINES; /* the second time around */
    assert_true(child_run(run_sandboxed, &hits, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(stores(), 0);
    assert_int_equal(layer_lines(), 1);
}

/* With a store, whose data this driver hasn't proven: the crash guard's mark can't be made either. */
static void test_sandboxed_later_warm(void **state)
{
    (void)state;
    uint32_t hits = 0;
    assert_true(child_run(run_freely, &hits, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(layer_lines(), 0);
    hits = 2 * PIPELINES;
    assert_true(child_run(run_sandboxed, &hits, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(layer_lines(), 1);
    /* The store is as it was. */
    hits = PIPELINES;
    assert_true(child_run(run_freely, &hits, sandbox_path(&sandbox, "stderr")));
}

/* Other sandboxes trap the calls, and the application answers them in its handler. */
static void answer_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
#if defined(__x86_64__)
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__i386__)
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EAX] = -EPERM;
#elif defined(__aarch64__)
    ((ucontext_t *)context)->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#else
#error "name the register here in which a system call returns"
#endif
}

static void close_trapping_sandbox(void)
{
    static const struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(instructions) / sizeof(instructions[0]),
                                       .filter = (struct sock_filter *)instructions};
    const struct sigaction action = {.sa_sigaction = answer_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    CHECK(sigaction(SIGSYS, &action, NULL) == 0);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK_MESSAGE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
                  "%s", strerror(errno));
}

static void run_in_trapping_sandbox(void *unused)
{
    struct app app;
    (void)unused;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    setenv("VK_ROBUST_CACHE_LOG_LEVEL", "warning", 1);
    app_begin(&app);
    close_trapping_sandbox();
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    app_end(&app);
    child_ignore_leaks();
}

static void test_trapping_sandbox(void **state)
{
    (void)state;
    assert_true(child_run(run_in_trapping_sandbox, NULL, sandbox_path(&sandbox, "stderr")));
    assert_int_equal(stores(), 0);
    assert_int_equal(layer_lines(), 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--descriptors") == 0)
        return check_descriptors();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_signal_storm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fork_and_exit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fork_and_exec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fork_and_live, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sandboxed_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sandboxed_later_warm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trapping_sandbox, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
