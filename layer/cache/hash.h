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

/* XXH3-128 of data that comes in pieces. A value on the caller's stack, no allocation, nothing to finish; one
 * thread at a time. The same bytes give the same hash as hash128_of(), however they were cut. */
#define HASH_STREAM_SIZE 576
struct hash_stream {
    _Alignas(64) unsigned char state[HASH_STREAM_SIZE]; /* hash.c's business; holds no pointer to itself */
};

void hash_stream_init(struct hash_stream *stream);

/* `data` may be NULL if `size` is 0. */
void hash_stream_update(struct hash_stream *stream, const void *data, size_t size);

/* The hash of all bytes so far. The stream stays as it is: more may follow. */
struct hash128 hash_stream_finish(const struct hash_stream *stream);

#endif
