#include "handle_map.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64
#define EMPTY 0u
#define REMOVED UINT64_MAX /* no driver's handle: it isn't aligned */

struct slot {
    atomic_uint_fast64_t key; /* written after the value */
    _Atomic(void *) value;
};

struct handle_map_table {
    struct handle_map_table *retired;
    uint32_t mask;
    uint32_t used; /* slots that aren't EMPTY; of the writers */
    struct slot slots[];
};

static uint32_t hash(uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

void handle_map_init(struct handle_map *map)
{
    atomic_init(&map->table, NULL);
    map->retired = NULL;
    pthread_mutex_init(&map->lock, NULL);
}

void handle_map_finish(struct handle_map *map)
{
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    free(table);
    while (map->retired) {
        table = map->retired;
        map->retired = table->retired;
        free(table);
    }
    atomic_store_explicit(&map->table, NULL, memory_order_relaxed);
    pthread_mutex_destroy(&map->lock);
}

static struct slot *find(struct handle_map_table *table, uint64_t key)
{
    for (uint32_t i = hash(key) & table->mask;; i = (i + 1) & table->mask) {
        uint64_t at = atomic_load_explicit(&table->slots[i].key, memory_order_acquire);
        if (at == key)
            return &table->slots[i];
        if (at == EMPTY)
            return NULL;
    }
}

void *handle_map_find(const struct handle_map *map, uint64_t key)
{
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    struct slot *slot = table && key != REMOVED && key ? find(table, key) : NULL;
    return slot ? atomic_load_explicit(&slot->value, memory_order_relaxed) : NULL;
}

/* Into a table with room; the key isn't there yet. */
static void put(struct handle_map_table *table, uint64_t key, void *value)
{
    uint32_t i = hash(key) & table->mask;
    for (;; i = (i + 1) & table->mask) {
        uint64_t at = atomic_load_explicit(&table->slots[i].key, memory_order_relaxed);
        if (at == EMPTY)
            table->used++;
        if (at == EMPTY || at == REMOVED)
            break;
    }
    atomic_store_explicit(&table->slots[i].value, value, memory_order_relaxed);
    atomic_store_explicit(&table->slots[i].key, key, memory_order_release);
}

/* Readers may still be in the old table, so it stays until the end: all of those together are smaller than
 * the newest. */
static bool grow(struct handle_map *map)
{
    struct handle_map_table *old = atomic_load_explicit(&map->table, memory_order_relaxed);
    uint32_t capacity = old ? 2 * (old->mask + 1) : FIRST_CAPACITY;
    if (!capacity)
        return false;
    struct handle_map_table *table = calloc(1, sizeof(*table) + capacity * sizeof(struct slot));
    if (!table)
        return false;
    table->mask = capacity - 1;
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        uint64_t key = atomic_load_explicit(&old->slots[i].key, memory_order_relaxed);
        if (key != EMPTY && key != REMOVED)
            put(table, key, atomic_load_explicit(&old->slots[i].value, memory_order_relaxed));
    }
    if (old) {
        old->retired = map->retired;
        map->retired = old;
    }
    atomic_store_explicit(&map->table, table, memory_order_release);
    return true;
}

bool handle_map_insert(struct handle_map *map, uint64_t key, void *value)
{
    bool done = key != EMPTY && key != REMOVED;
    pthread_mutex_lock(&map->lock);
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    struct slot *slot = done && table ? find(table, key) : NULL;
    if (slot) {
        atomic_store_explicit(&slot->value, value, memory_order_relaxed);
    } else if (done) {
        if (!table || table->used + 1 > (table->mask + 1) / 4 * 3)
            done = grow(map);
        if (done)
            put(atomic_load_explicit(&map->table, memory_order_relaxed), key, value);
    }
    pthread_mutex_unlock(&map->lock);
    return done;
}

/* No chain of slots leads through one whose next slot is empty: it and removed ones before it are free again.
 */
static void free_slots(struct handle_map_table *table, uint32_t index)
{
    uint32_t next = (index + 1) & table->mask;
    if (atomic_load_explicit(&table->slots[next].key, memory_order_relaxed) != EMPTY)
        return;
    while (atomic_load_explicit(&table->slots[index].key, memory_order_relaxed) == REMOVED) {
        atomic_store_explicit(&table->slots[index].key, EMPTY, memory_order_release);
        table->used--;
        index = (index - 1) & table->mask;
    }
}

void *handle_map_remove(struct handle_map *map, uint64_t key)
{
    void *value = NULL;
    pthread_mutex_lock(&map->lock);
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    struct slot *slot = table && key != EMPTY && key != REMOVED ? find(table, key) : NULL;
    if (slot) {
        value = atomic_load_explicit(&slot->value, memory_order_relaxed);
        atomic_store_explicit(&slot->key, REMOVED, memory_order_release);
        free_slots(table, (uint32_t)(slot - table->slots));
    }
    pthread_mutex_unlock(&map->lock);
    return value;
}

void handle_map_visit(struct handle_map *map, void (*visit)(void *context, void *value), void *context)
{
    pthread_mutex_lock(&map->lock);
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    for (uint32_t i = 0; table && i <= table->mask; i++) {
        uint64_t key = atomic_load_explicit(&table->slots[i].key, memory_order_relaxed);
        if (key != EMPTY && key != REMOVED)
            visit(context, atomic_load_explicit(&table->slots[i].value, memory_order_relaxed));
    }
    pthread_mutex_unlock(&map->lock);
}
