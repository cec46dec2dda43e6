#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "VK_ROBUST_CACHE_"

extern char **environ;

#define RUNS_MAX 16

static char scratch[64];
static bool in_run;
static pid_t runs[RUNS_MAX]; /* not waited for yet */

void harness_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    char text[1024];
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!in_run) {
        print_error("%s\n", text);
        _fail(file, line);
    }
    fprintf(stderr, "%s:%d: in a run: %s\n", file, line, text);
    _exit(RUN_FAILED);
}

void harness_compare(const char *file, int line, const char *text, long long found, long long expected)
{
    if (found != expected)
        harness_fail(file, line, "%s: %lld expected, %lld found", text, expected, found);
}

/* --- A test's surroundings --- */

const char *scratch_path(const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, PATH_MAX, "%s/%s", scratch, name);
    return path;
}

void layer_set(const char *setting, const char *value)
{
    char name[128];
    snprintf(name, sizeof(name), PREFIX "%s", setting);
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

void layer_remove(void)
{
    unsetenv("VK_INSTANCE_LAYERS");
}

void layer_restore(void)
{
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ROBUST_cache", 1);
}

void driver_set(const char *items)
{
    char text[4096];
    snprintf(text, sizeof(text), "journal=%s;%s", scratch_path(JOURNAL_FILE), items);
    setenv("FAULT_DRIVER", text, 1);
}

void driver_use(const char *manifest)
{
    setenv("VK_ICD_FILENAMES", manifest, 1);
    setenv("VK_DRIVER_FILES", manifest, 1);
}

static void forget_settings(void)
{
    for (char **entry = environ; *entry;) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0 || length >= sizeof(name)) {
            entry++;
            continue;
        }
        memcpy(name, *entry, length);
        name[length] = '\0';
        unsetenv(name); /* moves the rest up */
    }
}

int harness_setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(scratch, sizeof(scratch), "%s/robust_cache.XXXXXX",
             parent && strlen(parent) < 32 ? parent : "/tmp");
    if (!mkdtemp(scratch))
        return -1;
    forget_settings();
    setenv("VK_LAYER_PATH", TEST_LAYER_DIR, 1);
    layer_restore();
    setenv("VK_LOADER_LAYERS_DISABLE", "~implicit~", 1);
    driver_use(TEST_FAULT_MANIFEST);
    driver_set("");
    /* Nothing of this machine's may matter: no settings file, no configuration of a user's. */
    setenv("HOME", scratch, 1);
    setenv("XDG_CONFIG_HOME", scratch, 1);
    setenv("XDG_DATA_HOME", scratch, 1);
    unsetenv("VK_LAYER_SETTINGS_PATH");
    layer_set("DIR", scratch_path(STORE_ROOT));
    layer_set("REPORT_FILE", scratch_path(REPORT_FILE));
    layer_set("LOG_FILE", scratch_path(LOG_FILE));
    layer_set("LOG_LEVEL", "debug");
    /* The first creation waits for the store however slow the machine is just now. */
    layer_set("LOAD_TIMEOUT", "60000");
    return 0;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    (void)walk;
    return remove(path);
}

static void forget_run(pid_t pid)
{
    for (int i = 0; i < RUNS_MAX; i++)
        if (runs[i] == pid)
            runs[i] = 0;
}

static void remember_run(pid_t pid)
{
    int i = 0;
    while (i < RUNS_MAX && runs[i])
        i++;
    CHECK(i < RUNS_MAX);
    runs[i] = pid;
}

/* What a failed test left. */
static void kill_runs(void)
{
    for (int i = 0; i < RUNS_MAX; i++)
        if (runs[i])
            kill(runs[i], SIGKILL);
    memset(runs, 0, sizeof(runs));
}

int harness_teardown(void **state)
{
    (void)state;
    kill_runs();
    uint32_t misuse = lines_count(JOURNAL_FILE, " misuse ", "");
    uint32_t leaks = lines_count(JOURNAL_FILE, " leak ", "");
    nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (misuse || leaks)
        print_error("the driver saw %" PRIu32 " misuses and %" PRIu32 " leaks\n", misuse, leaks);
    return misuse || leaks ? -1 : 0;
}

/* --- Runs --- */

struct run run_start(run_function function, void *context)
{
    fflush(NULL);
    struct run run = {.pid = fork()};
    CHECK(run.pid >= 0);
    if (run.pid == 0) {
        in_run = true;
        function(context);
        exit(EXIT_SUCCESS);
    }
    remember_run(run.pid);
    return run;
}

int run_wait(struct run *run)
{
    int status = 0;
    int fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    CHECK(fd >= 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int count;
    do
        count = poll(&ended, 1, HARNESS_TIMEOUT_MS);
    while (count < 0 && errno == EINTR);
    close(fd);
    if (count != 1)
        kill(run->pid, SIGKILL);
    waitpid(run->pid, &status, 0);
    forget_run(run->pid);
    run->pid = -1;
    CHECK_SAY(count == 1, "a run hung");
    return status;
}

void run_complete(run_function function, void *context)
{
    struct run run = run_start(function, context);
    int status = run_wait(&run);
    CHECK_SAY(WIFEXITED(status), "a run died of signal %d", WTERMSIG(status));
    CHECK_SAY(WEXITSTATUS(status) == 0, "a run ended with status %d", WEXITSTATUS(status));
}

void run_until_death(run_function function, void *context, int signal)
{
    struct run run = run_start(function, context);
    int status = run_wait(&run);
    CHECK_SAY(WIFSIGNALED(status) && WTERMSIG(status) == signal,
              "a run was to die of signal %d, its status is 0x%x", signal, (unsigned)status);
}

void run_kill(struct run *run)
{
    kill(run->pid, SIGKILL);
    run_wait(run);
}

struct latch latch_create(void)
{
    struct latch latch = {.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
    CHECK(latch.fd >= 0);
    return latch;
}

void latch_destroy(struct latch *latch)
{
    close(latch->fd);
}

void latch_raise(const struct latch *latch, uint32_t count)
{
    CHECK(eventfd_write(latch->fd, count) == 0);
}

void latch_wait(const struct latch *latch)
{
    struct pollfd raised = {.fd = latch->fd, .events = POLLIN};
    eventfd_t one;
    CHECK_SAY(poll(&raised, 1, HARNESS_TIMEOUT_MS) == 1, "waited in vain for a latch");
    CHECK(eventfd_read(latch->fd, &one) == 0);
}

/* --- What was written --- */

uint32_t lines_count(const char *file, const char *text, const char *also)
{
    FILE *stream = fopen(scratch_path(file), "re");
    char *line = NULL;
    size_t room = 0;
    uint32_t count = 0;
    ssize_t length;
    if (!stream)
        return 0;
    while ((length = getline(&line, &room, stream)) > 0)
        if (line[length - 1] == '\n' && strstr(line, text) && strstr(line, also))
            count++;
    free(line);
    fclose(stream);
    return count;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void lines_wait(const char *file, const char *text, const char *also, uint32_t count)
{
    int64_t deadline = now_ms() + HARNESS_TIMEOUT_MS;
    int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    CHECK(notify >= 0 && inotify_add_watch(notify, scratch, IN_MODIFY | IN_CREATE) >= 0);
    while (lines_count(file, text, also) < count) {
        struct pollfd changed = {.fd = notify, .events = POLLIN};
        char events[4096];
        int64_t left = deadline - now_ms();
        CHECK_SAY(left > 0, "waited in vain for %" PRIu32 " lines with '%s' and '%s' in %s", count, text,
                  also, file);
        poll(&changed, 1, (int)left);
        while (read(notify, events, sizeof(events)) > 0)
            ;
    }
    close(notify);
}

static const char *event_text(const char *event)
{
    static char text[64];
    snprintf(text, sizeof(text), "\"event\":\"%s\"", event);
    return text;
}

uint32_t report_count(const char *event, const char *text)
{
    return lines_count(REPORT_FILE, event_text(event), text);
}

void report_wait(const char *event, const char *text, uint32_t count)
{
    lines_wait(REPORT_FILE, event_text(event), text, count);
}

/* The number behind `key` in the last line of this event; false if that line has no such key. */
static bool find_number(const char *event, const char *key, uint64_t *out)
{
    FILE *stream = fopen(scratch_path(REPORT_FILE), "re");
    char pattern[80];
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    CHECK_SAY(stream != NULL, "there is no report");
    snprintf(pattern, sizeof(pattern), "\"%s\":", key);
    while (getline(&line, &room, stream) > 0) {
        if (!strstr(line, event_text(event)))
            continue;
        const char *value = strstr(line, pattern);
        found = value != NULL;
        *out = found ? strtoull(value + strlen(pattern), NULL, 10) : 0;
    }
    free(line);
    fclose(stream);
    return found;
}

uint64_t report_number(const char *event, const char *key)
{
    uint64_t number = 0;
    CHECK_SAY(find_number(event, key, &number), "no '%s' in the last event '%s'", key, event);
    return number;
}

uint64_t report_rejected(const char *reason)
{
    char key[64];
    uint64_t number = 0;
    snprintf(key, sizeof(key), "rejected_%s", reason);
    find_number("summary", key, &number);
    return number;
}

void report_forget(void)
{
    unlink(scratch_path(REPORT_FILE));
    unlink(scratch_path(LOG_FILE));
}

void bytes_finish(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

struct bytes bytes_copy(const void *data, size_t size)
{
    struct bytes bytes = {.data = malloc(size ? size : 1), .size = size};
    CHECK(bytes.data != NULL);
    if (size)
        memcpy(bytes.data, data, size);
    return bytes;
}

bool bytes_equal(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

struct bytes file_read(const char *path)
{
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_SAY(fd >= 0 && fstat(fd, &stat) == 0, "%s: %s", path, strerror(errno));
    struct bytes bytes = {.data = malloc((size_t)stat.st_size + 1), .size = (size_t)stat.st_size};
    CHECK(bytes.data != NULL);
    CHECK(read(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
    close(fd);
    return bytes;
}

void file_write(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK_SAY(fd >= 0, "%s: %s", path, strerror(errno));
    CHECK(write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void store_glob(const char *suffix, glob_t *out)
{
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof(pattern), "%s/v1/*/*%s", scratch_path(STORE_ROOT), suffix);
    int result = glob(pattern, 0, NULL, out);
    CHECK(result == 0 || result == GLOB_NOMATCH);
}

uint32_t store_count(const char *suffix)
{
    glob_t found;
    store_glob(suffix, &found);
    uint32_t count = (uint32_t)found.gl_pathc;
    globfree(&found);
    return count;
}

const char *store_path(const char *suffix)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    glob_t found;
    store_glob(suffix, &found);
    CHECK_SAY(found.gl_pathc == 1, "one '*%s' expected in the store, %zu found", suffix, found.gl_pathc);
    snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}
