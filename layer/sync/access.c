#include "sync/access.h"

#define NOTHING_STAGES (VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)
#define SHADER_STORAGE_WRITE VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT

struct access access_initial(VkImageLayout layout)
{
    return (struct access){
        .layout = layout,
        .family = ACCESS_NO_FAMILY,
        .queue = ACCESS_NO_QUEUE,
        .other_queue = ACCESS_NO_QUEUE,
    };
}

VkPipelineStageFlags2 access_chain_stages(VkPipelineStageFlags2 stages)
{
    VkPipelineStageFlags2 named = stages & ~NOTHING_STAGES;
    return named ? named : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
}

/* Whether the last write is a transition, and one of these stages comes after it: to wait for that stage is
 * to wait for the transition too. */
static bool is_after_transition(const struct access *access, VkPipelineStageFlags2 stages)
{
    VkPipelineStageFlags2 destination = access->write.stages;
    if (access->write.access || !destination)
        return false;
    return (destination & stages) ||
           (scope_close_destination(scope_expand_stages(destination, 0)) & scope_expand_stages(stages, 0));
}

struct scope access_source(const struct access *access)
{
    struct scope source = {access->reads, scope_writes(access->write.access)};
    if (!is_after_transition(access, access->reads))
        source.stages |= access->write.stages;
    return source;
}

void access_add_use(struct access *access, const struct use *use)
{
    VkAccessFlags2 writes = scope_writes(use->scope.access);
    if (!writes) {
        access->reads |= use->scope.stages;
        return;
    }
    if (is_after_transition(access, use->scope.stages))
        access->write.stages = 0;
    access->write.stages |= use->scope.stages;
    access->write.access |= writes;
    access->visible = (struct scope){0, 0};
}

/* What of `stages` isn't among `reached`, which is expanded. Group bits that aren't reached entirely stay as
 * they are: a queue needn't have all the stages that they stand for. */
static VkPipelineStageFlags2 unreached_stages(VkPipelineStageFlags2 stages, VkPipelineStageFlags2 reached)
{
    if (!(scope_expand_stages(stages, 0) & ~reached))
        return 0;
    return stages & ~reached;
}

static VkAccessFlags2 unreached_writes(VkAccessFlags2 writes, VkAccessFlags2 source)
{
    if (source & VK_ACCESS_2_MEMORY_WRITE_BIT)
        return 0;
    if (source & VK_ACCESS_2_SHADER_WRITE_BIT)
        source |= SHADER_STORAGE_WRITE;
    return writes & ~source;
}

/* Whether a barrier with this source orders everything, seen from the masks as they are: most that do name
 * just what came before. */
static bool orders_all(const struct access *access, const struct scope *source)
{
    VkPipelineStageFlags2 reached = source->stages;
    VkPipelineStageFlags2 stages = access->reads | (access->write.access ? access->write.stages : 0);
    if (reached & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        reached = ~VK_PIPELINE_STAGE_2_HOST_BIT;
    bool transition = access->write.access || !access->write.stages || (access->write.stages & reached);
    return !(stages & ~reached) && transition && !unreached_writes(access->write.access, source->access);
}

/* A transition that nothing has been seen to order: to wait for all its destination stages is to wait for it,
 * which is how reads are kept. */
static void keep_transition(struct access *access)
{
    if (!access->write.access) {
        access->reads |= access->write.stages;
        access->write.stages = 0;
    }
}

/* Takes out what a barrier with this source orders. Accesses aren't kept by stage: while a stage is left, all
 * of them are. */
static void take_ordered(struct access *access, const struct scope *source)
{
    if (!source->stages)
        return;
    if (orders_all(access, source)) {
        access->write = (struct scope){0, 0};
        access->reads = 0;
        return;
    }
    VkPipelineStageFlags2 reached = scope_close_source(scope_expand_stages(source->stages, 0));
    if (is_after_transition(access, reached))
        access->write.stages = 0;
    VkPipelineStageFlags2 stages = unreached_stages(access->write.stages, reached);
    VkAccessFlags2 writes = unreached_writes(access->write.access, source->access);
    access->reads = unreached_stages(access->reads, reached);
    if (stages)
        access->write.stages = stages;
    else if (writes)
        access->write.access = writes;
    else
        access->write = (struct scope){0, 0};
}

void access_add_barrier(struct access *access, VkImageLayout layout, const struct scope *source,
                        const struct scope *destination)
{
    take_ordered(access, source);
    keep_transition(access);
    access->layout = layout;
    access->write.stages |= access_chain_stages(destination->stages);
    access->visible = *destination;
}

void access_follow(struct access *access, const struct access *after, const struct scope *ordered)
{
    take_ordered(access, ordered);
    if (after->write.stages) {
        if (after->write.access && is_after_transition(access, after->write.stages))
            access->write.stages = 0;
        keep_transition(access);
        access->visible = after->visible;
    }
    access->write.stages |= after->write.stages;
    access->write.access |= after->write.access;
    access->reads |= after->reads;
    access->layout = after->layout;
    access->flags = after->flags;
    access->family = after->family;
}
