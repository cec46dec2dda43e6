/* State of one VkInstance. */
#ifndef RC_INSTANCE_H
#define RC_INSTANCE_H

#include <stdatomic.h>

#include "application.h"
#include "dispatch.h"
#include "handles.h"
#include "report.h"
#include "settings.h"

struct instance {
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next_get; /* the next layer's vkGetInstanceProcAddr */
    struct instance_dispatch next;
    uint32_t api_version; /* VkApplicationInfo::apiVersion; 1.0 where it is 0 or absent */
    bool wanted;          /* false: a process the layer leaves alone; then nothing below is set up */
    bool debug_utils;     /* the application enabled VK_EXT_debug_utils */
    bool properties2;     /* ... VK_KHR_get_physical_device_properties2 */
    bool browser;         /* application_is_browser() */
    bool secure;          /* application_facts::secure */
    struct settings settings;
    struct report *report; /* NULL on out of memory; report.h accepts that */
    char application[APPLICATION_NAME_SIZE];
    char store_root[4096]; /* empty: nothing may be written */
    atomic_bool brake_set; /* a device was lost after repairs; see sync/brake.h */
};

/* The state behind a VkInstance or VkPhysicalDevice. */
static inline struct instance *instance_of(const void *handle)
{
    return (struct instance *)handles_find(&instance_table, dispatch_key(handle));
}

/* vkCreateInstance as the loader calls it. Spec: "Instances"; loader-layer interface: the chain's link is
 * advanced before the call goes down. */
VKAPI_ATTR VkResult VKAPI_CALL instance_create(const VkInstanceCreateInfo *pCreateInfo,
                                               const VkAllocationCallbacks *pAllocator,
                                               VkInstance *pInstance);

/* Hands waiting messages to the application's messengers. To be called from hooks where neither the layer nor
 * the loader holds a lock: not from create or destroy calls of instances and devices. Does nothing while a
 * messenger runs, on this thread or another: then they wait for the next hook. */
void instance_deliver_messages(struct instance *instance);

/* In the child of a fork(): locks and messages were the parent's. */
void instance_after_fork(struct instance *instance);

#endif
