/* Test bodies run in child processes: a crash, a hang or a leak of one is seen and doesn't touch the next,
 * and each has an environment, a loader and a driver of its own. */
#ifndef IT_CHILD_H
#define IT_CHILD_H

#include <stdbool.h>
#include <stdnoreturn.h>
#include <sys/types.h>

/* Seconds, longer where sanitizers slow everything down. What hangs longer is killed, which fails the test.
 */
#define CHILD_WATCHDOG 5

/* In a child: ends it with a message unless the condition holds. cmocka's own assertions would go on with the
 * parent's next test in there. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            child_fail(__FILE__, __LINE__, #condition, "%s", "");                                            \
    } while (0)
#define CHECK_MESSAGE(condition, ...)                                                                        \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            child_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                                         \
    } while (0)
noreturn void child_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

typedef void (*child_body)(void *argument);

/* Starts `body` in a child, with standard error going to the file `log` (NULL: the parent's). The child ends
 * by exit(0) when the body returns. Call it from a process with one thread. */
pid_t child_start(child_body body, void *argument, const char *log);

/* Waits for the child, at most `seconds` (scaled for sanitizers); then kills it. Returns the status of
 * waitpid(), or -1 if it hung. */
int child_wait(pid_t child, unsigned seconds);

/* Both, with CHILD_WATCHDOG: true if the child ended by exit(0). Else says how it ended and shows what it
 * wrote to `log`. */
bool child_run(child_body body, void *argument, const char *log);

/* The same with another watchdog. */
bool child_run_within(child_body body, void *argument, const char *log, unsigned seconds);

/* In a child: no leak check at its end. For those forked from a process with threads, whose memory is
 * nobody's there. */
void child_ignore_leaks(void);

/* How a child ended, in words; static storage. */
const char *child_status_text(int status);

#endif
