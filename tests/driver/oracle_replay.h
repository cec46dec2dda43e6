/* What the parts of the oracle share while they go through a batch's commands. Under the device's lock. */
#ifndef DRIVER_ORACLE_REPLAY_H
#define DRIVER_ORACLE_REPLAY_H

#include "oracle_report.h"
#include "oracle_state.h"
#include "queue.h"

struct bound;
struct oracle_pass;
struct shader_use;

/* A render pass object's instance. */
struct pass_instance {
    const struct oracle_pass *pass; /* NULL: none is open */
    const VkImageView *views;       /* the framebuffer's or the begin's */
    uint32_t view_count;
    uint32_t layers; /* the framebuffer's */
    VkRect2D area;
    uint32_t subpass;
};

struct replay {
    struct device *device;
    uint32_t family;     /* VK_QUEUE_FAMILY_IGNORED: the host does it */
    const char *command; /* as it was called */
    uint32_t since;      /* where the command's findings begin */
    struct pass_instance instance;
    const VkRenderingInfo *rendering; /* of dynamic rendering; NULL: none is open */
    bool suspended;                   /* between a suspended and a resumed rendering */
    struct bound *bound;              /* by the command buffer's commands so far */
    const struct shader_use *use;     /* whose descriptor is being judged; NULL: it is something else */
};

/* A finding that isn't about an image. */
void replay_violate(const struct replay *replay, enum fault_oracle_kind kind, const char *text);
/* One about a subresource: where the walk stands. */
void replay_violate_at(const struct replay *replay, enum fault_oracle_kind kind, const struct range_walk *at,
                       VkImageLayout expected, const char *text);

/* Neither in a render pass instance nor between two parts of one. */
void replay_outside(const struct replay *replay);

/* --- oracle_use.c: what uses of images have in common --- */

/* The subresource belongs to the queue family, or does from now on. */
void use_owner(const struct replay *replay, const struct range_walk *at);
/* Nobody's contents are needed, so that nobody need have released it. */
void use_take(const struct replay *replay, const struct range_walk *at);
/* Owner and layout. */
void use_check(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range,
               VkImageLayout layout);
/* Its contents are needed. Returns their history. */
uint64_t use_read(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range);
void use_write(VkImage image, const VkImageSubresourceRange *range, enum content_event event,
               uint64_t source);
void use_discard(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range);
void use_set_layout(VkImage image, const VkImageSubresourceRange *range, VkImageLayout layout);

/* --- An attachment, whatever kind of rendering it is for --- */

/* Reads, clears or discards at the beginning, writes or discards at the end. `whole`: the render area covers
 * it. */
void attachment_load(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range,
                     VkAttachmentLoadOp op, bool whole);
void attachment_store(const struct replay *replay, VkImage image, const VkImageSubresourceRange *range,
                      VkAttachmentStoreOp op, bool written, bool whole);
/* Whether a rectangle covers this mip of the image. */
bool area_covers(VkImage image, uint32_t mip, const VkRect2D *area);
/* Whether attachments in this layout are written. */
bool layout_is_writable(VkImageAspectFlagBits aspect, VkImageLayout layout);

/* --- The commands; false if it isn't one of theirs --- */
struct recorded_command;
bool replay_barrier(const struct replay *replay, const struct recorded_command *command);
bool replay_transfer(const struct replay *replay, const struct recorded_command *command);
bool replay_pass(struct replay *replay, const struct recorded_command *command);
bool replay_rendering(struct replay *replay, const struct recorded_command *command);
bool replay_bind(struct replay *replay, const struct recorded_command *command);
bool replay_shader(struct replay *replay, const struct recorded_command *command);

/* oracle_pass.c: whether a barrier of these scopes may stand in the current subpass. */
struct barrier_scopes {
    VkPipelineStageFlags2 source_stages, destination_stages;
    VkAccessFlags2 source_accesses, destination_accesses;
    VkDependencyFlags flags;
};
bool pass_allows_barrier(const struct pass_instance *instance, const struct barrier_scopes *scopes);
/* Whether the current subpass uses the image as an attachment. */
bool pass_uses_image(const struct pass_instance *instance, VkImage image);
/* oracle_rendering.c: whether dynamic rendering does. */
bool rendering_uses_image(const VkRenderingInfo *info, VkImage image);

/* oracle_stages.c */
/* Those that a family with these capabilities lacks; bits that aren't known are left out. */
VkPipelineStageFlags2 stages_missing(VkPipelineStageFlags2 stages, VkQueueFlags capabilities);
/* Whether `inner` lies within `outer`. */
bool stages_include(VkPipelineStageFlags2 outer, VkPipelineStageFlags2 inner);
bool accesses_include(VkAccessFlags2 outer, VkAccessFlags2 inner);

#endif
