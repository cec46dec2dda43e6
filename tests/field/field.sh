#!/bin/bash
# Runs unmodified programs without and with the layer, and prints a table in Markdown.
#   field.sh [--asan] [--build FOLDER] [--build32 FOLDER] [--work FOLDER] [APPS [PROGRAM...]]
# APPS (or $APPS) is the folder with run-app.sh, which installs and runs the programs; their files lie in $APPS_WORK.
# --asan: the build is an address-sanitizer one; the sanitizer is preloaded into every program.
# A program passes if its exit status and result are what they are without the layer, validation below the layer finds
# no kind of error that it doesn't find without, no pipeline reaches the driver with VK_NULL_HANDLE (substitute=on), no
# barrier was repaired or reported (all of them are right in that), and the sanitizer finds nothing that it doesn't find
# without, and of its render pass instances at most 2 in 100 were held back in vain. Three of them are then spoiled by the
# saboteur of APPS above the layer: no layout error may be left. Replay tools, which the layer leaves alone, must make
# the very same calls. The status is 0 if all pass, 77 if there is nothing to run them with.
set -uo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=$source_dir/build build32=$source_dir/build-i386 work='' asan=0
usage() { sed -n '3s/^# *//p' "$0" >&2; exit 2; }
while [[ ${1:-} = --* ]]; do
    case $1 in
    --asan) asan=1; shift; continue ;;
    --build) build=${2:?} ;;
    --build32) build32=${2:?} ;;
    --work) work=${2:?} ;;
    *) usage ;;
    esac
    shift 2
done
apps=${1:-${APPS:-}}
[[ $# -eq 0 ]] || shift
skip() { echo "skipped: $1"; exit 77; }
[[ -n $apps ]] || skip "no folder of programs: give it as an argument or in APPS"
run_app=$apps/run-app.sh
[[ -x $run_app ]] || skip "no $run_app"
[[ -d ${APPS_WORK:-$apps/.work}/bin ]] || skip "$apps is not installed: run its install.sh"
[[ -e $build/layers/libVkLayer_robust_cache.so ]] || skip "no layer in $build"
programs=("$@")
[[ ${#programs[@]} -gt 0 ]] || mapfile -t programs < <("$run_app" --list)

# 32-bit programs run under qemu-user, which can list folders on tmpfs only
shm=$(mktemp -d /dev/shm/field.XXXXXX)
work=${work:-$shm/work}
mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1
trap 'rm -rf "$shm"' EXIT
cmake --install "$build" --prefix "$shm/prefix" >"$work/install.log" || { cat "$work/install.log" >&2; exit 1; }
[[ ! -d $build32/layers ]] || cp -r "$build32/layers" "$shm/layers32"

unset VK_INSTANCE_LAYERS VK_LAYER_PATH VK_ADD_LAYER_PATH VK_LOADER_LAYERS_ENABLE ENABLE_ROBUST_CACHE DISABLE_ROBUST_CACHE
export VK_LOADER_LAYERS_DISABLE='*device_select*'

# --- one run; its result line goes to standard output

is_32bit() { [[ $1 = *32 ]]; }
judge_of() { if is_32bit "$1"; then echo debian; else echo chromium; fi; }

# What a sanitizer needs in a program that was built without it. Leaks are the programs' own.
sanitizer_for() { # PROGRAM without|with
    [[ $asan = 1 ]] && ! is_32bit "$1" || return
    echo "LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)"
    echo "ASAN_OPTIONS=detect_leaks=0:log_path=$work/$1/$2-asan"
    echo UBSAN_OPTIONS=print_stacktrace=1
}

without_layer() { # PROGRAM OPTION...
    local settings
    mapfile -t settings < <(sanitizer_for "$1" without)
    env "${settings[@]}" "$run_app" "$1" --out "$work/$1/without" "${@:2}" 2>>"$work/$1/messages"
}

# The layer is an implicit one, above validation. Where another implicit layer makes pipelines, it is an explicit
# one below that; 32-bit programs have it so too, since qemu-user hides a folder of XDG_DATA_DIRS behind the one of
# the same name in its root.
with_layer() { # PROGRAM REPORT OPTION...
    local settings
    mapfile -t settings < <(sanitizer_for "$1" with)
    settings+=(VK_ROBUST_CACHE_SUBSTITUTE=on VK_ROBUST_CACHE_REPORT_FILE="$work/$1/$2")
    case $1 in
    *32) settings+=(VK_INSTANCE_LAYERS=VK_LAYER_ROBUST_cache VK_LAYER_PATH="$shm/layers32") ;;
    vkcube-mangohud | vkcube-vkbasalt)
        settings+=(VK_INSTANCE_LAYERS=VK_LAYER_ROBUST_cache VK_LAYER_PATH="$shm/prefix/share/vulkan/explicit_layer.d")
        ;;
    *) settings+=(ENABLE_ROBUST_CACHE=1 XDG_DATA_DIRS="$shm/prefix/share:/usr/local/share:/usr/share") ;;
    esac
    env "${settings[@]}" "$run_app" "$1" --out "$work/$1/with" "${@:3}" 2>>"$work/$1/messages"
}

# --- what the lines say

field() { grep -oE "(^| )$2=[^ ]*" <<<"$1" | head -1 | cut -d= -f2-; }
# `rc metric`; a frame rate or a score is no result to compare
result_of() { echo "$(field "$1" rc) $(field "$1" metric)" | sed -E 's/(fps|score):[0-9.]+/\1/'; }
kinds_of() { field "$1" kinds | tr , '\n' | sed -E 's/:[0-9]+$//' | grep -v '^none$' | sort -u; }
calls_of() { grep -oE '(pipelines|cached|null|caches|restored|barriers|images)=[^ ]*' <<<"$1" | paste -sd ' '; }
new_kinds() { comm -13 <(kinds_of "$1") <(kinds_of "$2") | paste -sd ' '; }
sum_of() { # REPORT KEY: over all devices of all processes
    [[ -f $1 ]] || return 0
    sed -n '/"event":"summary"/s/.*"'"$2"'":\([0-9]*\).*/\1/p' "$1" | awk '{ sum += $1 } END { if (NR) print sum }'
}

# What the layer did to the barriers of all devices of all processes.
repairs_of() { # REPORT
    python3 - "$1" <<'PYTHON'
import json, os, sys
keys = ("record_repairs", "rewritten", "hoisted", "submit_repairs", "present_repairs", "reported", "unpatchable")
lines = [json.loads(l) for l in open(sys.argv[1])] if os.path.exists(sys.argv[1]) else []
print(sum(line[key] for line in lines if line["event"] == "barriers" for key in keys))
PYTHON
}

# Render pass instances that were held back in vain, and all.
held_of() { # REPORT
    python3 - "$1" <<'PYTHON'
import json, os, sys
lines = [json.loads(l) for l in open(sys.argv[1])] if os.path.exists(sys.argv[1]) else []
lines = [line for line in lines if line["event"] == "barriers"]
print(sum(line["passes_held_in_vain"] for line in lines), sum(line["passes"] for line in lines))
PYTHON
}

# Sanitizer reports that are the layer's: those that name it, and all if there is none without it.
count_reports() { # PROGRAM
    local without with
    without=$(find "$work/$1" -name 'without-asan.*' | wc -l)
    with=$(find "$work/$1" -name 'with-asan.*' | wc -l)
    if [[ $without = 0 ]]; then
        echo "$with"
    else
        find "$work/$1" -name 'with-asan.*' -exec grep -l libVkLayer_robust_cache {} + | wc -l
    fi
}

# --- the table

failures=0
row() { # NAME WITHOUT WITH PLAIN PLAIN_WITH REPORT
    local name=$1 without=$2 with=$3 plain=$4 warm=$5 report=$6 verdict=() kinds null reports repairs vain passes
    [[ $(result_of "$without") = "$(result_of "$with")" ]] || verdict+=("result differs")
    [[ $(result_of "$plain") = "$(result_of "$warm")" ]] || verdict+=("second start's result differs")
    kinds=$(new_kinds "$without" "$with")
    [[ -z $kinds ]] || verdict+=("new: $kinds")
    if [[ $name = replay-* ]]; then # a replay tool is left alone
        [[ $(calls_of "$without") = "$(calls_of "$with")" ]] || verdict+=("calls differ: $(calls_of "$with")")
    else
        null=$(field "$with" null)
        [[ $null = 0 ]] || verdict+=("${null:-unknown} pipelines without a cache")
    fi
    repairs=$(repairs_of "$work/$name/first.jsonl")
    [[ $repairs = 0 ]] || verdict+=("$repairs repairs")
    read -r vain passes < <(held_of "$work/$name/first.jsonl")
    ((vain * 50 <= passes)) || verdict+=("$vain of $passes render passes held in vain")
    reports=$(count_reports "$name")
    [[ $reports = 0 ]] || verdict+=("$reports sanitizer reports")
    [[ ${#verdict[@]} -eq 0 ]] || failures=$((failures + 1))
    printf '| %s | %s | %s | %s / %s | %s / %s | %s | %s / %s | %s / %s s | %s |\n' "$name" \
        "$(result_of "$without")" "$(result_of "$with")" \
        "$(field "$without" pipelines)" "$(field "$without" null)" "$(field "$with" pipelines)" "$(field "$with" null)" \
        "$(sum_of "$work/$name/$report" hits)" "$(field "$without" errors)" "$(field "$with" errors)" \
        "$(field "$plain" wall)" "$(field "$warm" wall)" "$([[ ${#verdict[@]} -gt 0 ]] && (IFS=';' && echo "${verdict[*]}") || echo passes)"
}

try_program() {
    local name=$1 judge=(--validate "$(judge_of "$1")" --probe below) without with plain warm
    rm -rf "${work:?}/$name"
    mkdir -p "$work/$name"
    if is_32bit "$name" && [[ ! -d $shm/layers32 ]]; then
        echo "| $name | skipped: no 32-bit layer in $build32 |"
        return
    fi
    without=$(without_layer "$name" "${judge[@]}")
    with=$(with_layer "$name" first.jsonl "${judge[@]}")
    plain=$(without_layer "$name" --keep-caches)
    warm=$(with_layer "$name" second.jsonl --keep-caches)
    row "$name" "$without" "$with" "$plain" "$warm" second.jsonl
}

# Mesa's own disk cache, which zink's data goes to, with a byte changed in every file.
damage_files() {
    local file size
    while read -r file; do
        size=$(stat -c %s "$file")
        printf '\377' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
    done < <(find "$1" -type f -size +0)
}

try_damaged() {
    local name=$1 line
    [[ -d $work/$name/with/caches/mesa ]] || return
    damage_files "$work/$name/with/caches/mesa"
    line=$(with_layer "$name" damaged.jsonl --keep-caches)
    [[ $(field "$line" rc) = 0 ]] || failures=$((failures + 1))
    printf '| %s, its saved data damaged | | %s | | | %s | | %s s | rejected: %s |\n' "$name" "$(result_of "$line")" \
        "$(sum_of "$work/$name/damaged.jsonl" hits)" "$(field "$line" wall)" "$(sum_of "$work/$name/damaged.jsonl" rejected)"
}

# The saboteur must stand above the layer: explicit layers are ordered by the folders they are found in.
layout_errors() { field "$1" kinds | tr , '\n' | grep -E '09600|01197|00344|0958[0-9]|0959[0-9]|01430|00189|0022[16]|00900' | paste -sd ' '; }
try_broken() { # NAME KIND
    local name=$1 kind=$2 out=$work/$1/broken-$2 without with left verdict=passes
    mkdir -p "$out"
    without=$("$run_app" "$name" --out "$out/without" --validate chromium --break "$kind" 2>>"$work/$name/messages")
    with=$(env VK_INSTANCE_LAYERS=VK_LAYER_ROBUST_cache VK_ROBUST_CACHE_REPORT_FILE="$out/report.jsonl" \
        VK_LAYER_PATH="${APPS_WORK:-$apps/.work}/bin:$shm/prefix/share/vulkan/explicit_layer.d" \
        "$run_app" "$name" --out "$out/with" --validate chromium --break "$kind" 2>>"$work/$name/messages")
    left=$(layout_errors "$with")
    [[ -z $left ]] || verdict="left: $left"
    [[ $(result_of "$without") = "$(result_of "$with")" ]] || verdict+="; result differs"
    [[ $verdict = passes ]] || failures=$((failures + 1))
    printf '| %s, --break %s | %s | %s | | | repairs: %s | %s / %s | | %s |\n' "$name" "$kind" "$(result_of "$without")" \
        "$(result_of "$with")" "$(repairs_of "$out/report.jsonl")" "$(layout_errors "$without")" "$(layout_errors "$with")" "$verdict"
}

# Validation must lie below the layer, or the table says nothing about what the layer passes on.
prove_order() {
    local order
    VK_LOADER_DEBUG=layer with_layer vkcube order.jsonl --validate chromium >/dev/null
    order=$(grep -aoE 'VK_LAYER_(ROBUST_cache|KHRONOS_validation)$' "$work/vkcube/with/log.txt" | tail -2 | paste -sd ' ')
    [[ $order = "VK_LAYER_ROBUST_cache VK_LAYER_KHRONOS_validation" ]] ||
        { echo "field.sh: validation isn't below the layer, but: $order" >&2; exit 1; }
}

mkdir -p "$work/vkcube"
prove_order
cat <<'END'
| program | without: status, result | with | pipelines / null: without | with | hits, second start | errors without / with | wall without / with | |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
END
for name in "${programs[@]}"; do
    try_program "$name"
    [[ $name != zink-* ]] || try_damaged "$name"
    case $name in dawn | gst-convert | zink-glmark2) for kind in old images all; do try_broken "$name" "$kind"; done ;; esac
done
[[ $failures -eq 0 ]]
