#include "driver_identity.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device.h"

struct module {
    char *name;
    bool has_address;
    uint32_t build_id_size;
    uint8_t build_id[IDENTITY_BUILD_ID_SIZE];
};

struct module_list {
    const void *address; /* looked for */
    struct module *modules;
    size_t count, room;
};

/* Notes: name size, description size, type, then both padded to 4 bytes. The build ID is the description. */
static void read_build_id(struct module *module, const uint8_t *notes, size_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof(note));
        size_t name = (note.n_namesz + 3u) & ~(size_t)3, description = (note.n_descsz + 3u) & ~(size_t)3;
        if (sizeof(note) + name + description > size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + sizeof(note), "GNU", 4) == 0 && note.n_descsz <= IDENTITY_BUILD_ID_SIZE) {
            module->build_id_size = note.n_descsz;
            memcpy(module->build_id, notes + sizeof(note) + name, note.n_descsz);
            return;
        }
        notes += sizeof(note) + name + description;
        size -= sizeof(note) + name + description;
    }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct module_list *list = context;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct module *grown = realloc(list->modules, room * sizeof(*grown));
        if (!grown)
            return 1;
        list->modules = grown;
        list->room = room;
    }
    struct module module = {.name = strdup(info->dlpi_name ? info->dlpi_name : "")};
    if (!module.name)
        return 1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (uintptr_t)list->address >= begin &&
            (uintptr_t)list->address - begin < header->p_memsz)
            module.has_address = true;
        if (header->p_type == PT_NOTE)
            read_build_id(&module, (const uint8_t *)begin, header->p_memsz);
    }
    list->modules[list->count++] = module;
    return 0;
}

/* Whether a loaded library is a Vulkan driver, by the loader's own criterion. */
static bool is_driver(const struct module *module)
{
    if (!module->name[0] || !module->build_id_size)
        return false;
    void *library = dlopen(module->name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    bool found = dlsym(library, "vk_icdGetInstanceProcAddr") != NULL;
    dlclose(library);
    return found;
}

/* The driver is the library that the next function lies in, if that is one; else (another layer is below, or
 * the driver consists of several libraries) the only driver that is loaded. With several loaded nothing is
 * known. */
static void find_build_id(const void *next_function, struct cache_identity *out)
{
    struct module_list list = {.address = next_function};
    dl_iterate_phdr(add_module, &list);
    const struct module *found = NULL;
    size_t drivers = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (!is_driver(&list.modules[i]))
            continue;
        drivers++;
        if (list.modules[i].has_address) {
            found = &list.modules[i];
            drivers = 1;
            break;
        }
        found = &list.modules[i];
    }
    if (found && drivers == 1) {
        out->build_id_size = found->build_id_size;
        memcpy(out->build_id, found->build_id, sizeof(out->build_id));
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.modules[i].name);
    free(list.modules);
}

void driver_identity_get(const struct device *device, struct cache_identity *out)
{
    const struct instance *instance = device->instance;
    VkPhysicalDeviceProperties properties;
    instance->next.GetPhysicalDeviceProperties(device->physical, &properties);
    memset(out, 0, sizeof(*out));
    out->vendor_id = properties.vendorID;
    out->device_id = properties.deviceID;
    out->driver_version = properties.driverVersion;
    memcpy(out->cache_uuid, properties.pipelineCacheUUID, IDENTITY_UUID_SIZE);
    out->abi = identity_abi();

    /* An application of Vulkan 1.0 that doesn't enable VK_KHR_get_physical_device_properties2 leaves driverID
     * and the strings unknown, the same in each of its runs: the loader answers by the application's own
     * instance, so the layer can't ask on its behalf. Its store then rests on the fields above. What decides
     * is what the application enabled: a layer below may have the command in any case. */
    PFN_vkGetPhysicalDeviceProperties2 get_properties2 = NULL;
    if (instance->api_version >= VK_API_VERSION_1_1)
        get_properties2 = instance->next.GetPhysicalDeviceProperties2;
    else if (instance->properties2)
        get_properties2 = instance->next.GetPhysicalDeviceProperties2KHR;
    if (get_properties2 && (properties.apiVersion >= VK_API_VERSION_1_2 ||
                            device_offers_extension(device, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME))) {
        VkPhysicalDeviceDriverProperties driver = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
        VkPhysicalDeviceProperties2 properties2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                                   .pNext = &driver};
        get_properties2(device->physical, &properties2);
        out->driver_id = (uint32_t)driver.driverID;
        snprintf(out->driver_name, sizeof(out->driver_name), "%s", driver.driverName);
        snprintf(out->driver_info, sizeof(out->driver_info), "%s", driver.driverInfo);
    }
    find_build_id((const void *)device->next.CreatePipelineCache, out);
}
