#include "mock_loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vulkan/vk_icd.h>

#include "child.h"

#define LIVE_MAX 64

typedef VkResult(VKAPI_PTR *negotiate_driver)(uint32_t *version);

struct mock_loader_watch mock_loader_watch;

static const struct mock_loader *mock;
static PFN_vkGetInstanceProcAddr driver_get_instance_proc;

/* Handles that are alive. */
static struct {
    pthread_mutex_t lock;
    struct {
        void *handle;
        char word; /* its address is what the loader puts at a dispatchable object's beginning */
        bool is_device;
        PFN_vkGetDeviceProcAddr get_device_proc;
        PFN_vkVoidFunction destroy;
    } entries[LIVE_MAX];
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int live_index(const void *handle)
{
    for (int i = 0; i < LIVE_MAX; i++)
        if (live.entries[i].handle == handle)
            return i;
    return -1;
}

static int live_find(const void *handle, bool is_device)
{
    pthread_mutex_lock(&live.lock);
    int index = live_index(handle);
    bool fits = index >= 0 && live.entries[index].is_device == is_device;
    pthread_mutex_unlock(&live.lock);
    CHECK_MESSAGE(fits, "the layer used a handle that isn't alive");
    return index;
}

static void live_add(void *handle, bool is_device, PFN_vkGetDeviceProcAddr get, PFN_vkVoidFunction destroy)
{
    pthread_mutex_lock(&live.lock);
    int index = live_index(NULL);
    CHECK(index >= 0);
    live.entries[index].handle = handle;
    live.entries[index].is_device = is_device;
    live.entries[index].get_device_proc = get;
    live.entries[index].destroy = destroy;
    *(void **)handle = &live.entries[index].word;
    pthread_mutex_unlock(&live.lock);
}

static PFN_vkVoidFunction live_remove(void *handle)
{
    int index = live_find(handle, live.entries[live_index(handle)].is_device);
    pthread_mutex_lock(&live.lock);
    PFN_vkVoidFunction destroy = live.entries[index].destroy;
    live.entries[index].handle = NULL;
    pthread_mutex_unlock(&live.lock);
    return destroy;
}

/* --- Below the layer --- */

static VKAPI_ATTR VkResult VKAPI_CALL next_create_instance(const VkInstanceCreateInfo *info,
                                                           const VkAllocationCallbacks *allocator,
                                                           VkInstance *instance)
{
    const VkLayerInstanceCreateInfo *link = info->pNext;
    CHECK(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    CHECK_MESSAGE(!link->u.pLayerInfo, "the layer didn't advance the chain's link");
    if (mock_loader_watch.create_instance)
        mock_loader_watch.create_instance(info);
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)driver_get_instance_proc(VK_NULL_HANDLE, "vkCreateInstance");
    VkResult result = create(info, allocator, instance);
    if (result == VK_SUCCESS)
        live_add(*instance, false, NULL, driver_get_instance_proc(*instance, "vkDestroyInstance"));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL next_destroy_instance(VkInstance instance,
                                                        const VkAllocationCallbacks *allocator)
{
    ((PFN_vkDestroyInstance)live_remove(instance))(instance, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL next_enumerate_physical_devices(VkInstance instance, uint32_t *count,
                                                                      VkPhysicalDevice *devices)
{
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)driver_get_instance_proc(instance, "vkEnumeratePhysicalDevices");
    VkResult result = enumerate(instance, count, devices);
    for (uint32_t i = 0; devices && result >= 0 && i < *count; i++)
        *(void **)devices[i] = &live.entries[live_find(instance, false)].word;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL next_destroy_device(VkDevice device, const VkAllocationCallbacks *allocator)
{
    ((PFN_vkDestroyDevice)live_remove(device))(device, allocator);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL next_get_device_proc(VkDevice device, const char *name)
{
    int index = live_find(device, true);
    if (strcmp(name, "vkDestroyDevice") == 0)
        return (PFN_vkVoidFunction)next_destroy_device;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)next_get_device_proc;
    return live.entries[index].get_device_proc(device, name);
}

static VKAPI_ATTR VkResult VKAPI_CALL next_create_device(VkPhysicalDevice physical,
                                                         const VkDeviceCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkDevice *device)
{
    const VkLayerDeviceCreateInfo *link = info->pNext;
    while (link && link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO)
        link = link->pNext;
    CHECK(link);
    CHECK_MESSAGE(!link->u.pLayerInfo, "the layer didn't advance the chain's link");
    if (mock_loader_watch.create_device)
        mock_loader_watch.create_device(info);
    VkInstance instance = VK_NULL_HANDLE;
    for (int i = 0; i < LIVE_MAX && !instance; i++)
        if (live.entries[i].handle && &live.entries[i].word == *(void **)physical)
            instance = live.entries[i].handle;
    CHECK(instance);
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)driver_get_instance_proc(instance, "vkCreateDevice");
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)driver_get_instance_proc(instance, "vkGetDeviceProcAddr");
    VkResult result = create(physical, info, allocator, device);
    if (result == VK_SUCCESS)
        live_add(*device, true, get, get(*device, "vkDestroyDevice"));
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL next_get_tools(VkPhysicalDevice physical, uint32_t *count,
                                                     VkPhysicalDeviceToolProperties *tools)
{
    (void)physical;
    if (!tools) {
        *count = mock->tools;
        return VK_SUCCESS;
    }
    if (*count > mock->tools)
        *count = mock->tools;
    for (uint32_t i = 0; i < *count; i++) {
        CHECK(tools[i].sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES);
        snprintf(tools[i].name, sizeof(tools[i].name), "tool %u", i);
    }
    return *count < mock->tools ? VK_INCOMPLETE : VK_SUCCESS;
}

/* Vulkan specification, vkGetInstanceProcAddr: without an instance the global commands alone; with one,
 * everything but those. */
static bool is_global(const char *name)
{
    static const char *const names[] = {"vkCreateInstance", "vkEnumerateInstanceVersion",
                                        "vkEnumerateInstanceExtensionProperties",
                                        "vkEnumerateInstanceLayerProperties"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL next_get_instance_proc(VkInstance instance, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)next_get_instance_proc},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)next_get_device_proc},
        {"vkDestroyInstance", (PFN_vkVoidFunction)next_destroy_instance},
        {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)next_enumerate_physical_devices},
        {"vkCreateDevice", (PFN_vkVoidFunction)next_create_device},
        {"vkDestroyDevice", (PFN_vkVoidFunction)next_destroy_device},
        {"vkGetPhysicalDeviceToolProperties", (PFN_vkVoidFunction)next_get_tools},
    };
    if (!instance) {
        if (strcmp(name, "vkCreateInstance") == 0)
            return (PFN_vkVoidFunction)next_create_instance;
        return is_global(name) ? driver_get_instance_proc(VK_NULL_HANDLE, name) : NULL;
    }
    live_find(instance, false);
    if (is_global(name))
        return NULL;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].function;
    return driver_get_instance_proc(instance, name);
}

PFN_vkVoidFunction mock_loader_next_instance_proc(VkInstance instance, const char *name)
{
    return next_get_instance_proc(instance, name);
}

/* --- Above the layer --- */

void *mock_loader_page_end(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
    return memory + page - size;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL no_physical_device_proc(VkInstance instance, const char *name)
{
    (void)instance;
    (void)name;
    return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance)
{
    VkLayerInstanceLink desktop = {.pfnNextGetInstanceProcAddr = next_get_instance_proc,
                                   .pfnNextGetPhysicalDeviceProcAddr = no_physical_device_proc};
    const struct {
        VkLayerInstanceLink *pNext;
        PFN_vkGetInstanceProcAddr next;
    } android = {.next = next_get_instance_proc};
    VkLayerInstanceLink *layer = &desktop;
    if (mock->android) {
        layer = mock_loader_page_end(sizeof(android));
        memcpy(layer, &android, sizeof(android));
    }
    VkLayerInstanceCreateInfo link = {.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                                      .pNext = info->pNext,
                                      .function = VK_LAYER_LINK_INFO,
                                      .u.pLayerInfo = layer};
    VkInstanceCreateInfo linked = *info;
    linked.pNext = &link;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)mock->layer_get_instance_proc(VK_NULL_HANDLE, "vkCreateInstance");
    return create(&linked, allocator, instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *device)
{
    VkLayerDeviceLink layer = {.pfnNextGetInstanceProcAddr = next_get_instance_proc,
                               .pfnNextGetDeviceProcAddr = next_get_device_proc};
    VkLayerDeviceCreateInfo link = {.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                    .pNext = info->pNext,
                                    .function = VK_LAYER_LINK_INFO,
                                    .u.pLayerInfo = &layer};
    VkDeviceCreateInfo linked = *info;
    linked.pNext = &link;
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)mock->layer_get_instance_proc(VK_NULL_HANDLE, "vkCreateDevice");
    return create(physical, &linked, allocator, device);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkCreateInstance") == 0)
        return (PFN_vkVoidFunction)create_instance;
    if (strcmp(name, "vkCreateDevice") == 0)
        return (PFN_vkVoidFunction)create_device;
    return mock->layer_get_instance_proc(instance, name);
}

static void open_driver(const char *path)
{
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK_MESSAGE(driver, "%s", dlerror());
    negotiate_driver negotiate;
    uint32_t version = 5;
    *(void **)&negotiate = dlsym(driver, "vk_icdNegotiateLoaderICDInterfaceVersion");
    *(void **)&driver_get_instance_proc = dlsym(driver, "vk_icdGetInstanceProcAddr");
    CHECK(negotiate && driver_get_instance_proc && negotiate(&version) == VK_SUCCESS);
}

void mock_loader_load_layer(struct mock_loader *loader)
{
    void *library = dlopen(RC_LAYER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    CHECK_MESSAGE(library, "%s", dlerror());
    PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate;
    *(void **)&negotiate = dlsym(library, "vkNegotiateLoaderLayerInterfaceVersion");
    VkNegotiateLayerInterface interface = {.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT,
                                           .loaderLayerInterfaceVersion = 2};
    CHECK(negotiate && negotiate(&interface) == VK_SUCCESS && interface.loaderLayerInterfaceVersion == 2);
    loader->layer_get_instance_proc = interface.pfnGetInstanceProcAddr;
    loader->layer_get_device_proc = interface.pfnGetDeviceProcAddr;
}

void mock_loader_open(struct app *app, const struct mock_loader *loader)
{
    mock = loader;
    open_driver(loader->driver);
    memset(app, 0, sizeof(*app));
    app->GetInstanceProcAddr = get_instance_proc;
    app->CreateInstance = create_instance;
}
