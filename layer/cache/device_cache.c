#include "device_cache.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../chain.h"
#include "driver_identity.h"
#include "enums.h"

#define EMPTY_SIZE_MAX 65536 /* bytes of an empty cache that are worth a look */
#define LOAD_TIMEOUT_MIN_NS (CLOCK_NS_PER_SECOND / 5)
#define LOAD_TIMEOUT_MAX_NS (3 * CLOCK_NS_PER_SECOND)
#define LOAD_NS_PER_BYTE 20 /* 50 MB/s */
/* How long vkCreateDevice waits for the load. Most stores are there within this time; and an application that
 * creates pipelines at once would otherwise compete with the worker for the process's page tables (measured:
 * 0.3 ms more on RADV). */
#define CREATE_WAIT_NS (2 * 1000000ull)

static void init_locks(struct device_cache *cache)
{
    pthread_mutex_init(&cache->lock, NULL);
    clock_init_condition(&cache->loaded_changed);
}

static bool internal_cache_disabled(const VkDeviceCreateInfo *info)
{
    const struct compat_device_pipeline_binary_internal_cache_control *control =
        chain_find(info->pNext, COMPAT_STRUCTURE_TYPE_DEVICE_PIPELINE_BINARY_INTERNAL_CACHE_CONTROL);
    return control && control->disableInternalCache;
}

/* Whether cache data has a header of another version than one. Data that doesn't tell is taken for version
 * one: each blob is looked at again before anything is done with it. NVIDIA writes nothing into a buffer that
 * can't hold all, so all is asked for. */
static bool has_other_header(struct device_cache *cache, VkPipelineCache handle, size_t size)
{
    const struct device *device = cache->device;
    uint32_t head[2] = {0, VK_PIPELINE_CACHE_HEADER_VERSION_ONE};
    unsigned char *data = size <= EMPTY_SIZE_MAX ? malloc(size + 1) : NULL;
    if (data && device->next.GetPipelineCacheData(device->handle, handle, &size, data) == VK_SUCCESS &&
        size >= sizeof(head))
        memcpy(head, data, sizeof(head));
    free(data);
    return head[1] != VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
}

/* An empty cache; and what such a one gives out: how many bytes, to compare a cache with data with later, and
 * which header. */
static VkPipelineCache create_live(struct device_cache *cache)
{
    const struct device *device = cache->device;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache live;
    if (device->next.CreatePipelineCache(device->handle, &info, NULL, &live) != VK_SUCCESS)
        return VK_NULL_HANDLE;
    size_t size = 0;
    if (device->next.GetPipelineCacheData(device->handle, live, &size, NULL) == VK_SUCCESS) {
        cache->empty_size = size;
        cache->no_envelope = has_other_header(cache, live, size);
    }
    report_log(cache->report, REPORT_DEBUG, "an empty cache of this driver has %llu bytes",
               (unsigned long long)size);
    return live;
}

static struct store *create_store(struct device_cache *cache, const char *root, bool read_only)
{
    const struct instance *instance = cache->device->instance;
    const struct settings_values *values = &instance->settings.values;
    struct store_config config = {
        .root = root,
        .application = values->scope == SETTINGS_SCOPE_SHARED ? "shared" : instance->application,
        .identity = &cache->identity,
        .max_size = values->max_size,
        .total_size = values->total_size,
        .read_only = read_only,
    };
    struct store *store;
    int error = store_create(&store, &config);
    if (error) {
        report_log(cache->report, REPORT_WARNING, "setting 'dir' or 'read_dirs': %s: %s", root,
                   strerror(-error));
        return NULL;
    }
    return store;
}

/* One folder of `read_dirs`, perhaps with spaces around it. False: no more of them. */
static bool create_read_store(struct device_cache *cache, const char *dir, size_t length)
{
    char root[4096];
    for (; length && isspace((unsigned char)dir[0]); length--)
        dir++;
    while (length && isspace((unsigned char)dir[length - 1]))
        length--;
    if (!length)
        return true;
    if (dir[0] != '/' || length >= sizeof(root)) {
        report_log(cache->report, REPORT_ERROR,
                   "setting 'read_dirs': '%.*s' is not an absolute path of at most %zu bytes: ignored",
                   length < 64 ? (int)length : 64, dir, sizeof(root) - 1);
        return true;
    }
    if (cache->read_store_count == DEVICE_CACHE_READ_DIRS) {
        report_log(cache->report, REPORT_ERROR,
                   "setting 'read_dirs': more than %d folders: '%.*s' and what follows ignored",
                   DEVICE_CACHE_READ_DIRS, length < 64 ? (int)length : 64, dir);
        return false;
    }
    memcpy(root, dir, length);
    root[length] = '\0';
    struct store *store = create_store(cache, root, true);
    if (store)
        cache->read_stores[cache->read_store_count++] = store;
    return true;
}

/* Folders of `read_dirs`, separated by commas or colons. */
static void create_read_stores(struct device_cache *cache, const char *dirs)
{
    while (dirs && *dirs) {
        size_t length = strcspn(dirs, ",:");
        if (!create_read_store(cache, dirs, length))
            return;
        dirs += length;
        dirs += *dirs != '\0';
    }
}

static void create_stores(struct device_cache *cache)
{
    const struct instance *instance = cache->device->instance;
    const struct settings_values *values = &instance->settings.values;
    if (!instance->secure)
        create_read_stores(cache, values->read_dirs);
    if (values->persist == SETTINGS_PERSIST_AUTO && instance->browser) {
        report_log(cache->report, REPORT_INFO,
                   "a browser or Electron program: nothing is kept on disk (persist=on changes that)");
        return;
    }
    if (!instance->store_root[0]) {
        report_log(cache->report, REPORT_INFO,
                   "no folder for the store: pipelines are shared in memory only");
        return;
    }
    cache->read_only = values->persist == SETTINGS_PERSIST_OFF;
    cache->store = create_store(cache, instance->store_root, cache->read_only);
}

static void report_device(struct device_cache *cache)
{
    char directory[IDENTITY_DIRECTORY_SIZE];
    struct report_event event;
    identity_directory(&cache->identity, directory);
    report_event_begin(&event, cache->report, "device");
    report_event_string(&event, "identity", directory);
    report_event_number(&event, "vendor_id", cache->identity.vendor_id);
    report_event_number(&event, "device_id", cache->identity.device_id);
    report_event_number(&event, "driver_version", cache->identity.driver_version);
    report_event_string(&event, "driver_name", cache->identity.driver_name);
    report_event_string(&event, "driver_info", cache->identity.driver_info);
    report_event_string(&event, "store", cache->store ? cache->device->instance->store_root : "");
    report_event_end(&event, cache->report);
}

/* Waits, with the lock held, until the worker has done something or a point in time has passed. */
static void wait_until(struct device_cache *cache, const bool *done, uint64_t deadline_ns)
{
    struct timespec until = clock_timespec(deadline_ns);
    while (!*done && pthread_cond_timedwait(&cache->loaded_changed, &cache->lock, &until) == 0)
        ;
}

struct device_cache *device_cache_create(struct device *device, const VkDeviceCreateInfo *info)
{
    const struct device_dispatch *next = &device->next;
    const struct settings_values *values = &device->instance->settings.values;
    if (!next->CreatePipelineCache || !next->DestroyPipelineCache || !next->GetPipelineCacheData ||
        !next->MergePipelineCaches)
        return NULL;
    struct device_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->device = device;
    cache->report = device->instance->report;
    init_locks(cache);
    driver_identity_get(device, &cache->identity);
    cache->raw_blobs = (enum raw_blobs)values->raw_blobs;
    cache->strip = values->envelope == SETTINGS_ENVELOPE_STRIP;
    cache->adopt_empty = values->adopt_empty;
    cache->load_timeout_ns = (uint64_t)values->load_timeout * 1000000;
    cache->save_interval_ns = (uint64_t)values->save_interval * CLOCK_NS_PER_SECOND;
    cache->max_size = values->max_size;
    cache->substitute = values->substitute != SETTINGS_SUBSTITUTE_OFF && !internal_cache_disabled(info);
    cache->live = create_live(cache);
    if (cache->no_envelope)
        report_log(cache->report, REPORT_INFO,
                   "this driver's cache data has no header of version one: it is left alone");
    else
        create_stores(cache);
    report_device(cache);

    cache->load_begin_ns = clock_monotonic_ns();
    if ((cache->store || cache->read_store_count) && !writer_add(cache)) {
        report_log(cache->report, REPORT_WARNING,
                   "no thread for loading and saving: pipelines are shared in memory only");
        store_destroy(cache->store);
        cache->store = NULL;
    }
    pthread_mutex_lock(&cache->lock);
    if (!cache->job.listed)
        cache->ledger_ready = cache->load_done = true;
    wait_until(cache, &cache->load_done, cache->load_begin_ns + CREATE_WAIT_NS);
    pthread_mutex_unlock(&cache->lock);
    return cache;
}

static uint64_t load_deadline_ns(const struct device_cache *cache)
{
    if (cache->load_timeout_ns)
        return cache->load_begin_ns + cache->load_timeout_ns;
    uint64_t timeout = cache->load_size > LOAD_TIMEOUT_MAX_NS / LOAD_NS_PER_BYTE
                           ? LOAD_TIMEOUT_MAX_NS
                           : cache->load_size * LOAD_NS_PER_BYTE;
    return cache->load_begin_ns + (timeout < LOAD_TIMEOUT_MIN_NS ? LOAD_TIMEOUT_MIN_NS : timeout);
}

void device_cache_wait_loaded(struct device_cache *cache, bool for_cache)
{
    const bool *done = for_cache ? &cache->load_done : &cache->ledger_ready;
    uint64_t size;
    do {
        size = cache->load_size; /* the deadline moves once it is known */
        wait_until(cache, done, load_deadline_ns(cache));
    } while (!*done && size != cache->load_size);
}

void device_cache_reject(struct device_cache *cache, enum policy_reason reason, const char *what,
                         const char *problem)
{
    pthread_mutex_lock(&cache->lock);
    cache->counters.rejected[reason]++;
    pthread_mutex_unlock(&cache->lock);
    report_log(cache->report, REPORT_WARNING, "%s is not used (%s): %s", what, policy_reason_name(reason),
               problem);
    struct report_event event;
    report_event_begin(&event, cache->report, "reject");
    report_event_string(&event, "reason", policy_reason_name(reason));
    report_event_string(&event, "data", what);
    report_event_string(&event, "problem", problem);
    report_event_end(&event, cache->report);
}

bool device_cache_blame(struct device_cache *cache, const struct hash128 *hash, const char *what,
                        VkResult result)
{
    bool starved = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (!starved) {
        pthread_mutex_lock(&cache->lock);
        ledger_add_rejected(&cache->ledger, hash, clock_unix_seconds());
        cache->counters.quarantined++;
        pthread_mutex_unlock(&cache->lock);
        writer_ledger_changed(cache);
    }
    device_cache_reject(cache, POLICY_DRIVER_ERROR, what, enum_VkResult_name(result));
    return !starved;
}

bool device_cache_is_set_aside(const struct device_cache *cache, const struct hash128 *hash)
{
    for (uint32_t i = 0; i < cache->dead_count; i++)
        if (hash128_equal(&cache->dead[i], hash))
            return true;
    return false;
}

void device_cache_watch_result(struct device_cache *cache, VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST) {
        pthread_mutex_lock(&cache->lock);
        bool first = !cache->lost;
        cache->lost = true;
        pthread_mutex_unlock(&cache->lock);
        if (first)
            report_log(cache->report, REPORT_WARNING,
                       "the device was lost: nothing of this run is stored from now on");
    } else if (result == VK_ERROR_SURFACE_LOST_KHR || result == VK_ERROR_OUT_OF_DATE_KHR) {
        writer_hurry(cache);
    }
}

/* What the hits would have cost as misses, by the mean of all misses that this application ever paid for. */
static uint64_t estimate_saved_ns(const struct device_cache *cache)
{
    const struct cache_counters *counters = &cache->counters;
    uint64_t pipelines = cache->ledger.compiled_pipelines + cache->unrecorded_misses;
    if (!pipelines)
        return 0;
    uint64_t mean = (cache->ledger.compiled_ns + cache->unrecorded_miss_ns) / pipelines;
    uint64_t as_misses = counters->hits * mean;
    return as_misses > counters->hit_ns ? as_misses - counters->hit_ns : 0;
}

static void report_rejections(const struct cache_counters *counters, struct report_event *event, char *text,
                              size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int reason = 0; reason < POLICY_REASON_COUNT; reason++) {
        if (!counters->rejected[reason])
            continue;
        const char *name = policy_reason_name((enum policy_reason)reason);
        char key[64];
        snprintf(key, sizeof(key), "rejected_%s", name);
        report_event_number(event, key, counters->rejected[reason]);
        int length = snprintf(text + used, size - used, "%s%s %llu", used ? ", " : " (", name,
                              (unsigned long long)counters->rejected[reason]);
        used = length < 0 || (size_t)length >= size - used ? size - 1 : used + (size_t)length;
    }
    if (used && used < size - 1)
        snprintf(text + used, size - used, ")");
}

static uint64_t sum_rejections(const struct cache_counters *counters)
{
    uint64_t sum = 0;
    for (int reason = 0; reason < POLICY_REASON_COUNT; reason++)
        sum += counters->rejected[reason];
    return sum;
}

void device_cache_report_summary(struct device_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    const struct cache_counters copy = cache->counters, *counters = &copy;
    uint64_t saved_ns = estimate_saved_ns(cache);
    bool said = cache->summary_said;
    cache->summary_said = true;
    pthread_mutex_unlock(&cache->lock);
    if (said)
        return;
    struct report_event event;
    char rejections[256];
    report_event_begin(&event, cache->report, "summary");
    report_event_number(&event, "pipelines", counters->pipelines);
    report_event_number(&event, "hits", counters->hits);
    report_event_number(&event, "misses", counters->misses);
    report_event_number(&event, "unknown", counters->unknown);
    report_event_number(&event, "substituted", counters->substituted);
    report_event_number(&event, "spent_ns", counters->spent_ns);
    report_event_number(&event, "saved_ns", saved_ns);
    report_event_number(&event, "loaded_bytes", counters->loaded_bytes);
    report_event_number(&event, "saved_bytes", counters->saved_bytes);
    report_event_number(&event, "saves", counters->saves);
    report_event_number(&event, "adopted", counters->adopted);
    report_event_number(&event, "retries", counters->retries);
    report_event_number(&event, "poisoned", counters->poisoned);
    report_event_number(&event, "deaths", counters->deaths);
    report_event_number(&event, "quarantined", counters->quarantined);
    report_event_number(&event, "rejected", sum_rejections(counters));
    report_rejections(counters, &event, rejections, sizeof(rejections));
    report_event_end(&event, cache->report);
    report_log(cache->report, REPORT_INFO,
               "%llu pipelines, %llu hits, %.1f ms, about %.1f ms saved; %llu bytes loaded, %llu saved; %llu "
               "rejected%s",
               (unsigned long long)counters->pipelines, (unsigned long long)counters->hits,
               (double)counters->spent_ns / 1e6, (double)saved_ns / 1e6,
               (unsigned long long)counters->loaded_bytes, (unsigned long long)counters->saved_bytes,
               (unsigned long long)sum_rejections(counters), rejections);
}

static void destroy_vulkan_caches(struct device_cache *cache)
{
    const struct device *device = cache->device;
    if (cache->live)
        device->next.DestroyPipelineCache(device->handle, cache->live, NULL);
    if (cache->loaded)
        device->next.DestroyPipelineCache(device->handle, cache->loaded, NULL);
    while (cache->retired) {
        struct retired_cache *retired = cache->retired;
        cache->retired = retired->next;
        device->next.DestroyPipelineCache(device->handle, retired->handle, NULL);
        free(retired);
    }
    for (uint32_t i = 0; i < DEVICE_CACHE_PRIVATE; i++)
        if (cache->private_caches[i])
            device->next.DestroyPipelineCache(device->handle, cache->private_caches[i], NULL);
    cache->live = cache->loaded = VK_NULL_HANDLE;
}

void device_cache_destroy(struct device_cache *cache)
{
    if (!cache)
        return;
    bool owned = writer_remove(cache);
    device_cache_report_summary(cache);
    destroy_vulkan_caches(cache);
    if (owned)
        device_cache_free(cache);
    else
        writer_release(cache);
}

static bool forget_guard(struct app_cache *entry, void *unused)
{
    (void)unused;
    guarded_forget(&entry->guard);
    return false;
}

void device_cache_free(struct device_cache *cache)
{
    /* Only where the worker couldn't: what rests and nobody holds is cleared away by the next run. */
    guarded_forget(&cache->loaded_guard);
    app_caches_visit(&cache->app_caches, forget_guard, NULL);
    store_destroy(cache->store);
    for (uint32_t i = 0; i < cache->read_store_count; i++)
        store_destroy(cache->read_stores[i]);
    app_caches_finish(&cache->app_caches);
    while (cache->harvests) {
        struct harvest *harvest = cache->harvests;
        cache->harvests = harvest->next;
        free(harvest);
    }
    pthread_cond_destroy(&cache->loaded_changed);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

void device_cache_after_fork(struct device_cache *cache)
{
    init_locks(cache);
    memset(&cache->job, 0, sizeof(cache->job));
    cache->ledger_ready = cache->load_done = true;
    cache->read_only = true;
    guarded_forget(&cache->loaded_guard);
    app_caches_visit(&cache->app_caches, forget_guard, NULL);
}
