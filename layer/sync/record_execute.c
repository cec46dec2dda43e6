/* vkCmdExecuteCommands: what secondary command buffers need of the primary. */
#include "sync/record.h"
#include "sync/record_hold.h"
#include "sync/record_late.h"
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
    struct command_buffer *primary = executing->primary;
    const VkCommandBuffer *handles = executing->handles + executing->given;
    uint32_t count = end - executing->given;
    executing->given = end;
    if (RECORD_HOLDS(primary,
                     body_put_CmdExecuteCommands(&primary->hold.body, executing->next, count, handles)))
        return;
    record_flush(primary);
    executing->next(primary->handle, count, handles);
}

/* Parts of an image that a secondary uses, in a render pass instance of the primary. */
struct inside {
    struct command_buffer *primary;
    struct contract_image *part;
    bool attached;
};

static void look_inside(void *context, const struct subresource_range *range, const void *value)
{
    struct inside *inside = context;
    const struct contract_state *state = value;
    if (state->need.flags & NEED_SET)
        inside->attached |= command_buffer_is_attachment(inside->primary, inside->part, range);
}

static void add_uses(void *context, const struct subresource_range *range, const void *value)
{
    const struct inside *inside = context;
    const struct contract_state *state = value;
    if (state->need.flags & NEED_SET)
        record_hold_add_use(inside->primary, inside->part, range);
}

/* What aspects of an image lack for a secondary goes before it while it is known what both are in: afterwards
 * they are as it leaves them. */
struct settling {
    struct contract_image *part;
    const struct contract_image *needs;
    const struct transition_sink *sink;
    VkImageLayout layout; /* of depth */
};

static bool needs_layout(const struct need *need)
{
    return (need->flags & ~NEED_OPEN) == NEED_SET;
}

static void look_at_stencil(void *context, const struct subresource_range *range, const void *value)
{
    const struct settling *settling = context;
    const struct need *stencil = &((const struct contract_state *)value)->need;
    if (needs_layout(stencil) && stencil->layout == settling->layout)
        record_settle_aspects(settling->part, range, settling->layout);
}

static void look_at_depth(void *context, const struct subresource_range *range, const void *value)
{
    struct settling *settling = context;
    const struct need *depth = &((const struct contract_state *)value)->need;
    struct subresource_range stencil = *range;
    stencil.aspects = 2;
    settling->layout = depth->layout;
    if (needs_layout(depth))
        subresource_map_read(&settling->needs->map, &stencil, look_at_stencil, settling);
}

static void look_at_need(void *context, const struct subresource_range *range, const void *value)
{
    const struct settling *settling = context;
    const struct need *need = &((const struct contract_state *)value)->need;
    struct use use = {need->layout, need->command, (uint16_t)need->label, need->scope};
    if (needs_layout(need))
        record_use_again(settling->part, range, &use, settling->sink);
}

/* What was added goes before the secondary that is the next. */
static void place(struct executing *executing, uint32_t index, const struct command_buffer *secondary,
                  struct contract_image *part)
{
    struct command_buffer *primary = executing->primary;
    if (!record_repair_is_needed(primary))
        return;
    bool repairs = primary->sync->mode == SYNC_REPAIR && !record_is_inside(primary);
    if (repairs && index > executing->given)
        give_down(executing, index);
    record_repair_place(primary, part, FINDING_MISSING_TRANSITION, secondary);
}

static void settle(struct executing *executing, uint32_t index, const struct command_buffer *secondary,
                   struct contract_image *part, const struct contract_image *needs)
{
    struct transition_sink sink = record_repair_begin(executing->primary);
    struct settling settling = {.part = part, .needs = needs, .sink = &sink};
    struct subresource_range all = subresource_range_all(&needs->map.shape), depth = all;
    depth.aspects = 1;
    subresource_map_read(&needs->map, &depth, look_at_depth, &settling);
    subresource_map_read(&needs->map, &all, look_at_need, &settling);
    place(executing, index, secondary, part);
}

static void execute_image(struct executing *executing, uint32_t index, const struct command_buffer *secondary,
                          const struct contract_image *needs)
{
    struct command_buffer *primary = executing->primary;
    struct contract_image *part = command_buffer_image(primary, needs->image);
    if (!part)
        return;
    struct subresource_range all = subresource_range_all(&part->map.shape);
    struct inside inside = {primary, part, false};
    if (primary->pass != PASS_NONE)
        subresource_map_read(&needs->map, &all, look_inside, &inside);
    /* An attachment's layout is the application's business here. */
    if (inside.attached)
        return;
    if (record_has_one_layout(primary, part->image))
        settle(executing, index, secondary, part, needs);
    struct transition_sink sink = record_repair_begin(primary);
    contract_execute(part, needs, &sink);
    place(executing, index, secondary, part);
    if (primary->hold.holds)
        subresource_map_read(&needs->map, &all, add_uses, &inside);
}

static void execute(struct executing *executing, uint32_t index)
{
    struct command_buffer *primary = executing->primary;
    const struct command_buffer *secondary = command_buffer_find(primary->sync, executing->handles[index]);
    for (const struct contract_image *needs = secondary->contract.first; needs; needs = needs->next)
        execute_image(executing, index, secondary, needs);
    record_late_execute(primary, secondary);
    primary->hold.opaque |= secondary->hold.opaque;
    if (primary->pass == PASS_NONE)
        primary->suspending = secondary->suspending;
}

void hook_CmdExecuteCommands(struct command_buffer *self, PFN_vkCmdExecuteCommands next,
                             VkCommandBuffer commandBuffer, uint32_t commandBufferCount,
                             const VkCommandBuffer *pCommandBuffers)
{
    struct executing executing = {self, next, pCommandBuffers, 0};
    if (self->failed || !are_known(self, commandBufferCount, pCommandBuffers)) {
        record_flush(self);
        self->failed = true;
        next(commandBuffer, commandBufferCount, pCommandBuffers);
        return;
    }
    for (uint32_t i = 0; i < commandBufferCount; i++)
        execute(&executing, i);
    give_down(&executing, commandBufferCount);
}
