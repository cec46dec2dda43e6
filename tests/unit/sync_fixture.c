#include "sync_fixture.h"

#include "sync/object.h"
#include "sync/queue.h"

struct fixture fixture;
static struct queue_set queue_set;

/* --- Allocations: linked with --wrap --- */

static atomic_int_fast64_t live, countdown;

static bool fails(void)
{
    return atomic_load(&countdown) >= 0 && atomic_fetch_sub(&countdown, 1) == 0;
}

void allocations_fail_at(int64_t n)
{
    atomic_store(&countdown, n);
}

int64_t allocations_live(void)
{
    return atomic_load(&live);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static void *count(void *memory)
{
    if (memory)
        atomic_fetch_add(&live, 1);
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
    return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    void *memory = __real_realloc(old, size);
    if (!old)
        count(memory);
    return memory;
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : count(__real_strdup(text));
}

void __wrap_free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&live, 1);
    __real_free(memory);
}

/* --- Other parts of the layer --- */

bool device_has_extension(const struct device *device, const char *name)
{
    (void)device;
    return fixture.extension && strcmp(fixture.extension, name) == 0;
}

void finding_report(struct device_sync *sync, const struct finding *finding)
{
    /* The contract: not under the lock. */
    assert_int_equal(pthread_mutex_trylock(&sync->lock), 0);
    pthread_mutex_unlock(&sync->lock);
    fixture.findings++;
    fixture.finding = *finding;
}

void order_forget_semaphore(struct order *order, uint64_t semaphore)
{
    (void)order;
    fixture.forgotten_semaphore = semaphore;
}

void order_forget_fence(struct order *order, uint64_t fence)
{
    (void)order;
    fixture.forgotten_fence = fence;
}

/* --- The driver below --- */

/* Every call down: the layer holds no lock. */
static VkResult below(uint64_t *handle)
{
    assert_int_equal(pthread_mutex_trylock(&fixture.sync.lock), 0);
    pthread_mutex_unlock(&fixture.sync.lock);
    fixture.calls++;
    if (handle && fixture.result == VK_SUCCESS)
        *handle = fixture.fixed_handle ? fixture.fixed_handle : ++fixture.next_handle;
    return fixture.result;
}

#define BELOW_CREATE(name, info_type, handle_type)                                                           \
    static VkResult VKAPI_CALL below_##name(VkDevice device, const info_type *info,                          \
                                            const VkAllocationCallbacks *allocator, handle_type *out)        \
    {                                                                                                        \
        (void)device, (void)info, (void)allocator;                                                           \
        uint64_t handle = 0;                                                                                 \
        VkResult result = below(&handle);                                                                    \
        *out = HANDLE(handle_type, handle);                                                                  \
        return result;                                                                                       \
    }
#define BELOW_DESTROY(name, handle_type)                                                                     \
    static void VKAPI_CALL below_##name(VkDevice device, handle_type handle,                                 \
                                        const VkAllocationCallbacks *allocator)                              \
    {                                                                                                        \
        (void)device, (void)handle, (void)allocator;                                                         \
        below(NULL);                                                                                         \
    }
BELOW_CREATE(create_image, VkImageCreateInfo, VkImage)
BELOW_DESTROY(destroy_image, VkImage)
BELOW_CREATE(allocate, VkMemoryAllocateInfo, VkDeviceMemory)
BELOW_DESTROY(free, VkDeviceMemory)
BELOW_CREATE(create_view, VkImageViewCreateInfo, VkImageView)
BELOW_DESTROY(destroy_view, VkImageView)
BELOW_CREATE(create_framebuffer, VkFramebufferCreateInfo, VkFramebuffer)
BELOW_DESTROY(destroy_framebuffer, VkFramebuffer)
BELOW_CREATE(create_swapchain, VkSwapchainCreateInfoKHR, VkSwapchainKHR)

static VkResult VKAPI_CALL below_bind(VkDevice device, VkImage image, VkDeviceMemory memory,
                                      VkDeviceSize offset)
{
    (void)device, (void)image, (void)memory, (void)offset;
    return below(NULL);
}

static void VKAPI_CALL below_requirements(VkDevice device, VkImage image, VkMemoryRequirements *out)
{
    (void)device, (void)image;
    below(NULL);
    *out = (VkMemoryRequirements){.size = fixture.image_size, .alignment = 1, .memoryTypeBits = 1};
}

static void VKAPI_CALL below_destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                               const VkAllocationCallbacks *allocator)
{
    (void)device, (void)semaphore, (void)allocator;
    below(NULL);
    fixture.destroyed_semaphores++;
}

static VkResult VKAPI_CALL below_images(VkDevice device, VkSwapchainKHR swapchain, uint32_t *count,
                                        VkImage *out)
{
    (void)device, (void)swapchain;
    VkResult result = below(NULL);
    uint32_t told = fixture.swapchain_images_told ? fixture.swapchain_images_told : fixture.swapchain_images;
    if (*count > told)
        *count = told;
    for (uint32_t i = 0; i < *count; i++)
        out[i] = HANDLE(VkImage, fixture.swapchain_first + i);
    return result == VK_SUCCESS && *count < fixture.swapchain_images ? VK_INCOMPLETE : result;
}

static VkResult VKAPI_CALL below_acquire(VkDevice device, VkSwapchainKHR swapchain, uint64_t timeout,
                                         VkSemaphore semaphore, VkFence fence, uint32_t *index)
{
    (void)device, (void)swapchain, (void)timeout, (void)semaphore, (void)fence;
    *index = fixture.acquired_index;
    return below(NULL);
}

/* --- Set-up --- */

static void each_map(void (*act)(struct handle_map *map))
{
    act(&fixture.sync.images);
    act(&fixture.sync.views);
    act(&fixture.sync.render_passes);
    act(&fixture.sync.framebuffers);
    act(&fixture.sync.swapchains);
    act(&fixture.sync.memories);
    act(&fixture.sync.command_buffers);
    act(&fixture.sync.set_layouts);
    act(&fixture.sync.pipeline_layouts);
    act(&fixture.sync.descriptor_pools);
    act(&fixture.sync.sets);
    act(&fixture.sync.templates);
    act(&fixture.sync.modules);
    act(&fixture.sync.pipelines);
    act(&fixture.sync.shaders);
}

static int64_t live_before;

int fixture_setup(void **state)
{
    (void)state;
    allocations_fail_at(-1);
    live_before = allocations_live();
    memset(&fixture, 0, sizeof(fixture));
    fixture.next_handle = 0x1000;
    fixture.image_size = 0x100;
    fixture.swapchain_images = 3;
    fixture.swapchain_first = 0x900000;
    fixture.device.sync = &fixture.sync;
    fixture.device.next.GetImageMemoryRequirements = below_requirements;
    fixture.device.next.DestroySemaphore = below_destroy_semaphore;
    fixture.sync.device = &fixture.device;
    fixture.sync.mode = SYNC_REPAIR;
    fixture.sync.queue_set = &queue_set;
    pthread_mutex_init(&fixture.sync.lock, NULL);
    each_map(handle_map_init);
    return 0;
}

int fixture_teardown(void **state)
{
    (void)state;
    allocations_fail_at(-1);
    objects_destroy(&fixture.sync);
    each_map(handle_map_finish);
    pthread_mutex_destroy(&fixture.sync.lock);
    return allocations_live() == live_before ? 0 : -1;
}

/* --- Calls --- */

const VkImageCreateInfo image_2d_info = {
    .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
    .imageType = VK_IMAGE_TYPE_2D,
    .format = VK_FORMAT_R8G8B8A8_UNORM,
    .extent = {64, 64, 1},
    .mipLevels = 4,
    .arrayLayers = 3,
    .samples = VK_SAMPLE_COUNT_1_BIT,
    .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
};

VkResult create_image(const VkImageCreateInfo *info, VkImage *out)
{
    return hook_CreateImage(&fixture.device, below_create_image, NULL, info, NULL, out);
}

VkImage image_2d(VkFormat format, uint32_t mips, uint32_t layers)
{
    VkImageCreateInfo info = image_2d_info;
    info.format = format;
    info.mipLevels = mips;
    info.arrayLayers = layers;
    VkImage image;
    assert_int_equal(create_image(&info, &image), fixture.result);
    return image;
}

void destroy_image(VkImage image)
{
    hook_DestroyImage(&fixture.device, below_destroy_image, NULL, image, NULL);
}

VkDeviceMemory memory_of(const void *chain)
{
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = chain, .allocationSize = 1 << 20};
    VkDeviceMemory memory;
    assert_int_equal(hook_AllocateMemory(&fixture.device, below_allocate, NULL, &info, NULL, &memory),
                     fixture.result);
    return memory;
}

void free_memory(VkDeviceMemory memory)
{
    hook_FreeMemory(&fixture.device, below_free, NULL, memory, NULL);
}

void bind_image(VkImage image, VkDeviceMemory memory, VkDeviceSize offset)
{
    assert_int_equal(hook_BindImageMemory(&fixture.device, below_bind, NULL, image, memory, offset),
                     fixture.result);
}

VkImageView view_of(VkImage image, VkImageViewType type, VkImageSubresourceRange range)
{
    VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = type,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .subresourceRange = range,
    };
    VkImageView view;
    assert_int_equal(hook_CreateImageView(&fixture.device, below_create_view, NULL, &info, NULL, &view),
                     fixture.result);
    return view;
}

void destroy_view(VkImageView view)
{
    hook_DestroyImageView(&fixture.device, below_destroy_view, NULL, view, NULL);
}

VkFramebuffer framebuffer_of(uint32_t number, const VkImageView *views)
{
    VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .attachmentCount = number,
        .pAttachments = views,
        .width = 64,
        .height = 64,
        .layers = 1,
    };
    VkFramebuffer framebuffer;
    assert_int_equal(
        hook_CreateFramebuffer(&fixture.device, below_create_framebuffer, NULL, &info, NULL, &framebuffer),
        fixture.result);
    return framebuffer;
}

void destroy_framebuffer(VkFramebuffer framebuffer)
{
    hook_DestroyFramebuffer(&fixture.device, below_destroy_framebuffer, NULL, framebuffer, NULL);
}

VkSwapchainKHR swapchain_of(const void *chain, VkPresentModeKHR mode, VkSwapchainCreateFlagsKHR flags)
{
    VkSwapchainCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .pNext = chain,
        .flags = flags,
        .minImageCount = 3,
        .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
        .imageExtent = {64, 64},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .presentMode = mode,
    };
    VkSwapchainKHR swapchain;
    assert_int_equal(
        hook_CreateSwapchainKHR(&fixture.device, below_create_swapchain, NULL, &info, NULL, &swapchain),
        fixture.result);
    return swapchain;
}

void destroy_swapchain(VkSwapchainKHR swapchain)
{
    struct swapchain *known = swapchain_forget(&fixture.sync, swapchain);
    below(NULL);
    swapchain_finish(known);
}

uint32_t swapchain_images(VkSwapchainKHR swapchain, uint32_t number, VkImage *out)
{
    VkResult result =
        hook_GetSwapchainImagesKHR(&fixture.device, below_images, NULL, swapchain, &number, out);
    assert_true(result == fixture.result || result == VK_INCOMPLETE);
    return number;
}

void acquire_image(VkSwapchainKHR swapchain, uint32_t index)
{
    fixture.acquired_index = index;
    uint32_t got;
    VkResult result = hook_AcquireNextImageKHR(&fixture.device, below_acquire, NULL, swapchain, 0,
                                               HANDLE(VkSemaphore, 0x51), HANDLE(VkFence, 0x52), &got);
    assert_int_equal(result, fixture.result);
}

struct image *image_at(VkImage handle)
{
    struct image *image = image_find(&fixture.sync, handle);
    assert_non_null(image);
    return image;
}

enum image_untracked untracked(VkImage handle)
{
    return (enum image_untracked)atomic_load(&image_at(handle)->untracked);
}

static void take_layout(void *context, const struct subresource_range *range, const void *value)
{
    (void)range;
    *(VkImageLayout *)context = ((const struct access *)value)->layout;
}

VkImageLayout layout_at(VkImage handle, uint32_t aspect, uint32_t mip, uint32_t layer)
{
    VkImageLayout layout = VK_IMAGE_LAYOUT_MAX_ENUM;
    struct subresource_range range = {1u << aspect, mip, 1, layer, 1};
    subresource_map_read(&image_at(handle)->state, &range, take_layout, &layout);
    return layout;
}
