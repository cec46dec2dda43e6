#include "damaged.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define APPENDED_MAX 8192

/* splitmix64 (public domain algorithm by Sebastiano Vigna) */
static uint64_t next(struct damage_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct damage_random damage_random_for(uint64_t seed, uint64_t number)
{
    struct damage_random random = {seed};
    random.state = next(&random) + number;
    random.state = next(&random);
    return random;
}

uint64_t damage_random_below(struct damage_random *random, uint64_t limit)
{
    return next(random) % limit;
}

struct copy {
    uint8_t *bytes;
    size_t size;
};

static void flip_bits(struct copy *copy, struct damage_random *random, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        copy->bytes[damage_random_below(random, copy->size)] ^=
            (uint8_t)(1u << damage_random_below(random, 8));
}

static void fill_random(uint8_t *bytes, size_t size, struct damage_random *random)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)next(random);
}

static void overwrite_word(struct copy *copy, struct damage_random *random)
{
    uint8_t *at = copy->bytes + 4 * damage_random_below(random, copy->size / 4);
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    uint32_t little = 1 + (uint32_t)damage_random_below(random, 16);
    const uint32_t values[] = {0,         UINT32_MAX, (uint32_t)next(random), word + little, word - little,
                               0x7fffffff};
    memcpy(at, &values[damage_random_below(random, 6)], sizeof(word));
}

/* Where a tail begins: most often anywhere, sometimes near the end. */
static size_t tail_start(const struct copy *copy, struct damage_random *random)
{
    size_t longest = damage_random_below(random, 4) == 0 && copy->size > 1024 ? 1024 : copy->size;
    return copy->size - 1 - damage_random_below(random, longest);
}

static void zero_block(struct copy *copy, struct damage_random *random)
{
    size_t block = damage_random_below(random, 2) ? 512 : 4096;
    size_t at = block * damage_random_below(random, (copy->size + block - 1) / block);
    memset(copy->bytes + at, 0, copy->size - at < block ? copy->size - at : block);
}

static void swap_blocks(struct copy *copy, struct damage_random *random)
{
    const size_t block = copy->size >= 1024 ? 512 : 4;
    uint8_t *a = copy->bytes + block * damage_random_below(random, copy->size / block);
    uint8_t *b = copy->bytes + block * damage_random_below(random, copy->size / block);
    for (size_t i = 0; i < block; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

static void append_garbage(struct copy *copy, struct damage_random *random)
{
    size_t extra = 1 + damage_random_below(random, damage_random_below(random, 2) ? 64 : APPENDED_MAX);
    fill_random(copy->bytes + copy->size, extra, random);
    copy->bytes[copy->size + extra - 1] |= 1;
    copy->size += extra;
}

static void apply(struct copy *copy, enum damage_kind kind, struct damage_random *random)
{
    size_t start = 0;
    switch (kind) {
    case DAMAGE_BIT:
        flip_bits(copy, random, 1);
        break;
    case DAMAGE_BITS:
        flip_bits(copy, random, 2 + damage_random_below(random, 31));
        break;
    case DAMAGE_WORD:
        overwrite_word(copy, random);
        break;
    case DAMAGE_CUT:
        copy->size = tail_start(copy, random);
        break;
    case DAMAGE_ZERO_TAIL:
        start = tail_start(copy, random);
        memset(copy->bytes + start, 0, copy->size - start);
        break;
    case DAMAGE_RANDOM_TAIL:
        start = tail_start(copy, random);
        fill_random(copy->bytes + start, copy->size - start, random);
        break;
    case DAMAGE_ZERO_BLOCK:
        zero_block(copy, random);
        break;
    case DAMAGE_SWAP:
        swap_blocks(copy, random);
        break;
    case DAMAGE_EMPTY:
        copy->size = 0;
        break;
    case DAMAGE_SHORT:
        copy->size = 1 + damage_random_below(random, 63);
        break;
    case DAMAGE_IDENTITY: /* bytes 8 to 31 of VkPipelineCacheHeaderVersionOne */
        fill_random(copy->bytes + 8 + 4 * damage_random_below(random, 6), 4, random);
        break;
    case DAMAGE_TWICE:
        memcpy(copy->bytes + copy->size, copy->bytes, copy->size);
        copy->size *= 2;
        break;
    case DAMAGE_APPENDED:
        append_garbage(copy, random);
        break;
    case DAMAGE_KIND_COUNT:
        break;
    }
}

static bool is_damaged(const struct copy *copy, const void *data, size_t size, size_t trailer)
{
    if (trailer > 0 && copy->size == size - trailer)
        return false;
    return copy->size != size || memcmp(copy->bytes, data, size) != 0;
}

void *damage_make(const void *data, size_t size, size_t trailer, uint64_t seed, uint64_t number,
                  enum damage_kind *kind, size_t *out_size)
{
    struct damage_random random = damage_random_for(seed, number);
    struct copy copy = {malloc(2 * size + APPENDED_MAX), size};
    if (!copy.bytes)
        return NULL;
    *kind = (enum damage_kind)(number % DAMAGE_KIND_COUNT);
    do { /* some draws change nothing: zeroes over zeroes */
        memcpy(copy.bytes, data, size);
        copy.size = size;
        apply(&copy, *kind, &random);
    } while (!is_damaged(&copy, data, size, trailer));
    *out_size = copy.size;
    return copy.bytes;
}

const char *damage_kind_name(enum damage_kind kind)
{
    static const char *const names[DAMAGE_KIND_COUNT] = {
        [DAMAGE_BIT] = "bit",
        [DAMAGE_BITS] = "bits",
        [DAMAGE_WORD] = "word",
        [DAMAGE_CUT] = "cut",
        [DAMAGE_ZERO_TAIL] = "zero-tail",
        [DAMAGE_RANDOM_TAIL] = "random-tail",
        [DAMAGE_ZERO_BLOCK] = "zero-block",
        [DAMAGE_SWAP] = "swap",
        [DAMAGE_EMPTY] = "empty",
        [DAMAGE_SHORT] = "short",
        [DAMAGE_IDENTITY] = "identity",
        [DAMAGE_TWICE] = "twice",
        [DAMAGE_APPENDED] = "appended",
    };
    return names[kind];
}
