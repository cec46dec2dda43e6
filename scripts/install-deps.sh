#!/bin/sh
# Installs what building and testing need, on Debian 12, 13 and their kin.
#   install-deps.sh [build|test|demo|judge|i386 ...]     (default: build test)
# judge: a current Khronos validation layer, which comes with chromium.
set -eu

build="gcc clang cmake ninja-build python3 libc6-dev libvulkan-dev libxxhash-dev"
test="libcmocka-dev strace glslang-tools libvulkan1 vulkan-tools vulkan-validationlayers mesa-vulkan-drivers"
demo="glslang-tools libcmocka-dev libvulkan1 vulkan-tools mesa-vulkan-drivers xvfb xauth"
i386="gcc-multilib"
judge="chromium"

packages=
for group in "${@:-build test}"; do
    for name in $group; do
        case $name in
        build) packages="$packages $build" ;;
        test) packages="$packages $test" ;;
        demo) packages="$packages $demo" ;;
        i386) packages="$packages $i386" ;;
        judge) packages="$packages $judge" ;;
        *)
            sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
            exit 2
            ;;
        esac
    done
done

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
        missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "install-deps: everything is installed"
    exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "install-deps: needs root or sudo for:$missing" >&2; exit 1; }
    as_root=sudo
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # words on purpose
if ! { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
echo "install-deps: installed$missing"
