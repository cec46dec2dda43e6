/* Clocks, and waiting by them. Any thread. */
#ifndef RC_CLOCK_H
#define RC_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_SECOND 1000000000ull

/* Nanoseconds on a clock that only goes forward. */
uint64_t clock_monotonic_ns(void);

/* Seconds since 1970, as the ledger has them. */
int64_t clock_unix_seconds(void);

/* A condition whose deadlines are times of clock_monotonic_ns(), as clock_timespec() makes them. */
void clock_init_condition(pthread_cond_t *condition);
struct timespec clock_timespec(uint64_t ns);

#endif
