/* Input: the bytes of a module. The header is mended, or nearly all mutations would end there. */
#include "fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "sync/spirv.h"

#define MAGIC 0x07230203u
#define ANYTHING (SPIRV_READS | SPIRV_WRITES | SPIRV_SAMPLES)

static bool is_before(const struct spirv_binding *a, const struct spirv_binding *b)
{
    if (a->set != b->set)
        return a->set < b->set;
    return a->binding != b->binding ? a->binding < b->binding : a->element < b->element;
}

static void judge(const struct spirv_module *module, size_t size)
{
    size_t bindings = 0;

    for (uint32_t i = 0; i < module->entry_count; i++) {
        const struct spirv_entry *entry = &module->entries[i];

        require(strlen(entry->name) < size);
        require(spirv_find(module, entry->name, entry->model));
        bindings += entry->binding_count;
        for (uint32_t j = 0; j < entry->binding_count; j++) {
            require(entry->bindings[j].access <= ANYTHING);
            require(j == 0 || is_before(&entry->bindings[j - 1], &entry->bindings[j]));
        }
    }
    require(bindings <= size / sizeof(uint32_t));
}

/* Once more in the other byte order: nothing differs. */
static void judge_swapped(uint32_t *words, size_t count, const struct spirv_module *module)
{
    for (size_t i = 0; i < count; i++)
        words[i] = __builtin_bswap32(words[i]);
    struct spirv_module *again = spirv_scan(words, count * sizeof(words[0]));

    require(!again == !module);
    for (uint32_t i = 0; module && i < module->entry_count; i++) {
        const struct spirv_entry *a = &module->entries[i], *b = &again->entries[i];

        require(a->model == b->model && strcmp(a->name, b->name) == 0);
        require(a->binding_count == b->binding_count);
        for (uint32_t j = 0; j < a->binding_count; j++)
            require(memcmp(&a->bindings[j], &b->bindings[j], offsetof(struct spirv_binding, access)) == 0 &&
                    a->bindings[j].access == b->bindings[j].access);
    }
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t count = size / sizeof(uint32_t);
    uint32_t *words = calloc(count ? count : 1, sizeof(words[0]));

    require(words);
    memcpy(words, data, count * sizeof(words[0]));
    if (count > 3) {
        words[0] = MAGIC;
        words[3] &= 0xffff; /* the tables of ids would take most of the time */
    }
    struct spirv_module *module = spirv_scan(words, count * sizeof(words[0]));
    if (module)
        judge(module, size);
    judge_swapped(words, count, module);
    free(module);
    free(words);
    return 0;
}
