#include "stepper.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SYSCALL_STOP (SIGTRAP | 0x80) /* by PTRACE_O_TRACESYSGOOD */

static bool has_name(pid_t process, const char *thread, const char *name)
{
    char path[300], found[32] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", process, thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(found, sizeof(found), file) != NULL;
    fclose(file);
    found[strcspn(found, "\n")] = '\0';
    return read && strcmp(found, name) == 0;
}

static pid_t find_thread(pid_t process, const char *name)
{
    char path[64];
    pid_t found = -1;
    snprintf(path, sizeof(path), "/proc/%d/task", process);
    DIR *threads = opendir(path);
    const struct dirent *entry;
    while (threads && found < 0 && (entry = readdir(threads)))
        if (has_name(process, entry->d_name, name))
            found = (pid_t)atoi(entry->d_name);
    if (threads)
        closedir(threads);
    return found;
}

bool stepper_attach(struct stepper *stepper, pid_t process, const char *thread_name)
{
    int status;
    stepper->process = process;
    stepper->thread = find_thread(process, thread_name);
    return stepper->thread >= 0 && ptrace(PTRACE_SEIZE, stepper->thread, 0, PTRACE_O_TRACESYSGOOD) == 0 &&
           ptrace(PTRACE_INTERRUPT, stepper->thread, 0, 0) == 0 &&
           waitpid(stepper->thread, &status, __WALL) == stepper->thread && WIFSTOPPED(status);
}

/* The number if it stands at the entry of a system call worth stopping at. */
static bool at_entry(const struct stepper *stepper, long *number)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, stepper->thread, sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr == SYS_futex)
        return false;
    *number = (long)info.entry.nr;
    return true;
}

long stepper_next(struct stepper *stepper)
{
    for (;;) {
        int status;
        long number;
        if (ptrace(PTRACE_SYSCALL, stepper->thread, 0, 0) != 0 ||
            waitpid(stepper->thread, &status, __WALL) != stepper->thread || !WIFSTOPPED(status))
            return -1;
        if (WSTOPSIG(status) == SYSCALL_STOP && at_entry(stepper, &number))
            return number;
    }
}

void stepper_kill(struct stepper *stepper)
{
    int status;
    kill(stepper->process, SIGKILL);
    /* A process isn't gone as long as somebody may still ask how its thread ended. */
    while (waitpid(stepper->thread, &status, __WALL) == stepper->thread && WIFSTOPPED(status))
        ;
}

void stepper_detach(struct stepper *stepper)
{
    ptrace(PTRACE_DETACH, stepper->thread, 0, 0);
}
