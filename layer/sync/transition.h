/* Transitions of the aspects of depth/stencil images, where a barrier must name both (without
 * separateDepthStencilLayouts; VUID-VkImageMemoryBarrier-image-03320). Pure. */
#ifndef RC_SYNC_TRANSITION_H
#define RC_SYNC_TRANSITION_H

#include "sync/contract.h"

#define BOTH_ASPECTS 3u

/* Whether the ranges are the two aspects of the same mips and layers. */
bool transition_is_partner(const struct subresource_range *a, const struct subresource_range *b);

/* How many mips of layers a transition is of, and the transition of one of them alone. */
uint32_t transition_part_count(const struct transition *whole);
struct transition transition_part(const struct transition *whole, uint32_t index);

/* `a` becomes a transition of both aspects that does what `a` and `b` do for one each. False if no layouts
 * say that: `a` is as it was. */
bool transition_unite(struct transition *a, const struct transition *b);

#endif
