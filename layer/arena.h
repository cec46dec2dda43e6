/* Memory for what is recorded: taken in order, given back all at once. One owner, no lock. */
#ifndef RC_ARENA_H
#define RC_ARENA_H

#include <stddef.h>

struct arena_block;

/* All zero is a valid empty arena. */
struct arena {
    struct arena_block *first;
    struct arena_block *current; /* what lies behind it is empty */
};

/* `size` bytes, aligned for any type, not zeroed; valid until reset or finish. NULL on out of memory. */
void *arena_alloc(struct arena *arena, size_t size);

/* Everything is given back; the blocks are kept for what comes next, so that a program that records the same
 * again allocates nothing. */
void arena_reset(struct arena *arena);

void arena_finish(struct arena *arena);

#endif
