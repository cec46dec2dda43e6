/* Memory, buffers and images, for those who look into them. */
#ifndef DRIVER_MEMORY_H
#define DRIVER_MEMORY_H

#include "driver.h"

struct memory {
    struct object base;
    void *data;
    size_t size;
};

struct buffer {
    struct object base;
    VkDeviceSize size;
    bool is_protected;
    struct memory *memory; /* NULL while none is bound */
    VkDeviceSize offset;
};

struct oracle_image;

struct image {
    struct object base;
    struct device *device;
    VkImageCreateInfo info;      /* no chain, no queue families */
    bool is_alias;               /* of a swapchain's image */
    bool is_external;            /* others may change its contents */
    struct oracle_image *oracle; /* owned; NULL until the oracle saw it used */
    VkDeviceSize size;
    struct memory *memory;
    VkDeviceSize offset;
};

struct image_view {
    struct object base;
    VkImage image;
    VkImageSubresourceRange range;
};

/* What an image owns besides itself; for object.finish. */
void image_finish(struct object *object);

#endif
