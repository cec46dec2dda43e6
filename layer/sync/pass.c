#include "sync/pass.h"

#include <stdlib.h>

#include "chain.h"
#include "hooks.h"

#define KNOWN(types) types, sizeof(types) / sizeof(types[0])

struct render_pass *render_pass_find(struct device_sync *sync, VkRenderPass handle)
{
    return handle ? handle_map_find(&sync->render_passes, HANDLE_KEY(handle)) : NULL;
}

void render_pass_release(struct render_pass *pass)
{
    if (pass && object_release(&pass->object))
        free(pass);
}

/* --- Scopes --- */

static void add_scope(struct scope *scope, struct scope other)
{
    scope->stages |= other.stages;
    scope->access |= other.access;
}

static const struct scope color_use = {
    VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
};
/* Spec, "Render Pass Multisample Resolve Operations": those of depth and stencil happen there too. */
static const struct scope resolve_use = {
    VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
};
static const struct scope resolve_source_use = {
    VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT,
};
static const struct scope input_use = {
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
    VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT,
};
static const struct scope shading_rate_use = {
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR,
    VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR,
};
static const struct scope density_map_use = {
    VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT,
    VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT,
};
static const struct scope any_use = {
    VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
};

static bool is_read_only(VkImageLayout layout)
{
    return layout == VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL ||
           layout == VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL ||
           layout == VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL ||
           layout == VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL || layout == VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}

static struct scope depth_stencil_use(bool read_only)
{
    return (struct scope){
        VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
        VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
            (read_only ? 0 : VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT),
    };
}

/* Spec, VkAttachmentLoadOp and VkAttachmentStoreOp: stages and accesses of each. */
static struct scope load_scope(VkAttachmentLoadOp op, bool color)
{
    if (op == VK_ATTACHMENT_LOAD_OP_NONE_EXT)
        return (struct scope){0, 0};
    bool reads = op == VK_ATTACHMENT_LOAD_OP_LOAD;
    if (color)
        return (struct scope){
            VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
            reads ? VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT : VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
        };
    return (struct scope){
        VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT,
        reads ? VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT
              : VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
    };
}

static struct scope store_scope(VkAttachmentStoreOp op, bool color)
{
    if (op == VK_ATTACHMENT_STORE_OP_NONE)
        return (struct scope){0, 0};
    if (color)
        return (struct scope){
            VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
            VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
        };
    return (struct scope){
        VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
        VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
    };
}

/* Subpasses come in order. VK_ATTACHMENT_UNUSED is none of the attachments. */
static void add_use(struct render_pass *pass, uint32_t subpass, uint32_t index, struct scope scope)
{
    if (index >= pass->attachment_count)
        return;
    struct pass_attachment *attachment = &pass->attachments[index];
    if (attachment->first_subpass == VK_SUBPASS_EXTERNAL)
        attachment->first_subpass = subpass;
    if (attachment->first_subpass == subpass)
        add_scope(&attachment->first, scope);
    if (attachment->last_subpass != subpass)
        attachment->last = (struct scope){0, 0};
    attachment->last_subpass = subpass;
    add_scope(&attachment->last, scope);
}

/* After all uses. */
static void add_load_and_store(struct pass_attachment *attachment)
{
    if (attachment->first_subpass == VK_SUBPASS_EXTERNAL) {
        attachment->first = attachment->last = any_use;
        return;
    }
    VkImageAspectFlagBits aspects[2];
    uint8_t count = image_format_aspects(attachment->format, aspects);
    for (uint8_t i = 0; i < count; i++) {
        bool color = aspects[i] == VK_IMAGE_ASPECT_COLOR_BIT;
        add_scope(&attachment->first, load_scope(attachment->load[i], color));
        add_scope(&attachment->last, store_scope(attachment->store[i], color));
    }
}

static struct render_pass *pass_alloc(uint32_t attachment_count)
{
    struct render_pass *pass = calloc(1, sizeof(*pass) + attachment_count * sizeof(pass->attachments[0]));
    if (!pass)
        return NULL;
    object_init(&pass->object);
    pass->attachment_count = attachment_count;
    for (uint32_t i = 0; i < attachment_count; i++)
        pass->attachments[i].first_subpass = pass->attachments[i].last_subpass = VK_SUBPASS_EXTERNAL;
    return pass;
}

/* What both versions of the structures say, before stencil layouts of their own. */
static void set_attachment(struct pass_attachment *attachment, VkFormat format,
                           const VkAttachmentLoadOp load[2], const VkAttachmentStoreOp store[2],
                           VkImageLayout initial, VkImageLayout final)
{
    VkImageAspectFlagBits aspects[2];
    image_format_aspects(format, aspects);
    uint32_t first = aspects[0] == VK_IMAGE_ASPECT_STENCIL_BIT ? 1 : 0;
    attachment->format = format;
    for (uint32_t i = 0; i < 2; i++) {
        attachment->initial[i] = initial;
        attachment->final[i] = final;
        attachment->load[i] = load[i | first];
        attachment->store[i] = store[i | first];
    }
}

/* --- Version 1 --- */

static void add_refs1(struct render_pass *pass, uint32_t subpass, uint32_t count,
                      const VkAttachmentReference *references, struct scope scope)
{
    for (uint32_t i = 0; references && i < count; i++)
        add_use(pass, subpass, references[i].attachment, scope);
}

static void add_subpass1(struct render_pass *pass, uint32_t index, const VkSubpassDescription *subpass)
{
    add_refs1(pass, index, subpass->inputAttachmentCount, subpass->pInputAttachments, input_use);
    add_refs1(pass, index, subpass->colorAttachmentCount, subpass->pColorAttachments, color_use);
    add_refs1(pass, index, subpass->colorAttachmentCount, subpass->pResolveAttachments, resolve_use);
    const VkAttachmentReference *depth = subpass->pDepthStencilAttachment;
    add_refs1(pass, index, 1, depth, depth_stencil_use(depth && is_read_only(depth->layout)));
}

static void add_density_map(struct render_pass *pass, uint32_t subpass, const void *chain)
{
    const VkRenderPassFragmentDensityMapCreateInfoEXT *map =
        chain_find(chain, VK_STRUCTURE_TYPE_RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT);
    if (map)
        add_use(pass, subpass, map->fragmentDensityMapAttachment.attachment, density_map_use);
}

static struct render_pass *create1(const VkRenderPassCreateInfo *info)
{
    static const VkStructureType known[] = {
        VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
        VK_STRUCTURE_TYPE_RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO,
        VK_STRUCTURE_TYPE_RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT,
    };
    if (!chain_is_of(info->pNext, KNOWN(known)))
        return NULL;
    struct render_pass *pass = pass_alloc(info->attachmentCount);
    if (!pass)
        return NULL;
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        const VkAttachmentDescription *from = &info->pAttachments[i];
        set_attachment(&pass->attachments[i], from->format,
                       (VkAttachmentLoadOp[]){from->loadOp, from->stencilLoadOp},
                       (VkAttachmentStoreOp[]){from->storeOp, from->stencilStoreOp}, from->initialLayout,
                       from->finalLayout);
    }
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        add_subpass1(pass, i, &info->pSubpasses[i]);
        add_density_map(pass, i, info->pNext);
    }
    const VkRenderPassMultiviewCreateInfo *views =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO);
    for (uint32_t i = 0; views && i < views->subpassCount; i++)
        pass->view_mask |= views->pViewMasks[i];
    return pass;
}

/* --- Version 2 --- */

static bool are_refs2_known(uint32_t count, const VkAttachmentReference2 *references)
{
    static const VkStructureType known[] = {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT};
    for (uint32_t i = 0; references && i < count; i++)
        if (!chain_is_of(references[i].pNext, KNOWN(known)))
            return false;
    return true;
}

static bool is_subpass2_known(const VkSubpassDescription2 *subpass)
{
    static const VkStructureType known[] = {
        VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
        VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR,
        VK_STRUCTURE_TYPE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_INFO_EXT,
        VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_CONTROL_EXT,
        VK_STRUCTURE_TYPE_RENDER_PASS_SUBPASS_FEEDBACK_CREATE_INFO_EXT,
    };
    return chain_is_of(subpass->pNext, KNOWN(known)) &&
           are_refs2_known(subpass->inputAttachmentCount, subpass->pInputAttachments) &&
           are_refs2_known(subpass->colorAttachmentCount, subpass->pColorAttachments) &&
           are_refs2_known(subpass->colorAttachmentCount, subpass->pResolveAttachments) &&
           are_refs2_known(1, subpass->pDepthStencilAttachment);
}

static bool is_known2(const VkRenderPassCreateInfo2 *info)
{
    static const VkStructureType known[] = {
        VK_STRUCTURE_TYPE_RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT,
        VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_CONTROL_EXT,
        VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_FEEDBACK_CREATE_INFO_EXT,
    };
    static const VkStructureType of_attachment[] = {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT};
    static const VkStructureType of_dependency[] = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    bool is_known = chain_is_of(info->pNext, KNOWN(known));
    for (uint32_t i = 0; is_known && i < info->attachmentCount; i++)
        is_known = chain_is_of(info->pAttachments[i].pNext, KNOWN(of_attachment));
    for (uint32_t i = 0; is_known && i < info->subpassCount; i++)
        is_known = is_subpass2_known(&info->pSubpasses[i]);
    for (uint32_t i = 0; is_known && i < info->dependencyCount; i++)
        is_known = chain_is_of(info->pDependencies[i].pNext, KNOWN(of_dependency));
    return is_known;
}

static void add_refs2(struct render_pass *pass, uint32_t subpass, uint32_t count,
                      const VkAttachmentReference2 *references, struct scope scope)
{
    for (uint32_t i = 0; references && i < count; i++)
        add_use(pass, subpass, references[i].attachment, scope);
}

static bool is_read_only2(const VkAttachmentReference2 *reference)
{
    const VkAttachmentReferenceStencilLayout *stencil =
        chain_find(reference->pNext, VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT);
    return is_read_only(reference->layout) && (!stencil || is_read_only(stencil->stencilLayout));
}

static void add_subpass2(struct render_pass *pass, uint32_t index, const VkSubpassDescription2 *subpass)
{
    add_refs2(pass, index, subpass->inputAttachmentCount, subpass->pInputAttachments, input_use);
    add_refs2(pass, index, subpass->colorAttachmentCount, subpass->pColorAttachments, color_use);
    add_refs2(pass, index, subpass->colorAttachmentCount, subpass->pResolveAttachments, resolve_use);
    const VkAttachmentReference2 *depth = subpass->pDepthStencilAttachment;
    add_refs2(pass, index, 1, depth, depth_stencil_use(depth && is_read_only2(depth)));

    const VkSubpassDescriptionDepthStencilResolve *resolve =
        chain_find(subpass->pNext, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE);
    if (resolve && resolve->pDepthStencilResolveAttachment &&
        resolve->pDepthStencilResolveAttachment->attachment != VK_ATTACHMENT_UNUSED) {
        add_refs2(pass, index, 1, resolve->pDepthStencilResolveAttachment, resolve_use);
        add_refs2(pass, index, 1, depth, resolve_source_use);
    }
    const VkFragmentShadingRateAttachmentInfoKHR *rate =
        chain_find(subpass->pNext, VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);
    if (rate)
        add_refs2(pass, index, 1, rate->pFragmentShadingRateAttachment, shading_rate_use);
    pass->view_mask |= subpass->viewMask;
}

static void set_attachment2(struct pass_attachment *attachment, const VkAttachmentDescription2 *from)
{
    set_attachment(attachment, from->format, (VkAttachmentLoadOp[]){from->loadOp, from->stencilLoadOp},
                   (VkAttachmentStoreOp[]){from->storeOp, from->stencilStoreOp}, from->initialLayout,
                   from->finalLayout);
    const VkAttachmentDescriptionStencilLayout *stencil =
        chain_find(from->pNext, VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT);
    VkImageAspectFlagBits aspects[2];
    uint8_t count = image_format_aspects(from->format, aspects);
    for (uint8_t i = 0; stencil && i < count; i++) {
        if (aspects[i] != VK_IMAGE_ASPECT_STENCIL_BIT)
            continue;
        attachment->initial[i] = stencil->stencilInitialLayout;
        attachment->final[i] = stencil->stencilFinalLayout;
    }
}

static struct render_pass *create2(const VkRenderPassCreateInfo2 *info)
{
    struct render_pass *pass = is_known2(info) ? pass_alloc(info->attachmentCount) : NULL;
    if (!pass)
        return NULL;
    for (uint32_t i = 0; i < info->attachmentCount; i++)
        set_attachment2(&pass->attachments[i], &info->pAttachments[i]);
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        add_subpass2(pass, i, &info->pSubpasses[i]);
        add_density_map(pass, i, info->pNext);
    }
    return pass;
}

/* --- Hooks --- */

/* `pass` is NULL where it isn't understood or there was no memory: the handle is unknown then. */
static void publish(struct device_sync *sync, VkRenderPass handle, struct render_pass *pass)
{
    if (!pass)
        return;
    for (uint32_t i = 0; i < pass->attachment_count; i++)
        add_load_and_store(&pass->attachments[i]);
    if (object_insert(&sync->render_passes, HANDLE_KEY(handle), &pass->object) != OBJECT_INSERTED)
        render_pass_release(pass);
}

VkResult hook_CreateRenderPass(struct device *self, PFN_vkCreateRenderPass next, VkDevice device,
                               const VkRenderPassCreateInfo *pCreateInfo,
                               const VkAllocationCallbacks *pAllocator, VkRenderPass *pRenderPass)
{
    VkResult result = next(device, pCreateInfo, pAllocator, pRenderPass);
    if (result == VK_SUCCESS)
        publish(self->sync, *pRenderPass, create1(pCreateInfo));
    return result;
}

VkResult hook_CreateRenderPass2(struct device *self, PFN_vkCreateRenderPass2 next, VkDevice device,
                                const VkRenderPassCreateInfo2 *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkRenderPass *pRenderPass)
{
    VkResult result = next(device, pCreateInfo, pAllocator, pRenderPass);
    if (result == VK_SUCCESS)
        publish(self->sync, *pRenderPass, create2(pCreateInfo));
    return result;
}

void hook_DestroyRenderPass(struct device *self, PFN_vkDestroyRenderPass next, VkDevice device,
                            VkRenderPass renderPass, const VkAllocationCallbacks *pAllocator)
{
    struct object *object = object_remove(&self->sync->render_passes, HANDLE_KEY(renderPass));
    render_pass_release((struct render_pass *)object);
    next(device, renderPass, pAllocator);
}
