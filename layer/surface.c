/* Swapchains and surfaces go: both halves want to know. */
#include "cache/writer.h"
#include "hooks.h"
#include "sync/pass.h"

void hook_DestroySwapchainKHR(struct device *self, PFN_vkDestroySwapchainKHR next, VkDevice device,
                              VkSwapchainKHR swapchain, const VkAllocationCallbacks *pAllocator)
{
    struct swapchain *known = self->sync ? swapchain_forget(self->sync, swapchain) : NULL;
    next(device, swapchain, pAllocator);
    swapchain_finish(known);
    /* A sign that the application may be about to end. */
    if (self->cache)
        writer_hurry(self->cache);
}

void hook_DestroySurfaceKHR(struct instance *self, PFN_vkDestroySurfaceKHR next, VkInstance instance,
                            VkSurfaceKHR surface, const VkAllocationCallbacks *pAllocator)
{
    (void)self;
    next(instance, surface, pAllocator);
    writer_hurry_all();
}
