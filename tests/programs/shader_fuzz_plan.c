#include "shader_fuzz.h"

#include <string.h>

#define READS_NOTHING 0
#define READS_BOTH 2
#define READS_CONSTANT_ELEMENTS 3
#define READS_ELEMENT 4
#define READS_CUBE 5
#define READS_LAYER 6
#define READS_SEPARATE 7
#define READS_STORAGE 8
#define READS_TWO_SETS 9
#define READS_STENCIL 10
#define READS_INPUT 11
#define STORES_IMAGE 1
#define STORES_BUFFER 2

/* --- Claims --- */

static bool ranges_overlap(const struct kit_range *a, const struct kit_range *b)
{
    return a->mip < b->mip + b->mips && b->mip < a->mip + a->mips && a->layer < b->layer + b->layers &&
           b->layer < a->layer + a->layers;
}

static bool writes(VkAccessFlags access)
{
    return access & (VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |
                     VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT);
}

static bool overlap(const struct fuzz_claim *a, const struct fuzz_claim *b)
{
    return a->image == b->image && ranges_overlap(&a->range, &b->range);
}

/* A barrier for either is one for both. */
static void share_stages(struct fuzz_claim *a, struct fuzz_claim *b)
{
    a->access.stages |= b->access.stages;
    b->access.stages = a->access.stages;
}

bool fuzz_claim(struct fuzz_plan *plan, struct fuzz_image *image, struct kit_range range,
                const struct fuzz_access *access, uint32_t how)
{
    struct fuzz_claim claim = {image, range, *access, how};
    if (plan->claim_count == FUZZ_CLAIMS)
        return false;
    for (uint32_t i = 0; i < plan->claim_count; i++) {
        const struct fuzz_claim *other = &plan->claims[i];
        if (overlap(other, &claim) && (writes(other->access.access) || writes(access->access) ||
                                       other->access.layout != access->layout))
            return false;
    }
    for (uint32_t i = 0; i < plan->claim_count; i++)
        if (overlap(&plan->claims[i], &claim))
            share_stages(&plan->claims[i], &claim);
    plan->claims[plan->claim_count++] = claim;
    return true;
}

void fuzz_plan_settle(struct fuzz *fuzz, const struct fuzz_plan *plan)
{
    uint32_t keep = plan->keep ? FUZZ_KEEP : 0;
    for (uint32_t i = 0; i < plan->claim_count; i++) {
        const struct fuzz_claim *claim = &plan->claims[i];
        if (!(claim->how & FUZZ_READY))
            fuzz_prepare(fuzz, claim->image, claim->range, &claim->access, claim->how | keep);
    }
    fuzz_flush(fuzz);
    for (uint32_t i = 0; i < plan->claim_count; i++) {
        const struct fuzz_claim *claim = &plan->claims[i];
        if (!(claim->how & FUZZ_READY))
            fuzz_use(claim->image, claim->range, &claim->access, claim->how | keep);
    }
}

/* --- What a shader uses --- */

struct slot_use {
    enum fuzz_slot slot;
    VkPipelineStageFlags stages;
    bool weak;    /* the layer can't know that it is accessed */
    bool ignored; /* it isn't, but has to be valid */
};

struct slot_uses {
    struct slot_use uses[FUZZ_SLOTS + 2];
    uint32_t count;
};

static void add_use(struct slot_uses *uses, enum fuzz_slot slot, VkPipelineStageFlags stages)
{
    uses->uses[uses->count++] = (struct slot_use){.slot = slot, .stages = stages};
}

static void add_elements(const struct fuzz *fuzz, struct slot_uses *uses, const struct fuzz_draw *draw,
                         uint8_t reads, VkPipelineStageFlags stages)
{
    bool constant = reads == READS_CONSTANT_ELEMENTS, partial = draw->key.kind == FUZZ_PARTIAL;
    for (uint32_t i = 0; i < 4; i++) {
        bool accessed = constant ? i == 0 || i == 2 : i == draw->element;
        if (!accessed && partial && !fuzz->options.strict)
            continue;
        uses->uses[uses->count++] = (struct slot_use){
            .slot = FUZZ_SEVERAL + i,
            .stages = stages,
            .weak = !constant || partial || !accessed,
            .ignored = !accessed && !fuzz->options.strict,
        };
    }
}

static struct slot_uses uses_of(const struct fuzz *fuzz, const struct fuzz_draw *draw)
{
    const struct fuzz_shader *shader = fuzz_shader(&draw->key);
    VkPipelineStageFlags stages =
        draw->key.compute ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT;
    struct slot_uses uses = {.count = 0};
    switch (shader->reads) {
    case READS_NOTHING:
    case READS_INPUT:
        break;
    case READS_BOTH:
        add_use(&uses, FUZZ_FIRST, stages);
        add_use(&uses, FUZZ_SECOND, stages);
        break;
    case READS_CONSTANT_ELEMENTS:
    case READS_ELEMENT:
        add_elements(fuzz, &uses, draw, shader->reads, stages);
        break;
    case READS_CUBE:
        add_use(&uses, FUZZ_CUBE_MAP, stages);
        break;
    case READS_LAYER:
        add_use(&uses, FUZZ_LAYERED_MAP, stages);
        break;
    case READS_SEPARATE:
        add_use(&uses, FUZZ_SEPARATE, stages);
        break;
    case READS_STORAGE:
        add_use(&uses, FUZZ_LOADED, stages);
        break;
    case READS_STENCIL:
        add_use(&uses, FUZZ_STENCIL_MAP, stages);
        break;
    default: /* READS_TWO_SETS too */
        add_use(&uses, FUZZ_FIRST, stages);
        break;
    }
    if (shader->stores == STORES_IMAGE)
        add_use(&uses, FUZZ_STORED, stages);
    if (draw->key.vertex_reads)
        add_use(&uses, FUZZ_SECOND, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT);
    return uses;
}

/* --- Choosing --- */

/* lavapipe 22.3 takes what is pushed for dispatches to be pushed for draws, and has arrays wrong. */
static bool can_push(const struct fuzz *fuzz, const struct fuzz_pipeline_key *key, uint8_t reads)
{
    return !fuzz->options.lavapipe ||
           !(key->compute || reads == READS_CONSTANT_ELEMENTS || reads == READS_ELEMENT);
}

static bool can_use_shader(const struct fuzz *fuzz, const struct fuzz_pipeline_key *key)
{
    const struct fuzz_shader *shader = fuzz_shader(key);
    if (!fuzz->set_layouts[key->kind] || (shader->reads == READS_INPUT) != (key->second_kind == FUZZ_INPUT))
        return false;
    if (key->kind == FUZZ_PUSH && !can_push(fuzz, key, shader->reads))
        return false;
    if (shader->reads == READS_STENCIL)
        return !fuzz->options.lavapipe;
    return shader->reads != READS_ELEMENT || kit_has(&fuzz->kit, KIT_DYNAMIC_INDEXING);
}

static bool is_locked_ref(const struct fuzz *fuzz, const struct fuzz_ref *ref)
{
    for (uint32_t i = 0; i < fuzz->locked_count; i++)
        if (fuzz->locked[i] == ref->view && fuzz->locked_layouts[i] == ref->layout)
            return true;
    return false;
}

/* Whether what the shader reads of the view was written before. */
static bool is_defined(const struct fuzz_view *view, uint32_t layer)
{
    return view->image->parts[view->range.mip][view->range.layer + layer].defined;
}

static bool claim_ref(struct fuzz *fuzz, struct fuzz_plan *plan, const struct fuzz_draw *draw,
                      const struct slot_use *use, const struct fuzz_ref *ref)
{
    bool late = draw->key.kind == FUZZ_LATE && use->slot <= FUZZ_SECOND;
    bool stored = use->slot == FUZZ_STORED;
    uint32_t layer = use->slot == FUZZ_LAYERED_MAP ? draw->element : 0, how = 0;
    const struct fuzz_access access = {ref->layout, use->stages,
                                       stored ? VK_ACCESS_SHADER_WRITE_BIT : VK_ACCESS_SHADER_READ_BIT};
    if (!ref->view)
        return false;
    if (use->ignored)
        return true;
    if (ref->view->image->locked) {
        if (!late || !is_locked_ref(fuzz, ref))
            return false;
        how = FUZZ_READY;
    }
    /* A dispatch stores all texels. */
    if (layer >= ref->view->range.layers || !(is_defined(ref->view, layer) || (stored && draw->key.compute)))
        return false;
    /* Of what is pushed when the instance has begun the layer knows too late, but that such a layout was
     * there before. */
    if (use->weak || late ||
        (draw->key.kind == FUZZ_PUSH && !(ref->view->image->described >> ref->layout & 1)))
        how |= FUZZ_KEEP;
    if (stored && draw->key.compute && fuzz_chance(fuzz, 15))
        how |= FUZZ_DISCARD;
    return fuzz_claim(plan, ref->view->image, ref->view->range, &access, how);
}

static struct fuzz_ref choose_ref(struct fuzz *fuzz, const struct fuzz_draw *draw, enum fuzz_slot slot)
{
    if (draw->key.kind == FUZZ_LATE && slot <= FUZZ_SECOND && fuzz->locked_count && fuzz_chance(fuzz, 70)) {
        uint32_t i = fuzz_pick(fuzz, fuzz->locked_count);
        return (struct fuzz_ref){fuzz->locked[i], fuzz->locked_layouts[i]};
    }
    return fuzz_any_ref(fuzz, slot);
}

static bool claim_new(struct fuzz *fuzz, struct fuzz_plan *plan, const struct fuzz_draw *draw,
                      const struct slot_uses *uses, struct fuzz_ref *refs)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        struct fuzz_ref *ref = &refs[uses->uses[i].slot];
        bool claimed = false;
        for (uint32_t tries = 0; tries < 4 && !claimed; tries++) {
            bool chosen = ref->view != NULL;
            struct fuzz_ref wanted = chosen ? *ref : choose_ref(fuzz, draw, uses->uses[i].slot);
            claimed = claim_ref(fuzz, plan, draw, &uses->uses[i], &wanted);
            if (claimed)
                *ref = wanted;
        }
        if (!claimed)
            return false;
    }
    return true;
}

static struct fuzz_set *take_new(struct fuzz *fuzz, struct fuzz_plan *plan, const struct fuzz_draw *draw,
                                 const struct slot_uses *uses)
{
    struct fuzz_ref refs[FUZZ_SLOTS] = {0};
    uint32_t claims = plan->claim_count;
    struct fuzz_set *set = NULL;
    if (claim_new(fuzz, plan, draw, uses, refs))
        set = fuzz_set_new(fuzz, draw->key.kind);
    if (!set) {
        plan->claim_count = claims;
        return NULL;
    }
    memcpy(set->refs, refs, sizeof(refs));
    fuzz_set_write(fuzz, set);
    return set;
}

/* One that is there already, and whose contents go together with the plan. */
static struct fuzz_set *take_old(struct fuzz *fuzz, struct fuzz_plan *plan, const struct fuzz_draw *draw,
                                 const struct slot_uses *uses)
{
    uint32_t first = fuzz->set_count ? fuzz_pick(fuzz, fuzz->set_count) : 0;
    for (uint32_t i = 0; i < fuzz->set_count; i++) {
        struct fuzz_set *set = &fuzz->sets[(first + i) % fuzz->set_count];
        uint32_t claims = plan->claim_count, done = 0;
        if (set->kind != draw->key.kind)
            continue;
        while (done < uses->count &&
               claim_ref(fuzz, plan, draw, &uses->uses[done], &set->refs[uses->uses[done].slot]))
            done++;
        if (done == uses->count)
            return set;
        plan->claim_count = claims;
    }
    return NULL;
}

static struct fuzz_set *take_set(struct fuzz *fuzz, struct fuzz_plan *plan, const struct fuzz_draw *draw,
                                 const struct slot_uses *uses)
{
    struct fuzz_set *set = fuzz_chance(fuzz, 40) ? take_old(fuzz, plan, draw, uses) : NULL;
    return set ? set : take_new(fuzz, plan, draw, uses);
}

/* Set 1, of which the second texture is read. */
static bool take_other(struct fuzz *fuzz, struct fuzz_plan *plan, struct fuzz_draw *draw,
                       VkPipelineStageFlags stages)
{
    struct fuzz_draw other = {.key = {.kind = FUZZ_OTHER}};
    bool strict = fuzz->options.strict;
    const struct slot_uses uses = {
        .uses = {{.slot = FUZZ_FIRST, .stages = stages, .weak = true, .ignored = !strict},
                 {.slot = FUZZ_SECOND, .stages = stages}},
        .count = 2,
    };
    draw->second = take_set(fuzz, plan, &other, &uses);
    return draw->second != NULL;
}

static bool try_draw(struct fuzz *fuzz, struct fuzz_plan *plan, struct fuzz_draw *draw)
{
    static const enum fuzz_kind kinds[] = {FUZZ_PLAIN, FUZZ_PLAIN, FUZZ_PARTIAL, FUZZ_LATE, FUZZ_PUSH};
    struct fuzz_pipeline_key *key = &draw->key;
    uint32_t claims = plan->claim_count;
    key->shader = (uint8_t)fuzz_pick(fuzz, fuzz_shader_count(key->compute));
    key->vertex_reads = !key->compute && fuzz_chance(fuzz, 15);
    key->kind = (uint8_t)kinds[fuzz_pick(fuzz, 5)];
    if (fuzz->locked_count && fuzz_chance(fuzz, 50))
        key->kind = FUZZ_LATE;
    draw->element = fuzz_pick(fuzz, 4);
    draw->value = fuzz_pick(fuzz, 100);
    if (!can_use_shader(fuzz, key))
        return false;
    struct slot_uses uses = uses_of(fuzz, draw);
    const struct fuzz_shader *shader = fuzz_shader(key);
    if (uses.count || shader->stores == STORES_BUFFER) {
        draw->set = take_set(fuzz, plan, draw, &uses);
        if (!draw->set)
            return false;
    }
    if (shader->reads == READS_TWO_SETS && !take_other(fuzz, plan, draw, uses.uses[0].stages)) {
        plan->claim_count = claims;
        return false;
    }
    return true;
}

bool fuzz_plan_draw(struct fuzz *fuzz, struct fuzz_plan *plan, struct fuzz_pipeline_key key)
{
    for (uint32_t tries = 0; tries < 8 && plan->draw_count < FUZZ_DRAWS; tries++) {
        struct fuzz_draw draw = {.key = key};
        if (try_draw(fuzz, plan, &draw)) {
            plan->draws[plan->draw_count++] = draw;
            return true;
        }
    }
    return false;
}

/* --- Recording --- */

static void bind_sets(struct fuzz *fuzz, const struct fuzz_draw *draw, const struct fuzz_pipeline *pipeline)
{
    VkPipelineBindPoint point =
        draw->key.compute ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS;
    bool bound = fuzz->bound[draw->key.compute].set == draw->set &&
                 fuzz->bound[draw->key.compute].second == draw->second &&
                 fuzz->bound[draw->key.compute].layout == pipeline->layout;
    if (bound && fuzz_chance(fuzz, 60))
        return;
    if (draw->set && draw->set->handle)
        vkCmdBindDescriptorSets(fuzz->commands, point, pipeline->layout, 0, 1, &draw->set->handle, 0, NULL);
    else if (draw->set)
        fuzz_set_push(fuzz, draw->set, pipeline);
    if (draw->second)
        vkCmdBindDescriptorSets(fuzz->commands, point, pipeline->layout, 1, 1, &draw->second->handle, 0,
                                NULL);
    fuzz->bound[draw->key.compute].set = draw->set;
    fuzz->bound[draw->key.compute].second = draw->second;
    fuzz->bound[draw->key.compute].layout = pipeline->layout;
}

void fuzz_bind(struct fuzz *fuzz, const struct fuzz_draw *draw, VkRenderPass pass)
{
    const struct fuzz_pipeline *pipeline = fuzz_pipeline(fuzz, &draw->key, pass);
    const struct {
        float color[4];
        uint32_t element;
    } constants = {
        {(float)(draw->value % 5 + 1) / 5, (float)(draw->value % 3 + 1) / 3, (float)(draw->value % 7) / 6, 1},
        draw->element};
    vkCmdBindPipeline(fuzz->commands,
                      draw->key.compute ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS,
                      pipeline->handle);
    bind_sets(fuzz, draw, pipeline);
    vkCmdPushConstants(fuzz->commands, pipeline->layout,
                       draw->key.compute ? VK_SHADER_STAGE_COMPUTE_BIT : FUZZ_GRAPHICS_STAGES, 0,
                       sizeof(constants), &constants);
}
