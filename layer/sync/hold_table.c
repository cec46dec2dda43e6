#include "sync/hold_table.h"

#include <stdatomic.h>
#include <stdlib.h>

#define SETS 1024 /* a power of two */
#define WAYS 4

/* Each entry is a key, whose last bits are known from the set that it stands in, and in their place what is
 * counted: in vain so often since it was of use, given up at 2^patience. 0: nobody's. */
#define SET_MASK ((uint64_t)SETS - 1)
#define VAIN_MASK UINT64_C(0x7f)
#define PATIENCE_SHIFT 7
#define PATIENCE_FIRST 1
#define PATIENCE_LAST 6
_Static_assert(PATIENCE_LAST << PATIENCE_SHIFT < SETS && 1 << PATIENCE_LAST <= VAIN_MASK, "they have room");

struct hold_table {
    atomic_uint_fast64_t entries[SETS][WAYS];
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

struct count {
    uint64_t vain, patience;
};

static struct count unpack(uint64_t entry)
{
    return (struct count){entry & VAIN_MASK, (entry & SET_MASK) >> PATIENCE_SHIFT};
}

/* False: nothing is known. */
static bool get(const struct hold_table *table, uint64_t key, uint32_t *way, struct count *count)
{
    for (*way = 0; *way < WAYS; ++*way) {
        uint64_t entry = atomic_load_explicit(&table->entries[key & SET_MASK][*way], memory_order_relaxed);
        *count = unpack(entry);
        if (count->patience && !((entry ^ key) & ~SET_MASK))
            return true;
    }
    return false;
}

/* For a new key: the one from which least was learnt. */
static uint32_t choose_way(const struct hold_table *table, uint64_t key)
{
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < WAYS; i++) {
        uint32_t way = (uint32_t)((key >> 32) + i) % WAYS;
        struct count count =
            unpack(atomic_load_explicit(&table->entries[key & SET_MASK][way], memory_order_relaxed));
        if (count.patience < least) {
            least = count.patience;
            best = way;
        }
    }
    return best;
}

static bool is_given_up(const struct count *count)
{
    return count->vain >> count->patience;
}

enum hold_verdict hold_table_ask(const struct hold_table *table, uint64_t key)
{
    struct count count;
    uint32_t way;
    if (!table || !get(table, key, &way, &count))
        return HOLD_UNKNOWN;
    return is_given_up(&count) ? HOLD_GIVEN_UP : HOLD_KNOWN;
}

void hold_table_remember(struct hold_table *table, uint64_t key, enum hold_outcome outcome)
{
    struct count count;
    uint32_t way;
    if (!table)
        return;
    if (!get(table, key, &way, &count)) {
        count = (struct count){0, PATIENCE_FIRST};
        way = choose_way(table, key);
    }
    /* Passes into one target may read another image each: then the turn of each comes after some in vain. */
    if (outcome == HOLD_MISSED && is_given_up(&count) && count.patience < PATIENCE_LAST)
        count.patience++;
    if (outcome != HOLD_IN_VAIN)
        count.vain = 0;
    else if (!is_given_up(&count))
        count.vain++;
    atomic_store_explicit(&table->entries[key & SET_MASK][way],
                          (key & ~SET_MASK) | count.patience << PATIENCE_SHIFT | count.vain,
                          memory_order_relaxed);
}
