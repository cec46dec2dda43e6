#include "writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../handles.h"
#include "device_cache.h"
#include "persist.h"

#define FIRST_INTERVAL_NS CLOCK_NS_PER_SECOND /* from the first compilation to the first save */
#define QUIET_NS (CLOCK_NS_PER_SECOND / 2)    /* a save waits this long for a burst of compilations to end */
#define NS_PER_BYTE 1000                      /* never more than 1 MB/s on average */
#define FAREWELL_NS                                                                                          \
    (3 * CLOCK_NS_PER_SECOND) /* how long a device's or process's end waits for files and locks */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;    /* the worker waits here */
    pthread_cond_t changed; /* the others wait here */
    bool initialised;       /* the conditions wait on the monotonic clock; handlers are registered */
    bool running;
    bool stop;
    pthread_t thread;
    struct device_cache *first;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the device's next save is due; UINT64_MAX: nothing to save. */
static uint64_t save_due_ns(struct device_cache *cache)
{
    struct writer_job *job = &cache->job;
    bool dirty = atomic_load(&job->dirty) || atomic_load(&job->ledger_dirty);
    if (job->hurry && dirty)
        return 0;
    if (!dirty) {
        job->dirty_since_ns = 0;
        job->hurry = false;
        return UINT64_MAX;
    }
    if (!job->dirty_since_ns)
        job->dirty_since_ns = clock_monotonic_ns();
    uint64_t interval = job->interval_ns ? job->interval_ns : FIRST_INTERVAL_NS;
    uint64_t due = job->dirty_since_ns + (interval < FIRST_INTERVAL_NS ? interval : FIRST_INTERVAL_NS);
    if (job->last_save_ns) {
        due = at_least(due, job->last_save_ns + interval);
        due = at_least(due, job->last_save_ns + cache->last_save_size * NS_PER_BYTE);
    }
    uint64_t quiet = atomic_load(&job->active_ns) + QUIET_NS;
    uint64_t latest = due + (interval < QUIET_NS ? interval : QUIET_NS);
    return quiet < due ? due : quiet < latest ? quiet : latest;
}

/* The device whose turn it is, or NULL and in *due when to look again. */
static struct device_cache *next_job(uint64_t *due)
{
    uint64_t now = clock_monotonic_ns();
    *due = UINT64_MAX;
    for (struct device_cache *cache = writer.first; cache; cache = cache->job.next) {
        if (cache->job.load_due || (cache->job.finishing && !cache->job.finished))
            return cache;
        uint64_t save = save_due_ns(cache);
        if (save <= now)
            return cache;
        if (save < *due)
            *due = save;
    }
    return NULL;
}

static void unlist(struct device_cache *cache)
{
    struct device_cache **link = &writer.first;
    while (*link && *link != cache)
        link = &(*link)->job.next;
    if (*link)
        *link = cache->job.next;
    cache->job.listed = false;
}

/* Intervals grow from one save to the next up to the setting, so that a program that compiles now and then
 * isn't rewriting its store all the time. */
static void plan_next_save(struct device_cache *cache)
{
    struct writer_job *job = &cache->job;
    job->last_save_ns = clock_monotonic_ns();
    job->dirty_since_ns = 0;
    uint64_t longer = job->interval_ns ? 2 * job->interval_ns : FIRST_INTERVAL_NS;
    job->interval_ns = longer < cache->save_interval_ns ? longer : cache->save_interval_ns;
}

/* Called and returns with the lock held. */
static void do_job(struct device_cache *cache)
{
    struct writer_job *job = &cache->job;
    bool load = job->load_due, finish = job->finishing && !load;
    bool summary = finish && job->summary_due;
    job->busy = true;
    job->load_due = false;
    if (!load)
        job->hurry = false; /* from here on: what comes during the save asks for another */
    pthread_mutex_unlock(&writer.lock);
    bool mine = load ? persist_load(cache) : finish ? persist_finish(cache) : persist_save(cache);
    if (mine && summary)
        device_cache_report_summary(cache);
    pthread_mutex_lock(&writer.lock);
    if (!mine) {
        while (!job->released)
            pthread_cond_wait(&writer.changed, &writer.lock);
        unlist(cache);
        pthread_mutex_unlock(&writer.lock);
        device_cache_free(cache);
        pthread_mutex_lock(&writer.lock);
        return;
    }
    if (!load)
        plan_next_save(cache);
    if (finish)
        job->finished = true;
    job->busy = false;
    pthread_cond_broadcast(&writer.changed);
}

static void *work(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "robust_cache");
    pthread_mutex_lock(&writer.lock);
    for (;;) {
        uint64_t due;
        struct device_cache *cache = next_job(&due);
        if (cache) {
            do_job(cache);
        } else if (writer.stop) {
            break;
        } else if (due == UINT64_MAX) {
            pthread_cond_wait(&writer.wake, &writer.lock);
        } else {
            struct timespec until = clock_timespec(due);
            pthread_cond_timedwait(&writer.wake, &writer.lock, &until);
        }
    }
    writer.running = false;
    pthread_cond_broadcast(&writer.changed);
    pthread_mutex_unlock(&writer.lock);
    return NULL;
}

/* The child of a fork() has no worker, and its devices are its parent's: whatever it does with them, nothing
 * is saved. Locks may have been held by threads that don't exist any more. */
static void forget_in_child(void *device)
{
    struct device_cache *cache = ((struct device *)device)->cache;
    if (cache)
        device_cache_after_fork(cache);
}

static void forget_messages_in_child(void *instance)
{
    instance_after_fork(instance);
}

static void init_conditions(void)
{
    clock_init_condition(&writer.wake);
    clock_init_condition(&writer.changed);
}

static void after_fork_in_child(void)
{
    pthread_mutex_init(&writer.lock, NULL);
    init_conditions();
    writer.running = writer.stop = false;
    writer.first = NULL;
    handles_after_fork(&instance_table);
    handles_after_fork(&device_table);
    handles_visit(&device_table, forget_in_child);
    handles_visit(&instance_table, forget_messages_in_child);
}

/* Waits for the worker to be done with the device, at most until `deadline`, but never leaves it alone inside
 * the driver: that would let the device, or at the process's end the driver itself, go away under the call.
 */
static bool wait_finished(struct device_cache *cache, uint64_t deadline)
{
    struct writer_job *job = &cache->job;
    while (!job->finished) {
        struct timespec until = clock_timespec(deadline);
        bool late = clock_monotonic_ns() >= deadline;
        if (late && (job->in_files || !job->busy))
            return false;
        if (late)
            pthread_cond_wait(&writer.changed, &writer.lock);
        else
            pthread_cond_timedwait(&writer.changed, &writer.lock, &until);
    }
    return true;
}

/* Whether the worker is still at something that the process's end waits for. What has come to its end is
 * unlisted, what hangs in a file is abandoned. */
static bool exit_waits(bool late)
{
    bool waits = false;
    struct device_cache *next;
    for (struct device_cache *cache = writer.first; cache; cache = next) {
        struct writer_job *job = &cache->job;
        next = job->next;
        if (job->finished)
            unlist(cache);
        else if (late && (job->in_files || !job->busy))
            job->abandoned = true;
        else
            waits = true;
    }
    return waits;
}

/* Runs at exit(), before the handlers of the drivers, which registered theirs before the first device was
 * created: programs that never destroy their device get their last save here. Their other threads still run
 * and may destroy a device during each wait. */
static void stop_at_exit(void)
{
    pthread_mutex_lock(&writer.lock);
    if (writer.running) {
        uint64_t deadline = clock_monotonic_ns() + FAREWELL_NS;
        struct timespec until = clock_timespec(deadline);
        for (struct device_cache *cache = writer.first; cache; cache = cache->job.next)
            cache->job.finishing = cache->job.summary_due = true;
        pthread_cond_signal(&writer.wake);
        for (bool late = false; exit_waits(late); late = clock_monotonic_ns() >= deadline) {
            if (late)
                pthread_cond_wait(&writer.changed, &writer.lock);
            else
                pthread_cond_timedwait(&writer.changed, &writer.lock, &until);
        }
        writer.stop = true;
        pthread_cond_signal(&writer.wake);
    }
    pthread_mutex_unlock(&writer.lock);
}

/* With signals blocked: the application's handlers must not run on a thread that it doesn't know. But for
 * those that a thread brings upon itself: blocked they kill at once, where the application's handler may
 * answer a system call that its sandbox traps, or write a crash report. */
static bool start(void)
{
    static const int own[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t mask, before;
    sigfillset(&mask);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&mask, own[i]);
    pthread_sigmask(SIG_SETMASK, &mask, &before);
    writer.stop = false;
    bool started = pthread_create(&writer.thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(writer.thread);
    return started;
}

bool writer_add(struct device_cache *cache)
{
    pthread_mutex_lock(&writer.lock);
    if (!writer.initialised) {
        init_conditions();
        writer.initialised =
            atexit(stop_at_exit) == 0 && pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
    }
    if (writer.initialised && !writer.running)
        writer.running = start();
    bool running = writer.running;
    if (running) {
        cache->job.listed = true;
        cache->job.load_due = true;
        cache->job.next = writer.first;
        writer.first = cache;
        pthread_cond_signal(&writer.wake);
    }
    pthread_mutex_unlock(&writer.lock);
    return running;
}

bool writer_remove(struct device_cache *cache)
{
    bool owned = true;
    pthread_mutex_lock(&writer.lock);
    if (cache->job.listed) {
        cache->job.finishing = true;
        pthread_cond_signal(&writer.wake);
        if (wait_finished(cache, clock_monotonic_ns() + FAREWELL_NS)) {
            unlist(cache);
        } else if (cache->job.busy) {
            cache->job.abandoned = true;
            owned = false;
        } else {
            unlist(cache); /* the worker hangs in another device's files and never came to this one */
        }
    }
    pthread_mutex_unlock(&writer.lock);
    return owned;
}

void writer_release(struct device_cache *cache)
{
    pthread_mutex_lock(&writer.lock);
    cache->job.released = true;
    pthread_cond_broadcast(&writer.changed);
    pthread_mutex_unlock(&writer.lock);
}

static void wake(void)
{
    pthread_mutex_lock(&writer.lock);
    pthread_cond_signal(&writer.wake);
    pthread_mutex_unlock(&writer.lock);
}

void writer_cache_changed(struct device_cache *cache)
{
    atomic_store_explicit(&cache->job.active_ns, clock_monotonic_ns(), memory_order_relaxed);
    if (!atomic_exchange(&cache->job.dirty, true))
        wake();
}

void writer_ledger_changed(struct device_cache *cache)
{
    if (!atomic_exchange(&cache->job.ledger_dirty, true))
        wake();
}

void writer_hurry(struct device_cache *cache)
{
    pthread_mutex_lock(&writer.lock);
    cache->job.hurry = true;
    pthread_cond_signal(&writer.wake);
    pthread_mutex_unlock(&writer.lock);
}

void writer_hurry_all(void)
{
    pthread_mutex_lock(&writer.lock);
    for (struct device_cache *cache = writer.first; cache; cache = cache->job.next)
        cache->job.hurry = true;
    if (writer.running)
        pthread_cond_signal(&writer.wake);
    pthread_mutex_unlock(&writer.lock);
}

void writer_files_begin(struct device_cache *cache)
{
    pthread_mutex_lock(&writer.lock);
    cache->job.in_files = true;
    pthread_cond_broadcast(&writer.changed); /* whoever waits only for a driver call may stop waiting now */
    pthread_mutex_unlock(&writer.lock);
}

bool writer_files_end(struct device_cache *cache)
{
    pthread_mutex_lock(&writer.lock);
    cache->job.in_files = false;
    bool mine = !cache->job.abandoned;
    pthread_mutex_unlock(&writer.lock);
    return mine;
}
