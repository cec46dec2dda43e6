#include "oracle_pass_info.h"

#include <stdlib.h>

#include "driver.h"
#include "oracle_replay.h"

void oracle_pass_destroy(struct oracle_pass *pass)
{
    if (!pass)
        return;
    free(pass->attachments);
    free(pass->uses);
    free(pass->dependencies);
    free(pass);
}

/* With room for so many; NULL on out of memory. */
static struct oracle_pass *pass_allocate(uint32_t attachments, uint32_t uses, uint32_t dependencies)
{
    struct oracle_pass *pass = calloc(1, sizeof(*pass));

    if (!pass)
        return NULL;
    pass->attachments = calloc((size_t)attachments + 1, sizeof(*pass->attachments));
    pass->uses = calloc((size_t)uses + 1, sizeof(*pass->uses));
    pass->dependencies = calloc((size_t)dependencies + 1, sizeof(*pass->dependencies));
    if (pass->attachments && pass->uses && pass->dependencies)
        return pass;
    oracle_pass_destroy(pass);
    return NULL;
}

static void add_use(struct oracle_pass *pass, uint32_t subpass, uint32_t index, struct pass_layouts layouts,
                    bool writes)
{
    struct pass_attachment *attachment;

    if (index == VK_ATTACHMENT_UNUSED || index >= pass->attachment_count)
        return;
    attachment = &pass->attachments[index];
    attachment->used = true;
    attachment->written |= writes && layout_is_writable(VK_IMAGE_ASPECT_DEPTH_BIT, layouts.main);
    attachment->stencil_written |= writes && layout_is_writable(VK_IMAGE_ASPECT_STENCIL_BIT, layouts.stencil);
    pass->uses[pass->use_count++] = (struct pass_use){subpass, index, layouts};
}

static struct pass_layouts same_layouts(VkImageLayout layout)
{
    return (struct pass_layouts){layout, layout};
}

/* --- The first form --- */

static void add_reference(struct oracle_pass *pass, uint32_t subpass, const VkAttachmentReference *reference,
                          bool writes)
{
    if (reference)
        add_use(pass, subpass, reference->attachment, same_layouts(reference->layout), writes);
}

static void add_subpass(struct oracle_pass *pass, uint32_t index, const VkSubpassDescription *subpass)
{
    for (uint32_t i = 0; i < subpass->inputAttachmentCount; i++)
        add_reference(pass, index, &subpass->pInputAttachments[i], false);
    for (uint32_t i = 0; i < subpass->colorAttachmentCount; i++) {
        add_reference(pass, index, &subpass->pColorAttachments[i], true);
        if (subpass->pResolveAttachments)
            add_reference(pass, index, &subpass->pResolveAttachments[i], true);
    }
    add_reference(pass, index, subpass->pDepthStencilAttachment, true);
}

static void add_density_map(struct oracle_pass *pass, const void *chain)
{
    const VkRenderPassFragmentDensityMapCreateInfoEXT *map =
        chain_find(chain, VK_STRUCTURE_TYPE_RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT);

    if (map)
        add_reference(pass, 0, &map->fragmentDensityMapAttachment, false);
}

static bool has_views(const void *chain)
{
    const VkRenderPassMultiviewCreateInfo *multiview =
        chain_find(chain, VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO);

    for (uint32_t i = 0; multiview && i < multiview->subpassCount; i++) {
        if (multiview->pViewMasks[i])
            return true;
    }
    return false;
}

struct oracle_pass *oracle_pass_create(const VkRenderPassCreateInfo *info)
{
    uint32_t uses = 1; /* the density map */
    struct oracle_pass *pass;

    for (uint32_t i = 0; i < info->subpassCount; i++)
        uses += info->pSubpasses[i].inputAttachmentCount + 2 * info->pSubpasses[i].colorAttachmentCount + 1;
    pass = pass_allocate(info->attachmentCount, uses, info->dependencyCount);
    if (!pass)
        return NULL;
    pass->multiview = has_views(info->pNext);
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        const VkAttachmentDescription *attachment = &info->pAttachments[i];

        pass->attachments[pass->attachment_count++] = (struct pass_attachment){
            .load = attachment->loadOp,
            .stencil_load = attachment->stencilLoadOp,
            .store = attachment->storeOp,
            .stencil_store = attachment->stencilStoreOp,
            .initial = same_layouts(attachment->initialLayout),
            .final = same_layouts(attachment->finalLayout),
        };
    }
    add_density_map(pass, info->pNext);
    for (uint32_t i = 0; i < info->subpassCount; i++)
        add_subpass(pass, i, &info->pSubpasses[i]);
    for (uint32_t i = 0; i < info->dependencyCount; i++) {
        const VkSubpassDependency *dependency = &info->pDependencies[i];

        pass->dependencies[pass->dependency_count++] = (struct pass_dependency){
            dependency->srcSubpass,      dependency->dstSubpass,    dependency->srcStageMask,
            dependency->dstStageMask,    dependency->srcAccessMask, dependency->dstAccessMask,
            dependency->dependencyFlags,
        };
    }
    return pass;
}

/* --- The second form --- */

static struct pass_layouts reference_layouts(const VkAttachmentReference2 *reference)
{
    const VkAttachmentReferenceStencilLayout *stencil =
        chain_find(reference->pNext, VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT);

    return (struct pass_layouts){reference->layout, stencil ? stencil->stencilLayout : reference->layout};
}

static void add_reference2(struct oracle_pass *pass, uint32_t subpass,
                           const VkAttachmentReference2 *reference, bool writes)
{
    if (reference)
        add_use(pass, subpass, reference->attachment, reference_layouts(reference), writes);
}

static void add_subpass2(struct oracle_pass *pass, uint32_t index, const VkSubpassDescription2 *subpass)
{
    const VkSubpassDescriptionDepthStencilResolve *resolve =
        chain_find(subpass->pNext, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE);
    const VkFragmentShadingRateAttachmentInfoKHR *rate =
        chain_find(subpass->pNext, VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);

    for (uint32_t i = 0; i < subpass->inputAttachmentCount; i++)
        add_reference2(pass, index, &subpass->pInputAttachments[i], false);
    for (uint32_t i = 0; i < subpass->colorAttachmentCount; i++) {
        add_reference2(pass, index, &subpass->pColorAttachments[i], true);
        if (subpass->pResolveAttachments)
            add_reference2(pass, index, &subpass->pResolveAttachments[i], true);
    }
    add_reference2(pass, index, subpass->pDepthStencilAttachment, true);
    if (resolve)
        add_reference2(pass, index, resolve->pDepthStencilResolveAttachment, true);
    if (rate)
        add_reference2(pass, index, rate->pFragmentShadingRateAttachment, false);
    pass->multiview |= subpass->viewMask != 0;
}

static struct pass_attachment attachment_from2(const VkAttachmentDescription2 *attachment)
{
    const VkAttachmentDescriptionStencilLayout *stencil =
        chain_find(attachment->pNext, VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT);

    return (struct pass_attachment){
        .load = attachment->loadOp,
        .stencil_load = attachment->stencilLoadOp,
        .store = attachment->storeOp,
        .stencil_store = attachment->stencilStoreOp,
        .initial = {attachment->initialLayout,
                    stencil ? stencil->stencilInitialLayout : attachment->initialLayout},
        .final = {attachment->finalLayout, stencil ? stencil->stencilFinalLayout : attachment->finalLayout},
    };
}

static struct pass_dependency dependency_from2(const VkSubpassDependency2 *dependency)
{
    const VkMemoryBarrier2 *barrier = chain_find(dependency->pNext, VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
    struct pass_dependency result = {
        dependency->srcSubpass,      dependency->dstSubpass,    dependency->srcStageMask,
        dependency->dstStageMask,    dependency->srcAccessMask, dependency->dstAccessMask,
        dependency->dependencyFlags,
    };

    /* "If a VkMemoryBarrier2 is included in the pNext chain, srcStageMask, dstStageMask, srcAccessMask, and
     * dstAccessMask parameters are ignored." */
    if (barrier) {
        result.source_stages = barrier->srcStageMask;
        result.destination_stages = barrier->dstStageMask;
        result.source_accesses = barrier->srcAccessMask;
        result.destination_accesses = barrier->dstAccessMask;
    }
    return result;
}

struct oracle_pass *oracle_pass_create2(const VkRenderPassCreateInfo2 *info)
{
    uint32_t uses = 1; /* the density map */
    struct oracle_pass *pass;

    /* depth and its resolve, the shading rate */
    for (uint32_t i = 0; i < info->subpassCount; i++)
        uses += info->pSubpasses[i].inputAttachmentCount + 2 * info->pSubpasses[i].colorAttachmentCount + 3;
    pass = pass_allocate(info->attachmentCount, uses, info->dependencyCount);
    if (!pass)
        return NULL;
    for (uint32_t i = 0; i < info->attachmentCount; i++)
        pass->attachments[pass->attachment_count++] = attachment_from2(&info->pAttachments[i]);
    add_density_map(pass, info->pNext);
    for (uint32_t i = 0; i < info->subpassCount; i++)
        add_subpass2(pass, i, &info->pSubpasses[i]);
    for (uint32_t i = 0; i < info->dependencyCount; i++)
        pass->dependencies[pass->dependency_count++] = dependency_from2(&info->pDependencies[i]);
    return pass;
}
