/* Ways in which cache data gets damaged between the run that wrote it and the run that reads it. */
#ifndef PROGRAMS_DAMAGED_H
#define PROGRAMS_DAMAGED_H

#include <stddef.h>
#include <stdint.h>

enum damage_kind {
    DAMAGE_BIT,         /* one bit flipped */
    DAMAGE_BITS,        /* 2 to 32 bits flipped */
    DAMAGE_WORD,        /* an aligned word overwritten: 0, all ones, random, or a little more or less */
    DAMAGE_CUT,         /* cut off anywhere */
    DAMAGE_ZERO_TAIL,   /* zeroes from somewhere to the end: a power cut on many file systems */
    DAMAGE_RANDOM_TAIL, /* random bytes from somewhere to the end */
    DAMAGE_ZERO_BLOCK,  /* an aligned block of 512 or 4096 bytes zeroed */
    DAMAGE_SWAP,        /* two aligned blocks of 512 bytes exchanged */
    DAMAGE_EMPTY,       /* nothing left */
    DAMAGE_SHORT,       /* 1 to 63 bytes left */
    DAMAGE_IDENTITY,    /* vendor, device or UUID in the header changed */
    DAMAGE_TWICE,       /* written twice, one behind the other */
    DAMAGE_APPENDED,    /* garbage behind it, its last byte not zero */
    DAMAGE_KIND_COUNT
};

/* A random number generator of its own for each case, so that a case can be repeated alone. */
struct damage_random {
    uint64_t state;
};
struct damage_random damage_random_for(uint64_t seed, uint64_t number);
uint64_t damage_random_below(struct damage_random *random, uint64_t limit);

/* Makes a damaged copy of `size` bytes at `data` (at least 64) that differs from it. `trailer` bytes at its
 * end are not the driver's (0: none): a copy cut off right before them is whole driver data, hence never
 * made. The copy comes from malloc; NULL on out of memory. Cases cycle through the kinds by `number`. */
void *damage_make(const void *data, size_t size, size_t trailer, uint64_t seed, uint64_t number,
                  enum damage_kind *kind, size_t *out_size);

const char *damage_kind_name(enum damage_kind kind);

#endif
