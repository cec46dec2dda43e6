/* Barrier calls that become one, and those that must not. L29, L30, L31, L44. */
#include "driver_records.h"
#include "record_app.h"

#define ONE ((struct record_range){COLOR_BIT, 0, 1, 0, 1})
#define MANY 16

/* --- Sixteen calls, and between them what doesn't act --- */

typedef void (*between_function)(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                                 uint32_t n);

static between_function between; /* what stands between two calls of the next recording */
static bool is_sync2;

static void nothing(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb, uint32_t n)
{
    (void)app, (void)vk, (void)cb, (void)n;
}

#define STATES 7

static void state_command(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                          uint32_t n)
{
    VkViewport viewport = {0, 0, 16, 16, 0, 1};
    VkRect2D scissor = {{0, 0}, {16, 16}};
    VkDeviceSize offset = 0;
    uint32_t constants[4] = {n, 2, 3, 4};
    switch (n % STATES) {
    case 0:
        vk->CmdSetViewport(cb, 0, 1, &viewport);
        break;
    case 1:
        vk->CmdSetScissor(cb, 0, 1, &scissor);
        break;
    case 2:
        vk->CmdSetLineWidth(cb, 1);
        break;
    case 3:
        vk->CmdSetCullMode(cb, VK_CULL_MODE_BACK_BIT);
        break;
    case 4:
        vk->CmdBindVertexBuffers(cb, 0, 1, &app->buffer, &offset);
        break;
    case 5:
        vk->CmdBindIndexBuffer(cb, app->buffer, 0, VK_INDEX_TYPE_UINT16);
        break;
    default:
        vk->CmdPushConstants(cb, app->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 16, constants);
        break;
    }
}

#define ACTIONS 12

static void acting_command(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb,
                           uint32_t n)
{
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "label"};
    VkBufferCopy region = {0, 64, 16};
    switch (n % ACTIONS) {
    case 0:
        vk->CmdFillBuffer(cb, app->buffer, 0, 64, n);
        break;
    case 1:
        vk->CmdDispatch(cb, 1, 1, 1);
        break;
    case 2:
        vk->CmdSetEvent(cb, app->event, VK_PIPELINE_STAGE_TRANSFER_BIT);
        break;
    case 3:
        vk->CmdResetEvent(cb, app->event, VK_PIPELINE_STAGE_TRANSFER_BIT);
        break;
    case 4:
        vk->CmdSetDeviceMask(cb, 1);
        break;
    case 5:
        vk->CmdResetQueryPool(cb, app->queries, 0, 4);
        break;
    case 6:
        vk->CmdBeginQuery(cb, app->queries, 0, 0);
        break;
    case 7:
        vk->CmdEndQuery(cb, app->queries, 0);
        break;
    case 8:
        vk->CmdCopyBuffer(cb, app->buffer, app->buffer, 1, &region);
        break;
    case 9:
        vk->CmdBeginDebugUtilsLabelEXT(cb, &label);
        break;
    case 10:
        vk->CmdEndDebugUtilsLabelEXT(cb);
        break;
    default:
        vk->CmdInsertDebugUtilsLabelEXT(cb, &label);
        break;
    }
}

/* Each of another image, from UNDEFINED, with the same scopes, that don't chain. */
static void one_call(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb, uint32_t n)
{
    if (is_sync2) {
        VkImageMemoryBarrier2 barrier =
            record_barrier2_info(app->images[IMAGE_MANY + n], ONE, UNDEFINED, DST);
        VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                 .imageMemoryBarrierCount = 1,
                                 .pImageMemoryBarriers = &barrier};
        barrier.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
        barrier.srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT;
        barrier.dstStageMask = VK_PIPELINE_STAGE_2_CLEAR_BIT;
        barrier.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
        vk->CmdPipelineBarrier2(cb, &info);
        return;
    }
    VkImageMemoryBarrier barrier = record_barrier_info(app->images[IMAGE_MANY + n], ONE, UNDEFINED, DST);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                           NULL, 0, NULL, 1, &barrier);
}

static void sixteen(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (uint32_t i = 0; i < MANY; i++) {
        one_call(app, vk, cb, i);
        if (i < MANY - 1)
            between(app, vk, cb, i);
    }
    record_clear(vk, cb, app->images[IMAGE_MANY], ONE, DST);
}

/* All that was meant is there, in its order; of the other commands none is missing. */
static void check_content(const struct recorded *recorded)
{
    struct insertion got[MANY], meant[MANY];
    CHECK_EQUAL(record_barriers(recorded->meant, meant, MANY), MANY);
    CHECK_EQUAL(record_barriers(recorded->got, got, MANY), MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK(got[i].image == meant[i].image && got[i].from == meant[i].from && got[i].to == meant[i].to);
        CHECK(memcmp(&got[i].range, &meant[i].range, sizeof(got[i].range)) == 0);
        CHECK_EQUAL(got[i].source, meant[i].source);
        CHECK_EQUAL(got[i].destination, meant[i].destination);
        CHECK_EQUAL(got[i].source_access, meant[i].source_access);
        CHECK_EQUAL(got[i].destination_access, meant[i].destination_access);
    }
    CHECK_EQUAL(fault_command_count(recorded->got) - record_barrier_calls(recorded->got),
                fault_command_count(recorded->meant) - record_barrier_calls(recorded->meant));
}

/* What they became; where there is one call it is right before the command that acts. */
static void check_sixteen(const struct record_app *app, between_function function, uint32_t calls)
{
    between = function;
    struct recorded recorded = record_both(app, sixteen);
    uint32_t count = fault_command_count(recorded.got);
    check_content(&recorded);
    CHECK_EQUAL(record_barrier_calls(recorded.got), calls);
    CHECK(strcmp(fault_command_name(recorded.got, count - 1), "vkCmdClearColorImage") == 0);
    if (calls == MANY)
        record_check_same(&recorded, "unmerged");
    else
        CHECK(strncmp(fault_command_name(recorded.got, count - 2), "vkCmdPipelineBarrier", 20) == 0);
    record_run(app, recorded.got, "sixteen");
}

static bool merge;

static void run_sixteen(void *context)
{
    struct record_app app;
    record_app_open(&app, context);
    for (int i = 0; i < (app.options.no_sync2 ? 1 : 2); i++) {
        is_sync2 = i == 1;
        check_sixteen(&app, nothing, merge ? 1 : MANY);
        check_sixteen(&app, state_command, merge ? 1 : MANY);
        check_sixteen(&app, acting_command, MANY);
    }
    record_app_close(&app);
}

/* L29 */
static void test_sixteen(void **state)
{
    (void)state;
    merge = true;
    record_run_on_all(run_sixteen);
    CHECK_EQUAL(report_count("repair", ""), 0);
}

static void test_sixteen_unmerged(void **state)
{
    (void)state;
    merge = false;
    layer_set("MERGE", "false");
    record_run_on_all(run_sixteen);
}

/* --- Calls that meet --- */

struct call {
    VkPipelineStageFlags source, destination;
    enum record_image image;
    struct record_range range;
    VkImageLayout from, to;
    VkDependencyFlags flags;
};

static const struct call *calls; /* of the next recording; ended by one without stages */

static void meeting(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    for (const struct call *call = calls; call->source; call++) {
        VkImageMemoryBarrier barrier =
            record_barrier_info(app->images[call->image], call->range, call->from, call->to);
        barrier.srcAccessMask = barrier.dstAccessMask = 0;
        vk->CmdPipelineBarrier(cb, call->source, call->destination, call->flags, 0, NULL, 0, NULL, 1,
                               &barrier);
    }
    record_act(app, vk, cb);
}

#define MIPS(first, count) ((struct record_range){COLOR_BIT, (first), (count), 0, 6})
#define TRANSFER VK_PIPELINE_STAGE_TRANSFER_BIT
#define COMPUTE VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
#define FRAGMENT VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT

static const struct {
    const char *name;
    struct call calls[4];
    uint32_t out, barriers;
    uint32_t out1; /* calls where only vkCmdPipelineBarrier may be used */
} meetings[] = {
    {"fold (L30)",
     {{TRANSFER, TRANSFER, IMAGE_COLOR, ONE, UNDEFINED, DST, 0},
      {TRANSFER, TRANSFER, IMAGE_COLOR, ONE, DST, SRC, 0}},
     1,
     1,
     1},
    {"overlap (L31)",
     {{TRANSFER, COMPUTE, IMAGE_ARRAY, MIPS(0, 3), UNDEFINED, DST, 0},
      {TRANSFER, COMPUTE, IMAGE_ARRAY, MIPS(1, 1), DST, SRC, 0}},
     2,
     2,
     2},
    {"chain (L44)",
     {{TRANSFER, COMPUTE, IMAGE_COLOR, ONE, UNDEFINED, GENERAL, 0},
      {COMPUTE, FRAGMENT, IMAGE_OTHER, ONE, UNDEFINED, GENERAL, 0}},
     2,
     2,
     2},
    {"stages that don't chain",
     {{TRANSFER, COMPUTE, IMAGE_COLOR, ONE, UNDEFINED, GENERAL, 0},
      {TRANSFER, FRAGMENT, IMAGE_OTHER, ONE, UNDEFINED, GENERAL, 0}},
     1,
     2,
     2},
    {"flags",
     {{TRANSFER, COMPUTE, IMAGE_COLOR, ONE, UNDEFINED, GENERAL, 0},
      {TRANSFER, COMPUTE, IMAGE_OTHER, ONE, UNDEFINED, GENERAL, VK_DEPENDENCY_BY_REGION_BIT}},
     2,
     2,
     2},
    {"mips",
     {{TRANSFER, COMPUTE, IMAGE_ARRAY, MIPS(0, 1), UNDEFINED, GENERAL, 0},
      {TRANSFER, COMPUTE, IMAGE_ARRAY, MIPS(1, 3), UNDEFINED, SRC, 0},
      {TRANSFER, COMPUTE, IMAGE_ARRAY, MIPS(0, 1), UNDEFINED, GENERAL, 0}},
     1,
     2,
     1},
    {"external: it may be another's alias",
     {{TRANSFER, COMPUTE, IMAGE_EXTERNAL, ONE, UNDEFINED, GENERAL, 0},
      {TRANSFER, COMPUTE, IMAGE_COLOR, ONE, UNDEFINED, SRC, 0}},
     2,
     2,
     2},
};

static void run_meetings(void *context)
{
    const struct record_options *options = context;
    struct record_app app;
    bool only1 = options->old && options->no_sync2 && options->separate;
    record_app_open(&app, options);
    for (size_t i = 0; i < sizeof(meetings) / sizeof(meetings[0]); i++) {
        struct insertion got[4];
        calls = meetings[i].calls;
        struct recorded recorded = record_both(&app, meeting);
        uint32_t out = only1 ? meetings[i].out1 : meetings[i].out;
        CHECK_SAY(record_barrier_calls(recorded.got) == out, "%s: %u calls", meetings[i].name,
                  record_barrier_calls(recorded.got));
        CHECK_SAY(record_barriers(recorded.got, got, 4) == meetings[i].barriers, "%s", meetings[i].name);
    }
    record_app_close(&app);
}

static void test_meetings(void **state)
{
    (void)state;
    record_run_on_all(run_meetings);
}

/* --- Inside a render pass --- */

static VkRenderPass pass;
static VkFramebuffer frame;

static void inside(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImageMemoryBarrier barrier = record_barrier_info(app->images[IMAGE_COLOR], ONE, TARGET, TARGET);
    barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT;
    one_call(app, vk, cb, 0);
    record_begin_pass(vk, cb, pass, frame, VK_SUBPASS_CONTENTS_INLINE);
    for (int i = 0; i < 2; i++)
        vk->CmdPipelineBarrier(cb, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                               VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_DEPENDENCY_BY_REGION_BIT, 0, NULL, 0,
                               NULL, 1, &barrier);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    vk->CmdEndRenderPass(cb);
    one_call(app, vk, cb, 1);
    one_call(app, vk, cb, 2);
}

/* At once, each alone; what was pending before the pass goes down before it, and what is pending at the end
 * before that. */
static void run_inside(void *context)
{
    struct record_app app;
    struct insertion got[5];
    record_app_open(&app, context);
    pass = record_pass(&app, RECORD_FORMAT, VK_SAMPLE_COUNT_1_BIT, UNDEFINED, TARGET, SHADER, 0);
    frame = record_framebuffer(&app, pass, app.views[VIEW_COLOR], 1);
    struct recorded recorded = record_both(&app, inside);
    CHECK_EQUAL(fault_command_count(recorded.meant), 8);
    CHECK_EQUAL(fault_command_count(recorded.got), 7);
    for (uint32_t i = 0; i < 6; i++)
        CHECK(fault_command_equal(recorded.got, i, recorded.meant, i));
    CHECK_EQUAL(record_barriers(recorded.got, got, 5), 5);
    CHECK_EQUAL(got[4].before, 6);
    CHECK(got[3].image == app.images[IMAGE_MANY + 1] && got[4].image == app.images[IMAGE_MANY + 2]);
    vkDestroyFramebuffer(app.device, frame, NULL);
    vkDestroyRenderPass(app.device, pass, NULL);
    record_app_close(&app);
}

static void test_inside(void **state)
{
    (void)state;
    is_sync2 = false;
    record_run_on_all(run_inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_sixteen),
        HARNESS_TEST(test_sixteen_unmerged),
        HARNESS_TEST(test_meetings),
        HARNESS_TEST(test_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
