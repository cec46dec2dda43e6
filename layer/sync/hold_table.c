#include "sync/hold_table.h"

#include <stdatomic.h>
#include <stdlib.h>

#define SIZE 4096 /* a power of two; where two meet, the later one counts anew */
#define COUNT_MASK UINT64_C(3)
_Static_assert(HOLD_VAIN_LIMIT < COUNT_MASK, "1 more than the count is kept, so that 0 is nobody's");

/* Each entry is a key but for its last bits, which are the count and one. */
struct hold_table {
    atomic_uint_fast64_t entries[SIZE];
};

struct hold_table *hold_table_create(void)
{
    return calloc(1, sizeof(struct hold_table));
}

void hold_table_destroy(struct hold_table *table)
{
    free(table);
}

uint64_t hold_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t slot_of(uint64_t key)
{
    return key >> 2 & (SIZE - 1);
}

int hold_table_vain(const struct hold_table *table, uint64_t key)
{
    if (!table)
        return HOLD_UNKNOWN;
    uint64_t entry = atomic_load_explicit(&table->entries[slot_of(key)], memory_order_relaxed);
    bool found = (entry & COUNT_MASK) && !((entry ^ key) & ~COUNT_MASK);
    return found ? (int)(entry & COUNT_MASK) - 1 : HOLD_UNKNOWN;
}

void hold_table_remember(struct hold_table *table, uint64_t key, bool vain)
{
    if (!table)
        return;
    int count = hold_table_vain(table, key);
    if (!vain)
        count = 0;
    else if (count < HOLD_VAIN_LIMIT)
        count = count == HOLD_UNKNOWN ? 1 : count + 1;
    atomic_store_explicit(&table->entries[slot_of(key)], (key & ~COUNT_MASK) | (uint64_t)(count + 1),
                          memory_order_relaxed);
}
