/* What the worker does for a device: load its store into a driver's cache, and save what was compiled. */
#ifndef RC_CACHE_PERSIST_H
#define RC_CACHE_PERSIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct device_cache;

/* These on the worker's thread, no lock held. False: the device went while a file operation hung (see
 * writer_files_end()); nothing but device_cache_free() may follow. */

/* Reads the ledger, then the read-only stores and the store, hands what is valid to the driver under the
 * crash guard and publishes the cache. Wakes whoever waits in device_cache_wait_loaded(), in every outcome.
 */
bool persist_load(struct device_cache *cache);

/* Saves if there is anything new: unites the device's caches, the harvests, and what another process wrote
 * meanwhile, in a private cache, and replaces the file. Writes the ledger if it changed. */
bool persist_save(struct device_cache *cache);

/* The last save, at the device's or the process's end: what the run proved by coming that far goes into the
 * ledger, too. */
bool persist_finish(struct device_cache *cache);

/* The whole data of a VkPipelineCache, from malloc; NULL with a reason in *problem, *size then being what the
 * driver promised. Data that came with VK_INCOMPLETE or an error counts as none. `max_size` bounds the
 * allocation. Any thread. */
void *persist_read_cache(struct device_cache *cache, VkPipelineCache handle, uint64_t max_size, size_t *size,
                         const char **problem);

#endif
