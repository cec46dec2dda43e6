/* Vulkan handle -> the layer's state, for the objects of one device. Looking up takes no lock. */
#ifndef RC_HANDLE_MAP_H
#define RC_HANDLE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* Dispatchable handles are pointers everywhere; the others are 64-bit numbers on 32-bit machines. */
#define DISPATCHABLE_KEY(handle) ((uint64_t)(uintptr_t)(handle))
#if VK_USE_64_BIT_PTR_DEFINES
#define HANDLE_KEY(handle) ((uint64_t)(uintptr_t)(handle))
#else
#define HANDLE_KEY(handle) ((uint64_t)(handle))
#endif

struct handle_map_table; /* open addressing, a power of two of slots; outgrown ones live until finish */

struct handle_map {
    _Atomic(struct handle_map_table *) table;
    struct handle_map_table *retired;
    pthread_mutex_t lock; /* held by writers */
};

void handle_map_init(struct handle_map *map);
void handle_map_finish(struct handle_map *map);

/* `key` isn't 0. A key that is there already gets the new value (drivers may give one handle to two objects
 * of a kind). False on out of memory. Any thread. */
bool handle_map_insert(struct handle_map *map, uint64_t key, void *value);

/* NULL if it isn't there. Any thread, no lock; the caller's own synchronization, which Vulkan demands of the
 * application, is what orders it after the insertion and before the removal of this key. */
void *handle_map_find(const struct handle_map *map, uint64_t key);

/* Returns what it stood for, or NULL. To be called before the object is destroyed: afterwards the driver may
 * give the same handle to a new one. Any thread. Create and destroy in turn never makes the map grow. */
void *handle_map_remove(struct handle_map *map, uint64_t key);

/* Calls `visit` for each value, under the writers' lock. */
void handle_map_visit(struct handle_map *map, void (*visit)(void *context, void *value), void *context);

#endif
