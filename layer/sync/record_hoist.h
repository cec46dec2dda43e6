/* Image barriers that the application recorded inside a render pass instance which doesn't use the image. */
#ifndef RC_SYNC_RECORD_HOIST_H
#define RC_SYNC_RECORD_HOIST_H

#include "sync/command_buffer.h"
#include "sync/record_call.h"

/* Splits a call inside of an instance: `*before` gets the image barriers that are illegal there
 * (VUID-vkCmdPipelineBarrier-image-04073 and its siblings) and that can be put before it, since no earlier
 * command of it can have used their images; `*call` keeps the rest. Each is reported. False: there are none,
 * `*call` is as it was. The arrays of both last as long as the instance's body. */
bool record_hoist(struct command_buffer *buffer, struct record_call *call, struct record_call *before);

#endif
