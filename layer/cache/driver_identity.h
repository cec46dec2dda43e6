/* The running device's identity, asked from Vulkan. */
#ifndef RC_CACHE_DRIVER_IDENTITY_H
#define RC_CACHE_DRIVER_IDENTITY_H

#include "identity.h"

struct device;

/* Fills every field; driverID and the driver's strings stay empty where Vulkan can't say (see the comment in
 * the body). */
void driver_identity_get(const struct device *device, struct cache_identity *out);

#endif
