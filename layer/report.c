#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "application.h"
#include "descriptor.h"

#ifdef __ANDROID__
#include <android/log.h>
#endif

#define LINE_SIZE 1024
#define MESSAGES_MAX 64
#define CLOSING ",\"truncated\":true}\n" /* the longest end of an event, for which room is always kept */

struct report {
    enum report_level level;
    bool messenger;
    int log_fd;    /* -1: standard error or logcat */
    int report_fd; /* -1: none */
    char application[APPLICATION_NAME_SIZE];

    pthread_mutex_t lock; /* of what follows */
    struct report_message messages[MESSAGES_MAX];
    unsigned first;
    unsigned dropped;
    atomic_uint waiting; /* written under the lock, read by report_has_messages() without */
};

static const char *level_name(enum report_level level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};

    return names[level];
}

/* --- text --- */

/* Length of the UTF-8 sequence that `text` begins with, or 0 if it's none: cut off, overlong, a surrogate or
 * beyond U+10FFFF (RFC 3629). */
static unsigned utf8_length(const unsigned char *text)
{
    const unsigned length = text[0] < 0x80   ? 1
                            : text[0] < 0xc2 ? 0
                            : text[0] < 0xe0 ? 2
                            : text[0] < 0xf0 ? 3
                                             : 4;

    if (length == 0 || text[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

/* A message quotes what files and applications contain: it must stay one line and, for debug-utils, valid
 * UTF-8. */
static void text_clean(char *text)
{
    while (*text != '\0') {
        const unsigned length = utf8_length((unsigned char *)text);

        if (length == 0 || (unsigned char)*text < 0x20 || *text == 0x7f)
            *text++ = length == 0 ? '?' : ' ';
        else
            text += length;
    }
}

/* --- files --- */

/* Whether a file would outgrow the process's limit, at which a write raises SIGXFSZ. */
static bool fd_is_full(int fd, size_t size)
{
    struct rlimit limit;
    struct stat status;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           (rlim_t)status.st_size + size > limit.rlim_cur;
}

/* One write(), and only if it neither blocks nor raises SIGPIPE or SIGXFSZ: the reader of a pipe may sleep or
 * be gone, a file may be full, and the application must not suffer for that. What can't be written is lost.
 */
static void fd_write(int fd, const char *data, size_t size)
{
    struct pollfd state = {.fd = fd, .events = POLLOUT};
    ssize_t written;

    poll(&state, 1, 0);
    if (state.revents != POLLOUT || fd_is_full(fd, size))
        return;
    written = write(fd, data, size);
    (void)written;
}

static const char *executable_name(void)
{
    struct application_facts facts;
    const char *slash;

    application_probe(&facts);
    slash = facts.executable ? strrchr(facts.executable, '/') : NULL;
    return slash ? slash + 1 : "unknown";
}

static bool text_append(char *out, size_t size, size_t *length, const char *text)
{
    const size_t added = strlen(text);

    if (added >= size - *length)
        return false;
    memcpy(out + *length, text, added + 1);
    *length += added;
    return true;
}

/* %p: the process, %e: the executable, %%: a percent sign; anything else stays as it is. */
static bool path_expand(const char *pattern, char *out, size_t size)
{
    size_t length = 0;
    char pid[16];

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    out[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        const char literal[] = {*pattern, '\0'};
        const char *piece = literal;

        if (pattern[0] == '%' && (pattern[1] == 'p' || pattern[1] == 'e' || pattern[1] == '%')) {
            pattern++;
            piece = *pattern == 'p' ? pid : *pattern == 'e' ? executable_name() : "%";
        }
        if (!text_append(out, size, &length, piece))
            return false;
    }
    return true;
}

static void log_standard(enum report_level level, const char *text)
{
#ifdef __ANDROID__
    static const int priorities[] = {ANDROID_LOG_ERROR, ANDROID_LOG_WARN, ANDROID_LOG_INFO,
                                     ANDROID_LOG_DEBUG};

    __android_log_write(priorities[level], "robust_cache", text);
#else
    char line[LINE_SIZE + 64];
    const int length = snprintf(line, sizeof(line), "robust_cache: %s: %s\n", level_name(level), text);

    fd_write(STDERR_FILENO, line, (size_t)length);
#endif
}

static int file_open(const char *pattern)
{
    char path[PATH_MAX];
    char text[LINE_SIZE];
    int fd = -1;
    int problem = ENAMETOOLONG;

    if (path_expand(pattern, path, sizeof(path))) {
        fd = descriptor_above_standard(
            open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
        problem = errno;
    }
    if (fd < 0) {
        errno = problem;
        snprintf(text, sizeof(text),
                 problem == ELOOP ? "%.512s is a symbolic link: not written" : "can't open %.512s: %m",
                 pattern);
        text_clean(text);
        log_standard(REPORT_ERROR, text);
    }
    return fd;
}

/* --- the report --- */

struct report *report_create(const struct report_config *config)
{
    const int saved = errno;
    struct report *report = calloc(1, sizeof(*report));

    if (report) {
        report->level = config->level;
        report->messenger = config->messenger;
        snprintf(report->application, sizeof(report->application), "%s",
                 config->application ? config->application : "unknown");
        pthread_mutex_init(&report->lock, NULL);
        report->log_fd = config->log_file ? file_open(config->log_file) : -1;
        report->report_fd = config->report_file ? file_open(config->report_file) : -1;
    }
    errno = saved;
    return report;
}

void report_destroy(struct report *report)
{
    const int saved = errno;

    if (!report)
        return;
    if (report->report_fd >= 0)
        close(report->report_fd);
    if (report->log_fd >= 0)
        close(report->log_fd);
    pthread_mutex_destroy(&report->lock);
    free(report);
    errno = saved;
}

void report_set_level(struct report *report, enum report_level level)
{
    if (report)
        report->level = level;
}

void report_after_fork(struct report *report)
{
    if (!report)
        return;
    pthread_mutex_init(&report->lock, NULL);
    report->first = 0;
    report->dropped = 0;
    atomic_store(&report->waiting, 0);
}

/* --- log --- */

static void log_write(const struct report *report, enum report_level level, const char *text)
{
    char line[LINE_SIZE + APPLICATION_NAME_SIZE + 64];
    int length;

    if (report->log_fd < 0) {
        log_standard(level, text);
        return;
    }
    length = snprintf(line, sizeof(line), "robust_cache: %s: %s[%ld]: %s\n", level_name(level),
                      report->application, (long)getpid(), text);
    fd_write(report->log_fd, line, (size_t)length);
}

/* What is said, apart from its text. */
struct kind {
    enum report_level level;
    bool fault;
    uint32_t number;
};

static void message_keep(struct report *report, const struct kind *kind, const char *text)
{
    struct report_message *slot;
    unsigned waiting;

    pthread_mutex_lock(&report->lock);
    waiting = atomic_load_explicit(&report->waiting, memory_order_relaxed);
    slot = &report->messages[(report->first + waiting) % MESSAGES_MAX];
    if (waiting == MESSAGES_MAX) {
        report->first = (report->first + 1) % MESSAGES_MAX;
        report->dropped++;
    }
    slot->level = kind->level;
    slot->fault = kind->fault;
    slot->number = kind->number;
    snprintf(slot->text, sizeof(slot->text), "%.*s", (int)sizeof(slot->text) - 1, text);
    text_clean(slot->text); /* once more: the cut may have gone through a character */
    if (waiting < MESSAGES_MAX)
        atomic_store(&report->waiting, waiting + 1);
    pthread_mutex_unlock(&report->lock);
}

static void say(struct report *report, const struct kind *kind, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static void say(struct report *report, const struct kind *kind, const char *format, va_list arguments)
{
    const int saved = errno;
    char text[LINE_SIZE];
    bool logged, kept;

    if (!report)
        return;
    logged = kind->level <= report->level;
    kept = report->messenger && (logged || kind->level <= REPORT_INFO);
    if (!logged && !kept)
        return;
    vsnprintf(text, sizeof(text), format, arguments);
    text_clean(text);
    if (logged)
        log_write(report, kind->level, text);
    if (kept)
        message_keep(report, kind, text);
    errno = saved;
}

void report_log(struct report *report, enum report_level level, const char *format, ...)
{
    const struct kind kind = {.level = level};
    va_list arguments;

    va_start(arguments, format);
    say(report, &kind, format, arguments);
    va_end(arguments);
}

void report_fault(struct report *report, uint32_t number, const char *format, ...)
{
    const struct kind kind = {.level = REPORT_ERROR, .fault = true, .number = number};
    va_list arguments;

    va_start(arguments, format);
    say(report, &kind, format, arguments);
    va_end(arguments);
}

bool report_has_messages(const struct report *report)
{
    return report && atomic_load(&report->waiting) > 0;
}

bool report_take_message(struct report *report, struct report_message *out)
{
    bool found = false;
    unsigned waiting;

    if (!report)
        return false;
    pthread_mutex_lock(&report->lock);
    waiting = atomic_load_explicit(&report->waiting, memory_order_relaxed);
    if (report->dropped > 0) {
        *out = (struct report_message){.level = REPORT_WARNING};
        snprintf(out->text, sizeof(out->text), "%u older messages were lost", report->dropped);
        report->dropped = 0;
        found = true;
    } else if (waiting > 0) {
        *out = report->messages[report->first];
        report->first = (report->first + 1) % MESSAGES_MAX;
        atomic_store(&report->waiting, waiting - 1);
        found = true;
    }
    pthread_mutex_unlock(&report->lock);
    return found;
}

/* --- events --- */

/* The field's text is put together behind what is there and taken back as a whole if it doesn't fit. */
struct field {
    struct report_event *event;
    size_t start;
    bool fits;
};

static void field_put(struct field *field, const char *text, size_t size)
{
    struct report_event *event = field->event;

    if (!field->fits || size > sizeof(event->text) - sizeof(CLOSING) - event->length) {
        field->fits = false;
        return;
    }
    memcpy(event->text + event->length, text, size);
    event->length += size;
}

static void field_put_string(struct field *field, const char *value)
{
    static const char short_escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */
    const unsigned char *text = (const unsigned char *)value;

    field_put(field, "\"", 1);
    while (*text != '\0' && field->fits) {
        const unsigned length = utf8_length(text);
        const char *pair = NULL;
        char escape[8];

        for (const char *candidate = short_escapes; *candidate != '\0'; candidate += 2) {
            if ((unsigned char)*candidate == *text)
                pair = candidate;
        }
        if (pair) {
            field_put(field, (const char[]){'\\', pair[1]}, 2);
        } else if (length == 0) {
            field_put(field, "\\ufffd", 6);
        } else if (*text < 0x20) {
            snprintf(escape, sizeof(escape), "\\u%04x", *text);
            field_put(field, escape, 6);
        } else {
            field_put(field, (const char *)text, length);
        }
        text += length > 0 ? length : 1;
    }
    field_put(field, "\"", 1);
}

static struct field field_begin(struct report_event *event, const char *key)
{
    struct field field = {
        .event = event, .start = event->length, .fits = event->length > 0 && !event->truncated};

    if (event->length > 1)
        field_put(&field, ",", 1);
    field_put_string(&field, key);
    field_put(&field, ":", 1);
    return field;
}

static void field_end(struct field *field)
{
    if (field->fits || field->event->length == 0)
        return;
    field->event->length = field->start;
    field->event->truncated = true;
}

static void field_add_text(struct report_event *event, const char *key, const char *text)
{
    struct field field = field_begin(event, key);

    field_put(&field, text, strlen(text));
    field_end(&field);
}

void report_event_begin(struct report_event *event, const struct report *report, const char *name)
{
    const int saved = errno;
    struct timespec now;
    char time_text[40];

    event->length = 0; /* stays so where nothing will be written: then adding costs nothing */
    event->truncated = false;
    if (!report || report->report_fd < 0)
        return;
    event->text[event->length++] = '{';
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(time_text, sizeof(time_text), "%lld.%03ld", (long long)now.tv_sec, now.tv_nsec / 1000000);
    report_event_string(event, "event", name);
    field_add_text(event, "time", time_text);
    report_event_number(event, "pid", (uint64_t)getpid());
    report_event_string(event, "application", report->application);
    errno = saved;
}

void report_event_string(struct report_event *event, const char *key, const char *value)
{
    struct field field = field_begin(event, key);

    if (value)
        field_put_string(&field, value);
    else
        field_put(&field, "null", 4);
    field_end(&field);
}

void report_event_number(struct report_event *event, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    field_add_text(event, key, text);
}

void report_event_end(struct report_event *event, struct report *report)
{
    const int saved = errno;
    const char *closing = event->truncated ? CLOSING : "}\n";

    if (event->length == 0 || !report)
        return;
    memcpy(event->text + event->length, closing, strlen(closing));
    event->length += strlen(closing);
    fd_write(report->report_fd, event->text, event->length);
    errno = saved;
}
