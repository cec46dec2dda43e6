#!/usr/bin/env python3
"""How long an application takes to get its pipelines at its first, second, third ... start.

Four ways to start: no cache at all, a cache that the application manages perfectly, no cache but the layer, and both.
Every sample is a process of its own; each round begins with nothing on disk and runs start 1 of all ways, then
start 2 of all, so that what the machine does meanwhile meets all of them alike. Medians over the rounds.
Standard library only; works from a carried folder too: --vkpipes, --layer and --with-driver name the parts."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

WAYS = {  # name: (uses the layer, manages a cache)
    "no cache": (False, False),
    "own cache": (False, True),
    "layer": (True, False),
    "own cache + layer": (True, True),
}
KINDS = ("compute", "graphics")
DISKS = ("off", "default")  # the driver's own cache on disk


def disk_environment(disk, folder):
    """Mesa's and NVIDIA's own caches: off, or in a folder of the way's own."""
    if disk == "off":
        return {"MESA_SHADER_CACHE_DISABLE": "true", "__GL_SHADER_DISK_CACHE": "0"}
    return {"MESA_SHADER_CACHE_DIR": folder, "__GL_SHADER_DISK_CACHE_PATH": folder}


def bytes_in(folder):
    total = 0
    for directory, _, names in os.walk(folder):
        total += sum(os.path.getsize(os.path.join(directory, name)) for name in names)
    return total


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def run(self, way, kind, disk, *extra):
        """One process; returns vkpipes' line and what lies on disk for this way afterwards."""
        layer, own = WAYS[way]
        place = os.path.join(self.folder, way.replace(" ", "-"))
        for part in ("driver", "store", "own"):
            os.makedirs(os.path.join(place, part), exist_ok=True)
        env = dict(os.environ, **disk_environment(disk, os.path.join(place, "driver")))
        env["VK_ROBUST_CACHE_DIR"] = os.path.join(place, "store")
        command = [self.options.with_driver, self.options.driver]
        command += ["--layer", self.options.layer] if layer else []
        command += [self.options.vkpipes, f"--{kind}", str(self.options.pipelines), *extra]
        command += ["--own-cache", os.path.join(place, "own", "cache")] if own else []
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, timeout=300, check=True, text=True)
        line = json.loads(done.stdout)
        line["first_use_ms"] = line["cache_ms"] + line["ms"]
        line["disk_bytes"] = bytes_in(os.path.join(place, "own")) + bytes_in(os.path.join(place, "store"))
        line["driver_disk_bytes"] = bytes_in(os.path.join(place, "driver"))
        return line

    def measure(self, ways, kind, disk):
        """{way: [per start: {value: median}]}"""
        samples = {way: [[] for _ in range(self.options.starts)] for way in ways}
        hits = {}
        for number in range(self.options.rounds):
            shutil.rmtree(self.folder, ignore_errors=True)
            order = ways[number % len(ways):] + ways[:number % len(ways)]
            for start in range(self.options.starts):
                for way in order:
                    samples[way][start].append(self.run(way, kind, disk))
        for way in ways:
            hits[way] = self.run(way, kind, disk, "--feedback")["hits"]
        keys = ("device_ms", "first_use_ms", "ready_ms", "destroy_ms", "longest_ms", "cpu_ms", "peak_rss_kb",
                "disk_bytes", "driver_disk_bytes")
        medians = {way: [{key: statistics.median(line[key] for line in lines) for key in keys} for lines in starts]
                   for way, starts in samples.items()}
        return medians, hits


def ratios(medians):
    """What the design promises: warm starts under the layer against a perfectly managed cache's."""
    if "layer" not in medians or len(medians["layer"]) < 2:
        return {}
    own, layer = medians["own cache"], medians["layer"]
    result = {"cold: no cache / own cache warm": medians["no cache"][0]["first_use_ms"] / own[-1]["first_use_ms"]}
    for start, values in enumerate(layer):
        reference = own[0 if start == 0 else -1]
        for key in ("first_use_ms", "ready_ms", "peak_rss_kb"):
            result[f"start {start + 1}: layer / own cache, {key}"] = values[key] / reference[key]
    reference = own[-1]
    both = medians["own cache + layer"][-1]
    result["last start: own cache + layer / own cache, first_use_ms"] = \
        both["first_use_ms"] / reference["first_use_ms"]
    return result


def show(kind, disk, medians, hits, pipelines):
    print(f"\n{pipelines} {kind} pipelines, the driver's own disk cache {disk} (medians; ms)")
    print(f"{'way':18} {'start':>5} {'device':>8} {'cache+pipelines':>16} {'ready':>8} {'destroy':>8} "
          f"{'peak KiB':>9} {'on disk':>9} {'driver disk':>11}")
    for way, starts in medians.items():
        for number, value in enumerate(starts, 1):
            print(f"{way:18} {number:5} {value['device_ms']:8.2f} {value['first_use_ms']:16.3f} "
                  f"{value['ready_ms']:8.2f} {value['destroy_ms']:8.2f} {value['peak_rss_kb']:9.0f} "
                  f"{value['disk_bytes']:9.0f} {value['driver_disk_bytes']:11.0f}")
    print("cache hits at one more start: " + ", ".join(f"{way} {count}" for way, count in hits.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder that the parts come from")
    parser.add_argument("--vkpipes", help="default: BUILD/tests/programs/vkpipes")
    parser.add_argument("--layer", help="folder of the layer's manifest; default: BUILD/layers")
    parser.add_argument("--no-layer", action="store_true", help="only the ways without the layer")
    parser.add_argument("--with-driver", default=os.path.join(ROOT, "scripts", "with-driver.sh"))
    parser.add_argument("--driver", default="radv")
    parser.add_argument("--pipelines", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--disks", nargs="+", default=DISKS, choices=DISKS)
    parser.add_argument("--json", help="file for everything measured")
    options = parser.parse_args()
    options.vkpipes = options.vkpipes or os.path.join(options.build, "tests", "programs", "vkpipes")
    options.layer = options.layer or os.path.join(options.build, "layers")
    if not options.no_layer and not os.path.isdir(options.layer):
        sys.exit(f"no layer at {options.layer} (--no-layer measures without)")

    ways = [way for way, (layer, _) in WAYS.items() if not (layer and options.no_layer)]
    results = []
    with tempfile.TemporaryDirectory(prefix="bench-start-") as folder:
        for kind in options.kinds:
            for disk in options.disks:
                medians, hits = Bench(options, os.path.join(folder, "work")).measure(ways, kind, disk)
                show(kind, disk, medians, hits, options.pipelines)
                for name, value in ratios(medians).items():
                    print(f"  {name}: {value:.3f}")
                results.append({"kind": kind, "disk": disk, "medians": medians, "hits": hits,
                                "ratios": ratios(medians)})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"driver": options.driver, "pipelines": options.pipelines, "rounds": options.rounds,
                       "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
