/* Shader modules and shader objects, and what of them the oracle needs to know. */
#include <stdlib.h>
#include <string.h>

#include "pipelines.h"

struct shader_module {
    struct hashed_object hashed;
    size_t size;
    uint32_t *code; /* owned; NULL if the oracle is off */
};

static void shader_module_finish(struct object *object)
{
    free(((struct shader_module *)object)->code);
}

static bool take_code(struct shader_module *module, const VkShaderModuleCreateInfo *info)
{
    module->code = malloc(info->codeSize ? info->codeSize : 1);
    if (!module->code)
        return false;
    memcpy(module->code, info->pCode, info->codeSize);
    module->size = info->codeSize;
    return true;
}

VkResult driver_vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                                     const VkAllocationCallbacks *allocator, VkShaderModule *out)
{
    struct shader_module *module =
        object_create(object_list_of(device), VK_OBJECT_TYPE_SHADER_MODULE, sizeof(*module));

    if (!module)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    module->hashed.base.finish = shader_module_finish;
    module->hashed.hash = hash_add(HASH_START, info->pCode, info->codeSize);
    if (OBJECT(device, device)->oracle.on && !take_code(module, info)) {
        object_destroy(&module->hashed.base, VK_OBJECT_TYPE_SHADER_MODULE);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = HANDLE(VkShaderModule, module);
    return VK_SUCCESS;
}

/* --- Pipelines --- */

static void scan_stage(struct shader_uses *uses, const VkPipelineShaderStageCreateInfo *stage)
{
    const struct shader_module *module = OBJECT(shader_module, stage->module);
    const VkShaderModuleCreateInfo *code =
        chain_find(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);

    if (module)
        shader_uses_scan(uses, module->code, module->size, stage->pName, stage->stage);
    else if (code)
        shader_uses_scan(uses, code->pCode, code->codeSize, stage->pName, stage->stage);
    else
        uses->incomplete = true; /* an identifier or a binary */
}

static const VkPipelineLibraryCreateInfoKHR *libraries_of(enum pipeline_kind kind, const void *info)
{
    if (kind == PIPELINE_RAY_TRACING_KHR)
        return ((const VkRayTracingPipelineCreateInfoKHR *)info)->pLibraryInfo;
    return chain_find(info, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
}

void pipeline_uses_scan(struct shader_uses *uses, enum pipeline_kind kind, const void *info)
{
    const VkPipelineLibraryCreateInfoKHR *libraries = libraries_of(kind, info);
    const VkPipelineShaderStageCreateInfo *stages;
    uint32_t count;

    pipeline_stages(kind, info, &count, &stages);
    for (uint32_t i = 0; i < count; i++)
        scan_stage(uses, &stages[i]);
    for (uint32_t i = 0; libraries && i < libraries->libraryCount; i++)
        shader_uses_join(uses, &OBJECT(pipeline, libraries->pLibraries[i])->uses);
}

/* --- Shader objects --- */

#if defined(VK_EXT_shader_object)
static void shader_finish(struct object *object)
{
    shader_uses_finish(&((struct shader *)object)->uses);
}

static VkResult shader_create(struct device *device, const VkShaderCreateInfoEXT *info, VkShaderEXT *out)
{
    struct shader *shader = object_create(&device->objects, VK_OBJECT_TYPE_SHADER_EXT, sizeof(*shader));

    if (!shader)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    shader->base.finish = shader_finish;
    shader->stage = info->stage;
    if (device->oracle.on && info->codeType == VK_SHADER_CODE_TYPE_SPIRV_EXT)
        shader_uses_scan(&shader->uses, info->pCode, info->codeSize, info->pName, info->stage);
    else
        shader->uses.incomplete = true;
    *out = HANDLE(VkShaderEXT, shader);
    return VK_SUCCESS;
}

VkResult driver_vkCreateShadersEXT(VkDevice device, uint32_t count, const VkShaderCreateInfoEXT *infos,
                                   const VkAllocationCallbacks *allocator, VkShaderEXT *out)
{
    VkResult result = VK_SUCCESS;

    for (uint32_t i = 0; i < count; i++) {
        out[i] = VK_NULL_HANDLE;
        if (result == VK_SUCCESS)
            result = shader_create(OBJECT(device, device), &infos[i], &out[i]);
    }
    return result;
}
#endif
