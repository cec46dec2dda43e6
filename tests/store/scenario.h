/* Things a process does with a store, to be interrupted in the middle, and what must hold afterwards. */
#ifndef RC_TESTS_STORE_SCENARIO_H
#define RC_TESTS_STORE_SCENARIO_H

#include "fixture.h"

enum scenario_result {
    SCENARIO_DONE,   /* the store reported success */
    SCENARIO_FAILED, /* the store reported an error, and said what was wrong */
    SCENARIO_MUTE,   /* the store reported an error and gave no reason */
    SCENARIO_KILLED, /* somewhere in the middle */
};

struct scenario {
    const char *name;
    bool writes; /* it must fail if one of the writes, flushes or renames does */
    void (*prepare)(struct fixture *fixture);
    int (*work)(void *fixture); /* in a process of its own; returns a scenario_result */
    void (*check)(struct fixture *fixture, enum scenario_result result);
};

extern const struct scenario scenarios[];
extern const int scenario_count;

#endif
