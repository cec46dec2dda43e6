/* An application that creates pipelines, in the ways that applications do, and prints one JSON line about it.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dispatch.h"
#include "file.h"
#include "pipes.h"

#define THREADS_MAX 64

enum cache_use {
    CACHE_NONE,  /* VK_NULL_HANDLE */
    CACHE_EMPTY, /* an empty cache, never saved */
    CACHE_OWN,   /* loaded, used and saved again, with every care */
    CACHE_BLOB,  /* made from a file as it is, never saved */
};

enum exit_way {
    EXIT_DESTROY,
    EXIT_EXIT,
    EXIT_UNDERSCORE,
    EXIT_KILL,
};

struct options {
    uint32_t compute, graphics, first, threads;
    enum cache_use cache;
    const char *cache_file;
    const char *save_blob;
    const char *name;
    bool one_call, dispatch, hold, feedback;
    uint32_t wait_ms, pace_ms;
    enum exit_way exit_way;
    uint32_t api_version;
};

static const char usage[] =
    "usage: vkpipes [options]: creates pipelines and prints one JSON line\n"
    "  --compute N         compute pipelines (default 64, or 0 with --graphics)\n"
    "  --graphics N        graphics pipelines (default 0)\n"
    "  --first N           number of the first of each kind; pipeline N is the same in every process\n"
    "  --own-cache FILE    a cache of its own: loaded if there, saved by write and rename\n"
    "  --empty-cache       an empty cache that is never saved\n"
    "  --cold-blob FILE    a cache made from FILE, whatever is in it, never saved\n"
    "  --save-blob FILE    write what vkGetPipelineCacheData gives at the end (needs a cache)\n"
    "  --one-call          all pipelines of a kind (of a thread) in one create call\n"
    "  --threads N         create from N threads at once\n"
    "  --pace-ms N         pause between pipelines (one thread, not in the time printed)\n"
    "  --dispatch          run the compute pipelines and print a hash of what they computed\n"
    "  --feedback          ask for creation feedback and count cache hits\n"
    "  --wait-ms N         wait after the pipelines, everything still alive\n"
    "  --hold              print, then wait until standard input ends\n"
    "  --exit WAY          destroy (default), exit, _exit (nothing destroyed), kill (SIGKILL)\n"
    "  --api 1.0|1.1|1.2|1.3   the version that the application asks for (default 1.1)\n"
    "  --name NAME         application name (default vkpipes)\n";

static bool read_number(const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || end == text || value > 1000000)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_choice(const char *text, const char *const *choices, uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

enum option_id {
    OPTION_COMPUTE = 1,
    OPTION_GRAPHICS,
    OPTION_FIRST,
    OPTION_OWN_CACHE,
    OPTION_EMPTY_CACHE,
    OPTION_COLD_BLOB,
    OPTION_SAVE_BLOB,
    OPTION_ONE_CALL,
    OPTION_THREADS,
    OPTION_PACE,
    OPTION_DISPATCH,
    OPTION_FEEDBACK,
    OPTION_WAIT,
    OPTION_HOLD,
    OPTION_EXIT,
    OPTION_API,
    OPTION_NAME,
};

static const struct option option_table[] = {
    {"compute", required_argument, NULL, OPTION_COMPUTE},
    {"graphics", required_argument, NULL, OPTION_GRAPHICS},
    {"first", required_argument, NULL, OPTION_FIRST},
    {"own-cache", required_argument, NULL, OPTION_OWN_CACHE},
    {"empty-cache", no_argument, NULL, OPTION_EMPTY_CACHE},
    {"cold-blob", required_argument, NULL, OPTION_COLD_BLOB},
    {"save-blob", required_argument, NULL, OPTION_SAVE_BLOB},
    {"one-call", no_argument, NULL, OPTION_ONE_CALL},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"pace-ms", required_argument, NULL, OPTION_PACE},
    {"dispatch", no_argument, NULL, OPTION_DISPATCH},
    {"feedback", no_argument, NULL, OPTION_FEEDBACK},
    {"wait-ms", required_argument, NULL, OPTION_WAIT},
    {"hold", no_argument, NULL, OPTION_HOLD},
    {"exit", required_argument, NULL, OPTION_EXIT},
    {"api", required_argument, NULL, OPTION_API},
    {"name", required_argument, NULL, OPTION_NAME},
    {NULL, 0, NULL, 0},
};

static void set_cache(struct options *options, enum cache_use use, const char *file)
{
    options->cache = use;
    options->cache_file = file;
}

static bool read_option(struct options *options, int option, const char *value)
{
    static const char *const ways[] = {"destroy", "exit", "_exit", "kill"};
    static const char *const versions[] = {"1.0", "1.1", "1.2", "1.3"};
    uint32_t choice = 0;
    switch ((enum option_id)option) {
    case OPTION_COMPUTE:
        return read_number(value, &options->compute);
    case OPTION_GRAPHICS:
        return read_number(value, &options->graphics);
    case OPTION_FIRST:
        return read_number(value, &options->first);
    case OPTION_OWN_CACHE:
        set_cache(options, CACHE_OWN, value);
        return true;
    case OPTION_EMPTY_CACHE:
        set_cache(options, CACHE_EMPTY, NULL);
        return true;
    case OPTION_COLD_BLOB:
        set_cache(options, CACHE_BLOB, value);
        return true;
    case OPTION_SAVE_BLOB:
        options->save_blob = value;
        return true;
    case OPTION_ONE_CALL:
        return options->one_call = true;
    case OPTION_THREADS:
        return read_number(value, &options->threads) && options->threads >= 1 &&
               options->threads <= THREADS_MAX;
    case OPTION_PACE:
        return read_number(value, &options->pace_ms);
    case OPTION_DISPATCH:
        return options->dispatch = true;
    case OPTION_FEEDBACK:
        return options->feedback = true;
    case OPTION_WAIT:
        return read_number(value, &options->wait_ms);
    case OPTION_HOLD:
        return options->hold = true;
    case OPTION_EXIT:
        if (!read_choice(value, ways, 4, &choice))
            return false;
        options->exit_way = (enum exit_way)choice;
        return true;
    case OPTION_API:
        if (!read_choice(value, versions, 4, &choice))
            return false;
        options->api_version = VK_MAKE_API_VERSION(0, 1, choice, 0);
        return true;
    case OPTION_NAME:
        options->name = value;
        return true;
    }
    return false;
}

static bool read_options(struct options *options, int argc, char **argv)
{
    const uint32_t unset = UINT32_MAX;
    *options = (struct options){
        .compute = unset, .threads = 1, .name = "vkpipes", .api_version = VK_API_VERSION_1_1};
    int option;
    while ((option = getopt_long(argc, argv, "", option_table, NULL)) != -1) {
        if (!read_option(options, option, optarg))
            return false;
    }
    if (options->compute == unset)
        options->compute = options->graphics ? 0 : 64;
    bool has_cache = options->cache != CACHE_NONE;
    return optind == argc && (has_cache || !options->save_blob) &&
           (options->threads == 1 || !options->pace_ms);
}

struct run {
    const struct options *options;
    struct gpu gpu;
    struct pipes pipes;
    VkPipelineCache cache;
    VkPipeline *compute, *graphics;
    char *compute_hits, *graphics_hits; /* strings of '0' and '1' */
    struct pipes_outcome outcome;
    VkResult cache_result, save_result, dispatch_result;
    size_t loaded, saved;
    bool header_matches;
    double ready_ms, device_ms, cache_ms, pipelines_ms, pipelines_cpu_ms, destroy_ms;
    uint64_t hash;
};

static VkResult create_cache(struct run *run, const void *data, size_t size)
{
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = size,
        .pInitialData = data,
    };
    return run->gpu.CreatePipelineCache(run->gpu.device, &info, NULL, &run->cache);
}

/* What a careful application looks at before it hands data to the driver. */
static bool header_matches(const VkPhysicalDeviceProperties *properties, const void *data, size_t size)
{
    VkPipelineCacheHeaderVersionOne header;
    if (size < sizeof(header))
        return false;
    memcpy(&header, data, sizeof(header));
    return header.headerSize == sizeof(header) &&
           header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == properties->vendorID && header.deviceID == properties->deviceID &&
           memcmp(header.pipelineCacheUUID, properties->pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

static void load_own_cache(struct run *run)
{
    void *data;
    size_t size;
    file_read(run->options->cache_file, &data, &size);
    run->header_matches = header_matches(&run->gpu.properties, data, size);
    if (run->header_matches) {
        run->loaded = size;
        run->cache_result = create_cache(run, data, size);
    }
    if (!run->header_matches || run->cache_result != VK_SUCCESS) {
        VkResult result = create_cache(run, NULL, 0);
        if (run->cache_result == VK_SUCCESS)
            run->cache_result = result;
    }
    free(data);
}

static bool load_blob(struct run *run)
{
    void *data;
    size_t size;
    if (!file_read(run->options->cache_file, &data, &size)) {
        perror(run->options->cache_file);
        return false;
    }
    run->header_matches = header_matches(&run->gpu.properties, data, size);
    run->loaded = size;
    run->cache_result = create_cache(run, data, size);
    free(data);
    return true;
}

static bool make_cache(struct run *run)
{
    double start = gpu_wall_ms();
    bool done = true;
    switch (run->options->cache) {
    case CACHE_NONE:
        break;
    case CACHE_EMPTY:
        run->cache_result = create_cache(run, NULL, 0);
        break;
    case CACHE_OWN:
        load_own_cache(run);
        break;
    case CACHE_BLOB:
        done = load_blob(run);
        break;
    }
    run->cache_ms = gpu_wall_ms() - start;
    return done;
}

static VkResult get_cache_data(const struct run *run, void **data, size_t *size)
{
    VkResult result;
    *data = NULL;
    do { /* a cache may grow between the two calls */
        free(*data);
        *data = NULL;
        result = run->gpu.GetPipelineCacheData(run->gpu.device, run->cache, size, NULL);
        if (result != VK_SUCCESS)
            return result;
        *data = malloc(*size ? *size : 1);
        if (!*data)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        result = run->gpu.GetPipelineCacheData(run->gpu.device, run->cache, size, *data);
    } while (result == VK_INCOMPLETE);
    return result;
}

static void save_cache(struct run *run, const char *path)
{
    void *data;
    size_t size;
    run->save_result = get_cache_data(run, &data, &size);
    if (run->save_result == VK_SUCCESS) {
        if (file_replace(path, data, size))
            run->saved = size;
        else
            perror(path);
    }
    free(data);
}

struct worker {
    struct run *run;
    uint32_t index;
    struct pipes_outcome outcome;
};

/* This thread's share of `count`, in one stretch. */
static void create_share(struct worker *worker, enum pipes_kind kind, uint32_t count, VkPipeline *out,
                         char *hits)
{
    const struct run *run = worker->run;
    const struct options *options = run->options;
    uint32_t from = count * worker->index / options->threads;
    uint32_t to = count * (worker->index + 1) / options->threads;
    pipes_create(&run->pipes, kind, run->cache, options->first + from, to - from, options->one_call,
                 out + from, hits + from, &worker->outcome);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    create_share(worker, PIPES_COMPUTE, worker->run->options->compute, worker->run->compute,
                 worker->run->compute_hits);
    create_share(worker, PIPES_GRAPHICS, worker->run->options->graphics, worker->run->graphics,
                 worker->run->graphics_hits);
    return NULL;
}

static bool create_threaded(struct run *run)
{
    struct worker workers[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    uint32_t started = 0;
    for (; started < run->options->threads; started++) {
        workers[started] = (struct worker){.run = run, .index = started};
        if (pthread_create(&threads[started], NULL, work, &workers[started]))
            break;
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        pipes_add_outcome(&run->outcome, &workers[i].outcome);
    }
    return started == run->options->threads;
}

static void pause_ms(uint32_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void create_paced(struct run *run)
{
    const struct options *options = run->options;
    for (uint32_t i = 0; i < options->compute || i < options->graphics; i++) {
        if (i < options->compute)
            pipes_create(&run->pipes, PIPES_COMPUTE, run->cache, options->first + i, 1, false,
                         run->compute + i, run->compute_hits + i, &run->outcome);
        if (i < options->graphics)
            pipes_create(&run->pipes, PIPES_GRAPHICS, run->cache, options->first + i, 1, false,
                         run->graphics + i, run->graphics_hits + i, &run->outcome);
        pause_ms(options->pace_ms);
    }
}

static bool create_pipelines(struct run *run)
{
    const struct options *options = run->options;
    bool done = true;
    double start = gpu_wall_ms(), start_cpu = gpu_cpu_ms();
    if (options->pace_ms) {
        create_paced(run);
    } else if (options->threads > 1) {
        done = create_threaded(run);
    } else {
        struct worker worker = {.run = run};
        work(&worker);
        run->outcome = worker.outcome;
    }
    run->pipelines_ms = options->pace_ms ? run->outcome.ms : gpu_wall_ms() - start;
    run->pipelines_cpu_ms = gpu_cpu_ms() - start_cpu;
    return done;
}

/* Most memory that this process ever had resident. */
static long peak_rss_kb(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        return 0;
    char line[256];
    long kb = 0;
    while (kb == 0 && fgets(line, sizeof(line), file))
        sscanf(line, "VmHWM: %ld", &kb);
    fclose(file);
    return kb;
}

static void print(const struct run *run)
{
    const struct options *options = run->options;
    const VkPhysicalDeviceProperties *device = &run->gpu.properties;
    printf("{\"device\":\"%s\",\"compute\":%u,\"graphics\":%u,\"created\":%u,\"failed\":%u,\"result\":%d,",
           device->deviceName, options->compute, options->graphics, run->outcome.created, run->outcome.failed,
           run->outcome.first_error);
    printf("\"device_ms\":%.3f,\"cache_ms\":%.3f,\"ms\":%.3f,\"cpu_ms\":%.3f,\"longest_ms\":%.3f,"
           "\"ready_ms\":%.3f,\"destroy_ms\":%.3f,",
           run->device_ms, run->cache_ms, run->pipelines_ms, run->pipelines_cpu_ms, run->outcome.longest_ms,
           run->ready_ms, run->destroy_ms);
    printf("\"cache_result\":%d,\"loaded\":%zu,\"saved\":%zu,\"save_result\":%d,\"header_matches\":%s,",
           run->cache_result, run->loaded, run->saved, run->save_result,
           run->header_matches ? "true" : "false");
    if (options->feedback)
        printf("\"feedbacks\":%u,\"hits\":%u,\"compute_hits\":\"%s\",\"graphics_hits\":\"%s\",",
               run->outcome.feedbacks, run->outcome.hits, run->compute_hits, run->graphics_hits);
    if (options->dispatch)
        printf("\"dispatch_result\":%d,\"hash\":\"%016llx\",", run->dispatch_result,
               (unsigned long long)run->hash);
    printf("\"peak_rss_kb\":%ld}\n", peak_rss_kb());
    fflush(stdout);
}

static void destroy(struct run *run)
{
    double start = gpu_wall_ms();
    const struct gpu *gpu = &run->gpu;
    for (uint32_t i = 0; i < run->options->compute; i++)
        gpu->DestroyPipeline(gpu->device, run->compute[i], NULL);
    for (uint32_t i = 0; i < run->options->graphics; i++)
        gpu->DestroyPipeline(gpu->device, run->graphics[i], NULL);
    gpu->DestroyPipelineCache(gpu->device, run->cache, NULL);
    pipes_finish(&run->pipes);
    gpu_finish(&run->gpu);
    run->destroy_ms = gpu_wall_ms() - start;
}

static void wait_for_input_end(void)
{
    while (getchar() != EOF)
        ;
}

/* Doesn't return unless the program ends by destroying everything. */
static void end(struct run *run)
{
    const struct options *options = run->options;
    bool print_late = options->exit_way == EXIT_DESTROY && !options->hold;
    pause_ms(options->wait_ms);
    if (!print_late)
        print(run);
    if (options->hold)
        wait_for_input_end();
    int status = run->outcome.failed ? 1 : 0;
    switch (options->exit_way) {
    case EXIT_EXIT:
        exit(status);
    case EXIT_UNDERSCORE:
        _exit(status);
    case EXIT_KILL:
        kill(getpid(), SIGKILL);
        break;
    case EXIT_DESTROY:
        break;
    }
    destroy(run);
    if (print_late)
        print(run);
}

static bool set_up(struct run *run)
{
    const struct options *options = run->options;
    double start = gpu_wall_ms();
    struct gpu_options gpu_options = {
        .name = options->name, .api_version = options->api_version, .feedback = options->feedback};
    if (gpu_init(&run->gpu, &gpu_options) != VK_SUCCESS)
        return false;
    run->device_ms = gpu_wall_ms() - start;
    if (pipes_init(&run->pipes, &run->gpu) == VK_SUCCESS)
        return true;
    fprintf(stderr, "making shaders and layouts failed\n");
    gpu_finish(&run->gpu);
    return false;
}

int main(int argc, char **argv)
{
    struct options options;
    if (!read_options(&options, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    struct run run = {.options = &options};
    run.compute = calloc(options.compute + 1, sizeof(*run.compute));
    run.graphics = calloc(options.graphics + 1, sizeof(*run.graphics));
    run.compute_hits = calloc(options.compute + 1, 1);
    run.graphics_hits = calloc(options.graphics + 1, 1);
    int status = 1;
    if (!run.compute || !run.graphics || !run.compute_hits || !run.graphics_hits)
        goto free_handles;
    double start = gpu_wall_ms();
    if (!set_up(&run))
        goto free_handles;
    if (!make_cache(&run) || !create_pipelines(&run)) {
        destroy(&run);
        goto free_handles;
    }
    run.ready_ms = gpu_wall_ms() - start;
    if (options.dispatch)
        run.dispatch_result = dispatch_hash(&run.pipes, run.compute, options.compute, &run.hash);
    if (options.cache == CACHE_OWN)
        save_cache(&run, options.cache_file);
    if (options.save_blob)
        save_cache(&run, options.save_blob);
    end(&run);
    status = run.outcome.failed || run.dispatch_result != VK_SUCCESS ? 1 : 0;

free_handles:
    free(run.compute);
    free(run.graphics);
    free(run.compute_hits);
    free(run.graphics_hits);
    return status;
}
