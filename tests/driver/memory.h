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

struct image {
    struct object base;
    VkImageCreateInfo info; /* no chain, no queue families */
    VkDeviceSize size;
    struct memory *memory;
    VkDeviceSize offset;
};

#endif
