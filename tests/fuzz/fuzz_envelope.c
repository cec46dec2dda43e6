/* Input: one byte that says how the rest becomes a blob, and the rest. */
#include "fuzz.h"

#include <string.h>

#include "model_envelope.h"
#include "sample.h"

enum {
    AS_IT_IS,
    SEAL,         /* the rest is the payload */
    MEND_OWN_HASH /* whatever the last 640 bytes are, their own hash fits */
};

static void judge(const uint8_t *data, size_t size)
{
    struct cache_identity self = sample_identity();
    size_t expected = model_payload_size(data, size, &self);
    struct envelope envelope, any;
    enum envelope_verdict verdict = envelope_open(data, size, &self, &envelope);
    enum envelope_verdict of_anyone = envelope_open(data, size, NULL, &any);
    uint8_t again[ENVELOPE_SIZE];

    require((verdict == ENVELOPE_NONE) == !model_has_mark(data, size));
    require(memchr(envelope.problem, '\0', sizeof(envelope.problem)));
    require((verdict == ENVELOPE_NONE || verdict == ENVELOPE_VALID) == (envelope.problem[0] == '\0'));
    require(verdict == ENVELOPE_FOREIGN || verdict == of_anyone);
    if (expected != MODEL_NOT_VALID)
        require(verdict == ENVELOPE_VALID && envelope.payload_size == expected);
    if (of_anyone != ENVELOPE_VALID)
        return;

    /* Valid means: exactly what sealing writes. */
    require(any.payload_size + ENVELOPE_SIZE <= size);
    envelope_seal(again, &any.identity, any.payload_size, &any.payload_hash);
    require(memcmp(again, data + any.payload_size, ENVELOPE_SIZE) == 0);
    require(verdict == (identity_difference(&self, &any.identity) ? ENVELOPE_FOREIGN : ENVELOPE_VALID));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cache_identity identity = sample_identity();
    uint8_t *blob;

    if (size == 0)
        return 0;
    blob = malloc(size - 1 + ENVELOPE_SIZE);
    require(blob);
    memcpy(blob, data + 1, size - 1);
    switch (data[0] % 3) {
    case AS_IT_IS:
        judge(data + 1, size - 1);
        break;
    case SEAL:
        judge(blob, sample_seal(blob, size - 1, &identity));
        break;
    case MEND_OWN_HASH:
        if (size - 1 >= ENVELOPE_SIZE) {
            uint8_t *trailer = blob + size - 1 - ENVELOPE_SIZE;

            bytes_put_u64(trailer + 624, hash64_of(trailer, 624));
        }
        judge(blob, size - 1);
        break;
    }
    free(blob);
    return 0;
}
