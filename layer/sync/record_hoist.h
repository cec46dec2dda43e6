/* Image barriers that the application recorded inside a render pass instance which doesn't use the image. */
#ifndef RC_SYNC_RECORD_HOIST_H
#define RC_SYNC_RECORD_HOIST_H

#include "sync/command_buffer.h"
#include "sync/record_call.h"

/* Splits a call inside of an instance by its image barriers that are illegal there
 * (VUID-vkCmdPipelineBarrier-image-04073 and its siblings). Where the instance is held back, `*before` gets
 * those whose images no earlier command of it can have used. Of the others those go to buffer->behind after
 * which nothing in the instance can use the image, and those of images that the command buffer hasn't touched
 * become needs on entry. `*call` keeps the rest. Each is reported. False: there are none, `*call` is as it
 * was. The arrays last as long as the recording. */
bool record_hoist(struct command_buffer *buffer, struct record_call *call, struct record_call *before);

/* The instance is over: what goes behind it becomes pending. record_barrier.c. */
void record_barriers_behind(struct command_buffer *buffer);

#endif
