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


if __name__ == "__main__":
    unittest.main()
