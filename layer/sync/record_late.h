/* Descriptors that are read when a command buffer is submitted: those of UPDATE_AFTER_BIND bindings. */
#ifndef RC_SYNC_RECORD_LATE_H
#define RC_SYNC_RECORD_LATE_H

#include "sync/command_buffer.h"
#include "sync/shader.h"
#include "sync_commands.h"

/* Takes a reference to the set. */
void record_late_use(struct command_buffer *buffer, enum sync_command command, struct descriptor_set *set,
                     const struct shader_use *use);
/* Those of a secondary command buffer become the primary's. */
void record_late_execute(struct command_buffer *primary, const struct command_buffer *secondary);

#endif
