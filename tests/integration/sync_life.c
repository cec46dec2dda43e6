/* Command buffers that are recorded again, reset and freed, images that go meanwhile, handles that come back;
 * many cycles of all that in flat memory; many threads. L36, L39, L41, L51. */
#include "record_app.h"

#include <malloc.h>
#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
/* Of the sanitizers' run-time library; gcc doesn't come with its header everywhere. */
size_t __sanitizer_get_current_allocated_bytes(void);
#define CYCLES 3000u
#define ROUNDS 40u
static size_t memory_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
#define CYCLES 100000u
#define ROUNDS 200u
static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

#define ONE ((struct record_range){COLOR_BIT, 0, 1, 0, 1})

/* --- Recording again --- */

enum way {
    WAY_BEGIN,
    WAY_RESET,
    WAY_RESET_RELEASING,
    WAY_POOL_RESET,
    WAY_POOL_RESET_RELEASING,
    WAY_FREE,
    WAY_POOL,
    WAY_COUNT,
};

static VkCommandPool create_pool(const struct record_app *app)
{
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = app->family};
    VkCommandPool pool;
    CHECK_EQUAL(app->layer.CreateCommandPool(app->device, &info, NULL, &pool), VK_SUCCESS);
    return pool;
}

static VkCommandBuffer allocate(const struct record_app *app, VkCommandPool pool)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .commandBufferCount = 1};
    VkCommandBuffer cb;
    CHECK_EQUAL(app->layer.AllocateCommandBuffers(app->device, &info, &cb), VK_SUCCESS);
    return cb;
}

static void begin(const struct record_app *app, VkCommandBuffer cb)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK_EQUAL(app->layer.BeginCommandBuffer(cb, &info), VK_SUCCESS);
}

static void end(const struct record_app *app, VkCommandBuffer cb)
{
    CHECK_EQUAL(app->layer.EndCommandBuffer(cb), VK_SUCCESS);
}

/* What was recorded is given up. */
static void give_up(const struct record_app *app, enum way way, VkCommandPool *pool, VkCommandBuffer *cb)
{
    switch (way) {
    case WAY_BEGIN:
        break;
    case WAY_RESET:
    case WAY_RESET_RELEASING:
        CHECK_EQUAL(vkResetCommandBuffer(
                        *cb, way == WAY_RESET ? 0 : (VkFlags)VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT),
                    VK_SUCCESS);
        break;
    case WAY_POOL_RESET:
    case WAY_POOL_RESET_RELEASING:
        CHECK_EQUAL(vkResetCommandPool(
                        app->device, *pool,
                        way == WAY_POOL_RESET ? 0 : (VkFlags)VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT),
                    VK_SUCCESS);
        break;
    case WAY_FREE:
        vkFreeCommandBuffers(app->device, *pool, 1, cb);
        *cb = allocate(app, *pool);
        break;
    default:
        vkDestroyCommandPool(app->device, *pool, NULL);
        *pool = create_pool(app);
        *cb = allocate(app, *pool);
        break;
    }
}

/* A barrier, and one that is still pending where the recording isn't ended. */
static void record_something(const struct record_app *app, VkCommandBuffer cb, VkImage image, bool ended)
{
    begin(app, cb);
    record_move(&app->layer, cb, image, ONE, UNDEFINED, DST);
    record_act(app, &app->layer, cb);
    record_move(&app->layer, cb, image, ONE, DST, GENERAL);
    if (ended)
        end(app, cb);
}

/* What it is in must come from nowhere but the submits. */
static void check_fresh(const struct record_app *app, VkCommandBuffer cb, VkImage image)
{
    begin(app, cb);
    record_read(app, &app->layer, cb, image, COLOR_BIT, SRC);
    end(app, cb);
    CHECK_EQUAL(fault_command_count(cb), 1);
    record_run(app, cb, "recorded again");
    CHECK_EQUAL(fault_oracle_layout(image, COLOR_BIT, 0, 0), SRC);
}

static void run_again(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    VkCommandPool pool = create_pool(&app);
    VkCommandBuffer cb = allocate(&app, pool);
    for (int i = 0; i < 2 * WAY_COUNT; i++) {
        enum way way = (enum way)(i / 2);
        bool ended = i % 2 || way == WAY_BEGIN;
        VkDeviceMemory memory, other_memory;
        VkImage image = record_app_image(&app, &memory), other = record_app_image(&app, &other_memory);
        record_something(&app, cb, image, ended);
        give_up(&app, way, &pool, &cb);
        check_fresh(&app, cb, image);
        /* An image goes that it has used, and its handle may stand for another. */
        record_something(&app, cb, other, true);
        record_app_image_destroy(&app, other, other_memory);
        other = record_app_image(&app, &other_memory);
        give_up(&app, way, &pool, &cb);
        check_fresh(&app, cb, other);
        record_app_image_destroy(&app, image, memory);
        record_app_image_destroy(&app, other, other_memory);
    }
    vkDestroyCommandPool(app.device, pool, NULL);
    record_app_close(&app);
}

/* L41 */
static void test_again(void **state)
{
    struct record_options none = {0};
    (void)state;
    driver_set("oracle=1");
    run_complete(run_again, &none);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- Handles that come back --- */

#define TRIES 64

static void run_handles(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    uint32_t same = 0;
    for (int i = 0; i < TRIES; i++) {
        VkDeviceMemory memory;
        VkImage image = record_app_image(&app, &memory), before = image;
        VkCommandBuffer used = allocate(&app, app.pool), never = allocate(&app, app.pool);
        record_something(&app, used, image, true);
        record_something(&app, never, image, true);
        record_run(&app, used, "the first of a handle");
        record_app_image_destroy(&app, image, memory);
        /* `used` and `never` are invalid now, and still there. */
        image = record_app_image(&app, &memory);
        same += image == before;
        VkCommandBuffer cb = allocate(&app, app.pool);
        check_fresh(&app, cb, image);
        vkFreeCommandBuffers(app.device, app.pool, 3, (VkCommandBuffer[]){cb, never, used});
        record_app_image_destroy(&app, image, memory);
    }
#ifndef SANITIZED
    CHECK(same > 0);
#endif
    record_app_close(&app);
}

/* L39 */
static void test_handles(void **state)
{
    struct record_options none = {0};
    (void)state;
    driver_set("oracle=1");
    run_complete(run_handles, &none);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), TRIES);
}

/* --- Cycles --- */

static void submit(const struct record_app *app, VkCommandBuffer cb)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cb};
    CHECK_EQUAL(vkQueueSubmit(app->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    CHECK_EQUAL(vkQueueWaitIdle(app->queue), VK_SUCCESS);
}

/* Needs a patch, a repair, a rewriting and a merged call. */
static void record_cycle(const struct record_app *app, VkCommandBuffer cb, VkImage image, VkRenderPass pass,
                         VkFramebuffer framebuffer)
{
    const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                        .pLabelName = "cycle"};
    const struct record_vk *vk = &app->layer;
    begin(app, cb);
    vk->CmdBeginDebugUtilsLabelEXT(cb, &label);
    record_clear(vk, cb, image, ONE, DST);
    record_read(app, vk, cb, image, COLOR_BIT, SRC);
    record_move(vk, cb, image, ONE, DST, GENERAL);
    for (uint32_t i = 0; i < 4; i++)
        record_move(vk, cb, app->images[IMAGE_MANY + i], ONE, UNDEFINED, GENERAL);
    record_begin_pass(vk, cb, pass, framebuffer, VK_SUBPASS_CONTENTS_INLINE);
    vk->CmdEndRenderPass(cb);
    record_copy(vk, cb, image, SRC, app->images[IMAGE_MANY], DST);
    vk->CmdEndDebugUtilsLabelEXT(cb);
    end(app, cb);
}

static VkImageView create_view(const struct record_app *app, VkImage image)
{
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = RECORD_FORMAT,
                                  .subresourceRange = {COLOR_BIT, 0, 1, 0, 1}};
    VkImageView view;
    CHECK_EQUAL(vkCreateImageView(app->device, &info, NULL, &view), VK_SUCCESS);
    return view;
}

struct cycling {
    VkCommandPool pool;
    VkCommandBuffer cb;
};

static void cycle(const struct record_app *app, struct cycling *cycling, uint32_t n)
{
    VkDeviceMemory memory;
    VkImage image = record_app_image(app, &memory);
    VkImageView view = create_view(app, image);
    VkRenderPass pass = record_pass(app, RECORD_FORMAT, VK_SAMPLE_COUNT_1_BIT, TARGET, TARGET, SHADER, 0);
    VkFramebuffer framebuffer = record_framebuffer(app, pass, view, 1);
    record_cycle(app, cycling->cb, image, pass, framebuffer);
    submit(app, cycling->cb);
    vkDestroyFramebuffer(app->device, framebuffer, NULL);
    vkDestroyRenderPass(app->device, pass, NULL);
    vkDestroyImageView(app->device, view, NULL);
    if (n % 3)
        record_app_image_destroy(app, image, memory);
    give_up(app, (enum way)(n % WAY_COUNT), &cycling->pool, &cycling->cb);
    if (n % 3 == 0)
        record_app_image_destroy(app, image, memory);
}

static void run_cycles(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    struct cycling cycling = {.pool = create_pool(&app)};
    cycling.cb = allocate(&app, cycling.pool);
    uint32_t images = fault_live_objects(VK_OBJECT_TYPE_IMAGE);
    size_t warm = 0;
    for (uint32_t i = 0; i < CYCLES; i++) {
        cycle(&app, &cycling, i);
        if (i + 1 == CYCLES / 10)
            warm = memory_in_use();
    }
    size_t after = memory_in_use();
    CHECK_SAY(after < warm + 64 * 1024, "%zu bytes in use, then %zu", warm, after);
    CHECK_EQUAL(fault_live_objects(VK_OBJECT_TYPE_IMAGE), images);
    CHECK_EQUAL(fault_oracle_violations(FAULT_ORACLE_RULES), 0);
    vkDestroyCommandPool(app.device, cycling.pool, NULL);
    record_app_close(&app);
}

/* L41 */
static void test_cycles(void **state)
{
    struct record_options none = {0};
    (void)state;
    driver_set("journal=;oracle=1");
    run_complete(run_cycles, &none);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "rewritten"), CYCLES);
    CHECK(report_number("barriers", "submit_repairs") >= CYCLES);
}

/* --- Threads --- */

#define THREADS 16
#define SHARED 4

static pthread_mutex_t queue_locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

struct worker {
    const struct record_app *app;
    uint32_t number;
    pthread_t thread;
};

static void submit_locked(const struct record_app *app, uint32_t queue, VkCommandBuffer cb, VkSemaphore wait,
                          VkSemaphore signal, VkFence fence)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .waitSemaphoreCount = wait ? 1 : 0,
                         .pWaitSemaphores = &wait,
                         .pWaitDstStageMask = &stage,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &cb,
                         .signalSemaphoreCount = signal ? 1 : 0,
                         .pSignalSemaphores = &signal};
    pthread_mutex_lock(&queue_locks[queue]);
    VkResult result = vkQueueSubmit(queue ? app->second : app->queue, 1, &info, fence);
    pthread_mutex_unlock(&queue_locks[queue]);
    CHECK_EQUAL(result, VK_SUCCESS);
}

/* Writes an image of its own on one queue, reads it on the other, which waits: the transition for that is
 * forgotten. Reads images that all threads read. */
static void work_once(const struct record_app *app, VkCommandPool pool, VkImage own, VkSemaphore semaphore,
                      VkFence fence, uint32_t n)
{
    const struct record_vk *vk = &app->layer;
    VkCommandBuffer writer = allocate(app, pool), reader = allocate(app, pool);
    begin(app, writer);
    if (n % 4 == 0)
        record_move(vk, writer, own, ONE, UNDEFINED, DST);
    record_clear(vk, writer, own, ONE, DST);
    record_read(app, vk, writer, own, COLOR_BIT, SRC);
    record_clear(vk, writer, own, ONE, DST);
    end(app, writer);
    begin(app, reader);
    record_read(app, vk, reader, own, COLOR_BIT, SRC);
    for (uint32_t i = 0; i < SHARED; i++)
        record_read(app, vk, reader, app->images[IMAGE_MANY + i], COLOR_BIT, SRC);
    end(app, reader);
    submit_locked(app, n % 2, writer, VK_NULL_HANDLE, semaphore, VK_NULL_HANDLE);
    submit_locked(app, 1 - n % 2, reader, semaphore, VK_NULL_HANDLE, fence);
    CHECK_EQUAL(vkWaitForFences(app->device, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    CHECK_EQUAL(vkResetFences(app->device, 1, &fence), VK_SUCCESS);
    CHECK_EQUAL(vkResetCommandPool(app->device, pool, 0), VK_SUCCESS);
    vkFreeCommandBuffers(app->device, pool, 2, (VkCommandBuffer[]){writer, reader});
}

static void *work(void *context)
{
    const struct worker *worker = context;
    const struct record_app *app = worker->app;
    VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSemaphore semaphore;
    VkFence fence;
    VkCommandPool pool = create_pool(app);
    CHECK_EQUAL(vkCreateSemaphore(app->device, &semaphore_info, NULL, &semaphore), VK_SUCCESS);
    CHECK_EQUAL(vkCreateFence(app->device, &fence_info, NULL, &fence), VK_SUCCESS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        VkDeviceMemory memory;
        VkImage own = record_app_image(app, &memory);
        work_once(app, pool, own, semaphore, fence, worker->number + i);
        record_app_image_destroy(app, own, memory);
    }
    vkDestroySemaphore(app->device, semaphore, NULL);
    vkDestroyFence(app->device, fence, NULL);
    vkDestroyCommandPool(app->device, pool, NULL);
    return NULL;
}

static void prepare_shared(const struct record_app *app)
{
    VkCommandBuffer cb = allocate(app, app->pool);
    begin(app, cb);
    for (uint32_t i = 0; i < SHARED; i++) {
        record_move(&app->layer, cb, app->images[IMAGE_MANY + i], ONE, UNDEFINED, DST);
        record_clear(&app->layer, cb, app->images[IMAGE_MANY + i], ONE, DST);
        record_move(&app->layer, cb, app->images[IMAGE_MANY + i], ONE, DST, SRC);
    }
    end(app, cb);
    submit(app, cb);
}

static void run_threads(void *context)
{
    struct record_app app;
    struct worker workers[THREADS];
    record_app_open(&app, context);
    prepare_shared(&app);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.app = &app, .number = i};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    CHECK_EQUAL(fault_oracle_violations(FAULT_ORACLE_RULES), 0);
    record_app_close(&app);
}

/* L36, L51 */
static void test_threads(void **state)
{
    struct record_options none = {0};
    (void)state;
    driver_set("journal=;oracle=1");
    run_complete(run_threads, &none);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "reported"), 0);
    /* One before each reader, and before those writers that begin without a transition. */
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), THREADS * ROUNDS + THREADS * ROUNDS * 3 / 4);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), THREADS * ROUNDS * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_again),
        HARNESS_TEST(test_handles),
        HARNESS_TEST(test_cycles),
        HARNESS_TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
