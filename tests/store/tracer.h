/* Runs a function in a child process and stops it at the entry and the exit of each of its system calls, to
 * kill it there or to change what the call does. x86-64 Linux only. */
#ifndef RC_TESTS_STORE_TRACER_H
#define RC_TESTS_STORE_TRACER_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__linux__)
#define TRACER_AVAILABLE 1
#else
#define TRACER_AVAILABLE 0
#endif

struct tracer_stop {
    bool entry;
    long number;  /* of the system call */
    bool kill;    /* out: kill the child here */
    bool skip;    /* out, at an entry: don't make the call ... */
    long result;  /* ... and return this */
    bool shorten; /* out, at an entry: read or write only a part of what was asked for */
};

typedef void (*tracer_hook)(struct tracer_stop *stop, void *context);

/* Whether a child can be traced here: right machine, no sandbox that forbids it. */
bool tracer_available(void);

/* The child calls `work` and exits with what it returns. Returns that, or -1 if it died of a signal
 * or can't be traced. */
int tracer_run(int (*work)(void *context), void *work_context, tracer_hook hook, void *hook_context);

#endif
