#!/bin/bash
# Shows what the layer does to a program that knows nothing of it: first start, later starts, a damaged store, damaged
# files of the program's own; and to one that has left out its barriers. Needs no GPU: the drivers are Mesa's RADV on its
# null winsys, lavapipe, and the project's own test driver, which judges the layouts of every command.
#   demo.sh [BUILD]      BUILD: a build folder; without it everything is installed and built first
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
if [[ $# -gt 0 ]]; then
    build=$(cd "$1" && pwd)
else
    build=$root/build
    "$here/install-deps.sh" build demo
    echo "Building ..."
    { cmake -S "$root" --preset release -B "$build" && cmake --build "$build"; } >"$root/build-demo.log" 2>&1 ||
        { tail -30 "$root/build-demo.log"; exit 1; }
    rm -f "$root/build-demo.log"
fi
programs=$build/tests/programs
layer=$build/layers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MESA_SHADER_CACHE_DISABLE=true # the driver's own cache on disk would hide what the layer does
export VK_ROBUST_CACHE_LOAD_TIMEOUT=60000
export VK_ROBUST_CACHE_DIR=$work/store VK_ROBUST_CACHE_REPORT_FILE=$work/report VK_ROBUST_CACHE_LOG_LEVEL=error

# What the program says of itself, one field of it
field() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/line" "$1"; }

# What the layer says in its report since the last time, in words
tell_report() {
    python3 - "$work/report" <<'PYTHON'
import json, os, sys
path = sys.argv[1]
lines = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
shown = 0
for line in lines:
    kind = line["event"]
    if kind == "load":
        print(f"   layer: loaded {line['bytes']:,} bytes from its store")
    elif kind == "reject":
        print(f"   layer: did not hand {line['data']} to the driver ({line['reason']}): {line['problem']}")
    elif kind == "save":
        print(f"   layer: saved {line['bytes']:,} bytes")
    elif kind == "summary" and line["pipelines"]:
        print(f"   layer: {line['pipelines']} pipelines, {line['hits']} of them known already, "
              f"about {line['saved_ns'] / 1e6:.0f} ms saved")
    elif kind == "repair" and shown < 4:
        shown += 1
        print(f"   layer: {line['kind']}: image {line['name']} is in {line['had']}, {line['command']} needs "
              f"{line['needed']}: repaired {line['place']}")
    elif kind == "barriers" and line["calls_in"]:
        print(f"   layer: {line['record_repairs']} barriers put before commands, {line['rewritten']} corrected, "
              f"{line['submit_repairs']} put before command buffers; {line['calls_in']} barrier calls given down as "
              f"{line['calls_out']}")
if os.path.exists(path):
    os.remove(path)
PYTHON
}

run_plain() { "$here/with-driver.sh" radv "$programs/vkpipes" >"$work/line" 2>"$work/errors"; }
run_layered() { "$here/with-driver.sh" radv --layer "$layer" "$programs/vkpipes" "$@" >"$work/line" 2>"$work/errors"; }
tell_run() { echo "   program: $(field created) pipelines in $(field ms) ms"; }

# One bit in the middle of a file
damage_file() {
    python3 - "$1" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    data = bytearray(file.read())
    data[len(data) // 2] ^= 1
    file.seek(0)
    file.write(data)
PYTHON
}

echo
echo "1. A program that makes 64 pipelines and keeps no cache (VK_NULL_HANDLE). Without the layer, twice:"
run_plain && tell_run
run_plain && tell_run

echo "2. The same program under the layer, for the first time:"
run_layered && tell_run && tell_report
echo "   ... and started again, twice:"
run_layered && tell_run && tell_report
run_layered && tell_run && tell_report

echo "3. One bit of the layer's store file is flipped:"
damage_file "$(find "$work/store" -name '*.vkcache')"
run_layered && tell_run && tell_report
echo "   ... and the next start, after the layer has rebuilt it:"
run_layered && tell_run && tell_report

echo "4. A program that keeps its cache in a file of its own, under the layer; then a bit of its file is flipped:"
run_layered --own-cache "$work/own" && tell_run && tell_report
damage_file "$work/own"
run_layered --own-cache "$work/own" && tell_run && tell_report

echo "5. 130 kinds of damage to such a file, a process for each:"
"$here/with-driver.sh" radv "$programs/damage" --harvest "$work/plain-blob"
"$here/with-driver.sh" radv "$programs/damage" --blob "$work/plain-blob" --count 130 --json "$work/line" >/dev/null
echo "   without the layer: $(field crashes) of $(field cases) processes died in the driver," \
    "$(field reached_driver) took damaged data for good"
"$here/with-driver.sh" radv --layer "$layer" "$programs/damage" --harvest "$work/blob"
"$here/with-driver.sh" radv --layer "$layer" "$programs/damage" --blob "$work/blob" --trailer 640 --count 130 \
    --json "$work/line" >/dev/null
echo "   with the layer:    $(field crashes) of $(field cases) processes died in the driver," \
    "$(field reached_driver) took damaged data for good"
rm -f "$work/report"

if command -v vkcube >/dev/null && command -v xvfb-run >/dev/null; then
    echo "6. A program that nobody of this project wrote, vkcube on lavapipe (a driver whose caches hold nothing):"
    if "$here/with-driver.sh" lavapipe --layer "$layer" timeout 60 xvfb-run -a vkcube --c 60 >"$work/errors" 2>&1; then
        echo "   program: drew 60 frames"
        tell_report
    else
        echo "   program: failed"
        tail -5 "$work/errors"
        exit 1
    fi
else
    echo "6. vkcube is left out: it or xvfb-run isn't installed"
fi

echo "7. A program that loads a map in four threads and has left out every image barrier, on a test driver that judges each command:"
judge_map() {
    rm -f "$work/faults" && touch "$work/faults"
    FAULT_DRIVER="oracle_file=$work/faults" "$here/with-driver.sh" fault "$@" "$programs/map_loader" --barriers none \
        --textures 100 --texture-bytes 8000000 --buffers 200 --buffer-bytes 2000000 >/dev/null 2>"$work/errors"
    grep -vc ' discarded-read ' "$work/faults" || true
}
echo "   without the layer: $(judge_map) commands find an image in the wrong layout"
echo "   with the layer:    $(judge_map --layer "$layer") commands"
tell_report

echo "8. A program that makes a mip chain with one barrier too few for each level, on lavapipe:"
"$here/with-driver.sh" lavapipe --layer "$layer" "$programs/barrier_cases" L09-mip-chain --faulty >"$work/line" 2>"$work/errors"
echo "   program: $(cat "$work/line"), as with all its barriers ($("$here/with-driver.sh" lavapipe "$programs/barrier_cases" L09-mip-chain))"
tell_report
