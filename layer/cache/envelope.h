/* The envelope: a trailer of fixed size behind the driver's cache data that says who wrote it, and whether it
 * is whole. It stands behind, since the spec wants VkPipelineCacheHeaderVersionOne first and applications
 * check it themselves. Store files and the blobs that applications save have the same form. Pure code. */
#ifndef RC_CACHE_ENVELOPE_H
#define RC_CACHE_ENVELOPE_H

#include "identity.h"

#define ENVELOPE_SIZE 640
#define ENVELOPE_VERSION 1
#define ENVELOPE_MAX_PADDING 4096 /* zero bytes that an application may have added behind it */

/* Layout, all numbers little-endian:
 *   0  magic, 8 bytes            8  version, u32           12  ENVELOPE_SIZE, u32
 *  16  vendorID, u32            20  deviceID, u32          24  driverVersion, u32    28  driverID, u32
 *  32  pipelineCacheUUID, 16    48  ABI, u32               52  build ID size, u32    56  build ID, 32
 *  88  driverName, 256         344  driverInfo, 256
 * 600  payload size, u64       608  XXH3-128 of the payload, 16
 * 624  XXH3-64 of bytes 0..623, u64
 * 632  end mark, 8 bytes, the last of them not zero
 * Every later version keeps the size and the places of magic, version, size, own hash and end mark: so an
 * older layer knows a newer envelope from a damaged one. */

enum envelope_verdict {
    ENVELOPE_NONE,            /* no envelope at the end of the data */
    ENVELOPE_VALID,           /* payload whole and written by this very identity */
    ENVELOPE_FOREIGN,         /* envelope whole, but of another device, driver, build or ABI */
    ENVELOPE_DAMAGED,         /* envelope or payload not as written */
    ENVELOPE_UNKNOWN_VERSION, /* written by a newer layer */
};

struct envelope {
    struct cache_identity identity;
    uint64_t payload_size;       /* bytes */
    struct hash128 payload_hash; /* as the envelope states it */
    /* For every verdict but VALID and NONE: the field that is wrong and what was expected, in words that can
     * stand in a message: "payload size: 900 bytes expected, 700 found". */
    char problem[128];
};

/* Looks for an envelope at the end of `size` bytes at `data` and judges it. It is found where its magic or
 * its end mark stands in the right place, behind it at most ENVELOPE_MAX_PADDING zero bytes; once found its
 * verdict is final. Judged in this order: both marks, version, own hash, sizes (payload, envelope and padding
 * are all there is), identity, no second envelope at the payload's end, payload hash.
 *
 * `self` is the running device's identity, or NULL to skip that comparison (tools). `out` is filled as far as
 * the verdict allows; for ENVELOPE_NONE it is zero. Reads the payload once (XXH3), and not at all if the
 * envelope is foreign or damaged itself. Keeps no pointer, never fails otherwise; any thread. */
enum envelope_verdict envelope_open(const void *data, size_t size, const struct cache_identity *self,
                                    struct envelope *out);

/* The part of envelope_open() that looks at the ENVELOPE_SIZE bytes of the trailer alone, for readers that
 * hash the payload while they read it. `total_size` is the size of payload and trailer together, no padding.
 * VALID here means: intact and fitting, the payload's hash still to be compared. Doesn't look for a second
 * envelope inside the payload. */
enum envelope_verdict envelope_open_trailer(const uint8_t trailer[ENVELOPE_SIZE], uint64_t total_size,
                                            const struct cache_identity *self, struct envelope *out);

/* Writes the envelope for `payload_size` bytes with the given XXH3-128. Equal input gives equal bytes. */
void envelope_seal(uint8_t out[ENVELOPE_SIZE], const struct cache_identity *identity, uint64_t payload_size,
                   const struct hash128 *payload_hash);

#endif
