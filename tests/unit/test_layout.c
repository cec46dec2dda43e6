/* layout.c against classes written down by aspect, and what the spec lets a use in a layout be. */
#include "check.h"
#include "sync/layout.h"
#include "sync/scope.h"

#define L(name) VK_IMAGE_LAYOUT_##name##_OPTIMAL
#define S(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define A(name) VK_ACCESS_2_##name##_BIT

static const VkImageLayout known[] = {
    VK_IMAGE_LAYOUT_UNDEFINED,
    VK_IMAGE_LAYOUT_PREINITIALIZED,
    VK_IMAGE_LAYOUT_GENERAL,
    L(COLOR_ATTACHMENT),
    L(DEPTH_STENCIL_ATTACHMENT),
    L(DEPTH_STENCIL_READ_ONLY),
    L(SHADER_READ_ONLY),
    L(TRANSFER_SRC),
    L(TRANSFER_DST),
    L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT),
    L(DEPTH_ATTACHMENT_STENCIL_READ_ONLY),
    L(DEPTH_ATTACHMENT),
    L(DEPTH_READ_ONLY),
    L(STENCIL_ATTACHMENT),
    L(STENCIL_READ_ONLY),
    L(READ_ONLY),
    L(ATTACHMENT),
    VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
    VK_IMAGE_LAYOUT_FRAGMENT_DENSITY_MAP_OPTIMAL_EXT,
    VK_IMAGE_LAYOUT_FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR,
    VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
};
#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

/* Layouts that are one to an aspect; UNDEFINED ends a class. */
static const struct {
    VkImageAspectFlagBits aspect;
    VkImageLayout layouts[5];
} classes[] = {
    {VK_IMAGE_ASPECT_COLOR_BIT, {L(COLOR_ATTACHMENT), L(ATTACHMENT)}},
    {VK_IMAGE_ASPECT_COLOR_BIT, {L(SHADER_READ_ONLY), L(READ_ONLY)}},
    {VK_IMAGE_ASPECT_DEPTH_BIT,
     {L(DEPTH_STENCIL_ATTACHMENT), L(DEPTH_ATTACHMENT_STENCIL_READ_ONLY), L(DEPTH_ATTACHMENT),
      L(ATTACHMENT)}},
    {VK_IMAGE_ASPECT_DEPTH_BIT,
     {L(DEPTH_STENCIL_READ_ONLY), L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT), L(DEPTH_READ_ONLY), L(READ_ONLY)}},
    {VK_IMAGE_ASPECT_STENCIL_BIT,
     {L(DEPTH_STENCIL_ATTACHMENT), L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT), L(STENCIL_ATTACHMENT),
      L(ATTACHMENT)}},
    {VK_IMAGE_ASPECT_STENCIL_BIT,
     {L(DEPTH_STENCIL_READ_ONLY), L(DEPTH_ATTACHMENT_STENCIL_READ_ONLY), L(STENCIL_READ_ONLY), L(READ_ONLY)}},
};
static const VkImageAspectFlagBits aspects[] = {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT,
                                                VK_IMAGE_ASPECT_STENCIL_BIT};

/* The index of the layout's class; -1: it is alone. */
static int class_of(VkImageLayout layout, VkImageAspectFlagBits aspect)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        for (size_t j = 0; j < 5 && classes[i].layouts[j]; j++)
            if (classes[i].aspect == aspect && classes[i].layouts[j] == layout)
                return (int)i;
    return -1;
}

static bool same(VkImageLayout a, VkImageLayout b, VkImageAspectFlagBits aspect)
{
    return a == b || (class_of(a, aspect) >= 0 && class_of(a, aspect) == class_of(b, aspect));
}

static void matching(void **state)
{
    (void)state;
    for (size_t a = 0; a < KNOWN_COUNT; a++)
        for (size_t b = 0; b < KNOWN_COUNT; b++)
            for (size_t i = 0; i < 3; i++)
                check(layout_matches(known[a], known[b], aspects[i]) == same(known[a], known[b], aspects[i]),
                      "layouts %d and %d, aspect %d", known[a], known[b], aspects[i]);
}

static void what_is_known(void **state)
{
    static const VkImageLayout unknown[] = {
        VK_IMAGE_LAYOUT_SHARED_PRESENT_KHR, /* such images are left alone */
        VK_IMAGE_LAYOUT_VIDEO_DECODE_DPB_KHR,
        VK_IMAGE_LAYOUT_VIDEO_DECODE_SRC_KHR,
        (VkImageLayout)1000999000, /* of no registry yet */
        VK_IMAGE_LAYOUT_MAX_ENUM,
    };
    (void)state;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        check(layout_is_known(known[i]), "layout %d", known[i]);
        assert_int_equal(layout_is_initial(known[i]), i < 2);
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        check(!layout_is_known(unknown[i]) && !layout_is_initial(unknown[i]), "layout %d", unknown[i]);
}

/* May be named for a whole depth/stencil image without separateDepthStencilLayouts. */
static bool is_for_both(VkImageLayout layout)
{
    return layout != L(DEPTH_ATTACHMENT) && layout != L(DEPTH_READ_ONLY) && layout != L(STENCIL_ATTACHMENT) &&
           layout != L(STENCIL_READ_ONLY);
}

static bool stands_for(VkImageLayout layout, VkImageLayout depth, VkImageLayout stencil)
{
    return is_for_both(layout) && same(layout, depth, VK_IMAGE_ASPECT_DEPTH_BIT) &&
           same(layout, stencil, VK_IMAGE_ASPECT_STENCIL_BIT);
}

static bool is_general(VkImageLayout layout)
{
    return layout == L(ATTACHMENT) || layout == L(READ_ONLY);
}

/* What it names is right for both aspects, something is named wherever it can be, and nothing that needs
 * synchronization2 unless the application itself used that. */
static void combining(void **state)
{
    unsigned combined = 0;
    (void)state;
    for (size_t d = 0; d < KNOWN_COUNT; d++)
        for (size_t s = 0; s < KNOWN_COUNT; s++) {
            VkImageLayout layout = layout_combine(known[d], known[s]);
            if (layout != VK_IMAGE_LAYOUT_MAX_ENUM) {
                check(stands_for(layout, known[d], known[s]), "%d + %d: %d", known[d], known[s], layout);
                check(!is_general(layout) || is_general(known[d]), "%d + %d", known[d], known[s]);
                combined++;
                continue;
            }
            for (size_t i = 0; i < KNOWN_COUNT; i++)
                check(!stands_for(known[i], known[d], known[s]), "%d + %d could be %d", known[d], known[s],
                      known[i]);
        }
    assert_true(combined > KNOWN_COUNT - 4);
    assert_int_equal(layout_combine(L(DEPTH_ATTACHMENT), L(STENCIL_ATTACHMENT)), L(DEPTH_STENCIL_ATTACHMENT));
    assert_int_equal(layout_combine(L(DEPTH_READ_ONLY), L(STENCIL_ATTACHMENT)),
                     L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT));
    assert_int_equal(layout_combine(L(DEPTH_ATTACHMENT), VK_IMAGE_LAYOUT_UNDEFINED),
                     VK_IMAGE_LAYOUT_MAX_ENUM);
}

/* Uses that the spec lets happen in a layout: stage and access. */
static const struct {
    VkImageLayout layout;
    VkPipelineStageFlags2 stage;
    VkAccessFlags2 access;
} uses[] = {
    {L(TRANSFER_SRC), S(COPY), A(TRANSFER_READ)},
    {L(TRANSFER_SRC), S(BLIT), A(TRANSFER_READ)},
    {L(TRANSFER_SRC), S(RESOLVE), A(TRANSFER_READ)},
    {L(TRANSFER_DST), S(COPY), A(TRANSFER_WRITE)},
    {L(TRANSFER_DST), S(BLIT), A(TRANSFER_WRITE)},
    {L(TRANSFER_DST), S(RESOLVE), A(TRANSFER_WRITE)},
    {L(TRANSFER_DST), S(CLEAR), A(TRANSFER_WRITE)},
    {L(COLOR_ATTACHMENT), S(COLOR_ATTACHMENT_OUTPUT), A(COLOR_ATTACHMENT_READ)},
    {L(COLOR_ATTACHMENT), S(COLOR_ATTACHMENT_OUTPUT), A(COLOR_ATTACHMENT_WRITE)},
    {L(DEPTH_STENCIL_ATTACHMENT), S(EARLY_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_READ)},
    {L(DEPTH_STENCIL_ATTACHMENT), S(LATE_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_WRITE)},
    {L(DEPTH_STENCIL_ATTACHMENT), S(COLOR_ATTACHMENT_OUTPUT), A(COLOR_ATTACHMENT_WRITE)}, /* resolved to */
    {L(DEPTH_ATTACHMENT), S(EARLY_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_WRITE)},
    {L(STENCIL_ATTACHMENT), S(LATE_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_WRITE)},
    {L(SHADER_READ_ONLY), S(VERTEX_SHADER), A(SHADER_READ)},
    {L(SHADER_READ_ONLY), S(FRAGMENT_SHADER), A(INPUT_ATTACHMENT_READ)},
    {L(SHADER_READ_ONLY), S(COMPUTE_SHADER), A(SHADER_READ)},
    {L(SHADER_READ_ONLY), VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR, A(SHADER_READ)},
    {L(SHADER_READ_ONLY), VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT, A(SHADER_READ)},
    {L(DEPTH_STENCIL_READ_ONLY), S(FRAGMENT_SHADER), A(SHADER_READ)},
    {L(DEPTH_STENCIL_READ_ONLY), S(FRAGMENT_SHADER), A(INPUT_ATTACHMENT_READ)},
    {L(DEPTH_STENCIL_READ_ONLY), S(EARLY_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_READ)},
    {L(DEPTH_STENCIL_READ_ONLY), S(LATE_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_WRITE)}, /* stored */
    {L(DEPTH_STENCIL_READ_ONLY), S(COLOR_ATTACHMENT_OUTPUT), A(COLOR_ATTACHMENT_READ)}, /* resolved from */
    {L(DEPTH_READ_ONLY), S(COMPUTE_SHADER), A(SHADER_READ)},
    {L(STENCIL_READ_ONLY), S(EARLY_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_READ)},
    {L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT), S(FRAGMENT_SHADER), A(SHADER_READ)},
    {L(DEPTH_READ_ONLY_STENCIL_ATTACHMENT), S(LATE_FRAGMENT_TESTS), A(DEPTH_STENCIL_ATTACHMENT_WRITE)},
    {L(ATTACHMENT), S(COLOR_ATTACHMENT_OUTPUT), A(COLOR_ATTACHMENT_WRITE)},
    {L(READ_ONLY), S(COMPUTE_SHADER), A(SHADER_READ)},
    {VK_IMAGE_LAYOUT_GENERAL, S(COMPUTE_SHADER), A(SHADER_WRITE)},
    {VK_IMAGE_LAYOUT_GENERAL, S(COPY), A(TRANSFER_WRITE)},
    {VK_IMAGE_LAYOUT_PREINITIALIZED, S(COPY), A(TRANSFER_READ)},
};

static void scopes_cover_uses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        VkAccessFlags2 access, wanted = uses[i].access;
        VkPipelineStageFlags2 stages;
        layout_scope(uses[i].layout, &stages, &access);
        wanted |= scope_writes(wanted) ? A(MEMORY_WRITE) : A(MEMORY_READ);
        check(scope_expand_stages(stages, 0) & uses[i].stage, "use %zu", i);
        check(access & wanted, "use %zu", i);
    }
}

/* What a barrier names must be possible (VUID-VkImageMemoryBarrier2-dstAccessMask-03900 and others), and what
 * can only be read isn't written. */
static void scopes_are_valid(void **state)
{
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    (void)state;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        layout_scope(known[i], &stages, &access);
        check(scope_access_of_stages(access, stages) == access, "layout %d", known[i]);
        assert_true(stages != 0 || access == 0);
    }
    layout_scope(L(SHADER_READ_ONLY), &stages, &access);
    assert_int_equal(scope_writes(access), 0);
    layout_scope(L(TRANSFER_SRC), &stages, &access);
    assert_int_equal(scope_writes(access), 0);
    layout_scope(VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, &stages, &access);
    assert_int_equal(stages, 0);
    layout_scope(VK_IMAGE_LAYOUT_UNDEFINED, &stages, &access);
    assert_int_equal(stages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching),          cmocka_unit_test(what_is_known),    cmocka_unit_test(combining),
        cmocka_unit_test(scopes_cover_uses), cmocka_unit_test(scopes_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
