#include "shader_fuzz.h"

#include <string.h>

/* The bindings of shader_fuzz.glsl that hold images, by slot. */
static const struct {
    uint32_t binding, element;
    VkDescriptorType type;
    enum fuzz_shape shape;
} slots[FUZZ_SLOTS] = {
    [FUZZ_FIRST] = {0, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_FLAT},
    [FUZZ_SECOND] = {1, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_FLAT},
    [FUZZ_SEVERAL] = {2, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_FLAT},
    [FUZZ_SEVERAL + 1] = {2, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_FLAT},
    [FUZZ_SEVERAL + 2] = {2, 2, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_FLAT},
    [FUZZ_SEVERAL + 3] = {2, 3, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_FLAT},
    [FUZZ_LOADED] = {3, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, FUZZ_ATTACHMENT},
    [FUZZ_STORED] = {4, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, FUZZ_ATTACHMENT},
    [FUZZ_CUBE_MAP] = {5, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_CUBE},
    [FUZZ_LAYERED_MAP] = {6, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_LAYERED},
    [FUZZ_SEPARATE] = {7, 0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, FUZZ_FLAT},
    [FUZZ_STENCIL_MAP] = {10, 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, FUZZ_STENCIL},
};
#define SAMPLER_BINDING 8
#define BUFFER_BINDING 9

enum fuzz_shape fuzz_slot_shape(enum fuzz_slot slot)
{
    return slots[slot].shape;
}

bool fuzz_slot_is_storage(enum fuzz_slot slot)
{
    return slots[slot].type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

static bool can_hold(const struct fuzz *fuzz, enum fuzz_slot slot, const struct fuzz_view *view)
{
    if (fuzz_slot_is_storage(slot))
        return view->shape == FUZZ_ATTACHMENT && view->image->storage;
    if (slots[slot].shape == FUZZ_FLAT && view->shape == FUZZ_ATTACHMENT)
        return fuzz_is_color(view->image);
    return view->shape == slots[slot].shape &&
           (!fuzz->options.lavapipe || fuzz_is_color(view->image) || slots[slot].shape == FUZZ_STENCIL);
}

struct fuzz_ref fuzz_any_ref(struct fuzz *fuzz, enum fuzz_slot slot)
{
    uint32_t first = fuzz_pick(fuzz, fuzz->view_count), variant = fuzz_pick(fuzz, 4);
    for (uint32_t i = 0; i < fuzz->view_count; i++) {
        const struct fuzz_view *view = &fuzz->views[(first + i) % fuzz->view_count];
        VkImageLayout layout = variant == 0 ? GENERAL : READ;
        if (!can_hold(fuzz, slot, view))
            continue;
        if (fuzz_slot_is_storage(slot))
            layout = GENERAL;
        else if (!fuzz_is_color(view->image) && variant > 1)
            layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL;
        return (struct fuzz_ref){view, layout};
    }
    return (struct fuzz_ref){0};
}

struct fuzz_set *fuzz_set_new(struct fuzz *fuzz, enum fuzz_kind kind)
{
    if (fuzz->set_count == FUZZ_SETS)
        return NULL;
    struct fuzz_set *set = &fuzz->sets[fuzz->set_count++];
    *set = (struct fuzz_set){.kind = kind};
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = kind == FUZZ_LATE ? fuzz->late_pool : fuzz->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &fuzz->set_layouts[kind],
    };
    if (kind != FUZZ_PUSH)
        kit_check(vkAllocateDescriptorSets(fuzz->kit.device, &info, &set->handle),
                  "vkAllocateDescriptorSets");
    return set;
}

/* --- Writing --- */

static VkDescriptorImageInfo info_of(const struct fuzz *fuzz, const struct fuzz_ref *ref)
{
    if (ref->view)
        ref->view->image->described |= 1u << ref->layout;
    return (VkDescriptorImageInfo){fuzz->sampler, ref->view ? ref->view->handle : VK_NULL_HANDLE,
                                   ref->layout};
}

struct writes {
    VkWriteDescriptorSet writes[FUZZ_SLOTS + 2];
    VkDescriptorImageInfo infos[FUZZ_SLOTS], sampler;
    VkDescriptorBufferInfo buffer;
    uint32_t count;
};

static void add_write(const struct fuzz *fuzz, struct writes *writes, const struct fuzz_set *set,
                      enum fuzz_slot slot)
{
    bool other = set->kind == FUZZ_OTHER, input = set->kind == FUZZ_INPUT;
    writes->infos[writes->count] = info_of(fuzz, &set->refs[slot]);
    writes->writes[writes->count] = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set->handle,
        .dstBinding = other || input ? 0 : slots[slot].binding,
        .dstArrayElement = other ? slot : slots[slot].element,
        .descriptorCount = 1,
        .descriptorType = input ? VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT : slots[slot].type,
        .pImageInfo = &writes->infos[writes->count],
    };
    writes->count++;
}

static void add_buffer(const struct fuzz *fuzz, struct writes *writes, const struct fuzz_set *set)
{
    writes->buffer = (VkDescriptorBufferInfo){fuzz->texels, 0, VK_WHOLE_SIZE};
    writes->writes[writes->count++] = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set->handle,
        .dstBinding = BUFFER_BINDING,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &writes->buffer,
    };
}

static void add_sampler(const struct fuzz *fuzz, struct writes *writes)
{
    writes->sampler = (VkDescriptorImageInfo){.sampler = fuzz->sampler};
    writes->writes[writes->count++] = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstBinding = SAMPLER_BINDING,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLER,
        .pImageInfo = &writes->sampler,
    };
}

/* "consecutive binding updates": first and second in one write. */
static void join_first_two(struct writes *writes, const struct fuzz_set *set)
{
    if (writes->count < 2 || set->kind > FUZZ_PUSH || writes->writes[0].dstBinding != 0 ||
        writes->writes[1].dstBinding != 1)
        return;
    writes->writes[0].descriptorCount = 2;
    memmove(&writes->writes[1], &writes->writes[2], (writes->count - 2) * sizeof(writes->writes[0]));
    writes->count--;
}

static void collect(struct fuzz *fuzz, struct writes *writes, const struct fuzz_set *set)
{
    writes->count = 0;
    for (enum fuzz_slot slot = 0; slot < FUZZ_SLOTS; slot++)
        if (set->refs[slot].view)
            add_write(fuzz, writes, set, slot);
    if (fuzz_chance(fuzz, 50))
        join_first_two(writes, set);
    if (set->kind <= FUZZ_PUSH)
        add_buffer(fuzz, writes, set);
    if (set->kind == FUZZ_PUSH)
        add_sampler(fuzz, writes);
}

struct template_data {
    VkDescriptorImageInfo images[FUZZ_SLOTS];
    VkDescriptorBufferInfo buffer;
};

static struct template_data data_of(const struct fuzz *fuzz, const struct fuzz_set *set)
{
    struct template_data data = {.buffer = {fuzz->texels, 0, VK_WHOLE_SIZE}};
    for (enum fuzz_slot slot = 0; slot < FUZZ_SLOTS; slot++)
        data.images[slot] = info_of(fuzz, &set->refs[slot]);
    return data;
}

/* What no shader uses holds something all the same. */
static void fill(struct fuzz *fuzz, struct fuzz_set *set)
{
    for (enum fuzz_slot slot = 0; slot < FUZZ_SLOTS; slot++)
        if (!set->refs[slot].view)
            set->refs[slot] = fuzz_any_ref(fuzz, slot);
}

static void write_directly(struct fuzz *fuzz, const struct fuzz_set *set)
{
    struct writes writes;
    collect(fuzz, &writes, set);
    vkUpdateDescriptorSets(fuzz->kit.device, writes.count, writes.writes, 0, NULL);
}

static void write_by_template(struct fuzz *fuzz, struct fuzz_set *set)
{
    fill(fuzz, set);
    struct template_data data = data_of(fuzz, set);
    vkUpdateDescriptorSetWithTemplate(fuzz->kit.device, set->handle, fuzz->templates[set->kind], &data);
}

/* Written to another set, and copied from there. */
static void write_by_copies(struct fuzz *fuzz, const struct fuzz_set *set)
{
    struct fuzz_set *other = fuzz_set_new(fuzz, set->kind);
    struct writes writes;
    VkCopyDescriptorSet copies[FUZZ_SLOTS + 1];
    if (!other) {
        write_directly(fuzz, set);
        return;
    }
    memcpy(other->refs, set->refs, sizeof(set->refs));
    collect(fuzz, &writes, other);
    for (uint32_t i = 0; i < writes.count; i++)
        copies[i] = (VkCopyDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
            .srcSet = other->handle,
            .srcBinding = writes.writes[i].dstBinding,
            .srcArrayElement = writes.writes[i].dstArrayElement,
            .dstSet = set->handle,
            .dstBinding = writes.writes[i].dstBinding,
            .dstArrayElement = writes.writes[i].dstArrayElement,
            .descriptorCount = writes.writes[i].descriptorCount,
        };
    vkUpdateDescriptorSets(fuzz->kit.device, writes.count, writes.writes, writes.count, copies);
}

/* A part of what UPDATE_AFTER_BIND descriptors are to hold is written now wrongly or not at all, and rightly
 * later. Synchronization validation judges by what is there when the command is recorded. */
static void put_off(struct fuzz *fuzz, struct fuzz_set *set)
{
    for (enum fuzz_slot slot = FUZZ_FIRST; slot <= FUZZ_SECOND; slot++) {
        struct fuzz_ref right = set->refs[slot];
        if (!right.view || fuzz_chance(fuzz, 50))
            continue;
        set->refs[slot] =
            !fuzz->options.strict && fuzz_chance(fuzz, 50) ? fuzz_any_ref(fuzz, slot) : (struct fuzz_ref){0};
        fuzz->late_writes[fuzz->late_write_count++] = (struct fuzz_late_write){set, slot, right};
    }
}

static void take_back(struct fuzz *fuzz, struct fuzz_set *set, uint32_t first)
{
    for (uint32_t i = first; i < fuzz->late_write_count; i++)
        set->refs[fuzz->late_writes[i].slot] = fuzz->late_writes[i].right;
}

void fuzz_set_write(struct fuzz *fuzz, struct fuzz_set *set)
{
    uint32_t first = fuzz->late_write_count;
    if (set->kind <= FUZZ_PUSH && (fuzz->options.lavapipe || fuzz_chance(fuzz, 50)))
        fill(fuzz, set);
    if (set->kind == FUZZ_PUSH)
        return;
    if (set->kind == FUZZ_LATE && fuzz->late_write_count + 2 <= FUZZ_SETS)
        put_off(fuzz, set);
    if (fuzz_chance(fuzz, 25))
        write_by_copies(fuzz, set);
    else if (set->kind < FUZZ_PUSH && (!fuzz->options.strict || fuzz->late_write_count == first) &&
             fuzz_chance(fuzz, 30))
        write_by_template(fuzz, set);
    else
        write_directly(fuzz, set);
    take_back(fuzz, set, first);
}

void fuzz_sets_finish(struct fuzz *fuzz)
{
    for (uint32_t i = 0; i < fuzz->late_write_count; i++) {
        struct writes writes = {0};
        add_write(fuzz, &writes, fuzz->late_writes[i].set, fuzz->late_writes[i].slot);
        vkUpdateDescriptorSets(fuzz->kit.device, writes.count, writes.writes, 0, NULL);
    }
    fuzz->late_write_count = 0;
}

void fuzz_set_push(struct fuzz *fuzz, const struct fuzz_set *set, const struct fuzz_pipeline *pipeline)
{
    bool full = true;
    for (enum fuzz_slot slot = 0; slot < FUZZ_SLOTS; slot++)
        full &= set->refs[slot].view != NULL;
    if (full && !pipeline->key.compute && pipeline->key.second_kind == FUZZ_OTHER && fuzz_chance(fuzz, 50)) {
        struct template_data data = data_of(fuzz, set);
        PFN_vkCmdPushDescriptorSetWithTemplateKHR push =
            (PFN_vkCmdPushDescriptorSetWithTemplateKHR)kit_function(&fuzz->kit,
                                                                    "vkCmdPushDescriptorSetWithTemplateKHR");
        push(fuzz->commands, fuzz->templates[FUZZ_PUSH], pipeline->layout, 0, &data);
        return;
    }
    PFN_vkCmdPushDescriptorSetKHR push =
        (PFN_vkCmdPushDescriptorSetKHR)kit_function(&fuzz->kit, "vkCmdPushDescriptorSetKHR");
    struct writes writes;
    collect(fuzz, &writes, set);
    push(fuzz->commands,
         pipeline->key.compute ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS,
         pipeline->layout, 0, writes.count, writes.writes);
}

void fuzz_sets_change(struct fuzz *fuzz)
{
    for (uint32_t i = 0; i < fuzz->set_count; i++) {
        struct fuzz_set *set = &fuzz->sets[i];
        if (set->kind >= FUZZ_PUSH || !fuzz_chance(fuzz, 30))
            continue;
        enum fuzz_slot slot = fuzz_pick(fuzz, FUZZ_SLOTS);
        struct writes writes = {0};
        set->refs[slot] = fuzz_any_ref(fuzz, slot);
        add_write(fuzz, &writes, set, slot);
        vkUpdateDescriptorSets(fuzz->kit.device, writes.count, writes.writes, 0, NULL);
    }
}
