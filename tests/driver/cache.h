/* Pipeline caches with real contents: entries keyed by a pipeline's state. Their data is a header and the
 * entries, sorted by key, each with its own checksum, so that equal caches give equal bytes and damage can be
 * found. */
#ifndef DRIVER_CACHE_H
#define DRIVER_CACHE_H

#include "driver.h"

struct cache_entry {
    uint64_t key;
    uint32_t size;
    uint8_t *value; /* owned */
};

struct cache {
    struct object base;
    const struct physical_device *physical;
    pthread_mutex_t lock;
    struct cache_entry *entries; /* sorted by key */
    uint32_t count;
    uint32_t capacity;
    bool had_data; /* it was created with data */
    bool had_corrupt_data;
    uint64_t grown; /* entries that the rule `grow` has added */
    void *echo;     /* keeps=echo: the initial data */
    size_t echo_size;
};

/* Whether these bytes, taken as cache data with a known kind of header, end with an entry's end and every
 * entry's checksum is right. Identity isn't looked at. */
bool cache_data_is_whole(const void *data, size_t size);

/* Whether the cache holds this key; NULL holds nothing. Any thread. */
bool cache_has(struct cache *cache, uint64_t key);

/* Adds the pipeline of this key; NULL is safe, so is a key it has. false on out of memory. Any thread. */
bool cache_add(struct cache *cache, uint64_t key);

/* The binary of a pipeline: `size` bytes that depend on the key alone. */
uint32_t cache_binary_size(const struct physical_device *physical, uint64_t key);
void cache_binary_fill(uint64_t key, void *out, uint32_t size);

#endif
