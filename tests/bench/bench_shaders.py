#!/usr/bin/env python3
"""What it costs that shaders' descriptors are followed (bench_shaders): without the layer, with it, and under Khronos
validation of layouts alone: in turn, medians of processes, and ratios to no layer.

    bench_shaders.py [--driver DRIVER] [--rounds N] [--validation DIR] [--instructions] [--kinds KIND ...]

As bench_barriers.py. "held X" is "plain X" without its barrier, which the layer makes up for by holding the render pass
instance back: the line below each pair is what encoding and replaying one command costs. (Without the layer, and under
validation, which says so, the program is then wrong.)
"""
from bench_ways import Bench, parser

HELD = ["draw", "bind", "constants", "viewport", "push"]
KINDS = ["draw", "bind_same", "bind_two", "bind_many", "pipelines", "constants", "viewport", "push", "dispatch",
         "dispatch_two", "dispatch_store", "pass", "pass_changed", *("held_" + command for command in HELD), "held_many",
         "update", "update_array", "sets", "sets_reset", "late_update", "late_sets", "submit", "late_submit", "module",
         "module_large", "pipeline", "pipeline_compute"]
OPTIONS = {  # a case for each value
    "pass_changed": ("images", [1, 16, 64]),
    "held_many": ("images", [16, 256, 1024]),
    "submit": ("images", [1, 16, 256]),
    "late_update": ("size", [17, 1000, 1000000]),
    "late_sets": ("size", [17, 1000, 1000000]),
    "late_submit": ("size", [17, 1000, 1000000]),
}


def cases(kinds):
    """(what is shown, the program's arguments)"""
    for kind in kinds:
        option, values = OPTIONS.get(kind, (None, []))
        for value in values:
            yield "%s, %s %d" % (kind, option, value), [kind, "--" + option, str(value)]
        if not values:
            yield kind, [kind]


def print_held(bench, command):
    plain, plain_counts = bench.print_case("plain_" + command, ["plain_" + command])
    held, held_counts = bench.print_case("held_" + command, ["held_" + command])
    said = "%.1f ns" % (held["layer"] - plain["layer"])
    if held_counts:
        said += ", %.0f instructions" % (held_counts["layer"] - plain_counts["layer"])
    print("    held over plain, with the layer: " + said, flush=True)


def main():
    options = parser(__doc__, "bench_shaders")
    options.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    arguments = options.parse_args()
    with Bench(arguments, {"layer": {}}) as bench:
        bench.print_head()
        for name, program in cases(arguments.kinds):
            command = name[len("held_"):]
            if name.startswith("held_") and command in HELD:
                print_held(bench, command)
            else:
                bench.print_case(name, program)


if __name__ == "__main__":
    main()
