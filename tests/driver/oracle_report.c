#include "oracle_report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VIOLATIONS_HELD 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_violation *held; /* allocated at the first one, for good */
static uint32_t held_count;
static uint32_t counts[32]; /* by the kind's bit */
static int file = -1;

static const char *kind_name(enum fault_oracle_kind kind)
{
    switch (kind) {
    case FAULT_ORACLE_OLD_LAYOUT:
        return "old-layout";
    case FAULT_ORACLE_USE_LAYOUT:
        return "use-layout";
    case FAULT_ORACLE_PRESENT_LAYOUT:
        return "present-layout";
    case FAULT_ORACLE_NEW_LAYOUT:
        return "new-layout";
    case FAULT_ORACLE_PLACE:
        return "place";
    case FAULT_ORACLE_OWNERSHIP:
        return "ownership";
    case FAULT_ORACLE_STAGE:
        return "stage";
    case FAULT_ORACLE_ASPECT:
        return "aspect";
    case FAULT_ORACLE_OVERLAP:
        return "overlap";
    case FAULT_ORACLE_DISCARDED_READ:
        return "discarded-read";
    }
    return "unknown";
}

const char *layout_name(VkImageLayout layout, char name[LAYOUT_NAME_SIZE])
{
    static const struct {
        VkImageLayout layout;
        const char *name;
    } names[] = {
        {VK_IMAGE_LAYOUT_UNDEFINED, "UNDEFINED"},
        {VK_IMAGE_LAYOUT_GENERAL, "GENERAL"},
        {VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, "COLOR_ATTACHMENT_OPTIMAL"},
        {VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, "DEPTH_STENCIL_ATTACHMENT_OPTIMAL"},
        {VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL, "DEPTH_STENCIL_READ_ONLY_OPTIMAL"},
        {VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, "SHADER_READ_ONLY_OPTIMAL"},
        {VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, "TRANSFER_SRC_OPTIMAL"},
        {VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, "TRANSFER_DST_OPTIMAL"},
        {VK_IMAGE_LAYOUT_PREINITIALIZED, "PREINITIALIZED"},
        {VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL, "DEPTH_ATTACHMENT_OPTIMAL"},
        {VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL, "DEPTH_READ_ONLY_OPTIMAL"},
        {VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL, "STENCIL_ATTACHMENT_OPTIMAL"},
        {VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL, "STENCIL_READ_ONLY_OPTIMAL"},
        {VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL, "READ_ONLY_OPTIMAL"},
        {VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL, "ATTACHMENT_OPTIMAL"},
        {VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, "PRESENT_SRC_KHR"},
        {VK_IMAGE_LAYOUT_SHARED_PRESENT_KHR, "SHARED_PRESENT_KHR"},
    };

    snprintf(name, LAYOUT_NAME_SIZE, "%" PRId32, (int32_t)layout);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].layout == layout)
            snprintf(name, LAYOUT_NAME_SIZE, "%s", names[i].name);
    }
    return name;
}

void oracle_report_open(const char *path)
{
    int next = -1;

    if (path && *path) {
        next = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (next < 0)
            fprintf(stderr, "fault driver: oracle_file=%s: %s\n", path, strerror(errno));
    }
    pthread_mutex_lock(&lock);
    if (file >= 0)
        close(file);
    file = next;
    pthread_mutex_unlock(&lock);
}

uint32_t oracle_report_position(void)
{
    uint32_t position;

    pthread_mutex_lock(&lock);
    position = held_count;
    pthread_mutex_unlock(&lock);
    return position;
}

static void file_write(const struct fault_violation *violation)
{
    char descriptor[64] = "";
    char expected[LAYOUT_NAME_SIZE], actual[LAYOUT_NAME_SIZE];
    char line[768];
    ssize_t count;
    int length;

    if (violation->set >= 0)
        snprintf(descriptor, sizeof(descriptor), " set=%" PRId32 " binding=%" PRId32, violation->set,
                 violation->binding);
    length = snprintf(line, sizeof(line),
                      "pid=%ld %s %s image=0x%" PRIx64 " aspect=0x%x mip=%" PRIu32 " layer=%" PRIu32
                      " expected=%s actual=%s%s: %s\n",
                      (long)getpid(), kind_name(violation->kind), violation->command, violation->image,
                      (unsigned)violation->aspect, violation->mip, violation->layer,
                      layout_name(violation->expected, expected), layout_name(violation->actual, actual),
                      descriptor, violation->text);

    do
        count = write(file, line, (size_t)length);
    while (count < 0 && errno == EINTR);
}

static bool same_finding(const struct fault_violation *a, const struct fault_violation *b)
{
    return a->kind == b->kind && a->image == b->image && a->expected == b->expected &&
           a->actual == b->actual && a->command == b->command;
}

static struct fault_violation *find_since(const struct fault_violation *violation, uint32_t since)
{
    for (uint32_t i = since; i < held_count; i++) {
        if (same_finding(&held[i], violation))
            return &held[i];
    }
    return NULL;
}

void oracle_report_add(const struct fault_violation *violation, uint32_t since)
{
    struct fault_violation *known;

    pthread_mutex_lock(&lock);
    known = find_since(violation, since);
    if (known) {
        known->subresources++;
    } else {
        counts[__builtin_ctz(violation->kind)]++;
        if (!held)
            held = calloc(VIOLATIONS_HELD, sizeof(*held));
        if (held && held_count < VIOLATIONS_HELD) {
            held[held_count] = *violation;
            held[held_count++].subresources = 1;
        }
        if (file >= 0)
            file_write(violation);
    }
    pthread_mutex_unlock(&lock);
}

uint32_t fault_oracle_violations(uint32_t kinds)
{
    uint32_t sum = 0;

    pthread_mutex_lock(&lock);
    for (uint32_t bit = 0; bit < 32; bit++)
        sum += kinds >> bit & 1 ? counts[bit] : 0;
    pthread_mutex_unlock(&lock);
    return sum;
}

bool fault_oracle_violation(uint32_t index, struct fault_violation *out)
{
    bool found;

    pthread_mutex_lock(&lock);
    found = index < held_count;
    if (found)
        *out = held[index];
    pthread_mutex_unlock(&lock);
    return found;
}

void fault_oracle_reset(void)
{
    pthread_mutex_lock(&lock);
    held_count = 0;
    memset(counts, 0, sizeof(counts));
    pthread_mutex_unlock(&lock);
}
