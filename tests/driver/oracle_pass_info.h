/* A render pass in the oracle's own form, made from either create-info. */
#ifndef DRIVER_ORACLE_PASS_INFO_H
#define DRIVER_ORACLE_PASS_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle_pass.h"

/* Of the depth (or color) aspect, and of stencil. */
struct pass_layouts {
    VkImageLayout main;
    VkImageLayout stencil;
};

struct pass_attachment {
    VkAttachmentLoadOp load, stencil_load;
    VkAttachmentStoreOp store, stencil_store;
    struct pass_layouts initial, final;
    bool used; /* by any subpass */
    bool written;
    bool stencil_written;
};

struct pass_use {
    uint32_t subpass;
    uint32_t attachment;
    struct pass_layouts layouts;
};

struct pass_dependency {
    uint32_t source, destination;
    VkPipelineStageFlags2 source_stages, destination_stages;
    VkAccessFlags2 source_accesses, destination_accesses;
    VkDependencyFlags flags;
};

struct oracle_pass {
    bool multiview;
    uint32_t attachment_count;
    struct pass_attachment *attachments;
    uint32_t use_count;
    struct pass_use *uses; /* ordered by subpass */
    uint32_t dependency_count;
    struct pass_dependency *dependencies;
};

#endif
