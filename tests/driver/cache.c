#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "state_hash.h"

#define HEADER_MAX 32

/* In front of each entry's value. */
struct entry_header {
    uint64_t key;
    uint64_t checksum;
    uint32_t size;
    uint32_t magic;
};
#define ENTRY_MAGIC 0x59544e45

uint64_t fault_hash(const void *data, size_t size)
{
    return hash_add(HASH_START, data, size);
}

static uint64_t entry_checksum(const struct entry_header *header, const void *value)
{
    return hash_add(hash_number(hash_number(HASH_START, header->key), header->size), value, header->size);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

uint32_t cache_binary_size(const struct physical_device *physical, uint64_t key)
{
    return physical->config->entry_size + (uint32_t)(key % 64);
}

void cache_binary_fill(uint64_t key, void *out, uint32_t size)
{
    uint8_t *bytes = out;
    uint64_t state = key;

    for (uint32_t i = 0; i < size; i += 8) {
        uint64_t word = next_random(&state);

        memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
    }
}

/* What this driver writes in front of its entries; returns its size. */
static uint32_t build_header(const struct physical_device *physical, uint8_t out[HEADER_MAX])
{
    const struct driver_config *config = physical->config;
    uint32_t words[4] = {HEADER_MAX, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, config->vendor,
                         config->device + physical->index};

    if (config->header == 28) {
        /* The form of VK_QCOM_data_graph_model: no vendor and device, 28 bytes. */
        words[0] = 28;
        words[1] = 1000629000;
        memcpy(out, words, 8);
        memcpy(out + 8, physical->cache_uuid, VK_UUID_SIZE);
        memcpy(out + 24, &config->driver_version, 4);
        return 28;
    }
    words[1] = config->header;
    memcpy(out, words, sizeof(words));
    memcpy(out + sizeof(words), physical->cache_uuid, VK_UUID_SIZE);
    return HEADER_MAX;
}

/* Reads the entry at *offset and moves on. 1: an entry, *value is its bytes; 0: the end; -1: no entry fits
 * here. Sets *intact to whether the checksum is right. */
static int read_entry(const uint8_t *data, size_t size, size_t *offset, struct entry_header *header,
                      const uint8_t **value, bool *intact)
{
    if (*offset == size)
        return 0;
    if (size - *offset < sizeof(*header))
        return -1;
    memcpy(header, data + *offset, sizeof(*header));
    if (header->magic != ENTRY_MAGIC || header->size > size - *offset - sizeof(*header))
        return -1;
    *value = data + *offset + sizeof(*header);
    *offset += sizeof(*header) + header->size;
    *intact = entry_checksum(header, *value) == header->checksum;
    return 1;
}

bool cache_data_is_whole(const void *data, size_t size)
{
    uint32_t header_size;
    size_t offset;
    struct entry_header header;
    const uint8_t *value;
    bool intact = true;
    int more = 1;

    if (size < sizeof(header_size))
        return false;
    memcpy(&header_size, data, sizeof(header_size));
    if ((header_size != 28 && header_size != HEADER_MAX) || size < header_size)
        return false;
    offset = header_size;
    while (more > 0 && intact)
        more = read_entry(data, size, &offset, &header, &value, &intact);
    return more == 0 && intact;
}

/* Index of the key, or of the place for it. */
static uint32_t find_place(const struct cache *cache, uint64_t key, bool *found)
{
    uint32_t low = 0;
    uint32_t high = cache->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (cache->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < cache->count && cache->entries[low].key == key;
    return low;
}

static bool insert(struct cache *cache, uint64_t key, const void *value, uint32_t size)
{
    bool found;
    uint32_t place = find_place(cache, key, &found);
    uint8_t *copy;

    if (found)
        return true;
    if (cache->count == cache->capacity) {
        uint32_t capacity = cache->capacity ? 2 * cache->capacity : 16;
        struct cache_entry *entries = realloc(cache->entries, capacity * sizeof(*entries));

        if (!entries)
            return false;
        cache->entries = entries;
        cache->capacity = capacity;
    }
    copy = malloc(size ? size : 1);
    if (!copy)
        return false;
    memcpy(copy, value, size);
    memmove(&cache->entries[place + 1], &cache->entries[place],
            (cache->count - place) * sizeof(*cache->entries));
    cache->entries[place] = (struct cache_entry){key, size, copy};
    cache->count++;
    return true;
}

static bool insert_generated(struct cache *cache, uint64_t key, uint32_t size)
{
    uint8_t *value = malloc(size ? size : 1);
    bool done = false;

    if (value) {
        cache_binary_fill(key, value, size);
        done = insert(cache, key, value, size);
    }
    free(value);
    return done;
}

bool cache_has(struct cache *cache, uint64_t key)
{
    bool found;

    if (!cache)
        return false;
    pthread_mutex_lock(&cache->lock);
    find_place(cache, key, &found);
    pthread_mutex_unlock(&cache->lock);
    return found;
}

bool cache_add(struct cache *cache, uint64_t key)
{
    bool done;

    if (!cache || cache->physical->config->keeps != CONFIG_KEEPS_ENTRIES)
        return true;
    pthread_mutex_lock(&cache->lock);
    done = insert_generated(cache, key, cache_binary_size(cache->physical, key));
    pthread_mutex_unlock(&cache->lock);
    return done;
}

static void drop_entries(struct cache *cache)
{
    for (uint32_t i = 0; i < cache->count; i++)
        free(cache->entries[i].value);
    cache->count = 0;
}

static void cache_finish(struct object *object)
{
    struct cache *cache = (struct cache *)object;

    drop_entries(cache);
    free(cache->entries);
    free(cache->echo);
    pthread_mutex_destroy(&cache->lock);
}

/* Damaged entries are left out, as is everything behind a place where no entry is. */
static bool load_entries(struct cache *cache, const uint8_t *data, size_t size, size_t offset)
{
    struct entry_header header;
    const uint8_t *value;
    bool intact;

    while (read_entry(data, size, &offset, &header, &value, &intact) > 0) {
        if (intact && !insert(cache, header.key, value, header.size))
            return false;
    }
    return true;
}

static VkResult load(struct cache *cache, const void *data, size_t size)
{
    uint8_t header[HEADER_MAX];
    uint32_t header_size = build_header(cache->physical, header);

    cache->had_data = true;
    cache->had_corrupt_data = !cache_data_is_whole(data, size);
    if (cache->physical->config->keeps == CONFIG_KEEPS_ECHO) {
        cache->echo = malloc(size);
        if (!cache->echo)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        memcpy(cache->echo, data, size);
        cache->echo_size = size;
        return VK_SUCCESS;
    }
    /* "if pInitialData ... is not compatible ... the pipeline cache will be initially empty" */
    if (cache->physical->config->keeps == CONFIG_KEEPS_NOTHING || size < header_size ||
        memcmp(data, header, header_size) != 0)
        return VK_SUCCESS;
    return load_entries(cache, data, size, header_size) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void record_creation(const VkPipelineCacheCreateInfo *info)
{
    struct fault_record *record = &call_current()->record;

    record->has_data = info->pInitialData != NULL;
    record->size = info->initialDataSize;
    record->flags = info->flags;
    if (info->initialDataSize)
        record->hash = fault_hash(info->pInitialData, info->initialDataSize);
    journal_cache_data(info->pInitialData, info->initialDataSize);
}

VkResult driver_vkCreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                      const VkAllocationCallbacks *allocator, VkPipelineCache *out)
{
    struct cache *cache =
        object_create(object_list_of(device), VK_OBJECT_TYPE_PIPELINE_CACHE, sizeof(*cache));
    VkResult result = VK_SUCCESS;

    if (!cache)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&cache->lock, NULL);
    cache->base.finish = cache_finish;
    cache->physical = OBJECT(device, device)->physical;
    record_creation(info);
    if (info->initialDataSize && !call_current()->effects.drop)
        result = load(cache, info->pInitialData, info->initialDataSize);
    if (result != VK_SUCCESS) {
        object_destroy(&cache->base, VK_OBJECT_TYPE_PIPELINE_CACHE);
        return result;
    }
    *out = HANDLE(VkPipelineCache, cache);
    return VK_SUCCESS;
}

static size_t data_size(const struct cache *cache, uint32_t header_size)
{
    size_t size = header_size + cache->echo_size;

    for (uint32_t i = 0; i < cache->count; i++)
        size += sizeof(struct entry_header) + cache->entries[i].size;
    return size;
}

/* Writes as many whole pieces as fit into `capacity`; returns their size. */
static size_t write_data(const struct cache *cache, uint8_t *out, size_t capacity)
{
    uint8_t header[HEADER_MAX];
    size_t offset = build_header(cache->physical, header);

    if (capacity < offset)
        return 0;
    memcpy(out, header, offset);
    if (cache->echo_size && cache->echo_size <= capacity - offset) {
        memcpy(out + offset, cache->echo, cache->echo_size);
        offset += cache->echo_size;
    }
    for (uint32_t i = 0; i < cache->count; i++) {
        const struct cache_entry *entry = &cache->entries[i];
        struct entry_header head = {.key = entry->key, .size = entry->size, .magic = ENTRY_MAGIC};

        if (capacity - offset < sizeof(head) + entry->size)
            break;
        head.checksum = entry_checksum(&head, entry->value);
        memcpy(out + offset, &head, sizeof(head));
        memcpy(out + offset + sizeof(head), entry->value, entry->size);
        offset += sizeof(head) + entry->size;
    }
    return offset;
}

/* The rule `grow`: something was compiled meanwhile. */
static bool grow(struct cache *cache, uint64_t bytes)
{
    uint64_t key = hash_number(hash_number(HASH_START, cache->count), ++cache->grown);
    uint32_t size = bytes > sizeof(struct entry_header) ? (uint32_t)(bytes - sizeof(struct entry_header)) : 0;

    return insert_generated(cache, key, size);
}

static VkResult get_data(struct cache *cache, const struct fault_effects *effects, size_t *size, void *out)
{
    uint8_t header[HEADER_MAX];
    size_t needed;
    size_t capacity = *size;

    if (effects->grow && !grow(cache, effects->grow))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    needed = data_size(cache, build_header(cache->physical, header));
    if (!out) {
        *size = needed;
        return VK_SUCCESS;
    }
    *size = write_data(cache, out, capacity);
    if (*size == needed && effects->shortfall) {
        *size -= effects->shortfall < needed ? (size_t)effects->shortfall : needed;
        return VK_SUCCESS;
    }
    return *size < needed ? VK_INCOMPLETE : VK_SUCCESS;
}

VkResult driver_vkGetPipelineCacheData(VkDevice device, VkPipelineCache handle, size_t *size, void *out)
{
    struct cache *cache = OBJECT(cache, handle);
    struct fault_record *record = &call_current()->record;
    const struct fault_effects *effects = &call_current()->effects;
    size_t given = *size;
    VkResult result;

    record->has_data = out != NULL;
    /* What stands there before a query is nobody's business, and may not even be initialised. */
    record->size = out ? given : 0;
    pthread_mutex_lock(&cache->lock);
    result = get_data(cache, effects, size, out);
    pthread_mutex_unlock(&cache->lock);
    if (out)
        record->hash = fault_hash(out, *size);
    if (effects->has_reported)
        *size = (size_t)effects->reported;
    if (effects->untouched)
        *size = given;
    record->size_returned = *size;
    return result;
}

/* Copies of the entries, so that never two caches' locks are held. */
static VkResult merge_one(struct cache *destination, struct cache *source)
{
    bool done = true;
    uint8_t *data;
    size_t size;
    uint8_t header[HEADER_MAX];
    uint32_t header_size = build_header(source->physical, header);

    pthread_mutex_lock(&source->lock);
    size = data_size(source, header_size) - source->echo_size;
    data = malloc(size);
    if (data)
        size = write_data(source, data, size);
    if (data && source->physical->config->merge_moves)
        drop_entries(source);
    pthread_mutex_unlock(&source->lock);
    if (!data)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&destination->lock);
    done = load_entries(destination, data, size, header_size);
    pthread_mutex_unlock(&destination->lock);
    free(data);
    return done ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult driver_vkMergePipelineCaches(VkDevice device, VkPipelineCache destination, uint32_t count,
                                      const VkPipelineCache *sources)
{
    call_current()->record.size = count;
    for (uint32_t i = 0; i < count; i++) {
        VkResult result = merge_one(OBJECT(cache, destination), OBJECT(cache, sources[i]));

        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}

uint32_t fault_cache_entries(VkPipelineCache handle)
{
    struct cache *cache = OBJECT(cache, handle);
    uint32_t count;

    pthread_mutex_lock(&cache->lock);
    count = cache->count;
    pthread_mutex_unlock(&cache->lock);
    return count;
}
