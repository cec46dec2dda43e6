#!/usr/bin/env python3
"""The barrier cases (barrier_cases) as a user would run them, judged from below the layer.

    test_barriers.py PROGRAMS LAYER FAULT_MANIFEST [unittest's arguments]

Judges: the layout oracle of the fault-injecting driver; Khronos validation (core and synchronization), Debian's and the
current one that Debian's chromium package brings, on lavapipe, or on the fault-injecting driver where lavapipe lacks
something. A faulty case must be told of without the layer and silent with it; a correct one silent in both, with no
repair counted and the same calls reaching the driver. With the layer a faulty case's results are the correct one's.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, LAYER, FAULT = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
PROGRAM = os.path.join(PROGRAMS, "barrier_cases")
CHROMIUM = "/usr/lib/chromium/libVkLayer_khronos_validation.so"
DEBIAN = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
LAVAPIPE = next(iter(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")), None)
SANITIZED = os.environ.get("RC_SANITIZED")
# What says that something was done to a program.
REPAIRS = ("record_repairs", "rewritten", "hoisted", "submit_repairs", "present_repairs", "reported", "unpatchable")
# lavapipe 22.3 has no headless surface, and one queue; the other driver has three families, so that there nothing of
# L36 is left out.
NEED_FAULT_DRIVER = ("L19", "L20", "L22", "L32")
NOT_FAULTY_ON_FAULT_DRIVER = ("L36",)
BLIND_SPOTS = ("L32",)  # of validation
SKIPPED = 77  # the device lacks what the case needs
MESSAGE = re.compile(r"(?:VUID|SYNC-HAZARD|UNASSIGNED|WARNING-)[A-Za-z0-9_-]+")


# What validation says of shader cases, where it isn't that a draw's descriptor names another layout than the image is
# in (when it is recorded) or than it was left in by an earlier submit.
SHADER_MESSAGE = r"VUID-vkCmdDraw-(imageLayout-00344|None-09600)"
OTHER_SHADER_MESSAGES = {
    "L03-dispatch": r"VUID-vkCmdDispatch-imageLayout-00344",
    "L23-barrier-in-pass": r"VUID-vkCmdPipelineBarrier2?-None-0(7889|9553)",
    "L27-secondary-dispatch": r"UNASSIGNED-vkCmdExecuteCommands-commandBuffer-00001",
    "L27-secondary-in-pass": r"UNASSIGNED-vkCmdExecuteCommands-commandBuffer-00001",
    "body-indirect-draws": r"VUID-vkCmdDrawIndirect-imageLayout-00344",
}


class Case:
    """A line of the program's list."""

    def __init__(self, line):
        self.name, kind, *marks = line.split()
        self.faulty = kind == "faults"
        self.shaders, self.rendering, self.partly = (mark in marks for mark in ("shaders", "rendering", "partly"))

    def variants(self):
        result = [(), ("--sync2", "--rendering") if self.rendering else ("--sync2",)]
        if self.name.startswith("L34"):
            result.append((*result[1], "--separate"))
        if self.name == "L01-sampled":
            result += [("--sync2",), ("--rendering",)]
        return result

    def message(self):
        """What validation is expected to say of the faulty variant."""
        if not self.shaders:
            return "."
        return next((m for start, m in OTHER_SHADER_MESSAGES.items() if self.name.startswith(start)), SHADER_MESSAGE)


def cases():
    lines = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [Case(line) for line in lines]


class Run:
    """One process: its hash, what the judge said, and what the layer counted."""

    def __init__(self, judge, name, options, layer, merge=True, program=PROGRAM):
        with tempfile.TemporaryDirectory() as folder:
            env = {k: v for k, v in os.environ.items() if not k.startswith(("VK_", "XDG_", "FAULT_"))}
            env.update(HOME=folder, XDG_DATA_HOME=folder + "/data", XDG_CONFIG_HOME=folder, XDG_CACHE_HOME=folder,
                       VK_LOADER_LAYERS_DISABLE="*device_select*", NODEVICE_SELECT="1", ASAN_OPTIONS="detect_leaks=0",
                       VK_ROBUST_CACHE_CACHE="false", VK_ROBUST_CACHE_PRESET="repair",
                       VK_ROBUST_CACHE_MERGE="true" if merge else "false",
                       VK_ROBUST_CACHE_REPORT_FILE=folder + "/report", VK_LAYER_PATH=folder)
            if layer:
                self.install_layer(folder)
                env["ENABLE_ROBUST_CACHE"] = "1"
            judge(env, folder, name)
            done = subprocess.run([program, *([name] if program == PROGRAM else []), *options], env=env, cwd=folder, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=120, check=False)
            self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr
            self.hash = next(iter(re.findall(r'hash"?[=:]"?([0-9a-f]{16})', done.stdout)), None)
            said = self.lines(folder + "/oracle")
            # Some cases read what was never written: the layer must neither add to that nor hide it.
            self.discarded = len([line for line in said if " discarded-read " in line])
            self.violations = [line for line in said if " discarded-read " not in line]
            self.messages = sorted(set(MESSAGE.findall(done.stdout)))
            self.journal = [self.call(l) for l in self.lines(folder + "/journal") if "vkCmd" in l or "vkQueue" in l]
            events = [json.loads(line) for line in self.lines(folder + "/report")]
            self.counts = next((e for e in events if e["event"] == "barriers"), None)
            self.events = events

    @staticmethod
    def install_layer(folder):
        """Implicit, so that it stands above validation in every loader."""
        place = folder + "/data/vulkan/implicit_layer.d"
        os.makedirs(place)
        with open(os.path.join(LAYER, "implicit", "VkLayer_robust_cache.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        manifest["layer"]["library_path"] = os.path.join(LAYER, "libVkLayer_robust_cache.so")
        with open(place + "/robust_cache.json", "w", encoding="utf-8") as file:
            json.dump(manifest, file)

    @staticmethod
    def lines(path):
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    @staticmethod
    def call(line):
        """A journal line without what differs from run to run."""
        return re.sub(r"0x[0-9a-f]{6,}|\b[0-9]{9,}\b|tid=[0-9]+", "*", re.sub(r"^\S+ ", "", line))

    def told(self):
        return self.violations + self.messages


def oracle(env, folder, name):
    env.update(VK_DRIVER_FILES=FAULT, VK_ICD_FILENAMES=FAULT,
               FAULT_DRIVER="oracle=1;oracle_file=%s/oracle;journal=%s/journal;journal_commands=1" % (folder, folder))


def oracle_alone(env, folder, name):
    """Without the journal, which would grow with every call."""
    env.update(VK_DRIVER_FILES=FAULT, VK_ICD_FILENAMES=FAULT, FAULT_DRIVER="oracle_file=%s/oracle" % folder)


def validation(manifest, sync_key):
    def judge(env, folder, name):
        driver = FAULT if name.startswith(NEED_FAULT_DRIVER) else LAVAPIPE
        os.makedirs(folder + "/layers")
        with open(folder + "/layers/validation.json", "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        with open(folder + "/vk_layer_settings.txt", "w", encoding="utf-8") as file:
            file.write("khronos_validation.enable_message_limit = false\nkhronos_validation.report_flags = error\n"
                       "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
                       "khronos_validation.log_filename = stdout\n" + sync_key + "\n")
        env.update(VK_DRIVER_FILES=driver, VK_ICD_FILENAMES=driver, VK_LAYER_PATH=folder + "/layers",
                   VK_LAYER_SETTINGS_PATH=folder, VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation")
    return judge


def chromium_manifest():
    return {"file_format_version": "1.2.0",
            "layer": {"name": "VK_LAYER_KHRONOS_validation", "type": "GLOBAL", "library_path": CHROMIUM,
                      "api_version": "1.4.300", "implementation_version": "1", "description": "Khronos validation"}}


def debian_manifest():
    with open(DEBIAN, encoding="utf-8") as file:
        manifest = json.load(file)
    library = manifest["layer"]["library_path"]
    if "/" not in library:
        manifest["layer"]["library_path"] = next(iter(glob.glob("/usr/lib/*-linux-*/" + library)))
    return manifest


class Cases:
    """One judge; the class below it names which."""

    judge = None
    misjudged = ()  # correct cases that this judge is wrong about

    def check(self, run, what):
        if run.status == SKIPPED:
            self.skipTest(run.output.strip())
        self.assertEqual(run.status, 0, "%s: %s%s" % (what, run.output, run.errors))

    def pair(self, case, options):
        plain, layered = (Run(type(self).judge, case.name, options, layer) for layer in (False, True))
        self.check(plain, "without the layer")
        self.check(layered, "with the layer")
        self.assertEqual(plain.discarded, layered.discarded)
        return plain, layered

    def test_correct(self):
        for case in cases():
            for options in case.variants():
                with self.subTest(case=case.name, options=options):
                    plain, layered = self.pair(case, options)
                    self.assertEqual(plain.hash, layered.hash)
                    if case.name not in self.misjudged:
                        self.assertEqual(plain.told(), [])
                    self.assertEqual(set(layered.told()) - set(plain.told()), set())
                    self.assertEqual([layered.counts[key] for key in REPAIRS], [0] * len(REPAIRS), layered.events)

    def test_faulty(self):
        for case in cases():
            for options in case.variants() if case.faulty else ():
                with self.subTest(case=case.name, options=options):
                    plain, layered = self.pair(case, (*options, "--faulty"))
                    if self.expects_fault(case):
                        self.assertTrue([t for t in plain.told() if re.match(self.expected(case), t)], plain.told())
                    # Not the faulty one's hash: Mesa 25's lavapipe may dispatch before it has drawn.
                    right = Run(type(self).judge, case.name, options, False)
                    self.assertEqual(layered.hash, right.hash)
                    if case.partly:
                        self.assertGreater(layered.counts["reported"], 0)
                    else:
                        if self.expects_fault(case):
                            self.assertGreater(sum(layered.counts[key] for key in REPAIRS[:5]), 0)
                        self.assertEqual(set(layered.told()) - set(right.told()), set(), layered.events)

    def expects_fault(self, case):
        return True

    def expected(self, case):
        """Of what is told of a faulty case, the form of one that must be there."""
        return case.message()


class WithTheOracle(Cases, unittest.TestCase):
    judge = staticmethod(oracle)

    def expects_fault(self, case):
        return not case.name.startswith(NOT_FAULTY_ON_FAULT_DRIVER)

    def expected(self, case):
        return "."

    def test_correct_programs_come_down_as_they_are(self):
        for case in cases():
            for options in case.variants():
                with self.subTest(case=case.name, options=options):
                    plain, layered = (Run(oracle, case.name, options, layer, merge=False) for layer in (False, True))
                    if plain.status == SKIPPED:
                        self.skipTest(plain.output.strip())
                    self.assertTrue(plain.journal)
                    self.assertEqual(plain.journal, layered.journal)

    def test_merging(self):
        merged = Run(oracle, "L29-split-barriers", (), True)
        self.assertEqual(merged.counts["calls_in"] - merged.counts["calls_out"], 30, merged.counts)
        folded = Run(oracle, "L30-folded", (), True)
        self.assertEqual(folded.counts["images_in"] - folded.counts["images_out"], 1, folded.counts)
        apart = Run(oracle, "L44-chained", (), True)
        # The last of the five may stand beside COMPUTE -> FRAGMENT; the two before it may not be one.
        self.assertEqual(apart.counts["calls_in"] - apart.counts["calls_out"], 1, apart.counts)


class MapLoader(unittest.TestCase):
    """L40, L51: loader threads and one that renders; see map_loader.h."""

    small = ("--textures", "100", "--texture-bytes", "4000000", "--buffers", "200", "--buffer-bytes", "1000000")

    def run_mode(self, mode, barriers, layer):
        done = Run(oracle, "map_loader", ("--mode", mode, "--barriers", barriers, *self.small), layer,
                   program=os.path.join(PROGRAMS, "map_loader"))
        self.assertEqual(done.status, 0, done.output + done.errors)
        return done

    def test_correct_barriers(self):
        for mode in ("direct", "transfer", "submitters", "secondary"):
            with self.subTest(mode=mode):
                layered = self.run_mode(mode, "correct", True)
                self.assertEqual(layered.violations, [])
                self.assertEqual([layered.counts[key] for key in REPAIRS], [0] * len(REPAIRS), layered.events)

    def test_no_barriers(self):
        for mode in ("direct", "submitters", "secondary"):
            with self.subTest(mode=mode):
                plain, layered = (self.run_mode(mode, "none", layer) for layer in (False, True))
                self.assertNotEqual(plain.violations, [])
                self.assertEqual(layered.violations, [])


class RandomPrograms(unittest.TestCase):
    """barrier_random: right ones are left alone, others repaired. A failure's programs are those of its seeds."""

    count = "60" if SANITIZED else "400"

    def programs(self, layer, *options, judge=None, count=None):
        done = Run(judge or oracle_alone, "barrier_random", ("--count", count or self.count, *options), layer,
                   program=os.path.join(PROGRAMS, "barrier_random"))
        self.assertEqual(done.status, 0, done.output + done.errors[-2000:])
        return done

    def test_right_ones(self):
        for sync in ((), ("--sync2",)):
            with self.subTest(sync=sync):
                self.assertEqual(self.programs(False, *sync).violations, [])
                done = self.programs(True, *sync)
                self.assertEqual(done.violations, [])
                repairs = [e for e in done.events if e["event"] in ("repair", "fault")]
                self.assertEqual(repairs, [])

    def test_wrong_ones(self):
        for options in (("--strip", "30"), ("--spoil", "30"), ("--strip", "20", "--spoil", "20", "--sync2")):
            with self.subTest(options=options):
                self.assertNotEqual(self.programs(False, *options).violations, [])
                self.assertEqual(self.programs(True, *options).violations, [])

    @unittest.skipIf(SANITIZED, "the oracle judges sanitized builds")
    @unittest.skipUnless(os.path.exists(CHROMIUM) and LAVAPIPE, "no current validation here (Debian's chromium)")
    def test_under_validation(self):
        """Joined barriers leave no hazard; of what was left out no layout error remains."""
        judge = validation(chromium_manifest(), "khronos_validation.validate_sync = true")
        for sync in ((), ("--sync2",)):
            with self.subTest(sync=sync):
                self.assertEqual(self.programs(True, *sync, judge=judge, count="40").messages, [])
                told = self.programs(True, *sync, "--strip", "30", judge=judge, count="40").messages
                self.assertEqual([m for m in told if not m.startswith("SYNC-HAZARD")], [])


class Stress(unittest.TestCase):
    """L36, L39, L41, L51."""

    def stress(self, *options):
        done = Run(oracle_alone, "barrier_stress", options, True, program=os.path.join(PROGRAMS, "barrier_stress"))
        self.assertEqual(done.status, 0, done.output + done.errors[-2000:])
        self.assertEqual(done.violations, [])
        self.assertEqual((done.counts["reported"], done.counts["unpatchable"]), (0, 0))
        return done

    def test_cycles(self):
        done = self.stress("cycles", "5000" if SANITIZED else "100000")
        before, after = map(int, re.search(r"pages=(\d+),(\d+)", done.output).groups())
        if not SANITIZED:  # sanitizers keep what was freed
            self.assertLess(after - before, 256)

    def test_threads(self):
        self.stress("threads", "16")


@unittest.skipIf(SANITIZED, "the oracle judges sanitized builds")
@unittest.skipUnless(os.path.exists(CHROMIUM) and LAVAPIPE, "no current validation here (Debian's chromium)")
class WithCurrentValidation(Cases, unittest.TestCase):
    judge = staticmethod(validation(chromium_manifest(), "khronos_validation.validate_sync = true"))

    def expects_fault(self, case):
        return not case.name.startswith(BLIND_SPOTS)


@unittest.skipIf(SANITIZED, "the oracle judges sanitized builds")
@unittest.skipUnless(os.path.exists(DEBIAN) and LAVAPIPE, "no validation layer here")
class WithDebiansValidation(Cases, unittest.TestCase):
    judge = staticmethod(validation(
        debian_manifest() if os.path.exists(DEBIAN) else None,
        "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"))

    # 1.4.309 asks for the right oldLayout where synchronization2 makes the barrier none of layouts; 1.3.239 takes a
    # linked pipeline for one without attachments if it is for dynamic rendering.
    misjudged = ("L13-equal-layouts", "linked-pipeline")

    def expects_fault(self, case):
        """1.3.239 doesn't see all of them."""
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
