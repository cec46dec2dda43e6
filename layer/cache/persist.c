#include "persist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_cache.h"
#include "enums.h"

#define GET_DATA_TRIES 3 /* a cache that pipelines use may grow between the two calls */

enum step {
    STEP_DONE,
    STEP_NOTHING, /* there is no usable data; that has been said */
    STEP_FAILED,  /* it couldn't be done now: memory, files, the driver */
    STEP_GONE,    /* the device went while a file operation hung: only memory may be touched from now on */
};

/* One line is enough for a folder that can't be read, a disk that stays full. */
static void say_trouble(struct device_cache *cache, const struct store_problem *problem)
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

/* --- The driver's side: small steps on caches that no pipeline uses --- */

static void keep_private(struct device_cache *cache, VkPipelineCache handle)
{
    for (uint32_t i = 0; i < DEVICE_CACHE_PRIVATE; i++)
        if (!cache->private_caches[i]) {
            cache->private_caches[i] = handle;
            return;
        }
}

static void forget_private(struct device_cache *cache, VkPipelineCache handle)
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

static void destroy_cache(struct device_cache *cache, VkPipelineCache handle)
{
    forget_private(cache, handle);
    cache->device->next.DestroyPipelineCache(cache->device->handle, handle, NULL);
}

static size_t data_size(struct device_cache *cache, VkPipelineCache handle)
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
static bool merge_private(struct device_cache *cache, VkPipelineCache into, VkPipelineCache from)
{
    const struct device *device = cache->device;
    VkResult result = device->next.MergePipelineCaches(device->handle, into, 1, &from);
    destroy_cache(cache, from);
    if (result != VK_SUCCESS) {
        struct store_problem trouble;
        snprintf(trouble.text, sizeof(trouble.text), "the driver fails to merge caches: %s",
                 enum_VkResult_name(result));
        say_trouble(cache, &trouble);
    }
    return result == VK_SUCCESS;
}

/* --- Loading --- */

enum verdict_of_hash {
    HASH_GOOD,
    HASH_SET_ASIDE, /* died once: not in this run */
    HASH_QUARANTINED,
};

/* Whether a payload may go down; *proven: the driver is known to survive it. */
static enum verdict_of_hash judge_hash(struct device_cache *cache, const struct hash128 *hash, bool *proven)
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
static enum step create_from_payload(struct device_cache *cache, const struct store_blob *blob, bool proven,
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
    if (blob->size > cache->empty_size && data_size(cache, *out) <= cache->empty_size) {
        device_cache_reject(cache, POLICY_DRIVER_DROPPED, what, "the driver took it and kept nothing of it");
        destroy_cache(cache, *out);
        return STEP_NOTHING;
    }
    return STEP_DONE;
}

static enum policy_reason reason_of(enum envelope_verdict verdict)
{
    switch (verdict) {
    case ENVELOPE_FOREIGN:
        return POLICY_FOREIGN;
    case ENVELOPE_UNKNOWN_VERSION:
        return POLICY_NEWER_ENVELOPE;
    default:
        return POLICY_CORRUPT;
    }
}

/* Puts a file whose data is quarantined out of the way, under a name of its own. */
static enum step move_to_quarantine(struct device_cache *cache, const struct hash128 *hash)
{
    struct store_problem problem;
    writer_files_begin(cache);
    int error = store_quarantine(cache->store, hash, &problem);
    if (!writer_files_end(cache))
        return STEP_GONE;
    if (error && problem.text[0])
        report_log(cache->report, REPORT_WARNING, "%s", problem.text);
    return STEP_NOTHING;
}

static void report_load(struct device_cache *cache, const struct store_blob *blob)
{
    char hex[HASH128_HEX_SIZE];
    struct report_event event;
    hash128_to_hex(&blob->hash, hex);
    report_event_begin(&event, cache->report, "load");
    report_event_string(&event, "payload", hex);
    report_event_number(&event, "bytes", blob->size);
    report_event_end(&event, cache->report);
    report_log(cache->report, REPORT_DEBUG, "loaded %llu bytes", (unsigned long long)blob->size);
}

/* Whoever waits for the load waits longer for a large store. Touches nothing that goes with the device. */
static void expect_bytes(struct device_cache *cache, uint64_t size)
{
    pthread_mutex_lock(&cache->lock);
    cache->load_size += size;
    pthread_mutex_unlock(&cache->lock);
}

/* What was made of one store. */
struct part {
    VkPipelineCache handle;
    struct hash128 hash;
    enum verdict_of_hash verdict; /* there is a handle only if it is HASH_GOOD */
    bool proven;
};

/* Reads one store and hands it to the driver. */
static enum step load_store(struct device_cache *cache, struct store *store, struct part *out)
{
    struct store_problem problem;
    struct store_blob blob;
    enum envelope_verdict verdict = ENVELOPE_NONE;
    bool own = store == cache->store;
    *out = (struct part){.verdict = HASH_GOOD};
    writer_files_begin(cache);
    expect_bytes(cache, store_file_size(store));
    int error = store_load(store, &blob, &verdict, &problem);
    if (!writer_files_end(cache)) {
        if (error == 0)
            store_blob_finish(&blob);
        return STEP_GONE;
    }
    if (error == -EBADMSG)
        device_cache_reject(cache, reason_of(verdict), "the store", problem.text);
    else if (error == -EFBIG || (error && !own && problem.text[0]))
        report_log(cache->report, REPORT_WARNING, "%s", problem.text);
    else if (error)
        say_trouble(cache, &problem);
    if (error)
        return error == -EBADMSG || error == -EFBIG || error == -ENOENT ? STEP_NOTHING : STEP_FAILED;

    enum step step = STEP_NOTHING;
    out->hash = blob.hash;
    out->verdict = judge_hash(cache, &out->hash, &out->proven);
    if (out->verdict != HASH_GOOD) {
        device_cache_reject(cache, POLICY_QUARANTINED, "the store",
                            "the driver died on this data or refused it in an earlier run");
        cache->set_aside = cache->set_aside || (own && out->verdict == HASH_SET_ASIDE);
    } else {
        step = create_from_payload(cache, &blob, out->proven, "the store", &out->handle);
        if (step == STEP_DONE) {
            pthread_mutex_lock(&cache->lock);
            cache->counters.loaded_bytes += blob.size;
            pthread_mutex_unlock(&cache->lock);
            report_load(cache, &blob);
        }
    }
    store_blob_finish(&blob);
    return step;
}

static void publish(struct device_cache *cache, const struct part *loaded)
{
    forget_private(cache, loaded->handle);
    pthread_mutex_lock(&cache->lock);
    cache->loaded = loaded->handle;
    cache->loaded_hash = loaded->hash;
    cache->loaded_guard = (struct guarded){.hash = loaded->hash, .unproven = !loaded->proven};
    pthread_mutex_unlock(&cache->lock);
}

/* Adds one part to what is loaded. The whole stands under one hash: that of a part that isn't proven, if
 * there is one, since that is what a death is charged to, and what survives. */
static void add_part(struct device_cache *cache, struct part *loaded, const struct part *part)
{
    if (loaded->handle && !merge_private(cache, loaded->handle, part->handle))
        return;
    if (!loaded->handle) {
        *loaded = *part;
        return;
    }
    if (loaded->proven)
        loaded->hash = part->hash;
    loaded->proven = loaded->proven && part->proven;
}

/* Loads the read-only stores, then the own one; several are united before anything uses them. */
static enum step load_stores(struct device_cache *cache)
{
    struct part loaded = {.handle = VK_NULL_HANDLE};
    for (uint32_t i = 0; i <= cache->read_store_count; i++) {
        struct store *store = i < cache->read_store_count ? cache->read_stores[i] : cache->store;
        struct part part;
        if (!store || (store == cache->store && cache->rebuild))
            continue;
        enum step step = load_store(cache, store, &part);
        if (part.verdict == HASH_QUARANTINED && store == cache->store && !cache->read_only)
            step = move_to_quarantine(cache, &part.hash);
        if (step == STEP_GONE)
            return step;
        if (step != STEP_DONE)
            continue;
        add_part(cache, &loaded, &part);
        if (store == cache->store)
            cache->saved_hash = part.hash;
    }
    if (!loaded.handle)
        return STEP_NOTHING;
    publish(cache, &loaded);
    return STEP_DONE;
}

static void report_deaths(struct device_cache *cache, const struct ledger *ledger, const struct hash128 *dead,
                          uint32_t dead_count)
{
    for (uint32_t i = 0; i < dead_count; i++) {
        char hex[HASH128_HEX_SIZE];
        struct report_event event;
        hash128_to_hex(&dead[i], hex);
        bool quarantined = ledger_quarantine_of(ledger, &dead[i], clock_unix_seconds()) == LEDGER_DIED;
        pthread_mutex_lock(&cache->lock);
        cache->counters.deaths++;
        cache->counters.quarantined += quarantined;
        pthread_mutex_unlock(&cache->lock);
        report_log(cache->report, REPORT_WARNING,
                   "an earlier run died inside the driver on cache data %s: %s", hex,
                   quarantined ? "quarantined" : "set aside for this run");
        report_event_begin(&event, cache->report, quarantined ? "quarantine" : "death");
        report_event_string(&event, "payload", hex);
        report_event_end(&event, cache->report);
    }
}

/* A store whose quarantine is over gets one more try. */
static enum step restore(struct device_cache *cache, const struct ledger *ledger)
{
    struct store_problem problem;
    writer_files_begin(cache);
    int error = store_restore(cache->store, ledger, clock_unix_seconds(), &problem);
    if (!writer_files_end(cache))
        return STEP_GONE;
    if (error == 0)
        report_log(cache->report, REPORT_INFO, "a quarantined store is tried once more");
    return STEP_DONE;
}

/* Ledger and marks first: they say what must not be offered to the driver. */
static enum step load_ledger(struct device_cache *cache)
{
    static const struct ledger nothing;
    struct ledger ledger;
    struct store_problem problem;
    struct hash128 dead[DEVICE_CACHE_DEAD];
    uint32_t dead_count = 0;
    bool may_restore = cache->store && !cache->read_only;
    memset(&ledger, 0, sizeof(ledger));
    memset(dead, 0, sizeof(dead));
    if (cache->store) {
        writer_files_begin(cache);
        int error = store_open_ledger(cache->store, &ledger, dead, DEVICE_CACHE_DEAD, &dead_count, &problem);
        if (!writer_files_end(cache))
            return STEP_GONE;
        if (error)
            say_trouble(cache, &problem);
        else if (problem.text[0])
            report_log(cache->report, REPORT_WARNING, "%s", problem.text);
        /* A ledger that can't be read doesn't say that no quarantine is on. */
        may_restore = may_restore && !problem.text[0];
    }
    if (may_restore && restore(cache, &ledger) == STEP_GONE)
        return STEP_GONE;
    report_deaths(cache, &ledger, dead, dead_count);
    cache->rebuild = ledger.rebuild;
    pthread_mutex_lock(&cache->lock);
    ledger_merge(&cache->ledger, &ledger, &nothing); /* the application may have been faster */
    memcpy(cache->dead, dead, sizeof(dead));
    cache->dead_count = dead_count;
    cache->ledger_ready = true;
    pthread_cond_broadcast(&cache->loaded_changed);
    pthread_mutex_unlock(&cache->lock);
    if (dead_count)
        writer_ledger_changed(cache);
    return STEP_DONE;
}

bool persist_load(struct device_cache *cache)
{
    if (load_ledger(cache) == STEP_GONE || load_stores(cache) == STEP_GONE)
        return false;
    pthread_mutex_lock(&cache->lock);
    cache->load_done = true;
    pthread_cond_broadcast(&cache->loaded_changed);
    pthread_mutex_unlock(&cache->lock);
    return true;
}

/* --- Saving --- */

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
    say_trouble(cache, &trouble);
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
    if (judge_hash(cache, &blob.hash, &proven) != HASH_GOOD)
        return STEP_NOTHING;
    enum step step = create_from_payload(cache, &blob, proven, what, &part);
    if (step != STEP_DONE)
        return step;
    if (*united)
        return merge_private(cache, *united, part) ? STEP_DONE : STEP_FAILED;
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
        destroy_cache(cache, united);
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
    size_t live_size = live ? data_size(cache, live) : 0;
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
    enum step step = load_store(cache, cache->store, &disk);
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
    destroy_cache(cache, disk.handle);
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
        say_trouble(cache, &problem);
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
    say_trouble(cache, error ? &problem : &trim_problem);
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
        say_trouble(cache, &problem);
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
