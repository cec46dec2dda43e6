#!/usr/bin/env python3
"""A game loading a map (map_loader), without the layer and with it, in turn; medians and ratios.

    bench_map.py --driver DRIVER [--rounds N] [--threads N] [--layer DIR] [--validation DIR]

DRIVER is one of with-driver.sh. Prints a row for each mode and kind of barriers: with the program's own barriers the
ratio of layer to no layer; without barriers of images the ratio of layer to *correct barriers and no layer*, since
that is what the program should have been. Validation (layouts only) is shown where its manifest's folder is given.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
MODES = ["direct", "transfer", "submitters", "secondary"]
FIGURES = ["record_us_per_resource", "submit_p50_us", "submit_p99_us", "first_frame_ms", "total_ms", "gpu_ms", "peak_rss_kb"]


def run(arguments, mode, barriers, layers):
    env = dict(os.environ, VK_ROBUST_CACHE_CACHE="false")
    command = [os.path.join(ROOT, "scripts", "with-driver.sh"), arguments.driver]
    if "ours" in layers:
        command += ["--layer", arguments.layer]
    if "validation" in layers:
        command += ["env", "VK_LAYER_PATH=" + arguments.validation, "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation"]
    command += [arguments.program, "--mode", mode, "--barriers", barriers, "--threads", str(arguments.threads)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default="lavapipe")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--layer", default=os.path.join(ROOT, "build", "layers"))
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "tests", "programs", "map_loader"))
    parser.add_argument("--validation", help="folder of a manifest of Khronos validation")
    parser.add_argument("--modes", nargs="*", default=MODES)
    arguments = parser.parse_args()
    print("%-11s %-8s %-10s " % ("mode", "barriers", "layers") + " ".join("%22s" % f for f in FIGURES) + "  hash")
    for mode in arguments.modes:
        kinds = [("correct", ()), ("correct", ("ours",))]
        if mode != "transfer":  # without barriers there is no ownership transfer: reported, not repaired
            kinds.append(("none", ("ours",)))
        if arguments.validation:
            kinds.append(("correct", ("validation",)))
        results = {kind: [] for kind in kinds}
        for _ in range(arguments.rounds):
            for kind in kinds:
                results[kind].append(run(arguments, mode, *kind))
        base = {f: statistics.median(r[f] for r in results[kinds[0]]) for f in FIGURES}
        for kind in kinds:
            cells = []
            for figure in FIGURES:
                value = statistics.median(r[figure] for r in results[kind])
                ratio = value / base[figure] if base[figure] else 0
                cells.append("%12.2f (x%6.2f)" % (value, ratio))
            hashes = {r["hash"] for r in results[kind]}
            print("%-11s %-8s %-10s " % (mode, kind[0], "+".join(kind[1]) or "none") +
                  " ".join("%22s" % c for c in cells) + "  " + ",".join(sorted(hashes)), flush=True)


if __name__ == "__main__":
    main()
