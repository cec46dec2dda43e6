#include "check.h"

#include "contract_tape.h"

/* --- Any programs --- */

#define TAPES 5
static struct tape tapes[TAPES];
static struct world the_world;

static void run_round(struct random *random, bool out_of_memory)
{
    world_begin(&the_world, random);
    the_world.out_of_memory = out_of_memory;
    for (size_t i = 0; i < TAPES; i++) {
        /* The first is what the others execute; families fit. */
        uint8_t family = (uint8_t)(i ? random_below(random, FAMILIES) : 0);
        tape_begin(&tapes[i], &the_world, family);
        tape_record_random(&tapes[i], &the_world, i && family == tapes[0].family ? &tapes[0] : NULL);
    }
    for (size_t i = 0; i < 12; i++) {
        world_order_some(&the_world);
        world_submit(&the_world, &tapes[random_below(random, TAPES)],
                     (uint8_t)random_below(random, the_world.queue_count));
    }
    subresource_map_finish(&the_world.state);
    for (size_t i = 0; i < TAPES; i++)
        arena_finish(&tapes[i].arena);
}

static void test_random_programs(void **state)
{
    struct random fixed = random_from(3), varying = random_from(random_seed());
    (void)state;
    for (size_t round = 0; round < 3000; round++)
        run_round(round % 2 ? &varying : &fixed, false);
    assert_int_equal(failing_memory.failed, 0);
}

static void test_without_memory(void **state)
{
    struct random random = random_from(5);
    (void)state;
    for (size_t round = 0; round < 2000; round++)
        run_round(&random, true);
    assert_true(failing_memory.failed > 1000);
    failing_memory.failed = 0;
}

/* --- Programs that are right --- */

/* What such a program knows of its own image. */
struct shadow {
    VkImageLayout layout;
    uint8_t owner; /* ACCESS_NO_FAMILY: nobody yet */
    bool released;
    struct contract_barrier release;
};

static struct subresource_range cell_range(const struct world *world, uint32_t cell)
{
    uint32_t layers = world->shape.layers, mips = world->shape.mips;
    return (struct subresource_range){1u << cell / (layers * mips), cell / layers % mips, 1, cell % layers,
                                      1};
}

/* A range whose cells are alike: any, if it happens to be, else one cell of it. */
static struct subresource_range alike_range(const struct world *world, const struct shadow *shadows)
{
    struct subresource_range range = tape_random_range(world);
    uint32_t mask = model_mask(&world->shape, &range), first = (uint32_t)__builtin_ctz(mask);
    for (uint32_t cell = 0; cell < world->cell_count; cell++)
        if ((mask >> cell & 1) && memcmp(&shadows[cell], &shadows[first], sizeof(shadows[0])) != 0)
            return cell_range(world, first);
    return range;
}

static void set_shadows(const struct world *world, struct shadow *shadows,
                        const struct subresource_range *range, const struct shadow *value)
{
    uint32_t mask = model_mask(&world->shape, range);
    for (uint32_t cell = 0; cell < world->cell_count; cell++)
        if (mask >> cell & 1)
            memcpy(&shadows[cell], value, sizeof(*value));
}

/* Other layouts that match will do as well. */
static VkImageLayout matching_layout(const struct world *world, const struct subresource_range *range,
                                     VkImageLayout layout)
{
    VkImageLayout other = tape_random_layout(world);
    uint32_t mask = model_mask(&world->shape, range);
    for (uint32_t cell = 0; cell < world->cell_count; cell++)
        if ((mask >> cell & 1) && !world_cells_match(world, cell, layout, other))
            return layout;
    return other;
}

static void record_right_command(struct tape *tape, struct shadow *shadows)
{
    const struct world *where = tape->world;
    struct random *random = where->random;
    struct subresource_range range = alike_range(where, shadows);
    struct shadow shadow;
    memcpy(&shadow, &shadows[__builtin_ctz(model_mask(&where->shape, &range))], sizeof(shadow));
    bool mine = !shadow.released && (shadow.owner == ACCESS_NO_FAMILY || shadow.owner == tape->family);
    struct contract_barrier barrier = {
        .old_layout = matching_layout(where, &range, shadow.layout),
        .new_layout = tape_random_layout(where),
        .source = tape_random_barrier_scope(random),
        .destination = tape_random_barrier_scope(random),
        .source_family = ACCESS_NO_FAMILY,
        .destination_family = ACCESS_NO_FAMILY,
        .family = tape->family,
        .fixed = !random_below(random, 5),
    };
    if (shadow.released && shadow.release.destination_family == tape->family) {
        barrier = shadow.release;
        barrier.family = tape->family;
        shadow.released = false;
    } else if (!mine || !random_below(random, 4)) {
        barrier.old_layout = VK_IMAGE_LAYOUT_UNDEFINED;
        shadow.released = false;
    } else if (!model_is_initial(shadow.layout) && random_below(random, 3)) {
        struct use use = {.layout = barrier.old_layout, .scope = tape_random_use_scope(random)};
        shadow.owner = tape->family;
        set_shadows(where, shadows, &range, &shadow);
        tape_record_use(tape, &range, &use);
        return;
    } else if (!model_is_initial(shadow.layout) && where->exclusive && !random_below(random, 3)) {
        barrier.old_layout = shadow.layout;
        barrier.source_family = tape->family;
        barrier.destination_family = tape->family ^ 1;
        shadow.released = true;
        shadow.release = barrier;
    }
    shadow.owner = tape->family;
    if (!shadow.released)
        shadow.layout = barrier.new_layout;
    set_shadows(where, shadows, &range, &shadow);
    tape_record_barrier(tape, &range, &barrier);
}

static void record_right(struct tape *tape, struct shadow *shadows)
{
    for (size_t commands = random_below(tape->world->random, 12); commands; commands--)
        record_right_command(tape, shadows);
}

static void run_right_round(struct random *random)
{
    struct shadow shadows[MODEL_CELLS];
    world_begin(&the_world, random);
    the_world.queue_count = FAMILIES;
    memset(shadows, 0, sizeof(shadows));
    for (uint32_t cell = 0; cell < the_world.cell_count; cell++) {
        shadows[cell].layout = the_world.device[cell].layout;
        shadows[cell].owner = ACCESS_NO_FAMILY;
    }
    for (size_t i = 0; i < 12; i++) {
        struct tape *tape = &tapes[0], *secondary = &tapes[1];
        uint8_t family = (uint8_t)random_below(random, FAMILIES);
        tape_begin(tape, &the_world, family);
        tape_begin(secondary, &the_world, family);
        record_right(tape, shadows);
        record_right(secondary, shadows);
        tape_record_execute(tape, secondary);
        record_right(tape, shadows);
        tape_compare(tape);
        assert_int_equal(tape->repairs + secondary->repairs, 0);
        the_world.clocks[family][family ^ 1] = the_world.serials[family ^ 1];
        assert_int_equal(world_submit(&the_world, tape, family), 0);
        arena_finish(&tape->arena);
        arena_finish(&secondary->arena);
    }
    subresource_map_finish(&the_world.state);
}

static void test_right_programs(void **state)
{
    struct random random = random_from(random_seed());
    (void)state;
    for (size_t round = 0; round < 1000; round++)
        run_right_round(&random);
}

/* --- Single cases --- */

static void one_cell_world(struct random *random)
{
    *random = random_from(1);
    world_begin(&the_world, random);
    the_world.shape = (struct subresource_shape){1, 1, 1};
    the_world.cell_count = 1;
    the_world.aspects[0] = VK_IMAGE_ASPECT_COLOR_BIT;
    the_world.queue_count = MODEL_QUEUES;
    the_world.exclusive = false;
    the_world.first = access_initial(VK_IMAGE_LAYOUT_UNDEFINED);
    subresource_map_init(&the_world.state, &the_world.shape, sizeof(struct access), &the_world.first, NULL);
    the_world.device[0].layout = the_world.real[0].layout = VK_IMAGE_LAYOUT_UNDEFINED;
}

static void tape_with_use(struct tape *tape, VkImageLayout layout, VkPipelineStageFlags2 stages,
                          VkAccessFlags2 access)
{
    struct subresource_range all = subresource_range_all(&the_world.shape);
    struct use use = {.layout = layout, .scope = {stages, access}};
    tape_begin(tape, &the_world, 0);
    tape_record_use(tape, &all, &use);
}

/* L46: no transition under a reader of another queue, however many read. */
static void test_readers_of_other_queues(void **state)
{
    struct random random;
    (void)state;
    one_cell_world(&random);
    tape_with_use(&tapes[0], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, MODEL_STAGE(FRAGMENT_SHADER),
                  VK_ACCESS_2_SHADER_READ_BIT);
    tape_with_use(&tapes[1], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, MODEL_STAGE(COPY),
                  VK_ACCESS_2_TRANSFER_WRITE_BIT);
    assert_int_equal(world_submit(&the_world, &tapes[0], 0), 1);
    the_world.clocks[1][0] = the_world.serials[0];
    assert_int_equal(world_submit(&the_world, &tapes[0], 1), 0);
    assert_int_equal(world_submit(&the_world, &tapes[0], 0), 0);
    /* Both read. Each of the two asks for the other alone. */
    struct access before = the_world.first;
    assert_int_equal(before.queue, 0);
    assert_int_equal(before.other_queue, 1);
    the_world.clocks[0][1] = the_world.serials[1];
    assert_int_equal(world_submit(&the_world, &tapes[0], 0), 0);
    assert_int_equal(the_world.first.other_queue, ACCESS_NO_QUEUE);
    /* Three, of which no two are known to be over: they are never known to be. */
    assert_int_equal(world_submit(&the_world, &tapes[0], 1), 0);
    assert_int_equal(world_submit(&the_world, &tapes[0], 2), 0);
    assert_true(the_world.first.other_serial == ACCESS_SEVERAL);
    for (uint8_t queue = 0; queue < MODEL_QUEUES; queue++) {
        assert_int_equal(world_submit(&the_world, &tapes[1], queue), 1);
        assert_int_equal(world_submit(&the_world, &tapes[0], queue), 1);
    }
    arena_finish(&tapes[0].arena);
    arena_finish(&tapes[1].arena);
}

static void add_barrier(struct tape *tape, VkImageLayout old_layout, VkImageLayout new_layout,
                        struct scope source, struct scope destination)
{
    struct subresource_range all = subresource_range_all(&the_world.shape);
    struct contract_barrier barrier = {
        .old_layout = old_layout,
        .new_layout = new_layout,
        .source = source,
        .destination = destination,
        .source_family = ACCESS_NO_FAMILY,
        .destination_family = ACCESS_NO_FAMILY,
    };
    tape_record_barrier(tape, &all, &barrier);
}

static void check_last_source(VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    assert_true(the_world.last_patch.source.stages == stages);
    assert_true(the_world.last_patch.source.access == access);
}

/* A repair waits for all that isn't ordered yet (which the random programs demand), and for no more. */
static void test_repairs_wait_for_no_more_than_they_must(void **state)
{
    static const struct scope copied = {MODEL_STAGE(COPY), VK_ACCESS_2_TRANSFER_WRITE_BIT};
    static const struct scope read = {MODEL_STAGE(FRAGMENT_SHADER), VK_ACCESS_2_SHADER_READ_BIT};
    struct tape *copies = &tapes[0], *reads_it = &tapes[1], *orders = &tapes[2], *executes = &tapes[3],
                *repairs = &tapes[4];
    struct subresource_range all = {1, 0, 1, 0, 1};
    struct use general = {.layout = VK_IMAGE_LAYOUT_GENERAL,
                          .scope = {MODEL_STAGE(COMPUTE_SHADER), VK_ACCESS_2_SHADER_READ_BIT}};
    struct random random;
    (void)state;
    one_cell_world(&random);
    tape_with_use(copies, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, copied.stages, copied.access);
    tape_with_use(reads_it, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, read.stages, read.access);
    tape_begin(orders, &the_world, 0);
    add_barrier(orders, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                copied, read);
    tape_with_use(executes, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, MODEL_STAGE(CLEAR),
                  VK_ACCESS_2_TRANSFER_READ_BIT);
    tape_record_execute(executes, orders);
    tape_with_use(repairs, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, copied.stages, copied.access);
    tape_record_use(repairs, &all, &general);

    assert_int_equal(world_submit(&the_world, copies, 0), 1);
    check_last_source(0, 0);
    /* A patch before has ordered it. */
    assert_int_equal(world_submit(&the_world, reads_it, 0), 1);
    check_last_source(copied.stages, copied.access);
    assert_int_equal(world_submit(&the_world, copies, 0), 1);
    check_last_source(read.stages, 0);
    /* A barrier of the application's has. */
    assert_int_equal(world_submit(&the_world, orders, 0), 0);
    assert_int_equal(world_submit(&the_world, copies, 0), 1);
    check_last_source(read.stages, 0);
    /* One of a secondary's has; the use in front of it it doesn't reach. */
    assert_int_equal(world_submit(&the_world, executes, 0), 0);
    assert_int_equal(world_submit(&the_world, copies, 0), 1);
    check_last_source(read.stages | MODEL_STAGE(CLEAR), 0);
    /* A repair inside has. */
    assert_int_equal(world_submit(&the_world, repairs, 0), 0);
    assert_int_equal(world_submit(&the_world, reads_it, 0), 1);
    check_last_source(MODEL_STAGE(COMPUTE_SHADER), 0);
    /* A semaphore has. */
    the_world.clocks[1][0] = the_world.serials[0];
    assert_int_equal(world_submit(&the_world, copies, 1), 1);
    assert_int_equal(world_submit(&the_world, reads_it, 1), 1);
    check_last_source(copied.stages, copied.access);
    the_world.clocks[2][1] = the_world.serials[1];
    arena_finish(&executes->arena);
    tape_with_use(executes, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, MODEL_STAGE(COMPUTE_SHADER),
                  read.access);
    assert_int_equal(world_submit(&the_world, executes, 2), 0);
    assert_int_equal(world_submit(&the_world, copies, 2), 1);
    check_last_source(MODEL_STAGE(COMPUTE_SHADER), 0);
    for (size_t i = 0; i < TAPES; i++)
        arena_finish(&tapes[i].arena);
}

static void test_images_are_found(void **state)
{
    static char images[1000];
    static const VkImageAspectFlagBits color = VK_IMAGE_ASPECT_COLOR_BIT;
    struct arena arena = {NULL, NULL};
    struct subresource_shape shape = {1, 1, 1};
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct contract contract = {.arena = &arena};
        for (size_t i = 0; i < sizeof(images); i++) {
            struct image *image = (struct image *)(void *)&images[i];
            assert_null(contract_find(&contract, image));
            struct contract_image *part = contract_add(&contract, image, &shape, &color);
            assert_non_null(part);
            assert_ptr_equal(contract_add(&contract, image, &shape, &color), part);
            assert_ptr_equal(contract.last, part);
            assert_int_equal(contract.count, i + 1);
        }
        size_t i = 0;
        for (const struct contract_image *part = contract.first; part; part = part->next, i++) {
            assert_ptr_equal(part->image, &images[i]);
            assert_ptr_equal(contract_find(&contract, part->image), part);
        }
        assert_int_equal(i, sizeof(images));
        arena_reset(&arena);
    }
    arena_finish(&arena);
}

static void test_images_without_memory(void **state)
{
    static char images[200];
    static const VkImageAspectFlagBits color = VK_IMAGE_ASPECT_COLOR_BIT;
    struct random random = random_from(2);
    struct arena arena = {NULL, NULL};
    struct contract contract = {.arena = &arena};
    struct subresource_shape shape = {1, 1, 1};
    uint32_t added = 0;
    (void)state;
    failing_memory.random = &random;
    failing_memory.one_in = 3;
    for (size_t i = 0; i < sizeof(images); i++) {
        struct image *image = (struct image *)(void *)&images[i];
        struct contract_image *part = contract_add(&contract, image, &shape, &color);
        added += part != NULL;
        assert_ptr_equal(contract_find(&contract, image), part);
        assert_int_equal(contract.count, added);
    }
    failing_memory.random = NULL;
    assert_true(added > 0 && added < sizeof(images));
    failing_memory.failed = 0;
    arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_right_programs),
        cmocka_unit_test(test_readers_of_other_queues),
        cmocka_unit_test(test_repairs_wait_for_no_more_than_they_must),
        cmocka_unit_test(test_images_are_found),
        cmocka_unit_test(test_images_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
