/* The fault-injecting driver, seen through the real loader. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver_records.h"
#include "fault_driver.h"
#include "vulkan_client.h"

#define HEADER_SIZE 32
#define NO_TIMEOUT UINT64_MAX

/* A device, and on it all that compute pipelines need. */
struct fixture {
    struct vulkan_client client;
    VkShaderModule module;
    VkPipelineLayout layout;
    uint32_t live_before; /* objects in the driver */
};

static void configure(const char *text)
{
    char problem[256] = "";

    if (fault_configure(text, problem, sizeof(problem)))
        fail_msg("fault_configure(\"%s\"): %s", text, problem);
}

static VkShaderModule create_module(struct vulkan_client *c, uint32_t number)
{
    const uint32_t code[] = {0x07230203, 0x00010000, 0, number, 0};
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = sizeof(code),
        .pCode = code,
    };
    VkShaderModule module;

    assert_int_equal(c->vkCreateShaderModule(c->device, &info, NULL, &module), VK_SUCCESS);
    return module;
}

static void fixture_init_config(struct fixture *f, const char *faults,
                                const struct vulkan_client_config *config)
{
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};

    assert_int_equal(fault_reset(), 0);
    configure(faults);
    f->live_before = fault_live_objects(VK_OBJECT_TYPE_UNKNOWN);
    assert_int_equal(vulkan_client_open(&f->client), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_instance(&f->client, config), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_device(&f->client, config), VK_SUCCESS);
    f->module = create_module(&f->client, 7);
    assert_int_equal(f->client.vkCreatePipelineLayout(f->client.device, &layout, NULL, &f->layout),
                     VK_SUCCESS);
}

static void fixture_init(struct fixture *f, const char *faults)
{
    fixture_init_config(f, faults, &(struct vulkan_client_config){0});
}

/* Everything that the test itself created has to be gone. */
static void fixture_finish(struct fixture *f)
{
    struct vulkan_client *c = &f->client;

    c->vkDestroyPipelineLayout(c->device, f->layout, NULL);
    c->vkDestroyShaderModule(c->device, f->module, NULL);
    vulkan_client_destroy(c);
    vulkan_client_close(c);
    assert_int_equal(fault_live_objects(VK_OBJECT_TYPE_UNKNOWN), f->live_before);
    assert_int_equal(fault_journal_events(FAULT_EVENT_LEAK), 0);
    assert_int_equal(fault_journal_events(FAULT_EVENT_MISUSE), 0);
}

static VkResult try_cache(struct vulkan_client *c, const void *data, size_t size, VkPipelineCache *out)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = size,
        .pInitialData = data,
    };

    return c->vkCreatePipelineCache(c->device, &info, NULL, out);
}

static VkPipelineCache create_cache(struct vulkan_client *c, const void *data, size_t size)
{
    VkPipelineCache cache;

    assert_int_equal(try_cache(c, data, size, &cache), VK_SUCCESS);
    return cache;
}

static void destroy_cache(struct vulkan_client *c, VkPipelineCache cache)
{
    c->vkDestroyPipelineCache(c->device, cache, NULL);
}

/* A compute pipeline that differs from others by the value of a specialization constant. */
struct compute_info {
    VkSpecializationMapEntry entry;
    uint32_t value;
    VkSpecializationInfo constants;
    VkComputePipelineCreateInfo info;
};

static void compute_info_init(struct compute_info *out, const struct fixture *f, uint32_t number,
                              VkPipelineCreateFlags flags)
{
    *out = (struct compute_info){.entry = {.size = sizeof(uint32_t)}, .value = number};
    out->constants = (VkSpecializationInfo){1, &out->entry, sizeof(out->value), &out->value};
    out->info = (VkComputePipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = flags,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = f->module,
                  .pName = "main",
                  .pSpecializationInfo = &out->constants},
        .layout = f->layout,
    };
}

/* Creates one pipeline and destroys it again; says what the feedback said. */
static VkResult try_compute(struct fixture *f, VkPipelineCache cache, uint32_t number,
                            VkPipelineCreateFlags flags, VkPipelineCreationFeedbackFlags *feedback_flags)
{
    VkPipelineCreationFeedback feedback = {0};
    VkPipelineCreationFeedback stage = {0};
    const VkPipelineCreationFeedbackCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &feedback,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &stage,
    };
    struct compute_info compute;
    VkPipeline pipeline;
    VkResult result;

    compute_info_init(&compute, f, number, flags);
    compute.info.pNext = feedback_flags ? &wanted : NULL;
    result = f->client.vkCreateComputePipelines(f->client.device, cache, 1, &compute.info, NULL, &pipeline);
    f->client.vkDestroyPipeline(f->client.device, pipeline, NULL);
    if (feedback_flags) {
        assert_int_equal(feedback.flags, stage.flags);
        *feedback_flags = feedback.flags;
    }
    return result;
}

static void compile(struct fixture *f, VkPipelineCache cache, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(try_compute(f, cache, first + i, 0, NULL), VK_SUCCESS);
}

static bool is_hit(struct fixture *f, VkPipelineCache cache, uint32_t number)
{
    VkPipelineCreationFeedbackFlags flags;

    assert_int_equal(try_compute(f, cache, number, 0, &flags), VK_SUCCESS);
    assert_true(flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT);
    return flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
}

struct blob {
    uint8_t *data;
    size_t size;
};

static struct blob get_data(struct vulkan_client *c, VkPipelineCache cache)
{
    struct blob blob = {0};

    assert_int_equal(c->vkGetPipelineCacheData(c->device, cache, &blob.size, NULL), VK_SUCCESS);
    blob.data = malloc(blob.size);
    assert_non_null(blob.data);
    assert_int_equal(c->vkGetPipelineCacheData(c->device, cache, &blob.size, blob.data), VK_SUCCESS);
    return blob;
}

/* The data of a cache with `count` pipelines from number `first`. */
static struct blob make_blob(struct fixture *f, uint32_t first, uint32_t count)
{
    VkPipelineCache cache = create_cache(&f->client, NULL, 0);
    struct blob blob;

    compile(f, cache, first, count);
    blob = get_data(&f->client, cache);
    destroy_cache(&f->client, cache);
    return blob;
}

static void identity_is_what_was_configured(void **state)
{
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &driver};
    VkPhysicalDevice devices[3];
    uint32_t count = 3;
    uint32_t ids = 0;
    struct fixture f;

    fixture_init(
        &f, "vendor=0x10de;device=9;driver_version=77;driver_id=4;driver_name=a name;driver_info=an info;"
            "device_name=card;devices=2;uuid=000102030405060708090a0b0c0d0e0f");
    assert_int_equal(f.client.vkEnumeratePhysicalDevices(f.client.instance, &count, devices), VK_SUCCESS);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        f.client.vkGetPhysicalDeviceProperties2(devices[i], &properties);
        assert_int_equal(properties.properties.vendorID, 0x10de);
        ids += properties.properties.deviceID; /* loaders sort devices as they like */
        assert_int_equal(properties.properties.driverVersion, 77);
        assert_string_equal(properties.properties.deviceName, "card");
        assert_int_equal(properties.properties.pipelineCacheUUID[15], 0x0f);
        assert_int_equal(driver.driverID, 4);
        assert_string_equal(driver.driverName, "a name");
        assert_string_equal(driver.driverInfo, "an info");
    }
    assert_int_equal(ids, 9 + 10);
    fixture_finish(&f);
}

static void read_uuid(const char *configuration, uint8_t out[VK_UUID_SIZE])
{
    VkPhysicalDeviceProperties properties;
    struct fixture f;

    fixture_init(&f, configuration);
    f.client.vkGetPhysicalDeviceProperties(f.client.physical, &properties);
    memcpy(out, properties.pipelineCacheUUID, VK_UUID_SIZE);
    fixture_finish(&f);
}

static void uuid_follows_the_driver_version_unless_told_otherwise(void **state)
{
    const uint8_t zero[VK_UUID_SIZE] = {0};
    uint8_t one[VK_UUID_SIZE], two[VK_UUID_SIZE];

    read_uuid("driver_version=1", one);
    read_uuid("driver_version=2", two);
    assert_memory_not_equal(one, two, VK_UUID_SIZE);
    read_uuid("driver_version=1;uuid=constant", one);
    read_uuid("driver_version=2;uuid=constant", two);
    assert_memory_equal(one, two, VK_UUID_SIZE);
    assert_memory_not_equal(one, zero, VK_UUID_SIZE);
    read_uuid("uuid=zero", one);
    assert_memory_equal(one, zero, VK_UUID_SIZE);
}

static void device_groups_lead_to_the_same_devices(void **state)
{
    VkPhysicalDeviceGroupProperties group = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES};
    uint32_t count = 1;
    struct fixture f;

    fixture_init(&f, "");
    assert_int_equal(f.client.vkEnumeratePhysicalDeviceGroups(f.client.instance, &count, &group), VK_SUCCESS);
    assert_int_equal(group.physicalDeviceCount, 1);
    assert_ptr_equal(group.physicalDevices[0], f.client.physical);
    fixture_finish(&f);
}

static void functions_exist_where_version_or_extension_has_them(void **state)
{
    const char *const names[] = {"VK_KHR_synchronization2"};
    const struct vulkan_client_config extended = {.device_extension_count = 1, .device_extensions = names};
    struct fixture f;

    fixture_init(&f, "");
    assert_non_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkCmdPipelineBarrier2"));
    assert_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkCmdPipelineBarrier2KHR"));
    assert_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkCreateInstance"));
    assert_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkNoSuchThing"));
    fixture_finish(&f);
    fixture_init_config(&f, "api=1.1", &extended);
    assert_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkCmdPipelineBarrier2"));
    assert_non_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkCmdPipelineBarrier2KHR"));
    fixture_finish(&f);
}

static void vulkan_1_0_device_has_no_later_functions(void **state)
{
    const struct vulkan_client_config old = {.api = VK_API_VERSION_1_0};
    VkPhysicalDeviceProperties properties;
    struct fixture f;

    fixture_init_config(&f, "api=1.0", &old);
    f.client.vkGetPhysicalDeviceProperties(f.client.physical, &properties);
    assert_int_equal(VK_API_VERSION_MINOR(properties.apiVersion), 0);
    assert_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkTrimCommandPool"));
    assert_non_null(f.client.vkGetDeviceProcAddr(f.client.device, "vkGetDeviceQueue"));
    fixture_finish(&f);
}

static bool has_synchronization2(struct fixture *f)
{
    VkPhysicalDeviceSynchronization2Features one = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &one};

    f->client.vkGetPhysicalDeviceFeatures2(f->client.physical, &all);
    return one.synchronization2;
}

static bool exposes(struct fixture *f, const char *name)
{
    VkExtensionProperties properties[512];
    uint32_t count = 512;

    assert_int_equal(
        f->client.vkEnumerateDeviceExtensionProperties(f->client.physical, NULL, &count, properties),
        VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(properties[i].extensionName, name))
            return true;
    }
    return false;
}

static void extensions_and_features_can_be_hidden_and_shown(void **state)
{
    struct fixture f;

    fixture_init(&f, "");
    assert_true(has_synchronization2(&f));
    assert_true(exposes(&f, "VK_KHR_synchronization2"));
    assert_false(exposes(&f, "VK_AMD_buffer_marker"));
    fixture_finish(&f);
    fixture_init(&f, "hide=1000314007;hide=VK_KHR_synchronization2;show=VK_AMD_buffer_marker");
    assert_false(has_synchronization2(&f));
    assert_false(exposes(&f, "VK_KHR_synchronization2"));
    assert_true(exposes(&f, "VK_AMD_buffer_marker"));
    fixture_finish(&f);
    fixture_init(&f, "api=1.2;hide=VK_KHR_synchronization2");
    assert_false(has_synchronization2(&f));
    fixture_finish(&f);
}

static void extension_that_is_not_there_fails_the_device(void **state)
{
    const char *const names[] = {"VK_KHR_synchronization2"};
    const struct vulkan_client_config extended = {.device_extension_count = 1, .device_extensions = names};
    struct vulkan_client client;

    assert_int_equal(fault_reset(), 0);
    configure("fault=vkCreateDevice,when=extension:VK_KHR_synchronization2,result=-3");
    assert_int_equal(vulkan_client_open(&client), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_instance(&client, &extended), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_device(&client, &extended), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(vulkan_client_create_device(&client, &(struct vulkan_client_config){0}), VK_SUCCESS);
    vulkan_client_destroy(&client);
    vulkan_client_close(&client);
}

static void feature_structure_can_fail_the_device(void **state)
{
    VkPhysicalDeviceSynchronization2Features feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, .synchronization2 = VK_TRUE};
    const struct vulkan_client_config with = {.device_next = &feature};
    struct vulkan_client client;

    assert_int_equal(fault_reset(), 0);
    configure("fault=vkCreateDevice,when=chain:1000314007,result=-8");
    assert_int_equal(vulkan_client_open(&client), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_instance(&client, &with), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_device(&client, &with), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(vulkan_client_create_device(&client, &(struct vulkan_client_config){0}), VK_SUCCESS);
    vulkan_client_destroy(&client);
    vulkan_client_close(&client);
}

static void configuration_that_is_not_understood_is_refused(void **state)
{
    const char *const wrong[] = {"vendor=x",
                                 "nonsense=1",
                                 "uuid=12",
                                 "fault=vkNoSuchThing,result=-1",
                                 "fault=vkCreateDevice,when=never",
                                 "fault=vkCreateDevice,call=0",
                                 "fault=vkCreateDevice,call=3-2",
                                 "fault=vkCreateDevice,result=",
                                 "devices=9"};
    struct vulkan_client client;
    char problem[256];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        problem[0] = 0;
        assert_int_equal(fault_configure(wrong[i], problem, sizeof(problem)), -EINVAL);
        assert_string_not_equal(problem, "");
    }
    assert_int_equal(setenv("FAULT_DRIVER", "nonsense=1", 1), 0);
    assert_int_equal(fault_reset(), -EINVAL);
    assert_int_equal(vulkan_client_open(&client), VK_SUCCESS);
    assert_int_not_equal(vulkan_client_create_instance(&client, &(struct vulkan_client_config){0}),
                         VK_SUCCESS);
    assert_int_equal(unsetenv("FAULT_DRIVER"), 0);
    vulkan_client_close(&client);
}

static void environment_configures_too(void **state)
{
    uint8_t uuid[VK_UUID_SIZE];
    const uint8_t zero[VK_UUID_SIZE] = {0};
    struct fixture f;
    VkPhysicalDeviceProperties properties;

    assert_int_equal(setenv("FAULT_DRIVER", "uuid=zero", 1), 0);
    assert_int_equal(fault_reset(), 0);
    assert_int_equal(vulkan_client_open(&f.client), VK_SUCCESS);
    assert_int_equal(vulkan_client_create_instance(&f.client, &(struct vulkan_client_config){0}), VK_SUCCESS);
    f.client.vkGetPhysicalDeviceProperties(f.client.physical, &properties);
    memcpy(uuid, properties.pipelineCacheUUID, VK_UUID_SIZE);
    assert_memory_equal(uuid, zero, VK_UUID_SIZE);
    vulkan_client_destroy(&f.client);
    vulkan_client_close(&f.client);
    assert_int_equal(unsetenv("FAULT_DRIVER"), 0);
}

static void cache_round_trip(void **state)
{
    VkPhysicalDeviceProperties properties;
    VkPipelineCacheHeaderVersionOne header;
    struct blob blob;
    VkPipelineCache cache;
    struct fixture f;

    fixture_init(&f, "");
    cache = create_cache(&f.client, NULL, 0);
    assert_false(is_hit(&f, cache, 1));
    assert_true(is_hit(&f, cache, 1));
    assert_false(is_hit(&f, cache, 2));
    assert_int_equal(fault_cache_hits(), 1);
    assert_int_equal(fault_cache_misses(), 2);
    assert_int_equal(fault_cache_entries(cache), 2);
    blob = get_data(&f.client, cache);
    destroy_cache(&f.client, cache);

    memcpy(&header, blob.data, sizeof(header));
    f.client.vkGetPhysicalDeviceProperties(f.client.physical, &properties);
    assert_int_equal(header.headerSize, HEADER_SIZE);
    assert_int_equal(header.headerVersion, VK_PIPELINE_CACHE_HEADER_VERSION_ONE);
    assert_int_equal(header.vendorID, properties.vendorID);
    assert_int_equal(header.deviceID, properties.deviceID);
    assert_memory_equal(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE);

    cache = create_cache(&f.client, blob.data, blob.size);
    assert_int_equal(fault_cache_entries(cache), 2);
    assert_true(is_hit(&f, cache, 1));
    assert_true(is_hit(&f, cache, 2));
    assert_false(is_hit(&f, cache, 3));
    assert_false(is_hit(&f, VK_NULL_HANDLE, 1));
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void data_does_not_depend_on_order_or_process_history(void **state)
{
    struct blob forward, backward;
    VkPipelineCache cache;
    struct fixture f;

    fixture_init(&f, "");
    forward = make_blob(&f, 1, 4);
    fixture_finish(&f);
    fixture_init(&f, "");
    cache = create_cache(&f.client, NULL, 0);
    for (uint32_t number = 4; number > 0; number--)
        compile(&f, cache, number, 1);
    backward = get_data(&f.client, cache);
    assert_int_equal(forward.size, backward.size);
    assert_memory_equal(forward.data, backward.data, forward.size);
    destroy_cache(&f.client, cache);
    free(forward.data);
    free(backward.data);
    fixture_finish(&f);
}

static void partial_fetches_write_whole_entries_only(void **state)
{
    struct blob whole;
    VkPipelineCache cache, again;
    struct fixture f;

    fixture_init(&f, "entry_size=20");
    cache = create_cache(&f.client, NULL, 0);
    compile(&f, cache, 1, 3);
    whole = get_data(&f.client, cache);
    for (size_t capacity = 0; capacity < whole.size; capacity++) {
        uint8_t *buffer = malloc(capacity + 1);
        size_t size = capacity;

        assert_non_null(buffer);
        memset(buffer, 0xee, capacity + 1);
        assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, buffer),
                         VK_INCOMPLETE);
        assert_true(size <= capacity);
        assert_true(size == 0 || size >= HEADER_SIZE);
        assert_memory_equal(buffer, whole.data, size);
        for (size_t i = size; i <= capacity; i++)
            assert_int_equal(buffer[i], 0xee);
        configure("fault=vkCreatePipelineCache,when=corrupt,result=-13");
        if (size) {
            again = create_cache(&f.client, buffer, size);
            destroy_cache(&f.client, again);
        }
        free(buffer);
    }
    destroy_cache(&f.client, cache);
    free(whole.data);
    fixture_finish(&f);
}

static void merge_unites(void **state)
{
    VkPipelineCache caches[3];
    struct fixture f;

    fixture_init(&f, "");
    for (uint32_t i = 0; i < 3; i++) {
        caches[i] = create_cache(&f.client, NULL, 0);
        compile(&f, caches[i], i, 2); /* 0 1, 1 2, 2 3 */
    }
    assert_int_equal(f.client.vkMergePipelineCaches(f.client.device, caches[0], 2, &caches[1]), VK_SUCCESS);
    assert_int_equal(fault_cache_entries(caches[0]), 4);
    assert_int_equal(fault_cache_entries(caches[1]), 2);
    assert_true(is_hit(&f, caches[0], 3));
    assert_false(is_hit(&f, caches[1], 3));
    for (uint32_t i = 0; i < 3; i++)
        destroy_cache(&f.client, caches[i]);
    fixture_finish(&f);
}

static void foreign_data_gives_an_empty_cache(void **state)
{
    struct blob blob;
    VkPipelineCache cache;
    struct fixture f;

    fixture_init(&f, "");
    blob = make_blob(&f, 1, 2);
    for (size_t offset = 8; offset < HEADER_SIZE; offset += 4) {
        blob.data[offset] ^= 1;
        cache = create_cache(&f.client, blob.data, blob.size);
        assert_int_equal(fault_cache_entries(cache), 0);
        destroy_cache(&f.client, cache);
        blob.data[offset] ^= 1;
    }
    fixture_finish(&f);
    fixture_init(&f, "driver_version=2");
    cache = create_cache(&f.client, blob.data, blob.size);
    assert_int_equal(fault_cache_entries(cache), 0);
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void every_flipped_bit_is_noticed(void **state)
{
    struct blob blob;
    VkPipelineCache cache;
    struct fixture f;

    fixture_init(&f, "entry_size=20");
    blob = make_blob(&f, 1, 3);
    configure("entry_size=20;fault=vkCreatePipelineCache,when=corrupt,result=-13");
    for (size_t offset = HEADER_SIZE; offset < blob.size; offset++) {
        blob.data[offset] ^= 0x10;
        assert_int_equal(try_cache(&f.client, blob.data, blob.size, &cache), VK_ERROR_UNKNOWN);
        blob.data[offset] ^= 0x10;
    }
    cache = create_cache(&f.client, blob.data, blob.size);
    assert_int_equal(fault_cache_entries(cache), 3);
    destroy_cache(&f.client, cache);

    configure("entry_size=20");
    blob.data[blob.size - 1] ^= 1;
    cache = create_cache(&f.client, blob.data, blob.size);
    assert_int_equal(fault_cache_entries(cache), 2);
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void compile_required_is_reported_and_early_return_obeyed(void **state)
{
    const VkPipelineCreateFlags fail = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
    struct compute_info compute[3];
    VkComputePipelineCreateInfo infos[3];
    VkPipeline pipelines[3];
    VkPipelineCache cache;
    struct fixture f;

    fixture_init(&f, "");
    cache = create_cache(&f.client, NULL, 0);
    assert_int_equal(try_compute(&f, VK_NULL_HANDLE, 1, fail, NULL), VK_PIPELINE_COMPILE_REQUIRED);
    compile(&f, cache, 1, 1);
    assert_int_equal(try_compute(&f, cache, 1, fail, NULL), VK_SUCCESS);
    for (uint32_t early = 0; early < 2; early++) {
        for (uint32_t i = 0; i < 3; i++) {
            compute_info_init(&compute[i], &f, i, fail);
            infos[i] = compute[i].info;
        }
        if (early)
            infos[0].flags |= VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT;
        assert_int_equal(f.client.vkCreateComputePipelines(f.client.device, cache, 3, infos, NULL, pipelines),
                         VK_PIPELINE_COMPILE_REQUIRED);
        assert_true(pipelines[0] == VK_NULL_HANDLE);
        assert_int_equal(pipelines[1] == VK_NULL_HANDLE, early);
        assert_true(pipelines[2] == VK_NULL_HANDLE);
        f.client.vkDestroyPipeline(f.client.device, pipelines[1], NULL);
    }
    destroy_cache(&f.client, cache);
    fixture_finish(&f);
}

static void driver_may_keep_nothing(void **state)
{
    VkPipelineCache cache;
    struct blob blob;
    struct fixture f;

    fixture_init(&f, "keeps=nothing");
    cache = create_cache(&f.client, NULL, 0);
    compile(&f, cache, 1, 2);
    assert_false(is_hit(&f, cache, 1));
    blob = get_data(&f.client, cache);
    assert_int_equal(blob.size, HEADER_SIZE);
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void driver_may_echo_behind_a_new_header(void **state)
{
    const uint8_t data[] = "whatever";
    VkPipelineCache cache;
    struct blob blob;
    struct fixture f;

    fixture_init(&f, "keeps=echo");
    cache = create_cache(&f.client, data, sizeof(data));
    blob = get_data(&f.client, cache);
    assert_int_equal(blob.size, HEADER_SIZE + sizeof(data));
    assert_memory_equal(blob.data + HEADER_SIZE, data, sizeof(data));
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void header_may_be_another(void **state)
{
    const struct {
        const char *configuration;
        uint32_t size;
        uint32_t version;
    } headers[] = {{"header=2", 32, 2}, {"header=28", 28, 1000629000}};

    for (size_t i = 0; i < 2; i++) {
        struct blob blob;
        VkPipelineCache cache;
        uint32_t words[2];
        struct fixture f;

        fixture_init(&f, headers[i].configuration);
        blob = make_blob(&f, 1, 1);
        memcpy(words, blob.data, sizeof(words));
        assert_int_equal(words[0], headers[i].size);
        assert_int_equal(words[1], headers[i].version);
        cache = create_cache(&f.client, blob.data, blob.size);
        assert_true(is_hit(&f, cache, 1));
        destroy_cache(&f.client, cache);
        free(blob.data);
        fixture_finish(&f);
    }
}

static void rule_acts_on_the_calls_it_names(void **state)
{
    VkPipelineCache cache;
    const VkResult second[] = {VK_SUCCESS, VK_ERROR_UNKNOWN, VK_SUCCESS, VK_SUCCESS};
    const VkResult onward[] = {VK_SUCCESS, VK_ERROR_UNKNOWN, VK_ERROR_UNKNOWN, VK_ERROR_UNKNOWN};
    const VkResult range[] = {VK_SUCCESS, VK_ERROR_UNKNOWN, VK_ERROR_UNKNOWN, VK_SUCCESS};
    const struct {
        const char *faults;
        const VkResult *expected;
    } cases[] = {
        {"fault=vkCreatePipelineCache,call=2,result=-13", second},
        {"fault=vkCreatePipelineCache,call=2+,result=-13", onward},
        {"fault=vkCreatePipelineCa*,call=2-3,result=-13", range},
    };
    struct fixture f;

    fixture_init(&f, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        configure(cases[i].faults);
        for (size_t j = 0; j < 4; j++) {
            memset(&cache, 0xff, sizeof(cache));
            assert_int_equal(try_cache(&f.client, NULL, 0, &cache), cases[i].expected[j]);
            assert_int_equal(cache != VK_NULL_HANDLE, cases[i].expected[j] == VK_SUCCESS);
            destroy_cache(&f.client, cache);
        }
    }
    fixture_finish(&f);
}

static void creation_with_data_can_fail_or_drop_it(void **state)
{
    VkPipelineCache cache;
    struct blob blob;
    struct fixture f;

    fixture_init(&f, "");
    blob = make_blob(&f, 1, 2);
    configure("fault=vkCreatePipelineCache,when=data,result=-13");
    assert_int_equal(try_cache(&f.client, blob.data, blob.size, &cache), VK_ERROR_UNKNOWN);
    cache = create_cache(&f.client, NULL, 0);
    destroy_cache(&f.client, cache);
    configure("fault=vkCreatePipelineCache,when=nodata,result=-1");
    assert_int_equal(try_cache(&f.client, NULL, 0, &cache), VK_ERROR_OUT_OF_HOST_MEMORY);
    configure("fault=vkCreatePipelineCache,when=data,drop");
    cache = create_cache(&f.client, blob.data, blob.size);
    assert_int_equal(fault_cache_entries(cache), 0);
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void data_can_grow_between_query_and_fetch(void **state)
{
    VkPipelineCache cache;
    size_t size = 0, promised;
    uint8_t buffer[4096];
    struct fixture f;

    fixture_init(&f, "");
    cache = create_cache(&f.client, NULL, 0);
    compile(&f, cache, 1, 1);
    configure("fault=vkGetPipelineCacheData,when=fetch,call=1,grow=1000");
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, NULL), VK_SUCCESS);
    promised = size;
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, buffer), VK_INCOMPLETE);
    assert_true(size <= promised);
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, NULL), VK_SUCCESS);
    assert_int_equal(size, promised + 1000);
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, buffer), VK_SUCCESS);
    destroy_cache(&f.client, cache);
    fixture_finish(&f);
}

static void get_data_can_be_made_to_lie(void **state)
{
    VkPipelineCache cache;
    struct blob blob;
    size_t size;
    uint8_t buffer[4096];
    struct fixture f;

    fixture_init(&f, "");
    cache = create_cache(&f.client, NULL, 0);
    compile(&f, cache, 1, 2);
    blob = get_data(&f.client, cache);

    configure("fault=vkGetPipelineCacheData,when=fetch,call=1-2,result=5");
    for (int i = 0; i < 3; i++) {
        size = sizeof(buffer);
        assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, buffer),
                         i < 2 ? VK_INCOMPLETE : VK_SUCCESS);
    }
    configure("fault=vkGetPipelineCacheData,when=fetch,untouched");
    size = sizeof(buffer);
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, buffer), VK_SUCCESS);
    assert_int_equal(size, sizeof(buffer));
    configure("fault=vkGetPipelineCacheData,when=query,untouched");
    size = 4711;
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, NULL), VK_SUCCESS);
    assert_int_equal(size, 4711);
    configure("fault=vkGetPipelineCacheData,when=fetch,short=100");
    size = blob.size;
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, buffer), VK_SUCCESS);
    assert_int_equal(size, blob.size - 100);
    configure("fault=vkGetPipelineCacheData,when=query,reported=5368709120");
    assert_int_equal(f.client.vkGetPipelineCacheData(f.client.device, cache, &size, NULL), VK_SUCCESS);
    assert_int_equal(size, (size_t)5368709120);
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void calls_and_misses_can_cost_time(void **state)
{
    VkPipelineCache cache;
    uint64_t start;
    struct fixture f;

    fixture_init(&f, "miss=20000");
    cache = create_cache(&f.client, NULL, 0);
    start = now_us();
    assert_false(is_hit(&f, cache, 1));
    assert_true(now_us() - start >= 20000);
    configure("fault=vkDestroyPipelineCache,delay=20000");
    start = now_us();
    destroy_cache(&f.client, cache);
    assert_true(now_us() - start >= 20000);
    fixture_finish(&f);
}

struct blocked_call {
    struct fixture *fixture;
    VkPipelineCache cache;
};

static void *create_cache_in_thread(void *context)
{
    struct blocked_call *call = context;

    call->cache = create_cache(&call->fixture->client, NULL, 0);
    return NULL;
}

static void blocked_call_waits_for_the_flag(void **state)
{
    struct fixture f;
    struct blocked_call call = {&f, VK_NULL_HANDLE};
    pthread_t thread;

    fixture_init(&f, "fault=vkCreatePipelineCache,block");
    assert_false(fault_wait_blocked(1, 0));
    assert_int_equal(pthread_create(&thread, NULL, create_cache_in_thread, &call), 0);
    assert_true(fault_wait_blocked(1, 10000));
    assert_int_equal(fault_journal_count("vkCreatePipelineCache"), 0);
    assert_int_equal(fault_journal_events(FAULT_EVENT_BLOCKED), 1);
    fault_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(fault_journal_count("vkCreatePipelineCache"), 1);
    destroy_cache(&f.client, call.cache);
    fixture_finish(&f);
}

static void blocked_call_waits_for_a_file(void **state)
{
    char folder[] = "/tmp/fault_driver.XXXXXX";
    char path[64], text[128];
    struct fixture f;
    struct blocked_call call = {&f, VK_NULL_HANDLE};
    pthread_t thread;
    int ends[2];
    int writer;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(text, sizeof(text), "fault=vkCreatePipelineCache,block=%s", path);
    fixture_init(&f, text);
    assert_int_equal(pthread_create(&thread, NULL, create_cache_in_thread, &call), 0);
    writer = open(path, O_WRONLY | O_CLOEXEC); /* returns when the driver has opened its end */
    assert_true(writer >= 0);
    assert_int_equal(fault_journal_count("vkCreatePipelineCache"), 0);
    close(writer);
    assert_int_equal(pthread_join(thread, NULL), 0);
    destroy_cache(&f.client, call.cache);
    unlink(path);
    rmdir(folder);

    assert_int_equal(pipe(ends), 0);
    snprintf(text, sizeof(text), "fault=vkCreatePipelineCache,block=fd:%d", ends[0]);
    configure(text);
    assert_int_equal(pthread_create(&thread, NULL, create_cache_in_thread, &call), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    destroy_cache(&f.client, call.cache);
    close(ends[0]);
    close(ends[1]);
    fixture_finish(&f);
}

/* How a child ends that does `act`; what it leaves alive is no leak of the test's. */
static int status_of(struct fixture *f, const struct blob *blob,
                     void (*act)(struct fixture *, const struct blob *))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        /* cmocka would turn these into failed tests. */
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        act(f, blob);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void act_create_cache(struct fixture *f, const struct blob *blob)
{
    create_cache(&f->client, blob->data, blob->size);
}

static void act_use_cache(struct fixture *f, const struct blob *blob)
{
    compile(f, create_cache(&f->client, blob->data, blob->size), 9, 1);
}

static void assert_dies(int status, int signal)
{
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
}

static void crashes_come_where_they_were_ordered(void **state)
{
    const struct blob empty = {NULL, 0};
    struct blob blob;
    struct fixture f;

    fixture_init(&f, "");
    blob = make_blob(&f, 1, 2);
    configure("fault=vkCreatePipelineCache,when=corrupt,crash=segv");
    assert_int_equal(status_of(&f, &blob, act_create_cache), 0);
    blob.data[blob.size - 1] ^= 1;
    assert_dies(status_of(&f, &blob, act_create_cache), SIGSEGV);
    configure("fault=vkCreatePipelineCache,when=data,crash=kill");
    assert_dies(status_of(&f, &blob, act_create_cache), SIGKILL);
    assert_int_equal(status_of(&f, &empty, act_create_cache), 0);
    configure("fault=vkCreate*Pipelines*,when=corrupt,crash=segv");
    assert_int_equal(status_of(&f, &blob, act_create_cache), 0);
    assert_dies(status_of(&f, &blob, act_use_cache), SIGSEGV);
    assert_int_equal(status_of(&f, &empty, act_use_cache), 0);
    configure("fault=vkCreate*Pipelines*,when=data,crash=abort");
    assert_dies(status_of(&f, &blob, act_use_cache), SIGABRT);
    free(blob.data);
    fixture_finish(&f);
}

static void lost_device_stays_lost(void **state)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    struct fixture f;
    VkFence fence;

    fixture_init(&f, "fault=vkQueueSubmit,call=2,result=-4");
    assert_int_equal(f.client.vkCreateFence(f.client.device, &fence_info, NULL, &fence), VK_SUCCESS);
    assert_int_equal(f.client.vkQueueSubmit(f.client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(f.client.vkDeviceWaitIdle(f.client.device), VK_SUCCESS);
    assert_int_equal(f.client.vkQueueSubmit(f.client.queue, 1, &submit, VK_NULL_HANDLE),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(f.client.vkQueueSubmit(f.client.queue, 1, &submit, fence), VK_ERROR_DEVICE_LOST);
    assert_int_equal(f.client.vkWaitForFences(f.client.device, 1, &fence, VK_TRUE, NO_TIMEOUT),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(f.client.vkDeviceWaitIdle(f.client.device), VK_ERROR_DEVICE_LOST);
    f.client.vkDestroyFence(f.client.device, fence, NULL);
    fixture_finish(&f);
}

static void journal_tells_what_was_handed_down(void **state)
{
    struct fault_record record;
    struct compute_info compute;
    uint8_t copy[4096];
    VkPipelineCache cache;
    VkPipeline pipeline;
    struct blob blob;
    struct fixture f;

    fixture_init(&f, "");
    blob = make_blob(&f, 1, 2);
    cache = create_cache(&f.client, blob.data, blob.size);
    assert_int_equal(fault_journal_count("vkCreatePipelineCache"), 2);
    assert_true(fault_journal_last("vkCreatePipelineCache", &record));
    assert_int_equal(record.size, blob.size);
    assert_true(record.has_data);
    assert_true(record.hash == fault_hash(blob.data, blob.size));
    assert_true(record.handle == (uintptr_t)cache);
    assert_int_equal(record.result, VK_SUCCESS);
    assert_int_equal(fault_last_cache_data(copy, sizeof(copy)), blob.size);
    assert_memory_equal(copy, blob.data, blob.size);

    compute_info_init(&compute, &f, 1, 0);
    assert_int_equal(
        f.client.vkCreateComputePipelines(f.client.device, cache, 1, &compute.info, NULL, &pipeline),
        VK_SUCCESS);
    assert_true(fault_journal_last("vkCreateComputePipelines", &record));
    assert_true(record.cache == (uintptr_t)cache);
    assert_int_equal(record.count, 1);
    assert_int_equal(record.chained, 0);
    assert_int_equal(record.hits, 1);
    assert_ptr_equal(record.infos, &compute.info);
    assert_true(is_hit(&f, cache, 1));
    assert_true(fault_journal_last("vkCreateComputePipelines", &record));
    assert_int_equal(record.chained, FAULT_CHAINED_FEEDBACK);
    assert_int_equal(fault_live_objects(VK_OBJECT_TYPE_PIPELINE), 1);
    f.client.vkDestroyPipeline(f.client.device, pipeline, NULL);
    assert_true(fault_journal_get(fault_journal_size() - 1, &record));
    assert_string_equal(record.name, "vkDestroyPipeline");
    assert_true(record.handle == (uintptr_t)pipeline);
    assert_false(fault_journal_get(fault_journal_size(), &record));
    destroy_cache(&f.client, cache);
    free(blob.data);
    fixture_finish(&f);
}

static void leaks_are_recorded(void **state)
{
    struct fault_record record;
    struct fixture f;
    uint32_t leaks = 0;

    fixture_init(&f, "");
    create_cache(&f.client, NULL, 0);
    vulkan_client_destroy(&f.client);
    vulkan_client_close(&f.client);
    for (uint32_t i = 0; fault_journal_get(i, &record); i++)
        leaks += record.event == FAULT_EVENT_LEAK && record.type == VK_OBJECT_TYPE_PIPELINE_CACHE;
    assert_int_equal(leaks, 1);
    assert_int_equal(fault_journal_events(FAULT_EVENT_LEAK), 3); /* and the fixture's module and layout */
    assert_int_equal(fault_live_objects(VK_OBJECT_TYPE_UNKNOWN), f.live_before);
}

static void journal_file_has_a_line_per_record(void **state)
{
    char path[] = "/tmp/fault_journal.XXXXXX";
    char text[512], line[1024], expected[64];
    int created = 0, crashed = 0, own = 0;
    int file = mkstemp(path);
    const struct blob empty = {NULL, 0};
    struct fixture f;
    FILE *stream;

    assert_true(file >= 0);
    close(file);
    snprintf(text, sizeof(text), "journal=%s;fault=vkCreatePipelineCache,call=2,crash=kill", path);
    fixture_init(&f, text);
    destroy_cache(&f.client, create_cache(&f.client, NULL, 0));
    assert_dies(status_of(&f, &empty, act_create_cache), SIGKILL);
    stream = fopen(path, "r");
    assert_non_null(stream);
    snprintf(expected, sizeof(expected), "pid=%ld ", (long)getpid());
    while (fgets(line, sizeof(line), stream)) {
        created += strstr(line, " call vkCreatePipelineCache result=0 ") != NULL;
        crashed +=
            strstr(line, " crash vkCreatePipelineCache ") && strncmp(line, expected, strlen(expected)) != 0;
        own += !strncmp(line, expected, strlen(expected));
        assert_non_null(strchr(line, '\n'));
    }
    fclose(stream);
    unlink(path);
    assert_int_equal(created, 1);
    assert_int_equal(crashed, 1);
    assert_int_equal(own, fault_journal_size());
    fixture_finish(&f);
}

static VkSemaphore create_timeline(struct vulkan_client *c)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore semaphore;

    assert_int_equal(c->vkCreateSemaphore(c->device, &info, NULL, &semaphore), VK_SUCCESS);
    return semaphore;
}

static void submit_waits_for_its_timeline(void **state)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct fixture f;
    struct vulkan_client *c = &f.client;
    VkSemaphore semaphore;
    VkFence fence;
    uint64_t value = 0;

    fixture_init(&f, "");
    semaphore = create_timeline(c);
    assert_int_equal(c->vkCreateFence(c->device, &fence_info, NULL, &fence), VK_SUCCESS);
    {
        const VkSemaphoreSubmitInfo wait = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, .semaphore = semaphore, .value = 1};
        const VkSemaphoreSubmitInfo signal = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, .semaphore = semaphore, .value = 2};
        const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                      .waitSemaphoreInfoCount = 1,
                                      .pWaitSemaphoreInfos = &wait,
                                      .signalSemaphoreInfoCount = 1,
                                      .pSignalSemaphoreInfos = &signal};
        const VkSemaphoreSignalInfo release = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = 1};

        assert_int_equal(c->vkQueueSubmit2(c->queue, 1, &submit, fence), VK_SUCCESS);
        assert_int_equal(c->vkGetFenceStatus(c->device, fence), VK_NOT_READY);
        assert_int_equal(c->vkWaitForFences(c->device, 1, &fence, VK_TRUE, 1000), VK_TIMEOUT);
        assert_int_equal(c->vkSignalSemaphore(c->device, &release), VK_SUCCESS);
        assert_int_equal(c->vkWaitForFences(c->device, 1, &fence, VK_TRUE, NO_TIMEOUT), VK_SUCCESS);
    }
    assert_int_equal(c->vkGetSemaphoreCounterValue(c->device, semaphore, &value), VK_SUCCESS);
    assert_int_equal(value, 2);
    c->vkDestroyFence(c->device, fence, NULL);
    c->vkDestroySemaphore(c->device, semaphore, NULL);
    fixture_finish(&f);
}

static void destruction_as_another_type_is_recorded(void **state)
{
    struct fixture f;
    struct vulkan_client *c = &f.client;
    VkSemaphore semaphore;

    fixture_init(&f, "");
    semaphore = create_timeline(c);
    c->vkDestroyFence(c->device, (VkFence)(uintptr_t)semaphore, NULL);
    assert_int_equal(fault_journal_events(FAULT_EVENT_MISUSE), 1);
    assert_int_equal(fault_live_objects(VK_OBJECT_TYPE_SEMAPHORE), 1);
    assert_int_equal(fault_reset(), 0);
    c->vkDestroySemaphore(c->device, semaphore, NULL);
    fixture_finish(&f);
}

static void graphics_pipelines_are_told_apart_by_their_state(void **state)
{
    VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .rasterizerDiscardEnable = VK_TRUE,
        .lineWidth = 1};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    /* With rasterization off these "are ignored": an application may leave them wild. */
    const void *wild = (const void *)(uintptr_t)0xdead0;
    VkPipelineCache cache;
    struct fixture f;
    struct vulkan_client *c = &f.client;

    fixture_init(&f, "");
    const VkPipelineShaderStageCreateInfo stage = {.sType =
                                                       VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                   .stage = VK_SHADER_STAGE_VERTEX_BIT,
                                                   .module = f.module,
                                                   .pName = "main"};
    const VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .stageCount = 1,
                                               .pStages = &stage,
                                               .pVertexInputState = &vertices,
                                               .pInputAssemblyState = &assembly,
                                               .pTessellationState = wild,
                                               .pViewportState = wild,
                                               .pRasterizationState = &rasterization,
                                               .pMultisampleState = wild,
                                               .pDepthStencilState = wild,
                                               .pColorBlendState = wild,
                                               .layout = f.layout};

    cache = create_cache(c, NULL, 0);
    for (uint32_t i = 0; i < 4; i++) {
        VkPipeline pipeline;

        assembly.topology = i & 1 ? VK_PRIMITIVE_TOPOLOGY_LINE_LIST : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
        assert_int_equal(c->vkCreateGraphicsPipelines(c->device, cache, 1, &info, NULL, &pipeline),
                         VK_SUCCESS);
        assert_int_equal(fault_cache_entries(cache), i == 0 ? 1 : 2);
        c->vkDestroyPipeline(c->device, pipeline, NULL);
    }
    rasterization.cullMode = VK_CULL_MODE_BACK_BIT;
    {
        VkPipeline pipeline;

        assert_int_equal(c->vkCreateGraphicsPipelines(c->device, cache, 1, &info, NULL, &pipeline),
                         VK_SUCCESS);
        c->vkDestroyPipeline(c->device, pipeline, NULL);
    }
    assert_int_equal(fault_cache_entries(cache), 3);
    destroy_cache(c, cache);
    fixture_finish(&f);
}

static VkCommandBuffer begin_commands(struct vulkan_client *c, VkCommandPool *pool)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandBufferCount = 1};
    VkCommandBuffer buffer;

    assert_int_equal(c->vkCreateCommandPool(c->device, &pool_info, NULL, pool), VK_SUCCESS);
    allocate.commandPool = *pool;
    assert_int_equal(c->vkAllocateCommandBuffers(c->device, &allocate, &buffer), VK_SUCCESS);
    assert_int_equal(c->vkBeginCommandBuffer(buffer, &begin), VK_SUCCESS);
    return buffer;
}

static void commands_are_recorded_with_their_arguments(void **state)
{
    const struct arguments_vkCmdPipelineBarrier *first;
    const struct arguments_vkCmdPipelineBarrier2 *second;
    const VkMemoryBarrier2 *inner;
    VkCommandBuffer buffer;
    VkCommandPool pool;
    struct fixture f;

    fixture_init(&f, "");
    buffer = begin_commands(&f.client, &pool);
    {
        VkMemoryBarrier memory[2] = {{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = 1},
                                     {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = 2}};
        VkMemoryBarrier2 chained = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, .srcStageMask = 3};
        VkMemoryBarrier2 barrier = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, .pNext = &chained, .srcStageMask = 4};
        VkDependencyInfo dependency = {
            .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};

        f.client.vkCmdPipelineBarrier(buffer, 1, 2, 0, 2, memory, 0, NULL, 0, NULL);
        f.client.vkCmdPipelineBarrier2(buffer, &dependency);
        memset(memory, 0xff, sizeof(memory));
        memset(&chained, 0xff, sizeof(chained));
        memset(&barrier, 0xff, sizeof(barrier));
        memset(&dependency, 0xff, sizeof(dependency));
    }
    assert_int_equal(f.client.vkEndCommandBuffer(buffer), VK_SUCCESS);
    assert_int_equal(fault_command_count(buffer), 2);
    assert_string_equal(fault_command_name(buffer, 0), "vkCmdPipelineBarrier");
    assert_string_equal(fault_command_name(buffer, 1), "vkCmdPipelineBarrier2");
    assert_null(fault_command_name(buffer, 2));
    first = fault_command_arguments(buffer, 0);
    assert_int_equal(first->memoryBarrierCount, 2);
    assert_int_equal(first->pMemoryBarriers[1].srcAccessMask, 2);
    assert_null(first->pImageMemoryBarriers);
    second = fault_command_arguments(buffer, 1);
    assert_int_equal(second->pDependencyInfo->pMemoryBarriers[0].srcStageMask, 4);
    inner = second->pDependencyInfo->pMemoryBarriers[0].pNext;
    assert_int_equal(inner->srcStageMask, 3);
    assert_int_equal(fault_journal_count("vkCmdPipelineBarrier"), 1);
    f.client.vkDestroyCommandPool(f.client.device, pool, NULL);
    fixture_finish(&f);
}

/* A dependency with one barrier, and a structure chained to that. */
static void record_dependency(const struct fixture *f, VkCommandBuffer buffer, VkPipelineStageFlags2 stage,
                              VkPipelineStageFlags2 chained_stage)
{
    VkMemoryBarrier2 chained = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, .srcStageMask = chained_stage};
    VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, .pNext = &chained, .srcStageMask = stage};
    VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};

    f->client.vkCmdPipelineBarrier2(buffer, &dependency);
}

static void commands_are_compared_with_all_that_they_point_to(void **state)
{
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = 1};
    VkCommandBuffer buffer;
    VkCommandPool pool;
    struct fixture f;

    fixture_init(&f, "");
    buffer = begin_commands(&f.client, &pool);
    record_dependency(&f, buffer, 1, 1);
    record_dependency(&f, buffer, 1, 1);
    record_dependency(&f, buffer, 2, 1);
    record_dependency(&f, buffer, 1, 2);
    f.client.vkCmdPipelineBarrier(buffer, 1, 2, 0, 1, &memory, 0, NULL, 0, NULL);
    f.client.vkCmdPipelineBarrier(buffer, 1, 2, 0, 0, NULL, 0, NULL, 0, NULL);
    f.client.vkCmdPipelineBarrier(buffer, 1, 2, 0, 0, NULL, 0, NULL, 0, NULL);
    assert_int_equal(f.client.vkEndCommandBuffer(buffer), VK_SUCCESS);
    assert_true(fault_command_equal(buffer, 0, buffer, 1));
    assert_true(fault_command_equal(buffer, 5, buffer, 6));
    for (uint32_t i = 2; i < 7; i++)
        assert_false(fault_command_equal(buffer, 0, buffer, i));
    assert_false(fault_command_equal(buffer, 4, buffer, 5));
    assert_false(fault_command_equal(buffer, 6, buffer, 7));
    f.client.vkDestroyCommandPool(f.client.device, pool, NULL);
    fixture_finish(&f);
}

static void executed_commands_set_events(void **state)
{
    const VkEventCreateInfo event_info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1};
    VkCommandBuffer buffer;
    VkCommandPool pool;
    VkEvent event;
    struct fixture f;

    fixture_init(&f, "");
    assert_int_equal(f.client.vkCreateEvent(f.client.device, &event_info, NULL, &event), VK_SUCCESS);
    buffer = begin_commands(&f.client, &pool);
    f.client.vkCmdSetEvent(buffer, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_int_equal(f.client.vkEndCommandBuffer(buffer), VK_SUCCESS);
    assert_int_equal(f.client.vkGetEventStatus(f.client.device, event), VK_EVENT_RESET);
    submit.pCommandBuffers = &buffer;
    assert_int_equal(f.client.vkQueueSubmit(f.client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(f.client.vkGetEventStatus(f.client.device, event), VK_EVENT_SET);
    f.client.vkDestroyEvent(f.client.device, event, NULL);
    f.client.vkDestroyCommandPool(f.client.device, pool, NULL);
    fixture_finish(&f);
}

static void deferred_pipelines_are_made_by_the_join(void **state)
{
    const char *const names[] = {"VK_KHR_deferred_host_operations", "VK_KHR_acceleration_structure",
                                 "VK_KHR_ray_tracing_pipeline"};
    const struct vulkan_client_config config = {.device_extension_count = 3, .device_extensions = names};
    struct fixture f;
    struct vulkan_client *c = &f.client;
    VkDeferredOperationKHR operation;
    struct fault_record record;
    VkPipelineCache cache;
    VkPipeline pipeline = VK_NULL_HANDLE;

    for (int defer = 0; defer < 2; defer++) {
        fixture_init_config(&f, defer ? "" : "defer=0", &config);
        const VkPipelineShaderStageCreateInfo stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_RAYGEN_BIT_KHR,
            .module = f.module,
            .pName = "main"};
        const VkRayTracingPipelineCreateInfoKHR info = {
            .sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
            .stageCount = 1,
            .pStages = &stage,
            .layout = f.layout};

        cache = create_cache(c, NULL, 0);
        assert_int_equal(c->vkCreateDeferredOperationKHR(c->device, NULL, &operation), VK_SUCCESS);
        assert_int_equal(
            c->vkCreateRayTracingPipelinesKHR(c->device, operation, cache, 1, &info, NULL, &pipeline),
            defer ? VK_OPERATION_DEFERRED_KHR : VK_OPERATION_NOT_DEFERRED_KHR);
        assert_int_equal(fault_live_objects(VK_OBJECT_TYPE_PIPELINE), !defer);
        if (defer) {
            assert_int_equal(c->vkGetDeferredOperationResultKHR(c->device, operation), VK_NOT_READY);
            assert_int_equal(c->vkDeferredOperationJoinKHR(c->device, operation), VK_SUCCESS);
            assert_int_equal(c->vkGetDeferredOperationResultKHR(c->device, operation), VK_SUCCESS);
            assert_true(fault_journal_last("vkDeferredOperationJoinKHR", &record));
            assert_int_equal(record.misses, 1);
        }
        assert_int_equal(fault_cache_entries(cache), 1);
        c->vkDestroyDeferredOperationKHR(c->device, operation, NULL);
        c->vkDestroyPipeline(c->device, pipeline, NULL);
        destroy_cache(c, cache);
        fixture_finish(&f);
    }
}

#ifdef VK_KHR_pipeline_binary
static void binaries_make_pipelines_without_compiling(void **state)
{
    const char *const names[] = {"VK_KHR_pipeline_binary", "VK_KHR_maintenance5"};
    const struct vulkan_client_config config = {.device_extension_count = 2, .device_extensions = names};
    VkPipelineBinaryCreateInfoKHR create = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_CREATE_INFO_KHR};
    VkPipelineBinaryHandlesInfoKHR handles = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_HANDLES_INFO_KHR};
    VkPipelineBinaryDataInfoKHR data_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_DATA_INFO_KHR};
    VkPipelineBinaryKeyKHR key = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_KEY_KHR};
    VkPipelineBinaryInfoKHR chained = {.sType = VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR, .binaryCount = 1};
    struct fault_record record;
    struct compute_info compute;
    VkPipelineBinaryKHR binary;
    VkPipeline pipeline, again;
    uint8_t buffer[1024];
    size_t size = 0;
    struct fixture f;
    struct vulkan_client *c = &f.client;

    fixture_init_config(&f, "", &config);
    PFN_vkCreatePipelineBinariesKHR create_binaries =
        (PFN_vkCreatePipelineBinariesKHR)c->vkGetDeviceProcAddr(c->device, "vkCreatePipelineBinariesKHR");
    PFN_vkGetPipelineBinaryDataKHR get_binary =
        (PFN_vkGetPipelineBinaryDataKHR)c->vkGetDeviceProcAddr(c->device, "vkGetPipelineBinaryDataKHR");
    PFN_vkDestroyPipelineBinaryKHR destroy_binary =
        (PFN_vkDestroyPipelineBinaryKHR)c->vkGetDeviceProcAddr(c->device, "vkDestroyPipelineBinaryKHR");

    compute_info_init(&compute, &f, 1, 0);
    assert_int_equal(
        c->vkCreateComputePipelines(c->device, VK_NULL_HANDLE, 1, &compute.info, NULL, &pipeline),
        VK_SUCCESS);
    create.pipeline = pipeline;
    assert_int_equal(create_binaries(c->device, &create, NULL, &handles), VK_SUCCESS);
    assert_int_equal(handles.pipelineBinaryCount, 1);
    handles.pPipelineBinaries = &binary;
    assert_int_equal(create_binaries(c->device, &create, NULL, &handles), VK_SUCCESS);
    data_info.pipelineBinary = binary;
    assert_int_equal(get_binary(c->device, &data_info, &key, &size, NULL), VK_SUCCESS);
    assert_in_range(size, 1, sizeof(buffer));
    size--;
    assert_int_equal(get_binary(c->device, &data_info, &key, &size, buffer), VK_ERROR_NOT_ENOUGH_SPACE_KHR);
    assert_int_equal(get_binary(c->device, &data_info, &key, &size, buffer), VK_SUCCESS);
    chained.pPipelineBinaries = &binary;
    compute.info.pNext = &chained;
    assert_int_equal(c->vkCreateComputePipelines(c->device, VK_NULL_HANDLE, 1, &compute.info, NULL, &again),
                     VK_SUCCESS);
    assert_true(fault_journal_last("vkCreateComputePipelines", &record));
    assert_int_equal(record.chained, FAULT_CHAINED_BINARY);
    assert_int_equal(record.misses, 0);
    destroy_binary(c->device, binary, NULL);
    c->vkDestroyPipeline(c->device, again, NULL);
    c->vkDestroyPipeline(c->device, pipeline, NULL);
    fixture_finish(&f);
}

static void flags2_replace_flags(void **state)
{
    const char *const names[] = {"VK_KHR_maintenance5"};
    const struct vulkan_client_config config = {.device_extension_count = 1, .device_extensions = names};
    const VkPipelineCreateFlags2CreateInfoKHR flags = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR,
        .flags = VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT_KHR};
    struct fault_record record;
    struct compute_info compute;
    VkPipeline pipeline;
    struct fixture f;
    struct vulkan_client *c = &f.client;

    fixture_init_config(&f, "", &config);
    compute_info_init(&compute, &f, 1, 0);
    compute.info.pNext = &flags;
    assert_int_equal(
        c->vkCreateComputePipelines(c->device, VK_NULL_HANDLE, 1, &compute.info, NULL, &pipeline),
        VK_PIPELINE_COMPILE_REQUIRED);
    assert_true(pipeline == VK_NULL_HANDLE);
    assert_true(fault_journal_last("vkCreateComputePipelines", &record));
    assert_int_equal(record.chained, FAULT_CHAINED_FLAGS2);
    assert_int_equal(record.flags, VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT);
    fixture_finish(&f);
}
#endif

#define THREADS 8
#define PIPELINES_PER_THREAD 20

struct worker {
    struct fixture *fixture;
    VkPipelineCache cache;
    uint32_t first;
};

static void *compile_and_fetch(void *context)
{
    struct worker *worker = context;

    for (uint32_t i = 0; i < PIPELINES_PER_THREAD; i++) {
        uint8_t buffer[1024];
        size_t size = sizeof(buffer);

        compile(worker->fixture, worker->cache, worker->first + i, 1);
        assert_true(worker->fixture->client.vkGetPipelineCacheData(worker->fixture->client.device,
                                                                   worker->cache, &size, buffer) >= 0);
    }
    return NULL;
}

static void cache_may_be_used_by_many_threads(void **state)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    VkPipelineCache cache;
    struct fixture f;

    fixture_init(&f, "");
    cache = create_cache(&f.client, NULL, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){&f, cache, i * PIPELINES_PER_THREAD / 2};
        assert_int_equal(pthread_create(&threads[i], NULL, compile_and_fetch, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(fault_cache_entries(cache), (THREADS + 1) * PIPELINES_PER_THREAD / 2);
    destroy_cache(&f.client, cache);
    fixture_finish(&f);
}

static void swapchain_images_come_back_by_presenting(void **state)
{
    const char *const instance_names[] = {"VK_KHR_surface", "VK_EXT_headless_surface"};
    const char *const device_names[] = {"VK_KHR_swapchain"};
    const struct vulkan_client_config config = {.instance_extension_count = 2,
                                                .instance_extensions = instance_names,
                                                .device_extension_count = 1,
                                                .device_extensions = device_names};
    const VkHeadlessSurfaceCreateInfoEXT surface_info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .minImageCount = 2,
                                     .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                     .imageExtent = {64, 64},
                                     .imageArrayLayers = 1,
                                     .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, .swapchainCount = 1};
    struct fixture f;
    struct vulkan_client *c = &f.client;
    VkSwapchainKHR swapchain;
    VkFence fence;
    uint32_t index[3];

    fixture_init_config(&f, "", &config);
    assert_int_equal(c->vkCreateHeadlessSurfaceEXT(c->instance, &surface_info, NULL, &info.surface),
                     VK_SUCCESS);
    assert_int_equal(c->vkCreateSwapchainKHR(c->device, &info, NULL, &swapchain), VK_SUCCESS);
    assert_int_equal(c->vkCreateFence(c->device, &fence_info, NULL, &fence), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(c->vkAcquireNextImageKHR(c->device, swapchain, 0, VK_NULL_HANDLE, fence, &index[i]),
                         VK_SUCCESS);
    assert_int_equal(c->vkGetFenceStatus(c->device, fence), VK_SUCCESS);
    assert_int_not_equal(index[0], index[1]);
    assert_int_equal(c->vkAcquireNextImageKHR(c->device, swapchain, 0, VK_NULL_HANDLE, fence, &index[2]),
                     VK_NOT_READY);
    present.pSwapchains = &swapchain;
    present.pImageIndices = &index[1];
    assert_int_equal(c->vkQueuePresentKHR(c->queue, &present), VK_SUCCESS);
    assert_int_equal(c->vkAcquireNextImageKHR(c->device, swapchain, 0, VK_NULL_HANDLE, fence, &index[2]),
                     VK_SUCCESS);
    assert_int_equal(index[2], index[1]);
    c->vkDestroyFence(c->device, fence, NULL);
    c->vkDestroySwapchainKHR(c->device, swapchain, NULL);
    c->vkDestroySurfaceKHR(c->instance, info.surface, NULL);
    fixture_finish(&f);
}

static void memory_is_real(void **state)
{
    const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                            .size = 1000,
                                            .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .memoryTypeIndex = 2};
    VkMemoryRequirements requirements;
    struct fixture f;
    struct vulkan_client *c = &f.client;
    VkDeviceMemory memory;
    VkBuffer buffer;
    void *data;

    fixture_init(&f, "fault=vkAllocateMemory,call=2,result=-2");
    assert_int_equal(c->vkCreateBuffer(c->device, &buffer_info, NULL, &buffer), VK_SUCCESS);
    c->vkGetBufferMemoryRequirements(c->device, buffer, &requirements);
    assert_true(requirements.size >= 1000);
    allocate.allocationSize = requirements.size;
    assert_int_equal(c->vkAllocateMemory(c->device, &allocate, NULL, &memory), VK_SUCCESS);
    assert_int_equal(c->vkBindBufferMemory(c->device, buffer, memory, 0), VK_SUCCESS);
    assert_int_equal(c->vkMapMemory(c->device, memory, 0, VK_WHOLE_SIZE, 0, &data), VK_SUCCESS);
    memset(data, 0x5a, (size_t)requirements.size);
    c->vkUnmapMemory(c->device, memory);
    c->vkDestroyBuffer(c->device, buffer, NULL);
    c->vkFreeMemory(c->device, memory, NULL);
    assert_int_equal(c->vkAllocateMemory(c->device, &allocate, NULL, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    fixture_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_is_what_was_configured),
        cmocka_unit_test(uuid_follows_the_driver_version_unless_told_otherwise),
        cmocka_unit_test(device_groups_lead_to_the_same_devices),
        cmocka_unit_test(functions_exist_where_version_or_extension_has_them),
        cmocka_unit_test(vulkan_1_0_device_has_no_later_functions),
        cmocka_unit_test(extensions_and_features_can_be_hidden_and_shown),
        cmocka_unit_test(extension_that_is_not_there_fails_the_device),
        cmocka_unit_test(feature_structure_can_fail_the_device),
        cmocka_unit_test(configuration_that_is_not_understood_is_refused),
        cmocka_unit_test(environment_configures_too),
        cmocka_unit_test(cache_round_trip),
        cmocka_unit_test(data_does_not_depend_on_order_or_process_history),
        cmocka_unit_test(partial_fetches_write_whole_entries_only),
        cmocka_unit_test(merge_unites),
        cmocka_unit_test(foreign_data_gives_an_empty_cache),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(compile_required_is_reported_and_early_return_obeyed),
        cmocka_unit_test(driver_may_keep_nothing),
        cmocka_unit_test(driver_may_echo_behind_a_new_header),
        cmocka_unit_test(header_may_be_another),
        cmocka_unit_test(rule_acts_on_the_calls_it_names),
        cmocka_unit_test(creation_with_data_can_fail_or_drop_it),
        cmocka_unit_test(data_can_grow_between_query_and_fetch),
        cmocka_unit_test(get_data_can_be_made_to_lie),
        cmocka_unit_test(calls_and_misses_can_cost_time),
        cmocka_unit_test(blocked_call_waits_for_the_flag),
        cmocka_unit_test(blocked_call_waits_for_a_file),
        cmocka_unit_test(crashes_come_where_they_were_ordered),
        cmocka_unit_test(lost_device_stays_lost),
        cmocka_unit_test(journal_tells_what_was_handed_down),
        cmocka_unit_test(leaks_are_recorded),
        cmocka_unit_test(journal_file_has_a_line_per_record),
        cmocka_unit_test(submit_waits_for_its_timeline),
        cmocka_unit_test(destruction_as_another_type_is_recorded),
        cmocka_unit_test(graphics_pipelines_are_told_apart_by_their_state),
        cmocka_unit_test(commands_are_recorded_with_their_arguments),
        cmocka_unit_test(commands_are_compared_with_all_that_they_point_to),
        cmocka_unit_test(executed_commands_set_events),
        cmocka_unit_test(deferred_pipelines_are_made_by_the_join),
#ifdef VK_KHR_pipeline_binary
        cmocka_unit_test(binaries_make_pipelines_without_compiling),
        cmocka_unit_test(flags2_replace_flags),
#endif
        cmocka_unit_test(cache_may_be_used_by_many_threads),
        cmocka_unit_test(swapchain_images_come_back_by_presenting),
        cmocka_unit_test(memory_is_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
