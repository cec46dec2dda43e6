/* The SPIR-V scan: what counts as which use, in compiled shaders and in functions made by hand. */
#include "spirv_head.h"

#include "everything_1_0.h"
#include "everything_1_6.h"
#include "everything_debug.h"
#include "rays_1_6.h"
#include "trace_1_6.h"

/* --- Compiled shaders --- */

static void expect_everything(const uint32_t *words, size_t size)
{
    struct spirv_module *module = code_scan_words(words, size / sizeof(words[0]));

    assert_non_null(module);
    assert_int_equal(module->entry_count, 1);
    EXPECT(spirv_find(module, "main", 4), /* the samplers and sampled images */
           {0, 0, 0, S}, {0, 2, 0, S}, {0, 2, 2, S}, {0, 3, ANY, S}, {0, 4, ANY, S}, {0, 5, ANY, S},
           {0, 6, 0, S}, {0, 7, 0, S}, {0, 8, 0, S}, {0, 9, 0, S}, {0, 10, 0, ANYTHING}, {0, 11, 0, S},
           /* the storage images; three are passed to functions */
           {1, 0, 0, R}, {1, 1, 0, W}, {1, 2, 0, R | W}, {1, 3, 0, R | W}, {1, 4, 0, R | S}, {1, 5, 0, W | S},
           {1, 6, 0, ANYTHING}, {1, 7, 0, W}, {1, 7, 1, R}, {1, 8, 0, R},
           /* the buffers, and the input attachment */
           {2, 0, 0, R}, {2, 1, 1, R}, {2, 1, ANY, R}, {2, 2, 0, R}, {2, 3, 0, W}, {2, 4, 0, R | W},
           {2, 5, 0, S}, {3, 0, 0, R});
    free(module);
}

static void test_compiled(void **state)
{
    (void)state;
    expect_everything(everything_1_0, sizeof(everything_1_0));
    expect_everything(everything_1_6, sizeof(everything_1_6));
    expect_everything(everything_debug, sizeof(everything_debug));
}

static void test_compiled_rays(void **state)
{
    struct spirv_module *query = spirv_scan(rays_1_6, sizeof(rays_1_6));
    struct spirv_module *trace = spirv_scan(trace_1_6, sizeof(trace_1_6));

    (void)state;
    assert_non_null(query);
    assert_non_null(trace);
    EXPECT(spirv_find(query, "main", 5), {0, 0, 0, R}, {0, 1, 0, W}, {0, 2, 1, R});
    EXPECT(spirv_find(trace, "main", 5313), {0, 0, 0, R}, {0, 1, 0, W});
    free(query);
    free(trace);
}

static void test_other_byte_order(void **state)
{
    uint32_t swapped[sizeof(everything_1_6) / sizeof(uint32_t)];

    (void)state;
    for (size_t i = 0; i < sizeof(swapped) / sizeof(swapped[0]); i++)
        swapped[i] = __builtin_bswap32(everything_1_6[i]);
    expect_everything(swapped, sizeof(swapped));
}

/* --- Made by hand --- */

static struct code code;

/* Ids like small numbers are made variables of, and stand where literals do. */
static void test_literals_are_no_ids(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_LINE, 1, V_IMAGE, V_BLOCK);
    CODE(&code, OP_COMPOSITE_EXTRACT, FLOAT, RESULT, ONE, V_IMAGE);
    CODE(&code, OP_COMPOSITE_INSERT, FLOAT, RESULT + 1, ONE, TWO, V_IMAGE);
    CODE(&code, OP_VECTOR_SHUFFLE, FLOAT, RESULT + 2, ONE, ONE, V_IMAGE, V_BLOCK);
    CODE(&code, OP_LOAD, FLOAT, RESULT + 3, V_BLOCK, V_IMAGE);
    CODE(&code, OP_STORE, V_BLOCK, ONE, V_IMAGE);
    CODE(&code, 251, ONE, RESULT + 10, V_IMAGE, RESULT + 11); /* OpSwitch */
    CODE(&code, OP_EXT_INST, FLOAT, RESULT + 4, GLSL, V_IMAGE, ONE);
    CODE(&code, OP_IMAGE_WRITE, V_STORAGE_IMAGE, ZERO, ONE, V_IMAGE);
    EXPECT_MAIN(&code, {0, 1, 0, W}, {0, 3, 0, R | W});
}

static void test_interface_is_no_use(void **state)
{
    (void)state;
    code_begin(&code, BOUND);
    CODE(&code, OP_ENTRY_POINT, COMPUTE, MAIN, TEXT('m', 0, 0, 0), V_IMAGE, V_BLOCK);
    CODE(&code, 5, V_IMAGE, 0); /* OpName */
    put_bindings(&code);
    put_head(&code);
    CODE(&code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
    struct spirv_module *module = end_main(&code);
    assert_non_null(module);
    assert_int_equal(module->entries[0].binding_count, 0);
    free(module);
}

static void test_elements(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_ACCESS_CHAIN, VOID, RESULT, V_IMAGES, ONE);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT + 1, RESULT);
    CODE(&code, OP_IMAGE_READ, FLOAT, RESULT + 2, RESULT + 1, ZERO);
    CODE(&code, OP_ACCESS_CHAIN, VOID, RESULT + 3, V_IMAGES, SPECIALIZED);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT + 4, RESULT + 3);
    CODE(&code, OP_IMAGE_WRITE, RESULT + 4, ZERO, ONE);
    /* A constant of the arrays doesn't say which image. */
    CODE(&code, OP_ACCESS_CHAIN, VOID, RESULT + 5, V_IMAGES_OF_IMAGES, ONE, ZERO);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT + 6, RESULT + 5);
    CODE(&code, OP_IMAGE_READ, FLOAT, RESULT + 7, RESULT + 6, ZERO);
    /* The first index of a block is a member. */
    CODE(&code, OP_ACCESS_CHAIN, FLOAT_POINTER, RESULT + 8, V_BLOCK, ONE);
    CODE(&code, OP_STORE, RESULT + 8, ZERO);
    /* A second chain goes on inside of the descriptor. */
    CODE(&code, OP_IN_BOUNDS_ACCESS_CHAIN, BLOCK_POINTER, RESULT + 9, V_BLOCKS, TWO);
    CODE(&code, OP_ACCESS_CHAIN, FLOAT_POINTER, RESULT + 10, RESULT + 9, ONE);
    CODE(&code, OP_LOAD, FLOAT, RESULT + 11, RESULT + 10);
    CODE(&code, OP_ACCESS_CHAIN, FLOAT_POINTER, RESULT + 12, V_BLOCKS, LONG_ONE, ZERO);
    CODE(&code, OP_LOAD, FLOAT, RESULT + 13, RESULT + 12);
    CODE(&code, OP_ACCESS_CHAIN, FLOAT_POINTER, RESULT + 14, V_BLOCKS, NOTHING, ZERO);
    CODE(&code, OP_STORE, RESULT + 14, ZERO);
    CODE(&code, OP_ACCESS_CHAIN, FLOAT_POINTER, RESULT + 15, V_BLOCKS, LONG_MUCH, ZERO);
    CODE(&code, OP_STORE, RESULT + 15, ZERO);
    EXPECT_MAIN(&code, {0, 3, 0, W}, {0, 4, 1, R}, {0, 4, ANY, W}, {0, 5, ANY, ANYTHING}, {0, 6, 0, W},
                {0, 6, 1, R}, {0, 6, 2, R}, {0, 6, ANY, W});
}

static void test_pointer_chains(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_PTR_ACCESS_CHAIN, VOID, RESULT, V_IMAGES, ONE);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT + 1, RESULT);
    CODE(&code, OP_IMAGE_READ, FLOAT, RESULT + 2, RESULT + 1, ZERO);
    CODE(&code, OP_IN_BOUNDS_PTR_ACCESS_CHAIN, VOID, RESULT + 3, V_BLOCK, ONE, ONE);
    CODE(&code, OP_COPY_OBJECT, FLOAT_POINTER, RESULT + 4, RESULT + 3);
    CODE(&code, OP_COPY_MEMORY, V_OTHER_BLOCK, RESULT + 4);
    EXPECT_MAIN(&code, {0, 3, 0, R}, {0, 4, ANY, R}, {0, 7, 0, W});
}

static void test_sampled_images(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_LOAD, IMAGE, RESULT, V_IMAGE);
    CODE(&code, OP_LOAD, SAMPLER, RESULT + 1, V_SAMPLER);
    CODE(&code, OP_SAMPLED_IMAGE, SAMPLED_IMAGE, RESULT + 2, RESULT, RESULT + 1);
    EXPECT_MAIN(&code, {0, 0, 0, 0}, {0, 2, 0, S}); /* nothing was read of the image yet */
    begin_main(&code);
    CODE(&code, OP_LOAD, IMAGE, RESULT, V_IMAGE);
    CODE(&code, OP_LOAD, SAMPLER, RESULT + 1, V_SAMPLER);
    CODE(&code, OP_SAMPLED_IMAGE, SAMPLED_IMAGE, RESULT + 2, RESULT, RESULT + 1);
    CODE(&code, OP_IMAGE, IMAGE, RESULT + 3, RESULT + 2);
    CODE(&code, OP_IMAGE_QUERY_SAMPLES, UINT, RESULT + 4, RESULT + 3);
    EXPECT_MAIN(&code, {0, 0, 0, S}, {0, 2, 0, S});
}

static void test_atomics(void **state)
{
    static const struct {
        uint32_t opcode;
        bool has_result;
        uint8_t access;
    } cases[] = {
        {OP_ATOMIC_LOAD, true, R},
        {OP_ATOMIC_STORE, false, W},
        {OP_ATOMIC_EXCHANGE, true, R | W},
        {OP_ATOMIC_XOR, true, R | W},
        {OP_ATOMIC_FLAG_TEST_AND_SET, true, R | W},
        {OP_ATOMIC_FLAG_CLEAR, false, W},
        {OP_ATOMIC_F_ADD, true, R | W},
        {OP_ATOMIC_F_MIN, true, R | W},
        {OP_ATOMIC_F_MAX, true, R | W},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin_main(&code);
        CODE(&code, OP_IMAGE_TEXEL_POINTER, FLOAT_POINTER, RESULT, V_STORAGE_IMAGE, ZERO, ZERO);
        if (cases[i].has_result)
            CODE(&code, cases[i].opcode, UINT, RESULT + 1, RESULT, ONE, ZERO, ONE);
        else
            CODE(&code, cases[i].opcode, RESULT, ONE, ZERO, ONE);
        EXPECT_MAIN(&code, {0, 1, 0, cases[i].access});
    }
}

/* What isn't followed: all of it is possible. */
static void test_passed_on(void **state)
{
    static const struct {
        uint32_t opcode, words[6], count;
    } cases[] = {
        {OP_SELECT, {UINT, RESULT + 1, ONE, RESULT, ZERO}, 5},
        {OP_PHI, {UINT, RESULT + 1, ZERO, ONE, RESULT, TWO}, 6},
        {OP_FUNCTION_CALL, {VOID, RESULT + 1, MAIN, RESULT}, 4},
        {OP_STORE, {ONE, RESULT}, 2},
        {OP_EXT_INST, {FLOAT, RESULT + 1, GLSL, 51, RESULT}, 5},
        {OP_COMPOSITE_EXTRACT, {FLOAT, RESULT + 1, RESULT, 0}, 4},
        {OP_COMPOSITE_INSERT, {FLOAT, RESULT + 1, RESULT, ZERO, 0}, 5},
        {OP_COMPOSITE_INSERT, {FLOAT, RESULT + 1, ZERO, RESULT, 0}, 5},
        {80, {FLOAT, RESULT + 1, ZERO, RESULT}, 4}, /* OpCompositeConstruct */
        {254, {RESULT}, 1},                         /* OpReturnValue */
        {OP_BITCAST, {UINT, RESULT + 1, RESULT}, 3},
        {OP_CONVERT_PTR_TO_U, {UINT, RESULT + 1, RESULT}, 3},
        {OP_VARIABLE, {VOID, RESULT + 1, 7, RESULT}, 4}, /* its initial value */
        {400, {VOID, RESULT + 1, RESULT}, 3},            /* OpCopyLogical */
        {60000, {RESULT}, 1},                            /* nobody knows */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin_main(&code);
        CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT, V_STORAGE_IMAGE);
        code_put(&code, cases[i].opcode, cases[i].words, cases[i].count);
        EXPECT_MAIN(&code, {0, 1, 0, ANYTHING});
    }
}

static void test_not_passed_on(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_LOAD, STORAGE_IMAGE, RESULT, V_STORAGE_IMAGE);
    CODE(&code, OP_EXT_INST, VOID, RESULT + 1, NON_SEMANTIC, 1, RESULT, V_BLOCK);
    CODE(&code, OP_PHI, UINT, RESULT + 2, ZERO, RESULT); /* as a block, which it can't be */
    EXPECT_MAIN(&code, {0, 1, 0, 0});
}

/* A loop: its OpPhi names what comes later. */
static void test_phi_of_later(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_PHI, BLOCK_POINTER, RESULT, V_BLOCK, ONE, RESULT + 1, TWO, RESULT + 2, TWO, BOUND, TWO);
    CODE(&code, OP_ACCESS_CHAIN, BLOCK_POINTER, RESULT + 1, V_BLOCKS, ONE);
    CODE(&code, 128, UINT, RESULT + 2, ONE, ONE); /* OpIAdd */
    EXPECT_MAIN(&code, {0, 3, 0, ANYTHING}, {0, 6, 1, ANYTHING});
}

/* What has a binding, defined by an instruction that isn't known here. */
static void test_untyped_variable(void **state)
{
    (void)state;
    begin_main(&code);
    CODE(&code, OP_LOAD, UINT, RESULT, V_UNTYPED);
    EXPECT_MAIN(&code, {0, 8, ANY, ANYTHING});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_compiled_rays),
        cmocka_unit_test(test_other_byte_order),
        cmocka_unit_test(test_literals_are_no_ids),
        cmocka_unit_test(test_interface_is_no_use),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_pointer_chains),
        cmocka_unit_test(test_sampled_images),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_passed_on),
        cmocka_unit_test(test_not_passed_on),
        cmocka_unit_test(test_phi_of_later),
        cmocka_unit_test(test_untyped_variable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
