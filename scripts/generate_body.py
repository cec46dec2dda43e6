#!/usr/bin/env python3
"""Makes the encoder and decoder of held-back render pass instances from the Khronos registry (vk.xml).

    generate_body.py --registry vk.xml --out FOLDER

Written into FOLDER:
    body_commands.[ch]   body_put_<Command>() for every command that may stand in a render pass instance, or begins
                         or ends one; see layer/sync/body.h

What is kept of a command is a record: the function to call, the parameters by value, and behind them, in the same
allocation, the arrays that they point to. What those point to in turn is copied into the body's arena. A structure
is "flat" if a plain copy of it is all; or else has a function fix_<Structure>(), which replaces the pointers of a plain
copy by copies of what they point to. What isn't understood (a pointer to something of no known length, pointers to
pointers, functions, unions with pointers) is never guessed: commands with it are declared and always refused, and so
are those that return a result.
"""
import argparse
import os
import re
import xml.etree.ElementTree as ElementTree

from generate import for_vulkan, is_in_headers, read_registry, write

BANNER = "/* Made by scripts/generate_body.py from the Khronos registry. Do not edit. */\n"

# They bound a render pass instance, so the registry has them outside.
BEGINS = {"vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", "vkCmdBeginRendering"}

# Pointers that are values: "pCheckpointMarker is an opaque application-provided value".
OPAQUE = {("vkCmdSetCheckpointNV", "pCheckpointMarker")}

# Data whose size only a template knows: the caller says it in a parameter more. Names without KHR.
TEMPLATE_DATA = {"vkCmdPushDescriptorSetWithTemplate": "pData",
                 "vkCmdPushDescriptorSetWithTemplate2": "pPushDescriptorSetWithTemplateInfo->pData"}
TEMPLATE_STRUCTURE = ("VkPushDescriptorSetWithTemplateInfo", "pData")

# Structures in which not every pointer is valid: a function of body.h sorts them out before any is followed.
SELECTS = {"VkWriteDescriptorSet": "body_select_array"}

# Parameters that are valid under a condition alone: "If depthClampMode is VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT,
# pDepthClampRange must be a valid pointer".
VALID_IF = {("vkCmdSetDepthClampRangeEXT", "pDepthClampRange"):
            "depthClampMode == VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT"}

NAME = r"[A-Za-z_]\w*"


class Field:
    """A parameter or a member."""

    def __init__(self, owner, element):
        text = {child.tag: child.tail or "" for child in element}
        self.name = element.find("name").text
        self.type = element.find("type").text
        self.stars = text["type"].count("*")
        self.is_array = "[" in text["name"]
        self.length = element.attrib.get("altlen", element.attrib.get("len", ""))
        self.stride = element.attrib.get("stride", "")
        self.may_be_null = (element.attrib.get("optional", "").split(",")[0] == "true"
                            or element.attrib.get("noautovalidity") == "true")
        self.is_value = self.stars == 0 or (owner, self.name) in OPAQUE or (owner, self.name) == TEMPLATE_STRUCTURE
        self.is_string = self.length == "null-terminated" and self.type == "char"
        self.valid_if = VALID_IF.get((owner, self.name))
        self.declaration = " ".join("".join(
            [element.text or ""] + [(c.text or "") + (c.tail or "") for c in element if c.tag != "comment"]).split())

    def count(self, prefix, names):
        """C for the number of elements, where members are found behind `prefix`; None if it isn't understood."""
        if self.is_string:
            return "strlen(%s%s) + 1" % (prefix, self.name)
        if not self.length:
            return "1" if self.type != "void" else None
        if not re.fullmatch(r"[\w\s()+*/-]+", self.length) or not set(re.findall(NAME, self.length)) <= names:
            return None
        expression = self.length if self.length.isidentifier() else "(%s)" % self.length
        return "(size_t)" + re.sub(NAME, lambda name: prefix + name.group(0), expression)

    def size(self, prefix, names):
        count = self.count(prefix, names)
        if self.type in ("void", "char"):
            return count
        return ("" if count == "1" else count + " * ") + "sizeof(*%s%s)" % (prefix, self.name)

    def is_missing(self, prefix, names):
        """C for: NULL where the spec wants a pointer."""
        count = self.count(prefix, names)
        never_empty = self.is_string or count == "1"
        return ("" if never_empty else count.replace("(size_t)", "", 1) + " && ") + "!%s%s" % (prefix, self.name)


def fields_of(owner, element, tag):
    return [Field(owner, child) for child in element.findall(tag) if for_vulkan(child)]


class Types:
    """The registry's structures, and which of them can be copied."""

    def __init__(self, root):
        self.categories, self.fields, self.aliases, self.stypes, self.extenders = {}, {}, {}, {}, {}
        self.known = {}
        shown = {t.attrib["name"] for block in root.findall("feature") + root.findall("extensions/extension")
                 if is_in_headers(block) for required in block.findall("require") if for_vulkan(required)
                 for t in required.findall("type")}
        for element in root.findall("types/type"):
            if not for_vulkan(element):
                continue
            name = element.attrib.get("name") or element.findtext("name") or element.findtext("proto/name")
            if "alias" in element.attrib:
                self.aliases[name] = element.attrib["alias"]
                continue
            self.categories[name] = element.attrib.get("category", "")
            if self.categories[name] not in ("struct", "union"):
                continue
            self.fields[name] = fields_of(name, element, "member")
            for member in element.findall("member"):
                if member.findtext("name") == "sType" and "values" in member.attrib:
                    self.stypes[name] = member.attrib["values"]
            for parent in element.attrib.get("structextends", "").split(","):
                if parent and name in shown:
                    self.extenders.setdefault(parent, []).append(name)

    def resolve(self, name):
        return self.aliases.get(name, name)

    def kind(self, name):
        """"flat", "deep", or "" if it can't be copied."""
        name = self.resolve(name)
        if name not in self.known:
            self.known[name] = self.find_kind(name)
        return self.known[name]

    def find_kind(self, name):
        category = self.categories.get(name, "")
        if category not in ("struct", "union"):
            scalar = category in ("enum", "bitmask", "handle", "basetype") or name in (
                "void", "char", "float", "double", "size_t", "int") or re.fullmatch(r"u?int\d+_t", name)
            return "flat" if scalar else ""
        kinds = {self.field_kind(f, {g.name for g in self.fields[name]}) for f in self.fields[name]}
        if "" in kinds or ("deep" in kinds and category == "union"):
            return ""
        return "deep" if "deep" in kinds else "flat"

    def field_kind(self, field, names):
        if field.name == "pNext":
            return "deep"
        if field.is_value:
            kind = "flat" if field.stars else self.kind(field.type)
            return "" if kind == "deep" and field.is_array else kind
        if field.stars > 1 or field.count("", names) is None or not self.kind(field.type):
            return ""
        return "deep"

    def is_deep(self, field):
        return self.kind(field.type) == "deep"


class Kept:
    """A command as it is kept."""

    def __init__(self, command, element, types):
        self.command = command
        self.short = command.short
        self.fields = fields_of(command.name, element, "param")[1:]
        self.names = {f.name for f in self.fields}
        self.template = TEMPLATE_DATA.get(command.name.removesuffix("KHR"))
        for field in self.fields:
            if field.name == self.template:
                self.names.add("dataSize")
                field.length, field.may_be_null = "dataSize", False
        # A result is wanted at the call, not at replay.
        self.is_encoded = command.result == "void" and all(types.field_kind(f, self.names) for f in self.fields)
        self.types = types

    @property
    def pointers(self):
        return [f for f in self.fields if not f.is_value and not f.is_array]

    @property
    def signature(self):
        declared = ["struct body *body", self.command.pfn + " next"] + [
            t + ("" if t.endswith("*") else " ") + n for t, n in self.command.params[1:]]
        return "bool body_put_%s(%s)" % (self.short, ", ".join(declared + ["size_t dataSize"] * bool(self.template)))

    def record(self):
        lines = ["struct body_command head;", "%s next;" % self.command.pfn]
        for field in self.fields:
            if not field.is_value and not field.is_array:
                const = "" if self.types.is_deep(field) else "const "
                lines.append("%s%s *%s;" % (const, field.type, field.name))
            elif field.is_array:
                lines.append(field.declaration.removeprefix("const ") + ";")
            else:
                lines.append(field.declaration + ";")
        return "struct kept_%s {\n%s};\n" % (self.short, indented(lines))

    def replay(self):
        arguments = ", ".join(["handle"] + ["kept->" + f.name for f in self.fields])
        return ("static void replay_%s(VkCommandBuffer handle, const struct body_command *command)\n{\n%s}\n" % (
            self.short, indented(["const struct kept_%s *kept = (const void *)command;" % self.short,
                                  "kept->next(%s);" % arguments])))

    def refusals(self):
        conditions = ["!" + f.name for f in self.fields if f.is_array]
        conditions += [f.is_missing("", self.names) for f in self.pointers if not f.may_be_null]
        if self.template:
            conditions.append("!dataSize")
        return conditions

    def put(self):
        if not self.is_encoded:
            unused = ["body", "next"] + [f.name for f in self.fields]
            return "%s\n{\n%s}\n" % (self.signature, indented(["(void)%s;" % n for n in unused] + ["return false;"]))
        lines = []
        for field in self.pointers:
            if field.valid_if:
                lines += ["if (!(%s))" % field.valid_if, "    %s = NULL;" % field.name]
        for condition in self.refusals():
            lines += ["if (%s)" % condition, "    return false;"]
        sizes = ["ROUND(sizeof(*kept))"]
        for field in self.pointers:
            size = field.size("", self.names)
            lines.append("const size_t bytes_%s = %s;" % (
                field.name, "%s ? %s : 0" % (field.name, size) if field.may_be_null else size))
            sizes.append("ROUND(bytes_%s)" % field.name)
        is_deep = any(self.types.is_deep(f) for f in self.pointers)
        total = " + ".join(sizes) if self.pointers else "sizeof(*kept)"
        lines.append("struct kept_%s *kept = %s;" % (
            self.short, "body_alloc(body, %s)" % total if is_deep
            else "body_add(body, %s, replay_%s)" % (total, self.short)))
        lines += ["if (!kept)", "    return false;"]
        if self.pointers:
            lines.append("char *place = (char *)kept + ROUND(sizeof(*kept));")
        lines.append("kept->next = next;")
        strides = {f.stride: f for f in self.pointers if f.stride}
        for field in self.fields:
            if field.is_array:
                lines.append("memcpy(kept->%s, %s, sizeof(kept->%s));" % (field.name, field.name, field.name))
            elif field.is_value:
                lines.append("kept->%s = %s;" % (field.name, "sizeof(*%s)" % strides[field.name].name
                                                 if field.name in strides else field.name))
            elif field.stride:
                lines.append("kept->%s = tail_strided(&place, %s, bytes_%s, sizeof(*%s), %s);" % (
                    (field.name,) * 4 + (field.stride,)))
            else:
                lines.append("kept->%s = tail(&place, %s, bytes_%s);" % ((field.name,) * 3))
        for field in self.pointers:
            if self.types.is_deep(field):
                lines += ["if (!fix_all_%s(body, kept->%s, %s))" % (
                    self.types.resolve(field.type), field.name, field.count("", self.names)), "    return false;"]
        if self.template and "->" in self.template:
            lines += ["bool failed = !kept->%s;" % self.template,
                      "kept->%s = body_copy(body, kept->%s, dataSize, &failed);" % (self.template, self.template),
                      "if (failed)", "    return false;"]
        if is_deep:
            lines.append("body_link(body, &kept->head, replay_%s);" % self.short)
        lines.append("return true;")
        return "%s\n{\n%s}\n" % (self.signature, indented(lines))


def indented(lines):
    return "".join("    %s\n" % line for line in lines)


def reached(types, commands):
    """Deep structures that the commands point to, parts before wholes, and those that may stand in their chains."""
    order, chained = [], set()

    def visit(name):
        name = types.resolve(name)
        if types.kind(name) != "deep" or name in order:
            return
        for field in types.fields[name]:
            visit(field.type)
        order.append(name)

    for command in commands:
        for field in command.fields:
            visit(field.type)
    for name in order:  # grows
        for extender in types.extenders.get(name, []):
            if types.kind(extender) and extender in types.stypes:
                chained.add(extender)
                visit(extender)
    return order, sorted(chained)


def fix_function(types, name):
    names = {f.name for f in types.fields[name]}
    lines = ["bool failed = false;"]
    if "pNext" in names:
        lines.append("to->pNext = copy_chain(body, to->pNext, &failed);")
    if name in SELECTS:
        lines.append("failed |= !%s(to);" % SELECTS[name])
    for field in types.fields[name]:
        if field.name == "pNext":
            continue
        place = "to->" + field.name
        if field.is_value:
            if not field.stars and types.is_deep(field):
                lines.append("failed |= !fix_%s(body, &%s);" % (types.resolve(field.type), place))
            continue
        if not field.may_be_null:
            lines.append("failed |= %s;" % field.is_missing("to->", names))
        if types.is_deep(field):
            lines.append("%s = copy_%s(body, %s, %s, &failed);" % (
                place, types.resolve(field.type), place, field.count("to->", names)))
        else:
            size = field.size("to->", names)
            if field.is_string:
                size = "%s ? %s : 0" % (place, size)
            lines.append("%s = body_copy(body, %s, %s, &failed);" % (place, place, size))
    return "static bool fix_%s(struct body *body, %s *to)\n{\n%s}\n" % (
        name, name, indented(lines + ["return !failed;"]))


FIX_ALL = """
static bool fix_all_{0}(struct body *body, {0} *to, size_t count)
{{
    for (size_t i = 0; to && i < count; i++)
        if (!fix_{0}(body, &to[i]))
            return false;
    return true;
}}
"""

COPY = """
static const {0} *copy_{0}(struct body *body, const {0} *from, size_t count, bool *failed)
{{
    {0} *to = ({0} *)body_copy(body, from, count * sizeof(*from), failed);
    if (!fix_all_{0}(body, to, count))
        *failed = true;
    return to;
}}
"""

HELPERS = """
/* What lies behind a record is aligned to this; no structure of Vulkan wants more. An application's arrays fit in its
 * memory, so sums of their sizes don't wrap around. */
#define ROUND(size) (((size) + 7) & ~(size_t)7)

/* The next array behind a record; NULL for none. */
static inline void *tail(char **place, const void *from, size_t size)
{
    char *to = *place;
    if (!size)
        return NULL;
    memcpy(to, from, size);
    *place = to + ROUND(size);
    return to;
}

/* The same from elements that lie `stride` apart, which now lie side by side: what is between them isn't ours to
 * read. */
static inline void *tail_strided(char **place, const void *from, size_t size, size_t element, size_t stride)
{
    char *to = *place;
    for (size_t i = 0; i < size / element; i++)
        memcpy(to + i * element, (const char *)from + i * stride, element);
    *place = to + ROUND(size);
    return size ? to : NULL;
}
"""

DECLARATIONS = """
/* A copy of a chain. *failed is set if a structure isn't known, and on out of memory. */
static void *copy_chain(struct body *body, const void *chain, bool *failed);

/* fix_...: `to` is a plain copy; its pointers become copies of what they point to. False if that can't be done. */
"""


def chain_function(types, chained):
    lines = ["const VkBaseInStructure *from = chain;", "void *to = NULL;", "if (!from)", "    return NULL;",
             "switch ((int)from->sType) {"]
    for name in chained:
        lines += ["case %s:" % types.stypes[name],
                  "    to = (void *)body_copy(body, from, sizeof(%s), failed);" % name,
                  "    *failed |= to && !fix_%s(body, to);" % name, "    break;"]
    lines += ["default:", "    *failed = true;", "}", "return to;"]
    return "static void *copy_chain(struct body *body, const void *chain, bool *failed)\n{\n%s}\n" % indented(lines)


def pointed_at_by_members(types, order):
    """Structures that members, not commands, point to."""
    return {types.resolve(f.type) for name in order for f in types.fields[name]
            if not f.is_value and f.name != "pNext" and types.is_deep(f)}


def write_source(out, types, commands):
    encoded = [c for c in commands if c.is_encoded]
    order, chained = reached(types, encoded)
    members = pointed_at_by_members(types, order)
    arrays = members | {types.resolve(f.type) for c in encoded for f in c.pointers if types.is_deep(f)}
    source = [BANNER, '#include "body_commands.h"\n\n#include <string.h>\n', HELPERS,
              DECLARATIONS]
    for name in order:
        source += ["\n", fix_function(types, name)]
        if name in arrays:
            source.append(FIX_ALL.format(name))
        if name in members:
            source.append(COPY.format(name))
    source += ["\n", chain_function(types, chained)]
    for command in commands:
        if command.is_encoded:
            source += ["\n", command.record(), "\n", command.replay()]
        source += ["\n", command.put()]
    write(out, "body_commands.c", source)


HEADER = """#ifndef RC_GENERATED_BODY_COMMANDS_H
#define RC_GENERATED_BODY_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan.h>

#include "sync/body.h"

/* A command at the end of the body: `next` is called at replay, with copies of all that the parameters point to.
 * False, and nothing is added, if it can't be encoded: a structure in a chain that this build doesn't know, NULL where
 * the spec wants a pointer, or out of memory. `dataSize` is what the template reads of pData; 0 if it isn't known,
 * which can't be encoded.
 * Arrays with a stride arrive at `next` with their elements side by side, and the stride that says so.
 * Never encoded: {0}. */
"""


def write_header(out, commands):
    refused = [c.command.name for c in commands if not c.is_encoded]
    header = [BANNER, HEADER.format(", ".join(refused) or "none")]
    header += [c.signature + ";\n" for c in commands]
    header.append("\n#endif\n")
    write(out, "body_commands.h", header)


def read_kept(path):
    """(types, [Kept]) of a registry, sorted by name."""
    root, commands, names = read_registry(path)
    types = Types(root)
    elements, aliases = {}, {}
    for element in root.findall("commands/command"):
        if for_vulkan(element):
            elements[element.attrib.get("name") or element.findtext("proto/name")] = element
            if "alias" in element.attrib:
                aliases[element.attrib["name"]] = element.attrib["alias"]
    kept = []
    for name, command in sorted(commands.items()):
        if names[name] == name and command.recorded and (
                command.render_pass in ("inside", "both") or name in BEGINS):
            kept.append(Kept(command, elements[aliases.get(name, name)], types))
    return types, kept


def main():
    parser = argparse.ArgumentParser(description="Makes the encoder of held-back render pass instances.")
    parser.add_argument("--registry", required=True, help="vk.xml that fits the headers in use")
    parser.add_argument("--out", required=True, help="folder to write into")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    types, commands = read_kept(arguments.registry)
    write_header(arguments.out, commands)
    write_source(arguments.out, types, commands)


if __name__ == "__main__":
    main()
