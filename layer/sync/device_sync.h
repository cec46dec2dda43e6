/* All state of the barrier half for one device. */
#ifndef RC_SYNC_DEVICE_SYNC_H
#define RC_SYNC_DEVICE_SYNC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "handle_map.h"
#include "sync/barrier_batch.h"

#define MAX_QUEUES 64 /* of one device that are told apart; a device with more has this half switched off */
#define MAX_FAMILIES 254 /* more are left alone: struct access keeps a family in one byte */
#define MAP_COUNT 17     /* of handles, below */

enum sync_mode {
    SYNC_REPAIR,
    SYNC_REPORT, /* nothing the application said is changed; the model goes on as if repaired */
};

/* Relaxed atomics: adding on any thread, reading for the summary. Command buffers count in plain numbers and
 * add them when they are ended. */
struct sync_counters {
    atomic_uint_fast64_t calls_in, calls_out, images_in, images_out; /* struct barrier_batch_counters */
    atomic_uint_fast64_t record_repairs;      /* barriers put into the application's command buffers */
    atomic_uint_fast64_t rewritten;           /* barriers whose oldLayout was */
    atomic_uint_fast64_t hoisted;             /* barriers moved out of render passes */
    atomic_uint_fast64_t submit_repairs;      /* barriers in patch command buffers */
    atomic_uint_fast64_t patches;             /* patch command buffers */
    atomic_uint_fast64_t present_repairs;     /* images */
    atomic_uint_fast64_t reported;            /* faults that could not be, or were not to be, repaired */
    atomic_uint_fast64_t unpatchable;         /* submits that needed a patch and couldn't have one */
    atomic_uint_fast64_t passes;              /* render pass instances */
    atomic_uint_fast64_t passes_held;         /* render pass instances that were held back */
    atomic_uint_fast64_t passes_held_in_vain; /* ... and had no repair */
    atomic_uint_fast64_t not_encoded;         /* ... that went down at a command which can't be held */
    atomic_uint_fast64_t unseen;              /* looks at what shaders use that couldn't tell all of it */
    atomic_uint_fast64_t images_unknown;      /* images that are left alone from their creation on */
};

struct device_sync {
    struct device *device;
    enum sync_mode mode;
    bool merge;
    bool newer; /* the application is newer than this build: every image unknown, mode report, no merging */
    bool sync2; /* vkCmdPipelineBarrier2 may be used below; CmdPipelineBarrier2 is it */
    bool follows_shaders;        /* all commands that the application can record are known */
    bool app_sync2;              /* the application itself enabled synchronization2 */
    bool separate_depth_stencil; /* ... separateDepthStencilLayouts */
    PFN_vkCmdPipelineBarrier2 CmdPipelineBarrier2; /* the core function or the KHR one */
    uint32_t family_count;
    VkQueueFlags families[MAX_FAMILIES]; /* capabilities by family index */

    /* By handle. Values: struct image, image_view, ... of the headers beside this one. */
    struct handle_map images, views, render_passes, framebuffers, swapchains, memories;
    struct handle_map pools, command_buffers;
    struct handle_map queues;
    struct handle_map set_layouts, pipeline_layouts, descriptor_pools, sets, templates;
    struct handle_map modules, pipelines, shaders;
    atomic_bool barriers_inside; /* ... has recorded image barriers where they may not stand */
    atomic_uint described_anew;  /* how often an image that descriptors refer to got one of another layout */
    atomic_bool unforeseen; /* descriptors come to refer to images while a render pass instance is recorded:
                               set layouts for push descriptors are there, or it was seen */

    /* What the queues have done so far: device-wide image states, queues, semaphores, fences. Held for short
     * computations, never over a call down. Taken before no other lock of the layer but report.c's, and those
     * of descriptor sets that are read at submit. */
    pthread_mutex_t lock;
    struct queue_set *queue_set; /* queue.h; under lock */
    pthread_mutex_t memory_lock; /* of which images lie in which memory, so that loading doesn't wait for
                                    submits; alone */

    atomic_uint_fast64_t image_ordinal; /* counts creations, for fingerprints */
    struct sync_counters counters;
    struct hold_table *holds;       /* hold_table.h */
    struct finding_table *findings; /* what was reported already, see finding.h */
};

/* After the device below was created; `info` is the application's. NULL on out of memory; then nothing is
 * tracked. */
struct device_sync *device_sync_create(struct device *device, const VkDeviceCreateInfo *info);

/* While the device below still lives: writes the summary (log, report), destroys patch pools and fences. NULL
 * is safe. */
void device_sync_destroy(struct device_sync *sync);

#endif
