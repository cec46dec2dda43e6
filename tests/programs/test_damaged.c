/* The ways of damaging data: each does damage, each can be repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "damaged.h"

#define SIZE 5000
#define TRAILER 640
#define CASES (40 * DAMAGE_KIND_COUNT)

/* Zeroes and numbers: some draws of some kinds change nothing in it and must be drawn again. */
static void fill(uint8_t data[SIZE])
{
    memset(data, 0, SIZE);
    for (size_t i = 0; i < SIZE / 2; i++)
        data[i] = (uint8_t)(i * 7);
}

static void every_case_differs(void **state)
{
    (void)state;
    uint8_t data[SIZE];
    uint32_t seen[DAMAGE_KIND_COUNT] = {0};
    fill(data);
    for (uint64_t number = 0; number < CASES; number++) {
        size_t size;
        enum damage_kind kind;
        uint8_t *copy = damage_make(data, SIZE, TRAILER, 3, number, &kind, &size);
        assert_non_null(copy);
        assert_true(size != SIZE || memcmp(copy, data, SIZE) != 0);
        assert_true(size != SIZE - TRAILER);
        seen[kind]++;
        free(copy);
    }
    for (int kind = 0; kind < DAMAGE_KIND_COUNT; kind++)
        assert_int_equal(seen[kind], CASES / DAMAGE_KIND_COUNT);
}

static void a_case_repeats_by_seed_and_number(void **state)
{
    (void)state;
    uint8_t data[SIZE];
    fill(data);
    uint32_t other = 0;
    for (uint64_t number = 0; number < CASES; number++) {
        size_t sizes[3];
        enum damage_kind kind;
        uint8_t *first = damage_make(data, SIZE, 0, 9, number, &kind, &sizes[0]);
        uint8_t *again = damage_make(data, SIZE, 0, 9, number, &kind, &sizes[1]);
        uint8_t *seeded = damage_make(data, SIZE, 0, 10, number, &kind, &sizes[2]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(first, again, sizes[0]);
        other += sizes[0] != sizes[2] || memcmp(first, seeded, sizes[0]) != 0;
        free(first);
        free(again);
        free(seeded);
    }
    assert_true(other > CASES / 2); /* an emptied file is the same for every seed */
}

static void a_header_is_damaged_only_behind_its_version(void **state)
{
    (void)state;
    uint8_t data[SIZE];
    fill(data);
    for (uint64_t i = 0; i < 50; i++) {
        size_t size;
        enum damage_kind kind;
        uint8_t *copy = damage_make(data, SIZE, 0, 1, DAMAGE_IDENTITY + i * DAMAGE_KIND_COUNT, &kind, &size);
        assert_int_equal(kind, DAMAGE_IDENTITY);
        assert_int_equal(size, SIZE);
        assert_memory_equal(copy, data, 8);
        assert_memory_equal(copy + 32, data + 32, SIZE - 32);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_differs),
        cmocka_unit_test(a_case_repeats_by_seed_and_number),
        cmocka_unit_test(a_header_is_damaged_only_behind_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
