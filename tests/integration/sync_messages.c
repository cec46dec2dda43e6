/* What debug-utils messengers hear of layouts and barriers: repairs as information, in report mode faults as
 * validation would tell of them. */
#include "submit_app.h"

#define HEARD_MAX 8

struct message {
    VkDebugUtilsMessageSeverityFlagBitsEXT severity;
    VkDebugUtilsMessageTypeFlagsEXT type;
    int32_t number;
    char text[600];
};

struct listener {
    struct submit_app app;
    VkDebugUtilsMessengerEXT messenger;
    struct message heard[HEARD_MAX];
    uint32_t count;
    bool ready; /* no create or destroy call is running */
};

static VKAPI_ATTR VkBool32 VKAPI_CALL listen(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                             VkDebugUtilsMessageTypeFlagsEXT type,
                                             const VkDebugUtilsMessengerCallbackDataEXT *data, void *context)
{
    struct listener *listener = context;
    if (!data->pMessageIdName || strcmp(data->pMessageIdName, "robust_cache") != 0)
        return VK_FALSE;
    CHECK(listener->ready && listener->count < HEARD_MAX);
    struct message *message = &listener->heard[listener->count++];
    *message = (struct message){.severity = severity, .type = type, .number = data->messageIdNumber};
    snprintf(message->text, sizeof(message->text), "%s", data->pMessage);
    /* Whoever listens may call Vulkan, and be heard again. */
    submit_app_submit(listener->app.queue, NULL, NULL);
    return VK_TRUE; /* to be ignored */
}

static PFN_vkVoidFunction instance_command(const struct listener *listener, const char *name)
{
    PFN_vkVoidFunction command = vkGetInstanceProcAddr(listener->app.instance, name);
    CHECK(command);
    return command;
}

static void begin(struct listener *listener)
{
    const VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType =
            VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = listen,
        .pUserData = listener};
    memset(listener, 0, sizeof(*listener));
    submit_app_open_with(&listener->app, &(struct submit_app_config){.debug_utils = true});
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)instance_command(listener, "vkCreateDebugUtilsMessengerEXT");
    CHECK_EQUAL(create(listener->app.instance, &info, NULL, &listener->messenger), VK_SUCCESS);
    listener->ready = true;
}

static void end(struct listener *listener)
{
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)instance_command(listener, "vkDestroyDebugUtilsMessengerEXT");
    destroy(listener->app.instance, listener->messenger, NULL);
    listener->ready = false;
    submit_app_close(&listener->app);
}

/* Faults in a command buffer, at a submit and at a present: each is heard when that call returns. */
static void make_faults(struct listener *listener)
{
    struct submit_app *app = &listener->app;
    VkImage image = submit_app_image(app), images[2];
    VkCommandBuffer commands = submit_app_begin(app, FAMILY_ALL);
    submit_app_move(commands, image, UNDEFINED, DST);
    submit_app_clear(commands, image, DST);
    submit_app_read(app, commands, image, SRC);
    CHECK_EQUAL(listener->count, 0);
    submit_app_end(commands);
    CHECK_EQUAL(listener->count, 1);
    submit_app_submit(app->queue, commands, NULL);
    submit_app_submit(app->queue, submit_app_mover(app, image, SRC, GENERAL), NULL);
    VkCommandBuffer reader = submit_app_reader(app, image);
    CHECK_EQUAL(listener->count, 1);
    submit_app_submit(app->queue, reader, NULL);
    CHECK_EQUAL(listener->count, 2);
    submit_app_swapchain(app, images);
    VkSemaphore acquired = submit_app_semaphore(app), rendered = submit_app_semaphore(app);
    uint32_t index = submit_app_acquire(app, acquired);
    submit_app_submit(app->queue, submit_app_mover(app, images[index], UNDEFINED, DST),
                      &(struct submit_sync){.wait = acquired, .signal = rendered});
    CHECK_EQUAL(listener->count, 2);
    CHECK_EQUAL(submit_app_present(app, app->queue, index, rendered), VK_SUCCESS);
    CHECK_EQUAL(listener->count, 3);
}

/* "<kind> [<fingerprint>]: ..." */
static uint64_t fingerprint_of(const char *text)
{
    const char *open = strstr(text, " [");
    char *end;
    CHECK_SAY(open != NULL, "%s", text);
    uint64_t fingerprint = strtoull(open + 2, &end, 16);
    CHECK_SAY(end == open + 18 && strncmp(end, "]: ", 3) == 0, "%s", text);
    return fingerprint;
}

static const char *const kinds[] = {"missing transition [", "missing transition [",
                                    "presented in a wrong layout ["};

static void run_repaired(void *context)
{
    struct listener listener;
    (void)context;
    begin(&listener);
    make_faults(&listener);
    for (uint32_t i = 0; i < listener.count; i++) {
        const struct message *message = &listener.heard[i];
        CHECK_EQUAL(message->severity, VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT);
        CHECK_EQUAL(message->type, VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT);
        CHECK_EQUAL(message->number, 0);
        CHECK_SAY(strncmp(message->text, kinds[i], strlen(kinds[i])) == 0, "%s", message->text);
        CHECK_SAY(strstr(message->text, "; repaired "), "%s", message->text);
        CHECK(fingerprint_of(message->text) != 0);
    }
    end(&listener);
}

static void run_reported(void *context)
{
    struct listener listener;
    (void)context;
    begin(&listener);
    make_faults(&listener);
    for (uint32_t i = 0; i < listener.count; i++) {
        const struct message *message = &listener.heard[i];
        CHECK_EQUAL(message->severity, VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT);
        CHECK_EQUAL(message->type, VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT);
        CHECK_SAY(strncmp(message->text, kinds[i], strlen(kinds[i])) == 0, "%s", message->text);
        CHECK_SAY(strstr(message->text, "; not repaired"), "%s", message->text);
        CHECK_EQUAL((uint32_t)message->number, (uint32_t)fingerprint_of(message->text));
    }
    end(&listener);
}

static void test_repairs(void **state)
{
    (void)state;
    run_complete(run_repaired, NULL);
    CHECK_EQUAL(report_count("repair", ""), 3);
}

/* Fingerprints are the same in each run. */
static void test_faults(void **state)
{
    (void)state;
    layer_set("BARRIERS", "report");
    run_complete(run_reported, NULL);
    CHECK_EQUAL(report_count("fault", ""), 3);
    CHECK_EQUAL(lines_count(LOG_FILE, "error: ", "not repaired"), 3);
    struct bytes log = file_read(scratch_path(LOG_FILE));
    char text[32];
    log.data[log.size - 1] = '\0';
    snprintf(text, sizeof(text), "[%016llx]",
             (unsigned long long)fingerprint_of(strstr((char *)log.data, "missing")));
    bytes_finish(&log);
    run_complete(run_reported, NULL);
    CHECK_EQUAL(lines_count(LOG_FILE, "error: ", text), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_repairs),
        HARNESS_TEST(test_faults),
    };
    return cmocka_run_group_tests_name("sync_messages", tests, NULL, NULL);
}
