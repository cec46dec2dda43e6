#!/usr/bin/env python3
"""Unmodified programs under the layer, each run a process of its own, on RADV's null winsys: what a user would see."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, LAYER, SCRIPTS = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
WITH_DRIVER = os.path.join(SCRIPTS, "with-driver.sh")


@unittest.skipUnless(glob.glob("/usr/share/vulkan/icd.d/radeon_icd*.json"), "no RADV here")
class UnderTheLayer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.report = os.path.join(self.folder, "report")
        self.env = dict(os.environ, MESA_SHADER_CACHE_DISABLE="true", ASAN_OPTIONS="detect_leaks=0",
                        VK_ROBUST_CACHE_LOAD_TIMEOUT="60000", VK_ROBUST_CACHE_DIR=os.path.join(self.folder, "store"),
                        VK_ROBUST_CACHE_REPORT_FILE=self.report)

    def command(self, *options, layer=True, program="vkpipes"):
        return [WITH_DRIVER, "radv", *(["--layer", LAYER] if layer else []), os.path.join(PROGRAMS, program), *options]

    def vkpipes(self, *options, **which):
        done = subprocess.run(self.command(*options, **which), env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def events(self, name):
        if not os.path.exists(self.report):
            return []
        with open(self.report, encoding="utf-8") as file:
            return [event for event in map(json.loads, file) if event["event"] == name]

    def store_file(self):
        files = glob.glob(os.path.join(self.folder, "store", "v1", "*", "*.vkcache"))
        self.assertEqual(len(files), 1)
        return files[0]

    def stored(self, count):
        """Which of the first `count` compute pipelines the store file holds, asked from the driver itself."""
        hits = self.vkpipes("--compute", str(count), "--feedback", "--cold-blob", self.store_file(), layer=False)
        return {number for number, hit in enumerate(hits["compute_hits"]) if hit == "1"}

    def test_the_second_start_is_warm(self):
        options = ("--compute", "6", "--graphics", "3", "--feedback")
        self.assertEqual(self.vkpipes(*options)["hits"], 0)
        self.assertEqual(self.vkpipes(*options)["hits"], 9)
        self.assertEqual(len(self.events("save")), 1)

    def test_a_program_linked_to_the_loader_works_too(self):
        # its global scope has the loader's functions: the layer must not take them for its own
        options = ("--compute", "2", "--feedback")
        self.assertEqual(self.vkpipes(*options, program="vkpipes_linked")["hits"], 0)
        self.assertEqual(self.vkpipes(*options, program="vkpipes_linked")["hits"], 2)

    def test_later_saves_keep_what_another_process_saved(self):
        self.vkpipes("--compute", "2")
        with subprocess.Popen(self.command("--first", "20", "--compute", "40", "--pace-ms", "100"), env=self.env,
                              stdout=subprocess.DEVNULL) as long_one:
            loaded = time.monotonic() + 30
            while not self.events("load") and time.monotonic() < loaded and long_one.poll() is None:
                time.sleep(0.01)
            self.vkpipes("--first", "10", "--compute", "5")
            self.assertEqual(long_one.wait(timeout=60), 0)
        saves = [event for event in self.events("save") if event["pid"] == long_one.pid]
        self.assertGreaterEqual(len(saves), 2)
        self.assertEqual(self.stored(60), set(range(2)) | set(range(10, 15)) | set(range(20, 60)))

    def test_a_damaged_store_is_said_once_and_rebuilt(self):
        self.vkpipes("--compute", "4")
        with open(self.store_file(), "r+b") as file:
            file.seek(1000)
            byte = file.read(1)
            file.seek(1000)
            file.write(bytes([byte[0] ^ 1]))
        self.assertEqual(self.vkpipes("--compute", "4", "--feedback")["hits"], 0)
        self.assertEqual([event["reason"] for event in self.events("reject")], ["corrupt"])
        self.assertEqual(self.vkpipes("--compute", "4", "--feedback")["hits"], 4)

    def test_an_empty_cache_of_a_program_that_asks_for_data_stays_empty(self):
        own = os.path.join(self.folder, "own")
        self.vkpipes("--compute", "4")
        self.vkpipes("--compute", "4", "--own-cache", own)
        for _ in range(5):
            os.remove(own)
            self.assertEqual(self.vkpipes("--compute", "4", "--own-cache", own, "--feedback")["hits"], 0)

    def test_damage_campaign(self):
        done = subprocess.run([os.path.join(SCRIPTS, "damage-campaign.sh"), "--count", "52", "--build",
                               os.path.dirname(os.path.dirname(PROGRAMS)), "--layer", LAYER],
                              env=self.env, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_kill_campaign(self):
        done = subprocess.run([os.path.join(SCRIPTS, "kill-campaign.sh"), "--count", "6", "--build",
                               os.path.dirname(os.path.dirname(PROGRAMS)), "--layer", LAYER],
                              env=self.env, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
