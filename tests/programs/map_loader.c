/* map_loader [--threads N] [--textures N] [--texture-bytes N] [--buffers N] [--buffer-bytes N]
 *            [--mode direct|transfer|submitters|secondary] [--barriers correct|none] [--json FILE]
 *
 * Prints one line of figures; the hash depends on the resources' number and size alone. */
#include "map_loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char *const modes[] = {"direct", "transfer", "submitters", "secondary"};

static void usage(void)
{
    fprintf(stderr,
            "usage: map_loader [--threads N] [--textures N] [--texture-bytes N] [--buffers N] "
            "[--buffer-bytes N]\n"
            "                  [--mode direct|transfer|submitters|secondary] [--barriers correct|none] "
            "[--json FILE]\n");
    exit(2);
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || value < low || value > high)
        usage();
    return value;
}

static enum mode mode_of(const char *text)
{
    for (uint32_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(text, modes[i]) == 0)
            return (enum mode)i;
    usage();
    return MODE_DIRECT;
}

static void parse(struct options *options, const char **json, int count, char **arguments)
{
    *options = (struct options){4, 532, 2713, 45u << 20, 20u << 20, MODE_DIRECT, true};
    for (int i = 1; i < count; i += 2) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (!value)
            usage();
        if (strcmp(name, "--threads") == 0)
            options->threads = (uint32_t)number(value, 1, MAX_THREADS);
        else if (strcmp(name, "--textures") == 0)
            options->textures = (uint32_t)number(value, 1, GRID * GRID);
        else if (strcmp(name, "--texture-bytes") == 0)
            options->texture_bytes = number(value, 1, 1u << 30);
        else if (strcmp(name, "--buffers") == 0)
            options->buffers = (uint32_t)number(value, 1, 100000);
        else if (strcmp(name, "--buffer-bytes") == 0)
            options->buffer_bytes = number(value, 1, 1u << 30);
        else if (strcmp(name, "--mode") == 0)
            options->mode = mode_of(value);
        else if (strcmp(name, "--barriers") == 0 && (!strcmp(value, "correct") || !strcmp(value, "none")))
            options->barriers = strcmp(value, "correct") == 0;
        else if (strcmp(name, "--json") == 0)
            *json = value;
        else
            usage();
    }
}

static void print(FILE *file, const struct map *map, const struct frame_figures *figures, double total_ms)
{
    struct rusage usage;
    double record_ms = 0;
    uint32_t recorded = 0;
    for (uint32_t i = 0; i < map->options.threads; i++) {
        record_ms += map->record_ms[i];
        recorded += map->recorded[i];
    }
    getrusage(RUSAGE_SELF, &usage);
    fprintf(
        file,
        "{\"mode\":\"%s\",\"barriers\":%s,\"threads\":%u,\"textures\":%u,\"buffers\":%u,\"total_ms\":%.2f,"
        "\"first_frame_ms\":%.2f,\"record_us_per_resource\":%.3f,\"submit_p50_us\":%.2f,\"submit_p99_us\":%."
        "2f,"
        "\"gpu_ms\":%.3f,\"frames\":%u,\"peak_rss_kb\":%ld,\"own_transfer_queue\":%s,\"hash\":\"%016llx\"}\n",
        modes[map->options.mode], map->options.barriers ? "true" : "false", map->options.threads,
        map->options.textures, map->options.buffers, total_ms, figures->first_frame_ms,
        record_ms * 1e3 / recorded, figures->submit_p50_us, figures->submit_p99_us, figures->gpu_ms,
        figures->frames, usage.ru_maxrss,
        map->gpu.transfer.family != map->gpu.graphics.family ? "true" : "false",
        (unsigned long long)figures->hash);
}

static void destroy_resources(struct map *map)
{
    for (uint32_t i = 0; i < map->options.textures; i++) {
        vkDestroyImage(map->gpu.device, map->textures[i].image, NULL);
        vkFreeMemory(map->gpu.device, map->textures[i].memory, NULL);
    }
    for (uint32_t i = 0; i < map->options.buffers; i++) {
        vkDestroyBuffer(map->gpu.device, map->meshes[i].buffer, NULL);
        vkFreeMemory(map->gpu.device, map->meshes[i].memory, NULL);
    }
    free(map->textures);
    free(map->meshes);
}

int main(int count, char **arguments)
{
    static struct map map;
    static struct loader loaders[MAX_THREADS];
    struct frame_figures figures;
    const char *json = NULL;
    parse(&map.options, &json, count, arguments);
    map.textures = calloc(map.options.textures, sizeof(*map.textures));
    map.meshes = calloc(map.options.buffers, sizeof(*map.meshes));
    check(map.textures && map.meshes ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "calloc");
    pthread_mutex_init(&map.lock, NULL);
    pthread_cond_init(&map.filled, NULL);
    map.ready_end = &map.ready;
    map.running = map.options.threads;
    map_device_init(&map.gpu, map.options.mode == MODE_TRANSFER);

    double start = now_ms();
    for (uint32_t i = 0; i < map.options.threads; i++) {
        loaders[i] = (struct loader){.map = &map, .index = i};
        if (pthread_create(&loaders[i].thread, NULL, loader_run, &loaders[i]))
            check(VK_ERROR_OUT_OF_HOST_MEMORY, "pthread_create");
    }
    frames_run(&map, start, &figures);
    double total = now_ms() - start;
    for (uint32_t i = 0; i < map.options.threads; i++) {
        pthread_join(loaders[i].thread, NULL);
        loader_finish(&loaders[i]);
    }
    print(stdout, &map, &figures, total);
    if (json) {
        FILE *file = fopen(json, "we");
        check(file ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, json);
        print(file, &map, &figures, total);
        check(fclose(file) == 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, json);
    }
    destroy_resources(&map);
    map_device_finish(&map.gpu);
    pthread_mutex_destroy(&map.lock);
    pthread_cond_destroy(&map.filled);
    return 0;
}
