/* Command buffers: what was recorded into each, in order, with deep copies of the arguments. */
#ifndef DRIVER_COMMAND_BUFFER_H
#define DRIVER_COMMAND_BUFFER_H

#include <stddef.h>

#include "driver.h"

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t size;
    max_align_t data[];
};

struct arena {
    struct arena_block *blocks; /* the newest first */
};

/* Zeroed memory that lives until the arena is emptied; NULL on out of memory. */
void *arena_allocate(struct arena *arena, size_t size);

struct recorded_command {
    enum command_id command; /* the name under which the registry describes it */
    enum command_id called;  /* the name it was called by: the same, or an alias */
    void *arguments;         /* struct arguments_<command>, in the arena */
    void *details;           /* what else is kept for the oracle, in the arena; NULL: nothing */
};

struct command_buffer {
    struct object base;
    struct device *device;
    VkCommandBufferLevel level;
    struct arena arena;
    struct recorded_command *commands;
    uint32_t count;
    uint32_t capacity;
    bool failed; /* a record was lost for want of memory: vkEndCommandBuffer says so */
};

struct command_buffer *command_buffer_from_handle(VkCommandBuffer handle);

/* Adds a command; returns its zeroed arguments or NULL on out of memory. */
void *command_append(struct command_buffer *buffer, enum command_id command, enum command_id called,
                     size_t arguments_size);

/* Carries out a command buffer, as far as the host can see it: events are set and reset. Called in the order
 * in which the queues execute, under the device's lock. */
void command_buffer_execute(const struct command_buffer *buffer);

#endif
