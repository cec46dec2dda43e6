/* What executed commands change for the host to see, and the queries that are answered without any work done.
 */
#include <stdatomic.h>
#include <string.h>

#include "command_buffer.h"
#include "driver_records.h"

struct event {
    struct object base;
    atomic_bool set;
};

VkResult driver_vkCreateEvent(VkDevice device, const VkEventCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkEvent *out)
{
    struct event *event = object_create(object_list_of(device), VK_OBJECT_TYPE_EVENT, sizeof(*event));

    if (!event)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *out = HANDLE(VkEvent, event);
    return VK_SUCCESS;
}

VkResult driver_vkSetEvent(VkDevice device, VkEvent event)
{
    atomic_store(&OBJECT(event, event)->set, true);
    return VK_SUCCESS;
}

VkResult driver_vkResetEvent(VkDevice device, VkEvent event)
{
    atomic_store(&OBJECT(event, event)->set, false);
    return VK_SUCCESS;
}

VkResult driver_vkGetEventStatus(VkDevice device, VkEvent event)
{
    return atomic_load(&OBJECT(event, event)->set) ? VK_EVENT_SET : VK_EVENT_RESET;
}

static void execute_secondaries(const struct arguments_vkCmdExecuteCommands *arguments)
{
    for (uint32_t i = 0; i < arguments->commandBufferCount; i++)
        command_buffer_execute(command_buffer_from_handle(arguments->pCommandBuffers[i]));
}

void command_buffer_execute(const struct command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->count; i++) {
        const void *arguments = buffer->commands[i].arguments;

        switch ((int)buffer->commands[i].command) {
        case COMMAND_vkCmdSetEvent:
            driver_vkSetEvent(VK_NULL_HANDLE, ((const struct arguments_vkCmdSetEvent *)arguments)->event);
            break;
        case COMMAND_vkCmdSetEvent2:
            driver_vkSetEvent(VK_NULL_HANDLE, ((const struct arguments_vkCmdSetEvent2 *)arguments)->event);
            break;
        case COMMAND_vkCmdResetEvent:
            driver_vkResetEvent(VK_NULL_HANDLE, ((const struct arguments_vkCmdResetEvent *)arguments)->event);
            break;
        case COMMAND_vkCmdResetEvent2:
            driver_vkResetEvent(VK_NULL_HANDLE,
                                ((const struct arguments_vkCmdResetEvent2 *)arguments)->event);
            break;
        case COMMAND_vkCmdExecuteCommands:
            execute_secondaries(arguments);
            break;
        default:
            break;
        }
    }
}

/* Every query is available and counted one. */
VkResult driver_vkGetQueryPoolResults(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count,
                                      size_t size, void *out, VkDeviceSize stride, VkQueryResultFlags flags)
{
    size_t unit = flags & VK_QUERY_RESULT_64_BIT ? sizeof(uint64_t) : sizeof(uint32_t);
    const uint64_t one = 1;

    /* Little-endian: the first bytes of a 64-bit one are a 32-bit one. */
    for (size_t offset = 0; offset + unit <= size; offset += unit)
        memcpy((char *)out + offset, &one, unit);
    return VK_SUCCESS;
}
