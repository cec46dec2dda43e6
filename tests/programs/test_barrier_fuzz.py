#!/usr/bin/env python3
"""Random programs (barrier_fuzz) under the fault-injecting driver's layout oracle.

    test_barrier_fuzz.py BARRIER_FUZZ LAYER FAULT_MANIFEST [--seed S] [--count N]

Valid ones: the oracle is silent with and without the layer, and the layer does nothing. With barriers left out or
falsified: silent with the layer, and not without it. Says which program failed: barrier_fuzz --seed S --count 1.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

REPAIRS = ("record_repairs", "rewritten", "submit_repairs", "present_repairs", "reported", "unpatchable")
KINDS = ((), ("--strip", "30"), ("--spoil", "30"), ("--strip", "20", "--spoil", "20"), ("--strip", "100"))


class Run:
    def __init__(self, given, seed, count, options, layer):
        with tempfile.TemporaryDirectory() as folder:
            env = {k: v for k, v in os.environ.items() if not k.startswith(("VK_", "XDG_", "FAULT_"))}
            env.update(HOME=folder, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder, XDG_CACHE_HOME=folder,
                       VK_LOADER_LAYERS_DISABLE="*device_select*", NODEVICE_SELECT="1",
                       ASAN_OPTIONS="detect_leaks=0", VK_DRIVER_FILES=given.driver, VK_ICD_FILENAMES=given.driver,
                       FAULT_DRIVER="oracle=1;oracle_file=%s/oracle" % folder, VK_ROBUST_CACHE_CACHE="false",
                       VK_ROBUST_CACHE_PRESET="repair", VK_ROBUST_CACHE_REPORT_FILE=folder + "/report")
            if layer:
                self.install(given.layer, folder)
                env["ENABLE_ROBUST_CACHE"] = "1"
            done = subprocess.run([given.program, "--seed", str(seed), "--count", str(count), *options], env=env,
                                  cwd=folder, capture_output=True, text=True, timeout=250, check=False)
            self.status, self.errors = done.returncode, done.stderr
            said = self.lines(folder + "/oracle")
            self.discarded = sum(" discarded-read " in line for line in said)
            self.violations = [line for line in said if " discarded-read " not in line]
            counts = [e for e in map(json.loads, self.lines(folder + "/report")) if e["event"] == "barriers"]
            self.devices = len(counts)
            self.counts = {key: sum(event[key] for event in counts) for key in REPAIRS}

    @staticmethod
    def install(layer, folder):
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


def wrong(given, seed, count, options):
    """What is wrong with these programs, or None."""
    plain, layered = (Run(given, seed, count, options, layer) for layer in (False, True))
    if plain.status or layered.status:
        return "ends with %d, with the layer %d: %s" % (plain.status, layered.status, plain.errors + layered.errors)
    if layered.devices != count:
        return "the layer reported %d of %d devices" % (layered.devices, count)
    if layered.violations:
        return "with the layer: " + "\n".join(layered.violations[:5])
    if not options and plain.violations:
        return "barrier_fuzz is wrong: " + "\n".join(plain.violations[:5])
    if not options and any(layered.counts.values()):
        return "the layer did something: %s" % layered.counts
    if not options and plain.discarded != layered.discarded:
        return "discarded reads: %d, with the layer %d" % (plain.discarded, layered.discarded)
    if options and count > 50 and not plain.violations:
        return "no fault in any program"
    return None


def reduce(given, seed, count, options):
    """The seeds of up to five programs that fail alone."""
    found = []
    while count > 0 and len(found) < 5:
        part = max(1, count // 8)
        if part == 1 and wrong(given, seed, 1, options):
            found.append(seed)
        elif part > 1 and wrong(given, seed, part, options):
            found += reduce(given, seed, part, options)
        seed, count = seed + part, count - part
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "layer", "driver"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    given = parser.parse_args()
    failed = False
    for options in KINDS:
        what = wrong(given, given.seed, given.count, options)
        print(" ".join(("barrier_fuzz", *options)), "ok" if what is None else "FAILED: " + what, flush=True)
        if what is not None:
            failed = True
            for seed in reduce(given, given.seed, given.count, options):
                print("  seed", seed, wrong(given, seed, 1, options), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
