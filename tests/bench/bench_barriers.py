#!/usr/bin/env python3
"""What recording and submitting cost (bench_barriers) without the layer, with it, with merging off, and under Khronos
validation of layouts alone: in turn, medians of processes, and ratios to no layer.

    bench_barriers.py [--driver DRIVER] [--rounds N] [--validation DIR] [--instructions] [--kinds KIND ...]

DRIVER is one of with-driver.sh. Times are CPU time of the recording thread but for "threads", which is wall time. With
--instructions each kind is also run under callgrind: the instructions of one thing more, from the difference of two
runs, which unlike times are the same on every machine. Standard library only.
"""
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
RECORDED = {"split": 200 * 16, "joined": 200 * 16, "alone": 1000, "copy": 1000, "rendering": 1000, "dispatch": 1000,
            "fill": 1000, "submit": 64, "stripped": 64}  # things done in a round
WAYS = ["none", "merge", "apart", "validation"]


def cases(arguments):
    """(what is shown, the program's arguments)"""
    for kind in arguments.kinds:
        if kind == "submit":
            for alive in arguments.alive:
                for images in (1, 16, 256):
                    if images <= alive:
                        yield "submit, %d of %d images" % (images, alive), [kind, "--images", str(images), "--alive", str(alive)]
        elif kind == "threads":
            for threads in sorted({1, 2, arguments.threads}):
                yield "threads, %d" % threads, [kind, "--threads", str(threads)]
        else:
            yield kind, [kind]


def command_of(arguments, way):
    command = [os.path.join(ROOT, "scripts", "with-driver.sh"), arguments.driver]
    if way in ("merge", "apart"):
        command += ["--layer", arguments.layer]
    if way == "validation":
        command += ["env", "VK_LAYER_PATH=" + arguments.validation, "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation"]
    return command


def environment_of(way, folder):
    env = dict(os.environ, VK_ROBUST_CACHE_CACHE="false", VK_ROBUST_CACHE_MERGE="false" if way == "apart" else "true")
    if way == "validation":
        # Core checks of layouts are one with those of command buffers; everything else is off.
        with open(os.path.join(folder, "vk_layer_settings.txt"), "w", encoding="utf-8") as file:
            file.write("khronos_validation.disables = VK_VALIDATION_FEATURE_DISABLE_SHADERS_EXT,"
                       "VK_VALIDATION_FEATURE_DISABLE_THREAD_SAFETY_EXT,VK_VALIDATION_FEATURE_DISABLE_API_PARAMETERS_EXT,"
                       "VK_VALIDATION_FEATURE_DISABLE_OBJECT_LIFETIMES_EXT,"
                       "VK_VALIDATION_FEATURE_DISABLE_UNIQUE_HANDLES_EXT\nkhronos_validation.debug_action = \n")
        env["VK_LAYER_SETTINGS_PATH"] = folder
    return env


def run(arguments, way, program, folder, wrapper=()):
    command = command_of(arguments, way) + [*wrapper, arguments.program, *program]
    done = subprocess.run(command, env=environment_of(way, folder), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stderr or done.stdout))
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def instructions(arguments, way, program, folder):
    """Of one thing: the setting up is in both runs, and in one of them a hundred rounds more."""
    totals = []
    for rounds in (10, 110):
        wrapper = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        _, said = run(arguments, way, [*program, "--rounds", str(rounds)], folder, wrapper)
        totals.append(int(re.search(r"Collected : (\d+)", said).group(1)))
    return (totals[1] - totals[0]) / 100 / RECORDED[program[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default="fault")
    parser.add_argument("--rounds", type=int, default=7, help="processes of each kind")
    parser.add_argument("--layer", default=os.path.join(ROOT, "build", "layers"))
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "tests", "bench", "bench_barriers"))
    parser.add_argument("--validation", help="folder of a manifest of Khronos validation")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--alive", type=int, nargs="+", default=[100, 1000, 100000])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kinds", nargs="+", default=[*RECORDED, "threads"], choices=[*RECORDED, "threads"])
    arguments = parser.parse_args()
    ways = [way for way in WAYS if way != "validation" or arguments.validation]
    print("%-28s " % "ns" + " ".join("%20s" % way for way in ways))
    with tempfile.TemporaryDirectory(prefix="bench-barriers-") as folder:
        for name, program in cases(arguments):
            samples = {way: [] for way in ways}
            for number in range(arguments.rounds):
                for way in ways[number % len(ways):] + ways[:number % len(ways)]:
                    samples[way].append(run(arguments, way, program, folder)[0]["ns"])
            medians = {way: statistics.median(samples[way]) for way in ways}
            print("%-28s " % name + " ".join("%10.1f (x%6.2f)" % (medians[way], medians[way] / medians["none"])
                                             for way in ways), flush=True)
            if arguments.instructions and program[0] in RECORDED:
                counts = {way: instructions(arguments, way, program, folder) for way in ways}
                print("%-28s " % "    instructions" +
                      " ".join("%10.0f (+%6.0f)" % (counts[way], counts[way] - counts["none"]) for way in ways), flush=True)


if __name__ == "__main__":
    main()
