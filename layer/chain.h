/* Reading pNext chains. Nothing here writes to them. */
#ifndef RC_CHAIN_H
#define RC_CHAIN_H

#include <vulkan/vulkan.h>

/* The first structure of that type in a chain, or NULL. */
static inline const void *chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext)
        if (s->sType == type)
            return s;
    return NULL;
}

#endif
