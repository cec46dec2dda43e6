#include "check.h"

#include <sys/mman.h>

#include "model_policy.h"
#include "sample.h"

#define NOW 1700000000
#define PAYLOAD_SIZE 100
#define SEALED_SIZE (PAYLOAD_SIZE + ENVELOPE_SIZE)

static const enum raw_blobs all_raw_blobs[] = {RAW_BLOBS_AUTO, RAW_BLOBS_ACCEPT, RAW_BLOBS_REJECT};

/* One device, one blob of its driver in an envelope, and the ledger of an application that it left through.
 */
struct fixture {
    struct cache_identity self;
    struct ledger ledger;
    struct ledger no_ledger;
    struct hash128 payload_hash;
    uint8_t blob[2 * SEALED_SIZE + ENVELOPE_MAX_PADDING + ENVELOPE_SIZE];
};

static void seal_again(struct fixture *fixture)
{
    fixture->payload_hash = hash128_of(fixture->blob, PAYLOAD_SIZE);
    sample_seal(fixture->blob, PAYLOAD_SIZE, &fixture->self);
}

static void init(struct fixture *fixture)
{
    struct random random = random_from(7);

    memset(fixture, 0, sizeof(*fixture));
    fixture->self = sample_identity();
    sample_payload(fixture->blob, PAYLOAD_SIZE, &fixture->self, &random);
    seal_again(fixture);
    ledger_add_left(&fixture->ledger, PAYLOAD_SIZE, &fixture->payload_hash);
}

/* Judges a copy that ends where its allocation ends, so that a sanitizer sees any read beyond it. */
static struct policy_decision judge_with(const struct fixture *fixture, size_t size, enum raw_blobs raw_blobs,
                                         const struct ledger *ledger)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct policy_decision decision;

    assert_non_null(copy);
    if (size)
        memcpy(copy, fixture->blob, size);
    decision = policy_judge(copy, size, &fixture->self, raw_blobs, ledger, NOW);
    free(copy);
    return decision;
}

static struct policy_decision judge(const struct fixture *fixture, size_t size)
{
    return judge_with(fixture, size, RAW_BLOBS_AUTO, &fixture->ledger);
}

static void expect_rejected(struct policy_decision decision, enum policy_reason reason, const char *problem)
{
    assert_string_equal(policy_reason_name(decision.reason), policy_reason_name(reason));
    assert_string_equal(decision.problem, problem);
    assert_int_equal(decision.action, POLICY_EMPTY);
}

static void expect_handed_down(struct policy_decision decision, enum policy_action action, size_t size)
{
    assert_string_equal(policy_reason_name(decision.reason), "ok");
    assert_string_equal(decision.problem, "");
    assert_int_equal(decision.action, action);
    assert_int_equal(decision.payload_size, size);
}

/* C01. */
static void size_zero_is_never_read(void **state)
{
    struct fixture fixture;
    void *wild[] = {NULL, (void *)1, (void *)UINTPTR_MAX, NULL};
    void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(page != MAP_FAILED);
    wild[3] = page;
    init(&fixture);
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        for (size_t raw = 0; raw < 3; raw++)
            expect_rejected(policy_judge(wild[i], 0, &fixture.self, all_raw_blobs[raw], &fixture.ledger, NOW),
                            POLICY_NO_DATA, "");
    }
    munmap(page, 4096);
}

static void valid_envelope(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    for (size_t raw = 0; raw < 3; raw++) {
        /* The envelope is enough, whatever the ledger knows. */
        const struct ledger *ledgers[] = {&fixture.ledger, &fixture.no_ledger};

        for (size_t i = 0; i < 2; i++) {
            struct policy_decision decision =
                judge_with(&fixture, SEALED_SIZE, all_raw_blobs[raw], ledgers[i]);

            expect_handed_down(decision, POLICY_PAYLOAD, PAYLOAD_SIZE);
            assert_true(hash128_equal(&decision.payload_hash, &fixture.payload_hash));
            assert_false(decision.proven);
        }
    }
    expect_handed_down(judge(&fixture, SEALED_SIZE + ENVELOPE_MAX_PADDING), POLICY_PAYLOAD, PAYLOAD_SIZE);
    expect_rejected(judge(&fixture, SEALED_SIZE + ENVELOPE_MAX_PADDING + 1), POLICY_RAW_UNKNOWN,
                    "envelope: one expected behind 4837 bytes that never left through the layer, none found");
}

static void proven_data(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    ledger_add_proven(&fixture.ledger, &fixture.payload_hash);
    assert_true(judge(&fixture, SEALED_SIZE).proven);
    assert_true(judge(&fixture, PAYLOAD_SIZE).proven);
}

/* C02. */
static void every_flipped_bit(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    for (size_t bit = 0; bit < SEALED_SIZE * 8; bit++) {
        for (size_t raw = 0; raw < 3; raw++) {
            struct policy_decision decision;

            fixture.blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
            decision = judge_with(&fixture, SEALED_SIZE, all_raw_blobs[raw], &fixture.no_ledger);
            check(decision.action == POLICY_EMPTY && decision.reason == POLICY_CORRUPT, "bit %zu", bit);
            check(decision.problem[0] != '\0', "bit %zu", bit);
            fixture.blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* C40, first part. A cut at exactly the payload's length leaves what left through the layer: whole data. */
static void cut_at_every_length(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    for (size_t size = 1; size < SEALED_SIZE; size++) {
        struct policy_decision decision = judge(&fixture, size);

        if (size == PAYLOAD_SIZE) {
            expect_handed_down(decision, POLICY_RAW, PAYLOAD_SIZE);
            assert_true(hash128_equal(&decision.payload_hash, &fixture.payload_hash));
            continue;
        }
        check(decision.action == POLICY_EMPTY, "%zu bytes", size);
        check(decision.reason == (size < 32    ? POLICY_TOO_SHORT
                                  : size == 32 ? POLICY_HOLLOW
                                               : POLICY_RAW_UNKNOWN),
              "%zu bytes: %s", size, policy_reason_name(decision.reason));
    }
}

/* C40, second part: the tail zeroed, and randomised, from every length; both with and without padding. */
static void damaged_tail_from_every_length(void **state)
{
    struct random random = random_from(random_seed());
    struct fixture fixture;

    (void)state;
    for (size_t from = 0; from < SEALED_SIZE; from++) {
        for (int kind = 0; kind < 4; kind++) {
            size_t size = SEALED_SIZE + (kind & 1 ? 1 + random_below(&random, 200) : 0);
            struct policy_decision decision;
            uint8_t before;

            init(&fixture);
            before = fixture.blob[from];
            if (kind < 2) {
                memset(fixture.blob + from, 0, SEALED_SIZE - from);
            } else {
                random_fill(&random, fixture.blob + from, SEALED_SIZE - from);
                fixture.blob[from] = (uint8_t)(before + 1);
            }
            decision = judge(&fixture, size);
            check(decision.action == POLICY_EMPTY, "kind %d from %zu", kind, from);
            check(from < PAYLOAD_SIZE + 8 || decision.reason == POLICY_CORRUPT, "kind %d from %zu", kind,
                  from);
        }
    }
}

/* C40, third part: bits of the header, of an enveloped and of a raw blob that is in the ledger. */
static void flipped_header_bits(void **state)
{
    static const size_t sizes[] = {PAYLOAD_SIZE, SEALED_SIZE, SEALED_SIZE + 10};
    struct fixture fixture;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t bit = 0; bit < 32 * 8; bit++) {
            struct policy_decision decision;

            init(&fixture);
            fixture.blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
            decision = judge_with(&fixture, sizes[i], RAW_BLOBS_ACCEPT, &fixture.ledger);
            check(decision.action == POLICY_EMPTY, "size %zu bit %zu", sizes[i], bit);
            if (sizes[i] == PAYLOAD_SIZE)
                check(decision.reason == (bit < 64 ? POLICY_HEADER_DAMAGED : POLICY_HEADER_FOREIGN),
                      "bit %zu", bit);
            else
                check(decision.reason == POLICY_CORRUPT, "bit %zu", bit);
        }
    }
}

/* C40, last part. */
static void concatenated_blobs(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    memcpy(fixture.blob + SEALED_SIZE, fixture.blob, SEALED_SIZE);
    expect_rejected(judge(&fixture, 2 * SEALED_SIZE), POLICY_CORRUPT,
                    "payload size: 100 bytes expected, 840 found");
    /* And sealed as one. */
    sample_seal(fixture.blob, 2 * SEALED_SIZE, &fixture.self);
    expect_rejected(judge(&fixture, 2 * SEALED_SIZE + ENVELOPE_SIZE), POLICY_CORRUPT,
                    "envelope: one expected, a second one found inside the payload");
    /* The payload twice. */
    init(&fixture);
    memcpy(fixture.blob + PAYLOAD_SIZE, fixture.blob, PAYLOAD_SIZE);
    assert_int_equal(judge(&fixture, 2 * PAYLOAD_SIZE).reason, POLICY_RAW_UNKNOWN);
}

/* C05, and what else is too little to be a header. */
static void no_header(void **state)
{
    struct fixture fixture;

    (void)state;
    for (size_t raw = 0; raw < 3; raw++) {
        init(&fixture);
        expect_rejected(judge_with(&fixture, 1, all_raw_blobs[raw], &fixture.no_ledger), POLICY_TOO_SHORT,
                        "size: 32 bytes or more expected, 1 found");
        expect_rejected(judge_with(&fixture, 8, all_raw_blobs[raw], &fixture.no_ledger), POLICY_TOO_SHORT,
                        "size: 32 bytes or more expected, 8 found");
        expect_rejected(judge_with(&fixture, 31, all_raw_blobs[raw], &fixture.no_ledger), POLICY_TOO_SHORT,
                        "size: 32 bytes or more expected, 31 found");
        bytes_put_u32(fixture.blob + 4, 0);
        for (size_t size = 8; size <= PAYLOAD_SIZE; size++)
            expect_rejected(judge_with(&fixture, size, all_raw_blobs[raw], &fixture.no_ledger),
                            POLICY_HEADER_DAMAGED, "headerVersion: 1 expected, 0 found");
        memset(fixture.blob, 0, PAYLOAD_SIZE);
        expect_rejected(judge_with(&fixture, PAYLOAD_SIZE, all_raw_blobs[raw], &fixture.no_ledger),
                        POLICY_HEADER_DAMAGED, "headerVersion: 1 expected, 0 found");
    }
}

static void header_size_other_than_32(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    bytes_put_u32(fixture.blob, 33);
    expect_rejected(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_ACCEPT, &fixture.no_ledger),
                    POLICY_HEADER_DAMAGED, "headerSize: 32 expected, 33 found");
    assert_false(policy_header_matches(fixture.blob, PAYLOAD_SIZE, &fixture.self));
}

/* A header whose layout the driver may know. */
static void put_other_version(struct fixture *fixture, uint32_t header_size, uint32_t version)
{
    init(fixture);
    memset(fixture->blob, 0x5a, PAYLOAD_SIZE);
    bytes_put_u32(fixture->blob, header_size);
    bytes_put_u32(fixture->blob + 4, version);
}

static void unknown_header_versions(void **state)
{
    static const uint32_t plausible[] = {2, 3, 1000, 1000000000, 1000298001, 1000629000, 1000999999};
    static const uint32_t implausible[] = {0, 1001, 0x01000000, 999999999, 1001000000, UINT32_MAX};
    struct fixture fixture;
    char problem[128];

    (void)state;
    for (size_t i = 0; i < sizeof(plausible) / sizeof(plausible[0]); i++) {
        for (size_t size = 8; size <= PAYLOAD_SIZE; size++) {
            put_other_version(&fixture, size % 2 ? 28 : 32, plausible[i]);
            expect_handed_down(judge_with(&fixture, size, all_raw_blobs[size % 3], &fixture.ledger),
                               POLICY_UNTOUCHED, 0);
        }
        expect_rejected(judge(&fixture, 7), POLICY_TOO_SHORT, "size: 32 bytes or more expected, 7 found");
    }
    for (size_t i = 0; i < sizeof(implausible) / sizeof(implausible[0]); i++) {
        put_other_version(&fixture, 28, implausible[i]);
        snprintf(problem, sizeof(problem), "headerVersion: 1 expected, %u found", implausible[i]);
        expect_rejected(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_ACCEPT, &fixture.no_ledger),
                        POLICY_HEADER_DAMAGED, problem);
    }
}

/* One legal header has 28 bytes and, at 8, a number that may be anybody's vendor ID. */
static void unknown_header_of_another_size_is_never_ours(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    bytes_put_u32(fixture.blob, 28);
    bytes_put_u32(fixture.blob + 4, 1000629000);
    expect_handed_down(judge(&fixture, PAYLOAD_SIZE), POLICY_UNTOUCHED, 0);
}

static void damaged_version_of_our_own_header(void **state)
{
    struct fixture fixture;
    const char *problem = "headerVersion: 1 expected, 3 found";

    (void)state;
    put_other_version(&fixture, 32, 3);
    bytes_put_u32(fixture.blob + 8, fixture.self.vendor_id);
    expect_rejected(judge(&fixture, PAYLOAD_SIZE), POLICY_HEADER_DAMAGED, problem);
    expect_rejected(judge(&fixture, 12), POLICY_HEADER_DAMAGED, problem);
    expect_handed_down(judge(&fixture, 11), POLICY_UNTOUCHED, 0);

    put_other_version(&fixture, 32, 3);
    bytes_put_u32(fixture.blob + 12, fixture.self.device_id);
    expect_rejected(judge(&fixture, 16), POLICY_HEADER_DAMAGED, problem);
    expect_handed_down(judge(&fixture, 15), POLICY_UNTOUCHED, 0);

    put_other_version(&fixture, 32, 3);
    memcpy(fixture.blob + 16, fixture.self.cache_uuid, 16);
    expect_rejected(judge(&fixture, 32), POLICY_HEADER_DAMAGED, problem);
    expect_handed_down(judge(&fixture, 31), POLICY_UNTOUCHED, 0);
}

/* lavapipe's device ID is 0 and some UUIDs are: zeros prove nothing. */
static void zeros_are_nobodys(void **state)
{
    struct fixture fixture;

    (void)state;
    put_other_version(&fixture, 32, 3);
    fixture.self.device_id = 0;
    memset(fixture.self.cache_uuid, 0, 16);
    memset(fixture.blob + 12, 0, 20);
    expect_handed_down(judge(&fixture, PAYLOAD_SIZE), POLICY_UNTOUCHED, 0);
}

/* Sealed by this layer, so the header was the driver's: where it isn't, something went wrong before the seal.
 */
static void valid_envelope_around_a_wrong_header(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    fixture.blob[8] ^= 1;
    seal_again(&fixture);
    expect_rejected(judge(&fixture, SEALED_SIZE), POLICY_CORRUPT, "vendorID: 0x10de expected, 0x10df found");

    for (size_t payload_size = 0; payload_size < 32; payload_size++) {
        init(&fixture);
        sample_seal(fixture.blob, payload_size, &fixture.self);
        assert_int_equal(judge(&fixture, payload_size + ENVELOPE_SIZE).reason, POLICY_CORRUPT);
    }
}

/* C06, C22: another driver version, another ABI. */
static void foreign_envelopes(void **state)
{
    struct fixture fixture;

    (void)state;
    init(&fixture);
    fixture.self.driver_version++;
    expect_rejected(judge(&fixture, SEALED_SIZE), POLICY_FOREIGN,
                    "driverVersion: 0x91278541 expected, 0x91278540 found");
    init(&fixture);
    fixture.self.abi = 3u << 16 | 32;
    expect_rejected(judge(&fixture, SEALED_SIZE), POLICY_FOREIGN, "ABI: 0x30020 expected, 0x3e0040 found");
    init(&fixture);
    fixture.self.build_id[3] = 0;
    assert_int_equal(judge(&fixture, SEALED_SIZE).reason, POLICY_FOREIGN);
}

/* C23: the header of a driver whose UUID is zero says nothing about its version, the envelope does. */
static void uuid_of_zeros(void **state)
{
    struct fixture fixture;
    struct random random = random_from(3);

    (void)state;
    init(&fixture);
    memset(fixture.self.cache_uuid, 0, 16);
    sample_payload(fixture.blob, PAYLOAD_SIZE, &fixture.self, &random);
    seal_again(&fixture);
    expect_handed_down(judge(&fixture, SEALED_SIZE), POLICY_PAYLOAD, PAYLOAD_SIZE);
    for (int field = 0; field < 4; field++) {
        struct fixture updated = fixture;

        updated.self.driver_version += field == 0;
        updated.self.driver_id += field == 1;
        updated.self.driver_name[0] = field == 2 ? 'X' : updated.self.driver_name[0];
        updated.self.driver_info[0] = field == 3 ? 'X' : updated.self.driver_info[0];
        assert_int_equal(judge(&updated, SEALED_SIZE).reason, POLICY_FOREIGN);
    }
}

static void newer_envelope(void **state)
{
    struct fixture fixture;
    uint8_t *trailer = fixture.blob + PAYLOAD_SIZE;

    (void)state;
    init(&fixture);
    bytes_put_u32(trailer + 8, 2);
    bytes_put_u64(trailer + 624, hash64_of(trailer, 624));
    expect_rejected(judge(&fixture, SEALED_SIZE), POLICY_NEWER_ENVELOPE,
                    "envelope version: 1 expected, 2 found");
}

/* C30: a blob from before the layer came, or from an application that the ledger knows nothing of. */
static void raw_blobs(void **state)
{
    const char *problem =
        "envelope: one expected behind 100 bytes that never left through the layer, none found";
    struct fixture fixture;

    (void)state;
    init(&fixture);
    expect_handed_down(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_AUTO, &fixture.no_ledger), POLICY_RAW,
                       PAYLOAD_SIZE);
    expect_handed_down(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_AUTO, &fixture.ledger), POLICY_RAW,
                       PAYLOAD_SIZE);
    expect_rejected(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_REJECT, &fixture.ledger), POLICY_RAW_UNKNOWN,
                    "envelope: one expected behind 100 bytes, none found");

    fixture.blob[50] ^= 1;
    expect_rejected(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_AUTO, &fixture.ledger), POLICY_RAW_UNKNOWN,
                    problem);
    expect_handed_down(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_ACCEPT, &fixture.ledger), POLICY_RAW,
                       PAYLOAD_SIZE);

    /* What else the ledger knows of the data doesn't make it ours. */
    struct hash128 hash = hash128_of(fixture.blob, PAYLOAD_SIZE);

    ledger_add_proven(&fixture.ledger, &hash);
    expect_rejected(judge_with(&fixture, PAYLOAD_SIZE, RAW_BLOBS_AUTO, &fixture.ledger), POLICY_RAW_UNKNOWN,
                    problem);
}

/* C39: copies of the header and nothing else, in an envelope or not. */
static void hollow_data(void **state)
{
    struct fixture fixture;
    char problem[128];

    (void)state;
    for (size_t copies = 1; copies <= 12; copies++) {
        size_t size = copies * 32;

        init(&fixture);
        for (size_t i = 0; i < copies; i++)
            sample_header(fixture.blob + i * 32, &fixture.self);
        snprintf(problem, sizeof(problem),
                 "payload: data behind the header expected, %zu equal headers found", copies);
        for (size_t raw = 0; raw < 3; raw++)
            expect_rejected(judge_with(&fixture, size, all_raw_blobs[raw], &fixture.no_ledger), POLICY_HOLLOW,
                            problem);
        sample_seal(fixture.blob, size, &fixture.self);
        expect_rejected(judge(&fixture, size + ENVELOPE_SIZE), POLICY_HOLLOW, problem);

        /* One byte more, or one that differs, is data. */
        expect_handed_down(judge_with(&fixture, size + 1, RAW_BLOBS_ACCEPT, &fixture.no_ledger), POLICY_RAW,
                           size + 1);
        if (copies > 1) {
            fixture.blob[size - 1] ^= 1;
            expect_handed_down(judge_with(&fixture, size, RAW_BLOBS_ACCEPT, &fixture.no_ledger), POLICY_RAW,
                               size);
        }
    }
}

static void quarantined_data(void **state)
{
    struct fixture fixture;
    struct ledger died, rejected;
    struct policy_decision decision;

    (void)state;
    init(&fixture);
    died = rejected = fixture.ledger;
    ledger_add_death(&died, &fixture.payload_hash, NOW - 100);
    expect_handed_down(judge_with(&fixture, SEALED_SIZE, RAW_BLOBS_AUTO, &died), POLICY_PAYLOAD,
                       PAYLOAD_SIZE);
    ledger_add_death(&died, &fixture.payload_hash, NOW - 50);
    ledger_add_rejected(&rejected, &fixture.payload_hash, NOW);

    decision = judge_with(&fixture, SEALED_SIZE, RAW_BLOBS_AUTO, &died);
    assert_int_equal(decision.reason, POLICY_QUARANTINED);
    assert_int_equal(decision.action, POLICY_EMPTY);
    assert_true(hash128_equal(&decision.payload_hash, &fixture.payload_hash));
    assert_non_null(strstr(decision.problem, "expected, one that killed it found"));
    decision = judge_with(&fixture, SEALED_SIZE, RAW_BLOBS_AUTO, &rejected);
    assert_non_null(strstr(decision.problem, "expected, one that it rejected found"));

    for (size_t raw = 0; raw < 2; raw++)
        assert_int_equal(judge_with(&fixture, PAYLOAD_SIZE, all_raw_blobs[raw], &died).reason,
                         POLICY_QUARANTINED);

    decision = policy_judge(fixture.blob, SEALED_SIZE, &fixture.self, RAW_BLOBS_AUTO, &died,
                            NOW - 50 + LEDGER_QUARANTINE_SECONDS);
    expect_handed_down(decision, POLICY_PAYLOAD, PAYLOAD_SIZE);
    assert_false(decision.proven);
}

/* C37: what an application checks stands where it looks for it, envelope or not. */
static void header_stands_first(void **state)
{
    struct fixture fixture;
    uint8_t header[32];

    (void)state;
    init(&fixture);
    sample_header(header, &fixture.self);
    assert_memory_equal(fixture.blob, header, 32);
    assert_true(policy_header_matches(fixture.blob, SEALED_SIZE, &fixture.self));
    assert_true(policy_header_matches(fixture.blob, 32, &fixture.self));
    assert_false(policy_header_matches(fixture.blob, 31, &fixture.self));
    assert_false(policy_header_matches(NULL, 0, &fixture.self));
    for (size_t bit = 0; bit < 32 * 8; bit++) {
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(policy_header_matches(header, 32, &fixture.self));
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void every_reason_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < POLICY_REASON_COUNT; a++) {
        assert_non_null(policy_reason_name((enum policy_reason)a));
        for (int b = 0; b < a; b++)
            assert_string_not_equal(policy_reason_name((enum policy_reason)a),
                                    policy_reason_name((enum policy_reason)b));
    }
}

static void random_blobs_against_the_model(void **state)
{
    struct random random = random_from(random_seed());
    size_t seen[4] = {0};

    (void)state;
    for (size_t round = 0; round < 30000; round++) {
        static struct fixture fixture;
        size_t payload_size = 32 * (1 + random_below(&random, 3)) + random_below(&random, 2);
        enum raw_blobs raw_blobs = all_raw_blobs[random_below(&random, 3)];
        struct policy_decision decision;
        struct hash128 hash;
        size_t size = payload_size;

        init(&fixture);
        for (size_t i = 0; i < payload_size; i += 32)
            sample_header(fixture.blob + i, &fixture.self);
        if (random_below(&random, 4))
            random_fill(&random, fixture.blob + 32, payload_size - 32);
        if (random_below(&random, 6) == 0)
            bytes_put_u32(fixture.blob + 4, 2);
        if (random_below(&random, 6) == 0)
            random_fill(&random, fixture.blob + 8, 24);
        if (random_below(&random, 3))
            fixture.ledger = fixture.no_ledger;
        hash = hash128_of(fixture.blob, payload_size);
        if (random_below(&random, 3) == 0)
            ledger_add_left(&fixture.ledger, payload_size, &hash);
        if (random_below(&random, 6) == 0)
            ledger_add_rejected(&fixture.ledger, &hash, NOW);
        if (random_below(&random, 2))
            size = sample_seal(fixture.blob, payload_size, &fixture.self) + random_below(&random, 3);
        if (random_below(&random, 4) == 0)
            fixture.blob[random_below(&random, size)] ^= (uint8_t)(1u << random_below(&random, 8));
        if (random_below(&random, 6) == 0)
            size = 1 + random_below(&random, size);

        decision = judge_with(&fixture, size, raw_blobs, &fixture.ledger);
        check(decision.action ==
                  model_action(fixture.blob, size, &fixture.self, raw_blobs, &fixture.ledger, NOW),
              "round %zu, size %zu: %s (%s)", round, size, policy_reason_name(decision.reason),
              decision.problem);
        check((decision.action == POLICY_EMPTY) == (decision.reason != POLICY_OK), "round %zu", round);
        check((decision.action == POLICY_EMPTY) == (decision.problem[0] != '\0'), "round %zu", round);
        seen[decision.action]++;
    }
    for (size_t action = 0; action < 4; action++)
        assert_true(seen[action] > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_zero_is_never_read),
        cmocka_unit_test(valid_envelope),
        cmocka_unit_test(proven_data),
        cmocka_unit_test(every_flipped_bit),
        cmocka_unit_test(cut_at_every_length),
        cmocka_unit_test(damaged_tail_from_every_length),
        cmocka_unit_test(flipped_header_bits),
        cmocka_unit_test(concatenated_blobs),
        cmocka_unit_test(no_header),
        cmocka_unit_test(header_size_other_than_32),
        cmocka_unit_test(unknown_header_versions),
        cmocka_unit_test(unknown_header_of_another_size_is_never_ours),
        cmocka_unit_test(damaged_version_of_our_own_header),
        cmocka_unit_test(zeros_are_nobodys),
        cmocka_unit_test(valid_envelope_around_a_wrong_header),
        cmocka_unit_test(foreign_envelopes),
        cmocka_unit_test(uuid_of_zeros),
        cmocka_unit_test(newer_envelope),
        cmocka_unit_test(raw_blobs),
        cmocka_unit_test(hollow_data),
        cmocka_unit_test(quarantined_data),
        cmocka_unit_test(header_stands_first),
        cmocka_unit_test(every_reason_has_a_name_of_its_own),
        cmocka_unit_test(random_blobs_against_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
