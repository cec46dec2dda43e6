/* Barriers of the application whose oldLayout isn't the one that the image is in: rewritten in just the part
 * that is wrong, or left alone. L13, L28. */
#include "record_app.h"

#define ALL ((struct record_range){COLOR_BIT, 0, 4, 0, 6})
#define ONE ((struct record_range){COLOR_BIT, 0, 1, 0, 1})
#define BOTH ((struct record_range){BOTH_BITS, 0, 1, 0, 1})
#define BARRIERS_MAX 16

struct part {
    enum record_image image;
    VkImageLayout from, to;
    VkImageSubresourceRange range;
};

struct rewriting {
    const char *name;
    record_function record;
    uint32_t index;       /* of the command that is looked at, which is a barrier call; it stays one call */
    struct part parts[4]; /* what it must say in the end; none: it goes down as it is */
    bool unjudged;        /* what goes down is wrong, as it was meant */
};

static VkImage image_of(const struct record_app *app, enum record_image image)
{
    return app->images[image];
}

static void begin_in(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                     enum record_image image, struct record_range range, VkImageLayout layout)
{
    record_move(vk, cb, image_of(app, image), range, UNDEFINED, layout);
    record_act(app, vk, cb);
}

static void mips(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_ARRAY, ALL, DST);
    record_move(vk, cb, image_of(app, IMAGE_ARRAY), ((struct record_range){COLOR_BIT, 1, 1, 0, 6}), DST, SRC);
    record_act(app, vk, cb);
    record_move(vk, cb, image_of(app, IMAGE_ARRAY), ALL, DST, SHADER);
}

static void layers(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier barriers[2] = {record_barrier_info(image_of(app, IMAGE_COLOR), ONE, DST, SHADER),
                                        record_barrier_info(image_of(app, IMAGE_ARRAY),
                                                            ((struct record_range){COLOR_BIT, 2, 1, 0, 6}),
                                                            DST, SHADER)};
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    begin_in(app, vk, cb, IMAGE_ARRAY, ALL, DST);
    record_move(vk, cb, image_of(app, IMAGE_ARRAY), ((struct record_range){COLOR_BIT, 2, 1, 3, 2}), DST, SRC);
    record_act(app, vk, cb);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0,
                           NULL, 0, NULL, 2, barriers);
}

static void all_of_it(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_ARRAY, ALL, DST);
    record_move(vk, cb, image_of(app, IMAGE_ARRAY),
                ((struct record_range){COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}),
                TARGET, SHADER);
}

static void of_sync2(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    record_move2(vk, cb, image_of(app, IMAGE_COLOR), ONE, SHADER, SRC);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

static void discard(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    record_move(vk, cb, image_of(app, IMAGE_COLOR), ONE, UNDEFINED, SHADER);
}

static void release(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier barrier = record_barrier_info(image_of(app, IMAGE_COLOR), ONE, SHADER, SRC);
    barrier.srcQueueFamilyIndex = app->family;
    barrier.dstQueueFamilyIndex = app->other_family;
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0,
                           NULL, 0, NULL, 1, &barrier);
}

static void equal(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    record_move(vk, cb, image_of(app, IMAGE_COLOR), ONE, GENERAL, GENERAL);
}

static void external(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_EXTERNAL, ONE, DST);
    record_move(vk, cb, image_of(app, IMAGE_EXTERNAL), ONE, SHADER, GENERAL);
}

/* Depth is read only, stencil isn't. */
static void one_aspect(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_DEPTH, BOTH, VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL);
    record_move(vk, cb, image_of(app, IMAGE_DEPTH), BOTH, DEPTH, SRC);
}

static void separate_aspects(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_DEPTH, BOTH, DST);
    record_move(vk, cb, image_of(app, IMAGE_DEPTH), ((struct record_range){STENCIL_BIT, 0, 1, 0, 1}), DST,
                SRC);
    record_act(app, vk, cb);
    record_move(vk, cb, image_of(app, IMAGE_DEPTH), BOTH, DST, DEPTH);
}

static const struct rewriting always[] = {
    {"mips",
     mips,
     4,
     {{IMAGE_ARRAY, DST, SHADER, {COLOR_BIT, 0, 1, 0, 6}},
      {IMAGE_ARRAY, SRC, SHADER, {COLOR_BIT, 1, 1, 0, 6}},
      {IMAGE_ARRAY, DST, SHADER, {COLOR_BIT, 2, 2, 0, 6}}},
     false},
    {"layers",
     layers,
     6,
     {{IMAGE_COLOR, DST, SHADER, {COLOR_BIT, 0, 1, 0, 1}},
      {IMAGE_ARRAY, DST, SHADER, {COLOR_BIT, 2, 1, 0, 3}},
      {IMAGE_ARRAY, SRC, SHADER, {COLOR_BIT, 2, 1, 3, 2}},
      {IMAGE_ARRAY, DST, SHADER, {COLOR_BIT, 2, 1, 5, 1}}},
     false},
    {"all of it", all_of_it, 2, {{IMAGE_ARRAY, DST, SHADER, {COLOR_BIT, 0, 4, 0, 6}}}, false},
    {"discard", discard, 2, {{0}}, false},
    {"release", release, 2, {{0}}, true},
    {"external", external, 2, {{0}}, true},
};

static const struct rewriting with_sync2[] = {
    {"of sync2", of_sync2, 2, {{IMAGE_COLOR, DST, SRC, {COLOR_BIT, 0, 1, 0, 1}}}, false},
    {"equal", equal, 2, {{0}}, false},
};

static const struct rewriting without_sync2[] = {
    {"equal", equal, 2, {{IMAGE_COLOR, DST, GENERAL, {COLOR_BIT, 0, 1, 0, 1}}}, false},
};

static const struct rewriting with_separate[] = {
    {"separate aspects",
     separate_aspects,
     4,
     {{IMAGE_DEPTH, DST, DEPTH, {DEPTH_BIT, 0, 1, 0, 1}},
      {IMAGE_DEPTH, SRC, DEPTH, {STENCIL_BIT, 0, 1, 0, 1}}},
     false},
};

static const struct rewriting without_separate[] = {
    {"one aspect",
     one_aspect,
     2,
     {{IMAGE_DEPTH,
       VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
       SRC,
       {BOTH_BITS, 0, 1, 0, 1}}},
     false},
};

static bool has_part(const struct record_app *app, const struct insertion *got, uint32_t count,
                     const struct part *part)
{
    for (uint32_t i = 0; i < count; i++)
        if (got[i].image == image_of(app, part->image) && got[i].from == part->from &&
            got[i].to == part->to && memcmp(&got[i].range, &part->range, sizeof(part->range)) == 0)
            return true;
    return false;
}

static void check_rewriting(const struct record_app *app, const struct rewriting *test)
{
    struct insertion all[BARRIERS_MAX], *got = all;
    struct recorded recorded = record_both(app, test->record);
    CHECK_EQUAL(fault_command_count(recorded.got), fault_command_count(recorded.meant));
    for (uint32_t i = 0; i < fault_command_count(recorded.meant); i++)
        CHECK_SAY(fault_command_equal(recorded.got, i, recorded.meant, i) ==
                      (i != test->index || !test->parts[0].to),
                  "%s: command %u", test->name, i);
    uint32_t count = record_barriers(recorded.got, all, BARRIERS_MAX), wanted = 0;
    while (count && got->before < test->index)
        got++, count--;
    for (; wanted < 4 && test->parts[wanted].to; wanted++)
        CHECK_SAY(has_part(app, got, count, &test->parts[wanted]), "%s: part %u", test->name, wanted);
    CHECK_SAY(!wanted || count == wanted, "%s: %u parts", test->name, count);
    if (!test->unjudged)
        record_run(app, recorded.got, test->name);
}

static void check_all(const struct record_app *app, const struct rewriting *tests, size_t size)
{
    for (size_t i = 0; i < size / sizeof(*tests); i++)
        check_rewriting(app, &tests[i]);
}

static void run_rewriting(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    check_all(&app, always, sizeof(always));
    if (app.options.no_sync2)
        check_all(&app, without_sync2, sizeof(without_sync2));
    else
        check_all(&app, with_sync2, sizeof(with_sync2));
    if (app.options.separate)
        check_all(&app, with_separate, sizeof(with_separate));
    else
        check_all(&app, without_separate, sizeof(without_separate));
    record_app_close(&app);
}

static void test_rewriting(void **state)
{
    (void)state;
    record_run_on_all(run_rewriting);
    CHECK(report_count("repair", "wrong oldLayout") > 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

static void test_rewriting_unmerged(void **state)
{
    (void)state;
    layer_set("MERGE", "false");
    record_run_on_all(run_rewriting);
}

/* --- What can't be known --- */

static VkRenderPass pass;
static VkFramebuffer frame;
static VkImage aliases[2];
static VkDeviceMemory shared_memory;

static void unknown_layout(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, (VkImageLayout)1000999123);
    record_clear(vk, cb, image_of(app, IMAGE_COLOR), ONE, DST);
    record_move(vk, cb, image_of(app, IMAGE_COLOR), ONE, SRC, GENERAL);
}

/* It isn't valid there. No shader can read it, so that it goes behind. */
static void moved_inside(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    begin_in(app, vk, cb, IMAGE_OTHER, ONE, DST);
    record_begin_pass(vk, cb, pass, frame, VK_SUBPASS_CONTENTS_INLINE);
    record_move(vk, cb, image_of(app, IMAGE_OTHER), ONE, DST, SRC);
    vk->CmdEndRenderPass(cb);
    record_read(app, vk, cb, image_of(app, IMAGE_OTHER), COLOR_BIT, SRC);
}

static void from_outside(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier barrier = record_barrier_info(image_of(app, IMAGE_COLOR), ONE, GENERAL, SRC);
    barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL;
    barrier.dstQueueFamilyIndex = app->family;
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                           0, NULL, 1, &barrier);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, GENERAL);
}

static void shared(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (int i = 0; i < 2; i++) {
        record_move(vk, cb, aliases[i], ONE, UNDEFINED, DST);
        record_act(app, vk, cb);
        record_read(app, vk, cb, aliases[i], COLOR_BIT, SRC);
        record_move(vk, cb, aliases[i], ONE, GENERAL, SRC);
    }
}

static const struct {
    const char *name;
    record_function record;
} unknown[] = {
    {"unknown layout", unknown_layout},
    {"from outside", from_outside},
    {"shared memory", shared},
};

static void create_aliases(const struct record_app *app)
{
    for (int i = 0; i < 2; i++) {
        VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                  .imageType = VK_IMAGE_TYPE_2D,
                                  .format = RECORD_FORMAT,
                                  .extent = {RECORD_SIDE, RECORD_SIDE, 1},
                                  .mipLevels = 1,
                                  .arrayLayers = 1,
                                  .samples = VK_SAMPLE_COUNT_1_BIT,
                                  .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
        CHECK_EQUAL(vkCreateImage(app->device, &info, NULL, &aliases[i]), VK_SUCCESS);
    }
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(app->device, aliases[0], &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size};
    while (!(needs.memoryTypeBits & 1u << memory.memoryTypeIndex))
        memory.memoryTypeIndex++;
    CHECK_EQUAL(vkAllocateMemory(app->device, &memory, NULL, &shared_memory), VK_SUCCESS);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vkBindImageMemory(app->device, aliases[i], shared_memory, 0), VK_SUCCESS);
}

static void run_unknown(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    pass = record_pass(&app, RECORD_FORMAT, VK_SAMPLE_COUNT_1_BIT, UNDEFINED, TARGET, SHADER, 0);
    frame = record_framebuffer(&app, pass, app.views[VIEW_COLOR], 1);
    create_aliases(&app);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        struct recorded recorded = record_both(&app, unknown[i].record);
        record_check_same(&recorded, unknown[i].name);
    }
    vkDestroyFramebuffer(app.device, frame, NULL);
    vkDestroyRenderPass(app.device, pass, NULL);
    for (int i = 0; i < 2; i++)
        vkDestroyImage(app.device, aliases[i], NULL);
    vkFreeMemory(app.device, shared_memory, NULL);
    record_app_close(&app);
}

/* Left alone, right or wrong. */
static void test_unknown(void **state)
{
    (void)state;
    record_run_on_all(run_unknown);
    CHECK_EQUAL(report_count("repair", ""), 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- What the barrier waits for --- */

static void waits_for_nothing(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier barrier = record_barrier_info(image_of(app, IMAGE_COLOR), ONE, SHADER, SRC);
    barrier.srcAccessMask = 0;
    begin_in(app, vk, cb, IMAGE_COLOR, ONE, DST);
    record_clear(vk, cb, image_of(app, IMAGE_COLOR), ONE, DST);
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                           0, NULL, 1, &barrier);
    record_read(app, vk, cb, image_of(app, IMAGE_COLOR), COLOR_BIT, SRC);
}

/* Who doesn't know the layout doesn't know either who has written last. */
static bool is_barrier(const char *name)
{
    return strncmp(name, "vkCmdPipelineBarrier", strlen("vkCmdPipelineBarrier")) == 0;
}

/* Whether some barrier stands inside of the render pass. */
static bool has_barrier_inside(VkCommandBuffer cb)
{
    bool inside = false, found = false;
    for (uint32_t i = 0; i < fault_command_count(cb); i++) {
        const char *name = fault_command_name(cb, i);
        inside |= strcmp(name, "vkCmdBeginRenderPass") == 0;
        inside &= strcmp(name, "vkCmdEndRenderPass") != 0;
        found |= inside && is_barrier(name);
    }
    return found;
}

static void run_moved_inside(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    pass = record_pass(&app, RECORD_FORMAT, VK_SAMPLE_COUNT_1_BIT, UNDEFINED, TARGET, SHADER, 0);
    frame = record_framebuffer(&app, pass, app.views[VIEW_COLOR], 1);
    struct recorded first = record_both(&app, moved_inside);
    CHECK(has_barrier_inside(first.meant) && !has_barrier_inside(first.got));
    record_run(&app, first.got, "moved inside");
    vkDestroyFramebuffer(app.device, frame, NULL);
    vkDestroyRenderPass(app.device, pass, NULL);
    record_app_close(&app);
}

static void test_moved_inside(void **state)
{
    (void)state;
    record_run_on_all(run_moved_inside);
    CHECK(report_count("repair", "barrier inside a render pass that doesn't use the image") > 0);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

static void run_widened(void *context)
{
    const VkPipelineStageFlags2 clears = VK_PIPELINE_STAGE_2_CLEAR_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    struct record_app app;
    struct insertion got[2];
    record_app_open(&app, context);
    struct recorded recorded = record_both(&app, waits_for_nothing);
    CHECK_EQUAL(record_barriers(recorded.got, got, 2), 2);
    CHECK(got[1].from == DST && got[1].to == SRC);
    CHECK(got[1].source & clears);
    CHECK(got[1].source_access & VK_ACCESS_2_TRANSFER_WRITE_BIT);
    CHECK(got[1].destination & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
    record_run(&app, recorded.got, "widened");
    record_app_close(&app);
}

static void test_widened(void **state)
{
    (void)state;
    record_run_on_all(run_widened);
}

/* --- Report mode --- */

static void run_reported(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        struct recorded recorded = record_both(&app, always[i].record);
        record_check_same(&recorded, always[i].name);
    }
    record_app_close(&app);
}

static void test_reported(void **state)
{
    (void)state;
    layer_set("BARRIERS", "report");
    record_run_on_all(run_reported);
    CHECK(report_count("fault", "wrong oldLayout") > 0);
    CHECK_EQUAL(report_count("repair", ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_rewriting), HARNESS_TEST(test_rewriting_unmerged),
        HARNESS_TEST(test_unknown),   HARNESS_TEST(test_moved_inside),
        HARNESS_TEST(test_widened),   HARNESS_TEST(test_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
