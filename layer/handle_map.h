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

struct handle_map_node {
    atomic_uint_fast64_t key; /* 0: nobody's */
    _Atomic(void *) value;
    atomic_uint next;
    unsigned next_free; /* of the writers */
};

/* Chains of nodes, one for each home; links are indices into `nodes`. There are several homes for each node:
 * with most chains empty or of one node, the processor guesses right where they end. */
#define HANDLE_MAP_HOMES 4
struct handle_map_table {
    struct handle_map_table *retired; /* the one before that was outgrown */
    struct handle_map_node *nodes;
    unsigned count;                                       /* of nodes; a power of two */
    unsigned shift;                                       /* there are 2 to the (64 - shift) homes */
    _Alignas(struct handle_map_node) atomic_uint heads[]; /* `nodes` lie behind them */
};

/* The end of a chain is this and its home: nodes are used again, so that a search can be led into another
 * chain; at that one's end it sees so and begins anew. */
#define HANDLE_MAP_END 0x80000000u

/* What writers change lies apart from what everybody reads: else a thread that creates images would slow down
 * all that record. */
#define HANDLE_MAP_LINE 64
struct handle_map {
    _Atomic(struct handle_map_table *) table; /* NULL before the first insertion */
    char before[HANDLE_MAP_LINE];
    pthread_mutex_t lock; /* held by writers */
    unsigned first_free;  /* node of `table`; its `count`: none; under lock */
    char behind[HANDLE_MAP_LINE];
};

void handle_map_init(struct handle_map *map);
void handle_map_finish(struct handle_map *map);

/* `key` isn't 0 (false). A key that is there already gets the new value (drivers may give one handle to two
 * objects of a kind). False on out of memory: nothing has changed. Any thread. */
bool handle_map_insert(struct handle_map *map, uint64_t key, void *value);

/* Returns what it stood for, or NULL. To be called before the object is destroyed: afterwards the driver may
 * give the same handle to a new one. Any thread. Create and destroy in turn never makes the map grow: it has
 * room for less than twice as many keys as there ever were at one time, or for 64. */
void *handle_map_remove(struct handle_map *map, uint64_t key);

/* Calls `visit` for each value, under the writers' lock. */
void handle_map_visit(struct handle_map *map, void (*visit)(void *context, void *value), void *context);

static inline unsigned handle_map_home(const struct handle_map_table *table, uint64_t key)
{
    return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> table->shift);
}

/* NULL if it isn't there. Any thread, no lock; the caller's own synchronization, which Vulkan demands of the
 * application, is what orders it after the insertion and before the removal of this key. Inline, since most
 * hooks begin with it. */
__attribute__((always_inline)) static inline void *handle_map_find(const struct handle_map *map, uint64_t key)
{
    struct handle_map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    if (!table || !key)
        return NULL;
    unsigned home = handle_map_home(table, key), link;
    do {
        link = atomic_load_explicit(&table->heads[home], memory_order_acquire);
        while (link < HANDLE_MAP_END) {
            struct handle_map_node *node = &table->nodes[link];
            if (atomic_load_explicit(&node->key, memory_order_relaxed) == key)
                return atomic_load_explicit(&node->value, memory_order_relaxed);
            link = atomic_load_explicit(&node->next, memory_order_acquire);
        }
    } while (link != (HANDLE_MAP_END | home));
    return NULL;
}

#endif
