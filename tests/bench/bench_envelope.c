/* What the envelope costs: finding and judging it, against copying and hashing the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cache/envelope.h"

#define ROUNDS 15

struct sample {
    double memcpy_us, hash_us, open_us, seal_us;
};

static double elapsed_us(double start)
{
    return (bench_now_ns() - start) / 1e3;
}

static bool measure(uint8_t *data, uint8_t *copy, size_t payload, const struct cache_identity *identity,
                    struct sample *sample)
{
    double start = bench_now_ns();
    memcpy(copy, data, payload);
    bench_keep(copy);
    sample->memcpy_us = elapsed_us(start);

    start = bench_now_ns();
    struct hash128 hash = hash128_of(data, payload);
    sample->hash_us = elapsed_us(start);

    start = bench_now_ns();
    envelope_seal(data + payload, identity, payload, &hash);
    sample->seal_us = elapsed_us(start);

    struct envelope envelope;
    start = bench_now_ns();
    enum envelope_verdict verdict = envelope_open(data, payload + ENVELOPE_SIZE, identity, &envelope);
    sample->open_us = elapsed_us(start);
    return verdict == ENVELOPE_VALID;
}

static bool bench_size(size_t payload, bool last)
{
    const struct cache_identity identity = {.vendor_id = 0x1002, .device_id = 1, .abi = identity_abi()};
    uint8_t *data = malloc(payload + ENVELOPE_SIZE), *copy = malloc(payload);
    double values[4][ROUNDS];
    bool valid = data && copy;
    for (size_t i = 0; valid && i < payload; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (int i = 0; valid && i < ROUNDS; i++) {
        struct sample sample;
        valid = measure(data, copy, payload, &identity, &sample);
        values[0][i] = sample.memcpy_us;
        values[1][i] = sample.hash_us;
        values[2][i] = sample.seal_us;
        values[3][i] = sample.open_us;
    }
    if (valid) {
        double medians[4];
        for (int i = 0; i < 4; i++)
            medians[i] = bench_quantile(values[i], ROUNDS, 0.5);
        printf("{\"bytes\":%zu,\"memcpy_us\":%.1f,\"xxh3_us\":%.1f,\"seal_us\":%.2f,\"open_us\":%.1f,"
               "\"open_us_per_mb\":%.1f,\"open_to_memcpy\":%.2f,\"open_to_xxh3\":%.3f}%s\n",
               payload, medians[0], medians[1], medians[2], medians[3], medians[3] * 1e6 / (double)payload,
               medians[3] / medians[0], medians[3] / medians[1], last ? "" : ",");
    }
    free(data);
    free(copy);
    return valid;
}

int main(void)
{
    static const size_t sizes[] = {64 << 10, 1 << 20, 16 << 20, 64 << 20};
    const size_t count = sizeof(sizes) / sizeof(*sizes);
    bool valid = true;
    printf("[\n");
    for (size_t i = 0; i < count; i++)
        valid = bench_size(sizes[i], i + 1 == count) && valid;
    printf("]\n");
    return valid ? 0 : 1;
}
