#include "contract_tape.h"

/* --- Memory that fails --- */

struct failing_memory failing_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t size);

static bool memory_fails(void)
{
    if (!failing_memory.random || random_below(failing_memory.random, failing_memory.one_in))
        return false;
    failing_memory.failed++;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return memory_fails() ? NULL : __real_malloc(size);
}

void *__wrap_arena_alloc(struct arena *arena, size_t size)
{
    return memory_fails() ? NULL : __real_arena_alloc(arena, size);
}

/* --- Cells --- */

static VkImageAspectFlagBits aspect_of(const struct world *world, uint32_t cell)
{
    return world->aspects[cell / (world->shape.mips * world->shape.layers)];
}

bool world_cells_match(const struct world *world, uint32_t cell, VkImageLayout a, VkImageLayout b)
{
    return model_match(a, b, aspect_of(world, cell));
}

uint32_t world_sibling_of(const struct world *world, uint32_t cell)
{
    uint32_t plane = world->shape.mips * world->shape.layers;
    if (world->shape.aspects == 1)
        return UINT32_MAX;
    return cell < plane ? cell + plane : cell - plane;
}

static uint32_t unknown_cells(const struct tape *tape)
{
    uint32_t mask = 0;
    for (uint32_t cell = 0; cell < tape->world->cell_count; cell++)
        if (tape->cells[cell].unknown)
            mask |= 1u << cell;
    return mask;
}

static uint32_t released_cells(const struct tape *tape)
{
    uint32_t mask = 0;
    for (uint32_t cell = 0; cell < tape->world->cell_count; cell++)
        if (tape->cells[cell].released)
            mask |= 1u << cell;
    return mask;
}

static struct item *add_item(struct tape *tape, enum item_kind kind, uint32_t mask)
{
    assert_true(tape->count < ITEMS);
    struct item *item = &tape->items[tape->count++];
    *item =
        (struct item){.kind = kind, .mask = mask, .unchecked = unknown_cells(tape) | released_cells(tape)};
    return item;
}

/* --- Sinks --- */

void asking_take_transition(void *context, const struct transition *transition)
{
    struct asking *asking = context;
    uint32_t mask = model_mask(&asking->world->shape, &transition->range);
    for (uint32_t cell = 0; cell < MODEL_CELLS; cell++)
        if (mask >> cell & 1) {
            assert_false(asking->answers[cell].given);
            asking->answers[cell].given = true;
            asking->answers[cell].transition = *transition;
        }
    struct item *item =
        asking->tape ? add_item(asking->tape, ITEM_REPAIR, mask) : &asking->patches[asking->patch_count++];
    *item = (struct item){
        .kind = ITEM_REPAIR,
        .mask = mask,
        .old_layout = transition->old_layout,
        .layout = transition->new_layout,
        .source = transition->source,
        .scope = transition->destination,
    };
    if (asking->tape)
        asking->tape->repairs++;
}

static void take_part(void *context, const struct barrier_part *part)
{
    struct asking *asking = context;
    uint32_t mask = model_mask(&asking->world->shape, &part->range);
    for (uint32_t cell = 0; cell < MODEL_CELLS; cell++)
        if (mask >> cell & 1) {
            assert_false(asking->answers[cell].has_part);
            asking->answers[cell].has_part = true;
            asking->answers[cell].part = *part;
        }
    asking->parts++;
    asking->rewritten += part->rewritten;
    asking->tape->repairs += part->rewritten;
}

/* --- The model of recording --- */

static bool writes(const struct scope *scope)
{
    return model_writes(scope->access) != 0;
}

/* Where both aspects are in one layout that only one of them can't be used in, both may be transitioned. */
static bool may_come_along(const struct world *world, const struct model_cell *before, uint32_t mask,
                           uint32_t cell, VkImageLayout needed)
{
    uint32_t other = world_sibling_of(world, cell);
    return other != UINT32_MAX && (mask >> other & 1) && before[other].kind != MODEL_UNTOUCHED &&
           !before[other].unknown && !before[other].released && before[other].layout == before[cell].layout &&
           !world_cells_match(world, other, before[other].layout, needed);
}

void asking_check_transition(const struct transition *transition, VkImageLayout old_layout,
                             VkImageLayout new_layout, const struct scope *destination)
{
    assert_int_equal(transition->old_layout, old_layout);
    assert_int_equal(transition->new_layout, new_layout);
    assert_true(transition->destination.stages == destination->stages);
    assert_true(transition->destination.access == destination->access);
}

/* Whether the cell was transitioned as it had to be. */
static bool was_transitioned(const struct asking *asking, const struct model_cell *before, uint32_t mask,
                             uint32_t cell, VkImageLayout needed, const struct scope *destination)
{
    const struct answer *answer = &asking->answers[cell];
    bool matches = world_cells_match(asking->world, cell, before[cell].layout, needed);
    if (!answer->given) {
        assert_true(matches);
        return false;
    }
    if (matches)
        assert_true(may_come_along(asking->world, before, mask, cell, needed));
    asking_check_transition(&answer->transition, before[cell].layout, needed, destination);
    return true;
}

static void model_first(struct model_cell *cell, enum model_need kind, VkImageLayout need,
                        const struct scope *scope)
{
    cell->kind = kind;
    cell->need = need;
    cell->scope = *scope;
    cell->open = false;
}

static void model_add(struct model_cell *cell, const struct scope *scope)
{
    cell->open = cell->open && !writes(scope);
    if (cell->open) {
        cell->scope.stages |= scope->stages;
        cell->scope.access |= scope->access;
    }
}

static void model_use(struct asking *asking, uint32_t mask, const struct use *use)
{
    struct model_cell before[MODEL_CELLS];
    memcpy(before, asking->tape->cells, sizeof(before));
    for (uint32_t i = 0; i < asking->world->cell_count; i++) {
        struct model_cell *cell = &asking->tape->cells[i];
        bool known = cell->kind != MODEL_UNTOUCHED && !cell->unknown && !cell->released;
        if (!(mask >> i & 1) || !known)
            assert_false(asking->answers[i].given);
        if (!(mask >> i & 1))
            continue;
        if (cell->kind == MODEL_UNTOUCHED) {
            model_first(cell, MODEL_PLAIN, use->layout, &use->scope);
            cell->open = !writes(&use->scope);
            cell->layout = use->layout;
        } else if (known) {
            if (was_transitioned(asking, before, mask, i, use->layout, &use->scope)) {
                cell->open = false;
                cell->has_barrier = true;
                cell->layout = use->layout;
            }
            model_add(cell, &use->scope);
        }
    }
}

static void model_discard(struct tape *tape, uint32_t mask, const struct use *use)
{
    for (uint32_t i = 0; i < tape->world->cell_count; i++) {
        struct model_cell *cell = &tape->cells[i];
        if (!(mask >> i & 1))
            continue;
        if (cell->kind == MODEL_UNTOUCHED)
            model_first(cell, MODEL_DISCARD, VK_IMAGE_LAYOUT_UNDEFINED, &use->scope);
        cell->unknown = cell->released = cell->open = false;
        cell->layout = use->layout;
    }
}

static void model_leave(struct tape *tape, uint32_t mask, VkImageLayout layout, const struct scope *last)
{
    for (uint32_t i = 0; i < tape->world->cell_count; i++) {
        struct model_cell *cell = &tape->cells[i];
        if (!(mask >> i & 1) || cell->unknown || cell->released)
            continue;
        if (cell->kind == MODEL_UNTOUCHED)
            cell->kind = MODEL_NOTHING;
        cell->open = cell->open && cell->layout == layout;
        model_add(cell, last);
        cell->layout = layout;
    }
}

static void model_forget(struct tape *tape, uint32_t mask)
{
    for (uint32_t i = 0; i < tape->world->cell_count; i++)
        if (mask >> i & 1)
            model_make_unknown(&tape->cells[i]);
}

/* The state of a cell after a barrier that was right about it. */
static void model_pass(struct model_cell *cell, const struct contract_barrier *barrier, bool release,
                       bool acquire)
{
    struct scope scope = model_chain_scope(&barrier->source);
    bool discard = barrier->old_layout == VK_IMAGE_LAYOUT_UNDEFINED;
    if (cell->kind == MODEL_UNTOUCHED)
        model_first(cell,
                    discard   ? MODEL_DISCARD
                    : acquire ? MODEL_ACQUIRE
                              : MODEL_PLAIN,
                    barrier->old_layout, &scope);
    cell->unknown = cell->open = false;
    cell->released = release;
    cell->family = release ? barrier->destination_family : 0;
    cell->layout = release ? barrier->old_layout : barrier->new_layout;
    cell->has_barrier = cell->has_barrier || (!acquire && barrier->source.stages);
}

static void check_part(const struct answer *answer, VkImageLayout old_layout, bool rewritten,
                       const struct contract_barrier *barrier)
{
    assert_true(answer->has_part);
    assert_int_equal(answer->part.rewritten, rewritten);
    assert_int_equal(answer->part.old_layout, old_layout);
    assert_true((answer->part.source.stages & barrier->source.stages) == barrier->source.stages);
    assert_true((answer->part.source.access & barrier->source.access) == barrier->source.access);
    if (!rewritten) {
        assert_true(answer->part.source.stages == barrier->source.stages);
        assert_true(answer->part.source.access == barrier->source.access);
    }
}

struct finding_unknown {
    const struct world *world;
    uint32_t cells;
};

static void find_unknown(void *context, const struct subresource_range *range, const void *value)
{
    struct finding_unknown *finding = context;
    const struct contract_state *state = value;
    if (state->access.flags & ACCESS_UNKNOWN)
        finding->cells |= model_mask(&finding->world->shape, range);
}

/* What the contract itself says, for the one question to which both answers are right. */
static bool contract_is_unknown(const struct tape *tape, uint32_t cell)
{
    struct finding_unknown finding = {tape->world, 0};
    struct subresource_range all = subresource_range_all(&tape->world->shape);
    subresource_map_read(&tape->image->map, &all, find_unknown, &finding);
    return finding.cells >> cell & 1;
}

/* One cell that is known to be in some layout. */
static void model_barrier_known(struct asking *asking, const struct model_cell *before, uint32_t mask,
                                uint32_t i, const struct contract_barrier *barrier, bool release,
                                bool acquire)
{
    struct model_cell *cell = &asking->tape->cells[i];
    const struct answer *answer = &asking->answers[i];
    bool matches = barrier->old_layout == VK_IMAGE_LAYOUT_UNDEFINED ||
                   world_cells_match(asking->world, i, cell->layout, barrier->old_layout);
    bool along = barrier->old_layout != VK_IMAGE_LAYOUT_UNDEFINED &&
                 may_come_along(asking->world, before, mask, i, barrier->old_layout);
    bool wrong = !matches || (along && (answer->given || answer->part.rewritten));
    if ((release || acquire) && (!matches || along)) {
        /* Aspects in one layout are judged as one only where they are stored as one: either will do. */
        bool unknown = !matches || contract_is_unknown(asking->tape, i);
        assert_false(answer->given);
        check_part(answer, barrier->old_layout, false, barrier);
        if (unknown)
            model_make_unknown(cell);
        else
            model_pass(cell, barrier, release, acquire);
    } else if (!wrong) {
        assert_false(answer->given);
        check_part(answer, barrier->old_layout, false, barrier);
        model_pass(cell, barrier, release, acquire);
    } else if (!barrier->fixed) {
        assert_false(answer->given);
        check_part(answer, before[i].layout, true, barrier);
        model_pass(cell, barrier, false, false);
        cell->has_barrier = cell->has_barrier || answer->part.source.stages;
    } else if (model_is_initial(barrier->old_layout)) {
        assert_false(answer->given);
        check_part(answer, barrier->old_layout, false, barrier);
        model_make_unknown(cell);
    } else {
        struct scope scope = model_chain_scope(&barrier->source);
        assert_true(answer->given);
        asking_check_transition(&answer->transition, before[i].layout, barrier->old_layout, &scope);
        check_part(answer, barrier->old_layout, false, barrier);
        cell->has_barrier = true;
        model_pass(cell, barrier, false, false);
    }
}

static void model_barrier(struct asking *asking, uint32_t mask, const struct contract_barrier *barrier)
{
    struct model_cell before[MODEL_CELLS];
    bool transfer = barrier->source_family != barrier->destination_family;
    bool release = transfer && barrier->source_family == barrier->family;
    bool acquire = transfer && barrier->destination_family == barrier->family;
    bool understood = !transfer || release || acquire;
    memcpy(before, asking->tape->cells, sizeof(before));
    for (uint32_t i = 0; i < asking->world->cell_count; i++) {
        struct model_cell *cell = &asking->tape->cells[i];
        bool flagged = cell->unknown || cell->released;
        if (!(mask >> i & 1)) {
            assert_false(asking->answers[i].given || asking->answers[i].has_part);
        } else if (!understood || (flagged && barrier->old_layout != VK_IMAGE_LAYOUT_UNDEFINED)) {
            assert_false(asking->answers[i].given);
            check_part(&asking->answers[i], barrier->old_layout, false, barrier);
            model_make_unknown(cell);
        } else if (flagged || cell->kind == MODEL_UNTOUCHED) {
            assert_false(asking->answers[i].given);
            check_part(&asking->answers[i], barrier->old_layout, false, barrier);
            model_pass(cell, barrier, release, acquire);
        } else {
            model_barrier_known(asking, before, mask, i, barrier, release, acquire);
        }
    }
    if (!asking->rewritten)
        assert_int_equal(asking->parts, 1);
}

/* What of a need is met, and how, is as with a use. */
static void model_execute(struct asking *asking, const struct tape *secondary)
{
    struct model_cell before[MODEL_CELLS];
    memcpy(before, asking->tape->cells, sizeof(before));
    for (uint32_t i = 0; i < asking->world->cell_count; i++) {
        struct model_cell *cell = &asking->tape->cells[i];
        const struct model_cell *other = &secondary->cells[i];
        bool open = cell->open;
        struct scope scope = cell->scope;
        enum model_need kind = cell->kind;
        VkImageLayout need = cell->need;
        bool has_barrier = cell->has_barrier;
        bool flagged = cell->unknown || cell->released, lost = false;
        if (other->kind == MODEL_UNTOUCHED || cell->kind == MODEL_UNTOUCHED) {
            assert_false(asking->answers[i].given);
            if (other->kind != MODEL_UNTOUCHED)
                *cell = *other;
            continue;
        }
        if (other->kind == MODEL_PLAIN && !flagged && !model_is_initial(other->need)) {
            if (was_transitioned(asking, before, UINT32_MAX, i, other->need, &other->scope))
                open = false, has_barrier = true;
        } else {
            assert_false(asking->answers[i].given);
            lost = (other->kind == MODEL_PLAIN || other->kind == MODEL_ACQUIRE) &&
                   (flagged || !world_cells_match(asking->world, i, cell->layout, other->need) ||
                    (may_come_along(asking->world, before, UINT32_MAX, i, other->need) &&
                     contract_is_unknown(asking->tape, i)));
        }
        *cell = *other;
        if (lost)
            model_make_unknown(cell);
        cell->kind = kind;
        cell->need = need;
        cell->scope = scope;
        cell->has_barrier = has_barrier || (!cell->unknown && other->has_barrier);
        if (open && other->kind == MODEL_PLAIN && !writes(&other->scope) && !cell->unknown) {
            cell->scope.stages |= other->scope.stages;
            cell->scope.access |= other->scope.access;
        }
        cell->open = open && other->kind == MODEL_PLAIN && other->open && !cell->unknown;
    }
}

/* --- Comparing a contract with the model --- */

struct comparing {
    const struct tape *tape;
    uint32_t seen;
};

static void compare_state(const struct contract_state *state, const struct model_cell *cell)
{
    static const uint8_t kinds[] = {
        [MODEL_UNTOUCHED] = 0,
        [MODEL_PLAIN] = NEED_SET,
        [MODEL_DISCARD] = NEED_SET | NEED_DISCARD,
        [MODEL_ACQUIRE] = NEED_SET | NEED_ACQUIRE,
        [MODEL_NOTHING] = NEED_SET | NEED_NOTHING,
    };
    assert_int_equal(state->need.flags & ~NEED_OPEN, kinds[cell->kind]);
    if (cell->kind == MODEL_UNTOUCHED)
        return;
    assert_int_equal(state->access.flags & ACCESS_UNKNOWN ? 1 : 0, cell->unknown);
    if (cell->kind == MODEL_PLAIN || cell->kind == MODEL_ACQUIRE) {
        assert_int_equal(state->need.layout, cell->need);
        assert_true(state->need.scope.stages == cell->scope.stages);
        assert_true(state->need.scope.access == cell->scope.access);
    }
    if (cell->unknown)
        return;
    assert_int_equal(state->access.flags & ACCESS_RELEASED ? 1 : 0, cell->released);
    assert_int_equal(state->access.layout, cell->layout);
    if (cell->released)
        assert_int_equal(state->access.family, cell->family);
}

static void compare_range(void *context, const struct subresource_range *range, const void *value)
{
    struct comparing *comparing = context;
    const struct tape *tape = comparing->tape;
    uint32_t mask = model_mask(&tape->world->shape, range);
    assert_true(mask && !(mask & comparing->seen));
    comparing->seen |= mask;
    for (uint32_t cell = 0; cell < tape->world->cell_count; cell++)
        if (mask >> cell & 1)
            compare_state(value, &tape->cells[cell]);
}

void tape_compare(const struct tape *tape)
{
    struct comparing comparing = {tape, 0};
    struct subresource_range all = subresource_range_all(&tape->world->shape);
    subresource_map_read(&tape->image->map, &all, compare_range, &comparing);
    assert_int_equal(comparing.seen, (1u << tape->world->cell_count) - 1);
}

/* --- Random commands --- */

VkImageLayout tape_random_layout(const struct world *world)
{
    static const VkImageLayout color[] = {
        VK_IMAGE_LAYOUT_GENERAL,
        VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL,
        VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL,
    };
    static const VkImageLayout depth[] = {
        VK_IMAGE_LAYOUT_GENERAL,
        VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
        VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
    };
    return (world->shape.aspects == 1 ? color : depth)[random_below(world->random, 6)];
}

struct scope tape_random_use_scope(struct random *random)
{
    static const struct scope scopes[] = {
        {MODEL_STAGE(COPY), VK_ACCESS_2_TRANSFER_WRITE_BIT},
        {MODEL_STAGE(COPY), VK_ACCESS_2_TRANSFER_READ_BIT},
        {MODEL_STAGE(CLEAR), VK_ACCESS_2_TRANSFER_WRITE_BIT},
        {MODEL_STAGE(FRAGMENT_SHADER), VK_ACCESS_2_SHADER_READ_BIT},
        {MODEL_STAGE(COMPUTE_SHADER), VK_ACCESS_2_SHADER_READ_BIT},
        {MODEL_STAGE(COMPUTE_SHADER), VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT},
        {MODEL_STAGE(COLOR_ATTACHMENT_OUTPUT), VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
        {MODEL_STAGE(FRAGMENT_SHADER) | MODEL_STAGE(COMPUTE_SHADER), VK_ACCESS_2_SHADER_READ_BIT},
    };
    return scopes[random_below(random, 8)];
}

struct scope tape_random_barrier_scope(struct random *random)
{
    static const struct scope scopes[] = {
        {MODEL_STAGE(ALL_COMMANDS), VK_ACCESS_2_MEMORY_WRITE_BIT | VK_ACCESS_2_MEMORY_READ_BIT},
        {MODEL_STAGE(TOP_OF_PIPE), 0},
        {MODEL_STAGE(BOTTOM_OF_PIPE), 0},
        {VK_PIPELINE_STAGE_2_NONE, 0},
        {MODEL_STAGE(ALL_TRANSFER), VK_ACCESS_2_TRANSFER_WRITE_BIT},
        {MODEL_STAGE(ALL_TRANSFER) | MODEL_STAGE(TOP_OF_PIPE), 0},
    };
    size_t pick = random_below(random, 12);
    return pick < 6 ? scopes[pick] : tape_random_use_scope(random);
}

static void random_stretch(struct random *random, uint32_t limit, uint32_t *base, uint32_t *count)
{
    *base = 0;
    *count = limit;
    if (random_below(random, 2))
        return;
    *base = (uint32_t)random_below(random, limit);
    *count = 1 + (uint32_t)random_below(random, limit - *base);
}

struct subresource_range tape_random_range(const struct world *world)
{
    struct subresource_range range = {.aspects = (1u << world->shape.aspects) - 1};
    if (world->shape.aspects == 2 && !random_below(world->random, 3))
        range.aspects = 1u << random_below(world->random, 2);
    random_stretch(world->random, world->shape.mips, &range.base_mip, &range.mip_count);
    random_stretch(world->random, world->shape.layers, &range.base_layer, &range.layer_count);
    return range;
}

/* Without memory even what was needed at first isn't known any more. */
static void model_forget_all(struct tape *tape)
{
    model_forget(tape, UINT32_MAX);
    for (uint32_t i = 0; i < tape->world->cell_count; i++)
        tape->cells[i].kind = MODEL_NOTHING;
    for (uint32_t i = 0; i < tape->count; i++)
        tape->items[i].unchecked = tape->items[i].lost = UINT32_MAX;
}

/* The code's word after each command: false only without memory. */
static bool took(struct tape *tape, bool done, unsigned failed_before)
{
    if (done)
        return true;
    assert_true(failing_memory.failed > failed_before);
    model_forget_all(tape);
    return false;
}

void tape_record_use(struct tape *tape, const struct subresource_range *range, const struct use *use)
{
    struct asking asking = {.tape = tape, .world = tape->world};
    struct transition_sink sink = {asking_take_transition, &asking};
    uint32_t mask = model_mask(&tape->world->shape, range);
    unsigned failed = failing_memory.failed;
    bool done = contract_use(tape->image, range, use, &sink);
    if (took(tape, done, failed))
        model_use(&asking, mask, use);
    struct item *item = add_item(tape, ITEM_USE, mask);
    item->layout = use->layout;
    item->scope = use->scope;
}

static void record_attachment(struct tape *tape, const struct subresource_range *range, const struct use *use)
{
    struct random *random = tape->world->random;
    uint32_t mask = model_mask(&tape->world->shape, range);
    VkImageLayout final = random_below(random, 2) ? use->layout : tape_random_layout(tape->world);
    struct scope last = tape_random_use_scope(random);
    unsigned failed = failing_memory.failed;
    bool discards = random_below(random, 2);
    if (discards) {
        if (took(tape, contract_use_discard(tape->image, range, use), failed))
            model_discard(tape, mask, use);
        struct item *item = add_item(tape, ITEM_DISCARD, mask);
        item->layout = use->layout;
        item->scope = use->scope;
    } else if (random_below(random, 4)) {
        tape_record_use(tape, range, use);
    }
    failed = failing_memory.failed;
    if (took(tape, contract_leave(tape->image, range, final, &last), failed))
        model_leave(tape, mask, final, &last);
    struct item *item = add_item(tape, ITEM_LEAVE, mask);
    item->layout = final;
    item->scope = last;
}

static void record_forget(struct tape *tape, const struct subresource_range *range)
{
    uint32_t mask = model_mask(&tape->world->shape, range);
    struct use use = {.layout = random_below(tape->world->random, 2) ? VK_IMAGE_LAYOUT_MAX_ENUM
                                                                     : VK_IMAGE_LAYOUT_UNDEFINED};
    struct asking asking = {.tape = tape, .world = tape->world};
    struct transition_sink sink = {asking_take_transition, &asking};
    unsigned failed = failing_memory.failed;
    if (random_below(tape->world->random, 2))
        contract_forget(tape->image, range);
    else /* no layout to be in */
        assert_true(contract_use(tape->image, range, &use, &sink));
    if (failing_memory.failed > failed)
        model_forget_all(tape);
    else
        model_forget(tape, mask);
    add_item(tape, ITEM_FORGET, mask);
}

static void add_part_items(struct asking *asking, uint32_t mask, const struct contract_barrier *barrier,
                           bool transfer)
{
    struct item *items[MODEL_CELLS] = {NULL};
    for (uint32_t cell = 0; cell < asking->world->cell_count; cell++) {
        if (!(mask >> cell & 1))
            continue;
        const struct barrier_part *part = &asking->answers[cell].part;
        uint32_t part_mask = model_mask(&asking->world->shape, &part->range);
        uint32_t first = (uint32_t)__builtin_ctz(part_mask);
        assert_false(part_mask & ~mask);
        if (!items[first])
            items[first] = add_item(asking->tape, ITEM_BARRIER, part_mask);
        struct item *item = items[first];
        item->old_layout = part->old_layout;
        item->source = part->source;
        item->rewritten = part->rewritten;
        item->layout = barrier->new_layout;
        item->scope = barrier->destination;
        item->transfer = transfer;
        item->release = transfer && barrier->source_family == barrier->family;
        item->acquire = transfer && !item->release;
        item->lost = unknown_cells(asking->tape) & part_mask;
    }
}

void tape_record_barrier(struct tape *tape, const struct subresource_range *range,
                         const struct contract_barrier *barrier)
{
    struct asking asking = {.tape = tape, .world = tape->world};
    struct transition_sink sink = {asking_take_transition, &asking};
    struct part_sink parts = {take_part, &asking};
    uint32_t mask = model_mask(&tape->world->shape, range);
    unsigned failed = failing_memory.failed;
    bool done = contract_transition(tape->image, range, barrier, &parts, &sink);
    assert_int_equal(asking.parts > 0, asking.rewritten > 0);
    if (!asking.parts) {
        struct barrier_part whole = {*range, barrier->old_layout, barrier->source, false};
        take_part(&asking, &whole);
    }
    if (!took(tape, done, failed)) {
        assert_int_equal(asking.parts, 1);
        assert_int_equal(asking.rewritten, 0);
    } else if (failing_memory.failed > failed) {
        /* Only the forgetting of a barrier that isn't understood can have met it. */
        model_forget_all(tape);
    } else {
        model_barrier(&asking, mask, barrier);
    }
    add_part_items(&asking, mask, barrier, barrier->source_family != barrier->destination_family);
}

static void record_random_barrier(struct tape *tape, const struct subresource_range *range)
{
    struct random *random = tape->world->random;
    uint32_t first = (uint32_t)__builtin_ctz(model_mask(&tape->world->shape, range));
    struct contract_barrier barrier = {
        .old_layout = tape->cells[first].kind != MODEL_UNTOUCHED ? tape->cells[first].layout
                                                                 : tape_random_layout(tape->world),
        .new_layout = tape_random_layout(tape->world),
        .source = tape_random_barrier_scope(random),
        .destination = tape_random_barrier_scope(random),
        .source_family = ACCESS_NO_FAMILY,
        .destination_family = ACCESS_NO_FAMILY,
        .family = tape->family,
        .fixed = !random_below(random, 5),
    };
    size_t pick = random_below(random, 12);
    if (pick < 3)
        barrier.old_layout = tape_random_layout(tape->world);
    else if (pick < 5)
        barrier.old_layout = VK_IMAGE_LAYOUT_UNDEFINED;
    else if (pick == 5)
        barrier.old_layout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    if (!random_below(random, 4)) {
        barrier.source_family = (uint8_t)random_below(random, FAMILIES);
        barrier.destination_family = barrier.source_family ^ 1;
        if (!random_below(random, 10))
            barrier.source_family = 7, barrier.destination_family = 8;
    }
    tape_record_barrier(tape, range, &barrier);
}

void tape_record_execute(struct tape *tape, const struct tape *secondary)
{
    struct asking asking = {.tape = tape, .world = tape->world};
    struct transition_sink sink = {asking_take_transition, &asking};
    unsigned failed = failing_memory.failed;
    bool done = contract_execute(tape->image, secondary->image, &sink);
    struct item *item = add_item(tape, ITEM_EXECUTE, 0);
    item->secondary = secondary;
    if (took(tape, done, failed))
        model_execute(&asking, secondary);
    item->lost = unknown_cells(tape) | released_cells(tape);
}

static void record_command(struct tape *tape, const struct tape *secondary)
{
    struct random *random = tape->world->random;
    struct subresource_range range = tape_random_range(tape->world);
    struct use use = {.layout = tape_random_layout(tape->world), .scope = tape_random_use_scope(random)};
    size_t pick = random_below(random, 20);
    if (pick < 8)
        tape_record_use(tape, &range, &use);
    else if (pick < 10)
        record_attachment(tape, &range, &use);
    else if (pick < 18)
        record_random_barrier(tape, &range);
    else if (pick == 18)
        record_forget(tape, &range);
    else if (secondary)
        tape_record_execute(tape, secondary);
}

void tape_begin(struct tape *tape, const struct world *world, uint8_t family)
{
    static int image;
    struct random *random = failing_memory.random;
    memset(tape, 0, sizeof(*tape));
    tape->world = world;
    tape->family = family;
    tape->contract.arena = &tape->arena;
    failing_memory.random = NULL;
    tape->image =
        contract_add(&tape->contract, (struct image *)(void *)&image, &world->shape, world->aspects);
    failing_memory.random = random;
    assert_non_null(tape->image);
}

void tape_record_random(struct tape *tape, const struct world *world, const struct tape *secondary)
{
    size_t commands = random_below(world->random, 14);
    failing_memory.random = world->out_of_memory ? world->random : NULL;
    failing_memory.one_in = 6;
    for (size_t i = 0; i < commands; i++) {
        record_command(tape, secondary);
        tape_compare(tape);
    }
    failing_memory.random = NULL;
}
