#include "kit.h"
#include "kit_extras.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kit_check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "barrier_cases: %s: error %d\n", what, result);
    exit(1);
}

void kit_check_room(uint32_t count)
{
    kit_check(count < KIT_MAX ? VK_SUCCESS : VK_ERROR_OUT_OF_POOL_MEMORY, "room for one more object");
}

static void instance_create(struct kit *kit)
{
    const char *extensions[3];
    uint32_t extension_count = 0;
    if (kit->options.swapchain || kit->options.extras & KIT_PRESENT_LAYOUT)
        extensions[extension_count++] = VK_KHR_SURFACE_EXTENSION_NAME;
    if (kit->options.swapchain)
        extensions[extension_count++] = VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME;
    if (kit->options.extras & KIT_DEBUG_LABELS)
        extensions[extension_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "barrier_cases",
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    kit_check(vkCreateInstance(&info, NULL, &kit->instance), "vkCreateInstance");
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(kit->instance, &count, &kit->physical);
    kit_check(count == 1 && result >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "a physical device");
    vkGetPhysicalDeviceMemoryProperties(kit->physical, &kit->memory);
}

/* Which queues; what comes back is how many of the first family. */
static uint32_t choose_queues(struct kit *kit)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(kit->physical, &count, families);
    kit->family = 0;
    while (kit->family + 1 < count && !(families[kit->family].queueFlags & VK_QUEUE_GRAPHICS_BIT))
        kit->family++;
    kit->second_family = kit->family;
    for (uint32_t i = 0; i < count; i++)
        if (i != kit->family && (families[i].queueFlags & (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT)))
            kit->second_family = i;
    return families[kit->family].queueCount > 1 ? 2 : 1;
}

static void device_create(struct kit *kit)
{
    static const float priorities[] = {1, 1};
    uint32_t own = choose_queues(kit);
    bool other = kit->second_family != kit->family;
    VkDeviceQueueCreateInfo queues[2] = {
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .queueFamilyIndex = kit->family,
         .queueCount = own,
         .pQueuePriorities = priorities},
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .queueFamilyIndex = kit->second_family,
         .queueCount = 1,
         .pQueuePriorities = priorities},
    };
    struct kit_features features;
    kit_features_init(&features, kit);
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features.core,
        .queueCreateInfoCount = other ? 2 : 1,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = features.extension_count,
        .ppEnabledExtensionNames = features.extensions,
    };
    kit_check(vkCreateDevice(kit->physical, &info, NULL, &kit->device), "vkCreateDevice");
    vkGetDeviceQueue(kit->device, kit->family, 0, &kit->queue);
    vkGetDeviceQueue(kit->device, kit->second_family, other ? 0 : own - 1, &kit->second_queue);
}

static VkCommandPool pool_create(struct kit *kit, uint32_t family)
{
    VkCommandPool pool;
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    kit_check(vkCreateCommandPool(kit->device, &info, NULL, &pool), "vkCreateCommandPool");
    return pool;
}

static void swapchain_create(struct kit *kit)
{
    PFN_vkCreateHeadlessSurfaceEXT create =
        (PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(kit->instance, "vkCreateHeadlessSurfaceEXT");
    VkHeadlessSurfaceCreateInfoEXT surface = {.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    kit_check(create ? create(kit->instance, &surface, NULL, &kit->surface) : VK_ERROR_EXTENSION_NOT_PRESENT,
              "vkCreateHeadlessSurfaceEXT");
    VkBool32 supported = VK_FALSE;
    vkGetPhysicalDeviceSurfaceSupportKHR(kit->physical, kit->family, kit->surface, &supported);
    kit_check(supported ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT, "presenting");
    VkSurfaceCapabilitiesKHR capabilities;
    kit_check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(kit->physical, kit->surface, &capabilities),
              "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    VkSurfaceFormatKHR formats[KIT_MAX];
    uint32_t count = KIT_MAX;
    kit_check(vkGetPhysicalDeviceSurfaceFormatsKHR(kit->physical, kit->surface, &count, formats),
              "vkGetPhysicalDeviceSurfaceFormatsKHR");
    VkSwapchainCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = kit->surface,
        .minImageCount = capabilities.minImageCount > 2 ? capabilities.minImageCount : 2,
        .imageFormat = formats[0].format,
        .imageColorSpace = formats[0].colorSpace,
        .imageExtent = {KIT_SIDE, KIT_SIDE},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                      VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = capabilities.currentTransform,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
    };
    if (!(capabilities.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR))
        info.compositeAlpha = VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
    kit_check(vkCreateSwapchainKHR(kit->device, &info, NULL, &kit->swapchain), "vkCreateSwapchainKHR");
    count = KIT_MAX;
    kit_check(vkGetSwapchainImagesKHR(kit->device, kit->swapchain, &count, kit->swapchain_images),
              "vkGetSwapchainImagesKHR");
}

void kit_init(struct kit *kit, const struct kit_options *options)
{
    memset(kit, 0, sizeof(*kit));
    kit->options = *options;
    kit->hash = 14695981039346656037u;
    instance_create(kit);
    device_create(kit);
    kit->pool = pool_create(kit, kit->family);
    kit->second_pool = pool_create(kit, kit->second_family);
    if (options->swapchain)
        swapchain_create(kit);
}

void kit_finish(struct kit *kit)
{
    kit_wait(kit);
    for (uint32_t i = 0; i < kit->pipeline_count; i++)
        vkDestroyPipeline(kit->device, kit->pipelines[i], NULL);
    for (uint32_t i = 0; i < kit->pipeline_layout_count; i++)
        vkDestroyPipelineLayout(kit->device, kit->pipeline_layouts[i], NULL);
    for (uint32_t i = 0; i < kit->template_count; i++)
        vkDestroyDescriptorUpdateTemplate(kit->device, kit->templates[i], NULL);
    for (uint32_t i = 0; i < kit->descriptor_pool_count; i++)
        vkDestroyDescriptorPool(kit->device, kit->descriptor_pools[i], NULL);
    for (uint32_t i = 0; i < kit->set_layout_count; i++)
        vkDestroyDescriptorSetLayout(kit->device, kit->set_layouts[i], NULL);
    vkDestroySampler(kit->device, kit->sampler, NULL);
    for (uint32_t i = 0; i < kit->framebuffer_count; i++)
        vkDestroyFramebuffer(kit->device, kit->framebuffers[i], NULL);
    for (uint32_t i = 0; i < kit->pass_count; i++)
        vkDestroyRenderPass(kit->device, kit->passes[i], NULL);
    for (uint32_t i = 0; i < kit->view_count; i++)
        vkDestroyImageView(kit->device, kit->views[i], NULL);
    for (uint32_t i = 0; i < kit->image_count; i++)
        vkDestroyImage(kit->device, kit->images[i], NULL);
    for (uint32_t i = 0; i < kit->buffer_count; i++)
        vkDestroyBuffer(kit->device, kit->buffers[i].buffer, NULL);
    for (uint32_t i = 0; i < kit->memory_count; i++)
        vkFreeMemory(kit->device, kit->memories[i], NULL);
    vkDestroyCommandPool(kit->device, kit->pool, NULL);
    vkDestroyCommandPool(kit->device, kit->second_pool, NULL);
    if (kit->swapchain)
        vkDestroySwapchainKHR(kit->device, kit->swapchain, NULL);
    for (uint32_t i = 0; i < kit->semaphore_count; i++)
        vkDestroySemaphore(kit->device, kit->semaphores[i], NULL);
    vkDestroyDevice(kit->device, NULL);
    if (kit->surface)
        vkDestroySurfaceKHR(kit->instance, kit->surface, NULL);
    vkDestroyInstance(kit->instance, NULL);
}

static VkDeviceMemory allocate(struct kit *kit, const VkMemoryRequirements *needs,
                               VkMemoryPropertyFlags wanted)
{
    uint32_t type = 0;
    while (type + 1 < kit->memory.memoryTypeCount &&
           (!(needs->memoryTypeBits & (1u << type)) ||
            (kit->memory.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs->size,
        .memoryTypeIndex = type,
    };
    VkDeviceMemory memory;
    kit_check(vkAllocateMemory(kit->device, &info, NULL, &memory), "vkAllocateMemory");
    kit->memories[kit->memory_count++] = memory;
    return memory;
}

VkImage kit_image(struct kit *kit, const struct kit_image_info *given)
{
    struct kit_image_info none = {0};
    const struct kit_image_info *wanted = given ? given : &none;
    uint32_t side = wanted->side ? wanted->side : KIT_SIDE;
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = wanted->flags,
        .imageType = wanted->depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
        .format = wanted->format ? wanted->format : VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {side, side, wanted->depth ? wanted->depth : 1},
        .mipLevels = wanted->mips ? wanted->mips : 1,
        .arrayLayers = wanted->layers ? wanted->layers : 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = wanted->usage ? wanted->usage
                               : VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    VkImage image;
    kit_check_room(kit->image_count);
    kit_check(vkCreateImage(kit->device, &info, NULL, &image), "vkCreateImage");
    kit->images[kit->image_count++] = image;
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(kit->device, image, &needs);
    VkDeviceMemory memory = allocate(kit, &needs, 0);
    kit_check(vkBindImageMemory(kit->device, image, memory, 0), "vkBindImageMemory");
    return image;
}

VkImageView kit_view_of(struct kit *kit, VkImage image, VkImageViewType type, VkFormat format,
                        struct kit_range range)
{
    VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = type,
        .format = format,
        .subresourceRange = {range.aspects, range.mip, range.mips, range.layer, range.layers},
    };
    VkImageView view;
    kit_check_room(kit->view_count);
    kit_check(vkCreateImageView(kit->device, &info, NULL, &view), "vkCreateImageView");
    return kit->views[kit->view_count++] = view;
}

VkImageView kit_view(struct kit *kit, VkImage image, VkFormat format, VkImageAspectFlags aspects)
{
    return kit_view_of(kit, image, VK_IMAGE_VIEW_TYPE_2D, format, (struct kit_range){aspects, 0, 1, 0, 1});
}

VkBuffer kit_buffer_for(struct kit *kit, VkDeviceSize size, VkBufferUsageFlags usage)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
    };
    VkBuffer buffer;
    kit_check_room(kit->buffer_count);
    kit_check(vkCreateBuffer(kit->device, &info, NULL, &buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(kit->device, buffer, &needs);
    VkDeviceMemory memory =
        allocate(kit, &needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    kit_check(vkBindBufferMemory(kit->device, buffer, memory, 0), "vkBindBufferMemory");
    void *data;
    kit_check(vkMapMemory(kit->device, memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    for (VkDeviceSize i = 0; i < size; i++)
        ((uint8_t *)data)[i] = (uint8_t)(i * 7 + kit->buffer_count);
    kit->buffers[kit->buffer_count].buffer = buffer;
    kit->buffers[kit->buffer_count].data = data;
    kit->buffers[kit->buffer_count++].size = size;
    return buffer;
}

VkBuffer kit_buffer(struct kit *kit, VkDeviceSize size)
{
    return kit_buffer_for(kit, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
}

static uint32_t find_buffer(const struct kit *kit, VkBuffer buffer)
{
    uint32_t i = 0;
    while (i + 1 < kit->buffer_count && kit->buffers[i].buffer != buffer)
        i++;
    return i;
}

void *kit_buffer_data(struct kit *kit, VkBuffer buffer)
{
    return kit->buffers[find_buffer(kit, buffer)].data;
}

VkSemaphore kit_semaphore(struct kit *kit)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    kit_check_room(kit->semaphore_count);
    kit_check(vkCreateSemaphore(kit->device, &info, NULL, &semaphore), "vkCreateSemaphore");
    return kit->semaphores[kit->semaphore_count++] = semaphore;
}

void kit_wait(struct kit *kit)
{
    kit_check(vkDeviceWaitIdle(kit->device), "vkDeviceWaitIdle");
}

void kit_hash(struct kit *kit, VkBuffer buffer)
{
    uint32_t i = find_buffer(kit, buffer);
    for (VkDeviceSize byte = 0; byte < kit->buffers[i].size; byte++)
        kit->hash = (kit->hash ^ ((const uint8_t *)kit->buffers[i].data)[byte]) * 1099511628211u;
}
