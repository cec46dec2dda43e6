#!/usr/bin/env python3
"""Makes the layer's dispatch code from the Khronos registry (vk.xml).

    generate.py --registry vk.xml --out FOLDER

Written into FOLDER:
    dispatch.h   the next layer's functions, one table per instance and one per device
    dispatch.c   the loops that fill them
    hooks.h      what the hand-written hooks must look like
    hooks.c      the entry points with the application's signatures, and the table of their names
    sync_commands.[ch]   numbers and names of the commands that findings of the barrier half name
    known.[ch]   extensions and structures of devices that this build knows
    enums.[ch]   enum values as text
    formats.[ch] what aspects a format has

A hook is a hand-written function `hook_<command without vk>` that gets the object it belongs to and the next
layer's function *by the name that was asked for* before the command's own parameters:

    VkResult hook_CreatePipelineCache(struct device *device, PFN_vkCreatePipelineCache next, VkDevice, ...)

so one hook serves a core command and all its aliases. Commands on a VkCommandBuffer get `struct command_buffer *self`
instead of the device. Entry points do by themselves, without a hand-written hook:
  * hand an error of a command whose error codes contain one of WATCHED_RESULTS (it can tell of a lost device or
    surface) to device_watch_result(), hooked or not;
  * pass through where the half that a hook belongs to is off for the device, or the command buffer isn't known;
  * flush pending barriers before every command that can stand outside a render pass and isn't pure state.
"""
import argparse
import os
import xml.etree.ElementTree as ElementTree

# Hand-written hooks, by group. "always": every application; "cache": where the pipeline-cache half is on; "sync":
# where the barrier half is; "both": where either is.
HOOKS = {
    "vkDestroyInstance": "always",
    "vkDestroyDevice": "always",
    "vkGetPhysicalDeviceToolProperties": "always",
    "vkDestroySurfaceKHR": "cache",
    "vkDestroySwapchainKHR": "both",
    "vkCreatePipelineCache": "cache",
    "vkDestroyPipelineCache": "cache",
    "vkGetPipelineCacheData": "cache",
    "vkMergePipelineCaches": "cache",
    "vkCreateGraphicsPipelines": "both",
    "vkCreateComputePipelines": "both",
    "vkCreateRayTracingPipelinesKHR": "both",
    "vkCreateRayTracingPipelinesNV": "both",
    "vkCreateExecutionGraphPipelinesAMDX": "cache",
    "vkCreateDataGraphPipelinesARM": "cache",
    # sync/image.c, image_view.c, image_memory.c
    "vkCreateImage": "sync",
    "vkDestroyImage": "sync",
    "vkSetDebugUtilsObjectNameEXT": "sync",
    "vkCreateImageView": "sync",
    "vkDestroyImageView": "sync",
    "vkAllocateMemory": "sync",
    "vkFreeMemory": "sync",
    "vkBindImageMemory": "sync",
    "vkBindImageMemory2": "sync",
    # sync/host_image.c
    "vkTransitionImageLayoutEXT": "sync",
    "vkCopyMemoryToImageEXT": "sync",
    "vkCopyImageToMemoryEXT": "sync",
    "vkCopyImageToImageEXT": "sync",
    # sync/pass.c, framebuffer.c
    "vkCreateRenderPass": "sync",
    "vkCreateRenderPass2": "sync",
    "vkDestroyRenderPass": "sync",
    "vkCreateFramebuffer": "sync",
    "vkDestroyFramebuffer": "sync",
    # sync/descriptor_layout.c, descriptor_set.c, descriptor_write.c
    "vkCreateDescriptorSetLayout": "sync",
    "vkDestroyDescriptorSetLayout": "sync",
    "vkCreatePipelineLayout": "sync",
    "vkDestroyPipelineLayout": "sync",
    "vkCreateDescriptorPool": "sync",
    "vkDestroyDescriptorPool": "sync",
    "vkResetDescriptorPool": "sync",
    "vkAllocateDescriptorSets": "sync",
    "vkFreeDescriptorSets": "sync",
    "vkUpdateDescriptorSets": "sync",
    "vkCreateDescriptorUpdateTemplate": "sync",
    "vkDestroyDescriptorUpdateTemplate": "sync",
    "vkUpdateDescriptorSetWithTemplate": "sync",
    # sync/shader.c
    "vkCreateShaderModule": "sync",
    "vkDestroyShaderModule": "sync",
    "vkDestroyPipeline": "sync",
    "vkCreateShadersEXT": "sync",
    "vkDestroyShaderEXT": "sync",
    # sync/swapchain.c
    "vkCreateSwapchainKHR": "sync",
    "vkCreateSharedSwapchainsKHR": "sync",
    "vkGetSwapchainImagesKHR": "sync",
    "vkAcquireNextImageKHR": "sync",
    "vkAcquireNextImage2KHR": "sync",
    "vkReleaseSwapchainImagesEXT": "sync",
    # sync/command_buffer.c, record_labels.c
    "vkCreateCommandPool": "sync",
    "vkDestroyCommandPool": "sync",
    "vkResetCommandPool": "sync",
    "vkTrimCommandPool": "sync",
    "vkAllocateCommandBuffers": "sync",
    "vkFreeCommandBuffers": "sync",
    "vkBeginCommandBuffer": "sync",
    "vkEndCommandBuffer": "sync",
    "vkResetCommandBuffer": "sync",
    "vkCmdBeginDebugUtilsLabelEXT": "note",
    "vkCmdEndDebugUtilsLabelEXT": "note",
    # sync/record_barrier.c, record_event.c
    "vkCmdPipelineBarrier": "sync",
    "vkCmdPipelineBarrier2": "sync",
    "vkCmdSetEvent2": "sync",
    "vkCmdWaitEvents": "sync",
    "vkCmdWaitEvents2": "sync",
    # sync/record_transfer.c
    "vkCmdCopyImage": "sync",
    "vkCmdCopyImage2": "sync",
    "vkCmdBlitImage": "sync",
    "vkCmdBlitImage2": "sync",
    "vkCmdCopyBufferToImage": "sync",
    "vkCmdCopyBufferToImage2": "sync",
    "vkCmdCopyImageToBuffer": "sync",
    "vkCmdCopyImageToBuffer2": "sync",
    "vkCmdResolveImage": "sync",
    "vkCmdResolveImage2": "sync",
    "vkCmdCopyMemoryToImageIndirectNV": "sync",
    "vkCmdClearColorImage": "sync",
    "vkCmdClearDepthStencilImage": "sync",
    # sync/record_pass.c, record_rendering.c
    "vkCmdBeginRenderPass": "sync",
    "vkCmdBeginRenderPass2": "sync",
    "vkCmdEndRenderPass": "sync",
    "vkCmdEndRenderPass2": "sync",
    "vkCmdBeginRendering": "sync",
    "vkCmdEndRendering": "sync",
    "vkCmdEndRendering2EXT": "sync",
    # sync/record_bind.c
    "vkCmdBindPipeline": "note",
    "vkCmdBindDescriptorSets": "note",
    "vkCmdBindDescriptorSets2KHR": "note",
    "vkCmdPushDescriptorSetKHR": "note",
    "vkCmdPushDescriptorSet2KHR": "note",
    "vkCmdPushDescriptorSetWithTemplateKHR": "note",
    "vkCmdPushDescriptorSetWithTemplate2KHR": "note",
    "vkCmdBindShadersEXT": "note",
    # sync/record_execute.c
    "vkCmdExecuteCommands": "sync",
    # sync/queue.c, submit.c
    "vkGetDeviceQueue": "sync",
    "vkGetDeviceQueue2": "sync",
    "vkQueueSubmit": "sync",
    "vkQueueSubmit2": "sync",
    "vkQueueBindSparse": "sync",
    # sync/present.c
    "vkQueuePresentKHR": "sync",
    # sync/host.c
    "vkCreateSemaphore": "sync",
    "vkDestroySemaphore": "sync",
    "vkImportSemaphoreFdKHR": "sync",
    "vkWaitSemaphores": "sync",
    "vkGetSemaphoreCounterValue": "sync",
    "vkSignalSemaphore": "sync",
    "vkDestroyFence": "sync",
    "vkResetFences": "sync",
    "vkImportFenceFdKHR": "sync",
    "vkWaitForFences": "sync",
    "vkGetFenceStatus": "sync",
    "vkQueueWaitIdle": "sync",
    "vkDeviceWaitIdle": "sync",
}

# Commands that may stand between barriers that are still to be joined: pure state, by the registry's "tasks", but for
# these.
STATE_THAT_FLUSHES = {"vkCmdSetDeviceMask", "vkCmdBindInvocationMaskHUAWEI", "vkCmdBindShadingRateImageNV",
                      "vkCmdSetPerformanceOverrideINTEL"}

# What the layer itself calls, apart from what it hooks.
CALLED = [
    "vkEnumerateDeviceExtensionProperties",
    "vkGetPhysicalDeviceProperties",
    "vkGetPhysicalDeviceProperties2",
    "vkSubmitDebugUtilsMessageEXT",
    "vkGetPhysicalDeviceQueueFamilyProperties",
    "vkGetPhysicalDeviceFeatures2",
    "vkGetImageMemoryRequirements",
    "vkCreateCommandPool",
    "vkDestroyCommandPool",
    "vkResetCommandPool",
    "vkAllocateCommandBuffers",
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
    "vkCmdPipelineBarrier",
    "vkCmdPipelineBarrier2",
    "vkCreateFence",
    "vkDestroyFence",
    "vkResetFences",
    "vkGetFenceStatus",
    "vkCreateSemaphore",
    "vkDestroySemaphore",
    "vkQueueSubmit",
]

# Results worth knowing: after the first nothing is stored, after the others the application may be about to end.
WATCHED_RESULTS = {"VK_ERROR_DEVICE_LOST", "VK_ERROR_SURFACE_LOST_KHR", "VK_ERROR_OUT_OF_DATE_KHR"}

ENUMS = ["VkResult", "VkImageLayout"]

# Commands of extensions that old headers don't have, or keep behind a switch: their structures stand in compat.h.
BY_HAND = {
    "vkCreateExecutionGraphPipelinesAMDX": (
        "VK_AMDX_shader_enqueue",
        [("VkDevice", "device"), ("VkPipelineCache", "pipelineCache"), ("uint32_t", "createInfoCount"),
         ("const struct compat_execution_graph_pipeline_create_info *", "pCreateInfos"),
         ("const VkAllocationCallbacks *", "pAllocator"), ("VkPipeline *", "pPipelines")]),
    "vkCreateDataGraphPipelinesARM": (
        "VK_ARM_data_graph",
        [("VkDevice", "device"), ("VkDeferredOperationKHR", "deferredOperation"),
         ("VkPipelineCache", "pipelineCache"), ("uint32_t", "createInfoCount"),
         ("const struct compat_data_graph_pipeline_create_info *", "pCreateInfos"),
         ("const VkAllocationCallbacks *", "pAllocator"), ("VkPipeline *", "pPipelines")]),
    "vkTransitionImageLayoutEXT": (
        "VK_EXT_host_image_copy",
        [("VkDevice", "device"), ("uint32_t", "transitionCount"),
         ("const struct compat_host_image_layout_transition_info *", "pTransitions")]),
    "vkCopyMemoryToImageEXT": (
        "VK_EXT_host_image_copy",
        [("VkDevice", "device"), ("const struct compat_copy_memory_to_image_info *", "pCopyMemoryToImageInfo")]),
    "vkCopyImageToMemoryEXT": (
        "VK_EXT_host_image_copy",
        [("VkDevice", "device"), ("const struct compat_copy_image_to_memory_info *", "pCopyImageToMemoryInfo")]),
    "vkCopyImageToImageEXT": (
        "VK_EXT_host_image_copy",
        [("VkDevice", "device"), ("const struct compat_copy_image_to_image_info *", "pCopyImageToImageInfo")]),
}

# Their names in core versions.
BY_HAND_CORE = {
    "vkTransitionImageLayout": ("vkTransitionImageLayoutEXT", (1, 4)),
    "vkCopyMemoryToImage": ("vkCopyMemoryToImageEXT", (1, 4)),
    "vkCopyImageToMemory": ("vkCopyImageToMemoryEXT", (1, 4)),
    "vkCopyImageToImage": ("vkCopyImageToImageEXT", (1, 4)),
}

BANNER = "/* Made by scripts/generate.py from the Khronos registry. Do not edit. */\n"


class Command:
    """One command of the registry; aliases share everything but the name."""

    def __init__(self, name, result, params, error_codes=(), by_hand=False, tasks="", render_pass=""):
        self.name = name
        self.result = result
        self.params = params  # [(type text, name)]; arrays as (type, "name[4]")
        self.error_codes = set(error_codes)
        self.by_hand = by_hand
        self.tasks = set(tasks.split(",")) if tasks else set()
        self.render_pass = render_pass  # where it may stand: "inside", "outside", "both"; "" if it isn't recorded
        self.core = None      # (major, minor) that made it core
        self.extensions = []  # extensions that bring it

    @property
    def short(self):
        return self.name[2:]

    @property
    def pfn(self):
        return ("PFN_compat_" if self.by_hand else "PFN_") + self.name

    @property
    def owner(self):
        """The object whose state the command belongs to: "instance" or "device"."""
        return "instance" if self.params[0][0] in ("VkInstance", "VkPhysicalDevice") else "device"

    @property
    def recorded(self):
        return self.params[0][0] == "VkCommandBuffer"

    @property
    def watched(self):
        return bool(self.error_codes & WATCHED_RESULTS) and self.owner == "device"

    def flushes(self):
        return (self.name.startswith("vkCmd") and self.render_pass != "inside"
                and (self.tasks != {"state"} or self.name in STATE_THAT_FLUSHES))

    def held(self):
        """Whether it may stand inside a render pass instance that is held back."""
        return self.name.startswith("vkCmd") and self.render_pass in ("inside", "both")

    def shaders(self):
        """The bind point whose shaders the command runs; "" if that isn't told, None if it runs none."""
        if self.name.startswith("vkCmdDraw"):
            return "POINT_GRAPHICS"
        if self.name.startswith("vkCmdDispatch") and "Graph" not in self.name and "Tile" not in self.name:
            return "POINT_COMPUTE"
        if self.name.startswith("vkCmdTraceRays"):
            return "POINT_RAY_TRACING"
        return "" if self.name.startswith("vkCmdExecuteGenerated") else None

    def declaration(self):
        return ", ".join(t + ("" if t.endswith("*") else " ") + n for t, n in self.params)

    def arguments(self):
        return ", ".join(n.split("[")[0] for _, n in self.params)


def for_vulkan(element):
    """Newer registries describe Vulkan SC in the same file, and keep what core versions bring under "vulkanbase";
    elements without an api belong to all."""
    apis = element.attrib.get("api", "vulkan").split(",")
    return "vulkan" in apis or "vulkanbase" in apis


def read_params(element):
    params = []
    for param in element.findall("param"):
        if not for_vulkan(param):
            continue
        name = param.find("name")
        before = "".join([param.text or ""] + [
            (child.text or "") + (child.tail or "") for child in param if child.tag == "type"])
        params.append((" ".join(before.split()), name.text + (name.tail or "").strip()))
    return params


def read_commands(root):
    commands, aliases = {}, []
    for element in root.findall("commands/command"):
        if not for_vulkan(element):
            continue
        if "alias" in element.attrib:
            aliases.append((element.attrib["name"], element.attrib["alias"]))
            continue
        proto = element.find("proto")
        codes = [c for c in element.attrib.get("errorcodes", "").split(",") if c]
        commands[proto.find("name").text] = Command(
            proto.find("name").text, proto.find("type").text, read_params(element), codes,
            tasks=element.attrib.get("tasks", ""), render_pass=element.attrib.get("renderpass", ""))
    names = {name: name for name in commands}
    for alias, target in aliases:
        names[alias] = names.get(target, target)
        base = commands[names[alias]]
        commands[alias] = Command(alias, base.result, base.params, base.error_codes)
        commands[alias].tasks, commands[alias].render_pass = base.tasks, base.render_pass
    return commands, names


def read_providers(root, commands):
    """Who brings a command; leaves out those whose declarations need a window system's or beta headers."""
    for feature in root.findall("feature"):
        if not for_vulkan(feature):
            continue
        version = tuple(int(n) for n in feature.attrib["number"].split("."))
        for required in feature.findall("require/command"):
            command = commands.get(required.attrib["name"])
            if command and (command.core is None or version < command.core):
                command.core = version
    for extension in root.findall("extensions/extension"):
        supported = extension.attrib.get("supported", "").split(",")
        if "vulkan" not in supported or "platform" in extension.attrib:
            continue
        for block in extension.findall("require"):
            # Old registries have what two extensions bring together, as vkCmdWriteBufferMarker2AMD, in either's place.
            brings = [extension.attrib["name"]] + block.attrib.get("extension", "").split(",")
            for required in block.findall("command"):
                command = commands.get(required.attrib["name"])
                if command:
                    command.extensions += [n for n in brings if n and n not in command.extensions]
    return {n: c for n, c in commands.items() if c.core or c.extensions}


def read_registry(path):
    root = ElementTree.parse(path).getroot()
    commands, names = read_commands(root)
    commands = read_providers(root, commands)
    for name, (extension, params) in BY_HAND.items():
        command = Command(name, "VkResult", params, by_hand=True)
        command.extensions = [extension]
        commands[name], names[name] = command, name
    for name, (base, version) in BY_HAND_CORE.items():
        command = Command(name, "VkResult", commands[base].params, by_hand=True)
        command.core = version
        commands[name], names[name] = command, base
    # Newer registries may have made the name that is hooked an alias of another.
    for hooked in HOOKS:
        base = names.get(hooked, hooked)
        if base != hooked:
            names.update({name: hooked for name, target in names.items() if target == base})
    return root, commands, names


def choose(commands, names):
    """[(command, group)] for everything that gets an entry point, aliases included; sorted by name. Two groups need no
    hand-written hook: "watch" and "flush" (which holds back, too)."""
    chosen = []
    for name, command in commands.items():
        base = names[name]
        if base in HOOKS:
            chosen.append((command, HOOKS[base]))
        elif command.params[0][0] in ("VkDevice", "VkQueue") and command.watched:
            chosen.append((command, "watch"))
        elif base in commands and (commands[base].flushes() or commands[base].held()) and command.recorded:
            chosen.append((command, "flush"))
    return sorted(chosen, key=lambda pair: pair[0].name)


def tables(commands, names, chosen):
    """Commands in the two next-layer tables."""
    wanted = {c.name for c, _ in chosen}
    wanted |= {n for n in commands if names[n] in CALLED}
    members = [commands[n] for n in sorted(wanted)]
    return ([c for c in members if c.owner == "instance"], [c for c in members if c.owner == "device"])


def write_dispatch(out, instance, device):
    header = [BANNER, "#ifndef RC_GENERATED_DISPATCH_H\n#define RC_GENERATED_DISPATCH_H\n\n"
              "#include <vulkan/vulkan.h>\n\n#include \"compat.h\"\n\n"]
    for command in instance + device:
        if command.by_hand:
            header.append("typedef %s(VKAPI_PTR *%s)(%s);\n" % (command.result, command.pfn, command.declaration()))
    source = [BANNER, '#include "dispatch.h"\n']
    for owner, members, handle, getter in (
            ("instance", instance, "VkInstance", "PFN_vkGetInstanceProcAddr"),
            ("device", device, "VkDevice", "PFN_vkGetDeviceProcAddr")):
        header.append("\n/* The next layer's functions; NULL where it has none. */\nstruct %s_dispatch {\n" % owner)
        header += ["    %s %s;\n" % (c.pfn, c.short) for c in members]
        header.append("};\n\nvoid %s_dispatch_load(struct %s_dispatch *table, %s handle, %s get);\n"
                      % (owner, owner, handle, getter))
        source.append("\nvoid %s_dispatch_load(struct %s_dispatch *table, %s handle, %s get)\n{\n"
                      % (owner, owner, handle, getter))
        source += ['    table->%s = (%s)get(handle, "%s");\n' % (c.short, c.pfn, c.name) for c in members]
        source.append("}\n")
    header.append("\n#endif\n")
    write(out, "dispatch.h", header)
    write(out, "dispatch.c", source)


# Groups of the hook table in which an entry point is returned.
HOOK_GROUPS = {"always": "HOOK_ALWAYS", "cache": "HOOK_CACHE", "sync": "HOOK_SYNC", "both": "HOOK_CACHE | HOOK_SYNC",
               "watch": "HOOK_CACHE | HOOK_SYNC", "flush": "HOOK_SYNC", "note": "HOOK_SYNC"}

# Held back otherwise than by body_put_...().
HELD_BY_HAND = {
    "vkCmdPushDescriptorSetWithTemplateKHR":
        "record_hold_template(self, descriptorUpdateTemplate, layout, set, pData)",
    "vkCmdPushDescriptorSetWithTemplate2KHR":
        "record_hold_template(self, pPushDescriptorSetWithTemplateInfo->descriptorUpdateTemplate, "
        "pPushDescriptorSetWithTemplateInfo->layout, pPushDescriptorSetWithTemplateInfo->set, "
        "pPushDescriptorSetWithTemplateInfo->pData)",
}


def recorded_body(command, base, group):
    """The statements for a recorded command that hands on its parameters: noted, its shaders' uses looked at, held back or
    given down behind what is pending."""
    following = [n.split("[")[0] for _, n in command.params[1:]]
    lines = []
    if group == "note":
        lines.append("note_%s(%s);" % (base.short, ", ".join(["self"] + following)))
    shaders = base.shaders()
    if shaders:
        lines.append("record_shaders(self, COMMAND_%s, %s);" % (base.short, shaders))
    elif shaders == "":
        lines.append("record_shaders_unseen(self);")
    if base.held():
        put = HELD_BY_HAND.get(base.name) or "body_put_%s(%s)" % (base.short, ", ".join(
            ["&self->hold.body", "device->next.%s" % command.short] + following))
        done = "return;" if command.result == "void" else "return VK_SUCCESS;"
        lines += ["if (RECORD_HOLDS(self, %s))" % put, "    " + done]
    if base.flushes():
        lines.append("record_flush(self);")
    return lines


def entry_body(command, base, group):
    """The statements of one entry point."""
    first = command.params[0][1]
    returns = "" if command.result == "void" else "return "
    if command.recorded:
        plain = "device->next.%s(%s)" % (command.short, command.arguments())
        lines = ["struct device *device = device_of(%s);" % first,
                 "struct command_buffer *self = device->sync ? command_buffer_find(device->sync, %s) : NULL;" % first]
        if group in ("flush", "note"):
            inner = recorded_body(command, base, group)
            if len(inner) == 1:
                return lines + ["if (self)", "    " + inner[0], "%s%s;" % (returns, plain)]
            return lines + ["if (self) {"] + ["    " + line for line in inner] + ["}", "%s%s;" % (returns, plain)]
        hooked = "hook_%s(self, device->next.%s, %s)" % (base.short, command.short, command.arguments())
        owner = "device"
    else:
        plain = "self->next.%s(%s)" % (command.short, command.arguments())
        lines = ["struct %s *self = %s_of(%s);" % (command.owner, command.owner, first)]
        hooked = "hook_%s(self, self->next.%s, %s)" % (base.short, command.short, command.arguments())
        owner = "self"
    if group == "watch":
        call = plain
    elif command.recorded:
        call = "self ? %s : %s" % (hooked, plain)
    elif group == "sync":
        call = "self->sync ? %s : %s" % (hooked, plain)
    else:
        call = hooked
    if command.watched:
        return lines + ["VkResult result = %s;" % call, "if (result < 0)",
                        "    device_watch_result(%s, result);" % owner, "return result;"]
    if " ? " in call and not returns:
        condition = call.split(" ? ")[0]
        return lines + ["if (%s)" % condition, "    %s;" % hooked, "else", "    %s;" % plain]
    return lines + ["%s%s;" % (returns, call)]


def fast_condition(base, group):
    """Where a recorded command has nothing to do but to go down; None if it always has."""
    if group != "flush" or base.shaders() == "":
        return None
    conditions = ["self"]
    if base.shaders():
        conditions.append("!record_shaders_are_new(self, %s)" % base.shaders())
    if base.held() or base.flushes():
        conditions.append("!self->hold.holds")
    if base.flushes():
        conditions.append("!self->pending")
    return " && ".join(conditions)


def entry_functions(command, base, group):
    """The C functions of one entry point. Those with a fast path have two: it makes no call but the one down, so that the
    compiler saves no register."""
    attributes, name = "VKAPI_ATTR", "entry_" + command.short
    condition = fast_condition(base, group) if command.recorded else None
    text = ""
    if condition:
        returns = "" if command.result == "void" else "return "
        text += "\nstatic __attribute__((noinline)) %s VKAPI_CALL slow_%s(%s)\n{\n%s}\n" % (
            command.result, command.short, command.declaration(),
            "".join("    %s\n" % line for line in entry_body(command, base, group)))
        lines = ["struct command_buffer *self = command_buffer_find_fast(%s);" % command.params[0][1],
                 "if (%s)" % condition,
                 "    %sself->next->%s(%s);" % (returns, command.short, command.arguments()),
                 "else", "    %sslow_%s(%s);" % (returns, command.short, command.arguments())]
        if command.watched:
            return text.replace("slow_", "entry_").replace("__attribute__((noinline)) ", "VKAPI_ATTR ")
    else:
        lines = entry_body(command, base, group)
    return text + "\nstatic %s %s VKAPI_CALL %s(%s)\n{\n%s}\n" % (
        attributes, command.result, name, command.declaration(), "".join("    %s\n" % line for line in lines))


def write_hooks(out, chosen, commands, names):
    header = [BANNER, "#ifndef RC_GENERATED_HOOKS_H\n#define RC_GENERATED_HOOKS_H\n\n"
              "#include \"hook_table.h\"\n#include \"dispatch.h\"\n\n"
              "struct instance;\nstruct device;\nstruct command_buffer;\n\n"
              "/* Written by hand; see scripts/generate.py. */\n"]
    done = set()
    for command, group in chosen:
        base = commands.get(names[command.name])
        if group in ("watch", "flush") or base is None or base.name in done:
            continue
        done.add(base.name)
        if group == "note":
            header.append("void note_%s(%s);\n" % (base.short, ", ".join(
                ["struct command_buffer *command_buffer_"] + [t + ("" if t.endswith("*") else " ") + n for t, n in base.params[1:]])))
            continue
        owner = "command_buffer" if base.recorded else base.owner
        header.append("%s hook_%s(struct %s *%s_, %s next, %s);\n" % (
            base.result, base.short, owner, owner, base.pfn, base.declaration()))
    header.append("\n#endif\n")
    write(out, "hooks.h", header)

    source = [BANNER, '#include "hooks.h"\n\n#include "device.h"\n#include "instance.h"\n'
              '#include "sync/command_buffer.h"\n#include "sync/record.h"\n'
              '#include "sync/record_hold.h"\n#include "sync/record_shader.h"\n']
    for command, group in chosen:
        base = commands[names[command.name]]
        source.append(entry_functions(command, base, group))
    for command, _ in chosen:
        if command.extensions:
            source.append("static const char *const extensions_%s[] = {%s, 0};\n" % (
                command.short, ", ".join('"%s"' % e for e in command.extensions)))
    source.append("\n/* Sorted by name. */\nconst struct hook hook_table[] = {\n")
    for command, group in chosen:
        core = "VK_MAKE_API_VERSION(0, %d, %d, 0)" % command.core if command.core else "0"
        source.append('    {"%s", (PFN_vkVoidFunction)entry_%s, HOOK_%s, %s, %s, %s},\n' % (
            command.name, command.short, command.owner.upper(), HOOK_GROUPS[group],
            core, "extensions_" + command.short if command.extensions else "0"))
    source.append("};\nconst uint32_t hook_count = sizeof(hook_table) / sizeof(hook_table[0]);\n")
    write(out, "hooks.c", source)


HOST_COMMANDS = {base for base, _ in BY_HAND_CORE.values()}


def write_sync_commands(out, commands, names):
    """The commands that findings name: everything recorded, presents, and host transitions."""
    chosen = sorted(n for n in commands if names[n] == n and
                    (n.startswith("vkCmd") or n == "vkQueuePresentKHR" or n in HOST_COMMANDS))
    header = [BANNER, "#ifndef RC_GENERATED_SYNC_COMMANDS_H\n#define RC_GENERATED_SYNC_COMMANDS_H\n\n"
              "#include <stdint.h>\n\nenum sync_command {\n    COMMAND_none,\n"]
    header += ["    COMMAND_%s,\n" % n[2:] for n in chosen]
    header.append("};\n\n/* With \"vk\" in front; \"\" for COMMAND_none. Static strings. */\n"
                  "const char *sync_command_name(uint16_t command);\n\n#endif\n")
    source = [BANNER, '#include "sync_commands.h"\n\nstatic const char *const names[] = {\n    "",\n']
    source += ['    "%s",\n' % n for n in chosen]
    source.append("};\n\nconst char *sync_command_name(uint16_t command)\n{\n"
                  "    return command < sizeof(names) / sizeof(names[0]) ? names[command] : \"\";\n}\n")
    write(out, "sync_commands.h", header)
    write(out, "sync_commands.c", source)


def enum_values(root, name):
    values = []
    for enums in root.findall("enums"):
        if enums.attrib.get("name") == name:
            values += [e.attrib["name"] for e in enums.findall("enum") if "alias" not in e.attrib]
    for block in root.findall("feature") + root.findall("extensions/extension"):
        if block.tag == "extension" and ("vulkan" not in block.attrib.get("supported", "").split(",")
                                         or "platform" in block.attrib):
            continue
        if not for_vulkan(block):
            continue
        for enum in block.findall("require/enum"):
            if enum.attrib.get("extends") == name and "alias" not in enum.attrib \
                    and for_vulkan(enum) and enum.attrib["name"] not in values:
                values.append(enum.attrib["name"])
    return values


def write_enums(out, root):
    header = [BANNER, "#ifndef RC_GENERATED_ENUMS_H\n#define RC_GENERATED_ENUMS_H\n\n#include <vulkan/vulkan.h>\n\n"
              "/* The value's name in the spec, or \"unknown\". Static strings. */\n"]
    source = [BANNER, '#include "enums.h"\n']
    for name in ENUMS:
        function = "const char *enum_%s_name(%s value)" % (name, name)
        header.append(function + ";\n")
        source.append("\n%s\n{\n    switch ((int)value) {\n" % function)
        source += ['    case %s:\n        return "%s";\n' % (v, v) for v in enum_values(root, name)]
        source.append('    }\n    return "unknown";\n}\n')
    header.append("\n#endif\n")
    write(out, "enums.h", header)
    write(out, "enums.c", source)


ASPECTS = {"D": "VK_IMAGE_ASPECT_DEPTH_BIT", "S": "VK_IMAGE_ASPECT_STENCIL_BIT"}


def format_aspects(root):
    """{"VK_IMAGE_ASPECT_... | ...": [formats]}"""
    shown = set(enum_values(root, "VkFormat"))
    found = {}
    for element in root.findall("formats/format"):
        aspects = dict.fromkeys(ASPECTS.get(c.attrib["name"], "VK_IMAGE_ASPECT_COLOR_BIT")
                                for c in element.findall("component"))
        if element.attrib["name"] in shown:
            found.setdefault(" | ".join(aspects), []).append(element.attrib["name"])
    return found


def write_formats(out, root):
    declaration = "VkImageAspectFlags format_aspects(VkFormat format)"
    header = [BANNER, "#ifndef RC_GENERATED_FORMATS_H\n#define RC_GENERATED_FORMATS_H\n\n#include <vulkan/vulkan.h>\n\n"
              "/* COLOR, or DEPTH and STENCIL; multi-planar ones are COLOR. 0 for one that isn't known. */\n",
              declaration, ";\n\n#endif\n"]
    source = [BANNER, '#include "formats.h"\n\n', declaration, "\n{\n    switch ((int)format) {\n"]
    for aspects, formats in format_aspects(root).items():
        source += ["    case %s:\n" % f for f in formats]
        source.append("        return %s;\n" % aspects)
    source.append("    default:\n        return 0;\n    }\n}\n")
    write(out, "formats.h", header)
    write(out, "formats.c", source)


def is_in_headers(block):
    """Whether vulkan_core.h has what a feature or extension brings: no window system, no beta, not Vulkan SC."""
    return (for_vulkan(block) and "vulkan" in block.attrib.get("supported", "vulkan").split(",")
            and "platform" not in block.attrib and block.attrib.get("provisional") != "true")


def device_structures(root):
    """[(name, sType)] of what may stand in a VkDeviceCreateInfo's chain."""
    shown = {t.attrib["name"] for block in root.findall("feature") + root.findall("extensions/extension")
             if is_in_headers(block) for required in block.findall("require") if for_vulkan(required)
             for t in required.findall("type")}
    found = []
    for element in root.findall("types/type"):
        if element.attrib.get("category") != "struct" or "alias" in element.attrib or not for_vulkan(element):
            continue
        name = element.attrib["name"]
        if "VkDeviceCreateInfo" not in element.attrib.get("structextends", "").split(",") or name not in shown:
            continue
        stype = next((m.attrib.get("values") for m in element.findall("member") if m.find("name").text == "sType"), None)
        if stype:
            found.append((name, stype))
    return sorted(found)


def known_extensions(root):
    """Device extensions whose commands and structures this build can see."""
    return sorted(e.attrib["name"] for e in root.findall("extensions/extension")
                  if "vulkan" in e.attrib.get("supported", "").split(",") and e.attrib.get("type") == "device"
                  and e.attrib.get("platform") != "provisional" and e.attrib.get("provisional") != "true")


def write_known(out, root):
    """What this build knows of devices: extensions, structures, Vulkan's version."""
    versions = [tuple(int(n) for n in f.attrib["number"].split(".")) for f in root.findall("feature") if for_vulkan(f)]
    header = [BANNER, "#ifndef RC_GENERATED_KNOWN_H\n#define RC_GENERATED_KNOWN_H\n\n#include <stdbool.h>\n"
              "#include <stddef.h>\n#include <vulkan/vulkan.h>\n\n"
              "/* The newest version of Vulkan in the registry. */\n"
              "#define KNOWN_API_VERSION VK_MAKE_API_VERSION(0, %d, %d, 0)\n\n" % max(versions),
              "bool known_extension(const char *name);\n\n"
              "/* Bytes of a structure that may stand in VkDeviceCreateInfo's chain; 0 if it isn't known. */\n"
              "size_t known_structure_size(VkStructureType type);\n\n#endif\n"]
    source = [BANNER, '#include "known.h"\n\n#include <string.h>\n\n/* Sorted. */\n'
              "static const char *const extensions[] = {\n"]
    source += ['    "%s",\n' % n for n in known_extensions(root)]
    source.append("};\n\nbool known_extension(const char *name)\n{\n    size_t low = 0, high = "
                  "sizeof(extensions) / sizeof(extensions[0]);\n    while (low < high) {\n"
                  "        size_t middle = low + (high - low) / 2;\n"
                  "        int order = strcmp(name, extensions[middle]);\n        if (order == 0)\n"
                  "            return true;\n        if (order < 0)\n            high = middle;\n        else\n"
                  "            low = middle + 1;\n    }\n    return false;\n}\n\n"
                  "size_t known_structure_size(VkStructureType type)\n{\n    switch ((int)type) {\n")
    source += ["    case %s:\n        return sizeof(%s);\n" % (stype, name) for name, stype in device_structures(root)]
    source.append("    default:\n        return 0;\n    }\n}\n")
    write(out, "known.h", header)
    write(out, "known.c", source)


def write(out, name, parts):
    with open(os.path.join(out, name), "w", encoding="utf-8") as file:
        file.write("".join(parts))


def main():
    parser = argparse.ArgumentParser(description="Makes dispatch code from the Khronos registry.")
    parser.add_argument("--registry", required=True, help="vk.xml that fits the headers in use")
    parser.add_argument("--out", required=True, help="folder to write into")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    root, commands, names = read_registry(arguments.registry)
    chosen = choose(commands, names)
    instance, device = tables(commands, names, chosen)
    write_dispatch(arguments.out, instance, device)
    write_hooks(arguments.out, chosen, commands, names)
    write_sync_commands(arguments.out, commands, names)
    write_known(arguments.out, root)
    write_enums(arguments.out, root)
    write_formats(arguments.out, root)


if __name__ == "__main__":
    main()
