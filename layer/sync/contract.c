#include "sync/contract.h"

#include <string.h>

#include "sync/contract_parts.h"
#include "sync/layout.h"

#define FEW_IMAGES 8 /* that are looked for one after the other */

static size_t slot_of(const struct contract *contract, const struct image *image)
{
    return (size_t)(((uint64_t)(uintptr_t)image * 0x9e3779b97f4a7c15ULL) >> 32) & (contract->slot_count - 1);
}

static void put(struct contract *contract, struct contract_image *image)
{
    size_t slot = slot_of(contract, image->image);
    while (contract->slots[slot])
        slot = (slot + 1) & (contract->slot_count - 1);
    contract->slots[slot] = image;
}

/* At most half full after one more. */
static bool slots_grow(struct contract *contract)
{
    if (contract->count < FEW_IMAGES || (contract->count + 1) * 2 <= contract->slot_count)
        return true;
    uint32_t count = contract->slot_count ? contract->slot_count * 2 : FEW_IMAGES * 4;
    struct contract_image **slots = arena_alloc(contract->arena, count * sizeof(struct contract_image *));
    if (!slots)
        return false;
    memset(slots, 0, count * sizeof(struct contract_image *));
    contract->slots = slots;
    contract->slot_count = count;
    for (struct contract_image *image = contract->first; image; image = image->next)
        put(contract, image);
    return true;
}

struct contract_image *contract_find(const struct contract *contract, const struct image *image)
{
    if (contract->slots) {
        size_t slot = slot_of(contract, image);
        while (contract->slots[slot] && contract->slots[slot]->image != image)
            slot = (slot + 1) & (contract->slot_count - 1);
        return contract->slots[slot];
    }
    for (struct contract_image *part = contract->first; part; part = part->next)
        if (part->image == image)
            return part;
    return NULL;
}

struct contract_image *contract_add(struct contract *contract, struct image *image,
                                    const struct subresource_shape *shape,
                                    const VkImageAspectFlagBits *aspects)
{
    struct contract_image *part = contract_find(contract, image);
    if (part)
        return part;
    part = arena_alloc(contract->arena, sizeof(*part));
    if (!part || !slots_grow(contract))
        return NULL;
    memset(part, 0, sizeof(*part));
    part->image = image;
    memcpy(part->aspects, aspects, shape->aspects * sizeof(*aspects));
    subresource_map_init(&part->map, shape, sizeof(struct contract_state), &part->first, contract->arena);
    if (contract->last)
        contract->last->next = part;
    else
        contract->first = part;
    contract->last = part;
    contract->count++;
    if (contract->slots)
        put(contract, part);
    return part;
}

bool contract_layouts_match(const struct contract_image *image, const struct subresource_range *range,
                            VkImageLayout a, VkImageLayout b)
{
    if (a == b)
        return true;
    for (uint32_t i = 0; range->aspects >> i; i++)
        if ((range->aspects & 1u << i) && !layout_matches(a, b, image->aspects[i]))
            return false;
    return true;
}

static const struct contract_state unknown = {
    .need = {.flags = NEED_SET | NEED_NOTHING},
    .access = {.flags = ACCESS_UNKNOWN},
};

void contract_forget_all(struct contract_image *image)
{
    subresource_map_set_all(&image->map, &unknown);
}

void contract_forget_state(struct contract_state *state)
{
    if (!(state->need.flags & NEED_SET))
        state->need = unknown.need;
    state->need.flags &= (uint8_t)~NEED_OPEN;
    state->access = unknown.access;
}

void contract_discard(struct contract_state *state, VkImageLayout layout)
{
    state->need.flags &= (uint8_t)~NEED_OPEN;
    if (state->access.flags & ACCESS_UNKNOWN)
        state->access = access_initial(layout);
    state->access.layout = layout;
    state->access.flags = 0;
    state->access.family = ACCESS_NO_FAMILY;
}

static void forget(void *context, const struct subresource_range *range, void *value)
{
    (void)context, (void)range;
    contract_forget_state(value);
}

void contract_forget(struct contract_image *image, const struct subresource_range *range)
{
    if (!subresource_map_update(&image->map, range, forget, NULL))
        contract_forget_all(image);
}

bool contract_is_repairable(const struct need *need)
{
    return !(need->flags & NEED_ACQUIRE) && !layout_is_initial(need->layout);
}

struct transition contract_transition_for(const struct subresource_range *range, const struct access *access,
                                          const struct need *need)
{
    return (struct transition){
        .range = *range,
        .old_layout = access->layout,
        .new_layout = need->layout,
        .source = access_source(access),
        .destination = need->scope,
        .command = need->command,
        .label = need->label,
    };
}

void contract_repair(struct contract_state *state, const struct transition *transition)
{
    access_add_barrier(&state->access, transition->new_layout, &transition->source, &transition->destination);
    state->ordered.stages |= transition->source.stages;
    state->ordered.access |= transition->source.access;
    state->need.flags &= (uint8_t)~NEED_OPEN;
}
