/* The SPIR-V scan: on shaders that are compiled at build time, and on modules made by hand. */
#include <malloc.h>

#include "spirv_code.h"

#include "everything_1_0.h"
#include "everything_1_6.h"
#include "everything_debug.h"
#include "rays_1_6.h"
#include "trace_1_6.h"

#define R SPIRV_READS
#define W SPIRV_WRITES
#define S SPIRV_SAMPLES
#define ANYTHING (R | W | S)
#define ANY SPIRV_ANY_ELEMENT

static void expect_bindings(const struct spirv_entry *entry, const struct spirv_binding *expected,
                            size_t count)
{
    assert_non_null(entry);
    for (size_t i = 0; i < count && i < entry->binding_count; i++) {
        const struct spirv_binding *is = &entry->bindings[i], *should = &expected[i];

        check(is->set == should->set && is->binding == should->binding && is->element == should->element &&
                  is->access == should->access,
              "%s: %u.%u[%d] %u, should be %u.%u[%d] %u", entry->name, is->set, is->binding, (int)is->element,
              is->access, should->set, should->binding, (int)should->element, should->access);
    }
    assert_int_equal(entry->binding_count, count);
}

#define EXPECT(entry, ...)                                                                                   \
    expect_bindings(entry, (const struct spirv_binding[]){__VA_ARGS__},                                      \
                    sizeof((const struct spirv_binding[]){__VA_ARGS__}) / sizeof(struct spirv_binding))

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

/* --- Made by hand ---
 *
 * The ids of a module's head: functions from 80, what functions define from 90. */
enum id {
    VOID = 1,
    FLOAT,
    UINT,
    IMAGE,
    STORAGE_IMAGE,
    SAMPLER,
    SAMPLED_IMAGE,
    BLOCK,
    ZERO,
    ONE,
    TWO,
    SPECIALIZED,
    LONG_ONE,
    LONG_MUCH,
    NOTHING,
    IMAGES,
    IMAGES_OF_IMAGES,
    BLOCKS,
    IMAGE_POINTER,
    STORAGE_IMAGE_POINTER,
    SAMPLER_POINTER,
    BLOCK_POINTER,
    IMAGES_POINTER,
    IMAGES_OF_IMAGES_POINTER,
    BLOCKS_POINTER,
    FLOAT_POINTER,
    GLSL,
    NON_SEMANTIC,
    GROUP,
    FUNCTION_TYPE,
    /* Variables, all in set 0, by binding. */
    VARIABLE = 40,
    V_IMAGE = VARIABLE,
    V_STORAGE_IMAGE,
    V_SAMPLER,
    V_BLOCK,
    V_IMAGES,
    V_IMAGES_OF_IMAGES,
    V_BLOCKS,
    V_OTHER_BLOCK,
    V_UNTYPED,
    V_COUNT = V_UNTYPED + 1 - VARIABLE,
    MAIN = 80,
    HELPER,
    RESULT = 90,
    BOUND = 200,
};

#define TEXT(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define COMPUTE 5

static void put_entry(struct code *code, uint32_t function, char name)
{
    CODE(code, OP_ENTRY_POINT, COMPUTE, function, TEXT(name, 0, 0, 0));
}

static void put_bindings(struct code *code)
{
    for (uint32_t i = 0; i < V_COUNT; i++) {
        CODE(code, OP_DECORATE, VARIABLE + i, DECORATION_DESCRIPTOR_SET, 0);
        CODE(code, OP_DECORATE, VARIABLE + i, DECORATION_BINDING, i);
    }
}

static void put_types(struct code *code)
{
    CODE(code, 19, VOID);
    CODE(code, 22, FLOAT, 32);
    CODE(code, 21, UINT, 32, 0);
    CODE(code, OP_TYPE_IMAGE, IMAGE, FLOAT, 1, 0, 0, 0, 1, 0);
    CODE(code, OP_TYPE_IMAGE, STORAGE_IMAGE, FLOAT, 1, 0, 0, 0, 2, 0);
    CODE(code, OP_TYPE_SAMPLER, SAMPLER);
    CODE(code, OP_TYPE_SAMPLED_IMAGE, SAMPLED_IMAGE, IMAGE);
    CODE(code, OP_TYPE_STRUCT, BLOCK, FLOAT, FLOAT);
    CODE(code, OP_CONSTANT, UINT, ZERO, 0);
    CODE(code, OP_CONSTANT, UINT, ONE, 1);
    CODE(code, OP_CONSTANT, UINT, TWO, 2);
    CODE(code, 50, UINT, SPECIALIZED, 1);
    CODE(code, OP_CONSTANT, UINT, LONG_ONE, 1, 0);
    CODE(code, OP_CONSTANT, UINT, LONG_MUCH, 1, 1);
    CODE(code, OP_CONSTANT_NULL, UINT, NOTHING);
    CODE(code, OP_TYPE_ARRAY, IMAGES, STORAGE_IMAGE, TWO);
    CODE(code, OP_TYPE_ARRAY, IMAGES_OF_IMAGES, IMAGES, TWO);
    CODE(code, OP_TYPE_RUNTIME_ARRAY, BLOCKS, BLOCK);
    for (uint32_t i = 0; i < FLOAT_POINTER - IMAGE_POINTER; i++) {
        static const uint32_t types[] = {IMAGE,  STORAGE_IMAGE,    SAMPLER, BLOCK,
                                         IMAGES, IMAGES_OF_IMAGES, BLOCKS};

        CODE(code, OP_TYPE_POINTER, IMAGE_POINTER + i, 0, types[i]);
    }
    CODE(code, OP_TYPE_POINTER, FLOAT_POINTER, 12, FLOAT);
}

static void put_variables(struct code *code)
{
    for (uint32_t i = 0; i <= V_BLOCKS - VARIABLE; i++)
        CODE(code, OP_VARIABLE, IMAGE_POINTER + i, VARIABLE + i, 0);
    CODE(code, OP_VARIABLE, BLOCK_POINTER, V_OTHER_BLOCK, 0);
    CODE(code, 4418, VOID, V_UNTYPED, 12); /* OpUntypedVariableKHR */
}

static void put_head(struct code *code)
{
    put_types(code);
    put_variables(code);
}

static void begin_main(struct code *code)
{
    code_begin(code, BOUND);
    CODE(code, OP_EXT_INST_IMPORT, GLSL, TEXT('G', 'L', 'S', 'L'), 0);
    CODE(code, OP_EXT_INST_IMPORT, NON_SEMANTIC, TEXT('N', 'o', 'n', 'S'), TEXT('e', 'm', 'a', 'n'),
         TEXT('t', 'i', 'c', '.'), 0);
    put_entry(code, MAIN, 'm');
    put_bindings(code);
    put_head(code);
    CODE(code, OP_FUNCTION, VOID, MAIN, 0, FUNCTION_TYPE);
}

static void end_function(struct code *code)
{
    code_put(code, OP_RETURN, NULL, 0);
    code_put(code, OP_FUNCTION_END, NULL, 0);
}

static struct spirv_module *end_main(struct code *code)
{
    end_function(code);
    return code_scan(code);
}

#define EXPECT_MAIN(code, ...)                                                                               \
    do {                                                                                                     \
        struct spirv_module *module = end_main(code);                                                        \
        assert_non_null(module);                                                                             \
        EXPECT(spirv_find(module, "m", COMPUTE), __VA_ARGS__);                                               \
        free(module);                                                                                        \
    } while (0)

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
        /* Of another decoration, and of a group of nothing. */
        assert_int_equal(ACCESS_OF_BLOCK(group, {OP_DECORATE, V_BLOCK, 23}), ANYTHING);
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
    for (uint32_t entries = 1; entries <= 512; entries *= 512) {
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
        cmocka_unit_test(test_decorations),
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
