#include "persist_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct harvest *take_harvests(struct device_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    struct harvest *harvests = cache->harvests;
    cache->harvests = NULL;
    cache->harvest_count = 0;
    pthread_mutex_unlock(&cache->lock);
    return harvests;
}

static void free_harvests(struct harvest *harvests)
{
    while (harvests) {
        struct harvest *next = harvests->next;
        free(harvests);
        harvests = next;
    }
}

/* After a save that failed: the next one takes them. What came meanwhile has its place. */
static void put_back_harvests(struct device_cache *cache, struct harvest *harvests)
{
    pthread_mutex_lock(&cache->lock);
    while (harvests && cache->harvest_count < DEVICE_CACHE_HARVESTS) {
        struct harvest *harvest = harvests;
        harvests = harvest->next;
        harvest->next = cache->harvests;
        cache->harvests = harvest;
        cache->harvest_count++;
    }
    pthread_mutex_unlock(&cache->lock);
    free_harvests(harvests);
}

struct payload {
    void *data; /* malloc'd */
    size_t size;
};

/* The store has outgrown its cap. What is new can't be told from what is old inside a driver's cache, so the
 * next run starts from nothing and puts its own entries in the place of all these. An absurd size is the
 * driver's fault, and no reason to lose the store. */
static void plan_rebuild(struct device_cache *cache, uint64_t size)
{
    if (size > 4 * cache->max_size)
        return;
    pthread_mutex_lock(&cache->lock);
    bool first = cache->loaded && !cache->ledger.rebuild;
    cache->ledger.rebuild = cache->ledger.rebuild || first;
    pthread_mutex_unlock(&cache->lock);
    if (!first)
        return;
    report_log(cache->report, REPORT_WARNING,
               "the store would grow to %llu bytes, max_size is %llu: it will be built anew by the next run",
               (unsigned long long)size, (unsigned long long)cache->max_size);
    writer_ledger_changed(cache);
}

/* The whole data of one cache. */
static enum step read_payload(struct device_cache *cache, VkPipelineCache handle, struct payload *out)
{
    const char *problem;
    out->size = 0;
    out->data = persist_read_cache(cache, handle, cache->max_size - ENVELOPE_SIZE, &out->size, &problem);
    if (out->data)
        return STEP_DONE;
    if (out->size > cache->max_size - ENVELOPE_SIZE)
        plan_rebuild(cache, out->size);
    struct store_problem trouble;
    snprintf(trouble.text, sizeof(trouble.text), "nothing is saved now: the driver's data (%llu bytes): %s",
             (unsigned long long)out->size, problem);
    persist_say_trouble(cache, &trouble);
    return STEP_FAILED;
}

/* Makes a private cache of data and merges it into *united, or makes it that if it is the first. */
static enum step take_in(struct device_cache *cache, VkPipelineCache *united, const void *data, size_t size,
                         const char *what)
{
    struct store_blob blob = {.data = (void *)(uintptr_t)data, .size = size, .hash = hash128_of(data, size)};
    VkPipelineCache part;
    bool proven;
    if (size <= cache->empty_size)
        return STEP_NOTHING;
    if (persist_judge_hash(cache, &blob.hash, &proven) != HASH_GOOD)
        return STEP_NOTHING;
    enum step step = persist_create_cache(cache, &blob, proven, what, &part);
    if (step != STEP_DONE)
        return step;
    if (*united)
        return persist_merge_private(cache, *united, part) ? STEP_DONE : STEP_FAILED;
    *united = part;
    return STEP_DONE;
}

static enum step take_in_cache(struct device_cache *cache, VkPipelineCache *united, VkPipelineCache handle)
{
    struct payload payload;
    enum step step = read_payload(cache, handle, &payload);
    if (step != STEP_DONE)
        return step;
    step = take_in(cache, united, payload.data, payload.size, "what was compiled in this run");
    free(payload.data);
    return step;
}

/* Unites the stand-ins and the data of the application's caches that have gone. */
static enum step unite_sources(struct device_cache *cache, const VkPipelineCache *stand_ins, uint32_t count,
                               const struct harvest *harvests, struct payload *out)
{
    VkPipelineCache united = VK_NULL_HANDLE;
    enum step step = STEP_NOTHING;
    for (uint32_t i = 0; i < count; i++) {
        step = take_in_cache(cache, &united, stand_ins[i]);
        if (step == STEP_GONE)
            return step;
        if (step == STEP_FAILED)
            goto finish; /* a file without these entries would lose them */
    }
    for (const struct harvest *harvest = harvests; harvest; harvest = harvest->next)
        if (take_in(cache, &united, harvest->data, harvest->size, "a cache of the application") == STEP_GONE)
            return STEP_GONE;
    step = united ? read_payload(cache, united, out) : STEP_NOTHING;
finish:
    if (united)
        persist_destroy_cache(cache, united);
    return step;
}

static void note_keeps_nothing(struct device_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    /* What is to be compiled may not be there yet, or have gone into a cache that was retired. */
    bool unsure = cache->deferred_used || cache->retired;
    pthread_mutex_unlock(&cache->lock);
    if (unsure)
        return;
    report_log(cache->report, REPORT_INFO, "this driver keeps nothing in its cache data: nothing is stored");
    cache->keeps_nothing = true;
}

/* Everything this device has to store. */
static enum step gather(struct device_cache *cache, const struct harvest *harvests, struct payload *out)
{
    VkPipelineCache stand_ins[2];
    uint32_t count = 0;
    pthread_mutex_lock(&cache->lock);
    VkPipelineCache loaded = cache->loaded, live = cache->live;
    pthread_mutex_unlock(&cache->lock);
    size_t live_size = live ? persist_data_size(cache, live) : 0;
    if (loaded)
        stand_ins[count++] = loaded;
    if (live_size > cache->empty_size)
        stand_ins[count++] = live;
    if (count == 0 && !harvests) {
        if (live_size) /* else the driver didn't say, or there is no cache */
            note_keeps_nothing(cache);
        return STEP_NOTHING;
    }
    /* One alone is read as it is: nothing is made of its data. */
    enum step step = count == 1 && !harvests ? read_payload(cache, stand_ins[0], out)
                                             : unite_sources(cache, stand_ins, count, harvests, out);
    if (step != STEP_DONE)
        return step;
    if (out->size > cache->empty_size && policy_header_matches(out->data, out->size, &cache->identity))
        return STEP_DONE;
    free(out->data);
    return STEP_NOTHING;
}

/* Another process wrote the file since: takes its entries in. On STEP_DONE `payload` may replace the file: it
 * is the union, or the file holds nothing usable. */
static enum step unite_with_disk(struct device_cache *cache, struct payload *payload)
{
    struct part disk;
    enum step step = persist_load_store(cache, cache->store, &disk);
    cache->disk_has_more = step == STEP_DONE;
    if (step == STEP_NOTHING && !cache->set_aside)
        return STEP_DONE;
    if (step != STEP_DONE)
        return step;
    struct payload both;
    step = take_in(cache, &disk.handle, payload->data, payload->size, "what was compiled in this run");
    if (step == STEP_GONE)
        return step;
    if (step == STEP_DONE)
        step = read_payload(cache, disk.handle, &both);
    persist_destroy_cache(cache, disk.handle);
    if (step != STEP_DONE)
        return STEP_FAILED;
    free(payload->data);
    *payload = both;
    return STEP_DONE;
}

static void saved(struct device_cache *cache, const struct payload *payload)
{
    cache->saved_hash = hash128_of(payload->data, payload->size);
    cache->last_save_size = payload->size;
    pthread_mutex_lock(&cache->lock);
    cache->counters.saves++;
    cache->counters.saved_bytes = payload->size;
    if (cache->rebuild)
        cache->ledger.rebuild = false;
    pthread_mutex_unlock(&cache->lock);
    cache->rebuild = false;
    struct report_event event;
    report_event_begin(&event, cache->report, "save");
    report_event_number(&event, "bytes", payload->size);
    report_event_end(&event, cache->report);
    report_log(cache->report, REPORT_DEBUG, "saved %llu bytes", (unsigned long long)payload->size);
}

/* Under the store's lock: union with what is on disk, replacement, and the cap over all stores. */
static enum step write_store(struct device_cache *cache, struct payload *payload)
{
    struct store_problem problem;
    bool changed = false;
    writer_files_begin(cache);
    int error = store_save_begin(cache->store, &changed, &problem);
    if (!writer_files_end(cache)) {
        if (error == 0)
            store_save_end(cache->store);
        return STEP_GONE;
    }
    if (error) {
        persist_say_trouble(cache, &problem);
        if (error == -ETIMEDOUT) /* another process is at it: next time */
            atomic_store(&cache->job.dirty, true);
        return STEP_FAILED;
    }
    enum step step =
        (changed || cache->disk_has_more) && !cache->rebuild ? unite_with_disk(cache, payload) : STEP_DONE;
    if (step != STEP_DONE) {
        store_save_end(cache->store);
        return step;
    }
    writer_files_begin(cache);
    error = store_save_commit(cache->store, payload->data, payload->size, &problem);
    struct store_problem trim_problem = {.text = ""};
    if (!error)
        store_trim(cache->store, &trim_problem);
    store_save_end(cache->store);
    if (!writer_files_end(cache))
        return STEP_GONE;
    persist_say_trouble(cache, error ? &problem : &trim_problem);
    if (error)
        return STEP_FAILED;
    saved(cache, payload);
    return STEP_DONE;
}

static enum step save_data(struct device_cache *cache, const struct harvest *harvests)
{
    struct payload payload;
    enum step step = gather(cache, harvests, &payload);
    if (step != STEP_DONE)
        return step;
    struct hash128 hash = hash128_of(payload.data, payload.size);
    if (!hash128_equal(&hash, &cache->saved_hash))
        step = write_store(cache, &payload);
    cache->disk_has_more = cache->disk_has_more || (step == STEP_DONE && harvests);
    free(payload.data);
    return step;
}

static enum step save_ledger(struct device_cache *cache)
{
    struct ledger before, written;
    struct store_problem problem;
    pthread_mutex_lock(&cache->lock);
    cache->ledger.compiled_pipelines += cache->unrecorded_misses;
    cache->ledger.compiled_ns += cache->unrecorded_miss_ns;
    cache->unrecorded_misses = cache->unrecorded_miss_ns = 0;
    before = written = cache->ledger;
    pthread_mutex_unlock(&cache->lock);
    writer_files_begin(cache);
    int error = store_write_ledger(cache->store, &written, &problem);
    if (!writer_files_end(cache))
        return STEP_GONE;
    if (error) {
        persist_say_trouble(cache, &problem);
        return STEP_NOTHING;
    }
    pthread_mutex_lock(&cache->lock);
    ledger_merge(&cache->ledger, &written, &before); /* it may have moved on meanwhile */
    pthread_mutex_unlock(&cache->lock);
    return STEP_DONE;
}

bool persist_save(struct device_cache *cache)
{
    bool dirty = atomic_exchange(&cache->job.dirty, false);
    pthread_mutex_lock(&cache->lock);
    bool lost = cache->lost;
    dirty = dirty || cache->unsaved || cache->deferred_used; /* a deferred operation compiles when it likes */
    pthread_mutex_unlock(&cache->lock);
    struct harvest *harvests = take_harvests(cache);
    enum step step = STEP_NOTHING;
    bool writable = cache->store && !cache->read_only && !lost;
    if (writable && (dirty || harvests) && !cache->keeps_nothing && !cache->set_aside)
        step = save_data(cache, harvests);
    cache->unsaved = step == STEP_FAILED;
    if (cache->unsaved)
        put_back_harvests(cache, harvests);
    else
        free_harvests(harvests);
    if (step != STEP_GONE && (atomic_exchange(&cache->job.ledger_dirty, false) || dirty) && writable)
        step = save_ledger(cache);
    return step != STEP_GONE;
}

bool persist_finish(struct device_cache *cache)
{
    writer_files_begin(cache);
    guarded_finish_all(cache);
    return writer_files_end(cache) && persist_save(cache);
}
