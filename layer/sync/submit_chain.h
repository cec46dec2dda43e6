/* What stands in the chains of batches. Pure. */
#ifndef RC_SYNC_SUBMIT_CHAIN_H
#define RC_SYNC_SUBMIT_CHAIN_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

/* Whether a command buffer may be put into the batch: nothing in the chain is counted by command buffers, or
 * says that the batch is protected, or is unknown to this build. */
bool submit_chain_patchable(const void *chain);

#endif
