/* Debug labels: where in its frame the application says it is. */
#include <stdio.h>
#include <string.h>

#include "sync/record.h"

/* Each open label holds the path to it: without a limit nested ones take memory by the square of their depth,
 * and labels may be left open for another command buffer to end. */
enum { MAX_PATH = 1024 };

static bool has_room(struct command_buffer *buffer)
{
    if (buffer->label_count < buffer->label_capacity)
        return true;
    uint32_t capacity = buffer->label_capacity ? 2 * buffer->label_capacity : 16;
    /* struct use keeps a label in 16 bits. */
    if (capacity > UINT16_MAX)
        return false;
    const char **labels = arena_alloc(&buffer->arena, capacity * sizeof(*labels));
    uint32_t *parents = arena_alloc(&buffer->arena, capacity * sizeof(*parents));
    if (!labels || !parents)
        return false;
    if (!buffer->label_count) {
        labels[0] = "";
        parents[0] = 0;
        buffer->label_count = 1;
    } else {
        memcpy(labels, buffer->labels, buffer->label_count * sizeof(*labels));
        memcpy(parents, buffer->label_parents, buffer->label_count * sizeof(*parents));
    }
    buffer->labels = labels;
    buffer->label_parents = parents;
    buffer->label_capacity = capacity;
    return true;
}

static bool open_label(struct command_buffer *buffer, const char *name)
{
    if (!has_room(buffer))
        return false;
    const char *around = buffer->labels[buffer->label];
    size_t size = strlen(around) + strlen(name) + 2;
    if (size > MAX_PATH)
        return false;
    char *path = arena_alloc(&buffer->arena, size);
    if (!path)
        return false;
    snprintf(path, size, "%s%s%s", around, around[0] ? "/" : "", name);
    buffer->labels[buffer->label_count] = path;
    buffer->label_parents[buffer->label_count] = buffer->label;
    buffer->label = buffer->label_count++;
    return true;
}

void note_CmdBeginDebugUtilsLabelEXT(struct command_buffer *self, const VkDebugUtilsLabelEXT *pLabelInfo)
{
    if (self->untold_labels || !open_label(self, pLabelInfo->pLabelName))
        self->untold_labels++;
}

/* One that another command buffer has begun may be ended here (spec, vkCmdEndDebugUtilsLabelEXT). */
void note_CmdEndDebugUtilsLabelEXT(struct command_buffer *self)
{
    if (self->untold_labels)
        self->untold_labels--;
    else if (self->label)
        self->label = self->label_parents[self->label];
}
