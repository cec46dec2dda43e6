/* The design's table "What reaches the driver" as a list of questions, each answered in the plainest way. */
#ifndef RC_TESTS_MODEL_POLICY_H
#define RC_TESTS_MODEL_POLICY_H

#include "cache/policy.h"
#include "model_envelope.h"
#include "sample.h"

/* Whether the `size` bytes at `at` are there, say something (zeros don't), and are those of `ours`. */
static inline bool model_is_ours(const uint8_t *data, size_t data_size, const uint8_t *ours, size_t at,
                                 size_t size)
{
    static const uint8_t zeros[16];

    return data_size >= at + size && memcmp(ours + at, zeros, size) != 0 &&
           memcmp(data + at, ours + at, size) == 0;
}

static inline bool model_is_other_version(const uint8_t *data, size_t size, const uint8_t *ours)
{
    uint32_t version;

    if (size < 8)
        return false;
    version = (uint32_t)data[4] | (uint32_t)data[5] << 8 | (uint32_t)data[6] << 16 | (uint32_t)data[7] << 24;
    if (version < 2 || (version > 1000 && version / 1000000 != 1000))
        return false;
    return memcmp(data, ours, 4) != 0 ||
           (!model_is_ours(data, size, ours, 8, 4) && !model_is_ours(data, size, ours, 12, 4) &&
            !model_is_ours(data, size, ours, 16, 16));
}

static inline bool model_is_hollow(const uint8_t *data, size_t size, const uint8_t *ours)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] != ours[i % 32])
            return false;
    }
    return size % 32 == 0;
}

static inline enum policy_action model_action(const uint8_t *data, size_t size,
                                              const struct cache_identity *self, enum raw_blobs raw_blobs,
                                              const struct ledger *ledger, int64_t now)
{
    size_t payload_size = model_payload_size(data, size, self);
    bool enveloped = payload_size != MODEL_NOT_VALID, known;
    size_t judged = enveloped ? payload_size : size;
    struct hash128 hash;
    uint8_t ours[SAMPLE_HEADER_SIZE];

    sample_header(ours, self);
    if (size == 0)
        return POLICY_EMPTY;
    if (model_is_other_version(data, size, ours))
        return POLICY_UNTOUCHED;
    if (!enveloped && model_has_mark(data, size))
        return POLICY_EMPTY;
    if (judged < 32 || memcmp(data, ours, 32) != 0 || model_is_hollow(data, judged, ours))
        return POLICY_EMPTY;
    hash = hash128_of(data, judged);
    if (ledger_quarantine_of(ledger, &hash, now) != LEDGER_NOT_QUARANTINED)
        return POLICY_EMPTY;
    if (enveloped)
        return POLICY_PAYLOAD;
    known = ledger->left_count == 0 || ledger_has_left(ledger, size, &hash);
    return raw_blobs == RAW_BLOBS_ACCEPT || (raw_blobs == RAW_BLOBS_AUTO && known) ? POLICY_RAW
                                                                                   : POLICY_EMPTY;
}

#endif
