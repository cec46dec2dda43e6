#include "sync/brake.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/store.h"
#include "clock.h"
#include "sync/device_sync.h"

#define SECONDS_PER_DAY (24 * 3600)
#define LASTS_DAYS 7

/* As for the stores. */
static bool may_read(const struct instance *instance)
{
    bool private = instance->browser && instance->settings.values.persist == SETTINGS_PERSIST_AUTO;
    return instance->store_root[0] && !private;
}

static bool may_write(const struct instance *instance)
{
    return may_read(instance) && instance->settings.values.persist != SETTINGS_PERSIST_OFF;
}

static void release(const struct instance *instance, const char *reason)
{
    struct store_problem problem;
    report_log(instance->report, REPORT_INFO, "barriers are repaired again after a lost device: %s", reason);
    if (may_write(instance) && store_brake_remove(instance->store_root, instance->application, &problem) != 0)
        report_log(instance->report, REPORT_WARNING, "%s", problem.text);
}

bool brake_is_on(const struct instance *instance)
{
    struct store_problem problem;
    int64_t time;
    if (!may_read(instance))
        return false;
    int error = store_brake_find(instance->store_root, instance->application, &time, &problem);
    if (error) {
        /* What is wrong with the folder is said where the stores are opened. */
        if (strstr(problem.text, ".brake"))
            report_log(instance->report, REPORT_WARNING, "%s", problem.text);
        return false;
    }
    int64_t age = clock_unix_seconds() - time;
    /* From the future by more than what clocks differ: this one was set back. */
    if (age > LASTS_DAYS * SECONDS_PER_DAY || age < -SECONDS_PER_DAY) {
        release(instance, "that was long ago");
        return false;
    }
    if (instance->settings.barriers_said) {
        release(instance, "'barriers' is set to repair");
        return false;
    }
    return true;
}

void brake_say(const struct instance *instance)
{
    char path[sizeof(instance->store_root) + sizeof(instance->application) + sizeof("/v1/.brake")];
    struct report_event event;
    snprintf(path, sizeof(path), "%s/v1/%s.brake", instance->store_root, instance->application);
    report_log(instance->report, REPORT_WARNING,
               "the device was lost in an earlier run with repaired barriers: they are only reported until "
               "VK_ROBUST_CACHE_BARRIERS=repair is set, or %s deleted",
               path);
    report_event_begin(&event, instance->report, "brake");
    report_event_string(&event, "state", "on");
    report_event_string(&event, "file", path);
    report_event_end(&event, instance->report);
}

static bool had_repairs(struct device_sync *sync)
{
    struct sync_counters *counters = &sync->counters;
    return atomic_load(&counters->record_repairs) || atomic_load(&counters->hoisted) ||
           atomic_load(&counters->rewritten) || atomic_load(&counters->submit_repairs) ||
           atomic_load(&counters->present_repairs);
}

/* The file is written right here, not by the worker: a program often ends within moments of the loss, the
 * worker is there for pipeline caches only, and nobody waits for a device that is gone. */
static void leave_mark(const struct instance *instance)
{
    struct store_problem problem;
    struct report_event event;
    if (store_brake_set(instance->store_root, instance->application, &problem) != 0) {
        report_log(instance->report, REPORT_WARNING,
                   "the device was lost after barriers had been repaired, and the next run can't know: %s",
                   problem.text);
        return;
    }
    report_log(instance->report, REPORT_WARNING,
               "the device was lost after barriers had been repaired: from the next run on they are only "
               "reported");
    report_event_begin(&event, instance->report, "brake");
    report_event_string(&event, "state", "set");
    report_event_end(&event, instance->report);
}

void brake_device_lost(struct device_sync *sync)
{
    struct instance *instance = sync->device->instance;
    const int saved = errno;
    if (had_repairs(sync) && may_write(instance) && !atomic_exchange(&instance->brake_set, true))
        leave_mark(instance);
    errno = saved;
}
