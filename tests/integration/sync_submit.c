/* What submits and presents need, and what the layer puts into them. L02, L16, L19, L20, L22, L26, L28, L37,
 * L38, L45, L46. */
#include "submit_app.h"

#include <pthread.h>

static void check_patched(VkImage image, VkImageLayout from, VkImageLayout to)
{
    CHECK(submit_app_was_patched(image, from, to, NULL));
}

/* --- One queue --- */

static void run_next_submit(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkCommandBuffer writer = submit_app_begin(&app, FAMILY_ALL);
    submit_app_move(writer, image, UNDEFINED, DST);
    submit_app_clear(writer, image, DST);
    submit_app_end(writer);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    VkImageMemoryBarrier2 barrier;
    submit_app_submit(app.queue, writer, NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_submit(app.queue, reader, NULL);
    CHECK(submit_app_was_patched(image, DST, SRC, &barrier));
    CHECK(barrier.srcAccessMask != 0 && barrier.dstAccessMask & VK_ACCESS_2_TRANSFER_READ_BIT);
    CHECK(!(barrier.srcStageMask & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT));
    submit_app_submit(app.queue, reader, NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_close(&app);
}

/* L02, L16 */
static void test_next_submit(void **state)
{
    (void)state;
    run_complete(run_next_submit, NULL);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 1);
}

static void run_correct(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkCommandBuffer start = submit_app_mover(&app, image, UNDEFINED, SRC);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    submit_app_submit(app.queue, start, NULL);
    CHECK(submit_app_was_unchanged());
    for (int i = 0; i < 20; i++) {
        submit_app_submit(app.queue, reader, NULL);
        CHECK(submit_app_was_unchanged());
    }
    submit_app_close(&app);
}

/* L38 */
static void test_correct(void **state)
{
    (void)state;
    run_complete(run_correct, NULL);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 0);
    CHECK_EQUAL(report_count("repair", ""), 0);
}

static void run_resubmitted(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkCommandBuffer start = submit_app_mover(&app, image, UNDEFINED, DST);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    VkCommandBuffer general = submit_app_mover(&app, image, SRC, GENERAL);
    submit_app_submit(app.queue, start, NULL);
    submit_app_submit(app.queue, reader, NULL);
    check_patched(image, DST, SRC);
    submit_app_submit(app.queue, general, NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_submit(app.queue, reader, NULL);
    check_patched(image, GENERAL, SRC);
    submit_app_submit(app.queue, reader, NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_close(&app);
}

/* L26 */
static void test_resubmitted(void **state)
{
    (void)state;
    run_complete(run_resubmitted, NULL);
}

static void run_submit2(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkCommandBuffer buffers[2] = {submit_app_mover(&app, image, UNDEFINED, DST),
                                  submit_app_reader(&app, image)};
    VkCommandBufferSubmitInfo infos[2];
    for (int i = 0; i < 2; i++)
        infos[i] = (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                               .commandBuffer = buffers[i],
                                               .deviceMask = (uint32_t)i};
    VkSubmitInfo2 batch = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2, .commandBufferInfoCount = 2, .pCommandBufferInfos = infos};
    struct fault_record record;
    CHECK_EQUAL(vkQueueSubmit2(app.queue, 1, &batch, VK_NULL_HANDLE), VK_SUCCESS);
    CHECK(fault_journal_last("vkQueueSubmit2", &record));
    const VkSubmitInfo2 *found = record.infos;
    CHECK(found != &batch);
    CHECK_EQUAL(found->commandBufferInfoCount, 3);
    CHECK(found->pCommandBufferInfos[0].commandBuffer == buffers[0]);
    CHECK(found->pCommandBufferInfos[2].commandBuffer == buffers[1]);
    CHECK_EQUAL(found->pCommandBufferInfos[1].deviceMask, 1);
    CHECK_EQUAL(vkQueueSubmit2(app.queue, 1,
                               &(VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                                .commandBufferInfoCount = 1,
                                                .pCommandBufferInfos = &infos[1]},
                               VK_NULL_HANDLE),
                VK_SUCCESS);
    CHECK(fault_journal_last("vkQueueSubmit2", &record));
    CHECK(((const VkSubmitInfo2 *)record.infos)->pCommandBufferInfos == &infos[1]);
    submit_app_close(&app);
}

static void test_submit2(void **state)
{
    (void)state;
    run_complete(run_submit2, NULL);
}

/* A patch may not go where command buffers are counted, or what stands in the chain isn't known. */
static void run_unpatchable(void *context)
{
    struct submit_app app;
    const uint32_t masks[1] = {1};
    VkDeviceGroupSubmitInfo group = {.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBufferDeviceMasks = masks};
    VkPerformanceQuerySubmitInfoKHR query = {.sType = VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR};
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app), other = submit_app_image(&app);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST), NULL);
    submit_app_submit(app.queue, submit_app_mover(&app, other, UNDEFINED, DST), NULL);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    submit_app_submit(app.queue, reader, &(struct submit_sync){.chain = &group});
    CHECK(submit_app_was_unchanged());
    /* Nothing is known of the image afterwards but what comes later. */
    submit_app_submit(app.queue, submit_app_mover(&app, image, DST, GENERAL), NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_submit(app.queue, reader, NULL);
    check_patched(image, GENERAL, SRC);
    submit_app_submit(app.queue, submit_app_reader(&app, other), &(struct submit_sync){.chain = &query});
    check_patched(other, DST, SRC);
    submit_app_close(&app);
}

static void test_unpatchable(void **state)
{
    (void)state;
    run_complete(run_unpatchable, NULL);
    CHECK_EQUAL(report_number("barriers", "unpatchable"), 1);
}

static void run_reported(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST), NULL);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    for (int i = 0; i < 3; i++) {
        submit_app_submit(app.queue, reader, NULL);
        CHECK(submit_app_was_unchanged());
    }
    submit_app_close(&app);
}

/* Report mode goes on as if it had repaired: one fault. */
static void test_report_mode(void **state)
{
    (void)state;
    layer_set("BARRIERS", "report");
    run_complete(run_reported, NULL);
    CHECK_EQUAL(report_number("barriers", "reported"), 1);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 0);
}

/* --- Calls that fail --- */

static void run_failing_submit(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST), NULL);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    CHECK_EQUAL(submit_app_try(app.queue, reader, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    submit_app_submit(app.queue, reader, NULL);
    check_patched(image, DST, SRC);
    submit_app_submit(app.queue, reader, NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_close(&app);
}

/* L45 */
static void test_failing_submit(void **state)
{
    (void)state;
    driver_set("fault=vkQueueSubmit,call=2,result=-1");
    run_complete(run_failing_submit, NULL);
}

static void run_failing_present(void *context)
{
    struct submit_app app;
    VkImage images[2];
    (void)context;
    submit_app_open(&app);
    submit_app_swapchain(&app, images);
    VkSemaphore acquired = submit_app_semaphore(&app), rendered = submit_app_semaphore(&app);
    uint32_t index = submit_app_acquire(&app, acquired);
    submit_app_submit(app.queue, submit_app_mover(&app, images[index], UNDEFINED, DST),
                      &(struct submit_sync){.wait = acquired, .signal = rendered});
    CHECK_EQUAL(submit_app_present(&app, app.queue, index, rendered), VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK_EQUAL(submit_app_present(&app, app.queue, index, rendered), VK_SUCCESS);
    CHECK_EQUAL(vkQueueWaitIdle(app.queue), VK_SUCCESS);
    submit_app_close(&app);
}

/* L45: the semaphore that it waits for is there once more, and the image needn't be repaired again. */
static void test_failing_present(void **state)
{
    (void)state;
    driver_set("fault=vkQueuePresentKHR,call=1,result=-1");
    run_complete(run_failing_present, NULL);
    CHECK_EQUAL(report_number("barriers", "present_repairs"), 1);
}

/* The submit that repairs is the second: the present goes down as it came. What that finds is repaired when
 * it is tried again. */
static void test_failing_present_repair(void **state)
{
    (void)state;
    driver_set("fault=vkQueueSubmit,call=2,result=-1;fault=vkQueuePresentKHR,call=1,result=-1");
    run_complete(run_failing_present, NULL);
    CHECK_EQUAL(report_number("barriers", "present_repairs"), 1);
}

/* --- Presents --- */

static void run_presents(void *context)
{
    struct submit_app app;
    VkImage images[2];
    (void)context;
    submit_app_open(&app);
    submit_app_swapchain(&app, images);
    VkSemaphore acquired = submit_app_semaphore(&app), rendered = submit_app_semaphore(&app);
    for (int i = 0; i < 6; i++) {
        uint32_t index = submit_app_acquire(&app, acquired);
        VkCommandBuffer commands = submit_app_mover(&app, images[index], i < 2 ? UNDEFINED : PRESENT, DST);
        submit_app_submit(app.queue, commands,
                          &(struct submit_sync){
                              .wait = acquired, .signal = rendered, .stage = VK_PIPELINE_STAGE_TRANSFER_BIT});
        CHECK(submit_app_was_unchanged());
        CHECK_EQUAL(submit_app_present(&app, app.queue, index, rendered), VK_SUCCESS);
        CHECK(submit_app_was_repaired(images[index], DST));
        CHECK_EQUAL(fault_journal_count("vkQueueSubmit"), 2 * (i + 1));
        CHECK_EQUAL(vkQueueWaitIdle(app.queue), VK_SUCCESS);
    }
    submit_app_close(&app);
}

/* L19: presented in the wrong layout, with and without having been used. */
static void test_presents(void **state)
{
    (void)state;
    run_complete(run_presents, NULL);
    CHECK_EQUAL(report_number("barriers", "present_repairs"), 6);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 0);
}

static void run_correct_presents(void *context)
{
    struct submit_app app;
    VkImage images[2];
    (void)context;
    submit_app_open(&app);
    submit_app_swapchain(&app, images);
    VkSemaphore acquired = submit_app_semaphore(&app), rendered = submit_app_semaphore(&app);
    uint32_t submits = 0;
    for (int i = 0; i < 6; i++) {
        uint32_t index = submit_app_acquire(&app, acquired);
        VkCommandBuffer commands = submit_app_mover(&app, images[index], UNDEFINED, PRESENT);
        submit_app_submit(app.queue, commands, &(struct submit_sync){.wait = acquired, .signal = rendered});
        CHECK(submit_app_was_unchanged());
        CHECK_EQUAL(submit_app_present(&app, app.queue, index, rendered), VK_SUCCESS);
        CHECK_EQUAL(fault_journal_count("vkQueueSubmit"), ++submits);
    }
    submit_app_close(&app);
}

static void test_correct_presents(void **state)
{
    (void)state;
    run_complete(run_correct_presents, NULL);
    CHECK_EQUAL(report_number("barriers", "present_repairs"), 0);
}

static void run_after_acquire(void *context)
{
    struct submit_app app;
    VkImage images[2];
    (void)context;
    submit_app_open(&app);
    submit_app_swapchain(&app, images);
    VkSemaphore acquired = submit_app_semaphore(&app), rendered = submit_app_semaphore(&app);
    for (int i = 0; i < 2; i++) {
        uint32_t index = submit_app_acquire(&app, acquired);
        submit_app_submit(app.queue, submit_app_mover(&app, images[index], UNDEFINED, PRESENT),
                          &(struct submit_sync){
                              .wait = acquired, .signal = rendered, .stage = VK_PIPELINE_STAGE_TRANSFER_BIT});
        CHECK_EQUAL(submit_app_present(&app, app.queue, index, rendered), VK_SUCCESS);
    }
    uint32_t index = submit_app_acquire(&app, acquired);
    VkImageMemoryBarrier2 barrier;
    submit_app_submit(
        app.queue, submit_app_reader(&app, images[index]),
        &(struct submit_sync){.wait = acquired, .stage = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT});
    CHECK(submit_app_was_patched(images[index], PRESENT, SRC, &barrier));
    CHECK(barrier.srcStageMask & VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT);
    CHECK(!(barrier.srcStageMask & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT));
    /* One that isn't acquired is left alone. */
    submit_app_submit(app.queue, submit_app_mover(&app, images[1 - index], UNDEFINED, GENERAL), NULL);
    submit_app_submit(app.queue, submit_app_reader(&app, images[1 - index]), NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_close(&app);
}

/* L20, L22 */
static void test_after_acquire(void **state)
{
    (void)state;
    run_complete(run_after_acquire, NULL);
}

/* --- Several queues --- */

static void run_two_queues(void *context)
{
    struct submit_app app;
    const bool *ordered = context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkSemaphore semaphore = submit_app_semaphore(&app);
    struct submit_sync first = {.signal = *ordered ? semaphore : VK_NULL_HANDLE};
    struct submit_sync second = {.wait = *ordered ? semaphore : VK_NULL_HANDLE};
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST), &first);
    submit_app_submit(app.second, submit_app_reader(&app, image), &second);
    if (*ordered)
        check_patched(image, DST, SRC);
    else
        CHECK(submit_app_was_unchanged());
    submit_app_close(&app);
}

/* L46 */
static void test_two_queues(void **state)
{
    bool ordered = true;
    (void)state;
    run_complete(run_two_queues, &ordered);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 1);
    ordered = false;
    run_complete(run_two_queues, &ordered);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 0);
    CHECK_EQUAL(report_number("barriers", "reported"), 1);
}

/* A fence that the host has waited for orders as well. */
static void run_fence(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST),
                      &(struct submit_sync){.fence = app.fence});
    CHECK_EQUAL(vkWaitForFences(app.device, 1, &app.fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    submit_app_submit(app.second, submit_app_reader(&app, image), NULL);
    check_patched(image, DST, SRC);
    submit_app_close(&app);
}

static void test_fence(void **state)
{
    (void)state;
    run_complete(run_fence, NULL);
}

static void run_ownership(void *context)
{
    struct submit_app app;
    const bool *acquires = context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkSemaphore semaphore = submit_app_semaphore(&app);
    VkCommandBuffer upload = submit_app_begin(&app, FAMILY_TRANSFER);
    submit_app_move(upload, image, UNDEFINED, DST);
    submit_app_clear(upload, image, DST);
    submit_app_transfer_ownership(&app, upload, image, DST, FAMILY_TRANSFER, FAMILY_ALL);
    submit_app_end(upload);
    VkCommandBuffer reader = submit_app_begin(&app, FAMILY_ALL);
    if (*acquires) {
        submit_app_transfer_ownership(&app, reader, image, DST, FAMILY_TRANSFER, FAMILY_ALL);
        submit_app_move(reader, image, DST, SRC);
    }
    submit_app_read(&app, reader, image, SRC);
    submit_app_end(reader);
    submit_app_submit(app.transfer, upload, &(struct submit_sync){.signal = semaphore});
    CHECK(submit_app_was_unchanged());
    submit_app_submit(app.queue, reader, &(struct submit_sync){.wait = semaphore});
    CHECK(submit_app_was_unchanged());
    submit_app_close(&app);
}

/* L28 */
static void test_ownership(void **state)
{
    bool acquires = true;
    (void)state;
    run_complete(run_ownership, &acquires);
    CHECK_EQUAL(report_number("barriers", "reported"), 0);
    acquires = false;
    run_complete(run_ownership, &acquires);
    CHECK_EQUAL(report_number("barriers", "reported"), 1);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 0);
}

/* --- Timelines --- */

/* The waiting submit comes first, by the application's intent: what it finds isn't what the device's state
 * says. */
static void run_wait_before_signal(void *context)
{
    struct submit_app app;
    const bool *by_host = context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkSemaphore timeline = submit_app_timeline(&app, 1);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST), NULL);
    CHECK_EQUAL(vkQueueWaitIdle(app.queue), VK_SUCCESS);
    VkCommandBuffer reader = submit_app_reader(&app, image);
    submit_app_submit(app.second, reader, &(struct submit_sync){.wait = timeline, .wait_value = 2});
    CHECK(submit_app_was_unchanged());
    /* Behind it on that queue, nothing is known either. */
    submit_app_submit(app.second, reader, NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_submit(app.queue, submit_app_mover(&app, image, DST, SRC),
                      &(struct submit_sync){.signal = *by_host ? VK_NULL_HANDLE : timeline,
                                            .signal_value = *by_host ? 0 : 2});
    CHECK(submit_app_was_unchanged());
    if (*by_host) {
        VkSemaphoreSignalInfo info = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 2};
        CHECK_EQUAL(vkSignalSemaphore(app.device, &info), VK_SUCCESS);
    }
    CHECK_EQUAL(vkDeviceWaitIdle(app.device), VK_SUCCESS);
    /* From here on it is known again. */
    submit_app_submit(app.second, submit_app_mover(&app, image, SRC, GENERAL), NULL);
    CHECK(submit_app_was_unchanged());
    submit_app_submit(app.second, reader, NULL);
    check_patched(image, GENERAL, SRC);
    submit_app_close(&app);
}

/* L37 */
static void test_wait_before_signal(void **state)
{
    bool by_host = false;
    (void)state;
    run_complete(run_wait_before_signal, &by_host);
    by_host = true;
    run_complete(run_wait_before_signal, &by_host);
}

static void run_timeline(void *context)
{
    struct submit_app app;
    (void)context;
    submit_app_open(&app);
    VkImage image = submit_app_image(&app);
    VkSemaphore timeline = submit_app_timeline(&app, 0);
    submit_app_submit(app.queue, submit_app_mover(&app, image, UNDEFINED, DST),
                      &(struct submit_sync){.signal = timeline, .signal_value = 5});
    submit_app_submit(app.second, submit_app_reader(&app, image),
                      &(struct submit_sync){.wait = timeline, .wait_value = 4});
    check_patched(image, DST, SRC);
    submit_app_close(&app);
}

static void test_timeline(void **state)
{
    (void)state;
    run_complete(run_timeline, NULL);
}

/* --- Threads --- */

#define ROUNDS 100

struct submitter {
    struct submit_app *app;
    VkQueue queue;
    pthread_mutex_t *mutex; /* the application's own, of that queue */
    VkCommandBuffer to_general, reader;
};

static void *submit_in_turn(void *argument)
{
    struct submitter *submitter = argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(submitter->mutex);
        submit_app_submit(submitter->queue, submitter->to_general, NULL);
        submit_app_submit(submitter->queue, submitter->reader, NULL);
        pthread_mutex_unlock(submitter->mutex);
    }
    return NULL;
}

static void run_threads(void *context)
{
    struct submit_app app;
    pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    struct submitter submitters[4];
    pthread_t threads[4];
    (void)context;
    submit_app_open(&app);
    for (int i = 0; i < 4; i++) {
        VkImage image = submit_app_image(&app);
        submitters[i] = (struct submitter){.app = &app,
                                           .queue = i % 2 ? app.second : app.queue,
                                           .mutex = &mutexes[i % 2],
                                           .to_general = submit_app_mover(&app, image, UNDEFINED, GENERAL),
                                           .reader = submit_app_reader(&app, image)};
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, submit_in_turn, &submitters[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    submit_app_close(&app);
}

/* L36, L51 */
static void test_threads(void **state)
{
    (void)state;
    run_complete(run_threads, NULL);
    CHECK_EQUAL(report_number("barriers", "submit_repairs"), 4 * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_next_submit),
        HARNESS_TEST(test_correct),
        HARNESS_TEST(test_resubmitted),
        HARNESS_TEST(test_submit2),
        HARNESS_TEST(test_unpatchable),
        HARNESS_TEST(test_report_mode),
        HARNESS_TEST(test_failing_submit),
        HARNESS_TEST(test_failing_present),
        HARNESS_TEST(test_failing_present_repair),
        HARNESS_TEST(test_presents),
        HARNESS_TEST(test_correct_presents),
        HARNESS_TEST(test_after_acquire),
        HARNESS_TEST(test_two_queues),
        HARNESS_TEST(test_fence),
        HARNESS_TEST(test_ownership),
        HARNESS_TEST(test_wait_before_signal),
        HARNESS_TEST(test_timeline),
        HARNESS_TEST(test_threads),
    };
    return cmocka_run_group_tests_name("sync_submit", tests, NULL, NULL);
}
