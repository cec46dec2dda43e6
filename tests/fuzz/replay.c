/* Runs a fuzz target without libFuzzer: on every file of its corpus, then on a fixed number of mutations of
 * them. The same inputs each time.
 *
 *   fuzz_<name> <corpus> <runs>
 *   fuzz_<name> <file>           one input, to look into a crash */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "random.h"

#define INPUT_MAX 16384
#define CORPUS_MAX 256

struct input {
    uint8_t data[INPUT_MAX];
    size_t size;
};

static struct input corpus[CORPUS_MAX];
static size_t corpus_count;

/* In an allocation of exactly its size, so that a sanitizer sees any read beyond it. */
static void run(const struct input *input)
{
    uint8_t *copy = malloc(input->size ? input->size : 1);

    require(copy);
    memcpy(copy, input->data, input->size);
    LLVMFuzzerTestOneInput(copy, input->size);
    free(copy);
}

static void read_input(const char *path, struct input *out)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    out->size = fread(out->data, 1, INPUT_MAX, file);
    fclose(file);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_corpus(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_visible, alphasort);

    if (count < 0) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
    require(count > 0 && count <= CORPUS_MAX);
    for (int i = 0; i < count; i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        read_input(path, &corpus[corpus_count++]);
        free(names[i]);
    }
    free(names);
}

static void insert(struct input *input, size_t at, const uint8_t *bytes, size_t count)
{
    if (count > INPUT_MAX - input->size)
        count = INPUT_MAX - input->size;
    memmove(input->data + at + count, input->data + at, input->size - at);
    memcpy(input->data + at, bytes, count);
    input->size += count;
}

/* One of the changes that find most: a bit, a byte, a cut, a hole, zeros, a piece of another input. */
static void mutate(struct random *random, struct input *input)
{
    const struct input *other = &corpus[random_below(random, corpus_count)];
    size_t at = input->size ? random_below(random, input->size) : 0;
    size_t length = 1 + random_below(random, 1u << random_below(random, 10));
    size_t from = other->size ? random_below(random, other->size) : 0;

    if (length > input->size - at)
        length = input->size - at;
    switch (input->size ? random_below(random, 7) : 6) {
    case 0:
        input->data[at] ^= (uint8_t)(1u << random_below(random, 8));
        break;
    case 1:
        input->data[at] = (uint8_t)random_next(random);
        break;
    case 2:
        input->size = at;
        break;
    case 3:
        memmove(input->data + at, input->data + at + length, input->size - at - length);
        input->size -= length;
        break;
    case 4:
        memset(input->data + at, 0, length);
        break;
    case 5:
        random_fill(random, input->data + at, length);
        break;
    default:
        length = random_below(random, other->size - from + 1);
        insert(input, at, other->data + from, length);
        break;
    }
}

int main(int argc, char **argv)
{
    struct random random = random_from(1);
    static struct input input;
    unsigned long runs;

    if (argc == 2) {
        read_input(argv[1], &input);
        run(&input);
        return EXIT_SUCCESS;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: %s <corpus> <runs> | <file>\n", argv[0]);
        return EXIT_FAILURE;
    }
    read_corpus(argv[1]);
    runs = strtoul(argv[2], NULL, 10);
    for (size_t i = 0; i < corpus_count; i++)
        run(&corpus[i]);
    for (unsigned long i = 0; i < runs; i++) {
        size_t changes = 1 + random_below(&random, 5);

        input = corpus[random_below(&random, corpus_count)];
        for (size_t j = 0; j < changes; j++)
            mutate(&random, &input);
        run(&input);
    }
    printf("%zu files, %lu mutations\n", corpus_count, runs);
    return EXIT_SUCCESS;
}
