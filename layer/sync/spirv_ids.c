#include "sync/spirv_ids.h"

#include <string.h>

#include "sync/spirv_words.h"

/* --- Ids --- */

static bool is_valid(struct spirv_walk *walk, uint32_t id)
{
    if (id == 0 || id >= walk->bound)
        walk->refused = true;
    return !walk->refused;
}

void spirv_define(struct spirv_walk *walk, uint32_t id, enum spirv_kind kind, uint32_t value)
{
    if (!is_valid(walk, id))
        return;
    if (walk->kinds[id] > SPIRV_KIND_DECORATED) {
        walk->refused = true;
        return;
    }
    walk->kinds[id] = (uint8_t)kind;
    walk->values[id] = value;
}

/* --- Decorations --- */

/* NULL if it can't be decorated any longer. */
static struct spirv_resource *decorated(struct spirv_walk *walk, uint32_t id)
{
    if (!is_valid(walk, id))
        return NULL;
    if (walk->kinds[id] == SPIRV_KIND_NONE &&
        spirv_reserve(walk, &walk->resources, &walk->resource_capacity, walk->resource_count,
                      sizeof(walk->resources[0]))) {
        walk->resources[walk->resource_count] = (struct spirv_resource){0};
        spirv_define(walk, id, SPIRV_KIND_DECORATED, walk->resource_count++);
    }
    if (walk->kinds[id] == SPIRV_KIND_DECORATED || walk->kinds[id] == SPIRV_KIND_RESOURCE)
        return &walk->resources[walk->values[id]];
    walk->refused = true;
    return NULL;
}

/* What `from` has of set, binding and access becomes `id`'s. */
static void decorate(struct spirv_walk *walk, uint32_t id, const struct spirv_resource *from)
{
    const uint8_t both = SPIRV_HAS_SET | SPIRV_HAS_BINDING;
    struct spirv_resource marks = *from; /* the array it is in may move */
    struct spirv_resource *to = decorated(walk, id);
    if (!to)
        return;
    if (marks.marks & SPIRV_HAS_SET)
        to->set = marks.set;
    if (marks.marks & SPIRV_HAS_BINDING)
        to->binding = marks.binding;
    to->marks |= marks.marks;
    if ((to->marks & both) == both)
        walk->kinds[id] = SPIRV_KIND_RESOURCE;
}

static void decorate_member(struct spirv_walk *walk, uint32_t id, uint32_t member, uint8_t marks)
{
    struct spirv_resource *to = decorated(walk, id);
    if (!to || member >= 64)
        return;
    if (marks & SPIRV_NON_WRITABLE)
        to->non_writable |= UINT64_C(1) << member;
    if (marks & SPIRV_NON_READABLE)
        to->non_readable |= UINT64_C(1) << member;
}

static struct spirv_resource decoration_of(uint32_t decoration, uint32_t value)
{
    switch (decoration) {
    case DECORATION_NON_WRITABLE:
        return (struct spirv_resource){.marks = SPIRV_NON_WRITABLE};
    case DECORATION_NON_READABLE:
        return (struct spirv_resource){.marks = SPIRV_NON_READABLE};
    case DECORATION_BINDING:
        return (struct spirv_resource){.marks = SPIRV_HAS_BINDING, .binding = value};
    case DECORATION_DESCRIPTOR_SET:
        return (struct spirv_resource){.marks = SPIRV_HAS_SET, .set = value};
    default:
        return (struct spirv_resource){0};
    }
}

static void walk_decoration(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    struct spirv_resource decoration = decoration_of(spirv_word(in, 2), spirv_word(in, 3));
    bool has_value = !(decoration.marks & (SPIRV_HAS_SET | SPIRV_HAS_BINDING)) || in->count > 3;
    if (!has_value)
        walk->refused = true;
    else if (decoration.marks)
        decorate(walk, spirv_word(in, 1), &decoration);
}

static void walk_member_decoration(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    const uint8_t marks =
        decoration_of(spirv_word(in, 3), 0).marks & (SPIRV_NON_WRITABLE | SPIRV_NON_READABLE);
    if (marks)
        decorate_member(walk, spirv_word(in, 1), spirv_word(in, 2), marks);
}

/* A group without a decoration that matters here isn't known, and gives nothing. */
static void walk_group(struct spirv_walk *walk, const struct spirv_instruction *in, bool members)
{
    if (spirv_kind_of(walk, spirv_word(in, 1)) != SPIRV_KIND_DECORATED &&
        spirv_kind_of(walk, spirv_word(in, 1)) != SPIRV_KIND_RESOURCE)
        return;
    uint32_t group = walk->values[spirv_word(in, 1)];
    for (uint32_t i = 2; i < in->count && !walk->refused; i += members ? 2 : 1) {
        if (!members)
            decorate(walk, in->words[i], &walk->resources[group]);
        else if (i + 1 < in->count)
            decorate_member(walk, in->words[i], in->words[i + 1], walk->resources[group].marks);
    }
}

/* --- Types, constants and variables --- */

static void walk_struct(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    uint32_t members = in->count - 2, index = 0;
    if (spirv_kind_of(walk, spirv_word(in, 1)) == SPIRV_KIND_DECORATED) {
        index = walk->values[spirv_word(in, 1)];
        struct spirv_resource *resource = &walk->resources[index];
        uint64_t all = members && members <= 64 ? UINT64_MAX >> (64 - members) : 0;
        if (all && (resource->non_writable & all) == all)
            resource->marks |= SPIRV_NON_WRITABLE;
        if (all && (resource->non_readable & all) == all)
            resource->marks |= SPIRV_NON_READABLE;
    }
    spirv_define(walk, spirv_word(in, 1), SPIRV_KIND_STRUCT, index);
}

/* Of one word, or of more where only the first isn't 0. */
static void walk_constant(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    for (uint32_t i = 4; i < in->count; i++)
        if (in->words[i])
            return;
    spirv_define(walk, spirv_word(in, 2), SPIRV_KIND_CONSTANT, spirv_word(in, 3));
}

void spirv_learn_type(struct spirv_walk *walk, uint32_t id, uint32_t type)
{
    if (spirv_kind_of(walk, id) != SPIRV_KIND_RESOURCE || spirv_kind_of(walk, type) != SPIRV_KIND_POINTER)
        return;
    struct spirv_resource *resource = &walk->resources[walk->values[id]];
    type = walk->values[type];
    resource->shape = SPIRV_SHAPE_SINGLE;
    if (spirv_kind_of(walk, type) == SPIRV_KIND_ARRAY) {
        type = walk->values[type];
        /* No array of arrays can be descriptors. */
        resource->shape =
            spirv_kind_of(walk, type) == SPIRV_KIND_ARRAY ? SPIRV_SHAPE_UNKNOWN : SPIRV_SHAPE_ARRAY;
    }
    switch (spirv_kind_of(walk, type)) {
    case SPIRV_KIND_STRUCT:
        resource->content = SPIRV_CONTENT_BUFFER;
        resource->marks |= walk->resources[walk->values[type]].marks;
        break;
    case SPIRV_KIND_HANDLE_TYPE:
        resource->content = SPIRV_CONTENT_HANDLE;
        break;
    case SPIRV_KIND_ACCELERATION_TYPE:
        resource->content = SPIRV_CONTENT_ACCELERATION;
        break;
    default:
        break;
    }
}

/* --- Entry points and imports --- */

static uint32_t length_of(const struct spirv_instruction *in, uint32_t from)
{
    for (uint32_t i = 0; i / 4 < in->count - from; i++)
        if (!(in->words[from + i / 4] >> 8 * (i % 4) & 0xff))
            return i;
    return UINT32_MAX;
}

static void walk_entry_point(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    uint32_t length = in->count > 3 ? length_of(in, 3) : UINT32_MAX;
    if (length == UINT32_MAX || !is_valid(walk, spirv_word(in, 2))) {
        walk->refused = true;
        return;
    }
    if (spirv_reserve(walk, &walk->entries, &walk->entry_capacity, walk->entry_count,
                      sizeof(walk->entries[0])))
        walk->entries[walk->entry_count++] = (struct spirv_entry_point){
            .model = spirv_word(in, 1),
            .function = spirv_word(in, 2),
            .name = (uint32_t)(in->words + 3 - walk->words),
            .name_length = length,
        };
}

/* "NonSemantic." (SPV_KHR_non_semantic_info: "can be safely removed") and the debug information that came
 * before it name variables without a use of them. */
static void walk_import(struct spirv_walk *walk, const struct spirv_instruction *in)
{
    static const char *const prefixes[] = {"NonSemantic.", "OpenCL.DebugInfo.", "DebugInfo"};
    uint32_t length = in->count > 2 ? length_of(in, 2) : UINT32_MAX;
    char name[32] = "";
    if (length == UINT32_MAX) {
        walk->refused = true;
        return;
    }
    for (uint32_t i = 0; i < length && i < sizeof(name) - 1; i++)
        name[i] = (char)(in->words[2 + i / 4] >> 8 * (i % 4) & 0xff);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            spirv_define(walk, spirv_word(in, 1), SPIRV_KIND_NON_SEMANTIC, 0);
}

/* --- Instructions --- */

void spirv_declare(struct spirv_walk *walk, uint32_t opcode, const struct spirv_instruction *in)
{
    switch (opcode) {
    case OP_EXT_INST_IMPORT:
        walk_import(walk, in);
        break;
    case OP_ENTRY_POINT:
        walk_entry_point(walk, in);
        break;
    case OP_TYPE_IMAGE:
    case OP_TYPE_SAMPLER:
    case OP_TYPE_SAMPLED_IMAGE:
        spirv_define(walk, spirv_word(in, 1), SPIRV_KIND_HANDLE_TYPE, 0);
        break;
    case OP_TYPE_ACCELERATION_STRUCTURE:
        spirv_define(walk, spirv_word(in, 1), SPIRV_KIND_ACCELERATION_TYPE, 0);
        break;
    case OP_TYPE_ARRAY:
    case OP_TYPE_RUNTIME_ARRAY:
        spirv_define(walk, spirv_word(in, 1), SPIRV_KIND_ARRAY, spirv_word(in, 2));
        break;
    case OP_TYPE_STRUCT:
        walk_struct(walk, in);
        break;
    case OP_TYPE_POINTER:
        spirv_define(walk, spirv_word(in, 1), SPIRV_KIND_POINTER, spirv_word(in, 3));
        break;
    case OP_CONSTANT:
    case OP_CONSTANT_NULL:
        walk_constant(walk, in);
        break;
    case OP_DECORATE:
        walk_decoration(walk, in);
        break;
    case OP_MEMBER_DECORATE:
        walk_member_decoration(walk, in);
        break;
    case OP_GROUP_DECORATE:
    case OP_GROUP_MEMBER_DECORATE:
        walk_group(walk, in, opcode == OP_GROUP_MEMBER_DECORATE);
        break;
    default:
        break;
    }
}
