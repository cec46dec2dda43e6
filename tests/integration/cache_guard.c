/* The crash guard: drivers that die on cache data, once and again, and what a death is not. */
#include "cache_app.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/ledger.h"

#define PIPELINES 4
#define BLOB "blob"
#define FIRST_DEATH_TEXT "set aside for this run"

static void run_without_cache(void *context)
{
    const uint32_t *first = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, *first, PIPELINES);
    app_close(&app);
}

static void use_store(uint32_t first)
{
    report_forget();
    run_complete(run_without_cache, &first);
}

static void die_with_store(const char *items)
{
    uint32_t first = 0;
    driver_set(items);
    run_until_death(run_without_cache, &first, SIGKILL);
    driver_set("");
}

static uint32_t creations_with_data(void)
{
    return lines_count(JOURNAL_FILE, " call vkCreatePipelineCache ", " data=1");
}

/* The next run is as if it came much later: deaths close together count as one. */
static void age_deaths(void)
{
    const char *path = store_path(".ledger");
    struct bytes file = file_read(path);
    file.data[file.size] = '\0';
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    for (char *line = strtok((char *)file.data, "\n"); line; line = strtok(NULL, "\n")) {
        char hash[64];
        int64_t time;
        unsigned count;
        if (sscanf(line, "death %63s %" SCNd64 " %u", hash, &time, &count) == 3)
            fprintf(out, "death %s %" PRId64 " %u\n", hash, time - 10 * LEDGER_DEATH_DISTANCE, count);
        else
            fprintf(out, "%s\n", line);
    }
    fclose(out);
    bytes_finish(&file);
}

/* --- C09: the store --- */

static void check_two_deaths(const char *fault)
{
    use_store(0);
    CHECK_EQUAL(store_count(".vkcache"), 1);

    die_with_store(fault);
    CHECK_EQUAL(store_count(".guard"), 1);
    uint32_t offered = creations_with_data();
    use_store(0);
    CHECK_EQUAL(creations_with_data(), offered);
    CHECK_EQUAL(report_count("death", ""), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, FIRST_DEATH_TEXT, ""), 1);
    CHECK_EQUAL(report_number("summary", "deaths"), 1);
    CHECK_EQUAL(store_count(".guard"), 0);

    age_deaths();
    die_with_store(fault);
    offered = creations_with_data();
    use_store(0);
    CHECK_EQUAL(creations_with_data(), offered);
    CHECK_EQUAL(report_count("quarantine", ""), 1);
    CHECK_EQUAL(report_number("summary", "quarantined"), 1);
    CHECK_EQUAL(store_count(".quarantine"), 1);

    /* Other data has a clean record. */
    use_store(100);
    use_store(100);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

static void test_c09_dies_in_create_and_again_two_runs_later(void **state)
{
    (void)state;
    check_two_deaths("fault=vkCreatePipelineCache,when=data,crash=kill");
}

static void test_c09_dies_in_the_first_pipeline_and_again_two_runs_later(void **state)
{
    (void)state;
    check_two_deaths("fault=vkCreateComputePipelines,when=data,crash=kill");
}

/* RADV dies where it finds the bad entry, which the first pipeline hardly ever is. One such death costs
 * nothing, for it may have been any other reason's; the second quarantines. */
static void test_c09_dies_in_a_later_pipeline(void **state)
{
    (void)state;
    const char *fault = "fault=vkCreateComputePipelines,when=data,call=3,crash=kill";
    use_store(0);
    die_with_store(fault);
    CHECK_EQUAL(store_count(".guard"), 1);
    die_with_store(fault);
    age_deaths();
    uint32_t offered = creations_with_data();
    use_store(0);
    CHECK_EQUAL(creations_with_data(), offered);
    CHECK_EQUAL(report_count("quarantine", ""), 1);
    CHECK_EQUAL(report_number("summary", "quarantined"), 1);
    CHECK_EQUAL(store_count(".quarantine"), 1);
    CHECK_EQUAL(store_count(".guard"), 0);
}

static void run_forks_with_a_mark(void *context)
{
    struct app app;
    int status;
    (void)context;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, 1);
    CHECK_EQUAL(store_count(".guard"), 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        app_compile(&app, VK_NULL_HANDLE, 1, 1);
        app_close(&app);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_EQUAL(store_count(".guard"), 1);
    app_compile(&app, VK_NULL_HANDLE, 2, 1);
    app_close(&app);
    CHECK_EQUAL(store_count(".guard"), 0);
}

static void test_c09_mark_stays_the_parents(void **state)
{
    (void)state;
    use_store(0);
    run_complete(run_forks_with_a_mark, NULL);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

/* A run that came to its end proves the data. */
static void test_c09_good_end_forgives_a_later_pipeline(void **state)
{
    (void)state;
    const char *fault = "fault=vkCreateComputePipelines,when=data,call=3,crash=kill";
    use_store(0);
    die_with_store(fault);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    die_with_store(fault);
    CHECK_EQUAL(store_count(".guard"), 0); /* proven: no mark any more */
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

/* What can't be read doesn't say that the quarantine is over. */
static void test_c09_quarantine_outlives_the_ledger(void **state)
{
    (void)state;
    check_two_deaths("fault=vkCreatePipelineCache,when=data,crash=kill");
    CHECK(remove(store_path(".vkcache")) == 0);
    char ledger[PATH_MAX];
    snprintf(ledger, sizeof(ledger), "%s", store_path(".ledger"));
    CHECK(remove(ledger) == 0 && mkdir(ledger, 0700) == 0);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "loaded_bytes"), 0);
    CHECK_EQUAL(store_count(".quarantine"), 1);
}

static void test_c09_one_death_costs_one_run(void **state)
{
    (void)state;
    use_store(0);
    die_with_store("fault=vkCreatePipelineCache,when=data,crash=kill");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    CHECK_EQUAL(report_number("summary", "deaths"), 0);
    /* A success lies between: this death is the first again. */
    age_deaths();
    die_with_store("fault=vkCreatePipelineCache,when=data,crash=kill");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "quarantined"), 0);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

/* Whoever killed the program: what was stored comes back, even if the run between did something else. */
static void test_c09_set_aside_data_is_not_replaced(void **state)
{
    (void)state;
    use_store(0);
    die_with_store("fault=vkCreatePipelineCache,when=data,crash=kill");
    use_store(100);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

static void test_c09_two_deaths_close_together_are_one(void **state)
{
    (void)state;
    use_store(0);
    uint32_t first = 0;
    driver_set("fault=vkCreatePipelineCache,when=data,crash=kill");
    struct run one = run_start(run_without_cache, &first), two = run_start(run_without_cache, &first);
    run_wait(&one);
    run_wait(&two);
    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "quarantined"), 0);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

static void test_c09_killed_at_another_moment_loses_nothing(void **state)
{
    (void)state;
    static const char *const moments[] = {
        "fault=vkCreateComputePipelines,when=data,call=2,crash=kill",
        "fault=vkCreateComputePipelines,when=data,call=4,crash=kill",
        "fault=vkDestroyPipeline,crash=kill",
        "fault=vkDestroyDevice,crash=kill",
        "fault=vkCreateShaderModule,crash=kill",
    };
    use_store(0);
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        die_with_store(moments[i]);
        use_store(0);
        CHECK_EQUAL(report_number("summary", "deaths"), 0);
        CHECK_SAY(report_number("summary", "hits") == PIPELINES, "%s: the store was lost", moments[i]);
    }
}

/* --- C09: several stores that are united */

static void ship_store(uint32_t first)
{
    use_store(first);
    CHECK(rename(scratch_path(STORE_ROOT), scratch_path("shipped")) == 0);
}

static void test_c09_shipped_store_proves_nothing_of_the_own(void **state)
{
    (void)state;
    const char *dies_on_own = "fault=vkCreatePipelineCache,when=data,call=2,crash=kill";
    ship_store(100);
    use_store(0);
    layer_set("READ_DIRS", scratch_path("shipped"));
    die_with_store(dies_on_own);
    CHECK_EQUAL(store_count(".guard"), 1);
    /* The own store is set aside; the shipped one has all that this run needs, so nothing is saved. */
    use_store(100);
    CHECK_EQUAL(report_number("summary", "deaths"), 1);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    age_deaths();
    die_with_store(dies_on_own);
    use_store(100);
    CHECK_EQUAL(report_number("summary", "quarantined"), 1);
}

static void test_c09_shipped_store_is_blamed_itself(void **state)
{
    (void)state;
    ship_store(100);
    use_store(0);
    use_store(0);
    layer_set("READ_DIRS", scratch_path("shipped"));
    die_with_store("fault=vkCreateComputePipelines,when=data,crash=kill");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "deaths"), 1);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

/* Proven data costs no mark any more. */
static void test_c09_proven_data_is_not_guarded(void **state)
{
    (void)state;
    use_store(0);
    use_store(0);
    die_with_store("fault=vkCreatePipelineCache,when=data,crash=kill");
    CHECK_EQUAL(store_count(".guard"), 0);
    use_store(0);
    CHECK_EQUAL(report_number("summary", "deaths"), 0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
}

static bool ledger_says(const char *text)
{
    struct bytes file = file_read(store_path(".ledger"));
    file.data[file.size] = '\0';
    bool found = strstr((const char *)file.data, text) != NULL;
    bytes_finish(&file);
    return found;
}

/* The driver lives with a shipped store: that says nothing for the own one, which kills it. */
static void test_c09_a_shipped_store_does_not_clear_the_own_one(void **state)
{
    (void)state;
    static const char fault[] = "fault=vkCreatePipelineCache,when=data,crash=kill";
    use_store(100);
    CHECK(rename(scratch_path(STORE_ROOT), scratch_path("shipped")) == 0);
    use_store(0);
    die_with_store(fault);
    use_store(0);
    age_deaths();
    die_with_store(fault);
    layer_set("READ_DIRS", scratch_path("shipped"));
    use_store(100);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    CHECK(ledger_says("quarantine "));
    CHECK(ledger_says("proven "));
}

/* --- C09: the application's own blob --- */

static void run_with_blob(void *context)
{
    const bool *expected = context;
    struct app app;
    app_open(&app);
    struct bytes blob = file_read(scratch_path(BLOB));
    VkPipelineCache cache = app_cache(&app, blob.data, blob.size);
    CHECK(driver_saw_no_data() == !*expected);
    app_compile(&app, cache, 0, PIPELINES);
    app_cache_destroy(&app, cache);
    bytes_finish(&blob);
    app_close(&app);
}

static void run_that_saves(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    VkPipelineCache cache = app_cache_empty(&app);
    app_compile(&app, cache, 0, PIPELINES);
    struct bytes blob = app_cache_data(&app, cache);
    file_write(scratch_path(BLOB), blob.data, blob.size);
    bytes_finish(&blob);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void offer_blob(bool expected)
{
    report_forget();
    run_complete(run_with_blob, &expected);
}

static void die_with_blob(const char *items)
{
    bool expected = true;
    driver_set(items);
    run_until_death(run_with_blob, &expected, SIGKILL);
    driver_set("");
}

static void check_blob_deaths(const char *fault)
{
    run_complete(run_that_saves, NULL);
    die_with_blob(fault);
    offer_blob(false);
    CHECK_EQUAL(report_count("death", ""), 1);
    age_deaths();
    die_with_blob(fault);
    offer_blob(false);
    CHECK_EQUAL(report_count("quarantine", ""), 1);
    offer_blob(false);
    CHECK_EQUAL(report_count("quarantine", ""), 0);
    CHECK_EQUAL(report_rejected("quarantined"), 1);
}

static void test_c09_blob_that_kills_in_create(void **state)
{
    (void)state;
    check_blob_deaths("fault=vkCreatePipelineCache,when=data,crash=kill");
}

static void test_c09_blob_that_kills_in_the_first_pipeline(void **state)
{
    (void)state;
    check_blob_deaths("fault=vkCreateComputePipelines,when=data,crash=kill");
}

static void run_merges_blob(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    struct bytes blob = file_read(scratch_path(BLOB));
    VkPipelineCache loaded = app_cache(&app, blob.data, blob.size), cache = app_cache_empty(&app);
    bytes_finish(&blob);
    CHECK_EQUAL(vkMergePipelineCaches(app.device, cache, 1, &loaded), VK_SUCCESS);
    app_cache_destroy(&app, loaded);
    app_compile(&app, cache, 0, PIPELINES);
    app_cache_destroy(&app, cache);
    app_close(&app);
}

static void test_c09_blob_that_kills_in_a_later_pipeline(void **state)
{
    (void)state;
    const char *fault = "fault=vkCreateComputePipelines,when=data,call=3,crash=kill";
    run_complete(run_that_saves, NULL);
    die_with_blob(fault);
    die_with_blob(fault);
    age_deaths();
    offer_blob(false);
    CHECK_EQUAL(report_count("quarantine", ""), 1);
}

/* Applications load into one cache and merge it into the one they use. */
static void test_c09_blob_that_kills_after_a_merge(void **state)
{
    (void)state;
    run_complete(run_that_saves, NULL);
    driver_set("fault=vkCreateComputePipelines,crash=kill");
    run_until_death(run_merges_blob, NULL, SIGKILL);
    driver_set("");
    offer_blob(false);
    CHECK_EQUAL(report_count("death", ""), 1);
}

/* --- C45: a mark held by a living process, and by one in another pid namespace --- */

/* The rest of the run happens in a child; this process ends as that does. */
static void go_on_in_child(void)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return;
    }
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : RUN_FAILED);
}

/* The run goes on in a pid namespace of its own, as its second process: the first can't kill itself. */
static void enter_pid_namespace(void)
{
    CHECK(unshare(CLONE_NEWPID) == 0);
    go_on_in_child();
    go_on_in_child();
}

static void run_in_namespace(void *context)
{
    const bool *own_namespace = context;
    uint32_t first = 0;
    if (*own_namespace)
        enter_pid_namespace();
    run_without_cache(&first);
}

static void check_holder(bool own_namespace)
{
    use_store(0);
    driver_set("fault=vkCreatePipelineCache,when=data,block");
    struct run holder = run_start(run_in_namespace, &own_namespace);
    lines_wait(JOURNAL_FILE, " blocked vkCreatePipelineCache ", "", 1);
    CHECK_EQUAL(store_count(".guard"), 1);

    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "deaths"), 0);
    CHECK_EQUAL(report_number("summary", "hits"), PIPELINES);
    CHECK_EQUAL(store_count(".guard"), 1);

    run_kill(&holder);
}

static void test_c45_mark_of_a_living_process_is_no_death(void **state)
{
    (void)state;
    check_holder(false);
}

static void test_c45_mark_of_a_dead_process_is_a_death(void **state)
{
    (void)state;
    use_store(0);
    bool own_namespace = false;
    driver_set("fault=vkCreatePipelineCache,when=data,block");
    struct run holder = run_start(run_in_namespace, &own_namespace);
    lines_wait(JOURNAL_FILE, " blocked vkCreatePipelineCache ", "", 1);
    run_kill(&holder);
    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "deaths"), 1);
    CHECK_EQUAL(report_number("summary", "hits"), 0);
}

static void test_c45_living_in_another_pid_namespace(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    check_holder(true);
}

static void test_c45_dead_in_another_pid_namespace(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    use_store(0);
    bool own_namespace = true;
    driver_set("fault=vkCreatePipelineCache,when=data,crash=kill");
    struct run holder = run_start(run_in_namespace, &own_namespace);
    run_wait(&holder);
    driver_set("");
    use_store(0);
    CHECK_EQUAL(report_number("summary", "deaths"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_c09_dies_in_create_and_again_two_runs_later),
        HARNESS_TEST(test_c09_dies_in_the_first_pipeline_and_again_two_runs_later),
        HARNESS_TEST(test_c09_dies_in_a_later_pipeline),
        HARNESS_TEST(test_c09_good_end_forgives_a_later_pipeline),
        HARNESS_TEST(test_c09_mark_stays_the_parents),
        HARNESS_TEST(test_c09_quarantine_outlives_the_ledger),
        HARNESS_TEST(test_c09_one_death_costs_one_run),
        HARNESS_TEST(test_c09_set_aside_data_is_not_replaced),
        HARNESS_TEST(test_c09_two_deaths_close_together_are_one),
        HARNESS_TEST(test_c09_killed_at_another_moment_loses_nothing),
        HARNESS_TEST(test_c09_shipped_store_proves_nothing_of_the_own),
        HARNESS_TEST(test_c09_shipped_store_is_blamed_itself),
        HARNESS_TEST(test_c09_proven_data_is_not_guarded),
        HARNESS_TEST(test_c09_a_shipped_store_does_not_clear_the_own_one),
        HARNESS_TEST(test_c09_blob_that_kills_in_create),
        HARNESS_TEST(test_c09_blob_that_kills_in_the_first_pipeline),
        HARNESS_TEST(test_c09_blob_that_kills_in_a_later_pipeline),
        HARNESS_TEST(test_c09_blob_that_kills_after_a_merge),
        HARNESS_TEST(test_c45_mark_of_a_living_process_is_no_death),
        HARNESS_TEST(test_c45_mark_of_a_dead_process_is_a_death),
        HARNESS_TEST(test_c45_living_in_another_pid_namespace),
        HARNESS_TEST(test_c45_dead_in_another_pid_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
