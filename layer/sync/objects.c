#include "sync/descriptor.h"
#include "sync/image.h"
#include "sync/image_memory.h"
#include "sync/pass.h"
#include "sync/shader.h"

static void drop_framebuffer(void *context, void *value)
{
    (void)context;
    framebuffer_release(value);
}

static void drop_render_pass(void *context, void *value)
{
    (void)context;
    render_pass_release(value);
}

static void drop_view(void *context, void *value)
{
    (void)context;
    image_view_release(value);
}

static void drop_image(void *context, void *value)
{
    (void)context;
    image_abandon(value);
}

static void take_swapchain(void *context, void *value)
{
    *(struct swapchain **)context = value;
}

static void drop_memory(void *context, void *value)
{
    (void)context;
    memory_destroy(value);
}

/* Some swapchain that is still known, or NULL. */
static struct swapchain *any_swapchain(struct device_sync *sync)
{
    struct swapchain *swapchain = NULL;
    handle_map_visit(&sync->swapchains, take_swapchain, &swapchain);
    return swapchain;
}

void objects_destroy(struct device_sync *sync)
{
    /* One at a time: semaphores are destroyed below, and visiting holds the map's lock. */
    for (struct swapchain *swapchain; (swapchain = any_swapchain(sync));)
        swapchain_finish(swapchain_forget(sync, swapchain->handle));
    shaders_destroy(sync);
    descriptors_destroy(sync);
    handle_map_visit(&sync->framebuffers, drop_framebuffer, NULL);
    handle_map_visit(&sync->render_passes, drop_render_pass, NULL);
    handle_map_visit(&sync->views, drop_view, NULL);
    handle_map_visit(&sync->images, drop_image, NULL);
    handle_map_visit(&sync->memories, drop_memory, NULL);
}
