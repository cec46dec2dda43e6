#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    char name[IDENTITY_DIRECTORY_SIZE];
    const char *folder = getenv("TMPDIR");
    snprintf(fixture->base, sizeof(fixture->base), "%s/rc-store-XXXXXX", folder ? folder : "/tmp");
    if (!mkdtemp(fixture->base))
        return -1;
    snprintf(fixture->root, sizeof(fixture->root), "%s/cache/robust_cache", fixture->base);
    fixture->identity = (struct cache_identity){
        .vendor_id = 0x10de,
        .device_id = 0x2330,
        .driver_version = 17,
        .driver_id = 4,
        .cache_uuid = {1, 2, 3, 4},
        .abi = identity_abi(),
        .driver_name = "test driver",
        .driver_info = "1.0",
    };
    identity_directory(&fixture->identity, name);
    snprintf(fixture->directory, sizeof(fixture->directory), "%s/v1/%s", fixture->root, name);
    fixture->config = (struct store_config){
        .root = fixture->root,
        .application = FIXTURE_APPLICATION,
        .identity = &fixture->identity,
        .max_size = 1 << 20,
        .total_size = 4 << 20,
    };
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    fixture_remove(fixture->base);
    free(fixture);
    return 0;
}

const char *fixture_path(const struct fixture *fixture, const char *suffix)
{
    static char paths[2][PATH_MAX];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], PATH_MAX, "%s/%s%s", fixture->directory, FIXTURE_APPLICATION, suffix);
    return paths[turn];
}

struct store *fixture_store(const struct fixture *fixture)
{
    struct store *store;
    assert_int_equal(store_create(&store, &fixture->config), 0);
    return store;
}

void fixture_save(const struct fixture *fixture, const void *payload, size_t size)
{
    struct store *store = fixture_store(fixture);
    struct store_problem problem;
    bool changed;
    if (store_save_begin(store, &changed, &problem) != 0)
        fail_msg("begin: %s", problem.text);
    if (store_save_commit(store, payload, size, &problem) != 0)
        fail_msg("commit: %s", problem.text);
    store_save_end(store);
    store_destroy(store);
}

int fixture_load(const struct fixture *fixture, const void *payload, size_t size)
{
    struct store *store = fixture_store(fixture);
    struct store_blob blob;
    struct store_problem problem;
    enum envelope_verdict verdict;
    int error = store_load(store, &blob, &verdict, &problem);
    if (error == 0) {
        assert_int_equal(verdict, ENVELOPE_VALID);
        assert_int_equal(blob.size, size);
        assert_memory_equal(blob.data, payload, size);
        store_blob_finish(&blob);
    } else {
        assert_null(blob.data);
        assert_int_equal(problem.text[0] == '\0', error == -ENOENT);
    }
    store_destroy(store);
    return error;
}

int fixture_count(const struct fixture *fixture, const char *part)
{
    DIR *list = opendir(fixture->directory);
    int count = 0;
    if (!list)
        return 0;
    for (const struct dirent *entry; (entry = readdir(list));)
        count += strstr(entry->d_name, part) != NULL;
    closedir(list);
    return count;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *place)
{
    (void)stat;
    (void)type;
    (void)place;
    return remove(path);
}

void fixture_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void fixture_write(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

void *fixture_read(const char *path, size_t *size)
{
    struct stat stat;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &stat), 0);
    *size = (size_t)stat.st_size;
    void *data = malloc(*size + 1);
    assert_int_equal(read(fd, data, *size), *size);
    close(fd);
    return data;
}

uint32_t fixture_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

void fixture_fill(void *out, size_t size, uint64_t seed)
{
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)fixture_random(&seed);
}

void fixture_join(int child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
