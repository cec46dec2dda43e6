#include "persist_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "enums.h"

#define GET_DATA_TRIES 3 /* a cache that pipelines use may grow between the two calls */

/* One line is enough for a folder that can't be read, a disk that stays full. */
void persist_say_trouble(struct device_cache *cache, const struct store_problem *problem)
{
    if (!problem->text[0])
        return;
    pthread_mutex_lock(&cache->lock);
    bool first = !cache->trouble_said;
    cache->trouble_said = true;
    pthread_mutex_unlock(&cache->lock);
    if (first)
        report_log(cache->report, REPORT_WARNING, "%s", problem->text);
}

static void keep_private(struct device_cache *cache, VkPipelineCache handle)
{
    for (uint32_t i = 0; i < DEVICE_CACHE_PRIVATE; i++)
        if (!cache->private_caches[i]) {
            cache->private_caches[i] = handle;
            return;
        }
}

void persist_forget_private(struct device_cache *cache, VkPipelineCache handle)
{
    for (uint32_t i = 0; i < DEVICE_CACHE_PRIVATE; i++)
        if (cache->private_caches[i] == handle)
            cache->private_caches[i] = VK_NULL_HANDLE;
}

static VkPipelineCache create_cache(struct device_cache *cache, const void *data, size_t size,
                                    VkResult *result)
{
    const struct device *device = cache->device;
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = size, .pInitialData = data};
    VkPipelineCache out = VK_NULL_HANDLE;
    *result = device->next.CreatePipelineCache(device->handle, &info, NULL, &out);
    if (*result != VK_SUCCESS)
        return VK_NULL_HANDLE;
    keep_private(cache, out);
    return out;
}

void persist_destroy_cache(struct device_cache *cache, VkPipelineCache handle)
{
    persist_forget_private(cache, handle);
    cache->device->next.DestroyPipelineCache(cache->device->handle, handle, NULL);
}

size_t persist_data_size(struct device_cache *cache, VkPipelineCache handle)
{
    size_t size = 0;
    const struct device *device = cache->device;
    return device->next.GetPipelineCacheData(device->handle, handle, &size, NULL) == VK_SUCCESS ? size : 0;
}

void *persist_read_cache(struct device_cache *cache, VkPipelineCache handle, uint64_t max_size, size_t *size,
                         const char **problem)
{
    const struct device *device = cache->device;
    *problem = "the driver kept answering VK_INCOMPLETE";
    for (int i = 0; i < GET_DATA_TRIES; i++) {
        VkResult result = device->next.GetPipelineCacheData(device->handle, handle, size, NULL);
        if (result != VK_SUCCESS) {
            *problem = enum_VkResult_name(result);
            return NULL;
        }
        if (*size > max_size) {
            *problem = "it is larger than max_size allows";
            return NULL;
        }
        size_t room = *size;
        void *data = malloc(room ? room : 1);
        if (!data) {
            *problem = "out of memory";
            return NULL;
        }
        result = device->next.GetPipelineCacheData(device->handle, handle, size, data);
        if (result == VK_SUCCESS && *size <= room)
            return data;
        free(data);
        if (result != VK_INCOMPLETE) {
            *problem = result == VK_SUCCESS ? "the driver wrote more than it was asked for"
                                            : enum_VkResult_name(result);
            return NULL;
        }
    }
    return NULL;
}

/* Merges one private cache into another and destroys it. Only private ones: a cache that pipelines use is
 * never a merge's destination, which the application would have to synchronise, nor its source: RADV of
 * Mesa 22.3 moves the entries out of the source, without a lock. */
bool persist_merge_private(struct device_cache *cache, VkPipelineCache into, VkPipelineCache from)
{
    const struct device *device = cache->device;
    VkResult result = device->next.MergePipelineCaches(device->handle, into, 1, &from);
    persist_destroy_cache(cache, from);
    if (result != VK_SUCCESS) {
        struct store_problem trouble;
        snprintf(trouble.text, sizeof(trouble.text), "the driver fails to merge caches: %s",
                 enum_VkResult_name(result));
        persist_say_trouble(cache, &trouble);
    }
    return result == VK_SUCCESS;
}

/* Whether a payload may go down; *proven: the driver is known to survive it. */
enum verdict_of_hash persist_judge_hash(struct device_cache *cache, const struct hash128 *hash, bool *proven)
{
    pthread_mutex_lock(&cache->lock);
    enum verdict_of_hash verdict = device_cache_is_set_aside(cache, hash) ? HASH_SET_ASIDE : HASH_GOOD;
    if (ledger_quarantine_of(&cache->ledger, hash, clock_unix_seconds()) != LEDGER_NOT_QUARANTINED)
        verdict = HASH_QUARANTINED;
    *proven = ledger_is_proven(&cache->ledger, hash);
    pthread_mutex_unlock(&cache->lock);
    return verdict;
}

/* Hands a validated payload to the driver, guarded unless proven. */
enum step persist_create_cache(struct device_cache *cache, const struct store_blob *blob, bool proven,
                               const char *what, VkPipelineCache *out)
{
    VkResult result;
    int mark = -1;
    if (!proven) {
        writer_files_begin(cache);
        mark = guarded_call_begin(cache, &blob->hash);
        if (!writer_files_end(cache))
            return STEP_GONE;
    }
    *out = create_cache(cache, blob->data, blob->size, &result);
    if (!proven) {
        writer_files_begin(cache);
        guarded_call_end(cache, &blob->hash, mark);
        if (!writer_files_end(cache))
            return STEP_GONE;
    }
    if (!*out)
        return device_cache_blame(cache, &blob->hash, what, result) ? STEP_NOTHING : STEP_FAILED;
    if (blob->size > cache->empty_size && persist_data_size(cache, *out) <= cache->empty_size) {
        device_cache_reject(cache, POLICY_DRIVER_DROPPED, what, "the driver took it and kept nothing of it");
        persist_destroy_cache(cache, *out);
        return STEP_NOTHING;
    }
    return STEP_DONE;
}
