#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "journal.h"
#include "oracle_report.h"
#include "pipelines.h"

/* Everything that fault_configure() replaces at once. */
struct configuration {
    struct driver_config driver;
    uint32_t rule_count;
    struct fault_rule rules[CONFIG_MAX_RULES];
};

static struct configuration current;
static bool current_valid;
static pthread_once_t current_once = PTHREAD_ONCE_INIT;

static void configuration_init(struct configuration *configuration)
{
    memset(configuration, 0, sizeof(*configuration));
    configuration->driver = (struct driver_config){
        .api = VK_MAKE_API_VERSION(0, 1, 3, VK_HEADER_VERSION),
        .vendor = 0x1fa7,
        .device = 1,
        .driver_version = 1,
        .driver_name = "fault driver",
        .driver_info = "for tests",
        .device_name = "Fault-injecting device",
        .devices = 1,
        .header = 1,
        .entry_size = 300,
        .defer = true,
    };
}

static int parse_number(const char *text, uint64_t max, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return errno || end == text || *end || *out > max ? -EINVAL : 0;
}

static int parse_u32(const char *text, uint32_t *out)
{
    uint64_t number;
    int error = parse_number(text, UINT32_MAX, &number);

    if (!error)
        *out = (uint32_t)number;
    return error;
}

static int parse_bool(const char *text, bool *out)
{
    uint64_t number;
    int error = parse_number(text, 1, &number);

    if (!error)
        *out = number != 0;
    return error;
}

static int parse_string(const char *text, char *out, size_t size)
{
    int length = snprintf(out, size, "%s", text);

    return length < 0 || (size_t)length >= size ? -EINVAL : 0;
}

static int parse_api(const char *text, uint32_t *out)
{
    unsigned major, minor;
    char rest;

    if (sscanf(text, "%u.%u%c", &major, &minor, &rest) != 2 || major != 1 || minor > 99)
        return -EINVAL;
    *out = VK_MAKE_API_VERSION(0, major, minor, minor ? VK_HEADER_VERSION : 0);
    return 0;
}

static int parse_uuid(const char *text, struct driver_config *config)
{
    if (!strcmp(text, "auto")) {
        config->uuid = CONFIG_UUID_AUTO;
    } else if (!strcmp(text, "constant")) {
        config->uuid = CONFIG_UUID_CONSTANT;
    } else if (!strcmp(text, "zero")) {
        config->uuid = CONFIG_UUID_ZERO;
    } else {
        config->uuid = CONFIG_UUID_GIVEN;
        if (strlen(text) != 2 * VK_UUID_SIZE || strspn(text, "0123456789abcdefABCDEF") != 2 * VK_UUID_SIZE)
            return -EINVAL;
        for (size_t i = 0; i < VK_UUID_SIZE; i++) {
            char digits[3] = {text[2 * i], text[2 * i + 1], 0};

            config->given_uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
        }
    }
    return 0;
}

static int parse_keeps(const char *text, enum config_keeps *out)
{
    if (!strcmp(text, "entries"))
        *out = CONFIG_KEEPS_ENTRIES;
    else if (!strcmp(text, "nothing"))
        *out = CONFIG_KEEPS_NOTHING;
    else if (!strcmp(text, "echo"))
        *out = CONFIG_KEEPS_ECHO;
    else
        return -EINVAL;
    return 0;
}

static int parse_name(const char *text, char names[CONFIG_MAX_NAMES][FAULT_TEXT_SIZE], uint32_t *count)
{
    if (*count == CONFIG_MAX_NAMES)
        return -EINVAL;
    return parse_string(text, names[(*count)++], FAULT_TEXT_SIZE);
}

static int parse_item(struct driver_config *c, const char *key, const char *value)
{
    if (!strcmp(key, "api"))
        return parse_api(value, &c->api);
    if (!strcmp(key, "vendor"))
        return parse_u32(value, &c->vendor);
    if (!strcmp(key, "device"))
        return parse_u32(value, &c->device);
    if (!strcmp(key, "driver_version"))
        return parse_u32(value, &c->driver_version);
    if (!strcmp(key, "driver_id"))
        return parse_u32(value, &c->driver_id);
    if (!strcmp(key, "driver_name"))
        return parse_string(value, c->driver_name, sizeof(c->driver_name));
    if (!strcmp(key, "driver_info"))
        return parse_string(value, c->driver_info, sizeof(c->driver_info));
    if (!strcmp(key, "device_name"))
        return parse_string(value, c->device_name, sizeof(c->device_name));
    if (!strcmp(key, "devices"))
        return parse_u32(value, &c->devices) || c->devices > CONFIG_MAX_DEVICES ? -EINVAL : 0;
    if (!strcmp(key, "uuid"))
        return parse_uuid(value, c);
    if (!strcmp(key, "protected"))
        return parse_bool(value, &c->protected_memory);
    if (!strcmp(key, "hide"))
        return parse_name(value, c->hidden, &c->hidden_count);
    if (!strcmp(key, "show"))
        return parse_name(value, c->shown, &c->shown_count);
    if (!strcmp(key, "keeps"))
        return parse_keeps(value, &c->keeps);
    if (!strcmp(key, "header"))
        return parse_u32(value, &c->header) || (c->header != 1 && c->header != 2 && c->header != 28) ? -EINVAL
                                                                                                     : 0;
    if (!strcmp(key, "entry_size"))
        return parse_u32(value, &c->entry_size);
    if (!strcmp(key, "miss"))
        return parse_u32(value, &c->miss_us);
    if (!strcmp(key, "defer"))
        return parse_bool(value, &c->defer);
    if (!strcmp(key, "merge_moves"))
        return parse_bool(value, &c->merge_moves);
    if (!strcmp(key, "journal"))
        return parse_string(value, c->journal, sizeof(c->journal));
    if (!strcmp(key, "journal_commands"))
        return parse_bool(value, &c->journal_commands);
    if (!strcmp(key, "oracle"))
        return parse_bool(value, &c->oracle);
    if (!strcmp(key, "oracle_file"))
        return parse_string(value, c->oracle_file, sizeof(c->oracle_file));
    return -EINVAL;
}

/* Changes `text`. */
static int configuration_parse(struct configuration *configuration, char *text, char *problem,
                               size_t problem_size)
{
    char *rest = text;
    char *item;

    configuration_init(configuration);
    while ((item = strsep(&rest, ";"))) {
        char *value = item;
        char *key = strsep(&value, "=");

        if (!*key && !value)
            continue;
        if (!strcmp(key, "fault") && value) {
            if (configuration->rule_count == CONFIG_MAX_RULES) {
                snprintf(problem, problem_size, "more than %d faults", CONFIG_MAX_RULES);
                return -EINVAL;
            }
            if (fault_rule_parse(&configuration->rules[configuration->rule_count++], value, problem,
                                 problem_size))
                return -EINVAL;
        } else if (!value || parse_item(&configuration->driver, key, value)) {
            snprintf(problem, problem_size, "'%s=%s' isn't understood", key, value ? value : "");
            return -EINVAL;
        }
    }
    return 0;
}

static int configure(const char *text, char *problem, size_t problem_size)
{
    struct configuration *next = malloc(sizeof(*next));
    char *copy = strdup(text);
    int error = -ENOMEM;

    if (!next || !copy) {
        snprintf(problem, problem_size, "out of memory");
        goto out;
    }
    error = configuration_parse(next, copy, problem, problem_size);
    if (error)
        goto out;
    memcpy(&current, next, sizeof(current));
    current_valid = true;
    journal_open(current.driver.journal);
    oracle_report_open(current.driver.oracle_file);
    faults_restart();
out:
    free(copy);
    free(next);
    return error;
}

static int configure_from_environment(void)
{
    const char *text = getenv("FAULT_DRIVER");
    char problem[512];
    int error = configure(text ? text : "", problem, sizeof(problem));

    if (error) {
        fprintf(stderr, "fault driver: FAULT_DRIVER: %s\n", problem);
        current_valid = false;
    }
    return error;
}

static void configure_first(void)
{
    configuration_init(&current);
    configure_from_environment();
}

const struct driver_config *config_current(bool *valid)
{
    pthread_once(&current_once, configure_first);
    if (valid)
        *valid = current_valid;
    return &current.driver;
}

struct fault_rule *config_rules(uint32_t *count)
{
    pthread_once(&current_once, configure_first);
    *count = current.rule_count;
    return current.rules;
}

int fault_configure(const char *text, char *problem, size_t problem_size)
{
    char unwanted[512];

    pthread_once(&current_once, configure_first);
    return problem ? configure(text, problem, problem_size) : configure(text, unwanted, sizeof(unwanted));
}

int fault_reset(void)
{
    pthread_once(&current_once, configure_first);
    journal_clear();
    pipeline_counters_reset();
    fault_oracle_reset();
    return configure_from_environment();
}
