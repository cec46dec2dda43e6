/* barrier_batch.c against a model of what calls order (model_barriers.h): all pairs of calls in a very small
 * world, and random sequences in a less small one. */
#include "check.h"
#include "model_barriers.h"
#include "random.h"
#include "sync/barrier_batch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CALLS_MAX 6
#define BARRIERS_MAX 3

#define STAGE(name) VK_PIPELINE_STAGE_2_##name##_BIT
#define ACCESS(name) VK_ACCESS_2_##name##_BIT
#define LAYOUT(name) VK_IMAGE_LAYOUT_##name

/* realloc() fails while this is 0; counts down. Linked with --wrap=realloc. */
static int reallocs_left = -1;
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    if (reallocs_left == 0)
        return NULL;
    if (reallocs_left > 0)
        reallocs_left--;
    return __real_realloc(memory, size);
}

/* A call and what it points to. */
struct test_call {
    struct barrier_call call;
    VkMemoryBarrier2 memory[BARRIERS_MAX];
    VkBufferMemoryBarrier2 buffers[BARRIERS_MAX];
    VkImageMemoryBarrier2 images[BARRIERS_MAX];
};

static void point(struct test_call *test)
{
    test->call.memory = test->memory;
    test->call.buffers = test->buffers;
    test->call.images = test->images;
}

static VkMemoryBarrier2 memory_barrier(VkPipelineStageFlags2 source, VkAccessFlags2 source_access,
                                       VkPipelineStageFlags2 destination, VkAccessFlags2 destination_access)
{
    return (VkMemoryBarrier2){.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                              .srcStageMask = source,
                              .srcAccessMask = source_access,
                              .dstStageMask = destination,
                              .dstAccessMask = destination_access};
}

static VkImageMemoryBarrier2 image_barrier(uint32_t image, VkImageLayout from, VkImageLayout to,
                                           const VkMemoryBarrier2 *masks)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = masks->srcStageMask,
        .srcAccessMask = masks->srcAccessMask,
        .dstStageMask = masks->dstStageMask,
        .dstAccessMask = masks->dstAccessMask,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = MODEL_IMAGE(image),
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, MODEL_MIPS, 0, 1},
    };
}

static VkBufferMemoryBarrier2 buffer_barrier(uint32_t buffer, uint32_t half, uint32_t halves,
                                             const VkMemoryBarrier2 *masks)
{
    return (VkBufferMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = masks->srcStageMask,
        .srcAccessMask = masks->srcAccessMask,
        .dstStageMask = masks->dstStageMask,
        .dstAccessMask = masks->dstAccessMask,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = MODEL_BUFFER(buffer),
        .offset = half * MODEL_HALF,
        .size = halves * MODEL_HALF,
    };
}

static const struct barrier_rules sync2_rules = {true, true, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT};
static const struct barrier_rules sync1_rules = {false, false, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT};

/* ---- Feeding calls, taking out what they became ---- */

struct run {
    struct barrier_batch batch;
    const struct barrier_rules *rules;
    struct model models[MODEL_READINGS]; /* of what comes out */
    int readings;                        /* that make a difference */
    struct test_call *pending;           /* the first call in the batch */
    uint32_t calls_out, images_out;
    const char *problem;
};

static struct barrier_call batch_as_call(const struct barrier_batch *batch)
{
    return (struct barrier_call){
        .origin = batch->origin,
        .flags = batch->flags,
        .source1 = batch->source1,
        .destination1 = batch->destination1,
        .memory_count = batch->memory_count,
        .buffer_count = batch->buffer_count,
        .image_count = batch->image_count,
        .memory = batch->memory,
        .buffers = batch->buffers,
        .images = batch->images,
    };
}

/* `items` begin at `first` in `all`, which may be NULL where there are none. */
static bool same_items(const void *all, uint32_t first, const void *items, uint32_t count, size_t size)
{
    return count == 0 || memcmp((const char *)all + first * size, items, count * size) == 0;
}

/* The calls, one behind the other, are exactly what the batch holds. */
static bool is_concatenation(const struct barrier_batch *batch, const struct test_call *calls)
{
    uint32_t memory = 0, buffers = 0, images = 0;
    for (uint32_t i = 0; i < batch->calls; i++) {
        const struct barrier_call *call = &calls[i].call;
        if (memory + call->memory_count > batch->memory_count ||
            buffers + call->buffer_count > batch->buffer_count ||
            images + call->image_count > batch->image_count ||
            !same_items(batch->memory, memory, call->memory, call->memory_count, sizeof(*call->memory)) ||
            !same_items(batch->buffers, buffers, call->buffers, call->buffer_count, sizeof(*call->buffers)) ||
            !same_items(batch->images, images, call->images, call->image_count, sizeof(*call->images)))
            return false;
        memory += call->memory_count;
        buffers += call->buffer_count;
        images += call->image_count;
    }
    return memory == batch->memory_count && buffers == batch->buffer_count && images == batch->image_count;
}

static bool call_overlaps(const struct barrier_call *call)
{
    for (uint32_t i = 0; i < call->image_count; i++)
        for (uint32_t j = i + 1; j < call->image_count; j++)
            if (model_image_resources(&call->images[i]) & model_image_resources(&call->images[j]))
                return true;
    return false;
}

static bool accesses_fit(VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    return scope_access_of_stages(access, stages) == access;
}

/* As validation would see it: each access belongs to some stage of its mask. */
static bool call_accesses_fit(const struct barrier_call *call)
{
    for (uint32_t i = 0; i < call->memory_count; i++)
        if (!accesses_fit(call->memory[i].srcStageMask, call->memory[i].srcAccessMask) ||
            !accesses_fit(call->memory[i].dstStageMask, call->memory[i].dstAccessMask))
            return false;
    for (uint32_t i = 0; i < call->buffer_count; i++)
        if (!accesses_fit(call->buffers[i].srcStageMask, call->buffers[i].srcAccessMask) ||
            !accesses_fit(call->buffers[i].dstStageMask, call->buffers[i].dstAccessMask))
            return false;
    for (uint32_t i = 0; i < call->image_count; i++)
        if (!accesses_fit(call->images[i].srcStageMask, call->images[i].srcAccessMask) ||
            !accesses_fit(call->images[i].dstStageMask, call->images[i].dstAccessMask))
            return false;
    return true;
}

/* Under sync1 one mask stands for all of a joined call. */
static bool has_one_mask(const struct barrier_call *call)
{
    struct scope source = {0, 0}, destination = {0, 0};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < call->memory_count + call->buffer_count + call->image_count; i++) {
        uint32_t k = i;
        VkPipelineStageFlags2 from, to;
        if (k < call->memory_count) {
            from = call->memory[k].srcStageMask;
            to = call->memory[k].dstStageMask;
        } else if ((k -= call->memory_count) < call->buffer_count) {
            from = call->buffers[k].srcStageMask;
            to = call->buffers[k].dstStageMask;
        } else {
            k -= call->buffer_count;
            from = call->images[k].srcStageMask;
            to = call->images[k].dstStageMask;
        }
        if (seen++ && (from != source.stages || to != destination.stages))
            return false;
        source.stages = from;
        destination.stages = to;
    }
    return true;
}

static const char *find_problem(const struct run *run, const struct barrier_call *out)
{
    const struct barrier_batch *batch = &run->batch;
    const struct barrier_call *first = &run->pending->call;
    if (batch->flags != first->flags)
        return "other dependency flags";
    if (!batch->changed && !is_concatenation(batch, run->pending))
        return "changed without saying so";
    bool sync1 = first->origin == BARRIER_SYNC1;
    if (batch->calls == 1 &&
        (batch->changed || batch->origin != first->origin ||
         (sync1 && (batch->source1 != first->source1 || batch->destination1 != first->destination1))))
        return "a single call isn't what it was";
    if (batch->calls > 1 && batch->origin != BARRIER_LAYER)
        return "joined calls have an origin";
    if (batch->calls > 1 && call_overlaps(out))
        return "ranges overlap in a joined call";
    if (batch->calls > 1 && !run->rules->sync2 && !has_one_mask(out))
        return "joined under sync1 with different masks";
    if (!call_accesses_fit(out))
        return "accesses without a stage that does them";
    return NULL;
}

static void take_out(struct run *run)
{
    if (!run->batch.calls)
        return;
    struct barrier_call out = batch_as_call(&run->batch);
    if (!run->problem)
        run->problem = find_problem(run, &out);
    bool as_sync1 = !run->rules->sync2 || (run->batch.calls == 1 && run->batch.origin == BARRIER_SYNC1);
    /* Joined calls of sync1 have the masks of the first. */
    if (as_sync1 && run->pending->call.origin == BARRIER_SYNC1)
        out.origin = BARRIER_SYNC1;
    for (int i = 0; i < run->readings; i++)
        model_apply(&run->models[i], &out, as_sync1);
    run->calls_out++;
    run->images_out += out.image_count;
    barrier_batch_clear(&run->batch);
}

/* What is wrong with what came out, or NULL. */
static const char *run_calls(struct run *run, struct test_call *calls, uint32_t count,
                             const struct barrier_rules *rules)
{
    struct model was[MODEL_READINGS];
    uint32_t images_in = 0;
    for (int i = 0; i < run->readings; i++) {
        model_init(&was[i], (enum model_reading)i);
        model_init(&run->models[i], (enum model_reading)i);
    }
    run->rules = rules;
    run->calls_out = run->images_out = 0;
    run->problem = NULL;
    barrier_batch_clear(&run->batch);
    for (uint32_t i = 0; i < count; i++) {
        const struct barrier_call *call = &calls[i].call;
        images_in += call->image_count;
        for (int k = 0; k < run->readings; k++)
            model_apply(&was[k], call, call->origin == BARRIER_SYNC1 || !rules->sync2);
        enum barrier_joined joined = barrier_batch_add(&run->batch, call, rules, true);
        if (joined == BARRIER_APART) {
            take_out(run);
            joined = barrier_batch_add(&run->batch, call, rules, true);
        }
        if (joined != BARRIER_JOINED)
            return "an empty batch takes any call";
        if (run->batch.calls == 1)
            run->pending = &calls[i];
    }
    take_out(run);
    if (run->problem)
        return run->problem;
    for (int i = 0; i < run->readings; i++) {
        const char *problem = model_compare(&was[i], &run->models[i]);
        if (!problem && run->images_out == images_in && model_orders_more(&was[i], &run->models[i]))
            problem = "more is ordered than before";
        if (problem)
            return problem;
    }
    return NULL;
}

/* ---- What is said when something is wrong ---- */

static void print_calls(const struct test_call *calls, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct barrier_call *call = &calls[i].call;
        print_error("call %u: origin %d, flags %#x, %#x -> %#x\n", i, (int)call->origin, call->flags,
                    call->source1, call->destination1);
        for (uint32_t k = 0; k < call->memory_count; k++) {
            const VkMemoryBarrier2 *b = &call->memory[k];
            print_error("  memory %#llx/%#llx -> %#llx/%#llx\n", (unsigned long long)b->srcStageMask,
                        (unsigned long long)b->srcAccessMask, (unsigned long long)b->dstStageMask,
                        (unsigned long long)b->dstAccessMask);
        }
        for (uint32_t k = 0; k < call->buffer_count; k++) {
            const VkBufferMemoryBarrier2 *b = &call->buffers[k];
            print_error("  buffer %#llx [%llu, +%llu) %#llx/%#llx -> %#llx/%#llx, families %d %d\n",
                        (unsigned long long)(uintptr_t)b->buffer, (unsigned long long)b->offset,
                        (unsigned long long)b->size, (unsigned long long)b->srcStageMask,
                        (unsigned long long)b->srcAccessMask, (unsigned long long)b->dstStageMask,
                        (unsigned long long)b->dstAccessMask, (int)b->srcQueueFamilyIndex,
                        (int)b->dstQueueFamilyIndex);
        }
        for (uint32_t k = 0; k < call->image_count; k++) {
            const VkImageMemoryBarrier2 *b = &call->images[k];
            print_error(
                "  image %#llx mip %u+%u layout %d -> %d %#llx/%#llx -> %#llx/%#llx, families %d %d\n",
                (unsigned long long)(uintptr_t)b->image, b->subresourceRange.baseMipLevel,
                b->subresourceRange.levelCount, (int)b->oldLayout, (int)b->newLayout,
                (unsigned long long)b->srcStageMask, (unsigned long long)b->srcAccessMask,
                (unsigned long long)b->dstStageMask, (unsigned long long)b->dstAccessMask,
                (int)b->srcQueueFamilyIndex, (int)b->dstQueueFamilyIndex);
        }
    }
}

/* ---- All pairs in a very small world ---- */

static const VkPipelineStageFlags2 small_stages[] = {0, STAGE(COPY), STAGE(COMPUTE_SHADER),
                                                     STAGE(COPY) | STAGE(COMPUTE_SHADER)};
static const VkImageLayout small_old[] = {LAYOUT(UNDEFINED), LAYOUT(GENERAL), LAYOUT(TRANSFER_DST_OPTIMAL)};
#define SMALL_MASKS 64 /* stages, and with or without access, on both sides */
#define SMALL_KINDS 9  /* execution, memory, buffer, six transitions */

static struct test_call small_call(unsigned kind, unsigned mask, enum barrier_origin origin)
{
    struct test_call test = {.call.origin = origin};
    VkPipelineStageFlags2 source = small_stages[mask & 3], destination = small_stages[mask >> 2 & 3];
    VkAccessFlags2 writes = 0, reads = 0;
    if (mask & 16)
        writes = scope_access_of_stages(ACCESS(TRANSFER_WRITE) | ACCESS(SHADER_WRITE), source);
    if (mask & 32)
        reads = scope_access_of_stages(ACCESS(TRANSFER_READ) | ACCESS(SHADER_READ), destination);
    VkMemoryBarrier2 masks = memory_barrier(source, writes, destination, reads);
    if (origin == BARRIER_SYNC1) {
        test.call.source1 = scope_stages1(source, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
        test.call.destination1 = scope_stages1(destination, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
        masks.srcStageMask = test.call.source1;
        masks.dstStageMask = test.call.destination1;
    }
    if (kind == 1) {
        test.memory[test.call.memory_count++] = masks;
    } else if (kind == 2) {
        test.buffers[test.call.buffer_count++] = buffer_barrier(0, 0, 1, &masks);
    } else if (kind >= 3) {
        VkImageLayout from = small_old[(kind - 3) % 3], to = small_old[1 + (kind - 3) / 3];
        test.images[test.call.image_count++] = image_barrier(0, from, to, &masks);
    }
    return test;
}

/* Accesses beyond what the stages do, and masks that are the same without them, add nothing. */
static bool is_small_call(const struct test_call *test, unsigned mask)
{
    bool has_source = mask & 3, has_destination = mask >> 2 & 3;
    return (has_source || !(mask & 16)) && (has_destination || !(mask & 32)) &&
           (test->call.memory_count + test->call.buffer_count + test->call.image_count || !(mask & 48));
}

static void run_pairs(const struct barrier_rules *rules, enum barrier_origin first,
                      enum barrier_origin second)
{
    static struct test_call all[2][SMALL_KINDS * SMALL_MASKS];
    uint32_t count = 0, joined = 0;
    struct run run = {.readings = 1}; /* neither ALL_COMMANDS nor ALL_GRAPHICS is there */
    for (unsigned kind = 0; kind < SMALL_KINDS; kind++)
        for (unsigned mask = 0; mask < SMALL_MASKS; mask++) {
            all[0][count] = small_call(kind, mask, first);
            all[1][count] = small_call(kind, mask, second);
            if (is_small_call(&all[0][count], mask))
                count++;
        }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            struct test_call pair[2] = {all[0][i], all[1][k]};
            point(&pair[0]);
            point(&pair[1]);
            const char *problem = run_calls(&run, pair, 2, rules);
            if (problem)
                print_calls(pair, 2);
            check(!problem, "pair %u, %u: %s", i, k, problem);
            joined += run.calls_out == 1;
        }
    print_message("%u of %u pairs joined\n", joined, count * count);
    assert_true(joined > count);
    barrier_batch_finish(&run.batch);
}

static void test_pairs_sync2(void **state)
{
    (void)state;
    run_pairs(&sync2_rules, BARRIER_SYNC2, BARRIER_LAYER);
}

static void test_pairs_mixed(void **state)
{
    (void)state;
    run_pairs(&sync2_rules, BARRIER_SYNC1, BARRIER_SYNC2);
}

static void test_pairs_sync1(void **state)
{
    (void)state;
    run_pairs(&sync1_rules, BARRIER_SYNC1, BARRIER_SYNC1);
}

/* ---- Random sequences ---- */

struct world {
    struct random random;
    const struct barrier_rules *rules;
    VkMemoryBarrier2 masks[3]; /* that most barriers of a sequence have */
    VkImageLayout layouts[MODEL_SUBRESOURCES];
};

static size_t below(struct world *world, size_t limit)
{
    return random_below(&world->random, limit);
}

static VkPipelineStageFlags2 some_stages(struct world *world, bool sync1)
{
    static const VkPipelineStageFlags2 stages[] = {STAGE(ALL_TRANSFER), STAGE(FRAGMENT_SHADER),
                                                   STAGE(COLOR_ATTACHMENT_OUTPUT), STAGE(COMPUTE_SHADER),
                                                   STAGE(COPY)};
    static const VkPipelineStageFlags2 rare[] = {STAGE(ALL_COMMANDS), STAGE(ALL_GRAPHICS), STAGE(TOP_OF_PIPE),
                                                 STAGE(BOTTOM_OF_PIPE)};
    if (below(world, 6) == 0)
        return rare[below(world, COUNT(rare))];
    if (!sync1 && below(world, 12) == 0)
        return 0;
    size_t kinds = sync1 ? COUNT(stages) - 1 : COUNT(stages);
    VkPipelineStageFlags2 some = stages[below(world, kinds)];
    return below(world, 3) ? some : some | stages[below(world, kinds)];
}

static VkAccessFlags2 some_access(struct world *world, VkPipelineStageFlags2 stages)
{
    static const VkAccessFlags2 all[] = {ACCESS(TRANSFER_READ),         ACCESS(TRANSFER_WRITE),
                                         ACCESS(SHADER_READ),           ACCESS(SHADER_WRITE),
                                         ACCESS(COLOR_ATTACHMENT_READ), ACCESS(COLOR_ATTACHMENT_WRITE),
                                         ACCESS(MEMORY_READ),           ACCESS(MEMORY_WRITE)};
    VkAccessFlags2 access = 0;
    for (size_t n = below(world, 5); n > 0; n--)
        access |= all[below(world, COUNT(all))];
    return scope_access_of_stages(access, stages);
}

static VkMemoryBarrier2 some_masks(struct world *world, bool sync1)
{
    VkPipelineStageFlags2 source = some_stages(world, sync1), destination = some_stages(world, sync1);
    return memory_barrier(source, some_access(world, source), destination, some_access(world, destination));
}

static void some_families(struct world *world, uint32_t *from, uint32_t *to)
{
    *from = *to = below(world, 4) ? VK_QUEUE_FAMILY_IGNORED : 0;
    if (below(world, 16) == 0)
        *to = 1;
}

static VkImageLayout some_layout(struct world *world)
{
    static const VkImageLayout layouts[] = {LAYOUT(GENERAL), LAYOUT(TRANSFER_DST_OPTIMAL),
                                            LAYOUT(SHADER_READ_ONLY_OPTIMAL)};
    return layouts[below(world, COUNT(layouts))];
}

static VkImageMemoryBarrier2 some_image(struct world *world, const VkMemoryBarrier2 *masks)
{
    uint32_t image = (uint32_t)below(world, MODEL_IMAGES);
    VkImageMemoryBarrier2 barrier = image_barrier(image, LAYOUT(UNDEFINED), some_layout(world), masks);
    some_families(world, &barrier.srcQueueFamilyIndex, &barrier.dstQueueFamilyIndex);
    uint32_t mip = (uint32_t)below(world, MODEL_MIPS);
    bool whole = below(world, 2);
    VkImageLayout *layouts = &world->layouts[image * MODEL_MIPS];
    if (!whole) {
        barrier.subresourceRange.baseMipLevel = mip;
        barrier.subresourceRange.levelCount = 1;
    }
    if ((whole || mip == MODEL_MIPS - 1) && below(world, 3) == 0)
        barrier.subresourceRange.levelCount = VK_REMAINING_MIP_LEVELS;
    if (below(world, 5) && (!whole || layouts[0] == layouts[1]))
        barrier.oldLayout = layouts[mip];
    if (below(world, 24) == 0)
        barrier.oldLayout = some_layout(world); /* a program that is wrong */
    if (below(world, 6) == 0 && barrier.oldLayout != LAYOUT(UNDEFINED))
        barrier.newLayout = barrier.oldLayout;
    if (world->rules->ignore_equal && below(world, 8) == 0) {
        /* "If oldLayout equals newLayout, then the layouts are ignored": UNDEFINED discards nothing here. */
        barrier.oldLayout = barrier.newLayout = below(world, 2) ? LAYOUT(UNDEFINED) : some_layout(world);
        return barrier;
    }
    for (uint32_t i = 0; i < MODEL_MIPS; i++)
        if (whole || i == mip)
            layouts[i] = barrier.newLayout;
    return barrier;
}

static void add_some_barrier(struct world *world, struct test_call *test)
{
    bool sync1 = test->call.origin == BARRIER_SYNC1;
    VkMemoryBarrier2 masks = below(world, 4) ? world->masks[below(world, COUNT(world->masks))]
                                             : some_masks(world, !world->rules->sync2);
    if (sync1) {
        masks.srcStageMask = test->call.source1;
        masks.dstStageMask = test->call.destination1;
        masks.srcAccessMask = scope_access_of_stages(masks.srcAccessMask, masks.srcStageMask);
        masks.dstAccessMask = scope_access_of_stages(masks.dstAccessMask, masks.dstStageMask);
    }
    size_t kind = below(world, 6);
    if (kind == 0) {
        test->memory[test->call.memory_count++] = masks;
    } else if (kind == 1) {
        uint32_t half = (uint32_t)below(world, 2);
        VkBufferMemoryBarrier2 barrier = buffer_barrier((uint32_t)below(world, MODEL_BUFFERS), half,
                                                        half ? 1 : 1 + (uint32_t)below(world, 2), &masks);
        /* Buffers that share memory are handed over as one, which no barrier can say. */
        if (barrier.buffer == MODEL_BUFFER(0))
            some_families(world, &barrier.srcQueueFamilyIndex, &barrier.dstQueueFamilyIndex);
        test->buffers[test->call.buffer_count++] = barrier;
    } else {
        /* One call with ranges that overlap is no program's. */
        struct world before = *world;
        VkImageMemoryBarrier2 barrier = some_image(world, &masks);
        test->images[test->call.image_count] = barrier;
        test->call.image_count++;
        point(test);
        if (call_overlaps(&test->call)) {
            test->call.image_count--;
            memcpy(world->layouts, before.layouts, sizeof(world->layouts));
        }
    }
}

static struct test_call some_call(struct world *world)
{
    struct test_call test = {.call.origin = BARRIER_SYNC1};
    size_t origin = below(world, 3);
    if (origin == 1 && world->rules->sync2)
        test.call.origin = BARRIER_SYNC2;
    if (origin == 2)
        test.call.origin = BARRIER_LAYER;
    if (below(world, 12) == 0)
        test.call.flags = VK_DEPENDENCY_BY_REGION_BIT;
    if (test.call.origin == BARRIER_SYNC1) {
        const VkMemoryBarrier2 *masks = &world->masks[below(world, COUNT(world->masks))];
        test.call.source1 = scope_stages1(masks->srcStageMask, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
        test.call.destination1 = scope_stages1(masks->dstStageMask, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    }
    for (size_t n = below(world, 8) ? 1 : below(world, BARRIERS_MAX + 1); n > 0; n--)
        add_some_barrier(world, &test);
    return test;
}

static void run_random(const struct barrier_rules *rules, uint64_t seed, int rounds)
{
    struct world world = {.random = random_from(seed), .rules = rules};
    struct run run = {.readings = MODEL_READINGS};
    uint32_t calls_in = 0, calls_out = 0, images_in = 0, images_out = 0;
    for (int round = 0; round < rounds; round++) {
        struct test_call calls[CALLS_MAX];
        uint32_t count = 2 + (uint32_t)below(&world, CALLS_MAX - 1);
        for (size_t i = 0; i < COUNT(world.masks); i++)
            world.masks[i] = some_masks(&world, !rules->sync2);
        for (size_t i = 0; i < MODEL_SUBRESOURCES; i++)
            world.layouts[i] = some_layout(&world);
        for (uint32_t i = 0; i < count; i++) {
            calls[i] = some_call(&world);
            images_in += calls[i].call.image_count;
        }
        for (uint32_t i = 0; i < count; i++)
            point(&calls[i]);
        const char *problem = run_calls(&run, calls, count, rules);
        if (problem)
            print_calls(calls, count);
        check(!problem, "seed %llu, round %d: %s", (unsigned long long)seed, round, problem);
        calls_in += count;
        calls_out += run.calls_out;
        images_out += run.images_out;
    }
    print_message("%u calls became %u, %u image barriers %u\n", calls_in, calls_out, images_in, images_out);
    assert_true(calls_out < calls_in && images_out < images_in);
    barrier_batch_finish(&run.batch);
}

#define ROUNDS 40000

static void test_random_sync2(void **state)
{
    (void)state;
    run_random(&sync2_rules, 1, ROUNDS);
    run_random(&sync2_rules, random_seed(), ROUNDS);
}

static void test_random_sync1(void **state)
{
    (void)state;
    run_random(&sync1_rules, 2, ROUNDS);
    run_random(&sync1_rules, random_seed(), ROUNDS);
}

/* synchronization2's command without its rule for equal layouts, and the other way round. */
static void test_random_rules(void **state)
{
    (void)state;
    struct barrier_rules rules = sync2_rules;
    rules.ignore_equal = false;
    run_random(&rules, random_seed(), ROUNDS);
    rules = sync1_rules;
    rules.ignore_equal = true;
    run_random(&rules, random_seed(), ROUNDS);
}

/* ---- Named cases ---- */

static const VkMemoryBarrier2 upload = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                        .srcStageMask = STAGE(COPY),
                                        .srcAccessMask = ACCESS(TRANSFER_WRITE),
                                        .dstStageMask = STAGE(FRAGMENT_SHADER),
                                        .dstAccessMask = ACCESS(SHADER_READ)};

static enum barrier_joined add_image(struct barrier_batch *batch, const VkImageMemoryBarrier2 *barrier,
                                     const struct barrier_rules *rules)
{
    struct barrier_call call = {.origin = BARRIER_SYNC2, .image_count = 1, .images = barrier};
    return barrier_batch_add(batch, &call, rules, true);
}

static enum barrier_joined add_memory(struct barrier_batch *batch, VkPipelineStageFlags2 source,
                                      VkAccessFlags2 writes, VkPipelineStageFlags2 destination,
                                      VkAccessFlags2 reads)
{
    VkMemoryBarrier2 barrier = memory_barrier(source, writes, destination, reads);
    struct barrier_call call = {.origin = BARRIER_SYNC2, .memory_count = 1, .memory = &barrier};
    return barrier_batch_add(batch, &call, &sync2_rules, true);
}

/* L29, and what a batch takes at most. */
static void test_many_are_one(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    for (uint32_t i = 0; i < 64; i++) {
        VkImageMemoryBarrier2 barrier =
            image_barrier(i, LAYOUT(TRANSFER_DST_OPTIMAL), LAYOUT(SHADER_READ_ONLY_OPTIMAL), &upload);
        assert_int_equal(add_image(&batch, &barrier, &sync2_rules), BARRIER_JOINED);
    }
    assert_int_equal(batch.calls, 64);
    assert_int_equal(batch.image_count, 64);
    assert_false(batch.changed);
    VkImageMemoryBarrier2 more =
        image_barrier(64, LAYOUT(TRANSFER_DST_OPTIMAL), LAYOUT(SHADER_READ_ONLY_OPTIMAL), &upload);
    assert_int_equal(add_image(&batch, &more, &sync2_rules), BARRIER_APART);
    /* Room for more doesn't change that. */
    barrier_batch_clear(&batch);
    static VkImageMemoryBarrier2 all[65];
    for (uint32_t i = 0; i < COUNT(all); i++) {
        all[i] = more;
        all[i].image = MODEL_IMAGE(i);
    }
    struct barrier_call call = {.origin = BARRIER_SYNC2, .image_count = COUNT(all), .images = all};
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_JOINED);
    more.image = MODEL_IMAGE(COUNT(all));
    assert_int_equal(add_image(&batch, &more, &sync2_rules), BARRIER_APART);
    barrier_batch_finish(&batch);
}

/* An application's own call of any size comes out as it is. */
static void test_one_of_any_size(void **state)
{
    (void)state;
    static VkImageMemoryBarrier2 barriers[500];
    struct barrier_batch batch = {.calls = 0};
    for (uint32_t i = 0; i < COUNT(barriers); i++)
        barriers[i] = image_barrier(i, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload);
    struct barrier_call call = {.origin = BARRIER_SYNC2, .image_count = COUNT(barriers), .images = barriers};
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_JOINED);
    assert_int_equal(batch.image_count, COUNT(barriers));
    assert_memory_equal(batch.images, barriers, sizeof(barriers));
    assert_false(batch.changed);
    barrier_batch_finish(&batch);
}

/* L30, there and back, and a discard after something else. */
static void test_folds(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    VkImageMemoryBarrier2 first = image_barrier(0, LAYOUT(GENERAL), LAYOUT(TRANSFER_DST_OPTIMAL), &upload);
    VkImageMemoryBarrier2 second =
        image_barrier(0, LAYOUT(TRANSFER_DST_OPTIMAL), LAYOUT(PRESENT_SRC_KHR), &upload);
    second.srcStageMask = STAGE(FRAGMENT_SHADER);
    second.srcAccessMask = ACCESS(SHADER_WRITE);
    second.dstStageMask = STAGE(COMPUTE_SHADER);
    assert_int_equal(add_image(&batch, &first, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &second, &sync2_rules), BARRIER_JOINED);
    assert_true(batch.changed);
    assert_int_equal(batch.image_count, 1);
    assert_int_equal(batch.images[0].oldLayout, LAYOUT(GENERAL));
    assert_int_equal(batch.images[0].newLayout, LAYOUT(PRESENT_SRC_KHR));
    assert_true(batch.images[0].srcStageMask == (STAGE(COPY) | STAGE(FRAGMENT_SHADER)));
    assert_true(batch.images[0].srcAccessMask == (ACCESS(TRANSFER_WRITE) | ACCESS(SHADER_WRITE)));
    assert_true(batch.images[0].dstStageMask == (STAGE(FRAGMENT_SHADER) | STAGE(COMPUTE_SHADER)));
    barrier_batch_clear(&batch);

    second.newLayout = LAYOUT(GENERAL);
    assert_int_equal(add_image(&batch, &first, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &second, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(batch.image_count, 1);
    assert_int_equal(batch.images[0].oldLayout, batch.images[0].newLayout);
    barrier_batch_clear(&batch);

    second.oldLayout = LAYOUT(UNDEFINED);
    assert_int_equal(add_image(&batch, &first, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &second, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(batch.images[0].oldLayout, LAYOUT(UNDEFINED));
    assert_int_equal(batch.images[0].newLayout, LAYOUT(GENERAL));
    barrier_batch_finish(&batch);
}

/* L31, and what else of one image doesn't fold. */
static void test_overlaps_stay_apart(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    VkImageMemoryBarrier2 whole = image_barrier(0, LAYOUT(GENERAL), LAYOUT(TRANSFER_DST_OPTIMAL), &upload);
    VkImageMemoryBarrier2 part =
        image_barrier(0, LAYOUT(TRANSFER_DST_OPTIMAL), LAYOUT(PRESENT_SRC_KHR), &upload);
    part.subresourceRange.levelCount = 1;
    assert_int_equal(add_image(&batch, &whole, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_APART);
    part.subresourceRange.levelCount = MODEL_MIPS;
    part.dstQueueFamilyIndex = 1;
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_APART);
    part.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    part.oldLayout = LAYOUT(GENERAL);
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_APART);
    part.subresourceRange.baseArrayLayer = 1;
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_JOINED);
    /* A call that overlaps itself goes down as it came, alone. */
    VkImageMemoryBarrier2 twice[2] = {image_barrier(1, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload),
                                      image_barrier(1, LAYOUT(GENERAL), LAYOUT(PRESENT_SRC_KHR), &upload)};
    struct barrier_call call = {.origin = BARRIER_SYNC2, .image_count = 2, .images = twice};
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_APART);
    /* COLOR is every plane of an image that has several. */
    part.subresourceRange.aspectMask = VK_IMAGE_ASPECT_PLANE_1_BIT;
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_APART);
    part.subresourceRange.baseArrayLayer = 2;
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_JOINED);
    part.subresourceRange.aspectMask = VK_IMAGE_ASPECT_PLANE_0_BIT;
    assert_int_equal(add_image(&batch, &part, &sync2_rules), BARRIER_JOINED);
    barrier_batch_finish(&batch);
}

/* Which calls of other masks join: L44 is the second, colour and depth targets after a pass are the third. */
static void test_chains(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    assert_int_equal(add_memory(&batch, STAGE(COPY), 0, STAGE(FRAGMENT_SHADER), 0), BARRIER_JOINED);
    assert_int_equal(add_memory(&batch, STAGE(COPY), 0, STAGE(COMPUTE_SHADER), 0), BARRIER_JOINED);
    barrier_batch_clear(&batch);

    assert_int_equal(add_memory(&batch, STAGE(COPY), 0, STAGE(COMPUTE_SHADER), 0), BARRIER_JOINED);
    assert_int_equal(add_memory(&batch, STAGE(COMPUTE_SHADER), 0, STAGE(FRAGMENT_SHADER), 0), BARRIER_APART);
    barrier_batch_clear(&batch);

    VkMemoryBarrier2 masks = memory_barrier(STAGE(COLOR_ATTACHMENT_OUTPUT), ACCESS(COLOR_ATTACHMENT_WRITE),
                                            STAGE(FRAGMENT_SHADER), ACCESS(SHADER_READ));
    VkImageMemoryBarrier2 color = image_barrier(0, LAYOUT(GENERAL), LAYOUT(SHADER_READ_ONLY_OPTIMAL), &masks);
    masks.srcStageMask = STAGE(LATE_FRAGMENT_TESTS);
    masks.srcAccessMask = ACCESS(DEPTH_STENCIL_ATTACHMENT_WRITE);
    VkImageMemoryBarrier2 depth = image_barrier(1, LAYOUT(GENERAL), LAYOUT(SHADER_READ_ONLY_OPTIMAL), &masks);
    assert_int_equal(add_image(&batch, &color, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &depth, &sync2_rules), BARRIER_JOINED);
    assert_true(batch.changed);
    assert_true(batch.images[1].srcStageMask ==
                (STAGE(LATE_FRAGMENT_TESTS) | STAGE(COLOR_ATTACHMENT_OUTPUT)));
    assert_true(batch.images[1].srcAccessMask == ACCESS(DEPTH_STENCIL_ATTACHMENT_WRITE));
    assert_memory_equal(&batch.images[0], &color, sizeof(color));
    barrier_batch_clear(&batch);

    /* ALL_GRAPHICS is more than it names: the ends, as it once was, and compute shaders, which come after
     * indirect parameters. Both chain with it, neither is sure to be held back. */
    masks = memory_barrier(STAGE(COLOR_ATTACHMENT_OUTPUT), 0, STAGE(ALL_GRAPHICS), 0);
    color = image_barrier(0, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &masks);
    assert_int_equal(add_image(&batch, &color, &sync2_rules), BARRIER_JOINED);
    masks = memory_barrier(STAGE(FRAGMENT_SHADER), 0, STAGE(COMPUTE_SHADER), 0);
    VkImageMemoryBarrier2 next = image_barrier(1, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &masks);
    assert_int_equal(add_image(&batch, &next, &sync2_rules), BARRIER_APART);
    next.dstStageMask = STAGE(COPY);
    assert_int_equal(add_image(&batch, &next, &sync2_rules), BARRIER_APART);
    next.srcStageMask = STAGE(COMPUTE_SHADER);
    assert_int_equal(add_image(&batch, &next, &sync2_rules), BARRIER_APART);
    next.dstStageMask = STAGE(VERTEX_SHADER);
    assert_int_equal(add_image(&batch, &next, &sync2_rules), BARRIER_JOINED);
    barrier_batch_clear(&batch);

    /* What this build doesn't know might chain with anything. */
    VkPipelineStageFlags2 unknown = (VkPipelineStageFlags2)1 << 62;
    assert_int_equal(add_memory(&batch, STAGE(COPY), 0, unknown, 0), BARRIER_JOINED);
    assert_int_equal(add_memory(&batch, STAGE(COPY), 0, STAGE(FRAGMENT_SHADER), 0), BARRIER_APART);
    assert_int_equal(add_memory(&batch, STAGE(COPY), 0, unknown, 0), BARRIER_JOINED);
    assert_int_equal(batch.memory_count, 1);
    assert_true(batch.changed);
    barrier_batch_finish(&batch);
}

/* "If srcStageMask includes HOST, ... oldLayout must be one of PREINITIALIZED, UNDEFINED, or GENERAL"; for
 * transfers of ownership it must not be there at all. */
static void test_host(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    VkMemoryBarrier2 masks = memory_barrier(STAGE(COPY), 0, STAGE(COPY), ACCESS(TRANSFER_WRITE));
    VkImageMemoryBarrier2 target =
        image_barrier(0, LAYOUT(SHADER_READ_ONLY_OPTIMAL), LAYOUT(TRANSFER_DST_OPTIMAL), &masks);
    VkImageMemoryBarrier2 released = image_barrier(0, LAYOUT(GENERAL), LAYOUT(GENERAL), &masks);
    released.srcQueueFamilyIndex = 0;
    released.dstQueueFamilyIndex = 1;
    assert_int_equal(add_memory(&batch, STAGE(HOST), ACCESS(HOST_WRITE), STAGE(COPY), ACCESS(TRANSFER_READ)),
                     BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &target, &sync2_rules), BARRIER_APART);
    assert_int_equal(add_image(&batch, &released, &sync2_rules), BARRIER_APART);
    target.srcStageMask = 0; /* not chained, nothing to take in */
    assert_int_equal(add_image(&batch, &target, &sync2_rules), BARRIER_JOINED);
    barrier_batch_clear(&batch);

    VkImageMemoryBarrier2 written = image_barrier(0, LAYOUT(TRANSFER_DST_OPTIMAL), LAYOUT(GENERAL), &upload);
    masks = memory_barrier(STAGE(HOST), ACCESS(HOST_WRITE), STAGE(COPY), ACCESS(TRANSFER_READ));
    target = image_barrier(0, LAYOUT(GENERAL), LAYOUT(TRANSFER_SRC_OPTIMAL), &masks);
    assert_int_equal(add_image(&batch, &written, &sync2_rules), BARRIER_JOINED);
    assert_int_equal(add_image(&batch, &target, &sync2_rules), BARRIER_APART);
    barrier_batch_finish(&batch);
}

static void test_refused(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    VkImageMemoryBarrier2 barrier = image_barrier(0, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload);
    VkImageMemoryBarrier2 other = image_barrier(1, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload);
    struct barrier_call call = {.origin = BARRIER_SYNC2, .image_count = 1, .images = &barrier};
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, false), BARRIER_JOINED);
    call.images = &other;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, false), BARRIER_APART);
    call.flags = VK_DEPENDENCY_BY_REGION_BIT;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_APART);
    call.flags = 0;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_JOINED);
    barrier_batch_finish(&batch);
}

/* Out of memory: the batch is as it was, and may go down. */
static void test_no_memory(void **state)
{
    (void)state;
    static VkImageMemoryBarrier2 barriers[20];
    struct barrier_batch batch = {.calls = 0};
    for (uint32_t i = 0; i < COUNT(barriers); i++)
        barriers[i] = image_barrier(i, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload);
    struct barrier_call call = {.origin = BARRIER_SYNC2, .image_count = 1, .images = barriers};
    for (int fails = 0; fails < 2; fails++) {
        reallocs_left = fails;
        assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_NO_MEMORY);
        assert_int_equal(batch.calls, 0);
    }
    reallocs_left = -1;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_JOINED);
    call.images = barriers + 1;
    call.image_count = COUNT(barriers) - 1;
    reallocs_left = 0;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_NO_MEMORY);
    assert_int_equal(batch.calls, 1);
    assert_int_equal(batch.image_count, 1);
    assert_memory_equal(batch.images, barriers, sizeof(*barriers));
    reallocs_left = -1;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_JOINED);
    barrier_batch_clear(&batch);
    /* Warm, nothing is allocated. */
    reallocs_left = 0;
    assert_int_equal(barrier_batch_add(&batch, &call, &sync2_rules, true), BARRIER_JOINED);
    reallocs_left = -1;
    barrier_batch_finish(&batch);
}

/* A repair that goes down as sync1 has the masks of all its barriers. */
static void test_repair_sync1(void **state)
{
    (void)state;
    struct barrier_batch batch = {.calls = 0};
    VkImageMemoryBarrier2 barriers[2] = {image_barrier(0, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload),
                                         image_barrier(1, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload)};
    barriers[1].srcStageMask = 0;
    barriers[1].dstStageMask = STAGE(COMPUTE_SHADER);
    struct barrier_call call = {.origin = BARRIER_LAYER, .image_count = 2, .images = barriers};
    assert_int_equal(barrier_batch_add(&batch, &call, &sync1_rules, true), BARRIER_JOINED);
    assert_int_equal(batch.source1, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(batch.destination1,
                     VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    barrier_batch_finish(&batch);
}

static void test_images_join(void **state)
{
    (void)state;
    VkImageMemoryBarrier2 a = image_barrier(0, LAYOUT(UNDEFINED), LAYOUT(GENERAL), &upload), b = a;
    a.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_DEPTH_BIT, 2, 2, 0, 4};
    b.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_DEPTH_BIT, 4, 1, 0, 4};
    assert_true(barrier_images_join(&a, &b));
    assert_int_equal(a.subresourceRange.levelCount, 3);
    b.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_DEPTH_BIT, 0, 2, 0, 4};
    assert_true(barrier_images_join(&a, &b));
    assert_int_equal(a.subresourceRange.baseMipLevel, 0);
    assert_int_equal(a.subresourceRange.levelCount, 5);
    b.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_DEPTH_BIT, 0, 5, 4, 2};
    assert_true(barrier_images_join(&a, &b));
    assert_int_equal(a.subresourceRange.layerCount, 6);
    b.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_STENCIL_BIT, 0, 5, 0, 6};
    assert_true(barrier_images_join(&a, &b));
    assert_int_equal(a.subresourceRange.aspectMask, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
    VkImageMemoryBarrier2 before = a;
    /* A gap, another aspect beside, a corner, and other barriers. */
    b.subresourceRange = (VkImageSubresourceRange){a.subresourceRange.aspectMask, 6, 1, 0, 6};
    assert_false(barrier_images_join(&a, &b));
    b.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_DEPTH_BIT, 5, 1, 0, 6};
    assert_false(barrier_images_join(&a, &b));
    b.subresourceRange = (VkImageSubresourceRange){a.subresourceRange.aspectMask, 5, 1, 6, 1};
    assert_false(barrier_images_join(&a, &b));
    b.subresourceRange = (VkImageSubresourceRange){a.subresourceRange.aspectMask, 5, 1, 0, 6};
    b.image = MODEL_IMAGE(1);
    assert_false(barrier_images_join(&a, &b));
    b.image = a.image;
    b.dstAccessMask = 0;
    assert_false(barrier_images_join(&a, &b));
    assert_memory_equal(&a, &before, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_sync2),  cmocka_unit_test(test_pairs_mixed),
        cmocka_unit_test(test_pairs_sync1),  cmocka_unit_test(test_random_sync2),
        cmocka_unit_test(test_random_sync1), cmocka_unit_test(test_random_rules),
        cmocka_unit_test(test_many_are_one), cmocka_unit_test(test_one_of_any_size),
        cmocka_unit_test(test_folds),        cmocka_unit_test(test_overlaps_stay_apart),
        cmocka_unit_test(test_chains),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),    cmocka_unit_test(test_repair_sync1),
        cmocka_unit_test(test_images_join),  cmocka_unit_test(test_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
