#!/usr/bin/env python3
"""vkpipes on the drivers that run without a GPU: what the campaigns and benchmarks rely on."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

VKPIPES = sys.argv.pop(1)
ICD_DIRECTORY = "/usr/share/vulkan/icd.d"


def manifest(driver):
    """The architecture is in its name in some releases of Mesa and not in others; None if it isn't installed."""
    names = [f"{ICD_DIRECTORY}/{driver}_icd.{os.uname().machine}.json", f"{ICD_DIRECTORY}/{driver}_icd.json"]
    return next(filter(os.path.exists, names), None)


def environment(driver):
    """A driver chosen, layers and Mesa's own cache off; leaks are the drivers' own."""
    icd = manifest(driver)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("VK_", "RADV_"))}
    env.update(VK_DRIVER_FILES=icd, VK_ICD_FILENAMES=icd, MESA_SHADER_CACHE_DISABLE="true",
               VK_LOADER_LAYERS_DISABLE="*", ASAN_OPTIONS="detect_leaks=0")
    if driver == "radeon":
        env["RADV_FORCE_FAMILY"] = "navi21"
    return env


@unittest.skipUnless(manifest("radeon"), "no RADV here")
class OnRadv(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "own")

    def run_vkpipes(self, *options, status=0):
        done = subprocess.run([VKPIPES, *options], env=environment("radeon"), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def test_own_cache_is_warm_the_second_time(self):
        options = ("--compute", "8", "--graphics", "4", "--feedback", "--own-cache", self.file)
        cold, warm = self.run_vkpipes(*options), self.run_vkpipes(*options)
        self.assertEqual((cold["created"], cold["hits"], cold["loaded"]), (12, 0, 0))
        self.assertEqual((warm["created"], warm["hits"], warm["feedbacks"]), (12, 12, 12))
        self.assertEqual(warm["loaded"], cold["saved"])
        self.assertTrue(warm["header_matches"])

    def test_pipelines_are_the_same_by_number(self):
        self.run_vkpipes("--compute", "8", "--own-cache", self.file)
        overlap = self.run_vkpipes("--compute", "8", "--first", "5", "--feedback", "--cold-blob", self.file)
        self.assertEqual((overlap["hits"], overlap["compute_hits"]), (3, "11100000"))

    def test_one_call_and_threads_make_the_same_pipelines(self):
        self.run_vkpipes("--compute", "9", "--graphics", "3", "--own-cache", self.file)
        for options in (["--one-call"], ["--threads", "4"], ["--threads", "2", "--one-call"], ["--pace-ms", "1"]):
            again = self.run_vkpipes("--compute", "9", "--graphics", "3", "--feedback", "--cold-blob", self.file,
                                     *options)
            self.assertEqual((again["created"], again["hits"]), (12, 12), options)

    def test_without_feedback_or_cache_nothing_hits(self):
        plain = self.run_vkpipes("--compute", "2")
        self.assertNotIn("hits", plain)
        fed = self.run_vkpipes("--compute", "2", "--feedback", "--empty-cache")
        self.assertEqual((fed["hits"], fed["feedbacks"]), (0, 2))

    def test_a_blob_with_a_foreign_header_is_noticed(self):
        with open(self.file, "wb") as file:
            file.write(b"\x20\0\0\0\1\0\0\0" + bytes(56))
        self.assertFalse(self.run_vkpipes("--compute", "1", "--own-cache", self.file)["header_matches"])

    def test_ways_to_end(self):
        for way, status in (("destroy", 0), ("exit", 0), ("_exit", 0), ("kill", -signal.SIGKILL)):
            self.assertEqual(self.run_vkpipes("--compute", "1", "--exit", way, status=status)["created"], 1)

    def test_hold_lasts_until_input_ends(self):
        with subprocess.Popen([VKPIPES, "--compute", "1", "--hold"], env=environment("radeon"), text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(json.loads(process.stdout.readline())["created"], 1)
            self.assertIsNone(process.poll())
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_wrong_options_are_refused(self):
        for options in (["--threads", "0"], ["--exit", "never"], ["--compute", "x"], ["--save-blob", "f"], ["y"]):
            done = subprocess.run([VKPIPES, *options], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage", done.stderr)


@unittest.skipUnless(manifest("lvp"), "no lavapipe here")
class OnLavapipe(unittest.TestCase):
    def hash(self, *options):
        done = subprocess.run([VKPIPES, "--dispatch", *options], env=environment("lvp"), capture_output=True,
                              text=True, timeout=120, check=True)
        return json.loads(done.stdout)["hash"]

    def test_results_depend_on_the_pipelines_alone(self):
        reference = self.hash("--compute", "6")
        self.assertEqual(self.hash("--compute", "6", "--api", "1.0", "--empty-cache"), reference)
        self.assertEqual(self.hash("--compute", "6", "--one-call", "--api", "1.3"), reference)
        self.assertNotEqual(self.hash("--compute", "6", "--first", "1"), reference)


if __name__ == "__main__":
    unittest.main()
