#include "tracer.h"

#if TRACER_AVAILABLE

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

static void run_child(int (*work)(void *context), void *context)
{
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
        _exit(255);
    raise(SIGSTOP);
    _exit(work(context));
}

/* Half of the bytes, but at least one; of a writev() the first part that has any. */
static void shorten(pid_t child, struct user_regs_struct *registers)
{
    struct iovec part = {0};
    if (registers->orig_rax != SYS_writev) {
        registers->rdx = (registers->rdx + 1) / 2;
        return;
    }
    struct iovec local = {.iov_base = &part, .iov_len = sizeof(part)};
    struct iovec remote = {.iov_base = (void *)registers->rsi, .iov_len = sizeof(part)};
    if (process_vm_readv(child, &local, 1, &remote, 1, 0) == sizeof(part) && part.iov_len > 0)
        registers->rdx = 1;
}

static void apply_entry(pid_t child, struct user_regs_struct *registers, const struct tracer_stop *stop)
{
    if (stop->skip)
        registers->orig_rax = (unsigned long long)-1;
    else if (stop->shorten)
        shorten(child, registers);
    else
        return;
    ptrace(PTRACE_SETREGS, child, 0, registers);
}

/* At a stop for a system call. *skipped carries the stop at the entry to the one at the exit. */
static bool handle_stop(pid_t child, bool entry, struct tracer_stop *skipped, tracer_hook hook, void *context)
{
    struct user_regs_struct registers;
    ptrace(PTRACE_GETREGS, child, 0, &registers);
    struct tracer_stop stop = {.entry = entry, .number = (long)registers.orig_rax};
    if (!entry && skipped->skip) {
        registers.rax = (unsigned long long)skipped->result;
        ptrace(PTRACE_SETREGS, child, 0, &registers);
        stop.number = skipped->number;
    }
    hook(&stop, context);
    if (stop.kill)
        return false;
    if (entry) {
        apply_entry(child, &registers, &stop);
        *skipped = stop;
    }
    return true;
}

int tracer_run(int (*work)(void *context), void *work_context, tracer_hook hook, void *hook_context)
{
    int status, signal = 0;
    bool entry = true;
    struct tracer_stop skipped = {0};
    pid_t child = fork();
    if (child == 0)
        run_child(work, work_context);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return -1;
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(PTRACE_SYSCALL, child, 0, signal) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status)) {
        bool ours = WSTOPSIG(status) == SYSCALL_STOP;
        signal = ours ? 0 : WSTOPSIG(status);
        if (ours && !handle_stop(child, entry, &skipped, hook, hook_context)) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
        entry = entry != ours;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static int work_nothing(void *context)
{
    (void)context;
    return 0;
}

static void count_stop(struct tracer_stop *stop, void *context)
{
    (void)stop;
    ++*(int *)context;
}

bool tracer_available(void)
{
    int stops = 0;
    return tracer_run(work_nothing, NULL, count_stop, &stops) == 0 && stops > 0;
}

#else

bool tracer_available(void)
{
    return false;
}

int tracer_run(int (*work)(void *context), void *work_context, tracer_hook hook, void *hook_context)
{
    (void)work;
    (void)work_context;
    (void)hook;
    (void)hook_context;
    return -1;
}

#endif
