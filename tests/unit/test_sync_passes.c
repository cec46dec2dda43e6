/* Render passes, framebuffers and swapchains: hooks called on a device made by hand. */
#include "sync_fixture.h"

#define COLOR VK_FORMAT_R8G8B8A8_UNORM
#define DEPTH VK_FORMAT_D32_SFLOAT
#define DEPTH_STENCIL VK_FORMAT_D24_UNORM_S8_UINT
#define CA VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define DSA VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define SRO VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED

#define OUTPUT VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT
#define EARLY VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT
#define LATE VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT
#define FRAGMENT VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT
#define COLOR_READ VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT
#define COLOR_WRITE VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT
#define DEPTH_READ VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT
#define DEPTH_WRITE VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT
#define INPUT_READ VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT

#define LOAD VK_ATTACHMENT_LOAD_OP_LOAD
#define CLEAR VK_ATTACHMENT_LOAD_OP_CLEAR
#define NO_LOAD VK_ATTACHMENT_LOAD_OP_NONE_EXT
#define STORE VK_ATTACHMENT_STORE_OP_STORE
#define NO_STORE VK_ATTACHMENT_STORE_OP_NONE

static VkResult VKAPI_CALL below_pass(VkDevice device, const VkRenderPassCreateInfo *info,
                                      const VkAllocationCallbacks *allocator, VkRenderPass *out)
{
    (void)device, (void)info, (void)allocator;
    *out = HANDLE(VkRenderPass, fixture.fixed_handle ? fixture.fixed_handle : ++fixture.next_handle);
    return fixture.result;
}

static VkResult VKAPI_CALL below_pass2(VkDevice device, const VkRenderPassCreateInfo2 *info,
                                       const VkAllocationCallbacks *allocator, VkRenderPass *out)
{
    (void)info;
    return below_pass(device, NULL, allocator, out);
}

static void VKAPI_CALL below_destroy_pass(VkDevice device, VkRenderPass pass,
                                          const VkAllocationCallbacks *allocator)
{
    (void)device, (void)pass, (void)allocator;
}

static VkRenderPass pass1(const void *chain, uint32_t attachments,
                          const VkAttachmentDescription *descriptions, uint32_t subpasses,
                          const VkSubpassDescription *subpass)
{
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .pNext = chain,
        .attachmentCount = attachments,
        .pAttachments = descriptions,
        .subpassCount = subpasses,
        .pSubpasses = subpass,
    };
    VkRenderPass pass;
    assert_int_equal(hook_CreateRenderPass(&fixture.device, below_pass, NULL, &info, NULL, &pass),
                     fixture.result);
    return pass;
}

static VkRenderPass pass2(const VkRenderPassCreateInfo2 *info)
{
    VkRenderPass pass;
    assert_int_equal(hook_CreateRenderPass2(&fixture.device, below_pass2, NULL, info, NULL, &pass),
                     fixture.result);
    return pass;
}

static void destroy_pass(VkRenderPass pass)
{
    hook_DestroyRenderPass(&fixture.device, below_destroy_pass, NULL, pass, NULL);
}

static const struct pass_attachment *attachment_of(VkRenderPass handle, uint32_t index)
{
    struct render_pass *pass = render_pass_find(&fixture.sync, handle);
    assert_non_null(pass);
    assert_true(index < pass->attachment_count);
    return &pass->attachments[index];
}

static void check_scope(struct scope scope, VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    assert_int_equal(scope.stages, stages);
    assert_int_equal(scope.access, access);
}

static VkAttachmentDescription description(VkFormat format, VkAttachmentLoadOp load,
                                           VkAttachmentStoreOp store, VkImageLayout initial,
                                           VkImageLayout final)
{
    return (VkAttachmentDescription){0,       format, VK_SAMPLE_COUNT_1_BIT, load, store, load, store,
                                     initial, final};
}

static void test_one_subpass(void **state)
{
    (void)state;
    VkAttachmentDescription descriptions[] = {
        description(COLOR, LOAD, STORE, CA, SRO),
        description(DEPTH, CLEAR, STORE, UNDEFINED, DSA),
        description(COLOR, CLEAR, NO_STORE, UNDEFINED, SRO),
        description(COLOR, NO_LOAD, NO_STORE, SRO, SRO),
        description(COLOR, LOAD, STORE, SRO, CA),
    };
    VkAttachmentReference color[2] = {{0, CA}, {VK_ATTACHMENT_UNUSED, UNDEFINED}}, depth = {1, DSA};
    VkAttachmentReference resolve[2] = {{2, CA}, {VK_ATTACHMENT_UNUSED, UNDEFINED}}, input = {3, SRO};
    VkSubpassDescription subpass = {
        .inputAttachmentCount = 1,
        .pInputAttachments = &input,
        .colorAttachmentCount = 2,
        .pColorAttachments = color,
        .pResolveAttachments = resolve,
        .pDepthStencilAttachment = &depth,
    };
    VkRenderPass pass = pass1(NULL, 5, descriptions, 1, &subpass);
    assert_int_equal(render_pass_find(&fixture.sync, pass)->view_mask, 0);

    const struct pass_attachment *attachment = attachment_of(pass, 0);
    assert_int_equal(attachment->format, COLOR);
    assert_int_equal(attachment->initial[0], CA);
    assert_int_equal(attachment->final[0], SRO);
    assert_int_equal(attachment->load[0], LOAD);
    assert_int_equal(attachment->store[0], STORE);
    check_scope(attachment->first, OUTPUT, COLOR_READ | COLOR_WRITE);
    check_scope(attachment->last, OUTPUT, COLOR_READ | COLOR_WRITE);
    attachment = attachment_of(pass, 1);
    check_scope(attachment->first, EARLY | LATE, DEPTH_READ | DEPTH_WRITE);
    check_scope(attachment->last, EARLY | LATE, DEPTH_READ | DEPTH_WRITE);
    attachment = attachment_of(pass, 2);
    check_scope(attachment->first, OUTPUT, COLOR_WRITE);
    check_scope(attachment->last, OUTPUT, COLOR_WRITE);
    attachment = attachment_of(pass, 3);
    check_scope(attachment->first, FRAGMENT, INPUT_READ);
    check_scope(attachment->last, FRAGMENT, INPUT_READ);

    /* No subpass refers to it: its transitions happen, at nobody knows what time. */
    attachment = attachment_of(pass, 4);
    assert_int_equal(attachment->first_subpass, VK_SUBPASS_EXTERNAL);
    check_scope(attachment->first, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
    check_scope(attachment->last, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
    destroy_pass(pass);
    assert_null(render_pass_find(&fixture.sync, pass));
    destroy_pass(VK_NULL_HANDLE);
}

static void test_first_and_last_of_several_subpasses(void **state)
{
    (void)state;
    VkAttachmentDescription descriptions[] = {
        description(COLOR, LOAD, STORE, CA, SRO),
        description(DEPTH, LOAD, NO_STORE, DSA, DSA),
    };
    VkAttachmentReference color = {0, CA}, depth = {1, DSA}, input = {0, SRO};
    VkAttachmentReference read_only = {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL};
    VkSubpassDescription subpasses[] = {
        {.pDepthStencilAttachment = &depth},
        {.colorAttachmentCount = 1, .pColorAttachments = &color},
        {.inputAttachmentCount = 1, .pInputAttachments = &input},
        {.inputAttachmentCount = 1, .pInputAttachments = &input, .pDepthStencilAttachment = &read_only},
    };
    VkRenderPass pass = pass1(NULL, 2, descriptions, 4, subpasses);
    const struct pass_attachment *attachment = attachment_of(pass, 0);
    assert_int_equal(attachment->first_subpass, 1);
    assert_int_equal(attachment->last_subpass, 3);
    check_scope(attachment->first, OUTPUT, COLOR_READ | COLOR_WRITE);
    check_scope(attachment->last, FRAGMENT | OUTPUT, INPUT_READ | COLOR_WRITE);
    attachment = attachment_of(pass, 1);
    assert_int_equal(attachment->first_subpass, 0);
    check_scope(attachment->first, EARLY | LATE, DEPTH_READ | DEPTH_WRITE);
    check_scope(attachment->last, EARLY | LATE, DEPTH_READ);
}

static void test_stencil_has_operations_of_its_own(void **state)
{
    (void)state;
    VkAttachmentDescription descriptions[] = {
        {0, DEPTH_STENCIL, VK_SAMPLE_COUNT_1_BIT, LOAD, NO_STORE, CLEAR, STORE, DSA, DSA},
        {0, VK_FORMAT_S8_UINT, VK_SAMPLE_COUNT_1_BIT, LOAD, NO_STORE, CLEAR, STORE, DSA, DSA},
    };
    VkAttachmentReference read_only[] = {{0, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL},
                                         {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL}};
    VkSubpassDescription subpasses[] = {{.pDepthStencilAttachment = &read_only[0]},
                                        {.pDepthStencilAttachment = &read_only[1]}};
    VkRenderPass pass = pass1(NULL, 2, descriptions, 2, subpasses);
    const struct pass_attachment *attachment = attachment_of(pass, 0);
    assert_int_equal(attachment->load[0], LOAD);
    assert_int_equal(attachment->load[1], CLEAR);
    assert_int_equal(attachment->store[0], NO_STORE);
    assert_int_equal(attachment->store[1], STORE);
    check_scope(attachment->first, EARLY | LATE, DEPTH_READ | DEPTH_WRITE);
    check_scope(attachment->last, EARLY | LATE, DEPTH_READ | DEPTH_WRITE);
    attachment = attachment_of(pass, 1);
    assert_int_equal(attachment->load[0], CLEAR);
    assert_int_equal(attachment->store[0], STORE);
}

static void test_chain_of_version_1(void **state)
{
    (void)state;
    VkAttachmentDescription descriptions[] = {
        description(COLOR, LOAD, STORE, CA, CA),
        description(COLOR, LOAD, NO_STORE, SRO, SRO),
    };
    VkAttachmentReference color = {0, CA};
    VkSubpassDescription subpasses[2] = {{.colorAttachmentCount = 1, .pColorAttachments = &color}, {0}};
    uint32_t masks[2] = {1, 4};
    VkRenderPassMultiviewCreateInfo views = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO, .subpassCount = 2, .pViewMasks = masks};
    VkRenderPassFragmentDensityMapCreateInfoEXT map = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT,
        .pNext = &views,
        .fragmentDensityMapAttachment = {1, SRO},
    };
    VkRenderPass pass = pass1(&map, 2, descriptions, 2, subpasses);
    assert_int_equal(render_pass_find(&fixture.sync, pass)->view_mask, 5);
    const struct pass_attachment *attachment = attachment_of(pass, 1);
    assert_int_equal(attachment->first_subpass, 0);
    assert_int_equal(attachment->last_subpass, 1);
    check_scope(attachment->last, VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT,
                VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT);

    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    views.pNext = &unknown;
    assert_null(render_pass_find(&fixture.sync, pass1(&map, 2, descriptions, 2, subpasses)));
}

/* A pass of version 2 with everything that can hang in a chain. */
struct everything {
    VkAttachmentDescriptionStencilLayout stencil;
    VkAttachmentDescription2 attachments[4];
    VkAttachmentReferenceStencilLayout stencil_reference;
    VkAttachmentReference2 color, depth, resolve, rate;
    VkSubpassDescriptionDepthStencilResolve depth_resolve;
    VkFragmentShadingRateAttachmentInfoKHR shading_rate;
    VkSubpassDescription2 subpass;
    VkMemoryBarrier2 barrier;
    VkSubpassDependency2 dependency;
    VkRenderPassCreateInfo2 info;
};

static VkAttachmentDescription2 description2(VkFormat format, VkImageLayout initial, VkImageLayout final)
{
    return (VkAttachmentDescription2){VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
                                      NULL,
                                      0,
                                      format,
                                      VK_SAMPLE_COUNT_1_BIT,
                                      NO_LOAD,
                                      NO_STORE,
                                      NO_LOAD,
                                      NO_STORE,
                                      initial,
                                      final};
}

static VkAttachmentReference2 reference2(uint32_t attachment, VkImageLayout layout)
{
    return (VkAttachmentReference2){VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, attachment, layout, 0};
}

static void make_everything(struct everything *all)
{
    *all = (struct everything){
        .stencil = {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT, NULL,
                    VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL, VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL},
        .attachments = {description2(COLOR, CA, SRO),
                        description2(DEPTH_STENCIL, VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
                                     VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL),
                        description2(DEPTH_STENCIL, DSA, DSA), description2(COLOR, SRO, SRO)},
        .stencil_reference = {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT, NULL,
                              VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL},
        .color = reference2(0, CA),
        .depth = reference2(1, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL),
        .resolve = reference2(2, DSA),
        .rate = reference2(3, VK_IMAGE_LAYOUT_FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR),
        .depth_resolve = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE},
        .shading_rate = {.sType = VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR},
        .subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                    .viewMask = 3,
                    .colorAttachmentCount = 1},
        .barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2},
        .dependency = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2},
        .info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                 .attachmentCount = 4,
                 .subpassCount = 1,
                 .dependencyCount = 1},
    };
    all->attachments[1].pNext = &all->stencil;
    all->depth.pNext = &all->stencil_reference;
    all->depth_resolve.pNext = &all->shading_rate;
    all->depth_resolve.pDepthStencilResolveAttachment = &all->resolve;
    all->shading_rate.pFragmentShadingRateAttachment = &all->rate;
    all->subpass.pNext = &all->depth_resolve;
    all->subpass.pColorAttachments = &all->color;
    all->subpass.pDepthStencilAttachment = &all->depth;
    all->dependency.pNext = &all->barrier;
    all->info.pAttachments = all->attachments;
    all->info.pSubpasses = &all->subpass;
    all->info.pDependencies = &all->dependency;
}

static void test_everything_of_version_2(void **state)
{
    (void)state;
    struct everything all;
    make_everything(&all);
    VkRenderPass pass = pass2(&all.info);
    assert_int_equal(render_pass_find(&fixture.sync, pass)->view_mask, 3);
    check_scope(attachment_of(pass, 0)->first, OUTPUT, COLOR_READ | COLOR_WRITE);
    const struct pass_attachment *depth = attachment_of(pass, 1);
    assert_int_equal(depth->initial[0], VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL);
    assert_int_equal(depth->initial[1], VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL);
    assert_int_equal(depth->final[0], VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL);
    assert_int_equal(depth->final[1], VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL);
    /* Stencil is written; depth is read by the tests and the resolve. */
    check_scope(depth->first, EARLY | LATE | OUTPUT, DEPTH_READ | DEPTH_WRITE | COLOR_READ);
    const struct pass_attachment *resolve = attachment_of(pass, 2);
    assert_int_equal(resolve->initial[1], DSA);
    check_scope(resolve->last, OUTPUT, COLOR_WRITE);
    check_scope(attachment_of(pass, 3)->first, VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR,
                VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR);

    all.stencil_reference.stencilLayout = VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL;
    check_scope(attachment_of(pass2(&all.info), 1)->last, EARLY | LATE | OUTPUT, DEPTH_READ | COLOR_READ);
    all.shading_rate.pFragmentShadingRateAttachment = NULL;
    all.depth_resolve.pDepthStencilResolveAttachment = NULL;
    pass = pass2(&all.info);
    assert_int_equal(attachment_of(pass, 3)->first_subpass, VK_SUBPASS_EXTERNAL);
    check_scope(attachment_of(pass, 1)->first, EARLY | LATE, DEPTH_READ);
}

static void test_unknown_structures_of_version_2(void **state)
{
    (void)state;
    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    for (int place = 0; place < 7; place++) {
        struct everything all;
        make_everything(&all);
        assert_non_null(render_pass_find(&fixture.sync, pass2(&all.info)));
        const void **places[] = {
            &all.info.pNext,    &all.attachments[0].pNext, (const void **)&all.stencil.pNext,
            &all.subpass.pNext, &all.color.pNext,          (const void **)&all.stencil_reference.pNext,
            &all.barrier.pNext,
        };
        *places[place] = &unknown;
        check(!render_pass_find(&fixture.sync, pass2(&all.info)), "place %d", place);
    }
}

static void test_pass_creation_fails(void **state)
{
    (void)state;
    fixture.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_null(render_pass_find(&fixture.sync, pass1(NULL, 0, NULL, 0, NULL)));
    struct everything all;
    make_everything(&all);
    assert_null(render_pass_find(&fixture.sync, pass2(&all.info)));
    fixture.result = VK_SUCCESS;
    for (int64_t n = 0; n < 2; n++) {
        allocations_fail_at(n);
        VkRenderPass pass = pass2(&all.info);
        allocations_fail_at(-1);
        check(!render_pass_find(&fixture.sync, pass), "allocation %d", (int)n);
    }
}

static void test_passes_share_a_handle(void **state)
{
    (void)state;
    fixture.fixed_handle = 0x66;
    VkRenderPass first = pass1(NULL, 0, NULL, 0, NULL), second = pass1(NULL, 0, NULL, 0, NULL);
    struct render_pass *pass = render_pass_find(&fixture.sync, first);
    object_acquire(&pass->object); /* as a command buffer does */
    destroy_pass(first);
    assert_ptr_equal(render_pass_find(&fixture.sync, second), pass);
    destroy_pass(second);
    assert_null(render_pass_find(&fixture.sync, second));
    assert_int_equal(pass->attachment_count, 0);
    render_pass_release(pass);
}

static const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

static void test_framebuffer_keeps_its_views(void **state)
{
    (void)state;
    VkImage image = image_2d(COLOR, 1, 1);
    VkImageView views[2] = {view_of(image, VK_IMAGE_VIEW_TYPE_2D, whole), HANDLE(VkImageView, 1)};
    VkFramebuffer handle = framebuffer_of(2, views);
    destroy_view(views[0]);
    destroy_image(image);
    struct framebuffer *framebuffer = framebuffer_find(&fixture.sync, handle);
    assert_non_null(framebuffer);
    assert_int_equal(framebuffer->attachment_count, 2);
    assert_false(framebuffer->imageless);
    assert_ptr_equal(framebuffer->views[0]->image->handle, image);
    assert_null(framebuffer->views[1]);
    destroy_framebuffer(handle);
    assert_null(framebuffer_find(&fixture.sync, handle));
    destroy_framebuffer(VK_NULL_HANDLE);
}

static VkResult VKAPI_CALL below_framebuffer(VkDevice device, const VkFramebufferCreateInfo *info,
                                             const VkAllocationCallbacks *allocator, VkFramebuffer *out)
{
    (void)device, (void)info, (void)allocator;
    *out = HANDLE(VkFramebuffer, ++fixture.next_handle);
    return fixture.result;
}

static VkFramebuffer framebuffer_with(const void *chain, VkFramebufferCreateFlags flags,
                                      const VkImageView *views)
{
    VkFramebufferCreateInfo info = {
        .pNext = chain, .flags = flags, .attachmentCount = 2, .pAttachments = views, .layers = 1};
    VkFramebuffer framebuffer;
    assert_int_equal(
        hook_CreateFramebuffer(&fixture.device, below_framebuffer, NULL, &info, NULL, &framebuffer),
        fixture.result);
    return framebuffer;
}

static void test_imageless_framebuffer(void **state)
{
    (void)state;
    VkFramebufferAttachmentsCreateInfo attachments = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO, .attachmentImageInfoCount = 2};
    VkFramebuffer handle = framebuffer_with(&attachments, VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT, NULL);
    struct framebuffer *framebuffer = framebuffer_find(&fixture.sync, handle);
    assert_non_null(framebuffer);
    assert_true(framebuffer->imageless);
    assert_int_equal(framebuffer->attachment_count, 2);
    assert_null(framebuffer->views[1]);
}

/* What render passes do to its images wouldn't be seen. */
static void test_unknown_framebuffer_s_images_are_left_alone(void **state)
{
    (void)state;
    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    VkImage images[2] = {image_2d(COLOR, 1, 1), image_2d(COLOR, 1, 1)};
    VkImageView views[2];
    for (int i = 0; i < 2; i++)
        views[i] = view_of(images[i], VK_IMAGE_VIEW_TYPE_2D, whole);
    fixture.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    framebuffer_with(NULL, 0, views);
    fixture.result = VK_SUCCESS;
    assert_int_equal(untracked(images[0]), IMAGE_TRACKED);
    assert_null(framebuffer_find(&fixture.sync, framebuffer_with(&unknown, 0, views)));
    assert_int_equal(untracked(images[0]), IMAGE_NEWER);
    assert_int_equal(untracked(images[1]), IMAGE_NEWER);

    for (int64_t n = 0; n < 2; n++) {
        VkImage image = image_2d(COLOR, 1, 1);
        VkImageView more[2] = {view_of(image, VK_IMAGE_VIEW_TYPE_2D, whole), VK_NULL_HANDLE};
        allocations_fail_at(n);
        VkFramebuffer framebuffer = framebuffer_with(NULL, 0, more);
        allocations_fail_at(-1);
        check(!framebuffer_find(&fixture.sync, framebuffer), "allocation %d", (int)n);
        assert_int_equal(untracked(image), IMAGE_NEWER);
    }
}

/* --- Swapchains --- */

#define FIFO VK_PRESENT_MODE_FIFO_KHR

static void test_swapchain_s_images(void **state)
{
    (void)state;
    VkSwapchainKHR handle = swapchain_of(NULL, FIFO, 0);
    VkImage images[3];
    assert_int_equal(swapchain_images(handle, 3, images), 3);
    struct swapchain *swapchain = swapchain_find(&fixture.sync, handle);
    assert_int_equal(swapchain->image_count, 3);
    assert_true(swapchain->exclusive);
    struct image *image = image_at(images[2]);
    assert_ptr_equal(swapchain->images[2], image);
    assert_ptr_equal(image->swapchain, swapchain);
    assert_int_equal(image->swapchain_index, 2);
    assert_int_equal(image->format, VK_FORMAT_B8G8R8A8_UNORM);
    assert_int_equal(image->usage, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    assert_true(image_is_tracked(image));
    assert_false(image->acquired);
    assert_int_equal(layout_at(images[2], 0, 0, 0), UNDEFINED);
    assert_int_equal(swapchain_images(handle, 3, images), 3);
    assert_ptr_equal(image_at(images[2]), image);

    image_acquire(image); /* as a command buffer does */
    destroy_swapchain(handle);
    assert_null(swapchain_find(&fixture.sync, handle));
    assert_null(image_find(&fixture.sync, images[2]));
    assert_true(atomic_load(&image->destroyed));
    assert_ptr_equal(image->swapchain->handle, handle);
    image_release(image);
    destroy_swapchain(VK_NULL_HANDLE);
}

/* Two swapchains of which the older is about to go. */
static void test_images_move_to_another_swapchain(void **state)
{
    (void)state;
    VkSwapchainKHR old = swapchain_of(NULL, FIFO, 0), new = swapchain_of(NULL, FIFO, 0);
    VkImage images[3];
    swapchain_images(old, 3, images);
    swapchain_images(new, 3, images);
    assert_null(swapchain_find(&fixture.sync, old)->images[1]);
    assert_ptr_equal(image_at(images[1])->swapchain, swapchain_find(&fixture.sync, new));
    destroy_swapchain(old);
    assert_ptr_equal(image_at(images[1])->swapchain, swapchain_find(&fixture.sync, new));
}

static void test_images_that_are_asked_for_in_parts(void **state)
{
    (void)state;
    VkSwapchainKHR handle = swapchain_of(NULL, FIFO, 0);
    VkImage images[3];
    fixture.swapchain_images_told = 2;
    assert_int_equal(swapchain_images(handle, 2, images), 2);
    struct swapchain *swapchain = swapchain_find(&fixture.sync, handle);
    struct image *first = swapchain->images[0];
    VkSemaphore semaphore = HANDLE(VkSemaphore, 7);
    swapchain->repaired[1] = semaphore;
    fixture.swapchain_images_told = 0;
    assert_int_equal(swapchain_images(handle, 3, images), 3);
    assert_ptr_equal(swapchain->images[0], first);
    assert_ptr_equal(swapchain->repaired[1], semaphore);
    assert_null(swapchain->repaired[2]);
    assert_ptr_equal(image_at(images[2])->swapchain, swapchain);
    destroy_swapchain(handle);
    assert_int_equal(fixture.destroyed_semaphores, 1);
}

static VkResult VKAPI_CALL below_acquire2(VkDevice device, const VkAcquireNextImageInfoKHR *info,
                                          uint32_t *index)
{
    (void)device, (void)info;
    *index = fixture.acquired_index;
    return fixture.result;
}

static VkResult VKAPI_CALL below_release(VkDevice device, const VkReleaseSwapchainImagesInfoEXT *info)
{
    (void)device, (void)info;
    return fixture.result;
}

static void test_acquiring(void **state)
{
    (void)state;
    VkSwapchainKHR handle = swapchain_of(NULL, FIFO, 0);
    acquire_image(handle, 1); /* before anybody has asked which images there are */
    VkImage images[3];
    swapchain_images(handle, 3, images);
    assert_false(image_at(images[0])->acquired);
    assert_true(image_at(images[1])->acquired);
    assert_int_equal(fixture.forgotten_semaphore, 0x51);
    assert_int_equal(fixture.forgotten_fence, 0x52);

    fixture.result = VK_TIMEOUT;
    acquire_image(handle, 0);
    fixture.result = VK_ERROR_OUT_OF_DATE_KHR;
    acquire_image(handle, 0);
    assert_false(image_at(images[0])->acquired);
    fixture.result = VK_SUBOPTIMAL_KHR;
    acquire_image(handle, 0);
    assert_true(image_at(images[0])->acquired);

    VkAcquireNextImageInfoKHR info = {.swapchain = handle, .semaphore = HANDLE(VkSemaphore, 0x61)};
    fixture.acquired_index = 2;
    fixture.forgotten_fence = 0;
    fixture.result = VK_SUCCESS;
    uint32_t index;
    assert_int_equal(hook_AcquireNextImage2KHR(&fixture.device, below_acquire2, NULL, &info, &index),
                     VK_SUCCESS);
    assert_int_equal(index, 2);
    assert_true(image_at(images[2])->acquired);
    assert_int_equal(fixture.forgotten_semaphore, 0x61);
    assert_int_equal(fixture.forgotten_fence, 0);

    uint32_t released[2] = {0, 2};
    VkReleaseSwapchainImagesInfoEXT release = {
        .swapchain = handle, .imageIndexCount = 2, .pImageIndices = released};
    fixture.result = VK_ERROR_SURFACE_LOST_KHR;
    assert_int_equal(hook_ReleaseSwapchainImagesEXT(&fixture.device, below_release, NULL, &release),
                     VK_ERROR_SURFACE_LOST_KHR);
    assert_true(image_at(images[0])->acquired);
    fixture.result = VK_SUCCESS;
    assert_int_equal(hook_ReleaseSwapchainImagesEXT(&fixture.device, below_release, NULL, &release),
                     VK_SUCCESS);
    assert_false(image_at(images[0])->acquired);
    assert_true(image_at(images[1])->acquired);
    assert_false(image_at(images[2])->acquired);
    acquire_image(HANDLE(VkSwapchainKHR, 1), 0); /* unknown */
    acquire_image(handle, 100);                  /* out of range */
}

static enum image_untracked swapchain_reason(const void *chain, VkPresentModeKHR mode, VkFlags flags)
{
    VkImage images[3];
    fixture.swapchain_first += 16;
    swapchain_images(swapchain_of(chain, mode, flags), 3, images);
    return untracked(images[0]);
}

static void test_swapchains_that_are_left_alone(void **state)
{
    (void)state;
    VkImageFormatListCreateInfo formats = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO};
    assert_int_equal(swapchain_reason(&formats, FIFO, VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR),
                     IMAGE_TRACKED);
    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    formats.pNext = &unknown;
    assert_int_equal(swapchain_reason(&formats, FIFO, 0), IMAGE_NEWER);
    assert_int_equal(swapchain_reason(NULL, FIFO, VK_SWAPCHAIN_CREATE_PROTECTED_BIT_KHR), IMAGE_PROTECTED);
    assert_int_equal(swapchain_reason(NULL, VK_PRESENT_MODE_SHARED_CONTINUOUS_REFRESH_KHR, 0),
                     IMAGE_SHARED_PRESENT);
    VkSwapchainKHR shared = swapchain_of(NULL, VK_PRESENT_MODE_SHARED_DEMAND_REFRESH_KHR, 0);
    assert_true(swapchain_find(&fixture.sync, shared)->shared);
    fixture.sync.newer = true;
    assert_int_equal(swapchain_reason(NULL, FIFO, 0), IMAGE_NEWER);
}

static VkResult VKAPI_CALL below_shared(VkDevice device, uint32_t count,
                                        const VkSwapchainCreateInfoKHR *infos,
                                        const VkAllocationCallbacks *allocator, VkSwapchainKHR *out)
{
    (void)device, (void)infos, (void)allocator;
    for (uint32_t i = 0; i < count; i++)
        out[i] = HANDLE(VkSwapchainKHR, 0x7000 + i);
    return fixture.result;
}

static void test_several_swapchains_at_once(void **state)
{
    (void)state;
    VkSwapchainCreateInfoKHR infos[2] = {{.presentMode = FIFO, .imageArrayLayers = 1},
                                         {.presentMode = FIFO, .imageArrayLayers = 2}};
    VkSwapchainKHR swapchains[2];
    fixture.result = VK_ERROR_INITIALIZATION_FAILED;
    hook_CreateSharedSwapchainsKHR(&fixture.device, below_shared, NULL, 2, infos, NULL, swapchains);
    assert_null(swapchain_find(&fixture.sync, swapchains[0]));
    swapchain_of(NULL, FIFO, 0);
    fixture.result = VK_SUCCESS;
    assert_int_equal(
        hook_CreateSharedSwapchainsKHR(&fixture.device, below_shared, NULL, 2, infos, NULL, swapchains),
        VK_SUCCESS);
    assert_int_equal(swapchain_find(&fixture.sync, swapchains[1])->info.imageArrayLayers, 2);
}

static void test_swapchain_out_of_memory(void **state)
{
    (void)state;
    bool finished = false;
    for (int64_t n = 0; !finished; n++) {
        check(n < 100, "no end");
        allocations_fail_at(n);
        VkSwapchainKHR swapchain = swapchain_of(NULL, FIFO, 0);
        VkImage images[3];
        check(swapchain_images(swapchain, 3, images) == 3, "round %d", (int)n);
        acquire_image(swapchain, 1);
        allocations_fail_at(-1);
        finished = true;
        for (uint32_t i = 0; i < 3; i++)
            finished = finished && image_find(&fixture.sync, images[i]);
        destroy_swapchain(swapchain);
    }
}

static VkResult VKAPI_CALL threads_images(VkDevice device, VkSwapchainKHR swapchain, uint32_t *count,
                                          VkImage *out)
{
    (void)device, (void)swapchain;
    for (uint32_t i = 0; i < *count; i++)
        out[i] = HANDLE(VkImage, 0x800000 + i);
    return VK_SUCCESS;
}

static void *ask_for_images(void *argument)
{
    VkSwapchainKHR swapchain = argument;
    VkImage images[3];
    uint32_t count = 3;
    hook_GetSwapchainImagesKHR(&fixture.device, threads_images, NULL, swapchain, &count, images);
    return image_find(&fixture.sync, images[2]);
}

static void test_threads_ask_for_images_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        VkSwapchainKHR swapchain = swapchain_of(NULL, FIFO, 0);
        pthread_t threads[4];
        void *images[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_for_images, (void *)(uintptr_t)swapchain),
                             0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], &images[i]);
        for (int i = 0; i < 4; i++)
            check(images[i] && images[i] == images[0], "round %d, thread %d", round, i);
        destroy_swapchain(swapchain);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_subpass),
        TEST(test_first_and_last_of_several_subpasses),
        TEST(test_stencil_has_operations_of_its_own),
        TEST(test_chain_of_version_1),
        TEST(test_everything_of_version_2),
        TEST(test_unknown_structures_of_version_2),
        TEST(test_pass_creation_fails),
        TEST(test_passes_share_a_handle),
        TEST(test_framebuffer_keeps_its_views),
        TEST(test_imageless_framebuffer),
        TEST(test_unknown_framebuffer_s_images_are_left_alone),
        TEST(test_swapchain_s_images),
        TEST(test_images_move_to_another_swapchain),
        TEST(test_images_that_are_asked_for_in_parts),
        TEST(test_acquiring),
        TEST(test_swapchains_that_are_left_alone),
        TEST(test_several_swapchains_at_once),
        TEST(test_swapchain_out_of_memory),
        TEST(test_threads_ask_for_images_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
