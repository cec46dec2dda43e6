/* Finding the layer's state for a dispatchable object. */
#ifndef RC_HANDLES_H
#define RC_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The loader's dispatch pointer, the first word of every dispatchable object: the same for an instance and
 * its physical devices, and for a device, its queues and command buffers. Read it before the object is
 * destroyed. */
static inline void *dispatch_key(const void *handle)
{
    return *(void *const *)handle;
}

/* Dispatch key -> state. Looking up takes no lock; entries of living objects never move.
 * A static zero is a valid empty table. */
#define HANDLE_BLOCK_SLOTS 32
/* Blocks are chained and never freed, so that a reader can walk them without a lock; how many there are
 * follows the most objects that ever lived at once, usually one. */
struct handle_block {
    struct {
        _Atomic(void *) key;
        void *value; /* written before the key is, read after it matched */
    } slots[HANDLE_BLOCK_SLOTS];
    _Atomic(struct handle_block *) next;
};
struct handle_table {
    struct handle_block first;
    pthread_mutex_t lock; /* held by writers */
};
extern struct handle_table instance_table;
extern struct handle_table device_table;

/* False on out of memory. Any thread. */
bool handles_insert(struct handle_table *table, void *key, void *value);

/* The state of a living object, or NULL. Any thread, no lock. */
void *handles_find(struct handle_table *table, const void *key);

/* The same where it is the first of the table, as the only device of a process is; else NULL. Inline, without
 * a call: the fast path of commands that are recorded by the thousand. */
static inline void *handles_find_first(struct handle_table *table, const void *key)
{
    return atomic_load_explicit(&table->first.slots[0].key, memory_order_acquire) == key
               ? table->first.slots[0].value
               : NULL;
}

/* Forgets the key, before the object is destroyed: afterwards the loader may give the same key to a new one.
 * Returns what it stood for, or NULL. */
void *handles_remove(struct handle_table *table, const void *key);

/* Calls `visit` for every entry. Only where no other thread can create or destroy objects (the child of a
 * fork). */
void handles_visit(struct handle_table *table, void (*visit)(void *value));

/* In the child of a fork(): the lock may have been held by a thread that no longer exists. */
void handles_after_fork(struct handle_table *table);

#endif
