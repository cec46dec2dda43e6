#include "envelope.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"

#define MARK_SIZE 8

enum place {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_SIZE = 12,
    AT_VENDOR_ID = 16,
    AT_DEVICE_ID = 20,
    AT_DRIVER_VERSION = 24,
    AT_DRIVER_ID = 28,
    AT_CACHE_UUID = 32,
    AT_ABI = 48,
    AT_BUILD_ID_SIZE = 52,
    AT_BUILD_ID = 56,
    AT_DRIVER_NAME = 88,
    AT_DRIVER_INFO = 344,
    AT_PAYLOAD_SIZE = 600,
    AT_PAYLOAD_HASH = 608,
    AT_OWN_HASH = 624,
    AT_END_MARK = 632,
};

_Static_assert(AT_BUILD_ID + IDENTITY_BUILD_ID_SIZE == AT_DRIVER_NAME, "envelope layout");
_Static_assert(AT_DRIVER_INFO + IDENTITY_NAME_SIZE == AT_PAYLOAD_SIZE, "envelope layout");
_Static_assert(AT_END_MARK + MARK_SIZE == ENVELOPE_SIZE, "envelope layout");

static const uint8_t magic[MARK_SIZE] = {0xb7, 'R', 'C', 'C', 'A', 'C', 'H', 'E'};
static const uint8_t end_mark[MARK_SIZE] = {'\r', '\n', 'R', 'C', 'E', 'N', 'D', 0xb7};

void envelope_seal(uint8_t out[ENVELOPE_SIZE], const struct cache_identity *identity, uint64_t payload_size,
                   const struct hash128 *payload_hash)
{
    memcpy(out + AT_MAGIC, magic, MARK_SIZE);
    bytes_put_u32(out + AT_VERSION, ENVELOPE_VERSION);
    bytes_put_u32(out + AT_SIZE, ENVELOPE_SIZE);
    bytes_put_u32(out + AT_VENDOR_ID, identity->vendor_id);
    bytes_put_u32(out + AT_DEVICE_ID, identity->device_id);
    bytes_put_u32(out + AT_DRIVER_VERSION, identity->driver_version);
    bytes_put_u32(out + AT_DRIVER_ID, identity->driver_id);
    memcpy(out + AT_CACHE_UUID, identity->cache_uuid, IDENTITY_UUID_SIZE);
    bytes_put_u32(out + AT_ABI, identity->abi);
    bytes_put_u32(out + AT_BUILD_ID_SIZE, identity->build_id_size);
    memcpy(out + AT_BUILD_ID, identity->build_id, IDENTITY_BUILD_ID_SIZE);
    memcpy(out + AT_DRIVER_NAME, identity->driver_name, IDENTITY_NAME_SIZE);
    memcpy(out + AT_DRIVER_INFO, identity->driver_info, IDENTITY_NAME_SIZE);
    bytes_put_u64(out + AT_PAYLOAD_SIZE, payload_size);
    memcpy(out + AT_PAYLOAD_HASH, payload_hash->bytes, sizeof(payload_hash->bytes));
    bytes_put_u64(out + AT_OWN_HASH, hash64_of(out, AT_OWN_HASH));
    memcpy(out + AT_END_MARK, end_mark, MARK_SIZE);
}

static void read_identity(const uint8_t *trailer, struct cache_identity *out)
{
    out->vendor_id = bytes_get_u32(trailer + AT_VENDOR_ID);
    out->device_id = bytes_get_u32(trailer + AT_DEVICE_ID);
    out->driver_version = bytes_get_u32(trailer + AT_DRIVER_VERSION);
    out->driver_id = bytes_get_u32(trailer + AT_DRIVER_ID);
    memcpy(out->cache_uuid, trailer + AT_CACHE_UUID, IDENTITY_UUID_SIZE);
    out->abi = bytes_get_u32(trailer + AT_ABI);
    out->build_id_size = bytes_get_u32(trailer + AT_BUILD_ID_SIZE);
    memcpy(out->build_id, trailer + AT_BUILD_ID, IDENTITY_BUILD_ID_SIZE);
    memcpy(out->driver_name, trailer + AT_DRIVER_NAME, IDENTITY_NAME_SIZE);
    memcpy(out->driver_info, trailer + AT_DRIVER_INFO, IDENTITY_NAME_SIZE);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* A string that ends inside its field, with zeros behind it, as identity.h demands. */
static bool name_is_padded(const char name[IDENTITY_NAME_SIZE])
{
    size_t length = strnlen(name, IDENTITY_NAME_SIZE);

    return length < IDENTITY_NAME_SIZE &&
           all_zero((const uint8_t *)name + length, IDENTITY_NAME_SIZE - length);
}

/* The own hash proves nothing about who computed it: a forged envelope must not carry a string without an
 * end. */
static bool identity_is_well_formed(const struct cache_identity *identity)
{
    return identity->build_id_size <= IDENTITY_BUILD_ID_SIZE &&
           all_zero(identity->build_id + identity->build_id_size,
                    IDENTITY_BUILD_ID_SIZE - identity->build_id_size) &&
           name_is_padded(identity->driver_name) && name_is_padded(identity->driver_info);
}

static bool own_hash_fits(const uint8_t *trailer)
{
    return bytes_get_u64(trailer + AT_OWN_HASH) == hash64_of(trailer, AT_OWN_HASH);
}

static enum envelope_verdict damaged(struct envelope *out, const char *problem)
{
    snprintf(out->problem, sizeof(out->problem), "%s", problem);
    return ENVELOPE_DAMAGED;
}

/* A number that isn't what it should be. */
static enum envelope_verdict wrong_number(struct envelope *out, const char *field, const char *unit,
                                          uint64_t expected, uint64_t found)
{
    snprintf(out->problem, sizeof(out->problem), "%s: %" PRIu64 "%s expected, %" PRIu64 " found", field,
             expected, unit, found);
    return ENVELOPE_DAMAGED;
}

/* Marks, version, size and own hash: what stands in the same place in every version. */
static enum envelope_verdict open_frame(const uint8_t *trailer, struct envelope *out)
{
    bool has_magic = memcmp(trailer + AT_MAGIC, magic, MARK_SIZE) == 0;
    bool has_end_mark = memcmp(trailer + AT_END_MARK, end_mark, MARK_SIZE) == 0;
    uint32_t version = bytes_get_u32(trailer + AT_VERSION);
    uint32_t size = bytes_get_u32(trailer + AT_SIZE);

    if (!has_magic && !has_end_mark)
        return ENVELOPE_NONE;
    if (!has_magic)
        return damaged(out, "envelope magic: one expected, other bytes found");
    if (!has_end_mark)
        return damaged(out, "envelope end mark: one expected, other bytes found");
    if (version != ENVELOPE_VERSION) {
        wrong_number(out, "envelope version", "", ENVELOPE_VERSION, version);
        return version > ENVELOPE_VERSION && own_hash_fits(trailer) ? ENVELOPE_UNKNOWN_VERSION
                                                                    : ENVELOPE_DAMAGED;
    }
    if (!own_hash_fits(trailer))
        return damaged(out, "envelope hash: that of its bytes expected, another found");
    if (size != ENVELOPE_SIZE)
        return wrong_number(out, "envelope size", " bytes", ENVELOPE_SIZE, size);
    return ENVELOPE_VALID;
}

enum envelope_verdict envelope_open_trailer(const uint8_t trailer[ENVELOPE_SIZE], uint64_t total_size,
                                            const struct cache_identity *self, struct envelope *out)
{
    enum envelope_verdict verdict;

    memset(out, 0, sizeof(*out));
    verdict = open_frame(trailer, out);
    if (verdict != ENVELOPE_VALID)
        return verdict;

    read_identity(trailer, &out->identity);
    if (!identity_is_well_formed(&out->identity)) {
        memset(&out->identity, 0, sizeof(out->identity));
        return damaged(out, "envelope identity: zero-padded fields expected, other bytes found");
    }
    out->payload_size = bytes_get_u64(trailer + AT_PAYLOAD_SIZE);
    memcpy(out->payload_hash.bytes, trailer + AT_PAYLOAD_HASH, sizeof(out->payload_hash.bytes));

    if (total_size < ENVELOPE_SIZE)
        return wrong_number(out, "envelope", " bytes", ENVELOPE_SIZE, total_size);
    if (out->payload_size != total_size - ENVELOPE_SIZE)
        return wrong_number(out, "payload size", " bytes", out->payload_size, total_size - ENVELOPE_SIZE);
    if (self && identity_explain(self, &out->identity, out->problem, sizeof(out->problem)))
        return ENVELOPE_FOREIGN;
    return ENVELOPE_VALID;
}

static bool mark_stands_at(const uint8_t *data, size_t size, size_t from_end, const uint8_t mark[MARK_SIZE])
{
    return from_end <= size && memcmp(data + (size - from_end), mark, MARK_SIZE) == 0;
}

/* Number of zero bytes at the end, counted up to one more than padding may have. */
static size_t trailing_zeros(const uint8_t *data, size_t size)
{
    size_t zeros = 0;

    while (zeros < size && zeros <= ENVELOPE_MAX_PADDING && data[size - 1 - zeros] == 0)
        zeros++;
    return zeros;
}

/* Looks for a trailer by either of its marks and tells how much padding follows it. */
static bool find_trailer(const uint8_t *data, size_t size, size_t *padding)
{
    size_t zeros = trailing_zeros(data, size);

    /* The end mark's last byte isn't zero, so there is one place where a whole one can stand. */
    if (zeros <= ENVELOPE_MAX_PADDING && mark_stands_at(data, size, zeros + MARK_SIZE, end_mark)) {
        *padding = zeros;
        return true;
    }
    /* Zeros may have eaten the end of the trailer: the magic tells where it began. */
    for (size_t i = 0; i <= zeros && i <= ENVELOPE_MAX_PADDING; i++) {
        if (mark_stands_at(data, size, i + ENVELOPE_SIZE, magic)) {
            *padding = i;
            return true;
        }
    }
    return false;
}

enum envelope_verdict envelope_open(const void *data, size_t size, const struct cache_identity *self,
                                    struct envelope *out)
{
    const uint8_t *bytes = data;
    size_t padding, inner_padding, total;
    enum envelope_verdict verdict;
    struct hash128 hash;

    memset(out, 0, sizeof(*out));
    if (!find_trailer(bytes, size, &padding))
        return ENVELOPE_NONE;
    total = size - padding;
    if (total < ENVELOPE_SIZE)
        return wrong_number(out, "envelope", " bytes", ENVELOPE_SIZE, total);

    verdict = envelope_open_trailer(bytes + (total - ENVELOPE_SIZE), total, self, out);
    if (verdict != ENVELOPE_VALID)
        return verdict;
    if (find_trailer(bytes, (size_t)out->payload_size, &inner_padding))
        return damaged(out, "envelope: one expected, a second one found inside the payload");
    hash = hash128_of(bytes, (size_t)out->payload_size);
    if (!hash128_equal(&hash, &out->payload_hash)) {
        char want[HASH128_HEX_SIZE], have[HASH128_HEX_SIZE];

        hash128_to_hex(&out->payload_hash, want);
        hash128_to_hex(&hash, have);
        snprintf(out->problem, sizeof(out->problem), "payload hash: %s expected, %s found", want, have);
        return ENVELOPE_DAMAGED;
    }
    return ENVELOPE_VALID;
}
