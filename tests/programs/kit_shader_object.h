/* VK_EXT_shader_object, where the headers know it. */
#ifndef PROGRAMS_KIT_SHADER_OBJECT_H
#define PROGRAMS_KIT_SHADER_OBJECT_H

#include "kit_shader.h"

#ifdef VK_EXT_shader_object

/* shaders/fullscreen.vert and a fragment shader, linked. */
struct kit_shader_objects {
    struct kit_pipeline layout; /* without a pipeline */
    VkShaderEXT shaders[2];
};

struct kit_shader_objects kit_shader_objects(struct kit *kit, enum kit_shader fragment);
/* After the last use; not with the kit. */
void kit_shader_objects_destroy(struct kit *kit, const struct kit_shader_objects *objects);
/* Binds them with all state that they need, and draws, inside dynamic rendering. */
void kit_shader_objects_draw(struct kit *kit, VkCommandBuffer commands,
                             const struct kit_shader_objects *objects, VkDescriptorSet set);

#endif
#endif
