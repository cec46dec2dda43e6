/* What reaches the driver of the data that an application hands to vkCreatePipelineCache. The driver's
 * journal is the witness. */
#include "cache_app.h"

#include "cache/envelope.h"

#define HEADER_SIZE 32
#define PIPELINES 3

/* The application's own file with its cache data, kept from run to run. */
#define BLOB "blob"

static void save_blob(const struct bytes *blob)
{
    file_write(scratch_path(BLOB), blob->data, blob->size);
}

/* A run that compiles PIPELINES pipelines from number `*context` on with a cache of its own, and saves its
 * data. */
static void run_that_saves(void *context)
{
    const uint32_t *first = context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, *first, PIPELINES);
    struct bytes blob = app_cache_data(&app, cache);
    save_blob(&blob);
    bytes_finish(&blob);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void make_blob(uint32_t first)
{
    run_complete(run_that_saves, &first);
}

/* In a run: enveloped data of PIPELINES pipelines. */
static struct bytes make_data(const struct app *app)
{
    VkPipelineCache cache = app_cache_empty(app);
    app_compile(app, cache, 0, PIPELINES);
    struct bytes data = app_cache_data(app, cache);
    app_cache_destroy(app, cache);
    return data;
}

static void offer(const struct app *app, const void *data, size_t size)
{
    app_cache_destroy(app, app_cache(app, data, size));
}

static void check_refused(const struct app *app, const void *data, size_t size, const char *what, size_t at)
{
    offer(app, data, size);
    CHECK_SAY(driver_saw_no_data(), "%s at %zu of %zu: it reached the driver", what, at, size);
}

/* --- C01, C05, C37: what needs no blob of the layer's --- */

static void run_wild_pointer(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    offer(&app, (const void *)(uintptr_t)16, 0);
    CHECK(driver_saw_no_data());
    app_close(&app);
}

static void test_c01_wild_pointer_with_size_zero(void **state)
{
    (void)state;
    run_complete(run_wild_pointer, NULL);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
}

static void run_scraps(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    offer(&app, data.data, 0);
    CHECK(driver_saw_no_data());
    for (size_t size = 1; size < HEADER_SIZE; size++)
        check_refused(&app, data.data, size, "the beginning of a header", size);
    unsigned char header[HEADER_SIZE];
    memcpy(header, data.data, HEADER_SIZE);
    header[4] = 0;
    check_refused(&app, header, HEADER_SIZE, "version 0", 4);
    check_refused(&app, header, 8, "version 0", 4);
    memset(header, 0, sizeof(header));
    check_refused(&app, header, HEADER_SIZE, "zeros", 0);
    bytes_finish(&data);
    app_close(&app);
}

static void test_c05_scraps_are_ignored(void **state)
{
    (void)state;
    run_complete(run_scraps, NULL);
}

static void run_other_header_version(void *context)
{
    (void)context;
    struct app app;
    uint32_t data[16] = {28, 1000629000, 17, 18, 19};
    app_open(&app);
    offer(&app, data, sizeof(data));
    CHECK(driver_saw_data(data, sizeof(data)));
    app_close(&app);
}

static void test_c05_a_header_version_of_somebody_else_passes_untouched(void **state)
{
    (void)state;
    run_complete(run_other_header_version, NULL);
}

static void run_header_compare(void *context)
{
    (void)context;
    struct app app;
    VkPipelineCacheHeaderVersionOne header;
    app_open(&app);
    struct bytes data = make_data(&app);
    memcpy(&header, data.data, sizeof(header));
    CHECK_EQUAL(header.headerSize, HEADER_SIZE);
    CHECK_EQUAL(header.headerVersion, VK_PIPELINE_CACHE_HEADER_VERSION_ONE);
    CHECK_EQUAL(header.vendorID, app.properties.vendorID);
    CHECK_EQUAL(header.deviceID, app.properties.deviceID);
    CHECK(memcmp(header.pipelineCacheUUID, app.properties.pipelineCacheUUID, VK_UUID_SIZE) == 0);
    bytes_finish(&data);
    app_close(&app);
}

static void test_c37_header_is_the_devices(void **state)
{
    (void)state;
    run_complete(run_header_compare, NULL);
}

/* --- C02, C40: damage --- */

static void run_whole(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    offer(&app, data.data, data.size);
    CHECK(driver_saw_data(data.data, data.size - ENVELOPE_SIZE));
    bytes_finish(&data);
    app_close(&app);
}

static void test_c40_whole_blob_arrives_without_its_envelope(void **state)
{
    (void)state;
    run_complete(run_whole, NULL);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
}

static void run_flips(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    for (size_t i = 0; i < data.size; i++) {
        unsigned char mask = (unsigned char)(1u << (i % 8));
        data.data[i] ^= mask;
        check_refused(&app, data.data, data.size, "a flipped bit", i);
        data.data[i] ^= mask;
    }
    for (size_t i = 0; i < 8; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            data.data[i] ^= (unsigned char)(1u << bit);
            check_refused(&app, data.data, data.size, "a flipped bit", i);
            data.data[i] ^= (unsigned char)(1u << bit);
        }
    bytes_finish(&data);
    app_close(&app);
}

static void test_c02_c40_every_flipped_byte_is_refused(void **state)
{
    (void)state;
    run_complete(run_flips, NULL);
    CHECK(report_rejected("corrupt") > 0);
    CHECK_EQUAL(report_number("summary", "rejected"), report_count("reject", ""));
}

static void run_cuts(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    size_t payload = data.size - ENVELOPE_SIZE;
    for (size_t size = 1; size < data.size; size++) {
        /* A copy of exactly this size, so that a sanitizer sees who reads behind it. */
        struct bytes cut = bytes_copy(data.data, size);
        offer(&app, cut.data, cut.size);
        if (size == payload)
            CHECK(driver_saw_data(data.data, payload));
        else
            CHECK_SAY(driver_saw_no_data(), "cut at %zu of %zu: it reached the driver", size, data.size);
        bytes_finish(&cut);
    }
    bytes_finish(&data);
    app_close(&app);
}

static void test_c40_cut_at_every_length(void **state)
{
    (void)state;
    run_complete(run_cuts, NULL);
}

static void run_tails(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    struct bytes copy = bytes_copy(data.data, data.size);
    for (size_t from = 0; from < data.size; from++) {
        memcpy(copy.data, data.data, data.size);
        memset(copy.data + from, 0, data.size - from);
        check_refused(&app, copy.data, copy.size, "a zeroed tail", from);
        for (size_t i = from; i < data.size; i++)
            copy.data[i] = (unsigned char)(data.data[i] ^ (1 + (i * 167 + from) % 255));
        check_refused(&app, copy.data, copy.size, "a garbage tail", from);
    }
    bytes_finish(&copy);
    bytes_finish(&data);
    app_close(&app);
}

static void test_c40_tail_zeroed_or_random_from_every_length(void **state)
{
    (void)state;
    run_complete(run_tails, NULL);
}

static void run_concatenated(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    size_t size = data.size, payload = size - ENVELOPE_SIZE;
    struct bytes twice = bytes_copy(data.data, size);
    twice.data = realloc(twice.data, 2 * size);
    CHECK(twice.data != NULL);
    memcpy(twice.data + size, data.data, size);
    check_refused(&app, twice.data, 2 * size, "two whole blobs", size);
    check_refused(&app, twice.data, size + payload, "a blob, then a payload", size);
    memmove(twice.data + payload, twice.data + size, size);
    check_refused(&app, twice.data, payload + size, "a payload, then a blob", payload);
    bytes_finish(&twice);
    bytes_finish(&data);
    app_close(&app);
}

static void test_c40_two_blobs_in_one(void **state)
{
    (void)state;
    run_complete(run_concatenated, NULL);
}

static void run_padded(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes data = make_data(&app);
    size_t room = data.size + ENVELOPE_MAX_PADDING + 1;
    unsigned char *padded = calloc(1, room);
    CHECK(padded != NULL);
    memcpy(padded, data.data, data.size);
    for (size_t size = data.size; size < room; size += size % 2 ? 1 : 31) {
        offer(&app, padded, size);
        CHECK_SAY(driver_saw_data(data.data, data.size - ENVELOPE_SIZE), "with %zu zeros behind it",
                  size - data.size);
    }
    offer(&app, padded, room);
    CHECK(driver_saw_no_data());
    free(padded);
    bytes_finish(&data);
    app_close(&app);
}

static void test_c40_zeros_behind_the_envelope_do_no_harm(void **state)
{
    (void)state;
    run_complete(run_padded, NULL);
}

/* --- C06, C22, C23: another driver or device --- */

static void run_offers_blob(void *context)
{
    bool *expected = context;
    struct app app;
    app_open(&app);
    struct bytes blob = file_read(scratch_path(BLOB));
    VkPipelineCache cache = app_cache(&app, blob.data, blob.size);
    if (*expected)
        CHECK(driver_saw_data(blob.data, blob.size - ENVELOPE_SIZE));
    else
        CHECK(driver_saw_no_data());
    app_compile(&app, cache, 0, PIPELINES);
    CHECK_EQUAL(fault_cache_hits(), *expected ? PIPELINES : 0);
    app_cache_destroy(&app, cache);
    bytes_finish(&blob);
    app_close(&app);
}

static void check_blob_arrives(bool expected)
{
    run_complete(run_offers_blob, &expected);
}

static void test_c06_blob_goes_cold_with_a_new_driver_version(void **state)
{
    (void)state;
    driver_set("uuid=constant;driver_version=7");
    make_blob(0);
    check_blob_arrives(true);
    driver_set("uuid=constant;driver_version=8");
    check_blob_arrives(false);
    CHECK_EQUAL(report_rejected("foreign"), 1);
    CHECK_EQUAL(report_count("reject", "driverVersion: 0x8 expected, 0x7 found"), 1);
    driver_set("uuid=constant;driver_version=7");
    check_blob_arrives(true);
}

static void test_c23_without_a_uuid_the_other_fields_tell_drivers_apart(void **state)
{
    (void)state;
    static const char *const others[] = {
        "uuid=zero;driver_version=2",    "uuid=zero;driver_id=5",   "uuid=zero;driver_name=another",
        "uuid=zero;driver_info=another", "uuid=zero;vendor=0x1fa8", "uuid=zero;device=2",
    };
    driver_set("uuid=zero");
    make_blob(0);
    check_blob_arrives(true);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        driver_set(others[i]);
        check_blob_arrives(false);
        CHECK_EQUAL(report_rejected("foreign"), 1);
    }
    driver_set("uuid=zero");
    check_blob_arrives(true);
}

/* The blob as a process of another ABI would have saved it. */
static void test_c22_blob_of_another_abi_is_foreign(void **state)
{
    (void)state;
    make_blob(0);
    struct bytes blob = file_read(scratch_path(BLOB));
    struct envelope envelope;
    CHECK_EQUAL(envelope_open(blob.data, blob.size, NULL, &envelope), ENVELOPE_VALID);
    envelope.identity.abi ^= 32 ^ 64;
    envelope_seal(blob.data + envelope.payload_size, &envelope.identity, envelope.payload_size,
                  &envelope.payload_hash);
    save_blob(&blob);
    bytes_finish(&blob);
    check_blob_arrives(false);
    CHECK_EQUAL(report_rejected("foreign"), 1);
    CHECK_EQUAL(report_count("reject", "ABI"), 1);
}

/* --- C30, raw_blobs, envelope=strip: blobs without envelope --- */

static void run_offers_raw_blob(void *context)
{
    const bool *expected = context;
    struct app app;
    app_open(&app);
    struct bytes blob = file_read(scratch_path(BLOB));
    VkPipelineCache cache = app_cache(&app, blob.data, blob.size);
    if (*expected)
        CHECK(driver_saw_data(blob.data, blob.size));
    else
        CHECK(driver_saw_no_data());
    app_compile(&app, cache, 0, PIPELINES);
    CHECK_EQUAL(fault_cache_hits(), *expected ? PIPELINES : 0);
    app_cache_destroy(&app, cache);
    bytes_finish(&blob);
    app_close(&app);
}

static void check_raw_blob_arrives(bool expected)
{
    run_complete(run_offers_raw_blob, &expected);
}

/* The blob of a run that the layer wasn't in. */
static void make_raw_blob(uint32_t first)
{
    layer_remove();
    make_blob(first);
    layer_restore();
}

static void test_c30_blob_from_before_the_layer(void **state)
{
    (void)state;
    make_raw_blob(0);
    check_raw_blob_arrives(true);
    check_raw_blob_arrives(true);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
}

static void test_c30_blob_from_before_the_layer_for_another_driver(void **state)
{
    (void)state;
    make_raw_blob(0);
    driver_set("driver_version=2");
    check_raw_blob_arrives(false);
    CHECK_EQUAL(report_rejected("header_foreign"), 1);
}

static void test_c30_blob_with_envelope_after_the_layer_went(void **state)
{
    (void)state;
    make_blob(0);
    layer_remove();
    check_raw_blob_arrives(true);
}

/* Where blobs have left with an envelope, one without has lost it, or is somebody else's. */
static void test_raw_blobs_auto_refuses_what_never_left(void **state)
{
    (void)state;
    make_raw_blob(0);
    struct bytes raw = file_read(scratch_path(BLOB));
    make_blob(0);
    make_blob(100);
    raw.data[raw.size - 1] ^= 1;
    save_blob(&raw);
    bytes_finish(&raw);
    check_raw_blob_arrives(false);
    CHECK_EQUAL(report_rejected("raw_unknown"), 1);
}

static void test_raw_blobs_auto_knows_a_payload_that_lost_its_envelope(void **state)
{
    (void)state;
    make_blob(0);
    struct bytes blob = file_read(scratch_path(BLOB));
    blob.size -= ENVELOPE_SIZE;
    save_blob(&blob);
    bytes_finish(&blob);
    check_raw_blob_arrives(true);
}

static void test_raw_blobs_accept(void **state)
{
    (void)state;
    layer_set("RAW_BLOBS", "accept");
    make_blob(100);
    make_raw_blob(0);
    check_raw_blob_arrives(true);
    driver_set("driver_version=2");
    check_raw_blob_arrives(false);
}

static void test_raw_blobs_reject(void **state)
{
    (void)state;
    layer_set("RAW_BLOBS", "reject");
    make_raw_blob(0);
    check_raw_blob_arrives(false);
    CHECK_EQUAL(report_rejected("raw_unknown"), 1);
    make_blob(0);
    check_blob_arrives(true);
}

static void test_envelope_strip_reads_and_hands_out_plain_blobs(void **state)
{
    (void)state;
    make_raw_blob(0);
    struct bytes plain = file_read(scratch_path(BLOB));
    make_blob(0);
    layer_set("ENVELOPE", "strip");
    check_blob_arrives(true);
    make_blob(0);
    struct bytes stripped = file_read(scratch_path(BLOB));
    CHECK(bytes_equal(&stripped, &plain));
    check_raw_blob_arrives(true);
    layer_remove();
    check_raw_blob_arrives(true);
    bytes_finish(&stripped);
    bytes_finish(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c01_wild_pointer_with_size_zero),
        HARNESS_TEST(test_c05_scraps_are_ignored),
        HARNESS_TEST(test_c05_a_header_version_of_somebody_else_passes_untouched),
        HARNESS_TEST(test_c37_header_is_the_devices),
        HARNESS_TEST(test_c40_whole_blob_arrives_without_its_envelope),
        HARNESS_TEST(test_c02_c40_every_flipped_byte_is_refused),
        HARNESS_TEST(test_c40_cut_at_every_length),
        HARNESS_TEST(test_c40_tail_zeroed_or_random_from_every_length),
        HARNESS_TEST(test_c40_two_blobs_in_one),
        HARNESS_TEST(test_c40_zeros_behind_the_envelope_do_no_harm),
        HARNESS_TEST(test_c06_blob_goes_cold_with_a_new_driver_version),
        HARNESS_TEST(test_c23_without_a_uuid_the_other_fields_tell_drivers_apart),
        HARNESS_TEST(test_c22_blob_of_another_abi_is_foreign),
        HARNESS_TEST(test_c30_blob_from_before_the_layer),
        HARNESS_TEST(test_c30_blob_from_before_the_layer_for_another_driver),
        HARNESS_TEST(test_c30_blob_with_envelope_after_the_layer_went),
        HARNESS_TEST(test_raw_blobs_auto_refuses_what_never_left),
        HARNESS_TEST(test_raw_blobs_auto_knows_a_payload_that_lost_its_envelope),
        HARNESS_TEST(test_raw_blobs_accept),
        HARNESS_TEST(test_raw_blobs_reject),
        HARNESS_TEST(test_envelope_strip_reads_and_hands_out_plain_blobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
