#include "sync/object.h"

#include <pthread.h>

/* Counting handles and changing the map are one step. Taken before a map's own lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum object_inserted object_insert(struct handle_map *map, uint64_t key, struct object *object)
{
    enum object_inserted inserted = OBJECT_DUPLICATE;
    pthread_mutex_lock(&lock);
    struct object *known = handle_map_find(map, key);
    if (known)
        known->handles++;
    else
        inserted = handle_map_insert(map, key, object) ? OBJECT_INSERTED : OBJECT_NO_MEMORY;
    pthread_mutex_unlock(&lock);
    return inserted;
}

struct object *object_remove(struct handle_map *map, uint64_t key)
{
    if (!key)
        return NULL;
    pthread_mutex_lock(&lock);
    struct object *object = handle_map_find(map, key);
    if (object && --object->handles)
        object = NULL;
    else if (object)
        handle_map_remove(map, key);
    pthread_mutex_unlock(&lock);
    return object;
}
