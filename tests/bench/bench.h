/* Clock and order statistics for the benchmarks. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Keeps the compiler from dropping the work that filled `data`. */
static inline void bench_keep(const void *data)
{
    __asm__ volatile("" : : "g"(data) : "memory");
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which the share `quantile` of the values lies. Sorts them. */
static inline double bench_quantile(double *values, size_t count, double quantile)
{
    qsort(values, count, sizeof(*values), bench_compare);
    return values[(size_t)((double)(count - 1) * quantile)];
}

#endif
