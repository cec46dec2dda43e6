#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

double gpu_wall_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

double gpu_cpu_ms(void)
{
    return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static VkResult complain(const char *what, VkResult result)
{
    fprintf(stderr, "%s failed: %d\n", what, result);
    return result;
}

static VkResult create_instance(struct gpu *gpu, const struct gpu_options *options,
                                PFN_vkGetInstanceProcAddr gipa)
{
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)gipa(NULL, "vkCreateInstance");
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = options->name,
        .apiVersion = options->api_version,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    return create(&info, NULL, &gpu->instance);
}

static bool load_instance_functions(struct gpu *gpu, PFN_vkGetInstanceProcAddr gipa)
{
#define X(name)                                                                                              \
    gpu->name = (PFN_vk##name)gipa(gpu->instance, "vk" #name);                                               \
    if (!gpu->name)                                                                                          \
        return false;
    GPU_INSTANCE_FUNCTIONS(X)
#undef X
    return true;
}

static bool load_device_functions(struct gpu *gpu)
{
#define X(name)                                                                                              \
    gpu->name = (PFN_vk##name)gpu->GetDeviceProcAddr(gpu->device, "vk" #name);                               \
    if (!gpu->name)                                                                                          \
        return false;
    GPU_DEVICE_FUNCTIONS(X)
#undef X
    return true;
}

/* The first family with compute, better one with graphics too. */
static bool find_queue_family(const struct gpu *gpu, VkPhysicalDevice physical, uint32_t *family)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    gpu->GetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    bool found = false;
    for (uint32_t i = count; i-- > 0;) {
        VkQueueFlags flags = families[i].queueFlags;
        if ((flags & VK_QUEUE_COMPUTE_BIT) && (!found || (flags & VK_QUEUE_GRAPHICS_BIT))) {
            *family = i;
            found = true;
        }
    }
    return found;
}

static VkResult find_physical_device(struct gpu *gpu)
{
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    VkResult result = gpu->EnumeratePhysicalDevices(gpu->instance, &count, devices);
    if (result < 0)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        if (find_queue_family(gpu, devices[i], &gpu->queue_family)) {
            gpu->physical = devices[i];
            gpu->GetPhysicalDeviceProperties(gpu->physical, &gpu->properties);
            return VK_SUCCESS;
        }
    }
    return VK_ERROR_INITIALIZATION_FAILED;
}

static bool has_extension(const struct gpu *gpu, const char *name)
{
    uint32_t count = 0;
    if (gpu->EnumerateDeviceExtensionProperties(gpu->physical, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *list = calloc(count ? count : 1, sizeof(*list));
    bool found = false;
    if (list && gpu->EnumerateDeviceExtensionProperties(gpu->physical, NULL, &count, list) == VK_SUCCESS) {
        for (uint32_t i = 0; i < count && !found; i++)
            found = strcmp(list[i].extensionName, name) == 0;
    }
    free(list);
    return found;
}

static VkResult create_device(struct gpu *gpu, const struct gpu_options *options)
{
    const char *extensions[1];
    uint32_t extension_count = 0;
    if (options->feedback && has_extension(gpu, VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME)) {
        extensions[extension_count++] = VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME;
        gpu->feedback = true;
    }
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = gpu->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    return gpu->CreateDevice(gpu->physical, &info, NULL, &gpu->device);
}

VkResult gpu_init(struct gpu *gpu, const struct gpu_options *options)
{
    memset(gpu, 0, sizeof(*gpu));
    gpu->library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!gpu->library) {
        fprintf(stderr, "%s\n", dlerror());
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    PFN_vkGetInstanceProcAddr gipa = (PFN_vkGetInstanceProcAddr)dlsym(gpu->library, "vkGetInstanceProcAddr");
    VkResult result = gipa ? create_instance(gpu, options, gipa) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        complain("vkCreateInstance", result);
        goto close_library;
    }
    if (!load_instance_functions(gpu, gipa)) {
        result = complain("an instance function", VK_ERROR_INITIALIZATION_FAILED);
        goto destroy_instance;
    }
    result = find_physical_device(gpu);
    if (result != VK_SUCCESS) {
        complain("finding a device", result);
        goto destroy_instance;
    }
    result = create_device(gpu, options);
    if (result != VK_SUCCESS) {
        complain("vkCreateDevice", result);
        goto destroy_instance;
    }
    if (!load_device_functions(gpu)) {
        result = complain("a device function", VK_ERROR_INITIALIZATION_FAILED);
        goto destroy_device;
    }
    gpu->GetDeviceQueue(gpu->device, gpu->queue_family, 0, &gpu->queue);
    return VK_SUCCESS;

destroy_device:
    if (gpu->DestroyDevice)
        gpu->DestroyDevice(gpu->device, NULL);
destroy_instance:
    if (gpu->DestroyInstance)
        gpu->DestroyInstance(gpu->instance, NULL);
close_library:
    dlclose(gpu->library);
    return result;
}

void gpu_finish(struct gpu *gpu)
{
    gpu->DestroyDevice(gpu->device, NULL);
    gpu->DestroyInstance(gpu->instance, NULL);
    dlclose(gpu->library);
}
