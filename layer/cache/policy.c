#include "policy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"

/* VkPipelineCacheHeaderVersionOne. The spec has it least significant byte first on every host. */
#define HEADER_VERSION_ONE 1
#define HEADER_AT_SIZE 0
#define HEADER_AT_VERSION 4
#define HEADER_AT_VENDOR_ID 8
#define HEADER_AT_DEVICE_ID 12
#define HEADER_AT_UUID 16

/* Bytes that every header version begins with: headerSize and headerVersion. */
#define COMMON_HEADER_SIZE 8

/* Where the registry puts new enumerants: core ones count up, those of extensions are 1000000000 + 1000 *
 * (number of the extension - 1) + offset. */
#define CORE_VERSION_MAX 1000
#define EXTENSION_VERSION_MIN 1000000000
#define EXTENSION_VERSION_MAX 1000999999

struct blob {
    const uint8_t *data;
    size_t size;
    const struct cache_identity *self;
};

__attribute__((format(printf, 3, 4))) static struct policy_decision
reject(struct policy_decision decision, enum policy_reason reason, const char *format, ...)
{
    va_list arguments;

    decision.action = POLICY_EMPTY;
    decision.reason = reason;
    va_start(arguments, format);
    vsnprintf(decision.problem, sizeof(decision.problem), format, arguments);
    va_end(arguments);
    return decision;
}

static uint32_t header_number(const struct blob *blob, size_t at)
{
    return bytes_get_u32(blob->data + at);
}

static bool version_is_plausible(uint32_t version)
{
    return (version > HEADER_VERSION_ONE && version <= CORE_VERSION_MAX) ||
           (version >= EXTENSION_VERSION_MIN && version <= EXTENSION_VERSION_MAX);
}

/* Whether `number` says something: real drivers have device IDs of 0. */
static bool number_is_ours(const struct blob *blob, size_t at, uint32_t number)
{
    return number != 0 && blob->size >= at + 4 && header_number(blob, at) == number;
}

/* Likewise: a UUID of zeros is real. */
static bool uuid_is_ours(const struct blob *blob)
{
    static const uint8_t zeros[IDENTITY_UUID_SIZE];
    const uint8_t *uuid = blob->self->cache_uuid;

    return memcmp(uuid, zeros, IDENTITY_UUID_SIZE) != 0 && blob->size >= POLICY_HEADER_SIZE &&
           memcmp(blob->data + HEADER_AT_UUID, uuid, IDENTITY_UUID_SIZE) == 0;
}

/* A header version that this layer doesn't know but the driver may: not ours to judge. Unless what surrounds
 * the version is a version-one header of this very device. */
static bool header_version_is_unknown(const struct blob *blob)
{
    if (blob->size < COMMON_HEADER_SIZE || !version_is_plausible(header_number(blob, HEADER_AT_VERSION)))
        return false;
    if (header_number(blob, HEADER_AT_SIZE) != POLICY_HEADER_SIZE)
        return true;
    return !number_is_ours(blob, HEADER_AT_VENDOR_ID, blob->self->vendor_id) &&
           !number_is_ours(blob, HEADER_AT_DEVICE_ID, blob->self->device_id) && !uuid_is_ours(blob);
}

/* Judges the header. Returns POLICY_OK, or what is wrong in `problem`. */
static enum policy_reason judge_header(const struct blob *blob, char *problem, size_t problem_size)
{
    struct cache_identity found = *blob->self;

    if (blob->size >= COMMON_HEADER_SIZE && header_number(blob, HEADER_AT_VERSION) != HEADER_VERSION_ONE) {
        snprintf(problem, problem_size, "headerVersion: %d expected, %" PRIu32 " found", HEADER_VERSION_ONE,
                 header_number(blob, HEADER_AT_VERSION));
        return POLICY_HEADER_DAMAGED;
    }
    if (blob->size < POLICY_HEADER_SIZE) {
        snprintf(problem, problem_size, "size: %d bytes or more expected, %zu found", POLICY_HEADER_SIZE,
                 blob->size);
        return POLICY_TOO_SHORT;
    }
    if (header_number(blob, HEADER_AT_SIZE) != POLICY_HEADER_SIZE) {
        snprintf(problem, problem_size, "headerSize: %d expected, %" PRIu32 " found", POLICY_HEADER_SIZE,
                 header_number(blob, HEADER_AT_SIZE));
        return POLICY_HEADER_DAMAGED;
    }
    found.vendor_id = header_number(blob, HEADER_AT_VENDOR_ID);
    found.device_id = header_number(blob, HEADER_AT_DEVICE_ID);
    memcpy(found.cache_uuid, blob->data + HEADER_AT_UUID, IDENTITY_UUID_SIZE);
    if (identity_explain(blob->self, &found, problem, problem_size))
        return POLICY_HEADER_FOREIGN;
    return POLICY_OK;
}

bool policy_header_matches(const void *data, size_t size, const struct cache_identity *self)
{
    const struct blob blob = {.data = data, .size = size, .self = self};
    char problem[128];

    return judge_header(&blob, problem, sizeof(problem)) == POLICY_OK;
}

/* A driver that keeps nothing returns its header alone, or in front of the data that it was given: copies of
 * the header then, one more each time. */
static bool is_hollow(const struct blob *blob)
{
    return blob->size % POLICY_HEADER_SIZE == 0 &&
           memcmp(blob->data, blob->data + POLICY_HEADER_SIZE, blob->size - POLICY_HEADER_SIZE) == 0;
}

static struct policy_decision reject_hollow(const struct blob *blob)
{
    return reject((struct policy_decision){0}, POLICY_HOLLOW,
                  "payload: data behind the header expected, %zu equal headers found",
                  blob->size / POLICY_HEADER_SIZE);
}

/* The last question, for data that is good in every other way. */
static struct policy_decision accept_unless_quarantined(enum policy_action action, size_t size,
                                                        const struct hash128 *hash,
                                                        const struct ledger *ledger, int64_t now)
{
    struct policy_decision decision = {
        .action = action, .reason = POLICY_OK, .payload_size = size, .payload_hash = *hash};
    enum ledger_quarantine quarantine = ledger_quarantine_of(ledger, hash, now);
    char hex[HASH128_HEX_SIZE];

    if (quarantine != LEDGER_NOT_QUARANTINED) {
        hash128_to_hex(hash, hex);
        return reject(decision, POLICY_QUARANTINED,
                      "payload %s: one that the driver survives expected, one that %s found", hex,
                      quarantine == LEDGER_DIED ? "killed it" : "it rejected");
    }
    decision.proven = ledger_is_proven(ledger, hash);
    return decision;
}

/* Data in a valid envelope. Its payload came from a driver through this layer, so a header that isn't the
 * driver's is damage, whatever it says. */
static struct policy_decision judge_payload(const struct blob *payload, const struct hash128 *hash,
                                            const struct ledger *ledger, int64_t now)
{
    char problem[128];

    if (judge_header(payload, problem, sizeof(problem)) != POLICY_OK)
        return reject((struct policy_decision){0}, POLICY_CORRUPT, "%s", problem);
    if (is_hollow(payload))
        return reject_hollow(payload);
    return accept_unless_quarantined(POLICY_PAYLOAD, payload->size, hash, ledger, now);
}

static struct policy_decision judge_raw(const struct blob *blob, enum raw_blobs raw_blobs,
                                        const struct ledger *ledger, int64_t now)
{
    char problem[128];
    enum policy_reason reason = judge_header(blob, problem, sizeof(problem));
    struct policy_decision decision = {0};
    struct hash128 hash;

    if (reason != POLICY_OK)
        return reject(decision, reason, "%s", problem);
    if (is_hollow(blob))
        return reject_hollow(blob);
    if (raw_blobs == RAW_BLOBS_REJECT)
        return reject(decision, POLICY_RAW_UNKNOWN, "envelope: one expected behind %zu bytes, none found",
                      blob->size);

    hash = hash128_of(blob->data, blob->size);
    decision = accept_unless_quarantined(POLICY_RAW, blob->size, &hash, ledger, now);
    if (decision.action == POLICY_RAW && raw_blobs == RAW_BLOBS_AUTO && ledger->left_count > 0 &&
        !ledger_has_left(ledger, blob->size, &hash))
        return reject((struct policy_decision){0}, POLICY_RAW_UNKNOWN,
                      "envelope: one expected behind %zu bytes that never left through the layer, none found",
                      blob->size);
    return decision;
}

struct policy_decision policy_judge(const void *data, size_t size, const struct cache_identity *self,
                                    enum raw_blobs raw_blobs, const struct ledger *ledger, int64_t now)
{
    struct blob blob = {.data = data, .size = size, .self = self};
    struct policy_decision decision = {0};
    struct envelope envelope;

    if (size == 0)
        return (struct policy_decision){.action = POLICY_EMPTY, .reason = POLICY_NO_DATA};
    if (header_version_is_unknown(&blob))
        return (struct policy_decision){.action = POLICY_UNTOUCHED, .reason = POLICY_OK};

    switch (envelope_open(data, size, self, &envelope)) {
    case ENVELOPE_NONE:
        return judge_raw(&blob, raw_blobs, ledger, now);
    case ENVELOPE_VALID:
        blob.size = (size_t)envelope.payload_size;
        return judge_payload(&blob, &envelope.payload_hash, ledger, now);
    case ENVELOPE_FOREIGN:
        return reject(decision, POLICY_FOREIGN, "%s", envelope.problem);
    case ENVELOPE_UNKNOWN_VERSION:
        return reject(decision, POLICY_NEWER_ENVELOPE, "%s", envelope.problem);
    case ENVELOPE_DAMAGED:
        break;
    }
    return reject(decision, POLICY_CORRUPT, "%s", envelope.problem);
}

const char *policy_reason_name(enum policy_reason reason)
{
    static const char *const names[POLICY_REASON_COUNT] = {
        [POLICY_OK] = "ok",
        [POLICY_NO_DATA] = "no_data",
        [POLICY_TOO_SHORT] = "too_short",
        [POLICY_HEADER_DAMAGED] = "header_damaged",
        [POLICY_HEADER_FOREIGN] = "header_foreign",
        [POLICY_FOREIGN] = "foreign",
        [POLICY_CORRUPT] = "corrupt",
        [POLICY_NEWER_ENVELOPE] = "newer_envelope",
        [POLICY_RAW_UNKNOWN] = "raw_unknown",
        [POLICY_HOLLOW] = "hollow",
        [POLICY_QUARANTINED] = "quarantined",
        [POLICY_DRIVER_ERROR] = "driver_error",
        [POLICY_DRIVER_DROPPED] = "driver_dropped",
    };

    return names[reason];
}
