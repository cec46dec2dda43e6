#include "contract_tape.h"

/* --- The driver --- */

static void excuse(struct model_real *real)
{
    real->excused = true;
    real->count = 0;
}

static void add_pending(const struct world *world, struct model_real *real, bool transition,
                        const struct scope *scope)
{
    struct scope chained = transition ? model_chain_scope(scope) : *scope;
    if (real->excused)
        return;
    assert_true(real->count < MODEL_PENDING);
    real->pending[real->count++] = (struct model_pending){transition, world->time, chained};
}

/* Takes out what the source orders. */
static void order_pending(struct model_real *real, const struct scope *source)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < real->count; i++) {
        struct model_pending *pending = &real->pending[i];
        if (!pending->transition) {
            pending->scope.stages = model_stages(pending->scope.stages) & ~model_before(source->stages);
            pending->scope.access = model_writes(pending->scope.access) & ~model_writes(source->access);
        }
        if (pending->transition ? !model_orders(source, pending)
                                : pending->scope.stages || pending->scope.access)
            real->pending[kept++] = *pending;
    }
    real->count = kept;
}

static void check_source(const struct model_real *real, const struct scope *source, uint64_t since)
{
    for (uint32_t i = 0; i < real->count; i++)
        if (real->pending[i].time >= since)
            assert_true(model_orders(source, &real->pending[i]));
}

static void play_transition(struct world *world, struct model_real *real, const struct item *item)
{
    static const struct scope nothing;
    order_pending(real, item->acquire ? &nothing : &item->source);
    real->layout = item->release ? item->old_layout : item->layout;
    add_pending(world, real, true, item->release ? &nothing : &item->scope);
}

static void play_barrier(struct world *world, uint32_t cell, const struct item *item, uint64_t since)
{
    struct model_real *real = &world->real[cell];
    if (item->old_layout == VK_IMAGE_LAYOUT_UNDEFINED) {
        real->excused = false;
    } else if (!real->excused && !world_cells_match(world, cell, real->layout, item->old_layout)) {
        /* What can't be repaired. */
        assert_true(item->lost >> cell & 1);
    }
    if (item->rewritten)
        check_source(real, &item->source, since);
    play_transition(world, real, item);
    if (item->lost >> cell & 1)
        excuse(real);
}

static void play_repair(struct world *world, uint32_t cell, const struct item *item, uint64_t since)
{
    struct model_real *real = &world->real[cell];
    assert_false(model_is_initial(item->layout));
    if (real->excused)
        return;
    assert_int_equal(item->old_layout == VK_IMAGE_LAYOUT_UNDEFINED,
                     real->layout == VK_IMAGE_LAYOUT_UNDEFINED);
    assert_true(world_cells_match(world, cell, real->layout, item->old_layout));
    check_source(real, &item->source, since);
    play_transition(world, real, item);
}

static void play_cell(struct world *world, uint32_t cell, const struct item *item, uint64_t since)
{
    struct model_real *real = &world->real[cell];
    if ((item->unchecked >> cell & 1) && item->kind != ITEM_BARRIER)
        excuse(real);
    switch (item->kind) {
    case ITEM_USE:
        assert_true(real->excused || world_cells_match(world, cell, real->layout, item->layout));
        add_pending(world, real, false, &item->scope);
        break;
    case ITEM_DISCARD:
        real->excused = false;
        real->layout = item->layout;
        add_pending(world, real, false, &item->scope);
        break;
    case ITEM_LEAVE:
        if (real->layout != item->layout)
            add_pending(world, real, true, &item->scope);
        real->layout = item->layout;
        add_pending(world, real, false, &item->scope);
        break;
    case ITEM_BARRIER:
        play_barrier(world, cell, item, since);
        break;
    case ITEM_REPAIR:
        play_repair(world, cell, item, since);
        break;
    case ITEM_FORGET:
        excuse(real);
        break;
    case ITEM_EXECUTE:
        break;
    }
}

static void excuse_cells(struct world *world, uint32_t mask)
{
    for (uint32_t cell = 0; cell < world->cell_count; cell++)
        if (mask >> cell & 1)
            excuse(&world->real[cell]);
}

/* Needs of the secondary that weren't compared with what the primary knows, or can't be met. */
static uint32_t unmet(const struct item *item)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < MODEL_CELLS; i++) {
        const struct model_cell *cell = &item->secondary->cells[i];
        bool unrepairable = cell->kind == MODEL_ACQUIRE ||
                            (cell->kind == MODEL_PLAIN && cell->need == VK_IMAGE_LAYOUT_PREINITIALIZED);
        if (cell->kind != MODEL_UNTOUCHED)
            mask |= (item->unchecked | (unrepairable ? item->lost : 0)) & 1u << i;
    }
    return mask;
}

static void play(struct world *world, const struct item *items, uint32_t count)
{
    uint64_t since = ++world->time;
    for (uint32_t i = 0; i < count; i++) {
        const struct item *item = &items[i];
        world->time++;
        if (item->kind == ITEM_EXECUTE) {
            excuse_cells(world, unmet(item));
            play(world, item->secondary->items, item->secondary->count);
            excuse_cells(world, item->lost);
        }
        for (uint32_t cell = 0; cell < world->cell_count; cell++)
            if (item->mask >> cell & 1)
                play_cell(world, cell, item, since);
    }
}

/* --- Submitting --- */

static bool is_ordered(void *context, uint8_t queue, uint64_t serial)
{
    const struct asking *asking = context;
    assert_true(queue < asking->world->queue_count && queue != asking->queue);
    assert_true(serial <= asking->world->serials[queue]);
    return serial <= asking->world->clocks[asking->queue][queue];
}

static void take_problem(void *context, enum resolve_problem problem, const struct transition *transition)
{
    struct asking *asking = context;
    uint32_t mask = model_mask(&asking->world->shape, &transition->range);
    for (uint32_t cell = 0; cell < MODEL_CELLS; cell++)
        if (mask >> cell & 1) {
            assert_false(asking->answers[cell].is_problem);
            asking->answers[cell].is_problem = true;
            asking->answers[cell].problem = problem;
        }
}

static bool all_ordered(const struct world *world, uint8_t queue, const struct model_device *device)
{
    for (uint8_t other = 0; other < world->queue_count; other++)
        if (other != queue && device->last[other] > world->clocks[queue][other])
            return false;
    return true;
}

static bool reads(const struct scope *scope)
{
    return scope->access & (VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_SHADER_READ_BIT |
                            VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT);
}

enum expected {
    EXPECT_NOTHING = -1, /* else an enum resolve_problem, or: */
    EXPECT_REPAIR = 100,
};

static int expect(const struct world *world, const struct tape *tape, uint8_t queue, uint32_t i, bool matches)
{
    const struct model_cell *cell = &tape->cells[i];
    const struct model_device *device = &world->device[i];
    bool exclusive = world->exclusive;
    bool other_family = device->family != ACCESS_NO_FAMILY && device->family != tape->family;
    if (device->unknown || (cell->kind != MODEL_PLAIN && cell->kind != MODEL_ACQUIRE))
        return EXPECT_NOTHING;
    if (cell->kind == MODEL_ACQUIRE)
        return exclusive && (!device->released || other_family) ? (int)RESOLVE_NEVER_RELEASED
                                                                : EXPECT_NOTHING;
    if (exclusive && device->released)
        return RESOLVE_RELEASED;
    if (exclusive && other_family && (!matches || reads(&cell->scope)))
        return RESOLVE_OTHER_FAMILY;
    if (matches || model_is_initial(cell->need))
        return EXPECT_NOTHING;
    return all_ordered(world, queue, device) ? (int)EXPECT_REPAIR : (int)RESOLVE_UNORDERED;
}

static void check_resolved(struct world *world, const struct tape *tape, uint8_t queue,
                           const struct asking *asking, uint32_t i)
{
    const struct answer *answer = &asking->answers[i];
    const struct model_cell *cell = &tape->cells[i];
    const struct model_device *device = &world->device[i];
    bool matches = world_cells_match(world, i, device->layout, cell->need);
    int expected = expect(world, tape, queue, i, matches);
    int got = answer->given ? EXPECT_REPAIR : answer->is_problem ? (int)answer->problem : EXPECT_NOTHING;
    uint32_t other = world_sibling_of(world, i);
    /* Both aspects in one layout and with one need are judged as one. */
    if (got != expected && other != UINT32_MAX && matches && device->layout == world->device[other].layout &&
        !world_cells_match(world, other, device->layout, cell->need) && tape->cells[other].need == cell->need)
        expected = expect(world, tape, queue, i, false);
    /* More queues than are remembered: the code may not know that it could. */
    if (world->queue_count > 2 && expected == EXPECT_REPAIR && got == RESOLVE_UNORDERED)
        expected = got;
    assert_int_equal(got, expected);
    if (answer->given)
        asking_check_transition(&answer->transition, device->layout, cell->need, &cell->scope);
}

static void device_forget(struct model_device *device)
{
    *device = (struct model_device){.unknown = true};
}

static void device_leave(struct world *world, const struct tape *tape, uint8_t queue, uint32_t i)
{
    const struct model_cell *cell = &tape->cells[i];
    struct model_device *device = &world->device[i];
    if (cell->unknown || (cell->released && !world->exclusive)) {
        device_forget(device);
        return;
    }
    for (uint8_t other = 0; other < world->queue_count; other++)
        if (device->unknown || device->last[other] <= world->clocks[queue][other] ||
            (world->queue_count > 2 && cell->has_barrier))
            device->last[other] = 0;
    device->unknown = false;
    device->layout = cell->layout;
    device->released = cell->released;
    device->family = !world->exclusive ? ACCESS_NO_FAMILY : cell->released ? cell->family : tape->family;
    device->queue = queue;
    device->last[queue] = world->serials[queue];
}

static void compare_device_range(void *context, const struct subresource_range *range, const void *value)
{
    const struct world *world = context;
    const struct access *access = value;
    uint32_t mask = model_mask(&world->shape, range);
    for (uint32_t i = 0; i < world->cell_count; i++) {
        const struct model_device *device = &world->device[i];
        if (!(mask >> i & 1))
            continue;
        assert_int_equal(access->flags & ACCESS_UNKNOWN ? 1 : 0, device->unknown);
        if (device->unknown)
            continue;
        assert_int_equal(access->layout, device->layout);
        assert_int_equal(access->flags & ACCESS_RELEASED ? 1 : 0, device->released);
        assert_int_equal(access->family, device->family);
        assert_int_equal(access->queue, device->queue);
        if (access->queue != ACCESS_NO_QUEUE)
            assert_true(access->serial == device->last[access->queue]);
    }
}

static void compare_device(struct world *world)
{
    struct subresource_range all = subresource_range_all(&world->shape);
    subresource_map_read(&world->state, &all, compare_device_range, world);
}

/* What the driver finds before the command buffer: what couldn't be repaired counts as if it had been. */
static void prepare_real(struct world *world, const struct tape *tape, const struct asking *asking)
{
    for (uint32_t i = 0; i < world->cell_count; i++) {
        const struct model_cell *cell = &tape->cells[i];
        struct model_real *real = &world->real[i];
        if (cell->kind == MODEL_UNTOUCHED)
            continue;
        if (world->queue_count > 1)
            real->count = 0;
        if (world->device[i].unknown)
            excuse(real);
        else if ((cell->kind == MODEL_PLAIN || cell->kind == MODEL_ACQUIRE) && !asking->answers[i].given)
            real->layout = world_cells_match(world, i, real->layout, cell->need) ? real->layout : cell->need;
    }
}

static void settle_real(struct world *world, const struct tape *tape)
{
    for (uint32_t i = 0; i < world->cell_count; i++) {
        const struct model_device *device = &world->device[i];
        struct model_real *real = &world->real[i];
        if (tape->cells[i].kind == MODEL_UNTOUCHED && !device->unknown)
            continue;
        if (device->unknown) {
            excuse(real);
        } else if (real->excused) {
            real->excused = false;
            real->layout = device->layout;
        } else {
            assert_true(world_cells_match(world, i, real->layout, device->layout));
        }
    }
}

uint32_t world_submit(struct world *world, const struct tape *tape, uint8_t queue)
{
    struct asking asking = {.world = world, .queue = queue};
    struct resolve resolve = {
        .family = tape->family,
        .queue = queue,
        .exclusive = world->exclusive,
        .serial = ++world->serials[queue],
        .is_ordered = is_ordered,
        .add = asking_take_transition,
        .problem = take_problem,
        .context = &asking,
    };
    uint32_t problems = 0;
    failing_memory.random = world->out_of_memory ? world->random : NULL;
    failing_memory.one_in = 3;
    unsigned failed = failing_memory.failed;
    bool done = contract_resolve(tape->image, &world->state, &resolve);
    failing_memory.random = NULL;
    assert_true(done || failing_memory.failed > failed);
    if (!done) {
        for (uint32_t i = 0; i < world->cell_count; i++) {
            device_forget(&world->device[i]);
            excuse(&world->real[i]);
        }
        compare_device(world);
        return 0;
    }
    for (uint32_t i = 0; i < world->cell_count; i++) {
        if (tape->cells[i].kind == MODEL_UNTOUCHED)
            assert_false(asking.answers[i].given || asking.answers[i].is_problem);
        else
            check_resolved(world, tape, queue, &asking, i);
        problems += asking.answers[i].is_problem;
    }
    if (asking.patch_count)
        world->last_patch = asking.patches[0];
    prepare_real(world, tape, &asking);
    world->time++;
    for (uint32_t i = 0; i < asking.patch_count; i++)
        for (uint32_t cell = 0; cell < world->cell_count; cell++)
            if (asking.patches[i].mask >> cell & 1) {
                assert_false(world->real[cell].excused);
                play_cell(world, cell, &asking.patches[i], 0);
            }
    for (uint32_t i = 0; i < world->cell_count; i++)
        if (tape->cells[i].kind != MODEL_UNTOUCHED)
            device_leave(world, tape, queue, i);
    play(world, tape->items, tape->count);
    settle_real(world, tape);
    compare_device(world);
    return asking.patch_count + problems;
}

/* --- Worlds --- */

void world_begin(struct world *world, struct random *random)
{
    bool depth = !random_below(random, 3);
    VkImageLayout layout =
        random_below(random, 2) ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_PREINITIALIZED;
    memset(world, 0, sizeof(*world));
    world->random = random;
    world->shape = (struct subresource_shape){depth ? 2 : 1, 1 + (uint32_t)random_below(random, 3),
                                              1 + (uint32_t)random_below(random, 4)};
    world->aspects[0] = depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    world->aspects[1] = VK_IMAGE_ASPECT_STENCIL_BIT;
    world->cell_count = model_cell_count(&world->shape);
    world->exclusive = random_below(random, 4);
    world->queue_count = 1 + (uint32_t)random_below(random, MODEL_QUEUES);
    world->first = access_initial(layout);
    subresource_map_init(&world->state, &world->shape, sizeof(struct access), &world->first, NULL);
    for (uint32_t i = 0; i < world->cell_count; i++) {
        world->device[i].layout = world->real[i].layout = layout;
        world->device[i].family = ACCESS_NO_FAMILY;
        world->device[i].queue = ACCESS_NO_QUEUE;
    }
}

void world_order_some(struct world *world)
{
    size_t queue = random_below(world->random, world->queue_count);
    size_t other = random_below(world->random, world->queue_count);
    for (size_t i = 0; i < world->queue_count; i++)
        if (world->clocks[queue][i] < world->clocks[other][i])
            world->clocks[queue][i] = world->clocks[other][i];
    world->clocks[queue][other] = world->serials[other];
}
