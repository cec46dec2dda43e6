/* subresource.c against a plain array with one element for each subresource. */
#include "arena.h"
#include "check.h"
#include "random.h"
#include "sync/subresource.h"

#define MAX_ASPECTS 3
#define MAX_MIPS 13
#define MAX_LAYERS 24
#define MAX_CELLS (MAX_ASPECTS * MAX_MIPS * MAX_LAYERS)
#define WORDS 14 /* of the largest value: as large as struct access */

struct value {
    uint32_t words[WORDS];
};

struct model {
    struct subresource_shape shape;
    struct value cells[MAX_CELLS];
};

/* --wrap=malloc: the calls until one fails (from then on all do), and how many there were. */
static unsigned until_failure = UINT32_MAX, mallocs;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    mallocs++;
    if (until_failure == 0)
        return NULL;
    if (until_failure != UINT32_MAX)
        until_failure--;
    return __real_malloc(size);
}

static struct value value_of(uint32_t number)
{
    struct value value;
    for (uint32_t i = 0; i < WORDS; i++)
        value.words[i] = number;
    return value;
}

static uint32_t cell(const struct subresource_shape *shape, uint32_t aspect, uint32_t mip, uint32_t layer)
{
    return (aspect * shape->mips + mip) * shape->layers + layer;
}

static bool contains(const struct subresource_range *range, uint32_t aspect, uint32_t mip, uint32_t layer)
{
    return (range->aspects >> aspect & 1) && mip >= range->base_mip &&
           mip - range->base_mip < range->mip_count && layer >= range->base_layer &&
           layer - range->base_layer < range->layer_count;
}

/* Marks the cells of a range; returns how many there are. */
static uint32_t mark(const struct subresource_shape *shape, const struct subresource_range *range,
                     uint8_t marks[MAX_CELLS])
{
    uint32_t count = 0;
    for (uint32_t aspect = 0; aspect < shape->aspects; aspect++)
        for (uint32_t mip = 0; mip < shape->mips; mip++)
            for (uint32_t layer = 0; layer < shape->layers; layer++)
                if (contains(range, aspect, mip, layer)) {
                    marks[cell(shape, aspect, mip, layer)]++;
                    count++;
                }
    return count;
}

static uint32_t cell_count(const struct subresource_shape *shape)
{
    return shape->aspects * shape->mips * shape->layers;
}

static struct subresource_shape random_shape(struct random *random)
{
    static const uint32_t few[] = {1, 1, 2, 3};
    struct subresource_shape shape;
    shape.aspects = 1 + (uint32_t)random_below(random, MAX_ASPECTS);
    shape.mips =
        random_below(random, 2) ? few[random_below(random, 4)] : 1 + (uint32_t)random_below(random, MAX_MIPS);
    shape.layers = random_below(random, 2) ? few[random_below(random, 4)]
                                           : 1 + (uint32_t)random_below(random, MAX_LAYERS);
    return shape;
}

/* A stretch of 0..count-1: often all, often one. */
static void random_stretch(struct random *random, uint32_t count, uint32_t *base, uint32_t *length)
{
    size_t kind = random_below(random, 3);
    *base = kind == 0 ? 0 : (uint32_t)random_below(random, count);
    *length = kind == 0 ? count : kind == 1 ? 1 : 1 + (uint32_t)random_below(random, count - *base);
}

static struct subresource_range random_range(struct random *random, const struct subresource_shape *shape)
{
    struct subresource_range range;
    range.aspects = 1 + (uint32_t)random_below(random, (1u << shape->aspects) - 1);
    random_stretch(random, shape->mips, &range.base_mip, &range.mip_count);
    random_stretch(random, shape->layers, &range.base_layer, &range.layer_count);
    return range;
}

/* One look or change of a range: what each rectangle must be, and which cells were in one already. */
struct visit {
    const struct model *model;
    uint32_t value_size;
    const struct subresource_range *range;
    uint8_t seen[MAX_CELLS];
    uint32_t rectangles;
    uint32_t change; /* 0: none; 1 to 4: that value; others: one that depends on the one before */
};

static struct value changed(const struct value *value, uint32_t change)
{
    if (change == 0)
        return *value;
    return value_of(change <= 4 ? change : value->words[0] / 2 + change % 3);
}

static void look(void *context, const struct subresource_range *range, const void *value)
{
    struct visit *visit = context;
    const struct subresource_shape *shape = &visit->model->shape;
    visit->rectangles++;
    assert_true(mark(shape, range, visit->seen) > 0);
    for (uint32_t aspect = 0; aspect < shape->aspects; aspect++)
        for (uint32_t mip = 0; mip < shape->mips; mip++)
            for (uint32_t layer = 0; layer < shape->layers; layer++)
                if (contains(range, aspect, mip, layer))
                    check(memcmp(&visit->model->cells[cell(shape, aspect, mip, layer)], value,
                                 visit->value_size) == 0,
                          "aspect %u mip %u layer %u", aspect, mip, layer);
}

static void change(void *context, const struct subresource_range *range, void *value)
{
    const struct visit *visit = context;
    struct value before = {{0}}, after;
    look(context, range, value);
    memcpy(&before, value, visit->value_size);
    after = changed(&before, visit->change);
    memcpy(value, &after, visit->value_size);
}

/* Each cell of the range once, and no other. */
static void check_seen(const struct visit *visit)
{
    uint8_t wanted[MAX_CELLS] = {0};
    mark(&visit->model->shape, visit->range, wanted);
    assert_memory_equal(wanted, visit->seen, cell_count(&visit->model->shape));
}

static struct visit visit_of(const struct model *model, const struct subresource_map *map,
                             const struct subresource_range *range)
{
    struct visit visit = {.model = model, .value_size = map->value_size, .range = range};
    return visit;
}

static void read_all(const struct model *model, const struct subresource_map *map)
{
    struct subresource_range all = subresource_range_all(&model->shape);
    struct visit visit = visit_of(model, map, &all);
    uint32_t runs = 1;
    subresource_map_read(map, &all, look, &visit);
    check_seen(&visit);
    for (uint32_t i = 1; i < cell_count(&model->shape); i++)
        runs += model->cells[i].words[0] != model->cells[i - 1].words[0];
    assert_int_equal(map->count, runs);
}

static void set_cells(struct model *model, const struct subresource_range *range, uint32_t change)
{
    uint8_t marks[MAX_CELLS] = {0};
    mark(&model->shape, range, marks);
    for (uint32_t i = 0; i < cell_count(&model->shape); i++)
        if (marks[i])
            model->cells[i] = changed(&model->cells[i], change);
}

/* True if it could be done. */
static bool update(struct random *random, struct model *model, struct subresource_map *map)
{
    struct subresource_range range = random_range(random, &model->shape);
    struct visit visit = visit_of(model, map, &range);
    visit.change = (uint32_t)random_below(random, 7);
    if (!subresource_map_update(map, &range, change, &visit)) {
        assert_int_equal(visit.rectangles, 0);
        return false;
    }
    check_seen(&visit);
    set_cells(model, &range, visit.change);
    return true;
}

static void read_some(struct random *random, const struct model *model, const struct subresource_map *map)
{
    struct subresource_range range = random_range(random, &model->shape);
    struct visit visit = visit_of(model, map, &range);
    subresource_map_read(map, &range, look, &visit);
    check_seen(&visit);
}

static void set_all(struct random *random, struct model *model, struct subresource_map *map)
{
    struct value value = value_of((uint32_t)random_below(random, 5));
    subresource_map_set_all(map, &value);
    for (uint32_t i = 0; i < cell_count(&model->shape); i++)
        model->cells[i] = value;
}

struct pair { /* two maps of one shape, one of them a copy of the other now and then */
    struct model models[2];
    struct subresource_map maps[2];
    struct value first[2];
    struct arena arenas[2];
};

static void pair_init(struct random *random, struct pair *pair)
{
    static const uint32_t sizes[] = {4, 8, 20, 4 * WORDS};
    struct subresource_shape shape = random_shape(random);
    uint32_t size = sizes[random_below(random, 4)];
    for (uint32_t i = 0; i < 2; i++) {
        pair->models[i].shape = shape;
        pair->first[i] = value_of(i);
        for (uint32_t c = 0; c < cell_count(&shape); c++)
            pair->models[i].cells[c] = pair->first[i];
        pair->arenas[i] = (struct arena){0};
        subresource_map_init(&pair->maps[i], &shape, size, &pair->first[i],
                             random_below(random, 2) ? &pair->arenas[i] : NULL);
    }
}

static void pair_finish(struct pair *pair)
{
    for (uint32_t i = 0; i < 2; i++) {
        subresource_map_finish(&pair->maps[i]);
        arena_finish(&pair->arenas[i]);
    }
}

/* One step of a sequence on one of the maps; what isn't possible for want of memory changes nothing. */
static void step(struct random *random, struct pair *pair)
{
    uint32_t i = (uint32_t)random_below(random, 2);
    size_t kind = random_below(random, 20);
    if (kind < 12)
        update(random, &pair->models[i], &pair->maps[i]);
    else if (kind < 16)
        read_some(random, &pair->models[i], &pair->maps[i]);
    else if (kind < 19) {
        if (subresource_map_copy(&pair->maps[i], &pair->maps[1 - i]))
            pair->models[i] = pair->models[1 - i];
    } else
        set_all(random, &pair->models[i], &pair->maps[i]);
    read_all(&pair->models[i], &pair->maps[i]);
}

static void run_sequences(uint64_t seed, unsigned shapes, bool failing)
{
    static struct pair pair;
    struct random random = random_from(seed);
    for (unsigned shape = 0; shape < shapes; shape++) {
        pair_init(&random, &pair);
        for (unsigned i = 0; i < 30; i++) {
            if (failing)
                until_failure = (unsigned)random_below(&random, 4);
            step(&random, &pair);
            until_failure = UINT32_MAX;
        }
        read_all(&pair.models[0], &pair.maps[0]);
        read_all(&pair.models[1], &pair.maps[1]);
        pair_finish(&pair);
    }
}

static void sequences(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        run_sequences(seed, 500, false);
    run_sequences(random_seed(), 1000, false);
}

static void sequences_without_memory(void **state)
{
    (void)state;
    run_sequences(7, 500, true);
    run_sequences(random_seed(), 500, true);
}

/* Every allocation in turn: the first two, of an update that splits, are those of the lists. */
static void failure_changes_nothing(void **state)
{
    struct subresource_shape shape = {1, 4, 6};
    struct subresource_range part = {1, 1, 2, 2, 3};
    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        struct value first = value_of(1), other_first = value_of(2);
        struct model model = {.shape = shape};
        struct subresource_map map, other;
        for (uint32_t i = 0; i < cell_count(&shape); i++)
            model.cells[i] = first;
        subresource_map_init(&map, &shape, sizeof(first), &first, NULL);
        struct visit visit = visit_of(&model, &map, &part);
        visit.change = 3;

        until_failure = n;
        assert_false(subresource_map_update(&map, &part, change, &visit));
        until_failure = UINT32_MAX;
        assert_int_equal(visit.rectangles, 0);
        read_all(&model, &map);
        assert_true(subresource_map_update(&map, &part, change, &visit));
        set_cells(&model, &part, 3);

        subresource_map_init(&other, &shape, sizeof(first), &other_first, NULL);
        until_failure = n;
        assert_false(subresource_map_copy(&other, &map));
        until_failure = UINT32_MAX;
        assert_int_equal(other.count, 1);
        assert_int_equal(other_first.words[0], 2);
        assert_true(subresource_map_copy(&other, &map));
        read_all(&model, &other);
        subresource_map_finish(&other);
        subresource_map_finish(&map);
    }
}

static void count_visit(void *context, const struct subresource_range *range, void *value)
{
    struct visit *visit = context;
    assert_memory_equal(range, visit->range, sizeof(*range));
    visit->rectangles++;
    memcpy(value, &(struct value){{9}}, sizeof(struct value));
}

/* The hot path: one visit, of the storage itself, nothing allocated. */
static void uniform_and_whole(void **state)
{
    struct subresource_shape shape = {2, 11, 6};
    struct subresource_range all = subresource_range_all(&shape);
    struct value first = value_of(0);
    struct model model = {.shape = shape};
    struct subresource_map map;
    (void)state;
    subresource_map_init(&map, &shape, sizeof(first), &first, NULL);
    struct visit visit = visit_of(&model, &map, &all);
    mallocs = 0;
    assert_true(subresource_map_update(&map, &all, count_visit, &visit));
    assert_int_equal(visit.rectangles, 1);
    assert_int_equal(first.words[0], 9);
    assert_int_equal(mallocs, 0);
    assert_int_equal(map.capacity, 0);
    subresource_map_finish(&map);
}

static void count_rectangle(void *context, const struct subresource_range *range, const void *value)
{
    (void)range;
    (void)value;
    (*(uint32_t *)context)++;
}

/* A uniform map is read as one rectangle whatever the range; whole mips of one run are one too. */
static void few_rectangles(void **state)
{
    struct subresource_shape shape = {1, 8, 6};
    struct subresource_range part = {1, 3, 4, 2, 3}, all = subresource_range_all(&shape);
    struct subresource_range low = {1, 0, 3, 0, 6};
    struct value first = value_of(0);
    struct model model = {.shape = shape};
    struct subresource_map map;
    uint32_t count = 0;
    (void)state;
    subresource_map_init(&map, &shape, sizeof(first), &first, NULL);
    subresource_map_read(&map, &part, count_rectangle, &count);
    assert_int_equal(count, 1);
    struct visit visit = visit_of(&model, &map, &low);
    visit.change = 2;
    assert_true(subresource_map_update(&map, &low, change, &visit));
    assert_int_equal(visit.rectangles, 1);
    count = 0;
    subresource_map_read(&map, &all, count_rectangle, &count);
    assert_int_equal(count, 2);
    subresource_map_finish(&map);
}

/* Warm, the same updates allocate nothing. */
static void warm(void **state)
{
    struct subresource_shape shape = {1, 12, 6};
    struct value first = value_of(0), zero = value_of(0);
    struct model model = {.shape = shape};
    struct subresource_map map;
    (void)state;
    subresource_map_init(&map, &shape, sizeof(first), &first, NULL);
    for (unsigned round = 0; round < 3; round++) {
        mallocs = 0;
        for (uint32_t mip = 0; mip < shape.mips; mip += 2) {
            struct subresource_range range = {1, mip, 1, 1, 2};
            struct visit visit = visit_of(&model, &map, &range);
            visit.change = 1 + mip % 3;
            assert_true(subresource_map_update(&map, &range, change, &visit));
            set_cells(&model, &range, visit.change);
        }
        read_all(&model, &map);
        subresource_map_set_all(&map, &zero);
        memset(model.cells, 0, sizeof(model.cells));
        assert_true(round == 0 ? mallocs > 0 : mallocs == 0);
    }
    subresource_map_finish(&map);
}

/* Overlapping, as sets of cells. */
static void check_two_ranges(const struct subresource_shape *shape, const struct subresource_range *a,
                             const struct subresource_range *b)
{
    uint8_t marks[MAX_CELLS] = {0};
    bool overlap = false;

    mark(shape, a, marks);
    mark(shape, b, marks);
    for (uint32_t i = 0; i < cell_count(shape); i++)
        overlap |= marks[i] == 2;
    assert_int_equal(subresource_ranges_overlap(a, b), overlap);
    assert_int_equal(subresource_ranges_overlap(b, a), overlap);
}

static void ranges(void **state)
{
    struct random random = random_from(random_seed());
    (void)state;
    for (unsigned round = 0; round < 30000; round++) {
        struct subresource_shape shape = {1 + (uint32_t)random_below(&random, 3),
                                          1 + (uint32_t)random_below(&random, 4),
                                          1 + (uint32_t)random_below(&random, 4)};
        struct subresource_range a = random_range(&random, &shape), b = random_range(&random, &shape);
        check_two_ranges(&shape, &a, &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences),
        cmocka_unit_test(sequences_without_memory),
        cmocka_unit_test(failure_changes_nothing),
        cmocka_unit_test(uniform_and_whole),
        cmocka_unit_test(few_rectangles),
        cmocka_unit_test(warm),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
