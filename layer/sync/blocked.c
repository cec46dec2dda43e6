#include "sync/blocked.h"

#include <stdlib.h>

#include "sync/grow.h"
#include "sync/image.h"
#include "sync/queue.h"

struct point {
    uint64_t semaphore, value;
    bool orders;
};

struct points {
    struct point *items;
    uint32_t count, capacity;
};

struct blocked_batch {
    struct blocked_batch *next;
    struct queue *queue;
    uint64_t serial, call;
    bool incomplete; /* out of memory: something it waits for isn't in `waits` */
    struct points waits, signals;
    struct image **images;
    uint32_t image_count, image_capacity;
};

static void free_batches(struct blocked_batch *batch)
{
    while (batch) {
        struct blocked_batch *next = batch->next;
        free(batch->waits.items);
        free(batch->signals.items);
        free(batch->images);
        free(batch);
        batch = next;
    }
}

void blocked_finish(struct blocked_list *list)
{
    blocked_release_images(list->first);
    free_batches(list->first);
    free_batches(list->unused);
    *list = (struct blocked_list){0};
}

struct blocked_batch *blocked_add(struct blocked_list *list, struct queue *queue, uint64_t serial,
                                  uint64_t call)
{
    struct blocked_batch *batch = list->unused;
    if (batch)
        list->unused = batch->next;
    else
        batch = calloc(1, sizeof(*batch));
    if (!batch)
        return NULL;
    batch->next = NULL;
    batch->queue = queue;
    batch->serial = serial;
    batch->call = call;
    batch->incomplete = false;
    batch->waits.count = batch->signals.count = batch->image_count = 0;
    *(list->end ? list->end : &list->first) = batch;
    list->end = &batch->next;
    queue->blocked++;
    return batch;
}

static bool points_add(struct points *points, uint64_t semaphore, uint64_t value, bool orders)
{
    if (!grow(&points->items, &points->capacity, points->count + 1, sizeof(*points->items)))
        return false;
    points->items[points->count++] = (struct point){semaphore, value, orders};
    return true;
}

void blocked_add_wait(struct blocked_batch *batch, uint64_t semaphore, uint64_t value, bool orders)
{
    if (batch && !points_add(&batch->waits, semaphore, value, orders))
        batch->incomplete = true;
}

void blocked_add_signal(struct blocked_batch *batch, uint64_t semaphore, uint64_t value)
{
    /* Without memory it never counts as submitted: who waits for it stays blocked until the host knows. */
    if (batch)
        points_add(&batch->signals, semaphore, value, true);
}

void blocked_add_image(struct blocked_batch *batch, struct image *image)
{
    image->unresolved++;
    if (!batch ||
        !grow(&batch->images, &batch->image_capacity, batch->image_count + 1, sizeof(struct image *)))
        return;
    image_acquire(image);
    batch->images[batch->image_count++] = image;
}

static bool points_have(const struct points *points, uint64_t semaphore, uint64_t value)
{
    for (uint32_t i = 0; i < points->count; i++)
        if (points->items[i].semaphore == semaphore && points->items[i].value <= value)
            return true;
    return false;
}

void blocked_host_timeline(const struct blocked_list *list, struct order *order, uint64_t semaphore,
                           uint64_t value)
{
    for (const struct blocked_batch *batch = list->first; batch; batch = batch->next)
        if (points_have(&batch->signals, semaphore, value))
            order_host_serial(order, batch->queue->index, batch->serial);
}

void blocked_host_destroyed(const struct blocked_list *list, struct order *order, uint64_t semaphore)
{
    for (const struct blocked_batch *batch = list->first; batch; batch = batch->next)
        if (points_have(&batch->waits, semaphore, UINT64_MAX) ||
            points_have(&batch->signals, semaphore, UINT64_MAX))
            order_host_serial(order, batch->queue->index, batch->serial);
}

/* Waits that are resolved by now take effect, and leave the batch. */
static bool waits_are_resolved(struct blocked_batch *batch, struct order *order)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < batch->waits.count; i++) {
        const struct point *wait = &batch->waits.items[i];
        if (!order_wait_timeline(order, batch->queue->index, wait->semaphore, wait->value, wait->orders))
            batch->waits.items[left++] = *wait;
    }
    batch->waits.count = left;
    return !left && !batch->incomplete;
}

static bool is_first_of_queue(const struct blocked_list *list, const struct blocked_batch *batch)
{
    for (const struct blocked_batch *earlier = list->first; earlier != batch; earlier = earlier->next)
        if (earlier->queue == batch->queue)
            return false;
    return true;
}

/* The batch that `link` points to is no longer blocked: it moves to `out`. */
static void take(struct blocked_list *list, struct blocked_batch **link, struct blocked_batch **out)
{
    struct blocked_batch *batch = *link;
    *link = batch->next;
    if (list->end == &batch->next)
        list->end = list->first ? link : NULL;
    batch->queue->blocked--;
    for (uint32_t i = 0; i < batch->image_count; i++)
        batch->images[i]->unresolved--;
    batch->next = *out;
    *out = batch;
}

/* One pass; whether it took out any. */
static bool resolve_some(struct blocked_list *list, struct order *order, struct blocked_batch **out)
{
    bool any = false;
    for (struct blocked_batch **link = &list->first; *link;) {
        struct blocked_batch *batch = *link;
        bool over = order_host_knows(order, batch->queue->index, batch->serial);
        if (!over && !(is_first_of_queue(list, batch) && waits_are_resolved(batch, order))) {
            link = &batch->next;
            continue;
        }
        for (uint32_t i = 0; i < batch->signals.count; i++)
            order_skip_timeline(order, batch->signals.items[i].semaphore, batch->signals.items[i].value);
        take(list, link, out);
        any = true;
    }
    return any;
}

struct blocked_batch *blocked_resolve(struct blocked_list *list, struct order *order)
{
    struct blocked_batch *out = NULL;
    /* What one signals may be what another waits for. */
    while (list->first && resolve_some(list, order, &out))
        ;
    return out;
}

struct blocked_batch *blocked_cancel(struct blocked_list *list, uint64_t call)
{
    struct blocked_batch *out = NULL;
    for (struct blocked_batch **link = &list->first; *link;) {
        if ((*link)->call == call)
            take(list, link, &out);
        else
            link = &(*link)->next;
    }
    return out;
}

void blocked_release_images(struct blocked_batch *batches)
{
    for (struct blocked_batch *batch = batches; batch; batch = batch->next)
        for (uint32_t i = 0; i < batch->image_count; i++)
            image_release(batch->images[i]);
}

void blocked_reuse(struct blocked_list *list, struct blocked_batch *batches)
{
    while (batches) {
        struct blocked_batch *next = batches->next;
        batches->next = list->unused;
        list->unused = batches;
        batches = next;
    }
}
