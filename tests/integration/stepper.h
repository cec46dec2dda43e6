/* Another process's thread, stopped before each of its system calls: for kills and stops at every step of
 * what it does. */
#ifndef STEPPER_H
#define STEPPER_H

#include <stdbool.h>
#include <sys/types.h>

struct stepper {
    pid_t process;
    pid_t thread;
};

/* Takes hold of the thread of this name, which must be waiting for something. False where the system doesn't
 * allow it. The process's other threads run on. */
bool stepper_attach(struct stepper *stepper, pid_t process, const char *thread_name);

/* Lets it run to the entry of its next system call that isn't a futex's. Returns the call's number, or -1 if
 * the process ended first. */
long stepper_next(struct stepper *stepper);

/* Kills the process where it stands. */
void stepper_kill(struct stepper *stepper);

/* Lets it run as if nothing had been. */
void stepper_detach(struct stepper *stepper);

#endif
