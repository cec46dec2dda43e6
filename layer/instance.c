#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

#include "chain.h"
#include "hooks.h"
#include "layer_name.h"
#include "sync/brake.h"

#define MAX_COMPLAINTS 16

/* Complaints about settings, kept until there is a report to write them to (its own file is a setting). */
struct complaints {
    char lines[MAX_COMPLAINTS][512];
    uint32_t count;
};

static void keep_complaint(void *context, const char *where, const char *what)
{
    struct complaints *complaints = context;
    if (complaints->count < MAX_COMPLAINTS)
        snprintf(complaints->lines[complaints->count++], sizeof(complaints->lines[0]), "%s: %s", where, what);
}

/* The loader's link for this layer: sType LOADER_INSTANCE_CREATE_INFO, function LAYER_LINK_INFO. */
static VkLayerInstanceCreateInfo *find_link(const VkInstanceCreateInfo *info)
{
    for (const VkLayerInstanceCreateInfo *link = info->pNext; link; link = link->pNext)
        if (link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
            link->function == VK_LAYER_LINK_INFO)
            return (VkLayerInstanceCreateInfo *)link;
    return NULL;
}

static bool names_extension(const VkInstanceCreateInfo *info, const char *name)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], name) == 0)
            return true;
    return false;
}

static enum report_level report_level_of(enum settings_log_level level)
{
    switch (level) {
    case SETTINGS_LOG_LEVEL_WARNING:
        return REPORT_WARNING;
    case SETTINGS_LOG_LEVEL_INFO:
        return REPORT_INFO;
    case SETTINGS_LOG_LEVEL_DEBUG:
        return REPORT_DEBUG;
    default:
        return REPORT_ERROR;
    }
}

/* What the layer does for a new instance: who the process is, the settings, the report. */
static void set_up(struct instance *instance, const VkInstanceCreateInfo *info)
{
    struct application_facts facts;
    application_probe(&facts);
    if (info->pApplicationInfo) {
        facts.application_name = info->pApplicationInfo->pApplicationName;
        facts.engine_name = info->pApplicationInfo->pEngineName;
    }
    struct complaints complaints = {.count = 0};
    settings_init(&instance->settings, info->pNext, &facts, keep_complaint, &complaints);
    const struct settings_values *values = &instance->settings.values;

    instance->wanted = application_wanted(&facts, values->only, values->skip);
    if (!instance->wanted)
        return;
    instance->secure = facts.secure;
    instance->browser = application_is_browser(&facts);
    application_name(&facts, values->app_id, instance->application);
    if (!facts.secure && values->dir)
        snprintf(instance->store_root, sizeof(instance->store_root), "%s", values->dir);
    else if (!application_store_root(&facts, application_environment, instance->store_root,
                                     sizeof(instance->store_root)))
        instance->store_root[0] = '\0';

    struct report_config config = {
        .level = report_level_of(values->log_level),
        .log_file = values->log_file,
        .report_file = values->report_file,
        .application = instance->application,
        .messenger = instance->debug_utils,
    };
    instance->report = report_create(&config);
    for (uint32_t i = 0; i < complaints.count; i++)
        report_log(instance->report, REPORT_ERROR, "%s", complaints.lines[i]);
    if (values->barriers == SETTINGS_BARRIERS_REPAIR && brake_is_on(instance)) {
        settings_only_report(&instance->settings);
        report_set_level(instance->report, report_level_of(values->log_level));
        brake_say(instance);
    }
}

static void destroy(struct instance *instance)
{
    report_destroy(instance->report);
    settings_finish(&instance->settings);
    free(instance);
}

VKAPI_ATTR VkResult VKAPI_CALL instance_create(const VkInstanceCreateInfo *pCreateInfo,
                                               const VkAllocationCallbacks *pAllocator, VkInstance *pInstance)
{
    VkLayerInstanceCreateInfo *link = find_link(pCreateInfo);
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next_get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance next_create = (PFN_vkCreateInstance)next_get(NULL, "vkCreateInstance");
    if (!next_create)
        return VK_ERROR_INITIALIZATION_FAILED;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;

    struct instance *instance = calloc(1, sizeof(*instance));
    if (!instance)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    instance->next_get = next_get;
    instance->debug_utils = names_extension(pCreateInfo, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    instance->properties2 =
        names_extension(pCreateInfo, VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME);
    instance->api_version = VK_API_VERSION_1_0;
    if (pCreateInfo->pApplicationInfo && pCreateInfo->pApplicationInfo->apiVersion)
        instance->api_version = pCreateInfo->pApplicationInfo->apiVersion;

    VkResult result = next_create(pCreateInfo, pAllocator, pInstance);
    if (result != VK_SUCCESS)
        goto fail_create;
    instance->handle = *pInstance;
    /* Resolved now: asked after vkCreateInstance has returned, loader 1.3.239 answers with the chain's head.
     */
    instance_dispatch_load(&instance->next, instance->handle, next_get);
    set_up(instance, pCreateInfo);
    if (!handles_insert(&instance_table, dispatch_key(instance->handle), instance)) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto fail_insert;
    }
    return VK_SUCCESS;

fail_insert:
    instance->next.DestroyInstance(instance->handle, pAllocator);
    *pInstance = VK_NULL_HANDLE;
fail_create:
    destroy(instance);
    return result;
}

void hook_DestroyInstance(struct instance *self, PFN_vkDestroyInstance next, VkInstance instance,
                          const VkAllocationCallbacks *pAllocator)
{
    handles_remove(&instance_table, dispatch_key(instance));
    next(instance, pAllocator);
    destroy(self);
}

/* Spec, vkGetPhysicalDeviceToolProperties: each tool that is a layer adds itself to what is reported below
 * it. */
VkResult hook_GetPhysicalDeviceToolProperties(struct instance *self,
                                              PFN_vkGetPhysicalDeviceToolProperties next,
                                              VkPhysicalDevice physicalDevice, uint32_t *pToolCount,
                                              VkPhysicalDeviceToolProperties *pToolProperties)
{
    (void)self;
    if (!pToolProperties) {
        VkResult result = next(physicalDevice, pToolCount, NULL);
        if (result == VK_SUCCESS)
            *pToolCount += 1;
        return result;
    }
    uint32_t room = *pToolCount;
    if (room == 0)
        return VK_INCOMPLETE;
    uint32_t below = room - 1;
    /* With room for ours alone, a count query tells whether anything below was left out. */
    VkResult result = next(physicalDevice, &below, below ? pToolProperties + 1 : NULL);
    if (result < 0)
        return result;
    if (room == 1 && below > 0) {
        result = VK_INCOMPLETE;
        below = 0;
    }
    VkPhysicalDeviceToolProperties *own = &pToolProperties[0];
    snprintf(own->name, sizeof(own->name), "%s", LAYER_NAME);
    snprintf(own->version, sizeof(own->version), "%s", RC_VERSION);
    own->purposes = VK_TOOL_PURPOSE_MODIFYING_FEATURES_BIT | VK_TOOL_PURPOSE_ADDITIONAL_FEATURES_BIT;
    snprintf(own->description, sizeof(own->description), "%s", LAYER_DESCRIPTION);
    snprintf(own->layer, sizeof(own->layer), "%s", LAYER_NAME);
    *pToolCount = below + 1;
    return result;
}

/* The loader holds its lock, one for the whole process, while it calls messengers. A messenger that calls
 * Vulkan comes back here, or makes another thread come here: whoever isn't first leaves the messages to the
 * one who is. */
static atomic_bool delivering;

void instance_after_fork(struct instance *instance)
{
    atomic_store(&delivering, false);
    report_after_fork(instance->report);
}

/* Faults of the application's are what validation would say; whatever else the layer says of its own work is
 * information, since nothing of it is the application's to mend. */
static void deliver(const struct instance *instance, const struct report_message *message)
{
    VkDebugUtilsMessageSeverityFlagBitsEXT severity =
        message->fault                  ? VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT
        : message->level <= REPORT_INFO ? VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT
                                        : VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT;
    VkDebugUtilsMessageTypeFlagsEXT type = message->fault ? VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT
                                                          : VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
    VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pMessageIdName = "robust_cache",
        .messageIdNumber = (int32_t)message->number,
        .pMessage = message->text,
    };
    instance->next.SubmitDebugUtilsMessageEXT(instance->handle, severity, type, &data);
}

void instance_deliver_messages(struct instance *instance)
{
    if (!instance->next.SubmitDebugUtilsMessageEXT || !report_has_messages(instance->report) ||
        atomic_exchange(&delivering, true))
        return;
    struct report_message message;
    while (report_take_message(instance->report, &message))
        deliver(instance, &message);
    atomic_store(&delivering, false);
}
