#include "oracle.h"

#include <stdio.h>

#include "command_buffer.h"
#include "driver_records.h"
#include "oracle_bound.h"
#include "oracle_replay.h"

/* --- What the application enabled --- */

/* A feature's structure of its own, or the one of a core version: the member's value in either. */
#define FEATURE(chain, type, stype, member)                                                                  \
    (chain_find(chain, stype) ? ((const type *)chain_find(chain, stype))->member : VK_FALSE)

void oracle_device_init(struct device *device, const VkDeviceCreateInfo *info)
{
    const struct driver_config *config = device->physical->config;
    struct oracle_device *oracle = &device->oracle;
    const void *chain = info->pNext;

    oracle->on = config->oracle || config->oracle_file[0];
    oracle->synchronization2 =
        FEATURE(chain, VkPhysicalDeviceVulkan13Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, synchronization2) ||
        FEATURE(chain, VkPhysicalDeviceSynchronization2Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, synchronization2);
    oracle->separate_layouts =
        FEATURE(chain, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, separateDepthStencilLayouts) ||
        FEATURE(chain, VkPhysicalDeviceSeparateDepthStencilLayoutsFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES,
                separateDepthStencilLayouts);
#if defined(VK_KHR_dynamic_rendering_local_read)
    oracle->local_read = FEATURE(chain, VkPhysicalDeviceDynamicRenderingLocalReadFeaturesKHR,
                                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR,
                                 dynamicRenderingLocalRead);
#endif
#if defined(VK_VERSION_1_4)
    oracle->local_read |=
        FEATURE(chain, VkPhysicalDeviceVulkan14Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_FEATURES, dynamicRenderingLocalRead);
#endif
#if defined(VK_EXT_shader_tile_image)
    oracle->tile_image = FEATURE(chain, VkPhysicalDeviceShaderTileImageFeaturesEXT,
                                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TILE_IMAGE_FEATURES_EXT,
                                 shaderTileImageColorReadAccess);
#endif
}

/* --- Findings --- */

static void violation_init(struct fault_violation *violation, const struct replay *replay,
                           enum fault_oracle_kind kind, const char *text)
{
    *violation = (struct fault_violation){
        .kind = kind, .command = replay->command, .expected = LAYOUT_UNKNOWN, .actual = LAYOUT_UNKNOWN};
    violation->set = replay->use ? (int32_t)replay->use->set : -1;
    violation->binding = replay->use ? (int32_t)replay->use->binding : -1;
    snprintf(violation->text, sizeof(violation->text), "%s", text);
}

void replay_violate(const struct replay *replay, enum fault_oracle_kind kind, const char *text)
{
    struct fault_violation violation;

    violation_init(&violation, replay, kind, text);
    oracle_report_add(&violation, replay->since);
}

void replay_violate_at(const struct replay *replay, enum fault_oracle_kind kind, const struct range_walk *at,
                       VkImageLayout expected, const char *text)
{
    struct fault_violation violation;

    violation_init(&violation, replay, kind, text);
    violation.image = (uintptr_t)at->image;
    violation.aspect = at->aspect;
    violation.mip = at->mip;
    violation.layer = at->layer;
    violation.expected = expected;
    violation.actual = at->at->layout;
    oracle_report_add(&violation, replay->since);
}

void replay_outside(const struct replay *replay)
{
    if (replay->instance.pass || replay->rendering)
        replay_violate(replay, FAULT_ORACLE_PLACE, "not allowed inside a render pass instance");
    else if (replay->suspended)
        replay_violate(replay, FAULT_ORACLE_PLACE, "not allowed between suspended and resumed rendering");
}

/* --- Replay --- */

static void replay_buffer(struct replay *replay, const struct command_buffer *buffer);

static bool replay_secondaries(struct replay *replay, const struct recorded_command *command)
{
    const struct arguments_vkCmdExecuteCommands *a = command->arguments;

    if (command->command != COMMAND_vkCmdExecuteCommands)
        return false;
    for (uint32_t i = 0; i < a->commandBufferCount; i++)
        replay_buffer(replay, command_buffer_from_handle(a->pCommandBuffers[i]));
    /* "the state of the primary command buffer ... is undefined after" */
    *replay->bound = (struct bound){0};
    return true;
}

/* Other synchronization commands, which have no images of their own. */
static bool replay_events(const struct replay *replay, const struct recorded_command *command)
{
    switch ((int)command->command) {
    case COMMAND_vkCmdSetEvent:
    case COMMAND_vkCmdSetEvent2:
    case COMMAND_vkCmdResetEvent:
    case COMMAND_vkCmdResetEvent2:
        replay_outside(replay);
        return true;
    default:
        return false;
    }
}

static void replay_buffer(struct replay *replay, const struct command_buffer *buffer)
{
    struct bound *const outer = replay->bound;
    struct bound bound = {0};

    replay->bound = &bound;
    for (uint32_t i = 0; i < buffer->count; i++) {
        const struct recorded_command *command = &buffer->commands[i];

        replay->command = command_descriptions[command->called].name;
        replay->since = oracle_report_position();
        /* Each says whether it was one of its own. */
        (void)(replay_barrier(replay, command) || replay_transfer(replay, command) ||
               replay_pass(replay, command) || replay_rendering(replay, command) ||
               replay_events(replay, command) || replay_secondaries(replay, command) ||
               replay_bind(replay, command) || replay_shader(replay, command));
    }
    replay->bound = outer;
}

void oracle_run(const struct queue *queue, struct command_buffer *const *buffers, uint32_t count)
{
    struct replay replay = {.device = queue->device, .family = queue->family};

    for (uint32_t i = 0; i < count; i++)
        replay_buffer(&replay, buffers[i]);
    if (replay.suspended)
        replay_violate(&replay, FAULT_ORACLE_PLACE, "suspended rendering isn't resumed in the same batch");
}

void oracle_present(const struct queue *queue, VkImage image)
{
    const VkImageSubresourceRange all = {image_aspects(OBJECT(image, image)), 0, VK_REMAINING_MIP_LEVELS, 0,
                                         VK_REMAINING_ARRAY_LAYERS};
    const struct replay replay = {
        .device = queue->device,
        .family = queue->family,
        .command = "vkQueuePresentKHR",
        .since = oracle_report_position(),
    };
    struct range_walk walk;

    range_walk_begin(&walk, image, &all);
    while (range_walk_next(&walk)) {
        use_owner(&replay, &walk);
        if (walk.at->layout != VK_IMAGE_LAYOUT_PRESENT_SRC_KHR &&
            walk.at->layout != VK_IMAGE_LAYOUT_SHARED_PRESENT_KHR && walk.at->layout != LAYOUT_UNKNOWN)
            replay_violate_at(&replay, FAULT_ORACLE_PRESENT_LAYOUT, &walk, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                              "presented in a layout that can't be");
    }
    use_read(&replay, image, &all);
}

/* --- What tests ask --- */

/* The subresource as it is now; false if there is none. */
static bool look_up(VkImage handle, VkImageAspectFlagBits aspect, uint32_t mip, uint32_t layer,
                    struct subresource *out)
{
    const VkImageSubresourceRange range = {aspect, mip, 1, layer, 1};
    struct image *image = OBJECT(image, handle);
    struct range_walk walk;
    bool found;

    pthread_mutex_lock(&image->device->lock);
    range_walk_begin(&walk, handle, &range);
    found = range_walk_next(&walk);
    if (found)
        *out = *walk.at;
    pthread_mutex_unlock(&image->device->lock);
    return found;
}

VkImageLayout fault_oracle_layout(VkImage image, VkImageAspectFlagBits aspect, uint32_t mip, uint32_t layer)
{
    struct subresource subresource;

    return look_up(image, aspect, mip, layer, &subresource) ? subresource.layout : LAYOUT_UNKNOWN;
}

bool fault_oracle_defined(VkImage image, VkImageAspectFlagBits aspect, uint32_t mip, uint32_t layer)
{
    struct subresource subresource;

    return look_up(image, aspect, mip, layer, &subresource) && subresource.defined;
}

uint64_t fault_oracle_history(VkImage handle)
{
    struct image *image = OBJECT(image, handle);
    const VkImageSubresourceRange all = {image_aspects(image), 0, VK_REMAINING_MIP_LEVELS, 0,
                                         VK_REMAINING_ARRAY_LAYERS};
    struct range_walk walk;
    uint64_t history = 0;

    pthread_mutex_lock(&image->device->lock);
    range_walk_begin(&walk, handle, &all);
    while (range_walk_next(&walk))
        history = history_mix(history, walk.at->history);
    pthread_mutex_unlock(&image->device->lock);
    return history;
}
