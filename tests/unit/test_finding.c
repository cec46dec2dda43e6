/* How faults are said: once for each kind, with everything that is known, and counted after that. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "instance.h"
#include "report.h"
#include "sync/finding.h"
#include "sync_commands.h"

#define THREADS 4
#define ROUNDS 200

static struct instance instance;
static struct device device = {.instance = &instance};
static struct device_sync tracked;
static struct image image;
static char folder[64];

/* What finding.c needs of image.c: the test's images have one aspect, given in `aspects`. */
VkImageSubresourceRange image_vk_range(const struct image *of, const struct subresource_range *range)
{
    return (VkImageSubresourceRange){of->aspects[0], range->base_mip, range->mip_count, range->base_layer,
                                     range->layer_count};
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static char *content_of(const char *name)
{
    const int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
    char *text = calloc(1, 1 << 20);
    assert_true(fd >= 0 && text);
    assert_true(read(fd, text, (1 << 20) - 1) >= 0);
    close(fd);
    return text;
}

static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;
    for (; (text = strstr(text, part)); text++)
        found++;
    return found;
}

static void open_report(void)
{
    char log_file[128], report_file[128];
    strcpy(log_file, path_of("log"));
    strcpy(report_file, path_of("report"));
    instance.report = report_create(&(struct report_config){.level = REPORT_DEBUG,
                                                            .log_file = log_file,
                                                            .report_file = report_file,
                                                            .application = "game",
                                                            .messenger = true});
    assert_non_null(instance.report);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/robust-cache-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    memset(&tracked, 0, sizeof(tracked));
    memset(&image, 0, sizeof(image));
    tracked.device = &device;
    pthread_mutex_init(&tracked.lock, NULL);
    tracked.findings = finding_table_create();
    image.sync = &tracked;
    image.handle = (VkImage)(uintptr_t)0xabc;
    image.aspects[0] = VK_IMAGE_ASPECT_COLOR_BIT;
    image.ordinal = 7;
    open_report();
    return tracked.findings ? 0 : -1;
}

/* As when the device is destroyed. */
static void close_table(void)
{
    finding_table_destroy(&tracked, tracked.findings);
    tracked.findings = NULL;
}

static int tear_down(void **state)
{
    (void)state;
    close_table();
    report_destroy(instance.report);
    pthread_mutex_destroy(&tracked.lock);
    unlink(path_of("log"));
    unlink(path_of("report"));
    return rmdir(folder);
}

static struct finding fault(void)
{
    return (struct finding){
        .kind = FINDING_MISSING_TRANSITION,
        .place = PLACE_BEFORE_COMMAND,
        .image = &image,
        .range = {1, 2, 3, 4, 1},
        .command = COMMAND_CmdCopyImage,
        .labels = "shadow/blur",
        .command_buffer = "frame 1",
        .had = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .needed = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
    };
}

/* The fingerprint in the last message. */
static uint64_t say(const struct finding *finding)
{
    struct report_message message = {0}, last = {0};
    finding_report(&tracked, finding);
    while (report_take_message(instance.report, &message))
        last = message;
    const char *open = strchr(last.text, '[');
    return open ? strtoull(open + 1, NULL, 16) : 0;
}

static void test_everything_is_said(void **state)
{
    static const char *const fields[] = {
        "\"event\":\"repair\"",
        "\"kind\":\"missing transition\"",
        "\"place\":\"before the command\"",
        "\"command\":\"vkCmdCopyImage\"",
        "\"had\":\"VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL\"",
        "\"needed\":\"VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL\"",
        "\"image\":\"0xabc\"",
        "\"name\":\"#7\"",
        "\"aspects\":1",
        "\"mip\":2,\"mips\":3,\"layer\":4,\"layers\":1",
        "\"labels\":\"shadow/blur\"",
        "\"command_buffer\":\"frame 1\"",
    };
    const struct finding finding = fault();
    char fingerprint[48];
    (void)state;
    snprintf(fingerprint, sizeof(fingerprint), "\"fingerprint\":\"%016llx\"",
             (unsigned long long)say(&finding));
    char *report = content_of("report"), *log = content_of("log");
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        check(strstr(report, fields[i]), "%s in %s", fields[i], report);
    assert_non_null(strstr(report, fingerprint));
    assert_non_null(strstr(log, "robust_cache: info: game["));
    assert_non_null(strstr(log, "image #7 (0xabc), mips 2..4 layers 4..4, in "
                                "VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, needed in "
                                "VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL under shadow/blur by vkCmdCopyImage "
                                "of frame 1; repaired before the command\n"));
    assert_int_equal(atomic_load(&tracked.counters.reported), 0);
    free(report);
    free(log);
}

static void test_once_for_each_kind(void **state)
{
    const struct finding finding = fault();
    (void)state;
    for (int i = 0; i < 5; i++)
        finding_report(&tracked, &finding);
    struct finding other = finding;
    other.needed = VK_IMAGE_LAYOUT_GENERAL;
    finding_report(&tracked, &other);
    close_table();
    char *report = content_of("report");
    assert_int_equal(count(report, "\"event\":\"repair\""), 2);
    assert_int_equal(count(report, "\"event\":\"repeated\""), 1);
    assert_int_equal(count(report, "\"count\":5"), 1);
    free(report);
}

/* Comparable between runs: no handle, place, range or command buffer; all else tells kinds apart. */
static void test_fingerprint(void **state)
{
    struct finding changed = fault();
    const uint64_t first = say(&changed);
    (void)state;
    assert_true(first != 0);
    image.handle = (VkImage)(uintptr_t)0xdef;
    changed.range = (struct subresource_range){1, 0, 1, 0, 1};
    changed.command_buffer = NULL;
    changed.place = PLACE_BEFORE_COMMAND_BUFFER;
    assert_int_equal(say(&changed), 0); /* said already */

    struct finding others[6];
    for (int i = 0; i < 6; i++)
        others[i] = fault();
    others[0].kind = FINDING_WRONG_OLD_LAYOUT;
    others[1].command = COMMAND_CmdBlitImage;
    others[2].labels = NULL;
    others[3].had = VK_IMAGE_LAYOUT_GENERAL;
    others[4].needed = VK_IMAGE_LAYOUT_GENERAL;
    struct image second = image;
    second.ordinal = 8;
    others[5].image = &second;
    uint64_t seen[7] = {first};
    for (int i = 0; i < 6; i++) {
        seen[i + 1] = say(&others[i]);
        for (int j = 0; j <= i; j++)
            check(seen[i + 1] && seen[i + 1] != seen[j], "%d and %d", i + 1, j);
    }

    /* A name stands for the ordinal, which another run may give to something else. */
    char name[] = "albedo";
    image.name = second.name = name;
    assert_true(say(&(struct finding){.image = &image, .labels = ""}) != 0);
    assert_true(say(&(struct finding){.image = &second, .labels = ""}) == 0);
}

/* However much the application says, the rest is there. */
static void test_long_words(void **state)
{
    static char words[5000];
    (void)state;
    memset(words, 'x', sizeof(words) - 1);
    image.name = words;
    struct finding finding = fault();
    finding.labels = finding.command_buffer = words;
    const uint64_t first = say(&finding);
    finding.needed = VK_IMAGE_LAYOUT_GENERAL;
    const uint64_t second = say(&finding);
    assert_true(first && second && first != second);
    char *report = content_of("report"), *log = content_of("log");
    assert_int_equal(count(report, "\"truncated\":true}\n"), 2);
    assert_int_equal(count(report, "\"layers\":1"), 2);
    assert_int_equal(count(log, "; repaired before the command\n"), 2);
    free(report);
    free(log);
}

static void test_aspects(void **state)
{
    (void)state;
    struct finding finding = fault();
    image.aspects[0] = VK_IMAGE_ASPECT_DEPTH_BIT;
    say(&finding);
    image.aspects[0] = VK_IMAGE_ASPECT_STENCIL_BIT;
    finding.had = VK_IMAGE_LAYOUT_GENERAL;
    say(&finding);
    image.aspects[0] = (VkImageAspectFlagBits)(VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
    finding.had = VK_IMAGE_LAYOUT_UNDEFINED;
    say(&finding);
    char *log = content_of("log");
    assert_int_equal(count(log, ", depth mips 2..4"), 1);
    assert_int_equal(count(log, ", stencil mips 2..4"), 1);
    assert_int_equal(count(log, ", depth and stencil mips 2..4"), 1);
    free(log);
}

static struct report_message message_of(const struct finding *finding)
{
    struct report_message message = {0};
    finding_report(&tracked, finding);
    assert_true(report_take_message(instance.report, &message));
    return message;
}

/* Repaired: information. Not to be repaired: a warning. In report mode a fault, whatever could have been
 * done. */
static void test_levels(void **state)
{
    struct finding finding = fault();
    (void)state;
    struct report_message message = message_of(&finding);
    assert_true(message.level == REPORT_INFO && !message.fault);

    finding.kind = FINDING_UNORDERED;
    finding.place = PLACE_NOWHERE;
    message = message_of(&finding);
    assert_true(message.level == REPORT_WARNING && !message.fault);
    assert_non_null(strstr(message.text, "; not repaired"));
    assert_int_equal(atomic_load(&tracked.counters.reported), 1);

    tracked.mode = SYNC_REPORT;
    finding = fault();
    finding.labels = "another";
    message = message_of(&finding);
    assert_true(message.level == REPORT_ERROR && message.fault);
    assert_int_equal(message.number, (uint32_t)strtoull(strchr(message.text, '[') + 1, NULL, 16));
    assert_non_null(strstr(message.text, "; not repaired"));
    finding_report(&tracked, &finding);
    assert_int_equal(atomic_load(&tracked.counters.reported), 3);
    char *report = content_of("report");
    assert_int_equal(count(report, "\"event\":\"repair\""), 1);
    assert_int_equal(count(report, "\"event\":\"fault\""), 2);
    free(report);
}

/* Without a table, and when it is full, faults are counted only. */
static void test_no_more_room(void **state)
{
    struct finding finding = fault();
    (void)state;
    finding.place = PLACE_NOWHERE;
    for (uint32_t i = 0; i < 3000; i++) {
        image.ordinal = i;
        finding_report(&tracked, &finding);
    }
    char *report = content_of("report");
    assert_int_equal(count(report, "\"event\":\"fault\""), 1024);
    free(report);
    close_table();
    finding_report(&tracked, &finding);
    assert_int_equal(atomic_load(&tracked.counters.reported), 3001);
    report = content_of("report");
    assert_int_equal(count(report, "\"event\":\"fault\""), 1024);
    free(report);
}

static void *report_many(void *unused)
{
    struct finding finding = fault();
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        finding.needed = (VkImageLayout)(i % 8);
        finding_report(&tracked, &finding);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    close_table();
    char *report = content_of("report"), each[32];
    snprintf(each, sizeof(each), "\"count\":%d}", THREADS * ROUNDS / 8);
    assert_int_equal(count(report, "\"event\":\"repair\""), 8);
    assert_int_equal(count(report, each), 8);
    free(report);
}

#define FINDING_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FINDING_TEST(test_everything_is_said),
        FINDING_TEST(test_once_for_each_kind),
        FINDING_TEST(test_fingerprint),
        FINDING_TEST(test_long_words),
        FINDING_TEST(test_aspects),
        FINDING_TEST(test_levels),
        FINDING_TEST(test_no_more_room),
        FINDING_TEST(test_threads),
    };
    return cmocka_run_group_tests_name("finding", tests, NULL, NULL);
}
