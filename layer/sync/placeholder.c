/* Until the recording hooks land: nothing is tracked. */
#include "sync/record.h"

struct command_buffer *command_buffer_find(struct device_sync *sync, VkCommandBuffer handle)
{
    (void)sync, (void)handle;
    return NULL;
}

void record_flush_pending(struct command_buffer *buffer)
{
    (void)buffer;
}
