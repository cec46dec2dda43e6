#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "driver.h"
#include "journal.h"

static pthread_mutex_t block_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t block_changed = PTHREAD_COND_INITIALIZER;
static bool block_released;
static uint32_t block_count;

static int parse_calls(struct fault_rule *rule, const char *text)
{
    char *end;

    rule->first = (uint32_t)strtoul(text, &end, 10);
    rule->last = rule->first;
    if (!strcmp(end, "+"))
        rule->last = UINT32_MAX;
    else if (*end == '-')
        rule->last = (uint32_t)strtoul(end + 1, &end, 10);
    else if (*end)
        return -EINVAL;
    return rule->first == 0 || rule->last < rule->first ? -EINVAL : 0;
}

static int parse_condition(struct fault_rule *rule, const char *text)
{
    static const struct {
        const char *name;
        enum fault_condition condition;
    } plain[] = {
        {"data", FAULT_WHEN_DATA},   {"nodata", FAULT_WHEN_NO_DATA}, {"corrupt", FAULT_WHEN_CORRUPT},
        {"query", FAULT_WHEN_QUERY}, {"fetch", FAULT_WHEN_FETCH},
    };

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (!strcmp(text, plain[i].name)) {
            rule->condition = plain[i].condition;
            return 0;
        }
    }
    if (!strncmp(text, "extension:", 10)) {
        rule->condition = FAULT_WHEN_EXTENSION;
        snprintf(rule->extension, sizeof(rule->extension), "%s", text + 10);
        return 0;
    }
    if (!strncmp(text, "chain:", 6)) {
        rule->condition = FAULT_WHEN_CHAIN;
        rule->chained = (VkStructureType)strtoul(text + 6, NULL, 0);
        return 0;
    }
    return -EINVAL;
}

static int parse_block(struct fault_rule *rule, const char *text)
{
    struct fault_effects *effects = &rule->effects;

    if (!text) {
        effects->block = FAULT_BLOCK_FLAG;
    } else if (!strncmp(text, "fd:", 3)) {
        effects->block = FAULT_BLOCK_DESCRIPTOR;
        effects->block_descriptor = atoi(text + 3);
    } else {
        effects->block = FAULT_BLOCK_FIFO;
        snprintf(rule->path, sizeof(rule->path), "%s", text);
    }
    return 0;
}

static int parse_crash(struct fault_effects *effects, const char *text)
{
    if (!strcmp(text, "segv"))
        effects->crash = FAULT_CRASH_SEGV;
    else if (!strcmp(text, "abort"))
        effects->crash = FAULT_CRASH_ABORT;
    else if (!strcmp(text, "kill"))
        effects->crash = FAULT_CRASH_KILL;
    else
        return -EINVAL;
    return 0;
}

static int parse_size(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return errno || end == text || *end ? -EINVAL : 0;
}

static int parse_result(struct fault_effects *effects, const char *text)
{
    char *end;

    effects->has_result = true;
    effects->result = (VkResult)strtol(text, &end, 0);
    return end == text || *end ? -EINVAL : 0;
}

static int parse_flag(bool *flag)
{
    *flag = true;
    return 0;
}

/* `value` is NULL for an item without '='. */
static int parse_item(struct fault_rule *rule, const char *key, const char *value)
{
    struct fault_effects *effects = &rule->effects;

    if (!strcmp(key, "block"))
        return parse_block(rule, value);
    if (!value) {
        if (!strcmp(key, "after"))
            return parse_flag(&effects->after);
        if (!strcmp(key, "drop"))
            return parse_flag(&effects->drop);
        if (!strcmp(key, "untouched"))
            return parse_flag(&effects->untouched);
        return -EINVAL;
    }
    if (!strcmp(key, "call"))
        return parse_calls(rule, value);
    if (!strcmp(key, "when"))
        return parse_condition(rule, value);
    if (!strcmp(key, "result"))
        return parse_result(effects, value);
    if (!strcmp(key, "delay"))
        return parse_size(value, &effects->delay_us);
    if (!strcmp(key, "crash"))
        return parse_crash(effects, value);
    if (!strcmp(key, "grow"))
        return parse_size(value, &effects->grow);
    if (!strcmp(key, "short"))
        return parse_size(value, &effects->shortfall);
    if (!strcmp(key, "reported"))
        return effects->has_reported = true, parse_size(value, &effects->reported);
    return -EINVAL;
}

int fault_rule_parse(struct fault_rule *rule, char *text, char *problem, size_t problem_size)
{
    char *rest = text;
    const char *function = strsep(&rest, ",");
    char *item;

    rule->first = 1;
    rule->last = UINT32_MAX;
    snprintf(rule->function, sizeof(rule->function), "%s", function);
    if (command_find(function) == COMMAND_COUNT && !strpbrk(function, "*?[")) {
        snprintf(problem, problem_size, "there is no function '%s'", function);
        return -EINVAL;
    }
    while ((item = strsep(&rest, ","))) {
        char *value = item;
        const char *key = strsep(&value, "=");

        if (parse_item(rule, key, value)) {
            snprintf(problem, problem_size, "fault of %s: '%s%s%s' isn't understood", function, key,
                     value ? "=" : "", value ? value : "");
            return -EINVAL;
        }
    }
    return 0;
}

static bool call_has_data(const struct call *call)
{
    const VkPipelineCacheCreateInfo *info = call->info;

    if (call->command == COMMAND_vkCreatePipelineCache)
        return info->initialDataSize != 0;
    return call->cache && OBJECT(cache, call->cache)->had_data;
}

static bool call_has_corrupt_data(const struct call *call)
{
    const VkPipelineCacheCreateInfo *info = call->info;

    if (call->command == COMMAND_vkCreatePipelineCache)
        return info->initialDataSize && !cache_data_is_whole(info->pInitialData, info->initialDataSize);
    return call->cache && OBJECT(cache, call->cache)->had_corrupt_data;
}

static bool call_enables(const struct call *call, const char *extension)
{
    const char *const *names = NULL;
    uint32_t count = 0;

    if (call->command == COMMAND_vkCreateDevice) {
        names = ((const VkDeviceCreateInfo *)call->info)->ppEnabledExtensionNames;
        count = ((const VkDeviceCreateInfo *)call->info)->enabledExtensionCount;
    } else if (call->command == COMMAND_vkCreateInstance) {
        names = ((const VkInstanceCreateInfo *)call->info)->ppEnabledExtensionNames;
        count = ((const VkInstanceCreateInfo *)call->info)->enabledExtensionCount;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(names[i], extension))
            return true;
    }
    return false;
}

static bool condition_holds(const struct fault_rule *rule, const struct call *call)
{
    switch (rule->condition) {
    case FAULT_WHEN_ALWAYS:
        return true;
    case FAULT_WHEN_DATA:
        return call_has_data(call);
    case FAULT_WHEN_NO_DATA:
        return !call_has_data(call);
    case FAULT_WHEN_CORRUPT:
        return call_has_corrupt_data(call);
    case FAULT_WHEN_QUERY:
        return !call->output;
    case FAULT_WHEN_FETCH:
        return call->output != NULL;
    case FAULT_WHEN_EXTENSION:
        return call_enables(call, rule->extension);
    case FAULT_WHEN_CHAIN:
        return chain_find(call->info, rule->chained) != NULL;
    }
    return false;
}

static void effects_add(struct fault_effects *sum, const struct fault_rule *rule)
{
    const struct fault_effects *effects = &rule->effects;

    if (effects->has_result && !sum->has_result) {
        sum->has_result = true;
        sum->result = effects->result;
        sum->after = effects->after;
    }
    if (effects->block != FAULT_BLOCK_NONE && sum->block == FAULT_BLOCK_NONE) {
        sum->block = effects->block;
        sum->block_descriptor = effects->block_descriptor;
        sum->block_path = rule->path;
    }
    if (effects->crash != FAULT_CRASH_NONE)
        sum->crash = effects->crash;
    if (effects->has_reported) {
        sum->has_reported = true;
        sum->reported = effects->reported;
    }
    sum->drop |= effects->drop;
    sum->untouched |= effects->untouched;
    sum->delay_us += effects->delay_us;
    sum->grow += effects->grow;
    sum->shortfall += effects->shortfall;
}

void faults_collect(struct call *call, struct fault_effects *effects)
{
    const char *name = command_descriptions[call->command].name;
    uint32_t count;
    struct fault_rule *rules = config_rules(&count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t number;

        if (fnmatch(rules[i].function, name, 0) != 0 || !condition_holds(&rules[i], call))
            continue;
        number = atomic_fetch_add(&rules[i].calls, 1) + 1;
        if (number >= rules[i].first && number <= rules[i].last)
            effects_add(effects, &rules[i]);
    }
}

static void effect_delay(uint64_t microseconds)
{
    struct timespec left = {.tv_sec = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static void block_on_flag(void)
{
    pthread_mutex_lock(&block_lock);
    block_count++;
    pthread_cond_broadcast(&block_changed);
    while (!block_released)
        pthread_cond_wait(&block_changed, &block_lock);
    pthread_mutex_unlock(&block_lock);
}

static void block_on_descriptor(int descriptor)
{
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};

    while (poll(&wanted, 1, -1) < 0 && errno == EINTR)
        ;
}

static void block_on_fifo(const char *path)
{
    int descriptor;
    char ignored[64];
    ssize_t count;

    do
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) {
        fprintf(stderr, "fault driver: block=%s: %s\n", path, strerror(errno));
        abort();
    }
    do
        count = read(descriptor, ignored, sizeof(ignored));
    while (count > 0 || (count < 0 && errno == EINTR));
    close(descriptor);
}

static void effect_crash(enum fault_crash crash)
{
    /* Memory that may not be touched: a fault as a driver's bug makes it, which no sanitizer takes for its
     * own. */
    volatile char *forbidden;

    switch (crash) {
    case FAULT_CRASH_SEGV:
        forbidden = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *forbidden = 1;
        break;
    case FAULT_CRASH_ABORT:
        abort();
    case FAULT_CRASH_KILL:
        raise(SIGKILL);
        break;
    case FAULT_CRASH_NONE:
        break;
    }
}

static void record_event(struct call *call, enum fault_event event)
{
    struct fault_record record = call->record;

    record.event = event;
    journal_add(&record);
}

void faults_apply(struct call *call, const struct fault_effects *effects)
{
    if (effects->delay_us)
        effect_delay(effects->delay_us);
    if (effects->block != FAULT_BLOCK_NONE)
        record_event(call, FAULT_EVENT_BLOCKED);
    switch (effects->block) {
    case FAULT_BLOCK_NONE:
        break;
    case FAULT_BLOCK_FLAG:
        block_on_flag();
        break;
    case FAULT_BLOCK_DESCRIPTOR:
        block_on_descriptor(effects->block_descriptor);
        break;
    case FAULT_BLOCK_FIFO:
        block_on_fifo(effects->block_path);
        break;
    }
    if (effects->crash != FAULT_CRASH_NONE) {
        record_event(call, FAULT_EVENT_CRASH);
        effect_crash(effects->crash);
    }
}

void faults_restart(void)
{
    pthread_mutex_lock(&block_lock);
    block_released = false;
    block_count = 0;
    pthread_mutex_unlock(&block_lock);
}

void fault_release(void)
{
    pthread_mutex_lock(&block_lock);
    block_released = true;
    pthread_cond_broadcast(&block_changed);
    pthread_mutex_unlock(&block_lock);
}

bool fault_wait_blocked(uint32_t count, uint32_t timeout_ms)
{
    struct timespec end;
    bool reached;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(timeout_ms / 1000);
    end.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&block_lock);
    while (block_count < count) {
        if (pthread_cond_timedwait(&block_changed, &block_lock, &end) == ETIMEDOUT)
            break;
    }
    reached = block_count >= count;
    pthread_mutex_unlock(&block_lock);
    return reached;
}
