#include "sync/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/hash.h"
#include "enums.h"
#include "sync_commands.h"

#define SLOTS 1024 /* kinds of faults that are told apart; later ones are only counted */

/* A kind of fault that was said already. */
struct known_finding {
    uint64_t fingerprint; /* 0: free */
    uint64_t count;
};

struct finding_table {
    pthread_mutex_t lock;
    uint32_t used;
    struct known_finding slots[SLOTS];
};

struct finding_table *finding_table_create(void)
{
    struct finding_table *table = calloc(1, sizeof(*table));
    if (table)
        pthread_mutex_init(&table->lock, NULL);
    return table;
}

void finding_table_destroy(struct device_sync *sync, struct finding_table *table)
{
    struct report *report = sync->device->instance->report;
    if (!table)
        return;
    for (uint32_t i = 0; i < SLOTS; i++) {
        char text[17];
        struct report_event event;
        if (!table->slots[i].fingerprint || table->slots[i].count < 2)
            continue;
        snprintf(text, sizeof(text), "%016" PRIx64, table->slots[i].fingerprint);
        report_event_begin(&event, report, "repeated");
        report_event_string(&event, "fingerprint", text);
        report_event_number(&event, "count", table->slots[i].count);
        report_event_end(&event, report);
    }
    pthread_mutex_destroy(&table->lock);
    free(table);
}

/* Counts; true for the first of its kind. */
static bool is_new(struct finding_table *table, uint64_t fingerprint)
{
    bool found = false;
    if (!table)
        return false;
    pthread_mutex_lock(&table->lock);
    for (uint32_t i = (uint32_t)fingerprint % SLOTS, n = 0; n < SLOTS; i = (i + 1) % SLOTS, n++) {
        struct known_finding *slot = &table->slots[i];
        if (slot->fingerprint == fingerprint) {
            slot->count++;
            break;
        }
        if (!slot->fingerprint) {
            slot->fingerprint = fingerprint;
            slot->count = 1;
            found = true;
            break;
        }
    }
    pthread_mutex_unlock(&table->lock);
    return found;
}

static const char *kind_name(enum finding_kind kind)
{
    static const char *const names[] = {
        [FINDING_MISSING_TRANSITION] = "missing transition",
        [FINDING_WRONG_OLD_LAYOUT] = "wrong oldLayout",
        [FINDING_PRESENT_LAYOUT] = "presented in a wrong layout",
        [FINDING_INSIDE_RENDER_PASS] = "transition needed inside a render pass",
        [FINDING_BARRIER_INSIDE] = "barrier inside a render pass that doesn't use the image",
        [FINDING_UNORDERED] = "in use on another queue with no dependency between",
        [FINDING_OTHER_FAMILY] = "owned by another queue family",
        [FINDING_RELEASED] = "used between release and acquire",
        [FINDING_NEVER_RELEASED] = "acquired without release",
        [FINDING_DESTROYED_IN_USE] = "destroyed while in use",
    };
    return names[kind];
}

static const char *place_name(enum finding_place place)
{
    static const char *const names[] = {
        [PLACE_BEFORE_COMMAND] = "before the command",
        [PLACE_BEFORE_RENDER_PASS] = "before the render pass",
        [PLACE_BEHIND_RENDER_PASS] = "behind the render pass",
        [PLACE_REWRITTEN] = "in the application's barrier",
        [PLACE_BEFORE_COMMAND_BUFFER] = "before the command buffer",
        [PLACE_BEFORE_PRESENT] = "before the present",
        [PLACE_NOWHERE] = "nowhere",
    };
    return names[place];
}

/* "depth mips 0..3 layers 2": what a line of text says of a range. */
static void describe_range(const struct finding *finding, char *text, size_t size)
{
    VkImageSubresourceRange range = image_vk_range(finding->image, &finding->range);
    const char *aspects = range.aspectMask == VK_IMAGE_ASPECT_DEPTH_BIT     ? "depth "
                          : range.aspectMask == VK_IMAGE_ASPECT_STENCIL_BIT ? "stencil "
                          : range.aspectMask & VK_IMAGE_ASPECT_COLOR_BIT    ? ""
                                                                            : "depth and stencil ";
    snprintf(text, size, "%smips %u..%u layers %u..%u", aspects, range.baseMipLevel,
             range.baseMipLevel + range.levelCount - 1, range.baseArrayLayer,
             range.baseArrayLayer + range.layerCount - 1);
}

/* What is worked out for every finding, said or only counted, isn't left to snprintf(), which would take most
 * of the time of a submit with repairs. What doesn't fit is cut off. */
struct text {
    size_t size;
    char bytes[1024];
};

static void text_add(struct text *text, const char *string)
{
    while (*string && text->size < sizeof(text->bytes) - 1)
        text->bytes[text->size++] = *string++;
}

static void text_add_number(struct text *text, uint32_t number)
{
    char digits[11] = "", *first = digits + sizeof(digits) - 1;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    text_add(text, first);
}

/* The image's debug name, else its number by creation; the application's own text, and stable between runs.
 */
static void text_add_image(struct text *text, const struct finding *finding)
{
    struct device_sync *sync = finding->image->sync;
    pthread_mutex_lock(&sync->lock);
    if (finding->image->name) {
        text_add(text, "\"");
        text_add(text, finding->image->name);
        text_add(text, "\"");
    } else {
        text_add(text, "#");
        text_add_number(text, finding->image->ordinal);
    }
    pthread_mutex_unlock(&sync->lock);
}

static uint64_t fingerprint_of(const struct finding *finding)
{
    struct text text;
    text.size = 0;
    text_add_number(&text, finding->kind);
    text_add(&text, "|");
    text_add(&text, sync_command_name(finding->command));
    text_add(&text, "|");
    text_add_number(&text, finding->had);
    text_add(&text, "|");
    text_add_number(&text, finding->needed);
    text_add(&text, "|");
    text_add_image(&text, finding);
    text_add(&text, "|");
    text_add(&text, finding->labels ? finding->labels : "");
    uint64_t hash = hash64_of(text.bytes, text.size);
    return hash ? hash : 1;
}

/* A finding that is said, with what is said of it in words. */
struct saying {
    const struct finding *finding;
    const char *image;
    const char *labels;
    uint64_t fingerprint;
    bool repaired;
    char handle[24];
};

static void write_event(struct report *report, const struct saying *saying)
{
    const struct finding *finding = saying->finding;
    VkImageSubresourceRange range = image_vk_range(finding->image, &finding->range);
    struct report_event event;
    char fingerprint[17];
    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, saying->fingerprint);
    report_event_begin(&event, report, saying->repaired ? "repair" : "fault");
    report_event_string(&event, "kind", kind_name(finding->kind));
    report_event_string(&event, "place", place_name(finding->place));
    report_event_string(&event, "fingerprint", fingerprint);
    report_event_string(&event, "command", sync_command_name(finding->command));
    report_event_string(&event, "had", enum_VkImageLayout_name(finding->had));
    report_event_string(&event, "needed", enum_VkImageLayout_name(finding->needed));
    report_event_string(&event, "image", saying->handle);
    report_event_string(&event, "name", saying->image);
    report_event_number(&event, "aspects", range.aspectMask);
    report_event_number(&event, "mip", range.baseMipLevel);
    report_event_number(&event, "mips", range.levelCount);
    report_event_number(&event, "layer", range.baseArrayLayer);
    report_event_number(&event, "layers", range.layerCount);
    report_event_string(&event, "command_buffer", finding->command_buffer);
    report_event_string(&event, "labels", saying->labels); /* last: they may be longer than an event */
    report_event_end(&event, report);
}

/* The application's own words are cut, so that what comes behind them is still read. */
static void write_line(struct report *report, const struct saying *saying, bool fault)
{
    const struct finding *finding = saying->finding;
    const char *buffer = finding->command_buffer;
    char text[1024], range[96];
    describe_range(finding, range, sizeof(range));
    snprintf(text, sizeof(text),
             "%s [%016" PRIx64 "]: image %.80s (%s), %s, in %s, needed in %s%s%.120s by %s%s%.40s; %s%s",
             kind_name(finding->kind), saying->fingerprint, saying->image, saying->handle, range,
             enum_VkImageLayout_name(finding->had), enum_VkImageLayout_name(finding->needed),
             saying->labels[0] ? " under " : "", saying->labels, sync_command_name(finding->command),
             buffer ? " of " : "", buffer ? buffer : "", saying->repaired ? "repaired " : "not repaired",
             saying->repaired ? place_name(finding->place) : "");
    if (fault)
        report_fault(report, (uint32_t)saying->fingerprint, "%s", text);
    else
        report_log(report, saying->repaired ? REPORT_INFO : REPORT_WARNING, "%s", text);
}

static void say(struct device_sync *sync, const struct finding *finding, uint64_t fingerprint)
{
    struct report *report = sync->device->instance->report;
    struct text image;
    struct saying saying = {
        .finding = finding,
        .image = image.bytes,
        .labels = finding->labels ? finding->labels : "",
        .fingerprint = fingerprint,
        .repaired = sync->mode == SYNC_REPAIR && finding->place != PLACE_NOWHERE,
    };
    image.size = 0;
    text_add_image(&image, finding);
    image.bytes[image.size] = '\0';
    snprintf(saying.handle, sizeof(saying.handle), "0x%" PRIx64, HANDLE_KEY(finding->image->handle));
    write_event(report, &saying);
    write_line(report, &saying, sync->mode == SYNC_REPORT);
}

void finding_report(struct device_sync *sync, const struct finding *finding)
{
    if (sync->mode == SYNC_REPORT || finding->place == PLACE_NOWHERE)
        atomic_fetch_add_explicit(&sync->counters.reported, 1, memory_order_relaxed);
    uint64_t fingerprint = fingerprint_of(finding);
    if (is_new(sync->findings, fingerprint))
        say(sync, finding, fingerprint);
}
