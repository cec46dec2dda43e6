#include "sync/record_hold.h"

#include "sync/grow.h"
#include "sync/hold_table.h"
#include "sync/layout.h"
#include "sync/record.h"

/* Of images by creation ordinal: an address is used again. NULL: barriers inside of it, whatever the image.
 */
static uint64_t key_of(uint64_t pass, const struct contract_image *image)
{
    return hold_mix(pass, image ? image->image->ordinal + UINT64_C(1) : 0);
}

/* --- Which images --- */

/* Some programs push descriptors, or write sets, only when the instance has begun. */
uint32_t record_hold_described(const struct command_buffer *buffer, const struct image *image)
{
    uint32_t layouts = atomic_load_explicit(&image->described, memory_order_relaxed);
    if (layouts || !atomic_load_explicit(&buffer->sync->unforeseen, memory_order_relaxed))
        return layouts;
    if (image->usage & VK_IMAGE_USAGE_SAMPLED_BIT)
        layouts |= layout_bit(VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    if (image->usage & VK_IMAGE_USAGE_STORAGE_BIT)
        layouts |= layout_bit(VK_IMAGE_LAYOUT_GENERAL);
    return layouts;
}

struct asking {
    const struct command_buffer *buffer;
    const struct contract_image *image;
    uint32_t layouts;
    bool dirty;
};

/* Whether some descriptor would find it in another layout. */
static bool is_dirty(const struct asking *asking, const struct contract_state *state, uint32_t aspect)
{
    VkImageLayout layout = state->access.layout;
    return (asking->layouts & ~layout_bit(layout)) &&
           (asking->layouts & ~layout_bits_matching(layout, asking->image->aspects[aspect]));
}

static void ask(void *context, const struct subresource_range *range, const void *value)
{
    struct asking *asking = context;
    const struct contract_state *state = value;
    if (asking->dirty || !(state->need.flags & NEED_SET) || state->access.flags ||
        command_buffer_is_all_attachment(asking->buffer, asking->image, range))
        return;
    for (uint32_t i = 0; range->aspects >> i; i++)
        asking->dirty |= (range->aspects >> i & 1) && is_dirty(asking, state, i);
}

static bool is_image_dirty(const struct command_buffer *buffer, const struct contract_image *image,
                           uint32_t layouts)
{
    struct asking asking = {buffer, image, layouts, false};
    struct subresource_range all = subresource_range_all(&image->map.shape);
    subresource_map_read(&image->map, &all, ask, &asking);
    return asking.dirty;
}

/* What an instance is known by when it comes again: its attachments. */
static uint64_t pass_key(const struct command_buffer *buffer)
{
    uint64_t key = hold_mix(buffer->end_count, buffer->level);
    for (uint32_t i = 0; i < buffer->end_count; i++) {
        const struct pass_end *end = &buffer->ends[i];
        key = hold_mix(key, (uint64_t)end->image->image->ordinal << 32 | end->range.base_mip << 16 |
                                end->range.base_layer);
    }
    return key;
}

static void want(struct hold *hold, const struct contract_image *image)
{
    if (hold->wanted_count == HOLD_WANTED)
        return;
    hold->wanted[hold->wanted_count].image = image;
    hold->wanted[hold->wanted_count++].used = false;
}

/* Kept until it changes, or gets descriptors of another layout. Of one that is an attachment too it depends
 * on the instance. */
static bool judge(const struct command_buffer *buffer, struct contract_image *image, uint32_t layouts,
                  bool attached)
{
    if (image->judged && image->judged_layouts == layouts && !attached)
        return image->dirty;
    image->dirty = is_image_dirty(buffer, image, layouts);
    image->judged = !attached;
    image->judged_layouts = layouts;
    return image->dirty;
}

static bool is_attached(const struct command_buffer *buffer, const struct contract_image *image)
{
    for (uint32_t i = 0; i < buffer->end_count; i++)
        if (buffer->ends[i].image == image)
            return true;
    return false;
}

/* The dirty images move to the front of the list; those that are right for every descriptor leave it. */
static uint32_t find_dirty(struct command_buffer *buffer)
{
    struct contract_image *dirty = NULL, *rest = NULL, *image = buffer->changed;
    struct contract_image **end = &dirty;
    uint32_t count = 0;
    while (image) {
        struct contract_image *next = image->changed_next;
        uint32_t layouts = record_hold_described(buffer, image->image);
        bool attached = is_attached(buffer, image);
        if (layouts && judge(buffer, image, layouts, attached)) {
            *end = image;
            end = &image->changed_next;
            count++;
        } else if (layouts && !attached) {
            image->changed = false;
        } else {
            image->changed_next = rest;
            rest = image;
        }
        image = next;
    }
    *end = rest;
    buffer->changed = dirty ? dirty : rest;
    return count;
}

/* Those for which an instance wasn't held in vain too often, and whether one like it had a barrier inside for
 * an image that it doesn't use. */
static bool choose_wanted(struct command_buffer *buffer, uint32_t dirty)
{
    struct hold *hold = &buffer->hold;
    const struct hold_table *table = buffer->sync->holds;
    bool inside = atomic_load_explicit(&buffer->sync->barriers_inside, memory_order_relaxed), wanted = false;
    if (!(dirty || inside))
        return false;
    hold->pass = pass_key(buffer);
    const struct contract_image *image = buffer->changed;
    for (uint32_t i = 0; i < dirty; i++, image = image->changed_next)
        if (hold_table_ask(table, key_of(hold->pass, image)) != HOLD_GIVEN_UP) {
            want(hold, image);
            wanted = true;
        }
    if (inside && hold_table_ask(table, key_of(hold->pass, NULL)) == HOLD_KNOWN) {
        want(hold, NULL);
        wanted = true;
    }
    return wanted;
}

/* Images that were right for every descriptor may not be any more. */
static void complete_list(struct command_buffer *buffer)
{
    uint32_t anew = atomic_load_explicit(&buffer->sync->described_anew, memory_order_relaxed);
    if (buffer->described_anew == anew)
        return;
    buffer->described_anew = anew;
    for (struct contract_image *image = buffer->contract.first; image; image = image->next)
        command_buffer_ask_about(buffer, image);
}

bool record_hold_is_wanted(struct command_buffer *buffer)
{
    const struct device_sync *sync = buffer->sync;
    buffer->hold.wanted_count = 0;
    buffer->hold.pass = 0;
    buffer->hold.opaque = false;
    buffer->passes++;
    if (sync->mode != SYNC_REPAIR || buffer->failed || !sync->follows_shaders)
        return false;
    complete_list(buffer);
    return choose_wanted(buffer, find_dirty(buffer));
}

/* --- Holding --- */

void record_hold_begin(struct command_buffer *buffer)
{
    buffer->hold.holds = true;
    buffer->hold.instance++;
    buffer->hold.used = false;
    buffer->use_count = 0;
    /* What was looked at before isn't noted as used in this one. */
    command_buffer_count_change(buffer);
    atomic_fetch_add_explicit(&buffer->sync->counters.passes_held, 1, memory_order_relaxed);
}

void record_hold_release(struct command_buffer *buffer)
{
    struct hold *hold = &buffer->hold;
    bool in_vain = !hold->used;
    hold->holds = false;
    if (buffer->pending)
        record_flush_pending(buffer);
    body_replay(&hold->body, buffer->handle);
    for (uint32_t i = 0; i < hold->wanted_count; i++) {
        hold_table_remember(buffer->sync->holds, key_of(hold->pass, hold->wanted[i].image),
                            hold->wanted[i].used ? HOLD_USED : HOLD_IN_VAIN);
    }
    if (in_vain)
        atomic_fetch_add_explicit(&buffer->sync->counters.passes_held_in_vain, 1, memory_order_relaxed);
    hold->wanted_count = 0;
    buffer->use_count = 0;
}

void record_hold_give_up(struct command_buffer *buffer)
{
    record_hold_release(buffer);
    atomic_fetch_add_explicit(&buffer->sync->counters.not_encoded, 1, memory_order_relaxed);
}

void record_hold_used(struct command_buffer *buffer, const struct contract_image *image)
{
    struct hold *hold = &buffer->hold;
    hold->used = true;
    for (uint32_t i = 0; i < hold->wanted_count; i++)
        if (hold->wanted[i].image == image)
            hold->wanted[i].used = true;
}

void record_hold_missed_barrier(struct command_buffer *buffer)
{
    atomic_store_explicit(&buffer->sync->barriers_inside, true, memory_order_relaxed);
    record_hold_missed(buffer, NULL);
}

void record_hold_missed(struct command_buffer *buffer, const struct contract_image *image)
{
    uint64_t pass = buffer->hold.pass ? buffer->hold.pass : pass_key(buffer);
    /* It was dirty, but no descriptor referred to it when the instance began. */
    if (image && image->changed && !image->judged)
        atomic_store_explicit(&buffer->sync->unforeseen, true, memory_order_relaxed);
    hold_table_remember(buffer->sync->holds, key_of(pass, image), HOLD_MISSED);
}

/* --- Uses --- */

/* Inside of an instance that isn't held nothing can be repaired, so that nobody asks. */
void record_hold_add_use(struct command_buffer *buffer, struct contract_image *image,
                         const struct subresource_range *range)
{
    if (record_is_inside(buffer) && !buffer->hold.holds)
        return;
    if (!grow(&buffer->uses, &buffer->use_capacity, buffer->use_count + 1, sizeof(buffer->uses[0]))) {
        buffer->failed = true;
        return;
    }
    image->instance = buffer->hold.instance;
    buffer->uses[buffer->use_count++] = (struct instance_use){image, *range};
}

void record_hold_end_command(struct command_buffer *buffer)
{
    if (record_is_inside(buffer))
        return;
    buffer->use_count = 0;
    buffer->hold.instance++;
}

bool record_hold_has_used(const struct command_buffer *buffer, const struct contract_image *image,
                          const struct subresource_range *range)
{
    if (image->instance != buffer->hold.instance)
        return false;
    for (uint32_t i = 0; i < buffer->use_count; i++)
        if (buffer->uses[i].image == image &&
            (!range || subresource_ranges_overlap(&buffer->uses[i].range, range)))
            return true;
    return false;
}
