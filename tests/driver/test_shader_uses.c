/* The reader of SPIR-V: what it finds in good modules, and that it lives through broken ones. */
#include "shader_uses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "element_comp.h"
#include "filter_comp.h"
#include "indexed_comp.h"
#include "input_frag.h"
#include "load_comp.h"
#include "sample_comp.h"
#include "sample_frag.h"
#include "sample_rgen.h"
#include "scale_comp.h"
#include "store_comp.h"

#define SCAN(uses, array, stage) shader_uses_scan(uses, array, sizeof(array), "main", VK_SHADER_STAGE_##stage)

static void assert_use(const struct shader_uses *uses, uint32_t index, uint32_t binding, uint32_t element,
                       bool reads, bool writes)
{
    assert_false(uses->incomplete);
    assert_true(index < uses->count);
    assert_int_equal(uses->items[index].set, 0);
    assert_int_equal(uses->items[index].binding, binding);
    assert_int_equal(uses->items[index].element, element);
    assert_int_equal(uses->items[index].reads, reads);
    assert_int_equal(uses->items[index].writes, writes);
}

#define ASSERT_ONE(array, stage, element, reads, writes)                                                     \
    do {                                                                                                     \
        struct shader_uses one = {0};                                                                        \
                                                                                                             \
        SCAN(&one, array, stage);                                                                            \
        assert_int_equal(one.count, 1);                                                                      \
        assert_use(&one, 0, 0, element, reads, writes);                                                      \
        shader_uses_finish(&one);                                                                            \
    } while (0)

static void images_are_found(void **state)
{
    ASSERT_ONE(sample_comp, COMPUTE_BIT, 0, true, false);
    ASSERT_ONE(sample_frag, FRAGMENT_BIT, 0, true, false);
    ASSERT_ONE(sample_rgen, RAYGEN_BIT_KHR, 0, true, false);
    ASSERT_ONE(element_comp, COMPUTE_BIT, 2, true, false);
    ASSERT_ONE(indexed_comp, COMPUTE_BIT, SHADER_USE_ANY, true, false);
    ASSERT_ONE(load_comp, COMPUTE_BIT, 0, true, false);
    ASSERT_ONE(store_comp, COMPUTE_BIT, 0, false, true);
}

static void buffers_and_input_attachments_are_left_out(void **state)
{
    struct shader_uses uses = {0};

    SCAN(&uses, scale_comp, COMPUTE_BIT);
    SCAN(&uses, input_frag, FRAGMENT_BIT);
    assert_false(uses.incomplete);
    assert_int_equal(uses.count, 0);
}

static void stages_are_joined(void **state)
{
    struct shader_uses first = {0}, second = {0};

    SCAN(&first, store_comp, COMPUTE_BIT);
    SCAN(&second, filter_comp, COMPUTE_BIT);
    shader_uses_join(&first, &second);
    assert_int_equal(first.count, 2);
    assert_use(&first, 0, 0, 0, true, true);
    assert_use(&first, 1, 1, 0, false, true);
    second.incomplete = true;
    shader_uses_join(&first, &second);
    assert_int_equal(first.count, 2);
    assert_true(first.incomplete);
    shader_uses_finish(&first);
    shader_uses_finish(&second);
}

static void what_is_not_there_is_incomplete(void **state)
{
    struct shader_uses name = {0}, stage = {0}, nothing = {0};

    shader_uses_scan(&name, sample_comp, sizeof(sample_comp), "mains", VK_SHADER_STAGE_COMPUTE_BIT);
    assert_true(name.incomplete);
    SCAN(&stage, sample_comp, FRAGMENT_BIT);
    assert_true(stage.incomplete);
    shader_uses_scan(&nothing, sample_comp, 0, "main", VK_SHADER_STAGE_COMPUTE_BIT);
    assert_true(nothing.incomplete);
    assert_int_equal(name.count + stage.count + nothing.count, 0);
}

/* In memory of just that size, so that sanitizers see a read beyond it. */
static void scan_copy(const uint32_t *words, size_t count, size_t changed, uint32_t value, bool *incomplete)
{
    const size_t size = count * sizeof(*words);
    uint32_t *copy = malloc(size);
    struct shader_uses uses = {0};

    assert_non_null(copy);
    memcpy(copy, words, size);
    if (changed < count)
        copy[changed] = value;
    shader_uses_scan(&uses, copy, size, "main", VK_SHADER_STAGE_COMPUTE_BIT);
    *incomplete = uses.incomplete;
    shader_uses_finish(&uses);
    free(copy);
}

static void broken_modules_do_no_harm(void **state)
{
    static const uint32_t values[] = {0, 1, 0xffff, 0x10000, 0xffffffff, 0x00010038};
    const size_t count = sizeof(filter_comp) / sizeof(filter_comp[0]);
    bool incomplete;

    /* Cut off before the entry point's body, nothing can be known. */
    for (size_t i = 1; i < count / 2; i++) {
        scan_copy(filter_comp, i, i, 0, &incomplete);
        assert_true(incomplete);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++)
            scan_copy(filter_comp, count, i, values[j], &incomplete);
    }
    scan_copy(filter_comp, count, 0, 0x03022307, &incomplete);
    assert_true(incomplete);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_found),
        cmocka_unit_test(buffers_and_input_attachments_are_left_out),
        cmocka_unit_test(stages_are_joined),
        cmocka_unit_test(what_is_not_there_is_incomplete),
        cmocka_unit_test(broken_modules_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
