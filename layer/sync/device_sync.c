#include "sync/device_sync.h"

#include <inttypes.h>
#include <stdlib.h>

#include "device_request.h"
#include "sync/command_buffer.h"
#include "sync/finding.h"
#include "sync/hold_table.h"
#include "sync/newer.h"
#include "sync/object.h"
#include "sync/queue.h"

static uint32_t queue_count(const VkDeviceCreateInfo *info)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++)
        count += info->pQueueCreateInfos[i].queueCount;
    return count;
}

static void read_families(struct device_sync *sync)
{
    const struct instance *instance = sync->device->instance;
    uint32_t count = 0;
    instance->next.GetPhysicalDeviceQueueFamilyProperties(sync->device->physical, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count ? count : 1, sizeof(*families));
    if (!families)
        return;
    instance->next.GetPhysicalDeviceQueueFamilyProperties(sync->device->physical, &count, families);
    sync->family_count = count < MAX_FAMILIES ? count : MAX_FAMILIES;
    for (uint32_t i = 0; i < sync->family_count; i++)
        sync->families[i] = families[i].queueFlags;
    free(families);
}

static void all_maps(struct device_sync *sync, struct handle_map *out[])
{
    struct handle_map *maps[MAP_COUNT] = {&sync->images,
                                          &sync->views,
                                          &sync->render_passes,
                                          &sync->framebuffers,
                                          &sync->swapchains,
                                          &sync->memories,
                                          &sync->pools,
                                          &sync->command_buffers,
                                          &sync->queues,
                                          &sync->set_layouts,
                                          &sync->pipeline_layouts,
                                          &sync->descriptor_pools,
                                          &sync->sets,
                                          &sync->templates,
                                          &sync->modules,
                                          &sync->pipelines,
                                          &sync->shaders};
    for (uint32_t i = 0; i < MAP_COUNT; i++)
        out[i] = maps[i];
}

static void read_mode(struct device_sync *sync, const VkDeviceCreateInfo *info)
{
    struct instance *instance = sync->device->instance;
    const struct settings_values *values = &instance->settings.values;
    char text[128];
    const char *newer = newer_reason(info, sync->device->api_version, text, sizeof(text));
    sync->mode = values->barriers == SETTINGS_BARRIERS_REPAIR ? SYNC_REPAIR : SYNC_REPORT;
    if (newer) {
        sync->newer = true;
        sync->mode = SYNC_REPORT;
        report_log(instance->report, REPORT_INFO,
                   "barriers are left alone: this build doesn't know %s, which the application uses", newer);
    }
    sync->merge = sync->mode == SYNC_REPAIR && values->merge;
}

/* By the name that was enabled: a driver may answer to others, too. */
static PFN_vkCmdPipelineBarrier2 find_barrier2(const struct device *device)
{
    if (device->api_version >= VK_API_VERSION_1_3)
        return device->next.CmdPipelineBarrier2;
    bool named =
        device->sync2_extension || device_has_extension(device, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
    return named ? device->next.CmdPipelineBarrier2KHR : NULL;
}

struct device_sync *device_sync_create(struct device *device, const VkDeviceCreateInfo *info)
{
    struct device_sync *sync = calloc(1, sizeof(*sync));
    struct handle_map *maps[MAP_COUNT];
    if (!sync)
        return NULL;
    sync->device = device;
    read_mode(sync, info);
    read_families(sync);
    sync->follows_shaders = !newer_has_commands(info, device->api_version);
    sync->app_sync2 = device_request_has_sync2(info);
    sync->separate_depth_stencil = device_request_has_separate_layouts(info);
    sync->CmdPipelineBarrier2 = find_barrier2(device);
    sync->sync2 = device->sync2 && sync->CmdPipelineBarrier2;
    all_maps(sync, maps);
    for (uint32_t i = 0; i < MAP_COUNT; i++)
        handle_map_init(maps[i]);
    pthread_mutex_init(&sync->lock, NULL);
    pthread_mutex_init(&sync->memory_lock, NULL);
    sync->findings = finding_table_create();
    sync->holds = hold_table_create();
    uint32_t queues = queue_count(info);
    if (sync->family_count && queues && queues <= MAX_QUEUES && queues_create(sync, queues))
        return sync;
    device_sync_destroy(sync);
    return NULL;
}

static uint64_t count_of(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void log_summary(struct report *report, const struct sync_counters *c)
{
    uint64_t calls = count_of(&c->calls_in), recorded = count_of(&c->record_repairs),
             rewritten = count_of(&c->rewritten) + count_of(&c->hoisted),
             submitted = count_of(&c->submit_repairs), presented = count_of(&c->present_repairs),
             reported = count_of(&c->reported);
    if (!(calls || recorded || rewritten || submitted || presented || reported))
        return;
    report_log(report, REPORT_INFO,
               "%" PRIu64 " barrier calls with repairs, %" PRIu64 " given down; repairs: %" PRIu64
               " before commands, %" PRIu64 " barriers rewritten or moved, %" PRIu64
               " before command buffers, %" PRIu64 " before presents; %" PRIu64 " only reported",
               calls, count_of(&c->calls_out), recorded, rewritten, submitted, presented, reported);
}

static void report_summary(struct device_sync *sync)
{
    struct report *report = sync->device->instance->report;
    const struct sync_counters *c = &sync->counters;
    const struct {
        const char *name;
        const atomic_uint_fast64_t *counter;
    } counts[] = {
        {"calls_in", &c->calls_in},
        {"calls_out", &c->calls_out},
        {"images_in", &c->images_in},
        {"images_out", &c->images_out},
        {"record_repairs", &c->record_repairs},
        {"rewritten", &c->rewritten},
        {"hoisted", &c->hoisted},
        {"submit_repairs", &c->submit_repairs},
        {"patches", &c->patches},
        {"present_repairs", &c->present_repairs},
        {"reported", &c->reported},
        {"unpatchable", &c->unpatchable},
        {"passes", &c->passes},
        {"passes_held", &c->passes_held},
        {"passes_held_in_vain", &c->passes_held_in_vain},
        {"not_encoded", &c->not_encoded},
        {"unseen", &c->unseen},
        {"images_unknown", &c->images_unknown},
    };
    struct report_event event;
    report_event_begin(&event, report, "barriers");
    report_event_string(&event, "mode", sync->mode == SYNC_REPAIR ? "repair" : "report");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        report_event_number(&event, counts[i].name, count_of(counts[i].counter));
    report_event_end(&event, report);
    log_summary(report, c);
}

void device_sync_destroy(struct device_sync *sync)
{
    struct handle_map *maps[MAP_COUNT];
    if (!sync)
        return;
    report_summary(sync);
    finding_table_destroy(sync, sync->findings);
    queues_destroy(sync);
    command_buffers_destroy(sync);
    objects_destroy(sync);
    hold_table_destroy(sync->holds);
    all_maps(sync, maps);
    for (uint32_t i = 0; i < MAP_COUNT; i++)
        handle_map_finish(maps[i]);
    pthread_mutex_destroy(&sync->memory_lock);
    pthread_mutex_destroy(&sync->lock);
    free(sync);
}
