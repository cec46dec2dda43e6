#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define JOURNAL_CAPACITY 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_record *ring; /* allocated at the first record, for good */
static uint64_t written;          /* records ever; the last JOURNAL_CAPACITY are in the ring */
static int file = -1;
static void *cache_data;
static size_t cache_data_size;
static atomic_uint counts[COMMAND_COUNT];

static const char *event_name(enum fault_event event)
{
    switch (event) {
    case FAULT_EVENT_CALL:
        return "call";
    case FAULT_EVENT_CRASH:
        return "crash";
    case FAULT_EVENT_BLOCKED:
        return "blocked";
    case FAULT_EVENT_LEAK:
        return "leak";
    case FAULT_EVENT_MISUSE:
        return "misuse";
    }
    return "unknown";
}

struct line {
    char text[1024];
    size_t length;
};

static void line_add(struct line *line, const char *key, const char *format, uint64_t value)
{
    char field[96];
    int length = snprintf(field, sizeof(field), format, key, value);

    if (length > 0 && line->length + (size_t)length < sizeof(line->text)) {
        memcpy(line->text + line->length, field, (size_t)length);
        line->length += (size_t)length;
    }
}

static void line_add_number(struct line *line, const char *key, uint64_t value)
{
    if (value)
        line_add(line, key, " %s=%" PRIu64, value);
}

static void line_add_hex(struct line *line, const char *key, uint64_t value)
{
    if (value)
        line_add(line, key, " %s=0x%" PRIx64, value);
}

static void file_write(const struct fault_record *record)
{
    struct line line;
    ssize_t count;

    line.length = (size_t)snprintf(line.text, sizeof(line.text), "pid=%ld %s %s result=%" PRId32,
                                   (long)getpid(), event_name(record->event), record->name, record->result);
    line_add_number(&line, "tid", record->thread);
    line_add_hex(&line, "parent", record->parent);
    line_add_hex(&line, "handle", record->handle);
    line_add_number(&line, "type", (uint64_t)record->type);
    line_add_number(&line, "data", record->has_data);
    line_add_number(&line, "size", record->size);
    line_add_number(&line, "size_returned", record->size_returned);
    line_add_hex(&line, "hash", record->hash);
    line_add_hex(&line, "flags", record->flags);
    line_add_hex(&line, "cache", record->cache);
    line_add_number(&line, "count", record->count);
    line_add_hex(&line, "chained", record->chained);
    line_add_number(&line, "hits", record->hits);
    line_add_number(&line, "misses", record->misses);
    line_add_hex(&line, "infos", (uintptr_t)record->infos);
    line_add(&line, "", "%s\n", 0);
    do
        count = write(file, line.text, line.length);
    while (count < 0 && errno == EINTR);
}

void journal_add(const struct fault_record *record)
{
    struct fault_record full = *record;

    full.thread = (uint32_t)syscall(SYS_gettid);
    pthread_mutex_lock(&lock);
    full.number = written;
    if (!ring)
        ring = calloc(JOURNAL_CAPACITY, sizeof(*ring));
    if (ring)
        ring[written++ % JOURNAL_CAPACITY] = full;
    if (file >= 0)
        file_write(&full);
    pthread_mutex_unlock(&lock);
}

void journal_call(enum command_id command, const struct fault_record *record, bool keep)
{
    atomic_fetch_add_explicit(&counts[command], 1, memory_order_relaxed);
    if (keep)
        journal_add(record);
}

void journal_open(const char *path)
{
    int next = -1;

    if (path && *path) {
        next = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (next < 0)
            fprintf(stderr, "fault driver: journal=%s: %s\n", path, strerror(errno));
    }
    pthread_mutex_lock(&lock);
    if (file >= 0)
        close(file);
    file = next;
    pthread_mutex_unlock(&lock);
}

void journal_clear(void)
{
    pthread_mutex_lock(&lock);
    written = 0;
    free(cache_data);
    cache_data = NULL;
    cache_data_size = 0;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        atomic_store(&counts[i], 0);
}

void journal_cache_data(const void *data, size_t size)
{
    void *copy = size ? malloc(size) : NULL;

    if (copy)
        memcpy(copy, data, size);
    pthread_mutex_lock(&lock);
    free(cache_data);
    cache_data = copy;
    cache_data_size = copy ? size : 0;
    pthread_mutex_unlock(&lock);
}

uint32_t fault_journal_count(const char *name)
{
    uint32_t sum = 0;

    if (name) {
        enum command_id command = command_find(name);

        return command == COMMAND_COUNT ? 0 : atomic_load(&counts[command]);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        sum += atomic_load(&counts[i]);
    return sum;
}

static uint32_t held(void)
{
    return written < JOURNAL_CAPACITY ? (uint32_t)written : JOURNAL_CAPACITY;
}

static const struct fault_record *at(uint32_t index)
{
    return &ring[(written - held() + index) % JOURNAL_CAPACITY];
}

uint32_t fault_journal_size(void)
{
    uint32_t size;

    pthread_mutex_lock(&lock);
    size = held();
    pthread_mutex_unlock(&lock);
    return size;
}

bool fault_journal_get(uint32_t index, struct fault_record *out)
{
    bool found;

    pthread_mutex_lock(&lock);
    found = index < held();
    if (found)
        *out = *at(index);
    pthread_mutex_unlock(&lock);
    return found;
}

bool fault_journal_last(const char *name, struct fault_record *out)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (uint32_t i = held(); i > 0 && !found; i--) {
        const struct fault_record *record = at(i - 1);

        found = record->event == FAULT_EVENT_CALL && !strcmp(record->name, name);
        if (found)
            *out = *record;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

uint32_t fault_journal_events(enum fault_event event)
{
    uint32_t count = 0;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < held(); i++)
        count += at(i)->event == event;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t fault_last_cache_data(void *out, size_t size)
{
    size_t found;

    pthread_mutex_lock(&lock);
    found = cache_data_size;
    if (out && cache_data)
        memcpy(out, cache_data, size < found ? size : found);
    pthread_mutex_unlock(&lock);
    return found;
}
