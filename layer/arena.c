#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

/* Most command buffers are small and many; a few are large. Each block is twice the last, within these. */
#define SMALLEST_BLOCK 1024
#define LARGEST_BLOCK 65536

struct arena_block {
    struct arena_block *next;
    size_t size, used; /* bytes of `data` */
    max_align_t data[];
};

static struct arena_block *block_create(const struct arena_block *last, size_t size)
{
    size_t wanted = last ? 2 * last->size : SMALLEST_BLOCK;
    if (wanted > LARGEST_BLOCK)
        wanted = LARGEST_BLOCK;
    if (size < wanted)
        size = wanted;
    if (size > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->next = NULL;
    block->size = size;
    block->used = 0;
    return block;
}

/* A block with room, made the next one: the first such that was used before the last reset, or else a new
 * one. Were only the next one asked, a program whose large requests come at changing places would collect
 * blocks. */
static struct arena_block *block_with_room(struct arena *arena, size_t size)
{
    struct arena_block **next = arena->current ? &arena->current->next : &arena->first, **place = next;
    struct arena_block *block;
    while (*place && (*place)->size < size)
        place = &(*place)->next;
    block = *place;
    if (block) {
        *place = block->next;
        block->used = 0;
    } else {
        block = block_create(arena->current, size);
        if (!block)
            return NULL;
    }
    block->next = *next;
    *next = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t unit = _Alignof(max_align_t);
    if (size > SIZE_MAX - unit)
        return NULL;
    size = (size + unit - 1) & ~(unit - 1);
    struct arena_block *block = arena->current;
    if (!block || block->size - block->used < size) {
        block = block_with_room(arena, size);
        if (!block)
            return NULL;
        arena->current = block;
    }
    void *memory = (char *)block->data + block->used;
    block->used += size;
    return memory;
}

void arena_reset(struct arena *arena)
{
    arena->current = NULL;
}

void arena_finish(struct arena *arena)
{
    while (arena->first) {
        struct arena_block *block = arena->first;
        arena->first = block->next;
        free(block);
    }
    arena->current = NULL;
}
