/* Random sequences of what processes do with one store, and of what happens to its file, against a model. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STORES 3
#define PAYLOADS 6
#define STEPS 400
#define NO_PAYLOAD (-1)
#define NO_VERSION (-1)

enum disk { DISK_NONE, DISK_WHOLE, DISK_BAD_PAYLOAD, DISK_BAD_TRAILER };

struct model {
    struct fixture *fixture;
    struct store *stores[STORES];
    uint64_t seed;
    enum disk disk;
    int payload;       /* of the file, also of a damaged one whose trailer stands */
    int version;       /* counts whatever happened to the file */
    int known[STORES]; /* the payload that a store last loaded or saved, or NO_PAYLOAD */
    int known_version[STORES];
    int refused_version[STORES]; /* whose payload a store last found damaged, or NO_VERSION */
};

static uint8_t payloads[PAYLOADS][3000];
static const size_t sizes[PAYLOADS] = {32, 33, 639, 640, 1111, 3000};

static int fill_payloads(void **state)
{
    for (int i = 0; i < PAYLOADS; i++)
        fixture_fill(payloads[i], sizes[i], (uint64_t)i);
    (void)state;
    return 0;
}

static int pick(struct model *model, int count)
{
    return (int)(fixture_random(&model->seed) % (uint32_t)count);
}

static void model_load(struct model *model, int i)
{
    struct store_blob blob;
    struct store_problem problem;
    enum envelope_verdict verdict;
    int error = store_load(model->stores[i], &blob, &verdict, &problem);
    if (model->disk == DISK_WHOLE) {
        assert_int_equal(error, 0);
        assert_int_equal(blob.size, sizes[model->payload]);
        assert_memory_equal(blob.data, payloads[model->payload], blob.size);
        model->known[i] = model->payload;
        model->known_version[i] = model->version;
    } else {
        assert_int_equal(error, model->disk == DISK_NONE ? -ENOENT : -EBADMSG);
        assert_int_equal(problem.text[0] != '\0', model->disk != DISK_NONE);
        model->known[i] = NO_PAYLOAD;
    }
    model->refused_version[i] = model->disk == DISK_BAD_PAYLOAD ? model->version : NO_VERSION;
    store_blob_finish(&blob);
}

static ino_t inode(const struct fixture *fixture)
{
    struct stat found;
    return stat(fixture_path(fixture, ".vkcache"), &found) == 0 ? found.st_ino : 0;
}

static void model_save(struct model *model, int i)
{
    struct store_problem problem;
    struct store *store = model->stores[i];
    int payload = pick(model, PAYLOADS);
    bool changed;
    assert_int_equal(store_save_begin(store, &changed, &problem), 0);
    bool trailer = model->disk == DISK_WHOLE || model->disk == DISK_BAD_PAYLOAD;
    bool refused = model->disk == DISK_BAD_PAYLOAD && model->refused_version[i] == model->version;
    assert_int_equal(changed, trailer && !refused && model->known[i] != model->payload);
    if (changed && pick(model, 2))
        model_load(model, i);
    if (pick(model, 8) > 0) {
        bool same = model->known[i] == payload && model->known_version[i] == model->version;
        ino_t before = inode(model->fixture);
        int held =
            open(fixture_path(model->fixture, ".vkcache"), O_RDONLY); /* keeps the inode's number in use */
        assert_int_equal(store_save_commit(store, payloads[payload], sizes[payload], &problem), 0);
        assert_int_equal(inode(model->fixture) == before, same);
        if (held >= 0)
            close(held);
        model->version += !same;
        model->disk = DISK_WHOLE;
        model->payload = payload;
        model->known[i] = payload;
        model->known_version[i] = model->version;
        model->refused_version[i] = NO_VERSION;
    }
    store_save_end(store);
}

static void model_damage(struct model *model)
{
    const char *path = fixture_path(model->fixture, ".vkcache");
    size_t size;
    if (model->disk == DISK_NONE)
        return;
    uint8_t *data = fixture_read(path, &size);
    if (model->disk == DISK_WHOLE && pick(model, 2)) {
        data[pick(model, (int)sizes[model->payload])] ^= 0x10;
        model->disk = DISK_BAD_PAYLOAD;
    } else {
        size = (size_t)pick(model, (int)size + 1) * 3 / 4;
        model->disk = DISK_BAD_TRAILER;
    }
    fixture_write(path, data, size);
    free(data);
    model->version++;
}

static void model_quarantine(struct model *model, int i)
{
    struct store_problem problem;
    int payload = pick(model, PAYLOADS);
    struct hash128 hash = hash128_of(payloads[payload], sizes[payload]);
    int error = store_quarantine(model->stores[i], &hash, &problem);
    bool trailer = model->disk == DISK_WHOLE || model->disk == DISK_BAD_PAYLOAD;
    if (trailer && model->payload == payload) {
        assert_int_equal(error, 0);
        model->disk = DISK_NONE;
        model->known[i] = NO_PAYLOAD;
        model->version++;
    } else {
        assert_int_equal(error, model->disk == DISK_BAD_TRAILER ? -EBADMSG : -ENOENT);
    }
}

static void model_remove(struct model *model)
{
    if (pick(model, 2))
        unlink(fixture_path(model->fixture, ".vkcache"));
    else
        fixture_remove(model->fixture->root);
    model->disk = DISK_NONE;
    model->version++;
}

static void model_restart(struct model *model, int i)
{
    store_destroy(model->stores[i]);
    model->stores[i] = fixture_store(model->fixture);
    model->known[i] = NO_PAYLOAD;
    model->refused_version[i] = NO_VERSION;
}

static void model_step(struct model *model)
{
    int i = pick(model, STORES);
    int what = pick(model, 20);
    if (what < 6)
        model_load(model, i);
    else if (what < 14)
        model_save(model, i);
    else if (what < 16)
        model_damage(model);
    else if (what < 17)
        model_quarantine(model, i);
    else if (what < 18)
        model_remove(model);
    else
        model_restart(model, i);
}

static void run_model(struct fixture *fixture, uint64_t seed)
{
    struct model model = {.fixture = fixture,
                          .seed = seed,
                          .known = {NO_PAYLOAD, NO_PAYLOAD, NO_PAYLOAD},
                          .refused_version = {NO_VERSION, NO_VERSION, NO_VERSION}};
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < STORES; i++)
        model.stores[i] = fixture_store(fixture);
    for (int step = 0; step < STEPS; step++)
        model_step(&model);
    for (int i = 0; i < STORES; i++)
        store_destroy(model.stores[i]);
    assert_int_equal(fixture_count(fixture, ".tmp."), 0);
}

static void fixed_seed(void **state)
{
    run_model(*state, 1);
}

/* STORE_TEST_SEED repeats a run. */
static void random_seed(void **state)
{
    const char *seed = getenv("STORE_TEST_SEED");
    run_model(*state, seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL));
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {STORE_TEST(fixed_seed), STORE_TEST(random_seed)};
    return cmocka_run_group_tests(tests, fill_payloads, NULL);
}
