/* What shaders are seen to use: descriptors however they were written, sets that come and go, pipelines
 * however they were made; and what can't be told, which is left alone. L01, L03, L33, L39. */
#include "shader_app.h"

#define ONE ((VkImageSubresourceRange){COLOR_BIT, 0, 1, 0, 1})
#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define STORAGE VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static struct shaders shaders;
static struct shader_target source, out; /* IMAGE_COLOR, IMAGE_OTHER */
static VkImage third;                    /* in SHADER when a frame begins */
static VkImage result;                   /* in GENERAL */
static VkImageView third_view, result_view;

/* What is drawn or dispatched with. */
struct work {
    VkPipelineBindPoint point;
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSet set; /* VK_NULL_HANDLE: `push` is called */
    void (*push)(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb);
};
static struct work work;
static enum shader_pass kind;

static void set_up(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    record_move(vk, cb, third, (struct record_range){0}, UNDEFINED, DST);
    record_clear(vk, cb, third, (struct record_range){0}, DST);
    record_move(vk, cb, third, (struct record_range){0}, DST, SHADER);
    record_move(vk, cb, result, (struct record_range){0}, UNDEFINED, GENERAL);
}

static void open_objects(struct record_app *app, void *options)
{
    record_app_open(app, options);
    shaders_open(&shaders, app);
    source = shaders_target(&shaders, app->images[IMAGE_COLOR], app->views[VIEW_COLOR], ONE, RECORD_SIDE);
    out = shaders_target(&shaders, app->images[IMAGE_OTHER], app->views[VIEW_OTHER], ONE, RECORD_SIDE);
    third = app->images[IMAGE_MANY];
    result = app->images[IMAGE_MANY + 1];
    third_view = shaders_view(&shaders, third, ONE);
    result_view = shaders_view(&shaders, result, ONE);
    kind = PASS_1;
    record_run(app, record_one(app, set_up, NULL), "set up");
}

static void close_objects(struct record_app *app)
{
    shaders_close(&shaders);
    record_app_close(app);
}

static void use(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    vk->CmdBindPipeline(cb, work.point, work.pipeline);
    if (work.set)
        vk->CmdBindDescriptorSets(cb, work.point, work.layout, 0, 1, &work.set, 0, NULL);
    else if (work.push)
        work.push(app, vk, cb);
    if (work.point == GRAPHICS)
        vk->CmdDraw(cb, 3, 1, 0, 0);
    else
        vk->CmdDispatch(cb, 1, 1, 1);
}

/* The source is rendered, and then read in another instance, or by a dispatch. */
static void frame(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    shaders_prepare(app, vk, cb, &source);
    shaders_prepare(app, vk, cb, &out);
    shaders_begin(vk, cb, kind, &source, false);
    shaders_end(vk, cb, kind);
    if (work.point == GRAPHICS)
        shaders_begin(vk, cb, kind, &out, false);
    use(app, vk, cb);
    if (work.point == GRAPHICS)
        shaders_end(vk, cb, kind);
}

static void check_repaired(const struct record_app *app, const char *what, VkImageLayout to)
{
    struct recorded recorded = record_both(app, frame);
    bool draws = work.point == GRAPHICS;
    const struct shader_insertion wanted = {draws ? shaders_begin_name(kind) : "vkCmdDispatch",
                                            draws ? 1u : 0u, source.image, TARGET, to};
    shaders_check(&recorded, what, 1, &wanted);
    record_run(app, recorded.got, what);
}

static void check_left_alone(const struct record_app *app, const char *what)
{
    struct recorded recorded = record_both(app, frame);
    record_check_same(&recorded, what);
}

/* --- Descriptors, however they were written --- */

/* Set layouts with one or two bindings more than the shader has. */
static struct work graphics(VkDescriptorSetLayout layout, enum shader shader)
{
    struct work made = {.point = GRAPHICS, .layout = shaders_layout(&shaders, 1, &layout)};
    made.pipeline = shaders_graphics(&shaders, made.layout, shader);
    return made;
}

static void written(const struct record_app *app)
{
    (void)app;
    work = graphics(shaders.one, SHADER_SAMPLE);
    work.set = shaders_one(&shaders, third_view, SHADER);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

static void written_away(const struct record_app *app)
{
    written(app);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, third_view, SHADER);
}

static void element(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding array = shaders_binding(0, SAMPLED, 4);
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 1, &array, NULL);
    (void)app;
    work = graphics(layout, SHADER_ELEMENT);
    work.set = shaders_set(&shaders, layout);
    for (uint32_t i = 0; i < 4; i++)
        shaders_write(&shaders, work.set, 0, i, SAMPLED, i == 2 ? source.view : third_view, SHADER);
}

static void other_element(const struct record_app *app)
{
    element(app);
    for (uint32_t i = 0; i < 4; i++)
        shaders_write(&shaders, work.set, 0, i, SAMPLED, i == 2 ? third_view : source.view, SHADER);
}

static VkDescriptorSetLayout two_images_layout(void)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        shaders_binding(0, SAMPLED, 1), shaders_binding(1, STORAGE, 1), shaders_binding(2, STORAGE, 1)};
    return shaders_set_layout(&shaders, 0, 3, bindings, NULL);
}

static struct work two_images(void)
{
    VkDescriptorSetLayout layout = two_images_layout();
    struct work made = {.point = COMPUTE, .layout = shaders_layout(&shaders, 1, &layout)};
    made.pipeline = shaders_compute(&shaders, made.layout, SHADER_TWO_IMAGES);
    made.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, made.set, 0, 0, SAMPLED, third_view, SHADER);
    shaders_write(&shaders, made.set, 1, 0, STORAGE, result_view, GENERAL);
    shaders_write(&shaders, made.set, 2, 0, STORAGE, result_view, GENERAL);
    return made;
}

/* Spec, VkWriteDescriptorSet: what is beyond a binding is of the next. */
static void consecutive(const struct record_app *app)
{
    work = two_images();
    const VkDescriptorImageInfo images[] = {shaders_image(&shaders, result_view, GENERAL),
                                            shaders_image(&shaders, source.view, GENERAL)};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = work.set,
                                  .dstBinding = 1,
                                  .descriptorCount = 2,
                                  .descriptorType = STORAGE,
                                  .pImageInfo = images};
    vkUpdateDescriptorSets(app->device, 1, &write, 0, NULL);
}

static void copy(const struct record_app *app, VkDescriptorSet from, uint32_t binding, uint32_t at,
                 VkDescriptorSet to, uint32_t to_binding, uint32_t to_element, uint32_t count)
{
    VkCopyDescriptorSet info = {.sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
                                .srcSet = from,
                                .srcBinding = binding,
                                .srcArrayElement = at,
                                .dstSet = to,
                                .dstBinding = to_binding,
                                .dstArrayElement = to_element,
                                .descriptorCount = count};
    vkUpdateDescriptorSets(app->device, 0, NULL, 1, &info);
}

/* The source's descriptor comes from an array, and is then written anew there. */
static void copied(const struct record_app *app)
{
    element(app);
    VkDescriptorSet from = work.set;
    work = graphics(shaders.one, SHADER_SAMPLE);
    work.set = shaders_one(&shaders, third_view, SHADER);
    copy(app, from, 0, 2, work.set, 0, 0, 1);
    shaders_write(&shaders, from, 0, 2, SAMPLED, third_view, SHADER);
}

static void copied_away(const struct record_app *app)
{
    written(app);
    copy(app, shaders_one(&shaders, third_view, SHADER), 0, 0, work.set, 0, 0, 1);
}

/* Beyond a binding on both sides. */
static void copied_consecutively(const struct record_app *app)
{
    consecutive(app);
    VkDescriptorSet from = work.set;
    work = two_images();
    copy(app, from, 1, 0, work.set, 1, 0, 2);
}

static VkDescriptorUpdateTemplate create_template(const struct record_app *app, bool push,
                                                  VkDescriptorSetLayout layout,
                                                  VkPipelineLayout pipeline_layout, uint32_t count,
                                                  const VkDescriptorUpdateTemplateEntry *entries)
{
    VkDescriptorUpdateTemplateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = count,
        .pDescriptorUpdateEntries = entries,
        .templateType = push ? VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR
                             : VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
        .descriptorSetLayout = layout,
        .pipelineBindPoint = GRAPHICS,
        .pipelineLayout = pipeline_layout};
    VkDescriptorUpdateTemplate made;
    CHECK_EQUAL(vkCreateDescriptorUpdateTemplate(app->device, &info, NULL, &made), VK_SUCCESS);
    return made;
}

/* Data that isn't packed. */
struct template_data {
    uint64_t something;
    struct {
        VkDescriptorImageInfo image;
        char padding[40];
    } images[4];
};

static struct template_data template_data(void)
{
    struct template_data data = {0};
    for (uint32_t i = 0; i < 4; i++)
        data.images[i].image = shaders_image(&shaders, i == 2 ? source.view : third_view, SHADER);
    return data;
}

static void by_template(const struct record_app *app)
{
    const VkDescriptorUpdateTemplateEntry entry = {0,
                                                   0,
                                                   4,
                                                   SAMPLED,
                                                   offsetof(struct template_data, images),
                                                   sizeof(((struct template_data *)0)->images[0])};
    struct template_data data = template_data();
    element(app);
    VkDescriptorSetLayoutBinding array = shaders_binding(0, SAMPLED, 4);
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 1, &array, NULL);
    VkDescriptorUpdateTemplate update = create_template(app, false, layout, VK_NULL_HANDLE, 1, &entry);
    shaders_write(&shaders, work.set, 0, 2, SAMPLED, third_view, SHADER);
    vkUpdateDescriptorSetWithTemplate(app->device, work.set, update, &data);
    vkDestroyDescriptorUpdateTemplate(app->device, update, NULL);
}

/* A set smaller than its layout. */
static void variable(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding array = shaders_binding(0, SAMPLED, 4);
    const VkDescriptorBindingFlags flags = VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 1, &array, &flags);
    const uint32_t count = 3;
    VkDescriptorSetVariableDescriptorCountAllocateInfo counts = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO,
        .descriptorSetCount = 1,
        .pDescriptorCounts = &count};
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .pNext = &counts,
                                        .descriptorPool = shaders.pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &layout};
    work = graphics(layout, SHADER_ELEMENT);
    CHECK_EQUAL(vkAllocateDescriptorSets(app->device, &info, &work.set), VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++)
        shaders_write(&shaders, work.set, 0, i, SAMPLED, i == 2 ? source.view : third_view, SHADER);
}

static void mutable(const struct record_app *app)
{
    const VkDescriptorType types[] = {SAMPLED, STORAGE, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    const VkMutableDescriptorTypeListEXT list = {3, types};
    const VkMutableDescriptorTypeCreateInfoEXT lists = {
        .sType = VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT,
        .mutableDescriptorTypeListCount = 1,
        .pMutableDescriptorTypeLists = &list};
    const VkDescriptorSetLayoutBinding binding = shaders_binding(0, VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 1);
    const VkDescriptorSetLayoutCreateInfo info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .pNext = &lists,
                                                  .bindingCount = 1,
                                                  .pBindings = &binding};
    VkDescriptorSetLayout layout;
    CHECK_EQUAL(vkCreateDescriptorSetLayout(app->device, &info, NULL, &layout), VK_SUCCESS);
    shaders_keep(&shaders, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout);
    work = graphics(layout, SHADER_SAMPLE);
    work.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, work.set, 0, 0, STORAGE, result_view, GENERAL);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

/* It isn't an image any more. */
static void mutable_away(const struct record_app *app)
{
    const VkDescriptorBufferInfo buffer = {app->buffer, 0, 64};
    mutable(app);
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = work.set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    vkUpdateDescriptorSets(app->device, 1, &write, 0, NULL);
}

/* A block beside the image, of which bytes are counted: more of them than there are descriptors. */
static void beside_block(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        shaders_binding(0, SAMPLED, 1), shaders_binding(1, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 64)};
    const VkWriteDescriptorSetInlineUniformBlock data = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK,
        .dataSize = 32,
        .pData = "0123456789abcdef0123456789abcdef"};
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 2, bindings, NULL);
    work = graphics(layout, SHADER_SAMPLE);
    work.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .pNext = &data,
                                  .dstSet = work.set,
                                  .dstBinding = 1,
                                  .dstArrayElement = 16,
                                  .descriptorCount = 32,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK};
    vkUpdateDescriptorSets(app->device, 1, &write, 0, NULL);
    VkDescriptorSet other = shaders_set(&shaders, layout);
    copy(app, work.set, 1, 0, other, 1, 0, 48);
}

/* --- Pushes --- */

static struct work pushing(void)
{
    const VkDescriptorSetLayoutBinding binding = shaders_binding(0, SAMPLED, 1);
    VkDescriptorSetLayout layout = shaders_set_layout(
        &shaders, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, 1, &binding, NULL);
    return graphics(layout, SHADER_SAMPLE);
}

static void push_view(const struct record_vk *vk, VkCommandBuffer cb, VkImageView view)
{
    VkDescriptorImageInfo image;
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .descriptorCount = 1,
                                  .descriptorType = SAMPLED,
                                  .pImageInfo = &image};
    /* Padding is compared, too. */
    memset(&image, 0, sizeof(image));
    image.sampler = shaders.sampler;
    image.imageView = view;
    image.imageLayout = SHADER;
    vk->CmdPushDescriptorSetKHR(cb, GRAPHICS, work.layout, 0, 1, &write);
}

static void push_source(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    push_view(vk, cb, third_view);
    vk->CmdDraw(cb, 3, 1, 0, 0);
    push_view(vk, cb, source.view);
}

static void push_third(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    push_view(vk, cb, source.view);
    push_view(vk, cb, third_view);
}

static void pushed(const struct record_app *app)
{
    (void)app;
    work = pushing();
    work.push = push_source;
}

static void pushed_away(const struct record_app *app)
{
    (void)app;
    work = pushing();
    work.push = push_third;
}

static VkPipeline one_pipeline;
static VkDescriptorSet third_set;

static void bound_behind_push(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    (void)app;
    push_view(vk, cb, source.view);
    vk->CmdBindPipeline(cb, GRAPHICS, one_pipeline);
    vk->CmdBindDescriptorSets(cb, GRAPHICS, shaders.one_layout, 0, 1, &third_set, 0, NULL);
}

/* --- All of them --- */

struct update {
    const char *name;
    void (*make)(const struct record_app *app);
    VkImageLayout to; /* UNDEFINED: the source isn't used */
};
static void check_updates(const struct record_app *app, const struct update *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tests[i].make(app);
        if (tests[i].to)
            check_repaired(app, tests[i].name, tests[i].to);
        else
            check_left_alone(app, tests[i].name);
    }
}

static const struct update updates[] = {
    {"written", written, SHADER},
    {"written away", written_away, UNDEFINED},
    {"element", element, SHADER},
    {"other element", other_element, UNDEFINED},
    {"consecutive", consecutive, GENERAL},
    {"copied", copied, SHADER},
    {"copied away", copied_away, UNDEFINED},
    {"copied consecutively", copied_consecutively, GENERAL},
    {"by template", by_template, SHADER},
    {"variable", variable, SHADER},
    {"mutable", mutable, SHADER},
    {"mutable away", mutable_away, UNDEFINED},
    {"beside block", beside_block, SHADER},
    {"pushed", pushed, SHADER},
    {"pushed away", pushed_away, UNDEFINED},
};

static void run_updates(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    check_updates(&app, updates, sizeof(updates) / sizeof(updates[0]));
    close_objects(&app);
}

static void test_updates(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_updates);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "unseen"), 0);
}

static VkDescriptorUpdateTemplate push_template;

/* It may go as soon as it was used: what is held back has no need of it. In the driver's own command buffer
 * stands what the layer makes of it. */
static void push_by_template(const struct record_app *app, const struct record_vk *vk, VkCommandBuffer cb)
{
    const VkDescriptorUpdateTemplateEntry entry = {0, 0, 1, SAMPLED, 16, 0};
    struct {
        char padding[16];
        VkDescriptorImageInfo image;
    } data;
    memset(&data, 0, sizeof(data));
    data.image.sampler = shaders.sampler;
    data.image.imageView = source.view;
    data.image.imageLayout = SHADER;
    if (vk == &app->driver) {
        push_view(vk, cb, source.view);
        return;
    }
    VkDescriptorUpdateTemplate update = create_template(app, true, VK_NULL_HANDLE, work.layout, 1, &entry);
    vk->CmdPushDescriptorSetWithTemplateKHR(cb, update, work.layout, 0, &data);
    vkDestroyDescriptorUpdateTemplate(app->device, update, NULL);
    memset(&data, 0xee, sizeof(data));
}

/* Where nothing is held it goes down as it is. */
static void push_third_by_template(const struct record_app *app, const struct record_vk *vk,
                                   VkCommandBuffer cb)
{
    struct {
        char padding[16];
        VkDescriptorImageInfo image;
    } data = {.image = shaders_image(&shaders, third_view, SHADER)};
    (void)app;
    vk->CmdPushDescriptorSetWithTemplateKHR(cb, push_template, work.layout, 0, &data);
}

static void run_push_templates(void *context)
{
    const VkDescriptorUpdateTemplateEntry entry = {0, 0, 1, SAMPLED, 16, 0};
    struct record_app app;
    open_objects(&app, context);
    work = pushing();
    push_template = create_template(&app, true, VK_NULL_HANDLE, work.layout, 1, &entry);
    shaders_keep(&shaders, VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE, (uint64_t)push_template);
    for (kind = 0; kind < SHADER_PASSES; kind++) {
        work.push = push_by_template;
        check_repaired(&app, "push template", SHADER);
    }
    one_pipeline = shaders_graphics(&shaders, shaders.one_layout, SHADER_SAMPLE);
    third_set = shaders_one(&shaders, third_view, SHADER);
    work.push = push_third_by_template;
    work.point = COMPUTE;
    check_left_alone(&app, "push template outside");
    work.point = GRAPHICS;
    work.push = bound_behind_push;
    kind = PASS_1;
    check_left_alone(&app, "bound behind a push");
    close_objects(&app);
}

static void test_push_templates(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_push_templates);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

/* --- Dispatches --- */

static struct work converting(VkImageView view)
{
    struct work made = {.point = COMPUTE, .layout = shaders.convert_layout};
    made.pipeline = shaders_compute(&shaders, made.layout, SHADER_CONVERT);
    made.set = shaders_set(&shaders, shaders.convert);
    shaders_write(&shaders, made.set, 0, 0, SAMPLED, view, SHADER);
    shaders_write(&shaders, made.set, 1, 0, STORAGE, result_view, GENERAL);
    return made;
}

static void run_dispatches(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    work = converting(source.view);
    for (kind = 0; kind < SHADER_PASSES; kind++)
        check_repaired(&app, "dispatch", SHADER);
    kind = PASS_1;
    work = converting(third_view);
    check_left_alone(&app, "another image");
    /* Two descriptors that contradict each other: the first gets what it needs. */
    work = two_images();
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
    shaders_write(&shaders, work.set, 1, 0, STORAGE, source.view, GENERAL);
    struct recorded recorded = record_both(&app, frame);
    const struct shader_insertion wanted = {"vkCmdDispatch", 0, source.image, TARGET, SHADER};
    shaders_check(&recorded, "contradiction", 1, &wanted);
    close_objects(&app);
}

static void test_dispatches(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_dispatches);
    CHECK_EQUAL(report_number("barriers", "record_repairs"), 4);
    CHECK_EQUAL(report_number("barriers", "reported"), 1);
}

/* --- What can't be told --- */

static void partially_bound(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding binding = shaders_binding(0, SAMPLED, 1);
    const VkDescriptorBindingFlags flags = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 1, &binding, &flags);
    (void)app;
    work = graphics(layout, SHADER_SAMPLE);
    work.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

static void chosen_while_running(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding array = shaders_binding(0, SAMPLED, 4);
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 1, &array, NULL);
    (void)app;
    work = graphics(layout, SHADER_DYNAMIC);
    work.set = shaders_set(&shaders, layout);
    for (uint32_t i = 0; i < 4; i++)
        shaders_write(&shaders, work.set, 0, i, SAMPLED, source.view, SHADER);
}

static void large(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        shaders_binding(0, SAMPLED, 1), shaders_binding(1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1024)};
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 2, bindings, NULL);
    (void)app;
    work = graphics(layout, SHADER_SAMPLE);
    work.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

/* As large as is looked at. */
static void not_quite_large(const struct record_app *app)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        shaders_binding(0, SAMPLED, 1), shaders_binding(1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1023)};
    VkDescriptorSetLayout layout = shaders_set_layout(&shaders, 0, 2, bindings, NULL);
    (void)app;
    work = graphics(layout, SHADER_SAMPLE);
    work.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

/* A structure that nobody knows. */
static const VkBaseInStructure unknown_structure = {.sType = (VkStructureType)1999999000};

static VkDescriptorSetLayout unknown_layout(void)
{
    const VkDescriptorSetLayoutBinding binding = shaders_binding(0, SAMPLED, 1);
    const VkDescriptorSetLayoutCreateInfo info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .pNext = &unknown_structure,
                                                  .bindingCount = 1,
                                                  .pBindings = &binding};
    VkDescriptorSetLayout layout;
    CHECK_EQUAL(vkCreateDescriptorSetLayout(shaders.app->device, &info, NULL, &layout), VK_SUCCESS);
    shaders_keep(&shaders, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout);
    return layout;
}

static void unknown_pipeline_layout(const struct record_app *app)
{
    VkDescriptorSetLayout layout = unknown_layout();
    (void)app;
    work = graphics(layout, SHADER_SAMPLE);
    work.set = shaders_set(&shaders, layout);
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

static void unknown_set(const struct record_app *app)
{
    written(app);
    work.set = shaders_set(&shaders, unknown_layout());
    shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
}

/* What a set had before doesn't stand any more. */
static void copied_from_unknown(const struct record_app *app)
{
    unknown_set(app);
    VkDescriptorSet from = work.set;
    written(app);
    copy(app, from, 0, 0, work.set, 0, 0, 1);
}

static void never_written(const struct record_app *app)
{
    written(app);
    work.set = shaders_set(&shaders, shaders.one);
}

static const struct update untold[] = {
    {"not quite large", not_quite_large, SHADER},
    {"partially bound", partially_bound, UNDEFINED},
    {"chosen while running", chosen_while_running, UNDEFINED},
    {"large", large, UNDEFINED},
    {"unknown pipeline layout", unknown_pipeline_layout, UNDEFINED},
    {"unknown set", unknown_set, UNDEFINED},
    {"copied from an unknown set", copied_from_unknown, UNDEFINED},
    {"never written", never_written, UNDEFINED},
};

static void run_untold(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    check_updates(&app, untold, sizeof(untold) / sizeof(untold[0]));
    close_objects(&app);
}

static void test_untold(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_untold);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "unseen"), 2);
}

/* --- Pipelines, however they were made --- */

static struct work of_pipeline(VkPipeline pipeline)
{
    return (struct work){.point = GRAPHICS,
                         .pipeline = pipeline,
                         .layout = shaders.one_layout,
                         .set = shaders_one(&shaders, source.view, SHADER)};
}

static void linked(const struct record_app *app)
{
    static const VkGraphicsPipelineLibraryFlagBitsEXT parts[] = {
        VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT,
        VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
        VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
        VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT,
    };
    VkPipeline libraries[4];
    (void)app;
    for (uint32_t i = 0; i < 4; i++) {
        VkGraphicsPipelineCreateInfo *info =
            shaders_graphics_info(&shaders, shaders.one_layout, SHADER_SAMPLE);
        const VkGraphicsPipelineLibraryCreateInfoEXT part = {
            .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
            .pNext = (void *)(uintptr_t)info->pNext,
            .flags = (VkGraphicsPipelineLibraryFlagsEXT)parts[i]};
        info->pNext = &part;
        info->flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
        info->stageCount = i == 1 || i == 2;
        info->pStages += i == 2;
        libraries[i] = shaders_create(&shaders, info);
    }
    const VkPipelineLibraryCreateInfoKHR all = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
                                                .libraryCount = 4,
                                                .pLibraries = libraries};
    const VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &all,
                                               .layout = shaders.one_layout};
    work = of_pipeline(shaders_create(&shaders, &info));
}

/* The module isn't an object. */
static void with_inline_module(const struct record_app *app)
{
    VkGraphicsPipelineCreateInfo *info = shaders_graphics_info(&shaders, shaders.one_layout, SHADER_SAMPLE);
    VkPipelineShaderStageCreateInfo stages[2] = {info->pStages[0], info->pStages[1]};
    const VkShaderModuleCreateInfo code = shaders_code(SHADER_SAMPLE);
    (void)app;
    stages[1].module = VK_NULL_HANDLE;
    stages[1].pNext = &code;
    info->pStages = stages;
    work = of_pipeline(shaders_create(&shaders, info));
}

static void with_identifier(const struct record_app *app)
{
    static const uint8_t identifier[32] = {1};
    const VkPipelineShaderStageModuleIdentifierCreateInfoEXT known = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT,
        .identifierSize = sizeof(identifier),
        .pIdentifier = identifier};
    VkGraphicsPipelineCreateInfo *info = shaders_graphics_info(&shaders, shaders.one_layout, SHADER_SAMPLE);
    VkPipelineShaderStageCreateInfo stages[2] = {info->pStages[0], info->pStages[1]};
    (void)app;
    stages[1].module = VK_NULL_HANDLE;
    stages[1].pNext = &known;
    info->pStages = stages;
    work = of_pipeline(shaders_create(&shaders, info));
}

/* Modules may go as soon as the pipeline is there. */
static void without_module(const struct record_app *app)
{
    const VkShaderModuleCreateInfo code = shaders_code(SHADER_SAMPLE);
    VkGraphicsPipelineCreateInfo *info = shaders_graphics_info(&shaders, shaders.one_layout, SHADER_SAMPLE);
    VkPipelineShaderStageCreateInfo stages[2] = {info->pStages[0], info->pStages[1]};
    CHECK_EQUAL(vkCreateShaderModule(app->device, &code, NULL, &stages[1].module), VK_SUCCESS);
    info->pStages = stages;
    work = of_pipeline(shaders_create(&shaders, info));
    vkDestroyShaderModule(app->device, stages[1].module, NULL);
}

static const struct update pipelines[] = {
    {"linked", linked, SHADER},
    {"inline module", with_inline_module, SHADER},
    {"module destroyed", without_module, SHADER},
    {"identifier", with_identifier, UNDEFINED},
};

static void run_pipelines(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    check_updates(&app, pipelines, sizeof(pipelines) / sizeof(pipelines[0]));
    close_objects(&app);
}

static void test_pipelines(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_pipelines);
    CHECK_EQUAL(report_count("fault", ""), 0);
    CHECK_EQUAL(report_number("barriers", "unseen"), 1);
}

/* --- Sets that come and go --- */

static void reuse_pool(const struct record_app *app, VkDescriptorPool pool, int way)
{
    if (way == 0)
        CHECK_EQUAL(vkFreeDescriptorSets(app->device, pool, 1, &work.set), VK_SUCCESS);
    else
        CHECK_EQUAL(vkResetDescriptorPool(app->device, pool, 0), VK_SUCCESS);
}

/* Its handle may come back, and then has nothing of what it was. */
static void run_life(void *context)
{
    struct record_app app;
    open_objects(&app, context);
    VkDescriptorPool kept = shaders.pool;
    for (int way = 0; way < 3; way++) {
        shaders.pool = shaders_pool(&shaders);
        work = converting(source.view);
        check_repaired(&app, "before", SHADER);
        if (way < 2) {
            reuse_pool(&app, shaders.pool, way);
        } else {
            shaders_destroy(&shaders, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)shaders.pool);
            shaders.pool = shaders_pool(&shaders);
        }
        work.set = shaders_set(&shaders, shaders.convert);
        shaders_write(&shaders, work.set, 1, 0, STORAGE, result_view, GENERAL);
        check_left_alone(&app, "not written yet");
        shaders_write(&shaders, work.set, 0, 0, SAMPLED, third_view, SHADER);
        check_left_alone(&app, "another image");
        shaders_write(&shaders, work.set, 0, 0, SAMPLED, source.view, SHADER);
        check_repaired(&app, "again", SHADER);
        shaders.pool = kept;
    }
    close_objects(&app);
}

static void test_life(void **state)
{
    (void)state;
    record_run_shaders_on_all(run_life);
    CHECK_EQUAL(report_count("fault", ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_updates), HARNESS_TEST(test_push_templates), HARNESS_TEST(test_dispatches),
        HARNESS_TEST(test_untold),  HARNESS_TEST(test_pipelines),      HARNESS_TEST(test_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
