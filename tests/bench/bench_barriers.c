/* What recording and submitting cost, on whatever driver the loader finds; bench_barriers.py runs it with and
 * without a layer. One process measures one kind and prints nanoseconds of CPU time of the thread (median
 * over rounds), and instructions where the kernel counts them. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_gpu.h"

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
    struct bench_gpu gpu;
    VkImage *all; /* `alive`, all in TRANSFER_DST_OPTIMAL, the first few with views */
    VkDeviceMemory *memories;
    VkImageView view;
    VkBuffer buffer;
    VkDeviceMemory buffer_memory;
    VkPipelineLayout layout;
    VkPipeline pipeline; /* of compute */
    PFN_vkCmdBeginRendering begin_rendering;
    PFN_vkCmdEndRendering end_rendering;
};

/* --- Set up --- */

static void device_create(struct bench *bench)
{
    VkPhysicalDeviceDynamicRenderingFeatures rendering = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
        .dynamicRendering = VK_TRUE,
    };
    bench_gpu_init(&bench->gpu, "bench_barriers", &rendering, 0, NULL);
    VkDevice device = bench->gpu.device;
    /* As engines do, past the loader's own trampolines. */
    bench->begin_rendering = (PFN_vkCmdBeginRendering)vkGetDeviceProcAddr(device, "vkCmdBeginRendering");
    bench->end_rendering = (PFN_vkCmdEndRendering)vkGetDeviceProcAddr(device, "vkCmdEndRendering");
}

static void transition(VkCommandBuffer commands, const VkImageMemoryBarrier *barriers, uint32_t count)
{
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                         0, NULL, count, barriers);
}

static void images_create(struct bench *bench)
{
    bench->all = bench_allocate(bench->alive, sizeof(*bench->all));
    bench->memories = bench_allocate(bench->alive, sizeof(*bench->memories));
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
    VkCommandBuffer commands = bench_gpu_create_commands(&bench->gpu, bench->gpu.pool);
    bench_gpu_begin(commands);
    for (uint32_t i = 0; i < bench->alive; i++) {
        bench_check(vkCreateImage(bench->gpu.device, &info, NULL, &bench->all[i]), "vkCreateImage");
        bench->memories[i] = bench_gpu_bind(&bench->gpu, bench->all[i], VK_NULL_HANDLE);
        VkImageMemoryBarrier barrier =
            bench_gpu_barrier(bench->all[i], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        transition(commands, &barrier, 1);
    }
    bench_gpu_end(commands);
    bench_gpu_submit(&bench->gpu, commands);
    bench_gpu_wait(&bench->gpu);
    VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = bench->all[0],
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = info.format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    bench_check(vkCreateImageView(bench->gpu.device, &view, NULL, &bench->view), "vkCreateImageView");
}

static void buffer_create(struct bench *bench)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 4096,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    bench_check(vkCreateBuffer(bench->gpu.device, &info, NULL, &bench->buffer), "vkCreateBuffer");
    bench->buffer_memory = bench_gpu_bind(&bench->gpu, VK_NULL_HANDLE, bench->buffer);
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
    bench_check(vkCreatePipelineLayout(bench->gpu.device, &layout, NULL, &bench->layout),
                "vkCreatePipelineLayout");
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
    bench_check(vkCreateShaderModule(bench->gpu.device, &module, NULL, &info.stage.module),
                "vkCreateShaderModule");
    bench_check(vkCreateComputePipelines(bench->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &bench->pipeline),
                "vkCreateComputePipelines");
    vkDestroyShaderModule(bench->gpu.device, info.stage.module, NULL);
}

/* --- What is recorded; each returns how many times the measured thing was done --- */

static uint32_t record_split(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < SPLIT; i++) {
            bool back = step & 1;
            VkImageMemoryBarrier barrier = bench_gpu_barrier(
                bench->all[i], back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                back ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL);
            transition(commands, &barrier, 1);
        }
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, step);
    }
    return STEPS * SPLIT;
}

static uint32_t record_joined(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    for (uint32_t step = 0; step < STEPS; step++) {
        VkImageMemoryBarrier barriers[SPLIT];
        for (uint32_t i = 0; i < SPLIT; i++) {
            bool back = step & 1;
            barriers[i] = bench_gpu_barrier(
                bench->all[i], back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                back ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL);
        }
        transition(commands, barriers, SPLIT);
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, step);
    }
    return STEPS * SPLIT;
}

static uint32_t record_alone(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    const uint32_t count = 1000;
    for (uint32_t i = 0; i < count; i++) {
        bool back = i & 1;
        VkImageMemoryBarrier barrier = bench_gpu_barrier(
            bench->all[0], back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
            back ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL);
        transition(commands, &barrier, 1);
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, i);
    }
    return count;
}

static uint32_t record_copy(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    const uint32_t count = 1000;
    VkImageCopy region = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .extent = {4, 4, 1},
    };
    VkImageMemoryBarrier to = bench_gpu_barrier(bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                                VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkImageMemoryBarrier from = bench_gpu_barrier(bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    transition(commands, &to, 1);
    for (uint32_t i = 0; i < count; i++)
        vkCmdCopyImage(commands, bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                       bench->all[1 + i % (SPLIT - 1)], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    transition(commands, &from, 1);
    return count;
}

static uint32_t record_rendering(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    const uint32_t count = 1000;
    VkImageMemoryBarrier to = bench_gpu_barrier(bench->all[0], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                                VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    VkImageMemoryBarrier from = bench_gpu_barrier(bench->all[0], VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
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

static uint32_t record_dispatch(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    const uint32_t count = 1000;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bench->pipeline);
    for (uint32_t i = 0; i < count; i++)
        vkCmdDispatch(commands, 1, 1, 1);
    return count;
}

static uint32_t record_fill(void *context, VkCommandBuffer commands)
{
    const struct bench *bench = context;
    const uint32_t count = 1000;
    for (uint32_t i = 0; i < count; i++)
        vkCmdFillBuffer(commands, bench->buffer, 0, 4, i);
    return count;
}

/* --- Measuring --- */

/* A command buffer that takes each image to another layout and back; `stripped`: and then one that needs it
 * in yet another. */
static struct bench_sample measure_submit(struct bench *bench, bool stripped)
{
    VkCommandBuffer commands[2];
    for (uint32_t c = 0; c < 2; c++) {
        commands[c] = bench_gpu_create_commands(&bench->gpu, bench->gpu.pool);
        bench_gpu_begin(commands[c]);
        for (uint32_t i = 0; i < bench->images; i++) {
            VkImageLayout other =
                stripped && c ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
            VkImageMemoryBarrier to =
                bench_gpu_barrier(bench->all[i], other, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
            VkImageMemoryBarrier back = bench_gpu_barrier(bench->all[i], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                                          VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
            transition(commands[c], &to, 1);
            vkCmdFillBuffer(commands[c], bench->buffer, 0, 4, i);
            transition(commands[c], &back, 1);
        }
        bench_gpu_end(commands[c]);
    }
    return bench_measure_submit(&bench->gpu, bench->rounds, commands);
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
    VkCommandPool pool = bench_gpu_create_pool(&bench->gpu);
    VkCommandBuffer commands = bench_gpu_create_commands(&bench->gpu, pool);
    struct timespec start, end;
    uint32_t count = 0;
    pthread_barrier_wait(worker->start);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t round = 0; round < bench->rounds; round++) {
        bench_gpu_begin(commands);
        count += record_alone(bench, commands);
        bench_gpu_end(commands);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    worker->ns = ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / count;
    vkDestroyCommandPool(bench->gpu.device, pool, NULL);
    return NULL;
}

static struct bench_sample measure_threads(struct bench *bench)
{
    struct worker workers[MAX_THREADS];
    pthread_barrier_t start;
    double sum = 0;
    pthread_barrier_init(&start, NULL, bench->threads);
    for (uint32_t i = 0; i < bench->threads; i++) {
        workers[i] = (struct worker){.bench = bench, .start = &start};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            bench_check(VK_ERROR_OUT_OF_HOST_MEMORY, "pthread_create");
    }
    for (uint32_t i = 0; i < bench->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].ns;
    }
    pthread_barrier_destroy(&start);
    return (struct bench_sample){sum / bench->threads, -1, 0};
}

static const struct {
    const char *name;
    uint32_t (*record)(void *context, VkCommandBuffer commands);
} kinds[] = {
    {"split", record_split}, {"joined", record_joined},       {"alone", record_alone},
    {"copy", record_copy},   {"rendering", record_rendering}, {"dispatch", record_dispatch},
    {"fill", record_fill},
};

static struct bench_sample measure(struct bench *bench, const char *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return bench_measure_recording(&bench->gpu, bench->rounds, kinds[i].record, bench);
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
    images_create(&bench);
    buffer_create(&bench);
    pipeline_create(&bench);
    struct bench_sample result = measure(&bench, kind);
    bench_print(kind, &result);
    bench_gpu_wait(&bench.gpu);
    vkDestroyImageView(bench.gpu.device, bench.view, NULL);
    for (uint32_t i = 0; i < bench.alive; i++) {
        vkDestroyImage(bench.gpu.device, bench.all[i], NULL);
        vkFreeMemory(bench.gpu.device, bench.memories[i], NULL);
    }
    vkDestroyPipeline(bench.gpu.device, bench.pipeline, NULL);
    vkDestroyPipelineLayout(bench.gpu.device, bench.layout, NULL);
    vkDestroyBuffer(bench.gpu.device, bench.buffer, NULL);
    vkFreeMemory(bench.gpu.device, bench.buffer_memory, NULL);
    bench_gpu_finish(&bench.gpu);
    free(bench.all);
    free(bench.memories);
    return 0;
}
