/* What draws, dispatches and traces read and write through descriptors. */
#ifndef RC_SYNC_RECORD_SHADER_H
#define RC_SYNC_RECORD_SHADER_H

#include "sync/command_buffer.h"
#include "sync_commands.h"

/* Looks at all that the shaders of a bind point use. What is missing becomes pending, or, inside of a render
 * pass instance that is held back, goes before it. */
void record_shaders_changed(struct command_buffer *buffer, enum sync_command command,
                            struct bind_point *point);

/* Whether something was bound, or some image changed its state, since shaders of the bind point ran last. */
static inline bool record_shaders_are_new(const struct command_buffer *buffer, enum bind_point_index index)
{
    return buffer->bindings.points[index].seen != buffer->changes;
}

/* Before a command runs the shaders of a bind point. While nothing was bound and no image changed its state
 * since the last such command, there is nothing new. */
static inline void record_shaders(struct command_buffer *buffer, enum sync_command command,
                                  enum bind_point_index index)
{
    if (record_shaders_are_new(buffer, index))
        record_shaders_changed(buffer, command, &buffer->bindings.points[index]);
}

/* vkCmdExecuteGeneratedCommands and its like: what they bind stands in a buffer. */
void record_shaders_unseen(struct command_buffer *buffer);

#endif
