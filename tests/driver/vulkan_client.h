/* A small application for tests: opens the Vulkan loader at run time, makes an instance and a device, and
 * knows the functions by name. Nothing is linked, so that a test sees exactly what an application sees. */
#ifndef VULKAN_CLIENT_H
#define VULKAN_CLIENT_H

#include <vulkan/vulkan.h>

#define CLIENT_INSTANCE_FUNCTIONS(X)                                                                         \
    X(vkDestroyInstance)                                                                                     \
    X(vkEnumeratePhysicalDevices)                                                                            \
    X(vkEnumeratePhysicalDeviceGroups)                                                                       \
    X(vkEnumerateDeviceExtensionProperties)                                                                  \
    X(vkGetPhysicalDeviceProperties)                                                                         \
    X(vkGetPhysicalDeviceProperties2)                                                                        \
    X(vkGetPhysicalDeviceFeatures2)                                                                          \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                              \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                   \
    X(vkCreateHeadlessSurfaceEXT)                                                                            \
    X(vkDestroySurfaceKHR)                                                                                   \
    X(vkGetPhysicalDeviceSurfaceSupportKHR)                                                                  \
    X(vkGetPhysicalDeviceSurfaceFormatsKHR)                                                                  \
    X(vkGetPhysicalDeviceSurfaceCapabilitiesKHR)                                                             \
    X(vkGetPhysicalDeviceSurfacePresentModesKHR)                                                             \
    X(vkCreateDebugUtilsMessengerEXT)                                                                        \
    X(vkDestroyDebugUtilsMessengerEXT)                                                                       \
    X(vkCreateDevice)                                                                                        \
    X(vkGetDeviceProcAddr)

#define CLIENT_DEVICE_FUNCTIONS(X)                                                                           \
    X(vkDestroyDevice)                                                                                       \
    X(vkGetDeviceQueue)                                                                                      \
    X(vkDeviceWaitIdle)                                                                                      \
    X(vkQueueWaitIdle)                                                                                       \
    X(vkQueueSubmit)                                                                                         \
    X(vkQueueSubmit2)                                                                                        \
    X(vkCreatePipelineCache)                                                                                 \
    X(vkDestroyPipelineCache)                                                                                \
    X(vkGetPipelineCacheData)                                                                                \
    X(vkMergePipelineCaches)                                                                                 \
    X(vkCreateShaderModule)                                                                                  \
    X(vkDestroyShaderModule)                                                                                 \
    X(vkCreateDescriptorSetLayout)                                                                           \
    X(vkDestroyDescriptorSetLayout)                                                                          \
    X(vkCreateDescriptorPool)                                                                                \
    X(vkDestroyDescriptorPool)                                                                               \
    X(vkAllocateDescriptorSets)                                                                              \
    X(vkUpdateDescriptorSets)                                                                                \
    X(vkCreatePipelineLayout)                                                                                \
    X(vkDestroyPipelineLayout)                                                                               \
    X(vkCreateComputePipelines)                                                                              \
    X(vkCreateGraphicsPipelines)                                                                             \
    X(vkDestroyPipeline)                                                                                     \
    X(vkCreateRenderPass)                                                                                    \
    X(vkDestroyRenderPass)                                                                                   \
    X(vkCreateFramebuffer)                                                                                   \
    X(vkDestroyFramebuffer)                                                                                  \
    X(vkCreateBuffer)                                                                                        \
    X(vkDestroyBuffer)                                                                                       \
    X(vkGetBufferMemoryRequirements)                                                                         \
    X(vkBindBufferMemory)                                                                                    \
    X(vkCreateImage)                                                                                         \
    X(vkDestroyImage)                                                                                        \
    X(vkGetImageMemoryRequirements)                                                                          \
    X(vkBindImageMemory)                                                                                     \
    X(vkCreateImageView)                                                                                     \
    X(vkDestroyImageView)                                                                                    \
    X(vkAllocateMemory)                                                                                      \
    X(vkFreeMemory)                                                                                          \
    X(vkMapMemory)                                                                                           \
    X(vkUnmapMemory)                                                                                         \
    X(vkCreateCommandPool)                                                                                   \
    X(vkDestroyCommandPool)                                                                                  \
    X(vkAllocateCommandBuffers)                                                                              \
    X(vkBeginCommandBuffer)                                                                                  \
    X(vkEndCommandBuffer)                                                                                    \
    X(vkCmdPipelineBarrier)                                                                                  \
    X(vkCmdPipelineBarrier2)                                                                                 \
    X(vkCmdBindPipeline)                                                                                     \
    X(vkCmdBindDescriptorSets)                                                                               \
    X(vkCmdDispatch)                                                                                         \
    X(vkCmdBeginRenderPass)                                                                                  \
    X(vkCmdEndRenderPass)                                                                                    \
    X(vkCmdBeginRendering)                                                                                   \
    X(vkCmdEndRendering)                                                                                     \
    X(vkCmdDraw)                                                                                             \
    X(vkCmdSetEvent)                                                                                         \
    X(vkCreateRenderPass2)                                                                                   \
    X(vkFreeCommandBuffers)                                                                                  \
    X(vkResetCommandBuffer)                                                                                  \
    X(vkCmdCopyImage)                                                                                        \
    X(vkCmdCopyImage2)                                                                                       \
    X(vkCmdBlitImage)                                                                                        \
    X(vkCmdBlitImage2)                                                                                       \
    X(vkCmdResolveImage)                                                                                     \
    X(vkCmdResolveImage2)                                                                                    \
    X(vkCmdCopyBufferToImage)                                                                                \
    X(vkCmdCopyBufferToImage2)                                                                               \
    X(vkCmdCopyImageToBuffer)                                                                                \
    X(vkCmdCopyImageToBuffer2)                                                                               \
    X(vkCmdClearColorImage)                                                                                  \
    X(vkCmdClearDepthStencilImage)                                                                           \
    X(vkCmdWaitEvents)                                                                                       \
    X(vkCmdWaitEvents2)                                                                                      \
    X(vkCmdSetEvent2)                                                                                        \
    X(vkCmdBeginRenderPass2)                                                                                 \
    X(vkCmdNextSubpass)                                                                                      \
    X(vkCmdEndRenderPass2)                                                                                   \
    X(vkCmdExecuteCommands)                                                                                  \
    X(vkCreateEvent)                                                                                         \
    X(vkDestroyEvent)                                                                                        \
    X(vkGetEventStatus)                                                                                      \
    X(vkResetDescriptorPool)                                                                                 \
    X(vkFreeDescriptorSets)                                                                                  \
    X(vkCreateDescriptorUpdateTemplate)                                                                      \
    X(vkDestroyDescriptorUpdateTemplate)                                                                     \
    X(vkUpdateDescriptorSetWithTemplate)                                                                     \
    X(vkCreateSampler)                                                                                       \
    X(vkDestroySampler)                                                                                      \
    X(vkGetBufferDeviceAddress)                                                                              \
    X(vkCmdPushDescriptorSetKHR)                                                                             \
    X(vkCmdPushDescriptorSetWithTemplateKHR)                                                                 \
    X(vkCmdPushConstants)                                                                                    \
    X(vkCmdBindIndexBuffer)                                                                                  \
    X(vkCmdDrawIndexed)                                                                                      \
    X(vkCmdDrawIndirect)                                                                                     \
    X(vkCmdDrawIndexedIndirect)                                                                              \
    X(vkCmdDrawIndirectCount)                                                                                \
    X(vkCmdDrawIndexedIndirectCount)                                                                         \
    X(vkCmdDrawMultiEXT)                                                                                     \
    X(vkCmdDrawMultiIndexedEXT)                                                                              \
    X(vkCmdDrawMeshTasksEXT)                                                                                 \
    X(vkCmdDrawMeshTasksIndirectEXT)                                                                         \
    X(vkCmdDrawMeshTasksIndirectCountEXT)                                                                    \
    X(vkCmdDispatchIndirect)                                                                                 \
    X(vkCmdDispatchBase)                                                                                     \
    X(vkCmdTraceRaysKHR)                                                                                     \
    X(vkCmdTraceRaysIndirectKHR)                                                                             \
    X(vkCreateFence)                                                                                         \
    X(vkDestroyFence)                                                                                        \
    X(vkGetFenceStatus)                                                                                      \
    X(vkWaitForFences)                                                                                       \
    X(vkCreateSemaphore)                                                                                     \
    X(vkDestroySemaphore)                                                                                    \
    X(vkSignalSemaphore)                                                                                     \
    X(vkWaitSemaphores)                                                                                      \
    X(vkGetSemaphoreCounterValue)                                                                            \
    X(vkCreateSwapchainKHR)                                                                                  \
    X(vkDestroySwapchainKHR)                                                                                 \
    X(vkGetSwapchainImagesKHR)                                                                               \
    X(vkAcquireNextImageKHR)                                                                                 \
    X(vkQueuePresentKHR)                                                                                     \
    X(vkCreateDeferredOperationKHR)                                                                          \
    X(vkDestroyDeferredOperationKHR)                                                                         \
    X(vkDeferredOperationJoinKHR)                                                                            \
    X(vkGetDeferredOperationResultKHR)                                                                       \
    X(vkCreateRayTracingPipelinesKHR)

#define CLIENT_MAX_FAMILIES 3

struct vulkan_client {
    void *loader; /* dlopen()'s handle */
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
    PFN_vkCreateInstance vkCreateInstance;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue; /* family 0, index 0 */
    /* NULL where the instance or device doesn't have the function. */
#define CLIENT_MEMBER(name) PFN_##name name;
    CLIENT_INSTANCE_FUNCTIONS(CLIENT_MEMBER)
    CLIENT_DEVICE_FUNCTIONS(CLIENT_MEMBER)
#undef CLIENT_MEMBER
};

/* What to create; all zero is a Vulkan 1.3 application without layers and extensions. */
struct vulkan_client_config {
    uint32_t api;              /* 0: 1.3 */
    const void *instance_next; /* chained to VkInstanceCreateInfo */
    const void *device_next;   /* chained to VkDeviceCreateInfo */
    uint32_t layer_count;
    const char *const *layers;
    uint32_t instance_extension_count;
    const char *const *instance_extensions;
    uint32_t device_extension_count;
    const char *const *device_extensions;
    uint32_t family_count; /* one queue of each of the first so many families; 0: of the first */
};

/* Three steps, each only if the one before gave VK_SUCCESS. VK_ERROR_INITIALIZATION_FAILED also where there
 * is no loader or no device. */
VkResult vulkan_client_open(struct vulkan_client *client);
VkResult vulkan_client_create_instance(struct vulkan_client *client,
                                       const struct vulkan_client_config *config);
VkResult vulkan_client_create_device(struct vulkan_client *client, const struct vulkan_client_config *config);

/* Destroys what was created; the loader stays open until vulkan_client_close(). */
void vulkan_client_destroy(struct vulkan_client *client);
void vulkan_client_close(struct vulkan_client *client);

#endif
