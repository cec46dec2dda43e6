/* What the SPIR-V scan of a module costs: against copying its words, and against going from instruction to
 * instruction without a look at them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "sync/spirv.h"

#include "many.h"
#include "many_stripped.h"
#include "pipes_comp.h"
#include "pipes_frag.h"

#define ROUNDS 31
#define BYTES_PER_ROUND (4u << 20)

struct input {
    const char *name;
    const uint32_t *words;
    size_t size;
};

static uint32_t plain_walk(const uint32_t *words, size_t count)
{
    uint32_t instructions = 0;
    for (size_t at = 5; at < count; at += words[at] >> 16)
        instructions++;
    return instructions;
}

static bool scan(const uint32_t *words, size_t size)
{
    struct spirv_module *module = spirv_scan(words, size);
    bool understood = module && module->entry_count == 1;
    free(module);
    return understood;
}

static bool bench_input(const struct input *input, bool last)
{
    size_t count = input->size / sizeof(uint32_t), times = BYTES_PER_ROUND / input->size + 1;
    uint32_t *copy = malloc(input->size);
    double values[3][ROUNDS], medians[3];
    bool valid = copy;
    for (int round = 0; valid && round < ROUNDS; round++) {
        double start = bench_now_ns();
        for (size_t i = 0; i < times; i++) {
            memcpy(copy, input->words, input->size);
            bench_keep(copy);
        }
        values[0][round] = bench_now_ns() - start;

        start = bench_now_ns();
        for (size_t i = 0; i < times; i++) {
            uint32_t instructions = plain_walk(copy, count);
            bench_keep(&instructions);
        }
        values[1][round] = bench_now_ns() - start;

        start = bench_now_ns();
        for (size_t i = 0; valid && i < times; i++)
            valid = scan(copy, input->size);
        values[2][round] = bench_now_ns() - start;
    }
    for (int i = 0; valid && i < 3; i++)
        medians[i] = bench_quantile(values[i], ROUNDS, 0.5) / (double)times;
    if (valid)
        printf("{\"module\":\"%s\",\"bytes\":%zu,\"scan_us\":%.2f,\"mb_per_s\":%.0f,\"scan_to_memcpy\":%.1f,"
               "\"scan_to_walk\":%.1f}%s\n",
               input->name, input->size, medians[2] / 1e3, (double)input->size * 1e3 / medians[2],
               medians[2] / medians[0], medians[2] / medians[1], last ? "" : ",");
    free(copy);
    return valid;
}

int main(void)
{
    static const struct input inputs[] = {
        {"pipes.frag", pipes_frag, sizeof(pipes_frag)},
        {"pipes.comp", pipes_comp, sizeof(pipes_comp)},
        {"many.comp", many, sizeof(many)},
        {"many.comp without names", many_stripped, sizeof(many_stripped)},
    };
    const size_t count = sizeof(inputs) / sizeof(*inputs);
    bool valid = true;
    printf("[\n");
    for (size_t i = 0; i < count; i++)
        valid = bench_input(&inputs[i], i + 1 == count) && valid;
    printf("]\n");
    return valid ? 0 : 1;
}
