#!/usr/bin/env python3
"""Makes test_body's round trips: generate_body_cases.py <vk.xml> <body_cases.c>

For each encoded command a mock that says all it was called with, and a case that makes random arguments.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import generate_body  # noqa: E402

# A pointer that is valid if a parameter has the first of these values.
DECIDING = {"pDepthClampRange": ("depthClampMode", "VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT",
                                 "VK_DEPTH_CLAMP_MODE_VIEWPORT_RANGE_EXT")}
SELECTED = {"pImageInfo": "is_image_type", "pBufferInfo": "is_buffer_type", "pTexelBufferView": "is_texel_type"}


def is_template(owner, field):
    return field.length == "dataSize" and not owner or (owner, field.name) == generate_body.TEMPLATE_STRUCTURE


def element_size(field):
    return "1" if field.type in ("void", "char") else "sizeof(%s)" % field.type


def count_of(owner, field, prefix, names):
    if is_template(owner, field):
        return "TEMPLATE_SIZE"
    return field.count(prefix, names)


def is_structure(types, field):
    return types.categories.get(types.resolve(field.type)) == "struct"


def make_lengths(fields):
    """Lengths come first: several arrays may share one."""
    lines = []
    names = {f.name: f for f in fields}
    for field in fields:
        pointers = [p for p in fields if p.length and field.name in re.findall(r"[A-Za-z_]\w*", p.length)]
        if not pointers or field.name not in names:
            continue
        if any(p.length != field.name for p in pointers):
            value = "1 << random_below(&maker->random, 7)"
        else:
            value = "random_below(&maker->random, %d)" % (40 if pointers[0].type == "void" else 4)
        lines.append("to->%s = (%s)(%s);" % (field.name, field.type, value))
    return lines


def make_pointer(types, owner, field, names):
    count = count_of(owner, field, "to->", names)
    if field.is_string:
        return ["to->%s = maker_string(maker);" % field.name]
    if field.stride:
        return ["to->%s = maker_array(maker, to->%s ? (to->%s - 1) * to->%s + sizeof(%s) : 0, 1, %s);" % (
            field.name, field.length, field.length, field.stride, field.type, str(field.may_be_null).lower())]
    made = ["to->%s = maker_array(maker, %s, %s, %s);" % (
        field.name, count, element_size(field), str(field.may_be_null).lower())]
    if types.kind(field.type) == "deep":
        resolved = types.resolve(field.type)
        made = ["%s *made_%s = maker_array(maker, %s, %s, %s);" % (
            field.type, field.name, count, element_size(field), str(field.may_be_null).lower()),
            "for (size_t i = 0; made_%s && i < %s; i++)" % (field.name, count),
            "    make_%s(maker, &made_%s[i]);" % (resolved, field.name),
            "to->%s = made_%s;" % (field.name, field.name)]
    if field.valid_if:
        deciding, valid, other = DECIDING[field.name]
        return ["to->%s = maker_one_in(maker, 2) ? %s : %s;" % (deciding, valid, other)] + made + [
            "if (to->%s == %s)" % (deciding, other), "    to->%s = BAD_POINTER;" % field.name]
    if owner == "VkWriteDescriptorSet":
        return ["to->%s = BAD_POINTER;" % field.name,
                "if (%s(to->descriptorType))" % SELECTED[field.name],
                "    to->%s = maker_array(maker, %s, %s, false);" % (field.name, count, element_size(field))]
    return made


def make_fields(types, owner, fields):
    names = {f.name for f in fields}
    lines = make_lengths(fields)
    for stride in {f.stride: f for f in fields if f.stride}.values():
        lines += ["to->%s = (uint32_t)(sizeof(%s) + 4 * random_below(&maker->random, 3));" % (
                      stride.stride, stride.type),
                  "if (maker_one_in(maker, 8))", "    to->%s = 0;" % stride.stride]
    for field in fields:
        if field.name == "sType":
            lines.append("to->sType = %s;" % types.stypes[owner])
        elif field.name == "pNext":
            lines.append("to->pNext = make_chain_%s(maker);" % owner)
        elif field.name == "descriptorType" and owner == "VkWriteDescriptorSet":
            lines += ["to->descriptorType = maker_descriptor_type(maker);",
                      "to->descriptorCount += !to->descriptorCount;"]
        elif field.is_value and not field.stars and types.kind(field.type) == "deep":
            lines.append("make_%s(maker, &to->%s);" % (types.resolve(field.type), field.name))
        elif (not field.is_value or is_template(owner, field)) and not field.is_array:
            lines += make_pointer(types, owner, field, names)
    return lines


def say_fields(types, owner, fields, prefix):
    names = {f.name for f in fields}
    strides = {f.stride for f in fields if f.stride}
    lines = []
    for field in fields:
        place, quoted = prefix + field.name, '"%s"' % field.name
        if field.name in strides:
            continue
        if field.name == "pNext":
            lines.append("say_chain(%s);" % place)
        elif field.is_array and not prefix:
            lines.append("say_bytes(%s, %s, %s * sizeof(*%s));" % (
                quoted, place, re.search(r"\[(\w+)\]", field.declaration).group(1), place))
        elif field.is_value and not is_template(owner, field):
            if is_structure(types, field) and not field.stars and not field.is_array:
                lines += ["say(%s);" % quoted, "say_%s(&%s);" % (types.resolve(field.type), place)]
            else:
                lines.append("say_bytes(%s, &%s, sizeof(%s));" % (quoted, place, place))
        else:
            condition = "say_array(%s, %s, %s)" % (quoted, place, count_of(owner, field, prefix, names))
            if field.valid_if:
                condition = "%s == %s && %s" % (*DECIDING[field.name][:2], condition)
            if owner == "VkWriteDescriptorSet":
                condition = "%s(%sdescriptorType) && %s" % (SELECTED[field.name], prefix, condition)
            count = count_of(owner, field, prefix, names)
            if field.stride:
                body = ["    for (size_t i = 0; i < %s; i++)" % count,
                        '        say_bytes("", (const char *)%s + i * %s, sizeof(*%s));' % (
                            place, prefix + field.stride, place)]
            elif is_structure(types, field):
                body = ["    for (size_t i = 0; i < %s; i++)" % count,
                        "        say_%s(&%s[i]);" % (types.resolve(field.type), place)]
            else:
                body = ['    say_bytes("", %s, %s * %s);' % (place, count, element_size(field))]
            lines += ["if (%s)" % condition] + body
    return lines


def said_structures(types, commands):
    """Every structure that is said, flat ones too."""
    found = []

    def visit(name):
        name = types.resolve(name)
        if types.categories.get(name) != "struct" or name in found:
            return
        found.append(name)
        for field in types.fields[name]:
            visit(field.type)
        for extender in types.extenders.get(name, []):
            if types.kind(extender):
                visit(extender)

    for command in commands:
        for field in command.fields:
            if not field.stride:
                visit(field.type)
    return found


def function(head, lines):
    return "\n%s\n{\n%s}\n" % (head, generate_body.indented(lines))


def chain_makers(types, made):
    """(C text, [names of body_chains])"""
    text, chains = [], []
    for name in made:
        lines = ["void *chain = NULL;"]
        for extender in types.extenders.get(name, []):
            if not types.kind(extender):
                continue
            lines += ["if (maker_one_in(maker, 3)) {",
                      "    %s *link = maker_alloc(maker, sizeof(*link));" % extender,
                      "    make_%s(maker, link);" % extender,
                      "    chain = maker_join(link, chain);",
                      "    body_chains[%d].made++;" % len(chains), "}"]
            chains.append("%s in %s" % (extender, name))
        if any(f.name == "pNext" for f in types.fields[name]):
            lines.append("return maker_end_chain(maker, chain);")
            text.append(function("static void *make_chain_%s(struct maker *maker)" % name, lines))
    return "".join(text), chains


def case(types, command):
    owner = ""
    arguments = ", ".join("to->" + f.name for f in command.fields)
    parameters = "VkCommandBuffer commandBuffer" + "".join(", " + f.declaration for f in command.fields)
    mock = function("static VKAPI_ATTR void VKAPI_CALL mock_%s(%s)" % (command.short, parameters),
                    ['say("\\n%s");' % command.short,
                     'say_bytes("", &commandBuffer, sizeof(commandBuffer));']
                    + say_fields(types, owner, command.fields, ""))
    members = [f.declaration.removeprefix("const ") if f.is_array else f.declaration for f in command.fields]
    lines = []
    if members:
        lines = ["struct {"] + ["    %s;" % m for m in members] + ["} arguments, *to = &arguments;",
                                                                    "random_fill(&maker->random, to, sizeof(*to));"]
    lines += make_fields(types, owner, command.fields)
    size = ""
    if command.template:
        lines += ["size_t data_size = TEMPLATE_SIZE;", "if (maker->breaks && maker_one_in(maker, 8)) {",
                  "    data_size = 0;", "    maker->broken = true;", "}"]
        size = ", data_size"
    elif not members:
        lines.append("(void)maker;")
    separate = ", " if members else ""
    lines += ["if (!maker->broken)",
              "    mock_%s(BUFFER_HANDLE%s%s);" % (command.short, separate, arguments),
              "return body_put_%s(body, mock_%s%s%s%s);" % (command.short, command.short, separate, arguments, size)]
    return mock + function("static bool put_%s(struct maker *maker, struct body *body)" % command.short, lines)


def main():
    registry, out = sys.argv[1:]
    types, commands = generate_body.read_kept(registry)
    commands = [c for c in commands if c.is_encoded]
    said = said_structures(types, commands)
    made = [n for n in said if types.kind(n) == "deep"]
    source = ["/* Made by tests/unit/generate_body_cases.py. Do not edit. */\n"
              '#include "body_case.h"\n\n#include <string.h>\n\n#include "body_commands.h"\n\n']
    source += ["static void make_%s(struct maker *maker, %s *to);\n" % (n, n) for n in made]
    source += ["static void say_%s(const %s *from);\n" % (n, n) for n in said]
    source.append("static void say_chain(const void *chain);\n\n")
    chain_text, chains = chain_makers(types, made)
    source += ["struct body_chain body_chains[] = {\n"] + ['    {"%s", 0},\n' % c for c in chains] + ["};\n"]
    source.append("const size_t body_chain_count = sizeof(body_chains) / sizeof(body_chains[0]);\n")
    source.append(chain_text)
    for name in made:
        source.append(function("static void make_%s(struct maker *maker, %s *to)" % (name, name),
                               make_fields(types, name, types.fields[name])))
    for name in said:
        source.append(function("static void say_%s(const %s *from)" % (name, name),
                               say_fields(types, name, types.fields[name], "from->")))
    lines = ["const VkBaseInStructure *from = chain;", "if (!from)", "    return;", "switch ((int)from->sType) {"]
    for name in sorted({e for n in made for e in types.extenders.get(n, []) if types.kind(e)}):
        lines += ["case %s:" % types.stypes[name], '    say("%s");' % name, "    say_%s(chain);" % name, "    break;"]
    lines += ["default:", '    say("?");', "}"]
    source.append(function("static void say_chain(const void *chain)", lines))
    source += [case(types, c) for c in commands]
    source.append("\nconst struct body_case body_cases[] = {\n")
    source += ['    {"%s", put_%s},\n' % (c.short, c.short) for c in commands]
    source.append("};\nconst size_t body_case_count = sizeof(body_cases) / sizeof(body_cases[0]);\n")
    with open(out, "w", encoding="utf-8") as file:
        file.write("".join(source))


if __name__ == "__main__":
    main()
