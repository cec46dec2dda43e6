/* What the parts of the fault-injecting driver share: its objects, and the descriptions made by generate.py.
 * Implementations are named driver_vk...; applications reach them through wrappers (see call.h). */
#ifndef DRIVER_H
#define DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>
#include <vulkan/vk_icd.h>

#include "call.h"
#include "config.h"
#include "driver_commands.h"
#include "fault_driver.h"
#include "oracle.h"

enum command_level {
    COMMAND_LEVEL_GLOBAL,
    COMMAND_LEVEL_INSTANCE,
    COMMAND_LEVEL_PHYSICAL_DEVICE,
    COMMAND_LEVEL_DEVICE,
};

/* Sorted by name. */
struct command_description {
    const char *name;
    PFN_vkVoidFunction function;
    enum command_level level;
    uint32_t core;             /* API version that has it, 0 if only extensions do */
    const uint16_t *providers; /* enum extension_id, ended by EXTENSION_COUNT */
};
extern const struct command_description command_descriptions[COMMAND_COUNT];

struct extension_description {
    const char *name;
    uint32_t version;
    bool device;  /* else an instance extension */
    bool exposed; /* by default */
};
extern const struct extension_description extension_descriptions[EXTENSION_COUNT];

/* All zero for a format that isn't known. */
struct format_description {
    uint8_t block_size; /* bytes */
    uint8_t block_width;
    uint8_t block_height;
    uint8_t planes;
    bool depth;
    bool stencil;
    bool compressed;
    bool integer;
};
struct format_description format_describe(VkFormat format);

/* Every object begins with this. A handle is the object's address. */
struct object {
    VK_LOADER_DATA loader;
    VkObjectType type;
    struct object_list *list;              /* that it is in; NULL for instances */
    struct object_list *children;          /* of dispatchable objects: where what is created from them goes */
    void (*finish)(struct object *object); /* frees what it owns; may be NULL */
    struct object *previous;
    struct object *next;
};

struct object_list {
    pthread_mutex_t lock;
    struct object *first;
};

void object_list_init(struct object_list *list);
/* Destroys what is left, records each as a leak. */
void object_list_finish(struct object_list *list);
struct object_list *object_list_of(const void *dispatchable);
/* Zeroed memory of `size` bytes that begins with struct object; NULL on out of memory. */
void *object_create(struct object_list *list, VkObjectType type, size_t size);
/* NULL is safe. */
void object_destroy(struct object *object, VkObjectType type);

struct extension_set {
    bool has[EXTENSION_COUNT];
};
bool extension_set_has_any(const struct extension_set *set, const uint16_t *providers);
/* EXTENSION_COUNT if there is none of this name. */
enum extension_id extension_find(const char *name);
/* COMMAND_COUNT if there is none of this name. */
enum command_id command_find(const char *name);

#define QUEUE_FAMILY_COUNT 3

struct physical_device {
    struct object base;
    struct instance *instance;
    struct driver_config *config; /* the instance's */
    uint32_t index;
    struct extension_set exposed;
    uint8_t cache_uuid[VK_UUID_SIZE];
};

struct instance {
    struct object base;
    struct object_list objects;
    struct driver_config config; /* as it was when the instance was created */
    struct extension_set enabled;
    uint32_t device_count;
    struct physical_device devices[CONFIG_MAX_DEVICES];
};

struct queue {
    struct object base;
    struct device *device;
    uint32_t family;
    uint32_t index;
    VkDeviceQueueCreateFlags flags;
    struct batch *first; /* what can't run yet; guarded by the device's lock */
    struct batch *last;
};

struct device {
    struct object base;
    struct object_list objects;
    struct physical_device *physical;
    struct extension_set enabled;
    pthread_mutex_t lock;    /* queues, fences, semaphores */
    pthread_cond_t progress; /* one of those changed; CLOCK_MONOTONIC */
    bool lost;
    struct oracle_device oracle;
    uint32_t queue_count;
    struct queue *queues;
};

#define HANDLE(type, object) ((type)(uintptr_t)(object))
#define OBJECT(type, handle) ((struct type *)(uintptr_t)(handle))

/* physical_device.c */
void physical_device_init(struct physical_device *device, struct instance *instance, uint32_t index);
/* Whether this device has what the core version or one of the extensions brings. */
VkBool32 physical_device_provides(const struct physical_device *device, uint32_t core,
                                  const uint16_t *providers);
extern const VkQueueFamilyProperties queue_families[QUEUE_FAMILY_COUNT];

/* driver_structures.c: fill in everything but sType, pNext and pointers. */
void structure_fill(const struct physical_device *device, VkBaseOutStructure *structure);
void structure_fill_features(VkPhysicalDeviceFeatures *features);
void structure_fill_limits(VkPhysicalDeviceLimits *limits);
/* 0 if it isn't known. */
size_t structure_size(VkStructureType type);

/* structures.c: zeroes all but sType and pNext. */
void structure_clear(void *structure, size_t size);
/* The same for every known structure of a chain of outputs. */
void chain_clear(void *chain);
const void *chain_find(const void *chain, VkStructureType type);

/* device.c: whether the device is lost; the wait's or submit's result is then VK_ERROR_DEVICE_LOST. */
void device_lose(uint64_t dispatchable);

/* The two-call idiom: how many of `available` elements to write; the result is VK_INCOMPLETE if not all. */
VkResult enumerate_count(uint32_t *count, bool fetch, uint32_t available);

#endif
