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
    (void)queue, (void)infos;
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

struct command_buffer *command_buffer_find(struct device_sync *sync, VkCommandBuffer handle)
{
    (void)sync;
    for (uint32_t i = 0; i < BUFFERS; i++)
        if (buffers[i].handle == handle)
            return &buffers[i];
    return NULL;
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

/* --- A device of one queue and one image, which two command buffers use in a layout each --- */

struct fixture {
    struct device device;
    struct device_sync sync;
    struct image image;
    VkQueue queue;
    VkFence fence;
};

static void record(struct fixture *f, struct command_buffer *buffer, VkImageLayout layout)
{
    *buffer = (struct command_buffer){.handle = (VkCommandBuffer)make_handle(), .sync = &f->sync};
    buffer->contract.arena = &buffer->arena;
    struct contract_image *part =
        contract_add(&buffer->contract, &f->image, &f->image.state.shape, f->image.aspects);
    struct use use = {.layout = layout,
                      .scope = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_READ_BIT}};
    struct subresource_range all = subresource_range_all(&f->image.state.shape);
    assert_non_null(part);
    assert_true(contract_use(part, &all, &use, NULL));
}

static void open_fixture(struct fixture *f)
{
    static const struct subresource_shape shape = {1, 1, 1};
    *f = (struct fixture){0};
    f->device.sync = &f->sync;
    f->device.set_loader_data = set_loader_data;
    f->device.next.CreateCommandPool = create_pool;
    f->device.next.DestroyCommandPool = destroy_pool;
    f->device.next.AllocateCommandBuffers = allocate_buffers;
    f->device.next.BeginCommandBuffer = begin;
    f->device.next.EndCommandBuffer = end;
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
    assert_true(queues_create(&f->sync, 1));
    f->image.handle = (VkImage)make_handle();
    f->image.sync = &f->sync;
    f->image.acquired = true;
    f->image.aspect_count = 1;
    f->image.aspects[0] = VK_IMAGE_ASPECT_COLOR_BIT;
    f->image.first = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    atomic_init(&f->image.references, 1);
    subresource_map_init(&f->image.state, &shape, sizeof(struct access), &f->image.first, NULL);
    record(f, &buffers[0], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    record(f, &buffers[1], VK_IMAGE_LAYOUT_GENERAL);
    f->fence = (VkFence)make_handle();
    f->queue = (VkQueue)make_handle();
    assert_non_null(queue_register(&f->sync, f->queue, 0, false));
    memset(findings, 0, sizeof(findings));
    driver_submits = driver_batches = driver_buffers = 0;
    allocations = failing = 0;
}

static void close_fixture(struct fixture *f)
{
    queues_destroy(&f->sync);
    handle_map_finish(&f->sync.queues);
    handle_map_finish(&f->sync.images);
    pthread_mutex_destroy(&f->sync.lock);
    for (uint32_t i = 0; i < BUFFERS; i++)
        arena_finish(&buffers[i].arena);
    assert_int_equal(driver_fences, 0);
}

static void submit_one(struct fixture *f, uint32_t index)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &buffers[index].handle};
    assert_int_equal(hook_QueueSubmit(&f->device, submit, f->queue, 1, &info, f->fence), VK_SUCCESS);
    /* The application waits for its fence and resets it. */
    queues_lock(&f->sync);
    order_host_fence(f->sync.queue_set->order, HANDLE_KEY(f->fence));
    order_forget_fence(f->sync.queue_set->order, HANDLE_KEY(f->fence));
    queues_unlock(&f->sync);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_short_of_memory),
    };
    return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
