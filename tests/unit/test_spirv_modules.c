/* The SPIR-V scan: what lies around functions, what isn't understood, and how much memory it takes. */
#include <malloc.h>

#include "spirv_head.h"

#include "everything_1_0.h"

static struct code code;

/* --- Decorations --- */

static uint8_t access_of_block(const uint32_t (*decorations)[4], size_t count, bool by_group)
{
    uint8_t access;

    code_begin(&code, BOUND);
    put_entry(&code, MAIN, 'm');
    put_bindings(&code);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *it = decorations[i];

        if (by_group) {
            CODE(&code, OP_DECORATE, GROUP + 100 + (uint32_t)i, it[2]);
            if (it[0] == OP_MEMBER_DECORATE)
                CODE(&code, OP_GROUP_MEMBER_DECORATE, GROUP + 100 + (uint32_t)i, BLOCK, it[1]);
            else
                CODE(&code, OP_GROUP_DECORATE, GROUP + 100 + (uint32_t)i, it[1]);
        } else if (it[0] == OP_MEMBER_DECORATE) {
            CODE(&code, OP_MEMBER_DECORATE, BLOCK, it[1], it[2]);
        } else {
            CODE(&code, OP_DECORATE, it[1], it[2]);
        }
    }
    put_head(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, MAIN, V_BLOCK);
    struct spirv_module *module = end_main(&code);
    assert_non_null(module);
    assert_int_equal(module->entries[0].binding_count, 1);
    access = module->entries[0].bindings[0].access;
    free(module);
    return access;
}

#define ACCESS_OF_BLOCK(by_group, ...)                                                                       \
    access_of_block((const uint32_t[][4]){__VA_ARGS__},                                                      \
                    sizeof((const uint32_t[][4]){__VA_ARGS__}) / sizeof(uint32_t[4]), by_group)

static void test_decorations(void **state)
{
    (void)state;
    for (int group = 0; group < 2; group++) {
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_DECORATE, V_BLOCK, DECORATION_NON_WRITABLE}), R | S);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_DECORATE, V_BLOCK, DECORATION_NON_READABLE}), W | S);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_DECORATE, V_OTHER_BLOCK, DECORATION_NON_WRITABLE}),
                         ANYTHING);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_MEMBER_DECORATE, 1, DECORATION_NON_WRITABLE}), ANYTHING);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_MEMBER_DECORATE, 1, DECORATION_NON_WRITABLE},
                                         {OP_MEMBER_DECORATE, 1, DECORATION_NON_WRITABLE}),
                         ANYTHING);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_MEMBER_DECORATE, 1, DECORATION_NON_WRITABLE},
                                         {OP_MEMBER_DECORATE, 0, DECORATION_NON_WRITABLE}),
                         R | S);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_MEMBER_DECORATE, 0, DECORATION_NON_READABLE},
                                         {OP_MEMBER_DECORATE, 1, DECORATION_NON_READABLE},
                                         {OP_MEMBER_DECORATE, 1000, DECORATION_NON_WRITABLE}),
                         W | S);
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_MEMBER_DECORATE, 64, DECORATION_NON_WRITABLE},
                                         {OP_MEMBER_DECORATE, 1, DECORATION_NON_WRITABLE}),
                         ANYTHING);
        /* Of another decoration, and of a group of nothing. */
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_DECORATE, V_BLOCK, 23}), ANYTHING);
    }
}

/* Blocks of many members, none of which is ever written. */
static void test_many_members(void **state)
{
    (void)state;
    for (uint32_t members = 63; members <= 66; members++) {
        uint32_t block[67] = {RESULT + 1};

        code_begin(&code, BOUND);
        put_entry(&code, MAIN, 'm');
        put_bindings(&code);
        for (uint32_t i = 0; i < members; i++) {
            CODE(&code, OP_MEMBER_DECORATE, RESULT + 1, i, DECORATION_NON_WRITABLE);
            block[1 + i] = FLOAT;
        }
        code_put(&code, OP_TYPE_STRUCT, block, 1 + members);
        CODE(&code, OP_TYPE_POINTER, RESULT + 2, 12, RESULT + 1);
        CODE(&code, OP_VARIABLE, RESULT + 2, V_BLOCK, 12);
        CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
        CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, MAIN, V_BLOCK);
        /* Only so many are counted. */
        EXPECT_MAIN(&code, {0, 3, 0, members <= 64 ? R | S : ANYTHING});
    }
}

/* One group for several variables, with set and binding. */
static void test_group_of_bindings(void **state)
{
    (void)state;
    code_begin(&code, BOUND);
    put_entry(&code, MAIN, 'm');
    CODE(&code, OP_DECORATE, GROUP, DECORATION_DESCRIPTOR_SET, 3);
    CODE(&code, OP_DECORATE, GROUP, DECORATION_NON_WRITABLE);
    CODE(&code, 73, GROUP); /* OpDecorationGroup */
    CODE(&code, OP_DECORATE, V_BLOCK, DECORATION_BINDING, 9);
    CODE(&code, OP_DECORATE, V_BLOCKS, DECORATION_BINDING, 7);
    CODE(&code, OP_GROUP_DECORATE, GROUP, V_BLOCK, V_BLOCKS, V_IMAGE);
    put_head(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    CODE(&code, OP_STORE, ONE, V_BLOCK);
    CODE(&code, OP_LOAD, BLOCK, RESULT, V_BLOCKS);
    CODE(&code, OP_STORE, ONE, V_IMAGE); /* has no binding */
    EXPECT_MAIN(&code, {3, 7, ANY, R}, {3, 9, 0, R | S});
}

/* Two variables of one descriptor, of which one may write. */
static void test_aliased_variables(void **state)
{
    (void)state;
    code_begin(&code, BOUND);
    put_entry(&code, MAIN, 'm');
    for (uint32_t i = V_BLOCK; i <= V_OTHER_BLOCK; i += V_OTHER_BLOCK - V_BLOCK) {
        CODE(&code, OP_DECORATE, i, DECORATION_BINDING, 5);
        CODE(&code, OP_DECORATE, i, DECORATION_DESCRIPTOR_SET, 1);
    }
    CODE(&code, OP_DECORATE, V_BLOCK, DECORATION_NON_WRITABLE);
    put_head(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    CODE(&code, OP_LOAD, BLOCK, RESULT, V_BLOCK);
    CODE(&code, OP_STORE, V_OTHER_BLOCK, RESULT);
    EXPECT_MAIN(&code, {1, 5, 0, R | W});
}

/* --- Entry points and functions --- */

/* Both call one helper; one of them calls itself through another. */
static void test_entry_points(void **state)
{
    struct spirv_module *module;

    (void)state;
    code_begin(&code, BOUND);
    put_entry(&code, MAIN, 'a');
    put_entry(&code, MAIN + 3, 'b');
    CODE(&code, OP_ENTRY_POINT, 4, MAIN + 3, TEXT('b', 0, 0, 0));
    CODE(&code, OP_ENTRY_POINT, 4, MAIN + 5, TEXT('l', 'o', 'n', 'g'), TEXT('e', 'r', 0, 0), V_IMAGE);
    put_bindings(&code);
    put_head(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, HELPER);
    CODE(&code, OP_LOAD, BLOCK, RESULT + 1, V_BLOCK);
    end_function(&code);
    CODE(&code, OP_FUNCTION, VOID, HELPER, 0, FUNCTION_TYPE);
    CODE(&code, OP_STORE, V_OTHER_BLOCK, ONE);
    end_function(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN + 2, 0, FUNCTION_TYPE); /* nobody calls it */
    CODE(&code, OP_STORE, V_BLOCKS, ONE);
    end_function(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN + 3, 0, FUNCTION_TYPE);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT + 2, MAIN + 4);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT + 3, MAIN + 4);
    end_function(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN + 4, 0, FUNCTION_TYPE);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT + 4, MAIN + 3);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT + 5, MAIN + 4);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT + 6, HELPER);
    CODE(&code, OP_STORE, V_BLOCK, ONE);
    end_function(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN + 5, 0, FUNCTION_TYPE);
    module = end_main(&code);
    assert_non_null(module);
    assert_int_equal(module->entry_count, 4);
    EXPECT(spirv_find(module, "a", COMPUTE), {0, 3, 0, R}, {0, 7, 0, W});
    EXPECT(spirv_find(module, "b", COMPUTE), {0, 3, 0, W}, {0, 7, 0, W});
    EXPECT(spirv_find(module, "b", 4), {0, 3, 0, W}, {0, 7, 0, W});
    assert_int_equal(spirv_find(module, "longer", 4)->binding_count, 0);
    assert_null(spirv_find(module, "a", 4));
    assert_null(spirv_find(module, "long", 4));
    assert_null(spirv_find(module, "", COMPUTE));
    free(module);
}

/* A private variable that a resource's address is in. */
static void test_initial_values(void **state)
{
    (void)state;
    code_begin(&code, BOUND);
    put_entry(&code, MAIN, 'm');
    put_bindings(&code);
    put_head(&code);
    CODE(&code, OP_VARIABLE, BLOCK_POINTER, RESULT, 6, V_BLOCK);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    EXPECT_MAIN(&code, {0, 3, 0, ANYTHING});
}

static void test_library(void **state)
{
    struct spirv_module *module;

    (void)state;
    code_begin(&code, BOUND);
    put_bindings(&code);
    put_head(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, MAIN + 20); /* elsewhere */
    module = end_main(&code);
    assert_non_null(module);
    assert_int_equal(module->entry_count, 0);
    assert_null(spirv_find(module, "m", COMPUTE));
    free(module);
}

/* --- What isn't understood --- */

static void expect_refused(void)
{
    assert_null(code_scan(&code));
}

static void test_bad_header(void **state)
{
    (void)state;
    begin_main(&code);
    free(end_main(&code));
    for (uint32_t i = 0; i < SPIRV_HEADER_WORDS; i++)
        assert_null(code_scan_words(code.words, i));
    assert_null(spirv_scan(code.words, code.count * sizeof(code.words[0]) - 1));
    code.words[0] ^= 1;
    expect_refused();
    code.words[0] ^= 1;
    code.words[3] = 4194304;
    struct spirv_module *module = code_scan(&code);
    assert_non_null(module);
    free(module);
    code.words[3] = 4194305;
    expect_refused();
    code.words[3] = UINT32_MAX;
    expect_refused();
    code.words[3] = V_UNTYPED;
    expect_refused();
    code.words[3] = 0;
    expect_refused();
}

static void test_bad_lengths(void **state)
{
    uint32_t last;

    (void)state;
    begin_main(&code);
    last = code.count;
    CODE(&code, OP_LOAD, BLOCK, RESULT, V_BLOCK);
    free(end_main(&code));
    code.words[last] = OP_LOAD;
    expect_refused();
    code.words[last] = 100u << 16 | OP_LOAD;
    expect_refused();
    code.words[last] = 2u << 16 | OP_LOAD; /* what follows is no instruction */
    expect_refused();
}

static void test_bad_functions(void **state)
{
    (void)state;
    begin_main(&code);
    expect_refused(); /* no end */
    CODE(&code, OP_FUNCTION, VOID, HELPER, 0, FUNCTION_TYPE);
    end_function(&code);
    end_function(&code);
    expect_refused(); /* one in another */

    begin_main(&code);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, MAIN + 20);
    end_function(&code);
    expect_refused(); /* a call of nothing */
    begin_main(&code);
    CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, V_BLOCK);
    end_function(&code);
    expect_refused();

    begin_main(&code);
    end_function(&code);
    put_entry(&code, HELPER, 'x');
    expect_refused(); /* an entry point without a function */
    begin_main(&code);
    end_function(&code);
    CODE(&code, OP_ENTRY_POINT, COMPUTE, MAIN, TEXT('e', 'n', 'd', 'l'), TEXT('e', 's', 's', '!'));
    expect_refused();
    begin_main(&code);
    end_function(&code);
    CODE(&code, OP_ENTRY_POINT, COMPUTE, MAIN);
    expect_refused();
}

static void test_bad_ids(void **state)
{
    static const uint32_t bad[] = {0, BOUND, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        begin_main(&code);
        CODE(&code, OP_LOAD, STORAGE_IMAGE, bad[i], V_STORAGE_IMAGE);
        end_function(&code);
        expect_refused();
        begin_main(&code);
        end_function(&code);
        CODE(&code, OP_DECORATE, bad[i], DECORATION_BINDING, 0);
        expect_refused();
        begin_main(&code);
        end_function(&code);
        CODE(&code, OP_TYPE_STRUCT, bad[i]);
        expect_refused();
        /* Where nothing is defined, it is nothing. */
        begin_main(&code);
        CODE(&code, OP_IMAGE_WRITE, bad[i], ZERO, ONE);
        CODE(&code, OP_PHI, UINT, RESULT, bad[i], ONE);
        CODE(&code, OP_STORE, V_BLOCK, bad[i]);
        EXPECT_MAIN(&code, {0, 3, 0, W});
    }
    /* A second definition. */
    begin_main(&code);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT, V_STORAGE_IMAGE);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT, V_STORAGE_IMAGE);
    end_function(&code);
    expect_refused();
    /* A decoration after the definition; one without its value. */
    begin_main(&code);
    end_function(&code);
    CODE(&code, OP_DECORATE, BLOCK, DECORATION_NON_WRITABLE);
    expect_refused();
    begin_main(&code);
    end_function(&code);
    CODE(&code, OP_DECORATE, V_BLOCK, DECORATION_BINDING);
    expect_refused();
}

/* Entry points that all reach all: what they use would be more than the module is long. */
static void test_too_much_shared(void **state)
{
    (void)state;
    for (uint32_t entries = 1; entries <= 40; entries *= 40) {
        code_begin(&code, 4096);
        for (uint32_t i = 0; i < entries; i++)
            put_entry(&code, MAIN, 'm');
        put_types(&code);
        for (uint32_t i = 0; i < 400; i++) {
            CODE(&code, OP_DECORATE, 1000 + i, DECORATION_DESCRIPTOR_SET, 0);
            CODE(&code, OP_DECORATE, 1000 + i, DECORATION_BINDING, i);
        }
        CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
        for (uint32_t i = 0; i < 400; i++)
            CODE(&code, OP_STORE, 1000 + i, ONE);
        struct spirv_module *module = end_main(&code);
        assert_int_equal(module != NULL, entries == 1);
        free(module);
    }
}

/* ... and that are long underway. */
static void test_too_long_ways(void **state)
{
    (void)state;
    for (uint32_t entries = 1; entries <= 500; entries *= 500) {
        code_begin(&code, 4096);
        for (uint32_t i = 0; i < entries; i++)
            put_entry(&code, 1000, 'm');
        for (uint32_t i = 0; i < 500; i++) {
            CODE(&code, OP_FUNCTION, VOID, 1000 + i, 0, FUNCTION_TYPE);
            CODE(&code, OP_FUNCTION_CALL, VOID, 2000 + i, 1000 + (i + 1) % 500);
            end_function(&code);
        }
        struct spirv_module *module = code_scan(&code);
        assert_int_equal(module != NULL, entries == 1);
        free(module);
    }
}

/* --- Memory --- */

static int allocations_left = -1; /* -1: no limit */
static size_t live, peak;

static bool may_allocate(void)
{
    return allocations_left < 0 || allocations_left-- > 0;
}

static void *count_allocation(void *data)
{
    live += data ? malloc_usable_size(data) : 0;
    if (live > peak)
        peak = live;
    return data;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return may_allocate() ? count_allocation(__real_malloc(size)) : NULL;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? count_allocation(__real_calloc(count, size)) : NULL;
}

void __real_free(void *data);
void __wrap_free(void *data);
void __wrap_free(void *data)
{
    live -= data ? malloc_usable_size(data) : 0;
    __real_free(data);
}

/* Both at a time, as it may have to be. */
void *__wrap_realloc(void *data, size_t size);
void *__wrap_realloc(void *data, size_t size)
{
    size_t old = data ? malloc_usable_size(data) : 0;
    void *moved = __wrap_malloc(size);

    if (!moved)
        return NULL;
    if (old)
        memcpy(moved, data, old < size ? old : size);
    __wrap_free(data);
    return moved;
}

static void test_out_of_memory(void **state)
{
    struct spirv_module *module = NULL;
    int needed = 0;

    (void)state;
    for (; !module; needed++) {
        assert_true(needed < 100);
        allocations_left = needed;
        module = spirv_scan(everything_1_0, sizeof(everything_1_0));
        allocations_left = -1;
    }
    assert_true(needed > 8);
    assert_int_equal(module->entries[0].binding_count, 30);
    free(module);
}

static void expect_peak(bool understood)
{
    live = peak = 0;
    struct spirv_module *module = spirv_scan(code.words, code.count * sizeof(code.words[0]));

    assert_int_equal(module != NULL, understood);
    check(peak <= 128 * (size_t)code.count + 5 * ((size_t)code.words[3] + 1) + 4096, "%zu bytes of %u words",
          peak, code.count);
    free(module);
    assert_int_equal(live, 0);
}

/* Modules of as many as possible of one thing. */
static void test_memory(void **state)
{
    (void)state;
    /* Decorations. */
    code_begin(&code, 8192);
    for (uint32_t i = 1; i < 5400; i++)
        CODE(&code, OP_DECORATE, i, DECORATION_NON_WRITABLE);
    expect_peak(true);

    /* Entry points. */
    code_begin(&code, BOUND);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    end_function(&code);
    for (uint32_t i = 0; i < 4000; i++)
        put_entry(&code, MAIN, 'm');
    expect_peak(true);

    /* Calls, all of which go back. */
    code_begin(&code, BOUND);
    put_entry(&code, MAIN, 'm');
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    for (uint32_t i = 0; i < 4000; i++)
        CODE(&code, OP_FUNCTION_CALL, VOID, RESULT, MAIN);
    end_function(&code);
    expect_peak(true);

    /* Uses: a word each. */
    code_begin(&code, 2048);
    put_entry(&code, MAIN, 'm');
    for (uint32_t i = 0; i < 1000; i++) {
        CODE(&code, OP_DECORATE, 1000 + i, DECORATION_DESCRIPTOR_SET, 0);
        CODE(&code, OP_DECORATE, 1000 + i, DECORATION_BINDING, i);
    }
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    for (uint32_t i = 0; i < 7; i++) {
        uint32_t ids[1000];

        for (uint32_t j = 0; j < 1000; j++)
            ids[j] = 1000 + j;
        code_put(&code, 60000, ids, 1000);
    }
    end_function(&code);
    expect_peak(true);

    /* The same in a module of the greatest bound, and one that is no longer understood. */
    code.words[3] = 4194304;
    expect_peak(true);
    code.count--;
    expect_peak(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decorations),
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_group_of_bindings),
        cmocka_unit_test(test_aliased_variables),
        cmocka_unit_test(test_entry_points),
        cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_bad_header),
        cmocka_unit_test(test_bad_lengths),
        cmocka_unit_test(test_bad_functions),
        cmocka_unit_test(test_bad_ids),
        cmocka_unit_test(test_too_much_shared),
        cmocka_unit_test(test_too_long_ways),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
