/* Render pass instances that are held back, so that barriers whose need shows only inside can still go before
 * them. */
#ifndef RC_SYNC_RECORD_HOLD_H
#define RC_SYNC_RECORD_HOLD_H

#include "body_commands.h"
#include "sync/command_buffer.h"

/* To be asked before every instance, whose attachments are known: whether it is to be held back. An image
 * that this command buffer left in a layout in which no descriptor refers to it may be read by its shaders.
 * If so, what begins it is to be put into hold.body, and then record_hold_begin() called. */
bool record_hold_is_wanted(struct command_buffer *buffer);
void record_hold_begin(struct command_buffer *buffer);

/* layout_bit() of the descriptors that may refer to the image while an instance is recorded. */
uint32_t record_hold_described(const struct command_buffer *buffer, const struct image *image);

/* All that is held goes down, after the barriers that are pending. What comes then passes through. */
void record_hold_release(struct command_buffer *buffer);

/* For a command inside of an instance: where it is held, tries `put`, an expression of body_put_...(). True:
 * done. Else the command is to be given down. */
#define RECORD_HOLDS(buffer, put) ((buffer)->hold.holds && ((put) || (record_hold_give_up(buffer), false)))

/* vkCmdPushDescriptorSetWithTemplate into what is held; false if that can't be. record_bind.c. */
bool record_hold_template(struct command_buffer *buffer, VkDescriptorUpdateTemplate handle,
                          VkPipelineLayout layout, uint32_t set, const void *data);

/* The command that comes can't be held. */
void record_hold_give_up(struct command_buffer *buffer);

/* The command (outside of instances) or instance has used a range: it can't be had in another layout. */
void record_hold_add_use(struct command_buffer *buffer, struct contract_image *image,
                         const struct subresource_range *range);
void record_hold_end_command(struct command_buffer *buffer);
/* Whether it has used some of it. `range` NULL: any of the image. */
bool record_hold_has_used(const struct command_buffer *buffer, const struct contract_image *image,
                          const struct subresource_range *range);

/* A barrier for the image (NULL: one of the application's that stood inside) goes before the instance. */
void record_hold_used(struct command_buffer *buffer, const struct contract_image *image);
/* One was needed, and the instance isn't held: the next like it is. The same of a barrier of the application
 * that may not stand inside. */
void record_hold_missed_barrier(struct command_buffer *buffer);
void record_hold_missed(struct command_buffer *buffer, const struct contract_image *image);

#endif
