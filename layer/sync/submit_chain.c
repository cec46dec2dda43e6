#include "sync/submit_chain.h"

#include "compat.h"

static bool structure_patchable(const VkBaseInStructure *structure)
{
    switch ((int)structure->sType) {
    case VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO:
    case VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR:
    case COMPAT_STRUCTURE_TYPE_WIN32_KEYED_MUTEX_ACQUIRE_RELEASE_INFO_NV:
    case COMPAT_STRUCTURE_TYPE_WIN32_KEYED_MUTEX_ACQUIRE_RELEASE_INFO_KHR:
    case COMPAT_STRUCTURE_TYPE_D3D12_FENCE_SUBMIT_INFO:
    case COMPAT_STRUCTURE_TYPE_FRAME_BOUNDARY:
    case COMPAT_STRUCTURE_TYPE_LATENCY_SUBMISSION_PRESENT_ID:
        return true;
    case VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO:
        return !((const VkProtectedSubmitInfo *)structure)->protectedSubmit;
    default:
        return false;
    }
}

bool submit_chain_patchable(const void *chain)
{
    for (const VkBaseInStructure *structure = chain; structure; structure = structure->pNext)
        if (!structure_patchable(structure))
            return false;
    return true;
}
