/* What a sequence of barrier calls orders, worked out call by call from the specification's chapter on
 * synchronization and without looking at barrier_batch.c. A small world: four stages that commands act in,
 * two images of two mips, three buffers of two halves, of which the last two are in the same memory, and
 * other memory.
 *
 * Before the sequence stand, for each stage and each resource, a read, a write, and a write that an earlier
 * barrier made available to that stage. After it stand a read and a write for each stage and resource. */
#ifndef RC_TESTS_MODEL_BARRIERS_H
#define RC_TESTS_MODEL_BARRIERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "sync/barrier_batch.h"

/* Stages, as bits. The two ends are no stage that acts, but chains go through them. */
#define MODEL_STAGES 4
enum {
    MODEL_COPY = 1,
    MODEL_FRAGMENT = 2,
    MODEL_COLOR = 4,
    MODEL_COMPUTE = 8,
    MODEL_TOP = 16,
    MODEL_BOTTOM = 32
};
#define MODEL_ACTING 15
#define MODEL_ALL 63

#define MODEL_IMAGES 2
#define MODEL_MIPS 2
#define MODEL_SUBRESOURCES (MODEL_IMAGES * MODEL_MIPS)
#define MODEL_BUFFERS 3
#define MODEL_BUFFER_MEMORIES 2
#define MODEL_HALF 256 /* bytes */
#define MODEL_RESOURCES (MODEL_SUBRESOURCES + 2 * MODEL_BUFFER_MEMORIES + 1)
#define MODEL_EVENTS (2 * MODEL_STAGES) /* writes in a stage, then writes available to a stage */
#define MODEL_TRANSITIONS 16

#define MODEL_IMAGE(i) ((VkImage)(uintptr_t)(0x1000 + 16 * (i)))
#define MODEL_BUFFER(i) ((VkBuffer)(uintptr_t)(0x2000 + 16 * (i)))

struct model_transition {
    VkImageLayout from, to;
    uint32_t from_family, to_family;
    uint8_t after;     /* stages whose earlier commands it waits for */
    uint8_t available; /* events whose writes it finds available */
    bool chained;      /* waits for the transition before it */
    uint8_t reach;     /* stages that wait for it */
    uint8_t visible;   /* reads (low half) and writes (high half) of stages that see its result */
};

/* Until sync2 ALL_COMMANDS and ALL_GRAPHICS were "the logical OR of every" stage, the ends among them. A
 * program may be of that time, the driver of another: each reading must hold. */
enum model_reading { MODEL_WITHOUT_ENDS, MODEL_WITH_ENDS, MODEL_READINGS };

struct model {
    enum model_reading reading;
    uint8_t reach[MODEL_STAGES]; /* stages that wait for earlier commands in this one */
    uint8_t available[MODEL_RESOURCES][MODEL_EVENTS];
    uint8_t visible[MODEL_RESOURCES][MODEL_EVENTS];
    uint32_t count[MODEL_RESOURCES];
    struct model_transition transitions[MODEL_RESOURCES][MODEL_TRANSITIONS];
};

static inline void model_init(struct model *model, enum model_reading reading)
{
    memset(model, 0, sizeof(*model));
    model->reading = reading;
    for (int r = 0; r < MODEL_RESOURCES; r++)
        for (int s = 0; s < MODEL_STAGES; s++)
            model->available[r][MODEL_STAGES + s] = (uint8_t)(1 << s);
}

/* Stages that a mask names. */
static inline uint8_t model_named(VkPipelineStageFlags2 mask, enum model_reading reading)
{
    uint8_t ends = reading == MODEL_WITH_ENDS ? MODEL_TOP | MODEL_BOTTOM : 0;
    uint8_t named = 0;
    if (mask & (VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT))
        named |= MODEL_COPY;
    if (mask & VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT)
        named |= MODEL_FRAGMENT;
    if (mask & VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT)
        named |= MODEL_COLOR;
    if (mask & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT)
        named |= MODEL_COMPUTE;
    if (mask & VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT)
        named |= MODEL_TOP;
    if (mask & VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)
        named |= MODEL_BOTTOM;
    if (mask & VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT)
        named |= MODEL_FRAGMENT | MODEL_COLOR | ends;
    if (mask & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        named |= MODEL_ACTING | ends;
    return named;
}

static inline uint8_t model_source(uint8_t named)
{
    if (named & MODEL_BOTTOM)
        return MODEL_ALL;
    if (named & MODEL_COLOR)
        named |= MODEL_FRAGMENT;
    return named ? named | MODEL_TOP : 0;
}

static inline uint8_t model_destination(uint8_t named)
{
    if (named & MODEL_TOP)
        return MODEL_ALL;
    if (named & MODEL_FRAGMENT)
        named |= MODEL_COLOR;
    return named ? named | MODEL_BOTTOM : 0;
}

/* Stages among `named` whose reads (or writes) the access mask has. */
static inline uint8_t model_reads(VkAccessFlags2 access, uint8_t named)
{
    uint8_t stages = 0;
    if (access & VK_ACCESS_2_TRANSFER_READ_BIT)
        stages |= MODEL_COPY;
    if (access & VK_ACCESS_2_SHADER_READ_BIT)
        stages |= MODEL_FRAGMENT | MODEL_COMPUTE;
    if (access & VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT)
        stages |= MODEL_COLOR;
    if (access & VK_ACCESS_2_MEMORY_READ_BIT)
        stages |= MODEL_ACTING;
    return stages & named;
}

static inline uint8_t model_writes(VkAccessFlags2 access, uint8_t named)
{
    uint8_t stages = 0;
    if (access & VK_ACCESS_2_TRANSFER_WRITE_BIT)
        stages |= MODEL_COPY;
    if (access & VK_ACCESS_2_SHADER_WRITE_BIT)
        stages |= MODEL_FRAGMENT | MODEL_COMPUTE;
    if (access & VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT)
        stages |= MODEL_COLOR;
    if (access & VK_ACCESS_2_MEMORY_WRITE_BIT)
        stages |= MODEL_ACTING;
    return stages & named;
}

/* One dependency: which stages and accesses, of which resources, and what it does to them besides. */
struct model_dependency {
    uint8_t source, destination; /* with what is logically earlier, later */
    uint8_t writes;              /* stages whose writes become available */
    uint8_t visible;             /* as in struct model_transition */
    uint32_t resources;
    bool changes; /* a layout transition or a transfer of ownership */
    VkImageLayout from, to;
    uint32_t from_family, to_family;
};

static inline struct model_dependency model_masks(const struct model *model, VkPipelineStageFlags2 source,
                                                  VkAccessFlags2 source_access,
                                                  VkPipelineStageFlags2 destination,
                                                  VkAccessFlags2 destination_access)
{
    uint8_t from = model_named(source, model->reading), to = model_named(destination, model->reading);
    return (struct model_dependency){
        .source = model_source(from),
        .destination = model_destination(to),
        .writes = model_writes(source_access, from),
        .visible = (uint8_t)(model_reads(destination_access, to) | model_writes(destination_access, to) << 4),
    };
}

static inline void model_apply_one(struct model *model, const struct model *before,
                                   const struct model_dependency *d)
{
    for (int s = 0; s < MODEL_STAGES; s++)
        if ((d->source & 1 << s) || (d->source & before->reach[s]))
            model->reach[s] |= d->destination;
    for (int r = 0; r < MODEL_RESOURCES; r++) {
        bool concerned = d->resources & 1u << r;
        uint8_t found = 0;
        for (int e = 0; e < MODEL_EVENTS; e++) {
            bool made = concerned && e < MODEL_STAGES && (d->writes & 1 << e);
            if (!made && !(before->available[r][e] & d->source))
                continue;
            found |= (uint8_t)(1 << e);
            model->available[r][e] |= d->destination;
            if (concerned)
                model->visible[r][e] |= d->visible;
        }
        for (uint32_t t = 0; t < before->count[r]; t++) {
            if (!(before->transitions[r][t].reach & d->source))
                continue;
            model->transitions[r][t].reach |= d->destination;
            if (concerned)
                model->transitions[r][t].visible |= d->visible;
        }
        if (!concerned || !d->changes || model->count[r] == MODEL_TRANSITIONS)
            continue;
        uint32_t last = before->count[r];
        struct model_transition *t = &model->transitions[r][model->count[r]++];
        *t = (struct model_transition){
            .from = d->from, .to = d->to, .from_family = d->from_family, .to_family = d->to_family};
        for (int s = 0; s < MODEL_STAGES; s++)
            if ((d->source & 1 << s) || (d->source & before->reach[s]))
                t->after |= (uint8_t)(1 << s);
        t->available = found;
        t->chained = last == 0 || (before->transitions[r][last - 1].reach & d->source);
        t->reach = d->destination;
        t->visible = d->visible;
    }
}

static inline uint32_t model_image_resources(const VkImageMemoryBarrier2 *barrier)
{
    uint32_t resources = 0;
    for (uint32_t i = 0; i < MODEL_IMAGES; i++)
        for (uint32_t mip = 0; mip < MODEL_MIPS; mip++)
            if (barrier->image == MODEL_IMAGE(i) && mip >= barrier->subresourceRange.baseMipLevel &&
                mip - barrier->subresourceRange.baseMipLevel < barrier->subresourceRange.levelCount)
                resources |= 1u << (i * MODEL_MIPS + mip);
    return resources;
}

static inline uint32_t model_buffer_resources(const VkBufferMemoryBarrier2 *barrier)
{
    uint32_t resources = 0;
    for (uint32_t i = 0; i < MODEL_BUFFERS; i++) {
        uint32_t memory = i < MODEL_BUFFER_MEMORIES ? i : MODEL_BUFFER_MEMORIES - 1;
        for (uint32_t half = 0; half < 2; half++)
            if (barrier->buffer == MODEL_BUFFER(i) && barrier->offset < (half + 1) * MODEL_HALF &&
                barrier->offset + barrier->size > half * MODEL_HALF)
                resources |= 1u << (MODEL_SUBRESOURCES + 2 * memory + half);
    }
    return resources;
}

/* One call. Barriers of one call don't chain with each other: all of them look at what was before it. As
 * sync1, all have the stages of the call. */
static inline void model_apply(struct model *model, const struct barrier_call *call, bool sync1)
{
    struct model before = *model;
    VkPipelineStageFlags2 source = 0, destination = 0;
    if (call->origin == BARRIER_SYNC1) {
        source = call->source1;
        destination = call->destination1;
    }
    for (uint32_t i = 0; sync1 && i < call->memory_count; i++) {
        source |= call->memory[i].srcStageMask;
        destination |= call->memory[i].dstStageMask;
    }
    for (uint32_t i = 0; sync1 && i < call->buffer_count; i++) {
        source |= call->buffers[i].srcStageMask;
        destination |= call->buffers[i].dstStageMask;
    }
    for (uint32_t i = 0; sync1 && i < call->image_count; i++) {
        source |= call->images[i].srcStageMask;
        destination |= call->images[i].dstStageMask;
    }
    if (sync1) {
        struct model_dependency d = model_masks(model, source, 0, destination, 0);
        model_apply_one(model, &before, &d);
    }
    for (uint32_t i = 0; i < call->memory_count; i++) {
        const VkMemoryBarrier2 *b = &call->memory[i];
        struct model_dependency d = model_masks(model, sync1 ? source : b->srcStageMask, b->srcAccessMask,
                                                sync1 ? destination : b->dstStageMask, b->dstAccessMask);
        d.resources = (1u << MODEL_RESOURCES) - 1;
        model_apply_one(model, &before, &d);
    }
    for (uint32_t i = 0; i < call->buffer_count; i++) {
        const VkBufferMemoryBarrier2 *b = &call->buffers[i];
        struct model_dependency d = model_masks(model, sync1 ? source : b->srcStageMask, b->srcAccessMask,
                                                sync1 ? destination : b->dstStageMask, b->dstAccessMask);
        d.resources = model_buffer_resources(b);
        d.changes = b->srcQueueFamilyIndex != b->dstQueueFamilyIndex;
        d.from_family = b->srcQueueFamilyIndex;
        d.to_family = b->dstQueueFamilyIndex;
        model_apply_one(model, &before, &d);
    }
    for (uint32_t i = 0; i < call->image_count; i++) {
        const VkImageMemoryBarrier2 *b = &call->images[i];
        struct model_dependency d = model_masks(model, sync1 ? source : b->srcStageMask, b->srcAccessMask,
                                                sync1 ? destination : b->dstStageMask, b->dstAccessMask);
        d.resources = model_image_resources(b);
        d.changes = b->oldLayout != b->newLayout || b->srcQueueFamilyIndex != b->dstQueueFamilyIndex;
        d.from = b->oldLayout;
        d.to = b->newLayout;
        d.from_family = b->srcQueueFamilyIndex;
        d.to_family = b->dstQueueFamilyIndex;
        model_apply_one(model, &before, &d);
    }
}

/* Whether each transition of a resource waits for the one before it. */
static inline bool model_all_chained(const struct model *model, int r)
{
    for (uint32_t i = 1; i < model->count[r]; i++)
        if (!model->transitions[r][i].chained)
            return false;
    return true;
}

/* Whether the second, right after the first, can be folded into it. */
static inline bool model_folds(const struct model_transition *first, const struct model_transition *second)
{
    return first->from_family == first->to_family && second->from_family == second->to_family &&
           (second->from == first->to || second->from == VK_IMAGE_LAYOUT_UNDEFINED);
}

/* The transitions of a resource with all folded that can be; returns how many are left. */
static inline uint32_t model_reduce(const struct model *model, int r, struct model_transition *reduced)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->count[r]; i++) {
        reduced[count++] = model->transitions[r][i];
        while (count > 1 && model_folds(&reduced[count - 2], &reduced[count - 1])) {
            struct model_transition *first = &reduced[count - 2], *second = &reduced[count - 1];
            first->to = second->to;
            if (second->from == VK_IMAGE_LAYOUT_UNDEFINED)
                first->from = second->from;
            count--;
            if (first->from == first->to)
                count--;
        }
    }
    return count;
}

/* Nothing else happens to the resource: the same layouts, discards and transfers of ownership. */
static inline bool model_same_changes(const struct model *was, const struct model *is, int r)
{
    struct model_transition a[MODEL_TRANSITIONS], b[MODEL_TRANSITIONS];
    uint32_t count = model_reduce(was, r, a);
    if (count != model_reduce(is, r, b))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool transfers = a[i].from_family != a[i].to_family;
        if (a[i].from != b[i].from || a[i].to != b[i].to ||
            (b[i].from_family != b[i].to_family) != transfers ||
            (transfers && (a[i].from_family != b[i].from_family || a[i].to_family != b[i].to_family)))
            return false;
    }
    return true;
}

#define MODEL_COVERS(a, b) (!((b) & ~(a)))

/* A way there and back that is left out: who was waited for before it is waited for by those who waited for
 * its end. */
static inline const char *model_compare_nothing(const struct model *was, const struct model *is, int r)
{
    const struct model_transition *first = &was->transitions[r][0];
    const struct model_transition *last = &was->transitions[r][was->count[r] - 1];
    for (int s = 0; s < MODEL_STAGES; s++)
        if ((first->after & 1 << s) && !MODEL_COVERS(is->reach[s], last->reach))
            return "the way there and back orders less than before";
    for (int e = 0; e < MODEL_EVENTS; e++)
        if ((first->available & 1 << e) && (!MODEL_COVERS(is->available[r][e], last->reach) ||
                                            !MODEL_COVERS(is->visible[r][e], last->visible)))
            return "the way there and back shows less than before";
    return NULL;
}

/* The transitions of one resource: NULL, or what is wrong with the second sequence. */
static inline const char *model_compare_transitions(const struct model *was, const struct model *is, int r)
{
    uint32_t n = was->count[r], m = is->count[r];
    if (m > n)
        return "a transition that nobody asked for";
    if (!model_same_changes(was, is, r))
        return "another transition, discard or transfer of ownership";
    /* Of more than two, a way there and back may have gone; then the first and last aren't those of before,
     * and where they didn't wait for each other they have nothing to do with them. */
    if (m < n && n > 2 && !model_all_chained(was, r))
        return NULL;
    if (m == 0)
        return n ? model_compare_nothing(was, is, r) : NULL;
    const struct model_transition *first = &was->transitions[r][0], *last = &was->transitions[r][n - 1];
    const struct model_transition *new_first = &is->transitions[r][0], *new_last = &is->transitions[r][m - 1];
    if (!MODEL_COVERS(new_first->after, first->after))
        return "a transition waits for less than before";
    if (!MODEL_COVERS(new_first->available, first->available))
        return "a transition finds less available than before";
    if (!MODEL_COVERS(new_last->reach, last->reach) || !MODEL_COVERS(new_last->visible, last->visible))
        return "less waits for a transition than before";
    for (uint32_t i = 0; n == m && i < n; i++) {
        const struct model_transition *a = &was->transitions[r][i], *b = &is->transitions[r][i];
        if (!MODEL_COVERS(b->after, a->after) || !MODEL_COVERS(b->available, a->available) ||
            !MODEL_COVERS(b->reach, a->reach) || !MODEL_COVERS(b->visible, a->visible) ||
            (a->chained && !b->chained))
            return "transitions are ordered less than before";
    }
    if (model_all_chained(was, r) && !model_all_chained(is, r))
        return "transitions of one image aren't ordered any more";
    return NULL;
}

/* What the sequence `was` orders, shows and changes, `is` does too. */
static inline const char *model_compare(const struct model *was, const struct model *is)
{
    for (int s = 0; s < MODEL_STAGES; s++)
        if (!MODEL_COVERS(is->reach[s], was->reach[s]))
            return "less is ordered than before";
    for (int r = 0; r < MODEL_RESOURCES; r++) {
        for (int e = 0; e < MODEL_EVENTS; e++) {
            if (!MODEL_COVERS(is->available[r][e], was->available[r][e]))
                return "less is available than before";
            if (!MODEL_COVERS(is->visible[r][e], was->visible[r][e]))
                return "less is visible than before";
        }
        const char *problem = model_compare_transitions(was, is, r);
        if (problem)
            return problem;
    }
    return NULL;
}

/* Nothing waits that didn't wait before. Not so where transitions are folded, which unites masks. */
static inline bool model_orders_more(const struct model *was, const struct model *is)
{
    for (int s = 0; s < MODEL_STAGES; s++)
        if (!MODEL_COVERS(was->reach[s], is->reach[s]))
            return true;
    return false;
}

#endif
