#include <string.h>

#include "driver.h"

void structure_clear(void *structure, size_t size)
{
    memset((char *)structure + sizeof(VkBaseOutStructure), 0, size - sizeof(VkBaseOutStructure));
}

void chain_clear(void *chain)
{
    for (VkBaseOutStructure *link = chain; link; link = link->pNext) {
        size_t size = structure_size(link->sType);

        if (size > sizeof(VkBaseOutStructure))
            structure_clear(link, size);
    }
}

const void *chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *link = chain; link; link = link->pNext) {
        if (link->sType == type)
            return link;
    }
    return NULL;
}

VkResult enumerate_count(uint32_t *count, bool fetch, uint32_t available)
{
    VkResult result = VK_SUCCESS;

    if (fetch && *count < available)
        result = VK_INCOMPLETE;
    else
        *count = available;
    return result;
}
