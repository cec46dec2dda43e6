/* The hooks of submits against a driver that only notes what it gets: costs in memory, and what happens
 * without it. What is submitted, and when, is tested through the loader (tests/integration/sync_submit.c). */
#include "check.h"

#include <stdatomic.h>

#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync/finding.h"
#include "sync/queue.h"

/* --- Memory, wrapped (see CMakeLists.txt) --- */

static bool counting;
static uint32_t allocations; /* while counting */
static uint32_t failing;     /* the how manieth fails; 0: none */

static bool fails(void)
{
    return counting && ++allocations == failing;
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

/* --- The driver --- */

static uintptr_t next_handle = 0x1000;
static uint32_t driver_submits, driver_batches, driver_buffers, driver_fences;
static VkFence last_fence;
static VkImageMemoryBarrier2 last_barrier;
static VkImageMemoryBarrier last_barrier1;
static VkPipelineStageFlags last_source1, last_destination1;
static VkCommandBuffer submitted[8]; /* in the last batch */
static uint32_t submitted_count;

static uintptr_t make_handle(void)
{
    return next_handle += 16;
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
    assert_int_equal(info->commandBufferCount, 1);
    driver_buffers++;
    *out = (VkCommandBuffer)make_handle();
    return VK_SUCCESS;
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

static void VKAPI_CALL barrier2(VkCommandBuffer buffer, const VkDependencyInfo *info)
{
    (void)buffer;
    assert_int_equal(info->imageMemoryBarrierCount, 1);
    last_barrier = info->pImageMemoryBarriers[0];
}

static void VKAPI_CALL barrier1(VkCommandBuffer buffer, VkPipelineStageFlags source,
                                VkPipelineStageFlags destination, VkDependencyFlags flags,
                                uint32_t memory_count, const VkMemoryBarrier *memory, uint32_t buffer_count,
                                const VkBufferMemoryBarrier *buffer_barriers, uint32_t image_count,
                                const VkImageMemoryBarrier *images)
{
    (void)buffer, (void)memory, (void)buffer_barriers;
    assert_int_equal(flags + memory_count + buffer_count, 0);
    assert_int_equal(image_count, 1);
    last_source1 = source;
    last_destination1 = destination;
    last_barrier1 = images[0];
}

static VkResult VKAPI_CALL create_fence(VkDevice device, const VkFenceCreateInfo *info,
                                        const VkAllocationCallbacks *allocator, VkFence *out)
{
    (void)device, (void)info, (void)allocator;
    driver_fences++;
    *out = (VkFence)make_handle();
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_fence(VkDevice device, VkFence fence, const VkAllocationCallbacks *allocator)
{
    (void)device, (void)fence, (void)allocator;
    driver_fences--;
}

static VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count, const VkFence *fences)
{
    (void)device, (void)count, (void)fences;
    return VK_SUCCESS;
}

/* The work is done as soon as the next fence was submitted. */
static VkResult VKAPI_CALL fence_status(VkDevice device, VkFence fence)
{
    (void)device;
    return fence == last_fence ? VK_NOT_READY : VK_SUCCESS;
}

static VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    (void)queue;
    submitted_count = count ? infos[0].commandBufferCount : submitted_count;
    for (uint32_t i = 0; count && i < submitted_count; i++)
        submitted[i] = infos[0].pCommandBuffers[i];
    driver_submits++;
    driver_batches += count;
    if (fence)
        last_fence = fence;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL set_loader_data(VkDevice device, void *object)
{
    (void)device, (void)object;
    return VK_SUCCESS;
}

/* --- Parts of the layer that aren't of interest here --- */

#define BUFFERS 2
static struct command_buffer buffers[BUFFERS];
static uint32_t findings[PLACE_NOWHERE + 1];
static uint32_t deliveries;

void instance_deliver_messages(struct instance *instance)
{
    (void)instance;
    deliveries++;
}

void finding_report(struct device_sync *sync, const struct finding *finding)
{
    (void)sync;
    findings[finding->place]++;
}

bool device_has_extension(const struct device *device, const char *name)
{
    (void)device, (void)name;
    return false;
}

/* --- A device of one queue and two images; the command buffers use the first in a layout each --- */

struct fixture {
    struct device device;
    struct device_sync sync;
    struct image image, other;
    VkQueue queue;
    VkFence fence;
};

static void use(struct command_buffer *buffer, struct image *image, uint32_t aspects, VkImageLayout layout)
{
    struct contract_image *part = contract_find(&buffer->contract, image);
    struct use info = {.layout = layout,
                       .scope = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_READ_BIT}};
    struct subresource_range range = subresource_range_all(&image->state.shape);
    range.aspects = aspects;
    if (!part)
        part = contract_add(&buffer->contract, image, &image->state.shape, image->aspects);
    assert_non_null(part);
    assert_true(contract_use(part, &range, &info, NULL));
}

/* Empty, and of a new handle. */
static struct command_buffer *start(struct fixture *f, uint32_t index)
{
    struct command_buffer *buffer = &buffers[index];
    arena_finish(&buffer->arena);
    handle_map_remove(&f->sync.command_buffers, DISPATCHABLE_KEY(buffer->handle));
    *buffer = (struct command_buffer){.handle = (VkCommandBuffer)make_handle(), .sync = &f->sync};
    buffer->contract.arena = &buffer->arena;
    assert_true(handle_map_insert(&f->sync.command_buffers, DISPATCHABLE_KEY(buffer->handle), buffer));
    return buffer;
}

static void init_image(struct fixture *f, struct image *image, VkImageAspectFlags aspects)
{
    *image = (struct image){.handle = (VkImage)make_handle(), .sync = &f->sync, .acquired = true};
    for (uint32_t bit = 1; bit <= aspects; bit <<= 1)
        if (aspects & bit)
            image->aspects[image->aspect_count++] = (VkImageAspectFlagBits)bit;
    image->first = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    atomic_init(&image->references, 1);
    struct subresource_shape shape = {image->aspect_count, 1, 1};
    subresource_map_init(&image->state, &shape, sizeof(struct access), &image->first, NULL);
}

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){0};
    f->device.sync = &f->sync;
    f->device.set_loader_data = set_loader_data;
    f->device.next.CreateCommandPool = create_pool;
    f->device.next.DestroyCommandPool = destroy_pool;
    f->device.next.AllocateCommandBuffers = allocate_buffers;
    f->device.next.BeginCommandBuffer = begin;
    f->device.next.EndCommandBuffer = end;
    f->device.next.CmdPipelineBarrier = barrier1;
    f->device.next.CreateFence = create_fence;
    f->device.next.DestroyFence = destroy_fence;
    f->device.next.ResetFences = reset_fences;
    f->device.next.GetFenceStatus = fence_status;
    f->device.next.QueueSubmit = submit;
    f->sync.device = &f->device;
    f->sync.sync2 = true;
    f->sync.CmdPipelineBarrier2 = barrier2;
    f->sync.family_count = 1;
    f->sync.families[0] = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    pthread_mutex_init(&f->sync.lock, NULL);
    handle_map_init(&f->sync.queues);
    handle_map_init(&f->sync.images);
    handle_map_init(&f->sync.command_buffers);
    assert_true(queues_create(&f->sync, 1));
    init_image(f, &f->image, VK_IMAGE_ASPECT_COLOR_BIT);
    init_image(f, &f->other, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
    use(start(f, 0), &f->image, 1, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    use(start(f, 1), &f->image, 1, VK_IMAGE_LAYOUT_GENERAL);
    f->fence = (VkFence)make_handle();
    f->queue = (VkQueue)make_handle();
    assert_non_null(queue_register(&f->sync, f->queue, 0, false));
    memset(findings, 0, sizeof(findings));
    deliveries = 0;
    driver_submits = driver_batches = driver_buffers = 0;
    allocations = failing = 0;
}

static void close_fixture(struct fixture *f)
{
    queues_destroy(&f->sync);
    handle_map_finish(&f->sync.queues);
    handle_map_finish(&f->sync.images);
    handle_map_finish(&f->sync.command_buffers);
    pthread_mutex_destroy(&f->sync.lock);
    subresource_map_finish(&f->image.state);
    subresource_map_finish(&f->other.state);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        arena_finish(&buffers[i].arena);
        buffers[i] = (struct command_buffer){0};
    }
    assert_int_equal(driver_fences, 0);
}

/* `count` command buffers from the `first`. */
static void submit_some(struct fixture *f, uint32_t first, uint32_t count)
{
    VkCommandBuffer handles[BUFFERS];
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = count, .pCommandBuffers = handles};
    for (uint32_t i = 0; i < count; i++)
        handles[i] = buffers[first + i].handle;
    assert_int_equal(hook_QueueSubmit(&f->device, submit, f->queue, 1, &info, f->fence), VK_SUCCESS);
    /* The application waits for its fence and resets it. */
    queues_lock(&f->sync);
    order_host_fence(f->sync.queue_set->order, HANDLE_KEY(f->fence));
    order_forget_fence(f->sync.queue_set->order, HANDLE_KEY(f->fence));
    queues_unlock(&f->sync);
}

static void submit_one(struct fixture *f, uint32_t index)
{
    submit_some(f, index, 1);
}

/* --- Tests --- */

/* L48: no allocation once warm, neither where nothing is needed nor where every submit is patched; and the
 * driver is asked for no more than is in flight. */
static void test_warm(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    for (uint32_t i = 0; i < 100; i++)
        submit_one(&f, i % 2);
    uint32_t warm_buffers = driver_buffers;
    counting = true;
    for (uint32_t i = 0; i < 10000; i++)
        submit_one(&f, i % 2);
    for (uint32_t i = 0; i < 10000; i++)
        submit_one(&f, 1);
    counting = false;
    assert_int_equal(allocations, 0);
    assert_int_equal(driver_buffers, warm_buffers);
    assert_in_range(driver_buffers, 1, 32);
    assert_int_equal(atomic_load(&f.sync.counters.patches), 10100);
    assert_int_equal(findings[PLACE_BEFORE_COMMAND_BUFFER], 10100);
    assert_int_equal(deliveries, 20100);
    /* A fence after every 8th of them. */
    assert_int_equal(driver_submits - driver_batches, 10100 / 8);
    close_fixture(&f);
}

/* Whatever fails, the application's submits go down; and what isn't repaired isn't taken for repaired. */
static void test_short_of_memory(void **state)
{
    (void)state;
    for (uint32_t fail = 1, done = 0; !done; fail++) {
        struct fixture f;
        open_fixture(&f);
        failing = fail;
        counting = true;
        for (uint32_t i = 0; i < 20; i++)
            submit_one(&f, i % 2);
        counting = false;
        done = allocations < fail;
        assert_int_equal(driver_batches, 20);
        uint64_t patches = atomic_load(&f.sync.counters.patches);
        if (done)
            assert_int_equal(patches, 20);
        else
            assert_in_range(patches, 17, 20);
        /* One may not have been said for want of memory. */
        assert_in_range(findings[PLACE_BEFORE_COMMAND_BUFFER], patches - 1, patches);
        close_fixture(&f);
    }
}

/* Without synchronization2 below. */
static void test_sync1(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    f.sync.sync2 = false;
    submit_one(&f, 0);
    submit_one(&f, 1);
    assert_int_equal(submitted_count, 2);
    assert_true(last_barrier1.image == f.image.handle);
    assert_int_equal(last_barrier1.oldLayout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    assert_int_equal(last_barrier1.newLayout, VK_IMAGE_LAYOUT_GENERAL);
    assert_int_equal(last_source1, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(last_destination1, VK_PIPELINE_STAGE_TRANSFER_BIT);
    close_fixture(&f);
}

#define DEPTH 1
#define STENCIL 2
#define BOTH 3
#define DS VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define READ VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL

static void check_both(const struct fixture *f, VkImageLayout from, VkImageLayout to)
{
    assert_int_equal(submitted_count, 2);
    assert_true(last_barrier.image == f->other.handle);
    assert_int_equal(last_barrier.subresourceRange.aspectMask,
                     VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
    assert_int_equal(last_barrier.oldLayout, from);
    assert_int_equal(last_barrier.newLayout, to);
}

/* "If image has a depth/stencil format with both depth and stencil and the separateDepthStencilLayouts
 * feature is not enabled, then the aspectMask member of subresourceRange must include both". */
static void test_aspects(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    use(start(&f, 0), &f.other, DEPTH, DS);
    submit_one(&f, 0);
    check_both(&f, VK_IMAGE_LAYOUT_UNDEFINED, DS);
    /* The stencil has come along. */
    use(start(&f, 0), &f.other, STENCIL, DS);
    submit_one(&f, 0);
    assert_int_equal(submitted_count, 1);
    use(start(&f, 0), &f.other, DEPTH, READ);
    submit_one(&f, 0);
    check_both(&f, DS, READ);
    use(start(&f, 0), &f.other, BOTH, DS);
    submit_one(&f, 0);
    check_both(&f, READ, DS);
    /* It is used as it is. */
    use(start(&f, 0), &f.other, STENCIL, DS);
    use(&buffers[0], &f.other, DEPTH, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL);
    submit_one(&f, 0);
    check_both(&f, DS, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL);
    /* There is no layout for both; then nothing is known of either. */
    assert_int_equal(findings[PLACE_NOWHERE], 0);
    use(start(&f, 0), &f.other, STENCIL, DS);
    use(&buffers[0], &f.other, DEPTH, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    submit_one(&f, 0);
    assert_int_equal(submitted_count, 1);
    assert_int_equal(findings[PLACE_NOWHERE], 1);
    use(start(&f, 0), &f.other, BOTH, VK_IMAGE_LAYOUT_GENERAL);
    submit_one(&f, 0);
    assert_int_equal(submitted_count, 1);
    /* Both in one go, each its own. */
    use(start(&f, 0), &f.other, STENCIL, DS);
    use(&buffers[0], &f.other, DEPTH, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL);
    submit_one(&f, 0);
    check_both(&f, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL);
    close_fixture(&f);
}

static void test_separate_aspects(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    f.sync.separate_depth_stencil = true;
    use(start(&f, 0), &f.other, STENCIL, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL);
    submit_one(&f, 0);
    assert_int_equal(submitted_count, 2);
    assert_int_equal(last_barrier.subresourceRange.aspectMask, VK_IMAGE_ASPECT_STENCIL_BIT);
    assert_int_equal(last_barrier.newLayout, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL);
    close_fixture(&f);
}

/* L42: between a suspended rendering and its resumption nothing goes. */
static void test_suspended(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    use(start(&f, 0), &f.image, 1, VK_IMAGE_LAYOUT_GENERAL);
    submit_one(&f, 0);
    start(&f, 0)->suspending = true;
    use(start(&f, 1), &f.image, 1, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkCommandBuffer first = buffers[0].handle, second = buffers[1].handle;
    submit_some(&f, 0, 2);
    assert_int_equal(submitted_count, 3);
    assert_true(submitted[1] == first && submitted[2] == second);
    assert_int_equal(last_barrier.oldLayout, VK_IMAGE_LAYOUT_GENERAL);
    /* What the first part of it uses can't be moved for the second. */
    use(&buffers[0], &f.image, 1, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    use(start(&f, 1), &f.image, 1, VK_IMAGE_LAYOUT_GENERAL);
    submit_some(&f, 0, 2);
    assert_int_equal(submitted_count, 2);
    assert_int_equal(findings[PLACE_NOWHERE], 1);
    assert_int_equal(atomic_load(&f.sync.counters.unpatchable), 1);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_short_of_memory),
        cmocka_unit_test(test_sync1),
        cmocka_unit_test(test_aspects),
        cmocka_unit_test(test_separate_aspects),
        cmocka_unit_test(test_suspended),
    };
    return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
