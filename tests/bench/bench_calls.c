/* What the layer adds to a call: pipeline creation and vkGetPipelineCacheData, with and without it, and the
 * slowest pipeline creations while the layer saves. Every sample is a process of its own, with and without
 * the layer in turn; the driver is whatever the environment chooses (scripts/with-driver.sh). */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "pipes.h"

#define ROUNDS_MAX 101
#define CALLS 2000
#define STREAM_MAX 2000000
#define CHANGES_MAX 4096
#define BEFORE_CHANGE_NS                                                                                     \
    50e6 /* what the saving thread does before it touches a file: merge, get data, hash */

static const char usage[] = "usage: bench_calls --layer DIR --store DIR [--rounds N] [--stream-seconds N]\n"
                            "  DIR of the layer's explicit manifest, and a folder that its store may fill\n";

struct options {
    const char *layer, *store;
    uint32_t rounds, stream_seconds;
};

enum measure {
    MEASURE_HIT,   /* creation with the application's own cache that holds the pipeline */
    MEASURE_NULL,  /* creation with VK_NULL_HANDLE, the same pipeline again */
    MEASURE_QUERY, /* vkGetPipelineCacheData, size only */
    MEASURE_DATA,  /* vkGetPipelineCacheData, data too */
    MEASURE_COUNT
};
static const char *const measure_names[] = {"create_own_cache", "create_null", "query_size", "get_data"};

/* Shared with the child. */
struct sample {
    bool valid;
    double ns[MEASURE_COUNT];
};

struct stream {
    bool valid;
    uint32_t calls, during_saves, changes;
    double p50, p99, longest;                      /* ns, all calls */
    double saving_p50, saving_p99, saving_longest; /* ns, calls near a change in the store */
};

struct program {
    struct gpu gpu;
    struct pipes pipes;
    VkPipelineCache cache;
};

static bool set_up(struct program *program)
{
    const struct gpu_options options = {.name = "bench_calls", .api_version = VK_API_VERSION_1_1};
    if (gpu_init(&program->gpu, &options) != VK_SUCCESS)
        return false;
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    return pipes_init(&program->pipes, &program->gpu) == VK_SUCCESS &&
           program->gpu.CreatePipelineCache(program->gpu.device, &info, NULL, &program->cache) == VK_SUCCESS;
}

static void finish(struct program *program)
{
    program->gpu.DestroyPipelineCache(program->gpu.device, program->cache, NULL);
    pipes_finish(&program->pipes);
    gpu_finish(&program->gpu);
}

/* Wall time of one creation in ns, or 0 if it failed. */
static double create_once(const struct program *program, VkPipelineCache cache, uint32_t number)
{
    VkPipeline pipeline;
    struct pipes_outcome outcome = {0};
    pipes_create(&program->pipes, PIPES_COMPUTE, cache, number, 1, false, &pipeline, NULL, &outcome);
    program->gpu.DestroyPipeline(program->gpu.device, pipeline, NULL);
    return outcome.created ? outcome.ms * 1e6 : 0;
}

static double median_creation(const struct program *program, VkPipelineCache cache)
{
    static double ns[CALLS];
    create_once(program, cache, 0);
    for (uint32_t i = 0; i < CALLS; i++)
        ns[i] = create_once(program, cache, 0);
    return bench_quantile(ns, CALLS, 0.5);
}

static double median_get_data(const struct program *program, void *data, size_t capacity)
{
    static double ns[CALLS];
    for (uint32_t i = 0; i < CALLS; i++) {
        size_t size = capacity;
        double start = bench_now_ns();
        program->gpu.GetPipelineCacheData(program->gpu.device, program->cache, &size, data);
        ns[i] = bench_now_ns() - start;
    }
    return bench_quantile(ns, CALLS, 0.5);
}

static void measure_calls(struct sample *sample)
{
    struct program program;
    if (!set_up(&program))
        return;
    for (uint32_t i = 0; i < 16; i++)
        create_once(&program, program.cache, i);
    size_t size = 0;
    program.gpu.GetPipelineCacheData(program.gpu.device, program.cache, &size, NULL);
    void *data = malloc(size + 1);
    sample->ns[MEASURE_HIT] = median_creation(&program, program.cache);
    sample->ns[MEASURE_NULL] = median_creation(&program, VK_NULL_HANDLE);
    sample->ns[MEASURE_QUERY] = median_get_data(&program, NULL, 0);
    sample->ns[MEASURE_DATA] = median_get_data(&program, data, size);
    free(data);
    finish(&program);
    sample->valid = sample->ns[MEASURE_HIT] > 0 && sample->ns[MEASURE_NULL] > 0;
}

/* When something changed in the store's folder, in order. */
struct changes {
    int inotify;
    int stop[2]; /* a pipe; closed to stop */
    double at[CHANGES_MAX];
    uint32_t count;
};

static void *watch(void *argument)
{
    struct changes *changes = argument;
    struct pollfd wait[] = {{changes->inotify, POLLIN, 0}, {changes->stop[0], POLLIN, 0}};
    char events[4096];
    while (poll(wait, 2, -1) >= 0 || errno == EINTR) {
        if (wait[1].revents)
            break;
        if ((wait[0].revents & POLLIN) && read(changes->inotify, events, sizeof(events)) > 0 &&
            changes->count < CHANGES_MAX)
            changes->at[changes->count++] = bench_now_ns();
    }
    return NULL;
}

/* <store>/v1/<the only folder there>, where store files lie. */
static bool find_store_folder(const char *store, char out[PATH_MAX])
{
    char parent[PATH_MAX - NAME_MAX - 2];
    snprintf(parent, sizeof(parent), "%s/v1", store);
    DIR *dir = opendir(parent);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        found = entry->d_name[0] != '.';
        snprintf(out, PATH_MAX, "%s/%s", parent, entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

struct call {
    double start, ns;
};

static bool near_change(const struct changes *changes, const struct call *call)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        if (call->start <= changes->at[i] && call->start + call->ns >= changes->at[i] - BEFORE_CHANGE_NS)
            return true;
    }
    return false;
}

static void summarise(const struct call *calls, uint32_t count, const struct changes *changes,
                      struct stream *stream)
{
    double *all = malloc((count + 1) * sizeof(*all)), *saving = malloc((count + 1) * sizeof(*saving));
    uint32_t near_count = 0;
    for (uint32_t i = 0; all && saving && i < count; i++) {
        all[i] = calls[i].ns;
        if (near_change(changes, &calls[i]))
            saving[near_count++] = calls[i].ns;
    }
    stream->calls = count;
    stream->during_saves = near_count;
    stream->changes = changes->count;
    if (all && saving && count > 0) {
        stream->p50 = bench_quantile(all, count, 0.5);
        stream->p99 = bench_quantile(all, count, 0.99);
        stream->longest = all[count - 1];
        stream->valid = true;
    }
    if (stream->valid && near_count > 0) {
        stream->saving_p50 = bench_quantile(saving, near_count, 0.5);
        stream->saving_p99 = bench_quantile(saving, near_count, 0.99);
        stream->saving_longest = saving[near_count - 1];
    }
    free(all);
    free(saving);
}

/* New pipelines without a pause, so that the store grows and is saved meanwhile. */
static void measure_stream(const struct options *options, struct stream *stream)
{
    static struct changes changes;
    struct program program;
    pthread_t watcher;
    char folder[PATH_MAX];
    struct call *calls = malloc(STREAM_MAX * sizeof(*calls));
    changes.inotify = inotify_init1(IN_CLOEXEC);
    if (!calls || !find_store_folder(options->store, folder) || pipe(changes.stop) != 0 ||
        inotify_add_watch(changes.inotify, folder, IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0 ||
        !set_up(&program) || pthread_create(&watcher, NULL, watch, &changes) != 0)
        return;
    uint32_t count = 0;
    double end = bench_now_ns() + options->stream_seconds * 1e9;
    while (count < STREAM_MAX && bench_now_ns() < end) {
        calls[count].start = bench_now_ns();
        calls[count].ns = create_once(&program, VK_NULL_HANDLE, 1000 + count);
        count++;
    }
    close(changes.stop[1]);
    pthread_join(watcher, NULL);
    summarise(calls, count, &changes, stream);
    finish(&program);
    free(calls);
}

/* Runs one measurement in a child, under the layer or without. */
static bool in_child(const struct options *options, bool layer, struct sample *sample, struct stream *stream)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("VK_ROBUST_CACHE_DIR", options->store, 1);
        if (layer) {
            setenv("VK_LAYER_PATH", options->layer, 1);
            setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ROBUST_cache", 1);
        }
        if (sample)
            measure_calls(sample);
        else
            measure_stream(options, stream);
        _exit(0);
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0 && (sample ? sample->valid : stream->valid);
}

static bool run_samples(const struct options *options, struct sample *shared,
                        double ns[2][MEASURE_COUNT][ROUNDS_MAX])
{
    for (uint32_t round = 0; round < options->rounds; round++) {
        for (uint32_t turn = 0; turn < 2; turn++) {
            uint32_t layer = (round + turn) % 2;
            memset(shared, 0, sizeof(*shared));
            if (!in_child(options, layer, shared, NULL))
                return false;
            for (int i = 0; i < MEASURE_COUNT; i++)
                ns[layer][i][round] = shared->ns[i];
        }
    }
    return true;
}

static void print_samples(const struct options *options, double ns[2][MEASURE_COUNT][ROUNDS_MAX])
{
    for (int i = 0; i < MEASURE_COUNT; i++) {
        double plain = bench_quantile(ns[0][i], options->rounds, 0.5);
        double layer = bench_quantile(ns[1][i], options->rounds, 0.5);
        printf("\"%s\":{\"plain_ns\":%.0f,\"layer_ns\":%.0f,\"added_ns\":%.0f,\"ratio\":%.3f},\n",
               measure_names[i], plain, layer, layer - plain, layer / plain);
    }
}

static int run(const struct options *options)
{
    static double ns[2][MEASURE_COUNT][ROUNDS_MAX];
    struct shared {
        struct sample sample;
        struct stream stream;
    } *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !run_samples(options, &shared->sample, ns)) {
        fprintf(stderr, "measuring calls failed\n");
        return 1;
    }
    printf("{");
    print_samples(options, ns);
    const struct stream *stream = &shared->stream;
    if (!in_child(options, true, NULL, &shared->stream)) {
        fprintf(stderr, "measuring during saves failed\n");
        return 1;
    }
    printf(
        "\"stream\":{\"calls\":%u,\"store_changes\":%u,\"p50_ns\":%.0f,\"p99_ns\":%.0f,\"longest_ns\":%.0f,"
        "\"calls_during_saves\":%u,\"saving_p50_ns\":%.0f,\"saving_p99_ns\":%.0f,\"saving_longest_ns\":%.0f}}"
        "\n",
        stream->calls, stream->changes, stream->p50, stream->p99, stream->longest, stream->during_saves,
        stream->saving_p50, stream->saving_p99, stream->saving_longest);
    return 0;
}

static bool read_options(struct options *options, int argc, char **argv)
{
    static const struct option table[] = {
        {"layer", required_argument, NULL, 'l'},
        {"store", required_argument, NULL, 's'},
        {"rounds", required_argument, NULL, 'r'},
        {"stream-seconds", required_argument, NULL, 't'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){.rounds = 11, .stream_seconds = 5};
    int option;
    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (option == 'l')
            options->layer = optarg;
        else if (option == 's')
            options->store = optarg;
        else if (option == 'r')
            options->rounds = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 't')
            options->stream_seconds = (uint32_t)strtoul(optarg, NULL, 10);
        else
            return false;
    }
    return optind == argc && options->layer && options->store && options->rounds > 0 &&
           options->rounds <= ROUNDS_MAX && options->stream_seconds > 0;
}

int main(int argc, char **argv)
{
    struct options options;
    if (!read_options(&options, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    return run(&options);
}
