#include "app.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

/* void main() with a specialization constant, whose value makes pipelines differ. */
static const uint32_t shader_words[] = {
    0x07230203,       0x00010000, 0,  8,          0,    /* SPIR-V 1.0, ids below 8 */
    (2u << 16) | 17,  1,                                /* OpCapability Shader */
    (3u << 16) | 14,  0,          1,                    /* OpMemoryModel Logical GLSL450 */
    (5u << 16) | 15,  5,          1,  0x6e69616d, 0,    /* OpEntryPoint GLCompute %1 "main" */
    (6u << 16) | 16,  1,          17, 1,          1, 1, /* OpExecutionMode %1 LocalSize 1 1 1 */
    (4u << 16) | 71,  2,          1,  0,                /* OpDecorate %2 SpecId 0 */
    (2u << 16) | 19,  3,                                /* %3 = OpTypeVoid */
    (3u << 16) | 33,  4,          3,                    /* %4 = OpTypeFunction %3 */
    (4u << 16) | 21,  5,          32, 0,                /* %5 = OpTypeInt 32 0 */
    (4u << 16) | 50,  5,          2,  0,                /* %2 = OpSpecConstant %5 0 */
    (5u << 16) | 54,  3,          1,  0,          4,    /* %1 = OpFunction %3 None %4 */
    (2u << 16) | 248, 6,                                /* %6 = OpLabel */
    (1u << 16) | 253,                                   /* OpReturn */
    (1u << 16) | 56,                                    /* OpFunctionEnd */
};

void app_open(struct app *app)
{
    memset(app, 0, sizeof(*app));
    const char *path = getenv("RC_TEST_LOADER");
    app->loader = dlopen(path ? path : "libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK_MESSAGE(app->loader, "%s", dlerror());
    *(void **)&app->GetInstanceProcAddr = dlsym(app->loader, "vkGetInstanceProcAddr");
    CHECK(app->GetInstanceProcAddr);
    app->CreateInstance = (PFN_vkCreateInstance)app->GetInstanceProcAddr(NULL, "vkCreateInstance");
}

void app_close(struct app *app)
{
    dlclose(app->loader);
    app->loader = NULL;
}

PFN_vkVoidFunction app_instance_command(const struct app *app, const char *name)
{
    PFN_vkVoidFunction function = app->GetInstanceProcAddr(app->instance, name);
    CHECK_MESSAGE(function, "%s", name);
    return function;
}

void app_create_instance(struct app *app, const VkInstanceCreateInfo *info)
{
    static const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                                  .pApplicationName = "test",
                                                  .apiVersion = VK_API_VERSION_1_3};
    static const VkInstanceCreateInfo plain = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                               .pApplicationInfo = &application};
    VkResult result = app->CreateInstance(info ? info : &plain, NULL, &app->instance);
    CHECK_MESSAGE(result == VK_SUCCESS, "vkCreateInstance: %d", result);
#define LOAD(name) app->name = (PFN_vk##name)app_instance_command(app, "vk" #name);
    APP_INSTANCE_COMMANDS(LOAD)
#undef LOAD
    uint32_t count = 1;
    CHECK(app->EnumeratePhysicalDevices(app->instance, &count, &app->physical) >= 0 && count == 1);
}

void app_destroy_instance(struct app *app)
{
    app->DestroyInstance(app->instance, NULL);
    app->instance = VK_NULL_HANDLE;
}

void app_create_device(struct app *app, const VkDeviceCreateInfo *info)
{
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = app->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo plain = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue};
    VkResult result = app->CreateDevice(app->physical, info ? info : &plain, NULL, &app->device);
    CHECK_MESSAGE(result == VK_SUCCESS, "vkCreateDevice: %d", result);
#define LOAD(name)                                                                                           \
    app->name = (PFN_vk##name)app->GetDeviceProcAddr(app->device, "vk" #name);                               \
    CHECK(app->name);
    APP_DEVICE_COMMANDS(LOAD)
#undef LOAD
}

void app_destroy_device(struct app *app)
{
    if (app->shader)
        app->DestroyShaderModule(app->device, app->shader, NULL);
    if (app->layout)
        app->DestroyPipelineLayout(app->device, app->layout, NULL);
    app->shader = VK_NULL_HANDLE;
    app->layout = VK_NULL_HANDLE;
    app->DestroyDevice(app->device, NULL);
    app->device = VK_NULL_HANDLE;
}

void app_begin(struct app *app)
{
    app_open(app);
    app_create_instance(app, NULL);
    app_create_device(app, NULL);
}

void app_end(struct app *app)
{
    app_destroy_device(app);
    app_destroy_instance(app);
    app_close(app);
}

void app_create_shader(struct app *app)
{
    const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = sizeof(shader_words),
                                             .pCode = shader_words};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(app->CreateShaderModule(app->device, &module, NULL, &app->shader) == VK_SUCCESS);
    CHECK(app->CreatePipelineLayout(app->device, &layout, NULL, &app->layout) == VK_SUCCESS);
}

VkPipeline app_create_pipeline(struct app *app, VkPipelineCache cache, uint32_t n)
{
    if (!app->shader)
        app_create_shader(app);
    const VkSpecializationMapEntry entry = {.constantID = 0, .offset = 0, .size = sizeof(n)};
    const VkSpecializationInfo constants = {
        .mapEntryCount = 1, .pMapEntries = &entry, .dataSize = sizeof(n), .pData = &n};
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = app->shader,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = app->layout,
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult result = app->CreateComputePipelines(app->device, cache, 1, &info, NULL, &pipeline);
    CHECK_MESSAGE(result == VK_SUCCESS && pipeline, "vkCreateComputePipelines: %d", result);
    return pipeline;
}

void app_use_pipelines(struct app *app, VkPipelineCache cache, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        app->DestroyPipeline(app->device, app_create_pipeline(app, cache, n), NULL);
}
