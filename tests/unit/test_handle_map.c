#include "handle_map.h"

#include "check.h"
#include "random.h"

/* --wrap=calloc: tables that were made, and whether the next fails. Set by one thread. */
static unsigned tables;
static bool fails;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    if (fails)
        return NULL;
    tables++;
    return __real_calloc(count, size);
}

static uint32_t capacity(struct handle_map *map)
{
    struct handle_map_table *table = atomic_load(&map->table);
    return table ? table->count : 0;
}

/* Keys as drivers give them: heap addresses, numbers, numbers in the upper half. */
static uint64_t address_key(uint32_t number)
{
    return UINT64_C(0x7f12a4000000) + (uint64_t)number * 208;
}
static uint64_t number_key(uint32_t number)
{
    return number + 1;
}
static uint64_t upper_key(uint32_t number)
{
    return (uint64_t)(number + 1) << 32;
}
/* All in one place, so that every search is long: the hash function's inverse. */
static uint64_t crowded_key(uint32_t number)
{
    uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), inverse = factor;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    return ((UINT64_C(0xf8) << 56) + number + 1) * inverse;
}

static uint64_t (*const kinds[])(uint32_t) = {address_key, number_key, upper_key, crowded_key};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

#define MODEL_KEYS 300

struct model {
    uint64_t keys[MODEL_KEYS];
    char *values[MODEL_KEYS]; /* NULL: not there */
};

static char storage[1000]; /* values point into it */

static void count_value(void *context, void *value)
{
    unsigned *counts = context;
    counts[(char *)value - storage]++;
}

static void compare(struct handle_map *map, const struct model *model)
{
    unsigned visited[sizeof(storage)] = {0}, wanted[sizeof(storage)] = {0};
    for (uint32_t i = 0; i < MODEL_KEYS; i++) {
        assert_ptr_equal(handle_map_find(map, model->keys[i]), model->values[i]);
        if (model->values[i])
            wanted[model->values[i] - storage]++;
    }
    handle_map_visit(map, count_value, visited);
    assert_memory_equal(visited, wanted, sizeof(wanted));
}

static void change(struct random *random, struct handle_map *map, struct model *model)
{
    size_t i = random_below(random, MODEL_KEYS);
    if (random_below(random, 2)) {
        char *value = &storage[random_below(random, sizeof(storage))];
        if (handle_map_insert(map, model->keys[i], value))
            model->values[i] = value;
        else
            assert_true(fails);
    } else {
        assert_ptr_equal(handle_map_remove(map, model->keys[i]), model->values[i]);
        model->values[i] = NULL;
    }
}

static void against_a_list(void **state)
{
    struct random random = random_from(random_seed());
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct model model = {{0}, {0}};
        struct handle_map map;
        for (uint32_t i = 0; i < MODEL_KEYS; i++)
            model.keys[i] = kinds[kind](i);
        handle_map_init(&map);
        compare(&map, &model);
        for (unsigned round = 0; round < 300; round++) {
            fails = random_below(&random, 4) == 0;
            for (unsigned i = 0; i < 40; i++)
                change(&random, &map, &model);
            fails = false;
            compare(&map, &model);
        }
        handle_map_finish(&map);
    }
}

static void no_memory(void **state)
{
    struct handle_map map;
    uint32_t count = 0;
    (void)state;
    handle_map_init(&map);
    fails = true;
    assert_false(handle_map_insert(&map, 1, storage));
    assert_null(handle_map_find(&map, 1));
    fails = false;
    assert_true(handle_map_insert(&map, number_key(count++), storage));
    fails = true;
    while (handle_map_insert(&map, number_key(count), &storage[count]))
        count++;
    assert_int_equal(count, 64);
    assert_null(handle_map_find(&map, number_key(count)));
    assert_true(handle_map_insert(&map, number_key(0), storage)); /* a new value needs no memory */
    fails = false;
    assert_true(handle_map_insert(&map, number_key(count), &storage[count]));
    for (uint32_t i = 0; i <= count; i++)
        assert_ptr_equal(handle_map_find(&map, number_key(i)), &storage[i]);
    handle_map_finish(&map);
}

static void no_handle(void **state)
{
    struct handle_map map;
    (void)state;
    handle_map_init(&map);
    assert_null(handle_map_find(&map, 0));
    assert_null(handle_map_remove(&map, 5));
    assert_true(handle_map_insert(&map, 5, storage));
    assert_ptr_equal(handle_map_remove(&map, 5), storage); /* leaves a node that is nobody's */
    assert_false(handle_map_insert(&map, 0, storage));
    assert_null(handle_map_find(&map, 0));
    assert_null(handle_map_remove(&map, 0));
    handle_map_finish(&map);
}

/* Create and destroy in turn, others staying: not one new table. */
static void turns_keep_the_size(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct handle_map map;
        handle_map_init(&map);
        for (uint32_t i = 0; i < 30; i++)
            assert_true(handle_map_insert(&map, kinds[kind](i), storage));
        tables = 0;
        for (uint32_t i = 0; i < 1000000; i++) {
            uint64_t key = kinds[kind](30 + i % 1000);
            assert_true(handle_map_insert(&map, key, storage));
            assert_ptr_equal(handle_map_remove(&map, key), storage);
        }
        assert_int_equal(tables, 0);
        assert_int_equal(capacity(&map), 64);
        handle_map_finish(&map);
    }
}

/* A set that is always as large and always another, the oldest or any going first. */
static void turn_over(struct random *random, struct handle_map *map, uint64_t (*key)(uint32_t), uint32_t live,
                      bool oldest)
{
    static uint32_t numbers[5000];
    uint32_t next = 0;
    assert_true(live <= 5000);
    for (; next < live; next++) {
        numbers[next] = next;
        assert_true(handle_map_insert(map, key(next), storage));
    }
    for (; next < 100000; next++) {
        size_t i = oldest ? next % live : random_below(random, live);
        assert_ptr_equal(handle_map_remove(map, key(numbers[i])), storage);
        numbers[i] = next;
        assert_true(handle_map_insert(map, key(next), storage));
    }
}

static void turnover_keeps_the_size(void **state)
{
    static const uint32_t sizes[] = {1, 20, 64, 500, 4097};
    struct random random = random_from(random_seed());
    (void)state;
    for (size_t kind = 0; kind < KINDS - 1; kind++)
        for (unsigned i = 0; i < 10; i++) {
            uint32_t live = sizes[i / 2];
            struct handle_map map;
            handle_map_init(&map);
            turn_over(&random, &map, kinds[kind], live, i % 2);
            check(capacity(&map) == 64 || capacity(&map) < 2 * live, "%u slots for %u keys", capacity(&map),
                  live);
            handle_map_finish(&map);
        }
}

/* Threads: each makes and destroys objects of its own, looks at some that stay, and now and then takes one
 * that another made. */
#define THREADS 4
#define STAYING 200
#define ROUNDS 20000

struct object {
    uint64_t key;
    uint32_t payload; /* plain memory: TSan sees if a look-up isn't ordered behind what it finds */
};

struct shared {
    struct handle_map map;
    struct object staying[STAYING];
    _Atomic uint64_t handed[THREADS]; /* a key from thread i to the next; 0: none */
    atomic_uint wrong;
};

struct worker {
    pthread_t thread;
    struct shared *shared;
    uint32_t number;
};

static void expect(struct shared *shared, bool right)
{
    if (!right)
        atomic_fetch_add(&shared->wrong, 1);
}

static struct object *make(struct shared *shared, uint64_t key)
{
    struct object *object = malloc(sizeof(*object));
    if (!object)
        return NULL;
    object->key = key;
    object->payload = (uint32_t)key;
    expect(shared, handle_map_insert(&shared->map, key, object));
    return object;
}

static void unmake(struct shared *shared, uint64_t key)
{
    struct object *found = handle_map_find(&shared->map, key);
    expect(shared, found && found->key == key && found->payload == (uint32_t)key);
    expect(shared, handle_map_remove(&shared->map, key) == found);
    expect(shared, !handle_map_find(&shared->map, key));
    free(found);
}

/* The key is its place's until the next thread has taken it. */
static void hand_over(struct shared *shared, uint32_t number, uint64_t key)
{
    uint64_t none = 0;
    if (atomic_load_explicit(&shared->handed[number], memory_order_acquire) == 0) {
        if (make(shared, key))
            expect(shared, atomic_compare_exchange_strong(&shared->handed[number], &none, key));
    }
    uint32_t other = (number + THREADS - 1) % THREADS;
    uint64_t taken = atomic_load_explicit(&shared->handed[other], memory_order_acquire);
    if (taken) {
        unmake(shared, taken);
        atomic_store_explicit(&shared->handed[other], 0, memory_order_release);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    struct random random = random_from(worker->number);
    uint32_t first = (worker->number + 1) * 1000000, kept = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct object *object = &shared->staying[random_below(&random, STAYING)];
        expect(shared, handle_map_find(&shared->map, object->key) == object);
        uint64_t key = kinds[round % KINDS](first + round % 64);
        if (make(shared, key)) {
            expect(shared, handle_map_find(&shared->map, object->key) == object);
            unmake(shared, key);
        }
        hand_over(shared, worker->number, crowded_key(first + 1000 + round % 2));
        if (round % 64 == 0 && make(shared, address_key(first + 2000 + kept))) /* makes the map grow */
            kept++;
    }
    while (kept-- > 0)
        unmake(shared, address_key(first + 2000 + kept));
    return NULL;
}

static void threads(void **state)
{
    static struct shared shared;
    struct worker workers[THREADS];
    (void)state;
    handle_map_init(&shared.map);
    for (uint32_t i = 0; i < STAYING; i++) {
        shared.staying[i].key = i % 2 ? crowded_key(i) : address_key(i);
        assert_true(handle_map_insert(&shared.map, shared.staying[i].key, &shared.staying[i]));
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shared = &shared, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        if (atomic_load(&shared.handed[i]))
            unmake(&shared, atomic_load(&shared.handed[i]));
    for (uint32_t i = 0; i < STAYING; i++)
        assert_ptr_equal(handle_map_remove(&shared.map, shared.staying[i].key), &shared.staying[i]);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    unsigned left[sizeof(storage)] = {0}, none[sizeof(storage)] = {0};
    handle_map_visit(&shared.map, count_value, left);
    assert_memory_equal(left, none, sizeof(none));
    handle_map_finish(&shared.map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_list),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(no_handle),
        cmocka_unit_test(turns_keep_the_size),
        cmocka_unit_test(turnover_keeps_the_size),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
