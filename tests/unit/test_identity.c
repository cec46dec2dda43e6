#include "check.h"

#include "cache/identity.h"
#include "sample.h"

/* The fields in their order, told apart by where they lie. */
static const struct {
    const char *name;
    size_t offset;
    size_t size;
} fields[] = {
    {"vendorID", offsetof(struct cache_identity, vendor_id), 4},
    {"deviceID", offsetof(struct cache_identity, device_id), 4},
    {"driverVersion", offsetof(struct cache_identity, driver_version), 4},
    {"driverID", offsetof(struct cache_identity, driver_id), 4},
    {"pipelineCacheUUID", offsetof(struct cache_identity, cache_uuid), 16},
    {"ABI", offsetof(struct cache_identity, abi), 4},
    {"driverName", offsetof(struct cache_identity, driver_name), 256},
    {"driverInfo", offsetof(struct cache_identity, driver_info), 256},
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static void flip(struct cache_identity *identity, size_t field, size_t bit)
{
    ((uint8_t *)identity)[fields[field].offset + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void every_bit_makes_another_identity(void **state)
{
    struct cache_identity a = sample_identity(), b = a;
    struct hash128 hash = identity_hash(&a), other;
    char problem[128];

    (void)state;
    assert_null(identity_difference(&a, &b));
    for (size_t field = 0; field < FIELD_COUNT; field++) {
        for (size_t bit = 0; bit < fields[field].size * 8; bit++) {
            flip(&b, field, bit);
            check(identity_difference(&a, &b) == identity_difference(&b, &a), "%s bit %zu",
                  fields[field].name, bit);
            assert_string_equal(identity_difference(&a, &b), fields[field].name);
            assert_true(identity_explain(&a, &b, problem, sizeof(problem)));
            assert_memory_equal(problem, fields[field].name, strlen(fields[field].name));
            other = identity_hash(&b);
            check(!hash128_equal(&hash, &other), "%s bit %zu", fields[field].name, bit);
            flip(&b, field, bit);
        }
    }
}

static void first_difference_is_named(void **state)
{
    struct cache_identity a = sample_identity();

    (void)state;
    for (size_t first = 0; first < FIELD_COUNT; first++) {
        struct cache_identity b = a;

        for (size_t field = first; field < FIELD_COUNT; field++)
            flip(&b, field, 3);
        b.build_id[0] ^= 1;
        assert_string_equal(identity_difference(&a, &b), fields[first].name);
    }
}

static void build_id_counts_where_both_have_one(void **state)
{
    struct cache_identity a = sample_identity(), b = a;
    struct hash128 hash = identity_hash(&a), other;

    (void)state;
    b.build_id[19] ^= 1;
    assert_string_equal(identity_difference(&a, &b), "driver build ID");
    other = identity_hash(&b);
    assert_true(hash128_equal(&hash, &other));

    b = a;
    b.build_id_size = 19;
    b.build_id[19] = 0;
    assert_string_equal(identity_difference(&a, &b), "driver build ID");

    b = a;
    b.build_id_size = 0;
    memset(b.build_id, 0, sizeof(b.build_id));
    assert_null(identity_difference(&a, &b));
    assert_null(identity_difference(&b, &a));
    other = identity_hash(&b);
    assert_true(hash128_equal(&hash, &other));
}

static void explanations(void **state)
{
    struct cache_identity a = sample_identity(), b;
    char problem[128] = "untouched";

    (void)state;
    assert_false(identity_explain(&a, &a, problem, sizeof(problem)));
    assert_string_equal(problem, "untouched");

    b = a;
    b.vendor_id = 0x1002;
    assert_true(identity_explain(&a, &b, problem, sizeof(problem)));
    assert_string_equal(problem, "vendorID: 0x10de expected, 0x1002 found");

    b = a;
    b.cache_uuid[0] = 0;
    assert_true(identity_explain(&a, &b, problem, sizeof(problem)));
    assert_string_equal(problem, "pipelineCacheUUID: d0d1d2d30405060708090a0b0c0d0edf expected, "
                                 "00d1d2d30405060708090a0b0c0d0edf found");

    b = a;
    memset(b.driver_info, 'x', sizeof(b.driver_info) - 1);
    assert_true(identity_explain(&a, &b, problem, sizeof(problem)));
    assert_string_equal(problem, "driverInfo: \"580.159.01\" expected, "
                                 "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" found");

    b = a;
    b.build_id_size = 2;
    assert_true(identity_explain(&b, &a, problem, sizeof(problem)));
    assert_string_equal(problem,
                        "driver build ID: 0102 expected, 0102030405060708090a0b0c0d0e0f1011121314 found");
}

/* Where both values are as long as they get the message must still be whole. */
static void longest_explanations_fit(void **state)
{
    struct cache_identity a = sample_identity(), b = a;
    char problem[128];

    (void)state;
    memset(a.driver_info, 'a', sizeof(a.driver_info) - 1);
    memset(b.driver_info, 'b', sizeof(b.driver_info) - 1);
    assert_true(identity_explain(&a, &b, problem, sizeof(problem)));
    assert_string_equal(problem + strlen(problem) - strlen("\" found"), "\" found");

    b = a;
    a.build_id_size = IDENTITY_BUILD_ID_SIZE;
    b.build_id_size = IDENTITY_BUILD_ID_SIZE;
    b.build_id[0] ^= 1;
    assert_true(identity_explain(&a, &b, problem, sizeof(problem)));
    assert_string_equal(problem + strlen(problem) - strlen(" found"), " found");
}

/* C22: a 32-bit and a 64-bit process never share, whatever the driver's UUID. */
static void abi_of_this_build(void **state)
{
    struct cache_identity a = sample_identity(), b = a;
    char directory_a[IDENTITY_DIRECTORY_SIZE], directory_b[IDENTITY_DIRECTORY_SIZE];

    (void)state;
    assert_int_equal(identity_abi() & 0xffff, sizeof(void *) * 8);
    assert_int_not_equal(identity_abi() >> 16, 0);

    a.abi = 62u << 16 | 64;
    b.abi = 3u << 16 | 32;
    assert_string_equal(identity_difference(&a, &b), "ABI");
    identity_directory(&a, directory_a);
    identity_directory(&b, directory_b);
    assert_string_not_equal(directory_a, directory_b);
}

/* Stores on disk are found by this name: it may only change together with ENVELOPE_VERSION. */
static void directory_name_is_stable(void **state)
{
    struct cache_identity identity = sample_identity();
    char directory[IDENTITY_DIRECTORY_SIZE];

    (void)state;
    identity_directory(&identity, directory);
    assert_string_equal(directory, "10de-2335-f5707c04b69638e4");

    identity.vendor_id = 0x10005;
    identity.device_id = 0;
    identity_directory(&identity, directory);
    assert_memory_equal(directory, "10005-0000-", strlen("10005-0000-"));
    assert_int_equal(strlen(directory), strlen("10005-0000-") + 16);

    identity.vendor_id = UINT32_MAX;
    identity.device_id = UINT32_MAX;
    identity_directory(&identity, directory);
    assert_int_equal(strlen(directory), strlen("ffffffff-ffffffff-") + 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_makes_another_identity),
        cmocka_unit_test(first_difference_is_named),
        cmocka_unit_test(build_id_counts_where_both_have_one),
        cmocka_unit_test(explanations),
        cmocka_unit_test(longest_explanations_fit),
        cmocka_unit_test(abi_of_this_build),
        cmocka_unit_test(directory_name_is_stable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
