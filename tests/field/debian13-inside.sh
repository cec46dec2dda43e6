#!/bin/bash
# What scripts/debian13.sh runs inside its root: the sources are in /src (read-only), builds go to /scratch.
set -uo pipefail

passed=0 failed=0
check() { # WHAT COMMAND... : passes if the command does
    local log
    if log=$("${@:2}" 2>&1); then
        passed=$((passed + 1))
        echo "passed: $1"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$1" "$(tail -30 <<<"$log")"
    fi
}

build() { # COMPILER
    cmake -S /src -B "/scratch/build-$1" -G Ninja -DCMAKE_C_COMPILER="$1" -DCMAKE_BUILD_TYPE=Release &&
        cmake --build "/scratch/build-$1" -j "$(nproc)"
}

unset VK_INSTANCE_LAYERS VK_LAYER_PATH VK_ADD_LAYER_PATH
layer=VK_LAYER_ROBUST_cache
export XDG_DATA_HOME=/scratch/prefix/share XDG_RUNTIME_DIR=/scratch/runtime MESA_SHADER_CACHE_DISABLE=true
export VK_LOADER_LAYERS_DISABLE='*device_select*' VK_ROBUST_CACHE_REPORT_FILE=/scratch/report
explicitly=(VK_INSTANCE_LAYERS="$layer") implicitly=(ENABLE_ROBUST_CACHE=1)
both=("${explicitly[@]}" "${implicitly[@]}") disabled=("${implicitly[@]}" DISABLE_ROBUST_CACHE=1)

# A driver's manifest name contains the architecture in some releases and not in others.
use_driver() { # lvp|radeon
    local icds=(/usr/share/vulkan/icd.d/"$1"_icd*.json)
    export VK_DRIVER_FILES=${icds[0]} VK_ICD_FILENAMES=${icds[0]}
}

# Runs a program and counts the devices whose creation the layer reported: DEVICES is what it should be.
expect_devices() { # DEVICES VARIABLE... -- COMMAND...
    local devices=$1 variables=() seen
    shift
    while [[ $1 != -- ]]; do variables+=("$1"); shift; done
    shift
    rm -f /scratch/report
    env "${variables[@]}" "$@" || return
    seen=$(grep -c '"event":"device"' /scratch/report 2>/dev/null)
    [[ ${seen:-0} = "$devices" ]] || { echo "the layer reported ${seen:-0} devices instead of $devices"; return 1; }
}

# How much memory is in use changes by itself.
info() { env "$@" vulkaninfo 2>/dev/null | grep -vE '^\s*(usage|budget) *= '; }
same_vulkaninfo() { # VARIABLE...
    info UNUSED= >/scratch/without && grep -q pipelineCacheUUID /scratch/without && info "$@" | diff /scratch/without -
}

cube() { xvfb-run -a vkcube --c 30; }
pipes() { /scratch/build-gcc/tests/programs/vkpipes "$@"; }
export -f cube pipes

warm_start() {
    export XDG_CACHE_HOME=/scratch/warm
    rm -rf "$XDG_CACHE_HOME"
    env "${implicitly[@]}" bash -c 'pipes --compute 16 --graphics 8' &&
        env "${implicitly[@]}" bash -c 'pipes --compute 16 --graphics 8 --feedback' | tee /scratch/out && grep -q '"hits": *24' /scratch/out
}

rm -rf /scratch/build-* /scratch/prefix /scratch/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
check "builds with clang" build clang
check "builds with gcc" build gcc
[[ $failed -eq 0 ]] || { echo "$passed passed, $failed failed"; exit 1; }
check "unit tests and programs" ctest --test-dir /scratch/build-gcc --output-on-failure --no-tests=error
check "installs" cmake --install /scratch/build-gcc --prefix /scratch/prefix

use_driver lvp
check "vulkaninfo, explicit layer: the same" same_vulkaninfo "${explicitly[@]}"
check "vulkaninfo, implicit layer: the same" same_vulkaninfo "${implicitly[@]}"
for driver in lvp radeon; do
    use_driver $driver
    [[ $driver = lvp ]] || export RADV_FORCE_FAMILY=navi21
    program=(bash -c 'pipes --compute 16')
    check "$driver, vkpipes: on by VK_INSTANCE_LAYERS" expect_devices 1 "${explicitly[@]}" -- "${program[@]}"
    check "$driver, vkpipes: on by ENABLE_ROBUST_CACHE" expect_devices 1 "${implicitly[@]}" -- "${program[@]}"
    check "$driver, vkpipes: off by DISABLE_ROBUST_CACHE" expect_devices 0 "${disabled[@]}" -- "${program[@]}"
    check "$driver, vkpipes: once by both manifests" expect_devices 1 "${both[@]}" -- "${program[@]}"
done
check "radeon: warm the second time" warm_start
use_driver lvp
check "lavapipe, vkcube: on by VK_INSTANCE_LAYERS" expect_devices 1 "${explicitly[@]}" -- bash -c cube
check "lavapipe, vkcube: on by ENABLE_ROBUST_CACHE" expect_devices 1 "${implicitly[@]}" -- bash -c cube
check "lavapipe, vkcube: off by DISABLE_ROBUST_CACHE" expect_devices 0 "${disabled[@]}" -- bash -c cube
check "lavapipe, vkcube: once by both manifests" expect_devices 1 "${both[@]}" -- bash -c cube
echo "loader $(dpkg-query -W -f '${Version}' libvulkan1), Mesa $(dpkg-query -W -f '${Version}' mesa-vulkan-drivers)"
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
