/* Deferred host operations: the work is done by whoever joins. */
#include "pipelines.h"

struct deferred {
    struct object base;
    pthread_mutex_t lock;
    enum {
        DEFERRED_IDLE, /* nothing was handed over, or it is done */
        DEFERRED_WAITING,
        DEFERRED_RUNNING,
    } state;
    struct pipeline_job job;
    VkResult result;
};

static void deferred_finish(struct object *object)
{
    pthread_mutex_destroy(&((struct deferred *)object)->lock);
}

VkResult driver_vkCreateDeferredOperationKHR(VkDevice device, const VkAllocationCallbacks *allocator,
                                             VkDeferredOperationKHR *out)
{
    struct deferred *deferred =
        object_create(object_list_of(device), VK_OBJECT_TYPE_DEFERRED_OPERATION_KHR, sizeof(*deferred));

    if (!deferred)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&deferred->lock, NULL);
    deferred->base.finish = deferred_finish;
    *out = HANDLE(VkDeferredOperationKHR, deferred);
    return VK_SUCCESS;
}

bool deferred_take(VkDeferredOperationKHR operation, const struct pipeline_job *job)
{
    struct deferred *deferred = OBJECT(deferred, operation);
    bool taken;

    pthread_mutex_lock(&deferred->lock);
    taken = deferred->state == DEFERRED_IDLE;
    if (taken) {
        deferred->state = DEFERRED_WAITING;
        deferred->job = *job;
    }
    pthread_mutex_unlock(&deferred->lock);
    return taken;
}

uint32_t driver_vkGetDeferredOperationMaxConcurrencyKHR(VkDevice device, VkDeferredOperationKHR operation)
{
    struct deferred *deferred = OBJECT(deferred, operation);
    uint32_t threads;

    pthread_mutex_lock(&deferred->lock);
    threads = deferred->state == DEFERRED_WAITING;
    pthread_mutex_unlock(&deferred->lock);
    return threads;
}

VkResult driver_vkGetDeferredOperationResultKHR(VkDevice device, VkDeferredOperationKHR operation)
{
    struct deferred *deferred = OBJECT(deferred, operation);
    VkResult result;

    pthread_mutex_lock(&deferred->lock);
    result = deferred->state == DEFERRED_IDLE ? deferred->result : VK_NOT_READY;
    pthread_mutex_unlock(&deferred->lock);
    return result;
}

VkResult driver_vkDeferredOperationJoinKHR(VkDevice device, VkDeferredOperationKHR operation)
{
    struct deferred *deferred = OBJECT(deferred, operation);
    bool mine, elsewhere;
    VkResult result;

    pthread_mutex_lock(&deferred->lock);
    mine = deferred->state == DEFERRED_WAITING;
    elsewhere = deferred->state == DEFERRED_RUNNING;
    if (mine)
        deferred->state = DEFERRED_RUNNING;
    pthread_mutex_unlock(&deferred->lock);
    if (!mine)
        return elsewhere ? VK_THREAD_DONE_KHR : VK_SUCCESS;
    result = pipeline_job_run(&deferred->job);
    pthread_mutex_lock(&deferred->lock);
    deferred->result = result;
    deferred->state = DEFERRED_IDLE;
    pthread_mutex_unlock(&deferred->lock);
    return VK_SUCCESS;
}
