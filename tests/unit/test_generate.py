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

    def test_command_of_two_extensions(self):
        """In either's place, by the registry's age; on Vulkan 1.3 the second alone is enabled."""
        self.assertRegex(generate(REGISTRY)["hooks.c"],
                         r'extensions_CmdWriteBufferMarker2AMD\[\] = \{[^}]*"VK_AMD_buffer_marker"')

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

    def test_every_format_has_aspects(self):
        texts = generate(REGISTRY)
        groups = re.findall(r"((?:    case VK_FORMAT_\w+:\n)+)        return ([^;]+);", texts["formats.c"])
        aspects = {f: a.replace("VK_IMAGE_ASPECT_", "") for cases, a in groups for f in re.findall(r"VK_\w+", cases)}
        with_depth = {f: a for f, a in aspects.items() if a != "COLOR_BIT"}
        self.assertEqual(with_depth, {
            "VK_FORMAT_D16_UNORM": "DEPTH_BIT",
            "VK_FORMAT_X8_D24_UNORM_PACK32": "DEPTH_BIT",
            "VK_FORMAT_D32_SFLOAT": "DEPTH_BIT",
            "VK_FORMAT_S8_UINT": "STENCIL_BIT",
            "VK_FORMAT_D16_UNORM_S8_UINT": "DEPTH_BIT | STENCIL_BIT",
            "VK_FORMAT_D24_UNORM_S8_UINT": "DEPTH_BIT | STENCIL_BIT",
            "VK_FORMAT_D32_SFLOAT_S8_UINT": "DEPTH_BIT | STENCIL_BIT",
        })
        with open(REGISTRY, encoding="utf-8") as file:
            core = re.search(r'<enums name="VkFormat".*?</enums>', file.read(), re.DOTALL).group(0)
        for name in re.findall(r'name="(VK_FORMAT_\w+)"', core):
            if name != "VK_FORMAT_UNDEFINED":
                self.assertIn(name, aspects)
        self.assertEqual(aspects["VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM"], "COLOR_BIT")


if __name__ == "__main__":
    unittest.main()
