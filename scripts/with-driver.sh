#!/bin/sh
# Runs a command on one Vulkan driver, with this layer or with no layer at all.
#   with-driver.sh radv|lavapipe|swiftshader|fault|system [--layer DIR] COMMAND [ARGUMENT...]
# radv is Mesa's driver for AMD on its null winsys: it compiles for real and executes nothing, on any machine.
# DIR holds the layer's explicit manifest. FAULT_ICD and SWIFTSHADER_ICD name manifests that lie elsewhere.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
driver=$1
shift

mesa_icd() {
    for icd in /usr/share/vulkan/icd.d/"$1"_icd.x86_64.json /usr/share/vulkan/icd.d/"$1"_icd.json \
        /usr/share/vulkan/icd.d/"$1"_icd.*.json; do
        [ ! -e "$icd" ] || break
    done
}

case $driver in
radv)
    mesa_icd radeon
    export RADV_FORCE_FAMILY="${RADV_FORCE_FAMILY:-navi21}"
    ;;
lavapipe) mesa_icd lvp ;;
swiftshader) icd=${SWIFTSHADER_ICD:-/usr/lib/chromium/vk_swiftshader_icd.json} ;;
fault) icd=${FAULT_ICD:-$here/../build/tests/driver/fault_icd.json} ;;
system) icd= ;;
*)
    echo "with-driver.sh: no driver '$driver'" >&2
    exit 2
    ;;
esac
if [ -n "$icd" ]; then
    [ -e "$icd" ] || { echo "with-driver.sh: no manifest $icd" >&2; exit 2; }
    export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"
fi

unset VK_INSTANCE_LAYERS VK_LOADER_LAYERS_ENABLE VK_LAYER_PATH VK_ADD_LAYER_PATH
export VK_LOADER_LAYERS_DISABLE='~implicit~' NODEVICE_SELECT=1
if [ "$1" = --layer ]; then
    [ -e "$2/VkLayer_robust_cache.json" ] || { echo "with-driver.sh: no layer in $2" >&2; exit 2; }
    export VK_LAYER_PATH="$2" VK_INSTANCE_LAYERS=VK_LAYER_ROBUST_cache
    shift 2
fi
exec "$@"
