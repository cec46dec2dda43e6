#include "sync/subresource.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

bool subresource_ranges_overlap(const struct subresource_range *a, const struct subresource_range *b)
{
    return (a->aspects & b->aspects) && a->base_mip < b->base_mip + b->mip_count &&
           b->base_mip < a->base_mip + a->mip_count && a->base_layer < b->base_layer + b->layer_count &&
           b->base_layer < a->base_layer + a->layer_count;
}

static uint32_t total(const struct subresource_map *map)
{
    return map->shape.aspects * map->shape.mips * map->shape.layers;
}

static char *value_at(const struct subresource_map *map, uint32_t run)
{
    return (char *)(map->count == 1 ? map->first : map->values) + (size_t)run * map->value_size;
}

static uint32_t end_of(const struct subresource_map *map, uint32_t run)
{
    return map->count == 1 ? total(map) : map->ends[run];
}

void subresource_map_init(struct subresource_map *map, const struct subresource_shape *shape,
                          uint32_t value_size, void *first, struct arena *arena)
{
    memset(map, 0, sizeof(*map));
    map->shape = *shape;
    map->value_size = value_size;
    map->count = 1;
    map->first = first;
    map->arena = arena;
}

void subresource_map_finish(struct subresource_map *map)
{
    if (!map->arena) {
        free(map->ends);
        free(map->values);
    }
    map->ends = NULL;
    map->values = NULL;
    map->capacity = 0;
    map->count = 1;
}

static void *take(const struct subresource_map *map, size_t size)
{
    return map->arena ? arena_alloc(map->arena, size) : malloc(size);
}

/* Room for `wanted` runs. What the arrays hold is kept. */
static bool reserve(struct subresource_map *map, uint32_t wanted)
{
    if (wanted <= map->capacity)
        return true;
    uint32_t capacity = map->capacity ? map->capacity : 8;
    while (capacity < wanted)
        capacity *= 2;
    uint32_t *ends = take(map, capacity * sizeof(*ends));
    void *values = take(map, (size_t)capacity * map->value_size);
    if (!ends || !values) {
        if (!map->arena) {
            free(ends);
            free(values);
        }
        return false;
    }
    if (map->count > 1) {
        memcpy(ends, map->ends, map->count * sizeof(*ends));
        memcpy(values, map->values, (size_t)map->count * map->value_size);
    }
    if (!map->arena) {
        free(map->ends);
        free(map->values);
    }
    map->ends = ends;
    map->values = values;
    map->capacity = capacity;
    return true;
}

/* The run that holds an index. */
static uint32_t find_run(const struct subresource_map *map, uint32_t index)
{
    uint32_t low = 0, high = map->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index < end_of(map, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Makes a run begin at `index`; there is room for one more. */
static void split(struct subresource_map *map, uint32_t index)
{
    if (index == 0 || index >= total(map))
        return;
    uint32_t run = find_run(map, index);
    uint32_t begin = run ? end_of(map, run - 1) : 0;
    if (begin == index)
        return;
    if (map->count == 1) {
        memcpy(map->values, map->first, map->value_size);
        map->ends[0] = total(map);
    }
    memmove(&map->ends[run + 1], &map->ends[run], (map->count - run) * sizeof(*map->ends));
    char *value = (char *)map->values + (size_t)run * map->value_size;
    memmove(value + map->value_size, value, (size_t)(map->count - run) * map->value_size);
    map->ends[run] = index;
    map->count++;
}

/* Equal neighbours become one run; one run is uniform. */
static void unite(struct subresource_map *map)
{
    if (map->count == 1)
        return;
    uint32_t kept = 0;
    for (uint32_t run = 1; run < map->count; run++) {
        if (memcmp(value_at(map, kept), value_at(map, run), map->value_size) != 0) {
            kept++;
            if (kept != run)
                memcpy(value_at(map, kept), value_at(map, run), map->value_size);
        }
        map->ends[kept] = map->ends[run];
    }
    if (kept == 0)
        memcpy(map->first, map->values, map->value_size);
    map->count = kept + 1;
}

/* The range as stretches of indices: one for each aspect where it has all layers, else one for each mip. */
struct stretch {
    uint32_t aspect, mip, mip_count;
    uint32_t begin, end;
};

static void place(const struct subresource_map *map, const struct subresource_range *range,
                  struct stretch *out)
{
    const struct subresource_shape *shape = &map->shape;
    uint32_t row = (out->aspect * shape->mips + out->mip) * shape->layers;
    out->mip_count = range->layer_count == shape->layers ? range->mip_count : 1;
    out->begin = row + range->base_layer;
    out->end = out->begin + (out->mip_count - 1) * shape->layers + range->layer_count;
}

static bool next_aspect(const struct subresource_map *map, const struct subresource_range *range,
                        uint32_t aspect, struct stretch *out)
{
    while (aspect < map->shape.aspects && !(range->aspects & (1u << aspect)))
        aspect++;
    if (aspect >= map->shape.aspects)
        return false;
    out->aspect = aspect;
    out->mip = range->base_mip;
    place(map, range, out);
    return true;
}

static bool first_stretch(const struct subresource_map *map, const struct subresource_range *range,
                          struct stretch *out)
{
    return next_aspect(map, range, 0, out);
}

static bool next_stretch(const struct subresource_map *map, const struct subresource_range *range,
                         struct stretch *stretch)
{
    if (stretch->mip + stretch->mip_count < range->base_mip + range->mip_count) {
        stretch->mip += stretch->mip_count;
        place(map, range, stretch);
        return true;
    }
    return next_aspect(map, range, stretch->aspect + 1, stretch);
}

/* The rectangle that begins at an index inside a stretch, within a run that ends at `end`: whole mips where
 * it can. */
static struct subresource_range rectangle(const struct subresource_map *map, const struct stretch *stretch,
                                          uint32_t begin, uint32_t end)
{
    uint32_t layers = map->shape.layers;
    uint32_t row = begin / layers, layer = begin % layers;
    struct subresource_range range = {1u << stretch->aspect, row % map->shape.mips, 1, layer, 0};
    if (end > stretch->end)
        end = stretch->end;
    if (layer == 0 && end - begin >= layers) {
        range.mip_count = (end - begin) / layers;
        range.layer_count = layers;
    } else {
        uint32_t left = layers - layer;
        range.layer_count = end - begin < left ? end - begin : left;
    }
    return range;
}

static uint32_t size_of(const struct subresource_range *range)
{
    return range->mip_count * range->layer_count;
}

void subresource_map_read(const struct subresource_map *map, const struct subresource_range *range,
                          subresource_look look, void *context)
{
    struct stretch stretch;
    if (map->count == 1) {
        look(context, range, map->first);
        return;
    }
    for (bool more = first_stretch(map, range, &stretch); more; more = next_stretch(map, range, &stretch)) {
        uint32_t run = find_run(map, stretch.begin);
        for (uint32_t index = stretch.begin; index < stretch.end;) {
            while (index >= end_of(map, run))
                run++;
            struct subresource_range part = rectangle(map, &stretch, index, end_of(map, run));
            look(context, &part, value_at(map, run));
            index += size_of(&part);
        }
    }
}

/* How many runs splitting for the range can make. */
static uint32_t splits(const struct subresource_map *map, const struct subresource_range *range)
{
    struct stretch stretch;
    uint32_t count = 0;
    for (bool more = first_stretch(map, range, &stretch); more; more = next_stretch(map, range, &stretch)) {
        count += 2;
        /* Each run inside may be cut into its ragged ends and whole mips. */
        uint32_t first = find_run(map, stretch.begin), last = find_run(map, stretch.end - 1);
        count += 2 * (last - first + 1);
    }
    return count;
}

/* Cuts one stretch so that every run in it is a rectangle, and visits those. */
static void visit_stretch(struct subresource_map *map, const struct stretch *stretch, subresource_visit visit,
                          void *context)
{
    split(map, stretch->begin);
    split(map, stretch->end);
    for (uint32_t index = stretch->begin; index < stretch->end;) {
        uint32_t run = find_run(map, index);
        struct subresource_range part = rectangle(map, stretch, index, end_of(map, run));
        split(map, index + size_of(&part));
        visit(context, &part, value_at(map, run));
        index += size_of(&part);
    }
}

bool subresource_map_update(struct subresource_map *map, const struct subresource_range *range,
                            subresource_visit visit, void *context)
{
    struct stretch stretch;
    void *single = subresource_map_single(map, range);
    if (single) {
        visit(context, range, single);
        return true;
    }
    if (!reserve(map, map->count + splits(map, range)))
        return false;
    for (bool more = first_stretch(map, range, &stretch); more; more = next_stretch(map, range, &stretch))
        visit_stretch(map, &stretch, visit, context);
    unite(map);
    return true;
}

void subresource_map_set_all(struct subresource_map *map, const void *value)
{
    map->count = 1;
    memcpy(map->first, value, map->value_size);
}

bool subresource_map_copy(struct subresource_map *to, const struct subresource_map *from)
{
    if (from->count == 1) {
        to->count = 1;
        memcpy(to->first, from->first, to->value_size);
        return true;
    }
    if (!reserve(to, from->count))
        return false;
    memcpy(to->ends, from->ends, from->count * sizeof(*to->ends));
    memcpy(to->values, from->values, (size_t)from->count * to->value_size);
    to->count = from->count;
    return true;
}
