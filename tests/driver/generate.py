#!/usr/bin/env python3
"""Makes from the Khronos registry what the fault-injecting driver needs of every command and structure.

usage: generate.py vk.xml output-folder

  driver_commands.h    an identifier per command name, and the prototype of each implementation (driver_vk...)
  driver_entries.c     what proc-address queries hand out: per name a wrapper that consults the fault rules and the
                       journal and calls the implementation; a weak default of each implementation, which one
                       written by hand replaces; the tables of commands and extensions
  driver_structures.c  how features and properties are filled in by default, and the sizes of structures
  driver_records.[ch]  deep copies of what is recorded into command buffers
  driver_formats.c     the size of a texel block and the aspects of every format
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# Exposed unless the configuration hides them; every other one the registry knows is hidden unless asked for.
EXPOSED = """
VK_KHR_surface VK_EXT_headless_surface VK_KHR_get_physical_device_properties2 VK_KHR_device_group_creation
VK_KHR_external_memory_capabilities VK_KHR_external_semaphore_capabilities VK_KHR_external_fence_capabilities
VK_KHR_get_surface_capabilities2 VK_EXT_debug_utils VK_EXT_debug_report VK_EXT_swapchain_colorspace
VK_EXT_surface_maintenance1

VK_KHR_swapchain VK_KHR_swapchain_mutable_format VK_KHR_incremental_present VK_EXT_swapchain_maintenance1
VK_KHR_maintenance1 VK_KHR_maintenance2 VK_KHR_maintenance3 VK_KHR_maintenance4 VK_KHR_maintenance5
VK_KHR_maintenance6 VK_KHR_maintenance7 VK_KHR_maintenance8 VK_KHR_synchronization2 VK_KHR_dynamic_rendering
VK_KHR_dynamic_rendering_local_read VK_KHR_timeline_semaphore VK_KHR_copy_commands2 VK_KHR_create_renderpass2
VK_KHR_descriptor_update_template VK_KHR_push_descriptor VK_KHR_imageless_framebuffer
VK_KHR_separate_depth_stencil_layouts VK_KHR_bind_memory2 VK_KHR_get_memory_requirements2
VK_KHR_dedicated_allocation VK_KHR_buffer_device_address VK_KHR_multiview VK_KHR_device_group
VK_KHR_driver_properties VK_KHR_image_format_list VK_KHR_depth_stencil_resolve VK_KHR_deferred_host_operations
VK_KHR_acceleration_structure VK_KHR_ray_tracing_pipeline VK_KHR_ray_query VK_KHR_spirv_1_4
VK_KHR_shader_float_controls VK_KHR_pipeline_library VK_KHR_pipeline_binary VK_KHR_storage_buffer_storage_class
VK_KHR_variable_pointers VK_KHR_16bit_storage VK_KHR_8bit_storage VK_KHR_shader_draw_parameters
VK_KHR_relaxed_block_layout VK_KHR_external_memory VK_KHR_external_semaphore VK_KHR_external_fence
VK_KHR_sampler_mirror_clamp_to_edge VK_KHR_draw_indirect_count VK_KHR_uniform_buffer_standard_layout
VK_KHR_vulkan_memory_model VK_KHR_format_feature_flags2 VK_KHR_zero_initialize_workgroup_memory
VK_KHR_shader_non_semantic_info VK_KHR_map_memory2 VK_KHR_load_store_op_none

VK_EXT_pipeline_creation_feedback VK_EXT_pipeline_creation_cache_control VK_EXT_descriptor_indexing
VK_EXT_graphics_pipeline_library VK_EXT_extended_dynamic_state VK_EXT_extended_dynamic_state2
VK_EXT_extended_dynamic_state3 VK_EXT_vertex_input_dynamic_state VK_EXT_host_image_copy VK_EXT_mesh_shader
VK_EXT_conditional_rendering VK_EXT_transform_feedback VK_EXT_multi_draw VK_EXT_inline_uniform_block
VK_EXT_private_data VK_EXT_host_query_reset VK_EXT_attachment_feedback_loop_layout VK_EXT_shader_object
VK_EXT_descriptor_buffer VK_EXT_mutable_descriptor_type VK_EXT_scalar_block_layout VK_EXT_robustness2
VK_EXT_memory_budget VK_EXT_sampler_filter_minmax VK_EXT_separate_stencil_usage VK_EXT_load_store_op_none
VK_EXT_index_type_uint8 VK_EXT_line_rasterization VK_EXT_custom_border_color VK_EXT_4444_formats
VK_EXT_image_robustness VK_EXT_subgroup_size_control VK_EXT_shader_demote_to_helper_invocation
VK_EXT_texel_buffer_alignment VK_EXT_tooling_info VK_EXT_non_seamless_cube_map VK_EXT_image_2d_view_of_3d
VK_EXT_primitive_topology_list_restart VK_EXT_provoking_vertex VK_EXT_vertex_attribute_divisor
VK_EXT_sample_locations VK_EXT_queue_family_foreign VK_EXT_nested_command_buffer VK_EXT_depth_clip_enable
VK_NV_ray_tracing
""".split()

# Features that the driver doesn't have (its sparse images can't be partly resident) or has only when configured.
FEATURES_OFF = set("""
sparseResidencyBuffer sparseResidencyImage2D sparseResidencyImage3D sparseResidency2Samples
sparseResidency4Samples sparseResidency8Samples sparseResidency16Samples sparseResidencyAliased
sparseImageInt64Atomics sparseImageFloat32Atomics sparseImageFloat32AtomicAdd sparseImageFloat32AtomicMinMax
protectedMemory pipelineProtectedAccess legacyVertexAttributes
""".split())

# Limits where the default of their kind would be implausible.
LIMITS = {
    "maxImageDimension1D": 16384, "maxImageDimension2D": 16384, "maxImageDimension3D": 2048,
    "maxImageDimensionCube": 16384, "maxImageArrayLayers": 2048, "maxFramebufferWidth": 16384,
    "maxFramebufferHeight": 16384, "maxFramebufferLayers": 2048, "maxBoundDescriptorSets": 32,
    "maxViewports": 16, "maxColorAttachments": 8, "maxFragmentOutputAttachments": 8, "maxPushConstantsSize": 256,
    "maxVertexInputAttributes": 32, "maxVertexInputBindings": 32, "maxVertexInputBindingStride": 2048,
    "maxVertexInputAttributeOffset": 2047, "maxVertexOutputComponents": 128, "maxFragmentInputComponents": 128,
    "maxComputeWorkGroupCount": 65535, "maxComputeWorkGroupSize": 1024, "maxComputeWorkGroupInvocations": 1024,
    "maxStorageBufferRange": 1 << 30, "maxTexelBufferElements": 1 << 27,
    "maxMemoryAllocationCount": 4096, "maxSamplerAllocationCount": 4000, "maxSamplerAnisotropy": 16,
    "maxClipDistances": 8, "maxCullDistances": 8, "maxCombinedClipAndCullDistances": 8, "maxTexelOffset": 7,
    "maxTexelGatherOffset": 31, "minTexelOffset": -8, "minTexelGatherOffset": -32, "minInterpolationOffset": -0.5,
    "maxInterpolationOffset": 0.4375, "maxSampleMaskWords": 1, "minMemoryMapAlignment": 4096,
    "maxMultiviewViewCount": 32, "maxMultiviewInstanceIndex": (1 << 27) - 1, "maxPushDescriptors": 32,
    "maxPerSetDescriptors": 1024, "subgroupSize": 32, "minSubgroupSize": 32, "maxSubgroupSize": 32,
    "shaderGroupHandleSize": 32, "shaderGroupHandleAlignment": 32, "shaderGroupBaseAlignment": 64,
    "shaderGroupHandleCaptureReplaySize": 32, "maxRayRecursionDepth": 31, "maxRecursionDepth": 31,
    "maxUpdateAfterBindDescriptorsInAllPools": 1 << 22, "discreteQueuePriorities": 2, "timestampPeriod": 1,
    "subPixelPrecisionBits": 8, "subTexelPrecisionBits": 8, "mipmapPrecisionBits": 8, "viewportSubPixelBits": 8,
    "subPixelInterpolationOffsetBits": 4, "pointSizeGranularity": 0.125, "lineWidthGranularity": 0.125,
    "maxBufferSize": 1 << 40, "lineSubPixelPrecisionBits": 4, "maxGraphicsShaderGroupCount": 64,
    "maxTimelineSemaphoreValueDifference": (1 << 63) - 1, "maxViewportDimensions": 16384,
}

SAMPLES = "VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT"
BITMASKS = {
    "VkSampleCountFlags": SAMPLES,
    "VkShaderStageFlags": "VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_COMPUTE_BIT",
    "VkSubgroupFeatureFlags": "VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT",
    "VkResolveModeFlags": "VK_RESOLVE_MODE_SAMPLE_ZERO_BIT",
}


def is_vulkan(element, attribute="api"):
    """Whether the element belongs to Vulkan proper: not to Vulkan SC alone, not disabled."""
    apis = element.get(attribute)
    return apis is None or any(api.startswith("vulkan") and api != "vulkansc" for api in apis.split(","))


class Member:
    """A parameter or a structure's member."""

    def __init__(self, element):
        for comment in element.findall("comment"):
            element.remove(comment)
        self.type = element.findtext("type")
        self.name = element.findtext("name")
        self.declaration = re.sub(r"\s+", " ", "".join(element.itertext())).replace(" [", "[").strip()
        self.pointers = self.declaration.count("*")
        self.const = self.declaration.startswith("const")
        self.array = "[" in self.declaration
        self.length = element.get("altlen") or element.get("len") or ""
        self.limit = element.get("limittype") or ""
        self.values = element.get("values")
        self.selection = element.get("selector")


class Structure:
    def __init__(self, element):
        self.name = element.get("name")
        self.union = element.get("category") == "union"
        self.members = [Member(m) for m in element.findall("member") if is_vulkan(m)]
        self.extends = (element.get("structextends") or "").split(",")
        first = self.members[0] if self.members else None
        self.stype = first.values if first is not None and first.name == "sType" else None
        self.chained = first is not None and first.name == "sType"


class Command:
    def __init__(self, element):
        self.name = element.findtext("proto/name")
        self.result = element.findtext("proto/type")
        self.parameters = [Member(p) for p in element.findall("param") if is_vulkan(p)]


class Registry:
    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.structures = {}
        self.structure_aliases = {}
        self.handles = {}
        self.formats = [f for f in root.findall("formats/format")]
        for t in root.findall("types/type"):
            if not is_vulkan(t):
                continue
            category = t.get("category")
            if category in ("struct", "union"):
                if t.get("alias"):
                    self.structure_aliases[t.get("name")] = t.get("alias")
                else:
                    self.structures[t.get("name")] = Structure(t)
            elif category == "handle" and not t.get("alias"):
                self.handles[t.findtext("name")] = t.get("objtypeenum")
        commands, aliases = {}, {}
        for c in root.findall("commands/command"):
            if not is_vulkan(c):
                continue
            if c.get("alias"):
                aliases[c.get("name")] = c.get("alias")
            else:
                command = Command(c)
                commands[command.name] = command
        self.core = {}  # command or type -> the (major, minor) that has it
        self.providers = {}  # command or type -> names of extensions that have it
        self.extensions = {}  # name -> element
        for feature in root.findall("feature"):
            if is_vulkan(feature):
                version = tuple(int(n) for n in feature.get("number").split("."))
                for item in self.required(feature):
                    self.core.setdefault(item, version)
        for extension in root.findall("extensions/extension"):
            # Platforms' and provisional extensions need definitions that plain vulkan.h doesn't have.
            if extension.get("platform") or extension.get("provisional") or not is_vulkan(extension, "supported"):
                continue
            if extension.get("supported") == "disabled":
                continue
            self.extensions[extension.get("name")] = extension
            for item in self.required(extension):
                self.providers.setdefault(item, []).append(extension.get("name"))
        self.names = {}  # every available command name -> its canonical command
        for name in sorted(set(self.core) | set(self.providers)):
            canonical = name
            while canonical in aliases:
                canonical = aliases[canonical]
            if canonical in commands:
                self.names[name] = commands[canonical]
        self.commands = {c.name: c for c in self.names.values()}

    @staticmethod
    def required(element):
        for require in element.findall("require"):
            if is_vulkan(require):
                for item in list(require.findall("command")) + list(require.findall("type")):
                    if is_vulkan(item):
                        yield item.get("name")

    def available_structures(self):
        """The structures that the headers define, with their providers: (structure, core version, extensions)."""
        spellings = {}
        for name in set(self.core) | set(self.providers):
            canonical = name
            while canonical in self.structure_aliases:
                canonical = self.structure_aliases[canonical]
            if canonical in self.structures:
                spellings.setdefault(canonical, []).append(name)
        for canonical in sorted(spellings):
            core = [self.core[n] for n in spellings[canonical] if n in self.core]
            extensions = [e for n in spellings[canonical] for e in self.providers.get(n, [])]
            yield self.structures[canonical], min(core) if core else None, sorted(set(extensions))


def version_macro(version):
    return f"VK_MAKE_API_VERSION(0, {version[0]}, {version[1]}, 0)" if version else "0"


def parameter_list(command):
    return ", ".join(p.declaration for p in command.parameters)


def argument_list(command):
    return ", ".join(p.name for p in command.parameters)


def prototype(prefix, name, command):
    return f"VKAPI_ATTR {command.result} VKAPI_CALL {prefix}{name}({parameter_list(command)})"


HEADER = "/* Made by tests/driver/generate.py from the Vulkan registry. */\n"


class Entries:
    """driver_commands.h and driver_entries.c"""

    def __init__(self, registry):
        self.registry = registry

    def header(self):
        out = [HEADER, "#ifndef DRIVER_COMMANDS_H\n#define DRIVER_COMMANDS_H\n\n#include <vulkan/vulkan.h>\n"]
        out.append("enum command_id {")
        out += [f"    COMMAND_{name}," for name in self.registry.names]
        out.append("    COMMAND_COUNT\n};\n\nenum extension_id {")
        out += [f"    EXTENSION_{name}," for name in self.registry.extensions]
        out.append("    EXTENSION_COUNT\n};\n")
        out += [prototype("driver_", c.name, c) + ";" for c in self.registry.commands.values()]
        out.append("\n#endif")
        return "\n".join(out) + "\n"

    def level(self, command):
        first = command.parameters[0].type
        if first == "VkInstance":
            return "COMMAND_LEVEL_INSTANCE"
        if first == "VkPhysicalDevice":
            return "COMMAND_LEVEL_PHYSICAL_DEVICE"
        if first in ("VkDevice", "VkQueue", "VkCommandBuffer"):
            return "COMMAND_LEVEL_DEVICE"
        return "COMMAND_LEVEL_GLOBAL"

    def is_handle(self, parameter):
        return parameter.type in self.registry.handles and parameter.pointers == 0

    def outputs(self, command):
        """Parameters through which handles come back."""
        return [p for p in command.parameters
                if p.type in self.registry.handles and p.pointers == 1 and not p.const]

    def count(self, parameter, command):
        """C expression for the number of elements behind a pointer parameter, or None where it isn't a value."""
        if not parameter.length:
            return "1"
        length = parameter.length.split(",")[0]
        for other in command.parameters:
            if other.name == length:
                return length if other.pointers == 0 else None
            if length.startswith(other.name + "->"):
                return length
        return None

    def entry(self, name, command):
        parameters = command.parameters
        out = [f"static VKAPI_ATTR {command.result} VKAPI_CALL entry_{name}({parameter_list(command)})", "{"]
        out.append(f"    struct call call = {{.command = COMMAND_{name}}};")
        if self.is_handle(parameters[0]):
            out.append(f"    call.parent = (uint64_t)(uintptr_t){parameters[0].name};")
        if len(parameters) > 1 and self.is_handle(parameters[1]):
            out.append(f"    call.handle = (uint64_t)(uintptr_t){parameters[1].name};")
        for p in parameters:
            structure = self.registry.structures.get(p.type)
            if p.const and p.pointers == 1 and structure is not None and structure.chained:
                out.append(f"    call.info = {p.name};")
                break
        for p in parameters:
            if p.type == "VkPipelineCache" and p.pointers == 0:
                out.append(f"    call.cache = {p.name};")
                break
        if parameters[-1].pointers and not parameters[-1].const:
            out.append(f"    call.output = {parameters[-1].name};")
        returns = command.result != "void"
        if command.result == "VkResult":
            out.append("    VkResult result = VK_SUCCESS;")
        elif returns:
            out.append(f"    {command.result} result;")
        if command.result == "VkResult":
            out.append("    if (call_begin(&call)) {")
        else:
            out.append("    call_begin(&call);")
        indent = "        " if command.result == "VkResult" else "    "
        if parameters[0].type == "VkCommandBuffer" and name.startswith("vkCmd"):
            out.append(f"{indent}record_{command.name}({argument_list(command)}, COMMAND_{name});")
        assign = "result = " if returns else ""
        out.append(f"{indent}{assign}driver_{command.name}({argument_list(command)});")
        if command.result == "VkResult":
            out.append("    }")
            failed = []
            for p in self.outputs(command):
                count = self.count(p, command)
                if count == "1":
                    out.append("    if (call.ran && result >= 0)")
                    out.append(f"        call.handle = (uint64_t)(uintptr_t)*{p.name};")
                if count is not None:
                    failed.append((p, count))
            if failed:
                out.append("    if (!call.ran) {")
                for p, count in failed:
                    out.append(f"        for (size_t i = 0; i < (size_t)({count}); i++)")
                    out.append(f"            {p.name}[i] = VK_NULL_HANDLE;")
                out.append("    }")
            out.append("    return call_end(&call, result);")
        else:
            out.append("    call_end_plain(&call);")
            if returns:
                out.append("    return result;")
        out.append("}\n")
        return out

    def zero_output(self, p, command):
        """Statements that give a defined value to what a pointer parameter points to."""
        structure = self.registry.structures.get(p.type)
        count = self.count(p, command)
        if p.type == "void" or p.pointers != 1 or count is None or not re.match(r"Vk|u?int|size_t|float", p.type):
            return []
        if structure is not None and structure.chained:
            return [] if count != "1" else [f"    structure_clear({p.name}, sizeof(*{p.name}));"]
        return [f"    memset({p.name}, 0, sizeof(*{p.name}) * (size_t)({count}));"]

    def default(self, command):
        parameters = command.parameters
        out = ["__attribute__((weak)) " + prototype("driver_", command.name, command), "{"]
        outputs = self.outputs(command)
        last = parameters[-1]
        destroyed = parameters[1] if len(parameters) == 3 and self.is_handle(parameters[1]) else None
        if re.match(r"vkCreate|vkRegister", command.name) and outputs and outputs[-1] is last:
            kind = self.registry.handles[last.type]
            count = self.count(last, command) or "1"
            out.append(f"    for (size_t i = 0; i < (size_t)({count}); i++) {{")
            out.append(f"        struct object *object = object_create(object_list_of({parameters[0].name}), {kind}, "
                       "sizeof(*object));")
            out.append("        if (!object)\n            return VK_ERROR_OUT_OF_HOST_MEMORY;")
            out.append(f"        {last.name}[i] = ({last.type})(uintptr_t)object;\n    }}")
        elif command.name.startswith("vkDestroy") and destroyed is not None:
            kind = self.registry.handles[destroyed.type]
            out.append(f"    object_destroy((struct object *)(uintptr_t){destroyed.name}, {kind});")
        else:
            for p in parameters:
                if p.pointers and not p.const:
                    out += self.zero_output(p, command)
        if command.result == "VkResult":
            out.append("    return VK_SUCCESS;")
        elif command.result == "VkBool32":
            out.append("    return VK_TRUE;")
        elif command.result != "void":
            out.append("    return 0;")
        out.append("}\n")
        return out

    def providers(self, name):
        return self.registry.providers.get(name, [])

    def source(self):
        out = [HEADER]
        out.append('#include <string.h>\n\n#include "driver.h"\n#include "driver_records.h"\n')
        for command in self.registry.commands.values():
            out += self.default(command)
        for name, command in self.registry.names.items():
            out += self.entry(name, command)
        for name in self.registry.names:
            ids = [f"EXTENSION_{e}" for e in self.providers(name)] + ["EXTENSION_COUNT"]
            out.append(f"static const uint16_t providers_of_{name}[] = {{{', '.join(ids)}}};")
        out.append("\nconst struct command_description command_descriptions[COMMAND_COUNT] = {")
        for name, command in self.registry.names.items():
            out.append(f"    [COMMAND_{name}] = {{\"{name}\", (PFN_vkVoidFunction)entry_{name}, {self.level(command)}, "
                       f"{version_macro(self.registry.core.get(name))}, providers_of_{name}}},")
        out.append("};\n\nconst struct extension_description extension_descriptions[EXTENSION_COUNT] = {")
        for name, element in self.registry.extensions.items():
            macro = self.spec_version(element)
            device = "true" if element.get("type") == "device" else "false"
            exposed = "true" if name in EXPOSED else "false"
            out.append(f"    [EXTENSION_{name}] = {{\"{name}\", {macro}, {device}, {exposed}}},")
        out.append("};")
        return "\n".join(out) + "\n"

    @staticmethod
    def spec_version(element):
        for enum in element.findall("require/enum"):
            if enum.get("name", "").endswith("_SPEC_VERSION") and (enum.get("value") or "").isdigit():
                return enum.get("value")
        return "1"


class Structures:
    """driver_structures.c"""

    def __init__(self, registry):
        self.registry = registry

    def assign(self, member, expression):
        if member.array:
            return (f"    for (size_t i = 0; i < sizeof(s->{member.name}) / sizeof(s->{member.name}[0]); i++)\n"
                    f"        s->{member.name}[i] = {expression};")
        return f"    s->{member.name} = {expression};"

    def value(self, member):
        """C expression for a property of which nothing but its kind is known, or None for zero."""
        kinds = member.limit.split(",")
        if member.type == "VkBool32":
            return "present"
        if member.type in BITMASKS:
            return f"present ? {BITMASKS[member.type]} : 0"
        if member.type not in ("uint32_t", "int32_t", "uint64_t", "size_t", "float", "VkDeviceSize"):
            return None
        if member.name in LIMITS:
            value = LIMITS[member.name]
        elif "max" in kinds:
            value = 1 << 32 if member.type in ("uint64_t", "VkDeviceSize") else 1 << 16
        elif "min" in kinds:
            value = 16
        else:
            return None
        suffix = "u" if member.type == "uint32_t" else "ull" if member.type in ("uint64_t", "VkDeviceSize") else ""
        if member.type == "float":
            return f"present ? {float(value)}f : 0"
        return f"present ? ({member.type}){value}{suffix} : 0"

    def fill(self, structure, features):
        out = [f"static void fill_{structure.name}({structure.name} *s, VkBool32 present)", "{"]
        for member in structure.members:
            if member.name in ("sType", "pNext") or member.pointers:
                continue
            if features:
                value = "VK_FALSE" if member.name in FEATURES_OFF else "present"
            else:
                value = self.value(member)
            if member.type in self.registry.structures and not member.array:
                nested = self.registry.structures[member.type]
                if nested.name in ("VkPhysicalDeviceFeatures", "VkPhysicalDeviceLimits"):
                    out.append(f"    fill_{nested.name}(&s->{member.name}, present);")
                else:
                    out.append(f"    memset(&s->{member.name}, 0, sizeof(s->{member.name}));")
            elif value is None:
                out.append(f"    memset(&s->{member.name}, 0, sizeof(s->{member.name}));")
            else:
                out.append(self.assign(member, value))
        out.append("    (void)present;\n}\n")
        return out

    def source(self):
        out = [HEADER, '#include <string.h>\n\n#include "driver.h"\n']
        plain = self.registry.structures
        out += self.fill(plain["VkPhysicalDeviceFeatures"], True)
        out += self.fill(plain["VkPhysicalDeviceLimits"], False)
        cases, sizes = [], []
        for structure, core, extensions in self.registry.available_structures():
            if structure.stype is None:
                continue
            sizes.append(f"    case {structure.stype}:\n        return sizeof({structure.name});")
            features = structure.name == "VkPhysicalDeviceFeatures2" or "VkPhysicalDeviceFeatures2" in structure.extends
            properties = (structure.name == "VkPhysicalDeviceProperties2"
                          or "VkPhysicalDeviceProperties2" in structure.extends)
            if not features and not properties:
                continue
            out += self.fill(structure, features)
            ids = ", ".join([f"EXTENSION_{e}" for e in extensions] + ["EXTENSION_COUNT"])
            out.append(f"static const uint16_t providers_of_{structure.name}[] = {{{ids}}};\n")
            cases.append(f"    case {structure.stype}:\n        fill_{structure.name}((void *)structure, physical_device_provides("
                         f"device, {version_macro(core)}, providers_of_{structure.name}));\n        break;")
        out.append("void structure_fill(const struct physical_device *device, VkBaseOutStructure *structure)\n{")
        out.append("    switch ((int)structure->sType) {")
        out += cases
        out.append("    default:\n        break;\n    }\n}\n")
        out.append("void structure_fill_features(VkPhysicalDeviceFeatures *features)\n{")
        out.append("    fill_VkPhysicalDeviceFeatures(features, VK_TRUE);\n}\n")
        out.append("void structure_fill_limits(VkPhysicalDeviceLimits *limits)\n{")
        out.append("    fill_VkPhysicalDeviceLimits(limits, VK_TRUE);\n}\n")
        out.append("size_t structure_size(VkStructureType type)\n{\n    switch ((int)type) {")
        out += sizes
        out.append("    default:\n        return 0;\n    }\n}")
        return "\n".join(out) + "\n"


class Records:
    """driver_records.[ch]: for every vkCmd... a structure of its arguments and the function that makes a copy of
    them in a command buffer's arena, everything that they point to included; and whether two such copies say the
    same."""

    def __init__(self, registry):
        self.registry = registry
        self.commands = [c for c in registry.commands.values() if c.name.startswith("vkCmd")]
        self.known = {s.name: s for s, _, _ in registry.available_structures()}

    def header(self):
        out = [HEADER, "#ifndef DRIVER_RECORDS_H\n#define DRIVER_RECORDS_H\n"]
        out.append('#include <stdbool.h>\n\n#include "driver_commands.h"\n')
        for c in self.commands:
            out.append(f"struct arguments_{c.name} {{")
            out += [f"    {self.member_declaration(p)};" for p in c.parameters[1:]]
            if len(c.parameters) == 1:
                out.append("    uint32_t none;")
            out.append("};")
            out.append(f"void record_{c.name}({parameter_list(c)}, enum command_id name);\n")
        out.append("/* Whether the arguments of two calls of a command are equal, with everything that they point to. */")
        out.append("bool same_arguments(enum command_id command, const void *a, const void *b);\n\n#endif")
        return "\n".join(out) + "\n"

    @staticmethod
    def member_declaration(p):
        # An array parameter is a pointer; the copy holds the elements themselves.
        return re.sub(r"^const ", "", p.declaration) if p.array else p.declaration

    # "If descriptorType is ..., pImageInfo must be ...": the other pointers may be wild.
    USED = {
        "pImageInfo": "s->descriptorType <= VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ||\n"
                      "          s->descriptorType == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT ||\n"
                      "          s->descriptorType == VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM ||\n"
                      "          s->descriptorType == VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM",
        "pBufferInfo": "s->descriptorType >= VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER &&\n"
                       "          s->descriptorType <= VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC",
        "pTexelBufferView": "s->descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ||\n"
                            "          s->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER",
    }

    def drop_unused(self, structure):
        if structure.name != "VkWriteDescriptorSet":
            return []
        return [f"    if (!({condition}))\n        s->{name} = NULL;" for name, condition in self.USED.items()]

    def copy(self, member, scope, owner):
        """Statements that replace the pointer `scope``member` by a copy of what it points to."""
        target = scope + member.name
        if member.name == "pNext":
            return [f"    {target} = copy_chain(arena, {target});"]
        structure = self.known.get(member.type)
        if member.array:
            return []
        if member.pointers == 0:
            if structure is not None and not structure.union and self.deep(structure):
                return [f"    deepen_{structure.name}(arena, &{target});"]
            return []
        count = self.count(member, scope, owner)
        if member.pointers > 1 or count is None:
            # What can't be copied must not dangle.
            return [f"    {target} = NULL;"] if not self.opaque(member) else []
        if member.type == "void":
            return [f"    {target} = copy_bytes(arena, {target}, (size_t)({count}), 1);"] if member.length else []
        out = [f"    {target} = copy_bytes(arena, {target}, (size_t)({count}), sizeof(*{target}));"]
        if structure is not None and not structure.union and self.deep(structure):
            out.append(f"    for (size_t i = 0; {target} && i < (size_t)({count}); i++)")
            out.append(f"        deepen_{structure.name}(arena, ({structure.name} *)(uintptr_t)&{target}[i]);")
        return out

    def same(self, member, owner):
        """An expression for a copy's member: equal in *a and *b. None where there is nothing to compare."""
        a, b = "a->" + member.name, "b->" + member.name
        if member.name == "pNext":
            return f"same_chain({a}, {b})"
        structure = self.known.get(member.type)
        is_deep = structure is not None and not structure.union and self.deep(structure)
        if member.pointers == 0 or member.array:
            return (f"same_{member.type}(&{a}, &{b})" if is_deep and not member.array
                    else f"memcmp(&{a}, &{b}, sizeof({a})) == 0")
        count = self.count(member, "a->", owner)
        if member.pointers > 1 or count is None:
            return None
        if self.opaque(member):
            return f"{a} == {b}"
        if is_deep:
            return f"SAME_ALL({member.type}, {a}, {b}, {count})"
        size = "1" if member.type == "void" else f"sizeof(*{a})"
        return f"same_bytes({a}, {b}, (size_t)({count}), {size})"

    def sames(self, members, owner):
        found = [e for e in (self.same(m, owner) for m in members) if e]
        return "    return " + " &&\n           ".join(found or ["true"]) + ";\n}\n"

    def same_source(self, deep):
        out = ["static bool same_chain(const void *a, const void *b);\n"]
        out.append("static bool same_bytes(const void *a, const void *b, size_t count, size_t size)\n{\n"
                   "    return (!a || !b) ? a == b : memcmp(a, b, count * size) == 0;\n}\n")
        out.append("typedef bool (*same_function)(const void *a, const void *b);\n")
        out.append("static bool same_all(const void *a, const void *b, size_t count, size_t size, same_function same)\n"
                   "{\n    if (!a || !b)\n        return a == b;\n"
                   "    for (size_t i = 0; i < count; i++)\n"
                   "        if (!same((const char *)a + i * size, (const char *)b + i * size))\n"
                   "            return false;\n    return true;\n}\n")
        out.append("#define SAME_ALL(type, a, b, count) "
                   "same_all(a, b, (size_t)(count), sizeof(type), same_any_##type)\n")
        listed = {m.type for s in deep for m in s.members if m.pointers}
        listed |= {p.type for c in self.commands for p in c.parameters[1:] if p.pointers}
        for s in deep:
            out.append(f"static bool same_{s.name}(const {s.name} *a, const {s.name} *b);")
            if s.name not in listed:
                continue
            out.append(f"static inline bool same_any_{s.name}(const void *a, const void *b)\n{{\n"
                       f"    return same_{s.name}(a, b);\n}}\n")
        for s in deep:
            out.append(f"static bool same_{s.name}(const {s.name} *a, const {s.name} *b)\n{{")
            out.append(self.sames(s.members, s.members))
        out.append("/* A structure whose size isn't known ends the copy of the chain. */\n"
                   "static bool same_chain(const void *a, const void *b)\n{\n"
                   "    const VkBaseInStructure *first = a, *second = b;\n\n"
                   "    if (!a || !b)\n        return a == b;\n"
                   "    if (first->sType != second->sType)\n        return false;\n"
                   "    switch ((int)first->sType) {")
        out += [f"    case {s.stype}:\n        return same_{s.name}(a, b);" for s in deep if s.stype]
        out.append("    default:\n        return same_chain(first->pNext, second->pNext);\n    }\n}\n")
        for c in self.commands:
            if len(c.parameters) > 1:
                out.append(f"static bool same_arguments_{c.name}(const struct arguments_{c.name} *a,\n"
                           f"    const struct arguments_{c.name} *b)\n{{")
                out.append(self.sames(c.parameters[1:], c.parameters[1:]))
        out.append("bool same_arguments(enum command_id command, const void *a, const void *b)\n{\n"
                   "    switch ((int)command) {")
        out += [f"    case COMMAND_{c.name}:\n        return same_arguments_{c.name}(a, b);"
                for c in self.commands if len(c.parameters) > 1]
        out.append("    default:\n        return true;\n    }\n}\n")
        return out

    @staticmethod
    def opaque(member):
        return member.type == "void" and not member.length

    @staticmethod
    def count(member, scope, owner):
        length = member.length.split(",")[0]
        if not length:
            return "1"
        if length == "null-terminated":
            return f"{scope}{member.name} ? strlen({scope}{member.name}) + 1 : 0"
        names = {m.name for m in owner}
        words = re.findall(r"[A-Za-z_]\w*", length)
        if not words or words[0] not in names or "latexmath" in length:
            return None
        return re.sub(r"\b" + words[0] + r"\b", scope + words[0], length)

    def deep(self, structure, seen=()):
        """Whether a copy of the structure needs more than its own bytes."""
        if structure.name in seen:
            return False
        for m in structure.members:
            if m.pointers:
                return True
            nested = self.known.get(m.type)
            if nested is not None and not nested.union and self.deep(nested, seen + (structure.name,)):
                return True
        return False

    def reachable(self):
        """Structures that commands or chains reach, innermost last."""
        wanted = {}

        def visit(name):
            structure = self.known.get(name)
            if structure is None or structure.union or name in wanted:
                return
            wanted[name] = structure
            for m in structure.members:
                visit(m.type)

        for c in self.commands:
            for p in c.parameters:
                visit(p.type)
        changed = True
        while changed:
            before = len(wanted)
            for s in self.known.values():
                if any(e in wanted for e in s.extends):
                    visit(s.name)
            changed = len(wanted) != before
        return wanted

    def source(self):
        wanted = self.reachable()
        deep = [s for s in wanted.values() if self.deep(s)]
        out = [HEADER, '#include <string.h>\n\n#include "driver.h"\n#include "command_buffer.h"\n#include "driver_records.h"\n']
        out.append("static const void *copy_chain(struct arena *arena, const void *chain);\n")
        out.append("static void *copy_bytes(struct arena *arena, const void *data, size_t count, size_t size)\n{")
        out.append("    void *copy = data && count ? arena_allocate(arena, count * size) : NULL;\n")
        out.append("    if (copy)\n        memcpy(copy, data, count * size);\n    return copy;\n}\n")
        out += [f"static void deepen_{s.name}(struct arena *arena, {s.name} *s);" for s in deep]
        out.append("")
        for s in deep:
            out.append(f"static void deepen_{s.name}(struct arena *arena, {s.name} *s)\n{{")
            out += self.drop_unused(s)
            for m in s.members:
                lines = self.copy(m, "s->", s.members)
                if m.name == "pNext" and not m.const:
                    lines = ["    s->pNext = (void *)(uintptr_t)copy_chain(arena, s->pNext);"]
                out += lines
            out.append("    (void)arena;\n}\n")
        out.append("static void deepen_link(struct arena *arena, VkBaseInStructure *link)\n{")
        out.append("    switch ((int)link->sType) {")
        for s in deep:
            if s.stype:
                out.append(f"    case {s.stype}:\n        deepen_{s.name}(arena, (void *)link);\n        break;")
        out.append("    default:\n        link->pNext = copy_chain(arena, link->pNext);\n        break;\n    }\n}\n")
        out.append("""/* A structure whose size isn't known ends the copy of the chain. */
static const void *copy_chain(struct arena *arena, const void *chain)
{
    const VkBaseInStructure *link = chain;
    size_t size = link ? structure_size(link->sType) : 0;
    VkBaseInStructure *copy = size ? copy_bytes(arena, link, 1, size) : NULL;

    if (copy)
        deepen_link(arena, copy);
    return copy;
}
""")
        for c in self.commands:
            out.append(f"void record_{c.name}({parameter_list(c)}, enum command_id name)\n{{")
            out.append("    struct command_buffer *recorded_in = command_buffer_from_handle(commandBuffer);")
            out.append(f"    struct arguments_{c.name} *arguments = command_append(recorded_in, "
                       f"COMMAND_{c.name}, name, sizeof(*arguments));")
            if len(c.parameters) == 1:
                out.append("    (void)arguments;\n}\n")
                continue
            out.append("    struct arena *arena = &recorded_in->arena;\n\n    if (!arguments)\n        return;")
            for p in c.parameters[1:]:
                if p.array:
                    out.append(f"    memcpy(arguments->{p.name}, {p.name}, sizeof(arguments->{p.name}));")
                else:
                    out.append(f"    arguments->{p.name} = {p.name};")
            for p in c.parameters[1:]:
                out += self.copy(p, "arguments->", c.parameters[1:])
            out.append("    (void)arena;\n}\n")
        out += self.same_source(deep)
        return "\n".join(out)


def formats_source(registry):
    """driver_formats.c"""
    out = [HEADER, '#include "driver.h"\n']
    out.append("struct format_description format_describe(VkFormat format)\n{\n    switch ((int)format) {")
    for f in registry.formats:
        name = f.get("name")
        names = [c.get("name") for c in f.findall("component")]
        extent = (f.get("blockExtent") or "1,1,1").split(",")
        planes = len(f.findall("plane")) or 1
        depth = "true" if "D" in names else "false"
        stencil = "true" if "S" in names else "false"
        compressed = "true" if f.get("compressed") else "false"
        kinds = {c.get("numericFormat") for c in f.findall("component")}
        integer = "true" if kinds <= {"UINT", "SINT"} else "false"
        out.append(f"    case {name}:\n        return (struct format_description){{{f.get('blockSize')}, {extent[0]}, "
                   f"{extent[1]}, {planes}, {depth}, {stencil}, {compressed}, {integer}}};")
    out.append("    default:\n        return (struct format_description){0};\n    }\n}")
    return "\n".join(out) + "\n"


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    registry = Registry(sys.argv[1])
    folder = sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    entries, records = Entries(registry), Records(registry)
    write(folder, "driver_commands.h", entries.header())
    write(folder, "driver_entries.c", entries.source())
    write(folder, "driver_structures.c", Structures(registry).source())
    write(folder, "driver_records.h", records.header())
    write(folder, "driver_records.c", records.source())
    write(folder, "driver_formats.c", formats_source(registry))


if __name__ == "__main__":
    main()
