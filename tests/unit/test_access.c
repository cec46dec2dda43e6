#include "check.h"

#include "sync/access.h"

#define STAGE(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define ACCESS(name) VK_ACCESS_2_##name##_BIT

static const struct use copy_write = {.scope = {STAGE(COPY), ACCESS(TRANSFER_WRITE)}};
static const struct use fragment_read = {.scope = {STAGE(FRAGMENT_SHADER), ACCESS(SHADER_READ)}};
static const struct use compute_read = {.scope = {STAGE(COMPUTE_SHADER), ACCESS(SHADER_READ)}};
static const struct use compute_write = {.scope = {STAGE(COMPUTE_SHADER), ACCESS(SHADER_STORAGE_WRITE)}};

static void check_scope(const struct scope *scope, VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    assert_true(scope->stages == stages);
    assert_true(scope->access == access);
}

static void check_source(const struct access *access, VkPipelineStageFlags2 stages, VkAccessFlags2 writes)
{
    struct scope source = access_source(access);
    check_scope(&source, stages, writes);
}

static void add_barrier(struct access *access, VkPipelineStageFlags2 source, VkAccessFlags2 writes,
                        VkPipelineStageFlags2 destination)
{
    struct scope from = {source, writes}, to = {destination, 0};
    access_add_barrier(access, VK_IMAGE_LAYOUT_GENERAL, &from, &to);
}

static void test_never_used(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_PREINITIALIZED);
    (void)state;
    assert_int_equal(access.layout, VK_IMAGE_LAYOUT_PREINITIALIZED);
    assert_int_equal(access.family, ACCESS_NO_FAMILY);
    assert_int_equal(access.queue, ACCESS_NO_QUEUE);
    assert_int_equal(access.other_queue, ACCESS_NO_QUEUE);
    check_source(&access, 0, 0);
}

static void test_uses_add_up(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_GENERAL);
    (void)state;
    access_add_use(&access, &fragment_read);
    check_source(&access, STAGE(FRAGMENT_SHADER), 0);
    access.visible.stages = STAGE(FRAGMENT_SHADER);
    access_add_use(&access, &copy_write);
    check_scope(&access.visible, 0, 0);
    access_add_use(&access, &compute_read);
    check_source(&access, STAGE(FRAGMENT_SHADER) | STAGE(COPY) | STAGE(COMPUTE_SHADER),
                 ACCESS(TRANSFER_WRITE));
}

/* What a barrier's source reaches isn't waited for again; what it doesn't is. */
static void test_barrier_orders_its_source(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_GENERAL);
    (void)state;
    access_add_use(&access, &copy_write);
    access_add_use(&access, &fragment_read);
    struct access narrow = access, unavailable = access;

    add_barrier(&access, STAGE(ALL_COMMANDS), ACCESS(MEMORY_WRITE), STAGE(COMPUTE_SHADER));
    check_source(&access, STAGE(COMPUTE_SHADER), 0);
    check_scope(&access.visible, STAGE(COMPUTE_SHADER), 0);

    add_barrier(&narrow, STAGE(FRAGMENT_SHADER), 0, STAGE(COMPUTE_SHADER));
    check_source(&narrow, STAGE(COPY) | STAGE(COMPUTE_SHADER), ACCESS(TRANSFER_WRITE));

    add_barrier(&unavailable, STAGE(COPY) | STAGE(FRAGMENT_SHADER), 0, STAGE(COMPUTE_SHADER));
    check_source(&unavailable, STAGE(COPY) | STAGE(COMPUTE_SHADER), ACCESS(TRANSFER_WRITE));
}

/* Spec, "Pipeline Stages": a source includes logically earlier stages. */
static void test_earlier_stages_are_reached(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_GENERAL);
    (void)state;
    access_add_use(&access, &fragment_read);
    add_barrier(&access, STAGE(COLOR_ATTACHMENT_OUTPUT), 0, STAGE(COPY));
    check_source(&access, STAGE(COPY), 0);
}

static void test_shader_writes_include_storage(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_GENERAL);
    (void)state;
    access_add_use(&access, &compute_write);
    add_barrier(&access, STAGE(COMPUTE_SHADER), ACCESS(SHADER_WRITE), STAGE(COPY));
    check_source(&access, STAGE(COPY), 0);
}

/* To wait for a use behind a transition is to wait for the transition, so that a wide destination doesn't
 * make everything after it wait for everything. */
static void test_uses_stand_for_the_transition_before(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    (void)state;
    add_barrier(&access, 0, 0, STAGE(ALL_COMMANDS));
    check_source(&access, STAGE(ALL_COMMANDS), 0);
    struct access written = access, passed = access;
    access_add_use(&access, &fragment_read);
    check_source(&access, STAGE(FRAGMENT_SHADER), 0);
    access_add_use(&written, &copy_write);
    check_source(&written, STAGE(COPY), ACCESS(TRANSFER_WRITE));
    add_barrier(&passed, STAGE(COPY), 0, STAGE(FRAGMENT_SHADER));
    check_source(&passed, STAGE(FRAGMENT_SHADER), 0);
}

static void test_transitions_that_dont_chain(void **state)
{
    struct access access = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    (void)state;
    add_barrier(&access, 0, 0, STAGE(COPY));
    add_barrier(&access, STAGE(COMPUTE_SHADER), 0, STAGE(FRAGMENT_SHADER));
    access_add_use(&access, &fragment_read);
    check_source(&access, STAGE(COPY) | STAGE(FRAGMENT_SHADER), 0);
}

/* A transition that nothing was said to come after is reached only by waiting for all. */
static void test_destinations_that_name_nothing(void **state)
{
    static const VkPipelineStageFlags2 nothing[] = {0, STAGE(TOP_OF_PIPE), STAGE(BOTTOM_OF_PIPE)};
    (void)state;
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        struct access access = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
        add_barrier(&access, 0, 0, nothing[i]);
        check_source(&access, STAGE(ALL_COMMANDS), 0);
        assert_true(access_chain_stages(nothing[i]) == STAGE(ALL_COMMANDS));
        assert_true(access_chain_stages(nothing[i] | STAGE(COPY)) == STAGE(COPY));
    }
}

static void test_follow(void **state)
{
    struct access before = access_initial(VK_IMAGE_LAYOUT_GENERAL);
    struct access after = access_initial(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    struct scope nothing = {0, 0}, copies = {STAGE(COPY), ACCESS(TRANSFER_WRITE)};
    (void)state;
    before.queue = 3;
    before.serial = 17;
    access_add_use(&before, &copy_write);
    access_add_use(&before, &fragment_read);
    after.flags = ACCESS_RELEASED;
    after.family = 2;
    access_add_use(&after, &compute_read);

    struct access access = before;
    access_follow(&access, &after, &nothing);
    assert_int_equal(access.layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    assert_int_equal(access.flags, ACCESS_RELEASED);
    assert_int_equal(access.family, 2);
    assert_int_equal(access.queue, 3);
    assert_int_equal(access.serial, 17);
    check_source(&access, STAGE(COPY) | STAGE(FRAGMENT_SHADER) | STAGE(COMPUTE_SHADER),
                 ACCESS(TRANSFER_WRITE));

    access = before;
    access_follow(&access, &after, &copies);
    check_source(&access, STAGE(FRAGMENT_SHADER) | STAGE(COMPUTE_SHADER), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_used),
        cmocka_unit_test(test_uses_add_up),
        cmocka_unit_test(test_barrier_orders_its_source),
        cmocka_unit_test(test_earlier_stages_are_reached),
        cmocka_unit_test(test_shader_writes_include_storage),
        cmocka_unit_test(test_uses_stand_for_the_transition_before),
        cmocka_unit_test(test_transitions_that_dont_chain),
        cmocka_unit_test(test_destinations_that_name_nothing),
        cmocka_unit_test(test_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
