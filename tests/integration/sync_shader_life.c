/* Thousands of frames that draw, in flat memory; threads that record with the same sets and pipelines. L36,
 * L41. */
#include "shader_app.h"

#include <malloc.h>
#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
/* Of the sanitizers' run-time library; gcc doesn't come with its header everywhere. */
size_t __sanitizer_get_current_allocated_bytes(void);
#define FRAMES 1000u
#define ROUNDS 50u
static size_t memory_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
#define FRAMES 10000u
#define ROUNDS 300u
static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

#define ONE ((VkImageSubresourceRange){COLOR_BIT, 0, 1, 0, 1})
#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER

static VkCommandPool create_pool(const struct record_app *app)
{
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = app->family};
    VkCommandPool pool;
    CHECK_EQUAL(app->layer.CreateCommandPool(app->device, &info, NULL, &pool), VK_SUCCESS);
    return pool;
}

static VkCommandBuffer allocate(const struct record_app *app, VkCommandPool pool)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .commandBufferCount = 1};
    VkCommandBuffer cb;
    CHECK_EQUAL(app->layer.AllocateCommandBuffers(app->device, &info, &cb), VK_SUCCESS);
    return cb;
}

static void begin(const struct record_app *app, VkCommandBuffer cb)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK_EQUAL(app->layer.BeginCommandBuffer(cb, &info), VK_SUCCESS);
}

/* What a thread, or the only one, renders with: two images, in its own pool; all else is shared. */
struct painter {
    const struct record_app *app;
    struct shader_target source, out;
    VkDescriptorSet set;
    VkCommandPool pool;
    VkCommandBuffer cb;
};

struct shared {
    struct shaders shaders;
    VkPipeline sample, convert;
    VkDescriptorSet third_set;   /* of an image that stays in SHADER */
    VkDescriptorSet convert_set; /* reads it, too */
};

static struct shared shared;

static struct painter create_painter(const struct record_app *app, uint32_t number)
{
    VkImage images[] = {app->images[IMAGE_MANY + 2 * number], app->images[IMAGE_MANY + 2 * number + 1]};
    struct painter painter = {.app = app, .pool = create_pool(app)};
    painter.source = shaders_target(&shared.shaders, images[0], shaders_view(&shared.shaders, images[0], ONE),
                                    ONE, RECORD_SIDE);
    painter.out = shaders_target(&shared.shaders, images[1], shaders_view(&shared.shaders, images[1], ONE),
                                 ONE, RECORD_SIDE);
    painter.set = shaders_one(&shared.shaders, painter.source.view, SHADER);
    painter.cb = allocate(app, painter.pool);
    return painter;
}

static void draw(const struct record_vk *vk, VkCommandBuffer cb, VkDescriptorSet set)
{
    shaders_draw(vk, cb, shared.sample, shared.shaders.one_layout, 1, &set);
}

/* An instance that is held and repaired, a dispatch, and one that would be held in vain. */
static void paint(const struct painter *painter, enum shader_pass kind)
{
    const struct record_vk *vk = &painter->app->layer;
    VkCommandBuffer cb = painter->cb;
    begin(painter->app, cb);
    shaders_prepare(painter->app, vk, cb, &painter->source);
    shaders_prepare(painter->app, vk, cb, &painter->out);
    shaders_begin(vk, cb, kind, &painter->source, false);
    draw(vk, cb, shared.third_set);
    shaders_end(vk, cb, kind);
    shaders_begin(vk, cb, kind, &painter->out, false);
    for (int i = 0; i < 8; i++) {
        draw(vk, cb, shared.third_set);
        draw(vk, cb, painter->set);
    }
    shaders_end(vk, cb, kind);
    shaders_dispatch(vk, cb, shared.convert, shared.shaders.convert_layout, shared.convert_set);
    shaders_prepare(painter->app, vk, cb, &painter->source);
    shaders_begin(vk, cb, kind, &painter->source, false);
    draw(vk, cb, shared.third_set);
    shaders_end(vk, cb, kind);
    CHECK_EQUAL(vk->EndCommandBuffer(cb), VK_SUCCESS);
}

static void set_up(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    VkImage third = app->images[IMAGE_COLOR];
    record_move(vk, cb, third, (struct record_range){0}, UNDEFINED, DST);
    record_clear(vk, cb, third, (struct record_range){0}, DST);
    record_move(vk, cb, third, (struct record_range){0}, DST, SHADER);
    record_move(vk, cb, app->images[IMAGE_OTHER], (struct record_range){0}, UNDEFINED, GENERAL);
}

static void open_objects(struct record_app *app, void *options)
{
    record_app_open(app, options);
    shaders_open(&shared.shaders, app);
    shared.sample = shaders_graphics(&shared.shaders, shared.shaders.one_layout, SHADER_SAMPLE);
    shared.convert = shaders_compute(&shared.shaders, shared.shaders.convert_layout, SHADER_CONVERT);
    shared.third_set = shaders_one(&shared.shaders, app->views[VIEW_COLOR], SHADER);
    shared.convert_set = shaders_set(&shared.shaders, shared.shaders.convert);
    shaders_write(&shared.shaders, shared.convert_set, 0, 0, SAMPLED, app->views[VIEW_COLOR], SHADER);
    shaders_write(&shared.shaders, shared.convert_set, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                  app->views[VIEW_OTHER], GENERAL);
    record_run(app, record_one(app, set_up, NULL), "set up");
}

static void close_objects(struct record_app *app)
{
    shaders_close(&shared.shaders);
    record_app_close(app);
}

/* --- Frames --- */

/* Sets, a pool, a template and a pipeline come and go with each. */
static void make_and_drop(const struct painter *painter, uint32_t n)
{
    const VkDescriptorUpdateTemplateEntry entry = {0, 0, 1, SAMPLED, 0, 0};
    VkDescriptorUpdateTemplateCreateInfo info = {.sType =
                                                     VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
                                                 .descriptorUpdateEntryCount = 1,
                                                 .pDescriptorUpdateEntries = &entry,
                                                 .descriptorSetLayout = shared.shaders.one};
    struct shaders *shaders = &shared.shaders;
    VkDevice device = painter->app->device;
    VkDescriptorPool kept = shaders->pool;
    VkDescriptorUpdateTemplate update;
    VkDescriptorImageInfo image = shaders_image(shaders, painter->source.view, SHADER);
    shaders->pool = shaders_pool(shaders);
    CHECK_EQUAL(vkCreateDescriptorUpdateTemplate(device, &info, NULL, &update), VK_SUCCESS);
    for (int i = 0; i < 4; i++) {
        VkDescriptorSet set = shaders_one(shaders, painter->out.view, GENERAL);
        vkUpdateDescriptorSetWithTemplate(device, set, update, &image);
        if (i == 0)
            CHECK_EQUAL(vkFreeDescriptorSets(device, shaders->pool, 1, &set), VK_SUCCESS);
    }
    vkDestroyDescriptorUpdateTemplate(device, update, NULL);
    if (n % 2)
        CHECK_EQUAL(vkResetDescriptorPool(device, shaders->pool, 0), VK_SUCCESS);
    shaders_destroy(shaders, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)shaders->pool);
    shaders->pool = kept;
    if (n % 16 == 0) {
        VkPipeline pipeline = shaders_graphics(shaders, shaders->one_layout, SHADER_SAMPLE);
        shaders_destroy(shaders, VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    }
}

static void run_frames(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    struct painter painter = create_painter(&app, 0);
    size_t warm = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        paint(&painter, (enum shader_pass)(i % SHADER_PASSES));
        if (i % 16 == 0)
            record_run(&app, painter.cb, "frame");
        make_and_drop(&painter, i);
        if (i + 1 == FRAMES / 10)
            warm = memory_in_use();
    }
    size_t after = memory_in_use();
    CHECK_SAY(after < warm + 64 * 1024, "%zu bytes in use, then %zu", warm, after);
    vkDestroyCommandPool(app.device, painter.pool, NULL);
    close_objects(&app);
}

static void test_frames(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    driver_set("journal=;oracle=1");
    run_complete(run_frames, &options);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), FRAMES);
    CHECK_EQUAL(report_number("barriers", "passes_held"),
                FRAMES + report_number("barriers", "passes_held_in_vain"));
    CHECK(report_number("barriers", "passes_held_in_vain") <= 2 * 2);
}

/* --- Threads --- */

#define THREADS 4

static void *paint_many(void *context)
{
    struct painter *painter = context;
    for (uint32_t i = 0; i < ROUNDS; i++)
        paint(painter, (enum shader_pass)(i % SHADER_PASSES));
    return NULL;
}

/* They make their own pipelines and sets meanwhile. */
static void *create_many(void *context)
{
    const struct painter *painter = context;
    for (uint32_t i = 0; i < ROUNDS; i++)
        make_and_drop(painter, i);
    return NULL;
}

static void run_threads(void *context)
{
    struct record_app app;
    struct painter painters[THREADS + 1];
    pthread_t threads[THREADS + 1];
    open_objects(&app, context);
    for (uint32_t i = 0; i <= THREADS; i++)
        painters[i] = create_painter(&app, i);
    for (uint32_t i = 0; i <= THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, i < THREADS ? paint_many : create_many, &painters[i]),
                    0);
    for (uint32_t i = 0; i <= THREADS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        record_run(&app, painters[i].cb, "of a thread");
    for (uint32_t i = 0; i <= THREADS; i++)
        vkDestroyCommandPool(app.device, painters[i].pool, NULL);
    close_objects(&app);
}

static void test_threads(void **state)
{
    struct record_options options = {.shaders = true};
    (void)state;
    driver_set("journal=;oracle=1");
    run_complete(run_threads, &options);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), THREADS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_frames),
        HARNESS_TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
