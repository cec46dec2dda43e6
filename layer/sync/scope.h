/* Pipeline stages and accesses. Pure. All masks are those of synchronization2; the low 32 bits are sync1's.
 */
#ifndef RC_SYNC_SCOPE_H
#define RC_SYNC_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

struct scope {
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
};

/* Bits of `access` that write. MEMORY_WRITE counts, and so does what this build doesn't know. */
extern const VkAccessFlags2 scope_reads;
static inline VkAccessFlags2 scope_writes(VkAccessFlags2 access)
{
    return access & ~scope_reads;
}

/* Whether all of the stages are known here; of others nothing can be said, neither what they chain with. */
bool scope_knows(VkPipelineStageFlags2 stages);

/* Replaces ALL_COMMANDS, ALL_GRAPHICS, ALL_TRANSFER, PRE_RASTERIZATION_SHADERS, VERTEX_INPUT by the single
 * stages they stand for on a queue with these capabilities (0: any). TOP_OF_PIPE, BOTTOM_OF_PIPE, HOST stay.
 */
VkPipelineStageFlags2 scope_expand_stages(VkPipelineStageFlags2 stages, VkQueueFlags queue);

/* Spec, "Pipeline Stages": a first synchronization scope includes logically earlier stages, a second one
 * logically later ones. These are what a dependency chain is made through: it is there if the destination
 * closure of the first meets the source closure of the second. Expand first. Exact, so that a mask whose
 * closure covers another's orders what that one does; NONE stays NONE. */
VkPipelineStageFlags2 scope_close_source(VkPipelineStageFlags2 stages);
VkPipelineStageFlags2 scope_close_destination(VkPipelineStageFlags2 stages);

/* Stages that a queue with these capabilities has; what is outside is taken out of a repair's masks,
 * ALL_COMMANDS if nothing is left, or for what isn't known. Accesses are then cut to what the stages can do
 * (spec, "Supported access types"). */
VkPipelineStageFlags2 scope_stages_of_queue(VkPipelineStageFlags2 stages, VkQueueFlags queue);
VkAccessFlags2 scope_access_of_stages(VkAccessFlags2 access, VkPipelineStageFlags2 stages);

/* The same as one stage mask and one access mask of sync1: bits beyond 32 become the nearest that includes
 * them (COPY, BLIT, RESOLVE, CLEAR -> TRANSFER; SHADER_SAMPLED_READ -> SHADER_READ; ...), NONE becomes `none`
 * (TOP_OF_PIPE as a source, BOTTOM_OF_PIPE as a destination). */
VkPipelineStageFlags scope_stages1(VkPipelineStageFlags2 stages, VkPipelineStageFlagBits none);
VkAccessFlags scope_access1(VkAccessFlags2 access);

#endif
