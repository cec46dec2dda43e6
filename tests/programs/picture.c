#include "picture.h"

#include "barrier_cases.h"

struct picture picture(struct kit *kit)
{
    VkImage image = kit_image(kit, NULL);
    return (struct picture){image, kit_target(kit, image)};
}

void picture_draw(VkCommandBuffer commands, const struct kit_target *target,
                  const struct kit_pipeline *pipeline, VkDescriptorSet set)
{
    kit_begin_target(commands, target);
    kit_draw(commands, pipeline, set);
    kit_end_target(commands, target);
}

void picture_paint(struct kit *kit, VkCommandBuffer commands, const struct picture *picture, uint32_t value)
{
    struct kit_pipeline fill = kit_target_pipeline(kit, &picture->target, KIT_FILL);
    kit_transition(kit, commands, picture->image, KIT_COLOR, UNDEFINED, COLOR);
    kit_constants(commands, &fill, value);
    picture_draw(commands, &picture->target, &fill, VK_NULL_HANDLE);
}

void picture_show(struct kit *kit, VkCommandBuffer commands, const struct picture *out,
                  const struct kit_pipeline *pipeline, VkDescriptorSet set)
{
    kit_transition(kit, commands, out->image, KIT_COLOR, UNDEFINED, COLOR);
    picture_draw(commands, &out->target, pipeline, set);
    kit_transition(kit, commands, out->image, KIT_COLOR, COLOR, SRC);
    kit_run(kit, commands, out->image, 0, 0);
}
