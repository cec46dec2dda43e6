/* Events. Their barriers are never changed: what is given at a set must be given at its waits, which another
 * command buffer may hold. */
#include "sync/layout.h"
#include "sync/record.h"
#include "sync/record_call.h"
#include "sync/record_hold.h"

/* Spec, vkCmdWaitEvents2: the transition happens after what comes before the set. So a repair is in time only
 * in front of that. */
static void use_old_layouts(struct command_buffer *buffer, const struct record_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++) {
        VkImageMemoryBarrier2 info = record_call_image(call, i);
        struct image *image = image_find(buffer->sync, info.image);
        struct subresource_range range;
        struct contract_barrier barrier;
        if (!image || info.srcQueueFamilyIndex != info.dstQueueFamilyIndex ||
            layout_is_initial(info.oldLayout) ||
            record_call_effect(buffer, call, image, &info, &barrier) != EFFECT_TRANSITION ||
            !image_range(image, &info.subresourceRange, false, &range))
            continue;
        record_use(buffer, call->command, image, &range, info.oldLayout,
                   access_chain_stages(info.srcStageMask), info.srcAccessMask);
    }
}

void hook_CmdSetEvent2(struct command_buffer *self, PFN_vkCmdSetEvent2 next, VkCommandBuffer commandBuffer,
                       VkEvent event, const VkDependencyInfo *pDependencyInfo)
{
    struct record_call call = record_call_of_info(COMMAND_CmdSetEvent2, pDependencyInfo);
    use_old_layouts(self, &call);
    record_flush(self);
    next(commandBuffer, event, pDependencyInfo);
}

static void follow(struct command_buffer *buffer, const struct record_call *call)
{
    if (record_is_inside(buffer))
        record_call_follow_inside(buffer, call);
    else
        record_call_follow(buffer, call);
}

void hook_CmdWaitEvents(struct command_buffer *self, PFN_vkCmdWaitEvents next, VkCommandBuffer commandBuffer,
                        uint32_t eventCount, const VkEvent *pEvents, VkPipelineStageFlags srcStageMask,
                        VkPipelineStageFlags dstStageMask, uint32_t memoryBarrierCount,
                        const VkMemoryBarrier *pMemoryBarriers, uint32_t bufferMemoryBarrierCount,
                        const VkBufferMemoryBarrier *pBufferMemoryBarriers, uint32_t imageMemoryBarrierCount,
                        const VkImageMemoryBarrier *pImageMemoryBarriers)
{
    struct record_call call = {
        .command = COMMAND_CmdWaitEvents,
        .origin = BARRIER_SYNC1,
        .source1 = srcStageMask,
        .destination1 = dstStageMask,
        .image_count = imageMemoryBarrierCount,
        .images = pImageMemoryBarriers,
    };
    follow(self, &call);
    if (RECORD_HOLDS(self, body_put_CmdWaitEvents(&self->hold.body, next, eventCount, pEvents, srcStageMask,
                                                  dstStageMask, memoryBarrierCount, pMemoryBarriers,
                                                  bufferMemoryBarrierCount, pBufferMemoryBarriers,
                                                  imageMemoryBarrierCount, pImageMemoryBarriers)))
        return;
    record_flush(self);
    next(commandBuffer, eventCount, pEvents, srcStageMask, dstStageMask, memoryBarrierCount, pMemoryBarriers,
         bufferMemoryBarrierCount, pBufferMemoryBarriers, imageMemoryBarrierCount, pImageMemoryBarriers);
}

void hook_CmdWaitEvents2(struct command_buffer *self, PFN_vkCmdWaitEvents2 next,
                         VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent *pEvents,
                         const VkDependencyInfo *pDependencyInfos)
{
    for (uint32_t i = 0; i < eventCount; i++) {
        struct record_call call = record_call_of_info(COMMAND_CmdWaitEvents2, &pDependencyInfos[i]);
        follow(self, &call);
    }
    if (RECORD_HOLDS(self,
                     body_put_CmdWaitEvents2(&self->hold.body, next, eventCount, pEvents, pDependencyInfos)))
        return;
    record_flush(self);
    next(commandBuffer, eventCount, pEvents, pDependencyInfos);
}
