/* What the oracle needs of recorded commands that bind descriptors, beyond their arguments: kept beside them
 * (recorded_command.details), in the command buffer's arena. Nothing is where the oracle is off. */
#ifndef DRIVER_DESCRIPTOR_BINDS_H
#define DRIVER_DESCRIPTOR_BINDS_H

#include "command_buffer.h"
#include "descriptors.h"

/* Of vkCmdBindDescriptorSets...: an array with each set's contents as they were then; NULL where all of the
 * set's bindings are UPDATE_AFTER_BIND, so that what counts are the contents at execution. */
typedef const struct descriptor *bound_contents;

struct pushed_descriptor {
    uint32_t binding;
    uint32_t element;
    bool partially_bound;
    struct descriptor descriptor;
};

/* Of vkCmdPushDescriptorSet...: what was pushed, in order. */
struct push_details {
    VkPipelineBindPoint point; /* the template's, where there is one */
    uint32_t count;
    struct pushed_descriptor items[];
};

#endif
