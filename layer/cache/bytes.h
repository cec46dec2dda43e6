/* Numbers in files: little-endian on every host, at any alignment. */
#ifndef RC_CACHE_BYTES_H
#define RC_CACHE_BYTES_H

#include <stdint.h>

static inline void bytes_put_u32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static inline void bytes_put_u64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t bytes_get_u32(const uint8_t *in)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++)
        value |= (uint32_t)in[i] << (8 * i);
    return value;
}

static inline uint64_t bytes_get_u64(const uint8_t *in)
{
    return bytes_get_u32(in) | (uint64_t)bytes_get_u32(in + 4) << 32;
}

#endif
