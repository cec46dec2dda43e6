/* render_texture [--faulty] [--sync2] [--rendering] [--frames N]
 * N frames (1,000): a pass draws a texture, the next samples it, a dispatch samples that one's target into a
 * storage image, which is read back. --faulty: not a single image barrier. Prints the hash of all pixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barrier_cases.h"
#include "kit_shader.h"

struct scene {
    struct kit kit;
    VkImage texture, screen, storage;
    struct kit_target to_texture, to_screen;
    struct kit_pipeline fill, sample, store;
    VkDescriptorSet texture_set, screen_set;
    VkBuffer pixels;
};

static void create(struct scene *scene)
{
    struct kit *kit = &scene->kit;
    const struct kit_image_info storage = {.usage =
                                               VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    scene->texture = kit_image(kit, NULL);
    scene->screen = kit_image(kit, NULL);
    scene->storage = kit_image(kit, &storage);
    scene->to_texture = kit_target(kit, scene->texture);
    scene->to_screen = kit_target(kit, scene->screen);
    scene->fill = kit_target_pipeline(kit, &scene->to_texture, KIT_FILL);
    scene->sample = kit_target_pipeline(kit, &scene->to_screen, KIT_SAMPLE);
    scene->store = kit_pipeline(kit, &(struct kit_pipeline_info){.shader = KIT_SAMPLE_TO_IMAGE});
    scene->texture_set = kit_image_set(kit, &scene->sample, scene->to_texture.view, READ);
    VkImageView storage_view = kit_view(kit, scene->storage, RGBA, VK_IMAGE_ASPECT_COLOR_BIT);
    scene->screen_set =
        kit_set(kit, &scene->store,
                (const union kit_descriptor[]){kit_image_descriptor(kit, scene->to_screen.view, READ),
                                               kit_image_descriptor(kit, storage_view, GENERAL)});
    scene->pixels = kit_buffer(kit, KIT_SIDE * KIT_SIDE * 4);
}

static void copy_pixels(const struct scene *scene, VkCommandBuffer commands)
{
    VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {KIT_SIDE, KIT_SIDE, 1},
    };
    VkMemoryBarrier to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdCopyImageToBuffer(commands, scene->storage, SRC, scene->pixels, 1, &region);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host,
                         0, NULL, 0, NULL);
}

static void draw_frame(struct scene *scene, uint32_t number)
{
    struct kit *kit = &scene->kit;
    VkCommandBuffer commands = kit_begin(kit);
    kit_needed(kit, commands, scene->texture, KIT_COLOR, UNDEFINED, COLOR);
    kit_begin_target(commands, &scene->to_texture);
    kit_constants(commands, &scene->fill, number);
    kit_draw(commands, &scene->fill, VK_NULL_HANDLE);
    kit_end_target(commands, &scene->to_texture);
    kit_needed(kit, commands, scene->texture, KIT_COLOR, COLOR, READ);
    kit_needed(kit, commands, scene->screen, KIT_COLOR, UNDEFINED, COLOR);
    kit_begin_target(commands, &scene->to_screen);
    kit_draw(commands, &scene->sample, scene->texture_set);
    kit_end_target(commands, &scene->to_screen);
    kit_needed(kit, commands, scene->screen, KIT_COLOR, COLOR, READ);
    kit_needed(kit, commands, scene->storage, KIT_COLOR, UNDEFINED, GENERAL);
    kit_dispatch(commands, &scene->store, scene->screen_set);
    kit_needed(kit, commands, scene->storage, KIT_COLOR, GENERAL, SRC);
    copy_pixels(scene, commands);
    kit_end(commands);
    kit_submit(kit, commands);
    kit_wait(kit);
    kit_hash(kit, scene->pixels);
    vkFreeCommandBuffers(kit->device, kit->pool, 1, &commands);
}

int main(int count, char **arguments)
{
    static struct scene scene;
    struct kit_options options = {.correct = true};
    unsigned long frames = 1000;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--faulty") == 0) {
            options.correct = false;
        } else if (strcmp(arguments[i], "--sync2") == 0) {
            options.sync2 = true;
        } else if (strcmp(arguments[i], "--rendering") == 0) {
            options.rendering = true;
        } else if (strcmp(arguments[i], "--frames") == 0 && i + 1 < count) {
            frames = strtoul(arguments[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: render_texture [--faulty] [--sync2] [--rendering] [--frames N]\n");
            return 2;
        }
    }
    kit_init(&scene.kit, &options);
    create(&scene);
    for (uint32_t i = 0; i < frames; i++)
        draw_frame(&scene, i);
    printf("hash=%016llx\n", (unsigned long long)scene.kit.hash);
    kit_finish(&scene.kit);
    return 0;
}
