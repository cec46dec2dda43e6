/* The SPIR-V scan against a slow model, on random modules; and on damaged ones, of which it may say anything
 * that makes sense. */
#include "model_spirv.h"
#include "random.h"
#include "spirv_code.h"

#include "everything_1_6.h"
#include "trace_1_6.h"

/* --- Random modules --- */

#define MODULES 1500
#define TYPES 6 /* from 10: image, sampler, sampled image, acceleration structure, two blocks */
#define FUNCTIONS 6
#define VARIABLES 12

enum {
    GLSL = 1,
    NON_SEMANTIC,
    GROUP, /* three of them */
    INT = 8,
    FLOAT,
    TYPE = 10,
    CONSTANT = 20, /* 0 to 3, then 0 and 2^32 of 64 bits, 1 of a specialization, 0 as OpConstantNull */
    CONSTANTS = 8,
    ARRAY = 30, /* of each type, sized or not; then of two of those arrays */
    ARRAYS = TYPES + 2,
    POINTER = 40, /* to each type and array */
    VARIABLE = 60,
    FUNCTION = 80,
    FIRST_RESULT = 100,
};

struct generator {
    struct code code;
    struct random random;
    uint32_t next; /* id */
};

static uint32_t below(struct generator *generator, uint32_t limit)
{
    return (uint32_t)random_below(&generator->random, limit);
}

static void put_resource_decorations(struct generator *generator, uint32_t variable)
{
    struct code *code = &generator->code;

    if (below(generator, 10))
        CODE(code, OP_DECORATE, variable, DECORATION_DESCRIPTOR_SET, below(generator, 3));
    if (below(generator, 10))
        CODE(code, OP_DECORATE, variable, DECORATION_BINDING, below(generator, 5));
    if (!below(generator, 4))
        CODE(code, OP_DECORATE, variable, DECORATION_NON_WRITABLE + below(generator, 2));
}

static void put_decorations(struct generator *generator)
{
    struct code *code = &generator->code;

    for (uint32_t i = 0; i < 3; i++)
        if (below(generator, 2))
            CODE(code, OP_DECORATE, GROUP + i, DECORATION_NON_WRITABLE + below(generator, 2));
    if (below(generator, 2))
        CODE(code, OP_DECORATE, GROUP, DECORATION_DESCRIPTOR_SET, 3);
    for (uint32_t i = 0; i < 6; i++)
        if (below(generator, 2))
            CODE(code, OP_MEMBER_DECORATE, TYPE + 4 + below(generator, 2), below(generator, 3),
                 DECORATION_NON_WRITABLE + below(generator, 2));
    for (uint32_t i = 0; i < VARIABLES; i++)
        put_resource_decorations(generator, VARIABLE + i);
    /* From group 0, which has a set, only variables get decorations. */
    if (below(generator, 2))
        CODE(code, OP_GROUP_DECORATE, GROUP, VARIABLE + below(generator, VARIABLES),
             VARIABLE + below(generator, VARIABLES));
    if (below(generator, 2))
        CODE(code, OP_GROUP_DECORATE, GROUP + 1, VARIABLE + below(generator, VARIABLES));
    if (below(generator, 2))
        CODE(code, OP_GROUP_MEMBER_DECORATE, GROUP + 2, TYPE + 4, below(generator, 3), TYPE + 5,
             below(generator, 3));
}

static void put_types(struct generator *generator)
{
    struct code *code = &generator->code;

    CODE(code, 21, INT, 32, 0);
    CODE(code, 22, FLOAT, 32);
    CODE(code, OP_TYPE_IMAGE, TYPE, FLOAT, 1, 0, 0, 0, 1, 0);
    CODE(code, OP_TYPE_SAMPLER, TYPE + 1);
    CODE(code, OP_TYPE_SAMPLED_IMAGE, TYPE + 2, TYPE);
    CODE(code, OP_TYPE_ACCELERATION_STRUCTURE, TYPE + 3);
    CODE(code, OP_TYPE_STRUCT, TYPE + 4, FLOAT, FLOAT);
    CODE(code, OP_TYPE_STRUCT, TYPE + 5, FLOAT);
    for (uint32_t i = 0; i < 4; i++)
        CODE(code, OP_CONSTANT, INT, CONSTANT + i, i);
    CODE(code, OP_CONSTANT, INT, CONSTANT + 4, 0, 0);
    CODE(code, OP_CONSTANT, INT, CONSTANT + 5, 0, 1);
    CODE(code, 50, INT, CONSTANT + 6, 1);
    CODE(code, OP_CONSTANT_NULL, INT, CONSTANT + 7);
    for (uint32_t i = 0; i < ARRAYS; i++) {
        uint32_t of = i < TYPES ? TYPE + i : ARRAY + i - TYPES;

        if (below(generator, 2))
            CODE(code, OP_TYPE_RUNTIME_ARRAY, ARRAY + i, of);
        else
            CODE(code, OP_TYPE_ARRAY, ARRAY + i, of, CONSTANT + 3);
    }
    for (uint32_t i = 0; i < TYPES + ARRAYS; i++)
        CODE(code, OP_TYPE_POINTER, POINTER + i, 0, i < TYPES ? TYPE + i : ARRAY + i - TYPES);
    for (uint32_t i = 0; i < VARIABLES; i++) {
        uint32_t type = POINTER + below(generator, TYPES + ARRAYS);

        if (!below(generator, 10))
            CODE(code, 4418, type, VARIABLE + i, 12);
        else if (i && !below(generator, 20))
            CODE(code, OP_VARIABLE, type, VARIABLE + i, 6, VARIABLE + below(generator, i));
        else
            CODE(code, OP_VARIABLE, type, VARIABLE + i, 0);
    }
}

/* Ids of all kinds, and numbers that are none. */
static uint32_t operand(struct generator *generator)
{
    uint32_t results = generator->next - FIRST_RESULT;

    switch (below(generator, 10)) {
    case 0:
        return CONSTANT + below(generator, CONSTANTS);
    case 1:
        return below(generator, generator->next + 8); /* or not there yet */
    case 2:
    case 3:
    case 4:
        return VARIABLE + below(generator, VARIABLES);
    default: /* of the latest */
        return results ? generator->next - 1 - below(generator, results < 12 ? results : 12) : FLOAT;
    }
}

static uint32_t opcode(struct generator *generator)
{
    static const uint16_t often[] = {60, 61, 61, 61, 61, 62, 65, 65, 65, 66, 67, 83, 86, 87, 98, 99, 100};

    switch (below(generator, 8)) {
    case 0: /* all but those that make no sense in a function, and calls and variables, which have their own
             */
        return 60 + (below(generator, 10) ? below(generator, 350) : below(generator, 6000));
    default:
        return often[below(generator, sizeof(often) / sizeof(often[0]))];
    }
}

/* Decorations don't stand in functions. */
static bool is_decoration(uint32_t number)
{
    return number >= OP_DECORATE && number <= OP_GROUP_MEMBER_DECORATE;
}

static void put_instruction(struct generator *generator)
{
    uint32_t words[8], number = opcode(generator), count = 3 + below(generator, 5);

    if (is_decoration(number))
        return;
    words[0] = TYPE + below(generator, 3);
    for (uint32_t i = 1; i < count; i++)
        words[i] = operand(generator);
    switch (below(generator, 24)) {
    case 0:
        number = OP_FUNCTION_CALL;
        words[2] = FUNCTION + below(generator, below(generator, 200) ? FUNCTIONS : FUNCTIONS + 1);
        break;
    case 1:
        number = OP_PHI;
        words[2] = generator->next + 1 + below(generator, 6); /* of what follows */
        break;
    case 2:
        number = OP_VARIABLE;
        break;
    case 3:
        number = OP_EXT_INST;
        words[2] = GLSL + below(generator, 2);
        break;
    default:
        break;
    }
    /* What has no result has an operand there. */
    if (number == OP_STORE || number == OP_IMAGE_WRITE || number == OP_ATOMIC_STORE ||
        number == OP_COPY_MEMORY || number == OP_COPY_MEMORY_SIZED || number == OP_ATOMIC_FLAG_CLEAR)
        words[0] = operand(generator);
    else
        words[1] = generator->next++;
    code_put(&generator->code, number, words, count);
}

static void put_functions(struct generator *generator)
{
    struct code *code = &generator->code;

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        CODE(code, OP_FUNCTION, FLOAT, FUNCTION + i, 0, FLOAT);
        for (uint32_t j = below(generator, 14); j > 0; j--)
            put_instruction(generator);
        code_put(code, OP_RETURN, NULL, 0);
        code_put(code, OP_FUNCTION_END, NULL, 0);
    }
}

static void generate(struct generator *generator, uint64_t seed)
{
    struct code *code = &generator->code;

    generator->random = random_from(seed);
    generator->next = FIRST_RESULT;
    code_begin(code, 0);
    CODE(code, OP_EXT_INST_IMPORT, GLSL, 0x4c534c47, 0);
    CODE(code, OP_EXT_INST_IMPORT, NON_SEMANTIC, 0x536e6f4e, 0x6e616d65, 0x2e636974, 0);
    for (uint32_t i = 0; i <= below(generator, 4); i++)
        CODE(code, OP_ENTRY_POINT, 5, FUNCTION + below(generator, FUNCTIONS), 'a' + i, VARIABLE);
    put_decorations(generator);
    put_types(generator);
    put_functions(generator);
    code->words[3] = generator->next + 10;
}

static void compare(struct generator *generator, struct model_spirv *model, uint64_t seed)
{
    struct spirv_module *module = code_scan(&generator->code);
    uint32_t entries = 0;

    model_parse(model, generator->code.words, generator->code.count);
    for (uint32_t i = 0; i < model->count; i++) {
        const struct model_instruction *in = &model->list[i];

        if (in->opcode != OP_ENTRY_POINT)
            continue;
        model_entry(model, in->words[2]);
        if (!module)
            continue;
        const struct spirv_entry *entry = &module->entries[entries++];
        check(!model->unknown_callee, "%llu: calls nothing", (unsigned long long)seed);
        check(entry->binding_count == model->binding_count, "%llu: %u bindings, should be %u",
              (unsigned long long)seed, entry->binding_count, model->binding_count);
        for (uint32_t j = 0; j < entry->binding_count; j++) {
            const struct spirv_binding *is = &entry->bindings[j], *should = &model->bindings[j];

            check(is->set == should->set && is->binding == should->binding &&
                      is->element == should->element && is->access == should->access,
                  "%llu: %u.%u[%d] %u, should be %u.%u[%d] %u", (unsigned long long)seed, is->set,
                  is->binding, (int)is->element, is->access, should->set, should->binding,
                  (int)should->element, should->access);
        }
        assert_int_equal(entry->name[0], 'a' + (int)entries - 1);
    }
    check(module || model->unknown_callee, "%llu: refused", (unsigned long long)seed);
    assert_true(!module || module->entry_count == entries);
    free(module);
}

static void compare_many(uint64_t seed)
{
    static struct generator generator;
    static struct model_spirv model;

    for (uint64_t i = 0; i < MODULES; i++) {
        generate(&generator, seed + i);
        compare(&generator, &model, seed + i);
    }
}

static void test_model_known_seeds(void **state)
{
    (void)state;
    compare_many(1);
}

static void test_model_new_seeds(void **state)
{
    (void)state;
    compare_many(random_seed());
}

/* --- Damage --- */

/* Whatever it is, it is sorted, and says nothing that can't be. */
static void expect_sense(const uint32_t *words, size_t count)
{
    struct spirv_module *module = code_scan_words(words, count);

    for (uint32_t i = 0; module && i < module->entry_count; i++) {
        const struct spirv_entry *entry = &module->entries[i];

        assert_true(strlen(entry->name) <= count * sizeof(words[0]));
        for (uint32_t j = 0; j < entry->binding_count; j++) {
            assert_true(entry->bindings[j].access <= MODEL_ANYTHING);
            assert_true(j == 0 || model_compare(&entry->bindings[j - 1], &entry->bindings[j]) < 0);
        }
    }
    free(module);
}

static void damage(const uint32_t *words, size_t size)
{
    const size_t count = size / sizeof(words[0]);
    struct random random = random_from(random_seed());
    uint32_t *copy = malloc(size);
    uint8_t *bytes = (uint8_t *)copy;

    assert_non_null(copy);
    for (size_t i = 0; i <= count; i++)
        expect_sense(words, i);
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, words, size);
        bytes[i] ^= (uint8_t)(1 + random_below(&random, 255));
        expect_sense(copy, count);
    }
    free(copy);
}

static void test_damage(void **state)
{
    (void)state;
    damage(everything_1_6, sizeof(everything_1_6));
    damage(trace_1_6, sizeof(trace_1_6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_known_seeds),
        cmocka_unit_test(test_model_new_seeds),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
