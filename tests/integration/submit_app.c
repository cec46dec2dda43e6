#include "submit_app.h"

#include "driver_records.h"

/* --- Instance and device --- */

static void create_instance(struct submit_app *app, const struct submit_app_config *config)
{
    static const char *const extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME,
                                             VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
                                             VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "submits",
                                     .apiVersion =
                                         config->api_version ? config->api_version : VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = config->instance_chain,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = config->debug_utils ? 3 : 2,
                                 .ppEnabledExtensionNames = extensions};
    CHECK_EQUAL(vkCreateInstance(&info, NULL, &app->instance), VK_SUCCESS);
    PFN_vkCreateHeadlessSurfaceEXT create =
        (PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(app->instance, "vkCreateHeadlessSurfaceEXT");
    VkHeadlessSurfaceCreateInfoEXT surface = {.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    CHECK_EQUAL(create(app->instance, &surface, NULL, &app->surface), VK_SUCCESS);
}

static uint32_t find_family(VkPhysicalDevice physical, VkQueueFlags flags, VkQueueFlags without)
{
    VkQueueFamilyProperties properties[8];
    uint32_t count = 8;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, properties);
    for (uint32_t i = 0; i < count; i++)
        if ((properties[i].queueFlags & flags) == flags && !(properties[i].queueFlags & without))
            return i;
    harness_fail(__FILE__, __LINE__, "no such queue family");
    return 0;
}

static void create_device(struct submit_app *app, const struct submit_app_config *config)
{
    static const float priorities[2] = {1, 1};
    static const char *const extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    uint32_t count = 1;
    VkPhysicalDevice physical;
    CHECK(vkEnumeratePhysicalDevices(app->instance, &count, &physical) >= 0 && count == 1);
    app->families[FAMILY_ALL] = find_family(physical, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT, 0);
    app->families[FAMILY_TRANSFER] =
        find_family(physical, VK_QUEUE_TRANSFER_BIT, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    VkDeviceQueueCreateInfo queues[FAMILY_COUNT];
    for (uint32_t i = 0; i < FAMILY_COUNT; i++)
        queues[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                              .queueFamilyIndex = app->families[i],
                                              .queueCount = i == FAMILY_ALL ? 2 : 1,
                                              .pQueuePriorities = priorities};
    VkPhysicalDeviceVulkan13Features features13 = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                                   .pNext = (void *)(uintptr_t)config->device_chain,
                                                   .synchronization2 = VK_TRUE};
    VkPhysicalDeviceVulkan12Features features12 = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                   .pNext = &features13,
                                                   .timelineSemaphore = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features12,
                               .queueCreateInfoCount = FAMILY_COUNT,
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = extensions};
    CHECK_EQUAL(vkCreateDevice(physical, &info, NULL, &app->device), VK_SUCCESS);
    vkGetDeviceQueue(app->device, app->families[FAMILY_ALL], 0, &app->queue);
    vkGetDeviceQueue(app->device, app->families[FAMILY_ALL], 1, &app->second);
    vkGetDeviceQueue(app->device, app->families[FAMILY_TRANSFER], 0, &app->transfer);
}

static void create_objects(struct submit_app *app)
{
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK_EQUAL(vkCreateFence(app->device, &fence, NULL, &app->fence), VK_SUCCESS);
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = 4096,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    CHECK_EQUAL(vkCreateBuffer(app->device, &info, NULL, &app->buffer), VK_SUCCESS);
}

void submit_app_open(struct submit_app *app)
{
    submit_app_open_with(app, &(struct submit_app_config){0});
}

void submit_app_open_with(struct submit_app *app, const struct submit_app_config *config)
{
    *app = (struct submit_app){0};
    create_instance(app, config);
    create_device(app, config);
    create_objects(app);
    for (uint32_t i = 0; i < FAMILY_COUNT; i++) {
        VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = app->families[i]};
        CHECK_EQUAL(vkCreateCommandPool(app->device, &info, NULL, &app->pools[i]), VK_SUCCESS);
    }
}

void submit_app_close(struct submit_app *app)
{
    CHECK_EQUAL(vkDeviceWaitIdle(app->device), VK_SUCCESS);
    for (uint32_t i = 0; i < FAMILY_COUNT; i++)
        vkDestroyCommandPool(app->device, app->pools[i], NULL);
    vkDestroyBuffer(app->device, app->buffer, NULL);
    for (uint32_t i = 0; i < app->image_count; i++) {
        vkDestroyImage(app->device, app->images[i], NULL);
        vkFreeMemory(app->device, app->memories[i], NULL);
    }
    for (uint32_t i = 0; i < app->semaphore_count; i++)
        vkDestroySemaphore(app->device, app->semaphores[i], NULL);
    vkDestroyFence(app->device, app->fence, NULL);
    vkDestroySwapchainKHR(app->device, app->swapchain, NULL);
    vkDestroyDevice(app->device, NULL);
    vkDestroySurfaceKHR(app->instance, app->surface, NULL);
    vkDestroyInstance(app->instance, NULL);
}

VkImage submit_app_image(struct submit_app *app)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {16, 16, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkImage image;
    CHECK_EQUAL(vkCreateImage(app->device, &info, NULL, &image), VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(app->device, image, &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size};
    while (!(needs.memoryTypeBits & 1u << memory.memoryTypeIndex))
        memory.memoryTypeIndex++;
    CHECK(app->image_count < OBJECTS_MAX);
    VkDeviceMemory *out = &app->memories[app->image_count];
    app->images[app->image_count++] = image;
    CHECK_EQUAL(vkAllocateMemory(app->device, &memory, NULL, out), VK_SUCCESS);
    CHECK_EQUAL(vkBindImageMemory(app->device, image, *out, 0), VK_SUCCESS);
    return image;
}

static VkSemaphore create_semaphore(struct submit_app *app, const void *chain)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = chain};
    CHECK(app->semaphore_count < OBJECTS_MAX);
    VkSemaphore *semaphore = &app->semaphores[app->semaphore_count++];
    CHECK_EQUAL(vkCreateSemaphore(app->device, &info, NULL, semaphore), VK_SUCCESS);
    return *semaphore;
}

VkSemaphore submit_app_semaphore(struct submit_app *app)
{
    return create_semaphore(app, NULL);
}

VkSemaphore submit_app_timeline(struct submit_app *app, uint64_t value)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                      .initialValue = value};
    return create_semaphore(app, &type);
}

/* --- Command buffers --- */

VkCommandBuffer submit_app_begin(const struct submit_app *app, enum submit_family family)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = app->pools[family],
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkCommandBuffer commands;
    CHECK_EQUAL(vkAllocateCommandBuffers(app->device, &info, &commands), VK_SUCCESS);
    CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

void submit_app_end(VkCommandBuffer commands)
{
    CHECK_EQUAL(vkEndCommandBuffer(commands), VK_SUCCESS);
}

static void barrier(VkCommandBuffer commands, const VkImageMemoryBarrier *info)
{
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                         0, NULL, 1, info);
}

static VkImageMemoryBarrier barrier_info(VkImage image, VkImageLayout from, VkImageLayout to)
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
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
}

void submit_app_move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier info = barrier_info(image, from, to);
    barrier(commands, &info);
}

void submit_app_transfer_ownership(const struct submit_app *app, VkCommandBuffer commands, VkImage image,
                                   VkImageLayout layout, enum submit_family from, enum submit_family to)
{
    VkImageMemoryBarrier info = barrier_info(image, layout, layout);
    info.srcQueueFamilyIndex = app->families[from];
    info.dstQueueFamilyIndex = app->families[to];
    barrier(commands, &info);
}

void submit_app_clear(VkCommandBuffer commands, VkImage image, VkImageLayout layout)
{
    VkClearColorValue color = {.float32 = {1, 0, 0, 1}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, image, layout, &color, 1, &range);
}

void submit_app_read(const struct submit_app *app, VkCommandBuffer commands, VkImage image,
                     VkImageLayout layout)
{
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {16, 16, 1}};
    vkCmdCopyImageToBuffer(commands, image, layout, app->buffer, 1, &region);
}

VkCommandBuffer submit_app_mover(const struct submit_app *app, VkImage image, VkImageLayout from,
                                 VkImageLayout to)
{
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    submit_app_move(commands, image, from, to);
    submit_app_end(commands);
    return commands;
}

VkCommandBuffer submit_app_reader(const struct submit_app *app, VkImage image)
{
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    submit_app_read(app, commands, image, SRC);
    submit_app_end(commands);
    return commands;
}

/* --- Submits --- */

static _Thread_local VkSubmitInfo last_info;           /* as the application handed it in, */
static _Thread_local const VkSubmitInfo *last_pointer; /* and where */

VkResult submit_app_try(VkQueue queue, VkCommandBuffer commands, const struct submit_sync *sync)
{
    static const struct submit_sync none;
    static _Thread_local VkCommandBuffer array[1];
    if (!sync)
        sync = &none;
    VkPipelineStageFlags stage = sync->stage ? sync->stage : VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo timeline = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .pNext = sync->chain,
                                              .waitSemaphoreValueCount = sync->wait ? 1 : 0,
                                              .pWaitSemaphoreValues = &sync->wait_value,
                                              .signalSemaphoreValueCount = sync->signal ? 1 : 0,
                                              .pSignalSemaphoreValues = &sync->signal_value};
    static _Thread_local VkSubmitInfo info;
    array[0] = commands;
    info = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .pNext = sync->wait_value || sync->signal_value ? &timeline : sync->chain,
                          .waitSemaphoreCount = sync->wait ? 1 : 0,
                          .pWaitSemaphores = &sync->wait,
                          .pWaitDstStageMask = &stage,
                          .commandBufferCount = commands ? 1 : 0,
                          .pCommandBuffers = array,
                          .signalSemaphoreCount = sync->signal ? 1 : 0,
                          .pSignalSemaphores = &sync->signal};
    last_info = info;
    last_pointer = &info;
    return vkQueueSubmit(queue, 1, &info, sync->fence);
}

void submit_app_submit(VkQueue queue, VkCommandBuffer commands, const struct submit_sync *sync)
{
    CHECK_EQUAL(submit_app_try(queue, commands, sync), VK_SUCCESS);
}

/* --- What the driver got --- */

/* The last submit with a batch: behind it may stand one of a fence alone. */
static const VkSubmitInfo *driver_info(void)
{
    struct fault_record record;
    for (uint32_t i = fault_journal_size(); i-- > 0;)
        if (fault_journal_get(i, &record) && strcmp(record.name, "vkQueueSubmit") == 0 && record.count)
            return record.infos;
    harness_fail(__FILE__, __LINE__, "nothing was submitted");
    return NULL;
}

bool submit_app_was_unchanged(void)
{
    return driver_info() == last_pointer && memcmp(last_pointer, &last_info, sizeof(last_info)) == 0;
}

/* The one barrier of a command buffer that has nothing else. */
static VkImageMemoryBarrier2 only_barrier(VkCommandBuffer commands)
{
    CHECK_EQUAL(fault_command_count(commands), 1);
    CHECK(strncmp(fault_command_name(commands, 0), "vkCmdPipelineBarrier2", 21) == 0);
    const struct arguments_vkCmdPipelineBarrier2 *arguments = fault_command_arguments(commands, 0);
    const VkDependencyInfo *info = arguments->pDependencyInfo;
    CHECK_EQUAL(info->imageMemoryBarrierCount, 1);
    CHECK_EQUAL(info->memoryBarrierCount + info->bufferMemoryBarrierCount, 0);
    return info->pImageMemoryBarriers[0];
}

bool submit_app_was_patched(VkImage image, VkImageLayout from, VkImageLayout to, VkImageMemoryBarrier2 *out)
{
    const VkSubmitInfo *info = driver_info();
    if (info == last_pointer)
        return false;
    CHECK_EQUAL(info->commandBufferCount, last_info.commandBufferCount + 1);
    CHECK(info->pCommandBuffers[1] == last_info.pCommandBuffers[0]);
    CHECK_EQUAL(info->waitSemaphoreCount, last_info.waitSemaphoreCount);
    CHECK(info->pWaitSemaphores == last_info.pWaitSemaphores);
    CHECK_EQUAL(info->signalSemaphoreCount, last_info.signalSemaphoreCount);
    CHECK(info->pNext == last_info.pNext);
    VkImageMemoryBarrier2 barrier2 = only_barrier(info->pCommandBuffers[0]);
    if (out)
        *out = barrier2;
    return barrier2.image == image && barrier2.oldLayout == from && barrier2.newLayout == to;
}

/* --- A swapchain --- */

void submit_app_swapchain(struct submit_app *app, VkImage images[2])
{
    VkSwapchainCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = app->surface,
        .minImageCount = 2,
        .imageFormat = VK_FORMAT_R8G8B8A8_UNORM,
        .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
        .imageExtent = {16, 16},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
    };
    uint32_t count = 2;
    CHECK_EQUAL(vkCreateSwapchainKHR(app->device, &info, NULL, &app->swapchain), VK_SUCCESS);
    CHECK_EQUAL(vkGetSwapchainImagesKHR(app->device, app->swapchain, &count, images), VK_SUCCESS);
    CHECK_EQUAL(count, 2);
}

uint32_t submit_app_acquire(const struct submit_app *app, VkSemaphore semaphore)
{
    uint32_t index;
    CHECK_EQUAL(
        vkAcquireNextImageKHR(app->device, app->swapchain, UINT64_MAX, semaphore, VK_NULL_HANDLE, &index),
        VK_SUCCESS);
    return index;
}

VkResult submit_app_present(const struct submit_app *app, VkQueue queue, uint32_t index, VkSemaphore wait)
{
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = wait ? 1 : 0,
                             .pWaitSemaphores = &wait,
                             .swapchainCount = 1,
                             .pSwapchains = &app->swapchain,
                             .pImageIndices = &index};
    return vkQueuePresentKHR(queue, &info);
}

bool submit_app_was_repaired(VkImage image, VkImageLayout from)
{
    struct fault_record record;
    CHECK(fault_journal_last("vkEndCommandBuffer", &record));
    VkImageMemoryBarrier2 found = only_barrier((VkCommandBuffer)(uintptr_t)record.parent);
    return found.image == image && found.oldLayout == from && found.newLayout == PRESENT;
}
