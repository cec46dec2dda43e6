/* What the files of barrier_cases share. */
#ifndef PROGRAMS_BARRIER_CASES_H
#define PROGRAMS_BARRIER_CASES_H

#include <stddef.h>

#include "kit.h"

struct barrier_case {
    const char *name; /* case, what it shows */
    void (*run)(struct kit *kit);
    bool swapchain;
    bool faults;    /* there is a faulty variant */
    bool partly;    /* of the faults some can't be repaired and are only reported */
    bool rendering; /* there is a variant with dynamic rendering */
    uint32_t extras;
};

extern const struct barrier_case shader_cases[], shader_body_cases[];
extern const size_t shader_case_count, shader_body_case_count;

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define SRC VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DST VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define COLOR VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define READ VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define PRESENT VK_IMAGE_LAYOUT_PRESENT_SRC_KHR
#define RGBA VK_FORMAT_R8G8B8A8_UNORM

static inline struct kit_range mip_range(uint32_t mip, uint32_t count)
{
    return (struct kit_range){VK_IMAGE_ASPECT_COLOR_BIT, mip, count, 0, VK_REMAINING_ARRAY_LAYERS};
}

static inline struct kit_range layer_range(uint32_t layer, uint32_t count)
{
    return (struct kit_range){VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, layer, count};
}

#endif
