#include "guarded.h"

#include <string.h>
#include <unistd.h>

#include "device_cache.h"

static int make_mark(struct device_cache *cache, const struct hash128 *hash)
{
    return cache->store && !cache->read_only ? store_guard_begin(cache->store, hash) : -1;
}

static void drop_mark(struct device_cache *cache, const struct hash128 *hash, int mark)
{
    if (mark >= 0)
        store_guard_end(cache->store, hash, mark);
}

static void say_no_mark(struct device_cache *cache, int mark)
{
    if (mark >= 0 || cache->trouble_said || !cache->store || cache->read_only)
        return;
    cache->trouble_said = true;
    report_log(cache->report, REPORT_WARNING,
               "no crash mark could be written beside the store (%s): cache data goes to the "
               "driver unguarded",
               strerror(-mark));
}

int guarded_call_begin(struct device_cache *cache, const struct hash128 *hash)
{
    int mark = make_mark(cache, hash);
    if (mark < 0) {
        pthread_mutex_lock(&cache->lock);
        say_no_mark(cache, mark);
        pthread_mutex_unlock(&cache->lock);
    }
    return mark;
}

void guarded_call_end(struct device_cache *cache, const struct hash128 *hash, int mark)
{
    drop_mark(cache, hash, mark);
}

static bool has_mark(const struct guarded *guarded)
{
    return guarded->begun && guarded->fd >= 0;
}

static void prove(struct device_cache *cache, struct guarded *guarded)
{
    guarded->unproven = false;
    ledger_add_proven(&cache->ledger, &guarded->hash);
    writer_ledger_changed(cache);
}

void guarded_use_begin(struct device_cache *cache, struct guarded *guarded)
{
    if (guarded->users++ > 0)
        return;
    if (has_mark(guarded)) {
        store_guard_change(guarded->fd, guarded->successes > 0 ? MARK_LATER : MARK_FIRST);
    } else if (!guarded->begun) {
        guarded->begun = true;
        guarded->fd = make_mark(cache, &guarded->hash);
        say_no_mark(cache, guarded->fd);
    }
}

void guarded_use_end(struct device_cache *cache, struct guarded *guarded, bool success)
{
    guarded->successes += success;
    if (guarded->unproven && guarded->successes >= GUARDED_USES)
        prove(cache, guarded);
    if (--guarded->users > 0 || !has_mark(guarded))
        return;
    if (guarded->unproven) {
        store_guard_change(guarded->fd, MARK_RESTING);
    } else {
        drop_mark(cache, &guarded->hash, guarded->fd);
        guarded->fd = -1;
    }
}

/* With the lock held. What is to be done to the mark without it goes to `mark`: false if there is none. */
static bool settle(struct device_cache *cache, struct guarded *guarded, struct guarded *mark)
{
    if (guarded->unproven && guarded->successes > 0 && guarded->users == 0)
        prove(cache, guarded);
    guarded->unproven = false;
    *mark = *guarded;
    if (!has_mark(guarded))
        return false;
    guarded->fd = -1;
    return true;
}

void guarded_finish(struct device_cache *cache, struct guarded *guarded)
{
    struct guarded mark;
    pthread_mutex_lock(&cache->lock);
    bool marked = settle(cache, guarded, &mark);
    pthread_mutex_unlock(&cache->lock);
    if (marked)
        drop_mark(cache, &mark.hash, mark.fd);
}

struct settling {
    struct device_cache *cache;
    struct guarded mark;
};

static bool settle_app_cache(struct app_cache *entry, void *context)
{
    struct settling *settling = context;
    return settle(settling->cache, &entry->guard, &settling->mark);
}

void guarded_finish_all(struct device_cache *cache)
{
    struct settling settling = {.cache = cache};
    bool marked;
    do {
        pthread_mutex_lock(&cache->lock);
        marked = settle(cache, &cache->loaded_guard, &settling.mark) ||
                 app_caches_visit(&cache->app_caches, settle_app_cache, &settling);
        pthread_mutex_unlock(&cache->lock);
        if (marked)
            drop_mark(cache, &settling.mark.hash, settling.mark.fd);
    } while (marked);
}

void guarded_distrust(struct guarded *guarded)
{
    guarded->unproven = false;
}

void guarded_forget(struct guarded *guarded)
{
    if (has_mark(guarded))
        close(guarded->fd);
    guarded->fd = -1;
    guarded->unproven = false;
}
