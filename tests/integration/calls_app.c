#include "calls_app.h"

/* --- Instance, device, objects --- */

static void create_instance(struct calls_app *app)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "records",
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    CHECK_EQUAL(vkCreateInstance(&info, NULL, &app->instance), VK_SUCCESS);
}

static void create_device(struct calls_app *app, const struct calls_options *options)
{
    static const float priority = 1;
    static const char *const extensions[] = {VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME,
                                             VK_EXT_SAMPLE_LOCATIONS_EXTENSION_NAME};
    uint32_t count = 1, family_count = 8;
    VkPhysicalDevice physical;
    VkQueueFamilyProperties families[8];
    CHECK(vkEnumeratePhysicalDevices(app->instance, &count, &physical) >= 0 && count == 1);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &family_count, families);
    while (!(families[app->family].queueFlags & VK_QUEUE_GRAPHICS_BIT))
        app->family++;
    app->other_family = app->family ? 0 : 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = app->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features13 = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                                   .synchronization2 = !options->plain,
                                                   .dynamicRendering = VK_TRUE};
    VkPhysicalDeviceVulkan12Features features12 = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                   .pNext = &features13,
                                                   .imagelessFramebuffer = VK_TRUE,
                                                   .separateDepthStencilLayouts = options->separate};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features12,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = options->plain ? 0 : 2,
                               .ppEnabledExtensionNames = extensions};
    CHECK_EQUAL(vkCreateDevice(physical, &info, NULL, &app->device), VK_SUCCESS);
    vkGetDeviceQueue(app->device, app->family, 0, &app->queue);
}

static void create_objects(struct calls_app *app)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = app->family};
    CHECK_EQUAL(vkCreateCommandPool(app->device, &pool, NULL, &app->pool), VK_SUCCESS);
    VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = 4096,
                                 .usage =
                                     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    CHECK_EQUAL(vkCreateBuffer(app->device, &buffer, NULL, &app->buffer), VK_SUCCESS);
    VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    CHECK_EQUAL(vkCreateEvent(app->device, &event, NULL, &app->event), VK_SUCCESS);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    CHECK_EQUAL(vkCreatePipelineLayout(app->device, &layout, NULL, &app->layout), VK_SUCCESS);
}

void calls_app_open(struct calls_app *app, const struct calls_options *options)
{
    static const struct calls_options none;
    *app = (struct calls_app){0};
    create_instance(app);
    create_device(app, options ? options : &none);
    create_objects(app);
}

void calls_app_close(struct calls_app *app)
{
    CHECK_EQUAL(vkDeviceWaitIdle(app->device), VK_SUCCESS);
    vkDestroyCommandPool(app->device, app->pool, NULL);
    vkDestroyBuffer(app->device, app->buffer, NULL);
    vkDestroyEvent(app->device, app->event, NULL);
    vkDestroyPipelineLayout(app->device, app->layout, NULL);
    for (uint32_t i = 0; i < app->framebuffer_count; i++)
        vkDestroyFramebuffer(app->device, app->framebuffers[i], NULL);
    for (uint32_t i = 0; i < app->pass_count; i++)
        vkDestroyRenderPass(app->device, app->passes[i], NULL);
    for (uint32_t i = 0; i < app->view_count; i++)
        vkDestroyImageView(app->device, app->views[i], NULL);
    for (uint32_t i = 0; i < app->image_count; i++) {
        vkDestroyImage(app->device, app->images[i], NULL);
        vkFreeMemory(app->device, app->memories[i], NULL);
    }
    vkDestroyDevice(app->device, NULL);
    vkDestroyInstance(app->instance, NULL);
}

VkImageCreateInfo calls_app_image_info(void)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {16, 16, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
}

VkImage calls_app_image_of(struct calls_app *app, const VkImageCreateInfo *info)
{
    VkImage image;
    VkMemoryRequirements needs;
    CHECK(app->image_count < CALLS_OBJECTS);
    CHECK_EQUAL(vkCreateImage(app->device, info, NULL, &image), VK_SUCCESS);
    vkGetImageMemoryRequirements(app->device, image, &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size};
    while (!(needs.memoryTypeBits & 1u << memory.memoryTypeIndex))
        memory.memoryTypeIndex++;
    VkDeviceMemory *out = &app->memories[app->image_count];
    app->images[app->image_count++] = image;
    CHECK_EQUAL(vkAllocateMemory(app->device, &memory, NULL, out), VK_SUCCESS);
    CHECK_EQUAL(vkBindImageMemory(app->device, image, *out, 0), VK_SUCCESS);
    return image;
}

VkImage calls_app_image(struct calls_app *app)
{
    VkImageCreateInfo info = calls_app_image_info();
    return calls_app_image_of(app, &info);
}

VkImage calls_app_mips(struct calls_app *app, uint32_t mips, uint32_t layers)
{
    VkImageCreateInfo info = calls_app_image_info();
    info.mipLevels = mips;
    info.arrayLayers = layers;
    return calls_app_image_of(app, &info);
}

VkImage calls_app_depth(struct calls_app *app)
{
    VkImageCreateInfo info = calls_app_image_info();
    info.format = VK_FORMAT_D32_SFLOAT_S8_UINT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    return calls_app_image_of(app, &info);
}

VkImageView calls_app_view(struct calls_app *app, VkImage image, VkFormat format,
                           VkImageSubresourceRange range)
{
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = image,
                                  .viewType = range.layerCount == 1 ? VK_IMAGE_VIEW_TYPE_2D
                                                                    : VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                                  .format = format,
                                  .subresourceRange = range};
    CHECK(app->view_count < CALLS_OBJECTS);
    VkImageView *out = &app->views[app->view_count++];
    CHECK_EQUAL(vkCreateImageView(app->device, &info, NULL, out), VK_SUCCESS);
    return *out;
}

VkRenderPass calls_app_pass(struct calls_app *app, VkImageLayout initial, VkImageLayout final)
{
    VkAttachmentDescription attachment = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                          .samples = VK_SAMPLE_COUNT_1_BIT,
                                          .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                          .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                          .initialLayout = initial,
                                          .finalLayout = final};
    VkAttachmentReference reference = {0, COLOR};
    VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &reference};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = 1,
                                   .pAttachments = &attachment,
                                   .subpassCount = 1,
                                   .pSubpasses = &subpass};
    CHECK(app->pass_count < CALLS_OBJECTS);
    VkRenderPass *out = &app->passes[app->pass_count++];
    CHECK_EQUAL(vkCreateRenderPass(app->device, &info, NULL, out), VK_SUCCESS);
    return *out;
}

VkFramebuffer calls_app_framebuffer(struct calls_app *app, VkRenderPass pass, VkImageView view,
                                    uint32_t layers)
{
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .renderPass = pass,
                                    .attachmentCount = 1,
                                    .pAttachments = &view,
                                    .width = 16,
                                    .height = 16,
                                    .layers = layers};
    CHECK(app->framebuffer_count < CALLS_OBJECTS);
    VkFramebuffer *out = &app->framebuffers[app->framebuffer_count++];
    CHECK_EQUAL(vkCreateFramebuffer(app->device, &info, NULL, out), VK_SUCCESS);
    return *out;
}

/* --- Command buffers --- */

static VkCommandBuffer allocate(const struct calls_app *app, VkCommandBufferLevel level)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = app->pool,
                                        .level = level,
                                        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK_EQUAL(vkAllocateCommandBuffers(app->device, &info, &commands), VK_SUCCESS);
    return commands;
}

VkCommandBuffer calls_app_begin(const struct calls_app *app)
{
    VkCommandBuffer commands = allocate(app, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

static VkCommandBuffer begin_secondary(const struct calls_app *app, VkRenderPass pass)
{
    VkCommandBuffer commands = allocate(app, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBufferInheritanceInfo inheritance = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
                                                  .renderPass = pass};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT |
                                               (pass ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0u),
                                      .pInheritanceInfo = &inheritance};
    CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

VkCommandBuffer calls_app_begin_secondary(const struct calls_app *app)
{
    return begin_secondary(app, VK_NULL_HANDLE);
}

VkCommandBuffer calls_app_begin_inside(const struct calls_app *app, VkRenderPass pass)
{
    return begin_secondary(app, pass);
}

void calls_app_end(VkCommandBuffer commands)
{
    CHECK_EQUAL(vkEndCommandBuffer(commands), VK_SUCCESS);
}

void calls_app_run(const struct calls_app *app, VkCommandBuffer commands)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CHECK_EQUAL(vkQueueSubmit(app->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    CHECK_EQUAL(vkQueueWaitIdle(app->queue), VK_SUCCESS);
}

VkImageMemoryBarrier calls_app_barrier(VkImage image, VkImageLayout from, VkImageLayout to)
{
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = REMAINING_COLOR,
    };
}

VkImageMemoryBarrier2 calls_app_barrier2(VkImage image, VkImageLayout from, VkImageLayout to)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT,
        .dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = REMAINING_COLOR,
    };
}

void calls_app_give(VkCommandBuffer commands, const VkImageMemoryBarrier *barrier)
{
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                         0, NULL, 1, barrier);
}

void calls_app_give2(VkCommandBuffer commands, const VkImageMemoryBarrier2 *barrier)
{
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = barrier};
    vkCmdPipelineBarrier2(commands, &info);
}

void calls_app_move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier barrier = calls_app_barrier(image, from, to);
    calls_app_give(commands, &barrier);
}

void calls_app_clear(VkCommandBuffer commands, VkImage image, VkImageLayout layout)
{
    VkClearColorValue color = {.float32 = {1, 0, 0, 1}};
    VkImageSubresourceRange range = REMAINING_COLOR;
    vkCmdClearColorImage(commands, image, layout, &color, 1, &range);
}

void calls_app_read(const struct calls_app *app, VkCommandBuffer commands, VkImage image,
                    VkImageLayout layout, uint32_t mip)
{
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, mip, 0, 1},
                                .imageExtent = {16u >> mip, 16u >> mip, 1}};
    vkCmdCopyImageToBuffer(commands, image, layout, app->buffer, 1, &region);
}

void calls_app_dispatch(VkCommandBuffer commands)
{
    vkCmdDispatch(commands, 1, 1, 1);
}

void calls_app_push(const struct calls_app *app, VkCommandBuffer commands)
{
    static const uint32_t value = 1;
    vkCmdPushConstants(commands, app->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(value), &value);
}

void calls_app_render(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer framebuffer)
{
    VkClearValue clear = {0};
    VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                   .renderPass = pass,
                                   .framebuffer = framebuffer,
                                   .renderArea = {.extent = {16, 16}},
                                   .clearValueCount = 1,
                                   .pClearValues = &clear};
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdEndRenderPass(commands);
}

/* --- What the driver got --- */

const char *calls_names(VkCommandBuffer commands)
{
    static char names[4096];
    size_t used = 0;
    names[0] = '\0';
    for (uint32_t i = 0; i < fault_command_count(commands) && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? " " : "",
                                 fault_command_name(commands, i) + strlen("vkCmd"));
    return names;
}

void calls_check_names(const char *file, int line, VkCommandBuffer commands, const char *expected)
{
    const char *found = calls_names(commands);
    if (strcmp(found, expected) != 0)
        harness_fail(file, line, "commands are \"%s\", not \"%s\"", found, expected);
}

const struct arguments_vkCmdPipelineBarrier *calls_barrier1(VkCommandBuffer commands, uint32_t index)
{
    CHECK_SAY(strcmp(fault_command_name(commands, index), "vkCmdPipelineBarrier") == 0, "%s",
              fault_command_name(commands, index));
    return fault_command_arguments(commands, index);
}

const VkDependencyInfo *calls_barrier2(VkCommandBuffer commands, uint32_t index)
{
    const struct arguments_vkCmdPipelineBarrier2 *arguments = fault_command_arguments(commands, index);
    CHECK_SAY(strncmp(fault_command_name(commands, index), "vkCmdPipelineBarrier2", 21) == 0, "%s",
              fault_command_name(commands, index));
    return arguments->pDependencyInfo;
}

VkImageMemoryBarrier2 calls_only_barrier(VkCommandBuffer commands, uint32_t index)
{
    const VkDependencyInfo *info = calls_barrier2(commands, index);
    CHECK_EQUAL(info->imageMemoryBarrierCount, 1);
    CHECK_EQUAL(info->memoryBarrierCount + info->bufferMemoryBarrierCount, 0);
    return info->pImageMemoryBarriers[0];
}

void calls_check_moved(const char *file, int line, VkCommandBuffer commands, uint32_t index, VkImage image,
                       VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier2 found = calls_only_barrier(commands, index);
    if (found.image != image || found.oldLayout != from || found.newLayout != to)
        harness_fail(file, line, "command %u moves from %d to %d", index, (int)found.oldLayout,
                     (int)found.newLayout);
}
