#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __ANDROID__
#include <sys/system_properties.h>
#define ANDROID_OR(android, other) android
#else
#define ANDROID_OR(android, other) other
#endif

#include "compat.h"
#include "layer_name.h"

#define FILE_PREFIX "robust_cache."
#define ENVIRONMENT_PREFIX "VK_ROBUST_CACHE_"
#define FILE_NAME "vk_layer_settings.txt"
#define FILE_SIZE_MAX (1 << 20)
/* Complaints about lines that set nothing, for one source: a hostile file has thousands. */
#define STRAY_LINES_MAX 8

enum settings_kind {
    SETTINGS_KIND_BOOL,
    SETTINGS_KIND_NUMBER,
    SETTINGS_KIND_SIZE,
    SETTINGS_KIND_ENUM,
    SETTINGS_KIND_STRING,
    SETTINGS_KIND_FOLDER,
};

struct settings_entry {
    const char *key;
    const char *environment;
    enum settings_kind kind;
    size_t offset;            /* of the member of struct settings_values */
    const char *standard;     /* the default, as text */
    const char *allowed;      /* in words */
    const char *const *names; /* ENUM: the values in order, NULL at the end */
    uint64_t low, high;       /* NUMBER and SIZE */
};

struct settings_override {
    enum settings_preset preset;
    unsigned key;
    const char *text;
};

#include "settings_entries.h"

/* In order of precedence, the later wins. */
enum { SOURCE_API, SOURCE_FILE, SOURCE_OWN_FILE, SOURCE_PROPERTIES, SOURCE_ENVIRONMENT, SOURCE_COUNT };

/* What one source says: a text per key, NULL where it says nothing. */
struct source {
    char where[512];
    char *buffer; /* what the texts point into, where it isn't the process's environment */
    const char *texts[SETTINGS_KEY_COUNT];
    unsigned lines[SETTINGS_KEY_COUNT]; /* of a file, from 1; 0 elsewhere */
    unsigned stray_lines;
};

struct reader {
    const struct application_facts *facts;
    settings_complain complain;
    void *context;
    struct source sources[SOURCE_COUNT];
};

/* --- complaints --- */

static void reader_complain(const struct reader *reader, const struct source *source, unsigned line,
                            const char *what)
{
    char where[sizeof(source->where) + 16];

    if (line > 0)
        snprintf(where, sizeof(where), "%s:%u", source->where, line);
    else
        snprintf(where, sizeof(where), "%s", source->where);
    reader->complain(reader->context, where, what);
}

static void complain_value(const struct reader *reader, const struct source *source, unsigned key)
{
    const struct settings_entry *entry = &settings_entries[key];
    char what[512];

    snprintf(what, sizeof(what), "%s is '%.64s', which is not %s: ignored", entry->key, source->texts[key],
             entry->allowed);
    reader_complain(reader, source, source->lines[key], what);
}

/* `format` takes one string. */
static void complain_stray(const struct reader *reader, struct source *source, unsigned line,
                           const char *problem, const char *text)
{
    char what[256];

    if (source->stray_lines++ < STRAY_LINES_MAX)
        snprintf(what, sizeof(what), "%s '%.64s': ignored", problem, text);
    else if (source->stray_lines == STRAY_LINES_MAX + 1)
        snprintf(what, sizeof(what), "more of the kind follow");
    else
        return;
    reader_complain(reader, source, line, what);
}

static void complain_file(const struct reader *reader, const char *path, const char *problem)
{
    char what[256];

    snprintf(what, sizeof(what), "settings file %s: ignored", problem);
    reader->complain(reader->context, path, what);
}

/* --- values --- */

static bool parse_bool(const char *text, bool *out)
{
    static const char *const names[2][4] = {{"false", "off", "0", "no"}, {"true", "on", "1", "yes"}};

    for (int value = 0; value < 2; value++) {
        for (int i = 0; i < 4; i++) {
            if (strcasecmp(text, names[value][i]) == 0) {
                *out = value == 1;
                return true;
            }
        }
    }
    return false;
}

/* Reads decimal digits only: no sign, no space. Returns what follows them, or NULL. */
static const char *parse_digits(const char *text, uint64_t *out)
{
    uint64_t value = 0;

    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text); text++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return NULL;
    }
    *out = value;
    return text;
}

static bool parse_number(const struct settings_entry *entry, const char *text, uint64_t *out)
{
    const char *rest = parse_digits(text, out);

    return rest && *rest == '\0' && *out >= entry->low && *out <= entry->high;
}

static bool parse_size(const struct settings_entry *entry, const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    const char *rest = parse_digits(text, out);

    if (!rest)
        return false;
    while (*rest == ' ')
        rest++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcasecmp(rest, units[i].name) == 0)
            return !__builtin_mul_overflow(*out, (uint64_t)1 << units[i].shift, out) && *out >= entry->low &&
                   *out <= entry->high;
    }
    return false;
}

static bool parse_enum(const struct settings_entry *entry, const char *text, unsigned *out)
{
    for (unsigned i = 0; entry->names[i]; i++) {
        if (strcasecmp(text, entry->names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

_Static_assert(sizeof(enum settings_preset) == sizeof(unsigned),
               "members of an enum are written as unsigned");

static bool value_set(struct settings_values *values, unsigned key, const char *text)
{
    const struct settings_entry *entry = &settings_entries[key];
    void *member = (char *)values + entry->offset;
    bool flag;
    unsigned choice;
    uint64_t number;
    uint32_t small;

    switch (entry->kind) {
    case SETTINGS_KIND_BOOL:
        if (!parse_bool(text, &flag))
            return false;
        memcpy(member, &flag, sizeof(flag));
        return true;
    case SETTINGS_KIND_NUMBER:
        if (!parse_number(entry, text, &number))
            return false;
        small = (uint32_t)number;
        memcpy(member, &small, sizeof(small));
        return true;
    case SETTINGS_KIND_SIZE:
        if (!parse_size(entry, text, &number))
            return false;
        memcpy(member, &number, sizeof(number));
        return true;
    case SETTINGS_KIND_ENUM:
        if (!parse_enum(entry, text, &choice))
            return false;
        memcpy(member, &choice, sizeof(choice));
        return true;
    case SETTINGS_KIND_FOLDER:
        if (*text != '\0' && (*text != '/' || strlen(text) >= PATH_MAX))
            return false;
        break;
    case SETTINGS_KIND_STRING:
        break;
    }
    text = *text == '\0' ? NULL : text;
    memcpy(member, &text, sizeof(text));
    return true;
}

static void values_set_preset(struct settings_values *values)
{
    for (size_t i = 0; i < sizeof(settings_overrides) / sizeof(settings_overrides[0]); i++) {
        if (settings_overrides[i].preset == values->preset)
            value_set(values, settings_overrides[i].key, settings_overrides[i].text);
    }
}

static void values_set_default(struct settings_values *values)
{
    memset(values, 0, sizeof(*values));
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++) {
        if (settings_entries[key].standard)
            value_set(values, key, settings_entries[key].standard);
    }
    values_set_preset(values);
}

static bool key_find(const char *name, unsigned *out)
{
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++) {
        if (strcmp(name, settings_entries[key].key) == 0) {
            *out = key;
            return true;
        }
    }
    return false;
}

/* --- VK_EXT_layer_settings --- */

/* Writes the values as one text, elements separated by commas. False for a type that isn't known. */
static bool api_write(const VkLayerSettingEXT *setting, FILE *stream)
{
    const void *values = setting->pValues;

    for (uint32_t i = 0; i < setting->valueCount; i++) {
        if (i > 0)
            fputc(',', stream);
        switch (setting->type) {
        case VK_LAYER_SETTING_TYPE_BOOL32_EXT:
            fputs(((const VkBool32 *)values)[i] ? "true" : "false", stream);
            break;
        case VK_LAYER_SETTING_TYPE_INT32_EXT:
            fprintf(stream, "%" PRId32, ((const int32_t *)values)[i]);
            break;
        case VK_LAYER_SETTING_TYPE_INT64_EXT:
            fprintf(stream, "%" PRId64, ((const int64_t *)values)[i]);
            break;
        case VK_LAYER_SETTING_TYPE_UINT32_EXT:
            fprintf(stream, "%" PRIu32, ((const uint32_t *)values)[i]);
            break;
        case VK_LAYER_SETTING_TYPE_UINT64_EXT:
            fprintf(stream, "%" PRIu64, ((const uint64_t *)values)[i]);
            break;
        case VK_LAYER_SETTING_TYPE_FLOAT32_EXT:
            fprintf(stream, "%.9g", (double)((const float *)values)[i]);
            break;
        case VK_LAYER_SETTING_TYPE_FLOAT64_EXT:
            fprintf(stream, "%.17g", ((const double *)values)[i]);
            break;
        case VK_LAYER_SETTING_TYPE_STRING_EXT:
            fputs(((const char *const *)values)[i], stream);
            break;
        default:
            return false;
        }
    }
    fputc('\0', stream);
    return true;
}

static void api_read_info(struct reader *reader, const VkLayerSettingsCreateInfoEXT *info, FILE *stream,
                          long offsets[SETTINGS_KEY_COUNT])
{
    struct source *source = &reader->sources[SOURCE_API];

    for (uint32_t i = 0; i < info->settingCount; i++) {
        const VkLayerSettingEXT *setting = &info->pSettings[i];
        const long offset = ftell(stream);
        unsigned key;

        if (strcmp(setting->pLayerName, LAYER_NAME) != 0)
            continue;
        if (!key_find(setting->pSettingName, &key))
            complain_stray(reader, source, 0, "unknown setting", setting->pSettingName);
        else if (!api_write(setting, stream))
            complain_stray(reader, source, 0, "unknown type of setting", setting->pSettingName);
        else
            offsets[key] = offset;
    }
}

/* False on out of memory. */
static bool source_read_api(struct reader *reader, const void *chain)
{
    struct source *source = &reader->sources[SOURCE_API];
    long offsets[SETTINGS_KEY_COUNT];
    size_t size;
    FILE *stream;
    bool written;

    snprintf(source->where, sizeof(source->where), "VK_EXT_layer_settings");
    stream = open_memstream(&source->buffer, &size);
    if (!stream)
        return false;
    memset(offsets, -1, sizeof(offsets));
    for (const VkBaseInStructure *node = chain; node; node = node->pNext) {
        if (node->sType == VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT)
            api_read_info(reader, (const VkLayerSettingsCreateInfoEXT *)node, stream, offsets);
    }
    written = !ferror(stream);
    if (fclose(stream) != 0 || !written)
        return false;
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++)
        source->texts[key] = offsets[key] >= 0 ? source->buffer + offsets[key] : NULL;
    return true;
}

/* --- files --- */

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static void file_parse_line(struct reader *reader, struct source *source, char *line, unsigned number,
                            bool prefix_optional)
{
    const size_t prefix = strlen(FILE_PREFIX);
    char *comment = strchr(line, '#');
    char *name;
    char *equals;
    unsigned key;

    if (comment)
        *comment = '\0';
    name = trim(line);
    if (strncmp(name, FILE_PREFIX, prefix) == 0)
        name += prefix;
    else if (!prefix_optional || *name == '\0')
        return;
    equals = strchr(name, '=');
    if (!equals) {
        complain_stray(reader, source, number, "expected <key> = <value>, found", name);
        return;
    }
    *equals = '\0';
    name = trim(name);
    if (!key_find(name, &key)) {
        complain_stray(reader, source, number, "unknown setting", name);
        return;
    }
    source->texts[key] = trim(equals + 1);
    source->lines[key] = number;
}

static void file_parse(struct reader *reader, struct source *source, bool prefix_optional)
{
    char *next = source->buffer;

    if (strncmp(next, "\xef\xbb\xbf", 3) == 0) /* the byte order mark that some editors write */
        next += 3;
    for (unsigned number = 1; next; number++) {
        char *line = strsep(&next, "\n");

        file_parse_line(reader, source, line, number, prefix_optional);
    }
}

/* Reads up to `size` bytes; returns how many, or -1. */
static ssize_t file_read(int fd, char *out, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got = read(fd, out + done, size - done);

        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static const char *file_refusal(const struct stat *status, bool owner_matters)
{
    if (!S_ISREG(status->st_mode))
        return "isn't a regular file";
    if (owner_matters && status->st_uid != geteuid() && status->st_uid != 0)
        return "in the working directory belongs to another user (VK_LAYER_SETTINGS_PATH can name it)";
    if (status->st_size > FILE_SIZE_MAX)
        return "is larger than 1 MiB";
    return NULL;
}

/* 0, also for a file that is refused with a complaint; -ENOENT if there is none; -ENOMEM. */
static int source_read_file(struct reader *reader, struct source *source, const char *path,
                            bool owner_matters, bool prefix_optional)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const char *refusal;
    struct stat status;
    ssize_t size;
    int result = 0;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return -ENOENT;
    if (fd < 0 || fstat(fd, &status) != 0) {
        complain_file(reader, path, "can't be read");
        goto close_file;
    }
    refusal = file_refusal(&status, owner_matters);
    if (refusal) {
        complain_file(reader, path, refusal);
        goto close_file;
    }
    source->buffer = malloc((size_t)status.st_size + 1);
    if (!source->buffer) {
        result = -ENOMEM;
        goto close_file;
    }
    size = file_read(fd, source->buffer, (size_t)status.st_size);
    source->buffer[size < 0 ? 0 : size] = '\0';
    if (size < 0) {
        complain_file(reader, path, "can't be read");
    } else if (strlen(source->buffer) != (size_t)size) {
        complain_file(reader, path, "isn't a text file");
    } else {
        snprintf(source->where, sizeof(source->where), "%s", path);
        file_parse(reader, source, prefix_optional);
    }

close_file:
    if (fd >= 0)
        close(fd);
    return result;
}

static const char *reader_environment(const struct reader *reader, const char *name)
{
    const char *value = reader->facts->secure ? NULL : application_environment(name);

    return value && *value != '\0' ? value : NULL;
}

/* `folder`/`name`, where $`variable` names the folder absolutely, else ~/`fallback` does. */
static bool path_below(const struct reader *reader, const char *variable, const char *fallback,
                       const char *name, char out[PATH_MAX])
{
    const char *folder = reader_environment(reader, variable);
    const char *home = reader_environment(reader, "HOME");
    int length = -1;

    if (folder && *folder == '/')
        length = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    else if (home)
        length = snprintf(out, PATH_MAX, "%s/%s/%s", home, fallback, name);
    return length >= 0 && length < PATH_MAX;
}

/* VK_LAYER_SETTINGS_PATH. */
static bool path_named(const struct reader *reader, char out[PATH_MAX])
{
    const char *named = reader_environment(reader, "VK_LAYER_SETTINGS_PATH");
    struct stat status;
    int length;

    if (!named)
        return false;
    if (stat(named, &status) == 0 && S_ISDIR(status.st_mode))
        length = snprintf(out, PATH_MAX, "%s/%s", named, FILE_NAME);
    else
        length = snprintf(out, PATH_MAX, "%s", named);
    return length >= 0 && length < PATH_MAX;
}

static int source_read_settings_file(struct reader *reader)
{
    struct source *source = &reader->sources[SOURCE_FILE];
    char path[PATH_MAX];
    int result;

    if (path_named(reader, path)) {
        result = source_read_file(reader, source, path, false, false);
        if (result != -ENOENT)
            return result;
        complain_file(reader, path, "named by VK_LAYER_SETTINGS_PATH doesn't exist");
    }
    if (path_below(reader, "XDG_DATA_HOME", ".local/share", "vulkan/settings.d/" FILE_NAME, path)) {
        result = source_read_file(reader, source, path, false, false);
        if (result != -ENOENT)
            return result;
    }
    return source_read_file(reader, source, FILE_NAME, true, false);
}

static int source_read_own_file(struct reader *reader)
{
    char application[APPLICATION_NAME_SIZE];
    char name[APPLICATION_NAME_SIZE + 32];
    char path[PATH_MAX];
    const char *app_id = NULL;

    for (int i = 0; i < SOURCE_COUNT; i++) {
        const char *text = reader->sources[i].texts[SETTINGS_KEY_APP_ID];

        app_id = text ? text : app_id;
    }
    application_name(reader->facts, app_id && *app_id != '\0' ? app_id : NULL, application);
    snprintf(name, sizeof(name), "robust_cache/%s.conf", application);
    if (!path_below(reader, "XDG_CONFIG_HOME", ".config", name, path))
        return -ENOENT;
    return source_read_file(reader, &reader->sources[SOURCE_OWN_FILE], path, false, true);
}

/* --- environment --- */

#ifdef __ANDROID__
static bool source_read_properties(struct reader *reader)
{
    struct source *source = &reader->sources[SOURCE_PROPERTIES];
    char *out = source->buffer = malloc(SETTINGS_KEY_COUNT * PROP_VALUE_MAX);

    if (!out)
        return false;
    snprintf(source->where, sizeof(source->where), "system property");
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++, out += PROP_VALUE_MAX) {
        char name[96];

        snprintf(name, sizeof(name), "debug.vulkan." FILE_PREFIX "%s", settings_entries[key].key);
        if (__system_property_get(name, out) > 0)
            source->texts[key] = out;
    }
    return true;
}
#else
static bool source_read_properties(struct reader *reader)
{
    (void)reader;
    return true;
}
#endif

static bool environment_is_known(const char *variable)
{
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++) {
        const size_t length = strlen(settings_entries[key].environment);

        if (strncmp(variable, settings_entries[key].environment, length) == 0 && variable[length] == '=')
            return true;
    }
    return false;
}

static void source_read_environment(struct reader *reader)
{
    struct source *source = &reader->sources[SOURCE_ENVIRONMENT];

    snprintf(source->where, sizeof(source->where), "environment");
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++)
        source->texts[key] = application_environment(settings_entries[key].environment);
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, ENVIRONMENT_PREFIX, strlen(ENVIRONMENT_PREFIX)) == 0 &&
            !environment_is_known(*variable))
            complain_stray(reader, source, 0, "unknown setting", *variable);
    }
}

/* --- all of it --- */

static bool sources_read(struct reader *reader, const void *instance_chain)
{
    if (!source_read_api(reader, instance_chain))
        return false;
    if (reader->facts->secure)
        return true;
    if (!source_read_properties(reader))
        return false;
    source_read_environment(reader);
    return source_read_settings_file(reader) != -ENOMEM && source_read_own_file(reader) != -ENOMEM;
}

/* Returns the highest of the sources that set the key, or -1. */
static int key_apply(const struct reader *reader, unsigned key, struct settings_values *values)
{
    int said = -1;

    for (int i = 0; i < SOURCE_COUNT; i++) {
        if (!reader->sources[i].texts[key])
            continue;
        if (value_set(values, key, reader->sources[i].texts[key]))
            said = i;
        else
            complain_value(reader, &reader->sources[i], key);
    }
    return said;
}

/* Whoever has barriers reported wants to hear of it. */
static void log_level_follow(struct settings *settings)
{
    if (!settings->log_level_said && settings->values.barriers == SETTINGS_BARRIERS_REPORT)
        settings->values.log_level = SETTINGS_LOG_LEVEL_WARNING;
}

static bool key_is_text(unsigned key)
{
    return settings_entries[key].kind == SETTINGS_KIND_STRING ||
           settings_entries[key].kind == SETTINGS_KIND_FOLDER;
}

static const char *text_get(const struct settings_values *values, unsigned key)
{
    const char *text;

    memcpy(&text, (const char *)values + settings_entries[key].offset, sizeof(text));
    return text;
}

/* Moves the texts from the sources into one block of their own. False on out of memory. */
static bool texts_own(struct settings *settings)
{
    size_t size = 1;
    char *out;

    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++) {
        if (key_is_text(key) && text_get(&settings->values, key))
            size += strlen(text_get(&settings->values, key)) + 1;
    }
    out = settings->strings = malloc(size);
    if (!out)
        return false;
    for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++) {
        if (key_is_text(key) && text_get(&settings->values, key)) {
            const char *text = strcpy(out, text_get(&settings->values, key));

            memcpy((char *)&settings->values + settings_entries[key].offset, &text, sizeof(text));
            out += strlen(text) + 1;
        }
    }
    return true;
}

bool settings_init(struct settings *out, const void *instance_chain, const struct application_facts *facts,
                   settings_complain complain, void *context)
{
    struct reader reader = {.facts = facts, .complain = complain, .context = context};
    int said[SETTINGS_KEY_COUNT];
    bool done = false;

    memset(out, 0, sizeof(*out));
    values_set_default(&out->values);
    if (sources_read(&reader, instance_chain)) {
        key_apply(&reader, SETTINGS_KEY_PRESET, &out->values);
        values_set_preset(&out->values);
        for (unsigned key = 0; key < SETTINGS_KEY_COUNT; key++) {
            if (key != SETTINGS_KEY_PRESET)
                said[key] = key_apply(&reader, key, &out->values);
        }
        done = texts_own(out);
    }
    if (done) {
        out->log_level_said = said[SETTINGS_KEY_LOG_LEVEL] >= 0;
        out->barriers_said = said[SETTINGS_KEY_BARRIERS] > SOURCE_API;
    } else {
        values_set_default(&out->values);
    }
    log_level_follow(out);
    for (int i = 0; i < SOURCE_COUNT; i++)
        free(reader.sources[i].buffer);
    return done;
}

void settings_finish(struct settings *settings)
{
    free(settings->strings);
    settings->strings = NULL;
}

void settings_only_report(struct settings *settings)
{
    settings->values.barriers = SETTINGS_BARRIERS_REPORT;
    log_level_follow(settings);
}
