/* Repairs in the command buffer that is being recorded: from what the contract asks for to pending barriers.
 */
#ifndef RC_SYNC_REPAIR_H
#define RC_SYNC_REPAIR_H

#include "sync/record.h"

/* Transitions that one command needs of one image. Collected by the sink, then placed. On the stack, its list
 * in the command buffer's arena. */
struct repairs {
    struct command_buffer *buffer;
    struct contract_image *part;
    enum sync_command command;
    uint32_t count, capacity;
    struct transition *items;
    struct transition few[4];
    bool lost; /* there was no memory for some */
};

void repairs_init(struct repairs *repairs, struct command_buffer *buffer, struct contract_image *part,
                  enum sync_command command);

/* Its sink, for contract_use() and the like. */
struct transition_sink repairs_sink(struct repairs *repairs);

/* They become pending (repair mode, outside a render pass) and are reported; what can't be placed is
 * reported, and the range is unknown from here on. Does nothing where there are none. */
void repairs_place(struct repairs *repairs);

#endif
