/* VK_EXT_host_image_copy: the host transitions images and copies to and from them. It does so at once, with
 * no submission: what is wrong can only be reported. */
#include "compat.h"
#include "hooks.h"
#include "sync/finding.h"
#include "sync/image.h"
#include "sync/layout.h"
#include "sync_commands.h"

/* What the host does to one range of one image. */
struct host_use {
    struct image *image;
    struct subresource_range range;
    VkImageLayout layout; /* that it must be in */
    bool transition;      /* then to `new_layout` */
    VkImageLayout new_layout;
    bool wrong; /* it was in another, `had`, somewhere: the first place */
    VkImageLayout had;
    struct subresource_range where;
};

static void check(struct host_use *use, const struct subresource_range *range, const struct access *access)
{
    if (use->layout == VK_IMAGE_LAYOUT_UNDEFINED || use->wrong || access->flags & ACCESS_UNKNOWN)
        return;
    for (uint32_t i = 0; i < use->image->aspect_count; i++) {
        if (!(range->aspects & 1u << i) ||
            layout_matches(access->layout, use->layout, use->image->aspects[i]))
            continue;
        use->wrong = true;
        use->had = access->layout;
        use->where = *range;
    }
}

static void look(void *context, const struct subresource_range *range, const void *value)
{
    check(context, range, value);
}

/* The device needs no barrier after it: what the host wrote before a submit is visible to it. Who owns the
 * image is the same as before. */
static void transition(void *context, const struct subresource_range *range, void *value)
{
    struct host_use *use = context;
    struct access *access = value;
    check(use, range, access);
    uint8_t family = access->flags ? ACCESS_NO_FAMILY : access->family;
    *access = access_initial(use->new_layout);
    access->family = family;
}

static void use_image(struct host_use *use)
{
    struct image *image = use->image;
    if (!image_is_tracked(image))
        return;
    pthread_mutex_lock(&image->sync->lock);
    if (!use->transition) {
        subresource_map_read(&image->state, &use->range, look, use);
    } else if (!image->unresolved) {
        image->touched = 0; /* no submit's any more, should one be undone */
        if (!subresource_map_update(&image->state, &use->range, transition, use)) {
            struct access unknown = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
            unknown.flags = ACCESS_UNKNOWN;
            subresource_map_set_all(&image->state, &unknown);
        }
    }
    pthread_mutex_unlock(&image->sync->lock);
}

static void report(struct device_sync *sync, const struct host_use *use, enum sync_command command)
{
    if (!use->wrong)
        return;
    struct finding finding = {
        .kind = use->transition ? FINDING_WRONG_OLD_LAYOUT : FINDING_MISSING_TRANSITION,
        .place = PLACE_NOWHERE,
        .image = use->image,
        .range = use->where,
        .command = (uint16_t)command,
        .labels = "",
        .had = use->had,
        .needed = use->layout,
    };
    finding_report(sync, &finding);
}

VkResult hook_TransitionImageLayoutEXT(struct device *self, PFN_compat_vkTransitionImageLayoutEXT next,
                                       VkDevice device, uint32_t transitionCount,
                                       const struct compat_host_image_layout_transition_info *pTransitions)
{
    VkResult result = next(device, transitionCount, pTransitions);
    for (uint32_t i = 0; i < transitionCount; i++) {
        struct host_use use = {
            .image = image_find(self->sync, pTransitions[i].image),
            .layout = pTransitions[i].oldLayout,
            .transition = true,
            .new_layout = pTransitions[i].newLayout,
        };
        if (!use.image)
            continue;
        /* After an error it isn't known which of them were made. */
        if (result != VK_SUCCESS || !layout_is_known(use.new_layout) ||
            !image_range(use.image, &pTransitions[i].subresourceRange, !self->sync->separate_depth_stencil,
                         &use.range)) {
            image_set_untracked(use.image, IMAGE_NEWER);
            continue;
        }
        use_image(&use);
        report(self->sync, &use, COMMAND_TransitionImageLayoutEXT);
    }
    return result;
}

static void check_copy(struct device_sync *sync, VkImage handle, VkImageLayout layout,
                       const VkImageSubresourceLayers *layers, enum sync_command command)
{
    struct host_use use = {.image = image_find(sync, handle), .layout = layout};
    if (!use.image || !image_layers_range(use.image, layers, &use.range))
        return;
    use_image(&use);
    report(sync, &use, command);
}

VkResult hook_CopyMemoryToImageEXT(struct device *self, PFN_compat_vkCopyMemoryToImageEXT next,
                                   VkDevice device, const struct compat_copy_memory_to_image_info *pInfo)
{
    for (uint32_t i = 0; i < pInfo->regionCount; i++)
        check_copy(self->sync, pInfo->dstImage, pInfo->dstImageLayout, &pInfo->pRegions[i].imageSubresource,
                   COMMAND_CopyMemoryToImageEXT);
    return next(device, pInfo);
}

VkResult hook_CopyImageToMemoryEXT(struct device *self, PFN_compat_vkCopyImageToMemoryEXT next,
                                   VkDevice device, const struct compat_copy_image_to_memory_info *pInfo)
{
    for (uint32_t i = 0; i < pInfo->regionCount; i++)
        check_copy(self->sync, pInfo->srcImage, pInfo->srcImageLayout, &pInfo->pRegions[i].imageSubresource,
                   COMMAND_CopyImageToMemoryEXT);
    return next(device, pInfo);
}

VkResult hook_CopyImageToImageEXT(struct device *self, PFN_compat_vkCopyImageToImageEXT next, VkDevice device,
                                  const struct compat_copy_image_to_image_info *pInfo)
{
    for (uint32_t i = 0; i < pInfo->regionCount; i++) {
        check_copy(self->sync, pInfo->srcImage, pInfo->srcImageLayout, &pInfo->pRegions[i].srcSubresource,
                   COMMAND_CopyImageToImageEXT);
        check_copy(self->sync, pInfo->dstImage, pInfo->dstImageLayout, &pInfo->pRegions[i].dstSubresource,
                   COMMAND_CopyImageToImageEXT);
    }
    return next(device, pInfo);
}
