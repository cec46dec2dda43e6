#include "app_caches.h"

#include <stdlib.h>

static struct app_cache **bucket_of(struct app_caches *table, VkPipelineCache handle)
{
    /* Handles are pointers in most drivers: the low bits say little. */
    uint64_t bits = (uint64_t)handle * 0x9e3779b97f4a7c15ull;
    return &table->buckets[(bits >> 32) % APP_CACHES_BUCKETS];
}

void app_caches_add(struct app_caches *table, struct app_cache *entry)
{
    struct app_cache **bucket = bucket_of(table, entry->handle);
    entry->next = *bucket;
    *bucket = entry;
}

struct app_cache *app_caches_find(const struct app_caches *table, VkPipelineCache handle)
{
    struct app_cache *entry = *bucket_of((struct app_caches *)table, handle);
    while (entry && entry->handle != handle)
        entry = entry->next;
    return entry;
}

struct app_cache *app_caches_remove(struct app_caches *table, VkPipelineCache handle)
{
    struct app_cache **link = bucket_of(table, handle);
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    struct app_cache *entry = *link;
    if (entry)
        *link = entry->next;
    return entry;
}

bool app_caches_visit(struct app_caches *table, bool (*visit)(struct app_cache *entry, void *context),
                      void *context)
{
    for (int i = 0; i < APP_CACHES_BUCKETS; i++)
        for (struct app_cache *entry = table->buckets[i]; entry; entry = entry->next)
            if (visit(entry, context))
                return true;
    return false;
}

void app_caches_finish(struct app_caches *table)
{
    for (int i = 0; i < APP_CACHES_BUCKETS; i++)
        while (table->buckets[i]) {
            struct app_cache *entry = table->buckets[i];
            table->buckets[i] = entry->next;
            free(entry);
        }
}
