#include "check.h"
#include "random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

static char folder[64];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/robust-cache-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

/* The file's content; the caller frees it. */
static char *content_of(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = calloc(1, 1 << 20);
    ssize_t size;

    assert_true(fd >= 0 && text);
    size = read(fd, text, (1 << 20) - 1);
    assert_true(size >= 0);
    close(fd);
    return text;
}

/* Standard error goes to a file while a test looks at it. */
static int real_stderr = -1;

static void stderr_to(int fd)
{
    real_stderr = dup(STDERR_FILENO);
    if (fd >= 0)
        dup2(fd, STDERR_FILENO);
    else
        close(STDERR_FILENO);
}

static void stderr_to_file(void)
{
    const int fd = open(path_of("stderr"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    stderr_to(fd);
    close(fd);
}

static void stderr_back(void)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
}

static struct report *report_to(const char *log_file, const char *report_file, enum report_level level)
{
    return report_create(&(struct report_config){.level = level,
                                                 .log_file = log_file,
                                                 .report_file = report_file,
                                                 .application = "game",
                                                 .messenger = false});
}

/* ---- text ---- */

static void test_log_line(void **state)
{
    struct report *report = report_to(NULL, NULL, REPORT_DEBUG);
    char *text;

    (void)state;
    assert_non_null(report);
    stderr_to_file();
    errno = EILSEQ;
    report_log(report, REPORT_ERROR, "store %s: %d", "x", 5);
    assert_int_equal(errno, EILSEQ);
    report_log(report, REPORT_WARNING, "w");
    report_log(report, REPORT_INFO, "i");
    report_log(report, REPORT_DEBUG, "d");
    stderr_back();
    text = content_of(path_of("stderr"));
    assert_string_equal(text, "robust_cache: error: store x: 5\nrobust_cache: warning: w\n"
                              "robust_cache: info: i\nrobust_cache: debug: d\n");
    free(text);
    report_destroy(report);
}

static void test_log_level(void **state)
{
    (void)state;
    for (int level = REPORT_ERROR; level <= REPORT_DEBUG; level++) {
        char path[PATH_MAX];
        char name[16];
        struct report *report;
        char *text;
        int lines = 0;

        snprintf(name, sizeof(name), "log%d", level);
        strcpy(path, path_of(name));
        report = report_to(path, NULL, (enum report_level)level);
        for (int said = REPORT_ERROR; said <= REPORT_DEBUG; said++)
            report_log(report, (enum report_level)said, "level %d", said);
        report_destroy(report);
        text = content_of(path);
        for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
            lines++;
        check(lines == level + 1, "level %d: %d lines", level, lines);
        free(text);
    }
}

/* What a message quotes can't break its line, hide it or be no UTF-8. */
static void test_log_cleans(void **state)
{
    struct report *report;
    char expected[256];
    char path[PATH_MAX];
    char *text;

    (void)state;
    strcpy(path, path_of("log"));
    report = report_to(path, NULL, REPORT_ERROR);
    report_log(report, REPORT_ERROR, "a\nb\tc\x1b[2Jd\x7f");
    report_log(report, REPORT_ERROR,
               "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80 \xc3( \xff \xed\xa0\x80 \xc0\x80");
    report_destroy(report);
    snprintf(expected, sizeof(expected),
             "robust_cache: error: game[%d]: a b c [2Jd \n"
             "robust_cache: error: game[%d]: Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80 ?( ? ??? ??\n",
             (int)getpid(), (int)getpid());
    text = content_of(path);
    assert_string_equal(text, expected);
    free(text);
}

static void test_log_long_line(void **state)
{
    struct report *report;
    char path[PATH_MAX];
    char huge[5000];
    char *text;

    (void)state;
    strcpy(path, path_of("log"));
    report = report_to(path, NULL, REPORT_ERROR);
    memset(huge, 'h', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    report_log(report, REPORT_ERROR, "%s", huge);
    report_log(report, REPORT_ERROR, "next");
    report_destroy(report);
    text = content_of(path);
    assert_int_equal(strlen(strchr(text, '\n')), strlen("\nrobust_cache: error: game[]: next\n") +
                                                     (size_t)snprintf(NULL, 0, "%d", (int)getpid()));
    free(text);
}

/* ---- files ---- */

static void test_paths_expand(void **state)
{
    struct report *report;
    char name[64];

    (void)state;
    report = report_to(path_of("log-%p-%e-%%-%x-%"), NULL, REPORT_ERROR);
    report_destroy(report);
    snprintf(name, sizeof(name), "log-%d-test_report-%%-%%x-%%", (int)getpid());
    assert_int_equal(access(path_of(name), F_OK), 0);
}

static void test_file_mode_and_append(void **state)
{
    struct stat status;
    char path[PATH_MAX];
    char *text;

    (void)state;
    strcpy(path, path_of("log"));
    for (int run = 0; run < 2; run++) {
        struct report *report = report_to(path, NULL, REPORT_ERROR);

        report_log(report, REPORT_ERROR, "run %d", run);
        report_destroy(report);
    }
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    text = content_of(path);
    assert_non_null(strstr(text, "run 0\n"));
    assert_non_null(strstr(text, "run 1\n"));
    free(text);
}

static void check_refused(const char *path, const char *expected)
{
    struct report *report;
    char *text;

    stderr_to_file();
    report = report_to(path, NULL, REPORT_ERROR);
    report_log(report, REPORT_ERROR, "still here");
    report_destroy(report);
    stderr_back();
    text = content_of(path_of("stderr"));
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "robust_cache: error: still here\n"));
    check(strchr(strchr(text, '\n') + 1, '\n')[1] == '\0', "more than two lines: %s", text);
    free(text);
    unlink(path_of("stderr"));
}

static void test_refused_files(void **state)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    char longest[PATH_MAX + 10];

    (void)state;
    strcpy(path, path_of("link"));
    strcpy(target, path_of("target"));
    assert_int_equal(symlink(target, path), 0);
    check_refused(path, "is a symbolic link");
    assert_int_equal(access(target, F_OK), -1);
    strcpy(path, path_of("none/log"));
    check_refused(path, "No such file");
    check_refused(folder, "Is a directory");
    memset(longest, 'l', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    check_refused(longest, "File name too long");
    strcpy(path, path_of("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    check_refused(path, "No such device"); /* nobody reads: the application must not wait for it */
}

/* ---- standard error that isn't there, isn't read, or isn't ours ---- */

static void test_stderr_closed(void **state)
{
    struct report *report;

    (void)state;
    stderr_to(-1);
    report = report_to(path_of("none/log"), NULL, REPORT_ERROR);
    report_log(report, REPORT_ERROR, "unheard");
    stderr_back();
    assert_non_null(report);
    report_destroy(report);
}

/* What the program prints must not go into the layer's file. */
static void test_stderr_closed_with_a_log_file(void **state)
{
    struct report *report;
    ssize_t written;
    char *text;

    (void)state;
    stderr_to(-1);
    report = report_to(path_of("log"), NULL, REPORT_ERROR);
    written = write(STDERR_FILENO, "the program's", 13);
    stderr_back();
    assert_int_equal(written, -1);
    report_log(report, REPORT_ERROR, "the layer's");
    report_destroy(report);
    text = content_of(path_of("log"));
    assert_non_null(strstr(text, "the layer's"));
    free(text);
}

static void test_stderr_reader_gone(void **state)
{
    struct report *report = report_to(NULL, NULL, REPORT_ERROR);
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    stderr_to(ends[1]);
    close(ends[0]);
    close(ends[1]);
    report_log(report, REPORT_ERROR, "nobody"); /* SIGPIPE would end this process */
    stderr_back();
    report_destroy(report);
}

static void test_stderr_pipe_full(void **state)
{
    struct report *report = report_to(NULL, NULL, REPORT_ERROR);
    char block[4096] = {0};
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends[1], block, sizeof(block)) > 0)
        ;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    stderr_to(ends[1]);
    alarm(10);
    report_log(report, REPORT_ERROR, "no room");
    alarm(0);
    stderr_back();
    close(ends[0]);
    close(ends[1]);
    report_destroy(report);
}

static void test_null_report(void **state)
{
    struct report_event event;
    struct report_message message;

    (void)state;
    report_log(NULL, REPORT_ERROR, "nothing");
    report_event_begin(&event, NULL, "x");
    report_event_string(&event, "a", "b");
    report_event_number(&event, "n", 1);
    report_event_end(&event, NULL);
    assert_int_equal(event.length, 0);
    assert_false(report_has_messages(NULL));
    assert_false(report_take_message(NULL, &message));
    report_after_fork(NULL);
    report_destroy(NULL);
}

/* ---- events ---- */

/* What is written for one event with a string and a number. */
static char *event_text(const char *key, const char *value)
{
    struct report_event event;
    struct report *report;
    char path[PATH_MAX];
    char *text;

    strcpy(path, path_of("events"));
    report = report_to(NULL, path, REPORT_ERROR);
    report_event_begin(&event, report, "load");
    report_event_string(&event, key, value);
    report_event_number(&event, "n", UINT64_MAX);
    errno = EILSEQ;
    report_event_end(&event, report);
    assert_int_equal(errno, EILSEQ);
    report_destroy(report);
    text = content_of(path);
    unlink(path);
    return text;
}

static void check_event(const char *value, const char *expected)
{
    char *text = event_text("key", value);
    char tail[512];
    const char *fields = strstr(text, ",\"key\":");

    snprintf(tail, sizeof(tail), ",\"key\":%s,\"n\":18446744073709551615}\n", expected);
    assert_non_null(fields);
    assert_string_equal(fields, tail);
    free(text);
}

static void test_event_fields(void **state)
{
    char *text = event_text("k", "v");
    unsigned long seconds;
    unsigned thousandths;
    int end = 0;
    int pid;

    (void)state;
    assert_int_equal(sscanf(text, "{\"event\":\"load\",\"time\":%lu.%3u,\"pid\":%d,%n", &seconds,
                            &thousandths, &pid, &end),
                     3);
    assert_int_equal(pid, getpid());
    assert_true(labs((long)seconds - (long)time(NULL)) < 60);
    assert_string_equal(text + end, "\"application\":\"game\",\"k\":\"v\",\"n\":18446744073709551615}\n");
    free(text);
}

static void test_event_escapes(void **state)
{
    (void)state;
    check_event("plain", "\"plain\"");
    check_event(NULL, "null");
    check_event("", "\"\"");
    check_event("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    check_event("\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    check_event("Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80",
                "\"Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80\"");
    check_event("\xff", "\"\\ufffd\"");
    check_event("\xc3", "\"\\ufffd\"");
    check_event("\xe2\x82", "\"\\ufffd\\ufffd\"");
    check_event("\xc0\x80", "\"\\ufffd\\ufffd\"");                       /* overlong */
    check_event("\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong */
    check_event("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* surrogate */
    check_event("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* beyond U+10FFFF */
    check_event("\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

/* A naive reader of what an event may look like: an object of strings, numbers and words. Returns the number
 * of members, -1 if it isn't JSON. */
static int json_members(const char *text, bool *truncated)
{
    int members = 0;

    *truncated = strstr(text, ",\"truncated\":true}\n") != NULL;
    if (*text++ != '{')
        return -1;
    for (;;) {
        for (int part = 0; part < 2; part++) {
            if (*text == '"') {
                for (text++; *text != '"'; text++) {
                    if ((unsigned char)*text < 0x20)
                        return -1;
                    if (*text == '\\' && !strchr("\"\\/bfnrtu", *++text))
                        return -1;
                }
                text++;
            } else if (part == 1) {
                text += strspn(text, "0123456789.nultre");
            } else {
                return -1;
            }
            if (part == 0 && *text++ != ':')
                return -1;
        }
        members++;
        if (*text == '}')
            return strcmp(text, "}\n") == 0 ? members : -1;
        if (*text++ != ',')
            return -1;
    }
}

static void test_event_cut_at_a_field(void **state)
{
    (void)state;
    for (size_t size = 1700; size < 2100; size++) {
        char value[2100];
        bool truncated;
        char *text;
        int members;

        memset(value, 'v', size);
        value[size] = '\0';
        if (size % 3 == 0)
            value[size - 1] = '\n'; /* an escape at the border */
        text = event_text("key", value);
        members = json_members(text, &truncated);
        check(members == (truncated ? (strstr(text, "\"key\"") ? 6 : 5) : 6), "size %zu: %d members in %s",
              size, members, text);
        check(truncated == !strstr(text, "\"n\""), "size %zu: %s", size, text);
        check(strlen(text) <= sizeof(((struct report_event *)0)->text), "size %zu", size);
        check(size < 2048 || truncated, "size %zu isn't marked", size);
        check(size > 1700 || !truncated, "size %zu is marked", size);
        free(text);
    }
}

static void test_event_random_bytes(void **state)
{
    struct random random = random_from(random_seed());

    (void)state;
    for (int round = 0; round < 2000; round++) {
        char value[400];
        const size_t size = random_below(&random, sizeof(value));
        bool truncated;
        char *text;

        random_fill(&random, value, sizeof(value));
        value[size] = '\0';
        text = event_text("key", value);
        check(json_members(text, &truncated) >= 5, "round %d: %s", round, text);
        free(text);
    }
}

/* Records of several processes and threads don't mix. */
static void *write_events(void *context)
{
    struct report *report = context;
    char value[1500];

    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 100; i++) {
        struct report_event event;

        report_event_begin(&event, report, "x");
        report_event_string(&event, "value", value);
        report_event_end(&event, report);
        report_log(report, REPORT_WARNING, "event %d", i);
    }
    return NULL;
}

static void test_events_are_single_appends(void **state)
{
    char path[PATH_MAX];
    char log[PATH_MAX];
    char *text;
    int lines = 0;
    int status;
    pid_t children[3];

    (void)state;
    strcpy(path, path_of("events"));
    strcpy(log, path_of("log"));
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            struct report *report = report_to(log, path, REPORT_WARNING);

            write_events(report);
            report_destroy(report);
            _exit(0);
        }
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    text = content_of(path);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char whole[2100];
        bool truncated;

        snprintf(whole, sizeof(whole), "%s\n", line);
        check(json_members(whole, &truncated) == 5, "line %d: %s", lines, line);
        lines++;
    }
    assert_int_equal(lines, 300);
    free(text);
}

/* ---- messages ---- */

static struct report *report_with_messenger(enum report_level level)
{
    return report_create(&(struct report_config){
        .level = level, .log_file = path_of("log"), .application = "game", .messenger = true});
}

static void test_messages_in_order(void **state)
{
    struct report *report = report_with_messenger(REPORT_ERROR);
    struct report_message message;

    (void)state;
    assert_false(report_has_messages(report));
    report_log(report, REPORT_ERROR, "first");
    report_log(report, REPORT_INFO, "second");
    report_log(report, REPORT_DEBUG, "kept only where the log shows it");
    assert_true(report_has_messages(report));
    assert_true(report_take_message(report, &message));
    assert_string_equal(message.text, "first");
    assert_int_equal(message.level, REPORT_ERROR);
    assert_true(report_take_message(report, &message));
    assert_string_equal(message.text, "second");
    assert_int_equal(message.level, REPORT_INFO);
    assert_false(report_has_messages(report));
    assert_false(report_take_message(report, &message));
    report_destroy(report);
}

static void test_messages_overflow(void **state)
{
    struct report *report = report_with_messenger(REPORT_ERROR);
    struct report_message message;
    char expected[32];

    (void)state;
    for (int i = 0; i < 100; i++)
        report_log(report, REPORT_INFO, "message %d", i);
    assert_true(report_take_message(report, &message));
    assert_string_equal(message.text, "36 older messages were lost");
    for (int i = 36; i < 100; i++) {
        assert_true(report_take_message(report, &message));
        snprintf(expected, sizeof(expected), "message %d", i);
        assert_string_equal(message.text, expected);
    }
    assert_false(report_take_message(report, &message));
    report_destroy(report);
}

/* A long message is cut, but not inside a character: debug-utils wants UTF-8. */
static void test_message_cut(void **state)
{
    struct report *report = report_with_messenger(REPORT_ERROR);
    struct report_message message;
    char text[800];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text + 509, "\xf0\x9f\x98\x80", 4);
    report_log(report, REPORT_INFO, "%s", text);
    assert_true(report_take_message(report, &message));
    assert_int_equal(strlen(message.text), sizeof(message.text) - 1);
    assert_string_equal(message.text + 508, "x??");
    report_destroy(report);
}

static void test_no_messenger_keeps_nothing(void **state)
{
    struct report *report = report_to(path_of("log"), NULL, REPORT_DEBUG);

    (void)state;
    report_log(report, REPORT_ERROR, "x");
    assert_false(report_has_messages(report));
    report_destroy(report);
}

static void *take_and_log(void *context)
{
    struct report *report = context;
    struct report_message message;

    for (int i = 0; i < 500; i++) {
        report_log(report, REPORT_INFO, "message %d", i);
        if (report_has_messages(report))
            report_take_message(report, &message);
    }
    return NULL;
}

static void test_messages_from_threads(void **state)
{
    struct report *report = report_with_messenger(REPORT_ERROR);
    struct report_message message;
    pthread_t threads[4];
    int left = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_log, report), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    while (report_take_message(report, &message))
        left++;
    assert_true(left <= 65);
    assert_false(report_has_messages(report));
    report_destroy(report);
}

static void test_after_fork(void **state)
{
    struct report *report = report_with_messenger(REPORT_ERROR);
    struct report_message message;
    int status;
    pid_t child;

    (void)state;
    report_log(report, REPORT_INFO, "the parent's");
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool good;

        report_after_fork(report);
        good = !report_has_messages(report);
        report_log(report, REPORT_INFO, "the child's");
        good = good && report_take_message(report, &message) && strcmp(message.text, "the child's") == 0;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(report_take_message(report, &message));
    assert_string_equal(message.text, "the parent's");
    report_destroy(report);
}

/* Beyond the process's limit a write raises SIGXFSZ, which kills by default. */
static void test_file_size_limit(void **state)
{
    const struct report_config config = {
        .level = REPORT_ERROR, .log_file = path_of("log"), .application = "game"};
    int status;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
        struct report *report = report_create(&config);

        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 10; i++)
            report_log(report, REPORT_ERROR, "a line");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char *text = content_of(path_of("log"));
    assert_non_null(strstr(text, "a line\n"));
    assert_true(text[strlen(text) - 1] == '\n'); /* no piece of a line */
    free(text);
}

static void test_faults(void **state)
{
    struct report *report = report_with_messenger(REPORT_ERROR);
    struct report_message message;
    char *text;

    (void)state;
    report_fault(report, 0xfedcba98, "wrong: %d", 7);
    for (int i = 0; i < 64; i++)
        report_log(report, REPORT_INFO, "message %d", i);
    report_fault(report, 5, "another");
    assert_true(report_take_message(report, &message));
    assert_string_equal(message.text, "2 older messages were lost");
    assert_false(message.fault);
    assert_int_equal(message.number, 0);
    for (int i = 1; i < 64; i++) {
        assert_true(report_take_message(report, &message));
        assert_false(message.fault);
        assert_int_equal(message.number, 0);
    }
    assert_true(report_take_message(report, &message));
    assert_string_equal(message.text, "another");
    assert_true(message.fault);
    assert_int_equal(message.level, REPORT_ERROR);
    assert_int_equal(message.number, 5);
    report_fault(report, 0xfedcba98, "wrong: %d", 7);
    assert_true(report_take_message(report, &message));
    assert_true(message.number == 0xfedcba98);
    report_fault(NULL, 1, "%s", "nobody's");
    report_destroy(report);
    text = content_of(path_of("log"));
    assert_non_null(strstr(text, "robust_cache: error: game["));
    assert_non_null(strstr(text, "]: wrong: 7\n"));
    free(text);
}

#define REPORT_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REPORT_TEST(test_log_line),
        REPORT_TEST(test_log_level),
        REPORT_TEST(test_log_cleans),
        REPORT_TEST(test_log_long_line),
        REPORT_TEST(test_paths_expand),
        REPORT_TEST(test_file_mode_and_append),
        REPORT_TEST(test_refused_files),
        REPORT_TEST(test_stderr_closed),
        REPORT_TEST(test_stderr_closed_with_a_log_file),
        REPORT_TEST(test_stderr_reader_gone),
        REPORT_TEST(test_stderr_pipe_full),
        REPORT_TEST(test_file_size_limit),
        REPORT_TEST(test_null_report),
        REPORT_TEST(test_event_fields),
        REPORT_TEST(test_event_escapes),
        REPORT_TEST(test_event_cut_at_a_field),
        REPORT_TEST(test_event_random_bytes),
        REPORT_TEST(test_events_are_single_appends),
        REPORT_TEST(test_messages_in_order),
        REPORT_TEST(test_messages_overflow),
        REPORT_TEST(test_message_cut),
        REPORT_TEST(test_no_messenger_keeps_nothing),
        REPORT_TEST(test_faults),
        REPORT_TEST(test_messages_from_threads),
        REPORT_TEST(test_after_fork),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
