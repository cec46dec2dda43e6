/* The store's files: damage, caps, full disks, other ABIs and drivers, names, and the settings that say where
 * they are. */
#include "cache_app.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/envelope.h"
#include "cache/identity.h"
#include "other_user.h"

#define PIPELINES 4
#define NOBODY 65534
#define ANY_HITS UINT32_MAX

/* --- A user of VK_NULL_HANDLE --- */

struct user {
    uint32_t first;
    uint32_t hits; /* expected */
    const char *name;
};

static void run_user(void *context)
{
    const struct user *user = context;
    struct app app;
    struct app_config config = {.name = user->name};
    app_open_with(&app, &config);
    app_compile(&app, VK_NULL_HANDLE, user->first, PIPELINES);
    if (user->hits != ANY_HITS)
        CHECK_EQUAL(fault_cache_hits(), user->hits);
    app_close(&app);
}

static void use_as(const char *name, uint32_t first, uint32_t hits)
{
    struct user user = {.first = first, .hits = hits, .name = name};
    report_forget();
    run_complete(run_user, &user);
}

static void use(uint32_t first, uint32_t hits)
{
    use_as(NULL, first, hits);
}

static int teardown(void **state)
{
    umount2(scratch_path(STORE_ROOT), MNT_DETACH); /* nothing is mounted there but in a test of full disks */
    return harness_teardown(state);
}

/* --- C11: several processes, and several saves of one --- */

struct long_run {
    struct latch saved, go_on;
};

static void run_long(void *context)
{
    const struct long_run *run = context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 100, PIPELINES);
    report_wait("save", "", 1);
    latch_raise(&run->saved, 1);
    latch_wait(&run->go_on);
    app_compile(&app, VK_NULL_HANDLE, 200, PIPELINES);
    report_wait("save", "", 3); /* the first of its own, the other process's, and one that unites both */
    app_compile(&app, VK_NULL_HANDLE, 300, PIPELINES);
    app_close(&app);
}

static void save_between_the_saves_of_another(const char *driver)
{
    struct long_run context = {latch_create(), latch_create()};
    driver_set(driver);
    layer_set("SAVE_INTERVAL", "1");
    use(0, 0);
    report_forget();
    struct run run = run_start(run_long, &context);
    latch_wait(&context.saved);
    struct user user = {.first = 400, .hits = 0};
    run_complete(run_user, &user);
    latch_raise(&context.go_on, 1);
    CHECK_EQUAL(run_wait(&run), 0);
    latch_destroy(&context.saved);
    latch_destroy(&context.go_on);
    for (uint32_t first = 0; first <= 400; first += 100)
        use(first, PIPELINES);
}

static void test_c11_every_save_keeps_what_others_saved(void **state)
{
    (void)state;
    save_between_the_saves_of_another("");
}

static void test_c11_a_driver_whose_merge_empties_its_sources_loses_nothing(void **state)
{
    (void)state;
    save_between_the_saves_of_another("merge_moves=1");
}

/* --- C10: damaged files --- */

static void check_damage(const struct bytes *file, size_t size, const char *what)
{
    file_write(store_path(".vkcache"), file->data, size);
    use(0, 0);
    CHECK_SAY(report_rejected("corrupt") == 1, "%s: not rejected as corrupt", what);
    CHECK_SAY(report_count("reject", ".vkcache") == 1, "%s: not reported once with the file's name", what);
    use(0, PIPELINES);
    CHECK_SAY(report_number("summary", "rejected") == 0, "%s: not built anew", what);
}

static void test_c10_damaged_files_are_rejected_and_rebuilt(void **state)
{
    (void)state;
    use(0, 0);
    struct bytes file = file_read(store_path(".vkcache"));
    struct bytes copy = {.data = calloc(1, file.size + 5000), .size = file.size};
    CHECK(copy.data != NULL);

    check_damage(&file, file.size - 1, "a byte shorter");
    check_damage(&file, file.size / 2, "half");
    check_damage(&file, 40, "a header and a little");
    check_damage(&file, 0, "zero length");

    memcpy(copy.data, file.data, file.size);
    check_damage(&copy, file.size + 1, "a zero byte longer");
    check_damage(&copy, file.size + 5000, "many zero bytes longer");
    memset(copy.data + file.size, 0x5a, 5000);
    check_damage(&copy, file.size + 100, "longer by garbage");
    memset(copy.data + file.size / 2, 0, file.size - file.size / 2);
    check_damage(&copy, file.size, "zeros in the second half");
    memcpy(copy.data, file.data, file.size);
    memset(copy.data + file.size - 700, 0xa5, 700);
    check_damage(&copy, file.size, "a garbage tail");
    memcpy(copy.data, file.data, file.size);
    copy.data[100] ^= 1;
    check_damage(&copy, file.size, "a flipped bit in the payload");

    bytes_finish(&copy);
    bytes_finish(&file);
}

/* --- C12: our own write --- */

static void test_c12_own_write_is_read_back_and_not_repeated(void **state)
{
    (void)state;
    struct stat before, after;
    use(0, 0);
    struct bytes first = file_read(store_path(".vkcache"));
    CHECK(stat(store_path(".vkcache"), &before) == 0);
    use(0, PIPELINES);
    struct bytes second = file_read(store_path(".vkcache"));
    CHECK(stat(store_path(".vkcache"), &after) == 0);
    CHECK_EQUAL(report_number("summary", "rejected"), 0);
    CHECK_EQUAL(report_number("summary", "saves"), 0);
    CHECK(bytes_equal(&first, &second));
    CHECK(before.st_ino == after.st_ino);
    bytes_finish(&first);
    bytes_finish(&second);
}

static void test_c12_a_rebuilt_store_is_byte_identical(void **state)
{
    (void)state;
    use(0, 0);
    struct bytes first = file_read(store_path(".vkcache"));
    CHECK(unlink(store_path(".vkcache")) == 0);
    use(0, 0);
    struct bytes second = file_read(store_path(".vkcache"));
    CHECK(bytes_equal(&first, &second));
    bytes_finish(&first);
    bytes_finish(&second);
}

/* --- C19: full disks --- */

static void run_with_file_limit(void *context)
{
    const rlim_t *size = context;
    struct rlimit limit = {*size, *size};
    struct user user = {.first = 100};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    run_user(&user);
}

static void check_untouched(const struct bytes *before, const char *what, size_t at)
{
    struct bytes after = file_read(store_path(".vkcache"));
    CHECK_SAY(bytes_equal(before, &after), "%s %zu: the old store changed", what, at);
    CHECK_SAY(store_count(".tmp.*") == 0, "%s %zu: a temporary file was left", what, at);
    bytes_finish(&after);
}

static void test_c19_writes_that_stop_at_a_limit(void **state)
{
    (void)state;
    /* Into the payload, at its end, into the envelope, one byte short of all. */
    use(0, 0);
    use(100, 0);
    struct bytes both = file_read(store_path(".vkcache"));
    CHECK(unlink(store_path(".vkcache")) == 0);
    use(0, 0);
    struct bytes before = file_read(store_path(".vkcache"));
    rlim_t limits[] = {0, 1, 1000, both.size - ENVELOPE_SIZE, both.size - ENVELOPE_SIZE + 10, both.size - 1};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        run_complete(run_with_file_limit, &limits[i]);
        check_untouched(&before, "limit", limits[i]);
    }
    use(0, PIPELINES);
    bytes_finish(&both);
    bytes_finish(&before);
}

static bool mount_small(const char *options)
{
    mkdir(scratch_path(STORE_ROOT), 0700);
    return mount("tmpfs", scratch_path(STORE_ROOT), "tmpfs", 0, options) == 0;
}

static void test_c19_full_file_system(void **state)
{
    (void)state;
    /* Four pages for the old store, the ledger and the lock, and from none to a few for what is to be
     * written. */
    driver_set("entry_size=2000");
    if (!mount_small("size=10m,mode=700"))
        skip();
    use(0, 0);
    struct bytes before = file_read(store_path(".vkcache"));
    for (unsigned pages = 4; pages <= 7; pages++) {
        char options[64];
        snprintf(options, sizeof(options), "size=%uk,mode=700", 4 * pages);
        CHECK(mount("tmpfs", scratch_path(STORE_ROOT), "tmpfs", MS_REMOUNT, options) == 0);
        use(100, ANY_HITS);
        CHECK_EQUAL(report_number("summary", "pipelines"), PIPELINES);
        check_untouched(&before, "pages", pages);
        CHECK_EQUAL(lines_count(LOG_FILE, "No space left on device", ""), 1);
    }
    CHECK(mount("tmpfs", scratch_path(STORE_ROOT), "tmpfs", MS_REMOUNT, "size=10m,mode=700") == 0);
    use(0, PIPELINES);
    use(100, 0);
    use(100, PIPELINES);
    bytes_finish(&before);
}

/* --- C20: huge files --- */

static void run_with_little_memory(void *context)
{
    (void)context;
    struct rusage before, after;
    struct user user = {.first = 0};
    getrusage(RUSAGE_SELF, &before);
    run_user(&user);
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 1 << 20); /* KiB */
}

static void test_c20_sparse_store_of_two_gigabytes(void **state)
{
    (void)state;
    use(0, 0);
    CHECK(truncate(store_path(".vkcache"), 2ll << 30) == 0);
    report_forget();
    run_complete(run_with_little_memory, NULL);
    CHECK_EQUAL(lines_count(LOG_FILE, "2147483648 bytes, at most 268435456 allowed", ""), 1);
    use(0, PIPELINES);
}

/* --- C06, C22, C23: other identities --- */

static void test_c06_c23_each_driver_has_its_store(void **state)
{
    (void)state;
    static const char *const drivers[] = {
        "uuid=constant;driver_version=1",
        "uuid=constant;driver_version=2",
        "uuid=zero;driver_version=1",
        "uuid=zero;driver_version=2",
        "uuid=zero;driver_id=9",
        "uuid=zero;driver_name=x",
        "uuid=zero;driver_info=x",
        "uuid=zero;device=77",
        "api=1.1;uuid=zero;driver_info=y",
        "api=1.1;uuid=zero;driver_info=z", /* by VK_KHR_driver_properties */
    };
    size_t count = sizeof(drivers) / sizeof(drivers[0]);
    for (size_t i = 0; i < count; i++) {
        driver_set(drivers[i]);
        use(0, 0);
        CHECK_EQUAL(store_count(".vkcache"), i + 1);
        CHECK_EQUAL(report_number("summary", "rejected"), 0);
    }
    for (size_t i = 0; i < count; i++) {
        driver_set(drivers[i]);
        use(0, PIPELINES);
    }
}

/* Puts a store where a process of another pointer width would have it. Its path goes to `out`. */
static void make_store_of_other_abi(char out[PATH_MAX], struct bytes *file)
{
    struct envelope envelope;
    char directory[IDENTITY_DIRECTORY_SIZE], folder[PATH_MAX];
    const char *own = store_path(".vkcache");
    *file = file_read(own);
    CHECK_EQUAL(envelope_open(file->data, file->size, NULL, &envelope), ENVELOPE_VALID);
    envelope.identity.abi ^= 32 ^ 64;
    envelope_seal(file->data + envelope.payload_size, &envelope.identity, envelope.payload_size,
                  &envelope.payload_hash);
    identity_directory(&envelope.identity, directory);
    snprintf(folder, sizeof(folder), "%s/v1/%s", scratch_path(STORE_ROOT), directory);
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(snprintf(out, PATH_MAX, "%s%s", folder, strrchr(own, '/')) < PATH_MAX);
    file_write(out, file->data, file->size);
}

static void test_c22_another_abi_has_its_own_store(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct bytes file;
    use(0, 0);
    const char *own = store_path(".vkcache");
    make_store_of_other_abi(path, &file);
    CHECK(unlink(own) == 0);
    use(0, 0); /* cold */
    use(0, PIPELINES);
    struct bytes now = file_read(path);
    CHECK(bytes_equal(&file, &now));
    CHECK_EQUAL(store_count(".vkcache"), 2);

    /* And if the other's file lies in our place, it is refused. */
    file_write(own, file.data, file.size);
    use(0, 0);
    CHECK_EQUAL(report_rejected("foreign"), 1);
    use(0, PIPELINES);
    bytes_finish(&now);
    bytes_finish(&file);
}

/* --- C38: names --- */

static void check_store_name(const char *expected)
{
    const char *path = store_path(".vkcache");
    CHECK_SAY(strcmp(strrchr(path, '/') + 1, expected) == 0, "'%s' expected, '%s' found", expected,
              strrchr(path, '/') + 1);
}

/* This program again, as a copy in another place: "--user" makes it run_user() and nothing else. */
struct copy {
    const char *folder;
    const char *name;
    const char *argument;
    struct user user;
};

static void run_copy(void *context)
{
    const struct copy *copy = context;
    char path[PATH_MAX], first[16], hits[16];
    snprintf(path, sizeof(path), "%s/%s", copy->folder, copy->name);
    mkdir(copy->folder, 0700);
    struct bytes self = file_read("/proc/self/exe");
    file_write(path, self.data, self.size);
    bytes_finish(&self);
    CHECK(chmod(path, 0700) == 0);
    snprintf(first, sizeof(first), "%u", copy->user.first);
    snprintf(hits, sizeof(hits), "%u", copy->user.hits);
    setenv("TEST_FIRST", first, 1);
    setenv("TEST_HITS", hits, 1);
    setenv("TEST_NAME", copy->user.name, 1);
    execl(path, path, copy->argument, "--user", (char *)NULL);
    CHECK_SAY(false, "%s: %s", path, strerror(errno));
}

/* What the copy does. */
static int be_user(void)
{
    struct user user = {.first = (uint32_t)atoi(getenv("TEST_FIRST")),
                        .hits = (uint32_t)atoi(getenv("TEST_HITS")),
                        .name = getenv("TEST_NAME")};
    if (!user.name[0])
        user.name = NULL;
    run_user(&user);
    return EXIT_SUCCESS;
}

static void use_copy(const char *folder, const char *name, const char *argument, const char *application,
                     uint32_t hits)
{
    struct copy copy = {.folder = scratch_path(folder),
                        .name = name,
                        .argument = argument,
                        .user = {.hits = hits, .name = application}};
    report_forget();
    run_complete(run_copy, &copy);
}

static void test_c38_one_store_wherever_the_program_lies(void **state)
{
    (void)state;
    use_copy("version-1", "game", "-windowed", "Game", 0);
    use_copy("version-2", "game", "-windowed", "Game", PIPELINES);
    use_copy(".mount_gameAbCdEf", "game", "-windowed", "Game", PIPELINES);
    use_copy(".mount_gameGhIjKl", "game", "-windowed", "Game", PIPELINES);
    use_copy("checkout", "game", "-other", "Game", PIPELINES);
    CHECK_EQUAL(store_count(".vkcache"), 1);
}

static void test_c38_programs_that_share_a_name_share_without_harm(void **state)
{
    (void)state;
    use_copy("one", "demo", "-", "Demo", 0);
    use_copy("two", "demo", "-", "Demo", PIPELINES);
    use_copy("one", "demo", "-", "Another", 0);
    CHECK_EQUAL(store_count(".vkcache"), 2);
}

static void test_c38_interpreters_are_named_after_their_program(void **state)
{
    (void)state;
    use_copy("jdk-17", "java", "-jar", "Craft", 0);
    use_copy("jdk-21", "java", "-jar", "Craft", PIPELINES);
    CHECK_EQUAL(store_count("Craft*.vkcache"), 1);
}

static void test_c38_windows_programs_are_named_after_their_exe(void **state)
{
    (void)state;
    use_copy("wine-8", "wine64-preloader", "C:\\games\\shooter.exe", "DXVK", 0);
    use_copy("wine-9", "wine64-preloader", "D:\\old\\shooter.exe", "DXVK", PIPELINES);
    use_copy("wine-9", "wine64-preloader", "D:\\old\\racer.exe", "DXVK", 0);
    CHECK_EQUAL(store_count("shooter*.vkcache"), 1);
    CHECK_EQUAL(store_count(".vkcache"), 2);
}

static void test_app_id_names_the_store(void **state)
{
    (void)state;
    layer_set("APP_ID", "my.game");
    use_as("One", 0, 0);
    check_store_name("my.game.vkcache");
    use_as("Two", 0, PIPELINES);
}

static void test_scope_shared(void **state)
{
    (void)state;
    layer_set("SCOPE", "shared");
    use_as("One", 0, 0);
    check_store_name("shared.vkcache");
    use_as("Two", 0, PIPELINES);
}

static void test_scope_app(void **state)
{
    (void)state;
    use_as("One", 0, 0);
    use_as("Two", 0, 0);
    CHECK_EQUAL(store_count(".vkcache"), 2);
}

/* --- C49, max_size, total_size --- */

static off_t store_size(void)
{
    struct stat stat_of;
    CHECK(stat(store_path(".vkcache"), &stat_of) == 0);
    return stat_of.st_size;
}

static void test_c49_growth_without_bound_stays_under_the_cap(void **state)
{
    (void)state;
    uint32_t last = 0, overflows = 0;
    layer_set("MAX_SIZE", "6K");
    for (uint32_t i = 0; i < 20; i++) {
        last = 100 * i;
        use(last, ANY_HITS);
        CHECK_SAY(store_size() <= 6 * 1024, "%lld bytes", (long long)store_size());
        overflows += lines_count(LOG_FILE, "will be built anew", "");
    }
    CHECK(overflows >= 2);
    /* Whatever was in it, a program that goes on as it does is warm after two more runs. */
    use(last, ANY_HITS);
    use(last, ANY_HITS);
    use(last, PIPELINES);
}

static void test_max_size_refuses_a_larger_file(void **state)
{
    (void)state;
    use(0, 0);
    off_t size = store_size();
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)size - 1);
    layer_set("MAX_SIZE", text);
    use(0, 0);
    CHECK_EQUAL(lines_count(LOG_FILE, "allowed", ".vkcache"), 1);
    snprintf(text, sizeof(text), "%lld", (long long)size);
    layer_set("MAX_SIZE", text);
    use(0, ANY_HITS);
    use(0, PIPELINES);
}

static void test_total_size_removes_the_least_recently_used(void **state)
{
    (void)state;
    use_as("A", 0, 0);
    off_t size = store_size();
    char text[32];
    /* Room for two stores and their small files, not for three. */
    snprintf(text, sizeof(text), "%lld", (long long)(2 * size + size / 2));
    layer_set("TOTAL_SIZE", text);
    use_as("B", 0, 0);
    use_as("A", 0, PIPELINES);
    use_as("C", 0, 0);
    CHECK_EQUAL(store_count(".vkcache"), 2);
    use_as("A", 0, PIPELINES);
    use_as("C", 0, PIPELINES);
}

/* --- persist --- */

static void test_persist_off_writes_nothing(void **state)
{
    (void)state;
    layer_set("PERSIST", "off");
    use(0, 0);
    CHECK(access(scratch_path(STORE_ROOT), F_OK) != 0);
    CHECK_EQUAL(report_number("summary", "substituted"), PIPELINES);
}

static void run_same_twice(void *context)
{
    (void)context;
    struct app app;
    app_open(&app);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    app_compile(&app, VK_NULL_HANDLE, 0, PIPELINES);
    CHECK_EQUAL(fault_cache_hits(), PIPELINES);
    app_close(&app);
}

static void test_persist_off_still_shares_in_memory(void **state)
{
    (void)state;
    layer_set("PERSIST", "off");
    run_complete(run_same_twice, NULL);
}

static void test_persist_off_reads_a_store_and_leaves_it(void **state)
{
    (void)state;
    use(0, 0);
    struct stat before, after;
    CHECK(stat(store_path(".vkcache"), &before) == 0);
    layer_set("PERSIST", "off");
    use(0, PIPELINES);
    use(100, 0);
    CHECK(stat(store_path(".vkcache"), &after) == 0);
    CHECK(before.st_ino == after.st_ino && before.st_size == after.st_size);
    CHECK(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    CHECK_EQUAL(report_number("summary", "saves"), 0);
}

static void test_persist_on_writes(void **state)
{
    (void)state;
    layer_set("PERSIST", "on");
    use(0, 0);
    use(0, PIPELINES);
}

/* --- read_dirs --- */

/* Moves the store away, as one that is shipped in an image. */
static void ship_store(const char *name)
{
    CHECK(rename(scratch_path(STORE_ROOT), scratch_path(name)) == 0);
}

static uint32_t files_below(const char *name)
{
    char command[PATH_MAX + 64];
    uint32_t count = 0;
    snprintf(command, sizeof(command), "find %s -type f | wc -l", scratch_path(name));
    FILE *pipe = popen(command, "re");
    CHECK(pipe != NULL && fscanf(pipe, "%u", &count) == 1);
    pclose(pipe);
    return count;
}

static void test_read_dirs_are_loaded_and_never_written(void **state)
{
    (void)state;
    use(0, 0);
    ship_store("shipped-1");
    use(100, 0);
    ship_store("shipped-2");
    use(200, 0);
    char dirs[2 * PATH_MAX + 2];
    snprintf(dirs, sizeof(dirs), "%s:%s", scratch_path("shipped-1"), scratch_path("shipped-2"));
    layer_set("READ_DIRS", dirs);
    uint32_t files = files_below("shipped-1");
    use(0, PIPELINES);
    use(100, PIPELINES);
    use(200, PIPELINES);
    use(300, 0);
    CHECK_EQUAL(files_below("shipped-1"), files);
    /* What they held is in the own store now too. */
    layer_set("READ_DIRS", NULL);
    use(0, PIPELINES);
    use(100, PIPELINES);
}

static void test_read_dirs_that_are_none(void **state)
{
    (void)state;
    use(0, 0);
    ship_store("shipped");
    char dirs[PATH_MAX + 256];
    int length = snprintf(dirs, sizeof(dirs), "relative, ,:\t%s ", scratch_path("shipped"));
    for (int i = 2; i <= 10; i++)
        length += snprintf(dirs + length, sizeof(dirs) - (size_t)length, ",/none/%d", i);
    layer_set("READ_DIRS", dirs);
    use(0, PIPELINES);
    CHECK_EQUAL(lines_count(LOG_FILE, "'relative' is not an absolute path", "read_dirs"), 1);
    CHECK_EQUAL(lines_count(LOG_FILE, "more than 8 folders: '/none/9'", "read_dirs"), 1);
}

static void test_read_dirs_that_others_may_write_to_are_refused(void **state)
{
    (void)state;
    use(0, 0);
    CHECK(chmod(store_path(".vkcache"), 0666) == 0);
    ship_store("shipped");
    layer_set("READ_DIRS", scratch_path("shipped"));
    use(0, 0);
}

static void run_as_nobody(void *context)
{
    CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    run_user(context);
}

static void allow_reading(const char *name)
{
    char command[PATH_MAX + 64];
    snprintf(command, sizeof(command), "chmod -R a+rX,go-w %s", scratch_path(name));
    CHECK(system(command) == 0);
}

static void test_read_dirs_of_root_serve_other_users(void **state)
{
    (void)state;
    if (geteuid() != 0 || !other_user_reaches(TEST_LAYER_DIR))
        skip();
    use(0, 0);
    ship_store("shipped");
    allow_reading("shipped");
    struct user user = {.first = 0, .hits = PIPELINES};
    CHECK(chmod(scratch_path(""), 0755) == 0);
    CHECK(mkdir(scratch_path("home"), 0700) == 0 && chown(scratch_path("home"), NOBODY, NOBODY) == 0);
    layer_set("READ_DIRS", scratch_path("shipped"));
    layer_set("DIR", scratch_path("home"));
    report_forget();
    layer_set("REPORT_FILE", scratch_path("home/report"));
    run_complete(run_as_nobody, &user);
    CHECK_EQUAL(lines_count("home/report", "\"event\":\"load\"", ""), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, teardown)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        TEST(test_c10_damaged_files_are_rejected_and_rebuilt),
        TEST(test_c11_every_save_keeps_what_others_saved),
        TEST(test_c11_a_driver_whose_merge_empties_its_sources_loses_nothing),
        TEST(test_c12_own_write_is_read_back_and_not_repeated),
        TEST(test_c12_a_rebuilt_store_is_byte_identical),
        TEST(test_c19_writes_that_stop_at_a_limit),
        TEST(test_c19_full_file_system),
        TEST(test_c20_sparse_store_of_two_gigabytes),
        TEST(test_c06_c23_each_driver_has_its_store),
        TEST(test_c22_another_abi_has_its_own_store),
        TEST(test_c38_one_store_wherever_the_program_lies),
        TEST(test_c38_programs_that_share_a_name_share_without_harm),
        TEST(test_c38_interpreters_are_named_after_their_program),
        TEST(test_c38_windows_programs_are_named_after_their_exe),
        TEST(test_app_id_names_the_store),
        TEST(test_scope_shared),
        TEST(test_scope_app),
        TEST(test_c49_growth_without_bound_stays_under_the_cap),
        TEST(test_max_size_refuses_a_larger_file),
        TEST(test_total_size_removes_the_least_recently_used),
        TEST(test_persist_off_writes_nothing),
        TEST(test_persist_off_still_shares_in_memory),
        TEST(test_persist_off_reads_a_store_and_leaves_it),
        TEST(test_persist_on_writes),
        TEST(test_read_dirs_are_loaded_and_never_written),
        TEST(test_read_dirs_that_are_none),
        TEST(test_read_dirs_that_others_may_write_to_are_refused),
        TEST(test_read_dirs_of_root_serve_other_users),
    };
    if (count > 1 && strcmp(arguments[count - 1], "--user") == 0)
        return be_user();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
