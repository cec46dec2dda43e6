/* Damaged store files are never loaded, and the reason is always given (C02, C10, C40). */
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAYLOAD_SIZE 700
#define FILE_SIZE (PAYLOAD_SIZE + ENVELOPE_SIZE)

static uint8_t payload[PAYLOAD_SIZE];

/* The file as saved; its path is set too. */
static uint8_t *saved_file(const struct fixture *fixture)
{
    size_t size;
    fixture_fill(payload, sizeof(payload), 1);
    fixture_save(fixture, payload, sizeof(payload));
    uint8_t *data = fixture_read(fixture_path(fixture, ".vkcache"), &size);
    assert_int_equal(size, FILE_SIZE);
    return data;
}

static void assert_rejected(const struct fixture *fixture, const void *data, size_t size)
{
    struct store *store = fixture_store(fixture);
    struct store_blob blob;
    struct store_problem problem;
    enum envelope_verdict verdict;
    fixture_write(fixture_path(fixture, ".vkcache"), data, size);
    assert_int_equal(store_load(store, &blob, &verdict, &problem), -EBADMSG);
    assert_null(blob.data);
    assert_int_not_equal(verdict, ENVELOPE_VALID);
    const char *reason = strstr(problem.text, "game.vkcache: ");
    assert_non_null(reason);
    assert_true(strlen(reason) > strlen("game.vkcache: ") + 5);
    store_destroy(store);
}

static void flipped_bits(void **state)
{
    uint8_t *data = saved_file(*state);
    for (size_t i = 0; i < FILE_SIZE; i++) {
        data[i] ^= (uint8_t)(1u << i % 8);
        assert_rejected(*state, data, FILE_SIZE);
        data[i] ^= (uint8_t)(1u << i % 8);
    }
    free(data);
}

static void cut_at_every_length(void **state)
{
    uint8_t *data = saved_file(*state);
    for (size_t size = 0; size < FILE_SIZE; size++)
        assert_rejected(*state, data, size);
    free(data);
}

static void zero_and_random_tails(void **state)
{
    uint8_t *data = saved_file(*state), tail[FILE_SIZE];
    for (size_t size = 0; size < FILE_SIZE; size += 3) {
        memcpy(tail, data, FILE_SIZE);
        memset(tail + size, 0, FILE_SIZE - size);
        assert_rejected(*state, tail, FILE_SIZE);
        fixture_fill(tail + size, FILE_SIZE - size, size);
        if (memcmp(tail, data, FILE_SIZE) != 0)
            assert_rejected(*state, tail, FILE_SIZE);
    }
    free(data);
}

static void appended_bytes(void **state)
{
    uint8_t *data = saved_file(*state), *longer = calloc(1, 2 * FILE_SIZE);
    memcpy(longer, data, FILE_SIZE);
    for (size_t extra = 1; extra <= 64; extra++)
        assert_rejected(*state, longer, FILE_SIZE + extra);
    fixture_fill(longer + FILE_SIZE, FILE_SIZE, 5);
    for (size_t extra = 1; extra <= 64; extra++)
        assert_rejected(*state, longer, FILE_SIZE + extra);
    memcpy(longer + FILE_SIZE, data, FILE_SIZE);
    assert_rejected(*state, longer, 2 * FILE_SIZE);
    free(longer);
    free(data);
}

/* Two blobs joined, then sealed again by somebody who didn't look. */
static void second_envelope_inside(void **state)
{
    struct fixture *fixture = *state;
    uint8_t *data = saved_file(fixture);
    fixture_save(fixture, data, FILE_SIZE);
    assert_int_equal(fixture_load(fixture, NULL, 0), -EBADMSG);
    free(data);
}

static void saving_repairs(void **state)
{
    struct fixture *fixture = *state;
    uint8_t *data = saved_file(fixture);
    for (size_t size = 0; size < FILE_SIZE; size += 97) {
        fixture_write(fixture_path(fixture, ".vkcache"), data, size);
        fixture_save(fixture, payload, sizeof(payload));
        assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
    }
    free(data);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(flipped_bits),   STORE_TEST(cut_at_every_length),    STORE_TEST(zero_and_random_tails),
        STORE_TEST(appended_bytes), STORE_TEST(second_envelope_inside), STORE_TEST(saving_repairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
