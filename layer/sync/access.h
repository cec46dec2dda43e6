/* What is known of one image subresource at one point. Pure. */
#ifndef RC_SYNC_ACCESS_H
#define RC_SYNC_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "sync/scope.h"

#define ACCESS_NO_FAMILY 0xff
#define ACCESS_NO_QUEUE 0xff

enum access_flags {
    ACCESS_UNKNOWN = 1, /* nothing below means anything: leave it alone */
    ACCESS_RELEASED =
        2, /* a queue-family release was executed, its acquire not yet; `layout` is the old one */
};

/* Zeroed and without padding, since maps compare the bytes. */
struct access {
    VkImageLayout layout;
    uint8_t flags;
    uint8_t family;      /* that owns it, or that it was released to; ACCESS_NO_FAMILY: any */
    uint8_t queue;       /* index of the queue that used it last, in the device's state only */
    uint8_t other_queue; /* another one whose last use isn't known to be over; ACCESS_NO_QUEUE: none */
    struct scope write; /* writes that no barrier has been seen to order; a layout transition is one, with its
                           destination stages and no access */
    struct scope visible;        /* to what the last write was made visible */
    VkPipelineStageFlags2 reads; /* stages that have read, as far as no barrier has been seen to order them */
    uint64_t serial;             /* submission on `queue`, in the device's state only */
    uint64_t other_serial;       /* ... on `other_queue`; ACCESS_SEVERAL: there are more such queues */
};
_Static_assert(sizeof(struct access) == 64, "no padding");

#define ACCESS_SEVERAL UINT64_MAX

/* How a command uses a subresource. */
struct use {
    VkImageLayout layout;
    uint16_t command;   /* enum sync_command, for reports */
    uint16_t label;     /* index of the debug labels open there, for reports; 0: none */
    struct scope scope; /* writes are those of scope_writes(scope.access) */
};

/* Initial state: never used, in `layout`, nothing to wait for. */
struct access access_initial(VkImageLayout layout);

/* The source of a dependency that orders everything known before: writes and reads; {0, 0} if there is
 * nothing. */
struct scope access_source(const struct access *access);

/* After a use in the layout it is in. What was there before stays to be waited for, since a use orders
 * nothing. */
void access_add_use(struct access *access, const struct use *use);

/* After a transition (or memory barrier) to `layout` with this destination. What `source` doesn't reach is
 * still to be waited for. */
void access_add_barrier(struct access *access, VkImageLayout layout, const struct scope *source,
                        const struct scope *destination);

/* After commands that by themselves leave `after`, in a state that they found as `access`. `ordered`: the
 * sources of their barriers. Layout, flags and family are those of `after`; queues and serials stay. */
void access_follow(struct access *access, const struct access *after, const struct scope *ordered);

/* The stages through which a dependency reaches a barrier that names these as its source, and leaves one that
 * names them as its destination: themselves, or where they name nothing, all. */
VkPipelineStageFlags2 access_chain_stages(VkPipelineStageFlags2 stages);

#endif
