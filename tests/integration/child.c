#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the sanitizers' runtimes, which look these up. The machine's drivers aren't what is tested, and the
 * child of a fork may go on with threads of its own; waiting at the end for threads to race would take a
 * second each. */
#define FOR_RUNTIME __attribute__((visibility("default")))
FOR_RUNTIME const char *__lsan_default_suppressions(void);
FOR_RUNTIME const char *__tsan_default_suppressions(void);
FOR_RUNTIME const char *__tsan_default_options(void);
FOR_RUNTIME int __lsan_is_turned_off(void);

static int leaks_ignored;

const char *__lsan_default_suppressions(void)
{
    return "leak:libvulkan_lvp.so\nleak:libvulkan_radeon.so\nleak:libLLVM\nleak:libVkLayer_khronos_"
           "validation.so\n";
}

const char *__tsan_default_suppressions(void)
{
    return "race:libvulkan_lvp.so\nrace:libvulkan_radeon.so\n"
           "race:libVkLayer_khronos_validation.so\n";
}

const char *__tsan_default_options(void)
{
    return "die_after_fork=0:atexit_sleep_ms=0";
}

int __lsan_is_turned_off(void)
{
    return leaks_ignored;
}

void child_ignore_leaks(void)
{
    leaks_ignored = 1;
}

static int message_fd = STDERR_FILENO; /* the runner's standard error, whatever the child's is */

void child_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    dprintf(message_fd, "%s:%d: not so: %s %s\n", file, line, condition, text);
    _exit(1);
}

static void redirect_errors(const char *log)
{
    message_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (message_fd < 0 || fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        child_fail(__FILE__, __LINE__, log, "%s", strerror(errno));
    close(fd);
}

pid_t child_start(child_body body, void *argument, const char *log)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (log)
        redirect_errors(log);
    body(argument);
    exit(0);
}

static unsigned scaled(unsigned seconds)
{
    if (strstr(RC_SANITIZE, "thread"))
        return 12 * seconds;
    return strstr(RC_SANITIZE, "address") ? 6 * seconds : seconds;
}

int child_wait(pid_t child, unsigned seconds)
{
    int status = -1;
    int fd = (int)syscall(SYS_pidfd_open, child, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&ended, 1, (int)scaled(seconds) * 1000);
    while (ready < 0 && errno == EINTR);
    close(fd);
    if (ready != 1)
        kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child || ready != 1)
        return -1;
    return status;
}

const char *child_status_text(int status)
{
    static char text[128];
    if (status == -1)
        snprintf(text, sizeof(text), "hung and was killed");
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof(text), "died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof(text), "ended with code %d", WEXITSTATUS(status));
    return text;
}

static void show(const char *log)
{
    char text[65536];
    int fd = log ? open(log, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t size = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
    if (size > 0)
        fprintf(stderr, "--- %s\n%.*s---\n", log, (int)size, text);
    if (fd >= 0)
        close(fd);
}

bool child_run_within(child_body body, void *argument, const char *log, unsigned seconds)
{
    int status = child_wait(child_start(body, argument, log), seconds);
    if (status == 0)
        return true;
    fprintf(stderr, "the child %s\n", child_status_text(status));
    show(log);
    return false;
}

bool child_run(child_body body, void *argument, const char *log)
{
    return child_run_within(body, argument, log, CHILD_WATCHDOG);
}
