#include "check.h"

#include "cache/hash.h"
#include "random.h"

static void known_answers(void **state)
{
    char hex[HASH128_HEX_SIZE];
    struct hash128 hash;

    (void)state;
    hash = hash128_of(NULL, 0);
    hash128_to_hex(&hash, hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    assert_true(hash64_of(NULL, 0) == 0x2d06800538d394c2ULL);
}

static void stream_equals_whole(struct random *random, const uint8_t *data, size_t size)
{
    struct hash_stream stream;
    struct hash128 whole = hash128_of(data, size), streamed;
    size_t done = 0;

    hash_stream_init(&stream);
    hash_stream_update(&stream, NULL, 0);
    while (done < size) {
        struct hash_stream copy = stream;
        size_t piece = random_below(random, size - done + 1);
        struct hash128 so_far = hash128_of(data, done), copied = hash_stream_finish(&copy);

        check(hash128_equal(&so_far, &copied), "after %zu of %zu bytes", done, size);
        hash_stream_update(&stream, data + done, piece);
        done += piece;
    }
    streamed = hash_stream_finish(&stream);
    check(hash128_equal(&whole, &streamed), "%zu bytes", size);
}

static void stream_in_pieces(void **state)
{
    struct random random = random_from(random_seed());
    static uint8_t data[20000];

    (void)state;
    random_fill(&random, data, sizeof(data));
    for (size_t size = 0; size < 600; size++)
        stream_equals_whole(&random, data, size);
    for (int round = 0; round < 200; round++)
        stream_equals_whole(&random, data, random_below(&random, sizeof(data) + 1));
}

static void hex_round_trip(void **state)
{
    struct random random = random_from(random_seed());
    struct hash128 hash, read;
    char hex[HASH128_HEX_SIZE];

    (void)state;
    for (int round = 0; round < 1000; round++) {
        random_fill(&random, hash.bytes, sizeof(hash.bytes));
        hash128_to_hex(&hash, hex);
        assert_int_equal(strlen(hex), 32);
        assert_int_equal(strspn(hex, "0123456789abcdef"), 32);
        assert_true(hash128_from_hex(hex, &read));
        assert_true(hash128_equal(&hash, &read));
    }
}

static void hex_in_any_case_and_nothing_else(void **state)
{
    const char *upper = "00112233445566778899AABBCCDDEEFF-and more";
    const char *lower = "00112233445566778899aabbccddeeff";
    struct hash128 a, b, untouched;

    (void)state;
    assert_true(hash128_from_hex(upper, &a));
    assert_true(hash128_from_hex(lower, &b));
    assert_true(hash128_equal(&a, &b));

    for (size_t i = 0; i < 32; i++) {
        for (int c = 0; c < 256; c++) {
            /* Exactly as long as its string: ends early where c is 0. */
            char *text = strdup(lower);
            bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

            assert_non_null(text);
            text[i] = (char)c;
            untouched = a;
            check(hash128_from_hex(text, &untouched) == digit, "character %d at %zu", c, i);
            check(digit || hash128_equal(&untouched, &a), "character %d at %zu", c, i);
            free(text);
        }
        char *cut = strndup(lower, i);

        assert_non_null(cut);
        assert_false(hash128_from_hex(cut, &untouched));
        free(cut);
    }
}

static void every_bit_counts(void **state)
{
    struct hash128 a = hash128_of("x", 1);

    (void)state;
    for (size_t bit = 0; bit < 128; bit++) {
        struct hash128 b = a;

        b.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(hash128_equal(&a, &b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),    cmocka_unit_test(stream_in_pieces),
        cmocka_unit_test(hex_round_trip),   cmocka_unit_test(hex_in_any_case_and_nothing_else),
        cmocka_unit_test(every_bit_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
