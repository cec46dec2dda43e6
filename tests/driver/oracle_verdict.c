#include "oracle_verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fault_driver.h"

void verdict_configure(const char *text)
{
    char problem[256] = "";

    assert_int_equal(fault_reset(), 0);
    if (fault_configure(text, problem, sizeof(problem)))
        fail_msg("fault_configure(\"%s\"): %s", text, problem);
}

/* The kinds there are, united. */
static uint32_t kinds_found(void)
{
    uint32_t kinds = 0;

    for (uint32_t bit = 1; bit & FAULT_ORACLE_ALL; bit <<= 1) {
        if (fault_oracle_violations(bit))
            kinds |= bit;
    }
    return kinds;
}

static void print_violations(void)
{
    struct fault_violation violation;

    for (uint32_t i = 0; fault_oracle_violation(i, &violation); i++)
        print_message("  %s: %s (kind 0x%x, mip %u, layer %u, expected %d, actual %d)\n", violation.command,
                      violation.text, violation.kind, violation.mip, violation.layer, (int)violation.expected,
                      (int)violation.actual);
}

bool verdict_is_wrong(const char *name, uint32_t expected, const struct scene *validated)
{
    const bool faulty = expected & FAULT_ORACLE_RULES;

    if (validated) {
        if ((validated->messages != 0) == faulty)
            return false;
        print_message("%s: validation has %u messages\n", name, validated->messages);
        return true;
    }
    if (kinds_found() == expected)
        return false;
    print_message("%s: expected kinds 0x%x, found 0x%x\n", name, expected, kinds_found());
    print_violations();
    return true;
}
