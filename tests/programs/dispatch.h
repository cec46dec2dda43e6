/* Runs compute pipelines and says what they computed. */
#ifndef PROGRAMS_DISPATCH_H
#define PROGRAMS_DISPATCH_H

#include "pipes.h"

/* Dispatches each pipeline once over a small buffer of known content, one after the other, and gives one
 * hash over what all of them wrote. The driver has to execute for real. */
VkResult dispatch_hash(const struct pipes *pipes, const VkPipeline *pipelines, uint32_t count,
                       uint64_t *hash);

#endif
