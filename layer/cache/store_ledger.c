#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file's text; *size is 0 where there is none, or none that could be a ledger. */
static int read_text(const struct store *store, int directory, const char *name, char *text, size_t *size,
                     struct store_problem *problem)
{
    struct stat stat;
    *size = 0;
    int fd = store_file_open(store, directory, name, O_RDONLY, &stat, problem);
    if (fd < 0)
        return fd == -ENOENT || fd == -EBADMSG ? 0 : fd;
    ssize_t got = store_file_read(fd, text, LEDGER_TEXT_MAX + 1, 0);
    if (!store->read_only)
        store_file_touch(fd);
    close(fd);
    if (got < 0)
        return store_fail_file(store, name, (int)got, problem, "cannot read: %m");
    if (got > LEDGER_TEXT_MAX)
        store_fail_file(store, name, -EBADMSG, problem, "not a ledger: over %d bytes", LEDGER_TEXT_MAX);
    else
        *size = (size_t)got;
    return 0;
}

/* Like read_text(), with the ledger that the text stands for. `text` has LEDGER_TEXT_MAX + 1 bytes. */
static int read_ledger(const struct store *store, int directory, struct ledger *out, char *text, size_t *size,
                       struct store_problem *problem)
{
    char name[STORE_NAME_SIZE];
    uint32_t bad_lines = 0;
    memset(out, 0, sizeof(*out));
    store_name(store, ".ledger", name);
    int error = read_text(store, directory, name, text, size, problem);
    if (error || *size == 0)
        return error;
    if (!ledger_parse(out, text, *size, &bad_lines))
        store_fail_file(store, name, -EBADMSG, problem, "not a ledger: its first line is wrong");
    else if (bad_lines > 0)
        store_fail_file(store, name, -EBADMSG, problem, "%u lines of the ledger can't be read", bad_lines);
    return 0;
}

static int merge_and_replace(struct store *store, int directory, struct ledger *ledger, char *old, char *text,
                             struct store_problem *problem)
{
    struct ledger other;
    char name[STORE_NAME_SIZE];
    size_t old_size;
    struct stat stat;
    int error = read_ledger(store, directory, &other, old, &old_size, problem);
    if (error)
        return error;
    ledger_merge(ledger, &other, &store->base);
    size_t size = ledger_format(ledger, text);
    if (size != old_size || memcmp(text, old, size) != 0) {
        struct iovec part = {.iov_base = text, .iov_len = size};
        store_name(store, ".ledger", name);
        error = store_replace(store, directory, name, &part, 1, &stat, problem);
    }
    if (!error)
        store->base = *ledger;
    return error;
}

int store_write_ledger(struct store *store, struct ledger *ledger, struct store_problem *problem)
{
    struct store_session own;
    struct ledger merged = *ledger;
    bool saving = store->saving.directory >= 0;
    problem->text[0] = '\0';
    char *text = malloc(2 * LEDGER_TEXT_MAX + 1);
    if (!text)
        return store_fail(store, NULL, -ENOMEM, problem, "no memory for the ledger");
    int error = saving ? 0 : store_session_begin(store, &own, problem);
    if (error)
        goto free_text;
    int directory = saving ? store->saving.directory : own.directory;
    error = merge_and_replace(store, directory, &merged, text + LEDGER_TEXT_MAX, text, problem);
    if (!error)
        *ledger = merged;
    if (!saving)
        store_session_end(&own);

free_text:
    free(text);
    return error;
}

static bool contains(const struct hash128 *hashes, uint32_t count, const struct hash128 *hash)
{
    for (uint32_t i = 0; i < count; i++) {
        if (hash128_equal(&hashes[i], hash))
            return true;
    }
    return false;
}

/* The deaths are on disk before the marks go, so that none is lost. One found twice has the same time, and
 * counts once. A mark that isn't told waits for the next time. */
static void take_deaths(struct store *store, int directory, struct ledger *ledger, struct hash128 *dead,
                        uint32_t dead_max, uint32_t *dead_count, struct store_problem *problem)
{
    struct guard_dead found;
    struct store_problem write_problem;
    guard_find_dead(store, directory, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct hash128 *hash = &found.marks[i].hash;
        bool known = contains(dead, *dead_count, hash);
        if (!known && *dead_count == dead_max)
            continue;
        enum ledger_death death = ledger_add_death(ledger, hash, found.marks[i].time);
        if (!known && (!found.marks[i].later || death == LEDGER_SECOND_DEATH))
            dead[(*dead_count)++] = *hash;
        found.marks[i].told = true;
    }
    bool written = found.count > 0 && store_write_ledger(store, ledger, &write_problem) == 0;
    if (found.count > 0 && !written)
        *problem = write_problem;
    guard_dead_finish(&found, directory, written);
}

int store_open_ledger(struct store *store, struct ledger *out, struct hash128 *dead, uint32_t dead_max,
                      uint32_t *dead_count, struct store_problem *problem)
{
    size_t size;
    problem->text[0] = '\0';
    *dead_count = 0;
    memset(out, 0, sizeof(*out));
    memset(&store->base, 0, sizeof(store->base));
    int directory = store_directory_open(store, false, problem);
    if (directory < 0)
        return directory == -ENOENT ? 0 : directory;
    char *text = malloc(LEDGER_TEXT_MAX + 1);
    int error = text ? read_ledger(store, directory, out, text, &size, problem)
                     : store_fail(store, NULL, -ENOMEM, problem, "no memory for the ledger");
    free(text);
    if (!error) {
        store->base = *out;
        if (!store->read_only)
            take_deaths(store, directory, out, dead, dead_max, dead_count, problem);
    }
    close(directory);
    return error;
}
