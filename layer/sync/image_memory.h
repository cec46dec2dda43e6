/* Which images share memory, with each other or with the world outside: those are left alone. */
#ifndef RC_SYNC_IMAGE_MEMORY_H
#define RC_SYNC_IMAGE_MEMORY_H

struct image;
struct memory;

/* The image goes: its place in memory is free again. Takes sync->memory_lock. */
void image_memory_unbind(struct image *image);

/* Frees what is known of a VkDeviceMemory; images may still be bound to it. Takes sync->memory_lock. */
void memory_destroy(struct memory *memory);

#endif
