#include "guarded.h"

#include <string.h>

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

void guarded_use_begin(struct device_cache *cache, struct guarded *guarded)
{
    if (guarded->users++ == 0) {
        guarded->fd = make_mark(cache, &guarded->hash);
        say_no_mark(cache, guarded->fd);
    }
}

void guarded_use_end(struct device_cache *cache, struct guarded *guarded, bool success)
{
    if (success && guarded->unproven) {
        guarded->unproven = false;
        ledger_add_proven(&cache->ledger, &guarded->hash);
        writer_ledger_changed(cache);
    }
    if (--guarded->users == 0)
        drop_mark(cache, &guarded->hash, guarded->fd);
}
