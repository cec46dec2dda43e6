#include "sync/spirv.h"

#include <stdlib.h>
#include <string.h>

#include "sync/grow.h"
#include "sync/spirv_walk.h"
#include "sync/spirv_words.h"

#define STEPS_PER_WORD 16 /* of all entry points' way through the calls */

/* From the functions' uses to those of each entry point. */
struct collection {
    const struct spirv_walk *walk;
    uint64_t steps_left;
    uint32_t *reached; /* of each function: the last entry point (from 1) that reached it */
    uint32_t *open;    /* functions that are still to be looked at */
    uint32_t open_count;

    struct spirv_binding *bindings; /* of all entry points, one after the other */
    uint32_t binding_count, binding_capacity;
    uint32_t *counts; /* of each entry point */
};

/* --- The uses of an entry point --- */

static struct spirv_binding binding_of(const struct spirv_walk *walk, const struct spirv_use *use)
{
    const struct spirv_resource *resource = &walk->resources[use->resource];
    uint8_t access = use->access;
    if (resource->marks & SPIRV_NON_WRITABLE)
        access &= (uint8_t)~SPIRV_WRITES;
    if (resource->marks & SPIRV_NON_READABLE)
        access &= (uint8_t)~SPIRV_READS;
    if (resource->content == SPIRV_CONTENT_ACCELERATION)
        access = SPIRV_READS;
    return (struct spirv_binding){resource->set, resource->binding, use->element, access};
}

static void open_function(struct collection *collection, uint32_t function, uint32_t entry)
{
    if (collection->reached[function] == entry)
        return;
    collection->reached[function] = entry;
    collection->open[collection->open_count++] = function;
}

static bool add_uses(struct collection *collection, uint32_t first, uint32_t end)
{
    if (!grow(&collection->bindings, &collection->binding_capacity, collection->binding_count + end - first,
              sizeof(collection->bindings[0])))
        return false;
    for (uint32_t i = first; i < end; i++)
        collection->bindings[collection->binding_count++] =
            binding_of(collection->walk, &collection->walk->uses[i]);
    return true;
}

/* False for a call of no function, on out of memory, and if it takes too long. */
static bool visit(struct collection *collection, uint32_t index, uint32_t entry)
{
    const struct spirv_walk *walk = collection->walk;
    const struct spirv_function *function = &walk->functions[index], *next = function + 1;
    uint64_t steps = 1 + (next->first_call - function->first_call) + (next->first_use - function->first_use);
    if (steps > collection->steps_left)
        return false;
    collection->steps_left -= steps;
    for (uint32_t i = function->first_call; i < next->first_call; i++) {
        uint32_t callee = spirv_walk_function(walk, walk->calls[i]);
        if (!callee)
            return false;
        open_function(collection, callee, entry);
    }
    return add_uses(collection, function->first_use, next->first_use);
}

static int compare(const void *a, const void *b)
{
    const struct spirv_binding *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->binding != y->binding)
        return x->binding < y->binding ? -1 : 1;
    return x->element < y->element ? -1 : x->element > y->element;
}

static uint32_t unite(struct spirv_binding *bindings, uint32_t count)
{
    uint32_t kept = 0;
    if (count)
        qsort(bindings, count, sizeof(bindings[0]), compare);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && compare(&bindings[kept - 1], &bindings[i]) == 0)
            bindings[kept - 1].access |= bindings[i].access;
        else
            bindings[kept++] = bindings[i];
    }
    return kept;
}

/* What has no function, the variables' initial values, counts for every entry point. */
static bool collect_entry(struct collection *collection, uint32_t entry)
{
    uint32_t first = collection->binding_count;
    uint32_t function = spirv_walk_function(collection->walk, collection->walk->entries[entry].function);
    if (!function)
        return false;
    open_function(collection, 0, entry + 1);
    open_function(collection, function, entry + 1);
    while (collection->open_count)
        if (!visit(collection, collection->open[--collection->open_count], entry + 1))
            return false;
    collection->counts[entry] = unite(collection->bindings + first, collection->binding_count - first);
    collection->binding_count = first + collection->counts[entry];
    return collection->binding_count <= collection->walk->word_count;
}

static bool collect(struct collection *collection)
{
    const struct spirv_walk *walk = collection->walk;
    collection->reached = calloc(walk->function_count, sizeof(collection->reached[0]));
    collection->open = calloc(walk->function_count, sizeof(collection->open[0]));
    collection->counts = calloc(walk->entry_count + 1, sizeof(collection->counts[0]));
    /* One at least, so that there is an array even if nothing is used. */
    if (!collection->reached || !collection->open || !collection->counts ||
        !grow(&collection->bindings, &collection->binding_capacity, 1, sizeof(collection->bindings[0])))
        return false;
    for (uint32_t i = 0; i < walk->entry_count; i++)
        if (!collect_entry(collection, i))
            return false;
    return true;
}

/* --- The result --- */

static char *copy_name(char *out, const struct spirv_walk *walk, const struct spirv_entry_point *entry)
{
    for (uint32_t i = 0; i < entry->name_length; i++)
        *out++ = (char)(walk->words[entry->name + i / 4] >> 8 * (i % 4) & 0xff);
    *out++ = '\0';
    return out;
}

static struct spirv_module *make_module(const struct collection *collection)
{
    const struct spirv_walk *walk = collection->walk;
    size_t entries_size = walk->entry_count * sizeof(struct spirv_entry);
    size_t bindings_size = collection->binding_count * sizeof(struct spirv_binding), names_size = 0;
    for (uint32_t i = 0; i < walk->entry_count; i++)
        names_size += walk->entries[i].name_length + 1;
    struct spirv_module *module = malloc(sizeof(*module) + entries_size + bindings_size + names_size);
    if (!module)
        return NULL;
    module->entry_count = walk->entry_count;
    struct spirv_binding *bindings = (void *)&module->entries[walk->entry_count];
    char *name = (char *)(bindings + collection->binding_count);
    memcpy(bindings, collection->bindings, bindings_size);
    for (uint32_t i = 0; i < walk->entry_count; i++) {
        module->entries[i] =
            (struct spirv_entry){walk->entries[i].model, name, collection->counts[i], bindings};
        bindings += collection->counts[i];
        name = copy_name(name, walk, &walk->entries[i]);
    }
    return module;
}

static struct spirv_module *scan(const uint32_t *words, uint32_t word_count)
{
    struct spirv_module *module = NULL;
    struct spirv_walk walk;
    struct collection collection = {.walk = &walk, .steps_left = (uint64_t)STEPS_PER_WORD * word_count};
    if (spirv_walk_init(&walk, words, word_count) && collect(&collection))
        module = make_module(&collection);
    free(collection.reached);
    free(collection.open);
    free(collection.counts);
    free(collection.bindings);
    spirv_walk_finish(&walk);
    return module;
}

static struct spirv_module *scan_swapped(const uint32_t *words, uint32_t word_count)
{
    uint32_t *swapped = malloc(word_count * sizeof(words[0]));
    struct spirv_module *module = NULL;
    if (!swapped)
        return NULL;
    for (uint32_t i = 0; i < word_count; i++)
        swapped[i] = __builtin_bswap32(words[i]);
    module = scan(swapped, word_count);
    free(swapped);
    return module;
}

struct spirv_module *spirv_scan(const uint32_t *words, size_t size)
{
    size_t word_count = size / sizeof(words[0]);
    if (size % sizeof(words[0]) || word_count < SPIRV_HEADER_WORDS || word_count > INT32_MAX)
        return NULL;
    if (words[0] == SPIRV_MAGIC)
        return scan(words, (uint32_t)word_count);
    return words[0] == __builtin_bswap32(SPIRV_MAGIC) ? scan_swapped(words, (uint32_t)word_count) : NULL;
}

const struct spirv_entry *spirv_find(const struct spirv_module *module, const char *name, uint32_t model)
{
    for (uint32_t i = 0; i < module->entry_count; i++)
        if (module->entries[i].model == model && strcmp(module->entries[i].name, name) == 0)
            return &module->entries[i];
    return NULL;
}
