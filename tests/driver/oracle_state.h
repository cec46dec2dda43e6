/* What is known of an image's subresources: one record per aspect (or plane), mip and layer. A 3D image has
 * one layer, since transitions cover all of its slices. Under the device's lock. */
#ifndef DRIVER_ORACLE_STATE_H
#define DRIVER_ORACLE_STATE_H

#include "memory.h"

/* Of images that others may change: matches every layout. */
#define LAYOUT_UNKNOWN VK_IMAGE_LAYOUT_MAX_ENUM

struct subresource {
    VkImageLayout layout;
    uint32_t owner; /* queue family; VK_QUEUE_FAMILY_IGNORED: nobody's yet */
    bool released;  /* to another family, which hasn't acquired yet */
    uint32_t released_to;
    VkImageLayout released_old;
    VkImageLayout released_new;
    bool defined;          /* contents */
    uint64_t discarded_at; /* oracle_device.hidden_work when the contents were lost */
    uint64_t history;      /* digest of everything that made the contents what they are */
};

struct oracle_image {
    uint32_t aspects;
    uint32_t mips;
    uint32_t layers;
    struct subresource subresources[];
};

/* The subresources of a range, one after the other:
 *     range_walk_begin(&walk, image, &range);
 *     while (range_walk_next(&walk))
 *         ... walk.at
 * What lies outside the image is left out; so is everything if nothing can be known of it. */
struct range_walk {
    struct image *image;
    VkImageSubresourceRange range; /* resolved */
    uint32_t index;                /* of the next one within the range */
    VkImageAspectFlagBits aspect;
    uint32_t mip;
    uint32_t layer;
    struct subresource *at;
};
void range_walk_begin(struct range_walk *walk, VkImage image, const VkImageSubresourceRange *range);
bool range_walk_next(struct range_walk *walk);

/* All aspects that the image has. */
VkImageAspectFlags image_aspects(const struct image *image);

/* With VK_REMAINING_... replaced and the layers of a 3D image taken as one. */
VkImageSubresourceRange range_resolve(const struct image *image, const VkImageSubresourceRange *range);
bool ranges_overlap(const VkImageSubresourceRange *a, const VkImageSubresourceRange *b);

/* Whether both name the same layout of this aspect: "image layout matching rules". */
bool layout_matches(VkImageAspectFlagBits aspect, VkImageLayout a, VkImageLayout b);

enum content_event {
    CONTENT_DISCARD = 1,
    CONTENT_TRANSFER,
    CONTENT_CLEAR,
    CONTENT_RENDER,
    CONTENT_RESOLVE,
    CONTENT_HOST,
    CONTENT_SHADER,
};

/* A discard of what isn't defined is no event. `source` is mixed into the history. */
void subresource_write(struct subresource *at, enum content_event event, uint64_t source);
void subresource_discard(struct subresource *at, const struct device *device);

uint64_t history_mix(uint64_t history, uint64_t value);

#endif
