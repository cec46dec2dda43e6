#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".quarantine"

/* Whether the file still is the one that `hash` was taken of; another process may have replaced it since. */
static int check_payload(const struct store *store, int directory, const char *name,
                         const struct hash128 *hash, struct store_problem *problem)
{
    struct stat stat;
    uint8_t trailer[ENVELOPE_SIZE];
    struct envelope envelope;
    enum envelope_verdict verdict;
    int fd = store_file_open(store, directory, name, O_RDONLY, &stat, problem);
    if (fd < 0)
        return fd;
    int error = store_read_trailer(store, fd, &stat, trailer, &envelope, &verdict, problem);
    close(fd);
    if (!error && !hash128_equal(&envelope.payload_hash, hash))
        error = -ENOENT;
    return error;
}

static void quarantine_name(const struct store *store, const struct hash128 *hash, char out[STORE_NAME_SIZE])
{
    char suffix[1 + HASH128_HEX_SIZE + sizeof(SUFFIX)] = ".";
    hash128_to_hex(hash, suffix + 1);
    strcat(suffix, SUFFIX);
    store_name(store, suffix, out);
}

int store_quarantine(struct store *store, const struct hash128 *hash, struct store_problem *problem)
{
    char name[STORE_NAME_SIZE], aside[STORE_NAME_SIZE];
    struct store_session own;
    bool saving = store->saving.directory >= 0;
    problem->text[0] = '\0';
    int error = saving ? 0 : store_session_begin(store, &own, problem);
    if (error)
        return error;
    int directory = saving ? store->saving.directory : own.directory;
    store_name(store, ".vkcache", name);
    quarantine_name(store, hash, aside);
    error = check_payload(store, directory, name, hash, problem);
    if (!error && renameat(directory, name, directory, aside) != 0)
        error = store_fail_file(store, name, -errno, problem, "cannot set aside: %m");
    if (!error)
        store->known.valid = false;
    if (!saving)
        store_session_end(&own);
    return error;
}

static bool parse_quarantine(const struct store *store, const char *name, struct hash128 *hash)
{
    size_t length = strlen(store->application);
    return strncmp(name, store->application, length) == 0 && name[length] == '.' &&
           hash128_from_hex(name + length + 1, hash) && strcmp(name + length + HASH128_HEX_SIZE, SUFFIX) == 0;
}

static bool find_released(const struct store *store, int directory, const struct ledger *ledger, int64_t now,
                          struct hash128 *hash)
{
    bool found = false;
    const struct dirent *entry;
    DIR *list = store_directory_list(directory);
    if (!list)
        return false;
    for (int i = 0; i < STORE_SCAN_MAX && !found && (entry = readdir(list)); i++)
        found = parse_quarantine(store, entry->d_name, hash) &&
                ledger_quarantine_of(ledger, hash, now) == LEDGER_NOT_QUARANTINED;
    closedir(list);
    return found;
}

int store_restore(struct store *store, const struct ledger *ledger, int64_t now,
                  struct store_problem *problem)
{
    char name[STORE_NAME_SIZE], aside[STORE_NAME_SIZE];
    struct store_session session;
    struct hash128 hash;
    struct stat stat;
    problem->text[0] = '\0';
    int directory = store_directory_open(store, false, problem);
    if (directory < 0)
        return directory;
    bool found = find_released(store, directory, ledger, now, &hash);
    close(directory);
    if (!found)
        return -ENOENT;
    int error = store_session_begin(store, &session, problem);
    if (error)
        return error;
    store_name(store, ".vkcache", name);
    quarantine_name(store, &hash, aside);
    /* Under the lock no other process of ours puts a store there between the two calls. */
    if (fstatat(session.directory, name, &stat, AT_SYMLINK_NOFOLLOW) == 0)
        error = -EEXIST;
    else if (renameat(session.directory, aside, session.directory, name) != 0)
        error = store_fail_file(store, aside, -errno, problem, "cannot put back: %m");
    store_session_end(&session);
    return error;
}
