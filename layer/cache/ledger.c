#include "ledger.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LINE "robust_cache ledger 1"
#define LINE_MAX_LENGTH 96 /* the longest line that ledger_format() writes is shorter */

_Static_assert((LEDGER_LEFT_MAX + 3 * LEDGER_DATA_MAX + 4) * LINE_MAX_LENGTH <= LEDGER_TEXT_MAX,
               "a full ledger must fit its text form");

/* --- The model --- */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* A clock set to before 1970 must not bring a sign into the text form, nor overflow a difference. */
static int64_t valid_time(int64_t now)
{
    return now < 0 ? 0 : now;
}

/* Whether the two times, both not negative, are less than `seconds` apart: either way, since clocks get set
 * back. */
static bool times_are_within(int64_t a, int64_t b, int64_t seconds)
{
    return (a > b ? a - b : b - a) < seconds;
}

static bool left_equal(const struct ledger_left *a, const struct ledger_left *b)
{
    return a->size == b->size && hash128_equal(&a->hash, &b->hash);
}

static void remove_left(struct ledger *ledger, uint32_t index)
{
    ledger->left_count--;
    memmove(&ledger->left[index], &ledger->left[index + 1],
            (ledger->left_count - index) * sizeof(ledger->left[0]));
}

/* Puts the record at the newest place, out of wherever an equal one was. */
static void put_left(struct ledger *ledger, const struct ledger_left *left)
{
    uint32_t i = 0;

    while (i < ledger->left_count && !left_equal(&ledger->left[i], left))
        i++;
    if (i < ledger->left_count)
        remove_left(ledger, i);
    else if (ledger->left_count == LEDGER_LEFT_MAX)
        remove_left(ledger, 0);
    ledger->left[ledger->left_count++] = *left;
}

void ledger_add_left(struct ledger *ledger, uint64_t size, const struct hash128 *hash)
{
    struct ledger_left left = {.size = size, .hash = *hash};

    put_left(ledger, &left);
}

bool ledger_has_left(const struct ledger *ledger, uint64_t size, const struct hash128 *hash)
{
    const struct ledger_left left = {.size = size, .hash = *hash};

    for (uint32_t i = 0; i < ledger->left_count; i++) {
        if (left_equal(&ledger->left[i], &left))
            return true;
    }
    return false;
}

static const struct ledger_data *find_data(const struct ledger *ledger, const struct hash128 *hash)
{
    for (uint32_t i = 0; i < ledger->data_count; i++) {
        if (hash128_equal(&ledger->data[i].hash, hash))
            return &ledger->data[i];
    }
    return NULL;
}

static void remove_data(struct ledger *ledger, uint32_t index)
{
    ledger->data_count--;
    memmove(&ledger->data[index], &ledger->data[index + 1],
            (ledger->data_count - index) * sizeof(ledger->data[0]));
}

static uint32_t oldest_dispensable_data(const struct ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->data_count; i++) {
        if (ledger->data[i].quarantine == LEDGER_NOT_QUARANTINED)
            return i;
    }
    return 0;
}

/* Puts the record at the newest place, instead of one with the same hash. */
static void put_data(struct ledger *ledger, const struct ledger_data *data)
{
    const struct ledger_data *old = find_data(ledger, &data->hash);

    if (old)
        remove_data(ledger, (uint32_t)(old - ledger->data));
    else if (ledger->data_count == LEDGER_DATA_MAX)
        remove_data(ledger, oldest_dispensable_data(ledger));
    ledger->data[ledger->data_count++] = *data;
}

/* What is known of the hash, or nothing. */
static struct ledger_data get_data(const struct ledger *ledger, const struct hash128 *hash)
{
    const struct ledger_data *data = find_data(ledger, hash);

    return data ? *data : (struct ledger_data){.hash = *hash};
}

void ledger_add_proven(struct ledger *ledger, const struct hash128 *hash)
{
    struct ledger_data data = {.hash = *hash, .proven = true};

    put_data(ledger, &data);
}

bool ledger_is_proven(const struct ledger *ledger, const struct hash128 *hash)
{
    const struct ledger_data *data = find_data(ledger, hash);

    return data && data->proven;
}

enum ledger_death ledger_add_death(struct ledger *ledger, const struct hash128 *hash, int64_t now)
{
    struct ledger_data data = get_data(ledger, hash);

    now = valid_time(now);
    if (data.deaths > 0 && times_are_within(now, data.last_death, LEDGER_DEATH_DISTANCE))
        return LEDGER_SAME_DEATH;

    data.proven = false;
    data.last_death = now;
    if (data.deaths < UINT32_MAX)
        data.deaths++;
    if (data.deaths > 1) {
        data.quarantine = LEDGER_DIED;
        data.quarantined_at = now;
    }
    put_data(ledger, &data);
    return data.deaths > 1 ? LEDGER_SECOND_DEATH : LEDGER_FIRST_DEATH;
}

void ledger_add_rejected(struct ledger *ledger, const struct hash128 *hash, int64_t now)
{
    struct ledger_data data = get_data(ledger, hash);

    data.proven = false;
    data.quarantine = LEDGER_REJECTED;
    data.quarantined_at = valid_time(now);
    put_data(ledger, &data);
}

enum ledger_quarantine ledger_quarantine_of(const struct ledger *ledger, const struct hash128 *hash,
                                            int64_t now)
{
    const struct ledger_data *data = find_data(ledger, hash);

    if (!data || data->quarantine == LEDGER_NOT_QUARANTINED ||
        !times_are_within(valid_time(now), data->quarantined_at, LEDGER_QUARANTINE_SECONDS))
        return LEDGER_NOT_QUARANTINED;
    return data->quarantine;
}

/* --- Reading the text form --- */

struct field {
    const char *text; /* not zero-terminated */
    size_t length;
};

#define FIELDS_MAX 4

static bool field_is(const struct field *field, const char *word)
{
    return field->length == strlen(word) && memcmp(field->text, word, field->length) == 0;
}

static bool read_number(const struct field *field, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    if (field->length == 0)
        return false;
    for (size_t i = 0; i < field->length; i++) {
        char c = field->text[i];
        uint64_t digit;

        if (c < '0' || c > '9')
            return false;
        digit = (uint64_t)(c - '0');
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool read_time(const struct field *field, int64_t *out)
{
    uint64_t value;

    if (!read_number(field, INT64_MAX, &value))
        return false;
    *out = (int64_t)value;
    return true;
}

static bool read_hash(const struct field *field, struct hash128 *out)
{
    return field->length == HASH128_HEX_SIZE - 1 && hash128_from_hex(field->text, out);
}

static bool read_left(struct ledger *ledger, const struct field *fields)
{
    struct ledger_left left;

    if (!read_number(&fields[0], UINT64_MAX, &left.size) || !read_hash(&fields[1], &left.hash))
        return false;
    put_left(ledger, &left);
    return true;
}

static bool read_proven(struct ledger *ledger, const struct field *fields)
{
    struct hash128 hash;

    if (!read_hash(&fields[0], &hash))
        return false;
    ledger_add_proven(ledger, &hash);
    return true;
}

static bool read_death(struct ledger *ledger, const struct field *fields)
{
    struct ledger_data data;
    struct hash128 hash;
    uint64_t count;

    if (!read_hash(&fields[0], &hash))
        return false;
    data = get_data(ledger, &hash);
    if (!read_time(&fields[1], &data.last_death) || !read_number(&fields[2], UINT32_MAX, &count) ||
        count == 0)
        return false;
    data.proven = false;
    data.deaths = (uint32_t)count;
    put_data(ledger, &data);
    return true;
}

static const char *const quarantine_words[] = {
    [LEDGER_DIED] = "died",
    [LEDGER_REJECTED] = "rejected",
};

static bool read_quarantine(struct ledger *ledger, const struct field *fields)
{
    struct ledger_data data;
    struct hash128 hash;

    if (!read_hash(&fields[0], &hash))
        return false;
    data = get_data(ledger, &hash);
    if (!read_time(&fields[1], &data.quarantined_at))
        return false;
    if (field_is(&fields[2], quarantine_words[LEDGER_DIED]))
        data.quarantine = LEDGER_DIED;
    else if (field_is(&fields[2], quarantine_words[LEDGER_REJECTED]))
        data.quarantine = LEDGER_REJECTED;
    else
        return false;
    data.proven = false;
    put_data(ledger, &data);
    return true;
}

static bool read_asked(struct ledger *ledger, const struct field *fields)
{
    (void)fields;
    ledger->asked = true;
    return true;
}

static bool read_rebuild(struct ledger *ledger, const struct field *fields)
{
    (void)fields;
    ledger->rebuild = true;
    return true;
}

static bool read_compiled(struct ledger *ledger, const struct field *fields)
{
    uint64_t pipelines, ns;

    if (!read_number(&fields[0], UINT64_MAX, &pipelines) || !read_number(&fields[1], UINT64_MAX, &ns))
        return false;
    ledger->compiled_pipelines = add_saturating(ledger->compiled_pipelines, pipelines);
    ledger->compiled_ns = add_saturating(ledger->compiled_ns, ns);
    return true;
}

static const struct record {
    const char *word;
    size_t field_count; /* behind the word */
    bool (*read)(struct ledger *ledger, const struct field *fields);
} records[] = {
    {"left", 2, read_left},         {"proven", 1, read_proven},   {"death", 3, read_death},
    {"asked", 0, read_asked},       {"rebuild", 0, read_rebuild}, {"quarantine", 3, read_quarantine},
    {"compiled", 2, read_compiled},
};

/* Cuts the line at every space. Returns the number of fields; one with too many counts as FIELDS_MAX + 1. */
static size_t split_line(const char *line, size_t length, struct field fields[FIELDS_MAX])
{
    size_t count = 0;

    for (;;) {
        const char *space = memchr(line, ' ', length);
        size_t field_length = space ? (size_t)(space - line) : length;

        if (count == FIELDS_MAX)
            return FIELDS_MAX + 1;
        fields[count++] = (struct field){.text = line, .length = field_length};
        if (!space)
            return count;
        line += field_length + 1;
        length -= field_length + 1;
    }
}

static bool read_line(struct ledger *ledger, const char *line, size_t length)
{
    struct field fields[FIELDS_MAX];
    size_t count = split_line(line, length, fields);

    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        if (count == records[i].field_count + 1 && field_is(&fields[0], records[i].word))
            return records[i].read(ledger, fields + 1);
    }
    return false;
}

bool ledger_parse(struct ledger *ledger, const char *text, size_t size, uint32_t *bad_lines)
{
    const char *line = text;
    size_t left = size;
    bool first = true;

    *bad_lines = 0;
    if (size == 0 || size > LEDGER_TEXT_MAX)
        return false;
    while (left > 0) {
        const char *newline = memchr(line, '\n', left);
        struct field whole = {.text = line, .length = newline ? (size_t)(newline - line) : left};
        size_t step = newline ? whole.length + 1 : whole.length;

        if (first && !field_is(&whole, FIRST_LINE))
            return false;
        if (!first && !read_line(ledger, whole.text, whole.length))
            (*bad_lines)++;
        first = false;
        line += step;
        left -= step;
    }
    return true;
}

/* --- Writing it --- */

struct writer {
    char *out;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void write_line(struct writer *writer, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(writer->out + writer->used, LEDGER_TEXT_MAX - writer->used, format, arguments);
    va_end(arguments);
    writer->used += (size_t)length;
}

static void write_data(struct writer *writer, const struct ledger_data *data)
{
    char hex[HASH128_HEX_SIZE];

    hash128_to_hex(&data->hash, hex);
    if (data->proven)
        write_line(writer, "proven %s\n", hex);
    if (data->deaths > 0)
        write_line(writer, "death %s %" PRId64 " %" PRIu32 "\n", hex, data->last_death, data->deaths);
    if (data->quarantine != LEDGER_NOT_QUARANTINED)
        write_line(writer, "quarantine %s %" PRId64 " %s\n", hex, data->quarantined_at,
                   quarantine_words[data->quarantine]);
}

size_t ledger_format(const struct ledger *ledger, char *out)
{
    struct writer writer = {.out = out};
    char hex[HASH128_HEX_SIZE];

    write_line(&writer, FIRST_LINE "\n");
    for (uint32_t i = 0; i < ledger->left_count; i++) {
        hash128_to_hex(&ledger->left[i].hash, hex);
        write_line(&writer, "left %" PRIu64 " %s\n", ledger->left[i].size, hex);
    }
    for (uint32_t i = 0; i < ledger->data_count; i++)
        write_data(&writer, &ledger->data[i]);
    if (ledger->asked)
        write_line(&writer, "asked\n");
    if (ledger->rebuild)
        write_line(&writer, "rebuild\n");
    if (ledger->compiled_pipelines > 0 || ledger->compiled_ns > 0)
        write_line(&writer, "compiled %" PRIu64 " %" PRIu64 "\n", ledger->compiled_pipelines,
                   ledger->compiled_ns);
    return writer.used;
}

/* --- Merging --- */

/* Whatever is put goes to the newest place, so what a ledger got since `base` stands behind the
 * longest beginning of it that is still `base` in base's order, less what has been pushed out. */

static uint32_t first_new_left(const struct ledger *ledger, const struct ledger *base)
{
    uint32_t i = 0;

    for (uint32_t j = 0; i < ledger->left_count && j < base->left_count; j++) {
        if (left_equal(&ledger->left[i], &base->left[j]))
            i++;
    }
    return i;
}

static bool data_equal(const struct ledger_data *a, const struct ledger_data *b)
{
    return hash128_equal(&a->hash, &b->hash) && a->proven == b->proven && a->deaths == b->deaths &&
           a->last_death == b->last_death && a->quarantine == b->quarantine &&
           a->quarantined_at == b->quarantined_at;
}

static uint32_t first_new_data(const struct ledger *ledger, const struct ledger *base)
{
    uint32_t i = 0;

    for (uint32_t j = 0; i < ledger->data_count && j < base->data_count; j++) {
        if (data_equal(&ledger->data[i], &base->data[j]))
            i++;
    }
    return i;
}

static uint32_t deaths_since(const struct ledger_data *data, const struct ledger_data *base)
{
    return data->deaths > base->deaths ? data->deaths - base->deaths : 0;
}

/* Both have got deaths since `base`; two that are close together are one event that both saw. */
static uint32_t unite_deaths(const struct ledger_data *a, const struct ledger_data *b,
                             const struct ledger_data *base)
{
    uint32_t of_a = deaths_since(a, base), of_b = deaths_since(b, base);
    uint64_t sum = (uint64_t)base->deaths + of_a + of_b;

    if (of_a > 0 && of_b > 0 && times_are_within(a->last_death, b->last_death, LEDGER_DEATH_DISTANCE))
        return a->deaths > b->deaths ? a->deaths : b->deaths;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static const struct ledger_data *newer_quarantine(const struct ledger_data *a, const struct ledger_data *b)
{
    if (a->quarantine == LEDGER_NOT_QUARANTINED)
        return b;
    return b->quarantine != LEDGER_NOT_QUARANTINED && b->quarantined_at > a->quarantined_at ? b : a;
}

/* Both sides changed what `base` says of one hash. */
static struct ledger_data unite_data(const struct ledger_data *a, const struct ledger_data *b,
                                     const struct ledger_data *base)
{
    const struct ledger_data *quarantine = newer_quarantine(a, b);
    struct ledger_data data = {.hash = a->hash};

    data.proven = a->proven || b->proven;
    if (data.proven)
        return data;

    data.deaths = unite_deaths(a, b, base);
    data.last_death = a->last_death > b->last_death ? a->last_death : b->last_death;
    data.quarantine = quarantine->quarantine;
    data.quarantined_at = quarantine->quarantined_at;
    if (data.deaths > 1 && data.deaths > a->deaths && data.deaths > b->deaths &&
        data.last_death >= data.quarantined_at) {
        data.quarantine = LEDGER_DIED;
        data.quarantined_at = data.last_death;
    }
    return data;
}

static struct ledger_data merge_data(const struct ledger_data *ours, const struct ledger *other,
                                     const struct ledger *base)
{
    const struct ledger_data *theirs = find_data(other, &ours->hash);
    struct ledger_data before = get_data(base, &ours->hash);

    if (!theirs || data_equal(theirs, &before))
        return *ours;
    if (data_equal(ours, &before))
        return *theirs;
    return unite_data(ours, theirs, &before);
}

static uint64_t merge_counter(uint64_t ours, uint64_t theirs, uint64_t base)
{
    return add_saturating(theirs, ours > base ? ours - base : 0);
}

void ledger_merge(struct ledger *ledger, const struct ledger *other, const struct ledger *base)
{
    struct ledger out = *other;

    for (uint32_t i = first_new_left(ledger, base); i < ledger->left_count; i++)
        put_left(&out, &ledger->left[i]);
    for (uint32_t i = first_new_data(ledger, base); i < ledger->data_count; i++) {
        struct ledger_data data = merge_data(&ledger->data[i], other, base);

        put_data(&out, &data);
    }
    out.asked = ledger->asked || other->asked;
    if (ledger->rebuild != base->rebuild)
        out.rebuild = ledger->rebuild;
    out.compiled_pipelines =
        merge_counter(ledger->compiled_pipelines, other->compiled_pipelines, base->compiled_pipelines);
    out.compiled_ns = merge_counter(ledger->compiled_ns, other->compiled_ns, base->compiled_ns);
    *ledger = out;
}
