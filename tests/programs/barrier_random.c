/* barrier_random [--seed S] [--count N] [--strip PERCENT] [--spoil PERCENT] [--sync2]
 *
 * Random programs: images of several mips and layers, clears, blits, uploads, rendering, render passes,
 * barriers in between, several command buffers and submits on one queue. Each keeps its own account of
 * layouts, and inserts the barriers that it needs, those of memory alone too, so that synchronization
 * validation can judge what the layer makes of them (barrier_fuzz knows more commands, and layouts alone).
 * --strip leaves out that many of them, --spoil falsifies that many oldLayouts. With neither every program
 * is right. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES 4
#define MIPS 3
#define LAYERS 3
#define OPERATIONS 30

#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED
#define SRC VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
#define DST VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define COLOR VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define READ VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define GENERAL VK_IMAGE_LAYOUT_GENERAL

static const VkImageLayout layouts[] = {SRC, DST, COLOR, READ, GENERAL};

struct image {
    VkImage handle;
    VkImageView view; /* of mip 0, layer 0 */
    uint32_t mips, layers;
    VkImageLayout layout[MIPS][LAYERS];
};

struct program {
    struct kit kit;
    struct image images[IMAGES];
    VkBuffer pattern;
    VkCommandBuffer commands;
    VkCommandBuffer ended[4]; /* not submitted yet */
    uint32_t ended_count;
    uint32_t strip, spoil; /* percent */
    uint64_t state;
};

static uint32_t random_below(struct program *program, uint32_t end)
{
    program->state = program->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(program->state >> 33) % end;
}

static bool chance(struct program *program, uint32_t percent)
{
    return random_below(program, 100) < percent;
}

static VkImageLayout random_layout(struct program *program)
{
    return layouts[random_below(program, sizeof(layouts) / sizeof(layouts[0]))];
}

static struct kit_range one(uint32_t mip, uint32_t layer)
{
    return (struct kit_range){VK_IMAGE_ASPECT_COLOR_BIT, mip, 1, layer, 1};
}

/* A barrier that the program needs; left out or falsified where that was asked for. Nobody can know what is
 * in there if UNDEFINED is falsified, so that stays. */
static void barrier(struct program *program, const struct image *image, struct kit_range range,
                    VkImageLayout from, VkImageLayout to)
{
    if (chance(program, program->strip))
        return;
    if (from != UNDEFINED && chance(program, program->spoil))
        from = random_layout(program);
    kit_transition(&program->kit, program->commands, image->handle, range, from, to);
}

/* Brings some mips and layers into a layout: in one barrier if they are in one, else each by itself. */
static void ensure(struct program *program, struct image *image, struct kit_range range, VkImageLayout to)
{
    VkImageLayout first = image->layout[range.mip][range.layer];
    bool uniform = true;
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            uniform = uniform && image->layout[mip][layer] == first;
    /* The same layout on both sides orders the writes. */
    if (uniform)
        barrier(program, image, range, first, to);
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++) {
            if (!uniform)
                barrier(program, image, one(mip, layer), image->layout[mip][layer], to);
            image->layout[mip][layer] = to;
        }
}

static struct image *any_image(struct program *program)
{
    return &program->images[random_below(program, IMAGES)];
}

static struct kit_range any_range(struct program *program, const struct image *image)
{
    struct kit_range range = {VK_IMAGE_ASPECT_COLOR_BIT, random_below(program, image->mips), 1,
                              random_below(program, image->layers), 1};
    range.mips = 1 + random_below(program, image->mips - range.mip);
    range.layers = 1 + random_below(program, image->layers - range.layer);
    return range;
}

static void clear(struct program *program)
{
    struct image *image = any_image(program);
    struct kit_range range = any_range(program, image);
    ensure(program, image, range, DST);
    kit_clear(&program->kit, program->commands, image->handle, range, random_below(program, 10));
}

static void blit(struct program *program)
{
    struct image *from = any_image(program), *to = any_image(program);
    uint32_t from_mip = random_below(program, from->mips), from_layer = random_below(program, from->layers);
    uint32_t to_mip = random_below(program, to->mips), to_layer = random_below(program, to->layers);
    if (from == to && from_mip == to_mip && from_layer == to_layer)
        return;
    ensure(program, from, one(from_mip, from_layer), SRC);
    ensure(program, to, one(to_mip, to_layer), DST);
    kit_blit(&program->kit, program->commands, from->handle, from_mip, from_layer, to->handle, to_mip,
             to_layer);
}

static void upload(struct program *program)
{
    struct image *image = any_image(program);
    uint32_t mip = random_below(program, image->mips), layer = random_below(program, image->layers);
    ensure(program, image, one(mip, layer), DST);
    kit_upload(&program->kit, program->commands, program->pattern, image->handle, mip, layer);
}

static void render(struct program *program)
{
    struct image *image = any_image(program);
    VkImageLayout layout = chance(program, 50) ? COLOR : GENERAL;
    ensure(program, image, one(0, 0), layout);
    kit_render(&program->kit, program->commands, image->view, layout,
               chance(program, 50) ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD, 0);
}

static void pass(struct program *program)
{
    struct image *image = any_image(program);
    bool discard = chance(program, 30);
    VkImageLayout initial = discard ? UNDEFINED : random_layout(program), final = random_layout(program);
    if (!discard)
        ensure(program, image, one(0, 0), initial);
    VkRenderPass render_pass =
        kit_pass(&program->kit, VK_FORMAT_R8G8B8A8_UNORM,
                 discard || chance(program, 50) ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD,
                 initial, chance(program, 50) ? COLOR : GENERAL, final);
    kit_run_pass(&program->kit, program->commands, render_pass, image->view);
    image->layout[0][0] = final;
}

/* Transitions that nothing needs, up to three in a row. */
static void wander(struct program *program)
{
    struct image *image = any_image(program);
    struct kit_range range = any_range(program, image);
    for (uint32_t i = 1 + random_below(program, 3); i > 0; i--)
        ensure(program, image, range, random_layout(program));
}

static void submit(struct program *program)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = program->ended_count,
        .pCommandBuffers = program->ended,
    };
    if (program->ended_count)
        kit_check(vkQueueSubmit(program->kit.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    program->ended_count = 0;
}

static void next_buffer(struct program *program)
{
    kit_end(program->commands);
    program->ended[program->ended_count++] = program->commands;
    if (program->ended_count == 4 || chance(program, 50))
        submit(program);
    program->commands = kit_begin(&program->kit);
}

static void (*const operations[])(struct program *program) = {clear, blit,   blit,   upload,     render,
                                                              pass,  wander, wander, next_buffer};

static void run(struct program *program, uint64_t seed, bool sync2)
{
    struct kit_options options = {.correct = true, .sync2 = sync2};
    program->state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    kit_init(&program->kit, &options);
    program->pattern = kit_buffer(&program->kit, KIT_SIDE * KIT_SIDE * 4);
    for (uint32_t i = 0; i < IMAGES; i++) {
        struct image *image = &program->images[i];
        image->mips = 1 + random_below(program, MIPS);
        image->layers = 1 + random_below(program, LAYERS);
        image->handle =
            kit_image(&program->kit, &(struct kit_image_info){.mips = image->mips, .layers = image->layers});
        image->view =
            kit_view(&program->kit, image->handle, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT);
        memset(image->layout, 0, sizeof(image->layout)); /* UNDEFINED */
    }
    program->commands = kit_begin(&program->kit);
    for (uint32_t i = 0; i < OPERATIONS; i++)
        operations[random_below(program, sizeof(operations) / sizeof(operations[0]))](program);
    kit_end(program->commands);
    program->ended[program->ended_count++] = program->commands;
    submit(program);
    kit_finish(&program->kit);
}

int main(int count, char **arguments)
{
    static struct program program;
    uint64_t seed = 1, programs = 100;
    bool sync2 = false;
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--sync2") == 0) {
            sync2 = true;
            continue;
        }
        if (strcmp(arguments[i], "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        else if (strcmp(arguments[i], "--count") == 0)
            programs = strtoull(value, NULL, 10);
        else if (strcmp(arguments[i], "--strip") == 0)
            program.strip = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(arguments[i], "--spoil") == 0)
            program.spoil = (uint32_t)strtoul(value, NULL, 10);
        else {
            fprintf(stderr, "usage: barrier_random [--seed S] [--count N] [--strip PERCENT] [--spoil "
                            "PERCENT] [--sync2]\n");
            return 2;
        }
        i++;
    }
    for (uint64_t i = 0; i < programs; i++)
        run(&program, seed + i, sync2);
    return 0;
}
