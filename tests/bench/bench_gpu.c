#include "bench_gpu.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void bench_check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, result);
    exit(1);
}

void *bench_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    bench_check(memory ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "calloc");
    return memory;
}

/* --- The device --- */

static void choose_physical(struct bench_gpu *gpu)
{
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(gpu->instance, &count, &gpu->physical);
    bench_check(count == 1 && result >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "a physical device");
    VkQueueFamilyProperties families[16];
    count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu->physical, &count, families);
    gpu->family = 0;
    while (gpu->family + 1 < count && !(families[gpu->family].queueFlags & VK_QUEUE_GRAPHICS_BIT))
        gpu->family++;
}

void bench_gpu_init(struct bench_gpu *gpu, const char *application, const void *features,
                    uint32_t extension_count, const char *const *extensions)
{
    VkApplicationInfo info = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = application,
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo instance = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &info,
    };
    bench_check(vkCreateInstance(&instance, NULL, &gpu->instance), "vkCreateInstance");
    choose_physical(gpu);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = gpu->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    bench_check(vkCreateDevice(gpu->physical, &device, NULL, &gpu->device), "vkCreateDevice");
    vkGetDeviceQueue(gpu->device, gpu->family, 0, &gpu->queue);
    gpu->pool = bench_gpu_create_pool(gpu);
}

void bench_gpu_finish(struct bench_gpu *gpu)
{
    vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
    vkDestroyDevice(gpu->device, NULL);
    vkDestroyInstance(gpu->instance, NULL);
}

VkDeviceMemory bench_gpu_bind(const struct bench_gpu *gpu, VkImage image, VkBuffer buffer)
{
    VkMemoryRequirements needs;
    VkDeviceMemory memory;
    if (image)
        vkGetImageMemoryRequirements(gpu->device, image, &needs);
    else
        vkGetBufferMemoryRequirements(gpu->device, buffer, &needs);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits & (1u << type)))
        type++;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = type,
    };
    bench_check(vkAllocateMemory(gpu->device, &info, NULL, &memory), "vkAllocateMemory");
    bench_check(image ? vkBindImageMemory(gpu->device, image, memory, 0)
                      : vkBindBufferMemory(gpu->device, buffer, memory, 0),
                "binding memory");
    return memory;
}

VkCommandPool bench_gpu_create_pool(const struct bench_gpu *gpu)
{
    VkCommandPool pool;
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = gpu->family,
    };
    bench_check(vkCreateCommandPool(gpu->device, &info, NULL, &pool), "vkCreateCommandPool");
    return pool;
}

VkCommandBuffer bench_gpu_create_commands(const struct bench_gpu *gpu, VkCommandPool pool)
{
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    bench_check(vkAllocateCommandBuffers(gpu->device, &info, &commands), "vkAllocateCommandBuffers");
    return commands;
}

void bench_gpu_begin(VkCommandBuffer commands)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    bench_check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void bench_gpu_end(VkCommandBuffer commands)
{
    bench_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

void bench_gpu_submit(const struct bench_gpu *gpu, VkCommandBuffer commands)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    bench_check(vkQueueSubmit(gpu->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void bench_gpu_wait(const struct bench_gpu *gpu)
{
    bench_check(vkDeviceWaitIdle(gpu->device), "vkDeviceWaitIdle");
}

VkImageMemoryBarrier bench_gpu_barrier(VkImage image, VkImageLayout from, VkImageLayout to)
{
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
}

/* --- The meter --- */

static int counter_open(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

struct meter {
    int counter; /* negative: none */
    uint64_t instructions;
    struct timespec start;
};

static void meter_start(struct meter *meter)
{
    if (meter->counter >= 0 &&
        read(meter->counter, &meter->instructions, sizeof(uint64_t)) != sizeof(uint64_t))
        meter->counter = -1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &meter->start);
}

static struct bench_sample meter_stop(struct meter *meter, uint32_t things)
{
    struct timespec end;
    uint64_t instructions = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    if (meter->counter >= 0 &&
        read(meter->counter, &instructions, sizeof(instructions)) != sizeof(instructions))
        meter->counter = -1;
    double ns =
        (double)(end.tv_sec - meter->start.tv_sec) * 1e9 + (double)(end.tv_nsec - meter->start.tv_nsec);
    return (struct bench_sample){
        ns / things, meter->counter >= 0 ? (double)(instructions - meter->instructions) / things : -1,
        things};
}

static int compare(const void *a, const void *b)
{
    double x = ((const struct bench_sample *)a)->ns, y = ((const struct bench_sample *)b)->ns;
    return (x > y) - (x < y);
}

struct bench_sample bench_measure(uint32_t rounds, const struct bench_work *work, void *context)
{
    struct bench_sample *samples = bench_allocate(rounds, sizeof(*samples));
    struct meter meter = {.counter = counter_open()};
    for (uint32_t round = 0; round < rounds; round++) {
        if (work->before)
            work->before(context);
        meter_start(&meter);
        uint32_t things = work->work(context);
        samples[round] = meter_stop(&meter, things);
        if (work->after)
            work->after(context);
    }
    qsort(samples, rounds, sizeof(*samples), compare);
    struct bench_sample median = samples[rounds / 2];
    free(samples);
    if (meter.counter >= 0)
        close(meter.counter);
    return median;
}

struct recording {
    VkCommandBuffer commands;
    uint32_t (*record)(void *context, VkCommandBuffer commands);
    void *context;
};

static void recording_before(void *context)
{
    bench_gpu_begin(((struct recording *)context)->commands);
}

static uint32_t recording_work(void *context)
{
    struct recording *recording = context;
    return recording->record(recording->context, recording->commands);
}

static void recording_after(void *context)
{
    struct recording *recording = context;
    bench_gpu_end(recording->commands);
    bench_check(vkResetCommandBuffer(recording->commands, 0), "vkResetCommandBuffer");
}

struct bench_sample bench_measure_recording(const struct bench_gpu *gpu, uint32_t rounds,
                                            uint32_t (*record)(void *context, VkCommandBuffer commands),
                                            void *context)
{
    static const struct bench_work work = {recording_before, recording_work, recording_after};
    VkCommandPool pool = bench_gpu_create_pool(gpu);
    struct recording recording = {bench_gpu_create_commands(gpu, pool), record, context};
    struct bench_sample median = bench_measure(rounds, &work, &recording);
    vkDestroyCommandPool(gpu->device, pool, NULL);
    return median;
}

struct submitting {
    const struct bench_gpu *gpu;
    const VkCommandBuffer *commands;
};

static uint32_t submitting_work(void *context)
{
    const struct submitting *submitting = context;
    const uint32_t count = 64;
    for (uint32_t i = 0; i < count; i++)
        bench_gpu_submit(submitting->gpu, submitting->commands[i % 2]);
    return count;
}

static void submitting_after(void *context)
{
    bench_gpu_wait(((struct submitting *)context)->gpu);
}

struct bench_sample bench_measure_submit(const struct bench_gpu *gpu, uint32_t rounds,
                                         const VkCommandBuffer commands[2])
{
    static const struct bench_work work = {NULL, submitting_work, submitting_after};
    struct submitting submitting = {gpu, commands};
    return bench_measure(rounds, &work, &submitting);
}

void bench_print(const char *kind, const struct bench_sample *sample)
{
    printf("{\"kind\":\"%s\",\"ns\":%.1f,\"instructions\":%.1f,\"things\":%u}\n", kind, sample->ns,
           sample->instructions, sample->things);
}
