#include "clock.h"

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_unix_seconds(void)
{
    return (int64_t)(read_ns(CLOCK_REALTIME) / CLOCK_NS_PER_SECOND);
}

void clock_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

struct timespec clock_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / CLOCK_NS_PER_SECOND),
                             .tv_nsec = (long)(ns % CLOCK_NS_PER_SECOND)};
}
