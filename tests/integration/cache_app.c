#include "cache_app.h"

#include <unistd.h>

#include "cache_app_shader.h"

/* --- Instance and device --- */

static void create_instance(struct app *app, const struct app_config *config)
{
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = config->name ? config->name : "tests",
        .apiVersion = config->api_version ? config->api_version : VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    CHECK_EQUAL(vkCreateInstance(&info, NULL, &app->instance), VK_SUCCESS);
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(app->instance, &count, &app->physical);
    CHECK(result >= 0 && count == 1);
    vkGetPhysicalDeviceProperties(app->physical, &app->properties);
}

static void create_layouts(struct app *app)
{
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                .bindingCount = 1,
                                                .pBindings = &binding};
    CHECK_EQUAL(vkCreateDescriptorSetLayout(app->device, &set_info, NULL, &app->set_layout), VK_SUCCESS);
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &app->set_layout};
    CHECK_EQUAL(vkCreatePipelineLayout(app->device, &info, NULL, &app->layout), VK_SUCCESS);
}

void app_open_device(struct app *app, const struct app_config *config)
{
    static const float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = config->device_chain,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .ppEnabledExtensionNames = config->extensions};
    while (config->extensions && config->extensions[info.enabledExtensionCount])
        info.enabledExtensionCount++;
    CHECK_EQUAL(vkCreateDevice(app->physical, &info, NULL, &app->device), VK_SUCCESS);
    vkGetDeviceQueue(app->device, 0, 0, &app->queue);
    create_layouts(app);
}

void app_open_with(struct app *app, const struct app_config *config)
{
    static const struct app_config defaults;
    *app = (struct app){0};
    create_instance(app, config ? config : &defaults);
    app_open_device(app, config ? config : &defaults);
}

void app_open(struct app *app)
{
    app_open_with(app, NULL);
}

void app_close_device(struct app *app)
{
    vkDestroyPipelineLayout(app->device, app->layout, NULL);
    vkDestroyDescriptorSetLayout(app->device, app->set_layout, NULL);
    vkDestroyDevice(app->device, NULL);
}

void app_close(struct app *app)
{
    app_close_device(app);
    vkDestroyInstance(app->instance, NULL);
}

PFN_vkVoidFunction app_command(const struct app *app, const char *name)
{
    return vkGetDeviceProcAddr(app->device, name);
}

/* --- Pipeline caches --- */

VkPipelineCache app_cache(const struct app *app, const void *data, size_t size)
{
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = size, .pInitialData = data};
    VkPipelineCache cache = VK_NULL_HANDLE;
    CHECK_EQUAL(vkCreatePipelineCache(app->device, &info, NULL, &cache), VK_SUCCESS);
    CHECK(cache != VK_NULL_HANDLE);
    return cache;
}

VkPipelineCache app_cache_empty(const struct app *app)
{
    return app_cache(app, NULL, 0);
}

void app_cache_destroy(const struct app *app, VkPipelineCache cache)
{
    vkDestroyPipelineCache(app->device, cache, NULL);
}

struct bytes app_cache_data(const struct app *app, VkPipelineCache cache)
{
    struct bytes out = {0};
    CHECK_EQUAL(vkGetPipelineCacheData(app->device, cache, &out.size, NULL), VK_SUCCESS);
    out.data = malloc(out.size ? out.size : 1);
    CHECK(out.data != NULL);
    CHECK_EQUAL(vkGetPipelineCacheData(app->device, cache, &out.size, out.data), VK_SUCCESS);
    return out;
}

/* --- Pipelines --- */

VkShaderModule app_shader(const struct app *app, uint32_t number)
{
    uint32_t words[sizeof(shader_words) / sizeof(shader_words[0])];
    memcpy(words, shader_words, sizeof(words));
    words[SHADER_NUMBER_AT] = number;
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof(words), .pCode = words};
    VkShaderModule module;
    CHECK_EQUAL(vkCreateShaderModule(app->device, &info, NULL, &module), VK_SUCCESS);
    return module;
}

VkResult app_compute(const struct app *app, VkPipelineCache cache, uint32_t first, uint32_t count,
                     VkPipelineCreateFlags flags, const void *chain, VkPipeline *out)
{
    VkComputePipelineCreateInfo *infos = calloc(count, sizeof(*infos));
    CHECK(infos != NULL);
    for (uint32_t i = 0; i < count; i++)
        infos[i] = (VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .pNext = chain,
            .flags = flags,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = app_shader(app, first + i),
                      .pName = "main"},
            .layout = app->layout,
            .basePipelineIndex = -1,
        };
    VkResult result = vkCreateComputePipelines(app->device, cache, count, infos, NULL, out);
    for (uint32_t i = 0; i < count; i++)
        vkDestroyShaderModule(app->device, infos[i].stage.module, NULL);
    free(infos);
    return result;
}

void app_compile(const struct app *app, VkPipelineCache cache, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        VkPipeline pipeline;
        CHECK_EQUAL(app_compute(app, cache, first + i, 1, 0, NULL, &pipeline), VK_SUCCESS);
        app_pipeline_destroy(app, pipeline);
    }
}

VkPipeline app_graphics(const struct app *app, VkPipelineCache cache, uint32_t number)
{
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                               .colorAttachmentCount = 1,
                                               .pColorAttachmentFormats = &format};
    VkPipelineShaderStageCreateInfo stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                             .stage = VK_SHADER_STAGE_VERTEX_BIT,
                                             .module = app_shader(app, number),
                                             .pName = "main"};
    VkPipelineVertexInputStateCreateInfo vertex = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .rasterizerDiscardEnable = VK_TRUE,
        .lineWidth = 1};
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 1,
        .pStages = &stage,
        .pVertexInputState = &vertex,
        .pInputAssemblyState = &assembly,
        .pRasterizationState = &rasterization,
        .layout = app->layout,
        .basePipelineIndex = -1,
    };
    VkPipeline pipeline;
    CHECK_EQUAL(vkCreateGraphicsPipelines(app->device, cache, 1, &info, NULL, &pipeline), VK_SUCCESS);
    vkDestroyShaderModule(app->device, stage.module, NULL);
    return pipeline;
}

void app_ray_tracing_init(struct app_ray_tracing *out, const struct app *app, uint32_t number)
{
    *out = (struct app_ray_tracing){
        .shader = app_shader(app, number),
        .group = {.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
                  .type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR,
                  .closestHitShader = VK_SHADER_UNUSED_KHR,
                  .anyHitShader = VK_SHADER_UNUSED_KHR,
                  .intersectionShader = VK_SHADER_UNUSED_KHR},
    };
    out->stage = (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = VK_SHADER_STAGE_RAYGEN_BIT_KHR,
        .module = out->shader,
        .pName = "main",
    };
    out->feedback_info = (VkPipelineCreationFeedbackCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &out->feedback,
    };
    out->info = (VkRayTracingPipelineCreateInfoKHR){
        .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
        .pNext = &out->feedback_info,
        .stageCount = 1,
        .pStages = &out->stage,
        .groupCount = 1,
        .pGroups = &out->group,
        .maxPipelineRayRecursionDepth = 1,
        .layout = app->layout,
        .basePipelineIndex = -1,
    };
}

VkResult app_ray_tracing_create(const struct app *app, VkDeferredOperationKHR operation,
                                VkPipelineCache cache, const struct app_ray_tracing *infos, VkPipeline *out)
{
    PFN_vkCreateRayTracingPipelinesKHR create =
        (PFN_vkCreateRayTracingPipelinesKHR)app_command(app, "vkCreateRayTracingPipelinesKHR");
    CHECK(create != NULL);
    return create(app->device, operation, cache, 1, &infos->info, NULL, out);
}

void app_pipeline_destroy(const struct app *app, VkPipeline pipeline)
{
    vkDestroyPipeline(app->device, pipeline, NULL);
}

/* --- Dispatch --- */

struct output {
    VkBuffer buffer;
    VkDeviceMemory memory;
};

static struct output create_output(const struct app *app, VkDeviceSize size)
{
    struct output out;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    CHECK_EQUAL(vkCreateBuffer(app->device, &info, NULL, &out.buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetBufferMemoryRequirements(app->device, out.buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(app->physical, &memory);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memory.memoryTypeCount && (!(needs.memoryTypeBits & (1u << type)) ||
                                             (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    CHECK(type < memory.memoryTypeCount);
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = type};
    CHECK_EQUAL(vkAllocateMemory(app->device, &allocation, NULL, &out.memory), VK_SUCCESS);
    CHECK_EQUAL(vkBindBufferMemory(app->device, out.buffer, out.memory, 0), VK_SUCCESS);
    return out;
}

static VkDescriptorSet allocate_set(const struct app *app, VkDescriptorPool *pool, VkBuffer buffer)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size};
    CHECK_EQUAL(vkCreateDescriptorPool(app->device, &pool_info, NULL, pool), VK_SUCCESS);
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = *pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &app->set_layout};
    VkDescriptorSet set;
    CHECK_EQUAL(vkAllocateDescriptorSets(app->device, &info, &set), VK_SUCCESS);
    VkDescriptorBufferInfo range = {.buffer = buffer, .range = VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &range};
    vkUpdateDescriptorSets(app->device, 1, &write, 0, NULL);
    return set;
}

static void run_commands(const struct app *app, VkPipeline pipeline, VkDescriptorSet set, uint32_t count)
{
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    CHECK_EQUAL(vkCreateCommandPool(app->device, &pool_info, NULL, &pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .commandBufferCount = 1};
    CHECK_EQUAL(vkAllocateCommandBuffers(app->device, &info, &commands), VK_SUCCESS);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK_EQUAL(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, app->layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(commands, count, 1, 1);
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &to_host, 0, NULL, 0, NULL);
    CHECK_EQUAL(vkEndCommandBuffer(commands), VK_SUCCESS);
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CHECK_EQUAL(vkQueueSubmit(app->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    CHECK_EQUAL(vkQueueWaitIdle(app->queue), VK_SUCCESS);
    vkDestroyCommandPool(app->device, pool, NULL);
}

void app_dispatch(const struct app *app, VkPipeline pipeline, uint32_t *out, uint32_t count)
{
    VkDeviceSize size = count * sizeof(*out);
    struct output output = create_output(app, size);
    VkDescriptorPool pool;
    run_commands(app, pipeline, allocate_set(app, &pool, output.buffer), count);
    void *mapped;
    CHECK_EQUAL(vkMapMemory(app->device, output.memory, 0, size, 0, &mapped), VK_SUCCESS);
    memcpy(out, mapped, (size_t)size);
    vkUnmapMemory(app->device, output.memory);
    vkDestroyDescriptorPool(app->device, pool, NULL);
    vkDestroyBuffer(app->device, output.buffer, NULL);
    vkFreeMemory(app->device, output.memory, NULL);
}

/* --- What the driver saw --- */

static bool is_mine(const struct fault_record *record, const char *function)
{
    return record->event == FAULT_EVENT_CALL && record->thread == (uint32_t)gettid() &&
           strcmp(record->name, function) == 0;
}

struct fault_record driver_last(const char *function)
{
    struct fault_record record;
    for (uint32_t i = fault_journal_size(); i > 0; i--)
        if (fault_journal_get(i - 1, &record) && is_mine(&record, function))
            return record;
    CHECK_SAY(false, "%s never reached the driver", function);
    return (struct fault_record){0};
}

uint32_t driver_count(const char *function)
{
    struct fault_record record;
    uint32_t count = 0;
    for (uint32_t i = 0; fault_journal_get(i, &record); i++)
        count += is_mine(&record, function);
    return count;
}

bool driver_saw_no_data(void)
{
    struct fault_record record = driver_last("vkCreatePipelineCache");
    return record.size == 0 && !record.has_data;
}

bool driver_saw_data(const void *data, size_t size)
{
    struct fault_record record = driver_last("vkCreatePipelineCache");
    return record.size == size && record.hash == fault_hash(data, size);
}
