#include <stdatomic.h>
#include <stdlib.h>

#include "driver.h"
#include "journal.h"

/* Core types have small numbers; extensions' are told apart by extension number and offset. */
#define LIVE_SLOTS 4096
static atomic_uint live[LIVE_SLOTS];

static atomic_uint *live_slot(VkObjectType type)
{
    uint32_t number = (uint32_t)type;

    /* 1000 000 000 + (extension - 1) * 1000 + offset */
    if (number >= 1000000000)
        number = 256 + (number - 1000000000) / 1000 * 4 + (number - 1000000000) % 1000;
    return &live[number % LIVE_SLOTS];
}

void object_list_init(struct object_list *list)
{
    pthread_mutex_init(&list->lock, NULL);
    list->first = NULL;
}

static void record_object(enum fault_event event, const struct object *object, VkObjectType type)
{
    struct fault_record record = {
        .name = event == FAULT_EVENT_LEAK ? "leak" : "misuse",
        .event = event,
        .handle = (uintptr_t)object,
        .type = type,
    };

    journal_add(&record);
}

void object_list_finish(struct object_list *list)
{
    while (list->first) {
        record_object(FAULT_EVENT_LEAK, list->first, list->first->type);
        object_destroy(list->first, list->first->type);
    }
    pthread_mutex_destroy(&list->lock);
}

struct object_list *object_list_of(const void *dispatchable)
{
    return ((const struct object *)dispatchable)->children;
}

void *object_create(struct object_list *list, VkObjectType type, size_t size)
{
    struct object *object = calloc(1, size);

    if (!object)
        return NULL;
    set_loader_magic_value(object);
    object->type = type;
    object->list = list;
    atomic_fetch_add(live_slot(type), 1);
    if (!list)
        return object;
    pthread_mutex_lock(&list->lock);
    object->next = list->first;
    if (list->first)
        list->first->previous = object;
    list->first = object;
    pthread_mutex_unlock(&list->lock);
    return object;
}

static void object_unlink(struct object *object)
{
    struct object_list *list = object->list;

    if (!list)
        return;
    pthread_mutex_lock(&list->lock);
    if (object->previous)
        object->previous->next = object->next;
    else
        list->first = object->next;
    if (object->next)
        object->next->previous = object->previous;
    pthread_mutex_unlock(&list->lock);
}

void object_destroy(struct object *object, VkObjectType type)
{
    if (!object)
        return;
    if (object->type != type) {
        record_object(FAULT_EVENT_MISUSE, object, type);
        return;
    }
    object_unlink(object);
    if (object->finish)
        object->finish(object);
    atomic_fetch_sub(live_slot(type), 1);
    /* So that a second destruction has a chance of being noticed without a sanitizer. */
    object->type = VK_OBJECT_TYPE_UNKNOWN;
    free(object);
}

uint32_t fault_live_objects(VkObjectType type)
{
    uint32_t sum = 0;

    if (type != VK_OBJECT_TYPE_UNKNOWN)
        return atomic_load(live_slot(type));
    for (size_t i = 0; i < LIVE_SLOTS; i++)
        sum += atomic_load(&live[i]);
    return sum;
}
