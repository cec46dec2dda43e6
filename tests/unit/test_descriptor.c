/* Descriptor sets and what is written into them: hooks called on a device made by hand. */
#include "sync_fixture.h"

#include "sync/descriptor.h"

#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define SRO VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL

/* --- The driver below --- */

#define BELOW(name, info_type, type)                                                                         \
    static VkResult VKAPI_CALL below_##name(VkDevice device, const info_type *info,                          \
                                            const VkAllocationCallbacks *allocator, type *out)               \
    {                                                                                                        \
        (void)device, (void)info, (void)allocator;                                                           \
        *out = HANDLE(type, ++fixture.next_handle);                                                          \
        return VK_SUCCESS;                                                                                   \
    }                                                                                                        \
    static void VKAPI_CALL below_destroy_##name(VkDevice device, type handle,                                \
                                                const VkAllocationCallbacks *allocator)                      \
    {                                                                                                        \
        (void)device, (void)handle, (void)allocator;                                                         \
    }
BELOW(layout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
BELOW(pool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
BELOW(template, VkDescriptorUpdateTemplateCreateInfo, VkDescriptorUpdateTemplate)

static VkResult VKAPI_CALL below_sets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                      VkDescriptorSet *out)
{
    (void)device;
    for (uint32_t i = 0; i < info->descriptorSetCount; i++)
        out[i] = HANDLE(VkDescriptorSet, ++fixture.next_handle);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL below_reset(VkDevice device, VkDescriptorPool pool,
                                       VkDescriptorPoolResetFlags flags)
{
    (void)device, (void)pool, (void)flags;
    return VK_SUCCESS;
}

static void VKAPI_CALL below_update(VkDevice device, uint32_t write_count, const VkWriteDescriptorSet *writes,
                                    uint32_t copy_count, const VkCopyDescriptorSet *copies)
{
    (void)device, (void)write_count, (void)writes, (void)copy_count, (void)copies;
}

static void VKAPI_CALL below_update_by(VkDevice device, VkDescriptorSet set,
                                       VkDescriptorUpdateTemplate update, const void *data)
{
    (void)device, (void)set, (void)update, (void)data;
}

/* --- Calls --- */

/* Bindings 0: two sampled images, 1: none, 3: three. */
static VkDescriptorSetLayout create_layout(void)
{
    const VkDescriptorSetLayoutBinding bindings[] = {{3, SAMPLED, 3, VK_SHADER_STAGE_ALL, NULL},
                                                     {0, SAMPLED, 2, VK_SHADER_STAGE_ALL, NULL},
                                                     {1, SAMPLED, 0, VK_SHADER_STAGE_ALL, NULL}};
    const VkDescriptorSetLayoutCreateInfo info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .bindingCount = 3,
                                                  .pBindings = bindings};
    VkDescriptorSetLayout layout;
    hook_CreateDescriptorSetLayout(&fixture.device, below_layout, NULL, &info, NULL, &layout);
    return layout;
}

static VkDescriptorPool create_pool(void)
{
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    VkDescriptorPool pool;
    hook_CreateDescriptorPool(&fixture.device, below_pool, NULL, &info, NULL, &pool);
    return pool;
}

static VkDescriptorSet allocate_set(VkDescriptorPool pool, VkDescriptorSetLayout layout)
{
    const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = pool,
                                              .descriptorSetCount = 1,
                                              .pSetLayouts = &layout};
    VkDescriptorSet set;
    hook_AllocateDescriptorSets(&fixture.device, below_sets, NULL, &info, &set);
    return set;
}

static void write_images(VkDescriptorSet set, uint32_t binding, uint32_t element, uint32_t count,
                         VkDescriptorType type, const VkDescriptorImageInfo *images)
{
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .dstBinding = binding,
                                        .dstArrayElement = element,
                                        .descriptorCount = count,
                                        .descriptorType = type,
                                        .pImageInfo = images};
    hook_UpdateDescriptorSets(&fixture.device, below_update, NULL, 1, &write, 0, NULL);
}

static VkDescriptorUpdateTemplate create_template(void)
{
    const VkDescriptorUpdateTemplateEntry entry = {0, 1, 3, SAMPLED, 0, sizeof(VkDescriptorImageInfo)};
    const VkDescriptorUpdateTemplateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = 1,
        .pDescriptorUpdateEntries = &entry};
    VkDescriptorUpdateTemplate update;
    hook_CreateDescriptorUpdateTemplate(&fixture.device, below_template, NULL, &info, NULL, &update);
    return update;
}

static void update_by(VkDescriptorSet set, VkDescriptorUpdateTemplate update,
                      const VkDescriptorImageInfo *images)
{
    hook_UpdateDescriptorSetWithTemplate(&fixture.device, below_update_by, NULL, set, update, images);
}

/* The views of all slots: those of binding 0, then those of binding 3. */
static void check_views(VkDescriptorSet handle, const uint64_t *views)
{
    const struct descriptor_set *set = descriptor_set_find(&fixture.sync, handle);
    assert_non_null(set);
    assert_int_equal(set->slot_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(HANDLE_KEY(set->slots[i].view), views[i]);
}

static const VkDescriptorImageInfo images[] = {
    {VK_NULL_HANDLE, HANDLE(VkImageView, 11), SRO},
    {VK_NULL_HANDLE, HANDLE(VkImageView, 12), SRO},
    {VK_NULL_HANDLE, HANDLE(VkImageView, 13), SRO},
};

/* --- Tests --- */

static void test_consecutive(void **state)
{
    (void)state;
    VkDescriptorSet set = allocate_set(create_pool(), create_layout());
    check_views(set, (const uint64_t[]){0, 0, 0, 0, 0});
    write_images(set, 0, 1, 3, SAMPLED, images);
    check_views(set, (const uint64_t[]){0, 11, 12, 13, 0});
    /* An element beyond the binding is one of the next. */
    write_images(set, 0, 4, 1, SAMPLED, images);
    check_views(set, (const uint64_t[]){0, 11, 12, 13, 11});
    /* Nothing lies behind the last, nor in a binding that isn't there. */
    write_images(set, 3, 2, 3, SAMPLED, images);
    write_images(set, 2, 0, 1, SAMPLED, images);
    write_images(set, 7, 0, 1, SAMPLED, images);
    check_views(set, (const uint64_t[]){0, 11, 12, 13, 11});
}

static void test_template(void **state)
{
    (void)state;
    VkDescriptorSet set = allocate_set(create_pool(), create_layout());
    VkDescriptorUpdateTemplate update = create_template();
    update_by(set, update, images);
    check_views(set, (const uint64_t[]){0, 11, 12, 13, 0});
    hook_DestroyDescriptorUpdateTemplate(&fixture.device, below_destroy_template, NULL, update, NULL);
    /* Without memory nobody knows what it writes. */
    write_images(set, 0, 0, 1, SAMPLED, images);
    allocations_fail_at(0);
    update = create_template();
    allocations_fail_at(-1);
    update_by(set, update, images);
    check_views(set, (const uint64_t[]){0, 0, 0, 0, 0});
}

/* Everything that can't be had leaves things unknown, and nothing behind. */
static void test_short_of_memory(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 32; n++) {
        allocations_fail_at(n);
        VkDescriptorSetLayout layout = create_layout();
        VkDescriptorPool pool = create_pool();
        VkDescriptorSet set = allocate_set(pool, layout);
        VkDescriptorUpdateTemplate update = create_template();
        allocations_fail_at(-1);
        bool known = descriptor_set_find(&fixture.sync, set) != NULL;
        write_images(set, 3, 0, 1, SAMPLED, images + 2);
        update_by(set, update, images);
        if (known && descriptor_template_find(&fixture.sync, update))
            check_views(set, (const uint64_t[]){0, 11, 12, 13, 0});
        else if (known)
            check_views(set, (const uint64_t[]){0, 0, 0, 0, 0});
        hook_ResetDescriptorPool(&fixture.device, below_reset, NULL, pool, 0);
        assert_null(descriptor_set_find(&fixture.sync, set));
        hook_DestroyDescriptorUpdateTemplate(&fixture.device, below_destroy_template, NULL, update, NULL);
        hook_DestroyDescriptorPool(&fixture.device, below_destroy_pool, NULL, pool, NULL);
        hook_DestroyDescriptorSetLayout(&fixture.device, below_destroy_layout, NULL, layout, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_consecutive, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_template, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_short_of_memory, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("descriptor", tests, NULL, NULL);
}
