/* Made-up devices and cache data for tests. */
#ifndef RC_TESTS_SAMPLE_H
#define RC_TESTS_SAMPLE_H

#include <stdint.h>
#include <string.h>

#include "cache/bytes.h"
#include "cache/envelope.h"
#include "random.h"

#define SAMPLE_HEADER_SIZE 32

static inline struct cache_identity sample_identity(void)
{
    struct cache_identity identity = {
        .vendor_id = 0x10de,
        .device_id = 0x2335,
        .driver_version = 0x91278540,
        .driver_id = 4,
        .cache_uuid = {0xd0, 0xd1, 0xd2, 0xd3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xdf},
        .abi = 62u << 16 | 64,
        .driver_name = "Sample",
        .driver_info = "580.159.01",
        .build_id_size = 20,
        .build_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
    };

    return identity;
}

/* VkPipelineCacheHeaderVersionOne of that device. */
static inline void sample_header(uint8_t out[SAMPLE_HEADER_SIZE], const struct cache_identity *identity)
{
    bytes_put_u32(out, SAMPLE_HEADER_SIZE);
    bytes_put_u32(out + 4, 1);
    bytes_put_u32(out + 8, identity->vendor_id);
    bytes_put_u32(out + 12, identity->device_id);
    memcpy(out + 16, identity->cache_uuid, IDENTITY_UUID_SIZE);
}

/* What a driver would return: the header and random bytes; `size` is at least SAMPLE_HEADER_SIZE. */
static inline void sample_payload(uint8_t *out, size_t size, const struct cache_identity *identity,
                                  struct random *random)
{
    sample_header(out, identity);
    random_fill(random, out + SAMPLE_HEADER_SIZE, size - SAMPLE_HEADER_SIZE);
}

/* Puts the envelope behind the payload: `blob` has ENVELOPE_SIZE bytes more. Returns the size of both. */
static inline size_t sample_seal(uint8_t *blob, size_t payload_size, const struct cache_identity *identity)
{
    struct hash128 hash = hash128_of(blob, payload_size);

    envelope_seal(blob + payload_size, identity, payload_size, &hash);
    return payload_size + ENVELOPE_SIZE;
}

#endif
