/* What recording and submitting cost, on whatever driver the loader finds; bench_barriers.py runs it with and
 * without a layer. One process measures one kind and prints nanoseconds of CPU time of the thread (median
 * over rounds), and instructions where the kernel counts them. */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

static const char usage[] =
    "usage: bench_barriers KIND [--rounds N] [--images N] [--alive N] [--threads N]\n"
    "  split      16 barrier calls of one image each, 200 times a command buffer; per call\n"
    "  joined     the same barriers in one call; per image\n"
    "  alone      one barrier call between two fills of a buffer; per call\n"
    "  copy       a copy between two images that are in the right layouts; per call\n"
    "  rendering  a rendering instance of one attachment; per begin and end\n"
    "  dispatch   a dispatch that uses nothing; per call\n"
    "  fill       nothing that the barrier half looks at; per call\n"
    "  submit     a command buffer that uses --images images, nothing to repair, while --alive exist; per "
    "submit\n"
    "  stripped   the same without its barriers: every submit is repaired; per submit\n"
    "  threads    'alone' on --threads threads at once; wall time per call and thread\n";

#define STEPS 200
#define SPLIT 16
#define MAX_ROUNDS 1000
#define MAX_THREADS 64

struct bench {
    uint32_t rounds, images, alive, threads;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkImage *all; /* `alive`, all in TRANSFER_DST_OPTIMAL, the first few with views */
    VkDeviceMemory *memories;
    VkImageView view;
    VkBuffer buffer;
    VkDeviceMemory buffer_memory;
    VkCommandPool pool;
    VkPipelineLayout layout;
    VkPipeline pipeline; /* of compute */
    PFN_vkCmdBeginRendering begin_rendering;
    PFN_vkCmdEndRendering end_rendering;
};

static void check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "bench_barriers: %s: error %d\n", what, result);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    check(memory ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "calloc");
    return memory;
}

/* --- Set up --- */

static void device_create(struct bench *bench)
{
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "bench_barriers",
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo instance = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    check(vkCreateInstance(&instance, NULL, &bench->instance), "vkCreateInstance");
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(bench->instance, &count, &bench->physical);
    check(count == 1 && result >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "a physical device");
    VkQueueFamilyProperties families[16];
    count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(bench->physical, &count, families);
    while (bench->family + 1 < count && !(families[bench->family].queueFlags & VK_QUEUE_GRAPHICS_BIT))
        bench->family++;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = bench->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDeviceDynamicRenderingFeatures rendering = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
        .dynamicRendering = VK_TRUE,
    };
    VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &rendering,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    check(vkCreateDevice(bench->physical, &device, NULL, &bench->device), "vkCreateDevice");
    vkGetDeviceQueue(bench->device, bench->family, 0, &bench->queue);
    /* As engines do, past the loader's own trampolines. */
    bench->begin_rendering =
        (PFN_vkCmdBeginRendering)vkGetDeviceProcAddr(bench->device, "vkCmdBeginRendering");
    bench->end_rendering = (PFN_vkCmdEndRendering)vkGetDeviceProcAddr(bench->device, "vkCmdEndRendering");
}

static VkDeviceMemory bind(struct bench *bench, VkImage image, VkBuffer buffer)
{
    VkMemoryRequirements needs;
    VkDeviceMemory memory;
    if (image)
        vkGetImageMemoryRequirements(bench->device, image, &needs);
    else
        vkGetBufferMemoryRequirements(bench->device, buffer, &needs);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits & (1u << type)))
        type++;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = type,
    };
    check(vkAllocateMemory(bench->device, &info, NULL, &memory), "vkAllocateMemory");
    check(image ? vkBindImageMemory(bench->device, image, memory, 0)
                : vkBindBufferMemory(bench->device, buffer, memory, 0),
          "binding memory");
    return memory;
}

static VkImageMemoryBarrier barrier_of(VkImage image, VkImageLayout from, VkImageLayout to)
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

static void transition(VkCommandBuffer commands, const VkImageMemoryBarrier *barriers, uint32_t count)
{
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                         0, NULL, count, barriers);
}

static VkCommandBuffer commands_create(struct bench *bench, VkCommandPool pool)
{
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    check(vkAllocateCommandBuffers(bench->device, &info, &commands), "vkAllocateCommandBuffers");
    return commands;
}

static VkCommandPool pool_create(struct bench *bench)
{
    VkCommandPool pool;
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = bench->family,
    };
    check(vkCreateCommandPool(bench->device, &info, NULL, &pool), "vkCreateCommandPool");
    return pool;
}

static void begin(VkCommandBuffer commands)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

static void submit(struct bench *bench, VkCommandBuffer commands)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    check(vkQueueSubmit(bench->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

static void images_create(struct bench *bench)
{
    bench->all = allocate(bench->alive, sizeof(*bench->all));
    bench->memories = allocate(bench->alive, sizeof(*bench->memories));
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {4, 4, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    VkCommandBuffer commands = commands_create(bench, bench->pool);
    begin(commands);
    for (uint32_t i = 0; i < bench->alive; i++) {
        check(vkCreateImage(bench->device, &info, NULL, &bench->all[i]), "vkCreateImage");
        bench->memories[i] = bind(bench, bench->all[i], VK_NULL_HANDLE);
        VkImageMemoryBarrier barrier =
            barrier_of(bench->all[i], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        transition(commands, &barrier, 1);
    }
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    submit(bench, commands);
    check(vkQueueWaitIdle(bench->queue), "vkQueueWaitIdle");
    VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = bench->all[0],
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = info.format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    check(vkCreateImageView(bench->device, &view, NULL, &bench->view), "vkCreateImageView");
}

static void buffer_create(struct bench *bench)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 4096,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    check(vkCreateBuffer(bench->device, &info, NULL, &bench->buffer), "vkCreateBuffer");
    bench->buffer_memory = bind(bench, VK_NULL_HANDLE, bench->buffer);
}

/* void main() {} */
static const uint32_t nothing[] = {
    0x07230203, 0x00010000, 0,  8,          0,    /* header: version 1.0, ids below 8 */
    0x00020011, 1,                                /* capability Shader */
    0x0003000e, 0,          1,                    /* memory model Logical GLSL450 */
    0x0005000f, 5,          4,  0x6e69616d, 0,    /* entry point GLCompute %4 "main" */
    0x00060010, 4,          17, 1,          1, 1, /* execution mode %4 LocalSize 1 1 1 */
    0x00020013, 2,                                /* %2 = void */
    0x00030021, 3,          2,                    /* %3 = function of %2 */
    0x00050036, 2,          4,  0,          3,    /* %4 = function */
    0x000200f8, 5,                                /* %5 = label */
    0x000100fd, 0x00010038,                       /* return, end */
};

static void pipeline_create(struct bench *bench)
{
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    check(vkCreatePipelineLayout(bench->device, &layout, NULL, &bench->layout), "vkCreatePipelineLayout");
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = sizeof(nothing),
        .pCode = nothing,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"},
        .layout = bench->layout,
    };
    check(vkCreateShaderModule(bench->device, &module, NULL, &info.stage.module), "vkCreateShaderModule");
    check(vkCreateComputePipelines(bench->device, VK_NULL_HANDLE, 1, &info, NULL, &bench->pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(bench->device, info.stage.module, NULL);
}

/* --- What is recorded; each returns how many times the measured thing was done --- */

static uint32_t record_split(struct bench *bench, VkCommandBuffer commands)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < SPLIT; i++) {
            bool back = step & 1;
            VkImageMemoryBarrier barrier = barrier_of(
                bench->all[i], back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                back ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL);
            transition(commands, &barrier, 1);
        }
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, step);
    }
    return STEPS * SPLIT;
}

static uint32_t record_joined(struct bench *bench, VkCommandBuffer commands)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        VkImageMemoryBarrier barriers[SPLIT];
        for (uint32_t i = 0; i < SPLIT; i++) {
            bool back = step & 1;
            barriers[i] = barrier_of(bench->all[i],
                                     back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                     back ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL);
        }
        transition(commands, barriers, SPLIT);
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, step);
    }
    return STEPS * SPLIT;
}

static uint32_t record_alone(struct bench *bench, VkCommandBuffer commands)
{
    const uint32_t count = 1000;
    for (uint32_t i = 0; i < count; i++) {
        bool back = i & 1;
        VkImageMemoryBarrier barrier =
            barrier_of(bench->all[0], back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                       back ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL);
        transition(commands, &barrier, 1);
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, i);
    }
    return count;
}

static uint32_t record_copy(struct bench *bench, VkCommandBuffer commands)
{
    const uint32_t count = 1000;
    VkImageCopy region = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .extent = {4, 4, 1},
    };
    VkImageMemoryBarrier to =
        barrier_of(bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkImageMemoryBarrier from =
        barrier_of(bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    transition(commands, &to, 1);
    for (uint32_t i = 0; i < count; i++)
        vkCmdCopyImage(commands, bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                       bench->all[1 + i % (SPLIT - 1)], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    transition(commands, &from, 1);
    return count;
}

static uint32_t record_rendering(struct bench *bench, VkCommandBuffer commands)
{
    const uint32_t count = 1000;
    VkImageMemoryBarrier to = barrier_of(bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                         VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    VkImageMemoryBarrier from = barrier_of(bench->all[0], VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    VkRenderingAttachmentInfo attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = bench->view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
    };
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, {4, 4}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &attachment,
    };
    transition(commands, &to, 1);
    for (uint32_t i = 0; i < count; i++) {
        bench->begin_rendering(commands, &info);
        bench->end_rendering(commands);
    }
    transition(commands, &from, 1);
    return count;
}

static uint32_t record_dispatch(struct bench *bench, VkCommandBuffer commands)
{
    const uint32_t count = 1000;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bench->pipeline);
    for (uint32_t i = 0; i < count; i++)
        vkCmdDispatch(commands, 1, 1, 1);
    return count;
}

static uint32_t record_fill(struct bench *bench, VkCommandBuffer commands)
{
    const uint32_t count = 1000;
    for (uint32_t i = 0; i < count; i++)
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, i);
    return count;
}

/* --- Measuring --- */

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

struct sample {
    double ns;
    double instructions; /* negative: not counted */
};

struct meter {
    int counter;
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

static struct sample meter_stop(struct meter *meter, uint32_t count)
{
    struct timespec end;
    uint64_t instructions = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    if (meter->counter >= 0 &&
        read(meter->counter, &instructions, sizeof(instructions)) != sizeof(instructions))
        meter->counter = -1;
    double ns =
        (double)(end.tv_sec - meter->start.tv_sec) * 1e9 + (double)(end.tv_nsec - meter->start.tv_nsec);
    return (struct sample){ns / count,
                           meter->counter >= 0 ? (double)(instructions - meter->instructions) / count : -1};
}

static int compare(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->ns, y = ((const struct sample *)b)->ns;
    return (x > y) - (x < y);
}

typedef uint32_t (*recorder)(struct bench *bench, VkCommandBuffer commands);

static struct sample measure_recording(struct bench *bench, recorder record)
{
    struct sample *samples = allocate(bench->rounds, sizeof(*samples));
    struct meter meter = {.counter = counter_open()};
    VkCommandPool pool = pool_create(bench);
    VkCommandBuffer commands = commands_create(bench, pool);
    for (uint32_t round = 0; round < bench->rounds; round++) {
        begin(commands);
        meter_start(&meter);
        uint32_t count = record(bench, commands);
        samples[round] = meter_stop(&meter, count);
        check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
        check(vkResetCommandBuffer(commands, 0), "vkResetCommandBuffer");
    }
    qsort(samples, bench->rounds, sizeof(*samples), compare);
    struct sample median = samples[bench->rounds / 2];
    vkDestroyCommandPool(bench->device, pool, NULL);
    free(samples);
    return median;
}

/* A command buffer that takes each image to another layout and back; `stripped`: and then one that needs it
 * in yet another. */
static struct sample measure_submit(struct bench *bench, bool stripped)
{
    struct sample *samples = allocate(bench->rounds, sizeof(*samples));
    struct meter meter = {.counter = counter_open()};
    VkCommandBuffer commands[2] = {commands_create(bench, bench->pool), commands_create(bench, bench->pool)};
    const uint32_t count = 64;
    for (uint32_t c = 0; c < 2; c++) {
        begin(commands[c]);
        for (uint32_t i = 0; i < bench->images; i++) {
            VkImageLayout other =
                stripped && c ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
            VkImageMemoryBarrier to = barrier_of(bench->all[i], other, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
            VkImageMemoryBarrier back = barrier_of(bench->all[i], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
            transition(commands[c], &to, 1);
            vkCmdFillBuffer(commands[c], bench->buffer, 0, 4, i);
            transition(commands[c], &back, 1);
        }
        check(vkEndCommandBuffer(commands[c]), "vkEndCommandBuffer");
    }
    for (uint32_t round = 0; round < bench->rounds; round++) {
        meter_start(&meter);
        for (uint32_t i = 0; i < count; i++)
            submit(bench, commands[i % 2]);
        samples[round] = meter_stop(&meter, count);
        check(vkQueueWaitIdle(bench->queue), "vkQueueWaitIdle");
    }
    qsort(samples, bench->rounds, sizeof(*samples), compare);
    struct sample median = samples[bench->rounds / 2];
    free(samples);
    return median;
}

struct worker {
    struct bench *bench;
    pthread_t thread;
    pthread_barrier_t *start;
    double ns; /* of wall time, per call */
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct bench *bench = worker->bench;
    VkCommandPool pool = pool_create(bench);
    VkCommandBuffer commands = commands_create(bench, pool);
    struct timespec start, end;
    uint32_t count = 0;
    pthread_barrier_wait(worker->start);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t round = 0; round < bench->rounds; round++) {
        begin(commands);
        count += record_alone(bench, commands);
        check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    worker->ns = ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / count;
    vkDestroyCommandPool(bench->device, pool, NULL);
    return NULL;
}

static struct sample measure_threads(struct bench *bench)
{
    struct worker workers[MAX_THREADS];
    pthread_barrier_t start;
    double sum = 0;
    pthread_barrier_init(&start, NULL, bench->threads);
    for (uint32_t i = 0; i < bench->threads; i++) {
        workers[i] = (struct worker){.bench = bench, .start = &start};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            check(VK_ERROR_OUT_OF_HOST_MEMORY, "pthread_create");
    }
    for (uint32_t i = 0; i < bench->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].ns;
    }
    pthread_barrier_destroy(&start);
    return (struct sample){sum / bench->threads, -1};
}

static const struct {
    const char *name;
    recorder record;
} kinds[] = {
    {"split", record_split}, {"joined", record_joined},       {"alone", record_alone},
    {"copy", record_copy},   {"rendering", record_rendering}, {"dispatch", record_dispatch},
    {"fill", record_fill},
};

static struct sample measure(struct bench *bench, const char *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return measure_recording(bench, kinds[i].record);
    if (strcmp(kind, "submit") == 0 || strcmp(kind, "stripped") == 0)
        return measure_submit(bench, kind[1] == 't');
    if (strcmp(kind, "threads") == 0)
        return measure_threads(bench);
    fputs(usage, stderr);
    exit(2);
}

int main(int count, char **arguments)
{
    struct bench bench = {.rounds = 101, .images = SPLIT, .alive = 100, .threads = 1};
    const char *kind = count > 1 ? arguments[1] : "";
    for (int i = 2; i + 1 < count; i += 2) {
        uint32_t value = (uint32_t)strtoul(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--rounds") == 0 && value && value <= MAX_ROUNDS)
            bench.rounds = value;
        else if (strcmp(arguments[i], "--images") == 0 && value)
            bench.images = value;
        else if (strcmp(arguments[i], "--alive") == 0 && value)
            bench.alive = value;
        else if (strcmp(arguments[i], "--threads") == 0 && value && value <= MAX_THREADS)
            bench.threads = value;
        else {
            fputs(usage, stderr);
            return 2;
        }
    }
    if (bench.alive < bench.images || bench.alive < SPLIT)
        bench.alive = bench.images > SPLIT ? bench.images : SPLIT;
    device_create(&bench);
    bench.pool = pool_create(&bench);
    images_create(&bench);
    buffer_create(&bench);
    pipeline_create(&bench);
    struct sample result = measure(&bench, kind);
    printf("{\"kind\":\"%s\",\"ns\":%.1f,\"instructions\":%.1f}\n", kind, result.ns, result.instructions);
    check(vkDeviceWaitIdle(bench.device), "vkDeviceWaitIdle");
    vkDestroyImageView(bench.device, bench.view, NULL);
    for (uint32_t i = 0; i < bench.alive; i++) {
        vkDestroyImage(bench.device, bench.all[i], NULL);
        vkFreeMemory(bench.device, bench.memories[i], NULL);
    }
    vkDestroyPipeline(bench.device, bench.pipeline, NULL);
    vkDestroyPipelineLayout(bench.device, bench.layout, NULL);
    vkDestroyBuffer(bench.device, bench.buffer, NULL);
    vkFreeMemory(bench.device, bench.buffer_memory, NULL);
    vkDestroyCommandPool(bench.device, bench.pool, NULL);
    vkDestroyDevice(bench.device, NULL);
    vkDestroyInstance(bench.instance, NULL);
    free(bench.all);
    free(bench.memories);
    return 0;
}
