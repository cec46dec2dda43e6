/* What spirv_scan() answers, found the slow way: the module as a list of instructions, and each question
 * ("what defines this id?", "is it decorated?") answered by a look through the whole list. For modules in
 * which each id has one definition and the sections stand in the order that the specification wants. */
#ifndef RC_TESTS_MODEL_SPIRV_H
#define RC_TESTS_MODEL_SPIRV_H

#include "check.h"
#include "sync/spirv.h"

#define MODEL_INSTRUCTIONS 1024
#define MODEL_FUNCTIONS 32
#define MODEL_BINDINGS 1024
#define MODEL_ANYTHING (SPIRV_READS | SPIRV_WRITES | SPIRV_SAMPLES)

struct model_instruction {
    uint32_t opcode, count;
    const uint32_t *words;
    uint32_t function; /* 0: outside; from 1 */
};

struct model_spirv {
    struct model_instruction list[MODEL_INSTRUCTIONS];
    uint32_t count;
    uint32_t function_count;
    struct spirv_binding bindings[MODEL_BINDINGS];
    uint32_t binding_count;
    bool unknown_callee;
};

/* A part of a resource, and the function that it was named in. */
struct model_part {
    uint32_t variable; /* 0: none */
    uint32_t element, function;
};

static void model_parse(struct model_spirv *model, const uint32_t *words, uint32_t count)
{
    uint32_t function = 0;

    memset(model, 0, sizeof(*model));
    for (uint32_t at = 5; at < count; at += words[at] >> 16) {
        struct model_instruction *in = &model->list[model->count++];

        assert_true(model->count < MODEL_INSTRUCTIONS);
        *in = (struct model_instruction){words[at] & 0xffff, words[at] >> 16, words + at, function};
        if (in->opcode == 54)
            in->function = function = ++model->function_count;
        if (in->opcode == 56)
            function = 0;
    }
}

static uint32_t model_word(const struct model_instruction *in, uint32_t index)
{
    return index < in->count ? in->words[index] : 0;
}

/* The declaration (OpType..., OpConstant, OpVariable, ...) with the result id at word `at`, or NULL. */
static const struct model_instruction *model_global(const struct model_spirv *model, uint32_t id,
                                                    uint32_t opcode, uint32_t at)
{
    for (uint32_t i = 0; i < model->count; i++)
        if (model->list[i].function == 0 && model->list[i].opcode == opcode &&
            model_word(&model->list[i], at) == id)
            return &model->list[i];
    return NULL;
}

/* --- Decorations --- */

static bool model_decorated(const struct model_spirv *model, uint32_t id, uint32_t decoration,
                            uint32_t *value)
{
    bool found = false;

    for (uint32_t i = 0; i < model->count; i++) {
        const struct model_instruction *in = &model->list[i];

        if (in->opcode == 71 && in->words[1] == id && in->words[2] == decoration) {
            *value = model_word(in, 3);
            found = true;
        }
        for (uint32_t j = 2; in->opcode == 74 && j < in->count; j++)
            if (in->words[j] == id && in->words[1] != id)
                found |= model_decorated(model, in->words[1], decoration, value);
    }
    return found;
}

static bool model_member_decorated(const struct model_spirv *model, uint32_t id, uint32_t member,
                                   uint32_t decoration)
{
    uint32_t value;

    for (uint32_t i = 0; i < model->count; i++) {
        const struct model_instruction *in = &model->list[i];

        if (in->opcode == 72 && in->words[1] == id && in->words[2] == member && in->words[3] == decoration)
            return true;
        for (uint32_t j = 2; in->opcode == 75 && j + 1 < in->count; j += 2)
            if (in->words[j] == id && in->words[j + 1] == member &&
                model_decorated(model, in->words[1], decoration, &value))
                return true;
    }
    return false;
}

static bool model_is_resource(const struct model_spirv *model, uint32_t id)
{
    uint32_t value;

    return model_decorated(model, id, 33, &value) && model_decorated(model, id, 34, &value);
}

/* --- Types --- */

enum model_shape {
    MODEL_UNKNOWN_SHAPE,
    MODEL_SINGLE,
    MODEL_ARRAY,
};

static const struct model_instruction *model_array(const struct model_spirv *model, uint32_t type)
{
    const struct model_instruction *in = model_global(model, type, 28, 1);

    return in ? in : model_global(model, type, 29, 1);
}

/* The type of what the descriptors are, 0 if the variable isn't known. */
static uint32_t model_type(const struct model_spirv *model, uint32_t variable, enum model_shape *shape)
{
    const struct model_instruction *in = model_global(model, variable, 59, 2);
    const struct model_instruction *pointer = in ? model_global(model, in->words[1], 32, 1) : NULL;
    const struct model_instruction *array;

    *shape = MODEL_UNKNOWN_SHAPE;
    if (!pointer)
        return 0;
    array = model_array(model, pointer->words[3]);
    *shape = array ? MODEL_ARRAY : MODEL_SINGLE;
    if (!array)
        return pointer->words[3];
    if (model_array(model, array->words[2]))
        *shape = MODEL_UNKNOWN_SHAPE;
    return array->words[2];
}

static bool model_is_buffer(const struct model_spirv *model, uint32_t variable)
{
    enum model_shape shape;

    return model_global(model, model_type(model, variable, &shape), 30, 1);
}

static bool model_is_acceleration(const struct model_spirv *model, uint32_t variable)
{
    enum model_shape shape;

    return model_global(model, model_type(model, variable, &shape), 5341, 1);
}

static bool model_is_handle(const struct model_spirv *model, uint32_t variable)
{
    enum model_shape shape;
    uint32_t type = model_type(model, variable, &shape);

    return model_is_acceleration(model, variable) || model_global(model, type, 25, 1) ||
           model_global(model, type, 26, 1) || model_global(model, type, 27, 1);
}

/* All members of its block, or itself. */
static bool model_never(const struct model_spirv *model, uint32_t variable, uint32_t decoration)
{
    enum model_shape shape;
    uint32_t type = model_type(model, variable, &shape), value;
    const struct model_instruction *block = model_global(model, type, 30, 1);

    if (model_decorated(model, variable, decoration, &value))
        return true;
    if (!block || block->count == 2)
        return false;
    for (uint32_t i = 0; i < block->count - 2; i++)
        if (!model_member_decorated(model, type, i, decoration))
            return false;
    return true;
}

/* OpConstant of a number under 2^32, or OpConstantNull. */
static bool model_constant(const struct model_spirv *model, uint32_t id, uint32_t *value)
{
    const struct model_instruction *in = model_global(model, id, 43, 2);

    *value = in ? in->words[3] : 0;
    for (uint32_t i = 4; in && i < in->count; i++)
        if (in->words[i])
            return false;
    return in || model_global(model, id, 46, 2);
}

static uint32_t model_element(const struct model_spirv *model, uint32_t variable, uint32_t index_id)
{
    enum model_shape shape;
    uint32_t value;

    model_type(model, variable, &shape);
    if (shape == MODEL_SINGLE)
        return 0;
    return shape == MODEL_ARRAY && model_constant(model, index_id, &value) ? value : SPIRV_ANY_ELEMENT;
}

/* --- Ids --- */

/* What `id` is a part of where instruction `at` names it. */
static struct model_part model_resolve(const struct model_spirv *model, uint32_t id, uint32_t at,
                                       uint32_t index_id)
{
    static const uint32_t deriving[] = {60, 61, 65, 66, 67, 70, 83, 86, 100};
    struct model_part none = {0};
    bool anywhere = model->list[at].opcode == 245;

    if (model_is_resource(model, id))
        return (struct model_part){id, model_element(model, id, index_id), model->list[at].function};
    for (uint32_t i = 0; i < model->count; i++) {
        const struct model_instruction *in = &model->list[i];

        if ((i >= at && !anywhere) || !in->function || in->words[0] >> 16 < 4 || in->words[2] != id)
            continue;
        for (size_t j = 0; j < sizeof(deriving) / sizeof(deriving[0]); j++) {
            bool chain = in->opcode == 65 || in->opcode == 66;

            if (in->opcode == deriving[j]) {
                struct model_part part = model_resolve(model, in->words[3], i, chain ? model_word(in, 4) : 0);

                return in->opcode == 61 && !model_is_handle(model, part.variable) ? none : part;
            }
        }
    }
    return none;
}

/* How instruction `in` uses what its word `index` names; -1: not at all. */
static int model_access(const struct model_spirv *model, const struct model_instruction *in, uint32_t index,
                        const struct model_part *part)
{
    static const struct {
        uint16_t first, last;
        uint8_t index, access;
    } rules[] = {
        {60, 60, 3, 0},
        {62, 62, 1, SPIRV_WRITES},
        {63, 64, 1, SPIRV_WRITES},
        {63, 64, 2, SPIRV_READS},
        {65, 67, 3, 0},
        {68, 68, 3, SPIRV_SAMPLES},
        {70, 70, 3, 0},
        {81, 81, 3, MODEL_ANYTHING},
        {82, 82, 3, MODEL_ANYTHING},
        {82, 82, 4, MODEL_ANYTHING},
        {83, 83, 3, 0},
        {86, 86, 3, 0},
        {86, 86, 4, SPIRV_SAMPLES},
        {87, 97, 3, SPIRV_SAMPLES},
        {98, 98, 3, SPIRV_READS},
        {99, 99, 1, SPIRV_WRITES},
        {100, 100, 3, 0},
        {101, 107, 3, SPIRV_SAMPLES},
        {227, 227, 3, SPIRV_READS},
        {228, 228, 1, SPIRV_WRITES},
        {229, 242, 3, SPIRV_READS | SPIRV_WRITES},
        {305, 315, 3, SPIRV_SAMPLES},
        {318, 318, 3, SPIRV_READS | SPIRV_WRITES},
        {319, 319, 1, SPIRV_WRITES},
        {320, 320, 3, SPIRV_READS},
        {4457, 4457, 3, SPIRV_READS},
        {4458, 4458, 1, SPIRV_WRITES},
        {5359, 5359, 3, SPIRV_READS},
        {5360, 5360, 1, SPIRV_WRITES},
        {5614, 5615, 3, SPIRV_READS | SPIRV_WRITES},
        {6035, 6035, 3, SPIRV_READS | SPIRV_WRITES},
    };
    static const struct {
        uint16_t first, last;
    } nothing[] = {{0, 8},     {54, 56},   {77, 79},   {84, 84},   {109, 116}, {118, 119},   {125, 168},
                   {170, 215}, {218, 225}, {246, 253}, {255, 255}, {317, 317}, {4459, 4459}, {333, 366}};
    bool listed = false;

    switch (in->opcode) {
    case 12: /* OpExtInst: GLSL.std.450, or an import that begins with "NonSemantic." */
        return index >= 5 && model_global(model, in->words[3], 11, 1)->words[2] != 0x536e6f4e ? MODEL_ANYTHING
                                                                                              : -1;
    case 57:
        return index >= 4 ? MODEL_ANYTHING : -1;
    case 59:
        return index == 4 ? MODEL_ANYTHING : -1;
    case 61:
        if (index != 3)
            return -1;
        if (model_is_handle(model, part->variable))
            return 0;
        return model_is_buffer(model, part->variable) ? SPIRV_READS : MODEL_ANYTHING;
    case 62:
        return index == 1 ? SPIRV_WRITES : index == 2 ? MODEL_ANYTHING : -1;
    case 245:
        return index >= 3 && index % 2 == 1 ? MODEL_ANYTHING : -1;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        bool of_opcode = in->opcode >= rules[i].first && in->opcode <= rules[i].last;

        if (of_opcode && index == rules[i].index)
            return rules[i].access;
        listed |= of_opcode;
    }
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
        listed |= in->opcode >= nothing[i].first && in->opcode <= nothing[i].last;
    return listed ? -1 : MODEL_ANYTHING;
}

/* --- Entry points --- */

static void model_add(struct model_spirv *model, const struct model_part *part, uint8_t access)
{
    struct spirv_binding binding = {.element = part->element, .access = access};

    model_decorated(model, part->variable, 34, &binding.set);
    model_decorated(model, part->variable, 33, &binding.binding);
    if (model_never(model, part->variable, 24))
        binding.access &= (uint8_t)~SPIRV_WRITES;
    if (model_never(model, part->variable, 25))
        binding.access &= (uint8_t)~SPIRV_READS;
    if (model_is_acceleration(model, part->variable))
        binding.access = SPIRV_READS;
    for (uint32_t i = 0; i < model->binding_count; i++) {
        struct spirv_binding *old = &model->bindings[i];

        if (old->set == binding.set && old->binding == binding.binding && old->element == binding.element) {
            old->access |= binding.access;
            return;
        }
    }
    assert_true(model->binding_count < MODEL_BINDINGS);
    model->bindings[model->binding_count++] = binding;
}

/* Those that the function `id` can reach, itself among them. */
static void model_reach(struct model_spirv *model, uint32_t id, bool *reached)
{
    const struct model_instruction *function = NULL;

    for (uint32_t i = 0; i < model->count; i++)
        if (model->list[i].opcode == 54 && model->list[i].words[2] == id)
            function = &model->list[i];
    if (!function) {
        model->unknown_callee = true;
        return;
    }
    if (reached[function->function])
        return;
    reached[function->function] = true;
    for (uint32_t i = 0; i < model->count; i++)
        if (model->list[i].opcode == 57 && model->list[i].function == function->function)
            model_reach(model, model->list[i].words[3], reached);
}

static int model_compare(const void *a, const void *b)
{
    const struct spirv_binding *x = a, *y = b;
    const uint64_t left = (uint64_t)x->set << 32 | x->binding, right = (uint64_t)y->set << 32 | y->binding;

    if (left != right)
        return left < right ? -1 : 1;
    return x->element < y->element ? -1 : x->element > y->element;
}

/* The bindings of the entry point with this function, into `model->bindings`. */
static void model_entry(struct model_spirv *model, uint32_t function)
{
    bool reached[MODEL_FUNCTIONS] = {true};

    model->binding_count = 0;
    model_reach(model, function, reached);
    for (uint32_t i = 0; i < model->count; i++) {
        const struct model_instruction *in = &model->list[i];

        if (in->function == 0 && in->opcode != 59)
            continue;
        for (uint32_t j = 1; j < in->count; j++) {
            bool chain = in->opcode == 65 || in->opcode == 66;
            struct model_part part = model_resolve(model, in->words[j], i, chain ? model_word(in, 4) : 0);
            int access = part.variable ? model_access(model, in, j, &part) : -1;

            if (access >= 0 && reached[part.function])
                model_add(model, &part, (uint8_t)access);
        }
    }
    qsort(model->bindings, model->binding_count, sizeof(model->bindings[0]), model_compare);
}

#endif
