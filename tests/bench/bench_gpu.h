/* A device, command buffers and a meter for the benchmarks that go through the loader. Whatever fails ends
 * the process: there is nothing to measure then. One thread. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include <stdint.h>
#include <vulkan/vulkan.h>

void bench_check(VkResult result, const char *what);
void *bench_allocate(size_t count, size_t size); /* zeroed; for free() */

/* --- The device --- */

struct bench_gpu {
    VkInstance instance;
    VkPhysicalDevice physical; /* the first */
    VkDevice device;
    uint32_t family; /* of graphics */
    VkQueue queue;
    VkCommandPool pool; /* for what is set up, and submitted often */
};

/* `features` is the device's pNext. */
void bench_gpu_init(struct bench_gpu *gpu, const char *application, const void *features,
                    uint32_t extension_count, const char *const *extensions);
void bench_gpu_finish(struct bench_gpu *gpu); /* once nothing runs, and all that was created is gone */

/* Memory of its own for one of the two, bound. */
VkDeviceMemory bench_gpu_bind(const struct bench_gpu *gpu, VkImage image, VkBuffer buffer);
VkCommandPool bench_gpu_create_pool(const struct bench_gpu *gpu);
VkCommandBuffer bench_gpu_create_commands(const struct bench_gpu *gpu, VkCommandPool pool);
void bench_gpu_begin(VkCommandBuffer commands); /* to be submitted any number of times */
void bench_gpu_end(VkCommandBuffer commands);
void bench_gpu_submit(const struct bench_gpu *gpu, VkCommandBuffer commands);
void bench_gpu_wait(const struct bench_gpu *gpu);

/* Of the only mip and layer of a colour image, for transfers. */
VkImageMemoryBarrier bench_gpu_barrier(VkImage image, VkImageLayout from, VkImageLayout to);

/* --- The meter --- */

struct bench_sample {
    double ns;           /* of CPU time of the thread */
    double instructions; /* negative: the kernel doesn't count them */
    uint32_t things;     /* done in a round; the other numbers are of one of them */
};

struct bench_work {
    void (*before)(void *context);   /* not measured; NULL: nothing */
    uint32_t (*work)(void *context); /* measured; returns how many things it has done, always as many */
    void (*after)(void *context);    /* as before() */
};
/* The median of the rounds. */
struct bench_sample bench_measure(uint32_t rounds, const struct bench_work *work, void *context);
/* Of recording: `record` is measured, with a command buffer that was just begun. */
struct bench_sample bench_measure_recording(const struct bench_gpu *gpu, uint32_t rounds,
                                            uint32_t (*record)(void *context, VkCommandBuffer commands),
                                            void *context);
/* Of submitting two command buffers in turn. */
struct bench_sample bench_measure_submit(const struct bench_gpu *gpu, uint32_t rounds,
                                         const VkCommandBuffer commands[2]);

/* The line that the scripts read. */
void bench_print(const char *kind, const struct bench_sample *sample);

#endif
