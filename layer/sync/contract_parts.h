/* What the contract's files share. */
#ifndef RC_SYNC_CONTRACT_PARTS_H
#define RC_SYNC_CONTRACT_PARTS_H

#include "sync/contract.h"
#include "sync/layout.h"

/* Whether what is in layout `a` may be used as if in `b`, for every aspect of the range. */
bool contract_layouts_match(const struct contract_image *image, const struct subresource_range *range,
                            VkImageLayout a, VkImageLayout b);

/* Whether something can be used in this layout, or brought there. */
static inline bool contract_layout_is_usable(VkImageLayout layout)
{
    return layout_is_known(layout) && !layout_is_initial(layout);
}

/* From here on nothing is known: of one subresource; of all, for want of memory. */
void contract_forget_state(struct contract_state *state);
void contract_forget_all(struct contract_image *image);

/* The contents are given up, and with them whatever was unknown and whoever owned them. */
void contract_discard(struct contract_state *state, VkImageLayout layout);

/* Whether a repair can make what is needed, if it isn't so: nothing becomes PREINITIALIZED again, and the
 * layouts of an acquire must be those of the release. */
bool contract_is_repairable(const struct need *need);

/* From here on it is as after a transition that a repair makes: all that was known before is ordered. */
void contract_repair(struct contract_state *state, const struct transition *transition);

/* The transition that a need asks for. */
struct transition contract_transition_for(const struct subresource_range *range, const struct access *access,
                                          const struct need *need);

#endif
