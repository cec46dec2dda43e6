#include "handle_map.h"

#include <stdlib.h>

#define FIRST_BITS 6
#define LAST_BITS 31

void handle_map_init(struct handle_map *map)
{
    atomic_init(&map->table, NULL);
    pthread_mutex_init(&map->lock, NULL);
}

void handle_map_finish(struct handle_map *map)
{
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    while (table) {
        struct handle_map_table *retired = table->retired;
        free(table);
        table = retired;
    }
    atomic_store_explicit(&map->table, NULL, memory_order_relaxed);
    pthread_mutex_destroy(&map->lock);
}

/* The link that leads to a key's node; the end of its chain if it isn't there. For writers. */
static atomic_uint *find_link(struct handle_map_table *table, uint64_t key)
{
    atomic_uint *link = &table->heads[handle_map_home(table, key)];
    for (;;) {
        unsigned index = atomic_load_explicit(link, memory_order_relaxed);
        if (index >= HANDLE_MAP_END ||
            atomic_load_explicit(&table->nodes[index].key, memory_order_relaxed) == key)
            return link;
        link = &table->nodes[index].next;
    }
}

/* The node behind a link; NULL at the end of a chain. */
static struct handle_map_node *node_behind(struct handle_map_table *table, atomic_uint *link)
{
    unsigned index = atomic_load_explicit(link, memory_order_relaxed);
    return index < HANDLE_MAP_END ? &table->nodes[index] : NULL;
}

/* Always at the head: a search that comes into this chain by a node that was taken away under it comes in
 * before everything that stays, and misses nothing. The key isn't there yet; false if the table is full. */
static bool put(struct handle_map *map, struct handle_map_table *table, uint64_t key, void *value)
{
    unsigned index = map->first_free;
    if (index == table->count)
        return false;
    struct handle_map_node *node = &table->nodes[index];
    atomic_uint *head = &table->heads[handle_map_home(table, key)];
    map->first_free = node->next_free;
    atomic_store_explicit(&node->value, value, memory_order_relaxed);
    atomic_store_explicit(&node->key, key, memory_order_relaxed);
    atomic_store_explicit(&node->next, atomic_load_explicit(head, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(head, index, memory_order_release);
    return true;
}

static struct handle_map_table *table_create(unsigned bits)
{
    if (bits >= LAST_BITS)
        return NULL;
    size_t count = (size_t)1 << bits;
    struct handle_map_table *table =
        calloc(1, sizeof(*table) + count * (sizeof(table->heads[0]) + sizeof(table->nodes[0])));
    if (!table)
        return NULL;
    table->nodes = (void *)&table->heads[count];
    table->shift = 64 - bits;
    table->count = (unsigned)count;
    for (unsigned i = 0; i < count; i++) {
        atomic_init(&table->heads[i], HANDLE_MAP_END | i);
        table->nodes[i].next_free = i + 1;
    }
    return table;
}

/* Readers may still be in the old table, so it stays until the end: all of those together are smaller than
 * the newest. NULL on out of memory. */
static struct handle_map_table *grow(struct handle_map *map, struct handle_map_table *old)
{
    struct handle_map_table *table = table_create(old ? 64 - old->shift + 1 : FIRST_BITS);
    if (!table)
        return NULL;
    map->first_free = 0;
    for (unsigned i = 0; old && i < old->count; i++)
        put(map, table, atomic_load_explicit(&old->nodes[i].key, memory_order_relaxed),
            atomic_load_explicit(&old->nodes[i].value, memory_order_relaxed));
    table->retired = old;
    atomic_store_explicit(&map->table, table, memory_order_release);
    return table;
}

static bool insert(struct handle_map *map, uint64_t key, void *value)
{
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    struct handle_map_node *node = table ? node_behind(table, find_link(table, key)) : NULL;
    if (node) {
        atomic_store_explicit(&node->value, value, memory_order_relaxed);
        return true;
    }
    if (table && put(map, table, key, value))
        return true;
    table = grow(map, table);
    return table && put(map, table, key, value);
}

bool handle_map_insert(struct handle_map *map, uint64_t key, void *value)
{
    bool done;
    if (!key)
        return false;
    pthread_mutex_lock(&map->lock);
    done = insert(map, key, value);
    pthread_mutex_unlock(&map->lock);
    return done;
}

/* Takes the node out of its chain. Its `next` stays for those who stand on it. */
static void *take_out(struct handle_map *map, struct handle_map_table *table, atomic_uint *link)
{
    unsigned index = atomic_load_explicit(link, memory_order_relaxed);
    struct handle_map_node *node = &table->nodes[index];
    atomic_store_explicit(link, atomic_load_explicit(&node->next, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&node->key, 0, memory_order_relaxed);
    node->next_free = map->first_free;
    map->first_free = index;
    return atomic_load_explicit(&node->value, memory_order_relaxed);
}

void *handle_map_remove(struct handle_map *map, uint64_t key)
{
    void *value = NULL;
    if (!key)
        return NULL;
    pthread_mutex_lock(&map->lock);
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    atomic_uint *link = table ? find_link(table, key) : NULL;
    if (link && node_behind(table, link))
        value = take_out(map, table, link);
    pthread_mutex_unlock(&map->lock);
    return value;
}

void handle_map_visit(struct handle_map *map, void (*visit)(void *context, void *value), void *context)
{
    pthread_mutex_lock(&map->lock);
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    for (unsigned i = 0; table && i < table->count; i++)
        if (atomic_load_explicit(&table->nodes[i].key, memory_order_relaxed))
            visit(context, atomic_load_explicit(&table->nodes[i].value, memory_order_relaxed));
    pthread_mutex_unlock(&map->lock);
}
