#include "hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= HASH_STREAM_SIZE, "struct hash_stream is too small for this xxHash");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(struct hash_stream),
               "struct hash_stream is not aligned enough");

static struct hash128 canonical(XXH128_hash_t hash)
{
    XXH128_canonical_t bytes;
    struct hash128 out;

    XXH128_canonicalFromHash(&bytes, hash);
    memcpy(out.bytes, bytes.digest, sizeof(out.bytes));
    return out;
}

struct hash128 hash128_of(const void *data, size_t size)
{
    return canonical(XXH3_128bits(data, size));
}

uint64_t hash64_of(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

bool hash128_equal(const struct hash128 *a, const struct hash128 *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void hash128_to_hex(const struct hash128 *hash, char out[HASH128_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof(hash->bytes); i++) {
        out[2 * i] = digits[hash->bytes[i] >> 4];
        out[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    out[HASH128_HEX_SIZE - 1] = '\0';
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool hash128_from_hex(const char *text, struct hash128 *out)
{
    struct hash128 hash;

    for (size_t i = 0; i < sizeof(hash.bytes); i++) {
        int high = digit_value(text[2 * i]);
        /* A string that ends early must not be read past its end. */
        int low = high < 0 ? -1 : digit_value(text[2 * i + 1]);

        if (low < 0)
            return false;
        hash.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *out = hash;
    return true;
}

void hash_stream_init(struct hash_stream *stream)
{
    /* All of it, so that a copy of the struct never reads what was not written. */
    memset(stream, 0, sizeof(*stream));
    XXH3_128bits_reset((XXH3_state_t *)stream->state);
}

void hash_stream_update(struct hash_stream *stream, const void *data, size_t size)
{
    if (size > 0)
        XXH3_128bits_update((XXH3_state_t *)stream->state, data, size);
}

struct hash128 hash_stream_finish(const struct hash_stream *stream)
{
    return canonical(XXH3_128bits_digest((const XXH3_state_t *)stream->state));
}
