/* scope.c against the tables of the specification, written down as the specification has them: pipelines as
 * lists of stages, accesses by the valid-usage rules of VkMemoryBarrier2. */
#include "check.h"
#include "random.h"
#include "sync/scope.h"

#define S(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define A(name) VK_ACCESS_2_##name##_BIT
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ANY_BIT(i) ((uint64_t)1 << (i))
#define UNKNOWN_STAGE ANY_BIT(62)

#define ENCODE_STAGE ANY_BIT(27) /* VK_KHR_video_encode_queue, behind a macro in old headers */
#define ENCODE_READ ANY_BIT(37)
#define ENCODE_WRITE ANY_BIT(38)

/* Every stage that stands for itself, with the queues that have it (0: none, the host's). */
#define G VK_QUEUE_GRAPHICS_BIT
#define C VK_QUEUE_COMPUTE_BIT
#define T VK_QUEUE_TRANSFER_BIT
static const struct {
    VkPipelineStageFlags2 stage;
    VkQueueFlags queues;
} singles[] = {
    {S(DRAW_INDIRECT), G | C},
    {S(INDEX_INPUT), G},
    {S(VERTEX_ATTRIBUTE_INPUT), G},
    {S(VERTEX_SHADER), G},
    {S(TESSELLATION_CONTROL_SHADER), G},
    {S(TESSELLATION_EVALUATION_SHADER), G},
    {S(GEOMETRY_SHADER), G},
    {S(FRAGMENT_SHADER), G},
    {S(EARLY_FRAGMENT_TESTS), G},
    {S(LATE_FRAGMENT_TESTS), G},
    {S(COLOR_ATTACHMENT_OUTPUT), G},
    {S(COMPUTE_SHADER), C},
    {S(COPY), G | C | T},
    {S(RESOLVE), G | C | T},
    {S(BLIT), G | C | T},
    {S(CLEAR), G | C | T},
    {VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT, G},
    {VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT, G | C},
    {VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV, G | C},
    {VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR, G},
    {VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT, G},
    {VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR, C},
    {VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR, C},
    {VK_PIPELINE_STAGE_2_MICROMAP_BUILD_BIT_EXT, C},
    {VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR, C},
    {VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT, G},
    {VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT, G},
    {VK_PIPELINE_STAGE_2_CLUSTER_CULLING_SHADER_BIT_HUAWEI, G},
    {VK_PIPELINE_STAGE_2_SUBPASS_SHADING_BIT_HUAWEI, G},
    {VK_PIPELINE_STAGE_2_INVOCATION_MASK_BIT_HUAWEI, G | C},
    {VK_PIPELINE_STAGE_2_VIDEO_DECODE_BIT_KHR, VK_QUEUE_VIDEO_DECODE_BIT_KHR},
    {ENCODE_STAGE, 0x40},
    {VK_PIPELINE_STAGE_2_OPTICAL_FLOW_BIT_NV, VK_QUEUE_OPTICAL_FLOW_BIT_NV},
};

#define STEPS_MAX 20
#define TAIL                                                                                                 \
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR, S(EARLY_FRAGMENT_TESTS),                   \
        S(FRAGMENT_SHADER), S(LATE_FRAGMENT_TESTS), S(COLOR_ATTACHMENT_OUTPUT)
static const VkPipelineStageFlags2 pipelines[][STEPS_MAX] = {
    {S(DRAW_INDIRECT), S(INDEX_INPUT), S(VERTEX_ATTRIBUTE_INPUT), S(VERTEX_SHADER),
     S(TESSELLATION_CONTROL_SHADER), S(TESSELLATION_EVALUATION_SHADER), S(GEOMETRY_SHADER),
     VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT, TAIL},
    {S(DRAW_INDIRECT), VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT, VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT,
     TAIL},
    {S(DRAW_INDIRECT), VK_PIPELINE_STAGE_2_CLUSTER_CULLING_SHADER_BIT_HUAWEI, TAIL},
    {VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT, S(EARLY_FRAGMENT_TESTS), S(FRAGMENT_SHADER),
     S(LATE_FRAGMENT_TESTS), S(COLOR_ATTACHMENT_OUTPUT)},
    {S(DRAW_INDIRECT), S(COMPUTE_SHADER)},
    {S(DRAW_INDIRECT), VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR},
};

static bool is_earlier(VkPipelineStageFlags2 a, VkPipelineStageFlags2 b)
{
    for (size_t i = 0; i < COUNT(pipelines); i++) {
        bool seen = false;
        for (size_t j = 0; j < STEPS_MAX && pipelines[i][j]; j++) {
            if (seen && pipelines[i][j] == b)
                return true;
            seen = seen || pipelines[i][j] == a;
        }
    }
    return false;
}

static VkPipelineStageFlags2 all_singles(VkQueueFlags queue)
{
    VkPipelineStageFlags2 stages = 0;
    for (size_t i = 0; i < COUNT(singles); i++)
        if (!queue || (singles[i].queues & queue))
            stages |= singles[i].stage;
    return stages;
}

static VkPipelineStageFlags2 some_singles(struct random *random)
{
    VkPipelineStageFlags2 stages = 0;
    for (size_t n = random_below(random, 4); n > 0; n--)
        stages |= singles[random_below(random, COUNT(singles))].stage;
    return stages;
}

static void test_closures(void **state)
{
    (void)state;
    struct random random = random_from(random_seed());
    for (int round = 0; round < 20000; round++) {
        VkPipelineStageFlags2 stages = some_singles(&random);
        VkPipelineStageFlags2 before = stages, after = stages;
        for (size_t i = 0; i < COUNT(singles); i++)
            for (size_t j = 0; j < COUNT(singles); j++) {
                if ((stages & singles[j].stage) && is_earlier(singles[i].stage, singles[j].stage))
                    before |= singles[i].stage;
                if ((stages & singles[i].stage) && is_earlier(singles[i].stage, singles[j].stage))
                    after |= singles[j].stage;
            }
        before |= before ? S(TOP_OF_PIPE) : 0;
        after |= after ? S(BOTTOM_OF_PIPE) : 0;
        check(scope_close_source(stages) == before, "%#llx: %#llx", (unsigned long long)stages,
              (unsigned long long)scope_close_source(stages));
        check(scope_close_destination(stages) == after, "%#llx: %#llx", (unsigned long long)stages,
              (unsigned long long)scope_close_destination(stages));
        assert_true(scope_close_source(before) == before);
        assert_true(scope_close_destination(after) == after);
    }
}

static void test_ends(void **state)
{
    (void)state;
    /* "TOP_OF_PIPE is equivalent to ALL_COMMANDS when specified in the second synchronization scope, but
     * specifies no stages in the first scope"; BOTTOM_OF_PIPE the other way round. The host is no part of
     * ALL_COMMANDS. */
    assert_true((scope_close_destination(S(TOP_OF_PIPE)) & all_singles(0)) == all_singles(0));
    assert_true((scope_close_source(S(BOTTOM_OF_PIPE)) & all_singles(0)) == all_singles(0));
    assert_true(scope_close_source(S(TOP_OF_PIPE)) == S(TOP_OF_PIPE));
    assert_true(scope_close_destination(S(BOTTOM_OF_PIPE)) == S(BOTTOM_OF_PIPE));
    assert_false(scope_close_destination(S(TOP_OF_PIPE)) & S(HOST));
    assert_false(scope_close_source(S(BOTTOM_OF_PIPE)) & S(HOST));
    assert_true(scope_close_source(S(BOTTOM_OF_PIPE) | S(HOST)) & S(HOST));
    assert_true(scope_close_destination(S(TOP_OF_PIPE) | S(HOST)) & S(HOST));
    assert_true(scope_close_source(0) == 0 && scope_close_destination(0) == 0);
}

static void test_expand(void **state)
{
    (void)state;
    static const VkQueueFlags queues[] = {0, G, C, T, G | C, G | C | T, C | T, VK_QUEUE_VIDEO_DECODE_BIT_KHR};
    for (size_t i = 0; i < COUNT(queues); i++)
        assert_true(scope_expand_stages(S(ALL_COMMANDS), queues[i]) == all_singles(queues[i]));
    /* "logical OR of every other pipeline stage ... that is supported" by graphics pipelines; preprocessing
     * isn't one. */
    assert_true(scope_expand_stages(S(ALL_GRAPHICS), 0) ==
                (all_singles(G) & ~(S(COPY) | S(RESOLVE) | S(BLIT) | S(CLEAR) |
                                    VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV)));
    assert_true(scope_expand_stages(S(ALL_TRANSFER), 0) ==
                (S(COPY) | S(RESOLVE) | S(BLIT) | S(CLEAR) |
                 VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR));
    assert_true(scope_expand_stages(S(VERTEX_INPUT), 0) == (S(INDEX_INPUT) | S(VERTEX_ATTRIBUTE_INPUT)));
    assert_true(scope_expand_stages(S(PRE_RASTERIZATION_SHADERS), 0) ==
                (S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER) | S(TESSELLATION_EVALUATION_SHADER) |
                 S(GEOMETRY_SHADER) | VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT |
                 VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT |
                 VK_PIPELINE_STAGE_2_CLUSTER_CULLING_SHADER_BIT_HUAWEI));
    VkPipelineStageFlags2 kept = S(TOP_OF_PIPE) | S(BOTTOM_OF_PIPE) | S(HOST) | S(COPY) | UNKNOWN_STAGE;
    assert_true(scope_expand_stages(kept, 0) == kept);
    assert_true((scope_expand_stages(kept | S(ALL_COMMANDS), T) & kept) == kept);
}

static void test_knows(void **state)
{
    (void)state;
    assert_true(scope_knows(all_singles(0) | S(ALL_COMMANDS) | S(ALL_GRAPHICS) | S(ALL_TRANSFER) | S(HOST) |
                            S(PRE_RASTERIZATION_SHADERS) | S(VERTEX_INPUT) | S(TOP_OF_PIPE) |
                            S(BOTTOM_OF_PIPE)));
    assert_true(scope_knows(0));
    assert_false(scope_knows(UNKNOWN_STAGE | S(COPY)));
}

/* "If srcAccessMask includes ..., srcStageMask must include ..." of VkMemoryBarrier2, VUIDs 03900 to 03928,
 * 04747, 04858 to 04861, 04994, 07272, 07454 to 07458, 08118; ALL_COMMANDS and the masks that stand for
 * several are expanded. */
#define SHADERS                                                                                              \
    (S(VERTEX_SHADER) | S(TESSELLATION_CONTROL_SHADER) | S(TESSELLATION_EVALUATION_SHADER) |                 \
     S(GEOMETRY_SHADER) | S(FRAGMENT_SHADER) | S(COMPUTE_SHADER) | VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT | \
     VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT | VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR |              \
     VK_PIPELINE_STAGE_2_CLUSTER_CULLING_SHADER_BIT_HUAWEI | VK_PIPELINE_STAGE_2_SUBPASS_SHADING_BIT_HUAWEI)
#define BUILD VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR
#define STRUCTURE_COPY VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_COPY_BIT_KHR
#define FEEDBACK VK_PIPELINE_STAGE_2_TRANSFORM_FEEDBACK_BIT_EXT
#define MICROMAP VK_PIPELINE_STAGE_2_MICROMAP_BUILD_BIT_EXT
#define TESTS (S(EARLY_FRAGMENT_TESTS) | S(LATE_FRAGMENT_TESTS))
static const struct {
    VkAccessFlags2 access;
    VkPipelineStageFlags2 stages;
    bool writes;
} accesses[] = {
    {A(INDIRECT_COMMAND_READ), S(DRAW_INDIRECT) | BUILD, false},
    {A(INDEX_READ), S(INDEX_INPUT), false},
    {A(VERTEX_ATTRIBUTE_READ), S(VERTEX_ATTRIBUTE_INPUT), false},
    {A(INPUT_ATTACHMENT_READ), S(FRAGMENT_SHADER) | VK_PIPELINE_STAGE_2_SUBPASS_SHADING_BIT_HUAWEI, false},
    {A(UNIFORM_READ), SHADERS, false},
    {A(SHADER_SAMPLED_READ), SHADERS, false},
    {A(SHADER_STORAGE_READ), SHADERS, false},
    {A(SHADER_STORAGE_WRITE), SHADERS, true},
    {A(SHADER_READ), SHADERS | BUILD | MICROMAP, false},
    {A(SHADER_WRITE), SHADERS, true},
    {A(COLOR_ATTACHMENT_READ), S(COLOR_ATTACHMENT_OUTPUT), false},
    {A(COLOR_ATTACHMENT_WRITE), S(COLOR_ATTACHMENT_OUTPUT), true},
    {VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT, S(COLOR_ATTACHMENT_OUTPUT), false},
    {A(DEPTH_STENCIL_ATTACHMENT_READ), TESTS, false},
    {A(DEPTH_STENCIL_ATTACHMENT_WRITE), TESTS, true},
    {A(TRANSFER_READ), S(COPY) | S(BLIT) | S(RESOLVE) | BUILD | STRUCTURE_COPY, false},
    {A(TRANSFER_WRITE), S(COPY) | S(BLIT) | S(RESOLVE) | S(CLEAR) | BUILD | STRUCTURE_COPY, true},
    {A(HOST_READ), S(HOST), false},
    {A(HOST_WRITE), S(HOST), true},
    {VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT, VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT,
     false},
    {VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT, VK_PIPELINE_STAGE_2_FRAGMENT_DENSITY_PROCESS_BIT_EXT,
     false},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_WRITE_BIT_EXT, FEEDBACK, true},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT, FEEDBACK | S(DRAW_INDIRECT), false},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_WRITE_BIT_EXT, FEEDBACK, true},
    {VK_ACCESS_2_INVOCATION_MASK_READ_BIT_HUAWEI, VK_PIPELINE_STAGE_2_INVOCATION_MASK_BIT_HUAWEI, false},
    {VK_ACCESS_2_MICROMAP_WRITE_BIT_EXT, MICROMAP, true},
    {VK_ACCESS_2_MICROMAP_READ_BIT_EXT, MICROMAP | BUILD, false},
    {VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR,
     VK_PIPELINE_STAGE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR, false},
    {VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_NV, VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV, false},
    {VK_ACCESS_2_COMMAND_PREPROCESS_WRITE_BIT_NV, VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_NV, true},
    {VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR, SHADERS | BUILD | STRUCTURE_COPY, false},
    {VK_ACCESS_2_ACCELERATION_STRUCTURE_WRITE_BIT_KHR, BUILD | STRUCTURE_COPY, true},
    {VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR, VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR, false},
    {VK_ACCESS_2_VIDEO_DECODE_READ_BIT_KHR, VK_PIPELINE_STAGE_2_VIDEO_DECODE_BIT_KHR, false},
    {VK_ACCESS_2_VIDEO_DECODE_WRITE_BIT_KHR, VK_PIPELINE_STAGE_2_VIDEO_DECODE_BIT_KHR, true},
    {ENCODE_READ, ENCODE_STAGE, false},
    {ENCODE_WRITE, ENCODE_STAGE, true},
    {VK_ACCESS_2_OPTICAL_FLOW_READ_BIT_NV, VK_PIPELINE_STAGE_2_OPTICAL_FLOW_BIT_NV, false},
    {VK_ACCESS_2_OPTICAL_FLOW_WRITE_BIT_NV, VK_PIPELINE_STAGE_2_OPTICAL_FLOW_BIT_NV, true},
    {VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT, SHADERS, false},
};

static void test_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(accesses); i++)
        check(scope_writes(accesses[i].access) == (accesses[i].writes ? accesses[i].access : 0), "row %zu",
              i);
    assert_true(scope_writes(A(MEMORY_READ) | A(MEMORY_WRITE)) == A(MEMORY_WRITE));
    assert_true(scope_writes(ANY_BIT(63)) == ANY_BIT(63));
}

static void test_accesses(void **state)
{
    (void)state;
    VkPipelineStageFlags2 stages[COUNT(singles) + 1] = {S(HOST)};
    for (size_t i = 0; i < COUNT(singles); i++)
        stages[i + 1] = singles[i].stage;
    for (size_t i = 0; i < COUNT(accesses); i++)
        for (size_t j = 0; j < COUNT(stages); j++)
            check(scope_access_of_stages(accesses[i].access, stages[j]) ==
                      (accesses[i].stages & stages[j] ? accesses[i].access : 0),
                  "row %zu, stage %#llx", i, (unsigned long long)stages[j]);
    VkAccessFlags2 all = ~(VkAccessFlags2)0, memory = A(MEMORY_READ) | A(MEMORY_WRITE);
    for (size_t j = 0; j < COUNT(stages); j++)
        assert_true(scope_access_of_stages(memory, stages[j]) == memory);
    assert_true(scope_access_of_stages(all, S(ALL_COMMANDS)) == all);
    assert_true(scope_access_of_stages(all, S(TOP_OF_PIPE) | S(BOTTOM_OF_PIPE)) == 0);
    assert_true(scope_access_of_stages(all, 0) == 0);
    assert_true(scope_access_of_stages(all, UNKNOWN_STAGE) == all);
    assert_true(scope_access_of_stages(A(TRANSFER_WRITE) | A(SHADER_READ), S(ALL_TRANSFER)) ==
                A(TRANSFER_WRITE));
}

static void test_stages_of_queue(void **state)
{
    (void)state;
    static const VkQueueFlags queues[] = {G, C, T, G | C | T, C | T, VK_QUEUE_VIDEO_DECODE_BIT_KHR};
    for (size_t i = 0; i < COUNT(queues); i++)
        for (size_t j = 0; j < COUNT(singles); j++)
            check(scope_stages_of_queue(singles[j].stage, queues[i]) ==
                      (singles[j].queues & queues[i] ? singles[j].stage : S(ALL_COMMANDS)),
                  "queue %#x, stage %#llx", queues[i], (unsigned long long)singles[j].stage);
    assert_true(scope_stages_of_queue(S(COPY) | S(FRAGMENT_SHADER), T) == S(COPY));
    assert_true(scope_stages_of_queue(S(ALL_GRAPHICS) | S(COMPUTE_SHADER), C) == S(COMPUTE_SHADER));
    assert_true(scope_stages_of_queue(S(ALL_TRANSFER), VK_QUEUE_VIDEO_DECODE_BIT_KHR) == S(ALL_COMMANDS));
    assert_true(scope_stages_of_queue(S(ALL_TRANSFER), T) == S(ALL_TRANSFER));
    assert_true(scope_stages_of_queue(S(HOST) | S(TOP_OF_PIPE), T) == (S(HOST) | S(TOP_OF_PIPE)));
    assert_true(scope_stages_of_queue(0, G) == 0);
    assert_true(scope_stages_of_queue(UNKNOWN_STAGE | S(COPY), G) == (S(COPY) | S(ALL_COMMANDS)));
}

/* Nothing that a mask of synchronization2 covers is lost in sync1, where every bit is one of sync1's. */
static void test_stages1(void **state)
{
    (void)state;
    struct random random = random_from(random_seed());
    VkPipelineStageFlags2 wholes[] = {
        S(ALL_COMMANDS), S(ALL_GRAPHICS), S(ALL_TRANSFER), S(PRE_RASTERIZATION_SHADERS),
        S(VERTEX_INPUT), S(HOST),         S(TOP_OF_PIPE),  S(BOTTOM_OF_PIPE),
        UNKNOWN_STAGE};
    for (int round = 0; round < 20000; round++) {
        VkPipelineStageFlags2 stages = some_singles(&random);
        if (random_below(&random, 3) == 0)
            stages |= wholes[random_below(&random, COUNT(wholes))];
        VkPipelineStageFlags low = scope_stages1(stages, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
        check(low && low < ANY_BIT(26), "%#llx: %#x", (unsigned long long)stages, low);
        VkPipelineStageFlags2 covers = scope_expand_stages(low, 0);
        if (low & VK_PIPELINE_STAGE_TRANSFER_BIT)
            covers |= S(COPY) | S(RESOLVE) | S(BLIT) | S(CLEAR);
        /* In sync1 copies of acceleration structures are done in the stage that builds them. */
        if (low & VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR)
            covers |= STRUCTURE_COPY;
        VkPipelineStageFlags2 lost =
            scope_expand_stages(stages, 0) & ~covers &
            ~(low & VK_PIPELINE_STAGE_ALL_COMMANDS_BIT ? UNKNOWN_STAGE : (VkPipelineStageFlags2)0);
        check(!lost, "%#llx: %#x loses %#llx", (unsigned long long)stages, low, (unsigned long long)lost);
        if (stages && stages < ANY_BIT(26))
            assert_int_equal(low, stages);
    }
    assert_int_equal(scope_stages1(0, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
    assert_int_equal(scope_stages1(0, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT),
                     VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    assert_int_equal(scope_stages1(S(COPY) | S(CLEAR), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
                     VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(scope_stages1(S(INDEX_INPUT), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
                     VK_PIPELINE_STAGE_VERTEX_INPUT_BIT);
    assert_int_equal(scope_stages1(STRUCTURE_COPY, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
                     VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR);
}

static void test_access1(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(accesses); i++) {
        VkAccessFlags low = scope_access1(accesses[i].access);
        check(low && low < ANY_BIT(28), "row %zu: %#x", i, low);
        check((scope_writes(low) != 0) == accesses[i].writes, "row %zu: %#x", i, low);
        if (accesses[i].access < ANY_BIT(28))
            assert_int_equal(low, accesses[i].access);
    }
    assert_int_equal(scope_access1(0), 0);
    assert_int_equal(scope_access1(A(SHADER_SAMPLED_READ)), VK_ACCESS_SHADER_READ_BIT);
    assert_int_equal(scope_access1(A(SHADER_STORAGE_WRITE)), VK_ACCESS_SHADER_WRITE_BIT);
    assert_int_equal(scope_access1(ANY_BIT(63)), VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closures),        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_expand),          cmocka_unit_test(test_knows),
        cmocka_unit_test(test_writes),          cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_stages1),         cmocka_unit_test(test_access1),
        cmocka_unit_test(test_stages_of_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
