/* cmocka with the headers that it needs before it. */
#ifndef RC_TESTS_CHECK_H
#define RC_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A check inside a loop: says in which round it failed. */
#define check(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            print_error(__VA_ARGS__);                                                                        \
            print_error("\n");                                                                               \
            fail_msg("%s", #condition);                                                                      \
        }                                                                                                    \
    } while (0)

#endif
