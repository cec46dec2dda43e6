/* What it costs to hold a command back and replay it, against calling it: medians, nanoseconds per command.
 */
#include <stdio.h>

#include "bench.h"
#include "body_commands.h"

#define ROUNDS 301
#define COMMANDS 1000

static VKAPI_ATTR void VKAPI_CALL nothing_draw(VkCommandBuffer handle, uint32_t vertices, uint32_t instances,
                                               uint32_t vertex, uint32_t instance)
{
    (void)handle, (void)vertices, (void)instances, (void)vertex, (void)instance;
}

static VKAPI_ATTR void VKAPI_CALL nothing_sets(VkCommandBuffer handle, VkPipelineBindPoint point,
                                               VkPipelineLayout layout, uint32_t first, uint32_t count,
                                               const VkDescriptorSet *sets, uint32_t offset_count,
                                               const uint32_t *offsets)
{
    (void)handle, (void)point, (void)layout, (void)first, (void)count, (void)offset_count;
    bench_keep(sets);
    bench_keep(offsets);
}

static VKAPI_ATTR void VKAPI_CALL nothing_push(VkCommandBuffer handle, VkPipelineLayout layout,
                                               VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                                               const void *values)
{
    (void)handle, (void)layout, (void)stages, (void)offset, (void)size;
    bench_keep(values);
}

static VKAPI_ATTR void VKAPI_CALL nothing_viewport(VkCommandBuffer handle, uint32_t first, uint32_t count,
                                                   const VkViewport *viewports)
{
    (void)handle, (void)first, (void)count;
    bench_keep(viewports);
}

/* Read at each call, as a layer reads its next one's. */
static PFN_vkCmdDraw volatile draw = nothing_draw;
static PFN_vkCmdBindDescriptorSets volatile bind_sets = nothing_sets;
static PFN_vkCmdPushConstants volatile push = nothing_push;
static PFN_vkCmdSetViewport volatile set_viewport = nothing_viewport;

static const VkDescriptorSet sets[2];
static const uint32_t offsets[2] = {0, 256};
static const uint32_t values[16];
static const VkViewport viewport = {.width = 1920, .height = 1080, .maxDepth = 1};

static bool one_draw(struct body *body)
{
    if (body)
        return body_put_CmdDraw(body, draw, 3, 1, 0, 0);
    draw(NULL, 3, 1, 0, 0);
    return true;
}

static bool one_bind(struct body *body)
{
    if (body)
        return body_put_CmdBindDescriptorSets(body, bind_sets, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                              VK_NULL_HANDLE, 0, 2, sets, 2, offsets);
    bind_sets(NULL, VK_PIPELINE_BIND_POINT_GRAPHICS, VK_NULL_HANDLE, 0, 2, sets, 2, offsets);
    return true;
}

static bool one_push(struct body *body)
{
    if (body)
        return body_put_CmdPushConstants(body, push, VK_NULL_HANDLE, VK_SHADER_STAGE_ALL, 0, sizeof(values),
                                         values);
    push(NULL, VK_NULL_HANDLE, VK_SHADER_STAGE_ALL, 0, sizeof(values), values);
    return true;
}

static bool one_viewport(struct body *body)
{
    if (body)
        return body_put_CmdSetViewport(body, set_viewport, 0, 1, &viewport);
    set_viewport(NULL, 0, 1, &viewport);
    return true;
}

static const struct command {
    const char *name;
    bool (*one)(struct body *body); /* NULL: calls down at once */
} commands[] = {
    {"draw", one_draw},
    {"bind_descriptor_sets", one_bind},
    {"push_constants", one_push},
    {"set_viewport", one_viewport},
};
#define KINDS (sizeof(commands) / sizeof(commands[0]))

static bool measure(const struct command *command, struct body *body, double *direct, double *held)
{
    bool valid = true;
    double start = bench_now_ns();
    for (unsigned i = 0; i < COMMANDS; i++)
        command->one(NULL);
    *direct = (bench_now_ns() - start) / COMMANDS;
    start = bench_now_ns();
    for (unsigned i = 0; i < COMMANDS; i++)
        valid = command->one(body) && valid;
    body_replay(body, NULL);
    *held = (bench_now_ns() - start) / COMMANDS;
    return valid;
}

int main(void)
{
    static double direct[ROUNDS], held[ROUNDS];
    struct body body = {0};
    bool valid = true;
    printf("[\n");
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (unsigned i = 0; i < ROUNDS; i++)
            valid = measure(&commands[kind], &body, &direct[i], &held[i]) && valid;
        double call = bench_quantile(direct, ROUNDS, 0.5), both = bench_quantile(held, ROUNDS, 0.5);
        printf("{\"command\":\"%s\",\"call_ns\":%.1f,\"held_ns\":%.1f,\"over_ns\":%.1f}%s\n",
               commands[kind].name, call, both, both - call, kind + 1 == KINDS ? "" : ",");
    }
    printf("]\n");
    body_finish(&body);
    return valid ? 0 : 1;
}
