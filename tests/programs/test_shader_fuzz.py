#!/usr/bin/env python3
"""Random programs with shaders (shader_fuzz), judged by the fault-injecting driver's oracle and by Khronos validation.

    test_shader_fuzz.py SHADER_FUZZ LAYER FAULT_MANIFEST [--seed S] [--programs N] [--judge NAME]

Valid ones: the layer does nothing, and the judge finds nothing that it doesn't find without the layer. With transitions
left out or falsified: with the layer no error of layouts is left, and the pixels are those of the valid program. Says
which program failed: shader_fuzz --seed S --programs 1.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

CHROMIUM = "/usr/lib/chromium/libVkLayer_khronos_validation.so"
DEBIAN = next(iter(glob.glob("/usr/lib/*/libVkLayer_khronos_validation.so")), "")
LAVAPIPE = next(iter(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")), None)
# What says that something was done to a program.
REPAIRS = ("record_repairs", "rewritten", "submit_repairs", "present_repairs", "reported", "unpatchable")
MESSAGE = re.compile(r"(?:VUID|SYNC-HAZARD|UNASSIGNED)[A-Za-z0-9_-]+")
# At vkCmdExecuteCommands validation compares layouts of depth and stencil as if both aspects were read.
EXECUTE = "UNASSIGNED-vkCmdExecuteCommands-commandBuffer-00001"
EXECUTE_MISJUDGED = re.compile(
    r"(?:STENCIL_BIT[^\n]*expects layout VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL, but image current layout is "
    r"VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL|DEPTH_BIT[^\n]*expects layout "
    r"VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL, but image current layout is "
    r"VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL)")
DAMAGE = (("--strip", "30"), ("--strip", "20", "--spoil", "20"), ("--strip", "100"), ("--spoil", "30"))


class Judge:
    """Where the programs run, and who judges: without a library the oracle of the fault-injecting driver."""

    def __init__(self, driver, options=(), library=None, settings="", share=1):
        self.driver, self.options, self.library, self.settings, self.share = driver, options, library, settings, share

    def is_here(self):
        return bool(self.driver) and (self.library is None or os.path.exists(self.library))

    def prepare(self, env, folder):
        env.update(VK_DRIVER_FILES=self.driver, VK_ICD_FILENAMES=self.driver,
                   FAULT_DRIVER="oracle=1;oracle_file=%s/oracle" % folder)
        if not self.library:
            return
        os.makedirs(folder + "/layers")
        with open(folder + "/layers/validation.json", "w", encoding="utf-8") as file:
            json.dump({"file_format_version": "1.2.0",
                       "layer": {"name": "VK_LAYER_KHRONOS_validation", "type": "GLOBAL", "library_path": self.library,
                                 "api_version": "1.3.239", "implementation_version": "1",
                                 "description": "Khronos validation"}}, file)
        with open(folder + "/vk_layer_settings.txt", "w", encoding="utf-8") as file:
            file.write("khronos_validation.enable_message_limit = false\nkhronos_validation.report_flags = error\n"
                       "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
                       "khronos_validation.log_filename = stdout\n" + self.settings)
        env.update(VK_LAYER_PATH=folder + "/layers", VK_LAYER_SETTINGS_PATH=folder,
                   VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation")


def judges(fault):
    hazards = ("khronos_validation.validate_sync = true\n"
               "khronos_validation.syncval_shader_accesses_heuristic = true\n")
    return {
        "oracle": Judge(fault),
        "current": Judge(LAVAPIPE, ("--strict", "--lavapipe"), CHROMIUM, hazards, 20),
        "current-depth": Judge(fault, ("--strict",), CHROMIUM, hazards, 20),
        "debian": Judge(LAVAPIPE, ("--strict", "--lavapipe"), DEBIAN, "", 20),
    }


class Run:
    def __init__(self, given, judge, seed, programs, options, layer):
        with tempfile.TemporaryDirectory() as folder:
            env = {k: v for k, v in os.environ.items() if not k.startswith(("VK_", "XDG_", "FAULT_"))}
            env.update(HOME=folder, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder, XDG_CACHE_HOME=folder,
                       VK_LOADER_LAYERS_DISABLE="*device_select*", NODEVICE_SELECT="1",
                       ASAN_OPTIONS="detect_leaks=0", VK_ROBUST_CACHE_CACHE="false",
                       VK_ROBUST_CACHE_PRESET="repair", VK_ROBUST_CACHE_REPORT_FILE=folder + "/report")
            judge.prepare(env, folder)
            if layer:
                self.install(given.layer, folder)
                env["ENABLE_ROBUST_CACHE"] = "1"
            done = subprocess.run([given.program, "--seed", str(seed), "--programs", str(programs), *judge.options,
                                   *options], env=env, cwd=folder, capture_output=True, timeout=3000, check=False)
            output = done.stdout.decode(errors="replace")
            self.status, self.errors = done.returncode, done.stderr.decode(errors="replace")[-2000:]
            self.hashes = re.findall(r"seed=\d+ hash=[0-9a-f]+", output)
            said = self.lines(folder + "/oracle") if not judge.library else []
            self.discarded = sum(" discarded-read " in line for line in said)
            self.violations = [line for line in said if " discarded-read " not in line]
            self.messages = Counter(MESSAGE.findall(output))
            self.messages[EXECUTE] -= len(EXECUTE_MISJUDGED.findall(output))
            self.messages = +self.messages
            events = [json.loads(line) for line in self.lines(folder + "/report")]
            counts = [event for event in events if event["event"] == "barriers"]
            self.findings = [event for event in events if event["event"] in ("repair", "fault")]
            self.devices = len(counts)
            self.counts = {key: sum(event[key] for event in counts) for key in REPAIRS}

    @staticmethod
    def install(layer, folder):
        """Implicit, so that it stands above validation in every loader."""
        place = folder + "/vulkan/implicit_layer.d"
        os.makedirs(place)
        with open(layer + "/implicit/VkLayer_robust_cache.json", encoding="utf-8") as file:
            manifest = json.load(file)
        manifest["layer"]["library_path"] = layer + "/libVkLayer_robust_cache.so"
        with open(place + "/robust_cache.json", "w", encoding="utf-8") as file:
            json.dump(manifest, file)

    @staticmethod
    def lines(path):
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def layout_errors(self):
        """Hazards without a change of layout are not repaired."""
        return self.violations[:5] + [m for m in self.messages if not m.startswith("SYNC-HAZARD")]


def wrong(given, judge, seed, programs, options):
    """What is wrong with these programs, or None."""
    right = tuple(option for option in options if option == "--sync2")
    plain = Run(given, judge, seed, programs, right, False)
    layered = Run(given, judge, seed, programs, options, True)
    if plain.status or layered.status:
        return "ends with %d, with the layer %d: %s" % (plain.status, layered.status, plain.errors + layered.errors)
    if layered.devices != programs:
        return "the layer reported %d of %d devices" % (layered.devices, programs)
    if plain.violations or plain.messages:
        return "shader_fuzz is wrong: %s %s" % ("\n".join(plain.violations[:5]), plain.messages)
    if plain.hashes != layered.hashes:
        return "pixels differ: %s" % sorted(set(layered.hashes) - set(plain.hashes))[:3]
    if options != right:
        errors = layered.layout_errors()
        return "with the layer: " + "\n".join(errors) if errors else None
    if layered.violations or layered.messages or plain.discarded != layered.discarded:
        return "with the layer: %s %s; %d discarded reads instead of %d" % (
            "\n".join(layered.violations[:5]), layered.messages, layered.discarded, plain.discarded)
    if any(layered.counts.values()) or layered.findings:
        return "the layer did something: %s %s" % (layered.counts, layered.findings[:2])
    return None


def shows_faults(given, judge, seed, programs, options):
    """Whether without the layer the judge sees what was left out."""
    return bool(Run(given, judge, seed, programs, options, False).layout_errors())


def reduce(given, judge, seed, programs, options):
    """The seeds of up to five programs that fail alone."""
    found = []
    while programs > 0 and len(found) < 5:
        part = max(1, programs // 8)
        if part == 1 and wrong(given, judge, seed, 1, options):
            found.append(seed)
        elif part > 1 and wrong(given, judge, seed, part, options):
            found += reduce(given, judge, seed, part, options)
        seed, programs = seed + part, programs - part
    return found


def check(given, name, judge, options):
    programs = max(1, given.programs // judge.share)
    what = wrong(given, judge, given.seed, programs, options)
    if what is None and options not in ((), ("--sync2",)) and programs > 10 and \
            not shows_faults(given, judge, given.seed, programs, options):
        what = "no fault in any program"
    print(name, *options, "ok" if what is None else "FAILED: " + what, flush=True)
    if what is not None:
        for seed in reduce(given, judge, given.seed, programs, options):
            print("  seed", seed, wrong(given, judge, seed, 1, options), flush=True)
    return what is not None


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "layer", "driver"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--judge", help="one of them alone")
    given = parser.parse_args()
    failed = False
    for name, judge in judges(given.driver).items():
        # A sanitized layer can't be loaded below validation; there the oracle judges.
        if not judge.is_here() or given.judge not in (None, name) or (os.environ.get("RC_SANITIZED") and judge.library):
            continue
        for options in ((), *DAMAGE):
            for sync in ((), ("--sync2",)):
                failed |= check(given, name, judge, (*options, *sync))
    return failed


if __name__ == "__main__":
    sys.exit(main())
