/* barrier_stress cycles N     N times: image, command buffer with its barriers left out, submit, wait,
 * destroy all; fails if memory grows after the first tenth barrier_stress threads N    N threads record the
 * same, each into a pool of its own, and submit to two queues, each under a mutex */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

#define MAX_THREADS 64
#define ROUNDS 200

static struct kit kit;

static VkImage image_create(VkDeviceMemory *memory)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {KIT_SIDE, KIT_SIDE, 1},
        .mipLevels = 2,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    VkImage image;
    kit_check(vkCreateImage(kit.device, &info, NULL, &image), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(kit.device, image, &needs);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits & (1u << type)))
        type++;
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = type,
    };
    kit_check(vkAllocateMemory(kit.device, &allocation, NULL, memory), "vkAllocateMemory");
    kit_check(vkBindImageMemory(kit.device, image, *memory, 0), "vkBindImageMemory");
    return image;
}

/* Clears the first mip, blits it to the second, and to the first of `out`; no barrier anywhere. */
static void record(VkCommandBuffer commands, VkImage image, VkImage out)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    kit_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    kit_clear(&kit, commands, image, KIT_COLOR, 3);
    kit_blit(&kit, commands, image, 0, 0, image, 1, 0);
    kit_blit(&kit, commands, image, 1, 0, out, 0, 0);
    kit_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static VkCommandPool pool_create(uint32_t family)
{
    VkCommandPool pool;
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = family,
    };
    kit_check(vkCreateCommandPool(kit.device, &info, NULL, &pool), "vkCreateCommandPool");
    return pool;
}

static VkCommandBuffer commands_create(VkCommandPool pool)
{
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    kit_check(vkAllocateCommandBuffers(kit.device, &info, &commands), "vkAllocateCommandBuffers");
    return commands;
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        kit_check(VK_ERROR_UNKNOWN, "/proc/self/statm");
    fclose(file);
    return resident;
}

static void cycle(uint32_t number)
{
    VkDeviceMemory memories[2];
    VkImage image = image_create(&memories[0]), out = image_create(&memories[1]);
    VkCommandPool pool = pool_create(kit.family);
    VkCommandBuffer commands = commands_create(pool);
    record(commands, image, out);
    if (number % 3 == 1) { /* recorded twice, submitted once */
        kit_check(vkResetCommandPool(kit.device, pool, 0), "vkResetCommandPool");
        record(commands, out, image);
    }
    if (number % 5 != 4) { /* or never */
        kit_submit(&kit, commands);
        kit_check(vkQueueWaitIdle(kit.queue), "vkQueueWaitIdle");
    }
    bool pool_first = number % 2;
    if (pool_first)
        vkDestroyCommandPool(kit.device, pool, NULL);
    vkDestroyImage(kit.device, image, NULL);
    vkDestroyImage(kit.device, out, NULL);
    vkFreeMemory(kit.device, memories[0], NULL);
    vkFreeMemory(kit.device, memories[1], NULL);
    if (!pool_first)
        vkDestroyCommandPool(kit.device, pool, NULL);
}

static void run_cycles(uint32_t count)
{
    long before = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == count / 10)
            before = resident_pages();
        cycle(i);
    }
    long after = resident_pages();
    printf("pages=%ld,%ld\n", before, after);
}

/* --- Threads --- */

static pthread_mutex_t submit_locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

struct worker {
    pthread_t thread;
    uint32_t index;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    bool second = worker->index % 2;
    VkCommandPool pool = pool_create(second ? kit.second_family : kit.family);
    VkFence fence;
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    kit_check(vkCreateFence(kit.device, &info, NULL, &fence), "vkCreateFence");
    VkCommandBuffer commands = commands_create(pool);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        VkDeviceMemory memories[2];
        VkImage image = image_create(&memories[0]), out = image_create(&memories[1]);
        record(commands, image, out);
        VkSubmitInfo submit = {
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
            .commandBufferCount = 1,
            .pCommandBuffers = &commands,
        };
        pthread_mutex_lock(&submit_locks[second]);
        kit_check(vkQueueSubmit(second ? kit.second_queue : kit.queue, 1, &submit, fence), "vkQueueSubmit");
        pthread_mutex_unlock(&submit_locks[second]);
        kit_check(vkWaitForFences(kit.device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
        kit_check(vkResetFences(kit.device, 1, &fence), "vkResetFences");
        kit_check(vkResetCommandPool(kit.device, pool, 0), "vkResetCommandPool");
        vkDestroyImage(kit.device, image, NULL);
        vkDestroyImage(kit.device, out, NULL);
        vkFreeMemory(kit.device, memories[0], NULL);
        vkFreeMemory(kit.device, memories[1], NULL);
    }
    vkDestroyFence(kit.device, fence, NULL);
    vkDestroyCommandPool(kit.device, pool, NULL);
    return NULL;
}

static void run_threads(uint32_t count)
{
    static struct worker workers[MAX_THREADS];
    for (uint32_t i = 0; i < count; i++) {
        workers[i].index = i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            kit_check(VK_ERROR_OUT_OF_HOST_MEMORY, "pthread_create");
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

int main(int count, char **arguments)
{
    struct kit_options options = {.correct = true};
    uint32_t number = count == 3 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 0;
    bool cycles = count == 3 && strcmp(arguments[1], "cycles") == 0;
    if (!number || (!cycles && (strcmp(arguments[1], "threads") != 0 || number > MAX_THREADS))) {
        fprintf(stderr, "usage: barrier_stress cycles N | threads N\n");
        return 2;
    }
    kit_init(&kit, &options);
    (cycles ? run_cycles : run_threads)(number);
    kit_finish(&kit);
    return 0;
}
