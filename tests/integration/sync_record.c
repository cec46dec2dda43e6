/* What comes down to the driver of what is recorded: of programs that are right, exactly what they say; of
 * others, what they forgot, in the right place. */
#include "record_correct.h"

/* --- Programs that are right --- */

static void run_correct(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    correct_open(&app);
    for (uint32_t i = 0; i < correct_program_count; i++) {
        const struct correct *program = &correct_programs[i];
        struct recorded recorded = record_both(&app, program->record);
        record_check_same(&recorded, program->name);
        if (program->judged)
            record_run(&app, recorded.got, program->name);
    }
    correct_close(&app);
    record_app_close(&app);
}

static void check_correct(void)
{
    record_run_on_all(run_correct);
    CHECK(report_number("barriers", "calls_in") > 0);
    CHECK_EQUAL(report_count("repair", ""), 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

static void test_correct(void **state)
{
    (void)state;
    check_correct();
}

/* They are right by the oracle alone. */
static void test_without_layer(void **state)
{
    (void)state;
    layer_remove();
    record_run_on_all(run_correct);
    layer_restore();
}

static void test_correct_unmerged(void **state)
{
    (void)state;
    layer_set("MERGE", "false");
    check_correct();
}

static void test_correct_reported(void **state)
{
    (void)state;
    layer_set("BARRIERS", "report");
    check_correct();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_without_layer),
        HARNESS_TEST(test_correct),
        HARNESS_TEST(test_correct_unmerged),
        HARNESS_TEST(test_correct_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
