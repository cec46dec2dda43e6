/* Repeatable random numbers for tests (xorshift64*). */
#ifndef RC_TESTS_RANDOM_H
#define RC_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

struct random {
    uint64_t state; /* never 0 */
};

static inline struct random random_from(uint64_t seed)
{
    return (struct random){.state = seed * 2 + 1};
}

/* A seed of this run, printed, or the one in the environment: ROBUST_CACHE_TEST_SEED repeats a failure. */
static inline uint64_t random_seed(void)
{
    const char *text = getenv("ROBUST_CACHE_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 0;

    if (!text && getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        abort();
    fprintf(stderr, "ROBUST_CACHE_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static inline uint64_t random_next(struct random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * 0x2545f4914f6cdd1dULL;
}

/* 0 .. limit-1; `limit` is not 0. */
static inline size_t random_below(struct random *random, size_t limit)
{
    return (size_t)((random_next(random) >> 16) % limit);
}

static inline void random_fill(struct random *random, void *out, size_t size)
{
    uint8_t *bytes = out;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(random_next(random) >> 32);
}

#endif
