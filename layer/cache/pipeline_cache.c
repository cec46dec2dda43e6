/* The hooks on VkPipelineCache objects: what goes down at creation, what comes back as data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enums.h"
#include "hooks.h"

#include "device_cache.h"
#include "persist.h"

#define GET_DATA_TRIES 3

/* --- Creation --- */

/* Remembers a cache of the application. On out of memory nothing is known of it, which only costs its guard
 * and its harvest. */
static void remember(struct device_cache *cache, VkPipelineCache handle, const struct app_cache *facts)
{
    struct app_cache *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return;
    *entry = *facts;
    entry->handle = handle;
    pthread_mutex_lock(&cache->lock);
    app_caches_add(&cache->app_caches, entry);
    pthread_mutex_unlock(&cache->lock);
}

/* The judgement, with what this run already knows against the data. */
static struct policy_decision judge(struct device_cache *cache, const VkPipelineCacheCreateInfo *info)
{
    struct ledger ledger; /* a copy: hashing a large blob must not hold up other threads */
    pthread_mutex_lock(&cache->lock);
    device_cache_wait_loaded(cache, false);
    ledger = cache->ledger;
    pthread_mutex_unlock(&cache->lock);
    struct policy_decision decision =
        policy_judge(info->pInitialData, info->initialDataSize, &cache->identity, cache->raw_blobs, &ledger,
                     clock_unix_seconds());
    if (decision.action != POLICY_PAYLOAD && decision.action != POLICY_RAW)
        return decision;
    pthread_mutex_lock(&cache->lock);
    if (device_cache_is_set_aside(cache, &decision.payload_hash)) {
        decision.action = POLICY_EMPTY;
        decision.reason = POLICY_QUARANTINED;
        snprintf(decision.problem, sizeof(decision.problem),
                 "the last run died on this data: set aside for this run");
    }
    pthread_mutex_unlock(&cache->lock);
    return decision;
}

static const char what_is_judged[] = "the application's cache data";

static void notice_dropped_data(struct device_cache *cache, VkPipelineCache handle, size_t payload_size)
{
    const struct device *device = cache->device;
    size_t size = 0;
    if (payload_size > cache->empty_size && cache->empty_size &&
        device->next.GetPipelineCacheData(device->handle, handle, &size, NULL) == VK_SUCCESS &&
        size <= cache->empty_size)
        device_cache_reject(cache, POLICY_DRIVER_DROPPED, what_is_judged,
                            "the driver took it and kept nothing of it");
}

/* Once more, after the driver returned an error for data, which the spec has it ignore. */
static VkResult retry_empty(struct device_cache *cache, PFN_vkCreatePipelineCache next, VkDevice device,
                            const VkPipelineCacheCreateInfo *info, const VkAllocationCallbacks *allocator,
                            VkPipelineCache *out)
{
    VkPipelineCacheCreateInfo empty = *info;
    empty.initialDataSize = 0;
    empty.pInitialData = NULL;
    pthread_mutex_lock(&cache->lock);
    cache->counters.retries++;
    pthread_mutex_unlock(&cache->lock);
    VkResult result = next(device, &empty, allocator, out);
    if (result == VK_SUCCESS)
        remember(cache, *out, &(struct app_cache){0});
    return result;
}

/* Data that isn't the layer's to judge, as it came. */
static VkResult create_untouched(struct device_cache *cache, PFN_vkCreatePipelineCache next, VkDevice device,
                                 const VkPipelineCacheCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkPipelineCache *out)
{
    VkResult result = next(device, info, allocator, out);
    if (result == VK_SUCCESS)
        remember(cache, *out, &(struct app_cache){0});
    if (result == VK_SUCCESS || info->initialDataSize == 0)
        return result;
    device_cache_reject(cache, POLICY_DRIVER_ERROR, what_is_judged, enum_VkResult_name(result));
    return retry_empty(cache, next, device, info, allocator, out);
}

/* Hands down the payload that the policy let through; without it if the driver returns an error. */
static VkResult create_with_payload(struct device_cache *cache, PFN_vkCreatePipelineCache next,
                                    VkDevice device, VkPipelineCacheCreateInfo *info,
                                    const struct policy_decision *decision,
                                    const VkAllocationCallbacks *allocator, VkPipelineCache *out)
{
    info->initialDataSize = decision->payload_size;
    int mark = decision->proven ? -1 : guarded_call_begin(cache, &decision->payload_hash);
    VkResult result = next(device, info, allocator, out);
    if (!decision->proven)
        guarded_call_end(cache, &decision->payload_hash, mark);
    if (result == VK_SUCCESS) {
        struct app_cache facts = {.guard = {.hash = decision->payload_hash, .unproven = !decision->proven}};
        notice_dropped_data(cache, *out, decision->payload_size);
        remember(cache, *out, &facts);
        return result;
    }
    device_cache_blame(cache, &decision->payload_hash, what_is_judged, result);
    return retry_empty(cache, next, device, info, allocator, out);
}

/* An application that never asks for cache data can't keep it either: its empty caches are filled from the
 * store, and what they hold at their end goes there. Whether it ever asked stands in the ledger. Called with
 * the lock held. */
static bool may_adopt(struct device_cache *cache, const VkPipelineCacheCreateInfo *info)
{
    if (!cache->adopt_empty || !cache->store || info->pNext)
        return false;
    device_cache_wait_loaded(cache, false);
    return cache->ledger_ready && !cache->ledger.asked && cache->adopted_now < DEVICE_CACHE_ADOPTED;
}

/* Creates the application's cache with what the store's holds now. Not by a merge: see
 * persist_merge_private() in persist.c. Anything but VK_SUCCESS means that nothing was created. */
static VkResult create_seeded(struct device_cache *cache, VkPipelineCache loaded,
                              PFN_vkCreatePipelineCache next, VkDevice device,
                              const VkPipelineCacheCreateInfo *info, const VkAllocationCallbacks *allocator,
                              VkPipelineCache *out, struct app_cache *facts)
{
    VkPipelineCacheCreateInfo seeded = *info;
    const char *problem;
    size_t size;
    void *data = persist_read_cache(cache, loaded, DEVICE_CACHE_ADOPTED_BYTES, &size, &problem);
    if (!data)
        return VK_INCOMPLETE;
    struct guarded *guard = &facts->guard;
    guard->hash = hash128_of(data, size);
    pthread_mutex_lock(&cache->lock);
    guard->unproven = !ledger_is_proven(&cache->ledger, &guard->hash);
    pthread_mutex_unlock(&cache->lock);
    seeded.initialDataSize = size;
    seeded.pInitialData = data;
    int mark = guard->unproven ? guarded_call_begin(cache, &guard->hash) : -1;
    VkResult result = next(device, &seeded, allocator, out);
    if (guard->unproven)
        guarded_call_end(cache, &guard->hash, mark);
    free(data);
    if (result != VK_SUCCESS) {
        *guard = (struct guarded){.unproven = false};
        return result;
    }
    facts->seeded = true;
    facts->seeded_bytes = size;
    pthread_mutex_lock(&cache->lock);
    cache->adopted_bytes += size;
    cache->counters.adopted++;
    pthread_mutex_unlock(&cache->lock);
    return result;
}

static VkResult create_empty(struct device_cache *cache, PFN_vkCreatePipelineCache next, VkDevice device,
                             const VkPipelineCacheCreateInfo *info, const VkAllocationCallbacks *allocator,
                             VkPipelineCache *out)
{
    struct app_cache facts = {.adopted = false};
    VkPipelineCache loaded = VK_NULL_HANDLE;
    pthread_mutex_lock(&cache->lock);
    facts.adopted = may_adopt(cache, info);
    cache->adopted_now += facts.adopted;
    if (facts.adopted) {
        device_cache_wait_loaded(cache, true);
        if (cache->adopted_bytes + cache->counters.loaded_bytes <= DEVICE_CACHE_ADOPTED_BYTES)
            loaded = cache->loaded;
    }
    pthread_mutex_unlock(&cache->lock);
    VkResult result =
        loaded ? create_seeded(cache, loaded, next, device, info, allocator, out, &facts) : VK_INCOMPLETE;
    if (result != VK_SUCCESS)
        result = next(device, info, allocator, out);
    if (result == VK_SUCCESS) {
        remember(cache, *out, &facts);
    } else if (facts.adopted) {
        pthread_mutex_lock(&cache->lock);
        cache->adopted_now--;
        pthread_mutex_unlock(&cache->lock);
    }
    return result;
}

VkResult hook_CreatePipelineCache(struct device *self, PFN_vkCreatePipelineCache next, VkDevice device,
                                  const VkPipelineCacheCreateInfo *pCreateInfo,
                                  const VkAllocationCallbacks *pAllocator, VkPipelineCache *pPipelineCache)
{
    struct device_cache *cache = self->cache;
    if (!cache)
        return next(device, pCreateInfo, pAllocator, pPipelineCache);
    VkPipelineCacheCreateInfo info = *pCreateInfo;
    VkResult result;
    struct policy_decision decision = {.action = POLICY_EMPTY, .reason = POLICY_NO_DATA};
    if (cache->no_envelope)
        decision.action = POLICY_UNTOUCHED;
    else if (info.initialDataSize)
        decision = judge(cache, pCreateInfo);
    if (decision.action == POLICY_UNTOUCHED) {
        result = create_untouched(cache, next, device, pCreateInfo, pAllocator, pPipelineCache);
    } else if (decision.action == POLICY_EMPTY) {
        info.initialDataSize = 0;
        info.pInitialData = NULL;
        if (decision.reason != POLICY_NO_DATA && decision.reason != POLICY_HOLLOW)
            device_cache_reject(cache, decision.reason, what_is_judged, decision.problem);
        result = create_empty(cache, next, device, &info, pAllocator, pPipelineCache);
    } else {
        result = create_with_payload(cache, next, device, &info, &decision, pAllocator, pPipelineCache);
    }
    instance_deliver_messages(self->instance);
    return result;
}

/* --- Destruction --- */

/* Inside the application's own call, so that a cache which it synchronises itself may be read. */
static void harvest(struct device_cache *cache, VkPipelineCache handle)
{
    const struct device *device = cache->device;
    size_t size = 0;
    if (device->next.GetPipelineCacheData(device->handle, handle, &size, NULL) != VK_SUCCESS ||
        size <= cache->empty_size || size > DEVICE_CACHE_HARVEST_BYTES)
        return;
    struct harvest *harvest = malloc(sizeof(*harvest) + size);
    if (!harvest)
        return;
    harvest->size = size;
    pthread_mutex_lock(&cache->lock);
    bool room = cache->harvest_count < DEVICE_CACHE_HARVESTS;
    pthread_mutex_unlock(&cache->lock);
    if (!room ||
        device->next.GetPipelineCacheData(device->handle, handle, &harvest->size, harvest->data) !=
            VK_SUCCESS ||
        harvest->size > size || !policy_header_matches(harvest->data, harvest->size, &cache->identity)) {
        free(harvest);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    if (cache->harvest_count < DEVICE_CACHE_HARVESTS) {
        harvest->next = cache->harvests;
        cache->harvests = harvest;
        cache->harvest_count++;
        harvest = NULL;
    }
    pthread_mutex_unlock(&cache->lock);
    free(harvest);
    writer_cache_changed(cache);
}

void hook_DestroyPipelineCache(struct device *self, PFN_vkDestroyPipelineCache next, VkDevice device,
                               VkPipelineCache pipelineCache, const VkAllocationCallbacks *pAllocator)
{
    struct device_cache *cache = self->cache;
    if (cache && pipelineCache) {
        pthread_mutex_lock(&cache->lock);
        struct app_cache *entry = app_caches_remove(&cache->app_caches, pipelineCache);
        bool asked = cache->ledger.asked;
        if (entry && entry->adopted) {
            cache->adopted_now--;
            cache->adopted_bytes -= entry->seeded_bytes;
        }
        pthread_mutex_unlock(&cache->lock);
        if (entry && entry->adopted && entry->dirty && !entry->poisoned && !asked)
            harvest(cache, pipelineCache);
        if (entry)
            guarded_finish(cache, &entry->guard);
        free(entry);
    }
    next(device, pipelineCache, pAllocator);
}

/* --- Data --- */

/* The application keeps its own data; and this piece of it has left through the layer, whatever becomes of
 * its envelope. */
static void note_left(struct device_cache *cache, size_t size, const struct hash128 *hash)
{
    pthread_mutex_lock(&cache->lock);
    bool news = !cache->ledger.asked;
    cache->ledger.asked = true;
    if (hash && !ledger_has_left(&cache->ledger, size, hash)) {
        ledger_add_left(&cache->ledger, size, hash);
        news = true;
    }
    pthread_mutex_unlock(&cache->lock);
    if (news)
        writer_ledger_changed(cache);
}

static VkResult query_size(struct device_cache *cache, PFN_vkGetPipelineCacheData next, VkDevice device,
                           VkPipelineCache handle, size_t *size)
{
    VkResult result = next(device, handle, size, NULL);
    if (result == VK_SUCCESS && !cache->strip && *size <= SIZE_MAX - ENVELOPE_SIZE)
        *size += ENVELOPE_SIZE;
    return result;
}

/* One piece of data that the driver wrote into the application's buffer. Returns its size with the envelope,
 * if that has its place there: behind a whole payload with a header of version one. */
static size_t finish_data(struct device_cache *cache, unsigned char *data, size_t written, size_t room,
                          bool whole)
{
    struct hash128 hash = hash128_of(data, written);
    note_left(cache, written, &hash);
    if (!whole || cache->strip || room - written < ENVELOPE_SIZE ||
        !policy_header_matches(data, written, &cache->identity))
        return written;
    envelope_seal(data + written, &cache->identity, written, &hash);
    return written + ENVELOPE_SIZE;
}

/* The driver gets what it asked for, never the application's larger size; what counts is what it wrote, not
 * what it promised. */
static VkResult fetch_data(struct device_cache *cache, PFN_vkGetPipelineCacheData next, VkDevice device,
                           VkPipelineCache handle, size_t *size, unsigned char *data)
{
    size_t room = *size, written = 0;
    VkResult result = VK_INCOMPLETE;
    for (int i = 0; i < GET_DATA_TRIES && result == VK_INCOMPLETE; i++) {
        size_t promised = 0;
        result = next(device, handle, &promised, NULL);
        if (result != VK_SUCCESS)
            return result;
        size_t asked = promised < room ? promised : room;
        written = asked;
        result = next(device, handle, &written, data);
        if (result < 0)
            return result;
        if (written > asked)
            written = asked;
        if (asked < promised) {
            result = VK_INCOMPLETE;
            break; /* the application's buffer is the limit: another try would give the same */
        }
    }
    *size = finish_data(cache, data, written, room, result == VK_SUCCESS);
    bool envelope_missing =
        *size == written && !cache->strip && policy_header_matches(data, written, &cache->identity);
    return envelope_missing ? VK_INCOMPLETE : result;
}

VkResult hook_GetPipelineCacheData(struct device *self, PFN_vkGetPipelineCacheData next, VkDevice device,
                                   VkPipelineCache pipelineCache, size_t *pDataSize, void *pData)
{
    struct device_cache *cache = self->cache;
    if (!cache || cache->no_envelope)
        return next(device, pipelineCache, pDataSize, pData);
    VkResult result;
    if (!pData) {
        note_left(cache, 0, NULL);
        result = query_size(cache, next, device, pipelineCache, pDataSize);
    } else if (*pDataSize < POLICY_HEADER_SIZE) {
        /* Spec, vkGetPipelineCacheData: "If pDataSize is less than what is necessary to store this header,
         * nothing will be written to pData and zero will be written to pDataSize." */
        *pDataSize = 0;
        result = VK_INCOMPLETE;
    } else {
        result = fetch_data(cache, next, device, pipelineCache, pDataSize, pData);
    }
    instance_deliver_messages(self->instance);
    return result;
}

/* --- Merging --- */

VkResult hook_MergePipelineCaches(struct device *self, PFN_vkMergePipelineCaches next, VkDevice device,
                                  VkPipelineCache dstCache, uint32_t srcCacheCount,
                                  const VkPipelineCache *pSrcCaches)
{
    struct device_cache *cache = self->cache;
    VkResult result = next(device, dstCache, srcCacheCount, pSrcCaches);
    if (!cache || result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&cache->lock);
    struct app_cache *into = app_caches_find(&cache->app_caches, dstCache);
    for (uint32_t i = 0; into && i < srcCacheCount; i++) {
        const struct app_cache *from = app_caches_find(&cache->app_caches, pSrcCaches[i]);
        into->dirty = true;
        if (from && from->guard.unproven && !into->guard.unproven && !into->guard.users)
            into->guard = (struct guarded){.hash = from->guard.hash, .unproven = true};
    }
    pthread_mutex_unlock(&cache->lock);
    return result;
}
