#include "sync/submit_arrays.h"

#include <stdlib.h>

#include "sync/barrier_batch.h"
#include "sync/grow.h"
#include "sync/patch.h"
#include "sync/queue.h"
#include "sync/submission.h"

/* One patch: in the batch, right before this command buffer. */
struct place {
    uint32_t batch, position;
    uint32_t first, count; /* barriers */
    VkCommandBuffer patch;
};

struct submit_arrays {
    uint32_t place_count, place_capacity;
    struct place *places;
    uint32_t barrier_count, barrier_capacity;
    VkImageMemoryBarrier2 *barriers;
    uint32_t info_capacity, info2_capacity, buffer_capacity, buffer2_capacity;
    VkSubmitInfo *infos;
    VkSubmitInfo2 *infos2;
    VkCommandBuffer *buffers;
    VkCommandBufferSubmitInfo *buffers2;
};

struct submit_arrays *submit_arrays_create(void)
{
    return calloc(1, sizeof(struct submit_arrays));
}

void submit_arrays_destroy(struct submit_arrays *arrays)
{
    free(arrays->places);
    free(arrays->barriers);
    free(arrays->infos);
    free(arrays->infos2);
    free(arrays->buffers);
    free(arrays->buffers2);
    free(arrays);
}

uint32_t submit_arrays_patch_count(const struct submission *submission)
{
    return submission->arrays->place_count;
}

uint32_t submit_arrays_barrier_count(const struct submission *submission)
{
    return submission->arrays->barrier_count;
}

VkCommandBuffer submit_arrays_first_patch(const struct submission *submission)
{
    return submission->arrays->places[0].patch;
}

/* The place of the repair: the last one, since repairs come in the order of their places. NULL on out of
 * memory. */
static struct place *place_of(struct submit_arrays *arrays, const struct repair *repair)
{
    struct place *last = arrays->place_count ? &arrays->places[arrays->place_count - 1] : NULL;
    if (last && last->batch == repair->batch && last->position == repair->position)
        return last;
    if (!grow(&arrays->places, &arrays->place_capacity, arrays->place_count + 1, sizeof(struct place)))
        return NULL;
    last = &arrays->places[arrays->place_count++];
    *last =
        (struct place){.batch = repair->batch, .position = repair->position, .first = arrays->barrier_count};
    return last;
}

/* Those of one image that differ in their ranges alone are one barrier. */
static bool join(const struct submit_arrays *arrays, const struct place *place,
                 const VkImageMemoryBarrier2 *barrier)
{
    for (uint32_t i = place->first + place->count; i-- > place->first;) {
        if (arrays->barriers[i].image != barrier->image)
            return false;
        if (barrier_images_join(&arrays->barriers[i], barrier))
            return true;
    }
    return false;
}

static bool make_barriers(struct submission *submission)
{
    struct submit_arrays *arrays = submission->arrays;
    arrays->place_count = arrays->barrier_count = 0;
    for (uint32_t i = 0; i < submission->repair_count; i++) {
        VkImageMemoryBarrier2 barrier;
        struct place *place = place_of(arrays, &submission->repairs[i]);
        if (!place)
            return false;
        submission_barrier(submission, &submission->repairs[i], &barrier);
        if (join(arrays, place, &barrier))
            continue;
        if (!grow(&arrays->barriers, &arrays->barrier_capacity, arrays->barrier_count + 1, sizeof(barrier)))
            return false;
        arrays->barriers[arrays->barrier_count++] = barrier;
        place->count++;
    }
    return true;
}

static bool record(struct submission *submission)
{
    struct queue *queue = submission->queue;
    struct submit_arrays *arrays = submission->arrays;
    if (!queue->patches)
        queue->patches = patch_pool_create(queue);
    if (!queue->patches)
        return false;
    for (uint32_t i = 0; i < arrays->place_count; i++) {
        struct place *place = &arrays->places[i];
        place->patch = patch_pool_record(queue->patches, place->count, arrays->barriers + place->first);
        if (!place->patch) {
            patch_pool_submitted(queue->patches, VK_ERROR_OUT_OF_HOST_MEMORY);
            return false;
        }
    }
    return true;
}

bool submit_arrays_patch(struct submission *submission)
{
    return make_barriers(submission) && record(submission);
}

const VkSubmitInfo *submit_arrays_copy(struct submission *submission, uint32_t count,
                                       const VkSubmitInfo *infos)
{
    struct submit_arrays *arrays = submission->arrays;
    const struct place *place = arrays->places, *end = place + arrays->place_count;
    uint32_t total = arrays->place_count, used = 0;
    for (uint32_t i = 0; i < count; i++)
        total += infos[i].commandBufferCount;
    if (!grow(&arrays->infos, &arrays->info_capacity, count, sizeof(*infos)) ||
        !grow(&arrays->buffers, &arrays->buffer_capacity, total, sizeof(VkCommandBuffer)))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        arrays->infos[i] = infos[i];
        if (place == end || place->batch != i)
            continue;
        uint32_t first = used;
        for (uint32_t k = 0; k < infos[i].commandBufferCount; k++) {
            if (place != end && place->batch == i && place->position == k)
                arrays->buffers[used++] = (place++)->patch;
            arrays->buffers[used++] = infos[i].pCommandBuffers[k];
        }
        arrays->infos[i].pCommandBuffers = arrays->buffers + first;
        arrays->infos[i].commandBufferCount = used - first;
    }
    return arrays->infos;
}

const VkSubmitInfo2 *submit_arrays_copy2(struct submission *submission, uint32_t count,
                                         const VkSubmitInfo2 *infos)
{
    struct submit_arrays *arrays = submission->arrays;
    const struct place *place = arrays->places, *end = place + arrays->place_count;
    uint32_t total = arrays->place_count, used = 0;
    for (uint32_t i = 0; i < count; i++)
        total += infos[i].commandBufferInfoCount;
    if (!grow(&arrays->infos2, &arrays->info2_capacity, count, sizeof(*infos)) ||
        !grow(&arrays->buffers2, &arrays->buffer2_capacity, total, sizeof(VkCommandBufferSubmitInfo)))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        arrays->infos2[i] = infos[i];
        if (place == end || place->batch != i)
            continue;
        uint32_t first = used;
        for (uint32_t k = 0; k < infos[i].commandBufferInfoCount; k++) {
            const VkCommandBufferSubmitInfo *own = &infos[i].pCommandBufferInfos[k];
            if (place != end && place->batch == i && place->position == k) {
                arrays->buffers2[used] = *own;
                arrays->buffers2[used++].commandBuffer = (place++)->patch;
            }
            arrays->buffers2[used++] = *own;
        }
        arrays->infos2[i].pCommandBufferInfos = arrays->buffers2 + first;
        arrays->infos2[i].commandBufferInfoCount = used - first;
    }
    return arrays->infos2;
}
