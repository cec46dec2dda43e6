/* What is remembered of render pass instances from frame to frame, of one device: how often one was held back
 * in vain for an image. Any thread, no lock: where two write at once, one of them counts for nothing. */
#ifndef RC_SYNC_HOLD_TABLE_H
#define RC_SYNC_HOLD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define HOLD_VAIN_LIMIT 2 /* an instance held so often in vain for an image isn't held for it any more */
#define HOLD_UNKNOWN (-1)

struct hold_table;
struct hold_table *hold_table_create(void); /* NULL on out of memory: then nothing is remembered */
void hold_table_destroy(struct hold_table *table);

uint64_t hold_mix(uint64_t hash, uint64_t value);

/* 0 to HOLD_VAIN_LIMIT, or HOLD_UNKNOWN. `key` is an instance's and an image's. `table` NULL: unknown. */
int hold_table_vain(const struct hold_table *table, uint64_t key);
/* Once more in vain, or (`vain` false) not: then it counts anew. */
void hold_table_remember(struct hold_table *table, uint64_t key, bool vain);

#endif
