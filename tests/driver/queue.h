/* Queues: work is done as soon as everything it waits for was signalled, in order per queue. */
#ifndef DRIVER_QUEUE_H
#define DRIVER_QUEUE_H

#include "driver.h"

/* Guarded by the device's lock. A binary semaphore's value is 0 or 1. */
struct semaphore {
    struct object base;
    bool timeline;
    uint64_t value;
};

struct fence {
    struct object base;
    bool signaled;
};

struct semaphore_point {
    struct semaphore *semaphore;
    uint64_t value; /* of a timeline */
};

/* Something that waits, is done and signals. */
struct batch {
    struct batch *next;
    struct fence *fence; /* may be NULL */
    uint32_t wait_count;
    uint32_t signal_count;
    uint32_t command_count;
    uint32_t present_count;
    struct semaphore_point *waits;
    struct semaphore_point *signals;
    struct command_buffer **commands;
    struct swapchain_image **presents;
};

/* One allocation with the arrays behind it, all zero; free() it. NULL on out of memory. */
struct batch *batch_create(uint32_t waits, uint32_t signals, uint32_t commands, uint32_t presents);

/* Hands the batches (a list) over and runs what can run. VK_ERROR_DEVICE_LOST frees them. */
VkResult queue_append(struct queue *queue, struct batch *batches);

/* Frees what never ran. */
void queue_finish(struct queue *queue);

/* A semaphore or fence, either NULL, becomes signalled from outside a queue (swapchain's acquire). */
void device_signal(struct device *device, struct semaphore *semaphore, struct fence *fence);

/* swapchain.c: under the device's lock. */
void swapchain_image_presented(const struct queue *queue, struct swapchain_image *image);

#endif
