/* The commands of a render pass instance that is held back, as they came: copied, kept in order, given down
 * later. The functions that copy each command, body_put_<Command>(), are generated (body_commands.h). Owned
 * by the thread that records. */
#ifndef RC_SYNC_BODY_H
#define RC_SYNC_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "arena.h"

/* Head of every kept command. */
struct body_command {
    struct body_command *next;
    void (*replay)(VkCommandBuffer handle, const struct body_command *command);
};

/* All zero is a valid empty body. */
struct body {
    struct arena arena;
    struct body_command *first, *last;
    uint32_t count; /* commands */
};

/* Memory that lives as long as the commands; NULL on out of memory. */
static inline void *body_alloc(struct body *body, size_t size)
{
    return arena_alloc(&body->arena, size);
}
/* A command from body_alloc(), filled but for its head, at the end of the body: for what may still fail while
 * it is filled. */
static inline void body_link(struct body *body, struct body_command *command,
                             void (*replay)(VkCommandBuffer handle, const struct body_command *command))
{
    command->next = NULL;
    command->replay = replay;
    *(body->last ? &body->last->next : &body->first) = command;
    body->last = command;
    body->count++;
}
/* A command of `size` bytes, head included, at the end of the body; the rest isn't zeroed. NULL on out of
 * memory: nothing has changed. */
void *body_add(struct body *body, size_t size,
               void (*replay)(VkCommandBuffer handle, const struct body_command *command));
/* A copy of `size` bytes; of 0 bytes, or of NULL: NULL, and *failed stays. Else *failed is set on out of
 * memory. */
const void *body_copy(struct body *body, const void *from, size_t size, bool *failed);
/* Of a write's three arrays only the one that descriptorType selects is valid: the others become NULL. False
 * for a type that isn't known, and where the array is missing. */
bool body_select_array(VkWriteDescriptorSet *write);

/* Gives all commands down in order, and forgets them; the memory is kept for the next. */
void body_replay(struct body *body, VkCommandBuffer handle);
void body_clear(struct body *body);
void body_finish(struct body *body);

#endif
