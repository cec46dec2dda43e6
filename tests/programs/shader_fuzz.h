/* What the files of shader_fuzz share: a random program while it is made.
 *
 * shader_fuzz_state.c   what is known of each image, and the barriers that follow
 * shader_fuzz_shader.c  set layouts and pipelines
 * shader_fuzz_set.c     descriptor sets and their contents
 * shader_fuzz_plan.c    which images a draw or dispatch uses, and whether that goes together
 * shader_fuzz_pass.c    render pass instances
 * shader_fuzz.c         the other commands, command buffers, submits */
#ifndef PROGRAMS_SHADER_FUZZ_H
#define PROGRAMS_SHADER_FUZZ_H

#include "barrier_cases.h"
#include "kit.h"

#define FUZZ_IMAGES 10
#define FUZZ_MIPS 3
#define FUZZ_LAYERS 6
#define FUZZ_VIEWS KIT_MAX
#define FUZZ_SETS 192
#define FUZZ_PIPELINES 160
#define FUZZ_BARRIERS 128

/* --- Images and what is known of them --- */

/* One mip of one layer; both aspects are always in one layout. */
struct fuzz_part {
    VkImageLayout layout;
    bool defined; /* it was written */
    /* Once what --strip leaves out is repaired, the layout is this one. It isn't while nothing has used the
     * image since a transition that may have been left out. */
    bool sure;
    /* What is recorded has used it visibly for the layer; has used it so that the layer can't know, and not
     * visibly before: a barrier that then is left out would be made up for before that use. */
    bool known, hidden;
    VkPipelineStageFlags before; /* what the next barrier has to wait for */
    VkAccessFlags written;
    bool read;                        /* since the last barrier or write */
    VkPipelineStageFlags seen_stages; /* to whom it is visible */
    VkAccessFlags seen_access;
};

struct fuzz_image {
    VkImage handle;
    VkFormat format;
    VkImageAspectFlags aspects;
    uint32_t mips, layers;
    bool cube, storage;
    uint32_t described; /* bit for each layout (of Vulkan 1.0) in which a descriptor has referred to it */
    bool locked;        /* what is recorded may only read it through UPDATE_AFTER_BIND descriptors */
    struct fuzz_part parts[FUZZ_MIPS][FUZZ_LAYERS];
};

enum fuzz_shape { FUZZ_FLAT, FUZZ_LAYERED, FUZZ_CUBE, FUZZ_STENCIL, FUZZ_ATTACHMENT };

struct fuzz_view {
    VkImageView handle;
    struct fuzz_image *image;
    enum fuzz_shape shape;
    struct kit_range range; /* with all aspects of the image */
};

/* --- Descriptors --- */

/* Set 0 of all pipelines has the bindings of shader_fuzz.glsl; these are the descriptors of images in it. */
enum fuzz_slot {
    FUZZ_FIRST,
    FUZZ_SECOND,
    FUZZ_SEVERAL, /* 4 */
    FUZZ_LOADED = FUZZ_SEVERAL + 4,
    FUZZ_STORED,
    FUZZ_CUBE_MAP,
    FUZZ_LAYERED_MAP,
    FUZZ_SEPARATE,
    FUZZ_STENCIL_MAP,
    FUZZ_SLOTS
};

enum fuzz_kind {
    FUZZ_PLAIN,
    FUZZ_PARTIAL, /* `several` is PARTIALLY_BOUND */
    FUZZ_LATE,    /* `first` and `second` are UPDATE_AFTER_BIND */
    FUZZ_PUSH,
    FUZZ_OTHER, /* set 1: two textures */
    FUZZ_INPUT, /* set 1: an input attachment */
    FUZZ_KINDS
};

struct fuzz_ref {
    const struct fuzz_view *view; /* NULL: nothing written */
    VkImageLayout layout;
};

struct fuzz_set {
    VkDescriptorSet handle; /* NULL: pushed */
    enum fuzz_kind kind;
    struct fuzz_ref refs[FUZZ_SLOTS];
};

/* --- Pipelines --- */

/* What a pipeline is compatible with. */
struct fuzz_pass_class {
    bool legacy; /* a render pass, else dynamic rendering */
    bool depth;
    bool dependencies; /* the render pass orders all before and after it */
    bool two_subpasses;
};

struct fuzz_pipeline_key {
    bool compute;
    uint8_t shader; /* of the table of the stage */
    bool vertex_reads;
    uint8_t kind, second_kind; /* of sets 0 and 1 */
    struct fuzz_pass_class pass;
    uint8_t subpass;
};

struct fuzz_pipeline {
    struct fuzz_pipeline_key key;
    VkPipeline handle;
    VkPipelineLayout layout;
};

struct fuzz_shader {
    const uint32_t *words;
    size_t size;
    uint8_t reads, stores; /* as in shader_fuzz.glsl */
};

/* --- The program --- */

struct fuzz_barrier {
    VkImageMemoryBarrier info;
    VkPipelineStageFlags source, destination;
    bool keep;
};

struct fuzz_late_write {
    struct fuzz_set *set;
    enum fuzz_slot slot;
    struct fuzz_ref right;
};

struct fuzz_options {
    uint32_t strip, spoil;
    bool sync2;
    bool strict; /* elements of arrays that aren't read are in their layout as well, which validation wants */
    bool lavapipe; /* without what lavapipe 22.3 can't do */
};

struct fuzz {
    struct kit kit;
    struct fuzz_options options;
    uint64_t random, damage; /* what the program does; what is left out of it */
    struct fuzz_image images[FUZZ_IMAGES];
    uint32_t image_count;
    struct fuzz_view views[FUZZ_VIEWS];
    uint32_t view_count;
    VkSampler sampler;
    VkDescriptorSetLayout set_layouts[FUZZ_KINDS];
    VkPipelineLayout layouts[FUZZ_PUSH + 1][2]; /* set 1: OTHER, INPUT */
    VkPipelineLayout compute_layouts[FUZZ_PUSH + 1];
    VkDescriptorUpdateTemplate templates[FUZZ_PUSH + 1];
    VkDescriptorPool pool, late_pool;
    struct fuzz_set sets[FUZZ_SETS];
    uint32_t set_count;
    struct fuzz_pipeline pipelines[FUZZ_PIPELINES];
    uint32_t pipeline_count;
    VkBuffer texels, arguments, upload;
    VkQueryPool queries;
    uint32_t query_count;
    /* Recording */
    VkCommandBuffer commands;
    bool resubmitted; /* what is recorded runs twice */
    struct {
        const struct fuzz_set *set, *second;
        VkPipelineLayout layout;
    } bound[2]; /* graphics, compute */
    struct fuzz_barrier barriers[FUZZ_BARRIERS];
    uint32_t barrier_count;
    struct fuzz_late_write late_writes[FUZZ_SETS]; /* to be done before the submit */
    uint32_t late_write_count;
    struct fuzz_view *locked[2]; /* of locked images: what may be read */
    VkImageLayout locked_layouts[2];
    uint32_t locked_count;
    struct {
        uint64_t key; /* attachments of render pass instances */
        uint32_t count;
    } instances[KIT_MAX];
    uint32_t instance_count;
};

uint32_t fuzz_pick(struct fuzz *fuzz, uint32_t count);
bool fuzz_chance(struct fuzz *fuzz, uint32_t percent);

/* --- shader_fuzz_state.c --- */

struct fuzz_access {
    VkImageLayout layout;
    VkPipelineStageFlags stages;
    VkAccessFlags access;
};

enum {
    FUZZ_DISCARD = 1, /* all of it is written, nothing of it read */
    FUZZ_KEEP = 2,    /* the layer can't know of the use, so that its barrier is never left out */
    FUZZ_READY = 4,   /* claims: something else has brought it there */
};

bool fuzz_is_color(const struct fuzz_image *image);
struct fuzz_part *fuzz_part(struct fuzz_image *image, uint32_t mip, uint32_t layer);
/* An image that may be used now. */
struct fuzz_image *fuzz_any_image(struct fuzz *fuzz);

/* Adds the barriers that a use of the range needs. */
void fuzz_prepare(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
                  const struct fuzz_access *access, uint32_t how);
/* The command that comes uses it so: all barriers for it were added. */
void fuzz_use(struct fuzz_image *image, struct kit_range range, const struct fuzz_access *access,
              uint32_t how);
/* Both. */
void fuzz_need(struct fuzz *fuzz, struct fuzz_image *image, struct kit_range range,
               const struct fuzz_access *access, uint32_t how);
/* Records the barriers that were added. */
void fuzz_flush(struct fuzz *fuzz);
/* All before it is done and visible to all after it. */
void fuzz_full_barrier(struct fuzz *fuzz);
/* What is recorded from now on has used nothing yet. */
void fuzz_forget_uses(struct fuzz *fuzz);
/* A secondary command buffer: where the primary doesn't know either, what is needed is needed at its entry.
 */
void fuzz_enter_secondary(struct fuzz *fuzz);
/* What was recorded into it becomes the primary's, whose uses `before` says. */
void fuzz_leave_secondary(struct fuzz *fuzz, const struct fuzz_image *before);
/* A render pass has left it in this layout, and ordered it before all that comes. */
void fuzz_left_by_pass(struct fuzz_image *image, struct kit_range range, VkImageLayout layout);

/* --- shader_fuzz_shader.c --- */

#define FUZZ_GRAPHICS_STAGES (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT)

void fuzz_shaders_create(struct fuzz *fuzz);
void fuzz_shaders_destroy(struct fuzz *fuzz);
const struct fuzz_shader *fuzz_shader(const struct fuzz_pipeline_key *key);
uint32_t fuzz_shader_count(bool compute);
/* `pass`: with which it is to be compatible. */
const struct fuzz_pipeline *fuzz_pipeline(struct fuzz *fuzz, const struct fuzz_pipeline_key *key,
                                          VkRenderPass pass);

/* --- shader_fuzz_set.c --- */

enum fuzz_shape fuzz_slot_shape(enum fuzz_slot slot);
bool fuzz_slot_is_storage(enum fuzz_slot slot);
/* A view that a slot can hold, in a layout for it. */
struct fuzz_ref fuzz_any_ref(struct fuzz *fuzz, enum fuzz_slot slot);
/* A set that isn't written yet; NULL: no room. Slots of its refs that are still NULL may become anything. */
struct fuzz_set *fuzz_set_new(struct fuzz *fuzz, enum fuzz_kind kind);
/* Writes it. */
void fuzz_set_write(struct fuzz *fuzz, struct fuzz_set *set);
void fuzz_set_push(struct fuzz *fuzz, const struct fuzz_set *set, const struct fuzz_pipeline *pipeline);
/* What was left for after the bind. */
void fuzz_sets_finish(struct fuzz *fuzz);
/* While nothing runs, nor was recorded to run: changes some descriptors. */
void fuzz_sets_change(struct fuzz *fuzz);

/* --- shader_fuzz_plan.c --- */

struct fuzz_claim {
    struct fuzz_image *image;
    struct kit_range range;
    struct fuzz_access access;
    uint32_t how;
};

struct fuzz_draw {
    struct fuzz_pipeline_key key;
    struct fuzz_set *set, *second;
    uint32_t element, value;
};

#define FUZZ_CLAIMS 64
#define FUZZ_DRAWS 6

/* What a dispatch or a render pass instance is about to use. */
struct fuzz_plan {
    struct fuzz_claim claims[FUZZ_CLAIMS];
    uint32_t claim_count;
    struct fuzz_draw draws[FUZZ_DRAWS];
    uint32_t draw_count;
    bool keep; /* no barrier of it may be left out */
};

/* False: it doesn't go together with what was claimed before. */
bool fuzz_claim(struct fuzz_plan *plan, struct fuzz_image *image, struct kit_range range,
                const struct fuzz_access *access, uint32_t how);
/* Chooses a shader and its descriptors. `key`: what is given of it. False: nothing found. */
bool fuzz_plan_draw(struct fuzz *fuzz, struct fuzz_plan *plan, struct fuzz_pipeline_key key);
/* The barriers for all claims. */
void fuzz_plan_settle(struct fuzz *fuzz, const struct fuzz_plan *plan);
/* Binds what a draw or dispatch of the plan needs. */
void fuzz_bind(struct fuzz *fuzz, const struct fuzz_draw *draw, VkRenderPass pass);

/* --- shader_fuzz_pass.c --- */

/* `primary`: what is recorded is a primary command buffer. */
void fuzz_instance(struct fuzz *fuzz, bool primary);
VkCommandBuffer fuzz_begin_secondary(struct fuzz *fuzz, const VkCommandBufferInheritanceInfo *inheritance,
                                     VkCommandBufferUsageFlags flags);

#endif
