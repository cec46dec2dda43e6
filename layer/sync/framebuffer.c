#include <stdlib.h>

#include "chain.h"
#include "hooks.h"
#include "sync/pass.h"

struct framebuffer *framebuffer_find(struct device_sync *sync, VkFramebuffer handle)
{
    return handle ? handle_map_find(&sync->framebuffers, HANDLE_KEY(handle)) : NULL;
}

void framebuffer_release(struct framebuffer *framebuffer)
{
    if (!framebuffer || !object_release(&framebuffer->object))
        return;
    for (uint32_t i = 0; i < framebuffer->attachment_count; i++)
        image_view_release(framebuffer->views[i]);
    free(framebuffer);
}

/* NULL where it isn't understood or there is no memory. */
static struct framebuffer *create(struct device_sync *sync, const VkFramebufferCreateInfo *info)
{
    static const VkStructureType known[] = {VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO};
    if (!chain_is_of(info->pNext, known, 1))
        return NULL;
    struct framebuffer *framebuffer =
        calloc(1, sizeof(*framebuffer) + info->attachmentCount * sizeof(framebuffer->views[0]));
    if (!framebuffer)
        return NULL;
    object_init(&framebuffer->object);
    framebuffer->imageless = info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
    framebuffer->layers = info->layers;
    framebuffer->attachment_count = info->attachmentCount;
    for (uint32_t i = 0; !framebuffer->imageless && i < info->attachmentCount; i++) {
        framebuffer->views[i] = image_view_find(sync, info->pAttachments[i]);
        if (framebuffer->views[i])
            object_acquire(&framebuffer->views[i]->object);
    }
    return framebuffer;
}

/* What render passes do to the images won't be seen. */
static void set_untracked(struct device_sync *sync, const VkFramebufferCreateInfo *info)
{
    if (info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT)
        return;
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        struct image_view *view = image_view_find(sync, info->pAttachments[i]);
        if (view)
            image_set_untracked(view->image, IMAGE_NEWER);
    }
}

VkResult hook_CreateFramebuffer(struct device *self, PFN_vkCreateFramebuffer next, VkDevice device,
                                const VkFramebufferCreateInfo *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkFramebuffer *pFramebuffer)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pFramebuffer);
    if (result != VK_SUCCESS)
        return result;
    struct framebuffer *framebuffer = create(sync, pCreateInfo);
    enum object_inserted inserted =
        framebuffer ? object_insert(&sync->framebuffers, HANDLE_KEY(*pFramebuffer), &framebuffer->object)
                    : OBJECT_NO_MEMORY;
    if (inserted != OBJECT_INSERTED)
        framebuffer_release(framebuffer);
    if (inserted == OBJECT_NO_MEMORY)
        set_untracked(sync, pCreateInfo);
    return result;
}

void hook_DestroyFramebuffer(struct device *self, PFN_vkDestroyFramebuffer next, VkDevice device,
                             VkFramebuffer framebuffer, const VkAllocationCallbacks *pAllocator)
{
    struct object *object = object_remove(&self->sync->framebuffers, HANDLE_KEY(framebuffer));
    framebuffer_release((struct framebuffer *)object);
    next(device, framebuffer, pAllocator);
}
