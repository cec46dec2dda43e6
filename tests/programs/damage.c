/* The damage campaign: many processes, each of which gets cache data damaged in another way and makes
 * pipelines with it. Counts what becomes of them. Knows nothing of the layer but where its store lies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "damaged.h"
#include "file.h"
#include "pipes.h"

#define JOBS_MAX 16
#define PIPELINES_MAX 256
#define STORE_VARIABLE "VK_ROBUST_CACHE_DIR"

static const char usage[] =
    "usage: damage --harvest FILE [--compute N] [--graphics N]\n"
    "         makes pipelines, half with a cache of its own, whose data goes to FILE, half without\n"
    "       damage --blob FILE [options]\n"
    "         each child creates a cache from damaged FILE and pipelines with it\n"
    "       damage --store DIR --store-file FILE --work DIR [options]\n"
    "         each child finds a copy of store DIR with FILE in it damaged, and creates pipelines without a "
    "cache\n"
    "options: --count N (1000)  --seed N (1)  --first N (0)  --compute N (16)  --graphics N (4)  --jobs N "
    "(CPUs)\n"
    "  --timeout N      seconds until a child counts as hung (20)\n"
    "  --trailer N      bytes behind the driver's data that are not the driver's (0)\n"
    "  --json FILE      counts as one JSON object\n"
    "  --must-be-clean  exit 1 if a child crashes, hangs, gets an error, or damaged data reaches the driver\n"
    "  --verbose        tell of each death, and let the children write to standard error\n";

struct options {
    const char *harvest, *blob, *store, *store_file, *work, *json;
    uint64_t count, seed, first, compute, graphics, jobs, timeout, trailer;
    bool must_be_clean, verbose;
};

enum stage {
    STAGE_DEVICE,
    STAGE_CACHE,
    STAGE_QUERY,
    STAGE_PIPELINES,
    STAGE_DESTROY,
    STAGE_DONE,
};

static const char *const stage_names[] = {"creating the device", "creating the cache", "asking for its size",
                                          "creating pipelines",  "destroying",         "ending"};

/* Written by a child, read by its parent once it is dead. */
struct report {
    enum stage stage;
    VkResult cache_result;
    struct pipes_outcome outcome;
    bool kept; /* the cache held more than an empty one right after its creation */
};

struct job {
    pid_t pid; /* 0: idle */
    uint64_t number;
    enum damage_kind kind;
    struct report *report; /* shared with the child */
    char store[PATH_MAX];
};

struct counts {
    uint64_t cases, crashes, hangs, unusable, cache_errors, pipeline_errors, reached, hits;
};

struct campaign {
    const struct options *options;
    void *data;
    size_t size;
    char store_path[PATH_MAX]; /* of the file within a store */
    void *ledger;
    size_t ledger_size;
    struct job jobs[JOBS_MAX];
    struct counts counts[DAMAGE_KIND_COUNT];
    uint64_t signals[65];
};

static VkResult create_cache(const struct gpu *gpu, const void *data, size_t size, VkPipelineCache *cache)
{
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = size,
        .pInitialData = data,
    };
    return gpu->CreatePipelineCache(gpu->device, &info, NULL, cache);
}

static size_t cache_size(const struct gpu *gpu, VkPipelineCache cache)
{
    size_t size = 0;
    return gpu->GetPipelineCacheData(gpu->device, cache, &size, NULL) == VK_SUCCESS ? size : 0;
}

/* Empty caches tell what the size of nothing is. */
static bool holds_something(const struct gpu *gpu, VkPipelineCache cache)
{
    VkPipelineCache empty = VK_NULL_HANDLE;
    if (create_cache(gpu, NULL, 0, &empty) != VK_SUCCESS)
        return false;
    bool more = cache_size(gpu, cache) > cache_size(gpu, empty);
    gpu->DestroyPipelineCache(gpu->device, empty, NULL);
    return more;
}

static void create_pipelines(const struct options *options, const struct pipes *pipes, VkPipelineCache cache,
                             struct pipes_outcome *outcome)
{
    VkPipeline pipelines[PIPELINES_MAX];
    const struct gpu *gpu = pipes->gpu;
    uint32_t counts[] = {(uint32_t)options->compute, (uint32_t)options->graphics};
    for (enum pipes_kind kind = PIPES_COMPUTE; kind <= PIPES_GRAPHICS; kind++) {
        pipes_create(pipes, kind, cache, 0, counts[kind], false, pipelines, NULL, outcome);
        for (uint32_t i = 0; i < counts[kind]; i++)
            gpu->DestroyPipeline(gpu->device, pipelines[i], NULL);
    }
}

static bool set_up(struct gpu *gpu, struct pipes *pipes)
{
    const struct gpu_options options = {
        .name = "damage", .api_version = VK_API_VERSION_1_1, .feedback = true};
    if (gpu_init(gpu, &options) != VK_SUCCESS)
        return false;
    if (pipes_init(pipes, gpu) == VK_SUCCESS)
        return true;
    gpu_finish(gpu);
    return false;
}

/* The life of a child. `data` is what its application finds, or NULL if it has no cache of its own. */
static int live(const struct options *options, struct report *report, const void *data, size_t size)
{
    struct gpu gpu;
    struct pipes pipes;
    if (!set_up(&gpu, &pipes))
        return 3;
    VkPipelineCache cache = VK_NULL_HANDLE;
    if (data) {
        report->stage = STAGE_CACHE;
        report->cache_result = create_cache(&gpu, data, size, &cache);
        report->stage = STAGE_QUERY;
        if (cache)
            report->kept = holds_something(&gpu, cache);
    }
    report->stage = STAGE_PIPELINES;
    create_pipelines(options, &pipes, cache, &report->outcome);
    report->stage = STAGE_DESTROY;
    gpu.DestroyPipelineCache(gpu.device, cache, NULL);
    pipes_finish(&pipes);
    gpu_finish(&gpu);
    report->stage = STAGE_DONE;
    return 0;
}

static void silence(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDERR_FILENO);
}

static void remove_files_in(const char *directory)
{
    DIR *dir = opendir(directory);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}

static bool make_directories(const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

/* "…/name.vkcache" -> "…/name.ledger" */
static bool ledger_path(const char *store_file, char out[PATH_MAX])
{
    const char *dot = strrchr(store_file, '.');
    int length = snprintf(out, PATH_MAX, "%.*s.ledger", (int)(dot ? dot - store_file : 0), store_file);
    return dot && length > 0 && length < PATH_MAX;
}

/* The store as the run that filled it left it, but for the damage. */
static bool lay_out_store(const struct campaign *campaign, const struct job *job, const void *data,
                          size_t size)
{
    char file[PATH_MAX + 1], directory[PATH_MAX], ledger[PATH_MAX];
    int length = snprintf(file, sizeof(file), "%s/%s", job->store, campaign->store_path);
    if (length < 0 || length >= PATH_MAX || !make_directories(file) || !ledger_path(file, ledger))
        return false;
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(file, '/') - file), file);
    remove_files_in(directory);
    if (campaign->ledger && !file_write(ledger, campaign->ledger, campaign->ledger_size))
        return false;
    return file_write(file, data, size);
}

static bool start(struct campaign *campaign, struct job *job, uint64_t number)
{
    const struct options *options = campaign->options;
    size_t size;
    void *data = damage_make(campaign->data, campaign->size, options->trailer, options->seed, number,
                             &job->kind, &size);
    if (!data || (options->store && !lay_out_store(campaign, job, data, size))) {
        perror("laying out a case");
        free(data);
        return false;
    }
    memset(job->report, 0, sizeof(*job->report));
    job->number = number;
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0) {
        alarm((unsigned)options->timeout);
        if (options->store)
            setenv(STORE_VARIABLE, job->store, 1);
        if (!options->verbose)
            silence();
        _exit(live(options, job->report, options->store ? NULL : data, size));
    }
    free(data);
    return job->pid > 0;
}

static const char *data_name(const struct options *options)
{
    return options->store ? "store file" : "blob";
}

static void say(const struct campaign *campaign, const struct job *job, const char *what, int number)
{
    if (!campaign->options->must_be_clean && !campaign->options->verbose)
        return;
    printf("case %llu (%s): %s %d while %s; repeat with --seed %llu --first %llu --count 1\n",
           (unsigned long long)job->number, damage_kind_name(job->kind), what, number,
           stage_names[job->report->stage], (unsigned long long)campaign->options->seed,
           (unsigned long long)job->number);
}

static void judge(struct campaign *campaign, const struct job *job, int status)
{
    const struct report *report = job->report;
    struct counts *counts = &campaign->counts[job->kind];
    counts->cases++;
    if (WIFSIGNALED(status)) {
        int signal_number = WTERMSIG(status);
        bool hung = signal_number == SIGALRM;
        *(hung ? &counts->hangs : &counts->crashes) += 1;
        campaign->signals[signal_number]++;
        say(campaign, job, hung ? "hung, signal" : "died by signal", signal_number);
        return;
    }
    if (WEXITSTATUS(status) != 0) {
        counts->unusable++;
        say(campaign, job, "ended with status", WEXITSTATUS(status));
        return;
    }
    counts->cache_errors += report->cache_result != VK_SUCCESS;
    counts->pipeline_errors += report->outcome.first_error != VK_SUCCESS;
    counts->hits += report->outcome.hits > 0;
    bool reached = report->kept || report->outcome.hits > 0;
    counts->reached += reached;
    if (report->cache_result != VK_SUCCESS)
        say(campaign, job, "vkCreatePipelineCache gave", report->cache_result);
    if (report->outcome.first_error != VK_SUCCESS)
        say(campaign, job, "creating a pipeline gave", report->outcome.first_error);
    if (reached)
        say(campaign, job, "the driver got the data, hits:", (int)report->outcome.hits);
}

/* Waits for any child and judges it. */
static bool finish_one(struct campaign *campaign)
{
    int status;
    pid_t pid;
    do
        pid = waitpid(-1, &status, 0);
    while (pid < 0 && errno == EINTR);
    for (uint32_t i = 0; i < campaign->options->jobs; i++) {
        if (pid > 0 && campaign->jobs[i].pid == pid) {
            judge(campaign, &campaign->jobs[i], status);
            campaign->jobs[i].pid = 0;
            return true;
        }
    }
    return false;
}

static struct job *idle_job(struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->options->jobs; i++) {
        if (campaign->jobs[i].pid == 0)
            return &campaign->jobs[i];
    }
    return NULL;
}

static bool run_all(struct campaign *campaign)
{
    const struct options *options = campaign->options;
    bool going = true;
    for (uint64_t i = 0; i < options->count && going; i++) {
        struct job *job = idle_job(campaign);
        if (!job) {
            going = finish_one(campaign);
            job = idle_job(campaign);
        }
        going = going && job && start(campaign, job, options->first + i);
    }
    while (finish_one(campaign))
        ;
    return going;
}

static void add_counts(struct counts *sum, const struct counts *part)
{
    sum->cases += part->cases;
    sum->crashes += part->crashes;
    sum->hangs += part->hangs;
    sum->unusable += part->unusable;
    sum->cache_errors += part->cache_errors;
    sum->pipeline_errors += part->pipeline_errors;
    sum->reached += part->reached;
    sum->hits += part->hits;
}

static void print_row(const char *name, const struct counts *counts)
{
    printf("%-12s %6llu %7llu %5llu %8llu %11llu %14llu %12llu %9llu\n", name,
           (unsigned long long)counts->cases, (unsigned long long)counts->crashes,
           (unsigned long long)counts->hangs, (unsigned long long)counts->unusable,
           (unsigned long long)counts->cache_errors, (unsigned long long)counts->pipeline_errors,
           (unsigned long long)counts->reached, (unsigned long long)counts->hits);
}

static void print_table(const struct campaign *campaign, const struct counts *sum)
{
    printf("%-12s %6s %7s %5s %8s %11s %14s %12s %9s\n", "damage", "cases", "crashed", "hung", "unusable",
           "cache error", "pipeline error", "reach driver", "with hits");
    for (enum damage_kind kind = 0; kind < DAMAGE_KIND_COUNT; kind++) {
        if (campaign->counts[kind].cases)
            print_row(damage_kind_name(kind), &campaign->counts[kind]);
    }
    print_row("all", sum);
}

static void print_json(FILE *file, const struct campaign *campaign, const struct counts *sum)
{
    fprintf(file,
            "{\"data\":\"%s\",\"size\":%zu,\"seed\":%llu,\"cases\":%llu,\"crashes\":%llu,\"hangs\":%llu,"
            "\"unusable\":%llu,\"cache_errors\":%llu,\"pipeline_errors\":%llu,\"reached_driver\":%llu,"
            "\"with_hits\":%llu,\"signals\":{",
            data_name(campaign->options), campaign->size, (unsigned long long)campaign->options->seed,
            (unsigned long long)sum->cases, (unsigned long long)sum->crashes, (unsigned long long)sum->hangs,
            (unsigned long long)sum->unusable, (unsigned long long)sum->cache_errors,
            (unsigned long long)sum->pipeline_errors, (unsigned long long)sum->reached,
            (unsigned long long)sum->hits);
    const char *comma = "";
    for (int i = 1; i <= 64; i++) {
        if (campaign->signals[i]) {
            fprintf(file, "%s\"%d\":%llu", comma, i, (unsigned long long)campaign->signals[i]);
            comma = ",";
        }
    }
    fprintf(file, "}}\n");
}

static bool write_json(const struct campaign *campaign, const struct counts *sum)
{
    if (!campaign->options->json)
        return true;
    FILE *file = fopen(campaign->options->json, "we");
    if (!file)
        return false;
    print_json(file, campaign, sum);
    return fclose(file) == 0;
}

static bool read_data(struct campaign *campaign)
{
    const struct options *options = campaign->options;
    const char *path = options->store ? options->store_file : options->blob;
    if (!file_read(path, &campaign->data, &campaign->size) || campaign->size < 64) {
        fprintf(stderr, "%s: can't be read, or too short to be damaged\n", path);
        return false;
    }
    if (!options->store)
        return true;
    size_t root = strlen(options->store);
    if (strncmp(path, options->store, root) != 0 || path[root] != '/') {
        fprintf(stderr, "%s isn't in %s\n", path, options->store);
        return false;
    }
    snprintf(campaign->store_path, sizeof(campaign->store_path), "%s", path + root + 1);
    char ledger[PATH_MAX];
    if (ledger_path(path, ledger))
        file_read(ledger, &campaign->ledger, &campaign->ledger_size);
    return true;
}

static bool prepare(struct campaign *campaign)
{
    const struct options *options = campaign->options;
    struct report *reports =
        mmap(NULL, JOBS_MAX * sizeof(*reports), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reports == MAP_FAILED)
        return false;
    for (uint32_t i = 0; i < options->jobs; i++) {
        campaign->jobs[i].report = &reports[i];
        if (options->work)
            snprintf(campaign->jobs[i].store, PATH_MAX, "%s/job%u", options->work, i);
    }
    const struct rlimit no_core = {0, 0};
    return setrlimit(RLIMIT_CORE, &no_core) == 0 && read_data(campaign);
}

static int run_campaign(const struct options *options)
{
    static struct campaign campaign;
    campaign.options = options;
    if (!prepare(&campaign) || !run_all(&campaign)) {
        fprintf(stderr, "the campaign could not be run\n");
        return 2;
    }
    struct counts sum = {0};
    for (int kind = 0; kind < DAMAGE_KIND_COUNT; kind++)
        add_counts(&sum, &campaign.counts[kind]);
    print_table(&campaign, &sum);
    if (!write_json(&campaign, &sum)) {
        perror(options->json);
        return 2;
    }
    free(campaign.data);
    free(campaign.ledger);
    bool clean =
        sum.cases == options->count &&
        sum.crashes + sum.hangs + sum.unusable + sum.cache_errors + sum.pipeline_errors + sum.reached == 0;
    return options->must_be_clean && !clean;
}

static bool save_cache(const struct gpu *gpu, VkPipelineCache cache, const char *path)
{
    size_t size = cache_size(gpu, cache);
    void *data = malloc(size + 1);
    bool done = data && gpu->GetPipelineCacheData(gpu->device, cache, &size, data) == VK_SUCCESS &&
                file_write(path, data, size);
    free(data);
    return done;
}

static int harvest(const struct options *options)
{
    struct gpu gpu;
    struct pipes pipes;
    struct pipes_outcome outcome = {0};
    if (!set_up(&gpu, &pipes))
        return 2;
    VkPipelineCache cache = VK_NULL_HANDLE;
    bool done = create_cache(&gpu, NULL, 0, &cache) == VK_SUCCESS;
    if (done) {
        create_pipelines(options, &pipes, cache, &outcome);
        create_pipelines(options, &pipes, VK_NULL_HANDLE, &outcome);
        done = outcome.failed == 0 && save_cache(&gpu, cache, options->harvest);
    }
    gpu.DestroyPipelineCache(gpu.device, cache, NULL);
    pipes_finish(&pipes);
    gpu_finish(&gpu);
    if (!done)
        fprintf(stderr, "harvesting failed\n");
    return done ? 0 : 2;
}

enum option_id {
    OPTION_HARVEST = 1,
    OPTION_BLOB,
    OPTION_STORE,
    OPTION_STORE_FILE,
    OPTION_WORK,
    OPTION_JSON,
    OPTION_COUNT,
    OPTION_SEED,
    OPTION_FIRST,
    OPTION_COMPUTE,
    OPTION_GRAPHICS,
    OPTION_JOBS,
    OPTION_TIMEOUT,
    OPTION_TRAILER,
    OPTION_MUST_BE_CLEAN,
    OPTION_VERBOSE,
};

static const struct option option_table[] = {
    {"harvest", required_argument, NULL, OPTION_HARVEST},
    {"blob", required_argument, NULL, OPTION_BLOB},
    {"store", required_argument, NULL, OPTION_STORE},
    {"store-file", required_argument, NULL, OPTION_STORE_FILE},
    {"work", required_argument, NULL, OPTION_WORK},
    {"json", required_argument, NULL, OPTION_JSON},
    {"count", required_argument, NULL, OPTION_COUNT},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"first", required_argument, NULL, OPTION_FIRST},
    {"compute", required_argument, NULL, OPTION_COMPUTE},
    {"graphics", required_argument, NULL, OPTION_GRAPHICS},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"trailer", required_argument, NULL, OPTION_TRAILER},
    {"must-be-clean", no_argument, NULL, OPTION_MUST_BE_CLEAN},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {NULL, 0, NULL, 0},
};

static bool read_number(const char *text, uint64_t limit, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && *end == 0 && end != text && *out <= limit;
}

static bool read_option(struct options *options, int option, const char *value)
{
    const char **texts[] = {
        [OPTION_HARVEST] = &options->harvest, [OPTION_BLOB] = &options->blob,
        [OPTION_STORE] = &options->store,     [OPTION_STORE_FILE] = &options->store_file,
        [OPTION_WORK] = &options->work,       [OPTION_JSON] = &options->json,
    };
    if (option >= OPTION_HARVEST && option <= OPTION_JSON) {
        *texts[option] = value;
        return true;
    }
    switch (option) {
    case OPTION_COUNT:
        return read_number(value, 1000000, &options->count);
    case OPTION_SEED:
        return read_number(value, UINT64_MAX, &options->seed);
    case OPTION_FIRST:
        return read_number(value, UINT64_MAX / 2, &options->first);
    case OPTION_COMPUTE:
        return read_number(value, PIPELINES_MAX, &options->compute);
    case OPTION_GRAPHICS:
        return read_number(value, PIPELINES_MAX, &options->graphics);
    case OPTION_JOBS:
        return read_number(value, JOBS_MAX, &options->jobs) && options->jobs > 0;
    case OPTION_TIMEOUT:
        return read_number(value, 3600, &options->timeout) && options->timeout > 0;
    case OPTION_TRAILER:
        return read_number(value, 65536, &options->trailer);
    case OPTION_MUST_BE_CLEAN:
        return options->must_be_clean = true;
    case OPTION_VERBOSE:
        return options->verbose = true;
    default:
        return false;
    }
}

static bool read_options(struct options *options, int argc, char **argv)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct options){.count = 1000, .seed = 1, .compute = 16, .graphics = 4, .timeout = 20};
    options->jobs = cpus < 1 ? 1 : cpus > JOBS_MAX ? JOBS_MAX : (uint64_t)cpus;
    int option;
    while ((option = getopt_long(argc, argv, "", option_table, NULL)) != -1) {
        if (!read_option(options, option, optarg))
            return false;
    }
    int modes = (options->harvest != NULL) + (options->blob != NULL) + (options->store != NULL);
    return optind == argc && modes == 1 && !options->store == !options->store_file &&
           !options->store == !options->work;
}

int main(int argc, char **argv)
{
    struct options options;
    if (!read_options(&options, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    return options.harvest ? harvest(&options) : run_campaign(&options);
}
