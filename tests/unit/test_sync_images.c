/* Images, views, memory, names and host transitions: hooks called on a device made by hand. */
#include "sync_fixture.h"

#include "compat.h"
#include "sync_commands.h"
#include "sync/image_create.h"

#define COLOR_RANGE(mip, mips, layer, layers)                                                                \
    ((VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, mip, mips, layer, layers})
#define WHOLE COLOR_RANGE(0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS)

static void check_range(const struct subresource_range *range, uint32_t aspects, uint32_t mip, uint32_t mips,
                        uint32_t layer, uint32_t layers)
{
    assert_int_equal(range->aspects, aspects);
    assert_int_equal(range->base_mip, mip);
    assert_int_equal(range->mip_count, mips);
    assert_int_equal(range->base_layer, layer);
    assert_int_equal(range->layer_count, layers);
}

static void test_image_is_known_from_creation_to_destruction(void **state)
{
    (void)state;
    VkImageCreateInfo info = image_2d_info;
    info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    VkImageStencilUsageCreateInfo stencil = {.sType = VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO,
                                             .stencilUsage = VK_IMAGE_USAGE_STORAGE_BIT};
    info.pNext = &stencil;
    VkImage first, second;
    assert_int_equal(create_image(&info, &first), VK_SUCCESS);
    assert_int_equal(create_image(&image_2d_info, &second), VK_SUCCESS);
    struct image *image = image_at(first);
    assert_true(image_is_tracked(image));
    assert_false(image->exclusive);
    assert_true(image_at(second)->exclusive);
    assert_true(image->acquired);
    assert_int_equal(image->usage, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT);
    assert_int_equal(image->ordinal, 1);
    assert_int_equal(image_at(second)->ordinal, 2);
    assert_int_equal(image->state.shape.mips, 4);
    assert_int_equal(image->state.shape.layers, 3);
    assert_int_equal(layout_at(first, 0, 3, 2), VK_IMAGE_LAYOUT_PREINITIALIZED);
    assert_int_equal(layout_at(second, 0, 0, 0), VK_IMAGE_LAYOUT_UNDEFINED);

    image_acquire(image); /* as a command buffer does */
    destroy_image(first);
    assert_null(image_find(&fixture.sync, first));
    assert_true(atomic_load(&image->destroyed));
    image_release(image);
    destroy_image(VK_NULL_HANDLE);
    assert_int_equal(fixture.calls, 4);
}

static void test_failed_creation_is_unknown(void **state)
{
    (void)state;
    fixture.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    VkImage image;
    assert_int_equal(create_image(&image_2d_info, &image), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(image_find(&fixture.sync, image));
    assert_int_equal(atomic_load(&fixture.sync.image_ordinal), 0);
    memory_of(NULL);
    fixture.result = VK_SUCCESS;
    VkImage known = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    fixture.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_null(image_view_find(&fixture.sync, view_of(known, VK_IMAGE_VIEW_TYPE_2D, WHOLE)));
    assert_int_equal(untracked(known), IMAGE_TRACKED);
    fixture.result = VK_SUCCESS;
}

/* A handle that is given out while the layer still knows it: the destruction was missed. */
static void test_new_image_takes_a_stale_one_s_place(void **state)
{
    (void)state;
    fixture.fixed_handle = 0x77;
    VkImage first = image_2d(VK_FORMAT_R8_UNORM, 1, 1), second = image_2d(VK_FORMAT_R8_UNORM, 2, 1);
    assert_ptr_equal(first, second);
    assert_int_equal(image_at(second)->state.shape.mips, 2);
    assert_int_equal(image_at(second)->ordinal, 2);
    destroy_image(second);
    assert_null(image_find(&fixture.sync, second));
}

static enum image_untracked reason_of(const void *chain, VkImageCreateFlags flags, VkImageUsageFlags usage)
{
    VkImageCreateInfo info = image_2d_info;
    info.pNext = chain;
    info.flags = flags;
    info.usage = usage;
    VkImage image;
    assert_int_equal(create_image(&info, &image), VK_SUCCESS);
    return untracked(image);
}

static void test_reasons_of_creation(void **state)
{
    (void)state;
    VkImageUsageFlags usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    assert_int_equal(reason_of(NULL, VK_IMAGE_CREATE_SPARSE_BINDING_BIT, usage), IMAGE_SPARSE);
    assert_int_equal(reason_of(NULL, VK_IMAGE_CREATE_PROTECTED_BIT, usage), IMAGE_PROTECTED);
    assert_int_equal(reason_of(NULL, VK_IMAGE_CREATE_DISJOINT_BIT, usage), IMAGE_DISJOINT);
    assert_int_equal(reason_of(NULL, VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT, usage),
                     IMAGE_SAMPLE_LOCATIONS);
    assert_int_equal(reason_of(NULL, 0x40000000, usage), IMAGE_NEWER);
    assert_int_equal(reason_of(NULL, 0, usage | VK_IMAGE_USAGE_VIDEO_DECODE_DPB_BIT_KHR), IMAGE_VIDEO);
    assert_int_equal(reason_of(NULL, 0, usage | 0x40000000), IMAGE_NEWER);
    assert_int_equal(atomic_load(&fixture.sync.counters.images_unknown), 7);

    assert_int_equal(reason_of(NULL,
                               VK_IMAGE_CREATE_ALIAS_BIT | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT |
                                   VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT |
                                   VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT |
                                   VK_IMAGE_CREATE_EXTENDED_USAGE_BIT,
                               0x3ff),
                     IMAGE_TRACKED);
    assert_int_equal(atomic_load(&fixture.sync.counters.images_unknown), 7);
}

static void test_reasons_in_the_chain(void **state)
{
    (void)state;
    VkImageUsageFlags usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    VkImageFormatListCreateInfo formats = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO};
    assert_int_equal(reason_of(&formats, 0, usage), IMAGE_TRACKED);

    VkExternalMemoryImageCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                                                .pNext = &formats};
    assert_int_equal(reason_of(&external, 0, usage), IMAGE_TRACKED);
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    assert_int_equal(reason_of(&external, 0, usage), IMAGE_EXTERNAL);
    formats.pNext = &external; /* behind one that is harmless */
    external.pNext = NULL;
    assert_int_equal(reason_of(&formats, 0, usage), IMAGE_EXTERNAL);

    VkExternalMemoryImageCreateInfoNV external_nv = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO_NV, .handleTypes = 1};
    assert_int_equal(reason_of(&external_nv, 0, usage), IMAGE_EXTERNAL);
    VkImageDrmFormatModifierListCreateInfoEXT modifiers = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT};
    assert_int_equal(reason_of(&modifiers, 0, usage), IMAGE_EXTERNAL);
    struct compat_external_format format = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FORMAT_ANDROID};
    assert_int_equal(reason_of(&format, 0, usage), IMAGE_TRACKED);
    format.externalFormat = 1;
    assert_int_equal(reason_of(&format, 0, usage), IMAGE_EXTERNAL);
    VkImageSwapchainCreateInfoKHR swapchain = {.sType = VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR};
    assert_int_equal(reason_of(&swapchain, 0, usage), IMAGE_TRACKED);
    swapchain.swapchain = HANDLE(VkSwapchainKHR, 5);
    assert_int_equal(reason_of(&swapchain, 0, usage), IMAGE_ALIASED);
    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    assert_int_equal(reason_of(&unknown, 0, usage), IMAGE_NEWER);
    VkImageStencilUsageCreateInfo stencil = {.sType = VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO,
                                             .stencilUsage = 0x40000000};
    assert_int_equal(reason_of(&stencil, 0, usage), IMAGE_NEWER);
}

static void test_newer_application_s_images_are_unknown(void **state)
{
    (void)state;
    fixture.sync.newer = true;
    assert_int_equal(untracked(image_2d(VK_FORMAT_R8_UNORM, 1, 1)), IMAGE_NEWER);
}

static void test_images_of_unknown_formats_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(untracked(image_2d(VK_FORMAT_D32_SFLOAT_S8_UINT, 1, 1)), IMAGE_TRACKED);
    assert_int_equal(untracked(image_2d((VkFormat)1999999000, 1, 1)), IMAGE_NEWER);
}

static void test_slices_with_layouts_of_their_own(void **state)
{
    (void)state;
    VkImageCreateInfo info = image_2d_info;
    info.imageType = VK_IMAGE_TYPE_3D;
    info.arrayLayers = 1;
    VkImage image;
    assert_int_equal(create_image(&info, &image), VK_SUCCESS);
    assert_int_equal(untracked(image), IMAGE_TRACKED);
    fixture.extension = "VK_KHR_maintenance9";
    assert_int_equal(create_image(&info, &image), VK_SUCCESS);
    assert_int_equal(untracked(image), IMAGE_NEWER);
    assert_int_equal(untracked(image_2d(VK_FORMAT_R8_UNORM, 1, 1)), IMAGE_TRACKED);
}

static void test_reason_stays(void **state)
{
    (void)state;
    struct image *image = image_at(image_2d(VK_FORMAT_R8_UNORM, 1, 1));
    image_set_untracked(image, IMAGE_ALIASED);
    image_set_untracked(image, IMAGE_NEWER);
    assert_int_equal(atomic_load(&image->untracked), IMAGE_ALIASED);
}

static void test_ranges_of_a_color_image(void **state)
{
    (void)state;
    struct image *image = image_at(image_2d(VK_FORMAT_R8G8B8A8_UNORM, 4, 3));
    struct subresource_range range;
    VkImageSubresourceRange asked = WHOLE;
    assert_true(image_range(image, &asked, true, &range));
    check_range(&range, 1, 0, 4, 0, 3);
    asked = COLOR_RANGE(1, VK_REMAINING_MIP_LEVELS, 2, VK_REMAINING_ARRAY_LAYERS);
    assert_true(image_range(image, &asked, false, &range));
    check_range(&range, 1, 1, 3, 2, 1);
    VkImageSubresourceRange back = image_vk_range(image, &range);
    assert_int_equal(back.aspectMask, VK_IMAGE_ASPECT_COLOR_BIT);
    assert_int_equal(back.baseMipLevel, 1);
    assert_int_equal(back.levelCount, 3);
    assert_int_equal(back.baseArrayLayer, 2);
    assert_int_equal(back.layerCount, 1);

    static const VkImageSubresourceRange outside[] = {
        {VK_IMAGE_ASPECT_COLOR_BIT, 4, VK_REMAINING_MIP_LEVELS, 0, 1},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 5, 0, 1},
        {VK_IMAGE_ASPECT_COLOR_BIT, 3, 2, 0, 1},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 3, VK_REMAINING_ARRAY_LAYERS},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 2, 2},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1, UINT32_MAX - 1},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 0, 1},
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 0},
        {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1},
        {0, 0, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
        check(!image_range(image, &outside[i], false, &range), "range %zu", i);

    VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_PLANE_1_BIT, 2, 1, VK_REMAINING_ARRAY_LAYERS};
    assert_true(image_layers_range(image, &layers, &range));
    check_range(&range, 1, 2, 1, 1, 2);
    layers.mipLevel = 4;
    assert_false(image_layers_range(image, &layers, &range));
}

static void test_ranges_of_depth_and_stencil(void **state)
{
    (void)state;
    struct image *both = image_at(image_2d(VK_FORMAT_D24_UNORM_S8_UINT, 1, 1));
    struct image *depth = image_at(image_2d(VK_FORMAT_D32_SFLOAT, 1, 1));
    struct image *stencil = image_at(image_2d(VK_FORMAT_S8_UINT, 1, 1));
    struct subresource_range range;
    VkImageSubresourceRange asked = {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1};
    assert_true(image_range(both, &asked, false, &range));
    assert_int_equal(range.aspects, 2);
    assert_int_equal(image_vk_range(both, &range).aspectMask, VK_IMAGE_ASPECT_STENCIL_BIT);
    assert_true(image_range(both, &asked, true, &range));
    assert_int_equal(range.aspects, 3);
    assert_int_equal(image_vk_range(both, &range).aspectMask,
                     VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
    assert_true(image_range(stencil, &asked, true, &range));
    assert_int_equal(range.aspects, 1);
    assert_int_equal(image_vk_range(stencil, &range).aspectMask, VK_IMAGE_ASPECT_STENCIL_BIT);
    assert_false(image_range(depth, &asked, false, &range));
    asked.aspectMask |= VK_IMAGE_ASPECT_DEPTH_BIT;
    assert_true(image_range(depth, &asked, false, &range));
    assert_int_equal(image_vk_range(depth, &range).aspectMask, VK_IMAGE_ASPECT_DEPTH_BIT);
    asked.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    assert_false(image_range(both, &asked, true, &range));
}

static void test_slices_are_one_layer(void **state)
{
    (void)state;
    VkImageCreateInfo info = image_2d_info;
    info.imageType = VK_IMAGE_TYPE_3D;
    info.flags = VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT;
    info.arrayLayers = 1;
    VkImage image;
    assert_int_equal(create_image(&info, &image), VK_SUCCESS);
    struct image_view *view =
        image_view_find(&fixture.sync, view_of(image, VK_IMAGE_VIEW_TYPE_2D_ARRAY, COLOR_RANGE(1, 1, 5, 7)));
    assert_non_null(view);
    check_range(&view->range, 1, 1, 1, 0, 1);
}

static void test_view_outlives_its_image(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8G8B8A8_UNORM, 4, 3);
    VkImageView handle =
        view_of(image, VK_IMAGE_VIEW_TYPE_2D_ARRAY, COLOR_RANGE(2, VK_REMAINING_MIP_LEVELS, 1, 2));
    destroy_image(image);
    struct image_view *view = image_view_find(&fixture.sync, handle);
    assert_non_null(view);
    assert_true(atomic_load(&view->image->destroyed));
    check_range(&view->range, 1, 2, 2, 1, 2);
    assert_int_equal(view->aspects, VK_IMAGE_ASPECT_COLOR_BIT);
    destroy_view(handle);
    assert_null(image_view_find(&fixture.sync, handle));
    destroy_view(VK_NULL_HANDLE);
}

static void test_view_that_is_not_understood(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8G8B8A8_UNORM, 4, 3);
    assert_null(
        image_view_find(&fixture.sync, view_of(image, VK_IMAGE_VIEW_TYPE_2D, COLOR_RANGE(0, 9, 0, 1))));
    assert_int_equal(untracked(image), IMAGE_NEWER);
    VkImageView unknown = view_of(HANDLE(VkImage, 1), VK_IMAGE_VIEW_TYPE_2D, WHOLE);
    assert_null(image_view_find(&fixture.sync, unknown));
}

/* Equal objects may share a handle, which is then destroyed once for each. */
static void test_views_share_a_handle(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8G8B8A8_UNORM, 1, 1);
    fixture.fixed_handle = 0x88;
    VkImageView first = view_of(image, VK_IMAGE_VIEW_TYPE_2D, WHOLE);
    struct image_view *view = image_view_find(&fixture.sync, first);
    VkImageView second = view_of(image, VK_IMAGE_VIEW_TYPE_2D, WHOLE);
    assert_int_equal(untracked(image), IMAGE_TRACKED);
    destroy_view(first);
    assert_ptr_equal(image_view_find(&fixture.sync, second), view);
    destroy_view(second);
    assert_null(image_view_find(&fixture.sync, second));
}

static void test_overlapping_images_are_left_alone(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL), other = memory_of(NULL);
    VkImage first = image_2d(VK_FORMAT_R8_UNORM, 1, 1), second = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    VkImage third = image_2d(VK_FORMAT_R8_UNORM, 1, 1), elsewhere = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(first, memory, 0x100);
    bind_image(second, memory, 0x200);
    bind_image(third, memory, 0);
    bind_image(elsewhere, other, 0x100);
    assert_int_equal(untracked(first), IMAGE_TRACKED);
    assert_int_equal(untracked(second), IMAGE_TRACKED);
    assert_int_equal(untracked(third), IMAGE_TRACKED);
    VkImage fourth = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(fourth, memory, 0x2ff);
    assert_int_equal(untracked(fourth), IMAGE_ALIASED);
    assert_int_equal(untracked(second), IMAGE_ALIASED);
    assert_int_equal(untracked(first), IMAGE_TRACKED);
    assert_int_equal(untracked(third), IMAGE_TRACKED);
    assert_int_equal(untracked(elsewhere), IMAGE_TRACKED);

    /* Places are free again once their images are gone; one that overlapped stays untracked. */
    destroy_image(first);
    destroy_image(fourth);
    VkImage fifth = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(fifth, memory, 0x100);
    assert_int_equal(untracked(fifth), IMAGE_TRACKED);
    assert_int_equal(untracked(second), IMAGE_ALIASED);
    VkImage sixth = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(sixth, memory, 0x1ff);
    assert_int_equal(untracked(fifth), IMAGE_ALIASED);
    assert_int_equal(untracked(sixth), IMAGE_ALIASED);
    assert_int_equal(untracked(third), IMAGE_TRACKED);
}

static void test_memory_goes_before_its_images(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL);
    VkImage first = image_2d(VK_FORMAT_R8_UNORM, 1, 1), second = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(first, memory, 0);
    bind_image(second, memory, 0x100);
    free_memory(memory);
    destroy_image(first);
    destroy_image(second);
    free_memory(VK_NULL_HANDLE);
    VkImage third = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(third, memory, 0); /* of which nothing is known any more */
    assert_int_equal(untracked(third), IMAGE_ALIASED);
}

static enum image_untracked bound_to(const void *chain)
{
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(image, memory_of(chain), 0);
    return untracked(image);
}

static void test_shared_memory(void **state)
{
    (void)state;
    VkMemoryDedicatedAllocateInfo dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    assert_int_equal(bound_to(&dedicated), IMAGE_TRACKED);
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .pNext = &dedicated};
    assert_int_equal(bound_to(&export), IMAGE_TRACKED);
    export.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    assert_int_equal(bound_to(&export), IMAGE_EXTERNAL);
    VkExportMemoryAllocateInfoNV export_nv = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO_NV};
    assert_int_equal(bound_to(&export_nv), IMAGE_TRACKED);
    export_nv.handleTypes = 1;
    assert_int_equal(bound_to(&export_nv), IMAGE_EXTERNAL);
    VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
    assert_int_equal(bound_to(&import), IMAGE_TRACKED);
    import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    assert_int_equal(bound_to(&import), IMAGE_EXTERNAL);
    VkImportMemoryHostPointerInfoEXT host = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    assert_int_equal(bound_to(&host), IMAGE_EXTERNAL);
    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    assert_int_equal(bound_to(&unknown), IMAGE_EXTERNAL);
}

static void test_failed_bind_is_none(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL);
    VkImage first = image_2d(VK_FORMAT_R8_UNORM, 1, 1), second = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    fixture.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    bind_image(first, memory, 0);
    fixture.result = VK_SUCCESS;
    bind_image(second, memory, 0);
    assert_int_equal(untracked(first), IMAGE_TRACKED);
    assert_int_equal(untracked(second), IMAGE_TRACKED);
}

static VkResult VKAPI_CALL below_bind2(VkDevice device, uint32_t count, const VkBindImageMemoryInfo *infos)
{
    (void)device, (void)count, (void)infos;
    return fixture.result;
}

static void bind2(uint32_t count, const VkBindImageMemoryInfo *infos)
{
    assert_int_equal(hook_BindImageMemory2(&fixture.device, below_bind2, NULL, count, infos), fixture.result);
}

static VkBindImageMemoryInfo bind_info(const void *chain, VkImage image, VkDeviceMemory memory,
                                       VkDeviceSize offset)
{
    return (VkBindImageMemoryInfo){VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, chain, image, memory, offset};
}

static void test_binds_of_which_some_fail(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL);
    VkImage images[4];
    for (int i = 0; i < 4; i++)
        images[i] = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    VkResult results[2] = {VK_SUCCESS, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    struct compat_bind_memory_status status[2] = {
        {COMPAT_STRUCTURE_TYPE_BIND_MEMORY_STATUS, NULL, &results[0]},
        {COMPAT_STRUCTURE_TYPE_BIND_MEMORY_STATUS, NULL, &results[1]},
    };
    VkBindImageMemoryInfo infos[2] = {bind_info(&status[0], images[0], memory, 0),
                                      bind_info(&status[1], images[1], memory, 0x100)};
    fixture.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    bind2(2, infos);
    fixture.result = VK_SUCCESS;
    VkBindImageMemoryInfo more[2] = {bind_info(NULL, images[2], memory, 0),
                                     bind_info(NULL, images[3], memory, 0x100)};
    bind2(2, more);
    assert_int_equal(untracked(images[0]), IMAGE_ALIASED);
    assert_int_equal(untracked(images[1]), IMAGE_TRACKED);
    assert_int_equal(untracked(images[2]), IMAGE_ALIASED);
    assert_int_equal(untracked(images[3]), IMAGE_TRACKED);
}

static void test_binds_that_cannot_be_judged(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL);
    VkBaseInStructure unknown = {.sType = (VkStructureType)1999999000};
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 1, 1), grouped = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    VkBindImageMemoryInfo info = bind_info(&unknown, image, memory, 0);
    bind2(1, &info);
    assert_int_equal(untracked(image), IMAGE_NEWER);
    VkBindImageMemoryDeviceGroupInfo group = {.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_DEVICE_GROUP_INFO};
    info = bind_info(&group, grouped, memory, 0x100);
    bind2(1, &info);
    assert_int_equal(untracked(grouped), IMAGE_ALIASED);
    /* Their places are known all the same. */
    VkImage third = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(third, memory, 0);
    assert_int_equal(untracked(third), IMAGE_ALIASED);
}

/* The size of a plane isn't asked for: all the rest of the memory counts as the image's. */
static void test_disjoint_image_takes_memory(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL);
    VkImageCreateInfo like = image_2d_info;
    like.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    VkImage disjoint, before = image_2d(VK_FORMAT_R8_UNORM, 1, 1),
                      behind = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    assert_int_equal(create_image(&like, &disjoint), VK_SUCCESS);
    VkBindImagePlaneMemoryInfo plane = {.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO,
                                        .planeAspect = VK_IMAGE_ASPECT_PLANE_0_BIT};
    VkBindImageMemoryInfo infos[2] = {bind_info(&plane, disjoint, memory, 0x100),
                                      bind_info(&plane, disjoint, memory, 0x400)};
    uint32_t calls = fixture.calls;
    bind2(2, infos);
    assert_int_equal(fixture.calls, calls);
    bind_image(before, memory, 0);
    assert_int_equal(untracked(before), IMAGE_TRACKED);
    bind_image(behind, memory, 0x200);
    assert_int_equal(untracked(behind), IMAGE_ALIASED);
    destroy_image(disjoint);
    destroy_image(behind);
    behind = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    bind_image(behind, memory, 0x200);
    assert_int_equal(untracked(behind), IMAGE_TRACKED);
}

static void test_image_in_swapchain_memory(void **state)
{
    (void)state;
    VkSwapchainKHR swapchain = swapchain_of(NULL, VK_PRESENT_MODE_FIFO_KHR, 0);
    VkImage images[3];
    assert_int_equal(swapchain_images(swapchain, 2, images), 2);
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    VkBindImageMemorySwapchainInfoKHR shared = {
        .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR, .swapchain = swapchain};
    VkBindImageMemoryInfo info = bind_info(&shared, image, VK_NULL_HANDLE, 0);
    bind2(1, &info);
    assert_int_equal(untracked(image), IMAGE_ALIASED);
    assert_int_equal(untracked(images[0]), IMAGE_ALIASED);
    assert_int_equal(untracked(images[1]), IMAGE_ALIASED);
    assert_int_equal(swapchain_images(swapchain, 3, images), 3);
    assert_int_equal(untracked(images[2]), IMAGE_ALIASED);
}

static VkResult VKAPI_CALL below_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    (void)device, (void)info;
    return fixture.result;
}

static void set_name(VkObjectType type, uint64_t handle, const char *name)
{
    VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name,
    };
    assert_int_equal(hook_SetDebugUtilsObjectNameEXT(&fixture.device, below_name, NULL, &info),
                     fixture.result);
}

static void test_names(void **state)
{
    (void)state;
    VkImage handle = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    struct image *image = image_at(handle);
    set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(handle), "shadow map");
    assert_string_equal(image->name, "shadow map");
    set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(handle), "albedo");
    assert_string_equal(image->name, "albedo");
    set_name(VK_OBJECT_TYPE_BUFFER, HANDLE_KEY(handle), "vertices");
    set_name(VK_OBJECT_TYPE_IMAGE, 1, "unknown");
    set_name(VK_OBJECT_TYPE_IMAGE, 0, "none");
    assert_string_equal(image->name, "albedo");
    set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(handle), "");
    assert_null(image->name);
    set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(handle), "freed with the image");

    struct command_buffer buffer = {0};
    assert_true(handle_map_insert(&fixture.sync.command_buffers, 0x4000, &buffer));
    set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, 0x4000, "frame");
    assert_string_equal(buffer.name, "frame");
    set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, 0x4000, NULL);
    assert_null(buffer.name);
}

/* --- The host's own transitions --- */

static VkResult VKAPI_CALL below_transition(VkDevice device, uint32_t count,
                                            const struct compat_host_image_layout_transition_info *infos)
{
    (void)device, (void)count, (void)infos;
    return fixture.result;
}

static void host_transition(VkImage image, VkImageLayout from, VkImageLayout to,
                            VkImageSubresourceRange range)
{
    struct compat_host_image_layout_transition_info info = {
        .image = image, .oldLayout = from, .newLayout = to, .subresourceRange = range};
    assert_int_equal(hook_TransitionImageLayoutEXT(&fixture.device, below_transition, NULL, 1, &info),
                     fixture.result);
}

static void test_host_transitions(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 2, 2);
    image_at(image)->touched = 5;
    host_transition(image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, WHOLE);
    assert_int_equal(layout_at(image, 0, 1, 1), VK_IMAGE_LAYOUT_GENERAL);
    assert_int_equal(image_at(image)->touched, 0);
    host_transition(image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                    COLOR_RANGE(1, 1, 0, 2));
    assert_int_equal(layout_at(image, 0, 1, 1), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    assert_int_equal(layout_at(image, 0, 0, 1), VK_IMAGE_LAYOUT_GENERAL);
    assert_int_equal(fixture.findings, 0);

    host_transition(image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, WHOLE);
    assert_int_equal(fixture.findings, 1);
    assert_int_equal(fixture.finding.kind, FINDING_WRONG_OLD_LAYOUT);
    assert_int_equal(fixture.finding.place, PLACE_NOWHERE);
    assert_int_equal(fixture.finding.command, COMMAND_TransitionImageLayoutEXT);
    assert_int_equal(fixture.finding.had, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    assert_int_equal(fixture.finding.needed, VK_IMAGE_LAYOUT_GENERAL);
    assert_int_equal(fixture.finding.range.base_mip, 1);
    assert_int_equal(layout_at(image, 0, 0, 0), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);

    host_transition(HANDLE(VkImage, 1), VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL, WHOLE);
    assert_int_equal(fixture.findings, 1);
}

static void test_host_transitions_that_are_not_known(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    fixture.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    host_transition(image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, WHOLE);
    fixture.result = VK_SUCCESS;
    assert_int_equal(untracked(image), IMAGE_NEWER);
    image = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    host_transition(image, VK_IMAGE_LAYOUT_UNDEFINED, (VkImageLayout)1999999000, WHOLE);
    assert_int_equal(untracked(image), IMAGE_NEWER);

    /* In a submit that waits for nobody knows what: unknown, and it stays so. */
    image = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    struct access unknown = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    unknown.flags = ACCESS_UNKNOWN;
    subresource_map_set_all(&image_at(image)->state, &unknown);
    image_at(image)->unresolved = 1;
    host_transition(image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, WHOLE);
    assert_int_equal(image_at(image)->first.flags, ACCESS_UNKNOWN);
    image_at(image)->unresolved = 0;
    host_transition(image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, WHOLE);
    assert_int_equal(image_at(image)->first.flags, 0);
    assert_int_equal(layout_at(image, 0, 0, 0), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    assert_int_equal(fixture.findings, 0);
}

static VkResult VKAPI_CALL below_copy_in(VkDevice device, const struct compat_copy_memory_to_image_info *info)
{
    (void)device, (void)info;
    return fixture.result;
}

static VkResult VKAPI_CALL below_copy_out(VkDevice device,
                                          const struct compat_copy_image_to_memory_info *info)
{
    (void)device, (void)info;
    return fixture.result;
}

static VkResult VKAPI_CALL below_copy(VkDevice device, const struct compat_copy_image_to_image_info *info)
{
    (void)device, (void)info;
    return fixture.result;
}

static void test_host_copies_are_reported(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    host_transition(image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, WHOLE);
    VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    struct compat_memory_to_image_copy in_region = {.imageSubresource = layers};
    struct compat_copy_memory_to_image_info in = {.dstImage = image,
                                                  .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                                  .regionCount = 1,
                                                  .pRegions = &in_region};
    assert_int_equal(hook_CopyMemoryToImageEXT(&fixture.device, below_copy_in, NULL, &in), VK_SUCCESS);
    assert_int_equal(fixture.findings, 0);
    in.dstImageLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    assert_int_equal(hook_CopyMemoryToImageEXT(&fixture.device, below_copy_in, NULL, &in), VK_SUCCESS);
    assert_int_equal(fixture.findings, 1);
    assert_int_equal(fixture.finding.command, COMMAND_CopyMemoryToImageEXT);
    assert_int_equal(fixture.finding.kind, FINDING_MISSING_TRANSITION);

    struct compat_image_to_memory_copy out_region = {.imageSubresource = layers};
    struct compat_copy_image_to_memory_info out = {.srcImage = image,
                                                   .srcImageLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                                   .regionCount = 1,
                                                   .pRegions = &out_region};
    assert_int_equal(hook_CopyImageToMemoryEXT(&fixture.device, below_copy_out, NULL, &out), VK_SUCCESS);
    assert_int_equal(fixture.findings, 2);

    VkImageCopy2 region = {.srcSubresource = layers, .dstSubresource = layers};
    struct compat_copy_image_to_image_info copy = {.srcImage = image,
                                                   .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                                   .dstImage = image,
                                                   .dstImageLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                                   .regionCount = 1,
                                                   .pRegions = &region};
    assert_int_equal(hook_CopyImageToImageEXT(&fixture.device, below_copy, NULL, &copy), VK_SUCCESS);
    assert_int_equal(fixture.findings, 3);
    assert_int_equal(layout_at(image, 0, 0, 0), VK_IMAGE_LAYOUT_GENERAL);
}

/* --- Memory and threads --- */

/* The driver's results are the application's; what the layer couldn't note is unknown or untracked. */
static void test_out_of_memory(void **state)
{
    (void)state;
    bool finished = false;
    for (int64_t n = 0; !finished; n++) {
        check(n < 100, "no end");
        allocations_fail_at(n);
        VkImage image = image_2d(VK_FORMAT_R8G8B8A8_UNORM, 1, 1);
        VkDeviceMemory memory = memory_of(NULL);
        bind_image(image, memory, 0);
        VkImageView view = view_of(image, VK_IMAGE_VIEW_TYPE_2D, WHOLE);
        set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(image), "name");
        /* Nothing has failed: then that was the last round. */
        struct image *known = image_find(&fixture.sync, image);
        finished = known && image_is_tracked(known) && image_view_find(&fixture.sync, view) && known->name;
        if (known && !image_view_find(&fixture.sync, view))
            check(!image_is_tracked(known), "round %d: a view that isn't known", (int)n);
        VkImage alias = image_2d(VK_FORMAT_R8G8B8A8_UNORM, 1, 1);
        bind_image(alias, memory, 0);
        struct image *known_alias = image_find(&fixture.sync, alias);
        check(!known || !image_is_tracked(known), "round %d: an aliased image", (int)n);
        check(!known_alias || !image_is_tracked(known_alias), "round %d: an alias", (int)n);
        allocations_fail_at(-1);
        destroy_view(view);
        destroy_image(image);
        destroy_image(alias);
        free_memory(memory);
    }
}

static void one_cycle(VkDeviceMemory memory, VkDeviceSize offset)
{
    VkImage image = image_2d(VK_FORMAT_R8G8B8A8_UNORM, 2, 2);
    bind_image(image, memory, offset);
    VkImageView view = view_of(image, VK_IMAGE_VIEW_TYPE_2D_ARRAY, WHOLE);
    VkFramebuffer framebuffer = framebuffer_of(1, &view);
    set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(image), "name");
    destroy_image(image);
    destroy_view(view);
    destroy_framebuffer(framebuffer);
}

static void test_memory_is_flat(void **state)
{
    (void)state;
    VkDeviceMemory memory = memory_of(NULL);
    for (int i = 0; i < 1000; i++)
        one_cycle(memory, 0);
    int64_t before = allocations_live();
    for (int i = 0; i < 100000; i++)
        one_cycle(memory, 0);
    assert_int_equal(allocations_live(), before);
}

#define THREADS 4

static atomic_uint_fast64_t thread_handle = 0x5000000;

static VkResult VKAPI_CALL threads_create_image(VkDevice device, const VkImageCreateInfo *info,
                                                const VkAllocationCallbacks *allocator, VkImage *out)
{
    (void)device, (void)info, (void)allocator;
    *out = HANDLE(VkImage, atomic_fetch_add(&thread_handle, 1));
    return VK_SUCCESS;
}

/* All threads' views have one handle. */
static VkResult VKAPI_CALL threads_create_view(VkDevice device, const VkImageViewCreateInfo *info,
                                               const VkAllocationCallbacks *allocator, VkImageView *out)
{
    (void)device, (void)info, (void)allocator;
    *out = HANDLE(VkImageView, 0x99);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL threads_bind(VkDevice device, VkImage image, VkDeviceMemory memory,
                                        VkDeviceSize offset)
{
    (void)device, (void)image, (void)memory, (void)offset;
    return VK_SUCCESS;
}

static void VKAPI_CALL threads_requirements(VkDevice device, VkImage image, VkMemoryRequirements *out)
{
    (void)device, (void)image;
    *out = (VkMemoryRequirements){.size = 0x100};
}

static void VKAPI_CALL threads_destroy_image(VkDevice device, VkImage image,
                                             const VkAllocationCallbacks *allocator)
{
    (void)device, (void)image, (void)allocator;
}

static void VKAPI_CALL threads_destroy_view(VkDevice device, VkImageView view,
                                            const VkAllocationCallbacks *allocator)
{
    (void)device, (void)view, (void)allocator;
}

struct thread {
    VkDeviceMemory memory;
    VkImage shared;
    VkDeviceSize offset;
    bool failed;
};

static void *create_and_destroy(void *argument)
{
    struct thread *thread = argument;
    struct device *device = &fixture.device;
    VkImageViewCreateInfo view_info = {.image = thread->shared, .subresourceRange = WHOLE};
    for (int i = 0; i < 2000; i++) {
        VkImage image;
        VkImageView view;
        hook_CreateImage(device, threads_create_image, NULL, &image_2d_info, NULL, &image);
        hook_BindImageMemory(device, threads_bind, NULL, image, thread->memory, thread->offset);
        hook_CreateImageView(device, threads_create_view, NULL, &view_info, NULL, &view);
        struct image *known = image_find(&fixture.sync, image);
        struct image_view *known_view = image_view_find(&fixture.sync, view);
        if (!known || !image_is_tracked(known) || !known_view || known_view->image->handle != thread->shared)
            thread->failed = true;
        hook_DestroyImageView(device, threads_destroy_view, NULL, view, NULL);
        hook_DestroyImage(device, threads_destroy_image, NULL, image, NULL);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    fixture.device.next.GetImageMemoryRequirements = threads_requirements;
    VkDeviceMemory memory = memory_of(NULL);
    VkImage shared = image_2d(VK_FORMAT_R8_UNORM, 1, 1);
    struct thread threads[THREADS];
    pthread_t ids[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.memory = memory, .shared = shared, .offset = i * 0x100};
        assert_int_equal(pthread_create(&ids[i], NULL, create_and_destroy, &threads[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        check(!threads[i].failed, "thread %u", i);
    }
    assert_int_equal(untracked(shared), IMAGE_TRACKED);
    assert_null(image_view_find(&fixture.sync, HANDLE(VkImageView, 0x99)));
}

/* What the application leaves alive is freed with the device; the fixture checks. */
static void test_everything_left_alive(void **state)
{
    (void)state;
    VkImage image = image_2d(VK_FORMAT_R8_UNORM, 1, 1), images[3];
    bind_image(image, memory_of(NULL), 0);
    VkImageView view = view_of(image, VK_IMAGE_VIEW_TYPE_2D, WHOLE);
    framebuffer_of(1, &view);
    destroy_view(view);
    view_of(image, VK_IMAGE_VIEW_TYPE_2D, WHOLE);
    swapchain_images(swapchain_of(NULL, VK_PRESENT_MODE_FIFO_KHR, 0), 3, images);
    set_name(VK_OBJECT_TYPE_IMAGE, HANDLE_KEY(images[1]), "left alive");
    assert_string_equal(image_at(images[1])->name, "left alive");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_image_is_known_from_creation_to_destruction),
        TEST(test_failed_creation_is_unknown),
        TEST(test_new_image_takes_a_stale_one_s_place),
        TEST(test_reasons_of_creation),
        TEST(test_reasons_in_the_chain),
        TEST(test_newer_application_s_images_are_unknown),
        TEST(test_images_of_unknown_formats_are_unknown),
        TEST(test_slices_with_layouts_of_their_own),
        TEST(test_reason_stays),
        TEST(test_ranges_of_a_color_image),
        TEST(test_ranges_of_depth_and_stencil),
        TEST(test_slices_are_one_layer),
        TEST(test_view_outlives_its_image),
        TEST(test_view_that_is_not_understood),
        TEST(test_views_share_a_handle),
        TEST(test_overlapping_images_are_left_alone),
        TEST(test_memory_goes_before_its_images),
        TEST(test_shared_memory),
        TEST(test_failed_bind_is_none),
        TEST(test_binds_of_which_some_fail),
        TEST(test_binds_that_cannot_be_judged),
        TEST(test_disjoint_image_takes_memory),
        TEST(test_image_in_swapchain_memory),
        TEST(test_names),
        TEST(test_host_transitions),
        TEST(test_host_transitions_that_are_not_known),
        TEST(test_host_copies_are_reported),
        TEST(test_out_of_memory),
        TEST(test_memory_is_flat),
        TEST(test_threads),
        TEST(test_everything_left_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
