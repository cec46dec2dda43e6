/* The emergency brake's mark on disk. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *mark_path(const struct fixture *fixture)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/v1/" FIXTURE_APPLICATION ".brake", fixture->root);
    return path;
}

static int find(const struct fixture *fixture, int64_t *time, struct store_problem *problem)
{
    return store_brake_find(fixture->root, FIXTURE_APPLICATION, time, problem);
}

static void set(const struct fixture *fixture)
{
    struct store_problem problem;
    assert_int_equal(store_brake_set(fixture->root, FIXTURE_APPLICATION, &problem), 0);
    assert_string_equal(problem.text, "");
}

static void nothing_there(void **state)
{
    const struct fixture *fixture = *state;
    struct store_problem problem;
    int64_t time;
    assert_int_equal(find(fixture, &time, &problem), -ENOENT);
    assert_string_equal(problem.text, "");
    assert_int_equal(store_brake_remove(fixture->root, FIXTURE_APPLICATION, &problem), -ENOENT);
    assert_string_equal(problem.text, "");
    assert_int_equal(access(fixture->root, F_OK), -1);
}

static void set_found_removed(void **state)
{
    const struct fixture *fixture = *state;
    struct store_problem problem;
    struct stat stat_of_mark;
    int64_t found, before = time(NULL);
    mode_t mask = umask(0777);
    set(fixture);
    umask(mask);
    assert_int_equal(find(fixture, &found, &problem), 0);
    /* time() and the file system read clocks that tick apart. */
    assert_in_range(found, before - 1, time(NULL) + 1);
    assert_int_equal(stat(mark_path(fixture), &stat_of_mark), 0);
    assert_int_equal(stat_of_mark.st_mode & 07777, 0600);
    /* Another application's is another. */
    assert_int_equal(store_brake_find(fixture->root, "other", &found, &problem), -ENOENT);
    assert_int_equal(store_brake_remove(fixture->root, "other", &problem), 0);
    assert_int_equal(store_brake_remove(fixture->root, FIXTURE_APPLICATION, &problem), 0);
    assert_int_equal(find(fixture, &found, &problem), -ENOENT);
}

static void set_again_is_new(void **state)
{
    const struct fixture *fixture = *state;
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct store_problem problem;
    int64_t found;
    set(fixture);
    assert_int_equal(utimensat(AT_FDCWD, mark_path(fixture), old, 0), 0);
    assert_int_equal(find(fixture, &found, &problem), 0);
    assert_int_equal(found, 1000);
    set(fixture);
    assert_int_equal(find(fixture, &found, &problem), 0);
    assert_true(found > 1000);
}

static void assert_refused(const struct fixture *fixture, int expected, const char *part)
{
    struct store_problem problem;
    int64_t found;
    assert_int_equal(find(fixture, &found, &problem), expected);
    assert_problem(problem, part);
    assert_int_equal(store_brake_set(fixture->root, FIXTURE_APPLICATION, &problem), expected);
    assert_problem(problem, part);
    assert_problem(problem, "v1/" FIXTURE_APPLICATION ".brake: ");
}

static void not_ours(void **state)
{
    const struct fixture *fixture = *state;
    set(fixture);
    assert_int_equal(chmod(mark_path(fixture), 0622), 0);
    assert_refused(fixture, -EBADMSG, "others may write to it");
    assert_int_equal(unlink(mark_path(fixture)), 0);
    assert_int_equal(symlink("/dev/null", mark_path(fixture)), 0);
    assert_refused(fixture, -ELOOP, "a symbolic link");
    assert_int_equal(unlink(mark_path(fixture)), 0);
    assert_int_equal(mkfifo(mark_path(fixture), 0600), 0);
    assert_refused(fixture, -EINVAL, "a pipe");
}

static void no_folder(void **state)
{
    struct store_problem problem;
    int64_t found;
    (void)state;
    assert_int_equal(store_brake_set("relative", FIXTURE_APPLICATION, &problem), -EINVAL);
    assert_problem(problem, "relative: ");
    assert_int_equal(store_brake_find("relative", FIXTURE_APPLICATION, &found, &problem), -EINVAL);
    assert_int_equal(store_brake_remove("relative", FIXTURE_APPLICATION, &problem), -EINVAL);
}

static void folder_not_ours(void **state)
{
    const struct fixture *fixture = *state;
    struct store_problem problem;
    int64_t found;
    set(fixture);
    assert_int_equal(chmod(fixture->root, 0777), 0);
    assert_int_equal(find(fixture, &found, &problem), -EPERM);
    assert_problem(problem, "others may write to it");
    assert_int_equal(store_brake_remove(fixture->root, FIXTURE_APPLICATION, &problem), -EPERM);
    assert_int_equal(access(mark_path(fixture), F_OK), 0);
}

/* A store's trimming looks through the same folder. */
static void trimming_leaves_it(void **state)
{
    struct fixture *fixture = *state;
    struct store_problem problem;
    int64_t found;
    set(fixture);
    fixture_save(fixture, "data", 4);
    struct store *store = fixture_store(fixture);
    assert_int_equal(store_trim(store, &problem), 0);
    store_destroy(store);
    assert_int_equal(find(fixture, &found, &problem), 0);
}

#define BRAKE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BRAKE_TEST(nothing_there), BRAKE_TEST(set_found_removed), BRAKE_TEST(set_again_is_new),
        BRAKE_TEST(not_ours),      BRAKE_TEST(folder_not_ours),   BRAKE_TEST(trimming_leaves_it),
        BRAKE_TEST(no_folder),
    };
    return cmocka_run_group_tests_name("brake", tests, NULL, NULL);
}
