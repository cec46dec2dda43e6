#include "sync/order.h"

#include <stdlib.h>
#include <string.h>

#include "handle_map.h"

/* Signals of one timeline semaphore that are remembered. A wait for one that is older finds nothing: a
 * program that is correct doesn't need it, and of others less is known. */
#define TIMELINE_POINTS 16

struct order_object {
    struct order_object *next; /* in the list of unused ones */
    bool timeline;
    bool signalled;   /* binary semaphores and fences: `clocks` holds what the signal carries */
    uint64_t reached; /* timeline: a value that needs no waiting for */
    uint64_t dropped; /* timeline: the largest value whose point isn't remembered any more */
    uint32_t count;   /* timeline: points, by rising value */
    uint64_t values[TIMELINE_POINTS];
    uint64_t clocks[]; /* one, or one for each point */
};

struct order {
    uint32_t queue_count;
    struct handle_map semaphores, fences;
    struct order_object *unused_simple, *unused_timelines;
    uint64_t *host;
    uint64_t *serials; /* given out, by queue */
    uint64_t *queues;  /* clocks */
    uint64_t *saved;   /* the same, kept */
    uint64_t numbers[];
};

static uint64_t *queue_clock(const struct order *order, uint32_t queue)
{
    return order->queues + (size_t)queue * order->queue_count;
}

static uint64_t *saved_clock(const struct order *order, uint32_t queue)
{
    return order->saved + (size_t)queue * order->queue_count;
}

static uint64_t *point_clock(const struct order *order, struct order_object *object, uint32_t point)
{
    return object->clocks + (size_t)point * order->queue_count;
}

static void clock_join(const struct order *order, uint64_t *clock, const uint64_t *other)
{
    for (uint32_t i = 0; i < order->queue_count; i++)
        clock[i] = clock[i] > other[i] ? clock[i] : other[i];
}

static void clock_copy(const struct order *order, uint64_t *clock, const uint64_t *other)
{
    memcpy(clock, other, order->queue_count * sizeof(*clock));
}

struct order *order_create(uint32_t queue_count)
{
    size_t numbers = (size_t)queue_count * (2 + 2 * (size_t)queue_count);
    struct order *order = calloc(1, sizeof(*order) + numbers * sizeof(uint64_t));
    if (!order)
        return NULL;
    order->queue_count = queue_count;
    order->host = order->numbers;
    order->serials = order->host + queue_count;
    order->queues = order->serials + queue_count;
    order->saved = order->queues + (size_t)queue_count * queue_count;
    handle_map_init(&order->semaphores);
    handle_map_init(&order->fences);
    return order;
}

static void free_object(void *context, void *value)
{
    (void)context;
    free(value);
}

static void free_list(struct order_object *object)
{
    while (object) {
        struct order_object *next = object->next;
        free(object);
        object = next;
    }
}

void order_destroy(struct order *order)
{
    if (!order)
        return;
    handle_map_visit(&order->semaphores, free_object, NULL);
    handle_map_visit(&order->fences, free_object, NULL);
    handle_map_finish(&order->semaphores);
    handle_map_finish(&order->fences);
    free_list(order->unused_simple);
    free_list(order->unused_timelines);
    free(order);
}

/* --- Objects --- */

static void put_back(struct order *order, struct order_object *object)
{
    struct order_object **list = object->timeline ? &order->unused_timelines : &order->unused_simple;
    object->next = *list;
    *list = object;
}

static struct order_object *add_object(struct order *order, struct handle_map *map, uint64_t handle,
                                       bool timeline)
{
    struct order_object **list = timeline ? &order->unused_timelines : &order->unused_simple;
    size_t clocks = (size_t)(timeline ? TIMELINE_POINTS : 1) * order->queue_count;
    struct order_object *object = *list;
    if (object)
        *list = object->next;
    else
        object = malloc(sizeof(*object) + clocks * sizeof(uint64_t));
    if (!object)
        return NULL;
    *object = (struct order_object){.timeline = timeline};
    if (!handle_map_insert(map, handle, object)) {
        put_back(order, object);
        return NULL;
    }
    return object;
}

static void forget(struct order *order, struct handle_map *map, uint64_t handle)
{
    struct order_object *object = handle_map_remove(map, handle);
    if (object)
        put_back(order, object);
}

static struct order_object *find_timeline(const struct order *order, uint64_t semaphore)
{
    struct order_object *object = handle_map_find(&order->semaphores, semaphore);
    return object && object->timeline ? object : NULL;
}

bool order_create_timeline(struct order *order, uint64_t semaphore, uint64_t value)
{
    forget(order, &order->semaphores, semaphore);
    struct order_object *object = add_object(order, &order->semaphores, semaphore, true);
    if (object)
        object->reached = value;
    return object != NULL;
}

void order_restart_timeline(struct order *order, uint64_t semaphore)
{
    struct order_object *object = find_timeline(order, semaphore);
    object->reached = object->dropped = 0;
    object->count = 0;
}

bool order_is_timeline(const struct order *order, uint64_t semaphore)
{
    return find_timeline(order, semaphore) != NULL;
}

void order_forget_semaphore(struct order *order, uint64_t semaphore)
{
    forget(order, &order->semaphores, semaphore);
}

void order_forget_fence(struct order *order, uint64_t fence)
{
    forget(order, &order->fences, fence);
}

/* --- Queues --- */

uint64_t order_begin(struct order *order, uint32_t queue)
{
    uint64_t *clock = queue_clock(order, queue);
    clock_join(order, clock, order->host);
    clock[queue] = ++order->serials[queue];
    return clock[queue];
}

void order_save(struct order *order, uint32_t queue)
{
    clock_copy(order, saved_clock(order, queue), queue_clock(order, queue));
}

void order_restore(struct order *order, uint32_t queue)
{
    clock_copy(order, queue_clock(order, queue), saved_clock(order, queue));
}

bool order_wait_binary(struct order *order, uint32_t queue, uint64_t semaphore, bool orders)
{
    struct order_object *object = handle_map_find(&order->semaphores, semaphore);
    if (!object || object->timeline || !object->signalled)
        return false;
    if (orders)
        clock_join(order, queue_clock(order, queue), object->clocks);
    object->signalled = false;
    return true;
}

void order_untake_binary(struct order *order, uint64_t semaphore)
{
    struct order_object *object = handle_map_find(&order->semaphores, semaphore);
    if (object && !object->timeline)
        object->signalled = true;
}

bool order_wait_timeline(struct order *order, uint32_t queue, uint64_t semaphore, uint64_t value, bool orders)
{
    struct order_object *object = find_timeline(order, semaphore);
    if (!object)
        return false;
    if (value <= object->reached || value <= object->dropped)
        return true;
    for (uint32_t i = 0; i < object->count; i++) {
        if (object->values[i] < value)
            continue;
        if (orders)
            clock_join(order, queue_clock(order, queue), point_clock(order, object, i));
        return true;
    }
    return false;
}

/* A binary semaphore or fence. */
static bool signal_simple(struct order *order, struct handle_map *map, uint32_t queue, uint64_t handle)
{
    struct order_object *object = handle_map_find(map, handle);
    if (!object)
        object = add_object(order, map, handle, false);
    if (!object || object->timeline)
        return false;
    object->signalled = true;
    clock_copy(order, object->clocks, queue_clock(order, queue));
    return true;
}

bool order_signal_binary(struct order *order, uint32_t queue, uint64_t semaphore)
{
    return signal_simple(order, &order->semaphores, queue, semaphore);
}

bool order_signal_fence(struct order *order, uint32_t queue, uint64_t fence)
{
    return signal_simple(order, &order->fences, queue, fence);
}

/* Removes the first points. */
static void drop_points(const struct order *order, struct order_object *object, uint32_t count)
{
    object->count -= count;
    memmove(object->values, object->values + count, object->count * sizeof(*object->values));
    memmove(object->clocks, point_clock(order, object, count),
            (size_t)object->count * order->queue_count * sizeof(uint64_t));
}

void order_signal_timeline(struct order *order, uint32_t queue, uint64_t semaphore, uint64_t value)
{
    struct order_object *object = find_timeline(order, semaphore);
    if (!object)
        return;
    if (object->count == TIMELINE_POINTS) {
        if (object->dropped < object->values[0])
            object->dropped = object->values[0];
        drop_points(order, object, 1);
    }
    /* Values that don't rise in the order of submission: correct programs do so only where the queues' work
     * is ordered otherwise. */
    uint32_t at = object->count;
    while (at > 0 && object->values[at - 1] > value)
        at--;
    uint32_t behind = object->count - at;
    memmove(object->values + at + 1, object->values + at, behind * sizeof(*object->values));
    memmove(point_clock(order, object, at + 1), point_clock(order, object, at),
            (size_t)behind * order->queue_count * sizeof(uint64_t));
    object->values[at] = value;
    clock_copy(order, point_clock(order, object, at), queue_clock(order, queue));
    object->count++;
}

void order_withdraw_timeline(struct order *order, uint64_t semaphore, uint64_t value)
{
    struct order_object *object = find_timeline(order, semaphore);
    for (uint32_t i = object ? object->count : 0; i-- > 0;) {
        if (object->values[i] != value)
            continue;
        uint32_t behind = object->count - i - 1;
        memmove(object->values + i, object->values + i + 1, behind * sizeof(*object->values));
        memmove(point_clock(order, object, i), point_clock(order, object, i + 1),
                (size_t)behind * order->queue_count * sizeof(uint64_t));
        object->count--;
        return;
    }
}

void order_skip_timeline(struct order *order, uint64_t semaphore, uint64_t value)
{
    struct order_object *object = find_timeline(order, semaphore);
    if (object && object->dropped < value)
        object->dropped = value;
}

bool order_is_before(const struct order *order, uint32_t queue, uint32_t other, uint64_t serial)
{
    return queue == other || queue_clock(order, queue)[other] >= serial;
}

/* --- The host --- */

void order_host_fence(struct order *order, uint64_t fence)
{
    const struct order_object *object = handle_map_find(&order->fences, fence);
    if (object && object->signalled)
        clock_join(order, order->host, object->clocks);
}

/* The points up to `value` are over. */
static uint32_t points_until(const struct order_object *object, uint64_t value)
{
    uint32_t count = 0;
    while (count < object->count && object->values[count] <= value)
        count++;
    return count;
}

static void reach(const struct order *order, struct order_object *object, uint64_t value)
{
    drop_points(order, object, points_until(object, value));
    if (object->reached < value)
        object->reached = value;
}

void order_host_timeline(struct order *order, uint64_t semaphore, uint64_t value)
{
    struct order_object *object = find_timeline(order, semaphore);
    if (!object)
        return;
    for (uint32_t i = points_until(object, value); i-- > 0;)
        clock_join(order, order->host, point_clock(order, object, i));
    reach(order, object, value);
}

void order_host_signal(struct order *order, uint64_t semaphore, uint64_t value)
{
    struct order_object *object = find_timeline(order, semaphore);
    if (object)
        reach(order, object, value);
}

void order_host_queue(struct order *order, uint32_t queue)
{
    clock_join(order, order->host, queue_clock(order, queue));
}

void order_host_device(struct order *order)
{
    clock_join(order, order->host, order->serials);
}

void order_host_serial(struct order *order, uint32_t queue, uint64_t serial)
{
    if (order->host[queue] < serial)
        order->host[queue] = serial;
}

bool order_host_knows(const struct order *order, uint32_t queue, uint64_t serial)
{
    return order->host[queue] >= serial;
}
