/* vkQueueSubmit, vkQueueSubmit2, vkQueueBindSparse. */
#include "chain.h"
#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync/patch.h"
#include "sync/queue.h"
#include "sync/submission.h"
#include "sync/submit_arrays.h"
#include "sync/submit_chain.h"

static void use_buffer(struct submission *submission, VkCommandBuffer handle, uint32_t index)
{
    struct device_sync *sync = submission->queue->sync;
    const struct command_buffer *buffer = command_buffer_find(sync, handle);
    if (buffer && !buffer->failed)
        submission_use_buffer(submission, buffer, index);
    else
        submission_forget_all(sync);
}

static uint64_t value_at(const uint64_t *values, uint32_t count, uint32_t index)
{
    return values && index < count ? values[index] : 0;
}

static void look_at_batch(struct submission *submission, uint32_t index, const VkSubmitInfo *info)
{
    static const VkTimelineSemaphoreSubmitInfo none;
    const VkTimelineSemaphoreSubmitInfo *timeline =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    if (!timeline)
        timeline = &none;
    submission_begin_batch(submission, index, submit_chain_patchable(info->pNext));
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++)
        submission_wait(submission, info->pWaitSemaphores[i],
                        value_at(timeline->pWaitSemaphoreValues, timeline->waitSemaphoreValueCount, i),
                        info->pWaitDstStageMask[i]);
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        use_buffer(submission, info->pCommandBuffers[i], i);
    for (uint32_t i = 0; i < info->signalSemaphoreCount; i++)
        submission_signal(submission, info->pSignalSemaphores[i],
                          value_at(timeline->pSignalSemaphoreValues, timeline->signalSemaphoreValueCount, i));
}

static bool batch2_patchable(const VkSubmitInfo2 *info)
{
    if (info->flags || !submit_chain_patchable(info->pNext))
        return false;
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        if (info->pCommandBufferInfos[i].pNext || info->pCommandBufferInfos[i].deviceMask > 1)
            return false;
    return true;
}

static void look_at_batch2(struct submission *submission, uint32_t index, const VkSubmitInfo2 *info)
{
    submission_begin_batch(submission, index, batch2_patchable(info));
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++)
        submission_wait(submission, info->pWaitSemaphoreInfos[i].semaphore,
                        info->pWaitSemaphoreInfos[i].value, info->pWaitSemaphoreInfos[i].stageMask);
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        use_buffer(submission, info->pCommandBufferInfos[i].commandBuffer, i);
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        submission_signal(submission, info->pSignalSemaphoreInfos[i].semaphore,
                          info->pSignalSemaphoreInfos[i].value);
}

static void look_at_binds(struct submission *submission, uint32_t index, const VkBindSparseInfo *info)
{
    static const VkTimelineSemaphoreSubmitInfo none;
    const VkTimelineSemaphoreSubmitInfo *timeline =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    if (!timeline)
        timeline = &none;
    submission_begin_batch(submission, index, false);
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++)
        submission_wait(submission, info->pWaitSemaphores[i],
                        value_at(timeline->pWaitSemaphoreValues, timeline->waitSemaphoreValueCount, i),
                        VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    for (uint32_t i = 0; i < info->signalSemaphoreCount; i++)
        submission_signal(submission, info->pSignalSemaphores[i],
                          value_at(timeline->pSignalSemaphoreValues, timeline->signalSemaphoreValueCount, i));
}

/* --- The calls --- */

/* Takes sync->lock. NULL where the queue isn't known: then the lock isn't held. */
static struct submission *begin(struct device_sync *sync, VkQueue handle)
{
    struct queue *queue = queue_find(sync, handle);
    queues_lock(sync);
    if (queue) {
        submission_begin(queue->submission);
        return queue->submission;
    }
    submission_forget_all(sync);
    queues_unlock(sync);
    return NULL;
}

static void end(struct submission *submission, VkFence fence)
{
    if (fence)
        submission_signal_fence(submission, fence);
    queues_unlock(submission->queue->sync);
}

/* After the patches were recorded: the arrays that name them could not be made. */
static void take_back(struct submission *submission)
{
    patch_pool_submitted(submission->queue->patches, VK_ERROR_OUT_OF_HOST_MEMORY);
    submission_abandon(submission);
}

static bool patch(struct submission *submission)
{
    if (!submission->repair_count)
        return false;
    if (submit_arrays_patch(submission))
        return true;
    submission_abandon(submission);
    return false;
}

static void submitted(struct submission *submission, bool patched, VkResult result)
{
    struct sync_counters *counters = &submission->queue->sync->counters;
    if (patched)
        patch_pool_submitted(submission->queue->patches, result);
    if (patched && result == VK_SUCCESS) {
        atomic_fetch_add_explicit(&counters->patches, submit_arrays_patch_count(submission),
                                  memory_order_relaxed);
        atomic_fetch_add_explicit(&counters->submit_repairs, submit_arrays_barrier_count(submission),
                                  memory_order_relaxed);
    }
    if (result != VK_SUCCESS)
        submission_undo(submission);
}

VkResult hook_QueueSubmit(struct device *self, PFN_vkQueueSubmit next, VkQueue queue, uint32_t submitCount,
                          const VkSubmitInfo *pSubmits, VkFence fence)
{
    struct submission *submission = begin(self->sync, queue);
    if (!submission)
        return next(queue, submitCount, pSubmits, fence);
    for (uint32_t i = 0; i < submitCount; i++)
        look_at_batch(submission, i, &pSubmits[i]);
    end(submission, fence);

    bool patched = patch(submission);
    const VkSubmitInfo *infos = patched ? submit_arrays_copy(submission, submitCount, pSubmits) : pSubmits;
    if (patched && !infos) {
        take_back(submission);
        patched = false;
        infos = pSubmits;
    }
    submission_report(submission);
    VkResult result = next(queue, submitCount, infos, fence);
    submitted(submission, patched, result);
    instance_deliver_messages(self->instance);
    return result;
}

VkResult hook_QueueSubmit2(struct device *self, PFN_vkQueueSubmit2 next, VkQueue queue, uint32_t submitCount,
                           const VkSubmitInfo2 *pSubmits, VkFence fence)
{
    struct submission *submission = begin(self->sync, queue);
    if (!submission)
        return next(queue, submitCount, pSubmits, fence);
    for (uint32_t i = 0; i < submitCount; i++)
        look_at_batch2(submission, i, &pSubmits[i]);
    end(submission, fence);

    bool patched = patch(submission);
    const VkSubmitInfo2 *infos = patched ? submit_arrays_copy2(submission, submitCount, pSubmits) : pSubmits;
    if (patched && !infos) {
        take_back(submission);
        patched = false;
        infos = pSubmits;
    }
    submission_report(submission);
    VkResult result = next(queue, submitCount, infos, fence);
    submitted(submission, patched, result);
    instance_deliver_messages(self->instance);
    return result;
}

/* Sparse images are left alone; the batches order others. */
VkResult hook_QueueBindSparse(struct device *self, PFN_vkQueueBindSparse next, VkQueue queue,
                              uint32_t bindInfoCount, const VkBindSparseInfo *pBindInfo, VkFence fence)
{
    struct submission *submission = begin(self->sync, queue);
    if (!submission)
        return next(queue, bindInfoCount, pBindInfo, fence);
    for (uint32_t i = 0; i < bindInfoCount; i++)
        look_at_binds(submission, i, &pBindInfo[i]);
    end(submission, fence);
    VkResult result = next(queue, bindInfoCount, pBindInfo, fence);
    submitted(submission, false, result);
    return result;
}
