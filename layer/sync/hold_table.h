/* What is remembered of render pass instances from frame to frame, of one device: how often one was held back
 * in vain for an image. Any thread, no lock: where two write at once, one of them counts for nothing. */
#ifndef RC_SYNC_HOLD_TABLE_H
#define RC_SYNC_HOLD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Given up is what was held in vain too often: twice, and twice as often after each time that this was wrong.
 */
enum hold_verdict { HOLD_UNKNOWN, HOLD_KNOWN, HOLD_GIVEN_UP };

enum hold_outcome {
    HOLD_IN_VAIN,
    HOLD_USED,
    HOLD_MISSED, /* it wasn't held, and should have been: it is held again */
};

struct hold_table;
struct hold_table *hold_table_create(void); /* NULL on out of memory: then nothing is remembered */
void hold_table_destroy(struct hold_table *table);

uint64_t hold_mix(uint64_t hash, uint64_t value);

/* `key` is an instance's and an image's. `table` NULL: unknown. */
enum hold_verdict hold_table_ask(const struct hold_table *table, uint64_t key);
void hold_table_remember(struct hold_table *table, uint64_t key, enum hold_outcome outcome);

#endif
