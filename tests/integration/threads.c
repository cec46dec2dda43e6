/* Which thread does file operations: the worker, and of the application's threads only those that create or
 * destroy a device, or use data for the first time that this driver hasn't proven (the crash guard's mark). A
 * run is traced by strace, system call by system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
#include "sandbox.h"

#define PIPELINES 100
#define FILE_CALLS                                                                                           \
    "trace=%file,read,write,pread64,pwrite64,readv,writev,close,flock,fcntl,fsync,fdatasync,ftruncate,"      \
    "fallocate,fstat,fchmod,fchown,getdents64,lseek,utimensat,futimesat,sendfile,copy_file_range"

static struct sandbox sandbox;

static int set_up(void **state)
{
    (void)state;
    sandbox_create(&sandbox);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

/* --- The traced program --- */

/* Seen in the trace as a system call of the thread that the application's calls come from. */
static void mark(const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/mark/%s", name);
    access(path, F_OK);
}

static int be_traced(void)
{
    struct app app;
    static unsigned char data[1 << 20];
    size_t size = sizeof(data);
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache;
    mark("creation");
    app_begin(&app);
    app_create_shader(&app);
    mark("use");
    app_use_pipelines(&app, VK_NULL_HANDLE, PIPELINES);
    CHECK(app.CreatePipelineCache(app.device, &info, NULL, &cache) == VK_SUCCESS);
    for (uint32_t n = PIPELINES; n < 2 * PIPELINES; n++)
        app.DestroyPipeline(app.device, app_create_pipeline(&app, cache, n), NULL);
    CHECK(app.GetPipelineCacheData(app.device, cache, &size, data) == VK_SUCCESS);
    app.DestroyPipelineCache(app.device, cache, NULL);
    mark("end");
    app_end(&app);
    mark("over");
    return 0;
}

static void trace(void *output)
{
    char self[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    sandbox_enter(&sandbox, LAYER_IMPLICIT, FAULT_MANIFEST);
    execlp("strace", "strace", "-f", "-qq", "-s", "256", "-o", (const char *)output, "-e", FILE_CALLS, self,
           "--traced", (char *)NULL);
    _exit(127);
}

/* --- What the trace says --- */

struct trace {
    char *rest; /* what hasn't been read yet */
    long main_thread;
    bool show; /* what the application's thread does */
};

/* The next line's thread and text; NULL at the end. */
static const char *next_line(struct trace *trace, long *thread)
{
    char *line = strsep(&trace->rest, "\n"), *text;
    if (!line || !*line)
        return NULL;
    *thread = strtol(line, &text, 10);
    return text + strspn(text, " ");
}

/* Goes on to this mark. Counts the file operations on the way: of the thread that sets the marks, and of
 * others. */
static void read_until(struct trace *trace, const char *mark_name, unsigned *by_application,
                       unsigned *by_others)
{
    char wanted[64];
    const char *line;
    long thread;
    snprintf(wanted, sizeof(wanted), "\"/mark/%s\"", mark_name);
    *by_application = *by_others = 0;
    while ((line = next_line(trace, &thread))) {
        if (strstr(line, wanted)) {
            trace->main_thread = thread;
            return;
        }
        if (strncmp(line, "---", 3) == 0 || strncmp(line, "+++", 3) == 0)
            continue;
        *by_others += thread != trace->main_thread;
        *by_application += thread == trace->main_thread;
        if (thread == trace->main_thread && trace->show)
            print_error("on the application's thread: %s\n", line);
    }
    fail_msg("no mark %s in the trace", mark_name);
}

/* File operations of the application's thread while it used the device, and of the worker in the whole run.
 */
static void trace_run(bool expected, unsigned *during_use, unsigned *by_worker)
{
    char output[PATH_MAX];
    unsigned application, others;
    struct trace read = {.main_thread = 0};
    snprintf(output, sizeof(output), "%s", sandbox_path(&sandbox, "trace"));
    int status = child_wait(child_start(trace, output, sandbox_path(&sandbox, "stderr")), 20);
    char *text = sandbox_read(output);
    if (status == 127 << 8 || !*text) {
        print_message("strace isn't there, or nothing may be traced here\n");
        free(text);
        skip();
    }
    if (status != 0)
        fail_msg("the traced program %s", child_status_text(status));
    read.rest = text;
    read_until(&read, "creation", &application, &others);
    read_until(&read, "use", &application, &others);
    assert_true(application > 0); /* the loader's own, at least: the trace does show such calls */
    *by_worker = others;
    read.show = !expected;
    read_until(&read, "end", during_use, &others);
    read.show = false;
    *by_worker += others;
    read_until(&read, "over", &application, &others);
    *by_worker += others;
    free(text);
}

static void test_no_file_operations(void **state)
{
    (void)state;
    unsigned during_use, by_worker;
    if (RC_SANITIZE[0]) {
        print_message("a sanitizer's runtime makes system calls of its own\n");
        skip();
    }
    /* Cold. */
    trace_run(false, &during_use, &by_worker);
    assert_int_equal(during_use, 0);
    assert_true(by_worker > 0);
    assert_int_equal(sandbox_count_files(sandbox_path(&sandbox, "cache"), ".vkcache"), 1);

    /* Warm, and the data isn't proven: its first use sets a mark, which each use changes and changes back by
     * one byte. */
    trace_run(true, &during_use, &by_worker);
    print_message("%u file operations for the crash guard's mark\n", during_use);
    assert_in_range(during_use, 1, 20 + 2 * PIPELINES);

    /* Warm and proven. */
    trace_run(false, &during_use, &by_worker);
    assert_int_equal(during_use, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--traced") == 0)
        return be_traced();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_file_operations, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
