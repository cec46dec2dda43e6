#include "oracle_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BUFFER_SIZE 65536
#define CHECK(call) assert_int_equal(call, VK_SUCCESS)

static VkBool32 VKAPI_CALL count_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data, void *context)
{
    struct scene *scene = context;

    scene->messages++;
    if (getenv("ORACLE_VERBOSE"))
        fprintf(stderr, "%s\n", data->pMessage);
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(struct scene *scene)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = count_message,
        .pUserData = scene,
    };
}

/* Features that only some scenes have, chained. */
struct shader_features {
    VkPhysicalDeviceFeatures2 basic;
    VkPhysicalDeviceMeshShaderFeaturesEXT mesh;
    VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT mutable;
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries;
    VkPhysicalDeviceMultiDrawFeaturesEXT multi_draw;
    VkPhysicalDeviceRayTracingPipelineFeaturesKHR ray_tracing;
#if defined(VK_EXT_shader_object)
    VkPhysicalDeviceShaderObjectFeaturesEXT objects;
#endif
#if defined(VK_KHR_dynamic_rendering_local_read)
    VkPhysicalDeviceDynamicRenderingLocalReadFeaturesKHR local_read;
#endif
};

static void chain(void *features, VkStructureType type, void **next)
{
    VkBaseOutStructure *link = features;

    link->sType = type;
    link->pNext = *next;
    *next = link;
}

/* `newer`: also those that validation of 1.3.239 doesn't know. */
static void shader_features_init(struct shader_features *f, bool newer, void **next)
{
    memset(f, 0, sizeof(*f));
    f->basic.features.multiDrawIndirect = VK_TRUE;
    f->basic.features.fragmentStoresAndAtomics = VK_TRUE;
    f->basic.features.shaderSampledImageArrayDynamicIndexing = VK_TRUE;
    f->basic.features.shaderStorageImageArrayDynamicIndexing = VK_TRUE;
    f->mesh.meshShader = VK_TRUE;
    f->mutable.mutableDescriptorType = VK_TRUE;
    f->libraries.graphicsPipelineLibrary = VK_TRUE;
    f->multi_draw.multiDraw = VK_TRUE;
    f->ray_tracing.rayTracingPipeline = VK_TRUE;
    f->ray_tracing.rayTracingPipelineTraceRaysIndirect = VK_TRUE;
    chain(&f->basic, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, next);
    chain(&f->mesh, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT, next);
    chain(&f->mutable, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MUTABLE_DESCRIPTOR_TYPE_FEATURES_EXT, next);
    chain(&f->libraries, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT, next);
    chain(&f->multi_draw, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT, next);
    chain(&f->ray_tracing, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR, next);
    if (!newer)
        return;
#if defined(VK_EXT_shader_object)
    f->objects.shaderObject = VK_TRUE;
    chain(&f->objects, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT, next);
#endif
#if defined(VK_KHR_dynamic_rendering_local_read)
    f->local_read.dynamicRenderingLocalRead = VK_TRUE;
    chain(&f->local_read, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR, next);
#endif
}

static void descriptor_indexing(VkPhysicalDeviceVulkan12Features *features)
{
    features->descriptorIndexing = VK_TRUE;
    features->shaderSampledImageArrayNonUniformIndexing = VK_TRUE;
    features->descriptorBindingSampledImageUpdateAfterBind = VK_TRUE;
    features->descriptorBindingStorageImageUpdateAfterBind = VK_TRUE;
    features->descriptorBindingPartiallyBound = VK_TRUE;
    features->descriptorBindingVariableDescriptorCount = VK_TRUE;
    features->runtimeDescriptorArray = VK_TRUE;
    features->bufferDeviceAddress = VK_TRUE;
    features->drawIndirectCount = VK_TRUE;
}

static void create_device(struct scene *scene, const struct scene_options *options)
{
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    static const char *const instance_extensions[] = {"VK_KHR_surface", "VK_EXT_headless_surface",
                                                      "VK_EXT_debug_utils"};
    static const char *const device_extensions[] = {
        "VK_KHR_swapchain",
    /* Where both the headers and the driver's registry have it. */
#if defined(VK_EXT_host_image_copy)
        "VK_EXT_host_image_copy",
        "VK_KHR_copy_commands2",
        "VK_KHR_format_feature_flags2",
#define PLAIN_EXTENSIONS 4
#else
#define PLAIN_EXTENSIONS 1
#endif
        /* What shaders need is behind that, and behind it what validation of 1.3.239 doesn't know. */
        "VK_KHR_push_descriptor",
        "VK_EXT_mutable_descriptor_type",
        "VK_EXT_mesh_shader",
        "VK_KHR_pipeline_library",
        "VK_EXT_graphics_pipeline_library",
        "VK_EXT_multi_draw",
        "VK_KHR_deferred_host_operations",
        "VK_KHR_acceleration_structure",
        "VK_KHR_ray_tracing_pipeline",
#define SHADER_EXTENSIONS (PLAIN_EXTENSIONS + 9)
#if defined(VK_EXT_shader_object)
        "VK_EXT_shader_object",
#endif
#if defined(VK_KHR_dynamic_rendering_local_read)
        "VK_KHR_dynamic_rendering_local_read",
#endif
#if defined(VK_KHR_maintenance6)
        "VK_KHR_maintenance6",
#endif
    };
    struct shader_features shader_features;
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = !options->synchronization1,
        .dynamicRendering = VK_TRUE,
    };
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &features13,
        .imagelessFramebuffer = VK_TRUE,
        .separateDepthStencilLayouts = !options->joint_layouts,
    };
    const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(scene);
    const struct vulkan_client_config config = {
        .device_next = &features12,
        .layer_count = options->validated,
        .layers = layers,
        .instance_extension_count = options->validated ? 3 : 2,
        .instance_extensions = instance_extensions,
        .device_extension_count = !options->shaders ? PLAIN_EXTENSIONS
                                  : options->validated
                                      ? SHADER_EXTENSIONS
                                      : sizeof(device_extensions) / sizeof(device_extensions[0]),
        .device_extensions = device_extensions,
        .family_count = CLIENT_MAX_FAMILIES,
    };
    struct vulkan_client *c = &scene->client;
    uint32_t families;

    if (options->shaders) {
        shader_features_init(&shader_features, !options->validated, &features13.pNext);
        descriptor_indexing(&features12);
    }
    CHECK(vulkan_client_open(c));
    CHECK(vulkan_client_create_instance(c, &config));
    if (options->validated)
        CHECK(c->vkCreateDebugUtilsMessengerEXT(c->instance, &messenger, NULL, &scene->messenger));
    c->vkGetPhysicalDeviceQueueFamilyProperties(c->physical, &families, NULL);
    assert_int_equal(families, CLIENT_MAX_FAMILIES);
    CHECK(vulkan_client_create_device(c, &config));
}

static VkDeviceMemory allocate(struct scene *scene, const VkMemoryRequirements *requirements)
{
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = requirements->size,
        .memoryTypeIndex = (uint32_t)__builtin_ctz(requirements->memoryTypeBits),
    };
    VkDeviceMemory memory;

    CHECK(scene->client.vkAllocateMemory(scene->client.device, &info, NULL, &memory));
    return memory;
}

static void create_buffer(struct scene *scene)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = BUFFER_SIZE,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    struct vulkan_client *c = &scene->client;
    VkMemoryRequirements requirements;

    CHECK(c->vkCreateBuffer(c->device, &info, NULL, &scene->buffer));
    c->vkGetBufferMemoryRequirements(c->device, scene->buffer, &requirements);
    scene->buffer_memory = allocate(scene, &requirements);
    CHECK(c->vkBindBufferMemory(c->device, scene->buffer, scene->buffer_memory, 0));
}

void scene_init(struct scene *scene, const struct scene_options *options)
{
    const VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    struct vulkan_client *c = &scene->client;

    memset(scene, 0, sizeof(*scene));
    create_device(scene, options);
    for (uint32_t i = 0; i < CLIENT_MAX_FAMILIES; i++) {
        const VkCommandPoolCreateInfo pool = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            .queueFamilyIndex = i,
        };

        c->vkGetDeviceQueue(c->device, i, 0, &scene->queues[i]);
        CHECK(c->vkCreateCommandPool(c->device, &pool, NULL, &scene->pools[i]));
    }
    CHECK(c->vkCreateEvent(c->device, &event, NULL, &scene->event));
    create_buffer(scene);
}

void scene_finish(struct scene *scene)
{
    struct vulkan_client *c = &scene->client;

    CHECK(c->vkDeviceWaitIdle(c->device));
    for (uint32_t i = 0; i < scene->framebuffer_count; i++)
        c->vkDestroyFramebuffer(c->device, scene->framebuffers[i], NULL);
    for (uint32_t i = 0; i < scene->pass_count; i++)
        c->vkDestroyRenderPass(c->device, scene->passes[i], NULL);
    for (uint32_t i = 0; i < scene->view_count; i++)
        c->vkDestroyImageView(c->device, scene->views[i], NULL);
    for (uint32_t i = 0; i < scene->image_count; i++) {
        c->vkDestroyImage(c->device, scene->images[i], NULL);
        c->vkFreeMemory(c->device, scene->memories[i], NULL);
    }
    for (uint32_t i = 0; i < CLIENT_MAX_FAMILIES; i++)
        c->vkDestroyCommandPool(c->device, scene->pools[i], NULL);
    c->vkDestroyBuffer(c->device, scene->buffer, NULL);
    c->vkFreeMemory(c->device, scene->buffer_memory, NULL);
    c->vkDestroyEvent(c->device, scene->event, NULL);
    if (scene->swapchain)
        c->vkDestroySwapchainKHR(c->device, scene->swapchain, NULL);
    if (scene->surface)
        c->vkDestroySurfaceKHR(c->instance, scene->surface, NULL);
    if (scene->messenger)
        c->vkDestroyDebugUtilsMessengerEXT(c->instance, scene->messenger, NULL);
    vulkan_client_destroy(c);
    vulkan_client_close(c);
}

VkImage scene_image(struct scene *scene, const struct scene_image *wanted)
{
    static const uint32_t families[] = {0, 1, 2};
    const VkFormat format = wanted->format ? wanted->format : SCENE_COLOR;
    const VkImageUsageFlags attachment = format == SCENE_DEPTH ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                                               : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = wanted->flags,
        .imageType = wanted->type ? wanted->type : VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {SCENE_SIZE, SCENE_SIZE, wanted->depth ? wanted->depth : 1},
        .mipLevels = wanted->mips ? wanted->mips : 1,
        .arrayLayers = wanted->layers ? wanted->layers : 1,
        .samples = wanted->samples ? wanted->samples : VK_SAMPLE_COUNT_1_BIT,
        .tiling = wanted->linear ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT | attachment | wanted->usage,
        .sharingMode = wanted->concurrent ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = wanted->concurrent ? CLIENT_MAX_FAMILIES : 0,
        .pQueueFamilyIndices = families,
        .initialLayout = wanted->initial,
    };
    struct vulkan_client *c = &scene->client;
    VkMemoryRequirements requirements;
    VkImage image;

    assert_true(scene->image_count < SCENE_MAX);
    CHECK(c->vkCreateImage(c->device, &info, NULL, &image));
    c->vkGetImageMemoryRequirements(c->device, image, &requirements);
    scene->memories[scene->image_count] = allocate(scene, &requirements);
    CHECK(c->vkBindImageMemory(c->device, image, scene->memories[scene->image_count], 0));
    scene->images[scene->image_count++] = image;
    return image;
}

VkImage scene_color(struct scene *scene)
{
    return scene_image(scene, &(struct scene_image){0});
}

VkImage scene_depth(struct scene *scene)
{
    return scene_image(scene, &(struct scene_image){.format = SCENE_DEPTH});
}

VkImageView scene_view(struct scene *scene, VkImage image, const VkImageSubresourceRange *range)
{
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = range->aspectMask & VK_IMAGE_ASPECT_COLOR_BIT ? SCENE_COLOR : SCENE_DEPTH,
        .subresourceRange = *range,
    };
    VkImageView view;

    assert_true(scene->view_count < SCENE_MAX);
    CHECK(scene->client.vkCreateImageView(scene->client.device, &info, NULL, &view));
    return scene->views[scene->view_count++] = view;
}

VkImageView scene_color_view(struct scene *scene, VkImage image)
{
    return scene_view(scene, image, &(VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1});
}

VkImageView scene_depth_view(struct scene *scene, VkImage image)
{
    const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;

    return scene_view(scene, image, &(VkImageSubresourceRange){both, 0, 1, 0, 1});
}

VkRenderPass scene_pass(struct scene *scene, const VkRenderPassCreateInfo *info)
{
    VkRenderPass pass;

    assert_true(scene->pass_count < SCENE_MAX);
    CHECK(scene->client.vkCreateRenderPass(scene->client.device, info, NULL, &pass));
    return scene->passes[scene->pass_count++] = pass;
}

VkRenderPass scene_pass2(struct scene *scene, const VkRenderPassCreateInfo2 *info)
{
    VkRenderPass pass;

    assert_true(scene->pass_count < SCENE_MAX);
    CHECK(scene->client.vkCreateRenderPass2(scene->client.device, info, NULL, &pass));
    return scene->passes[scene->pass_count++] = pass;
}

VkFramebuffer scene_framebuffer(struct scene *scene, VkRenderPass pass, uint32_t count,
                                const VkImageView *views, const void *chain)
{
    const VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .pNext = chain,
        .flags = views ? 0 : VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT,
        .renderPass = pass,
        .attachmentCount = count,
        .pAttachments = views,
        .width = SCENE_SIZE,
        .height = SCENE_SIZE,
        .layers = 1,
    };
    VkFramebuffer framebuffer;

    assert_true(scene->framebuffer_count < SCENE_MAX);
    CHECK(scene->client.vkCreateFramebuffer(scene->client.device, &info, NULL, &framebuffer));
    return scene->framebuffers[scene->framebuffer_count++] = framebuffer;
}

static VkCommandBuffer begin(struct scene *scene, uint32_t family, VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = scene->pools[family],
        .level = level,
        .commandBufferCount = 1,
    };
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .pInheritanceInfo = &inheritance,
    };

    CHECK(scene->client.vkAllocateCommandBuffers(scene->client.device, &allocation, &scene->cmd));
    CHECK(scene->client.vkBeginCommandBuffer(scene->cmd, &info));
    scene->family = family;
    return scene->cmd;
}

void scene_begin(struct scene *scene, uint32_t family)
{
    begin(scene, family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

VkCommandBuffer scene_record(struct scene *scene, VkCommandBufferLevel level)
{
    return begin(scene, 0, level);
}

void scene_record_end(struct scene *scene)
{
    CHECK(scene->client.vkEndCommandBuffer(scene->cmd));
}

void scene_submit(struct scene *scene, uint32_t family, uint32_t count, const VkCommandBuffer *buffers)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = count, .pCommandBuffers = buffers};

    CHECK(scene->client.vkQueueSubmit(scene->queues[family], 1, &info, VK_NULL_HANDLE));
    CHECK(scene->client.vkQueueWaitIdle(scene->queues[family]));
}

void scene_end(struct scene *scene)
{
    scene_record_end(scene);
    scene_submit(scene, scene->family, 1, &scene->cmd);
}

VkImageMemoryBarrier scene_image_barrier(VkImage image, VkImageLayout from, VkImageLayout to,
                                         VkImageSubresourceRange range)
{
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = range,
    };
}

void scene_barriers(struct scene *scene, uint32_t count, const VkImageMemoryBarrier *barriers)
{
    scene->client.vkCmdPipelineBarrier(scene->cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, count,
                                       barriers);
}

void scene_barrier_range(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to,
                         VkImageSubresourceRange range)
{
    const VkImageMemoryBarrier barrier = scene_image_barrier(image, from, to, range);

    scene_barriers(scene, 1, &barrier);
}

void scene_barrier(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to)
{
    scene_barrier_range(scene, image, from, to, SCENE_ALL_COLOR);
}

void scene_barrier2(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = SCENE_ALL_COLOR,
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = &barrier,
    };

    scene->client.vkCmdPipelineBarrier2(scene->cmd, &info);
}

void scene_barrier_family(struct scene *scene, VkImage image, VkImageLayout from, VkImageLayout to,
                          uint32_t source, uint32_t destination)
{
    VkImageMemoryBarrier barrier = scene_image_barrier(image, from, to, SCENE_ALL_COLOR);

    barrier.srcQueueFamilyIndex = source;
    barrier.dstQueueFamilyIndex = destination;
    scene_barriers(scene, 1, &barrier);
}

static const VkBufferImageCopy first_region = {
    .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
    .imageExtent = {SCENE_SIZE, SCENE_SIZE, 1},
};

void scene_copy_in(struct scene *scene, VkImage image, VkImageLayout layout)
{
    scene->client.vkCmdCopyBufferToImage(scene->cmd, scene->buffer, image, layout, 1, &first_region);
}

void scene_copy_out(struct scene *scene, VkImage image, VkImageLayout layout)
{
    scene->client.vkCmdCopyImageToBuffer(scene->cmd, image, layout, scene->buffer, 1, &first_region);
}

void scene_clear(struct scene *scene, VkImage image, VkImageLayout layout)
{
    const VkClearColorValue color = {.float32 = {1, 1, 1, 1}};
    const VkImageSubresourceRange all = SCENE_ALL_COLOR;

    scene->client.vkCmdClearColorImage(scene->cmd, image, layout, &color, 1, &all);
}

void scene_swapchain(struct scene *scene)
{
    const VkHeadlessSurfaceCreateInfoEXT surface = {.sType =
                                                        VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    struct vulkan_client *c = &scene->client;
    VkSwapchainCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .minImageCount = 2,
        .imageFormat = VK_FORMAT_R8G8B8A8_UNORM,
        .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
        .imageExtent = {SCENE_SIZE, SCENE_SIZE},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
    };
    VkSurfaceCapabilitiesKHR capabilities;
    VkBool32 supported;
    uint32_t count = 0;

    CHECK(c->vkCreateHeadlessSurfaceEXT(c->instance, &surface, NULL, &scene->surface));
    CHECK(c->vkGetPhysicalDeviceSurfaceSupportKHR(c->physical, 0, scene->surface, &supported));
    CHECK(c->vkGetPhysicalDeviceSurfaceCapabilitiesKHR(c->physical, scene->surface, &capabilities));
    CHECK(c->vkGetPhysicalDeviceSurfaceFormatsKHR(c->physical, scene->surface, &count, NULL));
    CHECK(c->vkGetPhysicalDeviceSurfacePresentModesKHR(c->physical, scene->surface, &count, NULL));
    info.surface = scene->surface;
    CHECK(c->vkCreateSwapchainKHR(c->device, &info, NULL, &scene->swapchain));
    scene->swapchain_image_count = SCENE_MAX;
    CHECK(c->vkGetSwapchainImagesKHR(c->device, scene->swapchain, &scene->swapchain_image_count,
                                     scene->swapchain_images));
}

VkImage scene_acquire(struct scene *scene, uint32_t *index)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct vulkan_client *c = &scene->client;
    VkFence fence;

    CHECK(c->vkCreateFence(c->device, &fence_info, NULL, &fence));
    CHECK(c->vkAcquireNextImageKHR(c->device, scene->swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, index));
    CHECK(c->vkWaitForFences(c->device, 1, &fence, VK_TRUE, UINT64_MAX));
    c->vkDestroyFence(c->device, fence, NULL);
    return scene->swapchain_images[*index];
}

void scene_present(struct scene *scene, uint32_t index)
{
    const VkPresentInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .swapchainCount = 1,
        .pSwapchains = &scene->swapchain,
        .pImageIndices = &index,
    };

    CHECK(scene->client.vkQueuePresentKHR(scene->queues[0], &info));
    CHECK(scene->client.vkQueueWaitIdle(scene->queues[0]));
}
