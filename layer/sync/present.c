/* vkQueuePresentKHR: images that aren't in PRESENT_SRC are brought there by a submit in front of the present.
 */
#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync/grow.h"
#include "sync/pass.h"
#include "sync/patch.h"
#include "sync/queue.h"
#include "sync/submission.h"
#include "sync/submit_arrays.h"
#include "sync_commands.h"

/* After it was presented: nothing waits for what was done before, since its next acquire is what one waits
 * for. */
static void set_presented(void *context, const struct subresource_range *range, void *value)
{
    struct access *access = value;
    uint8_t family = access->family;
    (void)context, (void)range;
    if (access->flags)
        return;
    *access = access_initial(VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    access->family = family;
}

/* Under sync->lock. A present is what a command buffer would be that uses the image in PRESENT_SRC. */
static void use_image(struct submission *submission, struct image *image)
{
    struct contract_image contract = {.image = image, .aspects = {image->aspects[0]}};
    contract.first = (struct contract_state){
        .need = {.layout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                 .command = COMMAND_QueuePresentKHR,
                 .flags = NEED_SET,
                 .family = ACCESS_NO_FAMILY,
                 .scope = {VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT, 0}},
        .access = access_initial(VK_IMAGE_LAYOUT_PRESENT_SRC_KHR),
    };
    subresource_map_init(&contract.map, &image->state.shape, sizeof(struct contract_state), &contract.first,
                         NULL);
    submission_use_present(submission, &contract);
    struct subresource_range all = subresource_range_all(&image->state.shape);
    if (!subresource_map_update(&image->state, &all, set_presented, NULL)) {
        static const struct access unknown = {.flags = ACCESS_UNKNOWN};
        subresource_map_set_all(&image->state, &unknown);
    }
    image->acquired = false;
}

/* NULL where it isn't known. Should it become known before its next acquire, it isn't acquired then. */
static struct image *image_of(struct device_sync *sync, VkSwapchainKHR handle, uint32_t index)
{
    struct swapchain *swapchain = swapchain_find(sync, handle);
    if (!swapchain)
        return NULL;
    if (index < 64)
        swapchain->early &= ~((uint64_t)1 << index);
    return index < swapchain->image_count ? swapchain->images[index] : NULL;
}

static void look_at_present(struct submission *submission, const VkPresentInfoKHR *info)
{
    VkQueueFlags with_barriers = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    struct device_sync *sync = submission->queue->sync;
    submission_begin_batch(submission, 0, submission->queue->flags & with_barriers);
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++)
        submission_wait(submission, info->pWaitSemaphores[i], 0, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    for (uint32_t i = 0; i < info->swapchainCount; i++) {
        struct image *image = image_of(sync, info->pSwapchains[i], info->pImageIndices[i]);
        if (image && image_is_tracked(image))
            use_image(submission, image);
    }
    if (!submission->repair_count)
        submission_forget_waits(submission);
}

/* --- The repair --- */

static VkSemaphore swap_semaphore(const struct image *image, VkSemaphore semaphore)
{
    struct swapchain *swapchain = image->swapchain;
    uint32_t index = image->swapchain_index;
    pthread_mutex_lock(&image->sync->lock);
    if (index < swapchain->repaired_count) {
        if (semaphore)
            swapchain->repaired[index] = semaphore;
        semaphore = swapchain->repaired[index];
    }
    pthread_mutex_unlock(&image->sync->lock);
    return semaphore;
}

/* VK_NULL_HANDLE if it can't be made. Made once: presents of one swapchain don't come at the same time. */
static VkSemaphore semaphore_of(const struct image *image)
{
    struct device *device = image->sync->device;
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore = swap_semaphore(image, VK_NULL_HANDLE);
    if (semaphore || device->next.CreateSemaphore(device->handle, &info, NULL, &semaphore) != VK_SUCCESS)
        return semaphore;
    return swap_semaphore(image, semaphore);
}

/* One semaphore for each image that is repaired. */
static bool collect_semaphores(struct submission *submission)
{
    submission->semaphore_count = 0;
    for (uint32_t i = 0; i < submission->repair_count; i++) {
        const struct image *image = submission->repairs[i].image;
        if (i > 0 && submission->repairs[i - 1].image == image)
            continue;
        if (!grow(&submission->semaphores, &submission->semaphore_capacity, submission->semaphore_count + 1,
                  sizeof(VkSemaphore)))
            return false;
        submission->semaphores[submission->semaphore_count] = semaphore_of(image);
        if (!submission->semaphores[submission->semaphore_count++])
            return false;
    }
    return true;
}

/* `count` times ALL_COMMANDS; NULL on out of memory. */
static const VkPipelineStageFlags *all_commands(struct submission *submission, uint32_t count)
{
    if (!grow(&submission->stages, &submission->stage_capacity, count ? count : 1,
              sizeof(VkPipelineStageFlags)))
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        submission->stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    return submission->stages;
}

static bool submit_repairs(struct submission *submission, const VkPresentInfoKHR *info)
{
    const VkPipelineStageFlags *stages = all_commands(submission, info->waitSemaphoreCount);
    if (!stages || !collect_semaphores(submission) || !submit_arrays_patch(submission))
        return false;
    struct queue *queue = submission->queue;
    VkCommandBuffer patch = submit_arrays_first_patch(submission);
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = info->waitSemaphoreCount,
        .pWaitSemaphores = info->pWaitSemaphores,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &patch,
        .signalSemaphoreCount = submission->semaphore_count,
        .pSignalSemaphores = submission->semaphores,
    };
    VkResult result = queue->sync->device->next.QueueSubmit(queue->handle, 1, &submit, VK_NULL_HANDLE);
    patch_pool_submitted(queue->patches, result);
    return result == VK_SUCCESS;
}

/* Nothing is repaired: the present goes down as it came. */
static void give_up(struct submission *submission)
{
    struct device_sync *sync = submission->queue->sync;
    submission_abandon(submission);
    queues_lock(sync);
    submission_forget_waits(submission);
    queues_unlock(sync);
}

/* The present was refused, so that the application will wait for its semaphores again: they are signalled
 * once more. The images are in PRESENT_SRC, and still the application's. */
static void give_back_semaphores(struct submission *submission, const VkPresentInfoKHR *info)
{
    struct queue *queue = submission->queue;
    struct queue_set *set = queue->sync->queue_set;
    const VkPipelineStageFlags *stages = all_commands(submission, submission->semaphore_count);
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = submission->semaphore_count,
        .pWaitSemaphores = submission->semaphores,
        .pWaitDstStageMask = stages,
        .signalSemaphoreCount = info->waitSemaphoreCount,
        .pSignalSemaphores = info->pWaitSemaphores,
    };
    bool submitted = stages && queue->sync->device->next.QueueSubmit(queue->handle, 1, &submit,
                                                                     VK_NULL_HANDLE) == VK_SUCCESS;
    queues_lock(queue->sync);
    for (uint32_t i = 0; submitted && i < info->waitSemaphoreCount; i++)
        order_signal_binary(set->order, queue->index, HANDLE_KEY(info->pWaitSemaphores[i]));
    submission_undo_presented(submission);
    queues_unlock(queue->sync);
}

/* "If the presentation request is rejected by the presentation engine with an error ..., the set of queue
 * operations are still considered to be enqueued". */
static bool was_enqueued(VkResult result)
{
    return result >= 0 || result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_ERROR_SURFACE_LOST_KHR ||
           result == VK_ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT;
}

static VkResult present_repaired(struct submission *submission, PFN_vkQueuePresentKHR next,
                                 const VkPresentInfoKHR *info)
{
    VkPresentInfoKHR copy = *info;
    copy.waitSemaphoreCount = submission->semaphore_count;
    copy.pWaitSemaphores = submission->semaphores;
    atomic_fetch_add_explicit(&submission->queue->sync->counters.present_repairs, submission->semaphore_count,
                              memory_order_relaxed);
    VkResult result = next(submission->queue->handle, &copy);
    if (!was_enqueued(result))
        give_back_semaphores(submission, info);
    return result;
}

VkResult hook_QueuePresentKHR(struct device *self, PFN_vkQueuePresentKHR next, VkQueue queue,
                              const VkPresentInfoKHR *pPresentInfo)
{
    struct queue *known = queue_find(self->sync, queue);
    queues_lock(self->sync);
    if (!known) {
        submission_forget_all(self->sync);
        queues_unlock(self->sync);
        return next(queue, pPresentInfo);
    }
    struct submission *submission = known->submission;
    submission_begin(submission);
    look_at_present(submission, pPresentInfo);
    queues_unlock(self->sync);

    bool repaired = submission->repair_count && submit_repairs(submission, pPresentInfo);
    if (submission->repair_count && !repaired)
        give_up(submission);
    submission_report(submission);
    VkResult result = repaired ? present_repaired(submission, next, pPresentInfo) : next(queue, pPresentInfo);
    if (!repaired && !was_enqueued(result))
        submission_undo(submission);
    instance_deliver_messages(self->instance);
    return result;
}
