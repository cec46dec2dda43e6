/* Pictures: what the cases with shaders draw to and read from. */
#ifndef PROGRAMS_PICTURE_H
#define PROGRAMS_PICTURE_H

#include "kit_shader.h"

struct picture {
    VkImage image;
    struct kit_target target;
};

struct picture picture(struct kit *kit);
/* One pass with one draw. */
void picture_draw(VkCommandBuffer commands, const struct kit_target *target,
                  const struct kit_pipeline *pipeline, VkDescriptorSet set);
/* The picture, in no layout yet, gets a gradient, and is left in COLOR_ATTACHMENT_OPTIMAL. */
void picture_paint(struct kit *kit, VkCommandBuffer commands, const struct picture *picture, uint32_t value);
/* Draws into a picture in no layout yet, runs the commands, and takes it into the hash. */
void picture_show(struct kit *kit, VkCommandBuffer commands, const struct picture *out,
                  const struct kit_pipeline *pipeline, VkDescriptorSet set);

#endif
