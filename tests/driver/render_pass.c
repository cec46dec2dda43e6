#include "pipelines.h"

#include <stdlib.h>
#include <string.h>

#include "oracle_pass.h"

static bool used(uint32_t attachment)
{
    return attachment != VK_ATTACHMENT_UNUSED;
}

static void note_subpass(struct render_pass *pass, uint32_t subpass, uint32_t colors, bool depth)
{
    if (subpass >= RENDER_PASS_MAX_SUBPASSES)
        return;
    pass->colors |= (uint32_t)(colors != 0) << subpass;
    pass->depths |= (uint32_t)depth << subpass;
}

static uint64_t hash_attachment(uint64_t hash, VkFormat format, VkSampleCountFlagBits samples)
{
    return hash_number(hash_number(hash, format), samples);
}

static void render_pass_finish(struct object *object)
{
    oracle_pass_destroy(((struct render_pass *)object)->oracle);
}

VkResult driver_vkCreateRenderPass(VkDevice device, const VkRenderPassCreateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkRenderPass *out)
{
    struct render_pass *pass =
        object_create(object_list_of(device), VK_OBJECT_TYPE_RENDER_PASS, sizeof(*pass));

    if (!pass)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pass->hashed.base.finish = render_pass_finish;
    if (OBJECT(device, device)->oracle.on)
        pass->oracle = oracle_pass_create(info);
    pass->hashed.hash = HASH_START;
    for (uint32_t i = 0; i < info->attachmentCount; i++)
        pass->hashed.hash =
            hash_attachment(pass->hashed.hash, info->pAttachments[i].format, info->pAttachments[i].samples);
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        const VkSubpassDescription *subpass = &info->pSubpasses[i];

        note_subpass(pass, i, subpass->colorAttachmentCount,
                     subpass->pDepthStencilAttachment && used(subpass->pDepthStencilAttachment->attachment));
        pass->hashed.hash = hash_number(pass->hashed.hash, subpass->colorAttachmentCount);
        for (uint32_t j = 0; j < subpass->colorAttachmentCount; j++)
            pass->hashed.hash = hash_number(pass->hashed.hash, subpass->pColorAttachments[j].attachment);
    }
    *out = HANDLE(VkRenderPass, pass);
    return VK_SUCCESS;
}

VkResult driver_vkCreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2 *info,
                                    const VkAllocationCallbacks *allocator, VkRenderPass *out)
{
    struct render_pass *pass =
        object_create(object_list_of(device), VK_OBJECT_TYPE_RENDER_PASS, sizeof(*pass));

    if (!pass)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pass->hashed.base.finish = render_pass_finish;
    if (OBJECT(device, device)->oracle.on)
        pass->oracle = oracle_pass_create2(info);
    pass->hashed.hash = HASH_START;
    for (uint32_t i = 0; i < info->attachmentCount; i++)
        pass->hashed.hash =
            hash_attachment(pass->hashed.hash, info->pAttachments[i].format, info->pAttachments[i].samples);
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        const VkSubpassDescription2 *subpass = &info->pSubpasses[i];

        note_subpass(pass, i, subpass->colorAttachmentCount,
                     subpass->pDepthStencilAttachment && used(subpass->pDepthStencilAttachment->attachment));
        pass->hashed.hash = hash_number(pass->hashed.hash, subpass->colorAttachmentCount);
        for (uint32_t j = 0; j < subpass->colorAttachmentCount; j++)
            pass->hashed.hash = hash_number(pass->hashed.hash, subpass->pColorAttachments[j].attachment);
    }
    *out = HANDLE(VkRenderPass, pass);
    return VK_SUCCESS;
}

void driver_vkGetRenderAreaGranularity(VkDevice device, VkRenderPass pass, VkExtent2D *out)
{
    *out = (VkExtent2D){1, 1};
}

static void framebuffer_finish(struct object *object)
{
    free(((struct framebuffer *)object)->views);
}

VkResult driver_vkCreateFramebuffer(VkDevice device, const VkFramebufferCreateInfo *info,
                                    const VkAllocationCallbacks *allocator, VkFramebuffer *out)
{
    const bool imageless = info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
    struct framebuffer *framebuffer =
        object_create(object_list_of(device), VK_OBJECT_TYPE_FRAMEBUFFER, sizeof(*framebuffer));

    if (!framebuffer)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    framebuffer->base.finish = framebuffer_finish;
    framebuffer->layers = info->layers;
    if (!imageless && info->attachmentCount) {
        framebuffer->views = calloc(info->attachmentCount, sizeof(*framebuffer->views));
        if (!framebuffer->views) {
            object_destroy(&framebuffer->base, VK_OBJECT_TYPE_FRAMEBUFFER);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        memcpy(framebuffer->views, info->pAttachments, info->attachmentCount * sizeof(*framebuffer->views));
        framebuffer->view_count = info->attachmentCount;
    }
    *out = HANDLE(VkFramebuffer, framebuffer);
    return VK_SUCCESS;
}
