#!/usr/bin/env python3
"""Looks up in a registry what layer/sync/newer.c says of extensions newer than the build: test_newer_list.py <vk.xml>

Debian 12's registry has few of them, that of Debian 13 all: see scripts/debian13.sh."""
import os
import re
import sys
import unittest
from xml.etree import ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import generate  # noqa: E402

REGISTRY = sys.argv.pop(1)
# Enumerations whose new values would be news to the barrier half. Layouts aren't: an unknown one makes the image unknown.
GUARDED = {"VkAccessFlagBits", "VkAccessFlagBits2", "VkPipelineStageFlagBits", "VkPipelineStageFlagBits2",
           "VkDependencyFlagBits", "VkDescriptorType"}
# Commands on queues that do nothing to images.
SEEN = {"vkQueueNotifyOutOfBandNV"}


def read_list():
    """({extension: {numbers}}, version, its structure)"""
    with open(os.path.join(ROOT, "layer", "sync", "newer.c"), encoding="utf-8") as file:
        text = file.read()
    table = {name: {int(n) for n in numbers.split(",")} - {0}
             for name, numbers in re.findall(r'\{"(VK_\w+)", \{([\d, ]+)\}\}', text)}
    version = re.search(r"HARMLESS_VERSION VK_MAKE_API_VERSION\(0, (\d+), (\d+), 0\)", text)
    structure = re.search(r"HARMLESS_VERSION_STRUCTURE (\d+)", text)
    return table, tuple(int(n) for n in version.groups()), int(structure.group(1))


def structure_numbers(root):
    """{structure type: number}, of extensions and core versions."""
    numbers = {}
    for enum in root.iterfind("enums[@name='VkStructureType']/enum"):
        if "value" in enum.attrib:
            numbers[enum.attrib["name"]] = int(enum.attrib["value"])
    for block in root.findall("feature") + root.findall("extensions/extension"):
        for enum in block.iterfind("require/enum[@extends='VkStructureType']"):
            number = enum.attrib.get("extnumber", block.attrib.get("number"))
            if "value" in enum.attrib:
                numbers[enum.attrib["name"]] = int(enum.attrib["value"])
            elif "offset" in enum.attrib:
                numbers[enum.attrib["name"]] = 1000000000 + (int(number) - 1) * 1000 + int(enum.attrib["offset"])
    return numbers


def structures_of_devices(root):
    """{name, aliases too: number} of what may stand in VkDeviceCreateInfo's chain."""
    numbers, found, aliases = structure_numbers(root), {}, []
    for element in root.iterfind("types/type[@category='struct']"):
        if "alias" in element.attrib:
            aliases.append((element.attrib["name"], element.attrib["alias"]))
        elif "VkDeviceCreateInfo" in element.attrib.get("structextends", "").split(","):
            types = [m.attrib["values"] for m in element.findall("member") if "values" in m.attrib]
            found[element.attrib["name"]] = numbers.get(types[0]) if types else None
    found.update({name: found[target] for name, target in aliases if target in found})
    return found


class NewerListTest(unittest.TestCase):
    def setUp(self):
        self.table, self.version, self.structure = read_list()
        self.root = ElementTree.parse(REGISTRY).getroot()
        _, self.commands, self.names = generate.read_registry(REGISTRY)
        self.blocks = {e.attrib["name"]: e for e in self.root.iterfind("extensions/extension")
                       if e.attrib["name"] in self.table}

    def looked_up(self):
        """Listed extensions that this registry has, and what the listed version consists of."""
        versions = [f for f in self.root.findall("feature") if generate.for_vulkan(f)
                    and tuple(int(n) for n in f.attrib["number"].split(".")) == self.version]
        return list(self.blocks.values()) + versions

    def test_read(self):
        self.assertGreater(len(self.table), 20)
        self.assertEqual(sorted(self.table), list(self.table))

    def test_numbers_are_of_their_extensions(self):
        """Also without the extension at hand: structure types count from the extension's number on."""
        for name, numbers in self.table.items():
            for number in numbers:
                self.assertTrue(1000000000 <= number < 1001000000 and number % 1000 < 10, name)
        of_devices = structures_of_devices(self.root)
        for name, block in self.blocks.items():
            brought = {of_devices[t.attrib["name"]] for t in block.iterfind("require/type")
                       if t.attrib["name"] in of_devices}
            self.assertEqual(self.table[name], brought, name)
        name = "VkPhysicalDeviceVulkan%d%dFeatures" % self.version
        if name in of_devices:
            self.assertEqual(of_devices[name], self.structure)

    def test_nothing_acts_unseen(self):
        for block in self.looked_up():
            for required in block.iterfind("require/command"):
                name = required.attrib["name"]
                if self.names[name] in generate.HOOKS or name in SEEN:
                    continue
                self.assertNotEqual(self.commands[name].params[0][0], "VkQueue", name)
                self.assertFalse(self.commands[name].flushes(), name)

    def test_no_new_stage_or_access(self):
        for block in self.blocks.values():
            for enum in block.iterfind("require/enum"):
                if enum.attrib.get("extends") in GUARDED and "alias" not in enum.attrib:
                    self.fail("%s brings %s" % (block.attrib["name"], enum.attrib["name"]))


if __name__ == "__main__":
    unittest.main()
