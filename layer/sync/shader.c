/* Shader modules and pipelines. */
#include "sync/shader.h"

#include <stdlib.h>

#include "chain.h"
#include "hooks.h"
#include "sync/shader_collect.h"

/* --- Modules --- */

static void module_release(struct shader_module *module)
{
    if (!module || !object_release(&module->object))
        return;
    free(module->spirv);
    free(module);
}

VkResult hook_CreateShaderModule(struct device *self, PFN_vkCreateShaderModule next, VkDevice device,
                                 const VkShaderModuleCreateInfo *pCreateInfo,
                                 const VkAllocationCallbacks *pAllocator, VkShaderModule *pShaderModule)
{
    struct device_sync *sync = self->sync;
    VkResult result = next(device, pCreateInfo, pAllocator, pShaderModule);
    if (result != VK_SUCCESS)
        return result;
    struct shader_module *module = malloc(sizeof(*module));
    if (!module)
        return result;
    object_init(&module->object);
    module->spirv = spirv_scan(pCreateInfo->pCode, pCreateInfo->codeSize);
    if (!module->spirv ||
        object_insert(&sync->modules, HANDLE_KEY(*pShaderModule), &module->object) != OBJECT_INSERTED)
        module_release(module);
    return result;
}

void hook_DestroyShaderModule(struct device *self, PFN_vkDestroyShaderModule next, VkDevice device,
                              VkShaderModule shaderModule, const VkAllocationCallbacks *pAllocator)
{
    module_release((struct shader_module *)object_remove(&self->sync->modules, HANDLE_KEY(shaderModule)));
    next(device, shaderModule, pAllocator);
}

/* --- Stages --- */

static void collect_stage(struct device_sync *sync, struct shader_collection *collection,
                          const VkPipelineShaderStageCreateInfo *stage, const struct pipeline_layout *layout)
{
    const struct shader_module *module = handle_map_find(&sync->modules, HANDLE_KEY(stage->module));
    const VkShaderModuleCreateInfo *code =
        stage->module ? NULL : chain_find(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    /* Given inline (VK_EXT_graphics_pipeline_library, VK_KHR_maintenance5). Of an identifier nothing is
     * known.
     */
    struct spirv_module *own = code ? spirv_scan(code->pCode, code->codeSize) : NULL;
    shader_collect_entry(collection, module ? module->spirv : own, stage->pName, stage->stage,
                         layout ? layout->sets : NULL, layout ? layout->set_count : 0);
    free(own);
}

static void collect_libraries(struct device_sync *sync, struct shader_collection *collection,
                              const VkPipelineLibraryCreateInfoKHR *libraries)
{
    for (uint32_t i = 0; libraries && i < libraries->libraryCount; i++)
        shader_collect_uses(collection, shader_uses_of_pipeline(sync, libraries->pLibraries[i]));
}

/* --- Pipelines --- */

void shader_uses_release(struct shader_uses *uses)
{
    if (uses && object_release(&uses->object))
        free(uses);
}

static void keep(struct device_sync *sync, VkPipeline pipeline, struct shader_collection *collection)
{
    struct shader_uses *uses = shader_collection_finish(collection);
    if (uses && object_insert(&sync->pipelines, HANDLE_KEY(pipeline), &uses->object) != OBJECT_INSERTED)
        shader_uses_release(uses);
}

/* Spec, VkGraphicsPipelineCreateInfo: a library has the stages of its part only, and pStages is ignored where
 * it has none. */
static VkShaderStageFlags stages_of(const VkGraphicsPipelineCreateInfo *info)
{
    const VkGraphicsPipelineLibraryCreateInfoEXT *library =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
    VkShaderStageFlags stages = 0;
    if (!library)
        return ~(VkShaderStageFlags)0;
    if (library->flags & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT)
        stages |= ~(VkShaderStageFlags)VK_SHADER_STAGE_FRAGMENT_BIT;
    if (library->flags & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT)
        stages |= VK_SHADER_STAGE_FRAGMENT_BIT;
    return stages;
}

/* A pipeline that is linked from libraries alone has no stages of its own, whatever stageCount says. */
static bool is_linked(const VkGraphicsPipelineCreateInfo *info)
{
    const VkPipelineLibraryCreateInfoKHR *libraries =
        chain_find(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    return libraries && libraries->libraryCount &&
           !chain_find(info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
}

void shader_learn_graphics(struct device_sync *sync, uint32_t count,
                           const VkGraphicsPipelineCreateInfo *infos, const VkPipeline *pipelines)
{
    for (uint32_t i = 0; i < count; i++) {
        const VkGraphicsPipelineCreateInfo *info = &infos[i];
        struct shader_collection collection = {0};
        if (!pipelines[i])
            continue;
        const struct pipeline_layout *layout = pipeline_layout_find(sync, info->layout);
        VkShaderStageFlags stages = is_linked(info) ? 0 : stages_of(info);
        for (uint32_t j = 0; stages && j < info->stageCount; j++)
            if (info->pStages[j].stage & stages)
                collect_stage(sync, &collection, &info->pStages[j], layout);
        collect_libraries(sync, &collection,
                          chain_find(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR));
        keep(sync, pipelines[i], &collection);
    }
}

void shader_learn_compute(struct device_sync *sync, uint32_t count, const VkComputePipelineCreateInfo *infos,
                          const VkPipeline *pipelines)
{
    for (uint32_t i = 0; i < count; i++) {
        struct shader_collection collection = {0};
        if (!pipelines[i])
            continue;
        collect_stage(sync, &collection, &infos[i].stage, pipeline_layout_find(sync, infos[i].layout));
        keep(sync, pipelines[i], &collection);
    }
}

static void learn_ray_tracing(struct device_sync *sync, uint32_t stage_count,
                              const VkPipelineShaderStageCreateInfo *stages, VkPipelineLayout layout,
                              const VkPipelineLibraryCreateInfoKHR *libraries, VkPipeline pipeline)
{
    struct shader_collection collection = {0};
    if (!pipeline)
        return;
    for (uint32_t i = 0; i < stage_count; i++)
        collect_stage(sync, &collection, &stages[i], pipeline_layout_find(sync, layout));
    collect_libraries(sync, &collection, libraries);
    keep(sync, pipeline, &collection);
}

void shader_learn_ray_tracing(struct device_sync *sync, uint32_t count,
                              const VkRayTracingPipelineCreateInfoKHR *infos, const VkPipeline *pipelines)
{
    for (uint32_t i = 0; i < count; i++)
        learn_ray_tracing(sync, infos[i].stageCount, infos[i].pStages, infos[i].layout, infos[i].pLibraryInfo,
                          pipelines[i]);
}

void shader_learn_ray_tracing_nv(struct device_sync *sync, uint32_t count,
                                 const VkRayTracingPipelineCreateInfoNV *infos, const VkPipeline *pipelines)
{
    for (uint32_t i = 0; i < count; i++)
        learn_ray_tracing(sync, infos[i].stageCount, infos[i].pStages, infos[i].layout, NULL, pipelines[i]);
}

void hook_DestroyPipeline(struct device *self, PFN_vkDestroyPipeline next, VkDevice device,
                          VkPipeline pipeline, const VkAllocationCallbacks *pAllocator)
{
    shader_uses_release((struct shader_uses *)object_remove(&self->sync->pipelines, HANDLE_KEY(pipeline)));
    next(device, pipeline, pAllocator);
}

/* --- Shader objects --- */

#ifdef VK_EXT_shader_object
static void learn_object(struct device_sync *sync, const VkShaderCreateInfoEXT *info, VkShaderEXT shader)
{
    struct shader_collection collection = {0};
    struct descriptor_layout *sets[DESCRIPTOR_SETS] = {NULL};
    uint32_t count = info->setLayoutCount < DESCRIPTOR_SETS ? info->setLayoutCount : DESCRIPTOR_SETS;
    for (uint32_t i = 0; i < count; i++)
        sets[i] = descriptor_layout_find(sync, info->pSetLayouts[i]);
    struct spirv_module *module =
        info->codeType == VK_SHADER_CODE_TYPE_SPIRV_EXT ? spirv_scan(info->pCode, info->codeSize) : NULL;
    shader_collect_entry(&collection, module, info->pName, info->stage, sets, count);
    free(module);
    struct shader_uses *uses = shader_collection_finish(&collection);
    if (uses && object_insert(&sync->shaders, HANDLE_KEY(shader), &uses->object) != OBJECT_INSERTED)
        shader_uses_release(uses);
}

VkResult hook_CreateShadersEXT(struct device *self, PFN_vkCreateShadersEXT next, VkDevice device,
                               uint32_t createInfoCount, const VkShaderCreateInfoEXT *pCreateInfos,
                               const VkAllocationCallbacks *pAllocator, VkShaderEXT *pShaders)
{
    VkResult result = next(device, createInfoCount, pCreateInfos, pAllocator, pShaders);
    for (uint32_t i = 0; result >= 0 && i < createInfoCount; i++)
        if (pShaders[i])
            learn_object(self->sync, &pCreateInfos[i], pShaders[i]);
    return result;
}

void hook_DestroyShaderEXT(struct device *self, PFN_vkDestroyShaderEXT next, VkDevice device,
                           VkShaderEXT shader, const VkAllocationCallbacks *pAllocator)
{
    shader_uses_release((struct shader_uses *)object_remove(&self->sync->shaders, HANDLE_KEY(shader)));
    next(device, shader, pAllocator);
}
#endif

static void drop_uses(void *context, void *value)
{
    (void)context;
    shader_uses_release(value);
}

static void drop_module(void *context, void *value)
{
    (void)context;
    module_release(value);
}

void shaders_destroy(struct device_sync *sync)
{
    handle_map_visit(&sync->pipelines, drop_uses, NULL);
    handle_map_visit(&sync->shaders, drop_uses, NULL);
    handle_map_visit(&sync->modules, drop_module, NULL);
}
