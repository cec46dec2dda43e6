/* Draws, dispatches and traces. What they read and write can't be told yet, since the driver keeps no
 * descriptors; that they ran is counted, so that contents which a shader may have written aren't taken for
 * undefined. */
#include <string.h>

#include "command_buffer.h"
#include "oracle_replay.h"

bool replay_shader(const struct replay *replay, const struct recorded_command *command)
{
    static const char *const prefixes[] = {"vkCmdDraw", "vkCmdDispatch", "vkCmdTraceRays",
                                           "vkCmdExecuteGenerated"};
    const char *name = command_descriptions[command->command].name;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
            replay->device->oracle.shader_work++;
            return true;
        }
    }
    return false;
}
