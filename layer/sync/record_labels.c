/* Debug labels: which are open where a fault is found. */
#include <stdio.h>
#include <string.h>

#include "sync/record.h"

#define PATH_SIZE 512

/* Room for one more path; the first is "". */
static bool reserve(struct command_buffer *buffer)
{
    if (buffer->label_count < buffer->label_capacity)
        return true;
    uint32_t capacity = buffer->label_capacity ? 2 * buffer->label_capacity : 16;
    if (capacity > UINT16_MAX)
        return false;
    const char **labels = arena_alloc(&buffer->arena, capacity * sizeof(*labels));
    uint32_t *parents = arena_alloc(&buffer->arena, capacity * sizeof(*parents));
    if (!labels || !parents)
        return false;
    if (buffer->label_count) {
        memcpy(labels, buffer->labels, buffer->label_count * sizeof(*labels));
        memcpy(parents, buffer->label_parents, buffer->label_count * sizeof(*parents));
    } else {
        labels[0] = "";
        parents[0] = 0;
        buffer->label_count = 1;
    }
    buffer->labels = labels;
    buffer->label_parents = parents;
    buffer->label_capacity = capacity;
    return true;
}

/* Where there is no room the label is left out, and so is its end, with all that begins before it: depth is
 * what has to be right. A path that is too long stays its parent's. */
static void push(struct command_buffer *buffer, const char *name)
{
    const char *parent = buffer->label_count ? buffer->labels[buffer->label] : "";
    size_t size = strlen(parent) + strlen(name) + 2;
    if (buffer->labels_lost || !reserve(buffer)) {
        buffer->labels_lost++;
        return;
    }
    char *path = size < PATH_SIZE ? arena_alloc(&buffer->arena, size) : NULL;
    if (path)
        snprintf(path, size, "%s%s%s", parent, parent[0] ? "/" : "", name);
    buffer->labels[buffer->label_count] = path ? path : buffer->labels[buffer->label];
    buffer->label_parents[buffer->label_count] = buffer->label;
    buffer->label = buffer->label_count++;
}

static void pop(struct command_buffer *buffer)
{
    if (buffer->labels_lost)
        buffer->labels_lost--;
    else if (buffer->label)
        buffer->label = buffer->label_parents[buffer->label];
}

void hook_CmdBeginDebugUtilsLabelEXT(struct command_buffer *buffer, PFN_vkCmdBeginDebugUtilsLabelEXT next,
                                     VkCommandBuffer commandBuffer, const VkDebugUtilsLabelEXT *pLabelInfo)
{
    record_flush(buffer);
    push(buffer, pLabelInfo->pLabelName ? pLabelInfo->pLabelName : "");
    next(commandBuffer, pLabelInfo);
}

void hook_CmdEndDebugUtilsLabelEXT(struct command_buffer *buffer, PFN_vkCmdEndDebugUtilsLabelEXT next,
                                   VkCommandBuffer commandBuffer)
{
    record_flush(buffer);
    pop(buffer);
    next(commandBuffer);
}
