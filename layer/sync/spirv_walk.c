#include "sync/spirv_walk.h"

#include <stdlib.h>

#include "sync/spirv.h"
#include "sync/spirv_ids.h"
#include "sync/spirv_words.h"

#define BOUND_MAX 4194304 /* the spec's universal limit */
#define ANYTHING (SPIRV_READS | SPIRV_WRITES | SPIRV_SAMPLES)

/* --- Uses --- */

static uint32_t element_of(const struct spirv_walk *walk, const struct spirv_resource *resource,
                           uint32_t index_id)
{
    if (resource->shape == SPIRV_SHAPE_SINGLE)
        return 0;
    bool constant =
        resource->shape == SPIRV_SHAPE_ARRAY && spirv_kind_of(walk, index_id) == SPIRV_KIND_CONSTANT;
    return constant ? walk->values[index_id] : SPIRV_ANY_ELEMENT;
}

/* Of a resource in this function; the last one with the same element serves again. NULL on out of memory. */
static struct spirv_use *use_resource(struct spirv_walk *walk, uint32_t index, uint32_t index_id)
{
    struct spirv_resource *resource = &walk->resources[index];
    uint32_t element = element_of(walk, resource, index_id);
    uint32_t first = walk->functions[walk->function_count - 1].first_use;
    if (resource->latest >= first && resource->latest < walk->use_count) {
        struct spirv_use *latest = &walk->uses[resource->latest];
        if (latest->resource == index && latest->element == element)
            return latest;
    }
    if (!spirv_reserve(walk, &walk->uses, &walk->use_capacity, walk->use_count, sizeof(walk->uses[0])))
        return NULL;
    resource->latest = walk->use_count;
    walk->uses[walk->use_count] = (struct spirv_use){.resource = index, .element = element};
    return &walk->uses[walk->use_count++];
}

/* NULL if the id is no part of a resource. `index_id` as a first index, 0: none. */
static struct spirv_use *use_of(struct spirv_walk *walk, uint32_t id, uint32_t index_id)
{
    switch (spirv_kind_of(walk, id)) {
    case SPIRV_KIND_USE:
        return &walk->uses[walk->values[id]];
    case SPIRV_KIND_RESOURCE:
        return use_resource(walk, walk->values[id], index_id);
    default:
        return NULL;
    }
}

static void touch(struct spirv_walk *walk, uint32_t id, uint8_t access)
{
    struct spirv_use *use = use_of(walk, id, 0);
    if (use)
        use->access |= access;
}

/* What becomes of these isn't followed. */
static void escape(struct spirv_walk *walk, const struct spirv_instruction *in, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && i < in->count; i++)
        if (spirv_kind_of(walk, in->words[i]) >= SPIRV_KIND_RESOURCE)
            touch(walk, in->words[i], ANYTHING);
}

/* The result is a part of the resource that word 3 is a part of. */
static void derive(struct spirv_walk *walk, const struct spirv_instruction *in, uint32_t index_id)
{
    struct spirv_use *use = use_of(walk, spirv_word(in, 3), index_id);
    if (!use)
        return;
    if (spirv_kind_of(walk, spirv_word(in, 2)) == SPIRV_KIND_AWAITED)
        use->access |= ANYTHING;
    spirv_define(walk, spirv_word(in, 2), SPIRV_KIND_USE, (uint32_t)(use - walk->uses));
}

static void walk_load(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    struct spirv_use *use = use_of(walk, spirv_word(in, 3), 0);
    if (!use)
        return;
    switch (walk->resources[use->resource].content) {
    case SPIRV_CONTENT_BUFFER:
        use->access |= SPIRV_READS;
        break;
    case SPIRV_CONTENT_HANDLE:
    case SPIRV_CONTENT_ACCELERATION:
        derive(walk, in, 0);
        break;
    default:
        use->access |= ANYTHING;
        break;
    }
}

/* The one instruction of a function that names ids before their definition. */
static void walk_phi(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    for (uint32_t i = 3; i < in->count; i += 2) {
        if (in->words[i] && in->words[i] < walk->bound && walk->kinds[in->words[i]] == SPIRV_KIND_NONE)
            walk->kinds[in->words[i]] = SPIRV_KIND_AWAITED;
        escape(walk, in, i, i + 1);
    }
}

/* Its initial value may be a resource. */
static void walk_variable(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    spirv_learn_type(walk, spirv_word(in, 2), spirv_word(in, 1));
    escape(walk, in, 4, 5);
}

/* --- Functions --- */

static void begin_function(struct spirv_walk *walk)
{
    if (spirv_reserve(walk, &walk->functions, &walk->function_capacity, walk->function_count,
                      sizeof(walk->functions[0])))
        walk->functions[walk->function_count++] = (struct spirv_function){walk->use_count, walk->call_count};
}

static void walk_function(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    spirv_define(walk, spirv_word(in, 2), SPIRV_KIND_FUNCTION, walk->function_count);
    begin_function(walk);
    walk->inside = true;
}

static void walk_call(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    if (spirv_reserve(walk, &walk->calls, &walk->call_capacity, walk->call_count, sizeof(walk->calls[0])))
        walk->calls[walk->call_count++] = spirv_word(in, 3);
    escape(walk, in, 4, in->count);
}

/* --- Instructions --- */

static void walk_outside(struct spirv_walk *walk, uint32_t opcode, const struct spirv_instruction *in)
{
    if (opcode == OP_VARIABLE)
        walk_variable(walk, in);
    else if (opcode == OP_FUNCTION)
        walk_function(walk, in);
    else
        spirv_declare(walk, opcode, in);
}

static bool is_in(uint32_t opcode, uint32_t first, uint32_t last)
{
    return opcode >= first && opcode <= last;
}

/* No operand of theirs can be a part of a resource, and some are literals. */
static bool is_pure(uint32_t opcode)
{
    if (is_in(opcode, OP_CONVERT_F_TO_U, OP_FWIDTH_COARSE))
        return opcode != OP_CONVERT_PTR_TO_U && !is_in(opcode, OP_CONVERT_U_TO_PTR, OP_BITCAST) &&
               opcode != OP_SELECT;
    return is_in(opcode, OP_LOOP_MERGE, OP_RETURN) ||
           is_in(opcode, OP_VECTOR_EXTRACT_DYNAMIC, OP_VECTOR_SHUFFLE) || opcode == OP_TRANSPOSE ||
           is_in(opcode, OP_GROUP_NON_UNIFORM_ELECT, OP_GROUP_NON_UNIFORM_QUAD_SWAP) ||
           is_in(opcode, OP_EMIT_VERTEX, OP_MEMORY_BARRIER) || opcode <= OP_LINE || opcode == OP_NO_LINE ||
           opcode == OP_FUNCTION_PARAMETER || opcode == OP_UNREACHABLE ||
           opcode == OP_COOPERATIVE_MATRIX_MUL_ADD_KHR;
}

/* Groups of instructions that read or write by one operand. */
static void walk_group_member(struct spirv_walk *walk, uint32_t opcode, const struct spirv_instruction *in)
{
    if (is_pure(opcode))
        return;
    if (is_in(opcode, OP_IMAGE_SAMPLE_IMPLICIT_LOD, OP_IMAGE_DREF_GATHER) ||
        is_in(opcode, OP_IMAGE_QUERY_FORMAT, OP_IMAGE_QUERY_SAMPLES) ||
        is_in(opcode, OP_IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD, OP_IMAGE_SPARSE_DREF_GATHER))
        touch(walk, spirv_word(in, 3), SPIRV_SAMPLES);
    else if (is_in(opcode, OP_ATOMIC_EXCHANGE, OP_ATOMIC_XOR))
        touch(walk, spirv_word(in, 3), SPIRV_READS | SPIRV_WRITES);
    else
        escape(walk, in, 1, in->count);
}

static void walk_inside(struct spirv_walk *walk, uint32_t opcode, const struct spirv_instruction *in)
{
    switch (opcode) {
    case OP_EXT_INST:
        if (spirv_kind_of(walk, spirv_word(in, 3)) != SPIRV_KIND_NON_SEMANTIC)
            escape(walk, in, 5, in->count);
        break;
    case OP_FUNCTION:
        walk->refused = true;
        break;
    case OP_FUNCTION_END:
        walk->inside = false;
        break;
    case OP_FUNCTION_CALL:
        walk_call(walk, in);
        break;
    case OP_VARIABLE:
        walk_variable(walk, in);
        break;
    case OP_LOAD:
        walk_load(walk, in);
        break;
    case OP_STORE:
        touch(walk, spirv_word(in, 1), SPIRV_WRITES);
        escape(walk, in, 2, 3);
        break;
    case OP_COPY_MEMORY:
    case OP_COPY_MEMORY_SIZED:
        touch(walk, spirv_word(in, 1), SPIRV_WRITES);
        touch(walk, spirv_word(in, 2), SPIRV_READS);
        break;
    case OP_ACCESS_CHAIN:
    case OP_IN_BOUNDS_ACCESS_CHAIN:
        derive(walk, in, spirv_word(in, 4));
        break;
    case OP_PTR_ACCESS_CHAIN:
    case OP_IN_BOUNDS_PTR_ACCESS_CHAIN:
    case OP_COPY_OBJECT:
    case OP_IMAGE:
    case OP_IMAGE_TEXEL_POINTER:
        derive(walk, in, 0);
        break;
    case OP_SAMPLED_IMAGE:
        touch(walk, spirv_word(in, 4), SPIRV_SAMPLES); /* before the result is anything */
        derive(walk, in, 0);
        break;
    case OP_ARRAY_LENGTH:
        touch(walk, spirv_word(in, 3), SPIRV_SAMPLES);
        break;
    case OP_IMAGE_READ:
    case OP_IMAGE_SPARSE_READ:
    case OP_ATOMIC_LOAD:
    case OP_COOPERATIVE_MATRIX_LOAD_KHR:
    case OP_COOPERATIVE_MATRIX_LOAD_NV:
        touch(walk, spirv_word(in, 3), SPIRV_READS);
        break;
    case OP_IMAGE_WRITE:
    case OP_ATOMIC_STORE:
    case OP_ATOMIC_FLAG_CLEAR:
    case OP_COOPERATIVE_MATRIX_STORE_KHR:
    case OP_COOPERATIVE_MATRIX_STORE_NV:
        touch(walk, spirv_word(in, 1), SPIRV_WRITES);
        break;
    case OP_ATOMIC_FLAG_TEST_AND_SET:
    case OP_ATOMIC_F_MIN:
    case OP_ATOMIC_F_MAX:
    case OP_ATOMIC_F_ADD:
        touch(walk, spirv_word(in, 3), SPIRV_READS | SPIRV_WRITES);
        break;
    case OP_COMPOSITE_EXTRACT:
        escape(walk, in, 3, 4);
        break;
    case OP_COMPOSITE_INSERT:
        escape(walk, in, 3, 5);
        break;
    case OP_PHI:
        walk_phi(walk, in);
        break;
    default:
        walk_group_member(walk, opcode, in);
        break;
    }
}

static bool walk_all(struct spirv_walk *walk)
{
    uint32_t at = SPIRV_HEADER_WORDS;
    while (at < walk->word_count && !walk->refused) {
        uint32_t opcode = walk->words[at] & 0xffff;
        struct spirv_instruction in = {walk->words + at, walk->words[at] >> 16};
        if (in.count == 0 || in.count > walk->word_count - at)
            return false;
        if (walk->inside)
            walk_inside(walk, opcode, &in);
        else
            walk_outside(walk, opcode, &in);
        at += in.count;
    }
    return !walk->refused && !walk->inside;
}

bool spirv_walk_init(struct spirv_walk *walk, const uint32_t *words, uint32_t word_count)
{
    *walk = (struct spirv_walk){.words = words, .word_count = word_count, .bound = words[3]};
    if (walk->bound > BOUND_MAX)
        return false;
    walk->kinds = calloc(walk->bound + 1, sizeof(walk->kinds[0]));
    walk->values = calloc(walk->bound + 1, sizeof(walk->values[0]));
    if (!walk->kinds || !walk->values ||
        !spirv_reserve(walk, &walk->resources, &walk->resource_capacity, 0, sizeof(walk->resources[0])))
        return false;
    walk->resources[walk->resource_count++] = (struct spirv_resource){0};
    begin_function(walk);
    if (walk->refused || !walk_all(walk))
        return false;
    begin_function(walk); /* the end of the last */
    walk->function_count--;
    return !walk->refused;
}

void spirv_walk_finish(struct spirv_walk *walk)
{
    free(walk->kinds);
    free(walk->values);
    free(walk->resources);
    free(walk->uses);
    free(walk->functions);
    free(walk->calls);
    free(walk->entries);
}

uint32_t spirv_walk_function(const struct spirv_walk *walk, uint32_t id)
{
    return spirv_kind_of(walk, id) == SPIRV_KIND_FUNCTION ? walk->values[id] : 0;
}
