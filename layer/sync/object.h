/* Counting for what stands behind a handle that the application creates and destroys: views, render passes,
 * framebuffers, swapchains. */
#ifndef RC_SYNC_OBJECT_H
#define RC_SYNC_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle_map.h"

struct device_sync;

/* First member of what it counts for. */
struct object {
    atomic_uint references; /* one for the handle, and one of whoever else keeps it */
    uint32_t handles;       /* creations that returned this handle; see object_insert() */
};

static inline void object_init(struct object *object)
{
    atomic_init(&object->references, 1);
    object->handles = 1;
}

static inline void object_acquire(struct object *object)
{
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

/* True where it was the last: free it. */
static inline bool object_release(struct object *object)
{
    return atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1;
}

enum object_inserted {
    OBJECT_INSERTED,  /* the map has taken the reference that object_init() made */
    OBJECT_DUPLICATE, /* an equal one stands there already and will do: free this one */
    OBJECT_NO_MEMORY, /* free it; the handle is unknown */
};

/* Makes the object what `key` stands for. Spec, "Object Model": without the private data feature objects of
 * the same contents may share a handle; it then has to be destroyed once for each of them. Any thread. */
enum object_inserted object_insert(struct handle_map *map, uint64_t key, struct object *object);

/* To be called before the object is destroyed. The caller gets the map's reference; NULL where the handle is
 * unknown (0 too) or goes on standing for another creation. Any thread. */
struct object *object_remove(struct handle_map *map, uint64_t key);

/* All objects that the application has left alive, memory and images too; for device_sync_destroy(), while
 * the device below still lives, and before the maps are finished. */
void objects_destroy(struct device_sync *sync);

#endif
