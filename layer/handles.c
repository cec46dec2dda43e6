#include "handles.h"

#include <stdlib.h>

struct handle_table instance_table = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct handle_table device_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool insert_locked(struct handle_table *table, void *key, void *value)
{
    struct handle_block *block = &table->first;
    for (;;) {
        for (int i = 0; i < HANDLE_BLOCK_SLOTS; i++) {
            if (atomic_load_explicit(&block->slots[i].key, memory_order_relaxed))
                continue;
            block->slots[i].value = value;
            atomic_store_explicit(&block->slots[i].key, key, memory_order_release);
            return true;
        }
        struct handle_block *next = atomic_load_explicit(&block->next, memory_order_relaxed);
        if (!next) {
            next = calloc(1, sizeof(*next));
            if (!next)
                return false;
            atomic_store_explicit(&block->next, next, memory_order_release);
        }
        block = next;
    }
}

bool handles_insert(struct handle_table *table, void *key, void *value)
{
    pthread_mutex_lock(&table->lock);
    bool inserted = insert_locked(table, key, value);
    pthread_mutex_unlock(&table->lock);
    return inserted;
}

void *handles_find(struct handle_table *table, const void *key)
{
    for (struct handle_block *block = &table->first; block;
         block = atomic_load_explicit(&block->next, memory_order_acquire))
        for (int i = 0; i < HANDLE_BLOCK_SLOTS; i++)
            if (atomic_load_explicit(&block->slots[i].key, memory_order_acquire) == key)
                return block->slots[i].value;
    return NULL;
}

void *handles_remove(struct handle_table *table, const void *key)
{
    void *value = NULL;
    pthread_mutex_lock(&table->lock);
    for (struct handle_block *block = &table->first; block && !value;
         block = atomic_load_explicit(&block->next, memory_order_acquire))
        for (int i = 0; i < HANDLE_BLOCK_SLOTS && !value; i++)
            if (atomic_load_explicit(&block->slots[i].key, memory_order_relaxed) == key) {
                value = block->slots[i].value;
                atomic_store_explicit(&block->slots[i].key, NULL, memory_order_release);
            }
    pthread_mutex_unlock(&table->lock);
    return value;
}

void handles_visit(struct handle_table *table, void (*visit)(void *value))
{
    for (struct handle_block *block = &table->first; block;
         block = atomic_load_explicit(&block->next, memory_order_acquire))
        for (int i = 0; i < HANDLE_BLOCK_SLOTS; i++)
            if (atomic_load_explicit(&block->slots[i].key, memory_order_acquire))
                visit(block->slots[i].value);
}

void handles_after_fork(struct handle_table *table)
{
    pthread_mutex_init(&table->lock, NULL);
}
