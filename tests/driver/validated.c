/* A correct application under VK_LAYER_KHRONOS_validation on the fault-injecting driver: whatever validation
 * has to say is an answer of the driver that no real one would give. Exits with 1 if there is any message. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan_client.h"
#include "red_frag.h"
#include "scale_comp.h"
#include "triangle_vert.h"

#define EXTENT 64
#define COLOR_FORMAT VK_FORMAT_B8G8R8A8_UNORM

static atomic_uint messages;

static VkBool32 VKAPI_CALL count_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data, void *context)
{
    (void)severity;
    (void)types;
    (void)context;
    fprintf(stderr, "%s\n", data->pMessage);
    atomic_fetch_add(&messages, 1);
    return VK_FALSE;
}

/* For the life of the instance, and for its creation and destruction. */
static const VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType =
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
    .pfnUserCallback = count_message,
};

/* Every call here has to succeed. */
static void check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: %d\n", what, result);
    exit(1);
}
#define CHECK(call) check(call, #call)

struct application {
    struct vulkan_client client;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkPipelineCache cache;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline compute;
    VkPipeline graphics; /* for the render pass */
    VkPipeline dynamic;  /* for dynamic rendering */
    VkRenderPass pass;
    VkBuffer buffer;
    VkDeviceMemory buffer_memory;
    VkImage image;
    VkDeviceMemory image_memory;
    VkImageView view;
    VkFramebuffer framebuffer;
    VkCommandPool commands;
};

static void create_client(struct application *a)
{
    const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    const char *const instance_extensions[] = {"VK_KHR_surface", "VK_EXT_headless_surface",
                                               "VK_EXT_debug_utils"};
    const char *const device_extensions[] = {"VK_KHR_swapchain"};
    VkPhysicalDeviceVulkan13Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE,
        .dynamicRendering = VK_TRUE,
        .pipelineCreationCacheControl = VK_TRUE,
    };
    const struct vulkan_client_config config = {
        .instance_next = &messenger_info,
        .device_next = &features,
        .layer_count = 1,
        .layers = layers,
        .instance_extension_count = 3,
        .instance_extensions = instance_extensions,
        .device_extension_count = 1,
        .device_extensions = device_extensions,
    };

    CHECK(vulkan_client_open(&a->client));
    CHECK(vulkan_client_create_instance(&a->client, &config));
    CHECK(vulkan_client_create_device(&a->client, &config));
}

static VkDebugUtilsMessengerEXT create_messenger(struct vulkan_client *c)
{
    VkDebugUtilsMessengerEXT messenger;

    CHECK(c->vkCreateDebugUtilsMessengerEXT(c->instance, &messenger_info, NULL, &messenger));
    return messenger;
}

static VkDeviceMemory allocate(struct vulkan_client *c, const VkMemoryRequirements *requirements,
                               VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties properties;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = requirements->size};
    VkDeviceMemory memory;

    c->vkGetPhysicalDeviceMemoryProperties(c->physical, &properties);
    while (!(requirements->memoryTypeBits >> info.memoryTypeIndex & 1) ||
           (properties.memoryTypes[info.memoryTypeIndex].propertyFlags & wanted) != wanted)
        info.memoryTypeIndex++;
    CHECK(c->vkAllocateMemory(c->device, &info, NULL, &memory));
    return memory;
}

static void create_buffer(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 4096,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryRequirements requirements;
    void *data;

    CHECK(c->vkCreateBuffer(c->device, &info, NULL, &a->buffer));
    c->vkGetBufferMemoryRequirements(c->device, a->buffer, &requirements);
    a->buffer_memory = allocate(c, &requirements, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
    CHECK(c->vkBindBufferMemory(c->device, a->buffer, a->buffer_memory, 0));
    CHECK(c->vkMapMemory(c->device, a->buffer_memory, 0, VK_WHOLE_SIZE, 0, &data));
    c->vkUnmapMemory(c->device, a->buffer_memory);
}

static void create_image(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = COLOR_FORMAT,
                                    .extent = {EXTENT, EXTENT, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT};
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = COLOR_FORMAT,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkMemoryRequirements requirements;

    CHECK(c->vkCreateImage(c->device, &info, NULL, &a->image));
    c->vkGetImageMemoryRequirements(c->device, a->image, &requirements);
    a->image_memory = allocate(c, &requirements, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    CHECK(c->vkBindImageMemory(c->device, a->image, a->image_memory, 0));
    view.image = a->image;
    CHECK(c->vkCreateImageView(c->device, &view, NULL, &a->view));
}

static void create_render_pass(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkAttachmentDescription attachment = {.format = COLOR_FORMAT,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                                .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                                .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &attachment,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass};
    VkFramebufferCreateInfo framebuffer = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                           .attachmentCount = 1,
                                           .width = EXTENT,
                                           .height = EXTENT,
                                           .layers = 1};

    CHECK(c->vkCreateRenderPass(c->device, &info, NULL, &a->pass));
    framebuffer.renderPass = a->pass;
    framebuffer.pAttachments = &a->view;
    CHECK(c->vkCreateFramebuffer(c->device, &framebuffer, NULL, &a->framebuffer));
}

static void create_layouts(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1};

    CHECK(c->vkCreateDescriptorSetLayout(c->device, &set_layout, NULL, &a->set_layout));
    layout.pSetLayouts = &a->set_layout;
    CHECK(c->vkCreatePipelineLayout(c->device, &layout, NULL, &a->layout));
}

static void create_set(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorSetCount = 1};
    const VkDescriptorBufferInfo buffer = {a->buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};

    CHECK(c->vkCreateDescriptorPool(c->device, &pool, NULL, &a->pool));
    info.descriptorPool = a->pool;
    info.pSetLayouts = &a->set_layout;
    CHECK(c->vkAllocateDescriptorSets(c->device, &info, &a->set));
    write.dstSet = a->set;
    c->vkUpdateDescriptorSets(c->device, 1, &write, 0, NULL);
}

static VkShaderModule create_module(struct vulkan_client *c, const uint32_t *code, size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule module;

    CHECK(c->vkCreateShaderModule(c->device, &info, NULL, &module));
    return module;
}

static void create_compute_pipeline(struct application *a)
{
    struct vulkan_client *c = &a->client;
    VkShaderModule module = create_module(c, scale_comp, sizeof(scale_comp));
    const uint32_t factor = 3;
    const VkSpecializationMapEntry entry = {0, 0, sizeof(factor)};
    const VkSpecializationInfo constants = {1, &entry, sizeof(factor), &factor};
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = a->layout,
    };

    CHECK(c->vkCreateComputePipelines(c->device, a->cache, 1, &info, NULL, &a->compute));
    c->vkDestroyShaderModule(c->device, module, NULL);
}

/* With a render pass or, without one, for dynamic rendering. */
static VkPipeline create_graphics_pipeline(struct application *a, VkRenderPass pass)
{
    struct vulkan_client *c = &a->client;
    VkShaderModule vertex = create_module(c, triangle_vert, sizeof(triangle_vert));
    VkShaderModule fragment = create_module(c, red_frag, sizeof(red_frag));
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"},
    };
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, EXTENT, EXTENT, 0, 1};
    const VkRect2D scissor = {{0, 0}, {EXTENT, EXTENT}};
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState blend_attachment = {.colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &blend_attachment};
    const VkFormat format = COLOR_FORMAT;
    const VkPipelineRenderingCreateInfo rendering = {.sType =
                                                         VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                                     .colorAttachmentCount = 1,
                                                     .pColorAttachmentFormats = &format};
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = pass ? NULL : &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewports,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .layout = a->layout,
        .renderPass = pass,
    };
    VkPipeline pipeline;

    CHECK(c->vkCreateGraphicsPipelines(c->device, a->cache, 1, &info, NULL, &pipeline));
    c->vkDestroyShaderModule(c->device, vertex, NULL);
    c->vkDestroyShaderModule(c->device, fragment, NULL);
    return pipeline;
}

static void create_swapchain(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkHeadlessSurfaceCreateInfoEXT surface = {.sType =
                                                        VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .minImageCount = 3,
                                     .imageFormat = COLOR_FORMAT,
                                     .imageExtent = {EXTENT, EXTENT},
                                     .imageArrayLayers = 1,
                                     .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                     .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                     .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                     .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    VkSurfaceCapabilitiesKHR capabilities;
    VkSurfaceFormatKHR formats[8];
    VkPresentModeKHR modes[8];
    uint32_t format_count = 8, mode_count = 8;
    VkBool32 supported;

    CHECK(c->vkCreateHeadlessSurfaceEXT(c->instance, &surface, NULL, &a->surface));
    CHECK(c->vkGetPhysicalDeviceSurfaceSupportKHR(c->physical, 0, a->surface, &supported));
    CHECK(c->vkGetPhysicalDeviceSurfaceCapabilitiesKHR(c->physical, a->surface, &capabilities));
    CHECK(c->vkGetPhysicalDeviceSurfaceFormatsKHR(c->physical, a->surface, &format_count, formats));
    CHECK(c->vkGetPhysicalDeviceSurfacePresentModesKHR(c->physical, a->surface, &mode_count, modes));
    info.surface = a->surface;
    CHECK(c->vkCreateSwapchainKHR(c->device, &info, NULL, &a->swapchain));
}

static VkCommandBuffer begin(struct application *a)
{
    struct vulkan_client *c = &a->client;
    VkCommandBufferAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = a->commands,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkCommandBuffer buffer;

    CHECK(c->vkAllocateCommandBuffers(c->device, &allocation, &buffer));
    CHECK(c->vkBeginCommandBuffer(buffer, &info));
    return buffer;
}

static void record_work(struct application *a, VkCommandBuffer buffer)
{
    struct vulkan_client *c = &a->client;
    const VkClearValue clear = {.color = {.float32 = {0}}};
    const VkRenderPassBeginInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = a->pass,
                                        .framebuffer = a->framebuffer,
                                        .renderArea = {{0, 0}, {EXTENT, EXTENT}},
                                        .clearValueCount = 1,
                                        .pClearValues = &clear};
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};

    c->vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, a->compute);
    c->vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, a->layout, 0, 1, &a->set, 0, NULL);
    c->vkCmdDispatch(buffer, 1, 1, 1);
    c->vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, NULL, 0, NULL);
    c->vkCmdDispatch(buffer, 1, 1, 1);
    c->vkCmdBeginRenderPass(buffer, &pass, VK_SUBPASS_CONTENTS_INLINE);
    c->vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, a->graphics);
    c->vkCmdDraw(buffer, 3, 1, 0, 0);
    c->vkCmdEndRenderPass(buffer);
}

static void transition(struct vulkan_client *c, VkCommandBuffer buffer, VkImage image, VkImageLayout from,
                       VkImageLayout to)
{
    const VkImageMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                           .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                           .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                           .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                           .dstAccessMask =
                                               VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
                                           .oldLayout = from,
                                           .newLayout = to,
                                           .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .image = image,
                                           .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &barrier};

    c->vkCmdPipelineBarrier2(buffer, &dependency);
}

/* Renders to a swapchain's image and presents it. */
static void show_frame(struct application *a, VkImageLayout presented)
{
    struct vulkan_client *c = &a->client;
    const VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore acquired, rendered;
    VkImage images[8];
    uint32_t image_count = 8, index;
    VkCommandBuffer buffer = begin(a);
    VkRenderingAttachmentInfo attachment = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                            .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                            .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {EXTENT, EXTENT}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &attachment};
    VkImageViewCreateInfo view_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                       .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                       .format = COLOR_FORMAT,
                                       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                  .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signal = wait;
    const VkCommandBufferSubmitInfo command = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                               .commandBuffer = buffer};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount = 1,
                                  .pWaitSemaphoreInfos = &wait,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &command,
                                  .signalSemaphoreInfoCount = 1,
                                  .pSignalSemaphoreInfos = &signal};
    VkPresentInfoKHR present = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, .waitSemaphoreCount = 1, .swapchainCount = 1};

    CHECK(c->vkCreateSemaphore(c->device, &semaphore_info, NULL, &acquired));
    CHECK(c->vkCreateSemaphore(c->device, &semaphore_info, NULL, &rendered));
    CHECK(c->vkGetSwapchainImagesKHR(c->device, a->swapchain, &image_count, images));
    CHECK(c->vkAcquireNextImageKHR(c->device, a->swapchain, UINT64_MAX, acquired, VK_NULL_HANDLE, &index));
    view_info.image = images[index];
    CHECK(c->vkCreateImageView(c->device, &view_info, NULL, &attachment.imageView));
    transition(c, buffer, images[index], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    c->vkCmdBeginRendering(buffer, &rendering);
    c->vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, a->dynamic);
    c->vkCmdDraw(buffer, 3, 1, 0, 0);
    c->vkCmdEndRendering(buffer);
    transition(c, buffer, images[index], VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, presented);
    CHECK(c->vkEndCommandBuffer(buffer));
    wait.semaphore = acquired;
    signal.semaphore = rendered;
    CHECK(c->vkQueueSubmit2(c->queue, 1, &submit, VK_NULL_HANDLE));
    present.pWaitSemaphores = &rendered;
    present.pSwapchains = &a->swapchain;
    present.pImageIndices = &index;
    CHECK(c->vkQueuePresentKHR(c->queue, &present));
    CHECK(c->vkDeviceWaitIdle(c->device));
    c->vkDestroyImageView(c->device, attachment.imageView, NULL);
    c->vkDestroySemaphore(c->device, acquired, NULL);
    c->vkDestroySemaphore(c->device, rendered, NULL);
}

static void work(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1};
    VkCommandBuffer buffer = begin(a);
    VkFence fence;

    record_work(a, buffer);
    CHECK(c->vkEndCommandBuffer(buffer));
    CHECK(c->vkCreateFence(c->device, &fence_info, NULL, &fence));
    submit.pCommandBuffers = &buffer;
    CHECK(c->vkQueueSubmit(c->queue, 1, &submit, fence));
    CHECK(c->vkWaitForFences(c->device, 1, &fence, VK_TRUE, UINT64_MAX));
    c->vkDestroyFence(c->device, fence, NULL);
}

static void save_and_load_cache(struct application *a)
{
    struct vulkan_client *c = &a->client;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache again;
    size_t size;
    void *data;

    CHECK(c->vkGetPipelineCacheData(c->device, a->cache, &size, NULL));
    data = malloc(size);
    if (!data)
        abort();
    CHECK(c->vkGetPipelineCacheData(c->device, a->cache, &size, data));
    info.initialDataSize = size;
    info.pInitialData = data;
    CHECK(c->vkCreatePipelineCache(c->device, &info, NULL, &again));
    CHECK(c->vkMergePipelineCaches(c->device, again, 1, &a->cache));
    c->vkDestroyPipelineCache(c->device, again, NULL);
    free(data);
}

static void create_all(struct application *a)
{
    struct vulkan_client *c = &a->client;
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    const VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};

    CHECK(c->vkCreatePipelineCache(c->device, &cache, NULL, &a->cache));
    CHECK(c->vkCreateCommandPool(c->device, &commands, NULL, &a->commands));
    create_buffer(a);
    create_image(a);
    create_render_pass(a);
    create_layouts(a);
    create_set(a);
    create_compute_pipeline(a);
    a->graphics = create_graphics_pipeline(a, a->pass);
    a->dynamic = create_graphics_pipeline(a, VK_NULL_HANDLE);
    create_swapchain(a);
}

static void destroy_all(struct application *a)
{
    struct vulkan_client *c = &a->client;

    c->vkDestroySwapchainKHR(c->device, a->swapchain, NULL);
    c->vkDestroySurfaceKHR(c->instance, a->surface, NULL);
    c->vkDestroyPipeline(c->device, a->dynamic, NULL);
    c->vkDestroyPipeline(c->device, a->graphics, NULL);
    c->vkDestroyPipeline(c->device, a->compute, NULL);
    c->vkDestroyDescriptorPool(c->device, a->pool, NULL);
    c->vkDestroyPipelineLayout(c->device, a->layout, NULL);
    c->vkDestroyDescriptorSetLayout(c->device, a->set_layout, NULL);
    c->vkDestroyFramebuffer(c->device, a->framebuffer, NULL);
    c->vkDestroyRenderPass(c->device, a->pass, NULL);
    c->vkDestroyImageView(c->device, a->view, NULL);
    c->vkDestroyImage(c->device, a->image, NULL);
    c->vkFreeMemory(c->device, a->image_memory, NULL);
    c->vkDestroyBuffer(c->device, a->buffer, NULL);
    c->vkFreeMemory(c->device, a->buffer_memory, NULL);
    c->vkDestroyCommandPool(c->device, a->commands, NULL);
    c->vkDestroyPipelineCache(c->device, a->cache, NULL);
}

int main(int argc, char **argv)
{
    bool wrong = argc > 1 && !strcmp(argv[1], "wrong");
    struct application a = {0};
    VkDebugUtilsMessengerEXT messenger;

    create_client(&a);
    messenger = create_messenger(&a.client);
    create_all(&a);
    work(&a);
    for (int i = 0; i < 4; i++)
        show_frame(&a, wrong ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    save_and_load_cache(&a);
    destroy_all(&a);
    a.client.vkDestroyDevice(a.client.device, NULL);
    a.client.device = VK_NULL_HANDLE;
    a.client.vkDestroyDebugUtilsMessengerEXT(a.client.instance, messenger, NULL);
    vulkan_client_destroy(&a.client);
    vulkan_client_close(&a.client);
    printf("%u messages\n", atomic_load(&messages));
    return wrong == (atomic_load(&messages) != 0) ? 0 : 1;
}
