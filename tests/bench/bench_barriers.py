#!/usr/bin/env python3
"""What recording and submitting cost (bench_barriers) without the layer, with it, with merging off, and under Khronos
validation of layouts alone: in turn, medians of processes, and ratios to no layer.

    bench_barriers.py [--driver DRIVER] [--rounds N] [--validation DIR] [--instructions] [--kinds KIND ...]

DRIVER is one of with-driver.sh. Times are CPU time of the recording thread but for "threads", which is wall time. With
--instructions each kind is also run under callgrind: the instructions of one thing more, from the difference of two
runs, which unlike times are the same on every machine. Standard library only.
"""
import os

from bench_ways import Bench, parser

KINDS = ["split", "joined", "alone", "copy", "rendering", "dispatch", "fill", "submit", "stripped", "threads"]


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


def main():
    options = parser(__doc__, "bench_barriers")
    options.add_argument("--alive", type=int, nargs="+", default=[100, 1000, 100000])
    options.add_argument("--threads", type=int, default=os.cpu_count())
    options.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    arguments = options.parse_args()
    ways = {"merge": {"VK_ROBUST_CACHE_MERGE": "true"}, "apart": {"VK_ROBUST_CACHE_MERGE": "false"}}
    with Bench(arguments, ways) as bench:
        bench.print_head()
        for name, program in cases(arguments):
            bench.print_case(name, program, counted=program[0] != "threads")


if __name__ == "__main__":
    main()
