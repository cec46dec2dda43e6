/* Arrays that are kept from use to use and only grow. */
#ifndef RC_SYNC_GROW_H
#define RC_SYNC_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* `array` points to a pointer to `*capacity` elements of `size` bytes (malloc): makes room for `count`. False
 * on out of memory: nothing has changed. */
static inline bool grow(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
    void *items;
    if (count <= *capacity)
        return true;
    uint32_t wanted = count < 2 * *capacity ? 2 * *capacity : count + 7;
    memcpy(&items, array, sizeof(items));
    items = realloc(items, wanted * size);
    if (!items)
        return false;
    memcpy(array, &items, sizeof(items));
    *capacity = wanted;
    return true;
}

#endif
