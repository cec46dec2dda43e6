#include "sync/record.h"

#include "sync/record_repair.h"

void record_use(struct command_buffer *buffer, enum sync_command command, struct image *image,
                const struct subresource_range *range, VkImageLayout layout, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access)
{
    struct contract_image *part = command_buffer_image(buffer, image);
    if (!part)
        return;
    struct use use = {layout, (uint16_t)command, (uint16_t)buffer->label, {stages, access}};
    struct transition_sink sink = record_repair_begin(buffer);
    contract_use(part, range, &use, &sink);
    if (record_repair_is_needed(buffer))
        record_repair_place(buffer, part, FINDING_MISSING_TRANSITION, buffer);
}

void record_use_layers(struct command_buffer *buffer, enum sync_command command, VkImage image,
                       const VkImageSubresourceLayers *layers, VkImageLayout layout,
                       VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct subresource_range range;
    struct image *known = image_find(buffer->sync, image);
    if (known && image_layers_range(known, layers, &range))
        record_use(buffer, command, known, &range, layout, stages, access);
}

void record_use_range(struct command_buffer *buffer, enum sync_command command, VkImage image,
                      const VkImageSubresourceRange *vk_range, VkImageLayout layout,
                      VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct subresource_range range;
    struct image *known = image_find(buffer->sync, image);
    if (known && image_range(known, vk_range, false, &range))
        record_use(buffer, command, known, &range, layout, stages, access);
}
