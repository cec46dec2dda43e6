/* What makes an application newer than the build. */
#include "check.h"

#include "known.h"
#include "sync/newer.h"

#define UNKNOWN_STRUCTURE ((VkStructureType)1000899001)

static const char *reason_of(const void *chain, const char *extension, uint32_t version)
{
    static char text[128];
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = chain,
                                     .enabledExtensionCount = extension ? 1 : 0,
                                     .ppEnabledExtensionNames = &extension};
    return newer_reason(&info, version, text, sizeof(text));
}

static void test_versions(void **state)
{
    (void)state;
    assert_null(reason_of(NULL, NULL, VK_API_VERSION_1_0));
    assert_null(reason_of(NULL, NULL, KNOWN_API_VERSION));
    assert_null(reason_of(NULL, NULL, KNOWN_API_VERSION | 4095)); /* a patch level */
    assert_null(reason_of(NULL, NULL, VK_MAKE_API_VERSION(0, 1, 4, 4095)));
    assert_string_equal(reason_of(NULL, NULL, VK_MAKE_API_VERSION(0, 1, 99, 0)), "Vulkan 1.99");
    assert_string_equal(reason_of(NULL, NULL, VK_MAKE_API_VERSION(0, 2, 0, 0)), "Vulkan 2.0");
    if (VK_API_VERSION_MINOR(KNOWN_API_VERSION) <= 4)
        assert_string_equal(reason_of(NULL, NULL, VK_MAKE_API_VERSION(0, 1, 5, 0)), "Vulkan 1.5");
}

static void test_extensions(void **state)
{
    (void)state;
    assert_null(reason_of(NULL, "VK_KHR_swapchain", VK_API_VERSION_1_0));
    assert_null(reason_of(NULL, "VK_EXT_host_image_copy", VK_API_VERSION_1_0)); /* hooked by hand */
    assert_null(reason_of(NULL, "VK_KHR_maintenance5", VK_API_VERSION_1_0));    /* harmless */
    assert_string_equal(reason_of(NULL, "VK_KHR_swapchain2", VK_API_VERSION_1_0),
                        "the extension VK_KHR_swapchain2");
    assert_non_null(reason_of(NULL, "", VK_API_VERSION_1_0));
}

static void test_structures(void **state)
{
    const VkBaseInStructure unknown = {.sType = UNKNOWN_STRUCTURE};
    const VkPhysicalDeviceVulkan13Features known = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkBaseInStructure harmless = {.sType = (VkStructureType)1000470000, .pNext = (const void *)&known};
    VkBaseInStructure core14 = {.sType = (VkStructureType)55, .pNext = &harmless};
    VkBaseInStructure link = {.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, .pNext = &core14};
    VkPhysicalDeviceVulkan13Features front = known;
    (void)state;
    assert_null(reason_of(&link, NULL, VK_API_VERSION_1_3));
    harmless.sType = (VkStructureType)0; /* of extensions that have none */
    assert_non_null(reason_of(&link, NULL, VK_API_VERSION_1_3));
    front.pNext = (void *)(uintptr_t)&unknown;
    assert_string_equal(reason_of(&front, NULL, VK_API_VERSION_1_3), "a structure of type 1000899001");
}

/* A hostile name fits. */
static void test_long_name(void **state)
{
    char name[1000];
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(strlen(reason_of(NULL, name, VK_API_VERSION_1_0)), 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_structures),
        cmocka_unit_test(test_long_name),
    };
    return cmocka_run_group_tests_name("newer", tests, NULL, NULL);
}
