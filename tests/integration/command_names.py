#!/usr/bin/env python3
"""Writes a C array with the name of every command in a Khronos registry: command_names.py <vk.xml> <output>."""
import sys
import xml.etree.ElementTree as ET

names = set()
for command in ET.parse(sys.argv[1]).iterfind("commands/command"):
    name = command.get("name") or command.findtext("proto/name")
    names.add(name)
with open(sys.argv[2], "w") as out:
    out.write("/* Made by command_names.py from the Khronos registry. Do not edit. */\n")
    out.write("static const char *const command_names[] = {\n")
    out.writelines('    "%s",\n' % name for name in sorted(names))
    out.write("};\n#define COMMAND_NAMES %d\n" % len(names))
