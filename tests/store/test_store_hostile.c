/* Directories and files that somebody else put there, or that aren't what they should be (C17, C18, "bad
 * input"). */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 65534

static uint8_t payload[5000];

static int fill_payload(void **state)
{
    fixture_fill(payload, sizeof(payload), 1);
    (void)state;
    return 0;
}

static bool need_root(void)
{
    if (geteuid() == 0)
        return true;
    print_message("skipped: needs root\n");
    return false;
}

/* Load, save and ledger all say `expected`, and name what is wrong. */
static void assert_refused(const struct fixture *fixture, int expected, const char *part)
{
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    struct store_blob blob;
    struct ledger ledger;
    enum envelope_verdict verdict;
    uint32_t dead_count;
    bool changed;
    assert_int_equal(store_load(store, &blob, &verdict, &problem), expected);
    assert_problem(problem, part);
    assert_null(blob.data);
    assert_int_equal(store_save_begin(store, &changed, &problem), expected);
    assert_problem(problem, part);
    assert_int_equal(store_open_ledger(store, &ledger, NULL, 0, &dead_count, &problem), expected);
    assert_problem(problem, part);
    assert_int_equal(store_guard_begin(store, &(struct hash128){{7}}), expected);
    store_destroy(store);
}

/* The three directories that are ours, from the root down. */
static void directory_path(const struct fixture *fixture, int level, char out[512])
{
    if (level == 0)
        snprintf(out, 512, "%s", fixture->root);
    else if (level == 1)
        snprintf(out, 512, "%s/v1", fixture->root);
    else
        snprintf(out, 512, "%s", fixture->directory);
}

static void linked_directories(void **state)
{
    struct fixture *fixture = *state;
    char path[512], moved[520];
    fixture_save(fixture, payload, sizeof(payload));
    for (int level = 0; level < 3; level++) {
        directory_path(fixture, level, path);
        snprintf(moved, sizeof(moved), "%s.moved", path);
        assert_int_equal(rename(path, moved), 0);
        assert_int_equal(symlink(moved, path), 0);
        assert_refused(fixture, -ELOOP, "a symbolic link");
        if (level == 0) {
            char slash[520];
            snprintf(slash, sizeof(slash), "%s/", path);
            struct fixture with_slash = *fixture;
            with_slash.config.root = slash;
            assert_refused(&with_slash, -ELOOP, "a symbolic link");
        }
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/nowhere/at/all", path), 0);
        assert_refused(fixture, -ELOOP, "a symbolic link");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rename(moved, path), 0);
    }
    assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
}

/* ~/.cache on another disk. */
static void links_above_the_root_are_followed(void **state)
{
    struct fixture *fixture = *state;
    char path[256], moved[256];
    snprintf(path, sizeof(path), "%s/cache", fixture->base);
    snprintf(moved, sizeof(moved), "%s/disk", fixture->base);
    assert_int_equal(mkdir(moved, 0755), 0);
    assert_int_equal(symlink(moved, path), 0);
    fixture_save(fixture, payload, sizeof(payload));
    assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
}

static void directories_that_others_may_write(void **state)
{
    struct fixture *fixture = *state;
    char path[512];
    fixture_save(fixture, payload, sizeof(payload));
    for (int level = 0; level < 3; level++) {
        directory_path(fixture, level, path);
        assert_int_equal(chmod(path, 0770), 0);
        assert_refused(fixture, -EPERM, "others may write to it (mode 0770");
        assert_int_equal(chmod(path, 0702), 0);
        assert_refused(fixture, -EPERM, "others may write to it (mode 0702");
        assert_int_equal(chmod(path, 0755), 0);
        assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
    }
}

static void files_in_place_of_directories(void **state)
{
    struct fixture *fixture = *state;
    char path[512];
    fixture_save(fixture, payload, sizeof(payload));
    for (int level = 2; level >= 0; level--) {
        directory_path(fixture, level, path);
        fixture_remove(path);
        fixture_write(path, "x", 1);
        assert_refused(fixture, -ENOTDIR, "cannot open the directory");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_refused(fixture, -ENOTDIR, "cannot open the directory");
        assert_int_equal(unlink(path), 0);
    }
}

static void foreign_directories(void **state)
{
    struct fixture *fixture = *state;
    char path[512];
    if (!need_root())
        skip();
    fixture_save(fixture, payload, sizeof(payload));
    for (int level = 0; level < 3; level++) {
        directory_path(fixture, level, path);
        assert_int_equal(chown(path, STRANGER, STRANGER), 0);
        assert_refused(fixture, -EPERM, "belongs to user 65534, user 0 expected");
        assert_int_equal(chown(path, 0, 0), 0);
    }
    assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
}

/* A store of root's may be read where the caller says so, but isn't trusted otherwise. */
static void stores_of_root(void **state)
{
    struct fixture *fixture = *state;
    char path[512];
    if (!need_root())
        skip();
    fixture_save(fixture, payload, sizeof(payload));
    for (int level = 0; level < 3; level++) {
        directory_path(fixture, level, path);
        assert_int_equal(chmod(path, 0755), 0);
    }
    snprintf(path, sizeof(path), "%s/cache", fixture->base);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(chmod(fixture->base, 0755), 0);
    assert_int_equal(chmod(fixture_path(fixture, ".vkcache"), 0644), 0);
    assert_int_equal(seteuid(STRANGER), 0);
    int plain = fixture_load(fixture, payload, sizeof(payload));
    fixture->config.read_only = true;
    int read_only = fixture_load(fixture, payload, sizeof(payload));
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(plain, -EPERM);
    assert_int_equal(read_only, 0);
}

/* C17 */
static void no_right_to_create(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    if (!need_root())
        skip();
    assert_int_equal(chmod(fixture->base, 0555), 0);
    assert_int_equal(seteuid(STRANGER), 0);
    int error = store_save_begin(store, &changed, &problem);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(error, -EACCES);
    assert_problem(problem, "cannot create the directory: Permission denied");
    store_destroy(store);
}

static void make_link(const char *path)
{
    assert_int_equal(symlink("/etc/passwd", path), 0);
}

static void make_dangling_link(const char *path)
{
    assert_int_equal(symlink("created-through-the-link", path), 0);
}

static void make_fifo(const char *path)
{
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_directory(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    /* The path may be too long for an address. */
    char folder[PATH_MAX], *slash;
    snprintf(folder, sizeof(folder), "%s", path);
    slash = strrchr(folder, '/');
    *slash = '\0';
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder), 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", slash + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(fchdir(here), 0);
    close(here);
    close(fd);
}

static void make_device(const char *path)
{
    assert_int_equal(mknod(path, S_IFCHR | 0600, makedev(1, 3)), 0);
}

static void make_foreign(const char *path)
{
    fixture_write(path, "x", 1);
    assert_int_equal(chown(path, STRANGER, STRANGER), 0);
}

static const struct {
    void (*make)(const char *path);
    int expected;
    const char *part;
    bool root;
} intruders[] = {
    {make_link, -ELOOP, "a symbolic link, a regular file expected", false},
    {make_dangling_link, -ELOOP, "a symbolic link, a regular file expected", false},
    {make_fifo, -EINVAL, "a pipe, a regular file expected", false},
    {make_directory, -EINVAL, "a directory, a regular file expected", false},
    {make_socket, -EINVAL, "a socket, a regular file expected", false},
    {make_device, -EINVAL, "a device, a regular file expected", true},
    {make_foreign, -EPERM, "belongs to user 65534", true},
};
#define INTRUDER_COUNT (sizeof(intruders) / sizeof(intruders[0]))

/* Puts one intruder after the other at the place of a file, and lets `check` see what comes of it. */
static void try_intruders(struct fixture *fixture, const char *suffix,
                          int (*check)(struct store *store, struct store_problem *problem))
{
    fixture_save(fixture, payload, sizeof(payload));
    for (size_t i = 0; i < INTRUDER_COUNT; i++) {
        struct store *store = fixture_store(fixture);
        struct store_problem problem;
        const char *path = fixture_path(fixture, suffix);
        if (intruders[i].root && geteuid() != 0) {
            print_message("skipped one: needs root\n");
            store_destroy(store);
            continue;
        }
        fixture_remove(path);
        intruders[i].make(path);
        assert_int_equal(check(store, &problem), intruders[i].expected);
        assert_problem(problem, intruders[i].part);
        assert_problem(problem, suffix);
        store_destroy(store);
        fixture_remove(path);
    }
    assert_int_equal(fixture_count(fixture, "through-the-link"), 0);
    assert_int_equal(fixture_count(fixture, ".tmp."), 0);
}

static int try_load(struct store *store, struct store_problem *problem)
{
    struct store_blob blob;
    enum envelope_verdict verdict;
    return store_load(store, &blob, &verdict, problem);
}

static int try_save(struct store *store, struct store_problem *problem)
{
    bool changed;
    return store_save_begin(store, &changed, problem);
}

static int try_open_ledger(struct store *store, struct store_problem *problem)
{
    struct ledger ledger;
    uint32_t dead_count;
    return store_open_ledger(store, &ledger, NULL, 0, &dead_count, problem);
}

static int try_write_ledger(struct store *store, struct store_problem *problem)
{
    struct ledger ledger = {.asked = true};
    return store_write_ledger(store, &ledger, problem);
}

static int try_quarantine(struct store *store, struct store_problem *problem)
{
    return store_quarantine(store, &(struct hash128){{7}}, problem);
}

static void intruders_at_the_store(void **state)
{
    try_intruders(*state, ".vkcache", try_load);
    try_intruders(*state, ".vkcache", try_save);
    try_intruders(*state, ".vkcache", try_quarantine);
}

static void intruders_at_the_ledger(void **state)
{
    try_intruders(*state, ".ledger", try_open_ledger);
    try_intruders(*state, ".ledger", try_write_ledger);
}

static void intruders_at_the_lock(void **state)
{
    try_intruders(*state, ".lock", try_save);
    try_intruders(*state, ".lock", try_write_ledger);
}

/* Its content isn't trusted, but the next save makes it ours again. */
static void file_that_others_may_write(void **state)
{
    struct fixture *fixture = *state;
    fixture_save(fixture, payload, sizeof(payload));
    assert_int_equal(chmod(fixture_path(fixture, ".vkcache"), 0620), 0);
    assert_int_equal(fixture_load(fixture, NULL, 0), -EBADMSG);
    fixture_save(fixture, payload, sizeof(payload));
    assert_int_equal(fixture_load(fixture, payload, sizeof(payload)), 0);
}

static void marks_that_are_none(void **state)
{
    struct fixture *fixture = *state;
    struct ledger ledger;
    struct hash128 dead[8];
    struct store_problem problem;
    uint32_t dead_count;
    struct store *store = fixture_store(fixture);
    fixture_save(fixture, payload, sizeof(payload));
    make_fifo(fixture_path(fixture, ".0123456789abcdef0123456789abcdef.0000000000000001.guard"));
    make_link(fixture_path(fixture, ".0123456789abcdef0123456789abcdef.0000000000000002.guard"));
    make_directory(fixture_path(fixture, ".0123456789abcdef0123456789abcdef.0000000000000003.guard"));
    fixture_write(fixture_path(fixture, ".0123456789abcdef.guard"), "", 0);
    fixture_write(fixture_path(fixture, ".0123456789abcdefX123456789abcdef.0000000000000004.guard"), "", 0);
    fixture_write(fixture_path(fixture, "2.0123456789abcdef0123456789abcdef.0000000000000004.guard"), "", 0);
    assert_int_equal(store_open_ledger(store, &ledger, dead, 8, &dead_count, &problem), 0);
    assert_int_equal(dead_count, 0);
    store_destroy(store);
}

static void file_size_limit_of_the_process(void **state)
{
    struct fixture *fixture = *state;
    fixture_save(fixture, payload, 1000);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {.rlim_cur = 2000, .rlim_max = 2000};
        struct store *store = fixture_store(fixture);
        struct store_problem problem;
        bool changed;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (store_save_begin(store, &changed, &problem) != 0)
            _exit(1);
        _exit(store_save_commit(store, payload, sizeof(payload), &problem) != -EFBIG);
    }
    fixture_join(child);
    assert_int_equal(fixture_load(fixture, payload, 1000), 0);
}

/* Exit status of save_on_a_full_disk()'s child. */
enum { DISK_RIGHT, DISK_WRONG, DISK_NO_MOUNT };

static int save_until_full(struct fixture *fixture)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", fixture->base, "tmpfs", 0, "size=256k,mode=0700") != 0)
        return DISK_NO_MOUNT;
    static uint8_t large[400 * 1024];
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    fixture_fill(large, sizeof(large), 3);
    fixture_save(fixture, payload, sizeof(payload));
    bool right = store_save_begin(store, &changed, &problem) == 0 &&
                 store_save_commit(store, large, sizeof(large), &problem) == -ENOSPC &&
                 strstr(problem.text, "No space left on device");
    store_save_end(store);
    store_destroy(store);
    right =
        right && fixture_count(fixture, ".tmp.") == 0 && fixture_load(fixture, payload, sizeof(payload)) == 0;
    return right ? DISK_RIGHT : DISK_WRONG;
}

/* C19 on a real full disk: a short write first, then ENOSPC. */
static void save_on_a_full_disk(void **state)
{
    pid_t child = fork();
    int status;
    if (child == 0)
        _exit(save_until_full(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == DISK_NO_MOUNT) {
        print_message("skipped: may not mount\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), DISK_RIGHT);
}

/* What a program prints that has closed its standard output must not go into a mark: it would say that the
 * guarded call returned. */
static void standard_files_closed(void **state)
{
    const struct fixture *fixture = *state;
    pid_t child = fork();
    if (child == 0) {
        const struct hash128 hash = {{7}};
        struct store *store = fixture_store(fixture);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            close(fd);
        int mark = store_guard_begin(store, &hash);
        bool apart = mark > STDERR_FILENO && write(STDOUT_FILENO, "printed", 7) < 0 && errno == EBADF;
        store_guard_end(store, &hash, mark);
        store_destroy(store);
        _exit(!apart);
    }
    fixture_join(child);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(linked_directories),
        STORE_TEST(links_above_the_root_are_followed),
        STORE_TEST(directories_that_others_may_write),
        STORE_TEST(files_in_place_of_directories),
        STORE_TEST(foreign_directories),
        STORE_TEST(stores_of_root),
        STORE_TEST(no_right_to_create),
        STORE_TEST(intruders_at_the_store),
        STORE_TEST(intruders_at_the_ledger),
        STORE_TEST(intruders_at_the_lock),
        STORE_TEST(file_that_others_may_write),
        STORE_TEST(marks_that_are_none),
        STORE_TEST(standard_files_closed),
        STORE_TEST(file_size_limit_of_the_process),
        STORE_TEST(save_on_a_full_disk),
    };
    return cmocka_run_group_tests(tests, fill_payload, NULL);
}
