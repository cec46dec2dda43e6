/* Descriptor set layouts, sets and their contents, pipeline layouts, update templates: as far as images go.
 * Which image a descriptor refers to is asked when it is used: contents are handles. */
#ifndef RC_SYNC_DESCRIPTOR_H
#define RC_SYNC_DESCRIPTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "sync/device_sync.h"
#include "sync/object.h"

#define DESCRIPTOR_LARGE_SET 1024 /* descriptors; uses of larger sets say nothing of what is accessed */
#define DESCRIPTOR_SETS 32        /* set numbers that are followed */
#define DESCRIPTOR_NO_SLOT UINT32_MAX

struct descriptor_binding {
    uint32_t number;
    VkDescriptorType type;
    uint32_t count; /* descriptors (of inline uniform blocks: bytes); of a variable count: at most */
    uint32_t slot;  /* of its first descriptor; DESCRIPTOR_NO_SLOT: none of them refers to an image */
    bool partial;   /* PARTIALLY_BOUND */
    bool late;      /* UPDATE_AFTER_BIND */
};

struct descriptor_layout {
    struct object object; /* sets, pipeline layouts and templates keep it too */
    uint64_t signature;   /* equal where layouts are defined alike, as far as matters here */
    uint32_t slot_count;  /* of a set */
    uint32_t descriptor_count;
    bool late; /* some binding is UPDATE_AFTER_BIND */
    uint32_t binding_count;
    struct descriptor_binding bindings[]; /* by number */
};

/* One descriptor of an image. */
struct descriptor {
    VkImageView view; /* VK_NULL_HANDLE: none, or nothing written yet */
    VkImageLayout layout;
};

struct descriptor_set {
    struct object object; /* command buffers that read it at submit keep it too */
    struct descriptor_layout *layout;
    struct descriptor_pool *pool;
    VkDescriptorSet handle;
    struct descriptor_set *pool_next, *pool_previous;
    pthread_mutex_t lock; /* of the slots, where layout->late: other descriptors of it may be written while
                             one is read; else vkUpdateDescriptorSets is what the application orders */
    uint32_t slot_count;
    struct descriptor slots[];
};

struct pipeline_layout {
    struct object object;
    uint32_t set_count;
    struct descriptor_layout *sets[]; /* NULL where unknown, or left open (independent sets) */
};

/* NULL: not known. They live as long as the handle: take a reference to keep them. */
struct descriptor_layout *descriptor_layout_find(struct device_sync *sync, VkDescriptorSetLayout handle);
struct pipeline_layout *pipeline_layout_find(struct device_sync *sync, VkPipelineLayout handle);
void descriptor_layout_release(struct descriptor_layout *layout); /* NULL is safe, here and below */
void pipeline_layout_release(struct pipeline_layout *layout);
void descriptor_set_release(struct descriptor_set *set);
static inline struct descriptor_set *descriptor_set_find(const struct device_sync *sync,
                                                         VkDescriptorSet handle)
{
    return handle_map_find(&sync->sets, HANDLE_KEY(handle));
}

/* NULL if there is none of this number. */
const struct descriptor_binding *descriptor_layout_binding(const struct descriptor_layout *layout,
                                                           uint32_t number);

/* Whether descriptors of the type refer to images whose layout matters here. Not INPUT_ATTACHMENT: those are
 * attachments of the pass. */
bool descriptor_type_is_image(VkDescriptorType type);

/* Bytes of one descriptor in the data of an update template; 0: not known. */
size_t descriptor_type_size(VkDescriptorType type);

/* A write into the slots of a set, or of one that is pushed. Spec, VkWriteDescriptorSet: what goes beyond a
 * binding continues in the next. `infos`: one for each descriptor, `stride` bytes apart. */
void descriptor_write(struct device_sync *sync, const struct descriptor_layout *layout,
                      struct descriptor *slots, uint32_t slot_count, uint32_t binding, uint32_t element,
                      uint32_t count, VkDescriptorType type, const void *infos, size_t stride);

/* --- Update templates --- */

struct descriptor_template {
    struct object object;
    bool push;
    VkPipelineBindPoint point;        /* push */
    uint32_t set;                     /* push */
    struct descriptor_layout *layout; /* push; of the set */
    uint32_t entry_count;
    VkDescriptorUpdateTemplateEntry entries[];
};
struct descriptor_template *descriptor_template_find(struct device_sync *sync,
                                                     VkDescriptorUpdateTemplate handle);
void descriptor_template_release(struct descriptor_template *update);
void descriptor_template_write(struct device_sync *sync, const struct descriptor_template *update,
                               const struct descriptor_layout *layout, struct descriptor *slots,
                               uint32_t slot_count, const void *data);

/* All that the application has left alive, for objects_destroy(). */
void descriptors_destroy(struct device_sync *sync);

#endif
