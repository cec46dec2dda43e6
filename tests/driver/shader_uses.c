#include "shader_uses.h"

#include <stdlib.h>
#include <string.h>

/* --- The list --- */

static bool same_descriptor(const struct shader_use *a, const struct shader_use *b)
{
    return a->set == b->set && a->binding == b->binding && a->element == b->element;
}

static void add(struct shader_uses *uses, const struct shader_use *use)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        if (same_descriptor(&uses->items[i], use)) {
            uses->items[i].reads |= use->reads;
            uses->items[i].writes |= use->writes;
            return;
        }
    }
    if (uses->count == uses->capacity) {
        const uint32_t capacity = uses->capacity ? 2 * uses->capacity : 8;
        struct shader_use *items = realloc(uses->items, capacity * sizeof(*items));

        if (!items) {
            uses->incomplete = true;
            return;
        }
        uses->items = items;
        uses->capacity = capacity;
    }
    uses->items[uses->count++] = *use;
}

void shader_uses_join(struct shader_uses *uses, const struct shader_uses *other)
{
    uses->incomplete |= other->incomplete;
    for (uint32_t i = 0; i < other->count; i++)
        add(uses, &other->items[i]);
}

void shader_uses_finish(struct shader_uses *uses)
{
    free(uses->items);
    *uses = (struct shader_uses){0};
}

/* --- SPIR-V's numbers, as far as they matter here --- */

#define SPIRV_MAGIC 0x07230203u
#define SPIRV_HEADER_WORDS 5
#define SPIRV_MAX_BOUND 0x400000u

enum {
    OP_ENTRY_POINT = 15,
    OP_TYPE_IMAGE = 25,
    OP_TYPE_SAMPLED_IMAGE = 27,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_RUNTIME_ARRAY = 29,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT = 43,
    OP_CONSTANT_NULL = 46,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_IMAGE_TEXEL_POINTER = 60,
    OP_LOAD = 61,
    OP_ACCESS_CHAIN = 65,
    OP_IN_BOUNDS_ACCESS_CHAIN = 66,
    OP_DECORATE = 71,
    OP_COPY_OBJECT = 83,
};

enum {
    DECORATION_NON_WRITABLE = 24,
    DECORATION_NON_READABLE = 25,
    DECORATION_BINDING = 33,
    DECORATION_DESCRIPTOR_SET = 34,
};

enum {
    DIM_BUFFER = 5,
    DIM_SUBPASS_DATA = 6,
};

#define STORAGE_UNIFORM_CONSTANT 0
#define SAMPLED_AS_STORAGE 2

/* What is known of an <id>. */
struct id {
    uint32_t op; /* of the instruction whose result it is; 0 where it doesn't matter */
    /* Types: what they are made of. Images: the dimension. Variables: their type. Constants: the value. */
    uint32_t operand;
    uint32_t detail; /* pointers: the storage class; images: how they are sampled */
    size_t body;     /* functions: the word behind OpFunction */
    uint32_t set;
    uint32_t binding;
    bool non_writable;
    bool non_readable;
    bool reached; /* functions: in the call tree */
};

struct scan {
    const uint32_t *words;
    size_t count;
    struct id *ids; /* [0] stands for all that are out of bounds */
    uint32_t bound;
    struct shader_uses *uses;
};

struct instruction {
    uint32_t op;
    uint32_t count; /* of operands */
    const uint32_t *operands;
};

/* The instruction at a word, and the word behind it; false at the end and where the module is broken. */
static bool next(const struct scan *scan, size_t *at, struct instruction *out)
{
    uint32_t length;

    if (*at >= scan->count)
        return false;
    length = scan->words[*at] >> 16;
    if (!length || length > scan->count - *at)
        return false;
    *out = (struct instruction){scan->words[*at] & 0xffff, length - 1, &scan->words[*at + 1]};
    *at += length;
    return true;
}

static struct id *id_of(const struct scan *scan, uint32_t id)
{
    return &scan->ids[id < scan->bound ? id : 0];
}

/* An operand; 0 where there are fewer. */
static uint32_t operand(const struct instruction *instruction, uint32_t index)
{
    return index < instruction->count ? instruction->operands[index] : 0;
}

/* --- First pass: types, constants, variables, where functions are --- */

static void note_decoration(const struct scan *scan, const struct instruction *instruction)
{
    struct id *target = id_of(scan, operand(instruction, 0));

    switch (operand(instruction, 1)) {
    case DECORATION_NON_WRITABLE:
        target->non_writable = true;
        break;
    case DECORATION_NON_READABLE:
        target->non_readable = true;
        break;
    case DECORATION_BINDING:
        target->binding = operand(instruction, 2);
        break;
    case DECORATION_DESCRIPTOR_SET:
        target->set = operand(instruction, 2);
        break;
    default:
        break;
    }
}

static void note_result(const struct scan *scan, const struct instruction *instruction, uint32_t id,
                        uint32_t value, uint32_t detail)
{
    struct id *result = id_of(scan, id);

    result->op = instruction->op;
    result->operand = value;
    result->detail = detail;
}

static void note(const struct scan *scan, const struct instruction *instruction, size_t behind)
{
    const struct instruction *i = instruction;

    switch (i->op) {
    case OP_DECORATE:
        note_decoration(scan, i);
        break;
    case OP_TYPE_IMAGE:
        note_result(scan, i, operand(i, 0), operand(i, 2), operand(i, 6));
        break;
    case OP_TYPE_SAMPLED_IMAGE:
    case OP_TYPE_ARRAY:
    case OP_TYPE_RUNTIME_ARRAY:
        note_result(scan, i, operand(i, 0), operand(i, 1), 0);
        break;
    case OP_TYPE_POINTER:
        note_result(scan, i, operand(i, 0), operand(i, 2), operand(i, 1));
        break;
    case OP_CONSTANT:
        note_result(scan, i, operand(i, 1), operand(i, 2), 0);
        break;
    case OP_CONSTANT_NULL:
        note_result(scan, i, operand(i, 1), 0, 0);
        break;
    case OP_VARIABLE:
        note_result(scan, i, operand(i, 1), operand(i, 0), 0);
        break;
    case OP_FUNCTION:
        note_result(scan, i, operand(i, 1), 0, 0);
        id_of(scan, operand(i, 1))->body = behind;
        break;
    default:
        break;
    }
}

static uint32_t model_of(VkShaderStageFlagBits stage)
{
    static const struct {
        VkShaderStageFlagBits stage;
        uint32_t model;
    } models[] = {
        {VK_SHADER_STAGE_VERTEX_BIT, 0},
        {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, 1},
        {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, 2},
        {VK_SHADER_STAGE_GEOMETRY_BIT, 3},
        {VK_SHADER_STAGE_FRAGMENT_BIT, 4},
        {VK_SHADER_STAGE_COMPUTE_BIT, 5},
        {VK_SHADER_STAGE_RAYGEN_BIT_KHR, 5313},
        {VK_SHADER_STAGE_INTERSECTION_BIT_KHR, 5314},
        {VK_SHADER_STAGE_ANY_HIT_BIT_KHR, 5315},
        {VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, 5316},
        {VK_SHADER_STAGE_MISS_BIT_KHR, 5317},
        {VK_SHADER_STAGE_CALLABLE_BIT_KHR, 5318},
        {VK_SHADER_STAGE_TASK_BIT_EXT, 5364},
        {VK_SHADER_STAGE_MESH_BIT_EXT, 5365},
    };

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        if (models[i].stage == stage)
            return models[i].model;
    }
    return UINT32_MAX;
}

/* VK_NV_mesh_shader's models for the stages that have two. */
static bool model_fits(uint32_t model, VkShaderStageFlagBits stage)
{
    return model == model_of(stage) || (stage == VK_SHADER_STAGE_TASK_BIT_EXT && model == 5267) ||
           (stage == VK_SHADER_STAGE_MESH_BIT_EXT && model == 5268);
}

static bool is_entry(const struct instruction *instruction, const char *name, VkShaderStageFlagBits stage)
{
    const size_t size = strlen(name) + 1;

    return instruction->op == OP_ENTRY_POINT && instruction->count > 2 &&
           model_fits(instruction->operands[0], stage) &&
           size <= (instruction->count - 2) * sizeof(uint32_t) &&
           !memcmp(&instruction->operands[2], name, size);
}

/* --- Second pass: what the call tree names --- */

/* The type of one descriptor of the variable. */
static const struct id *descriptor_type(const struct scan *scan, const struct id *variable, bool *is_array)
{
    const struct id *pointer = id_of(scan, variable->operand);
    const struct id *type = id_of(scan, pointer->operand);

    *is_array = type->op == OP_TYPE_ARRAY || type->op == OP_TYPE_RUNTIME_ARRAY;
    if (*is_array)
        type = id_of(scan, type->operand);
    if (type->op == OP_TYPE_SAMPLED_IMAGE)
        type = id_of(scan, type->operand);
    return pointer->detail == STORAGE_UNIFORM_CONSTANT && type->op == OP_TYPE_IMAGE ? type : NULL;
}

/* The variable, as a whole or by a constant or other index. */
static void name_variable(const struct scan *scan, uint32_t id, const struct id *index)
{
    const struct id *variable = id_of(scan, id);
    struct shader_use use = {.set = variable->set, .binding = variable->binding};
    const struct id *type;
    bool is_array;

    if (variable->op != OP_VARIABLE)
        return;
    type = descriptor_type(scan, variable, &is_array);
    if (!type || type->operand == DIM_BUFFER || type->operand == DIM_SUBPASS_DATA)
        return;
    if (is_array && index && (index->op == OP_CONSTANT || index->op == OP_CONSTANT_NULL))
        use.element = index->operand;
    else if (is_array)
        use.element = SHADER_USE_ANY;
    use.writes = type->detail == SAMPLED_AS_STORAGE && !variable->non_writable;
    use.reads = !variable->non_readable;
    add(scan->uses, &use);
}

static void enter_function(const struct scan *scan, uint32_t id);

static void name_operands(const struct scan *scan, const struct instruction *instruction)
{
    switch (instruction->op) {
    case OP_LOAD:
    case OP_IMAGE_TEXEL_POINTER:
    case OP_COPY_OBJECT:
        name_variable(scan, operand(instruction, 2), NULL);
        break;
    case OP_ACCESS_CHAIN:
    case OP_IN_BOUNDS_ACCESS_CHAIN:
        name_variable(scan, operand(instruction, 2), id_of(scan, operand(instruction, 3)));
        break;
    case OP_FUNCTION_CALL:
        enter_function(scan, operand(instruction, 2));
        for (uint32_t i = 3; i < instruction->count; i++)
            name_variable(scan, operand(instruction, i), NULL);
        break;
    default:
        break;
    }
}

/* SPIR-V for Vulkan knows no recursion; `reached` keeps a broken module from it. */
static void enter_function(const struct scan *scan, uint32_t id)
{
    struct id *function = id_of(scan, id);
    struct instruction instruction;
    size_t at = function->body;

    if (function->op != OP_FUNCTION || function->reached)
        return;
    function->reached = true;
    while (next(scan, &at, &instruction) && instruction.op != OP_FUNCTION_END)
        name_operands(scan, &instruction);
}

static void scan_module(const struct scan *scan, const char *name, VkShaderStageFlagBits stage)
{
    struct instruction instruction;
    size_t at = SPIRV_HEADER_WORDS;
    uint32_t entry = 0;

    while (next(scan, &at, &instruction)) {
        if (is_entry(&instruction, name, stage))
            entry = instruction.operands[1];
        note(scan, &instruction, at);
    }
    if (at != scan->count || id_of(scan, entry)->op != OP_FUNCTION)
        scan->uses->incomplete = true;
    else
        enter_function(scan, entry);
}

void shader_uses_scan(struct shader_uses *uses, const uint32_t *code, size_t size, const char *entry,
                      VkShaderStageFlagBits stage)
{
    struct scan scan = {.words = code, .count = size / sizeof(*code), .uses = uses};

    if (scan.count < SPIRV_HEADER_WORDS || code[0] != SPIRV_MAGIC || !code[3] || code[3] > SPIRV_MAX_BOUND) {
        uses->incomplete = true;
        return;
    }
    scan.bound = code[3];
    scan.ids = calloc(scan.bound, sizeof(*scan.ids));
    if (!scan.ids) {
        uses->incomplete = true;
        return;
    }
    scan_module(&scan, entry, stage);
    free(scan.ids);
}
