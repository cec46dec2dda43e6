/* What is a valid envelope, said in the plainest way: the bytes that envelope_seal() would write for what
 * stands before them, at any of the places where padding allows one. */
#ifndef RC_TESTS_MODEL_ENVELOPE_H
#define RC_TESTS_MODEL_ENVELOPE_H

#include <stdbool.h>
#include <string.h>

#include "cache/envelope.h"

#define MODEL_NOT_VALID SIZE_MAX

/* Whether a magic or an end mark stands where one belongs, for some padding. */
static inline bool model_has_mark(const uint8_t *data, size_t size)
{
    for (size_t padding = 0; padding <= ENVELOPE_MAX_PADDING && padding <= size; padding++) {
        size_t end = size - padding;

        if (padding > 0 && data[end] != 0)
            return false;
        if (end >= 8 && memcmp(data + end - 8, "\r\nRCEND\xb7", 8) == 0)
            return true;
        if (end >= ENVELOPE_SIZE && memcmp(data + end - ENVELOPE_SIZE, "\xb7RCCACHE", 8) == 0)
            return true;
    }
    return false;
}

/* Size of the payload in a valid envelope of `self`, or MODEL_NOT_VALID. */
static inline size_t model_payload_size(const uint8_t *data, size_t size, const struct cache_identity *self)
{
    for (size_t padding = 0; padding <= ENVELOPE_MAX_PADDING && padding + ENVELOPE_SIZE <= size; padding++) {
        size_t end = size - padding, payload_size = end - ENVELOPE_SIZE;
        struct hash128 hash;
        uint8_t sealed[ENVELOPE_SIZE];

        if (padding > 0 && data[end] != 0)
            return MODEL_NOT_VALID;
        if (data[end - 1] == 0)
            continue; /* only to be fast: a sealed envelope doesn't end in zero */
        hash = hash128_of(data, payload_size);
        envelope_seal(sealed, self, payload_size, &hash);
        if (memcmp(data + payload_size, sealed, ENVELOPE_SIZE) == 0 && !model_has_mark(data, payload_size))
            return payload_size;
    }
    return MODEL_NOT_VALID;
}

#endif
