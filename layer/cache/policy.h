/* What reaches the driver at vkCreatePipelineCache: the table of the design as one pure function. */
#ifndef RC_CACHE_POLICY_H
#define RC_CACHE_POLICY_H

#include "envelope.h"
#include "ledger.h"

#define POLICY_HEADER_SIZE 32 /* bytes of VkPipelineCacheHeaderVersionOne */

enum raw_blobs {
    RAW_BLOBS_AUTO,
    RAW_BLOBS_ACCEPT,
    RAW_BLOBS_REJECT,
};

enum policy_action {
    POLICY_EMPTY,     /* size 0, NULL */
    POLICY_UNTOUCHED, /* pointer and size as they came */
    POLICY_PAYLOAD,   /* the first payload_size bytes; they came in a valid envelope */
    POLICY_RAW,       /* all of it, without envelope, under the crash guard */
};

enum policy_reason {
    POLICY_OK,
    POLICY_NO_DATA,   /* size 0 */
    POLICY_TOO_SHORT, /* under 32 bytes */
    POLICY_HEADER_DAMAGED,
    POLICY_HEADER_FOREIGN, /* a whole header of another device or driver */
    POLICY_FOREIGN,        /* valid envelope of another identity */
    POLICY_CORRUPT,        /* envelope or payload damaged */
    POLICY_NEWER_ENVELOPE,
    POLICY_RAW_UNKNOWN, /* no envelope, and not known to have left through the layer */
    POLICY_HOLLOW,      /* nothing but headers in it: a driver that keeps nothing */
    POLICY_QUARANTINED,
    POLICY_DRIVER_ERROR,   /* not judged here: the driver returned an error for the data */
    POLICY_DRIVER_DROPPED, /* not judged here: the driver took it and kept nothing */
    POLICY_REASON_COUNT
};

struct policy_decision {
    enum policy_action action;
    enum policy_reason reason;
    size_t payload_size;         /* bytes to hand down, for PAYLOAD and RAW */
    struct hash128 payload_hash; /* of those bytes */
    bool proven;                 /* the ledger knows that the driver survives them */
    char problem[128];           /* for everything rejected (but NO_DATA): field, expected, found */
};

/* Judges `size` bytes at `data`, in this order:
 *
 * 1. Size 0: EMPTY, NO_DATA. `data` is never read, whatever it is.
 * 2. A header version that is not ONE but may be registered: UNTOUCHED. Not if what surrounds it is this
 *    device's version-one header.
 * 3. An envelope at the end: its verdict. If it is valid, its payload must begin with this device's header,
 *    else CORRUPT.
 * 4. No envelope: the header must be this device's.
 * 5. Nothing but equal headers: EMPTY, HOLLOW.
 * 6. No envelope and `raw_blobs` is `reject`: EMPTY, RAW_UNKNOWN.
 * 7. Quarantined in the ledger: EMPTY, QUARANTINED.
 * 8. No envelope and `raw_blobs` is `auto`: EMPTY, RAW_UNKNOWN, unless the ledger knows that these bytes left
 *    through the layer, or that none ever did.
 *
 * `ledger` is only read (the caller holds its lock); `now` is in seconds since 1970. Keeps no pointer. */
struct policy_decision policy_judge(const void *data, size_t size, const struct cache_identity *self,
                                    enum raw_blobs raw_blobs, const struct ledger *ledger, int64_t now);

/* Short name for reports: "corrupt", "foreign", ... */
const char *policy_reason_name(enum policy_reason reason);

/* Whether `size` bytes at `data` begin with VkPipelineCacheHeaderVersionOne of exactly this identity.
 * Vulkan spec, section "Pipeline Cache Header". */
bool policy_header_matches(const void *data, size_t size, const struct cache_identity *self);

#endif
