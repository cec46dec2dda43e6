#!/usr/bin/env python3
"""The ways of switching the layer on and off, installed under a prefix, in programs that are linked against the loader."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LINKED, CMAKE, BUILD, DRIVER = sys.argv[1:5]
del sys.argv[1:5]
LAYER = "VK_LAYER_ROBUST_cache"


class Enabling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        prefix = pathlib.Path(cls.folder.name, "prefix")
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        cls.environment = {key: value for key, value in os.environ.items()
                           if not key.startswith(("VK_", "XDG_", "ENABLE_", "DISABLE_"))}
        cls.environment.update(XDG_DATA_HOME=str(prefix / "share"), XDG_CACHE_HOME=cls.folder.name,
                               VK_DRIVER_FILES=DRIVER, VK_ICD_FILENAMES=DRIVER,
                               VK_LOADER_LAYERS_DISABLE="*device_select*")

    def run_program(self, command, settings):
        return subprocess.run(command, env={**self.environment, **settings}, capture_output=True, text=True,
                              timeout=60, check=False)

    def count(self, *arguments, **settings):
        done = self.run_program([LINKED, *arguments], settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout)

    def test_off_by_itself(self):
        self.assertEqual(self.count(), 0)

    def test_on_by_the_loaders_variable(self):
        self.assertEqual(self.count(VK_INSTANCE_LAYERS=LAYER), 1)

    def test_on_by_its_own_variable(self):
        self.assertEqual(self.count(ENABLE_ROBUST_CACHE="1"), 1)

    def test_off_by_its_own_variable(self):
        self.assertEqual(self.count(ENABLE_ROBUST_CACHE="1", DISABLE_ROBUST_CACHE="1"), 0)

    def test_on_by_name_in_the_code(self):
        self.assertEqual(self.count(LAYER), 1)

    def test_once_by_all_ways_together(self):
        self.assertEqual(self.count(LAYER, VK_INSTANCE_LAYERS=LAYER, ENABLE_ROBUST_CACHE="1"), 1)

    @unittest.skipUnless(shutil.which("vulkaninfo"), "no vulkaninfo here")
    @unittest.skipIf(os.environ.get("FIELD_SANITIZE"), "a program without the sanitizer can't load the layer")
    def test_vulkaninfo_sees_the_same_device(self):
        """It enables every extension that it is shown and prints all that can be asked for. With no layer on, both of
        the layer's manifests are listed all the same."""
        without = self.vulkaninfo({})
        self.assertEqual(self.vulkaninfo({"VK_INSTANCE_LAYERS": LAYER}), without)
        self.assertEqual(self.vulkaninfo({"ENABLE_ROBUST_CACHE": "1"}), without)

    def vulkaninfo(self, settings):
        done = self.run_program(["vulkaninfo"], settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        # how much memory is in use changes by itself
        return [line for line in done.stdout.splitlines() if not line.strip().startswith(("usage", "budget"))]


if __name__ == "__main__":
    unittest.main()
