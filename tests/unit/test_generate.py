#!/usr/bin/env python3
"""Tests scripts/generate.py on the installed registry: test_generate.py <vk.xml>"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
GENERATOR = os.path.join(HERE, "..", "..", "scripts", "generate.py")
REGISTRY = sys.argv.pop(1)


def generate(registry):
    """{file name: text}"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, GENERATOR, "--registry", registry, "--out", folder], check=True)
        texts = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts[name] = file.read()
        return texts


class GenerateTest(unittest.TestCase):
    def test_core_versions_under_vulkanbase(self):
        with open(REGISTRY, encoding="utf-8") as file:
            text, count = re.subn(r'<feature api="vulkan(,vulkansc)?"', '<feature api="vulkanbase"', file.read())
        self.assertGreater(count, 0)
        with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as newer:
            newer.write(text)
            newer.flush()
            self.assertEqual(generate(newer.name), generate(REGISTRY))

    def test_names_are_sorted_as_the_search_wants_them(self):
        names = re.findall(r'^    \{"(vk\w+)"', generate(REGISTRY)["hooks.c"], re.MULTILINE)
        self.assertGreater(len(names), 20)
        self.assertEqual(names, sorted(set(names)))

    def test_host_image_copy_is_hooked_under_both_names(self):
        hooks = generate(REGISTRY)["hooks.c"]
        for name in ("TransitionImageLayout", "CopyMemoryToImage", "CopyImageToMemory", "CopyImageToImage"):
            for suffix in ("", "EXT"):
                self.assertIn('{"vk%s%s", (PFN_vkVoidFunction)entry_' % (name, suffix), hooks)
                self.assertIn("hook_%sEXT(self, self->next.%s%s," % (name, name, suffix), hooks)

    def test_hooked_name_becomes_an_alias(self):
        """As names with EXT do when an extension is promoted."""
        with open(REGISTRY, encoding="utf-8") as file:
            text = file.read()
        old, new = "vkReleaseSwapchainImagesEXT", "vkReleaseSwapchainImagesNEW"
        text = text.replace("<name>%s</name>" % old, "<name>%s</name>" % new)
        text = text.replace("</commands>", '<command name="%s" alias="%s"/></commands>' % (old, new), 1)
        text, count = re.subn(r'<command name="%s"\s*/>' % old,
                              '<command name="%s"/><command name="%s"/>' % (old, new), text)
        self.assertGreater(count, 0)
        with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as newer:
            newer.write(text)
            newer.flush()
            hooks = generate(newer.name)["hooks.c"]
        for name in (old, new):
            self.assertIn("hook_ReleaseSwapchainImagesEXT(self, self->next.%s," % name[2:], hooks)


if __name__ == "__main__":
    unittest.main()
