/* Input: a byte for `raw_blobs`, a byte for what the ledger knows and how the rest becomes a blob, the rest.
 */
#include "fuzz.h"

#include <string.h>

#include "model_policy.h"

#define NOW 1700000000

enum {
    LEFT = 1,
    ANOTHER_LEFT = 2,
    QUARANTINED = 4,
    PROVEN = 8,
    OUR_HEADER = 16, /* the rest is what follows the header */
    SEALED = 32,
};

static void fill_ledger(struct ledger *ledger, uint8_t flags, const uint8_t *payload, size_t size)
{
    struct hash128 hash = hash128_of(payload, size), another = hash128_of("another", 7);

    if (flags & ANOTHER_LEFT)
        ledger_add_left(ledger, 7, &another);
    if (flags & LEFT)
        ledger_add_left(ledger, size, &hash);
    if (flags & PROVEN)
        ledger_add_proven(ledger, &hash);
    if (flags & QUARANTINED)
        ledger_add_rejected(ledger, &hash, NOW);
}

static void judge(const uint8_t *data, size_t size, const struct cache_identity *self,
                  enum raw_blobs raw_blobs, const struct ledger *ledger)
{
    struct policy_decision decision = policy_judge(data, size, self, raw_blobs, ledger, NOW);
    struct hash128 hash;

    require(decision.action == model_action(data, size, self, raw_blobs, ledger, NOW));
    require((decision.action == POLICY_EMPTY) == (decision.reason != POLICY_OK));
    require(policy_reason_name(decision.reason));
    require(memchr(decision.problem, '\0', sizeof(decision.problem)));
    require((decision.problem[0] == '\0') ==
            (decision.reason == POLICY_OK || decision.reason == POLICY_NO_DATA));
    if (decision.action != POLICY_PAYLOAD && decision.action != POLICY_RAW)
        return;
    require(decision.payload_size <= size);
    require(decision.action == POLICY_PAYLOAD || decision.payload_size == size);
    require(policy_header_matches(data, decision.payload_size, self));
    hash = hash128_of(data, decision.payload_size);
    require(hash128_equal(&hash, &decision.payload_hash));
    require(decision.proven == ledger_is_proven(ledger, &hash));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum raw_blobs raw_blobs[] = {RAW_BLOBS_AUTO, RAW_BLOBS_ACCEPT, RAW_BLOBS_REJECT};
    struct cache_identity self = sample_identity();
    struct ledger ledger = {0};
    size_t header_size, payload_size, blob_size;
    uint8_t *blob;

    if (size < 2)
        return 0;
    header_size = data[1] & OUR_HEADER ? SAMPLE_HEADER_SIZE : 0;
    payload_size = header_size + size - 2;
    blob_size = payload_size + (data[1] & SEALED ? ENVELOPE_SIZE : 0);
    blob = malloc(blob_size ? blob_size : 1);
    require(blob);
    if (header_size)
        sample_header(blob, &self);
    memcpy(blob + header_size, data + 2, size - 2);
    if (data[1] & SEALED)
        sample_seal(blob, payload_size, &self);
    fill_ledger(&ledger, data[1], blob, payload_size);
    judge(blob, blob_size, &self, raw_blobs[data[0] % 3], &ledger);
    free(blob);
    return 0;
}
