#include "sync/record.h"

#include "sync/layout.h"
#include "sync/record_repair.h"

/* Inline: one call less for each image that a command names. */
static inline void use_range(struct command_buffer *buffer, struct image *image,
                             const struct subresource_range *range, const struct use *use)
{
    struct contract_image *part = command_buffer_image(buffer, image);
    if (!part)
        return;
    struct subresource_range both;
    if (record_has_one_layout(buffer, image)) {
        both = *range;
        uint32_t aspects = subresource_range_all(&part->map.shape).aspects;
        /* Nothing but layouts of depth and stencil says one thing of each, so that the other is in this
         * layout too. */
        if (layout_is_of_both(use->layout))
            both.aspects = aspects;
        if (both.aspects == aspects)
            record_settle_aspects(part, &both, use->layout);
        range = &both;
    }
    struct transition_sink sink = record_repair_begin(buffer);
    contract_use(part, range, use, &sink);
    if (record_repair_is_needed(buffer))
        record_repair_place(buffer, part, FINDING_MISSING_TRANSITION, buffer);
}

void record_use(struct command_buffer *buffer, enum sync_command command, struct image *image,
                const struct subresource_range *range, VkImageLayout layout, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access)
{
    struct use use = {layout, (uint16_t)command, (uint16_t)buffer->label, {stages, access}};
    use_range(buffer, image, range, &use);
}

void record_use_layers(struct command_buffer *buffer, enum sync_command command, VkImage image,
                       const VkImageSubresourceLayers *layers, VkImageLayout layout,
                       VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct use use = {layout, (uint16_t)command, (uint16_t)buffer->label, {stages, access}};
    struct subresource_range range;
    struct image *known = image_find(buffer->sync, image);
    if (known && image_layers_range(known, layers, &range))
        use_range(buffer, known, &range, &use);
}

void record_use_range(struct command_buffer *buffer, enum sync_command command, VkImage image,
                      const VkImageSubresourceRange *vk_range, VkImageLayout layout,
                      VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    struct use use = {layout, (uint16_t)command, (uint16_t)buffer->label, {stages, access}};
    struct subresource_range range;
    struct image *known = image_find(buffer->sync, image);
    if (known && image_range(known, vk_range, false, &range))
        use_range(buffer, known, &range, &use);
}
