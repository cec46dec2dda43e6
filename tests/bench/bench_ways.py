"""What bench_barriers.py and bench_shaders.py share: a program that measures one kind per process, run in several ways
(without the layer, with it, under Khronos validation), in turn, medians of processes. Standard library only."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
# Core checks of layouts are one with those of command buffers and descriptors; everything else is off.
VALIDATION = """khronos_validation.disables = VK_VALIDATION_FEATURE_DISABLE_SHADERS_EXT,\
VK_VALIDATION_FEATURE_DISABLE_THREAD_SAFETY_EXT,VK_VALIDATION_FEATURE_DISABLE_API_PARAMETERS_EXT,\
VK_VALIDATION_FEATURE_DISABLE_OBJECT_LIFETIMES_EXT,VK_VALIDATION_FEATURE_DISABLE_UNIQUE_HANDLES_EXT
khronos_validation.debug_action = \n"""


def parser(doc, program):
    """With the options that both scripts have."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("--driver", default="fault")
    made.add_argument("--rounds", type=int, default=7, help="processes of each kind")
    made.add_argument("--layer", default=os.path.join(ROOT, "build", "layers"))
    made.add_argument("--program", default=os.path.join(ROOT, "build", "tests", "bench", program))
    made.add_argument("--validation", help="folder of a manifest of Khronos validation")
    made.add_argument("--instructions", action="store_true")
    return made


class Bench:
    """`ways`: environment variables by name; "none" comes first, and has no layer, and nor has "validation"."""

    def __init__(self, arguments, ways):
        self.arguments = arguments
        self.ways = {"none": {}, **ways}
        if arguments.validation:
            self.ways["validation"] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="bench-ways-")
        with open(os.path.join(self.folder.name, "vk_layer_settings.txt"), "w", encoding="utf-8") as file:
            file.write(VALIDATION)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, way, program, wrapper=()):
        """(what the program printed, what went to standard error)"""
        command = [os.path.join(ROOT, "scripts", "with-driver.sh"), self.arguments.driver]
        if way == "validation":
            command += ["env", "VK_LAYER_PATH=" + self.arguments.validation,
                        "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation"]
        elif way != "none":
            command += ["--layer", self.arguments.layer]
        command += [*wrapper, self.arguments.program, *program]
        env = dict(os.environ, VK_ROBUST_CACHE_CACHE="false", VK_LAYER_SETTINGS_PATH=self.folder.name, **self.ways[way])
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit("%s: %s" % (" ".join(command), done.stderr or done.stdout))
        return json.loads(done.stdout.splitlines()[-1]), done.stderr

    def nanoseconds(self, program):
        """Medians by way."""
        ways = list(self.ways)
        samples = {way: [] for way in ways}
        for number in range(self.arguments.rounds):
            for way in ways[number % len(ways):] + ways[:number % len(ways)]:
                samples[way].append(self.run(way, program)[0]["ns"])
        return {way: statistics.median(samples[way]) for way in ways}

    def instructions(self, way, program):
        """Of one thing: the setting up is in both runs, and in one of them a hundred rounds more."""
        wrapper = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        totals = []
        for rounds in (10, 110):
            printed, said = self.run(way, [*program, "--rounds", str(rounds)], wrapper)
            totals.append(int(re.search(r"Collected : (\d+)", said).group(1)))
        return (totals[1] - totals[0]) / 100 / printed["things"]

    def print_head(self):
        print("%-28s " % "ns" + " ".join("%20s" % way for way in self.ways))

    def print_case(self, name, program, counted=True):
        """One line, with --instructions two (where they can be `counted`). Returns what they say, by way."""
        medians = self.nanoseconds(program)
        print("%-28s " % name + " ".join("%10.1f (x%6.2f)" % (ns, ns / medians["none"]) for ns in medians.values()),
              flush=True)
        if not self.arguments.instructions or not counted:
            return medians, None
        counts = {way: self.instructions(way, program) for way in self.ways}
        print("%-28s " % "    instructions" +
              " ".join("%10.0f (+%6.0f)" % (count, count - counts["none"]) for count in counts.values()), flush=True)
        return medians, counts
