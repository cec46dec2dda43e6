/* order.c against a graph of everything that happened, in which a path is looked for. */
#include "check.h"
#include "random.h"
#include "sync/order.h"

#define QUEUES 3
#define BINARIES 4
#define TIMELINES 2
#define FENCES 3
#define STEPS 90
#define NODES (4 * STEPS)
#define EDGES (8 * NODES)
#define POINTS 16 /* that order.c remembers of a timeline at least */
#define NONE (-1)

#define BINARY(i) ((uint64_t)(i) + 1)
#define TIMELINE(i) ((uint64_t)(i) + 100)
#define FENCE(i) ((uint64_t)(i) + 1) /* as the binary semaphores: the kinds don't share a number space */

struct point {
    uint64_t value;
    int node;
};

struct model {
    int node_count, edge_count;
    struct {
        int queue; /* NONE: not a batch */
        uint64_t serial;
    } nodes[NODES];
    struct {
        int from, to;
    } edges[EDGES];
    int queues[QUEUES]; /* the last node of each */
    int host;
    int binaries[BINARIES], fences[FENCES]; /* the signal's node, or NONE */
    struct {
        uint64_t reached; /* by the host, or by a signal that carries nothing */
        int count;
        struct point points[STEPS];
    } timelines[TIMELINES];
    bool overflow; /* some timeline had more points than are remembered */
};

static void add_edge(struct model *model, int from, int to)
{
    if (from == NONE)
        return;
    assert_true(model->edge_count < EDGES);
    model->edges[model->edge_count].from = from;
    model->edges[model->edge_count++].to = to;
}

static int add_node(struct model *model, int queue, uint64_t serial)
{
    assert_true(model->node_count < NODES);
    model->nodes[model->node_count].queue = queue;
    model->nodes[model->node_count].serial = serial;
    return model->node_count++;
}

/* The next thing on a queue, or of the host, after the last one and after `other`. */
static void step(struct model *model, int *last, int queue, uint64_t serial, int other)
{
    int node = add_node(model, queue, serial);
    add_edge(model, *last, node);
    add_edge(model, other, node);
    *last = node;
}

static bool has_path(const struct model *model, int from, int to)
{
    bool seen[NODES] = {false};
    int stack[NODES], count = 0;
    if (from == NONE || to == NONE)
        return false;
    stack[count++] = to;
    seen[to] = true;
    while (count) {
        int node = stack[--count];
        if (node == from)
            return true;
        for (int i = 0; i < model->edge_count; i++) {
            if (model->edges[i].to != node || seen[model->edges[i].from])
                continue;
            seen[model->edges[i].from] = true;
            stack[count++] = model->edges[i].from;
        }
    }
    return false;
}

struct history {
    struct order *order;
    struct model model;
    struct random random;
    uint64_t next_value[TIMELINES];
    /* Of the call that is being made. */

    int signalled_count, taken_count;
    uint64_t taken[STEPS];
    struct {
        uint64_t handle, value;
    } signalled[STEPS];
};

static size_t below(struct history *history, size_t limit)
{
    return random_below(&history->random, limit);
}

static void begin(struct history *history, uint32_t queue)
{
    struct model *model = &history->model;
    uint64_t serial = order_begin(history->order, queue);
    step(model, &model->queues[queue], (int)queue, serial, model->host);
}

static void wait_binary(struct history *history, uint32_t queue)
{
    struct model *model = &history->model;
    size_t i = below(history, BINARIES);
    bool orders = below(history, 4) != 0;
    bool taken = order_wait_binary(history->order, queue, BINARY(i), orders);
    assert_int_equal(taken, model->binaries[i] != NONE);
    if (taken)
        history->taken[history->taken_count++] = BINARY(i);
    if (orders)
        step(model, &model->queues[queue], NONE, 0, model->binaries[i]);
    model->binaries[i] = NONE;
}

static uint64_t some_value(struct history *history, size_t timeline)
{
    return 1 + below(history, history->next_value[timeline] + 2);
}

static void wait_timeline(struct history *history, uint32_t queue)
{
    struct model *model = &history->model;
    size_t i = below(history, TIMELINES);
    uint64_t value = some_value(history, i);
    bool orders = below(history, 4) != 0;
    int best = NONE;
    for (int k = 0; k < model->timelines[i].count; k++) {
        const struct point *point = &model->timelines[i].points[k];
        if (point->value >= value && (best == NONE || point->value < model->timelines[i].points[best].value))
            best = k;
    }
    bool reached = value <= model->timelines[i].reached;
    bool resolved = order_wait_timeline(history->order, queue, TIMELINE(i), value, orders);
    assert_int_equal(resolved, reached || best != NONE);
    if (orders && !reached && best != NONE)
        step(model, &model->queues[queue], NONE, 0, model->timelines[i].points[best].node);
}

static void note_signal(struct history *history, uint64_t handle, uint64_t value)
{
    history->signalled[history->signalled_count].handle = handle;
    history->signalled[history->signalled_count++].value = value;
}

static void signal_binary(struct history *history, uint32_t queue)
{
    size_t i = below(history, BINARIES);
    assert_true(order_signal_binary(history->order, queue, BINARY(i)));
    history->model.binaries[i] = history->model.queues[queue];
    note_signal(history, BINARY(i), 0);
}

static void signal_timeline(struct history *history, uint32_t queue)
{
    struct model *model = &history->model;
    size_t i = below(history, TIMELINES);
    uint64_t value = ++history->next_value[i];
    order_signal_timeline(history->order, queue, TIMELINE(i), value);
    if (model->timelines[i].count == POINTS)
        model->overflow = true;
    model->timelines[i].points[model->timelines[i].count++] = (struct point){value, model->queues[queue]};
    note_signal(history, TIMELINE(i), value);
}

static void signal_fence(struct history *history, uint32_t queue)
{
    size_t i = below(history, FENCES);
    assert_true(order_signal_fence(history->order, queue, FENCE(i)));
    history->model.fences[i] = history->model.queues[queue];
}

/* One batch or a few, which may all not have been submitted after all. */
static void submit(struct history *history)
{
    static struct model before;
    uint32_t queue = (uint32_t)below(history, QUEUES);
    bool fails = below(history, 8) == 0;
    before = history->model;
    history->signalled_count = history->taken_count = 0;
    order_save(history->order, queue);
    for (size_t batches = 1 + below(history, 2); batches > 0; batches--) {
        begin(history, queue);
        if (below(history, 2))
            wait_binary(history, queue);
        if (below(history, 3) == 0)
            wait_timeline(history, queue);
        if (below(history, 2))
            signal_binary(history, queue);
        if (below(history, 3) == 0)
            signal_timeline(history, queue);
    }
    if (!fails) {
        if (below(history, 3) == 0)
            signal_fence(history, queue);
        return;
    }
    before.overflow |= history->model.overflow;
    history->model = before;
    order_restore(history->order, queue);
    for (int i = history->signalled_count; i-- > 0;) {
        uint64_t handle = history->signalled[i].handle;
        if (order_is_timeline(history->order, handle)) {
            order_withdraw_timeline(history->order, handle, history->signalled[i].value);
        } else {
            order_forget_semaphore(history->order, handle);
            history->model.binaries[handle - 1] = NONE;
        }
    }
    for (int i = 0; i < history->taken_count; i++)
        order_untake_binary(history->order, history->taken[i]);
}

static void host_timeline(struct history *history, bool by_host)
{
    struct model *model = &history->model;
    size_t i = below(history, TIMELINES);
    uint64_t value = some_value(history, i);
    int left = 0;
    if (by_host)
        order_host_signal(history->order, TIMELINE(i), value);
    else
        order_host_timeline(history->order, TIMELINE(i), value);
    for (int k = 0; k < model->timelines[i].count; k++) {
        struct point point = model->timelines[i].points[k];
        if (point.value > value)
            model->timelines[i].points[left++] = point;
        else if (!by_host)
            step(model, &model->host, NONE, 0, point.node);
    }
    model->timelines[i].count = left;
    if (model->timelines[i].reached < value)
        model->timelines[i].reached = value;
}

static void host(struct history *history)
{
    struct model *model = &history->model;
    size_t i = below(history, FENCES);
    uint32_t queue = (uint32_t)below(history, QUEUES);
    switch (below(history, 12)) {
    case 0:
    case 1:
    case 2:
        order_host_fence(history->order, FENCE(i));
        if (model->fences[i] != NONE)
            step(model, &model->host, NONE, 0, model->fences[i]);
        break;
    case 3:
        order_forget_fence(history->order, FENCE(i));
        model->fences[i] = NONE;
        break;
    case 4:
    case 5:
        host_timeline(history, false);
        break;
    case 6:
        host_timeline(history, true);
        break;
    case 7:
        order_host_queue(history->order, queue);
        step(model, &model->host, NONE, 0, model->queues[queue]);
        break;
    case 8:
        if (below(history, 8) == 0) {
            order_host_device(history->order);
            for (int k = 0; k < QUEUES; k++)
                step(model, &model->host, NONE, 0, model->queues[k]);
        }
        break;
    default:
        order_forget_semaphore(history->order, BINARY(below(history, BINARIES)) + BINARIES);
        break;
    }
}

/* Everything that was submitted, as each queue and the host see it. */
static void compare(struct history *history, uint64_t seed, int when)
{
    const struct model *model = &history->model;
    for (int node = 0; node < model->node_count; node++) {
        uint64_t serial = model->nodes[node].serial;
        if (model->nodes[node].queue == NONE)
            continue;
        uint32_t other = (uint32_t)model->nodes[node].queue;
        for (uint32_t queue = 0; queue < QUEUES; queue++) {
            bool expected = queue == other || has_path(model, node, model->queues[queue]);
            bool found = order_is_before(history->order, queue, other, serial);
            check(found == expected || (model->overflow && !found),
                  "seed %llu, step %d: queue %u, batch %llu of %u: %d", (unsigned long long)seed, when, queue,
                  (unsigned long long)serial, other, found);
        }
        bool expected = has_path(model, node, model->host);
        bool found = order_host_knows(history->order, other, serial);
        check(found == expected || (model->overflow && !found),
              "seed %llu, step %d: host, batch %llu of %u: %d", (unsigned long long)seed, when,
              (unsigned long long)serial, other, found);
    }
}

static void run_history(uint64_t seed)
{
    static struct history history;
    history = (struct history){.random = random_from(seed), .order = order_create(QUEUES)};
    assert_non_null(history.order);
    history.model.host = NONE;
    for (int i = 0; i < QUEUES; i++)
        history.model.queues[i] = NONE;
    for (int i = 0; i < BINARIES; i++)
        history.model.binaries[i] = NONE;
    for (int i = 0; i < FENCES; i++)
        history.model.fences[i] = NONE;
    for (int i = 0; i < TIMELINES; i++)
        assert_true(order_create_timeline(history.order, TIMELINE(i), 0));
    int steps = 10 + (int)below(&history, STEPS / 2 - 10);
    for (int i = 0; i < steps; i++) {
        if (below(&history, 4))
            submit(&history);
        else
            host(&history);
        if (below(&history, 8) == 0 || i + 1 == steps)
            compare(&history, seed, i);
    }
    order_destroy(history.order);
}

static void test_fixed_histories(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++)
        run_history(seed);
}

static void test_random_histories(void **state)
{
    (void)state;
    uint64_t first = random_seed();
    for (uint64_t seed = first; seed < first + 1000; seed++)
        run_history(seed);
}

/* A timeline that nobody ever waits for on the host takes no more memory, and its latest points are known. */
static void test_many_points(void **state)
{
    (void)state;
    struct order *order = order_create(2);
    assert_true(order_create_timeline(order, TIMELINE(0), 0));
    for (uint64_t value = 1; value <= 1000; value++) {
        uint64_t serial = order_begin(order, 0);
        order_signal_timeline(order, 0, TIMELINE(0), value);
        assert_true(order_wait_timeline(order, 1, TIMELINE(0), 1, true));
        if (value > POINTS) {
            assert_true(order_wait_timeline(order, 1, TIMELINE(0), value - POINTS + 1, true));
            assert_true(order_is_before(order, 1, 0, serial - POINTS + 1));
            assert_false(order_is_before(order, 1, 0, serial));
        }
    }
    order_destroy(order);
}

static void test_first_value(void **state)
{
    (void)state;
    struct order *order = order_create(1);
    assert_false(order_is_timeline(order, TIMELINE(0)));
    assert_false(order_wait_timeline(order, 0, TIMELINE(0), 5, true));
    assert_true(order_create_timeline(order, TIMELINE(0), 5));
    assert_true(order_wait_timeline(order, 0, TIMELINE(0), 5, true));
    assert_false(order_wait_timeline(order, 0, TIMELINE(0), 6, true));
    order_skip_timeline(order, TIMELINE(0), 6);
    assert_true(order_wait_timeline(order, 0, TIMELINE(0), 6, true));
    order_restart_timeline(order, TIMELINE(0));
    assert_false(order_wait_timeline(order, 0, TIMELINE(0), 5, true));
    order_forget_semaphore(order, TIMELINE(0));
    assert_false(order_is_timeline(order, TIMELINE(0)));
    order_destroy(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_histories),
        cmocka_unit_test(test_random_histories),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_first_value),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
