#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK (256 * 1024) /* bytes: what was just read is hashed while the CPU's cache still has it */

void store_blob_finish(struct store_blob *blob)
{
    free(blob->data);
    *blob = (struct store_blob){0};
}

int store_create(struct store **out, const struct store_config *config)
{
    size_t root_length = strlen(config->root);
    size_t name_length = strlen(config->application);
    while (root_length > 1 && config->root[root_length - 1] == '/')
        root_length--;
    if (config->root[0] != '/' || name_length == 0 || strchr(config->application, '/'))
        return -EINVAL;
    if (root_length >= PATH_MAX || name_length >= APPLICATION_NAME_SIZE)
        return -ENAMETOOLONG;

    struct store *store = calloc(1, sizeof(*store));
    if (!store)
        return -ENOMEM;
    store->root = strndup(config->root, root_length);
    if (!store->root) {
        free(store);
        return -ENOMEM;
    }
    memcpy(store->application, config->application, name_length + 1);
    store->identity = *config->identity;
    identity_directory(&store->identity, store->directory);
    store->max_size = config->max_size;
    store->total_size = config->total_size;
    store->read_only = config->read_only;
    store->saving = (struct store_session){.directory = -1, .lock = {.fd = -1}};
    *out = store;
    return 0;
}

void store_destroy(struct store *store)
{
    if (!store)
        return;
    store_session_end(&store->saving);
    free(store->root);
    free(store);
}

static int damaged(const struct store *store, struct store_problem *problem, const char *what)
{
    char name[STORE_NAME_SIZE];
    store_name(store, ".vkcache", name);
    return store_fail_file(store, name, -EBADMSG, problem, "%s", what);
}

static int check_size(const struct store *store, const char *name, uint64_t size,
                      struct store_problem *problem)
{
    if (size > store->max_size || size > SIZE_MAX)
        return store_fail_file(store, name, -EFBIG, problem, "%" PRIu64 " bytes, at most %" PRIu64 " allowed",
                               size, store->max_size);
    if (size < ENVELOPE_SIZE)
        return store_fail_file(store, name, -EBADMSG, problem, "%" PRIu64 " bytes, at least %d expected",
                               size, ENVELOPE_SIZE);
    return 0;
}

int store_read_trailer(const struct store *store, int fd, const struct stat *stat,
                       uint8_t trailer[ENVELOPE_SIZE], struct envelope *out, enum envelope_verdict *verdict,
                       struct store_problem *problem)
{
    char name[STORE_NAME_SIZE];
    uint64_t size = (uint64_t)stat->st_size;
    store_name(store, ".vkcache", name);
    *verdict = ENVELOPE_NONE;
    int error = check_size(store, name, size, problem);
    if (error)
        return error;
    ssize_t got = store_file_read(fd, trailer, ENVELOPE_SIZE, stat->st_size - ENVELOPE_SIZE);
    if (got < 0)
        return store_fail_file(store, name, (int)got, problem, "cannot read: %m");
    if (got < ENVELOPE_SIZE)
        return damaged(store, problem, "became shorter while it was being read");
    *verdict = envelope_open_trailer(trailer, size, &store->identity, out);
    if (*verdict == ENVELOPE_NONE)
        return damaged(store, problem, "no envelope at its end");
    if (*verdict != ENVELOPE_VALID)
        return damaged(store, problem, out->problem);
    return 0;
}

static int read_payload(const struct store *store, int fd, struct store_blob *blob,
                        struct store_problem *problem)
{
    struct hash_stream stream;
    hash_stream_init(&stream);
    for (size_t done = 0; done < blob->size;) {
        size_t size = blob->size - done < READ_CHUNK ? blob->size - done : READ_CHUNK;
        ssize_t got = store_file_read(fd, (char *)blob->data + done, size, (off_t)done);
        if (got < 0) {
            char name[STORE_NAME_SIZE];
            store_name(store, ".vkcache", name);
            return store_fail_file(store, name, (int)got, problem, "cannot read: %m");
        }
        if ((size_t)got < size)
            return damaged(store, problem, "became shorter while it was being read");
        hash_stream_update(&stream, (char *)blob->data + done, size);
        done += size;
    }
    blob->hash = hash_stream_finish(&stream);
    return 0;
}

static bool ends_in_envelope(const struct store_blob *blob)
{
    struct envelope inner;
    if (blob->size < ENVELOPE_SIZE)
        return false;
    const uint8_t *end = (const uint8_t *)blob->data + blob->size;
    return envelope_open_trailer(end - ENVELOPE_SIZE, blob->size, NULL, &inner) != ENVELOPE_NONE;
}

static int read_blob(const struct store *store, int fd, const struct envelope *envelope,
                     struct store_blob *out, enum envelope_verdict *verdict, struct store_problem *problem)
{
    struct store_blob blob = {.size = (size_t)envelope->payload_size};
    blob.data = malloc(blob.size ? blob.size : 1);
    if (!blob.data)
        return store_fail(store, NULL, -ENOMEM, problem, "no memory for %zu bytes", blob.size);
    int error = read_payload(store, fd, &blob, problem);
    if (!error && !hash128_equal(&blob.hash, &envelope->payload_hash)) {
        char expected[HASH128_HEX_SIZE], found[HASH128_HEX_SIZE], what[128];
        hash128_to_hex(&envelope->payload_hash, expected);
        hash128_to_hex(&blob.hash, found);
        snprintf(what, sizeof(what), "payload hash: %s expected, %s found", expected, found);
        error = damaged(store, problem, what);
        *verdict = ENVELOPE_DAMAGED;
    }
    if (!error && ends_in_envelope(&blob)) {
        error = damaged(store, problem, "a second envelope inside the payload");
        *verdict = ENVELOPE_DAMAGED;
    }
    if (error)
        store_blob_finish(&blob);
    else
        *out = blob;
    return error;
}

int store_load(struct store *store, struct store_blob *out, enum envelope_verdict *verdict,
               struct store_problem *problem)
{
    char name[STORE_NAME_SIZE];
    struct store_known known = {.valid = false};
    struct envelope envelope;
    problem->text[0] = '\0';
    *out = (struct store_blob){0};
    *verdict = ENVELOPE_NONE;
    store->known.valid = store->known.damaged = false;

    int directory = store_directory_open(store, false, problem);
    if (directory < 0)
        return directory;
    store_name(store, ".vkcache", name);
    int fd = store_file_open(store, directory, name, O_RDONLY, &known.stat, problem);
    close(directory);
    if (fd < 0)
        return fd;

    int error = store_read_trailer(store, fd, &known.stat, known.trailer, &envelope, verdict, problem);
    if (!error) {
        error = read_blob(store, fd, &envelope, out, verdict, problem);
        known.valid = error == 0;
        known.damaged = *verdict == ENVELOPE_DAMAGED;
        store->known = known;
    }
    if (!error && !store->read_only)
        store_file_touch(fd);
    close(fd);
    return error;
}

uint64_t store_file_size(const struct store *store)
{
    char name[STORE_NAME_SIZE];
    struct store_problem problem;
    struct stat stat;
    int directory = store_directory_open(store, false, &problem);
    if (directory < 0)
        return 0;
    store_name(store, ".vkcache", name);
    int error = fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW);
    close(directory);
    return error == 0 && S_ISREG(stat.st_mode) ? (uint64_t)stat.st_size : 0;
}
