/* A module's head with a variable of each kind, and what the scan should say of a body behind it. */
#ifndef RC_TESTS_SPIRV_HEAD_H
#define RC_TESTS_SPIRV_HEAD_H

#include "spirv_code.h"

#define R SPIRV_READS
#define W SPIRV_WRITES
#define S SPIRV_SAMPLES
#define ANYTHING (R | W | S)
#define ANY SPIRV_ANY_ELEMENT

static inline void expect_bindings(const struct spirv_entry *entry, const struct spirv_binding *expected,
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

/* --- The head --- */

/* The ids of a module's head; functions from 80, what functions define from 90. */
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

static inline void put_entry(struct code *code, uint32_t function, char name)
{
    CODE(code, OP_ENTRY_POINT, COMPUTE, function, TEXT(name, 0, 0, 0));
}

static inline void put_bindings(struct code *code)
{
    for (uint32_t i = 0; i < V_COUNT; i++) {
        CODE(code, OP_DECORATE, VARIABLE + i, DECORATION_DESCRIPTOR_SET, 0);
        CODE(code, OP_DECORATE, VARIABLE + i, DECORATION_BINDING, i);
    }
}

static inline void put_types(struct code *code)
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

static inline void put_variables(struct code *code)
{
    for (uint32_t i = 0; i <= V_BLOCKS - VARIABLE; i++)
        CODE(code, OP_VARIABLE, IMAGE_POINTER + i, VARIABLE + i, 0);
    CODE(code, OP_VARIABLE, BLOCK_POINTER, V_OTHER_BLOCK, 0);
    CODE(code, 4418, VOID, V_UNTYPED, 12); /* OpUntypedVariableKHR */
}

static inline void put_head(struct code *code)
{
    put_types(code);
    put_variables(code);
}

static inline void begin_main(struct code *code)
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

static inline void end_function(struct code *code)
{
    code_put(code, OP_RETURN, NULL, 0);
    code_put(code, OP_FUNCTION_END, NULL, 0);
}

static inline struct spirv_module *end_main(struct code *code)
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

#endif
