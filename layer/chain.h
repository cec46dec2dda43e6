/* Reading pNext chains. Nothing here writes to them. */
#ifndef RC_CHAIN_H
#define RC_CHAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* The first structure of that type in a chain, or NULL. */
static inline const void *chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext)
        if (s->sType == type)
            return s;
    return NULL;
}

/* Whether a chain consists of structures of these types alone. */
static inline bool chain_is_of(const void *chain, const VkStructureType *types, uint32_t count)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        uint32_t i = 0;
        while (i < count && types[i] != s->sType)
            i++;
        if (i == count)
            return false;
    }
    return true;
}

#endif
