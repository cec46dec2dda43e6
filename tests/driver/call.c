#include "call.h"

#include <string.h>

#include "driver.h"
#include "journal.h"

static _Thread_local struct call *current;

struct call *call_current(void)
{
    return current;
}

bool call_begin(struct call *call)
{
    uint32_t rules;

    current = call;
    call->record.name = command_descriptions[call->command].name;
    call->record.parent = call->parent;
    call->record.handle = call->handle;
    config_rules(&rules);
    if (rules) {
        faults_collect(call, &call->effects);
        faults_apply(call, &call->effects);
    }
    call->ran = !call->effects.has_result || call->effects.result >= 0 || call->effects.after;
    return call->ran;
}

static void call_record(struct call *call, VkResult result)
{
    bool is_command = !strncmp(call->record.name, "vkCmd", 5);

    call->record.result = result;
    call->record.handle = call->handle;
    journal_call(call->command, &call->record, !is_command || config_current(NULL)->journal_commands);
    current = NULL;
}

VkResult call_end(struct call *call, VkResult result)
{
    if (call->effects.has_result)
        result = call->effects.result;
    if (call->effects.has_result && result == VK_ERROR_DEVICE_LOST)
        device_lose(call->parent);
    call_record(call, result);
    return result;
}

void call_end_plain(struct call *call)
{
    call_record(call, VK_SUCCESS);
}
