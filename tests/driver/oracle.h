/* The layout oracle: what the specification says about image layouts, applied to the command buffers that the
 * driver executes, in the order in which the queues execute them. It is written from the specification alone
 * and knows nothing of any layer above. What it finds is asked for by fault_oracle_...() (fault_driver.h).
 *
 * Off by default; `oracle=1` or `oracle_file=` switch it on for devices created from then on. State of images
 * is guarded by the device's lock and made at an image's first use.
 *
 * Of what shaders use, judged are the image descriptors that their code names for certain: not elements of an
 * array by an index that isn't constant, nor PARTIALLY_BOUND ones, nor descriptor buffers. Not judged either:
 * input attachments; order between queues. */
#ifndef DRIVER_ORACLE_H
#define DRIVER_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

struct command_buffer;
struct device;
struct image;
struct queue;

/* A device's part: what its application enabled that changes the rules. */
struct oracle_device {
    bool on;
    bool synchronization2;
    bool separate_layouts; /* separateDepthStencilLayouts */
    bool local_read;       /* dynamicRenderingLocalRead */
    bool tile_image;       /* one of the shaderTileImage... features */
    uint64_t hidden_work;  /* commands executed so far whose shaders may write images that can't be told */
};

void oracle_device_init(struct device *device, const VkDeviceCreateInfo *info);

/* Judges one batch's command buffers, in order. Under the device's lock. */
void oracle_run(const struct queue *queue, struct command_buffer *const *buffers, uint32_t count);

/* Judges the present of an image. Under the device's lock. */
void oracle_present(const struct queue *queue, VkImage image);

/* Frees what is known of an image. */
void oracle_image_finish(struct image *image);

#endif
