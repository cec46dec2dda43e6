#include "record_app.h"

#include "driver_records.h"

/* --- Instance and device --- */

static void create_instance(struct record_app *app)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "records",
                                     .apiVersion =
                                         app->options.old ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    CHECK_EQUAL(vkCreateInstance(&info, NULL, &app->instance), VK_SUCCESS);
}

static void find_families(struct record_app *app, VkPhysicalDevice physical)
{
    const VkQueueFlags all = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkQueueFamilyProperties properties[8];
    uint32_t count = 8;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, properties);
    app->family = app->other_family = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        if ((properties[i].queueFlags & all) == all && properties[i].queueCount >= 2)
            app->family = i;
        else
            app->other_family = i;
    CHECK(app->family != UINT32_MAX && app->other_family != UINT32_MAX);
}

struct features {
    VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT mutable;
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries;
    VkPhysicalDeviceInlineUniformBlockFeatures inline_blocks;
    VkPhysicalDeviceSynchronization2Features sync2;
    VkPhysicalDeviceDynamicRenderingFeatures rendering;
    VkPhysicalDeviceVulkan13Features in13;
    VkPhysicalDeviceVulkan12Features in12;
    VkPhysicalDeviceVulkan11Features in11;
};

/* In front of the others. */
static void choose_shader_features(const struct record_options *options, struct features *out)
{
    out->mutable = (VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MUTABLE_DESCRIPTOR_TYPE_FEATURES_EXT,
        .pNext = out->in12.pNext,
        .mutableDescriptorType = VK_TRUE};
    out->libraries = (VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT,
        .pNext = &out->mutable,
        .graphicsPipelineLibrary = VK_TRUE};
    out->inline_blocks = (VkPhysicalDeviceInlineUniformBlockFeatures){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES,
        .pNext = &out->libraries,
        .inlineUniformBlock = VK_TRUE};
    out->in12.pNext = options->old ? (void *)&out->inline_blocks : (void *)&out->libraries;
    out->in13.inlineUniformBlock = VK_TRUE;
    out->in12.descriptorIndexing = VK_TRUE;
    out->in12.shaderSampledImageArrayNonUniformIndexing = VK_TRUE;
    out->in12.descriptorBindingSampledImageUpdateAfterBind = VK_TRUE;
    out->in12.descriptorBindingPartiallyBound = VK_TRUE;
    out->in12.descriptorBindingVariableDescriptorCount = VK_TRUE;
}

static void choose_features(const struct record_options *options, struct features *out)
{
    *out = (struct features){
        .sync2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
                  .pNext = &out->rendering,
                  .synchronization2 = !options->no_sync2},
        .rendering = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
                      .dynamicRendering = VK_TRUE},
        .in13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                 .synchronization2 = !options->no_sync2,
                 .dynamicRendering = VK_TRUE},
        .in12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                 .imagelessFramebuffer = VK_TRUE,
                 .separateDepthStencilLayouts = options->separate},
        .in11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                 .pNext = &out->in12,
                 .multiview = VK_TRUE},
    };
    if (!options->old)
        out->in12.pNext = &out->in13;
    else if (options->no_sync2)
        out->in12.pNext = &out->rendering;
    else
        out->in12.pNext = &out->sync2;
    if (options->shaders)
        choose_shader_features(options, out);
}

#define EXTENSIONS_MAX 10

static uint32_t choose_extensions(const struct record_options *options, const char *out[EXTENSIONS_MAX])
{
    uint32_t count = 0;
    out[count++] = VK_EXT_SAMPLE_LOCATIONS_EXTENSION_NAME;
    if (options->old) {
        out[count++] = VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME;
        out[count++] = VK_KHR_COPY_COMMANDS_2_EXTENSION_NAME;
        out[count++] = VK_EXT_EXTENDED_DYNAMIC_STATE_EXTENSION_NAME;
    }
    if (options->old && !options->no_sync2)
        out[count++] = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    if (!options->shaders)
        return count;
    out[count++] = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    out[count++] = VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME;
    out[count++] = VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME;
    out[count++] = VK_EXT_MUTABLE_DESCRIPTOR_TYPE_EXTENSION_NAME;
    if (options->old)
        out[count++] = VK_EXT_INLINE_UNIFORM_BLOCK_EXTENSION_NAME;
    return count;
}

static void create_device(struct record_app *app)
{
    static const float priorities[2] = {1, 1};
    const char *extensions[EXTENSIONS_MAX];
    const struct record_options *options = &app->options;
    uint32_t count = 1;
    VkPhysicalDevice physical;
    struct features features;
    CHECK(vkEnumeratePhysicalDevices(app->instance, &count, &physical) >= 0 && count == 1);
    find_families(app, physical);
    choose_features(options, &features);
    VkDeviceQueueCreateInfo queues[2] = {{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = app->family,
                                          .queueCount = 2,
                                          .pQueuePriorities = priorities},
                                         {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = app->other_family,
                                          .queueCount = 1,
                                          .pQueuePriorities = priorities}};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features.in11,
                               .queueCreateInfoCount = 2,
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = choose_extensions(options, extensions),
                               .ppEnabledExtensionNames = extensions};
    CHECK_EQUAL(vkCreateDevice(physical, &info, NULL, &app->device), VK_SUCCESS);
    vkGetDeviceQueue(app->device, app->family, 0, &app->queue);
    vkGetDeviceQueue(app->device, app->family, 1, &app->second);
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);

/* The driver's own commands, past the loader and the layer. */
static PFN_vkGetDeviceProcAddr driver_proc_addr(void)
{
    struct fault_record record;
    CHECK(fault_journal_last("vkCreateInstance", &record));
    VkInstance instance = (VkInstance)(uintptr_t)record.handle;
    return (PFN_vkGetDeviceProcAddr)vk_icdGetInstanceProcAddr(instance, "vkGetDeviceProcAddr");
}

/* By the first of the names that there is. */
static PFN_vkVoidFunction find_command(PFN_vkGetDeviceProcAddr find, VkDevice device, const char *name)
{
    static const char *const suffixes[] = {"", "KHR", "EXT"};
    PFN_vkVoidFunction found = NULL;
    for (int i = 0; i < 3 && !found; i++) {
        char whole[80];
        snprintf(whole, sizeof(whole), "%s%s", name, suffixes[i]);
        found = find(device, whole);
    }
    return found;
}

static void load_commands(const struct record_app *app, PFN_vkGetDeviceProcAddr find, struct record_vk *vk)
{
#define LOAD(name) vk->name = (PFN_vk##name)find_command(find, app->device, "vk" #name);
    RECORD_COMMANDS(LOAD)
#undef LOAD
}

/* --- Objects --- */

static VkImageCreateInfo image_info(enum record_image kind)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = RECORD_FORMAT,
        .extent = {RECORD_SIDE, RECORD_SIDE, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    if (kind == IMAGE_ARRAY) {
        info.mipLevels = 4;
        info.arrayLayers = 6;
    } else if (kind == IMAGE_VOLUME) {
        info.imageType = VK_IMAGE_TYPE_3D;
        info.flags = VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT;
        info.extent.depth = 8;
        info.mipLevels = 2;
    } else if (kind == IMAGE_SAMPLES) {
        info.samples = VK_SAMPLE_COUNT_4_BIT;
    } else if (kind == IMAGE_DEPTH || kind == IMAGE_LOCATIONS) {
        info.format = RECORD_DEPTH_FORMAT;
        info.usage ^= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
        if (kind == IMAGE_LOCATIONS)
            info.flags = VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT;
    }
    return info;
}

static VkImage create_image(const struct record_app *app, enum record_image kind, VkDeviceMemory *memory)
{
    VkImageCreateInfo info = image_info(kind);
    VkExternalMemoryImageCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                                                .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImage image;
    if (kind == IMAGE_EXTERNAL)
        info.pNext = &external;
    if (app->options.shaders && info.format == RECORD_FORMAT && info.samples == VK_SAMPLE_COUNT_1_BIT)
        info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
    CHECK_EQUAL(vkCreateImage(app->device, &info, NULL, &image), VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(app->device, image, &needs);
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size};
    while (!(needs.memoryTypeBits & 1u << allocation.memoryTypeIndex))
        allocation.memoryTypeIndex++;
    CHECK_EQUAL(vkAllocateMemory(app->device, &allocation, NULL, memory), VK_SUCCESS);
    CHECK_EQUAL(vkBindImageMemory(app->device, image, *memory, 0), VK_SUCCESS);
    return image;
}

VkImage record_app_image(const struct record_app *app, VkDeviceMemory *memory)
{
    return create_image(app, IMAGE_COLOR, memory);
}

void record_app_image_destroy(const struct record_app *app, VkImage image, VkDeviceMemory memory)
{
    vkDestroyImage(app->device, image, NULL);
    vkFreeMemory(app->device, memory, NULL);
}

static VkImageView create_view(const struct record_app *app, enum record_image image, VkImageViewType type,
                               VkImageSubresourceRange range)
{
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = app->images[image],
                                  .viewType = type,
                                  .format =
                                      range.aspectMask & COLOR_BIT ? RECORD_FORMAT : RECORD_DEPTH_FORMAT,
                                  .subresourceRange = range};
    VkImageView view;
    CHECK_EQUAL(vkCreateImageView(app->device, &info, NULL, &view), VK_SUCCESS);
    return view;
}

static void create_views(struct record_app *app)
{
    const VkImageSubresourceRange one = {COLOR_BIT, 0, 1, 0, 1}, layers = {COLOR_BIT, 0, 1, 0, 6},
                                  slices = {COLOR_BIT, 0, 1, 2, 2}, depth = {BOTH_BITS, 0, 1, 0, 1};
    app->views[VIEW_COLOR] = create_view(app, IMAGE_COLOR, VK_IMAGE_VIEW_TYPE_2D, one);
    app->views[VIEW_OTHER] = create_view(app, IMAGE_OTHER, VK_IMAGE_VIEW_TYPE_2D, one);
    app->views[VIEW_ARRAY] = create_view(app, IMAGE_ARRAY, VK_IMAGE_VIEW_TYPE_2D_ARRAY, layers);
    app->views[VIEW_SLICE] = create_view(app, IMAGE_VOLUME, VK_IMAGE_VIEW_TYPE_2D_ARRAY, slices);
    app->views[VIEW_DEPTH] = create_view(app, IMAGE_DEPTH, VK_IMAGE_VIEW_TYPE_2D, depth);
    app->views[VIEW_SAMPLES] = create_view(app, IMAGE_SAMPLES, VK_IMAGE_VIEW_TYPE_2D, one);
}

static void create_objects(struct record_app *app)
{
    VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = 1 << 16,
                                 .usage =
                                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT};
    VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_OCCLUSION,
                                     .queryCount = 4};
    VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 16};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &constants};
    CHECK_EQUAL(vkCreateBuffer(app->device, &buffer, NULL, &app->buffer), VK_SUCCESS);
    CHECK_EQUAL(vkCreateEvent(app->device, &event, NULL, &app->event), VK_SUCCESS);
    CHECK_EQUAL(vkCreateQueryPool(app->device, &queries, NULL, &app->queries), VK_SUCCESS);
    CHECK_EQUAL(vkCreatePipelineLayout(app->device, &layout, NULL, &app->layout), VK_SUCCESS);
    for (uint32_t i = 0; i < IMAGE_COUNT; i++)
        app->images[i] = create_image(app, i, &app->memories[i]);
    create_views(app);
}

void record_app_open(struct record_app *app, const struct record_options *options)
{
    *app = (struct record_app){0};
    if (options)
        app->options = *options;
    create_instance(app);
    create_device(app);
    load_commands(app, vkGetDeviceProcAddr, &app->layer);
    load_commands(app, driver_proc_addr(), &app->driver);
    create_objects(app);
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = app->family};
    CHECK_EQUAL(app->layer.CreateCommandPool(app->device, &info, NULL, &app->pool), VK_SUCCESS);
    CHECK_EQUAL(app->driver.CreateCommandPool(app->device, &info, NULL, &app->driver_pool), VK_SUCCESS);
}

void record_app_close(struct record_app *app)
{
    CHECK_EQUAL(vkDeviceWaitIdle(app->device), VK_SUCCESS);
    app->layer.DestroyCommandPool(app->device, app->pool, NULL);
    app->driver.DestroyCommandPool(app->device, app->driver_pool, NULL);
    for (uint32_t i = 0; i < VIEW_COUNT; i++)
        vkDestroyImageView(app->device, app->views[i], NULL);
    for (uint32_t i = 0; i < IMAGE_COUNT; i++)
        record_app_image_destroy(app, app->images[i], app->memories[i]);
    vkDestroyBuffer(app->device, app->buffer, NULL);
    vkDestroyEvent(app->device, app->event, NULL);
    vkDestroyQueryPool(app->device, app->queries, NULL);
    vkDestroyPipelineLayout(app->device, app->layout, NULL);
    vkDestroyDevice(app->device, NULL);
    vkDestroyInstance(app->instance, NULL);
}

static void run_on_all(run_function function, bool shaders)
{
    static const struct {
        struct record_options options;
        const char *driver;
    } devices[] = {
        {{.no_sync2 = false}, "oracle=1"},
        {{.separate = true}, "oracle=1"},
        {{.no_sync2 = true}, "oracle=1"},
        {{.old = true}, "oracle=1;api=1.2"},
        {{.old = true, .no_sync2 = true}, "oracle=1;api=1.2"},
        {{.old = true, .no_sync2 = true, .separate = true}, "oracle=1;api=1.2;hide=VK_KHR_synchronization2"},
    };
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        struct record_options options = devices[i].options;
        options.shaders = shaders;
        driver_set(devices[i].driver);
        run_complete(function, &options);
    }
}

void record_run_on_all(run_function function)
{
    run_on_all(function, false);
}

void record_run_shaders_on_all(run_function function)
{
    run_on_all(function, true);
}

/* --- Recording --- */

static VkCommandBuffer record(const struct record_app *app, const struct record_vk *vk, VkCommandPool pool,
                              record_function function, const VkCommandBufferInheritanceInfo *inherited)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .level = inherited ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
                                                           : VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    bool inside = inherited && (inherited->renderPass || inherited->pNext);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags =
                                          VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT |
                                          (inside ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0),
                                      .pInheritanceInfo = inherited};
    VkCommandBuffer cb;
    CHECK_EQUAL(vk->AllocateCommandBuffers(app->device, &info, &cb), VK_SUCCESS);
    CHECK_EQUAL(vk->BeginCommandBuffer(cb, &begin), VK_SUCCESS);
    function(app, vk, cb);
    CHECK_EQUAL(vk->EndCommandBuffer(cb), VK_SUCCESS);
    return cb;
}

VkCommandBuffer record_one(const struct record_app *app, record_function function,
                           const VkCommandBufferInheritanceInfo *inherited)
{
    return record(app, &app->layer, app->pool, function, inherited);
}

struct recorded record_both(const struct record_app *app, record_function function)
{
    return (struct recorded){record(app, &app->layer, app->pool, function, NULL),
                             record(app, &app->driver, app->driver_pool, function, NULL)};
}

void record_run(const struct record_app *app, VkCommandBuffer cb, const char *what)
{
    struct fault_violation violation = {.text = ""};
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cb};
    CHECK_EQUAL(vkQueueSubmit(app->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    CHECK_EQUAL(vkQueueWaitIdle(app->queue), VK_SUCCESS);
    fault_oracle_violation(0, &violation);
    CHECK_SAY(fault_oracle_violations(FAULT_ORACLE_RULES) == 0,
              "%s: %s: %s: mip %u, layer %u, %d expected, %d found", what, violation.command, violation.text,
              violation.mip, violation.layer, violation.expected, violation.actual);
}

/* --- What came of it --- */

void record_check_same(const struct recorded *recorded, const char *what)
{
    uint32_t count = fault_command_count(recorded->meant);
    for (uint32_t i = 0; i < count; i++) {
        const char *got = fault_command_name(recorded->got, i);
        CHECK_SAY(fault_command_equal(recorded->got, i, recorded->meant, i),
                  "%s: command %u: %s meant, %s got", what, i, fault_command_name(recorded->meant, i),
                  got ? got : "nothing");
    }
    CHECK_EQUAL(fault_command_count(recorded->got), count);
}

static bool is_named(const char *found, const char *name)
{
    size_t length = strlen(name);
    return strncmp(found, name, length) == 0 && (!found[length] || strcmp(found + length, "KHR") == 0);
}

/* The image barriers of the index-th command, which is a barrier call. */
static uint32_t add_barriers(VkCommandBuffer cb, uint32_t index, struct insertion *out, uint32_t size)
{
    const void *arguments = fault_command_arguments(cb, index);
    if (is_named(fault_command_name(cb, index), "vkCmdPipelineBarrier")) {
        const struct arguments_vkCmdPipelineBarrier *call = arguments;
        CHECK(call->imageMemoryBarrierCount <= size);
        for (uint32_t i = 0; i < call->imageMemoryBarrierCount; i++) {
            const VkImageMemoryBarrier *from = &call->pImageMemoryBarriers[i];
            out[i] = (struct insertion){index,
                                        from->image,
                                        from->oldLayout,
                                        from->newLayout,
                                        from->subresourceRange,
                                        call->srcStageMask,
                                        call->dstStageMask,
                                        from->srcAccessMask,
                                        from->dstAccessMask};
        }
        return call->imageMemoryBarrierCount;
    }
    const VkDependencyInfo *info =
        ((const struct arguments_vkCmdPipelineBarrier2 *)arguments)->pDependencyInfo;
    CHECK(info->imageMemoryBarrierCount <= size);
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; i++) {
        const VkImageMemoryBarrier2 *from = &info->pImageMemoryBarriers[i];
        out[i] = (struct insertion){index,
                                    from->image,
                                    from->oldLayout,
                                    from->newLayout,
                                    from->subresourceRange,
                                    from->srcStageMask,
                                    from->dstStageMask,
                                    from->srcAccessMask,
                                    from->dstAccessMask};
    }
    return info->imageMemoryBarrierCount;
}

static bool is_barrier_call(VkCommandBuffer cb, uint32_t index)
{
    const char *name = fault_command_name(cb, index);
    return is_named(name, "vkCmdPipelineBarrier") || is_named(name, "vkCmdPipelineBarrier2");
}

uint32_t record_insertions(const struct recorded *recorded, struct insertion *out, uint32_t size)
{
    uint32_t count = 0, meant = 0, all = fault_command_count(recorded->got);
    for (uint32_t i = 0; i < all; i++) {
        if (fault_command_equal(recorded->got, i, recorded->meant, meant)) {
            meant++;
            continue;
        }
        CHECK_SAY(is_barrier_call(recorded->got, i), "%s was inserted", fault_command_name(recorded->got, i));
        uint32_t more = add_barriers(recorded->got, i, &out[count], size - count);
        CHECK(more > 0);
        for (uint32_t j = 0; j < more; j++)
            out[count + j].before = meant;
        count += more;
    }
    CHECK_EQUAL(meant, fault_command_count(recorded->meant));
    return count;
}

uint32_t record_count(VkCommandBuffer cb, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fault_command_count(cb); i++)
        count += is_named(fault_command_name(cb, i), name);
    return count;
}

const void *record_find(VkCommandBuffer cb, const char *name, uint32_t n)
{
    for (uint32_t i = 0; i < fault_command_count(cb); i++)
        if (is_named(fault_command_name(cb, i), name) && n-- == 0)
            return fault_command_arguments(cb, i);
    harness_fail(__FILE__, __LINE__, "there aren't as many %s", name);
    return NULL;
}

uint32_t record_barrier_calls(VkCommandBuffer cb)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fault_command_count(cb); i++)
        count += is_barrier_call(cb, i);
    return count;
}

uint32_t record_barriers(VkCommandBuffer cb, struct insertion *out, uint32_t size)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fault_command_count(cb); i++)
        if (is_barrier_call(cb, i))
            count += add_barriers(cb, i, &out[count], size - count);
    return count;
}

/* --- Pieces --- */

static VkImageSubresourceRange vk_range(struct record_range range)
{
    return (VkImageSubresourceRange){
        range.aspects ? range.aspects : COLOR_BIT,
        range.mip,
        range.mips ? range.mips : VK_REMAINING_MIP_LEVELS,
        range.layer,
        range.layers ? range.layers : VK_REMAINING_ARRAY_LAYERS,
    };
}

VkImageMemoryBarrier record_barrier_info(VkImage image, struct record_range range, VkImageLayout from,
                                         VkImageLayout to)
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
        .subresourceRange = vk_range(range),
    };
}

VkImageMemoryBarrier2 record_barrier2_info(VkImage image, struct record_range range, VkImageLayout from,
                                           VkImageLayout to)
{
    return (VkImageMemoryBarrier2){
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
        .subresourceRange = vk_range(range),
    };
}

void record_move(const struct record_vk *vk, VkCommandBuffer cb, VkImage image, struct record_range range,
                 VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier barrier = record_barrier_info(image, range, from, to);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                           NULL, 0, NULL, 1, &barrier);
}

void record_move2(const struct record_vk *vk, VkCommandBuffer cb, VkImage image, struct record_range range,
                  VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier2 barrier = record_barrier2_info(image, range, from, to);
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier};
    vk->CmdPipelineBarrier2(cb, &info);
}

void record_act(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    vk->CmdFillBuffer(cb, app->buffer, 0, 64, 7);
}

void record_clear(const struct record_vk *vk, VkCommandBuffer cb, VkImage image, struct record_range range,
                  VkImageLayout layout)
{
    const VkClearColorValue color = {.float32 = {1, 0, 0, 1}};
    VkImageSubresourceRange where = vk_range(range);
    vk->CmdClearColorImage(cb, image, layout, &color, 1, &where);
}

void record_clear_depth(const struct record_vk *vk, VkCommandBuffer cb, VkImage image,
                        VkImageAspectFlags aspects, VkImageLayout layout)
{
    const VkClearDepthStencilValue value = {1, 0};
    VkImageSubresourceRange range = {aspects, 0, 1, 0, 1};
    vk->CmdClearDepthStencilImage(cb, image, layout, &value, 1, &range);
}

static VkBufferImageCopy buffer_region(VkImageAspectFlags aspect)
{
    return (VkBufferImageCopy){.imageSubresource = {aspect, 0, 0, 1},
                               .imageExtent = {RECORD_SIDE, RECORD_SIDE, 1}};
}

void record_upload(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                   VkImage image, VkImageAspectFlags aspect, VkImageLayout layout)
{
    VkBufferImageCopy region = buffer_region(aspect);
    vk->CmdCopyBufferToImage(cb, app->buffer, image, layout, 1, &region);
}

void record_read(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb, VkImage image,
                 VkImageAspectFlags aspect, VkImageLayout layout)
{
    VkBufferImageCopy region = buffer_region(aspect);
    vk->CmdCopyImageToBuffer(cb, image, layout, app->buffer, 1, &region);
}

void record_copy(const struct record_vk *vk, VkCommandBuffer cb, VkImage from, VkImageLayout from_layout,
                 VkImage to, VkImageLayout to_layout)
{
    VkImageCopy region = {.srcSubresource = {COLOR_BIT, 0, 0, 1},
                          .dstSubresource = {COLOR_BIT, 0, 0, 1},
                          .extent = {RECORD_SIDE, RECORD_SIDE, 1}};
    vk->CmdCopyImage(cb, from, from_layout, to, to_layout, 1, &region);
}

/* --- Render passes --- */

static VkAttachmentDescription attachment_of(VkFormat format, VkSampleCountFlagBits samples,
                                             VkImageLayout initial, VkImageLayout final)
{
    VkAttachmentLoadOp load = initial == UNDEFINED ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
    return (VkAttachmentDescription){.format = format,
                                     .samples = samples,
                                     .loadOp = load,
                                     .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                     .stencilLoadOp = load,
                                     .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
                                     .initialLayout = initial,
                                     .finalLayout = final};
}

VkRenderPass record_pass(const struct record_app *app, VkFormat format, VkSampleCountFlagBits samples,
                         VkImageLayout initial, VkImageLayout during, VkImageLayout final, uint32_t view_mask)
{
    bool color = format == RECORD_FORMAT;
    VkAttachmentDescription attachment = attachment_of(format, samples, initial, final);
    VkAttachmentReference reference = {0, during};
    VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .colorAttachmentCount = color ? 1 : 0,
                                    .pColorAttachments = color ? &reference : NULL,
                                    .pDepthStencilAttachment = color ? NULL : &reference};
    VkRenderPassMultiviewCreateInfo views = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
                                             .subpassCount = 1,
                                             .pViewMasks = &view_mask};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .pNext = view_mask ? &views : NULL,
                                   .attachmentCount = 1,
                                   .pAttachments = &attachment,
                                   .subpassCount = 1,
                                   .pSubpasses = &subpass};
    VkRenderPass pass;
    CHECK_EQUAL(vkCreateRenderPass(app->device, &info, NULL, &pass), VK_SUCCESS);
    return pass;
}

VkFramebuffer record_framebuffer(const struct record_app *app, VkRenderPass pass, VkImageView view,
                                 uint32_t layers)
{
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .renderPass = pass,
                                    .attachmentCount = 1,
                                    .pAttachments = &view,
                                    .width = RECORD_SIDE,
                                    .height = RECORD_SIDE,
                                    .layers = layers};
    VkFramebuffer framebuffer;
    CHECK_EQUAL(vkCreateFramebuffer(app->device, &info, NULL, &framebuffer), VK_SUCCESS);
    return framebuffer;
}

void record_begin_pass(const struct record_vk *vk, VkCommandBuffer cb, VkRenderPass pass,
                       VkFramebuffer framebuffer, VkSubpassContents contents)
{
    const VkClearValue clear = {.color = {.float32 = {0, 0, 1, 1}}};
    VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .renderPass = pass,
                                  .framebuffer = framebuffer,
                                  .renderArea = {{0, 0}, {RECORD_SIDE, RECORD_SIDE}},
                                  .clearValueCount = 1,
                                  .pClearValues = &clear};
    vk->CmdBeginRenderPass(cb, &info, contents);
}
