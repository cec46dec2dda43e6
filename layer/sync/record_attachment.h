/* What render passes and dynamic rendering share. */
#ifndef RC_SYNC_RECORD_ATTACHMENT_H
#define RC_SYNC_RECORD_ATTACHMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The layers of an attachment's view that an instance uses: with multiview those in the mask, else the first
 * `layers`. */
struct layer_use {
    uint32_t view_mask;
    uint32_t layers; /* without multiview */
};

/* A stretch of layers of a view that are all used, or all not. */
struct layer_stretch {
    uint32_t first, count;
    bool used;
};

/* The stretch that begins behind `*stretch`; {0} before the first. False at the end of the view's `count`
 * layers. */
static inline bool layer_stretch_next(struct layer_stretch *stretch, const struct layer_use *use,
                                      uint32_t count)
{
    uint32_t layer = stretch->first + stretch->count;
    stretch->first = layer;
    for (; layer < count; layer++) {
        bool used = use->view_mask ? layer < 32 && (use->view_mask >> layer & 1) : layer < use->layers;
        if (layer > stretch->first && used != stretch->used)
            break;
        stretch->used = used;
    }
    stretch->count = layer - stretch->first;
    return stretch->count > 0;
}

#endif
