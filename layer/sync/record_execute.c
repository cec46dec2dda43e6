/* vkCmdExecuteCommands: what secondary command buffers need of the primary. */
#include "sync/record.h"
#include "sync/record_repair.h"

/* The secondaries' contracts are those of their recording; they are only read here. */
static bool are_known(const struct command_buffer *primary, uint32_t count, const VkCommandBuffer *handles)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct command_buffer *secondary = command_buffer_find(primary->sync, handles[i]);
        if (!secondary || secondary->failed)
            return false;
    }
    return true;
}

/* One call that may go down in parts. */
struct executing {
    struct command_buffer *primary;
    PFN_vkCmdExecuteCommands next;
    const VkCommandBuffer *handles;
    uint32_t given; /* so many are down */
};

static void give_down(struct executing *executing, uint32_t end)
{
    record_flush(executing->primary);
    executing->next(executing->primary->handle, end - executing->given,
                    executing->handles + executing->given);
    executing->given = end;
}

static void execute_image(struct executing *executing, uint32_t index, const struct command_buffer *secondary,
                          const struct contract_image *needs)
{
    struct command_buffer *primary = executing->primary;
    struct contract_image *part = command_buffer_image(primary, needs->image);
    if (!part)
        return;
    struct transition_sink sink = record_repair_begin(primary);
    contract_execute(part, needs, &sink);
    if (!record_repair_is_needed(primary))
        return;
    bool repairs = primary->sync->mode == SYNC_REPAIR && !record_is_inside(primary);
    if (repairs && index > executing->given)
        give_down(executing, index);
    record_repair_place(primary, part, FINDING_MISSING_TRANSITION, secondary);
}

static void execute(struct executing *executing, uint32_t index)
{
    struct command_buffer *primary = executing->primary;
    const struct command_buffer *secondary = command_buffer_find(primary->sync, executing->handles[index]);
    for (const struct contract_image *needs = secondary->contract.first; needs; needs = needs->next)
        execute_image(executing, index, secondary, needs);
    if (primary->pass == PASS_NONE)
        primary->suspending = secondary->suspending;
}

void hook_CmdExecuteCommands(struct command_buffer *self, PFN_vkCmdExecuteCommands next,
                             VkCommandBuffer commandBuffer, uint32_t commandBufferCount,
                             const VkCommandBuffer *pCommandBuffers)
{
    struct executing executing = {self, next, pCommandBuffers, 0};
    if (self->failed || !are_known(self, commandBufferCount, pCommandBuffers)) {
        self->failed = true;
        record_flush(self);
        next(commandBuffer, commandBufferCount, pCommandBuffers);
        return;
    }
    for (uint32_t i = 0; i < commandBufferCount; i++)
        execute(&executing, i);
    give_down(&executing, commandBufferCount);
}
