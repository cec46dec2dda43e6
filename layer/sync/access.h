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
    uint8_t family; /* that owns it, or that it was released to; ACCESS_NO_FAMILY: any */
    uint8_t queue;  /* index of the queue that used it last, in the device's state only */
    uint8_t zero;
    struct scope
        write; /* the last write; a layout transition is one, with its destination stages and no access */
    struct scope visible;        /* to what that write was made visible */
    VkPipelineStageFlags2 reads; /* stages that have read since the last write */
    uint64_t serial;             /* submission on `queue`, in the device's state only */
};
_Static_assert(sizeof(struct access) == 56, "no padding");

/* How a command uses a subresource. */
struct use {
    VkImageLayout layout;
    uint16_t command;   /* enum sync_command, for reports */
    uint16_t label;     /* index of the debug labels open there, for reports; 0: none */
    struct scope scope; /* writes are those of scope_writes(scope.access) */
};

/* Initial state: never used, in `layout`, nothing to wait for. */
struct access access_initial(VkImageLayout layout);

/* The source of a dependency that orders everything known before: write and reads; {0, 0} if there is
 * nothing. */
struct scope access_source(const struct access *access);

/* After a use in the layout it is in. */
void access_add_use(struct access *access, const struct use *use);

/* After a transition (or memory barrier) to `layout` with this destination. */
void access_add_barrier(struct access *access, VkImageLayout layout, const struct scope *source,
                        const struct scope *destination);

#endif
