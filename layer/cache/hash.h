/* The one hash of the project: XXH3, from xxHash, compiled into the library. */
#ifndef RC_CACHE_HASH_H
#define RC_CACHE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* XXH3-128 in xxHash's canonical (big-endian) byte order, so that it can be written to files as it is. */
struct hash128 {
    uint8_t bytes[16];
};

#define HASH128_HEX_SIZE 33 /* 32 digits and the final zero */

/* XXH3-128 of `size` bytes. `data` may be NULL if `size` is 0. */
struct hash128 hash128_of(const void *data, size_t size);

/* XXH3-64 of `size` bytes, as a number. */
uint64_t hash64_of(const void *data, size_t size);

bool hash128_equal(const struct hash128 *a, const struct hash128 *b);

/* Writes 32 lower-case hexadecimal digits and a final zero. */
void hash128_to_hex(const struct hash128 *hash, char out[HASH128_HEX_SIZE]);

/* Reads exactly 32 hexadecimal digits at `text`; what follows them is the caller's business.
 * Returns false and leaves `out` alone if a character is no such digit. */
bool hash128_from_hex(const char *text, struct hash128 *out);

#endif
