/* SPIR-V by hand, instruction by instruction. */
#ifndef RC_TESTS_SPIRV_CODE_H
#define RC_TESTS_SPIRV_CODE_H

#include "check.h"
#include "sync/spirv.h"
#include "sync/spirv_words.h"

#define CODE_WORDS 16384

struct code {
    uint32_t words[CODE_WORDS];
    uint32_t count;
};

static inline void code_begin(struct code *code, uint32_t bound)
{
    const uint32_t header[] = {SPIRV_MAGIC, 0x10000, 0, bound, 0};

    memcpy(code->words, header, sizeof(header));
    code->count = SPIRV_HEADER_WORDS;
}

static inline void code_put(struct code *code, uint32_t opcode, const uint32_t *operands, size_t count)
{
    assert_true(code->count + 1 + count <= CODE_WORDS);
    code->words[code->count++] = (uint32_t)(count + 1) << 16 | opcode;
    if (count)
        memcpy(&code->words[code->count], operands, count * sizeof(operands[0]));
    code->count += (uint32_t)count;
}

#define CODE(code, opcode, ...)                                                                              \
    code_put(code, opcode, (const uint32_t[]){__VA_ARGS__},                                                  \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* In an allocation of exactly its size, so that a sanitizer sees any read beyond it. */
static inline struct spirv_module *code_scan_words(const uint32_t *words, size_t count)
{
    uint32_t *copy = malloc(count ? count * sizeof(words[0]) : 1);

    assert_non_null(copy);
    if (count)
        memcpy(copy, words, count * sizeof(words[0]));
    struct spirv_module *module = spirv_scan(copy, count * sizeof(words[0]));
    free(copy);
    return module;
}

static inline struct spirv_module *code_scan(const struct code *code)
{
    return code_scan_words(code->words, code->count);
}

#endif
