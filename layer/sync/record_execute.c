/* Secondary command buffers: what they need is needed where they are executed. */
#include "sync/record.h"
#include "sync/repair.h"

static void execute(struct command_buffer *buffer, const struct command_buffer *secondary)
{
    for (const struct contract_image *image = secondary->contract.first; image; image = image->next) {
        struct contract_image *part = command_buffer_image(buffer, image->image);
        struct repairs repairs;
        if (!part)
            continue;
        repairs_init(&repairs, buffer, part, COMMAND_CmdExecuteCommands);
        struct transition_sink sink = repairs_sink(&repairs);
        contract_execute(part, image, &sink);
        repairs_place(&repairs);
    }
    if (buffer->pass == PASS_NONE)
        buffer->suspending = secondary->suspending;
}

/* The call is split where a repair is needed between two of its command buffers; inside a render pass none
 * is. */
void hook_CmdExecuteCommands(struct command_buffer *buffer, PFN_vkCmdExecuteCommands next,
                             VkCommandBuffer commandBuffer, uint32_t commandBufferCount,
                             const VkCommandBuffer *pCommandBuffers)
{
    uint32_t first = 0;
    record_flush(buffer);
    for (uint32_t i = 0; i < commandBufferCount; i++) {
        const struct command_buffer *secondary = command_buffer_find(buffer->sync, pCommandBuffers[i]);
        if (secondary && !secondary->failed)
            execute(buffer, secondary);
        else
            buffer->failed = true;
        if (!buffer->batch.calls)
            continue;
        if (i > first)
            next(commandBuffer, i - first, &pCommandBuffers[first]);
        record_flush(buffer);
        first = i;
    }
    next(commandBuffer, commandBufferCount - first, &pCommandBuffers[first]);
}
