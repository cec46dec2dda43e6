#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool replaceable(int error)
{
    return error == -EBADMSG || error == -EFBIG || error == -EIO;
}

/* Whether the file holds something that this store doesn't know. What can't be used may be replaced: that is
 * reported, but no error. */
static int examine(const struct store *store, int directory, bool *changed, struct store_problem *problem)
{
    char name[STORE_NAME_SIZE];
    struct stat stat;
    uint8_t trailer[ENVELOPE_SIZE];
    struct envelope envelope;
    enum envelope_verdict verdict;
    *changed = false;
    store_name(store, ".vkcache", name);
    int fd = store_file_open(store, directory, name, O_RDONLY, &stat, problem);
    if (fd < 0)
        return fd == -ENOENT || replaceable(fd) ? 0 : fd;
    int error = store_read_trailer(store, fd, &stat, trailer, &envelope, &verdict, problem);
    close(fd);
    if (error)
        return replaceable(error) ? 0 : error;
    const struct store_known *known = &store->known;
    bool same = memcmp(trailer, known->trailer, ENVELOPE_SIZE) == 0;
    *changed = !same || !(known->valid || (known->damaged && store_same_file(&stat, &known->stat)));
    return 0;
}

int store_save_begin(struct store *store, bool *changed, struct store_problem *problem)
{
    problem->text[0] = '\0';
    *changed = false;
    /* In the child of a fork() the parent's save is still open here. */
    store_session_end(&store->saving);
    int error = store_session_begin(store, &store->saving, problem);
    if (error)
        return error;
    store_temporary_clean(store, &store->saving);
    error = examine(store, store->saving.directory, changed, problem);
    if (error)
        store_session_end(&store->saving);
    return error;
}

/* The file is compared with what was judged whole, not only its trailer: a damaged payload must be replaced.
 */
static bool holds_already(const struct store *store, const char *name, const uint8_t trailer[ENVELOPE_SIZE])
{
    struct stat stat;
    return store->known.valid && memcmp(store->known.trailer, trailer, ENVELOPE_SIZE) == 0 &&
           fstatat(store->saving.directory, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
           store_same_file(&stat, &store->known.stat);
}

int store_save_commit(struct store *store, const void *payload, size_t size, struct store_problem *problem)
{
    char name[STORE_NAME_SIZE];
    struct store_known known = {.valid = true};
    uint64_t cap = store->max_size < store->total_size ? store->max_size : store->total_size;
    problem->text[0] = '\0';
    store_name(store, ".vkcache", name);
    if (cap < ENVELOPE_SIZE || size > cap - ENVELOPE_SIZE)
        return store_fail_file(store, name, -EFBIG, problem,
                               "%zu bytes and the envelope to save, at most %" PRIu64 " allowed", size, cap);

    struct hash128 hash = hash128_of(payload, size);
    envelope_seal(known.trailer, &store->identity, size, &hash);
    if (holds_already(store, name, known.trailer))
        return 0;
    struct iovec parts[2] = {
        {.iov_base = (void *)(uintptr_t)payload, .iov_len = size},
        {.iov_base = known.trailer, .iov_len = ENVELOPE_SIZE},
    };
    int error = store_replace(store, store->saving.directory, name, parts, 2, &known.stat, problem);
    if (!error)
        store->known = known;
    return error;
}

void store_save_end(struct store *store)
{
    store_session_end(&store->saving);
}
