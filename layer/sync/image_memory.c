#include "sync/image_memory.h"

#include <stdlib.h>

#include "chain.h"
#include "compat.h"
#include "hooks.h"
#include "sync/image.h"
#include "sync/pass.h"

/* A VkDeviceMemory. Spans are under sync->memory_lock; the rest is constant but for what is said. */
struct memory {
    struct device_sync *sync;
    enum image_untracked reason; /* of every image that is bound to it; under sync->memory_lock */
    uint32_t count, capacity;
    struct memory_span *spans; /* what living images take, in no order */
};

struct memory_span {
    uint64_t begin, end;
    struct memory_binding *binding;
};

/* An image's place in memory; disjoint images have several. Under sync->memory_lock. */
struct memory_binding {
    struct image *image;
    struct memory *memory; /* NULL once it was freed */
    uint32_t index;        /* of its span */
    struct memory_binding *next;
};

/* --- Memory --- */

/* Spec, "External Memory Handle Types": what has no handle type is neither imported nor exported. */
static bool is_shared(const VkBaseInStructure *structure)
{
    const void *info = structure;
    switch ((int)structure->sType) {
    case VK_STRUCTURE_TYPE_DEDICATED_ALLOCATION_MEMORY_ALLOCATE_INFO_NV:
    case VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO:
    case VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO:
    case VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT:
    case VK_STRUCTURE_TYPE_MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO:
        return false;
    case VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO:
        return ((const VkExportMemoryAllocateInfo *)info)->handleTypes != 0;
    case VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO_NV:
        return ((const VkExportMemoryAllocateInfoNV *)info)->handleTypes != 0;
    case VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR:
        return ((const VkImportMemoryFdInfoKHR *)info)->handleType != 0;
    default:
        return true;
    }
}

static enum image_untracked judge(const VkMemoryAllocateInfo *info)
{
    for (const VkBaseInStructure *structure = info->pNext; structure; structure = structure->pNext)
        if (is_shared(structure))
            return IMAGE_EXTERNAL;
    return IMAGE_TRACKED;
}

static struct memory *memory_find(struct device_sync *sync, VkDeviceMemory handle)
{
    return handle ? handle_map_find(&sync->memories, HANDLE_KEY(handle)) : NULL;
}

void memory_destroy(struct memory *memory)
{
    struct device_sync *sync = memory->sync;
    pthread_mutex_lock(&sync->memory_lock);
    for (uint32_t i = 0; i < memory->count; i++)
        memory->spans[i].binding->memory = NULL;
    pthread_mutex_unlock(&sync->memory_lock);
    free(memory->spans);
    free(memory);
}

VkResult hook_AllocateMemory(struct device *self, PFN_vkAllocateMemory next, VkDevice device,
                             const VkMemoryAllocateInfo *pAllocateInfo,
                             const VkAllocationCallbacks *pAllocator, VkDeviceMemory *pMemory)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pAllocateInfo, pAllocator, pMemory);
    if (result != VK_SUCCESS)
        return result;
    struct memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return result;
    memory->sync = sync;
    memory->reason = judge(pAllocateInfo);
    if (!handle_map_insert(&sync->memories, HANDLE_KEY(*pMemory), memory))
        free(memory);
    return result;
}

void hook_FreeMemory(struct device *self, PFN_vkFreeMemory next, VkDevice device, VkDeviceMemory memory,
                     const VkAllocationCallbacks *pAllocator)
{
    struct memory *known = memory_find(self->sync, memory);
    if (known) {
        handle_map_remove(&self->sync->memories, HANDLE_KEY(memory));
        memory_destroy(known);
    }
    next(device, memory, pAllocator);
}

/* --- Binding --- */

static bool memory_reserve(struct memory *memory)
{
    if (memory->count < memory->capacity)
        return true;
    uint32_t capacity = memory->capacity ? memory->capacity * 2 : 4;
    struct memory_span *spans = realloc(memory->spans, capacity * sizeof(*spans));
    if (!spans)
        return false;
    memory->spans = spans;
    memory->capacity = capacity;
    return true;
}

/* Every image in [begin, end) shares memory with this one. */
static void mark_aliases(const struct memory *memory, struct image *image, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        const struct memory_span *span = &memory->spans[i];
        if (span->binding->image != image && begin < span->end && span->begin < end) {
            image_set_untracked(span->binding->image, IMAGE_ALIASED);
            image_set_untracked(image, IMAGE_ALIASED);
        }
    }
}

/* Where images lie in this memory can't be told any more: all are left alone. Under sync->memory_lock. */
static void give_up(struct memory *memory)
{
    for (uint32_t i = 0; i < memory->count; i++)
        image_set_untracked(memory->spans[i].binding->image, IMAGE_ALIASED);
    if (!memory->reason)
        memory->reason = IMAGE_ALIASED;
}

/* Under sync->memory_lock. `binding` is the image's from now on, or NULL: there was no memory for it. False
 * where the place in memory couldn't be noted. */
static bool bind(struct memory *memory, struct image *image, uint64_t begin, uint64_t end,
                 struct memory_binding *binding)
{
    if (memory->reason)
        image_set_untracked(image, memory->reason);
    mark_aliases(memory, image, begin, end);
    if (!binding || !memory_reserve(memory)) {
        image_set_untracked(image, IMAGE_ALIASED);
        give_up(memory);
        return false;
    }
    *binding = (struct memory_binding){image, memory, memory->count, image->bindings};
    image->bindings = binding;
    memory->spans[memory->count++] = (struct memory_span){begin, end, binding};
    return true;
}

void image_memory_unbind(struct image *image)
{
    struct device_sync *sync = image->sync;
    pthread_mutex_lock(&sync->memory_lock);
    struct memory_binding *bindings = image->bindings;
    image->bindings = NULL;
    for (struct memory_binding *binding = bindings; binding; binding = binding->next) {
        struct memory *memory = binding->memory;
        if (!memory)
            continue;
        memory->spans[binding->index] = memory->spans[--memory->count];
        memory->spans[binding->index].binding->index = binding->index;
    }
    pthread_mutex_unlock(&sync->memory_lock);
    while (bindings) {
        struct memory_binding *gone = bindings;
        bindings = bindings->next;
        free(gone);
    }
}

/* Where in memory the image ends. A disjoint image is bound plane by plane: it counts to the memory's end. */
static uint64_t find_end(struct device *device, const struct image *image, uint64_t begin)
{
    if (image->disjoint)
        return UINT64_MAX;
    VkMemoryRequirements needs;
    device->next.GetImageMemoryRequirements(device->handle, image->handle, &needs);
    return begin + needs.size;
}

/* An image that isn't known takes a place. */
static void note_unknown(struct device_sync *sync, VkDeviceMemory handle)
{
    struct memory *memory = memory_find(sync, handle);
    if (!memory)
        return;
    pthread_mutex_lock(&sync->memory_lock);
    give_up(memory);
    pthread_mutex_unlock(&sync->memory_lock);
}

/* After the call down has succeeded for this image. */
static void note_bind(struct device *device, struct image *image, VkDeviceMemory handle, uint64_t offset)
{
    struct device_sync *sync = device->sync;
    struct memory *memory = memory_find(sync, handle);
    if (!memory) {
        image_set_untracked(image, IMAGE_ALIASED);
        return;
    }
    uint64_t end = find_end(device, image, offset);
    struct memory_binding *binding = malloc(sizeof(*binding));
    pthread_mutex_lock(&sync->memory_lock);
    bool noted = bind(memory, image, offset, end, binding);
    pthread_mutex_unlock(&sync->memory_lock);
    if (!noted)
        free(binding);
}

VkResult hook_BindImageMemory(struct device *self, PFN_vkBindImageMemory next, VkDevice device, VkImage image,
                              VkDeviceMemory memory, VkDeviceSize memoryOffset)
{
    VkResult result = next(device, image, memory, memoryOffset);
    struct image *known = image_find(self->sync, image);
    if (result != VK_SUCCESS)
        return result;
    if (known)
        note_bind(self, known, memory, memoryOffset);
    else
        note_unknown(self->sync, memory);
    return result;
}

/* Spec, VkBindImageMemorySwapchainInfoKHR: the image gets the memory of one of the swapchain's. */
static void share_with_swapchain(struct device_sync *sync, struct image *image,
                                 const VkBindImageMemorySwapchainInfoKHR *info)
{
    image_set_untracked(image, IMAGE_ALIASED);
    struct swapchain *swapchain = swapchain_find(sync, info->swapchain);
    if (swapchain)
        swapchain_set_untracked(swapchain, IMAGE_ALIASED);
}

static void note_bind2(struct device *device, struct image *image, const VkBindImageMemoryInfo *info)
{
    struct device_sync *sync = device->sync;
    for (const VkBaseInStructure *structure = info->pNext; structure; structure = structure->pNext) {
        switch ((int)structure->sType) {
        case VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO:
        case COMPAT_STRUCTURE_TYPE_BIND_MEMORY_STATUS:
            break;
        case VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_DEVICE_GROUP_INFO:
            image_set_untracked(image, IMAGE_ALIASED); /* each device may see another's memory */
            break;
        case VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR:
            if (((const VkBindImageMemorySwapchainInfoKHR *)(const void *)structure)->swapchain) {
                share_with_swapchain(sync, image, (const void *)structure);
                return;
            }
            break;
        default:
            image_set_untracked(image, IMAGE_NEWER);
        }
    }
    note_bind(device, image, info->memory, info->memoryOffset);
}

/* Spec, vkBindImageMemory2: after an error, images without a status of their own must not be used. */
static bool was_bound(VkResult result, const VkBindImageMemoryInfo *info)
{
    const struct compat_bind_memory_status *status =
        chain_find(info->pNext, COMPAT_STRUCTURE_TYPE_BIND_MEMORY_STATUS);
    return status && status->pResult ? *status->pResult == VK_SUCCESS : result == VK_SUCCESS;
}

VkResult hook_BindImageMemory2(struct device *self, PFN_vkBindImageMemory2 next, VkDevice device,
                               uint32_t bindInfoCount, const VkBindImageMemoryInfo *pBindInfos)
{
    VkResult result = next(device, bindInfoCount, pBindInfos);
    for (uint32_t i = 0; i < bindInfoCount; i++) {
        struct image *image = image_find(self->sync, pBindInfos[i].image);
        if (!was_bound(result, &pBindInfos[i]))
            continue;
        if (image)
            note_bind2(self, image, &pBindInfos[i]);
        else
            note_unknown(self->sync, pBindInfos[i].memory);
    }
    return result;
}
