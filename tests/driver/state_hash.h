/* Hashes of state: equal state gives equal numbers in every process, whatever the handles are. */
#ifndef DRIVER_STATE_HASH_H
#define DRIVER_STATE_HASH_H

#include "driver.h"

/* Descriptor set layouts, pipeline layouts, render passes, shader modules: all that a pipeline's key needs.
 */
struct hashed_object {
    struct object base;
    uint64_t hash;
};

#define HASH_START 0xcbf29ce484222325ull

static inline uint64_t hash_add(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return hash_add(hash, &number, sizeof(number));
}

#endif
