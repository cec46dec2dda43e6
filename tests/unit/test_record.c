/* The hooks of recording against a driver that follows image layouts: costs in memory, and what happens
 * without it. What is recorded, and where, is tested through the loader (tests/integration/sync_calls.c). */
#include "check.h"

#include <stdatomic.h>

#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync/finding.h"
#include "sync/image.h"

#define SRC VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DST VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED

/* --- Memory, wrapped (see CMakeLists.txt) --- */

static bool counting;
static uint32_t allocations; /* while counting */
static uint32_t failing;     /* the how manieth fails, and all after it; 0: none */

static bool fails(void)
{
    return counting && ++allocations >= failing && failing;
}

#define WRAP(name, declared, passed)                                                                         \
    void *__real_##name declared;                                                                            \
    void *__wrap_##name declared;                                                                            \
    void *__wrap_##name declared                                                                             \
    {                                                                                                        \
        return fails() ? NULL : __real_##name passed;                                                        \
    }
WRAP(malloc, (size_t size), (size))
WRAP(calloc, (size_t count, size_t size), (count, size))
WRAP(realloc, (void *memory, size_t size), (memory, size))

/* --- The driver: images of four mips --- */

#define IMAGES 24
#define MIPS 4
static uintptr_t next_handle = 0x1000;
static struct {
    VkImage handle;
    VkImageLayout layouts[MIPS];
} driver_images[IMAGES];
static uint32_t driver_barriers, driver_wrong; /* image barriers; with an oldLayout that isn't so */

static uintptr_t make_handle(void)
{
    return next_handle += 16;
}

static void move(VkImage image, VkImageLayout from, VkImageLayout to, VkImageSubresourceRange range)
{
    uint32_t index = 0;
    while (driver_images[index].handle != image)
        assert_in_range(++index, 0, IMAGES - 1);
    uint32_t end = range.levelCount == VK_REMAINING_MIP_LEVELS ? MIPS : range.baseMipLevel + range.levelCount;
    for (uint32_t i = range.baseMipLevel; i < end; i++) {
        if (from != UNDEFINED && driver_images[index].layouts[i] != from)
            driver_wrong++;
        driver_images[index].layouts[i] = to;
    }
    driver_barriers++;
}

static void VKAPI_CALL barrier1(VkCommandBuffer buffer, VkPipelineStageFlags source,
                                VkPipelineStageFlags destination, VkDependencyFlags flags,
                                uint32_t memory_count, const VkMemoryBarrier *memory, uint32_t buffer_count,
                                const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                const VkImageMemoryBarrier *images)
{
    (void)buffer, (void)flags, (void)memory_count, (void)memory, (void)buffer_count, (void)buffers;
    assert_true(source && destination);
    for (uint32_t i = 0; i < image_count; i++)
        move(images[i].image, images[i].oldLayout, images[i].newLayout, images[i].subresourceRange);
}

static void VKAPI_CALL barrier2(VkCommandBuffer buffer, const VkDependencyInfo *info)
{
    (void)buffer;
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; i++) {
        const VkImageMemoryBarrier2 *barrier = &info->pImageMemoryBarriers[i];
        move(barrier->image, barrier->oldLayout, barrier->newLayout, barrier->subresourceRange);
    }
}

static uint32_t driver_reads, driver_wrong_reads;

static void VKAPI_CALL copy_to_buffer(VkCommandBuffer buffer, VkImage image, VkImageLayout layout,
                                      VkBuffer target, uint32_t count, const VkBufferImageCopy *regions)
{
    uint32_t index = 0;
    (void)buffer, (void)target, (void)count;
    while (driver_images[index].handle != image)
        assert_in_range(++index, 0, IMAGES - 1);
    driver_reads++;
    if (driver_images[index].layouts[regions->imageSubresource.mipLevel] != layout)
        driver_wrong_reads++;
}

static VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkCommandPool *out)
{
    (void)device, (void)info, (void)allocator;
    *out = (VkCommandPool)make_handle();
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_pool(VkDevice device, VkCommandPool pool,
                                    const VkAllocationCallbacks *allocator)
{
    (void)device, (void)pool, (void)allocator;
}

static VkResult VKAPI_CALL allocate_buffers(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                            VkCommandBuffer *out)
{
    (void)device;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        out[i] = (VkCommandBuffer)make_handle();
    return VK_SUCCESS;
}

static void VKAPI_CALL free_buffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                    const VkCommandBuffer *buffers)
{
    (void)device, (void)pool, (void)count, (void)buffers;
}

static VkResult VKAPI_CALL begin(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info)
{
    (void)buffer, (void)info;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL end(VkCommandBuffer buffer)
{
    (void)buffer;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo *info,
                                        const VkAllocationCallbacks *allocator, VkImage *out)
{
    (void)device, (void)info, (void)allocator;
    *out = (VkImage)make_handle();
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_image(VkDevice device, VkImage image, const VkAllocationCallbacks *allocator)
{
    (void)device, (void)image, (void)allocator;
}

/* --- Parts of the layer that aren't of interest here --- */

static uint32_t findings;

void finding_report(struct device_sync *sync, const struct finding *finding)
{
    (void)sync, (void)finding;
    findings++;
}

bool device_has_extension(const struct device *device, const char *name)
{
    (void)device, (void)name;
    return false;
}

void instance_deliver_messages(struct instance *instance)
{
    (void)instance;
}

/* --- A device, with images and a pool --- */

static struct device device;
static struct device_sync sync;
static VkCommandPool pool;
static VkCommandBuffer commands;

static void each_map(void (*act)(struct handle_map *map))
{
    struct handle_map *maps[] = {&sync.images,     &sync.views, &sync.render_passes,  &sync.framebuffers,
                                 &sync.swapchains, &sync.pools, &sync.command_buffers};
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        act(maps[i]);
}

static void open_device(bool sync2)
{
    device = (struct device){.sync = &sync};
    sync = (struct device_sync){.device = &device, .merge = true, .sync2 = sync2, .family_count = 1};
    sync.CmdPipelineBarrier2 = barrier2;
    sync.families[0] = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    device.next.CmdPipelineBarrier = barrier1;
    pthread_mutex_init(&sync.lock, NULL);
    each_map(handle_map_init);
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {16, 16, 1},
                              .mipLevels = MIPS,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    for (uint32_t i = 0; i < IMAGES; i++) {
        driver_images[i].layouts[0] = driver_images[i].layouts[1] = UNDEFINED;
        driver_images[i].layouts[2] = driver_images[i].layouts[3] = UNDEFINED;
        hook_CreateImage(&device, create_image, NULL, &info, NULL, &driver_images[i].handle);
    }
    allocations = findings = driver_barriers = driver_wrong = driver_reads = driver_wrong_reads = 0;
}

static void open_pool(void)
{
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandBufferCount = 1};
    hook_CreateCommandPool(&device, create_pool, NULL, &info, NULL, &pool);
    allocate.commandPool = pool;
    hook_AllocateCommandBuffers(&device, allocate_buffers, NULL, &allocate, &commands);
}

static void close_device(void)
{
    hook_DestroyCommandPool(&device, destroy_pool, NULL, pool, NULL);
    for (uint32_t i = 0; i < IMAGES; i++)
        hook_DestroyImage(&device, destroy_image, NULL, driver_images[i].handle, NULL);
    each_map(handle_map_finish);
    pthread_mutex_destroy(&sync.lock);
}

/* --- What the application records. What the layer doesn't know goes down, as in entry points. --- */

static void give(uint32_t image, VkImageLayout from, VkImageLayout to, uint32_t mip, uint32_t mips)
{
    struct command_buffer *buffer = command_buffer_find(&sync, commands);
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = driver_images[image].handle,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, mip, mips, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    if (buffer)
        hook_CmdPipelineBarrier(buffer, barrier1, commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    else
        barrier1(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0,
                 NULL, 1, &barrier);
}

static void read_mip(uint32_t image, VkImageLayout layout, uint32_t mip)
{
    struct command_buffer *buffer = command_buffer_find(&sync, commands);
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, mip, 0, 1}};
    VkImage handle = driver_images[image].handle;
    if (buffer)
        hook_CmdCopyImageToBuffer(buffer, copy_to_buffer, commands, handle, layout, VK_NULL_HANDLE, 1,
                                  &region);
    else
        copy_to_buffer(commands, handle, layout, VK_NULL_HANDLE, 1, &region);
}

static void label(const char *name)
{
    struct command_buffer *buffer = command_buffer_find(&sync, commands);
    VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = name};
    if (buffer)
        note_CmdBeginDebugUtilsLabelEXT(buffer, &info);
}

static void record(bool correct)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    struct command_buffer *buffer = command_buffer_find(&sync, commands);
    if (buffer)
        hook_BeginCommandBuffer(buffer, begin, commands, &info);
    for (uint32_t i = 0; i < 20; i++)
        label("pass");
    for (uint32_t i = 0; i < IMAGES; i++)
        give(i, UNDEFINED, DST, 0, VK_REMAINING_MIP_LEVELS);
    for (uint32_t i = 0; i < IMAGES; i++) {
        give(i, DST, SRC, 1, 1);
        read_mip(i, SRC, 1);
        read_mip(i, correct ? DST : SRC, 2);
        give(i, SRC, GENERAL, 1, 1);
    }
    for (uint32_t i = 0; i < IMAGES && !correct; i++)
        give(i, DST, SRC, 0, VK_REMAINING_MIP_LEVELS);
    if (buffer)
        hook_EndCommandBuffer(buffer, end, commands);
}

/* No allocation once warm: neither where all is right, nor where there is something to repair and rewrite. */
static void test_warm(void **state)
{
    (void)state;
    open_device(true);
    open_pool();
    for (int correct = 0; correct < 2; correct++) {
        record(correct);
        record(correct);
        counting = true;
        for (uint32_t i = 0; i < 100; i++)
            record(correct);
        counting = false;
        assert_int_equal(allocations, 0);
    }
    assert_int_equal(driver_wrong, 0);
    assert_int_equal(driver_wrong_reads, 0);
    assert_true(findings > 0);
    close_device();
}

/* Labels that aren't ended here, as many as there may be: what is kept of them has a limit, and those inside
 * of it end where they began. */
static void test_nested_labels(void **state)
{
    (void)state;
    const uint32_t count = 20000;
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    open_device(true);
    open_pool();
    struct command_buffer *buffer = command_buffer_find(&sync, commands);
    assert_non_null(buffer);
    hook_BeginCommandBuffer(buffer, begin, commands, &info);
    label("frame");
    for (uint32_t i = 0; i < count; i++)
        label("pass");
    size_t kept = 0;
    for (uint32_t i = 0; i < buffer->label_count; i++)
        kept += strlen(buffer->labels[i]);
    assert_in_range(kept, 1, 1 << 20);
    for (uint32_t i = 0; i < count; i++)
        note_CmdEndDebugUtilsLabelEXT(buffer);
    assert_string_equal(buffer->labels[buffer->label], "frame");
    hook_EndCommandBuffer(buffer, end, commands);
    close_device();
}

/* A command buffer that is freed leaves its memory to the next. */
static void test_freed(void **state)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandBufferCount = 1};
    (void)state;
    open_device(true);
    open_pool();
    info.commandPool = pool;
    record(false);
    record(false);
    counting = true;
    for (uint32_t i = 0; i < 100; i++) {
        hook_FreeCommandBuffers(&device, free_buffers, NULL, pool, 1, &commands);
        hook_AllocateCommandBuffers(&device, allocate_buffers, NULL, &info, &commands);
        record(false);
    }
    counting = false;
    assert_int_equal(allocations, 0);
    close_device();
}

/* Whatever fails, all barriers of a program that is right go down, and nothing is added to them. */
static void short_of_memory(bool sync2, bool correct)
{
    uint32_t needed = 0;
    for (failing = 0; failing <= needed + 1; failing++) {
        open_device(sync2);
        counting = true;
        open_pool();
        record(correct);
        counting = false;
        if (!failing)
            needed = allocations;
        assert_int_equal(driver_reads, 2 * IMAGES);
        if (correct) {
            assert_int_equal(driver_wrong, 0);
            assert_int_equal(driver_wrong_reads, 0);
            assert_int_equal(findings, 0);
        }
        for (uint32_t i = 0; i < IMAGES; i++)
            assert_int_equal(driver_images[i].layouts[1], correct ? GENERAL : SRC);
        close_device();
    }
    failing = 0;
    assert_true(needed > 5);
}

static void test_short_of_memory(void **state)
{
    (void)state;
    short_of_memory(true, true);
    short_of_memory(true, false);
    short_of_memory(false, true);
    short_of_memory(false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_nested_labels),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_short_of_memory),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
