#include "arena.h"
#include "check.h"
#include "random.h"

/* --wrap=malloc */
static bool fails;
static unsigned mallocs;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    mallocs++;
    /* The sanitizers' own would end the program. */
    return fails || size > SIZE_MAX / 2 ? NULL : __real_malloc(size);
}

struct piece {
    unsigned char *memory;
    size_t size;
    unsigned char mark;
};

/* Mostly small ones, now and then one that is larger than any block before. */
static size_t random_size(struct random *random)
{
    size_t kind = random_below(random, 40);
    return kind == 0  ? random_below(random, 100000)
           : kind < 4 ? random_below(random, 9000)
                      : random_below(random, 200);
}

/* What was taken is aligned, and stays what was written there until the reset. */
static void take_and_check(struct random *random, struct arena *arena, unsigned count)
{
    static struct piece pieces[500];
    assert_true(count <= 500);
    for (unsigned i = 0; i < count; i++) {
        struct piece *piece = &pieces[i];
        piece->size = random_size(random);
        piece->memory = arena_alloc(arena, piece->size);
        piece->mark = (unsigned char)random_next(random);
        assert_non_null(piece->memory);
        assert_int_equal((uintptr_t)piece->memory % _Alignof(max_align_t), 0);
        memset(piece->memory, piece->mark, piece->size);
    }
    for (unsigned i = 0; i < count; i++)
        for (size_t byte = 0; byte < pieces[i].size; byte++)
            check(pieces[i].memory[byte] == pieces[i].mark, "piece %u byte %zu", i, byte);
}

static void memory_is_separate(void **state)
{
    struct random random = random_from(random_seed());
    struct arena arena = {0};
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        take_and_check(&random, &arena, 1 + (unsigned)random_below(&random, 500));
        arena_reset(&arena);
    }
    arena_finish(&arena);
}

static void same_again_allocates_nothing(void **state)
{
    struct arena arena = {0};
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        struct random random = random_from(3);
        mallocs = 0;
        take_and_check(&random, &arena, 500);
        arena_reset(&arena);
        assert_true(round == 0 ? mallocs > 1 : mallocs == 0);
    }
    arena_finish(&arena);
}

/* The same requests in another order each time: the blocks of earlier rounds do. */
static void large_ones_anywhere(void **state)
{
    struct random random = random_from(random_seed());
    struct arena arena = {0};
    (void)state;
    mallocs = 0;
    for (unsigned round = 0; round < 3000; round++) {
        size_t sizes[100];
        for (unsigned i = 0; i < 100; i++)
            sizes[i] = i < 10 ? 20000 * (i + 1) : 1000;
        for (unsigned i = 99; i > 0; i--) {
            size_t other = random_below(&random, i + 1), size = sizes[i];
            sizes[i] = sizes[other];
            sizes[other] = size;
        }
        for (unsigned i = 0; i < 100; i++)
            assert_non_null(arena_alloc(&arena, sizes[i]));
        arena_reset(&arena);
    }
    assert_in_range(mallocs, 10, 60);
    arena_finish(&arena);
}

static void out_of_memory(void **state)
{
    struct arena arena = {0};
    unsigned char *before, *after;
    (void)state;
    fails = true;
    assert_null(arena_alloc(&arena, 1));
    fails = false;
    before = arena_alloc(&arena, 1);
    assert_non_null(before);
    *before = 42;
    fails = true;
    assert_null(arena_alloc(&arena, 1000000));
    after = arena_alloc(&arena, 1); /* still in the block that is there */
    fails = false;
    assert_non_null(after);
    *after = 1;
    assert_int_equal(*before, 42);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 2 * sizeof(max_align_t)));
    arena_finish(&arena);
    assert_non_null(arena_alloc(&arena, 1)); /* finished is empty, not spoilt */
    arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_separate),
        cmocka_unit_test(same_again_allocates_nothing),
        cmocka_unit_test(large_ones_anywhere),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
