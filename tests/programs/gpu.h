/* The least of Vulkan that a program needs before it can make pipelines: loader, instance, first device. */
#ifndef PROGRAMS_GPU_H
#define PROGRAMS_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#define GPU_INSTANCE_FUNCTIONS(X)                                                                            \
    X(DestroyInstance)                                                                                       \
    X(EnumeratePhysicalDevices)                                                                              \
    X(GetPhysicalDeviceProperties)                                                                           \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                                \
    X(GetPhysicalDeviceMemoryProperties)                                                                     \
    X(EnumerateDeviceExtensionProperties)                                                                    \
    X(CreateDevice)                                                                                          \
    X(GetDeviceProcAddr)

#define GPU_DEVICE_FUNCTIONS(X)                                                                              \
    X(DestroyDevice)                                                                                         \
    X(GetDeviceQueue)                                                                                        \
    X(CreatePipelineCache)                                                                                   \
    X(DestroyPipelineCache)                                                                                  \
    X(GetPipelineCacheData)                                                                                  \
    X(MergePipelineCaches)                                                                                   \
    X(CreateComputePipelines)                                                                                \
    X(CreateGraphicsPipelines)                                                                               \
    X(DestroyPipeline)                                                                                       \
    X(CreateShaderModule)                                                                                    \
    X(DestroyShaderModule)                                                                                   \
    X(CreatePipelineLayout)                                                                                  \
    X(DestroyPipelineLayout)                                                                                 \
    X(CreateDescriptorSetLayout)                                                                             \
    X(DestroyDescriptorSetLayout)                                                                            \
    X(CreateRenderPass)                                                                                      \
    X(DestroyRenderPass)                                                                                     \
    X(CreateDescriptorPool)                                                                                  \
    X(DestroyDescriptorPool)                                                                                 \
    X(AllocateDescriptorSets)                                                                                \
    X(UpdateDescriptorSets)                                                                                  \
    X(CreateBuffer)                                                                                          \
    X(DestroyBuffer)                                                                                         \
    X(GetBufferMemoryRequirements)                                                                           \
    X(BindBufferMemory)                                                                                      \
    X(AllocateMemory)                                                                                        \
    X(FreeMemory)                                                                                            \
    X(MapMemory)                                                                                             \
    X(CreateCommandPool)                                                                                     \
    X(DestroyCommandPool)                                                                                    \
    X(AllocateCommandBuffers)                                                                                \
    X(BeginCommandBuffer)                                                                                    \
    X(EndCommandBuffer)                                                                                      \
    X(CmdBindPipeline)                                                                                       \
    X(CmdBindDescriptorSets)                                                                                 \
    X(CmdDispatch)                                                                                           \
    X(CmdPipelineBarrier)                                                                                    \
    X(QueueSubmit)                                                                                           \
    X(QueueWaitIdle)

struct gpu_options {
    const char *name;     /* VkApplicationInfo::pApplicationName */
    uint32_t api_version; /* VkApplicationInfo::apiVersion */
    bool feedback;        /* make creation feedback usable, where the device has it */
};

struct gpu {
    void *library;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    bool feedback; /* VkPipelineCreationFeedbackCreateInfo may be chained */
#define X(name) PFN_vk##name name;
    GPU_INSTANCE_FUNCTIONS(X)
    GPU_DEVICE_FUNCTIONS(X)
#undef X
};

/* Opens libvulkan.so.1, creates an instance and a device on the first physical device with a compute queue
 * (graphics too, if it has one). On failure nothing is left and a line on standard error says what failed. */
VkResult gpu_init(struct gpu *gpu, const struct gpu_options *options);
void gpu_finish(struct gpu *gpu);

/* Milliseconds of wall time, and of CPU time of the whole process, since some fixed point. */
double gpu_wall_ms(void);
double gpu_cpu_ms(void);

#endif
