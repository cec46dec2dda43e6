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
        struct recorded recorded = record_both(&app, correct_programs[i].record);
        fprintf(stderr, "%s\n", correct_programs[i].name);
        record_check_same(&recorded);
        if (correct_programs[i].judged)
            record_run(&app, recorded.got);
    }
    correct_close(&app);
    record_app_close(&app);
}

static void check_correct(const struct record_options *options)
{
    struct record_options own = *options;
    driver_set("oracle=1");
    run_complete(run_correct, &own);
    CHECK_EQUAL(report_count("repair", ""), 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

static void test_correct(void **state)
{
    (void)state;
    check_correct(&(struct record_options){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_correct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
