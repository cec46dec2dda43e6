#!/bin/bash
# Damages cache data in thousands of ways and lets a process start with each: application blobs that left through the
# layer, the layer's own store files, and the driver's own blobs without the layer, for comparison.
#   damage-campaign.sh [--count N] [--seed S] [--driver radv|fault|system] [--build DIR] [--layer DIR]
#                      [--without-layer] [--json FILE]
# N (default 2000) is the number of damaged blobs and of damaged store files. Status 0: under the layer no process
# died, hung or got an error, and no damaged data reached the driver.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
count=2000 seed=1 driver=radv build=$here/../build layer='' with_layer=1 json=''
while [[ $# -gt 0 ]]; do
    case $1 in
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    --driver) driver=$2 ;;
    --build) build=$2 ;;
    --layer) layer=$2 ;;
    --json) json=$2 ;;
    --without-layer)
        with_layer=0
        shift
        continue
        ;;
    *)
        sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    shift 2
done
layer=${layer:-$build/layers}
damage=$build/tests/programs/damage
envelope_size=640 # ENVELOPE_SIZE of layer/cache/envelope.h

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MESA_SHADER_CACHE_DISABLE=true __GL_SHADER_DISK_CACHE=0 VK_ROBUST_CACHE_DIR=$work/store
common=(--count "$count" --seed "$seed")
if [[ $driver = fault ]]; then # a driver that dies on an entry whose checksum is wrong
    export FAULT_DRIVER=${FAULT_DRIVER:-fault=vkCreatePipelineCache,when=corrupt,crash=segv}
fi

plain() { "$here/with-driver.sh" "$driver" "$damage" "$@"; }
layered() { "$here/with-driver.sh" "$driver" --layer "$layer" "$damage" "$@"; }

echo "== $count damaged blobs without the layer ($driver)"
plain --harvest "$work/plain"
plain --blob "$work/plain" "${common[@]}" --json "$work/plain.json"
status=0
if [[ $with_layer = 1 ]]; then
    layered --harvest "$work/enveloped"
    store_file=$(find "$VK_ROBUST_CACHE_DIR" -name '*.vkcache')
    [[ -f $store_file ]] || { echo "the layer has saved no store file" >&2; exit 1; }
    cp -r "$VK_ROBUST_CACHE_DIR" "$work/pristine"
    store_file=$work/pristine${store_file#"$VK_ROBUST_CACHE_DIR"}

    echo "== $count damaged blobs that had left through the layer"
    layered --blob "$work/enveloped" --trailer $envelope_size "${common[@]}" --must-be-clean \
        --json "$work/blobs.json" || status=1
    echo "== $count damaged store files"
    layered --store "$work/pristine" --store-file "$store_file" --work "$work/jobs" "${common[@]}" --must-be-clean \
        --json "$work/stores.json" || status=1
fi
if [[ -n $json ]]; then
    { printf '['; cat "$work"/*.json | paste -sd,; printf ']\n'; } > "$json"
fi
exit $status
