/* What every fuzz target has. */
#ifndef RC_TESTS_FUZZ_H
#define RC_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process as a crash, so that the fuzzer keeps the input. */
#define require(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s doesn't hold\n", __FILE__, __LINE__, #condition);                     \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
