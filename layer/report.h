/* What the layer says: a text log (standard error, a file or logcat), a report file (JSON lines), and the
 * application's debug-utils messengers. One `struct report` per VkInstance. Nothing goes to standard output.
 */
#ifndef RC_REPORT_H
#define RC_REPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum report_level {
    REPORT_ERROR,
    REPORT_WARNING,
    REPORT_INFO,
    REPORT_DEBUG,
};

struct report_config {
    enum report_level level; /* what the text log shows */
    const char *log_file;    /* NULL: standard error, or logcat; %p: pid, %e: executable's name, %%: % */
    const char *report_file; /* NULL: none; same patterns */
    const char *application; /* name in the store; carried by every record. Copied. */
    bool messenger;          /* the application enabled VK_EXT_debug_utils: keep messages for report_take() */
};

struct report;

/* Never fails for the application: if a file can't be opened that is said once on standard error and the rest
 * works; on out of memory returns NULL, which every function here accepts. Files are opened
 * O_APPEND|O_CLOEXEC|O_NOFOLLOW, mode 0600, and each record is one write(). */
struct report *report_create(const struct report_config *config);
void report_destroy(struct report *report);

/* Another level than it was created with; while no other thread has the report yet. */
void report_set_level(struct report *report, enum report_level level);

/* One line of text, printf-like: "robust_cache: <level>: <text>", in a log file, which several processes may
 * share, "robust_cache: <level>: <application>[<pid>]: <text>". Cut at 1023 bytes; control characters become
 * spaces, bytes that aren't UTF-8 question marks. Messengers get everything up to REPORT_INFO, and what the
 * log shows. Any thread; keeps the caller's errno. Never waits for a reader: what a full or broken pipe
 * doesn't take is lost. */
void report_log(struct report *report, enum report_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a fault of the application's that was found and left as it is: always REPORT_ERROR, and for
 * messengers an error of validation that carries `number`, the same in each run. */
void report_fault(struct report *report, uint32_t number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One JSON object, built in place and written by report_event_end() as a single line with "event", "time"
 * (seconds since 1970, three decimals), "pid" and "application" added. Values are escaped (NULL is null,
 * bytes that aren't UTF-8 become U+FFFD); from the first field that doesn't fit on, all are left out and
 * "truncated":true is added. On the stack, no allocation. The text log gets nothing from it. */
struct report_event {
    char text[2048];
    size_t length;
    bool truncated;
};
void report_event_begin(struct report_event *event, const struct report *report, const char *name);
void report_event_string(struct report_event *event, const char *key, const char *value);
void report_event_number(struct report_event *event, const char *key, uint64_t value);
void report_event_end(struct report_event *event, struct report *report);

/* Messages for VK_EXT_debug_utils wait here, since old loaders hold their lock over create and destroy calls
 * and a callback that calls Vulkan would hang: hooks take and deliver them where no lock is held.
 * report_has_messages() is one atomic load. At most 64 wait; older ones make room and are counted in a
 * message. */
struct report_message {
    enum report_level level;
    bool fault;      /* of report_fault() */
    uint32_t number; /* ... and its number; else 0 */
    char text[512];
};
bool report_has_messages(const struct report *report);
bool report_take_message(struct report *report, struct report_message *out);

/* In the child of a fork(): the lock may have been held by a thread that no longer exists. */
void report_after_fork(struct report *report);

#endif
