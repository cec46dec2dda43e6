/* A value for each subresource of an image: one value while all are equal, a sorted list of runs otherwise.
 * Pure. Not thread-safe.
 *
 * A subresource is (aspect, mip, layer), aspect being an index: colour 0; depth 0 and stencil 1, where an
 * image has both. Their order in the list is aspect, then mip, then layer. */
#ifndef RC_SYNC_SUBRESOURCE_H
#define RC_SYNC_SUBRESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct subresource_shape {
    uint32_t aspects; /* 1 to 3 */
    uint32_t mips;    /* at least 1 */
    uint32_t layers;  /* at least 1 */
};

/* Within the shape, never empty. */
struct subresource_range {
    uint32_t aspects; /* bit i: aspect i; not 0 */
    uint32_t base_mip, mip_count;
    uint32_t base_layer, layer_count;
};

static inline struct subresource_range subresource_range_all(const struct subresource_shape *shape)
{
    return (struct subresource_range){(1u << shape->aspects) - 1, 0, shape->mips, 0, shape->layers};
}
bool subresource_ranges_overlap(const struct subresource_range *a, const struct subresource_range *b);

/* Values are plain bytes without padding that matters: compared by memcmp. */
struct subresource_map {
    struct subresource_shape shape;
    uint32_t value_size; /* bytes */
    uint32_t count;      /* runs; 1: uniform, and then nothing is allocated or looked at but `first` */
    uint32_t capacity;   /* of the two below */
    uint32_t *ends;      /* index behind the last subresource of each run */
    void *values;        /* of each run, while count is over 1 */
    void *first;         /* the caller's storage for one value, which must live and stay where it is */
    struct arena *arena; /* where runs are taken from; NULL: malloc */
};

/* `*first` is the value of all. */
void subresource_map_init(struct subresource_map *map, const struct subresource_shape *shape,
                          uint32_t value_size, void *first, struct arena *arena);
void subresource_map_finish(struct subresource_map *map);

static inline bool subresource_range_is_all(const struct subresource_shape *shape,
                                            const struct subresource_range *range)
{
    return range->aspects == (1u << shape->aspects) - 1 && range->mip_count == shape->mips &&
           range->layer_count == shape->layers;
}

/* The one value of the range where the map is uniform and the range is all of it, else NULL. To change it is
 * an update. Inline: so it is with most images, most of the time. */
static inline void *subresource_map_single(const struct subresource_map *map,
                                           const struct subresource_range *range)
{
    return map->count == 1 && subresource_range_is_all(&map->shape, range) ? map->first : NULL;
}

/* Called with rectangles that together are the range asked for, each subresource once; `value` is that of the
 * rectangle alone. As few as the runs allow: where a run covers several whole mips, or both aspects alike and
 * next to each other in `range`, it need not join them (barrier_images_join() does). While the map is
 * uniform and the range is whole there is one. */
typedef void (*subresource_visit)(void *context, const struct subresource_range *range, void *value);
typedef void (*subresource_look)(void *context, const struct subresource_range *range, const void *value);

/* `visit` may change each value; equal neighbours are united afterwards. False on out of memory: then nothing
 * was visited and nothing has changed. */
bool subresource_map_update(struct subresource_map *map, const struct subresource_range *range,
                            subresource_visit visit, void *context);
void subresource_map_read(const struct subresource_map *map, const struct subresource_range *range,
                          subresource_look look, void *context);

/* All subresources get `value` again. Never fails. */
void subresource_map_set_all(struct subresource_map *map, const void *value);

/* Replaces the contents of `to` (same shape and value size) by those of `from`. False on out of memory: `to`
 * is as it was. */
bool subresource_map_copy(struct subresource_map *to, const struct subresource_map *from);

#endif
