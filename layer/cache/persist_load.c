#include "persist_internal.h"

#include <errno.h>
#include <string.h>

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

/* Reads one store and hands it to the driver. */
enum step persist_load_store(struct device_cache *cache, struct store *store, struct part *out)
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
        persist_say_trouble(cache, &problem);
    if (error)
        return error == -EBADMSG || error == -EFBIG || error == -ENOENT ? STEP_NOTHING : STEP_FAILED;

    enum step step = STEP_NOTHING;
    out->hash = blob.hash;
    out->verdict = persist_judge_hash(cache, &out->hash, &out->proven);
    if (out->verdict != HASH_GOOD) {
        device_cache_reject(cache, POLICY_QUARANTINED, "the store",
                            "the driver died on this data or refused it in an earlier run");
        cache->set_aside = cache->set_aside || (own && out->verdict == HASH_SET_ASIDE);
    } else {
        step = persist_create_cache(cache, &blob, out->proven, "the store", &out->handle);
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
    persist_forget_private(cache, loaded->handle);
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
    if (loaded->handle && !persist_merge_private(cache, loaded->handle, part->handle))
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
        enum step step = persist_load_store(cache, store, &part);
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
            persist_say_trouble(cache, &problem);
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
