/* A device made by hand, so that hooks of the barrier half can be called without a loader or a driver. What
 * lies below answers as it is told to; what belongs to other parts (findings, ordering, command buffers) is
 * noted. */
#ifndef RC_TESTS_SYNC_FIXTURE_H
#define RC_TESTS_SYNC_FIXTURE_H

#include "check.h"

#include "device.h"
#include "hooks.h"
#include "sync/command_buffer.h"
#include "sync/finding.h"
#include "sync/image.h"
#include "sync/pass.h"

struct fixture {
    struct device device;
    struct device_sync sync;

    /* The driver below. */
    VkResult result;       /* of what is called next, and from then on */
    uint64_t next_handle;  /* counts up */
    uint64_t fixed_handle; /* given out instead, if not 0 */
    VkDeviceSize image_size;
    uint32_t swapchain_images;      /* that it has; numbered from swapchain_first on */
    uint32_t swapchain_images_told; /* at most; 0: all */
    uint64_t swapchain_first;
    uint32_t acquired_index;
    uint32_t calls; /* that reached it */
    uint32_t destroyed_semaphores;

    const char *extension; /* that the application enabled */
    uint32_t findings;
    struct finding finding; /* the last */
    uint64_t forgotten_semaphore, forgotten_fence;
};
extern struct fixture fixture;

int fixture_setup(void **state);
/* Destroys what is left; fails if the layer has not given back all memory. */
int fixture_teardown(void **state);

/* Of the layer's code and the test's; see fixture.c. The n-th allocation from now on fails (0: the next), and
 * only that; negative: none. */
void allocations_fail_at(int64_t n);
int64_t allocations_live(void);

/* Calls of the application. */
VkResult create_image(const VkImageCreateInfo *info, VkImage *out);
VkImage image_2d(VkFormat format, uint32_t mips, uint32_t layers);
void destroy_image(VkImage image);
VkDeviceMemory memory_of(const void *chain);
void free_memory(VkDeviceMemory memory);
void bind_image(VkImage image, VkDeviceMemory memory, VkDeviceSize offset);
VkImageView view_of(VkImage image, VkImageViewType type, VkImageSubresourceRange range);
void destroy_view(VkImageView view);
VkFramebuffer framebuffer_of(uint32_t count, const VkImageView *views);
void destroy_framebuffer(VkFramebuffer framebuffer);
VkSwapchainKHR swapchain_of(const void *chain, VkPresentModeKHR mode, VkSwapchainCreateFlagsKHR flags);
void destroy_swapchain(VkSwapchainKHR swapchain);
/* Returns how many were written to `out`, which has room for `count`. */
uint32_t swapchain_images(VkSwapchainKHR swapchain, uint32_t count, VkImage *out);
void acquire_image(VkSwapchainKHR swapchain, uint32_t index);

extern const VkImageCreateInfo image_2d_info;
/* What stands behind the handle; fails if it is unknown. */
struct image *image_at(VkImage handle);
enum image_untracked untracked(VkImage handle);
/* The layout of one subresource. */
VkImageLayout layout_at(VkImage handle, uint32_t aspect, uint32_t mip, uint32_t layer);

#define HANDLE(type, number) ((type)(uintptr_t)(number))

#endif
