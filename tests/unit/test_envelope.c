#include "check.h"

#include "cache/envelope.h"
#include "model_envelope.h"
#include "sample.h"

#define PAYLOAD_SIZE 100
#define SEALED_SIZE (PAYLOAD_SIZE + ENVELOPE_SIZE)

/* Judges a copy that ends where its allocation ends, so that a sanitizer sees any read beyond it. */
static enum envelope_verdict judge(const uint8_t *data, size_t size, struct envelope *out)
{
    struct cache_identity self = sample_identity();
    uint8_t *copy = malloc(size ? size : 1);
    enum envelope_verdict verdict;

    assert_non_null(copy);
    if (size)
        memcpy(copy, data, size);
    verdict = envelope_open(copy, size, &self, out);
    free(copy);
    return verdict;
}

/* The sample blob, sealed, with room behind it. */
struct sealed {
    uint8_t data[SEALED_SIZE + ENVELOPE_MAX_PADDING + 2];
};

static void make_sealed(struct sealed *sealed)
{
    struct cache_identity identity = sample_identity();
    struct random random = random_from(1);

    memset(sealed, 0, sizeof(*sealed));
    sample_payload(sealed->data, PAYLOAD_SIZE, &identity, &random);
    sample_seal(sealed->data, PAYLOAD_SIZE, &identity);
}

static void expect_problem(const struct envelope *envelope, const char *text)
{
    assert_string_equal(envelope->problem, text);
}

static void round_trip_over_sizes(void **state)
{
    struct cache_identity identity = sample_identity();
    struct random random = random_from(random_seed());
    static uint8_t blob[70000 + ENVELOPE_SIZE], again[ENVELOPE_SIZE];
    struct envelope envelope;

    (void)state;
    for (size_t round = 0; round < 700; round++) {
        size_t payload_size = round < 600 ? round : random_below(&random, 70000);
        size_t size;

        random_fill(&random, blob, payload_size);
        size = sample_seal(blob, payload_size, &identity);
        check(judge(blob, size, &envelope) == ENVELOPE_VALID, "%zu bytes", payload_size);
        assert_int_equal(envelope.payload_size, payload_size);
        assert_null(identity_difference(&identity, &envelope.identity));
        assert_string_equal(envelope.problem, "");
        envelope_seal(again, &envelope.identity, envelope.payload_size, &envelope.payload_hash);
        assert_memory_equal(again, blob + payload_size, ENVELOPE_SIZE);
    }
}

/* The form on disk and in applications' files: it may only change together with ENVELOPE_VERSION. */
static const struct {
    size_t at;
    size_t size;
    const char *bytes;
} golden[] = {
    {0, 8, "\xb7RCCACHE"},
    {8, 8, "\x01\x00\x00\x00\x80\x02\x00\x00"},
    {16, 16, "\xde\x10\x00\x00\x35\x23\x00\x00\x40\x85\x27\x91\x04\x00\x00\x00"},
    {32, 16, "\xd0\xd1\xd2\xd3\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xdf"},
    {48, 8, "\x40\x00\x3e\x00\x14\x00\x00\x00"},
    {56, 20, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"},
    {88, 6, "Sample"},
    {344, 10, "580.159.01"},
    {600, 8, "\x08\x07\x06\x05\x04\x03\x02\x01"},
    {608, 16, "\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae\xaf"},
    {624, 8, "\x7d\x76\x2a\xc0\x45\x37\x35\x96"},
    {632, 8, "\r\nRCEND\xb7"},
};

static void golden_bytes(void **state)
{
    struct cache_identity identity = sample_identity(), read;
    struct hash128 hash;
    uint8_t expected[ENVELOPE_SIZE] = {0}, sealed[ENVELOPE_SIZE];
    uint64_t payload_size = 0x0102030405060708;
    struct envelope envelope;

    (void)state;
    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
        memcpy(expected + golden[i].at, golden[i].bytes, golden[i].size);
    for (size_t i = 0; i < sizeof(hash.bytes); i++)
        hash.bytes[i] = (uint8_t)(0xa0 + i);

    envelope_seal(sealed, &identity, payload_size, &hash);
    assert_memory_equal(sealed, expected, ENVELOPE_SIZE);

    assert_int_equal(envelope_open_trailer(expected, payload_size + ENVELOPE_SIZE, &identity, &envelope),
                     ENVELOPE_VALID);
    read = envelope.identity;
    assert_memory_equal(&read, &identity, sizeof(identity));
    assert_true(envelope.payload_size == payload_size);
    assert_true(hash128_equal(&envelope.payload_hash, &hash));
}

static void no_data(void **state)
{
    static const struct envelope zero;
    struct cache_identity self = sample_identity();
    struct envelope envelope;

    (void)state;
    assert_int_equal(envelope_open(NULL, 0, &self, &envelope), ENVELOPE_NONE);
    assert_memory_equal(&envelope, &zero, sizeof(zero));
}

static void every_bit_flip(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    make_sealed(&sealed);
    for (size_t bit = 0; bit < SEALED_SIZE * 8; bit++) {
        sealed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check(judge(sealed.data, SEALED_SIZE, &envelope) == ENVELOPE_DAMAGED, "bit %zu", bit);
        check(envelope.problem[0] != '\0', "bit %zu", bit);
        sealed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void every_truncation(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    make_sealed(&sealed);
    for (size_t size = 0; size < SEALED_SIZE; size++)
        check(judge(sealed.data, size, &envelope) == ENVELOPE_NONE, "%zu bytes", size);
}

static void every_zeroed_tail(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    for (size_t from = 0; from < SEALED_SIZE; from++) {
        /* As long as the whole magic stands it is an envelope, and a damaged one. */
        enum envelope_verdict expected = from >= PAYLOAD_SIZE + 8 ? ENVELOPE_DAMAGED : ENVELOPE_NONE;

        make_sealed(&sealed);
        memset(sealed.data + from, 0, SEALED_SIZE - from);
        check(judge(sealed.data, SEALED_SIZE, &envelope) == expected, "from %zu", from);
    }
}

static void every_randomised_tail(void **state)
{
    struct random random = random_from(random_seed());
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    for (size_t from = 0; from < SEALED_SIZE; from++) {
        enum envelope_verdict expected = from >= PAYLOAD_SIZE + 8 ? ENVELOPE_DAMAGED : ENVELOPE_NONE;

        uint8_t before;

        make_sealed(&sealed);
        before = sealed.data[from];
        random_fill(&random, sealed.data + from, SEALED_SIZE - from);
        /* A random byte may be what was there. */
        sealed.data[from] = (uint8_t)(before + 1);
        check(judge(sealed.data, SEALED_SIZE, &envelope) == expected, "from %zu", from);
    }
}

static void paddings(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    make_sealed(&sealed);
    for (size_t padding = 0; padding <= ENVELOPE_MAX_PADDING + 1; padding++) {
        enum envelope_verdict expected = padding <= ENVELOPE_MAX_PADDING ? ENVELOPE_VALID : ENVELOPE_NONE;

        check(judge(sealed.data, SEALED_SIZE + padding, &envelope) == expected, "padding %zu", padding);
        check(expected == ENVELOPE_NONE || envelope.payload_size == PAYLOAD_SIZE, "padding %zu", padding);
    }
}

/* Padding is zeros: anything else behind the envelope takes it out of sight, or is damage. */
static void padding_of_other_bytes(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    for (size_t at = 0; at < 100; at++) {
        make_sealed(&sealed);
        sealed.data[SEALED_SIZE + at] = 1;
        check(judge(sealed.data, SEALED_SIZE + 100, &envelope) == ENVELOPE_NONE, "at %zu", at);
    }
}

static void concatenations(void **state)
{
    struct cache_identity identity = sample_identity();
    struct sealed sealed;
    uint8_t twice[2 * SEALED_SIZE + ENVELOPE_SIZE + 10];
    struct envelope envelope;

    (void)state;
    make_sealed(&sealed);

    /* Two blobs one behind the other. */
    memcpy(twice, sealed.data, SEALED_SIZE);
    memcpy(twice + SEALED_SIZE, sealed.data, SEALED_SIZE);
    assert_int_equal(judge(twice, 2 * SEALED_SIZE, &envelope), ENVELOPE_DAMAGED);
    expect_problem(&envelope, "payload size: 100 bytes expected, 840 found");

    /* One more envelope of the same payload. */
    memcpy(twice + SEALED_SIZE, sealed.data + PAYLOAD_SIZE, ENVELOPE_SIZE);
    assert_int_equal(judge(twice, SEALED_SIZE + ENVELOPE_SIZE, &envelope), ENVELOPE_DAMAGED);
    expect_problem(&envelope, "payload size: 100 bytes expected, 740 found");

    /* An enveloped blob sealed again, with and without padding between. */
    for (size_t padding = 0; padding < 10; padding++) {
        size_t size;

        memcpy(twice, sealed.data, SEALED_SIZE);
        memset(twice + SEALED_SIZE, 0, padding);
        size = sample_seal(twice, SEALED_SIZE + padding, &identity);
        assert_int_equal(judge(twice, size, &envelope), ENVELOPE_DAMAGED);
        expect_problem(&envelope, "envelope: one expected, a second one found inside the payload");
    }
}

static void end_mark_alone(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    make_sealed(&sealed);
    for (size_t size = 8; size < ENVELOPE_SIZE; size++)
        check(judge(sealed.data + SEALED_SIZE - size, size, &envelope) == ENVELOPE_DAMAGED, "%zu bytes",
              size);
    judge(sealed.data + SEALED_SIZE - 500, 500, &envelope);
    expect_problem(&envelope, "envelope: 640 bytes expected, 500 found");
}

/* Changes one place of the trailer and makes its own hash fit again, as only a program would. */
static void forge(struct sealed *sealed, size_t at, const void *bytes, size_t size)
{
    uint8_t *trailer = sealed->data + PAYLOAD_SIZE;

    make_sealed(sealed);
    memcpy(trailer + at, bytes, size);
    bytes_put_u64(trailer + 624, hash64_of(trailer, 624));
}

static void other_versions(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    forge(&sealed, 8, "\x02\0\0\0", 4);
    assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_UNKNOWN_VERSION);
    expect_problem(&envelope, "envelope version: 1 expected, 2 found");
    /* Whatever a newer layer puts into the fields. */
    memset(sealed.data + PAYLOAD_SIZE + 16, 0xff, 608);
    bytes_put_u64(sealed.data + PAYLOAD_SIZE + 624, hash64_of(sealed.data + PAYLOAD_SIZE, 624));
    assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_UNKNOWN_VERSION);
    /* But not if it isn't whole. */
    sealed.data[PAYLOAD_SIZE + 100] ^= 1;
    assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_DAMAGED);
    /* No layer ever wrote version 0. */
    forge(&sealed, 8, "\0\0\0\0", 4);
    assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_DAMAGED);
}

static void forged_fields(void **state)
{
    static const struct {
        size_t at;
        size_t size;
        const char *bytes;
        const char *problem;
    } forgeries[] = {
        {12, 4, "\x81\x02\0\0", "envelope size: 640 bytes expected, 641 found"},
        {52, 4, "\x21\0\0\0", "envelope identity: zero-padded fields expected, other bytes found"},
        {52, 4, "\x13\0\0\0", "envelope identity: zero-padded fields expected, other bytes found"},
        {87, 1, "x", "envelope identity: zero-padded fields expected, other bytes found"},
        {343, 1, "x", "envelope identity: zero-padded fields expected, other bytes found"},
        {400, 1, "x", "envelope identity: zero-padded fields expected, other bytes found"},
        {600, 8, "\x63\0\0\0\0\0\0\0", "payload size: 99 bytes expected, 100 found"},
        {600, 8, "\xff\xff\xff\xff\xff\xff\xff\xff",
         "payload size: 18446744073709551615 bytes expected, 100 found"},
    };
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
        forge(&sealed, forgeries[i].at, forgeries[i].bytes, forgeries[i].size);
        assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_DAMAGED);
        expect_problem(&envelope, forgeries[i].problem);
    }

    /* Strings that fill their field, without an end. */
    uint8_t full[IDENTITY_NAME_SIZE];

    memset(full, 'x', sizeof(full));
    forge(&sealed, 88, full, sizeof(full));
    assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_DAMAGED);
    forge(&sealed, 344, full, sizeof(full));
    assert_int_equal(judge(sealed.data, SEALED_SIZE, &envelope), ENVELOPE_DAMAGED);
}

static void problems_name_the_field(void **state)
{
    struct sealed sealed;
    struct envelope envelope;

    (void)state;
    make_sealed(&sealed);
    sealed.data[PAYLOAD_SIZE] ^= 1;
    judge(sealed.data, SEALED_SIZE, &envelope);
    expect_problem(&envelope, "envelope magic: one expected, other bytes found");

    make_sealed(&sealed);
    sealed.data[SEALED_SIZE - 1] ^= 1;
    judge(sealed.data, SEALED_SIZE, &envelope);
    expect_problem(&envelope, "envelope end mark: one expected, other bytes found");

    make_sealed(&sealed);
    sealed.data[PAYLOAD_SIZE + 20] ^= 1;
    judge(sealed.data, SEALED_SIZE, &envelope);
    expect_problem(&envelope, "envelope hash: that of its bytes expected, another found");

    make_sealed(&sealed);
    sealed.data[50] ^= 1;
    judge(sealed.data, SEALED_SIZE, &envelope);
    assert_memory_equal(envelope.problem, "payload hash: ", strlen("payload hash: "));
    assert_string_equal(envelope.problem + strlen(envelope.problem) - 6, " found");
}

/* C06, C22: an envelope of another identity names the first field that differs. */
static void foreign_identities(void **state)
{
    struct sealed sealed;
    struct envelope envelope;
    struct cache_identity self = sample_identity(), other = self;

    (void)state;
    make_sealed(&sealed);
    other.driver_version++;
    assert_int_equal(envelope_open(sealed.data, SEALED_SIZE, &other, &envelope), ENVELOPE_FOREIGN);
    expect_problem(&envelope, "driverVersion: 0x91278541 expected, 0x91278540 found");
    assert_memory_equal(&envelope.identity, &self, sizeof(self));
    assert_int_equal(envelope.payload_size, PAYLOAD_SIZE);

    other = self;
    other.abi = 3u << 16 | 32;
    assert_int_equal(envelope_open(sealed.data, SEALED_SIZE, &other, &envelope), ENVELOPE_FOREIGN);
    expect_problem(&envelope, "ABI: 0x30020 expected, 0x3e0040 found");

    other = self;
    other.build_id[0] ^= 0x10;
    assert_int_equal(envelope_open(sealed.data, SEALED_SIZE, &other, &envelope), ENVELOPE_FOREIGN);

    other.build_id_size = 0;
    memset(other.build_id, 0, sizeof(other.build_id));
    assert_int_equal(envelope_open(sealed.data, SEALED_SIZE, &other, &envelope), ENVELOPE_VALID);

    /* Tools look at any identity, but not past damage. */
    assert_int_equal(envelope_open(sealed.data, SEALED_SIZE, NULL, &envelope), ENVELOPE_VALID);
    sealed.data[0] ^= 1;
    assert_int_equal(envelope_open(sealed.data, SEALED_SIZE, NULL, &envelope), ENVELOPE_DAMAGED);
}

static void trailer_alone(void **state)
{
    struct cache_identity self = sample_identity();
    uint8_t nothing[ENVELOPE_SIZE] = {0};
    struct sealed sealed;
    struct envelope envelope;
    const uint8_t *trailer = sealed.data + PAYLOAD_SIZE;

    (void)state;
    make_sealed(&sealed);
    assert_int_equal(envelope_open_trailer(trailer, SEALED_SIZE, &self, &envelope), ENVELOPE_VALID);
    assert_int_equal(envelope_open_trailer(nothing, SEALED_SIZE, &self, &envelope), ENVELOPE_NONE);
    assert_int_equal(envelope_open_trailer(trailer, SEALED_SIZE + 1, &self, &envelope), ENVELOPE_DAMAGED);
    assert_int_equal(envelope_open_trailer(trailer, SEALED_SIZE - 1, &self, &envelope), ENVELOPE_DAMAGED);
    for (uint64_t total = 0; total < ENVELOPE_SIZE; total++)
        assert_int_equal(envelope_open_trailer(trailer, total, &self, &envelope), ENVELOPE_DAMAGED);
    self.vendor_id++;
    assert_int_equal(envelope_open_trailer(trailer, SEALED_SIZE, &self, &envelope), ENVELOPE_FOREIGN);
}

/* One random change of the kinds that files suffer. `size` stays under `capacity`. */
static size_t mutate(struct random *random, uint8_t *data, size_t size, size_t capacity)
{
    size_t at = size ? random_below(random, size) : 0;
    size_t length = random_below(random, 50);

    if (length > size - at)
        length = size - at;
    switch (random_below(random, 7)) {
    case 0:
        if (size)
            data[at] ^= (uint8_t)(1u << random_below(random, 8));
        return size;
    case 1:
        return at;
    case 2:
        memset(data + at, 0, size - at);
        return size;
    case 3:
        random_fill(random, data + at, length);
        return size;
    case 4: /* padding */
        length = random_below(random, 10) ? length : random_below(random, 4200);
        if (length > capacity - size)
            length = capacity - size;
        memset(data + size, 0, length);
        return size + length;
    case 5: /* a piece gone */
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    default: /* a piece twice */
        if (length > capacity - size)
            length = capacity - size;
        memmove(data + at + length, data + at, size - at);
        return size + length;
    }
}

static void mutations_against_the_model(void **state)
{
    struct cache_identity self = sample_identity();
    struct random random = random_from(random_seed());
    static uint8_t data[30000];
    size_t seen[5] = {0};
    struct envelope envelope;

    (void)state;
    for (size_t round = 0; round < 20000; round++) {
        size_t payload_size = SAMPLE_HEADER_SIZE + random_below(&random, 200);
        size_t changes = random_below(&random, 4);
        enum envelope_verdict verdict;
        size_t size;

        sample_payload(data, payload_size, &self, &random);
        size = sample_seal(data, payload_size, &self);
        if (random_below(&random, 10) == 0)
            size = sample_seal(data, size, &self);
        for (size_t i = 0; i < changes; i++)
            size = mutate(&random, data, size, sizeof(data));
        verdict = judge(data, size, &envelope);
        check((verdict == ENVELOPE_NONE) == !model_has_mark(data, size), "round %zu", round);
        check((verdict == ENVELOPE_VALID) == (model_payload_size(data, size, &self) != MODEL_NOT_VALID),
              "round %zu", round);
        check(verdict != ENVELOPE_VALID || envelope.payload_size == model_payload_size(data, size, &self),
              "round %zu", round);
        seen[verdict]++;
    }
    /* The model proves nothing unless each of these came up. */
    assert_true(seen[ENVELOPE_VALID] > 1000 && seen[ENVELOPE_NONE] > 1000 && seen[ENVELOPE_DAMAGED] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_over_sizes),
        cmocka_unit_test(golden_bytes),
        cmocka_unit_test(no_data),
        cmocka_unit_test(every_bit_flip),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_zeroed_tail),
        cmocka_unit_test(every_randomised_tail),
        cmocka_unit_test(paddings),
        cmocka_unit_test(padding_of_other_bytes),
        cmocka_unit_test(concatenations),
        cmocka_unit_test(end_mark_alone),
        cmocka_unit_test(other_versions),
        cmocka_unit_test(forged_fields),
        cmocka_unit_test(problems_name_the_field),
        cmocka_unit_test(foreign_identities),
        cmocka_unit_test(trailer_alone),
        cmocka_unit_test(mutations_against_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
