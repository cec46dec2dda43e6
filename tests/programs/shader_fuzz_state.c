#include "shader_fuzz.h"

#define ALL_STAGES VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
#define ALL_ACCESS (VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT)
#define WRITES                                                                                               \
    (VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |      \
     VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_MEMORY_WRITE_BIT)

bool fuzz_is_color(const struct fuzz_image *image)
{
    return image->aspects == VK_IMAGE_ASPECT_COLOR_BIT;
}

struct fuzz_part *fuzz_part(struct fuzz_image *image, uint32_t mip, uint32_t layer)
{
    return &image->parts[mip][layer];
}

struct fuzz_image *fuzz_any_image(struct fuzz *fuzz)
{
    uint32_t first = fuzz_pick(fuzz, fuzz->image_count);
    for (uint32_t i = 0; i < fuzz->image_count; i++) {
        struct fuzz_image *image = &fuzz->images[(first + i) % fuzz->image_count];
        if (!image->locked)
            return image;
    }
    return NULL;
}

/* --- Recording --- */

static bool damage(struct fuzz *fuzz, uint32_t percent)
{
    fuzz->damage = fuzz->damage * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(fuzz->damage >> 33) % 100 < percent;
}

static VkImageLayout damaged_layout(struct fuzz *fuzz)
{
    static const VkImageLayout layouts[] = {SRC, DST, READ, GENERAL};
    fuzz->damage = fuzz->damage * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return layouts[(fuzz->damage >> 33) % 4];
}

/* A call, while it is put together; `memory`: of transitions that were left out. */
struct call {
    VkPipelineStageFlags source, destination;
    VkImageMemoryBarrier images[FUZZ_BARRIERS];
    uint32_t image_count;
    VkMemoryBarrier memory[FUZZ_BARRIERS];
    uint32_t memory_count;
};

static void call_add(struct fuzz *fuzz, struct call *call, const struct fuzz_barrier *barrier)
{
    VkImageMemoryBarrier info = barrier->info;
    if (!barrier->keep && info.oldLayout != info.newLayout) {
        if (damage(fuzz, fuzz->options.strip)) {
            if (damage(fuzz, 50))
                return;
            call->memory[call->memory_count++] = (VkMemoryBarrier){
                .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                .srcAccessMask = info.srcAccessMask,
                .dstAccessMask = info.dstAccessMask,
            };
            call->source |= barrier->source;
            call->destination |= barrier->destination;
            return;
        }
        if (info.oldLayout != UNDEFINED && damage(fuzz, fuzz->options.spoil))
            info.oldLayout = damaged_layout(fuzz);
    }
    call->source |= barrier->source;
    call->destination |= barrier->destination;
    call->images[call->image_count++] = info;
}

static VkImageMemoryBarrier2 image_of_sync2(const VkImageMemoryBarrier *barrier, const struct call *call)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = call->source,
        .srcAccessMask = barrier->srcAccessMask,
        .dstStageMask = call->destination,
        .dstAccessMask = barrier->dstAccessMask,
        .oldLayout = barrier->oldLayout,
        .newLayout = barrier->newLayout,
        .srcQueueFamilyIndex = barrier->srcQueueFamilyIndex,
        .dstQueueFamilyIndex = barrier->dstQueueFamilyIndex,
        .image = barrier->image,
        .subresourceRange = barrier->subresourceRange,
    };
}

static void record_sync2(VkCommandBuffer commands, const struct call *call)
{
    VkImageMemoryBarrier2 images[FUZZ_BARRIERS];
    VkMemoryBarrier2 memory[FUZZ_BARRIERS];
    for (uint32_t i = 0; i < call->image_count; i++)
        images[i] = image_of_sync2(&call->images[i], call);
    for (uint32_t i = 0; i < call->memory_count; i++)
        memory[i] = (VkMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
            .srcStageMask = call->source,
            .srcAccessMask = call->memory[i].srcAccessMask,
            .dstStageMask = call->destination,
            .dstAccessMask = call->memory[i].dstAccessMask,
        };
    VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = call->memory_count,
        .pMemoryBarriers = memory,
        .imageMemoryBarrierCount = call->image_count,
        .pImageMemoryBarriers = images,
    };
    vkCmdPipelineBarrier2(commands, &info);
}

static void record(struct fuzz *fuzz, const struct call *call, bool sync2)
{
    if (!call->image_count && !call->memory_count)
        return;
    if (sync2)
        record_sync2(fuzz->commands, call);
    else
        vkCmdPipelineBarrier(fuzz->commands, call->source, call->destination, 0, call->memory_count,
                             call->memory, 0, NULL, call->image_count, call->images);
}

void fuzz_flush(struct fuzz *fuzz)
{
    bool together = fuzz_chance(fuzz, 50), sync2 = fuzz->options.sync2 && fuzz_chance(fuzz, 60);
    struct call call = {0};
    for (uint32_t i = 0; i < fuzz->barrier_count; i++) {
        call_add(fuzz, &call, &fuzz->barriers[i]);
        if (!together) {
            record(fuzz, &call, sync2);
            call = (struct call){0};
        }
    }
    record(fuzz, &call, sync2);
    fuzz->barrier_count = 0;
}

void fuzz_full_barrier(struct fuzz *fuzz)
{
    kit_memory_barrier(&fuzz->kit, fuzz->commands);
}

/* --- What is needed --- */

static bool contains(VkFlags set, VkFlags part, VkFlags all)
{
    return set & all || !(part & ~set);
}

/* Whether an access needs no barrier. */
static bool is_ready(const struct fuzz_part *part, const struct fuzz_access *access)
{
    if (part->layout != access->layout || (access->access & WRITES && part->read))
        return false;
    return contains(part->seen_stages, access->stages, ALL_STAGES) &&
           contains(part->seen_access, access->access, VK_ACCESS_MEMORY_WRITE_BIT);
}

/* With equal layouts it is none of layouts. */
static void remember_barrier(struct fuzz_part *part, const struct fuzz_barrier *barrier)
{
    if (barrier->info.oldLayout != barrier->info.newLayout) {
        part->sure = barrier->keep;
        part->known |= barrier->keep;
    }
    part->layout = barrier->info.newLayout;
    part->before = barrier->destination;
    part->written = 0;
    part->read = false;
    part->seen_stages = barrier->destination;
    part->seen_access = barrier->info.dstAccessMask;
}

static void remember_use(struct fuzz_part *part, const struct fuzz_access *access, uint32_t how)
{
    part->before |= access->stages;
    if (how & FUZZ_KEEP)
        part->hidden |= !part->known;
    else
        part->sure = part->known = true;
    if (!(access->access & WRITES)) {
        part->read = true;
        return;
    }
    part->written = access->access & WRITES;
    part->defined = true;
    part->read = false;
    part->seen_stages = 0;
    part->seen_access = 0;
}

static bool overlaps(const VkImageSubresourceRange *a, const struct kit_range *b)
{
    return a->baseMipLevel < b->mip + b->mips && b->mip < a->baseMipLevel + a->levelCount &&
           a->baseArrayLayer < b->layer + b->layers && b->layer < a->baseArrayLayer + a->layerCount;
}

/* Barriers of one call don't come one after the other. */
static void flush_overlapping(struct fuzz *fuzz, const struct fuzz_image *image, struct kit_range range)
{
    bool found = fuzz->barrier_count == FUZZ_BARRIERS;
    for (uint32_t i = 0; i < fuzz->barrier_count; i++)
        found |= fuzz->barriers[i].info.image == image->handle &&
                 overlaps(&fuzz->barriers[i].info.subresourceRange, &range);
    if (found)
        fuzz_flush(fuzz);
}

/* For all of a range that is in one layout. */
static void add_barrier(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
                        const struct fuzz_access *access, uint32_t how)
{
    bool lazy = fuzz_chance(fuzz, 25);
    struct fuzz_barrier barrier = {
        .info =
            {
                .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                .dstAccessMask = lazy ? ALL_ACCESS : access->access,
                .oldLayout =
                    how & FUZZ_DISCARD ? UNDEFINED : fuzz_part(image, range.mip, range.layer)->layout,
                .newLayout = access->layout,
                .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                .image = image->handle,
                .subresourceRange = {image->aspects, range.mip, range.mips, range.layer, range.layers},
            },
        .destination = lazy ? ALL_STAGES : access->stages,
        .keep = how & FUZZ_KEEP,
    };
    flush_overlapping(fuzz, image, range);
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++) {
            barrier.source |= fuzz_part(image, mip, layer)->before;
            barrier.info.srcAccessMask |= fuzz_part(image, mip, layer)->written;
            barrier.keep |= fuzz_part(image, mip, layer)->hidden && !fuzz_part(image, mip, layer)->known;
        }
    if (!barrier.source)
        barrier.source = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;
    if (lazy) {
        barrier.source = ALL_STAGES;
        barrier.info.srcAccessMask = ALL_ACCESS;
    }
    fuzz->barriers[fuzz->barrier_count++] = barrier;
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            remember_barrier(fuzz_part(image, mip, layer), &barrier);
}

static bool is_uniform(struct fuzz_image *image, struct kit_range range)
{
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            if (fuzz_part(image, mip, layer)->layout != fuzz_part(image, range.mip, range.layer)->layout)
                return false;
    return true;
}

static bool all_are_ready(struct fuzz_image *image, struct kit_range range, const struct fuzz_access *access)
{
    bool ready = true;
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            ready &= is_ready(fuzz_part(image, mip, layer), access);
    return ready;
}

static void add_barriers(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
                         const struct fuzz_access *access, uint32_t how)
{
    if (all_are_ready(image, range, access))
        return;
    if (is_uniform(image, range) || how & FUZZ_DISCARD) {
        add_barrier(fuzz, image, range, access, how);
        return;
    }
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            if (!is_ready(fuzz_part(image, mip, layer), access))
                add_barrier(fuzz, image, (struct kit_range){image->aspects, mip, 1, layer, 1}, access, how);
}

/* What may be in another layout once barriers are left out goes through a layout that it can't be in. */
static void make_sure(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
                      VkImageLayout wanted)
{
    const struct fuzz_access between = {wanted == GENERAL ? SRC : GENERAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                        VK_ACCESS_TRANSFER_READ_BIT};
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++) {
            struct fuzz_part *part = fuzz_part(image, mip, layer);
            if (!part->sure && part->layout == wanted)
                add_barrier(fuzz, image, (struct kit_range){image->aspects, mip, 1, layer, 1}, &between,
                            FUZZ_KEEP);
        }
}

void fuzz_prepare(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
                  const struct fuzz_access *access, uint32_t how)
{
    if (how & FUZZ_KEEP)
        make_sure(fuzz, image, range, access->layout);
    add_barriers(fuzz, image, range, access, how);
}

void fuzz_use(struct fuzz_image *image, struct kit_range range, const struct fuzz_access *access,
              uint32_t how)
{
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++)
            remember_use(fuzz_part(image, mip, layer), access, how);
}

void fuzz_need(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
               const struct fuzz_access *access, uint32_t how)
{
    fuzz_prepare(fuzz, image, range, access, how);
    fuzz_use(image, range, access, how);
}

void fuzz_left_by_pass(struct fuzz_image *image, struct kit_range range, VkImageLayout layout)
{
    for (uint32_t mip = range.mip; mip < range.mip + range.mips; mip++)
        for (uint32_t layer = range.layer; layer < range.layer + range.layers; layer++) {
            struct fuzz_part *part = fuzz_part(image, mip, layer);
            *part = (struct fuzz_part){
                .layout = layout,
                .defined = true,
                .sure = true,
                .known = true,
                .before = ALL_STAGES,
                .seen_stages = ALL_STAGES,
                .seen_access = ALL_ACCESS,
            };
        }
}

void fuzz_forget_uses(struct fuzz *fuzz)
{
    for (uint32_t i = 0; i < fuzz->image_count; i++)
        for (uint32_t mip = 0; mip < FUZZ_MIPS; mip++)
            for (uint32_t layer = 0; layer < FUZZ_LAYERS; layer++) {
                struct fuzz_part *part = fuzz_part(&fuzz->images[i], mip, layer);
                part->known = part->hidden = false;
            }
}

void fuzz_enter_secondary(struct fuzz *fuzz)
{
    for (uint32_t i = 0; i < fuzz->image_count; i++)
        for (uint32_t mip = 0; mip < FUZZ_MIPS; mip++)
            for (uint32_t layer = 0; layer < FUZZ_LAYERS; layer++) {
                struct fuzz_part *part = fuzz_part(&fuzz->images[i], mip, layer);
                part->hidden &= !part->known;
                part->known = false;
            }
}

void fuzz_leave_secondary(struct fuzz *fuzz, const struct fuzz_image *before)
{
    for (uint32_t i = 0; i < fuzz->image_count; i++)
        for (uint32_t mip = 0; mip < FUZZ_MIPS; mip++)
            for (uint32_t layer = 0; layer < FUZZ_LAYERS; layer++) {
                struct fuzz_part *part = fuzz_part(&fuzz->images[i], mip, layer);
                part->known |= before[i].parts[mip][layer].known;
                part->hidden |= before[i].parts[mip][layer].hidden;
            }
}
