/* A game loading a map: threads create and upload textures and buffers while one thread renders what is
 * there. Knows nothing of the layer. Parts: map_loader.c (options, figures), map_device.c (Vulkan set up),
 * map_upload.c (loader threads), map_frame.c (render thread). */
#ifndef PROGRAMS_MAP_LOADER_H
#define PROGRAMS_MAP_LOADER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#define MAX_THREADS 64
#define CELL 16 /* texels: side of the square that a texture is shrunk to in the target */
#define GRID 32 /* squares a row */
#define TARGET (CELL * GRID)
#define SAMPLE 64 /* bytes of each buffer that the render thread reads */
#define FRAMES 3  /* in flight */
#define RECENT 32 /* textures drawn again every frame */

enum mode {
    MODE_DIRECT,     /* the render thread submits the loaders' command buffers before its own */
    MODE_TRANSFER,   /* they go to a transfer queue; ownership is passed on */
    MODE_SUBMITTERS, /* each loader submits for itself, to the one queue, under a mutex */
    MODE_SECONDARY,  /* they are secondary ones that the render thread executes */
};

struct options {
    uint32_t threads, textures, buffers;
    uint64_t texture_bytes, buffer_bytes; /* of all together, about */
    enum mode mode;
    bool barriers; /* false: those of images are left out */
};

struct gpu_queue {
    VkQueue queue;
    uint32_t family;
};

struct map_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    struct gpu_queue graphics, transfer; /* the same where there is no family of its own */
    uint32_t timestamp_bits;
    pthread_mutex_t submit; /* what the application holds around every submit in MODE_SUBMITTERS */
};

/* Ends the program with a line on standard error if `result` isn't VK_SUCCESS. */
void check(VkResult result, const char *what);
void map_device_init(struct map_device *map, bool transfer);
void map_device_finish(struct map_device *map);
uint32_t map_memory_type(const struct map_device *map, uint32_t bits, VkMemoryPropertyFlags wanted);
VkBuffer map_buffer(const struct map_device *map, VkDeviceSize size, VkBufferUsageFlags usage,
                    VkMemoryPropertyFlags properties, VkDeviceMemory *memory);
double now_ms(void);
double thread_cpu_ms(void);

struct texture {
    VkImage image;
    VkDeviceMemory memory;
    uint32_t side, mips;
};

struct mesh {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t size;
};

/* One command buffer of a loader: one texture, or a handful of buffers. */
struct upload {
    struct upload *next;
    VkCommandBuffer commands;
    VkSemaphore done; /* MODE_TRANSFER */
    bool is_texture;
    uint32_t first, count; /* index among textures or meshes */
};

struct map {
    struct map_device gpu;
    struct options options;
    struct texture *textures;
    struct mesh *meshes;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct upload *ready, **ready_end; /* under lock */
    uint32_t next_texture, next_mesh;  /* to load; under lock */
    uint32_t running;                  /* loaders; under lock */
    double record_ms[MAX_THREADS];     /* CPU time between vkBeginCommandBuffer and vkEndCommandBuffer */
    uint32_t recorded[MAX_THREADS];
};

struct frame_figures {
    double first_frame_ms; /* from the start */
    double submit_p50_us, submit_p99_us;
    double gpu_ms; /* between timestamps around every submit; 0 where the queue has none */
    uint32_t frames;
    uint64_t hash; /* of the target and the buffers' samples */
};

/* A loader thread; `argument` is a struct loader. */
struct loader {
    struct map *map;
    uint32_t index;
    pthread_t thread;
    VkCommandPool pool;
    VkBuffer staging;
    VkDeviceMemory staging_memory;
    uint8_t *staging_data;
    uint64_t staging_size, staging_used;
};
void *loader_run(void *argument);
void loader_finish(struct loader *loader);

/* Renders until everything is loaded, and was drawn. */
void frames_run(struct map *map, double start_ms, struct frame_figures *out);

/* Image barriers over all mips; nothing where the options leave barriers out. */
void image_barrier(const struct map *map, VkCommandBuffer commands, VkImage image, VkImageLayout from,
                   VkImageLayout to, VkPipelineStageFlags source_stages, VkAccessFlags source,
                   VkPipelineStageFlags destination_stages, VkAccessFlags destination, uint32_t source_family,
                   uint32_t destination_family);

#endif
