/* Descriptor sets, as far as the oracle looks into them: which image stands where in which layout. Of devices
 * without an oracle nothing is kept.
 *
 * Contents change under the device's lock, since sets with UPDATE_AFTER_BIND may be written while others of
 * their descriptors are in use. */
#ifndef DRIVER_DESCRIPTORS_H
#define DRIVER_DESCRIPTORS_H

#include <stdatomic.h>

#include "state_hash.h"

struct set_binding {
    uint32_t number;
    uint32_t count; /* 0: an inline uniform block, or a binding that only reserves its number */
    uint32_t first; /* slot */
    VkDescriptorBindingFlags flags;
};

/* What a set layout says; lives on in pools' sets and pipeline layouts when the layout itself is destroyed.
 */
struct set_shape {
    atomic_uint references;
    uint32_t slots;
    uint32_t count;
    struct set_binding bindings[]; /* by number */
};

struct set_layout {
    struct hashed_object hashed;
    struct set_shape *shape; /* NULL if the oracle is off */
};

struct pipeline_layout {
    struct hashed_object hashed;
    uint32_t count;            /* 0 if the oracle is off */
    struct set_shape **shapes; /* NULL where the pipeline layout names none */
};

/* A slot. No view: not written yet, written without one, or no image. */
struct descriptor {
    VkDescriptorType type;
    VkImageLayout layout;
    VkImageView view;
};

struct descriptor_set {
    struct object base;
    struct set_shape *shape; /* NULL if the oracle is off */
    uint32_t slots;          /* less than the shape's where the last binding's count is variable */
    struct descriptor *descriptors;
};

/* The binding of this number; NULL if there is none. */
const struct set_binding *shape_binding(const struct set_shape *shape, uint32_t number);

/* Consecutive descriptors from an element of a binding on: "if dstArrayElement + descriptorCount is greater
 * than the number of array elements ... the remainder will be used to update the subsequent binding, starting
 * at array element zero". */
struct slot_walk {
    const struct set_shape *shape;
    const struct set_binding *binding;
    uint32_t element;
    uint32_t slot; /* where the walk stands, after slot_walk_next() */
};
void slot_walk_begin(struct slot_walk *walk, const struct set_shape *shape, uint32_t number,
                     uint32_t element);
/* False behind the last slot. */
bool slot_walk_next(struct slot_walk *walk);

/* Where written descriptors come from: VkWriteDescriptorSet, or the data behind a template's entry. */
struct descriptor_source {
    VkDescriptorType type;
    const char *images; /* of VkDescriptorImageInfo; used with types that have an image */
    size_t stride;
};
struct descriptor_source write_source(const VkWriteDescriptorSet *write);
struct descriptor_source template_source(const VkDescriptorUpdateTemplateEntry *entry, const void *data);
struct descriptor source_descriptor(const struct descriptor_source *source, uint32_t index);

struct update_template {
    struct object base;
    VkPipelineBindPoint point; /* of those for pushes */
    uint32_t count;
    VkDescriptorUpdateTemplateEntry *entries; /* owned; none if the oracle is off */
};

#endif
