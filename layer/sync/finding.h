/* One fault of the application's that was repaired or seen: how it is said, once per kind, and counted after
 * that. */
#ifndef RC_SYNC_FINDING_H
#define RC_SYNC_FINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/device_sync.h"
#include "sync/image.h"

enum finding_kind {
    FINDING_MISSING_TRANSITION, /* used in a layout the image isn't in */
    FINDING_WRONG_OLD_LAYOUT,   /* a barrier names an oldLayout the image isn't in */
    FINDING_PRESENT_LAYOUT,     /* presented in another layout than PRESENT_SRC */
    FINDING_INSIDE_RENDER_PASS, /* needed inside a render pass, where no barrier may stand */
    FINDING_BARRIER_INSIDE,     /* an image barrier inside a render pass that doesn't use the image */
    FINDING_UNORDERED,          /* in use on another queue, with nothing between */
    FINDING_OTHER_FAMILY,       /* owned by another queue family */
    FINDING_RELEASED,           /* released and not acquired */
    FINDING_NEVER_RELEASED,     /* acquired and never released */
    FINDING_DESTROYED_IN_USE,   /* reported only where it is certain */
};

enum finding_place {
    PLACE_BEFORE_COMMAND,        /* a barrier right before the command */
    PLACE_BEFORE_RENDER_PASS,    /* ... before the instance that the command stands in */
    PLACE_BEHIND_RENDER_PASS,    /* ... behind it */
    PLACE_REWRITTEN,             /* the application's own barrier, changed */
    PLACE_BEFORE_COMMAND_BUFFER, /* a patch in the submit */
    PLACE_BEFORE_PRESENT,
    PLACE_NOWHERE, /* only reported */
};

struct finding {
    enum finding_kind kind;
    enum finding_place place; /* where the repair went; in report mode: would have gone */
    struct image *image;
    struct subresource_range range;
    uint16_t command;           /* enum sync_command of the command that needs it */
    const char *labels;         /* "": none */
    const char *command_buffer; /* its debug name; NULL */
    VkImageLayout had, needed;
};

/* Counts it; says it (log line, JSON object in the report file, message for debug utils) if its fingerprint
 * is new on this device. The fingerprint is a hash over kind, command, the image's debug name or else its
 * creation ordinal, labels and layouts. In repair mode what was repaired is INFO, what couldn't be WARNING;
 * in report mode all is ERROR, and messages are of type VALIDATION. Any thread; not under sync->lock. Never
 * fails: on out of memory it is only counted. */
void finding_report(struct device_sync *sync, const struct finding *finding);

struct finding_table *
finding_table_create(void); /* NULL on out of memory: then every finding is only counted */
/* Writes the counts of findings that occurred more than once. */
void finding_table_destroy(struct device_sync *sync, struct finding_table *table);

#endif
